/* The sources that rows point into. They are read here and now: from the place that the trace names, or beside the trace.
 * A name from a trace is no proof that its file is a source, and a report is made to be passed on: only what is named like
 * one is read. */
#include "html.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_SOURCE_BYTES ((off_t)16 << 20)

/* Files up to so many lines are shown whole; of others, so many lines around each that was measured. */
#define WHOLE_FILE_LINES 40
#define CONTEXT_LINES 10

/* Files in the page, and lines of all of them together. */
#define MOST_FILES 50
#define MOST_SOURCE_LINES 5000

/* Bytes of a line; more is cut. */
#define MOST_LINE_BYTES 400

/* ------------------------------------------------------------------------------------------------------ finding files */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int is_source_name(const char *name)
{
    static const char *const endings[] = {"cu",  "cuh", "c",   "cc",  "cpp", "cxx", "h",  "hh",  "hpp",
                                          "hxx", "inc", "inl", "ipp", "tpp", "ptx", "py", "cuf", "f90"};
    const char *dot = strrchr(base_name(name), '.');

    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++) {
        if (strcasecmp(dot + 1, endings[i]) == 0)
            return 1;
    }
    return 0;
}

/* One of the command's operands: whoever runs it has named that file. */
static int is_input(const struct html_page *page, const char *path)
{
    const struct table_head *head = page->report->head;

    for (size_t i = 0; i < head->file_count; i++) {
        if (strcmp(head->files[i], path) == 0)
            return 1;
    }
    return 0;
}

/* Reads a regular file. Returns 1; 0: there is none; -1: it cannot be shown, and words say why; -2: out of memory. */
static int read_file(const char *path, struct html_file *file)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat info;
    int result = -1;
    size_t length = 0;
    ssize_t n;

    if (fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return 0;
        buffer_printf(&file->words, "%s: %s", path, strerror(errno));
        return -1;
    }
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        buffer_printf(&file->words, "%s is no regular file", path);
        goto done;
    }
    if (info.st_size > MOST_SOURCE_BYTES) {
        buffer_printf(&file->words, "%s is larger than 16 MiB", path);
        goto done;
    }
    length = (size_t)info.st_size;
    file->text = malloc(length + 1);
    if (!file->text) {
        result = -2;
        goto done;
    }
    while (file->length < length && (n = read(fd, file->text + file->length, length - file->length)) > 0)
        file->length += (size_t)n;
    result = 1;
    if (memchr(file->text, '\0', file->length)) {
        buffer_printf(&file->words, "%s is not text", path);
        free(file->text);
        file->text = NULL;
        result = -1;
    }
done:
    close(fd);
    return result;
}

/* Tries a path: folder (of another path) and name. As read_file(). */
static int try_path(struct html_page *page, const char *beside, const char *name, struct html_file *file)
{
    struct buffer *path = &page->text;
    int result;

    buffer_clear(path);
    if (beside)
        buffer_add(path, beside, (size_t)(base_name(beside) - beside));
    buffer_puts(path, name);
    if (!is_source_name(name) && !is_input(page, buffer_text(path))) {
        buffer_clear(&file->words);
        buffer_puts(&file->words, "it is not named like a source");
        return -1;
    }
    result = read_file(buffer_text(path), file);
    if (result == 1 && strcmp(buffer_text(path), file->name) != 0)
        buffer_printf(&file->words, "read from %s", buffer_text(path));
    return result;
}

/* Where the file may be: as it is named; beside the traces; where the kernel's own source is, if that has the same name. */
static int find_file(struct html_page *page, struct html_file *file)
{
    const struct table_head *head = page->report->head;
    const char *source = NULL;
    int result = 0;

    for (size_t i = 0; i < file->row_count && !source; i++) {
        const char *other = file->rows[i]->row->source;

        if (other && strcmp(other, file->name) != 0 && strcmp(base_name(other), base_name(file->name)) == 0)
            source = other;
    }
    if (strcmp(file->name, "-") == 0) {
        buffer_puts(&file->words, "standard input can be read only once");
        return 1;
    }
    result = try_path(page, NULL, file->name, file);
    if (result == 0 && source)
        result = try_path(page, NULL, source, file);
    for (size_t i = 0; i < head->file_count && result == 0; i++) {
        if (*file->name != '/' && strchr(head->files[i], '/'))
            result = try_path(page, head->files[i], file->name, file);
        if (result == 0 && source && *source != '/' && strchr(head->files[i], '/'))
            result = try_path(page, head->files[i], source, file);
    }
    if (result == 0)
        buffer_puts(&file->words, "there is no such file here, nor beside the input");
    return result != -2;
}

/* ---------------------------------------------------------------------------------------------------- lines to be shown */

