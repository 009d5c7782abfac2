/* Expressions: from tokens to a typed tree, by C's and CUDA C++'s conversion rules; constants are folded on the way. */
#include <math.h>
#include <string.h>

#include "compile.h"
#include "half.h"

struct expr *wmi_c_make(struct compile *c, enum expr_kind kind, const struct type *type, struct place place)
{
    struct expr *e = wmi_c_take(c, sizeof *e);

    e->kind = kind;
    e->type = type;
    e->place = place;
    return e;
}

uint64_t wmi_c_wrap(const struct type *type, uint64_t value)
{
    if (type->kind == K_BOOL)
        return value != 0;
    switch (type->size) {
    case 1: return wmi_c_is_signed(type) ? (uint64_t)(int64_t)(int8_t)value : (uint8_t)value;
    case 2: return wmi_c_is_signed(type) ? (uint64_t)(int64_t)(int16_t)value : (uint16_t)value;
    case 4: return wmi_c_is_signed(type) ? (uint64_t)(int64_t)(int32_t)value : (uint32_t)value;
    default: return value;
    }
}

struct expr *wmi_c_integer(struct compile *c, uint64_t value, const struct type *type, struct place place)
{
    struct expr *e = wmi_c_make(c, E_CONST, type->plain, place);

    e->value.i = wmi_c_wrap(type, value);
    return e;
}

static struct expr *floating(struct compile *c, double value, const struct type *type, struct place place)
{
    struct expr *e = wmi_c_make(c, E_CONST, type->plain, place);

    e->value.f = type->kind == K_FLOAT ? (double)(float)value
                 : type->kind == K_HALF ? (double)wmi_half_to_float(wmi_float_to_half((float)value)) : value;
    return e;
}

/* Trees are walked by recursion: their height is bounded where they grow. */
static unsigned height_of(struct expr *e)
{
    unsigned most = 0;
    struct expr *const parts[] = {e->a, e->b, e->c};

    if (e->height)
        return e->height;
    for (unsigned i = 0; i < 3; i++) {
        if (parts[i] && height_of(parts[i]) > most)
            most = parts[i]->height;
    }
    for (uint32_t i = 0; i < e->n_args; i++) {
        if (height_of(e->args[i]) > most)
            most = e->args[i]->height;
    }
    e->height = (uint16_t)(most + 1);
    return e->height;
}

static struct expr *checked(struct compile *c, struct expr *e)
{
    if (height_of(e) > WMI_MAX_HEIGHT)
        wmi_c_fail(c, WM_E_RANGE, e->place, "this expression is nested deeper than %d", WMI_MAX_HEIGHT);
    return e;
}

struct symbol *wmi_c_root(struct expr *e)
{
    while (e->kind == E_INDEX || e->kind == E_MEMBER || e->kind == E_VIEW)
        e = e->a;
    return e->kind == E_VAR ? e->symbol : NULL;
}

static void take_address(struct expr *e)
{
    struct symbol *symbol = wmi_c_root(e);

    if (symbol)
        symbol->address_taken++;
}

struct expr *wmi_c_rvalue(struct compile *c, struct expr *e)
{
    struct expr *decayed;

    if (e->type->kind != K_ARRAY)
        return e;
    decayed = wmi_c_make(c, E_DECAY, wmi_c_pointer(c, e->type->base), e->place);
    decayed->a = e;
    take_address(e);
    return decayed;
}

int wmi_c_is_null(const struct expr *e)
{
    return e->kind == E_CONST && (e->type->kind == K_POINTER || wmi_c_is_integer(e->type)) && e->value.i == 0;
}

/* ---------------------------------------------------------------------------------------------------------- conversions */

static struct expr *fold_cast(struct compile *c, struct expr *e, const struct type *to, struct place place)
{
    if (wmi_c_is_floating(e->type)) {
        if (wmi_c_is_floating(to))
            return floating(c, e->value.f, to, place);
        if (to->kind == K_BOOL)
            return wmi_c_integer(c, e->value.f != 0, to, place);
        return wmi_c_integer(c, wmi_double_to_integer(e->value.f, e->type->kind == K_DOUBLE, to->size > 4, wmi_c_is_signed(to) || to->size < 4), to, place);
    }
    if (wmi_c_is_floating(to)) {
        if (to->kind == K_DOUBLE)
            return floating(c, wmi_c_is_signed(e->type) ? (double)(int64_t)e->value.i : (double)e->value.i, to, place);
        return floating(c, (double)(wmi_c_is_signed(e->type) ? (float)(int64_t)e->value.i : (float)e->value.i), to, place);
    }
    return wmi_c_integer(c, e->value.i, to, place);
}

/* The conversion itself, between scalars. */
static struct expr *cast_to(struct compile *c, struct expr *e, const struct type *to, struct place place)
{
    struct expr *cast;

    e = wmi_c_rvalue(c, e);
    to = to->plain;
    if (wmi_c_same(e->type, to) && !(e->is_lvalue && e->type->is_const))
        return e;
    if (e->kind == E_CONST)
        return fold_cast(c, e, to, place);
    cast = wmi_c_make(c, E_CAST, to, place);
    cast->a = e;
    return cast;
}

unsigned wmi_c_conversion(const struct expr *e, const struct type *to)
{
    const struct type *from = e->type;

    if (wmi_c_same(from, to))
        return 1;
    if (wmi_c_is_arithmetic(from) && wmi_c_is_arithmetic(to)) {
        if ((from->size < 4 && to->kind == K_INT && wmi_c_is_integer(from)) || (from->kind == K_FLOAT && to->kind == K_DOUBLE))
            return 2;
        return 3;
    }
    if (to->kind == K_POINTER) {
        if (wmi_c_is_null(e))
            return 3;
        if (from->kind == K_ARRAY)
            return wmi_c_same(from->base->plain, to->base->plain) ? 1 : to->base->kind == K_VOID ? 3 : 0;
        if (from->kind == K_POINTER && (to->base->is_const || !from->base->is_const)) {
            if (wmi_c_same(from->base->plain, to->base->plain))
                return from->base->is_const == to->base->is_const ? 1 : 2;
            if (to->base->kind == K_VOID)
                return 3;
        }
    }
    if (to->kind == K_BOOL && (from->kind == K_POINTER || from->kind == K_ARRAY))
        return 3;
    return 0;
}

struct expr *wmi_c_convert(struct compile *c, struct expr *e, const struct type *to, const char *what)
{
    if (!wmi_c_conversion(e, to))
        wmi_c_fail(c, WM_E_SYNTAX, e->place, "%s of type %s cannot be converted to %s", what, wmi_c_type_name(c, e->type),
                   wmi_c_type_name(c, to));
    if (to->kind == K_RECORD)
        return e;
    return cast_to(c, e, to, e->place);
}

struct expr *wmi_c_cast(struct compile *c, struct expr *e, const struct type *to, struct place place)
{
    e = wmi_c_rvalue(c, e);
    if (to->kind == K_VOID) {
        struct expr *cast = wmi_c_make(c, E_CAST, to, place);

        wmi_c_unused(e);
        cast->a = e;
        return cast;
    }
    if (to->kind == K_RECORD && wmi_c_same(to, e->type))
        return e;
    if (!wmi_c_is_scalar(to) || !wmi_c_is_scalar(e->type) || (to->kind == K_POINTER && wmi_c_is_floating(e->type)) ||
        (e->type->kind == K_POINTER && (wmi_c_is_floating(to) || (to->size < 8 && to->kind != K_BOOL))))
        wmi_c_fail(c, WM_E_SYNTAX, place, "%s cannot be cast to %s", wmi_c_type_name(c, e->type), wmi_c_type_name(c, to));
    return cast_to(c, e, to, place);
}

