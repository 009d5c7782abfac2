/* The parser's movements, types and declarators, and what stands at file scope. */
#include <string.h>

#include "compile.h"

/* ---------------------------------------------------------------------------------------------------------- movements */

const struct token *wmi_c_now(const struct compile *c)
{
    return &c->tokens.list[c->at];
}

const struct token *wmi_c_ahead(const struct compile *c, size_t tokens)
{
    const size_t last = c->tokens.count - 1;

    return &c->tokens.list[c->at + tokens < last ? c->at + tokens : last];
}

void wmi_c_advance(struct compile *c)
{
    if (c->at + 1 < c->tokens.count)
        c->at++;
}

int wmi_c_is(const struct compile *c, int punct)
{
    const struct token *token = wmi_c_now(c);

    return token->kind == T_PUNCT && token->punct == punct;
}

int wmi_c_take_punct(struct compile *c, int punct)
{
    if (!wmi_c_is(c, punct))
        return 0;
    wmi_c_advance(c);
    return 1;
}

int wmi_c_is_word(const struct compile *c, int keyword)
{
    const struct token *token = wmi_c_now(c);

    return token->kind == T_NAME && token->name->keyword == keyword;
}

int wmi_c_take_word(struct compile *c, int keyword)
{
    if (!wmi_c_is_word(c, keyword))
        return 0;
    wmi_c_advance(c);
    return 1;
}

void wmi_c_unexpected(struct compile *c, const char *expected)
{
    const struct token *token = wmi_c_now(c);

    if (token->kind == T_END || token->length == 0)
        wmi_c_fail(c, WM_E_SYNTAX, token->place, "expected %s, found the end%s", expected,
                   token->place.file > WMI_MAX_INCLUDES ? "" : " of the file");
    if (token->kind == T_UNROLL)
        wmi_c_fail(c, WM_E_SYNTAX, token->place, "expected %s, found #pragma unroll", expected);
    wmi_c_fail(c, WM_E_SYNTAX, token->place, "expected %s, found '%.*s'", expected,
               (int)(token->length < 40 ? token->length : 40), token->text);
}

void wmi_c_expect(struct compile *c, int punct, const char *where)
{
    const char text[2] = {(char)punct, '\0'};

    if (!wmi_c_take_punct(c, punct))
        wmi_c_unexpected(c, wmi_c_text(c, "'%s' %s", text, where));
}

void wmi_c_skip_bracket(struct compile *c)
{
    const struct token *start = wmi_c_now(c);
    unsigned nested = 0;

    do {
        const struct token *token = wmi_c_now(c);

        if (token->kind == T_END)
            wmi_c_fail(c, WM_E_SYNTAX, start->place, "this '%.*s' is not closed", (int)start->length, start->text);
        if (token->kind == T_PUNCT && (token->punct == '(' || token->punct == '[' || token->punct == '{'))
            nested++;
        if (token->kind == T_PUNCT && (token->punct == ')' || token->punct == ']' || token->punct == '}'))
            nested--;
        wmi_c_advance(c);
    } while (nested);
}

/* -------------------------------------------------------------------------------------------------------------- scopes */

struct symbol *wmi_c_find(struct compile *c, const struct name *name)
{
    for (const struct scope *scope = c->scope; scope && scope != c->file_scope; scope = scope->outer) {
        for (struct symbol *symbol = scope->symbols; symbol; symbol = symbol->next) {
            if (symbol->name == name)
                return symbol;
        }
    }
    return name->global;
}

struct symbol *wmi_c_declare(struct compile *c, enum symbol_kind kind, struct name *name, struct place place)
{
    struct symbol *symbol = wmi_c_take(c, sizeof *symbol);

    symbol->kind = kind;
    symbol->name = name;
    symbol->place = place;
    if (c->scope == c->file_scope) {
        /* What is built in may be declared again, as is a type by the same typedef. */
        if (name->global && name->global->place.file != 0 && name->global->kind != SYM_REFUSED && kind != SYM_REFUSED &&
            !(name->global->kind == SYM_TYPE && kind == SYM_TYPE))
            wmi_c_fail(c, WM_E_SYNTAX, place, "%s is declared twice, first in line %u", name->text,
                       name->global->place.line);
        name->global = symbol;
        return symbol;
    }
    for (const struct symbol *other = c->scope->symbols; other; other = other->next) {
        if (other->name == name && name)
            wmi_c_fail(c, WM_E_SYNTAX, place, "%s is declared twice, first in line %u", name->text, other->place.line);
    }
    symbol->next = c->scope->symbols;
    c->scope->symbols = symbol;
    return symbol;
}

/* Moves over "std::", "cuda::std::", "::" and the names of the source's own namespaces. */
static void skip_qualifiers(struct compile *c)
{
    for (;;) {
        const struct token *token = wmi_c_now(c);
        const struct token *next = wmi_c_ahead(c, 1);

        if (token->kind == T_PUNCT && token->punct == P_SCOPE && next->kind == T_NAME) {
            wmi_c_advance(c);
            continue;
        }
        if (token->kind != T_NAME || next->kind != T_PUNCT || next->punct != P_SCOPE)
            return;
        if (strcmp(token->name->text, "std") != 0 && strcmp(token->name->text, "cuda") != 0) {
            const struct symbol *symbol = wmi_c_find(c, token->name);

            if (!symbol || symbol->kind != SYM_NAMESPACE)
                return;
        }
        wmi_c_advance(c);
        wmi_c_advance(c);
    }
}

