/* What was found about an array in shared memory: for people and for programs. */
#include "config.h"

#include "shared_advice.h"

#include "report.h"

#include <string.h>

#define INDENT 4
#define MOST_PLACE_WIDTH 32
#define EXECUTED_WIDTH 10
#define EACH_WIDTH 10

/* Of the columns of text, with a blank behind each. */
struct widths {
    size_t place;
    size_t opcode;
};

/* Statically allocated shared memory ends there: CUDA C++ Programming Guide, "Shared Memory" of each compute
 * capability. */
#define MOST_STATIC_BYTES (UINT64_C(48) << 10)

static const char *const column_names[SHARED_CHOICES] = {"padded", "XORed", "other map"};

static void say_place(const struct shared_line *line, struct buffer *out)
{
    struct buffer name = {0};

    if (line->file)
        table_name(line->file, &name);
    if (line->line)
        report_line(line->file ? buffer_text(&name) : NULL, line->line, out);
    else
        report_pc(line->pc, out);
    if (name.failed)
        out->failed = name.failed;
    buffer_free(&name);
}

/* ------------------------------------------------------------------------------------------------------------ lines */

static void find_widths(const struct shared_advice *advice, struct widths *out)
{
    struct buffer place = {0};

    *out = (struct widths){sizeof "line or pc", sizeof "opcode"};
    for (size_t i = 0; i < advice->n_lines; i++) {
        char opcode[WM_OPCODE_TEXT_SIZE];
        const size_t length = wm_opcode_format(&advice->lines[i].opcode, opcode) + 1;

        buffer_clear(&place);
        say_place(&advice->lines[i], &place);
        if (place.length + 1 > out->place)
            out->place = place.length + 1;
        if (length > out->opcode)
            out->opcode = length;
    }
    if (out->place > MOST_PLACE_WIDTH)
        out->place = MOST_PLACE_WIDTH;
    buffer_free(&place);
}

