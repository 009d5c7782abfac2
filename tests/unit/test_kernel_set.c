/* The kernels of traces/kernels compute what they should: their output against plain C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"

static char source[65536];

/* Runs a launch of traces/kernels/NAME, which must end well and without a remark. */
static struct ran *launch(const char *name, const char *options)
{
    const char *folder = getenv("top_srcdir");
    char path[4096];
    char text[1024];
    struct ran *ran;
    FILE *file;
    size_t length;

    snprintf(path, sizeof path, "%s/traces/kernels/%s", folder ? folder : ".", name);
    file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    length = fread(source, 1, sizeof source - 1, file);
    fclose(file);
    source[length] = '\0';
    ran = run_kernel(source, options);
    wm_diag_format(&ran->diag, text, sizeof text);
    if (ran->status != WM_END)
        fail_msg("%s %s: %s", name, options, text);
    assert_string_equal(ran->remarks, "");
    return ran;
}

static void test_copies(void **state)
{
    static const struct {
        const char *file;
        const char *options;
        int count;
        int shift; /* of what is read */
        int scale;
    } rows[] = {
        {"coalesced_read.cu", "--grid 16 --block 256 --arg n=4096 --arg in=float[4096]:iota --arg out=float[4096]", 4096, 0, 1},
        {"strided_read.cu", "--grid 16 --block 256 --arg stride=8 --arg in=float[131072]:iota --arg out=float[4096]", 4096, 0, 8},
        {"offset_copy.cu", "--grid 16 --block 256 --arg offset=1 --arg in=float[4128]:iota --arg out=float[4096]", 4096, 1, 1},
        {"soa_read.cu", "--grid 16 --block 256 --arg x=float[4096]:iota --arg out=float[4096]", 4096, 0, 1},
        {"aos_read.cu", "--grid 16 --block 256 --arg particles=particle[4096]:iota --arg out=float[4096]", 4096, 0, 4},
        {"scalar_copy.cu", "--grid 16 --block 256 --arg n=4000 --arg in=float[4000]:iota --arg out=float[4000]", 4000, 0, 1},
        {"vectorized_copy.cu", "--grid 4 --block 256 --arg n=1024 --arg in=float[4096]:iota --arg out=float[4096]", 4096, 0, 1},
        {"gather.cu", "--grid 16 --block 256 --arg n=4096 --arg index=int[4096]:iota --arg x=float[4096]:iota --arg out=float[4096]", 4096, 0, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ran *ran = launch(rows[i].file, rows[i].options);
        size_t size;
        const float *out = buffer_of(ran, "out", &size);

        assert_int_equal(size, 4 * (size_t)rows[i].count);
        for (int k = 0; k < rows[i].count; k++) {
            if (out[k] != (float)(rows[i].scale * k + rows[i].shift))
                fail_msg("%s: out[%d] is %g", rows[i].file, k, (double)out[k]);
        }
        ran_free(ran);
    }
}

static void test_unaligned_copy(void **state)
{
    (void)state;
    for (int shift = 0; shift < 5; shift++) {
        for (int n = 0; n < 12; n++) {
            char options[256];
            struct ran *ran;
            const float *out;

            snprintf(options, sizeof options, "--grid 2 --block 32 --arg n=%d --arg shift=%d --arg in=float[20]:iota --arg out=float[20]:zero", n, shift);
            ran = launch("safe_vectorized.cu", options);
            out = buffer_of(ran, "out", NULL);
            for (int i = 0; i < 20; i++)
                assert_true(out[i] == (float)(i >= shift && i < shift + n ? i : 0));
            ran_free(ran);
        }
    }
}

static void test_transposes(void **state)
{
    static const char *const kernels[] = {"transpose_naive", "transpose_shared", "transpose_padded", "transpose_swizzled"};

    (void)state;
    for (int k = 0; k < 4; k++) {
        char options[256];
        struct ran *ran;
        const float *out;

        snprintf(options, sizeof options, "--kernel %s --grid %s --block 32,8 --arg width=96 --arg height=64 --arg in=float[6144]:iota --arg out=float[6144]",
                 kernels[k], k == 0 ? "3,8" : "3,2");
        ran = launch("transpose.cu", options);
        out = buffer_of(ran, "out", NULL);
        for (int y = 0; y < 64; y++) {
            for (int x = 0; x < 96; x++)
                assert_true(out[x * 64 + y] == (float)(y * 96 + x));
        }
        ran_free(ran);
    }
}

static void test_sums(void **state)
{
    static const char *const files[] = {"reduce_modulo.cu", "reduce_interleaved.cu", "reduce_sequential.cu"};
    struct ran *ran;

    (void)state;
    for (int k = 0; k < 3; k++) {
        ran = launch(files[k], "--grid 2 --block 256 --arg in=float[512]:iota --arg out=float[2]");
        assert_true(((const float *)buffer_of(ran, "out", NULL))[0] == 32640);
        assert_true(((const float *)buffer_of(ran, "out", NULL))[1] == 98176);
        ran_free(ran);
    }
    ran = launch("vectorized_sum.cu", "--grid 4 --block 256 --arg n=1000 --arg in=float[4096]:iota --arg sum=float[1]");
    assert_true(((const float *)buffer_of(ran, "sum", NULL))[0] == 7998000); /* of 0 .. 3999; every part is exact */
    ran_free(ran);
    for (int padded = 0; padded < 2; padded++) {
        const float *out;

        ran = launch("scan_blelloch.cu", padded ? "--kernel scan_blelloch<true> --block 128 --arg in=float[256]:iota"
                                                : "--kernel scan_blelloch<false> --block 128 --arg in=float[256]:iota");
        out = buffer_of(ran, "out", NULL);
        for (int i = 0; i < 256; i++)
            assert_true(out[i] == (float)(i * (i - 1) / 2));
        assert_true(((const float *)buffer_of(ran, "total", NULL))[0] == 32640);
        ran_free(ran);
    }
}

static void test_matrices(void **state)
{
    struct ran *ran = launch("row_walk.cu", "--block 64 --arg width=64 --arg matrix=float[4096]:iota --arg out=float[64]");
    const float *out = buffer_of(ran, "out", NULL);

    (void)state;
    for (int row = 0; row < 64; row++)
        assert_true(out[row] == (float)(64 * 64 * row + 2016));
    ran_free(ran);
    ran = launch("column_walk.cu", "--block 64 --arg width=64 --arg matrix=float[4096]:iota --arg out=float[64]");
    out = buffer_of(ran, "out", NULL);
    for (int column = 0; column < 64; column++)
        assert_true(out[column] == (float)(64 * column + 64 * 2016));
    ran_free(ran);
    ran = launch("matmul_tiled.cu", "--grid 2,2 --block 16,16 --arg n=32 --arg a=float[1024]:iota --arg b=float[1024]:iota --arg c=float[1024]");
    out = buffer_of(ran, "c", NULL);
    for (int i = 0; i < 32; i++) {
        for (int j = 0; j < 32; j++) {
            float sum = 0;

            for (int k = 0; k < 32; k++)
                sum += (float)(32 * i + k) * (float)(32 * k + j);
            assert_true(out[32 * i + j] == sum);
        }
    }
    ran_free(ran);
}

static void test_histogram(void **state)
{
    struct ran *ran = launch("histogram.cu", "--grid 2 --block 256 --arg n=1000 --arg in=uint[1000]:random:3:256 --arg counts=uint[256]");
    const uint32_t *in = buffer_of(ran, "in", NULL);
    const uint32_t *counts = buffer_of(ran, "counts", NULL);
    uint32_t expected[256] = {0};

    (void)state;
    for (int i = 0; i < 1000; i++)
        expected[in[i]]++;
    assert_memory_equal(counts, expected, sizeof expected);
    ran_free(ran);
}

static void test_cache_hints(void **state)
{
    struct ran *ran = launch("cache_hints.cu", "--grid 4 --block 256 --arg in=float[1024]:iota --arg out=float[4096]");
    const float *out = buffer_of(ran, "out", NULL);

    (void)state;
    for (int i = 0; i < 4096; i++)
        assert_true(out[i] == (float)(5 * (i % 1024)));
    ran_free(ran);
}

/* Fragments of 16 x 16 halves, as ldmatrix.x4 gives them: registers are the quarters, first down, then to the right. */
static void test_fragments(void **state)
{
    static const char *const kernels[] = {"ldmatrix_tile", "cp_async_tile"};
    static const char *const layouts[] = {"0,false", "8,false", "0,true"};

    (void)state;
    for (unsigned k = 0; k < 6; k++) {
        char options[256];
        char file[64];
        struct ran *ran;
        const uint16_t *in;
        const uint16_t *out;

        snprintf(file, sizeof file, "%s.cu", kernels[k / 3]);
        snprintf(options, sizeof options, "--kernel %s<%s> --block 128 --arg in=uint4[512] --arg in=random:%u --arg out=uint4[512]",
                 kernels[k / 3], layouts[k % 3], k + 1);
        ran = launch(file, options);
        in = buffer_of(ran, "in", NULL);
        out = buffer_of(ran, "out", NULL);
        for (unsigned i = 0; i < 64 * 64; i++) {
            const unsigned lane = i / 8 % 32;
            const unsigned quarter = i / 2 % 4;
            const unsigned row = i / 1024 * 16 + quarter % 2 * 8 + lane / 4;
            const unsigned column = i / 256 % 4 * 16 + quarter / 2 * 8 + lane % 4 * 2 + i % 2;

            assert_int_equal(out[i], in[64 * row + column]);
        }
        ran_free(ran);
    }
}

static void test_transpose_twice(void **state)
{
    (void)state;
    for (int padding = 0; padding < 2; padding++) {
        char options[256];
        struct ran *ran;
        const float *a;
        const float *b;

        snprintf(options, sizeof options, "--kernel transpose_twice<%d> --block 32,8 --arg a=float[1024]:iota --arg b=float[1024]:iota", padding);
        ran = launch("transpose_twice.cu", options);
        a = buffer_of(ran, "a", NULL);
        b = buffer_of(ran, "b", NULL);
        for (int i = 0; i < 1024; i++) {
            assert_true(a[i] == (float)(i % 32 * 32 + i / 32));
            assert_true(b[i] == (float)(i % 32 * 32 + i / 32));
        }
        ran_free(ran);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),   cmocka_unit_test(test_unaligned_copy), cmocka_unit_test(test_transposes),
        cmocka_unit_test(test_sums),     cmocka_unit_test(test_matrices),       cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_cache_hints), cmocka_unit_test(test_fragments),    cmocka_unit_test(test_transpose_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