int wmi_c_is_type(struct compile *c)
{
    const struct token *token;
    struct symbol *symbol;

    skip_qualifiers(c);
    token = wmi_c_now(c);
    if (token->kind != T_NAME)
        return 0;
    switch (token->name->keyword) {
    case KW_STRUCT: case KW_CLASS: case KW_UNION: case KW_ENUM: case KW_TYPENAME: case KW_CONST: case KW_VOLATILE:
    case KW_VOID: case KW_BOOL: case KW_CHAR: case KW_SHORT: case KW_INT: case KW_LONG: case KW_FLOAT: case KW_DOUBLE:
    case KW_SIGNED: case KW_UNSIGNED: case KW_AUTO: case KW_DECLTYPE: return 1;
    case W_NO_KEYWORD: break;
    default: return 0;
    }
    symbol = wmi_c_find(c, token->name);
    return symbol && (symbol->kind == SYM_TYPE || symbol->kind == SYM_TEMPLATE);
}

/* --------------------------------------------------------------------------------------------------------------- types */

static uint32_t parse_align(struct compile *c)
{
    const struct place place = wmi_c_now(c)->place;
    int64_t value;

    wmi_c_expect(c, '(', "before an alignment");
    if (wmi_c_is_type(c))
        value = wmi_c_type(c)->align;
    else
        value = wmi_c_constant_integer(c, "an alignment");
    wmi_c_expect(c, ')', "behind an alignment");
    if (value < 1 || value > 1024 || (value & (value - 1)))
        wmi_c_fail(c, WM_E_RANGE, place, "%lld is not an alignment: a power of two, 1 to 1024", (long long)value);
    return (uint32_t)value;
}

/* alignas, __align__, __attribute__, [[...]], __launch_bounds__. Returns 0 if none stands here. */
static int attribute(struct compile *c, uint32_t *align)
{
    uint32_t value = 0;

    if (wmi_c_take_word(c, KW_ALIGNAS) || wmi_c_take_word(c, KW_ALIGN)) {
        value = parse_align(c);
    } else if (wmi_c_is_word(c, KW_ATTRIBUTE)) {
        wmi_c_advance(c);
        if (!wmi_c_is(c, '('))
            wmi_c_unexpected(c, "'(' behind __attribute__");
        if (wmi_c_ahead(c, 2)->kind == T_NAME && strstr(wmi_c_ahead(c, 2)->name->text, "aligned")) {
            c->at += 3;
            value = wmi_c_is(c, '(') ? parse_align(c) : 16;
            wmi_c_expect(c, ')', "behind an attribute");
            wmi_c_expect(c, ')', "behind an attribute");
        } else if (wmi_c_ahead(c, 2)->kind == T_NAME && strstr(wmi_c_ahead(c, 2)->name->text, "packed")) {
            wmi_c_refuse(c, wmi_c_now(c)->place, "a packed struct");
        } else {
            wmi_c_skip_bracket(c);
        }
    } else if (wmi_c_is_word(c, KW_LAUNCH_BOUNDS) || wmi_c_is_word(c, KW_CLUSTER_DIMS)) {
        if (wmi_c_is_word(c, KW_CLUSTER_DIMS))
            wmi_c_refuse(c, wmi_c_now(c)->place, "__cluster_dims__");
        wmi_c_advance(c);
        if (!wmi_c_is(c, '('))
            wmi_c_unexpected(c, "'('");
        wmi_c_skip_bracket(c);
    } else if (wmi_c_is(c, '[') && wmi_c_ahead(c, 1)->kind == T_PUNCT && wmi_c_ahead(c, 1)->punct == '[') {
        wmi_c_skip_bracket(c);
    } else {
        return 0;
    }
    if (value > *align)
        *align = value;
    return 1;
}

static void add_field(struct compile *c, struct record *record, size_t *room, struct name *name, const struct type *type,
                      struct place place)
{
    if (!name)
        wmi_c_refuse(c, place, "a member without a name");
    if (type->kind == K_VOID || type->kind == K_REFERENCE || (type->kind == K_ARRAY && !type->count) ||
        (type->kind == K_RECORD && !type->record->is_complete))
        wmi_c_refuse(c, place, "a member of type %s", wmi_c_type_name(c, type));
    for (uint32_t i = 0; i < record->n_fields; i++) {
        if (record->fields[i].name == name)
            wmi_c_fail(c, WM_E_SYNTAX, place, "%s has two members %s", record->name, name->text);
    }
    if (record->n_fields >= 1024)
        wmi_c_fail(c, WM_E_RANGE, place, "more than 1024 members");
    record->fields = wmi_c_grow(c, record->fields, record->n_fields, room, sizeof *record->fields);
    record->fields[record->n_fields++] = (struct field){name, type, 0, 0};
}

void wmi_c_record_body(struct compile *c, struct record *record, uint32_t align)
{
    const struct place place = wmi_c_now(c)->place;
    size_t room = 0;

    wmi_c_enter(c, place);
    wmi_c_expect(c, '{', "before members");
    while (!wmi_c_take_punct(c, '}')) {
        struct specifiers specifiers;

        if (wmi_c_take_punct(c, ';'))
            continue;
        if (wmi_c_is_word(c, KW_STATIC_ASSERT)) {
            wmi_c_static_assert(c);
            continue;
        }
        if (wmi_c_is_word(c, KW_PUBLIC) && wmi_c_ahead(c, 1)->kind == T_PUNCT && wmi_c_ahead(c, 1)->punct == ':') {
            c->at += 2;
            continue;
        }
        wmi_c_specifiers(c, &specifiers);
        if (specifiers.is_static || specifiers.is_typedef || specifiers.is_auto || specifiers.is_device || specifiers.is_host)
            wmi_c_refuse(c, specifiers.place, "this kind of member");
        while (!wmi_c_is(c, ';')) {
            struct place at = wmi_c_now(c)->place;
            struct name *name;
            const struct type *type = wmi_c_declarator(c, specifiers.type, &name, &at);

            if (wmi_c_is(c, '('))
                wmi_c_refuse(c, at, "a member function");
            if (wmi_c_is(c, ':'))
                wmi_c_refuse(c, at, "a bit field");
            if (wmi_c_is(c, '=') || wmi_c_is(c, '{'))
                wmi_c_refuse(c, at, "a member with an initialiser");
            add_field(c, record, &room, name, wmi_c_aligned(c, type, specifiers.align), at);
            if (!wmi_c_take_punct(c, ','))
                break;
        }
        wmi_c_expect(c, ';', "behind a member");
    }
    while (attribute(c, &align))
        ;
    wmi_c_record_finish(c, record, align, place);
    wmi_c_leave(c);
}