struct expr *wmi_c_condition(struct compile *c, struct expr *e)
{
    e = wmi_c_rvalue(c, e);
    if (!wmi_c_is_scalar(e->type))
        wmi_c_fail(c, WM_E_SYNTAX, e->place, "a condition of type %s", wmi_c_type_name(c, e->type));
    return cast_to(c, e, wmi_c_basic(c, K_BOOL), e->place);
}

static const struct type *promoted(struct compile *c, const struct type *type)
{
    return wmi_c_is_integer(type) && type->size < 4 ? wmi_c_basic(c, K_INT) : type->plain;
}

/* The usual arithmetic conversions. */
static const struct type *common_type(struct compile *c, const struct expr *a, const struct expr *b, struct place place)
{
    const struct type *x = promoted(c, a->type);
    const struct type *y = promoted(c, b->type);

    if (x->kind == K_HALF || y->kind == K_HALF) {
        if (x->kind != y->kind)
            wmi_c_refuse(c, place, "mixing %s and %s: convert one explicitly", wmi_c_type_name(c, x), wmi_c_type_name(c, y));
        return x;
    }
    if (x->kind == K_DOUBLE || y->kind == K_DOUBLE)
        return wmi_c_basic(c, K_DOUBLE);
    if (x->kind == K_FLOAT || y->kind == K_FLOAT)
        return wmi_c_basic(c, K_FLOAT);
    if (x->kind == y->kind)
        return x;
    /* Of both, the higher rank; unsigned wins among equals, and a signed one that holds all values of the other. The
     * kinds are in the order of ranks, signed before unsigned. */
    if (x->kind < y->kind) {
        const struct type *t = x;

        x = y;
        y = t;
    }
    if (wmi_c_is_signed(x) && !wmi_c_is_signed(y) && x->size == y->size)
        return wmi_c_basic(c, x->kind == K_LLONG ? K_ULLONG : (enum type_kind)(x->kind + 1));
    return x;
}

/* ------------------------------------------------------------------------------------------------------------ operators */

static int is_comparison(int op)
{
    return op == '<' || op == '>' || op == P_LE || op == P_GE || op == P_EQ || op == P_NE;
}

static int compare_fold(int op, int less, int equal, int unordered)
{
    switch (op) {
    case '<': return less;
    case '>': return !less && !equal && !unordered;
    case P_LE: return less || equal;
    case P_GE: return !less && !unordered;
    case P_EQ: return equal;
    default: return !equal;
    }
}

/* Two constants of one type; NULL: leave it to the run, as a division by zero. */
static struct expr *fold(struct compile *c, int op, const struct type *type, const struct expr *a, const struct expr *b,
                         struct place place)
{
    const struct type *from = a->type;
    const uint64_t x = a->value.i;
    const uint64_t y = b->value.i;
    const int is_signed = wmi_c_is_signed(from);

    if (wmi_c_is_floating(from)) {
        const double f = a->value.f;
        const double g = b->value.f;
        const int is_float = from->kind != K_DOUBLE;

        if (is_comparison(op))
            return wmi_c_integer(c, (uint64_t)compare_fold(op, f < g, f == g, isnan(f) || isnan(g)), type, place);
        switch (op) {
        case '+': return floating(c, is_float ? (double)((float)f + (float)g) : f + g, type, place);
        case '-': return floating(c, is_float ? (double)((float)f - (float)g) : f - g, type, place);
        case '*': return floating(c, is_float ? (double)((float)f * (float)g) : f * g, type, place);
        default: return g == 0 ? NULL : floating(c, is_float ? (double)((float)f / (float)g) : f / g, type, place);
        }
    }
    if (is_comparison(op))
        return wmi_c_integer(c, (uint64_t)compare_fold(op, is_signed ? (int64_t)x < (int64_t)y : x < y, x == y, 0), type, place);
    switch (op) {
    case '+': return wmi_c_integer(c, x + y, type, place);
    case '-': return wmi_c_integer(c, x - y, type, place);
    case '*': return wmi_c_integer(c, x * y, type, place);
    case '&': return wmi_c_integer(c, x & y, type, place);
    case '|': return wmi_c_integer(c, x | y, type, place);
    case '^': return wmi_c_integer(c, x ^ y, type, place);
    case '/':
    case '%':
        if (y == 0)
            return NULL;
        if (!is_signed)
            return wmi_c_integer(c, op == '/' ? x / y : x % y, type, place);
        if ((int64_t)y == -1)
            return wmi_c_integer(c, op == '/' ? 0 - x : 0, type, place);
        return wmi_c_integer(c, (uint64_t)(op == '/' ? (int64_t)x / (int64_t)y : (int64_t)x % (int64_t)y), type, place);
    case P_SHL: return y < 8 * from->size ? wmi_c_integer(c, x << y, type, place) : NULL;
    case P_SHR: {
        uint64_t value;

        if (y >= 8 * from->size)
            return NULL;
        value = x >> y;
        if (is_signed && (int64_t)x < 0 && y)
            value |= ~UINT64_C(0) << (64 - y);
        return wmi_c_integer(c, value, type, place);
    }
    default: return NULL;
    }
}

static struct expr *make_binary(struct compile *c, int op, const struct type *type, struct expr *a, struct expr *b,
                                struct place place)
{
    struct expr *e = NULL;

    if (a->kind == E_CONST && b->kind == E_CONST && a->type->kind != K_POINTER && b->type->kind != K_POINTER)
        e = fold(c, op, type, a, b, place);
    if (e)
        return e;
    e = wmi_c_make(c, E_BINARY, type, place);
    e->op = op;
    e->a = a;
    e->b = b;
    return e;
}

static _Noreturn void bad_operands(struct compile *c, const struct expr *a, const struct expr *b, struct place place)
{
    wmi_c_fail(c, WM_E_SYNTAX, place, "this operator does not take %s and %s", wmi_c_type_name(c, a->type),
               wmi_c_type_name(c, b->type));
}

/* A pointer can be moved if what it points to has a size. */
static void check_step(struct compile *c, const struct type *pointer, struct place place)
{
    if (pointer->base->size == 0)
        wmi_c_fail(c, WM_E_SYNTAX, place, "arithmetic on %s", wmi_c_type_name(c, pointer));
}

static struct expr *pointer_binary(struct compile *c, int op, struct expr *a, struct expr *b, struct place place)
{
    if (op == '+' && b->type->kind == K_POINTER) {
        struct expr *t = a;

        a = b;
        b = t;
    }
    if ((op == '+' || op == '-') && a->type->kind == K_POINTER && wmi_c_is_integer(b->type)) {
        check_step(c, a->type, place);
        return make_binary(c, op, a->type->plain, a, cast_to(c, b, promoted(c, b->type), place), place);
    }
    if (op == '-' && a->type->kind == K_POINTER && b->type->kind == K_POINTER &&
        wmi_c_same(a->type->base->plain, b->type->base->plain)) {
        check_step(c, a->type, place);
        return make_binary(c, op, wmi_c_basic(c, K_LONG), a, b, place);
    }
    if (is_comparison(op) && (a->type->kind == K_POINTER || wmi_c_is_null(a)) && (b->type->kind == K_POINTER || wmi_c_is_null(b))) {
        const struct type *type = wmi_c_basic(c, K_ULONG);

        return make_binary(c, op, wmi_c_basic(c, K_BOOL), cast_to(c, a, type, place), cast_to(c, b, type, place), place);
    }
    bad_operands(c, a, b, place);
}

static struct expr *operator_call(struct compile *c, const char *op, struct expr **args, uint32_t n, struct place place)
{
    const struct name *name = wmi_c_name_of(c, wmi_c_text(c, "operator%s", op));
    struct instance *instance;
    struct expr *e;

