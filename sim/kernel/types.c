/* Types: made once each where that is easy, compared by structure where it is not. Layouts are those of nvcc on 64-bit
 * Linux, which are the host's (CUDA C++ Programming Guide, "Built-in Vector Types", for the alignments of vectors). */
#include <stdio.h>
#include <string.h>

#include "compile.h"

static const struct {
    enum type_kind kind;
    uint32_t bytes;
    const char *name;
} basics[] = {
    {K_VOID, 0, "void"}, {K_BOOL, 1, "bool"}, {K_CHAR, 1, "char"}, {K_SCHAR, 1, "signed char"},
    {K_UCHAR, 1, "unsigned char"}, {K_SHORT, 2, "short"}, {K_USHORT, 2, "unsigned short"}, {K_INT, 4, "int"},
    {K_UINT, 4, "unsigned int"}, {K_LONG, 8, "long"}, {K_ULONG, 8, "unsigned long"}, {K_LLONG, 8, "long long"},
    {K_ULLONG, 8, "unsigned long long"}, {K_HALF, 2, "__half"}, {K_FLOAT, 4, "float"}, {K_DOUBLE, 8, "double"},
};

void wmi_c_types_start(struct compile *c)
{
    for (size_t i = 0; i < sizeof basics / sizeof basics[0]; i++) {
        struct type *type = &c->basic[basics[i].kind];

        type->kind = basics[i].kind;
        type->size = basics[i].bytes;
        type->align = basics[i].bytes ? basics[i].bytes : 1;
        type->leaves = basics[i].bytes ? 1 : 0;
        type->plain = type;
    }
}

const struct type *wmi_c_basic(struct compile *c, enum type_kind kind)
{
    return &c->basic[kind];
}

/* Types are walked by recursion. */
static void set_depth(struct compile *c, struct type *type, const struct type *inner, struct place place)
{
    if (inner->depth + 1 > type->depth)
        type->depth = inner->depth + 1;
    if (type->depth > WMI_MAX_DEPTH)
        wmi_c_fail(c, WM_E_RANGE, place, "a type nested deeper than %d", WMI_MAX_DEPTH);
}

static struct type *type_new(struct compile *c, enum type_kind kind, const struct type *base)
{
    struct type *type = wmi_c_take(c, sizeof *type);

    type->kind = kind;
    type->base = base;
    type->plain = type;
    if (base)
        set_depth(c, type, base, (struct place){1, 0, 0});
    return type;
}

const struct type *wmi_c_pointer(struct compile *c, const struct type *to)
{
    if (!to->pointer) {
        struct type *type = type_new(c, K_POINTER, to);

        type->size = type->align = 8;
        type->leaves = 1;
        ((struct type *)(uintptr_t)to)->pointer = type;
    }
    return to->pointer;
}

const struct type *wmi_c_reference(struct compile *c, const struct type *to)
{
    if (to->kind == K_REFERENCE)
        return to;
    if (!to->reference) {
        struct type *type = type_new(c, K_REFERENCE, to);

        type->size = type->align = 8;
        type->leaves = 1;
        ((struct type *)(uintptr_t)to)->reference = type;
    }
    return to->reference;
}

static uint32_t leaves_of(uint64_t count, uint32_t leaves)
{
    return leaves && count > UINT32_MAX / leaves ? UINT32_MAX : (uint32_t)count * leaves;
}

const struct type *wmi_c_array(struct compile *c, const struct type *of, uint64_t count, struct place place)
{
    struct type *type = type_new(c, K_ARRAY, of);

    if (of->kind == K_VOID || of->kind == K_REFERENCE || (of->kind == K_ARRAY && of->count == 0) ||
        (of->kind == K_RECORD && !of->record->is_complete))
        wmi_c_fail(c, WM_E_SYNTAX, place, "an array of %s", wmi_c_type_name(c, of));
    if (of->size && count > (UINT64_C(1) << 36) / of->size)
        wmi_c_fail(c, WM_E_RANGE, place, "an array above 64 GiB");
    type->count = count;
    type->size = of->size * count;
    type->align = of->align;
    type->leaves = leaves_of(count, of->leaves);
    return type;
}

/* An array is const if its elements are, which is kept there. */
const struct type *wmi_c_const(struct compile *c, const struct type *type)
{
    if (type->is_const || type->kind == K_REFERENCE)
        return type;
    if (type->kind == K_ARRAY)
        return wmi_c_array(c, wmi_c_const(c, type->base), type->count, (struct place){0, 0, 0});
    if (!type->with_const) {
        struct type *made = wmi_c_take(c, sizeof *made);

        *made = *type;
        made->is_const = 1;
        made->plain = type;
        made->pointer = NULL;
        made->reference = NULL;
        ((struct type *)(uintptr_t)type)->with_const = made;
    }
    return type->with_const;
}

