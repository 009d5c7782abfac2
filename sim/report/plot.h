/* Predicted against measured cycles, drawn. Part of the program, not of the library. */
#ifndef PLOT_H
#define PLOT_H

#include "buffer.h"
#include "drawing.h"
#include "warpmem.h"

struct plot_point;

/* All zero is a plot without points. */
struct plot {
    struct plot_point *points;
    size_t count, size;
    size_t left_out; /* points that logarithmic axes have no place for */
};

/* Adds an access; its opcode and l1 say of which kind it is. 0: out of memory. */
int plot_add(struct plot *plot, const struct wm_access *access, double predicted, double measured);

/* Draws a scatter on logarithmic axes; what names the quantity on both: "cycles per instruction, 32 warps". out is binary
 * but for SVG. */
void plot_draw(const struct plot *plot, const char *title, const char *what, enum drawing_format format,
               struct buffer *out);
void plot_free(struct plot *plot);

#endif
