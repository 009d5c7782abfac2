/* An access drawn with cairo. See picture.h. */
#include "config.h"

#include "picture_parts.h"

#ifdef HAVE_CAIRO

#include <cairo.h>

#include <stdio.h>
#include <string.h>

/* Points, 1/72 inch. A line and a row of banks are as wide as each other: words lie above their banks. */
#define MARGIN 24.0
#define LEFT 236.0  /* of the cells */
#define RIGHT 190.0 /* behind them */
#define CELL 25.0
#define ROW 19.0
#define COLUMNS 32U /* cells of a line */

#define TITLE_SIZE 15.0
#define TEXT_SIZE 11.0
#define SMALL_SIZE 9.5

/* Colours that people with any colour vision can tell apart (Okabe and Ito, Color Universal Design, 2008). Each is used for
 * one kind of cell only; what costs time also has a thick edge. */
enum kind { SERVED, TOGETHER, CONFLICT, EXTRA, WASTED, UNFETCHED, NOBODY, KINDS };

static const struct {
    const char *name;
    double red, green, blue;
    double edge; /* width */
} kinds[KINDS] = {
    [SERVED] = {"lane served", 0.337, 0.706, 0.914, 0.6},
    [TOGETHER] = {"lanes at one word (\"3+\")", 0.000, 0.620, 0.451, 0.6},
    [CONFLICT] = {"first word of a bank in conflict", 0.902, 0.624, 0.000, 0.6},
    [EXTRA] = {"one more pass: bank conflict", 0.835, 0.369, 0.000, 1.8},
    [WASTED] = {"in a sector, not used", 0.941, 0.894, 0.259, 0.6},
    [UNFETCHED] = {"no sector asked for", 1.000, 1.000, 1.000, 0.3},
    [NOBODY] = {"bank idle", 0.930, 0.930, 0.930, 0.3},
};

struct sheet {
    cairo_t *c;
    const struct picture *picture;
    double y;
    double width;
    struct buffer text;
    int used[KINDS]; /* kinds that the legend explains */
};

/* ------------------------------------------------------------------------------------------------------------- text */

static void set_black(const struct sheet *sheet)
{
    cairo_set_source_rgb(sheet->c, 0, 0, 0);
}

