/* Recorded measurements against the model. Part of the program, not of the library. */
#ifndef VALIDATE_H
#define VALIDATE_H

#include "warpmem.h"

#include <stdio.h>

/* ------------------------------------------------------------------------------------------------------ csv_source.c */

/* A file of comma-separated fields, read record by record. */
struct csv_source;

/* Opens a file and reads its heading. All functions fill diag on failure. */
enum wm_status csv_open(const char *path, struct csv_source **out, struct wm_diag *diag);

size_t csv_columns(const struct csv_source *source);
const char *csv_column_name(const struct csv_source *source, size_t column);
/* The column of that name; -1: there is none. */
int csv_column_find(const struct csv_source *source, const char *name);

/* The next record; WM_END: there are no more. A record has as many fields as the heading. */
enum wm_status csv_next(struct csv_source *source, struct wm_diag *diag);

/* Of the current record. Fields live until the next one is read. */
const char *csv_field_at(const struct csv_source *source, size_t column);
uint64_t csv_line(const struct csv_source *source);
/* A field as a number: decimal. Empty: WM_END. */
enum wm_status csv_number(const struct csv_source *source, size_t column, uint64_t *out, struct wm_diag *diag);
/* The same with digits behind a point; below 10^15. */
enum wm_status csv_real(const struct csv_source *source, size_t column, double *out, struct wm_diag *diag);
/* Fills diag with the place of a field of the current record, and the text. Returns status. */
enum wm_status csv_refuse(const struct csv_source *source, size_t column, enum wm_status status, struct wm_diag *diag,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));
void csv_close(struct csv_source *source);

/* ----------------------------------------------------------------------------------------------------- measurement.c */

/* The file NAME.meta beside a measurement's NAME.csv: `key = value` lines. */
struct meta;

/* WM_OK with *out = NULL where there is no such file. */
enum wm_status meta_open(const char *csv_path, struct meta **out, struct wm_diag *diag);
/* NULL: there is no such key, or no file. */
const char *meta_get(const struct meta *meta, const char *key);
/* Key number n, from 0, that means nothing here, and its line; NULL: no more. */
const char *meta_unknown(const struct meta *meta, size_t n, uint64_t *line);
const char *meta_path(const struct meta *meta);
void meta_free(struct meta *meta);

/* What one record of a measurement says. */
struct measured {
    uint64_t values[WM_COUNTERS];
    uint32_t has; /* bit c: counter c was measured */
    double one_warp, full_block; /* columns cycles_1_warp, cycles_32_warps; 0: not measured, or nothing to measure */
};

/* A measurement of single accesses, read record by record. */
struct measurement;

/* ---------------------------------------------------------------------------------------------------------- beside.c */

#define BESIDE_OPERATIONS (WM_CP_ASYNC + 1)

/* What the measuring kernel adds to each record, by operation: a wait behind a copy, for instance. */
struct beside {
    uint64_t counts[BESIDE_OPERATIONS][WM_COUNTERS];
};

/* From the keys beside.OPERATION.COUNTER of a .meta file; all 0 where there are none. */
enum wm_status beside_read(const struct meta *meta, struct beside *out, struct wm_diag *diag);

/* Whether a key is one of these. */
int beside_is_key(const char *key);

/* Takes it off a record. WM_E_RANGE: the record has less. path: the measurement, for messages. */
enum wm_status beside_subtract(const struct beside *beside, uint64_t index, const struct wm_opcode *opcode,
                               struct measured *measured, const char *path, struct wm_diag *diag);

/* ------------------------------------------------------------------------------------------- measurement.c, continued */

/* Takes over a source with its heading read. */
enum wm_status measurement_new(struct csv_source *source, struct measurement **out, struct wm_diag *diag);
/* Column number n, from 0, that means nothing here; NULL: no more. Likewise those that hold cycles. */
const char *measurement_unknown(const struct measurement *measurement, size_t n);
const char *measurement_cycles(const struct measurement *measurement, size_t n);
/* The next record, which must belong to that access of the trace. WM_END: there are no more. */
enum wm_status measurement_next(struct measurement *measurement, uint64_t index, const struct wm_access *access,
                                struct measured *out, struct wm_diag *diag);
/* The end of the trace, after so many accesses: an error if there is another record. */
enum wm_status measurement_end(struct measurement *measurement, uint64_t accesses, struct wm_diag *diag);
void measurement_free(struct measurement *measurement);