    if (!name->global || name->global->kind != SYM_FUNCTIONS)
        return NULL;
    instance = wmi_c_call(c, name->global->functions, NULL, 0, args, n, place);
    e = wmi_c_call_of(c, instance, args, n, place);
    return e;
}

static const char *op_text(int op, char text[4])
{
    static const struct {
        int op;
        char text[4];
    } list[] = {{P_SHL, "<<"}, {P_SHR, ">>"}, {P_LE, "<="}, {P_GE, ">="}, {P_EQ, "=="}, {P_NE, "!="},
                {P_ADD_TO, "+="}, {P_SUB_TO, "-="}, {P_MUL_TO, "*="}, {P_DIV_TO, "/="}};

    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        if (list[i].op == op)
            return strcpy(text, list[i].text);
    }
    text[0] = (char)op;
    text[1] = '\0';
    return text;
}

struct expr *wmi_c_binary(struct compile *c, int op, struct expr *a, struct expr *b, struct place place)
{
    const struct type *type;

    if (a->type->kind == K_RECORD || b->type->kind == K_RECORD) {
        struct expr **args = wmi_c_take(c, 2 * sizeof(struct expr *));
        char text[4];
        struct expr *e;

        args[0] = a;
        args[1] = b;
        e = operator_call(c, op_text(op, text), args, 2, place);
        if (!e)
            bad_operands(c, a, b, place);
        return e;
    }
    a = wmi_c_rvalue(c, a);
    b = wmi_c_rvalue(c, b);
    if (a->type->kind == K_POINTER || b->type->kind == K_POINTER)
        return pointer_binary(c, op, a, b, place);
    if (!wmi_c_is_arithmetic(a->type) || !wmi_c_is_arithmetic(b->type))
        bad_operands(c, a, b, place);
    if (op == P_SHL || op == P_SHR) {
        if (!wmi_c_is_integer(a->type) || !wmi_c_is_integer(b->type))
            bad_operands(c, a, b, place);
        type = promoted(c, a->type);
        return make_binary(c, op, type, cast_to(c, a, type, place), cast_to(c, b, promoted(c, b->type), place), place);
    }
    type = common_type(c, a, b, place);
    if (wmi_c_is_floating(type) && (op == '%' || op == '&' || op == '|' || op == '^'))
        bad_operands(c, a, b, place);
    return make_binary(c, op, is_comparison(op) ? wmi_c_basic(c, K_BOOL) : type, cast_to(c, a, type, place),
                       cast_to(c, b, type, place), place);
}

static void check_assignable(struct compile *c, struct expr *e, struct place place)
{
    struct symbol *symbol;

    if (!e->is_lvalue)
        wmi_c_fail(c, WM_E_SYNTAX, place, "what stands on the left cannot be assigned to");
    if (e->type->is_const || e->type->kind == K_ARRAY)
        wmi_c_fail(c, WM_E_SYNTAX, place, "assignment to %s", e->type->kind == K_ARRAY ? "an array" : "a const value");
    symbol = wmi_c_root(e);
    if (symbol && symbol->storage == ST_CONSTANT && symbol->kind == SYM_VARIABLE)
        wmi_c_fail(c, WM_E_SYNTAX, place, "assignment to %s, which is __constant__", symbol->name->text);
    if (symbol)
        symbol->is_assigned++;
}

static struct expr *assign_op(struct compile *c, int op, struct expr *a, struct expr *b, struct place place)
{
    struct expr *e;
    const struct type *type;

    if (a->type->kind == K_RECORD) {
        struct expr **args = wmi_c_take(c, 2 * sizeof(struct expr *));
        char text[4];

        args[0] = a;
        args[1] = b;
        op_text(op, text);
        e = operator_call(c, strcat(text, "="), args, 2, place);
        if (e)
            return e;
        e = wmi_c_make(c, E_ASSIGN, a->type->plain, place);
        check_assignable(c, a, place);
        e->a = a;
        e->b = wmi_c_convert(c, wmi_c_binary(c, op, a, b, place), a->type, "a value");
        return e;
    }
    check_assignable(c, a, place);
    b = wmi_c_rvalue(c, b);
    e = wmi_c_make(c, E_ASSIGN_OP, a->type->plain, place);
    if (a->type->kind == K_POINTER) {
        if ((op != '+' && op != '-') || !wmi_c_is_integer(b->type))
            bad_operands(c, a, b, place);
        check_step(c, a->type, place);
        type = a->type->plain;
        b = cast_to(c, b, promoted(c, b->type), place);
    } else {
        /* what the operator would make of both says in which type it works */
        struct expr *probe;

        if (!wmi_c_is_arithmetic(a->type) || !wmi_c_is_arithmetic(b->type))
            bad_operands(c, a, b, place);
        if (a->type->kind == K_HALF && b->type->kind != K_HALF)
            b = cast_to(c, b, a->type, place);
        probe = wmi_c_make(c, E_CAST, a->type->plain, place);
        probe = wmi_c_binary(c, op, probe, b, place);
        type = probe->type;
        b = op == P_SHL || op == P_SHR ? cast_to(c, b, promoted(c, b->type), place) : cast_to(c, b, type, place);
    }
    e->op = op;
    e->a = a;
    e->b = b;
    e->c = wmi_c_make(c, E_CONST, type, place);
    return e;
}

struct expr *wmi_c_assign(struct compile *c, struct expr *a, struct expr *b, struct place place)
{
    struct expr *e = wmi_c_make(c, E_ASSIGN, a->type->plain, place);

    check_assignable(c, a, place);
    e->a = a;
    e->b = wmi_c_convert(c, b, a->type, "a value");
    return e;
}

void wmi_c_unused(struct expr *e)
{
    e->is_unused = 1;
    if (e->kind == E_COMMA)
        wmi_c_unused(e->b);
    if (e->kind == E_CAST && e->type->kind == K_VOID)
        wmi_c_unused(e->a);
}

/* ------------------------------------------------------------------------------------------------------------- primaries */

static void add_index_use(struct compile *c, struct symbol *symbol, struct expr *index)
{
    struct index_use *use;

    if (!c->instance || (index && index->kind == E_CONST))
        return;
    use = wmi_c_take(c, sizeof *use);
    use->symbol = symbol;
    use->index = index;
    use->next = c->instance->uses;
    c->instance->uses = use;
}

static struct expr *element(struct compile *c, struct expr *a, struct expr *b, struct place place)
{
    struct expr *e = wmi_c_make(c, E_INDEX, a->type->base, place);
    struct symbol *symbol;

    e->a = a;
    e->b = cast_to(c, b, promoted(c, b->type), place);
    e->is_lvalue = 1;
    symbol = wmi_c_root(e);
    if (symbol && symbol->storage == ST_AUTO)
        add_index_use(c, symbol, e->b);
    return e;
}

/* Whether a value of type is scalars of one size, one behind the other, and nothing else: their size, or 0. */
static uint64_t leaf_bytes(const struct type *type)
{
    uint64_t offset;
    const uint64_t bytes = type->leaves && type->leaves <= 16 ? wmi_c_leaf(type, 0, &offset)->size : 0;

    for (uint32_t i = 0; bytes && i < type->leaves; i++) {
        if (wmi_c_leaf(type, i, &offset)->size != bytes || offset != i * bytes)
            return 0;
    }
    return type->leaves && type->size == type->leaves * bytes ? bytes : 0;
}

/* Whether registers that hold scalars like those of `from` can be looked at as a value of type: the same ones, or others whose
 * bits lie in a register in the same way, or pairs of 16 bits as 32. */
