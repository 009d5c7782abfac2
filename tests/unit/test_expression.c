/* Expressions that are given by themselves: the accesses of a block, against traces that are worked out by hand, and the
 * place of every mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "warpmem.h"

#define ROWS(list) (sizeof(list) / sizeof(list)[0])
#define MOST 6

struct given {
    const char *decls[MOST];
    const char *lets[MOST];
    const char *loads[MOST];
    const char *stores[MOST];
    uint32_t block[3];
    uint64_t smem;
    const char *expected; /* the lines of a text trace behind "wmt 1"; or how it fails */
};

static size_t count(const char *const *list)
{
    size_t n = 0;

    while (n < MOST && list[n])
        n++;
    return n;
}

static enum wm_status open_given(const struct given *given, const struct wm_launch *launch, wm_reader **out, struct wm_diag *diag)
{
    struct wm_expression expressions[2 * MOST];
    const struct wm_reader_options options = {.launch = launch};
    struct wm_expressions input = {expressions, 0, given->decls, count(given->decls), given->lets, count(given->lets)};

    for (size_t i = 0; i < count(given->stores); i++)
        expressions[input.n_expressions++] = (struct wm_expression){given->stores[i], 1};
    for (size_t i = 0; i < count(given->loads); i++)
        expressions[input.n_expressions++] = (struct wm_expression){given->loads[i], 0};
    return wm_reader_open_expressions(&input, &options, out, diag);
}

static int keep(void *context, const char *text, size_t length)
{
    char *out = context;

    strncat(out, text, length);
    return 0;
}

/* What comes of it: a trace, or a message. */
static void outcome(const struct given *given, char *text)
{
    const struct wm_launch launch = {.block = {given->block[0], given->block[1], given->block[2]}, .shared_bytes = given->smem};
    struct wm_diag diag;
    struct wm_access access;
    wm_reader *reader = NULL;
    wm_writer *writer = NULL;
    enum wm_status status = open_given(given, &launch, &reader, &diag);

    text[0] = '\0';
    if (status == WM_OK) {
        assert_int_equal(wm_writer_new(keep, text, &writer), WM_OK);
        while ((status = wm_reader_next(reader, &access, &diag)) == WM_OK)
            assert_int_equal(wm_writer_add(writer, &access), WM_OK);
        assert_int_equal(wm_writer_flush(writer), WM_OK);
        assert_null(wm_reader_remark_at(reader, 0, NULL));
    }
    if (status != WM_END) {
        assert_int_equal(diag.status, status);
        wm_diag_format(&diag, text, 4000);
    }
    wm_writer_free(writer);
    wm_reader_close(reader);
}

static void check(const struct given *rows, size_t n)
{
    char *text = malloc(1 << 20);
    int failed = 0;

    assert_non_null(text);
    for (size_t i = 0; i < n; i++) {
        outcome(&rows[i], text);
        if (strcmp(text, rows[i].expected) != 0) {
            print_error("row %zu (%s%s): expected\n%s\nfound\n%s\n", i, rows[i].loads[0] ? rows[i].loads[0] : "",
                        rows[i].stores[0] ? rows[i].stores[0] : "", rows[i].expected, text);
            failed = 1;
        }
    }
    free(text);
    assert_int_equal(failed, 0);
}

#define KERNEL(block, smem) "wmt 1\nkernel expression grid=1,1,1 block=" block smem " source=expression\n"

