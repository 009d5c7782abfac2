/* warpmem fix: what to change, so that accesses cost less. */
#include "config.h"

#include "accesses.h"
#include "cli.h"
#include "expression.h"
#include "global_advice.h"
#include "launch.h"
#include "message.h"
#include "output.h"
#include "path.h"
#include "progress.h"
#include "shared_advice.h"

#include <getopt.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "fix"

static const char help[] =
    "Usage: warpmem fix [OPTION]... FILE\n"
    "       warpmem fix --block X[,Y[,Z]] --decl DECLARATION... [OPTION]... EXPRESSION...\n"
    "Look for changes that make accesses cheaper, and show what each would cost then, by simulating it. Of each\n"
    "array in shared memory: the smallest padding and a swizzle under which all accesses that touch it are free of\n"
    "conflicts, or as near to that as can be. Of global memory: layouts, alignment, vectors and more. And the way that\n"
    "a kernel takes through the questions that people ask first. FILE is a trace or the source of a CUDA C kernel\n"
    "(FILE.cu); '-' is standard input.\n"
    "\n"
    "  --arch NAME        the GPU: sm_70, sm_75, sm_80 (A100), sm_86, sm_89, sm_90 (H100, H200), sm_100, sm_120\n"
    "                     (default: sm_90, the one whose counters this model was checked against)\n"
    "  --arch-file FILE   the GPU, from a profile of your own\n"
    "  --kernel REGEX     only kernels whose name matches; of a source: the kernel to run\n"
    "  --allow-thread-map  threads may load other elements than they do, too\n"
    "  --base OFFSET      where the arrays of --decl begin in the shared memory of a trace (default: 0)\n"
    "  --pitch BYTES      of a trace without --decl: how long a row of its shared memory is\n"
    "  --format FORMAT    table or json (default: table)\n"
    "  --l1 miss|hit      what the lines of loads meet in L1 (default: miss)\n"
    "  -o, --output FILE  write there instead of to standard output; nothing is written unless all goes well\n"
    "  --help             this text\n"
    "\n"
    "A kernel has its own arrays; those of a trace are declared by --decl, as '__shared__ half tile[64][64]'.\n"
    "\n" EXPRESSION_HELP "\n" LAUNCH_HELP "\n"
    "Example: a transpose through a tile in shared memory:\n"
    "  warpmem fix --block 32,32 --decl '__shared__ float tile[32][32]' --store 'tile[threadIdx.y][threadIdx.x]' \\\n"
    "      --load 'tile[threadIdx.x][threadIdx.y]'\n"
    "Example: a trace whose shared memory is one tile:\n"
    "  warpmem fix --kernel plain --decl '__shared__ float tile[32][32]' traces/transpose.wmt\n"
    "Example: a kernel:\n"
    "  warpmem fix traces/kernels/transpose.cu --kernel transpose_shared --grid 8,8 --block 32,8 \\\n"
    "      --arg width=256 --arg height=256\n";

struct options {
    enum report_format format;
    const char *arch;
    const char *arch_file;
    const char *kernel;
    enum wm_l1 l1;
    const char *output;
    struct shared_options shared;
    int has_base;
    unsigned long base;
    unsigned long pitch; /* 0: not given */
    struct launch_options launch;
    struct expression_options expression;
    int is_expression;
    const char *file;
};

/* All that has to be given back. */
struct run {
    const struct options *options;
    wm_arch *arch;
    regex_t kernel;
    int has_kernel;
    wm_reader *reader;
    wm_reader *declared; /* of --decl, beside a trace */
    struct accesses *accesses;
    struct wm_array *arrays; /* in shared memory */
    size_t n_arrays;
    const struct wm_array **all; /* of the kernel, in any memory */
    size_t n_all;
    const struct wm_array **variables; /* in shared memory, what is declared too */
    size_t n_variables;
    struct path_layout *layouts; /* of arrays that a kernel touches: as many as arrays, and a guessed one */
    size_t n_layouts;
    int has_warned; /* of a trace without declarations */
    struct output *output;
    struct buffer buffer;
};

/* ---------------------------------------------------------------------------------------------------------- options */

static int is_format(const char *text, enum report_format *out)
{
    if (!report_format_by_name(text, out) || *out == REPORT_CSV) {
        usage_error(COMMAND, "there is no format '%s': --format takes table or json", text);
        return 0;
    }
    return 1;
}

