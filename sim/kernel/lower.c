/* From the typed tree to the program. Calls are inlined, as nvcc does with what it can; recursion is refused. */
#include <string.h>

#include "compile.h"
#include "execute.h"
#include "half.h"

/* Numbers of constant registers start here until the number of the others is known. */
#define CONSTANTS 0x40000000u

/* An instruction that has no target yet. Its target field links it to the one before it in the same chain. */
#define NOWHERE UINT32_MAX

/* A stretch of code that lanes may leave early: who has no lane left jumps to its end. */
struct region {
    struct region *outer;
    uint32_t chain;
};

struct lower {
    struct compile *c;
    struct program *program;
    uint32_t next;    /* free register */
    uint32_t depth;   /* control flow */
    uint64_t local;   /* bytes of local memory in use */
    struct region *region;
    struct place place;
    uint32_t result;  /* register of the inlined function's result */
    int has_frame;    /* its returns need one */
    unsigned inlined; /* calls inlined into each other */
    unsigned nested;  /* values inside values */
};

static uint32_t value_of(struct lower *l, struct expr *e);
static uint32_t record_of(struct lower *l, struct expr *e);
static void statements(struct lower *l, struct stmt *s);
static void lower_one(struct lower *l, struct stmt *s);

/* ---------------------------------------------------------------------------------------------------------- instructions */

static struct insn *emit(struct lower *l, enum op op, uint32_t dst, uint32_t a, uint32_t b)
{
    struct program *p = l->program;
    struct insn *insn;

    if (p->n_code >= WMI_MAX_INSTRUCTIONS)
        wmi_c_fail(l->c, WM_E_RANGE, l->place, "the kernel is too long: more than %u instructions", WMI_MAX_INSTRUCTIONS);
    p->code = wmi_c_grow(l->c, p->code, p->n_code, &p->code_room, sizeof *p->code);
    p->places = wmi_c_grow(l->c, p->places, p->n_code, &p->place_room, sizeof *p->places);
    p->places[p->n_code] = l->place;
    insn = &p->code[p->n_code++];
    *insn = (struct insn){(uint16_t)op, 0, dst, a, b, 0, NOWHERE, 0};
    return insn;
}

static uint32_t registers(struct lower *l, uint32_t n)
{
    const uint32_t first = l->next;

    if (n > WMI_MAX_REGISTERS || l->next + n > WMI_MAX_REGISTERS)
        wmi_c_fail(l->c, WM_E_RANGE, l->place, "the kernel needs more than %u registers", WMI_MAX_REGISTERS);
    l->next += n;
    if (l->next > l->program->n_registers)
        l->program->n_registers = l->next;
    return first;
}

static uint32_t unary(struct lower *l, enum op op, uint32_t a)
{
    const uint32_t dst = registers(l, 1);

    emit(l, op, dst, a, 0);
    return dst;
}

static uint32_t binary(struct lower *l, enum op op, uint32_t a, uint32_t b)
{
    const uint32_t dst = registers(l, 1);

    emit(l, op, dst, a, b);
    return dst;
}

static uint32_t constant(struct lower *l, uint64_t bits, int is_64)
{
    struct program *p = l->program;

    if (!is_64)
        bits = (uint32_t)bits;
    for (uint32_t i = 0; i < p->n_constants; i++) {
        if (p->constants[i].bits == bits && p->constants[i].is_64 == is_64)
            return CONSTANTS + i;
    }
    if (p->n_constants >= WMI_MAX_REGISTERS)
        wmi_c_fail(l->c, WM_E_RANGE, l->place, "the kernel has more than %u different constants", WMI_MAX_REGISTERS);
    p->constants = wmi_c_grow(l->c, p->constants, p->n_constants, &p->constant_room, sizeof *p->constants);
    p->constants[p->n_constants] = (struct constant){0, is_64, bits};
    return CONSTANTS + p->n_constants++;
}

static int is_64(const struct type *type)
{
    return type->size > 4;
}

uint64_t wmi_c_bits(const struct type *type, const union value *value)
{
    uint64_t bits = value->i;
    uint32_t half_way;
    float f;

    if (type->kind == K_DOUBLE) {
        memcpy(&bits, &value->f, sizeof bits);
    } else if (type->kind == K_FLOAT) {
        f = (float)value->f;
        memcpy(&half_way, &f, sizeof half_way);
        bits = half_way;
    } else if (type->kind == K_HALF) {
        bits = wmi_float_to_half((float)value->f);
    }
    return bits;
}

static void move(struct lower *l, const struct type *type, uint32_t dst, uint32_t src)
{
    uint64_t offset;

    if (dst == src)
        return;
    if (type->kind != K_RECORD && type->kind != K_ARRAY) {
        emit(l, is_64(type) ? X_MOV64 : X_MOV32, dst, src, 0);
        return;
    }
    for (uint32_t i = 0; i < type->leaves; i++)
        emit(l, is_64(wmi_c_leaf(type, i, &offset)) ? X_MOV64 : X_MOV32, dst + i, src + i, 0);
}

static void chain(struct region *region, struct program *p)
{
    p->code[p->n_code - 1].target = region->chain;
    region->chain = p->n_code - 1;
}

/* All of the chain go on at the next instruction. */
static void patch(struct lower *l, uint32_t at)
{
    while (at != NOWHERE) {
        const uint32_t next = l->program->code[at].target;

        l->program->code[at].target = l->program->n_code;
        at = next;
    }
}

static void deeper(struct lower *l)
{
    if (++l->depth > l->program->depth)
        l->program->depth = l->depth;
}

/* ------------------------------------------------------------------------------------------------------------ conversions */

/* The letter of a scalar's arithmetic: s u S U f d h. */
static char class_of(const struct type *type)
{
    switch (type->kind) {
    case K_FLOAT: return 'f';
    case K_DOUBLE: return 'd';
    case K_HALF: return 'h';
    default: return is_64(type) ? (wmi_c_is_signed(type) ? 'S' : 'U') : (wmi_c_is_signed(type) ? 's' : 'u');
    }
}

static uint32_t to_bool(struct lower *l, const struct type *from, uint32_t reg)
{
    switch (class_of(from)) {
    case 'f': return binary(l, X_NE_F, reg, constant(l, 0, 0));
    case 'd': return binary(l, X_NE_D, reg, constant(l, 0, 1));
    case 'h': return binary(l, X_NE_F, unary(l, X_H_F, reg), constant(l, 0, 0));
    case 'S':
    case 'U': return binary(l, X_NE_L, reg, constant(l, 0, 1));
    default: return binary(l, X_NE_I, reg, constant(l, 0, 0));
    }
}

/* Brings 32 bits to the range of a smaller type. */
static uint32_t narrow(struct lower *l, const struct type *to, uint32_t reg)
{
    if (to->size == 1)
        return unary(l, wmi_c_is_signed(to) ? X_S8 : X_U8, reg);
    if (to->size == 2)
        return unary(l, wmi_c_is_signed(to) ? X_S16 : X_U16, reg);
    return reg;
}

static uint32_t from_floating(struct lower *l, char from, const struct type *to, uint32_t reg)
{
    const int is_double = from == 'd';

    switch (class_of(to)) {
    case 'f': return is_double ? unary(l, X_D_F, reg) : reg;
    case 'd': return is_double ? reg : unary(l, X_F_D, reg);
    case 'h': return unary(l, X_F_H, is_double ? unary(l, X_D_F, reg) : reg);
    case 'S': return unary(l, is_double ? X_D_SL : X_F_SL, reg);
    case 'U': return unary(l, is_double ? X_D_UL : X_F_UL, reg);
    case 's': return narrow(l, to, unary(l, is_double ? X_D_S : X_F_S, reg));
    default: return to->size == 4 ? unary(l, is_double ? X_D_U : X_F_U, reg)
                                  : narrow(l, to, unary(l, is_double ? X_D_S : X_F_S, reg));
    }
}

static uint32_t from_integer(struct lower *l, char from, const struct type *to, uint32_t reg)
{
    const char cls = class_of(to);

    if (cls == 'f' || cls == 'h') {
        reg = unary(l, from == 's' ? X_S_F : from == 'u' ? X_U_F : from == 'S' ? X_SL_F : X_UL_F, reg);
        return cls == 'h' ? unary(l, X_F_H, reg) : reg;
    }
    if (cls == 'd')
        return unary(l, from == 's' ? X_S_D : from == 'u' ? X_U_D : from == 'S' ? X_SL_D : X_UL_D, reg);
    if (cls == 'S' || cls == 'U')
        return from == 's' ? unary(l, X_SL_I, reg) : from == 'u' ? unary(l, X_UL_I, reg) : reg;
    if (from == 'S' || from == 'U')
        reg = unary(l, X_I_L, reg);
    return narrow(l, to, reg);
}