static const struct type *parse_record(struct compile *c)
{
    const struct place place = wmi_c_now(c)->place;
    struct name *name = NULL;
    struct symbol *symbol = NULL;
    uint32_t align = 0;

    if (wmi_c_take_word(c, KW_UNION))
        wmi_c_refuse(c, place, "a union");
    wmi_c_advance(c);
    while (attribute(c, &align))
        ;
    if (wmi_c_now(c)->kind == T_NAME && !wmi_c_now(c)->name->keyword) {
        name = wmi_c_now(c)->name;
        symbol = wmi_c_find(c, name);
        if (symbol && symbol->kind == SYM_TEMPLATE) {
            wmi_c_advance(c);
            return wmi_c_record_instance(c, symbol);
        }
        if (symbol && symbol->kind == SYM_REFUSED)
            wmi_c_fail(c, WM_E_UNSUPPORTED, wmi_c_now(c)->place, "%s: %s", name->text, symbol->refused);
        wmi_c_advance(c);
        while (attribute(c, &align))
            ;
    }
    if (wmi_c_is(c, ':'))
        wmi_c_refuse(c, wmi_c_now(c)->place, "a base class");
    if (!name && !wmi_c_is(c, '{'))
        wmi_c_unexpected(c, "the name or members of a struct");
    if (!symbol || symbol->kind != SYM_TYPE || (wmi_c_is(c, '{') && symbol->type->kind == K_RECORD && symbol->type->record->is_complete)) {
        const struct type *type = wmi_c_record(c, name ? name->text : "struct")->type;

        if (name && wmi_c_is(c, '{') && symbol && symbol->place.file != 0 && symbol->kind == SYM_TYPE &&
            c->scope == c->file_scope)
            wmi_c_fail(c, WM_E_SYNTAX, place, "struct %s is defined twice", name->text);
        if (name) {
            symbol = wmi_c_declare(c, SYM_TYPE, name, place);
            symbol->type = type;
        }
        if (wmi_c_is(c, '{'))
            wmi_c_record_body(c, type->record, align);
        return type;
    }
    if (wmi_c_is(c, '{') && symbol->type->kind == K_RECORD)
        wmi_c_record_body(c, symbol->type->record, align);
    return symbol->type;
}

static const struct type *parse_enum(struct compile *c)
{
    const struct type *type = wmi_c_basic(c, K_INT);
    int64_t next = 0;

    wmi_c_advance(c);
    if (wmi_c_is_word(c, KW_CLASS) || wmi_c_is_word(c, KW_STRUCT))
        wmi_c_refuse(c, wmi_c_now(c)->place, "enum class");
    if (wmi_c_now(c)->kind == T_NAME) {
        const struct token *token = wmi_c_now(c);
        struct symbol *symbol = wmi_c_find(c, token->name);

        wmi_c_advance(c);
        if (wmi_c_take_punct(c, ':'))
            type = wmi_c_type(c);
        if (symbol && symbol->kind == SYM_TYPE && !wmi_c_is(c, '{'))
            return symbol->type;
        wmi_c_declare(c, SYM_TYPE, token->name, token->place)->type = type;
    } else if (wmi_c_take_punct(c, ':')) {
        type = wmi_c_type(c);
    }
    if (!wmi_c_is_integer(type))
        wmi_c_fail(c, WM_E_SYNTAX, wmi_c_now(c)->place, "an enum of type %s", wmi_c_type_name(c, type));
    wmi_c_expect(c, '{', "before enumerators");
    while (!wmi_c_take_punct(c, '}')) {
        const struct token *token = wmi_c_now(c);
        struct symbol *symbol;

        if (token->kind != T_NAME || token->name->keyword)
            wmi_c_unexpected(c, "an enumerator");
        wmi_c_advance(c);
        if (wmi_c_take_punct(c, '='))
            next = wmi_c_constant_integer(c, "an enumerator's value");
        symbol = wmi_c_declare(c, SYM_CONSTANT, token->name, token->place);
        symbol->type = type;
        symbol->constant = wmi_c_integer(c, (uint64_t)next, type, token->place);
        next = (int64_t)((uint64_t)next + 1);
        if (!wmi_c_take_punct(c, ',') && !wmi_c_is(c, '}'))
            wmi_c_unexpected(c, "',' or '}'");
    }
    return type;
}

/* What the words int, unsigned, long ... that were seen make together. */
static const struct type *combine(struct compile *c, const unsigned *seen, struct place place)
{
    const unsigned is_unsigned = seen[KW_UNSIGNED];
    enum type_kind kind;

    if (seen[KW_SIGNED] + is_unsigned > 1 || seen[KW_LONG] > 2 ||
        seen[KW_VOID] + seen[KW_BOOL] + seen[KW_CHAR] + seen[KW_FLOAT] + seen[KW_DOUBLE] + (seen[KW_SHORT] || seen[KW_LONG]) > 1)
        wmi_c_fail(c, WM_E_SYNTAX, place, "these words do not make a type");
    if (seen[KW_VOID])
        kind = K_VOID;
    else if (seen[KW_BOOL])
        kind = K_BOOL;
    else if (seen[KW_FLOAT])
        kind = K_FLOAT;
    else if (seen[KW_DOUBLE])
        kind = K_DOUBLE;
    else if (seen[KW_CHAR])
        kind = is_unsigned ? K_UCHAR : seen[KW_SIGNED] ? K_SCHAR : K_CHAR;
    else if (seen[KW_SHORT])
        kind = is_unsigned ? K_USHORT : K_SHORT;
    else if (seen[KW_LONG] == 2)
        kind = is_unsigned ? K_ULLONG : K_LLONG;
    else if (seen[KW_LONG] == 1)
        kind = is_unsigned ? K_ULONG : K_LONG;
    else
        kind = is_unsigned ? K_UINT : K_INT;
    return wmi_c_basic(c, kind);
}

