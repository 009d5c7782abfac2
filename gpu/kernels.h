/* The instructions that there are kernels for: memory space, identifier, name (as plan_instruction() makes it from an
 * opcode), compute capability that has it first (times ten), PTX. The operands are explained in kernels.cu. */
#ifndef KERNELS_H
#define KERNELS_H

#define KERNEL_CONST_BYTES 49152
#define KERNEL_LOCAL_BYTES 8192

enum kernel_space {
    KERNEL_IN_nothing,
    KERNEL_IN_global,
    KERNEL_IN_generic,
    KERNEL_IN_shared,
    KERNEL_IN_local,
    KERNEL_IN_const,
    KERNEL_IN_copy
};

struct kernel {
    const char *name; /* "": a kernel without an instruction of its own */
    int since;
    enum kernel_space space;
    const void *function;
};

#ifdef __cplusplus
extern "C"
#else
extern
#endif
const struct kernel kernels[]; /* a NULL name ends them */

/* Whoever takes the PTX says in GO what stands before the instruction itself: a predicate, or nothing. */
#define LOADS(space, id, dotted)                                                                                       \
    INSTRUCTION(space, ld_##id##_1, "ld." dotted ".1", 0, GO "ld" LOAD_##id ".u8 %0, [%4];")                           \
    INSTRUCTION(space, ld_##id##_2, "ld." dotted ".2", 0, GO "ld" LOAD_##id ".u16 %0, [%4];")                          \
    INSTRUCTION(space, ld_##id##_4, "ld." dotted ".4", 0, GO "ld" LOAD_##id ".u32 %0, [%4];")                          \
    INSTRUCTION(space, ld_##id##_8, "ld." dotted ".8", 0, GO "ld" LOAD_##id ".v2.u32 {%0, %1}, [%4];")                 \
    INSTRUCTION(space, ld_##id##_16, "ld." dotted ".16", 0, GO "ld" LOAD_##id ".v4.u32 {%0, %1, %2, %3}, [%4];")

/* Wider ones are no single instruction: the compiler makes several of them. */
#define CONST_LOADS                                                                                                    \
    INSTRUCTION(const, ld_const_1, "ld.const.1", 0, GO "ld.const.u8 %0, [%4];")                                        \
    INSTRUCTION(const, ld_const_2, "ld.const.2", 0, GO "ld.const.u16 %0, [%4];")                                       \
    INSTRUCTION(const, ld_const_4, "ld.const.4", 0, GO "ld.const.u32 %0, [%4];")                                       \
    INSTRUCTION(const, ld_const_8, "ld.const.8", 0,                                                                    \
                ".reg .b64 old; mov.b64 old, {%0, %1}; " GO "ld.const.b64 old, [%4]; mov.b64 {%0, %1}, old;")

#define STORES(space, id, dotted)                                                                                      \
    INSTRUCTION(space, st_##id##_1, "st." dotted ".1", 0, GO "st" STORE_##id ".u8 [%4], %5;")                          \
    INSTRUCTION(space, st_##id##_2, "st." dotted ".2", 0, GO "st" STORE_##id ".u16 [%4], %5;")                         \
    INSTRUCTION(space, st_##id##_4, "st." dotted ".4", 0, GO "st" STORE_##id ".u32 [%4], %5;")                         \
    INSTRUCTION(space, st_##id##_8, "st." dotted ".8", 0, GO "st" STORE_##id ".v2.u32 [%4], {%5, %5};")                \
    INSTRUCTION(space, st_##id##_16, "st." dotted ".16", 0, GO "st" STORE_##id ".v4.u32 [%4], {%5, %5, %5, %5};")

#define LOAD_global    ".global"
#define LOAD_global_ca ".global.ca"
#define LOAD_global_cg ".global.cg"
#define LOAD_global_cs ".global.cs"
#define LOAD_global_lu ".global.lu"
#define LOAD_global_cv ".global.cv"
#define LOAD_global_nc ".global.nc"
#define LOAD_shared    ".shared"
#define LOAD_local     ".local"
#define LOAD_generic   ""
#define STORE_global    ".global"
#define STORE_global_wb ".global.wb"
#define STORE_global_cg ".global.cg"
#define STORE_global_cs ".global.cs"
#define STORE_global_wt ".global.wt"
#define STORE_shared    ".shared"
#define STORE_local     ".local"
#define STORE_generic   ""

/* Atomics: of 4 and 8 bytes. A type that PTX wants in a register of its own kind is moved there first. */
#define ATOM_4(space, op, type, tail)                                                                                  \
    INSTRUCTION(space, atom_##space##_##op##_##type, "atom." #space "." #op "." #type, 0,                              \
                GO "atom." #space "." #op "." #type " %0, [%4], %5" tail ";")
#define ATOM_8(space, op, type, tail)                                                                                  \
    INSTRUCTION(space, atom_##space##_##op##_##type, "atom." #space "." #op "." #type, 0,                              \
                ".reg .b64 old; mov.b64 old, {%0, %1}; " GO "atom." #space "." #op "." #type " old, [%4], %6" tail     \
                "; mov.b64 {%0, %1}, old;")
#define ATOM_F32(space)                                                                                                \
    INSTRUCTION(space, atom_##space##_add_f32, "atom." #space ".add.f32", 0,                                           \
                ".reg .f32 f, old; mov.b32 f, %5; mov.b32 old, %0; " GO "atom." #space                                 \
                ".add.f32 old, [%4], f; mov.b32 %0, old;")
#define ATOM_F64(space)                                                                                                \
    INSTRUCTION(space, atom_##space##_add_f64, "atom." #space ".add.f64", 0,                                           \
                ".reg .f64 f, old; mov.b64 f, %6; mov.b64 old, {%0, %1}; " GO "atom." #space                           \
                ".add.f64 old, [%4], f; mov.b64 {%0, %1}, old;")
#define RED_4(space, op, type)                                                                                         \
    INSTRUCTION(space, red_##space##_##op##_##type, "red." #space "." #op "." #type, 0,                                \
                GO "red." #space "." #op "." #type " [%4], %5;")
#define RED_8(space, op, type)                                                                                         \
    INSTRUCTION(space, red_##space##_##op##_##type, "red." #space "." #op "." #type, 0,                                \
                GO "red." #space "." #op "." #type " [%4], %6;")
#define RED_F32(space)                                                                                                 \
    INSTRUCTION(space, red_##space##_add_f32, "red." #space ".add.f32", 0,                                             \
                ".reg .f32 f; mov.b32 f, %5; " GO "red." #space ".add.f32 [%4], f;")
#define RED_F64(space)                                                                                                 \
    INSTRUCTION(space, red_##space##_add_f64, "red." #space ".add.f64", 0,                                             \
                ".reg .f64 f; mov.b64 f, %6; " GO "red." #space ".add.f64 [%4], f;")

#define ATOMICS_4(space)                                                                                               \
    ATOM_4(space, add, u32, "") ATOM_4(space, min, u32, "") ATOM_4(space, min, s32, "") ATOM_4(space, max, u32, "")    \
    ATOM_4(space, max, s32, "") ATOM_4(space, and, b32, "") ATOM_4(space, or, b32, "") ATOM_4(space, xor, b32, "")     \
    ATOM_4(space, inc, u32, "") ATOM_4(space, dec, u32, "") ATOM_4(space, exch, b32, "")                               \
    ATOM_4(space, cas, b32, ", %5")                                                                                    \
    RED_4(space, add, u32) RED_4(space, min, u32) RED_4(space, min, s32) RED_4(space, max, u32) RED_4(space, max, s32) \
    RED_4(space, and, b32) RED_4(space, or, b32) RED_4(space, xor, b32) RED_4(space, inc, u32) RED_4(space, dec, u32)
#define ATOMICS_8(space)                                                                                               \
    ATOM_8(space, add, u64, "") ATOM_8(space, min, u64, "") ATOM_8(space, min, s64, "") ATOM_8(space, max, u64, "")    \
    ATOM_8(space, max, s64, "") ATOM_8(space, and, b64, "") ATOM_8(space, or, b64, "") ATOM_8(space, xor, b64, "")     \
    RED_8(space, add, u64) RED_8(space, min, u64) RED_8(space, min, s64) RED_8(space, max, u64) RED_8(space, max, s64) \
    RED_8(space, and, b64) RED_8(space, or, b64) RED_8(space, xor, b64)

/* In shared memory, floating-point and most 8-byte atomics are no instructions: the compiler makes loops of them. */
#define INSTRUCTIONS                                                                                                   \
    LOADS(global, global, "global")                                                                                    \
    LOADS(global, global_ca, "global.ca")                                                                              \
    LOADS(global, global_cg, "global.cg")                                                                              \
    LOADS(global, global_cs, "global.cs")                                                                              \
    LOADS(global, global_lu, "global.lu")                                                                              \
    LOADS(global, global_cv, "global.cv")                                                                              \
    LOADS(global, global_nc, "global.nc")                                                                              \
    LOADS(shared, shared, "shared")                                                                                    \
    LOADS(local, local, "local")                                                                                       \
    CONST_LOADS                                                                                                        \
    LOADS(generic, generic, "generic")                                                                                 \
    STORES(global, global, "global")                                                                                   \
    STORES(global, global_wb, "global.wb")                                                                             \
    STORES(global, global_cg, "global.cg")                                                                             \
    STORES(global, global_cs, "global.cs")                                                                             \
    STORES(global, global_wt, "global.wt")                                                                             \
    STORES(shared, shared, "shared")                                                                                   \
    STORES(local, local, "local")                                                                                      \
    STORES(generic, generic, "generic")                                                                                \
    ATOMICS_4(global) ATOMICS_8(global) ATOM_8(global, exch, b64, "") ATOM_8(global, cas, b64, ", %6")                 \
    ATOM_F32(global) ATOM_F64(global) RED_F32(global) RED_F64(global)                                                  \
    ATOMICS_4(shared) ATOM_8(shared, exch, b64, "") ATOM_8(shared, cas, b64, ", %6")                                   \
    MATRICES(ld, 1, "%0") MATRICES(ld, 2, "%0, %1") MATRICES(ld, 4, "%0, %1, %2, %3")

#define MATRICES(direction, count, registers)                                                                          \
    MATRIX_##direction(count, , "", registers) MATRIX_##direction(count, _trans, ".trans", registers)
#define MATRIX_ld(count, id, trans, registers)                                                                         \
    INSTRUCTION(shared, ldmatrix_x##count##id, "ldmatrix.x" #count trans, 75,                                          \
                GO "ldmatrix.sync.aligned.m8n8.x" #count trans ".shared.b16 {" registers "}, [%4];")
#define MATRIX_st(count, id, trans, registers)                                                                         \
    INSTRUCTION(shared, stmatrix_x##count##id, "stmatrix.x" #count trans, 90,                                          \
                GO "stmatrix.sync.aligned.m8n8.x" #count trans ".shared.b16 [%4], {" registers "};")

#define COPY(level, bytes)                                                                                             \
    INSTRUCTION(copy, cp_async_##level##_##bytes, "cp.async." #level "." #bytes, 80,                                   \
                GO "cp.async." #level ".shared.global [%8], [%4], " #bytes ";")
/* They bring lines into L1, as all others on the same space can, and do no more. */
#define WARMERS                                                                                                        \
    INSTRUCTION(global, warm_global, "", 0, "") INSTRUCTION(local, warm_local, "", 0, "")                              \
    INSTRUCTION(copy, warm_copy, "", 0, "")

#define INSTRUCTIONS_80 COPY(ca, 4) COPY(ca, 8) COPY(ca, 16) COPY(cg, 16)
#define INSTRUCTIONS_90 MATRICES(st, 1, "%5") MATRICES(st, 2, "%5, %5") MATRICES(st, 4, "%5, %5, %5, %5")

#endif
