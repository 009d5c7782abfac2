/* warpmem sim: traces in, costs out. */
#include "config.h"

#include "cli.h"
#include "html.h"
#include "launch.h"
#include "message.h"
#include "output.h"
#include "pipeline.h"
#include "progress.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define COMMAND "sim"

/* More workers than this are used only if asked for: each holds a mebibyte of trace and its results. */
#define MOST_DEFAULT_WORKERS 16

static const char help[] =
    "Usage: warpmem sim [OPTION]... FILE...\n"
    "Simulate traces of warp memory instructions, in order, as one; FILE '-' is standard input.\n"
    "Text traces, Accel-Sim traces (.traceg, kernelslist.g) and the output of NVBit's mem_trace are told apart by\n"
    "content, as are gzip, xz and zstd. The source of a CUDA C kernel (FILE.cu) is run on the CPU, and its accesses are\n"
    "simulated: no GPU and no compiler are needed.\n"
    "\n"
    "  --by GROUP         a row for each kernel, line, pc, opcode or access (default: line, which is the source\n"
    "                     line; the pc where no line is known; the opcode where neither is)\n"
    "  --format FORMAT    table, csv or json (default: table)\n"
    "  --arch NAME        the GPU: sm_70, sm_75, sm_80 (A100), sm_86, sm_89, sm_90 (H100, H200), sm_100, sm_120\n"
    "                     (default: sm_90, the one whose counters this model was checked against)\n"
    "  --arch-file FILE   the GPU, from a profile of your own; `warpmem archs NAME' shows what is in one\n"
    "  --kernel REGEX     only kernels whose name matches the POSIX extended regular expression; of a source: the\n"
    "                     kernel to run, or an instance of a template, such as 'copy<float4,8>'\n"
    "  --l1 miss|hit      what the lines of loads meet in L1 (default: miss); makes lsu_wavefronts differ\n"
    "  -o, --output FILE  write there instead of to standard output; nothing is written unless all goes well\n"
    "  --report FILE.html  besides, write a page for a browser: lines sorted by wasted cycles, the source with a bar for\n"
    "                     each line, pictures of the worst accesses; by line, whatever --by says\n"
    "  -j, --jobs N       threads (default: one for each processor); the output is the same for every N\n"
    "  --help             this text\n"
    "\n" LAUNCH_HELP
    "\n"
    "Example: a kernel, line by line:\n"
    "  warpmem sim traces/kernels/transpose.cu --kernel transpose_shared --grid 32,32 --block 32,8 \\\n"
    "      --arg width=1024 --arg height=1024\n"
    "Example: the same as a page for a browser:\n"
    "  warpmem sim traces/kernels/transpose.cu --kernel transpose_shared --grid 32,32 --block 32,8 \\\n"
    "      --arg width=1024 --arg height=1024 --report transpose.html\n"
    "Example: which lines of a program waste memory transactions on an A100, and why:\n"
    "  warpmem sim --arch sm_80 --kernel naive traces/transpose.wmt\n"
    "Example: all counters of each access, for a spreadsheet:\n"
    "  warpmem sim --by access --format csv -o accesses.csv traces/transpose.wmt\n";

/* What --by takes; the first four are enum wm_by. */
enum { BY_ACCESS = 4 };
static const char *const by_names[] = {"kernel", "line", "pc", "opcode", "access"};

struct options {
    int by;
    enum report_format format;
    const char *arch;
    const char *arch_file;
    const char *kernel;
    enum wm_l1 l1;
    const char *output;
    const char *report; /* NULL: no page is wanted */
    unsigned long jobs;
    struct launch_options launch;
    char *const *files;
    size_t file_count;
};

