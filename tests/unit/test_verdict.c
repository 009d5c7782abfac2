/* Verdicts on accesses whose counts were worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "verdict.h"

static const struct geometry geometry = {.sector_bytes = 32, .tag_banks = 4, .tag_wavefront_sectors = 16};

static struct wm_access access_of(const char *opcode, uint32_t mask)
{
    struct wm_access access;

    memset(&access, 0, sizeof access);
    assert_int_equal(wm_opcode_parse(opcode, strlen(opcode), &access.opcode, NULL), WM_OK);
    access.mask = mask;
    access.count = 1;
    access.pc = WM_NO_PC;
    return access;
}

static struct wm_access strided(const char *opcode, uint64_t base, int64_t stride)
{
    struct wm_access access = access_of(opcode, UINT32_MAX);

    for (int lane = 0; lane < WM_LANES; lane++)
        access.address[lane] = base + (uint64_t)(stride * lane);
    return access;
}

static void expect(const struct wm_access *access, struct wm_counts counts, const char *words)
{
    struct buffer text = {0};

    verdict_access(&geometry, access, &counts, &text);
    assert_string_equal(buffer_text(&text), words);
    buffer_free(&text);
}

/* Counts of a global access: lines, sectors and their ideal, tag wavefronts. */
static struct wm_counts global(uint32_t lines, uint32_t sectors, uint32_t ideal, uint32_t tag_wavefronts)
{
    return (struct wm_counts){
        .requests = 1, .lines = lines, .sectors = sectors, .sectors_ideal = ideal, .tag_wavefronts = tag_wavefronts};
}

/* Counts of a shared access: wavefronts and the number of phases, the most of one phase. */
static struct wm_counts shared(uint32_t wavefronts, uint32_t phases, uint32_t ways)
{
    return (struct wm_counts){.shared_wavefronts = wavefronts,
                              .shared_wavefronts_ideal = phases,
                              .bank_conflicts = wavefronts - phases,
                              .ways = ways};
}

static void coalesced(void **state)
{
    struct wm_access access = strided("ld.global.b32", 0x1000, 4);

    (void)state;
    expect(&access, global(1, 4, 4, 1), "coalesced");
    access = strided("st.global.v4.b32", 0x1000, 16);
    expect(&access, global(4, 16, 16, 1), "coalesced");
    /* in the other direction */
    access = strided("ld.global.b32", 0x107c, -4);
    expect(&access, global(1, 4, 4, 1), "coalesced");
    access = strided("ld.global.b32", 0x1000, 4);
    access.mask = 0x00000fff;
    expect(&access, global(1, 2, 2, 1), "coalesced");
}

static void one_address(void **state)
{
    struct wm_access access = strided("ld.global.b32", 0x1004, 0);

    (void)state;
    expect(&access, global(1, 1, 1, 1), "broadcast");
    access = strided("st.global.b32", 0x1004, 0);
    expect(&access, global(1, 1, 1, 1), "all lanes write one address");
    access.mask = 0x10;
    expect(&access, global(1, 1, 1, 1), "one active lane");
    access = strided("ld.shared.b32", 0x40, 0);
    expect(&access, shared(1, 1, 1), "broadcast");
    access = strided("st.shared.b32", 0x40, 0);
    expect(&access, shared(1, 1, 1), "all lanes write one address");
}

static void strides(void **state)
{
    struct wm_access access = strided("ld.global.b32", 0x1000, 128);

    (void)state;
    /* 32 lines, spread evenly over the four tag banks */
    expect(&access, global(32, 32, 4, 8), "stride 128 B: 4 of 32 bytes of each sector used");
    access = strided("ld.global.b32", 0x2000, -128);
    expect(&access, global(32, 32, 4, 8), "stride -128 B: 4 of 32 bytes of each sector used");
    access = strided("ld.global.b32", 0x1000, 8);
    expect(&access, global(2, 8, 4, 1), "stride 8 B: 16 of 32 bytes of each sector used");
    /* 128 bytes in the 12 sectors of 384 */
    access = strided("ld.global.b32", 0x1000, 12);
    expect(&access, global(3, 12, 4, 1), "stride 12 B: 10.6 of 32 bytes of each sector used");
    access = strided("ld.global.v2.f32", 0x1000, 32);
    expect(&access, global(8, 32, 8, 2), "stride 32 B: 8 of 32 bytes of each sector used");
    /* every second lane; the stride is that of lane numbers */
    access = strided("ld.global.b32", 0x1000, 64);
    access.mask = 0x55555555;
    expect(&access, global(16, 16, 2, 4), "stride 64 B: 4 of 32 bytes of each sector used");
}

