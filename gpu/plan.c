/* Which instruction an access is, and where in a buffer it can be executed. */
#include "config.h"

#include "plan.h"

#include "model/model.h" /* what is inline there, no more: this is part of the program too */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BITS 21

/* Shared and constant offsets keep their place in this many bytes. */
#define SMALL_PIECE_BYTES 1024

/* Free pages to try for an access's first page before its pages are placed one by one. */
#define MOST_TRIES 512
#define NEAR_TRIES 64 /* of these, beside its own place: lanes that are scattered over the buffer then stay so */

/* ------------------------------------------------------------------------------------------------------- instruction */

static const char *const spaces[] = {
    [WM_GLOBAL] = "global", [WM_SHARED] = "shared", [WM_LOCAL] = "local", [WM_CONST] = "const", [WM_GENERIC] = "generic",
    [WM_SHARED_CLUSTER] = "shared::cluster", /* nothing replays it */
};

static const char *const caches[] = {
    [WM_CACHE_NONE] = "", [WM_CACHE_CA] = ".ca", [WM_CACHE_CG] = ".cg", [WM_CACHE_CS] = ".cs", [WM_CACHE_LU] = ".lu",
    [WM_CACHE_CV] = ".cv", [WM_CACHE_NC] = ".nc", [WM_CACHE_WB] = ".wb", [WM_CACHE_WT] = ".wt",
};

static const char *const atomics[] = {
    [WM_ATOMIC_NONE] = "", [WM_ATOMIC_ADD] = "add", [WM_ATOMIC_EXCH] = "exch", [WM_ATOMIC_MIN] = "min",
    [WM_ATOMIC_MAX] = "max", [WM_ATOMIC_AND] = "and", [WM_ATOMIC_OR] = "or", [WM_ATOMIC_XOR] = "xor",
    [WM_ATOMIC_INC] = "inc", [WM_ATOMIC_DEC] = "dec", [WM_ATOMIC_CAS] = "cas",
};

/* The type that the machine instruction of an atomic has; NULL: none is known. */
static const char *atomic_type(const struct wm_opcode *opcode, char text[8])
{
    const unsigned bits = 8U * opcode->type_bytes;
    char letter = 'u';

    if (opcode->vector != 1)
        return NULL;
    switch (opcode->atomic) {
    case WM_ATOMIC_EXCH:
    case WM_ATOMIC_CAS:
    case WM_ATOMIC_AND:
    case WM_ATOMIC_OR:
    case WM_ATOMIC_XOR: letter = 'b'; break;
    case WM_ATOMIC_MIN:
    case WM_ATOMIC_MAX: letter = opcode->type == WM_TYPE_S ? 's' : 'u'; break;
    default: break;
    }
    if (opcode->type == WM_TYPE_F)
        letter = 'f';
    else if (opcode->type > WM_TYPE_F)
        return NULL;
    snprintf(text, 8, "%c%u", letter, bits);
    return text;
}

int plan_instruction(const struct wm_opcode *opcode, char name[WM_OPCODE_TEXT_SIZE])
{
    const char *space = spaces[opcode->space];
    const char *cache = caches[opcode->cache];
    const char *type;
    char text[8];

    switch (opcode->operation) {
    case WM_LD:
    case WM_ST:
        snprintf(name, WM_OPCODE_TEXT_SIZE, "%s.%s%s.%u", opcode->operation == WM_LD ? "ld" : "st", space, cache,
                 opcode->width_bytes);
        return 1;
    case WM_ATOM:
    case WM_RED:
        type = atomic_type(opcode, text);
        if (!type)
            return 0;
        snprintf(name, WM_OPCODE_TEXT_SIZE, "%s.%s.%s.%s", opcode->operation == WM_ATOM ? "atom" : "red", space,
                 atomics[opcode->atomic], type);
        return 1;
    case WM_LDMATRIX:
    case WM_STMATRIX:
        snprintf(name, WM_OPCODE_TEXT_SIZE, "%smatrix.x%u%s", opcode->operation == WM_LDMATRIX ? "ld" : "st",
                 opcode->matrices, opcode->transposed ? ".trans" : "");
        return 1;
    case WM_CP_ASYNC:
        snprintf(name, WM_OPCODE_TEXT_SIZE, "cp.async%s.%u", cache, opcode->width_bytes);
        return 1;
    default: return 0;
    }
}

/* --------------------------------------------------------------------------------------------------------------- use */

static size_t pages_of(const struct plan_limits *limits)
{
    return (size_t)(limits->buffer_bytes >> PAGE_BITS);
}

static uint64_t first_page(const struct plan_limits *limits)
{
    return limits->buffer >> PAGE_BITS;
}

int plan_is_aligned(const struct plan_limits *limits)
{
    return !(limits->buffer_bytes & (limits->buffer_bytes - 1)) && limits->buffer % limits->buffer_bytes == 0;
}

