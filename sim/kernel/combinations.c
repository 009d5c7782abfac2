/*
 * Expressions that are given by themselves, with what they use, in place of a kernel's source.
 *
 * Each text is compiled as it stands, as a file of its own: so its mistakes are found where its author sees them. Together
 * they make a kernel whose statements are the expressions and whose parameters are the pointers and what takes several
 * values; each combination of values is then run as a block of a kernel is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"

#define MOST_COMBINATIONS 65536u
#define MOST_WARPS 131072u

/* Steps of all warps together, and of one at least: some seconds. */
#define ALL_STEPS UINT64_C(200000000)
#define LEAST_STEPS UINT64_C(2000)

/* "--decl", or of several "--decl 2". */
static const char *piece_name(struct compile *c, const char *what, size_t index, size_t n)
{
    return n > 1 ? wmi_c_text(c, "%s %zu", what, index + 1) : what;
}

static void check_end(struct compile *c)
{
    if (wmi_c_now(c)->kind != T_END)
        wmi_c_unexpected(c, "the end");
}

/* ---------------------------------------------------------------------------------------------------------------- values */

static uint64_t values_of(struct compile *c, int64_t from, int64_t to, int64_t step, struct place place)
{
    const uint64_t stride = step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
    const uint64_t distance = step < 0 ? (uint64_t)from - (uint64_t)to : (uint64_t)to - (uint64_t)from;

    if (step == 0)
        wmi_c_fail(c, WM_E_RANGE, place, "a step of 0");
    if (step < 0 ? from <= to : from >= to)
        wmi_c_fail(c, WM_E_RANGE, place, "there is no value from %" PRId64 " to %" PRId64 ", which is not one of them",
                   from, to);
    return (distance - 1) / stride + 1;
}

/* Value number of a range. What is between may be beyond 63 bits, the value is not. */
static int64_t value_at(const struct sweep *sweep, uint64_t number)
{
    return (int64_t)((uint64_t)sweep->from + number * (uint64_t)sweep->step);
}

/* Behind the ':' of NAME=FROM:TO[:STEP]. */
static void let_range(struct wmi_run *run, const struct token *name, const struct expr *from, struct place place)
{
    struct compile *c = &run->c;
    struct sweep *sweep = &run->sweeps[run->n_sweeps++];
    const int64_t first = (int64_t)from->value.i;
    int is_int;
    int64_t last;
    int64_t to;

    sweep->from = first;
    sweep->step = 1;
    to = wmi_c_constant_integer(c, "the end of a range");
    if (wmi_c_take_punct(c, ':'))
        sweep->step = wmi_c_constant_integer(c, "the step of a range");
    sweep->count = values_of(c, first, to, sweep->step, place);
    if (sweep->count > MOST_COMBINATIONS / run->combinations)
        wmi_c_fail(c, WM_E_RANGE, place, "more than %u combinations of values", MOST_COMBINATIONS);
    run->combinations *= sweep->count;
    last = value_at(sweep, sweep->count - 1);
    is_int = first >= INT32_MIN && first <= INT32_MAX && last >= INT32_MIN && last <= INT32_MAX;
    sweep->symbol = wmi_c_declare(c, SYM_VARIABLE, name->name, name->place);
    sweep->symbol->type = wmi_c_const(c, wmi_c_basic(c, is_int ? K_INT : K_LONG));
    sweep->symbol->is_parameter = 1;
}

/* Whether a division by a constant 0 keeps an expression from being one. */
static int divides_by_zero(const struct expr *e)
{
    if (!e)
        return 0;
    if (e->kind == E_BINARY && (e->op == '/' || e->op == '%') && e->b->kind == E_CONST &&
        wmi_c_is_integer(e->b->type) && e->b->value.i == 0)
        return 1;
    return divides_by_zero(e->a) || divides_by_zero(e->b) || divides_by_zero(e->c);
}

