/* The tally against sums that a list of all accesses gives, and its promises one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "warpmem.h"

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % limit);
}

static struct wm_opcode opcode(const char *text)
{
    struct wm_opcode opcode;

    assert_int_equal(wm_opcode_parse(text, strlen(text), &opcode, NULL), WM_OK);
    return opcode;
}

static struct wm_access access_of(const char *text)
{
    struct wm_access access;

    memset(&access, 0, sizeof access);
    access.opcode = opcode(text);
    access.mask = UINT32_MAX;
    access.count = 1;
    access.pc = WM_NO_PC;
    return access;
}

static uint32_t *counter(struct wm_counts *counts, int c)
{
    uint32_t *const counters[WM_COUNTERS] = {
        &counts->requests,       &counts->lines,          &counts->sectors,           &counts->sectors_ideal,
        &counts->tag_wavefronts, &counts->lsu_wavefronts, &counts->shared_wavefronts, &counts->shared_wavefronts_ideal,
        &counts->bank_conflicts, &counts->ways,           &counts->l2_requests,       &counts->l2_sectors,
        &counts->lsu_writeback,
    };

    return counters[c];
}

static wm_arch *open_arch(const char *name)
{
    wm_arch *arch;

    assert_int_equal(wm_arch_open(name, &arch, NULL), WM_OK);
    return arch;
}

/* -------------------------------------------------------------------------------------------------- a second way to sum */

#define ACCESSES 3000

static const char *const kernel_names[] = {"first", "second", "third(float *, int)", ""};
static const char *const file_names[] = {"a.cu", "b.cu", NULL};
static const char *const opcode_names[] = {"ld.global.b32", "st.global.v4.f32", "atom.shared.add.u32", "cp.async.cg.16",
                                           "ldmatrix.x4.shared.b16"};

struct sample {
    struct wm_kernel kernel;
    struct wm_access access;
    struct wm_counts counts;
};

static void make_samples(struct sample samples[ACCESSES])
{
    for (int i = 0; i < ACCESSES; i++) {
        struct sample *sample = &samples[i];

        memset(sample, 0, sizeof *sample);
        sample->kernel.name = kernel_names[random_below(4)];
        sample->access = access_of(opcode_names[random_below(5)]);
        sample->access.kernel = &sample->kernel;
        sample->access.mask = random_below(8) ? (uint32_t)random_below(1u << 16) << 7 : 0;
        sample->access.count = 1 + random_below(random_below(10) ? 3 : 100000);
        sample->access.pc = random_below(3) ? random_below(6) * 16 : WM_NO_PC;
        sample->access.line = random_below(3) ? random_below(4) : 0;
        /* a file without a line says nothing */
        sample->access.file = file_names[random_below(3)];
        sample->access.address[0] = (uint64_t)i;
        for (int c = 0; c < WM_COUNTERS; c++)
            *counter(&sample->counts, c) = random_below(40);
        sample->counts.inexact = random_below(5) ? 0 : 1u << random_below(WM_COUNTERS);
    }
}

static int same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Whether two accesses belong to one group, as warpmem.h defines the groupings. */
static int same_group(enum wm_by by, const struct wm_access *a, const struct wm_access *b)
{
    int same_kernel = strcmp(a->kernel->name, b->kernel->name) == 0;
    int same_opcode = memcmp(&a->opcode, &b->opcode, sizeof a->opcode) == 0;

    switch (by) {
    case WM_BY_KERNEL: return same_kernel;
    case WM_BY_OPCODE: return same_opcode;
    case WM_BY_PC: return same_kernel && same_opcode && a->pc == b->pc;
    default: break;
    }
    if (!same_kernel || !same_opcode || !a->line != !b->line)
        return 0;
    if (a->line)
        return a->line == b->line && same_text(a->file, b->file);
    return a->pc == b->pc;
}

static uint64_t waste(const struct wm_counts *counts)
{
    uint64_t waste = 0;

    if (counts->sectors > counts->sectors_ideal)
        waste += counts->sectors - counts->sectors_ideal;
    if (counts->shared_wavefronts > counts->shared_wavefronts_ideal)
        waste += counts->shared_wavefronts - counts->shared_wavefronts_ideal;
    return waste;
}