static void test_accesses(void **state)
{
    static const struct given rows[] = {
        /* a column of 33 words a row */
        {.decls = {"__shared__ float tile[32][33];"}, .loads = {"tile[threadIdx.x][threadIdx.y]"}, .block = {32, 2, 1},
         .expected = KERNEL("32,2,1", " smem=4224") "ld.shared.b32 ffffffff 0x0+132 line=expression:1\n"
                     "warp 0,0,0 1\nld.shared.b32 ffffffff 0x4+132 line=expression:1\n"},
        /* the part of a warp that the block has; three dimensions: 2 * (3 * z + y) + x */
        {.decls = {"__shared__ short tile[2][3][2]"}, .stores = {"tile[threadIdx.z][threadIdx.y][threadIdx.x]"}, .block = {2, 3, 2},
         .expected = KERNEL("2,3,2", " smem=24") "st.shared.b16 00000fff 0x0+2 line=expression:1\n"},
        /* 16 bytes of four floats, in every way they are written; the third is at row 1 */
        {.decls = {"__shared__ __align__(16) float a[2][64]"},
         .loads = {"*(float4 *)&a[0][2 * threadIdx.x]", "reinterpret_cast<float4 *>(&a[0][0])[threadIdx.x]",
                   "*reinterpret_cast<const float4 *>(a[1] + 4 * threadIdx.x)", "reinterpret_cast<float4 &>(a[1][4])"},
         .block = {2, 1, 1},
         .expected = "expression 1:1:1: Invalid __shared__ read of size 16 bytes by thread (1,0,0) in block (0,0,0): address "
                     "0x7e8000000008 is misaligned"},
        {.decls = {"__shared__ __align__(16) float a[2][64]"},
         .loads = {"*(float4 *)&a[0][4 * threadIdx.x]", "reinterpret_cast<float4 *>(&a[0][0])[threadIdx.x]",
                   "*reinterpret_cast<const float4 *>(a[1] + 4 * threadIdx.x)", "reinterpret_cast<float4 &>(a[1][4])"},
         .block = {2, 1, 1},
         .expected = KERNEL("2,1,1", " smem=512") "ld.shared.v4.b32 00000003 0x0+16 line=\"expression 1\":1\n"
                     "ld.shared.v4.b32 00000003 0x0+16 line=\"expression 2\":1\n"
                     "ld.shared.v4.b32 00000003 0x100+16 line=\"expression 3\":1\n"
                     "ld.shared.v4.b32 00000003 0x110 line=\"expression 4\":1\n"},
        {.decls = {"__shared__ float4 v[8]"}, .stores = {"v[threadIdx.x]"}, .loads = {"v[threadIdx.x].y"}, .block = {3, 1, 1},
         .expected = KERNEL("3,1,1", " smem=128") "st.shared.v4.b32 00000007 0x0+16 line=\"expression 1\":1\n"
                     "ld.shared.b32 00000007 0x4+16 line=\"expression 2\":1\n"},
        /* an assignment is what it is; a conversion of what is loaded too */
        {.decls = {"__shared__ int a[64]", "const float *b"}, .loads = {"a[threadIdx.x + 32] = (int)__ldg(&b[2 * threadIdx.x])"},
         .block = {32, 1, 1},
         .expected = KERNEL("32,1,1", " smem=256") "ld.global.nc.b32 ffffffff 0x7f0100000000+8 line=expression:1\n"
                     "st.shared.b32 ffffffff 0x80+4 line=expression:1\n"},
        {.decls = {"unsigned *bins"}, .loads = {"atomicAdd(&bins[threadIdx.x % 4], 1u)"}, .block = {4, 1, 1},
         .expected = KERNEL("4,1,1", "") "red.global.add.u32 0000000f 0x7f0100000000+4 line=expression:1\n"},
        /* lanes that do not get there */
        {.decls = {"__shared__ int a[64]"}, .loads = {"threadIdx.x & 1 ? 0 : a[threadIdx.x]"}, .block = {32, 1, 1},
         .expected = KERNEL("32,1,1", " smem=256") "ld.shared.b32 55555555 0x0+4 line=expression:1\n"},
        /* an index that is read itself: it is 0, as is all memory */
        {.decls = {"const int *index", "double *values"}, .loads = {"values[index[threadIdx.x] + 3]"}, .block = {32, 1, 1},
         .expected = KERNEL("32,1,1", "") "ld.global.b32 ffffffff 0x7f0100000000+4 line=expression:1\n"
                     "ld.global.b64 ffffffff 0x7f0200000018 line=expression:1\n"},
        /* of dynamic shared memory as much as is needed, where nobody says how much there is */
        {.decls = {"__shared__ int n", "extern __shared__ half smem[]"}, .loads = {"smem[threadIdx.x + 50000]"}, .block = {32, 1, 1},
         .expected = KERNEL("32,1,1", " smem=16") "ld.shared.b16 ffffffff 0x186b0+2 line=expression:1\n"},
        {.decls = {"extern __shared__ half smem[]"}, .loads = {"smem[threadIdx.x]"}, .smem = 60, .block = {32, 1, 1},
         .expected = "expression:1:5: Invalid __shared__ read of size 2 bytes by thread (30,0,0) in block (0,0,0): address "
                     "0x7e800000003c is out of bounds: 0 bytes after the end of the block's shared memory, which has 60 bytes; smem is dynamic shared memory and has 60 bytes: --smem BYTES"},
        /* what is declared may be everything that stands at file scope */
        {.decls = {"#define SWIZZLE(row, column) ((column) ^ ((row) & 7))", "const int W = 16, H = W / 2; typedef float real",
                   "struct tiles { real a[H][W]; half b[3]; }", "__shared__ tiles t;",
                   "__device__ int column(int row, int c) { return SWIZZLE(row, c); }", "enum { ROW = 5 }"},
         .loads = {"t.a[ROW][column(ROW, threadIdx.x)]"}, .block = {8, 1, 1},
         .expected = KERNEL("8,1,1", " smem=520") "ld.shared.b32 000000ff [0x154,0x150,0x15c,0x158,0x144,0x140,0x14c,0x148] line=expression:1\n"},
        {.decls = {"__constant__ float c[9]", "__device__ float d[9]"}, .loads = {"c[threadIdx.x + 1]", "d[threadIdx.x + 2]"},
         .block = {2, 1, 1},
         .expected = KERNEL("2,1,1", "") "ld.const.b32 00000003 0x4+4 line=\"expression 1\":1\n"
                     "ld.global.b32 00000003 0x7f0200000008+4 line=\"expression 2\":1\n"},
        /* what CUDA C has no function for */
        {.decls = {"__shared__ __align__(16) half tile[16][16]", "const half *a"},
         .loads = {"ldmatrix_x4(&tile[threadIdx.x % 16][threadIdx.x / 16 * 8])", "ldmatrix_x1_trans(tile)", "stmatrix_x2(tile[threadIdx.x % 8])",
                   "__pipeline_memcpy_async(tile[threadIdx.x / 2] + threadIdx.x % 2 * 8, a + threadIdx.x * 8, 16)"},
         .block = {32, 1, 1},
         .expected = KERNEL("32,1,1", " smem=512") "ldmatrix.x4.shared.b16 ffffffff "
                     "[0x0,0x20,0x40,0x60,0x80,0xa0,0xc0,0xe0,0x100,0x120,0x140,0x160,0x180,0x1a0,0x1c0,0x1e0,"
                     "0x10,0x30,0x50,0x70,0x90,0xb0,0xd0,0xf0,0x110,0x130,0x150,0x170,0x190,0x1b0,0x1d0,0x1f0] line=\"expression 1\":1\n"
                     "ldmatrix.x1.trans.shared.b16 ffffffff 0x0 line=\"expression 2\":1\n"
                     "stmatrix.x2.shared.b16 ffffffff [0x0,0x20,0x40,0x60,0x80,0xa0,0xc0,0xe0,0x0,0x20,0x40,0x60,0x80,0xa0,0xc0,0xe0,"
                     "0x0,0x20,0x40,0x60,0x80,0xa0,0xc0,0xe0,0x0,0x20,0x40,0x60,0x80,0xa0,0xc0,0xe0] line=\"expression 3\":1\n"
                     "cp.async.cg.16 ffffffff 0x0+16 0x7f0100000000+16 line=\"expression 4\":1\n"},
        /* nothing to run: arrays alone */
        {.decls = {"__shared__ float a[4]"}, .block = {32, 1, 1}, .expected = "wmt 1\n"},
        {.expected = "wmt 1\n"},
    };

    (void)state;
    check(rows, ROWS(rows));
}

