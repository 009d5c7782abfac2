/*
 * Accel-Sim kernel traces (.traceg), tracer versions 1 to 5.
 *
 *     -key = value                                     header, from "-kernel name" on
 *     #BEGIN_TB
 *     thread block = x,y,z
 *     warp = n
 *     insts = n
 *     [tbx tby tbz warp] [line] pc mask ndst Rn* opcode nsrc Rn* width [mode addresses] [imm]
 *     #END_TB
 *
 * pc, mask and addresses are hex; everything else, strides and deltas too, is decimal. The prefix of four stands only in
 * versions below 3, imm from version 5 on, line where the header says "-enable lineinfo = 1". Nothing says which file a
 * line is of. width is 0 for instructions without addresses and else not to be trusted: the opcode has it.
 *
 * LDGSTS carries the global side of the copy alone. It is given as a load, whose tag side is that of the copy
 * (ld.global.cg for .BYPASS, else .ca), and counted in notes.copies_without_shared.
 *
 * Generic accesses are of the space in whose 16 MiB window, as the header gives them, their first active lane lies. One
 * whose lanes lie in different spaces is not modelled. From sm_90 on the memory of other blocks of a cluster follows in the
 * window of shared memory, by their numbers: neither is an access to it modelled, but one to block 0 cannot be told from one
 * to the own shared memory.
 */
#include "trace/trace.h"

#include <string.h>

#define WINDOW_BYTES (UINT64_C(16) << 20)
#define VERSION_MAX 5

/* What may come next. */
enum stage {
    AT_START = 0,
    IN_HEADER,
    BETWEEN_BLOCKS,
    IN_BLOCK,        /* behind #BEGIN_TB */
    IN_THREAD_BLOCK, /* behind thread block = */
    IN_WARP,         /* behind warp = */
    IN_INSTRUCTIONS  /* behind insts = */
};

static enum wm_status end_of_line(struct wmi_parser *parser, const char *p)
{
    p = wmi_skip_blanks(p);
    if (WMI_UNLIKELY(*p != '\n'))
        return wmi_expected(parser, p, "the end of the line");
    parser->at = p + 1;
    return WM_OK;
}

/* ------------------------------------------------------------------------------------------------------------- header */

/* "(x,y,z)". */
static enum wm_status parse_dimensions(struct wmi_parser *parser, const char **at, uint32_t values[3])
{
    enum wm_status status;

    if (**at != '(')
        return wmi_expected(parser, *at, "(X,Y,Z)");
    ++*at;
    status = wmi_triple(parser, at, "a dimension", values);
    if (status != WM_OK)
        return status;
    if (**at != ')')
        return wmi_expected(parser, *at, "')'");
    ++*at;
    return WM_OK;
}

static enum wm_status parse_kernel_name(struct wmi_parser *parser, const char **at, struct wm_kernel *kernel)
{
    const char *p = *at;
    const char *end = wmi_next_line(parser, p);

    if (end > p && end[-1] == '\n')
        end--;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    for (const char *c = p; c < end; c++) {
        if (*c == '\r' || *c == '\0')
            return wmi_expected(parser, c, "the end of the line");
    }
    kernel->name = wmi_arena_text(&parser->arena, p, (size_t)(end - p));
    if (!kernel->name)
        return wmi_fail(parser, WM_E_MEMORY, NULL, "out of memory");
    *at = end;
    return WM_OK;
}

static enum wm_status parse_version(struct wmi_parser *parser, const char **at)
{
    const char *begin = *at;
    uint64_t version;
    enum wm_status status = wmi_decimal(parser, at, UINT32_MAX, "the tracer's version", &version);

    if (status != WM_OK)
        return status;
    if (version < 1 || version > VERSION_MAX)
        return wmi_fail(parser, WM_E_UNSUPPORTED, begin, "trace of Accel-Sim tracer version %llu; known are 1 to %d",
                        (unsigned long long)version, VERSION_MAX);
    parser->state.accelsim.version = (uint32_t)version;
    return WM_OK;
}

