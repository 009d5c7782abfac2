/* The page: its frame, the summary, and the sections without a file of their own. */
#include "html.h"

#include <stdlib.h>
#include <string.h>

/* Lines in the table; the others are summed up in its last words. */
#define MOST_ROWS 1000

/* Pictures are large: so much of them is put in; then they are text. */
#define MOST_PICTURE_BYTES ((size_t)8 << 20)

/* Names longer than this are set in smaller type. */
#define LONG_NAME 60

/* ------------------------------------------------------------------------------------------------------------- rows */

/* Whether no count of a row is above its ideal. */
static int is_ideal(const struct html_page *page, const struct wm_tally_row *row)
{
    return row->sums[WM_SECTORS] <= row->sums[WM_SECTORS_IDEAL] &&
           row->sums[WM_SHARED_WAVEFRONTS] <= row->sums[WM_SHARED_WAVEFRONTS_IDEAL] &&
           row->sums[WM_TAG_WAVEFRONTS] <= ideal_tag_wavefronts(page->report->geometry, &row->opcode, row->sums);
}

/* Sums of counts give a bound. Of one access more is known: it holds for all where they are alike. */
static void cost(const struct html_page *page, struct html_row *out)
{
    const struct wm_tally_row *row = out->row;
    struct wm_row_cycles cycles;
    struct wm_cycles worst;

    if (wm_cycles_row(page->report->head->arch, row, &cycles) != WM_OK ||
        wm_cycles(page->report->head->arch, &row->worst, &row->worst_counts, &worst) != WM_OK)
        return;
    out->exactness = worst.exactness;
    out->cycles = cycles.cycles;
    out->bound = cycles.bound;
    out->ideal_bound = cycles.ideal_bound;
    if (verdict_is_uniform(row) && worst.throughput * (double)(row->instructions - row->inactive) > out->cycles) {
        out->cycles = worst.throughput * (double)(row->instructions - row->inactive);
        out->bound = worst.bound;
    }
    if (!is_ideal(page, row) && out->cycles > cycles.ideal)
        out->wasted = out->cycles - cycles.ideal;
}