#define ONE(values) "kernel \"expression(" values ")\" grid=1,1,1 block=2,1,1"
#define REST " smem=4096 source=expression\n"

static void test_values(void **state)
{
    static const struct given rows[] = {
        /* constants, each of which may use those before it */
        {.decls = {"__shared__ float tile[H][W + 1]"}, .lets = {"W=1 << 5", "H = W / 2", "k=3"}, .loads = {"tile[k][threadIdx.x]"},
         .block = {32, 1, 1}, .expected = KERNEL("32,1,1", " smem=2112") "ld.shared.b32 ffffffff 0x18c+4 line=expression:1\n"},
        /* the last one is the fastest */
        {.decls = {"__shared__ int t[32][32]"}, .lets = {"i=0:2", "c=4", "j=10:4:-3"}, .loads = {"t[i][j + c * threadIdx.x]"},
         .block = {2, 1, 1},
         .expected = "wmt 1\n" ONE("i=0, j=10") REST "ld.shared.b32 00000003 0x28+16 line=expression:1\n"
                     ONE("i=0, j=7") " launch=1" REST "ld.shared.b32 00000003 0x1c+16 line=expression:1\n"
                     ONE("i=1, j=10") " launch=2" REST "ld.shared.b32 00000003 0xa8+16 line=expression:1\n"
                     ONE("i=1, j=7") " launch=3" REST "ld.shared.b32 00000003 0x9c+16 line=expression:1\n"},
        /* values above 32 bits */
        {.decls = {"const char *a"}, .lets = {"o=0x7fffffffLL:0x80000001LL"}, .loads = {"a[o]"}, .block = {1, 1, 1},
         .expected = "wmt 1\nkernel \"expression(o=2147483647)\" grid=1,1,1 block=1,1,1 source=expression\n"
                     "ld.global.b8 00000001 0x7f017fffffff line=expression:1\n"
                     "kernel \"expression(o=2147483648)\" grid=1,1,1 block=1,1,1 launch=1 source=expression\n"
                     "ld.global.b8 00000001 0x7f0180000000 line=expression:1\n"},
        /* a range of one value is named too, a constant is not */
        {.decls = {"__shared__ int t[1024]"}, .lets = {"i=7:8:100"}, .loads = {"t[i]"}, .block = {2, 1, 1},
         .expected = "wmt 1\n" ONE("i=7") REST "ld.shared.b32 00000003 0x1c line=expression:1\n"},
    };

    (void)state;
    check(rows, ROWS(rows));
}

