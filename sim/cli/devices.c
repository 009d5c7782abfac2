/* See devices.h. */
#include "config.h"

#include "devices.h"

#include "cli.h"
#include "generate.h"
#include "message.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

/* Random accesses are scattered over all of a buffer that is larger than this, the most that nobody has to ask for. */
#define FAR_BUFFER_BYTES (UINT64_C(4) << 30)

/* ------------------------------------------------------------------------------------------------------------- opening */

/* Says what a GPU has against it. */
static int failed(const struct device *device, const struct wm_diag *diag, enum wm_status status)
{
    const char *text = diag->text[0] ? diag->text : wm_status_text(status);

    if (diag->file[0])
        complain_about(diag);
    else if (device->all->options->all_devices)
        complain("GPU %u: %s", device->place, text);
    else
        complain("%s", text);
    return EXIT_BAD;
}

/* Counters cannot be had: launches are not counted, only timed. */
static enum wm_status measure_nothing(void *context, const struct plan_launch *launches, size_t n, plan_sums *sums,
                                      struct wm_diag *diag)
{
    (void)context;
    (void)launches;
    (void)diag;
    memset(sums, 0, n * sizeof *sums);
    return WM_OK;
}

static int open_one(struct devices *devices, const char *program)
{
    const struct live_options *options = devices->options;
    struct device *device = &devices->list[devices->count];
    const struct wire_options wishes = {
        options->all_devices ? devices->count : (unsigned)options->device,
        (uint64_t)options->buffer_mib << 20,
        options->l1,
        options->cycles_l1 == WM_L1_MISS,
    };
    enum wm_status status;

    device->all = devices;
    device->place = wishes.device;
    status = wire_open(program, &wishes, &device->wire, &device->diag);
    if (status)
        return failed(device, &device->diag, status);
    devices->count++;
    device->plan = *wire_device(device->wire);
    if (options->l1 == WM_L1_HIT) /* nothing goes to L2, or some: what the model says of a miss means nothing then */
        device->plan.measures &= ~(UINT32_C(1) << WM_L2_REQUESTS | UINT32_C(1) << WM_L2_SECTORS);
    if (device->plan.measures == 0 && !devices->counters_missing)
        devices->counters_missing = wire_get(device->wire, "counters_missing");
    if (device->plan.measures == 0 && !devices->counters_missing)
        devices->counters_missing = "warpmem-replay reads no hardware counters";
    return EXIT_SUCCESS;
}

static const char *known_text(const struct device *device, const char *key)
{
    const char *text = wire_get(device->wire, key);

    return text ? text : "?";
}

/* What is added up must have been predicted with one profile. */
static int check_alike(const struct devices *devices)
{
    const struct device *first = &devices->list[0];

    for (unsigned i = 1; i < devices->count; i++) {
        const struct device *device = &devices->list[i];

        if (strcmp(known_text(first, "compute_capability"), known_text(device, "compute_capability")) == 0)
            continue;
        complain(
            "GPU 0 (%s) has compute capability %s, GPU %u (%s) %s: --all-devices takes GPUs of one; choose by --device",
            known_text(first, "device"), known_text(first, "compute_capability"), i, known_text(device, "device"),
            known_text(device, "compute_capability"));
        return EXIT_BAD;
    }
    return EXIT_SUCCESS;
}

int devices_open(const struct live_options *options, struct devices *out)
{
    char *program = wire_find();
    unsigned wanted = 1;
    int status = EXIT_SUCCESS;

    memset(out, 0, sizeof *out);
    out->options = options;
    pthread_mutex_init(&out->lock, NULL);
    if (!program) {
        complain(
            "warpmem-replay, which runs accesses on a GPU, is not there: configure warpmem --with-cuda on a machine "
            "with the CUDA Toolkit (12.6 or later), or set WARPMEM_REPLAY to its path");
        return EXIT_BAD;
    }
    while (!status && out->count < wanted) {
        struct device *list = realloc(out->list, wanted * sizeof *list);

        if (!list) {
            complain("out of memory");
            status = EXIT_BAD;
            break;
        }
        out->list = list;
        memset(list + out->count, 0, (wanted - out->count) * sizeof *list);
        status = open_one(out, program);
        if (!status && options->all_devices && out->count == 1) {
            const unsigned long number = strtoul(known_text(&list[0], "devices"), NULL, 10);

            wanted = number > 1 && number <= 1024 ? (unsigned)number : 1;
        }
    }
    free(program);
    if (!status)
        status = check_alike(out);
    if (!status) {
        out->cycles_l1 = strcmp(known_text(&out->list[0], "cycles_l1"), "miss") == 0 ? WM_L1_MISS : WM_L1_HIT;
        out->has_latency = strcmp(known_text(&out->list[0], "cycles_1_warp"), "latency") == 0;
    }
    for (unsigned i = 0; i < out->count && out->counters_missing; i++) {
        out->list[i].plan.measures = 0;
        out->list[i].plan.measure = measure_nothing;
    }
    return status;
}