/* Operands are expressions where there is a block for them; else one is a file. -1: go on; else the exit status. */
static int take_operands(char **operands, int count, struct options *out)
{
    const struct launch_options *launch = &out->launch;

    out->is_expression = out->expression.n_expressions ||
                         (out->expression.n_declarations && launch->is_given && !launch->launch.grid[0]);
    if (out->is_expression) {
        for (int i = 0; i < count; i++) {
            if (!expression_operand(operands[i], &out->expression))
                return EXIT_BAD;
        }
        if (!out->expression.n_expressions)
            return usage_error(COMMAND, "an expression is missing");
        if (out->kernel || out->has_base || out->pitch)
            return usage_error(COMMAND, "%s is for traces, and expressions are given",
                               out->kernel     ? "--kernel"
                               : out->has_base ? "--base"
                                               : "--pitch");
        if (expression_has_no(&out->launch))
            return usage_error(COMMAND, "%s is for kernels, and expressions are given", expression_has_no(&out->launch));
        return -1;
    }
    if (count != 1)
        return usage_error(COMMAND,
                           count ? "there is more than one file" : "a trace, a kernel or an expression is missing");
    out->file = operands[0];
    if (out->expression.n_lets && !out->expression.n_declarations)
        return usage_error(COMMAND, "--let is for expressions, and none is given");
    if (out->has_base && !out->expression.n_declarations && !out->pitch)
        return usage_error(COMMAND, "--base needs --decl or --pitch");
    if (out->pitch && out->expression.n_declarations)
        return usage_error(COMMAND, "--pitch and --decl exclude each other");
    return -1;
}

/* -1: go on; else the exit status. */
static int parse_options(int argc, char **argv, struct options *out)
{
    enum {
        OPTION_FORMAT = 256,
        OPTION_ARCH,
        OPTION_ARCH_FILE,
        OPTION_KERNEL,
        OPTION_L1,
        OPTION_THREADS,
        OPTION_BASE,
        OPTION_PITCH,
        OPTION_HELP
    };
    static const struct option names[] = {
        {"format", required_argument, NULL, OPTION_FORMAT},
        {"arch", required_argument, NULL, OPTION_ARCH},
        {"arch-file", required_argument, NULL, OPTION_ARCH_FILE},
        {"kernel", required_argument, NULL, OPTION_KERNEL},
        {"l1", required_argument, NULL, OPTION_L1},
        {"allow-thread-map", no_argument, NULL, OPTION_THREADS},
        {"base", required_argument, NULL, OPTION_BASE},
        {"pitch", required_argument, NULL, OPTION_PITCH},
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, OPTION_HELP},
        EXPRESSION_OPTIONS,
        LAUNCH_OPTIONS,
        {NULL, 0, NULL, 0},
    };
    int option, status, is_good = 1;

    *out = (struct options){.l1 = WM_L1_MISS};
    while (is_good && (option = getopt_long(argc, argv, "o:" LAUNCH_LETTERS, names, NULL)) != -1) {
        switch (option) {
        case OPTION_FORMAT: is_good = is_format(optarg, &out->format); break;
        case OPTION_ARCH: out->arch = optarg; break;
        case OPTION_ARCH_FILE: out->arch_file = optarg; break;
        case OPTION_KERNEL: out->kernel = optarg; break;
        case OPTION_L1: is_good = parse_l1(COMMAND, optarg, &out->l1); break;
        case OPTION_THREADS: out->shared.allow_thread_map = 1; break;
        case OPTION_BASE:
            out->has_base = 1;
            is_good = parse_number(COMMAND, "--base", optarg, 0, 256ul << 10, &out->base);
            break;
        case OPTION_PITCH: is_good = parse_number(COMMAND, "--pitch", optarg, 1, 256ul << 10, &out->pitch); break;
        case 'o': out->output = strcmp(optarg, "-") == 0 ? NULL : optarg; break;
        case OPTION_HELP: return print_help(help);
        default:
            status = input_option(COMMAND, option, optarg, &out->expression, &out->launch);
            if (status >= 0)
                return status;
        }
    }
    if (!is_good)
        return EXIT_USAGE;
    out->launch.launch.kernel = out->kernel;
    if (out->arch && out->arch_file)
        return usage_error(COMMAND, "--arch and --arch-file exclude each other");
    status = take_operands(argv + optind, argc - optind, out);
    if (status >= 0)
        return status;
    return launch_check_files(COMMAND, &out->launch, &out->file, 1, out->arch_file, out->output);
}

/* ---------------------------------------------------------------------------------------------------------- reading */

