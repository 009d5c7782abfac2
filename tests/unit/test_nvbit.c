/* NVBit's mem_trace output, among other programs' lines. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reading.h"

#define CONTEXT "MEMTRACE: CTX 0x000055d2c0f5a2d0"

/* A text that grows. */
struct text {
    char *bytes;
    size_t size;
};

static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    char line[8192];
    int length;

    va_start(arguments, format);
    length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && (size_t)length < sizeof line);
    text->bytes = realloc(text->bytes, text->size + (size_t)length + 1);
    assert_non_null(text->bytes);
    memcpy(text->bytes + text->size, line, (size_t)length + 1);
    text->size += (size_t)length;
}

static void add_launch(struct text *text, const char *name, unsigned id)
{
    add(text,
        CONTEXT " - LAUNCH - Kernel pc 0x00007f3e4b000000 - Kernel name %s - grid launch id %u - grid size 4,2,1 - "
                "block size 64,1,1 - nregs 16 - shmem 1024 - cuda stream id 0\n",
        name, id);
}

/* 32 addresses: base + i * stride, 0 for lanes that are not in the mask. */
static void add_addresses(struct text *text, uint64_t base, unsigned stride, uint32_t mask)
{
    for (unsigned lane = 0; lane < 32; lane++)
        add(text, "0x%016llx ", mask >> lane & 1 ? (unsigned long long)(base + lane * stride) : 0ULL);
    add(text, "\n");
}

static void add_access(struct text *text, unsigned id, const char *opcode, uint64_t base, unsigned stride,
                       uint32_t mask)
{
    add(text, CONTEXT " - grid_launch_id %u - CTA 3,1,0 - warp 7 - %s - ", id, opcode);
    add_addresses(text, base, stride, mask);
}

static const struct wm_access *nth(const struct reading *reading, size_t i)
{
    assert_true(i < reading->count);
    return &reading->accesses[i].access;
}

/* To be freed. */
static struct reading *read_and_free(struct text *text, enum wm_format format)
{
    struct reading *reading = read_trace(text->bytes, text->size, format);

    free(text->bytes);
    *text = (struct text){0};
    return reading;
}

static void an_access_is_read_as_described(void **state)
{
    struct text text = {0};
    struct reading *reading;
    const struct wm_access *access;

    (void)state;
    add_launch(&text, "wpm(float*, int const *) [with T = a - b]", 0);
    add_access(&text, 0, "LDG.E.64", 0x7f1000000000, 8, UINT32_MAX);
    reading = read_and_free(&text, WM_FORMAT_AUTO);
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 1);
    access = nth(reading, 0);
    assert_string_equal(access->kernel->name, "wpm(float*, int const *) [with T = a - b]");
    assert_int_equal(access->kernel->launch, 0);
    assert_memory_equal(access->kernel->grid, ((uint32_t[]){4, 2, 1}), 12);
    assert_memory_equal(access->kernel->block, ((uint32_t[]){64, 1, 1}), 12);
    assert_int_equal(access->kernel->shared_bytes, 1024);
    assert_memory_equal(access->block, ((uint32_t[]){3, 1, 0}), 12);
    assert_int_equal(access->warp, 7);
    assert_int_equal(access->pc, WM_NO_PC);
    assert_string_equal(opcode_text(&access->opcode), "ld.global.v2.b32");
    assert_int_equal(access->mask, UINT32_MAX);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(access->address[lane], UINT64_C(0x7f1000000000) + 8 * lane);
    assert_int_equal(reading->notes.lines_skipped, 0);
    assert_int_equal(reading->notes.lanes_guessed, 1);
    assert_int_equal(reading->accesses[0].line, 2);
    assert_int_equal(reading->accesses[0].column,
                     sizeof CONTEXT " - grid_launch_id 0 - CTA 3,1,0 - warp 7 - LDG.E.64 - ");
    free_reading(reading);
}

static void lanes_at_zero_are_inactive(void **state)
{
    struct text text = {0};
    struct reading *reading;

    (void)state;
    add_access(&text, 0, "STG.E", 0x7f1000000000, 4, 0x80ff00f0);
    add_access(&text, 0, "STG.E", 0x7f1000000000, 4, 0);
    reading = read_and_free(&text, WM_FORMAT_AUTO);
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(nth(reading, 0)->mask, 0x80ff00f0);
    assert_int_equal(nth(reading, 1)->mask, 0);
    assert_int_equal(reading->notes.lanes_guessed, 2);
    free_reading(reading);
}