static const struct type *named_type(struct compile *c, struct symbol *symbol)
{
    wmi_c_advance(c);
    return symbol->kind == SYM_TEMPLATE ? wmi_c_record_instance(c, symbol) : symbol->type;
}

void wmi_c_specifiers(struct compile *c, struct specifiers *out)
{
    unsigned seen[KW_UNSIGNED + 1] = {0};
    unsigned words = 0;
    int is_const = 0;

    memset(out, 0, sizeof *out);
    out->place = wmi_c_now(c)->place;
    for (;; wmi_c_advance(c)) {
        const struct token *token;
        struct symbol *symbol;

        while (attribute(c, &out->align))
            ;
        skip_qualifiers(c);
        token = wmi_c_now(c);
        if (token->kind != T_NAME)
            break;
        switch (token->name->keyword) {
        case KW_CONST: is_const = 1; continue;
        case KW_VOLATILE: case KW_RESTRICT: case KW_INLINE: case KW_REGISTER: case KW_FORCEINLINE: case KW_NOINLINE:
        case KW_TYPENAME: case KW_GRID_CONSTANT: continue;
        case KW_STATIC: out->is_static = 1; continue;
        case KW_EXTERN: out->is_extern = 1; continue;
        case KW_TYPEDEF: out->is_typedef = 1; continue;
        case KW_CONSTEXPR: out->is_constexpr = is_const = 1; continue;
        case KW_SHARED: out->is_shared = 1; continue;
        case KW_CONSTANT: out->is_constant = 1; continue;
        case KW_DEVICE: out->is_device = 1; continue;
        case KW_GLOBAL: out->is_global = 1; continue;
        case KW_HOST: out->is_host = 1; continue;
        case KW_MANAGED: out->is_device = 1; continue;
        case KW_VOID: case KW_BOOL: case KW_CHAR: case KW_SHORT: case KW_INT: case KW_LONG: case KW_FLOAT: case KW_DOUBLE:
        case KW_SIGNED: case KW_UNSIGNED:
            if (out->type || out->is_auto)
                break;
            if (seen[token->name->keyword] < 3)
                seen[token->name->keyword]++;
            words++;
            out->type_at = out->type_at ? out->type_at : c->at;
            out->type_end = c->at + 1;
            continue;
        case KW_AUTO:
            if (out->type || words)
                break;
            out->is_auto = 1;
            continue;
        case KW_STRUCT: case KW_CLASS: case KW_UNION: case KW_ENUM:
            if (out->type || words || out->is_auto)
                break;
            out->type_at = c->at;
            out->type = token->name->keyword == KW_ENUM ? parse_enum(c) : parse_record(c);
            out->type_end = c->at;
            c->at--; /* the loop moves on */
            continue;
        case KW_DECLTYPE: wmi_c_refuse(c, token->place, "decltype");
        case W_NO_KEYWORD:
            if (out->type || words || out->is_auto)
                break;
            symbol = wmi_c_find(c, token->name);
            if (symbol && symbol->kind == SYM_REFUSED)
                wmi_c_fail(c, WM_E_UNSUPPORTED, token->place, "%s: %s", token->name->text, symbol->refused);
            if (!symbol || (symbol->kind != SYM_TYPE && symbol->kind != SYM_TEMPLATE))
                break;
            out->type_at = c->at;
            out->type = named_type(c, symbol);
            out->type_end = c->at;
            c->at--;
            continue;
        default: break;
        }
        break;
    }
    if (words)
        out->type = combine(c, seen, out->place);
    if (!out->type && !out->is_auto) {
        const struct token *token = wmi_c_now(c);

        if (token->kind == T_NAME && !token->name->keyword)
            wmi_c_refuse(c, token->place, "the type %s", token->name->text);
        wmi_c_unexpected(c, "a type");
    }
    if (is_const && out->type)
        out->type = wmi_c_const(c, out->type);
}

const struct type *wmi_c_aligned(struct compile *c, const struct type *type, uint32_t align)
{
    struct type *aligned;

    if (align <= type->align)
        return type;
    aligned = wmi_c_take(c, sizeof *aligned);
    *aligned = *type;
    aligned->align = align;
    return aligned;
}

static const struct type *element_type(const struct type *type)
{
    if (type->kind == K_POINTER)
        type = type->base;
    while (type->kind == K_ARRAY)
        type = type->base;
    return type;
}

const char *wmi_c_written(struct compile *c, const struct specifiers *specifiers, const struct type *type)
{
    const struct type *element = element_type(type)->plain;
    const char *text = "";
    int is_word = 0; /* the token before is one */

    if (!specifiers->type || specifiers->type->plain != element)
        return wmi_c_type_name(c, element);
    for (size_t i = specifiers->type_at; i < specifiers->type_end; i++) {
        const struct token *token = &c->tokens.list[i];
        const int is_name = token->kind == T_NAME || token->kind == T_NUMBER;
        const struct symbol *symbol = token->kind == T_NAME ? wmi_c_find(c, token->name) : NULL;

        if ((symbol && symbol->is_bound) || (token->kind == T_PUNCT && token->punct == '{'))
            return wmi_c_type_name(c, element);
        if (token->kind == T_NAME && (token->name->keyword == KW_CONST || token->name->keyword == KW_VOLATILE ||
                                      token->name->keyword == KW_SHARED || token->name->keyword == KW_STATIC))
            continue;
        text = wmi_c_text(c, "%s%s%.*s", text, (is_name && is_word) ? " " : "", (int)token->length, token->text);
        if (token->kind == T_PUNCT && token->punct == ',')
            text = wmi_c_text(c, "%s ", text);
        is_word = is_name;
    }
    return text;
}

