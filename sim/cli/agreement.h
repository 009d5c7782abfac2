/* What a comparison with hardware came to, as text. */
#ifndef AGREEMENT_H
#define AGREEMENT_H

#include "report.h"
#include "validate.h"

/* The entries of the known list that had something to explain. */
void agreement_known(const struct known_list *known, struct buffer *out);

/* The table of opcodes by counters. */
void agreement_cells(const struct comparison *comparison, struct buffer *out);

/* The first disagreements that are not listed, with their addresses. */
void agreement_mismatches(const struct comparison *comparison, struct buffer *out);

/* One line for each opcode and counter that was compared, as CSV or JSON. */
void agreement_rows(const struct comparison *comparison, enum report_format format, struct buffer *out);

/* The same in its parts, for who has more lines (timing.c): more names for CSV's heading, and what its lines have there. */
void agreement_rows_begin(enum report_format format, const char *more, struct buffer *out);
void agreement_lines(const struct comparison *comparison, enum report_format format, const char *more, int *is_first,
                     struct buffer *out);
void agreement_rows_end(enum report_format format, int is_empty, struct buffer *out);

#endif
