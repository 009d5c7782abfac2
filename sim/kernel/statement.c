/* Statements, and where the variables of a function live. */
#include <string.h>

#include "compile.h"

static struct stmt *statement(struct compile *c);

static struct stmt *make(struct compile *c, enum stmt_kind kind, struct place place)
{
    struct stmt *s = wmi_c_take(c, sizeof *s);

    s->kind = kind;
    s->place = place;
    return s;
}

static void open_scope(struct compile *c)
{
    struct scope *scope = wmi_c_take(c, sizeof *scope);

    scope->outer = c->scope;
    c->scope = scope;
}

static void close_scope(struct compile *c)
{
    c->scope = c->scope->outer;
}

/* --------------------------------------------------------------------------------------------------------- declarations */

static struct symbol *declare_local(struct compile *c, const struct specifiers *specifiers, const struct type *type,
                                    struct name *name, struct place place)
{
    struct symbol *symbol = wmi_c_declare(c, SYM_VARIABLE, name, place);

    symbol->type = type;
    if (specifiers->is_shared)
        symbol->storage = specifiers->is_extern ? ST_SHARED_EXTERN : ST_SHARED;
    else if (specifiers->is_constant || specifiers->is_device || specifiers->is_global)
        wmi_c_refuse(c, place, "this kind of variable inside a function");
    if (symbol->storage == ST_AUTO) {
        symbol->next_variable = c->instance->variables;
        c->instance->variables = symbol;
    } else {
        symbol->next_variable = c->file_variables;
        c->file_variables = symbol;
    }
    if (symbol->storage != ST_AUTO)
        symbol->written = wmi_c_written(c, specifiers, type);
    symbol->type = wmi_c_aligned(c, type, specifiers->align);
    return symbol;
}

static struct stmt *declare_one(struct compile *c, const struct specifiers *specifiers)
{
    struct place place = wmi_c_now(c)->place;
    struct name *name;
    const struct type *type = NULL;
    struct expr *initial = NULL;
    struct symbol *symbol;
    struct stmt *s;

    if (specifiers->is_auto) {
        while (wmi_c_take_word(c, KW_CONST) || wmi_c_take_punct(c, '*'))
            ;
        if (wmi_c_is(c, '&'))
            wmi_c_refuse(c, place, "auto &");
        name = wmi_c_now(c)->name;
        place = wmi_c_now(c)->place;
        if (wmi_c_now(c)->kind != T_NAME || name->keyword)
            wmi_c_unexpected(c, "a name");
        wmi_c_advance(c);
    } else {
        type = wmi_c_declarator(c, specifiers->type, &name, &place);
        if (!name)
            wmi_c_unexpected(c, "the name of a variable");
    }
    if (specifiers->is_typedef) {
        wmi_c_declare(c, SYM_TYPE, name, place)->type = type;
        return NULL;
    }
    if (wmi_c_is(c, '(') && type) { /* int x(3); dim3 d(1, 2); */
        struct expr *e;

        wmi_c_advance(c);
        e = wmi_c_assignment(c);
        if (!wmi_c_is(c, ')'))
            wmi_c_refuse(c, place, "this initialiser, or a function declared inside a function,");
        wmi_c_advance(c);
        initial = wmi_c_convert(c, e, type, "a value");
    } else if (wmi_c_is(c, '=') || wmi_c_is(c, '{')) {
        initial = wmi_c_initialiser(c, &type);
    }
    if (!type)
        wmi_c_fail(c, WM_E_SYNTAX, place, "auto without a value");
    if (type->kind == K_VOID || (type->kind == K_RECORD && !type->record->is_complete) ||
        (type->kind == K_ARRAY && !type->count && !specifiers->is_extern))
        wmi_c_fail(c, WM_E_SYNTAX, place, "a variable of type %s", wmi_c_type_name(c, type));
    if (type->kind == K_REFERENCE && (!initial || !initial->is_lvalue || !wmi_c_same(initial->type, type->base)))
        wmi_c_refuse(c, place, "a reference to something else than a variable of its type");
    if (specifiers->is_shared && initial)
        wmi_c_fail(c, WM_E_SYNTAX, place, "a __shared__ variable with an initialiser");
    if (specifiers->is_static && !specifiers->is_shared && !(initial && initial->kind == E_CONST && type->is_const))
        wmi_c_refuse(c, place, "a static variable inside a function");
    if (initial && initial->kind == E_CONST && type->is_const && wmi_c_is_arithmetic(type)) {
        symbol = wmi_c_declare(c, SYM_CONSTANT, name, place);
        symbol->type = type;
        symbol->constant = initial;
        return NULL;
    }
    if (specifiers->is_constexpr && type->kind != K_ARRAY && type->kind != K_RECORD)
        wmi_c_fail(c, WM_E_SYNTAX, place, "the value of %s is not known when compiling", name->text);
    symbol = declare_local(c, specifiers, type, name, place);
    if (symbol->storage != ST_AUTO)
        return NULL;
    if (type->kind == K_REFERENCE) {
        struct symbol *root = wmi_c_root(initial);

        if (root) {
            root->is_assigned++;
            if (root->type->kind == K_ARRAY || root->type->kind == K_RECORD)
                root->address_taken++;
        }
    }
    s = make(c, S_DECLARE, place);
    s->symbol = symbol;
    s->a = initial;
    return s;
}