/* All that has to be given back. */
struct run {
    const struct options *options;
    wm_arch *arch;
    regex_t kernel;
    int has_kernel;
    struct output *output;
    struct buffer buffer;
    wm_tally *groups;  /* the report's rows; NULL by access */
    wm_tally *opcodes; /* for a table's notes and totals, where the groups have no opcode of their own; and for the page,
                          where they are not by line */
    enum wm_by opcodes_by;
    struct output *page;
    struct buffer page_buffer;
    struct buffer remarks;
};

static unsigned long processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    if (n < 1)
        return 1;
    return n > MOST_DEFAULT_WORKERS ? MOST_DEFAULT_WORKERS : (unsigned long)n;
}

static int parse_by(const char *text, int *out)
{
    for (int i = 0; i <= BY_ACCESS; i++) {
        if (strcmp(text, by_names[i]) == 0) {
            *out = i;
            return 1;
        }
    }
    usage_error(COMMAND, "there is no grouping '%s': --by takes kernel, line, pc, opcode or access", text);
    return 0;
}

/* Whether a name says that a file is something else than a page. */
static int is_other_format(const char *path)
{
    static const char *const endings[] = {".pdf", ".svg", ".png", ".csv", ".json"};
    const size_t length = strlen(path);

    for (unsigned i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t size = strlen(endings[i]);

        if (length >= size && strcasecmp(path + length - size, endings[i]) == 0)
            return 1;
    }
    return 0;
}

/* Whether the page and the other results go to different places, as they are spelt. */
static int is_own_file(const struct options *options)
{
    return strcmp(options->report, options->output ? options->output : "-") != 0;
}

/* -1: go on; else the exit status. */
static int check_files(const struct options *options)
{
    struct file_uses uses = {.count = 0};

    for (size_t i = 0; i < options->file_count; i++)
        file_is_read(&uses, options->files[i]);
    file_is_read(&uses, options->arch_file);
    file_is_written(&uses, options->output);
    if (options->report)
        file_is_written(&uses, strcmp(options->report, "-") == 0 ? NULL : options->report);
    launch_files(&options->launch, &uses);
    return files_are_apart(COMMAND, &uses);
}

/* -1: go on; else the exit status. */
static int parse_options(int argc, char **argv, struct options *out)
{
    enum { OPTION_BY = 256, OPTION_FORMAT, OPTION_ARCH, OPTION_ARCH_FILE, OPTION_KERNEL, OPTION_L1, OPTION_REPORT, OPTION_HELP };
    static const struct option names[] = {
        {"by", required_argument, NULL, OPTION_BY},         {"format", required_argument, NULL, OPTION_FORMAT},
        {"arch", required_argument, NULL, OPTION_ARCH},     {"arch-file", required_argument, NULL, OPTION_ARCH_FILE},
        {"kernel", required_argument, NULL, OPTION_KERNEL}, {"l1", required_argument, NULL, OPTION_L1},
        {"output", required_argument, NULL, 'o'},           {"jobs", required_argument, NULL, 'j'},
        {"report", required_argument, NULL, OPTION_REPORT}, {"help", no_argument, NULL, OPTION_HELP},
        LAUNCH_OPTIONS,                                     {NULL, 0, NULL, 0},
    };
    int option, status, is_good = 1;

    *out = (struct options){.by = WM_BY_LINE, .jobs = processors()};
    while (is_good && (option = getopt_long(argc, argv, "o:j:" LAUNCH_LETTERS, names, NULL)) != -1) {
        switch (option) {
        case OPTION_BY: is_good = parse_by(optarg, &out->by); break;
        case OPTION_FORMAT: is_good = parse_format(COMMAND, optarg, &out->format); break;
        case OPTION_ARCH: out->arch = optarg; break;
        case OPTION_ARCH_FILE: out->arch_file = optarg; break;
        case OPTION_KERNEL: out->kernel = optarg; break;
        case OPTION_L1: is_good = parse_l1(COMMAND, optarg, &out->l1); break;
        case OPTION_REPORT: out->report = optarg; break;
        case 'o': out->output = strcmp(optarg, "-") == 0 ? NULL : optarg; break;
        case 'j': is_good = parse_number(COMMAND, "-j", optarg, 1, PIPELINE_MOST_WORKERS, &out->jobs); break;
        case OPTION_HELP: return print_help(help);
        default:
            if (!is_launch_option(option))
                return usage_hint(COMMAND);
            is_good = launch_option(COMMAND, option, optarg, &out->launch);
        }
    }
    if (!is_good)
        return EXIT_USAGE;
    out->launch.launch.kernel = out->kernel;
    if (out->arch && out->arch_file)
        return usage_error(COMMAND, "--arch and --arch-file exclude each other");
    if (out->report && is_other_format(out->report))
        return usage_error(COMMAND, "'%s' would be a page in HTML: --report takes FILE.html", out->report);
    if (out->report && !is_own_file(out))
        return usage_error(COMMAND, "--report needs a file of its own: the %s goes to %s",
                           out->by == BY_ACCESS || out->format != REPORT_TABLE ? "data" : "table",
                           out->output ? out->output : "standard output");
    out->files = argv + optind;
    out->file_count = (size_t)(argc - optind);
    status = check_traces(COMMAND, out->files, argc - optind);
    return status < 0 ? check_files(out) : status;
}