static uint32_t convert(struct lower *l, const struct type *from, const struct type *to, uint32_t reg)
{
    const char cls = class_of(from);

    if (to->kind == K_BOOL)
        return from->kind == K_BOOL ? reg : to_bool(l, from, reg);
    if (from->kind == to->kind)
        return reg;
    if (cls == 'h')
        return from_floating(l, 'f', to, unary(l, X_H_F, reg));
    if (cls == 'f' || cls == 'd')
        return from_floating(l, cls, to, reg);
    return from_integer(l, cls, to, reg);
}

/* ---------------------------------------------------------------------------------------------------------------- effects */

/* Whether evaluating e does more than compute: then it must happen only for the lanes that get there. */
static int has_effects(struct expr *e)
{
    int found = 0;

    if (e->effects)
        return e->effects == 2;
    switch (e->kind) {
    case E_CONST: break;
    case E_VAR: found = e->symbol->storage != ST_AUTO || e->symbol->in_memory || e->symbol->type->kind == K_REFERENCE; break;
    case E_DEREF:
    case E_INDEX:
    case E_VIEW:
    case E_CALL:
    case E_ASSIGN:
    case E_ASSIGN_OP:
    case E_STEP: found = 1; break;
    case E_BUILTIN:
        found = e->op < B_POPC || e->op == B_ASSERT || e->op == B_TRAP;
        break;
    case E_BINARY: found = (e->op == '/' || e->op == '%') && wmi_c_is_integer(e->type); break;
    case E_ADDRESS:
    case E_DECAY: break;
    default: break;
    }
    if (!found && e->a)
        found = has_effects(e->a);
    if (!found && e->b)
        found = has_effects(e->b);
    if (!found && e->c && e->kind == E_COND)
        found = has_effects(e->c);
    for (uint32_t i = 0; i < e->n_args && !found; i++)
        found = has_effects(e->args[i]);
    e->effects = found ? 2 : 1;
    return found;
}

/* --------------------------------------------------------------------------------------------------------------- accesses */

static uint8_t format_of(const struct type *type)
{
    switch (type->size) {
    case 1: return wmi_c_is_signed(type) ? LEAF_S8 : LEAF_U8;
    case 2: return wmi_c_is_signed(type) ? LEAF_S16 : LEAF_U16;
    case 4: return LEAF_32;
    default: return LEAF_64;
    }
}

static uint32_t plan_add(struct lower *l, const struct plan *plan)
{
    struct program *p = l->program;

    for (uint32_t i = 0; i < p->n_plans; i++) {
        if (memcmp(&p->plans[i], plan, sizeof *plan) == 0)
            return i;
    }
    p->plans = wmi_c_grow(l->c, p->plans, p->n_plans, &p->plan_room, sizeof *p->plans);
    p->plans[p->n_plans] = *plan;
    return p->n_plans++;
}

struct direction {
    int is_store;
    uint8_t cache;
};

/* One instruction for bytes offset .. offset + bytes - 1 of type, which hold its scalars from leaf on, in elements of
 * element bytes. Returns the scalars done. */
static uint32_t access_piece(struct lower *l, const struct where *where, const struct type *type, uint32_t leaf, uint32_t reg,
                             uint64_t offset, uint32_t bytes, uint32_t element, struct direction direction)
{
    struct plan plan;
    struct insn *insn;
    uint32_t index;

    memset(&plan, 0, sizeof plan);
    plan.opcode.operation = direction.is_store ? WM_ST : WM_LD;
    plan.opcode.cache = direction.cache;
    plan.opcode.type_bytes = (uint8_t)element;
    plan.opcode.vector = (uint8_t)(bytes / element);
    plan.opcode.width_bytes = (uint8_t)bytes;
    while (leaf + plan.n_leaves < type->leaves) {
        uint64_t at;
        const struct type *scalar = wmi_c_leaf(type, leaf + plan.n_leaves, &at);

        if (at >= offset + bytes || plan.n_leaves >= WMI_PLAN_LEAVES)
            break;
        plan.leaves[plan.n_leaves].offset = (uint8_t)(at - offset);
        plan.leaves[plan.n_leaves].format = format_of(scalar);
        plan.n_leaves++;
    }
    index = plan_add(l, &plan);
    insn = emit(l, direction.is_store ? X_STORE : X_LOAD, reg + leaf, where->reg, reg + leaf);
    insn->target = index;
    insn->imm = where->offset + offset;
    return plan.n_leaves;
}

/* A whole value in memory: as wide as its type allows. Vector types are one instruction; a struct aligned to 16 bytes is
 * copied 16 bytes at a time; any other struct and array scalar by scalar and vector by vector. */
static void access_memory(struct lower *l, const struct where *where, const struct type *type, uint64_t offset, uint32_t reg,
                          struct direction direction)
{
    struct where moved = *where;

    moved.offset += offset;
    if (type->kind == K_ARRAY) {
        for (uint64_t i = 0; i < type->count; i++)
            access_memory(l, &moved, type->base, i * type->base->size, reg + (uint32_t)i * type->base->leaves, direction);
        return;
    }
    if (type->kind != K_RECORD) {
        access_piece(l, &moved, type, 0, reg, 0, (uint32_t)type->size, (uint32_t)type->size, direction);
        return;
    }
    if (type->record->vector) {
        const uint32_t bytes = type->size > 16 ? 16 : (uint32_t)type->size;
        const uint32_t element = type->record->name[0] == '_' ? bytes : (uint32_t)type->size / type->record->vector;
        uint32_t leaf = 0;

        for (uint64_t at = 0; at < type->size; at += bytes)
            leaf += access_piece(l, &moved, type, leaf, reg, at, bytes, element, direction);
        return;
    }
    if (type->align >= 16) {
        uint32_t leaf = 0;

        for (uint64_t at = 0; at < type->size && leaf < type->leaves; at += 16)
            leaf += access_piece(l, &moved, type, leaf, reg, at, 16, 4, direction);
        return;
    }
    for (uint32_t i = 0; i < type->record->n_fields; i++) {
        const struct field *field = &type->record->fields[i];

        access_memory(l, &moved, field->type, field->offset, reg + field->leaf, direction);
    }
}

static uint32_t load(struct lower *l, const struct where *where, const struct type *type, uint8_t cache)
{
    const uint32_t dst = registers(l, type->leaves);
    uint64_t offset;

    if (where->kind == W_REGISTER_INDEXED) {
        for (uint32_t i = 0; i < type->leaves; i++) {
            struct insn *insn = emit(l, is_64(wmi_c_leaf(type, i, &offset)) ? X_GET64 : X_GET32, dst + i, where->reg + i,
                                     where->index);

            insn->imm = where->bound - i;
        }
        return dst;
    }
    access_memory(l, where, type, 0, dst, (struct direction){0, cache});
    return dst;
}

static void store(struct lower *l, const struct where *where, const struct type *type, uint32_t src, uint8_t cache)
{
    uint64_t offset;

    if (where->kind == W_REGISTER) {
        move(l, type, where->reg, src);
    } else if (where->kind == W_REGISTER_INDEXED) {
        for (uint32_t i = 0; i < type->leaves; i++) {
            struct insn *insn = emit(l, is_64(wmi_c_leaf(type, i, &offset)) ? X_PUT64 : X_PUT32, where->reg + i, src + i,
                                     where->index);

            insn->imm = where->bound - i;
        }
    } else {
        access_memory(l, where, type, 0, src, (struct direction){1, cache});
    }
}

/* The value of what is there, in registers that may be the variable's own. */
static uint32_t fetch(struct lower *l, const struct where *where, const struct type *type)
{
    return where->kind == W_REGISTER ? where->reg : load(l, where, type, WM_CACHE_NONE);
}

/* ---------------------------------------------------------------------------------------------------------------- lvalues */

/* base + index * size, with the index's own sign. */
static uint32_t address_add(struct lower *l, uint32_t base, uint32_t index, const struct type *type, uint64_t size)
{
    const uint32_t dst = registers(l, 1);

    emit(l, is_64(type) ? X_LEA_L : wmi_c_is_signed(type) ? X_LEA_S : X_LEA_U, dst, base, index)->imm = size;
    return dst;
}

