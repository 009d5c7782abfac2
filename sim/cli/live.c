/* warpmem validate --live: the model against the GPU in this machine. */
#include "config.h"

#include "agreement.h"
#include "cli.h"
#include "devices.h"
#include "live.h"
#include "message.h"
#include "output.h"
#include "plan.h"
#include "plot.h"
#include "progress.h"
#include "record.h"
#include "timing.h"
#include "validate.h"
#include "wire.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMMAND "validate"

struct run {
    const struct live_options *options;
    struct devices devices;
    struct timespec began;
    struct output *drawing; /* of the plot */
};

/* What goes together. -1: all of it; else the exit status. */
static int check_options(struct live_options *options, int has_device)
{
    int inputs = 0;

    for (int i = 0; i < options->file_count; i++)
        inputs += strcmp(options->files[i], "-") == 0;
    if (options->arch && options->arch_file)
        return usage_error(COMMAND, "--arch and --arch-file exclude each other");
    if (options->buffer_mib % 2)
        return usage_error(COMMAND, "--buffer takes an even number of MiB");
    if (options->random && options->file_count)
        return usage_error(COMMAND, "traces and --random exclude each other");
    if (!options->random && !options->file_count)
        return usage_error(COMMAND, "--live takes traces, or --random");
    if (options->all_devices && has_device)
        return usage_error(COMMAND, "--device and --all-devices exclude each other");
    if (options->all_devices && options->record)
        return usage_error(COMMAND, "--record and --all-devices exclude each other: a record is of one GPU");
    if (inputs > 1 || (inputs && options->all_devices))
        return usage_error(COMMAND, "standard input can be read once only");
    if (options->record && options->random > RECORD_MOST)
        return usage_error(COMMAND, "--record keeps %d accesses at most", RECORD_MOST);
    if (options->plot && !plot_path_is_good(COMMAND, options->plot))
        return EXIT_USAGE;
    options->cycles |= options->plot != NULL;
    return -1;
}

/* -1: go on; else the exit status. */
static int check_files(const struct live_options *options)
{
    static const char *const endings[] = {".wmt", ".csv", ".meta"};
    struct buffer records[3] = {{0}, {0}, {0}};
    struct file_uses uses = {.count = 0};
    int status;

    for (int i = 0; i < options->file_count; i++)
        file_is_read(&uses, options->files[i]);
    file_is_read(&uses, options->known);
    file_is_read(&uses, options->arch_file);
    file_is_written(&uses, NULL);
    if (options->plot)
        file_is_written(&uses, options->plot);
    for (size_t i = 0; options->record && i < 3; i++) {
        buffer_printf(&records[i], "%s%s", options->record, endings[i]);
        if (records[i].failed)
            uses.has_failed = 1;
        else
            file_is_written(&uses, buffer_text(&records[i]));
    }
    status = files_are_apart(COMMAND, &uses);
    for (size_t i = 0; i < 3; i++)
        buffer_free(&records[i]);
    return status;
}

