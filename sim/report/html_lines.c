/* The table of lines: a row of numbers for each, the verdict in words below it, and behind that the picture of its worst
 * access and all of its counters. */
#include "html.h"
#include "picture.h"

#include <string.h>

/* What the table has to know about itself before it begins. */
struct columns {
    int has_kernel;
    int has_line;
    int has_pc;
    unsigned count;
};

static int has_place(const struct columns *columns)
{
    return columns->has_line || columns->has_pc;
}

/* "transpose.cu:19", "0x1c0" or "". Folders do not fit into a column: they stand in the details, and above the source. */
static void place(const struct html_row *row, int with_folder, struct buffer *out)
{
    const char *file = row->file;
    struct buffer text = {0};

    if (file && !with_folder)
        file = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    if (row->row->line)
        report_line(file, row->row->line, &text);
    else
        report_pc(row->row->pc, &text);
    html_name(buffer_text(&text), out);
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

/* ------------------------------------------------------------------------------------------------------------ heading */

static void heading(const char *classes, const char *sort, const char *rows, const char *name, const char *hint,
                    struct buffer *out)
{
    buffer_printf(out, "<th scope=\"col\" class=\"%s\" data-sort=\"%s\"%s title=\"%s\">%s</th>", classes, sort, rows,
                  hint, name);
}

static void headings(const struct columns *columns, struct buffer *out)
{
    const char *both = " rowspan=\"2\"";

    buffer_puts(out, "<thead>\n<tr>");
    if (has_place(columns))
        heading("t", "text", both,
                !columns->has_line ? "pc"
                : columns->has_pc  ? "Line or pc"
                                   : "Line",
                columns->has_line ? "source line" : "pc", out);
    heading("t", "text", both, "Instruction", "opcode, as PTX spells it", out);
    if (columns->has_kernel)
        heading("t", "text", both, "Kernel", "kernel", out);
    heading("n", "number", " rowspan=\"2\" aria-sort=\"descending\"", "Wasted cycles",
            "wasted cycles: those that ideal counts would not take; predicted", out);
    heading("n", "number", both, "Cycles", "cycles of all executions; predicted", out);
    buffer_puts(out, "<td class=\"b\" rowspan=\"2\"></td>");
    heading("n", "number", both, "Executed", "warp instructions", out);
    heading("n", "number", both, "Lanes", "active lanes per instruction", out);
    buffer_puts(out, "<th scope=\"colgroup\" colspan=\"2\" class=\"g\">Sectors</th>"
                     "<th scope=\"colgroup\" colspan=\"2\" class=\"g\">Wavefronts</th>");
    heading("n", "number", both, "Efficiency", "ideal sectors of sectors; of shared memory, wavefronts", out);
    heading("n", "number", both, "Ways", "most passes of one phase of a shared access", out);
    buffer_puts(out, "</tr>\n<tr>");
    heading("n", "number", "", "each", "sectors per request", out);
    heading("n", "number", "", "ideal", "the fewest sectors per request that could do", out);
    heading("n", "number", "", "each", "wavefronts per request", out);
    heading("n", "number", "", "ideal", "the fewest wavefronts per request that could do", out);
    buffer_puts(out, "</tr>\n</thead>\n");
}

/* ------------------------------------------------------------------------------------------------------------ numbers */

/* A cell of a number that has no meaning here is empty but for a dash, which sorts behind all numbers. */
static void ratio_cell(uint64_t sum, uint64_t n, int is_there, struct buffer *out)
{
    buffer_puts(out, "<td class=\"n\">");
    if (is_there && n)
        table_ratio(sum, n, 0, out);
    else
        buffer_puts(out, "-");
    buffer_puts(out, "</td>");
}

static void memory_cells(const struct html_page *page, const struct wm_tally_row *row, int is_shared,
                         struct buffer *out)
{
    const uint64_t *sums = row->sums;

    ratio_cell(sums[WM_SECTORS], sums[WM_REQUESTS], !is_shared, out);
    ratio_cell(sums[WM_SECTORS_IDEAL], sums[WM_REQUESTS], !is_shared, out);
    if (is_shared) {
        ratio_cell(sums[WM_SHARED_WAVEFRONTS], row->instructions, 1, out);
        ratio_cell(sums[WM_SHARED_WAVEFRONTS_IDEAL], row->instructions, 1, out);
    } else {
        ratio_cell(sums[WM_TAG_WAVEFRONTS], sums[WM_REQUESTS], 1, out);
        ratio_cell(ideal_tag_wavefronts(page->report->geometry, &row->opcode, sums), sums[WM_REQUESTS], 1, out);
    }
    buffer_puts(out, "<td class=\"n\">");
    if (is_shared)
        table_percent(sums[WM_SHARED_WAVEFRONTS_IDEAL], sums[WM_SHARED_WAVEFRONTS], 0, out);
    else
        table_percent(sums[WM_SECTORS_IDEAL], sums[WM_SECTORS], 0, out);
    buffer_puts(out, "</td><td class=\"n\">");
    if (is_shared && sums[WM_WAYS] > 1)
        table_count(sums[WM_WAYS], 0, out);
    else
        buffer_puts(out, "-");
    buffer_puts(out, "</td>");
}

static void number_row(struct html_page *page, const struct html_row *row, const struct columns *columns)
{
    const struct wm_tally_row *sums = row->row;
    struct buffer *out = page->out;
    char opcode[WM_OPCODE_TEXT_SIZE] = "";

    wm_opcode_format(&sums->opcode, opcode);
    buffer_puts(out, "<tr>");
    if (has_place(columns)) {
        buffer_puts(out, "<td class=\"code place\">");
        if (row->has_anchor)
            buffer_printf(out, "<a href=\"#line-%zu-%u\">", row->file_index, sums->line);
        place(row, 0, out);
        buffer_puts(out, row->has_anchor ? "</a></td>" : "</td>");
    }
    buffer_puts(out, "<th scope=\"row\" class=\"code\">");
    html_text(opcode, out);
    buffer_puts(out, "</th>");
    if (columns->has_kernel) {
        buffer_printf(out, "<td class=\"kernel\"><a href=\"#kernel-%zu\">%zu</a> <span class=\"code\">",
                      row->kernel + 1, row->kernel + 1);
        html_name(*sums->kernel ? sums->kernel : "without a name", out);
        buffer_puts(out, "</span></td>");
    }
    buffer_puts(out, row->wasted > 0 ? "<td class=\"n w\">" : "<td class=\"n z\">");
    html_cycles(row->wasted, out);
    buffer_puts(out, "</td><td class=\"n\">");
    html_cycles(row->cycles, out);
    buffer_puts(out, "</td><td class=\"b\">");
    html_bar(row->cycles, row->wasted, page->most_cycles, out);
    buffer_puts(out, "</td><td class=\"n\">");
    table_count(sums->instructions, 0, out);
    buffer_printf(out, "</td><td class=\"n\">%.1f</td>", (double)sums->lanes / (double)sums->instructions);
    memory_cells(page, sums, sums->opcode.space == WM_SHARED, out);
    buffer_puts(out, "</tr>\n");
    if (sums->opcode.operation != WM_CP_ASYNC || !sums->sums[WM_SHARED_WAVEFRONTS])
        return;
    buffer_printf(out, "<tr class=\"side\"><td class=\"n\" colspan=\"%u\">its shared side</td>", columns->count - 6);
    memory_cells(page, sums, 1, out);
    buffer_puts(out, "</tr>\n");
}

/* ------------------------------------------------------------------------------------------------- behind the verdict */

static int add_to_buffer(void *buffer, const char *text, size_t length)
{
    buffer_add(buffer, text, length);
    return 0;
}

/* The access as a trace has it; 0: it could not be written. */
static int access_text(const struct wm_access *access, struct buffer *out)
{
    const struct wm_kernel nothing = {.name = ""};
    struct wm_access plain = *access;
    struct buffer trace = {0};
    wm_writer *writer = NULL;
    const char *line;
    int is_good;

    plain.kernel = &nothing;
    plain.file = NULL;
    plain.line = 0;
    plain.pc = WM_NO_PC;
    plain.count = 1;
    is_good = wm_writer_new(add_to_buffer, &trace, &writer) == WM_OK && wm_writer_add(writer, &plain) == WM_OK &&
              wm_writer_flush(writer) == WM_OK && trace.length > 1 && !trace.failed;
    if (is_good) {
        /* the access is the last line */
        trace.data[--trace.length] = '\0';
        line = strrchr(trace.data, '\n');
        buffer_puts(out, line ? line + 1 : trace.data);
    }
    wm_writer_free(writer);
    buffer_free(&trace);
    return is_good;
}

static void counters(const struct wm_tally_row *row, struct buffer *out)
{
    buffer_puts(out, "<table class=\"counters\">\n<thead><tr><th scope=\"col\">Counter</th>"
                     "<th scope=\"col\" class=\"n\">Worst access</th><th scope=\"col\" class=\"n\">All</th>"
                     "<td></td></tr></thead>\n<tbody>\n");
    for (int c = 0; c < WM_COUNTERS; c++) {
        if (!row->sums[c])
            continue;
        buffer_printf(out, "<tr><th scope=\"row\">%s</th><td class=\"n\">", wm_counter_name((enum wm_counter)c));
        table_count(wm_counts_get(&row->worst_counts, (enum wm_counter)c), 0, out);
        buffer_puts(out, "</td><td class=\"n\">");
        table_count(row->sums[c], 0, out);
        buffer_printf(out, "</td><td>%s</td></tr>\n",
                      row->inexact[c] ? report_exactness((enum wm_exactness)row->exactness[c]) : "");
    }
    buffer_puts(out, "</tbody>\n</table>\n");
}

/* The picture as a drawing, inside the page. 0: there is none, or no room for it. Its ids repeat from one to the next, so it
 * is an image, whose text the words have to be. */
static int drawing(struct html_page *page, const struct wm_tally_row *row, const char *words)
{
    struct buffer *drawn = &page->smaller_picture;
    struct buffer *out = page->out;
    size_t size;

    buffer_clear(&page->picture);
    if (!drawing_is_available() ||
        !picture_draw(page->report->head->arch, &row->worst, &row->worst_counts, DRAWING_SVG, &page->picture))
        return 0;
    buffer_clear(drawn);
    html_smaller_svg(page->picture.data, page->picture.length, drawn);
    size = (drawn->length + 2) / 3 * 4;
    if (size > page->picture_bytes_left)
        return 0;
    page->picture_bytes_left -= size;
    buffer_puts(out, "<figure>\n<figcaption aria-hidden=\"true\">");
    html_text(words, out);
    buffer_puts(out, "</figcaption>\n<img alt=\"");
    html_text(words, out);
    buffer_puts(out, "\" src=\"data:image/svg+xml;base64,");
    html_base64(drawn->data, drawn->length, out);
    buffer_puts(out, "\" />\n</figure>\n");
    return 1;
}

/* The picture of a row's worst access, with its words: drawn, else as text; only the words where there are too many. */
static void picture(struct html_page *page, const struct wm_tally_row *row)
{
    const struct picture_style style = {.has_colour = 0, .columns = 100};
    struct buffer *out = page->out;
    struct buffer words = {0};

    picture_words(page->report->head->arch, &row->worst, &row->worst_counts, &words);
    if (page->pictures_left && drawing(page, row, buffer_text(&words))) {
        page->pictures_left--;
        goto done;
    }
    buffer_puts(out, "<p>");
    html_text(buffer_text(&words), out);
    buffer_puts(out, "</p>\n");
    if (!page->pictures_left)
        goto done;
    page->pictures_left--;
    buffer_clear(&page->text);
    picture_text(page->report->head->arch, &row->worst, &row->worst_counts, &style, &page->text);
    buffer_puts(out, "<pre>");
    html_lines_of_text(buffer_text(&page->text), out);
    buffer_puts(out, "</pre>\n");
done:
    if (words.failed)
        out->failed = words.failed;
    buffer_free(&words);
}

/* A word of a shell's command line. */
static void shell_word(const char *text, struct buffer *out)
{
    buffer_putc(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            buffer_puts(out, "'\\''");
        else
            buffer_putc(out, *text);
    }
    buffer_putc(out, '\'');
}

/* The command that shows an access; 0: it could not be written. */
static int command(const struct html_page *page, const struct wm_access *access, struct buffer *out)
{
    const struct html_report *report = page->report;
    struct buffer text = {0};
    int is_good = access_text(access, &text);

    buffer_puts(out, "warpmem explain ");
    if (report->arch_file) {
        buffer_puts(out, "--arch-file ");
        shell_word(report->arch_file, out);
        buffer_putc(out, ' ');
    } else if (!report->head->arch_is_default) {
        buffer_printf(out, "--arch %s ", wm_arch_name(report->head->arch));
    }
    if (report->head->l1 == WM_L1_HIT)
        buffer_puts(out, "--l1 hit ");
    shell_word(buffer_text(&text), out);
    is_good = is_good && !text.failed;
    buffer_free(&text);
    return is_good;
}

/* Where the row is, what it takes, and its worst access for pasting. */
static void facts(struct html_page *page, const struct html_row *row)
{
    struct buffer *out = page->out;

    buffer_puts(out, "<div>\n");
    if (row->row->line || page->kernel_count > 1) {
        buffer_puts(out, "<p class=\"code\">");
        place(row, 1, out);
        buffer_puts(out, row->row->line || row->row->pc != WM_NO_PC ? " in " : "In ");
        html_name(*row->row->kernel ? row->row->kernel : "a kernel without a name", out);
        buffer_puts(out, "</p>\n");
    }
    buffer_puts(out, "<p>Predicted: ");
    html_cycles(row->cycles, out);
    buffer_printf(out, " cycles, bound by %s", wm_bound_text(row->bound));
    if (row->wasted > 0) {
        buffer_puts(out, "; with ideal counts ");
        html_cycles(row->cycles - row->wasted, out);
        buffer_printf(out, ", bound by %s", wm_bound_text(row->ideal_bound));
    }
    if (row->exactness == WM_APPROXIMATE)
        buffer_puts(out, " (often far off, or not measured, for this kind of access)");
    else if (row->exactness != WM_EXACT)
        buffer_puts(out, " (by the rates of another GPU)");
    buffer_puts(out, ".</p>\n");
    buffer_clear(&page->text);
    if (command(page, &row->row->worst, &page->text)) {
        buffer_puts(out, "<p>The worst access, to look at on its own:</p>\n<pre class=\"access\">");
        html_text(buffer_text(&page->text), out);
        buffer_puts(out, "</pre>\n");
    }
    buffer_puts(out, "</div>\n");
}

static void details(struct html_page *page, const struct html_row *row)
{
    if (row->row->worst.mask)
        picture(page, row->row);
    buffer_puts(page->out, "<div class=\"facts-and-counters\">\n");
    counters(row->row, page->out);
    facts(page, row);
    buffer_puts(page->out, "</div>\n");
}

static void verdict_row(struct html_page *page, const struct html_row *row, const struct columns *columns)
{
    struct buffer *out = page->out;

    buffer_clear(&page->text);
    verdict_group(page->report->geometry, row->row, &page->text);
    buffer_printf(out, "<tr class=\"why\"><td colspan=\"%u\"><details%s>\n<summary>", columns->count,
                  row->wasted > 0 ? "" : " class=\"z\"");
    html_text(buffer_text(&page->text), out);
    buffer_puts(out, "</summary>\n<div class=\"behind\">\n");
    details(page, row);
    buffer_puts(out, "</div>\n</details></td></tr>\n");
}

/* -------------------------------------------------------------------------------------------------------------- table */

static void not_shown(const struct html_page *page, struct buffer *out)
{
    double wasted = 0;

    if (page->rows_shown > MOST_PICTURES)
        buffer_printf(out, "<p>Pictures are there for the %d rows that waste most; for the others, their words.</p>\n",
                      MOST_PICTURES);

    if (page->rows_shown == page->row_count)
        return;
    for (size_t i = page->rows_shown; i < page->row_count; i++)
        wasted += page->rows[i].wasted;
    buffer_puts(out, "<p>The ");
    table_count(page->row_count - page->rows_shown, 0, out);
    buffer_puts(out, " rows that waste least are not shown; together they waste ");
    html_cycles(wasted, out);
    buffer_puts(out, " cycles.</p>\n");
}

void html_lines(struct html_page *page)
{
    struct columns columns = {.has_kernel = page->kernel_count > 1, .count = 12};
    struct buffer *out = page->out;

    for (size_t i = 0; i < page->rows_shown; i++) {
        if (page->rows[i].row->line)
            columns.has_line = 1;
        else if (page->rows[i].row->pc != WM_NO_PC)
            columns.has_pc = 1;
    }
    columns.count += (unsigned)(columns.has_kernel + has_place(&columns));
    buffer_puts(out,
                "<section>\n<h2 id=\"lines\">Lines</h2>\n"
                "<p class=\"legend\"><span class=\"bar\" aria-hidden=\"true\"><i class=\"w\"></i></span> wasted cycles "
                "<span class=\"bar\" aria-hidden=\"true\"><i class=\"u\"></i></span> other cycles, both predicted. "
                "The words below a line open to what its worst access looks like.</p>\n"
                "<div class=\"scroll\" role=\"region\" aria-labelledby=\"lines\" tabindex=\"0\">\n"
                "<table class=\"sortable lines\">\n");
    headings(&columns, out);
    for (size_t i = 0; i < page->rows_shown; i++) {
        buffer_printf(out, "<tbody id=\"row-%zu\">\n", page->rows[i].index);
        number_row(page, &page->rows[i], &columns);
        verdict_row(page, &page->rows[i], &columns);
        buffer_puts(out, "</tbody>\n");
    }
    buffer_puts(out, "</table>\n</div>\n");
    not_shown(page, out);
    buffer_puts(out, "</section>\n");
}
