/* The text format: every form of its grammar, and what it does not allow. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reading.h"

#define TEXT(text) text, sizeof(text) - 1, WM_FORMAT_TEXT

static const char sample[] = "# a comment first\n"
                             "\n"
                             "wmt 1\n"
                             "kernel copy grid=4,2 block=128 launch=7 smem=4096 source=copy.cu\n"
                             "warp 3,1,0 2\n"
                             "ld.global.b32 ffffffff 0x7f0000000000+4 pc=0x90 line=copy.cu:7 count=3\n"
                             "\tst.shared.v4.b32\t0000000f  [0x0,16,0x20, 48] # in order\n"
                             "atom.shared.add.u32 80000001 0x40\n"
                             "ld.local.b64 00000003 64-8\n"
                             "cp.async.ca.8 00000007 [0x0,0x8,0x10] 0x7f0000001000+8 line=\"a \\\"b\\\\.cu\":12\n"
                             "ldmatrix.x4.trans.shared.b16 ffffffff 0+16\n"
                             "kernel \"void f<(int)1>(float *)\"\n"
                             "ld.const.u8 00000000 0x0 pc=ff\n";

static const struct wm_access *nth(const struct reading *reading, size_t i)
{
    assert_true(i < reading->count);
    return &reading->accesses[i].access;
}

/* Spaces of shared memory with PTX's qualifiers. */
static void memory_of_a_cluster_has_opcodes_of_its_own(void **state)
{
    static const struct {
        const char *text;
        const char *written;
        unsigned space;
    } cases[] = {
        {"ld.shared::cluster.b32", "ld.shared::cluster.b32", WM_SHARED_CLUSTER},
        {"st.shared::cluster.v4.f32", "st.shared::cluster.v4.f32", WM_SHARED_CLUSTER},
        {"atom.shared::cluster.exch.b32", "atom.shared::cluster.exch.b32", WM_SHARED_CLUSTER},
        {"red.shared::cluster.add.u32", "red.shared::cluster.add.u32", WM_SHARED_CLUSTER},
        {"ld.shared::cta.v2.b32", "ld.shared.v2.b32", WM_SHARED},
        {"atom.shared::cta.add.u32", "atom.shared.add.u32", WM_SHARED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        struct reading *reading;

        snprintf(text, sizeof text, "wmt 1\n%s 00000003 [0x1000400,0x2000800]\n", cases[i].text);
        reading = read_trace(text, strlen(text), WM_FORMAT_TEXT);
        assert_int_equal(reading->status, WM_END);
        assert_string_equal(opcode_text(&nth(reading, 0)->opcode), cases[i].written);
        assert_int_equal(nth(reading, 0)->opcode.space, cases[i].space);
        assert_int_equal(nth(reading, 0)->address[1], 0x2000800);
        free_reading(reading);
    }
}

static void sample_is_read_as_written(void **state)
{
    struct reading *reading = read_trace(TEXT(sample));
    const struct wm_access *access;

    (void)state;
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 7);

    access = nth(reading, 0);
    assert_string_equal(opcode_text(&access->opcode), "ld.global.b32");
    assert_int_equal(access->mask, UINT32_MAX);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(access->address[lane], UINT64_C(0x7f0000000000) + 4 * lane);
    assert_int_equal(access->pc, 0x90);
    assert_string_equal(access->file, "copy.cu");
    assert_int_equal(access->line, 7);
    assert_int_equal(access->count, 3);
    assert_int_equal(access->block[0], 3);
    assert_int_equal(access->block[1], 1);
    assert_int_equal(access->block[2], 0);
    assert_int_equal(access->warp, 2);
    assert_int_equal(access->l1, WM_L1_HIT); /* as read_trace() asks */
    assert_string_equal(access->kernel->name, "copy");
    assert_string_equal(access->kernel->source, "copy.cu");
    assert_memory_equal(access->kernel->grid, ((uint32_t[]){4, 2, 1}), 12);
    assert_memory_equal(access->kernel->block, ((uint32_t[]){128, 1, 1}), 12);
    assert_int_equal(access->kernel->launch, 7);
    assert_int_equal(access->kernel->shared_bytes, 4096);
    assert_int_equal(reading->accesses[0].line, 6);
    assert_int_equal(reading->accesses[0].column, 24);

    access = nth(reading, 1);
    assert_string_equal(opcode_text(&access->opcode), "st.shared.v4.b32");
    for (unsigned lane = 0; lane < 4; lane++)
        assert_int_equal(access->address[lane], 16 * lane);
    assert_int_equal(access->pc, WM_NO_PC);
    assert_null(access->file);
    assert_int_equal(access->line, 0);
    assert_int_equal(access->count, 1);
    assert_int_equal(access->warp, 2);

    access = nth(reading, 2);
    assert_int_equal(access->address[0], 0x40);
    assert_int_equal(access->address[31], 0x40);

    access = nth(reading, 3);
    assert_int_equal(access->address[0], 64);
    assert_int_equal(access->address[1], 56);

    access = nth(reading, 4);
    assert_string_equal(opcode_text(&access->opcode), "cp.async.ca.8");
    for (unsigned lane = 0; lane < 3; lane++) {
        assert_int_equal(access->shared_address[lane], 8 * lane);
        assert_int_equal(access->address[lane], UINT64_C(0x7f0000001000) + 8 * lane);
    }
    assert_string_equal(access->file, "a \"b\\.cu");
    assert_int_equal(access->line, 12);

    access = nth(reading, 5);
    assert_int_equal(access->address[31], 31 * 16);

    access = nth(reading, 6);
    assert_int_equal(access->mask, 0);
    assert_int_equal(access->pc, 0xff);
    assert_string_equal(access->kernel->name, "void f<(int)1>(float *)");
    assert_null(access->kernel->source);
    assert_memory_equal(access->kernel->grid, ((uint32_t[]){0, 0, 0}), 12);
    free_reading(reading);
}

