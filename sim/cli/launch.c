/* How a kernel's source is launched. */
#include "config.h"

#include "launch.h"

#include "cli.h"
#include "message.h"
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_size(const char *command, const char *option, const char *text, uint32_t out[3])
{
    uint32_t parts[3] = {1, 1, 1};
    const char *at = text;
    unsigned n = 0;

    for (;;) {
        char *end;
        unsigned long value;

        errno = 0;
        value = strtoul(at, &end, 10);
        if (*at < '0' || *at > '9' || errno || value == 0 || value > INT32_MAX)
            break;
        parts[n++] = (uint32_t)value;
        at = end;
        if (*at == '\0') {
            memcpy(out, parts, sizeof parts);
            return 1;
        }
        if (*at++ != ',' || n == 3)
            break;
    }
    usage_error(command, "'%s' is no size: %s takes X, X,Y or X,Y,Z", text, option);
    return 0;
}

/* NAME=VALUE: cuts the text in two. */
static char *cut(const char *command, const char *option, char *text)
{
    char *sign = strchr(text, '=');

    if (!sign || sign == text || !sign[1]) {
        usage_error(command, "'%s' is not understood: %s takes NAME=VALUE", text, option);
        return NULL;
    }
    *sign = '\0';
    return sign + 1;
}

void *one_more(void *list, size_t count, size_t size)
{
    void *more = realloc(list, (count + 1) * size);

    if (!more)
        complain("out of memory");
    return more;
}

static int add_argument(const char *command, char *text, struct launch_options *out)
{
    const char *value = cut(command, "--arg", text);
    struct wm_launch_argument *more;

    if (!value)
        return 0;
    more = one_more(out->arguments, out->launch.n_arguments, sizeof *more);
    if (!more)
        return 0;
    out->arguments = more;
    more[out->launch.n_arguments++] = (struct wm_launch_argument){text, value};
    out->launch.arguments = more;
    return 1;
}

static int add_dump(const char *command, char *text, struct launch_options *out)
{
    const char *path = cut(command, "--dump", text);
    struct dump *more;

    if (!path)
        return 0;
    more = one_more(out->dumps, out->dump_count, sizeof *more);
    if (!more)
        return 0;
    out->dumps = more;
    more[out->dump_count++] = (struct dump){text, path, NULL};
    return 1;
}

/* The library has the last word on what is behind the name. */
static int add_macro(const char *command, const char *text, struct launch_options *out)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const char *behind = text + strspn(text, letters);
    const char **more;

    if (behind == text || (*text >= '0' && *text <= '9') || !strchr("=(", *behind)) {
        usage_error(command, "'%s' is not understood: -D takes NAME, NAME=TEXT or NAME(PARAMETERS)=TEXT", text);
        return 0;
    }
    more = one_more(out->macros, out->launch.n_macros, sizeof *more);
    if (!more)
        return 0;
    out->macros = more;
    more[out->launch.n_macros++] = text;
    out->launch.macros = more;
    return 1;
}

static int parse_blocks(const char *command, const char *text, struct wm_launch *out)
{
    char *end;

    errno = 0;
    if (*text >= '0' && *text <= '9') {
        out->some_blocks = 1;
        out->first_block = out->last_block = strtoull(text, &end, 10);
        if (*end == '-' && end[1] >= '0' && end[1] <= '9')
            out->last_block = strtoull(end + 1, &end, 10);
        if (*end == '\0' && errno == 0 && out->first_block <= out->last_block)
            return 1;
    }
    usage_error(command, "'%s' is no range of blocks: --blocks takes A or A-B", text);
    return 0;
}

void launch_on(struct launch_options *options, const wm_arch *arch)
{
    options->launch.cuda_arch = 10 * wm_arch_capability(arch);
}

int is_launch_option(int option)
{
    return option == 'D' || (option >= OPTION_GRID && option < OPTION_LAUNCH_END);
}

