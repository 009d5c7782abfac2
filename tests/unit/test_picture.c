/* Pictures of random accesses of every opcode: plain text within its columns, the same with and without colour, and words on
 * one line with the counts in them. The seed is printed; WARPMEM_SEED=N repeats a run. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "generate.h"
#include "picture.h"
#include "warpmem.h"

#define ACCESSES 4000U
#define DRAWINGS 24U

static uint64_t seed;

static uint64_t choose_seed(void)
{
    const char *text = getenv("WARPMEM_SEED");

    return text != NULL && *text != '\0' ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
}

/* The text without escape sequences and without blanks before line ends. */
static void strip(const char *text, struct buffer *out)
{
    buffer_clear(out);
    for (; *text; text++) {
        if (*text == '\033') {
            text = strchr(text, 'm');
            assert_non_null(text);
            continue;
        }
        while (*text == '\n' && out->length && out->data[out->length - 1] == ' ')
            out->length--;
        buffer_putc(out, *text);
    }
}

/* Plain ASCII, no line above columns, no blanks at line ends. */
static void check_plain(const char *text, size_t columns)
{
    size_t at = 0;

    for (; *text; text++) {
        if (at == columns && *text != '\n')
            print_error("above %zu columns: %.*s\n", columns, (int)at + 20, text - at);
        if (*text == '\n') {
            assert_true(at == 0 || text[-1] != ' ');
            at = 0;
            continue;
        }
        assert_true(*text >= ' ' && *text <= '~');
        assert_true(++at <= columns);
    }
    assert_int_equal(at, 0);
}

/* Whether a text has the number as a word of its own. */
static int has_number(const char *text, uint32_t number)
{
    char digits[16];
    const size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu32, number);

    for (const char *at = text; (at = strstr(at, digits)) != NULL; at++) {
        if ((at == text || at[-1] < '0' || at[-1] > '9') && (at[length] < '0' || at[length] > '9'))
            return 1;
    }
    return 0;
}

static void check_words(const char *words, const struct wm_counts *counts)
{
    const size_t length = strlen(words);

    assert_true(length > 50 && words[length - 1] == '.');
    for (size_t i = 0; i < length; i++)
        assert_true(words[i] >= ' ' && words[i] <= '~' && (words[i] != ' ' || words[i + 1] != ' '));
    if (counts->sectors)
        assert_true(has_number(words, counts->sectors));
    if (counts->shared_wavefronts)
        assert_true(has_number(words, counts->shared_wavefronts));
    if (counts->sectors && counts->lsu_wavefronts)
        assert_true(has_number(words, counts->lsu_wavefronts));
}

static void check_pictures(const char *name, unsigned max_width_bytes)
{
    struct buffer plain = {0}, coloured = {0}, stripped = {0}, words = {0};
    struct generator g;
    wm_arch *arch = NULL;

    print_message("# %s: WARPMEM_SEED=%" PRIu64 "\n", name, seed);
    assert_int_equal(wm_arch_open(name, &arch, NULL), WM_OK);
    assert_int_equal(generate_start(&g, seed, max_width_bytes), WM_OK);
    for (unsigned i = 0; i < ACCESSES; i++) {
        struct picture_style style = {0, 80 + i % 21};
        struct wm_access access;
        struct wm_counts counts;

        generate_access_of(&g, &g.opcode[i % g.opcodes], &access);
        access.l1 = i / g.opcodes % 2 ? WM_L1_HIT : WM_L1_MISS;
        if (wm_model(arch, &access, &counts) != WM_OK)
            continue;
        buffer_clear(&plain);
        buffer_clear(&coloured);
        buffer_clear(&words);
        picture_text(arch, &access, &counts, &style, &plain);
        style.has_colour = 1;
        picture_text(arch, &access, &counts, &style, &coloured);
        picture_words(arch, &access, &counts, &words);
        strip(buffer_text(&coloured), &stripped);
        check_plain(buffer_text(&plain), style.columns);
        assert_string_equal(buffer_text(&plain), buffer_text(&stripped));
        check_words(buffer_text(&words), &counts);
        assert_false(plain.failed || coloured.failed || words.failed);
    }
    wm_arch_close(arch);
    buffer_free(&plain);
    buffer_free(&coloured);
    buffer_free(&stripped);
    buffer_free(&words);
}

static void texts_keep_to_their_columns(void **state)
{
    (void)state;
    check_pictures("sm_90", 16);
    check_pictures("sm_75", 16);
    check_pictures("sm_120", 32);
}

/* Each format begins and ends as its files do. */
static void drawings_are_whole(void **state)
{
    static const struct {
        enum drawing_format format;
        const char *begin, *end;
    } formats[] = {{DRAWING_SVG, "<?xml ", "</svg>\n"},
                   {DRAWING_PNG, "\211PNG\r\n\032\n", "IEND\256B`\202"},
                   {DRAWING_PDF, "%PDF-", "%%EOF\n"}};
    struct generator g;
    wm_arch *arch = NULL;

    (void)state;
    if (!drawing_is_available())
        skip();
    assert_int_equal(wm_arch_open("sm_90", &arch, NULL), WM_OK);
    assert_int_equal(generate_start(&g, seed, 16), WM_OK);
    for (unsigned i = 0; i < DRAWINGS; i++) {
        const size_t end = strlen(formats[i % 3].end);
        struct buffer out = {0};
        struct wm_access access;
        struct wm_counts counts;

        generate_access(&g, &access);
        assert_int_equal(wm_model(arch, &access, &counts), WM_OK);
        assert_true(picture_draw(arch, &access, &counts, formats[i % 3].format, &out));
        assert_true(out.length > 1000);
        assert_memory_equal(out.data, formats[i % 3].begin, strlen(formats[i % 3].begin));
        assert_memory_equal(out.data + out.length - end, formats[i % 3].end, end);
        buffer_free(&out);
    }
    wm_arch_close(arch);
}

static void formats_go_by_the_ending(void **state)
{
    enum drawing_format format;

    (void)state;
    assert_true(drawing_format_by_name("a.b/c.svg", &format) && format == DRAWING_SVG);
    assert_true(drawing_format_by_name("c.PNG", &format) && format == DRAWING_PNG);
    assert_true(drawing_format_by_name(".pdf", &format) && format == DRAWING_PDF);
    assert_false(drawing_format_by_name("svg", &format));
    assert_false(drawing_format_by_name("c.svg.gz", &format));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_keep_to_their_columns),
        cmocka_unit_test(drawings_are_whole),
        cmocka_unit_test(formats_go_by_the_ending),
    };

    seed = choose_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