#define TILE .decls = {"__shared__ float tile[32][33]"}

static void test_mistakes(void **state)
{
    static const struct given rows[] = {
        /* of an expression */
        {TILE, .loads = {"tile[threadIdx.x][y]"}, .expected = "expression:1:19: y is not declared"},
        {TILE, .loads = {"tile[threadIdx.x][threadIdx.y"}, .expected = "expression:1:30: expected ']' behind an index, found the end"},
        {TILE, .loads = {"tile[threadIdx.x][threadIdx.y]]"}, .expected = "expression:1:31: expected the end, found ']'"},
        {TILE, .loads = {"tile[threadIdx.x][threadIdx.y];"}, .expected = "expression:1:31: expected the end, found ';'"},
        {TILE, .loads = {"tile[threadIdx.w][0]"}, .expected = "expression:1:16: uint3 has no member w"},
        {TILE, .loads = {"tile[threadIdx][0]"}, .expected = "expression:1:5: an index of type const uint3"},
        {TILE, .loads = {"tile[threadIdx.x]"}, .expected = "expression:1:1: this is an array (float[33]): an index is missing"},
        {TILE, .loads = {"threadIdx.x + 1"}, .expected = "expression:1:1: this accesses no memory"},
        {TILE, .loads = {"&tile[0][0]"}, .expected = "expression:1:1: this accesses no memory"},
        {TILE, .loads = {""}, .expected = "expression:1:1: expected an expression, found the end"},
        {TILE, .loads = {"tile[0][0]", "tile[1][\n  x]"}, .expected = "expression 2:2:3: x is not declared"},
        {TILE, .loads = {"tile[0][\"a\"]"}, .expected = "expression:1:9: a string is not supported"},
        {TILE, .loads = {"tile[0][`]"}, .expected = "expression:1:9: a character (0x60) that C does not know"},
        {TILE, .loads = {"tile[0][1 / 0]"}, .expected = "expression:1:11: division by zero"},
        {TILE, .loads = {"tile[32][threadIdx.x]"},
         .expected = "expression:1:9: Invalid __shared__ read of size 4 bytes by thread (0,0,0) in block (0,0,0): address "
                     "0x7e8000001080 is out of bounds: 0 bytes after the end of the block's shared memory, which has 4224 bytes"},
        {TILE, .loads = {"printf(tile[0][0])"}, .expected = "expression:1:1: printf in an expression is not supported"},
        {TILE, .loads = {"ldmatrix_x3(tile)"}, .expected = "expression:1:1: the function ldmatrix_x3 is not supported"},
        {TILE, .loads = {"ldmatrix_x4(3)"}, .expected = "expression:1:13: ldmatrix_x4 needs a pointer, not int"},
        {TILE, .loads = {"ldmatrix_x4(tile[threadIdx.x])"}, .block = {24, 1, 1},
         .expected = "expression:1:1: ldmatrix needs all 32 threads of the warp: warp 0 of block (0,0,0) gets here with 0x00ffffff"},
        {TILE, .stores = {"tile[0][0] + 1"}, .expected = "expression:1:1: nothing can be stored in a value"},
        {.decls = {"const float *a"}, .stores = {"a[0]"}, .expected = "expression:1:1: assignment to a const value"},
        {TILE, .lets = {"j=0:4"}, .stores = {"j"}, .expected = "expression:1:1: assignment to a const value"},
        {TILE, .lets = {"j=0:4"}, .loads = {"tile[j++][0]"}, .expected = "expression:1:7: assignment to a const value"},
        /* of a declaration */
        {.decls = {"__shared__ float tile[32"}, .expected = "--decl:1:22: this '[' is not closed"},
        {.decls = {"__shared__ float tile[0]"}, .expected = "--decl:1:22: an array of 0 elements"},
        {.decls = {"__shared__ float tile[32]", "__shared__ floot tile[32]"}, .expected = "--decl 2:1:12: the type floot is not supported"},
        {.decls = {"__shared__ float tile[n]"}, .lets = {"n=1:4"},
         .expected = "--decl:1:23: an array's length must be an integer that is known when compiling"},
        {.decls = {"__shared__ float a", "\n__shared__ int a"}, .expected = "--decl 2:2:16: a is declared twice, first in line 1"},
        {.decls = {"float a[32]"},
         .expected = "--decl:1:7: which memory is a in? __shared__, __device__ or __constant__ says it, or a pointer"},
        {.decls = {"int n"}, .expected = "--decl:1:5: n has no value: --let n=VALUE gives it one"},
        {.decls = {"int n = threadIdx.x"}, .expected = "--decl:1:5: a value that is not known when compiling (n) is not supported"},
        {.decls = {"int f(int x) { return x; }"}, .expected = "--decl:1:5: a function that is not __device__ (f) is not supported"},
        {.decls = {"__shared__ float a[1 << 17]"}, .expected = "--decl:1:18: a: more than 256 KiB of shared memory"},
        {.decls = {"}"}, .expected = "--decl:1:1: expected a type, found '}'"},
        {.decls = {"#if 1"}, .expected = "--decl:1:2: this #if has no #endif"},
        {.decls = {"#define"}, .expected = "--decl:1:2: expected a name after #define"},
        {.decls = {"__shared__ /* float x"}, .expected = "--decl:1:12: this comment has no end"},
        {.decls = {"union u { int a; }"}, .expected = "--decl:1:1: a union is not supported"},
        /* of a value */
        {.lets = {"j"}, .expected = "--let:1:2: expected '=' behind the name, found the end"},
        {.lets = {"j=1", "=3"}, .expected = "--let 2:1:1: expected a name, as in NAME=VALUE, found '='"},
        {.lets = {"for=3"}, .expected = "--let:1:1: expected a name, as in NAME=VALUE, found 'for'"},
        {.lets = {"j="}, .expected = "--let:1:3: expected an expression, found the end"},
        {.lets = {"j=k"}, .expected = "--let:1:3: k is not declared"},
        {.lets = {"j=threadIdx.x"}, .expected = "--let:1:3: expected a number, or a constant expression that makes one"},
        {.lets = {"j=1/0"}, .expected = "--let:1:3: division by zero"},
        {.lets = {"j=3 + 7 % (2 - 2)"}, .expected = "--let:1:3: division by zero"},
        {.lets = {"j=0:32:0"}, .expected = "--let:1:3: a step of 0"},
        {.lets = {"j=0:0"}, .expected = "--let:1:3: there is no value from 0 to 0, which is not one of them"},
        {.lets = {"j=4:0:2"}, .expected = "--let:1:3: there is no value from 4 to 0, which is not one of them"},
        {.lets = {"j=0:8:2:1"}, .expected = "--let:1:8: expected the end, found ':'"},
        {.lets = {"j=0::2"}, .expected = "--let:1:4: expected the end, found '::'"},
        {.lets = {"j=0:"}, .expected = "--let:1:5: expected an expression, found the end"},
        {.lets = {"j=0.5:2"}, .expected = "--let:1:3: a range begins with an integer"},
        {.lets = {"j=0:2.5"}, .expected = "--let:1:5: the end of a range must be an integer that is known when compiling"},
        {.lets = {"j=1", "j=2"}, .expected = "--let 2:1:1: j is declared twice, first in line 1"},
        {.lets = {"i=0:256", "j=0:257"}, .expected = "--let 2:1:3: more than 65536 combinations of values"},
        {.lets = {"i=-9223372036854775807:9223372036854775807"}, .expected = "--let:1:3: more than 65536 combinations of values"},
        {.lets = {"i=0:65536"}, .block = {96, 1, 1},
         .expected = "expression: 65536 combinations of values, of 3 warps each: more than 131072 in all"},
        /* of the launch */
        {TILE, .block = {1025, 1, 1}, .expected = "expression: a block of 1025 in x is above 1024"},
    };

    (void)state;
    check(rows, ROWS(rows));
}

