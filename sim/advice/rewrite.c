/* The instructions of a site, rewritten. Kernel, block and source line stay those of an access that the new one
 * replaces. */
#include "rewrite.h"

#include <stdlib.h>
#include <string.h>

/* What cudaMalloc() gives at least (CUDA C++ Programming Guide, "Device Memory Accesses"). */
#define ARRAY_ALIGN UINT64_C(256)

/* Loads, stores and copies of another width. */
static void set_width(struct wm_opcode *opcode, unsigned bytes)
{
    if (opcode->operation == WM_CP_ASYNC) {
        opcode->width_bytes = (uint8_t)bytes;
        opcode->type_bytes = (uint8_t)bytes;
        return;
    }
    if (bytes == opcode->width_bytes)
        return;
    opcode->type = WM_TYPE_B;
    opcode->type_bytes = (uint8_t)(bytes < 4 ? bytes : 4);
    opcode->vector = (uint8_t)(bytes / opcode->type_bytes);
    opcode->width_bytes = (uint8_t)bytes;
}

/* ------------------------------------------------------------------------------------------------------- structures */

/* What find_structure() sees of each byte of a structure. */
struct bytes {
    uint8_t is_used[MOST_STRUCTURE_BYTES];
    uint8_t is_cut[MOST_STRUCTURE_BYTES + 1]; /* an access begins here, or ends before */
};

static int see_access(const struct wm_access *access, uint64_t base, uint32_t bytes, struct bytes *seen)
{
    uint32_t width = access->opcode.width_bytes;

    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint32_t at = (uint32_t)((access->address[__builtin_ctz(rest)] - base) % bytes);

        if (at + width > bytes)
            return 0;
        seen->is_cut[at] = seen->is_cut[at + width] = 1;
        memset(seen->is_used + at, 1, width);
    }
    return 1;
}

static int cut_pieces(const struct bytes *seen, uint32_t bytes, struct structure *out)
{
    uint32_t at = 0;

    out->n = 0;
    while (at < bytes) {
        uint32_t length = 1;

        if (!seen->is_used[at]) {
            at++;
            continue;
        }
        /* as long as it may be, a power of two, and aligned to its length */
        while (2 * length <= 16 && at % (2 * length) == 0 && at + 2 * length <= bytes) {
            int is_whole = 1;

            for (uint32_t i = at + 1; i < at + 2 * length; i++)
                is_whole &= !seen->is_cut[i] && seen->is_used[i];
            if (!is_whole)
                break;
            length *= 2;
        }
        out->pieces[out->n++] = (struct piece){at, length, 0};
        at += length;
    }
    return out->n > 1 || (out->n == 1 && out->pieces[0].bytes < bytes);
}

/* Atomics and copies of 4 bytes cannot be made of smaller ones. */
static int can_be_split(const struct site *site, const struct structure *structure)
{
    int is_whole = is_atomic_operation(&site->opcode);

    if (!is_whole && site->opcode.operation != WM_CP_ASYNC)
        return 1;
    for (size_t i = 0; i < structure->n; i++) {
        if (structure->pieces[i].bytes < (is_whole ? site->opcode.width_bytes : 4u))
            return 0;
    }
    return 1;
}

static void place_pieces(struct structure *structure)
{
    uint64_t address = structure->base / ARRAY_ALIGN * ARRAY_ALIGN;

    for (size_t i = 0; i < structure->n; i++) {
        uint64_t size = structure->count * structure->pieces[i].bytes;

        structure->pieces[i].address = address;
        address += (size + ARRAY_ALIGN - 1) / ARRAY_ALIGN * ARRAY_ALIGN;
    }
}

int find_structure(const struct sites *sites, size_t region, uint32_t bytes, struct structure *out)
{
    const struct region *where = &sites->regions[region];
    struct bytes seen = {0};

    if (bytes < 2 || bytes > MOST_STRUCTURE_BYTES)
        return 0;
    out->base = where->array ? where->array->address : where->low;
    out->bytes = bytes;
    out->count = (where->high - out->base + bytes - 1) / bytes;
    for (size_t i = 0; i < sites->n; i++) {
        const struct site *site = &sites->list[i];

        for (size_t k = 0; k < site->n && site->region == region; k++) {
            if (!see_access(&site->accesses[k], out->base, bytes, &seen))
                return 0;
        }
    }
    if (!cut_pieces(&seen, bytes, out))
        return 0;
    for (size_t i = 0; i < sites->n; i++) {
        if (sites->list[i].region == region && !can_be_split(&sites->list[i], out))
            return 0;
    }
    place_pieces(out);
    return 1;
}