static enum wm_status parse_line_info(struct wmi_parser *parser, const char **at)
{
    uint64_t enabled;
    enum wm_status status = wmi_decimal(parser, at, 1, "lineinfo", &enabled);

    parser->state.accelsim.line_info = status == WM_OK && enabled;
    return status;
}

/* A window's address; 0x may be there or not. */
static enum wm_status parse_base(struct wmi_parser *parser, const char **at, uint64_t *base)
{
    if ((*at)[0] == '0' && (*at)[1] == 'x')
        *at += 2;
    return wmi_hex(parser, at, "an address in hex", base);
}

static enum wm_status parse_value(struct wmi_parser *parser, const char *key, size_t length, const char **at)
{
    struct wmi_accelsim *state = &parser->state.accelsim;
    struct wm_kernel *kernel = parser->state.launches[parser->state.newest];

#define KEY_IS(text) (length == sizeof(text) - 1 && memcmp(key, text, sizeof(text) - 1) == 0)
    if (KEY_IS("kernel name"))
        return parse_kernel_name(parser, at, kernel);
    if (KEY_IS("kernel id"))
        return wmi_decimal(parser, at, UINT64_MAX, "the kernel's id", &kernel->launch);
    if (KEY_IS("grid dim"))
        return parse_dimensions(parser, at, kernel->grid);
    if (KEY_IS("block dim"))
        return parse_dimensions(parser, at, kernel->block);
    if (KEY_IS("shmem"))
        return wmi_decimal(parser, at, UINT64_MAX, "the shared memory size", &kernel->shared_bytes);
    if (KEY_IS("shmem base_addr"))
        return parse_base(parser, at, &state->shared_base);
    if (KEY_IS("local mem base_addr"))
        return parse_base(parser, at, &state->local_base);
    if (KEY_IS("accelsim tracer version"))
        return parse_version(parser, at);
    if (KEY_IS("enable lineinfo"))
        return parse_line_info(parser, at);
#undef KEY_IS
    /* Nothing that the model would need. */
    while (*at < parser->end && **at != '\n')
        ++*at;
    return WM_OK;
}

/* "-key = value". */
static enum wm_status parse_header(struct wmi_parser *parser, const char *p)
{
    struct wmi_accelsim *state = &parser->state.accelsim;
    const char *key = p + 1;
    const char *end;
    enum wm_status status;

    if (state->stage != IN_HEADER) {
        if (state->stage > BETWEEN_BLOCKS)
            return wmi_expected(parser, p, "#END_TB before the next kernel");
        if (!wmi_kernel_new(parser))
            return parser->status;
        memset(state, 0, sizeof *state);
        state->stage = IN_HEADER;
    }
    for (end = key; *end != '=' && *end != '\n'; end++)
        ;
    if (*end != '=')
        return wmi_expected(parser, end, "-key = value");
    p = wmi_skip_blanks(end + 1);
    while (end > key && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    status = parse_value(parser, key, (size_t)(end - key), &p);
    return status == WM_OK ? end_of_line(parser, p) : status;
}

/* ---------------------------------------------------------------------------------------------------------- structure */

static enum wm_status begin_block(struct wmi_parser *parser, const char *p)
{
    struct wmi_accelsim *state = &parser->state.accelsim;

    if (state->stage != IN_HEADER && state->stage != BETWEEN_BLOCKS)
        return wmi_expected(parser, p, state->stage == AT_START ? "a header, -kernel name = ..." : "#END_TB");
    if (state->version == 0)
        return wmi_fail(parser, WM_E_SYNTAX, p, "the header has no '-accelsim tracer version = N'");
    state->stage = IN_BLOCK;
    return end_of_line(parser, p + strlen("#BEGIN_TB"));
}

static enum wm_status end_block(struct wmi_parser *parser, const char *p)
{
    struct wmi_accelsim *state = &parser->state.accelsim;

