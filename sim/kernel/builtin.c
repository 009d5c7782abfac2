/* What CUDA brings along: vector types, special variables, functions, constants. */
#include <string.h>

#include "compile.h"
#include "execute.h"

/* Read before the source, as file 0. What can be said in CUDA C is said there. */
const char wmi_c_prelude[] =
    "#define __CUDACC__ 1\n"
    "#define __NVCC__ 1\n"
    "#define __CUDACC_VER_MAJOR__ 13\n"
    "#define __CUDACC_VER_MINOR__ 0\n"
    "#define __cplusplus 201703L\n"
    "#define NULL 0\n"
    "#define CHAR_BIT 8\n"
    "#define SCHAR_MAX 127\n"
    "#define UCHAR_MAX 255\n"
    "#define SHRT_MIN (-32768)\n"
    "#define SHRT_MAX 32767\n"
    "#define USHRT_MAX 65535\n"
    "#define INT_MIN (-2147483647 - 1)\n"
    "#define INT_MAX 2147483647\n"
    "#define UINT_MAX 4294967295U\n"
    "#define LONG_MIN (-9223372036854775807L - 1)\n"
    "#define LONG_MAX 9223372036854775807L\n"
    "#define ULONG_MAX 18446744073709551615UL\n"
    "#define LLONG_MIN (-9223372036854775807LL - 1)\n"
    "#define LLONG_MAX 9223372036854775807LL\n"
    "#define ULLONG_MAX 18446744073709551615ULL\n"
    "#define INT32_MIN INT_MIN\n"
    "#define INT32_MAX INT_MAX\n"
    "#define UINT32_MAX UINT_MAX\n"
    "#define INT64_MAX LONG_MAX\n"
    "#define UINT64_MAX ULONG_MAX\n"
    "#define FLT_MAX 3.402823466e+38f\n"
    "#define FLT_MIN 1.175494351e-38f\n"
    "#define FLT_EPSILON 1.192092896e-07f\n"
    "#define DBL_MAX 1.7976931348623157e+308\n"
    "#define DBL_MIN 2.2250738585072014e-308\n"
    "#define DBL_EPSILON 2.2204460492503131e-16\n"
    "#define INFINITY __int_as_float(0x7f800000)\n"
    "#define NAN __int_as_float(0x7fffffff)\n"
    "#define CUDART_INF_F __int_as_float(0x7f800000)\n"
    "#define CUDART_NAN_F __int_as_float(0x7fffffff)\n"
    "#define M_PI 3.14159265358979323846\n"
    "#define M_E 2.7182818284590452354\n"
    "#define M_SQRT2 1.41421356237309504880\n"
    "#define CUDART_PI_F 3.141592654f\n"
    "#define warpSize 32\n"
    "typedef unsigned int uint; typedef unsigned short ushort; typedef unsigned char uchar; typedef unsigned long ulong;\n"
    "typedef unsigned long size_t; typedef long ptrdiff_t; typedef long ssize_t;\n"
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;\n"
    "typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;\n"
    "typedef unsigned long uint64_t; typedef long intptr_t; typedef unsigned long uintptr_t;\n"
    "__device__ int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }\n"
    "__device__ unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }\n"
    "__device__ unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n)\n"
    "{ return (unsigned)(((((unsigned long long)hi << 32) | lo) << (n & 31)) >> 32); }\n"
    "__device__ unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n)\n"
    "{ return (unsigned)((((unsigned long long)hi << 32) | lo) >> (n & 31)); }\n"
    "__device__ unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {\n"
    " unsigned long long b = ((unsigned long long)y << 32) | x; unsigned r = 0;\n"
    " for (int i = 0; i < 4; i++) r |= (unsigned)((b >> (((s >> (4 * i)) & 7) * 8)) & 255) << (8 * i); return r; }\n"
    "__device__ unsigned __sad(int a, int b, unsigned c) { return (unsigned)(a > b ? (unsigned)a - b : (unsigned)b - a) + c; }\n"
    "__device__ float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }\n"
    "__device__ float __fdividef(float a, float b) { return a / b; }\n"
    "__device__ float fdividef(float a, float b) { return a / b; }\n"
    "__device__ float __fadd_rn(float a, float b) { return a + b; }\n"
    "__device__ float __fsub_rn(float a, float b) { return a - b; }\n"
    "__device__ float __fmul_rn(float a, float b) { return a * b; }\n"
    "__device__ float __fdiv_rn(float a, float b) { return a / b; }\n"
    "__device__ float __frcp_rn(float a) { return 1.0f / a; }\n"
    "__device__ double __dadd_rn(double a, double b) { return a + b; }\n"
    "__device__ double __dmul_rn(double a, double b) { return a * b; }\n"
    "__device__ float __int2float_rn(int x) { return (float)x; }\n"
    "__device__ float __uint2float_rn(unsigned x) { return (float)x; }\n"
    "__device__ __half __float2half(float x) { return (__half)x; }\n"
    "__device__ __half __float2half_rn(float x) { return (__half)x; }\n"
    "__device__ float __half2float(__half x) { return (float)x; }\n"
    "__device__ __half __hadd(__half a, __half b) { return a + b; }\n"
    "__device__ __half __hsub(__half a, __half b) { return a - b; }\n"
    "__device__ __half __hmul(__half a, __half b) { return a * b; }\n"
    "__device__ __half __hdiv(__half a, __half b) { return a / b; }\n"
    "__device__ __half2 __halves2half2(__half a, __half b) { __half2 r; r.x = a; r.y = b; return r; }\n"
    "__device__ __half2 __float2half2_rn(float x) { __half2 r; r.x = (__half)x; r.y = (__half)x; return r; }\n"
    "__device__ __half2 __floats2half2_rn(float a, float b) { __half2 r; r.x = (__half)a; r.y = (__half)b; return r; }\n"
    "__device__ float2 __half22float2(__half2 a) { float2 r; r.x = (float)a.x; r.y = (float)a.y; return r; }\n"
    "__device__ __half __low2half(__half2 a) { return a.x; }\n"
    "__device__ __half __high2half(__half2 a) { return a.y; }\n"
    "__device__ __half2 __hadd2(__half2 a, __half2 b) { __half2 r; r.x = a.x + b.x; r.y = a.y + b.y; return r; }\n"
    "__device__ __half2 __hmul2(__half2 a, __half2 b) { __half2 r; r.x = a.x * b.x; r.y = a.y * b.y; return r; }\n";

