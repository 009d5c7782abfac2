/* What a kernel's arrays are: shared and constant memory by their variables, global memory by its buffers. */
#include <string.h>

#include "machine.h"

/* cudaMalloc's alignment (CUDA C++ Programming Guide, "Device Memory Accesses": at least 256 bytes). */
#define BUFFER_ALIGN 256u

/* Dimensions and elements. outermost: the length where the type leaves it open; 0: not known. */
static void describe(struct wm_array *array, const struct type *type, uint64_t size_bytes)
{
    const struct type *element = type;

    while (element->kind == K_ARRAY) {
        if (array->dimensions < WM_DIMENSIONS)
            array->extent[array->dimensions++] = element->count;
        else
            array->extent[WM_DIMENSIONS - 1] *= element->count;
        element = element->base;
    }
    array->element_bytes = element->size;
    array->size_bytes = size_bytes;
    if (array->dimensions && !type->count) { /* the outermost of an extern array */
        uint64_t row = element->size;

        for (uint32_t i = 1; i < array->dimensions; i++)
            row *= array->extent[i];
        array->extent[0] = row ? size_bytes / row : 0;
    }
}

static struct wm_array *add(struct wmi_run *run, const struct symbol *symbol, enum wm_space space, uint64_t address)
{
    struct wm_array *array = &run->arrays[run->n_arrays++];

    array->name = symbol->name->text;
    array->element = symbol->written;
    array->space = space;
    array->address = address;
    array->align_bytes = symbol->type->align;
    array->file = run->c.files[symbol->place.file].name;
    array->line = symbol->place.line;
    array->column = symbol->place.column;
    return array;
}

static const struct buffer *buffer_at(const struct wmi_run *run, uint64_t base)
{
    return &run->buffers[run->slots[(base - WMI_GLOBAL_WINDOW) >> WMI_SLOT_BITS] - 1];
}

/* The buffer of a pointer: an array of as many dimensions as what it points to has, and one more. */
static void add_buffer(struct wmi_run *run, const struct parameter *parameter, uint64_t base)
{
    const struct buffer *buffer = buffer_at(run, base);
    struct type open = {.kind = K_ARRAY, .base = parameter->type->base};
    struct wm_array *array;

    if (parameter->type->base->size == 0) /* void, or a struct that nobody has defined */
        return;
    array = add(run, parameter->symbol, WM_GLOBAL, base);
    array->align_bytes = BUFFER_ALIGN;
    describe(array, &open, buffer->is_growing ? 0 : buffer->size);
}

void wmi_x_arrays(struct wmi_run *run)
{
    const struct program *p = &run->program;
    const struct symbol *symbol;
    size_t n = p->n_parameters;
    uint32_t leaf = 0;

    for (symbol = run->c.file_variables; symbol; symbol = symbol->next_variable)
        n++;
    run->arrays = wmi_c_take(&run->c, (n + 1) * sizeof *run->arrays);
    for (symbol = run->c.file_variables; symbol; symbol = symbol->next_variable) {
        const int is_dynamic = symbol->storage == ST_SHARED_EXTERN;
        const int is_open = is_dynamic && symbol->type->size == 0;
        struct wm_array *array;

        if (symbol->storage != ST_SHARED && !is_dynamic)
            continue;
        array = add(run, symbol, WM_SHARED, symbol->offset);
        array->is_dynamic = is_dynamic;
        describe(array, symbol->type, is_open ? run->c.launch->shared_bytes : symbol->type->size);
    }
    for (symbol = run->c.file_variables; symbol; symbol = symbol->next_variable) {
        if (symbol->storage == ST_CONSTANT)
            describe(add(run, symbol, WM_CONST, symbol->offset), symbol->type, symbol->type->size);
    }
    for (uint32_t i = 0; i < p->n_variables; i++) {
        const struct variable *variable = &p->variables[i];
        struct wm_array *array;

        if (variable->is_constant)
            continue;
        array = add(run, variable->symbol, WM_GLOBAL, p->constants[variable->pointer].bits);
        array->align_bytes = BUFFER_ALIGN;
        describe(array, variable->type, variable->type->size);
    }
    for (uint32_t i = 0; i < p->n_parameters; i++) {
        if (p->parameters[i].type->kind == K_POINTER && run->parameters[leaf])
            add_buffer(run, &p->parameters[i], run->parameters[leaf]);
        leaf += p->parameters[i].type->leaves;
    }
}

const struct wm_array *wmi_run_array_at(const struct wmi_run *run, size_t index)
{
    return index < run->n_arrays ? &run->arrays[index] : NULL;
}