static void test_bounds(void **state)
{
    static const struct given endless = {
        .decls = {"__device__ int f(int x) { while (x < 100) x &= 1; return x; }", "__shared__ int a[4]"},
        .lets = {"i=0:65536"},
        .loads = {"a[f(threadIdx.x)]"},
        .block = {32, 1, 1},
        .expected = "--decl 1:1:36: warp 0 of block (0,0,0) has run more than 3051 steps: an endless loop, or raise --max-steps"};
    struct wm_expression many[200];
    struct wm_expressions input = {.expressions = many, .n_expressions = ROWS(many)};
    wm_reader *reader = NULL;
    struct wm_diag diag;

    (void)state;
    check(&endless, 1);
    for (size_t i = 0; i < ROWS(many); i++)
        many[i] = (struct wm_expression){"a", 0};
    assert_int_equal(wm_reader_open_expressions(&input, NULL, &reader, &diag), WM_E_RANGE);
    assert_string_equal(diag.text, "more than 192 declarations, values and expressions");
    assert_int_equal(wm_reader_open_expressions(NULL, NULL, &reader, &diag), WM_E_ARGUMENT);
    assert_int_equal(wm_reader_open_expressions(&input, NULL, NULL, &diag), WM_E_ARGUMENT);
    assert_null(reader);
}

