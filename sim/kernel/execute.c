/* Runs a warp until something outside it is needed. */
#include <math.h>
#include <string.h>

#include "half.h"
#include "machine.h"

/* Rounds of loops after which the block's other warps get their turn: who waits for another warp gets what it waits for. */
#define TURN 4096u

/* ---------------------------------------------------------------------------------------------------------------- maths */

static double rsqrt_d(double x)
{
    return 1 / sqrt(x);
}

static float rsqrt_f(float x)
{
    return 1 / sqrtf(x);
}

static double exp10_d(double x)
{
    return pow(10, x);
}

static float exp10_f(float x)
{
    return powf(10, x);
}

static const struct {
    const char *name;
    double (*d)(double);
    float (*f)(float);
} math1[] = {
    {"sqrt", sqrt, sqrtf}, {"rsqrt", rsqrt_d, rsqrt_f}, {"cbrt", cbrt, cbrtf}, {"exp", exp, expf}, {"exp2", exp2, exp2f},
    {"exp10", exp10_d, exp10_f}, {"expm1", expm1, expm1f}, {"log", log, logf}, {"log2", log2, log2f},
    {"log10", log10, log10f}, {"log1p", log1p, log1pf}, {"sin", sin, sinf}, {"cos", cos, cosf}, {"tan", tan, tanf},
    {"asin", asin, asinf}, {"acos", acos, acosf}, {"atan", atan, atanf}, {"sinh", sinh, sinhf}, {"cosh", cosh, coshf},
    {"tanh", tanh, tanhf}, {"floor", floor, floorf}, {"ceil", ceil, ceilf}, {"round", round, roundf},
    {"trunc", trunc, truncf}, {"rint", rint, rintf}, {"nearbyint", nearbyint, nearbyintf}, {"erf", erf, erff},
    {"erfc", erfc, erfcf}, {"tgamma", tgamma, tgammaf}, {"lgamma", lgamma, lgammaf}, {NULL, NULL, NULL},
};

static const struct {
    const char *name;
    double (*d)(double, double);
    float (*f)(float, float);
} math2[] = {
    {"pow", pow, powf}, {"fmod", fmod, fmodf}, {"atan2", atan2, atan2f}, {"hypot", hypot, hypotf},
    {"copysign", copysign, copysignf}, {"fdim", fdim, fdimf}, {NULL, NULL, NULL},
};

const char *wmi_x_math_name(int arity, size_t index)
{
    return arity == 1 ? math1[index].name : math2[index].name;
}

static double rounded(double value, char how)
{
    switch (how) {
    case 'n': return nearbyint(value);
    case 'd': return floor(value);
    case 'u': return ceil(value);
    default: return trunc(value);
    }
}

static int test_float(double value, uint64_t test)
{
    switch (test) {
    case TEST_NAN: return isnan(value);
    case TEST_INF: return isinf(value) != 0;
    case TEST_FINITE: return isfinite(value);
    default: return signbit(value) != 0;
    }
}

static uint64_t mul_high(uint64_t a, uint64_t b)
{
    const uint64_t al = (uint32_t)a;
    const uint64_t ah = a >> 32;
    const uint64_t bl = (uint32_t)b;
    const uint64_t bh = b >> 32;
    const uint64_t middle = ah * bl + (al * bl >> 32);
    const uint64_t low = al * bh + (uint32_t)middle;

    return ah * bh + (middle >> 32) + (low >> 32);
}

static uint64_t reversed(uint64_t value, unsigned bits)
{
    uint64_t result = 0;

    for (unsigned i = 0; i < bits; i++)
        result |= (value >> i & 1) << (bits - 1 - i);
    return result;
}

/* ---------------------------------------------------------------------------------------------------------------- lanes */

static uint32_t mask_of(const union lanes *a)
{
    uint32_t mask = 0;

    for (unsigned i = 0; i < WM_LANES; i++)
        mask |= (uint32_t)(a->u[i] != 0) << i;
    return mask;
}