enum wm_status plan_use_new(const struct plan_limits *limits, struct plan_use *out)
{
    memset(out, 0, sizeof *out);
    out->pages = calloc(pages_of(limits) / 8 + 1, 1);
    return out->pages ? WM_OK : WM_E_MEMORY;
}

void plan_use_clear(const struct plan_limits *limits, struct plan_use *use)
{
    memset(use->pages, 0, pages_of(limits) / 8 + 1);
    use->local = 0;
    use->next = 0;
}

void plan_use_free(struct plan_use *use)
{
    free(use->pages);
    use->pages = NULL;
}

static int is_used(const struct plan_use *use, size_t page)
{
    return use->pages[page / 8] >> page % 8 & 1;
}

static void set_used(struct plan_use *use, size_t page)
{
    use->pages[page / 8] = (uint8_t)(use->pages[page / 8] | 1U << page % 8);
}

/* ------------------------------------------------------------------------------------------------------------- pages */

/* The distinct pages of an access, in the order of lanes, and which of them each lane is in. */
struct pages {
    unsigned count;
    uint64_t old[WM_LANES]; /* address / page size */
    uint64_t new[WM_LANES];
    uint8_t of_lane[WM_LANES];
};

static void find_pages(const struct wm_access *access, uint32_t lanes, struct pages *out)
{
    out->count = 0;
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        const uint64_t page = access->address[lane] >> PAGE_BITS;
        unsigned i = 0;

        if (!(lanes >> lane & 1))
            continue;
        while (i < out->count && out->old[i] != page)
            i++;
        if (i == out->count)
            out->old[out->count++] = page;
        out->of_lane[lane] = (uint8_t)i;
    }
}

/* What the bits above a page add to the tag bank of a line. */
static unsigned page_code(const struct wm_profile *profile, uint64_t page)
{
    return wmi_tag_bank(profile, (page << PAGE_BITS) / profile->line_bytes);
}

/* Puts the first page to number q of the buffer and the others where they differ from it in the same bits as before. */
static int place_alike(const struct wm_profile *profile, const struct plan_limits *limits, const struct plan_use *use,
                       uint64_t q, struct pages *pages)
{
    const uint64_t first = first_page(limits);

    if (page_code(profile, first + q) != page_code(profile, pages->old[0]))
        return 0;
    for (unsigned i = 0; i < pages->count; i++) {
        const uint64_t page = (first + q) ^ pages->old[i] ^ pages->old[0];

        if (page - first >= pages_of(limits) || is_used(use, (size_t)(page - first)))
            return 0;
        pages->new[i] = page;
    }
    return 1;
}

/* Puts each page to a free one of the same code. */
static int place_each(const struct wm_profile *profile, const struct plan_limits *limits, struct plan_use *use,
                      struct pages *pages)
{
    const uint64_t first = first_page(limits);
    const size_t total = pages_of(limits);
    unsigned done = 0;

    for (; done < pages->count; done++) {
        const unsigned code = page_code(profile, pages->old[done]);
        size_t q = 0;

        while (q < total && (is_used(use, q) || page_code(profile, first + q) != code))
            q++;
        if (q == total)
            break;
        pages->new[done] = first + q;
        set_used(use, q);
    }
    if (done == pages->count)
        return 1;
    while (done-- > 0) {
        const size_t q = (size_t)(pages->new[done] - first);

        use->pages[q / 8] = (uint8_t)(use->pages[q / 8] & ~(1U << q % 8));
    }
    return 0;
}

/* The smallest power of two of pages that the buffer lies in, aligned. */
static uint64_t window_of(const struct plan_limits *limits)
{
    const uint64_t first = first_page(limits), last = first + pages_of(limits) - 1;
    uint64_t window = 1;

    while (first / window != last / window)
        window *= 2;
    return window;
}

static int place_pages(const struct wm_profile *profile, const struct plan_limits *limits, struct plan_use *use,
                       struct pages *pages)
{
    const uint64_t first = first_page(limits), window = window_of(limits);
    uint64_t own = (first & ~(window - 1)) | (pages->old[0] & (window - 1)); /* as far as the buffer reaches */

    if (own - first >= pages_of(limits))
        own = first + pages->old[0] % pages_of(limits);
    for (uint64_t i = 0; i < window + NEAR_TRIES && i < MOST_TRIES; i++) {
        const uint64_t change = (i < NEAR_TRIES ? i : use->next + i - NEAR_TRIES) & (window - 1);
        const uint64_t page = own ^ change;

        if (page - first >= pages_of(limits) || !place_alike(profile, limits, use, page - first, pages))
            continue;
        for (unsigned k = 0; k < pages->count; k++)
            set_used(use, (size_t)(pages->new[k] - first));
        if (i >= NEAR_TRIES)
            use->next = (size_t)change;
        return 1;
    }
    return place_each(profile, limits, use, pages);
}

