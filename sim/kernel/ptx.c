/*
 * Inline PTX: asm statements made of instructions that touch memory, and of what makes their addresses.
 *
 * An asm statement becomes statements of the tree: a variable for each operand and each .reg, assignments and a handful of
 * builtin functions between them. What is not known here is refused by its name. Operands, constraints: "Inline PTX
 * Assembly in CUDA"; instructions: PTX ISA.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "execute.h"

#define MOST_OPERANDS 30u /* as nvcc allows */
#define MOST_PARTS 16u    /* of an instruction's name */
#define MOST_ELEMENTS 8u  /* in braces */
#define MOST_WORD 128u

/* An operand behind the colons: %0, %1 ... */
struct operand {
    char constraint;
    struct expr *target;   /* what gets its value at the end; NULL: an input */
    struct symbol *symbol; /* NULL: "n", a number */
    struct expr *number;
};

/* What .reg declares. */
struct ptx_register {
    struct ptx_register *next;
    const char *name;
    struct symbol *symbol;
    int is_set; /* a predicate: there is an instruction before that sets it */
};

/* What '{' opens. */
struct ptx_block {
    struct ptx_block *outer;
    struct ptx_register *registers; /* those outside, which are there again behind '}' */
};

struct ptx {
    struct compile *c;
    /* the text, and where each character stands */
    char *text;
    struct place *places;
    size_t length;
    size_t at;
    struct operand operands[MOST_OPERANDS];
    unsigned n_operands;
    struct ptx_register *registers;
    struct ptx_block *block; /* the innermost */
    struct stmt **end; /* of the statements so far */
    struct place place;
};

/* An instruction's name, cut at its dots. */
struct opcode {
    char text[MOST_WORD];
    char *parts[MOST_PARTS];
    unsigned n;
    struct place place;
};

/* A register, number, or list of them in braces. */
struct registers {
    struct symbol *symbols[MOST_ELEMENTS];
    struct expr *numbers[MOST_ELEMENTS]; /* where there is no symbol */
    unsigned n;
    int is_list;
    struct place place;
};

/* ------------------------------------------------------------------------------------------------------------ the text */

static struct place here(const struct ptx *p)
{
    return p->at < p->length ? p->places[p->at] : p->place;
}

static char look(const struct ptx *p)
{
    return p->at < p->length ? p->text[p->at] : '\0';
}

static void skip_blanks(struct ptx *p)
{
    for (;;) {
        const char ch = look(p);
        const char next = p->at + 1 < p->length ? p->text[p->at + 1] : '\0';

        if (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r') {
            p->at++;
        } else if (ch == '/' && next == '/') {
            while (p->at < p->length && p->text[p->at] != '\n')
                p->at++;
        } else if (ch == '/' && next == '*') {
            const struct place place = here(p);

            for (p->at += 3; p->at < p->length && !(p->text[p->at - 1] == '*' && p->text[p->at] == '/'); p->at++)
                ;
            if (p->at >= p->length)
                wmi_c_fail(p->c, WM_E_SYNTAX, place, "a comment in the assembly text that does not end");
            p->at++;
        } else {
            return;
        }
    }
}

static int take(struct ptx *p, char ch)
{
    skip_blanks(p);
    if (look(p) != ch || !ch)
        return 0;
    p->at++;
    return 1;
}

static _Noreturn void unexpected(struct ptx *p, const char *expected)
{
    char found[32] = "the end of the assembly text";
    unsigned n = 0;

    skip_blanks(p);
    if (p->at < p->length) {
        found[n++] = '\'';
        for (size_t i = p->at; i < p->length && n < 20 && p->text[i] > ' '; i++)
            found[n++] = p->text[i];
        found[n++] = '\'';
        found[n] = '\0';
    }
    wmi_c_fail(p->c, WM_E_SYNTAX, here(p), "expected %s, found %s", expected, found);
}

static void expect(struct ptx *p, char ch)
{
    const char text[] = {'\'', ch, '\'', '\0'};

    if (!take(p, ch))
        unexpected(p, text);
}

static int is_word(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '_' || ch == '$';
}

/* A name; with_dots: an instruction's, as "cp.async.ca.shared::cta.global". Returns its length, 0: none stands here. */
static size_t word(struct ptx *p, int with_dots, char out[MOST_WORD])
{
    size_t n = 0;

    skip_blanks(p);
    while (is_word(look(p)) || (n == 0 && look(p) == '%') || (with_dots && (look(p) == '.' || look(p) == ':'))) {
        if (n + 1 >= MOST_WORD)
            wmi_c_fail(p->c, WM_E_SYNTAX, here(p), "a name of more than %u characters", MOST_WORD - 1);
        out[n++] = look(p);
        p->at++;
    }
    out[n] = '\0';
    return n;
}

/* --------------------------------------------------------------------------------------------------------- statements */

static struct stmt *add(struct ptx *p, enum stmt_kind kind, struct place place)
{
    struct stmt *s = wmi_c_take(p->c, sizeof *s);

    s->kind = kind;
    s->place = place;
    *p->end = s;
    p->end = &s->next;
    return s;
}

static void run(struct ptx *p, struct expr *e)
{
    wmi_c_unused(e);
    add(p, S_EXPR, e->place)->a = e;
}

static struct symbol *variable(struct ptx *p, const char *name, const struct type *type, struct place place,
                               struct expr *initial)
{
    struct compile *c = p->c;
    struct symbol *symbol = wmi_c_take(c, sizeof *symbol);
    struct stmt *s;

    symbol->kind = SYM_VARIABLE;
    symbol->name = wmi_c_name_of(c, name);
    symbol->type = type;
    symbol->place = place;
    symbol->is_assigned = 2; /* so that nothing is taken for known */
    symbol->next_variable = c->instance->variables;
    c->instance->variables = symbol;
    s = add(p, S_DECLARE, place);
    s->symbol = symbol;
    s->a = initial;
    return symbol;
}

static struct expr *read_of(struct ptx *p, struct symbol *symbol, struct place place)
{
    struct expr *e = wmi_c_make(p->c, E_VAR, symbol->type, place);

    e->symbol = symbol;
    e->is_lvalue = 1;
    return e;
}

static void assign(struct ptx *p, struct expr *target, struct expr *value, struct place place)
{
    run(p, wmi_c_assign(p->c, target, value, place));
}

