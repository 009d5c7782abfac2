/* Templates: parameters bound to arguments, given or deduced; and which function a call means. */
#include <string.h>

#include "compile.h"

struct template_parameter *wmi_c_template_parameters(struct compile *c, uint32_t *n)
{
    struct template_parameter *list = wmi_c_take(c, WMI_MAX_ARGUMENTS * sizeof *list);

    *n = 0;
    wmi_c_expect(c, '<', "behind template");
    while (!wmi_c_take_punct(c, '>')) {
        struct template_parameter *parameter = &list[*n];
        unsigned nested = 0;

        if (*n >= WMI_MAX_ARGUMENTS)
            wmi_c_fail(c, WM_E_RANGE, wmi_c_now(c)->place, "more than %u template parameters", WMI_MAX_ARGUMENTS);
        parameter->is_type = wmi_c_is_word(c, KW_TYPENAME) || wmi_c_is_word(c, KW_CLASS);
        parameter->type_at = c->at;
        for (;; wmi_c_advance(c)) {
            const struct token *token = wmi_c_now(c);

            if (token->kind == T_END)
                wmi_c_unexpected(c, "'>'");
            if (token->kind == T_NAME && !token->name->keyword && !parameter->default_at)
                parameter->name = token->name;
            if (token->kind == T_NUMBER && !nested && !parameter->default_at) /* a macro that hides the name, mostly */
                wmi_c_unexpected(c, "the name of a template parameter");
            if (token->kind != T_PUNCT)
                continue;
            if (token->punct == '=' && !nested && !parameter->default_at)
                parameter->default_at = c->at + 1;
            if (token->punct == '(' || token->punct == '[' || token->punct == '{') {
                wmi_c_skip_bracket(c);
                c->at--;
                continue;
            }
            nested += token->punct == '<';
            if ((token->punct == ',' && !nested) || (token->punct == '>' && !nested))
                break;
            nested -= token->punct == '>';
        }
        ++*n;
        if (!wmi_c_take_punct(c, ',') && !wmi_c_is(c, '>'))
            wmi_c_unexpected(c, "',' or '>'");
    }
    return list;
}

/* A closing '>', which may be half of a '>>'. */
static int take_close(struct compile *c)
{
    if (wmi_c_take_punct(c, '>'))
        return 1;
    if (!wmi_c_is(c, P_SHR))
        return 0;
    if (c->split_at == c->at) {
        c->split_at = 0;
        wmi_c_advance(c);
    } else {
        c->split_at = c->at;
    }
    return 1;
}

uint32_t wmi_c_template_arguments(struct compile *c, struct template_argument *out)
{
    const int no_greater = c->no_greater;
    uint32_t n = 0;

    wmi_c_expect(c, '<', "before template arguments");
    wmi_c_enter(c, wmi_c_now(c)->place);
    c->no_greater = 1;
    while (!take_close(c)) {
        if (n >= WMI_MAX_ARGUMENTS)
            wmi_c_fail(c, WM_E_RANGE, wmi_c_now(c)->place, "more than %u template arguments", WMI_MAX_ARGUMENTS);
        memset(&out[n], 0, sizeof out[n]);
        out[n].is_known = 1;
        if (wmi_c_is_type(c)) {
            out[n].type = wmi_c_type(c);
        } else {
            const struct place place = wmi_c_now(c)->place;

            out[n].value = wmi_c_rvalue(c, wmi_c_conditional(c));
            if (out[n].value->kind != E_CONST)
                wmi_c_fail(c, WM_E_SYNTAX, place, "a template argument that is not known when compiling");
        }
        n++;
        if (!wmi_c_take_punct(c, ',') && !wmi_c_is(c, '>') && !wmi_c_is(c, P_SHR))
            wmi_c_unexpected(c, "',' or '>'");
    }
    c->no_greater = no_greater;
    wmi_c_leave(c);
    return n;
}

/* What the parser keeps while it is elsewhere. */
struct position {
    size_t at;
    size_t split_at;
    int no_greater;
    struct scope *scope;
    struct instance *instance;
    unsigned loops;
    unsigned switches;
    struct stmt *switch_now;
};