static struct where where_is(struct lower *l, struct expr *e);

static struct where element_of(struct lower *l, struct expr *e)
{
    struct where where = where_is(l, e->a);
    const uint64_t count = e->a->type->count;
    uint32_t index;

    if (e->b->kind == E_CONST) {
        const uint64_t i = e->b->value.i;

        if (where.kind == W_MEMORY) {
            where.offset += i * e->type->size;
            return where;
        }
        if (i >= count)
            wmi_c_fail(l->c, WM_E_RANGE, e->place, "index %lld of an array of %llu elements", (long long)i,
                       (unsigned long long)count);
        where.reg += (uint32_t)i * e->type->leaves;
        where.bound -= (uint32_t)i * e->type->leaves;
        return where;
    }
    index = value_of(l, e->b);
    if (where.kind == W_MEMORY) {
        where.reg = address_add(l, where.reg, index, e->b->type, e->type->size);
        return where;
    }
    if (is_64(e->b->type))
        index = unary(l, X_I_L, index);
    if (e->type->leaves != 1)
        index = binary(l, X_MUL_I, index, constant(l, e->type->leaves, 0));
    if (where.kind == W_REGISTER_INDEXED)
        index = binary(l, X_ADD_I, index, where.index);
    where.kind = W_REGISTER_INDEXED;
    where.index = index;
    return where;
}

static struct where variable_is(struct lower *l, struct symbol *symbol)
{
    struct where where = {W_MEMORY, 0, 0, 0, 0};

    switch (symbol->storage) {
    case ST_SHARED:
    case ST_SHARED_EXTERN: where.reg = constant(l, WMI_SHARED_WINDOW + symbol->offset, 1); return where;
    case ST_CONSTANT: where.reg = constant(l, WMI_CONST_WINDOW + symbol->offset, 1); return where;
    case ST_DEVICE: where.reg = CONSTANTS + l->program->variables[symbol->buffer].pointer; return where;
    default: return symbol->where;
    }
}

/* How many scalars in registers are one of a value: 2 where pairs of 16 bits are looked at as 32, else 1. */
static uint32_t parts_of(const struct expr *e)
{
    uint64_t offset;

    if (e->kind != E_VIEW)
        return 1;
    return (uint32_t)(wmi_c_leaf(e->type, 0, &offset)->size / wmi_c_leaf(e->a->type, 0, &offset)->size);
}

/* The type of the scalars in registers that an lvalue of pairs is made of, as an array. */
static struct type pieces_of(const struct expr *e)
{
    uint64_t offset;
    struct type pieces = {.kind = K_ARRAY, .base = wmi_c_leaf(e->a->type, 0, &offset)};

    pieces.leaves = e->type->leaves * parts_of(e);
    pieces.count = pieces.leaves;
    pieces.size = e->type->size;
    return pieces;
}

/* The value of an lvalue that is there, in registers that may be the variable's own. */
static uint32_t value_at(struct lower *l, const struct expr *e, const struct where *where)
{
    struct type pieces;
    uint32_t from;
    uint32_t dst;

    if (where->kind == W_MEMORY || parts_of(e) == 1)
        return fetch(l, where, e->type);
    pieces = pieces_of(e);
    from = fetch(l, where, &pieces);
    dst = registers(l, e->type->leaves);
    for (uint32_t i = 0; i < e->type->leaves; i++) {
        const uint32_t high = binary(l, X_SHL_I, from + 2 * i + 1, constant(l, 16, 0));

        emit(l, X_OR_I, dst + i, unary(l, X_U16, from + 2 * i), high);
    }
    return dst;
}

/* Gives an lvalue that is there a value. */
static void give_value(struct lower *l, const struct expr *e, const struct where *where, uint32_t value)
{
    struct type pieces;
    uint32_t parts;

    if (where->kind == W_MEMORY || parts_of(e) == 1) {
        store(l, where, e->type, value, WM_CACHE_NONE);
        return;
    }
    pieces = pieces_of(e);
    parts = registers(l, pieces.leaves);
    for (uint32_t i = 0; i < e->type->leaves; i++) {
        const enum op op = wmi_c_is_signed(pieces.base) ? X_S16 : X_U16;

        emit(l, op, parts + 2 * i, value + i, 0);
        emit(l, op, parts + 2 * i + 1, binary(l, X_SHR_U, value + i, constant(l, 16, 0)), 0);
    }
    store(l, where, &pieces, parts, WM_CACHE_NONE);
}

/* Moves where it is on by a number of values of type. */
static void where_add(struct lower *l, struct where *where, int op, struct expr *b, const struct type *type, struct place place)
{
    uint32_t index;

    if (b->kind == E_CONST) {
        const uint64_t i = op == '+' ? b->value.i : 0 - b->value.i;

        if (i * type->leaves >= where->bound || i >= where->bound)
            wmi_c_fail(l->c, WM_E_RANGE, place, "index %lld beyond a local array", (long long)i);
        where->reg += (uint32_t)i * type->leaves;
        where->bound -= (uint32_t)i * type->leaves;
        return;
    }
    index = value_of(l, b);
    if (is_64(b->type))
        index = unary(l, X_I_L, index);
    if (type->leaves != 1 || op == '-')
        index = binary(l, X_MUL_I, index, constant(l, op == '-' ? 0 - (uint64_t)type->leaves : type->leaves, 0));
    if (where->kind == W_REGISTER_INDEXED)
        index = binary(l, X_ADD_I, index, where->index);
    where->kind = W_REGISTER_INDEXED;
    where->index = index;
}

/* Whether a pointer points into registers, and where. */
static int points_to_registers(struct lower *l, struct expr *pointer, struct where *where)
{
    const struct symbol *root;

    while (pointer->kind == E_CAST && pointer->a->type->kind == K_POINTER)
        pointer = pointer->a;
    if (pointer->kind == E_BINARY && pointer->type->kind == K_POINTER) {
        if (!points_to_registers(l, pointer->a, where))
            return 0;
        where_add(l, where, pointer->op, pointer->b, pointer->type->base, pointer->place);
        return 1;
    }
    if (pointer->kind == E_VAR && pointer->symbol->is_alias) {
        *where = pointer->symbol->where;
        return 1;
    }
    if (pointer->kind != E_DECAY && pointer->kind != E_ADDRESS)
        return 0;
    root = wmi_c_root(pointer->a);
    if (!root || root->storage != ST_AUTO || root->in_memory || (root->type->kind == K_REFERENCE && root->where.kind == W_MEMORY))
        return 0;
    *where = where_is(l, pointer->a);
    return where->kind == W_REGISTER || where->kind == W_REGISTER_INDEXED;
}

static struct where where_is(struct lower *l, struct expr *e)
{
    struct where where;

    switch (e->kind) {
    case E_VAR: return variable_is(l, e->symbol);
    case E_DEREF:
        if (points_to_registers(l, e->a, &where))
            return where;
        where = (struct where){W_MEMORY, value_of(l, e->a), 0, 0, 0};
        return where;
    case E_INDEX: return element_of(l, e);
    case E_VIEW:
        where = where_is(l, e->a);
        if (where.kind == W_REGISTER && where.bound < e->type->leaves * parts_of(e))
            wmi_c_fail(l->c, WM_E_RANGE, e->place, "%s behind the end of a local array", wmi_c_type_name(l->c, e->type));
        return where;
    case E_MEMBER:
        if (!e->a->is_lvalue)
            return (struct where){W_REGISTER, record_of(l, e->a) + e->field->leaf, 0, e->field->type->leaves, 0};
        where = where_is(l, e->a);
        if (where.kind == W_MEMORY) {
            where.offset += e->field->offset;
        } else {
            where.reg += e->field->leaf;
            where.bound -= e->field->leaf;
        }
        return where;
    default: wmi_c_refuse(l->c, e->place, "this use of a value as a variable");
    }
}

static uint32_t address_of(struct lower *l, struct expr *e)
{
    const struct where where = where_is(l, e);

    if (where.kind != W_MEMORY)
        wmi_c_refuse(l->c, e->place, "the address of this variable");
    return where.offset ? binary(l, X_ADD_L, where.reg, constant(l, where.offset, 1)) : where.reg;
}

/* --------------------------------------------------------------------------------------------------------------- operators */

