/* An access as text for a terminal: plain ASCII, with colours where they are wanted. See picture.h. */
#include "config.h"

#include "picture_parts.h"

#include <stdio.h>
#include <string.h>

enum paint { PLAIN, SERVED, SHARED_WORD, CONFLICT, WASTE, FAINT, TITLE };

struct canvas {
    const struct picture *picture;
    struct buffer *out;
    struct buffer scratch;
    unsigned columns;
    int has_colour;
};

/* ---------------------------------------------------------------------------------------------------------- writing */

static void paint_on(const struct canvas *canvas, enum paint paint)
{
    /* blue and orange are told apart by everybody; what matters is bold too */
    static const char *const codes[] = {[PLAIN] = "",   [SERVED] = "36", [SHARED_WORD] = "1;36", [CONFLICT] = "1;33",
                                        [WASTE] = "33", [FAINT] = "2",   [TITLE] = "1"};

    if (canvas->has_colour && *codes[paint])
        buffer_printf(canvas->out, "\033[%sm", codes[paint]);
}

static void paint_off(const struct canvas *canvas, enum paint paint)
{
    if (canvas->has_colour && paint != PLAIN)
        buffer_puts(canvas->out, "\033[0m");
}

static void painted(const struct canvas *canvas, enum paint paint, const char *text)
{
    paint_on(canvas, paint);
    buffer_puts(canvas->out, text);
    paint_off(canvas, paint);
}

/* A heading, and what explains it, wrapped behind it. */
static void heading(const struct canvas *canvas, const char *title, const char *text)
{
    size_t at = strlen(title);

    buffer_putc(canvas->out, '\n');
    painted(canvas, TITLE, title);
    while (*text) {
        const size_t word = strcspn(text, " ");

        if (at + 1 + word > canvas->columns) {
            buffer_puts(canvas->out, "\n ");
            at = 1;
        }
        buffer_putc(canvas->out, ' ');
        buffer_add(canvas->out, text, word);
        at += 1 + word;
        text += word + strspn(text + word, " ");
    }
    buffer_putc(canvas->out, '\n');
}

/* Ends a line without blanks before its end. */
static void end_line(const struct canvas *canvas)
{
    struct buffer *out = canvas->out;

    while (out->length && out->data[out->length - 1] == ' ')
        out->length--;
    buffer_putc(out, '\n');
}

/* Pieces that follow one another on lines of at most columns, with an indent. */
struct flow {
    const struct canvas *canvas;
    size_t at; /* 0: nothing on the line yet */
    size_t indent;
    size_t gap; /* between pieces */
};

static void flow_add(struct flow *flow, enum paint paint, const char *text)
{
    const size_t length = strlen(text);

    if (flow->at && flow->at + flow->gap + length > flow->canvas->columns) {
        buffer_putc(flow->canvas->out, '\n');
        flow->at = 0;
    }
    if (flow->at == 0) {
        buffer_spaces(flow->canvas->out, flow->indent);
        flow->at = flow->indent;
    } else {
        buffer_spaces(flow->canvas->out, flow->gap);
        flow->at += flow->gap;
    }
    painted(flow->canvas, paint, text);
    flow->at += length;
}

static void flow_end(struct flow *flow)
{
    if (flow->at)
        buffer_putc(flow->canvas->out, '\n');
    flow->at = 0;
}

/* A sentence, wrapped at its blanks. */
static void sentence(const struct canvas *canvas, enum paint paint, size_t indent, const char *text)
{
    size_t at = indent;
    int is_first = 1;

    buffer_spaces(canvas->out, indent);
    paint_on(canvas, paint);
    while (*text) {
        const size_t word = strcspn(text, " ");

        if (!is_first && at + 1 + word > canvas->columns) {
            buffer_putc(canvas->out, '\n');
            buffer_spaces(canvas->out, indent + 2);
            at = indent + 2;
        } else if (!is_first) {
            buffer_putc(canvas->out, ' ');
            at++;
        }
        buffer_add(canvas->out, text, word);
        at += word;
        is_first = 0;
        text += word + strspn(text + word, " ");
    }
    paint_off(canvas, paint);
    buffer_putc(canvas->out, '\n');
}

/* ------------------------------------------------------------------------------------------------------------- head */

