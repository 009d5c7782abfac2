/* How far predicted cycles are from measured ones, by opcode.
 *
 * All zero is an empty one. timing_add_access() takes each access with what was measured; then timing_table()
 * writes what it came to behind agreement_cells(), or timing_rows() for the other formats. validate.c does so with
 * recorded cycles; live measurement does it with those of wire_cycles(). */
#ifndef TIMING_H
#define TIMING_H

#include "agreement.h"

/* What is compared: wm_cycles' throughput with a column cycles_32_warps, and its latency with one cycles_1_warp. */
enum timing_kind { TIMING_THROUGHPUT, TIMING_LATENCY, TIMING_KINDS };

struct timing_row;

struct timing {
    struct timing_row *rows; /* in the order in which opcodes first appeared */
    size_t count;
    size_t size;
};

/* Adds one value. Nothing is added where one of them is 0: that has no time, or none was measured. WM_E_MEMORY. */
enum wm_status timing_add(struct timing *timing, const struct wm_opcode *opcode, enum timing_kind kind,
                          double predicted, double measured);

/* Adds both of an access; 0: not measured. counts: from wm_model(). WM_E_MEMORY. */
enum wm_status timing_add_access(struct timing *timing, const wm_arch *arch, const struct wm_access *access,
                                 const struct wm_counts *counts, double one_warp, double full_block);

/* Adds all of *from. WM_E_MEMORY. */
enum wm_status timing_merge(struct timing *into, const struct timing *from);

/* The table: by opcode, and by groups of them. Nothing where nothing was compared. Errors are |predicted - measured| /
 * measured. */
void timing_table(const struct timing *timing, struct buffer *out);

/* One line for each opcode and counter, and one for each opcode and kind of cycles, named as the columns of a
 * measurement are: compared, then median, 95th percentile and worst of the errors. Without any of these, what
 * agreement_rows() writes. */
void timing_rows(const struct comparison *comparison, const struct timing *timing, enum report_format format,
                 struct buffer *out);

void timing_free(struct timing *timing);

#endif