static void set_font(const struct sheet *sheet, double size, int is_bold)
{
    cairo_select_font_face(sheet->c, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           is_bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(sheet->c, size);
}

static double width_of(const struct sheet *sheet, const char *text)
{
    cairo_text_extents_t extents;

    cairo_text_extents(sheet->c, text, &extents);
    return extents.x_advance;
}

/* align: 0 from x on, 0.5 around it, 1 up to it. */
static void put(const struct sheet *sheet, double x, double y, double align, const char *text)
{
    cairo_move_to(sheet->c, x - align * width_of(sheet, text), y);
    cairo_show_text(sheet->c, text);
}

/* The same in a font that is made smaller until the text fits. */
static void put_fitting(const struct sheet *sheet, double x, double y, double align, double room, double size,
                        const char *text)
{
    set_font(sheet, size, 0);
    for (; size > 4 && width_of(sheet, text) > room; size -= 0.5)
        set_font(sheet, size, 0);
    put(sheet, x, y, align, text);
}

/* Text wrapped between left and right; moves down. */
static void paragraph(struct sheet *sheet, double left, double right, const char *text)
{
    char line[512];
    size_t length = 0;

    line[0] = '\0';
    while (*text) {
        const size_t word = strcspn(text, " ");
        const size_t before = length;

        if (length + word + 2 > sizeof line)
            break;
        if (length)
            line[length++] = ' ';
        memcpy(line + length, text, word);
        length += word;
        line[length] = '\0';
        if (before && left + width_of(sheet, line) > right) {
            line[before] = '\0';
            put(sheet, left, sheet->y, 0, line);
            sheet->y += TEXT_SIZE * 1.35;
            length = 0;
            continue;
        }
        text += word + strspn(text + word, " ");
    }
    if (length) {
        put(sheet, left, sheet->y, 0, line);
        sheet->y += TEXT_SIZE * 1.35;
    }
}

static void heading(struct sheet *sheet, const char *title, const char *text)
{
    sheet->y += 30;
    set_black(sheet);
    set_font(sheet, TEXT_SIZE + 1, 1);
    put(sheet, MARGIN, sheet->y, 0, title);
    sheet->y += TEXT_SIZE * 1.45;
    set_font(sheet, TEXT_SIZE, 0);
    paragraph(sheet, MARGIN, sheet->width - MARGIN, text);
    sheet->y += 2;
}

/* ------------------------------------------------------------------------------------------------------------ cells */

static void box(struct sheet *sheet, double x, double y, double width, double height, enum kind kind)
{
    const double inset = kinds[kind].edge / 2;

    sheet->used[kind] = 1;
    cairo_rectangle(sheet->c, x, y, width, height);
    cairo_set_source_rgb(sheet->c, kinds[kind].red, kinds[kind].green, kinds[kind].blue);
    cairo_fill(sheet->c);
    cairo_rectangle(sheet->c, x + inset, y + inset, width - 2 * inset, height - 2 * inset);
    if (kind == UNFETCHED || kind == NOBODY)
        cairo_set_source_rgb(sheet->c, 0.6, 0.6, 0.6);
    else
        set_black(sheet);
    cairo_set_line_width(sheet->c, kinds[kind].edge);
    cairo_stroke(sheet->c);
}

/* Empty boxes side by side: one area and its lines, as a path for each box would make most of an SVG. */
static void boxes(struct sheet *sheet, double x, double y, double width, unsigned count, enum kind kind)
{
    box(sheet, x, y, count * width, ROW, kind);
    for (unsigned i = 1; i < count; i++) {
        cairo_move_to(sheet->c, x + i * width, y);
        cairo_rel_line_to(sheet->c, 0, ROW);
    }
    /* as wide as the edges of two */
    cairo_set_line_width(sheet->c, 2 * kinds[kind].edge);
    cairo_stroke(sheet->c);
}

/* A box with the number of the first of its lanes. */
static void lane_box(struct sheet *sheet, double x, double y, double width, enum kind kind, uint32_t lanes)
{
    char text[8];

    box(sheet, x, y, width, ROW, kind);
    snprintf(text, sizeof text, "%u%s", picture_first_lane(lanes), lanes & (lanes - 1) ? "+" : "");
    set_black(sheet);
    put_fitting(sheet, x + width / 2, y + ROW - 5.5, 0.5, width - 3, TEXT_SIZE, text);
}

/* ------------------------------------------------------------------------------------------------------------- head */

static void add_count(struct sheet *sheet, const char *name, enum wm_counter counter, int ideal)
{
    const struct wm_counts *counts = sheet->picture->counts;
    struct buffer *text = &sheet->text;

    buffer_printf(text, "%s%s %s%u", text->length ? ",  " : "", name,
                  picture_is_near(sheet->picture, counter) ? "~" : "", wm_counts_get(counts, counter));
    if (ideal >= 0)
        buffer_printf(text, " (ideally %u)", wm_counts_get(counts, (enum wm_counter)ideal));
}

static void counts_line(struct sheet *sheet)
{
    const struct wm_anatomy *a = sheet->picture->anatomy;

    buffer_clear(&sheet->text);
    if (a->requests) {
        add_count(sheet, "sectors", WM_SECTORS, WM_SECTORS_IDEAL);
        add_count(sheet, "lines", WM_LINES, -1);
        add_count(sheet, "tag wavefronts", WM_TAG_WAVEFRONTS, -1);
        if (a->path == WM_PATH_L1 || a->path == WM_PATH_ATOMIC)
            add_count(sheet, "data wavefronts", WM_LSU_WAVEFRONTS, -1);
        add_count(sheet, "L2 requests", WM_L2_REQUESTS, -1);
        add_count(sheet, "L2 sectors", WM_L2_SECTORS, -1);
    }
    if (a->path == WM_PATH_SHARED || a->path == WM_PATH_COPY || a->path == WM_PATH_FILL || a->path == WM_PATH_NONE) {
        add_count(sheet, "shared wavefronts", WM_SHARED_WAVEFRONTS, WM_SHARED_WAVEFRONTS_IDEAL);
        add_count(sheet, "bank conflicts", WM_BANK_CONFLICTS, -1);
        add_count(sheet, "ways", WM_WAYS, -1);
    }
    set_font(sheet, TEXT_SIZE, 0);
    paragraph(sheet, MARGIN, sheet->width - MARGIN, buffer_text(&sheet->text));
}

static void head(struct sheet *sheet)
{
    const struct picture *p = sheet->picture;
    char opcode[WM_OPCODE_TEXT_SIZE];

    wm_opcode_format(&p->access->opcode, opcode);
    buffer_clear(&sheet->text);
    buffer_printf(&sheet->text, "%s  ", opcode);
    if (p->anatomy->lanes)
        picture_subject(p, &sheet->text);
    else
        buffer_puts(&sheet->text, "no active lane");
    buffer_printf(&sheet->text, ", mask %08x", p->access->mask);
    if (p->access->opcode.operation == WM_LD && p->anatomy->requests)
        buffer_printf(&sheet->text, ", L1 %s", p->access->l1 == WM_L1_HIT ? "hit" : "miss");
    buffer_printf(&sheet->text, ", on %s", wm_arch_name(p->arch));
    sheet->y = MARGIN + TITLE_SIZE;
    set_black(sheet);
    set_font(sheet, TITLE_SIZE, 1);
    put(sheet, MARGIN, sheet->y, 0, buffer_text(&sheet->text));
    sheet->y += TITLE_SIZE * 1.4;
    counts_line(sheet);
}

/* ------------------------------------------------------------------------------------------------------------ lines */

/* Lanes that use one of the bytes first .. first + count - 1 of a line. */
static uint32_t lanes_at(const struct wm_anatomy *a, const struct wm_line *line, unsigned first, unsigned count)
{
    uint32_t lanes = 0;

    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        const uint64_t from = a->address[line->request][lane] - line->address;

        if ((line->lanes >> lane & 1) && from < first + count && from + a->request_bytes > first)
            lanes |= UINT32_C(1) << lane;
    }
    return lanes;
}