static void move32(union lanes *restrict d, const union lanes *restrict a, uint32_t mask)
{
    if (mask == UINT32_MAX) {
        memcpy(d->u, a->u, sizeof d->u);
        return;
    }
    for (unsigned i = 0; i < WM_LANES; i++)
        d->u[i] = mask >> i & 1 ? a->u[i] : d->u[i];
}

static void move64(union lanes *restrict d, const union lanes *restrict a, uint32_t mask)
{
    if (mask == UINT32_MAX) {
        memcpy(d->U, a->U, sizeof d->U);
        return;
    }
    for (unsigned i = 0; i < WM_LANES; i++)
        d->U[i] = mask >> i & 1 ? a->U[i] : d->U[i];
}

/* Integer division; -1: an active lane divides by zero. What the GPU gives for the most negative number by -1 is itself. */
static int divide(enum op op, union lanes *d, const union lanes *a, const union lanes *b, uint32_t mask)
{
    for (unsigned i = 0; i < WM_LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        switch (op) {
        case X_DIV_S:
        case X_REM_S:
            if (b->s[i] == 0)
                return -1;
            if (b->s[i] == -1)
                d->u[i] = op == X_DIV_S ? 0 - a->u[i] : 0;
            else
                d->s[i] = op == X_DIV_S ? a->s[i] / b->s[i] : a->s[i] % b->s[i];
            break;
        case X_DIV_U:
        case X_REM_U:
            if (b->u[i] == 0)
                return -1;
            d->u[i] = op == X_DIV_U ? a->u[i] / b->u[i] : a->u[i] % b->u[i];
            break;
        case X_DIV_SL:
        case X_REM_SL:
            if (b->S[i] == 0)
                return -1;
            if (b->S[i] == -1)
                d->U[i] = op == X_DIV_SL ? 0 - a->U[i] : 0;
            else
                d->S[i] = op == X_DIV_SL ? a->S[i] / b->S[i] : a->S[i] % b->S[i];
            break;
        default:
            if (b->U[i] == 0)
                return -1;
            d->U[i] = op == X_DIV_UL ? a->U[i] / b->U[i] : a->U[i] % b->U[i];
            break;
        }
    }
    return 0;
}

static void shuffle(struct wmi_run *run, struct warp *warp, const struct insn *insn, union lanes *d, const union lanes *a,
                    const union lanes *b)
{
    const union lanes *width = &warp->registers[insn->c];
    uint32_t strays = 0;

    for (unsigned i = 0; i < WM_LANES; i++) {
        const uint32_t w = width->u[i] >= 1 && width->u[i] <= 32 ? width->u[i] : 32;
        const uint32_t first = i & ~(w - 1);
        uint32_t from = i;
        uint64_t wanted;

        switch (insn->aux) {
        case SHUFFLE_INDEX: from = first | (b->u[i] & (w - 1)); break;
        case SHUFFLE_UP:
            wanted = b->u[i] & 31;
            from = i >= first + wanted ? i - (uint32_t)wanted : i;
            break;
        case SHUFFLE_DOWN:
            wanted = (uint64_t)i + (b->u[i] & 31);
            from = wanted <= (first | (w - 1)) ? (uint32_t)wanted : i;
            break;
        default:
            wanted = i ^ (b->u[i] & 31);
            from = wanted <= (first | (w - 1)) ? (uint32_t)wanted : i;
            break;
        }
        if ((warp->active >> i & 1) && !(warp->active >> from & 1))
            strays |= 1u << i;
        if (insn->imm)
            d->U[i] = a->U[from];
        else
            d->u[i] = a->u[from];
    }
    if (strays)
        wmi_x_warn(run, WARN_LANE, (uint32_t)(insn - run->program.code),
                   "a shuffle reads a lane that does not take part in it: the value is undefined");
}

/* The mask argument of votes and shuffles should be exactly the lanes that get there. */
static uint32_t check_mask(struct wmi_run *run, const struct warp *warp, const struct insn *insn, uint32_t reg)
{
    const unsigned first = (unsigned)__builtin_ctz(warp->active);
    const uint32_t mask = warp->registers[reg].u[first];

    if (mask != warp->active && (mask & warp->live) != warp->active)
        wmi_x_warn(run, WARN_MASK, (uint32_t)(insn - run->program.code),
                   "the mask 0x%08x names other lanes than those that get here, 0x%08x", mask, warp->active);
    return mask;
}

