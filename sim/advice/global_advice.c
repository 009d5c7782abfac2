/* Who looks for what, in which order, and what becomes of it. */
#include "finder.h"

#include "report.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
    [ADVICE_LAYOUT] = "layout",
    [ADVICE_MEMBERS] = "members",
    [ADVICE_SWAP] = "swap",
    [ADVICE_TILE] = "tile",
    [ADVICE_REUSE] = "reuse",
    [ADVICE_ALIGN] = "align",
    [ADVICE_PITCH] = "pitch",
    [ADVICE_THREAD_VECTOR] = "thread vector",
    [ADVICE_WARP_VECTOR] = "warp vector",
    [ADVICE_CONSTANT] = "constant",
    [ADVICE_AGGREGATE] = "aggregate",
    [ADVICE_PRIVATE] = "private",
    [ADVICE_WHOLE_WARPS] = "whole warps",
    [ADVICE_SORT] = "sort",
    [ADVICE_NONE] = "none",
};

const char *advice_kind_name(enum advice_kind kind)
{
    return kind_names[kind];
}

/* ---------------------------------------------------------------------------------------------------------- helpers */

int matters(const struct site *site, uint64_t part, uint64_t whole)
{
    return part && (double)part * site->scale * 100 >= (double)whole * MATTERS_PERCENT;
}

/* What a change must lower to be worth the work: predicted cycles, sectors, or instructions, which are what vectors
 * save where something else bounds the cycles. Fewer wavefronts of a stage that bounds nothing are no gain. */
#define GAIN_PERCENT 2

static int is_gain(double before, double after)
{
    return after < before && 100 * (before - after) >= GAIN_PERCENT * before;
}

int wastes_lines(struct finder *finder, const struct site *site, struct cost *bound)
{
    const struct sites *sites = finder->sites;
    struct access_list list = {0};

    /* twice the lines of whole sectors next to each other, at least; cp.async looks up other things */
    if (finder->status || site->region == NO_REGION || !is_load_or_store(site) ||
        finder->is_covered[site - sites->list] || excess_sectors(&site->cost) ||
        site->cost.sums[WM_LINES] * sites->line_bytes < 2 * site->cost.sums[WM_SECTORS_IDEAL] * sites->sector_bytes)
        return 0;
    finder->status = rewrite_adjacent(site, sites->line_bytes, &list);
    simulate(finder, &list, bound);
    return !finder->status && is_gain(site->cost.cycles, bound->cycles) &&
           100 * (site->cost.cycles - bound->cycles) * site->scale >= GAIN_PERCENT * sites->total.cycles;
}

int is_mostly(uint64_t part, const struct site *site)
{
    return part && part >= site->several - site->several / 10;
}

int is_load_or_store(const struct site *site)
{
    return site->opcode.operation == WM_LD || site->opcode.operation == WM_ST;
}

void simulate(struct finder *finder, struct access_list *list, struct cost *out)
{
    memset(out, 0, sizeof *out);
    if (!finder->status)
        finder->status = cost_add(finder->sites->arch, list->list, list->n, out);
    access_list_free(list);
}

void draft_effect(struct finder *finder, struct draft *draft, const struct site *const *sites, size_t n,
                  const struct cost *after, const char *note)
{
    const struct site **copy;
    struct effect *effect;

    if (!list_grow(&draft->effects, draft->n_effects, &draft->size, sizeof *draft->effects)) {
        finder->status = WM_E_MEMORY;
        return;
    }
    copy = calloc(n, sizeof *copy);
    if (!copy) {
        finder->status = WM_E_MEMORY;
        return;
    }
    effect = &draft->effects[draft->n_effects++];
    *effect = (struct effect){.sites = copy, .n_sites = n, .after = *after, .note = note};
    for (size_t i = 0; i < n; i++) {
        copy[i] = sites[i];
        cost_merge(&effect->before, &sites[i]->cost);
    }
}

static void free_effects(struct effect *effects, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((void *)effects[i].sites);
    free(effects);
}

void draft_free(struct draft *draft)
{
    buffer_free(&draft->title);
    buffer_free(&draft->words);
    free_effects(draft->effects, draft->n_effects);
    memset(draft, 0, sizeof *draft);
}

