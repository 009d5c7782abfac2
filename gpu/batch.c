/* Many accesses to a launch; where a launch's sums are not those predicted, its halves are measured again. */
#include "config.h"

#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Launches that are being filled, one for each instruction, or two. */
#define MOST_OPEN 512

/* Lines that the stores of a launch may have: L1 must hold them all, also where it is small (736 lines on an H200), as long
 * stores take longer where they displace lines. And the most that one more may have, of 16 B in local memory. */
#define MOST_STORED_LINES 512
#define LINES_OF_STORE    (4 * WM_LANES)

/* Launches that an access is moved into before it is left in one where not all predictions are as exact as its own. */
#define MOST_PLACES 8

/* What has come of an instruction's comparisons. */
struct record_of {
    char instruction[WM_OPCODE_TEXT_SIZE];
    unsigned guilty[WM_COUNTERS]; /* accesses whose own count was another */
    uint32_t given_up;
};

/* An access of a launch. */
struct item {
    uint64_t index;
    struct wm_counts predicted;
};

struct launch {
    char instruction[WM_OPCODE_TEXT_SIZE];
    uint32_t inexact; /* counters whose predictions are no more than near, of all its accesses */
    struct plan_use use;
    unsigned count;
    uint64_t lines;
    struct wm_access *accesses; /* moved */
    struct item *items;
};

/* A part of a launch that is to be measured. */
struct part {
    const struct launch *launch;
    unsigned from, count;
    int is_half; /* of one whose sums differed */
};

struct plan_batcher {
    const wm_arch *arch;
    const struct plan_device *device;
    unsigned launch_records;
    plan_result_function result;
    void *context;
    struct launch *open[MOST_OPEN];
    unsigned open_count;
    struct launch **full; /* waiting to be measured */
    unsigned full_count;
    struct launch **spare;
    unsigned spare_count;
    unsigned spare_size;
    struct record_of *records;
    unsigned record_count, record_size;
    struct plan_totals totals;
};

/* ---------------------------------------------------------------------------------------------------------- launches */

static void free_launch(struct launch *launch)
{
    if (!launch)
        return;
    plan_use_free(&launch->use);
    free(launch->accesses);
    free(launch->items);
    free(launch);
}

static struct launch *new_launch(struct plan_batcher *batcher, const char *instruction, uint32_t inexact)
{
    struct launch *launch;

    if (batcher->spare_count) {
        launch = batcher->spare[--batcher->spare_count];
        plan_use_clear(&batcher->device->limits, &launch->use);
    } else {
        launch = calloc(1, sizeof *launch);
        if (!launch)
            return NULL;
        launch->accesses = calloc(batcher->launch_records, sizeof *launch->accesses);
        launch->items = calloc(batcher->launch_records, sizeof *launch->items);
        if (!launch->accesses || !launch->items || plan_use_new(&batcher->device->limits, &launch->use) != WM_OK) {
            free_launch(launch);
            return NULL;
        }
    }
    launch->count = 0;
    launch->lines = 0;
    launch->inexact = inexact;
    snprintf(launch->instruction, sizeof launch->instruction, "%s", instruction);
    return launch;
}

static void retire(struct plan_batcher *batcher, struct launch *launch)
{
    if (batcher->spare_count < batcher->spare_size)
        batcher->spare[batcher->spare_count++] = launch;
    else
        free_launch(launch);
}

enum wm_status plan_batcher_new(const wm_arch *arch, const struct plan_device *device, int alone,
                                plan_result_function result, void *context, struct plan_batcher **out)
{
    struct plan_batcher *batcher = calloc(1, sizeof *batcher);

    if (!batcher)
        return WM_E_MEMORY;
    batcher->arch = arch;
    batcher->device = device;
    batcher->launch_records = alone ? 1 : device->limits.launch_records;
    batcher->result = result;
    batcher->context = context;
    batcher->spare_size = device->limits.launches + MOST_OPEN;
    batcher->full = calloc(device->limits.launches, sizeof *batcher->full);
    batcher->spare = calloc(batcher->spare_size, sizeof *batcher->spare);
    if (!batcher->full || !batcher->spare) {
        plan_batcher_free(batcher);
        return WM_E_MEMORY;
    }
    *out = batcher;
    return WM_OK;
}

const struct plan_totals *plan_batcher_totals(const struct plan_batcher *batcher)
{
    return &batcher->totals;
}

