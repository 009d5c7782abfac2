/* warpmem convert: any trace as a text trace. */
#include "config.h"

#include "cli.h"
#include "launch.h"
#include "message.h"
#include "output.h"
#include "progress.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "convert"

static const char help[] =
    "Usage: warpmem convert [OPTION]... FILE...\n"
    "Write traces of any format that `warpmem sim' reads as one text trace; FILE '-' is standard input.\n"
    "\n"
    "  -o, --output FILE  write there instead of to standard output; nothing is written unless all goes well\n"
    "  --arch NAME        the GPU that a source sees as __CUDA_ARCH__ (default: " DEFAULT_ARCH ")\n"
    "  --arch-file FILE   the same, from a profile of your own\n"
    "  --kernel NAME      the kernel of a source (FILE.cu), or an instance of a template, such as 'copy<float4,8>'\n"
    "  --help             this text\n"
    "\n" LAUNCH_HELP
    "\n"
    "Example: the first memory instructions of an Accel-Sim trace, for reading:\n"
    "  warpmem convert kernel-1.traceg.xz | head -n 20\n";

static int write_text(void *output, const char *text, size_t length)
{
    /* what went wrong has been said; the number is not looked at */
    return output_write(output, text, length) == 0 ? 0 : EIO;
}

/* A failure on the reading side. */
static int fail_reading(const char *path, const struct wm_diag *diag)
{
    if (diag->file[0])
        complain_about(diag);
    else
        complain("%s: %s", path, diag->text);
    return -1;
}

static int convert_file(const char *path, unsigned index, unsigned count, const struct launch_options *launch,
                        wm_writer *writer)
{
    const struct wm_reader_options options = {.launch = launch->is_given ? &launch->launch : NULL};
    struct wm_reader_notes notes;
    struct wm_access access;
    struct wm_diag diag;
    wm_reader *reader = NULL;
    enum wm_status status;
    uint64_t consumed, total;
    int result = -1;

    memset(&diag, 0, sizeof diag);
    status = wm_reader_open(path, &options, &reader, &diag);
    if (status) {
        fail_reading(path, &diag);
        goto done;
    }
    if (launch_refuses(launch, reader, path, &diag)) {
        fail_reading(path, &diag);
        goto done;
    }
    for (unsigned long n = 0; (status = wm_reader_next(reader, &access, &diag)) == WM_OK; n++) {
        status = wm_writer_add(writer, &access);
        if (status) {
            if (status != WM_E_IO)
                complain("%s: %s", path, wm_status_text(status));
            goto done;
        }
        if (n % 16384 == 0) {
            wm_reader_progress(reader, &consumed, &total);
            progress_update(path, index, count, consumed, total);
        }
    }
    if (status != WM_END) {
        fail_reading(path, &diag);
        goto done;
    }
    wm_reader_notes(reader, &notes);
    warn_notes(path, &notes);
    result = launch_finish(launch, reader);
done:
    wm_reader_close(reader);
    return result;
}

static int convert(char *const *files, int count, const struct launch_options *launch, const char *path)
{
    struct output *output = NULL;
    wm_writer *writer = NULL;
    int status = EXIT_BAD;

    if (output_open(path, &output) != 0)
        goto done;
    if (wm_writer_new(write_text, output, &writer) != WM_OK) {
        complain("%s", wm_status_text(WM_E_MEMORY));
        goto done;
    }
    progress_start();
    for (int i = 0; i < count; i++) {
        if (convert_file(files[i], (unsigned)i, (unsigned)count, launch, writer) != 0)
            goto done;
    }
    progress_stop();
    launch_tie(launch, output);
    if (wm_writer_flush(writer) == WM_OK && output_commit(output) == 0)
        status = EXIT_SUCCESS;
done:
    progress_stop();
    wm_writer_free(writer);
    output_close(output);
    return status;
}

/* -1: go on; else the exit status. */
static int set_arch(const char *name, const char *file, struct launch_options *launch)
{
    wm_arch *arch = NULL;
    const int status = open_arch(COMMAND, name, file, &arch);

    if (status)
        return status;
    launch_on(launch, arch);
    wm_arch_close(arch);
    return -1;
}

int run_convert(int argc, char **argv)
{
    enum { OPTION_HELP = 256, OPTION_KERNEL, OPTION_ARCH, OPTION_ARCH_FILE };
    static const struct option names[] = {
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, OPTION_HELP},
        {"kernel", required_argument, NULL, OPTION_KERNEL},
        {"arch", required_argument, NULL, OPTION_ARCH},
        {"arch-file", required_argument, NULL, OPTION_ARCH_FILE},
        LAUNCH_OPTIONS,
        {NULL, 0, NULL, 0},
    };
    struct launch_options launch = {.is_given = 0};
    const char *path = NULL, *arch = NULL, *arch_file = NULL;
    int option, status;

    while ((option = getopt_long(argc, argv, "o:" LAUNCH_LETTERS, names, NULL)) != -1) {
        switch (option) {
        case 'o': path = strcmp(optarg, "-") == 0 ? NULL : optarg; break;
        case OPTION_HELP: return print_help(help);
        case OPTION_ARCH: arch = optarg; break;
        case OPTION_ARCH_FILE: arch_file = optarg; break;
        case OPTION_KERNEL:
            launch.launch.kernel = optarg;
            if (!launch.first)
                launch.first = "--kernel";
            break;
        default:
            if (!is_launch_option(option))
                return usage_hint(COMMAND);
            if (!launch_option(COMMAND, option, optarg, &launch)) {
                launch_free(&launch);
                return EXIT_USAGE;
            }
        }
    }
    status = arch && arch_file ? usage_error(COMMAND, "--arch and --arch-file exclude each other")
                               : check_traces(COMMAND, argv + optind, argc - optind);
    if (status < 0)
        status = launch_check_files(COMMAND, &launch, (const char *const *)argv + optind,
                                    (size_t)(argc - optind), arch_file, path);
    if (status < 0)
        status = set_arch(arch, arch_file, &launch);
    if (status < 0)
        status = convert(argv + optind, argc - optind, &launch, path);
    launch_free(&launch);
    return status;
}
