/* Inline PTX and the intrinsics beside it: what moves where, by the definitions of the PTX ISA; what is refused, and where. nvcc
 * takes each kernel that is run here. */
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

#define ADDRESS \
    "__device__ unsigned shared_address(const void *p) {\n" \
    "  unsigned out;\n" \
    "  asm(\"{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }\" : \"=r\"(out) : \"l\"(p));\n" \
    "  return out;\n" \
    "}\n"

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

/* ------------------------------------------------------------------------------------------------------------- matrices */

/* PTX ISA, "Matrix Fragments for 8x8 matrices with .b16": register m of lane i has row i / 4 of matrix m, the columns
 * 2 * (i % 4) and the next, in its low and its high half; .trans: of the matrix with rows for columns. */
static uint32_t fragment(unsigned matrix, unsigned lane, int transposed)
{
    uint32_t halves[2];

    for (unsigned k = 0; k < 2; k++) {
        const unsigned first = lane / 4;
        const unsigned second = 2 * (lane % 4) + k;
        const unsigned row = transposed ? second : first;
        const unsigned column = transposed ? first : second;

        halves[k] = 1000 + 64 * matrix + 8 * row + column;
    }
    return halves[0] | halves[1] << 16;
}

/* Element (row, column) of matrix m is 1000 + 64 m + 8 row + column. The rows are 48 bytes apart, in reverse. */
static void check_matrices(unsigned n, int transposed, int is_store)
{
    static const char *const lists[] = {"", "{%0}", "{%0, %1}", "", "{%0, %1, %2, %3}"};
    char source[4096];
    char instruction[256];
    char opcode[64];
    struct ran *ran;
    const uint32_t *out;
    const uint16_t *tile;
    size_t size;

    /* ptxas takes the parts in any order */
    snprintf(instruction, sizeof instruction, is_store ? "stmatrix.sync.aligned.x%u%s.m8n8.shared.b16 [%%4], %s;"
                                              : n == 2 ? "ldmatrix.sync.aligned.x%u%s.m8n8.shared::cta.b16 %s, [%%4];"
                                                       : "ldmatrix.sync.aligned.m8n8.x%u%s.shared.b16 %s, [%%4];",
             n, transposed ? ".trans" : "", lists[n]);
    snprintf(source, sizeof source,
             "%s"
             "__global__ void k(unsigned *out, unsigned short *copy, const unsigned *in) {\n"
             "  __shared__ __align__(16) unsigned short tile[32][24];\n"
             "  unsigned t = threadIdx.x, r[4] = {in[t], in[t + 32], in[t + 64], in[t + 96]};\n"
             "  for (int j = 0; j < 8; j++) tile[31 - t][j] = %d ? 7 : 1000 + 8 * t + j;\n"
             "  __syncwarp();\n"
             "  asm volatile(\"%s\" : \"+r\"(r[0]), \"+r\"(r[1]), \"+r\"(r[2]), \"+r\"(r[3]) : \"r\"(shared_address(tile[31 - t])) : \"memory\");\n"
             "  __syncwarp();\n"
             "  for (int m = 0; m < 4; m++) out[32 * m + t] = r[m];\n"
             "  for (int j = 0; j < 8; j++) copy[8 * t + j] = tile[31 - t][j];\n"
             "}\n",
             ADDRESS, is_store, instruction);
    snprintf(opcode, sizeof opcode, "%s.x%u%s.shared.b16", is_store ? "stmatrix" : "ldmatrix", n, transposed ? ".trans" : "");
    ran = good(source, "--block 32 --arg in=unsigned[128]:iota");
    assert_string_equal(ran->remarks, "");
    assert_int_equal(count_of(ran, opcode, 11), 1);
    assert_int_equal(access_of(ran, opcode, 11)->mask, UINT32_MAX);
    for (unsigned i = 0; i < WM_LANES; i++)
        assert_int_equal(access_of(ran, opcode, 11)->address[i], 48 * (31 - i % (8 * n)));
    out = buffer_of(ran, "out", &size);
    assert_int_equal(size, 512);
    tile = buffer_of(ran, "copy", NULL);
    for (unsigned i = 0; i < 128; i++)
        assert_int_equal(out[i], is_store || i >= 32 * n ? i : fragment(i / 32, i % 32, transposed));
    for (unsigned i = 0; i < 128 && is_store; i++) {
        /* lane i % 32 holds i in register i / 32: its low half is i, its high half 0 */
        const unsigned first = i % 32 / 4;
        const unsigned second = 2 * (i % 4);
        const unsigned at = 64 * (i / 32);

        if (i / 32 < n) {
            assert_int_equal(tile[at + (transposed ? 8 * second + first : 8 * first + second)], i);
            assert_int_equal(tile[at + (transposed ? 8 * (second + 1) + first : 8 * first + second + 1)], 0);
        } else {
            assert_int_equal(tile[2 * i], 7);
        }
    }
    ran_free(ran);
}

static void test_matrices(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 4; n *= 2) {
        for (int transposed = 0; transposed < 2; transposed++) {
            check_matrices(n, transposed, 0);
            check_matrices(n, transposed, 1);
        }
    }
}

/* --------------------------------------------------------------------------------------------------------------- copies */