/* CUDA C++ Programming Guide, "Built-in Vector Types": alignment is that of the whole for 2 and 4, of one for 3. */
static const struct {
    const char *name;
    enum type_kind kind;
} vectors[] = {
    {"char", K_SCHAR}, {"uchar", K_UCHAR}, {"short", K_SHORT}, {"ushort", K_USHORT}, {"int", K_INT},
    {"uint", K_UINT}, {"long", K_LONG}, {"ulong", K_ULONG}, {"longlong", K_LLONG},
    {"ulonglong", K_ULLONG}, {"float", K_FLOAT}, {"double", K_DOUBLE},
};

const char *const wmi_c_special_names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};

static void vector_type(struct compile *c, const char *text, const struct type *of, uint32_t n, int is_vector)
{
    static const char *const parts[] = {"x", "y", "z", "w"};
    const struct place place = {0, 0, 0};
    struct name *name = wmi_c_name_of(c, text);
    struct record *record = wmi_c_record(c, name->text);
    const uint32_t bytes = (uint32_t)of->size * n;

    record->fields = wmi_c_take(c, n * sizeof *record->fields);
    for (uint32_t i = 0; i < n; i++)
        record->fields[i] = (struct field){wmi_c_name_of(c, parts[i]), of, 0, 0};
    record->n_fields = n;
    record->vector = is_vector && n != 3 ? n : 0;
    wmi_c_record_finish(c, record, is_vector && n != 3 ? (bytes > 16 ? 16 : bytes) : 0, place);
    wmi_c_declare(c, SYM_TYPE, name, place)->type = record->type;
}