/* Adds up the group that begins with sample number first, and compares. */
static void check_group(const wm_arch *arch, enum wm_by by, struct sample samples[ACCESSES], int first,
                        const struct wm_tally_row *row)
{
    const struct wm_access *head = &samples[first].access;
    const struct sample *worst = NULL;
    uint64_t sums[WM_COUNTERS] = {0}, inexact[WM_COUNTERS] = {0};
    int exactness[WM_COUNTERS] = {0};
    uint64_t instructions = 0, inactive = 0, inactive_wavefronts = 0, lanes = 0, bytes = 0;

    for (int i = first; i < ACCESSES; i++) {
        struct sample *sample = &samples[i];
        const struct wm_access *access = &sample->access;
        unsigned active = 0;

        if (!same_group(by, head, access))
            continue;
        for (int lane = 0; lane < WM_LANES; lane++)
            active += access->mask >> lane & 1;
        instructions += access->count;
        lanes += active * access->count;
        if (!active) {
            inactive += access->count;
            inactive_wavefronts += sample->counts.shared_wavefronts * access->count;
        }
        bytes += (uint64_t)active * access->opcode.width_bytes * access->count;
        for (int c = 0; c < WM_COUNTERS; c++) {
            uint64_t value = *counter(&sample->counts, c);
            int e = (int)wm_arch_exactness(arch, &access->opcode, (enum wm_counter)c);

            if (c == WM_WAYS)
                sums[c] = value > sums[c] ? value : sums[c];
            else
                sums[c] += value * access->count;
            if (sample->counts.inexact >> c & 1)
                e = WM_APPROXIMATE;
            if (e != WM_EXACT)
                inexact[c] += access->count;
            exactness[c] = e > exactness[c] ? e : exactness[c];
        }
        if (!worst || waste(&sample->counts) > waste(&worst->counts))
            worst = sample;
    }
    assert_int_equal(row->instructions, instructions);
    assert_int_equal(row->inactive, inactive);
    assert_int_equal(row->inactive_wavefronts, inactive_wavefronts);
    assert_int_equal(row->lanes, lanes);
    assert_int_equal(row->bytes, bytes);
    for (int c = 0; c < WM_COUNTERS; c++) {
        assert_int_equal(row->sums[c], sums[c]);
        assert_int_equal(row->inexact[c], inexact[c]);
        assert_int_equal(row->exactness[c], exactness[c]);
    }
    /* of equal waste, the one with more passes: compare what the choice is about */
    assert_int_equal(waste(&row->worst_counts), waste(&worst->counts));
    assert_memory_equal(&row->worst_counts, &samples[row->worst.address[0]].counts, sizeof row->worst_counts);
    assert_true(same_group(by, head, &samples[row->worst.address[0]].access));
    assert_null(row->worst.kernel);
    assert_null(row->worst.file);
}

static void check_names(enum wm_by by, const struct wm_access *head, const struct wm_tally_row *row)
{
    assert_string_equal(row->kernel, by == WM_BY_OPCODE ? "" : head->kernel->name);
    assert_int_equal(row->has_opcode, by != WM_BY_KERNEL);
    if (by != WM_BY_KERNEL)
        assert_memory_equal(&row->opcode, &head->opcode, sizeof row->opcode);
    if (by == WM_BY_LINE) {
        assert_int_equal(row->line, head->line);
        assert_true(same_text(row->file, head->line ? head->file : NULL));
        assert_true(row->pc == (head->line ? WM_NO_PC : head->pc));
    } else if (by == WM_BY_PC) {
        assert_true(row->pc == head->pc);
    } else {
        assert_int_equal(row->line, 0);
        assert_null(row->file);
        assert_true(row->pc == WM_NO_PC);
    }
}

static void check_tally(const wm_arch *arch, enum wm_by by, struct sample samples[ACCESSES], const wm_tally *tally)
{
    size_t groups = 0;

    for (int i = 0; i < ACCESSES; i++) {
        const struct wm_tally_row *row;
        int is_first = 1;

        for (int before = 0; before < i && is_first; before++)
            is_first = !same_group(by, &samples[before].access, &samples[i].access);
        if (!is_first)
            continue;
        row = wm_tally_row_at(tally, groups++);
        assert_non_null(row);
        check_names(by, &samples[i].access, row);
        check_group(arch, by, samples, i, row);
    }
    assert_null(wm_tally_row_at(tally, groups));
}

static void sums_are_those_of_a_list(void **state)
{
    static struct sample samples[ACCESSES];
    wm_arch *arch = open_arch("sm_80");

    (void)state;
    make_samples(samples);
    for (int by = WM_BY_KERNEL; by <= WM_BY_OPCODE; by++) {
        wm_tally *tally;

        assert_int_equal(wm_tally_new(arch, (enum wm_by)by, &tally), WM_OK);
        for (int i = 0; i < ACCESSES; i++)
            assert_int_equal(wm_tally_add(tally, &samples[i].access, &samples[i].counts), WM_OK);
        check_tally(arch, (enum wm_by)by, samples, tally);
        wm_tally_free(tally);
    }
    wm_arch_close(arch);
}

