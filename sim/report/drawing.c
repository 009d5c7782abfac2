/* See drawing.h. */
#include "config.h"

#include "drawing.h"

#include <string.h>
#include <strings.h>

int drawing_format_by_name(const char *path, enum drawing_format *out)
{
    static const char *const endings[] = {[DRAWING_SVG] = ".svg", [DRAWING_PNG] = ".png", [DRAWING_PDF] = ".pdf"};
    const char *dot = strrchr(path, '.');

    for (unsigned i = 0; dot && i < sizeof endings / sizeof *endings; i++) {
        if (strcasecmp(dot, endings[i]) == 0) {
            *out = (enum drawing_format)i;
            return 1;
        }
    }
    return 0;
}

#ifdef HAVE_CAIRO

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

/* Pixels of a PNG for each point. */
#define PNG_SCALE 2.0

int drawing_is_available(void)
{
    return 1;
}

static cairo_status_t take_bytes(void *context, const unsigned char *bytes, unsigned length)
{
    struct buffer *out = context;

    buffer_add(out, (const char *)bytes, length);
    return out->failed ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *new_surface(enum drawing_format format, double width, double height, struct buffer *out)
{
    switch (format) {
    case DRAWING_SVG: return cairo_svg_surface_create_for_stream(take_bytes, out, width, height);
    case DRAWING_PDF: return cairo_pdf_surface_create_for_stream(take_bytes, out, width, height);
    default: return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(PNG_SCALE * width), (int)(PNG_SCALE * height));
    }
}

void drawing_begin(enum drawing_format format, double width, double height, struct buffer *out, struct drawing *drawing)
{
    cairo_surface_t *surface = new_surface(format, width, height, out);

    *drawing = (struct drawing){cairo_create(surface), surface, format, out};
    if (format == DRAWING_PNG)
        cairo_scale(drawing->cairo, PNG_SCALE, PNG_SCALE);
}

int drawing_finish(struct drawing *drawing)
{
    int is_drawn = cairo_status(drawing->cairo) == CAIRO_STATUS_SUCCESS;

    cairo_destroy(drawing->cairo);
    if (drawing->format == DRAWING_PNG &&
        cairo_surface_write_to_png_stream(drawing->surface, take_bytes, drawing->out) != CAIRO_STATUS_SUCCESS)
        is_drawn = 0;
    cairo_surface_finish(drawing->surface);
    if (cairo_surface_status(drawing->surface) != CAIRO_STATUS_SUCCESS)
        is_drawn = 0;
    cairo_surface_destroy(drawing->surface);
    return is_drawn && !drawing->out->failed;
}

#else

int drawing_is_available(void)
{
    return 0;
}

#endif
