/* warpmem explain: one access, lane by lane. */
#include "config.h"

#include "cli.h"
#include "expression.h"
#include "launch.h"
#include "message.h"
#include "output.h"
#include "picture.h"
#include "progress.h"
#include "report.h"

#include <getopt.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COMMAND "explain"

static const char help[] =
    "Usage: warpmem explain [OPTION]... ACCESS\n"
    "       warpmem explain [OPTION]... FILE\n"
    "       warpmem explain --block X[,Y[,Z]] --decl DECLARATION... [OPTION]... EXPRESSION\n"
    "Show one warp's access lane by lane: which lanes meet in which bank, in the order of phases and passes; which\n"
    "sectors of which lines are fetched, and what of them is used; tag banks; and why, in words. ACCESS is written\n"
    "as in a text trace: opcode, mask, addresses. Of FILE, a trace or the source of a CUDA C kernel (FILE.cu), the\n"
    "access that wastes most is shown, unless it is said which; '-' is standard input.\n"
    "\n"
    "  --index N          access number N of the file, counted from 0 as by `warpmem sim --by access'\n"
    "  --line [FILE:]N    the worst access of this source line\n"
    "  --nth N            not the worst, but number N of those that fit, counted from 0\n"
    "  --opcode OPCODE    only accesses whose opcode begins with these parts, as ld.shared\n"
    "  --kernel REGEX     only kernels whose name matches; of a source: the kernel to run\n"
    "  --arch NAME        the GPU: sm_70, sm_75, sm_80 (A100), sm_86, sm_89, sm_90 (H100, H200), sm_100, sm_120\n"
    "                     (default: sm_90, the one whose counters this model was checked against)\n"
    "  --arch-file FILE   the GPU, from a profile of your own\n"
    "  --l1 miss|hit      what the lines of loads meet in L1 (default: miss)\n"
    "  --color WHEN       auto, always or never (default: auto: where the output is a terminal)\n"
    "  -o, --output FILE  draw it, as FILE.svg, FILE.png or FILE.pdf says, instead of printing it\n"
    "  --help             this text\n"
    "\n" EXPRESSION_HELP "\n" LAUNCH_HELP "\n"
    "Example: a column of a tile of 32 floats, 32 ways of conflict:\n"
    "  warpmem explain 'ld.shared.b32 ffffffff 0+128'\n"
    "Example: the same from its expression, drawn:\n"
    "  warpmem explain --block 32,32 --decl '__shared__ float tile[32][32]' -o tile.svg \\\n"
    "      'tile[threadIdx.x][threadIdx.y]'\n"
    "Example: what a line of a kernel does at its worst:\n"
    "  warpmem explain traces/kernels/transpose.cu --kernel transpose_shared --grid 32,32 --block 32,8 \\\n"
    "      --arg width=1024 --arg height=1024 --line 47\n";

enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct options {
    const char *arch;
    const char *arch_file;
    const char *kernel;
    const char *opcode;
    const char *line_file; /* NULL: of any file */
    unsigned long line;    /* 0: any */
    unsigned long index;
    unsigned long nth;
    int has_index;
    int has_nth;
    enum wm_l1 l1;
    enum colour colour;
    const char *output;
    enum drawing_format format;
    struct launch_options launch;
    struct expression_options expression;
    int is_expression;
    const char *file;     /* NULL: an access or an expression */
    struct buffer access; /* "wmt 1" and the access */
};

/* The access to show. Its strings are kept in place. */
struct chosen {
    struct wm_access access;
    struct wm_counts counts;
    struct wm_kernel kernel;
    uint64_t index;  /* in the file */
    uint64_t fitted; /* accesses that fit */
    int is_chosen;
    uint32_t line_before; /* the nearest line with an access before the one that is asked for, and behind it; 0: none */
    uint32_t line_behind;
    int follows_load; /* see_index() */
    uint32_t block[3], warp;
    int has_index_load;
    struct buffer place;
};

struct run {
    const struct options *options;
    wm_arch *arch;
    regex_t kernel;
    int has_kernel;
    wm_reader *reader;
    struct chosen chosen;
    struct output *output;
    struct buffer buffer;
};

