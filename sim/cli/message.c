#include "message.h"

#include "buffer.h"
#include "cli.h"
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A text that may hold names from a file or a command line: nothing in it commands a terminal. */
static void put(const char *text)
{
    struct buffer plain = {0};

    table_name(text, &plain);
    fputs(plain.failed ? "(out of memory)" : buffer_text(&plain), stderr);
    buffer_free(&plain);
}

static void put_formatted(const char *format, va_list arguments)
{
    va_list again;
    char *text = NULL;
    int length;

    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length >= 0)
        text = malloc((size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, arguments);
    put(text ? text : format);
    free(text);
}

void complain(const char *format, ...)
{
    va_list arguments;

    progress_hold();
    fputs("warpmem: ", stderr);
    va_start(arguments, format);
    put_formatted(format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    progress_release();
}

void complain_about(const struct wm_diag *diag)
{
    char text[WM_DIAG_FILE_SIZE + WM_DIAG_TEXT_SIZE + 64];

    wm_diag_format(diag, text, sizeof text);
    progress_hold();
    put(text);
    fputc('\n', stderr);
    progress_release();
}

/* Where remarks and warnings are kept besides; NULL: nowhere. */
static struct buffer *record;

void record_remarks(struct buffer *lines)
{
    record = lines;
}

void warn(const char *file, const char *format, ...)
{
    char line[1024]; /* in the record, longer ones are cut */
    va_list arguments;

    if (!file)
        file = "warpmem";
    progress_hold();
    put(file);
    fputs(": warning: ", stderr);
    va_start(arguments, format);
    put_formatted(format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    progress_release();
    if (!record)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    buffer_printf(record, "%s: warning: %s\n", file, line);
}

void remark(int is_warning, const char *text)
{
    const char *kind = is_warning ? "warning" : "note";

    progress_hold();
    fprintf(stderr, "%s: ", kind);
    put(text);
    fputc('\n', stderr);
    progress_release();
    if (record)
        buffer_printf(record, "%s: %s\n", kind, text);
}

int usage_error(const char *command, const char *format, ...)
{
    const char *blank = *command ? " " : "";
    va_list arguments;

    fprintf(stderr, "warpmem%s%s: ", blank, command);
    va_start(arguments, format);
    put_formatted(format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nTry 'warpmem%s%s --help'.\n", blank, command);
    return EXIT_USAGE;
}
