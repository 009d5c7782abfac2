/* What a launch gives to a kernel: values of parameters, sizes and contents of buffers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "half.h"

/* Text of an argument as tokens behind all others; errors are reported at "--arg NAME". */
static void open_text(struct compile *c, const char *name, const char *text)
{
    struct tokens tokens = {0};
    const uint32_t file = WMI_MAX_INCLUDES + 1;
    const char *copy = wmi_c_text(c, "%s", text);

    c->files[file].name = wmi_c_text(c, "--arg %s", name);
    wmi_c_lex(c, copy, strlen(copy), file, &tokens);
    c->at = c->tokens.count;
    for (size_t i = 0; i < tokens.count; i++)
        wmi_c_push(c, &c->tokens, &tokens.list[i]);
    c->split_at = 0;
    c->no_greater = 0;
    c->scope = c->file_scope;
    c->instance = NULL;
}

static _Noreturn void bad(struct compile *c, const char *name, enum wm_status status, const char *format, ...) WMI_PRINTF(4, 5);

static _Noreturn void bad(struct compile *c, const char *name, enum wm_status status, const char *format, ...)
{
    const struct place nowhere = {0, 0, 0};
    va_list arguments;

    va_start(arguments, format);
    wmi_c_diag(&c->diag, status, wmi_c_text(c, "--arg %s", name), nowhere, format, arguments);
    va_end(arguments);
    c->status = status;
    longjmp(*c->escape, 1);
}

/* The constant expression that stands here, as a value of type. */
static uint64_t scalar(struct compile *c, const struct type *type)
{
    struct expr *e = wmi_c_rvalue(c, wmi_c_conditional(c));

    if (e->kind != E_CONST || !wmi_c_is_arithmetic(e->type))
        wmi_c_fail(c, WM_E_ARGUMENT, e->place, "expected a number");
    if (wmi_c_is_integer(type) && wmi_c_is_integer(e->type)) {
        const struct expr *as = wmi_c_cast(c, e, type, e->place);
        const int negative = wmi_c_is_signed(e->type) && (int64_t)e->value.i < 0;

        if (as->value.i != e->value.i || (negative && !wmi_c_is_signed(type)))
            wmi_c_fail(c, WM_E_ARGUMENT, e->place, "the value does not fit %s", wmi_c_type_name(c, type));
    } else if (wmi_c_is_integer(type) && wmi_c_is_floating(e->type)) {
        wmi_c_fail(c, WM_E_ARGUMENT, e->place, "%s is an integer", wmi_c_type_name(c, type));
    }
    e = wmi_c_cast(c, e, type, e->place);
    return wmi_c_bits(type, &e->value);
}

/* A value for a parameter that is no pointer: a number, or the numbers of a struct in braces. */
static void value_of(struct compile *c, const struct type *type, uint64_t *leaves)
{
    uint64_t offset;

    if (type->kind == K_RECORD || type->kind == K_ARRAY) {
        uint32_t n = 0;
        unsigned nested = 0;

        do {
            while (wmi_c_take_punct(c, '{'))
                nested++;
            if (n >= type->leaves)
                wmi_c_fail(c, WM_E_ARGUMENT, wmi_c_now(c)->place, "more than the %u numbers of %s", type->leaves, wmi_c_type_name(c, type));
            leaves[n] = scalar(c, wmi_c_leaf(type, n, &offset));
            n++;
            while (nested && wmi_c_take_punct(c, '}'))
                nested--;
        } while (wmi_c_take_punct(c, ','));
        if (n != type->leaves || nested)
            wmi_c_fail(c, WM_E_ARGUMENT, wmi_c_now(c)->place, "expected the %u numbers of %s (in a shell, quote them: 'NAME={1, 2}')", type->leaves,
                       wmi_c_type_name(c, type));
    } else {
        leaves[0] = scalar(c, type);
    }
    if (wmi_c_now(c)->kind != T_END)
        wmi_c_fail(c, WM_E_ARGUMENT, wmi_c_now(c)->place, "nothing more is expected behind the value");
}

