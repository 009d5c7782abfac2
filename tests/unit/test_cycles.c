/* Predicted cycles against recorded ones (traces/hardware/sm_90): how far off, by kind of access. The rates were
 * fitted on accesses of other seeds; the bounds are what is promised of them. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sheet.h"
#include "warpmem.h"

#define FOLDER "traces/hardware/sm_90"
#define MOST 4096

enum kind {
    SHARED,
    LOADS,
    PAST_L1,
    EVICT_FIRST,
    STORES,
    REDS,
    ATOMS,
    COPIES,
    BYPASSES,
    LOCAL_LOADS,
    LOCAL_STORES,
    KINDS
};

static const char *const kind_names[KINDS] = {
    [SHARED] = "shared memory",
    [LOADS] = "loads of .ca, .nc, no operator",
    [PAST_L1] = "loads of .cg, .cv",
    [EVICT_FIRST] = "loads of .cs, .lu",
    [STORES] = "stores",
    [REDS] = "red",
    [ATOMS] = "atom",
    [COPIES] = "cp.async.ca",
    [BYPASSES] = "cp.async.cg",
    [LOCAL_LOADS] = "local loads",
    [LOCAL_STORES] = "local stores",
};

/* At most, in per mille; 0: nothing is promised. */
struct promise {
    unsigned median, p95;
};

struct errors {
    double values[MOST];
    size_t count;
};

struct timed {
    struct errors throughput[KINDS];
    struct errors latency[KINDS];
    size_t exact, exact_far; /* predictions that claim to be exact; those more than 15 % off */
};

static int kind_of(const struct wm_opcode *opcode)
{
    if (opcode->space == WM_CONST)
        return -1;
    if (opcode->space == WM_SHARED)
        return SHARED;
    if (opcode->space == WM_LOCAL)
        return opcode->operation == WM_LD ? LOCAL_LOADS : LOCAL_STORES;
    switch (opcode->operation) {
    case WM_ST: return STORES;
    case WM_RED: return REDS;
    case WM_ATOM: return ATOMS;
    case WM_CP_ASYNC: return opcode->cache == WM_CACHE_CG ? BYPASSES : COPIES;
    default: break;
    }
    if (opcode->cache == WM_CACHE_CG || opcode->cache == WM_CACHE_CV)
        return PAST_L1;
    return opcode->cache == WM_CACHE_CS || opcode->cache == WM_CACHE_LU ? EVICT_FIRST : LOADS;
}

static void add(struct errors *errors, double predicted, const char *text)
{
    const double measured = strtod(text, NULL);

    if (!(measured > 0))
        return;
    assert_true(errors->count < MOST);
    assert_true(predicted > 0);
    errors->values[errors->count++] = (predicted > measured ? predicted - measured : measured - predicted) / measured;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* In per mille, rounded up; nearest rank. */
static unsigned quantile(struct errors *errors, unsigned percent)
{
    qsort(errors->values, errors->count, sizeof *errors->values, by_value);
    return (unsigned)(errors->values[(errors->count * percent + 99) / 100 - 1] * 1000) + 1;
}

static wm_arch *open_arch(const char *name)
{
    wm_arch *arch = NULL;

    assert_int_equal(wm_arch_open(name, &arch, NULL), WM_OK);
    return arch;
}

static struct wm_access access_of(const char *opcode, enum wm_l1 l1, uint64_t base, uint64_t stride)
{
    struct wm_access access;

    memset(&access, 0, sizeof access);
    assert_int_equal(wm_opcode_parse(opcode, strlen(opcode), &access.opcode, NULL), WM_OK);
    access.mask = UINT32_MAX;
    access.count = 1;
    access.l1 = l1;
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        access.address[lane] = base + lane * stride;
        access.shared_address[lane] = (uint32_t)(lane * access.opcode.width_bytes);
    }
    return access;
}

static struct wm_cycles cycles_of(const wm_arch *arch, const struct wm_access *access)
{
    struct wm_counts counts;
    struct wm_cycles cycles;

    assert_int_equal(wm_model(arch, access, &counts), WM_OK);
    assert_int_equal(wm_cycles(arch, access, &counts, &cycles), WM_OK);
    return cycles;
}