void wmi_c_builtins(struct compile *c)
{
    const struct place place = {0, 0, 0};
    const struct type *uint3;

    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        for (uint32_t n = 1; n <= 4; n++)
            vector_type(c, wmi_c_text(c, "%s%u", vectors[i].name, n), wmi_c_basic(c, vectors[i].kind), n, 1);
    }
    vector_type(c, "dim3", wmi_c_basic(c, K_UINT), 3, 0);
    vector_type(c, "__half2", wmi_c_basic(c, K_HALF), 2, 1);
    wmi_c_declare(c, SYM_TYPE, wmi_c_name_of(c, "half2"), place)->type = wmi_c_name_of(c, "__half2")->global->type;
    wmi_c_declare(c, SYM_TYPE, wmi_c_name_of(c, "__half"), place)->type = wmi_c_basic(c, K_HALF);
    wmi_c_declare(c, SYM_TYPE, wmi_c_name_of(c, "half"), place)->type = wmi_c_basic(c, K_HALF);
    uint3 = wmi_c_name_of(c, "uint3")->global->type;
    for (uint32_t i = 0; i < WMI_SPECIALS; i++) {
        struct symbol *symbol = wmi_c_declare(c, SYM_VARIABLE, wmi_c_name_of(c, wmi_c_special_names[i]), place);

        symbol->type = wmi_c_const(c, i < 2 ? uint3 : wmi_c_name_of(c, "dim3")->global->type);
        symbol->where = (struct where){W_REGISTER, 3 * i, 0, 0, 0};
    }
}

/* ----------------------------------------------------------------------------------------------------------- functions */

/* How the arguments of a function are treated. */
enum form {
    F_PLAIN,     /* each converted to the type in args: i int, u unsigned, I long, U ulong, L long long, M unsigned long long, s short,
                    w unsigned short, h half, f float, d double, b bool */
    F_LOAD,      /* a pointer; the result is what it points to */
    F_STORE,     /* a pointer and a value */
    F_ATOMIC,
    F_SHUFFLE,
    F_COMMON,    /* all brought to their common type, which is the result's */
    F_MATH,      /* float: the float function, else the double one */
    F_TEST
};

