/* What the accesses of a site have in common is looked for in all of them: nothing here is a sample or a guess. */
#include "sites.h"

#include "accesses.h"
#include "verdict.h"

#include <stdlib.h>
#include <string.h>

enum wm_status access_list_add(struct access_list *list, const struct wm_access *access)
{
    if (!list_grow(&list->list, list->n, &list->size, sizeof *list->list))
        return WM_E_MEMORY;
    list->list[list->n++] = *access;
    return WM_OK;
}

void access_list_free(struct access_list *list)
{
    free(list->list);
    *list = (struct access_list){NULL, 0, 0};
}

/* ------------------------------------------------------------------------------------------------------------ costs */

uint64_t above(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

enum wm_status cost_add(const wm_arch *arch, const struct wm_access *accesses, size_t n, struct cost *sum)
{
    for (size_t i = 0; i < n; i++) {
        struct wm_counts counts;
        struct wm_cycles cycles;
        enum wm_status status = wm_model(arch, &accesses[i], &counts);

        if (!status)
            status = wm_cycles(arch, &accesses[i], &counts, &cycles);
        if (status)
            return status;
        sum->cycles += cycles.throughput * (double)accesses[i].count;
        sum->by_bound[cycles.bound] += cycles.throughput * (double)accesses[i].count;
        sum->instructions += accesses[i].count;
        sum->lanes += accesses[i].count * active_lanes(&accesses[i]);
        for (int c = 0; c < WM_COUNTERS; c++) {
            uint64_t value = wm_counts_get(&counts, (enum wm_counter)c);

            if (c == WM_WAYS)
                sum->sums[c] = value > sum->sums[c] ? value : sum->sums[c];
            else
                sum->sums[c] += value * accesses[i].count;
        }
        sum->inexact |= counts.inexact;
    }
    return WM_OK;
}

void cost_merge(struct cost *sum, const struct cost *more)
{
    sum->instructions += more->instructions;
    sum->lanes += more->lanes;
    for (int c = 0; c < WM_COUNTERS; c++) {
        if (c == WM_WAYS)
            sum->sums[c] = more->sums[c] > sum->sums[c] ? more->sums[c] : sum->sums[c];
        else
            sum->sums[c] += more->sums[c];
    }
    sum->inexact |= more->inexact;
    sum->cycles += more->cycles;
    for (int b = 0; b <= WM_BOUND_CLUSTER; b++)
        sum->by_bound[b] += more->by_bound[b];
}

static uint64_t scaled(uint64_t value, double scale)
{
    return scale > 1 ? (uint64_t)((double)value * scale) : value;
}

void cost_merge_scaled(struct cost *sum, const struct cost *more, double scale)
{
    struct cost all = *more;

    all.instructions = scaled(all.instructions, scale);
    all.lanes = scaled(all.lanes, scale);
    for (int c = 0; c < WM_COUNTERS; c++)
        all.sums[c] = c == WM_WAYS ? all.sums[c] : scaled(all.sums[c], scale);
    all.cycles *= scale;
    for (int b = 0; b <= WM_BOUND_CLUSTER; b++)
        all.by_bound[b] *= scale;
    cost_merge(sum, &all);
}

uint64_t excess_sectors(const struct cost *cost)
{
    return above(cost->sums[WM_SECTORS], cost->sums[WM_SECTORS_IDEAL]);
}

/* ------------------------------------------------------------------------------------------------------- one access */

unsigned active_lanes(const struct wm_access *access)
{
    return (unsigned)__builtin_popcount(access->mask);
}

int is_atomic_operation(const struct wm_opcode *opcode)
{
    return opcode->operation == WM_ATOM || opcode->operation == WM_RED;
}

uint64_t lowest_address(const struct wm_access *access)
{
    uint64_t lowest = UINT64_MAX;

    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint64_t address = access->address[__builtin_ctz(rest)];

        lowest = address < lowest ? address : lowest;
    }
    return lowest;
}

uint64_t highest_address(const struct wm_access *access)
{
    uint64_t highest = 0;

    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint64_t address = access->address[__builtin_ctz(rest)];

        highest = address > highest ? address : highest;
    }
    return highest;
}

