#include "message.h"

#include "buffer.h"
#include "cli.h"
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>

static void say(const char *head, const char *format, va_list arguments)
{
    progress_hold();
    fputs(head, stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    progress_release();
}

void complain(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say("warpmem: ", format, arguments);
    va_end(arguments);
}

void complain_about(const struct wm_diag *diag)
{
    char text[WM_DIAG_FILE_SIZE + WM_DIAG_TEXT_SIZE + 64];

    wm_diag_format(diag, text, sizeof text);
    progress_hold();
    fprintf(stderr, "%s\n", text);
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
    fprintf(stderr, "%s: warning: ", file);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
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
    fprintf(stderr, "%s: %s\n", kind, text);
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
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nTry 'warpmem%s%s --help'.\n", blank, command);
    return EXIT_USAGE;
}
