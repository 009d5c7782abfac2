/* One page that shows everything: what `warpmem sim --report` writes. Nothing in it comes from elsewhere, neither when it
 * is made (but for the sources that traces name) nor when it is read. */
#ifndef HTML_H
#define HTML_H

#include "report.h"

/* Pictures are drawn for so many rows: those that waste most. */
#define MOST_PICTURES 50

struct html_report {
    const struct table_head *head;
    const struct geometry *geometry;
    const wm_tally *lines; /* by line */
    const char *remarks;   /* warnings and notes of the run, a line each */
    const char *arch_file; /* where the profile is from; NULL: it is built in */
};

/* Adds the page to out, which may drain. */
void html_report(const struct html_report *report, struct buffer *out);

/* ----------------------------------------------------------------------------------------- between the files of the page */

/* A row of the tally, and what it costs. */
struct html_row {
    const struct wm_tally_row *row;
    size_t index;                     /* in the tally: the row's name in the page */
    double cycles;                    /* predicted, of all its executions */
    double wasted;                    /* of these, those that it would not take if its counts were ideal */
    enum wm_bound bound, ideal_bound; /* what it is bound by, and would be */
    enum wm_exactness exactness;      /* of the cycles, as struct wm_cycles has it */
    size_t kernel;                    /* index among the page's kernels */
    const char *file;                 /* source file; NULL where none is known */
    size_t file_index;                /* among the page's files, where file is not NULL */
    int has_anchor;                   /* its source line is shown */
};

struct html_kernel {
    const char *name;
    size_t by_name; /* its number in order of names */
    uint64_t instructions;
    double cycles;
    double wasted;
};

struct html_file {
    const char *name;
    char *text; /* NULL: it could not be read */
    size_t length;
    size_t line_count;
    struct buffer words;    /* where it was read, or why it was not */
    struct html_row **rows; /* that name it, by line; within a line the most wasteful first */
    size_t row_count;
    double wasted;
    uint32_t last_shown; /* line */
};

struct html_page {
    const struct html_report *report;
    struct buffer *out;
    struct buffer text; /* for a moment */
    struct buffer picture, smaller_picture;
    struct html_row *rows; /* the most wasteful first */
    size_t row_count;
    size_t rows_shown;
    struct html_kernel *kernels; /* likewise */
    size_t kernel_count;
    struct html_file *files; /* likewise */
    size_t file_count;
    struct html_row **by_file; /* what the files' rows point into */
    double cycles;
    double wasted;
    double most_cycles; /* of a row */
    size_t pictures_left;
    size_t picture_bytes_left;
};

/* html_text.c. Text as it may stand between tags and in attributes: what is special in HTML is escaped; what is no
 * character, or would reorder the text around it, is replaced. */
void html_text(const char *text, struct buffer *out);
void html_text_part(const char *text, size_t length, struct buffer *out);
/* The name of a kernel or a file: as often as the page says it, a long one is cut. */
void html_name(const char *text, struct buffer *out);
/* Several lines: newlines stay. */
void html_lines_of_text(const char *text, struct buffer *out);
void html_base64(const char *data, size_t length, struct buffer *out);
/* An SVG as cairo writes it, without what is the default anyway, and with numbers of two digits behind the point. */
void html_smaller_svg(const char *svg, size_t length, struct buffer *out);
/* "1,234", below 100 with a digit behind the point where it is not whole */
void html_cycles(double cycles, struct buffer *out);
/* "12.5 %" */
void html_share(double part, double whole, struct buffer *out);
/* A bar as long as cycles are of most, its wasted part dark. */
void html_bar(double cycles, double wasted, double most, struct buffer *out);

/* html_lines.c: the table of lines, with pictures. */
void html_lines(struct html_page *page);

/* html_source.c: finds the sources (0: out of memory), and shows them with a bar for each line. */
int html_sources_find(struct html_page *page);
void html_sources(struct html_page *page);
void html_sources_free(struct html_page *page);

/* html_page.c, made from html_page.css and html_page.js: lines up to a NULL. */
extern const char *const html_css[];
extern const char *const html_js[];

#endif
