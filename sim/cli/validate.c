/* warpmem validate: recorded hardware counters against the model. */
#include "config.h"

#include "validate.h"

#include "agreement.h"
#include "cli.h"
#include "live.h"
#include "message.h"
#include "output.h"
#include "plot.h"
#include "progress.h"
#include "timing.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COMMAND "validate"

const char validate_help[] =
    "Usage: warpmem validate [OPTION]... MEASURED.csv TRACE\n"
    "       warpmem validate [OPTION]... SUMS.csv\n"
    "       warpmem validate --live [OPTION]... TRACE...\n"
    "       warpmem validate --live [OPTION]... --random N\n"
    "Compare recorded hardware counters with the model. Record k of MEASURED.csv belongs to access k of the trace; "
    "its\n"
    "columns are named as those of `warpmem sim --by access'. A file whose first column is `trace' holds sums over "
    "whole\n"
    "kernels instead: a trace's path, from the file's own folder, then ld_sectors, shared_st_wavefronts and so on.\n"
    "The exit status is 1 if there is a disagreement that is not in the list of known ones, or one that is listed but\n"
    "gone.\n"
    "With --live, what the GPU in this machine counts, by warpmem-replay: many accesses to a launch, whose sums are\n"
    "compared; where one differs, its halves again, down to the access.\n"
    "\n"
    "  --known FILE       the list of known disagreements (default: the nearest known-mismatches.csv in the\n"
    "                     measurement's folder or one above it)\n"
    "  --mismatches N     disagreements to show (default: 10)\n"
    "  --format FORMAT    table, csv or json (default: table)\n"
    "  --arch NAME        the GPU (default: the one that MEASURED.meta names, or else sm_90)\n"
    "  --arch-file FILE   the GPU, from a profile of your own\n"
    "  --l1 miss|hit      what loads met in L1 (default: what MEASURED.meta says, or else miss); with --live, hit brings\n"
    "                     their lines there first\n"
    "  --plot FILE        draw predicted against measured cycles, to a .svg, .png or .pdf; with --live includes --cycles\n"
    "  --help             this text\n"
    "With --live:\n"
    "  --live             compare with the GPU in this machine\n"
    "  --random N         N random accesses instead of a trace's\n"
    "  --seed S           another choice of them (default: 1)\n"
    "  --alone            a launch for each access\n"
    "  --record NAME      write NAME.wmt, NAME.csv and NAME.meta, as above MEASURED; includes --alone\n"
    "  --cycles           cycles per instruction too; they alone where hardware counters are not permitted\n"
    "  --cycles-l1 miss|hit   whether timed loads are each on lines of their own, or (default) on the same; includes --cycles\n"
    "  --device N         the GPU, by number (default: 0)\n"
    "  --all-devices      all GPUs of the machine, each with a share of the accesses\n"
    "  --buffer MIB       the memory that global accesses are moved into (default: 4096, or what fits); with more than\n"
    "                     that, random accesses are scattered over all of it\n"
    "\n"
    "Example: the recorded measurements of an H200 that come with warpmem:\n"
    "  cd traces/hardware/sm_90 && warpmem validate h200-random.csv h200-random.wmt\n"
    "Example: your own GPU:\n"
    "  warpmem validate --live --random 1000000\n";

struct options {
    const char *known;
    unsigned long mismatches;
    enum report_format format;
    const char *arch;
    const char *arch_file;
    enum wm_l1 l1;
    int has_l1;
    const char *plot;
    const char *csv;
    const char *trace; /* NULL: sums */
};

struct run {
    const struct options *options;
    struct csv_source *source; /* until somebody takes it over */
    struct meta *meta;
    wm_arch *arch;
    enum wm_l1 l1;
    enum wm_l1 cycles_l1; /* what they met where cycles were taken */
    struct beside beside;
    struct known_list known;
    struct timing timing;
    struct plot plot;
    struct output *output;
    struct output *drawing; /* of the plot */
    struct buffer buffer;
    struct wm_diag diag;
    int has_failed; /* something does not agree */
    int has_warned; /* that SHA-256 cannot be checked */
};