/* The piece that an offset is in. */
static size_t piece_at(const struct structure *structure, uint32_t offset)
{
    size_t i = 0;

    while (structure->pieces[i].offset + structure->pieces[i].bytes <= offset)
        i++;
    return i;
}

enum wm_status rewrite_pieces(const struct site *site, const struct structure *structure, struct access_list *out)
{
    for (size_t k = 0; k < site->n; k++) {
        const struct wm_access *old = &site->accesses[k];
        unsigned done = 0; /* bytes of each lane */

        do {
            struct wm_access access = *old;
            unsigned bytes = old->opcode.width_bytes;

            for (uint32_t rest = old->mask; rest; rest &= rest - 1) {
                unsigned lane = (unsigned)__builtin_ctz(rest);
                uint64_t distance = old->address[lane] + done - structure->base;
                size_t number = piece_at(structure, (uint32_t)(distance % structure->bytes));
                const struct piece *piece = &structure->pieces[number];

                access.address[lane] = piece->address + distance / structure->bytes * piece->bytes +
                                       (distance % structure->bytes - piece->offset);
                access.shared_address[lane] += done;
                bytes = piece->bytes < bytes ? piece->bytes : bytes;
            }
            set_width(&access.opcode, bytes);
            if (access_list_add(out, &access) != WM_OK)
                return WM_E_MEMORY;
            done += bytes;
        } while (done < old->opcode.width_bytes);
    }
    return WM_OK;
}

/* -------------------------------------------------------------------------------------------------- shifts, pitches */

enum wm_status rewrite_shift(const struct site *site, uint64_t bytes, struct access_list *out)
{
    for (size_t k = 0; k < site->n; k++) {
        struct wm_access access = site->accesses[k];

        for (unsigned lane = 0; lane < WM_LANES; lane++)
            access.address[lane] -= bytes;
        if (access_list_add(out, &access) != WM_OK)
            return WM_E_MEMORY;
    }
    return WM_OK;
}

enum wm_status rewrite_pitch(const struct site *site, uint64_t base, uint64_t pitch, uint64_t new_pitch,
                             struct access_list *out)
{
    for (size_t k = 0; k < site->n; k++) {
        struct wm_access access = site->accesses[k];

        for (uint32_t rest = access.mask; rest; rest &= rest - 1) {
            uint64_t *address = &access.address[__builtin_ctz(rest)];
            uint64_t distance = *address - base;

            *address = base + distance / pitch * new_pitch + distance % pitch;
        }
        if (access_list_add(out, &access) != WM_OK)
            return WM_E_MEMORY;
    }
    return WM_OK;
}

/* ------------------------------------------------------------------------------------------------------------ tiles */

/* One element that a lane takes, and one access of a window. */
struct element {
    uint64_t address;
    uint32_t shared_address;
};

struct member {
    uint32_t block[3]; /* of the tile */
    uint32_t window;
    const struct wm_access *access;
};

static int compare_elements(const void *a, const void *b)
{
    const struct element *x = a;
    const struct element *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->shared_address > y->shared_address) - (x->shared_address < y->shared_address);
}

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a;
    const struct member *y = b;

    for (int d = 2; d >= 0; d--) {
        if (x->block[d] != y->block[d])
            return x->block[d] < y->block[d] ? -1 : 1;
    }
    return (x->window > y->window) - (x->window < y->window);
}

/* Deals elements out, 32 a warp, as accesses like *like. */
static enum wm_status deal(const struct element *elements, size_t n, const struct wm_access *like,
                           struct access_list *out)
{
    for (size_t first = 0; first < n; first += WM_LANES) {
        size_t lanes = n - first < WM_LANES ? n - first : WM_LANES;
        struct wm_access access = *like;

        access.count = 1;
        access.mask = lanes == WM_LANES ? UINT32_MAX : (UINT32_C(1) << lanes) - 1;
        access.warp = (uint32_t)(first / WM_LANES);
        for (size_t i = 0; i < lanes; i++) {
            access.address[i] = elements[first + i].address;
            access.shared_address[i] = elements[first + i].shared_address;
        }
        if (access_list_add(out, &access) != WM_OK)
            return WM_E_MEMORY;
    }
    return WM_OK;
}