static int is_table(const struct run *run)
{
    return run->options->format == REPORT_TABLE;
}

/* The tally that a table's notes and totals are made of. */
static const wm_tally *opcodes_of(const struct run *run)
{
    return run->opcodes ? run->opcodes : run->groups;
}

static int make_tallies(struct run *run)
{
    int by = run->options->by;
    int is_for_page = run->options->report && by != WM_BY_LINE;
    enum wm_status status = WM_OK;

    if (by != BY_ACCESS)
        status = wm_tally_new(run->arch, (enum wm_by)by, &run->groups);
    run->opcodes_by = is_for_page ? WM_BY_LINE : WM_BY_OPCODE;
    if (!status && (is_for_page || (is_table(run) && (by == BY_ACCESS || by == WM_BY_KERNEL))))
        status = wm_tally_new(run->arch, run->opcodes_by, &run->opcodes);
    if (status)
        complain("%s", wm_status_text(status));
    return !status;
}

static struct table_head head_of(const struct run *run)
{
    const struct options *options = run->options;

    return (struct table_head){
        .files = (const char *const *)options->files,
        .file_count = options->file_count,
        .arch = run->arch,
        .arch_is_default = !options->arch && !options->arch_file,
        .l1 = options->l1,
    };
}

static void write_head(struct run *run)
{
    const struct table_head head = head_of(run);

    table_head(&head, &run->buffer);
}

/* The page, committed with the other results. */
static int write_page(struct run *run, const struct geometry *geometry)
{
    const struct table_head head = head_of(run);
    const struct html_report report = {
        .head = &head,
        .geometry = geometry,
        .lines = opcodes_of(run),
        .remarks = buffer_text(&run->remarks),
        .arch_file = run->options->arch_file,
    };

    if (!run->page)
        return 0;
    html_report(&report, &run->page_buffer);
    output_tie(run->output, run->page);
    return drain_all(&run->page_buffer);
}

/* Everything that is shown once all accesses are in. */
static void write_groups(struct run *run, const struct geometry *geometry)
{
    enum wm_by by = (enum wm_by)run->options->by;

    switch (run->options->format) {
    case REPORT_CSV: csv_totals(run->groups, &run->buffer); break;
    case REPORT_JSON: json_totals(run->groups, &run->buffer); break;
    default:
        write_head(run);
        table_notes(opcodes_of(run), &run->buffer);
        table_groups(geometry, by, run->groups, &run->buffer);
        table_totals(opcodes_of(run), &run->buffer);
        table_cycles(run->arch, opcodes_of(run), &run->buffer);
        table_waste(by, run->groups, &run->buffer);
        break;
    }
}