static int parse_options(int argc, char **argv, struct live_options *out)
{
    enum {
        LIVE = 256,
        RANDOM,
        SEED,
        DEVICE,
        ALL_DEVICES,
        BUFFER,
        L1,
        CYCLES_L1,
        PLOT,
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
        {"all-devices", no_argument, NULL, ALL_DEVICES},
        {"buffer", required_argument, NULL, BUFFER},
        {"l1", required_argument, NULL, L1},
        {"cycles-l1", required_argument, NULL, CYCLES_L1},
        {"plot", required_argument, NULL, PLOT},
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
    int option, status, is_good = 1, has_device = 0;

    *out = (struct live_options){.seed = 1, .mismatches = 10, .cycles_l1 = WM_L1_HIT};
    while (is_good && (option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (option) {
        case LIVE: break;
        case RANDOM: is_good = parse_number(COMMAND, "--random", optarg, 1, 1000000000, &out->random); break;
        case SEED: is_good = parse_number(COMMAND, "--seed", optarg, 0, UINT32_MAX, &out->seed); break;
        case DEVICE:
            is_good = parse_number(COMMAND, "--device", optarg, 0, 1000, &out->device);
            has_device = 1;
            break;
        case ALL_DEVICES: out->all_devices = 1; break;
        case L1: is_good = parse_l1(COMMAND, optarg, &out->l1); break;
        case CYCLES_L1:
            is_good = parse_l1(COMMAND, optarg, &out->cycles_l1);
            out->cycles = 1;
            break;
        case PLOT: out->plot = optarg; break;
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
    out->files = argv + optind;
    out->file_count = argc - optind;
    status = check_options(out, has_device);
    return status < 0 ? check_files(out) : status;
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

/* Of the first GPU: all have one compute capability, and one driver. */
static const char *gpu_get(const struct run *run, const char *key)
{
    return wire_get(run->devices.list[0].wire, key);
}

/* The profile: as asked for, or that of the GPU. */
static int open_profile(struct run *run)
{
    const char *capability = gpu_get(run, "compute_capability");
    char name[32] = "sm_";
    size_t length = 3;

    if (run->options->arch || run->options->arch_file)
        return open_arch(COMMAND, run->options->arch, run->options->arch_file, &run->devices.arch);
    for (const char *c = capability ? capability : ""; *c && length + 1 < sizeof name; c++) {
        if (*c != '.')
            name[length++] = *c;
    }
    name[length] = '\0';
    if (wm_arch_open(name, &run->devices.arch, NULL) == WM_OK)
        return EXIT_SUCCESS;
    complain("there is no profile %s for this GPU (%s): choose one that it may be like by --arch, or write one for "
             "--arch-file",
             name, gpu_get(run, "device") ? gpu_get(run, "device") : "?");
    return EXIT_BAD;
}

/* ------------------------------------------------------------------------------------------------------------ results */

static double seconds_since(const struct timespec *began)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - began->tv_sec) + (double)(now.tv_nsec - began->tv_nsec) * 1e-9;
}

static void write_gpus(const struct run *run, struct buffer *out)
{
    buffer_puts(out, " on ");
    for (unsigned i = 0; i < run->devices.count; i++) {
        const char *name = wire_get(run->devices.list[i].wire, "device");

        if (run->options->all_devices)
            buffer_printf(out, "%sGPU %u, ", i ? "; " : "", i);
        table_name(name ? name : "?", out);
    }
}

static void write_head(const struct run *run, struct buffer *out)
{
    struct buffer text = {0};
    const char *driver = gpu_get(run, "driver");

    buffer_printf(&text, "%s (%s): ", wm_arch_name(run->devices.arch), wm_arch_description(run->devices.arch));
    if (run->options->random)
        buffer_printf(&text, "%lu random access%s (seed %lu)", run->options->random,
                      run->options->random == 1 ? "" : "es", run->options->seed);
    for (int i = 0; i < run->options->file_count; i++) {
        buffer_puts(&text, i ? ", " : "");
        table_name(run->options->files[i], &text);
    }
    write_gpus(run, &text);
    if (driver) {
        buffer_puts(&text, ", driver ");
        table_name(driver, &text);
    }
    if (!run->devices.counters_missing)
        buffer_printf(&text, "; loads %s L1", run->options->l1 == WM_L1_HIT ? "hit" : "miss");
    if (run->options->cycles)
        buffer_printf(&text, "; cycles of loads that %s L1", run->devices.cycles_l1 == WM_L1_HIT ? "hit" : "miss");
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

static void write_given_up(const struct device *device, struct buffer *out)
{
    const char *instruction;
    uint32_t counters;

    for (size_t n = 0; plan_given_up(device->batcher, n, &instruction, &counters); n++) {
        if (device->all->options->all_devices)
            buffer_printf(out, "GPU %u: ", device->place);
        buffer_printf(out, "after %d disagreements of", PLAN_MOST_GUILTY);
        for (int c = 0; c < WM_COUNTERS; c++) {
            if (counters >> c & 1)
                buffer_printf(out, " %s", wm_counter_name((enum wm_counter)c));
        }
        buffer_printf(out, ", no more were looked for in sums of %s\n", instruction);
    }
}

/* What was counted, as far as it was. */
static void write_compared(const struct run *run, const struct plan_totals *totals, struct buffer *out)
{
    const struct device *first = &run->devices.list[0];
    const struct comparison *comparison = &first->comparison;

    buffer_printf(out, "\n%llu access%s replayed, ", (unsigned long long)totals->accesses,
                  totals->accesses == 1 ? "" : "es");
    if (run->devices.counters_missing)
        buffer_puts(out, "no hardware counter read");
    else
        buffer_printf(out, "%llu of %llu values agree", (unsigned long long)comparison->agreeing,
                      (unsigned long long)comparison->compared);
    if (comparison->inexact)
        buffer_printf(out, "; not compared: %llu that the model calls approximate",
                      (unsigned long long)comparison->inexact);
    buffer_putc(out, '\n');
    if (first->far)
        buffer_printf(out, "%llu of them have lanes scattered over %llu GiB: tag wavefronts of %llu agree\n",
                      (unsigned long long)first->far,
                      (unsigned long long)(first->plan.limits.buffer_bytes >> 30),
                      (unsigned long long)first->far_agreeing);
}

static void write_launches(const struct plan_totals *totals, double seconds, struct buffer *out)
{
    buffer_printf(out, "%llu launch%s in %.1f s", (unsigned long long)totals->launches,
                  totals->launches == 1 ? "" : "es", seconds);
    if (totals->repeated)
        buffer_printf(out, "; %llu had another sum than predicted and %s measured again in halves",
                      (unsigned long long)totals->repeated, totals->repeated == 1 ? "was" : "were");
    if (totals->unsettled)
        buffer_printf(out, "; of %llu neither half had", (unsigned long long)totals->unsettled);
    buffer_putc(out, '\n');
}

static void write_summary(const struct run *run, double seconds, struct buffer *out)
{
    const struct comparison *comparison = &run->devices.list[0].comparison;
    const struct plan_totals totals = devices_totals(&run->devices);

    write_compared(run, &totals, out);
    write_skipped(&totals, out);
    for (unsigned i = 0; i < run->devices.count; i++)
        write_given_up(&run->devices.list[i], out);
    if (run->devices.counters_missing)
        buffer_printf(out, "%.1f s\n", seconds);
    else
        write_launches(&totals, seconds, out);
    if (comparison->unlisted)
        buffer_printf(out, "%llu value%s disagree%s and %s not known to\n", (unsigned long long)comparison->unlisted,
                      plural(comparison->unlisted), comparison->unlisted == 1 ? "s" : "",
                      comparison->unlisted == 1 ? "is" : "are");
}

static void write_results(struct run *run, struct buffer *out)
{
    const struct device *first = &run->devices.list[0];
    const double seconds = seconds_since(&run->began);

    if (run->options->format != REPORT_TABLE) {
        timing_rows(&first->comparison, &first->timing, run->options->format, out);
        return;
    }
    write_head(run, out);
    if (!run->devices.counters_missing)
        agreement_cells(&first->comparison, out);
    agreement_known(&first->known, out);
    agreement_mismatches(&first->comparison, out);
    timing_table(&first->timing, out);
    write_summary(run, seconds, out);
}

static int write_report(struct run *run)
{
    struct output *output = NULL;
    struct buffer buffer = {0};
    int status = EXIT_BAD;

    if (output_open(NULL, &output) != 0)
        return EXIT_BAD;
    buffer = buffer_into(drain_to_output, output);
    write_results(run, &buffer);
    if (run->drawing)
        output_tie(output, run->drawing);
    if (finish_output(&buffer, output) == 0)
        status = run->devices.list[0].comparison.unlisted ? EXIT_BAD : EXIT_SUCCESS;
    buffer_free(&buffer);
    output_close(output);
    return status;
}

int plot_path_is_good(const char *command, const char *path)
{
    enum drawing_format format;

    if (drawing_format_by_name(path, &format))
        return 1;
    usage_error(command, "'%s' is no picture that --plot writes: .svg, .png or .pdf", path);
    return 0;
}

int plot_can_be_drawn(void)
{
    if (drawing_is_available())
        return 1;
    complain("this build draws no pictures: install cairo (Debian, Ubuntu: apt-get install libcairo2-dev), then run "
             "configure and make again");
    return 0;
}

int save_plot(const struct plot *plot, const char *title, const char *path, struct output **out)
{
    struct buffer buffer = {0};
    enum drawing_format format;
    int result = -1;

    if (!plot->count) {
        complain("%s: there are no cycles to draw", path);
        return -1;
    }
    if (!drawing_format_by_name(path, &format) || output_open(path, out) != 0)
        return -1;
    buffer = buffer_into(drain_to_output, *out);
    plot_draw(plot, title, "cycles per instruction, 32 warps", format, &buffer);
    result = drain_all(&buffer);
    buffer_free(&buffer);
    return result;
}

static int write_plot(struct run *run)
{
    struct buffer title = {0};
    int result;

    buffer_printf(&title, "%s", wm_arch_name(run->devices.arch));
    write_gpus(run, &title);
    result = save_plot(&run->devices.plot, buffer_text(&title), run->options->plot, &run->drawing);
    buffer_free(&title);
    return result == 0 ? EXIT_SUCCESS : EXIT_BAD;
}

/* Where global addresses of the record are. Offsets cost what addresses do where the buffer is aligned to its size, but for
 * what the order in which stores drain takes from the bits above. */
static void describe_addresses(const struct run *run, char *text, size_t size)
{
    if (plan_is_aligned(&run->devices.list[0].plan.limits))
        snprintf(text, size, "global and generic: offsets into a buffer of %s bytes at %s; shared, local, const: offsets",
                 gpu_get(run, "buffer_bytes"), gpu_get(run, "buffer"));
    else
        snprintf(text, size, "global and generic: virtual addresses, in a buffer of %s bytes at %s; shared, local, const: "
                             "offsets",
                 gpu_get(run, "buffer_bytes"), gpu_get(run, "buffer"));
}

static void describe_accesses(const struct live_options *options, char *text, size_t size)
{
    if (options->random)
        snprintf(text, size, "%lu random ones, seed %lu", options->random, options->seed);
    else
        snprintf(text, size, "of %d trace%s", options->file_count, plural((uint64_t)options->file_count));
}

#define METHOD_HEAD                                                                                                    \
    "one launch of one warp per access; lane offsets in the kernel's parameters, so that nothing else touches L1 or "  \
    "shared memory; "
#define METHOD_TAIL                                                                                                    \
    "; of a cp.async also 3 shared wavefronts, of shared loads without active lanes that the compiler puts before it, " \
    "and 1 tag wavefront unless it has no active lanes"

static int write_record(struct run *run)
{
    static const char *const methods[] = {
        [WM_L1_MISS] = METHOD_HEAD "L1 is empty. What a launch of the same kernel without the access counts is "
                                   "subtracted" METHOD_TAIL,
        [WM_L1_HIT] = METHOD_HEAD "loads of a byte of each lane's sector, of local memory of each word, bring the lines "
                                  "into L1 first. What a launch with these loads alone counts is subtracted" METHOD_TAIL
                                  ". L2 counts have no meaning on a hit and are left out",
    };
    const struct device *device = &run->devices.list[0];
    char counters[1024] = "", base[256], date[16] = "", accesses[64];
    const time_t now = time(NULL);
    struct tm day;
    const struct record_meta meta[] = {
        {"device", gpu_get(run, "device")},
        {"compute_capability", gpu_get(run, "compute_capability")},
        {"driver", gpu_get(run, "driver")},
        {"cuda", gpu_get(run, "cuda")},
        {"method", run->devices.counters_missing ? NULL : methods[run->options->l1]},
        {"addresses", base},
        {"counters", run->devices.counters_missing ? NULL : counters},
        {"accesses", accesses},
        {"clocks", "not locked"},
        {"cycles", run->options->cycles ? "clock64, cycles per instruction where 32 warps of one block issue the access back "
                                          "to back, eight of each warp in flight; with 1 warp, each waiting for the one "
                                          "before it"
                                        : NULL},
        {"cycles_l1", run->options->cycles ? gpu_get(run, "cycles_l1") : NULL},
        {"cycles_1_warp", run->options->cycles ? gpu_get(run, "cycles_1_warp") : NULL},
        {"l1", run->options->l1 == WM_L1_HIT ? "hit" : "miss"},
        {"date", date},
        {NULL, NULL},
    };
    struct wm_diag diag;
    enum wm_status status;

    memset(&diag, 0, sizeof diag);
    describe_accesses(run->options, accesses, sizeof accesses);
    describe_addresses(run, base, sizeof base);
    for (int c = 0; c < WM_COUNTERS; c++) {
        const size_t length = strlen(counters);

        if (device->plan.measures >> c & 1)
            snprintf(counters + length, sizeof counters - length, "%s%s", length ? ", " : "",
                     wm_arch_metric(run->devices.arch, (enum wm_counter)c));
    }
    if (gmtime_r(&now, &day))
        strftime(date, sizeof date, "%Y-%m-%d", &day);
    status = record_write(run->devices.record, run->options->record, meta, &diag);
    return status ? failed(&diag, status) : EXIT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------ command */

/* Opens all that is needed. Returns an exit status. */
static int open_all(struct run *run, struct live_options *options)
{
    const struct device *first;
    int status;

    if (!format_is_available(options->format))
        return EXIT_BAD;
    if (options->plot && !plot_can_be_drawn())
        return EXIT_BAD;
    status = devices_open(options, &run->devices);
    if (!status)
        status = open_profile(run);
    if (status)
        return status;
    first = &run->devices.list[0];
    if (run->devices.counters_missing) {
        warn(NULL, "only cycles are compared: %s", run->devices.counters_missing);
        options->cycles = 1;
    }
    if (!options->record)
        return EXIT_SUCCESS;
    if (record_new(first->plan.measures, plan_is_aligned(&first->plan.limits) ? first->plan.limits.buffer : 0,
                   &run->devices.record) == WM_OK)
        return EXIT_SUCCESS;
    complain("%s", wm_status_text(WM_E_MEMORY));
    return EXIT_BAD;
}

int run_live(int argc, char **argv)
{
    struct live_options options;
    struct run run = {.options = &options};
    int status = parse_options(argc, argv, &options);

    if (status >= 0)
        return status;
    clock_gettime(CLOCK_MONOTONIC, &run.began);
    status = open_all(&run, &options);
    if (!status)
        status = devices_compare(&run.devices);
    if (!status && options.record)
        status = write_record(&run);
    if (!status && options.plot)
        status = write_plot(&run);
    if (!status)
        status = write_report(&run);
    progress_stop();
    output_close(run.drawing);
    devices_close(&run.devices);
    return status;
}