/* Stride forms go by lane number, lists by active lanes. */
static void lanes_of_sparse_masks(void **state)
{
    static const char text[] = "wmt 1\n"
                               "ld.shared.b32 80000110 [1,2,0xABCDEF]\n"
                               "ld.shared.b32 80000110 0x100+0x10\n"
                               "ld.shared.b32 80000110 1000-10\n"
                               "ld.shared.b32 00000000 []\n"
                               "ld.global.b8 00000001 18446744073709551615\n"
                               "ld.global.b8 00000002 0xfffffffffffffffe+1\n"
                               "ld.global.b8 00000003 [0x0000000000000000000a,0xffffffffffffffff]\n";
    struct reading *reading = read_trace(TEXT(text));

    (void)state;
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 7);
    assert_int_equal(nth(reading, 0)->address[4], 1);
    assert_int_equal(nth(reading, 0)->address[8], 2);
    assert_int_equal(nth(reading, 0)->address[31], 0xabcdef);
    assert_int_equal(nth(reading, 1)->address[4], 0x140);
    assert_int_equal(nth(reading, 1)->address[8], 0x180);
    assert_int_equal(nth(reading, 1)->address[31], 0x100 + 31 * 16);
    assert_int_equal(nth(reading, 2)->address[4], 960);
    assert_int_equal(nth(reading, 2)->address[31], 690);
    assert_int_equal(nth(reading, 3)->mask, 0);
    assert_int_equal(nth(reading, 4)->address[0], UINT64_MAX);
    assert_int_equal(nth(reading, 5)->address[1], UINT64_MAX);
    assert_int_equal(nth(reading, 6)->address[0], 10);
    assert_int_equal(nth(reading, 6)->address[1], UINT64_MAX);
    free_reading(reading);
}

/* Every opcode that can be written can be read, and is written the same again. */
static void opcodes_come_back(void **state)
{
    static const char *const opcodes[] = {
        "ld.global.b8",
        "st.global.cs.v2.b64",
        "ld.generic.cv.f32",
        "st.local.wb.u16",
        "ld.const.v4.s32",
        "ld.global.nc.v8.b32",
        "ld.shared.b128",
        "atom.global.cas.b64",
        "red.shared.max.s32",
        "atom.shared.inc.u32",
        "red.global.add.bf16x2",
        "ldmatrix.x1.shared.b16",
        "stmatrix.x2.trans.shared.b16",
        "cp.async.ca.4",
        "cp.async.ca.16",
        "cp.async.cg.16",
    };

    (void)state;
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
        char text[256];
        struct reading *reading;
        const int length = snprintf(text, sizeof text, "wmt 1\n%s 00000001 0x0%s\n", opcodes[i],
                                    strncmp(opcodes[i], "cp", 2) == 0 ? " 0x20" : "");

        reading = read_trace(text, (size_t)length, WM_FORMAT_AUTO);
        assert_int_equal(reading->status, WM_END);
        assert_int_equal(reading->count, 1);
        assert_string_equal(opcode_text(&nth(reading, 0)->opcode), opcodes[i]);
        free_reading(reading);
    }
}

static void names_may_be_anything(void **state)
{
    static const char text[] = "wmt 1\n"
                               "kernel \"\" # nameless\n"
                               "ld.global.b8 00000001 0 line=\"\":3\n"
                               "kernel \"\\n\\r\\t\\\"\\\\\\x01\\xFF\\xc3\\xa4#=\" source=\"x y\"#c\n"
                               "ld.global.b8 00000001 0 line=C:\\x\\y.cu:3#c\n"
                               "kernel operator==#c\n"
                               "ld.global.b8 00000001 0 line=a:5:7\n";
    struct reading *reading = read_trace(TEXT(text));

    (void)state;
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 3);
    assert_string_equal(nth(reading, 0)->kernel->name, "");
    assert_null(nth(reading, 0)->file);
    assert_int_equal(nth(reading, 0)->line, 3);
    assert_string_equal(nth(reading, 1)->kernel->name, "\n\r\t\"\\\x01\xff\xc3\xa4#=");
    assert_string_equal(nth(reading, 1)->kernel->source, "x y");
    assert_string_equal(nth(reading, 1)->file, "C:\\x\\y.cu");
    assert_string_equal(nth(reading, 2)->kernel->name, "operator==");
    assert_string_equal(nth(reading, 2)->file, "a:5");
    assert_int_equal(nth(reading, 2)->line, 7);
    free_reading(reading);
}