/* What one lane takes. Only copies have a shared side. */
static struct element element_of(const struct wm_access *access, unsigned lane)
{
    return (struct element){access->address[lane],
                            access->opcode.operation == WM_CP_ASYNC ? access->shared_address[lane] : 0};
}

static size_t take_lanes(const struct wm_access *access, struct element *out)
{
    size_t n = 0;

    for (uint32_t rest = access->mask; rest; rest &= rest - 1)
        out[n++] = element_of(access, (unsigned)__builtin_ctz(rest));
    return n;
}

/* Drops repeated elements of a sorted list. */
static size_t drop_repeated(struct element *elements, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (!kept || compare_elements(&elements[i], &elements[kept - 1]) != 0)
            elements[kept++] = elements[i];
    }
    return kept;
}

static struct member *list_members(const struct site *const *sites, size_t n, const struct tile_shape *shape,
                                   size_t *count)
{
    struct member *members;
    size_t all = 0;

    for (size_t i = 0; i < n; i++)
        all += sites[i]->n;
    members = calloc(all + 1, sizeof *members);
    *count = 0;
    for (size_t i = 0; i < n && members; i++) {
        for (size_t k = 0; k < sites[i]->n; k++) {
            const struct moment *moment = &sites[i]->moments[k];
            const struct wm_access *access = &sites[i]->accesses[moment->index];

            members[(*count)++] = (struct member){
                {access->block[0] / shape->blocks_x, access->block[1] / shape->blocks_y, access->block[2]},
                moment->step / shape->steps,
                access};
        }
    }
    if (members)
        qsort(members, all, sizeof *members, compare_members);
    return members;
}

enum wm_status rewrite_tile(const struct site *const *sites, size_t n, const struct tile_shape *shape,
                            struct access_list *out, uint64_t *most_bytes)
{
    size_t count;
    struct member *members = list_members(sites, n, shape, &count);
    struct element *elements = members ? calloc(WM_LANES * count + 1, sizeof *elements) : NULL;
    enum wm_status status = elements ? WM_OK : WM_E_MEMORY;

    *most_bytes = 0;
    for (size_t i = 0; i < count && !status;) {
        size_t first = i;
        size_t taken = 0;
        uint64_t bytes;

        for (; i < count && compare_members(&members[i], &members[first]) == 0; i++)
            taken += take_lanes(members[i].access, elements + taken);
        qsort(elements, taken, sizeof *elements, compare_elements);
        taken = drop_repeated(elements, taken);
        bytes = taken * members[first].access->opcode.width_bytes;
        *most_bytes = bytes > *most_bytes ? bytes : *most_bytes;
        status = deal(elements, taken, members[first].access, out);
    }
    free(elements);
    free(members);
    return status;
}

enum wm_status rewrite_whole_warps(const struct site *site, struct access_list *out)
{
    const struct tile_shape one_step = {1, 1, 1};
    size_t count;
    struct member *members = list_members(&site, 1, &one_step, &count);
    struct element *elements = members ? calloc(WM_LANES * count + 1, sizeof *elements) : NULL;
    enum wm_status status = elements ? WM_OK : WM_E_MEMORY;

    for (size_t i = 0; i < count && !status;) {
        size_t first = i;
        size_t taken = 0;

        for (; i < count && compare_members(&members[i], &members[first]) == 0; i++)
            taken += take_lanes(members[i].access, elements + taken);
        status = deal(elements, taken, members[first].access, out);
    }
    free(elements);
    free(members);
    return status;
}