static void go(struct compile *c, struct position *kept, size_t at)
{
    *kept = (struct position){c->at, c->split_at, c->no_greater, c->scope, c->instance, c->loops, c->switches, c->switch_now};
    c->at = at;
    c->split_at = 0;
    c->no_greater = 0;
    c->scope = wmi_c_take(c, sizeof *c->scope);
    c->scope->outer = c->file_scope;
    c->instance = NULL;
    c->loops = c->switches = 0;
    c->switch_now = NULL;
}

static void back(struct compile *c, const struct position *kept)
{
    c->at = kept->at;
    c->split_at = kept->split_at;
    c->no_greater = kept->no_greater;
    c->scope = kept->scope;
    c->instance = kept->instance;
    c->loops = kept->loops;
    c->switches = kept->switches;
    c->switch_now = kept->switch_now;
}

static int same_arguments(const struct template_argument *a, const struct template_argument *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if ((a[i].type == NULL) != (b[i].type == NULL))
            return 0;
        if (a[i].type ? a[i].type->is_const != b[i].type->is_const || !wmi_c_same(a[i].type, b[i].type)
                      : a[i].value->value.i != b[i].value->value.i)
            return 0;
    }
    return 1;
}

/* Declares template parameter number i in the current scope as its argument; converts a value to the parameter's type. */
static void bind(struct compile *c, const struct template_parameter *parameter, struct template_argument *argument,
                 struct place place)
{
    const size_t at = c->at;

    if (!argument->is_known && parameter->default_at) {
        c->at = parameter->default_at;
        c->no_greater = 1;
        if (parameter->is_type)
            argument->type = wmi_c_type(c);
        else
            argument->value = wmi_c_rvalue(c, wmi_c_conditional(c));
        c->no_greater = 0;
        argument->is_known = 1;
    }
    if (!argument->is_known)
        wmi_c_fail(c, WM_E_SYNTAX, place, "the template argument %s is neither given nor can it be deduced",
                   parameter->name ? parameter->name->text : "without a name");
    if (parameter->is_type != (argument->type != NULL))
        wmi_c_fail(c, WM_E_SYNTAX, place, "the template argument %s is a %s", parameter->name ? parameter->name->text : "",
                   parameter->is_type ? "type" : "value");
    if (!parameter->is_type) {
        struct specifiers specifiers;

        c->at = parameter->type_at;
        wmi_c_specifiers(c, &specifiers);
        if (specifiers.type) {
            if (!wmi_c_is_integer(specifiers.type))
                wmi_c_refuse(c, specifiers.place, "a template parameter of type %s", wmi_c_type_name(c, specifiers.type));
            argument->value = wmi_c_convert(c, argument->value, specifiers.type->plain, "a template argument");
        }
        if (argument->value->kind != E_CONST)
            wmi_c_fail(c, WM_E_SYNTAX, place, "a template argument that is not known when compiling");
    }
    c->at = at;
    if (parameter->name) {
        struct symbol *symbol = wmi_c_declare(c, parameter->is_type ? SYM_TYPE : SYM_CONSTANT, parameter->name, place);

        symbol->is_bound = 1;
        symbol->type = parameter->is_type ? argument->type : argument->value->type;
        symbol->constant = argument->value;
    }
}

