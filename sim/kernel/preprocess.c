/* Directives and macros. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"

struct macro {
    struct name **parameters;
    uint32_t n_parameters;
    int has_parameters;
    int is_variadic;
    int is_busy;
    const char *given; /* by the launch, as it has it; NULL: by a source */
    struct token *body;
    size_t n_body;
};

/* Tokens that are still to be looked at; the base is a file, above it stand macros' replacements. */
struct source {
    struct source *below;
    const struct token *at;
    const struct token *end;
    struct macro *macro; /* free again when the list is used up */
    int is_file;
};

struct preprocessor {
    struct compile *c;
    unsigned depth; /* of includes and of arguments being expanded */
};

static int is_punct(const struct token *token, int punct)
{
    return token->kind == T_PUNCT && token->punct == punct;
}

static int is_word(const struct token *token, const char *word)
{
    return token->kind == T_NAME && strcmp(token->name->text, word) == 0;
}

/* ---------------------------------------------------------------------------------------------------------- expansion */

static void pop_used(struct source **top)
{
    while (*top && (*top)->at >= (*top)->end && (*top)->below) {
        if ((*top)->macro)
            (*top)->macro->is_busy = 0;
        *top = (*top)->below;
    }
}

/* The next token without taking it; NULL at the end, which for a file is the next directive or its end. */
static const struct token *peek(struct source **top)
{
    const struct token *token;

    pop_used(top);
    if ((*top)->at >= (*top)->end)
        return NULL;
    token = (*top)->at;
    if ((*top)->is_file && (token->kind == T_END || (is_punct(token, '#') && (token->flags & TF_LINE_START))))
        return NULL;
    return token;
}

static void expand(struct preprocessor *p, struct source *top, struct tokens *out);

/* For messages: what a macro stands for has its place, so they are about text that is not there. */
static void note_use(struct compile *c, const struct macro *macro, struct place place)
{
    if (!macro->given)
        return;
    c->macro_uses = wmi_c_grow(c, c->macro_uses, c->n_macro_uses, &c->macro_use_room, sizeof *c->macro_uses);
    c->macro_uses[c->n_macro_uses++] = (struct macro_use){place, macro->given};
}

const char *wmi_c_macro_at(const struct compile *c, struct place place)
{
    const char *text = NULL;
    int is_exact = 0;

    for (size_t i = 0; i < c->n_macro_uses; i++) {
        const struct macro_use *use = &c->macro_uses[i];
        const int is_here = use->place.column == place.column;

        if (use->place.file != place.file || use->place.line != place.line || is_here < is_exact)
            continue;
        is_exact = is_here;
        text = use->text;
    }
    return text;
}

/* The arguments of a call, from behind its name; lists without expansion. */
static uint32_t collect(struct preprocessor *p, struct source **top, const struct macro *macro, struct place place,
                        struct tokens *lists)
{
    uint32_t n = 0;
    unsigned nested = 0;

    (*top)->at++; /* the parenthesis */
    for (;;) {
        const struct token *token = peek(top);

        if (!token)
            wmi_c_fail(p->c, WM_E_SYNTAX, place, "the arguments of this macro have no closing ')'");
        (*top)->at++;
        if (is_punct(token, ')') && nested == 0)
            break;
        if (is_punct(token, ',') && nested == 0 && !(macro->is_variadic && n + 1 >= macro->n_parameters)) {
            if (++n >= WMI_MAX_ARGUMENTS)
                wmi_c_fail(p->c, WM_E_RANGE, token->place, "more than %u arguments", WMI_MAX_ARGUMENTS);
            continue;
        }
        nested += (unsigned)is_punct(token, '(');
        nested -= (unsigned)is_punct(token, ')');
        wmi_c_push(p->c, &lists[n], token);
    }
    n++;
    if (macro->n_parameters == 0 && n == 1 && lists[0].count == 0)
        n = 0;
    if (macro->is_variadic && n + 1 == macro->n_parameters)
        n++;
    if (n != macro->n_parameters)
        wmi_c_fail(p->c, WM_E_SYNTAX, place, "this macro takes %u arguments, not %u", macro->n_parameters, n);
    return n;
}