static int compare_rows(const void *a, const void *b)
{
    const struct html_row *x = a;
    const struct html_row *y = b;

    if (x->wasted != y->wasted)
        return x->wasted < y->wasted ? 1 : -1;
    if (x->cycles != y->cycles)
        return x->cycles < y->cycles ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static int compare_kernel_names(const void *a, const void *b)
{
    const struct html_row *const *x = a;
    const struct html_row *const *y = b;

    return strcmp((*x)->row->kernel, (*y)->row->kernel);
}

static int compare_kernels(const void *a, const void *b)
{
    const struct html_kernel *x = a;
    const struct html_kernel *y = b;

    if (x->wasted != y->wasted)
        return x->wasted < y->wasted ? 1 : -1;
    if (x->cycles != y->cycles)
        return x->cycles < y->cycles ? 1 : -1;
    return strcmp(x->name, y->name);
}

static int collect_rows(struct html_page *page)
{
    const wm_tally *lines = page->report->lines;
    const struct wm_tally_row *row;
    size_t count = 0;

    while (wm_tally_row_at(lines, count))
        count++;
    page->rows = calloc(count + 1, sizeof *page->rows);
    if (!page->rows)
        return 0;
    for (size_t i = 0; (row = wm_tally_row_at(lines, i)) != NULL; i++) {
        struct html_row *out = &page->rows[i];

        out->row = row;
        out->index = i;
        out->file = !row->line ? NULL : row->file ? row->file : row->source; /* a trace may name the file there */
        cost(page, out);
        page->cycles += out->cycles;
        page->wasted += out->wasted;
        if (out->cycles > page->most_cycles)
            page->most_cycles = out->cycles;
    }
    page->row_count = count;
    page->rows_shown = count < MOST_ROWS ? count : MOST_ROWS;
    qsort(page->rows, count, sizeof *page->rows, compare_rows);
    return 1;
}

/* Sums of rows that are in order of their kernels' names. The rows get the number that their kernel has in that order. */
static void sum_kernels(struct html_page *page, struct html_row *const *by_name)
{
    struct html_kernel *kernel = NULL;

    for (size_t i = 0; i < page->row_count; i++) {
        if (!kernel || strcmp(kernel->name, by_name[i]->row->kernel) != 0) {
            kernel = &page->kernels[page->kernel_count];
            kernel->name = by_name[i]->row->kernel;
            kernel->by_name = page->kernel_count++;
        }
        by_name[i]->kernel = kernel->by_name;
        kernel->instructions += by_name[i]->row->instructions;
        kernel->cycles += by_name[i]->cycles;
        kernel->wasted += by_name[i]->wasted;
    }
}

static int collect_kernels(struct html_page *page)
{
    struct html_row **by_name = calloc(page->row_count + 1, sizeof(struct html_row *));
    size_t *numbers = calloc(page->row_count + 1, sizeof *numbers);
    int is_good;

    page->kernels = calloc(page->row_count + 1, sizeof *page->kernels);
    is_good = by_name && numbers && page->kernels;
    if (is_good) {
        for (size_t i = 0; i < page->row_count; i++)
            by_name[i] = &page->rows[i];
        qsort(by_name, page->row_count, sizeof *by_name, compare_kernel_names);
        sum_kernels(page, by_name);
        qsort(page->kernels, page->kernel_count, sizeof *page->kernels, compare_kernels);
        for (size_t i = 0; i < page->kernel_count; i++)
            numbers[page->kernels[i].by_name] = i;
        for (size_t i = 0; i < page->row_count; i++)
            page->rows[i].kernel = numbers[page->rows[i].kernel];
    }
    free(by_name);
    free(numbers);
    return is_good;
}

/* -------------------------------------------------------------------------------------------------- frame and summary */

static const char *kernel_name(const char *name)
{
    return *name ? name : "kernel without a name";
}

static void embed(const char *tag, const char *const *lines, struct buffer *out)
{
    buffer_printf(out, "<%s>\n", tag);
    for (; *lines; lines++) {
        buffer_puts(out, *lines);
        buffer_putc(out, '\n');
    }
    buffer_printf(out, "</%s>\n", tag);
}

static void say_files(const struct html_page *page, struct buffer *out)
{
    const struct table_head *head = page->report->head;

    for (size_t i = 0; i < head->file_count; i++) {
        if (i)
            buffer_puts(out, ", ");
        html_name(strcmp(head->files[i], "-") == 0 ? "standard input" : head->files[i], out);
    }
}

static void say_title(const struct html_page *page, struct buffer *out)
{
    if (page->kernel_count == 1)
        html_name(kernel_name(page->kernels[0].name), out);
    else if (page->kernel_count)
        buffer_printf(out, "%zu kernels", page->kernel_count);
    else
        buffer_puts(out, "No memory instructions");
}

static void page_begin(struct html_page *page)
{
    struct buffer *out = page->out;

    buffer_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
                     "<meta name=\"color-scheme\" content=\"light dark\" />\n"
                     /* whatever a trace may have smuggled in, the page fetches nothing */
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
                     "style-src 'unsafe-inline'; script-src 'unsafe-inline'\" />\n");
    buffer_printf(out, "<meta name=\"generator\" content=\"warpmem %s\" />\n<title>", wm_version());
    say_title(page, out);
    buffer_puts(out, " - warpmem</title>\n");
    embed("style", html_css, out);
    buffer_puts(out, "</head>\n<body>\n");
}

static void fact(const char *name, struct buffer *out)
{
    buffer_printf(out, "<div><dt>%s</dt><dd>", name);
}

static void page_header(struct html_page *page)
{
    const struct table_head *head = page->report->head;
    struct buffer *out = page->out;
    int is_long = page->kernel_count == 1 && strlen(page->kernels[0].name) > LONG_NAME;

    buffer_puts(out, "<header>\n<p class=\"brand\">warpmem: memory instructions of a warp</p>\n");
    buffer_printf(out, "<h1%s>", is_long ? " class=\"long\"" : "");
    say_title(page, out);
    buffer_puts(out, "</h1>\n<dl class=\"facts\">\n");
    fact("GPU", out);
    html_text(wm_arch_name(head->arch), out);
    buffer_puts(out, " (");
    html_text(wm_arch_description(head->arch), out);
    buffer_puts(out, head->arch_is_default ? "), the default</dd></div>\n" : ")</dd></div>\n");
    fact("L1", out);
    buffer_puts(out, head->l1 == WM_L1_HIT ? "loads hit</dd></div>\n" : "loads miss</dd></div>\n");
    fact("Input", out);
    say_files(page, out);
    buffer_puts(out, "</dd></div>\n</dl>\n</header>\n");
}