enum wm_status rewrite_adjacent(const struct site *site, uint32_t line_bytes, struct access_list *out)
{
    for (size_t k = 0; k < site->n; k++) {
        const struct wm_access *old = &site->accesses[k];
        struct wm_access access = *old;
        uint64_t next = old->mask ? lowest_address(old) / line_bytes * line_bytes : 0;

        /* in the order of lanes, in which wide ones take turns; those at one address stay together */
        for (uint32_t rest = old->mask; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            unsigned first = (unsigned)__builtin_ctz(old->mask);

            while (old->address[first] != old->address[lane])
                first = (unsigned)__builtin_ctz(old->mask & (UINT32_MAX << first << 1));
            access.address[lane] = first < lane ? access.address[first] : next;
            next += first < lane ? 0 : old->opcode.width_bytes;
        }
        if (access_list_add(out, &access) != WM_OK)
            return WM_E_MEMORY;
    }
    return WM_OK;
}

/* ------------------------------------------------------------------------------------------------- roles of threads */

/* The moments of one block, from first on; returns the one behind them. */
static size_t block_end(const struct site *site, size_t first)
{
    size_t end = first;

    while (end < site->n && site->moments[end].block == site->moments[first].block)
        end++;
    return end;
}

/* The number of steps of each warp of a block; 0: they differ, or a warp's number is none of the block's. */
static uint32_t common_steps(const struct site *site, size_t first, size_t end, uint32_t warps)
{
    uint32_t steps = 0;

    for (size_t i = first; i < end; i++) {
        int is_last = i + 1 == end || site->moments[i + 1].warp != site->moments[i].warp;

        if (site->moments[i].warp >= warps || site->accesses[site->moments[i].index].count != 1)
            return 0;
        if (!is_last)
            continue;
        if (steps && steps != site->moments[i].step + 1)
            return 0;
        steps = site->moments[i].step + 1;
    }
    return steps;
}

#define MOST_THREADS 1024u

/* One step of a block, by thread. */
struct step {
    int is_active[MOST_THREADS + WM_LANES];
    struct element elements[MOST_THREADS + WM_LANES];
};

static enum wm_status swap_step(const struct sites *sites, const struct step *step, const struct wm_access *like,
                                struct access_list *out)
{
    uint32_t plane = sites->block[0] * sites->block[1];
    uint32_t threads = plane * sites->block[2];

    for (uint32_t first = 0; first < threads; first += WM_LANES) {
        struct wm_access access = *like;

        access.mask = 0;
        access.warp = first / WM_LANES;
        for (uint32_t lane = 0; lane < WM_LANES && first + lane < threads; lane++) {
            uint32_t in_plane = (first + lane) % plane;
            uint32_t x = in_plane / sites->block[1];
            uint32_t y = in_plane % sites->block[1];
            uint32_t old = (first + lane) / plane * plane + y * sites->block[0] + x;

            if (!step->is_active[old])
                continue;
            access.mask |= UINT32_C(1) << lane;
            access.address[lane] = step->elements[old].address;
            access.shared_address[lane] = step->elements[old].shared_address;
        }
        if (access.mask && access_list_add(out, &access) != WM_OK)
            return WM_E_MEMORY;
    }
    return WM_OK;
}

static enum wm_status swap_block(const struct sites *sites, const struct site *site, size_t first, size_t end,
                                 uint32_t steps, struct access_list *out)
{
    struct step step;

    for (uint32_t number = 0; number < steps; number++) {
        const struct wm_access *like = NULL;

        memset(step.is_active, 0, sizeof step.is_active);
        for (size_t i = first; i < end; i++) {
            const struct wm_access *access = &site->accesses[site->moments[i].index];

            if (site->moments[i].step != number)
                continue;
            like = access;
            for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
                unsigned lane = (unsigned)__builtin_ctz(rest);
                uint32_t thread = access->warp * WM_LANES + lane;

                step.is_active[thread] = 1;
                step.elements[thread] = element_of(access, lane);
            }
        }
        if (like && swap_step(sites, &step, like, out) != WM_OK)
            return WM_E_MEMORY;
    }
    return WM_OK;
}

enum wm_status rewrite_swap(const struct sites *sites, const struct site *site, struct access_list *out,
                            int *is_possible)
{
    uint64_t threads = (uint64_t)sites->block[0] * sites->block[1] * sites->block[2];
    uint32_t warps = (uint32_t)((threads + WM_LANES - 1) / WM_LANES);

    *is_possible = 0;
    if (!sites->has_block || sites->block[0] < 2 || sites->block[1] < 2 || threads > MOST_THREADS ||
        site->opcode.matrices)
        return WM_OK;
    for (size_t first = 0; first < site->n;) {
        size_t end = block_end(site, first);
        uint32_t steps = common_steps(site, first, end, warps);

        if (!steps)
            return WM_OK;
        if (swap_block(sites, site, first, end, steps, out) != WM_OK)
            return WM_E_MEMORY;
        first = end;
    }
    *is_possible = 1;
    return WM_OK;
}