static int parameter_of(const struct macro *macro, const struct token *token)
{
    for (uint32_t i = 0; token->kind == T_NAME && i < macro->n_parameters; i++) {
        if (macro->parameters[i] == token->name)
            return (int)i;
    }
    return -1;
}

static void stringify(struct compile *c, const struct tokens *list, struct token *out)
{
    size_t length = 0;
    char *text;

    for (size_t i = 0; i < list->count; i++)
        length += list->list[i].length + 3;
    text = wmi_c_take(c, length + 1);
    length = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct token *token = &list->list[i];
        const int is_string = token->kind == T_STRING;

        if (i && (token->flags & TF_SPACE))
            text[length++] = ' ';
        if (is_string)
            text[length++] = '"';
        memcpy(text + length, token->text, token->length);
        length += token->length;
        if (is_string)
            text[length++] = '"';
    }
    out->kind = T_STRING;
    out->text = text;
    out->length = (uint32_t)length;
    out->name = NULL;
    out->punct = 0;
}

static void paste(struct compile *c, struct token *left, const struct token *right)
{
    const char *text = wmi_c_text(c, "%.*s%.*s", (int)left->length, left->text, (int)right->length, right->text);
    struct tokens pasted = {0};
    const struct place place = left->place;

    wmi_c_lex(c, text, strlen(text), place.file, &pasted);
    if (pasted.count != 2)
        wmi_c_fail(c, WM_E_SYNTAX, place, "## makes \"%s\", which is not one token", text);
    pasted.list[0].flags = left->flags;
    *left = pasted.list[0];
    left->place = place;
}

/* The replacement of a macro with its arguments put in. */
static struct tokens substitute(struct preprocessor *p, const struct macro *macro, struct tokens *lists,
                                struct place place)
{
    struct tokens *expanded = wmi_c_take(p->c, (macro->n_parameters + 1) * sizeof *expanded);
    uint8_t *is_expanded = wmi_c_take(p->c, macro->n_parameters + 1);
    struct tokens out = {0};

    for (size_t i = 0; i < macro->n_body; i++) {
        struct token token = macro->body[i];
        const int parameter = parameter_of(macro, &token);
        const int pastes = i + 1 < macro->n_body && is_punct(&macro->body[i + 1], P_PASTE);

        token.place = place;
        if (is_punct(&token, '#') && macro->has_parameters && i + 1 < macro->n_body &&
            parameter_of(macro, &macro->body[i + 1]) >= 0) {
            stringify(p->c, &lists[parameter_of(macro, &macro->body[++i])], &token);
            wmi_c_push(p->c, &out, &token);
        } else if (is_punct(&token, P_PASTE) && out.count && i + 1 < macro->n_body) {
            const int right = parameter_of(macro, &macro->body[++i]);

            if (right < 0) {
                paste(p->c, &out.list[out.count - 1], &macro->body[i]);
            } else if (lists[right].count) {
                paste(p->c, &out.list[out.count - 1], &lists[right].list[0]);
                for (size_t k = 1; k < lists[right].count; k++)
                    wmi_c_push(p->c, &out, &lists[right].list[k]);
            }
        } else if (parameter >= 0) {
            const struct tokens *list = &lists[parameter];

            if (!pastes && !is_expanded[parameter] && list->count) {
                struct source source = {NULL, list->list, list->list + list->count, NULL, 0};

                expand(p, &source, &expanded[parameter]);
                is_expanded[parameter] = 1;
            }
            if (!pastes && list->count)
                list = &expanded[parameter];
            for (size_t k = 0; k < list->count; k++) {
                struct token copy = list->list[k];

                copy.place = place;
                if (k == 0)
                    copy.flags = (uint8_t)((copy.flags & TF_FINAL) | (token.flags & TF_SPACE));
                wmi_c_push(p->c, &out, &copy);
            }
        } else {
            wmi_c_push(p->c, &out, &token);
        }
    }
    return out;
}