/* Declarations up to ';', as a chain of statements. */
static struct stmt *declaration(struct compile *c)
{
    struct specifiers specifiers;
    struct stmt *first = NULL;
    struct stmt **end = &first;

    wmi_c_specifiers(c, &specifiers);
    while (!wmi_c_is(c, ';')) {
        struct stmt *s = declare_one(c, &specifiers);

        if (s) {
            *end = s;
            end = &s->next;
        }
        if (!wmi_c_take_punct(c, ','))
            break;
    }
    wmi_c_expect(c, ';', "behind a declaration");
    return first;
}

static int is_declaration(struct compile *c)
{
    const struct token *token = wmi_c_now(c);
    const struct token *next;

    if (token->kind == T_NAME) {
        switch (token->name->keyword) {
        case KW_STATIC: case KW_EXTERN: case KW_SHARED: case KW_TYPEDEF: case KW_CONSTEXPR: case KW_REGISTER: case KW_ALIGN:
        case KW_ALIGNAS: case KW_CONSTANT: case KW_DEVICE: case KW_GLOBAL: return 1;
        default: break;
        }
    }
    if (!wmi_c_is_type(c))
        return 0;
    next = wmi_c_ahead(c, 1);
    return !(next->kind == T_PUNCT && (next->punct == '(' || next->punct == '{')); /* T(x): an expression */
}

/* ----------------------------------------------------------------------------------------------------------- statements */

/* A statement that is a block of its own for names. */
static struct stmt *scoped(struct compile *c)
{
    struct stmt *s;

    open_scope(c);
    s = statement(c);
    close_scope(c);
    return s;
}

static struct expr *condition(struct compile *c)
{
    struct expr *e;

    if (is_declaration(c))
        wmi_c_refuse(c, wmi_c_now(c)->place, "a declaration in a condition");
    e = wmi_c_expression(c);
    return wmi_c_condition(c, e);
}

static void skip_statement(struct compile *c);

/* "( ... )" and a statement, or a statement alone. */
static void skip_headed(struct compile *c)
{
    wmi_c_advance(c);
    if (wmi_c_is(c, '('))
        wmi_c_skip_bracket(c);
    skip_statement(c);
}

/* Moves over a statement without looking at it. */
static void skip_statement(struct compile *c)
{
    wmi_c_enter(c, wmi_c_now(c)->place);
    if (wmi_c_is(c, '{')) {
        wmi_c_skip_bracket(c);
    } else if (wmi_c_now(c)->kind == T_UNROLL) {
        wmi_c_advance(c);
        if (wmi_c_is(c, '('))
            wmi_c_skip_bracket(c);
        skip_statement(c);
    } else if (wmi_c_is_word(c, KW_IF)) {
        wmi_c_advance(c);
        wmi_c_take_word(c, KW_CONSTEXPR);
        c->at--;
        skip_headed(c);
        if (wmi_c_is_word(c, KW_ELSE))
            skip_headed(c);
    } else if (wmi_c_is_word(c, KW_FOR) || wmi_c_is_word(c, KW_WHILE) || wmi_c_is_word(c, KW_SWITCH)) {
        skip_headed(c);
    } else {
        if (wmi_c_is_word(c, KW_DO))
            skip_headed(c);
        while (!wmi_c_is(c, ';')) {
            if (wmi_c_now(c)->kind == T_END)
                wmi_c_unexpected(c, "';'");
            if (wmi_c_is(c, '(') || wmi_c_is(c, '{') || wmi_c_is(c, '['))
                wmi_c_skip_bracket(c);
            else
                wmi_c_advance(c);
        }
        wmi_c_advance(c);
    }
    wmi_c_leave(c);
}