int find_lane_stride(const struct wm_access *access, int64_t *stride)
{
    uint32_t rest = access->mask;
    unsigned first, second;
    int64_t difference;

    if (!(rest & (rest - 1)))
        return 0;
    first = (unsigned)__builtin_ctz(rest);
    rest &= rest - 1;
    second = (unsigned)__builtin_ctz(rest);
    difference = (int64_t)(access->address[second] - access->address[first]);
    if (difference % (int64_t)(second - first))
        return 0;
    *stride = difference / (int64_t)(second - first);
    for (; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);

        if ((int64_t)(access->address[lane] - access->address[first]) != *stride * (int64_t)(lane - first))
            return 0;
    }
    return 1;
}

int is_adjacent(const struct wm_access *access)
{
    uint64_t expected = 0;
    int is_first = 1;

    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint64_t address = access->address[__builtin_ctz(rest)];

        if (!is_first && address != expected)
            return 0;
        expected = address + access->opcode.width_bytes;
        is_first = 0;
    }
    return 1;
}

static int lanes_collide(const struct wm_access *access)
{
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint64_t address = access->address[__builtin_ctz(rest)];

        for (uint32_t others = rest & (rest - 1); others; others &= others - 1) {
            if (access->address[__builtin_ctz(others)] == address)
                return 1;
        }
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------- order of a site */

static uint64_t linear_block(const struct wm_access *access)
{
    const uint32_t *grid = access->kernel->grid;
    uint64_t columns = grid[0] ? grid[0] : UINT64_C(1) << 31; /* the largest grid there is, where none is known */
    uint64_t rows = grid[1] ? grid[1] : UINT64_C(1) << 16;

    return access->block[0] + columns * (access->block[1] + rows * access->block[2]);
}

static int compare_moments(const void *a, const void *b)
{
    const struct moment *x = a;
    const struct moment *y = b;

    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->warp != y->warp)
        return x->warp < y->warp ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static enum wm_status order_site(struct site *site)
{
    site->moments = calloc(site->n, sizeof *site->moments);
    if (!site->moments)
        return WM_E_MEMORY;
    for (size_t i = 0; i < site->n; i++)
        site->moments[i] = (struct moment){linear_block(&site->accesses[i]), site->accesses[i].warp, 0, i};
    qsort(site->moments, site->n, sizeof *site->moments, compare_moments);
    for (size_t i = 1; i < site->n; i++) {
        struct moment *now = &site->moments[i];
        const struct moment *before = now - 1;

        if (now->block == before->block && now->warp == before->warp)
            now->step = before->step + 1;
    }
    return WM_OK;
}

/* ----------------------------------------------------------------------------------------------- patterns of a site */

/* The most frequent lane stride: the candidate that survives a vote, counted in a second round. */
static void find_frequent_stride(struct site *site)
{
    uint64_t candidate = 0;
    uint64_t votes = 0;

    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < site->n; i++) {
            const struct wm_access *access = &site->accesses[i];
            int64_t stride;
            uint64_t distance;

            if (!find_lane_stride(access, &stride))
                continue;
            distance = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
            if (round) {
                site->strided += distance == candidate && distance > access->opcode.width_bytes ? access->count : 0;
            } else if (distance == candidate) {
                votes += access->count;
            } else if (votes > access->count) {
                votes -= access->count;
            } else {
                candidate = distance;
                votes = access->count - votes;
            }
        }
    }
    site->stride = site->strided ? candidate : 0;
}

static void find_patterns(struct site *site)
{
    site->low = UINT64_MAX;
    for (size_t i = 0; i < site->n; i++) {
        const struct wm_access *access = &site->accesses[i];
        uint64_t lowest, highest;

        if (!access->mask)
            continue;
        lowest = lowest_address(access);
        highest = highest_address(access);
        site->low = lowest < site->low ? lowest : site->low;
        site->high =
            highest + access->opcode.width_bytes > site->high ? highest + access->opcode.width_bytes : site->high;
        if (active_lanes(access) < 2)
            continue;
        site->several += access->count;
        site->uniform += lowest == highest ? access->count : 0;
        site->adjacent += is_adjacent(access) ? access->count : 0;
        site->collided += lanes_collide(access) ? access->count : 0;
    }
    find_frequent_stride(site);
}