static const struct type *parse_bounds(struct compile *c, const struct type *base, int is_first)
{
    const struct place place = wmi_c_now(c)->place;
    int64_t count = 0;

    if (!wmi_c_take_punct(c, '['))
        return base;
    wmi_c_enter(c, place);
    if (!wmi_c_is(c, ']')) {
        const int no_greater = c->no_greater;

        c->no_greater = 0;
        count = wmi_c_constant_integer(c, "an array's length");
        c->no_greater = no_greater;
        if (count <= 0)
            wmi_c_fail(c, WM_E_RANGE, place, "an array of %lld elements", (long long)count);
    } else if (!is_first) {
        wmi_c_unexpected(c, "the length of an array");
    }
    wmi_c_expect(c, ']', "behind an array's length");
    base = parse_bounds(c, base, 0);
    wmi_c_leave(c);
    return wmi_c_array(c, base, (uint64_t)count, place);
}

const struct type *wmi_c_declarator(struct compile *c, const struct type *base, struct name **name, struct place *place)
{
    uint32_t align = 0;

    wmi_c_enter(c, wmi_c_now(c)->place);
    *name = NULL;
    for (;;) {
        if (wmi_c_take_punct(c, '*')) {
            if (base->kind == K_REFERENCE)
                wmi_c_fail(c, WM_E_SYNTAX, wmi_c_now(c)->place, "a pointer to a reference");
            base = wmi_c_pointer(c, base);
        } else if (wmi_c_take_punct(c, '&')) {
            base = wmi_c_reference(c, base);
        } else if (wmi_c_is(c, P_AND)) {
            wmi_c_refuse(c, wmi_c_now(c)->place, "an rvalue reference");
        } else if (wmi_c_take_word(c, KW_CONST)) {
            base = wmi_c_const(c, base);
        } else if (!wmi_c_take_word(c, KW_RESTRICT) && !wmi_c_take_word(c, KW_VOLATILE)) {
            break;
        }
    }
    if (wmi_c_is(c, '(') && wmi_c_ahead(c, 1)->kind == T_PUNCT &&
        (wmi_c_ahead(c, 1)->punct == '*' || wmi_c_ahead(c, 1)->punct == '&')) {
        const size_t inner = c->at + 1;
        size_t behind;

        wmi_c_skip_bracket(c);
        if (wmi_c_is(c, '('))
            wmi_c_refuse(c, wmi_c_now(c)->place, "a pointer to a function");
        base = parse_bounds(c, base, 1);
        behind = c->at;
        c->at = inner;
        base = wmi_c_declarator(c, base, name, place);
        wmi_c_expect(c, ')', "in a declaration");
        c->at = behind;
    } else {
        if (wmi_c_now(c)->kind == T_NAME && !wmi_c_now(c)->name->keyword) {
            *name = wmi_c_now(c)->name;
            *place = wmi_c_now(c)->place;
            wmi_c_advance(c);
        }
        while (wmi_c_is_word(c, KW_ALIGN) || wmi_c_is_word(c, KW_ALIGNAS) || wmi_c_is_word(c, KW_ATTRIBUTE))
            attribute(c, &align);
        base = wmi_c_aligned(c, parse_bounds(c, base, 1), align);
    }
    wmi_c_leave(c);
    return base;
}

const struct type *wmi_c_type(struct compile *c)
{
    struct specifiers specifiers;
    struct place place = wmi_c_now(c)->place;
    struct name *name;
    const struct type *type;

    wmi_c_specifiers(c, &specifiers);
    if (specifiers.is_auto)
        wmi_c_refuse(c, place, "auto here");
    type = wmi_c_declarator(c, specifiers.type, &name, &place);
    if (name)
        wmi_c_fail(c, WM_E_SYNTAX, place, "a name in a type");
    return type;
}

/* ---------------------------------------------------------------------------------------------------------- file scope */

void wmi_c_static_assert(struct compile *c)
{
    const struct place place = wmi_c_now(c)->place;

    wmi_c_advance(c);
    wmi_c_expect(c, '(', "behind static_assert");
    if (wmi_c_constant_integer(c, "a condition") == 0)
        wmi_c_fail(c, WM_E_SYNTAX, place, "static_assert does not hold");
    if (wmi_c_take_punct(c, ',') && wmi_c_now(c)->kind == T_STRING)
        wmi_c_advance(c);
    wmi_c_expect(c, ')', "behind static_assert");
    wmi_c_expect(c, ';', "behind static_assert");
}

void wmi_c_using(struct compile *c)
{
    const struct token *token;
    const struct type *type;

    wmi_c_advance(c);
    token = wmi_c_now(c);
    if (wmi_c_is_word(c, KW_NAMESPACE) || wmi_c_ahead(c, 1)->kind != T_PUNCT || wmi_c_ahead(c, 1)->punct != '=') {
        while (!wmi_c_is(c, ';') && wmi_c_now(c)->kind != T_END)
            wmi_c_advance(c);
        wmi_c_expect(c, ';', "behind using");
        return;
    }
    c->at += 2;
    type = wmi_c_type(c);
    wmi_c_expect(c, ';', "behind using");
    wmi_c_declare(c, SYM_TYPE, token->name, token->place)->type = type;
}

/* What a declaration at file scope looks like from outside. */
struct shape {
    size_t name_at;  /* of the last name before the first bracket, '=', ';' or brace; 0: none */
    size_t open_at;  /* a function's parenthesis; 0: it is no function */
    size_t brace_at; /* the first brace; 0: it ends with ';' before */
    int for_device;  /* __global__, __device__, __constant__, __shared__, __managed__ */
    int is_kernel;
    int is_constexpr;
};