static void add_count(struct canvas *canvas, struct flow *flow, const char *name, enum wm_counter counter, int ideal)
{
    const struct wm_counts *counts = canvas->picture->counts;
    const uint32_t value = wm_counts_get(counts, counter);
    const uint32_t least = ideal >= 0 ? wm_counts_get(counts, (enum wm_counter)ideal) : value;

    buffer_clear(&canvas->scratch);
    buffer_printf(&canvas->scratch, "%s %s%u", name, picture_is_near(canvas->picture, counter) ? "~" : "", value);
    if (ideal >= 0)
        buffer_printf(&canvas->scratch, " (ideally %u)", least);
    flow_add(flow, value > least ? CONFLICT : PLAIN, buffer_text(&canvas->scratch));
}

static void head(struct canvas *canvas)
{
    const struct picture *p = canvas->picture;
    const struct wm_anatomy *a = p->anatomy;
    const int has_shared = a->path == WM_PATH_SHARED || a->path == WM_PATH_COPY || p->counts->shared_wavefronts > 0;
    const int has_lines = a->requests > 0;
    struct flow flow = {canvas, 0, 2, 3};
    char opcode[WM_OPCODE_TEXT_SIZE];

    wm_opcode_format(&p->access->opcode, opcode);
    painted(canvas, TITLE, opcode);
    buffer_printf(canvas->out, " %08x: ", p->access->mask);
    if (a->lanes)
        picture_subject(p, canvas->out);
    else
        buffer_puts(canvas->out, "no active lane");
    buffer_printf(canvas->out, ", %s", wm_arch_name(p->arch));
    if (has_lines && (p->access->opcode.operation == WM_LD || a->path == WM_PATH_COPY) &&
        p->access->opcode.space != WM_SHARED_CLUSTER)
        buffer_printf(canvas->out, ", L1 %s", p->access->l1 == WM_L1_HIT ? "hit" : "miss");
    buffer_putc(canvas->out, '\n');
    if (has_lines) {
        if (a->requests > 1)
            add_count(canvas, &flow, "requests", WM_REQUESTS, -1);
        add_count(canvas, &flow, "sectors", WM_SECTORS, WM_SECTORS_IDEAL);
        add_count(canvas, &flow, "lines", WM_LINES, -1);
        add_count(canvas, &flow, "tag wavefronts", WM_TAG_WAVEFRONTS, -1);
        if (a->path == WM_PATH_L1 || a->path == WM_PATH_ATOMIC)
            add_count(canvas, &flow, "data wavefronts", WM_LSU_WAVEFRONTS, -1);
    }
    if (has_shared) {
        add_count(canvas, &flow, "shared wavefronts", WM_SHARED_WAVEFRONTS, WM_SHARED_WAVEFRONTS_IDEAL);
        if (a->path != WM_PATH_NONE && a->path != WM_PATH_ATOMIC) {
            add_count(canvas, &flow, "bank conflicts", WM_BANK_CONFLICTS, -1);
            add_count(canvas, &flow, "ways", WM_WAYS, -1);
        }
    }
    if (has_lines) {
        add_count(canvas, &flow, "L2 requests", WM_L2_REQUESTS, -1);
        add_count(canvas, &flow, "L2 sectors", WM_L2_SECTORS, -1);
    }
    flow_end(&flow);
}

/* ------------------------------------------------------------------------------------------------------------ banks */

typedef struct picture_cell cell_row[PICTURE_BANK_COUNT];

#define LABEL 4U

/* Banks that fit on a line, and the columns of each. */
static unsigned banks_on_a_line(const struct canvas *canvas, unsigned *cell_columns)
{
    unsigned banks = canvas->picture->anatomy->banks;

    while (LABEL + banks * 3 > canvas->columns)
        banks /= 2;
    *cell_columns = banks < canvas->picture->anatomy->banks ? 4 : 3;
    return banks;
}

static void number_in(const struct canvas *canvas, unsigned number, unsigned columns, enum paint paint, char mark)
{
    struct buffer *out = canvas->out;

    buffer_spaces(out, columns - 3);
    paint_on(canvas, paint);
    buffer_printf(out, "%2u", number);
    if (mark != ' ')
        buffer_putc(out, mark);
    paint_off(canvas, paint);
    if (mark == ' ')
        buffer_putc(out, ' ');
}