/* The end of a longer label is what tells it from others. */
static void add_place(const struct shared_line *line, size_t width, struct buffer *out)
{
    struct buffer text = {0};
    size_t length;

    say_place(line, &text);
    length = text.length;
    if (length >= width) {
        buffer_puts(out, "...");
        table_text(buffer_text(&text) + length - (width - 4), width - 3, out);
    } else {
        table_text(buffer_text(&text), width, out);
    }
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

static void add_heading(const struct shared_advice *advice, const struct widths *widths, struct buffer *out)
{
    buffer_spaces(out, INDENT);
    table_text("line or pc", widths->place, out);
    table_text("opcode", widths->opcode, out);
    buffer_printf(out, "%*s%*s%*s", EXECUTED_WIDTH, "executed", EACH_WIDTH, "wavefr.", EACH_WIDTH, "ideal");
    for (int c = 0; c < SHARED_CHOICES; c++) {
        if (advice->results[c].is_found)
            buffer_printf(out, "%*s", EACH_WIDTH, column_names[c]);
    }
    buffer_putc(out, '\n');
}

static void add_line(const struct shared_advice *advice, const struct shared_line *line, const struct widths *widths,
                     struct buffer *out)
{
    char opcode[WM_OPCODE_TEXT_SIZE] = "";

    wm_opcode_format(&line->opcode, opcode);
    buffer_spaces(out, INDENT);
    add_place(line, widths->place, out);
    table_text(opcode, widths->opcode, out);
    table_count(line->executed, EXECUTED_WIDTH, out);
    table_ratio(line->now, line->executed, EACH_WIDTH, out);
    table_ratio(line->floor, line->executed, EACH_WIDTH, out);
    for (int c = 0; c < SHARED_CHOICES; c++) {
        if (advice->results[c].is_found)
            table_ratio(line->after[c], line->executed, EACH_WIDTH, out);
    }
    buffer_putc(out, '\n');
}

static void add_lines(const struct shared_advice *advice, struct buffer *out)
{
    int has_past_l1 = 0, has_held_up = 0;
    struct widths widths;

    find_widths(advice, &widths);
    add_heading(advice, &widths, out);
    for (size_t i = 0; i < advice->n_lines; i++) {
        add_line(advice, &advice->lines[i], &widths, out);
        has_past_l1 |= advice->lines[i].is_past_l1;
        has_held_up |= advice->lines[i].is_held_up;
    }
    if (has_past_l1)
        table_wrapped("cp.async.cg goes past L1 and has no wavefronts in shared memory: what is counted for it are tag "
                      "wavefronts, which depend on how many rows of 128 bytes its destination lies in",
                      INDENT, INDENT, out);
    if (has_held_up)
        table_wrapped("the ideal of cp.async.ca is what its source needs, whatever the destination", INDENT, INDENT,
                      out);
}

/* ---------------------------------------------------------------------------------------------------------- answers */

static void say_extents(const struct wm_array *array, struct buffer *out)
{
    for (unsigned d = 0; d < array->dimensions; d++)
        buffer_printf(out, "[%llu]", (unsigned long long)array->extent[d]);
}

static void say_padding(const struct wm_array *array, const struct bank_layout *layout, struct buffer *out)
{
    const unsigned inner = array->dimensions - 1;
    const char *comma = "";

    if (layout->kind == LAYOUT_SKIP) {
        buffer_printf(out, "padding: %llu element%s left out after every %llu", (unsigned long long)layout->skip,
                      plural(layout->skip), (unsigned long long)layout->every);
        if (layout->is_twice)
            buffer_printf(out, ", and again after every %llu", (unsigned long long)(layout->every * layout->every));
        return;
    }
    buffer_puts(out, "padding: ");
    for (unsigned d = inner; d >= 1; d--) {
        const uint64_t extra = layout->extent[d] - array->extent[d];

        if (!extra)
            continue;
        buffer_printf(out, "%s%s longer by %llu %s%s", comma, d == inner ? "rows" : "planes", (unsigned long long)extra,
                      d == inner ? "element" : "row", plural(extra));
        comma = ", ";
    }
}

static void say_bytes(const struct wm_array *array, const struct bank_layout *layout, struct buffer *out)
{
    const uint64_t more = layout->size_bytes - array->size_bytes;

    if (!more) {
        buffer_puts(out, "; no byte more");
        return;
    }
    buffer_puts(out, "; ");
    table_count(more, 0, out);
    buffer_printf(out, " byte%s more, ", plural(more));
    table_count(layout->size_bytes, 0, out);
    buffer_puts(out, " in all");
    if (layout->size_bytes > MOST_STATIC_BYTES && array->size_bytes <= MOST_STATIC_BYTES && !array->is_dynamic)
        buffer_puts(out, ", above the 48 KiB that may be declared without extern");
}

static void say_kind(const struct shared_advice *advice, enum shared_choice choice, struct buffer *out)
{
    const struct bank_layout *layout = &advice->results[choice].layout;

    if (choice == SHARED_PAD)
        say_padding(advice->array, layout, out);
    else if (choice == SHARED_THREADS)
        buffer_puts(out, "another map of threads: loads take other elements, stores and the array stay");
    else if (layout->is_swizzle)
        buffer_printf(out, "swizzle: Swizzle<%u,%u,%u> of the index", layout->b, layout->m, layout->s);
    else if (layout->kind == LAYOUT_ROW_XOR)
        buffer_puts(out, "swizzle: bits of the column XORed with bits of the row");
    else
        buffer_puts(out, "swizzle: index bits XORed with others");
    if (choice != SHARED_THREADS)
        say_bytes(advice->array, layout, out);
}

static void say_cost(const struct shared_advice *advice, const struct shared_result *result, struct buffer *out)
{
    const uint64_t excess = result->cost.excess, tags = result->cost.tags;

    buffer_puts(out, "; ");
    if (result->is_perfect) {
        buffer_puts(out, "every access at its ideal");
        return;
    }
    if (excess == 0) {
        buffer_puts(out, "no wavefront above the ideal");
    } else {
        table_count(excess, 0, out);
        buffer_puts(out, " of ");
        table_count(advice->now.excess, 0, out);
        buffer_printf(out, " wavefronts above the ideal %s left", excess == 1 ? "is" : "are");
    }
    if (tags > advice->now.tags) {
        buffer_puts(out, ", but ");
        table_count(tags - advice->now.tags, 0, out);
        buffer_puts(out, " tag wavefronts more: rows no longer begin at multiples of 128 bytes");
    } else if (tags == advice->now.tags && tags) {
        buffer_puts(out, "; the ");
        table_count(tags, 0, out);
        buffer_printf(out, " tag wavefront%s above the ideal stay%s", plural(tags), tags == 1 ? "s" : "");
    } else if (tags) {
        buffer_puts(out, "; ");
        table_count(tags, 0, out);
        buffer_puts(out, " of ");
        table_count(advice->now.tags, 0, out);
        buffer_printf(out, " tag wavefronts above the ideal %s left", tags == 1 ? "is" : "are");
    }
}

/* How much was looked at, where that did not end in something perfect. */
static void say_search(const struct shared_advice *advice, enum shared_choice choice, struct buffer *out)
{
    const struct shared_result *result = &advice->results[choice];

    if (result->cost.excess == 0)
        return;
    if (choice == SHARED_XOR && result->is_proven)
        buffer_puts(out, "; no XOR of index bits, and no other linear map of them, does better: all were searched");
    else if (choice == SHARED_XOR)
        buffer_puts(out, "; not all linear maps of the index bits were looked at");
    else
        buffer_printf(out, "; none of the %zu looked at does better", result->tried);
}

static void add_paste(const struct shared_advice *advice, enum shared_choice choice, struct buffer *out)
{
    const struct wm_array *array = advice->array;
    const struct bank_layout *layout = &advice->results[choice].layout;
    struct buffer cute = {0};

    if (choice != SHARED_THREADS) {
        buffer_spaces(out, INDENT + 4);
        shared_declarations(advice, choice, "\n        ", out);
        buffer_putc(out, '\n');
    }
    buffer_spaces(out, INDENT + 4);
    layout_index(array, layout, out);
    if (choice == SHARED_THREADS)
        buffer_puts(out, "   where it was the plain index");
    else if (layout->kind == LAYOUT_PAD)
        buffer_puts(out, "   as before");
    buffer_putc(out, '\n');
    if (choice == SHARED_THREADS)
        table_wrapped("A thread then has other elements than before: whatever it does with them has to follow, as where "
                      "it adds their products, or stores its results.",
                      INDENT + 4, INDENT + 4, out);
    if (choice != SHARED_THREADS)
        layout_cute(array, layout, &cute);
    if (cute.length) {
        buffer_spaces(out, INDENT + 4);
        buffer_printf(out, "CuTe: %s\n", buffer_text(&cute));
    }
    if (cute.failed)
        out->failed = cute.failed;
    buffer_free(&cute);
}

/* Letters, which begin anew with each array: numbers are those of advice on global memory, which the path refers to. */
static void add_answer(const struct shared_advice *advice, enum shared_choice choice, char letter, struct buffer *out)
{
    struct buffer text = {0};

    buffer_printf(&text, "%c) ", letter);
    say_kind(advice, choice, &text);
    say_cost(advice, &advice->results[choice], &text);
    say_search(advice, choice, &text);
    table_wrapped(buffer_text(&text), INDENT, INDENT + 3, out);
    add_paste(advice, choice, out);
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

static void add_nothing(const struct shared_advice *advice, enum shared_choice choice, struct buffer *out)
{
    static const char *const names[SHARED_CHOICES] = {"padding", "swizzle", "map of threads"};
    const struct shared_result *result = &advice->results[choice];
    struct buffer text = {0};

    if (result->why_not)
        buffer_printf(&text, "no %s: %s", names[choice], result->why_not);
    else if (choice == SHARED_XOR && result->is_proven)
        buffer_puts(&text,
                    "no swizzle: no XOR of index bits, and no other linear map of them, is better than the array "
                    "as it is; all were searched");
    else if (choice == SHARED_XOR)
        buffer_printf(&text, "no swizzle: none of those looked at is better than the array as it is");
    else
        buffer_printf(&text, "no %s: none of the %zu looked at is better than the array as it is", names[choice],
                      result->tried);
    table_wrapped(buffer_text(&text), INDENT, INDENT, out);
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

/* What speaks for one answer and what for another. */
static void add_trade(const struct shared_advice *advice, struct buffer *out)
{
    const struct shared_result *pad = &advice->results[SHARED_PAD];
    const struct shared_result *swizzle = &advice->results[SHARED_XOR];
    const struct shared_cost *a = &pad->cost, *b = &swizzle->cost;
    struct buffer text = {0};

    if (!pad->is_found || !swizzle->is_found)
        return;
    if (a->excess != b->excess || a->tags != b->tags)
        buffer_printf(&text, "%s takes fewer wavefronts than %s", shared_is_less(a, b) ? "a)" : "b)",
                      shared_is_less(a, b) ? "b)" : "a)");
    else
        buffer_puts(&text, "Both take the same wavefronts");
    buffer_puts(&text,
                pad->layout.kind == LAYOUT_PAD
                    ? ". a) is a change of the declaration alone; with b) every index to the array has to be written "
                      "so"
                    : ". With both, every index to the array has to be written so");
    if (swizzle->layout.size_bytes == advice->array->size_bytes) {
        buffer_puts(&text, "; b) takes no more memory.");
    } else if (swizzle->layout.size_bytes != pad->layout.size_bytes) {
        const int is_less = swizzle->layout.size_bytes < pad->layout.size_bytes;

        buffer_printf(&text, "; %s takes less memory.", is_less ? "b)" : "a)");
    } else {
        buffer_puts(&text, "; both take the same memory.");
    }
    table_wrapped(buffer_text(&text), INDENT, INDENT, out);
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

static int is_any_found(const struct shared_advice *advice)
{
    for (int c = 0; c < SHARED_CHOICES; c++) {
        if (advice->results[c].is_found)
            return 1;
    }
    return 0;
}

/* What was not looked for, as it was not asked for. */
static void add_hint(const struct shared_advice *advice, struct buffer *out)
{
    const struct shared_result *threads = &advice->results[SHARED_THREADS];

    if (threads->tried || threads->why_not ||
        (advice->results[SHARED_PAD].is_perfect && advice->results[SHARED_XOR].is_perfect))
        return;
    table_wrapped("--allow-thread-map looks for threads that load other elements, too, with the array as it is.", INDENT,
                  INDENT, out);
}

static void add_title(const struct shared_advice *advice, struct buffer *out)
{
    const struct wm_array *array = advice->array;
    struct buffer text = {0};

    buffer_printf(&text, "%s: %s ", array->name, array->element);
    say_extents(array, &text);
    buffer_puts(&text, ", ");
    table_count(array->size_bytes, 0, &text);
    buffer_printf(&text, " byte%s of shared memory at %llu: ", plural(array->size_bytes),
                  (unsigned long long)array->address);
    if (!advice->executed)
        buffer_puts(&text, "no access touches it");
    else if (!advice->now.excess && !advice->now.tags)
        buffer_puts(&text, "every access at its ideal, nothing to fix");
    else if (!is_any_found(advice))
        buffer_puts(&text, "nothing better was found");
    else
        buffer_printf(&text,
                      advice->n_accesses == 1 ? "%zu access, simulated in each layout"
                                              : "%zu different accesses, simulated in each layout",
                      advice->n_accesses);
    buffer_puts(out, "  ");
    table_wrapped(buffer_text(&text), 0, INDENT, out);
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

void shared_advice_table(const struct shared_advice *advice, struct buffer *out)
{
    char letter = 'a';

    add_title(advice, out);
    if (!advice->executed)
        return;
    add_lines(advice, out);
    if (!advice->now.excess && !advice->now.tags)
        return;
    buffer_putc(out, '\n');
    for (int c = 0; c < SHARED_CHOICES; c++) {
        if (advice->results[c].is_found)
            add_answer(advice, (enum shared_choice)c, letter++, out);
        else if (c != SHARED_THREADS || advice->results[c].tried || advice->results[c].why_not)
            add_nothing(advice, (enum shared_choice)c, out);
    }
    if (advice->reason)
        table_wrapped(advice->reason, INDENT, INDENT, out);
    if (advice->is_stopped)
        table_wrapped("The search was stopped: there is more to look at than its limit allows.", INDENT, INDENT, out);
    add_trade(advice, out);
    add_hint(advice, out);
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void put_text(struct json_line *line, const char *name, struct buffer *text)
{
    json_line_text(line, name, buffer_text(text));
    buffer_clear(text);
}

static const char *kind_name(const struct shared_advice *advice, enum shared_choice choice)
{
    if (choice == SHARED_PAD)
        return "padding";
    if (choice == SHARED_THREADS)
        return "thread-map";
    return advice->results[choice].layout.is_swizzle ? "swizzle" : "xor";
}

static void put_result(const struct shared_advice *advice, enum shared_choice choice, struct json_line *line,
                       struct buffer *text)
{
    const struct shared_result *result = &advice->results[choice];

    json_line_number(line, "bytes_after", result->layout.size_bytes);
    json_line_number(line, "perfect", (uint64_t)result->is_perfect);
    json_line_number(line, "proven", (uint64_t)(result->is_perfect || result->is_proven));
    if (choice != SHARED_THREADS)
        shared_declarations(advice, choice, " ", text);
    put_text(line, "declaration", text);
    layout_index(advice->array, &result->layout, text);
    put_text(line, "index", text);
    if (choice != SHARED_THREADS)
        layout_cute(advice->array, &result->layout, text);
    put_text(line, "cute", text);
}

/* choice SHARED_CHOICES: as the array is. */
static void put_line(const struct access_kernel *kernel, const struct shared_advice *advice,
                     const struct shared_line *row, enum shared_choice choice, int is_first, struct buffer *out)
{
    struct json_line *line = json_line_new();
    char opcode[WM_OPCODE_TEXT_SIZE] = "";
    struct buffer text = {0};

    if (!line) {
        out->failed = BUFFER_NO_MEMORY;
        return;
    }
    wm_opcode_format(&row->opcode, opcode);
    json_line_text(line, "kernel", kernel->kernel.name);
    json_line_text(line, "kind", choice == SHARED_CHOICES ? "none" : kind_name(advice, choice));
    json_line_text(line, "array", advice->array->name);
    report_line(row->file, row->line, &text);
    put_text(line, "line", &text);
    report_pc(row->pc, &text);
    put_text(line, "pc", &text);
    json_line_text(line, "opcode", opcode);
    json_line_text(line, "counter", wm_counter_name(row->is_past_l1 ? WM_TAG_WAVEFRONTS : WM_SHARED_WAVEFRONTS));
    json_line_number(line, "instructions", row->executed);
    json_line_number(line, "before", row->now);
    json_line_number(line, "after", choice == SHARED_CHOICES ? row->now : row->after[choice]);
    json_line_number(line, "ideal", row->floor);
    json_line_number(line, "bytes_before", advice->array->size_bytes);
    if (choice != SHARED_CHOICES)
        put_result(advice, choice, line, &text);
    if (advice->reason)
        json_line_text(line, "reason", advice->reason);
    json_line_dump(line, is_first, out);
    json_line_free(line);
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

void shared_advice_json(const struct access_kernel *kernel, const struct shared_advice *advice, int *is_first,
                        struct buffer *out)
{
    const int is_any = is_any_found(advice);

    for (int c = 0; c <= SHARED_CHOICES; c++) {
        if (c == SHARED_CHOICES ? is_any : !advice->results[c].is_found)
            continue;
        for (size_t i = 0; i < advice->n_lines; i++) {
            put_line(kernel, advice, &advice->lines[i], (enum shared_choice)c, *is_first, out);
            *is_first = 0;
        }
    }
}