/* Takes tokens up to the end of *top and writes them, with macros replaced. */
static void expand(struct preprocessor *p, struct source *top, struct tokens *out)
{
    const struct token *token;
    struct compile *c = p->c;

    if (++p->depth > WMI_MAX_DEPTH)
        wmi_c_fail(c, WM_E_RANGE, top->at->place, "macros nested deeper than %d", WMI_MAX_DEPTH);
    while ((token = peek(&top)) != NULL) {
        struct token copy = *token;
        struct macro *macro = copy.kind == T_NAME ? copy.name->macro : NULL;
        struct tokens lists[WMI_MAX_ARGUMENTS] = {{0}};
        struct tokens replacement;
        struct source *source;

        top->at++;
        if (macro && macro->is_busy)
            copy.flags |= TF_FINAL;
        if (!macro || (copy.flags & TF_FINAL)) {
            wmi_c_push(c, out, &copy);
            continue;
        }
        if (macro->has_parameters) {
            const struct token *next = peek(&top);

            if (!next || !is_punct(next, '(')) {
                wmi_c_push(c, out, &copy);
                continue;
            }
            note_use(c, macro, copy.place);
            collect(p, &top, macro, copy.place, lists);
        } else {
            note_use(c, macro, copy.place);
        }
        replacement = substitute(p, macro, lists, copy.place);
        if (!replacement.count)
            continue;
        replacement.list[0].flags = (uint8_t)((replacement.list[0].flags & TF_FINAL) | (copy.flags & ~TF_FINAL));
        source = wmi_c_take(c, sizeof *source);
        *source = (struct source){top, replacement.list, replacement.list + replacement.count, macro, 0};
        macro->is_busy = 1;
        top = source;
    }
    for (; top; top = top->below) {
        if (top->macro)
            top->macro->is_busy = 0;
    }
    p->depth--;
}

/* ------------------------------------------------------------------------------------------------------- #if and such */

struct number {
    uint64_t value;
    int is_unsigned;
};

struct condition {
    struct preprocessor *p;
    const struct token *at;
    const struct token *end;
    struct place place;
    unsigned depth;
};

static struct number condition_ternary(struct condition *k, int live);

static int condition_take(struct condition *k, int punct)
{
    if (k->at >= k->end || !is_punct(k->at, punct))
        return 0;
    k->at++;
    return 1;
}

static struct number condition_unary(struct condition *k, int live)
{
    struct number n = {0, 0};

    if (++k->depth > WMI_MAX_DEPTH)
        wmi_c_fail(k->p->c, WM_E_RANGE, k->place, "nested deeper than %d", WMI_MAX_DEPTH);
    if (k->at >= k->end)
        wmi_c_fail(k->p->c, WM_E_SYNTAX, k->place, "expected a value in this condition");
    if (condition_take(k, '!')) {
        n.value = condition_unary(k, live).value == 0;
    } else if (condition_take(k, '-')) {
        n = condition_unary(k, live);
        n.value = 0 - n.value;
    } else if (condition_take(k, '+')) {
        n = condition_unary(k, live);
    } else if (condition_take(k, '~')) {
        n = condition_unary(k, live);
        n.value = ~n.value;
    } else if (condition_take(k, '(')) {
        n = condition_ternary(k, live);
        if (!condition_take(k, ')'))
            wmi_c_fail(k->p->c, WM_E_SYNTAX, k->place, "expected ')' in this condition");
    } else if (k->at->kind == T_NUMBER) {
        enum type_kind kind;
        union value value;

        if (!wmi_c_number(k->p->c, k->at, &kind, &value))
            wmi_c_fail(k->p->c, WM_E_SYNTAX, k->at->place, "expected an integer");
        n.value = value.i;
        n.is_unsigned = kind == K_ULONG || kind == K_ULLONG;
        k->at++;
    } else if (k->at->kind == T_CHAR) {
        n.value = wmi_c_character(k->p->c, k->at++);
    } else if (k->at->kind == T_NAME) {
        n.value = k->at->name->keyword == KW_TRUE;
        k->at++;
    } else {
        wmi_c_fail(k->p->c, WM_E_SYNTAX, k->at->place, "expected a value in this condition");
    }
    k->depth--;
    return n;
}

static int condition_rank(const struct condition *k)
{
    return k->at < k->end && k->at->kind == T_PUNCT ? wmi_c_rank(k->at->punct) : 0;
}

static struct number condition_apply(const struct condition *k, int op, struct number a, struct number b, int live)
{
    struct number n = {0, a.is_unsigned || b.is_unsigned};
    const int64_t sa = (int64_t)a.value;
    const int64_t sb = (int64_t)b.value;
    const int less = n.is_unsigned ? a.value < b.value : sa < sb;