static const struct builtin_row {
    const char *name;
    enum form form;
    const char *args; /* F_PLAIN: result, then arguments; a '?' before those that may be left out */
    enum builtin op;
    uint64_t value;
} rows[] = {
    {"__syncthreads", F_PLAIN, "v", B_SYNCTHREADS, 0},
    {"__syncthreads_count", F_PLAIN, "ib", B_SYNCTHREADS, 1},
    {"__syncthreads_and", F_PLAIN, "ib", B_SYNCTHREADS, 2},
    {"__syncthreads_or", F_PLAIN, "ib", B_SYNCTHREADS, 3},
    {"__syncwarp", F_PLAIN, "v?u", B_SYNCWARP, 0},
    {"__threadfence", F_PLAIN, "v", B_FENCE, 0},
    {"__threadfence_block", F_PLAIN, "v", B_FENCE, 0},
    {"__threadfence_system", F_PLAIN, "v", B_FENCE, 0},
    {"__pipeline_commit", F_PLAIN, "v", B_COMMIT, 0},
    {"__pipeline_wait_prior", F_PLAIN, "vu", B_WAIT, 0},
    {"__ldg", F_LOAD, "", B_LOAD, WM_CACHE_NC},
    {"__ldca", F_LOAD, "", B_LOAD, WM_CACHE_CA},
    {"__ldcg", F_LOAD, "", B_LOAD, WM_CACHE_CG},
    {"__ldcs", F_LOAD, "", B_LOAD, WM_CACHE_CS},
    {"__ldlu", F_LOAD, "", B_LOAD, WM_CACHE_LU},
    {"__ldcv", F_LOAD, "", B_LOAD, WM_CACHE_CV},
    {"__stwb", F_STORE, "", B_STORE, WM_CACHE_WB},
    {"__stcg", F_STORE, "", B_STORE, WM_CACHE_CG},
    {"__stcs", F_STORE, "", B_STORE, WM_CACHE_CS},
    {"__stwt", F_STORE, "", B_STORE, WM_CACHE_WT},
    {"atomicAdd", F_ATOMIC, "iuMfd", B_ATOMIC, WM_ATOMIC_ADD},
    {"atomicSub", F_ATOMIC, "iu", B_ATOMIC, WM_ATOMIC_ADD},
    {"atomicExch", F_ATOMIC, "iuMf", B_ATOMIC, WM_ATOMIC_EXCH},
    {"atomicMin", F_ATOMIC, "iuLM", B_ATOMIC, WM_ATOMIC_MIN},
    {"atomicMax", F_ATOMIC, "iuLM", B_ATOMIC, WM_ATOMIC_MAX},
    {"atomicAnd", F_ATOMIC, "iuM", B_ATOMIC, WM_ATOMIC_AND},
    {"atomicOr", F_ATOMIC, "iuM", B_ATOMIC, WM_ATOMIC_OR},
    {"atomicXor", F_ATOMIC, "iuM", B_ATOMIC, WM_ATOMIC_XOR},
    {"atomicInc", F_ATOMIC, "u", B_ATOMIC, WM_ATOMIC_INC},
    {"atomicDec", F_ATOMIC, "u", B_ATOMIC, WM_ATOMIC_DEC},
    {"atomicCAS", F_ATOMIC, "iuM", B_ATOMIC, WM_ATOMIC_CAS},
    {"__shfl_sync", F_SHUFFLE, "i", B_SHUFFLE, SHUFFLE_INDEX},
    {"__shfl_up_sync", F_SHUFFLE, "u", B_SHUFFLE, SHUFFLE_UP},
    {"__shfl_down_sync", F_SHUFFLE, "u", B_SHUFFLE, SHUFFLE_DOWN},
    {"__shfl_xor_sync", F_SHUFFLE, "i", B_SHUFFLE, SHUFFLE_XOR},
    {"__ballot_sync", F_PLAIN, "uub", B_BALLOT, 0},
    {"__any_sync", F_PLAIN, "iub", B_ANY, 0},
    {"__all_sync", F_PLAIN, "iub", B_ALL, 0},
    {"__activemask", F_PLAIN, "u", B_ACTIVEMASK, 0},
    {"__popc", F_PLAIN, "iu", B_POPC, 0},
    {"__popcll", F_PLAIN, "iM", B_POPC, 0},
    {"__ffs", F_PLAIN, "ii", B_FFS, 0},
    {"__ffsll", F_PLAIN, "iL", B_FFS, 0},
    {"__clz", F_PLAIN, "ii", B_CLZ, 0},
    {"__clzll", F_PLAIN, "iL", B_CLZ, 0},
    {"__brev", F_PLAIN, "uu", B_BREV, 0},
    {"__brevll", F_PLAIN, "MM", B_BREV, 0},
    {"min", F_COMMON, "2", B_MIN, 0},
    {"max", F_COMMON, "2", B_MAX, 0},
    {"umin", F_PLAIN, "uuu", B_MIN, 0},
    {"umax", F_PLAIN, "uuu", B_MAX, 0},
    {"fminf", F_PLAIN, "fff", B_MIN, 0},
    {"fmaxf", F_PLAIN, "fff", B_MAX, 0},
    {"fmin", F_MATH, "2", B_MIN, 0},
    {"fmax", F_MATH, "2", B_MAX, 0},
    {"abs", F_COMMON, "1", B_ABS, 0},
    {"labs", F_PLAIN, "II", B_ABS, 0},
    {"llabs", F_PLAIN, "LL", B_ABS, 0},
    {"fabs", F_MATH, "1", B_ABS, 0},
    {"fabsf", F_PLAIN, "ff", B_ABS, 0},
    {"fma", F_MATH, "3", B_FMA, 0},
    {"fmaf", F_PLAIN, "ffff", B_FMA, 0},
    {"__fmaf_rn", F_PLAIN, "ffff", B_FMA, 0},
    {"__fma_rn", F_PLAIN, "dddd", B_FMA, 0},
    {"isnan", F_TEST, "", B_TEST, TEST_NAN},
    {"isinf", F_TEST, "", B_TEST, TEST_INF},
    {"isfinite", F_TEST, "", B_TEST, TEST_FINITE},
    {"signbit", F_TEST, "", B_TEST, TEST_SIGN},
    {"__float_as_int", F_PLAIN, "if", B_BITS, 0},
    {"__float_as_uint", F_PLAIN, "uf", B_BITS, 0},
    {"__int_as_float", F_PLAIN, "fi", B_BITS, 0},
    {"__uint_as_float", F_PLAIN, "fu", B_BITS, 0},
    {"__double_as_longlong", F_PLAIN, "Ld", B_BITS, 0},
    {"__longlong_as_double", F_PLAIN, "dL", B_BITS, 0},
    {"__half_as_ushort", F_PLAIN, "wh", B_BITS, 0},
    {"__half_as_short", F_PLAIN, "sh", B_BITS, 0},
    {"__ushort_as_half", F_PLAIN, "hw", B_BITS, 0},
    {"__short_as_half", F_PLAIN, "hs", B_BITS, 0},
    {"__float2int_rn", F_PLAIN, "if", B_TO_INT, 'n'},
    {"__float2int_rz", F_PLAIN, "if", B_TO_INT, 'z'},
    {"__float2int_rd", F_PLAIN, "if", B_TO_INT, 'd'},
    {"__float2int_ru", F_PLAIN, "if", B_TO_INT, 'u'},
    {"__float2uint_rn", F_PLAIN, "uf", B_TO_INT, 'n'},
    {"__float2uint_rz", F_PLAIN, "uf", B_TO_INT, 'z'},
    {"__double2int_rn", F_PLAIN, "id", B_TO_INT, 'n'},
    {"__double2int_rz", F_PLAIN, "id", B_TO_INT, 'z'},
    {"__mulhi", F_PLAIN, "iii", B_MULHI, 0},
    {"__umulhi", F_PLAIN, "uuu", B_MULHI, 0},
    {"__mul64hi", F_PLAIN, "LLL", B_MULHI, 0},
    {"__umul64hi", F_PLAIN, "MMM", B_MULHI, 0},
    {"__trap", F_PLAIN, "v", B_TRAP, 0},
    {"assert", F_PLAIN, "vb", B_ASSERT, 0},
};