/* Sectors and wavefronts: what occupies the stages of L1. */
static uint64_t stages(const struct cost *cost)
{
    return cost->sums[WM_SECTORS] + cost->sums[WM_TAG_WAVEFRONTS] + cost->sums[WM_LSU_WAVEFRONTS] +
           cost->sums[WM_SHARED_WAVEFRONTS];
}

static int gets_better(const struct effect *effect)
{
    return stages(&effect->after) < stages(&effect->before);
}

static void cover(struct finder *finder, const struct effect *effect)
{
    for (size_t i = 0; i < effect->n_sites && gets_better(effect); i++)
        finder->is_covered[effect->sites[i] - finder->sites->list] = 1;
}

static int is_worth_it(const struct draft *draft)
{
    struct cost before = {0};
    struct cost after = {0};

    for (size_t i = 0; i < draft->n_effects; i++) {
        cost_merge(&before, &draft->effects[i].before);
        cost_merge(&after, &draft->effects[i].after);
    }
    return is_gain(before.cycles, after.cycles) || is_gain((double)before.instructions, (double)after.instructions) ||
           is_gain((double)before.sums[WM_SECTORS], (double)after.sums[WM_SECTORS]) ||
           is_gain((double)before.sums[WM_L2_SECTORS], (double)after.sums[WM_L2_SECTORS]);
}

int propose(struct finder *finder, struct draft *draft)
{
    struct advice_list *out = finder->out;
    struct advice advice = {.kind = draft->kind, .is_bound = draft->is_bound};
    uint64_t before = 0;
    uint64_t after = 0;
    int is_proposed = 0;

    if (finder->status || !is_worth_it(draft))
        goto done;
    if (!list_grow(&out->list, out->n, &finder->size, sizeof *out->list)) {
        finder->status = WM_E_MEMORY;
        goto done;
    }
    advice.title = strdup(buffer_text(&draft->title));
    advice.words = strdup(buffer_text(&draft->words));
    if (!advice.title || !advice.words || draft->title.failed || draft->words.failed) {
        free(advice.title);
        free(advice.words);
        finder->status = WM_E_MEMORY;
        goto done;
    }
    advice.effects = draft->effects;
    advice.n_effects = draft->n_effects;
    draft->effects = NULL;
    draft->n_effects = 0;
    for (size_t i = 0; i < advice.n_effects; i++) {
        before += stages(&advice.effects[i].before);
        after += stages(&advice.effects[i].after);
        advice.cycles += advice.effects[i].before.cycles - advice.effects[i].after.cycles;
        if (!advice.is_bound && advice.kind != ADVICE_WARP_VECTOR)
            cover(finder, &advice.effects[i]);
    }
    advice.passes = above(before, after);
    out->list[out->n++] = advice;
    is_proposed = 1;
done:
    draft_free(draft);
    return is_proposed;
}

/* ------------------------------------------------------------------------------------------------------------ words */

void say_site(const struct site *site, struct buffer *out)
{
    char opcode[WM_OPCODE_TEXT_SIZE] = "";
    struct buffer name = {0};

    if (site->line) {
        if (site->file)
            table_name(site->file, &name);
        report_line(site->file ? buffer_text(&name) : NULL, site->line, out);
        buffer_putc(out, ' ');
    } else if (site->pc != WM_NO_PC) {
        report_pc(site->pc, out);
        buffer_putc(out, ' ');
    }
    wm_opcode_format(&site->opcode, opcode);
    buffer_puts(out, opcode);
    if (name.failed)
        out->failed = name.failed;
    buffer_free(&name);
}

void say_region(const struct region *region, struct buffer *out)
{
    if (region->array)
        table_name(region->array->name, out);
    else
        buffer_printf(out, "0x%llx-0x%llx", (unsigned long long)region->low, (unsigned long long)region->high - 1);
}

void say_lines(const struct sites *sites, const struct site *site, struct buffer *out)
{
    const uint64_t *sums = site->cost.sums;
    double requests = (double)sums[WM_REQUESTS];

    buffer_printf(out,
                  "All bytes of the sectors are used, but those of a warp lie in %.1f lines of %u B, where %.1f would "
                  "hold them, and looking them up takes %.1f wavefronts of the tag stage.",
                  (double)sums[WM_LINES] / requests, sites->line_bytes,
                  (double)(sums[WM_SECTORS_IDEAL] * sites->sector_bytes) / sites->line_bytes / requests,
                  (double)sums[WM_TAG_WAVEFRONTS] / requests);
}