static struct expr *call(struct ptx *p, enum builtin op, uint64_t value, const struct type *type, struct expr *first,
                         struct expr *second, struct expr *third, struct place place)
{
    struct expr *e = wmi_c_make(p->c, E_BUILTIN, type, place);
    struct expr *const args[] = {first, second, third};

    e->op = (int)op;
    e->value.i = value;
    e->args = wmi_c_take(p->c, 3 * sizeof(struct expr *));
    while (e->n_args < 3 && args[e->n_args]) {
        e->args[e->n_args] = args[e->n_args];
        e->n_args++;
    }
    return e;
}

/* The same bits as another type of the same size. */
static struct expr *bits_as(struct ptx *p, struct expr *e, const struct type *type)
{
    if (e->type->kind == type->kind)
        return e;
    if (wmi_c_is_integer(e->type) && wmi_c_is_integer(type))
        return wmi_c_cast(p->c, e, type, e->place);
    return call(p, B_BITS, 0, type, e, NULL, NULL, e->place);
}

static const struct type *basic(struct ptx *p, enum type_kind kind)
{
    return wmi_c_basic(p->c, kind);
}

/* ----------------------------------------------------------------------------------------------------------- operands */

static const struct type *type_of_constraint(struct ptx *p, char constraint)
{
    switch (constraint) {
    case 'h': return basic(p, K_USHORT);
    case 'r': return basic(p, K_UINT);
    case 'l': return basic(p, K_ULONG);
    case 'f': return basic(p, K_FLOAT);
    case 'd': return basic(p, K_DOUBLE);
    default: return NULL;
    }
}

/* What stands behind a constraint must have its size and be of its kind, as nvcc wants it. */
static void check_fit(struct ptx *p, const struct expr *e, const struct operand *operand)
{
    const struct type *type = type_of_constraint(p, operand->constraint);

    if (!wmi_c_is_scalar(e->type) || wmi_c_is_floating(e->type) != wmi_c_is_floating(type) ||
        e->type->size != type->size)
        wmi_c_fail(p->c, WM_E_SYNTAX, e->place, "an operand of type %s does not fit the constraint \"%c\" (%s)",
                   wmi_c_type_name(p->c, e->type), operand->constraint, wmi_c_type_name(p->c, type));
}

/* Whether an expression does more than to compute with variables, so that it must not be evaluated twice. */
static int does_more(const struct expr *e)
{
    if (!e)
        return 0;
    switch (e->kind) {
    case E_ASSIGN:
    case E_ASSIGN_OP:
    case E_STEP:
    case E_CALL:
    case E_BUILTIN:
    case E_DEREF: return 1;
    case E_VAR: return e->symbol->storage != ST_AUTO;
    default: break;
    }
    for (uint32_t i = 0; i < e->n_args; i++) {
        if (does_more(e->args[i]))
            return 1;
    }
    return does_more(e->a) || does_more(e->b) || does_more(e->c);
}

/* A "+" is read before the instructions and written behind them. */
static void check_both(struct ptx *p, const struct expr *e)
{
    const struct expr *way = e;
    int is_more = 0;

    for (; way->kind == E_MEMBER || way->kind == E_VIEW || way->kind == E_INDEX; way = way->a)
        is_more |= does_more(way->b);
    if (is_more || (way->kind == E_DEREF ? does_more(way->a) : way->kind != E_VAR && does_more(way)))
        wmi_c_refuse(p->c, e->place, "a \"+%c\" operand that changes, calls or loads something to find its variable",
                     p->operands[p->n_operands].constraint);
}

/* "=r"(x), "+r"(x), "r"(x), "n"(16) */
static void operand(struct ptx *p, int is_output)
{
    struct compile *c = p->c;
    const struct token *token = wmi_c_now(c);
    struct operand *o = &p->operands[p->n_operands];
    const char *text = token->text;
    size_t length = token->length;
    struct expr *e;
    char sign = '\0';

    if (wmi_c_is(c, '['))
        wmi_c_refuse(c, token->place, "an asm operand with a name");
    if (token->kind != T_STRING)
        wmi_c_unexpected(c, "a constraint such as \"r\"");
    if (p->n_operands >= MOST_OPERANDS)
        wmi_c_fail(c, WM_E_RANGE, token->place, "more than %u operands", MOST_OPERANDS);
    if (length && (text[0] == '=' || text[0] == '+')) {
        sign = text[0];
        text++;
        length--;
    }
    if ((sign != '\0') != is_output)
        wmi_c_fail(c, WM_E_SYNTAX, token->place,
                   is_output ? "an output's constraint begins with '=' or '+'"
                             : "an input's constraint has no '=' or '+'");
    o->constraint = length == 1 ? text[0] : '\0';
    if (!type_of_constraint(p, o->constraint) && (o->constraint != 'n' || is_output))
        wmi_c_refuse(c, token->place, "the constraint \"%.*s\"", (int)(token->length < 20 ? token->length : 20),
                     token->text);
    wmi_c_advance(c);
    wmi_c_expect(c, '(', "behind a constraint");
    e = wmi_c_rvalue(c, wmi_c_expression(c));
    wmi_c_expect(c, ')', "behind an operand");
    if (o->constraint == 'n') {
        if (e->kind != E_CONST || !wmi_c_is_integer(e->type))
            wmi_c_fail(c, WM_E_SYNTAX, e->place, "an operand \"n\" must be an integer that is known when compiling");
        o->number = e;
    } else {
        const struct type *type = type_of_constraint(p, o->constraint);
        struct expr *initial = NULL;

        check_fit(p, e, o);
        if (is_output && !e->is_lvalue)
            wmi_c_fail(c, WM_E_SYNTAX, e->place, "an output must be a variable");
        if (sign == '+')
            check_both(p, e);
        if (is_output)
            o->target = e;
        if (sign != '=')
            initial = wmi_c_cast(c, e, type, e->place);
        o->symbol = variable(p, "operand", type, token->place, initial);
    }
    p->n_operands++;
}

static void operands(struct ptx *p, int is_output)
{
    struct compile *c = p->c;

    while (wmi_c_now(c)->kind == T_STRING || wmi_c_is(c, '[')) {
        operand(p, is_output);
        if (!wmi_c_take_punct(c, ','))
            return;
    }
}