void plan_batcher_free(struct plan_batcher *batcher)
{
    if (!batcher)
        return;
    for (unsigned i = 0; i < batcher->open_count; i++)
        free_launch(batcher->open[i]);
    for (unsigned i = 0; i < batcher->full_count; i++)
        free_launch(batcher->full[i]);
    for (unsigned i = 0; i < batcher->spare_count; i++)
        free_launch(batcher->spare[i]);
    free(batcher->full);
    free(batcher->spare);
    free(batcher->records);
    free(batcher);
}

/* --------------------------------------------------------------------------------------------------------- measuring */

static enum wm_status find_record(struct plan_batcher *batcher, const char *instruction, struct record_of **out)
{
    struct record_of *record;

    for (unsigned i = 0; i < batcher->record_count; i++) {
        if (strcmp(batcher->records[i].instruction, instruction) == 0) {
            *out = &batcher->records[i];
            return WM_OK;
        }
    }
    if (batcher->record_count == batcher->record_size) {
        const unsigned size = batcher->record_size ? batcher->record_size * 2 : 64;
        struct record_of *records = realloc(batcher->records, size * sizeof *records);

        if (!records)
            return WM_E_MEMORY;
        batcher->records = records;
        batcher->record_size = size;
    }
    record = &batcher->records[batcher->record_count++];
    memset(record, 0, sizeof *record);
    snprintf(record->instruction, sizeof record->instruction, "%s", instruction);
    *out = record;
    return WM_OK;
}

int plan_given_up(const struct plan_batcher *batcher, size_t n, const char **instruction, uint32_t *counters)
{
    for (unsigned i = 0; i < batcher->record_count; i++) {
        if (batcher->records[i].given_up && n-- == 0) {
            *instruction = batcher->records[i].instruction;
            *counters = batcher->records[i].given_up;
            return 1;
        }
    }
    return 0;
}

/* Notes what an access's own launch has told. */
static void note(struct record_of *record, uint32_t counters, const struct item *item, const uint64_t *sums)
{
    for (int c = 0; c < WM_COUNTERS; c++) {
        if (!(counters >> c & 1) || item->predicted.inexact >> c & 1 ||
            sums[c] == wm_counts_get(&item->predicted, (enum wm_counter)c))
            continue;
        if (++record->guilty[c] == PLAN_MOST_GUILTY)
            record->given_up |= UINT32_C(1) << c;
    }
}

/* Counters that a part's sums can tell something about: where a prediction is known to be only near, the sum of several
 * tells nothing. */
static uint32_t comparable(const struct plan_batcher *batcher, const struct part *part, const struct record_of *record)
{
    return batcher->device->measures & (part->count == 1 ? UINT32_MAX : ~(part->launch->inexact | record->given_up));
}

static int sums_agree(const struct part *part, uint32_t counters, const uint64_t *sums)
{
    for (int c = 0; c < WM_COUNTERS; c++) {
        uint64_t predicted = 0;

        if (!(counters >> c & 1))
            continue;
        for (unsigned i = 0; i < part->count; i++)
            predicted += wm_counts_get(&part->launch->items[part->from + i].predicted, (enum wm_counter)c);
        if (predicted != sums[c])
            return 0;
    }
    return 1;
}

/* Hands out the results of a part that is settled. */
static enum wm_status settle(struct plan_batcher *batcher, const struct part *part, struct record_of *record,
                             const uint64_t *sums)
{
    const uint32_t counters = batcher->device->measures & (part->count == 1 ? UINT32_MAX : ~record->given_up);

    batcher->totals.accesses += part->count;
    if (part->count == 1)
        note(record, counters, &part->launch->items[part->from], sums);
    for (unsigned i = part->from; i < part->from + part->count; i++) {
        const struct item *item = &part->launch->items[i];
        struct plan_result result = {
            .index = item->index,
            .access = &part->launch->accesses[i],
            .predicted = &item->predicted,
            .has = part->count == 1 ? counters : counters & ~(part->launch->inexact & ~item->predicted.inexact),
            .is_alone = part->count == 1,
        };
        enum wm_status status;

        for (int c = 0; c < WM_COUNTERS; c++)
            result.values[c] = part->count == 1 ? sums[c] : wm_counts_get(&item->predicted, (enum wm_counter)c);
        status = batcher->result(batcher->context, &result);
        if (status)
            return status;
    }
    return WM_OK;
}

/* Measures parts; those that do not agree are cut in halves, which stand in parts afterwards. parts has room for twice
 * *count. */