int say_affine(const struct sites *sites, const struct site *site, struct buffer *out)
{
    static const char *const names[VARIABLES] = {"threadIdx.x", "threadIdx.y", "threadIdx.z", "blockIdx.x",
                                                 "blockIdx.y",  "blockIdx.z",  "step"};
    static const char *const lane_names[] = {"lane", "warp"};
    int is_first = 1;

    if (!site->affine.holds_once)
        return 0;
    for (int d = 0; d < VARIABLES; d++) {
        int64_t stride = site->affine.stride[d];

        if (!stride)
            continue;
        if (!is_first)
            buffer_puts(out, stride < 0 ? " - " : " + ");
        else if (stride < 0)
            buffer_putc(out, '-');
        buffer_printf(out, "%llu B * %s", (unsigned long long)(stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride),
                      !sites->has_block && d <= THREAD_Y ? lane_names[d] : names[d]);
        is_first = 0;
    }
    if (!is_first && !site->affine.holds)
        buffer_puts(out, ", in the first step");
    return !is_first;
}

void say_percent(uint64_t part, uint64_t whole, struct buffer *out)
{
    table_percent(part, whole, 0, out);
}

/* -------------------------------------------------------------------------------------------------------- all of it */

static int compare_advice(const void *a, const void *b)
{
    const struct advice *x = a;
    const struct advice *y = b;

    /* what takes no waste away stands behind */
    if ((x->kind == ADVICE_WARP_VECTOR) != (y->kind == ADVICE_WARP_VECTOR))
        return x->kind == ADVICE_WARP_VECTOR ? 1 : -1;
    if (x->is_bound != y->is_bound)
        return x->is_bound ? 1 : -1;
    if (x->cycles < y->cycles || y->cycles < x->cycles)
        return x->cycles > y->cycles ? -1 : 1;
    if (x->passes != y->passes)
        return x->passes > y->passes ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static int improves_site(const struct advice *advice, const struct site *site)
{
    for (size_t i = 0; i < advice->n_effects; i++) {
        for (size_t k = 0; k < advice->effects[i].n_sites; k++) {
            if (advice->effects[i].sites[k] == site && gets_better(&advice->effects[i]))
                return 1;
        }
    }
    return 0;
}

/* Whether what *other does good is done, at the same sites, by *first. */
static int is_alternative(const struct advice *first, const struct advice *other)
{
    int is_shared = 0;

    for (size_t i = 0; i < other->n_effects; i++) {
        for (size_t k = 0; k < other->effects[i].n_sites && gets_better(&other->effects[i]); k++) {
            if (!improves_site(first, other->effects[i].sites[k]))
                return 0;
            is_shared = 1;
        }
    }
    return is_shared;
}

static void rank(struct advice_list *list)
{
    if (list->n)
        qsort(list->list, list->n, sizeof *list->list, compare_advice);
    for (size_t i = 1; i < list->n; i++) {
        struct advice *advice = &list->list[i];

        for (size_t k = 0; k < i && !advice->instead_of && advice->kind != ADVICE_WARP_VECTOR; k++) {
            if (is_alternative(&list->list[k], advice))
                advice->instead_of = k + 1;
        }
    }
}

static enum wm_status find_all(const struct sites *sites, struct advice_list *out)
{
    struct finder finder = {.sites = sites, .out = out};

    finder.is_covered = calloc(sites->n + 1, 1);
    finder.is_constant = calloc(sites->n + 1, 1);
    if (!finder.is_covered || !finder.is_constant)
        finder.status = WM_E_MEMORY;
    for (size_t i = 0; i < sites->n && !finder.status; i++)
        look_at_constant(&finder, &sites->list[i]);
    for (size_t r = 0; r < sites->n_regions && !finder.status; r++) {
        look_at_layout(&finder, r);
        look_at_members(&finder, r);
        look_at_beginnings(&finder, r);
        look_at_reuse(&finder, r);
    }
    look_at_roles(&finder);
    for (size_t i = 0; i < sites->n && !finder.status; i++) {
        look_at_atomics(&finder, &sites->list[i]);
        look_at_thread_vectors(&finder, &sites->list[i]);
        look_at_walk(&finder, &sites->list[i]);
        look_at_lines(&finder, &sites->list[i]);
    }
    look_at_whole_warps(&finder);
    for (size_t r = 0; r < sites->n_regions && !finder.status; r++)
        look_at_rest(&finder, r);
    look_at_warp_vectors(&finder);
    free(finder.is_covered);
    free(finder.is_constant);
    rank(out);
    return finder.status;
}

/* The array that an access is in, by number; n: in none. */
static size_t array_at(const struct wm_access *access, const struct wm_array *const *arrays, size_t n)
{
    size_t i = 0;
    uint64_t address;

    if (!access->mask || (access->opcode.space != WM_GLOBAL && access->opcode.space != WM_GENERIC))
        return n;
    address = access->address[__builtin_ctz(access->mask)];
    while (i < n && (arrays[i]->space != WM_GLOBAL || !is_in_array(arrays[i], address)))
        i++;
    return i;
}

/* What is being put together for sites_make(). */
struct sources {
    struct site_source *list;
    size_t n;
    struct global_advice *advice; /* whose copies these are */
    const struct wm_array *const *arrays;
    size_t n_arrays;
};

static void add_source(struct sources *sources, const struct access_kernel *kernel, const struct access_site *site,
                       const struct wm_access *accesses, size_t n)
{
    sources->list[sources->n++] = (struct site_source){
        .kernel = kernel->kernel.name,
        .file = site->file,
        .line = site->line,
        .pc = site->pc,
        .opcode = site->opcode,
        .accesses = accesses,
        .n = n,
        .scale = (double)site->executed / (double)(site->executed - site->left_out),
    };
}

/* An instruction, or a source line that has several of one opcode: a source for each array. */
static enum wm_status add_sources(struct sources *sources, const struct access_kernel *kernel,
                                  const struct access_site *site)
{
    size_t first = array_at(&site->accesses[0], sources->arrays, sources->n_arrays);
    size_t k = 1;

    while (k < site->n && array_at(&site->accesses[k], sources->arrays, sources->n_arrays) == first)
        k++;
    if (k == site->n) {
        add_source(sources, kernel, site, site->accesses, site->n);
        return WM_OK;
    }
    for (size_t a = 0; a <= sources->n_arrays; a++) {
        struct access_list *copy = &sources->advice->copies[sources->advice->n_copies];

        for (k = 0; k < site->n; k++) {
            if (array_at(&site->accesses[k], sources->arrays, sources->n_arrays) == a &&
                access_list_add(copy, &site->accesses[k]) != WM_OK)
                return WM_E_MEMORY;
        }
        if (!copy->n)
            continue;
        sources->advice->n_copies++;
        add_source(sources, kernel, site, copy->list, copy->n);
    }
    return WM_OK;
}

static enum wm_status list_sources(const struct access_kernel *kernel, struct sources *sources)
{
    size_t most = kernel->n_sites * (sources->n_arrays + 1) + 1;
    enum wm_status status = WM_OK;

    sources->list = calloc(most, sizeof *sources->list);
    sources->advice->copies = calloc(most, sizeof *sources->advice->copies);
    if (!sources->list || !sources->advice->copies)
        return WM_E_MEMORY;
    for (size_t i = 0; i < kernel->n_sites && !status; i++) {
        status = add_sources(sources, kernel, kernel->sites[i]);
        sources->advice->left_out += kernel->sites[i]->left_out;
    }
    return status;
}

enum wm_status global_advice_find(const wm_arch *arch, const struct access_kernel *kernel,
                                  const struct wm_array *const *arrays, size_t n_arrays, struct global_advice *out)
{
    struct sources sources = {.advice = out, .arrays = arrays, .n_arrays = n_arrays};
    enum wm_status status;

    memset(out, 0, sizeof *out);
    status = list_sources(kernel, &sources);
    if (!status)
        status = sites_make(arch, sources.list, sources.n, arrays, n_arrays, &out->sites);
    if (!status)
        status = find_all(&out->sites, &out->list);
    free(sources.list);
    return status;
}

void global_advice_free(struct global_advice *advice)
{
    for (size_t i = 0; i < advice->list.n; i++) {
        free(advice->list.list[i].title);
        free(advice->list.list[i].words);
        free_effects(advice->list.list[i].effects, advice->list.list[i].n_effects);
    }
    free(advice->list.list);
    sites_free(&advice->sites);
    for (size_t i = 0; i <= advice->n_copies && advice->copies;
         i++) /* the one behind them, too, if memory ended in it */
        access_list_free(&advice->copies[i]);
    free(advice->copies);
    memset(advice, 0, sizeof *advice);
}