/* Each ':' begins a list; '::' two of them, the first of which is empty. */
static void operand_lists(struct ptx *p)
{
    struct compile *c = p->c;
    unsigned list = 0;

    while (!wmi_c_take_punct(c, ')')) {
        if (wmi_c_take_punct(c, ':'))
            list++;
        else if (wmi_c_take_punct(c, P_SCOPE))
            list += 2;
        else
            wmi_c_unexpected(c, "':' or ')'");
        if (list > 3)
            wmi_c_refuse(c, wmi_c_now(c)->place, "asm goto");
        if (list < 3) {
            operands(p, list == 1);
            continue;
        }
        while (wmi_c_now(c)->kind == T_STRING) {
            wmi_c_advance(c);
            wmi_c_take_punct(c, ',');
        }
    }
}

/* --------------------------------------------------------------------------------------------------------- the operands' use */

static const struct {
    const char *text;
    enum type_kind kind;
} types[] = {
    {"b8", K_UCHAR},   {"u8", K_UCHAR},  {"s8", K_SCHAR}, {"b16", K_USHORT}, {"u16", K_USHORT},  {"s16", K_SHORT},
    {"f16", K_USHORT}, {"b32", K_UINT},  {"u32", K_UINT}, {"s32", K_INT},    {"f16x2", K_UINT},  {"f32", K_FLOAT},
    {"b64", K_ULONG},  {"u64", K_ULONG}, {"s64", K_LONG}, {"f64", K_DOUBLE}, {"bf16", K_USHORT}, {"bf16x2", K_UINT},
};

/* The type that a part of an instruction's name stands for; NULL: none. */
static const struct type *type_named(struct ptx *p, const char *text)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].text, text) == 0)
            return basic(p, types[i].kind);
    }
    return NULL;
}

/* What declares a predicate: no operand is one. */
static struct ptx_register *declared(const struct ptx *p, const struct symbol *symbol)
{
    struct ptx_register *r = p->registers;

    while (r->symbol != symbol)
        r = r->next;
    return r;
}

static struct symbol *register_named(struct ptx *p, const char *name, struct place place)
{
    for (const struct ptx_register *r = p->registers; r; r = r->next) {
        if (strcmp(r->name, name) == 0)
            return r->symbol;
    }
    if (name[0] == '%')
        wmi_c_refuse(p->c, place, "the PTX register %s", name);
    wmi_c_fail(p->c, WM_E_SYNTAX, place, "%s is not declared: .reg declares it", name);
}

/* Thread of the block by its number: x first. */
static struct expr *thread_number(struct ptx *p, struct place place)
{
    struct compile *c = p->c;
    struct expr *number = NULL;

    for (unsigned i = 3; i-- > 0;) {
        struct expr *parts[2];

        for (unsigned k = 0; k < 2; k++) {
            struct symbol *symbol = wmi_c_name_of(c, k ? "blockDim" : "threadIdx")->global;
            struct expr *e = wmi_c_make(c, E_MEMBER, basic(p, K_UINT), place);

            e->a = read_of(p, symbol, place);
            e->field = &symbol->type->record->fields[i];
            e->is_lvalue = 1;
            parts[k] = e;
        }
        number =
            number ? wmi_c_binary(c, '+', wmi_c_binary(c, '*', number, parts[1], place), parts[0], place) : parts[0];
    }
    return number;
}

static struct expr *number_at(struct ptx *p)
{
    const struct place place = here(p);
    char text[MOST_WORD];
    const int is_negative = take(p, '-');
    size_t length = word(p, 0, text);
    const size_t digits = length;
    char *end;
    unsigned long long value;

    if (length > 1 && text[length - 1] == 'U')
        text[--length] = '\0';
    errno = 0;
    value = strtoull(text, &end, 0);
    if (!digits || *end || text[0] < '0' || text[0] > '9') {
        p->at -= digits;
        unexpected(p, "a register or an integer");
    }
    if (errno || (is_negative && value > (uint64_t)INT64_MAX + 1))
        wmi_c_fail(p->c, WM_E_RANGE, place, "%s%s does not fit 64 bits", is_negative ? "-" : "", text);
    return wmi_c_integer(p->c, is_negative ? 0 - value : value,
                         basic(p, is_negative || value <= INT64_MAX ? K_LONG : K_ULONG), place);
}

/* A number must fit the instruction's type, as a signed or an unsigned one. */
static void check_range(struct ptx *p, const struct expr *number, unsigned bits, int is_offset)
{
    const int is_negative = wmi_c_is_signed(number->type) && (int64_t)number->value.i < 0;
    const uint64_t most = is_negative || is_offset ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    const uint64_t value = is_negative ? ~number->value.i : number->value.i; /* -1 - value */

    if (value <= most)
        return;
    if (is_negative)
        wmi_c_fail(p->c, WM_E_RANGE, number->place, "%" PRId64 " does not fit %u bits", (int64_t)number->value.i, bits);
    wmi_c_fail(p->c, WM_E_RANGE, number->place, "%" PRIu64 " does not fit %u bits%s", number->value.i, bits,
               is_offset ? " with a sign" : "");
}

/* What an address is moved by: PTX has 32 bits with a sign for it. */
static struct expr *offset_at(struct ptx *p)
{
    struct expr *number;

    skip_blanks(p);
    number = number_at(p);
    check_range(p, number, 32, 1);
    return number;
}

/* %0, a register's name, or an integer. */
static void element(struct ptx *p, struct registers *out)
{
    char name[MOST_WORD];
    struct place place;
    size_t start;

    skip_blanks(p);
    place = here(p);
    start = p->at;
    if (out->n >= MOST_ELEMENTS)
        wmi_c_refuse(p->c, place, "a list of more than %u registers", MOST_ELEMENTS);
    if ((look(p) >= '0' && look(p) <= '9') || look(p) == '-') {
        out->numbers[out->n++] = number_at(p);
        return;
    }
    if (!word(p, 0, name) || strcmp(name, "_") == 0) {
        p->at = start;
        unexpected(p, "a register or an integer");
    }
    if (name[0] == '%' && name[1] >= '0' && name[1] <= '9') {
        const unsigned long number = strtoul(name + 1, NULL, 10);

        if (strspn(name + 1, "0123456789") + 1 != strlen(name) || number >= p->n_operands)
            wmi_c_fail(p->c, WM_E_SYNTAX, place, "%s is none of the %u operands", name, p->n_operands);
        out->symbols[out->n] = p->operands[number].symbol;
        out->numbers[out->n] = p->operands[number].number;
    } else if (strcmp(name, "%laneid") == 0) {
        out->symbols[out->n] = variable(
            p, "laneid", basic(p, K_UINT), place,
            wmi_c_binary(p->c, '&', thread_number(p, place), wmi_c_integer(p->c, 31, basic(p, K_UINT), place), place));
    } else {
        out->symbols[out->n] = register_named(p, name, place);
    }
    out->n++;
}