    switch (op) {
    case '*': n.value = a.value * b.value; break;
    case '/': case '%':
        if (b.value == 0) {
            if (live)
                wmi_c_fail(k->p->c, WM_E_RANGE, k->place, "division by zero in this condition");
        } else if (n.is_unsigned) {
            n.value = op == '/' ? a.value / b.value : a.value % b.value;
        } else if (sb == -1) {
            n.value = op == '/' ? 0 - a.value : 0;
        } else {
            n.value = (uint64_t)(op == '/' ? sa / sb : sa % sb);
        }
        break;
    case '+': n.value = a.value + b.value; break;
    case '-': n.value = a.value - b.value; break;
    case P_SHL: n.value = b.value < 64 ? a.value << b.value : 0; break;
    case P_SHR:
        n.value = b.value < 64 ? a.value >> b.value : 0;
        if (!n.is_unsigned && sa < 0 && b.value && b.value < 64)
            n.value |= ~UINT64_C(0) << (64 - b.value);
        break;
    case '<': return (struct number){(uint64_t)less, 0};
    case '>': return (struct number){(uint64_t)(!less && a.value != b.value), 0};
    case P_LE: return (struct number){(uint64_t)(less || a.value == b.value), 0};
    case P_GE: return (struct number){(uint64_t)!less, 0};
    case P_EQ: return (struct number){a.value == b.value, 0};
    case P_NE: return (struct number){a.value != b.value, 0};
    case '&': n.value = a.value & b.value; break;
    case '^': n.value = a.value ^ b.value; break;
    case '|': n.value = a.value | b.value; break;
    case P_AND: return (struct number){a.value && b.value, 0};
    default: return (struct number){a.value || b.value, 0};
    }
    return n;
}

static struct number condition_binary(struct condition *k, int lowest, int live)
{
    struct number left = condition_unary(k, live);

    for (int rank = condition_rank(k); rank >= lowest && rank; rank = condition_rank(k)) {
        const int op = (k->at++)->punct;
        const int right_live = live && !(op == P_AND && !left.value) && !(op == P_OR && left.value);
        const struct number right = condition_binary(k, rank + 1, right_live);

        left = condition_apply(k, op, left, right, right_live);
    }
    return left;
}

static struct number condition_ternary(struct condition *k, int live)
{
    struct number n = condition_binary(k, 1, live);

    if (++k->depth > WMI_MAX_DEPTH)
        wmi_c_fail(k->p->c, WM_E_RANGE, k->place, "nested deeper than %d", WMI_MAX_DEPTH);
    if (condition_take(k, '?')) {
        const struct number yes = condition_ternary(k, live && n.value);
        struct number no;

        if (!condition_take(k, ':'))
            wmi_c_fail(k->p->c, WM_E_SYNTAX, k->place, "expected ':' in this condition");
        no = condition_ternary(k, live && !n.value);
        n = n.value ? yes : no;
    }
    k->depth--;
    return n;
}

/* Whether the condition line[0 .. count-1] holds. */
static int holds(struct preprocessor *p, const struct token *line, size_t count, struct place place)
{
    struct tokens plain = {0};
    struct tokens expanded = {0};
    struct source source;
    struct condition k;
    int result;

    for (size_t i = 0; i < count; i++) {
        struct token token = line[i];

        if (is_word(&token, "defined") || is_word(&token, "__has_include")) {
            const int has_bracket = i + 1 < count && is_punct(&line[i + 1], '(');
            const size_t name = i + 1 + (size_t)has_bracket;

            if (!is_word(&token, "defined"))
                wmi_c_refuse(p->c, token.place, "__has_include");
            if (name >= count || line[name].kind != T_NAME || (has_bracket && (name + 1 >= count || !is_punct(&line[name + 1], ')'))))
                wmi_c_fail(p->c, WM_E_SYNTAX, token.place, "expected a name after 'defined'");
            token.kind = T_NUMBER;
            token.text = line[name].name->macro ? "1" : "0";
            token.length = 1;
            i = name + (size_t)has_bracket;
        }
        wmi_c_push(p->c, &plain, &token);
    }
    if (!plain.count)
        wmi_c_fail(p->c, WM_E_SYNTAX, place, "expected a condition");
    source = (struct source){NULL, plain.list, plain.list + plain.count, NULL, 0};
    expand(p, &source, &expanded);
    k = (struct condition){p, expanded.list, expanded.list + expanded.count, place, 0};
    result = condition_ternary(&k, 1).value != 0;
    if (k.at < k.end)
        wmi_c_fail(p->c, WM_E_SYNTAX, k.at->place, "the condition does not end here");
    return result;
}