/* What all arguments of one name say about a buffer. */
struct wish {
    const struct type *element; /* of TYPE[COUNT] */
    uint64_t bytes;
    int is_null;
    int has_fill;
    enum fill fill;
    uint64_t seed;
    uint64_t limit;
    const char *path;
};

static uint64_t whole_number(struct compile *c, const char *name, const char *text, const char **end)
{
    char *stop;
    uint64_t value;

    errno = 0;
    if (*text < '0' || *text > '9')
        bad(c, name, WM_E_ARGUMENT, "expected a number, found '%.40s'", text);
    value = strtoull(text, &stop, 0);
    if (errno)
        bad(c, name, WM_E_ARGUMENT, "%.40s is too large", text);
    *end = stop;
    return value;
}

static void read_fill(struct compile *c, const char *name, const char *text, struct wish *wish)
{
    if (wish->has_fill)
        bad(c, name, WM_E_ARGUMENT, "its contents are given twice");
    wish->has_fill = 1;
    if (strcmp(text, "zero") == 0) {
        wish->fill = FILL_ZERO;
    } else if (strcmp(text, "iota") == 0) {
        wish->fill = FILL_IOTA;
    } else if (strncmp(text, "random", 6) == 0 && (text[6] == ':' || !text[6])) {
        const char *at = text + 6;

        wish->fill = FILL_RANDOM;
        wish->seed = 1;
        if (*at == ':')
            wish->seed = whole_number(c, name, at + 1, &at);
        if (*at == ':') {
            wish->limit = whole_number(c, name, at + 1, &at);
            if (!wish->limit)
                bad(c, name, WM_E_ARGUMENT, "random numbers below 0");
        }
        if (*at)
            bad(c, name, WM_E_ARGUMENT, "expected random:SEED or random:SEED:LIMIT, found '%.40s'", text);
    } else if (text[0] == '@' && text[1]) {
        wish->path = wmi_c_text(c, "%s", text + 1);
    } else {
        bad(c, name, WM_E_ARGUMENT, "expected TYPE[COUNT], zero, iota, random:SEED or @FILE, found '%.40s'", text);
    }
}

/* "float[1024]", "iota", "float[1024]:iota", "@FILE" ... */
static void read_wish(struct compile *c, const char *name, const char *text, struct wish *wish)
{
    const char *bracket = strchr(text, '[');

    if (strcmp(text, "null") == 0) {
        wish->is_null = 1;
        return;
    }
    if (bracket && text[0] != '@') {
        uint64_t count;
        const char *close = strchr(bracket, ']');
        int64_t value;

        if (wish->element)
            bad(c, name, WM_E_ARGUMENT, "its size is given twice");
        if (!close)
            bad(c, name, WM_E_ARGUMENT, "expected ']' in '%.40s'", text);
        open_text(c, name, wmi_c_text(c, "%.*s", (int)(close - text + 1), text));
        {
            struct specifiers specifiers;

            wmi_c_specifiers(c, &specifiers);
            if (!specifiers.type || specifiers.type->size == 0)
                wmi_c_fail(c, WM_E_ARGUMENT, specifiers.place, "expected a type");
            wish->element = specifiers.type->plain;
        }
        while (wmi_c_take_punct(c, '*'))
            wish->element = wmi_c_pointer(c, wish->element);
        wmi_c_expect(c, '[', "behind the type");
        value = wmi_c_constant_integer(c, "the number of elements");
        if (value < 1)
            bad(c, name, WM_E_ARGUMENT, "a buffer of %lld elements", (long long)value);
        wmi_c_expect(c, ']', "behind the number of elements");
        if (wmi_c_now(c)->kind != T_END)
            wmi_c_unexpected(c, "TYPE[COUNT]");
        count = (uint64_t)value;
        if (count > (UINT64_C(1) << 38) / wish->element->size)
            bad(c, name, WM_E_ARGUMENT, "a buffer above 256 GiB");
        wish->bytes = count * wish->element->size;
        text = close + 1;
        if (!*text)
            return;
        if (*text != ':' && *text != '=')
            bad(c, name, WM_E_ARGUMENT, "expected ':' and the contents behind the size, found '%.40s'", text);
        text++;
    }
    read_fill(c, name, text, wish);
}