static struct registers registers_at(struct ptx *p)
{
    struct registers out = {.n = 0};

    skip_blanks(p);
    out.place = here(p);
    if (take(p, '{')) {
        out.is_list = 1;
        do
            element(p, &out);
        while (take(p, ','));
        expect(p, '}');
    } else {
        element(p, &out);
    }
    return out;
}

static _Noreturn void bad_size(struct ptx *p, const struct type *have, const struct type *want, struct place place)
{
    wmi_c_fail(p->c, WM_E_SYNTAX, place, "a register of %llu bits where the instruction has %llu",
               8 * (unsigned long long)have->size, 8 * (unsigned long long)want->size);
}

/* The value of element i for an instruction's type; may_narrow: a wider register gives its low bits. */
static struct expr *use(struct ptx *p, const struct registers *value, unsigned i, const struct type *type,
                        int may_narrow)
{
    struct expr *e;

    if (!value->symbols[i]) {
        if (wmi_c_is_floating(type))
            wmi_c_refuse(p->c, value->place, "an integer as a %s in PTX", wmi_c_type_name(p->c, type));
        check_range(p, value->numbers[i], 8 * (unsigned)type->size, 0);
        return wmi_c_cast(p->c, value->numbers[i], type, value->place);
    }
    e = read_of(p, value->symbols[i], value->place);
    if (e->type->kind == K_BOOL)
        wmi_c_fail(p->c, WM_E_SYNTAX, value->place, "a predicate where a value is expected");
    if (e->type->size == type->size)
        return bits_as(p, e, type);
    if (e->type->size < type->size || !may_narrow || !wmi_c_is_integer(e->type))
        bad_size(p, e->type, type, value->place);
    return wmi_c_cast(p->c, e, type, value->place);
}

/* Gives element i a value; may_widen: a wider register is extended, by the sign of the value's type. */
static void give(struct ptx *p, const struct registers *value, unsigned i, struct expr *e, int may_widen)
{
    struct symbol *symbol = value->symbols[i];

    if (!symbol)
        wmi_c_fail(p->c, WM_E_SYNTAX, value->place, "an integer where a register gets a value");
    if (symbol->type->kind == K_BOOL)
        wmi_c_fail(p->c, WM_E_SYNTAX, value->place, "a predicate where a register gets a value");
    if (symbol->type->size == e->type->size)
        e = bits_as(p, e, symbol->type);
    else if (symbol->type->size < e->type->size || !may_widen || !wmi_c_is_integer(e->type) ||
             !wmi_c_is_integer(symbol->type))
        bad_size(p, symbol->type, e->type, value->place);
    else
        e = wmi_c_cast(p->c, e, symbol->type, e->place);
    assign(p, read_of(p, symbol, value->place), e, value->place);
}

static void single(struct ptx *p, const struct registers *value)
{
    if (value->is_list)
        wmi_c_fail(p->c, WM_E_SYNTAX, value->place, "a list where one register is expected");
}

/* [register], [register + 16]: the address as a pointer's bits. Shared ones are offsets in PTX; so is what has 32 bits. */
static struct expr *address_of(struct ptx *p, enum wm_space space, int may_be_short)
{
    struct compile *c = p->c;
    const struct type *wide = basic(p, K_ULONG);
    struct registers value;
    struct place place;
    struct expr *e;

    skip_blanks(p);
    place = here(p);
    expect(p, '[');
    value = registers_at(p);
    single(p, &value);
    if (!value.symbols[0])
        wmi_c_refuse(c, place, "a number as an address");
    e = read_of(p, value.symbols[0], place);
    if (!wmi_c_is_integer(e->type) || e->type->kind == K_BOOL || e->type->size < 4 ||
        (e->type->size < 8 && space != WM_SHARED && !may_be_short))
        bad_size(p, e->type, wide, place);
    if (e->type->size < 8)
        space = WM_SHARED;
    e = wmi_c_cast(c, e, wide, place);
    if (take(p, '+') || look(p) == '-')
        e = wmi_c_binary(c, '+', e, wmi_c_cast(c, offset_at(p), wide, place), place);
    expect(p, ']');
    if (space == WM_SHARED)
        e = wmi_c_binary(c, '+', e, wmi_c_integer(c, WMI_SHARED_WINDOW, wide, place), place);
    return e;
}

static struct expr *address_at(struct ptx *p, enum wm_space space)
{
    return address_of(p, space, 0);
}

/* --------------------------------------------------------------------------------------------------------- instructions */

static _Noreturn void refuse(struct ptx *p, const struct opcode *opcode)
{
    wmi_c_refuse(p->c, opcode->place, "the PTX instruction %s", opcode->text);
}

/* Cuts "a.b::c.d" at its dots. */
static void cut(struct ptx *p, struct opcode *opcode, char copy[MOST_WORD])
{
    char *at = copy;

    strcpy(copy, opcode->text);
    opcode->n = 0;
    while (at) {
        char *dot = strchr(at, '.');

        if (opcode->n >= MOST_PARTS)
            refuse(p, opcode);
        if (dot)
            *dot++ = '\0';
        opcode->parts[opcode->n++] = at;
        at = dot;
    }
}

static int is_part(const struct opcode *opcode, unsigned i, const char *text)
{
    return i < opcode->n && strcmp(opcode->parts[i], text) == 0;
}

/* What does not change which sectors are asked for: how much L2 fetches beyond them, what L1 keeps. */
static int is_hint(const char *part)
{
    static const char *const hints[] = {"L2::64B",          "L2::128B",       "L2::256B",        "L1::no_allocate",
                                        "L1::evict_normal", "L1::evict_last", "L1::evict_first", "L1::evict_unchanged"};

    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        if (strcmp(part, hints[i]) == 0)
            return 1;
    }
    return 0;
}