/* Reads NAME.wmt and NAME.csv; cycles_1_warp is a latency or nothing that is compared. */
static void compare(const char *name, enum wm_l1 l1, int has_latency, struct timed *timed)
{
    const struct wm_reader_options options = {.l1 = l1};
    wm_arch *arch = open_arch("sm_90");
    wm_reader *reader = NULL;
    struct wm_access access;
    char relative[256];
    struct sheet *sheet;
    char *path;
    int one_warp, full_block;

    memset(timed, 0, sizeof *timed);
    snprintf(relative, sizeof relative, FOLDER "/%s.csv", name);
    path = sheet_path(relative);
    sheet = sheet_read(path);
    free(path);
    assert_non_null(sheet);
    one_warp = sheet_column(sheet, "cycles_1_warp");
    full_block = sheet_column(sheet, "cycles_32_warps");
    assert_true(one_warp >= 0 && full_block >= 0);
    snprintf(relative, sizeof relative, FOLDER "/%s.wmt", name);
    path = sheet_path(relative);
    assert_int_equal(wm_reader_open(path, &options, &reader, NULL), WM_OK);
    free(path);
    for (size_t row = 0; wm_reader_next(reader, &access, NULL) == WM_OK; row++) {
        const struct wm_cycles cycles = cycles_of(arch, &access);
        const int kind = kind_of(&access.opcode);
        const char *measured = sheet_cell(sheet, row, (size_t)full_block);

        assert_true(row < sheet->rows);
        if (kind < 0)
            continue;
        add(&timed->throughput[kind], cycles.throughput, measured);
        if (cycles.exactness == WM_EXACT && strtod(measured, NULL) > 0) {
            struct errors *errors = &timed->throughput[kind];

            timed->exact++;
            timed->exact_far += errors->values[errors->count - 1] > 0.15;
        }
        if (!has_latency)
            continue;
        /* what has a result has a latency, and nothing else has */
        if (strtod(measured, NULL) > 0)
            assert_int_equal(cycles.latency > 0, strtod(sheet_cell(sheet, row, (size_t)one_warp), NULL) > 0);
        if (cycles.latency > 0)
            add(&timed->latency[kind], cycles.latency, sheet_cell(sheet, row, (size_t)one_warp));
    }
    wm_reader_close(reader);
    sheet_free(sheet);
    wm_arch_close(arch);
}

static void check(const char *name, const char *what, struct errors errors[KINDS], const struct promise promises[KINDS])
{
    for (int kind = 0; kind < KINDS; kind++) {
        unsigned median, p95;

        if (!errors[kind].count) {
            assert_int_equal(promises[kind].median, 0);
            continue;
        }
        median = quantile(&errors[kind], 50);
        p95 = quantile(&errors[kind], 95);
        print_message("# %s, %s, %s: %zu, median %u.%u %%, 95 %% %u.%u %%\n", name, what, kind_names[kind],
                      errors[kind].count, median / 10, median % 10, p95 / 10, p95 % 10);
        if (promises[kind].median) {
            assert_true(median <= promises[kind].median);
            assert_true(p95 <= promises[kind].p95);
        }
    }
}

static struct timed timed; /* too large for a stack */

static void repeated_accesses(void **state)
{
    static const struct promise throughput[KINDS] = {
        [SHARED] = {10, 50}, [LOADS] = {20, 100}, [PAST_L1] = {40, 300}, [STORES] = {10, 60},
        [REDS] = {20, 300},  [ATOMS] = {30, 350}, [COPIES] = {30, 200},  [LOCAL_LOADS] = {10, 80},
    };
    static const struct promise latency[KINDS] = {
        [SHARED] = {20, 90}, [LOADS] = {20, 30}, [PAST_L1] = {80, 150}, [COPIES] = {30, 120}, [LOCAL_LOADS] = {20, 60},
    };

    (void)state;
    compare("cycles", WM_L1_HIT, 1, &timed);
    check("cycles", "throughput", timed.throughput, throughput);
    check("cycles", "latency", timed.latency, latency);
    assert_true(timed.exact > 1000);
    assert_true(20 * timed.exact_far <= timed.exact);
}