static enum plan_moved move_global(const wm_arch *arch, const struct plan_limits *limits, struct plan_use *use,
                                   uint32_t lanes, struct wm_access *access)
{
    struct pages pages;

    find_pages(access, lanes, &pages);
    if (pages.count > pages_of(limits))
        return PLAN_TOO_FAR;
    if (pages.count && !place_pages(wm_arch_profile(arch), limits, use, &pages))
        return PLAN_FULL;
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        if (lanes >> lane & 1)
            access->address[lane] = pages.new[pages.of_lane[lane]] << PAGE_BITS |
                                    (access->address[lane] & (PLAN_PAGE_BYTES - 1));
        else
            access->address[lane] = limits->buffer;
    }
    return PLAN_MOVED;
}

/* ------------------------------------------------------------------------------------------------------ small spaces */

/* The lowest address, and the one behind the last byte. */
static void find_span(const struct wm_access *access, uint32_t lanes, uint64_t *low, uint64_t *end)
{
    *low = UINT64_MAX;
    *end = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const uint64_t address = access->address[__builtin_ctz(rest)];

        if (address < *low)
            *low = address;
        if (address + access->opcode.width_bytes > *end)
            *end = address + access->opcode.width_bytes;
    }
}

static void lower(struct wm_access *access, uint32_t lanes, uint64_t by)
{
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access->address[lane] = lanes >> lane & 1 ? access->address[lane] - by : 0;
}

static enum plan_moved move_small(uint32_t bytes, uint32_t lanes, struct wm_access *access)
{
    uint64_t low, end, by = 0;

    find_span(access, lanes, &low, &end);
    if (lanes && end > bytes)
        by = low & ~(uint64_t)(SMALL_PIECE_BYTES - 1);
    if (lanes && end - by > bytes)
        return PLAN_TOO_FAR;
    lower(access, lanes, by);
    return PLAN_MOVED;
}

/* To pieces that nobody has used: its own, if they are free, or those whose numbers differ from them in the same bits. */
static enum plan_moved move_local(const struct plan_limits *limits, struct plan_use *use, uint32_t lanes,
                                  struct wm_access *access)
{
    const uint64_t total = limits->local_bytes / PLAN_LOCAL_PIECE_BYTES; /* a power of two, at most 64 */
    uint64_t own = 0, pieces = 0; /* of lanes: number of the lowest possible piece; bit per piece from there */

    if (lanes)
        own = access->address[__builtin_ctz(lanes)] / PLAN_LOCAL_PIECE_BYTES & ~(total - 1);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const uint64_t piece = access->address[__builtin_ctz(rest)] / PLAN_LOCAL_PIECE_BYTES;

        if ((piece & ~(total - 1)) != own)
            return PLAN_TOO_FAR;
        pieces |= UINT64_C(1) << (piece - own);
    }
    for (uint64_t change = 0; change < total; change++) {
        uint64_t wanted = 0;

        for (uint64_t rest = pieces; rest; rest &= rest - 1)
            wanted |= UINT64_C(1) << ((uint64_t)__builtin_ctzll(rest) ^ change);
        if (use->local & wanted)
            continue;
        use->local |= wanted;
        for (unsigned lane = 0; lane < WM_LANES; lane++) {
            const uint64_t address = access->address[lane] - own * PLAN_LOCAL_PIECE_BYTES;

            access->address[lane] = lanes >> lane & 1 ? address ^ change * PLAN_LOCAL_PIECE_BYTES : 0;
        }
        return PLAN_MOVED;
    }
    return PLAN_FULL;
}

/* The destinations of a copy, as the offsets of another access are. */
static enum plan_moved move_destinations(const struct plan_limits *limits, uint32_t lanes, struct wm_access *access)
{
    struct wm_access shared = *access;
    enum plan_moved moved;

    for (unsigned lane = 0; lane < WM_LANES; lane++)
        shared.address[lane] = access->shared_address[lane];
    moved = move_small(limits->shared_bytes, lanes, &shared);
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access->shared_address[lane] = (uint32_t)shared.address[lane];
    return moved;
}

enum plan_moved plan_move(const wm_arch *arch, const struct plan_limits *limits, struct plan_use *use,
                          const struct wm_access *access, struct wm_access *out)
{
    const uint32_t lanes = wmi_lanes_used(access);
    enum plan_moved moved;

    *out = *access;
    switch (access->opcode.space) {
    case WM_SHARED: return move_small(limits->shared_bytes, lanes, out);
    case WM_CONST: return move_small(limits->const_bytes, lanes, out);
    case WM_LOCAL: return move_local(limits, use, lanes, out);
    default: break;
    }
    if (access->opcode.operation == WM_CP_ASYNC) {
        moved = move_destinations(limits, lanes, out);
        if (moved != PLAN_MOVED)
            return moved;
    }
    return move_global(arch, limits, use, lanes, out);
}
