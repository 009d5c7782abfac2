/* See plot.h. */
#include "config.h"

#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What axes can hold. */
#define LEAST 1e-6
#define MOST 1e12

enum kind { SHARED_LOAD, SHARED_STORE, SHARED_ATOMIC, LOAD_HIT, LOAD_FAR, STORE, ATOMIC, COPY, OTHER, KINDS };

struct plot_point {
    enum kind kind;
    double predicted, measured;
};

static enum kind kind_of(const struct wm_access *access)
{
    const struct wm_opcode *opcode = &access->opcode;

    switch (opcode->operation) {
    case WM_CP_ASYNC: return COPY;
    case WM_LDMATRIX: return SHARED_LOAD;
    case WM_STMATRIX: return SHARED_STORE;
    default: break;
    }
    if (opcode->space == WM_LOCAL || opcode->space == WM_CONST)
        return OTHER;
    if (opcode->operation == WM_LD && opcode->space != WM_SHARED)
        return access->l1 == WM_L1_HIT && opcode->cache != WM_CACHE_CG && opcode->cache != WM_CACHE_CV ? LOAD_HIT
                                                                                                       : LOAD_FAR;
    if (opcode->operation == WM_LD)
        return SHARED_LOAD;
    if (opcode->operation == WM_ST)
        return opcode->space == WM_SHARED ? SHARED_STORE : STORE;
    return opcode->space == WM_SHARED ? SHARED_ATOMIC : ATOMIC;
}

int plot_add(struct plot *plot, const struct wm_access *access, double predicted, double measured)
{
    if (!(predicted > LEAST && predicted < MOST && measured > LEAST && measured < MOST)) {
        plot->left_out++;
        return 1;
    }
    if (plot->count == plot->size) {
        const size_t size = plot->size ? plot->size * 2 : 1024;
        struct plot_point *points = realloc(plot->points, size * sizeof *points);

        if (!points)
            return 0;
        plot->points = points;
        plot->size = size;
    }
    plot->points[plot->count++] = (struct plot_point){kind_of(access), predicted, measured};
    return 1;
}

void plot_free(struct plot *plot)
{
    free(plot->points);
    memset(plot, 0, sizeof *plot);
}

#ifdef HAVE_CAIRO

#include <cairo.h>

/* Points of a page, 1/72 inch. */
#define WIDTH 850.0
#define HEIGHT 660.0
#define LEFT 76.0
#define TOP 52.0
#define SIDE 540.0 /* of the square that the axes enclose */
#define RADIUS 3.4 /* of a mark */

/* Predictions this near lie in the grey band. */
#define BAND 0.15

enum shape { CIRCLE, SQUARE, TRIANGLE_UP, DIAMOND, TRIANGLE_DOWN, CROSS, PLUS, PENTAGON, RING };

/* Colours that people with any colour vision can tell apart (Okabe and Ito, Color Universal Design, 2008), and a shape of its
 * own each. */
static const struct {
    const char *name;
    double red, green, blue;
    enum shape shape;
} kinds[KINDS] = {
    [SHARED_LOAD] = {"shared load", 0.000, 0.447, 0.698, CIRCLE},
    [SHARED_STORE] = {"shared store", 0.902, 0.624, 0.000, SQUARE},
    [SHARED_ATOMIC] = {"shared atomic", 0.835, 0.369, 0.000, TRIANGLE_UP},
    [LOAD_HIT] = {"global load, L1 hit", 0.000, 0.620, 0.451, DIAMOND},
    [LOAD_FAR] = {"global load, from L2", 0.337, 0.706, 0.914, TRIANGLE_DOWN},
    [STORE] = {"global store", 0.800, 0.475, 0.655, CROSS},
    [ATOMIC] = {"global atomic", 0.000, 0.000, 0.000, PLUS},
    [COPY] = {"copy", 0.941, 0.894, 0.259, PENTAGON},
    [OTHER] = {"local, constant", 0.400, 0.400, 0.400, RING},
};

/* What both axes span, in decimal logarithms: powers of ten times 1, 2 or 5. */
struct scale {
    double low, high;
};

static double step_at(int n)
{
    static const double steps[] = {1, 2, 5};
    const int decade = n >= 0 ? n / 3 : -((2 - n) / 3);

    return steps[n - 3 * decade] * pow(10, decade);
}

static struct scale find_scale(const struct plot *plot)
{
    double least = plot->count ? INFINITY : 1, most = plot->count ? 0 : 100;
    int low = -30, high;

    for (size_t i = 0; i < plot->count; i++) {
        least = fmin(least, fmin(plot->points[i].predicted, plot->points[i].measured));
        most = fmax(most, fmax(plot->points[i].predicted, plot->points[i].measured));
    }
    while (low < 60 && step_at(low + 1) < 0.95 * least)
        low++;
    high = low + 1;
    while (high < 90 && step_at(high) <= 1.05 * most)
        high++;
    return (struct scale){log10(step_at(low)), log10(step_at(high))};
}

