/* Numbers out of text: against strtoull, the portable way and the one that the processor has. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trace/digits.h"

#define MARGIN 64

static uint64_t seed;

static uint64_t next_random(void)
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = (seed ^ (seed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (z ^ (z >> 27)) ^ (z >> 31);
}

static int is_hex(int c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Random bytes, most of them digits. */
static void fill(char *text, size_t size)
{
    static const char common[] = "0123456789abcdefABCDEF0123456789abcdef0123456789";

    for (size_t i = 0; i < size; i++)
        text[i] = next_random() % 20 ? common[next_random() % (sizeof common - 1)] : (char)next_random();
}

static void runs_and_values_are_those_of_strtoull(void **state)
{
    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[MARGIN + 32 + MARGIN];
        char *p = text + MARGIN;
        char copy[17] = {0};
        unsigned run = 0;

        fill(text, sizeof text);
        while (run < 16 && is_hex((unsigned char)p[run]))
            run++;
        assert_int_equal(wmi_hex_run(p), run);
        assert_int_equal(wmi_hex_run_portable(p), run);
        for (unsigned length = 0; length <= 16; length++)
            assert_int_equal(wmi_hex_run_is(p, length) != 0, run == length);
        for (unsigned length = 1; length <= run; length++) {
            memcpy(copy, p, length);
            copy[length] = '\0';
            assert_int_equal(wmi_hex_value(p, length), strtoull(copy, NULL, 16));
            assert_int_equal(wmi_hex_value_portable(p, length), strtoull(copy, NULL, 16));
        }
    }
}

static void every_byte_is_a_digit_or_not(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        for (unsigned at = 0; at < 16; at++) {
            char text[MARGIN + 16 + MARGIN];

            memset(text, '7', sizeof text);
            text[MARGIN + at] = (char)c;
            assert_int_equal(wmi_hex_run(text + MARGIN), is_hex(c) ? 16 : at);
            assert_int_equal(wmi_hex_run_portable(text + MARGIN), is_hex(c) ? 16 : at);
        }
    }
}

static void decimals_are_those_of_strtoul(void **state)
{
    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[32];
        char copy[9] = {0};
        uint32_t value = 99;
        unsigned run = 0;

        fill(text, sizeof text);
        if (i % 2)
            snprintf(text, sizeof text, "%" PRIu64, next_random() >> (next_random() % 64));
        while (run < 8 && text[run] >= '0' && text[run] <= '9')
            run++;
        assert_int_equal(wmi_decimal8(text, &value), run);
        memcpy(copy, text, run);
        assert_int_equal(value, run ? strtoul(copy, NULL, 10) : 99);
    }
}

static void a_token_ends_at_a_blank_or_a_control_character(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        for (size_t length = 0; length < 40; length++) {
            char text[40 + MARGIN];

            memset(text, 'x', sizeof text);
            memset(text + 40, '\n', MARGIN);
            text[length] = (char)c;
            assert_ptr_equal(wmi_token_end(text), text + (c <= ' ' ? length : 40));
        }
    }
}

static void spaces_are_marked(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        char text[64];
        uint64_t spaces = 0;
        uint64_t ends = 0;
        uint64_t found;

        for (unsigned k = 0; k < 64; k++) {
            text[k] = (char)(next_random() % 3 ? next_random() % 256 : next_random() % 2 ? ' ' : '\n');
            spaces |= (uint64_t)(text[k] == ' ') << k;
            ends |= (uint64_t)((unsigned char)text[k] <= ' ') << k;
        }
        assert_int_equal(wmi_spaces(text, &found), spaces);
        assert_int_equal(found, ends);
        assert_int_equal(wmi_spaces_portable(text, &found), spaces);
        assert_int_equal(found, ends);
    }
}

/* The list reader's contract, one character after the other. */
static unsigned naive_list(const char **at, unsigned n, char delimiter, uint64_t *values)
{
    const char *p = *at;
    unsigned count = 0;

    while (count < n && p[0] == '0' && p[1] == 'x') {
        uint64_t value = 0;
        unsigned length = 0;

        for (; is_hex((unsigned char)p[2 + length]) && length < 17; length++)
            value = value << 4 | (uint64_t)strtoul((char[]){p[2 + length], 0}, NULL, 16);
        if (length == 0 || length > 16)
            break;
        values[count++] = value;
        p += 2 + length;
        if (*p != delimiter)
            break;
        p++;
    }
    *at = p;
    return count;
}