static struct stmt *parse_if(struct compile *c)
{
    struct stmt *s = make(c, S_IF, wmi_c_now(c)->place);
    int is_constexpr;

    wmi_c_advance(c);
    is_constexpr = wmi_c_take_word(c, KW_CONSTEXPR);
    wmi_c_expect(c, '(', "behind if");
    s->a = condition(c);
    wmi_c_expect(c, ')', "behind a condition");
    if (is_constexpr && s->a->kind != E_CONST)
        wmi_c_fail(c, WM_E_SYNTAX, s->a->place, "if constexpr needs a condition that is known when compiling");
    /* What is not taken need not even make sense for these template arguments. */
    if (is_constexpr && !s->a->value.i)
        skip_statement(c);
    else
        s->body = scoped(c);
    if (wmi_c_take_word(c, KW_ELSE)) {
        if (is_constexpr && s->a->value.i)
            skip_statement(c);
        else
            s->other = scoped(c);
    }
    return s;
}

static void loop_body(struct compile *c, struct stmt *s)
{
    c->loops++;
    s->body = scoped(c);
    c->loops--;
}

static struct stmt *parse_for(struct compile *c)
{
    struct stmt *s = make(c, S_LOOP, wmi_c_now(c)->place);

    wmi_c_advance(c);
    wmi_c_expect(c, '(', "behind for");
    open_scope(c);
    if (is_declaration(c)) {
        s->init = declaration(c);
        if (wmi_c_is(c, ':'))
            wmi_c_refuse(c, wmi_c_now(c)->place, "a range-based for");
    } else {
        if (!wmi_c_is(c, ';')) {
            s->init = make(c, S_EXPR, wmi_c_now(c)->place);
            s->init->a = wmi_c_expression(c);
            wmi_c_unused(s->init->a);
        }
        wmi_c_expect(c, ';', "in for");
    }
    if (!wmi_c_is(c, ';'))
        s->a = condition(c);
    wmi_c_expect(c, ';', "in for");
    if (!wmi_c_is(c, ')')) {
        s->b = wmi_c_expression(c);
        wmi_c_unused(s->b);
    }
    wmi_c_expect(c, ')', "in for");
    loop_body(c, s);
    close_scope(c);
    return s;
}

static struct stmt *parse_while(struct compile *c)
{
    struct stmt *s = make(c, S_LOOP, wmi_c_now(c)->place);

    wmi_c_advance(c);
    wmi_c_expect(c, '(', "behind while");
    s->a = condition(c);
    wmi_c_expect(c, ')', "behind a condition");
    loop_body(c, s);
    return s;
}

static struct stmt *parse_do(struct compile *c)
{
    struct stmt *s = make(c, S_LOOP, wmi_c_now(c)->place);

    wmi_c_advance(c);
    s->is_do = 1;
    loop_body(c, s);
    if (!wmi_c_take_word(c, KW_WHILE))
        wmi_c_unexpected(c, "while behind the body of do");
    wmi_c_expect(c, '(', "behind while");
    s->a = condition(c);
    wmi_c_expect(c, ')', "behind a condition");
    wmi_c_expect(c, ';', "behind do ... while");
    return s;
}

static struct stmt *parse_switch(struct compile *c)
{
    struct stmt *s = make(c, S_SWITCH, wmi_c_now(c)->place);
    struct stmt **end = &s->body;
    int has_label = 0;