/* --------------------------------------------------------------------------------------------------------- affinity */

static void coordinates(const struct sites *sites, const struct wm_access *access, unsigned lane, uint32_t step,
                        int64_t out[VARIABLES])
{
    uint64_t thread = (uint64_t)access->warp * WM_LANES + lane;

    out[THREAD_X] = (int64_t)(thread % sites->block[0]);
    out[THREAD_Y] = (int64_t)(thread / sites->block[0] % sites->block[1]);
    out[THREAD_Z] = (int64_t)(thread / sites->block[0] / sites->block[1]);
    if (!sites->has_block) {
        out[THREAD_X] = lane;
        out[THREAD_Y] = access->warp;
        out[THREAD_Z] = 0;
    }
    for (int d = 0; d < 3; d++)
        out[BLOCK_X + d] = access->block[d];
    out[STEP] = step;
}

/* Normal equations of a least-squares fit, relative to the first lane seen. */
struct fit {
    int64_t origin[VARIABLES];
    uint64_t address;
    int is_started;
    double a[VARIABLES][VARIABLES];
    double b[VARIABLES];
};

static void fit_add(struct fit *fit, const int64_t at[VARIABLES], uint64_t address)
{
    double x[VARIABLES];
    double y;

    if (!fit->is_started) {
        memcpy(fit->origin, at, sizeof fit->origin);
        fit->address = address;
        fit->is_started = 1;
    }
    y = (double)(int64_t)(address - fit->address);
    for (int i = 0; i < VARIABLES; i++)
        x[i] = (double)(at[i] - fit->origin[i]);
    for (int i = 0; i < VARIABLES; i++) {
        for (int j = 0; j < VARIABLES; j++)
            fit->a[i][j] += x[i] * x[j];
        fit->b[i] += x[i] * y;
    }
}

static int64_t rounded(double value)
{
    return (int64_t)(value < 0 ? value - 0.5 : value + 0.5);
}

/* Gauss-Jordan elimination; a variable that does not vary, or only with those before it, has no pivot and gets 0. */
static void fit_solve(struct fit *fit, int64_t stride[VARIABLES])
{
    double full[VARIABLES];

    for (int k = 0; k < VARIABLES; k++)
        full[k] = fit->a[k][k];
    for (int k = 0; k < VARIABLES; k++) {
        double pivot = fit->a[k][k];

        stride[k] = 0;
        if (pivot <= 1e-9 * full[k] || full[k] <= 0)
            continue;
        for (int j = 0; j < VARIABLES; j++)
            fit->a[k][j] /= pivot;
        fit->b[k] /= pivot;
        for (int i = 0; i < VARIABLES; i++) {
            double factor = fit->a[i][k];

            if (i == k)
                continue;
            for (int j = 0; j < VARIABLES; j++)
                fit->a[i][j] -= factor * fit->a[k][j];
            fit->b[i] -= factor * fit->b[k];
        }
        full[k] = -1; /* solved */
    }
    for (int k = 0; k < VARIABLES; k++)
        stride[k] = full[k] < 0 ? rounded(fit->b[k]) : 0;
}

/* Fits the strides and looks at every address again: only what holds for all of them holds. */
static int fit_site(const struct sites *sites, const struct site *site, int once, struct affine *out)
{
    struct fit fit = {0};
    int64_t at[VARIABLES];

    memset(out->varies, 0, sizeof out->varies);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < site->n; i++) {
            const struct wm_access *access = &site->accesses[site->moments[i].index];

            if (once && site->moments[i].step)
                continue;
            for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
                unsigned lane = (unsigned)__builtin_ctz(rest);
                uint64_t expected = fit.address;

                coordinates(sites, access, lane, site->moments[i].step, at);
                if (!round) {
                    fit_add(&fit, at, access->address[lane]);
                    continue;
                }
                for (int d = 0; d < VARIABLES; d++) {
                    expected += (uint64_t)(out->stride[d] * (at[d] - fit.origin[d]));
                    out->varies[d] |= at[d] != fit.origin[d];
                }
                if (access->address[lane] != expected)
                    return 0;
            }
        }
        if (!round)
            fit_solve(&fit, out->stride);
    }
    return fit.is_started;
}