/* A large number and what it is made of. */
static void tile(const char *name, const char *value, const char *words, struct buffer *out)
{
    buffer_printf(out, "<div><dt>%s</dt><dd><b>%s</b><span>%s</span></dd></div>\n", name, value, words);
}

/* How much of a sum its ideal is: "53.3 %" and "128 of 240 sectors". */
static void ideal_tile(struct html_page *page, const char *name, enum wm_counter counter, enum wm_counter ideal,
                       const char *unit)
{
    uint64_t is = 0, least = 0;
    struct buffer value = {0};

    for (size_t i = 0; i < page->row_count; i++) {
        is += page->rows[i].row->sums[counter];
        least += page->rows[i].row->sums[ideal];
    }
    buffer_clear(&page->text);
    if (is) {
        table_percent(least, is, 0, &value);
        table_count(least, 0, &page->text);
        buffer_puts(&page->text, " of ");
        table_count(is, 0, &page->text);
        buffer_printf(&page->text, " %s", unit);
    } else {
        buffer_puts(&value, "none");
        buffer_puts(&page->text, "no such access");
    }
    tile(name, buffer_text(&value), buffer_text(&page->text), page->out);
    if (value.failed)
        page->out->failed = value.failed;
    buffer_free(&value);
}

static void tiles(struct html_page *page)
{
    struct buffer *out = page->out;
    struct buffer value = {0};
    uint64_t instructions = 0;

    for (size_t i = 0; i < page->kernel_count; i++)
        instructions += page->kernels[i].instructions;
    buffer_puts(out, "<dl class=\"tiles\">\n");
    html_share(page->wasted, page->cycles, &value);
    buffer_clear(&page->text);
    html_cycles(page->wasted, &page->text);
    buffer_puts(&page->text, " of ");
    html_cycles(page->cycles, &page->text);
    buffer_puts(&page->text, " cycles, predicted");
    tile("Wasted", buffer_text(&value), buffer_text(&page->text), out);
    ideal_tile(page, "Sectors needed", WM_SECTORS, WM_SECTORS_IDEAL, "sectors");
    ideal_tile(page, "Shared wavefronts needed", WM_SHARED_WAVEFRONTS, WM_SHARED_WAVEFRONTS_IDEAL, "wavefronts");
    buffer_clear(&value);
    table_count(instructions, 0, &value);
    tile("Executed", buffer_text(&value), "warp instructions", out);
    buffer_puts(out, "</dl>\n");
    if (value.failed)
        out->failed = value.failed;
    buffer_free(&value);
}

static void remarks(const struct html_page *page)
{
    const char *line = page->report->remarks;
    struct buffer *out = page->out;

    if (!*line)
        return;
    buffer_puts(out, "<div class=\"remarks\">\n<h2>Said while reading the input</h2>\n<ul>\n");
    while (*line) {
        size_t length = strcspn(line, "\n");

        buffer_puts(out, "<li>");
        html_text_part(line, length, out);
        buffer_puts(out, "</li>\n");
        line += length + (line[length] == '\n');
    }
    buffer_puts(out, "</ul>\n</div>\n");
}

/* Which counters are exact, in a sentence. */
static void count_note(void *context, enum wm_exactness exactness, const char *text)
{
    (void)text;
    if ((int)exactness > *(int *)context)
        *(int *)context = (int)exactness;
}

/* What a reader has to know before believing the numbers. */
static void trust(const struct html_page *page)
{
    int worst = WM_EXACT;
    struct buffer *out = page->out;

    if (!notes_walk(page->report->lines, count_note, &worst))
        out->failed = BUFFER_NO_MEMORY;
    buffer_puts(out, "<p class=\"trust\">");
    if (worst == WM_EXACT)
        buffer_puts(out, "Every counter on this page is exact: it agrees with the hardware counter on every recorded "
                         "access of this GPU. ");
    else
        buffer_puts(out, "Not every counter on this page is exact. ");
    buffer_puts(out,
                "Cycles are a prediction, for one SM. <a href=\"#exactness\">What is exact, and what is not</a></p>\n");
}

static void summary(struct html_page *page)
{
    buffer_puts(page->out, "<section aria-label=\"Summary\">\n");
    if (page->row_count) {
        tiles(page);
        trust(page);
    }
    remarks(page);
    buffer_puts(page->out, "</section>\n");
}

