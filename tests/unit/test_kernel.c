/* Kernels on the CPU: what they compute, which accesses they make. Expected values are worked out by hand from the rules
 * of C, CUDA and PTX, and are what nvcc's own compile-time evaluation gives where a comment says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"

#define ROWS(list) (sizeof(list) / sizeof(list)[0])

static struct ran *good(const char *source, const char *options)
{
    struct ran *ran = run_kernel(source, options);
    char text[1024];

    if (ran->status != WM_END) {
        wm_diag_format(&ran->diag, text, sizeof text);
        fail_msg("%s", text);
    }
    return ran;
}

/* ----------------------------------------------------------------------------------------------------------- expressions */

struct row {
    const char *expression;
    int64_t value;
};

/* Each row twice: with the variables as they are, which are known only when it runs, and as constants where it has none. */
static void check_rows(const struct row *rows, size_t n)
{
    char *source = malloc(200 * n + 4096);
    struct ran *ran;
    const int64_t *out;
    size_t length = 0;

    length += (size_t)sprintf(source + length,
                              "struct pair { short a; double b; };\n"
                              "__global__ void k(long long *out, int one, int minus, unsigned big, unsigned char uc, signed char sc,\n"
                              "  unsigned short us, long long ll, unsigned long long ull, float f, double d) {\n");
    for (size_t i = 0; i < n; i++)
        length += (size_t)sprintf(source + length, "out[%zu] = (long long)(%s);\n", i, rows[i].expression);
    strcpy(source + length, "}\n");
    ran = good(source, "--arg one=1 --arg minus=-1 --arg big=0xfffffff0 --arg uc=200 --arg sc=-100 --arg us=65535 --arg "
                       "ll=-5000000000 --arg ull=18446744073709551615ull --arg f=2.5f --arg d=-2.75");
    out = buffer_of(ran, "out", NULL);
    for (size_t i = 0; i < n; i++) {
        if (out[i] != rows[i].value)
            fail_msg("%s is %lld, not %lld", rows[i].expression, (long long)out[i], (long long)rows[i].value);
    }
    ran_free(ran);
    free(source);
}

static void test_integers(void **state)
{
    static const struct row rows[] = {
        {"uc + uc", 400}, /* promoted to int */
        {"(unsigned char)(uc + uc)", 144},
        {"sc - us", -65635},
        {"us * us", -131071}, /* 65535 * 65535 = 0xfffe0001 as int */
        {"minus < big", 0},   /* compared as unsigned: 0xffffffff < 0xfffffff0 */
        {"minus > one", 0},
        {"minus < 1u", 0},
        {"minus + 0u", 4294967295},
        {"minus + 0ll", -1},
        {"big + ll", -705032720}, /* 4294967280 - 5000000000 */
        {"ll < ull", 1},
        {"ull + 1", 0},
        {"big * 16", 0xffffff00},
        {"big << 4", 0xffffff00},
        {"minus >> 4", -1},
        {"big >> 4", 0x0fffffff},
        {"one << 31", INT32_MIN},
        {"(one << 31) - 1", INT32_MAX}, /* wraps around */
        {"-(one << 31)", INT32_MIN},
        {"(one << 31) / minus", INT32_MIN},
        {"(one << 31) % minus", 0},
        {"-7 / (one + 1)", -3},
        {"-7 % (one + 1)", -1},
        {"7 % -(one + 1)", 1},
        {"one << 33", 0}, /* PTX clamps the count */
        {"minus >> 40", -1},
        {"big >> 32", 0},
        {"1ull << (one + 62)", INT64_MIN},
        {"~one", -2},
        {"~uc", -201},
        {"-uc", -200},
        {"!uc", 0},
        {"!!uc + !one", 1},
        {"one ? minus : 0u", 4294967295},
        {"one ? sc : us", -100},
        {"(bool)256 + (bool)f", 2},
        {"(signed char)uc", -56},
        {"(short)us", -1},
        {"(unsigned short)minus", 65535},
        {"(unsigned)ll", 3589934592},
        {"(int)ll", -705032704},
        {"(unsigned long long)minus == ull", 1},
        {"(long long)(unsigned)minus", 4294967295},
        {"one == true", 1},
        {"'a' + one", 98},
        {"'\\n'", 10},
        {"'\\x7f'", 127},
        {"'\\377'", -1},
        {"0x10 + 010 + 0b11", 27},
        {"1'000'000", 1000000},
        {"sizeof(int) + sizeof(pair) + sizeof uc", 21},
        {"sizeof(float4) * 10 + alignof(float4)", 176},
        {"sizeof(float3) * 10 + alignof(float3)", 124},
        {"sizeof(long long) - 9 > 0", 1}, /* unsigned */
        {"one & 3 | 4 ^ 1", 5},
        {"1 + 2 * 3 - 8 / 4 % 3", 5},
        {"1 < 2 == 1", 1},
        {"one || 1 / (one - 1)", 1},
        {"(one - 1) && 1 / (one - 1)", 0},
        {"(one, 5)", 5},
        {"2147483647 + 0", 2147483647},
        {"4294967295 + 0", 4294967295}, /* a decimal literal is never unsigned int */
        {"0xffffffff + 1", 0},          /* a hexadecimal one is */
        {"INT_MAX + one", INT32_MIN},
        {"min(minus, one) * 10 + max(2u, 3u)", 4294967289}, /* -10 + 3u as unsigned */
        {"abs(minus * 7)", 7},
        {"__popc(big) * 1000 + __clz(one) * 10 + __ffs(8)", 28314},
        {"__popcll(ull) * 100 + __clzll(1)", 6463},
        {"__ffs(0) + __clz(0)", 32},
        {"__brev(1u)", 2147483648},
        {"__mulhi(1 << 30, 8) * 10 + __umulhi(big, 2u)", 21},
        {"__umul64hi(ull, ull)", -2},
        {"__mul64hi(ll, 4ll)", -1},
        {"__byte_perm(0x33221100, 0x77665544, 0x7531)", 0x77553311},
        {"__funnelshift_l(0x80000000u, 1u, 1)", 3},
    };

    (void)state;
    check_rows(rows, ROWS(rows));
}