static void say_diag(const struct run *run, const struct wm_diag *diag)
{
    struct wm_diag named = *diag;

    if (!named.file[0] && run->options->file)
        snprintf(named.file, sizeof named.file, "%s", run->options->file);
    complain_about(&named);
}

static int is_source(const struct run *run)
{
    return wm_reader_format(run->reader) == WM_FORMAT_CUDA;
}

/* What goes together on a command line shows once the kind of input is known. 0: it does not; that has been said. */
static int suits_input(const struct run *run)
{
    const struct options *options = run->options;
    struct wm_diag diag;
    const char *wrong = NULL;

    if (options->is_expression)
        return 1;
    if (is_source(run))
        wrong = options->expression.first ? options->expression.first : options->pitch ? "--pitch" : NULL;
    if (wrong) {
        memset(&diag, 0, sizeof diag);
        snprintf(diag.file, sizeof diag.file, "%s", options->file);
        snprintf(diag.text, sizeof diag.text, "%s is for traces and expressions: a kernel has arrays of its own",
                 wrong);
        complain_about(&diag);
        return 0;
    }
    /* beside a trace, what is declared may be dynamic shared memory, and use macros */
    if (options->expression.n_declarations && !options->launch.needs_kernel)
        return 1;
    if (launch_refuses(&options->launch, run->reader, options->file, &diag)) {
        complain_about(&diag);
        return 0;
    }
    return 1;
}

static int open_input(struct run *run)
{
    const struct options *options = run->options;
    const struct launch_options *launch = &options->launch;
    const struct wm_reader_options reader_options = {WM_FORMAT_AUTO, options->l1,
                                                     launch->is_given ? &launch->launch : NULL};
    struct wm_diag diag;
    enum wm_status status = WM_OK;

    memset(&diag, 0, sizeof diag);
    if (options->is_expression)
        status = expression_open(&options->expression, &launch->launch, options->l1, &run->reader, &diag);
    else
        status = wm_reader_open(options->file, &reader_options, &run->reader, &diag);
    if (!status && !suits_input(run))
        return 0;
    if (!status && !options->is_expression && options->expression.n_declarations)
        status = expression_open(&options->expression, &launch->launch, options->l1, &run->declared, &diag);
    if (status)
        say_diag(run, &diag);
    return !status;
}

/* 0: it is wrong, and that has been said. */
static int add_access(struct run *run, const struct wm_access *access)
{
    struct wm_counts counts;
    struct wm_diag diag;
    enum wm_status status;

    memset(&diag, 0, sizeof diag);
    status = access->count > INT64_MAX ? WM_E_RANGE : wm_model(run->arch, access, &counts);
    if (!status) {
        status = accesses_add(run->accesses, access);
        if (!status)
            return 1;
    }
    wm_reader_place(run->reader, &diag);
    strncpy(diag.text,
            status == WM_E_RANGE ? "more than 131,072 instructions, or a sum of counts above 2^63 - 1"
                                 : wm_status_text(status),
            sizeof diag.text - 1);
    diag.status = status;
    if (status != WM_E_RANGE && status != WM_E_MEMORY)
        wm_access_check(run->arch, access, &diag);
    say_diag(run, &diag);
    return 0;
}

static int collect(struct run *run)
{
    const struct options *options = run->options;
    struct wm_reader_notes notes;
    struct wm_access access;
    struct wm_diag diag;
    enum wm_status status;
    uint64_t consumed, total;

    memset(&diag, 0, sizeof diag);
    if (accesses_new(options->is_expression, &run->accesses) != WM_OK) {
        complain("out of memory");
        return 0;
    }
    progress_start();
    while ((status = wm_reader_next(run->reader, &access, &diag)) == WM_OK) {
        if (run->has_kernel && !is_source(run) && regexec(&run->kernel, access.kernel->name, 0, NULL, 0) != 0)
            continue;
        if (!add_access(run, &access))
            return 0;
        wm_reader_progress(run->reader, &consumed, &total);
        progress_update(options->file ? options->file : "expression", 0, 1, consumed, total);
    }
    progress_stop();
    if (status != WM_END) {
        say_diag(run, &diag);
        return 0;
    }
    if (!options->is_expression) {
        wm_reader_notes(run->reader, &notes);
        warn_notes(options->file, &notes);
    }
    if (run->declared && launch_finish(&options->launch, run->declared) != 0)
        return 0;
    return launch_finish(&options->launch, run->reader) == 0;
}

/* ----------------------------------------------------------------------------------------------------------- arrays */