/* ----------------------------------------------------------------------------------------------------------- sections */

static void kernels(struct html_page *page)
{
    struct buffer *out = page->out;
    double most = 0;

    if (page->kernel_count < 2)
        return;
    for (size_t i = 0; i < page->kernel_count; i++)
        most = page->kernels[i].cycles > most ? page->kernels[i].cycles : most;
    buffer_puts(out, "<section>\n<h2 id=\"kernels\">Kernels</h2>\n"
                     "<div class=\"scroll\" role=\"region\" aria-labelledby=\"kernels\" tabindex=\"0\">\n"
                     "<table class=\"sortable\">\n<thead>\n<tr>"
                     "<th scope=\"col\" class=\"n\" data-sort=\"number\">No.</th>"
                     "<th scope=\"col\" data-sort=\"text\">Kernel</th>"
                     "<th scope=\"col\" class=\"n\" data-sort=\"number\" aria-sort=\"descending\">Wasted cycles</th>"
                     "<th scope=\"col\" class=\"n\" data-sort=\"number\">Cycles</th>"
                     "<td class=\"b\"></td>"
                     "<th scope=\"col\" class=\"n\" data-sort=\"number\">Executed</th></tr>\n</thead>\n");
    for (size_t i = 0; i < page->kernel_count; i++) {
        const struct html_kernel *kernel = &page->kernels[i];

        buffer_printf(out,
                      "<tbody id=\"kernel-%zu\"><tr><td class=\"n\">%zu</td><th scope=\"row\" class=\"code name\">",
                      i + 1, i + 1);
        html_name(kernel_name(kernel->name), out);
        buffer_puts(out, "</th><td class=\"n\">");
        html_cycles(kernel->wasted, out);
        buffer_puts(out, "</td><td class=\"n\">");
        html_cycles(kernel->cycles, out);
        buffer_puts(out, "</td><td class=\"b\">");
        html_bar(kernel->cycles, kernel->wasted, most, out);
        buffer_puts(out, "</td><td class=\"n\">");
        table_count(kernel->instructions, 0, out);
        buffer_puts(out, "</td></tr></tbody>\n");
    }
    buffer_puts(out, "</table>\n</div>\n</section>\n");
}

struct totals_writer {
    struct buffer *out;
    struct totals_line line;
    int is_open; /* the row of the line before, whose numbers are still to come */
};

/* A note belongs below the name of the line before it: numbers are written late. */
static void end_total(struct totals_writer *writer)
{
    struct buffer *out = writer->out;

    if (!writer->is_open)
        return;
    buffer_puts(out, "</th><td class=\"n\">");
    table_count(writer->line.count, 0, out);
    buffer_puts(out, "</td><td class=\"n\">");
    if (writer->line.has_waste)
        table_percent(writer->line.waste, writer->line.count, 0, out);
    buffer_puts(out, "</td></tr>\n");
    writer->is_open = 0;
}

static void total(void *context, const struct totals_line *line)
{
    struct totals_writer *writer = context;

    end_total(writer);
    buffer_puts(writer->out, "<tr><th scope=\"row\" class=\"code\">");
    html_text(line->name, writer->out);
    writer->line = *line;
    writer->is_open = 1;
}

static void total_note(void *context, const char *text)
{
    struct totals_writer *writer = context;

    buffer_puts(writer->out, "<small>");
    html_text(text, writer->out);
    buffer_puts(writer->out, "</small>");
}

static void totals(struct html_page *page)
{
    struct totals_writer writer = {.out = page->out};
    const struct totals_sink sink = {&writer, total, total_note};

    buffer_puts(page->out, "<section>\n<h2 id=\"totals\">Totals, under Nsight Compute&#39;s names</h2>\n"
                           "<div class=\"scroll\" role=\"region\" aria-labelledby=\"totals\" tabindex=\"0\">\n<table>\n"
                           "<thead><tr><th scope=\"col\">Metric</th><th scope=\"col\" class=\"n\">Count</th>"
                           "<th scope=\"col\" class=\"n\">Above the ideal</th></tr></thead>\n<tbody>\n");
    totals_walk(page->report->lines, &sink);
    end_total(&writer);
    buffer_puts(page->out, "</tbody>\n</table>\n</div>\n</section>\n");
}

