/*
 * GPU profiles: .arch files and the profiles that are compiled in, which are the same text read by the same code.
 *
 *     file      := line*                          lines end in LF; printable ASCII and tabs; 1 MiB at the most
 *     line      := [header | key] [comment]
 *     comment   := "#" ...                        at the start of a line or after a blank
 *     header    := "name" = WORD | "description" = TEXT | "compute_capability" = N.N | "same_as" = WORD
 *     key       := NAME "=" value UNIT ";" source
 *     value     := decimal or 0x number | "yes" | "no" | counter{,counter} | "none"
 *     source    := "measured:" NAME{, NAME} | "doc:" TEXT | "assumed:" TEXT
 *
 * keys.c has the keys, their units and ranges. A unit is one word and always given: what is being counted for a number,
 * "mask" for bits, "flag" for yes and no, "counters" for the list of an approximate.CLASS key.
 *
 * same_as names a profile that is compiled in; what is not given is taken from there. A measurement holds for the GPU
 * on which it was made: "measured" becomes "assumed" on the way to another compute capability.
 */
#include "arch/arch.h"
#include "model/model.h"
#include "model/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_SIZE_MAX (1U << 20)

/* Most characters of the input that a message repeats. */
#define QUOTE 60

#define APPROXIMATE        "approximate."
#define APPROXIMATE_LENGTH (sizeof APPROXIMATE - 1)

/* The profiles being read, from the innermost same_as outwards. */
struct chain {
    const char *name;
    const struct chain *next;
};

struct parser {
    const struct wmi_builtin *builtins;
    const struct chain *chain;
    const char *file;
    struct wm_diag *diag;
    wm_arch *arch;
    uint64_t line;
    const char *line_start;
    const char *same_as;
    uint64_t same_as_line, same_as_column;
};

static uint64_t column_of(const struct parser *parser, const char *at)
{
    return (uint64_t)(at - parser->line_start) + 1;
}

/* An error at a place in the current line. */
#define FAIL(parser, status, at, ...)                                                                                  \
    wmi_diag_set((parser)->diag, status, (parser)->file, (parser)->line, column_of(parser, at), __VA_ARGS__)

static enum wm_status out_of_memory(const struct parser *parser)
{
    return wmi_diag_set(parser->diag, WM_E_MEMORY, parser->file, 0, 0, "out of memory");
}

/* ------------------------------------------------------------------------------------------------------------ words */

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_name_char(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-';
}

static char *skip_blanks(char *at)
{
    while (is_blank(*at))
        at++;
    return at;
}

/* The end of the word at at: a blank, or one of "=;". */
static char *word_end(char *at)
{
    while (*at && !is_blank(*at) && *at != '=' && *at != ';')
        at++;
    return at;
}

/* Names of measurements are paths below traces/hardware/sm_XX. */
static int is_measurement_char(char c)
{
    return is_name_char(c) || c == '/';
}

static int is_name(const char *text)
{
    if (!*text)
        return 0;
    while (is_name_char(*text))
        text++;
    return !*text;
}

/* N.N without leading zeros. */
static int is_capability(const char *text)
{
    const char *dot = strchr(text, '.');
    const size_t major = strspn(text, "0123456789");
    const size_t minor = dot ? strspn(dot + 1, "0123456789") : 0;

    return dot && text + major == dot && major >= 1 && major <= 3 && minor == 1 && !dot[2] && text[0] != '0';
}

/* --------------------------------------------------------------------------------------------------- values of keys */

/* Reads a number. 0: it is none; -1: it does not fit into 64 bits. */
static int parse_number(const char *text, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    uint64_t number = 0;

    if (base == 16)
        text += 2;
    else if (text[0] == '0' && text[1])
        return 0;
    if (!*text)
        return 0;
    for (; *text; text++) {
        const char lower = (char)(*text >= 'A' && *text <= 'F' ? *text - 'A' + 'a' : *text);
        const char *digit = strchr(digits, lower);

        if (!digit || (unsigned)(digit - digits) >= base)
            return 0;
        if (number > (UINT64_MAX - (unsigned)(digit - digits)) / base)
            return -1;
        number = number * base + (unsigned)(digit - digits);
    }
    *out = number;
    return 1;
}

