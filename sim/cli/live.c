/* warpmem validate --live: the model against the GPU in this machine. */
#include "config.h"

#include "agreement.h"
#include "cli.h"
#include "generate.h"
#include "live.h"
#include "message.h"
#include "output.h"
#include "plan.h"
#include "progress.h"
#include "record.h"
#include "validate.h"
#include "wire.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMMAND "validate"

struct options {
    unsigned long random, seed, device, buffer_mib, mismatches;
    int alone, cycles;
    const char *record;
    const char *known;
    enum report_format format;
    const char *arch, *arch_file;
    char **files;
    int file_count;
};

struct run {
    const struct options *options;
    struct wire *wire;
    wm_arch *arch;
    struct plan_batcher *batcher;
    struct comparison comparison;
    struct known_list known;
    struct record *record;
    struct wm_diag diag;
    uint64_t added;
    struct timespec began;
};

static int parse_options(int argc, char **argv, struct options *out)
{
    enum {
        LIVE = 256,
        RANDOM,
        SEED,
        DEVICE,
        BUFFER,
        ALONE,
        RECORD,
        CYCLES,
        KNOWN,
        MISMATCHES,
        FORMAT,
        ARCH,
        ARCH_FILE,
        HELP
    };
    static const struct option names[] = {
        {"live", no_argument, NULL, LIVE},
        {"random", required_argument, NULL, RANDOM},
        {"seed", required_argument, NULL, SEED},
        {"device", required_argument, NULL, DEVICE},
        {"buffer", required_argument, NULL, BUFFER},
        {"alone", no_argument, NULL, ALONE},
        {"record", required_argument, NULL, RECORD},
        {"cycles", no_argument, NULL, CYCLES},
        {"known", required_argument, NULL, KNOWN},
        {"mismatches", required_argument, NULL, MISMATCHES},
        {"format", required_argument, NULL, FORMAT},
        {"arch", required_argument, NULL, ARCH},
        {"arch-file", required_argument, NULL, ARCH_FILE},
        {"help", no_argument, NULL, HELP},
        {NULL, 0, NULL, 0},
    };
    int option, is_good = 1;

    *out = (struct options){.seed = 1, .mismatches = 10};
    while (is_good && (option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (option) {
        case LIVE: break;
        case RANDOM: is_good = parse_number(COMMAND, "--random", optarg, 1, 1000000000, &out->random); break;
        case SEED: is_good = parse_number(COMMAND, "--seed", optarg, 0, UINT32_MAX, &out->seed); break;
        case DEVICE: is_good = parse_number(COMMAND, "--device", optarg, 0, 1000, &out->device); break;
        case BUFFER: is_good = parse_number(COMMAND, "--buffer", optarg, 2, 1 << 19, &out->buffer_mib); break;
        case ALONE: out->alone = 1; break;
        case RECORD: out->record = optarg; break;
        case CYCLES: out->cycles = 1; break;
        case KNOWN: out->known = optarg; break;
        case MISMATCHES:
            is_good = parse_number(COMMAND, "--mismatches", optarg, 0, 100000, &out->mismatches);
            break;
        case FORMAT: is_good = parse_format(COMMAND, optarg, &out->format); break;
        case ARCH: out->arch = optarg; break;
        case ARCH_FILE: out->arch_file = optarg; break;
        case HELP: return print_help(validate_help);
        default: return usage_hint(COMMAND);
        }
    }
    if (!is_good)
        return EXIT_USAGE;
    if (out->arch && out->arch_file)
        return usage_error(COMMAND, "--arch and --arch-file exclude each other");
    if (out->buffer_mib & (out->buffer_mib - 1))
        return usage_error(COMMAND, "--buffer takes a power of two");
    out->files = argv + optind;
    out->file_count = argc - optind;
    if (out->random && out->file_count)
        return usage_error(COMMAND, "traces and --random exclude each other");
    if (!out->random && !out->file_count)
        return usage_error(COMMAND, "--live takes traces, or --random");
    if (out->cycles && !out->record)
        return usage_error(COMMAND, "--cycles goes with --record");
    if (out->record && out->random > RECORD_MOST)
        return usage_error(COMMAND, "--record keeps %d accesses at most", RECORD_MOST);
    return -1;
}

/* Says what diag says. Returns an exit status. */
static int failed(const struct wm_diag *diag, enum wm_status status)
{
    if (diag->file[0])
        complain_about(diag);
    else
        complain("%s", diag->text[0] ? diag->text : wm_status_text(status));
    return EXIT_BAD;
}

/* ------------------------------------------------------------------------------------------------------------ the GPU */

static int open_gpu(struct run *run)
{
    const struct options *options = run->options;
    const struct wire_options wishes = {(unsigned)options->device, (uint64_t)options->buffer_mib << 20};
    char *program = wire_find();
    enum wm_status status;

    if (!program) {
        complain("warpmem-replay, which runs accesses on a GPU, is not there: configure warpmem --with-cuda on a machine "
                 "with the CUDA Toolkit (12.6 or later), or set WARPMEM_REPLAY to its path");
        return EXIT_BAD;
    }
    status = wire_open(program, &wishes, &run->wire, &run->diag);
    free(program);
    if (status)
        return failed(&run->diag, status);
    if (wire_device(run->wire)->measures == 0) {
        complain("%s", wire_get(run->wire, "counters_missing") ? wire_get(run->wire, "counters_missing")
                                                               : "warpmem-replay reads no hardware counters");
        return EXIT_BAD;
    }
    return EXIT_SUCCESS;
}

/* The profile: as asked for, or that of the GPU. */
static int open_profile(struct run *run)
{
    const char *capability = wire_get(run->wire, "compute_capability");
    char name[32] = "sm_";
    size_t length = 3;

    if (run->options->arch || run->options->arch_file)
        return open_arch(COMMAND, run->options->arch, run->options->arch_file, &run->arch);
    for (const char *c = capability ? capability : ""; *c && length + 1 < sizeof name; c++) {
        if (*c != '.')
            name[length++] = *c;
    }
    name[length] = '\0';
    if (wm_arch_open(name, &run->arch, &run->diag) == WM_OK)
        return EXIT_SUCCESS;
    complain("there is no profile %s for this GPU (%s): choose one that it may be like by --arch, or write one for "
             "--arch-file",
             name, wire_get(run->wire, "device") ? wire_get(run->wire, "device") : "?");
    return EXIT_BAD;
}

/* --------------------------------------------------------------------------------------------------------- comparing */

/* Times the access that was recorded last. */
static enum wm_status take_cycles(struct run *run, const struct wm_access *access)
{
    char instruction[WM_OPCODE_TEXT_SIZE];
    double one_warp, full_block;
    enum wm_status status = WM_OK;

    if (!plan_instruction(&access->opcode, instruction))
        return WM_OK;
    status = wire_cycles(run->wire, instruction, access, &one_warp, &full_block, &run->diag);
    if (!status)
        record_cycles(run->record, one_warp, full_block);
    return status;
}

static enum wm_status take(void *context, const struct plan_result *result)
{
    struct run *run = context;
    struct measured measured = {.has = result->has};
    enum wm_status status;

    memcpy(measured.values, result->values, sizeof measured.values);
    status = comparison_add(&run->comparison, result->index, result->access, result->predicted, &measured);
    if (!status && run->record)
        status = record_add(run->record, result->index, result->access, result->values);
    return !status && run->options->cycles ? take_cycles(run, result->access) : status;
}

static enum wm_status add_random(struct run *run)
{
    const unsigned long count = run->options->random;
    struct generator generator;
    struct wm_access access;
    enum wm_status status = generate_live(&generator, run->options->seed, run->arch);

    for (unsigned long i = 0; !status && i < count; i++) {
        generate_access(&generator, &access);
        access.l1 = WM_L1_MISS;
        status = plan_batcher_add(run->batcher, run->added++, &access, &run->diag);
        if (i % 1024 == 0)
            progress_update("random accesses", 0, 1, i, count);
    }
    return status;
}

static enum wm_status add_file(struct run *run, int n)
{
    const char *path = run->options->files[n];
    struct wm_access access;
    struct wm_reader_notes notes;
    wm_reader *reader = NULL;
    enum wm_status status = wm_reader_open(path, NULL, &reader, &run->diag);
    uint64_t consumed, total;

    while (!status && (status = wm_reader_next(reader, &access, &run->diag)) == WM_OK) {
        status = plan_batcher_add(run->batcher, run->added++, &access, &run->diag);
        if (status && wm_access_check(run->arch, &access, &run->diag))
            wm_reader_place(reader, &run->diag);
        if (run->added % 1024 == 0) {
            wm_reader_progress(reader, &consumed, &total);
            progress_update(path, (unsigned)n, (unsigned)run->options->file_count, consumed, total);
        }
    }
    if (status == WM_END) {
        wm_reader_notes(reader, &notes);
        warn_notes(path, &notes);
        status = WM_OK;
    }
    wm_reader_close(reader);
    return status;
}

static int compare_all(struct run *run)
{
    const struct plan_device *device = wire_device(run->wire);
    const int alone = run->options->alone || run->record != NULL;
    enum wm_status status = plan_batcher_new(run->arch, device, alone, take, run, &run->batcher);

    progress_start();
    if (!status && run->options->random)
        status = add_random(run);
    for (int i = 0; !status && i < run->options->file_count; i++)
        status = add_file(run, i);
    if (!status)
        status = plan_batcher_finish(run->batcher, &run->diag);
    progress_stop();
    if (status == WM_E_RANGE && !run->diag.text[0])
        validate_refuse(&run->diag, status, "", 0, 0, "--record keeps %d accesses at most", RECORD_MOST);
    return status ? failed(&run->diag, status) : EXIT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------ results */

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static double seconds_since(const struct timespec *began)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - began->tv_sec) + (double)(now.tv_nsec - began->tv_nsec) * 1e-9;
}