static void set_all(union lanes *d, uint32_t value)
{
    for (unsigned i = 0; i < WM_LANES; i++)
        d->u[i] = value;
}

/* --------------------------------------------------------------------------------------------------------- control flow */

static struct control *push(struct warp *warp)
{
    struct control *top = &warp->stack[warp->depth++];

    top->saved = warp->active;
    top->other = 0;
    top->broken = warp->broken;
    top->continued = warp->continued;
    top->returned = warp->returned;
    return top;
}

static uint32_t gone(const struct warp *warp)
{
    return warp->broken | warp->continued | warp->returned;
}

/* Instructions that change which lanes are active; returns the next instruction's number. */
static uint32_t control_flow(struct warp *warp, const struct insn *insn, uint32_t next)
{
    struct control *top = warp->depth ? &warp->stack[warp->depth - 1] : NULL;
    uint32_t mask;

    switch ((enum op)insn->op) {
    case X_IF:
        mask = mask_of(&warp->registers[insn->a]);
        top = push(warp);
        top->other = warp->active & ~mask;
        warp->active &= mask;
        break;
    case X_ELSE: warp->active = top->other; break;
    case X_ENDIF:
        warp->active = top->saved & ~gone(warp);
        warp->depth--;
        break;
    case X_LOOP:
        push(warp);
        warp->broken = warp->continued = 0;
        return next;
    case X_LOOP_TEST:
        mask = mask_of(&warp->registers[insn->a]);
        warp->broken |= warp->active & ~mask;
        warp->active &= mask;
        break;
    case X_LOOP_NEXT:
        warp->active |= warp->continued;
        warp->continued = 0;
        break;
    case X_ENDLOOP:
        warp->broken = top->broken;
        warp->continued = top->continued;
        warp->active = top->saved & ~warp->returned;
        warp->depth--;
        break;
    case X_SWITCH:
        push(warp);
        warp->broken = 0;
        warp->active = 0;
        return next;
    case X_CASE:
        warp->active |= top->saved & mask_of(&warp->registers[insn->a]);
        break;
    case X_ENDSWITCH:
        warp->broken = top->broken;
        warp->active = top->saved & ~(warp->continued | warp->returned);
        warp->depth--;
        break;
    case X_BREAK:
        warp->broken |= warp->active;
        warp->active = 0;
        break;
    case X_CONTINUE:
        warp->continued |= warp->active;
        warp->active = 0;
        break;
    case X_FRAME:
        push(warp);
        warp->broken = warp->continued = warp->returned = 0;
        return next;
    case X_RETURN:
        warp->returned |= warp->active;
        warp->active = 0;
        break;
    case X_ENDFRAME:
        warp->active = top->saved;
        warp->broken = top->broken;
        warp->continued = top->continued;
        warp->returned = top->returned;
        warp->depth--;
        return next;
    default: return insn->target;
    }
    return warp->active ? next : insn->target;
}

/* ----------------------------------------------------------------------------------------------------------- arithmetic */

#define EACH(expression) \
    for (unsigned i = 0; i < WM_LANES; i++) \
        expression; \
    break

#define SHIFTED(value, count, bits, otherwise) ((count) < (bits) ? (value) : (otherwise))

/* C's >> on negative numbers is up to the compiler; this is not. */
static int32_t shift_right_s(int32_t value, uint32_t count)
{
    count = count < 31 ? count : 31;
    return value < 0 ? (int32_t)~(~(uint32_t)value >> count) : (int32_t)((uint32_t)value >> count);
}

static int64_t shift_right_sl(int64_t value, uint32_t count)
{
    count = count < 63 ? count : 63;
    return value < 0 ? (int64_t)~(~(uint64_t)value >> count) : (int64_t)((uint64_t)value >> count);
}