static enum wm_status number_value(const struct parser *parser, const struct wmi_rule *rule, struct wmi_entry *entry)
{
    const int found = parse_number(entry->value, &entry->number);
    const char *kind = rule->power_of_two ? "a power of two from" : "a number from";

    if (!found)
        return FAIL(parser, WM_E_SYNTAX, entry->value, "%s: expected a decimal or 0x number, not \"%.*s\"", rule->name,
                    QUOTE, entry->value);
    if (found < 0 || entry->number < rule->min || entry->number > rule->max ||
        (rule->power_of_two && (entry->number & (entry->number - 1))))
        return FAIL(parser, WM_E_RANGE, entry->value, "%s: expected %s %llu to %llu, not %.*s", rule->name, kind,
                    (unsigned long long)rule->min, (unsigned long long)rule->max, QUOTE, entry->value);
    return WM_OK;
}

static enum wm_status flag_value(const struct parser *parser, const struct wmi_rule *rule, struct wmi_entry *entry)
{
    entry->number = !strcmp(entry->value, "yes");
    if (entry->number || !strcmp(entry->value, "no"))
        return WM_OK;
    return FAIL(parser, WM_E_SYNTAX, entry->value, "%s: expected yes or no, not \"%.*s\"", rule->name, QUOTE,
                entry->value);
}

static int counter_by_name(const char *name, size_t length)
{
    for (int counter = 0; counter < WM_COUNTERS; counter++) {
        const char *known = wm_counter_name((enum wm_counter)counter);

        if (strlen(known) == length && !memcmp(known, name, length))
            return counter;
    }
    return -1;
}

/* The list of counters of approximate.CLASS. */
static enum wm_status counters_value(const struct parser *parser, struct wmi_approximate *approximate)
{
    const char *at = approximate->entry.value;

    approximate->counters = 0;
    if (!strcmp(at, "none"))
        return WM_OK;
    for (;;) {
        const size_t length = strcspn(at, ",");
        const int counter = counter_by_name(at, length);

        if (counter < 0)
            return FAIL(parser, WM_E_NAME, at, "%s: expected none or counters with commas between them, not \"%.*s\"",
                        approximate->name, (int)(length < QUOTE ? length : QUOTE), at);
        if (!wmi_counter_applies(&approximate->class, (enum wm_counter)counter))
            return FAIL(parser, WM_E_NAME, at, "%s: %s is always 0 for these opcodes", approximate->name,
                        wm_counter_name((enum wm_counter)counter));
        if (approximate->counters >> counter & 1)
            return FAIL(parser, WM_E_SYNTAX, at, "%s: %s is listed twice", approximate->name,
                        wm_counter_name((enum wm_counter)counter));
        approximate->counters |= 1U << counter;
        if (!at[length])
            return WM_OK;
        at += length + 1;
    }
}

/* ------------------------------------------------------------------------------------------------------------ lines */

/* The end of a list of names with ", " between them. */
static const char *measurements_end(const char *at)
{
    while (is_measurement_char(*at)) {
        while (is_measurement_char(*at))
            at++;
        if (at[0] == ',' && at[1] == ' ' && is_measurement_char(at[2]))
            at += 2;
    }
    return at;
}

/* The text behind ';': where the value comes from. */
static enum wm_status parse_source(const struct parser *parser, const char *key, char *at, struct wmi_entry *entry)
{
    static const struct {
        const char *word;
        enum wm_provenance provenance;
    } sources[] = {{"measured:", WM_MEASURED}, {"doc:", WM_DOCUMENTED}, {"assumed:", WM_ASSUMED}};
    const char *place = at;

    entry->reference = NULL;
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        const size_t length = strlen(sources[i].word);

        if (!strncmp(at, sources[i].word, length)) {
            entry->provenance = sources[i].provenance;
            entry->reference = skip_blanks(at + length);
        }
    }
    if (!entry->reference)
        return FAIL(parser, WM_E_SYNTAX, place,
                    "%s: expected where the value comes from: measured: NAME, doc: REFERENCE or assumed: WHY", key);
    if (!*entry->reference)
        return FAIL(parser, WM_E_SYNTAX, entry->reference, "%s: expected text after \"%.*s\"", key, QUOTE, place);
    if (entry->provenance == WM_MEASURED) {
        const char *name = measurements_end(entry->reference);

        if (*name)
            return FAIL(parser, WM_E_SYNTAX, name, "%s: expected names of recorded measurements, as in \"%s\"", key,
                        "measured: h200-random, h200-probe");
    }
    return WM_OK;
}