    if (state->stage != IN_THREAD_BLOCK && state->stage != IN_INSTRUCTIONS)
        return wmi_expected(parser, p, state->stage < IN_BLOCK ? "#BEGIN_TB" : "thread block =, warp = and insts =");
    state->stage = BETWEEN_BLOCKS;
    return end_of_line(parser, p + strlen("#END_TB"));
}

/* Behind "key = ". */
static enum wm_status skip_key(struct wmi_parser *parser, const char **at, const char *key)
{
    const char *p = wmi_skip_blanks(*at + strlen(key));

    if (*p != '=')
        return wmi_expected(parser, p, "'='");
    *at = wmi_skip_blanks(p + 1);
    return WM_OK;
}

static enum wm_status parse_thread_block(struct wmi_parser *parser, const char *p)
{
    enum wm_status status;

    if (parser->state.accelsim.stage != IN_BLOCK)
        return wmi_expected(parser, p, "#BEGIN_TB before a thread block");
    status = skip_key(parser, &p, "thread block");
    if (status == WM_OK)
        status = wmi_triple(parser, &p, "a block index X,Y,Z", parser->state.block);
    parser->state.accelsim.stage = IN_THREAD_BLOCK;
    return status == WM_OK ? end_of_line(parser, p) : status;
}

static enum wm_status parse_warp(struct wmi_parser *parser, const char *p)
{
    struct wmi_accelsim *state = &parser->state.accelsim;
    uint64_t warp = 0;
    enum wm_status status;

    if (state->stage != IN_THREAD_BLOCK && state->stage != IN_INSTRUCTIONS)
        return wmi_expected(parser, p, state->stage == IN_WARP ? "insts =" : "thread block = before a warp");
    status = skip_key(parser, &p, "warp");
    if (status == WM_OK)
        status = wmi_decimal(parser, &p, UINT32_MAX, "the warp's number", &warp);
    parser->state.warp = (uint32_t)warp;
    state->stage = IN_WARP;
    return status == WM_OK ? end_of_line(parser, p) : status;
}

static enum wm_status parse_instructions(struct wmi_parser *parser, const char *p)
{
    struct wmi_accelsim *state = &parser->state.accelsim;
    enum wm_status status;

    if (state->stage != IN_WARP)
        return wmi_expected(parser, p, "warp = before insts =");
    status = skip_key(parser, &p, "insts");
    if (status == WM_OK)
        status = wmi_decimal(parser, &p, UINT64_MAX, "the number of instructions", &state->instructions);
    state->stage = IN_INSTRUCTIONS;
    return status == WM_OK ? end_of_line(parser, p) : status;
}

/* A line that is no instruction. */
static enum wm_status parse_structure(struct wmi_parser *parser, const char *p)
{
    switch (*p) {
    case '\n': parser->at = p + 1; return WM_OK;
    case '-': return parse_header(parser, p);
    case '#':
        if (wmi_is_word(p, "#BEGIN_TB"))
            return begin_block(parser, p);
        if (wmi_is_word(p, "#END_TB"))
            return end_block(parser, p);
        parser->at = wmi_next_line(parser, p);
        return WM_OK;
    case 't':
        if (wmi_starts(p, "thread block"))
            return parse_thread_block(parser, p);
        break;
    case 'w':
        if (wmi_is_word(p, "warp"))
            return parse_warp(parser, p);
        break;
    case 'i':
        if (wmi_is_word(p, "insts"))
            return parse_instructions(parser, p);
        break;
    case 'c':
        /* Newer tracers say which cluster a block belongs to. */
        if (wmi_starts(p, "cluster ") && parser->state.accelsim.stage == IN_THREAD_BLOCK) {
            parser->at = wmi_next_line(parser, p);
            return WM_OK;
        }
        break;
    default: break;
    }
    if (parser->state.accelsim.stage == IN_INSTRUCTIONS)
        return wmi_expected(parser, p, "warp = or #END_TB (insts = announced no more instructions)");
    return wmi_expected(parser, p, "-key = value, #BEGIN_TB, thread block =, warp = or insts =");
}

/* --------------------------------------------------------------------------------------------------------- addresses */

/* Moves *at over the blank before the next field. */
static enum wm_status next_field(struct wmi_parser *parser, const char **at, const char *what)
{
    const char *p = wmi_skip_blanks(*at);

