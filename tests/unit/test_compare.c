/* Comparing recorded counters: the comparison itself, the list of known disagreements, and the files that both are in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "validate.h"

/* ----------------------------------------------------------------------------------------------------------- helpers */

static char folder[] = "/tmp/warpmem-compare-XXXXXX";
static char path_buffer[256];

static const char *path_of(const char *name)
{
    snprintf(path_buffer, sizeof path_buffer, "%s/%s", folder, name);
    return path_buffer;
}

static void write_bytes(const char *name, const char *bytes, size_t length)
{
    FILE *file = fopen(path_of(name), "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void write_file(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"a.csv", "a.meta", "known-mismatches.csv", "sub/b.csv"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    rmdir(path_of("sub"));
    return rmdir(folder);
}

static struct wm_access access_of(const char *opcode)
{
    struct wm_access access;

    memset(&access, 0, sizeof access);
    assert_int_equal(wm_opcode_parse(opcode, strlen(opcode), &access.opcode, NULL), WM_OK);
    access.mask = UINT32_MAX;
    access.count = 1;
    access.pc = WM_NO_PC;
    return access;
}

/* Measured values of two counters. */
static struct measured sectors_and_lines(uint64_t sectors, uint64_t lines)
{
    struct measured measured = {.has = 1u << WM_SECTORS | 1u << WM_LINES};

    measured.values[WM_SECTORS] = sectors;
    measured.values[WM_LINES] = lines;
    return measured;
}

/* --------------------------------------------------------------------------------------------------------- comparison */

static void values_are_compared_by_opcode_and_counter(void **state)
{
    struct comparison comparison = {.mismatch_limit = 1};
    const struct wm_access load = access_of("ld.global.b32");
    const struct wm_access store = access_of("st.global.b32");
    const struct wm_counts predicted = {.sectors = 4, .lines = 1, .requests = 9};
    const struct measured same = sectors_and_lines(4, 1);
    const struct measured other = sectors_and_lines(5, 2);

    (void)state;
    assert_int_equal(comparison_add(&comparison, 0, &load, &predicted, &same), WM_OK);
    assert_int_equal(comparison_add(&comparison, 1, &store, &predicted, &other), WM_OK);
    assert_int_equal(comparison_add(&comparison, 2, &load, &predicted, &other), WM_OK);
    assert_int_equal(comparison.row_count, 2);
    assert_string_equal(comparison.rows[0].text, "ld.global.b32");
    assert_int_equal(comparison.rows[0].cells[WM_SECTORS].compared, 2);
    assert_int_equal(comparison.rows[0].cells[WM_SECTORS].agreeing, 1);
    assert_int_equal(comparison.rows[1].cells[WM_LINES].compared, 1);
    assert_int_equal(comparison.rows[1].cells[WM_LINES].agreeing, 0);
    /* what was not measured is not compared */
    assert_int_equal(comparison.rows[0].cells[WM_REQUESTS].compared, 0);
    assert_int_equal(comparison.records, 3);
    assert_int_equal(comparison.compared, 6);
    assert_int_equal(comparison.agreeing, 2);
    assert_int_equal(comparison.unlisted, 4);
    assert_int_equal(comparison.mismatch_count, 1);
    assert_int_equal(comparison.mismatches[0].index, 1);
    assert_int_equal(comparison.mismatches[0].counter, WM_LINES);
    assert_int_equal(comparison.mismatches[0].predicted, 1);
    assert_int_equal(comparison.mismatches[0].measured, 2);
    comparison_free(&comparison);
}

static void what_the_model_does_not_know_is_not_compared(void **state)
{
    struct comparison comparison = {.mismatch_limit = 1};
    const struct wm_access load = access_of("ld.global.b32");
    const struct wm_counts predicted = {.sectors = 4, .lines = 1, .inexact = 1u << WM_SECTORS};
    const struct measured other = sectors_and_lines(5, 1);

    (void)state;
    assert_int_equal(comparison_add(&comparison, 0, &load, &predicted, &other), WM_OK);
    assert_int_equal(comparison.rows[0].cells[WM_SECTORS].compared, 0);
    assert_int_equal(comparison.rows[0].cells[WM_SECTORS].inexact, 1);
    assert_int_equal(comparison.rows[0].cells[WM_LINES].agreeing, 1);
    assert_int_equal(comparison.inexact, 1);
    assert_int_equal(comparison.unlisted, 0);
    comparison_free(&comparison);
}

static void cells_of_zeros_are_known_as_such(void **state)
{
    struct comparison comparison = {0};
    const struct wm_access load = access_of("ld.shared.b32");
    const struct wm_counts nothing = {0};
    struct measured zeros = sectors_and_lines(0, 0);

    (void)state;
    assert_int_equal(comparison_add(&comparison, 0, &load, &nothing, &zeros), WM_OK);
    assert_true(comparison.rows[0].cells[WM_SECTORS].is_zero);
    zeros.values[WM_SECTORS] = 1;
    assert_int_equal(comparison_add(&comparison, 1, &load, &nothing, &zeros), WM_OK);
    assert_false(comparison.rows[0].cells[WM_SECTORS].is_zero);
    assert_true(comparison.rows[0].cells[WM_LINES].is_zero);
    comparison_free(&comparison);
}

/* ------------------------------------------------------------------------------------------------ known disagreements */

static const char list[] = "arch,opcode,counter,measurement,index,reason\n"
                           "sm_90,st.global.b32,sectors,a,7,one record\n"
                           "sm_90,ld.global.b32,sectors,a,,all of them\n"
                           "sm_80,ld.global.b32,lines,a,,another GPU\n"
                           "sm_90,ld.global.b32,lines,other,,another measurement\n"
                           "sm_90,,ld_sectors,,kernel,\"a kernel's sum, quoted\"\n";

static void entries_are_of_one_gpu_and_measurement(void **state)
{
    struct known_list known;
    struct wm_diag diag;

    (void)state;
    write_file("a.csv", "index,sectors\n");
    write_file("known-mismatches.csv", list);
    assert_int_equal(known_open(NULL, "sm_90", path_of("a.csv"), &known, &diag), WM_OK);
    assert_int_equal(known.count, 3);
    assert_string_equal(known.entries[2].reason, "a kernel's sum, quoted");
    assert_int_equal(known.entries[2].line, 6);
    assert_non_null(known_find(&known, "st.global.b32", "sectors", "7"));
    assert_null(known_find(&known, "st.global.b32", "sectors", "8"));
    assert_non_null(known_find(&known, "ld.global.b32", "sectors", "8"));
    assert_null(known_find(&known, "ld.global.b32", "lines", "8"));
    assert_non_null(known_find(&known, "", "ld_sectors", "kernel"));
    known_free(&known);
}

static void the_list_is_looked_for_in_folders_above(void **state)
{
    struct known_list known;
    struct wm_diag diag;

    (void)state;
    assert_int_equal(mkdir(path_of("sub"), 0700), 0);
    write_file("sub/b.csv", "index,sectors\n");
    write_file("known-mismatches.csv", "arch,opcode,counter,measurement,reason\n"
                                       "sm_90,ld.global.b32,sectors,sub/b,by folder and name\n"
                                       "sm_90,ld.global.b32,lines,b,by name\n"
                                       "sm_90,ld.global.b32,requests,ub/b,not by whole names\n");
    assert_int_equal(known_open(NULL, "sm_90", path_of("sub/b.csv"), &known, &diag), WM_OK);
    assert_int_equal(known.count, 2);
    known_free(&known);
}

static void a_listed_disagreement_is_no_failure_until_it_is_gone(void **state)
{
    struct known_list known;
    struct comparison comparison = {.known = &known, .mismatch_limit = 10};
    const struct wm_access load = access_of("ld.global.b32");
    const struct wm_access store = access_of("st.global.b32");
    const struct wm_counts predicted = {.sectors = 4, .lines = 1};
    const struct measured same = sectors_and_lines(4, 1);
    const struct measured other = sectors_and_lines(5, 1);
    struct wm_diag diag;

    (void)state;
    write_file("known-mismatches.csv", list);
    assert_int_equal(known_open(path_of("known-mismatches.csv"), "sm_90", folder, &known, &diag), WM_OK);
    known_free(&known);
    write_file("a.csv", "index,sectors\n");
    assert_int_equal(known_open(NULL, "sm_90", path_of("a.csv"), &known, &diag), WM_OK);
    /* listed for all loads: one that agrees does no harm */
    assert_int_equal(comparison_add(&comparison, 0, &load, &predicted, &other), WM_OK);
    assert_int_equal(comparison_add(&comparison, 1, &load, &predicted, &same), WM_OK);
    assert_int_equal(comparison.unlisted, 0);
    assert_int_equal(comparison.rows[0].cells[WM_SECTORS].known, 1);
    /* listed for one store, and not for the next */
    assert_int_equal(comparison_add(&comparison, 7, &store, &predicted, &same), WM_OK);
    assert_int_equal(comparison_add(&comparison, 8, &store, &predicted, &other), WM_OK);
    assert_int_equal(comparison.unlisted, 1);
    assert_int_equal(comparison.mismatches[0].index, 8);
    assert_null(known_failure(&known.entries[1]));
    assert_non_null(strstr(known_failure(&known.entries[0]), "agree"));
    /* the kernel never came */
    assert_non_null(strstr(known_failure(&known.entries[2]), "no such value"));
    comparison_free(&comparison);
    known_free(&known);
}

static void a_list_without_reasons_or_columns_is_refused(void **state)
{
    struct known_list known;
    struct wm_diag diag;

    (void)state;
    write_file("a.csv", "index,sectors\n");
    write_file("known-mismatches.csv", "arch,opcode,counter\n");
    assert_int_equal(known_open(NULL, "sm_90", path_of("a.csv"), &known, &diag), WM_E_SYNTAX);
    assert_int_equal(diag.line, 1);
    write_file("known-mismatches.csv", "arch,opcode,counter,reason\nsm_90,ld.global.b32,sectors,\n");
    assert_int_equal(known_open(NULL, "sm_90", path_of("a.csv"), &known, &diag), WM_E_SYNTAX);
    assert_int_equal(diag.line, 2);
    assert_int_equal(diag.column, 29);
}

/* ---------------------------------------------------------------------------------------------------- measurement files */

/* Opens a measurement from text; the status of opening. */
static enum wm_status open_text(const char *text, struct measurement **out, struct wm_diag *diag)
{
    struct csv_source *source;
    enum wm_status status;

    write_file("a.csv", text);
    status = csv_open(path_of("a.csv"), &source, diag);
    return status ? status : measurement_new(source, out, diag);
}

static void columns_are_known_by_name(void **state)
{
    struct measurement *measurement;
    const struct wm_access load = access_of("ld.global.b32");
    struct measured measured;
    struct wm_diag diag;

    (void)state;
    assert_int_equal(open_text("index,l2_sectors,cycles_1_warp,sectors,temperature,opcode,mask\r\n"
                               "0,7,15.6,4,hot,ld.global.b32,ffffffff\r\n"
                               "\n"
                               "1,,1.5,\"5\",cold,ld.global.b32,ffffffff",
                               &measurement, &diag),
                     WM_OK);
    assert_string_equal(measurement_unknown(measurement, 0), "temperature");
    assert_null(measurement_unknown(measurement, 1));
    assert_string_equal(measurement_cycles(measurement, 0), "cycles_1_warp");
    assert_null(measurement_cycles(measurement, 1));
    assert_int_equal(measurement_next(measurement, 0, &load, &measured, &diag), WM_OK);
    assert_int_equal(measured.has, 1u << WM_SECTORS | 1u << WM_L2_SECTORS);
    assert_int_equal(measured.values[WM_SECTORS], 4);
    assert_int_equal(measured.values[WM_L2_SECTORS], 7);
    /* an empty cell was not measured */
    assert_int_equal(measurement_next(measurement, 1, &load, &measured, &diag), WM_OK);
    assert_int_equal(measured.has, 1u << WM_SECTORS);
    assert_int_equal(measured.values[WM_SECTORS], 5);
    assert_int_equal(measurement_next(measurement, 2, &load, &measured, &diag), WM_END);
    measurement_free(measurement);
}

struct bad_measurement {
    const char *text;
    enum wm_status status;
    uint64_t line;
    uint64_t column;
};

static void bad_measurements_are_refused_with_their_place(void **state)
{
    static const struct bad_measurement bad[] = {
        {"", WM_E_SYNTAX, 1, 0},
        {"\n", WM_E_SYNTAX, 1, 0},
        {"index,temperature\n0,1\n", WM_E_SYNTAX, 1, 1},
        {"index,sectors,sectors\n", WM_E_SYNTAX, 1, 15},
        {"index,sectors\n0\n", WM_E_SYNTAX, 2, 0},
        {"index,sectors\n0,4,5\n", WM_E_SYNTAX, 2, 0},
        {"index,sectors\n0,-4\n", WM_E_SYNTAX, 2, 3},
        {"index,sectors\n0,4.5\n", WM_E_SYNTAX, 2, 3},
        {"index,sectors\n0,18446744073709551616\n", WM_E_RANGE, 2, 3},
        {"index,sectors\n0,\"4\n", WM_E_SYNTAX, 2, 3},
        {"index,sectors\n0,\"4\"5\n", WM_E_SYNTAX, 2, 6},
        {"index,sectors\n1,4\n", WM_E_SYNTAX, 2, 1},
        {"index,sectors\n,4\n", WM_E_SYNTAX, 2, 1},
        {"sectors,opcode\n4,st.global.b32\n", WM_E_SYNTAX, 2, 3},
        {"sectors,mask\n4,0000ffff\n", WM_E_SYNTAX, 2, 3},
    };
    const struct wm_access load = access_of("ld.global.b32");

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct measurement *measurement = NULL;
        struct measured measured;
        struct wm_diag diag;
        enum wm_status status = open_text(bad[i].text, &measurement, &diag);

        if (!status)
            status = measurement_next(measurement, 0, &load, &measured, &diag);
        if (status != bad[i].status || diag.line != bad[i].line || diag.column != bad[i].column)
            fail_msg("%s: status %d, %llu:%llu: %s", bad[i].text, (int)status, (unsigned long long)diag.line,
                     (unsigned long long)diag.column, diag.text);
        measurement_free(measurement);
    }
}