static void misaligned(void **state)
{
    struct wm_access access = strided("ld.global.b32", 0x1004, 4);

    (void)state;
    expect(&access, global(2, 5, 4, 1), "misaligned by 4 B: one sector too many");
    access = strided("ld.global.b32", 0x101c, 4);
    expect(&access, global(2, 5, 4, 1), "misaligned by 28 B: one sector too many");
    access = strided("ld.global.v2.b32", 0x1008, 8);
    expect(&access, global(3, 9, 8, 1), "misaligned by 8 B: one sector too many");
}

static void rows_of_a_tile(void **state)
{
    struct wm_access access = access_of("ld.global.b32", UINT32_MAX);

    (void)state;
    /* 8 rows of 4 lanes, 1024 B apart: half of each sector */
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access.address[lane] = 0x1000 + lane / 4 * 1024 + lane % 4 * 4;
    expect(&access, global(8, 8, 4, 2), "8 rows of 16 B, 1024 B apart: 16 of 32 bytes of each sector used");
    /* whole sectors: nothing is wasted */
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access.address[lane] = 0x1000 + lane / 8 * 1024 + lane % 8 * 4;
    expect(&access, global(4, 4, 4, 1), "coalesced");
    /* two lanes of 16 B a row: 16 whole sectors, which four lines would hold; in four lines they would be looked up at once */
    access = access_of("ld.global.v4.b32", UINT32_MAX);
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access.address[lane] = 0x1000 + lane / 2 * 1024 + lane % 2 * 16;
    expect(&access, global(16, 16, 16, 4),
           "16 rows of 32 B, 1024 B apart: whole sectors, but 16 lines where 4 would do");
    access = access_of("ld.global.b32", UINT32_MAX);
    /* rows at no common distance */
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access.address[lane] = 0x1000 + lane / 4 * (lane / 4) * 256 + lane % 4 * 4;
    expect(&access, global(8, 8, 4, 2), "8 rows of 16 B: 16 of 32 bytes of each sector used");
}

static void scattered(void **state)
{
    struct wm_access access = access_of("ld.global.b32", 0x0000000f);

    (void)state;
    access.address[0] = 0x1000;
    access.address[1] = 0x5004;
    access.address[2] = 0x1008;
    access.address[3] = 0x9000;
    expect(&access, global(3, 3, 1, 1), "scattered: 4 lanes in 3 sectors, 5.3 of 32 bytes of each sector used");
    expect(&access, global(3, 3, 1, 3),
           "scattered: 4 lanes in 3 sectors, 5.3 of 32 bytes of each sector used, "
           "tag bank conflict: 3 passes instead of 1");
}

static void atomics(void **state)
{
    struct wm_access access = strided("red.global.add.u32", 0x1000, 0);

    (void)state;
    expect(&access, global(32, 32, 1, 32), "same-address atomics serialised: 32 rounds");
    access = strided("atom.global.add.u32", 0x1000, 4);
    expect(&access, global(1, 4, 4, 1), "coalesced");
    /* lanes 0 to 2 at one address, the others contiguous */
    access.address[1] = access.address[2] = access.address[0];
    expect(&access, global(3, 6, 4, 3), "atomics of up to 3 lanes at one address serialised: 3 rounds");
    /* shared: no placement helps lanes at one word */
    access = strided("atom.shared.add.u32", 0x100, 0);
    expect(&access,
           (struct wm_counts){.shared_wavefronts = 32, .shared_wavefronts_ideal = 32, .bank_conflicts = 31, .ways = 32},
           "same-address atomics serialised: 32 rounds");
    access = strided("atom.shared.add.u32", 0, 8);
    expect(&access, shared(2, 1, 2), "2-way bank conflict: stride 8 B");
}

