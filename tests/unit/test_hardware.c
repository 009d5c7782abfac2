/* The model against recorded hardware counters (traces/hardware): access by access, and for real programs kernel by
 * kernel. A difference that known-mismatches.csv does not list fails; so does a row of it that has come to agree. */
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

#define SHOWN 20

/* known-mismatches.csv: arch,opcode,counter,measurement,index,reason */
enum { KNOWN_ARCH, KNOWN_OPCODE, KNOWN_COUNTER, KNOWN_MEASUREMENT, KNOWN_INDEX, KNOWN_REASON, KNOWN_COLUMNS };

static struct sheet *known;
static unsigned char *met;      /* by row of known: something that it names was compared */
static unsigned char *differed; /* by row of known: something that it names differed */

static struct sheet *read_below(const char *relative)
{
    char *path = sheet_path(relative);
    struct sheet *sheet = sheet_read(path);

    free(path);
    assert_non_null(sheet);
    return sheet;
}

static int read_known(void **state)
{
    (void)state;
    known = read_below("traces/hardware/known-mismatches.csv");
    assert_int_equal(known->columns, KNOWN_COLUMNS);
    met = calloc(known->rows + 1, 1);
    differed = calloc(known->rows + 1, 1);
    return met == NULL || differed == NULL;
}

static int free_known(void **state)
{
    (void)state;
    sheet_free(known);
    free(met);
    free(differed);
    return 0;
}

static const char *known_cell(size_t row, size_t column)
{
    return sheet_cell(known, row, column);
}

/* Notes one comparison in all rows that name it; 1 if there is such a row. An empty index names every record. */
static int is_known(const char *measurement, const char *opcode, const char *counter, const char *index, int differs)
{
    int found = 0;

    for (size_t row = 0; row < known->rows; row++) {
        const char *which = known_cell(row, KNOWN_INDEX);
        if (strcmp(known_cell(row, KNOWN_ARCH), "sm_90") == 0 && strcmp(known_cell(row, KNOWN_OPCODE), opcode) == 0 &&
            strcmp(known_cell(row, KNOWN_COUNTER), counter) == 0 &&
            strcmp(known_cell(row, KNOWN_MEASUREMENT), measurement) == 0 &&
            (*which == '\0' || strcmp(which, index) == 0)) {
            met[row] = 1;
            differed[row] |= (unsigned char)differs;
            found = 1;
        }
    }
    return found;
}

static wm_reader *open_trace(const char *relative, const struct wm_reader_options *options)
{
    struct wm_diag diag;
    wm_reader *reader = NULL;
    char *path = sheet_path(relative);
    char text[1024];

    if (wm_reader_open(path, options, &reader, &diag) != WM_OK) {
        wm_diag_format(&diag, text, sizeof text);
        fail_msg("%s", text);
    }
    free(path);
    return reader;
}

static int next_counts(const wm_arch *arch, wm_reader *reader, struct wm_access *access, struct wm_counts *counts)
{
    struct wm_diag diag;
    enum wm_status status = wm_reader_next(reader, access, &diag);
    char text[1024];

    if (status == WM_END) {
        return 0;
    }
    if (status != WM_OK) {
        wm_diag_format(&diag, text, sizeof text);
        fail_msg("%s", text);
    }
    assert_int_equal(wm_model(arch, access, counts), WM_OK);
    return 1;
}

static wm_arch *open_sm_90(void)
{
    struct wm_diag diag;
    wm_arch *arch = NULL;

    assert_int_equal(wm_arch_open("sm_90", &arch, &diag), WM_OK);
    return arch;
}

/* ------------------------------------------------------------------------------------------------ single accesses */

#define FOLDER "traces/hardware/sm_90"

/* One measurement: NAME.csv, NAME.wmt, NAME.meta in FOLDER. */
struct measurement {
    char name[256];
    struct sheet *measured;
    wm_reader *reader;
    unsigned agree[WM_COUNTERS];
    unsigned compared[WM_COUNTERS];
    unsigned inexact; /* values not compared, because the model says that it does not know them */
    unsigned unknown; /* that differ and are not known to */
};

/* Whether a .meta file has exactly this line. */
static int meta_says(const char *relative, const char *line)
{
    char *path = sheet_path(relative);
    FILE *file = fopen(path, "r");
    char text[4096];
    int found = 0;

    assert_non_null(file);
    while (fgets(text, sizeof text, file) != NULL) {
        text[strcspn(text, "\r\n")] = '\0';
        found |= strcmp(text, line) == 0;
    }
    fclose(file);
    free(path);
    return found;
}