int launch_option(const char *command, int option, char *text, struct launch_options *out)
{
    static const char *const names[] = {"--grid",   "--block",  "--arg",       "--smem",
                                        "--blocks", "--sample", "--max-steps", "--dump",  "-D"};
    unsigned long number = 0;
    int is_good = 1;

    if (option == 'D')
        option = OPTION_DEFINE;
    if (!out->first)
        out->first = names[option - OPTION_GRID];
    out->needs_kernel |= option != OPTION_SMEM && option != OPTION_DEFINE;
    switch (option) {
    case OPTION_GRID:
        out->is_given = 1;
        return parse_size(command, "--grid", text, out->launch.grid);
    case OPTION_BLOCK:
        out->is_given = 1;
        return parse_size(command, "--block", text, out->launch.block);
    case OPTION_ARG: return add_argument(command, text, out);
    case OPTION_DUMP: return add_dump(command, text, out);
    case OPTION_DEFINE: return add_macro(command, text, out);
    case OPTION_BLOCKS: return parse_blocks(command, text, &out->launch);
    case OPTION_SMEM:
        is_good = parse_number(command, "--smem", text, 0, 256ul << 10, &number);
        out->launch.shared_bytes = number;
        break;
    case OPTION_SAMPLE:
        is_good = parse_number(command, "--sample", text, 1, ULONG_MAX, &number);
        out->launch.sample = number;
        break;
    default:
        is_good = parse_number(command, "--max-steps", text, 1, ULONG_MAX, &number);
        out->launch.max_steps = number;
        break;
    }
    return is_good;
}

static int write_bytes(void *output, const char *bytes, size_t length)
{
    return output_write(output, bytes, length) == 0 ? 0 : EIO;
}

/* Of several sources, each overwrites what the one before has dumped. */
static int write_dump(struct dump *dump, wm_reader *reader)
{
    struct wm_diag diag;
    enum wm_status status;

    memset(&diag, 0, sizeof diag);
    if (dump->output && output_commit(dump->output) != 0)
        return -1;
    output_close(dump->output);
    dump->output = NULL;
    if (output_open(dump->path, &dump->output) != 0)
        return -1;
    status = wm_reader_dump(reader, dump->name, write_bytes, dump->output, &diag);
    if (status && status != WM_E_IO)
        complain("--dump %s: %s", dump->name, diag.text);
    return status ? -1 : 0;
}

void launch_files(const struct launch_options *options, struct file_uses *uses)
{
    for (size_t i = 0; i < options->launch.n_arguments; i++) {
        const char *value = options->arguments[i].value;
        const char *file = strstr(value, ":@");

        file = *value == '@' ? value + 1 : file ? file + 2 : NULL;
        if (file && strcmp(file, "-") != 0) /* that is a file's name here */
            file_is_read(uses, file);
    }
    for (size_t i = 0; i < options->dump_count; i++)
        file_is_written(uses, options->dumps[i].path);
}

int launch_check_files(const char *command, const struct launch_options *options, const char *const *files, size_t count,
                       const char *arch_file, const char *output)
{
    struct file_uses uses = {.count = 0};

    for (size_t i = 0; i < count; i++)
        file_is_read(&uses, files[i]);
    file_is_read(&uses, arch_file);
    file_is_written(&uses, output);
    launch_files(options, &uses);
    return files_are_apart(command, &uses);
}

int launch_refuses(const struct launch_options *options, const wm_reader *reader, const char *path, struct wm_diag *diag)
{
    if (!options->first || wm_reader_format(reader) == WM_FORMAT_CUDA)
        return 0;
    memset(diag, 0, sizeof *diag);
    diag->status = WM_E_ARGUMENT;
    snprintf(diag->file, sizeof diag->file, "%s", path);
    snprintf(diag->text, sizeof diag->text, "%s is for the source of a kernel (FILE.cu), and this is a trace",
             options->first);
    return 1;
}

int launch_finish(const struct launch_options *options, wm_reader *reader)
{
    const char *text;
    int is_warning;

    if (wm_reader_format(reader) != WM_FORMAT_CUDA)
        return 0;
    for (size_t i = 0; (text = wm_reader_remark_at(reader, i, &is_warning)) != NULL; i++)
        remark(is_warning, text);
    for (size_t i = 0; i < options->dump_count; i++) {
        if (write_dump(&options->dumps[i], reader) != 0)
            return -1;
    }
    return 0;
}

void launch_tie(const struct launch_options *options, struct output *output)
{
    for (size_t i = 0; i < options->dump_count; i++) {
        if (options->dumps[i].output)
            output_tie(output, options->dumps[i].output);
    }
}

void launch_free(struct launch_options *options)
{
    for (size_t i = 0; i < options->dump_count; i++)
        output_close(options->dumps[i].output);
    free(options->arguments);
    free(options->macros);
    free(options->dumps);
}