#define BY_CLASS(s, u, S, U, f, d) {{'s', X_##s}, {'u', X_##u}, {'S', X_##S}, {'U', X_##U}, {'f', X_##f}, {'d', X_##d}}

static const struct {
    int op;
    int is_swapped;
    struct {
        char cls;
        uint16_t insn;
    } by[6];
} operators[] = {
    {'+', 0, BY_CLASS(ADD_I, ADD_I, ADD_L, ADD_L, ADD_F, ADD_D)},
    {'-', 0, BY_CLASS(SUB_I, SUB_I, SUB_L, SUB_L, SUB_F, SUB_D)},
    {'*', 0, BY_CLASS(MUL_I, MUL_I, MUL_L, MUL_L, MUL_F, MUL_D)},
    {'/', 0, BY_CLASS(DIV_S, DIV_U, DIV_SL, DIV_UL, DIV_F, DIV_D)},
    {'%', 0, BY_CLASS(REM_S, REM_U, REM_SL, REM_UL, EXIT, EXIT)},
    {'&', 0, BY_CLASS(AND_I, AND_I, AND_L, AND_L, EXIT, EXIT)},
    {'|', 0, BY_CLASS(OR_I, OR_I, OR_L, OR_L, EXIT, EXIT)},
    {'^', 0, BY_CLASS(XOR_I, XOR_I, XOR_L, XOR_L, EXIT, EXIT)},
    {P_SHL, 0, BY_CLASS(SHL_I, SHL_I, SHL_L, SHL_L, EXIT, EXIT)},
    {P_SHR, 0, BY_CLASS(SHR_S, SHR_U, SHR_SL, SHR_UL, EXIT, EXIT)},
    {'<', 0, BY_CLASS(LT_S, LT_U, LT_SL, LT_UL, LT_F, LT_D)},
    {'>', 1, BY_CLASS(LT_S, LT_U, LT_SL, LT_UL, LT_F, LT_D)},
    {P_LE, 0, BY_CLASS(LE_S, LE_U, LE_SL, LE_UL, LE_F, LE_D)},
    {P_GE, 1, BY_CLASS(LE_S, LE_U, LE_SL, LE_UL, LE_F, LE_D)},
    {P_EQ, 0, BY_CLASS(EQ_I, EQ_I, EQ_L, EQ_L, EQ_F, EQ_D)},
    {P_NE, 0, BY_CLASS(NE_I, NE_I, NE_L, NE_L, NE_F, NE_D)},
};

static int is_comparison(int op)
{
    return op == '<' || op == '>' || op == P_LE || op == P_GE || op == P_EQ || op == P_NE;
}

/* a op b, both of type. */
static uint32_t apply(struct lower *l, int op, const struct type *type, uint32_t a, uint32_t b)
{
    const char cls = class_of(type);
    uint32_t result;

    if (cls == 'h') {
        const struct type *wide = wmi_c_basic(l->c, K_FLOAT);

        result = apply(l, op, wide, unary(l, X_H_F, a), unary(l, X_H_F, b));
        return is_comparison(op) ? result : unary(l, X_F_H, result);
    }
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (operators[i].op != op)
            continue;
        for (unsigned k = 0; k < 6; k++) {
            if (operators[i].by[k].cls != cls)
                continue;
            return operators[i].is_swapped ? binary(l, (enum op)operators[i].by[k].insn, b, a)
                                           : binary(l, (enum op)operators[i].by[k].insn, a, b);
        }
    }
    wmi_c_refuse(l->c, l->place, "this operator");
}

/* A shift's count is brought to 32 bits; what is too large stays so. */
static uint32_t shift_count(struct lower *l, struct expr *e)
{
    const uint32_t reg = value_of(l, e);

    if (!is_64(e->type))
        return reg;
    return unary(l, X_I_L, binary(l, X_MIN_UL, reg, constant(l, 64, 1)));
}

static uint32_t pointer_add(struct lower *l, int op, const struct type *pointer, uint32_t reg, struct expr *b)
{
    const uint64_t size = pointer->base->size;
    uint32_t index;

    if (b->kind == E_CONST) {
        const uint64_t bytes = b->value.i * size;

        return bytes ? binary(l, X_ADD_L, reg, constant(l, op == '+' ? bytes : 0 - bytes, 1)) : reg;
    }
    index = value_of(l, b);
    return address_add(l, reg, index, b->type, op == '+' ? size : 0 - size);
}

static uint32_t binary_value(struct lower *l, struct expr *e)
{
    uint32_t a;

    if (e->type->kind == K_POINTER)
        return pointer_add(l, e->op, e->type, value_of(l, e->a), e->b);
    a = value_of(l, e->a);
    if (e->a->type->kind == K_POINTER) { /* p - q */
        const uint32_t bytes = binary(l, X_SUB_L, a, value_of(l, e->b));
        const uint64_t size = e->a->type->base->size;

        return size == 1 ? bytes : binary(l, X_DIV_SL, bytes, constant(l, size, 1));
    }
    if (e->op == P_SHL || e->op == P_SHR)
        return apply(l, e->op, e->a->type, a, shift_count(l, e->b));
    return apply(l, e->op, e->a->type, a, value_of(l, e->b));
}

/* dst = value in the lanes where the condition holds, without evaluating it in the others. */
static void guarded(struct lower *l, uint32_t condition, const struct type *type, uint32_t dst, struct expr *value,
                    struct expr *other)
{
    const uint32_t mark = l->next;
    struct region region = {l->region, NOWHERE};
    uint32_t at;

    deeper(l);
    emit(l, X_IF, 0, condition, 0);
    chain(&region, l->program);
    l->region = &region;
    if (type->kind == K_VOID)
        value_of(l, value);
    else
        move(l, type, dst, type->kind == K_RECORD ? record_of(l, value) : value_of(l, value));
    l->next = mark;
    if (other) {
        patch(l, region.chain);
        region.chain = NOWHERE;
        emit(l, X_ELSE, 0, 0, 0);
        chain(&region, l->program);
        if (type->kind == K_VOID)
            value_of(l, other);
        else
            move(l, type, dst, type->kind == K_RECORD ? record_of(l, other) : value_of(l, other));
        l->next = mark;
    }
    patch(l, region.chain);
    l->region = region.outer;
    emit(l, X_ENDIF, 0, 0, 0);
    at = l->program->n_code - 1;
    l->program->code[at].target = l->region->chain;
    l->region->chain = at;
    l->depth--;
}

static uint32_t logical_value(struct lower *l, struct expr *e)
{
    const int is_and = e->kind == E_AND;
    const uint32_t a = value_of(l, e->a);
    uint32_t dst;

    if (!has_effects(e->b))
        return binary(l, is_and ? X_AND_I : X_OR_I, a, value_of(l, e->b));
    dst = registers(l, 1);
    emit(l, X_MOV32, dst, a, 0);
    guarded(l, is_and ? a : unary(l, X_LNOT, a), e->type, dst, e->b, NULL);
    return dst;
}

static uint32_t choice_value(struct lower *l, struct expr *e)
{
    const uint32_t a = value_of(l, e->a);
    uint32_t dst;

    if (e->type->kind != K_RECORD && e->type->kind != K_VOID && !has_effects(e->b) && !has_effects(e->c)) {
        const uint32_t yes = value_of(l, e->b);
        const uint32_t no = value_of(l, e->c);

        dst = registers(l, 1);
        emit(l, is_64(e->type) ? X_SELECT64 : X_SELECT32, dst, yes, no)->c = a;
        return dst;
    }
    dst = registers(l, e->type->leaves);
    guarded(l, a, e->type, dst, e->b, e->c);
    return dst;
}

static uint32_t assign_value(struct lower *l, struct expr *e)
{
    const int is_record = e->type->kind == K_RECORD;
    uint32_t value = is_record ? record_of(l, e->b) : value_of(l, e->b);
    struct where where;

    if (is_record && e->b->is_lvalue) { /* it may be what is overwritten */
        const uint32_t copy = registers(l, e->type->leaves);

        move(l, e->type, copy, value);
        value = copy;
    }
    where = where_is(l, e->a);
    l->place = e->place;
    give_value(l, e->a, &where, value);
    return value;
}