static void test_floats(void **state)
{
    static const struct row rows[] = {
        {"f * 2", 5},
        {"(int)d", -2},
        {"(int)(d - 0.25)", -3},
        {"(unsigned)d", 0},                    /* saturates */
        {"(int)1e10f", INT32_MAX},             /* as cvt does */
        {"(int)(d * 1e10)", INT32_MIN},
        {"(long long)(f * 1e30f)", INT64_MAX},
        {"(int)(f / 0.0f)", INT32_MAX},
        {"(int)sqrtf(-f)", 0},                 /* NaN; PTX ISA, cvt */
        {"(long long)sqrtf(-f)", INT64_MIN},
        {"(int)sqrt(d)", INT32_MIN},
        {"(int)(double)NAN", INT32_MIN},
        {"1 / 2.0f * 100", 50},
        {"0.1f == 0.1", 0},
        {"0.1f * 10 == 1", 1},
        {"16777216.0f + 1 == 16777216.0f", 1}, /* float arithmetic is not done in double */
        {"16777216.0f + 1.0 == 16777216.0f", 0},
        {"(float)16777217 == 16777216", 1},
        {"(double)16777217 == 16777217", 1},
        {"-f < d", 0},
        {"f != f", 0},
        {"sqrtf(-f) != sqrtf(-f)", 1},
        {"isnan(NAN) * 2 + isinf(INFINITY)", 3},
        {"__float_as_int(f)", 0x40200000},
        {"(int)(__int_as_float(0x40490fdb) * 1000)", 3141},
        {"floorf(d) * 100 + ceilf(f)", -297},
        {"fmaf(f, f, one)", 7},
        {"fminf(f, d) * 100 + fmax(f, d)", -272}, /* -275 + 2.5 */
        {"fabs(d) * 100", 275},
        {"rintf(2.5f) * 10 + roundf(2.5f)", 23},
        {"__float2int_rn(2.5f) * 100 + __float2int_rd(-0.5f) * 10 + __float2int_ru(0.5f)", 191},
        {"powf(2, 10) + exp2f(3)", 1032},
        {"(float)__float2half(2049.0f)", 2048},   /* 11 bits */
        {"(float)(__half)65520.0f > 65504.0f", 1}, /* infinity */
        {"(float)(__float2half(0.1f) + __float2half(0.2f)) * 8192", 2456},
        /* 1638 and 1638 * 2 of 2^-14 are 1228.5 of 2^-12: a tie, to the even 1228 */
        {".5e1f + 1.e-1", 5},
        {"0x1.8p3", 12},
    };

    (void)state;
    check_rows(rows, ROWS(rows));
}

/* ---------------------------------------------------------------------------------------------------------- control flow */

static void test_divergence(void **state)
{
    static const char source[] = "__global__ void k(int *out, const int *in) {\n"
                                 "  int t = threadIdx.x;\n"
                                 "  if (t < 8)\n"
                                 "    out[t] = in[t];\n"   /* line 4: lanes 0-7 */
                                 "  else if (t % 2)\n"
                                 "    out[t] = in[t];\n"   /* line 6: odd lanes from 9 */
                                 "  for (int i = 0; i < t; i++) {\n"
                                 "    if (i == 3) break;\n"
                                 "    if (i == 1) continue;\n"
                                 "    out[t] += 1;\n"      /* line 10 */
                                 "  }\n"
                                 "  out[t] += 100;\n"      /* line 12: all again */
                                 "}\n";
    struct ran *ran = good(source, "--block 32 --arg in=int[32]:iota --arg out=int[32]");
    const int *out = buffer_of(ran, "out", NULL);

    (void)state;
    assert_int_equal(access_of(ran, "ld.global.b32", 4)->mask, 0x000000ff);
    assert_int_equal(access_of(ran, "ld.global.b32", 6)->mask, 0xaaaaaa00);
    assert_int_equal(access_of(ran, "ld.global.b32", 12)->mask, 0xffffffff);
    /* rounds 0 and 2: lanes from 1, from 3 */
    assert_int_equal(count_of(ran, "st.global.b32", 10), 2);
    assert_int_equal(access_of(ran, "st.global.b32", 10)->mask, 0xfffffffe);
    for (int t = 0; t < 32; t++) {
        const int start = t < 8 || t % 2 ? t : 0;

        assert_int_equal(out[t], 100 + start + (t >= 1) + (t >= 3));
    }
    ran_free(ran);
}