static void compute(const struct insn *insn, union lanes *restrict d, const union lanes *a, const union lanes *b,
                    const union lanes *c)
{
    switch ((enum op)insn->op) {
    case X_SELECT32: EACH(d->u[i] = c->u[i] ? a->u[i] : b->u[i]);
    case X_SELECT64: EACH(d->U[i] = c->u[i] ? a->U[i] : b->U[i]);
    case X_ADD_I: EACH(d->u[i] = a->u[i] + b->u[i]);
    case X_ADD_L: EACH(d->U[i] = a->U[i] + b->U[i]);
    case X_ADD_F: EACH(d->f[i] = a->f[i] + b->f[i]);
    case X_ADD_D: EACH(d->F[i] = a->F[i] + b->F[i]);
    case X_SUB_I: EACH(d->u[i] = a->u[i] - b->u[i]);
    case X_SUB_L: EACH(d->U[i] = a->U[i] - b->U[i]);
    case X_SUB_F: EACH(d->f[i] = a->f[i] - b->f[i]);
    case X_SUB_D: EACH(d->F[i] = a->F[i] - b->F[i]);
    case X_MUL_I: EACH(d->u[i] = a->u[i] * b->u[i]);
    case X_MUL_L: EACH(d->U[i] = a->U[i] * b->U[i]);
    case X_MUL_F: EACH(d->f[i] = a->f[i] * b->f[i]);
    case X_MUL_D: EACH(d->F[i] = a->F[i] * b->F[i]);
    case X_DIV_F: EACH(d->f[i] = a->f[i] / b->f[i]);
    case X_DIV_D: EACH(d->F[i] = a->F[i] / b->F[i]);
    case X_AND_I: EACH(d->u[i] = a->u[i] & b->u[i]);
    case X_AND_L: EACH(d->U[i] = a->U[i] & b->U[i]);
    case X_OR_I: EACH(d->u[i] = a->u[i] | b->u[i]);
    case X_OR_L: EACH(d->U[i] = a->U[i] | b->U[i]);
    case X_XOR_I: EACH(d->u[i] = a->u[i] ^ b->u[i]);
    case X_XOR_L: EACH(d->U[i] = a->U[i] ^ b->U[i]);
    /* PTX ISA, shl and shr: counts above the width are clamped to it */
    case X_SHL_I: EACH(d->u[i] = SHIFTED(a->u[i] << (b->u[i] & 31), b->u[i], 32, 0));
    case X_SHL_L: EACH(d->U[i] = SHIFTED(a->U[i] << (b->u[i] & 63), b->u[i], 64, 0));
    case X_SHR_U: EACH(d->u[i] = SHIFTED(a->u[i] >> (b->u[i] & 31), b->u[i], 32, 0));
    case X_SHR_UL: EACH(d->U[i] = SHIFTED(a->U[i] >> (b->u[i] & 63), b->u[i], 64, 0));
    case X_SHR_S: EACH(d->s[i] = shift_right_s(a->s[i], b->u[i]));
    case X_SHR_SL: EACH(d->S[i] = shift_right_sl(a->S[i], b->u[i]));
    case X_LT_S: EACH(d->u[i] = a->s[i] < b->s[i]);
    case X_LT_U: EACH(d->u[i] = a->u[i] < b->u[i]);
    case X_LT_SL: EACH(d->u[i] = a->S[i] < b->S[i]);
    case X_LT_UL: EACH(d->u[i] = a->U[i] < b->U[i]);
    case X_LT_F: EACH(d->u[i] = a->f[i] < b->f[i]);
    case X_LT_D: EACH(d->u[i] = a->F[i] < b->F[i]);
    case X_LE_S: EACH(d->u[i] = a->s[i] <= b->s[i]);
    case X_LE_U: EACH(d->u[i] = a->u[i] <= b->u[i]);
    case X_LE_SL: EACH(d->u[i] = a->S[i] <= b->S[i]);
    case X_LE_UL: EACH(d->u[i] = a->U[i] <= b->U[i]);
    case X_LE_F: EACH(d->u[i] = a->f[i] <= b->f[i]);
    case X_LE_D: EACH(d->u[i] = a->F[i] <= b->F[i]);
    case X_EQ_I: EACH(d->u[i] = a->u[i] == b->u[i]);
    case X_EQ_L: EACH(d->u[i] = a->U[i] == b->U[i]);
    case X_EQ_F: EACH(d->u[i] = a->f[i] == b->f[i]);
    case X_EQ_D: EACH(d->u[i] = a->F[i] == b->F[i]);
    case X_NE_I: EACH(d->u[i] = a->u[i] != b->u[i]);
    case X_NE_L: EACH(d->u[i] = a->U[i] != b->U[i]);
    case X_NE_F: EACH(d->u[i] = a->f[i] != b->f[i]);
    case X_NE_D: EACH(d->u[i] = a->F[i] != b->F[i]);
    case X_NEG_I: EACH(d->u[i] = 0 - a->u[i]);
    case X_NEG_L: EACH(d->U[i] = 0 - a->U[i]);
    case X_NEG_F: EACH(d->f[i] = -a->f[i]);
    case X_NEG_D: EACH(d->F[i] = -a->F[i]);
    case X_NOT_I: EACH(d->u[i] = ~a->u[i]);
    case X_NOT_L: EACH(d->U[i] = ~a->U[i]);
    case X_LNOT: EACH(d->u[i] = a->u[i] == 0);
    case X_LEA_S: EACH(d->U[i] = a->U[i] + (uint64_t)(int64_t)b->s[i] * insn->imm);
    case X_LEA_U: EACH(d->U[i] = a->U[i] + (uint64_t)b->u[i] * insn->imm);
    case X_LEA_L: EACH(d->U[i] = a->U[i] + b->U[i] * insn->imm);
    case X_S8: EACH(d->s[i] = (int8_t)a->u[i]);
    case X_U8: EACH(d->u[i] = (uint8_t)a->u[i]);
    case X_S16: EACH(d->s[i] = (int16_t)a->u[i]);
    case X_U16: EACH(d->u[i] = (uint16_t)a->u[i]);
    case X_SL_I: EACH(d->S[i] = a->s[i]);
    case X_UL_I: EACH(d->U[i] = a->u[i]);
    case X_I_L: EACH(d->u[i] = (uint32_t)a->U[i]);
    case X_F_S: EACH(d->u[i] = (uint32_t)wmi_double_to_integer((double)a->f[i], 0, 0, 1));
    case X_F_U: EACH(d->u[i] = (uint32_t)wmi_double_to_integer((double)a->f[i], 0, 0, 0));
    case X_F_SL: EACH(d->U[i] = wmi_double_to_integer((double)a->f[i], 0, 1, 1));
    case X_F_UL: EACH(d->U[i] = wmi_double_to_integer((double)a->f[i], 0, 1, 0));
    case X_D_S: EACH(d->u[i] = (uint32_t)wmi_double_to_integer(a->F[i], 1, 0, 1));
    case X_D_U: EACH(d->u[i] = (uint32_t)wmi_double_to_integer(a->F[i], 1, 0, 0));
    case X_D_SL: EACH(d->U[i] = wmi_double_to_integer(a->F[i], 1, 1, 1));
    case X_D_UL: EACH(d->U[i] = wmi_double_to_integer(a->F[i], 1, 1, 0));
    case X_S_F: EACH(d->f[i] = (float)a->s[i]);
    case X_U_F: EACH(d->f[i] = (float)a->u[i]);
    case X_SL_F: EACH(d->f[i] = (float)a->S[i]);
    case X_UL_F: EACH(d->f[i] = (float)a->U[i]);
    case X_S_D: EACH(d->F[i] = a->s[i]);
    case X_U_D: EACH(d->F[i] = a->u[i]);
    case X_SL_D: EACH(d->F[i] = (double)a->S[i]);
    case X_UL_D: EACH(d->F[i] = (double)a->U[i]);
    case X_F_D: EACH(d->F[i] = (double)a->f[i]);
    case X_D_F: EACH(d->f[i] = (float)a->F[i]);
    case X_H_F: EACH(d->f[i] = wmi_half_to_float((uint16_t)a->u[i]));
    case X_F_H: EACH(d->u[i] = wmi_float_to_half(a->f[i]));
    case X_MIN_S: EACH(d->s[i] = a->s[i] < b->s[i] ? a->s[i] : b->s[i]);
    case X_MIN_U: EACH(d->u[i] = a->u[i] < b->u[i] ? a->u[i] : b->u[i]);
    case X_MIN_SL: EACH(d->S[i] = a->S[i] < b->S[i] ? a->S[i] : b->S[i]);
    case X_MIN_UL: EACH(d->U[i] = a->U[i] < b->U[i] ? a->U[i] : b->U[i]);
    case X_MIN_F: EACH(d->f[i] = fminf(a->f[i], b->f[i]));
    case X_MIN_D: EACH(d->F[i] = fmin(a->F[i], b->F[i]));
    case X_MAX_S: EACH(d->s[i] = a->s[i] > b->s[i] ? a->s[i] : b->s[i]);
    case X_MAX_U: EACH(d->u[i] = a->u[i] > b->u[i] ? a->u[i] : b->u[i]);
    case X_MAX_SL: EACH(d->S[i] = a->S[i] > b->S[i] ? a->S[i] : b->S[i]);
    case X_MAX_UL: EACH(d->U[i] = a->U[i] > b->U[i] ? a->U[i] : b->U[i]);
    case X_MAX_F: EACH(d->f[i] = fmaxf(a->f[i], b->f[i]));
    case X_MAX_D: EACH(d->F[i] = fmax(a->F[i], b->F[i]));
    case X_ABS_S: EACH(d->u[i] = a->s[i] < 0 ? 0 - a->u[i] : a->u[i]);
    case X_ABS_SL: EACH(d->U[i] = a->S[i] < 0 ? 0 - a->U[i] : a->U[i]);
    case X_ABS_F: EACH(d->f[i] = fabsf(a->f[i]));
    case X_ABS_D: EACH(d->F[i] = fabs(a->F[i]));
    case X_FMA_F: EACH(d->f[i] = fmaf(a->f[i], b->f[i], c->f[i]));
    case X_FMA_D: EACH(d->F[i] = fma(a->F[i], b->F[i], c->F[i]));
    case X_MATH1_F: EACH(d->f[i] = math1[insn->imm].f(a->f[i]));
    case X_MATH1_D: EACH(d->F[i] = math1[insn->imm].d(a->F[i]));
    case X_MATH2_F: EACH(d->f[i] = math2[insn->imm].f(a->f[i], b->f[i]));
    case X_MATH2_D: EACH(d->F[i] = math2[insn->imm].d(a->F[i], b->F[i]));
    case X_ROUND_F: EACH(d->f[i] = (float)rounded((double)a->f[i], (char)insn->imm));
    case X_ROUND_D: EACH(d->F[i] = rounded(a->F[i], (char)insn->imm));
    case X_TEST_F: EACH(d->u[i] = (uint32_t)test_float((double)a->f[i], insn->imm));
    case X_TEST_D: EACH(d->u[i] = (uint32_t)test_float(a->F[i], insn->imm));
    case X_MULHI_S: EACH(d->u[i] = (uint32_t)((uint64_t)((int64_t)a->s[i] * b->s[i]) >> 32));
    case X_MULHI_U: EACH(d->u[i] = (uint32_t)((uint64_t)a->u[i] * b->u[i] >> 32));
    case X_MULHI_SL:
        EACH(d->U[i] = mul_high(a->U[i], b->U[i]) - (a->S[i] < 0 ? b->U[i] : 0) - (b->S[i] < 0 ? a->U[i] : 0));
    case X_MULHI_UL: EACH(d->U[i] = mul_high(a->U[i], b->U[i]));
    case X_POPC_I: EACH(d->u[i] = (uint32_t)__builtin_popcount(a->u[i]));
    case X_POPC_L: EACH(d->u[i] = (uint32_t)__builtin_popcountll(a->U[i]));
    case X_FFS_I: EACH(d->u[i] = a->u[i] ? (uint32_t)__builtin_ctz(a->u[i]) + 1 : 0);
    case X_FFS_L: EACH(d->u[i] = a->U[i] ? (uint32_t)__builtin_ctzll(a->U[i]) + 1 : 0);
    case X_CLZ_I: EACH(d->u[i] = a->u[i] ? (uint32_t)__builtin_clz(a->u[i]) : 32);
    case X_CLZ_L: EACH(d->u[i] = a->U[i] ? (uint32_t)__builtin_clzll(a->U[i]) : 64);
    case X_BREV_I: EACH(d->u[i] = (uint32_t)reversed(a->u[i], 32));
    case X_BREV_L: EACH(d->U[i] = reversed(a->U[i], 64));
    case X_TO_SHARED: EACH(d->U[i] = a->U[i] - WMI_SHARED_WINDOW);
    default: break;
    }
}

