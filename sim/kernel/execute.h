/*
 * The program that a kernel is compiled to, and its run. Internal to the library.
 *
 * One instruction does its work for the 32 lanes of a warp. A register holds 32 values; what is 4 bytes or less lies in
 * the first half, extended to 32 bits according to its type. Instructions that compute write every lane, whether active
 * or not, into a register that nothing else is in; only moves to variables, accesses and the like obey the active mask.
 */
#ifndef WM_EXECUTE_H
#define WM_EXECUTE_H

#include "kernel.h"

union lanes {
    uint32_t u[WM_LANES];
    int32_t s[WM_LANES];
    float f[WM_LANES];
    uint64_t U[WM_LANES];
    int64_t S[WM_LANES];
    double F[WM_LANES];
};

/* Arithmetic by type: i: 32 bits, l: 64 bits, u and s where the sign matters, f, d. */
#define WMI_OPS(X) \
    X(MOV32) X(MOV64) X(SELECT32) X(SELECT64) X(ZERO) \
    X(ADD_I) X(ADD_L) X(ADD_F) X(ADD_D) X(SUB_I) X(SUB_L) X(SUB_F) X(SUB_D) X(MUL_I) X(MUL_L) X(MUL_F) X(MUL_D) \
    X(DIV_S) X(DIV_U) X(DIV_SL) X(DIV_UL) X(DIV_F) X(DIV_D) X(REM_S) X(REM_U) X(REM_SL) X(REM_UL) \
    X(AND_I) X(AND_L) X(OR_I) X(OR_L) X(XOR_I) X(XOR_L) \
    X(SHL_I) X(SHL_L) X(SHR_S) X(SHR_U) X(SHR_SL) X(SHR_UL) \
    X(LT_S) X(LT_U) X(LT_SL) X(LT_UL) X(LT_F) X(LT_D) X(LE_S) X(LE_U) X(LE_SL) X(LE_UL) X(LE_F) X(LE_D) \
    X(EQ_I) X(EQ_L) X(EQ_F) X(EQ_D) X(NE_I) X(NE_L) X(NE_F) X(NE_D) \
    X(NEG_I) X(NEG_L) X(NEG_F) X(NEG_D) X(NOT_I) X(NOT_L) X(LNOT) \
    X(LEA_S) X(LEA_U) X(LEA_L) \
    X(S8) X(U8) X(S16) X(U16) X(SL_I) X(UL_I) X(I_L) \
    X(F_S) X(F_U) X(F_SL) X(F_UL) X(D_S) X(D_U) X(D_SL) X(D_UL) \
    X(S_F) X(U_F) X(SL_F) X(UL_F) X(S_D) X(U_D) X(SL_D) X(UL_D) X(F_D) X(D_F) X(H_F) X(F_H) \
    X(MIN_S) X(MIN_U) X(MIN_SL) X(MIN_UL) X(MIN_F) X(MIN_D) X(MAX_S) X(MAX_U) X(MAX_SL) X(MAX_UL) X(MAX_F) X(MAX_D) \
    X(ABS_S) X(ABS_SL) X(ABS_F) X(ABS_D) X(FMA_F) X(FMA_D) X(MATH1_F) X(MATH1_D) X(MATH2_F) X(MATH2_D) \
    X(ROUND_F) X(ROUND_D) X(TEST_F) X(TEST_D) X(MULHI_S) X(MULHI_U) X(MULHI_SL) X(MULHI_UL) \
    X(POPC_I) X(POPC_L) X(FFS_I) X(FFS_L) X(CLZ_I) X(CLZ_L) X(BREV_I) X(BREV_L) \
    X(GET32) X(GET64) X(PUT32) X(PUT64) \
    X(LOAD) X(STORE) X(ATOMIC) X(LDMATRIX) X(STMATRIX) X(COPY) X(MMA) X(COMMIT) X(WAIT) X(SHUFFLE) X(BALLOT) X(ANY) X(ALL) X(ACTIVE) X(TO_SHARED) X(ASSERT) X(TRAP) \
    X(BARRIER) X(SYNCWARP) \
    X(IF) X(ELSE) X(ENDIF) X(LOOP) X(LOOP_TEST) X(LOOP_NEXT) X(JUMP) X(ENDLOOP) X(SWITCH) X(CASE) X(ENDSWITCH) \
    X(BREAK) X(CONTINUE) X(FRAME) X(RETURN) X(ENDFRAME) X(EXIT)