static int compare_by_file(const void *a, const void *b)
{
    const struct html_row *const *x = a;
    const struct html_row *const *y = b;
    int order = strcmp((*x)->file, (*y)->file);

    if (order)
        return order;
    if ((*x)->row->line != (*y)->row->line)
        return (*x)->row->line < (*y)->row->line ? -1 : 1;
    /* rows are in order of their waste */
    return (*x > *y) - (*x < *y);
}

static int compare_files(const void *a, const void *b)
{
    const struct html_file *x = a;
    const struct html_file *y = b;

    if (x->wasted != y->wasted)
        return x->wasted < y->wasted ? 1 : -1;
    return strcmp(x->name, y->name);
}

static size_t count_lines(const struct html_file *file)
{
    size_t lines = 0;

    for (size_t i = 0; i < file->length; i++)
        lines += file->text[i] == '\n';
    return lines + (file->length && file->text[file->length - 1] != '\n');
}

/* Whether a line of a file is near one that was measured. *next is the first row whose line is not above it. */
static int is_near(const struct html_file *file, uint32_t line, size_t *next)
{
    if (file->line_count <= WHOLE_FILE_LINES)
        return 1;
    while (*next < file->row_count && file->rows[*next]->row->line < line)
        (*next)++;
    if (*next < file->row_count && file->rows[*next]->row->line <= (uint64_t)line + CONTEXT_LINES)
        return 1;
    return *next > 0 && (uint64_t)file->rows[*next - 1]->row->line + CONTEXT_LINES >= line;
}

/* Shares out the lines that may be shown, and tells rows whether theirs is. */
static void choose_lines(struct html_file *file, size_t index, size_t *lines_left)
{
    size_t next = 0;

    file->line_count = count_lines(file);
    for (uint32_t line = 1; line <= file->line_count && *lines_left; line++) {
        if (!is_near(file, line, &next))
            continue;
        (*lines_left)--;
        file->last_shown = line;
    }
    for (size_t i = 0; i < file->row_count; i++) {
        file->rows[i]->file_index = index;
        file->rows[i]->has_anchor = file->rows[i]->row->line <= file->last_shown;
    }
}

int html_sources_find(struct html_page *page)
{
    size_t lines_left = MOST_SOURCE_LINES;
    struct html_file *file = NULL;
    size_t count = 0;

    page->by_file = calloc(page->row_count + 1, sizeof(struct html_row *));
    page->files = calloc(page->row_count + 1, sizeof *page->files);
    if (!page->by_file || !page->files)
        return 0;
    for (size_t i = 0; i < page->row_count; i++) {
        if (page->rows[i].file)
            page->by_file[count++] = &page->rows[i];
    }
    qsort(page->by_file, count, sizeof *page->by_file, compare_by_file);
    for (size_t i = 0; i < count; i++) {
        if (!file || strcmp(file->name, page->by_file[i]->file) != 0) {
            file = &page->files[page->file_count++];
            file->name = page->by_file[i]->file;
            file->rows = page->by_file + i;
        }
        file->row_count++;
        file->wasted += page->by_file[i]->wasted;
    }
    qsort(page->files, page->file_count, sizeof *page->files, compare_files);
    for (size_t i = 0; i < page->file_count && i < MOST_FILES; i++) {
        if (!find_file(page, &page->files[i]))
            return 0;
        if (page->files[i].text)
            choose_lines(&page->files[i], i, &lines_left);
    }
    return 1;
}

void html_sources_free(struct html_page *page)
{
    for (size_t i = 0; i < page->file_count; i++) {
        free(page->files[i].text);
        buffer_free(&page->files[i].words);
    }
    free(page->files);
    free(page->by_file);
}

/* ------------------------------------------------------------------------------------------------------------ showing */

static void code(const char *text, size_t length, struct buffer *out)
{
    if (length && text[length - 1] == '\r')
        length--;
    if (length <= MOST_LINE_BYTES) {
        html_text_part(text, length, out);
        return;
    }
    length = MOST_LINE_BYTES;
    while (length && (text[length] & 0xc0) == 0x80)
        length--;
    html_text_part(text, length, out);
    buffer_puts(out, " &#8230;");
}

/* A line without accesses has no number; rows: those of the line. */
static void source_line(struct html_page *page, size_t file_index, uint32_t line, struct html_row *const *rows,
                        size_t row_count, double most, const char *text, size_t length)
{
    struct buffer *out = page->out;
    double cycles = 0, wasted = 0;

    for (size_t i = 0; i < row_count; i++) {
        cycles += rows[i]->cycles;
        wasted += rows[i]->wasted;
    }
    if (row_count)
        buffer_printf(out, "<tr id=\"line-%zu-%u\" class=\"hit\"><th scope=\"row\">%u</th><td class=\"n\">", file_index,
                      line, line);
    else
        buffer_printf(out, "<tr><th scope=\"row\">%u</th><td class=\"n\">", line);
    /* the rows of a line are in order: the first is the worst */
    if (row_count && rows[0] < page->rows + page->rows_shown) {
        buffer_printf(out, "<a href=\"#row-%zu\">", rows[0]->index);
        html_cycles(wasted, out);
        buffer_puts(out, "</a>");
    } else if (row_count) {
        html_cycles(wasted, out);
    }
    buffer_puts(out, "</td><td class=\"b\">");
    if (row_count)
        html_bar(cycles, wasted, most, out);
    buffer_puts(out, "</td><td class=\"src\">");
    code(text, length, out);
    buffer_puts(out, "</td></tr>\n");
}

