/* Expressions that are given by themselves: the accesses of a block, against traces that are worked out by hand, and the
 * place of every mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "warpmem.h"

#define ROWS(list) (sizeof(list) / sizeof(list)[0])
#define MOST 6

struct given {
    const char *decls[MOST];
    const char *lets[MOST];
    const char *loads[MOST];
    const char *stores[MOST];
    uint32_t block[3];
    uint64_t smem;
    const char *expected; /* the lines of a text trace behind "wmt 1"; or how it fails */
};

static size_t count(const char *const *list)
{
    size_t n = 0;

    while (n < MOST && list[n])
        n++;
    return n;
}

static enum wm_status open_given(const struct given *given, const struct wm_launch *launch, wm_reader **out, struct wm_diag *diag)
{
    struct wm_expression expressions[2 * MOST];
    const struct wm_reader_options options = {.launch = launch};
    struct wm_expressions input = {expressions, 0, given->decls, count(given->decls), given->lets, count(given->lets)};

    for (size_t i = 0; i < count(given->stores); i++)
        expressions[input.n_expressions++] = (struct wm_expression){given->stores[i], 1};
    for (size_t i = 0; i < count(given->loads); i++)
        expressions[input.n_expressions++] = (struct wm_expression){given->loads[i], 0};
    return wm_reader_open_expressions(&input, &options, out, diag);
}

static int keep(void *context, const char *text, size_t length)
{
    char *out = context;

    strncat(out, text, length);
    return 0;
}

/* What comes of it: a trace, or a message. */
static void outcome(const struct given *given, char *text)
{
    const struct wm_launch launch = {.block = {given->block[0], given->block[1], given->block[2]}, .shared_bytes = given->smem};
    struct wm_diag diag;
    struct wm_access access;
    wm_reader *reader = NULL;
    wm_writer *writer = NULL;
    enum wm_status status = open_given(given, &launch, &reader, &diag);

    text[0] = '\0';
    if (status == WM_OK) {
        assert_int_equal(wm_writer_new(keep, text, &writer), WM_OK);
        while ((status = wm_reader_next(reader, &access, &diag)) == WM_OK)
            assert_int_equal(wm_writer_add(writer, &access), WM_OK);
        assert_int_equal(wm_writer_flush(writer), WM_OK);
        assert_null(wm_reader_remark_at(reader, 0, NULL));
    }
    if (status != WM_END) {
        assert_int_equal(diag.status, status);
        wm_diag_format(&diag, text, 4000);
    }
    wm_writer_free(writer);
    wm_reader_close(reader);
}

static void check(const struct given *rows, size_t n)
{
    char *text = malloc(1 << 20);
    int failed = 0;

    assert_non_null(text);
    for (size_t i = 0; i < n; i++) {
        outcome(&rows[i], text);
        if (strcmp(text, rows[i].expected) != 0) {
            print_error("row %zu (%s%s): expected\n%s\nfound\n%s\n", i, rows[i].loads[0] ? rows[i].loads[0] : "",
                        rows[i].stores[0] ? rows[i].stores[0] : "", rows[i].expected, text);
            failed = 1;
        }
    }
    free(text);
    assert_int_equal(failed, 0);
}

#define KERNEL(grid_block, smem) "wmt 1\nkernel expression grid=1,1,1 block=" grid_block " smem=" smem " source=expression\n"

static void test_accesses(void **state)
{
    static const struct given rows[] = {
        /* a column of 33 words a row */
        {.decls = {"__shared__ float tile[32][33];"}, .loads = {"tile[threadIdx.x][threadIdx.y]"}, .block = {32, 2, 1},
         .expected = KERNEL("32,2,1", "4224") "ld.shared.b32 ffffffff 0x0+132 line=expression:1\n"
                     "warp 0,0,0 1\nld.shared.b32 ffffffff 0x4+132 line=expression:1\n"},
    };

    (void)state;
    check(rows, ROWS(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accesses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