/* What stands around the tool's lines is counted, also before one on the same line. */
static void other_lines_are_skipped_and_counted(void **state)
{
    struct text text = {0};
    struct reading *reading;

    (void)state;
    add(&text, "------------- NVBit (NVidia Binary Instrumentation Tool v1.5.5) Loaded --------------\n"
               "NVBit core environment variables (mostly for nvbit-devs):\n"
               "MEMTRACE: STARTING CONTEXT 0x55d2c0f5a2d0\n"
               "\n"
               "kernel launched\xff\r\n");
    add_launch(&text, "k", 0);
    add(&text, "MEMTRACE: CTX 0x000055d2c0f5a2d0, Inspecting CUfunction 0x1 name k at address 0x2\n");
    add(&text, "MEMTRACE: CTX nonsense\n");
    add(&text, "50 %% done...");
    add_access(&text, 0, "LDG.E", 0x7f1000000000, 4, UINT32_MAX);
    add(&text, "\rprogress");
    add_launch(&text, "l", 1);
    add_access(&text, 1, "LDG.E", 0x7f1000000000, 4, UINT32_MAX);
    add(&text, "no newline at the end");
    reading = read_and_free(&text, WM_FORMAT_AUTO);
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 2);
    assert_string_equal(nth(reading, 0)->kernel->name, "k");
    assert_string_equal(nth(reading, 1)->kernel->name, "l");
    assert_int_equal(reading->notes.lines_skipped, 10);
    assert_int_equal(reading->accesses[0].column,
                     12 + sizeof CONTEXT " - grid_launch_id 0 - CTA 3,1,0 - warp 7 - LDG.E - ");
    free_reading(reading);
}

/* Launches overlap; one that was not introduced has no name. */
static void accesses_find_their_launch(void **state)
{
    struct text text = {0};
    struct reading *reading;

    (void)state;
    for (unsigned id = 0; id < 20; id++) {
        char name[32];

        snprintf(name, sizeof name, "kernel %u", id);
        add_launch(&text, name, id);
    }
    add_access(&text, 19, "LDG.E", 0x7f1000000000, 4, UINT32_MAX);
    add_access(&text, 4, "LDG.E", 0x7f1000000000, 4, UINT32_MAX);
    add_access(&text, 77, "LDG.E", 0x7f1000000000, 4, UINT32_MAX);
    add(&text, CONTEXT " - CTA 0,0,0 - warp 1 - LDG.E - ");
    add_addresses(&text, 0x7f1000000000, 4, UINT32_MAX);
    reading = read_and_free(&text, WM_FORMAT_AUTO);
    assert_int_equal(reading->status, WM_END);
    assert_string_equal(nth(reading, 0)->kernel->name, "kernel 19");
    assert_string_equal(nth(reading, 1)->kernel->name, "kernel 4");
    assert_string_equal(nth(reading, 2)->kernel->name, "");
    assert_int_equal(nth(reading, 2)->kernel->launch, 77);
    assert_string_equal(nth(reading, 3)->kernel->name, "kernel 19");
    free_reading(reading);
}

/* Of a copy there are two lines, with other warps' between them: one copy. */
static void a_copy_is_its_global_side(void **state)
{
    struct text text = {0};
    struct reading *reading;

    (void)state;
    add_access(&text, 0, "LDGSTS.E.BYPASS.128", 0x400, 16, UINT32_MAX);
    add_access(&text, 0, "LDGSTS.E.BYPASS.128", 0, 0, 1); /* another warp's: its one lane goes to offset 0 */
    add_access(&text, 0, "LDGSTS.E.BYPASS.128", 0x7f1000000000, 16, UINT32_MAX);
    add_access(&text, 0, "LDGSTS.E.BYPASS.128", 0x7f1000000000, 16, 1);
    reading = read_and_free(&text, WM_FORMAT_AUTO);
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 2);
    assert_string_equal(opcode_text(&nth(reading, 0)->opcode), "ld.global.cg.v4.b32");
    assert_int_equal(nth(reading, 0)->mask, UINT32_MAX);
    assert_int_equal(nth(reading, 1)->mask, 1);
    assert_int_equal(reading->notes.copies_without_shared, 2);
    assert_int_equal(reading->notes.lines_skipped, 2);
    free_reading(reading);
}

