/* How far predicted cycles are from measured ones: see timing.h. */
#include "config.h"

#include "timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative errors; the order in which they came is not kept. */
struct errors {
    double *values;
    size_t count;
    size_t size;
};

struct timing_row {
    struct wm_opcode opcode;
    char text[WM_OPCODE_TEXT_SIZE];
    struct errors errors[TIMING_KINDS];
};

/* The names of what is compared, as a measurement's columns have them. */
static const char *const columns[TIMING_KINDS] = {
    [TIMING_THROUGHPUT] = "cycles_32_warps",
    [TIMING_LATENCY] = "cycles_1_warp",
};

/* What a list of errors comes to. */
struct spread {
    size_t count;
    double median, p95, worst;
};

/* ------------------------------------------------------------------------------------------------------- collecting */

static enum wm_status add_errors(struct errors *errors, const double *values, size_t count)
{
    if (!count) /* values may be NULL */
        return WM_OK;
    if (errors->size - errors->count < count) {
        size_t size = errors->size ? errors->size : 16;
        double *larger;

        while (size - errors->count < count)
            size *= 2;
        larger = realloc(errors->values, size * sizeof *larger);
        if (!larger)
            return WM_E_MEMORY;
        errors->values = larger;
        errors->size = size;
    }
    memcpy(errors->values + errors->count, values, count * sizeof *values);
    errors->count += count;
    return WM_OK;
}

/* The row of an opcode, which is made where there is none. NULL: out of memory. */
static struct timing_row *row_of(struct timing *timing, const struct wm_opcode *opcode)
{
    struct timing_row *row;

    for (size_t i = 0; i < timing->count; i++) {
        if (memcmp(&timing->rows[i].opcode, opcode, sizeof *opcode) == 0)
            return &timing->rows[i];
    }
    if (timing->count == timing->size) {
        const size_t size = timing->size ? 2 * timing->size : 32;
        struct timing_row *rows = realloc(timing->rows, size * sizeof *rows);

        if (!rows)
            return NULL;
        timing->rows = rows;
        timing->size = size;
    }
    row = &timing->rows[timing->count++];
    memset(row, 0, sizeof *row);
    row->opcode = *opcode;
    wm_opcode_format(opcode, row->text);
    return row;
}

enum wm_status timing_add(struct timing *timing, const struct wm_opcode *opcode, enum timing_kind kind,
                          double predicted, double measured)
{
    struct timing_row *row;
    double error;

    if (!(predicted > 0) || !(measured > 0))
        return WM_OK;
    error = fabs(predicted - measured) / measured;
    row = row_of(timing, opcode);
    return row ? add_errors(&row->errors[kind], &error, 1) : WM_E_MEMORY;
}

enum wm_status timing_add_access(struct timing *timing, const wm_arch *arch, const struct wm_access *access,
                                 const struct wm_counts *counts, double one_warp, double full_block)
{
    struct wm_cycles cycles;
    enum wm_status status = wm_cycles(arch, access, counts, &cycles);

    if (!status)
        status = timing_add(timing, &access->opcode, TIMING_THROUGHPUT, cycles.throughput, full_block);
    if (!status)
        status = timing_add(timing, &access->opcode, TIMING_LATENCY, cycles.latency, one_warp);
    return status;
}

enum wm_status timing_merge(struct timing *into, const struct timing *from)
{
    enum wm_status status = WM_OK;

    for (size_t i = 0; !status && i < from->count; i++) {
        struct timing_row *row = row_of(into, &from->rows[i].opcode);

        if (!row)
            return WM_E_MEMORY;
        for (int kind = 0; !status && kind < TIMING_KINDS; kind++)
            status =
                add_errors(&row->errors[kind], from->rows[i].errors[kind].values, from->rows[i].errors[kind].count);
    }
    return status;
}

void timing_free(struct timing *timing)
{
    for (size_t i = 0; i < timing->count; i++) {
        for (int kind = 0; kind < TIMING_KINDS; kind++)
            free(timing->rows[i].errors[kind].values);
    }
    free(timing->rows);
    memset(timing, 0, sizeof *timing);
}

/* ---------------------------------------------------------------------------------------------------------- results */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The value that at least a share of all are no larger than (nearest rank). */
static double quantile(const double *sorted, size_t count, double share)
{
    const size_t rank = (size_t)ceil(share * (double)count);

    return sorted[rank ? rank - 1 : 0];
}

/* Sorts the errors. 0: there are none. */
static int spread_of(const struct errors *errors, struct spread *out)
{
    if (!errors->count)
        return 0;
    qsort(errors->values, errors->count, sizeof *errors->values, by_value);
    *out = (struct spread){errors->count, quantile(errors->values, errors->count, 0.5),
                           quantile(errors->values, errors->count, 0.95), errors->values[errors->count - 1]};
    return 1;
}

/* Groups of opcodes, for the table's foot. */
enum group { SHARED, LOADS, PAST_L1, STORES, ATOMICS, COPIES, OTHERS, GROUPS };

static const char *const group_names[GROUPS] = {
    [SHARED] = "shared memory", [LOADS] = "global loads",     [PAST_L1] = "global loads past L1",
    [STORES] = "global stores", [ATOMICS] = "global atomics", [COPIES] = "copies",
    [OTHERS] = "others",
};