static void nothing_in(const struct canvas *canvas, unsigned columns)
{
    buffer_spaces(canvas->out, columns - 2);
    painted(canvas, FAINT, ".");
    buffer_putc(canvas->out, ' ');
}

static void bank_numbers(const struct canvas *canvas, unsigned first, unsigned end, unsigned columns)
{
    paint_on(canvas, FAINT);
    buffer_puts(canvas->out, "bank");
    for (unsigned bank = first; bank < end; bank++) {
        buffer_spaces(canvas->out, columns - 3);
        buffer_printf(canvas->out, bank + 1 < end ? "%2u " : "%2u", bank);
    }
    paint_off(canvas, FAINT);
    buffer_putc(canvas->out, '\n');
}

/* One pass: which lane each bank serves. "+": more lanes are served by the same word. */
static void pass_row(const struct canvas *canvas, const cell_row cells, const unsigned *ways, unsigned pass,
                     unsigned first, unsigned end, unsigned columns)
{
    buffer_printf(canvas->out, "%3u ", pass + 1);
    for (unsigned bank = first; bank < end; bank++) {
        const uint32_t lanes = cells[bank].lanes;
        const int is_shared = lanes && (lanes & (lanes - 1));

        if (!lanes)
            nothing_in(canvas, columns);
        else
            number_in(canvas, picture_first_lane(lanes), columns,
                      ways[bank] > 1 ? CONFLICT
                      : is_shared    ? SHARED_WORD
                                     : SERVED,
                      is_shared ? '+' : ' ');
    }
    end_line(canvas);
}

static void ways_row(const struct canvas *canvas, const unsigned *ways, unsigned first, unsigned end, unsigned columns)
{
    buffer_puts(canvas->out, "sum ");
    for (unsigned bank = first; bank < end; bank++) {
        if (ways[bank])
            number_in(canvas, ways[bank], columns, ways[bank] > 1 ? CONFLICT : FAINT, ' ');
        else
            nothing_in(canvas, columns);
    }
    end_line(canvas);
}

static void bank_grid(const struct canvas *canvas, const struct wm_phase *phase, cell_row *cells)
{
    const unsigned banks = canvas->picture->anatomy->banks;
    unsigned ways[PICTURE_BANK_COUNT], columns;
    const unsigned step = banks_on_a_line(canvas, &columns);

    for (unsigned bank = 0; bank < banks; bank++)
        ways[bank] = picture_bank_ways(phase, cells, bank);
    for (unsigned first = 0; first < banks; first += step) {
        bank_numbers(canvas, first, first + step, columns);
        for (unsigned pass = 0; pass < phase->passes; pass++)
            pass_row(canvas, cells[pass], ways, pass, first, first + step, columns);
        if (phase->passes > 1)
            ways_row(canvas, ways, first, first + step, columns);
    }
}

/* Whether two banks serve the same lanes in every pass. */
static int banks_are_alike(const struct wm_phase *phase, cell_row *cells, unsigned a, unsigned b)
{
    for (unsigned pass = 0; pass < phase->passes; pass++) {
        if (cells[pass][a].lanes != cells[pass][b].lanes)
            return 0;
    }
    return 1;
}

/* A bank of several words: each with its lanes and address, in the order of passes. */
static void conflict(struct canvas *canvas, const struct wm_phase *phase, enum picture_side side, cell_row *cells,
                     unsigned bank, unsigned last)
{
    const int by_lane = !canvas->picture->anatomy->words_merge;
    struct flow flow = {canvas, 0, 4, 1};
    struct buffer *text = &canvas->scratch;
    unsigned ways = picture_bank_ways(phase, cells, bank), said = 0;

    buffer_clear(text);
    if (last > bank)
        buffer_printf(text, "banks %u-%u: %u %s:", bank, last, ways,
                      by_lane ? "lanes one after the other" : "words each");
    else
        buffer_printf(text, "bank %u: %u %s:", bank, ways, by_lane ? "lanes one after the other" : "words");
    flow.indent = 2;
    flow_add(&flow, CONFLICT, buffer_text(text));
    flow.indent = 4;
    for (unsigned pass = 0; pass < phase->passes; pass++) {
        const uint32_t lanes = cells[pass][bank].lanes;

        if (!lanes)
            continue;
        buffer_clear(text);
        picture_lanes_named(lanes, text);
        buffer_printf(text, " at 0x%llx%s",
                      (unsigned long long)picture_word(canvas->picture, phase, side, picture_first_lane(lanes), bank),
                      ++said < ways ? "," : "");
        flow_add(&flow, PLAIN, buffer_text(text));
    }
    flow_end(&flow);
}