static int is_made_of(const struct type *type, const struct type *from)
{
    const uint64_t bytes = leaf_bytes(type);
    const uint64_t parts = leaf_bytes(from);
    uint64_t offset;

    if (!bytes || !parts)
        return 0;
    if (bytes == 4 && parts == 2)
        return 1;
    for (uint32_t i = 0; i < type->leaves; i++) {
        if (!wmi_c_same(wmi_c_leaf(type, i, &offset), wmi_c_leaf(from, 0, &offset)) && (bytes != parts || bytes < 4))
            return 0;
    }
    return bytes == parts;
}

/* The parameter that a pointer is, or is an element of; *index: the element, or NULL. */
static struct symbol *parameter_of(const struct expr *pointer, struct expr **index)
{
    *index = NULL;
    if (pointer->kind == E_BINARY && (pointer->op == '+' || pointer->op == '-')) {
        *index = pointer->b;
        pointer = pointer->a;
    }
    if (pointer->kind != E_VAR || !pointer->symbol->is_parameter || pointer->symbol->type->kind != K_POINTER ||
        pointer->symbol->type->base->kind == K_ARRAY)
        return NULL;
    return pointer->symbol;
}

/* Its place in memory is not asked for. */
static void count_deref(struct compile *c, const struct expr *pointer)
{
    struct expr *index;
    struct symbol *symbol = parameter_of(pointer, &index);

    if (!symbol)
        return;
    symbol->derefs++;
    if (index)
        add_index_use(c, symbol, index);
}

static struct expr *deref(struct compile *c, struct expr *pointer, struct place place);

/* The same through a parameter of a function that is inlined: what it points to may be in registers. offset: values of type
 * beyond, or NULL. */
static struct expr *view_parameter(struct compile *c, struct expr *at, struct expr *offset, const struct type *type,
                                   struct place place)
{
    const struct type *wide = wmi_c_basic(c, K_LONG);
    struct expr *index;
    const struct symbol *symbol = parameter_of(at, &index);
    const struct type *of = symbol ? symbol->type->base : NULL;
    struct expr *e;

    if (!symbol || !c->instance || c->instance->function->is_kernel || !wmi_c_is_scalar(of) ||
        wmi_c_same(type, of) || !is_made_of(type, of->plain))
        return NULL;
    if (offset)
        at = wmi_c_binary(c, '+', at, wmi_c_binary(c, '*', wmi_c_cast(c, offset, wide, place), wmi_c_integer(c, type->size / of->size, wide, place), place), place);
    e = wmi_c_make(c, E_VIEW, of->is_const ? wmi_c_const(c, type) : type, place);
    e->a = deref(c, at, place);
    e->is_lvalue = 1;
    return e;
}

/* *(unsigned *)&x, where x is a local variable or a part of one, as large as what it is looked at as. */
static struct expr *view_whole(struct compile *c, const struct expr *pointer, const struct type *type, struct place place)
{
    struct symbol *symbol = wmi_c_root(pointer->a);
    struct expr *e;

    if (!symbol || symbol->storage != ST_AUTO || symbol->kind != SYM_VARIABLE || pointer->a->type->size != type->size ||
        pointer->a->type->kind == K_ARRAY || wmi_c_same(pointer->a->type, type) || !is_made_of(type, pointer->a->type))
        return NULL;
    symbol->address_taken--;
    e = wmi_c_make(c, E_VIEW, pointer->a->type->is_const ? wmi_c_const(c, type) : type, place);
    e->a = pointer->a;
    e->is_lvalue = 1;
    return e;
}

/*
 * *(float4 *)&local[i] and the like, where the address goes nowhere else: what it makes of an array in registers are some
 * of these registers, as it is for nvcc. NULL: it is something else.
 */
static struct expr *view(struct compile *c, struct expr *pointer, struct place place)
{
    const struct type *type = pointer->type->base;
    struct expr *at = pointer;
    struct expr *offset = NULL; /* in values of type */
    struct expr *array;
    struct expr *index;
    struct expr *e;
    struct symbol *symbol;

    if (at->kind == E_BINARY && at->op == '+') {
        offset = at->b;
        at = at->a;
    }
    while (at->kind == E_CAST && at->a->type->kind == K_POINTER)
        at = at->a;
    if (at->kind == E_ADDRESS && !offset) {
        e = view_whole(c, at, type, place);
        if (e)
            return e;
    }
    e = view_parameter(c, at, offset, type, place);
    if (e)
        return e;
    if (at->kind == E_ADDRESS && at->a->kind == E_INDEX) {
        array = at->a->a;
        index = at->a->b;
    } else if (at->kind == E_DECAY) {
        array = at->a;
        index = wmi_c_integer(c, 0, wmi_c_basic(c, K_INT), place);
    } else {
        return NULL;
    }
    symbol = wmi_c_root(array);
    if (!symbol || symbol->storage != ST_AUTO || symbol->kind != SYM_VARIABLE || !wmi_c_is_scalar(array->type->base) ||
        !is_made_of(type, array->type->base->plain))
        return NULL;
    if (offset)
        index = wmi_c_binary(c, '+', index, wmi_c_binary(c, '*', offset, wmi_c_integer(c, type->size / array->type->base->size, wmi_c_basic(c, K_INT), place), place), place);
    symbol->address_taken--;
    e = wmi_c_make(c, E_VIEW, array->type->base->is_const ? wmi_c_const(c, type) : type, place);
    e->a = element(c, array, index, place);
    e->is_lvalue = 1;
    return e;
}

static struct expr *deref(struct compile *c, struct expr *pointer, struct place place)
{
    struct expr *e;

    pointer = wmi_c_rvalue(c, pointer);
    if (pointer->type->kind != K_POINTER)
        wmi_c_fail(c, WM_E_SYNTAX, place, "%s is not a pointer", wmi_c_type_name(c, pointer->type));
    if (pointer->type->base->size == 0)
        wmi_c_fail(c, WM_E_SYNTAX, place, "access to %s", wmi_c_type_name(c, pointer->type->base));
    if (pointer->kind == E_ADDRESS) {
        struct symbol *symbol = wmi_c_root(pointer->a);

        if (symbol)
            symbol->address_taken--;
        return pointer->a;
    }
    e = view(c, pointer, place);
    if (e)
        return e;
    e = wmi_c_make(c, E_DEREF, pointer->type->base, place);
    e->a = pointer;
    e->is_lvalue = 1;
    count_deref(c, pointer);
    return e;
}

static struct expr *subscript(struct compile *c, struct expr *a, struct expr *b, struct place place)
{
    if (a->type->kind != K_ARRAY)
        return deref(c, wmi_c_binary(c, '+', a, b, place), place);
    if (!a->is_lvalue)
        wmi_c_refuse(c, place, "indexing an array that is a value");
    b = wmi_c_rvalue(c, b);
    if (!wmi_c_is_integer(b->type))
        wmi_c_fail(c, WM_E_SYNTAX, place, "an index of type %s", wmi_c_type_name(c, b->type));
    return element(c, a, b, place);
}

static struct expr *member(struct compile *c, struct expr *a, struct place place)
{
    const struct token *token = wmi_c_now(c);
    const struct record *record;
    struct expr *e;

    if (a->type->kind != K_RECORD)
        wmi_c_fail(c, WM_E_SYNTAX, place, "%s has no members", wmi_c_type_name(c, a->type));
    if (token->kind != T_NAME)
        wmi_c_unexpected(c, "the name of a member");
    record = a->type->record;
    wmi_c_advance(c);
    for (uint32_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];

        if (field->name != token->name)
            continue;
        e = wmi_c_make(c, E_MEMBER, a->type->is_const ? wmi_c_const(c, field->type) : field->type, place);
        e->a = a;
        e->field = field;
        e->is_lvalue = a->is_lvalue;
        return e;
    }
    if (wmi_c_is(c, '('))
        wmi_c_refuse(c, token->place, "the member function %s", token->name->text);
    wmi_c_fail(c, WM_E_SYNTAX, token->place, "%s has no member %s", record->name, token->name->text);
}