/* Without any kernel or warp line there are still a kernel and a warp. */
static void kernel_and_warp_are_optional_and_hold_on(void **state)
{
    static const char text[] = "wmt 1\n"
                               "ld.global.b8 00000001 0\n"
                               "warp 1,2,3 4\n"
                               "ld.global.b8 00000001 0\n"
                               "kernel k\n"
                               "kernel l\n"
                               "ld.global.b8 00000001 0\n";
    struct reading *reading = read_trace(TEXT(text));

    (void)state;
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 3);
    assert_string_equal(nth(reading, 0)->kernel->name, "");
    assert_int_equal(nth(reading, 0)->warp, 0);
    assert_int_equal(nth(reading, 1)->warp, 4);
    assert_int_equal(nth(reading, 1)->block[2], 3);
    assert_string_equal(nth(reading, 2)->kernel->name, "l");
    assert_int_equal(nth(reading, 2)->warp, 4);
    free_reading(reading);
}

static void a_last_line_needs_no_newline(void **state)
{
    static const char text[] = "wmt 1\nld.global.b8 00000001 0x10";
    struct reading *reading = read_trace(TEXT(text));

    (void)state;
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 1);
    assert_int_equal(nth(reading, 0)->address[0], 0x10);
    free_reading(reading);
    assert_fails(TEXT("wmt 1\nld.global.b8 00000001 0x"), WM_E_SYNTAX, 2, 25, "end of the file");
    assert_fails(TEXT("wmt 1\nld.global.b8 00000003 [0x10,0x20"), WM_E_SYNTAX, 2, 33, "']', found the end of the file");
}

struct bad {
    const char *line;
    enum wm_status status;
    uint64_t column;
    const char *part;
};