static void test_copies(void **state)
{
    static const char source[] =
        ADDRESS
        "__global__ void k(const float *a, float *out) {\n"
        "  __shared__ __align__(16) float s[3 * 128];\n"
        "  unsigned t = threadIdx.x;\n"
        "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"r\"(shared_address(s + 31 - t)), \"l\"(a + t));\n"
        "  asm volatile(\"cp.async.ca.shared::cta.global.L2::128B [%0 + 512], [%1+-8], %2;\\n\" :: \"r\"(shared_address(s + 2 * t)), \"l\"(a + 2 * t + 2), \"n\"(8));\n"
        "  asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" :: \"r\"(shared_address(s) + 16 * t + 1024), \"l\"(a + 4 * t) : \"memory\");\n"
        "  asm volatile(\"cp.async.commit_group;\\n\\tcp.async.wait_group %0;\" :: \"n\"(0));\n"
        "  asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n"
        "  __syncthreads();\n"
        "  for (int i = 0; i < 12; i++) out[32 * i + t] = s[32 * i + t];\n"
        "}\n";
    struct ran *ran = good(source, "--block 32 --arg a=float[128]:iota");
    const struct wm_access *access;
    const float *out;

    (void)state;
    /* s[32 .. 127] and s[192 .. 255] were not written */
    assert_int_equal(ran->remarks[0], '!');
    assert_non_null(strstr(ran->remarks, "k.cu:15:51: Uninitialized __shared__ memory read"));
    out = buffer_of(ran, "out", NULL);
    for (unsigned i = 0; i < 32; i++)
        assert_true(out[31 - i] == (float)i);
    for (unsigned i = 0; i < 64; i++)
        assert_true(out[128 + i] == (float)i);
    for (unsigned i = 0; i < 128; i++)
        assert_true(out[256 + i] == (float)i);
    access = access_of(ran, "cp.async.ca.4", 9);
    assert_non_null(access);
    assert_int_equal(access->mask, UINT32_MAX);
    for (unsigned i = 0; i < WM_LANES; i++) {
        assert_int_equal(access->address[i], UINT64_C(0x7f0100000000) + 4 * i);
        assert_int_equal(access->shared_address[i], 4 * (31 - i));
    }
    access = access_of(ran, "cp.async.ca.8", 10);
    assert_int_equal(access->shared_address[3], 512 + 24);
    assert_int_equal(access->address[3], UINT64_C(0x7f0100000000) + 24);
    access = access_of(ran, "cp.async.cg.16", 11);
    assert_int_equal(access->shared_address[31], 1024 + 496);
    assert_int_equal(access->zero_fill, 0);
    ran_free(ran);
}

/* Where the source has fewer bytes, zeros take their place, and what is not read need not be there. */
static void test_zeros(void **state)
{
    static const char source[] =
        ADDRESS
        "__global__ void k(const float4 *a, float4 *out, int n) {\n"
        "  __shared__ float4 s[32];\n"
        "  unsigned t = threadIdx.x;\n"
        "  int bytes = (int)t < n ? 16 : (int)t == n ? 8 : 0;\n"
        "  s[t] = make_float4(9, 9, 9, 9);\n"
        "  asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, %2;\" :: \"r\"(shared_address(s + t)), \"l\"(a + t), \"r\"(bytes));\n"
        "  asm volatile(\"cp.async.wait_all;\");\n"
        "  out[t] = s[t];\n"
        "}\n";
    struct ran *ran = good(source, "--block 32 --arg n=3 --arg a=float[14]:iota");
    const struct wm_access *access;
    const float *out;

    (void)state;
    out = buffer_of(ran, "out", NULL);
    for (unsigned i = 0; i < 128; i++)
        assert_true(out[i] == (i < 14 ? (float)i : 0.0f));
    access = access_of(ran, "cp.async.cg.16", 0);
    assert_int_equal(access->mask, 0xf);
    assert_int_equal(access->zero_fill, 0);
    assert_int_equal(access->shared_address[3], 48);
    /* the others are an access of their own */
    assert_int_equal(count_of(ran, "cp.async.cg.16", 11), 2);
    access++;
    assert_int_equal(access->mask, 0xfffffff0);
    assert_int_equal(access->zero_fill, 1);
    assert_int_equal(access->address[4], 0);
    assert_int_equal(access->shared_address[31], 496);
    assert_string_equal(ran->remarks, "");
    ran_free(ran);
    /* all of them */
    ran = good(source, "--block 32 --arg n=-1 --arg a=null");
    access = access_of(ran, "cp.async.cg.16", 0);
    assert_int_equal(access->mask, UINT32_MAX);
    assert_int_equal(access->zero_fill, 1);
    assert_int_equal(access->shared_address[2], 32);
    assert_string_equal(ran->remarks, "");
    out = buffer_of(ran, "out", NULL);
    for (unsigned i = 0; i < 128; i++)
        assert_true(out[i] == 0.0f);
    ran_free(ran);
}