/* The cells of a line: what lanes use, what is fetched besides, what is not fetched. */
static void line_cells(struct sheet *sheet, const struct wm_line *line)
{
    const struct wm_anatomy *a = sheet->picture->anatomy;
    const unsigned unit = a->line_bytes / COLUMNS;
    const uint32_t touched = picture_sectors_touched(a, line);

    for (unsigned cell = 0; cell < COLUMNS;) {
        const uint32_t lanes = lanes_at(a, line, cell * unit, unit);
        const double x = LEFT + cell * CELL;
        unsigned end = cell + 1;

        /* a lane's bytes are one box; so are those of a sector that nobody wants */
        while (end < COLUMNS && (end * unit) % (lanes ? a->request_bytes : a->sector_bytes) != 0 &&
               lanes_at(a, line, end * unit, unit) == lanes)
            end++;
        if (lanes)
            lane_box(sheet, x, sheet->y, (end - cell) * CELL, lanes & (lanes - 1) ? TOGETHER : SERVED, lanes);
        else
            boxes(sheet, x, sheet->y, CELL, end - cell,
                  touched >> (cell * unit / a->sector_bytes) & 1 ? WASTED : UNFETCHED);
        cell = end;
    }
    /* the sectors' edges */
    set_black(sheet);
    cairo_set_line_width(sheet->c, 1.6);
    for (unsigned s = 0; s <= a->line_bytes / a->sector_bytes; s++) {
        cairo_move_to(sheet->c, LEFT + s * CELL * COLUMNS * a->sector_bytes / a->line_bytes, sheet->y - 1);
        cairo_rel_line_to(sheet->c, 0, ROW + 2);
        cairo_stroke(sheet->c);
    }
}