static void open_measurement(struct measurement *m, const char *name)
{
    struct wm_reader_options options = {0};
    char relative[512];

    memset(m, 0, sizeof *m);
    snprintf(m->name, sizeof m->name, "%s", name);
    snprintf(relative, sizeof relative, FOLDER "/%s.meta", name);
    options.l1 = meta_says(relative, "l1 = hit") ? WM_L1_HIT : WM_L1_MISS;
    assert_true(options.l1 == WM_L1_HIT || meta_says(relative, "l1 = miss"));
    snprintf(relative, sizeof relative, FOLDER "/%s.csv", name);
    m->measured = read_below(relative);
    snprintf(relative, sizeof relative, FOLDER "/%s.wmt", name);
    m->reader = open_trace(relative, &options);
}

static void close_measurement(struct measurement *m)
{
    wm_reader_close(m->reader);
    sheet_free(m->measured);
}

/* What the measuring kernel counts beside an access: only h200-random's copies, which are waited for (its .meta). */
static uint64_t beside(const struct measurement *m, const char *opcode, enum wm_counter counter)
{
    if (strcmp(m->name, "h200-random") != 0 || strncmp(opcode, "cp.async", 8) != 0) {
        return 0;
    }
    return counter == WM_TAG_WAVEFRONTS ? 2 : counter == WM_SHARED_WAVEFRONTS ? 3 : counter == WM_LSU_WAVEFRONTS ? 1 : 0;
}

static void compare_record(struct measurement *m, size_t row, const char *opcode, const struct wm_counts *counts)
{
    const char *index = sheet_cell(m->measured, row, 0);

    for (int c = 0; c < WM_COUNTERS; c++) {
        const char *name = wm_counter_name((enum wm_counter)c);
        int column = sheet_column(m->measured, name);
        uint64_t value;
        int differs;
        if (column < 0) {
            continue;
        }
        assert_true(sheet_number(sheet_cell(m->measured, row, (size_t)column), &value));
        assert_true(value >= beside(m, opcode, (enum wm_counter)c));
        value -= beside(m, opcode, (enum wm_counter)c);
        if (counts->inexact >> c & 1) {
            m->inexact++;
            continue;
        }
        differs = value != wm_counts_get(counts, (enum wm_counter)c);
        m->compared[c]++;
        m->agree[c] += !differs;
        if (!is_known(m->name, opcode, name, index, differs) && differs && m->unknown++ < SHOWN) {
            fprintf(stderr, "# %s: record %s: %s: %s: measured %" PRIu64 ", model %" PRIu32 "\n", m->name, index,
                    opcode, name, value, wm_counts_get(counts, (enum wm_counter)c));
        }
    }
}

/* Returns the number of records. */
static size_t compare_measurement(struct measurement *m, const wm_arch *arch)
{
    struct wm_access access;
    struct wm_counts counts;
    size_t row = 0;

    for (; next_counts(arch, m->reader, &access, &counts); row++) {
        char opcode[WM_OPCODE_TEXT_SIZE];
        uint64_t index;
        assert_true(row < m->measured->rows);
        assert_true(sheet_number(sheet_cell(m->measured, row, 0), &index) && index == row);
        assert_true(wm_opcode_format(&access.opcode, opcode) > 0);
        compare_record(m, row, opcode, &counts);
    }
    assert_int_equal(row, m->measured->rows);
    return row;
}

static void print_measurement(const struct measurement *m)
{
    print_message("# %s:", m->name);
    for (int c = 0; c < WM_COUNTERS; c++) {
        if (m->compared[c] > 0) {
            print_message(" %s %u/%u", wm_counter_name((enum wm_counter)c), m->agree[c], m->compared[c]);
        }
    }
    print_message(" (%u inexact)\n", m->inexact);
}

/* Every .csv in FOLDER. */
static void single_accesses_agree(void **state)
{
    char *folder = sheet_path(FOLDER);
    DIR *directory = opendir(folder);
    wm_arch *arch = open_sm_90();
    const struct dirent *entry;
    size_t records = 0;
    unsigned unknown = 0;

    (void)state;
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        size_t length = strlen(entry->d_name);
        struct measurement m;
        char name[256];
        if (length <= 4 || length >= sizeof name || strcmp(entry->d_name + length - 4, ".csv") != 0) {
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(length - 4), entry->d_name);
        open_measurement(&m, name);
        records += compare_measurement(&m, arch);
        print_measurement(&m);
        unknown += m.unknown;
        close_measurement(&m);
    }
    closedir(directory);
    wm_arch_close(arch);
    free(folder);
    print_message("# %zu records\n", records);
    assert_true(records >= 18000);
    assert_int_equal(unknown, 0);
}

/* -------------------------------------------------------------------------------------------------- real programs */

/* The columns of counters.csv. Global loads are ld and, on the global side, cp.async. */
enum sum {
    LD_REQUESTS,
    LD_SECTORS,
    LD_TAG_WAVEFRONTS,
    ST_REQUESTS,
    ST_SECTORS,
    ST_TAG_WAVEFRONTS,
    RED_SECTORS,
    SHARED_LD_WAVEFRONTS,
    SHARED_ST_WAVEFRONTS,
    BANK_CONFLICTS,
    SUMS
};