/* Lines that may not stand in a trace. */
static const struct bad bad_lines[] = {
    /* opcode */
    {"ld.global.b33 ffffffff 0x0", WM_E_SYNTAX, 11, "unknown opcode 'ld.global.b33'"},
    {"nop ffffffff 0x0", WM_E_SYNTAX, 1, "unknown opcode"},
    {"LDG.E ffffffff 0x0", WM_E_SYNTAX, 1, "unknown opcode"},
    {"ld.global.v8.b128 ffffffff 0x0", WM_E_RANGE, 1, "no such width"},
    {"ld.shared::cluster.cg.b32 ffffffff 0x1000400", WM_E_RANGE, 1, "no such width or combination"},
    {"ld.shared::ctx.b32 ffffffff 0x0", WM_E_SYNTAX, 4, "unknown opcode"},
    /* instructions of PTX that move data, but not by lanes' addresses */
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes 00000001 0x0 0x0", WM_E_UNSUPPORTED, 1,
     "cp.async.bulk is not modelled: one thread"},
    {"  cp.async.bulk.tensor.2d.shared::cluster.global 00000001 0x0 0x0", WM_E_UNSUPPORTED, 3,
     "cp.async.bulk.tensor is not modelled"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 00000001 0x0", WM_E_UNSUPPORTED, 1,
     "cp.reduce.async.bulk is not modelled"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 ffffffff 0x0", WM_E_UNSUPPORTED, 1,
     "wgmma is not modelled: matrix descriptors"},
    {"tcgen05.mma.cta_group::1.kind::f16 00000001 0x0", WM_E_UNSUPPORTED, 1, "tcgen05 is not modelled"},
    {"mbarrier.arrive.shared::cta.b64 00000001 0x0", WM_E_UNSUPPORTED, 1, "mbarrier is not modelled"},
    {"cp.async.mbarrier.arrive.noinc.shared.b64 ffffffff 0x0", WM_E_UNSUPPORTED, 1, "cp.async.mbarrier is not modelled"},
    {"st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 ffffffff 0x0", WM_E_UNSUPPORTED, 1,
     "st.async is not modelled"},
    {"red.async.relaxed.cluster.shared::cluster.add.u32 ffffffff 0x0", WM_E_UNSUPPORTED, 1, "red.async is not modelled"},
    {"multimem.ld_reduce.global.add.f32 ffffffff 0x0", WM_E_UNSUPPORTED, 1, "multimem is not modelled"},
    {"tex.2d.v4.f32.f32 ffffffff 0x0", WM_E_UNSUPPORTED, 1, "tex is not modelled: the texture path"},
    {"tld4.r.2d.v4.f32.f32 ffffffff 0x0", WM_E_UNSUPPORTED, 1, "tld4 is not modelled"},
    {"sust.b.2d.b32.trap ffffffff 0x0", WM_E_UNSUPPORTED, 1, "sust is not modelled"},
    {"prefetch.global.L1 ffffffff 0x0", WM_E_UNSUPPORTED, 1, "prefetch is not modelled"},
    {"mapa.shared::cluster.u32 ffffffff 0x0", WM_E_UNSUPPORTED, 1, "mapa is not modelled"},
    {"st.asynchronous ffffffff 0x0", WM_E_SYNTAX, 4, "unknown opcode"},
    {"texture.b32 ffffffff 0x0", WM_E_SYNTAX, 1, "unknown opcode"},
    {"kernels x", WM_E_SYNTAX, 1, "unknown opcode"},
    {"wmt 1", WM_E_SYNTAX, 1, "unknown opcode"},
    /* mask */
    {"ld.global.b32", WM_E_SYNTAX, 14, "mask"},
    {"ld.global.b32 fffffff 0x0", WM_E_SYNTAX, 15, "mask of 8 hex digits, found 'fffffff'"},
    {"ld.global.b32 fffffffff 0x0", WM_E_SYNTAX, 15, "mask of 8 hex digits"},
    {"ld.global.b32 0xffffff 0x0", WM_E_SYNTAX, 15, "mask"},
    {"ld.global.b32 fffffffg 0x0", WM_E_SYNTAX, 15, "mask"},
    {"ld.global.b32 -0000001 0x0", WM_E_SYNTAX, 15, "mask"},
    {"ld.global.b32 ffffffff", WM_E_SYNTAX, 23, "addresses"},
    {"ld.global.b32 ffffffff ", WM_E_SYNTAX, 24, "an address or '[', found the end of the line"},
    /* lists */
    {"ld.global.b32 00000003 [0x0]", WM_E_SYNTAX, 28, "1 addresses for the 2 active lanes"},
    {"ld.global.b32 00000003 [0x0,0x1,0x2]", WM_E_SYNTAX, 33, "more addresses than the 2 active lanes"},
    {"ld.global.b32 00000003 [1,2,3]", WM_E_SYNTAX, 29, "more addresses than the 2 active lanes"},
    {"ld.global.b32 00000000 [1]", WM_E_SYNTAX, 25, "more addresses than the 0 active lanes"},
    {"ld.global.b32 00000001 []", WM_E_SYNTAX, 25, "address"},
    {"ld.global.b32 ffffffff [0x0,0x1,0x2,0x3,0x4,0x5,0x6,0x7,0x8,0x9,0xa,0xb,0xc,0xd,0xe,0xf,"
     "0x10,0x11,0x12,0x13,0x14,0x15,0x16,0x17,0x18,0x19,0x1a,0x1b,0x1c,0x1d,0x1e,0x1f,0x20]",
     WM_E_SYNTAX, 169, "more addresses than the 32 active lanes"},
    {"ld.global.b32 00000003 [0x0 0x1]", WM_E_SYNTAX, 28, "a comma or ']'"},
    {"ld.global.b32 00000003 [0x0,0x1", WM_E_SYNTAX, 32, "']'"},
    {"ld.global.b32 00000003 [0x0,,0x1]", WM_E_SYNTAX, 29, "address"},
    {"ld.global.b32 00000003 [0x0,0x1,]", WM_E_SYNTAX, 33, "more addresses"},
    {"ld.global.b32 00000001 [ 0x0]", WM_E_SYNTAX, 25, "a blank"},
    {"ld.global.b32 00000001 [0x0 ]", WM_E_SYNTAX, 28, "']'"},
    {"ld.global.b32 00000001 [-1]", WM_E_RANGE, 25, "negative"},
    {"ld.global.b32 00000001 [0x-1]", WM_E_RANGE, 27, "negative"},
    {"ld.global.b32 00000001 [0x10000000000000000]", WM_E_RANGE, 27, "above 18446744073709551615"},
    {"ld.global.b32 00000001 [18446744073709551616]", WM_E_RANGE, 25, "above 18446744073709551615"},
    {"ld.global.b32 00000001 [99999999999999999999999]", WM_E_RANGE, 25, "above"},
    {"ld.global.b32 00000001 [0x]", WM_E_SYNTAX, 27, "address"},
    {"ld.global.b32 00000001 [1x]", WM_E_SYNTAX, 26, "']'"},
    {"ld.global.b32 00000001 [0x0]pc=0x1", WM_E_SYNTAX, 29, "a blank"},
    /* base and stride */
    {"ld.global.b32 00000001 x", WM_E_SYNTAX, 24, "address"},
    {"ld.global.b32 00000001 -4", WM_E_RANGE, 24, "negative"},
    {"ld.global.b32 00000001 0x10+", WM_E_SYNTAX, 29, "stride"},
    {"ld.global.b32 00000001 0x10+-4", WM_E_RANGE, 29, "negative"},
    {"ld.global.b32 00000001 0x10 + 4", WM_E_SYNTAX, 29, "pc="},
    {"ld.global.b32 00000001 0x10+4+4", WM_E_SYNTAX, 30, "blank"},
    {"ld.global.b32 00000001 0x10*4", WM_E_SYNTAX, 28, "blank"},
    {"ld.global.b32 ffffffff 0x10-4", WM_E_RANGE, 24, "outside"},
    {"ld.global.b32 ffffffff 0xffffffffffffffff+1", WM_E_RANGE, 24, "outside"},
    {"ld.global.b32 80000000 0+0xffffffffffffffff", WM_E_RANGE, 24, "outside"},
    {"ld.global.b32 80000000 0xffffffffffffffff-0xffffffffffffffff", WM_E_RANGE, 24, "outside"},
    {"ld.global.b32 ffffffff 0x10000000000000000", WM_E_RANGE, 26, "above"},
    {"ld.global.b32 ffffffff 0x0 0x0", WM_E_SYNTAX, 28, "pc="},
    /* copies */
    {"cp.async.ca.4 00000001 0x0", WM_E_SYNTAX, 27, "source addresses"},
    {"cp.async.ca.4 00000001 0x0 ", WM_E_SYNTAX, 28, "an address or '['"},
    {"cp.async.ca.4 00000001 [0x100000000] 0x0", WM_E_RANGE, 24, "above 0xffffffff"},
    {"cp.async.ca.4 00000003 0xffffffff+1 0x0", WM_E_RANGE, 24, "outside 0 to 0xffffffff"},
    {"cp.async.ca.4 00000003 [0] [0,1]", WM_E_SYNTAX, 26, "1 addresses for the 2 active lanes"},
    {"cp.async.ca.4 00000003 [0,1] [0]", WM_E_SYNTAX, 32, "1 addresses for the 2 active lanes"},
    /* keys */
    {"ld.global.b32 00000001 0 pc=", WM_E_SYNTAX, 29, "pc"},
    {"ld.global.b32 00000001 0 pc=xyz", WM_E_SYNTAX, 29, "pc"},
    {"ld.global.b32 00000001 0 pc=ffffffffffffffff", WM_E_RANGE, 29, "pc"},
    {"ld.global.b32 00000001 0 pc=0x10000000000000000", WM_E_RANGE, 31, "pc"},
    {"ld.global.b32 00000001 0 pc=0 pc=0", WM_E_SYNTAX, 31, "pc= stands twice"},
    {"ld.global.b32 00000001 0 count=0", WM_E_RANGE, 32, "count is 0"},
    {"ld.global.b32 00000001 0 count=-1", WM_E_RANGE, 32, "negative"},
    {"ld.global.b32 00000001 0 count=1x", WM_E_SYNTAX, 33, "blank"},
    {"ld.global.b32 00000001 0 count=18446744073709551616", WM_E_RANGE, 32, "above"},
    {"ld.global.b32 00000001 0 count = 1", WM_E_SYNTAX, 26, "count="},
    {"ld.global.b32 00000001 0 size=1", WM_E_SYNTAX, 26, "expected pc=, line=, count= or the end of the line"},
    {"ld.global.b32 00000001 0 line=x.cu", WM_E_SYNTAX, 31, "FILE:LINE"},
    {"ld.global.b32 00000001 0 line=:7", WM_E_SYNTAX, 31, "FILE:LINE"},
    {"ld.global.b32 00000001 0 line=x.cu:", WM_E_SYNTAX, 36, "line number"},
    {"ld.global.b32 00000001 0 line=x.cu:0", WM_E_RANGE, 36, "line number is 0"},
    {"ld.global.b32 00000001 0 line=x.cu:4294967296", WM_E_RANGE, 36, "above 4294967295"},
    {"ld.global.b32 00000001 0 line=x.cu:7a", WM_E_SYNTAX, 37, "blank"},
    {"ld.global.b32 00000001 0 line=\"x.cu:7", WM_E_SYNTAX, 38, "double quote"},
    {"ld.global.b32 00000001 0 line=\"x.cu\"7", WM_E_SYNTAX, 31, "FILE:LINE"},
    {"ld.global.b32 00000001 0 line=\"\\q\":7", WM_E_SYNTAX, 32, "escape"},
    {"ld.global.b32 00000001 0 line=\"\\x00\":7", WM_E_SYNTAX, 32, "escape"},
    {"ld.global.b32 00000001 0 line=\"\\x4\":7", WM_E_SYNTAX, 32, "escape"},
    {"ld.global.b32 00000001 0 line=\"\\", WM_E_SYNTAX, 32, "escape"},
    /* kernel */
    {"kernel", WM_E_SYNTAX, 7, "name"},
    {"kernel # x", WM_E_SYNTAX, 8, "name"},
    {"kernel grid=1", WM_E_SYNTAX, 8, "name"},
    {"kernel a b", WM_E_SYNTAX, 10, "grid="},
    {"kernel a\"b\"", WM_E_SYNTAX, 9, "blank"},
    {"kernel \"a\"b", WM_E_SYNTAX, 11, "blank"},
    {"kernel \"a", WM_E_SYNTAX, 10, "double quote"},
    {"kernel a grid=", WM_E_SYNTAX, 15, "number of blocks"},
    {"kernel a grid=0", WM_E_RANGE, 15, "is 0"},
    {"kernel a grid=1,0", WM_E_RANGE, 17, "is 0"},
    {"kernel a grid=1,1,1,1", WM_E_SYNTAX, 20, "blank"},
    {"kernel a grid=1,", WM_E_SYNTAX, 17, "number of blocks"},
    {"kernel a grid=-1", WM_E_RANGE, 15, "negative"},
    {"kernel a grid=4294967296", WM_E_RANGE, 15, "above 4294967295"},
    {"kernel a grid=1 grid=1", WM_E_SYNTAX, 17, "grid= stands twice"},
    {"kernel a grid=1 pc=0", WM_E_SYNTAX, 17, "grid="},
    {"kernel a smem=18446744073709551616", WM_E_RANGE, 15, "above"},
    {"kernel a source=", WM_E_SYNTAX, 17, "file name"},
    {"kernel a launch=x", WM_E_SYNTAX, 17, "launch"},
    /* warp */
    {"warp", WM_E_SYNTAX, 5, "block index"},
    {"warp 0", WM_E_SYNTAX, 7, "comma"},
    {"warp 0,0", WM_E_SYNTAX, 9, "comma"},
    {"warp 0,0,0", WM_E_SYNTAX, 11, "warp's number"},
    {"warp 0,0,0 ", WM_E_SYNTAX, 12, "warp's number"},
    {"warp 0,0,0,0 0", WM_E_SYNTAX, 11, "warp's number"},
    {"warp 0, 0,0 0", WM_E_SYNTAX, 8, "block index"},
    {"warp 0,0,0 0 0", WM_E_SYNTAX, 14, "end of the line"},
    {"warp -1,0,0 0", WM_E_RANGE, 6, "negative"},
    {"warp 0,0,4294967296 0", WM_E_RANGE, 10, "above 4294967295"},
    {"warp 0,0,0 4294967296", WM_E_RANGE, 12, "above 4294967295"},
    {"warp 0,0,0 x", WM_E_SYNTAX, 12, "warp's number"},
    /* bytes */
    {"ld.global.b32 00000001 0\r", WM_E_SYNTAX, 25, "carriage return"},
    {"ld.global.b32 00000001 [0x0]\r", WM_E_SYNTAX, 29, "carriage return"},
    {"ld.global.b32\r00000001 0", WM_E_SYNTAX, 14, "carriage return"},
    {"kernel a\r", WM_E_SYNTAX, 9, "carriage return"},
    {"warp 0,0,0 0\r", WM_E_SYNTAX, 13, "carriage return"},
    {"\r", WM_E_SYNTAX, 1, "carriage return"},
    {"# comment\r", WM_E_SYNTAX, 10, "carriage return"},
    {"# \xc3\xa4", WM_E_SYNTAX, 3, "0xc3"},
    {"kernel \xc3\xa4", WM_E_SYNTAX, 8, "0xc3"},
    {"kernel \"\xc3\xa4\"", WM_E_SYNTAX, 9, "0xc3"},
    {"kernel \"a\x01\"", WM_E_SYNTAX, 10, "0x01"},
    {"ld.global.b32 00000001 0\v", WM_E_SYNTAX, 25, "0x0b"},
    {"\x7f", WM_E_SYNTAX, 1, "unknown opcode"},
};