/* -1: go on; else the exit status. */
static int check_files(const struct options *options)
{
    struct file_uses uses = {.count = 0};

    file_is_read(&uses, options->csv);
    file_is_read(&uses, options->trace);
    file_is_read(&uses, options->known);
    file_is_read(&uses, options->arch_file);
    file_is_written(&uses, NULL);
    if (options->plot)
        file_is_written(&uses, options->plot);
    return files_are_apart(COMMAND, &uses);
}

static int parse_options(int argc, char **argv, struct options *out)
{
    enum {
        OPTION_KNOWN = 256,
        OPTION_MISMATCHES,
        OPTION_FORMAT,
        OPTION_ARCH,
        OPTION_ARCH_FILE,
        OPTION_L1,
        OPTION_PLOT,
        OPTION_HELP
    };
    static const struct option names[] = {
        {"known", required_argument, NULL, OPTION_KNOWN},
        {"mismatches", required_argument, NULL, OPTION_MISMATCHES},
        {"format", required_argument, NULL, OPTION_FORMAT},
        {"arch", required_argument, NULL, OPTION_ARCH},
        {"arch-file", required_argument, NULL, OPTION_ARCH_FILE},
        {"l1", required_argument, NULL, OPTION_L1},
        {"plot", required_argument, NULL, OPTION_PLOT},
        {"help", no_argument, NULL, OPTION_HELP},
        {NULL, 0, NULL, 0},
    };
    int option, is_good = 1;

    *out = (struct options){.mismatches = 10};
    while (is_good && (option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (option) {
        case OPTION_KNOWN: out->known = optarg; break;
        case OPTION_MISMATCHES:
            is_good = parse_number(COMMAND, "--mismatches", optarg, 0, 100000, &out->mismatches);
            break;
        case OPTION_FORMAT: is_good = parse_format(COMMAND, optarg, &out->format); break;
        case OPTION_ARCH: out->arch = optarg; break;
        case OPTION_ARCH_FILE: out->arch_file = optarg; break;
        case OPTION_L1:
            is_good = parse_l1(COMMAND, optarg, &out->l1);
            out->has_l1 = 1;
            break;
        case OPTION_PLOT: out->plot = optarg; break;
        case OPTION_HELP: return print_help(validate_help);
        default: return usage_hint(COMMAND);
        }
    }
    if (!is_good)
        return EXIT_USAGE;
    if (out->arch && out->arch_file)
        return usage_error(COMMAND, "--arch and --arch-file exclude each other");
    if (out->plot && !plot_path_is_good(COMMAND, out->plot))
        return EXIT_USAGE;
    if (optind == argc)
        return usage_error(COMMAND, "a measurement is missing");
    if (argc - optind > 2)
        return usage_error(COMMAND, "'%s' is too many: one measurement, one trace", argv[optind + 2]);
    out->csv = argv[optind];
    out->trace = argc - optind == 2 ? argv[optind + 1] : NULL;
    return check_files(out);
}

/* ------------------------------------------------------------------------------------------------- what is known of it */

/* "9.0" becomes sm_90. 0: it is no compute capability. */
static int arch_of_capability(const char *text, char name[16])
{
    char *end;
    unsigned long major = strtoul(text, &end, 10);
    unsigned long minor;

    if (*text < '0' || *text > '9' || *end != '.' || end[1] < '0' || end[1] > '9')
        return 0;
    minor = strtoul(end + 1, &end, 10);
    if (*end || major > 99 || minor > 9)
        return 0;
    snprintf(name, 16, "sm_%lu%lu", major, minor);
    return 1;
}

/* The profile: as asked for, or as the measurement says. Returns an exit status. */
static int find_arch(struct run *run)
{
    const struct options *options = run->options;
    const char *capability = meta_get(run->meta, "compute_capability");
    char name[16];

    if (options->arch || options->arch_file || !capability)
        return open_arch(COMMAND, options->arch, options->arch_file, &run->arch);
    if (!arch_of_capability(capability, name)) {
        validate_refuse(&run->diag, WM_E_SYNTAX, meta_path(run->meta), 0, 0,
                        "compute_capability is '%s', expected a number such as 9.0", capability);
    } else if (wm_arch_open(name, &run->arch, NULL) == WM_E_NAME) {
        validate_refuse(&run->diag, WM_E_NAME, meta_path(run->meta), 0, 0,
                        "there is no profile %s for compute capability %s", name, capability);
    } else {
        return run->arch ? EXIT_SUCCESS : open_arch(COMMAND, name, NULL, &run->arch);
    }
    complain_about(&run->diag);
    return EXIT_BAD;
}

/* A key of the meta file that says what loads met in L1. 0: it says something else. */
static int find_l1(struct run *run, const char *key, enum wm_l1 *out)
{
    const char *text = meta_get(run->meta, key);

    if (!text)
        return 1;
    *out = strcmp(text, "hit") == 0 ? WM_L1_HIT : WM_L1_MISS;
    if (strcmp(text, "hit") == 0 || strcmp(text, "miss") == 0)
        return 1;
    validate_refuse(&run->diag, WM_E_SYNTAX, meta_path(run->meta), 0, 0, "%s is '%s', expected miss or hit", key, text);
    complain_about(&run->diag);
    return 0;
}

/* An access that is repeated for a while hits L1, unless the meta file says that care was taken. */
static int find_both_l1(struct run *run)
{
    run->l1 = run->options->l1;
    run->cycles_l1 = WM_L1_HIT;
    return (run->options->has_l1 || find_l1(run, "l1", &run->l1)) && find_l1(run, "cycles_l1", &run->cycles_l1);
}

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Whether the trace is the one that was measured, as far as the meta file says; key is where it does. */
static int check_trace(struct run *run, const char *trace, const char *key)
{
    const char *expected = meta_get(run->meta, key);
    char text[SHA256_TEXT_SIZE];
    struct wm_diag diag;
    enum wm_status status;

    if (!expected || strcmp(trace, "-") == 0)
        return 1;
    status = sha256_file(trace, text, &diag);
    if (status == WM_E_UNSUPPORTED) {
        if (!run->has_warned)
            warn(meta_path(run->meta), "its SHA-256 is not compared: %s", diag.text);
        run->has_warned = 1;
        return 1;
    }
    if (status) {
        complain_about(&diag);
        return 0;
    }
    if (strcasecmp(text, expected) == 0)
        return 1;
    validate_refuse(&diag, WM_E_ARGUMENT, trace, 0, 0,
                    "this is not the trace that was measured: its SHA-256 is %s, %s says %s", text,
                    meta_path(run->meta), expected);
    complain_about(&diag);
    return 0;
}

/* Entries of the known list that do not hold, each with its line. */
static void judge_known(struct run *run)
{
    for (size_t i = 0; i < run->known.count; i++) {
        const struct known *entry = &run->known.entries[i];
        const char *failure = known_failure(entry);
        struct wm_diag diag;

        if (!failure)
            continue;
        run->has_failed = 1;
        validate_refuse(&diag, WM_E_ARGUMENT, run->known.path, entry->line, 0, "%s %s%s%s: %s", entry->opcode,
                        entry->counter, *entry->index ? " of " : "", entry->index, failure);
        complain_about(&diag);
    }
}

static void write_head(struct run *run)
{
    struct buffer text = {0};

    buffer_printf(&text, "%s (%s): ", wm_arch_name(run->arch), wm_arch_description(run->arch));
    table_name(run->options->csv, &text);
    if (run->options->trace) {
        buffer_puts(&text, " against ");
        table_name(run->options->trace, &text);
    }
    if (meta_get(run->meta, "device")) {
        buffer_puts(&text, ", measured on ");
        table_name(meta_get(run->meta, "device"), &text);
    }
    table_wrapped(buffer_text(&text), 0, 4, &run->buffer);
    if (text.failed)
        run->buffer.failed = text.failed;
    buffer_free(&text);
}

/* --------------------------------------------------------------------------------------------------- single accesses */

/* Whether a column of cycles is compared: one warp's only where it is the time until a result can be used. */
static int is_timing(const struct run *run, const char *column)
{
    const char *meaning = meta_get(run->meta, "cycles_1_warp");

    return strcmp(column, "cycles_32_warps") == 0 ||
           (strcmp(column, "cycles_1_warp") == 0 && meaning && strcmp(meaning, "latency") == 0);
}

static void write_summary(const struct run *run, const struct measurement *measurement,
                          const struct comparison *comparison, struct buffer *out)
{
    int is_first = !comparison->inexact;
    const char *name;

    buffer_printf(out, "\n%llu records, %llu of %llu values agree", (unsigned long long)comparison->records,
                  (unsigned long long)comparison->agreeing, (unsigned long long)comparison->compared);
    if (comparison->inexact)
        buffer_printf(out, "; not compared: %llu that the model calls approximate",
                      (unsigned long long)comparison->inexact);
    for (size_t i = 0; (name = measurement_cycles(measurement, i)) != NULL; i++) {
        if (is_timing(run, name))
            continue;
        buffer_printf(out, "%s%s", is_first ? "; not compared: " : ", ", name);
        is_first = 0;
    }
    buffer_putc(out, '\n');
}

static int opening_failed(const struct run *run, const char *path)
{
    if (run->diag.file[0])
        complain_about(&run->diag);
    else
        complain("%s: %s", path, run->diag.text);
    return -1;
}

static enum wm_status add_to_plot(struct run *run, const struct wm_access *access, const struct wm_counts *counts,
                                  double measured)
{
    struct wm_cycles cycles;
    enum wm_status status = wm_cycles(run->arch, access, counts, &cycles);

    if (status || !(measured > 0))
        return status;
    return plot_add(&run->plot, access, cycles.throughput, measured) ? WM_OK : WM_E_MEMORY;
}

/* Cycles are taken of a run of equal accesses: counts as these have them. */
static enum wm_status compare_cycles(struct run *run, const struct wm_access *access, const struct measured *measured)
{
    const double one_warp = is_timing(run, "cycles_1_warp") ? measured->one_warp : 0;
    struct wm_access timed = *access;
    struct wm_counts counts;
    enum wm_status status;

    if (!(one_warp > 0) && !(measured->full_block > 0))
        return WM_OK;
    timed.l1 = run->cycles_l1;
    status = wm_model(run->arch, &timed, &counts);
    if (!status)
        status = timing_add_access(&run->timing, run->arch, &timed, &counts, one_warp, measured->full_block);
    return status || !run->options->plot ? status : add_to_plot(run, &timed, &counts, measured->full_block);
}

/* One access of the trace and its record. 0: done; -1: it failed, and why has been said. */
static int compare_access(struct run *run, const wm_reader *reader, struct measurement *measurement, uint64_t index,
                          const struct wm_access *access, struct comparison *comparison)
{
    struct wm_counts counts;
    struct measured measured;
    enum wm_status status = wm_model(run->arch, access, &counts);

    if (status) {
        validate_refuse(&run->diag, status, "", 0, 0, "%s", wm_status_text(status));
        wm_reader_place(reader, &run->diag);
        wm_access_check(run->arch, access, &run->diag);
        return opening_failed(run, run->options->trace);
    }
    status = measurement_next(measurement, index, access, &measured, &run->diag);
    if (status == WM_END)
        validate_refuse(&run->diag, status, run->options->csv, 0, 0, "there is no record for access %llu of %s",
                        (unsigned long long)index, run->options->trace);
    if (!status)
        status = beside_subtract(&run->beside, index, &access->opcode, &measured, run->options->csv, &run->diag);
    if (!status)
        status = comparison_add(comparison, index, access, &counts, &measured);
    if (!status)
        status = compare_cycles(run, access, &measured);
    if (!status)
        return 0;
    if (status == WM_E_MEMORY)
        validate_refuse(&run->diag, status, "", 0, 0, "%s", wm_status_text(status));
    return opening_failed(run, run->options->csv);
}

/* Reads trace and measurement side by side. */
static int compare_all(struct run *run, struct measurement *measurement, struct comparison *comparison)
{
    const struct wm_reader_options reading = {.l1 = run->l1};
    const char *path = run->options->trace;
    struct wm_reader_notes notes;
    struct wm_access access;
    wm_reader *reader = NULL;
    uint64_t index = 0, consumed, total;
    enum wm_status status;
    int result = -1;

    memset(&run->diag, 0, sizeof run->diag);
    status = wm_reader_open(path, &reading, &reader, &run->diag);
    while (!status && (status = wm_reader_next(reader, &access, &run->diag)) == WM_OK) {
        if (compare_access(run, reader, measurement, index, &access, comparison) != 0)
            goto done;
        if (index++ % 16384 == 0) {
            wm_reader_progress(reader, &consumed, &total);
            progress_update(path, 0, 1, consumed, total);
        }
    }
    if (status != WM_END) {
        opening_failed(run, path);
        goto done;
    }
    wm_reader_notes(reader, &notes);
    warn_notes(path, &notes);
    if (measurement_end(measurement, index, &run->diag) == WM_OK)
        result = 0;
    else
        opening_failed(run, run->options->csv);
done:
    wm_reader_close(reader);
    return result;
}

static int validate_accesses(struct run *run)
{
    const struct options *options = run->options;
    struct comparison comparison = {.known = &run->known, .mismatch_limit = options->mismatches};
    struct measurement *measurement = NULL;
    struct csv_source *source = run->source;
    const char *name;
    int result = -1;

    run->source = NULL;
    if (measurement_new(source, &measurement, &run->diag) != WM_OK)
        return opening_failed(run, options->csv);
    for (size_t i = 0; (name = measurement_unknown(measurement, i)) != NULL; i++)
        warn(options->csv, "column %s is not known: ignored", name);
    if (!check_trace(run, options->trace, "trace_sha256"))
        goto done;
    progress_start();
    if (compare_all(run, measurement, &comparison) != 0)
        goto done;
    progress_stop();
    if (comparison.unlisted)
        run->has_failed = 1;
    if (options->format == REPORT_TABLE) {
        write_head(run);
        agreement_cells(&comparison, &run->buffer);
        agreement_known(&run->known, &run->buffer);
        agreement_mismatches(&comparison, &run->buffer);
        timing_table(&run->timing, &run->buffer);
        write_summary(run, measurement, &comparison, &run->buffer);
    } else {
        timing_rows(&comparison, &run->timing, options->format, &run->buffer);
    }
    result = 0;
done:
    measurement_free(measurement);
    comparison_free(&comparison);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------ sums */

struct sum {
    struct sum_column column;
    size_t field; /* its place in the file */
    uint64_t value;
};

struct sums {
    struct sum *list;
    size_t count;
    uint64_t compared;
    uint64_t agreeing;
    int is_first;
    struct buffer table;      /* a line for each trace */
    struct buffer mismatches; /* a line for each disagreement that is not listed */
    uint64_t unlisted;
};

/* The columns that can be compared; the others are named. */
static int find_sums(struct run *run, struct sums *out)
{
    size_t columns = csv_columns(run->source);

    out->list = calloc(columns, sizeof *out->list);
    if (!out->list) {
        complain("out of memory");
        return 0;
    }
    for (size_t i = 1; i < columns; i++) {
        const char *name = csv_column_name(run->source, i);
        struct sum *sum = &out->list[out->count];

        sum->field = i;
        if (sum_column_parse(name, &sum->column))
            out->count++;
        else
            warn(run->options->csv, "column %s is not known: ignored", name);
    }
    if (out->count)
        return 1;
    csv_refuse(run->source, 0, WM_E_SYNTAX, &run->diag,
               "no column has the name of a sum (ld_sectors, shared_st_wavefronts, bank_conflicts, ...)");
    complain_about(&run->diag);
    return 0;
}

static int add_access(struct run *run, const wm_reader *reader, const char *path, const struct wm_access *access,
                      struct sums *sums)
{
    struct wm_counts counts;
    enum wm_status status = wm_model(run->arch, access, &counts);

    for (size_t i = 0; !status && i < sums->count; i++) {
        if (!sum_column_add(&sums->list[i].column, access, &counts, &sums->list[i].value))
            status = WM_E_RANGE;
    }
    if (!status)
        return 0;
    validate_refuse(&run->diag, status, "", 0, 0, "%s",
                    status == WM_E_RANGE ? "a sum is above 2^64 - 1" : wm_status_text(status));
    wm_reader_place(reader, &run->diag);
    wm_access_check(run->arch, access, &run->diag);
    return opening_failed(run, path);
}

static int add_trace(struct run *run, const char *path, struct sums *sums)
{
    const struct wm_reader_options reading = {.l1 = run->l1};
    struct wm_reader_notes notes;
    struct wm_access access;
    wm_reader *reader = NULL;
    enum wm_status status;
    int result = -1;

    for (size_t i = 0; i < sums->count; i++)
        sums->list[i].value = 0;
    memset(&run->diag, 0, sizeof run->diag);
    status = wm_reader_open(path, &reading, &reader, &run->diag);
    while (!status && (status = wm_reader_next(reader, &access, &run->diag)) == WM_OK) {
        if (add_access(run, reader, path, &access, sums) != 0)
            goto done;
    }
    if (status != WM_END) {
        opening_failed(run, path);
        goto done;
    }
    wm_reader_notes(reader, &notes);
    warn_notes(path, &notes);
    result = 0;
done:
    wm_reader_close(reader);
    return result;
}

/* A trace's path, from the folder of the file that names it. To be freed. */
static char *trace_path(const char *csv, const char *name)
{
    size_t folder = *name == '/' ? 0 : (size_t)(last_component(csv) - csv);
    char *path = malloc(folder + strlen(name) + 1);

    if (path) {
        memcpy(path, csv, folder);
        strcpy(path + folder, name);
    }
    return path;
}

/* "gemm-f32.wmt" is gemm-f32 in the known list and in the meta file. */
static char *short_name(const char *name)
{
    const char *end = strchr(last_component(name), '.');

    return end && end != last_component(name) ? strndup(name, (size_t)(end - name)) : strdup(name);
}

static void sum_row(const struct run *run, const char *trace, const struct sum *sum, uint64_t measured,
                    const char *state, int is_first, struct buffer *out)
{
    struct json_line *line;

    if (run->options->format == REPORT_CSV) {
        csv_field(trace, out);
        buffer_printf(out, ",%s,%llu,%llu,%s\n", sum->column.name, (unsigned long long)sum->value,
                      (unsigned long long)measured, state);
        return;
    }
    line = json_line_new();
    if (!line) {
        out->failed = BUFFER_NO_MEMORY;
        return;
    }
    json_line_text(line, "trace", trace);
    json_line_text(line, "counter", sum->column.name);
    json_line_number(line, "predicted", sum->value);
    json_line_number(line, "measured", measured);
    json_line_text(line, "state", state);
    json_line_dump(line, is_first, out);
    json_line_free(line);
}

/* Compares one trace's sums with its record. */
static int compare_sums(struct run *run, const char *trace, const char *name, struct sums *sums)
{
    uint64_t compared = 0, agreeing = 0;

    for (size_t i = 0; i < sums->count; i++) {
        const struct sum *sum = &sums->list[i];
        const char *state = "agrees";
        uint64_t measured;
        enum wm_status status = csv_number(run->source, sum->field, &measured, &run->diag);
        int agrees, is_listed;

        if (status == WM_END)
            continue;
        if (status)
            return opening_failed(run, run->options->csv);
        agrees = measured == sum->value;
        is_listed = known_note(&run->known, "", sum->column.name, name, agrees);
        compared++;
        agreeing += (uint64_t)agrees;
        if (!agrees && is_listed) {
            state = "known";
        } else if (!agrees) {
            state = "disagrees";
            sums->unlisted++;
            if (sums->unlisted <= run->options->mismatches)
                buffer_printf(&sums->mismatches, "  %s: %s: model %llu, measured %llu\n", trace, sum->column.name,
                              (unsigned long long)sum->value, (unsigned long long)measured);
        }
        if (run->options->format != REPORT_TABLE) {
            sum_row(run, trace, sum, measured, state, sums->is_first, &run->buffer);
            sums->is_first = 0;
        }
    }
    buffer_printf(&sums->table, "%10llu/%llu  ", (unsigned long long)agreeing, (unsigned long long)compared);
    table_name(trace, &sums->table);
    buffer_putc(&sums->table, '\n');
    sums->compared += compared;
    sums->agreeing += agreeing;
    return 0;
}

/* One record: a trace and its counters. */
static int validate_record(struct run *run, struct sums *sums)
{
    const char *trace = csv_field_at(run->source, 0);
    char *path = trace_path(run->options->csv, trace);
    char *name = short_name(trace);
    struct buffer key = {0};
    int result = -1;

    if (!path || !name) {
        complain("out of memory");
    } else if (!*trace) {
        csv_refuse(run->source, 0, WM_E_SYNTAX, &run->diag, "expected the path of a trace");
        opening_failed(run, run->options->csv);
    } else {
        buffer_printf(&key, "trace_sha256.%s", name);
        if (check_trace(run, path, buffer_text(&key)) && add_trace(run, path, sums) == 0)
            result = compare_sums(run, trace, name, sums);
    }
    buffer_free(&key);
    free(path);
    free(name);
    return result;
}

static void write_sums(struct run *run, struct sums *sums)
{
    struct buffer *out = &run->buffer;

    write_head(run);
    buffer_puts(out, "\nagreeing/compared, sums over each trace\n");
    buffer_add(out, sums->table.data, sums->table.length);
    agreement_known(&run->known, &run->buffer);
    if (sums->unlisted) {
        buffer_printf(out, "\n%llu disagreement%s not listed", (unsigned long long)sums->unlisted,
                      plural(sums->unlisted));
        if (run->options->mismatches && sums->unlisted > run->options->mismatches)
            buffer_printf(out, ", the first %lu of them", run->options->mismatches);
        buffer_putc(out, '\n');
        buffer_add(out, sums->mismatches.data, sums->mismatches.length);
    }
    buffer_printf(out, "\n%llu of %llu sums agree\n", (unsigned long long)sums->agreeing,
                  (unsigned long long)sums->compared);
}

static int validate_sums(struct run *run)
{
    struct sums sums = {.is_first = 1};
    enum report_format format = run->options->format;
    enum wm_status status = WM_OK;
    int result = -1;

    if (!find_sums(run, &sums))
        goto done;
    if (format == REPORT_CSV)
        buffer_puts(&run->buffer, "trace,counter,predicted,measured,state\n");
    else if (format == REPORT_JSON)
        json_array_begin(&run->buffer);
    while ((status = csv_next(run->source, &run->diag)) == WM_OK) {
        if (validate_record(run, &sums) != 0)
            goto done;
    }
    if (status != WM_END) {
        opening_failed(run, run->options->csv);
        goto done;
    }
    if (sums.unlisted)
        run->has_failed = 1;
    if (format == REPORT_TABLE)
        write_sums(run, &sums);
    else if (format == REPORT_JSON)
        json_array_end(sums.is_first, &run->buffer);
    if (sums.table.failed || sums.mismatches.failed)
        run->buffer.failed = BUFFER_NO_MEMORY;
    result = 0;
done:
    buffer_free(&sums.table);
    buffer_free(&sums.mismatches);
    free(sums.list);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------- command */

/* A misspelt key would change nothing, and nobody would know. */
static void warn_keys(const struct run *run)
{
    const char *key;
    uint64_t line;

    for (size_t i = 0; (key = meta_unknown(run->meta, i, &line)) != NULL; i++)
        warn(meta_path(run->meta), "line %llu: key %s is not known: ignored", (unsigned long long)line, key);
}

/* Opens all that is needed. Returns an exit status. */
static int open_all(struct run *run)
{
    const struct options *options = run->options;
    int status;

    if (csv_open(options->csv, &run->source, &run->diag) != WM_OK ||
        meta_open(options->csv, &run->meta, &run->diag) != WM_OK ||
        beside_read(run->meta, &run->beside, &run->diag) != WM_OK) {
        opening_failed(run, options->csv);
        return EXIT_BAD;
    }
    warn_keys(run);
    status = find_arch(run);
    if (status)
        return status;
    if (known_open(options->known, wm_arch_name(run->arch), options->csv, &run->known, &run->diag) != WM_OK) {
        opening_failed(run, options->csv);
        return EXIT_BAD;
    }
    if (options->plot && !plot_can_be_drawn())
        return EXIT_BAD;
    if (!find_both_l1(run) || !format_is_available(options->format) || output_open(NULL, &run->output) != 0)
        return EXIT_BAD;
    run->buffer = buffer_into(drain_to_output, run->output);
    return EXIT_SUCCESS;
}

static int write_plot(struct run *run)
{
    struct buffer title = {0};
    int result;

    buffer_printf(&title, "%s: ", wm_arch_name(run->arch));
    table_name(last_component(run->options->csv), &title);
    if (meta_get(run->meta, "device")) {
        buffer_puts(&title, ", measured on ");
        table_name(meta_get(run->meta, "device"), &title);
    }
    result = save_plot(&run->plot, buffer_text(&title), run->options->plot, &run->drawing);
    buffer_free(&title);
    return result;
}

/* Returns an exit status. */
static int validate(struct run *run)
{
    int is_sums = strcmp(csv_column_name(run->source, 0), "trace") == 0;

    if (is_sums && run->options->trace)
        return usage_error(COMMAND, "%s names its traces: '%s' is too many", run->options->csv, run->options->trace);
    if (!is_sums && !run->options->trace)
        return usage_error(COMMAND, "the trace of %s is missing", run->options->csv);
    if (is_sums && run->options->plot)
        return usage_error(COMMAND, "%s holds sums: --plot draws cycles of single accesses", run->options->csv);
    if (is_sums ? validate_sums(run) : validate_accesses(run))
        return EXIT_BAD;
    if (run->options->plot && write_plot(run) != 0)
        return EXIT_BAD;
    if (run->drawing)
        output_tie(run->output, run->drawing);
    if (finish_output(&run->buffer, run->output) != 0)
        return EXIT_BAD;
    judge_known(run);
    return run->has_failed ? EXIT_BAD : EXIT_SUCCESS;
}

int run_validate(int argc, char **argv)
{
    struct options options;
    struct run run = {.options = &options};
    int status;

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--live") == 0)
            return run_live(argc, argv);
    }
    status = parse_options(argc, argv, &options);
    if (status >= 0)
        return status;
    status = open_all(&run);
    if (status == EXIT_SUCCESS)
        status = validate(&run);
    progress_stop();
    buffer_free(&run.buffer);
    output_close(run.output);
    output_close(run.drawing);
    known_free(&run.known);
    timing_free(&run.timing);
    plot_free(&run.plot);
    wm_arch_close(run.arch);
    meta_free(run.meta);
    csv_close(run.source);
    return status;
}