static void conflicts(struct canvas *canvas, const struct wm_phase *phase, enum picture_side side, cell_row *cells)
{
    const unsigned banks = canvas->picture->anatomy->banks;

    for (unsigned bank = 0; bank < banks;) {
        unsigned end = bank + 1;

        while (end < banks && banks_are_alike(phase, cells, bank, end))
            end++;
        if (picture_bank_ways(phase, cells, bank) > 1)
            conflict(canvas, phase, side, cells, bank, end - 1);
        bank = end;
    }
}

static void phase_line(struct canvas *canvas, const struct wm_phase *phase)
{
    struct buffer *text = &canvas->scratch;

    buffer_clear(text);
    picture_phase_title(canvas->picture, phase, text);
    buffer_puts(text, ": ");
    picture_lanes_named(phase->lanes, text);
    buffer_printf(text, ", %u pass%s%s", phase->passes, phase->passes == 1 ? "" : "es",
                  phase->repeats > 1 ? ", and all of them a second time" : "");
    sentence(canvas, phase->passes > 1 ? CONFLICT : PLAIN, 0, buffer_text(text));
}

static void shared_phases(struct canvas *canvas)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;
    const int is_copy = a->path == WM_PATH_COPY;
    cell_row cells[PICTURE_PASSES];

    for (uint32_t i = 0; i < a->phase_count; i++) {
        const struct wm_phase *phase = &a->phase[i];

        if (i)
            buffer_putc(canvas->out, '\n');
        phase_line(canvas, phase);
        if (is_copy)
            buffer_puts(canvas->out, "into shared memory:\n");
        picture_fill(canvas->picture, phase, is_copy ? PICTURE_SHARED_SIDE : PICTURE_BANKS, cells);
        bank_grid(canvas, phase, cells);
        conflicts(canvas, phase, is_copy ? PICTURE_SHARED_SIDE : PICTURE_BANKS, cells);
        if (is_copy && phase->passes > 1) {
            buffer_puts(canvas->out, "out of L1:\n");
            picture_fill(canvas->picture, phase, PICTURE_SOURCE_SIDE, cells);
            bank_grid(canvas, phase, cells);
            conflicts(canvas, phase, PICTURE_SOURCE_SIDE, cells);
        }
    }
}

static void banks(struct canvas *canvas)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;

    if (a->path == WM_PATH_COPY) {
        heading(canvas, "Banks:",
                "a column is a bank, a row a pass, a number a lane. A lane waits for those before it that use "
                "its place in either memory, at one word or not.");
    } else if (!a->words_merge) {
        heading(canvas, "Banks:",
                "a column is a bank, a row a pass, a number a lane. An atomic goes lane by lane: two lanes "
                "that come to one bank conflict, at one word or not.");
    } else {
        heading(canvas, "Banks:",
                "a column is a bank, a row a pass, a number a lane (\"3+\": lane 3 and others that want the "
                "same word). A bank serves one word in a pass: a second word is a conflict.");
    }
    shared_phases(canvas);
}

/* ------------------------------------------------------------------------------------------------- passes as a list */

static uint32_t lanes_of_pass(const struct wm_phase *phase, unsigned pass)
{
    uint32_t lanes = 0;

    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        if ((phase->lanes >> lane & 1) && phase->pass[lane] == pass)
            lanes |= UINT32_C(1) << lane;
    }
    return lanes;
}