/* A scalar of a variable by a number of its own in each lane. */
static int indexed(struct wmi_run *run, struct warp *warp, const struct insn *insn)
{
    const union lanes *index = &warp->registers[insn->b];

    for (unsigned i = 0; i < WM_LANES; i++) {
        const uint32_t at = index->u[i];

        if (!(warp->active >> i & 1))
            continue;
        if (at >= insn->imm)
            return wmi_x_fail(run, (uint32_t)(insn - run->program.code), WM_E_ADDRESS,
                              "index %d of a local array with %llu elements behind it", (int)at, (unsigned long long)insn->imm);
        switch ((enum op)insn->op) {
        case X_GET32: warp->registers[insn->dst].u[i] = warp->registers[insn->a + at].u[i]; break;
        case X_GET64: warp->registers[insn->dst].U[i] = warp->registers[insn->a + at].U[i]; break;
        case X_PUT32: warp->registers[insn->dst + at].u[i] = warp->registers[insn->a].u[i]; break;
        default: warp->registers[insn->dst + at].U[i] = warp->registers[insn->a].U[i]; break;
        }
    }
    return 0;
}

static int assertion(struct wmi_run *run, const struct warp *warp, const struct insn *insn)
{
    const uint32_t failed = insn->op == X_TRAP ? warp->active : warp->active & ~mask_of(&warp->registers[insn->a]);

    if (!failed)
        return 0;
    return wmi_x_fail(run, (uint32_t)(insn - run->program.code), WM_E_RANGE, "%s (block (%u,%u,%u), thread %u)",
                      insn->op == X_TRAP ? "__trap" : "Assertion failed", run->block[0], run->block[1], run->block[2],
                      (unsigned)(warp - run->warps) * WM_LANES + (unsigned)__builtin_ctz(failed));
}