static void accesses_on_lines_of_their_own(void **state)
{
    static const struct promise throughput[KINDS] = {
        [SHARED] = {10, 50}, [LOADS] = {20, 100}, [PAST_L1] = {20, 120}, [STORES] = {10, 80},
        [REDS] = {10, 80},   [ATOMS] = {40, 300}, [COPIES] = {60, 300},  [LOCAL_LOADS] = {10, 60},
    };
    static const struct promise latency[KINDS] = {
        [SHARED] = {20, 90}, [LOADS] = {40, 200}, [PAST_L1] = {40, 250}, [ATOMS] = {60, 250}, [COPIES] = {60, 200},
    };

    (void)state;
    compare("cycles-miss", WM_L1_MISS, 1, &timed);
    check("cycles-miss", "throughput", timed.throughput, throughput);
    check("cycles-miss", "latency", timed.latency, latency);
    assert_true(timed.exact > 800);
    assert_true(20 * timed.exact_far <= timed.exact);
}

/* Taken by another program, where starting and ending take their share: up to a tenth of a cycle each. */
static void cycles_of_another_program(void **state)
{
    static const struct promise throughput[KINDS] = {
        [SHARED] = {50, 150}, [LOADS] = {100, 250}, [STORES] = {50, 150},
        [REDS] = {50, 300},   [ATOMS] = {80, 350},  [COPIES] = {80, 300},
    };

    (void)state;
    compare("h200-random", WM_L1_HIT, 0, &timed);
    check("h200-random", "throughput", timed.throughput, throughput);
}

/* What bounds each, where the measured time leaves no doubt. */
static void bounds(void **state)
{
    static const struct {
        const char *opcode;
        uint64_t stride;
        enum wm_l1 l1;
        enum wm_bound bound;
        uint32_t inactive;
    } cases[] = {
        {"ld.shared.b32", 4, WM_L1_HIT, WM_BOUND_ISSUE, 0},
        {"ld.shared.b32", 8, WM_L1_HIT, WM_BOUND_SHARED, 0},
        {"ld.shared.v4.b32", 16, WM_L1_HIT, WM_BOUND_SHARED, 0},
        {"ld.global.b32", 4, WM_L1_HIT, WM_BOUND_ISSUE, 0},
        {"ld.global.b32", 128, WM_L1_HIT, WM_BOUND_DATA, 0},
        {"ld.global.b32", 132, WM_L1_HIT, WM_BOUND_TAG, 0},
        {"ld.global.b32", 132, WM_L1_MISS, WM_BOUND_L2, 0},
        {"ld.global.v4.b32", 0, WM_L1_HIT, WM_BOUND_WRITE_BACK, 0xfffffffe},
        {"st.global.b32", 128, WM_L1_MISS, WM_BOUND_L2, 0},
        {"red.global.add.u32", 4, WM_L1_HIT, WM_BOUND_ATOMIC, 0},
        {"ld.const.b32", 4, WM_L1_HIT, WM_BOUND_NONE, 0},
    };
    wm_arch *arch = open_arch("sm_90");

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wm_access access = access_of(cases[i].opcode, cases[i].l1, 0x40000000, cases[i].stride);
        struct wm_access shared = access;
        struct wm_cycles cycles;

        if (access.opcode.space == WM_SHARED)
            shared = access_of(cases[i].opcode, cases[i].l1, 0, cases[i].stride);
        shared.mask &= ~cases[i].inactive;
        cycles = cycles_of(arch, &shared);
        if (cycles.bound != cases[i].bound)
            fail_msg("%s with stride %" PRIu64 ": %s", cases[i].opcode, cases[i].stride, wm_bound_text(cycles.bound));
        assert_int_equal(cycles.bound == WM_BOUND_NONE, cycles.throughput == 0);
    }
    for (int bound = WM_BOUND_NONE; bound < WM_BOUNDS; bound++)
        assert_non_null(wm_bound_text((enum wm_bound)bound));
    assert_null(wm_bound_text(WM_BOUNDS));
    wm_arch_close(arch);
}

