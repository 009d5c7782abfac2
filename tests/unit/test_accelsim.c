/* Accel-Sim traces: versions, address modes, opcodes, spaces, what is missing or too many; lists of kernels. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reading.h"
#include "trace/trace.h"

#define SHARED_BASE UINT64_C(0x7f0000000000)
#define LOCAL_BASE UINT64_C(0x7f0001000000)

/* The format's example, of version 5. */
static const char example[] =
    "-kernel name = _Z3wpmPf\n"
    "-kernel id = 1\n"
    "-grid dim = (1,1,1)\n"
    "-block dim = (32,1,1)\n"
    "-shmem = 4096\n"
    "-nregs = 16\n"
    "-binary version = 80\n"
    "-cuda stream id = 0\n"
    "-shmem base_addr = 0x00007f0000000000\n"
    "-local mem base_addr = 0x00007f0001000000\n"
    "-nvbit version = 1.7\n"
    "-accelsim tracer version = 5\n"
    "-enable lineinfo = 0\n"
    "\n"
    "#traces format = [line_num] PC mask dest_num ...\n"
    "\n"
    "#BEGIN_TB\n"
    "\n"
    "thread block = 0,0,0\n"
    "\n"
    "warp = 0\n"
    "insts = 5\n"
    "0000 ffffffff 1 R1 MOV 0 0 0 \n"
    "0010 ffffffff 1 R4 LDG.E.64.SYS 1 R2 8 1 0x7f1000000000 8 0 \n"
    "0020 0000000f 1 R6 LDS 1 R3 4 0 0x0000000000000000 0x0000000000000080 0x0000000000000100 0x0000000000000004 0 \n"
    "0030 00000005 0 STG.E.SYS 2 R2 R6 4 2 0x7f1000000100 -64 7 \n"
    "0040 ffffffff 0 EXIT 0 0 0 \n"
    "\n"
    "#END_TB\n";

static const struct wm_access *nth(const struct reading *reading, size_t i)
{
    assert_true(i < reading->count);
    return &reading->accesses[i].access;
}

static void example_is_read_as_described(void **state)
{
    struct reading *reading = read_trace(example, sizeof example - 1, WM_FORMAT_AUTO);
    const struct wm_access *access;

    (void)state;
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 3);
    assert_int_equal(reading->notes.instructions_skipped, 2);
    assert_int_equal(reading->notes.opcodes_unknown, 0);

    access = nth(reading, 0);
    assert_string_equal(access->kernel->name, "_Z3wpmPf");
    assert_int_equal(access->kernel->launch, 1);
    assert_memory_equal(access->kernel->grid, ((uint32_t[]){1, 1, 1}), 12);
    assert_memory_equal(access->kernel->block, ((uint32_t[]){32, 1, 1}), 12);
    assert_int_equal(access->kernel->shared_bytes, 4096);
    assert_string_equal(opcode_text(&access->opcode), "ld.global.v2.b32");
    assert_int_equal(access->pc, 0x10);
    assert_int_equal(access->mask, UINT32_MAX);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(access->address[lane], UINT64_C(0x7f1000000000) + 8 * lane);
    assert_int_equal(reading->accesses[0].line, 24);
    assert_int_equal(reading->accesses[0].column, 42);

    access = nth(reading, 1);
    assert_string_equal(opcode_text(&access->opcode), "ld.shared.b32");
    assert_int_equal(access->mask, 0xf);
    assert_int_equal(access->address[0], 0);
    assert_int_equal(access->address[1], 0x80);
    assert_int_equal(access->address[2], 0x100);
    assert_int_equal(access->address[3], 4);

    access = nth(reading, 2);
    assert_string_equal(opcode_text(&access->opcode), "st.global.b32");
    assert_int_equal(access->mask, 5);
    assert_int_equal(access->address[0], UINT64_C(0x7f1000000100));
    assert_int_equal(access->address[2], UINT64_C(0x7f10000000c0));
    assert_int_equal(access->line, 0);
    assert_null(access->file);
    free_reading(reading);
}

/* A trace of one warp with the given instructions. */
static size_t make_trace(char *text, unsigned version, int line_info, const char *const *lines, size_t count)
{
    size_t size = (size_t)sprintf(text,
                                  "-kernel name = k(int, float)\n-kernel id = 3\n-grid dim = (2,3,4)\n"
                                  "-block dim = (32,2,1)\n-shmem = 0\n-shmem base_addr = 0x00007f0000000000\n"
                                  "-local mem base_addr = 0x00007f0001000000\n-nvbit version = 1.5.5\n"
                                  "-accelsim tracer version = %u\n",
                                  version);

    if (version >= 4)
        size += (size_t)sprintf(text + size, "-enable lineinfo = %d\n", line_info);
    size += (size_t)sprintf(
        text + size, "\n#traces format = ...\n\n#BEGIN_TB\n\nthread block = 1,2,3\n\nwarp = 1\ninsts = %zu\n", count);
    for (size_t i = 0; i < count; i++)
        size += (size_t)sprintf(text + size, "%s\n", lines[i]);
    return size + (size_t)sprintf(text + size, "\n#END_TB\n\n");
}

static struct reading *read_lines(unsigned version, int line_info, const char *const *lines, size_t count)
{
    char text[16384];
    const size_t size = make_trace(text, version, line_info, lines, count);

    return read_trace(text, size, WM_FORMAT_AUTO);
}

static struct reading *read_line(const char *line)
{
    struct reading *reading = read_lines(4, 0, &line, 1);

    if (reading->status != WM_END)
        fail_msg("%s: line %llu: %s", line, (unsigned long long)reading->diag.line, reading->diag.text);
    return reading;
}