static void gap(size_t lines, struct buffer *out)
{
    buffer_puts(out, "<tr class=\"gap\"><td colspan=\"3\"></td><td>&#8230; ");
    table_count(lines, 0, out);
    buffer_printf(out, " line%s</td></tr>\n", lines == 1 ? "" : "s");
}

/* The cycles of the page's most costly source line: bars of all files are to the same scale. */
static double most_costly_line(const struct html_page *page)
{
    double most = 0, cycles = 0;

    for (size_t i = 0; i < page->file_count; i++) {
        const struct html_file *file = &page->files[i];

        for (size_t r = 0; r < file->row_count; r++) {
            if (r == 0 || file->rows[r]->row->line != file->rows[r - 1]->row->line)
                cycles = 0;
            cycles += file->rows[r]->cycles;
            most = cycles > most ? cycles : most;
        }
    }
    return most;
}

static void source_lines(struct html_page *page, size_t file_index, double most)
{
    const struct html_file *file = &page->files[file_index];
    const char *text = file->text;
    const char *end = file->text + file->length;
    size_t next = 0, row = 0, hidden = 0;

    for (uint32_t line = 1; line <= file->line_count; line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((newline ? newline : end) - text);
        size_t rows = 0;

        while (row + rows < file->row_count && file->rows[row + rows]->row->line == line)
            rows++;
        if (line <= file->last_shown && is_near(file, line, &next)) {
            if (hidden)
                gap(hidden, page->out);
            hidden = 0;
            source_line(page, file_index, line, file->rows + row, rows, most, text, length);
        } else {
            hidden++;
        }
        row += rows;
        text += length + 1;
    }
    if (hidden)
        gap(hidden, page->out);
}

/* The file's name with what there is to say about it. */
static void file_heading(struct html_page *page, size_t file_index)
{
    struct html_file *file = &page->files[file_index];
    uint32_t last = file->rows[file->row_count - 1]->row->line;
    struct buffer *out = page->out;

    buffer_printf(out, "<h3 id=\"file-%zu\" class=\"code\">", file_index);
    html_name(file->name, out);
    buffer_puts(out, "</h3>\n");
    if (!file->text) {
        buffer_puts(out, "<p>Not shown: ");
        html_name(buffer_text(&file->words), out);
        buffer_puts(out, ".</p>\n");
        return;
    }
    if (file->words.length) {
        buffer_puts(out, "<p class=\"note\">");
        html_name(buffer_text(&file->words), out);
        buffer_puts(out, "</p>\n");
    }
    if (last > file->line_count)
        buffer_printf(out,
                      "<p class=\"warning\">The file has %zu lines, but the input speaks of line %u: it is not the "
                      "source that was compiled.</p>\n",
                      file->line_count, last);
    else if (!file->last_shown || !file->rows[file->row_count - 1]->has_anchor)
        buffer_puts(
            out, "<p class=\"note\">Not all of its lines that were measured are shown: the page has too many.</p>\n");
}

void html_sources(struct html_page *page)
{
    struct buffer *out = page->out;
    double most = most_costly_line(page);

    buffer_puts(out, "<section>\n<h2 id=\"source\">Source</h2>\n");
    if (!page->file_count)
        buffer_puts(out, "<p>The input names no source lines.</p>\n");
    for (size_t i = 0; i < page->file_count && i < MOST_FILES; i++) {
        file_heading(page, i);
        if (!page->files[i].last_shown)
            continue;
        buffer_printf(out, "<div class=\"scroll\" role=\"region\" aria-labelledby=\"file-%zu\" tabindex=\"0\">\n", i);
        buffer_puts(out, "<table class=\"source\">\n<thead><tr><th scope=\"col\">Line</th>"
                         "<th scope=\"col\" class=\"n\">Wasted cycles</th><td class=\"b\"></td>"
                         "<th scope=\"col\">Source</th></tr></thead>\n<tbody>\n");
        source_lines(page, i, most);
        buffer_puts(out, "</tbody>\n</table>\n</div>\n");
    }
    if (page->file_count > MOST_FILES)
        buffer_printf(out, "<p>And %zu files that waste less.</p>\n", page->file_count - MOST_FILES);
    buffer_puts(out, "</section>\n");
}
