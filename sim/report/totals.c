/* Sums under the names that Nsight Compute gives them, and the groups that waste most. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH 62
#define COUNT_WIDTH 20
#define WASTE_WIDTH 10

/* Groups named as the largest waste, of each kind. */
#define WORST_GROUPS 3

/* Nsight Compute counts the L1's work by memory space and operation. */
struct family {
    const char *suffix; /* behind the metric's name */
    uint8_t space;
    uint8_t operations[2]; /* enum wm_operation; the same twice where there is one */
};

/* cp.async is counted with global loads. */
static const struct family tag_families[] = {
    {"_mem_global_op_ld", WM_GLOBAL, {WM_LD, WM_CP_ASYNC}}, {"_mem_global_op_st", WM_GLOBAL, {WM_ST, WM_ST}},
    {"_mem_global_op_atom", WM_GLOBAL, {WM_ATOM, WM_ATOM}}, {"_mem_global_op_red", WM_GLOBAL, {WM_RED, WM_RED}},
    {"_mem_local_op_ld", WM_LOCAL, {WM_LD, WM_LD}},         {"_mem_local_op_st", WM_LOCAL, {WM_ST, WM_ST}},
};

/* As an H200 counts them. The wavefronts of cp.async are in the total only; its conflicts have a name of their own. */
static const struct family shared_families[] = {
    {"_op_ld", WM_SHARED, {WM_LD, WM_LDMATRIX}},
    {"_op_st", WM_SHARED, {WM_ST, WM_STMATRIX}},
    {"_op_atom", WM_SHARED, {WM_ATOM, WM_RED}},
};
static const struct family copies = {"_op_ldgsts", WM_GLOBAL, {WM_CP_ASYNC, WM_CP_ASYNC}};

static int is_of(const struct family *family, const struct wm_opcode *opcode)
{
    unsigned space = opcode->space == WM_GENERIC ? WM_GLOBAL : opcode->space;

    return space == family->space &&
           (opcode->operation == family->operations[0] || opcode->operation == family->operations[1]);
}

struct totals {
    const wm_arch *arch;
    uint64_t sums[WM_COUNTERS];
    uint64_t inactive_wavefronts; /* part of the shared wavefronts */
    int is_present;
};

/* family NULL: everything */
static struct totals sum(const wm_tally *tally, const struct family *family)
{
    const struct wm_tally_row *row;
    struct totals totals = {.arch = wm_tally_arch(tally)};

    for (size_t i = 0; (row = wm_tally_row_at(tally, i)) != NULL; i++) {
        if (family && !is_of(family, &row->opcode))
            continue;
        totals.is_present = 1;
        totals.inactive_wavefronts += row->inactive_wavefronts;
        for (int c = 0; c < WM_COUNTERS; c++)
            totals.sums[c] += row->sums[c];
    }
    return totals;
}

/* One metric. ideal is WM_COUNTERS where there is none. */
static void metric(const struct totals *totals, enum wm_counter counter, const char *suffix, enum wm_counter ideal,
                   const struct totals_sink *sink)
{
    struct totals_line line = {.count = totals->sums[counter]};
    char name[128];

    snprintf(name, sizeof name, "%s%s.sum", wm_arch_metric(totals->arch, counter), suffix);
    line.name = name;
    line.has_waste = ideal != WM_COUNTERS && line.count;
    if (line.has_waste && line.count > totals->sums[ideal])
        line.waste = line.count - totals->sums[ideal];
    sink->line(sink->context, &line);
}

static void tag_totals(const wm_tally *opcodes, const struct family *family, const struct totals_sink *sink)
{
    const struct totals totals = sum(opcodes, family);

    if (!totals.is_present)
        return;
    metric(&totals, WM_REQUESTS, family->suffix, WM_COUNTERS, sink);
    metric(&totals, WM_SECTORS, family->suffix, WM_SECTORS_IDEAL, sink);
    metric(&totals, WM_TAG_WAVEFRONTS, family->suffix, WM_COUNTERS, sink);
}

/* One kind of access; instructions without active lanes count as miscellaneous. */
static void shared_family_totals(const wm_tally *opcodes, const struct family *family, const struct totals_sink *sink)
{
    struct totals totals = sum(opcodes, family);

    if (!totals.is_present)
        return;
    totals.sums[WM_SHARED_WAVEFRONTS] -= totals.inactive_wavefronts;
    totals.sums[WM_SHARED_WAVEFRONTS_IDEAL] -= totals.inactive_wavefronts;
    metric(&totals, WM_SHARED_WAVEFRONTS, family->suffix, WM_SHARED_WAVEFRONTS_IDEAL, sink);
    metric(&totals, WM_BANK_CONFLICTS, family->suffix, WM_COUNTERS, sink);
}