static double along(const struct scale *scale, double value)
{
    return SIDE * (log10(value) - scale->low) / (scale->high - scale->low);
}

static double at_x(const struct scale *scale, double value)
{
    return LEFT + along(scale, value);
}

static double at_y(const struct scale *scale, double value)
{
    return TOP + SIDE - along(scale, value);
}

static void set_grey(cairo_t *c, double grey)
{
    cairo_set_source_rgb(c, grey, grey, grey);
}

/* share: how much of the text stands left of x: 0, 0.5 or 1. */
static void put_text(cairo_t *c, double x, double y, double share, const char *text)
{
    cairo_text_extents_t extents;

    cairo_text_extents(c, text, &extents);
    cairo_move_to(c, x - share * extents.x_advance, y);
    cairo_show_text(c, text);
    cairo_new_path(c);
}

static void draw_line(cairo_t *c, double x, double y, double to_x, double to_y)
{
    cairo_move_to(c, x, y);
    cairo_line_to(c, to_x, to_y);
    cairo_stroke(c);
}

static void draw_grid(cairo_t *c, const struct scale *scale, const char *what)
{
    const int is_wide = scale->high - scale->low > 3.5;
    char text[128];

    cairo_set_font_size(c, 11);
    for (int n = -30; n < 90; n++) {
        const double value = step_at(n), place = along(scale, value);

        if (place < -0.01 || place > SIDE + 0.01)
            continue;
        set_grey(c, n % 3 ? 0.91 : 0.80);
        cairo_set_line_width(c, 0.8);
        draw_line(c, LEFT + place, TOP, LEFT + place, TOP + SIDE);
        draw_line(c, LEFT, TOP + SIDE - place, LEFT + SIDE, TOP + SIDE - place);
        if (is_wide && n % 3)
            continue;
        set_grey(c, 0.15);
        snprintf(text, sizeof text, "%g", value);
        put_text(c, LEFT + place, TOP + SIDE + 17, 0.5, text);
        put_text(c, LEFT - 8, TOP + SIDE - place + 4, 1, text);
    }
    cairo_set_font_size(c, 13);
    set_grey(c, 0);
    snprintf(text, sizeof text, "measured %s", what);
    put_text(c, LEFT + SIDE / 2, TOP + SIDE + 42, 0.5, text);
    cairo_save(c);
    cairo_translate(c, LEFT - 46, TOP + SIDE / 2);
    cairo_rotate(c, -acos(-1) / 2);
    snprintf(text, sizeof text, "predicted %s", what);
    put_text(c, 0, 0, 0.5, text);
    cairo_restore(c);
}

/* Where the two are equal, and what is near it. */
static void draw_diagonal(cairo_t *c, const struct scale *scale)
{
    const double low = pow(10, scale->low), high = pow(10, scale->high);

    cairo_save(c);
    cairo_rectangle(c, LEFT, TOP, SIDE, SIDE);
    cairo_clip(c);
    cairo_set_source_rgba(c, 0, 0, 0, 0.08);
    cairo_move_to(c, at_x(scale, low), at_y(scale, low * (1 - BAND)));
    cairo_line_to(c, at_x(scale, high), at_y(scale, high * (1 - BAND)));
    cairo_line_to(c, at_x(scale, high), at_y(scale, high * (1 + BAND)));
    cairo_line_to(c, at_x(scale, low), at_y(scale, low * (1 + BAND)));
    cairo_fill(c);
    set_grey(c, 0.25);
    cairo_set_line_width(c, 1);
    draw_line(c, LEFT, TOP + SIDE, LEFT + SIDE, TOP);
    cairo_restore(c);
    cairo_rectangle(c, LEFT, TOP, SIDE, SIDE);
    cairo_stroke(c);
}

/* A path with corners on a circle, the first at that angle from the top, in turns. */
static void draw_corners(cairo_t *c, double x, double y, unsigned corners, double turn, double radius)
{
    for (unsigned i = 0; i < corners; i++) {
        const double angle = 2 * acos(-1) * (turn + (double)i / corners);

        cairo_line_to(c, x + radius * sin(angle), y - radius * cos(angle));
    }
    cairo_close_path(c);
}

