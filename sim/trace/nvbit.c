/*
 * Output of NVBit's mem_trace tool: a line for each launch and each executed memory instruction, among whatever the traced
 * program printed.
 *
 *     MEMTRACE: CTX 0x... - LAUNCH - Kernel pc 0x... - Kernel name NAME - grid launch id N - grid size X,Y,Z - ...
 *     MEMTRACE: CTX 0x... - grid_launch_id N - CTA X,Y,Z - warp W - OPCODE - 0x... (32 addresses)
 *
 * There is no mask: a lane at address 0 is taken as inactive, in every access, and notes.lanes_guessed counts those; old
 * versions of the tool leave stale addresses instead, which cannot be told from real ones.
 *
 * A copy from global to shared memory (LDGSTS) has a line for each side, shared first, and other warps' lines can stand
 * between the two. The shared side is recognised by its addresses, which are offsets below 256 MiB, and skipped; the global
 * side is given as a load, as for Accel-Sim, and counted in notes.copies_without_shared.
 *
 * Generic accesses stay generic: the windows are not known.
 */
#include "trace/trace.h"

#include <string.h>

static const char opening[] = "MEMTRACE: CTX ";

/* Moves *at over text. */
static inline enum wm_status take(struct wmi_parser *parser, const char **at, const char *text, const char *what)
{
    if (WMI_UNLIKELY(!wmi_starts(*at, text)))
        return wmi_expected(parser, *at, what);
    *at += strlen(text);
    return WM_OK;
}

/* The end of the text that ends before "stop" at the latest; NULL if stop is not in the line. */
static const char *find(const char *p, const char *end, const char *stop)
{
    const size_t length = strlen(stop);

    for (; (size_t)(end - p) >= length; p++) {
        p = memchr(p, *stop, (size_t)(end - p) - length + 1);
        if (!p)
            return NULL;
        if (memcmp(p, stop, length) == 0)
            return p;
    }
    return NULL;
}

/* Where the tool's part of a line begins: the program may have printed something before, without a newline. NULL: it is
 * not the tool's. */
static const char *find_opening(const char *p, const char *end)
{
    return wmi_starts(p, opening) ? p : find(p, end, opening);
}

/* Behind "MEMTRACE: CTX 0x...", where the kind of line is said; NULL if there is no such number. */
static const char *skip_context(const char *p)
{
    p += sizeof opening - 1;
    if (p[0] != '0' || p[1] != 'x')
        return NULL;
    p += 2;
    while (wmi_hex_run(p) > 0)
        p += wmi_hex_run(p);
    return p;
}

static int is_launch(const char *kind)
{
    return kind && wmi_starts(kind, " - LAUNCH - ");
}

static int is_access(const char *kind)
{
    return kind && (wmi_starts(kind, " - grid_launch_id ") || wmi_starts(kind, " - CTA "));
}

/* ------------------------------------------------------------------------------------------------------------ launches */

static enum wm_status parse_launch(struct wmi_parser *parser, const char *p, const char *end)
{
    static const char before_name[] = "Kernel name ";
    static const char behind_name[] = " - grid launch id ";
    const char *name = find(p, end, before_name);
    const char *name_end = name ? find(name, end, behind_name) : NULL;
    struct wm_kernel *kernel;
    enum wm_status status;

    if (!name_end)
        return wmi_fail(parser, WM_E_SYNTAX, p, "expected 'Kernel name ... - grid launch id ...' in a LAUNCH line");
    name += sizeof before_name - 1;
    /* Launches overlap: the older ones stay known. */
    parser->state.newest = (parser->state.newest + 1) % WMI_LAUNCHES;
    parser->kernel_used = 1;
    kernel = wmi_kernel_new(parser);
    if (!kernel)
        return parser->status;
    kernel->name = wmi_arena_text(&parser->arena, name, name_end > name ? (size_t)(name_end - name) : 0);
    if (!kernel->name)
        return wmi_fail(parser, WM_E_MEMORY, NULL, "out of memory");
    p = name_end + sizeof behind_name - 1;
    status = wmi_decimal(parser, &p, UINT64_MAX, "a launch id", &kernel->launch);
    if (status == WM_OK)
        status = take(parser, &p, " - grid size ", "' - grid size '");
    if (status == WM_OK)
        status = wmi_triple(parser, &p, "a grid size", kernel->grid);
    if (status == WM_OK)
        status = take(parser, &p, " - block size ", "' - block size '");
    if (status == WM_OK)
        status = wmi_triple(parser, &p, "a block size", kernel->block);
    if (status != WM_OK)
        return status;
    p = find(p, end, " - shmem ");
    if (p) {
        p += strlen(" - shmem ");
        status = wmi_decimal(parser, &p, UINT64_MAX, "the shared memory size", &kernel->shared_bytes);
    }
    return status;
}