static uint32_t assign_op_value(struct lower *l, struct expr *e)
{
    const struct type *type = e->c->type;
    const int is_shift = e->op == P_SHL || e->op == P_SHR;
    uint32_t b = NOWHERE;
    struct where where;
    uint32_t value;

    if (type->kind != K_POINTER)
        b = is_shift ? shift_count(l, e->b) : value_of(l, e->b);
    where = where_is(l, e->a);
    l->place = e->place;
    value = value_at(l, e->a, &where);
    if (type->kind == K_POINTER)
        value = pointer_add(l, e->op, type, value, e->b);
    else
        value = convert(l, type, e->a->type, apply(l, e->op, type, convert(l, e->a->type, type, value), b));
    give_value(l, e->a, &where, value);
    return value;
}

static uint32_t step_value(struct lower *l, struct expr *e)
{
    const struct where where = where_is(l, e->a);
    const struct type *type = e->type;
    uint32_t before;
    uint32_t after;

    l->place = e->place;
    before = value_at(l, e->a, &where);
    if (e->is_post && !e->is_unused && where.kind == W_REGISTER) { /* the variable's register is about to change */
        const uint32_t copy = registers(l, 1);

        emit(l, is_64(type) ? X_MOV64 : X_MOV32, copy, before, 0);
        before = copy;
    }
    if (type->kind == K_POINTER) {
        after = binary(l, X_ADD_L, before, constant(l, e->op == '+' ? type->base->size : 0 - type->base->size, 1));
    } else {
        const union value one_float = {.f = 1.0};
        const union value one_integer = {.i = 1};
        const struct type *in = wmi_c_is_integer(type) && type->size < 4 ? wmi_c_basic(l->c, K_INT) : type;
        const uint32_t one = constant(l, wmi_c_bits(in, wmi_c_is_floating(in) ? &one_float : &one_integer), is_64(in));

        after = convert(l, in, type, apply(l, e->op, in, before, one));
    }
    give_value(l, e->a, &where, after);
    return e->is_post ? before : after;
}

/* --------------------------------------------------------------------------------------------------------------- builtins */

static enum op pick(char cls, enum op s, enum op u, enum op S, enum op U, enum op f, enum op d)
{
    switch (cls) {
    case 's': return s;
    case 'u': return u;
    case 'S': return S;
    case 'U': return U;
    case 'f': return f;
    default: return d;
    }
}

static uint32_t atomic_value(struct lower *l, struct expr *e)
{
    const struct type *type = e->type;
    const uint32_t address = value_of(l, e->args[0]);
    const uint32_t b = value_of(l, e->args[1]);
    const uint32_t c = e->n_args > 2 ? value_of(l, e->args[2]) : 0;
    const uint32_t dst = registers(l, 1);
    struct plan plan;
    struct insn *insn;
    uint32_t index;
    /* CAS and exchange have no form without a result */
    const int is_reduction = e->is_unused && e->value.i != WM_ATOMIC_CAS && e->value.i != WM_ATOMIC_EXCH;

    memset(&plan, 0, sizeof plan);
    plan.element = (uint8_t)class_of(type);
    plan.opcode.operation = is_reduction ? WM_RED : WM_ATOM;
    plan.opcode.atomic = (uint8_t)e->value.i;
    plan.opcode.type_bytes = plan.opcode.width_bytes = (uint8_t)type->size;
    plan.opcode.vector = 1;
    plan.opcode.type = wmi_c_is_floating(type) ? WM_TYPE_F : WM_TYPE_U;
    switch (e->value.i) {
    case WM_ATOMIC_EXCH: case WM_ATOMIC_CAS: case WM_ATOMIC_AND: case WM_ATOMIC_OR: case WM_ATOMIC_XOR:
        plan.opcode.type = WM_TYPE_B;
        break;
    case WM_ATOMIC_MIN: case WM_ATOMIC_MAX:
        plan.opcode.type = wmi_c_is_signed(type) ? WM_TYPE_S : WM_TYPE_U;
        break;
    default: break;
    }
    index = plan_add(l, &plan);
    l->place = e->place;
    insn = emit(l, X_ATOMIC, dst, address, b);
    insn->c = c;
    insn->target = index;
    return dst;
}

/* A value's registers, one after the other. */
static uint32_t registers_of(struct lower *l, struct expr *e)
{
    return e->type->kind == K_RECORD ? record_of(l, e) : value_of(l, e);
}

static uint32_t plan_of(struct lower *l, const char *opcode)
{
    struct plan plan;

    memset(&plan, 0, sizeof plan);
    if (wm_opcode_parse(opcode, strlen(opcode), &plan.opcode, NULL) != WM_OK)
        wmi_c_refuse(l->c, l->place, "%s", opcode);
    return plan_add(l, &plan);
}

/* ldmatrix, stmatrix, cp.async */
static uint32_t moving_value(struct lower *l, struct expr *e)
{
    const unsigned matrices = (unsigned)e->value.i & (WMI_MATRIX_TRANSPOSED - 1);
    const char *trans = e->value.i & WMI_MATRIX_TRANSPOSED ? ".trans" : "";
    const unsigned bytes = (unsigned)e->value.i & (WMI_COPY_CG - 1);
    uint32_t a = value_of(l, e->args[0]);
    struct insn *insn;
    uint32_t b;
    uint32_t c;

    l->place = e->place;
    if (e->op == B_LDMATRIX) {
        b = registers(l, matrices);
        c = plan_of(l, wmi_c_text(l->c, "ldmatrix.x%u%s.shared.b16", matrices, trans));
        emit(l, X_LDMATRIX, b, a, 0)->target = c;
        return b;
    }
    b = registers_of(l, e->args[1]);
    if (e->op == B_STMATRIX) {
        c = plan_of(l, wmi_c_text(l->c, "stmatrix.x%u%s.shared.b16", matrices, trans));
        emit(l, X_STMATRIX, 0, a, b)->target = c;
        return 0;
    }
    c = e->n_args > 2 ? value_of(l, e->args[2]) : constant(l, bytes, 0);
    l->place = e->place;
    l->program->has_copies = 1;
    insn = emit(l, X_COPY, 0, a, b);
    insn->c = c;
    insn->target = plan_of(l, wmi_c_text(l->c, "cp.async.%s.%u", e->value.i & WMI_COPY_CG ? "cg" : "ca", bytes));
    return 0;
}

/* The accesses of a builtin, from an instruction on, are to global memory alone where it says so. */
static void restrict_space(struct lower *l, uint32_t first, const struct expr *e)
{
    for (uint32_t i = first; i < l->program->n_code; i++)
        l->program->code[i].aux = (e->value.i & WMI_ONLY_GLOBAL) != 0;
}