/* "tag wavefront 1: 1 pass: 0-7", or "...: 3 passes: 0 | 1 | 2" */
static void phase_passes(struct canvas *canvas, const struct wm_phase *phase)
{
    struct flow flow = {canvas, 0, 2, 1};
    struct buffer *text = &canvas->scratch;

    buffer_clear(text);
    picture_phase_title(canvas->picture, phase, text);
    if (picture_has_attempts(canvas->picture->anatomy, phase))
        buffer_printf(text, ": %u attempt%s:", phase->passes, phase->passes == 1 ? "" : "s");
    else
        buffer_printf(text, ": %u pass%s:", phase->passes, phase->passes == 1 ? "" : "es");
    flow_add(&flow, phase->passes > 1 ? CONFLICT : PLAIN, buffer_text(text));
    flow.indent = 6;
    for (unsigned pass = 0, blocked = 0; pass < phase->passes; pass++) {
        const uint32_t lanes = lanes_of_pass(phase, pass);

        if (!lanes && pass + 1U < phase->passes && !lanes_of_pass(phase, pass + 1)) {
            blocked++;
            continue;
        }
        buffer_clear(text);
        if (lanes)
            picture_lanes(lanes, text);
        else
            buffer_printf(text, "%u blocked", blocked + 1);
        blocked = 0;
        buffer_puts(text, pass + 1U < phase->passes ? " |" : "");
        flow_add(&flow, PLAIN, buffer_text(text));
    }
    flow_end(&flow);
}

static const char *data_rule(const struct picture *p)
{
    const struct wm_anatomy *a = p->anatomy;

    if (a->path == WM_PATH_ATOMIC)
        return "the values of a pass on their way to the atomic units, and the results on their way back; each bank "
               "serves "
               "one word in a pass. Lanes, by pass:";
    if (a->phase_count && picture_has_attempts(a, &a->phase[0]))
        return "tag wavefronts that share data wavefronts; words narrower than a bank are written in attempts; those of "
               "groups behind the first that leave out bytes of a word are blocked while the drain to L2 reads their "
               "banks. Lanes, by attempt:";
    if (p->access->opcode.operation != WM_LD)
        return "tag wavefronts that share data wavefronts; each bank takes one word in a pass. Lanes, by pass:";
    if (a->phase_count && !a->phase[0].wavefronts)
        return "on an L1 hit the whole warp at once, whatever its lines; each bank serves one word in a pass. Lanes, "
               "by pass:";
    return "each tag wavefront by itself; each bank serves one word in a pass. Lanes, by pass:";
}

static void data_passes(struct canvas *canvas)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;

    heading(canvas, "Data stage:", data_rule(canvas->picture));
    for (uint32_t i = 0; i < a->phase_count; i++)
        phase_passes(canvas, &a->phase[i]);
}

/* ------------------------------------------------------------------------------------------------------------ lines */

/* Columns of a row of the table. */
struct layout {
    unsigned sectors;
    unsigned address; /* its columns */
    unsigned cell;    /* of a sector */
    int has_number;   /* of the line */
};

#define ROW_END 21U /* bytes used, tag bank, tag wavefront */

static struct layout layout_of(const struct canvas *canvas)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;
    struct layout layout = {a->line_bytes / a->sector_bytes, 8, 0, 0};

    for (uint32_t i = 0; i < a->line_count; i++) {
        unsigned digits = 3;

        for (uint64_t rest = a->line[i].address; rest >>= 4;)
            digits++;
        if (digits + 1 > layout.address)
            layout.address = digits + 1;
    }
    layout.cell = (canvas->columns - 4 - layout.address - ROW_END) / layout.sectors;
    if (layout.cell > 15)
        layout.cell = 15;
    if (layout.cell < 5)
        layout.cell = 5;
    return layout;
}

/* Text in a cell of that many columns, cut where longer. */
static void cell_text(const struct canvas *canvas, enum paint paint, const char *text, unsigned columns)
{
    size_t length = strlen(text);

    if (length > columns)
        length = columns;
    paint_on(canvas, paint);
    buffer_add(canvas->out, text, length);
    paint_off(canvas, paint);
    buffer_spaces(canvas->out, columns - length);
}

static void table_top(struct canvas *canvas, const struct layout *layout)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;
    struct buffer *text = &canvas->scratch;

    paint_on(canvas, FAINT);
    buffer_puts(canvas->out, "  # ");
    cell_text(canvas, PLAIN, "line", layout->address);
    for (unsigned s = 0; s < layout->sectors; s++) {
        buffer_clear(text);
        buffer_printf(text, layout->cell < 12 ? "+%u" : "sector +%u", s * a->sector_bytes);
        cell_text(canvas, PLAIN, buffer_text(text), layout->cell);
    }
    buffer_puts(canvas->out, a->path == WM_PATH_ATOMIC ? "used     bank pass" : "used     bank wavefr.");
    paint_off(canvas, FAINT);
    buffer_putc(canvas->out, '\n');
}

