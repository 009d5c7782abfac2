/* Distributed shared memory: what its accesses may be, and that explaining them agrees with counting them. What they cost is
 * compared with hardware in test_hardware.c (traces/hardware/sm_90/distributed). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "warpmem.h"

static struct wm_access access_of(const char *opcode, uint64_t address, uint64_t stride)
{
    struct wm_access access = {.mask = UINT32_MAX, .count = 1, .pc = WM_NO_PC};

    assert_int_equal(wm_opcode_parse(opcode, strlen(opcode), &access.opcode, NULL), WM_OK);
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access.address[lane] = address + lane * stride;
    return access;
}

static wm_arch *open_arch(const char *name)
{
    wm_arch *arch;

    assert_int_equal(wm_arch_open(name, &arch, NULL), WM_OK);
    return arch;
}

static void check(const wm_arch *arch, const struct wm_access *access, enum wm_status status, const char *text)
{
    struct wm_diag diag = {.status = WM_OK};
    struct wm_counts counts;

    assert_int_equal(wm_model(arch, access, &counts), status);
    assert_int_equal(wm_access_check(arch, access, &diag), status);
    if (text)
        assert_non_null(strstr(diag.text, text));
}

static void addresses_are_of_blocks_of_a_cluster(void **state)
{
    wm_arch *arch = open_arch("sm_90");
    struct wm_access access = access_of("ld.shared::cluster.b32", 0x1000400, 4);

    (void)state;
    check(arch, &access, WM_OK, NULL);
    access.address[5] = 0xf7fffffc;
    check(arch, &access, WM_E_ADDRESS, "lane 5: address 0xf7fffffc is not below 0x10000000");
    access.address[5] = 0xf7ffffc;
    check(arch, &access, WM_OK, NULL);
    access.address[5] = 0xf800000;
    check(arch, &access, WM_E_ADDRESS, "lane 5: address 0xf800000 lies 0x800000 bytes into its block's shared memory");
    access.address[5] = 0x1000401;
    check(arch, &access, WM_E_MISALIGNED, "lane 5");
    access.mask &= ~(UINT32_C(1) << 5);
    check(arch, &access, WM_OK, NULL);
    wm_arch_close(arch);
}

static void gpus_before_sm_90_have_no_clusters(void **state)
{
    static const char *const names[] = {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89"};
    const struct wm_access access = access_of("atom.shared::cluster.add.u32", 0x1000400, 4);

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        wm_arch *arch = open_arch(names[i]);

        check(arch, &access, WM_E_UNSUPPORTED, "has no atom.shared::cluster.add.u32");
        wm_arch_close(arch);
    }
}

/* Nothing of it is kept in L1, and nothing goes to L2. */
static void it_never_hits_and_never_reaches_l2(void **state)
{
    wm_arch *arch = open_arch("sm_90");
    struct wm_access access = access_of("ld.shared::cluster.b32", 0x2000400, 128);
    struct wm_counts miss, hit;

    (void)state;
    assert_int_equal(wm_model(arch, &access, &miss), WM_OK);
    access.l1 = WM_L1_HIT;
    assert_int_equal(wm_model(arch, &access, &hit), WM_OK);
    assert_memory_equal(&miss, &hit, sizeof miss);
    assert_int_equal(miss.lines, 32);
    assert_int_equal(miss.sectors, 32);
    assert_int_equal(miss.lsu_wavefronts, 32); /* one bank; no two lines share a pass */
    assert_int_equal(miss.l2_requests, 0);
    assert_int_equal(miss.l2_sectors, 0);
    assert_int_equal(miss.shared_wavefronts, 0);
    wm_arch_close(arch);
}

static void explaining_agrees_with_counting(void **state)
{
    static const char *const opcodes[] = {"ld.shared::cluster.b32", "st.shared::cluster.v4.b32",
                                          "ld.shared::cluster.v2.b32", "atom.shared::cluster.add.u32"};
    wm_arch *arch = open_arch("sm_90");

    (void)state;
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
        struct wm_access access = access_of(opcodes[i], 0x3000400, 80);
        struct wm_anatomy anatomy;
        struct wm_counts counts;
        uint32_t lines = 0;

        for (unsigned lane = 16; lane < WM_LANES; lane++)
            access.address[lane] += UINT64_C(0xb000000);
        assert_int_equal(wm_model(arch, &access, &counts), WM_OK);
        assert_int_equal(wm_explain(arch, &access, &anatomy), WM_OK);
        assert_int_equal(anatomy.line_count, counts.lines);
        assert_memory_equal(anatomy.address[0], access.address, sizeof access.address);
        for (unsigned line = 0; line < anatomy.line_count; line++)
            lines |= UINT32_C(1) << (anatomy.line[line].address >> 24);
        assert_int_equal(lines, 1U << 3 | 1U << 14);
    }
    wm_arch_close(arch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_of_blocks_of_a_cluster),
        cmocka_unit_test(gpus_before_sm_90_have_no_clusters),
        cmocka_unit_test(it_never_hits_and_never_reaches_l2),
        cmocka_unit_test(explaining_agrees_with_counting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