static void test_statements(void **state)
{
    static const char source[] =
        "__device__ int collatz(int n) { int steps = 0; while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; ++steps; } return steps; }\n"
        "__device__ int find(const int *list, int wanted) {\n"
        "  for (int i = 0; i < 32; i++) { if (list[i] == wanted) return i; }\n"
        "  return -1; }\n"
        "__device__ int kind(int n) {\n"
        "  switch (n % 5) { case 0: return 10; case 1: n += 100; case 2: n += 1000; break; case 3: { n = 7; break; } default: n = -n; }\n"
        "  return n; }\n"
        "__global__ void k(int *out, const int *in) {\n"
        "  int t = threadIdx.x, s = 0, i = 0;\n"
        "  out[t] = collatz(t + 1);\n"
        "  out[32 + t] = find(in, 3 * t);\n"
        "  out[64 + t] = kind(t);\n"
        "  do { s += i; if (i >= t) break; } while (++i < 10);\n"
        "  out[96 + t] = s;\n"
        "  for (i = 0, s = 0; ; i += 2) { if (i > t) s += 0; if (i > t) break; s++; }\n"
        "  out[128 + t] = s;\n"
        "  for (int a = 0; a < 4; a++) for (int b = 0; b < 4; b++) { if (b == t) break; if (a == t) continue; s++; }\n"
        "  out[160 + t] = s;\n"
        "}\n";
    struct ran *ran = good(source, "--block 32 --arg in=int[32]:iota --arg out=int[192]");
    const int *out = buffer_of(ran, "out", NULL);

    (void)state;
    for (int t = 0; t < 32; t++) {
        int steps = 0;
        int sum = 0;
        int s = t / 2 + 1;
        const int r = t % 5;

        for (int n = t + 1; n != 1; steps++)
            n = n % 2 ? 3 * n + 1 : n / 2;
        for (int i = 0; i <= (t < 9 ? t : 9); i++)
            sum += i;
        assert_int_equal(out[t], steps);
        assert_int_equal(out[32 + t], 3 * t < 32 ? 3 * t : -1);
        assert_int_equal(out[64 + t], r == 0 ? 10 : r == 1 ? t + 1100 : r == 2 ? t + 1000 : r == 3 ? 7 : -t);
        assert_int_equal(out[96 + t], sum);
        assert_int_equal(out[128 + t], s);
        for (int a = 0; a < 4; a++) {
            for (int b = 0; b < 4 && b != t; b++)
                s += a != t;
        }
        assert_int_equal(out[160 + t], s);
    }
    ran_free(ran);
}

static void test_lazy(void **state)
{
    /* what is not chosen is not loaded */
    static const char source[] = "__global__ void k(int *out, const int *in, int n) {\n"
                                 "  int t = threadIdx.x;\n"
                                 "  int a = t < n ? in[t] : -1;\n"
                                 "  bool b = t < n && in[t] > 2;\n"
                                 "  bool c = t >= n || in[t] > 2;\n"
                                 "  out[t] = a * 4 + b * 2 + c;\n"
                                 "}\n";
    struct ran *ran = good(source, "--block 32 --arg n=5 --arg in=int[5]:iota --arg out=int[32]");
    const int *out = buffer_of(ran, "out", NULL);

    (void)state;
    for (unsigned line = 3; line <= 5; line++)
        assert_int_equal(access_of(ran, "ld.global.b32", line)->mask, 0x1f);
    assert_int_equal(out[1], 4);
    assert_int_equal(out[3], 15);
    assert_int_equal(out[5], -3);
    ran_free(ran);
}

/* -------------------------------------------------------------------------------------------------- warps and barriers */

static void test_barriers(void **state)
{
    static const char source[] = "__global__ void k(int *out) {\n"
                                 "  __shared__ int a[96];\n"
                                 "  int t = threadIdx.x;\n"
                                 "  a[t] = t;\n"
                                 "  for (int s = 1; s < 96; s *= 2) {\n"
                                 "    __syncthreads();\n"
                                 "    int v = t >= s ? a[t - s] : 0;\n"
                                 "    __syncthreads();\n"
                                 "    a[t] += v;\n"
                                 "  }\n"
                                 "  out[t] = a[t];\n"
                                 "  out[96 + t] = __syncthreads_count(t % 3 == 0) * 100 + __syncthreads_and(t < 96) * 10 + __syncthreads_or(t == 95);\n"
                                 "}\n";
    struct ran *ran = good(source, "--block 96 --arg out=int[192]");
    const int *out = buffer_of(ran, "out", NULL);

    (void)state;
    assert_string_equal(ran->remarks, "");
    for (int t = 0; t < 96; t++) {
        assert_int_equal(out[t], t * (t + 1) / 2);
        assert_int_equal(out[96 + t], 3211);
    }
    ran_free(ran);
}

static void test_warp_functions(void **state)
{
    static const char source[] =
        "__global__ void k(int *out, long long *wide) {\n"
        "  int t = threadIdx.x; const unsigned all = 0xffffffffu;\n"
        "  out[t] = __shfl_sync(all, t * 10, t + 1);\n"
        "  out[32 + t] = __shfl_up_sync(all, t, 3);\n"
        "  out[64 + t] = __shfl_down_sync(all, t, 3, 8);\n"
        "  out[96 + t] = __shfl_xor_sync(all, t, 5);\n"
        "  out[128 + t] = __ballot_sync(all, t > 29);\n"
        "  if (t >= 16) out[160 + t] = __activemask() == 0xffff0000u ? __any_sync(0xffff0000u, t < 16) + 2 * __all_sync(0xffff0000u, t > 3) : -1;\n"
        "  wide[t] = __shfl_sync(all, 10000000000ll * t, 31 - t);\n"
        "}\n";
    struct ran *ran = good(source, "--block 32 --arg out=int[192] --arg wide=long[32]");
    const int *out = buffer_of(ran, "out", NULL);
    const int64_t *wide = buffer_of(ran, "wide", NULL);

    (void)state;
    assert_string_equal(ran->remarks, "");
    for (int t = 0; t < 32; t++) {
        assert_int_equal(out[t], (t + 1) % 32 * 10);
        assert_int_equal(out[32 + t], t >= 3 ? t - 3 : t);
        assert_int_equal(out[64 + t], t % 8 + 3 <= 7 ? t + 3 : t);
        assert_int_equal(out[96 + t], t ^ 5);
        assert_int_equal((unsigned)out[128 + t], 0xc0000000u);
        assert_int_equal(out[160 + t], t >= 16 ? 2 : 0);
        assert_int_equal(wide[t], INT64_C(10000000000) * (31 - t));
    }
    ran_free(ran);
}

