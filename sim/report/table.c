/* Tables for people: one line of numbers for a group, and below it what they mean. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* Widths of the columns of numbers. */
#define LANES_WIDTH 6
#define EACH_WIDTH 8
#define IDEAL_WIDTH 6
#define EFFICIENCY_WIDTH 8
#define WAYS_WIDTH 5
#define NUMBERS_WIDTH (LANES_WIDTH + 2 * (EACH_WIDTH + IDEAL_WIDTH) + EFFICIENCY_WIDTH + WAYS_WIDTH)

/* A table of single accesses cannot wait for its longest cell. */
#define ROW_INDEX_WIDTH 9
#define ROW_PLACE_WIDTH 16
#define ROW_OPCODE_WIDTH 17

/* ------------------------------------------------------------------------------------------------------ head and notes */

void table_head(const struct table_head *head, struct buffer *out)
{
    struct buffer text = {0};

    buffer_printf(&text, "%s (%s)%s, %s: ", wm_arch_name(head->arch), wm_arch_description(head->arch),
                  head->arch_is_default ? ", the default" : "",
                  head->l1 == WM_L1_HIT ? "loads hit L1" : "loads miss L1");
    for (size_t i = 0; i < head->file_count; i++) {
        if (i)
            buffer_puts(&text, ", ");
        table_name(strcmp(head->files[i], "-") == 0 ? "standard input" : head->files[i], &text);
    }
    table_wrapped(buffer_text(&text), 0, 4, out);
    buffer_puts(out,
                "sectors and wavefronts are per request; wavefronts of shared memory are passes of the data stage,\n"
                "    those of other memory passes of the tag stage\n");
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

/* Opcodes of a tally, each once, in the order in which they appear, and how far their counters can be trusted. */
struct opcode_set {
    struct wm_opcode list[64];
    uint8_t exactness[64][WM_COUNTERS];
    size_t used;
    int is_cut; /* there are more */
};

static void collect_opcodes(const wm_tally *tally, struct opcode_set *set)
{
    const struct wm_tally_row *row;

    memset(set, 0, sizeof *set);
    for (size_t i = 0; (row = wm_tally_row_at(tally, i)) != NULL; i++) {
        size_t at = 0;

        while (at < set->used && memcmp(&set->list[at], &row->opcode, sizeof row->opcode) != 0)
            at++;
        if (at == sizeof set->list / sizeof *set->list) {
            set->is_cut = 1;
            continue;
        }
        if (at == set->used)
            set->list[set->used++] = row->opcode;
        for (int c = 0; c < WM_COUNTERS; c++) {
            if (row->exactness[c] > set->exactness[at][c])
                set->exactness[at][c] = row->exactness[c];
        }
    }
}

/* Bit i: opcode number i of the set has that exactness in the counter. */
static uint64_t opcodes_with(const struct opcode_set *set, int counter, enum wm_exactness exactness)
{
    uint64_t mask = 0;

    for (size_t i = 0; i < set->used; i++) {
        if (set->exactness[i][counter] == exactness)
            mask |= UINT64_C(1) << i;
    }
    return mask;
}

/* The length of an opcode's first words, which name its kind: "ld.global", "cp.async", "ldmatrix". */
static size_t kind_length(const struct wm_opcode *opcode, const char *text)
{
    const char *dot = strchr(text, '.');

    if (dot && !opcode->matrices)
        dot = strchr(dot + 1, '.');
    return dot ? (size_t)(dot - text) : strlen(text);
}

/* Opcodes of a set, as a mask, that are of the same kind as number index. */
static uint64_t same_kind(const struct opcode_set *set, size_t index)
{
    char text[WM_OPCODE_TEXT_SIZE];
    char other[WM_OPCODE_TEXT_SIZE];
    uint64_t mask = 0;
    size_t length;

    wm_opcode_format(&set->list[index], text);
    length = kind_length(&set->list[index], text);
    for (size_t i = 0; i < set->used; i++) {
        wm_opcode_format(&set->list[i], other);
        if (kind_length(&set->list[i], other) == length && strncmp(text, other, length) == 0)
            mask |= UINT64_C(1) << i;
    }
    return mask;
}

/* The opcodes of a mask; where it has all of a kind, the kind's name will do. */
static void say_opcodes(const struct opcode_set *set, uint64_t mask, struct buffer *out)
{
    const char *comma = "";
    char text[WM_OPCODE_TEXT_SIZE];

    for (size_t i = 0; i < set->used; i++) {
        uint64_t kind = same_kind(set, i);
        size_t length;

        if (!(mask >> i & 1))
            continue;
        length = wm_opcode_format(&set->list[i], text);
        if ((mask & kind) == kind && !set->is_cut) {
            length = kind_length(&set->list[i], text);
            mask &= ~kind;
        }
        buffer_printf(out, "%s%.*s", comma, (int)length, text);
        comma = ", ";
    }
    if (set->is_cut)
        buffer_puts(out, ", ...");
}

/* One text per set of opcodes: the columns that are no better than that for them. */
static void walk_exactness(const struct opcode_set *set, enum wm_exactness exactness, note_function say, void *context,
                           struct buffer *text)
{
    uint64_t masks[WM_COUNTERS];

    for (int c = 0; c < WM_COUNTERS; c++)
        masks[c] = opcodes_with(set, c, exactness);
    for (int c = 0; c < WM_COUNTERS; c++) {
        if (!masks[c])
            continue;
        buffer_clear(text);
        buffer_puts(text, wm_counter_name((enum wm_counter)c));
        for (int other = c + 1; other < WM_COUNTERS; other++) {
            if (masks[other] != masks[c])
                continue;
            buffer_printf(text, " %s", wm_counter_name((enum wm_counter)other));
            masks[other] = 0;
        }
        buffer_puts(text, " of ");
        say_opcodes(set, masks[c], text);
        say(context, exactness, buffer_text(text));
    }
}

int notes_walk(const wm_tally *opcodes, note_function say, void *context)
{
    struct buffer text = {0};
    struct opcode_set set;
    int is_good;

    collect_opcodes(opcodes, &set);
    if (set.used) {
        walk_exactness(&set, WM_APPROXIMATE, say, context, &text);
        walk_exactness(&set, WM_BY_ASSUMPTION, say, context, &text);
        walk_exactness(&set, WM_BY_DOCUMENT, say, context, &text);
    }
    is_good = !text.failed;
    buffer_free(&text);
    return is_good;
}

const char *notes_heading(enum wm_exactness exactness)
{
    switch (exactness) {
    case WM_APPROXIMATE: return "approximate, known to differ from hardware on some accesses";
    case WM_BY_ASSUMPTION: return "assumed, not measured on this GPU";
    case WM_BY_DOCUMENT: return "from documents, not measured by this project";
    default: return "exact";
    }
}

struct table_note {
    struct buffer *out;
    enum wm_exactness exactness; /* of the last note; WM_EXACT: there was none */
};

static void table_note(void *context, enum wm_exactness exactness, const char *text)
{
    struct table_note *note = context;

    if (exactness != note->exactness)
        buffer_printf(note->out, "%s:\n", notes_heading(exactness));
    note->exactness = exactness;
    table_wrapped(text, 4, 6, note->out);
}

void table_notes(const wm_tally *opcodes, struct buffer *out)
{
    struct table_note note = {out, WM_EXACT};

    if (!notes_walk(opcodes, table_note, &note))
        out->failed = BUFFER_NO_MEMORY;
}

/* ------------------------------------------------------------------------------------------------------ lines of numbers */

/* Which side of the memory system a line of numbers is about. cp.async has a line for each. */
enum side { SIDE_SECTORS, SIDE_SHARED };

static enum side side_of(const struct wm_opcode *opcode)
{
    return opcode->space == WM_SHARED ? SIDE_SHARED : SIDE_SECTORS;
}

/* What the cells of a line are made of, for a group or a single access. */
struct numbers {
    uint64_t instructions;
    uint64_t lanes;
    uint64_t sums[WM_COUNTERS];
};

static void numbers_heading(struct buffer *out)
{
    buffer_printf(out, "%*s%*s%*s%*s%*s%*s%*s\n", LANES_WIDTH, "lanes", EACH_WIDTH, "sectors", IDEAL_WIDTH, "ideal",
                  EACH_WIDTH, "wavefr.", IDEAL_WIDTH, "ideal", EFFICIENCY_WIDTH, "effic.", WAYS_WIDTH, "ways");
}

uint64_t ideal_tag_wavefronts(const struct geometry *geometry, const struct wm_opcode *opcode,
                              const uint64_t sums[WM_COUNTERS])
{
    const int is_copy = opcode->operation == WM_CP_ASYNC;
    const uint64_t each = is_copy ? geometry->tag_banks : geometry->tag_wavefront_sectors;
    const uint64_t needed = (sums[is_copy ? WM_LINES : WM_SECTORS_IDEAL] + each - 1) / each;

    return needed > sums[WM_REQUESTS] ? needed : sums[WM_REQUESTS];
}

static void say_ways(uint64_t ways, struct buffer *out)
{
    if (ways > 1)
        table_count(ways, WAYS_WIDTH, out);
    else
        buffer_printf(out, "%*s", WAYS_WIDTH, "-");
}

static void numbers_line(const struct geometry *geometry, enum side side, const struct wm_opcode *opcode,
                         const struct numbers *numbers, struct buffer *out)
{
    const uint64_t *sums = numbers->sums;

    buffer_printf(out, "%*.1f", LANES_WIDTH, (double)numbers->lanes / (double)numbers->instructions);
    if (side == SIDE_SHARED) {
        buffer_printf(out, "%*s%*s", EACH_WIDTH, "-", IDEAL_WIDTH, "-");
        table_ratio(sums[WM_SHARED_WAVEFRONTS], numbers->instructions, EACH_WIDTH, out);
        table_ratio(sums[WM_SHARED_WAVEFRONTS_IDEAL], numbers->instructions, IDEAL_WIDTH, out);
        table_percent(sums[WM_SHARED_WAVEFRONTS_IDEAL], sums[WM_SHARED_WAVEFRONTS], EFFICIENCY_WIDTH, out);
        say_ways(sums[WM_WAYS], out);
    } else {
        table_ratio(sums[WM_SECTORS], sums[WM_REQUESTS], EACH_WIDTH, out);
        table_ratio(sums[WM_SECTORS_IDEAL], sums[WM_REQUESTS], IDEAL_WIDTH, out);
        table_ratio(sums[WM_TAG_WAVEFRONTS], sums[WM_REQUESTS], EACH_WIDTH, out);
        table_ratio(ideal_tag_wavefronts(geometry, opcode, sums), sums[WM_REQUESTS], IDEAL_WIDTH, out);
        table_percent(sums[WM_SECTORS_IDEAL], sums[WM_SECTORS], EFFICIENCY_WIDTH, out);
        buffer_printf(out, "%*s", WAYS_WIDTH, "-");
    }
    buffer_putc(out, '\n');
}

/* ------------------------------------------------------------------------------------------------- one row an access */

void table_row_begin(struct buffer *out)
{
    buffer_printf(out, "\n%*s  %-*s %-*s %8s", ROW_INDEX_WIDTH, "index", ROW_PLACE_WIDTH, "line or pc",
                  ROW_OPCODE_WIDTH, "opcode", "mask");
    numbers_heading(out);
}

/* A text of at most width characters: the end of a longer one is what tells it from others. */
static void place_cell(struct buffer *text, size_t width, struct buffer *out)
{
    const char *place = buffer_text(text);

    if (text->length > width) {
        buffer_puts(out, "...");
        buffer_puts(out, place + text->length - (width - 3));
    } else {
        table_text(place, width, out);
    }
}

/* The source line, or else the pc; both where both are wanted. */
static void place_text(const char *file, uint32_t line, uint64_t pc, int with_both, struct buffer *out)
{
    struct buffer name = {0};

    buffer_clear(out);
    if (line) {
        if (file)
            table_name(file, &name);
        report_line(file ? buffer_text(&name) : NULL, line, out);
        if (with_both && pc != WM_NO_PC)
            buffer_putc(out, ' ');
    }
    if (!line || with_both)
        report_pc(pc, out);
    if (name.failed)
        out->failed = name.failed;
    buffer_free(&name);
}

void table_row_add(struct row_cache *cache, const struct wm_access *access, const struct wm_counts *counts,
                   struct buffer *out)
{
    struct numbers numbers = {1, (uint64_t)__builtin_popcount(access->mask), {0}};
    const size_t indent = ROW_INDEX_WIDTH + 4;

    for (int c = 0; c < WM_COUNTERS; c++)
        numbers.sums[c] = wm_counts_get(counts, (enum wm_counter)c);
    buffer_puts(out, "  ");
    place_text(access->file, access->line, access->pc, 0, &cache->scratch);
    place_cell(&cache->scratch, ROW_PLACE_WIDTH, out);
    buffer_putc(out, ' ');
    table_text(cache->opcode_text, ROW_OPCODE_WIDTH, out);
    buffer_putc(out, ' ');
    buffer_hex(out, access->mask, 8);
    numbers_line(cache->geometry, side_of(&access->opcode), &access->opcode, &numbers, out);
    if (access->opcode.operation == WM_CP_ASYNC && counts->shared_wavefronts) {
        buffer_printf(out, "%*s", ROW_INDEX_WIDTH + 2 + ROW_PLACE_WIDTH + 1 + ROW_OPCODE_WIDTH + 9, "shared side");
        numbers_line(cache->geometry, SIDE_SHARED, &access->opcode, &numbers, out);
    }
    buffer_clear(&cache->scratch);
    if (access->count > 1)
        buffer_printf(&cache->scratch, "%llu times: ", (unsigned long long)access->count);
    verdict_access(cache->geometry, access, counts, &cache->scratch);
    for (int c = 0, is_first = 1; c < WM_COUNTERS; c++) {
        if (!(counts->inexact >> c & 1))
            continue;
        buffer_printf(&cache->scratch, "%s %s", is_first ? "; approximate:" : "", wm_counter_name((enum wm_counter)c));
        is_first = 0;
    }
    table_wrapped(buffer_text(&cache->scratch), indent, indent + 2, out);
    if (cache->scratch.failed)
        out->failed = cache->scratch.failed;
}

/* -------------------------------------------------------------------------------------------------------- one row a group */

struct widths {
    size_t place; /* 0: no row has one */
    size_t opcode;
    size_t executed;
};

static void widen(size_t *width, size_t length)
{
    if (length > *width)
        *width = length;
}

/* Columns wide enough for every row; a place gives way, as its end can be shown alone. */
static void measure(const wm_tally *tally, struct buffer *text, struct widths *out)
{
    const struct wm_tally_row *row;
    size_t taken;

    *out = (struct widths){0, sizeof "opcode" - 1, sizeof "executed" - 1};
    for (size_t i = 0; (row = wm_tally_row_at(tally, i)) != NULL; i++) {
        char opcode[WM_OPCODE_TEXT_SIZE];

        widen(&out->opcode, wm_opcode_format(&row->opcode, opcode));
        place_text(row->file, row->line, row->pc, 1, text);
        widen(&out->place, text->length);
        buffer_clear(text);
        table_count(row->instructions, 0, text);
        widen(&out->executed, text->length);
    }
    if (!out->place)
        return;
    widen(&out->place, sizeof "line or pc" - 1);
    taken = 2 + 1 + out->opcode + 2 + out->executed + NUMBERS_WIDTH;
    if (taken + out->place > TABLE_COLUMNS)
        out->place = taken + 12 < TABLE_COLUMNS ? TABLE_COLUMNS - taken : 12;
}

static void group_heading(const struct widths *widths, struct buffer *out)
{
    buffer_puts(out, "  ");
    if (widths->place) {
        table_text("line or pc", widths->place, out);
        buffer_putc(out, ' ');
    }
    table_text("opcode", widths->opcode, out);
    buffer_printf(out, "%*s", (int)widths->executed + 2, "executed");
    numbers_heading(out);
}

static void group_line(const struct geometry *geometry, const struct wm_tally_row *row, const struct widths *widths,
                       struct buffer *text, struct buffer *out)
{
    struct numbers numbers = {row->instructions, row->lanes, {0}};
    char opcode[WM_OPCODE_TEXT_SIZE] = "";

    memcpy(numbers.sums, row->sums, sizeof numbers.sums);
    wm_opcode_format(&row->opcode, opcode);
    buffer_puts(out, "  ");
    if (widths->place) {
        place_text(row->file, row->line, row->pc, 1, text);
        place_cell(text, widths->place, out);
        buffer_putc(out, ' ');
    }
    table_text(opcode, widths->opcode, out);
    table_count(row->instructions, widths->executed + 2, out);
    numbers_line(geometry, side_of(&row->opcode), &row->opcode, &numbers, out);
    if (row->opcode.operation == WM_CP_ASYNC && row->sums[WM_SHARED_WAVEFRONTS]) {
        size_t width = 2 + widths->place + (widths->place ? 1 : 0) + widths->opcode + 2 + widths->executed;

        buffer_printf(out, "%*s", (int)width, "shared side");
        numbers_line(geometry, SIDE_SHARED, &row->opcode, &numbers, out);
    }
    buffer_clear(text);
    verdict_group(geometry, row, text);
    table_wrapped(buffer_text(text), 6, 8, out);
}

static void kernel_heading(const char *kernel, struct buffer *text, struct buffer *out)
{
    buffer_clear(text);
    if (*kernel) {
        buffer_puts(text, "kernel ");
        table_name(kernel, text);
    } else {
        buffer_puts(text, "kernel without a name");
    }
    table_wrapped(buffer_text(text), 0, 7, out);
}

/* A kernel's own numbers are sums: its opcodes have no common request. */
static void kernel_line(const struct geometry *geometry, const struct wm_tally_row *row, struct buffer *text,
                        struct buffer *out)
{
    const uint64_t *sums = row->sums;
    char opcode[WM_OPCODE_TEXT_SIZE] = "";

    buffer_putc(out, '\n');
    kernel_heading(row->kernel, text, out);
    buffer_printf(out, "%16s%16s%16s%8s%16s%16s%8s\n", "executed", "sectors", "ideal", "effic.", "shared wavefr.",
                  "ideal", "effic.");
    table_count(row->instructions, 16, out);
    table_count(sums[WM_SECTORS], 16, out);
    table_count(sums[WM_SECTORS_IDEAL], 16, out);
    table_percent(sums[WM_SECTORS_IDEAL], sums[WM_SECTORS], 8, out);
    table_count(sums[WM_SHARED_WAVEFRONTS], 16, out);
    table_count(sums[WM_SHARED_WAVEFRONTS_IDEAL], 16, out);
    table_percent(sums[WM_SHARED_WAVEFRONTS_IDEAL], sums[WM_SHARED_WAVEFRONTS], 8, out);
    wm_opcode_format(&row->worst.opcode, opcode);
    buffer_clear(text);
    buffer_printf(text, "worst access: %s: ", opcode);
    verdict_access(geometry, &row->worst, &row->worst_counts, text);
    buffer_putc(out, '\n');
    table_wrapped(buffer_text(text), 6, 8, out);
}

/* Rows stand under their kernel, kernels in the order in which they first appeared. */
struct position {
    const struct wm_tally_row *row;
    size_t index;
    size_t kernel; /* index of the kernel's first row */
};

static int compare_names(const void *a, const void *b)
{
    const struct position *x = a;
    const struct position *y = b;
    int order = strcmp(x->row->kernel, y->row->kernel);

    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int compare_positions(const void *a, const void *b)
{
    const struct position *x = a;
    const struct position *y = b;

    if (x->kernel != y->kernel)
        return x->kernel > y->kernel ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The rows in the table's order; NULL: out of memory. To be freed. */
static struct position *arrange(const wm_tally *tally, size_t *count)
{
    const struct wm_tally_row *row;
    struct position *positions;
    size_t n = 0;

    while (wm_tally_row_at(tally, n))
        n++;
    *count = n;
    positions = malloc((n ? n : 1) * sizeof *positions);
    if (!positions)
        return NULL;
    for (size_t i = 0; (row = wm_tally_row_at(tally, i)) != NULL; i++)
        positions[i] = (struct position){row, i, i};
    qsort(positions, n, sizeof *positions, compare_names);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(positions[i].row->kernel, positions[i - 1].row->kernel) == 0)
            positions[i].kernel = positions[i - 1].kernel;
    }
    qsort(positions, n, sizeof *positions, compare_positions);
    return positions;
}

static void group_table(const struct geometry *geometry, enum wm_by by, const wm_tally *tally, struct buffer *text,
                        struct buffer *out)
{
    struct widths widths;
    size_t count;
    struct position *positions = arrange(tally, &count);

    if (!positions) {
        out->failed = BUFFER_NO_MEMORY;
        return;
    }
    measure(tally, text, &widths);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || positions[i].kernel != positions[i - 1].kernel) {
            buffer_putc(out, '\n');
            if (by != WM_BY_OPCODE)
                kernel_heading(positions[i].row->kernel, text, out);
            group_heading(&widths, out);
        }
        group_line(geometry, positions[i].row, &widths, text, out);
    }
    free(positions);
}

void table_groups(const struct geometry *geometry, enum wm_by by, const wm_tally *tally, struct buffer *out)
{
    const struct wm_tally_row *row;
    struct buffer text = {0};

    if (by != WM_BY_KERNEL)
        group_table(geometry, by, tally, &text, out);
    for (size_t i = 0; by == WM_BY_KERNEL && (row = wm_tally_row_at(tally, i)) != NULL; i++)
        kernel_line(geometry, row, &text, out);
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}