typedef unsigned (*list_function)(const char **, unsigned, char, uint64_t *);

static void compare_list(list_function function, const char *text, unsigned n, char delimiter)
{
    uint64_t expected[WMI_LIST_MAX];
    uint64_t values[WMI_LIST_MAX + 1];
    const char *expected_at = text;
    const char *at = text;
    const unsigned count = naive_list(&expected_at, n, delimiter, expected);

    memset(values, 0xee, sizeof values);
    assert_int_equal(function(&at, n, delimiter, values), count);
    assert_ptr_equal(at, expected_at);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(values[i], expected[i]);
    /* Nothing is written behind the n numbers that were asked for. */
    assert_int_equal(values[n], UINT64_C(0xeeeeeeeeeeeeeeee));
}

static void lists_are_read_as_one_digit_after_the_other(void **state)
{
    static const char *const ends[] = {"]", "\n", " \n", " pc=0x40\n", ",0x5]\n", "0]\n", "x]", ",,0x1]", "\r\n"};

    (void)state;
    for (int i = 0; i < 200000; i++) {
        const unsigned n = (unsigned)(next_random() % (WMI_LIST_MAX + 1));
        const unsigned written = next_random() % 8 ? n : (unsigned)(next_random() % (WMI_LIST_MAX + 1));
        const char delimiter = next_random() % 2 ? ',' : ' ';
        const unsigned digits = (unsigned)(next_random() % 17);
        char text[MARGIN + 40 * 24 + MARGIN];
        char *p = text + MARGIN;

        memset(text, 0, sizeof text);
        p[-1] = '[';
        for (unsigned k = 0; k < written; k++) {
            const uint64_t value = next_random() >> (digits == 0 ? 56U : 64 - 4 * digits);

            if (next_random() % 200 == 0)
                p += sprintf(p, next_random() % 2 ? "%" PRIu64 : "0X%" PRIX64, value);
            else if (digits == 16 || next_random() % 300 == 0)
                p += sprintf(p, "0x%0*" PRIx64, next_random() % 100 ? 16 : 17, value);
            else
                p += sprintf(p, next_random() % 100 ? "0x%" PRIx64 : "0x%" PRIX64, value);
            if (k + 1 < written)
                *p++ = delimiter;
        }
        p += sprintf(p, "%s", ends[next_random() % (sizeof ends / sizeof ends[0])]);
        /* A wrong byte somewhere. */
        if (next_random() % 4 == 0)
            text[MARGIN + next_random() % (uint64_t)(p - text - MARGIN)] = (char)next_random();
        compare_list(wmi_hex_list, text + MARGIN, n, delimiter);
        compare_list(wmi_hex_list_plain, text + MARGIN, n, delimiter);
    }
}

static void strides_are_counted_up(void **state)
{
    (void)state;
    for (int i = 0; i < 10000; i++) {
        const uint64_t base = next_random() >> (next_random() % 64);
        const uint64_t stride = next_random() % 2 ? next_random() : next_random() % 64 - 32;
        uint64_t values[33];
        uint64_t plain[33];
        uint64_t expected = base;

        values[32] = plain[32] = 77;
        wmi_fill_stride(base, stride, values);
        wmi_fill_stride_plain(base, stride, plain);
        for (unsigned k = 0; k < 32; k++, expected += stride) {
            assert_int_equal(values[k], expected);
            assert_int_equal(plain[k], expected);
        }
        assert_int_equal(values[32], 77);
        assert_int_equal(plain[32], 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_and_values_are_those_of_strtoull),
        cmocka_unit_test(every_byte_is_a_digit_or_not),
        cmocka_unit_test(decimals_are_those_of_strtoul),
        cmocka_unit_test(a_token_ends_at_a_blank_or_a_control_character),
        cmocka_unit_test(spaces_are_marked),
        cmocka_unit_test(lists_are_read_as_one_digit_after_the_other),
        cmocka_unit_test(strides_are_counted_up),
    };
    const char *given = getenv("SEED");

    seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    printf("# SEED=%" PRIu64 "\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