/* Lanes of a sector and the bytes that they use of it: "0-7 32". What does not fit is said below the table. 0: it did not. */
static int sector_cell(struct canvas *canvas, const struct wm_line *line, unsigned sector, const struct layout *layout)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;
    const uint32_t lanes = line->sector_lanes[sector];
    const unsigned used = picture_sector_bytes_used(a, line, sector);
    struct buffer *text = &canvas->scratch;
    int fits = 1;

    buffer_clear(text);
    if (!lanes) {
        cell_text(canvas, FAINT, "-", layout->cell);
        return 1;
    }
    picture_lanes(lanes, text);
    buffer_printf(text, ":%u", used);
    if (text->length + 1 > layout->cell) {
        buffer_clear(text);
        buffer_printf(text, "*:%u", used);
        fits = 0;
    }
    cell_text(canvas, used < a->sector_bytes ? WASTE : SERVED, buffer_text(text), layout->cell);
    return fits;
}

static void row_end(struct canvas *canvas, const struct wm_line *line)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;
    const unsigned used = picture_bytes_used(a, line);
    const unsigned touched = picture_lane_count(picture_sectors_touched(a, line)) * a->sector_bytes;
    struct buffer *text = &canvas->scratch;

    buffer_clear(text);
    buffer_printf(text, "%u/%u", used, touched);
    cell_text(canvas, used < touched ? WASTE : PLAIN, buffer_text(text), 8);
    buffer_printf(canvas->out, " %4u %4u\n", line->tag_bank, line->wavefront + 1U);
}

/* The sectors whose lanes did not fit into the table. */
static void starred(struct canvas *canvas, uint32_t line, uint32_t sectors)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;
    struct buffer *text = &canvas->scratch;

    for (unsigned s = 0; s < WM_ANATOMY_SECTORS; s++) {
        struct flow flow = {canvas, 0, 4, 1};

        if (!(sectors >> s & 1))
            continue;
        buffer_clear(text);
        buffer_printf(text, "* #%u +%u:", line, s * a->sector_bytes);
        flow_add(&flow, PLAIN, buffer_text(text));
        buffer_clear(text);
        picture_lanes_named(a->line[line].sector_lanes[s], text);
        flow.indent = 6;
        flow_add(&flow, PLAIN, buffer_text(text));
        flow_end(&flow);
    }
}

static void table_row(struct canvas *canvas, uint32_t i, const struct layout *layout, uint32_t *left_out)
{
    const struct wm_line *line = &canvas->picture->anatomy->line[i];
    struct buffer *text = &canvas->scratch;

    buffer_printf(canvas->out, "%3u ", i);
    buffer_clear(text);
    buffer_printf(text, "0x%llx", (unsigned long long)line->address);
    cell_text(canvas, PLAIN, buffer_text(text), layout->address);
    *left_out = 0;
    for (unsigned s = 0; s < layout->sectors; s++) {
        if (!sector_cell(canvas, line, s, layout))
            *left_out |= UINT32_C(1) << s;
    }
    row_end(canvas, line);
}

static void line_table(struct canvas *canvas, unsigned request)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;
    const struct layout layout = layout_of(canvas);
    uint32_t left_out[WM_ANATOMY_LINES] = {0};

    table_top(canvas, &layout);
    for (uint32_t i = 0; i < a->line_count; i++) {
        if (a->line[i].request == request)
            table_row(canvas, i, &layout, &left_out[i]);
    }
    for (uint32_t i = 0; i < a->line_count; i++)
        starred(canvas, i, left_out[i]);
}

/* What all lines come to. */
static void line_sum(struct canvas *canvas)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;
    const struct picture_verbs verbs = picture_verbs(canvas->picture);
    unsigned used = 0, touched = 0;

    if (a->path == WM_PATH_ATOMIC) {
        const struct picture_footprint footprint = picture_footprint(a);

        touched = footprint.sectors;
        used = footprint.used;
    }
    for (uint32_t i = 0; i < a->line_count && a->path != WM_PATH_ATOMIC; i++) {
        used += picture_bytes_used(a, &a->line[i]);
        touched += picture_lane_count(picture_sectors_touched(a, &a->line[i]));
    }
    buffer_printf(canvas->out, "    %u sector%s = %u B %s, %u B %s, ", touched, touched == 1 ? "" : "s",
                  touched * a->sector_bytes, verbs.sector, used, verbs.used);
    buffer_clear(&canvas->scratch);
    buffer_printf(&canvas->scratch, "%u B %s", touched * a->sector_bytes - used, verbs.rest);
    painted(canvas, touched * a->sector_bytes > used ? WASTE : PLAIN, buffer_text(&canvas->scratch));
    if (a->path == WM_PATH_ATOMIC && canvas->picture->counts->sectors > touched)
        buffer_printf(canvas->out, "; %u lookups", canvas->picture->counts->sectors);
    buffer_putc(canvas->out, '\n');
}

