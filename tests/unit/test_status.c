/* Version, status texts, and how a diagnostic is written. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "model/status.h"
#include "warpmem.h"

static void version_is_the_headers(void **state)
{
    char text[64];

    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", WM_VERSION_MAJOR, WM_VERSION_MINOR, WM_VERSION_PATCH);
    assert_string_equal(wm_version(), text);
}

static void every_status_has_a_text_of_its_own(void **state)
{
    (void)state;
    for (int a = WM_OK; a <= WM_E_NAME; a++) {
        const char *text = wm_status_text((enum wm_status)a);

        assert_string_not_equal(text, "unknown status");
        assert_true(text[0] >= 'a' && text[0] <= 'z');
        assert_true(text[strlen(text) - 1] != '.');
        for (int b = WM_OK; b < a; b++)
            assert_string_not_equal(text, wm_status_text((enum wm_status)b));
    }
    assert_string_equal(wm_status_text((enum wm_status)(WM_E_NAME + 1)), "unknown status");
    assert_string_equal(wm_status_text((enum wm_status) - 1), "unknown status");
}

static void diagnostic_leaves_out_what_is_not_known(void **state)
{
    static const struct {
        const char *file;
        uint64_t line, column;
        const char *expected;
    } cases[] = {
        {"a.wmt", 3, 14, "a.wmt:3:14: bad"},
        {"a.wmt", 3, 0, "a.wmt:3: bad"},
        {"a.wmt", 0, 0, "a.wmt: bad"},
        {"", 3, 14, "3:14: bad"},
        {"", 0, 0, "bad"},
        {"a.wmt", 0, 14, "a.wmt: bad"},
        {"-", UINT64_MAX, UINT64_MAX, "-:18446744073709551615:18446744073709551615: bad"},
    };
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wm_diag diag;

        assert_int_equal(wmi_diag_set(&diag, WM_E_SYNTAX, cases[i].file, cases[i].line, cases[i].column, "bad"),
                         WM_E_SYNTAX);
        assert_int_equal(diag.status, WM_E_SYNTAX);
        assert_int_equal(wm_diag_format(&diag, text, sizeof text), strlen(cases[i].expected));
        assert_string_equal(text, cases[i].expected);
    }
}

static void formatting_never_writes_past_size(void **state)
{
    struct wm_diag diag;
    char text[16];

    (void)state;
    wmi_diag_set(&diag, WM_E_RANGE, "file", 1, 2, "number %d is too large", 12);
    for (size_t size = 0; size <= sizeof text; size++) {
        memset(text, '~', sizeof text);
        assert_int_equal(wm_diag_format(&diag, text, size), strlen("file:1:2: number 12 is too large"));
        for (size_t i = size; i < sizeof text; i++)
            assert_int_equal(text[i], '~');
        if (size)
            assert_int_equal(strlen(text), size - 1);
    }
    assert_int_equal(wm_diag_format(NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(wm_diag_format(&diag, NULL, 0), strlen("file:1:2: number 12 is too large"));
}

static void long_paths_keep_their_end(void **state)
{
    struct wm_diag diag;
    char path[WM_DIAG_FILE_SIZE + 100];

    (void)state;
    for (size_t length = WM_DIAG_FILE_SIZE - 3; length < sizeof path; length++) {
        memset(path, 'd', length);
        memcpy(path + length - 6, "/x.wmt", 7);
        wmi_diag_set(&diag, WM_E_IO, path, 0, 0, "gone");
        if (length < WM_DIAG_FILE_SIZE) {
            assert_string_equal(diag.file, path);
        } else {
            assert_int_equal(strlen(diag.file), WM_DIAG_FILE_SIZE - 1);
            assert_memory_equal(diag.file, "...", 3);
            assert_string_equal(diag.file + WM_DIAG_FILE_SIZE - 7, "/x.wmt");
        }
    }
}

static void messages_stay_one_printable_line(void **state)
{
    struct wm_diag diag;
    char text[2 * WM_DIAG_TEXT_SIZE];

    (void)state;
    wmi_diag_set(&diag, WM_E_SYNTAX, NULL, 0, 0, "a\nb\tc\x7f\xc3\xa9 d");
    assert_string_equal(diag.text, "a?b?c??? d");
    assert_string_equal(diag.file, "");
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    wmi_diag_set(&diag, WM_E_SYNTAX, NULL, 0, 0, "%s", text);
    assert_int_equal(strlen(diag.text), WM_DIAG_TEXT_SIZE - 1);
    assert_int_equal(wmi_diag_set(NULL, WM_E_MEMORY, "f", 1, 1, "nobody listens"), WM_E_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_is_the_headers),
        cmocka_unit_test(every_status_has_a_text_of_its_own),
        cmocka_unit_test(diagnostic_leaves_out_what_is_not_known),
        cmocka_unit_test(formatting_never_writes_past_size),
        cmocka_unit_test(long_paths_keep_their_end),
        cmocka_unit_test(messages_stay_one_printable_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