/* What ld.global.nc.v4.f32 and its like say. */
struct transfer {
    enum wm_space space;
    uint8_t cache;
    unsigned vector;
    const struct type *type;
};

static int transfer_part(const char *part, int is_store, struct transfer *out)
{
    static const struct {
        const char *text;
        uint8_t cache;
        int is_store;
    } caches[] = {{"ca", WM_CACHE_CA, 0}, {"cg", WM_CACHE_CG, 0}, {"cs", WM_CACHE_CS, 0}, {"lu", WM_CACHE_LU, 0},
                  {"cv", WM_CACHE_CV, 0}, {"nc", WM_CACHE_NC, 0}, {"wb", WM_CACHE_WB, 1}, {"cg", WM_CACHE_CG, 1},
                  {"cs", WM_CACHE_CS, 1}, {"wt", WM_CACHE_WT, 1}};

    for (size_t i = 0; i < sizeof caches / sizeof caches[0]; i++) {
        if (strcmp(part, caches[i].text) == 0 && caches[i].is_store == is_store && !out->cache) {
            out->cache = caches[i].cache;
            return 1;
        }
    }
    if (strcmp(part, "global") == 0 && out->space == WM_GENERIC)
        out->space = WM_GLOBAL;
    else if ((strcmp(part, "shared") == 0 || strcmp(part, "shared::cta") == 0) && out->space == WM_GENERIC)
        out->space = WM_SHARED;
    else if ((strcmp(part, "v2") == 0 || strcmp(part, "v4") == 0) && out->vector == 1)
        out->vector = (unsigned)(part[1] - '0');
    else if (strcmp(part, "volatile") != 0 && strcmp(part, "weak") != 0 && !is_hint(part))
        return 0;
    return 1;
}

static struct transfer transfer_of(struct ptx *p, const struct opcode *opcode)
{
    struct transfer out = {WM_GENERIC, WM_CACHE_NONE, 1, NULL};
    const int is_store = is_part(opcode, 0, "st");

    for (unsigned i = 1; i + 1 < opcode->n; i++) {
        if (!transfer_part(opcode->parts[i], is_store, &out))
            refuse(p, opcode);
    }
    out.type = opcode->n > 1 ? type_named(p, opcode->parts[opcode->n - 1]) : NULL;
    if (!out.type || out.type->size * out.vector > 16 || (out.cache == WM_CACHE_NC && out.space != WM_GLOBAL))
        refuse(p, opcode);
    return out;
}

/* uint4 for four of them, and so on. */
static const struct type *vector_of(struct ptx *p, const struct type *type, unsigned n)
{
    const char *name;

    if (n == 1)
        return type;
    switch (type->kind) {
    case K_UCHAR: name = "uchar"; break;
    case K_SCHAR: name = "char"; break;
    case K_USHORT: name = "ushort"; break;
    case K_SHORT: name = "short"; break;
    case K_INT: name = "int"; break;
    case K_FLOAT: name = "float"; break;
    case K_DOUBLE: name = "double"; break;
    case K_LONG: name = "long"; break;
    case K_ULONG: name = "ulong"; break;
    default: name = "uint"; break;
    }
    return wmi_c_name_of(p->c, wmi_c_text(p->c, "%s%u", name, n))->global->type;
}

/* n registers in braces, or one without. */
static void check_count(struct ptx *p, const struct registers *value, unsigned n)
{
    if (value->n != n || (n > 1 && !value->is_list))
        wmi_c_fail(p->c, WM_E_SYNTAX, value->place, "%u register%s where the instruction has %u", value->n,
                   value->n == 1 ? "" : "s", n);
}

/* n registers in braces, also where n is 1. */
static void check_list(struct ptx *p, const struct registers *value, unsigned n)
{
    if (!value->is_list)
        wmi_c_fail(p->c, WM_E_SYNTAX, value->place, "a register where the instruction has a list in braces");
    check_count(p, value, n);
}

/* Gives the elements of a vector to n registers. */
static void spread(struct ptx *p, const struct registers *value, struct expr *e, unsigned n, struct place place)
{
    struct symbol *all;

    if (n == 1) {
        give(p, value, 0, e, 1);
        return;
    }
    all = variable(p, "vector", e->type, place, e);
    for (unsigned i = 0; i < n; i++) {
        struct expr *part = wmi_c_make(p->c, E_MEMBER, e->type->record->fields[i].type, place);

        part->a = read_of(p, all, place);
        part->field = &e->type->record->fields[i];
        part->is_lvalue = 1;
        give(p, value, i, part, 1);
    }
}

/* The registers as one value. */
static struct expr *gathered(struct ptx *p, const struct registers *value, const struct type *type, unsigned n,
                             struct place place)
{
    const struct type *all = vector_of(p, type, n);
    struct expr *e;

    if (n == 1)
        return use(p, value, 0, type, 1);
    e = wmi_c_make(p->c, E_LIST, all, place);
    e->args = wmi_c_take(p->c, n * sizeof(struct expr *));
    for (unsigned i = 0; i < n; i++)
        e->args[e->n_args++] = use(p, value, i, type, 1);
    return e;
}

static uint64_t flags_of(const struct transfer *t)
{
    return t->cache | (t->space == WM_GLOBAL ? WMI_ONLY_GLOBAL : 0);
}

static void ptx_load(struct ptx *p, const struct opcode *opcode)
{
    const struct transfer t = transfer_of(p, opcode);
    const struct type *type = vector_of(p, t.type, t.vector);
    const struct registers to = registers_at(p);
    struct expr *address;

    check_count(p, &to, t.vector);
    expect(p, ',');
    address = wmi_c_cast(p->c, address_at(p, t.space), wmi_c_pointer(p->c, type), opcode->place);
    spread(p, &to, call(p, B_LOAD, flags_of(&t), type, address, NULL, NULL, opcode->place), t.vector, opcode->place);
}

static void ptx_store(struct ptx *p, const struct opcode *opcode)
{
    const struct transfer t = transfer_of(p, opcode);
    const struct type *type = vector_of(p, t.type, t.vector);
    struct expr *address = wmi_c_cast(p->c, address_at(p, t.space), wmi_c_pointer(p->c, type), opcode->place);
    struct registers from;

    expect(p, ',');
    from = registers_at(p);
    check_count(p, &from, t.vector);
    run(p, call(p, B_STORE, flags_of(&t), basic(p, K_VOID), address,
                gathered(p, &from, t.type, t.vector, opcode->place), NULL, opcode->place));
}