/* --------------------------------------------------------------------------------------------------------- directives */

static int is_same(const struct macro *a, const struct macro *b)
{
    if (a->has_parameters != b->has_parameters || a->is_variadic != b->is_variadic ||
        a->n_parameters != b->n_parameters || a->n_body != b->n_body)
        return 0;
    for (uint32_t i = 0; i < a->n_parameters; i++) {
        if (a->parameters[i] != b->parameters[i])
            return 0;
    }
    for (size_t i = 0; i < a->n_body; i++) {
        const struct token *left = &a->body[i];
        const struct token *right = &b->body[i];

        if (left->kind != right->kind || left->length != right->length || memcmp(left->text, right->text, left->length) != 0)
            return 0;
    }
    return 1;
}

/* Of two definitions the later stands, as for a C compiler, which warns as well. */
static void replace_macro(struct compile *c, struct name *name, struct macro *macro, struct place place)
{
    const struct macro *old = name->macro;

    if (old && old->given && !is_same(old, macro)) {
        if (macro->given)
            wmi_c_remark(c, wmi_c_text(c, "-D %.80s takes the place of -D %.80s", macro->given, old->given));
        else
            wmi_c_remark(c, wmi_c_text(c, "%s:%u: #define %s takes the place of -D %.80s", c->files[place.file].name, place.line,
                                       name->text, old->given));
    }
    name->macro = macro;
}

/* given: by the launch, as it has it; NULL: by a source. */
static void define(struct preprocessor *p, const struct token *line, size_t count, struct place place, const char *given)
{
    struct compile *c = p->c;
    struct macro *macro = wmi_c_take(c, sizeof *macro);
    size_t i = 1;

    if (count == 0 || line[0].kind != T_NAME)
        wmi_c_fail(c, WM_E_SYNTAX, place, "expected a name after #define");
    if (i < count && is_punct(&line[i], '(') && !(line[i].flags & TF_SPACE)) {
        macro->has_parameters = 1;
        macro->parameters = wmi_c_take(c, WMI_MAX_ARGUMENTS * sizeof *macro->parameters);
        for (i++; i < count && !is_punct(&line[i], ')'); i++) {
            if (macro->n_parameters && !macro->is_variadic && is_punct(&line[i], ',') && i + 1 < count)
                i++;
            if (macro->n_parameters >= WMI_MAX_ARGUMENTS || macro->is_variadic ||
                (line[i].kind != T_NAME && !is_punct(&line[i], P_ELLIPSIS)))
                wmi_c_fail(c, WM_E_SYNTAX, line[i].place, "expected the name of a parameter");
            macro->is_variadic = is_punct(&line[i], P_ELLIPSIS);
            macro->parameters[macro->n_parameters++] = macro->is_variadic ? wmi_c_name_of(c, "__VA_ARGS__") : line[i].name;
        }
        if (i >= count)
            wmi_c_fail(c, WM_E_SYNTAX, place, "expected ')'");
        i++;
    }
    macro->n_body = count > i ? count - i : 0;
    macro->body = wmi_c_take(c, (macro->n_body + 1) * sizeof *macro->body);
    if (macro->n_body)
        memcpy(macro->body, line + i, macro->n_body * sizeof *macro->body);
    macro->given = given;
    replace_macro(c, line[0].name, macro, place);
}

static struct place process(struct preprocessor *p, uint32_t file, const char *text, size_t length);

static char *read_all(FILE *stream, size_t *length)
{
    size_t room = 65536;
    char *text = malloc(room);
    size_t got;

    *length = 0;
    while (text && (got = fread(text + *length, 1, room - *length, stream)) > 0) {
        char *more;

        *length += got;
        if (*length < room)
            continue;
        more = room < WMI_MAX_ARENA ? realloc(text, room * 2) : NULL;
        if (!more)
            free(text);
        text = more;
        room *= 2;
    }
    return text;
}

