/* Comma-separated values (RFC 4180), but a quoted field ends on its line. */
#include "config.h"

#include "validate.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Bytes of a line, and fields in it: far more than any measurement has. */
#define MOST_LINE_BYTES ((size_t)1 << 20)
#define MOST_FIELDS 1024

struct csv_source {
    FILE *file;
    char *path;
    uint64_t line;
    char *text; /* the current line, cut into fields */
    size_t text_size;
    char *fields[MOST_FIELDS];
    size_t field_columns[MOST_FIELDS]; /* 1-based, in bytes */
    size_t field_count;
    char *heading;
    char *names[MOST_FIELDS];
    size_t columns;
};

static void fill(struct wm_diag *diag, enum wm_status status, const char *file, uint64_t line, uint64_t column,
                 const char *format, va_list arguments)
{
    size_t length = strlen(file);

    memset(diag, 0, sizeof *diag);
    diag->status = status;
    if (length >= sizeof diag->file)
        file += length - (sizeof diag->file - 1);
    snprintf(diag->file, sizeof diag->file, "%s", file);
    diag->line = line;
    diag->column = column;
    vsnprintf(diag->text, sizeof diag->text, format, arguments);
    for (char *c = diag->text; *c; c++) {
        if (*c < 0x20 || *c > 0x7e)
            *c = '?';
    }
}

enum wm_status validate_refuse(struct wm_diag *diag, enum wm_status status, const char *file, uint64_t line,
                               uint64_t column, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fill(diag, status, file, line, column, format, arguments);
    va_end(arguments);
    return status;
}

enum wm_status csv_refuse(const struct csv_source *source, size_t column, enum wm_status status, struct wm_diag *diag,
                          const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fill(diag, status, source->path, source->line, source->field_columns[column], format, arguments);
    va_end(arguments);
    return status;
}

/* Reads a line into text, without its end, of at most MOST_LINE_BYTES. */
static enum wm_status read_line(struct csv_source *source, struct wm_diag *diag)
{
    size_t length = 0;
    int c;

    source->line++;
    while ((c = getc_unlocked(source->file)) != EOF && c != '\n') {
        if (c == '\0')
            return validate_refuse(diag, WM_E_SYNTAX, source->path, source->line, length + 1, "a NUL byte");
        if (length + 1 >= source->text_size) {
            size_t size = source->text_size ? source->text_size * 2 : 256;
            char *text = size > MOST_LINE_BYTES ? NULL : realloc(source->text, size);

            if (size > MOST_LINE_BYTES)
                return validate_refuse(diag, WM_E_SYNTAX, source->path, source->line, 0, "the line is too long");
            if (!text)
                return validate_refuse(diag, WM_E_MEMORY, source->path, 0, 0, "%s", wm_status_text(WM_E_MEMORY));
            source->text = text;
            source->text_size = size;
        }
        source->text[length++] = (char)c;
    }
    if (ferror(source->file))
        return validate_refuse(diag, WM_E_IO, source->path, 0, 0, "%s", strerror(errno));
    if (c == EOF && length == 0)
        return WM_END;
    if (length && source->text[length - 1] == '\r')
        length--;
    if (source->text)
        source->text[length] = '\0';
    return WM_OK;
}

/* Takes the quotes off a field that begins at *from; *from is moved to what follows the closing one. */
static int unquote(char **from)
{
    char *in = *from + 1;
    char *out = *from;

    for (;; in++) {
        if (*in == '\0')
            return 0;
        if (*in == '"' && *++in != '"')
            break;
        *out++ = *in;
    }
    *from = in;
    /* where in == out + 1 or more, the end does not overwrite what follows */
    *out = '\0';
    return 1;
}

static enum wm_status cut_fields(struct csv_source *source, struct wm_diag *diag)
{
    char *at = source->text;

    source->field_count = 0;
    for (;;) {
        size_t column = (size_t)(at - source->text) + 1;
        char next;

        if (source->field_count == MOST_FIELDS)
            return validate_refuse(diag, WM_E_SYNTAX, source->path, source->line, column, "too many fields");
        source->field_columns[source->field_count] = column;
        source->fields[source->field_count++] = at;
        if (*at == '"') {
            if (!unquote(&at))
                return validate_refuse(diag, WM_E_SYNTAX, source->path, source->line, column,
                                       "the quoted field has no end");
        } else {
            at += strcspn(at, ",");
        }
        next = *at;
        if (next != ',' && next != '\0')
            return validate_refuse(diag, WM_E_SYNTAX, source->path, source->line, (size_t)(at - source->text) + 1,
                                   "expected a comma behind the quoted field");
        *at++ = '\0';
        if (next == '\0')
            return WM_OK;
    }
}