static void look_at(struct compile *c, struct shape *shape)
{
    const size_t start = c->at;
    size_t name_at = 0;
    int is_over = 0;

    memset(shape, 0, sizeof *shape);
    for (;; wmi_c_advance(c)) {
        const struct token *token = wmi_c_now(c);

        if (token->kind == T_END)
            break;
        if (token->kind == T_NAME) {
            const int keyword = token->name->keyword;

            shape->is_kernel |= keyword == KW_GLOBAL;
            shape->is_constexpr |= keyword == KW_CONSTEXPR;
            shape->for_device |= keyword == KW_GLOBAL || keyword == KW_DEVICE || keyword == KW_CONSTANT ||
                                 keyword == KW_SHARED || keyword == KW_MANAGED;
            if (keyword == KW_OPERATOR) {
                name_at = c->at;
                while (!wmi_c_is(c, '(') && wmi_c_now(c)->kind != T_END)
                    wmi_c_advance(c);
                if (c->at == name_at + 1) /* operator() */
                    wmi_c_advance(c);
                c->at--;
            } else if (keyword == KW_LAUNCH_BOUNDS || keyword == KW_ALIGN || keyword == KW_ALIGNAS || keyword == KW_ATTRIBUTE ||
                       keyword == KW_DECLTYPE || keyword == KW_NOEXCEPT || keyword == KW_CLUSTER_DIMS) {
                wmi_c_advance(c);
                if (wmi_c_is(c, '('))
                    wmi_c_skip_bracket(c);
                c->at--;
            } else if (!keyword && !is_over) {
                name_at = c->at;
            }
            continue;
        }
        if (token->kind != T_PUNCT)
            continue;
        if (token->punct == ';')
            break;
        if (token->punct == '{') {
            shape->brace_at = c->at;
            break;
        }
        if (token->punct == '(' || token->punct == '[') {
            if (token->punct == '(' && !is_over && !shape->open_at && name_at)
                shape->open_at = c->at;
            is_over = 1;
            wmi_c_skip_bracket(c);
            c->at--;
        } else if (token->punct == '=') {
            is_over = 1;
        }
    }
    shape->name_at = name_at;
    c->at = start;
}

/* Moves behind a declaration that is not looked at: behind its ';', or a body's '}' that no ';' follows. */
static void skip_declaration(struct compile *c)
{
    int is_initialiser = 0;

    for (;;) {
        const struct token *token = wmi_c_now(c);

        if (token->kind == T_END)
            return;
        if (token->kind == T_PUNCT && token->punct == ';') {
            wmi_c_advance(c);
            return;
        }
        if (token->kind == T_PUNCT && token->punct == '}')
            wmi_c_unexpected(c, "a declaration");
        is_initialiser |= token->kind == T_PUNCT && token->punct == '=';
        if (token->kind == T_PUNCT && token->punct == '{') {
            wmi_c_skip_bracket(c);
            if (!is_initialiser) {
                /* struct S { } s; is the one case in which something follows, a function the one without ';' */
                if (wmi_c_is(c, ';') || wmi_c_now(c)->kind != T_NAME || wmi_c_ahead(c, 1)->kind != T_PUNCT ||
                    (wmi_c_ahead(c, 1)->punct != ';' && wmi_c_ahead(c, 1)->punct != ',')) {
                    wmi_c_take_punct(c, ';');
                    return;
                }
            }
        } else if (token->kind == T_PUNCT && (token->punct == '(' || token->punct == '[')) {
            wmi_c_skip_bracket(c);
        } else {
            wmi_c_advance(c);
        }
    }
}

static struct symbol *functions_of(struct compile *c, struct name *name, struct place place)
{
    struct symbol *symbol = name->global;

    if (symbol && symbol->kind == SYM_FUNCTIONS)
        return symbol;
    if (symbol && symbol->place.file == 0)
        name->global = NULL; /* the source's own min, say, comes before what is built in */
    return wmi_c_declare(c, SYM_FUNCTIONS, name, place);
}

static void declare_function(struct compile *c, const struct shape *shape, struct template_parameter *parameters,
                             uint32_t n_parameters)
{
    struct function *function = wmi_c_take(c, sizeof *function);
    const struct token *token = &c->tokens.list[shape->name_at];
    struct name *name = token->name;
    struct symbol *symbol;

    if (name->keyword == KW_OPERATOR) {
        const struct token *what = token + 1;

        name = wmi_c_name_of(c, wmi_c_text(c, "operator%.*s", (int)what->length, what->text));
    }
    if (shape->name_at && c->tokens.list[shape->name_at - 1].kind == T_PUNCT && c->tokens.list[shape->name_at - 1].punct == P_SCOPE) {
        skip_declaration(c); /* a member function outside its class: the class is refused where it is used */
        return;
    }
    function->name = name;
    function->place = token->place;
    function->is_kernel = shape->is_kernel;
    function->parameters = parameters;
    function->n_parameters = n_parameters;
    function->type_at = c->at;
    function->declarator_at = shape->name_at;
    function->arguments_at = shape->open_at;
    function->body_at = shape->brace_at;
    skip_declaration(c);
    if (!function->body_at)
        return; /* a declaration alone: the definition is what counts */
    symbol = functions_of(c, name, token->place);
    function->next = symbol->functions;
    symbol->functions = function;
    if (function->is_kernel) {
        function->next_kernel = c->kernels;
        c->kernels = function;
    }
}

/* What is declared by itself without a word that says where it is: a pointer is a parameter, a value a constant. */
static void declare_loose(struct compile *c, const struct specifiers *specifiers, struct name *name, const struct type *type,
                          struct expr *initial, struct place place)
{
    struct symbol *symbol;