struct note_writer {
    struct buffer *out;
    enum wm_exactness exactness; /* of the list that is open; WM_EXACT: none */
};

static void note(void *context, enum wm_exactness exactness, const char *text)
{
    struct note_writer *writer = context;
    struct buffer *out = writer->out;

    if (writer->exactness != exactness) {
        if (writer->exactness != WM_EXACT)
            buffer_puts(out, "</ul>\n");
        buffer_puts(out, "<p>Counters that are ");
        html_text(notes_heading(exactness), out);
        buffer_puts(out, ":</p>\n<ul class=\"code\">\n");
    }
    writer->exactness = exactness;
    buffer_puts(out, "<li>");
    html_text(text, out);
    buffer_puts(out, "</li>\n");
}

static void key_row(const struct wm_arch_key *key, const char *profile, struct buffer *out)
{
    buffer_puts(out, "<tr><th scope=\"row\" class=\"code\">");
    html_text(key->name, out);
    buffer_puts(out, "</th><td class=\"code n\">");
    html_text(key->value, out);
    buffer_putc(out, ' ');
    html_text(key->unit, out);
    buffer_puts(out, "</td><td>");
    if (strcmp(key->origin, profile) != 0) {
        buffer_puts(out, "From ");
        html_text(key->origin, out);
        buffer_puts(out, ": ");
    }
    html_text(key->reference, out);
    buffer_puts(out, "</td></tr>\n");
}

/* The assumed numbers of the profile. */
static void provenance(struct html_page *page)
{
    const wm_arch *arch = page->report->head->arch;
    size_t counts[3] = {0, 0, 0};
    struct buffer *out = page->out;
    struct wm_arch_key key;

    for (size_t i = 0; wm_arch_key_at(arch, i, &key) == WM_OK; i++)
        counts[key.provenance]++;
    buffer_puts(out, "<p>Of the numbers in the profile ");
    html_text(wm_arch_name(arch), out);
    buffer_printf(out, ", %zu are measured, %zu rest on documents, and %zu are assumed.</p>\n", counts[WM_MEASURED],
                  counts[WM_DOCUMENTED], counts[WM_ASSUMED]);
    if (!counts[WM_ASSUMED])
        return;
    buffer_puts(out,
                "<details>\n<summary>What is assumed, and why</summary>\n"
                "<div class=\"scroll\" role=\"region\" aria-label=\"Assumed numbers\" tabindex=\"0\">\n"
                "<table class=\"keys\">\n<thead><tr><th scope=\"col\">Key</th><th scope=\"col\" class=\"n\">Value</th>"
                "<th scope=\"col\">Where it comes from</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; wm_arch_key_at(arch, i, &key) == WM_OK; i++) {
        if (key.provenance == WM_ASSUMED)
            key_row(&key, wm_arch_name(arch), out);
    }
    buffer_puts(out, "</tbody>\n</table>\n</div>\n</details>\n");
}

/* Whether there are records of the GPU at all. */
static int is_measured(const wm_arch *arch)
{
    struct wm_arch_key key;

    for (size_t i = 0; wm_arch_key_at(arch, i, &key) == WM_OK; i++) {
        if (key.provenance == WM_MEASURED)
            return 1;
    }
    return 0;
}

/* "in 3 of 14 rows" */
static void in_rows(const struct html_page *page, size_t count, struct buffer *out)
{
    if (count == page->row_count)
        buffer_puts(out, "in all rows");
    else
        buffer_printf(out, "in %zu of %zu rows", count, page->row_count);
}

static void cycles_exactness(const struct html_page *page)
{
    size_t counts[WM_APPROXIMATE + 1] = {0};
    struct buffer *out = page->out;
    size_t others;

    for (size_t i = 0; i < page->row_count; i++)
        counts[page->rows[i].exactness]++;
    others = counts[WM_BY_DOCUMENT] + counts[WM_BY_ASSUMPTION];
    buffer_puts(
        out, "<p>Cycles are no counter but a prediction from the counters and the rates in the profile, for one SM.");
    if (counts[WM_EXACT]) {
        buffer_puts(out,
                    " It is within 15 % of at least 95 of 100 recorded accesses of the kind, back to back on one SM, ");
        in_rows(page, counts[WM_EXACT], out);
        buffer_putc(out, '.');
    }
    if (others) {
        buffer_puts(out, " It rests on the rates of another GPU ");
        in_rows(page, others, out);
        buffer_putc(out, '.');
    }
    if (counts[WM_APPROXIMATE]) {
        buffer_puts(out, " The kind of access is often farther off, or was not measured, ");
        in_rows(page, counts[WM_APPROXIMATE], out);
        buffer_putc(out, '.');
    }
    buffer_puts(out, " <a href=\"#reading\">What cycles mean</a></p>\n");
}