static void test_atomics(void **state)
{
    static const char source[] = "__global__ void k(unsigned *u, int *s, float *f, unsigned long long *w, unsigned *old) {\n"
                                 "  int t = threadIdx.x;\n"
                                 "  old[t] = atomicAdd(&u[0], 2u);\n"
                                 "  atomicSub(&u[1], 1u);\n"
                                 "  atomicMax(&s[0], t - 40); atomicMin(&s[1], -t);\n"
                                 "  atomicInc(&u[2], 9u); atomicDec(&u[3], 9u);\n"
                                 "  atomicAnd(&u[4], ~(1u << t)); atomicOr(&u[5], 1u << t); atomicXor(&u[6], t);\n"
                                 "  atomicAdd(f, 0.5f); atomicAdd(w, 1ull << 40);\n"
                                 "  atomicCAS(&u[7], t, t + 1);\n"
                                 "  if (t == 3) atomicExch(&u[8], 77u);\n"
                                 "}\n";
    struct ran *ran = good(source, "--block 32 --arg u=uint[9] --arg s=int[2] --arg f=float[1] --arg w=ulong[1] --arg old=uint[32]");
    const uint32_t *u = buffer_of(ran, "u", NULL);
    const int32_t *s = buffer_of(ran, "s", NULL);
    const float *f = buffer_of(ran, "f", NULL);
    const uint64_t *w = buffer_of(ran, "w", NULL);
    const uint32_t *old = buffer_of(ran, "old", NULL);

    (void)state;
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(old[t], 2 * t);
    assert_int_equal(u[0], 64);
    assert_int_equal(u[1], (uint32_t)-32);
    assert_int_equal(s[0], 0); /* all are below what was there */
    assert_int_equal(s[1], -31);
    assert_int_equal(u[2], 2); /* 32 steps of a counter of 10 values */
    assert_int_equal(u[3], 8); /* from 0: 9, then 31 down, in a circle of 10 */
    assert_int_equal(u[4], 0);
    assert_int_equal(u[5], UINT32_MAX);
    assert_int_equal(u[6], 0);
    assert_int_equal(u[7], 32);
    assert_int_equal(u[8], 77);
    assert_true(*f == 16);
    assert_true(*w == UINT64_C(32) << 40);
    assert_int_equal(count_of(ran, "atom.global.add.u32", 3), 1); /* its result is used */
    assert_int_equal(count_of(ran, "red.global.add.u32", 4), 1);
    assert_int_equal(count_of(ran, "red.global.max.s32", 5), 1);
    assert_int_equal(count_of(ran, "red.global.add.f32", 8), 1);
    assert_int_equal(count_of(ran, "red.global.add.u64", 8), 1);
    assert_int_equal(count_of(ran, "atom.global.cas.b32", 9), 1);
    assert_int_equal(access_of(ran, "atom.global.exch.b32", 10)->mask, 8);
    ran_free(ran);
}

/* ---------------------------------------------------------------------------------------------------------------- memory */

static void test_widths(void **state)
{
    static const char source[] =
        "struct plain { float x, y, z, w; };\n"
        "struct __align__(16) wide { float x; int y; double z; };\n"
        "struct mixed { char c; float2 v; };\n"
        "__global__ void k(char *c, short *s, double *d, float4 *f4, float3 *f3, char4 *c4, double2 *d2, plain *p, wide *w,\n"
        "                  mixed *m, __half2 *h) {\n"
        "  int t = threadIdx.x;\n"
        "  c[t]++;\n"
        "  s[t] = c[t];\n"
        "  d[t] = 1;\n"
        "  f4[t].y = 1;\n"
        "  float4 a = f4[t];\n"
        "  f3[t] = make_float3(1, 2, 3);\n"
        "  c4[t] = make_char4(1, 2, 3, 4);\n"
        "  d2[t] = d2[t + 32];\n"
        "  p[t] = p[t + 32];\n"
        "  w[t] = w[t + 32];\n"
        "  m[t] = m[t + 32];\n"
        "  h[t] = h[t + 32];\n"
        "  d[t] = a.x + w[t].y;\n"
        "}\n";
    static const struct {
        unsigned line;
        const char *opcode;
        size_t count;
        uint64_t stride;
    } expected[] = {
        {7, "ld.global.b8", 1, 1},     {7, "st.global.b8", 1, 1},   {8, "st.global.b16", 1, 2},      {9, "st.global.b64", 1, 8},
        {10, "st.global.b32", 1, 16},  {11, "ld.global.v4.b32", 1, 16}, {12, "st.global.b32", 3, 12}, {13, "st.global.v4.b8", 1, 4},
        {14, "ld.global.v2.b64", 1, 16}, {15, "ld.global.b32", 4, 16}, {15, "st.global.b32", 4, 16}, {16, "ld.global.v4.b32", 1, 16},
        {16, "st.global.v4.b32", 1, 16}, {17, "ld.global.b8", 1, 16}, {17, "ld.global.v2.b32", 1, 16}, {18, "st.global.b32", 1, 4},
        {19, "ld.global.b32", 1, 16},
    };
    struct ran *ran = good(source, "--block 32");

    (void)state;
    for (size_t i = 0; i < ROWS(expected); i++) {
        const struct wm_access *access = access_of(ran, expected[i].opcode, expected[i].line);

        if (!access || count_of(ran, expected[i].opcode, expected[i].line) != expected[i].count)
            fail_msg("line %u: not %zu times %s", expected[i].line, expected[i].count, expected[i].opcode);
        assert_int_equal(access->address[1] - access->address[0], expected[i].stride);
        assert_int_equal(access->address[0] % access->opcode.width_bytes, 0);
    }
    ran_free(ran);
}