static struct expr **call_arguments(struct compile *c, uint32_t *n)
{
    struct expr **args = wmi_c_take(c, WMI_MAX_ARGUMENTS * sizeof(struct expr *));
    const int no_greater = c->no_greater;

    *n = 0;
    c->no_greater = 0;
    wmi_c_expect(c, '(', "before arguments");
    while (!wmi_c_take_punct(c, ')')) {
        if (*n >= WMI_MAX_ARGUMENTS)
            wmi_c_fail(c, WM_E_RANGE, wmi_c_now(c)->place, "more than %u arguments", WMI_MAX_ARGUMENTS);
        args[(*n)++] = wmi_c_assignment(c);
        if (!wmi_c_take_punct(c, ',') && !wmi_c_is(c, ')'))
            wmi_c_unexpected(c, "',' or ')'");
    }
    c->no_greater = no_greater;
    return args;
}

/* A pointer that the function only looks through: what it points to here need not be in memory for that. */
static void look_through(struct compile *c, const struct symbol *parameter, struct expr *arg)
{
    const struct type *of = parameter->type->base;
    struct expr *index = NULL;
    struct symbol *symbol;

    if (!parameter->is_transparent)
        return;
    while (arg->kind == E_CAST && arg->a->type->kind == K_POINTER && wmi_c_same(arg->a->type->base->plain, of->plain))
        arg = arg->a;
    symbol = parameter_of(arg, &index);
    if (symbol) {
        symbol->derefs++;
    } else {
        if (arg->kind == E_BINARY) {
            index = arg->b;
            arg = arg->a;
        }
        if (arg->kind != E_DECAY && arg->kind != E_ADDRESS)
            return;
        symbol = wmi_c_root(arg->a);
        if (!symbol || symbol->storage != ST_AUTO || symbol->kind != SYM_VARIABLE || !wmi_c_same(arg->type->base->plain, of->plain))
            return;
        symbol->address_taken--;
    }
    if (index)
        add_index_use(c, symbol, index);
    if (parameter->has_unknown_index)
        add_index_use(c, symbol, NULL);
}

struct expr *wmi_c_call_of(struct compile *c, struct instance *instance, struct expr **args, uint32_t n, struct place place)
{
    struct expr *e = wmi_c_make(c, E_CALL, instance->result, place);
    struct expr **all = wmi_c_take(c, (instance->n_parameters + 1) * sizeof(struct expr *));

    for (uint32_t i = 0; i < instance->n_parameters; i++) {
        const struct symbol *parameter = instance->parameters[i];

        if (i >= n) {
            all[i] = parameter->initial;
        } else if (parameter->type->kind == K_REFERENCE) {
            struct symbol *root = wmi_c_root(args[i]);

            all[i] = args[i];
            if (!wmi_c_same(parameter->type->base, args[i]->type) &&
                !(args[i]->is_lvalue && wmi_c_adds_const(args[i]->type, parameter->type->base)))
                all[i] = wmi_c_convert(c, args[i], parameter->type->base->plain, "an argument");
            else if (root && parameter->in_memory)
                root->address_taken++;
            if (root && !parameter->type->base->is_const)
                root->is_assigned++;
        } else {
            all[i] = wmi_c_convert(c, args[i], parameter->type->plain, "an argument");
            if (parameter->type->kind == K_POINTER)
                look_through(c, parameter, all[i]);
        }
    }
    e->instance = instance;
    e->args = all;
    e->n_args = instance->n_parameters;
    return e;
}

/* printf is left out, and its arguments are evaluated: their loads are the kernel's. */
static struct expr *printed(struct compile *c, struct place place)
{
    struct expr *e = wmi_c_integer(c, 0, wmi_c_basic(c, K_INT), place);
    const int no_greater = c->no_greater;
    struct expr *all;

    if (c->is_strict)
        wmi_c_refuse(c, place, "printf in an expression");
    c->no_greater = 0;
    wmi_c_expect(c, '(', "before arguments");
    do {
        struct expr *comma;

        if (wmi_c_now(c)->kind == T_STRING) {
            while (wmi_c_now(c)->kind == T_STRING)
                wmi_c_advance(c);
            continue;
        }
        comma = wmi_c_make(c, E_COMMA, NULL, place);
        comma->a = e;
        comma->b = wmi_c_rvalue(c, wmi_c_assignment(c));
        comma->type = comma->b->type->plain;
        e = checked(c, comma);
    } while (wmi_c_take_punct(c, ','));
    wmi_c_expect(c, ')', "behind arguments");
    c->no_greater = no_greater;
    wmi_c_remark(c, "printf is left out: its arguments are evaluated, and nothing is printed; a real one also writes them to local memory");
    all = wmi_c_make(c, E_COMMA, wmi_c_basic(c, K_INT), place);
    all->a = e;
    all->b = wmi_c_integer(c, 0, wmi_c_basic(c, K_INT), place);
    return checked(c, all);
}

/* What cooperative_groups.h declares, where its namespace is used. */
static int is_cooperative(const char *name)
{
    static const char *const names[] = {"thread_block", "this_thread_block", "thread_block_tile", "tiled_partition",
                                        "grid_group", "this_grid", "thread_group", "coalesced_group", "coalesced_threads",
                                        "cluster_group", "this_cluster"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0)
            return 1;
    }
    return 0;
}

static struct expr *name_expression(struct compile *c)
{
    const struct token *token = wmi_c_now(c);
    struct symbol *symbol = wmi_c_find(c, token->name);
    struct template_argument *given = NULL;
    uint32_t n_given = 0;
    struct expr *e;

    wmi_c_advance(c);
    if (!symbol && strcmp(token->name->text, "printf") == 0 && wmi_c_is(c, '('))
        return printed(c, token->place);
    if (!symbol && is_cooperative(token->name->text))
        wmi_c_refuse(c, token->place, "%s (cooperative groups)", token->name->text);
    if (symbol && symbol->kind == SYM_REFUSED)
        wmi_c_fail(c, WM_E_UNSUPPORTED, token->place, "%s: %s", token->name->text, symbol->refused);
    if (symbol && symbol->kind == SYM_CONSTANT) {
        e = wmi_c_make(c, E_CONST, symbol->constant->type, token->place);
        e->value = symbol->constant->value;
        return e;
    }
    if (symbol && symbol->kind == SYM_VARIABLE) {
        e = wmi_c_make(c, E_VAR, symbol->type->kind == K_REFERENCE ? symbol->type->base : symbol->type, token->place);
        e->symbol = symbol;
        e->is_lvalue = 1;
        symbol->uses++;
        return e;
    }
    if (symbol && symbol->kind == SYM_FUNCTIONS && wmi_c_is(c, '<')) {
        int is_template = 0;

        for (const struct function *function = symbol->functions; function; function = function->next)
            is_template |= function->n_parameters > 0;
        if (is_template) {
            given = wmi_c_take(c, WMI_MAX_ARGUMENTS * sizeof *given);
            n_given = wmi_c_template_arguments(c, given);
        }
    }
    if (wmi_c_is(c, P_LAUNCH_OPEN))
        wmi_c_refuse(c, token->place, "launching a kernel from a kernel");
    if (wmi_c_is(c, '(')) {
        uint32_t n;
        struct expr **args = call_arguments(c, &n);

        if (symbol && symbol->kind == SYM_FUNCTIONS)
            return wmi_c_call_of(c, wmi_c_call(c, symbol->functions, given, n_given, args, n, token->place), args, n,
                                 token->place);
        e = wmi_c_builtin(c, token->name, args, n, token->place);
        if (e)
            return e;
        wmi_c_refuse(c, token->place, "the function %s", token->name->text);
    }
    if (symbol && symbol->kind == SYM_FUNCTIONS)
        wmi_c_refuse(c, token->place, "a pointer to a function (%s)", token->name->text);
    if (wmi_c_is(c, P_SCOPE))
        wmi_c_refuse(c, token->place, "%s::", token->name->text);
    wmi_c_fail(c, WM_E_SYNTAX, token->place, "%s is not declared", token->name->text);
}