static double column(const struct sheet *sheet, unsigned n)
{
    return sheet->width - RIGHT + 62 + 50 * n;
}

static void line_row(struct sheet *sheet, uint32_t i)
{
    const struct wm_anatomy *a = sheet->picture->anatomy;
    const struct wm_line *line = &a->line[i];
    const unsigned touched = picture_lane_count(picture_sectors_touched(a, line)) * a->sector_bytes;
    char text[40];

    set_black(sheet);
    snprintf(text, sizeof text, "#%u  0x%llx", i, (unsigned long long)line->address);
    put_fitting(sheet, LEFT - 8, sheet->y + ROW - 5.5, 1, LEFT - MARGIN - 8, TEXT_SIZE, text);
    line_cells(sheet, line);
    set_black(sheet);
    set_font(sheet, TEXT_SIZE, 0);
    snprintf(text, sizeof text, "%u/%u", picture_bytes_used(a, line), touched);
    put(sheet, column(sheet, 0), sheet->y + ROW - 5.5, 1, text);
    snprintf(text, sizeof text, "%u", line->tag_bank);
    put(sheet, column(sheet, 1), sheet->y + ROW - 5.5, 1, text);
    snprintf(text, sizeof text, "%u", line->wavefront + 1U);
    put(sheet, column(sheet, 2), sheet->y + ROW - 5.5, 1, text);
    sheet->y += ROW + 3;
}

static void line_top(struct sheet *sheet)
{
    const struct wm_anatomy *a = sheet->picture->anatomy;
    const unsigned sectors = a->line_bytes / a->sector_bytes;
    char text[32];

    set_black(sheet);
    set_font(sheet, SMALL_SIZE, 0);
    sheet->y += SMALL_SIZE;
    put(sheet, LEFT - 8, sheet->y, 1, "line");
    for (unsigned s = 0; s < sectors; s++) {
        snprintf(text, sizeof text, "sector +%u", s * a->sector_bytes);
        put(sheet, LEFT + (s + 0.5) * CELL * COLUMNS / sectors, sheet->y, 0.5, text);
    }
    put(sheet, column(sheet, 0), sheet->y, 1, "bytes used");
    put(sheet, column(sheet, 1), sheet->y, 1, "tag bank");
    put(sheet, column(sheet, 2), sheet->y, 1, a->path == WM_PATH_ATOMIC ? "pass" : "wavefr.");
    sheet->y += 5;
}