static void bank_conflicts(void **state)
{
    struct wm_access access = strided("ld.shared.b32", 0, 4);

    (void)state;
    expect(&access, shared(1, 1, 1), "conflict-free");
    access = strided("ld.shared.b32", 0, 128);
    expect(&access, shared(32, 1, 32), "32-way bank conflict: stride 128 B");
    /* a 16-byte load in four phases of eight lanes */
    access = strided("ld.shared.v4.b32", 0, 32);
    expect(&access, shared(8, 4, 2), "2-way bank conflict: stride 32 B");
    /* two phases with a conflict, two without */
    access = access_of("ld.shared.v4.b32", UINT32_MAX);
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access.address[lane] = lane < 16 ? lane * 16 : lane * 32;
    expect(&access, shared(6, 4, 2), "2-way bank conflict in 2 of 4 phases");
    expect(&access, shared(9, 4, 4), "up to 4-way bank conflict");
}

static void matrices(void **state)
{
    struct wm_access access = strided("ldmatrix.x1.shared.b16", 0, 256);

    (void)state;
    expect(&access, shared(8, 1, 8), "8-way bank conflict: rows 256 B apart");
    /* four matrices, whose own rows are 32 B apart */
    access = access_of("ldmatrix.x4.shared.b16", UINT32_MAX);
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access.address[lane] = lane % 8 * 32 + lane / 16 * 16 + lane / 8 % 2 * 256;
    expect(&access, shared(8, 4, 2), "2-way bank conflict: rows 32 B apart");
    /* lanes 8 and on supply no row of .x1 */
    access = strided("ldmatrix.x1.shared.b16", 0, 16);
    access.mask = 0xffffff00;
    expect(&access, shared(0, 0, 0), "no lane supplies a row");
}

static void copies(void **state)
{
    struct wm_access access = strided("cp.async.ca.4", 0x1000, 4);
    struct wm_counts counts = global(1, 4, 4, 1);

    (void)state;
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access.shared_address[lane] = lane * 128;
    counts.shared_wavefronts = 32;
    counts.shared_wavefronts_ideal = 1;
    counts.bank_conflicts = 31;
    counts.ways = 32;
    expect(&access, counts, "coalesced; shared side: 32-way bank conflict: stride 128 B");
    counts.shared_wavefronts_ideal = 32;
    expect(&access, counts, "coalesced; shared side: 32 passes, which no placement of the destination avoids");
    /* past L1: nothing is counted on the shared side, pairs of source and destination on the other */
    access = strided("cp.async.cg.16", 0x1000, 0);
    expect(&access, global(4, 16, 1, 4),
           "16 sectors looked up for the 1 touched: source and destination are not in step, "
           "tag bank conflict: 4 passes instead of 1");
}

static void other_spaces(void **state)
{
    struct wm_access access = strided("ld.local.b32", 0x10, 0);

    (void)state;
    expect(&access, global(1, 4, 4, 1), "coalesced: lanes at one offset");
    access = strided("ld.local.b32", 0, 4);
    expect(&access, global(32, 32, 4, 8), "lanes at different offsets: 32 sectors instead of 4");
    access = strided("ld.const.b32", 0x10, 0);
    expect(&access, global(0, 0, 0, 0), "uniform: one address");
    access.address[3] = 0x20;
    expect(&access, global(0, 0, 0, 0), "2 different addresses: the constant cache serves one after the other");
    access = strided("ld.generic.b32", 0x1000, 4);
    expect(&access, global(0, 0, 0, 0), "not counted by this profile");
    expect(&access, global(1, 4, 4, 1), "coalesced");
}

static void no_lanes(void **state)
{
    static const char *const opcodes[] = {"ld.global.b32",  "st.shared.b32",      "ldmatrix.x4.shared.b16",
                                          "cp.async.cg.16", "red.global.add.u32", "ld.const.b32"};

    (void)state;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        const struct wm_access access = access_of(opcodes[i], 0);

        expect(&access, shared(1, 1, 1), "no active lanes");
    }
}

/* ------------------------------------------------------------------------------------------------------------ groups */

static void expect_group(const struct wm_tally_row *row, const char *words)
{
    struct buffer text = {0};

    verdict_group(&geometry, row, &text);
    assert_string_equal(buffer_text(&text), words);
    buffer_free(&text);
}