static void merging_pieces_in_order_is_adding_all(void **state)
{
    static struct sample samples[ACCESSES];
    wm_arch *arch = open_arch("sm_90");

    (void)state;
    make_samples(samples);
    for (int by = WM_BY_KERNEL; by <= WM_BY_OPCODE; by++) {
        wm_tally *all;

        assert_int_equal(wm_tally_new(arch, (enum wm_by)by, &all), WM_OK);
        for (int i = 0; i < ACCESSES;) {
            int end = i + (int)random_below(500);
            wm_tally *piece;

            assert_int_equal(wm_tally_new(arch, (enum wm_by)by, &piece), WM_OK);
            for (; i < end && i < ACCESSES; i++)
                assert_int_equal(wm_tally_add(piece, &samples[i].access, &samples[i].counts), WM_OK);
            assert_int_equal(wm_tally_merge(all, piece), WM_OK);
            wm_tally_free(piece);
        }
        check_tally(arch, (enum wm_by)by, samples, all);
        wm_tally_free(all);
    }
    wm_arch_close(arch);
}

/* --------------------------------------------------------------------------------------------------------- promises */

static void names_are_copied(void **state)
{
    char kernel_name[] = "before";
    char file_name[] = "a.cu";
    struct wm_kernel kernel = {.name = kernel_name};
    struct wm_access access = access_of("ld.global.b32");
    const struct wm_counts counts = {.sectors = 4};
    wm_arch *arch = open_arch("sm_90");
    wm_tally *tally;

    (void)state;
    access.kernel = &kernel;
    access.file = file_name;
    access.line = 7;
    assert_int_equal(wm_tally_new(arch, WM_BY_LINE, &tally), WM_OK);
    assert_int_equal(wm_tally_add(tally, &access, &counts), WM_OK);
    /* the same pointers, other names: other groups */
    strcpy(kernel_name, "after");
    assert_int_equal(wm_tally_add(tally, &access, &counts), WM_OK);
    strcpy(file_name, "b.cu");
    assert_int_equal(wm_tally_add(tally, &access, &counts), WM_OK);
    memset(kernel_name, 0, sizeof kernel_name);
    memset(file_name, 0, sizeof file_name);
    assert_string_equal(wm_tally_row_at(tally, 0)->kernel, "before");
    assert_string_equal(wm_tally_row_at(tally, 1)->kernel, "after");
    assert_string_equal(wm_tally_row_at(tally, 1)->file, "a.cu");
    assert_string_equal(wm_tally_row_at(tally, 2)->file, "b.cu");
    assert_null(wm_tally_row_at(tally, 3));
    wm_tally_free(tally);
    wm_arch_close(arch);
}

static void rows_keep_their_kernels_source(void **state)
{
    char source[] = "a.cu";
    struct wm_kernel kernel = {.name = "k", .source = source};
    struct wm_access access = access_of("ld.global.b32");
    const struct wm_counts counts = {.sectors = 4};
    wm_arch *arch = open_arch("sm_90");

    (void)state;
    access.kernel = &kernel;
    for (int by = WM_BY_KERNEL; by <= WM_BY_OPCODE; by++) {
        wm_tally *tally, *all;

        assert_int_equal(wm_tally_new(arch, (enum wm_by)by, &tally), WM_OK);
        assert_int_equal(wm_tally_new(arch, (enum wm_by)by, &all), WM_OK);
        strcpy(source, "a.cu");
        assert_int_equal(wm_tally_add(tally, &access, &counts), WM_OK);
        strcpy(source, "b.cu");
        assert_int_equal(wm_tally_add(tally, &access, &counts), WM_OK);
        assert_int_equal(wm_tally_merge(all, tally), WM_OK);
        wm_tally_free(tally);
        assert_null(wm_tally_row_at(all, 1));
        if (by == WM_BY_OPCODE)
            assert_null(wm_tally_row_at(all, 0)->source);
        else
            assert_string_equal(wm_tally_row_at(all, 0)->source, "a.cu");
        wm_tally_free(all);
    }
    wm_arch_close(arch);
}