static const struct type *letter_type(struct compile *c, char letter)
{
    switch (letter) {
    case 'v': return wmi_c_basic(c, K_VOID);
    case 'b': return wmi_c_basic(c, K_BOOL);
    case 'i': return wmi_c_basic(c, K_INT);
    case 'u': return wmi_c_basic(c, K_UINT);
    case 'I': return wmi_c_basic(c, K_LONG);
    case 'U': return wmi_c_basic(c, K_ULONG);
    case 'L': return wmi_c_basic(c, K_LLONG);
    case 'M': return wmi_c_basic(c, K_ULLONG);
    case 'f': return wmi_c_basic(c, K_FLOAT);
    case 'h': return wmi_c_basic(c, K_HALF);
    case 's': return wmi_c_basic(c, K_SHORT);
    case 'w': return wmi_c_basic(c, K_USHORT);
    default: return wmi_c_basic(c, K_DOUBLE);
    }
}

static struct expr *call_of(struct compile *c, const struct builtin_row *row, const struct type *type, struct expr **args,
                            uint32_t n, struct place place)
{
    struct expr *e = wmi_c_make(c, E_BUILTIN, type->plain, place);

    e->op = (int)row->op;
    e->value.i = row->value;
    e->args = args;
    e->n_args = n;
    return e;
}

static void check_count(struct compile *c, const char *name, uint32_t n, uint32_t least, uint32_t most, struct place place)
{
    if (n < least || n > most)
        wmi_c_fail(c, WM_E_SYNTAX, place, "%s takes %u arguments, not %u", name, n < least ? least : most, n);
}

static struct expr *plain_call(struct compile *c, const struct builtin_row *row, struct expr **args, uint32_t n, struct place place)
{
    const char *question = strchr(row->args, '?');
    const uint32_t most = (uint32_t)strlen(row->args) - 1 - (question != NULL);
    const uint32_t least = question ? (uint32_t)(question - row->args) - 1 : most;
    uint32_t i = 0;
    struct expr *e;

    check_count(c, row->name, n, least, most, place);
    for (const char *at = row->args + 1; i < n; at++) {
        if (*at == '?')
            continue;
        args[i] = *at == 'b' ? wmi_c_condition(c, args[i]) : wmi_c_convert(c, args[i], letter_type(c, *at), "an argument");
        i++;
    }
    e = call_of(c, row, letter_type(c, row->args[0]), args, n, place);
    if (row->op == B_BITS && args[0]->kind == E_CONST) { /* INFINITY, mostly: a constant stays one */
        uint32_t bits;
        float value;

        if (e->type->kind == K_FLOAT && args[0]->type->size == 4) {
            bits = (uint32_t)args[0]->value.i;
            memcpy(&value, &bits, sizeof value);
            e = wmi_c_make(c, E_CONST, e->type, place);
            e->value.f = (double)value;
        }
    }
    return e;
}

static void pointer_argument(struct compile *c, struct expr **arg, const char *name)
{
    *arg = wmi_c_rvalue(c, *arg);
    if ((*arg)->type->kind != K_POINTER)
        wmi_c_fail(c, WM_E_SYNTAX, (*arg)->place, "%s needs a pointer, not %s", name, wmi_c_type_name(c, (*arg)->type));
}