/* The record of a launch. One that was not introduced, or long ago, has a nameless one. */
static const struct wm_kernel *find_launch(struct wmi_parser *parser, uint64_t launch)
{
    for (unsigned back = 0; back < WMI_LAUNCHES; back++) {
        const struct wm_kernel *kernel =
            parser->state.launches[(parser->state.newest + WMI_LAUNCHES - back) % WMI_LAUNCHES];

        if (kernel && kernel->launch == launch)
            return kernel;
    }
    if (parser->unnamed && parser->unnamed->launch == launch)
        return parser->unnamed;
    parser->unnamed = wmi_arena_take(&parser->arena, sizeof *parser->unnamed);
    if (parser->unnamed)
        *parser->unnamed = (struct wm_kernel){.name = "", .launch = launch};
    return parser->unnamed;
}

/* ------------------------------------------------------------------------------------------------------------ accesses */

/* Launch, block and warp. */
static enum wm_status parse_place(struct wmi_parser *parser, const char **at)
{
    struct wm_access *access = &parser->access;
    uint64_t launch;
    uint64_t warp;
    enum wm_status status = WM_OK;

    access->count = 1;
    access->pc = WM_NO_PC;
    access->file = NULL;
    access->line = 0;
    if (wmi_starts(*at, " - grid_launch_id ")) {
        *at += strlen(" - grid_launch_id ");
        status = wmi_small(parser, at, UINT64_MAX, "a launch id", &launch);
        if (status != WM_OK)
            return status;
        access->kernel = find_launch(parser, launch);
    } else {
        access->kernel = wmi_kernel_use(parser);
    }
    if (!access->kernel)
        return wmi_fail(parser, WM_E_MEMORY, NULL, "out of memory");
    status = take(parser, at, " - CTA ", "' - CTA '");
    if (status == WM_OK)
        status = wmi_triple(parser, at, "a block index X,Y,Z", access->block);
    if (status == WM_OK)
        status = take(parser, at, " - warp ", "' - warp '");
    if (status == WM_OK)
        status = wmi_small(parser, at, UINT32_MAX, "the warp's number", &warp);
    if (status == WM_OK)
        status = take(parser, at, " - ", "' - ' and an opcode");
    if (status == WM_OK)
        access->warp = (uint32_t)warp;
    return status;
}

/* 32 addresses to the end of the line. */
static enum wm_status parse_addresses(struct wmi_parser *parser, const char *p)
{
    struct wm_access *access = &parser->access;
    const int padded = wmi_hex_run_is(p + 2, 16);
    unsigned count;

    parser->addresses = p;
    count = wmi_hex_list(&p, WM_LANES, ' ', access->address);
    for (; count < WM_LANES; count++) {
        enum wm_status status;

        p = wmi_skip_blanks(p);
        if (p[0] != '0' || p[1] != 'x')
            return wmi_expected(parser, p, "32 addresses 0x...");
        p += 2;
        status = wmi_hex(parser, &p, "an address", &access->address[count]);
        if (status != WM_OK)
            return status;
        if (count < WM_LANES - 1 && *p != ' ')
            return wmi_expected(parser, p, "a blank and the next of 32 addresses");
    }
    /* The tool writes all addresses with 16 digits, and a blank behind each. */
    if (p == parser->end && padded && p[-1] != ' ' && !wmi_hex_run_is(p - 16, 16))
        return wmi_expected(parser, p, "the rest of an address");
    p = wmi_skip_blanks(p);
    if (*p != '\n')
        return wmi_expected(parser, p, "the end of the line behind 32 addresses");
    access->mask = 0;
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access->mask |= (uint32_t)(access->address[lane] != 0) << lane;
    return WM_OK;
}