/* Warps, each of which has a first step. */
static size_t count_warps(const struct site *site)
{
    size_t warps = 0;

    for (size_t i = 0; i < site->n; i++)
        warps += site->moments[i].step == 0;
    return warps;
}

static void find_affinity(const struct sites *sites, struct site *site)
{
    struct affine *affine = &site->affine;

    affine->holds = fit_site(sites, site, 0, affine);
    /* one warp's first access by itself says nothing about the others */
    affine->holds_once = affine->holds || (count_warps(site) > 1 && fit_site(sites, site, 1, affine));
    if (!affine->holds_once)
        memset(affine->stride, 0, sizeof affine->stride);
}

/* ---------------------------------------------------------------------------------------------------------- regions */

static int is_in_global_memory(const struct wm_opcode *opcode)
{
    return opcode->space == WM_GLOBAL || opcode->space == WM_GENERIC;
}

static int compare_regions(const void *a, const void *b)
{
    const struct region *x = a;
    const struct region *y = b;

    return (x->low > y->low) - (x->low < y->low);
}

int is_in_array(const struct wm_array *array, uint64_t address)
{
    return address >= array->address &&
           address - array->address < (array->size_bytes ? array->size_bytes : UINT64_C(1) << 32);
}

/* The array that all of a site is in, or NULL. */
static const struct wm_array *array_of(const struct site *site, const struct wm_array *const *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (arrays[i]->space == WM_GLOBAL && is_in_array(arrays[i], site->low) &&
            is_in_array(arrays[i], site->high - 1))
            return arrays[i];
    }
    return NULL;
}

/* Pieces that overlap, or belong to one array, become one. */
static void merge_regions(struct sites *sites)
{
    size_t used = 0;

    qsort(sites->regions, sites->n_regions, sizeof *sites->regions, compare_regions);
    for (size_t i = 0; i < sites->n_regions; i++) {
        struct region *last = used ? &sites->regions[used - 1] : NULL;
        const struct region *next = &sites->regions[i];

        if (last && (last->array ? last->array == next->array : !next->array && next->low < last->high))
            last->high = next->high > last->high ? next->high : last->high;
        else
            sites->regions[used++] = *next;
    }
    sites->n_regions = used;
}

static enum wm_status make_regions(struct sites *sites, const struct wm_array *const *arrays, size_t n_arrays)
{
    sites->regions = calloc(sites->n + 1, sizeof *sites->regions);
    if (!sites->regions)
        return WM_E_MEMORY;
    for (size_t i = 0; i < sites->n; i++) {
        const struct site *site = &sites->list[i];

        if (is_in_global_memory(&site->opcode) && site->low < site->high)
            sites->regions[sites->n_regions++] =
                (struct region){.array = array_of(site, arrays, n_arrays), .low = site->low, .high = site->high};
    }
    merge_regions(sites);
    for (size_t i = 0; i < sites->n; i++) {
        struct site *site = &sites->list[i];
        const struct wm_array *array;

        site->region = NO_REGION;
        if (!is_in_global_memory(&site->opcode) || site->low >= site->high)
            continue;
        array = array_of(site, arrays, n_arrays);
        for (size_t r = 0; r < sites->n_regions; r++) {
            struct region *region = &sites->regions[r];

            if (region->array != array || site->low < region->low || site->high > region->high)
                continue;
            site->region = r;
            region->is_written |= site->opcode.operation != WM_LD && site->opcode.operation != WM_CP_ASYNC;
            region->is_read |= site->opcode.operation != WM_ST && site->opcode.operation != WM_RED;
        }
    }
    return WM_OK;
}

/* A set of sectors, each with the bytes of it that are touched. Open addressing; a bitmap of 0 is a free place. */
struct usage {
    struct {
        uint64_t sector;
        uint32_t bytes; /* of 32: bit i */
    } * places;
    size_t size; /* a power of two */
    size_t used;
};

#define USAGE_SECTOR 32u