const struct type *wmi_c_record_instance(struct compile *c, struct symbol *symbol)
{
    struct record_template *record_template = symbol->record_template;
    struct template_argument *arguments = wmi_c_take(c, WMI_MAX_ARGUMENTS * sizeof *arguments);
    const struct place place = wmi_c_now(c)->place;
    struct record_instance *instance;
    struct position kept;
    uint32_t align = 0;
    const uint32_t given = wmi_c_template_arguments(c, arguments);

    if (given > record_template->n_parameters)
        wmi_c_fail(c, WM_E_SYNTAX, place, "%s has %u template parameters", symbol->name->text, record_template->n_parameters);
    wmi_c_enter(c, place);
    go(c, &kept, record_template->head_at);
    for (uint32_t i = 0; i < record_template->n_parameters; i++)
        bind(c, &record_template->parameters[i], &arguments[i], place);
    for (instance = record_template->instances; instance; instance = instance->next) {
        if (same_arguments(instance->arguments, arguments, record_template->n_parameters))
            break;
    }
    if (!instance) {
        instance = wmi_c_take(c, sizeof *instance);
        instance->arguments = arguments;
        instance->record = wmi_c_record(c, symbol->name->text);
        instance->next = record_template->instances;
        record_template->instances = instance;
        while (wmi_c_is_word(c, KW_ALIGNAS) || wmi_c_is_word(c, KW_ALIGN)) {
            int64_t value;

            wmi_c_advance(c);
            wmi_c_expect(c, '(', "before an alignment");
            value = wmi_c_is_type(c) ? (int64_t)wmi_c_type(c)->align : wmi_c_constant_integer(c, "an alignment");
            wmi_c_expect(c, ')', "behind an alignment");
            if (value < 1 || value > 1024 || (value & (value - 1)))
                wmi_c_fail(c, WM_E_RANGE, place, "%lld is not an alignment: a power of two, 1 to 1024", (long long)value);
            if (value > (int64_t)align)
                align = (uint32_t)value;
        }
        wmi_c_advance(c); /* the name */
        if (!wmi_c_is(c, '{'))
            wmi_c_refuse(c, wmi_c_now(c)->place, "what stands before the members of this struct");
        wmi_c_record_body(c, instance->record, align);
    }
    back(c, &kept);
    wmi_c_leave(c);
    return instance->record->type;
}

/* ----------------------------------------------------------------------------------------------------------- functions */

/* The parameters from the parenthesis on, into the instance. */
static void parse_parameters(struct compile *c, struct instance *instance)
{
    struct symbol **list = wmi_c_take(c, WMI_MAX_ARGUMENTS * sizeof(struct symbol *));
    uint32_t n = 0;

    wmi_c_expect(c, '(', "before parameters");
    if (wmi_c_is_word(c, KW_VOID) && wmi_c_ahead(c, 1)->kind == T_PUNCT && wmi_c_ahead(c, 1)->punct == ')')
        wmi_c_advance(c);
    while (!wmi_c_take_punct(c, ')')) {
        struct specifiers specifiers;
        struct place place;
        struct name *name;
        const struct type *type;
        struct symbol *symbol;

        if (n >= WMI_MAX_ARGUMENTS)
            wmi_c_fail(c, WM_E_RANGE, wmi_c_now(c)->place, "more than %u parameters", WMI_MAX_ARGUMENTS);
        if (wmi_c_is(c, P_ELLIPSIS))
            wmi_c_refuse(c, wmi_c_now(c)->place, "a parameter list with ...");
        wmi_c_specifiers(c, &specifiers);
        place = specifiers.place;
        if (specifiers.is_auto)
            wmi_c_refuse(c, place, "a parameter of type auto");
        type = wmi_c_declarator(c, specifiers.type, &name, &place);
        if (wmi_c_is(c, P_ELLIPSIS))
            wmi_c_refuse(c, wmi_c_now(c)->place, "a parameter pack");
        if (type->kind == K_ARRAY)
            type = wmi_c_pointer(c, type->base);
        if (type->kind == K_VOID || (type->kind == K_RECORD && !type->record->is_complete))
            wmi_c_fail(c, WM_E_SYNTAX, place, "a parameter of type %s", wmi_c_type_name(c, type));
        symbol = wmi_c_declare(c, SYM_VARIABLE, name ? name : wmi_c_name_of(c, wmi_c_text(c, "parameter %u", n + 1)), place);
        symbol->type = type;
        if (instance->function && instance->function->is_kernel)
            symbol->written = wmi_c_written(c, &specifiers, type);
        symbol->is_parameter = 1;
        if (wmi_c_take_punct(c, '='))
            symbol->initial = wmi_c_convert(c, wmi_c_assignment(c), type, "a default argument");
        list[n++] = symbol;
        if (!wmi_c_take_punct(c, ',') && !wmi_c_is(c, ')'))
            wmi_c_unexpected(c, "',' or ')'");
    }
    instance->parameters = list;
    instance->n_parameters = n;
}