/* What ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 and stmatrix say; ptxas takes m8n8, x4 and trans in any order. */
struct matrix {
    unsigned n;
    int is_transposed;
    enum wm_space space;
};

static struct matrix matrix_of(struct ptx *p, const struct opcode *opcode)
{
    struct matrix out = {0, 0, WM_GENERIC};
    int has_shape = 0;

    for (unsigned i = 3; i + 1 < opcode->n; i++) {
        const char *part = opcode->parts[i];

        if ((strcmp(part, "x1") == 0 || strcmp(part, "x2") == 0 || strcmp(part, "x4") == 0) && !out.n)
            out.n = (unsigned)(part[1] - '0');
        else if (strcmp(part, "trans") == 0 && !out.is_transposed)
            out.is_transposed = 1;
        else if ((strcmp(part, "shared") == 0 || strcmp(part, "shared::cta") == 0) && out.space == WM_GENERIC)
            out.space = WM_SHARED;
        else if (strcmp(part, "m8n8") == 0 && !has_shape)
            has_shape = 1;
        else
            refuse(p, opcode);
    }
    if (!out.n || !has_shape || !is_part(opcode, 1, "sync") || !is_part(opcode, 2, "aligned") ||
        !is_part(opcode, opcode->n - 1, "b16"))
        refuse(p, opcode);
    return out;
}

static void ptx_matrix(struct ptx *p, const struct opcode *opcode)
{
    const struct matrix m = matrix_of(p, opcode);
    const unsigned n = m.n;
    const uint64_t shape = n | (m.is_transposed ? WMI_MATRIX_TRANSPOSED : 0);
    struct registers value;
    struct expr *address;

    if (is_part(opcode, 0, "ldmatrix")) {
        value = registers_at(p);
        check_list(p, &value, n);
        expect(p, ',');
        address = address_of(p, m.space, 1);
        spread(p, &value,
               call(p, B_LDMATRIX, shape, vector_of(p, basic(p, K_UINT), n), address, NULL, NULL, opcode->place), n,
               opcode->place);
        return;
    }
    address = address_of(p, m.space, 1);
    expect(p, ',');
    value = registers_at(p);
    check_list(p, &value, n);
    run(p, call(p, B_STMATRIX, shape, basic(p, K_VOID), address,
                gathered(p, &value, basic(p, K_UINT), n, opcode->place), NULL, opcode->place));
}

/* mma.sync.aligned.SHAPE... d, a, b, c: touches no memory. What it computes is not known here: 0, which the run warns of. */
static void ptx_product(struct ptx *p, const struct opcode *opcode)
{
    struct registers to;
    unsigned n = 1;

    if (!is_part(opcode, 1, "sync") || !is_part(opcode, 2, "aligned") || opcode->n < 6 || opcode->parts[3][0] != 'm')
        refuse(p, opcode);
    to = registers_at(p);
    for (; take(p, ','); n++)
        registers_at(p);
    if (n < 4)
        wmi_c_fail(p->c, WM_E_SYNTAX, opcode->place, "mma.sync has 4 operands, not %u", n);
    run(p, call(p, B_MMA, 0, basic(p, K_VOID), NULL, NULL, NULL, opcode->place));
    for (unsigned i = 0; i < to.n; i++) {
        const struct type *type = to.symbols[i] ? to.symbols[i]->type : basic(p, K_UINT);

        give(p, &to, i, wmi_c_cast(p->c, wmi_c_integer(p->c, 0, basic(p, K_INT), opcode->place), type, opcode->place), 0);
    }
}

static uint64_t constant_of(struct ptx *p, const struct registers *value, const char *what)
{
    single(p, value);
    if (value->symbols[0])
        wmi_c_fail(p->c, WM_E_SYNTAX, value->place, "%s must be a number", what);
    return value->numbers[0]->value.i;
}

/* cp.async.cg.shared.global [d], [s], 16[, source size] and what waits for it. */
static void ptx_copy(struct ptx *p, const struct opcode *opcode)
{
    const int is_cg = is_part(opcode, 2, "cg");
    unsigned n = 5;
    struct expr *to;
    struct expr *from;
    struct registers size;
    struct expr *source_size = NULL;
    uint64_t bytes;

    if (strcmp(opcode->text, "cp.async.commit_group") == 0 || strcmp(opcode->text, "cp.async.wait_all") == 0) {
        run(p, call(p, is_part(opcode, 2, "wait_all") ? B_WAIT : B_COMMIT, 0, basic(p, K_VOID), NULL, NULL, NULL,
                    opcode->place));
        return;
    }
    if (strcmp(opcode->text, "cp.async.wait_group") == 0) {
        const struct registers groups = registers_at(p);

        if (constant_of(p, &groups, "the number of groups") > INT32_MAX)
            wmi_c_fail(p->c, WM_E_RANGE, groups.place, "the number of groups is not from 0 to %d", INT32_MAX);
        run(p,
            call(p, B_WAIT, 0, basic(p, K_VOID), use(p, &groups, 0, basic(p, K_UINT), 0), NULL, NULL, opcode->place));
        return;
    }
    if (!is_part(opcode, 1, "async") || (!is_cg && !is_part(opcode, 2, "ca")) ||
        (!is_part(opcode, 3, "shared") && !is_part(opcode, 3, "shared::cta")) || !is_part(opcode, 4, "global"))
        refuse(p, opcode);
    if (n < opcode->n && strncmp(opcode->parts[n], "L2::", 4) == 0 && is_hint(opcode->parts[n]))
        n++;
    if (n != opcode->n)
        refuse(p, opcode);
    to = address_at(p, WM_SHARED);
    expect(p, ',');
    from = address_at(p, WM_GLOBAL);
    expect(p, ',');
    size = registers_at(p);
    bytes = constant_of(p, &size, "the size of a copy");
    if (bytes != 16 && (is_cg || (bytes != 4 && bytes != 8)))
        wmi_c_fail(p->c, WM_E_SYNTAX, size.place, "%s copies %s bytes", opcode->text, is_cg ? "16" : "4, 8 or 16");
    if (take(p, ',')) {
        const struct registers value = registers_at(p);

        single(p, &value);
        if (value.symbols[0] && value.symbols[0]->type->kind == K_BOOL)
            wmi_c_refuse(p->c, value.place, "cp.async with a predicate behind its size");
        source_size = use(p, &value, 0, basic(p, K_UINT), 0);
    }
    run(p, call(p, B_COPY, bytes | (is_cg ? WMI_COPY_CG : 0), basic(p, K_VOID), to, from, source_size, opcode->place));
}