    if (type->kind == K_POINTER && !initial) {
        if (c->n_pointers >= WMI_MAX_ARGUMENTS)
            wmi_c_fail(c, WM_E_RANGE, place, "more than %u pointers", WMI_MAX_ARGUMENTS);
        symbol = wmi_c_declare(c, SYM_VARIABLE, name, place);
        symbol->type = type;
        symbol->written = wmi_c_written(c, specifiers, type);
        symbol->is_parameter = 1;
        c->pointers = wmi_c_grow(c, c->pointers, c->n_pointers, &c->pointer_room, sizeof *c->pointers);
        c->pointers[c->n_pointers++] = symbol;
        return;
    }
    if (initial && initial->kind == E_CONST && wmi_c_is_arithmetic(type)) {
        symbol = wmi_c_declare(c, SYM_CONSTANT, name, place);
        symbol->type = type;
        symbol->constant = initial;
        return;
    }
    if (initial)
        wmi_c_refuse(c, place, "a value that is not known when compiling (%s)", name->text);
    if (wmi_c_is_scalar(type))
        wmi_c_fail(c, WM_E_SYNTAX, place, "%s has no value: --let %s=VALUE gives it one", name->text, name->text);
    wmi_c_fail(c, WM_E_SYNTAX, place, "which memory is %s in? __shared__, __device__ or __constant__ says it, or a pointer",
               name->text);
}

/* Variables of the device, and constants of either side. */
static void declare_variables(struct compile *c)
{
    struct specifiers specifiers;

    wmi_c_specifiers(c, &specifiers);
    while (!wmi_c_take_punct(c, ';')) {
        struct place place = wmi_c_now(c)->place;
        struct name *name = NULL;
        const struct type *type = specifiers.type;
        struct expr *initial = NULL;
        struct symbol *symbol;
        const int on_device = specifiers.is_shared || specifiers.is_constant || specifiers.is_device;

        if (type)
            type = wmi_c_declarator(c, type, &name, &place);
        else if (wmi_c_now(c)->kind == T_NAME) {
            name = wmi_c_now(c)->name;
            wmi_c_advance(c);
        }
        if (!name)
            wmi_c_unexpected(c, "a name");
        if (c->is_strict && wmi_c_is(c, '('))
            wmi_c_refuse(c, place, "a function that is not __device__ (%s)", name->text);
        if (specifiers.is_typedef) {
            wmi_c_declare(c, SYM_TYPE, name, place)->type = type;
        } else {
            if (wmi_c_is(c, '=') || wmi_c_is(c, '{'))
                initial = wmi_c_initialiser(c, &type);
            if (!on_device && c->is_strict) {
                declare_loose(c, &specifiers, name, type, initial, place);
            } else if (!on_device) {
                if (!initial || initial->kind != E_CONST || !type->is_const)
                    wmi_c_refuse(c, place, "a variable of the host");
                symbol = wmi_c_declare(c, SYM_CONSTANT, name, place);
                symbol->type = type;
                symbol->constant = initial;
            } else {
                symbol = wmi_c_declare(c, SYM_VARIABLE, name, place);
                symbol->storage = specifiers.is_shared ? (specifiers.is_extern ? ST_SHARED_EXTERN : ST_SHARED)
                                                       : specifiers.is_constant ? ST_CONSTANT : ST_DEVICE;
                if (initial && specifiers.is_constexpr && initial->kind == E_CONST) {
                    symbol->kind = SYM_CONSTANT;
                    symbol->constant = initial;
                } else if (initial && specifiers.is_shared) {
                    wmi_c_fail(c, WM_E_SYNTAX, place, "a __shared__ variable with an initialiser");
                }
                if ((type->kind == K_ARRAY && !type->count && symbol->storage != ST_SHARED_EXTERN) || type->kind == K_VOID ||
                    type->kind == K_REFERENCE || (type->kind == K_RECORD && !type->record->is_complete))
                    wmi_c_fail(c, WM_E_SYNTAX, place, "a variable of type %s", wmi_c_type_name(c, type));
                symbol->type = wmi_c_aligned(c, type, specifiers.align);
                symbol->written = wmi_c_written(c, &specifiers, type);
                symbol->initial = initial;
                symbol->is_assigned = 1;
                if (symbol->kind == SYM_VARIABLE) {
                    symbol->next_variable = c->file_variables;
                    c->file_variables = symbol;
                }
            }
        }
        if (!wmi_c_take_punct(c, ',') && !wmi_c_is(c, ';'))
            wmi_c_unexpected(c, "',' or ';'");
    }
}

/* Declares that the name of what begins at start cannot be used, and why. */
static void refuse_name(struct compile *c, size_t start, const struct shape *shape, const struct wm_diag *diag)
{
    size_t at = shape->name_at;
    const char *text;

    for (size_t i = start; i < start + 8 && i + 1 < c->tokens.count; i++) {
        const struct token *token = &c->tokens.list[i];

        if (token->kind != T_NAME)
            break;
        if (token->name->keyword == KW_USING)
            at = i + 1;
        if ((token->name->keyword == KW_STRUCT || token->name->keyword == KW_CLASS || token->name->keyword == KW_UNION) &&
            c->tokens.list[i + 1].kind == T_NAME && !c->tokens.list[i + 1].name->keyword) {
            at = i + 1;
            break;
        }
    }
    if (c->tokens.list[start].kind == T_NAME && c->tokens.list[start].name->keyword == KW_TYPEDEF) {
        /* the last name before ';' */
        const size_t now = c->at;

        c->at = start;
        skip_declaration(c);
        at = c->at >= 2 ? c->at - 2 : 0;
        c->at = now;
    }
    if (!at || c->tokens.list[at].kind != T_NAME || c->tokens.list[at].name->keyword)
        return;
    /* a struct has its name already, and now never gets its members */
    if (c->tokens.list[at].name->global) {
        const struct symbol *symbol = c->tokens.list[at].name->global;

        if (symbol->kind != SYM_TYPE || symbol->type->kind != K_RECORD || symbol->type->record->is_complete)
            return;
    }
    text = wmi_c_text(c, "line %llu: %s", (unsigned long long)diag->line, diag->text);
    wmi_c_declare(c, SYM_REFUSED, c->tokens.list[at].name, c->tokens.list[at].place)->refused = text;
}

