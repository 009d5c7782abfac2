/* The commands, and what they share. */
#ifndef CLI_H
#define CLI_H

#include "report.h"
#include "warpmem.h"

#include <regex.h>

/* Exit statuses, besides 0: the input is bad or a comparison failed; the command line is wrong. */
#define EXIT_BAD 1
#define EXIT_USAGE 2

/* A GPU that is chosen where the command line names none: the one whose counters were recorded. */
#define DEFAULT_ARCH "sm_90"

struct command {
    const char *name;
    const char *summary;               /* for warpmem --help */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name as getopt shall print it: "warpmem sim" */
};

int run_sim(int argc, char **argv);
int run_fix(int argc, char **argv);
int run_explain(int argc, char **argv);
int run_validate(int argc, char **argv);
int run_archs(int argc, char **argv);
int run_convert(int argc, char **argv);

/* What getopt_long() has already said on standard error needs a second line: where to find help. Returns EXIT_USAGE. */
int usage_hint(const char *command);

/* Prints a help text. Returns the exit status. */
int print_help(const char *text);

/* Values of options. 0: not valid, and usage_error() has been called. */
int parse_format(const char *command, const char *text, enum report_format *out);
int parse_l1(const char *command, const char *text, enum wm_l1 *out);
int parse_number(const char *command, const char *option, const char *text, unsigned long least, unsigned long most,
                 unsigned long *out);

/* Compiles --kernel. -1: go on, and *out goes to regfree(); else the exit status, and what is wrong has been said. */
int compile_kernel(const char *command, const char *text, regex_t *out);

/* 0 where the format is JSON and this build has none; says so. */
int format_is_available(enum report_format format);

/* Opens a profile: the file, or else the built-in one by name, or else the default. Returns an exit status: 0, or what
 * is wrong has been said. */
int open_arch(const char *command, const char *name, const char *file, wm_arch **out);

/* The operands of a command that reads traces: at least one, standard input once at most. -1: go on; else the exit
 * status. */
int check_traces(const char *command, char *const *files, int count);

/* What a reader only partly understood, as warnings. */
void warn_notes(const char *file, const struct wm_reader_notes *notes);

/* Flushes a buffer into an output's and commits: complains where memory has ended. Returns 0 for success. */
struct output;
int finish_output(struct buffer *buffer, struct output *output);

/* The same without the commit. */
int drain_all(struct buffer *buffer);

/* buffer_into()'s drain. */
int drain_to_output(void *output, const char *text, size_t length);

#endif