    wmi_c_advance(c);
    wmi_c_expect(c, '(', "behind switch");
    s->a = wmi_c_rvalue(c, wmi_c_expression(c));
    if (!wmi_c_is_integer(s->a->type))
        wmi_c_fail(c, WM_E_SYNTAX, s->a->place, "switch needs an integer, not %s", wmi_c_type_name(c, s->a->type));
    s->a = wmi_c_cast(c, s->a, wmi_c_basic(c, s->a->type->size > 4 ? K_LONG : s->a->type->kind == K_UINT ? K_UINT : K_INT), s->place);
    wmi_c_expect(c, ')', "behind switch");
    wmi_c_expect(c, '{', "behind switch");
    open_scope(c);
    c->switches++;
    while (!wmi_c_take_punct(c, '}')) {
        struct stmt *part;
        const struct place place = wmi_c_now(c)->place;

        if (wmi_c_take_word(c, KW_CASE)) {
            part = make(c, S_CASE, place);
            part->value = wmi_c_wrap(s->a->type, (uint64_t)wmi_c_constant_integer(c, "a case"));
            wmi_c_expect(c, ':', "behind case");
            has_label = 1;
            for (const struct stmt *other = s->body; other; other = other->next) {
                if (other->kind == S_CASE && other->value == part->value)
                    wmi_c_fail(c, WM_E_SYNTAX, place, "this case is there twice, first in line %u", other->place.line);
            }
        } else if (wmi_c_take_word(c, KW_DEFAULT)) {
            part = make(c, S_DEFAULT, place);
            wmi_c_expect(c, ':', "behind default");
            has_label = 1;
            for (const struct stmt *other = s->body; other; other = other->next) {
                if (other->kind == S_DEFAULT)
                    wmi_c_fail(c, WM_E_SYNTAX, place, "default is there twice, first in line %u", other->place.line);
            }
        } else {
            part = statement(c);
            if (!has_label)
                wmi_c_refuse(c, place, "a statement before the first case");
        }
        *end = part;
        while (*end)
            end = &(*end)->next;
    }
    c->switches--;
    close_scope(c);
    return s;
}

static struct stmt *parse_return(struct compile *c)
{
    struct stmt *s = make(c, S_RETURN, wmi_c_now(c)->place);
    const struct type *result = c->instance->result;

    wmi_c_advance(c);
    if (!wmi_c_is(c, ';')) {
        if (wmi_c_is(c, '{')) {
            if (result->kind == K_VOID)
                wmi_c_unexpected(c, "';'");
            s->a = wmi_c_initialiser(c, &result);
        } else {
            s->a = wmi_c_expression(c);
        }
        if (result->kind == K_VOID && s->a->type->kind != K_VOID)
            wmi_c_fail(c, WM_E_SYNTAX, s->place, "%s returns void", c->instance->function->name->text);
        if (result->kind != K_VOID)
            s->a = wmi_c_convert(c, s->a, result, "a result");
    } else if (result->kind != K_VOID) {
        wmi_c_fail(c, WM_E_SYNTAX, s->place, "%s must return %s", c->instance->function->name->text, wmi_c_type_name(c, result));
    }
    wmi_c_expect(c, ';', "behind return");
    return s;
}

static struct stmt *parse_unroll(struct compile *c)
{
    const struct place place = wmi_c_now(c)->place;
    uint64_t times = UINT64_MAX;
    struct stmt *s;

    wmi_c_advance(c);
    if (wmi_c_take_punct(c, '(')) {
        const int64_t value = wmi_c_constant_integer(c, "how often to unroll");

        if (value < 1)
            wmi_c_fail(c, WM_E_RANGE, place, "#pragma unroll %lld", (long long)value);
        times = (uint64_t)value;
        wmi_c_expect(c, ')', "behind #pragma unroll");
    }
    s = statement(c);
    if (s && s->kind == S_LOOP)
        s->value = times;
    return s;
}

static struct stmt *block(struct compile *c)
{
    struct stmt *s = make(c, S_BLOCK, wmi_c_now(c)->place);
    struct stmt **end = &s->body;

    wmi_c_expect(c, '{', "before statements");
    open_scope(c);
    while (!wmi_c_take_punct(c, '}')) {
        *end = statement(c);
        while (*end)
            end = &(*end)->next;
    }
    close_scope(c);
    return s;
}

static struct stmt *leave_loop(struct compile *c, enum stmt_kind kind)
{
    struct stmt *s = make(c, kind, wmi_c_now(c)->place);

