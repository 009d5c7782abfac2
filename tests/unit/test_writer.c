/* The text writer: what it writes, and that a reader makes the same accesses of it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reading.h"

static uint64_t seed;

static uint64_t next_random(void)
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = (seed ^ (seed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (z ^ (z >> 27)) ^ (z >> 31);
}

/* What was written; fails after that many bytes. */
struct sink {
    char *text;
    size_t size;
    size_t room;
};

static int put(void *context, const char *text, size_t length)
{
    struct sink *sink = context;

    if (sink->room - sink->size < length)
        return ENOSPC;
    sink->text = realloc(sink->text, sink->size + length + 1);
    assert_non_null(sink->text);
    memcpy(sink->text + sink->size, text, length);
    sink->size += length;
    sink->text[sink->size] = '\0';
    return 0;
}

static struct wm_opcode opcode_of(const char *text)
{
    struct wm_opcode opcode;

    assert_int_equal(wm_opcode_parse(text, strlen(text), &opcode, NULL), WM_OK);
    return opcode;
}

static struct wm_access plain_access(const char *opcode, uint32_t mask)
{
    struct wm_access access;

    memset(&access, 0, sizeof access);
    access.opcode = opcode_of(opcode);
    access.mask = mask;
    access.count = 1;
    access.pc = WM_NO_PC;
    return access;
}

/* Writes the accesses; the text is to be freed. */
static struct sink write_accesses(const struct wm_access *accesses, size_t count)
{
    struct sink sink = {.room = SIZE_MAX};
    wm_writer *writer;

