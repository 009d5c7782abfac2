/* The GPUs of this machine that accesses are replayed on, side by side: a warpmem-replay each. */
#ifndef DEVICES_H
#define DEVICES_H

#include "plan.h"
#include "plot.h"
#include "record.h"
#include "report.h"
#include "timing.h"
#include "validate.h"
#include "wire.h"

#include <pthread.h>
#include <stdatomic.h>

/* What the command line asks for. */
struct live_options {
    unsigned long random, seed, device, buffer_mib, mismatches;
    int alone, cycles, all_devices;
    enum wm_l1 l1, cycles_l1; /* what loads shall meet in L1, where they are counted and where they are timed */
    const char *record, *known, *plot;
    enum report_format format;
    const char *arch, *arch_file;
    char **files;
    int file_count;
};

struct devices;

/* One GPU, and what came of its share of the accesses. */
struct device {
    struct devices *all;
    unsigned place; /* among them */
    struct wire *wire;
    struct plan_device plan; /* the wire's, as far as it is used */
    struct plan_batcher *batcher;
    struct comparison comparison;
    struct known_list known;
    struct timing timing;
    uint64_t far,
        far_agreeing; /* accesses whose lanes were far apart, and of these those with the right tag wavefronts */
    enum wm_status status;
    struct wm_diag diag;
};

struct devices {
    const struct live_options *options;
    wm_arch *arch;
    struct device *list;
    unsigned count;
    const char *counters_missing; /* why no counters are read; NULL: they are */
    struct record *record;        /* or NULL */
    enum wm_l1 cycles_l1;         /* what loads meet in L1 where cycles are taken, */
    int has_latency;              /* and whether those of one warp are the time until a result can be used */
    pthread_mutex_t lock;         /* of the plot */
    struct plot plot;
    atomic_int is_stopping; /* one has failed: the others need not go on */
};

/* Takes the GPU that is asked for, or all. Returns an exit status; what is wrong has been said. */
int devices_open(const struct live_options *options, struct devices *out);

/* Replays all accesses, on each GPU its share of them, and adds up what came of it in the first one's comparison, known
 * list and timing. arch and record must be set. Returns an exit status. */
int devices_compare(struct devices *devices);

/* Over all GPUs. */
struct plan_totals devices_totals(const struct devices *devices);
void devices_close(struct devices *devices);

#endif