static void include(struct preprocessor *p, const struct token *line, size_t count, struct place place, uint32_t from)
{
    struct compile *c = p->c;
    const char *path;
    FILE *stream;
    size_t length = 0;
    char *text;
    char *copy;

    if (count && is_punct(&line[0], '<'))
        return; /* CUDA's and C's own: what they declare is built in */
    if (!count || line[0].kind != T_STRING)
        wmi_c_fail(c, WM_E_SYNTAX, place, "expected <FILE> or \"FILE\" after #include");
    if (c->n_files >= WMI_MAX_INCLUDES || p->depth >= WMI_MAX_INCLUDES)
        wmi_c_fail(c, WM_E_RANGE, place, "more than %u included files", WMI_MAX_INCLUDES);
    path = wmi_c_text(c, "%s%.*s", line[0].text[0] == '/' ? "" : c->files[from].directory, (int)line[0].length, line[0].text);
    stream = c->launch->no_files ? NULL : fopen(path, "rb");
    if (!stream) {
        static const char *const known[] = {"cuda", "device_launch", "math_constants", "cooperative_groups", "mma.h",
                                            "stdio.h", "stdlib.h", "assert.h", "math.h", "stdint.h", "helper_cuda", NULL};

        for (size_t i = 0; known[i]; i++) {
            if (line[0].length >= strlen(known[i]) && memcmp(line[0].text, known[i], strlen(known[i])) == 0)
                return;
        }
        wmi_c_fail(c, WM_E_IO, line[0].place, "cannot open the included file %s", path);
    }
    text = read_all(stream, &length);
    fclose(stream);
    if (!text)
        wmi_c_fail(c, WM_E_MEMORY, line[0].place, "%s does not fit into memory", path);
    if (length + c->arena_used > WMI_MAX_ARENA) {
        free(text);
        wmi_c_fail(c, WM_E_RANGE, line[0].place, "%s is too long", path);
    }
    copy = (char *)(uintptr_t)wmi_arena_text(&c->arena, text, length);
    free(text);
    if (!copy)
        wmi_c_fail(c, WM_E_MEMORY, line[0].place, "out of memory");
    c->files[c->n_files].name = path;
    c->files[c->n_files].directory = wmi_c_text(c, "%.*s", strrchr(path, '/') ? (int)(strrchr(path, '/') - path + 1) : 0, path);
    p->depth++;
    process(p, c->n_files++, copy, length);
    p->depth--;
}

/* #pragma unroll, with or without a count, stays as a token of its own, with "(count)" behind it. */
static void pragma(struct preprocessor *p, const struct token *line, size_t count)
{
    struct compile *c = p->c;
    struct token token;
    struct source source;

    if (!count || (!is_word(&line[0], "unroll") && !is_word(&line[0], "nounroll")))
        return;
    token = line[0];
    token.kind = T_UNROLL;
    token.name = NULL;
    wmi_c_push(c, &c->tokens, &token);
    if (is_word(&line[0], "nounroll")) {
        struct token one[3] = {token, token, token};

        one[0].kind = one[2].kind = T_PUNCT;
        one[0].punct = '(';
        one[2].punct = ')';
        one[1].kind = T_NUMBER;
        one[1].text = "1";
        one[1].length = 1;
        for (unsigned i = 0; i < 3; i++)
            wmi_c_push(c, &c->tokens, &one[i]);
    } else if (count > 1) {
        const int has_bracket = is_punct(&line[1], '(');
        struct token bracket = token;

        bracket.kind = T_PUNCT;
        bracket.punct = '(';
        if (!has_bracket)
            wmi_c_push(c, &c->tokens, &bracket);
        source = (struct source){NULL, line + 1, line + count, NULL, 0};
        expand(p, &source, &c->tokens);
        bracket.punct = ')';
        if (!has_bracket)
            wmi_c_push(c, &c->tokens, &bracket);
    }
}

/* An #if that is open. */
struct branch {
    struct branch *outer;
    struct place place;
    int was_taken; /* one of its parts so far */
    int is_live;   /* the current part, if all around it is */
    int has_else;
};