static void let(struct wmi_run *run, const char *piece, const char *text)
{
    struct compile *c = &run->c;
    const struct token *name;
    struct symbol *symbol;
    struct place place;
    struct expr *e;

    wmi_c_piece(c, piece, text, 0);
    name = wmi_c_now(c);
    if (name->kind != T_NAME || name->name->keyword)
        wmi_c_unexpected(c, "a name, as in NAME=VALUE");
    wmi_c_advance(c);
    wmi_c_expect(c, '=', "behind the name");
    place = wmi_c_now(c)->place;
    e = wmi_c_rvalue(c, wmi_c_conditional(c));
    if (e->kind != E_CONST && divides_by_zero(e))
        wmi_c_fail(c, WM_E_RANGE, place, "division by zero");
    if (e->kind != E_CONST || !wmi_c_is_arithmetic(e->type))
        wmi_c_fail(c, WM_E_SYNTAX, place, "expected a number, or a constant expression that makes one");
    if (wmi_c_is(c, ':')) {
        if (!wmi_c_is_integer(e->type))
            wmi_c_fail(c, WM_E_SYNTAX, place, "a range begins with an integer");
        wmi_c_advance(c);
        let_range(run, name, e, place);
    } else {
        symbol = wmi_c_declare(c, SYM_CONSTANT, name->name, name->place);
        symbol->type = e->type;
        symbol->constant = e;
    }
    check_end(c);
}

/* ----------------------------------------------------------------------------------------------------------- expressions */

/* A value to store: zero. */
static struct expr *zero_of(struct compile *c, const struct type *type, struct place place)
{
    if (type->kind == K_RECORD)
        return wmi_c_make(c, E_LIST, type->plain, place);
    return wmi_c_cast(c, wmi_c_integer(c, 0, wmi_c_basic(c, K_INT), place), type->plain, place);
}

static int is_change(const struct expr *e)
{
    return e->kind == E_ASSIGN || e->kind == E_ASSIGN_OP || e->kind == E_STEP || e->kind == E_CALL ||
           e->kind == E_BUILTIN;
}

static struct stmt *expression(struct compile *c, const char *piece, const struct wm_expression *input)
{
    struct stmt *s = wmi_c_take(c, sizeof *s);
    struct expr *e;

    wmi_c_piece(c, piece, input->text, 0);
    s->kind = S_EXPR;
    s->place = wmi_c_now(c)->place;
    e = wmi_c_expression(c);
    check_end(c);
    if (e->type->kind == K_ARRAY)
        wmi_c_fail(c, WM_E_SYNTAX, s->place, "this is an array (%s): an index is missing", wmi_c_type_name(c, e->type));
    if (input->is_store && e->is_lvalue)
        e = wmi_c_assign(c, e, zero_of(c, e->type, s->place), s->place);
    else if (input->is_store && !is_change(e))
        wmi_c_fail(c, WM_E_SYNTAX, s->place, "nothing can be stored in a value");
    wmi_c_unused(e);
    s->a = e;
    return s;
}

static struct instance *kernel_of(struct compile *c)
{
    struct instance *kernel = wmi_c_take(c, sizeof *kernel);

    kernel->function = wmi_c_take(c, sizeof *kernel->function);
    kernel->function->name = wmi_c_name_of(c, "expression");
    kernel->function->place = (struct place){1, 1, 1};
    kernel->function->is_kernel = 1;
    kernel->result = wmi_c_basic(c, K_VOID);
    kernel->is_parsed = 1;
    return kernel;
}

struct instance *wmi_x_expressions(struct wmi_run *run, const struct wm_expressions *input)
{
    struct compile *c = &run->c;
    struct instance *kernel = kernel_of(c);
    struct stmt **end = &kernel->body;