/* All 65,536 combinations, in bounded time. */
static void test_many(void **state)
{
    static const struct given given = {.decls = {"extern __shared__ int a[]"}, .lets = {"i=0:256", "j=0:256"}, .loads = {"a[i * 256 + j - i * 256]"},
                                       .block = {32, 1, 1}};
    const struct wm_launch launch = {.block = {32, 1, 1}};
    wm_reader *reader = NULL;
    struct wm_access access;
    uint64_t consumed;
    uint64_t total;
    size_t n = 0;

    (void)state;
    assert_int_equal(open_given(&given, &launch, &reader, NULL), WM_OK);
    while (wm_reader_next(reader, &access, NULL) == WM_OK) {
        assert_int_equal(access.address[31], 4 * (n % 256));
        n++;
    }
    assert_int_equal(n, 65536);
    assert_string_equal(access.kernel->name, "expression(i=255, j=255)");
    wm_reader_progress(reader, &consumed, &total);
    assert_int_equal(consumed, 65536);
    assert_int_equal(total, 65536);
    assert_int_equal(wm_reader_format(reader), WM_FORMAT_CUDA);
    wm_reader_close(reader);
}

static void test_arrays(void **state)
{
    static const struct given given = {.decls = {"__shared__ half tile[64][W + 8];", "const float4 *__restrict__ p, *q", "extern __shared__ float rest[][4]"},
                                       .lets = {"W=64"}};
    static const struct wm_launch_argument arguments[] = {{"q", "float4[100]"}};
    const struct wm_launch launch = {.arguments = arguments, .n_arguments = 1};
    const struct wm_array *array;
    wm_reader *reader = NULL;
    struct wm_diag diag;

    (void)state;
    assert_int_equal(open_given(&given, &launch, &reader, &diag), WM_OK);
    array = wm_reader_array_at(reader, 0);
    assert_string_equal(array->name, "tile");
    assert_string_equal(array->element, "half");
    assert_int_equal(array->element_bytes, 2);
    assert_int_equal(array->dimensions, 2);
    assert_int_equal(array->extent[0], 64);
    assert_int_equal(array->extent[1], 72);
    assert_int_equal(array->size_bytes, 9216);
    assert_string_equal(array->file, "--decl 1");
    assert_int_equal(array->line, 1);
    assert_int_equal(array->column, 17);
    array = wm_reader_array_at(reader, 1);
    assert_string_equal(array->name, "rest");
    assert_int_equal(array->is_dynamic, 1);
    assert_int_equal(array->address, 9216);
    assert_int_equal(array->extent[0], 0);
    assert_int_equal(array->extent[1], 4);
    assert_int_equal(array->size_bytes, 0);
    array = wm_reader_array_at(reader, 2);
    assert_string_equal(array->name, "p");
    assert_string_equal(array->element, "float4");
    assert_int_equal(array->space, WM_GLOBAL);
    assert_int_equal(array->extent[0], 0);
    array = wm_reader_array_at(reader, 3);
    assert_string_equal(array->name, "q");
    assert_int_equal(array->extent[0], 100);
    assert_null(wm_reader_array_at(reader, 4));
    wm_reader_close(reader);
}