static uint32_t builtin_value(struct lower *l, struct expr *e)
{
    const char cls = e->n_args ? class_of(e->args[e->n_args - 1]->type) : 's';
    uint32_t r[4] = {0};
    struct insn *insn;
    uint32_t first;
    uint32_t dst;

    switch (e->op) {
    case B_LOAD: {
        const struct where where = {W_MEMORY, value_of(l, e->args[0]), 0, 0, 0};

        l->place = e->place;
        first = l->program->n_code;
        dst = load(l, &where, e->type, (uint8_t)e->value.i);
        restrict_space(l, first, e);
        return dst;
    }
    case B_STORE: {
        const struct type *type = e->args[0]->type->base;
        const struct where where = {W_MEMORY, value_of(l, e->args[0]), 0, 0, 0};

        dst = registers_of(l, e->args[1]);
        l->place = e->place;
        first = l->program->n_code;
        store(l, &where, type, dst, (uint8_t)e->value.i);
        restrict_space(l, first, e);
        return 0;
    }
    case B_ATOMIC: return atomic_value(l, e);
    case B_LDMATRIX:
    case B_STMATRIX:
    case B_COPY: return moving_value(l, e);
    case B_BITS: /* a register holds bits; of a short type, extended by its sign */
        dst = value_of(l, e->args[0]);
        return e->type->size == 2 ? narrow(l, e->type, dst) : dst;
    case B_FENCE: return 0;
    default: break;
    }
    for (uint32_t i = 0; i < e->n_args && i < 4; i++)
        r[i] = value_of(l, e->args[i]);
    l->place = e->place;
    dst = registers(l, 1);
    switch (e->op) {
    case B_SYNCTHREADS:
        insn = emit(l, X_BARRIER, dst, r[0], 0);
        insn->imm = e->value.i;
        break;
    case B_MMA: emit(l, X_MMA, 0, 0, 0); break;
    case B_COMMIT: emit(l, X_COMMIT, 0, 0, 0); break;
    case B_WAIT: emit(l, X_WAIT, 0, r[0], 0)->imm = e->n_args == 0; break;
    case B_SYNCWARP:
        insn = emit(l, X_SYNCWARP, 0, e->n_args ? r[0] : constant(l, UINT32_MAX, 0), 0);
        break;
    case B_SHUFFLE: {
        /* a 32-bit lane number is all there is; the width is a power of two */
        insn = emit(l, X_SHUFFLE, dst, r[1], r[2]);
        insn->c = e->n_args == 4 ? r[3] : constant(l, 32, 0);
        insn->target = r[0];
        insn->aux = (uint16_t)e->value.i;
        insn->imm = (uint64_t)is_64(e->type);
        break;
    }
    case B_BALLOT: emit(l, X_BALLOT, dst, r[0], r[1]); break;
    case B_ANY: emit(l, X_ANY, dst, r[0], r[1]); break;
    case B_ALL: emit(l, X_ALL, dst, r[0], r[1]); break;
    case B_ACTIVEMASK: emit(l, X_ACTIVE, dst, 0, 0); break;
    case B_POPC: emit(l, is_64(e->args[0]->type) ? X_POPC_L : X_POPC_I, dst, r[0], 0); break;
    case B_FFS: emit(l, is_64(e->args[0]->type) ? X_FFS_L : X_FFS_I, dst, r[0], 0); break;
    case B_CLZ: emit(l, is_64(e->args[0]->type) ? X_CLZ_L : X_CLZ_I, dst, r[0], 0); break;
    case B_BREV: emit(l, is_64(e->args[0]->type) ? X_BREV_L : X_BREV_I, dst, r[0], 0); break;
    case B_MIN: emit(l, pick(cls, X_MIN_S, X_MIN_U, X_MIN_SL, X_MIN_UL, X_MIN_F, X_MIN_D), dst, r[0], r[1]); break;
    case B_MAX: emit(l, pick(cls, X_MAX_S, X_MAX_U, X_MAX_SL, X_MAX_UL, X_MAX_F, X_MAX_D), dst, r[0], r[1]); break;
    case B_ABS:
        if (cls == 'u' || cls == 'U')
            return r[0];
        emit(l, pick(cls, X_ABS_S, X_ABS_S, X_ABS_SL, X_ABS_SL, X_ABS_F, X_ABS_D), dst, r[0], 0);
        break;
    case B_MATH1: emit(l, cls == 'f' ? X_MATH1_F : X_MATH1_D, dst, r[0], 0)->imm = e->value.i; break;
    case B_MATH2: emit(l, cls == 'f' ? X_MATH2_F : X_MATH2_D, dst, r[0], r[1])->imm = e->value.i; break;
    case B_FMA: emit(l, cls == 'f' ? X_FMA_F : X_FMA_D, dst, r[0], r[1])->c = r[2]; break;
    case B_TEST: emit(l, cls == 'f' ? X_TEST_F : X_TEST_D, dst, r[0], 0)->imm = e->value.i; break;
    case B_TO_INT:
        emit(l, cls == 'f' ? X_ROUND_F : X_ROUND_D, dst, r[0], 0)->imm = e->value.i;
        return from_floating(l, cls, e->type, dst);
    case B_MULHI: emit(l, pick(cls, X_MULHI_S, X_MULHI_U, X_MULHI_SL, X_MULHI_UL, X_EXIT, X_EXIT), dst, r[0], r[1]); break;
    case B_TO_SHARED: emit(l, X_TO_SHARED, dst, r[0], 0); break;
    case B_ASSERT: emit(l, X_ASSERT, 0, r[0], 0); break;
    case B_TRAP: emit(l, X_TRAP, 0, 0, 0); break;
    default: wmi_c_refuse(l->c, e->place, "this function");
    }
    return dst;
}

/* ------------------------------------------------------------------------------------------------------------------ calls */

/* Whether a lane may return before the end of the list. */
static int returns_early(const struct stmt *s, int is_last_ok)
{
    for (; s; s = s->next) {
        const int is_last = is_last_ok && !s->next;

        switch (s->kind) {
        case S_RETURN:
            if (!is_last)
                return 1;
            break;
        case S_BLOCK:
            if (returns_early(s->body, is_last))
                return 1;
            break;
        default:
            if ((s->init && returns_early(s->init, 0)) || (s->body && returns_early(s->body, 0)) ||
                (s->other && returns_early(s->other, 0)))
                return 1;
            break;
        }
    }
    return 0;
}

static void place_variable(struct lower *l, struct symbol *symbol)
{
    const struct type *type = symbol->type;

    if (!symbol->in_memory) {
        symbol->where = (struct where){W_REGISTER, registers(l, type->leaves), 0, type->leaves, 0};
        return;
    }
    l->local = (l->local + type->align - 1) / type->align * type->align;
    symbol->where = (struct where){W_MEMORY, constant(l, WMI_LOCAL_WINDOW, 1), 0, 0, l->local};
    l->local += type->size;
    if (l->local > (512u << 10)) /* what a thread has (CUDA C++ Programming Guide, "Compute Capabilities") */
        wmi_c_fail(l->c, WM_E_RANGE, l->place, "more than 512 KiB of local memory a thread");
    if (l->local > l->program->local_bytes)
        l->program->local_bytes = l->local;
}

/* All arguments first, then the parameters: an argument may call the same function. */
static void bind_arguments(struct lower *l, const struct instance *instance, struct expr **args)
{
    struct where wheres[WMI_MAX_ARGUMENTS];
    int is_alias[WMI_MAX_ARGUMENTS] = {0};

    for (uint32_t i = 0; i < instance->n_parameters; i++) {
        const struct type *type = instance->parameters[i]->type;

        if (type->kind == K_REFERENCE && args[i]->is_lvalue) {
            wheres[i] = where_is(l, args[i]);
            continue;
        }
        is_alias[i] = instance->parameters[i]->is_transparent && points_to_registers(l, args[i], &wheres[i]);
        if (is_alias[i])
            continue;
        wheres[i] = (struct where){W_REGISTER, value_of(l, args[i]), 0, args[i]->type->leaves, 0};
    }
    for (uint32_t i = 0; i < instance->n_parameters; i++) {
        struct symbol *parameter = instance->parameters[i];
        const struct type *type = parameter->type;

        parameter->is_alias = is_alias[i];
        if (parameter->is_alias) {
            parameter->where = wheres[i];
        } else if (type->kind != K_REFERENCE) {
            place_variable(l, parameter);
            store(l, &parameter->where, type, wheres[i].reg, WM_CACHE_NONE);
        } else if (args[i]->is_lvalue) {
            parameter->where = wheres[i];
        } else {
            parameter->where = (struct where){W_REGISTER, registers(l, type->base->leaves), 0, type->base->leaves, 0};
            move(l, type->base, parameter->where.reg, wheres[i].reg);
        }
    }
}

static uint32_t call_value(struct lower *l, struct expr *e)
{
    struct instance *instance = e->instance;
    struct region region = {l->region, NOWHERE};
    const uint32_t result = l->result;
    const int has_frame = l->has_frame;
    const uint64_t local = l->local;
    uint32_t mark;
    uint32_t dst;

    if (instance->is_busy)
        wmi_c_refuse(l->c, e->place, "recursion (%s)", instance->function->name->text);
    if (++l->inlined > 64)
        wmi_c_fail(l->c, WM_E_RANGE, e->place, "calls nested deeper than 64");
    dst = registers(l, instance->result->leaves + 1);
    mark = l->next;
    bind_arguments(l, instance, e->args);
    instance->is_busy = 1;
    l->result = dst;
    l->has_frame = returns_early(instance->body, 1);
    if (l->has_frame) {
        deeper(l);
        emit(l, X_FRAME, 0, 0, 0);
        l->region = &region;
    }
    statements(l, instance->body);
    if (l->has_frame) {
        patch(l, region.chain);
        l->region = region.outer;
        emit(l, X_ENDFRAME, 0, 0, 0);
        l->depth--;
    }
    instance->is_busy = 0;
    l->result = result;
    l->has_frame = has_frame;
    l->local = local;
    l->next = mark;
    l->inlined--;
    l->place = e->place;
    return dst;
}

/* ------------------------------------------------------------------------------------------------------------------ values */

