/* Predicted against measured cycles, drawn. Part of the program, not of the library. */
#ifndef PLOT_H
#define PLOT_H

#include "buffer.h"
#include "warpmem.h"

enum plot_format { PLOT_SVG, PLOT_PNG, PLOT_PDF };

struct plot_point;

/* All zero is a plot without points. */
struct plot {
    struct plot_point *points;
    size_t count, size;
    size_t left_out; /* points that logarithmic axes have no place for */
};

/* By the ending of a file's name: .svg, .png, .pdf. 0: none of them. */
int plot_format_by_name(const char *path, enum plot_format *out);

/* 0: this build draws nothing: it was made without cairo. */
int plot_is_available(void);

/* Adds an access; its opcode and l1 say of which kind it is. 0: out of memory. */
int plot_add(struct plot *plot, const struct wm_access *access, double predicted, double measured);

/* Draws a scatter on logarithmic axes; what names the quantity on both: "cycles per instruction, 32 warps". out is binary
 * but for SVG. */
void plot_draw(const struct plot *plot, const char *title, const char *what, enum plot_format format,
               struct buffer *out);
void plot_free(struct plot *plot);

#endif
