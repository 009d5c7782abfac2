/* See generate.h. */
#include "generate.h"

#include <inttypes.h>
#include <string.h>

/* Shared and local offsets stay below this; the smallest window of all profiles is larger. */
#define SHARED_BYTES (UINT64_C(48) << 10)
#define CONST_BYTES (UINT64_C(64) << 10)
#define GLOBAL_BITS 47
#define FAR_PAGE_BYTES (UINT64_C(4) << 10)

/* What a replayed thread has of local memory, and pieces of it whose tag banks do not depend on where the driver puts it:
 * that is only known to be a multiple of 64 bytes of each thread (measured on an H200: successive launches alternate between
 * two places). */
#define LIVE_LOCAL_BYTES       (UINT64_C(8) << 10)
#define LIVE_LOCAL_PIECE_BYTES 64

static const char *const opcode_texts[] = {
    "ld.global.b8",
    "ld.global.b16",
    "ld.global.b32",
    "ld.global.v2.b32",
    "ld.global.v4.b32",
    "ld.global.ca.b8",
    "ld.global.ca.b16",
    "ld.global.ca.f32",
    "ld.global.ca.u64",
    "ld.global.ca.v2.f64",
    "ld.global.cg.b8",
    "ld.global.cg.b16",
    "ld.global.cg.b32",
    "ld.global.cg.v2.b32",
    "ld.global.cg.v4.s32",
    "ld.global.cs.b32",
    "ld.global.cs.v4.b32",
    "ld.global.lu.b32",
    "ld.global.cv.b32",
    "ld.global.nc.b8",
    "ld.global.nc.b16",
    "ld.global.nc.b32",
    "ld.global.nc.v2.f32",
    "ld.global.nc.v4.f32",
    "ld.global.b128",
    "ld.shared.b8",
    "ld.shared.b16",
    "ld.shared.b32",
    "ld.shared.v2.b32",
    "ld.shared.v4.b32",
    "ld.shared.b64",
    "ld.shared.v2.b64",
    "ld.shared.v4.b16",
    "ld.shared.v2.b8",
    "ld.local.b8",
    "ld.local.b16",
    "ld.local.b32",
    "ld.local.v2.b32",
    "ld.local.v4.b32",
    "ld.const.b32",
    "ld.const.v4.b32",
    "ld.generic.b8",
    "ld.generic.b32",
    "ld.generic.v2.b32",
    "ld.generic.v4.b32",
    "st.global.b8",
    "st.global.b16",
    "st.global.b32",
    "st.global.v2.b32",
    "st.global.v4.b32",
    "st.global.wb.b32",
    "st.global.cg.b32",
    "st.global.cs.v4.b32",
    "st.global.wt.b16",
    "st.shared.b8",
    "st.shared.b16",
    "st.shared.b32",
    "st.shared.v2.b32",
    "st.shared.v4.b32",
    "st.shared.b64",
    "st.local.b8",
    "st.local.b32",
    "st.local.v2.b32",
    "st.local.v4.b32",
    "st.generic.b16",
    "st.generic.b32",
    "st.generic.v4.b32",
    "atom.global.add.u32",
    "atom.global.add.u64",
    "atom.global.add.f32",
    "atom.global.exch.b32",
    "atom.global.exch.b64",
    "atom.global.cas.b32",
    "atom.global.cas.b64",
    "atom.global.min.s32",
    "atom.global.max.u64",
    "atom.global.inc.u32",
    "atom.shared.add.u32",
    "atom.shared.add.f32",
    "atom.shared.exch.b64",
    "atom.shared.cas.b32",
    "atom.shared.cas.b64",
    "atom.shared.min.u32",
    "atom.shared.xor.b32",
    "atom.shared.dec.u32",
    "red.global.add.u32",
    "red.global.add.u64",
    "red.global.add.f32",
    "red.global.add.f64",
    "red.global.min.s32",
    "red.global.or.b32",
    "red.global.and.b64",
    "red.shared.add.u32",
    "red.shared.max.s32",
    "red.shared.add.u64",
    "ldmatrix.x1.shared.b16",
    "ldmatrix.x2.shared.b16",
    "ldmatrix.x4.shared.b16",
    "ldmatrix.x1.trans.shared.b16",
    "ldmatrix.x2.trans.shared.b16",
    "ldmatrix.x4.trans.shared.b16",
    "stmatrix.x1.shared.b16",
    "stmatrix.x2.shared.b16",
    "stmatrix.x4.shared.b16",
    "stmatrix.x4.trans.shared.b16",
    "cp.async.ca.4",
    "cp.async.ca.8",
    "cp.async.ca.16",
    "cp.async.cg.16",
    /* last: 32 bytes a lane */
    "ld.global.v8.b32",
    "ld.global.v4.b64",
    "ld.global.nc.v8.f32",
    "st.global.v8.b32",
};