static void bad_lines_are_refused_with_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_lines / sizeof bad_lines[0]; i++) {
        const struct bad *bad = &bad_lines[i];
        char text[1024];
        int length = snprintf(text, sizeof text, "wmt 1\n# two\n%s\nwarp 0,0,0 0\n", bad->line);

        assert_fails(text, (size_t)length, WM_FORMAT_TEXT, bad->status, 3, bad->column, bad->part);
        /* As the end of the file, without a newline. */
        length = snprintf(text, sizeof text, "wmt 1\n%s", bad->line);
        if (!strstr(bad->part, "end of the line"))
            assert_fails(text, (size_t)length, WM_FORMAT_TEXT, bad->status, 2, bad->column, bad->part);
    }
}

static void nul_bytes_are_refused(void **state)
{
    (void)state;
    assert_fails(TEXT("wmt 1\n\0\n"), WM_E_SYNTAX, 2, 1, "NUL byte");
    assert_fails(TEXT("wmt 1\nld.global.b32\0 00000001 0\n"), WM_E_SYNTAX, 2, 14, "NUL byte");
    assert_fails(TEXT("wmt 1\nld.global.b32 00000001 0\0\n"), WM_E_SYNTAX, 2, 25, "NUL byte");
    assert_fails(TEXT("wmt 1\nkernel a\0b\n"), WM_E_SYNTAX, 2, 9, "NUL byte");
    assert_fails(TEXT("wmt 1\nkernel \"a\0b\"\n"), WM_E_SYNTAX, 2, 10, "NUL byte");
    assert_fails(TEXT("wmt 1\n# \0\n"), WM_E_SYNTAX, 2, 3, "NUL byte");
    assert_fails(TEXT("wmt 1\0\n"), WM_E_SYNTAX, 1, 6, "NUL byte");
}