enum op {
#define X(name) X_##name,
    WMI_OPS(X)
#undef X
        X_COUNT
};

struct insn {
    uint16_t op;     /* enum op */
    uint16_t aux;    /* shuffles: their kind; loads and stores: 1: to global memory alone */
    uint32_t dst;
    uint32_t a;
    uint32_t b;
    uint32_t c;
    uint32_t target; /* of a jump; accesses: their plan */
    uint64_t imm;
};

enum leaf_format { LEAF_S8, LEAF_U8, LEAF_S16, LEAF_U16, LEAF_32, LEAF_64 };

#define WMI_PLAN_LEAVES 16

/* An access: its opcode without the space, and which of its bytes belong to which register. */
struct plan {
    struct wm_opcode opcode;
    uint32_t n_leaves; /* registers, one after the other */
    struct {
        uint8_t offset;
        uint8_t format; /* enum leaf_format */
    } leaves[WMI_PLAN_LEAVES];
    uint8_t element; /* atomics: 'u' 's' 'U' 'S' 'f' 'd' */
};

/* Windows of the address space: which memory a pointer points to. A buffer of global memory starts at a multiple of
 * 4 GiB, so that no access runs from one into the next. */
#define WMI_GLOBAL_WINDOW UINT64_C(0x7f0000000000)
#define WMI_SHARED_WINDOW UINT64_C(0x7e8000000000) /* in the middle, so that an offset below 0 is seen as one */
#define WMI_LOCAL_WINDOW UINT64_C(0x7d8000000000)
#define WMI_CONST_WINDOW UINT64_C(0x7c8000000000)
#define WMI_WINDOW_BITS 40
#define WMI_SLOT_BITS 32 /* a buffer starts at a multiple of 4 GiB, the first one at the second multiple */
#define WMI_SLOTS 256u

struct place;
struct symbol;
struct type;

/* A register with one value for all lanes. */
struct constant {
    uint32_t reg;
    int is_64;
    uint64_t bits;
};

struct parameter {
    const char *name;
    const struct type *type;
    uint32_t reg; /* first of type->leaves */
    const struct symbol *symbol;
};

/* A variable of file scope that has memory. */
struct variable {
    const char *name;
    const struct type *type;
    int is_constant; /* __constant__, else __device__ */
    uint64_t offset; /* __constant__ */
    uint32_t pointer; /* __device__: index into constants, to be filled with its address */
    const struct expr *initial;
    const struct symbol *symbol;
};

struct program {
    struct insn *code;
    struct place *places; /* of each instruction */
    uint32_t n_code;
    size_t code_room;
    size_t place_room;
    struct plan *plans;
    uint32_t n_plans;
    size_t plan_room;
    struct constant *constants;
    uint32_t n_constants;
    size_t constant_room;
    struct parameter *parameters;
    uint32_t n_parameters;
    struct variable *variables;
    uint32_t n_variables;
    uint32_t n_registers; /* constants not counted: they come behind */
    uint32_t depth;       /* of control flow */
    uint64_t shared_bytes; /* of static arrays */
    uint64_t local_bytes;
    uint64_t constant_bytes;
    int has_extern_shared;
    int has_copies; /* cp.async */
};

/* Math functions by their double name; index ends at NULL. */
const char *wmi_x_math_name(int arity, size_t index);

#endif