    assert_int_equal(wm_writer_new(put, &sink, &writer), WM_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(wm_writer_add(writer, &accesses[i]), WM_OK);
    assert_int_equal(wm_writer_flush(writer), WM_OK);
    wm_writer_free(writer);
    return sink;
}

static void expect_text(const struct wm_access *accesses, size_t count, const char *expected)
{
    struct sink sink = write_accesses(accesses, count);

    assert_string_equal(sink.text, expected);
    free(sink.text);
}

static void a_trace_without_accesses_has_its_first_line(void **state)
{
    (void)state;
    expect_text(NULL, 0, "wmt 1\n");
}

static void the_shortest_form_of_addresses_is_taken(void **state)
{
    static const struct {
        uint32_t mask;
        uint64_t base;
        uint64_t stride;
        int odd_lane; /* one that does not fit; -1: none */
        const char *text;
    } cases[] = {
        {0xffffffff, 0x7f0000000000, 4, -1, "0x7f0000000000+4"},
        {0xffffffff, 0x7f0000001000, 0 - UINT64_C(16), -1, "0x7f0000001000-16"},
        {0xffffffff, 0xABC, 0, -1, "0xabc"},
        {0x80000110, 0x100, 0x10, -1, "0x100+16"},
        {0x00000001, 0x100, 0, -1, "0x100"},
        {0x80000000, 0, 0xfff, -1, "0x1efe1"}, /* one lane: where it is */
        {0x00000000, 0x100, 4, -1, "0x0"},
        {0x00000007, 0x100, 4, 1, "[0x100,0x105,0x108]"},
        {0x0000000e, 0 - UINT64_C(4), 4, -1, "[0x0,0x4,0x8]"},                           /* lane 0 would be below 0 */
        {0x00000006, 0, 0 - UINT64_C(4), -1, "[0xfffffffffffffffc,0xfffffffffffffff8]"}, /* or above 2^64 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wm_access access = plain_access("ld.global.b32", cases[i].mask);
        char expected[256];

        for (unsigned lane = 0; lane < 32; lane++)
            access.address[lane] = cases[i].base + lane * cases[i].stride + (cases[i].odd_lane == (int)lane);
        snprintf(expected, sizeof expected, "wmt 1\nld.global.b32 %08" PRIx32 " %s\n", cases[i].mask, cases[i].text);
        expect_text(&access, 1, expected);
    }
}

static void keys_and_lines_stand_where_something_changed(void **state)
{
    const struct wm_kernel one = {
        .name = "one", .grid = {2, 1, 1}, .block = {64, 2, 1}, .launch = 3, .shared_bytes = 16, .source = "a b.cu"};
    const struct wm_kernel other = {.name = "void f<1>(int)"};
    struct wm_access accesses[6];

    (void)state;
    for (size_t i = 0; i < 6; i++)
        accesses[i] = plain_access("ld.shared.u8", 1);
    accesses[1].kernel = &one;
    accesses[1].pc = 0x1F0;
    accesses[2] = accesses[1];
    accesses[2].warp = 5;
    accesses[2].pc = WM_NO_PC;
    accesses[2].line = 7;
    accesses[2].file = "a.cu";
    accesses[2].count = 9;
    accesses[3] = accesses[2];
    accesses[3].file = NULL;
    accesses[3].count = 1;
    accesses[3].block[1] = 2;
    accesses[4] = accesses[3];
    accesses[4].kernel = &other;
    accesses[4].line = 0;
    accesses[4].file = "ignored without a line";
    expect_text(accesses, 6,
                "wmt 1\n"
                "ld.shared.u8 00000001 0x0\n"
                "kernel one grid=2,1,1 block=64,2,1 launch=3 smem=16 source=\"a b.cu\"\n"
                "ld.shared.u8 00000001 0x0 pc=0x1f0\n"
                "warp 0,0,0 5\n"
                "ld.shared.u8 00000001 0x0 line=a.cu:7 count=9\n"
                "warp 0,2,0 5\n"
                "ld.shared.u8 00000001 0x0 line=\"\":7\n"
                "kernel \"void f<1>(int)\"\n"
                "warp 0,2,0 5\n"
                "ld.shared.u8 00000001 0x0\n"
                "kernel \"\"\n"
                "warp 0,0,0 0\n"
                "ld.shared.u8 00000001 0x0\n");
}

static void copies_have_two_sides(void **state)
{
    struct wm_access access = plain_access("cp.async.cg.16", 0x5);

    (void)state;
    access.address[0] = 0x7f0000000010;
    access.address[2] = 0x7f0000000000;
    access.shared_address[0] = 0x400;
    access.shared_address[2] = 0x420;
    expect_text(&access, 1, "wmt 1\ncp.async.cg.16 00000005 0x400+16 0x7f0000000010-8\n");
    access.address[2] = 0x7f0000000011;
    expect_text(&access, 1, "wmt 1\ncp.async.cg.16 00000005 0x400+16 [0x7f0000000010,0x7f0000000011]\n");
}

static void names_are_quoted_where_they_must(void **state)
{
    static const struct {
        const char *name;
        const char *text;
    } cases[] = {
        {"_Z3wpmPf", "_Z3wpmPf"},       {"a b", "\"a b\""},
        {"a\"b", "\"a\\\"b\""},         {"a#b", "\"a#b\""},
        {"grid=1", "\"grid=1\""},       {"a\\b", "\"a\\\\b\""},
        {"a\tb", "\"a\\tb\""},          {"a\nb\r", "\"a\\nb\\r\""},
        {"\x01\x7f", "\"\\x01\\x7f\""}, {"\xc3\xa4", "\"\\xc3\\xa4\""},
        {"a:5,[]+-", "a:5,[]+-"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct wm_kernel kernel = {.name = cases[i].name};
        struct wm_access access = plain_access("ld.shared.u8", 1);
        char expected[256];

        access.kernel = &kernel;
        snprintf(expected, sizeof expected, "wmt 1\nkernel %s\nld.shared.u8 00000001 0x0\n", cases[i].text);
        expect_text(&access, 1, expected);
    }
}

static void what_cannot_be_written_is_refused(void **state)
{
    struct sink sink = {.room = SIZE_MAX};
    struct wm_access access = plain_access("ld.shared.u8", 1);
    struct wm_kernel kernel = {.name = "k", .grid = {1, 0, 1}};
    char *name = malloc(70000);
    wm_writer *writer = NULL;

    (void)state;
    assert_non_null(name);
    memset(name, 'n', 69999);
    name[69999] = '\0';
    assert_int_equal(wm_writer_new(NULL, NULL, &writer), WM_E_ARGUMENT);
    assert_int_equal(wm_writer_new(put, &sink, NULL), WM_E_ARGUMENT);
    assert_int_equal(wm_writer_new(put, &sink, &writer), WM_OK);
    assert_int_equal(wm_writer_add(NULL, &access), WM_E_ARGUMENT);
    assert_int_equal(wm_writer_add(writer, NULL), WM_E_ARGUMENT);
    access.count = 0;
    assert_int_equal(wm_writer_add(writer, &access), WM_E_ARGUMENT);
    access.count = 1;
    access.opcode.width_bytes = 3;
    assert_int_equal(wm_writer_add(writer, &access), WM_E_ARGUMENT);
    access = plain_access("ld.shared.u8", 1);
    access.kernel = &kernel;
    assert_int_equal(wm_writer_add(writer, &access), WM_E_ARGUMENT);
    kernel = (struct wm_kernel){.name = name};
    assert_int_equal(wm_writer_add(writer, &access), WM_E_ARGUMENT);
    access.kernel = NULL;
    access.file = name;
    access.line = 1;
    assert_int_equal(wm_writer_add(writer, &access), WM_E_ARGUMENT);
    access.line = 0;
    assert_int_equal(wm_writer_add(writer, &access), WM_OK);
    assert_int_equal(wm_writer_flush(writer), WM_OK);
    assert_int_equal(wm_writer_flush(NULL), WM_E_ARGUMENT);
    /* Nothing of what was refused has been written. */
    assert_string_equal(sink.text, "wmt 1\nld.shared.u8 00000001 0x0\n");
    wm_writer_free(writer);
    wm_writer_free(NULL);
    free(sink.text);
    free(name);
}

/* A name is refused only where its line would be longer than readers take, 65,536 bytes. */
static void long_names_are_written(void **state)
{
    static const struct {
        size_t length;
        char c; /* all of it */
        enum wm_status status;
    } cases[] = {
        {5000, 'n', WM_OK},     {60000, 'n', WM_OK}, {65536, 'n', WM_E_ARGUMENT},    {5000, '\x01', WM_OK},
        {15000, '\xe9', WM_OK}, {30000, '"', WM_OK}, {16384, '\x01', WM_E_ARGUMENT}, {32768, '"', WM_E_ARGUMENT},
    };
    char *name = malloc(70000);

    (void)state;
    assert_non_null(name);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sink sink = {.room = SIZE_MAX};
        struct wm_access access = plain_access("ld.shared.u8", 1);
        struct wm_kernel kernel = {.name = name, .grid = {1, 1, 1}, .block = {1, 1, 1}};
        wm_writer *writer;

        memset(name, cases[i].c, cases[i].length);
        name[cases[i].length] = '\0';
        assert_int_equal(wm_writer_new(put, &sink, &writer), WM_OK);
        access.kernel = &kernel;
        assert_int_equal(wm_writer_add(writer, &access), cases[i].status);
        access.kernel = NULL;
        access.file = name;
        access.line = 1;
        assert_int_equal(wm_writer_add(writer, &access), cases[i].status);
        assert_int_equal(wm_writer_flush(writer), WM_OK);
        for (const char *line = sink.text, *end; *line; line = end + 1) {
            end = strchr(line, '\n');
            assert_non_null(end);
            assert_in_range((uintmax_t)(end - line), 0, 65536);
        }
        wm_writer_free(writer);
        free(sink.text);
    }
    free(name);
}

/* An error of the sink ends it, once the buffer reaches it, and for good. */
static void a_full_disk_ends_the_writing(void **state)
{
    struct sink sink = {.room = 100000};
    struct wm_access access = plain_access("ld.shared.u8", 1);
    wm_writer *writer;
    enum wm_status status = WM_OK;

    (void)state;
    assert_int_equal(wm_writer_new(put, &sink, &writer), WM_OK);
    for (int i = 0; status == WM_OK && i < 100000; i++)
        status = wm_writer_add(writer, &access);
    assert_int_equal(status, WM_E_IO);
    assert_int_equal(wm_writer_add(writer, &access), WM_E_IO);
    sink.room = SIZE_MAX;
    assert_int_equal(wm_writer_add(writer, &access), WM_E_IO);
    assert_int_equal(wm_writer_flush(writer), WM_E_IO);
    assert_true(sink.size <= 100000);
    wm_writer_free(writer);
    free(sink.text);
}

/* ------------------------------------------------------------------------------------------------------- round trip */

static const char *const opcodes[] = {
    "ld.global.b8",           "ld.shared.v2.b32",
    "st.global.cs.v4.f32",    "st.local.u16",
    "ld.const.b64",           "ld.generic.nc.v8.b32",
    "atom.global.cas.b128",   "red.shared.add.f16x2",
    "ldmatrix.x4.shared.b16", "stmatrix.x1.trans.shared.b16",
    "cp.async.ca.4",          "cp.async.cg.16",
};

/* Bytes of all kinds, but NUL. */
static void random_name(char *name, size_t size)
{
    static const char nasty[] = " \t\n\r\"\\#=:,x0nrt\x7f\x80\xff";
    const size_t length = next_random() % size;

    for (size_t i = 0; i < length; i++) {
        if (next_random() % 2)
            name[i] = nasty[next_random() % (sizeof nasty - 1)];
        else
            name[i] = (char)(1 + next_random() % 255);
    }
    name[length] = '\0';
}

static uint64_t random_number(void)
{
    static const uint64_t edges[] = {0, 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX - 1, UINT64_MAX};

    if (next_random() % 8 == 0)
        return edges[next_random() % (sizeof edges / sizeof edges[0])];
    return next_random() >> (next_random() % 64);
}

static uint32_t random_mask(void)
{
    switch (next_random() % 5) {
    case 0: return UINT32_MAX;
    case 1: return 0;
    case 2: return UINT32_C(1) << next_random() % 32;
    case 3: return (uint32_t)((UINT64_C(1) << next_random() % 33) - 1) << next_random() % 16;
    default: return (uint32_t)next_random();
    }
}

/* With a stride, wrapping around or not, or all over the place; one lane out of line now and then. */
static void random_addresses(uint64_t address[WM_LANES], uint64_t limit)
{
    const uint64_t base = random_number();
    const uint64_t stride = next_random() % 2 ? random_number() : next_random() % 64 - 32;
    const int regular = next_random() % 3 > 0;

    for (unsigned lane = 0; lane < WM_LANES; lane++)
        address[lane] = (regular ? base + lane * stride : random_number()) & limit;
    if (next_random() % 4 == 0)
        address[next_random() % WM_LANES] ^= 1;
}

struct random_trace {
    struct wm_access accesses[64];
    struct wm_kernel kernels[4];
    char names[12][40];
};

static void fill(struct random_trace *trace)
{
    for (size_t i = 0; i < 12; i++)
        random_name(trace->names[i], sizeof trace->names[i]);
    for (size_t i = 0; i < 4; i++) {
        struct wm_kernel *kernel = &trace->kernels[i];

        memset(kernel, 0, sizeof *kernel);
        kernel->name = trace->names[i];
        kernel->source = next_random() % 2 ? trace->names[4 + i] : NULL;
        for (int k = 0; next_random() % 2 && k < 3; k++)
            kernel->grid[k] = (uint32_t)random_number() | 1;
        if (!kernel->grid[2])
            memset(kernel->grid, 0, sizeof kernel->grid);
        if (next_random() % 2)
            kernel->block[0] = kernel->block[1] = kernel->block[2] = 1 + (uint32_t)next_random() % 1024;
        kernel->launch = next_random() % 2 ? random_number() : 0;
        kernel->shared_bytes = next_random() % 2 ? random_number() : 0;
    }
    for (size_t i = 0; i < 64; i++) {
        struct wm_access *access = &trace->accesses[i];

        uint64_t destination[WM_LANES];

        if (i > 0 && next_random() % 4)
            *access = trace->accesses[i - 1];
        else
            *access = plain_access("ld.global.b8", 0);
        access->opcode = opcode_of(opcodes[next_random() % (sizeof opcodes / sizeof opcodes[0])]);
        access->mask = random_mask();
        random_addresses(access->address, UINT64_MAX);
        random_addresses(destination, UINT32_MAX);
        for (unsigned lane = 0; lane < WM_LANES; lane++)
            access->shared_address[lane] = (uint32_t)destination[lane];
        access->kernel = next_random() % 3 ? &trace->kernels[next_random() % 4] : access->kernel;
        access->kernel = access->kernel ? access->kernel : &trace->kernels[0];
        access->pc = random_number();
        access->count = random_number();
        access->count += access->count == 0;
        access->line = next_random() % 2 ? (uint32_t)random_number() : 0;
        access->file = next_random() % 4 ? trace->names[8 + next_random() % 4] : NULL;
        if (next_random() % 3 == 0) {
            access->warp = (uint32_t)random_number();
            access->block[next_random() % 3] = (uint32_t)random_number();
        }
    }
}

static void what_is_written_is_read_again(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct random_trace *trace = malloc(sizeof *trace);
        struct sink sink;
        struct reading *reading;

        assert_non_null(trace);
        fill(trace);
        sink = write_accesses(trace->accesses, 64);
        reading = read_trace(sink.text, sink.size, WM_FORMAT_TEXT);
        if (reading->status != WM_END)
            fail_msg("%d:%d: %s\n%s", (int)reading->diag.line, (int)reading->diag.column, reading->diag.text,
                     sink.text);
        assert_int_equal(reading->count, 64);
        for (size_t i = 0; i < 64; i++) {
            struct wm_access expected = trace->accesses[i];

            /* What a trace cannot hold. */
            expected.l1 = WM_L1_HIT;
            if (expected.line == 0 || (expected.file && expected.file[0] == '\0'))
                expected.file = NULL;
            assert_same_access(&reading->accesses[i].access, &expected);
        }
        /* And written again it is the same text. */
        {
            struct wm_access again[64];
            struct sink second;

            for (size_t i = 0; i < 64; i++)
                again[i] = reading->accesses[i].access;
            second = write_accesses(again, 64);
            assert_string_equal(second.text, sink.text);
            free(second.text);
        }
        free_reading(reading);
        free(sink.text);
        free(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_without_accesses_has_its_first_line),
        cmocka_unit_test(the_shortest_form_of_addresses_is_taken),
        cmocka_unit_test(keys_and_lines_stand_where_something_changed),
        cmocka_unit_test(copies_have_two_sides),
        cmocka_unit_test(names_are_quoted_where_they_must),
        cmocka_unit_test(what_cannot_be_written_is_refused),
        cmocka_unit_test(long_names_are_written),
        cmocka_unit_test(a_full_disk_ends_the_writing),
        cmocka_unit_test(what_is_written_is_read_again),
    };
    const char *given = getenv("SEED");

    seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    printf("# SEED=%" PRIu64 "\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