/* value unit ; source. The words are cut out of the line. */
static enum wm_status parse_entry(const struct parser *parser, const char *key, const char *unit, char *at,
                                  struct wmi_entry *entry)
{
    char *value_end = word_end(at);
    char *unit_start = skip_blanks(value_end);
    char *unit_end = word_end(unit_start);
    char *semicolon = skip_blanks(unit_end);
    const char *found_unit = unit_start;

    entry->value = at;
    entry->line = parser->line;
    entry->column = column_of(parser, at);
    entry->origin = NULL; /* until the name is known */
    if (value_end == at)
        return FAIL(parser, WM_E_SYNTAX, at, "%s: expected a value in %s", key, unit);
    if (unit_end == unit_start)
        return FAIL(parser, WM_E_SYNTAX, unit_start, "%s: expected the unit \"%s\" after the value", key, unit);
    if ((size_t)(unit_end - unit_start) != strlen(unit) || memcmp(unit_start, unit, strlen(unit)) != 0)
        return FAIL(parser, WM_E_SYNTAX, found_unit, "%s: expected the unit \"%s\", not \"%.*s\"", key, unit,
                    (int)(unit_end - unit_start < QUOTE ? unit_end - unit_start : QUOTE), found_unit);
    if (*semicolon != ';')
        return FAIL(parser, WM_E_SYNTAX, semicolon, "%s: expected ';' and where the value comes from", key);
    *value_end = '\0';
    *semicolon = '\0';
    *unit_end = '\0';
    entry->unit = unit_start;
    return parse_source(parser, key, skip_blanks(semicolon + 1), entry);
}

static enum wm_status parse_rule(const struct parser *parser, const struct wmi_rule *rule, const char *key, char *at)
{
    struct wmi_entry *entry = &parser->arch->entries[rule - wmi_rules];
    enum wm_status status;

    if (entry->value)
        return FAIL(parser, WM_E_SYNTAX, key, "%s: given twice, first in line %llu", rule->name,
                    (unsigned long long)entry->line);
    status = parse_entry(parser, rule->name, rule->unit, at, entry);
    if (status)
        return status;
    return rule->kind == WMI_FLAG ? flag_value(parser, rule, entry) : number_value(parser, rule, entry);
}

/* Makes room for one more; the new one is not counted yet. */
static struct wmi_approximate *next_approximate(wm_arch *arch)
{
    /* Room doubles: 1, 2, 4, ... */
    const size_t n = arch->approximate_count;
    struct wmi_approximate *more = arch->approximates;

    if (!(n & (n - 1))) {
        more = realloc(more, (n ? 2 * n : 1) * sizeof *more);
        if (!more)
            return NULL;
        arch->approximates = more;
    }
    memset(&more[n], 0, sizeof more[n]);
    return &more[n];
}

static const struct wmi_approximate *find_approximate(const wm_arch *arch, const char *name)
{
    for (size_t i = 0; i < arch->approximate_count; i++) {
        if (!strcmp(arch->approximates[i].name, name))
            return &arch->approximates[i];
    }
    return NULL;
}

static enum wm_status parse_approximate(const struct parser *parser, const char *key, char *at)
{
    const struct wmi_approximate *before = find_approximate(parser->arch, key);
    struct wmi_approximate *approximate;
    const char *expected;
    size_t error_at;
    enum wm_status status;

    if (before)
        return FAIL(parser, WM_E_SYNTAX, key, "%.*s: given twice, first in line %llu", QUOTE, key,
                    (unsigned long long)before->entry.line);
    approximate = next_approximate(parser->arch);
    if (!approximate)
        return out_of_memory(parser);
    approximate->name = key;
    expected = wmi_class_parse(key + APPROXIMATE_LENGTH, &approximate->class, &error_at);
    if (expected)
        return FAIL(parser, WM_E_NAME, key + APPROXIMATE_LENGTH + error_at, "%.*s: expected %s", QUOTE, key, expected);
    status = parse_entry(parser, key, "counters", at, &approximate->entry);
    if (!status)
        status = counters_value(parser, approximate);
    if (!status)
        parser->arch->approximate_count++;
    return status;
}