static void first_line_must_be_the_version(void **state)
{
    (void)state;
    assert_fails(TEXT(""), WM_E_SYNTAX, 0, 0, "without a line 'wmt 1'");
    assert_fails(TEXT("# nothing\n\n"), WM_E_SYNTAX, 2, 0, "without a line 'wmt 1'");
    assert_fails(TEXT("kernel a\n"), WM_E_SYNTAX, 1, 1, "'wmt 1', the first line");
    assert_fails(TEXT("\n# a\nld.global.b32 ffffffff 0\n"), WM_E_SYNTAX, 3, 1, "'wmt 1', the first line");
    assert_fails(TEXT("wmt\n"), WM_E_SYNTAX, 1, 4, "version");
    assert_fails(TEXT("wmt1\n"), WM_E_SYNTAX, 1, 1, "'wmt 1'");
    assert_fails(TEXT("wmt x\n"), WM_E_SYNTAX, 1, 5, "version");
    assert_fails(TEXT("wmt -1\n"), WM_E_RANGE, 1, 5, "negative");
    assert_fails(TEXT("wmt 2\n"), WM_E_UNSUPPORTED, 1, 6, "version 2; this program reads version 1");
    assert_fails(TEXT("wmt 11\n"), WM_E_UNSUPPORTED, 1, 7, "version 11");
    assert_fails(TEXT("wmt 1 2\n"), WM_E_SYNTAX, 1, 7, "end of the line");
    assert_fails(TEXT("wmt 1.0\n"), WM_E_SYNTAX, 1, 6, "end of the line");
    assert_fails(TEXT("wmt 1\r\n"), WM_E_SYNTAX, 1, 6, "carriage return");
    /* Recognised as a text trace all the same. */
    assert_fails("ld.global.b32 ffffffff 0\n", 25, WM_FORMAT_AUTO, WM_E_SYNTAX, 1, 1, "'wmt 1'");
    assert_fails("# c\nkernel a\n", 13, WM_FORMAT_AUTO, WM_E_SYNTAX, 2, 1, "'wmt 1'");
}