static enum group group_of(const struct wm_opcode *opcode)
{
    if (opcode->space == WM_SHARED)
        return SHARED;
    if (opcode->operation == WM_CP_ASYNC)
        return COPIES;
    if (opcode->space != WM_GLOBAL && opcode->space != WM_GENERIC)
        return OTHERS;
    if (opcode->operation == WM_LD) /* what the first three operators load does not stay in L1 */
        return opcode->cache == WM_CACHE_CG || opcode->cache == WM_CACHE_CV || opcode->cache == WM_CACHE_LU ? PAST_L1
                                                                                                            : LOADS;
    return opcode->operation == WM_ST ? STORES : ATOMICS;
}

static void table_spread(const struct errors *errors, struct buffer *out)
{
    struct spread spread;

    if (spread_of(errors, &spread))
        buffer_printf(out, "  %8zu %6.1f%% %6.1f%% %6.1f%%", spread.count, 100 * spread.median, 100 * spread.p95,
                      100 * spread.worst);
    else
        buffer_printf(out, "  %8s %7s %7s %7s", "-", "-", "-", "-");
}

static void table_line(const char *name, size_t width, const struct errors errors[TIMING_KINDS], struct buffer *out)
{
    table_text(name, width, out);
    for (int kind = 0; kind < TIMING_KINDS; kind++)
        table_spread(&errors[kind], out);
    buffer_putc(out, '\n');
}

static void table_groups_of(const struct timing *timing, size_t width, struct buffer *out)
{
    for (int group = 0; group < GROUPS; group++) {
        struct errors errors[TIMING_KINDS] = {{NULL, 0, 0}};
        enum wm_status status = WM_OK;

        for (size_t i = 0; !status && i < timing->count; i++) {
            for (int kind = 0; !status && kind < TIMING_KINDS && (int)group_of(&timing->rows[i].opcode) == group;
                 kind++)
                status =
                    add_errors(&errors[kind], timing->rows[i].errors[kind].values, timing->rows[i].errors[kind].count);
        }
        if (status)
            out->failed = BUFFER_NO_MEMORY;
        else if (errors[TIMING_THROUGHPUT].count || errors[TIMING_LATENCY].count)
            table_line(group_names[group], width, errors, out);
        for (int kind = 0; kind < TIMING_KINDS; kind++)
            free(errors[kind].values);
    }
}

void timing_table(const struct timing *timing, struct buffer *out)
{
    size_t width = strlen(group_names[PAST_L1]);

    if (!timing->count)
        return;
    for (size_t i = 0; i < timing->count; i++) {
        if (strlen(timing->rows[i].text) > width)
            width = strlen(timing->rows[i].text);
    }
    buffer_puts(out, "\npredicted cycles: how far from the measured ones\n");
    table_text("", width, out);
    buffer_printf(out, "  %-32s  %s\n", "throughput, 32 warps", "latency, one warp");
    table_text("opcode", width, out);
    for (int kind = 0; kind < TIMING_KINDS; kind++)
        buffer_printf(out, "  %8s %7s %7s %7s", "compared", "median", "95 %", "worst");
    buffer_putc(out, '\n');
    for (size_t i = 0; i < timing->count; i++)
        table_line(timing->rows[i].text, width, timing->rows[i].errors, out);
    buffer_putc(out, '\n');
    table_groups_of(timing, width, out);
}

static void csv_spread(const struct timing_row *row, int kind, const struct spread *spread, struct buffer *out)
{
    buffer_printf(out, "%s,%s,%zu,,,,,%.4f,%.4f,%.4f\n", row->text, columns[kind], spread->count, spread->median,
                  spread->p95, spread->worst);
}

/* 0: out of memory. */
static int json_spread(const struct timing_row *row, int kind, const struct spread *spread, int is_first,
                       struct buffer *out)
{
    struct json_line *line = json_line_new();

    if (!line)
        return 0;
    json_line_text(line, "opcode", row->text);
    json_line_text(line, "counter", columns[kind]);
    json_line_number(line, "compared", spread->count);
    json_line_real(line, "median_error", spread->median);
    json_line_real(line, "p95_error", spread->p95);
    json_line_real(line, "worst_error", spread->worst);
    json_line_dump(line, is_first, out);
    json_line_free(line);
    return 1;
}

void timing_rows(const struct comparison *comparison, const struct timing *timing, enum report_format format,
                 struct buffer *out)
{
    int is_first = 1;

    agreement_rows_begin(format, timing->count ? ",median_error,p95_error,worst_error" : "", out);
    agreement_lines(comparison, format, timing->count ? ",,," : "", &is_first, out);
    for (size_t i = 0; i < timing->count; i++) {
        for (int kind = 0; kind < TIMING_KINDS; kind++) {
            struct spread spread;

            if (!spread_of(&timing->rows[i].errors[kind], &spread))
                continue;
            if (format == REPORT_CSV)
                csv_spread(&timing->rows[i], kind, &spread, out);
            else if (!json_spread(&timing->rows[i], kind, &spread, is_first, out))
                out->failed = BUFFER_NO_MEMORY;
            is_first = 0;
        }
    }
    agreement_rows_end(format, is_first, out);
}