/* The key that shares the longest beginning with an unknown one. */
static const char *nearest_key(const char *name)
{
    const char *nearest = "shared.banks";
    size_t longest = 0;

    for (size_t i = 0; i < wmi_rule_count; i++) {
        size_t length = 0;

        while (name[length] && name[length] == wmi_rules[i].name[length])
            length++;
        if (length > longest) {
            longest = length;
            nearest = wmi_rules[i].name;
        }
    }
    return nearest;
}

/* name, description, compute_capability, same_as. Returns whether key is one of them; *status is then the outcome. */
static int parse_header(struct parser *parser, const char *key, const char *value, enum wm_status *status)
{
    wm_arch *arch = parser->arch;
    const struct {
        const char *key;
        const char **out;
        const char *expected;
        int (*is_valid)(const char *);
    } headers[] = {
        {"name", &arch->name, "a name of letters, digits and _ . -", is_name},
        {"description", &arch->description, "some text", NULL},
        {"compute_capability", &arch->capability, "a compute capability, as in 9.0", is_capability},
        {"same_as", &parser->same_as, "the name of a profile", is_name},
    };

    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        if (strcmp(key, headers[i].key) != 0)
            continue;
        *status = WM_OK;
        if (*headers[i].out)
            *status = FAIL(parser, WM_E_SYNTAX, key, "%s: given twice", key);
        else if (!*value || (headers[i].is_valid && !headers[i].is_valid(value)))
            *status = FAIL(parser, WM_E_SYNTAX, value, "%s: expected %s", key, headers[i].expected);
        else
            *headers[i].out = value;
        if (headers[i].out == &parser->same_as) {
            parser->same_as_line = parser->line;
            parser->same_as_column = column_of(parser, value);
        }
        return 1;
    }
    return 0;
}

/* Refuses bytes that have no business in a profile. */
static enum wm_status check_bytes(const struct parser *parser, const char *end)
{
    for (const char *at = parser->line_start; at < end; at++) {
        const unsigned char byte = (unsigned char)*at;

        if (byte == '\r')
            return FAIL(parser, WM_E_SYNTAX, at, "a carriage return: lines must end in LF alone");
        if (!byte)
            return FAIL(parser, WM_E_SYNTAX, at, "a NUL byte: expected a text file");
        if ((byte < ' ' && byte != '\t') || byte > '~')
            return FAIL(parser, WM_E_SYNTAX, at, "byte 0x%02X: expected printable ASCII", byte);
    }
    return WM_OK;
}

/* Cuts off the comment and the blanks at the end. */
static void trim(char *line)
{
    char *end;

    for (end = line; *end; end++) {
        if (*end == '#' && (end == line || is_blank(end[-1])))
            break;
    }
    while (end > line && is_blank(end[-1]))
        end--;
    *end = '\0';
}

/* One line, without its LF and ended by NUL. */
static enum wm_status parse_line(struct parser *parser, char *line)
{
    char *key, *key_end, *equals, *value;
    const struct wmi_rule *rule;
    enum wm_status status;

    trim(line);
    key = skip_blanks(line);
    if (!*key)
        return WM_OK;
    for (key_end = key; is_name_char(*key_end); key_end++)
        ;
    if (key_end == key)
        return FAIL(parser, WM_E_SYNTAX, key, "expected a key, or # and a comment");
    equals = skip_blanks(key_end);
    if (*equals != '=')
        return FAIL(parser, WM_E_SYNTAX, equals, "expected '=' after \"%.*s\"",
                    (int)(key_end - key < QUOTE ? key_end - key : QUOTE), key);
    value = skip_blanks(equals + 1);
    *key_end = '\0';
    if (parse_header(parser, key, value, &status))
        return status;
    if (!strncmp(key, APPROXIMATE, APPROXIMATE_LENGTH))
        return parse_approximate(parser, key, value);
    rule = wmi_rule_find(key);
    if (!rule)
        return FAIL(parser, WM_E_NAME, key, "unknown key \"%.*s\": the nearest is %s", QUOTE, key, nearest_key(key));
    return parse_rule(parser, rule, key, value);
}