static void test_spaces(void **state)
{
    static const char source[] =
        "__constant__ float table[8] = {0, 1, 4, 9};\n"
        "__device__ int total = 5;\n"
        "__global__ void k(float *out, int n) {\n"
        "  __shared__ double first[4];\n"
        "  __shared__ char second;\n"
        "  extern __shared__ float dynamic[];\n"
        "  float kept[4], spilled[8];\n"
        "  int t = threadIdx.x;\n"
        "  dynamic[t] = table[t & 3];\n"
        "  for (int i = 0; i < 4; i++) kept[i] = dynamic[t] + i;\n"
        "  for (int i = 0; i < 8; i++) spilled[i] = i;\n"
        "  spilled[n & 7] = 50;\n"
        "  first[0] = 1; if (t == 0) second = 2;\n"
        "  out[t] = kept[3] + spilled[2] + spilled[3];\n"
        "  if (t == 0) total += t + 3;\n"
        "}\n";
    struct ran *ran = good(source, "--block 32 --smem 128 --arg n=3 --arg out=float[32]");
    const float *out = buffer_of(ran, "out", NULL);
    const int *total = buffer_of(ran, "total", NULL);
    const struct wm_access *access;

    (void)state;
    access = access_of(ran, "ld.const.b32", 9);
    assert_int_equal(access->address[3], 12);
    access = access_of(ran, "st.shared.b32", 9);
    assert_int_equal(access->address[0], 48); /* behind 33 bytes, aligned to 16 */
    assert_int_equal(access->address[31], 48 + 124);
    access = access_of(ran, "st.local.b32", 12);
    assert_int_equal(access->address[5], 12); /* its own offset in each thread */
    assert_int_equal(count_of(ran, "st.local.b32", 11), 8);
    assert_int_equal(count_of(ran, "st.local.b32", 10), 0);
    assert_null(strstr(ran->remarks, " kept is"));
    assert_non_null(strstr(ran->remarks, "k.cu:7: spilled is in local memory: it is indexed by a value"));
    for (int t = 0; t < 32; t++)
        assert_true(out[t] == (float)((t & 3) * (t & 3) + 3 + 2 + 50));
    assert_int_equal(*total, 8);
    ran_free(ran);
}

/* Vectors of an array in registers are registers, as nvcc makes them: no access to local memory. */
static void test_views(void **state)
{
    static const char source[] =
        "#define VECTOR(x) (reinterpret_cast<float4 *>(&(x))[0])\n"
        "__global__ void k(float *out, float *in) {\n"
        "  float a[8], b[2][4]; int t = threadIdx.x;\n"
        "  for (int i = 0; i < 8; i += 4) VECTOR(a[i]) = VECTOR(in[8 * t + i]);\n"
        "  for (int i = 0; i < 2; i++) *(float4 *)b[i] = ((float4 *)a)[1 - i];\n"
        "  VECTOR(b[1][0]).z += 100;\n"
        "  for (int i = 0; i < 2; i++) VECTOR(out[8 * t + 4 * i]) = *(const float4 *)&b[i][0];\n"
        "}\n";
    struct ran *ran = good(source, "--block 32 --arg in=float[256]:iota");
    const float *out = buffer_of(ran, "out", NULL);

    (void)state;
    assert_int_equal(count_of(ran, "ld.global.v4.b32", 4), 2);
    assert_int_equal(count_of(ran, "st.global.v4.b32", 7), 2);
    assert_int_equal(ran->count, 4);
    for (int i = 0; i < 256; i++)
        assert_true(out[i] == (float)((i ^ 4) + (i % 8 == 6 ? 100 : 0)));
    ran_free(ran);
}

static void test_contents(void **state)
{
    static const char source[] = "__global__ void k(float *out, const unsigned *r, const double *d, const int *grows) {\n"
                                 "  int t = threadIdx.x;\n"
                                 "  out[t] = (r[t] < 10) + (d[t] == t + 32 * (t / 32)) + grows[1000 * t];\n"
                                 "}\n";
    struct ran *ran = good(source, "--block 64 --arg r=uint[64]:random:7:10 --arg d=double[64]:iota --arg out=float[128]:iota");
    size_t size;
    const float *out = buffer_of(ran, "out", &size);
    const uint32_t *r;

    (void)state;
    assert_int_equal(size, 512);
    assert_true(out[0] == 2 && out[31] == 2 && out[32] == 1 && out[100] == 100);
    r = buffer_of(ran, "r", NULL);
    assert_true(r[0] != r[1] || r[1] != r[2] || r[2] != r[3]);
    buffer_of(ran, "grows", &size);
    assert_int_equal(size, 63 * 4000 + 4);
    ran_free(ran);
}

/* -------------------------------------------------------------------------------------------- templates, preprocessor */