/* cvta.to.shared.u64 t, p: from a generic address, and without .to the other way. */
static void ptx_cvta(struct ptx *p, const struct opcode *opcode)
{
    const int is_to = is_part(opcode, 1, "to");
    const unsigned at = is_to ? 2 : 1;
    const int is_shared = is_part(opcode, at, "shared") || is_part(opcode, at, "shared::cta");
    const struct type *wide = basic(p, K_ULONG);
    struct registers to;
    struct registers from;
    struct expr *e;

    if (opcode->n != at + 2 || !is_part(opcode, at + 1, "u64") || (!is_shared && !is_part(opcode, at, "global")))
        refuse(p, opcode);
    to = registers_at(p);
    expect(p, ',');
    from = registers_at(p);
    single(p, &to);
    single(p, &from);
    e = use(p, &from, 0, wide, 0);
    if (is_shared && is_to)
        e = call(p, B_TO_SHARED, 0, wide, e, NULL, NULL, opcode->place);
    else if (is_shared)
        e = wmi_c_binary(p->c, '+', e, wmi_c_integer(p->c, WMI_SHARED_WINDOW, wide, opcode->place), opcode->place);
    give(p, &to, 0, e, 0);
}

/* mov.u32, and cvt between integers. */
static void ptx_move(struct ptx *p, const struct opcode *opcode)
{
    const int is_mov = is_part(opcode, 0, "mov");
    const struct type *to_type = opcode->n > 1 ? type_named(p, opcode->parts[1]) : NULL;
    const struct type *from_type = is_mov ? to_type : opcode->n > 2 ? type_named(p, opcode->parts[2]) : NULL;
    struct registers to;
    struct registers from;
    struct expr *e;

    if (!to_type || !from_type || opcode->n != (is_mov ? 2 : 3) ||
        (!is_mov && (!wmi_c_is_integer(to_type) || !wmi_c_is_integer(from_type) || opcode->parts[1][0] == 'b' ||
                     opcode->parts[2][0] == 'b' || strchr(opcode->parts[1], 'f') || strchr(opcode->parts[2], 'f'))))
        refuse(p, opcode);
    to = registers_at(p);
    expect(p, ',');
    from = registers_at(p);
    if (to.is_list || from.is_list)
        refuse(p, opcode);
    e = use(p, &from, 0, from_type, !is_mov);
    if (!is_mov)
        e = wmi_c_cast(p->c, e, to_type, opcode->place);
    give(p, &to, 0, e, !is_mov);
}

/* setp.ne.b32 p, a, b */
static void ptx_compare(struct ptx *p, const struct opcode *opcode)
{
    static const struct {
        const char *text;
        int op;
    } comparisons[] = {{"eq", P_EQ}, {"ne", P_NE}, {"lt", '<'}, {"le", P_LE}, {"gt", '>'}, {"ge", P_GE}};
    const struct type *type = opcode->n == 3 ? type_named(p, opcode->parts[2]) : NULL;
    struct registers to;
    struct registers a;
    struct registers b;
    int op = 0;

    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        if (is_part(opcode, 1, comparisons[i].text))
            op = comparisons[i].op;
    }
    if (!op || !type || !wmi_c_is_integer(type) || type->size < 2 || strchr(opcode->parts[2], 'f'))
        refuse(p, opcode);
    if (opcode->parts[2][0] == 'b' && op != P_EQ && op != P_NE)
        wmi_c_fail(p->c, WM_E_SYNTAX, opcode->place, "%s: of .%s PTX has only setp.eq and setp.ne", opcode->text,
                   opcode->parts[2]);
    to = registers_at(p);
    expect(p, ',');
    a = registers_at(p);
    expect(p, ',');
    b = registers_at(p);
    single(p, &to);
    single(p, &a);
    single(p, &b);
    if (!to.symbols[0] || to.symbols[0]->type->kind != K_BOOL)
        wmi_c_fail(p->c, WM_E_SYNTAX, to.place, "a predicate is expected here");
    assign(p, read_of(p, to.symbols[0], to.place),
           wmi_c_binary(p->c, op, use(p, &a, 0, type, 0), use(p, &b, 0, type, 0), opcode->place), opcode->place);
    declared(p, to.symbols[0])->is_set = 1;
}

/* Whether the innermost block declares a name. */
static int is_declared(const struct ptx *p, const char *name)
{
    const struct ptx_register *outside = p->block ? p->block->registers : NULL;

    for (const struct ptx_register *r = p->registers; r != outside; r = r->next) {
        if (strcmp(r->name, name) == 0)
            return 1;
    }
    return 0;
}

/* .reg .u64 t, u; */
static void ptx_declare(struct ptx *p)
{
    const struct place place = here(p);
    char text[MOST_WORD];
    const struct type *type;

    word(p, 1, text);
    if (strcmp(text, ".reg") != 0)
        wmi_c_refuse(p->c, place, "the PTX directive %s", text);
    if (!word(p, 1, text) || text[0] != '.')
        unexpected(p, "the type of a register");
    type = strcmp(text, ".pred") == 0 ? basic(p, K_BOOL) : type_named(p, text + 1);
    if (!type || type->kind == K_UCHAR || type->kind == K_SCHAR)
        wmi_c_refuse(p->c, place, "a PTX register of type %s", text);
    do {
        struct ptx_register *r = wmi_c_take(p->c, sizeof *r);
        struct place at;

        skip_blanks(p);
        at = here(p);
        if (!word(p, 0, text) || (text[0] >= '0' && text[0] <= '9') ||
            (text[0] == '%' && text[1] >= '0' && text[1] <= '9'))
            unexpected(p, "the name of a register");
        if (look(p) == '<')
            wmi_c_refuse(p->c, at, "a range of PTX registers");
        if (is_declared(p, text))
            wmi_c_fail(p->c, WM_E_SYNTAX, at, "%s is declared a second time in one block", text);
        r->name = wmi_c_text(p->c, "%s", text);
        r->symbol = variable(p, "register", type, at, NULL);
        r->next = p->registers;
        p->registers = r;
    } while (take(p, ','));
    expect(p, ';');
}

