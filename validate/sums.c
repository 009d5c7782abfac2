/* Counters of a whole kernel, by space and operation as Nsight Compute divides them: "ld_sectors". */
#include "config.h"

#include "validate.h"

#include <string.h>

#define SPACE(space) (1u << (space))
#define OPERATION(operation) (1u << (operation))
#define ALL UINT32_MAX
#define GLOBAL (SPACE(WM_GLOBAL) | SPACE(WM_GENERIC))

struct group {
    const char *prefix;
    unsigned spaces;
    unsigned operations;
};

/* A prefix that begins with another one stands before it. cp.async reads global memory as a load does. */
static const struct group groups[] = {
    {"shared_ld_", SPACE(WM_SHARED), OPERATION(WM_LD) | OPERATION(WM_LDMATRIX)},
    {"shared_st_", SPACE(WM_SHARED), OPERATION(WM_ST) | OPERATION(WM_STMATRIX)},
    {"shared_atom_", SPACE(WM_SHARED), OPERATION(WM_ATOM) | OPERATION(WM_RED)},
    {"local_ld_", SPACE(WM_LOCAL), OPERATION(WM_LD)},
    {"local_st_", SPACE(WM_LOCAL), OPERATION(WM_ST)},
    {"ld_", GLOBAL, OPERATION(WM_LD) | OPERATION(WM_CP_ASYNC)},
    {"st_", GLOBAL, OPERATION(WM_ST)},
    {"atom_", GLOBAL, OPERATION(WM_ATOM)},
    {"red_", GLOBAL, OPERATION(WM_RED)},
};

static int find_counter(const char *name, enum wm_counter *out)
{
    for (int c = 0; c < WM_COUNTERS; c++) {
        if (strcmp(name, wm_counter_name((enum wm_counter)c)) == 0) {
            /* neither ideals nor ways are sums that hardware counts */
            *out = (enum wm_counter)c;
            return wm_counter_metric((enum wm_counter)c) != NULL;
        }
    }
    return 0;
}

int sum_column_parse(const char *name, struct sum_column *out)
{
    *out = (struct sum_column){.name = name, .spaces = ALL, .operations = ALL};
    if (find_counter(name, &out->counter))
        return 1;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        const struct group *group = &groups[i];
        size_t length = strlen(group->prefix);

        if (strncmp(name, group->prefix, length) != 0)
            continue;
        out->spaces = group->spaces;
        out->operations = group->operations;
        if (group->spaces == SPACE(WM_SHARED) && strcmp(name + length, "wavefronts") == 0) {
            out->counter = WM_SHARED_WAVEFRONTS;
            return 1;
        }
        return find_counter(name + length, &out->counter);
    }
    return 0;
}

int sum_column_add(const struct sum_column *column, const struct wm_access *access, const struct wm_counts *counts,
                   uint64_t *sum)
{
    uint64_t product, result;

    /* without active lanes, a wavefront counts as neither a load's nor a store's */
    if (!access->mask && column->counter == WM_SHARED_WAVEFRONTS && column->spaces != ALL)
        return 1;
    if (!(column->spaces >> access->opcode.space & 1) || !(column->operations >> access->opcode.operation & 1))
        return 1;
    if (__builtin_mul_overflow((uint64_t)wm_counts_get(counts, column->counter), access->count, &product) ||
        __builtin_add_overflow(*sum, product, &result))
        return 0;
    *sum = result;
    return 1;
}