/* A type's name where an expression may stand: float(x), float4{...}. */
static struct expr *functional_cast(struct compile *c)
{
    const struct place place = wmi_c_now(c)->place;
    struct specifiers specifiers;
    const struct type *type;
    struct expr **args;
    struct expr *e;
    uint32_t n;

    wmi_c_specifiers(c, &specifiers);
    if (specifiers.is_auto)
        wmi_c_refuse(c, place, "auto here");
    type = specifiers.type->plain;
    if (wmi_c_is(c, '{'))
        return wmi_c_initialiser(c, &type);
    if (!wmi_c_is(c, '('))
        wmi_c_unexpected(c, "'(' or '{' behind a type");
    args = call_arguments(c, &n);
    if (type->kind == K_RECORD) {
        if (n == 1 && wmi_c_same(args[0]->type, type))
            return args[0];
        if (n > type->record->n_fields)
            wmi_c_fail(c, WM_E_SYNTAX, place, "%s has %u members", type->record->name, type->record->n_fields);
        e = wmi_c_make(c, E_LIST, type, place);
        for (uint32_t i = 0; i < n; i++)
            args[i] = wmi_c_convert(c, args[i], type->record->fields[i].type, "a member");
        if (strcmp(type->record->name, "dim3") == 0) { /* what is not given is 1 */
            for (; n < 3; n++)
                args[n] = wmi_c_integer(c, 1, wmi_c_basic(c, K_UINT), place);
        }
        e->args = args;
        e->n_args = n;
        return e;
    }
    if (n > 1)
        wmi_c_fail(c, WM_E_SYNTAX, place, "%s from %u values", wmi_c_type_name(c, type), n);
    if (n == 0)
        return wmi_c_cast(c, wmi_c_integer(c, 0, wmi_c_basic(c, K_INT), place), type, place);
    return wmi_c_cast(c, args[0], type, place);
}

static struct expr *literal(struct compile *c, const struct token *token)
{
    enum type_kind kind;
    union value value;

    wmi_c_advance(c);
    if (token->kind == T_CHAR)
        return wmi_c_integer(c, wmi_c_character(c, token), wmi_c_basic(c, K_CHAR), token->place);
    if (wmi_c_number(c, token, &kind, &value))
        return wmi_c_integer(c, value.i, wmi_c_basic(c, kind), token->place);
    return floating(c, value.f, wmi_c_basic(c, kind), token->place);
}

static struct expr *named_cast(struct compile *c)
{
    const struct token *token = wmi_c_now(c);
    const struct type *type;
    struct expr *e;
    const int no_greater = c->no_greater;

    wmi_c_advance(c);
    wmi_c_expect(c, '<', "behind a cast");
    c->no_greater = 1;
    type = wmi_c_type(c);
    c->no_greater = 0;
    wmi_c_expect(c, '>', "behind the type of a cast");
    wmi_c_expect(c, '(', "before what is cast");
    e = wmi_c_expression(c);
    wmi_c_expect(c, ')', "behind what is cast");
    c->no_greater = no_greater;
    if (type->kind == K_REFERENCE) {
        /* *reinterpret_cast<T *>(&e) */
        struct expr *address = wmi_c_make(c, E_ADDRESS, wmi_c_pointer(c, e->type), token->place);

        if (!e->is_lvalue)
            wmi_c_fail(c, WM_E_SYNTAX, token->place, "a reference to a value");
        take_address(e);
        address->a = e;
        return deref(c, wmi_c_cast(c, address, wmi_c_pointer(c, type->base), token->place), token->place);
    }
    return wmi_c_cast(c, e, type, token->place);
}

static struct expr *size_of(struct compile *c)
{
    const struct token *token = wmi_c_now(c);
    const int is_align = token->name->keyword == KW_ALIGNOF;
    const struct type *type;

    wmi_c_advance(c);
    if (wmi_c_is(c, P_ELLIPSIS))
        wmi_c_refuse(c, token->place, "sizeof...");
    if (wmi_c_is(c, '(')) {
        const size_t at = c->at;

        wmi_c_advance(c);
        if (wmi_c_is_type(c)) {
            type = wmi_c_type(c);
            wmi_c_expect(c, ')', "behind sizeof");
        } else {
            c->at = at;
            type = wmi_c_unary(c)->type;
        }
    } else {
        type = wmi_c_unary(c)->type;
    }
    if (type->size == 0)
        wmi_c_fail(c, WM_E_SYNTAX, token->place, "sizeof %s", wmi_c_type_name(c, type));
    return wmi_c_integer(c, is_align ? type->align : type->size, wmi_c_basic(c, K_ULONG), token->place);
}

static struct expr *primary(struct compile *c)
{
    const struct token *token = wmi_c_now(c);
    struct expr *e;

    if (token->kind == T_NUMBER || token->kind == T_CHAR)
        return literal(c, token);
    if (token->kind == T_STRING)
        wmi_c_refuse(c, token->place, "a string");
    if (wmi_c_take_punct(c, '(')) {
        const int no_greater = c->no_greater;

        c->no_greater = 0;
        e = wmi_c_expression(c);
        c->no_greater = no_greater;
        wmi_c_expect(c, ')', "behind an expression");
        return e;
    }
    if (wmi_c_is(c, '['))
        wmi_c_refuse(c, token->place, "a lambda");
    if (wmi_c_is_type(c))
        return functional_cast(c);
    token = wmi_c_now(c);
    if (token->kind != T_NAME)
        wmi_c_unexpected(c, "an expression");
    switch (token->name->keyword) {
    case W_NO_KEYWORD: return name_expression(c);
    case KW_TRUE:
    case KW_FALSE:
        wmi_c_advance(c);
        return wmi_c_integer(c, token->name->keyword == KW_TRUE, wmi_c_basic(c, K_BOOL), token->place);
    case KW_NULLPTR:
        wmi_c_advance(c);
        return wmi_c_integer(c, 0, wmi_c_pointer(c, wmi_c_basic(c, K_VOID)), token->place);
    case KW_STATIC_CAST:
    case KW_REINTERPRET_CAST:
    case KW_CONST_CAST: return named_cast(c);
    case KW_ASM: wmi_c_refuse(c, token->place, "inline PTX (%s)", token->name->text);
    case KW_NEW:
    case KW_DELETE:
    case KW_THROW:
    case KW_THIS:
    case KW_DYNAMIC_CAST: wmi_c_refuse(c, token->place, "%s", token->name->text);
    default: wmi_c_unexpected(c, "an expression");
    }
}

static struct expr *step_of(struct compile *c, struct expr *a, int op, int is_post, struct place place)
{
    struct expr *e = wmi_c_make(c, E_STEP, a->type->plain, place);

    check_assignable(c, a, place);
    if (!wmi_c_is_scalar(a->type) || a->type->kind == K_BOOL)
        wmi_c_fail(c, WM_E_SYNTAX, place, "++ or -- on %s", wmi_c_type_name(c, a->type));
    if (a->type->kind == K_POINTER)
        check_step(c, a->type, place);
    e->op = op == P_INC ? '+' : '-';
    e->is_post = (uint8_t)is_post;
    e->a = a;
    e->is_lvalue = 0;
    return e;
}