    if (WMI_UNLIKELY(p == *at || *p == '\n'))
        return wmi_expected(parser, p, what);
    *at = p;
    return WM_OK;
}

static enum wm_status parse_address(struct wmi_parser *parser, const char **at, uint64_t *value)
{
    enum wm_status status = next_field(parser, at, "an address");

    if (status != WM_OK)
        return status;
    if ((*at)[0] != '0' || (*at)[1] != 'x')
        return wmi_expected(parser, *at, "an address 0x...");
    *at += 2;
    return wmi_hex_likely(parser, at, WMI_GUESS_ADDRESS, "an address", value);
}

/* Mode 0: an address for each active lane. */
static enum wm_status parse_list(struct wmi_parser *parser, const char **at)
{
    struct wm_access *access = &parser->access;
    const unsigned lanes = wmi_lanes(access->mask);
    uint64_t packed[WM_LANES];
    uint64_t *values = access->mask == UINT32_MAX ? access->address : packed;
    const char *p = wmi_skip_blanks(*at);
    unsigned count;

    if (WMI_UNLIKELY(p == *at))
        return wmi_expected(parser, p, "a blank and an address");
    count = wmi_hex_list(&p, lanes, ' ', values);
    /* The list stops behind a blank, or at a number's end. */
    if (p[-1] == ' ' || p[-1] == '\t')
        p--;
    for (; count < lanes; count++) {
        enum wm_status status = parse_address(parser, &p, &values[count]);

        if (status != WM_OK)
            return status;
    }
    if (values == packed)
        wmi_scatter(packed, access->mask, access->address);
    *at = p;
    return WM_OK;
}

/* Mode 1: base and stride over one run of consecutive active lanes. */
static enum wm_status parse_stride(struct wmi_parser *parser, const char **at)
{
    struct wm_access *access = &parser->access;
    const unsigned first = access->mask ? (unsigned)__builtin_ctz(access->mask) : 0;
    const uint32_t run = access->mask >> first;
    uint64_t base;
    int64_t stride = 0;
    enum wm_status status = parse_address(parser, at, &base);

    if (status == WM_OK)
        status = next_field(parser, at, "a stride");
    if (status == WM_OK)
        status = wmi_signed_small(parser, at, "a stride", &stride);
    if (status != WM_OK)
        return status;
    if (run & (run + 1))
        return wmi_fail(parser, WM_E_SYNTAX, parser->addresses,
                        "base and stride, but the active lanes are not one run");
    wmi_fill_stride(base - first * (uint64_t)stride, (uint64_t)stride, access->address);
    return WM_OK;
}

/* A blank and a difference of 1 to 7 digits, which is added to *address. Returns 0 if it is something else. */
static inline int take_short_delta(const char **at, uint64_t *address)
{
    const char *p = *at;
    const uint64_t negative = p[1] == '-';
    uint32_t digits;
    unsigned length;

    if (*p != ' ')
        return 0;
    length = wmi_decimal8(p + 1 + negative, &digits);
    if (length == 0 || length == 8)
        return 0;
    *address += (digits ^ (0 - negative)) + negative;
    *at = p + 1 + negative + length;
    return 1;
}

/* Mode 2: a base, then the difference of each active lane to the one before. */
static enum wm_status parse_deltas(struct wmi_parser *parser, const char **at)
{
    struct wm_access *access = &parser->access;
    uint32_t rest = access->mask;
    uint64_t address;
    enum wm_status status = parse_address(parser, at, &address);