/* Which lines each tag wavefront looks up, by tag bank. */
static void tag_grid(struct canvas *canvas, unsigned request)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;
    const unsigned columns = 7;
    unsigned wavefronts = 0;

    for (uint32_t i = 0; i < a->line_count; i++) {
        if (a->line[i].request == request && a->line[i].wavefront >= wavefronts)
            wavefronts = a->line[i].wavefront + 1U;
    }
    paint_on(canvas, FAINT);
    buffer_puts(canvas->out, "  wavefr.");
    for (unsigned bank = 0; bank < a->tag_banks && 9 + (bank + 1) * columns <= canvas->columns; bank++)
        buffer_printf(canvas->out, " bank%2u", bank);
    paint_off(canvas, FAINT);
    buffer_putc(canvas->out, '\n');
    for (unsigned w = 0; w < wavefronts; w++) {
        buffer_printf(canvas->out, "  %7u", w + 1);
        for (unsigned bank = 0; bank < a->tag_banks && 9 + (bank + 1) * columns <= canvas->columns; bank++) {
            uint32_t i = 0;

            while (i < a->line_count &&
                   (a->line[i].request != request || a->line[i].wavefront != w || a->line[i].tag_bank != bank))
                i++;
            buffer_spaces(canvas->out, 3);
            if (i < a->line_count)
                buffer_printf(canvas->out, "#%-3u", i);
            else
                painted(canvas, FAINT, ".   ");
        }
        end_line(canvas);
    }
}

static const char *line_words(const struct wm_anatomy *a)
{
    if (a->path == WM_PATH_ATOMIC)
        return "each pass to the atomic units looks up its own. \"0-7:32\": lanes 0 to 7 use 32 bytes of that sector; "
               "\"used\": of the bytes of all its sectors.";
    return "\"0-7:32\": lanes 0 to 7 use 32 bytes of that sector; \"used\": of the bytes of all its sectors; \"bank\", "
           "\"wavefr.\": of the tag stage.";
}

static void tags(struct canvas *canvas)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;
    char text[160];

    snprintf(text, sizeof text,
             "%u banks, which look up one line each in a wavefront. Lines, by their number above:", a->tag_banks);
    heading(canvas, "Tag stage:", text);
    for (unsigned request = 0; request < a->requests; request++) {
        if (a->requests > 1)
            buffer_printf(canvas->out, "request %u:\n", request + 1);
        tag_grid(canvas, request);
    }
}

static void lines(struct canvas *canvas)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;
    char title[64];

    snprintf(title, sizeof title, "Lines of %u B, sectors of %u B:", a->line_bytes, a->sector_bytes);
    heading(canvas, title, line_words(a));
    for (unsigned request = 0; request < a->requests; request++) {
        if (a->requests > 1)
            buffer_printf(canvas->out, "request %u of %u: bytes %u-%u of each lane; addresses in the warp's window\n",
                          request + 1, a->requests, request * a->request_bytes, (request + 1) * a->request_bytes - 1);
        line_table(canvas, request);
    }
    line_sum(canvas);
    if (a->line_count > 1 && a->path != WM_PATH_ATOMIC && a->path != WM_PATH_BYPASS)
        tags(canvas);
}

/* ------------------------------------------------------------------------------------------------------ cp.async.cg */

static void add_sectors(const struct wm_anatomy *a, uint32_t sectors, struct buffer *out)
{
    for (unsigned s = 0; s < WM_ANATOMY_SECTORS; s++) {
        if (sectors >> s & 1)
            buffer_printf(out, " +%u", s * a->sector_bytes);
    }
    if (!sectors)
        buffer_puts(out, " none");
}