/* The one type of number that a type is made of. */
static enum type_kind fill_kind(struct compile *c, const char *name, const struct type *type)
{
    enum type_kind kind = K_UCHAR;
    const uint32_t most = type->leaves < 4096 ? type->leaves : 4096;

    for (uint32_t i = 0; i < most; i++) {
        uint64_t offset;
        const struct type *leaf = wmi_c_leaf(type, i, &offset);

        if (leaf->kind == K_POINTER || (i && leaf->kind != kind) || offset != i * leaf->size)
            bad(c, name, WM_E_ARGUMENT, "%s is not made of numbers of one type: fill it from a file", wmi_c_type_name(c, type));
        kind = leaf->kind;
    }
    return kind;
}

static FILE *open_file(struct compile *c, const char *name, const char *path, uint64_t *bytes)
{
    FILE *file;
    long size;

    if (c->launch->no_files)
        bad(c, name, WM_E_UNSUPPORTED, "files are not read here");
    file = fopen(path, "rb");
    if (!file)
        bad(c, name, WM_E_IO, "cannot open %s: %s", path, strerror(errno));
    if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0) {
        fclose(file);
        bad(c, name, WM_E_IO, "cannot read %s: %s", path, strerror(errno));
    }
    *bytes = (uint64_t)size;
    return file;
}

static void read_file(struct wmi_run *run, struct buffer *buffer, const char *name, FILE *file, const char *path, uint64_t bytes)
{
    enum wm_status status = WM_OK;
    int is_short = 0;

    for (uint64_t at = 0; at < bytes && status == WM_OK && !is_short; at += WMI_PAGE_BYTES) {
        const uint64_t n = bytes - at < WMI_PAGE_BYTES ? bytes - at : WMI_PAGE_BYTES;
        uint8_t *page;

        status = wmi_x_buffer_page(run, buffer, at >> WMI_PAGE_BITS, &page);
        is_short = status == WM_OK && fread(page, 1, (size_t)n, file) != n;
    }
    fclose(file);
    if (status != WM_OK)
        bad(&run->c, name, WM_E_MEMORY, "%s does not fit into memory", path);
    if (is_short)
        bad(&run->c, name, WM_E_IO, "cannot read %s", path);
}

static struct buffer *make_buffer(struct wmi_run *run, const char *name, const struct type *element, const struct wish *wish)
{
    struct compile *c = &run->c;
    uint64_t bytes = wish->bytes;
    uint64_t in_file = 0;
    FILE *file = NULL;
    struct buffer *buffer;

    if (wish->path) {
        file = open_file(c, name, wish->path, &in_file);
        if (!bytes)
            bytes = in_file;
        if (in_file > bytes || !bytes) {
            fclose(file);
            bad(c, name, WM_E_ARGUMENT, "%s has %llu bytes, the buffer %llu", wish->path, (unsigned long long)in_file,
                (unsigned long long)bytes);
        }
    }
    buffer = wmi_x_buffer_new(run, wmi_c_text(c, "%s", name), bytes);
    if (!buffer) {
        if (file)
            fclose(file);
        bad(c, name, WM_E_RANGE, "the buffers do not fit into 1 TiB of addresses");
    }
    buffer->fill = wish->fill;
    buffer->seed = wish->seed;
    buffer->limit = wish->limit;
    if (wish->has_fill && !wish->path && wish->fill != FILL_ZERO)
        buffer->element = fill_kind(c, name, wish->element ? wish->element : element);
    if (file)
        read_file(run, buffer, name, file, wish->path, in_file);
    return buffer;
}

static int is_for(const struct wm_launch_argument *argument, const char *name)
{
    return strcmp(argument->name, name) == 0;
}