/* A copy's data may be read when its group has been waited for; the others' when they have waited, and there was a barrier. */
static void test_waits(void **state)
{
    static const struct {
        const char *text;  /* behind copies of s[t] and s[t + 64], by 64 threads, each a group of its own */
        const char *warns; /* the thread's value whose reading is warned about; NULL: nothing is */
    } rows[] = {
        {"asm(\"cp.async.wait_group 0;\"); f = s[t] + s[t + 64];", NULL},
        {"asm(\"cp.async.wait_all;\"); f = s[t] + s[t + 64];", NULL},
        {"__pipeline_wait_prior(0); f = s[t] + s[t + 64];", NULL},
        {"asm(\"cp.async.wait_group 1;\"); f = s[t];", NULL},
        {"asm(\"cp.async.wait_group 1;\"); f = s[t + 64];", "of what a cp.async of thread 0 writes: it has not waited for it"},
        {"asm(\"cp.async.wait_group 0; cp.async.wait_group 1;\"); f = s[t + 64];", NULL},
        {"f = s[t];", "of what a cp.async of thread 0 writes"},
        {"asm(\"cp.async.wait_group 2;\"); f = s[t];", "of what a cp.async of thread 0 writes"},
        {"asm(\"cp.async.wait_group 0;\"); __syncthreads(); f = s[63 - t];", NULL},
        {"__syncthreads(); f = s[63 - t];", "of what a cp.async of thread 63 writes"},
        {"asm(\"cp.async.wait_group 0;\"); f = s[63 - t];", "Race reported"},
        {"s[t] = 1; f = s[t];", NULL},
        {"asm(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"r\"(d), \"l\"(a)); asm(\"cp.async.wait_group 0;\"); f = s[t];",
         "of what a cp.async of thread 0 writes"}, /* in no group */
        {"asm(\"cp.async.ca.shared.global [%0], [%1], 4; cp.async.wait_all;\" :: \"r\"(d), \"l\"(a)); f = s[t];", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ROWS(rows); i++) {
        char source[2048];
        struct ran *ran;

        snprintf(source, sizeof source,
                 "%s__global__ void k(const float *a, float *out) {\n  __shared__ float s[128]; unsigned t = threadIdx.x, d = shared_address(s + t); float f;\n"
                 "  asm(\"cp.async.ca.shared.global [%%0], [%%1], 4; cp.async.commit_group;\" :: \"r\"(d), \"l\"(a + t));\n"
                 "  asm(\"cp.async.ca.shared.global [%%0], [%%1], 4; cp.async.commit_group;\" :: \"r\"(d + 256), \"l\"(a + t));\n"
                 "  %s\n  out[t] = f;\n}\n",
                 ADDRESS, rows[i].text);
        ran = good(source, "--block 64 --grid 2");
        if (rows[i].warns ? !strstr(ran->remarks, rows[i].warns) : ran->remarks[0] != '\0')
            fail_msg("row %zu: %s: expected %s, found %s", i, rows[i].text, rows[i].warns ? rows[i].warns : "nothing", ran->remarks);
        ran_free(ran);
    }
}

static void test_pipeline(void **state)
{
    static const char source[] =
        "#include <cuda_pipeline.h>\n"
        "__global__ void k(const float4 *a, float4 *out) {\n"
        "  __shared__ float4 s[96];\n"
        "  unsigned t = threadIdx.x;\n"
        "  __pipeline_memcpy_async(&s[t], &a[t], sizeof(float4));\n"
        "  __pipeline_memcpy_async(&s[t + 32], a + t, 16, t % 2 ? 16 : 4);\n"
        "  __pipeline_memcpy_async((float2 *)(s + 64) + t, (const float2 *)a + t, 8);\n"
        "  __pipeline_memcpy_async((float *)(s + 80) + t, (const float *)a + t, 4);\n"
        "  __pipeline_commit();\n"
        "  __pipeline_wait_prior(0);\n"
        "  __syncthreads();\n"
        "  for (int i = 0; i < 88; i += 8) out[i + t % 8] = s[i + t % 8];\n"
        "}\n";
    struct ran *ran = good(source, "--block 32 --arg a=float[128]:iota");
    const float *out = buffer_of(ran, "out", NULL);

    (void)state;
    for (unsigned i = 0; i < 128; i++) {
        assert_true(out[i] == (float)i);
        assert_true(out[128 + i] == (i / 4 % 2 || i % 4 == 3 ? 0.0f : (float)i));
    }
    for (unsigned i = 0; i < 64; i++)
        assert_true(out[256 + i] == (float)i);
    for (unsigned i = 0; i < 32; i++)
        assert_true(out[320 + i] == (float)i);
    assert_int_equal(count_of(ran, "cp.async.cg.16", 5), 1);
    assert_int_equal(count_of(ran, "cp.async.cg.16", 6), 2);
    assert_int_equal(access_of(ran, "cp.async.cg.16", 6)->mask, 0x55555555);
    assert_int_equal(access_of(ran, "cp.async.cg.16", 6)[1].mask, 0xaaaaaaaa);
    assert_int_equal(count_of(ran, "cp.async.ca.8", 7), 1);
    assert_int_equal(count_of(ran, "cp.async.ca.4", 8), 1);
    ran_free(ran);
}

/* ------------------------------------------------------------------------------------------------------ loads and stores */

/* Each row is an asm statement, what its access is, and what then is in x, y (unsigned), f, g (float), l, m (unsigned long) and h
 * (unsigned short), which are 0 before; p points to floats 0, 1, 2 ..., s to the same in shared memory, b to bytes 0xf0, 0xf1 ... */
struct row {
    const char *text;
    const char *opcode;
    const char *value; /* an expression that holds then */
};

static void test_transfers(void **state)
{
    static const struct row rows[] = {
        {"asm(\"ld.global.f32 %0, [%1];\" : \"=f\"(f) : \"l\"(p + 3))", "ld.global.b32", "f == 3"},
        {"asm(\"ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];\" : \"=f\"(f), \"=f\"(g), \"=r\"(x), \"=r\"(y) : \"l\"(p + 4))", "ld.global.nc.v4.b32",
         "f == 4 && g == 5 && x == 0x40c00000 && y == 0x40e00000"},
        {"asm(\"ld.global.ca.v2.u32 {%0, %1}, [%2+16];\" : \"=r\"(x), \"=r\"(y) : \"l\"(p))", "ld.global.ca.v2.b32", "x == 0x40800000 && y == 0x40a00000"},
        {"asm(\"ld.global.cg.v2.b64 {%0, %1}, [%2];\" : \"=l\"(l), \"=l\"(m) : \"l\"(p))", "ld.global.cg.v2.b64",
         "l == 0x3f80000000000000 && m == 0x4040000040000000"},
        {"asm(\"ld.global.nc.L1::no_allocate.L2::128B.u64 %0, [%1];\" : \"=l\"(l) : \"l\"(p))", "ld.global.nc.b64", "l == 0x3f80000000000000"},
        {"asm volatile(\"ld.volatile.global.u32 %0, [%1 + -4];\" : \"=r\"(x) : \"l\"(p + 2))", "ld.global.b32", "x == 0x3f800000"},
        {"asm(\"ld.u32 %0, [%1];\" : \"=r\"(x) : \"l\"(s + 2))", "ld.shared.b32", "x == 0x40000000"},
        {"asm(\"ld.shared.f32 %0, [%1];\" : \"=f\"(f) : \"r\"(a + 28))", "ld.shared.b32", "f == 7"},
        {"asm(\"ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];\" : \"=r\"(x), \"=r\"(y), \"=f\"(f), \"=f\"(g) : \"r\"(a + 16))", "ld.shared.v4.b32",
         "x == 0x40800000 && y == 0x40a00000 && f == 6 && g == 7"},
        {"asm(\"ld.global.u8 %0, [%1];\" : \"=r\"(x) : \"l\"(b))", "ld.global.b8", "x == 0xf0"},
        {"asm(\"ld.global.s8 %0, [%1];\" : \"=r\"(x) : \"l\"(b))", "ld.global.b8", "x == 0xfffffff0"},
        {"asm(\"ld.global.s16 %0, [%1];\" : \"=l\"(l) : \"l\"(b))", "ld.global.b16", "l == 0xfffffffffffff1f0"},
        {"asm(\"ld.global.b16 %0, [%1];\" : \"=h\"(h) : \"l\"(b + 2))", "ld.global.b16", "h == 0xf3f2"},
        {"unsigned z; asm(\"ld.global.v4.u8 {%0, %0, %1, %2}, [%3];\" : \"=r\"(x), \"=r\"(z), \"=r\"(y) : \"l\"(b))", "ld.global.v4.b8",
         "x == 0xf1 && z == 0xf2 && y == 0xf3"},
        {"asm volatile(\"st.global.cs.f32 [%0], %1;\" :: \"l\"(q), \"f\"(2.5f))", "st.global.cs.b32", "q[0] == 0x40200000"},
        {"asm volatile(\"st.global.wt.v2.b32 [%0], {%1, %2};\" :: \"l\"(q), \"r\"(7), \"f\"(1.0f))", "st.global.wt.v2.b32",
         "q[0] == 7 && q[1] == 0x3f800000"},
        {"asm volatile(\"st.global.wb.v4.u32 [%0], {%1, 5, -1, 0x10};\" :: \"l\"(q), \"n\"(3 + 1))", "st.global.wb.v4.b32",
         "q[0] == 4 && q[1] == 5 && q[2] == 0xffffffff && q[3] == 16"},
        {"asm volatile(\"st.global.u8 [%0], %1;\" :: \"l\"(q), \"r\"(0x1234))", "st.global.b8", "q[0] == 0x34"},
        {"asm volatile(\"st.global.cg.b64 [%0], %1;\" :: \"l\"(q), \"l\"(1ull << 33))", "st.global.cg.b64", "q[0] == 0 && q[1] == 2"},
        {"asm volatile(\"st.global.f64 [%0], %1;\" :: \"l\"(q), \"d\"(1.0))", "st.global.b64", "q[0] == 0 && q[1] == 0x3ff00000"},
        {"asm volatile(\"st.shared.b32 [%0], %1; ld.shared.b32 %2, [%0];\" : \"+r\"(a), \"+r\"(x), \"=r\"(y))", "st.shared.b32", ""},
        {"asm volatile(\"{ .reg .pred q; .reg .b32 u, v; mov.b32 u, 1; setp.ne.b32 q, u, %1;\\n@q ld.global.b32 %0, [%2]; @!q ld.global.b32 %0, [%2+4]; }\"\n"
         "    : \"+r\"(x) : \"r\"(one), \"l\"(p))", "ld.global.b32", "x == 0x3f800000"},
        {"asm volatile(\"{ // a comment; { \\n .reg .pred %%q; setp.lt.s32 %%q, %1, 0; /* another; */ @%%q st.global.u32 [%0], 5; }\" :: \"l\"(q), \"r\"(-1))",
         "st.global.b32", "q[0] == 5"},
        {"asm(\"{ .reg .u64 t, u; cvta.to.global.u64 t, %1; mov.u64 u, t; ld.global.b32 %0, [u]; }\" : \"=r\"(x) : \"l\"(p + 1))", "ld.global.b32",
         "x == 0x3f800000"},
        {"asm(\"{ .reg .u64 t; cvt.u64.u32 t, %1; cvta.shared.u64 t, t; ld.b32 %0, [t]; }\" : \"=r\"(x) : \"r\"(a + 8))", "ld.shared.b32",
         "x == 0x40000000"},
        {"asm(\"mov.u32 %0, %%laneid; ld.global.b32 %1, [%2];\" : \"=r\"(x), \"=r\"(y) : \"l\"(p))", "ld.global.b32", "x == threadIdx.x && y == 0"},
        {"asm(\"mov.b32 %0, %1; cvt.s64.s32 %2, %3; ld.global.b32 %4, [%5];\" : \"=f\"(f), \"+r\"(one), \"=l\"(l), \"+r\"(minus), \"=r\"(y) : \"l\"(p))",
         "ld.global.b32", "__float_as_int(f) == 1 && l == 0xffffffffffffffff"},
        {"asm(\"ld.global.\" WIDTH \" %0, [%1];\" : \"=r\"(x) : \"l\"(p + 1))", "ld.global.b32", "x == 0x3f800000"},
        {"__asm__ __volatile__ (\"\" : : : \"memory\"); x = p[0]", "ld.global.b32", ""},
    };
    char *source = malloc(ROWS(rows) * 1024 + 4096);
    size_t length = 0;
    unsigned line = 9;
    unsigned lines[ROWS(rows)];
    const unsigned *bad;
    struct ran *ran;

    (void)state;
    assert_non_null(source);
    length += (size_t)sprintf(source, "#define WIDTH \"b32\"\n%s"
                                      "__global__ void k(const float *p, unsigned char *b, unsigned *q, unsigned *bad, int one, int minus) {\n"
                                      "__shared__ float s[32]; unsigned a = shared_address(s); for (int i = 0; i < 32; i++) { s[i] = i; b[i] = 0xf0 + i; }\n"
                                      "#define START q[0] = q[1] = 0; unsigned x = 0, y = 0; float f = 0, g = 0; unsigned long l = 0, m = 0; unsigned short h = 0\n",
                              ADDRESS);
    for (size_t i = 0; i < ROWS(rows); i++) {
        length += (size_t)sprintf(source + length, "{ START;\n%s;\nbad[%zu] = !(%s); }\n", rows[i].text, i, rows[i].value[0] ? rows[i].value : "true");
        lines[i] = line + 2;
        line += 3u + (strchr(rows[i].text, '\n') != NULL);
    }
    strcpy(source + length, "}\n");
    ran = good(source, "--block 1 --arg p=float[64]:iota --arg one=1 --arg minus=-1 --arg b=char[32]");
    bad = buffer_of(ran, "bad", NULL);
    for (size_t i = 0; i < ROWS(rows); i++) {
        if (bad[i] || !access_of(ran, rows[i].opcode, lines[i]))
            fail_msg("row %zu: %s: %s", i, rows[i].text, bad[i] ? rows[i].value : rows[i].opcode);
    }
    ran_free(ran);
    free(source);
}

/* -------------------------------------------------------------------------------------------------------------- mistakes */

struct mistake {
    const char *text; /* of a kernel of int *p, unsigned u, with a variable v, in its third line from the third column on */
    const char *message; /* behind "k.cu:3:" */
    enum wm_status status;
};

static void test_mistakes(void **state)
{
    static const struct mistake rows[] = {
        /* refused by name */
        {"asm volatile(\"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0}, {%0}, {%0}, {%0};\" : \"+r\"(v));",
         "17: the PTX instruction wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 is not supported", WM_E_UNSUPPORTED},
        {"asm(\"wgmma.fence.sync.aligned;\");", "8: the PTX instruction wgmma.fence.sync.aligned is not supported", WM_E_UNSUPPORTED},
        {"asm(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%0], 16, [%0];\" :: \"r\"(u));",
         "8: the PTX instruction cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes is not supported", WM_E_UNSUPPORTED},
        {"asm(\"cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 16, %1;\" :: \"r\"(u), \"l\"(p));",
         "8: the PTX instruction cp.async.ca.shared.global.L2::cache_hint is not supported", WM_E_UNSUPPORTED},
        {"asm(\"mov.u32 %0, %1;\\n\"\n\"bar.sync 0;\" : \"=r\"(v) : \"r\"(u));", "4:2: the PTX instruction bar.sync is not supported", WM_E_UNSUPPORTED},
        {"asm(\"mov.u32 %0, 0; add.u32 %0, %0, 1;\" : \"=r\"(v));", "23: the PTX instruction add.u32 is not supported", WM_E_UNSUPPORTED},
        {"asm(\"mov.u32 %0, %%smid;\" : \"=r\"(v));", "20: the PTX register %smid is not supported", WM_E_UNSUPPORTED},
        {"asm(\"ld.param.u32 %0, [%1];\" : \"=r\"(v) : \"l\"(p));", "8: the PTX instruction ld.param.u32 is not supported", WM_E_UNSUPPORTED},
        {"asm(\"ld.shared.nc.u32 %0, [%1];\" : \"=r\"(v) : \"l\"(p));", "8: the PTX instruction ld.shared.nc.u32 is not supported", WM_E_UNSUPPORTED},
        {"asm(\"ld.acquire.gpu.u32 %0, [%1];\" : \"=r\"(v) : \"l\"(p));", "8: the PTX instruction ld.acquire.gpu.u32 is not supported", WM_E_UNSUPPORTED},
        {"asm(\"ld.global.v4.u64 {%0, %0, %0, %0}, [%1];\" : \"=r\"(v) : \"l\"(p));", "8: the PTX instruction ld.global.v4.u64 is not supported",
         WM_E_UNSUPPORTED},
        {"asm(\"ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%0}, [%1];\" : \"=r\"(v) : \"r\"(u));",
         "8: the PTX instruction ldmatrix.sync.aligned.m16n16.x1.shared.b8 is not supported", WM_E_UNSUPPORTED},
        {"asm(\"ldmatrix.sync.aligned.x4.shared.b16 {%0}, [%1];\" : \"=r\"(v) : \"r\"(u));",
         "8: the PTX instruction ldmatrix.sync.aligned.x4.shared.b16 is not supported", WM_E_UNSUPPORTED},
        {"asm(\"ldmatrix.sync.aligned.m8n8.x1.x1.shared.b16 {%0}, [%1];\" : \"=r\"(v) : \"r\"(u));",
         "8: the PTX instruction ldmatrix.sync.aligned.m8n8.x1.x1.shared.b16 is not supported", WM_E_UNSUPPORTED},
        {"asm(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 %0, [%1];\" : \"=r\"(v) : \"r\"(u));",
         "49: a register where the instruction has a list in braces", WM_E_SYNTAX},
        {"asm(\"cvt.rn.f32.u32 %0, %1;\" : \"=r\"(v) : \"r\"(u));", "8: the PTX instruction cvt.rn.f32.u32 is not supported", WM_E_UNSUPPORTED},
        {"asm(\"mov.b64 {%0, %0}, %1;\" : \"=r\"(v) : \"l\"(p));", "8: the PTX instruction mov.b64 is not supported", WM_E_UNSUPPORTED},
        {"asm(\"L: mov.u32 %0, 0;\" : \"=r\"(v));", "8: a label in PTX is not supported", WM_E_UNSUPPORTED},
        {"asm(\".shared .b32 t;\");", "8: the PTX directive .shared is not supported", WM_E_UNSUPPORTED},
        {"asm(\"{ .reg .b32 r<4>; }\");", "20: a range of PTX registers is not supported", WM_E_UNSUPPORTED},
        {"asm(\"mov.u32 %0, 0;\" : [out] \"=r\"(v));", "26: an asm operand with a name is not supported", WM_E_UNSUPPORTED},
        {"asm(\"mov.u32 %0, 0;\" : \"=q\"(v));", "26: the constraint \"=q\" is not supported", WM_E_UNSUPPORTED},
        {"asm goto(\"\" :::: end);", "3: asm goto is not supported", WM_E_UNSUPPORTED},
        {"asm(\"ld.global.u32 %0, [16];\" : \"=r\"(v));", "26: a number as an address is not supported", WM_E_UNSUPPORTED},
        {"int w = asm(\"\");", "11: inline PTX (asm) is not supported", WM_E_UNSUPPORTED},
        /* written wrongly */
        {"asm(\"ld.global.u32 %0 [%1];\" : \"=r\"(v) : \"l\"(p));", "25: expected ',', found '[%1];'", WM_E_SYNTAX},
        {"asm(\"ld.global.u32 %2, [%1];\" : \"=r\"(v) : \"l\"(p));", "22: %2 is none of the 2 operands", WM_E_SYNTAX},
        {"asm(\"ld.global.u32 %0, [%1]\" : \"=r\"(v) : \"l\"(p));", "32: expected ';', found the end of the assembly text", WM_E_SYNTAX},
        {"asm(\"ld.global.u32 %0, [%1;\" : \"=r\"(v) : \"l\"(p));", "29: expected ']', found ';'", WM_E_SYNTAX},
        {"asm(\"ld.global.u32 %0, [x];\" : \"=r\"(v) : \"l\"(p));", "27: x is not declared: .reg declares it", WM_E_SYNTAX},
        {"asm(\"ld.global.v2.u32 %0, [%1];\" : \"=r\"(v) : \"l\"(p));", "25: 1 register where the instruction has 2", WM_E_SYNTAX},
        {"asm(\"ld.global.u64 %0, [%1];\" : \"=r\"(v) : \"l\"(p));", "22: a register of 32 bits where the instruction has 64", WM_E_SYNTAX},
        {"asm(\"ld.global.u32 %0, [%1];\" : \"=r\"(v) : \"r\"(u));", "26: a register of 32 bits where the instruction has 64", WM_E_SYNTAX},
        {"asm(\"ld.global.u32 3, [%0];\" :: \"l\"(p));", "22: an integer where a register gets a value", WM_E_SYNTAX},
        {"asm(\"mov.u32 %0, %1;\" : \"=r\"(v) : \"r\"(p));", "41: an operand of type int * does not fit the constraint \"r\" (unsigned int)", WM_E_SYNTAX},
        {"asm(\"mov.u32 %0, %1;\" : \"=r\"(v) : \"r\"(1.0f));", "41: an operand of type float does not fit the constraint \"r\" (unsigned int)",
         WM_E_SYNTAX},
        {"asm(\"mov.u32 %0, %1;\" : \"r\"(v) : \"r\"(u));", "27: an output's constraint begins with '=' or '+'", WM_E_SYNTAX},
        {"asm(\"mov.u32 %0, %1;\" : \"=r\"(v) : \"=r\"(u));", "37: an input's constraint has no '=' or '+'", WM_E_SYNTAX},
        {"asm(\"mov.u32 %0, 0;\" : \"=r\"(u + 1));", "33: an output must be a variable", WM_E_SYNTAX},
        {"asm(\"cp.async.wait_group %0;\" :: \"n\"(u));", "40: an operand \"n\" must be an integer that is known when compiling", WM_E_SYNTAX},
        {"asm(\"cp.async.cg.shared.global [%0], [%1], 8;\" :: \"r\"(u), \"l\"(p));", "46: cp.async.cg.shared.global copies 16 bytes", WM_E_SYNTAX},
        {"asm(\"cp.async.ca.shared.global [%0], [%1], %0;\" :: \"r\"(u), \"l\"(p));", "46: the size of a copy must be a number", WM_E_SYNTAX},
        {"asm(\"{ mov.u32 %0, 0;\" : \"=r\"(v));", "26: expected '}', found the end of the assembly text", WM_E_SYNTAX},
        {"asm(\"mov.u32 %0, 0; }\" : \"=r\"(v));", "23: expected an instruction, found '}'", WM_E_SYNTAX},
        {"asm(\"@%0 mov.u32 %0, 0;\" : \"+r\"(v));", "9: a predicate is expected here", WM_E_SYNTAX},
        {"asm(\"{ .reg .pred p; mov.u32 %0, p; }\" : \"=r\"(v));", "36: a predicate where a value is expected", WM_E_SYNTAX},
        {"asm(\"mov.u32 %0, 12x;\" : \"=r\"(v));", "20: expected a register or an integer, found '12x;'", WM_E_SYNTAX},
        {"asm(u);", "7: expected the text of PTX instructions, found 'u'", WM_E_SYNTAX},
        {"asm(\"\" : \"=r\" v);", "17: expected '(' behind a constraint, found 'v'", WM_E_SYNTAX},
        {"asm(\"mov.u32 %0, 0;\" : \"=r\"(v)) v = 1;", "35: expected ';' behind asm, found 'v'", WM_E_SYNTAX},
        {"const unsigned w = u; asm(\"mov.u32 %0, 0;\" : \"=r\"(w));", "25: assignment to a const value", WM_E_SYNTAX},
        {"asm(\"mov.u32 %0, 0; /* end\" : \"=r\"(v));", "23: a comment in the assembly text that does not end", WM_E_SYNTAX},
        {"asm(\"mov.u32 %0, 0; /*/\" : \"=r\"(v));", "23: a comment in the assembly text that does not end", WM_E_SYNTAX},
        {"asm(\"{ .reg .pred q; setp.lt.b32 q, %0, 1; }\" : \"+r\"(v));", "24: setp.lt.b32: of .b32 PTX has only setp.eq and setp.ne", WM_E_SYNTAX},
        {"asm(\"{ .reg .pred q; @q mov.u32 %0, 1; }\" : \"+r\"(v));", "25: the predicate q is not set by any instruction before", WM_E_SYNTAX},
        {"asm(\"{ .reg .u32 t, t; }\");", "23: t is declared a second time in one block", WM_E_SYNTAX},
        {"asm(\"{ .reg .u32 t; } mov.u32 %0, t;\" : \"=r\"(v));", "37: t is not declared: .reg declares it", WM_E_SYNTAX},
        {"asm(\"mov.u32 %0, 0x1ffffffff;\" : \"=r\"(v));", "20: 8589934591 does not fit 32 bits", WM_E_RANGE},
        {"asm(\"mov.u32 %0, 0xffffffffffffffff;\" : \"=r\"(v));", "20: 18446744073709551615 does not fit 32 bits", WM_E_RANGE},
        {"asm(\"mov.u32 %0, -2147483649;\" : \"=r\"(v));", "20: -2147483649 does not fit 32 bits", WM_E_RANGE},
        {"asm(\"mov.u32 %0, 18446744073709551616;\" : \"=r\"(v));", "20: 18446744073709551616 does not fit 64 bits", WM_E_RANGE},
        {"asm(\"{ .reg .b16 t; mov.b16 t, 70000; }\");", "34: 70000 does not fit 16 bits", WM_E_RANGE},
        {"asm(\"ld.global.u32 %0, [%1+4294967296];\" : \"=r\"(v) : \"l\"(p));", "30: 4294967296 does not fit 32 bits with a sign", WM_E_RANGE},
        {"asm(\"ld.global.u32 %0, [%1+99999999999999999999];\" : \"=r\"(v) : \"l\"(p));", "30: 99999999999999999999 does not fit 64 bits", WM_E_RANGE},
        {"asm(\"cp.async.wait_group -1;\");", "28: the number of groups is not from 0 to 2147483647", WM_E_RANGE},
        {"asm(\"cp.async.wait_group 99999999999;\");", "28: the number of groups is not from 0 to 2147483647", WM_E_RANGE},
        {"asm(\"mov.u32 %0, 1;\" : \"+r\"(out[u++]));",
         "34: a \"+r\" operand that changes, calls or loads something to find its variable is not supported", WM_E_UNSUPPORTED},
        {"asm(\"mov.u32 %0, 1;\" : \"+r\"(out[s[0]]));",
         "34: a \"+r\" operand that changes, calls or loads something to find its variable is not supported", WM_E_UNSUPPORTED},
        /* found when it runs */
        {"asm(\"ld.global.u32 %0, [%1];\" : \"=r\"(v) : \"l\"(&s[0]));",
         "8: Invalid __global__ read of size 4 bytes: its address is one of __shared__ memory", WM_E_ADDRESS},
        {"asm(\"st.global.v2.u32 [%0], {%1, %1};\" :: \"l\"(&s[0]), \"r\"(u));",
         "8: Invalid __global__ write of size 8 bytes: its address is one of __shared__ memory", WM_E_ADDRESS},
        {"if (threadIdx.x) asm(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\" : \"=r\"(v) : \"r\"(u));",
         "25: ldmatrix needs all 32 threads of the warp: warp 0 of block (0,0,0) gets here with 0xfffffffe", WM_E_SYNTAX},
        {"asm(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\" : \"=r\"(v) : \"r\"(u + 8 * threadIdx.x));",
         "8: Invalid __shared__ read of size 16 bytes by thread (1,0,0) in block (0,0,0): address 0x7e8000000008 is misaligned", WM_E_MISALIGNED},
        {"asm(\"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %0}, [%1];\" : \"=r\"(v) : \"r\"(u + 16 * threadIdx.x));",
         "8: Invalid __shared__ read of size 16 bytes by thread (8,0,0) in block (0,0,0): address 0x7e8000000080 is out of bounds: 0 bytes after the "
         "end of the block's shared memory, which has 128 bytes", WM_E_ADDRESS},
        {"asm(\"ldmatrix.sync.aligned.m8n8.x1.b16 {%0}, [%1];\" : \"=r\"(v) : \"l\"(p));", "8: ldmatrix on __global__ memory", WM_E_ADDRESS},
        {"asm(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"r\"(u + 128), \"l\"(p));",
         "8: Invalid __shared__ write of size 4 bytes by thread (0,0,0) in block (0,0,0): address 0x7e8000000080 is out of bounds: 0 bytes after the "
         "end of the block's shared memory, which has 128 bytes", WM_E_ADDRESS},
        {"asm(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"r\"(u), \"l\"(&s[0]));", "8: cp.async from __shared__ memory", WM_E_ADDRESS},
        {"asm(\"cp.async.ca.shared.global [%0], [%1], 4, %2;\" :: \"r\"(u), \"l\"(p), \"r\"(5));", "8: cp.async of 4 bytes from a source of 5 bytes",
         WM_E_RANGE},
        {"asm(\"cp.async.ca.shared.global [%0], [%1], 8;\" :: \"r\"(u), \"l\"(p + 1));",
         "8: Invalid __global__ read of size 8 bytes by thread (0,0,0) in block (0,0,0): address 0x7f0100000004 is misaligned", WM_E_MISALIGNED},
        {"asm(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"r\"(u), \"l\"(p + 64));",
         "8: Invalid __global__ read of size 4 bytes by thread (0,0,0) in block (0,0,0): address 0x7f0100000100 is out of bounds: 0 bytes after the "
         "end of p, which has 256 bytes", WM_E_ADDRESS},
        /* intrinsics */
        {"__pipeline_memcpy_async(s, p, u);", "33: __pipeline_memcpy_async of a size that is not known when compiling is not supported", WM_E_UNSUPPORTED},
        {"__pipeline_memcpy_async(s, p, 5);", "33: __pipeline_memcpy_async copies 4, 8 or 16 bytes", WM_E_SYNTAX},
        {"__pipeline_memcpy_async(u, p, 4);", "27: __pipeline_memcpy_async needs a pointer, not unsigned int", WM_E_SYNTAX},
        {"__pipeline_memcpy_async(s, p);", "3: __pipeline_memcpy_async takes 3 arguments, not 2", WM_E_SYNTAX},
        {"cuda::memcpy_async(s, p, 4, u);", "9: the function memcpy_async is not supported", WM_E_UNSUPPORTED},
        {"cooperative_groups::this_thread_block();", "3: cooperative_groups:: is not supported", WM_E_UNSUPPORTED},
    };
    int failed = 0;

    (void)state;
    for (size_t i = 0; i < ROWS(rows); i++) {
        char source[2048];
        char text[1024];
        char wanted[1024];
        struct ran *ran;

        snprintf(source, sizeof source, "__global__ void k(int *p, unsigned u, unsigned *out) {\n  __shared__ int s[32]; unsigned v = 0;\n  %s\n  out[0] = v + s[0];\n}\n",
                 rows[i].text);
        ran = run_kernel(source, "--block 32 --arg u=0 --arg p=int[64]");
        wm_diag_format(&ran->diag, text, sizeof text);
        snprintf(wanted, sizeof wanted, "k.cu:%s%s", strstr(rows[i].message, ": ") > strchr(rows[i].message, ':') ? "" : "3:", rows[i].message);
        if (ran->status != rows[i].status || strcmp(text, wanted) != 0) {
            print_error("row %zu: %s\nexpected %s\nfound    %s\n", i, rows[i].text, wanted, ran->status == WM_END ? "no mistake" : text);
            failed = 1;
        }
        ran_free(ran);
    }
    assert_int_equal(failed, 0);
}

/* Tensor cores: no access, and what they compute is 0, which is said once. Wrappers take const arrays (C++ binds them). printf's
 * arguments are evaluated. */
static void test_product(void **state)
{
    struct ran *ran = good("__device__ void product(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {\n"
                           "  asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, \"\n"
                           "               \"{%0, %1, %2, %3};\" : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])\n"
                           "               : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
                           "}\n"
                           "__global__ void k(float *p, const float *q) {\n"
                           "  float d[4] = {1, 1, 1, 1};\n"
                           "  unsigned a[4] = {0}, b[2][2] = {0};\n"
                           "  product(d, a, b[1]);\n"
                           "  product(d, a, b[0]);\n"
                           "  printf(\"%f %s\\n\", q[threadIdx.x], \"x\");\n"
                           "  p[threadIdx.x] = d[3];\n"
                           "}\n",
                           "--block 32 --arg p=float[32]:iota");
    size_t size;
    const float *p = buffer_of(ran, "p", &size);
    const char *first = strstr(ran->remarks, "results of mma.sync are taken as 0");

    (void)state;
    assert_int_equal(ran->count, 2);
    assert_int_equal(count_of(ran, "ld.global.b32", 11), 1);
    assert_int_equal(count_of(ran, "st.global.b32", 12), 1);
    for (unsigned i = 0; i < 32; i++)
        assert_true(p[i] == 0);
    assert_non_null(first);
    assert_null(strstr(first + 1, "results of mma.sync"));
    assert_non_null(strstr(ran->remarks, "printf is left out"));
    ran_free(ran);
}

/* PTX ISA, "Scoping" of registers, and numbers at the ends of their types. */
static void test_blocks(void **state)
{
    struct ran *ran = good("struct pair { unsigned a, b; };\n"
                           "__global__ void k(unsigned *out) {\n"
                           "  unsigned v[2] = {0, 5}; pair w = {1, 2}; int i = 0;\n"
                           "  asm(\"{ .reg .u32 t; mov.u32 t, 1; { .reg .u32 t; mov.u32 t, 2; } mov.u32 %0, t; }\" : \"=r\"(v[i++]));\n"
                           "  asm(\"{ .reg .pred q; setp.eq.b32 q, %0, 2; @q mov.u32 %0, -2147483648; /**/ }\" : \"+r\"(w.b));\n"
                           "  asm(\"mov.u32 %0, 0xffffffff;\" : \"+r\"(out[4 + i]));\n"
                           "  out[0] = v[0]; out[1] = v[1]; out[2] = w.b; out[3] = i;\n"
                           "}\n", "--block 1 --arg out=unsigned[8]");
    static const uint32_t expected[] = {1, 5, 0x80000000u, 1, 0, 0xffffffffu, 0, 0};
    size_t size;
    const uint32_t *out = buffer_of(ran, "out", &size);

    (void)state;
    assert_int_equal(size, sizeof expected);
    assert_memory_equal(out, expected, size);
    ran_free(ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product), cmocka_unit_test(test_matrices), cmocka_unit_test(test_copies),    cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_pipeline), cmocka_unit_test(test_transfers), cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_waits),    cmocka_unit_test(test_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