static struct expr *postfix(struct compile *c)
{
    struct expr *e = primary(c);

    for (;; checked(c, e)) {
        const struct place place = wmi_c_now(c)->place;

        if (wmi_c_take_punct(c, '[')) {
            const int no_greater = c->no_greater;
            struct expr *index;

            c->no_greater = 0;
            index = wmi_c_expression(c);
            c->no_greater = no_greater;
            wmi_c_expect(c, ']', "behind an index");
            e = subscript(c, e, index, place);
        } else if (wmi_c_take_punct(c, '.')) {
            e = member(c, e, place);
        } else if (wmi_c_take_punct(c, P_ARROW)) {
            e = member(c, deref(c, e, place), place);
        } else if (wmi_c_take_punct(c, P_INC)) {
            e = step_of(c, e, P_INC, 1, place);
        } else if (wmi_c_take_punct(c, P_DEC)) {
            e = step_of(c, e, P_DEC, 1, place);
        } else {
            return e;
        }
    }
}

static struct expr *sign(struct compile *c, int op, struct expr *a, struct place place)
{
    const struct type *type;
    struct expr *e;

    if (a->type->kind == K_RECORD) {
        const char text[2] = {(char)op, '\0'};
        struct expr **args = wmi_c_take(c, sizeof(struct expr *));

        args[0] = a;
        e = operator_call(c, text, args, 1, place);
        if (e)
            return e;
    }
    a = wmi_c_rvalue(c, a);
    if (!wmi_c_is_arithmetic(a->type) || (op == '~' && !wmi_c_is_integer(a->type)))
        wmi_c_fail(c, WM_E_SYNTAX, place, "%c does not take %s", op, wmi_c_type_name(c, a->type));
    type = promoted(c, a->type);
    a = cast_to(c, a, type, place);
    if (op == '+')
        return a;
    if (a->kind == E_CONST && wmi_c_is_floating(type))
        return floating(c, -a->value.f, type, place);
    if (a->kind == E_CONST)
        return wmi_c_integer(c, op == '-' ? 0 - a->value.i : ~a->value.i, type, place);
    e = wmi_c_make(c, op == '-' ? E_NEG : E_COMPLEMENT, type, place);
    e->a = a;
    return e;
}

static struct expr *unary_inner(struct compile *c)
{
    const struct token *token = wmi_c_now(c);
    const struct place place = token->place;
    struct expr *e;
    struct expr *a;

    if (token->kind == T_NAME && (token->name->keyword == KW_SIZEOF || token->name->keyword == KW_ALIGNOF))
        return size_of(c);
    if (token->kind != T_PUNCT)
        return postfix(c);
    switch (token->punct) {
    case '(': {
        const size_t at = c->at;

        wmi_c_advance(c);
        if (wmi_c_is_type(c)) {
            const struct type *type;
            const int no_greater = c->no_greater;

            c->no_greater = 0;
            type = wmi_c_type(c);
            c->no_greater = no_greater;
            wmi_c_expect(c, ')', "behind the type of a cast");
            if (wmi_c_is(c, '{'))
                wmi_c_refuse(c, place, "a compound literal");
            if (type->kind == K_REFERENCE)
                wmi_c_refuse(c, place, "a cast to a reference");
            return wmi_c_cast(c, wmi_c_unary(c), type, place);
        }
        c->at = at;
        return postfix(c);
    }
    case P_INC:
    case P_DEC:
        wmi_c_advance(c);
        return step_of(c, wmi_c_unary(c), token->punct, 0, place);
    case '*':
        wmi_c_advance(c);
        return deref(c, wmi_c_unary(c), place);
    case '&':
        wmi_c_advance(c);
        a = wmi_c_unary(c);
        if (!a->is_lvalue)
            wmi_c_fail(c, WM_E_SYNTAX, place, "the address of a value");
        take_address(a);
        if (a->kind == E_DEREF) {
            struct expr *index;
            struct symbol *symbol = parameter_of(a->a, &index);

            if (symbol)
                symbol->derefs--;
            return a->a;
        }
        e = wmi_c_make(c, E_ADDRESS, wmi_c_pointer(c, a->type), place);
        e->a = a;
        return e;
    case '+':
    case '-':
    case '~':
        wmi_c_advance(c);
        return sign(c, token->punct, wmi_c_unary(c), place);
    case '!':
        wmi_c_advance(c);
        a = wmi_c_condition(c, wmi_c_unary(c));
        if (a->kind == E_CONST)
            return wmi_c_integer(c, !a->value.i, a->type, place);
        e = wmi_c_make(c, E_NOT, a->type, place);
        e->a = a;
        return e;
    default: return postfix(c);
    }
}

struct expr *wmi_c_unary(struct compile *c)
{
    struct expr *e;

    wmi_c_enter(c, wmi_c_now(c)->place);
    e = unary_inner(c);
    wmi_c_leave(c);
    return checked(c, e);
}

static int rank_of(const struct compile *c)
{
    const struct token *token = wmi_c_now(c);

    if (token->kind != T_PUNCT || (c->no_greater && (token->punct == '>' || token->punct == P_SHR)))
        return 0;
    return wmi_c_rank(token->punct);
}

static struct expr *logical(struct compile *c, int op, struct expr *a, struct expr *b, struct place place)
{
    const struct type *type = wmi_c_basic(c, K_BOOL);
    struct expr *e;

    a = wmi_c_condition(c, a);
    b = wmi_c_condition(c, b);
    if (a->kind == E_CONST && (a->value.i != 0) == (op == P_OR))
        return wmi_c_integer(c, op == P_OR, type, place);
    if (a->kind == E_CONST)
        return b;
    e = wmi_c_make(c, op == P_OR ? E_OR : E_AND, type, place);
    e->a = a;
    e->b = b;
    return e;
}

static struct expr *binary_from(struct compile *c, int lowest)
{
    struct expr *left = wmi_c_unary(c);

    for (int rank = rank_of(c); rank && rank >= lowest; rank = rank_of(c)) {
        const struct token *token = wmi_c_now(c);
        struct expr *right;

        wmi_c_advance(c);
        wmi_c_enter(c, token->place);
        right = binary_from(c, rank + 1);
        wmi_c_leave(c);
        left = rank <= 2 ? logical(c, token->punct, left, right, token->place)
                         : wmi_c_binary(c, token->punct, left, right, token->place);
        checked(c, left);
    }
    return left;
}

static struct expr *choose(struct compile *c, struct expr *a, struct expr *yes, struct expr *no, struct place place)
{
    struct expr *e;
    const struct type *type;

    a = wmi_c_condition(c, a);
    yes = wmi_c_rvalue(c, yes);
    no = wmi_c_rvalue(c, no);
    if (wmi_c_is_arithmetic(yes->type) && wmi_c_is_arithmetic(no->type)) {
        type = wmi_c_same(yes->type, no->type) ? yes->type->plain : common_type(c, yes, no, place);
    } else if (wmi_c_same(yes->type, no->type)) {
        type = yes->type->plain;
    } else if (yes->type->kind == K_POINTER && (wmi_c_is_null(no) || wmi_c_conversion(no, yes->type))) {
        type = yes->type->plain;
    } else if (no->type->kind == K_POINTER && (wmi_c_is_null(yes) || wmi_c_conversion(yes, no->type))) {
        type = no->type->plain;
    } else {
        bad_operands(c, yes, no, place);
    }
    if (type->kind != K_VOID) {
        yes = wmi_c_convert(c, yes, type, "a value");
        no = wmi_c_convert(c, no, type, "a value");
    }
    if (a->kind == E_CONST)
        return a->value.i ? yes : no;
    e = wmi_c_make(c, E_COND, type, place);
    e->a = a;
    e->b = yes;
    e->c = no;
    return e;
}