static enum wm_status read_heading(struct csv_source *source, struct wm_diag *diag)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    enum wm_status status = read_line(source, diag);

    if (status == WM_END || (!status && (!source->text || !source->text[0])))
        return validate_refuse(diag, WM_E_SYNTAX, source->path, 1, 0, "expected a line that names the columns");
    if (status)
        return status;
    if (strncmp(source->text, byte_order_mark, 3) == 0)
        memmove(source->text, source->text + 3, strlen(source->text + 3) + 1);
    status = cut_fields(source, diag);
    if (status)
        return status;
    /* the names keep the line that they are in */
    source->heading = source->text;
    source->text = NULL;
    source->text_size = 0;
    source->columns = source->field_count;
    memcpy(source->names, source->fields, sizeof source->names);
    for (size_t i = 0; i < source->columns; i++) {
        if (csv_column_find(source, source->names[i]) != (int)i)
            return csv_refuse(source, i, WM_E_SYNTAX, diag, "a second column of the name '%s'", source->names[i]);
    }
    return WM_OK;
}

enum wm_status csv_open(const char *path, struct csv_source **out, struct wm_diag *diag)
{
    struct csv_source *source = calloc(1, sizeof *source);
    struct stat info;
    enum wm_status status;

    if (source)
        source->path = strdup(path);
    if (!source || !source->path) {
        free(source);
        return validate_refuse(diag, WM_E_MEMORY, path, 0, 0, "%s", wm_status_text(WM_E_MEMORY));
    }
    source->file = fopen(path, "r");
    if (source->file && fstat(fileno(source->file), &info) == 0 && S_ISDIR(info.st_mode)) {
        fclose(source->file);
        source->file = NULL;
        errno = EISDIR;
    }
    status =
        source->file ? read_heading(source, diag) : validate_refuse(diag, WM_E_IO, path, 0, 0, "%s", strerror(errno));
    if (status) {
        csv_close(source);
        return status;
    }
    *out = source;
    return WM_OK;
}

size_t csv_columns(const struct csv_source *source)
{
    return source->columns;
}

const char *csv_column_name(const struct csv_source *source, size_t column)
{
    return source->names[column];
}

int csv_column_find(const struct csv_source *source, const char *name)
{
    for (size_t i = 0; i < source->columns; i++) {
        if (strcmp(source->names[i], name) == 0)
            return (int)i;
    }
    return -1;
}

enum wm_status csv_next(struct csv_source *source, struct wm_diag *diag)
{
    enum wm_status status;

    do {
        status = read_line(source, diag);
    } while (!status && (!source->text || !source->text[0]));
    if (!status)
        status = cut_fields(source, diag);
    if (!status && source->field_count != source->columns)
        status = validate_refuse(diag, WM_E_SYNTAX, source->path, source->line, 0, "expected %zu fields, found %zu",
                                 source->columns, source->field_count);
    return status;
}

const char *csv_field_at(const struct csv_source *source, size_t column)
{
    return source->fields[column];
}

uint64_t csv_line(const struct csv_source *source)
{
    return source->line;
}

enum wm_status csv_number(const struct csv_source *source, size_t column, uint64_t *out, struct wm_diag *diag)
{
    const char *text = source->fields[column];
    char *end;

    if (!*text)
        return WM_END;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end)
        return csv_refuse(source, column, WM_E_SYNTAX, diag, "expected a whole number in column %s, found '%.40s'",
                          source->names[column], text);
    if (errno)
        return csv_refuse(source, column, WM_E_RANGE, diag, "the number in column %s is above 2^64 - 1",
                          source->names[column]);
    return WM_OK;
}

enum wm_status csv_real(const struct csv_source *source, size_t column, double *out, struct wm_diag *diag)
{
    const char *text = source->fields[column];
    const size_t whole = strspn(text, "0123456789");
    const size_t rest = text[whole] == '.' ? 1 + strspn(text + whole + 1, "0123456789") : 0;
    double value = 0, unit = 1;

    if (!*text)
        return WM_END;
    if (!whole || rest == 1 || text[whole + rest])
        return csv_refuse(source, column, WM_E_SYNTAX, diag, "expected a number in column %s, found '%.40s'",
                          source->names[column], text);
    if (whole > 15)
        return csv_refuse(source, column, WM_E_RANGE, diag, "the number in column %s is above 10^15",
                          source->names[column]);
    /* strtod() would ask the locale what a point is */
    for (size_t i = 0; i < whole + rest; i++) {
        if (i > whole)
            unit /= 10;
        if (i != whole)
            value = i < whole ? value * 10 + (text[i] - '0') : value + unit * (text[i] - '0');
    }
    *out = value;
    return WM_OK;
}

void csv_close(struct csv_source *source)
{
    if (!source)
        return;
    if (source->file)
        fclose(source->file);
    free(source->path);
    free(source->text);
    free(source->heading);
    free(source);
}