/* ------------------------------------------------------------------------------------------------------------- options */

static int parse_colour(const char *text, enum colour *out)
{
    static const char *const names[] = {"auto", "always", "never"};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (enum colour)i;
            return 1;
        }
    }
    usage_error(COMMAND, "'%s' is not known: --color takes auto, always or never", text);
    return 0;
}

/* "19" or "FILE:19": cuts the text in two. */
static int parse_line(char *text, struct options *out)
{
    char *colon = strrchr(text, ':');

    if (colon && colon != text) {
        *colon = '\0';
        out->line_file = text;
        text = colon + 1;
    }
    return parse_number(COMMAND, "--line", text, 1, UINT32_MAX, &out->line);
}

/* Whether something is an access in the syntax of a text trace rather than the name of a file. */
static int is_access(const char *text)
{
    static const char *const operations[] = {"ld.", "st.", "atom.", "red.", "ldmatrix", "stmatrix", "cp.async"};

    if (strcmp(text, "-") == 0 || access(text, F_OK) == 0)
        return 0;
    if (strpbrk(text, " \t"))
        return 1;
    for (unsigned i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (strncmp(text, operations[i], strlen(operations[i])) == 0)
            return 1;
    }
    return 0;
}

/* A mask may have 0x before it here, as addresses do; in traces it has none. */
static void plain_mask(struct buffer *access)
{
    char *mask = strchr(access->data, '\n') + 1;

    mask += strcspn(mask, " \t\n");
    mask += strspn(mask, " \t");
    if (mask[0] != '0' || mask[1] != 'x' || strspn(mask + 2, "0123456789abcdefABCDEF") != 8)
        return;
    memmove(mask, mask + 2, strlen(mask + 2) + 1);
    access->length -= 2;
}

/* The access as a trace; its parts may be operands of their own. -1: go on; else the exit status. */
static int take_access(char **operands, int count, struct options *out)
{
    buffer_puts(&out->access, "wmt 1\n");
    for (int i = 0; i < count; i++) {
        if (strpbrk(operands[i], "\r\n"))
            return usage_error(COMMAND, "an access is one line");
        if (i)
            buffer_putc(&out->access, ' ');
        buffer_puts(&out->access, operands[i]);
    }
    buffer_putc(&out->access, '\n');
    buffer_text(&out->access); /* ends it by NUL */
    if (!out->access.failed)
        plain_mask(&out->access);
    if (out->access.failed) {
        complain("out of memory");
        return EXIT_BAD;
    }
    return -1;
}

/* The first option that chooses among the accesses of a file; NULL: none was given. */
static const char *choosing_option(const struct options *options)
{
    return options->has_index ? "--index"
           : options->line    ? "--line"
           : options->has_nth ? "--nth"
           : options->opcode  ? "--opcode"
           : options->kernel  ? "--kernel"
                              : NULL;
}

static int take_expressions(char **operands, int count, struct options *out)
{
    for (int i = 0; i < count; i++) {
        if (!expression_operand(operands[i], &out->expression))
            return EXIT_BAD;
    }
    if (!out->expression.n_expressions)
        return usage_error(COMMAND, "an expression is missing");
    if (out->line || out->kernel)
        return usage_error(COMMAND, "%s is for files, and expressions are given", out->line ? "--line" : "--kernel");
    if (expression_has_no(&out->launch))
        return usage_error(COMMAND, "%s is for kernels, and expressions are given", expression_has_no(&out->launch));
    return -1;
}

/* Whether something that is no file is an expression that lacks its options, or FILE:LINE; says so. */
static int is_something_else(const char *text)
{
    const char *colon = strrchr(text, ':');
    char file[PATH_MAX];

    if (colon && colon[1] && colon[1 + strspn(colon + 1, "0123456789")] == '\0' && (size_t)(colon - text) < sizeof file) {
        memcpy(file, text, (size_t)(colon - text));
        file[colon - text] = '\0';
        if (access(file, F_OK) == 0) {
            usage_error(COMMAND, "there is no file '%s': line %s of %s is '%s --line %s'", text, colon + 1, file, file,
                        colon + 1);
            return 1;
        }
    }
    if (!strpbrk(text, "[(*&"))
        return 0;
    usage_error(COMMAND, "there is no file '%s': an expression needs --block X[,Y[,Z]] and --decl DECLARATION", text);
    return 1;
}