static void files_that_are_no_text_are_refused(void **state)
{
    static const char with_nul[] = "index,sectors\n0,\0004\n";
    struct csv_source *source;
    struct wm_diag diag;

    (void)state;
    assert_int_equal(csv_open(path_of("missing.csv"), &source, &diag), WM_E_IO);
    assert_int_equal(csv_open(folder, &source, &diag), WM_E_IO);
    write_bytes("a.csv", with_nul, sizeof with_nul - 1);
    assert_int_equal(csv_open(path_of("a.csv"), &source, &diag), WM_OK);
    assert_int_equal(csv_next(source, &diag), WM_E_SYNTAX);
    assert_int_equal(diag.line, 2);
    assert_int_equal(diag.column, 3);
    csv_close(source);
}

static void meta_files_are_keys_and_values(void **state)
{
    struct meta *meta;
    struct wm_diag diag;

    (void)state;
    unlink(path_of("a.meta"));
    assert_int_equal(meta_open(path_of("a.csv"), &meta, &diag), WM_OK);
    assert_null(meta);
    assert_null(meta_get(meta, "l1"));
    write_file("a.meta", "# how it was measured\n\ncompute_capability = 9.0\r\nmethod = a = b\n l1=hit");
    assert_int_equal(meta_open(path_of("a.csv"), &meta, &diag), WM_OK);
    assert_string_equal(meta_get(meta, "compute_capability"), "9.0");
    assert_string_equal(meta_get(meta, "method"), "a = b");
    assert_string_equal(meta_get(meta, "l1"), "hit");
    assert_null(meta_get(meta, "driver"));
    meta_free(meta);
    write_file("a.meta", "device = x\nno value\n");
    assert_int_equal(meta_open(path_of("a.csv"), &meta, &diag), WM_E_SYNTAX);
    assert_int_equal(diag.line, 2);
    assert_null(meta);
}