/* What a cached load or store, or an atomic, gets as its first argument. */
static const struct type *pointee(struct compile *c, struct expr **args, const char *name)
{
    pointer_argument(c, args, name);
    if (args[0]->type->base->size == 0)
        wmi_c_fail(c, WM_E_SYNTAX, args[0]->place, "%s needs a pointer, not %s", name, wmi_c_type_name(c, args[0]->type));
    return args[0]->type->base;
}

static struct expr *cached_call(struct compile *c, const struct builtin_row *row, struct expr **args, uint32_t n, struct place place)
{
    const struct type *type;

    check_count(c, row->name, n, row->form == F_LOAD ? 1 : 2, row->form == F_LOAD ? 1 : 2, place);
    type = pointee(c, args, row->name);
    if (!wmi_c_is_arithmetic(type) && !(type->kind == K_RECORD && type->record->vector && type->size <= 16))
        wmi_c_refuse(c, place, "%s of %s", row->name, wmi_c_type_name(c, type));
    if (row->form == F_LOAD)
        return call_of(c, row, type, args, n, place);
    if (type->is_const)
        wmi_c_fail(c, WM_E_SYNTAX, place, "%s to a const value", row->name);
    args[1] = wmi_c_convert(c, args[1], type->plain, "a value");
    return call_of(c, row, wmi_c_basic(c, K_VOID), args, n, place);
}

static struct expr *atomic_call(struct compile *c, const struct builtin_row *row, struct expr **args, uint32_t n, struct place place)
{
    const uint32_t count = row->value == WM_ATOMIC_CAS ? 3 : 2;
    const struct type *type;
    int fits = 0;

    check_count(c, row->name, n, count, count, place);
    type = pointee(c, args, row->name);
    for (const char *at = row->args; *at; at++)
        fits |= letter_type(c, *at)->kind == type->kind;
    if (type->kind == K_ULONG || type->kind == K_LONG) /* the same bits as the long long that CUDA has */
        fits = row->value != WM_ATOMIC_INC && row->value != WM_ATOMIC_DEC;
    if (!fits || type->is_const)
        wmi_c_refuse(c, place, "%s on %s", row->name, wmi_c_type_name(c, type));
    for (uint32_t i = 1; i < n; i++)
        args[i] = wmi_c_convert(c, args[i], type->plain, "a value");
    if (strcmp(row->name, "atomicSub") == 0) {
        struct expr *negative = wmi_c_make(c, E_NEG, type->plain, place);

        negative->a = args[1];
        args[1] = negative;
    }
    return call_of(c, row, type, args, n, place);
}

static struct expr *shuffle_call(struct compile *c, const struct builtin_row *row, struct expr **args, uint32_t n, struct place place)
{
    check_count(c, row->name, n, 3, 4, place);
    args[0] = wmi_c_convert(c, args[0], wmi_c_basic(c, K_UINT), "a mask");
    args[1] = wmi_c_rvalue(c, args[1]);
    if (!wmi_c_is_arithmetic(args[1]->type))
        wmi_c_refuse(c, place, "%s of %s", row->name, wmi_c_type_name(c, args[1]->type));
    if (wmi_c_is_integer(args[1]->type) && args[1]->type->size < 4)
        args[1] = wmi_c_convert(c, args[1], wmi_c_basic(c, K_INT), "a value");
    args[2] = wmi_c_convert(c, args[2], letter_type(c, row->args[0]), "a lane");
    if (n == 4)
        args[3] = wmi_c_convert(c, args[3], wmi_c_basic(c, K_INT), "a width");
    return call_of(c, row, args[1]->type, args, n, place);
}

/* min, max, abs of mixed types; fmin, fma ... of float or double. */
static struct expr *common_call(struct compile *c, const struct builtin_row *row, struct expr **args, uint32_t n, struct place place)
{
    const uint32_t count = (uint32_t)(row->args[0] - '0');
    const struct type *type = NULL;