static void write_rows_end(struct run *run, uint64_t rows)
{
    struct buffer notes = {0};

    rows_end(run->options->format, rows, &run->buffer);
    if (!is_table(run))
        return;
    table_notes(run->opcodes, &notes);
    if (notes.length) {
        buffer_putc(&run->buffer, '\n');
        buffer_add(&run->buffer, notes.data, notes.length);
    }
    if (notes.failed)
        run->buffer.failed = notes.failed;
    buffer_free(&notes);
    table_totals(run->opcodes, &run->buffer);
    table_cycles(run->arch, run->opcodes, &run->buffer);
}

static int simulate(struct run *run)
{
    const struct options *options = run->options;
    struct pipeline_options pipeline = {
        .arch = run->arch,
        .files = options->files,
        .file_count = options->file_count,
        .kernel = run->has_kernel ? &run->kernel : NULL,
        .l1 = options->l1,
        .launch = &options->launch,
        .workers = (unsigned)options->jobs,
        .tallies = {run->groups, run->opcodes},
        .by = {(enum wm_by)(options->by == BY_ACCESS ? 0 : options->by), run->opcodes_by},
        .has_page = options->report != NULL,
        .format = options->format,
    };
    struct pipeline_result result;
    struct geometry geometry;

    geometry_of(run->arch, &geometry);
    pipeline.geometry = &geometry;
    if (options->by == BY_ACCESS) {
        pipeline.rows = &run->buffer;
        if (is_table(run))
            write_head(run);
        rows_begin(options->format, &run->buffer);
    }
    progress_start();
    if (pipeline_run(&pipeline, &result) != 0)
        return -1;
    progress_stop();
    if (result.accesses == 0 && run->has_kernel)
        warn(NULL, "no access is in a kernel whose name matches '%s'", options->kernel);
    else if (result.accesses == 0)
        warn(NULL, "there is no memory instruction in the input");
    if (options->by == BY_ACCESS)
        write_rows_end(run, result.rows);
    else
        write_groups(run, &geometry);
    if (buffer_finish(&run->buffer) == 0 && write_page(run, &geometry) != 0)
        return -1;
    launch_tie(&options->launch, run->output);
    return finish_output(&run->buffer, run->output);
}

static int open_outputs(struct run *run)
{
    const struct options *options = run->options;
    const char *page = options->report;

    if (output_open(options->output, &run->output) != 0)
        return 0;
    run->buffer = buffer_into(drain_to_output, run->output);
    if (!page)
        return 1;
    if (output_open(strcmp(page, "-") == 0 ? NULL : page, &run->page) != 0)
        return 0;
    run->page_buffer = buffer_into(drain_to_output, run->page);
    record_remarks(&run->remarks);
    return 1;
}

int run_sim(int argc, char **argv)
{
    struct options options;
    struct run run = {.options = &options};
    int status = parse_options(argc, argv, &options);

    if (status < 0 && options.kernel) {
        status = compile_kernel(COMMAND, options.kernel, &run.kernel);
        run.has_kernel = status < 0;
    }
    if (status >= 0)
        goto done;
    status = open_arch(COMMAND, options.arch, options.arch_file, &run.arch);
    if (status)
        goto done;
    launch_on(&options.launch, run.arch);
    status = EXIT_BAD;
    if (!format_is_available(options.format) || !make_tallies(&run) || !open_outputs(&run))
        goto done;
    if (simulate(&run) == 0)
        status = EXIT_SUCCESS;
done:
    progress_stop();
    record_remarks(NULL);
    buffer_free(&run.buffer);
    output_close(run.output);
    buffer_free(&run.page_buffer);
    output_close(run.page);
    buffer_free(&run.remarks);
    wm_tally_free(run.groups);
    wm_tally_free(run.opcodes);
    wm_arch_close(run.arch);
    if (run.has_kernel)
        regfree(&run.kernel);
    launch_free(&options.launch);
    return status;
}