/* ------------------------------------------------------------------------------------------------------- kernel sums */

static uint64_t sum_of(const char *name, const char *const *opcodes)
{
    const struct wm_counts counts = {.requests = 1, .sectors = 10, .shared_wavefronts = 100, .bank_conflicts = 1000};
    struct sum_column column;
    uint64_t sum = 0;

    assert_true(sum_column_parse(name, &column));
    for (; *opcodes; opcodes++) {
        struct wm_access access = access_of(*opcodes);

        access.count = 2;
        assert_true(sum_column_add(&column, &access, &counts, &sum));
    }
    return sum;
}

static void columns_of_sums_choose_their_accesses(void **state)
{
    static const char *const opcodes[] = {"ld.global.b32",          "ld.generic.b32",
                                          "st.global.b32",          "atom.global.add.u32",
                                          "red.global.add.u32",     "cp.async.ca.4",
                                          "ld.shared.b32",          "st.shared.b32",
                                          "atom.shared.add.u32",    "ldmatrix.x4.shared.b16",
                                          "stmatrix.x4.shared.b16", "ld.local.b32",
                                          "ld.const.b32",           NULL};
    struct sum_column column;

    (void)state;
    /* two executions of: two loads and a copy */
    assert_int_equal(sum_of("ld_requests", opcodes), 6);
    assert_int_equal(sum_of("ld_sectors", opcodes), 60);
    assert_int_equal(sum_of("st_sectors", opcodes), 20);
    assert_int_equal(sum_of("atom_sectors", opcodes), 20);
    assert_int_equal(sum_of("red_sectors", opcodes), 20);
    assert_int_equal(sum_of("local_ld_sectors", opcodes), 20);
    /* a load and an ldmatrix, a store and an stmatrix */
    assert_int_equal(sum_of("shared_ld_wavefronts", opcodes), 400);
    assert_int_equal(sum_of("shared_st_wavefronts", opcodes), 400);
    assert_int_equal(sum_of("shared_atom_wavefronts", opcodes), 200);
    /* all thirteen */
    assert_int_equal(sum_of("bank_conflicts", opcodes), 26000);
    assert_int_equal(sum_of("shared_wavefronts", opcodes), 2600);
    assert_false(sum_column_parse("ld_", &column));
    assert_false(sum_column_parse("ld_ways", &column));
    assert_false(sum_column_parse("ways", &column));
    assert_false(sum_column_parse("wavefronts", &column));
    assert_false(sum_column_parse("ld_wavefronts", &column));
    assert_false(sum_column_parse("", &column));
}