    if (status != WM_OK || !rest)
        return status;
    for (;;) {
        int64_t delta;

        access->address[__builtin_ctz(rest)] = address;
        rest &= rest - 1;
        if (!rest)
            return WM_OK;
        if (take_short_delta(at, &address))
            continue;
        status = next_field(parser, at, "a delta");
        if (status == WM_OK)
            status = wmi_signed(parser, at, "a delta", &delta);
        if (status != WM_OK)
            return status;
        address += (uint64_t)delta;
    }
}

static enum wm_status parse_addresses(struct wmi_parser *parser, const char **at)
{
    enum wm_status status = next_field(parser, at, "an address mode");
    const char *mode = *at;

    if (status != WM_OK)
        return status;
    ++*at;
    parser->addresses = wmi_skip_blanks(*at);
    switch (*mode) {
    case '0': return parser->access.mask ? parse_list(parser, at) : WM_OK;
    case '1': return parse_stride(parser, at);
    case '2': return parse_deltas(parser, at);
    default: return wmi_expected(parser, mode, "an address mode: 0, 1 or 2");
    }
}

/* ------------------------------------------------------------------------------------------------------------- spaces */

/* Active lanes whose address lies in a window of so many bytes; a window at 0 is not known. */
static uint32_t lanes_in(const struct wm_access *access, uint64_t base, uint64_t bytes)
{
    uint32_t lanes = 0;

    for (unsigned lane = 0; base && lane < WM_LANES; lane++)
        lanes |= (uint32_t)(access->address[lane] - base < bytes) << lane;
    return lanes & access->mask;
}

static uint32_t lanes_within(const struct wm_access *access, uint64_t base)
{
    return lanes_in(access, base, WINDOW_BYTES);
}

/* Whether other blocks' shared memory may follow in the window of shared memory: on GPUs before sm_90 local memory does. */
static int has_cluster_window(const struct wmi_accelsim *state)
{
    return state->shared_base && state->local_base - state->shared_base >= WMI_CLUSTER_BYTES;
}

static void subtract(struct wm_access *access, uint64_t base)
{
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access->address[lane] -= base;
}

/* Finds the space of a generic access. Returns 0 if its lanes are of several. */
static int resolve_generic(const struct wmi_accelsim *state, struct wm_access *access)
{
    const uint32_t shared = lanes_within(access, state->shared_base);
    const uint32_t local = lanes_within(access, state->local_base);

    /* Distributed shared memory. Which of the cluster's blocks the warp's own is, the trace does not say. */
    if (has_cluster_window(state) && lanes_in(access, state->shared_base, WMI_CLUSTER_BYTES) != shared)
        return 0;
    if (shared == 0 && local == 0) {
        if (state->shared_base && state->local_base)
            access->opcode.space = WM_GLOBAL;
        return 1;
    }
    if (shared != access->mask && local != access->mask)
        return 0;
    access->opcode.space = shared ? WM_SHARED : WM_LOCAL;
    access->opcode.cache = WM_CACHE_NONE;
    subtract(access, shared ? state->shared_base : state->local_base);
    return wm_opcode_check(&access->opcode) == WM_OK;
}

/* Shared and local addresses are offsets, even where the trace has them as generic ones. */
static void make_offsets(const struct wmi_accelsim *state, struct wm_access *access)
{
    uint64_t base = 0;

    if (access->opcode.space == WM_SHARED)
        base = state->shared_base;
    else if (access->opcode.space == WM_LOCAL)
        base = state->local_base;
    wmi_sass_own_offsets(access);
    if (base == 0 || access->mask == 0 || access->address[__builtin_ctz(access->mask)] < base)
        return;
    if (lanes_within(access, base) == access->mask)
        subtract(access, base);
}

/* ------------------------------------------------------------------------------------------------------- instruction */

/* "n Rx Ry ...": the registers have no meaning here. */
static enum wm_status skip_registers(struct wmi_parser *parser, const char **at, const char *what)
{
    uint64_t count = 0;
    enum wm_status status = next_field(parser, at, what);

