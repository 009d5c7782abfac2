/* Accesses with known counts: the textbook traces with their expected rows (traces/NAME.expected.csv), and the public
 * reports of other GPUs (tests/vectors/cases.wmt, which says how its directives work). */
#include <dirent.h>
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

static wm_arch *open_arch(const char *name)
{
    struct wm_diag diag;
    wm_arch *arch = NULL;

    if (wm_arch_open(name, &arch, &diag) != WM_OK) {
        fail_msg("%s: %s", name, diag.text);
    }
    return arch;
}

static wm_reader *open_trace(const char *path)
{
    struct wm_diag diag;
    wm_reader *reader = NULL;
    char text[1024];

    if (wm_reader_open(path, NULL, &reader, &diag) != WM_OK) {
        wm_diag_format(&diag, text, sizeof text);
        fail_msg("%s", text);
    }
    return reader;
}

/* 1: an access; 0: the end. */
static int next_access(wm_reader *reader, struct wm_access *access)
{
    struct wm_diag diag;
    enum wm_status status = wm_reader_next(reader, access, &diag);
    char text[1024];

    if (status != WM_OK && status != WM_END) {
        wm_diag_format(&diag, text, sizeof text);
        fail_msg("%s", text);
    }
    return status == WM_OK;
}

static enum wm_counter counter_by_name(const char *name, size_t length)
{
    for (int c = 0; c < WM_COUNTERS; c++) {
        const char *known = wm_counter_name((enum wm_counter)c);
        if (strlen(known) == length && strncmp(known, name, length) == 0) {
            return (enum wm_counter)c;
        }
    }
    return WM_COUNTERS;
}

/* ------------------------------------------------------------------------------------------------ textbook traces */

static unsigned compare_row(const struct sheet *sheet, size_t row, const struct wm_counts *counts, const char *name)
{
    unsigned wrong = 0;

    for (size_t column = 0; column < sheet->columns; column++) {
        enum wm_counter c = counter_by_name(sheet->column[column], strlen(sheet->column[column]));
        uint64_t expected;
        if (c == WM_COUNTERS) {
            continue; /* index and why */
        }
        assert_true(sheet_number(sheet_cell(sheet, row, column), &expected));
        if (wm_counts_get(counts, c) != expected) {
            fprintf(stderr, "# %s: access %zu: %s: model %" PRIu32 ", expected %" PRIu64 " (%s)\n", name, row,
                    sheet->column[column], wm_counts_get(counts, c), expected,
                    sheet_cell(sheet, row, sheet->columns - 1));
            wrong++;
        }
    }
    return wrong;
}

static unsigned compare_textbook(const wm_arch *arch, const char *name)
{
    char relative[512];
    char *trace_path;
    char *sheet_name;
    struct sheet *sheet;
    wm_reader *reader;
    struct wm_access access;
    struct wm_counts counts;
    size_t row = 0;
    unsigned wrong = 0;

    snprintf(relative, sizeof relative, "traces/%s.wmt", name);
    trace_path = sheet_path(relative);
    snprintf(relative, sizeof relative, "traces/%s.expected.csv", name);
    sheet_name = sheet_path(relative);
    sheet = sheet_read(sheet_name);
    assert_non_null(sheet);
    for (int c = 0; c < WM_COUNTERS; c++) {
        assert_true(sheet_column(sheet, wm_counter_name((enum wm_counter)c)) >= 0);
    }
    reader = open_trace(trace_path);
    for (; next_access(reader, &access); row++) {
        uint64_t index;
        assert_true(row < sheet->rows);
        assert_true(sheet_number(sheet_cell(sheet, row, 0), &index) && index == row);
        assert_int_equal(wm_model(arch, &access, &counts), WM_OK);
        wrong += compare_row(sheet, row, &counts, name);
    }
    assert_int_equal(row, sheet->rows);
    wm_reader_close(reader);
    sheet_free(sheet);
    free(trace_path);
    free(sheet_name);
    return wrong;
}

/* Every .wmt in traces/: a trace without expected rows fails. */
static void textbook_traces_count_as_expected(void **state)
{
    char *folder = sheet_path("traces");
    DIR *directory = opendir(folder);
    wm_arch *arch = open_arch("sm_90");
    const struct dirent *entry;
    unsigned traces = 0;
    unsigned wrong = 0;

    (void)state;
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        size_t length = strlen(entry->d_name);
        char name[256];
        if (length <= 4 || length >= sizeof name || strcmp(entry->d_name + length - 4, ".wmt") != 0) {
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(length - 4), entry->d_name);
        wrong += compare_textbook(arch, name);
        traces++;
    }
    closedir(directory);
    wm_arch_close(arch);
    free(folder);
    print_message("# %u traces\n", traces);
    assert_int_equal(wrong, 0);
    assert_true(traces >= 17);
}

/* ------------------------------------------------------------------------------------------------- public reports */