/* ---------------------------------------------------------------------------------------------------------- vectors */

/* Whether *next takes, in every lane, what lies so many bytes behind what *first takes. */
static int follows(const struct wm_access *first, const struct wm_access *next, unsigned bytes)
{
    int is_copy = first->opcode.operation == WM_CP_ASYNC;

    if (next->mask != first->mask || next->count != first->count)
        return 0;
    for (uint32_t rest = first->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);

        if (next->address[lane] != first->address[lane] + bytes ||
            (is_copy && next->shared_address[lane] != first->shared_address[lane] + bytes))
            return 0;
    }
    return 1;
}

/* Whether every lane's address is a multiple of so many bytes. */
static int is_aligned(const struct wm_access *access, unsigned bytes)
{
    int is_copy = access->opcode.operation == WM_CP_ASYNC;

    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);

        if (access->address[lane] % bytes || (is_copy && access->shared_address[lane] % bytes))
            return 0;
    }
    return 1;
}

static enum wm_status add_wide(const struct wm_access *first, unsigned bytes, struct access_list *out)
{
    struct wm_access access = *first;

    set_width(&access.opcode, bytes);
    return access_list_add(out, &access);
}

/* Whether the parts accesses from number k on, of one warp, make a vector in each lane. */
static int is_vector(const struct site *site, size_t k, size_t parts, unsigned bytes)
{
    const struct moment *moment = &site->moments[k];
    const struct wm_access *first = &site->accesses[moment->index];

    if (k + parts > site->n || !first->mask || !is_aligned(first, bytes))
        return 0;
    for (size_t i = 1; i < parts; i++) {
        if (moment[i].block != moment->block || moment[i].warp != moment->warp ||
            !follows(first, &site->accesses[moment[i].index], (unsigned)i * first->opcode.width_bytes))
            return 0;
    }
    return 1;
}

enum wm_status rewrite_thread_vectors(const struct site *site, unsigned bytes, struct access_list *out,
                                      uint64_t *merged)
{
    size_t parts = bytes / site->opcode.width_bytes;

    *merged = 0;
    for (size_t k = 0; k < site->n;) {
        const struct wm_access *first = &site->accesses[site->moments[k].index];
        int fits = is_vector(site, k, parts, bytes);

        if (add_wide(first, fits ? bytes : first->opcode.width_bytes, out) != WM_OK)
            return WM_E_MEMORY;
        *merged += fits ? parts * first->count : 0;
        k += fits ? parts : 1;
    }
    return WM_OK;
}

enum wm_status rewrite_member_vectors(const struct site *const *sites, size_t n, unsigned bytes,
                                      struct access_list *out, uint64_t *merged)
{
    *merged = 0;
    for (size_t k = 0; k < sites[0]->n; k++) {
        const struct moment *moment = &sites[0]->moments[k];
        const struct wm_access *first = &sites[0]->accesses[moment->index];

        if (!is_aligned(first, bytes))
            return WM_OK;
        for (size_t i = 1; i < n; i++) {
            const struct moment *other = &sites[i]->moments[k];

            if (sites[i]->n != sites[0]->n || other->block != moment->block || other->warp != moment->warp ||
                !follows(first, &sites[i]->accesses[other->index], (unsigned)i * first->opcode.width_bytes))
                return WM_OK;
        }
        if (add_wide(first, bytes, out) != WM_OK)
            return WM_E_MEMORY;
    }
    for (size_t i = 0; i < n; i++)
        *merged += sites[i]->cost.instructions;
    return WM_OK;
}