/* The bytes of shared memory that a kernel's accesses touch, and the widths of lanes. 0: none. */
static int find_touched(const struct access_kernel *kernel, uint64_t *low, uint64_t *high, unsigned *narrowest)
{
    *low = UINT64_MAX;
    *high = 0;
    *narrowest = 16;
    for (size_t s = 0; s < kernel->n_sites; s++) {
        const struct access_site *site = kernel->sites[s];
        const unsigned width = site->opcode.width_bytes;

        for (size_t i = 0; i < site->n; i++) {
            for (uint32_t rest = shared_lanes_of(&site->accesses[i]); rest; rest &= rest - 1) {
                uint64_t address;

                if (!shared_address_of(&site->accesses[i], (unsigned)__builtin_ctz(rest), &address))
                    continue;
                if (address < *low)
                    *low = address;
                if (address + width > *high)
                    *high = address + width;
                if (width < *narrowest)
                    *narrowest = width;
            }
        }
    }
    return *high > *low;
}

static uint64_t greatest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* An extern array is as long as it is touched, where nothing else says so. */
static void find_extent(const struct access_kernel *kernel, struct wm_array *array)
{
    uint64_t low, high, inner = array->element_bytes;
    unsigned narrowest;

    if (array->size_bytes || !array->dimensions)
        return;
    for (unsigned d = 1; d < array->dimensions; d++)
        inner *= array->extent[d];
    if (!inner || !find_touched(kernel, &low, &high, &narrowest) || high <= array->address)
        return;
    array->extent[0] = (high - array->address + inner - 1) / inner;
    array->size_bytes = array->extent[0] * inner;
}

/* What is declared: the first of several arrays that begin at one address. A scalar has no other layout, but what
 * touches it is known. 0: out of memory. */
static int list_arrays(struct run *run)
{
    const wm_reader *reader = run->declared ? run->declared : run->reader;
    const struct wm_array *array;
    size_t n = 0;

    while (wm_reader_array_at(reader, n))
        n++;
    run->arrays = calloc(n + 1, sizeof *run->arrays);
    run->all = calloc(n + 1, sizeof *run->all);
    run->layouts = calloc(n + 1, sizeof *run->layouts);
    run->variables = calloc(n + 1, sizeof *run->variables);
    if (!run->arrays || !run->all || !run->layouts || !run->variables) {
        complain("out of memory");
        return 0;
    }
    for (size_t i = 0; (array = wm_reader_array_at(reader, i)) != NULL; i++) {
        int is_taken = 0;

        if (!run->declared)
            run->all[run->n_all++] = array;
        if (array->space != WM_SHARED)
            continue;
        run->variables[run->n_variables++] = array;
        for (size_t k = 0; k < run->n_arrays; k++)
            is_taken |= run->arrays[k].address == array->address + run->options->base;
        if (is_taken)
            continue;
        run->arrays[run->n_arrays] = *array;
        run->arrays[run->n_arrays++].address += run->options->base;
    }
    return 1;
}

/* Nothing is declared: all that is touched is one array, of rows if --pitch says how long they are. 0: nothing is. */
static int guess_array(const struct run *run, const struct access_kernel *kernel, struct wm_array *out)
{
    static const char *const elements[] = {"unsigned char", "unsigned short", "unsigned int", "unsigned long long",
                                           "uint4"};
    const uint64_t pitch = run->options->pitch;
    uint64_t low, high;
    unsigned narrowest;

    memset(out, 0, sizeof *out);
    if (!find_touched(kernel, &low, &high, &narrowest))
        return 0;
    if (run->options->has_base)
        low = run->options->base;
    if (high <= low)
        return 0;
    while (pitch && pitch % narrowest)
        narrowest /= 2;
    low = run->options->has_base ? low : low / 16 * 16;
    out->name = "shared";
    out->element = elements[layout_log2(narrowest)];
    out->element_bytes = narrowest;
    out->align_bytes = narrowest;
    out->space = WM_SHARED;
    out->address = low;
    out->dimensions = pitch ? 2 : 1;
    out->extent[0] = pitch ? (high - low + pitch - 1) / pitch : (high - low + narrowest - 1) / narrowest;
    out->extent[1] = pitch ? pitch / narrowest : 0;
    out->size_bytes = out->extent[0] * greatest(out->extent[1], 1) * narrowest;
    return 1;
}

/* ---------------------------------------------------------------------------------------------------------- results */

