/* Writing a measurement: NAME.wmt, NAME.csv and NAME.meta. */
#ifndef RECORD_H
#define RECORD_H

#include "warpmem.h"

/* Most records of a measurement: all are kept in memory until they can be written in order. */
#define RECORD_MOST 200000

struct record;

/* columns: bit c: counter c is measured. buffer: global addresses are written as offsets into it. WM_E_MEMORY. */
enum wm_status record_new(uint32_t columns, uint64_t buffer, struct record **out);

/* Keeps one; records come in any order and are written in that of index. WM_E_RANGE: too many. */
enum wm_status record_add(struct record *record, uint64_t index, const struct wm_access *access,
                          const uint64_t values[WM_COUNTERS]);

/* Cycles of the record that was added last. */
void record_cycles(struct record *record, double one_warp, double full_block);

/* What the .meta file says besides the trace and its SHA-256. */
struct record_meta {
    const char *key, *value; /* a NULL key ends the list; a NULL value is left out */
};

/* Writes the three files beside their places and renames them together at the end. */
enum wm_status record_write(struct record *record, const char *name, const struct record_meta *meta,
                            struct wm_diag *diag);
size_t record_count(const struct record *record);
void record_free(struct record *record);

#endif