static void test_templates(void **state)
{
    static const char source[] =
        "template <typename T, int N = 4> struct alignas(sizeof(T) * N) pack { T v[N]; };\n"
        "template <typename T> __device__ T twice(T x) { return x + x; }\n"
        "__device__ int over(int) { return 1; } __device__ int over(float) { return 2; } __device__ int over(const float *) { return 3; }\n"
        "template <int N> struct tag { int v; };\n"
        "template <typename T> __device__ void exchange(T &a, T &b) { T t = a; a = b; b = t; }\n"
        "template <typename T, int N, bool ODD = false>\n"
        "__global__ void k(T *out, pack<T> *p, float f) {\n"
        "  int t = threadIdx.x, a = 1, b = 2;\n"
        "  T local[N];\n"
        "#pragma unroll\n"
        "  for (int i = 0; i < N; i++) local[i] = twice<T>((T)i) + twice(t);\n"
        "  if constexpr (ODD) { out[t] = nonsense(t); } else { out[t] = local[N - 1]; }\n"
        "  exchange(a, b);\n"
        "  out[32 + t] = a * 1000 + b * 100 + over(1) * 10 + over(f);\n"
        "  out[64 + t] = over((const float *)out) + (sizeof(tag<(2 > 1)>) == 4) * 10;\n"
        "  pack<T> q = p[t]; q.v[2] = 5; p[t] = q;\n"
        "}\n";
    struct ran *ran;
    const int *out;

    (void)state;
    ran = good("template <typename T, int N> __global__ void k(T *out) { out[threadIdx.x] = N; }\n", "--kernel k<short,7> --block 32");
    assert_int_equal(count_of(ran, "st.global.b16", 1), 1);
    ran_free(ran);
    ran = good(source, "--kernel k<int,6> --block 32 --arg f=1.5f --arg out=int[96]");
    out = buffer_of(ran, "out", NULL);
    for (int t = 0; t < 32; t++) {
        assert_int_equal(out[t], 10 + 2 * t);
        assert_int_equal(out[32 + t], 2112);
        assert_int_equal(out[64 + t], 13);
    }
    assert_int_equal(count_of(ran, "ld.global.v4.b32", 16), 1);
    assert_int_equal(count_of(ran, "st.global.v4.b32", 16), 1);
    ran_free(ran);
}

static void test_preprocessor(void **state)
{
    static const char source[] =
        "#include <cuda_runtime.h>\n"
        "#define N 4\n"
        "#define SQUARE(x) ((x) * (x))\n"
        "#define JOIN(a, b) a##b\n"
        "#define COUNT(...) count(__VA_ARGS__)\n"
        "#define LOOP for (int i = 0; \\\n"
        "                  i < N; i++)\n"
        "#if N > 3 && defined(N) && !defined(M) && (N + 1) * 2 == 10 && __CUDA_ARCH__ >= 800\n"
        "#define GOOD 1\n"
        "#elif 1\n"
        "#error not here\n"
        "#else\n"
        "#error nor here\n"
        "#endif\n"
        "#ifdef M\n"
        "# if nonsense ) (\n"
        "# endif\n"
        "garbage ( (\n"
        "#endif\n"
        "#undef M\n"
        "#define self me + 1\n"
        "__device__ int count(int a, int b) { return a * 10 + b; }\n"
        "__global__ void k(int *out) {\n"
        "  int me = 5, xy = 7, s = 0;\n"
        "  LOOP s += i;\n"
        "  out[0] = SQUARE(1 + 2); out[1] = JOIN(x, y); out[2] = COUNT(3, 4); out[3] = s; out[4] = GOOD; /* a\n"
        "  comment */ out[5] = 1 + 2; // another \\\n"
        "  that goes on\n"
        "  out[6] = SQUARE\n"
        "    (SQUARE(2)); out[7] = self;\n"
        "}\n";
    struct ran *ran = good(source, "--arg out=int[8]");
    static const int expected[] = {9, 7, 34, 6, 1, 3, 16, 6};

    (void)state;
    assert_memory_equal(buffer_of(ran, "out", NULL), expected, sizeof expected);
    ran_free(ran);
}

/* Macros of the launch, as gcc -E shows them for the same -D. */
static void test_macros(void **state)
{
    static const char source[] =
        "#if ONE == 1 && defined EMPTY && !defined OFF\n"
        "#define GOOD 1\n"
        "#else\n"
        "#error not here\n"
        "#endif\n"
        "#ifndef N\n"
        "#define N 99\n"
        "#endif\n"
        "#undef GONE\n"
        "#define GONE 8\n"
        "template <int K> __device__ int twice() { return 2 * K; }\n"
        "__constant__ int table[N + 1];\n"
        "__global__ void k(int *out) {\n"
        "  int x1 = 41;\n"
        "  out[0] = GOOD EMPTY; out[1] = N * 2; out[2] = twice<N>(); out[3] = SUM(N, 1) * 2;\n"
        "  out[4] = JOIN(x, ONE); out[5] = CALL(SUM, 3, 4); out[6] = BRACKET * 2; out[7] = GONE;\n"
        "  out[8] = sizeof(table) / sizeof(int); out[9] = (integer)2.5f; out[10] = CHAIN; out[11] = SIGN == 5;\n"
        "}\n";
    struct ran *ran = good(source, "-D ONE -D EMPTY= -D N=3+4 -D SUM(a,b)=a+b -D JOIN(a,b)=a##1 -D CALL(f,...)=f(__VA_ARGS__) "
                                   "-D BRACKET=(1+2) -D GONE=7 -D integer=int -D CHAIN=LINK -D LINK=ONE+5 -D SIGN=5==5?5:6 --arg out=int[12]");
    static const int expected[] = {1, 11, 14, 9, 41, 7, 6, 8, 8, 2, 6, 5};

    (void)state;
    assert_memory_equal(buffer_of(ran, "out", NULL), expected, sizeof expected);
    assert_string_equal(ran->remarks, "");
    ran_free(ran);
    ran = good("#define N 1\n#define N 2\n#define F(a) a\n#define M 3  /* as given */\n__global__ void k(int *out) { out[0] = N; }\n",
               "-D N=4 -D F(b)=b -D M=3 -D M=3 -D N=5 --arg out=int[1]");
    assert_int_equal(*(const int *)buffer_of(ran, "out", NULL), 2);
    assert_string_equal(ran->remarks, "-D N=5 takes the place of -D N=4\n"
                                      "k.cu:1: #define N takes the place of -D N=5\n"
                                      "k.cu:3: #define F takes the place of -D F(b)=b\n");
    ran_free(ran);
}