static void exactness(struct html_page *page)
{
    struct note_writer writer = {page->out, WM_EXACT};
    struct buffer *out = page->out;

    buffer_puts(out, "<section class=\"prose\">\n<h2 id=\"exactness\">What is exact, and what is not</h2>\n");
    if (!notes_walk(page->report->lines, note, &writer))
        out->failed = BUFFER_NO_MEMORY;
    if (writer.exactness == WM_EXACT)
        buffer_puts(out, "<p>Every counter on this page agrees with the hardware counter on every recorded access of "
                         "this GPU.</p>\n");
    else
        buffer_puts(out, "</ul>\n");
    if (writer.exactness != WM_EXACT && is_measured(page->report->head->arch))
        buffer_puts(
            out, "<p>All other counters agree with the hardware counter on every recorded access of this GPU.</p>\n");
    cycles_exactness(page);
    provenance(page);
    buffer_puts(out, "</section>\n");
}

static void term(const char *name, const char *meaning, struct buffer *out)
{
    buffer_printf(out, "<dt>%s</dt>\n<dd>%s</dd>\n", name, meaning);
}

static void reading(struct html_page *page)
{
    struct buffer *out = page->out;

    buffer_puts(out, "<section class=\"prose\">\n<h2 id=\"reading\">How to read this page</h2>\n<dl>\n");
    term("Cycles",
         "How long the executions of a line keep the memory pipe of one SM busy, at least: the time of its unit that "
         "is busy "
         "longest (issue, passes of the tag stage and of the data stage, results on their way to the registers, L2). A "
         "prediction, for an SM that has enough warps to wait for nothing else. Lines can overlap in different units, "
         "so that "
         "a kernel may take less than the sum of its lines; what it waits for besides memory is not in it.",
         out);
    term("Wasted cycles",
         "Those of a line that the same work would not take if all its counts were ideal: no sector too many, no bank "
         "conflict.",
         out);
    term("Sectors",
         "Pieces of 32 bytes that a request asks for; ideal: the fewest that could hold the distinct bytes asked for.",
         out);
    term(
        "Wavefronts",
        "Passes, of the data stage for shared memory and of the tag stage for other memory; ideal: the fewest that any "
        "placement of those bytes needs.",
        out);
    term("Efficiency", "The ideal as a share of the sectors; in shared memory, of the wavefronts.", out);
    term("Ways", "The most passes that one phase of a shared access needs; more than 1 is a bank conflict.", out);
    buffer_puts(out, "</dl>\n</section>\n");
}

static void page_end(struct html_page *page)
{
    buffer_printf(page->out, "<footer>Made by warpmem %s.</footer>\n", wm_version());
    embed("script", html_js, page->out);
    buffer_puts(page->out, "</body>\n</html>\n");
}

void html_report(const struct html_report *report, struct buffer *out)
{
    struct html_page page = {
        .report = report,
        .out = out,
        .pictures_left = MOST_PICTURES,
        .picture_bytes_left = MOST_PICTURE_BYTES,
    };

    if (!collect_rows(&page) || !collect_kernels(&page) || !html_sources_find(&page)) {
        out->failed = BUFFER_NO_MEMORY;
        goto done;
    }
    page_begin(&page);
    page_header(&page);
    buffer_puts(out, "<main>\n");
    summary(&page);
    if (page.row_count) {
        kernels(&page);
        html_lines(&page);
        html_sources(&page);
        totals(&page);
        exactness(&page);
        reading(&page);
    }
    buffer_puts(out, "</main>\n");
    page_end(&page);
done:
    if (page.text.failed || page.picture.failed || page.smaller_picture.failed)
        out->failed = BUFFER_NO_MEMORY;
    buffer_free(&page.text);
    buffer_free(&page.picture);
    buffer_free(&page.smaller_picture);
    html_sources_free(&page);
    free(page.rows);
    free(page.kernels);
}
