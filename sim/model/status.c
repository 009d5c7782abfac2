/* Version, status texts and diagnostics. */
#include "model/status.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_OF(value)                    #value
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *wm_version(void)
{
    return VERSION_TEXT(WM_VERSION_MAJOR, WM_VERSION_MINOR, WM_VERSION_PATCH);
}

const char *wm_status_text(enum wm_status status)
{
    static const char *const texts[] = {
        [WM_OK] = "done",
        [WM_END] = "no more accesses",
        [WM_E_ARGUMENT] = "an argument is outside its documented range",
        [WM_E_MEMORY] = "out of memory",
        [WM_E_IO] = "opening, reading or writing failed",
        [WM_E_SYNTAX] = "the input does not follow its grammar",
        [WM_E_RANGE] = "a number is outside its range",
        [WM_E_UNSUPPORTED] = "valid, but not supported by this build or profile",
        [WM_E_MISALIGNED] = "an address is not a multiple of the access width",
        [WM_E_ADDRESS] = "an address lies outside the address space",
        [WM_E_CORRUPT] = "compressed data does not decode",
        [WM_E_NAME] = "no such profile, format or key",
    };

    if ((unsigned)status >= sizeof texts / sizeof texts[0])
        return "unknown status";
    return texts[status];
}

static void keep_printable(char *text)
{
    for (; *text; text++) {
        if (*text < ' ' || *text > '~')
            *text = '?';
    }
}

/* The end of a path tells files apart, so the front is what goes. */
static void set_file(char out[WM_DIAG_FILE_SIZE], const char *file)
{
    const size_t length = strlen(file);

    if (length < WM_DIAG_FILE_SIZE) {
        memcpy(out, file, length + 1);
    } else {
        memcpy(out, "...", 3);
        memcpy(out + 3, file + length - (WM_DIAG_FILE_SIZE - 4), WM_DIAG_FILE_SIZE - 3);
    }
}

enum wm_status wmi_diag_set(struct wm_diag *diag, enum wm_status status, const char *file, uint64_t line,
                            uint64_t column, const char *format, ...)
{
    va_list arguments;

    if (!diag)
        return status;
    diag->status = status;
    diag->line = line;
    diag->column = column;
    set_file(diag->file, file ? file : "");
    va_start(arguments, format);
    if (vsnprintf(diag->text, sizeof diag->text, format, arguments) < 0)
        diag->text[0] = '\0';
    va_end(arguments);
    keep_printable(diag->text);
    return status;
}

size_t wm_diag_format(const struct wm_diag *diag, char *text, size_t size)
{
    char place[WM_DIAG_FILE_SIZE + 48] = "";
    int at = 0;
    int length;

    if (!diag) {
        if (text && size)
            text[0] = '\0';
        return 0;
    }
    if (diag->file[0])
        at = snprintf(place, sizeof place, "%s:", diag->file);
    if (diag->line && at >= 0)
        at += snprintf(place + at, sizeof place - (size_t)at, "%" PRIu64 ":", diag->line);
    if (diag->line && diag->column && at >= 0)
        at += snprintf(place + at, sizeof place - (size_t)at, "%" PRIu64 ":", diag->column);
    length = snprintf(text, text ? size : 0, "%s%s%s", place, at > 0 ? " " : "", diag->text);
    return length < 0 ? 0 : (size_t)length;
}