static void test_host_code(void **state)
{
    static const char source[] =
        "#include <vector>\n"
        "#include <cstdio>\n"
        "namespace util { struct timer { std::vector<int> v; timer() : v(3) {} ~timer(); int get() const { return 1; } }; }\n"
        "using namespace std;\n"
        "template <class T> class holder : public base<T> { T x; virtual void f() = 0; };\n"
        "#define CHECK(x) do { if ((x) != cudaSuccess) { printf(\"%s\\n\", \"}\"); } } while (0)\n"
        "static int calls = 0; const char *const names[] = {\"a\", \"}{\"}; std::string s(\"x\");\n"
        "enum { WIDTH = 8, HEIGHT = WIDTH * 2 }; static const int AREA = WIDTH * HEIGHT;\n"
        "auto lambda = [](int x) { return x; };\n"
        "extern \"C\" __global__ void k(int *out) { out[threadIdx.x] = AREA; }\n"
        "int main(int argc, char **argv) { util::timer t; auto f = [&](int x) -> int { return x; }; k<<<1, 32>>>(nullptr); return 0; }\n";
    struct ran *ran = good(source, "--block 32");

    (void)state;
    assert_int_equal(((const int *)buffer_of(ran, "out", NULL))[31], 128);
    ran_free(ran);
}

/* ---------------------------------------------------------------------------------------------------------------- blocks */