static enum wm_status measure_once(struct plan_batcher *batcher, struct part *parts, unsigned *count,
                                   struct wm_diag *diag)
{
    const unsigned n = *count;
    struct plan_launch *launches = calloc(n, sizeof *launches);
    plan_sums *sums = calloc(n, sizeof *sums);
    struct part *halves = calloc(n, 2 * sizeof *halves);
    unsigned half_count = 0, clean_halves = 0;
    enum wm_status status = launches && sums && halves ? WM_OK : WM_E_MEMORY;

    for (unsigned i = 0; !status && i < n; i++)
        launches[i] = (struct plan_launch){parts[i].launch->instruction, parts[i].launch->accesses + parts[i].from,
                                           parts[i].count};
    if (!status)
        status = batcher->device->measure(batcher->device->context, launches, n, sums, diag);
    for (unsigned i = 0; !status && i < n; i++) {
        const struct part *part = &parts[i];
        struct record_of *record;
        int agree;

        status = find_record(batcher, part->launch->instruction, &record);
        if (status)
            break;
        agree = sums_agree(part, comparable(batcher, part, record), sums[i]);
        batcher->totals.launches++;
        if (part->is_half) { /* halves of one launch follow each other */
            clean_halves = i % 2 ? clean_halves + (unsigned)agree : (unsigned)agree;
            batcher->totals.unsettled += i % 2 && clean_halves == 2;
        }
        if (agree || part->count == 1) {
            status = settle(batcher, part, record, sums[i]);
            continue;
        }
        batcher->totals.repeated++;
        halves[half_count++] = (struct part){part->launch, part->from, part->count / 2, 1};
        halves[half_count++] = (struct part){part->launch, part->from + part->count / 2, part->count - part->count / 2, 1};
    }
    if (!status)
        memcpy(parts, halves, half_count * sizeof *parts);
    *count = half_count;
    free(launches);
    free(sums);
    free(halves);
    return status;
}

/* Measures parts and all that comes of them; a device takes `launches` at a time. */
static enum wm_status measure_all(struct plan_batcher *batcher, struct part *parts, unsigned count,
                                  struct wm_diag *diag)
{
    const unsigned most = batcher->device->limits.launches;
    enum wm_status status = WM_OK;

    while (!status && count) {
        struct part *next = calloc(count, 2 * sizeof *next);
        unsigned next_count = 0;

        if (!next) {
            free(parts);
            return WM_E_MEMORY;
        }
        for (unsigned from = 0; !status && from < count;) {
            unsigned n = count - from < most ? count - from : most;

            if (most > 1 && parts[from].is_half)
                n -= n % 2; /* halves stay together */
            memcpy(next + next_count, parts + from, n * sizeof *next);
            from += n;
            status = measure_once(batcher, next + next_count, &n, diag);
            next_count += n;
        }
        free(parts);
        parts = next;
        count = next_count;
    }
    free(parts);
    return status;
}

/* Measures the full launches. */
static enum wm_status flush(struct plan_batcher *batcher, struct wm_diag *diag)
{
    struct part *parts;
    enum wm_status status;

    if (batcher->full_count == 0)
        return WM_OK;
    parts = calloc(batcher->full_count, sizeof *parts);
    if (!parts)
        return WM_E_MEMORY;
    for (unsigned i = 0; i < batcher->full_count; i++)
        parts[i] = (struct part){batcher->full[i], 0, batcher->full[i]->count, 0};
    status = measure_all(batcher, parts, batcher->full_count, diag);
    while (batcher->full_count)
        retire(batcher, batcher->full[--batcher->full_count]);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ adding */

static void skip(struct plan_batcher *batcher, const struct wm_access *access, enum plan_skip why)
{
    if (batcher->totals.skipped[why]++ == 0)
        wm_opcode_format(&access->opcode, batcher->totals.first_skipped[why]);
}

/* Moves open launch number n to the full ones. */
static enum wm_status close_launch(struct plan_batcher *batcher, unsigned n, struct wm_diag *diag)
{
    batcher->full[batcher->full_count++] = batcher->open[n];
    batcher->open[n] = batcher->open[--batcher->open_count];
    return batcher->full_count == batcher->device->limits.launches ? flush(batcher, diag) : WM_OK;
}

/* The open launch of an instruction, for accesses with those inexact counters. */
static enum wm_status find_open(struct plan_batcher *batcher, const char *instruction, uint32_t inexact, unsigned *out,
                                struct wm_diag *diag)
{
    unsigned n = 0;
    enum wm_status status;