/* Directives that open, change or close a branch; 0: it is another one. */
static int conditional(struct preprocessor *p, struct branch **branches, int live, const struct token *line, size_t count)
{
    struct compile *c = p->c;
    const struct place place = line[0].place;
    struct branch *branch = *branches;
    const int is_ifdef = is_word(&line[0], "ifdef");
    const int is_ifndef = is_word(&line[0], "ifndef");

    if (is_word(&line[0], "if") || is_ifdef || is_ifndef) {
        branch = wmi_c_take(c, sizeof *branch);
        branch->outer = *branches;
        branch->place = place;
        *branches = branch;
        if (!live) {
            branch->was_taken = 1;
        } else if (is_ifdef || is_ifndef) {
            if (count < 2 || line[1].kind != T_NAME)
                wmi_c_fail(c, WM_E_SYNTAX, place, "expected a name");
            branch->is_live = (line[1].name->macro != NULL) == is_ifdef;
        } else {
            branch->is_live = holds(p, line + 1, count - 1, place);
        }
        branch->was_taken |= branch->is_live;
        return 1;
    }
    if (!is_word(&line[0], "elif") && !is_word(&line[0], "else") && !is_word(&line[0], "endif"))
        return 0;
    if (!branch)
        wmi_c_fail(c, WM_E_SYNTAX, place, "#%s without #if", line[0].name->text);
    if (is_word(&line[0], "endif")) {
        *branches = branch->outer;
        return 1;
    }
    if (branch->has_else)
        wmi_c_fail(c, WM_E_SYNTAX, place, "#%s after #else", line[0].name->text);
    if (is_word(&line[0], "else")) {
        branch->has_else = 1;
        branch->is_live = !branch->was_taken;
    } else {
        branch->is_live = !branch->was_taken && holds(p, line + 1, count - 1, place);
    }
    branch->was_taken |= branch->is_live;
    return 1;
}

static void directive(struct preprocessor *p, const struct token *line, size_t count, uint32_t file)
{
    struct compile *c = p->c;

    if (is_word(&line[0], "define"))
        define(p, line + 1, count - 1, line[0].place, NULL);
    else if (is_word(&line[0], "undef")) {
        if (count < 2 || line[1].kind != T_NAME)
            wmi_c_fail(c, WM_E_SYNTAX, line[0].place, "expected a name after #undef");
        line[1].name->macro = NULL;
    } else if (is_word(&line[0], "include"))
        include(p, line + 1, count - 1, line[0].place, file);
    else if (is_word(&line[0], "pragma"))
        pragma(p, line + 1, count - 1);
    else if (is_word(&line[0], "error"))
        wmi_c_fail(c, WM_E_SYNTAX, line[0].place, "#error");
    else if (!is_word(&line[0], "warning") && !is_word(&line[0], "line") && line[0].kind != T_NUMBER)
        wmi_c_refuse(c, line[0].place, "the directive #%.*s", (int)line[0].length, line[0].text);
}

/* Returns where the text ends. */
static struct place process(struct preprocessor *p, uint32_t file, const char *text, size_t length)
{
    struct compile *c = p->c;
    struct tokens raw = {0};
    struct branch *branches = NULL;
    const struct token *at;
    const struct token *end;

    wmi_c_lex(c, text, length, file, &raw);
    at = raw.list;
    end = raw.list + raw.count - 1; /* T_END */
    while (at < end) {
        int live = 1;

        for (const struct branch *branch = branches; branch; branch = branch->outer)
            live &= branch->is_live;
        if (is_punct(at, '#') && (at->flags & TF_LINE_START)) {
            const struct token *line = ++at;

            while (at < end && !(at->flags & TF_LINE_START))
                at++;
            if (at > line && !conditional(p, &branches, live, line, (size_t)(at - line)) && live)
                directive(p, line, (size_t)(at - line), file);
        } else if (live) {
            struct source source = {NULL, at, raw.list + raw.count, NULL, 1};
            struct source *base = &source;

            expand(p, base, &c->tokens);
            at = source.at;
        } else {
            at++;
        }
    }
    if (branches)
        wmi_c_fail(c, WM_E_SYNTAX, branches->place, "this #%s has no #endif", "if");
    return end->place;
}

/* ------------------------------------------------------------------------------------------------ macros of the launch */