    check_count(c, row->name, n, count, count, place);
    for (uint32_t i = 0; i < n; i++) {
        args[i] = wmi_c_rvalue(c, args[i]);
        if (!wmi_c_is_arithmetic(args[i]->type))
            wmi_c_fail(c, WM_E_SYNTAX, args[i]->place, "%s of %s", row->name, wmi_c_type_name(c, args[i]->type));
    }
    if (row->form == F_COMMON) {
        struct expr *probe = wmi_c_make(c, E_CAST, args[0]->type->plain, place);

        type = wmi_c_binary(c, '+', probe, n > 1 ? args[1] : probe, place)->type;
    } else {
        type = wmi_c_basic(c, K_FLOAT);
        for (uint32_t i = 0; i < n; i++) {
            if (args[i]->type->kind != K_FLOAT)
                type = wmi_c_basic(c, K_DOUBLE);
        }
    }
    if (type->kind == K_HALF)
        wmi_c_refuse(c, place, "%s of __half", row->name);
    for (uint32_t i = 0; i < n; i++)
        args[i] = wmi_c_convert(c, args[i], type, "an argument");
    return call_of(c, row, type, args, n, place);
}

static struct expr *test_call(struct compile *c, const struct builtin_row *row, struct expr **args, uint32_t n, struct place place)
{
    check_count(c, row->name, n, 1, 1, place);
    args[0] = wmi_c_rvalue(c, args[0]);
    args[0] = wmi_c_convert(c, args[0], wmi_c_basic(c, args[0]->type->kind == K_FLOAT ? K_FLOAT : K_DOUBLE), "an argument");
    return call_of(c, row, wmi_c_basic(c, K_BOOL), args, n, place);
}

/* sinf, sin, __sinf, pow ...; NULL: none of them. */
static struct expr *math_call(struct compile *c, const struct name *name, struct expr **args, uint32_t n, struct place place)
{
    for (int arity = 1; arity <= 2; arity++) {
        for (size_t i = 0; wmi_x_math_name(arity, i); i++) {
            const char *base = wmi_x_math_name(arity, i);
            const size_t length = strlen(base);
            const int is_fast = strncmp(name->text, "__", 2) == 0;
            const char *text = is_fast ? name->text + 2 : name->text;
            struct builtin_row row = {base, F_MATH, arity == 1 ? "1" : "2", arity == 1 ? B_MATH1 : B_MATH2, i};

            if (strncmp(text, base, length) != 0)
                continue;
            if (text[length] == '\0' && !is_fast)
                return common_call(c, &row, args, n, place);
            if (strcmp(text + length, "f") == 0) {
                check_count(c, name->text, n, (uint32_t)arity, (uint32_t)arity, place);
                for (uint32_t k = 0; k < n; k++)
                    args[k] = wmi_c_convert(c, args[k], wmi_c_basic(c, K_FLOAT), "an argument");
                return call_of(c, &row, wmi_c_basic(c, K_FLOAT), args, n, place);
            }
        }
    }
    return NULL;
}

static struct expr *make_vector(struct compile *c, const struct name *name, struct expr **args, uint32_t n, struct place place)
{
    const struct symbol *symbol;
    struct expr *e;

    if (strncmp(name->text, "make_", 5) != 0)
        return NULL;
    symbol = wmi_c_name_of(c, name->text + 5)->global;
    if (!symbol || symbol->kind != SYM_TYPE || symbol->place.file != 0 || symbol->type->kind != K_RECORD)
        return NULL;
    check_count(c, name->text, n, symbol->type->record->n_fields, symbol->type->record->n_fields, place);
    e = wmi_c_make(c, E_LIST, symbol->type, place);
    for (uint32_t i = 0; i < n; i++)
        args[i] = wmi_c_convert(c, args[i], symbol->type->record->fields[i].type, "a component");
    e->args = args;
    e->n_args = n;
    return e;
}

/* 4 and 8 bytes go through L1, 16 past it, as CUDA's cuda_pipeline_helpers.h has it. */
static struct expr *pipeline_copy(struct compile *c, const char *name, struct expr **args, uint32_t n, struct place place)
{
    const struct type *wide = wmi_c_basic(c, K_ULONG);
    const struct type *number = wmi_c_basic(c, K_UINT);
    struct builtin_row row = {name, F_PLAIN, "", B_COPY, 0};