static void wavefronts_without_lanes_are_of_no_kind(void **state)
{
    const struct wm_counts counts = {.shared_wavefronts = 1};
    struct wm_access access = access_of("ld.shared.b32");
    struct sum_column loads, all;
    uint64_t sum = 0;

    (void)state;
    access.mask = 0;
    assert_true(sum_column_parse("shared_ld_wavefronts", &loads));
    assert_true(sum_column_parse("shared_wavefronts", &all));
    assert_true(sum_column_add(&loads, &access, &counts, &sum));
    assert_int_equal(sum, 0);
    assert_true(sum_column_add(&all, &access, &counts, &sum));
    assert_int_equal(sum, 1);
}

static void sums_do_not_wrap(void **state)
{
    const struct wm_counts counts = {.sectors = 3};
    struct wm_access access = access_of("ld.global.b32");
    struct sum_column column;
    uint64_t sum = UINT64_MAX - 5;

    (void)state;
    assert_true(sum_column_parse("sectors", &column));
    assert_true(sum_column_add(&column, &access, &counts, &sum));
    assert_true(sum == UINT64_MAX - 2);
    assert_false(sum_column_add(&column, &access, &counts, &sum));
    access.count = UINT64_MAX;
    sum = 0;
    assert_false(sum_column_add(&column, &access, &counts, &sum));
}