/* What is being made of one kernel. */
struct answer {
    struct run *run;
    const struct access_kernel *kernel;
    int is_first; /* no JSON object stands before */
};

static int is_table(const struct run *run)
{
    return run->options->format == REPORT_TABLE;
}

static int say_status(enum wm_status status)
{
    if (status == WM_E_RANGE)
        complain("an array is touched more than 2^56 times");
    else if (status)
        complain("%s", wm_status_text(status));
    return !status;
}

static int write_array(struct answer *answer, struct wm_array *array)
{
    struct run *run = answer->run;
    struct shared_options options = run->options->shared;
    struct shared_advice advice;
    enum wm_status status;

    find_extent(answer->kernel, array);
    options.variables = run->variables;
    options.n_variables = run->n_variables;
    options.base = run->options->base;
    status = shared_advice_find(run->arch, answer->kernel, array, &options, &advice);
    if (!status && is_table(run)) {
        buffer_putc(&run->buffer, '\n');
        shared_advice_table(&advice, &run->buffer);
    } else if (!status) {
        shared_advice_json(answer->kernel, &advice, &answer->is_first, &run->buffer);
    }
    if (!status)
        status = path_layout_of(run->arch, answer->kernel, &advice, &run->layouts[run->n_layouts++]);
    shared_advice_free(&advice);
    return say_status(status);
}

/* Executions that touch shared memory of which no array is known. */
static uint64_t outside(const struct run *run, const struct access_kernel *kernel)
{
    uint64_t executions = 0;

    for (size_t s = 0; s < kernel->n_sites; s++) {
        for (size_t i = 0; i < kernel->sites[s]->n; i++) {
            const struct wm_access *access = &kernel->sites[s]->accesses[i];
            int is_outside = 0;

            for (uint32_t rest = shared_lanes_of(access); rest; rest &= rest - 1) {
                uint64_t address;
                int is_inside = !shared_address_of(access, (unsigned)__builtin_ctz(rest), &address);

                for (size_t k = 0; k < run->n_arrays && !is_inside; k++)
                    is_inside = address >= run->arrays[k].address &&
                                address - run->arrays[k].address < run->arrays[k].size_bytes;
                is_outside |= !is_inside;
            }
            executions += is_outside ? access->count : 0;
        }
    }
    return executions;
}

static int write_shared(struct answer *answer)
{
    struct run *run = answer->run;
    struct wm_array guess;
    uint64_t unknown;

    run->n_layouts = 0;
    if (!run->n_arrays && !is_source(run)) {
        if (!guess_array(run, answer->kernel, &guess))
            return 1;
        if (!run->options->pitch && !run->has_warned)
            warn(run->options->file,
                 "what the accesses touch of shared memory is taken for one array of %llu-byte elements: --decl says "
                 "what there is, or --pitch how long its rows are",
                 (unsigned long long)guess.element_bytes);
        run->has_warned = 1;
        return write_array(answer, &guess);
    }
    for (size_t i = 0; i < run->n_arrays; i++) {
        if (run->arrays[i].dimensions && !write_array(answer, &run->arrays[i]))
            return 0;
    }
    unknown = outside(run, answer->kernel);
    if (unknown)
        warn(run->options->file, "%llu execution%s touch%s shared memory that lies in no array",
             (unsigned long long)unknown, unknown == 1 ? "" : "s", unknown == 1 ? "es" : "");
    return 1;
}

static int write_global(struct answer *answer)
{
    struct run *run = answer->run;
    const int has_path = !run->options->is_expression; /* an expression is no kernel */
    struct global_advice advice;
    struct path path;
    enum wm_status status;

    memset(&path, 0, sizeof path);
    status = global_advice_find(run->arch, answer->kernel, run->all, run->n_all, &advice);
    if (!status && has_path)
        status = path_find(run->arch, &advice, run->layouts, run->n_layouts, &path);
    if (!status && is_table(run)) {
        if (advice.list.n) {
            buffer_puts(&run->buffer, "\n");
            global_advice_table(&advice, &run->buffer);
        }
        if (has_path) {
            buffer_putc(&run->buffer, '\n');
            path_table(&path, &run->buffer);
        }
    } else if (!status) {
        global_advice_json(&advice, &answer->is_first, &run->buffer);
        if (has_path)
            path_json(answer->kernel->kernel.name, &path, &answer->is_first, &run->buffer);
    }
    path_free(&path);
    global_advice_free(&advice);
    return say_status(status);
}