/* The '=' of "NAME=TEXT" or "NAME(PARAMETERS)=TEXT", the end of what has none. NULL: it is none of these. */
static const char *sign_of(const char *text, size_t name)
{
    const char *behind = text + name;

    if (name == 0 || (text[0] >= '0' && text[0] <= '9'))
        return NULL;
    if (*behind == '(') {
        behind = strchr(behind, ')');
        if (!behind)
            return NULL;
        behind++;
    }
    return *behind == '=' || *behind == '\0' ? behind : NULL;
}

/* A macro of the launch; errors are reported at "-D NAME", with the column in its text. */
static void define_given(struct preprocessor *p, const char *given)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    struct compile *c = p->c;
    const struct place nowhere = {WMI_MAX_INCLUDES, 0, 0};
    const size_t length = strspn(given, letters);
    const char *sign = sign_of(given, length);
    struct tokens tokens = {0};
    const struct name *name;
    const char *text;

    c->files[nowhere.file].directory = "";
    c->files[nowhere.file].name = wmi_c_text(c, "-D %s", given);
    if (!sign)
        wmi_c_fail(c, WM_E_ARGUMENT, nowhere, "expected NAME, NAME=TEXT or NAME(PARAMETERS)=TEXT");
    c->files[nowhere.file].name = wmi_c_text(c, "-D %.*s", (int)length, given);
    if (strchr(given, '\n'))
        wmi_c_fail(c, WM_E_ARGUMENT, nowhere, "a macro is one line");
    text = wmi_c_text(c, "%.*s %s", (int)(sign - given), given, *sign ? sign + 1 : "1");
    wmi_c_lex(c, text, strlen(text), nowhere.file, &tokens);
    name = tokens.list[0].name;
    if (strcmp(name->text, "defined") == 0 || strcmp(name->text, "__has_include") == 0 ||
        strcmp(name->text, "__VA_ARGS__") == 0)
        wmi_c_fail(c, WM_E_ARGUMENT, nowhere, "%s cannot be a macro's name", name->text);
    if (name->macro && !name->macro->given)
        wmi_c_fail(c, WM_E_ARGUMENT, nowhere, "%s is built in and cannot be defined", name->text);
    define(p, tokens.list, tokens.count - 1, tokens.list[0].place, wmi_c_text(c, "%s", given));
}

/* ----------------------------------------------------------------------------------------------------------------- texts */

void wmi_c_piece(struct compile *c, const char *name, const char *text, int is_declaration)
{
    struct preprocessor p = {c, 0};
    const uint32_t file = WMI_MAX_INCLUDES + 2 + c->n_pieces++;
    const char *copy = wmi_c_text(c, "%s", text);
    struct token end = {.kind = T_PUNCT, .punct = ';', .text = ""};

    c->files[file].name = wmi_c_text(c, "%s", name);
    c->files[file].directory = "";
    c->at = c->tokens.count;
    c->split_at = 0;
    c->no_greater = 0;
    end.place = process(&p, file, copy, strlen(copy));
    if (is_declaration)
        wmi_c_push(c, &c->tokens, &end);
    end.kind = T_END;
    end.punct = 0;
    wmi_c_push(c, &c->tokens, &end);
}

void wmi_c_preprocess(struct compile *c, const char *path, const char *text, size_t length)
{
    struct preprocessor p = {c, 0};
    struct token end = {0};
    const char *slash = strrchr(path, '/');
    const char *head;

    c->files = wmi_c_take(c, (WMI_MAX_INCLUDES + 2 + WMI_MAX_PIECES) * sizeof *c->files);
    c->files[0].name = "built in";
    c->files[0].directory = "";
    c->files[1].name = wmi_c_text(c, "%s", path);
    c->files[1].directory = wmi_c_text(c, "%.*s", slash ? (int)(slash - path + 1) : 0, path);
    c->n_files = 2;
    head = wmi_c_text(c, "#define __CUDA_ARCH__ %u\n%s", c->launch->cuda_arch ? c->launch->cuda_arch : 900, wmi_c_prelude);
    process(&p, 0, head, strlen(head));
    for (size_t i = 0; i < c->launch->n_macros; i++)
        define_given(&p, c->launch->macros[i]);
    process(&p, 1, text, length);
    end.kind = T_END;
    end.text = "";
    end.place.file = 1;
    end.place.line = 1;
    for (size_t i = 0; i < length; i++)
        end.place.line += text[i] == '\n';
    end.place.column = 1;
    wmi_c_push(c, &c->tokens, &end);
}