static void shared_totals(const wm_tally *opcodes, const struct totals *all, const struct totals_sink *sink)
{
    const struct totals copied = sum(opcodes, &copies);
    const struct totals inactive = {.arch = all->arch, .sums = {[WM_SHARED_WAVEFRONTS] = all->inactive_wavefronts}};

    for (size_t i = 0; i < sizeof shared_families / sizeof *shared_families; i++)
        shared_family_totals(opcodes, &shared_families[i], sink);
    if (copied.sums[WM_SHARED_WAVEFRONTS])
        metric(&copied, WM_BANK_CONFLICTS, copies.suffix, WM_COUNTERS, sink);
    if (all->inactive_wavefronts)
        metric(&inactive, WM_SHARED_WAVEFRONTS, "_op_misc", WM_COUNTERS, sink);
    if (!all->sums[WM_SHARED_WAVEFRONTS])
        return;
    metric(all, WM_SHARED_WAVEFRONTS, "", WM_SHARED_WAVEFRONTS_IDEAL, sink);
    /* measured: an empty kernel has none, any other one a warp, as op_misc */
    sink->note(sink->context, "on hardware one op_misc more for each warp of the kernel: not added, a trace may lack warps");
    metric(all, WM_BANK_CONFLICTS, "", WM_COUNTERS, sink);
}

void totals_walk(const wm_tally *opcodes, const struct totals_sink *sink)
{
    const struct totals all = sum(opcodes, NULL);

    if (!all.is_present)
        return;
    for (size_t i = 0; i < sizeof tag_families / sizeof *tag_families; i++)
        tag_totals(opcodes, &tag_families[i], sink);
    if (all.sums[WM_REQUESTS]) {
        metric(&all, WM_LSU_WAVEFRONTS, "", WM_COUNTERS, sink);
        metric(&all, WM_L2_REQUESTS, "", WM_COUNTERS, sink);
        metric(&all, WM_L2_SECTORS, "", WM_SECTORS_IDEAL, sink);
        sink->note(sink->context, "lts__: if every sector misses L1");
    }
    shared_totals(opcodes, &all, sink);
    if (all.sums[WM_LSU_WRITEBACK])
        metric(&all, WM_LSU_WRITEBACK, "", WM_COUNTERS, sink);
}

static void table_total(void *context, const struct totals_line *line)
{
    struct buffer *out = context;

    buffer_puts(out, "  ");
    table_text(line->name, NAME_WIDTH - 2, out);
    table_count(line->count, COUNT_WIDTH, out);
    if (line->has_waste)
        table_percent(line->waste, line->count, WASTE_WIDTH, out);
    buffer_putc(out, '\n');
}

static void table_total_note(void *context, const char *text)
{
    buffer_printf(context, "    (%s)\n", text);
}

void table_totals(const wm_tally *opcodes, struct buffer *out)
{
    const struct totals_sink sink = {out, table_total, table_total_note};

    if (!wm_tally_row_at(opcodes, 0))
        return;
    buffer_putc(out, '\n');
    table_text("totals, under Nsight Compute's names", NAME_WIDTH, out);
    buffer_printf(out, "%*s%*s\n", COUNT_WIDTH, "count", WASTE_WIDTH, "waste");
    totals_walk(opcodes, &sink);
}

/* ----------------------------------------------------------------------------------------------------------- cycles */

/* The unit with the most to do. */
static enum wm_bound busiest_of(const double cycles[WM_BOUNDS])
{
    enum wm_bound busiest = WM_BOUND_NONE;

    for (int bound = 0; bound < WM_BOUNDS; bound++) {
        if (cycles[bound] > cycles[busiest])
            busiest = (enum wm_bound)bound;
    }
    return busiest;
}

/* A load that is taken to miss, and may do better. */
static int may_hit_l1(const struct wm_access *access)
{
    const unsigned space = access->opcode.space;

    return access->l1 == WM_L1_MISS && (space == WM_GLOBAL || space == WM_GENERIC || space == WM_LOCAL) &&
           (access->opcode.operation == WM_LD || access->opcode.operation == WM_CP_ASYNC);
}