    if (status == WM_OK)
        status = wmi_small(parser, at, 64, what, &count);
    for (; status == WM_OK && count > 0; count--) {
        status = next_field(parser, at, "a register");
        if (status == WM_OK && **at != 'R' && **at != 'U' && **at != 'P')
            return wmi_expected(parser, *at, "a register");
        while ((unsigned char)**at > ' ')
            ++*at;
    }
    return status;
}

/* Versions below 3: block and warp once more. */
static enum wm_status parse_prefix(struct wmi_parser *parser, const char **at)
{
    const uint32_t expected[4] = {parser->state.block[0], parser->state.block[1], parser->state.block[2],
                                  parser->state.warp};

    for (int i = 0; i < 4; i++) {
        const char *begin = *at;
        uint64_t value;
        enum wm_status status = wmi_decimal(parser, at, UINT32_MAX, "a block index and a warp", &value);

        if (status == WM_OK && value != expected[i])
            return wmi_fail(parser, WM_E_SYNTAX, begin, "an instruction of another block or warp than announced");
        if (status == WM_OK)
            status = next_field(parser, at, "the next field");
        if (status != WM_OK)
            return status;
    }
    return WM_OK;
}

/* All in front of the registers. */
static enum wm_status parse_place(struct wmi_parser *parser, const char **at)
{
    struct wm_access *access = &parser->access;
    const struct wmi_accelsim *state = &parser->state.accelsim;
    const char *begin;
    uint64_t value;
    enum wm_status status = WM_OK;

    if (WMI_UNLIKELY(state->version < 3))
        status = parse_prefix(parser, at);
    if (status == WM_OK && state->line_info) {
        status = wmi_decimal(parser, at, UINT32_MAX, "a line number", &value);
        if (status != WM_OK)
            return status;
        access->line = (uint32_t)value;
        status = next_field(parser, at, "a pc");
    }
    if (status == WM_OK)
        status = wmi_hex_likely(parser, at, WMI_GUESS_PC, "a pc in hex", &access->pc);
    if (status == WM_OK)
        status = next_field(parser, at, "a mask");
    if (status != WM_OK)
        return status;
    begin = *at;
    status = wmi_hex_likely(parser, at, WMI_GUESS_MASK, "a mask in hex", &value);
    if (status == WM_OK && value > UINT32_MAX)
        return wmi_fail(parser, WM_E_RANGE, begin, "a mask has more than 32 bits");
    access->mask = (uint32_t)value;
    return status;
}

/* Behind the addresses: from version 5 on an immediate. */
static enum wm_status parse_tail(struct wmi_parser *parser, const char *p)
{
    int64_t immediate;
    enum wm_status status = WM_OK;

    if (parser->state.accelsim.version >= 5) {
        status = next_field(parser, &p, "an immediate");
        if (status == WM_OK)
            status = wmi_signed_small(parser, &p, "an immediate", &immediate);
    }
    return status == WM_OK ? end_of_line(parser, p) : status;
}

/* An instruction of which only the line's end matters. */
static enum wm_status skip_instruction(struct wmi_parser *parser, const char *p)
{
    parser->at = wmi_next_line(parser, p);
    return WM_END;
}

/* Decodes an instruction that touches memory, from its width on. */
static enum wm_status parse_memory(struct wmi_parser *parser, const char *p, const char *name, size_t length)
{
    struct wm_access *access = &parser->access;
    struct wmi_opcode_slot scratch;
    const struct wmi_opcode_slot *opcode = wmi_sass(parser, name, length, &scratch);
    enum wm_status status;

