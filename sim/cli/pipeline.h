/* Traces through the model into tallies and rows, by several threads, with the same result for any number of them. */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "report.h"
#include "warpmem.h"

#include "launch.h"

#include <regex.h>

#define PIPELINE_TALLIES 2
#define PIPELINE_MOST_WORKERS 256

struct pipeline_options {
    const wm_arch *arch;
    char *const *files;
    size_t file_count;
    const regex_t *kernel; /* only kernels whose name matches; NULL: all */
    enum wm_l1 l1;
    const struct launch_options *launch; /* of kernels from their source */
    unsigned workers;
    wm_tally *tallies[PIPELINE_TALLIES]; /* to be added to; NULL: not wanted */
    enum wm_by by[PIPELINE_TALLIES];     /* their groupings */
    int has_page;                        /* --report needs one of them by line */
    struct buffer *rows;                 /* gets a row per access; NULL: none are wanted */
    enum report_format format;           /* of the rows */
    const struct geometry *geometry;
};

struct pipeline_result {
    uint64_t accesses; /* that were simulated */
    uint64_t rows;
};

/* Reads the files in order. 0: all went well; else what went wrong has been said. */
int pipeline_run(const struct pipeline_options *options, struct pipeline_result *result);

#endif
