/* What the commands share. */
#include "config.h"

#include "cli.h"
#include "message.h"
#include "output.h"
#include "progress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int usage_hint(const char *command)
{
    fprintf(stderr, "Try 'warpmem %s --help'.\n", command);
    return EXIT_USAGE;
}

int print_help(const char *text)
{
    return output_print(text) == 0 ? EXIT_SUCCESS : EXIT_BAD;
}

int parse_format(const char *command, const char *text, enum report_format *out)
{
    if (report_format_by_name(text, out))
        return 1;
    usage_error(command, "there is no format '%s': --format takes table, csv or json", text);
    return 0;
}

int parse_l1(const char *command, const char *text, enum wm_l1 *out)
{
    if (strcmp(text, "miss") == 0)
        *out = WM_L1_MISS;
    else if (strcmp(text, "hit") == 0)
        *out = WM_L1_HIT;
    else
        return usage_error(command, "'%s' is not known: --l1 takes miss or hit", text), 0;
    return 1;
}

int parse_number(const char *command, const char *option, const char *text, unsigned long least, unsigned long most,
                 unsigned long *out)
{
    char *end;

    errno = 0;
    *out = strtoul(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *out >= least && *out <= most)
        return 1;
    usage_error(command, "'%s' is no number that %s takes: %lu to %lu", text, option, least, most);
    return 0;
}

int format_is_available(enum report_format format)
{
    if (format != REPORT_JSON || json_is_available())
        return 1;
    complain("this build writes no JSON: install jansson (Debian, Ubuntu: apt-get install libjansson-dev), then run "
             "configure and make again");
    return 0;
}

int open_arch(const char *command, const char *name, const char *file, wm_arch **out)
{
    struct wm_diag diag;
    enum wm_status status;

    memset(&diag, 0, sizeof diag);
    status = file ? wm_arch_load(file, out, &diag) : wm_arch_open(name ? name : DEFAULT_ARCH, out, &diag);
    if (!status)
        return EXIT_SUCCESS;
    if (status == WM_E_NAME && !file)
        return usage_error(command, "%s", diag.text);
    if (diag.file[0])
        complain_about(&diag);
    else
        complain("%s", diag.text[0] ? diag.text : wm_status_text(status));
    return EXIT_BAD;
}

int check_traces(const char *command, char *const *files, int count)
{
    int inputs = 0;

    if (count == 0)
        return usage_error(command, "a trace is missing");
    for (int i = 0; i < count; i++)
        inputs += strcmp(files[i], "-") == 0;
    if (inputs > 1)
        return usage_error(command, "standard input can be read once only");
    return -1;
}

void warn_notes(const char *file, const struct wm_reader_notes *notes)
{
    const unsigned long long unknown = notes->opcodes_unknown;
    const unsigned long long lines = notes->lines_skipped;
    const unsigned long long nothing = notes->copies_of_nothing;
    const unsigned long long copies = notes->copies_without_shared;
    const unsigned long long guessed = notes->lanes_guessed;
    const unsigned long long torn = notes->warps_torn;

    /* instructions that touch no memory are no loss */
    if (unknown)
        warn(file, "skipped %llu memory instruction%s that %s not modelled, the first of them %s", unknown,
             plural(unknown), unknown == 1 ? "is" : "are", notes->first_unknown);
    if (lines)
        warn(file, "skipped %llu line%s that %s no memory instruction", lines, plural(lines),
             lines == 1 ? "is" : "are");
    if (nothing)
        warn(file, "%llu cop%s from address 0: taken for zero fill, which reads nothing", nothing,
             nothing == 1 ? "y" : "ies");
    if (copies)
        warn(file,
             "%llu asynchronous cop%s without a shared side: this tool's traces do not hold it, so only the global "
             "side is counted",
             copies, copies == 1 ? "y" : "ies");
    if (guessed)
        warn(file,
             "%llu access%s without a mask: lanes at address 0 were taken for inactive; old versions of the tool left "
             "stale addresses there, which cannot be told apart",
             guessed, guessed == 1 ? "" : "es");
    if (torn)
        warn(file, "%llu warp%s lost records", torn, plural(torn));
}

int drain_to_output(void *output, const char *text, size_t length)
{
    return output_write(output, text, length);
}

int drain_all(struct buffer *buffer)
{
    progress_stop();
    if (buffer_finish(buffer) == 0)
        return 0;
    if (buffer->failed == BUFFER_NO_MEMORY)
        complain("out of memory");
    return -1;
}

int finish_output(struct buffer *buffer, struct output *output)
{
    return drain_all(buffer) == 0 ? output_commit(output) : -1;
}

int compile_kernel(const char *command, const char *text, regex_t *out)
{
    char reason[256];
    int error = regcomp(out, text, REG_EXTENDED | REG_NOSUB);

    if (!error)
        return -1;
    regerror(error, out, reason, sizeof reason);
    return usage_error(command, "--kernel '%s' is not a regular expression: %s", text, reason);
}
