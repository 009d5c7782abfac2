/* Advice for people and for programs. */
#include "finder.h"

#include "report.h"

#include <string.h>

#define LABEL_WIDTH 36
#define EXECUTED_WIDTH 10
#define CYCLES_WIDTH 10
#define INDENT 4

static const struct {
    const char *heading;
    int width;
    enum wm_counter counter;
} columns[] = {
    {"sectors", 10, WM_SECTORS},
    {"tag wf.", 10, WM_TAG_WAVEFRONTS},
    {"data wf.", 10, WM_LSU_WAVEFRONTS},
    {"L2 sect.", 10, WM_L2_SECTORS},
};

#define COLUMNS (sizeof columns / sizeof *columns)

/* Data wavefronts, in whichever memory the site is. */
static uint64_t column_value(const struct cost *cost, size_t column)
{
    uint64_t value = cost->sums[columns[column].counter];

    return columns[column].counter == WM_LSU_WAVEFRONTS ? value + cost->sums[WM_SHARED_WAVEFRONTS] : value;
}

static void heading(struct buffer *out)
{
    buffer_spaces(out, INDENT);
    table_text("line, opcode", LABEL_WIDTH, out);
    buffer_printf(out, "%*s", EXECUTED_WIDTH, "executed");
    for (size_t i = 0; i < COLUMNS; i++)
        buffer_printf(out, "%*s", columns[i].width, columns[i].heading);
    buffer_printf(out, "%*s", CYCLES_WIDTH, "cycles");
    buffer_putc(out, '\n');
}

static void numbers(const struct cost *cost, struct buffer *out)
{
    table_count(cost->instructions, EXECUTED_WIDTH, out);
    for (size_t i = 0; i < COLUMNS; i++)
        table_count(column_value(cost, i), (size_t)columns[i].width, out);
    table_count((uint64_t)(cost->cycles + 0.5), CYCLES_WIDTH, out);
}

/* The end of a longer label is what tells it from others. */
static void label(const char *text, size_t width, struct buffer *out)
{
    size_t length = strlen(text);

    buffer_spaces(out, INDENT);
    if (length > LABEL_WIDTH) {
        text += length - (LABEL_WIDTH - 3);
        buffer_puts(out, "...");
        width = width > 3 ? width - 3 : 0;
    }
    table_text(text, width, out);
}

