/* What a measurement's kernel counts beside the access itself: `beside.OPERATION.COUNTER = N` in its .meta. */
#include "config.h"

#include "validate.h"

#include <stdlib.h>
#include <string.h>

static const char *const operations[BESIDE_OPERATIONS] = {
    [WM_LD] = "ld",         [WM_ST] = "st",           [WM_ATOM] = "atom",         [WM_RED] = "red",
    [WM_LDMATRIX] = "ldmatrix", [WM_STMATRIX] = "stmatrix", [WM_CP_ASYNC] = "cp.async",
};

static int to_number(const char *text, uint64_t *out)
{
    uint64_t value = 0;

    if (!*text || strlen(text) > 9)
        return 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return 0;
        value = value * 10 + (uint64_t)(*text - '0');
    }
    *out = value;
    return 1;
}

static void key_of(size_t operation, int counter, char key[96])
{
    snprintf(key, 96, "beside.%s.%s", operations[operation], wm_counter_name((enum wm_counter)counter));
}

int beside_is_key(const char *key)
{
    char known[96];

    for (size_t operation = 0; operation < BESIDE_OPERATIONS; operation++) {
        for (int c = 0; c < WM_COUNTERS; c++) {
            key_of(operation, c, known);
            if (strcmp(key, known) == 0)
                return 1;
        }
    }
    return 0;
}

enum wm_status beside_read(const struct meta *meta, struct beside *out, struct wm_diag *diag)
{
    memset(out, 0, sizeof *out);
    for (size_t operation = 0; operation < BESIDE_OPERATIONS; operation++) {
        for (int c = 0; c < WM_COUNTERS; c++) {
            char key[96];
            const char *text;

            key_of(operation, c, key);
            text = meta_get(meta, key);
            if (text && !to_number(text, &out->counts[operation][c]))
                return validate_refuse(diag, WM_E_SYNTAX, meta_path(meta), 0, 0,
                                       "%s: expected a number of at most 9 digits, found \"%s\"", key, text);
        }
    }
    return WM_OK;
}

enum wm_status beside_subtract(const struct beside *beside, uint64_t index, const struct wm_opcode *opcode,
                               struct measured *measured, const char *path, struct wm_diag *diag)
{
    for (int c = 0; c < WM_COUNTERS; c++) {
        const uint64_t constant = beside->counts[opcode->operation][c];

        if (!(measured->has >> c & 1))
            continue;
        if (measured->values[c] < constant)
            return validate_refuse(diag, WM_E_RANGE, path, 0, 0,
                                   "access %llu: %s is %llu, less than the %llu that the kernel counts beside it",
                                   (unsigned long long)index, wm_counter_name((enum wm_counter)c),
                                   (unsigned long long)measured->values[c], (unsigned long long)constant);
        measured->values[c] -= constant;
    }
    return WM_OK;
}
