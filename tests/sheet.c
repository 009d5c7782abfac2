/* See sheet.h. */
#include "sheet.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *sheet_path(const char *relative)
{
    const char *top = getenv("top_srcdir");
    size_t size;
    char *path;

    if (top == NULL) {
        top = ".";
    }
    size = strlen(top) + strlen(relative) + 2;
    path = malloc(size);
    if (path != NULL) {
        snprintf(path, size, "%s/%s", top, relative);
    }
    return path;
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size;

    if (file == NULL) {
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0) {
        goto done;
    }
    text = malloc((size_t)size + 1);
    if (text != NULL && fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        text = NULL;
    }
    if (text != NULL) {
        text[size] = '\0';
    }
done:
    fclose(file);
    return text;
}

/* Cuts a line at its commas; returns the number of fields, of which the first max are stored. */
static size_t cut(char *line, const char **field, size_t max)
{
    size_t n = 0;

    for (;;) {
        char *comma = strchr(line, ',');
        if (n < max) {
            field[n] = line;
        }
        n++;
        if (comma == NULL) {
            return n;
        }
        *comma = '\0';
        line = comma + 1;
    }
}

static size_t count_lines(const char *text)
{
    size_t n = 0;

    for (; *text != '\0'; text++) {
        n += *text == '\n';
    }
    return n;
}

struct sheet *sheet_read(const char *path)
{
    struct sheet *sheet = calloc(1, sizeof *sheet);
    size_t number = 0;
    char *line;

    if (sheet == NULL || (sheet->text = read_all(path)) == NULL) {
        fprintf(stderr, "# %s: cannot be read\n", path);
        goto failed;
    }
    line = sheet->text;
    while (*line != '\0') {
        char *end = strchr(line, '\n');
        number++;
        if (end == NULL) {
            fprintf(stderr, "# %s:%zu: no newline at the end\n", path, number);
            goto failed;
        }
        *end = '\0';
        if (number == 1) {
            sheet->columns = cut(line, sheet->column, SHEET_COLUMNS_MAX);
            sheet->cell = calloc((count_lines(end + 1) + 1) * sheet->columns, sizeof *sheet->cell);
            if (sheet->columns > SHEET_COLUMNS_MAX || sheet->cell == NULL) {
                goto failed;
            }
        } else if (cut(line, sheet->cell + sheet->rows * sheet->columns, sheet->columns) != sheet->columns) {
            fprintf(stderr, "# %s:%zu: not %zu fields\n", path, number, sheet->columns);
            goto failed;
        } else {
            sheet->rows++;
        }
        line = end + 1;
    }
    return sheet;
failed:
    sheet_free(sheet);
    return NULL;
}

void sheet_free(struct sheet *sheet)
{
    if (sheet != NULL) {
        free(sheet->text);
        free(sheet->cell);
        free(sheet);
    }
}

int sheet_column(const struct sheet *sheet, const char *name)
{
    for (size_t i = 0; i < sheet->columns; i++) {
        if (strcmp(sheet->column[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

const char *sheet_cell(const struct sheet *sheet, size_t row, size_t column)
{
    return sheet->cell[row * sheet->columns + column];
}

int sheet_number(const char *cell, uint64_t *out)
{
    char *end;

    if (!isdigit((unsigned char)cell[0])) {
        return 0;
    }
    *out = strtoull(cell, &end, 10);
    return *end == '\0';
}