static const char *const sum_names[SUMS] = {
    "ld_requests",       "ld_sectors",  "ld_tag_wavefronts",    "st_requests",          "st_sectors",
    "st_tag_wavefronts", "red_sectors", "shared_ld_wavefronts", "shared_st_wavefronts", "bank_conflicts",
};

static void add_access(const struct wm_access *access, const struct wm_counts *counts, uint64_t *sums)
{
    unsigned operation = access->opcode.operation;
    unsigned space = access->opcode.space;
    uint64_t n = access->count;

    sums[BANK_CONFLICTS] += n * counts->bank_conflicts;
    if (space == WM_SHARED && operation == WM_LD) {
        sums[SHARED_LD_WAVEFRONTS] += n * counts->shared_wavefronts;
    } else if (space == WM_SHARED && operation == WM_ST) {
        sums[SHARED_ST_WAVEFRONTS] += n * counts->shared_wavefronts;
    } else if (space == WM_GLOBAL && (operation == WM_LD || operation == WM_CP_ASYNC)) {
        sums[LD_REQUESTS] += n * counts->requests;
        sums[LD_SECTORS] += n * counts->sectors;
        sums[LD_TAG_WAVEFRONTS] += n * counts->tag_wavefronts;
    } else if (space == WM_GLOBAL && operation == WM_ST) {
        sums[ST_REQUESTS] += n * counts->requests;
        sums[ST_SECTORS] += n * counts->sectors;
        sums[ST_TAG_WAVEFRONTS] += n * counts->tag_wavefronts;
    } else if (space == WM_GLOBAL && operation == WM_RED) {
        sums[RED_SECTORS] += n * counts->sectors;
    } else {
        fail_msg("an access that counters.csv has no column for");
    }
}

static void sum_trace(const wm_arch *arch, const char *name, uint64_t *sums)
{
    char relative[256];
    wm_reader *reader;
    struct wm_access access;
    struct wm_counts counts;

    snprintf(relative, sizeof relative, FOLDER "/pytorch/%s.wmt", name);
    reader = open_trace(relative, NULL);
    memset(sums, 0, SUMS * sizeof *sums);
    while (next_counts(arch, reader, &access, &counts)) {
        add_access(&access, &counts, sums);
    }
    wm_reader_close(reader);
}

static void real_programs_agree(void **state)
{
    struct sheet *measured = read_below(FOLDER "/pytorch/counters.csv");
    wm_arch *arch = open_sm_90();
    unsigned unknown = 0;

    (void)state;
    assert_int_equal(measured->rows, 9);
    assert_int_equal(measured->columns, 1 + SUMS);
    for (size_t row = 0; row < measured->rows; row++) {
        uint64_t sums[SUMS];
        char name[128];
        snprintf(name, sizeof name, "%s", sheet_cell(measured, row, 0));
        assert_non_null(strstr(name, ".wmt"));
        *strstr(name, ".wmt") = '\0';
        sum_trace(arch, name, sums);
        for (size_t i = 0; i < SUMS; i++) {
            int column = sheet_column(measured, sum_names[i]);
            uint64_t value;
            int differs;
            assert_true(column > 0);
            assert_true(sheet_number(sheet_cell(measured, row, (size_t)column), &value));
            differs = value != sums[i];
            if (!is_known("pytorch/counters", "", sum_names[i], name, differs) && differs) {
                fprintf(stderr, "# %s: %s: measured %" PRIu64 ", model %" PRIu64 "\n", name, sum_names[i], value,
                        sums[i]);
                unknown++;
            }
        }
    }
    wm_arch_close(arch);
    sheet_free(measured);
    assert_int_equal(unknown, 0);
}

/* After the tests above: the list holds nothing that agrees, and nothing that does not exist. */
static void known_mismatches_still_differ(void **state)
{
    unsigned wrong = 0;

    (void)state;
    for (size_t row = 0; row < known->rows; row++) {
        if (!met[row] || !differed[row]) {
            fprintf(stderr, "# known-mismatches.csv:%zu: %s,%s,%s,%s: %s\n", row + 2, known_cell(row, KNOWN_OPCODE),
                    known_cell(row, KNOWN_COUNTER), known_cell(row, KNOWN_MEASUREMENT), known_cell(row, KNOWN_INDEX),
                    met[row] ? "agrees now: remove it" : "names nothing that was measured");
            wrong++;
        }
        if (*known_cell(row, KNOWN_REASON) == '\0') {
            fprintf(stderr, "# known-mismatches.csv:%zu: no reason\n", row + 2);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_accesses_agree),
        cmocka_unit_test(real_programs_agree),
        cmocka_unit_test(known_mismatches_still_differ),
    };

    return cmocka_run_group_tests(tests, read_known, free_known);
}