static void versions_differ_in_prefix_line_and_immediate(void **state)
{
    static const struct {
        unsigned version;
        int line_info;
        const char *line;
        uint32_t source_line;
    } cases[] = {
        {5, 0, "0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100 4 -12 ", 0},
        {5, 1, "77 0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100 4 0 ", 77},
        {4, 0, "0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100 4 ", 0},
        {4, 1, "78 0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100 4", 78},
        {3, 0, "0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100 4 ", 0},
        {2, 0, "1 2 3 1 0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100 4 ", 0},
        {1, 0, "1 2 3 1 0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100 4 ", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reading *reading = read_lines(cases[i].version, cases[i].line_info, &cases[i].line, 1);
        const struct wm_access *access;

        assert_int_equal(reading->status, WM_END);
        access = nth(reading, 0);
        assert_int_equal(access->address[1], 0x104);
        assert_int_equal(access->pc, 0x10);
        assert_int_equal(access->line, cases[i].source_line);
        assert_null(access->file);
        assert_int_equal(access->warp, 1);
        assert_memory_equal(access->block, ((uint32_t[]){1, 2, 3}), 12);
        assert_string_equal(access->kernel->name, "k(int, float)");
        assert_memory_equal(access->kernel->grid, ((uint32_t[]){2, 3, 4}), 12);
        free_reading(reading);
    }
}

/* One field more or less than the version has is not let through. */
static void fields_of_another_version_are_refused(void **state)
{
    static const struct {
        unsigned version;
        int line_info;
        const char *line;
        uint64_t column;
        const char *part;
    } cases[] = {
        {5, 0, "0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100 4", 42, "an immediate"},
        {5, 0, "0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100 4 0 0", 45, "end of the line"},
        {4, 0, "0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100 4 0", 43, "end of the line"},
        {4, 1, "0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100 4", 17, "destination registers"},
        {4, 0, "77 0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100 4", 18, "a register"},
        {2, 0, "1 2 3 2 0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100 4", 7, "another block or warp"},
        {2, 0, "0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100 4", 1, "another block or warp"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[4096];
        const size_t size = make_trace(text, cases[i].version, cases[i].line_info, &cases[i].line, 1);

        assert_fails(text, size, WM_FORMAT_AUTO, WM_E_SYNTAX, cases[i].version >= 4 ? 20 : 19, cases[i].column,
                     cases[i].part);
    }
}

static void unknown_versions_are_unsupported(void **state)
{
    static const unsigned versions[] = {0, 6, 7, 50};

    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        char text[4096];
        const size_t size = make_trace(text, versions[i], 0, NULL, 0);

        assert_fails(text, size, WM_FORMAT_AUTO, WM_E_UNSUPPORTED, 9, 28, "known are 1 to 5");
    }
}

/* Each way to write the addresses of the lanes in the mask. */
static void address_modes(void **state)
{
    static const struct {
        const char *line;
        uint32_t mask;
        uint64_t first; /* of the lowest active lane */
        uint64_t last;  /* of the highest */
    } cases[] = {
        {"0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f0000400000 -4 ", UINT32_MAX, 0x7f0000400000, 0x7f0000400000 - 124},
        {"0000 0000ff00 1 R4 LDG.E 1 R2 4 1 0x1000 16 ", 0xff00, 0x1000, 0x1000 + 7 * 16},
        {"0000 80000000 1 R4 LDG.E 1 R2 4 1 0x1000 16 ", 0x80000000, 0x1000, 0x1000},
        {"0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x1000 0 ", UINT32_MAX, 0x1000, 0x1000},
        {"0000 00010000 1 R4 LDG.E 1 R2 4 2 0x1000 ", 0x10000, 0x1000, 0x1000},
        {"0000 80000001 1 R4 LDG.E 1 R2 4 2 0x1000 1099511627776 ", 0x80000001, 0x1000, 0x10000001000},
        {"0000 80010001 1 R4 LDG.E 1 R2 4 2 0x1000 12345678 -12345679 ", 0x80010001, 0x1000, 0xfff},
        {"0000 80010001 1 R4 LDG.E 1 R2 4 0 0x1 0x0000000000000002 0x00007fffffffffff ", 0x80010001, 1, 0x7fffffffffff},
        {"0000 00000003 1 R4 LDG.E 1 R2 4 0 0xABCDEF 0xabcdef ", 3, 0xabcdef, 0xabcdef},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reading *reading = read_line(cases[i].line);
        const struct wm_access *access = nth(reading, 0);

        assert_int_equal(access->mask, cases[i].mask);
        assert_int_equal(access->address[__builtin_ctz(cases[i].mask)], cases[i].first);
        assert_int_equal(access->address[31 - __builtin_clz(cases[i].mask)], cases[i].last);
        free_reading(reading);
    }
}

static void a_mask_may_be_empty(void **state)
{
    static const char *const lines[] = {
        "0000 00000000 1 R4 LDG.E 1 R2 4 1 0x0 0 ",
        "0000 00000000 1 R4 LDG.E 1 R2 4 0 ",
        "0000 00000000 1 R4 LDG.E 1 R2 4 2 0x0 ",
        "0000 00000000 1 R4 LD.E 1 R2 4 1 0x0 0 ",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct reading *reading = read_line(lines[i]);

        assert_int_equal(nth(reading, 0)->mask, 0);
        assert_int_equal(nth(reading, 0)->opcode.space, WM_GLOBAL);
        free_reading(reading);
    }
}

/* A line is usually read in one go, if its fields stand where they usually do; else field by field. */
static void spaces_between_fields_do_not_matter(void **state)
{
    static const char *const fields[][20] = {
        {"0010", "ffffffff", "1", "R4", "LDG.E.64", "1", "R2", "8", "1", "0x7f1000000000", "8", "0"},
        {"7fff0", "0000000f", "0", "STS", "2", "R255", "R7", "4", "0", "0x0", "0x4", "0x8", "0xc", "-7"},
        {"0", "00000001", "2", "R1", "UR3", "RED.E.ADD.F32.FTZ.RN.STRONG.GPU", "3", "R1", "P2", "R3", "4", "2", "0x40",
         "1"},
        {"0123456789abcdef", "00000003", "0", "LDG.E", "0", "4", "2", "0x7f1000000000", "16", "99"},
        {"0020", "ffffffff", "9", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "FFMA", "0", "0", "0"},
        {"0020", "ffffffff", "0", "LDG.E", "0", "16", "1", "0x10", "4", "0"},
    };
    static const char *const gaps[] = {" ", "  ", "\t", " \t "};

    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        struct reading *plain = NULL;

        /* Round k has another gap behind field k - 1. */
        for (size_t k = 0; k == 0 || fields[i][k - 1]; k++) {
            for (size_t gap = 0; gap < sizeof gaps / sizeof gaps[0]; gap++) {
                char line[512] = "";
                const char *const lines[] = {line};
                struct reading *reading;

                for (size_t f = 0; fields[i][f]; f++) {
                    strcat(line, fields[i][f]);
                    strcat(line, f + 1 == k ? gaps[gap] : " ");
                }
                reading = read_lines(5, 0, lines, 1);
                if (reading->status != WM_END)
                    fail_msg("%s: %s", line, reading->diag.text);
                if (!plain) {
                    plain = reading;
                    continue;
                }
                assert_int_equal(reading->count, plain->count);
                assert_int_equal(reading->notes.instructions_skipped, plain->notes.instructions_skipped);
                if (plain->count > 0)
                    assert_same_access(nth(reading, 0), nth(plain, 0));
                free_reading(reading);
            }
        }
        free_reading(plain);
    }
}