/* A declaration that may be the host's: where it is not understood it is skipped, and its name must not be used. */
static void try_declaration(struct compile *c, const struct shape *shape)
{
    jmp_buf *const escape = c->escape;
    jmp_buf mine;
    const size_t start = c->at;
    const unsigned depth = c->depth;
    const struct token *token = wmi_c_now(c);

    c->escape = &mine;
    if (setjmp(mine) == 0) {
        if (token->name->keyword == KW_USING)
            wmi_c_using(c);
        else if (token->name->keyword == KW_STATIC_ASSERT)
            wmi_c_static_assert(c);
        else
            declare_variables(c);
        c->escape = escape;
        return;
    }
    c->escape = escape;
    if (c->status == WM_E_MEMORY)
        longjmp(*escape, 1);
    c->at = start;
    c->depth = depth;
    c->scope = c->file_scope;
    refuse_name(c, start, shape, &c->diag);
    skip_declaration(c);
}

static int may_be_constant(const struct token *token)
{
    if (token->kind != T_NAME)
        return 0;
    switch (token->name->keyword) {
    case KW_STRUCT: case KW_CLASS: case KW_UNION: case KW_ENUM: case KW_TYPEDEF: case KW_USING: case KW_CONST:
    case KW_CONSTEXPR: case KW_STATIC: case KW_STATIC_ASSERT: case KW_INLINE: case KW_ALIGNAS: return 1;
    default: return 0;
    }
}

static void declare_template(struct compile *c)
{
    struct template_parameter *parameters;
    struct shape shape;
    uint32_t n;
    const size_t start = c->at;

    wmi_c_advance(c);
    parameters = wmi_c_template_parameters(c, &n);
    while (wmi_c_is_word(c, KW_TEMPLATE)) { /* of a member */
        skip_declaration(c);
        return;
    }
    look_at(c, &shape);
    if (wmi_c_is_word(c, KW_STRUCT) || wmi_c_is_word(c, KW_CLASS)) {
        const size_t head = c->at + 1;
        uint32_t align = 0;
        const struct token *token;

        wmi_c_advance(c);
        while (wmi_c_is_word(c, KW_ALIGNAS) || wmi_c_is_word(c, KW_ALIGN) || wmi_c_is_word(c, KW_ATTRIBUTE)) {
            wmi_c_advance(c);
            if (wmi_c_is(c, '('))
                wmi_c_skip_bracket(c);
        }
        (void)align;
        token = wmi_c_now(c);
        if (n && token->kind == T_NAME && !token->name->keyword && shape.brace_at && !token->name->global) {
            struct symbol *symbol = wmi_c_declare(c, SYM_TEMPLATE, token->name, token->place);

            symbol->record_template = wmi_c_take(c, sizeof *symbol->record_template);
            symbol->record_template->parameters = parameters;
            symbol->record_template->n_parameters = n;
            symbol->record_template->head_at = head;
        }
        skip_declaration(c);
        return;
    }
    if ((shape.for_device || shape.is_constexpr) && shape.open_at && n) {
        declare_function(c, &shape, parameters, n);
        return;
    }
    c->at = start;
    wmi_c_advance(c);
    wmi_c_template_parameters(c, &n);
    skip_declaration(c);
}

void wmi_c_file(struct compile *c)
{
    unsigned open = 0;

    while (wmi_c_now(c)->kind != T_END) {
        struct shape shape;

        if (wmi_c_take_punct(c, ';'))
            continue;
        if (open && wmi_c_take_punct(c, '}')) {
            open--;
            continue;
        }
        if (wmi_c_now(c)->kind == T_UNROLL) {
            wmi_c_advance(c);
            if (wmi_c_is(c, '('))
                wmi_c_skip_bracket(c);
            continue;
        }
        if (wmi_c_is_word(c, KW_EXTERN) && wmi_c_ahead(c, 1)->kind == T_STRING) {
            c->at += 2;
            open += (unsigned)wmi_c_take_punct(c, '{');
            continue;
        }
        if (wmi_c_is_word(c, KW_NAMESPACE) || (wmi_c_is_word(c, KW_INLINE) && wmi_c_ahead(c, 1)->kind == T_NAME &&
                                               wmi_c_ahead(c, 1)->name->keyword == KW_NAMESPACE)) {
            while (!wmi_c_is(c, '{') && !wmi_c_is(c, ';') && wmi_c_now(c)->kind != T_END) {
                const struct token *token = wmi_c_now(c);

                if (token->kind == T_NAME && !token->name->keyword && !token->name->global)
                    wmi_c_declare(c, SYM_NAMESPACE, token->name, token->place);
                wmi_c_advance(c);
            }
            open += (unsigned)wmi_c_take_punct(c, '{');
            continue;
        }
        if (wmi_c_is_word(c, KW_TEMPLATE)) {
            declare_template(c);
            continue;
        }
        look_at(c, &shape);
        if ((shape.for_device || shape.is_constexpr) && shape.open_at)
            declare_function(c, &shape, NULL, 0);
        else if (c->is_strict && wmi_c_is_word(c, KW_USING))
            wmi_c_using(c);
        else if (c->is_strict && wmi_c_is_word(c, KW_STATIC_ASSERT))
            wmi_c_static_assert(c);
        else if (shape.for_device || c->is_strict)
            declare_variables(c);
        else if (may_be_constant(wmi_c_now(c)) && !shape.open_at)
            try_declaration(c, &shape);
        else
            skip_declaration(c);
    }
}