/* -1: go on; else the exit status. */
static int take_operands(char **operands, int count, struct options *out)
{
    const struct launch_options *launch = &out->launch;

    if (out->has_index && (out->line || out->has_nth || out->opcode))
        return usage_error(COMMAND, "--index and %s exclude each other",
                           out->line      ? "--line"
                           : out->has_nth ? "--nth"
                                          : "--opcode");
    out->is_expression = out->expression.n_expressions || out->expression.n_declarations;
    if (out->is_expression)
        return take_expressions(operands, count, out);
    if (count == 0)
        return usage_error(COMMAND, "an access, a file or an expression is missing");
    if (out->expression.first)
        return usage_error(COMMAND, "%s is for expressions: --decl says what they use", out->expression.first);
    if (is_access(operands[0])) {
        if (launch->first || choosing_option(out))
            return usage_error(COMMAND, "%s is for files, and an access is given",
                               launch->first ? launch->first : choosing_option(out));
        return take_access(operands, count, out);
    }
    if (access(operands[0], F_OK) != 0 && strcmp(operands[0], "-") != 0 && is_something_else(operands[0]))
        return EXIT_USAGE;
    if (count > 1)
        return usage_error(COMMAND, "there is more than one file");
    out->file = operands[0];
    return -1;
}

/* What can only be said once all options are there. -1: go on; else the exit status. */
static int check_options(struct options *out)
{
    out->launch.launch.kernel = out->kernel;
    if (out->arch && out->arch_file)
        return usage_error(COMMAND, "--arch and --arch-file exclude each other");
    if (!out->output)
        return -1;
    if (!drawing_format_by_name(out->output, &out->format))
        return usage_error(COMMAND, "'%s' is no picture: -o takes FILE.svg, FILE.png or FILE.pdf", out->output);
    if (!drawing_is_available()) {
        complain("this build draws nothing: install cairo (Debian, Ubuntu: apt-get install libcairo2-dev), then run "
                 "configure "
                 "and make again");
        return EXIT_BAD;
    }
    return -1;
}