static void bad_instructions_are_refused_with_their_place(void **state)
{
    static const struct {
        const char *line;
        enum wm_status status;
        uint64_t column;
        const char *part;
    } cases[] = {
        {"xyz ffffffff 0 LDG.E 0 4 1 0x0 4", WM_E_SYNTAX, 1, "pc"},
        {"0000", WM_E_SYNTAX, 5, "mask"},
        {"0000 1ffffffff 0 LDG.E 0 4 1 0x0 4", WM_E_RANGE, 6, "32 bits"},
        {"0000 10000000000000000 0 LDG.E 0 4 1 0x0 4", WM_E_RANGE, 6, "mask"},
        {"0000 ffffffff", WM_E_SYNTAX, 14, "destination registers"},
        {"0000 ffffffff -1 LDG.E 0 4 1 0x0 4", WM_E_RANGE, 15, "negative"},
        {"0000 ffffffff 99999 LDG.E 0 4 1 0x0 4", WM_E_RANGE, 15, "above 64"},
        {"0000 ffffffff 1 LDG.E 0 4 1 0x0 4", WM_E_SYNTAX, 17, "a register"},
        {"0000 ffffffff 0 R4 LDG.E 0 4 1 0x0 4", WM_E_SYNTAX, 20, "source registers"},
        {"0000 ffffffff 0 4 LDG.E 0 4 1 0x0 4", WM_E_SYNTAX, 17, "an opcode"},
        {"0000 ffffffff 1 R4 LDG.E 2 R1 4 1 0x0 4", WM_E_SYNTAX, 31, "a register"},
        {"0000 ffffffff 0 LDG.E 0", WM_E_SYNTAX, 24, "a width"},
        {"0000 ffffffff 0 LDG.E 0 x", WM_E_SYNTAX, 25, "a width"},
        {"0000 ffffffff 0 LDG.E 0 4", WM_E_SYNTAX, 26, "an address mode"},
        {"0000 ffffffff 0 LDG.E 0 4 3 0x0 4", WM_E_SYNTAX, 27, "an address mode: 0, 1 or 2"},
        {"0000 ffffffff 0 LDG.E 0 4 10 0x0 4", WM_E_SYNTAX, 28, "an address"},
        {"0000 ffffffff 0 LDG.E 0 4 1 0x0", WM_E_SYNTAX, 32, "a stride"},
        {"0000 ffffffff 0 LDG.E 0 4 1 0x0 0x4", WM_E_SYNTAX, 34, "end of the line"},
        {"0000 ffffffff 0 LDG.E 0 4 1 1000 4", WM_E_SYNTAX, 29, "0x"},
        {"0000 ffffffff 0 LDG.E 0 4 1 0x10000000000000000 4", WM_E_RANGE, 31, "above"},
        {"0000 ffffffff 0 LDG.E 0 4 1 0x0 99999999999999999999", WM_E_RANGE, 33, "above"},
        {"0000 00000005 0 LDG.E 0 4 1 0x0 4", WM_E_SYNTAX, 29, "not one run"},
        {"0000 00000003 0 LDG.E 0 4 0 0x0", WM_E_SYNTAX, 32, "an address, found the end of the line"},
        {"0000 00000003 0 LDG.E 0 4 0 0x0 0x1 0x2", WM_E_SYNTAX, 37, "end of the line"},
        {"0000 00000003 0 LDG.E 0 4 0 0x0 1", WM_E_SYNTAX, 33, "0x"},
        {"0000 00000003 0 LDG.E 0 4 0 0x0,0x1", WM_E_SYNTAX, 32, "an address"},
        {"0000 00000000 0 LDG.E 0 4 0 0x0", WM_E_SYNTAX, 29, "end of the line"},
        {"0000 0000000f 0 LDG.E 0 4 2 0x0 1 2", WM_E_SYNTAX, 36, "a delta"},
        {"0000 0000000f 0 LDG.E 0 4 2 0x0 1 2 3 4", WM_E_SYNTAX, 39, "end of the line"},
        {"0000 00000003 0 LDG.E 0 4 2 0x0 --1", WM_E_SYNTAX, 34, "a delta"},
        {"0000 00000003 0 LDG.E 0 4 2 0x0 x", WM_E_SYNTAX, 33, "a delta"},
        {"0000 ffffffff 0 LDG.E 0 4 1 0x0 4\r", WM_E_SYNTAX, 34, "carriage return"},
        {"#END_TB", WM_E_SYNTAX, 1, "1 more instructions"},
        {"warp = 1", WM_E_SYNTAX, 1, "1 more instructions"},
        {"insts = 1", WM_E_SYNTAX, 1, "pc"},
        {"thread block = 0,0,0", WM_E_SYNTAX, 1, "pc"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[4096];
        const size_t size = make_trace(text, 4, 0, &cases[i].line, 1);

        assert_fails(text, size, WM_FORMAT_AUTO, cases[i].status, 20, cases[i].column, cases[i].part);
    }
}

/* What the machine opcodes are, in PTX's words; the width in front of the addresses is wrong on purpose. */
static void widths_and_spaces_come_from_the_opcode(void **state)
{
    static const struct {
        const char *sass;
        const char *ptx;
    } cases[] = {
        {"LDG.E", "ld.global.b32"},
        {"LDG.E.SYS", "ld.global.b32"},
        {"LDG.E.64.SYS", "ld.global.v2.b32"},
        {"LDG.E.128.SYS", "ld.global.v4.b32"},
        {"LDG.E.U8.SYS", "ld.global.u8"},
        {"LDG.E.S8.SYS", "ld.global.s8"},
        {"LDG.E.U16", "ld.global.u16"},
        {"LDG.E.S16", "ld.global.s16"},
        {"LDG.E.128", "ld.global.v4.b32"},
        {"LDG.E.ENL2.256", "ld.global.v8.b32"},
        {"LDG.E.NA.ENL2.256", "ld.global.v8.b32"},
        {"LDG.E.CONSTANT", "ld.global.nc.b32"},
        {"LDG.E.64.CONSTANT", "ld.global.nc.v2.b32"},
        {"LDG.E.NA.LTC128B.CONSTANT", "ld.global.nc.b32"},
        {"LDG.E.LTC128B.64", "ld.global.v2.b32"},
        {"LDG.E.EF.64", "ld.global.cs.v2.b32"},
        {"LDG.E.LU.128", "ld.global.lu.v4.b32"},
        {"LDG.E.STRONG.GPU", "ld.global.cg.b32"},
        {"LDG.E.64.STRONG.SM", "ld.global.ca.v2.b32"},
        {"LDG.E.U8.STRONG.SYS", "ld.global.cv.u8"},
        {"STG.E.128", "st.global.v4.b32"},
        {"STG.E.EF.U16", "st.global.cs.u16"},
        {"STG.E.STRONG.SM", "st.global.wb.b32"},
        {"STG.E.64.STRONG.GPU", "st.global.cg.v2.b32"},
        {"STG.E.STRONG.SYS", "st.global.wt.b32"},
        {"LDS", "ld.shared.b32"},
        {"LDS.U.128", "ld.shared.v4.b32"},
        {"LDS.64", "ld.shared.v2.b32"},
        {"LDS.S16", "ld.shared.s16"},
        {"STS.128", "st.shared.v4.b32"},
        {"STS.U8", "st.shared.u8"},
        {"LDL.128", "ld.local.v4.b32"},
        {"STL.64", "st.local.v2.b32"},
        {"LDL.LU", "ld.local.b32"},
        {"LDC", "ld.const.b32"},
        {"LDC.64", "ld.const.v2.b32"},
        {"LDC.U8", "ld.const.u8"},
        {"LDCU.128", "ld.const.v4.b32"},
        {"LDSM.16.M88", "ldmatrix.x1.shared.b16"},
        {"LDSM.16.M88.2", "ldmatrix.x2.shared.b16"},
        {"LDSM.16.M88.4", "ldmatrix.x4.shared.b16"},
        {"LDSM.16.MT88.2", "ldmatrix.x2.trans.shared.b16"},
        {"STSM.16.M88.4", "stmatrix.x4.shared.b16"},
        {"STSM.16.MT88", "stmatrix.x1.trans.shared.b16"},
        {"LDGSTS.E", "ld.global.ca.b32"},
        {"LDGSTS.E.64", "ld.global.ca.v2.b32"},
        {"LDGSTS.E.BYPASS.128", "ld.global.cg.v4.b32"},
        {"LDGSTS.E.BYPASS.LTC128B.128", "ld.global.cg.v4.b32"},
        {"LDGSTS.E.LTC128B.64", "ld.global.ca.v2.b32"},
        {"ATOMG.E.ADD.STRONG.GPU", "atom.global.add.u32"},
        {"ATOMG.E.ADD.64.STRONG.GPU", "atom.global.add.u64"},
        {"ATOMG.E.ADD.F64.RN.STRONG.GPU", "atom.global.add.f64"},
        {"ATOMG.E.MAX.S32.STRONG.GPU", "atom.global.max.s32"},
        {"ATOMG.E.MIN.S64.STRONG.GPU", "atom.global.min.s64"},
        {"ATOMG.E.EXCH.STRONG.GPU", "atom.global.exch.b32"},
        {"ATOMG.E.CAS.64.STRONG.GPU", "atom.global.cas.b64"},
        {"ATOMG.E.AND.64.STRONG.GPU", "atom.global.and.b64"},
        {"ATOMG.E.CAS.128.STRONG.GPU", "atom.global.cas.b128"},
        {"ATOM.E.XOR.STRONG.GPU", "atom.global.xor.b32"},
        {"RED.E.ADD.STRONG.GPU", "red.global.add.u32"},
        {"RED.E.ADD.64.STRONG.GPU", "red.global.add.u64"},
        {"RED.E.ADD.F32.FTZ.RN.STRONG.GPU", "red.global.add.f32"},
        {"RED.E.ADD.F32.FTZ.RN", "red.global.add.f32"},
        {"REDG.E.OR.STRONG.GPU", "red.global.or.b32"},
        {"REDG.E.ADD.F16x2.RN.STRONG.SM", "red.global.add.f16x2"},
        {"RED.E.ADD.BF16_V2", "red.global.add.bf16x2"},
        {"ATOMS.ADD", "atom.shared.add.u32"},
        {"ATOMS.ADD.S32", "atom.shared.add.s32"},
        {"ATOMS.CAS.64", "atom.shared.cas.b64"},
        {"ATOMS.CAST.SPIN.64", "atom.shared.cas.b64"},
        {"ATOMS.CAST.SPIN", "atom.shared.cas.b32"},
        {"ATOMS.POPC.INC.32", "atom.shared.add.u32"},
        {"ATOMS.INC", "atom.shared.inc.u32"},
        {"ATOMS.DEC", "atom.shared.dec.u32"},
        {"ATOMS.MIN.S32", "atom.shared.min.s32"},
        {"ATOMS.EXCH", "atom.shared.exch.b32"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[256];
        struct reading *reading;

        snprintf(line, sizeof line, "0000 00000001 0 %s 0 3 1 0x100 0 ", cases[i].sass);
        reading = read_line(line);
        assert_int_equal(reading->notes.opcodes_unknown, 0);
        if (strcmp(opcode_text(&nth(reading, 0)->opcode), cases[i].ptx) != 0)
            fail_msg("%s: %s, not %s", cases[i].sass, opcode_text(&nth(reading, 0)->opcode), cases[i].ptx);
        assert_int_equal(reading->notes.copies_without_shared, strncmp(cases[i].sass, "LDGSTS", 6) == 0);
        free_reading(reading);
    }
}

static void opcodes_that_are_not_modelled_are_counted(void **state)
{
    static const char *const opcodes[] = {
        "TEX.SCR.LL",
        "SULD.D.BA.1D",
        "UTMALDG.2D",
        "LDG.E.96",
        "LDG.E.ENL3.64",
        "REDG.E.ADD.F32x4",
        "REDG.E.ADD.F16x8.RN",
        "ATOMG.E.STRONG.GPU",
        "LDSM.16",
        "LDSM.8.M88.4",
        "LDS.M88.4",
        "LDG",
        "ATOMS.ADD.U8",
        "LDG.E.64.128",
        "UBLKCP",
        "A_NAME_THAT_IS_LONGER_THAN_ANY_OPCODE_OF_ANY_PROCESSOR_SO_FAR.E",
    };

    (void)state;
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
        char first[256];
        const char *lines[] = {first, "0010 00000001 0 SULD 0 4 what ever stands here",
                               "0020 00000001 0 LDG.E 0 4 1 0x0 0"};
        struct reading *reading;

        snprintf(first, sizeof first, "0000 00000001 0 %s 0 4 1 0x0 0", opcodes[i]);
        reading = read_lines(4, 0, lines, 3);
        assert_int_equal(reading->status, WM_END);
        if (strcmp(opcodes[i], "LDG") == 0) {
            assert_int_equal(reading->count, 2);
        } else {
            assert_int_equal(reading->count, 1);
            assert_int_equal(reading->notes.opcodes_unknown, 2);
            assert_int_equal(strncmp(reading->notes.first_unknown, opcodes[i], WM_OPCODE_TEXT_SIZE - 1), 0);
            assert_int_equal(strlen(reading->notes.first_unknown),
                             strlen(opcodes[i]) < WM_OPCODE_TEXT_SIZE ? strlen(opcodes[i]) : WM_OPCODE_TEXT_SIZE - 1);
        }
        free_reading(reading);
    }
}

/* What moves data by descriptors or in bulk has no addresses in the trace, and a width of 0, as arithmetic has. */
static void data_moved_without_addresses_is_counted(void **state)
{
    static const struct {
        const char *opcode;
        int moves_data;
    } cases[] = {
        {"UBLKCP.S.G", 1},  {"UBLKRED.S.S.ADD", 1},     {"UBLKPF.L2", 1},     {"UTMALDG.2D.MULTICAST", 1},
        {"UTMASTG.2D", 1},  {"UTMAREDG.2D.ADD", 1},     {"UTMAPF.L2.2D", 1},  {"HGMMA.64x256x16.F32", 1},
        {"QGMMA.64x8x32.F32.E4M3.E4M3", 1},             {"IGMMA.64x8x32.S8.S8", 1},
        {"BGMMA.64x8x256.AND.POPC", 1},                 {"UTCHMMA.2CTA", 1},  {"SYNCS.ARRIVE.TRANS64.A1T0", 1},
        {"SYNCS.PHASECHK.TRANS64.TRYWAIT", 1},          {"SYNCS.EXCH.64", 1}, {"ARRIVES.LDGSTSBAR.64.TRANSCNT", 1},
        {"STAS.128", 1},    {"REDAS.ADD", 1},           {"LDGMC.E.ADD.32", 1}, {"TEX", 1},
        {"TLD4.LZ", 1},     {"SUATOM.P.1D", 1},
        {"HMMA.16816.F32", 0}, {"IMAD.MOV.U32", 0},     {"UTMACMDFLUSH", 0},  {"UIADD3", 0},
        {"BAR.SYNC", 0},    {"R2UR", 0},                {"LDGDEPBAR", 0},     {"SHF.R.U32.HI", 0},
        {"ARRIVE", 0},      {"TEXDEPBAR", 0},           {"FENCE.VIEW.ASYNC.S", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[256];
        struct reading *reading;

        snprintf(line, sizeof line, "0000 ffffffff 0 %s 0 0 0 ", cases[i].opcode);
        reading = read_line(line);
        assert_int_equal(reading->count, 0);
        if (reading->notes.opcodes_unknown != (uint64_t)cases[i].moves_data)
            fail_msg("%s", cases[i].opcode);
        assert_int_equal(reading->notes.instructions_skipped, !cases[i].moves_data);
        assert_string_equal(reading->notes.first_unknown, cases[i].moves_data ? cases[i].opcode : "");
        free_reading(reading);
    }
}

/* In a cluster a block's own shared addresses have its number in front. */
static void own_offsets_in_a_cluster(void **state)
{
    struct reading *reading = read_line("0000 00000005 1 R1 LDS.64 1 R3 8 2 0x0000000003000400 8 ");

    (void)state;
    assert_string_equal(opcode_text(&nth(reading, 0)->opcode), "ld.shared.v2.b32");
    assert_int_equal(nth(reading, 0)->address[0], 0x400);
    assert_int_equal(nth(reading, 0)->address[2], 0x408);
    free_reading(reading);
}

/* From sm_90 on other blocks' memory follows in the window of shared memory, and local memory lies elsewhere. */
static void other_blocks_memory_is_not_modelled(void **state)
{
    static const char head[] = "-kernel name = k\n-shmem base_addr = 0x00007efb00000000\n"
                               "-local mem base_addr = 0x00007efa00000000\n-accelsim tracer version = 4\n\n"
                               "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 4\n";
    static const char *const addresses[] = {"0x7efb01000400 4", "0x7efb0f000400 4", "0x7efb00000400 4", "0x7efb10000000 4"};
    char text[1024];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", head);
    struct reading *reading;

    (void)state;
    for (size_t i = 0; i < 4; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "0010 00000003 1 R1 LD.E 1 R2 4 1 %s \n", addresses[i]);
    snprintf(text + length, sizeof text - length, "#END_TB\n");
    reading = read_trace(text, strlen(text), WM_FORMAT_ACCELSIM);
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 2);
    assert_int_equal(reading->notes.opcodes_unknown, 2);
    assert_string_equal(reading->notes.first_unknown, "LD.E");
    assert_string_equal(opcode_text(&nth(reading, 0)->opcode), "ld.shared.b32");
    assert_int_equal(nth(reading, 0)->address[0], 0x400);
    assert_string_equal(opcode_text(&nth(reading, 1)->opcode), "ld.global.b32");
    free_reading(reading);
}

/* Generic accesses are of the space in whose window they fall, and become offsets into it. */
static void generic_addresses_are_resolved(void **state)
{
    static const struct {
        const char *opcode;
        uint64_t address;
        const char *ptx;
        uint64_t offset;
    } cases[] = {
        {"LD.E.64", SHARED_BASE, "ld.shared.v2.b32", 0},
        {"LD.E.EF", SHARED_BASE + 0x408, "ld.shared.b32", 0x408},
        {"LD.E", SHARED_BASE + 0xffffff, "ld.shared.b32", 0xffffff},
        {"LD.E", LOCAL_BASE, "ld.local.b32", 0},
        {"ST.E.128", LOCAL_BASE + 0xfffff0, "st.local.v4.b32", 0xfffff0},
        {"LD.E", LOCAL_BASE + 0x1000000, "ld.global.b32", LOCAL_BASE + 0x1000000},
        {"ST.E.STRONG.GPU", SHARED_BASE - 4, "st.global.cg.b32", SHARED_BASE - 4},
        {"ATOM.E.ADD.STRONG.GPU", SHARED_BASE + 4, "atom.shared.add.u32", 4},
        {"ATOM.E.ADD.STRONG.GPU", 0x10, "atom.global.add.u32", 0x10},
        {"RED.E.ADD.STRONG.GPU", SHARED_BASE + 4, "red.shared.add.u32", 4},
        {"REDG.E.ADD.STRONG.GPU", 0x7e0000000000, "red.global.add.u32", 0x7e0000000000},
        /* Not generic, but written like that all the same. */
        {"LDS", SHARED_BASE + 0x80, "ld.shared.b32", 0x80},
        {"LDS", 0x80, "ld.shared.b32", 0x80},
        {"STL", LOCAL_BASE + 0x40, "st.local.b32", 0x40},
        {"LDG.E", SHARED_BASE, "ld.global.b32", SHARED_BASE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[256];
        struct reading *reading;
        const struct wm_access *access;

        snprintf(line, sizeof line, "0000 00000005 0 %s 0 4 2 0x%llx 0 ", cases[i].opcode,
                 (unsigned long long)cases[i].address);
        reading = read_line(line);
        access = nth(reading, 0);
        assert_string_equal(opcode_text(&access->opcode), cases[i].ptx);
        assert_int_equal(access->address[0], cases[i].offset);
        assert_int_equal(access->address[2], cases[i].offset);
        free_reading(reading);
    }
}

static void lanes_in_several_spaces_are_not_modelled(void **state)
{
    struct reading *reading = read_line("0000 00000003 0 LD.E 0 4 0 0x00007f0000000000 0x00007f0001000000");

    (void)state;
    assert_int_equal(reading->count, 0);
    assert_int_equal(reading->notes.opcodes_unknown, 1);
    assert_string_equal(reading->notes.first_unknown, "LD.E");
    free_reading(reading);
}

/* Without windows nothing is known. */
static void generic_stays_generic_without_windows(void **state)
{
    static const char text[] =
        "-kernel name = k\n-accelsim tracer version = 4\n\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\n"
        "insts = 2\n0000 1 0 LD.E 0 4 1 0x7f0000000000 0\n0000 1 0 ATOM.E.ADD 0 4 1 0x7f0000000000 0\n"
        "#END_TB\n";
    struct reading *reading = read_trace(text, sizeof text - 1, WM_FORMAT_AUTO);

    (void)state;
    assert_int_equal(reading->status, WM_END);
    assert_string_equal(opcode_text(&nth(reading, 0)->opcode), "ld.generic.b32");
    assert_string_equal(opcode_text(&nth(reading, 1)->opcode), "atom.global.add.u32");
    assert_int_equal(nth(reading, 0)->address[0], UINT64_C(0x7f0000000000));
    free_reading(reading);
}

#define HEAD "-kernel name = k\n-accelsim tracer version = 4\n"

static void structure_is_checked(void **state)
{
    static const struct {
        const char *text;
        enum wm_status status;
        uint64_t line;
        uint64_t column;
        const char *part;
    } cases[] = {
        {"#BEGIN_TB\n", WM_E_SYNTAX, 1, 1, "a header"},
        {"-kernel name = k\n#BEGIN_TB\n", WM_E_SYNTAX, 2, 1, "tracer version"},
        {"-kernel name = k\n", WM_E_SYNTAX, 1, 0, "tracer version"},
        {HEAD "#END_TB\n", WM_E_SYNTAX, 3, 1, "#BEGIN_TB"},
        {HEAD "#BEGIN_TB\n#END_TB\n", WM_E_SYNTAX, 4, 1, "thread block ="},
        {HEAD "#BEGIN_TB\n#BEGIN_TB\n", WM_E_SYNTAX, 4, 1, "#END_TB"},
        {HEAD "#BEGIN_TB\n-kernel name = l\n", WM_E_SYNTAX, 4, 1, "#END_TB before the next kernel"},
        {HEAD "#BEGIN_TB\nwarp = 0\n", WM_E_SYNTAX, 4, 1, "thread block ="},
        {HEAD "#BEGIN_TB\nthread block = 0,0,0\nthread block = 0,0,0\n", WM_E_SYNTAX, 5, 1, "#BEGIN_TB"},
        {HEAD "#BEGIN_TB\nthread block = 0,0\n", WM_E_SYNTAX, 4, 19, "comma"},
        {HEAD "#BEGIN_TB\nthread block 0,0,0\n", WM_E_SYNTAX, 4, 14, "'='"},
        {HEAD "#BEGIN_TB\nthread block = -1,0,0\n", WM_E_RANGE, 4, 16, "negative"},
        {HEAD "#BEGIN_TB\nthread block = 0,0,0\ninsts = 0\n", WM_E_SYNTAX, 5, 1, "warp ="},
        {HEAD "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\nwarp = 1\n", WM_E_SYNTAX, 6, 1, "insts ="},
        {HEAD "#BEGIN_TB\nthread block = 0,0,0\nwarp = x\n", WM_E_SYNTAX, 5, 8, "warp's number"},
        {HEAD "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\n#END_TB\n", WM_E_SYNTAX, 6, 1, "insts ="},
        {HEAD "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = -1\n", WM_E_RANGE, 6, 9, "negative"},
        {HEAD "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 0\n0000 1 0 EXIT 0 0\n", WM_E_SYNTAX, 7, 1,
         "no more instructions"},
        {HEAD "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 2\n0000 1 0 EXIT 0 0\n\n#END_TB\n", WM_E_SYNTAX, 9, 1,
         "1 more instructions"},
        {HEAD "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 2\n0000 1 0 EXIT 0 0\n", WM_E_SYNTAX, 7, 0,
         "1 instructions of a warp are missing"},
        {HEAD "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n0000 1 0 EXIT 0 0\n", WM_E_SYNTAX, 7, 0,
         "without #END_TB"},
        {HEAD "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n", WM_E_SYNTAX, 6, 0, "missing"},
        {HEAD "hello\n", WM_E_SYNTAX, 3, 1, "-key = value"},
        {HEAD "-kernel\n", WM_E_SYNTAX, 3, 8, "-key = value"},
        {HEAD "-grid dim = 1,1,1\n", WM_E_SYNTAX, 3, 13, "(X,Y,Z)"},
        {HEAD "-grid dim = (1,1\n", WM_E_SYNTAX, 3, 17, "comma"},
        {HEAD "-grid dim = (1,1,1\n", WM_E_SYNTAX, 3, 19, "')'"},
        {HEAD "-shmem = -1\n", WM_E_RANGE, 3, 10, "negative"},
        {HEAD "-shmem base_addr = xyz\n", WM_E_SYNTAX, 3, 20, "hex"},
        {HEAD "-shmem base_addr = 0x10000000000000000\n", WM_E_RANGE, 3, 22, "above"},
        {HEAD "-enable lineinfo = 2\n", WM_E_RANGE, 3, 20, "above 1"},
        {HEAD "-kernel id = 1 2\n", WM_E_SYNTAX, 3, 16, "end of the line"},
        {"-kernel name = k\r\n", WM_E_SYNTAX, 1, 17, "carriage return"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_fails(cases[i].text, strlen(cases[i].text), WM_FORMAT_AUTO, cases[i].status, cases[i].line,
                     cases[i].column, cases[i].part);
    assert_fails("", 0, WM_FORMAT_ACCELSIM, WM_E_SYNTAX, 0, 0, "tracer version");
    assert_fails("-kernel name = a\0b\n", 19, WM_FORMAT_ACCELSIM, WM_E_SYNTAX, 1, 17, "NUL byte");
}

/* Kernels behind each other, empty warps and blocks, keys and lines of newer tracers. */
static void kernels_may_follow_each_other(void **state)
{
    static const char text[] =
        "-kernel name = a\n-kernel id = 1\n-accelsim tracer version = 4\n-enable lineinfo = 1\n"
        "-cluster dim = (1,1,1)\n"
        "#BEGIN_TB\nthread block = 5,0,0\ncluster id = 0,0,0\ncluster rank = 0\nwarp = 0\ninsts = 1\n"
        "9 0000 1 0 LDG.E 0 4 1 0x10 0\nwarp = 1\ninsts = 0\n\nwarp = 2\ninsts = 1\n"
        "9 0000 1 0 LDG.E 0 4 1 0x20 0\n#END_TB\n#BEGIN_TB\nthread block = 6,0,0\n#END_TB\n"
        "-kernel name = b\n-kernel id = 2\n-accelsim tracer version = 5\n"
        "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n0000 1 0 LDG.E 0 4 1 0x30 0 0\n#END_TB\n";
    struct reading *reading = read_trace(text, sizeof text - 1, WM_FORMAT_AUTO);

    (void)state;
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 3);
    assert_int_equal(nth(reading, 0)->warp, 0);
    assert_int_equal(nth(reading, 0)->line, 9);
    assert_int_equal(nth(reading, 1)->warp, 2);
    assert_int_equal(nth(reading, 1)->block[0], 5);
    assert_string_equal(nth(reading, 1)->kernel->name, "a");
    assert_string_equal(nth(reading, 2)->kernel->name, "b");
    assert_int_equal(nth(reading, 2)->kernel->launch, 2);
    assert_int_equal(nth(reading, 2)->line, 0);
    free_reading(reading);
}

static void cutting_it_short_gives_an_error_or_less(void **state)
{
    (void)state;
    assert_truncations(example, sizeof example - 1, WM_FORMAT_ACCELSIM);
    /* It is complete only with its last line, but for the newline. */
    for (size_t length = 1; length < sizeof example - 2; length++) {
        struct reading *reading = read_trace(example, length, WM_FORMAT_ACCELSIM);

        if (!strstr(example, "#traces") || length > (size_t)(strstr(example, "#BEGIN_TB") + 8 - example))
            assert_true(reading->status != WM_END);
        free_reading(reading);
    }
}

/* ---------------------------------------------------------------------------------------------------- kernelslist.g */

static char folder[] = "/tmp/warpmem-test-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static const char *in_folder(const char *name)
{
    static char paths[4][256];
    static unsigned turn;

    turn = (turn + 1) % 4;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
    return paths[turn];
}

static void put_file(const char *name, const char *text)
{
    FILE *file = fopen(in_folder(name), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"list.g",     "kernel-1.traceg",    "kernel-2.traceg",     "kernel-3.traceg",
                                        "bad.traceg", "kernel-5.traceg.xz", "sub/kernel-4.traceg", "a.wmt"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(in_folder(names[i]));
    rmdir(in_folder("sub"));
    return rmdir(folder);
}

static void put_kernel(const char *name, const char *kernel, unsigned address)
{
    char text[1024];

    snprintf(text, sizeof text,
             "-kernel name = %s\n-accelsim tracer version = 4\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n"
             "0000 1 0 LDG.E 0 4 1 0x%x 0\n#END_TB\n",
             kernel, address);
    put_file(name, text);
}

static void a_list_is_its_kernels_in_order(void **state)
{
    struct reading *reading;
    char text[1024];

    (void)state;
    assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
    put_kernel("kernel-1.traceg", "one", 0x100);
    put_kernel("kernel-2.traceg", "two", 0x200);
    put_kernel("sub/kernel-4.traceg", "four", 0x400);
    /* Was compressed once, and is not any more; is said not to be compressed, and its name ends in .xz. */
    put_kernel("kernel-3.traceg", "three", 0x300);
    put_kernel("kernel-5.traceg.xz", "five", 0x500);
    snprintf(text, sizeof text,
             "MemcpyHtoD,0x00007f1000000000,4096\n\nkernel-2.traceg\nMemcpyHtoD,0x00007f1000000000,4096\n"
             "kernel-1.traceg  \n  kernel-3.traceg.xz\n%s\nkernel-5.traceg\r\nMemcpyDtoH,0x0,1\nkernel-1.traceg",
             in_folder("sub/kernel-4.traceg"));
    put_file("list.g", text);
    reading = read_path(in_folder("list.g"), WM_FORMAT_AUTO);
    if (reading->status != WM_END)
        fail_msg("%s:%d: %s", reading->diag.file, (int)reading->diag.line, reading->diag.text);
    assert_int_equal(reading->count, 6);
    assert_string_equal(nth(reading, 0)->kernel->name, "two");
    assert_string_equal(nth(reading, 1)->kernel->name, "one");
    assert_string_equal(nth(reading, 2)->kernel->name, "three");
    assert_string_equal(nth(reading, 3)->kernel->name, "four");
    assert_string_equal(nth(reading, 4)->kernel->name, "five");
    assert_string_equal(nth(reading, 5)->kernel->name, "one");
    assert_int_equal(nth(reading, 5)->address[0], 0x100);
    /* Line numbers are those of each file. */
    assert_int_equal(reading->accesses[5].line, 7);
    assert_int_equal(reading->notes.lines_skipped, 3);
    free_reading(reading);
}

static void expect_list_error(const char *text, enum wm_status status, const char *file, uint64_t line,
                              const char *part)
{
    struct reading *reading;

    put_file("list.g", text);
    reading = read_path(in_folder("list.g"), WM_FORMAT_AUTO);
    assert_int_equal(reading->status, status);
    assert_string_equal(reading->diag.file, in_folder(file));
    assert_int_equal(reading->diag.line, line);
    if (!strstr(reading->diag.text, part))
        fail_msg("'%s' is not in '%s'", part, reading->diag.text);
    free_reading(reading);
}

static void errors_in_a_list_name_its_line(void **state)
{
    (void)state;
    put_kernel("kernel-1.traceg", "one", 0x100);
    put_file("bad.traceg", "-kernel name = x\nnonsense\n");
    put_file("a.wmt", "wmt 1\n");
    expect_list_error("kernel-1.traceg\nMemcpyHtoD,0x00007f1000000000,4096\nkernel-9.traceg\nkernel-1.traceg\n",
                      WM_E_IO, "list.g", 3, "kernel-9.traceg: No such file or directory");
    expect_list_error("kernel-1.traceg\nbad.traceg\n", WM_E_SYNTAX, "bad.traceg", 2, "nonsense");
    expect_list_error("kernel-1.traceg\na.wmt\n", WM_E_SYNTAX, "a.wmt", 1, "-key = value");
    expect_list_error("kernel-1.traceg\nsub\n", WM_E_IO, "list.g", 2, "sub: Is a directory");
    expect_list_error("kernel-1.traceg\ntwo words\n", WM_E_SYNTAX, "list.g", 2, "'two words'");
    expect_list_error("kernel-1.traceg\nlist.g\n", WM_E_SYNTAX, "list.g", 1, "kernel-1.traceg");
}

static void a_list_that_is_no_file_is_unsupported(void **state)
{
    static const char text[] = "MemcpyHtoD,0x00007f1000000000,4096\nkernel-1.traceg\n";

    (void)state;
    assert_fails(text, sizeof text - 1, WM_FORMAT_AUTO, WM_E_UNSUPPORTED, 2, 0, "list");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_is_read_as_described),
        cmocka_unit_test(versions_differ_in_prefix_line_and_immediate),
        cmocka_unit_test(fields_of_another_version_are_refused),
        cmocka_unit_test(unknown_versions_are_unsupported),
        cmocka_unit_test(address_modes),
        cmocka_unit_test(a_mask_may_be_empty),
        cmocka_unit_test(spaces_between_fields_do_not_matter),
        cmocka_unit_test(bad_instructions_are_refused_with_their_place),
        cmocka_unit_test(widths_and_spaces_come_from_the_opcode),
        cmocka_unit_test(opcodes_that_are_not_modelled_are_counted),
        cmocka_unit_test(data_moved_without_addresses_is_counted),
        cmocka_unit_test(own_offsets_in_a_cluster),
        cmocka_unit_test(other_blocks_memory_is_not_modelled),
        cmocka_unit_test(generic_addresses_are_resolved),
        cmocka_unit_test(lanes_in_several_spaces_are_not_modelled),
        cmocka_unit_test(generic_stays_generic_without_windows),
        cmocka_unit_test(structure_is_checked),
        cmocka_unit_test(kernels_may_follow_each_other),
        cmocka_unit_test(cutting_it_short_gives_an_error_or_less),
        cmocka_unit_test(a_list_is_its_kernels_in_order),
        cmocka_unit_test(errors_in_a_list_name_its_line),
        cmocka_unit_test(a_list_that_is_no_file_is_unsupported),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