static void write_head(const struct run *run, struct buffer *out)
{
    struct buffer text = {0};
    const char *driver = wire_get(run->wire, "driver");

    buffer_printf(&text, "%s (%s): ", wm_arch_name(run->arch), wm_arch_description(run->arch));
    if (run->options->random)
        buffer_printf(&text, "%lu random access%s (seed %lu)", run->options->random,
                      run->options->random == 1 ? "" : "es", run->options->seed);
    for (int i = 0; i < run->options->file_count; i++) {
        buffer_puts(&text, i ? ", " : "");
        table_name(run->options->files[i], &text);
    }
    buffer_puts(&text, " on ");
    table_name(wire_get(run->wire, "device") ? wire_get(run->wire, "device") : "?", &text);
    if (driver) {
        buffer_puts(&text, ", driver ");
        table_name(driver, &text);
    }
    buffer_puts(&text, "; loads miss L1");
    table_wrapped(buffer_text(&text), 0, 4, out);
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

static void write_skipped(const struct plan_totals *totals, struct buffer *out)
{
    static const char *const why[PLAN_SKIPS] = {
        [PLAN_NO_INSTRUCTION] = "are no single instruction that warpmem-replay has on this GPU",
        [PLAN_NO_ROOM] = "have addresses too far apart",
        [PLAN_NO_LANES] = "are atomics without active lanes, which compiled code branches round",
    };

    for (int i = 0; i < PLAN_SKIPS; i++) {
        if (totals->skipped[i])
            buffer_printf(out, "not replayed: %llu that %s (the first: %s)\n", (unsigned long long)totals->skipped[i],
                          why[i], totals->first_skipped[i]);
    }
}

static void write_given_up(const struct plan_batcher *batcher, struct buffer *out)
{
    const char *instruction;
    uint32_t counters;

    for (size_t n = 0; plan_given_up(batcher, n, &instruction, &counters); n++) {
        buffer_printf(out, "after %d disagreements of", PLAN_MOST_GUILTY);
        for (int c = 0; c < WM_COUNTERS; c++) {
            if (counters >> c & 1)
                buffer_printf(out, " %s", wm_counter_name((enum wm_counter)c));
        }
        buffer_printf(out, ", no more were looked for in sums of %s\n", instruction);
    }
}

static void write_summary(const struct run *run, double seconds, struct buffer *out)
{
    const struct comparison *comparison = &run->comparison;
    const struct plan_totals *totals = plan_batcher_totals(run->batcher);

    buffer_printf(out, "\n%llu access%s replayed, %llu of %llu values agree", (unsigned long long)totals->accesses,
                  totals->accesses == 1 ? "" : "es", (unsigned long long)comparison->agreeing,
                  (unsigned long long)comparison->compared);
    if (comparison->inexact)
        buffer_printf(out, "; not compared: %llu that the model calls approximate",
                      (unsigned long long)comparison->inexact);
    buffer_putc(out, '\n');
    write_skipped(totals, out);
    write_given_up(run->batcher, out);
    buffer_printf(out, "%llu launch%s in %.1f s", (unsigned long long)totals->launches,
                  totals->launches == 1 ? "" : "es", seconds);
    if (totals->repeated)
        buffer_printf(out, "; %llu had another sum than predicted and %s measured again in halves",
                      (unsigned long long)totals->repeated, totals->repeated == 1 ? "was" : "were");
    if (totals->unsettled)
        buffer_printf(out, "; of %llu neither half had", (unsigned long long)totals->unsettled);
    buffer_putc(out, '\n');
    if (comparison->unlisted)
        buffer_printf(out, "%llu value%s disagree%s and %s not known to\n", (unsigned long long)comparison->unlisted,
                      plural(comparison->unlisted), comparison->unlisted == 1 ? "s" : "",
                      comparison->unlisted == 1 ? "is" : "are");
}

static int write_report(struct run *run)
{
    const double seconds = seconds_since(&run->began);
    struct output *output = NULL;
    struct buffer buffer = {0};
    int status = EXIT_BAD;

    if (output_open(NULL, &output) != 0)
        return EXIT_BAD;
    buffer = buffer_into(drain_to_output, output);
    if (run->options->format == REPORT_TABLE) {
        write_head(run, &buffer);
        agreement_cells(&run->comparison, &buffer);
        agreement_known(&run->known, &buffer);
        agreement_mismatches(&run->comparison, &buffer);
        write_summary(run, seconds, &buffer);
    } else {
        agreement_rows(&run->comparison, run->options->format, &buffer);
    }
    if (finish_output(&buffer, output) == 0)
        status = run->comparison.unlisted ? EXIT_BAD : EXIT_SUCCESS;
    buffer_free(&buffer);
    output_close(output);
    return status;
}

static int write_record(struct run *run)
{
    char counters[1024] = "", base[256], date[16] = "", seed[64] = "";
    const time_t now = time(NULL);
    struct tm day;
    const struct record_meta meta[] = {
        {"device", wire_get(run->wire, "device")},
        {"compute_capability", wire_get(run->wire, "compute_capability")},
        {"driver", wire_get(run->wire, "driver")},
        {"cuda", wire_get(run->wire, "cuda")},
        {"method", "one launch of one warp per access; lane offsets in the kernel's parameters, so that nothing else "
                   "touches L1 or shared memory; L1 is empty. What a launch of the same kernel without the access "
                   "counts is subtracted; of a cp.async also 3 shared wavefronts, of shared loads without active lanes "
                   "that the compiler puts before it, and 1 tag wavefront unless it has no active lanes"},
        {"addresses", base},
        {"counters", counters},
        {"accesses", seed},
        {"clocks", "not locked"},
        {"cycles", run->options->cycles ? "clock64, cycles per instruction with 1 warp and with 32 warps of one block "
                                          "issuing the access back to back, eight of each warp in flight; the second of "
                                          "two runs"
                                        : NULL},
        {"l1", "miss"},
        {"date", date},
        {NULL, NULL},
    };
    enum wm_status status;

    if (run->options->random)
        snprintf(seed, sizeof seed, "%lu random ones, seed %lu", run->options->random, run->options->seed);
    else
        snprintf(seed, sizeof seed, "of %d trace%s", run->options->file_count, run->options->file_count == 1 ? "" : "s");
    snprintf(base, sizeof base, "global and generic: offsets into a buffer of %s bytes at %s; shared, local, const: offsets",
             wire_get(run->wire, "buffer_bytes"), wire_get(run->wire, "buffer"));
    for (int c = 0; c < WM_COUNTERS; c++) {
        const size_t length = strlen(counters);

        if (wire_device(run->wire)->measures >> c & 1)
            snprintf(counters + length, sizeof counters - length, "%s%s", length ? ", " : "",
                     wm_counter_metric((enum wm_counter)c));
    }
    if (gmtime_r(&now, &day))
        strftime(date, sizeof date, "%Y-%m-%d", &day);
    status = record_write(run->record, run->options->record, meta, &run->diag);
    return status ? failed(&run->diag, status) : EXIT_SUCCESS;
}

/* Opens all that is needed besides the GPU. */
static int open_rest(struct run *run)
{
    const struct options *options = run->options;
    const struct plan_device *device = wire_device(run->wire);
    enum wm_status status = WM_OK;

    if (options->known)
        status = known_open(options->known, wm_arch_name(run->arch), options->known, &run->known, &run->diag);
    if (!status && options->record)
        status = record_new(device->measures, device->limits.buffer, &run->record);
    run->comparison.known = &run->known;
    run->comparison.mismatch_limit = options->mismatches;
    return status ? failed(&run->diag, status) : EXIT_SUCCESS;
}

int run_live(int argc, char **argv)
{
    struct options options;
    struct run run = {.options = &options};
    int status = parse_options(argc, argv, &options);

    if (status >= 0)
        return status;
    if (!format_is_available(options.format))
        return EXIT_BAD;
    clock_gettime(CLOCK_MONOTONIC, &run.began);
    status = open_gpu(&run);
    if (!status)
        status = open_profile(&run);
    if (!status)
        status = open_rest(&run);
    if (!status)
        status = compare_all(&run);
    if (!status && run.record)
        status = write_record(&run);
    if (!status)
        status = write_report(&run);
    progress_stop();
    plan_batcher_free(run.batcher);
    comparison_free(&run.comparison);
    known_free(&run.known);
    record_free(run.record);
    wm_arch_close(run.arch);
    wire_close(run.wire);
    return status;
}