void devices_close(struct devices *devices)
{
    for (unsigned i = 0; i < devices->count; i++) {
        struct device *device = &devices->list[i];

        plan_batcher_free(device->batcher);
        comparison_free(&device->comparison);
        known_free(&device->known);
        timing_free(&device->timing);
        wire_close(device->wire);
    }
    free(devices->list);
    plot_free(&devices->plot);
    record_free(devices->record);
    wm_arch_close(devices->arch);
    pthread_mutex_destroy(&devices->lock);
}

/* --------------------------------------------------------------------------------------------------------- comparing */

/* Beside what was measured, what the model says of it. */
static enum wm_status compare_cycles(struct device *device, const struct wm_access *access, double one_warp,
                                     double full_block)
{
    struct devices *all = device->all;
    struct wm_access timed = *access;
    struct wm_counts counts;
    struct wm_cycles cycles;
    enum wm_status status;

    timed.l1 = all->cycles_l1;
    status = wm_model(all->arch, &timed, &counts);
    if (!status)
        status =
            timing_add_access(&device->timing, all->arch, &timed, &counts, all->has_latency ? one_warp : 0, full_block);
    if (status || !all->options->plot)
        return status;
    status = wm_cycles(all->arch, &timed, &counts, &cycles);
    pthread_mutex_lock(&all->lock);
    if (!status && !plot_add(&all->plot, &timed, cycles.throughput, full_block))
        status = WM_E_MEMORY;
    pthread_mutex_unlock(&all->lock);
    return status;
}

static enum wm_status take_cycles(struct device *device, const struct wm_access *access)
{
    char instruction[WM_OPCODE_TEXT_SIZE];
    double one_warp, full_block;
    enum wm_status status;

    if (!plan_instruction(&access->opcode, instruction))
        return WM_OK;
    status = wire_cycles(device->wire, instruction, access, &one_warp, &full_block, &device->diag);
    if (status)
        return status;
    if (device->all->record)
        record_cycles(device->all->record, one_warp, full_block);
    return compare_cycles(device, access, one_warp, full_block);
}

/* Notes an access whose lanes lie far apart. */
static void note_far(struct device *device, const struct plan_result *result)
{
    const struct wm_access *access = result->access;
    uint64_t low = UINT64_MAX, high = 0;

    if (device->plan.limits.buffer_bytes <= FAR_BUFFER_BYTES || !access->mask ||
        (access->opcode.space != WM_GLOBAL && access->opcode.space != WM_GENERIC) ||
        !(result->has >> WM_TAG_WAVEFRONTS & 1))
        return;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const uint64_t address = access->address[__builtin_ctz(rest)];

        low = address < low ? address : low;
        high = address > high ? address : high;
    }
    if (high - low <= device->plan.limits.buffer_bytes / 2)
        return;
    device->far++;
    device->far_agreeing += result->values[WM_TAG_WAVEFRONTS] == result->predicted->tag_wavefronts;
}

static enum wm_status take(void *context, const struct plan_result *result)
{
    struct device *device = context;
    struct measured measured = {.has = result->has};
    enum wm_status status;

    memcpy(measured.values, result->values, sizeof measured.values);
    note_far(device, result);
    status = comparison_add(&device->comparison, result->index, result->access, result->predicted, &measured);
    if (!status && device->all->record)
        status = record_add(device->all->record, result->index, result->access, result->values);
    return !status && device->all->options->cycles ? take_cycles(device, result->access) : status;
}

/* Whether an access is this GPU's. */
static int is_own(const struct device *device, uint64_t index)
{
    return index % device->all->count == (uint64_t)(device - device->all->list);
}

static enum wm_status add_random(struct device *device)
{
    const struct live_options *options = device->all->options;
    const struct plan_limits *limits = &device->plan.limits;
    struct generator generator;
    struct wm_access access;
    enum wm_status status = generate_live(&generator, options->seed, device->all->arch);

    if (limits->buffer_bytes > FAR_BUFFER_BYTES) {
        generator.far = limits->buffer;
        generator.far_bytes = limits->buffer_bytes;
    }
    for (unsigned long i = 0; !status && i < options->random && !device->all->is_stopping; i++) {
        generate_access(&generator, &access);
        access.l1 = options->l1;
        if (is_own(device, i))
            status = plan_batcher_add(device->batcher, i, &access, &device->diag);
        if (i % 1024 == 0 && device == device->all->list)
            progress_update("random accesses", 0, 1, i, options->random);
    }
    return status;
}

static enum wm_status add_file(struct device *device, int n, uint64_t *index)
{
    const struct live_options *options = device->all->options;
    const struct wm_reader_options reading = {.l1 = options->l1};
    const int is_first = device == device->all->list; /* which says what there is to say of the file */
    const char *path = options->files[n];
    struct wm_access access;
    struct wm_reader_notes notes;
    wm_reader *reader = NULL;
    enum wm_status status = wm_reader_open(path, &reading, &reader, &device->diag);
    uint64_t consumed, total;