static void lines(struct sheet *sheet)
{
    const struct wm_anatomy *a = sheet->picture->anatomy;
    char title[80];

    snprintf(title, sizeof title, "Lines of %u B and their sectors of %u B", a->line_bytes, a->sector_bytes);
    heading(sheet, title,
            a->path == WM_PATH_ATOMIC
                ? sheet->picture->access->opcode.atomic == WM_ATOMIC_CAS
                      ? "A number is a lane. Sectors count whole. A pass to the atomic units takes half a line of each tag "
                        "bank: two values go with each lane."
                      : "A number is a lane. Sectors count whole. A pass to the atomic units takes one line of each tag bank."
                : "A number is a lane. Sectors count whole. The tag stage looks up one line of each tag bank in a "
                  "wavefront.");
    for (unsigned request = 0; request < a->requests; request++) {
        if (a->requests > 1) {
            snprintf(title, sizeof title, "request %u of %u: bytes %u-%u of each lane", request + 1, a->requests,
                     request * a->request_bytes, (request + 1) * a->request_bytes - 1);
            set_font(sheet, TEXT_SIZE, 0);
            sheet->y += TEXT_SIZE + 4;
            put(sheet, MARGIN, sheet->y, 0, title);
        }
        line_top(sheet);
        for (uint32_t i = 0; i < a->line_count; i++) {
            if (a->line[i].request == request)
                line_row(sheet, i);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------ banks */

typedef struct picture_cell cell_row[PICTURE_BANK_COUNT];

static double bank_width(const struct sheet *sheet)
{
    return CELL * COLUMNS / sheet->picture->anatomy->banks;
}

static void bank_top(struct sheet *sheet)
{
    char text[16];

    set_black(sheet);
    set_font(sheet, SMALL_SIZE, 0);
    sheet->y += SMALL_SIZE;
    put(sheet, LEFT - 8, sheet->y, 1, "bank");
    for (unsigned bank = 0; bank < sheet->picture->anatomy->banks; bank++) {
        snprintf(text, sizeof text, "%u", bank);
        put(sheet, LEFT + (bank + 0.5) * bank_width(sheet), sheet->y, 0.5, text);
    }
    sheet->y += 5;
}

/* The banks from this one on that serve the same lanes as one wide word. */
static unsigned cells_together(const struct sheet *sheet, const struct wm_phase *phase, const cell_row cells,
                               unsigned bank)
{
    const struct wm_anatomy *a = sheet->picture->anatomy;
    const unsigned words = a->request_bytes * phase->scale / a->bank_bytes;
    unsigned end = bank + 1;

    while (end < a->banks && words > 1 && end % words != 0 && cells[end].lanes == cells[bank].lanes)
        end++;
    return end;
}

static void pass_row(struct sheet *sheet, const struct wm_phase *phase, const cell_row cells, const unsigned *ways,
                     const unsigned *before)
{
    const struct wm_anatomy *a = sheet->picture->anatomy;

    for (unsigned bank = 0; bank < a->banks;) {
        const uint32_t lanes = cells[bank].lanes;
        const double x = LEFT + bank * bank_width(sheet);
        unsigned end = lanes ? cells_together(sheet, phase, cells, bank) : bank + 1;

        while (!lanes && end < a->banks && !cells[end].lanes)
            end++;
        if (!lanes)
            boxes(sheet, x, sheet->y, bank_width(sheet), end - bank, NOBODY);
        else
            lane_box(sheet, x, sheet->y, (end - bank) * bank_width(sheet),
                     before[bank]          ? EXTRA
                     : ways[bank] > 1      ? CONFLICT
                     : lanes & (lanes - 1) ? TOGETHER
                                           : SERVED,
                     lanes);
        bank = end;
    }
    sheet->y += ROW;
}

/* "pass 2", or of single passes what they are passes of. */
static void row_label(const struct sheet *sheet, const struct wm_phase *phase, unsigned pass, const char *title)
{
    char text[96];

    set_black(sheet);
    if (pass == 0)
        snprintf(text, sizeof text, phase->passes == 1 ? "%s" : "%s: pass 1", title);
    else
        snprintf(text, sizeof text, "pass %u", pass + 1);
    put_fitting(sheet, LEFT - 8, sheet->y + ROW - 5.5, 1, LEFT - MARGIN - 8, TEXT_SIZE, text);
}

static void phase_cells(struct sheet *sheet, const struct wm_phase *phase, enum picture_side side)
{
    const unsigned banks = sheet->picture->anatomy->banks;
    cell_row cells[PICTURE_PASSES];
    unsigned ways[PICTURE_BANK_COUNT], before[PICTURE_BANK_COUNT] = {0};
    char text[64];

    picture_fill(sheet->picture, phase, side, cells);
    for (unsigned bank = 0; bank < banks; bank++)
        ways[bank] = picture_bank_ways(phase, cells, bank);
    buffer_clear(&sheet->text);
    picture_phase_title(sheet->picture, phase, &sheet->text);
    for (unsigned pass = 0; pass < phase->passes; pass++) {
        row_label(sheet, phase, pass, buffer_text(&sheet->text));
        pass_row(sheet, phase, cells[pass], ways, before);
        for (unsigned bank = 0; bank < banks; bank++)
            before[bank] += cells[pass][bank].lanes != 0;
    }
    if (picture_has_attempts(sheet->picture->anatomy, phase))
        snprintf(text, sizeof text, "%u attempt%s", phase->passes, phase->passes == 1 ? "" : "s");
    else
        snprintf(text, sizeof text, "%u pass%s%s", phase->passes, phase->passes == 1 ? "" : "es",
                 phase->repeats > 1 ? ", twice" : "");
    set_black(sheet);
    set_font(sheet, TEXT_SIZE, phase->passes > 1);
    put(sheet, LEFT + COLUMNS * CELL + 10, sheet->y - 5.5, 0, text);
    sheet->y += 5;
}

static void phases(struct sheet *sheet, enum picture_side side)
{
    const struct wm_anatomy *a = sheet->picture->anatomy;

    bank_top(sheet);
    for (uint32_t i = 0; i < a->phase_count; i++)
        phase_cells(sheet, &a->phase[i], side);
}

static void shared(struct sheet *sheet)
{
    const struct wm_anatomy *a = sheet->picture->anatomy;

    if (a->path == WM_PATH_COPY) {
        heading(
            sheet, "Into shared memory",
            "A column is a bank, a row a pass, a number a lane. A lane waits for those before it that use its place in "
            "either memory.");
        phases(sheet, PICTURE_SHARED_SIDE);
        heading(sheet, "Out of L1", "The same passes, by where the data comes from.");
        phases(sheet, PICTURE_SOURCE_SIDE);
        return;
    }
    heading(
        sheet, "Banks of shared memory",
        a->words_merge
            ? "A column is a bank, a row a pass, a number a lane. A bank serves one word in a pass; lanes that want "
              "the same word are served together."
            : "A column is a bank, a row a pass, a number a lane. An atomic goes lane by lane: two lanes that come "
              "to one bank conflict, at one word or not.");
    phases(sheet, PICTURE_BANKS);
}

static void data_stage(struct sheet *sheet)
{
    const struct wm_anatomy *a = sheet->picture->anatomy;
    const int is_load = sheet->picture->access->opcode.operation == WM_LD;

    heading(sheet, "Passes of the data stage",
            a->path == WM_PATH_ATOMIC
                ? "Each pass to the atomic units by itself: its values out, and results that come back."
            : !is_load ? "Tag wavefronts that share data wavefronts, one after the other."
            : a->phase_count && a->phase[0].wavefronts ? "Each tag wavefront by itself: its lines miss L1."
                                                       : "All lines at once: they hit L1.");
    phases(sheet, PICTURE_BANKS);
}

static void bypass(struct sheet *sheet)
{
    const struct wm_anatomy *a = sheet->picture->anatomy;
    struct buffer *text = &sheet->text;

    lines(sheet);
    heading(sheet, "Past L1",
            "What is looked up are pairs of a source line and a row of shared memory; their sectors:");
    for (uint32_t i = 0; i < a->line_count; i++) {
        const struct wm_line *line = &a->line[i];

        buffer_clear(text);
        buffer_printf(text, "#%u, ", i);
        picture_lanes_named(line->lanes, text);
        buffer_printf(text, ": %u sector%s to %u of the row at 0x%llx", picture_lane_count(line->sectors),
                      picture_lane_count(line->sectors) == 1 ? "" : "s", picture_lane_count(line->shared_sectors),
                      (unsigned long long)line->shared_row);
        paragraph(sheet, MARGIN + 12, sheet->width - MARGIN, buffer_text(text));
    }
}

/* ----------------------------------------------------------------------------------------------------------- legend */

static void legend(struct sheet *sheet)
{
    double x = MARGIN;

    sheet->y += 18;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        double width;

        if (!sheet->used[kind])
            continue;
        set_font(sheet, TEXT_SIZE, 0);
        width = CELL + 6 + width_of(sheet, kinds[kind].name) + 22;
        if (x > MARGIN && x + width > sheet->width - MARGIN) {
            x = MARGIN;
            sheet->y += ROW + 6;
        }
        box(sheet, x, sheet->y, CELL, ROW, (enum kind)kind);
        set_black(sheet);
        put(sheet, x + CELL + 6, sheet->y + ROW - 5.5, 0, kinds[kind].name);
        x += width;
    }
    sheet->y += ROW;
}

/* -------------------------------------------------------------------------------------------------------- the whole */

static void doubts(struct sheet *sheet)
{
    const unsigned unsure = sheet->picture->anatomy->unsure;

    if (unsure & WM_UNSURE_ORDER)
        heading(sheet, "Order",
                "Which of a bank's words goes first is not measured; they are shown in the order of lanes. No count "
                "depends on "
                "it.");
    if (unsure & ~(unsigned)WM_UNSURE_ORDER)
        heading(sheet, "Not exact",
                "Some of this depends on what the access does not say; counts marked with ~ are near. The "
                "text of warpmem explain says which part.");
}

static void draw(struct sheet *sheet)
{
    cairo_set_source_rgb(sheet->c, 1, 1, 1);
    cairo_paint(sheet->c);
    head(sheet);
    switch (sheet->picture->anatomy->path) {
    case WM_PATH_NONE: heading(sheet, "No lane is active", "The instruction is issued, and that is all."); break;
    case WM_PATH_UNSEEN: heading(sheet, "Not counted", "This is served by another cache than L1."); break;
    case WM_PATH_FILL:
        heading(sheet, "Zero fill", "Nothing is read; zeros are written into shared memory.");
        shared(sheet);
        break;
    case WM_PATH_SHARED: shared(sheet); break;
    case WM_PATH_BYPASS: bypass(sheet); break;
    case WM_PATH_COPY:
        lines(sheet);
        shared(sheet);
        break;
    default:
        lines(sheet);
        data_stage(sheet);
        break;
    }
    legend(sheet);
    doubts(sheet);
    sheet->y += MARGIN;
}

/* How high the page has to be: drawn once onto nothing. */
static double height_of(const struct picture *picture, double width)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    struct sheet sheet = {.c = cairo_create(surface), .picture = picture, .width = width};

    draw(&sheet);
    cairo_destroy(sheet.c);
    cairo_surface_destroy(surface);
    buffer_free(&sheet.text);
    return sheet.y;
}

static int draw_page(const struct picture *picture, enum drawing_format format, struct buffer *out)
{
    struct sheet sheet = {.picture = picture, .width = LEFT + COLUMNS * CELL + RIGHT};
    struct drawing drawing;
    int is_drawn;

    drawing_begin(format, sheet.width, height_of(picture, sheet.width), out, &drawing);
    sheet.c = drawing.cairo;
    draw(&sheet);
    is_drawn = drawing_finish(&drawing) && !sheet.text.failed;
    buffer_free(&sheet.text);
    return is_drawn;
}

int picture_draw(const wm_arch *arch, const struct wm_access *access, const struct wm_counts *counts,
                 enum drawing_format format, struct buffer *out)
{
    struct picture picture;
    const int is_open = picture_open(arch, access, counts, &picture);
    const int is_drawn = is_open && draw_page(&picture, format, out);

    picture_close(&picture);
    return is_drawn;
}

#else

int picture_draw(const wm_arch *arch, const struct wm_access *access, const struct wm_counts *counts,
                 enum drawing_format format, struct buffer *out)
{
    (void)arch;
    (void)access;
    (void)counts;
    (void)format;
    (void)out;
    return 0;
}

#endif