    check_count(c, name, n, 3, 4, place);
    for (uint32_t i = 0; i < 2; i++) {
        pointer_argument(c, &args[i], name);
        args[i] = wmi_c_cast(c, args[i], wide, place);
    }
    args[2] = wmi_c_rvalue(c, args[2]);
    if (args[2]->kind != E_CONST || !wmi_c_is_integer(args[2]->type))
        wmi_c_refuse(c, args[2]->place, "%s of a size that is not known when compiling", name);
    if (args[2]->value.i != 4 && args[2]->value.i != 8 && args[2]->value.i != 16)
        wmi_c_fail(c, WM_E_SYNTAX, args[2]->place, "%s copies 4, 8 or 16 bytes", name);
    row.value = args[2]->value.i | (args[2]->value.i == 16 ? WMI_COPY_CG : 0);
    if (n == 4)
        args[2] = wmi_c_binary(c, '-', wmi_c_cast(c, args[2], number, place), wmi_c_convert(c, args[3], number, "a size"), place);
    return call_of(c, &row, wmi_c_basic(c, K_VOID), args, n == 4 ? 3 : 2, place);
}

/*
 * What CUDA C has no function for, where an access is written as an expression: ldmatrix_x4(&tile[row][column]), ldmatrix_x2_trans,
 * stmatrix_x1 ... each lane gives its row's address. What is stored is 0, what is loaded goes nowhere. NULL: another name.
 */
static struct expr *matrix_call(struct compile *c, const struct name *name, struct expr **args, uint32_t n, struct place place)
{
    const int is_store = strncmp(name->text, "stmatrix_x", 10) == 0;
    const char *shape = name->text + 10;
    struct builtin_row row = {name->text, F_PLAIN, "", is_store ? B_STMATRIX : B_LDMATRIX, 0};
    const struct type *type;

    if (!c->is_strict || (!is_store && strncmp(name->text, "ldmatrix_x", 10) != 0) || (*shape != '1' && *shape != '2' && *shape != '4') ||
        (shape[1] && strcmp(shape + 1, "_trans") != 0))
        return NULL;
    row.value = (uint64_t)(*shape - '0') | (shape[1] ? WMI_MATRIX_TRANSPOSED : 0);
    type = *shape == '1' ? wmi_c_basic(c, K_UINT) : wmi_c_name_of(c, *shape == '2' ? "uint2" : "uint4")->global->type;
    check_count(c, name->text, n, 1, 1, place);
    pointer_argument(c, args, name->text);
    args[0] = wmi_c_cast(c, args[0], wmi_c_basic(c, K_ULONG), place);
    if (!is_store)
        return call_of(c, &row, type, args, n, place);
    args[1] = *shape == '1' ? wmi_c_integer(c, 0, type, place) : wmi_c_make(c, E_LIST, type, place);
    return call_of(c, &row, wmi_c_basic(c, K_VOID), args, 2, place);
}

struct expr *wmi_c_builtin(struct compile *c, const struct name *name, struct expr **args, uint32_t n, struct place place)
{
    if (strcmp(name->text, "__pipeline_memcpy_async") == 0)
        return pipeline_copy(c, name->text, args, n, place);
    if (strcmp(name->text, "__nvvm_get_smem_pointer") == 0) { /* what older code has for it */
        const struct builtin_row row = {name->text, F_PLAIN, "", B_TO_SHARED, 0};

        check_count(c, name->text, n, 1, 1, place);
        pointer_argument(c, args, name->text);
        return wmi_c_cast(c, call_of(c, &row, wmi_c_basic(c, K_ULONG), args, n, place), wmi_c_basic(c, K_UINT), place);
    }
    if (strcmp(name->text, "__cvta_generic_to_shared") == 0) {
        const struct builtin_row row = {name->text, F_PLAIN, "", B_TO_SHARED, 0};

        check_count(c, name->text, n, 1, 1, place);
        pointer_argument(c, args, name->text);
        return call_of(c, &row, wmi_c_basic(c, K_ULONG), args, n, place);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, name->text) != 0)
            continue;
        switch (rows[i].form) {
        case F_PLAIN: return plain_call(c, &rows[i], args, n, place);
        case F_LOAD:
        case F_STORE: return cached_call(c, &rows[i], args, n, place);
        case F_ATOMIC: return atomic_call(c, &rows[i], args, n, place);
        case F_SHUFFLE: return shuffle_call(c, &rows[i], args, n, place);
        case F_COMMON:
        case F_MATH: return common_call(c, &rows[i], args, n, place);
        default: return test_call(c, &rows[i], args, n, place);
        }
    }
    if (strcmp(name->text, "printf") == 0)
        wmi_c_refuse(c, place, "printf in a kernel");
    {
        struct expr *e = math_call(c, name, args, n, place);

        e = e ? e : make_vector(c, name, args, n, place);
        return e ? e : matrix_call(c, name, args, n, place);
    }
}