/* What T must be for pattern to fit the argument; 0: it does not fit. */
static int deduce(struct compile *c, const struct type *pattern, const struct type *actual, struct template_argument *arguments)
{
    if (pattern->kind == K_PLACEHOLDER) {
        struct template_argument *argument = &arguments[pattern->count];

        if (pattern->is_const)
            actual = actual->plain;
        if (argument->is_known)
            return argument->type && wmi_c_same(argument->type, actual);
        argument->type = actual;
        argument->is_known = 1;
        return 1;
    }
    if (pattern->kind == K_POINTER && actual->kind == K_POINTER)
        return deduce(c, pattern->base, actual->base, arguments);
    if (pattern->kind == K_ARRAY && actual->kind == K_ARRAY)
        return pattern->count == actual->count && deduce(c, pattern->base, actual->base, arguments);
    return 1; /* nothing to deduce here; whether it fits is seen later */
}

static const struct type *decayed(struct compile *c, const struct type *type)
{
    return type->kind == K_ARRAY ? wmi_c_pointer(c, type->base) : type->plain;
}

/* Deduces the arguments that are not known yet; 0: the call does not fit. */
static int deduce_all(struct compile *c, const struct function *function, struct template_argument *arguments,
                      struct expr **args, uint32_t n_args)
{
    struct instance pattern = {0};
    struct position kept;
    int fits = 1;

    go(c, &kept, function->arguments_at);
    for (uint32_t i = 0; i < function->n_parameters; i++) {
        const struct template_parameter *parameter = &function->parameters[i];

        if (arguments[i].is_known || (!parameter->is_type && parameter->default_at)) {
            bind(c, parameter, &arguments[i], function->place);
        } else if (parameter->is_type && parameter->name) {
            struct type *type = wmi_c_take(c, sizeof *type);

            type->kind = K_PLACEHOLDER;
            type->align = 1;
            type->count = i;
            type->plain = type;
            wmi_c_declare(c, SYM_TYPE, parameter->name, function->place)->type = type;
        } else if (parameter->name) {
            wmi_c_fail(c, WM_E_UNSUPPORTED, function->place,
                       "the template argument %s must be given: deducing a value is not supported", parameter->name->text);
        }
    }
    parse_parameters(c, &pattern);
    for (uint32_t i = 0; i < n_args && i < pattern.n_parameters && fits; i++) {
        const struct type *type = pattern.parameters[i]->type;

        if (type->kind == K_REFERENCE)
            fits = deduce(c, type->base, args[i]->type, arguments);
        else
            fits = deduce(c, type->plain, decayed(c, args[i]->type), arguments);
    }
    back(c, &kept);
    return fits;
}

/* The instance for these arguments, its parameters parsed and its body not yet. */
static struct instance *instance_of(struct compile *c, struct function *function, struct template_argument *arguments,
                                    struct place place)
{
    struct instance *instance;
    struct specifiers specifiers;
    struct position kept;

    go(c, &kept, function->type_at);
    for (uint32_t i = 0; i < function->n_parameters; i++)
        bind(c, &function->parameters[i], &arguments[i], place);
    for (instance = function->instances; instance; instance = instance->next) {
        if (same_arguments(instance->arguments, arguments, function->n_parameters)) {
            back(c, &kept);
            return instance;
        }
    }
    instance = wmi_c_take(c, sizeof *instance);
    instance->function = function;
    instance->arguments = arguments;
    wmi_c_specifiers(c, &specifiers);
    if (specifiers.is_auto)
        wmi_c_refuse(c, specifiers.place, "a function whose result is auto");
    instance->result = specifiers.type->plain;
    while (c->at < function->declarator_at) {
        if (wmi_c_take_punct(c, '*'))
            instance->result = wmi_c_pointer(c, instance->result);
        else if (wmi_c_take_word(c, KW_CONST))
            instance->result = wmi_c_const(c, instance->result);
        else if (wmi_c_is(c, '&'))
            wmi_c_refuse(c, wmi_c_now(c)->place, "a function that returns a reference");
        else if (!wmi_c_take_word(c, KW_RESTRICT) && !wmi_c_take_word(c, KW_VOLATILE) && !wmi_c_take_word(c, KW_DEVICE) &&
                 !wmi_c_take_word(c, KW_HOST) && !wmi_c_take_word(c, KW_GLOBAL) && !wmi_c_take_word(c, KW_INLINE) &&
                 !wmi_c_take_word(c, KW_FORCEINLINE) && !wmi_c_take_word(c, KW_NOINLINE) && !wmi_c_take_word(c, KW_STATIC))
            wmi_c_unexpected(c, "the name of a function");
    }
    instance->result = instance->result->plain;
    c->at = function->arguments_at;
    parse_parameters(c, instance);
    instance->scope = c->scope;
    instance->next = function->instances;
    function->instances = instance;
    back(c, &kept);
    return instance;
}

