/* Small CSV files as tests read them: one header line, no quoting, every row as long as the header. */
#ifndef WM_TEST_SHEET_H
#define WM_TEST_SHEET_H

#include <stddef.h>
#include <stdint.h>

#define SHEET_COLUMNS_MAX 40

struct sheet {
    char *text; /* the whole file; what columns and cells point into */
    size_t columns;
    const char *column[SHEET_COLUMNS_MAX];
    size_t rows;
    const char **cell; /* rows * columns */
};

/* A file of the source tree, path relative to it: "TOP/traces/x.csv". Malloced; NULL without memory. */
char *sheet_path(const char *relative);

/* Reads a sheet; NULL, with a message on stderr, if there is none or a row is too long or short. */
struct sheet *sheet_read(const char *path);
void sheet_free(struct sheet *sheet);

/* The number of a column, or -1. */
int sheet_column(const struct sheet *sheet, const char *name);
const char *sheet_cell(const struct sheet *sheet, size_t row, size_t column);

/* 1 and the number if the cell is one, else 0. */
int sheet_number(const char *cell, uint64_t *out);

#endif