static void bypass(struct canvas *canvas)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;
    struct buffer *text = &canvas->scratch;

    lines(canvas);
    heading(canvas,
            "Past L1:", "what is looked up are pairs of a source line and a row of shared memory; their sectors:");
    for (uint32_t i = 0; i < a->line_count; i++) {
        const struct wm_line *line = &a->line[i];

        buffer_clear(text);
        buffer_printf(text, "#%u, tag wavefront %u, ", i, line->wavefront + 1U);
        picture_lanes_named(line->lanes, text);
        buffer_putc(text, ':');
        add_sectors(a, line->sectors, text);
        buffer_printf(text, " to row 0x%llx:", (unsigned long long)line->shared_row);
        add_sectors(a, line->shared_sectors, text);
        sentence(canvas, PLAIN, 2, buffer_text(text));
    }
    if (a->asked != a->lanes) {
        buffer_clear(text);
        buffer_puts(text, "not asked for, as another lane writes the same place: ");
        picture_lanes_named(a->lanes & ~a->asked, text);
        sentence(canvas, PLAIN, 2, buffer_text(text));
    }
    heading(canvas, "To L2:", "packets of sectors of one line; if all are equal, they go by four.");
    for (uint32_t i = 0; i < a->packets_count; i++) {
        const struct wm_packets *p = &a->packets[i];

        buffer_printf(canvas->out, "  0x%llx: %u packet%s, %u request%s, %u sector%s\n", (unsigned long long)p->address,
                      p->packets, p->packets == 1 ? "" : "s", p->requests, p->requests == 1 ? "" : "s", p->sectors,
                      p->sectors == 1 ? "" : "s");
    }
}

/* ----------------------------------------------------------------------------------------------------------- doubts */

static void doubts(struct canvas *canvas)
{
    static const struct {
        unsigned bit;
        const char *text;
    } known[] = {
        {WM_UNSURE_GROUPS,
         "which tag wavefronts of this store share data wavefronts depends on what the access does not "
         "say; one possibility is shown."},
        {WM_UNSURE_DATA, "the rule for these data wavefronts is near, not exact."},
        {WM_UNSURE_TAGS, "tag banks depend on where the window of local memory lies; one possibility is shown."},
        {WM_UNSURE_L2, "what is merged on the way to L2 depends on timing."},
    };

    if (canvas->picture->anatomy->unsure & WM_UNSURE_ORDER)
        heading(canvas, "Order:",
                "which of a bank's words goes first is not measured; they are shown in the order of lanes. No "
                "count depends on it.");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (canvas->picture->anatomy->unsure & known[i].bit)
            heading(canvas, "Not exact:", known[i].text);
    }
}

static void body(struct canvas *canvas)
{
    const struct wm_anatomy *a = canvas->picture->anatomy;

    switch (a->path) {
    case WM_PATH_NONE: heading(canvas, "No lane is active:", "the instruction is issued, and that is all."); break;
    case WM_PATH_UNSEEN: heading(canvas, "Not counted:", "this is served by another cache than L1."); break;
    case WM_PATH_FILL:
        heading(canvas, "Zero fill:", "nothing is read; zeros are written into shared memory.");
        banks(canvas);
        break;
    case WM_PATH_SHARED: banks(canvas); break;
    case WM_PATH_BYPASS: bypass(canvas); break;
    case WM_PATH_COPY:
        lines(canvas);
        banks(canvas);
        break;
    default:
        lines(canvas);
        data_passes(canvas);
        break;
    }
}

void picture_text(const wm_arch *arch, const struct wm_access *access, const struct wm_counts *counts,
                  const struct picture_style *style, struct buffer *out)
{
    struct picture picture;
    struct canvas canvas = {
        .picture = &picture, .out = out, .has_colour = style->has_colour, .columns = style->columns};

    if (canvas.columns < 80)
        canvas.columns = 80;
    if (canvas.columns > 100)
        canvas.columns = 100;
    if (!picture_open(arch, access, counts, &picture)) {
        picture_say_failure(&picture, out);
        buffer_putc(out, '\n');
        goto done;
    }
    head(&canvas);
    body(&canvas);
    doubts(&canvas);
    if (canvas.scratch.failed)
        out->failed = canvas.scratch.failed;
done:
    buffer_free(&canvas.scratch);
    picture_close(&picture);
}