static enum wm_status parse_lines(struct parser *parser, char *text, size_t length)
{
    char *const text_end = text + length;

    for (char *line = text; line < text_end;) {
        char *end = memchr(line, '\n', (size_t)(text_end - line));
        enum wm_status status;

        if (!end)
            end = text_end;
        parser->line++;
        parser->line_start = line;
        status = check_bytes(parser, end);
        if (status)
            return status;
        *end = '\0'; /* there is room for one more byte at the end of the text */
        status = parse_line(parser, line);
        if (status)
            return status;
        line = end + 1;
    }
    return WM_OK;
}

/* --------------------------------------------------------------------------------------------------------- same_as */

/* A measurement on another GPU says nothing certain about this one. */
static enum wm_status carry_over(const struct parser *parser, struct wmi_entry *entry)
{
    static const char format[] = "as on %s, where it was measured (%s)";
    wm_arch *arch = parser->arch;
    const int length = snprintf(NULL, 0, format, entry->origin, entry->reference);
    struct wmi_note *note;

    entry->line = 0;
    entry->column = 0;
    if (entry->provenance != WM_MEASURED || !strcmp(arch->capability, arch->base->capability))
        return WM_OK;
    note = malloc(sizeof *note + (size_t)length + 1);
    if (!note)
        return out_of_memory(parser);
    snprintf(note->text, (size_t)length + 1, format, entry->origin, entry->reference);
    note->next = arch->notes;
    arch->notes = note;
    entry->provenance = WM_ASSUMED;
    entry->reference = note->text;
    return WM_OK;
}

/* Takes from arch->base what is not given. */
static enum wm_status inherit(const struct parser *parser)
{
    wm_arch *arch = parser->arch;
    const wm_arch *base = arch->base;
    enum wm_status status = WM_OK;

    for (size_t i = 0; i < wmi_rule_count && !status; i++) {
        if (arch->entries[i].value || !base->entries[i].value)
            continue;
        arch->entries[i] = base->entries[i];
        status = carry_over(parser, &arch->entries[i]);
    }
    for (size_t i = 0; i < base->approximate_count && !status; i++) {
        struct wmi_approximate *approximate;

        if (find_approximate(arch, base->approximates[i].name))
            continue;
        approximate = next_approximate(arch);
        if (!approximate)
            return out_of_memory(parser);
        *approximate = base->approximates[i];
        arch->approximate_count++;
        status = carry_over(parser, &approximate->entry);
    }
    return status;
}

static enum wm_status open_in(const struct wmi_builtin *builtins, const char *name, const struct chain *chain,
                              wm_arch **out, struct wm_diag *diag);

/* Opens the profile that same_as names and inherits from it. What is wrong in there is reported at same_as. */
static enum wm_status resolve_same_as(struct parser *parser)
{
    const struct chain here = {parser->arch->name, parser->chain};
    struct wm_diag inner;
    char message[WM_DIAG_TEXT_SIZE];
    enum wm_status status;

    for (const struct chain *link = &here; link; link = link->next) {
        if (!strcmp(link->name, parser->same_as))
            return wmi_diag_set(parser->diag, WM_E_NAME, parser->file, parser->same_as_line, parser->same_as_column,
                                "same_as: %.*s is the same as itself", QUOTE, parser->same_as);
    }
    status = open_in(parser->builtins, parser->same_as, &here, &parser->arch->base, &inner);
    if (status) {
        wm_diag_format(&inner, message, sizeof message);
        return wmi_diag_set(parser->diag, status, parser->file, parser->same_as_line, parser->same_as_column,
                            "same_as: %s", message);
    }
    return inherit(parser);
}

/* --------------------------------------------------------------------------------------------------- whole profile */