/* --arg is for pointers alone, and is checked as for a kernel. */
static void test_arguments(void **state)
{
    static const struct given given = {.decls = {"const int *index", "float *a"}, .lets = {"j=0:4"}, .loads = {"a[index[threadIdx.x]]"}};
    static const struct wm_launch_argument good[] = {{"index", "iota"}};
    static const struct wm_launch_argument bad[] = {{"j", "3"}};
    struct wm_launch launch = {.arguments = good, .n_arguments = 1, .block = {32, 1, 1}};
    struct wm_access access;
    wm_reader *reader = NULL;
    struct wm_diag diag;
    char text[1024];

    (void)state;
    assert_int_equal(open_given(&given, &launch, &reader, &diag), WM_OK);
    assert_int_equal(wm_reader_next(reader, &access, NULL), WM_OK);
    assert_int_equal(wm_reader_next(reader, &access, NULL), WM_OK);
    for (unsigned i = 0; i < WM_LANES; i++)
        assert_int_equal(access.address[i], UINT64_C(0x7f0200000000) + 4 * i);
    wm_reader_close(reader);
    launch.arguments = bad;
    assert_int_equal(open_given(&given, &launch, &reader, &diag), WM_E_NAME);
    wm_diag_format(&diag, text, sizeof text);
    assert_string_equal(text, "--arg j: expression has no such parameter; it has: index, a");
}