/* -1: go on; else the exit status. */
static int parse_options(int argc, char **argv, struct options *out)
{
    enum {
        OPTION_INDEX = 256,
        OPTION_LINE,
        OPTION_NTH,
        OPTION_OPCODE,
        OPTION_KERNEL,
        OPTION_ARCH,
        OPTION_ARCH_FILE,
        OPTION_L1,
        OPTION_COLOUR,
        OPTION_HELP
    };
    static const struct option names[] = {
        {"index", required_argument, NULL, OPTION_INDEX},
        {"line", required_argument, NULL, OPTION_LINE},
        {"nth", required_argument, NULL, OPTION_NTH},
        {"opcode", required_argument, NULL, OPTION_OPCODE},
        {"kernel", required_argument, NULL, OPTION_KERNEL},
        {"arch", required_argument, NULL, OPTION_ARCH},
        {"arch-file", required_argument, NULL, OPTION_ARCH_FILE},
        {"l1", required_argument, NULL, OPTION_L1},
        {"color", required_argument, NULL, OPTION_COLOUR},
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
        case OPTION_INDEX:
            out->has_index = 1;
            is_good = parse_number(COMMAND, "--index", optarg, 0, LONG_MAX, &out->index);
            break;
        case OPTION_NTH:
            out->has_nth = 1;
            is_good = parse_number(COMMAND, "--nth", optarg, 0, LONG_MAX, &out->nth);
            break;
        case OPTION_LINE: is_good = parse_line(optarg, out); break;
        case OPTION_OPCODE: out->opcode = optarg; break;
        case OPTION_KERNEL: out->kernel = optarg; break;
        case OPTION_ARCH: out->arch = optarg; break;
        case OPTION_ARCH_FILE: out->arch_file = optarg; break;
        case OPTION_L1: is_good = parse_l1(COMMAND, optarg, &out->l1); break;
        case OPTION_COLOUR: is_good = parse_colour(optarg, &out->colour); break;
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
    status = take_operands(argv + optind, argc - optind, out);
    if (status < 0)
        status = launch_check_files(COMMAND, &out->launch, &out->file, 1, out->arch_file, out->output);
    return status < 0 ? check_options(out) : status;
}

/* ------------------------------------------------------------------------------------------------------------- reading */

static int is_given_access(const struct run *run)
{
    return !run->options->file && !run->options->is_expression;
}

/* Why an opcode on the command line may be unknown: for those who know other notations. */
static void add_hint(const char *opcode, char *text, size_t size)
{
    static const char *const spaceless[] = {"ld.", "st.", "atom.", "red."};
    static const char *const spaces[] = {".global", ".shared", ".local", ".const", ".generic"};
    size_t length = strcspn(opcode, " \t\n"), said = strlen(text);
    const char *hint = NULL;

    if (*opcode >= 'A' && *opcode <= 'Z')
        hint = "opcodes are PTX's, as ld.global.v4.b32, not SASS's";
    for (unsigned i = 0; !hint && i < sizeof spaceless / sizeof *spaceless; i++) {
        const size_t head = strlen(spaceless[i]) - 1;

        if (strncmp(opcode, spaceless[i], head + 1) != 0)
            continue;
        hint = "a space must follow the operation, as in ld.global.b32, ld.shared.b32, ld.generic.b32";
        for (unsigned s = 0; s < sizeof spaces / sizeof *spaces; s++) {
            const char *found = strstr(opcode, spaces[s]);

            if (found == opcode + head)
                hint = "after the space come a vector and a type at most, as in ld.global.v4.b32";
            else if (found && found < opcode + length)
                hint = "the space comes first, as in ld.shared.b32";
        }
    }
    if (hint && said < size)
        snprintf(text + said, size - said, ": %s", hint);
}

static int say_diag(const struct run *run, struct wm_diag *diag)
{
    if (is_given_access(run)) { /* the line before is ours */
        if (strncmp(diag->text, "unknown opcode", 14) == 0)
            add_hint(strchr(run->options->access.data, '\n') + 1, diag->text, sizeof diag->text);
        strcpy(diag->file, "access");
        diag->line = diag->line > 1 ? diag->line - 1 : diag->line;
    }
    if (diag->file[0] || !run->options->file)
        complain_about(diag);
    else
        complain("%s: %s", run->options->file, diag->text);
    return 0;
}

/* 0: it cannot be read, and that has been said; so below. */
static int open_input(struct run *run)
{
    const struct options *options = run->options;
    const struct launch_options *launch = &options->launch;
    struct wm_reader_options reader_options = {WM_FORMAT_AUTO, options->l1, launch->is_given ? &launch->launch : NULL};
    struct wm_diag diag;
    enum wm_status status;

    memset(&diag, 0, sizeof diag);
    if (options->is_expression) {
        status = expression_open(&options->expression, &launch->launch, options->l1, &run->reader, &diag);
    } else if (options->file) {
        status = wm_reader_open(options->file, &reader_options, &run->reader, &diag);
    } else {
        reader_options.format = WM_FORMAT_TEXT;
        status =
            wm_reader_open_memory(options->access.data, options->access.length, &reader_options, &run->reader, &diag);
    }
    if (!status && options->file && launch_refuses(launch, run->reader, options->file, &diag))
        status = diag.status;
    return status ? say_diag(run, &diag) : 1;
}

static int matches_file(const char *file, const char *wanted)
{
    const char *name;

    if (!file)
        return 0;
    name = strrchr(file, '/');
    return strcmp(file, wanted) == 0 || (name && strcmp(name + 1, wanted) == 0);
}

static int fits(const struct run *run, const struct wm_access *access)
{
    const struct options *options = run->options;
    char opcode[WM_OPCODE_TEXT_SIZE];
    const size_t length = options->opcode ? strlen(options->opcode) : 0;

    if (options->line && access->line != options->line)
        return 0;
    if (options->line_file && !matches_file(access->file ? access->file : access->kernel->source, options->line_file))
        return 0;
    if (options->opcode) {
        wm_opcode_format(&access->opcode, opcode);
        if (strncmp(opcode, options->opcode, length) != 0 || (opcode[length] && opcode[length] != '.'))
            return 0;
    }
    return !run->has_kernel || wm_reader_format(run->reader) == WM_FORMAT_CUDA ||
           regexec(&run->kernel, access->kernel->name, 0, NULL, 0) == 0;
}

/* Whether a wastes more than b: as tallies choose the worst access of a row. */
static int is_worse(const struct wm_access *access_a, const struct wm_counts *a, const struct wm_access *access_b,
                    const struct wm_counts *b)
{
    const uint32_t waste_a = a->sectors - a->sectors_ideal + a->shared_wavefronts - a->shared_wavefronts_ideal;
    const uint32_t waste_b = b->sectors - b->sectors_ideal + b->shared_wavefronts - b->shared_wavefronts_ideal;
    const uint32_t passes_a = a->tag_wavefronts + a->lsu_wavefronts + a->shared_wavefronts;
    const uint32_t passes_b = b->tag_wavefronts + b->lsu_wavefronts + b->shared_wavefronts;

    if (waste_a != waste_b)
        return (int32_t)(waste_a - waste_b) > 0;
    if (passes_a != passes_b)
        return passes_a > passes_b;
    return __builtin_popcount(access_a->mask) > __builtin_popcount(access_b->mask);
}

/* Kernel, source line, block and warp of an access. */
static void add_place(const struct run *run, const struct wm_access *access, struct buffer *out)
{
    const char *name = access->kernel ? access->kernel->name : "";

    /* an expression's kernel says what the --let are */
    if (name[0] && (!run->options->is_expression || strchr(name, '('))) {
        buffer_puts(out, run->options->is_expression ? ", " : ", kernel ");
        table_name(name, out);
    }
    if (access->line && !run->options->is_expression) {
        struct buffer line = {0};

        report_line(access->file ? access->file : access->kernel ? access->kernel->source : NULL, access->line, &line);
        buffer_puts(out, ", ");
        table_name(buffer_text(&line), out);
        buffer_free(&line);
    } else if (access->pc != WM_NO_PC && !run->options->is_expression) {
        buffer_puts(out, ", pc ");
        report_pc(access->pc, out);
    }
    buffer_printf(out, ", block %u,%u,%u, warp %u", access->block[0], access->block[1], access->block[2], access->warp);
    if (access->count > 1)
        buffer_printf(out, ", executed %llu times in a row", (unsigned long long)access->count);
}

static void choose(struct run *run, const struct wm_access *access, const struct wm_counts *counts, uint64_t index)
{
    struct chosen *chosen = &run->chosen;

    chosen->access = *access;
    chosen->counts = *counts;
    chosen->index = index;
    chosen->is_chosen = 1;
    buffer_clear(&chosen->place);
    add_place(run, access, &chosen->place);
    chosen->access.kernel = NULL;
    chosen->access.file = NULL;
}

/* What an expression is about is its atomic, not the loads of its index. */
static int is_atomic(const struct wm_access *access)
{
    return access->opcode.operation == WM_ATOM || access->opcode.operation == WM_RED;
}

/* Whether one of two accesses of an expression is to be shown whatever they waste: 1 the new one, -1 the chosen one. */
static int precedence(const struct run *run, const struct wm_access *access)
{
    return run->options->is_expression ? is_atomic(access) - is_atomic(&run->chosen.access) : 0;
}

/* Remembers which lines have accesses near the one that is asked for. */
static void see_line(struct run *run, const struct wm_access *access)
{
    const struct options *options = run->options;
    struct chosen *chosen = &run->chosen;

    if (!options->line || !access->line || chosen->is_chosen)
        return;
    if (options->line_file && !matches_file(access->file ? access->file : access->kernel->source, options->line_file))
        return;
    if (access->line < options->line && access->line > chosen->line_before)
        chosen->line_before = access->line;
    if (access->line > options->line && (!chosen->line_behind || access->line < chosen->line_behind))
        chosen->line_behind = access->line;
}

static void nothing_in_line(const struct run *run, const char *name)
{
    const struct chosen *chosen = &run->chosen;

    if (chosen->line_before && chosen->line_behind)
        complain("%s: no access that fits is in line %lu; the nearest lines with accesses are %u and %u", name,
                 run->options->line, chosen->line_before, chosen->line_behind);
    else
        complain("%s: no access that fits is in line %lu; the nearest line with accesses is %u", name,
                 run->options->line, chosen->line_before ? chosen->line_before : chosen->line_behind);
}

/* A load of global memory before an access of the same expression may be that of its index. */
static void see_index(struct run *run, const struct wm_access *access)
{
    struct chosen *chosen = &run->chosen;
    const struct options *options = run->options;

    if (!options->is_expression || options->expression.n_expressions != 1 || options->expression.n_lets ||
        options->launch.launch.n_arguments)
        return;
    if (chosen->follows_load && chosen->warp == access->warp &&
        memcmp(chosen->block, access->block, sizeof chosen->block) == 0)
        chosen->has_index_load = 1;
    chosen->follows_load = access->opcode.operation == WM_LD && access->opcode.space == WM_GLOBAL;
    memcpy(chosen->block, access->block, sizeof chosen->block);
    chosen->warp = access->warp;
}

/* Looks at an access. 0: it is wrong. */
static int take(struct run *run, const struct wm_access *access, uint64_t index)
{
    const struct options *options = run->options;
    struct chosen *chosen = &run->chosen;
    struct wm_counts counts;
    struct wm_diag diag;

    see_line(run, access);
    if (options->has_index ? index != options->index : !fits(run, access))
        return 1;
    chosen->fitted++;
    if (options->has_nth && chosen->fitted - 1 != options->nth)
        return 1;
    memset(&diag, 0, sizeof diag);
    if (wm_model(run->arch, access, &counts) != WM_OK) {
        wm_reader_place(run->reader, &diag);
        wm_access_check(run->arch, access, &diag);
        return say_diag(run, &diag);
    }
    see_index(run, access);
    if (!chosen->is_chosen || precedence(run, access) > 0 ||
        (precedence(run, access) == 0 && is_worse(access, &counts, &chosen->access, &chosen->counts)))
        choose(run, access, &counts, index);
    return 1;
}

/* Whether nothing behind this access can matter. */
static int is_enough(const struct run *run)
{
    return run->chosen.is_chosen && (run->options->has_index || run->options->has_nth) &&
           !run->options->launch.dump_count;
}

static int nothing_fits(const struct run *run, uint64_t accesses)
{
    const struct options *options = run->options;
    const char *name = options->file ? options->file : options->is_expression ? "expression" : "access";

    if (options->has_index)
        complain("%s: there is no access %lu: it has %llu", name, options->index, (unsigned long long)accesses);
    else if (options->has_nth && run->chosen.fitted)
        complain("%s: there is no access %lu of those that fit: there are %llu", name, options->nth,
                 (unsigned long long)run->chosen.fitted);
    else if (run->chosen.line_before || run->chosen.line_behind)
        nothing_in_line(run, name);
    else if (accesses == 0)
        complain("%s: there is no memory instruction in it", name);
    else
        complain("%s: none of its %llu access%s fits %s", name, (unsigned long long)accesses, accesses == 1 ? "" : "es",
                 choosing_option(options));
    return 0;
}

static int find_access(struct run *run)
{
    const struct options *options = run->options;
    struct wm_reader_notes notes;
    struct wm_access access;
    struct wm_diag diag;
    enum wm_status status;
    uint64_t consumed, total, index = 0;

    memset(&diag, 0, sizeof diag);
    progress_start();
    for (; (status = wm_reader_next(run->reader, &access, &diag)) == WM_OK; index++) {
        if (!take(run, &access, index))
            return 0;
        if (is_enough(run))
            break;
        if (index % 16384 == 0) {
            wm_reader_progress(run->reader, &consumed, &total);
            progress_update(options->file ? options->file : "expression", 0, 1, consumed, total);
        }
    }
    progress_stop();
    if (status && status != WM_END)
        return say_diag(run, &diag);
    if (!run->chosen.is_chosen)
        return nothing_fits(run, index);
    if (run->chosen.has_index_load)
        remark(0, "expression: what it loads from global memory is zero, indices too: --arg NAME=int[32]:iota gives contents");
    if (options->file) {
        wm_reader_notes(run->reader, &notes);
        warn_notes(options->file, &notes);
    }
    return launch_finish(&options->launch, run->reader) == 0;
}

/* ------------------------------------------------------------------------------------------------------------- writing */

static int wants_colour(const struct options *options)
{
    const char *terminal = getenv("TERM");
    const char *refusal = getenv("NO_COLOR");

    if (options->colour != COLOUR_AUTO)
        return options->colour == COLOUR_ALWAYS;
    return isatty(STDOUT_FILENO) && (!refusal || !*refusal) && terminal && strcmp(terminal, "dumb") != 0;
}

static unsigned columns(void)
{
    const char *text = getenv("COLUMNS");
    struct winsize size;
    unsigned long wanted = text ? strtoul(text, NULL, 10) : 0;

    if (!wanted && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        wanted = size.ws_col;
    if (!wanted || wanted > 100)
        return 100;
    return wanted < 80 ? 80 : (unsigned)wanted;
}

/* Text wrapped at blanks. */
static void wrap(const char *text, size_t width, struct buffer *out)
{
    size_t at = 0;

    while (*text) {
        const size_t word = strcspn(text, " ");

        if (at && at + 1 + word > width) {
            buffer_putc(out, '\n');
            at = 0;
        } else if (at) {
            buffer_putc(out, ' ');
            at++;
        }
        buffer_add(out, text, word);
        at += word;
        text += word + strspn(text + word, " ");
    }
    buffer_putc(out, '\n');
}

/* Where the access stands in a file, and how it was chosen. */
static void add_origin(const struct run *run, size_t width, struct buffer *out)
{
    const struct chosen *chosen = &run->chosen;
    const struct options *options = run->options;
    struct buffer text = {0};
    struct buffer place = chosen->place;

    if (is_given_access(run))
        return;
    if (options->file)
        table_name(strcmp(options->file, "-") == 0 ? "standard input" : options->file, &text);
    else
        buffer_puts(&text, "expression");
    buffer_printf(&text, ": access %llu", (unsigned long long)chosen->index);
    buffer_puts(&text, buffer_text(&place));
    if (!options->has_index && !options->has_nth && chosen->fitted > 1)
        buffer_printf(&text, "; the worst of %llu", (unsigned long long)chosen->fitted);
    wrap(buffer_text(&text), width, out);
    buffer_putc(out, '\n');
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

static void add_text(struct run *run)
{
    const struct picture_style style = {wants_colour(run->options), columns()};
    struct buffer words = {0};

    add_origin(run, style.columns, &run->buffer);
    picture_text(run->arch, &run->chosen.access, &run->chosen.counts, &style, &run->buffer);
    picture_words(run->arch, &run->chosen.access, &run->chosen.counts, &words);
    buffer_putc(&run->buffer, '\n');
    wrap(buffer_text(&words), style.columns, &run->buffer);
    if (words.failed)
        run->buffer.failed = words.failed;
    buffer_free(&words);
}

static int write_all(struct run *run)
{
    const struct options *options = run->options;

    if (!options->output) {
        add_text(run);
    } else if (!picture_draw(run->arch, &run->chosen.access, &run->chosen.counts, options->format, &run->buffer)) {
        complain("the picture could not be drawn: out of memory, cairo failed, or with this profile it is more than a "
                 "picture "
                 "holds");
        return 0;
    }
    if (run->buffer.failed) {
        complain("out of memory");
        return 0;
    }
    if (output_open(options->output, &run->output) != 0)
        return 0;
    launch_tie(&options->launch, run->output);
    return output_write(run->output, run->buffer.data, run->buffer.length) == 0 &&
           output_commit(run->output) == 0;
}

int run_explain(int argc, char **argv)
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
    if (open_input(&run) && find_access(&run) && write_all(&run))
        status = EXIT_SUCCESS;
done:
    progress_stop();
    wm_reader_close(run.reader);
    buffer_free(&run.buffer);
    buffer_free(&run.chosen.place);
    output_close(run.output);
    wm_arch_close(run.arch);
    if (run.has_kernel)
        regfree(&run.kernel);
    buffer_free(&options.access);
    launch_free(&options.launch);
    expression_free(&options.expression);
    return status;
}