/* A copy of the value in the field that the model reads. */
static void store(wm_arch *arch, const struct wmi_rule *rule, uint64_t number)
{
    char *field = (char *)&arch->profile + rule->offset;

    if (rule->bytes == sizeof(uint64_t)) {
        memcpy(field, &number, sizeof number);
    } else {
        const uint32_t small = (uint32_t)number;

        memcpy(field, &small, sizeof small);
    }
}

/* Every key that is needed is there, and no other. */
static enum wm_status check_presence(const struct parser *parser)
{
    wm_arch *arch = parser->arch;
    const uint64_t tag_bank_bits = arch->entries[wmi_rule_find("l1.tag_bank_bits") - wmi_rules].number;

    for (size_t i = 0; i < wmi_rule_count; i++) {
        const struct wmi_rule *rule = &wmi_rules[i];
        struct wmi_entry *entry = &arch->entries[i];
        const int is_needed = rule->tag_bit <= tag_bank_bits;

        if (is_needed && !entry->value)
            return wmi_diag_set(parser->diag, WM_E_NAME, parser->file, 0, 0,
                                "missing key %s: expected \"%s = VALUE %s ; SOURCE\", or same_as", rule->name,
                                rule->name, rule->unit);
        if (!is_needed && entry->value && entry->line)
            return wmi_diag_set(parser->diag, WM_E_RANGE, parser->file, entry->line, entry->column,
                                "%s: given, but l1.tag_bank_bits is %llu", rule->name,
                                (unsigned long long)tag_bank_bits);
        if (!is_needed)
            memset(entry, 0, sizeof *entry);
    }
    return WM_OK;
}

/* An error in how keys go together, at the last of them that this file gives. */
static enum wm_status fail_together(const struct parser *parser, const char *const names[], const char *text)
{
    uint64_t line = 0;
    uint64_t column = 0;

    for (; *names; names++) {
        const struct wmi_entry *entry = &parser->arch->entries[wmi_rule_find(*names) - wmi_rules];

        if (entry->line > line) {
            line = entry->line;
            column = entry->column;
        }
    }
    return wmi_diag_set(parser->diag, WM_E_RANGE, parser->file, line, column, "%s", text);
}

static enum wm_status check_together(const struct parser *parser)
{
    static const char *const row[] = {"l1.line_bytes", "shared.banks", "shared.bank_bytes", NULL};
    static const char *const sector[] = {"l1.sector_bytes", "l1.line_bytes", NULL};
    const struct wm_profile *profile = &parser->arch->profile;

    if (profile->line_bytes != profile->banks * profile->bank_bytes)
        return fail_together(parser, row,
                             "l1.line_bytes: expected shared.banks times shared.bank_bytes: L1 and shared "
                             "memory are one array of banks");
    if (profile->sector_bytes > profile->line_bytes)
        return fail_together(parser, sector, "l1.sector_bytes: expected no more than l1.line_bytes");
    return WM_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct wmi_approximate *)a)->name, ((const struct wmi_approximate *)b)->name);
}

static struct wm_arch_key public_key(const char *name, const struct wmi_entry *entry)
{
    const struct wm_arch_key key = {name,         entry->value, entry->unit, entry->provenance, entry->reference,
                                    entry->origin};

    return key;
}

/* The list that wm_arch_key_at() shows. */
static enum wm_status list_keys(const struct parser *parser)
{
    wm_arch *arch = parser->arch;

    arch->keys = calloc(wmi_rule_count + arch->approximate_count, sizeof *arch->keys);
    if (!arch->keys)
        return out_of_memory(parser);
    for (size_t i = 0; i < wmi_rule_count; i++) {
        if (arch->entries[i].value)
            arch->keys[arch->key_count++] = public_key(wmi_rules[i].name, &arch->entries[i]);
    }
    if (arch->approximate_count)
        qsort(arch->approximates, arch->approximate_count, sizeof *arch->approximates, by_name);
    for (size_t i = 0; i < arch->approximate_count; i++)
        arch->keys[arch->key_count++] = public_key(arch->approximates[i].name, &arch->approximates[i].entry);
    return WM_OK;
}

static enum wm_status check_headers(const struct parser *parser)
{
    const wm_arch *arch = parser->arch;
    const char *missing = !arch->name          ? "name"
                          : !arch->description ? "description"
                          : !arch->capability  ? "compute_capability"
                                               : NULL;