/* A list's values into registers from dst on; the rest is 0. */
static void list_into(struct lower *l, struct expr *e, uint32_t dst)
{
    const struct type *type = e->type;
    uint32_t leaf = 0;

    for (uint32_t i = 0; i < e->n_args; i++) {
        const struct type *part = type->kind == K_ARRAY ? type->base : type->record->fields[i].type;
        struct expr *value = e->args[i];
        const uint32_t mark = l->next;

        leaf = type->kind == K_ARRAY ? i * part->leaves : type->record->fields[i].leaf;
        if (value->kind == E_LIST)
            list_into(l, value, dst + leaf);
        else
            move(l, part, dst + leaf, part->kind == K_RECORD ? record_of(l, value) : value_of(l, value));
        leaf += part->leaves;
        l->next = mark;
    }
    for (; leaf < type->leaves; leaf++) {
        uint64_t offset;

        move(l, wmi_c_leaf(type, leaf, &offset), dst + leaf, constant(l, 0, is_64(wmi_c_leaf(type, leaf, &offset))));
    }
}

static uint32_t record_of(struct lower *l, struct expr *e)
{
    struct where where;
    uint32_t dst;

    if (e->is_lvalue) {
        where = where_is(l, e);
        l->place = e->place;
        return value_at(l, e, &where);
    }
    switch (e->kind) {
    case E_LIST:
        dst = registers(l, e->type->leaves);
        list_into(l, e, dst);
        return dst;
    case E_MEMBER: return record_of(l, e->a) + e->field->leaf;
    case E_CALL: return call_value(l, e);
    case E_BUILTIN: return builtin_value(l, e);
    case E_ASSIGN: return assign_value(l, e);
    case E_COND: return choice_value(l, e);
    case E_COMMA:
        value_of(l, e->a);
        return record_of(l, e->b);
    default: wmi_c_refuse(l->c, e->place, "this value of type %s", wmi_c_type_name(l->c, e->type));
    }
}

static uint32_t value_inner(struct lower *l, struct expr *e)
{
    struct where where;

    if (e->type->kind == K_RECORD)
        return record_of(l, e);
    if (e->is_lvalue || e->kind == E_MEMBER) {
        where = where_is(l, e);
        l->place = e->place;
        return value_at(l, e, &where);
    }
    switch (e->kind) {
    case E_CONST: return constant(l, wmi_c_bits(e->type, &e->value), is_64(e->type));
    case E_ADDRESS: return address_of(l, e->a);
    case E_DECAY: return address_of(l, e->a);
    case E_NEG:
        if (e->type->kind == K_HALF)
            return unary(l, X_F_H, unary(l, X_NEG_F, unary(l, X_H_F, value_of(l, e->a))));
        return unary(l, pick(class_of(e->type), X_NEG_I, X_NEG_I, X_NEG_L, X_NEG_L, X_NEG_F, X_NEG_D), value_of(l, e->a));
    case E_COMPLEMENT: return unary(l, is_64(e->type) ? X_NOT_L : X_NOT_I, value_of(l, e->a));
    case E_NOT: return unary(l, X_LNOT, value_of(l, e->a));
    case E_BINARY: return binary_value(l, e);
    case E_AND:
    case E_OR: return logical_value(l, e);
    case E_COND: return choice_value(l, e);
    case E_COMMA:
        value_of(l, e->a);
        return value_of(l, e->b);
    case E_ASSIGN: return assign_value(l, e);
    case E_ASSIGN_OP: return assign_op_value(l, e);
    case E_STEP: return step_value(l, e);
    case E_CAST:
        if (e->type->kind == K_VOID)
            return value_of(l, e->a);
        return convert(l, e->a->type, e->type, value_of(l, e->a));
    case E_CALL: return call_value(l, e);
    case E_BUILTIN: return builtin_value(l, e);
    default: wmi_c_refuse(l->c, e->place, "this value");
    }
}

static uint32_t value_of(struct lower *l, struct expr *e)
{
    const struct place place = l->place;
    uint32_t reg;

    if (++l->nested > 2 * WMI_MAX_HEIGHT)
        wmi_c_fail(l->c, WM_E_RANGE, e->place, "expressions and calls nested deeper than %d", 2 * WMI_MAX_HEIGHT);
    l->place = e->place;
    reg = value_inner(l, e);
    l->place = place;
    l->nested--;
    return reg;
}

/* --------------------------------------------------------------------------------------------------------------- statements */

static void end_region(struct lower *l, struct region *region)
{
    patch(l, region->chain);
    region->chain = NOWHERE;
}

/* Ends a construct: where no lane is left behind it, the code goes on at the end of the region around. */
static void emit_end(struct lower *l, enum op op)
{
    emit(l, op, 0, 0, 0);
    chain(l->region, l->program);
    l->depth--;
}

static void lower_if(struct lower *l, struct stmt *s)
{
    struct region region = {l->region, NOWHERE};
    uint32_t condition;

    if (s->a->kind == E_CONST) {
        statements(l, s->a->value.i ? s->body : s->other);
        return;
    }
    condition = value_of(l, s->a);
    deeper(l);
    emit(l, X_IF, 0, condition, 0);
    chain(&region, l->program);
    l->region = &region;
    statements(l, s->body);
    if (s->other) {
        end_region(l, &region);
        emit(l, X_ELSE, 0, 0, 0);
        chain(&region, l->program);
        statements(l, s->other);
    }
    end_region(l, &region);
    l->region = region.outer;
    emit_end(l, X_ENDIF);
}

static void lower_test(struct lower *l, struct stmt *s, struct region *loop)
{
    const uint32_t mark = l->next;
    const uint32_t condition = value_of(l, s->a);

    l->place = s->a->place;
    emit(l, X_LOOP_TEST, 0, condition, 0);
    chain(loop, l->program);
    l->next = mark;
}

static void lower_loop(struct lower *l, struct stmt *s)
{
    struct region loop = {l->region, NOWHERE}; /* to its end */
    struct region body = {&loop, NOWHERE};     /* to its next round */
    const uint32_t mark = l->next;
    uint32_t top;

    for (struct stmt *init = s->init; init; init = init->next)
        lower_one(l, init);
    deeper(l);
    emit(l, X_LOOP, 0, 0, 0);
    top = l->program->n_code;
    l->region = &loop;
    if (s->a && !s->is_do)
        lower_test(l, s, &loop);
    l->region = &body;
    statements(l, s->body);
    end_region(l, &body);
    l->region = &loop;
    emit(l, X_LOOP_NEXT, 0, 0, 0);
    chain(&loop, l->program);
    if (s->b) {
        const uint32_t inner = l->next;

        l->place = s->b->place;
        value_of(l, s->b);
        l->next = inner;
    }
    if (s->a && s->is_do)
        lower_test(l, s, &loop);
    l->place = s->place;
    emit(l, X_JUMP, 0, 0, 0)->target = top;
    end_region(l, &loop);
    l->region = loop.outer;
    emit_end(l, X_ENDLOOP);
    l->next = mark;
}

static void lower_switch(struct lower *l, struct stmt *s)
{
    struct region region = {l->region, NOWHERE};
    const uint32_t mark = l->next;
    const uint32_t value = value_of(l, s->a);
    const int wide = is_64(s->a->type);
    uint32_t none = constant(l, 1, 0);

    /* One lane mask for each label, all before the first runs. */
    for (struct stmt *part = s->body; part; part = part->next) {
        if (part->kind != S_CASE)
            continue;
        none = binary(l, X_AND_I, none, binary(l, wide ? X_NE_L : X_NE_I, value, constant(l, part->value, wide)));
    }
    deeper(l);
    emit(l, X_SWITCH, 0, 0, 0);
    l->region = &region;
    for (struct stmt *part = s->body; part; part = part->next) {
        if (part->kind == S_CASE || part->kind == S_DEFAULT) {
            const uint32_t inner = l->next;
            uint32_t is_here = none;

            end_region(l, &region);
            l->place = part->place;
            if (part->kind == S_CASE)
                is_here = binary(l, wide ? X_EQ_L : X_EQ_I, value, constant(l, part->value, wide));
            emit(l, X_CASE, 0, is_here, 0);
            chain(&region, l->program);
            l->next = inner;
        } else {
            lower_one(l, part);
        }
    }
    end_region(l, &region);
    l->region = region.outer;
    emit_end(l, X_ENDSWITCH);
    l->next = mark;
}