static void test_blocks(void **state)
{
    static const char source[] = "__global__ void k(int *out) {\n"
                                 "  out[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = 1;\n}\n";
    struct ran *ran = good(source, "--grid 3,4,5");
    size_t size;

    (void)state;
    assert_int_equal(ran->count, 60);
    assert_int_equal(ran->accesses[59].block[0], 2);
    assert_int_equal(ran->accesses[59].block[1], 3);
    assert_int_equal(ran->accesses[59].block[2], 4);
    buffer_of(ran, "out", &size);
    assert_int_equal(size, 240);
    ran_free(ran);
    ran = good(source, "--grid 3,4,5 --blocks 7-9");
    assert_int_equal(ran->count, 3);
    assert_int_equal(ran->accesses[0].block[0], 1);
    assert_int_equal(ran->accesses[0].block[1], 2);
    assert_string_equal(ran->remarks, "3 of the grid's 60 blocks are run: for the whole grid multiply counts by 20\n");
    ran_free(ran);
    ran = good(source, "--grid 100 --sample 4");
    assert_int_equal(ran->count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(ran->accesses[i].block[0], 25 * i);
    ran_free(ran);
}

static void test_partial_warps(void **state)
{
    struct ran *ran = good("__global__ void k(int *out) { out[threadIdx.x + threadIdx.y * blockDim.x] = threadIdx.y; }\n", "--block 7,6");
    const int *out = buffer_of(ran, "out", NULL);

    (void)state;
    assert_int_equal(ran->count, 2);
    assert_int_equal(ran->accesses[0].mask, UINT32_MAX);
    assert_int_equal(ran->accesses[1].mask, 0x3ff);
    assert_int_equal(ran->accesses[1].warp, 1);
    assert_int_equal(out[41], 5);
    assert_int_equal(out[20], 2);
    ran_free(ran);
}

/* A warp that waits for another in a loop gets what it waits for. */
static void test_waiting(void **state)
{
    struct ran *ran = good("__global__ void k(volatile int *flag) {\n"
                           "  if (threadIdx.x == 0) { while (flag[0] == 0) ; flag[1] = 1; }\n"
                           "  if (threadIdx.x == 32) flag[0] = 1;\n}\n",
                           "--block 64 --arg flag=int[2]");

    (void)state;
    assert_int_equal(((const int *)buffer_of(ran, "flag", NULL))[1], 1);
    ran_free(ran);
}

/* What a function looks at through a pointer stays in registers, as nvcc has it when it inlines; what it does more with makes
 * local memory of it. */
static void test_pointers_to_registers(void **state)
{
    static const char source[] =
        "struct pair { float a, b; };\n"
        "__device__ void one(float *x) { *x += 1; }\n"
        "__device__ void set(float *r, float v) { for (int i = 0; i < 4; i++) r[i] = v + i; }\n"
        "__device__ void inner(const float *r, float *sum) { for (int i = 0; i < 2; i++) *sum += r[i]; }\n"
        "__device__ void outer(float r[8], float *sum) { inner(r, sum); inner(r + 2, sum); inner(&r[4], sum); inner(&r[6], sum); }\n"
        "__device__ void fields(pair *p) { p->a = 3; (*p).b = p[0].a + 1; }\n"
        "__device__ void reference(float (&r)[8], float *sum) { outer(r, sum); }\n"
        "template <typename T> __device__ T last(const T *r, int n) { return r[n]; }\n"
        "__device__ float *same(float *r) { return r; }\n"
        "__device__ void step(float *r) { *r++ = 5; }\n"
        "__global__ void k(float *out, int n) {\n"
        "  float a[8], y = 1, sum = 0; pair p, q[2];\n"
        "  set(a, 10); set(a + 4, 20); set(out, 30);\n"
        "  one(&y); one(a + 1); one(&a[2]); one(out + 4);\n"
        "  outer(a, &sum); reference(a, &sum);\n"
        "  fields(&p); fields(q + 1);\n"
        "  out[5] = y; out[6] = sum; out[7] = p.b; out[8] = q[1].a + q[1].b; out[9] = a[1]; out[10] = a[2];\n"
        "  float b[4] = {1, 2, 3, 4}, c[4] = {1, 2, 3, 4}, d[4] = {1, 2, 3, 4};\n"
        "  out[11] = last(b, n);\n"
        "  out[12] = *same(c);\n"
        "  step(d); out[13] = d[0];\n"
        "}\n";
    struct ran *ran = good(source, "--arg n=2");
    const float *out = buffer_of(ran, "out", NULL);

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_true(out[i] == (float)(30 + i));
    assert_true(out[4] == 1); /* 0 + 1 */
    assert_true(out[5] == 2);
    /* 10 11+1 12+1 13 and 20 to 23, 134 together, twice */
    assert_true(out[6] == 268);
    assert_true(out[7] == 4);
    assert_true(out[8] == 7);
    assert_true(out[9] == 12);
    assert_true(out[10] == 13);
    assert_true(out[11] == 3);
    assert_true(out[12] == 1);
    assert_true(out[13] == 5);
    assert_null(strstr(ran->remarks, " a is"));
    assert_null(strstr(ran->remarks, " q is"));
    assert_null(strstr(ran->remarks, " y is"));
    assert_null(strstr(ran->remarks, " p is"));
    assert_non_null(strstr(ran->remarks, "k.cu:18: b is in local memory: it is indexed by a value that is not known when compiling"));
    assert_non_null(strstr(ran->remarks, "k.cu:18: c is in local memory: its address is used"));
    assert_non_null(strstr(ran->remarks, "k.cu:18: d is in local memory: its address is used"));
    /* the initial values of b, c, d, and one access to each */
    assert_int_equal(count_of(ran, "st.local.b32", 18), 12);
    assert_int_equal(count_of(ran, "ld.local.b32", 0), 3);
    assert_int_equal(count_of(ran, "st.local.b32", 0), 13);
    assert_int_equal(count_of(ran, "st.global.b32", 3), 4);
    ran_free(ran);
}

/* Registers looked at as another type: the same bits, or two halves as one word. */
static void test_other_views(void **state)
{
    static const char source[] =
        "#define WORD(x) (*reinterpret_cast<unsigned *>(&(x)))\n"
        "__device__ void words(half *r, const float *v, unsigned *out) {\n"
        "  for (int i = 0; i < 2; i++) { WORD(r[2 * i]) += 1; float4 f = *(const float4 *)&v[4 * i]; out[i] = ((unsigned *)r)[i] + (unsigned)f.w; }\n"
        "  out[2] = reinterpret_cast<const uint4 *>(v)[1].x; }\n"
        "__global__ void k(unsigned *out, int n) {\n"
        "  half h[8]; for (int i = 0; i < 8; i++) h[i] = (half)(float)(i + 1);\n"
        "  half2 pair; pair.x = (half)1.0f; pair.y = (half)2.0f;\n"
        "  float f = 1.5f, v[4] = {1, 2, 3, 4}; short s[2] = {-2, 3}; half2 two[2]; float4 four = {5, 6, 7, 8};\n"
        "  out[0] = WORD(h[2]); out[1] = WORD(pair); out[2] = WORD(f); out[3] = WORD(s[0]);\n"
        "  uint4 all = *(uint4 *)h; out[4] = all.w; out[5] = ((uint4 *)v)->y;\n"
        "  WORD(h[4]) = 0x42004000; out[6] = (unsigned)(float)h[4] * 10 + (unsigned)(float)h[5];\n"
        "  WORD(s[0]) = 0xfffe8001; out[7] = s[0] == -32767 && s[1] == -2;\n"
        "  WORD(two[1]) = 0x44004200; out[8] = (unsigned)(float)two[1].x * 10 + (unsigned)(float)two[1].y;\n"
        "  WORD(f) ^= 0x80000000; out[9] = f == -1.5f;\n"
        "  WORD(h[0])++; out[10] = WORD(h[0]);\n"
        "  for (int i = 0; i < 4; i++) out[11 + i] = ((unsigned *)h)[i];\n"
        "  out[15] = reinterpret_cast<uint4 &>(four).z; out[16] = *(int *)&four.y;\n"
        "  float w[8] = {1, 2, 3, 4, 5, 6, 7, 8}; half x[4]; WORD(x[0]) = 1; WORD(x[2]) = 2; words(x, w, out + 17);\n"
        "}\n";
    static const unsigned expected[] = {0x44004200, 0x40003c00, 0x3fc00000, 0x0003fffe, 0x48004700, 0x40000000, 23, 1, 34, 1, 0x40003c01,
                                        0x40003c01, 0x44004200, 0x42004000, 0x48004700, 0x40e00000, 0x40c00000, 2 + 4, 3 + 8, 0x40a00000};
    struct ran *ran = good(source, "--arg n=2");
    const unsigned *out = buffer_of(ran, "out", NULL);

    (void)state;
    for (size_t i = 0; i < ROWS(expected); i++) {
        if (out[i] != expected[i])
            fail_msg("out[%zu] is 0x%x, not 0x%x", i, out[i], expected[i]);
    }
    assert_null(strstr(ran->remarks, "local memory"));
    assert_int_equal(ran->count, ROWS(expected)); /* the stores alone */
    ran_free(ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_lazy),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_warp_functions),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_spaces),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_templates),
        cmocka_unit_test(test_preprocessor),
        cmocka_unit_test(test_macros),
        cmocka_unit_test(test_host_code),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_partial_warps),
        cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_pointers_to_registers), cmocka_unit_test(test_other_views),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