static void test_macros(void **state)
{
    static const struct given given = {.decls = {"__shared__ half tile[SIDE][SIDE + 8]", "#define AT(x) tile[x][0]"}, .lets = {"r=0:SIDE"},
                                       .loads = {"AT(SIDE - 1 - r)"}};
    static const struct given mistaken = {.decls = {"__shared__ half tile[8]"}, .lets = {"SIDE=3"}, .loads = {"tile[0]"}};
    static const char *const macros[] = {"SIDE=64", "AT=5"};
    const struct wm_launch launch = {.block = {1, 1, 1}, .macros = macros, .n_macros = 2};
    struct wm_access access;
    wm_reader *reader = NULL;
    struct wm_diag diag;
    char text[1024];
    uint64_t total;

    (void)state;
    assert_int_equal(open_given(&given, &launch, &reader, &diag), WM_OK);
    wm_reader_progress(reader, &total, &total);
    assert_int_equal(total, 64);
    assert_int_equal(wm_reader_next(reader, &access, NULL), WM_OK);
    assert_int_equal(access.address[0], 63 * 72 * 2);
    assert_string_equal(wm_reader_remark_at(reader, 0, NULL), "--decl 2:1: #define AT takes the place of -D AT=5");
    assert_null(wm_reader_remark_at(reader, 1, NULL));
    wm_reader_close(reader);
    assert_int_equal(open_given(&mistaken, &launch, &reader, &diag), WM_E_SYNTAX);
    wm_diag_format(&diag, text, sizeof text);
    assert_string_equal(text, "--let:1:1: expected a name, as in NAME=VALUE, found '64'; this line uses -D SIDE=64");
}

/* A read of what was never written takes no memory, whatever the buffer's size; of what is filled, and a write, up to the limit. */
static void test_memory(void **state)
{
    static const struct {
        const char *fill;
        int is_store;
        const char *expected; /* NULL: it ends well */
    } rows[] = {
        {"float[1ull << 35]", 0, NULL},
        {"float[1ull << 35]:iota", 0, "expression:1:2: the kernel's memory does not fit: with what is touched of a here, buffers take more than 32 MiB of this machine"},
        {"float[1ull << 35]", 1, "expression:1:1: the kernel's memory does not fit: with what is touched of a here, buffers take more than 32 MiB of this machine"},
    };

    (void)state;
    for (size_t i = 0; i < ROWS(rows); i++) {
        const struct wm_launch_argument argument = {"a", rows[i].fill};
        const struct wm_launch launch = {.arguments = &argument, .n_arguments = 1, .block = {1024, 1, 1}, .memory_bytes = 32u << 20};
        struct given given = {.decls = {"float *a"}, .lets = {"x=0:4"}};
        struct wm_access access;
        wm_reader *reader = NULL;
        struct wm_diag diag;
        enum wm_status status;
        char text[1024];
        unsigned n = 0;

        (rows[i].is_store ? given.stores : given.loads)[0] = "a[threadIdx.x * 16384ull + x * 16777216ull]";
        assert_int_equal(open_given(&given, &launch, &reader, &diag), WM_OK);
        while ((status = wm_reader_next(reader, &access, &diag)) == WM_OK)
            n++;
        if (!rows[i].expected) {
            assert_int_equal(status, WM_END);
            assert_int_equal(n, 4 * 32);
        } else {
            assert_int_equal(status, WM_E_MEMORY);
            wm_diag_format(&diag, text, sizeof text);
            assert_string_equal(text, rows[i].expected);
        }
        wm_reader_close(reader);
    }
}

/* Ranges as wide as 64 bits are. */
static void test_wide_range(void **state)
{
    static const struct given given = {.decls = {"__shared__ int t[4]"},
                                       .lets = {"x=-9223372036854775807:9223372036854775807:9223372036854775806"},
                                       .loads = {"t[x < -5 ? 0 : x < 5 ? 1 : 2]"}};
    const struct wm_launch launch = {.block = {1, 1, 1}};
    struct wm_access access;
    wm_reader *reader = NULL;
    struct wm_diag diag;

    (void)state;
    assert_int_equal(open_given(&given, &launch, &reader, &diag), WM_OK);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(wm_reader_next(reader, &access, &diag), WM_OK);
        assert_int_equal(access.address[0], 4 * i);
    }
    assert_int_equal(wm_reader_next(reader, &access, &diag), WM_END);
    wm_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accesses), cmocka_unit_test(test_values), cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_bounds),   cmocka_unit_test(test_many),   cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_arguments), cmocka_unit_test(test_macros), cmocka_unit_test(test_memory), cmocka_unit_test(test_wide_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