    while (n < batcher->open_count && (batcher->open[n]->inexact != inexact ||
                                       strcmp(batcher->open[n]->instruction, instruction) != 0))
        n++;
    if (n == MOST_OPEN) {
        status = close_launch(batcher, 0, diag);
        if (status)
            return status;
        n = batcher->open_count;
    }
    if (n == batcher->open_count) {
        batcher->open[n] = new_launch(batcher, instruction, inexact);
        if (!batcher->open[n])
            return WM_E_MEMORY;
        batcher->open_count++;
    }
    *out = n;
    return WM_OK;
}

/* Moves an access into the open launch, number *n, of those with these inexact counters; a full one gives way to another. */
static enum wm_status move_into(struct plan_batcher *batcher, const struct wm_access *access, const char *instruction,
                                uint32_t inexact, unsigned *n, enum plan_moved *moved, struct wm_diag *diag)
{
    for (int is_again = 0;; is_again = 1) {
        struct launch *launch;
        enum wm_status status = find_open(batcher, instruction, inexact, n, diag);

        if (status)
            return status;
        launch = batcher->open[*n];
        *moved = plan_move(batcher->arch, &batcher->device->limits, &launch->use, access,
                           &launch->accesses[launch->count]);
        if (*moved != PLAN_FULL || !launch->count || is_again)
            return WM_OK;
        status = close_launch(batcher, *n, diag);
        if (status)
            return status;
    }
}

/* The same with the counters whose predictions are inexact where it is moved to: where one is not exact, a sum tells
 * nothing of the others. Tag banks depend on the place, so the first launch may be the wrong one. */
static enum wm_status find_place(struct plan_batcher *batcher, const struct wm_access *access, const char *instruction,
                                 struct wm_counts *predicted, unsigned *n, enum plan_moved *moved, struct wm_diag *diag)
{
    for (unsigned tries = 1;; tries++) {
        const uint32_t inexact = predicted->inexact;
        struct launch *launch;
        enum wm_status status = move_into(batcher, access, instruction, inexact, n, moved, diag);

        if (status || *moved != PLAN_MOVED)
            return status;
        launch = batcher->open[*n];
        status = wm_model(batcher->arch, &launch->accesses[launch->count], predicted);
        if (status || predicted->inexact == inexact)
            return status;
        if (tries == MOST_PLACES) {
            launch->inexact |= predicted->inexact;
            return WM_OK;
        }
        if (!launch->count) /* else its memory is used up by what does not stay */
            plan_use_clear(&batcher->device->limits, &launch->use);
    }
}

enum wm_status plan_batcher_add(struct plan_batcher *batcher, uint64_t index, const struct wm_access *access,
                                struct wm_diag *diag)
{
    const struct plan_device *device = batcher->device;
    struct wm_counts predicted;
    char instruction[WM_OPCODE_TEXT_SIZE];
    enum plan_moved moved = PLAN_TOO_FAR;
    struct launch *launch;
    unsigned n = 0;
    /* before anything is moved: what the hardware would refuse must not reach it */
    enum wm_status status = wm_model(batcher->arch, access, &predicted);

    if (status)
        return status;
    if (!plan_instruction(&access->opcode, instruction) || !device->can(device->context, instruction)) {
        skip(batcher, access, PLAN_NO_INSTRUCTION);
        return WM_OK;
    }
    if (!access->mask && (access->opcode.operation == WM_ATOM || access->opcode.operation == WM_RED)) {
        skip(batcher, access, PLAN_NO_LANES);
        return WM_OK;
    }
    status = find_place(batcher, access, instruction, &predicted, &n, &moved, diag);
    if (status)
        return status;
    if (moved != PLAN_MOVED) {
        skip(batcher, access, PLAN_NO_ROOM);
        return WM_OK;
    }
    launch = batcher->open[n];
    launch->items[launch->count] = (struct item){index, predicted};
    launch->count++;
    launch->lines += predicted.lines;
    return launch->count == batcher->launch_records ||
                   (access->opcode.operation == WM_ST && launch->lines > MOST_STORED_LINES - LINES_OF_STORE)
               ? close_launch(batcher, n, diag)
               : WM_OK;
}

enum wm_status plan_batcher_finish(struct plan_batcher *batcher, struct wm_diag *diag)
{
    enum wm_status status = WM_OK;

    while (!status && batcher->open_count) {
        if (batcher->open[batcher->open_count - 1]->count)
            status = close_launch(batcher, batcher->open_count - 1, diag);
        else
            retire(batcher, batcher->open[--batcher->open_count]);
    }
    return status ? status : flush(batcher, diag);
}