/* ------------------------------------------------------------------------------------------------------------ SHA-256 */

static void sha256_is_that_of_the_standard(void **state)
{
    char text[SHA256_TEXT_SIZE];
    struct wm_diag diag;

    (void)state;
    write_file("a.csv", "abc");
    if (sha256_file(path_of("a.csv"), text, &diag) == WM_E_UNSUPPORTED)
        skip();
    /* FIPS 180-2, appendix B.1 */
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(sha256_file(path_of("missing"), text, &diag), WM_E_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_compared_by_opcode_and_counter),
        cmocka_unit_test(what_the_model_does_not_know_is_not_compared),
        cmocka_unit_test(cells_of_zeros_are_known_as_such),
        cmocka_unit_test(entries_are_of_one_gpu_and_measurement),
        cmocka_unit_test(the_list_is_looked_for_in_folders_above),
        cmocka_unit_test(a_listed_disagreement_is_no_failure_until_it_is_gone),
        cmocka_unit_test(a_list_without_reasons_or_columns_is_refused),
        cmocka_unit_test(columns_are_known_by_name),
        cmocka_unit_test(bad_measurements_are_refused_with_their_place),
        cmocka_unit_test(files_that_are_no_text_are_refused),
        cmocka_unit_test(meta_files_are_keys_and_values),
        cmocka_unit_test(columns_of_sums_choose_their_accesses),
        cmocka_unit_test(wavefronts_without_lanes_are_of_no_kind),
        cmocka_unit_test(sums_do_not_wrap),
        cmocka_unit_test(sha256_is_that_of_the_standard),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