static void a_pc_shows_its_line_unless_accesses_disagree(void **state)
{
    struct wm_access access = access_of("ld.global.b32");
    const struct wm_counts counts = {.sectors = 4};
    wm_arch *arch = open_arch("sm_90");
    wm_tally *tally;

    (void)state;
    access.file = "a.cu";
    access.line = 7;
    access.pc = 0x10;
    assert_int_equal(wm_tally_new(arch, WM_BY_PC, &tally), WM_OK);
    assert_int_equal(wm_tally_add(tally, &access, &counts), WM_OK);
    assert_int_equal(wm_tally_add(tally, &access, &counts), WM_OK);
    assert_string_equal(wm_tally_row_at(tally, 0)->file, "a.cu");
    assert_int_equal(wm_tally_row_at(tally, 0)->line, 7);
    access.line = 8;
    assert_int_equal(wm_tally_add(tally, &access, &counts), WM_OK);
    assert_null(wm_tally_row_at(tally, 0)->file);
    assert_int_equal(wm_tally_row_at(tally, 0)->line, 0);
    assert_int_equal(wm_tally_row_at(tally, 0)->instructions, 3);
    assert_null(wm_tally_row_at(tally, 1));
    wm_tally_free(tally);
    wm_arch_close(arch);
}

static void the_worst_is_the_first_of_the_largest_waste(void **state)
{
    struct wm_access access = access_of("ld.global.b32");
    const struct wm_counts some[] = {
        {.sectors = 4, .sectors_ideal = 4},
        {.sectors = 8, .sectors_ideal = 4, .tag_wavefronts = 1},
        {.sectors = 9, .sectors_ideal = 5, .tag_wavefronts = 2}, /* as wasteful, more passes */
        {.sectors = 9, .sectors_ideal = 5, .tag_wavefronts = 2}, /* the same again */
        {.sectors = 32, .sectors_ideal = 30, .tag_wavefronts = 8},
    };
    wm_arch *arch = open_arch("sm_90");
    wm_tally *tally;

    (void)state;
    assert_int_equal(wm_tally_new(arch, WM_BY_OPCODE, &tally), WM_OK);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        access.address[0] = i;
        assert_int_equal(wm_tally_add(tally, &access, &some[i]), WM_OK);
    }
    assert_int_equal(wm_tally_row_at(tally, 0)->worst.address[0], 2);
    wm_tally_free(tally);
    wm_arch_close(arch);
}

static void sums_that_do_not_fit_are_refused(void **state)
{
    struct wm_access access = access_of("ld.global.b32");
    const struct wm_counts counts = {.sectors = 4, .ways = 1};
    wm_arch *arch = open_arch("sm_90");
    wm_tally *tally, *other;

    (void)state;
    access.mask = 1;
    assert_int_equal(wm_tally_new(arch, WM_BY_OPCODE, &tally), WM_OK);
    assert_int_equal(wm_tally_new(arch, WM_BY_OPCODE, &other), WM_OK);
    /* bytes and sectors are 4 an access: 2^63 - 1 is reached by 2^61 */
    access.count = UINT64_C(1) << 61;
    assert_int_equal(wm_tally_add(tally, &access, &counts), WM_E_RANGE);
    assert_null(wm_tally_row_at(tally, 0));
    access.count--;
    assert_int_equal(wm_tally_add(tally, &access, &counts), WM_OK);
    assert_true(wm_tally_row_at(tally, 0)->sums[WM_SECTORS] == (UINT64_C(1) << 63) - 4);
    access.count = 1;
    assert_int_equal(wm_tally_add(tally, &access, &counts), WM_E_RANGE);
    assert_true(wm_tally_row_at(tally, 0)->sums[WM_SECTORS] == (UINT64_C(1) << 63) - 4);
    assert_true(wm_tally_row_at(tally, 0)->instructions == (UINT64_C(1) << 61) - 1);
    assert_int_equal(wm_tally_add(other, &access, &counts), WM_OK);
    assert_int_equal(wm_tally_merge(tally, other), WM_E_RANGE);
    assert_int_equal(wm_tally_merge(other, tally), WM_E_RANGE);
    access.count = UINT64_MAX;
    assert_int_equal(wm_tally_add(other, &access, &counts), WM_E_RANGE);
    wm_tally_free(tally);
    wm_tally_free(other);
    wm_arch_close(arch);
}