static void collect(struct compile *c, const char *name, struct wish *wish)
{
    memset(wish, 0, sizeof *wish);
    for (size_t i = 0; i < c->launch->n_arguments; i++) {
        if (is_for(&c->launch->arguments[i], name))
            read_wish(c, name, c->launch->arguments[i].value, wish);
    }
}

static void give_parameter(struct wmi_run *run, const struct parameter *parameter, uint64_t *leaves)
{
    struct compile *c = &run->c;
    const struct wm_launch_argument *given = NULL;

    if (parameter->type->kind == K_POINTER) {
        struct wish wish;

        collect(c, parameter->name, &wish);
        leaves[0] = wish.is_null ? 0 : make_buffer(run, parameter->name, parameter->type->base, &wish)->base;
        return;
    }
    for (size_t i = 0; i < c->launch->n_arguments; i++) {
        if (!is_for(&c->launch->arguments[i], parameter->name))
            continue;
        if (given)
            bad(c, parameter->name, WM_E_ARGUMENT, "given twice");
        given = &c->launch->arguments[i];
    }
    if (!given)
        bad(c, parameter->name, WM_E_ARGUMENT, "the kernel's parameter %s (%s) needs a value: --arg %s=VALUE", parameter->name,
            wmi_c_type_name(c, parameter->type), parameter->name);
    for (uint32_t i = 0; i < parameter->type->leaves; i++) {
        uint64_t offset;

        if (wmi_c_leaf(parameter->type, i, &offset)->kind == K_POINTER && parameter->type->kind == K_RECORD)
            bad(c, parameter->name, WM_E_UNSUPPORTED, "a struct with pointers as a kernel's parameter is not supported");
    }
    open_text(c, parameter->name, given->value);
    value_of(c, parameter->type, leaves);
}

/* Bytes of an initialiser's scalars. */
static void write_scalar(uint8_t *at, const struct type *type, uint64_t bits)
{
    for (uint64_t i = 0; i < type->size; i++, bits >>= 8)
        at[i] = (uint8_t)bits;
}

static void initialise(struct compile *c, const struct expr *e, const struct type *type, uint8_t *at)
{
    if (e->kind == E_CONST && type->kind != K_RECORD && type->kind != K_ARRAY) {
        write_scalar(at, type, wmi_c_bits(type, &e->value));
    } else if (e->kind == E_LIST) {
        for (uint32_t i = 0; i < e->n_args; i++) {
            const struct type *part = type->kind == K_ARRAY ? type->base : type->record->fields[i].type;

            initialise(c, e->args[i], part, at + (type->kind == K_ARRAY ? i * part->size : type->record->fields[i].offset));
        }
    } else {
        wmi_c_refuse(c, e->place, "an initialiser that is not constant");
    }
}

/* Puts bytes into a buffer, page by page. */
static void write_buffer(struct wmi_run *run, struct buffer *buffer, const uint8_t *from, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += WMI_PAGE_BYTES) {
        const uint64_t n = bytes - at < WMI_PAGE_BYTES ? bytes - at : WMI_PAGE_BYTES;
        uint8_t *page;

        if (wmi_x_buffer_page(run, buffer, at >> WMI_PAGE_BITS, &page) != WM_OK)
            bad(&run->c, buffer->name, WM_E_MEMORY, "it does not fit into memory");
        memcpy(page, from + at, (size_t)n);
    }
}