struct report {
    char name[64];
    wm_arch *arch;
    enum wm_l1 l1;
    char expect[256]; /* of the next access; "" if none */
    int open;         /* accesses since the last total that have no expect of their own */
    uint64_t instructions;
    uint64_t sums[WM_COUNTERS];
    unsigned checks;
    unsigned wrong;
};

static uint64_t value_of(const struct report *report, const struct wm_counts *counts, const char *name, size_t length)
{
    enum wm_counter c = counter_by_name(name, length);

    if (counts == NULL && length == strlen("instructions") && strncmp(name, "instructions", length) == 0) {
        return report->instructions;
    }
    if (c == WM_COUNTERS) {
        fail_msg("cases.wmt: %s: no column %.*s", report->name, (int)length, name);
    }
    return counts != NULL ? wm_counts_get(counts, c) : report->sums[c];
}

/* Checks "COLUMN=N COLUMN=N ..." against counts, or against the sums where counts is NULL. */
static void check_columns(struct report *report, const char *text, const struct wm_counts *counts, unsigned line)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "=");
        char *end;
        uint64_t expected;
        uint64_t value;
        assert_int_equal(text[length], '=');
        expected = strtoull(text + length + 1, &end, 10);
        assert_true(end != text + length + 1 && (*end == ' ' || *end == '\0'));
        value = value_of(report, counts, text, length);
        report->checks++;
        if (value != expected) {
            fprintf(stderr, "# cases.wmt:%u: %s: %.*s: model %" PRIu64 ", expected %" PRIu64 "\n", line, report->name,
                    (int)length, text, value, expected);
            report->wrong++;
        }
        text = *end == ' ' ? end + 1 : end;
    }
}

static void start_report(struct report *report, const char *text)
{
    char arch[32];
    char l1[32] = "";
    int fields = sscanf(text, "%63s %31s %31s", report->name, arch, l1);

    assert_true(fields >= 2);
    assert_true(fields == 2 || strcmp(l1, "l1=hit") == 0);
    wm_arch_close(report->arch);
    report->arch = open_arch(arch);
    report->l1 = fields == 3 ? WM_L1_HIT : WM_L1_MISS;
}

static void clear_sums(struct report *report)
{
    report->open = 0;
    report->instructions = 0;
    memset(report->sums, 0, sizeof report->sums);
}

static void directive(struct report *report, const char *text, unsigned line)
{
    if (strncmp(text, "case ", 5) == 0) {
        assert_false(report->open); /* else accesses that nothing checks */
        clear_sums(report);
        start_report(report, text + 5);
    } else if (strncmp(text, "total ", 6) == 0) {
        check_columns(report, text + 6, NULL, line);
        clear_sums(report);
    } else if (strncmp(text, "expect ", 7) == 0) {
        assert_true(strlen(text + 7) < sizeof report->expect);
        assert_int_equal(report->expect[0], '\0');
        strcpy(report->expect, text + 7);
    } else {
        fail_msg("cases.wmt:%u: unknown directive", line);
    }
}

static void check_access(struct report *report, wm_reader *reader, unsigned line)
{
    struct wm_access access;
    struct wm_counts counts;
    enum wm_status status;

    assert_non_null(report->arch);
    assert_true(next_access(reader, &access));
    assert_string_equal(access.kernel->name, report->name);
    access.l1 = report->l1;
    status = wm_model(report->arch, &access, &counts);
    if (status != WM_OK) {
        fail_msg("cases.wmt:%u: %s: %s", line, report->name, wm_status_text(status));
    }
    report->instructions += access.count;
    for (int c = 0; c < WM_COUNTERS; c++) {
        report->sums[c] += access.count * wm_counts_get(&counts, (enum wm_counter)c);
    }
    report->open |= report->expect[0] == '\0';
    check_columns(report, report->expect, &counts, line);
    report->expect[0] = '\0';
}

static void public_reports_count_as_reported(void **state)
{
    static char text[8192];
    static struct report report;
    char *path = sheet_path("tests/vectors/cases.wmt");
    FILE *file = fopen(path, "r");
    wm_reader *reader = open_trace(path);
    struct wm_access access;
    unsigned line = 0;

    (void)state;
    assert_non_null(file);
    while (fgets(text, sizeof text, file) != NULL) {
        size_t length = strcspn(text, "\n");
        assert_int_equal(text[length], '\n'); /* the whole line fitted */
        text[length] = '\0';
        line++;
        if (strncmp(text, "#: ", 3) == 0) {
            directive(&report, text + 3, line);
        } else if (text[0] != '\0' && text[0] != '#' && strncmp(text, "wmt ", 4) != 0 &&
                   strncmp(text, "kernel ", 7) != 0) {
            check_access(&report, reader, line);
        }
    }
    assert_false(next_access(reader, &access));
    assert_false(report.open);
    wm_reader_close(reader);
    wm_arch_close(report.arch);
    fclose(file);
    free(path);
    print_message("# %u numbers\n", report.checks);
    assert_int_equal(report.wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(textbook_traces_count_as_expected),
        cmocka_unit_test(public_reports_count_as_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