    if (!missing)
        return WM_OK;
    return wmi_diag_set(parser->diag, WM_E_NAME, parser->file, 0, 0, "missing key %s: expected \"%s = ...\"", missing,
                        missing);
}

/* What can be done only after the last line. */
static enum wm_status finish(struct parser *parser)
{
    wm_arch *arch = parser->arch;
    enum wm_status status = check_headers(parser);

    if (status)
        return status;
    for (size_t i = 0; i < wmi_rule_count; i++)
        arch->entries[i].origin = arch->name;
    for (size_t i = 0; i < arch->approximate_count; i++)
        arch->approximates[i].entry.origin = arch->name;
    if (parser->same_as)
        status = resolve_same_as(parser);
    if (!status)
        status = check_presence(parser);
    if (status)
        return status;
    for (size_t i = 0; i < wmi_rule_count; i++)
        store(arch, &wmi_rules[i], arch->entries[i].number);
    status = check_together(parser);
    if (!status)
        status = list_keys(parser);
    if (status)
        return status;
    wmi_exactness_fill(arch);
    arch->profile.fast = wmi_fast_choose(&arch->profile, NULL);
    return WM_OK;
}

static enum wm_status parse_in(const struct wmi_builtin *builtins, const struct chain *chain, const char *text,
                               size_t length, const char *file, wm_arch **out, struct wm_diag *diag)
{
    struct parser parser = {.builtins = builtins, .chain = chain, .file = file, .diag = diag};
    enum wm_status status;

    if (length > FILE_SIZE_MAX)
        return wmi_diag_set(diag, WM_E_RANGE, file, 0, 0, "longer than 1 MiB: expected a GPU profile");
    parser.arch = calloc(1, sizeof *parser.arch);
    if (!parser.arch)
        return out_of_memory(&parser);
    parser.arch->entries = calloc(wmi_rule_count, sizeof *parser.arch->entries);
    parser.arch->text = malloc(length + 1);
    if (!parser.arch->entries || !parser.arch->text) {
        status = out_of_memory(&parser);
        goto fail;
    }
    if (length)
        memcpy(parser.arch->text, text, length);
    parser.arch->text[length] = '\0';
    status = parse_lines(&parser, parser.arch->text, length);
    if (!status)
        status = finish(&parser);
    if (status)
        goto fail;
    *out = parser.arch;
    return WM_OK;
fail:
    wm_arch_close(parser.arch);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- opening */

/* The lines of a compiled-in profile as one text. */
static char *join(const char *const *lines, size_t *length)
{
    size_t size = 0;
    char *text;

    for (const char *const *line = lines; *line; line++)
        size += strlen(*line) + 1;
    text = malloc(size + 1);
    if (!text)
        return NULL;
    *length = 0;
    for (const char *const *line = lines; *line; line++) {
        const size_t n = strlen(*line);

        memcpy(text + *length, *line, n);
        text[*length + n] = '\n';
        *length += n + 1;
    }
    return text;
}

static enum wm_status no_such_profile(const struct wmi_builtin *builtins, const char *name, struct wm_diag *diag)
{
    char names[WM_DIAG_TEXT_SIZE] = "";
    size_t used = 0;

    for (; builtins->name; builtins++) {
        const int n = snprintf(names + used, sizeof names - used, "%s%s", used ? " " : "", builtins->name);

        if (n < 0 || (size_t)n >= sizeof names - used)
            break;
        used += (size_t)n;
    }
    return wmi_diag_set(diag, WM_E_NAME, NULL, 0, 0, "no profile \"%.*s\": there are %s", QUOTE, name, names);
}

static enum wm_status open_in(const struct wmi_builtin *builtins, const char *name, const struct chain *chain,
                              wm_arch **out, struct wm_diag *diag)
{
    const struct wmi_builtin *builtin = builtins;
    char file[64];
    char *text;
    size_t length;
    enum wm_status status;

    while (builtin->name && strcmp(builtin->name, name) != 0)
        builtin++;
    if (!builtin->name)
        return no_such_profile(builtins, name, diag);
    text = join(builtin->lines, &length);
    if (!text)
        return wmi_diag_set(diag, WM_E_MEMORY, NULL, 0, 0, "out of memory");
    snprintf(file, sizeof file, "%s.arch (built in)", builtin->name);
    status = parse_in(builtins, chain, text, length, file, out, diag);
    free(text);
    return status;
}

enum wm_status wmi_arch_open(const struct wmi_builtin *builtins, const char *name, wm_arch **out, struct wm_diag *diag)
{
    return open_in(builtins, name, NULL, out, diag);
}

enum wm_status wmi_arch_parse(const struct wmi_builtin *builtins, const char *text, size_t length, const char *file,
                              wm_arch **out, struct wm_diag *diag)
{
    return parse_in(builtins, NULL, text, length, file, out, diag);
}

const char *wm_arch_name_at(size_t index)
{
    for (size_t i = 0; wmi_builtins[i].name; i++) {
        if (i == index)
            return wmi_builtins[i].name;
    }
    return NULL;
}

enum wm_status wm_arch_open(const char *name, wm_arch **out, struct wm_diag *diag)
{
    if (!name || !out)
        return wmi_diag_set(diag, WM_E_ARGUMENT, NULL, 0, 0, "a NULL pointer");
    return wmi_arch_open(wmi_builtins, name, out, diag);
}

enum wm_status wm_arch_parse(const char *text, size_t length, const char *file, wm_arch **out, struct wm_diag *diag)
{
    if ((!text && length) || !out)
        return wmi_diag_set(diag, WM_E_ARGUMENT, file, 0, 0, "a NULL pointer");
    return wmi_arch_parse(wmi_builtins, text, length, file, out, diag);
}

static enum wm_status io_error(const char *path, const char *what, int error, struct wm_diag *diag)
{
    return wmi_diag_set(diag, WM_E_IO, path, 0, 0, "cannot %s: %s", what, strerror(error));
}

enum wm_status wm_arch_load(const char *path, wm_arch **out, struct wm_diag *diag)
{
    FILE *file = NULL;
    char *text = NULL;
    size_t length;
    enum wm_status status;

    if (!path || !out)
        return wmi_diag_set(diag, WM_E_ARGUMENT, path, 0, 0, "a NULL pointer");
    file = fopen(path, "rb");
    if (!file)
        return io_error(path, "open", errno, diag);
    /* One byte more than is allowed, so that a longer file is told from one of just that length. */
    text = malloc((size_t)FILE_SIZE_MAX + 1);
    if (!text) {
        status = wmi_diag_set(diag, WM_E_MEMORY, path, 0, 0, "out of memory");
        goto done;
    }
    errno = 0;
    length = fread(text, 1, (size_t)FILE_SIZE_MAX + 1, file);
    if (ferror(file))
        status = io_error(path, "read", errno, diag);
    else
        status = wm_arch_parse(text, length, path, out, diag);
done:
    free(text);
    fclose(file);
    return status;
}

void wm_arch_close(wm_arch *arch)
{
    while (arch) {
        wm_arch *base = arch->base;

        while (arch->notes) {
            struct wmi_note *next = arch->notes->next;

            free(arch->notes);
            arch->notes = next;
        }
        free(arch->keys);
        free(arch->entries);
        free(arch->approximates);
        free(arch->text);
        free(arch);
        arch = base;
    }
}

/* ---------------------------------------------------------------------------------------------------------- looking */

const char *wm_arch_name(const wm_arch *arch)
{
    return arch->name;
}

const char *wm_arch_description(const wm_arch *arch)
{
    return arch->description;
}

unsigned wm_arch_capability(const wm_arch *arch)
{
    char *dot;
    unsigned long major;

    if (!arch)
        return 0;
    major = strtoul(arch->capability, &dot, 10);
    return (unsigned)(10 * major + strtoul(dot + 1, NULL, 10));
}

enum wm_status wm_arch_key_at(const wm_arch *arch, size_t index, struct wm_arch_key *out)
{
    if (!arch || !out)
        return WM_E_ARGUMENT;
    if (index >= arch->key_count)
        return WM_END;
    *out = arch->keys[index];
    return WM_OK;
}

const struct wm_profile *wm_arch_profile(const wm_arch *arch)
{
    return &arch->profile;
}