struct record *wmi_c_record(struct compile *c, const char *name)
{
    struct record *record = wmi_c_take(c, sizeof *record);

    record->name = name;
    record->type = type_new(c, K_RECORD, NULL);
    record->type->record = record;
    record->type->align = 1;
    return record;
}

void wmi_c_record_finish(struct compile *c, struct record *record, uint32_t align, struct place place)
{
    struct type *type = record->type;
    uint64_t size = 0;
    uint32_t leaves = 0;

    type->align = align ? align : 1;
    for (uint32_t i = 0; i < record->n_fields; i++) {
        struct field *field = &record->fields[i];

        set_depth(c, type, field->type, place);
        size = (size + field->type->align - 1) / field->type->align * field->type->align;
        field->offset = size;
        field->leaf = leaves;
        size += field->type->size;
        leaves = leaves > UINT32_MAX - field->type->leaves ? UINT32_MAX : leaves + field->type->leaves;
        if (field->type->align > type->align)
            type->align = field->type->align;
        if (size > UINT64_C(1) << 36)
            wmi_c_fail(c, WM_E_RANGE, place, "struct %s is above 64 GiB", record->name);
    }
    size = (size + type->align - 1) / type->align * type->align;
    type->size = size ? size : 1;
    type->leaves = leaves;
    record->is_complete = 1;
    if (type->with_const) { /* made while it was incomplete */
        struct type *made = (struct type *)(uintptr_t)type->with_const;

        made->size = type->size;
        made->align = type->align;
        made->leaves = leaves;
    }
}

int wmi_c_same(const struct type *a, const struct type *b)
{
    if (a->plain == b->plain)
        return 1;
    if (a->kind != b->kind)
        return 0;
    if (a->kind == K_ARRAY && a->count != b->count)
        return 0;
    if (a->kind == K_POINTER || a->kind == K_REFERENCE || a->kind == K_ARRAY)
        return a->base->is_const == b->base->is_const && wmi_c_same(a->base, b->base);
    return 0;
}

int wmi_c_adds_const(const struct type *from, const struct type *to)
{
    while (from->kind == K_ARRAY && to->kind == K_ARRAY && from->count == to->count) {
        from = from->base;
        to = to->base;
        if (from->kind != K_ARRAY)
            return to->is_const && wmi_c_same(from, to);
    }
    return 0;
}

int wmi_c_is_integer(const struct type *type)
{
    return type->kind >= K_BOOL && type->kind <= K_ULLONG;
}

int wmi_c_is_floating(const struct type *type)
{
    return type->kind >= K_HALF && type->kind <= K_DOUBLE;
}

int wmi_c_is_arithmetic(const struct type *type)
{
    return type->kind >= K_BOOL && type->kind <= K_DOUBLE;
}

int wmi_c_is_scalar(const struct type *type)
{
    return wmi_c_is_arithmetic(type) || type->kind == K_POINTER;
}

int wmi_c_is_signed(const struct type *type)
{
    switch (type->kind) {
    case K_CHAR:
    case K_SCHAR:
    case K_SHORT:
    case K_INT:
    case K_LONG:
    case K_LLONG: return 1;
    default: return 0;
    }
}

const struct type *wmi_c_leaf(const struct type *type, uint32_t leaf, uint64_t *offset)
{
    *offset = 0;
    while (type->kind == K_ARRAY || type->kind == K_RECORD) {
        if (type->kind == K_ARRAY) {
            *offset += leaf / type->base->leaves * type->base->size;
            leaf %= type->base->leaves;
            type = type->base;
        } else {
            const struct record *record = type->record;
            uint32_t i = record->n_fields - 1;

            while (i && (record->fields[i].leaf > leaf || record->fields[i].type->leaves == 0))
                i--;
            *offset += record->fields[i].offset;
            leaf -= record->fields[i].leaf;
            type = record->fields[i].type;
        }
    }
    return type;
}

static const char *name_at(struct compile *c, const struct type *type, unsigned depth)
{
    const char *head = type->is_const ? "const " : "";

    if (depth > 16)
        return "...";
    switch (type->kind) {
    case K_POINTER:
        return wmi_c_text(c, "%s *%s", name_at(c, type->base, depth + 1), type->is_const ? "const" : "");
    case K_REFERENCE:
        return wmi_c_text(c, "%s &", name_at(c, type->base, depth + 1));
    case K_ARRAY:
        return wmi_c_text(c, "%s[%llu]", name_at(c, type->base, depth + 1), (unsigned long long)type->count);
    case K_RECORD:
        return wmi_c_text(c, "%s%s", head, type->record->name);
    case K_PLACEHOLDER:
        return "a template's type";
    default:
        return wmi_c_text(c, "%s%s", head, basics[type->kind].name);
    }
}

const char *wmi_c_type_name(struct compile *c, const struct type *type)
{
    return name_at(c, type, 0);
}