static int is_shared_side(const struct wm_access *access)
{
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        if (access->address[lane] >= WMI_CLUSTER_BYTES)
            return 0;
    }
    return 1;
}

/* Old versions leave stale addresses in inactive lanes. One that the hardware would refuse cannot have been active. */
static void drop_stale_lanes(struct wm_access *access)
{
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);

        if (access->address[lane] % access->opcode.width_bytes)
            access->mask &= ~(UINT32_C(1) << lane);
    }
}

static enum wm_status parse_access(struct wmi_parser *parser, const char *p)
{
    struct wmi_opcode_slot scratch;
    const struct wmi_opcode_slot *opcode;
    const char *name;
    size_t length;
    enum wm_status status = parse_place(parser, &p);

    if (status != WM_OK)
        return status;
    name = p;
    p = wmi_token_end(p);
    length = (size_t)(p - name);
    if (*name < 'A' || *name > 'Z')
        return wmi_expected(parser, name, "an opcode");
    status = take(parser, &p, " - ", "' - ' and 32 addresses");
    if (status == WM_OK)
        status = parse_addresses(parser, p);
    if (status != WM_OK)
        return status;
    opcode = wmi_sass(parser, name, length, &scratch);
    if (opcode->kind == WMI_SASS_UNKNOWN) {
        wmi_sass_unknown(parser, name, length);
        return WM_END;
    }
    parser->access.opcode = opcode->opcode;
    if (opcode->kind == WMI_SASS_COPY) {
        if (is_shared_side(&parser->access)) {
            parser->notes.lines_skipped++;
            return WM_END;
        }
        parser->notes.copies_without_shared++;
    }
    wmi_sass_own_offsets(&parser->access);
    drop_stale_lanes(&parser->access);
    parser->notes.lanes_guessed++;
    return WM_OK;
}

/* ------------------------------------------------------------------------------------------------------------- format */

static enum wm_status nvbit_line(struct wmi_parser *parser)
{
    const char *begin = parser->at;
    const char *end = wmi_next_line(parser, begin);
    const char *p = (size_t)(end - begin) > WMI_LINE_BYTES + 1 ? NULL : find_opening(begin, end);
    const char *kind = p ? skip_context(p) : NULL;
    enum wm_status status;

    parser->at = end;
    if (is_access(kind)) {
        status = parse_access(parser, kind);
    } else if (is_launch(kind)) {
        status = parse_launch(parser, kind, end);
        if (status == WM_OK)
            status = WM_END;
    } else {
        parser->notes.lines_skipped++;
        return WM_END;
    }
    /* What stands before it is another program's line, cut short. */
    parser->notes.lines_skipped += p > begin;
    return status;
}

static void nvbit_scan(struct wmi_parser *parser)
{
    while (parser->at < parser->end) {
        const char *begin = parser->at;
        const char *end = wmi_next_line(parser, begin);
        const char *p = (size_t)(end - begin) > WMI_LINE_BYTES + 1 ? NULL : find_opening(begin, end);
        const char *kind = p ? skip_context(p) : NULL;

        parser->begin = begin;
        parser->state.line++;
        if (is_launch(kind))
            parse_launch(parser, kind, end);
        parser->at = end;
    }
}

static enum wm_status nvbit_finish(struct wmi_parser *parser)
{
    (void)parser;
    return WM_OK;
}

static int nvbit_probe(const char *text, size_t length)
{
    if (find(text, text + length, opening) || find(text, text + length, "NVBit (NVidia Binary Instrumentation Tool"))
        return 2;
    return 0;
}

const struct wmi_format wmi_nvbit_format = {
    .id = WM_FORMAT_NVBIT,
    .name = "nvbit",
    .skips_long_lines = 1,
    .probe = nvbit_probe,
    .scan = nvbit_scan,
    .line = nvbit_line,
    .finish = nvbit_finish,
};