    if (opcode->kind == WMI_SASS_UNKNOWN) {
        wmi_sass_unknown(parser, name, length);
        return skip_instruction(parser, p);
    }
    access->opcode = opcode->opcode;
    status = parse_addresses(parser, &p);
    if (status == WM_OK)
        status = parse_tail(parser, p);
    if (status != WM_OK)
        return status;
    if (opcode->kind == WMI_SASS_GENERIC) {
        if (!resolve_generic(&parser->state.accelsim, access)) {
            wmi_sass_unknown(parser, name, length);
            return WM_END;
        }
    } else {
        make_offsets(&parser->state.accelsim, access);
        parser->notes.copies_without_shared += opcode->kind == WMI_SASS_COPY;
    }
    return WM_OK;
}

/* What stands in front of the addresses. */
struct front {
    const char *name; /* of the opcode */
    size_t length;
    uint64_t width;
    const char *behind; /* the width */
};

static inline unsigned take_end(uint64_t *ends)
{
    const unsigned end = (unsigned)__builtin_ctzll(*ends);

    *ends &= *ends - 1;
    return end;
}

/* A number of one digit, and as many registers; *at is where its digit is, and then the end of the last register. Returns
 * 0 if it is something else. */
static inline int take_registers(const char *p, uint64_t *ends, unsigned *at)
{
    const unsigned count = (unsigned char)p[*at] - (unsigned)'0';

    if (count > 9 || take_end(ends) != *at + 1)
        return 0;
    ++*at;
    for (unsigned i = 0; i < count; i++) {
        const char c = p[*at + 1];

        if ((c != 'R' && c != 'U' && c != 'P') || *ends == 0)
            return 0;
        *at = take_end(ends);
    }
    return *ends != 0;
}

/* The front of a line as the tool writes it, if it is within 64 bytes: fields with one space between them, no line number,
 * up to nine registers. Returns 0 if it is something else; then all is as it was before. */
static int take_front(struct wmi_parser *parser, const char *p, struct front *front)
{
    uint64_t ends;
    const uint64_t spaces = wmi_spaces(p, &ends);
    const uint64_t all = ends;
    uint64_t crossed;
    unsigned mask_at;
    unsigned at;

    if (parser->state.accelsim.version < 3 || parser->state.accelsim.line_info || !ends)
        return 0;
    mask_at = take_end(&ends) + 1;
    if (mask_at < 2 || mask_at > 17 || !ends || !wmi_hex_run_is(p, mask_at - 1))
        return 0;
    at = take_end(&ends) + 1;
    if (at - mask_at != 9 || !ends || !wmi_hex_run_is(p + mask_at, 8) || !take_registers(p, &ends, &at))
        return 0;
    front->name = p + at + 1;
    at = take_end(&ends);
    front->length = (size_t)(p + at - front->name);
    if (*front->name < 'A' || *front->name > 'Z' || !ends)
        return 0;
    at++;
    if (!take_registers(p, &ends, &at))
        return 0;
    front->width = (unsigned char)p[at + 1] - (unsigned)'0';
    if (front->width > 9 || take_end(&ends) != at + 2)
        return 0;
    /* Nothing but single spaces on the way. */
    crossed = (UINT64_C(1) << (at + 2)) - 1;
    if (((all ^ spaces) | (all & all >> 1)) & crossed)
        return 0;
    front->behind = p + at + 2;
    parser->access.pc = wmi_hex_value(p, mask_at - 1);
    parser->access.mask = (uint32_t)wmi_hex_value(p + mask_at, 8);
    return 1;
}

/* The same field by field. */
static enum wm_status parse_front(struct wmi_parser *parser, const char *p, struct front *front)
{
    enum wm_status status = parse_place(parser, &p);