static void lower_declare(struct lower *l, struct stmt *s)
{
    struct symbol *symbol = s->symbol;
    const struct type *type = symbol->type;
    uint32_t mark;

    if (type->kind == K_REFERENCE) {
        symbol->where = where_is(l, s->a);
        return;
    }
    place_variable(l, symbol);
    mark = l->next;
    if (s->a && (type->kind == K_ARRAY || s->a->kind == E_LIST)) {
        if (!symbol->in_memory) {
            list_into(l, s->a, symbol->where.reg);
        } else if (type->leaves > WMI_MAX_REGISTER_ARRAY) {
            wmi_c_refuse(l->c, s->place, "a list of values for a local array of more than %u", WMI_MAX_REGISTER_ARRAY);
        } else {
            const uint32_t values = registers(l, type->leaves);

            list_into(l, s->a, values);
            store(l, &symbol->where, type, values, WM_CACHE_NONE);
        }
    } else if (s->a) {
        const uint32_t value = type->kind == K_RECORD ? record_of(l, s->a) : value_of(l, s->a);

        l->place = s->a->place;
        store(l, &symbol->where, type, value, WM_CACHE_NONE);
    } else if (!symbol->in_memory) {
        /* What it holds is not defined; at least it is the same in every run. */
        for (uint32_t i = 0; i < type->leaves; i++)
            emit(l, X_ZERO, symbol->where.reg + i, 0, 0);
    }
    l->next = mark;
}

static void lower_return(struct lower *l, struct stmt *s)
{
    if (s->a) {
        const struct type *type = s->a->type;

        if (type->kind == K_VOID)
            value_of(l, s->a);
        else
            move(l, type, l->result, type->kind == K_RECORD ? record_of(l, s->a) : value_of(l, s->a));
    }
    if (!l->has_frame)
        return;
    emit(l, X_RETURN, 0, 0, 0);
    chain(l->region, l->program);
}

static void leave(struct lower *l, enum op op)
{
    emit(l, op, 0, 0, 0);
    chain(l->region, l->program);
}

static void lower_one(struct lower *l, struct stmt *s)
{
    const uint32_t mark = l->next;

    l->place = s->place;
    switch (s->kind) {
    case S_DECLARE: lower_declare(l, s); return; /* the variable's registers stay */
    case S_EXPR: value_of(l, s->a); break;
    case S_BLOCK: statements(l, s->body); break;
    case S_IF: lower_if(l, s); break;
    case S_LOOP: lower_loop(l, s); break;
    case S_SWITCH: lower_switch(l, s); break;
    case S_BREAK: leave(l, X_BREAK); break;
    case S_CONTINUE: leave(l, X_CONTINUE); break;
    case S_RETURN: lower_return(l, s); break;
    default: break;
    }
    l->next = mark;
}

/* The statements of a block; its variables' registers are free again behind it. */
static void statements(struct lower *l, struct stmt *s)
{
    const uint32_t block = l->next;
    const uint64_t local = l->local;

    if (!s)
        return;
    for (; s; s = s->next) {
        lower_one(l, s);
        /* Nothing that stands behind a jump runs. */
        if (s->kind == S_BREAK || s->kind == S_CONTINUE || (s->kind == S_RETURN && l->has_frame))
            break;
    }
    l->next = block;
    l->local = local;
}

/* -------------------------------------------------------------------------------------------------------------- the kernel */

/* Gives the variables of file scope and the shared ones of functions their places, in the order of declaration. */
static void place_file_variables(struct lower *l)
{
    struct compile *c = l->c;
    struct program *p = l->program;
    struct symbol *list = NULL;
    uint64_t extern_align = 16;
    uint32_t n = 0;

    for (struct symbol *symbol = c->file_variables; symbol;) {
        struct symbol *const next = symbol->next_variable;

        symbol->next_variable = list;
        list = symbol;
        symbol = next;
        n++;
    }
    c->file_variables = list;
    p->variables = wmi_c_take(c, (n + 1) * sizeof *p->variables);
    for (struct symbol *symbol = list; symbol; symbol = symbol->next_variable) {
        const struct type *type = symbol->type;
        uint64_t *end = symbol->storage == ST_CONSTANT ? &p->constant_bytes : &p->shared_bytes;

        if (symbol->storage == ST_SHARED_EXTERN) {
            p->has_extern_shared = 1;
            if (type->align > extern_align)
                extern_align = type->align;
            continue;
        }
        if (symbol->storage != ST_DEVICE) {
            *end = (*end + type->align - 1) / type->align * type->align;
            symbol->offset = *end;
            *end += type->size;
        }
        if (p->shared_bytes > (256u << 10) || p->constant_bytes > (64u << 10))
            wmi_c_fail(c, WM_E_RANGE, symbol->place, "%s: more than %s", symbol->name->text,
                       symbol->storage == ST_CONSTANT ? "64 KiB of __constant__ memory" : "256 KiB of shared memory");
        if (symbol->storage == ST_SHARED)
            continue;
        symbol->buffer = p->n_variables;
        p->variables[p->n_variables] = (struct variable){symbol->name->text, type, symbol->storage == ST_CONSTANT,
                                                         symbol->offset, 0, symbol->initial, symbol};
        if (symbol->storage == ST_DEVICE) {
            /* a value that nothing else has, until the address is known */
            p->variables[p->n_variables].pointer = (uint32_t)(constant(l, UINT64_C(0xdeadbeef00000000) + p->n_variables, 1) - CONSTANTS);
        }
        p->n_variables++;
    }
    for (struct symbol *symbol = list; symbol; symbol = symbol->next_variable) {
        if (symbol->storage == ST_SHARED_EXTERN)
            symbol->offset = (p->shared_bytes + extern_align - 1) / extern_align * extern_align;
    }
    if (p->has_extern_shared)
        p->shared_bytes = (p->shared_bytes + extern_align - 1) / extern_align * extern_align;
}

static void bind_parameters(struct lower *l, struct instance *kernel)
{
    struct program *p = l->program;

    p->parameters = wmi_c_take(l->c, (kernel->n_parameters + 1) * sizeof *p->parameters);
    for (uint32_t i = 0; i < kernel->n_parameters; i++) {
        struct symbol *symbol = kernel->parameters[i];

        if (symbol->type->kind == K_REFERENCE)
            wmi_c_fail(l->c, WM_E_SYNTAX, symbol->place, "a kernel's parameter that is a reference");
        if (symbol->in_memory)
            wmi_c_refuse(l->c, symbol->place, "a kernel's parameter whose address is used or that is indexed by a variable (%s)",
                         symbol->name->text);
        place_variable(l, symbol);
        p->parameters[p->n_parameters++] = (struct parameter){symbol->name->text, symbol->type, symbol->where.reg, symbol};
    }
}

static void number_constants(struct program *p)
{
    for (uint32_t i = 0; i < p->n_constants; i++)
        p->constants[i].reg = p->n_registers + i;
    for (uint32_t i = 0; i < p->n_code; i++) {
        struct insn *insn = &p->code[i];
        uint32_t *const fields[] = {&insn->a, &insn->b, &insn->c, insn->op == X_SHUFFLE ? &insn->target : NULL};

        for (unsigned k = 0; k < 4; k++) {
            if (fields[k] && *fields[k] >= CONSTANTS && *fields[k] != NOWHERE)
                *fields[k] += p->n_registers - CONSTANTS;
        }
    }
}

static int is_access(const struct insn *insn)
{
    return insn->op == X_LOAD || insn->op == X_STORE || insn->op == X_ATOMIC || insn->op == X_LDMATRIX || insn->op == X_STMATRIX ||
           insn->op == X_COPY;
}

/* Statements each of which is an expression that is given by itself. */
static void expressions(struct lower *l, struct stmt *s)
{
    for (; s; s = s->next) {
        uint32_t at = l->program->n_code;

        lower_one(l, s);
        while (at < l->program->n_code && !is_access(&l->program->code[at]))
            at++;
        if (at == l->program->n_code)
            wmi_c_fail(l->c, WM_E_SYNTAX, s->place, "this accesses no memory");
    }
}

void wmi_c_lower(struct compile *c, struct instance *kernel, struct program *program)
{
    struct region region = {NULL, NOWHERE};
    struct lower l = {.c = c, .program = program, .region = &region, .has_frame = 1};

    l.place = kernel->function->place;
    registers(&l, 3 * WMI_SPECIALS);
    place_file_variables(&l);
    bind_parameters(&l, kernel);
    kernel->is_busy = 1;
    if (c->is_strict)
        expressions(&l, kernel->body);
    else
        statements(&l, kernel->body);
    patch(&l, region.chain);
    emit(&l, X_EXIT, 0, 0, 0);
    number_constants(program);
}