static void parse_body(struct compile *c, struct instance *instance, struct place place)
{
    struct position kept;

    if (instance->is_busy)
        wmi_c_refuse(c, place, "recursion (%s)", instance->function->name->text);
    if (instance->body)
        return;
    wmi_c_enter(c, place);
    go(c, &kept, instance->function->body_at);
    c->scope = instance->scope;
    c->instance = instance;
    instance->is_busy = 1;
    instance->body = wmi_c_body(c);
    instance->is_busy = 0;
    wmi_c_settle(c, instance);
    back(c, &kept);
    wmi_c_leave(c);
}

/* How well the arguments fit: 0: not at all, else smaller is better. *bad: the first that does not; n_args: their number. */
static unsigned fit(const struct instance *instance, struct expr **args, uint32_t n_args, uint32_t *bad)
{
    unsigned rank = 1;

    *bad = n_args;
    if (n_args > instance->n_parameters || (n_args < instance->n_parameters && !instance->parameters[n_args]->initial))
        return 0;
    for (uint32_t i = 0; i < n_args; i++) {
        const struct type *type = instance->parameters[i]->type;
        unsigned conversion;

        if (type->kind == K_REFERENCE && !type->base->is_const)
            conversion = args[i]->is_lvalue && !args[i]->type->is_const && wmi_c_same(type->base, args[i]->type);
        else
            conversion = wmi_c_conversion(args[i], type->kind == K_REFERENCE ? type->base : type);
        if (!conversion && type->kind == K_REFERENCE && args[i]->is_lvalue && wmi_c_adds_const(args[i]->type, type->base))
            conversion = 2;
        if (!conversion) {
            *bad = i;
            return 0;
        }
        rank += conversion - 1;
    }
    return rank;
}

/* Why a call does not fit a function, as ": ..." */
static const char *misfit(struct compile *c, const struct instance *instance, struct expr **args, uint32_t n_args, uint32_t bad)
{
    const uint32_t line = instance->function->place.line;

    if (bad >= n_args)
        return wmi_c_text(c, ": that of line %u has %u parameters, not %u", line, instance->n_parameters, n_args);
    return wmi_c_text(c, ": argument %u of type %s does not fit parameter %s of that of line %u, %s", bad + 1,
                      wmi_c_type_name(c, args[bad]->type), instance->parameters[bad]->name->text, line,
                      wmi_c_type_name(c, instance->parameters[bad]->type));
}

