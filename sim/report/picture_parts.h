/* What the files of a picture share. */
#ifndef PICTURE_PARTS_H
#define PICTURE_PARTS_H

#include "picture.h"

/* What is drawn: an access, taken apart. */
struct picture {
    const wm_arch *arch;
    const struct wm_access *access;
    const struct wm_counts *counts;
    struct wm_anatomy *anatomy;
};

/* 0: out of memory, or the access is none that can be explained. picture_close() in every case. */
int picture_open(const wm_arch *arch, const struct wm_access *access, const struct wm_counts *counts,
                 struct picture *out);
void picture_say_failure(const struct picture *picture, struct buffer *out); /* of picture_open() */
void picture_close(struct picture *picture);

/* Lanes as "0-7,9", or where they are evenly spaced "0,4..28". */
void picture_lanes(uint32_t lanes, struct buffer *out);

/* "lane 3" or "lanes 0-7" */
void picture_lanes_named(uint32_t lanes, struct buffer *out);

unsigned picture_lane_count(uint32_t lanes);
unsigned picture_first_lane(uint32_t lanes); /* of at least one */

/* Bytes of a line's sector that its lanes use; of all its sectors. */
unsigned picture_sector_bytes_used(const struct wm_anatomy *anatomy, const struct wm_line *line, unsigned sector);
unsigned picture_bytes_used(const struct wm_anatomy *anatomy, const struct wm_line *line);

/* Sectors of a line that lanes touch, asked for or not. */
uint32_t picture_sectors_touched(const struct wm_anatomy *anatomy, const struct wm_line *line);

/* What an access touches, however often that is looked up: passes of an atomic may come to one line several times. */
struct picture_footprint {
    unsigned lines;
    unsigned sectors;
    unsigned used; /* bytes */
};
struct picture_footprint picture_footprint(const struct wm_anatomy *anatomy);

/* What happens to the bytes of a sector: of a load "fetched", "uses", "used", "wasted". */
struct picture_verbs {
    const char *sector;
    const char *uses;
    const char *used;
    const char *rest;
};
struct picture_verbs picture_verbs(const struct picture *picture);

/* Of a store whose tag wavefronts raced: into how many groups they fell. */
unsigned picture_groups(const struct wm_anatomy *anatomy);

/* Whether a phase's passes are attempts, of which some may have written nothing. */
int picture_has_attempts(const struct wm_anatomy *anatomy, const struct wm_phase *phase);

/* Whether the counter is no more than near, for this access or for all of its opcode. */
int picture_is_near(const struct picture *picture, enum wm_counter counter);

/* A place in a bank and a pass. */
struct picture_cell {
    uint32_t lanes; /* that this word serves; 0: nothing is served */
};

enum picture_side { PICTURE_BANKS, PICTURE_SHARED_SIDE, PICTURE_SOURCE_SIDE };

/* Fills cells[pass][bank] of a phase. side: of a copy, whose banks; else PICTURE_BANKS. */
#define PICTURE_PASSES 128
#define PICTURE_BANK_COUNT 32
void picture_fill(const struct picture *picture, const struct wm_phase *phase, enum picture_side side,
                  struct picture_cell cells[PICTURE_PASSES][PICTURE_BANK_COUNT]);

/* Words or, where they do not merge, lanes that a phase's bank serves. */
unsigned picture_bank_ways(const struct wm_phase *phase, struct picture_cell cells[PICTURE_PASSES][PICTURE_BANK_COUNT],
                           unsigned bank);

/* The address of the word that a lane finds in a bank (of the first such word of wide lanes). */
uint64_t picture_word(const struct picture *picture, const struct wm_phase *phase, enum picture_side side, unsigned lane,
                      unsigned bank);

/* "phase 1 of 4", "tag wavefront 2": what a phase is a part of. */
void picture_phase_title(const struct picture *picture, const struct wm_phase *phase, struct buffer *out);

/* "32 lanes of 4 B" */
void picture_subject(const struct picture *picture, struct buffer *out);

#endif
