/* warpmem archs: the GPU profiles, and where their numbers come from. */
#include "config.h"

#include "cli.h"
#include "message.h"
#include "output.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "archs"

static const char help[] =
    "Usage: warpmem archs [OPTION]... [NAME]\n"
    "List the GPU profiles; with NAME, every number in that profile, its unit, and where it comes from: measured\n"
    "(the reference names the recorded measurement), documented (the document), or assumed (why).\n"
    "\n"
    "  --arch-file FILE  a profile of your own instead of NAME\n"
    "  --format FORMAT   table, csv or json (default: table)\n"
    "  --help            this text\n"
    "\n"
    "Example: what is known about the A100, and what is only assumed:\n"
    "  warpmem archs sm_80\n";

/* ------------------------------------------------------------------------------------------------------- all profiles */

/* How many keys there are of each provenance. */
struct key_counts {
    uint64_t of[WM_ASSUMED + 1];
};

static struct key_counts count_keys(const wm_arch *arch)
{
    struct key_counts counts = {{0}};
    struct wm_arch_key key;

    for (size_t i = 0; wm_arch_key_at(arch, i, &key) == WM_OK; i++)
        counts.of[key.provenance]++;
    return counts;
}

static void list_heading(enum report_format format, struct buffer *out)
{
    switch (format) {
    case REPORT_CSV: buffer_puts(out, "name,description,measured,documented,assumed\n"); break;
    case REPORT_JSON: json_array_begin(out); break;
    default: buffer_puts(out, "name    measured  documented  assumed  description\n"); break;
    }
}

static void list_row(enum report_format format, const wm_arch *arch, int is_first, struct buffer *out)
{
    const struct key_counts counts = count_keys(arch);
    struct json_line *line;

    switch (format) {
    case REPORT_CSV:
        csv_field(wm_arch_name(arch), out);
        buffer_putc(out, ',');
        csv_field(wm_arch_description(arch), out);
        for (int p = 0; p <= WM_ASSUMED; p++)
            buffer_printf(out, ",%llu", (unsigned long long)counts.of[p]);
        buffer_putc(out, '\n');
        break;
    case REPORT_JSON:
        line = json_line_new();
        if (!line) {
            out->failed = BUFFER_NO_MEMORY;
            return;
        }
        json_line_text(line, "name", wm_arch_name(arch));
        json_line_text(line, "description", wm_arch_description(arch));
        for (int p = 0; p <= WM_ASSUMED; p++)
            json_line_number(line, report_provenance((enum wm_provenance)p), counts.of[p]);
        json_line_dump(line, is_first, out);
        json_line_free(line);
        break;
    default:
        table_text(wm_arch_name(arch), 8, out);
        table_count(counts.of[WM_MEASURED], 8, out);
        table_count(counts.of[WM_DOCUMENTED], 12, out);
        table_count(counts.of[WM_ASSUMED], 9, out);
        buffer_printf(out, "  %s\n", wm_arch_description(arch));
        break;
    }
}

static int list_profiles(enum report_format format, struct buffer *out)
{
    const char *name;

    list_heading(format, out);
    for (size_t i = 0; (name = wm_arch_name_at(i)) != NULL; i++) {
        wm_arch *arch;

        if (open_arch(COMMAND, name, NULL, &arch))
            return -1;
        list_row(format, arch, i == 0, out);
        wm_arch_close(arch);
    }
    if (format == REPORT_JSON)
        json_array_end(0, out);
    return 0;
}

/* --------------------------------------------------------------------------------------------------------- one profile */

static void key_csv(const struct wm_arch_key *key, struct buffer *out)
{
    const char *const fields[] = {key->name,      key->value, key->unit, report_provenance(key->provenance),
                                  key->reference, key->origin};

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (i)
            buffer_putc(out, ',');
        csv_field(fields[i] ? fields[i] : "", out);
    }
    buffer_putc(out, '\n');
}