static int arrive(struct wmi_run *run, struct warp *warp, const struct insn *insn)
{
    if (warp->active == warp->live)
        return 0;
    return wmi_x_fail(run, (uint32_t)(insn - run->program.code), WM_E_SYNTAX,
                      "Barrier error detected. Divergent thread(s) in warp: of warp %u in block (%u,%u,%u) only the lanes 0x%08x of 0x%08x get here",
                      (unsigned)(warp - run->warps), run->block[0], run->block[1], run->block[2], warp->active, warp->live);
}

static int access_memory(struct wmi_run *run, struct warp *warp, const struct insn *insn)
{
    switch (insn->op) {
    case X_LOAD: return wmi_x_load(run, warp, insn);
    case X_STORE: return wmi_x_store(run, warp, insn);
    case X_ATOMIC: return wmi_x_atomic(run, warp, insn);
    case X_COPY: return wmi_x_copy(run, warp, insn);
    default: return wmi_x_matrix(run, warp, insn);
    }
}

enum stop wmi_x_warp(struct wmi_run *run, struct warp *warp)
{
    const struct insn *const code = run->program.code;
    union lanes *const registers = warp->registers;
    uint32_t mask;

    for (;; warp->pc++) {
        const struct insn *insn = &code[warp->pc];
        union lanes *d = &registers[insn->dst];
        const union lanes *a = &registers[insn->a];
        const union lanes *b = &registers[insn->b];

        if (WMI_UNLIKELY(++warp->steps > run->max_steps)) {
            wmi_x_fail(run, warp->pc, WM_E_RANGE,
                       "warp %u of block (%u,%u,%u) has run more than %llu steps: an endless loop, or raise --max-steps",
                       (unsigned)(warp - run->warps), run->block[0], run->block[1], run->block[2],
                       (unsigned long long)run->max_steps);
            return STOP_FAILED;
        }
        switch ((enum op)insn->op) {
        case X_MOV32: move32(d, a, warp->active); break;
        case X_MOV64: move64(d, a, warp->active); break;
        case X_ZERO:
            for (unsigned i = 0; i < WM_LANES; i++)
                d->U[i] = warp->active >> i & 1 ? 0 : d->U[i];
            break;
        case X_DIV_S: case X_DIV_U: case X_DIV_SL: case X_DIV_UL: case X_REM_S: case X_REM_U: case X_REM_SL: case X_REM_UL:
            if (divide((enum op)insn->op, d, a, b, warp->active)) {
                wmi_x_fail(run, warp->pc, WM_E_RANGE, "division by zero");
                return STOP_FAILED;
            }
            break;
        case X_GET32: case X_GET64: case X_PUT32: case X_PUT64:
            if (indexed(run, warp, insn))
                return STOP_FAILED;
            break;
        case X_LOAD: case X_STORE: case X_ATOMIC: case X_LDMATRIX: case X_STMATRIX: case X_COPY:
            if (!warp->active)
                break;
            if (run->n_out >= run->room) {
                warp->steps--;
                return STOP_FULL;
            }
            if (access_memory(run, warp, insn))
                return STOP_FAILED;
            break;
        case X_SHUFFLE:
            if (!warp->active)
                break;
            check_mask(run, warp, insn, insn->target);
            shuffle(run, warp, insn, d, a, b);
            break;
        case X_BALLOT: case X_ANY: case X_ALL:
            if (!warp->active)
                break;
            mask = check_mask(run, warp, insn, insn->a) & warp->active;
            if (insn->op == X_BALLOT)
                set_all(d, mask_of(b) & mask);
            else
                set_all(d, insn->op == X_ANY ? (mask_of(b) & mask) != 0 : (~mask_of(b) & mask) == 0);
            break;
        case X_ACTIVE: set_all(d, warp->active); break;
        case X_MMA:
            if (warp->active)
                wmi_x_warn(run, WARN_MMA, warp->pc,
                           "results of mma.sync are taken as 0: addresses and branches that depend on them are not those of a GPU");
            break;
        case X_COMMIT:
            if (warp->active)
                wmi_x_commit(warp);
            break;
        case X_WAIT:
            if (warp->active)
                wmi_x_wait(warp, insn);
            break;
        case X_SYNCWARP:
            if (!warp->active)
                break;
            check_mask(run, warp, insn, insn->a);
            warp->epoch++;
            break;
        case X_ASSERT: case X_TRAP:
            if (warp->active && assertion(run, warp, insn))
                return STOP_FAILED;
            break;
        case X_BARRIER:
            if (!warp->active)
                break;
            if (arrive(run, warp, insn))
                return STOP_FAILED;
            return STOP_BARRIER; /* the block moves pc on */
        case X_IF: case X_ELSE: case X_ENDIF: case X_LOOP: case X_LOOP_TEST: case X_LOOP_NEXT: case X_ENDLOOP: case X_SWITCH:
        case X_CASE: case X_ENDSWITCH: case X_BREAK: case X_CONTINUE: case X_FRAME: case X_RETURN: case X_ENDFRAME:
            warp->pc = control_flow(warp, insn, warp->pc + 1) - 1;
            break;
        case X_JUMP:
            warp->pc = insn->target - 1;
            if (++warp->rounds >= TURN) {
                warp->rounds = 0;
                warp->pc++;
                return STOP_TURN;
            }
            break;
        case X_EXIT: return STOP_DONE;
        default: compute(insn, d, a, b, &registers[insn->c]); break;
        }
    }
}