    while (!status && !device->all->is_stopping && (status = wm_reader_next(reader, &access, &device->diag)) == WM_OK) {
        if (is_own(device, (*index)++))
            status = plan_batcher_add(device->batcher, *index - 1, &access, &device->diag);
        if (status && wm_access_check(device->all->arch, &access, &device->diag))
            wm_reader_place(reader, &device->diag);
        if (*index % 1024 == 0 && is_first) {
            wm_reader_progress(reader, &consumed, &total);
            progress_update(path, (unsigned)n, (unsigned)options->file_count, consumed, total);
        }
    }
    if (status == WM_END) {
        wm_reader_notes(reader, &notes);
        if (is_first)
            warn_notes(path, &notes);
        status = WM_OK;
    }
    wm_reader_close(reader);
    return status;
}

/* A GPU's share. A thread of its own where there are several; nothing else uses the struct meanwhile. */
static void *replay(void *context)
{
    struct device *device = context;
    struct devices *all = device->all;
    const int alone = all->options->alone || all->record || all->counters_missing;
    uint64_t index = 0;
    enum wm_status status = plan_batcher_new(all->arch, &device->plan, alone, take, device, &device->batcher);

    if (!status && all->options->random)
        status = add_random(device);
    for (int i = 0; !status && i < all->options->file_count; i++)
        status = add_file(device, i, &index);
    if (!status && !all->is_stopping)
        status = plan_batcher_finish(device->batcher, &device->diag);
    if (status)
        all->is_stopping = 1;
    device->status = status;
    return NULL;
}

static enum wm_status open_known(struct devices *devices)
{
    const struct live_options *options = devices->options;
    enum wm_status status = WM_OK;

    for (unsigned i = 0; !status && i < devices->count; i++) {
        struct device *device = &devices->list[i];

        device->comparison.known = &device->known;
        device->comparison.mismatch_limit = options->mismatches;
        if (options->known)
            status =
                known_open(options->known, wm_arch_name(devices->arch), options->known, &device->known, &device->diag);
        if (status)
            failed(device, &device->diag, status);
    }
    return status;
}

/* Adds up in the first GPU's what came of all. */
static enum wm_status merge(struct devices *devices)
{
    struct device *first = &devices->list[0];
    enum wm_status status = WM_OK;

    for (unsigned i = 1; !status && i < devices->count; i++) {
        const struct device *device = &devices->list[i];

        status = comparison_merge(&first->comparison, &device->comparison);
        if (!status)
            status = timing_merge(&first->timing, &device->timing);
        first->far += device->far;
        first->far_agreeing += device->far_agreeing;
        for (size_t k = 0; k < first->known.count; k++) {
            first->known.entries[k].compared += device->known.entries[k].compared;
            first->known.entries[k].disagreeing += device->known.entries[k].disagreeing;
        }
    }
    return status;
}

/* Starts a thread for each GPU but the first, which this one sees to, and waits for them. */
static void replay_all(struct devices *devices, pthread_t *threads)
{
    unsigned started = 0;

    while (started + 1 < devices->count &&
           pthread_create(&threads[started], NULL, replay, &devices->list[started + 1]) == 0)
        started++;
    if (started + 1 < devices->count) {
        devices->list[started + 1].status = WM_E_MEMORY;
        devices->is_stopping = 1;
    } else {
        replay(&devices->list[0]);
    }
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

int devices_compare(struct devices *devices)
{
    pthread_t *threads = calloc(devices->count, sizeof *threads);
    enum wm_status status = WM_OK;

    if (!threads) {
        complain("%s", wm_status_text(WM_E_MEMORY));
        return EXIT_BAD;
    }
    if (open_known(devices) != WM_OK) {
        free(threads);
        return EXIT_BAD;
    }
    progress_start();
    replay_all(devices, threads);
    progress_stop();
    free(threads);
    for (unsigned i = 0; i < devices->count && !status; i++) {
        struct device *device = &devices->list[i];

        status = device->status;
        if (status == WM_E_RANGE && !device->diag.text[0])
            validate_refuse(&device->diag, status, "", 0, 0, "--record keeps %d accesses at most", RECORD_MOST);
        if (status)
            return failed(device, &device->diag, status);
    }
    status = merge(devices);
    if (status)
        complain("%s", wm_status_text(status));
    return status ? EXIT_BAD : EXIT_SUCCESS;
}

struct plan_totals devices_totals(const struct devices *devices)
{
    struct plan_totals sum = {.launches = 0};

    for (unsigned i = 0; i < devices->count; i++) {
        const struct plan_totals *totals = plan_batcher_totals(devices->list[i].batcher);

        sum.launches += totals->launches;
        sum.accesses += totals->accesses;
        sum.repeated += totals->repeated;
        sum.unsettled += totals->unsettled;
        for (int k = 0; k < PLAN_SKIPS; k++) {
            if (!sum.skipped[k])
                memcpy(sum.first_skipped[k], totals->first_skipped[k], sizeof sum.first_skipped[k]);
            sum.skipped[k] += totals->skipped[k];
        }
    }
    return sum;
}