    if (!c->loops && !(kind == S_BREAK && c->switches))
        wmi_c_fail(c, WM_E_SYNTAX, s->place, "%s outside a loop", kind == S_BREAK ? "break" : "continue");
    wmi_c_advance(c);
    wmi_c_expect(c, ';', "behind break or continue");
    return s;
}

static struct stmt *statement_inner(struct compile *c)
{
    const struct token *token = wmi_c_now(c);
    struct stmt *s;

    if (token->kind == T_UNROLL)
        return parse_unroll(c);
    if (wmi_c_is(c, '{'))
        return block(c);
    if (wmi_c_take_punct(c, ';'))
        return make(c, S_BLOCK, token->place);
    if (token->kind == T_NAME) {
        switch (token->name->keyword) {
        case KW_IF: return parse_if(c);
        case KW_FOR: return parse_for(c);
        case KW_WHILE: return parse_while(c);
        case KW_DO: return parse_do(c);
        case KW_SWITCH: return parse_switch(c);
        case KW_RETURN: return parse_return(c);
        case KW_BREAK: return leave_loop(c, S_BREAK);
        case KW_CONTINUE: return leave_loop(c, S_CONTINUE);
        case KW_CASE:
        case KW_DEFAULT: wmi_c_refuse(c, token->place, "a case that does not stand directly in its switch");
        case KW_GOTO: wmi_c_refuse(c, token->place, "goto");
        case KW_ASM: return wmi_c_asm(c);
        case KW_TRY: wmi_c_refuse(c, token->place, "try");
        case KW_USING: wmi_c_using(c); return make(c, S_BLOCK, token->place);
        case KW_STATIC_ASSERT: wmi_c_static_assert(c); return make(c, S_BLOCK, token->place);
        default: break;
        }
    }
    if (is_declaration(c)) {
        s = declaration(c);
        return s ? s : make(c, S_BLOCK, token->place);
    }
    if (token->kind == T_NAME && wmi_c_ahead(c, 1)->kind == T_PUNCT && wmi_c_ahead(c, 1)->punct == ':' && !token->name->keyword)
        wmi_c_refuse(c, token->place, "a label");
    if (token->kind == T_NAME && !token->name->keyword && wmi_c_ahead(c, 1)->kind == T_NAME && !wmi_c_find(c, token->name))
        wmi_c_refuse(c, token->place, "the type %s", token->name->text);
    s = make(c, S_EXPR, token->place);
    s->a = wmi_c_expression(c);
    wmi_c_unused(s->a);
    wmi_c_expect(c, ';', "behind an expression");
    return s;
}

static struct stmt *statement(struct compile *c)
{
    struct stmt *s;

    wmi_c_enter(c, wmi_c_now(c)->place);
    s = statement_inner(c);
    wmi_c_leave(c);
    return s;
}

struct stmt *wmi_c_body(struct compile *c)
{
    return block(c);
}

/* ---------------------------------------------------------------------------------------- registers or local memory */

/* Loops without a pragma are taken to be unrolled in full up to this many rounds. */
#define UNROLLED_ROUNDS 32u

/* Whether the compiler knows the value when every loop that can be is unrolled. */
static int is_known(const struct expr *e)
{
    switch (e->kind) {
    case E_CONST: return 1;
    case E_VAR: return e->symbol->is_known;
    case E_NEG:
    case E_COMPLEMENT:
    case E_NOT:
    case E_CAST: return is_known(e->a);
    case E_BINARY:
    case E_AND:
    case E_OR: return is_known(e->a) && is_known(e->b);
    case E_COND: return is_known(e->a) && is_known(e->b) && is_known(e->c);
    default: return 0;
    }
}

static const struct expr *strip(const struct expr *e)
{
    while (e->kind == E_CAST)
        e = e->a;
    return e;
}

static int is_variable(const struct expr *e, const struct symbol *symbol)
{
    e = strip(e);
    return e->kind == E_VAR && e->symbol == symbol;
}

/* By how much the step changes the counter; 0: in another way. *known: by a value that is known. */
static int64_t step_of(const struct expr *step, const struct symbol *counter, int *known)
{
    *known = 0;
    if (step->kind == E_STEP && is_variable(step->a, counter)) {
        *known = 1;
        return step->op == '+' ? 1 : -1;
    }
    if (step->kind == E_ASSIGN_OP && is_variable(step->a, counter) && is_known(step->b)) {
        *known = 1;
        if ((step->op == '+' || step->op == '-') && step->b->kind == E_CONST && step->b->value.i < INT32_MAX)
            return step->op == '+' ? (int64_t)step->b->value.i : -(int64_t)step->b->value.i;
    }
    return 0;
}