struct expr *wmi_c_conditional(struct compile *c)
{
    struct expr *e = binary_from(c, 1);
    const struct place place = wmi_c_now(c)->place;
    struct expr *yes;

    if (!wmi_c_take_punct(c, '?'))
        return e;
    wmi_c_enter(c, place);
    yes = wmi_c_expression(c);
    wmi_c_expect(c, ':', "behind '?'");
    e = choose(c, e, yes, wmi_c_assignment(c), place);
    wmi_c_leave(c);
    return e;
}

static int operator_of(int punct)
{
    switch (punct) {
    case P_ADD_TO: return '+';
    case P_SUB_TO: return '-';
    case P_MUL_TO: return '*';
    case P_DIV_TO: return '/';
    case P_REM_TO: return '%';
    case P_AND_TO: return '&';
    case P_OR_TO: return '|';
    case P_XOR_TO: return '^';
    case P_SHL_TO: return P_SHL;
    case P_SHR_TO: return P_SHR;
    default: return 0;
    }
}

struct expr *wmi_c_assignment(struct compile *c)
{
    struct expr *e;
    const struct token *token;

    wmi_c_enter(c, wmi_c_now(c)->place);
    e = wmi_c_conditional(c);
    token = wmi_c_now(c);
    if (wmi_c_take_punct(c, '=')) {
        if (wmi_c_is(c, '{')) {
            const struct type *type = e->type->plain;

            e = wmi_c_assign(c, e, wmi_c_initialiser(c, &type), token->place);
        } else {
            e = wmi_c_assign(c, e, wmi_c_assignment(c), token->place);
        }
    } else if (token->kind == T_PUNCT && operator_of(token->punct)) {
        wmi_c_advance(c);
        e = assign_op(c, operator_of(token->punct), e, wmi_c_assignment(c), token->place);
    }
    wmi_c_leave(c);
    return e;
}

struct expr *wmi_c_expression(struct compile *c)
{
    struct expr *e = wmi_c_assignment(c);

    while (wmi_c_is(c, ',')) {
        struct expr *comma = wmi_c_make(c, E_COMMA, NULL, wmi_c_now(c)->place);

        wmi_c_advance(c);
        wmi_c_unused(e);
        comma->a = e;
        comma->b = wmi_c_rvalue(c, wmi_c_assignment(c));
        comma->type = comma->b->type->plain;
        e = checked(c, comma);
    }
    return e;
}

int64_t wmi_c_constant_integer(struct compile *c, const char *what)
{
    const struct place place = wmi_c_now(c)->place;
    const struct expr *e = wmi_c_rvalue(c, wmi_c_conditional(c));

    if (e->kind != E_CONST || !wmi_c_is_integer(e->type))
        wmi_c_fail(c, WM_E_SYNTAX, place, "%s must be an integer that is known when compiling", what);
    if (!wmi_c_is_signed(e->type) && e->value.i > INT64_MAX)
        wmi_c_fail(c, WM_E_RANGE, place, "%s is too large", what);
    return (int64_t)e->value.i;
}

/* ---------------------------------------------------------------------------------------------------------- initialisers */

static struct expr *list_of(struct compile *c, const struct type **type, struct expr **pending, int in_braces);

/* One element: a list in braces, a list without them, or a value. */
static struct expr *element_of(struct compile *c, const struct type *type, struct expr **pending)
{
    if (!*pending && wmi_c_is(c, '{')) {
        wmi_c_advance(c);
        return list_of(c, &type, pending, 1);
    }
    if (type->kind == K_ARRAY)
        return list_of(c, &type, pending, 0);
    if (!*pending)
        *pending = wmi_c_assignment(c);
    if (type->kind == K_RECORD && !wmi_c_same(type, (*pending)->type))
        return list_of(c, &type, pending, 0);
    {
        struct expr *e = wmi_c_convert(c, *pending, type->plain, "a value");

        *pending = NULL;
        return e;
    }
}

/* The elements of an aggregate, behind its '{' if in_braces; *type's length is filled in where it is open. */
static struct expr *list_of(struct compile *c, const struct type **type, struct expr **pending, int in_braces)
{
    const struct type *of = *type;
    struct expr *e = wmi_c_make(c, E_LIST, of->plain, wmi_c_now(c)->place);
    size_t room = 0;
    const int is_array = of->kind == K_ARRAY;
    const uint64_t most = is_array ? (of->count ? of->count : UINT32_MAX) : of->kind == K_RECORD ? of->record->n_fields : 1;

    wmi_c_enter(c, e->place);
    while (*pending || !in_braces || !wmi_c_is(c, '}')) {
        const struct type *element;

        if (e->n_args >= most) {
            if (!in_braces)
                break;
            wmi_c_fail(c, WM_E_SYNTAX, wmi_c_now(c)->place, "more values than %s has", wmi_c_type_name(c, of));
        }
        if (!*pending && wmi_c_is(c, '.'))
            wmi_c_refuse(c, wmi_c_now(c)->place, "a designated initialiser");
        element = is_array ? of->base : of->kind == K_RECORD ? of->record->fields[e->n_args].type : of;
        e->args = wmi_c_grow(c, e->args, e->n_args, &room, sizeof *e->args);
        e->args[e->n_args] = element_of(c, element, pending);
        e->n_args++;
        if (!in_braces && e->n_args >= most)
            break;
        if (!wmi_c_is(c, ','))
            break;
        if (!in_braces && wmi_c_ahead(c, 1)->kind == T_PUNCT && wmi_c_ahead(c, 1)->punct == '}')
            break;
        wmi_c_advance(c);
    }
    if (in_braces)
        wmi_c_expect(c, '}', "behind values");
    if (is_array && !of->count) {
        if (!e->n_args)
            wmi_c_fail(c, WM_E_SYNTAX, e->place, "an array of no elements");
        *type = wmi_c_array(c, of->base, e->n_args, e->place);
        e->type = *type;
    }
    wmi_c_leave(c);
    if (of->kind != K_ARRAY && of->kind != K_RECORD)
        return e->n_args ? e->args[0] : wmi_c_cast(c, wmi_c_integer(c, 0, wmi_c_basic(c, K_INT), e->place), of, e->place);
    return e;
}

struct expr *wmi_c_initialiser(struct compile *c, const struct type **type)
{
    struct expr *pending = NULL;
    const int has_sign = wmi_c_take_punct(c, '=');
    struct expr *e;

    if (wmi_c_is(c, '{')) {
        if (!*type)
            wmi_c_refuse(c, wmi_c_now(c)->place, "auto from a list");
        if ((*type)->kind == K_REFERENCE || (*type)->kind == K_VOID || ((*type)->kind == K_RECORD && !(*type)->record->is_complete))
            wmi_c_fail(c, WM_E_SYNTAX, wmi_c_now(c)->place, "%s from a list", wmi_c_type_name(c, *type));
        wmi_c_advance(c);
        e = list_of(c, type, &pending, 1);
        /* float4 v = {w}, where w is one, copies it */
        if (e->kind == E_LIST && e->n_args == 1 && e->type->kind == K_RECORD && wmi_c_same(e->args[0]->type, e->type))
            return e->args[0];
        return e;
    }
    if (!has_sign)
        wmi_c_unexpected(c, "'=' or '{'");
    if (*type && (*type)->kind == K_ARRAY)
        wmi_c_refuse(c, wmi_c_now(c)->place, "this initialiser of an array");
    e = wmi_c_assignment(c);
    if (!*type) {
        e = wmi_c_rvalue(c, e);
        *type = e->type->plain;
        return e;
    }
    if ((*type)->kind == K_REFERENCE)
        return e;
    return wmi_c_convert(c, e, *type, "a value");
}