    if (status == WM_OK)
        status = skip_registers(parser, &p, "the number of destination registers");
    if (status == WM_OK)
        status = next_field(parser, &p, "an opcode");
    if (status != WM_OK)
        return status;
    front->name = p;
    p = wmi_token_end(p);
    front->length = (size_t)(p - front->name);
    if (*front->name < 'A' || *front->name > 'Z')
        return wmi_expected(parser, front->name, "an opcode");
    status = skip_registers(parser, &p, "the number of source registers");
    if (status == WM_OK)
        status = next_field(parser, &p, "a width");
    if (status == WM_OK)
        status = wmi_decimal(parser, &p, UINT32_MAX, "a width", &front->width);
    front->behind = p;
    return status;
}

static enum wm_status parse_instruction(struct wmi_parser *parser, const char *p)
{
    enum wm_status status = wmi_access_start(parser);
    struct front front = {0};

    if (status == WM_OK && !take_front(parser, p, &front))
        status = parse_front(parser, p, &front);
    if (status != WM_OK)
        return status;
    if (front.width > 0)
        return parse_memory(parser, front.behind, front.name, front.length);
    if (WMI_UNLIKELY(wmi_sass_moves_data(front.name, front.length)))
        wmi_sass_unknown(parser, front.name, front.length);
    else
        parser->notes.instructions_skipped++;
    return skip_instruction(parser, front.behind);
}

/* ------------------------------------------------------------------------------------------------------------- format */

static enum wm_status accelsim_line(struct wmi_parser *parser)
{
    const char *p = wmi_skip_blanks(parser->at);
    enum wm_status status;

    if (parser->state.accelsim.instructions == 0) {
        status = parse_structure(parser, p);
        return status == WM_OK ? WM_END : status;
    }
    if (WMI_UNLIKELY(*p == '\n')) {
        parser->at = p + 1;
        return WM_END;
    }
    if (WMI_UNLIKELY(*p == '#' || *p == 'w'))
        return wmi_fail(parser, WM_E_SYNTAX, p, "expected %llu more instructions of the warp (insts =)",
                        (unsigned long long)parser->state.accelsim.instructions);
    parser->state.accelsim.instructions--;
    return parse_instruction(parser, p);
}

static void accelsim_scan(struct wmi_parser *parser)
{
    while (parser->at < parser->end) {
        const char *p = parser->at;
        const char *next = wmi_next_line(parser, p);

        parser->begin = p;
        parser->state.line++;
        if (parser->state.accelsim.instructions == 0)
            parse_structure(parser, wmi_skip_blanks(p));
        else if (*wmi_skip_blanks(p) != '\n')
            parser->state.accelsim.instructions--;
        parser->at = next;
    }
}

static enum wm_status accelsim_finish(struct wmi_parser *parser)
{
    const struct wmi_accelsim *state = &parser->state.accelsim;

    if (state->instructions > 0)
        return wmi_fail(parser, WM_E_SYNTAX, NULL, "the file ends, and %llu instructions of a warp are missing",
                        (unsigned long long)state->instructions);
    if (state->stage > BETWEEN_BLOCKS)
        return wmi_fail(parser, WM_E_SYNTAX, NULL, "the file ends without #END_TB");
    if (state->version == 0)
        return wmi_fail(parser, WM_E_SYNTAX, NULL, "the file ends without '-accelsim tracer version = N'");
    return WM_OK;
}

static int accelsim_probe(const char *text, size_t length)
{
    static const char *const openings[] = {"-kernel name", "-grid dim", "#traces format", "#BEGIN_TB"};
    size_t i = 0;

    while (i < length && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t'))
        i++;
    for (size_t k = 0; k < sizeof openings / sizeof openings[0]; k++) {
        const size_t size = strlen(openings[k]);

        if (length - i >= size && memcmp(text + i, openings[k], size) == 0)
            return 2;
    }
    return i < length && text[i] == '-' && length - i > 1 && text[i + 1] >= 'a' && text[i + 1] <= 'z';
}

const struct wmi_format wmi_accelsim_format = {
    .id = WM_FORMAT_ACCELSIM,
    .name = "accelsim",
    .probe = accelsim_probe,
    .scan = accelsim_scan,
    .line = accelsim_line,
    .finish = accelsim_finish,
};