static void give_variable(struct wmi_run *run, const struct variable *variable)
{
    struct compile *c = &run->c;
    struct wish wish;
    struct buffer *buffer;
    uint8_t *image = NULL;

    collect(c, variable->name, &wish);
    if (wish.bytes && wish.bytes != variable->type->size)
        bad(c, variable->name, WM_E_ARGUMENT, "it has %llu bytes", (unsigned long long)variable->type->size);
    wish.bytes = variable->type->size;
    if (variable->initial && !wish.has_fill) {
        if (variable->type->size > (16u << 20))
            wmi_c_refuse(c, variable->initial->place, "an initialiser of more than 16 MiB");
        image = wmi_c_take(c, variable->type->size);
        initialise(c, variable->initial, variable->type, image);
    }
    buffer = make_buffer(run, variable->name, variable->type, &wish);
    if (image)
        write_buffer(run, buffer, image, variable->type->size);
    if (!variable->is_constant) {
        run->program.constants[variable->pointer].bits = buffer->base;
        return;
    }
    for (uint64_t at = 0; at < variable->type->size; at += WMI_PAGE_BYTES) {
        const uint64_t left = variable->type->size - at;
        uint8_t *page;

        if (wmi_x_buffer_page(run, buffer, at >> WMI_PAGE_BITS, &page) != WM_OK)
            bad(c, variable->name, WM_E_MEMORY, "it does not fit into memory");
        memcpy(run->constants + variable->offset + at, page, (size_t)(left < WMI_PAGE_BYTES ? left : WMI_PAGE_BYTES));
    }
}

static void check_names(const struct wmi_run *run)
{
    const struct program *p = &run->program;
    struct compile *c = (struct compile *)(uintptr_t)&run->c;

    for (size_t i = 0; i < c->launch->n_arguments; i++) {
        const struct wm_launch_argument *argument = &c->launch->arguments[i];
        const char *list = "";
        int found = 0;

        for (uint32_t k = 0; k < p->n_parameters - run->n_sweeps; k++) {
            found |= is_for(argument, p->parameters[k].name);
            list = wmi_c_text(c, "%s%s%s", list, *list ? ", " : "", p->parameters[k].name);
        }
        for (uint32_t k = 0; k < p->n_variables; k++)
            found |= is_for(argument, p->variables[k].name);
        if (!found)
            bad(c, argument->name, WM_E_NAME, "%s has no such parameter; it has: %s", run->kernel.name, *list ? list : "none");
    }
}

/* All that the launch leaves out, in one message. */
static void check_missing(const struct wmi_run *run)
{
    const struct program *p = &run->program;
    struct compile *c = (struct compile *)(uintptr_t)&run->c;
    const char *list = "";
    const char *first = NULL;
    unsigned n = 0;

    for (uint32_t i = 0; i < p->n_parameters - run->n_sweeps; i++) {
        const struct parameter *parameter = &p->parameters[i];
        const int is_list = parameter->type->kind == K_RECORD || parameter->type->kind == K_ARRAY;
        int found = parameter->type->kind == K_POINTER;

        for (size_t k = 0; k < c->launch->n_arguments; k++)
            found |= is_for(&c->launch->arguments[k], parameter->name);
        if (found)
            continue;
        first = first ? first : parameter->name;
        n++;
        list = wmi_c_text(c, "%s --arg %s%s=%s%s", list, is_list ? "'" : "", parameter->name, wmi_c_type_name(c, parameter->type),
                          is_list ? "'" : "");
    }
    if (n > 1 || (n && !c->launch->block[0]))
        bad(c, first, WM_E_ARGUMENT, "the launch lacks values, give each in place of its type:%s%s",
            c->launch->block[0] ? "" : " --block X,Y,Z", list);
}

void wmi_x_arguments(struct wmi_run *run)
{
    const struct program *p = &run->program;
    uint32_t leaves = 0;

    check_names(run);
    check_missing(run);
    for (uint32_t i = 0; i < p->n_parameters; i++)
        leaves += p->parameters[i].type->leaves;
    run->parameters = wmi_c_take(&run->c, (leaves + 1) * sizeof *run->parameters);
    leaves = 0;
    for (uint32_t i = 0; i < p->n_parameters - run->n_sweeps; i++) {
        give_parameter(run, &p->parameters[i], &run->parameters[leaves]);
        leaves += p->parameters[i].type->leaves;
    }
    for (uint32_t i = 0; i < p->n_variables; i++)
        give_variable(run, &p->variables[i]);
}