static void large_counts_sum_like_small_ones(void **state)
{
    struct wm_access access = access_of("ld.global.b32");
    const struct wm_counts counts = {.sectors = 3, .lines = 2, .ways = 5};
    const uint64_t steps[] = {INT32_MAX, 1, (uint64_t)INT32_MAX + 1, UINT32_MAX, 7, UINT64_C(1) << 40};
    wm_arch *arch = open_arch("sm_90");
    uint64_t all = 0;
    wm_tally *tally;

    (void)state;
    assert_int_equal(wm_tally_new(arch, WM_BY_OPCODE, &tally), WM_OK);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        access.count = steps[i];
        all += steps[i];
        assert_int_equal(wm_tally_add(tally, &access, &counts), WM_OK);
        assert_true(wm_tally_row_at(tally, 0)->instructions == all);
        assert_true(wm_tally_row_at(tally, 0)->lanes == 32 * all);
        assert_true(wm_tally_row_at(tally, 0)->bytes == 128 * all);
        assert_true(wm_tally_row_at(tally, 0)->sums[WM_SECTORS] == 3 * all);
        assert_true(wm_tally_row_at(tally, 0)->sums[WM_LINES] == 2 * all);
        assert_int_equal(wm_tally_row_at(tally, 0)->sums[WM_WAYS], 5);
    }
    wm_tally_free(tally);
    wm_arch_close(arch);
}

static void groups_have_a_limit(void **state)
{
    const uint64_t limit = 131072;
    struct wm_access access = access_of("ld.global.b32");
    const struct wm_counts counts = {.sectors = 4};
    wm_arch *arch = open_arch("sm_90");
    wm_tally *tally;

    (void)state;
    assert_int_equal(wm_tally_new(arch, WM_BY_PC, &tally), WM_OK);
    for (access.pc = 0; access.pc < limit; access.pc++)
        assert_int_equal(wm_tally_add(tally, &access, &counts), WM_OK);
    assert_int_equal(wm_tally_add(tally, &access, &counts), WM_E_RANGE);
    /* what is there already still grows */
    access.pc = 77;
    assert_int_equal(wm_tally_add(tally, &access, &counts), WM_OK);
    assert_int_equal(wm_tally_row_at(tally, 77)->instructions, 2);
    assert_int_equal(wm_tally_row_at(tally, limit - 1)->pc, limit - 1);
    assert_null(wm_tally_row_at(tally, limit));
    wm_tally_free(tally);
    wm_arch_close(arch);
}

static void bad_arguments_are_refused(void **state)
{
    struct wm_access access = access_of("ld.global.b32");
    const struct wm_counts counts = {.sectors = 4};
    wm_arch *arch = open_arch("sm_90");
    wm_tally *lines, *opcodes;

    (void)state;
    assert_int_equal(wm_tally_new(NULL, WM_BY_LINE, &lines), WM_E_ARGUMENT);
    assert_int_equal(wm_tally_new(arch, (enum wm_by)4, &lines), WM_E_ARGUMENT);
    assert_int_equal(wm_tally_new(arch, WM_BY_LINE, NULL), WM_E_ARGUMENT);
    assert_int_equal(wm_tally_new(arch, WM_BY_LINE, &lines), WM_OK);
    assert_int_equal(wm_tally_new(arch, WM_BY_OPCODE, &opcodes), WM_OK);
    assert_int_equal(wm_tally_merge(lines, opcodes), WM_E_ARGUMENT);
    assert_int_equal(wm_tally_merge(lines, NULL), WM_E_ARGUMENT);
    assert_int_equal(wm_tally_add(lines, NULL, &counts), WM_E_ARGUMENT);
    access.count = 0;
    assert_int_equal(wm_tally_add(lines, &access, &counts), WM_E_ARGUMENT);
    /* no kernel is a kernel without a name */
    access.count = 1;
    assert_int_equal(wm_tally_add(lines, &access, &counts), WM_OK);
    assert_string_equal(wm_tally_row_at(lines, 0)->kernel, "");
    wm_tally_free(lines);
    wm_tally_free(opcodes);
    wm_tally_free(NULL);
    wm_arch_close(arch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_a_list),
        cmocka_unit_test(merging_pieces_in_order_is_adding_all),
        cmocka_unit_test(names_are_copied),
        cmocka_unit_test(rows_keep_their_kernels_source),
        cmocka_unit_test(a_pc_shows_its_line_unless_accesses_disagree),
        cmocka_unit_test(the_worst_is_the_first_of_the_largest_waste),
        cmocka_unit_test(sums_that_do_not_fit_are_refused),
        cmocka_unit_test(large_counts_sum_like_small_ones),
        cmocka_unit_test(groups_have_a_limit),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    const char *seed = getenv("WARPMEM_SEED");

    random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL);
    printf("# WARPMEM_SEED=%llu\n", (unsigned long long)random_state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
