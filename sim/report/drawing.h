/* Files that are drawn with cairo: which kinds there are, and a page of one. Part of the program, not of the library. */
#ifndef DRAWING_H
#define DRAWING_H

#include "buffer.h"

enum drawing_format { DRAWING_SVG, DRAWING_PNG, DRAWING_PDF };

/* By the ending of a file's name: .svg, .png, .pdf. 0: none of them. */
int drawing_format_by_name(const char *path, enum drawing_format *out);

/* 0: this build draws nothing: it was made without cairo. */
int drawing_is_available(void);

/* Only where drawing is available. */
struct _cairo;
struct _cairo_surface;

struct drawing {
    struct _cairo *cairo; /* to draw with, in points */
    struct _cairo_surface *surface;
    enum drawing_format format;
    struct buffer *out;
};

/* Begins a page of width by height points. drawing_finish() has to follow. */
void drawing_begin(enum drawing_format format, double width, double height, struct buffer *out,
                   struct drawing *drawing);

/* Adds the whole file to out, binary but for SVG. 0: out of memory, or cairo failed: what out holds is no drawing then. */
int drawing_finish(struct drawing *drawing);

#endif