static void draw_mark(cairo_t *c, enum kind kind, double x, double y)
{
    const double r = RADIUS;

    cairo_set_source_rgba(c, kinds[kind].red, kinds[kind].green, kinds[kind].blue, 0.8);
    cairo_set_line_width(c, 1.4);
    switch (kinds[kind].shape) {
    case CIRCLE: cairo_arc(c, x, y, r, 0, 2 * acos(-1)); break;
    case SQUARE: draw_corners(c, x, y, 4, 0.125, 1.25 * r); break;
    case TRIANGLE_UP: draw_corners(c, x, y, 3, 0, 1.35 * r); break;
    case DIAMOND: draw_corners(c, x, y, 4, 0, 1.35 * r); break;
    case TRIANGLE_DOWN: draw_corners(c, x, y, 3, 0.5, 1.35 * r); break;
    case CROSS:
        draw_line(c, x - r, y - r, x + r, y + r);
        draw_line(c, x - r, y + r, x + r, y - r);
        return;
    case PLUS:
        draw_line(c, x - 1.3 * r, y, x + 1.3 * r, y);
        draw_line(c, x, y - 1.3 * r, x, y + 1.3 * r);
        return;
    case PENTAGON: /* too bright without an outline */
        draw_corners(c, x, y, 5, 0, 1.25 * r);
        cairo_fill_preserve(c);
        cairo_set_source_rgba(c, 0, 0, 0, 0.7);
        cairo_set_line_width(c, 0.7);
        cairo_stroke(c);
        return;
    case RING:
        cairo_arc(c, x, y, r, 0, 2 * acos(-1));
        cairo_stroke(c);
        return;
    }
    cairo_fill(c);
}

/* Marks of a kind on one place are drawn once: predictions are few different numbers, so that most are. */
#define CELL 1.5 /* points */
#define CELLS ((size_t)(SIDE / CELL) + 1)

/* Points are drawn in this many rounds, so that no part of a measurement hides all others. */
#define ROUNDS 97

static void draw_points(cairo_t *c, const struct plot *plot, const struct scale *scale, unsigned char *seen)
{
    memset(seen, 0, KINDS * CELLS * CELLS);
    for (size_t n = 0, i = 0; n < ROUNDS; i = ++n) {
        for (; i < plot->count; i += ROUNDS) {
            const struct plot_point *point = &plot->points[i];
            const double x = along(scale, point->measured), y = along(scale, point->predicted);
            const size_t cell = ((size_t)point->kind * CELLS + (size_t)(x / CELL)) * CELLS + (size_t)(y / CELL);

            if (!seen[cell])
                draw_mark(c, point->kind, LEFT + x, TOP + SIDE - y);
            seen[cell] = 1;
        }
    }
}

static void draw_legend(cairo_t *c, const size_t counts[KINDS], size_t left_out)
{
    const double x = LEFT + SIDE + 24;
    double y = TOP + 10;
    char text[64];

    cairo_set_font_size(c, 12);
    for (int kind = 0; kind < KINDS; kind++) {
        if (!counts[kind])
            continue;
        draw_mark(c, (enum kind)kind, x, y - 4);
        set_grey(c, 0);
        put_text(c, x + 12, y, 0, kinds[kind].name);
        snprintf(text, sizeof text, "%zu", counts[kind]);
        set_grey(c, 0.4);
        put_text(c, WIDTH - 12, y, 1, text);
        y += 21;
    }
    y += 12;
    cairo_set_source_rgba(c, 0, 0, 0, 0.08);
    cairo_rectangle(c, x - 6, y - 11, 12, 14);
    cairo_fill(c);
    set_grey(c, 0);
    snprintf(text, sizeof text, "within %.0f %%", 100 * BAND);
    put_text(c, x + 12, y, 0, text);
    if (left_out) {
        snprintf(text, sizeof text, "not drawn: %zu at 0", left_out);
        put_text(c, x - 6, y + 24, 0, text);
    }
}

static int draw_all(cairo_t *c, const struct plot *plot, const char *title, const char *what)
{
    const struct scale scale = find_scale(plot);
    unsigned char *seen = malloc(KINDS * CELLS * CELLS);
    size_t counts[KINDS] = {0};

    if (!seen)
        return 0;
    for (size_t i = 0; i < plot->count; i++)
        counts[plot->points[i].kind]++;
    cairo_set_source_rgb(c, 1, 1, 1);
    cairo_paint(c);
    cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    set_grey(c, 0);
    cairo_set_font_size(c, 15);
    put_text(c, LEFT, TOP - 20, 0, title);
    draw_grid(c, &scale, what);
    draw_diagonal(c, &scale);
    draw_points(c, plot, &scale, seen);
    draw_legend(c, counts, plot->left_out);
    free(seen);
    return 1;
}

void plot_draw(const struct plot *plot, const char *title, const char *what, enum drawing_format format,
               struct buffer *out)
{
    struct drawing drawing;
    int is_drawn;

    drawing_begin(format, WIDTH, HEIGHT, out, &drawing);
    is_drawn = draw_all(drawing.cairo, plot, title, what);
    if ((!drawing_finish(&drawing) || !is_drawn) && !out->failed)
        out->failed = BUFFER_NO_MEMORY;
}

#else

void plot_draw(const struct plot *plot, const char *title, const char *what, enum drawing_format format,
               struct buffer *out)
{
    (void)plot;
    (void)title;
    (void)what;
    (void)format;
    (void)out;
}

#endif