    if (input->n_declarations + input->n_lets + input->n_expressions > WMI_MAX_PIECES)
        wmi_c_fail(c, WM_E_RANGE, (struct place){1, 0, 0}, "more than %u declarations, values and expressions",
                   WMI_MAX_PIECES);
    run->is_quiet = 1;
    run->combinations = 1;
    run->sweeps = wmi_c_take(c, (input->n_lets + 1) * sizeof *run->sweeps);
    c->is_strict = 1;
    for (size_t i = 0; i < input->n_lets; i++)
        let(run, piece_name(c, "--let", i, input->n_lets), input->lets[i]);
    for (size_t i = 0; i < input->n_declarations; i++) {
        wmi_c_piece(c, piece_name(c, "--decl", i, input->n_declarations), input->declarations[i], 1);
        wmi_c_file(c);
    }
    c->scope = wmi_c_take(c, sizeof *c->scope);
    c->scope->outer = c->file_scope;
    c->instance = kernel;
    for (size_t i = 0; i < input->n_expressions; i++) {
        *end = expression(c, piece_name(c, "expression", i, input->n_expressions), &input->expressions[i]);
        end = &(*end)->next;
    }
    kernel->parameters = wmi_c_take(c, (c->n_pointers + run->n_sweeps + 1) * sizeof *kernel->parameters);
    for (uint32_t i = 0; i < c->n_pointers; i++)
        kernel->parameters[kernel->n_parameters++] = c->pointers[i];
    for (uint32_t i = 0; i < run->n_sweeps; i++)
        kernel->parameters[kernel->n_parameters++] = run->sweeps[i].symbol;
    wmi_c_settle(c, kernel);
    return kernel;
}

/* --------------------------------------------------------------------------------------------------------- combinations */

/* The value of sweep number index in a combination: the last is the fastest. */
static int64_t value_in(const struct wmi_run *run, uint32_t index, uint64_t number)
{
    for (uint32_t i = run->n_sweeps - 1; i > index; i--)
        number /= run->sweeps[i].count;
    return value_at(&run->sweeps[index], number % run->sweeps[index].count);
}

static const char *name_of(struct wmi_run *run, uint64_t number)
{
    char text[512];
    size_t length = (size_t)snprintf(text, sizeof text, "expression(");

    for (uint32_t i = 0; i < run->n_sweeps && length < sizeof text - 120; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%.60s=%" PRId64, i ? ", " : "",
                                   run->sweeps[i].symbol->name->text, value_in(run, i, number));
    return wmi_c_text(&run->c, "%s)", text);
}

void wmi_x_combinations(struct wmi_run *run)
{
    struct compile *c = &run->c;
    const uint64_t warps = run->combinations * run->n_warps;

    if (warps > MOST_WARPS)
        wmi_c_fail(c, WM_E_RANGE, (struct place){1, 0, 0},
                   "%" PRIu64 " combinations of values, of %u warps each: more than %u in all", run->combinations,
                   run->n_warps, MOST_WARPS);
    if (!c->launch->max_steps)
        run->max_steps = ALL_STEPS / warps > LEAST_STEPS ? ALL_STEPS / warps : LEAST_STEPS;
    run->grid_blocks = run->selected = run->combinations;
    if (!run->n_sweeps)
        return;
    run->kernels = wmi_c_take(c, (size_t)run->combinations * sizeof *run->kernels);
    for (uint64_t i = 0; i < run->combinations; i++) {
        run->kernels[i] = run->kernel;
        run->kernels[i].name = name_of(run, i);
        run->kernels[i].launch = i;
    }
}

void wmi_x_combine(struct wmi_run *run, uint64_t number)
{
    const uint32_t first = run->program.n_parameters - run->n_sweeps; /* each parameter is one scalar */

    for (uint32_t i = 0; i < run->n_sweeps; i++)
        run->parameters[first + i] = (uint64_t)value_in(run, i, number);
    memset(run->block, 0, sizeof run->block);
    if (run->kernels)
        run->kernel_now = &run->kernels[number];
}