static void spaces_and_unknown_opcodes(void **state)
{
    struct text text = {0};
    struct reading *reading;

    (void)state;
    add_access(&text, 0, "LD.E.128", 0x7f1000000000, 16, UINT32_MAX);
    add_access(&text, 0, "SUST.D.BA.2D", 0x7f1000000000, 4, UINT32_MAX);
    add_access(&text, 0, "ATOMS.ADD", 0x400, 0, UINT32_MAX);
    add_access(&text, 0, "RED.E.ADD.F32.FTZ.RN.STRONG.GPU", 0x7f1000000000, 4, UINT32_MAX);
    add_access(&text, 0, "TEX", 0x7f1000000000, 4, UINT32_MAX);
    add_access(&text, 0, "LDSM.16.M88.4", 0x400, 16, UINT32_MAX);
    reading = read_and_free(&text, WM_FORMAT_AUTO);
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 4);
    assert_string_equal(opcode_text(&nth(reading, 0)->opcode), "ld.generic.v4.b32");
    assert_string_equal(opcode_text(&nth(reading, 1)->opcode), "atom.shared.add.u32");
    assert_string_equal(opcode_text(&nth(reading, 2)->opcode), "red.global.add.f32");
    assert_string_equal(opcode_text(&nth(reading, 3)->opcode), "ldmatrix.x4.shared.b16");
    assert_int_equal(reading->notes.opcodes_unknown, 2);
    assert_string_equal(reading->notes.first_unknown, "SUST.D.BA.2D");
    free_reading(reading);
}

/* In a cluster a block's shared addresses have its number in front; and copies' shared sides too. */
static void own_offsets_in_a_cluster(void **state)
{
    static const char *const unknown[] = {"SYNCS.ARRIVE.TRANS64.A1T0", "STAS", "REDAS.ADD", "UBLKCP.S.G", "UTMALDG.2D",
                                          "ARRIVES.LDGSTSBAR.64.ARVCNT"};
    struct text text = {0};
    struct reading *reading;

    (void)state;
    add_access(&text, 0, "LDS.64", 0x5000400, 8, UINT32_MAX);
    add_access(&text, 0, "LDGSTS.E.128", 0x5000400, 16, UINT32_MAX);
    add_access(&text, 0, "LDGSTS.E.128", 0x7f1000000000, 16, UINT32_MAX);
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        add_access(&text, 0, unknown[i], 0x5000400, 8, 1);
    reading = read_and_free(&text, WM_FORMAT_AUTO);
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 2);
    assert_int_equal(nth(reading, 0)->address[0], 0x400);
    assert_int_equal(nth(reading, 0)->address[31], 0x400 + 31 * 8);
    assert_int_equal(reading->notes.lines_skipped, 1);
    assert_int_equal(reading->notes.opcodes_unknown, sizeof unknown / sizeof unknown[0]);
    assert_string_equal(reading->notes.first_unknown, unknown[0]);
    free_reading(reading);
}

/* Addresses need not be padded. */
static void addresses_of_any_length(void **state)
{
    struct text text = {0};
    struct reading *reading;

    (void)state;
    add(&text, CONTEXT " - grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E.U8 -");
    for (unsigned lane = 0; lane < 32; lane++)
        add(&text, lane % 5 ? " 0x%x" : " 0x%012x", lane);
    reading = read_and_free(&text, WM_FORMAT_AUTO);
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(nth(reading, 0)->mask, 0xfffffffe);
    assert_int_equal(nth(reading, 0)->address[31], 31);
    free_reading(reading);
}