/* Figures of the H200 for accesses that everybody knows, to a twentieth of a cycle. */
static void whole_lines(void **state)
{
    static const struct {
        const char *opcode;
        uint64_t stride;
        enum wm_l1 l1;
        double cycles;
    } cases[] = {
        {"ld.shared.b32", 128, WM_L1_HIT, 32},       {"st.shared.b32", 4, WM_L1_HIT, 1},
        {"atom.shared.add.u32", 0, WM_L1_HIT, 32},   {"ld.global.b32", 128, WM_L1_HIT, 32},
        {"ld.global.b32", 132, WM_L1_MISS, 33},      {"st.global.b32", 4, WM_L1_MISS, 4},
        {"st.global.v4.b32", 16, WM_L1_MISS, 16},    {"st.global.b32", 128, WM_L1_MISS, 64},
        {"st.local.b32", 0, WM_L1_MISS, 4},          {"red.global.add.u32", 4, WM_L1_MISS, 5},
        {"red.global.add.u32", 128, WM_L1_MISS, 32},
    };
    wm_arch *arch = open_arch("sm_90");

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wm_access access = access_of(cases[i].opcode, cases[i].l1, 0, cases[i].stride);
        double cycles = cycles_of(arch, &access).throughput;

        if (cycles < cases[i].cycles - 1.05 || cycles > cases[i].cycles + 0.05)
            fail_msg("%s with stride %" PRIu64 ": %g", cases[i].opcode, cases[i].stride, cycles);
    }
    wm_arch_close(arch);
}

static void trust(void **state)
{
    wm_arch *arch = open_arch("sm_90"), *other = open_arch("sm_80");
    struct wm_access access = access_of("ld.shared.b32", WM_L1_HIT, 0, 4);
    struct wm_counts counts;
    struct wm_cycles cycles;

    (void)state;
    assert_int_equal(cycles_of(arch, &access).exactness, WM_EXACT);
    assert_int_equal(cycles_of(other, &access).exactness, WM_BY_ASSUMPTION);
    access = access_of("cp.async.cg.16", WM_L1_HIT, 0, 16);
    assert_int_equal(cycles_of(arch, &access).exactness, WM_APPROXIMATE);
    access = access_of("ld.global.cs.b32", WM_L1_MISS, 0, 4);
    assert_int_equal(cycles_of(arch, &access).exactness, WM_APPROXIMATE);
    access = access_of("ld.global.cs.b32", WM_L1_HIT, 0, 4);
    assert_int_equal(cycles_of(arch, &access).exactness, WM_EXACT);
    access.mask = 0;
    cycles = cycles_of(arch, &access);
    assert_true(cycles.throughput > 0.9 && cycles.throughput < 1.1);
    assert_true(cycles.latency == 0);

    assert_int_equal(wm_model(arch, &access, &counts), WM_OK);
    assert_int_equal(wm_cycles(NULL, &access, &counts, &cycles), WM_E_ARGUMENT);
    assert_int_equal(wm_cycles(arch, NULL, &counts, &cycles), WM_E_ARGUMENT);
    assert_int_equal(wm_cycles(arch, &access, NULL, &cycles), WM_E_ARGUMENT);
    assert_int_equal(wm_cycles(arch, &access, &counts, NULL), WM_E_ARGUMENT);
    access.opcode.width_bytes = 3;
    assert_int_equal(wm_cycles(arch, &access, &counts, &cycles), WM_E_ARGUMENT);
    wm_arch_close(other);
    wm_arch_close(arch);
}

/* A row's cycles are at least those of its busiest unit: never more than its accesses one after the other, and no
 * less than what the same accesses would cost at their ideals. */
