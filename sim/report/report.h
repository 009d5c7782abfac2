/* The ways to show results. Every function adds text to a buffer; nothing here knows where that goes. */
#ifndef REPORT_H
#define REPORT_H

#include "buffer.h"
#include "verdict.h"
#include "warpmem.h"

/* Counters that came after the columns behind the first ones: theirs stand at the end, as no column is ever moved. */
#define LATER_COUNTERS WM_LSU_WRITEBACK

enum report_format { REPORT_TABLE, REPORT_CSV, REPORT_JSON };

/* 0: there is no such format. */
int report_format_by_name(const char *name, enum report_format *out);

/* ------------------------------------------------------------------------------------------------- cells and columns */

/* "FILE:N", "N" or "": a source line. */
void report_line(const char *file, uint32_t line, struct buffer *out);

/* "0x1f", or "" where no pc is known. */
void report_pc(uint64_t pc, struct buffer *out);

/* "exact", "documented", "assumed", "approximate" */
const char *report_exactness(enum wm_exactness exactness);

/* "measured", "documented", "assumed" */
const char *report_provenance(enum wm_provenance provenance);

/* Which of a row's counters are not exact, as "name:approximate name:assumed". */
void report_inexact(const struct wm_tally_row *row, struct buffer *out);

/* The same of one access. */
void report_access_inexact(const uint8_t exactness[WM_COUNTERS], const struct wm_counts *counts, struct buffer *out);

/* ------------------------------------------------------------------------------------------------- rows, one an access */

/* What is remembered from one row to the next. Strings are known by their address: start anew for every chunk. */
struct row_cache {
    enum report_format format;
    const struct geometry *geometry; /* for tables */
    const wm_arch *arch;
    const struct wm_kernel *kernel;
    struct buffer kernel_text;
    const char *file;
    struct buffer file_text;
    struct wm_opcode opcode;
    char opcode_text[WM_OPCODE_TEXT_SIZE];
    uint8_t exactness[WM_COUNTERS]; /* of the opcode */
    int is_exact;                   /* all of them */
    struct buffer scratch;
    struct json_row *json;
};

/* 0: out of memory, or this build lacks the format. */
int row_cache_start(enum report_format format, const wm_arch *arch, const struct geometry *geometry,
                    struct row_cache *cache);
void row_cache_free(struct row_cache *cache);

/* The text of one access without its index, which is known only when rows are put together. */
void row_add(struct row_cache *cache, const struct wm_access *access, const struct wm_counts *counts,
             struct buffer *out);

/* Puts a row together: the index, then a text from row_add(). */
void row_finish(enum report_format format, uint64_t index, int is_first, const char *text, size_t length,
                struct buffer *out);

/* What stands before the first row, and behind the last of them. */
void rows_begin(enum report_format format, struct buffer *out);
void rows_end(enum report_format format, uint64_t rows, struct buffer *out);

/* ----------------------------------------------------------------------------------------------------- csv.c, json.c */

/* A field, quoted where RFC 4180 asks for it. */
void csv_field(const char *text, struct buffer *out);
void csv_row_begin(struct buffer *out);
void csv_row_add(struct row_cache *cache, const struct wm_access *access, const struct wm_counts *counts,
                 struct buffer *out);
void csv_totals(const wm_tally *tally, struct buffer *out);

/* One object of an array, built member by member, then dumped on a line of its own. NULL where memory ends. */
struct json_line;
int json_is_available(void);
struct json_line *json_line_new(void);
void json_line_text(struct json_line *line, const char *name, const char *value);
void json_line_number(struct json_line *line, const char *name, uint64_t value);
void json_line_real(struct json_line *line, const char *name, double value); /* four digits behind the point */
/* Adds the object to an array's text, with what separates it from the one before. */
void json_line_dump(const struct json_line *line, int is_first, struct buffer *out);
void json_line_free(struct json_line *line);
void json_array_begin(struct buffer *out);
void json_array_end(int is_empty, struct buffer *out);

struct json_row *json_row_new(void);
void json_row_add(struct row_cache *cache, const struct wm_access *access, const struct wm_counts *counts,
                  struct buffer *out);
void json_row_free(struct json_row *row);
void json_totals(const wm_tally *tally, struct buffer *out);

/* ----------------------------------------------------------------------------------------------------------- table.c */

/* What stands at a table's head and foot. */
struct table_head {
    const char *const *files;
    size_t file_count;
    const wm_arch *arch;
    int arch_is_default;
    enum wm_l1 l1;
};

void table_head(const struct table_head *head, struct buffer *out);

/* Which columns are not exact for the opcodes of a tally (by line, pc or opcode): for each exactness, worst first, texts
 * such as "lines sectors of ld.global, st.global". Nothing if all are. 0: out of memory. */
typedef void (*note_function)(void *context, enum wm_exactness exactness, const char *text);
int notes_walk(const wm_tally *opcodes, note_function say, void *context);
const char *notes_heading(enum wm_exactness exactness);
void table_notes(const wm_tally *opcodes, struct buffer *out);

void table_row_begin(struct buffer *out);
void table_row_add(struct row_cache *cache, const struct wm_access *access, const struct wm_counts *counts,
                   struct buffer *out);

void table_groups(const struct geometry *geometry, enum wm_by by, const wm_tally *tally, struct buffer *out);

/* One tag wavefront a request, unless the bytes need more lines than one can take. Of cp.async, whose source and
 * destination together decide on what is looked up: unless there are more of these than one can take. */
uint64_t ideal_tag_wavefronts(const struct geometry *geometry, const struct wm_opcode *opcode,
                              const uint64_t sums[WM_COUNTERS]);

/* totals.c: sums under Nsight Compute's names, and where the waste is. opcodes: a tally by line, pc or opcode. */
struct totals_line {
    const char *name; /* "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" */
    uint64_t count;
    int has_waste;    /* there is an ideal */
    uint64_t waste;   /* what of count is above it */
};
struct totals_sink {
    void *context;
    void (*line)(void *context, const struct totals_line *line);
    void (*note)(void *context, const char *text); /* about the line before */
};
void totals_walk(const wm_tally *opcodes, const struct totals_sink *sink);
void table_totals(const wm_tally *opcodes, struct buffer *out);
/* A sentence on what the unit of an SM that is busy longest takes for all of it. */
void table_cycles(const wm_arch *arch, const wm_tally *opcodes, struct buffer *out);
void table_waste(enum wm_by by, const wm_tally *tally, struct buffer *out);

/* Layout, shared by the tables: columns that a line may have; numbers with separators ("1,234,567"), right-aligned. */
#define TABLE_COLUMNS 100
void table_count(uint64_t value, size_t width, struct buffer *out);
void table_text(const char *text, size_t width, struct buffer *out);
/* sum / n with two digits; "-" where n is 0 */
void table_ratio(uint64_t sum, uint64_t n, size_t width, struct buffer *out);
/* part / whole as a percentage; 100 % only where they are equal; "-" where whole is 0 */
void table_percent(uint64_t part, uint64_t whole, size_t width, struct buffer *out);
/* Text wrapped to TABLE_COLUMNS at blanks (names without any: wherever the line ends), with a hanging indent. */
void table_wrapped(const char *text, size_t indent, size_t hanging, struct buffer *out);
/* A name from a trace; what a terminal would not print becomes '?'. */
void table_name(const char *text, struct buffer *out);

#endif