static void effect_lines(const struct advice *advice, const struct effect *effect, struct buffer *out)
{
    struct buffer text = {0};

    for (size_t i = 0; i + 1 < effect->n_sites; i++) {
        buffer_clear(&text);
        say_site(effect->sites[i], &text);
        buffer_putc(&text, ',');
        label(buffer_text(&text), 0, out);
        buffer_putc(out, '\n');
    }
    buffer_clear(&text);
    say_site(effect->sites[effect->n_sites - 1], &text);
    label(buffer_text(&text), LABEL_WIDTH, out);
    numbers(&effect->before, out);
    buffer_putc(out, '\n');
    buffer_clear(&text);
    buffer_puts(&text, advice->is_bound ? "  at best (a bound, not simulated)" : "  then");
    if (effect->note)
        buffer_printf(&text, " %s", effect->note);
    if (effect->after.sums[WM_SECTORS] > effect->before.sums[WM_SECTORS] ||
        effect->after.sums[WM_SHARED_WAVEFRONTS] > effect->before.sums[WM_SHARED_WAVEFRONTS])
        buffer_puts(&text, ": more");
    label(buffer_text(&text), LABEL_WIDTH, out);
    numbers(&effect->after, out);
    buffer_putc(out, '\n');
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

/* How far the counts can be trusted: those of the opcodes that are there. */
static void say_exactness(const struct sites *sites, struct buffer *out)
{
    wm_tally *opcodes;

    if (wm_tally_new(sites->arch, WM_BY_OPCODE, &opcodes) != WM_OK) {
        out->failed = BUFFER_NO_MEMORY;
        return;
    }
    for (size_t i = 0; i < sites->n; i++) {
        struct wm_counts counts;

        if (sites->list[i].region == NO_REGION)
            continue;
        if (wm_model(sites->arch, &sites->list[i].accesses[0], &counts) != WM_OK ||
            wm_tally_add(opcodes, &sites->list[i].accesses[0], &counts) != WM_OK)
            out->failed = BUFFER_NO_MEMORY;
    }
    table_notes(opcodes, out);
    wm_tally_free(opcodes);
}

static void legend(const struct global_advice *all, struct buffer *out)
{
    struct buffer text = {0};

    table_wrapped(
        "wf.: wavefronts, which are passes of the tag stage, and of the data stage of L1 or shared memory; cycles: of "
        "one SM, predicted and never exact; then: simulated after the change",
        0, 4, out);
    if (all->left_out) {
        buffer_puts(&text, "only the first executions of each instruction are looked at, as there are so many: ");
        table_count(all->left_out, 0, &text);
        buffer_puts(&text, " more are in none of these numbers");
        table_wrapped(buffer_text(&text), 0, 4, out);
    }
    buffer_free(&text);
    say_exactness(&all->sites, out);
    buffer_putc(out, '\n');
}

void global_advice_table(const struct global_advice *all, struct buffer *out)
{
    const struct advice_list *list = &all->list;
    struct buffer text = {0};

    if (list->n)
        legend(all, out);
    for (size_t i = 0; i < list->n; i++) {
        const struct advice *advice = &list->list[i];

        buffer_clear(&text);
        buffer_printf(&text, "%zu. ", i + 1);
        if (advice->instead_of)
            buffer_printf(&text, "(or, instead of %zu) ", advice->instead_of);
        buffer_puts(&text, advice->title);
        table_wrapped(buffer_text(&text), 0, INDENT, out);
        table_wrapped(advice->words, INDENT, INDENT, out);
        heading(out);
        for (size_t k = 0; k < advice->n_effects; k++)
            effect_lines(advice, &advice->effects[k], out);
        if (i + 1 < list->n)
            buffer_putc(out, '\n');
    }
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void json_lines(const struct effect *effect, struct json_line *line)
{
    struct buffer text = {0};

    for (size_t i = 0; i < effect->n_sites; i++) {
        if (i)
            buffer_puts(&text, "; ");
        say_site(effect->sites[i], &text);
    }
    json_line_text(line, "lines", buffer_text(&text));
    buffer_free(&text);
}

static void json_cost(const struct cost *cost, const char *when, struct json_line *line)
{
    struct buffer name = {0};

    buffer_printf(&name, "instructions_%s", when);
    json_line_number(line, buffer_text(&name), cost->instructions);
    buffer_clear(&name);
    buffer_printf(&name, "cycles_%s", when);
    json_line_number(line, buffer_text(&name), (uint64_t)(cost->cycles + 0.5));
    for (int c = 0; c < WM_COUNTERS; c++) {
        buffer_clear(&name);
        buffer_printf(&name, "%s_%s", wm_counter_name((enum wm_counter)c), when);
        json_line_number(line, buffer_text(&name), cost->sums[c]);
    }
    buffer_free(&name);
}

static void json_effect(const struct sites *sites, const struct advice *advice, size_t number,
                        const struct effect *effect, int is_first, struct buffer *out)
{
    struct json_line *line = json_line_new();

    if (!line) {
        out->failed = BUFFER_NO_MEMORY;
        return;
    }
    json_line_text(line, "kernel", sites->list[0].kernel);
    json_line_number(line, "advice", number);
    json_line_text(line, "kind", advice_kind_name(advice->kind));
    json_line_number(line, "instead_of", advice->instead_of);
    json_line_text(line, "title", advice->title);
    json_line_text(line, "words", advice->words);
    json_line_text(line, "after", advice->is_bound ? "bound" : "simulated");
    json_lines(effect, line);
    json_cost(&effect->before, "before", line);
    json_cost(&effect->after, "after", line);
    json_line_dump(line, is_first, out);
    json_line_free(line);
}

void global_advice_json(const struct global_advice *all, int *is_first, struct buffer *out)
{
    const struct advice_list *list = &all->list;

    for (size_t i = 0; i < list->n; i++) {
        for (size_t k = 0; k < list->list[i].n_effects; k++) {
            json_effect(&all->sites, &list->list[i], i + 1, &list->list[i].effects[k], *is_first, out);
            *is_first = 0;
        }
    }
}