static void write_head(struct run *run)
{
    const struct options *options = run->options;
    struct buffer text = {0};

    buffer_printf(&text, "%s (%s)%s, %s: ", wm_arch_name(run->arch), wm_arch_description(run->arch),
                  !options->arch && !options->arch_file ? ", the default" : "",
                  options->l1 == WM_L1_HIT ? "loads hit L1" : "loads miss L1");
    if (options->is_expression) {
        for (size_t i = 0; i < options->expression.n_expressions; i++)
            buffer_printf(&text, "%s%s", i ? ", " : "", options->expression.expressions[i].text);
    } else {
        table_name(strcmp(options->file, "-") == 0 ? "standard input" : options->file, &text);
    }
    table_wrapped(buffer_text(&text), 0, 4, &run->buffer);
    if (text.failed)
        run->buffer.failed = text.failed;
    buffer_free(&text);
}

/* How exact the counters are for the opcodes that there are. */
static int write_notes(struct run *run)
{
    const struct accesses *accesses = run->accesses;
    wm_tally *opcodes = NULL;
    enum wm_status status = wm_tally_new(run->arch, WM_BY_OPCODE, &opcodes);

    for (size_t k = 0; k < accesses->n_kernels; k++) {
        for (size_t s = 0; s < accesses->kernels[k]->n_sites; s++) {
            struct wm_access access = accesses->kernels[k]->sites[s]->accesses[0];
            struct wm_counts counts;

            access.count = 1;
            if (!status)
                status = wm_model(run->arch, &access, &counts);
            if (!status)
                status = wm_tally_add(opcodes, &access, &counts);
        }
    }
    if (!status)
        table_notes(opcodes, &run->buffer);
    wm_tally_free(opcodes);
    return say_status(status);
}

static void write_left_out(struct answer *answer)
{
    uint64_t left_out = 0;

    for (size_t s = 0; s < answer->kernel->n_sites; s++)
        left_out += answer->kernel->sites[s]->left_out;
    if (left_out)
        warn(answer->run->options->file,
             "%s: only the first %d accesses of an instruction that differ, and %d of all, were looked at: %llu "
             "executions were left out",
             answer->kernel->kernel.name[0] ? answer->kernel->kernel.name : "a kernel without a name", ACCESSES_OF_SITE,
             ACCESSES_OF_ALL, (unsigned long long)left_out);
}

static int write_kernel(struct answer *answer)
{
    struct run *run = answer->run;
    const char *name = answer->kernel->kernel.name;

    if (is_table(run) && !run->options->is_expression) {
        buffer_puts(&run->buffer, name[0] ? "\nkernel " : "\nno kernel is named");
        table_name(name, &run->buffer);
        buffer_putc(&run->buffer, '\n');
    }
    write_left_out(answer);
    return write_shared(answer) && write_global(answer);
}

static int write_all(struct run *run)
{
    struct answer answer = {run, NULL, 1};

    if (run->accesses->n_kernels == 0 && run->has_kernel)
        warn(NULL, "no access is in a kernel whose name matches '%s'", run->options->kernel);
    else if (run->accesses->n_kernels == 0)
        warn(NULL, "there is no memory instruction in the input");
    if (is_table(run)) {
        write_head(run);
        if (!write_notes(run))
            return 0;
    } else {
        json_array_begin(&run->buffer);
    }
    for (size_t k = 0; k < run->accesses->n_kernels; k++) {
        answer.kernel = run->accesses->kernels[k];
        if (!write_kernel(&answer))
            return 0;
    }
    if (!is_table(run))
        json_array_end(answer.is_first, &run->buffer);
    launch_tie(&run->options->launch, run->output);
    return finish_output(&run->buffer, run->output) == 0;
}

int run_fix(int argc, char **argv)
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
    if (!format_is_available(options.format) || output_open(options.output, &run.output) != 0)
        goto done;
    run.buffer = buffer_into(drain_to_output, run.output);
    if (open_input(&run) && collect(&run) && list_arrays(&run) && write_all(&run))
        status = EXIT_SUCCESS;
done:
    progress_stop();
    accesses_free(run.accesses);
    free(run.arrays);
    free(run.all);
    free(run.variables);
    free(run.layouts);
    wm_reader_close(run.reader);
    wm_reader_close(run.declared);
    buffer_free(&run.buffer);
    output_close(run.output);
    wm_arch_close(run.arch);
    if (run.has_kernel)
        regfree(&run.kernel);
    launch_free(&options.launch);
    expression_free(&options.expression);
    return status;
}