struct instance *wmi_c_call(struct compile *c, struct function *functions, const struct template_argument *given,
                            uint32_t n_given, struct expr **args, uint32_t n_args, struct place place)
{
    struct instance *best = NULL;
    unsigned best_rank = 0;
    int is_unclear = 0;
    const char *why = "";

    for (struct function *function = functions; function; function = function->next) {
        struct template_argument *arguments = wmi_c_take(c, (WMI_MAX_ARGUMENTS + 1) * sizeof *arguments);
        struct instance *instance;
        unsigned rank;
        uint32_t bad;

        if (n_given > function->n_parameters)
            continue;
        if (n_given)
            memcpy(arguments, given, n_given * sizeof *given);
        if (function->n_parameters > n_given && !deduce_all(c, function, arguments, args, n_args))
            continue;
        instance = instance_of(c, function, arguments, place);
        rank = 2 * fit(instance, args, n_args, &bad);
        if (!rank) {
            why = misfit(c, instance, args, n_args, bad);
            continue;
        }
        rank += function->n_parameters > 0; /* what is no template comes first */
        if (!best || rank < best_rank) {
            best = instance;
            best_rank = rank;
            is_unclear = 0;
        } else if (rank == best_rank) {
            is_unclear = 1;
        }
    }
    if (!best)
        wmi_c_fail(c, WM_E_SYNTAX, place, "no function %s takes these arguments%s", functions->name->text, why);
    if (is_unclear)
        wmi_c_fail(c, WM_E_SYNTAX, place, "several functions %s take these arguments equally well", functions->name->text);
    if (best->function->is_kernel)
        wmi_c_refuse(c, place, "a kernel that is called as a function (%s)", functions->name->text);
    parse_body(c, best, place);
    return best;
}

/* -------------------------------------------------------------------------------------------------------- the kernel */

static const char *kernel_names(struct compile *c)
{
    const char *list = "";

    for (const struct function *function = c->kernels; function; function = function->next_kernel)
        list = wmi_c_text(c, "%s%s%s", function->name->text, *list ? ", " : "", list);
    return list;
}

struct instance *wmi_c_kernel(struct compile *c, const char *text)
{
    const struct place nowhere = {1, 0, 0};
    struct template_argument *arguments = wmi_c_take(c, (WMI_MAX_ARGUMENTS + 1) * sizeof *arguments);
    struct function *found = NULL;
    struct instance *instance;
    uint32_t n = 0;
    size_t name_length = text ? strcspn(text, "< \t") : 0;

    if (!c->kernels)
        wmi_c_fail(c, WM_E_NAME, nowhere, "there is no __global__ function in this file");
    for (struct function *function = c->kernels; function; function = function->next_kernel) {
        if (text && (function->name->length != name_length || memcmp(function->name->text, text, name_length) != 0))
            continue;
        if (found && !text)
            wmi_c_fail(c, WM_E_NAME, nowhere, "there are several kernels, name one with --kernel: %s", kernel_names(c));
        if (found)
            wmi_c_refuse(c, function->place, "an overloaded kernel (%s)", function->name->text);
        found = function;
    }
    if (!found)
        wmi_c_fail(c, WM_E_NAME, nowhere, "there is no kernel %.*s in this file; there is: %s", (int)name_length, text,
                   kernel_names(c));
    if (text && text[name_length + strspn(text + name_length, " \t")]) {
        struct tokens tokens = {0};
        const size_t first = c->tokens.count;
        struct position kept;
        const char *copy = wmi_c_text(c, "%s", text + name_length);

        wmi_c_lex(c, copy, strlen(copy), 0, &tokens);
        for (size_t i = 0; i < tokens.count; i++)
            wmi_c_push(c, &c->tokens, &tokens.list[i]);
        go(c, &kept, first);
        n = wmi_c_template_arguments(c, arguments);
        if (wmi_c_now(c)->kind != T_END)
            wmi_c_fail(c, WM_E_NAME, nowhere, "--kernel %s: expected NAME or NAME<ARGUMENTS>", text);
        back(c, &kept);
    }
    if (n > found->n_parameters)
        wmi_c_fail(c, WM_E_NAME, nowhere, "%s has %u template parameters, not %u", found->name->text, found->n_parameters, n);
    for (uint32_t i = n; i < found->n_parameters; i++) {
        if (!found->parameters[i].default_at)
            wmi_c_fail(c, WM_E_NAME, nowhere, "%s is a template: give its arguments, --kernel '%s<...>'", found->name->text,
                       found->name->text);
    }
    instance = instance_of(c, found, arguments, found->place);
    if (instance->result->kind != K_VOID)
        wmi_c_fail(c, WM_E_SYNTAX, found->place, "a kernel returns void");
    parse_body(c, instance, found->place);
    return instance;
}