/* ----------------------------------------------------------------------------------------------------------- known.c */

/* One known disagreement with hardware. */
struct known {
    char *opcode;
    char *counter;
    char *index; /* number of a record, or name of a kernel; "": any record of that opcode */
    char *reason;
    uint64_t line; /* in the list's file */
    uint64_t compared;
    uint64_t disagreeing;
};

struct known_list {
    char *path;
    struct known *entries;
    size_t count;
};

/* Reads those entries of a list that are about a GPU and a measurement, which is named by the path of its file. path
 * NULL: the nearest known-mismatches.csv in the measurement's folder or one above it; none: an empty list. */
enum wm_status known_open(const char *path, const char *arch, const char *measurement, struct known_list *out,
                          struct wm_diag *diag);
void known_free(struct known_list *list);

/* The entry about a record's counter, that of the record itself before that of the opcode; NULL: there is none. */
struct known *known_find(struct known_list *list, const char *opcode, const char *counter, const char *index);

/* Says that a value was compared, and whether it agreed, to all entries about it. Returns whether one is. */
int known_note(struct known_list *list, const char *opcode, const char *counter, const char *index, int agrees);

/* Why an entry fails after all is compared; NULL: it does not. */
const char *known_failure(const struct known *entry);

/* --------------------------------------------------------------------------------------------------------- compare.c */

struct cell {
    uint64_t compared;
    uint64_t agreeing;
    uint64_t inexact; /* not compared: the model says of the very access that it does not know the value */
    uint64_t known;   /* disagreeing, but listed */
    int is_zero;      /* nothing but zeros so far, predicted and measured */
};

struct opcode_row {
    struct wm_opcode opcode;
    char text[WM_OPCODE_TEXT_SIZE];
    struct cell cells[WM_COUNTERS];
};

struct mismatch {
    uint64_t index;
    enum wm_counter counter;
    uint64_t predicted;
    uint64_t measured;
    struct wm_access access; /* its kernel and file are NULL */
};

/* Opcodes by counters, and what does not agree. All zero to begin with, but for known (may be NULL) and the limit. */
struct comparison {
    struct known_list *known;
    size_t mismatch_limit;
    struct opcode_row *rows; /* in the order in which opcodes first appeared */
    size_t row_count;
    size_t row_size;
    struct mismatch *mismatches; /* the first that are not listed */
    size_t mismatch_count;
    uint64_t unlisted; /* all of them */
    uint64_t compared;
    uint64_t agreeing;
    uint64_t inexact;
    uint64_t records;
};

/* Adds one record. WM_E_MEMORY. */
enum wm_status comparison_add(struct comparison *comparison, uint64_t index, const struct wm_access *access,
                              const struct wm_counts *predicted, const struct measured *measured);
/* Adds all of *from; of the mismatches of both, the first by their accesses are kept. Known lists are left as they are.
 * WM_E_MEMORY. */
enum wm_status comparison_merge(struct comparison *into, const struct comparison *from);
void comparison_free(struct comparison *comparison);

/* ------------------------------------------------------------------------------------------------------------ sums.c */

/* Which accesses a column of kernel sums is about, and which of their counters it adds up. */
struct sum_column {
    const char *name;
    enum wm_counter counter;
    unsigned spaces;     /* bit per enum wm_space */
    unsigned operations; /* bit per enum wm_operation */
};

/* Understands a column's name: "ld_sectors", "shared_st_wavefronts", "bank_conflicts". 0: it means nothing here. name is
 * kept. */
int sum_column_parse(const char *name, struct sum_column *out);

/* Adds an access's counts where the column is about it. 0: the sum would overflow. */
int sum_column_add(const struct sum_column *column, const struct wm_access *access, const struct wm_counts *counts,
                   uint64_t *sum);

/* ---------------------------------------------------------------------------------------------------------- sha256.c */

#define SHA256_TEXT_SIZE 65

/* The SHA-256 of a file, in hex. WM_E_UNSUPPORTED: this build has no nettle. WM_E_IO. */
enum wm_status sha256_file(const char *path, char text[SHA256_TEXT_SIZE], struct wm_diag *diag);

/* ----------------------------------------------------------------------------------------------------------- helpers */

/* Fills diag (line and column 0: the whole file) and returns status. */
enum wm_status validate_refuse(struct wm_diag *diag, enum wm_status status, const char *file, uint64_t line,
                               uint64_t column, const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