/* Accesses by step and address, whatever the block. */
struct place {
    uint32_t step;
    uint64_t address;
    const struct wm_access *access;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;

    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

/* The accesses, parts of them at most, that lie one behind the other: of whole warps, but for the last one of a row,
 * of which the first lanes may be active alone. 0: fewer than two, or no whole vectors. *lanes: vectors in them. */
static size_t row_of(const struct place *places, size_t left, size_t parts, unsigned bytes, unsigned *lanes)
{
    const struct wm_access *first = places[0].access;
    uint64_t end = places[0].address;
    size_t n = 0;

    while (n < parts && n < left) {
        const struct wm_access *access = places[n].access;

        if (places[n].step != places[0].step || !access->mask || (access->mask & (access->mask + 1)) ||
            access->count != first->count || places[n].address != end ||
            access->opcode.operation == WM_CP_ASYNC || /* where it goes to is not in question here */
            (active_lanes(access) > 1 && !is_adjacent(access)))
            break;
        end += active_lanes(access) * access->opcode.width_bytes;
        n++;
        if (access->mask != UINT32_MAX)
            break;
    }
    *lanes = (unsigned)((end - places[0].address) / bytes);
    return n < 2 || places[0].address % bytes || end % bytes ? 0 : n;
}

enum wm_status rewrite_warp_vectors(const struct site *site, unsigned bytes, struct access_list *out, uint64_t *merged)
{
    size_t parts = bytes / site->opcode.width_bytes;
    struct place *places = calloc(site->n + 1, sizeof *places);
    enum wm_status status = places ? WM_OK : WM_E_MEMORY;

    *merged = 0;
    for (size_t k = 0; k < site->n && !status; k++) {
        const struct wm_access *access = &site->accesses[site->moments[k].index];

        places[k] = (struct place){site->moments[k].step, access->mask ? lowest_address(access) : 0, access};
    }
    if (!status)
        qsort(places, site->n, sizeof *places, compare_places);
    for (size_t k = 0; k < site->n && !status;) {
        struct wm_access access = *places[k].access;
        unsigned lanes;
        size_t fits = row_of(places + k, site->n - k, parts, bytes, &lanes);

        for (unsigned lane = 0; lane < lanes && fits; lane++)
            access.address[lane] = places[k].address + lane * bytes;
        if (fits)
            access.mask = lanes == WM_LANES ? UINT32_MAX : (UINT32_C(1) << lanes) - 1;
        *merged += fits * access.count;
        status = add_wide(&access, fits ? bytes : access.opcode.width_bytes, out);
        k += fits ? fits : 1;
    }
    free(places);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- atomics */

enum wm_status rewrite_one_lane_an_address(const struct site *site, struct access_list *out)
{
    for (size_t k = 0; k < site->n; k++) {
        struct wm_access access = site->accesses[k];

        for (uint32_t rest = access.mask; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);

            for (uint32_t others = rest & (rest - 1); others; others &= others - 1) {
                unsigned other = (unsigned)__builtin_ctz(others);

                if (access.address[other] == access.address[lane])
                    access.mask &= ~(UINT32_C(1) << other);
            }
            rest &= access.mask | (UINT32_C(1) << lane);
        }
        if (access_list_add(out, &access) != WM_OK)
            return WM_E_MEMORY;
    }
    return WM_OK;
}

/* The same atomic in shared memory, which begins where the site's lowest address is. */
static enum wm_status move_to_shared(const struct site *site, struct access_list *out)
{
    for (size_t k = 0; k < site->n; k++) {
        struct wm_access access = site->accesses[k];

        access.opcode.space = WM_SHARED;
        access.opcode.cache = WM_CACHE_NONE;
        for (uint32_t rest = access.mask; rest; rest &= rest - 1)
            access.address[__builtin_ctz(rest)] -= site->low;
        if (access_list_add(out, &access) != WM_OK)
            return WM_E_MEMORY;
    }
    return WM_OK;
}

enum wm_status rewrite_private(const struct site *site, struct access_list *in_shared, struct access_list *at_end,
                               uint64_t *most_bytes)
{
    const struct tile_shape whole = {UINT32_MAX, 1, 1};
    uint64_t tile;
    enum wm_status status = rewrite_tile(&site, 1, &whole, at_end, &tile);

    *most_bytes = site->high - site->low;
    for (size_t i = 0; i < at_end->n; i++)
        at_end->list[i].opcode.operation = WM_RED;
    return status ? status : move_to_shared(site, in_shared);
}