static void rows(void **state)
{
    const struct wm_reader_options options = {.l1 = WM_L1_MISS};
    wm_arch *arch = open_arch("sm_90");
    char *path = sheet_path(FOLDER "/cycles-miss.wmt");
    double sums[256] = {0};
    const struct wm_tally_row *row;
    struct wm_row_cycles cycles;
    wm_reader *reader = NULL;
    wm_tally *tally = NULL;
    struct wm_access access;
    size_t n = 0;

    (void)state;
    assert_int_equal(wm_tally_new(arch, WM_BY_OPCODE, &tally), WM_OK);
    assert_int_equal(wm_reader_open(path, &options, &reader, NULL), WM_OK);
    free(path);
    while (wm_reader_next(reader, &access, NULL) == WM_OK) {
        struct wm_counts counts;

        access.count = 3;
        assert_int_equal(wm_model(arch, &access, &counts), WM_OK);
        assert_int_equal(wm_tally_add(tally, &access, &counts), WM_OK);
        for (n = 0; memcmp(&wm_tally_row_at(tally, n)->opcode, &access.opcode, sizeof access.opcode) != 0;)
            n++;
        assert_true(n < sizeof sums / sizeof *sums);
        sums[n] += 3 * cycles_of(arch, &access).throughput;
    }
    for (n = 0; (row = wm_tally_row_at(tally, n)) != NULL; n++) {
        assert_int_equal(wm_cycles_row(arch, row, &cycles), WM_OK);
        assert_true(cycles.cycles <= sums[n] * 1.0001);
        assert_true(cycles.ideal <= cycles.cycles);
        assert_true(cycles.units[cycles.bound] == cycles.cycles);
        for (int unit = 0; unit < WM_BOUNDS; unit++)
            assert_true(cycles.units[unit] <= cycles.cycles);
        assert_int_equal(cycles.cycles > 0, row->opcode.space != WM_CONST);
    }
    assert_true(n > 50);
    assert_int_equal(wm_cycles_row(NULL, wm_tally_row_at(tally, 0), &cycles), WM_E_ARGUMENT);
    assert_int_equal(wm_cycles_row(arch, NULL, &cycles), WM_E_ARGUMENT);
    assert_int_equal(wm_cycles_row(arch, wm_tally_row_at(tally, 0), NULL), WM_E_ARGUMENT);
    wm_reader_close(reader);
    wm_tally_free(tally);
    wm_arch_close(arch);
}

/* ------------------------------------------------------------------------------------------------------- write-back */

/* Every record counts what the model says. */
static void check_write_back(const char *name, enum wm_l1 l1)
{
    const struct wm_reader_options options = {.l1 = l1};
    wm_arch *arch = open_arch("sm_90");
    wm_reader *reader = NULL;
    struct wm_access access;
    char relative[256];
    struct sheet *sheet;
    size_t compared = 0;
    char *path;
    int column;

    snprintf(relative, sizeof relative, FOLDER "/%s.csv", name);
    path = sheet_path(relative);
    sheet = sheet_read(path);
    free(path);
    assert_non_null(sheet);
    column = sheet_column(sheet, "lsu_writeback");
    assert_true(column >= 0);
    snprintf(relative, sizeof relative, FOLDER "/%s.wmt", name);
    path = sheet_path(relative);
    assert_int_equal(wm_reader_open(path, &options, &reader, NULL), WM_OK);
    free(path);
    for (size_t row = 0; wm_reader_next(reader, &access, NULL) == WM_OK; row++) {
        struct wm_counts counts;
        uint64_t measured;

        assert_int_equal(wm_model(arch, &access, &counts), WM_OK);
        assert_true(sheet_number(sheet_cell(sheet, row, (size_t)column), &measured));
        if (measured != counts.lsu_writeback || (counts.inexact >> WM_LSU_WRITEBACK & 1))
            fail_msg("%s: record %zu: measured %" PRIu64 ", model %" PRIu32, name, row, measured, counts.lsu_writeback);
        assert_int_equal(wm_arch_exactness(arch, &access.opcode, WM_LSU_WRITEBACK), WM_EXACT);
        compared++;
    }
    assert_true(compared > 500);
    wm_reader_close(reader);
    sheet_free(sheet);
    wm_arch_close(arch);
}

static void results_are_written_back_as_recorded(void **state)
{
    (void)state;
    check_write_back("write-back-hit", WM_L1_HIT);
    check_write_back("write-back-miss", WM_L1_MISS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_accesses),
        cmocka_unit_test(accesses_on_lines_of_their_own),
        cmocka_unit_test(cycles_of_another_program),
        cmocka_unit_test(bounds),
        cmocka_unit_test(whole_lines),
        cmocka_unit_test(trust),
        cmocka_unit_test(rows),
        cmocka_unit_test(results_are_written_back_as_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
