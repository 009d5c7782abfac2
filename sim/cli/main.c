/* warpmem COMMAND ... */
#include "config.h"

#include "cli.h"
#include "message.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A new command is one file and one row. */
static const struct command commands[] = {
    {"sim", "simulate a trace of warp memory instructions; the main job", run_sim},
    {"fix", "look for changes that make a kernel's memory accesses cheaper", run_fix},
    {"explain", "show one access lane by lane: banks, sectors, passes, and why", run_explain},
    {"validate", "compare recorded hardware counters with the model", run_validate},
    {"archs", "list the GPU profiles, and where their numbers come from", run_archs},
    {"convert", "write any trace as a text trace", run_convert},
};

#define COMMANDS (sizeof commands / sizeof *commands)

static int help(void)
{
    struct buffer text = {0};
    int status;

    buffer_puts(&text, "Usage: warpmem COMMAND [OPTION]... [FILE]...\n"
                       "What each memory instruction of a warp costs on an NVIDIA GPU: sectors, wavefronts, bank "
                       "conflicts.\n\nCommands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        buffer_printf(&text, "  %-10s %s\n", commands[i].name, commands[i].summary);
    buffer_puts(&text, "\n  warpmem COMMAND --help   a command's options, with an example\n"
                       "  warpmem --version\n\n"
                       "Example: what a trace's accesses cost, line by line, on an A100:\n"
                       "  warpmem sim --arch sm_80 trace.wmt\n");
    status = print_help(buffer_text(&text));
    buffer_free(&text);
    return status;
}

static int version(void)
{
    char text[64];

    snprintf(text, sizeof text, "warpmem %s\n", wm_version());
    return print_help(text);
}

/* Where the caller closed a standard descriptor, the next file would get its number, and messages or results would end up
 * in it. What stands in for it fails when it is used. */
static int hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    char title[32];

    if (hold_standard_descriptors() != 0)
        return EXIT_BAD;
    /* a closed pipe shows as a failed write, which is reported, and so does a file that grows above the limit */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 2)
        return usage_error("", "a command is missing");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return help();
    if (strcmp(argv[1], "--version") == 0)
        return version();
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            snprintf(title, sizeof title, "warpmem %s", commands[i].name);
            argv[1] = title;
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return usage_error("", "there is no command '%s'", argv[1]);
}