/* How often the loop runs; 0: not known here. */
static uint64_t rounds_of(const struct stmt *s, int64_t step)
{
    const struct expr *condition = strip(s->a);
    const struct expr *start = s->init->a;
    int64_t from;
    int64_t to;
    uint64_t distance;

    if (start->kind != E_CONST || condition->b->kind != E_CONST || step == 0)
        return 0;
    from = (int64_t)start->value.i;
    to = (int64_t)condition->b->value.i;
    if (step > 0 ? from > to : from < to)
        return 1; /* none, or one that ends it */
    distance = step > 0 ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
    distance += condition->op == P_LE || condition->op == P_GE;
    return (distance + (uint64_t)(step > 0 ? step : -step) - 1) / (uint64_t)(step > 0 ? step : -step);
}

/* Marks the counter of a loop that the compiler can unroll in full. */
static void settle_loop(struct stmt *s)
{
    const struct expr *condition;
    struct symbol *counter;
    int known;
    int64_t step;
    uint64_t rounds;

    if (s->is_do || !s->init || s->init->kind != S_DECLARE || s->init->next || !s->a || !s->b || s->value == 1)
        return;
    counter = s->init->symbol;
    condition = strip(s->a);
    if (!s->init->a || !is_known(s->init->a) || !wmi_c_is_integer(counter->type) || counter->is_assigned != 1 ||
        counter->address_taken || condition->kind != E_BINARY || !is_variable(condition->a, counter) || !is_known(condition->b))
        return;
    step = step_of(s->b, counter, &known);
    if (!known)
        return;
    rounds = rounds_of(s, step);
    if (s->value == 0 && rounds > UNROLLED_ROUNDS)
        return;
    if (s->value > 1 && s->value != UINT64_MAX && rounds > s->value)
        return;
    counter->is_known = 1;
}

static void settle_list(struct stmt *s)
{
    for (; s; s = s->next) {
        switch (s->kind) {
        case S_DECLARE:
            if (s->a && !s->symbol->is_assigned && !s->symbol->address_taken && wmi_c_is_arithmetic(s->symbol->type))
                s->symbol->is_known = is_known(s->a);
            break;
        case S_LOOP:
            settle_list(s->init);
            settle_loop(s);
            settle_list(s->body);
            break;
        default:
            settle_list(s->body);
            settle_list(s->other);
            break;
        }
    }
}

void wmi_c_settle(struct compile *c, struct instance *instance)
{
    settle_list(instance->body);
    for (struct index_use *use = instance->uses; use; use = use->next) {
        if (use->index && is_known(use->index))
            continue;
        if (use->symbol->type->kind == K_POINTER)
            use->symbol->has_unknown_index = 1;
        else
            use->symbol->in_memory = 1;
    }
    for (uint32_t i = 0; i < instance->n_parameters; i++) {
        struct symbol *symbol = instance->parameters[i];

        symbol->next_variable = instance->variables;
        instance->variables = symbol;
        symbol->is_transparent = symbol->type->kind == K_POINTER && symbol->uses == symbol->derefs && !symbol->is_assigned &&
                                 !symbol->address_taken;
    }
    for (struct symbol *symbol = instance->variables; symbol; symbol = symbol->next_variable) {
        const struct type *type = symbol->type->kind == K_REFERENCE ? symbol->type->base : symbol->type;
        const int was_indexed = symbol->in_memory;

        if (symbol->address_taken || type->leaves > WMI_MAX_REGISTER_ARRAY)
            symbol->in_memory = 1;
        if (symbol->type->kind == K_REFERENCE || (type->kind != K_ARRAY && !symbol->in_memory))
            continue;
        wmi_c_note(c, symbol, symbol->address_taken                    ? "its address is used"
                              : was_indexed                            ? "it is indexed by a value that is not known when compiling"
                              : type->leaves > WMI_MAX_REGISTER_ARRAY ? "it has more scalars than a thread has registers"
                                                                       : NULL);
    }
}