void table_cycles(const wm_arch *arch, const wm_tally *opcodes, struct buffer *out)
{
    double real[WM_BOUNDS] = {0}, ideal[WM_BOUNDS] = {0};
    const struct wm_tally_row *row;
    struct buffer text = {0};
    int is_of_others = 0, misses = 0;
    enum wm_bound bound;

    /* units work at the same time; in one of them the cycles of all opcodes add up */
    for (size_t i = 0; (row = wm_tally_row_at(opcodes, i)) != NULL; i++) {
        struct wm_row_cycles cycles;
        struct wm_cycles worst;

        if (wm_cycles_row(arch, row, &cycles) != WM_OK ||
            wm_cycles(arch, &row->worst, &row->worst_counts, &worst) != WM_OK)
            continue;
        misses |= may_hit_l1(&row->worst);
        is_of_others |= worst.exactness == WM_BY_DOCUMENT || worst.exactness == WM_BY_ASSUMPTION;
        for (int unit = 0; unit < WM_BOUNDS; unit++) {
            real[unit] += cycles.units[unit];
            ideal[unit] += cycles.ideal_units[unit];
        }
    }
    bound = busiest_of(real);
    if (bound == WM_BOUND_NONE)
        return;
    buffer_printf(&text, "cycles of one SM for all of this: at least %.0f (%s)", real[bound], wm_bound_text(bound));
    bound = busiest_of(ideal);
    buffer_printf(&text, ", with ideal counts %.0f (%s)", ideal[bound], wm_bound_text(bound));
    if (misses)
        buffer_puts(&text, ", if every load misses L1");
    if (is_of_others)
        buffer_puts(&text, ", by the rates of another GPU");
    buffer_putc(out, '\n');
    table_wrapped(buffer_text(&text), 0, 4, out);
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

/* ------------------------------------------------------------------------------------------------------------ waste */

struct wasteful {
    const struct wm_tally_row *row;
    uint64_t excess;
};

static uint64_t excess_of(const struct wm_tally_row *row, enum wm_counter counter, enum wm_counter ideal)
{
    return row->sums[counter] > row->sums[ideal] ? row->sums[counter] - row->sums[ideal] : 0;
}

/* Puts a row into the list of the worst, which stays in descending order; of equals, the first stays in front. */
static void insert(struct wasteful worst[WORST_GROUPS], const struct wm_tally_row *row, uint64_t excess)
{
    size_t at = WORST_GROUPS;

    while (at > 0 && worst[at - 1].excess < excess)
        at--;
    if (at == WORST_GROUPS)
        return;
    memmove(&worst[at + 1], &worst[at], (WORST_GROUPS - 1 - at) * sizeof *worst);
    worst[at] = (struct wasteful){row, excess};
}

static void say_group(enum wm_by by, const struct wm_tally_row *row, struct buffer *text)
{
    char opcode[WM_OPCODE_TEXT_SIZE] = "";

    if (row->has_opcode) {
        wm_opcode_format(&row->opcode, opcode);
        buffer_puts(text, opcode);
    }
    if (row->line || row->pc != WM_NO_PC) {
        buffer_puts(text, " at ");
        if (row->line)
            report_line(row->file, row->line, text);
        else
            report_pc(row->pc, text);
    }
    if (by == WM_BY_OPCODE)
        return;
    buffer_puts(text, row->has_opcode ? " in " : "");
    buffer_puts(text, *row->kernel ? row->kernel : "a kernel without a name");
}

/* Sectors or shared wavefronts above the ideal, and who they belong to. */
static void waste(enum wm_by by, const wm_tally *tally, enum wm_counter counter, enum wm_counter ideal,
                  const char *what, struct buffer *text, struct buffer *out)
{
    struct wasteful worst[WORST_GROUPS] = {{NULL, 0}};
    const struct wm_tally_row *row;
    struct buffer raw = {0};
    uint64_t all = 0;

    for (size_t i = 0; (row = wm_tally_row_at(tally, i)) != NULL; i++) {
        uint64_t excess = excess_of(row, counter, ideal);

        all += excess;
        insert(worst, row, excess);
    }
    for (size_t i = 0; i < WORST_GROUPS && worst[i].excess; i++) {
        if (i == 0)
            buffer_printf(out, "\n%s above the ideal\n", what);
        table_count(worst[i].excess, 16, out);
        table_percent(worst[i].excess, all, 9, out);
        buffer_puts(out, "  ");
        buffer_clear(&raw);
        buffer_clear(text);
        say_group(by, worst[i].row, &raw);
        table_name(buffer_text(&raw), text);
        if (text->length > TABLE_COLUMNS - 27)
            buffer_printf(out, "%.*s...\n", TABLE_COLUMNS - 30, buffer_text(text));
        else
            buffer_printf(out, "%s\n", buffer_text(text));
    }
    if (raw.failed)
        out->failed = raw.failed;
    buffer_free(&raw);
}

void table_waste(enum wm_by by, const wm_tally *tally, struct buffer *out)
{
    struct buffer text = {0};

    /* one group has all there is */
    if (!wm_tally_row_at(tally, 1))
        return;
    waste(by, tally, WM_SECTORS, WM_SECTORS_IDEAL, "sectors", &text, out);
    waste(by, tally, WM_SHARED_WAVEFRONTS, WM_SHARED_WAVEFRONTS_IDEAL, "shared wavefronts", &text, out);
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}