static void cutting_it_short_gives_an_error_or_less(void **state)
{
    (void)state;
    assert_truncations(TEXT(sample));
}

/* A line may have 65536 bytes. */
static void long_lines(void **state)
{
    static const char head[] = "wmt 1\n";
    static const char tail[] = "\nwarp 0,0,0 0\n";

    (void)state;
    for (size_t size = 65530; size <= 200000; size = size < 65540 ? size + 1 : size * 2) {
        char *text = malloc(sizeof head + size + sizeof tail);
        const size_t length = sizeof head - 1 + size + sizeof tail - 1;

        assert_non_null(text);
        memcpy(text, head, sizeof head);
        memset(text + sizeof head - 1, 'x', size);
        text[sizeof head - 1] = '#';
        memcpy(text + sizeof head - 1 + size, tail, sizeof tail);
        if (size <= 65536) {
            struct reading *reading = read_trace(text, length, WM_FORMAT_TEXT);

            assert_int_equal(reading->status, WM_END);
            free_reading(reading);
        } else {
            assert_fails(text, length, WM_FORMAT_TEXT, WM_E_SYNTAX, 2, 0, "more than 65536 bytes");
            /* An error within such a line is that it is too long. */
            text[sizeof head - 1] = 'x';
            assert_fails(text, length, WM_FORMAT_TEXT, WM_E_SYNTAX, 2, 0, "more than 65536 bytes");
        }
        free(text);
    }
}