static void usage_put(struct usage *usage, uint64_t sector, uint32_t bytes)
{
    size_t at = (size_t)((sector * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (usage->size - 1);

    while (usage->places[at].bytes && usage->places[at].sector != sector)
        at = (at + 1) & (usage->size - 1);
    usage->used += !usage->places[at].bytes;
    usage->places[at].sector = sector;
    usage->places[at].bytes |= bytes;
}

static int usage_grow(struct usage *usage)
{
    struct usage bigger = {NULL, usage->size ? 2 * usage->size : 4096, 0};

    bigger.places = calloc(bigger.size, sizeof *bigger.places);
    if (!bigger.places)
        return 0;
    for (size_t i = 0; i < usage->size; i++) {
        if (usage->places[i].bytes)
            usage_put(&bigger, usage->places[i].sector, usage->places[i].bytes);
    }
    free(usage->places);
    *usage = bigger;
    return 1;
}

static int usage_add(struct usage *usage, const struct wm_access *access)
{
    unsigned width = access->opcode.width_bytes;

    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint64_t address = access->address[__builtin_ctz(rest)];
        uint32_t bytes = width >= 32 ? UINT32_MAX : ((UINT32_C(1) << width) - 1) << (address % USAGE_SECTOR);

        if (2 * usage->used >= usage->size && !usage_grow(usage))
            return 0;
        usage_put(usage, address / USAGE_SECTOR, bytes);
    }
    return 1;
}

static enum wm_status measure_region(const struct sites *sites, size_t index)
{
    struct region *region = &sites->regions[index];
    struct usage usage = {0};
    enum wm_status status = WM_OK;

    for (size_t i = 0; i < sites->n && !status; i++) {
        const struct site *site = &sites->list[i];

        for (size_t k = 0; k < site->n && site->region == index; k++) {
            if (!usage_add(&usage, &site->accesses[k])) {
                status = WM_E_MEMORY;
                break;
            }
        }
    }
    region->touched_sectors = usage.used;
    for (size_t i = 0; i < usage.size; i++)
        region->touched_bytes += (uint64_t)__builtin_popcount(usage.places[i].bytes);
    free(usage.places);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- all of it */

static void set_block(struct sites *sites, const struct wm_kernel *kernel)
{
    sites->has_block = kernel->block[0] != 0;
    for (int d = 0; d < 3; d++)
        sites->block[d] = kernel->block[d] ? kernel->block[d] : 1;
}

static enum wm_status add_site(struct sites *sites, const struct site_source *source)
{
    struct site *site = &sites->list[sites->n++];
    enum wm_status status;

    site->kernel = source->kernel;
    site->file = source->file;
    site->line = source->line;
    site->pc = source->pc;
    site->opcode = source->opcode;
    site->accesses = source->accesses;
    site->n = source->n;
    site->scale = source->scale;
    status = order_site(site);
    if (!status)
        status = cost_add(sites->arch, site->accesses, site->n, &site->cost);
    if (status)
        return status;
    find_patterns(site);
    find_affinity(sites, site);
    cost_merge_scaled(&sites->total, &site->cost, site->scale);
    return WM_OK;
}

enum wm_status sites_make(const wm_arch *arch, const struct site_source *sources, size_t n,
                          const struct wm_array *const *arrays, size_t n_arrays, struct sites *out)
{
    struct geometry geometry;
    enum wm_status status = WM_OK;

    memset(out, 0, sizeof *out);
    geometry_of(arch, &geometry);
    out->arch = arch;
    out->sector_bytes = geometry.sector_bytes;
    out->line_bytes = geometry.tag_wavefront_sectors / geometry.tag_banks * geometry.sector_bytes;
    out->list = calloc(n + 1, sizeof *out->list);
    if (!out->list)
        return WM_E_MEMORY;
    if (n)
        set_block(out, sources[0].accesses[0].kernel);
    for (size_t i = 0; i < n && !status; i++)
        status = add_site(out, &sources[i]);
    if (!status)
        status = make_regions(out, arrays, n_arrays);
    for (size_t i = 0; i < out->n_regions && !status; i++)
        status = measure_region(out, i);
    for (size_t i = 0; i < out->n && !status; i++) {
        if (out->list[i].region != NO_REGION)
            cost_merge_scaled(&out->global_total, &out->list[i].cost, out->list[i].scale);
    }
    return status;
}

void sites_free(struct sites *sites)
{
    for (size_t i = 0; i < sites->n; i++)
        free(sites->list[i].moments);
    free(sites->list);
    free(sites->regions);
    memset(sites, 0, sizeof *sites);
}