/* An access that cannot be read is not skipped: it would be missing from the counts. */
static void a_broken_access_is_an_error(void **state)
{
    static const struct {
        const char *line; /* behind the context; % stands for 31 addresses, each with a blank */
        enum wm_status status;
        uint64_t column; /* 0: not checked */
        const char *part;
    } cases[] = {
        {" - grid_launch_id x", WM_E_SYNTAX, 51, "a launch id"},
        {" - grid_launch_id -1 - CTA 0,0,0", WM_E_RANGE, 51, "negative"},
        {" - grid_launch_id 0", WM_E_SYNTAX, 52, "' - CTA '"},
        {" - grid_launch_id 0 - CTA 0,0 - warp 0", WM_E_SYNTAX, 62, "comma"},
        {" - grid_launch_id 0 - CTA 0,0,4294967296 - warp 0", WM_E_RANGE, 63, "above"},
        {" - grid_launch_id 0 - CTA 0,0,0 - LDG.E - % 0x1", WM_E_SYNTAX, 64, "warp"},
        {" - CTA 0,0,0 - warp x - LDG.E - % 0x1", WM_E_SYNTAX, 53, "warp's number"},
        {" - CTA 0,0,0 - warp 0 - 12 - % 0x1", WM_E_SYNTAX, 57, "opcode"},
        {" - CTA 0,0,0 - warp 0 - LDG.E", WM_E_SYNTAX, 62, "32 addresses"},
        {" - CTA 0,0,0 - warp 0 - LDG.E - ", WM_E_SYNTAX, 65, "32 addresses"},
        {" - CTA 0,0,0 - warp 0 - LDG.E - %", WM_E_SYNTAX, 0, "32 addresses"},
        {" - CTA 0,0,0 - warp 0 - LDG.E - % 0x1 0x1", WM_E_SYNTAX, 0, "the end of the line behind 32"},
        {" - CTA 0,0,0 - warp 0 - LDG.E - % epoch 1", WM_E_SYNTAX, 0, "32 addresses"},
        {" - CTA 0,0,0 - warp 0 - LDG.E - % 0x1epoch 1", WM_E_SYNTAX, 0, "the end of the line"},
        {" - CTA 0,0,0 - warp 0 - LDG.E - % 0x10000000000000000", WM_E_RANGE, 0, "above"},
        {" - CTA 0,0,0 - warp 0 - LDG.E - % 0x1\r", WM_E_SYNTAX, 0, "carriage return"},
        {" - LAUNCH - Kernel pc 0x0", WM_E_SYNTAX, 0, "Kernel name"},
        {" - LAUNCH - Kernel pc 0x0 - Kernel name k - grid launch id x", WM_E_SYNTAX, 0, "a launch id"},
        {" - LAUNCH - Kernel pc 0x0 - Kernel name k - grid launch id 0 - grid size 1,1", WM_E_SYNTAX, 0, "comma"},
        {" - LAUNCH - Kernel pc 0x0 - Kernel name k - grid launch id 0 - grid size 1,1,1 - block", WM_E_SYNTAX, 0,
         "block size"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *percent = strchr(cases[i].line, '%');
        struct text text = {0};
        struct reading *reading;

        add(&text, "something\n" CONTEXT "%.*s", percent ? (int)(percent - cases[i].line) : 1000, cases[i].line);
        for (unsigned k = 0; percent && k < 31; k++)
            add(&text, "0x%x ", k);
        add(&text, "%s\n", percent ? percent + 1 : "");
        reading = read_and_free(&text, WM_FORMAT_NVBIT);
        if (reading->status != cases[i].status || reading->diag.line != 2 ||
            (cases[i].column && reading->diag.column != cases[i].column) || !strstr(reading->diag.text, cases[i].part))
            fail_msg("%s: %llu:%llu: %s", cases[i].line, (unsigned long long)reading->diag.line,
                     (unsigned long long)reading->diag.column, reading->diag.text);
        free_reading(reading);
    }
}

/* A line without end is not the tool's. */
static void long_lines_are_skipped(void **state)
{
    struct text text = {0};
    struct reading *reading;
    const size_t size = 3 << 20;

    (void)state;
    add_launch(&text, "k", 5);
    text.bytes = realloc(text.bytes, text.size + size);
    assert_non_null(text.bytes);
    memset(text.bytes + text.size, 'x', size);
    memcpy(text.bytes + text.size + 70000, CONTEXT, sizeof CONTEXT - 1);
    text.size += size;
    add(&text, "\n");
    add_access(&text, 5, "LDG.E", 0x7f1000000000, 4, UINT32_MAX);
    reading = read_and_free(&text, WM_FORMAT_AUTO);
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 1);
    assert_string_equal(nth(reading, 0)->kernel->name, "k");
    assert_int_equal(reading->accesses[0].line, 3);
    assert_int_equal(reading->notes.lines_skipped, 1);
    free_reading(reading);
}

static void cutting_it_short_gives_an_error_or_less(void **state)
{
    struct text text = {0};

    (void)state;
    add(&text, "hello\n");
    add_launch(&text, "k", 0);
    add_access(&text, 0, "LDG.E", 0x7f1000000000, 4, UINT32_MAX);
    add_access(&text, 0, "LDS", 0x400, 4, 0xffff);
    assert_truncations(text.bytes, text.size, WM_FORMAT_NVBIT);
    /* Also within the last address. */
    for (size_t cut = 3; cut < 18; cut++) {
        struct reading *reading = read_trace(text.bytes, text.size - cut, WM_FORMAT_NVBIT);

        assert_int_equal(reading->status, WM_E_SYNTAX);
        free_reading(reading);
    }
    /* But its newline and the blank before it may be missing. */
    for (size_t cut = 1; cut < 3; cut++) {
        struct reading *reading = read_trace(text.bytes, text.size - cut, WM_FORMAT_NVBIT);

        assert_int_equal(reading->status, WM_END);
        assert_int_equal(reading->count, 2);
        free_reading(reading);
    }
    free(text.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_is_read_as_described),
        cmocka_unit_test(lanes_at_zero_are_inactive),
        cmocka_unit_test(other_lines_are_skipped_and_counted),
        cmocka_unit_test(accesses_find_their_launch),
        cmocka_unit_test(a_copy_is_its_global_side),
        cmocka_unit_test(spaces_and_unknown_opcodes),
        cmocka_unit_test(own_offsets_in_a_cluster),
        cmocka_unit_test(addresses_of_any_length),
        cmocka_unit_test(a_broken_access_is_an_error),
        cmocka_unit_test(long_lines_are_skipped),
        cmocka_unit_test(cutting_it_short_gives_an_error_or_less),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