/* A trace of several chunks of the usual size, in which kernel and warp change rarely. */
static void chunks_know_what_came_before(void **state)
{
    size_t size = 0;
    size_t lines = 0;
    char *text = malloc(8 << 20);
    struct reading *reading;

    (void)state;
    assert_non_null(text);
    size += (size_t)sprintf(text + size, "wmt 1\n");
    for (unsigned kernel = 0; size < 6 << 20; kernel++) {
        size += (size_t)sprintf(text + size, "kernel \"k %u\" launch=%u\n", kernel, kernel);
        for (unsigned warp = 0; warp < 3; warp++) {
            size += (size_t)sprintf(text + size, "warp %u,0,0 %u\n", kernel, warp);
            for (unsigned i = 0; i < 2000; i++, lines++)
                size += (size_t)sprintf(text + size, "ld.global.b32 ffffffff 0x%x+4 line=f%u.cu:%u\n", 4 * i,
                                        kernel % 3, i + 1);
        }
    }
    reading = read_trace(text, size, WM_FORMAT_TEXT);
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, lines);
    for (size_t i = 0; i < reading->count; i++) {
        const struct wm_access *access = nth(reading, i);
        const size_t kernel = i / 6000;
        char expected[32];

        assert_int_equal(access->address[31], 4 * (i % 2000) + 124);
        assert_int_equal(access->warp, i / 2000 % 3);
        assert_int_equal(access->block[0], kernel);
        assert_int_equal(access->kernel->launch, kernel);
        snprintf(expected, sizeof expected, "k %zu", kernel);
        assert_string_equal(access->kernel->name, expected);
        snprintf(expected, sizeof expected, "f%zu.cu", kernel % 3);
        assert_string_equal(access->file, expected);
    }
    free_reading(reading);
    free(text);
}

/* Lines of a trace that are accesses. */
static size_t count_accesses(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[4096];
    size_t count = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        count += strncmp(line, "ld", 2) == 0 || strncmp(line, "st", 2) == 0 || strncmp(line, "cp", 2) == 0 ||
                 strncmp(line, "atom", 4) == 0 || strncmp(line, "red", 3) == 0;
    fclose(file);
    return count;
}

/* Nothing lies at virtual address 0; in a probe's buffer, offset 0 is a place like another. */
static void copies_from_nothing_are_zero_fill(void **state)
{
    struct reading *reading = read_trace(TEXT("wmt 1\n"
                                              "kernel a\n"
                                              "cp.async.ca.4 ffffffff 0+4 0x0\n" /* not known yet */
                                              "ld.global.b32 ffffffff 0x7f0000000000+4\n"
                                              "cp.async.ca.4 ffffffff 0+4 0x0\n"
                                              "cp.async.ca.4 00000003 0+4 [0x0,0x7f0000000000]\n"
                                              "cp.async.ca.4 00000000 0+4 0x0\n"
                                              "kernel b\n"
                                              "ld.global.b32 ffffffff 0x1000+4\n"
                                              "cp.async.ca.4 ffffffff 0+4 0x0\n"));
    static const uint32_t zero_fill[] = {0, 0, 1, 0, 0, 0, 0};

    (void)state;
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(nth(reading, i)->zero_fill, zero_fill[i]);
    assert_int_equal(reading->notes.copies_of_nothing, 1);
    free_reading(reading);
}

static void recorded_traces_are_read_whole(void **state)
{
    static const struct {
        const char *name;
        size_t count;
    } traces[] = {
        {"h200-random", 2430},        {"pytorch/cumsum", 7424},
        {"pytorch/gemm-f32", 1968},   {"pytorch/half-add-transposed", 1536},
        {"pytorch/index-rows", 3072}, {"pytorch/layer-norm", 7168},
        {"pytorch/scatter-add", 48},  {"pytorch/sum-rows", 768},
        {"pytorch/transpose", 4096},  {"pytorch/u8-transpose", 1332},
    };

    (void)state;
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        char name[256];
        struct reading *reading;

        snprintf(name, sizeof name, "traces/hardware/sm_90/%s.wmt", traces[i].name);
        assert_int_equal(count_accesses(source_path(name)), traces[i].count);
        reading = read_path(source_path(name), WM_FORMAT_AUTO);
        assert_int_equal(reading->status, WM_END);
        assert_int_equal(reading->count, traces[i].count);
        free_reading(reading);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample_is_read_as_written),
        cmocka_unit_test(memory_of_a_cluster_has_opcodes_of_its_own),
        cmocka_unit_test(lanes_of_sparse_masks),
        cmocka_unit_test(opcodes_come_back),
        cmocka_unit_test(names_may_be_anything),
        cmocka_unit_test(kernel_and_warp_are_optional_and_hold_on),
        cmocka_unit_test(a_last_line_needs_no_newline),
        cmocka_unit_test(bad_lines_are_refused_with_their_place),
        cmocka_unit_test(nul_bytes_are_refused),
        cmocka_unit_test(first_line_must_be_the_version),
        cmocka_unit_test(cutting_it_short_gives_an_error_or_less),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(chunks_know_what_came_before),
        cmocka_unit_test(copies_from_nothing_are_zero_fill),
        cmocka_unit_test(recorded_traces_are_read_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
