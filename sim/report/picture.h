/* One access as a picture: as text for a terminal, as a paragraph in words, and drawn. Part of the program, not of the
 * library. All of it shows wm_explain(): nothing here knows a rule of the hardware. */
#ifndef PICTURE_H
#define PICTURE_H

#include "buffer.h"
#include "drawing.h"
#include "warpmem.h"

struct picture_style {
    int has_colour;   /* escape sequences of a terminal; else plain ASCII */
    unsigned columns; /* that a line may have: 80 to 100; others are taken for the nearest of these */
};

/* Which lanes meet in which bank, in the order of phases and passes; which sectors are asked for and how much of each is
 * used; tag banks. counts must be what wm_model() says of the access on arch. Where memory ends, out->failed says so. */
void picture_text(const wm_arch *arch, const struct wm_access *access, const struct wm_counts *counts,
                  const struct picture_style *style, struct buffer *out);

/* One paragraph, on one line and without escape sequences: what it costs and why, the rule that applied, and whether that is
 * measured, documented or assumed for this GPU. */
void picture_words(const wm_arch *arch, const struct wm_access *access, const struct wm_counts *counts,
                   struct buffer *out);

/* Draws what picture_text() shows. out gets the whole file, binary but for SVG. An SVG's ids repeat from one picture to the
 * next: a page that shows several embeds them as images ("data:image/svg+xml;base64,..."). 0: out of memory, or cairo
 * failed: what out holds is no picture then. */
int picture_draw(const wm_arch *arch, const struct wm_access *access, const struct wm_counts *counts,
                 enum drawing_format format, struct buffer *out);

#endif