static void instruction(struct ptx *p)
{
    static const struct {
        const char *text;
        void (*read)(struct ptx *p, const struct opcode *opcode);
    } known[] = {{"ld", ptx_load},         {"st", ptx_store}, {"ldmatrix", ptx_matrix},
                 {"stmatrix", ptx_matrix}, {"mma", ptx_product}, {"cp", ptx_copy},  {"cvta", ptx_cvta},
                 {"mov", ptx_move},        {"cvt", ptx_move}, {"setp", ptx_compare}};
    char copy[MOST_WORD];
    struct opcode opcode;

    skip_blanks(p);
    opcode.place = here(p);
    if (!word(p, 1, opcode.text))
        unexpected(p, "an instruction");
    if (look(p) == ':' || opcode.text[strlen(opcode.text) - 1] == ':')
        wmi_c_refuse(p->c, opcode.place, "a label in PTX");
    cut(p, &opcode, copy);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (is_part(&opcode, 0, known[i].text)) {
            known[i].read(p, &opcode);
            return;
        }
    }
    refuse(p, &opcode);
}

/* @p or @!p before an instruction. */
static void guarded(struct ptx *p)
{
    const struct place place = here(p);
    const int is_not = take(p, '!');
    const struct registers value = registers_at(p);
    struct stmt **const end = p->end;
    struct stmt *s = wmi_c_take(p->c, sizeof *s);
    struct expr *condition;

    single(p, &value);
    if (!value.symbols[0] || value.symbols[0]->type->kind != K_BOOL)
        wmi_c_fail(p->c, WM_E_SYNTAX, value.place, "a predicate is expected here");
    if (!declared(p, value.symbols[0])->is_set)
        wmi_c_fail(p->c, WM_E_SYNTAX, value.place, "the predicate %s is not set by any instruction before",
                   declared(p, value.symbols[0])->name);
    condition = read_of(p, value.symbols[0], place);
    if (is_not)
        condition = wmi_c_binary(p->c, P_EQ, condition, wmi_c_integer(p->c, 0, basic(p, K_BOOL), place), place);
    p->end = &s->body;
    instruction(p);
    s->kind = S_IF;
    s->place = place;
    s->a = wmi_c_condition(p->c, condition);
    *end = s;
    p->end = &s->next;
}

static void open_block(struct ptx *p)
{
    struct ptx_block *block = wmi_c_take(p->c, sizeof *block);

    block->outer = p->block;
    block->registers = p->registers;
    p->block = block;
}

static void close_block(struct ptx *p)
{
    p->registers = p->block->registers;
    p->block = p->block->outer;
}

static void instructions(struct ptx *p)
{

    for (;;) {
        skip_blanks(p);
        if (p->at >= p->length)
            break;
        if (take(p, ';'))
            continue;
        if (take(p, '{')) {
            open_block(p);
            continue;
        }
        if (look(p) == '}') {
            if (!p->block)
                unexpected(p, "an instruction");
            close_block(p);
            p->at++;
            continue;
        }
        if (look(p) == '.') {
            ptx_declare(p);
            continue;
        }
        if (take(p, '@'))
            guarded(p);
        else
            instruction(p);
        skip_blanks(p);
        if (look(p) != '}' || !p->block)
            expect(p, ';');
    }
    if (p->block)
        unexpected(p, "'}'");
}

/* ------------------------------------------------------------------------------------------------------------ the statement */

/* One character of a string literal; escapes count as they are written. */
static char character(const struct token *token, size_t *i)
{
    const char ch = token->text[(*i)++];

    if (ch != '\\' || *i >= token->length)
        return ch;
    switch (token->text[(*i)++]) {
    case 'n':
    case 'r': return '\n';
    case 't': return ' ';
    default: return token->text[*i - 1];
    }
}

/* The string literals, one behind the other. What a macro put there has the place of the macro. */
static void read_text(struct ptx *p)
{
    struct compile *c = p->c;
    size_t room = 0;

    if (wmi_c_now(c)->kind != T_STRING)
        wmi_c_unexpected(c, "the text of PTX instructions");
    for (size_t i = 0; wmi_c_ahead(c, i)->kind == T_STRING; i++)
        room += wmi_c_ahead(c, i)->length;
    p->text = wmi_c_take(c, room + 1);
    p->places = wmi_c_take(c, (room + 1) * sizeof *p->places);
    for (; wmi_c_now(c)->kind == T_STRING; wmi_c_advance(c)) {
        const struct token *token = wmi_c_now(c);
        const struct place before = c->tokens.list[c->at - 1].place;
        const int is_macro = before.file == token->place.file && before.line == token->place.line &&
                             before.column == token->place.column;

        for (size_t i = 0; i < token->length;) {
            struct place place = token->place;

            place.column += is_macro ? 0 : (uint32_t)i + 1;
            p->places[p->length] = place;
            p->text[p->length] = character(token, &i);
            /* %% is % where there are operands, and without them % is itself */
            if (p->length && p->text[p->length] == '%' && p->text[p->length - 1] == '%')
                continue;
            p->length++;
        }
    }
}

struct stmt *wmi_c_asm(struct compile *c)
{
    struct ptx *p = wmi_c_take(c, sizeof *p);
    struct stmt *block = wmi_c_take(c, sizeof *block);

    block->kind = S_BLOCK;
    block->place = wmi_c_now(c)->place;
    p->c = c;
    p->end = &block->body;
    wmi_c_advance(c);
    while (wmi_c_take_word(c, KW_VOLATILE) || wmi_c_take_word(c, KW_INLINE))
        ;
    if (wmi_c_is_word(c, KW_GOTO))
        wmi_c_refuse(c, block->place, "asm goto");
    wmi_c_expect(c, '(', "behind asm");
    read_text(p);
    p->place = wmi_c_now(c)->place;
    operand_lists(p);
    wmi_c_expect(c, ';', "behind asm");
    instructions(p);
    for (unsigned i = 0; i < p->n_operands; i++) {
        const struct operand *o = &p->operands[i];

        if (o->target)
            assign(p, o->target,
                   wmi_c_cast(c, read_of(p, o->symbol, block->place), o->target->type->plain, block->place),
                   block->place);
    }
    return block;
}