static void key_json(const struct wm_arch_key *key, int is_first, struct buffer *out)
{
    struct json_line *line = json_line_new();

    if (!line) {
        out->failed = BUFFER_NO_MEMORY;
        return;
    }
    json_line_text(line, "key", key->name);
    json_line_text(line, "value", key->value);
    json_line_text(line, "unit", key->unit);
    json_line_text(line, "provenance", report_provenance(key->provenance));
    json_line_text(line, "reference", key->reference ? key->reference : "");
    json_line_text(line, "origin", key->origin ? key->origin : "");
    json_line_dump(line, is_first, out);
    json_line_free(line);
}

/* The key and its value; below, where that comes from. */
static void key_table(const wm_arch *arch, const struct wm_arch_key *key, struct buffer *scratch, struct buffer *out)
{
    buffer_printf(out, "%-32s %12s %s\n", key->name, key->value, key->unit);
    buffer_clear(scratch);
    buffer_puts(scratch, report_provenance(key->provenance));
    if (key->origin && strcmp(key->origin, wm_arch_name(arch)) != 0)
        buffer_printf(scratch, " (inherited from %s)", key->origin);
    if (key->reference && *key->reference)
        buffer_printf(scratch, ": %s", key->reference);
    table_wrapped(buffer_text(scratch), 4, 6, out);
}

static void show_profile(const wm_arch *arch, enum report_format format, struct buffer *out)
{
    struct buffer scratch = {0};
    struct wm_arch_key key;
    size_t i;

    switch (format) {
    case REPORT_CSV: buffer_puts(out, "key,value,unit,provenance,reference,origin\n"); break;
    case REPORT_JSON: json_array_begin(out); break;
    default: buffer_printf(out, "%s (%s)\n\n", wm_arch_name(arch), wm_arch_description(arch)); break;
    }
    for (i = 0; wm_arch_key_at(arch, i, &key) == WM_OK; i++) {
        switch (format) {
        case REPORT_CSV: key_csv(&key, out); break;
        case REPORT_JSON: key_json(&key, i == 0, out); break;
        default: key_table(arch, &key, &scratch, out); break;
        }
    }
    if (format == REPORT_JSON)
        json_array_end(i == 0, out);
    if (scratch.failed)
        out->failed = scratch.failed;
    buffer_free(&scratch);
}

static int show(const char *name, const char *file, enum report_format format)
{
    struct output *output = NULL;
    struct buffer buffer = {0};
    wm_arch *arch = NULL;
    int status = EXIT_SUCCESS;

    if (name || file)
        status = open_arch(COMMAND, name, file, &arch);
    if (status)
        return status;
    status = EXIT_BAD;
    if (!format_is_available(format) || output_open(NULL, &output) != 0)
        goto done;
    buffer = buffer_into(drain_to_output, output);
    if (arch)
        show_profile(arch, format, &buffer);
    else if (list_profiles(format, &buffer) != 0)
        goto done;
    if (finish_output(&buffer, output) == 0)
        status = EXIT_SUCCESS;
done:
    buffer_free(&buffer);
    output_close(output);
    wm_arch_close(arch);
    return status;
}

int run_archs(int argc, char **argv)
{
    enum { OPTION_ARCH_FILE = 256, OPTION_FORMAT, OPTION_HELP };
    static const struct option names[] = {
        {"arch-file", required_argument, NULL, OPTION_ARCH_FILE},
        {"format", required_argument, NULL, OPTION_FORMAT},
        {"help", no_argument, NULL, OPTION_HELP},
        {NULL, 0, NULL, 0},
    };
    enum report_format format = REPORT_TABLE;
    const char *file = NULL;
    int option;

    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (option) {
        case OPTION_ARCH_FILE: file = optarg; break;
        case OPTION_FORMAT:
            if (!parse_format(COMMAND, optarg, &format))
                return EXIT_USAGE;
            break;
        case OPTION_HELP: return print_help(help);
        default: return usage_hint(COMMAND);
        }
    }
    if (argc - optind > 1)
        return usage_error(COMMAND, "one name at a time, please: '%s' is too many", argv[optind + 1]);
    if (file && optind < argc)
        return usage_error(COMMAND, "NAME and --arch-file exclude each other");
    return show(optind < argc ? argv[optind] : NULL, file, format);
}