/* splitmix64 (Steele, Lea, Flood 2014): one addition and a mixing function. */
uint64_t generate_number(struct generator *g)
{
    uint64_t z = g->state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

uint64_t generate_below(struct generator *g, uint64_t limit)
{
    return generate_number(g) % limit;
}

static unsigned below(struct generator *g, unsigned limit)
{
    return (unsigned)generate_below(g, limit);
}

enum wm_status generate_start(struct generator *g, uint64_t seed, unsigned max_width_bytes)
{
    _Static_assert(sizeof opcode_texts / sizeof opcode_texts[0] <= GENERATE_OPCODES_MAX, "too many opcodes");

    g->state = seed;
    g->shared_bytes = SHARED_BYTES;
    g->local_bytes = SHARED_BYTES;
    g->const_bytes = CONST_BYTES;
    g->local_piece_bytes = 0;
    g->far = 0;
    g->far_bytes = 0;
    g->whole_matrices = 0;
    g->opcodes = 0;
    for (size_t i = 0; i < sizeof opcode_texts / sizeof opcode_texts[0]; i++) {
        struct wm_opcode opcode;
        enum wm_status status = wm_opcode_parse(opcode_texts[i], strlen(opcode_texts[i]), &opcode, NULL);
        if (status != WM_OK) {
            return status;
        }
        if (opcode.width_bytes <= max_width_bytes) {
            g->opcode[g->opcodes++] = opcode;
        }
    }
    return WM_OK;
}

/* Whether the model has the instruction on that GPU. */
static int has_opcode(const wm_arch *arch, const struct wm_opcode *opcode)
{
    struct wm_access access;
    struct wm_counts counts;

    memset(&access, 0, sizeof access);
    access.opcode = *opcode;
    access.mask = 1;
    access.count = 1;
    return wm_model(arch, &access, &counts) == WM_OK;
}

enum wm_status generate_live(struct generator *g, uint64_t seed, const wm_arch *arch)
{
    enum wm_status status = generate_start(g, seed, 32);
    unsigned kept = 0;

    for (unsigned i = 0; status == WM_OK && i < g->opcodes; i++) {
        if (has_opcode(arch, &g->opcode[i])) {
            g->opcode[kept++] = g->opcode[i];
        }
    }
    g->opcodes = kept;
    g->local_bytes = LIVE_LOCAL_BYTES;
    g->const_bytes = SHARED_BYTES;
    g->local_piece_bytes = LIVE_LOCAL_PIECE_BYTES;
    g->whole_matrices = 1;
    return status;
}

static uint32_t random_mask(struct generator *g)
{
    uint32_t any = (uint32_t)generate_number(g);

    switch (below(g, 16)) {
    case 0: return any;
    case 1: return UINT32_MAX >> below(g, 32); /* the first lanes: the tail of an array */
    case 2: return UINT32_MAX << below(g, 32);
    case 3: return UINT32_C(1) << below(g, 32);
    case 4: return UINT32_C(1) << below(g, 32) | UINT32_C(1) << below(g, 32);
    case 5: return UINT32_C(0x55555555) << below(g, 2);
    case 6: return any & (uint32_t)generate_number(g) & (uint32_t)generate_number(g); /* few lanes */
    case 7: return below(g, 8) == 0 ? 0 : UINT32_C(0xFFFF) << 16 * below(g, 2);
    default: return UINT32_MAX;
    }
}

static void shuffle(struct generator *g, uint64_t *element)
{
    for (unsigned i = WM_LANES - 1; i > 0; i--) {
        unsigned j = below(g, i + 1);
        uint64_t t = element[i];
        element[i] = element[j];
        element[j] = t;
    }
}

/* Which element each lane takes, of elements of width bytes. */
static void random_elements(struct generator *g, unsigned width, uint64_t region_bytes, uint64_t *element)
{
    uint64_t elements = region_bytes / width > 0 ? region_bytes / width : 1;
    uint64_t stride = 1 + generate_below(g, below(g, 2) ? 8 : 70);
    uint64_t pitch = generate_below(g, 4) ? UINT64_C(1) << below(g, 9) : generate_below(g, 300);
    unsigned columns = 1u << below(g, 6);
    unsigned bit = below(g, 5);
    unsigned pattern = below(g, 13);
    uint64_t few[4];

    for (unsigned i = 0; i < 4; i++) {
        few[i] = generate_below(g, elements);
    }
    for (unsigned i = 0; i < WM_LANES; i++) {
        uint64_t row = i / columns;
        uint64_t column = i % columns;
        switch (pattern) {
        case 0: /* contiguous */
        case 1: /* contiguous, to be shuffled */ element[i] = i; break;
        case 2: /* stride */ element[i] = i * stride; break;
        case 3: /* one element for all */ element[i] = 0; break;
        case 4: /* lanes that differ in one bit share an element */ element[i] = (i & ~(1u << bit)) * stride; break;
        case 5: /* neighbours share */ element[i] = (i >> bit) * stride; break;
        case 6: /* the same for each group of lanes */ element[i] = (i & ((1u << bit) - 1)) * stride; break;
        case 7: /* a tile, by rows */ element[i] = row * pitch + column; break;
        case 8: /* a tile, by columns */ element[i] = column * pitch + row; break;
        case 9: /* a column of an XOR-swizzled tile */
            element[i] = i * pitch + (i ^ bit) % (columns > pitch && pitch > 0 ? pitch : columns);
            break;
        case 10: /* random in a small neighbourhood */
            element[i] = generate_below(g, 2 + (UINT64_C(1) << below(g, 8)));
            break;
        case 11: /* a few elements */ element[i] = few[below(g, 4)]; break;
        default: /* random in the region */ element[i] = generate_below(g, elements); break;
        }
    }
    if (pattern == 1 || below(g, 8) == 0) {
        shuffle(g, element);
    }
    if (below(g, 8) == 0) {
        element[below(g, WM_LANES)] = generate_below(g, elements); /* one lane out of line */
    }
}

/* Addresses below 2^bits or in a window of bytes, aligned to width. */
static void place(struct generator *g, unsigned width, uint64_t window_bytes, uint64_t *address)
{
    uint64_t region_bytes = UINT64_C(128) << below(g, 24); /* 128 B to 1 GiB */
    uint64_t element[WM_LANES];
    uint64_t base;

    if (region_bytes > window_bytes) {
        region_bytes = window_bytes;
    }
    base = generate_below(g, 4) ? generate_below(g, window_bytes) & ~UINT64_C(127) : generate_below(g, window_bytes);
    base -= base % width;
    random_elements(g, width, region_bytes, element);
    for (unsigned i = 0; i < WM_LANES; i++) {
        address[i] = (base + element[i] * width) % window_bytes; /* windows are multiples of every width */
    }
}

/* Pages anywhere in the far region: one for each lane, or a few for all. */
static void scatter(struct generator *g, unsigned width, uint64_t *address)
{
    const unsigned pages = below(g, 2) ? WM_LANES : 2 + below(g, WM_LANES - 2);
    uint64_t page[WM_LANES];

    for (unsigned i = 0; i < pages; i++) {
        page[i] = g->far + generate_below(g, g->far_bytes / FAR_PAGE_BYTES) * FAR_PAGE_BYTES;
    }
    for (unsigned i = 0; i < WM_LANES; i++) {
        address[i] = page[pages == WM_LANES ? i : below(g, pages)] + generate_below(g, FAR_PAGE_BYTES / width) * width;
    }
}

void generate_access_of(struct generator *g, const struct wm_opcode *opcode, struct wm_access *out)
{
    uint64_t window = UINT64_C(1) << GLOBAL_BITS;

    memset(out, 0, sizeof *out);
    out->opcode = *opcode;
    out->mask = random_mask(g);
    if (g->whole_matrices && opcode->matrices > 0 && out->mask != 0) {
        out->mask = UINT32_MAX;
    }
    out->count = 1;
    out->pc = WM_NO_PC;
    out->l1 = below(g, 2) ? WM_L1_HIT : WM_L1_MISS;
    switch (opcode->space) {
    case WM_SHARED: window = g->shared_bytes; break;
    case WM_LOCAL: window = g->local_bytes; break;
    case WM_CONST: window = g->const_bytes; break;
    default: break;
    }
    if (opcode->space == WM_LOCAL && g->local_piece_bytes > 0) {
        uint64_t base = generate_below(g, window / g->local_piece_bytes) * g->local_piece_bytes;
        place(g, opcode->width_bytes, g->local_piece_bytes, out->address);
        for (unsigned i = 0; i < WM_LANES; i++) {
            out->address[i] += base;
        }
    } else if ((opcode->space == WM_GLOBAL || opcode->space == WM_GENERIC) && g->far_bytes > 0 && below(g, 2)) {
        scatter(g, opcode->width_bytes, out->address);
    } else {
        place(g, opcode->width_bytes, window, out->address);
    }
    if (opcode->operation == WM_CP_ASYNC) {
        uint64_t destination[WM_LANES];
        place(g, opcode->width_bytes, g->shared_bytes, destination);
        for (unsigned i = 0; i < WM_LANES; i++) {
            out->shared_address[i] = (uint32_t)destination[i];
        }
    }
}

void generate_access(struct generator *g, struct wm_access *out)
{
    generate_access_of(g, &g->opcode[below(g, g->opcodes)], out);
}

static void print_addresses(FILE *out, uint32_t mask, const uint64_t *address)
{
    const char *before = " [";

    if (mask == 0) {
        fputs(" 0", out);
        return;
    }
    for (unsigned i = 0; i < WM_LANES; i++) {
        if (mask >> i & 1) {
            fprintf(out, "%s0x%" PRIx64, before, address[i]);
            before = ",";
        }
    }
    fputs("]", out);
}

void generate_print(FILE *out, const struct wm_access *access)
{
    char text[WM_OPCODE_TEXT_SIZE];

    if (wm_opcode_format(&access->opcode, text) == 0) {
        strcpy(text, "?");
    }
    fprintf(out, "%s %08" PRIx32, text, access->mask);
    if (access->opcode.operation == WM_CP_ASYNC) {
        uint64_t destination[WM_LANES];
        for (unsigned i = 0; i < WM_LANES; i++) {
            destination[i] = access->shared_address[i];
        }
        print_addresses(out, access->mask, destination);
    }
    print_addresses(out, access->mask, access->address);
    fputs("\n", out);
}