static void add(struct wm_tally_row *row, const struct wm_access *access, const struct wm_counts *counts)
{
    const uint64_t values[] = {
        counts->requests,       counts->lines,          counts->sectors,           counts->sectors_ideal,
        counts->tag_wavefronts, counts->lsu_wavefronts, counts->shared_wavefronts, counts->shared_wavefronts_ideal,
        counts->bank_conflicts};

    row->instructions++;
    row->lanes += WM_LANES;
    for (size_t c = 0; c < sizeof values / sizeof *values; c++)
        row->sums[c] += values[c];
    if (counts->ways > row->sums[WM_WAYS])
        row->sums[WM_WAYS] = counts->ways;
    if (row->instructions == 1) {
        row->worst = *access;
        row->worst_counts = *counts;
    }
}

static void groups_say_whether_all_are_alike(void **state)
{
    const struct wm_access worst = strided("ld.global.b32", 0x1000, 128);
    const struct wm_access better = strided("ld.global.b32", 0x1000, 4);
    const struct wm_counts bad = global(32, 32, 4, 8);
    const struct wm_counts good = global(1, 4, 4, 1);
    struct wm_tally_row row;

    (void)state;
    memset(&row, 0, sizeof row);
    add(&row, &worst, &bad);
    add(&row, &worst, &bad);
    expect_group(&row, "stride 128 B: 4 of 32 bytes of each sector used");
    add(&row, &better, &good);
    expect_group(&row, "at worst stride 128 B: 4 of 32 bytes of each sector used");
    /* nothing is wasted: a phrase about the worst would mislead */
    memset(&row, 0, sizeof row);
    add(&row, &better, &good);
    add(&row, &better, &good);
    expect_group(&row, "coalesced");
    /* one more without active lanes is no exception */
    memset(&row, 0, sizeof row);
    add(&row, &worst, &bad);
    row.instructions++;
    row.inactive++;
    row.inactive_wavefronts++;
    row.sums[WM_SHARED_WAVEFRONTS]++;
    row.sums[WM_SHARED_WAVEFRONTS_IDEAL]++;
    expect_group(&row, "stride 128 B: 4 of 32 bytes of each sector used");
}

static void groups_mention_more_ways_than_the_worst_has(void **state)
{
    const struct wm_access strided_atomic = strided("atom.shared.add.u32", 0, 8);
    const struct wm_access same_address = strided("atom.shared.add.u32", 0, 0);
    const struct wm_counts two = shared(2, 1, 2);
    const struct wm_counts rounds = {
        .shared_wavefronts = 32, .shared_wavefronts_ideal = 32, .bank_conflicts = 31, .ways = 32};
    struct wm_tally_row row;

    (void)state;
    memset(&row, 0, sizeof row);
    add(&row, &strided_atomic, &two);
    add(&row, &same_address, &rounds);
    expect_group(&row, "at worst 2-way bank conflict: stride 8 B; up to 32 ways in accesses that waste less");
}

static void geometry_is_the_profiles(void **state)
{
    static const char text[] =
        "name = test\ndescription = half of the tag banks\ncompute_capability = 9.9\nsame_as = sm_90\n"
        "l1.tag_bank_bits = 1 bits ; assumed: for this test\n"
        "l1.tag_bank_mask_0 = 1 mask ; assumed: for this test\n";
    struct geometry out;
    wm_arch *arch;

    (void)state;
    assert_int_equal(wm_arch_open("sm_90", &arch, NULL), WM_OK);
    geometry_of(arch, &out);
    assert_memory_equal(&out, &geometry, sizeof out);
    wm_arch_close(arch);
    if (wm_arch_parse(text, sizeof text - 1, "test", &arch, NULL) != WM_OK)
        fail_msg("the test's profile is not valid");
    geometry_of(arch, &out);
    assert_int_equal(out.tag_banks, 2);
    assert_int_equal(out.tag_wavefront_sectors, 8);
    wm_arch_close(arch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coalesced),
        cmocka_unit_test(one_address),
        cmocka_unit_test(strides),
        cmocka_unit_test(misaligned),
        cmocka_unit_test(rows_of_a_tile),
        cmocka_unit_test(scattered),
        cmocka_unit_test(atomics),
        cmocka_unit_test(bank_conflicts),
        cmocka_unit_test(matrices),
        cmocka_unit_test(copies),
        cmocka_unit_test(other_spaces),
        cmocka_unit_test(no_lanes),
        cmocka_unit_test(groups_say_whether_all_are_alike),
        cmocka_unit_test(groups_mention_more_ways_than_the_worst_has),
        cmocka_unit_test(geometry_is_the_profiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
