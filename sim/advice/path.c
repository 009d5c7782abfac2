/* Nine steps, in the order in which they are taught. Every number is one that the model gives, or a key of the
 * profile. */
#include "path.h"

#include "finder.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* From here on a step is passed, in percent. */
#define COALESCED_PERCENT 95u
#define ALIGNED_PERCENT 95u
#define CONFLICT_FREE_PERCENT 95u
#define APART_PERCENT 95u
/* Requests for one sector, in tenths, up to which it counts as asked for once. */
#define ONCE_TENTHS 15u
/* Lines that are named. */
#define WORST_LINES 3u
/* Changes that the last step names. */
#define FIRST_CHANGES 3u
/* The step that asks how many sectors could go. */
#define COALESCED 1u

struct walk {
    const wm_arch *arch;
    const struct global_advice *advice;
    const struct sites *sites;
    struct path *path;
    const struct path_layout *layouts;
    size_t n_layouts;
    enum wm_status status; /* the first failure */
    size_t n;              /* steps so far */
    int is_at_dram;        /* DRAM is busy longer than the pipe */
};

static struct path_step *next_step(struct walk *walk, const char *question)
{
    struct path_step *next = &walk->path->steps[walk->n++];

    next->question = question;
    return next;
}

static void answer(struct path_step *step, int is_yes)
{
    step->answer = is_yes ? PATH_YES : PATH_NO;
}

/* Whether part is so many percent of whole. */
static int reaches(uint64_t part, uint64_t whole, unsigned percent)
{
    return (double)part * 100.0 >= (double)whole * percent;
}

static int is_global(const struct site *site)
{
    return site->region != NO_REGION;
}

/* Advice after which rows begin elsewhere. */
#define ADVICE_SET_OF_BEGINNINGS (1U << ADVICE_ALIGN | 1U << ADVICE_PITCH | 1U << ADVICE_TILE | 1U << ADVICE_REUSE)

/* The first advice of a set of kinds that changes a site for the better; 0: none. */
static size_t advice_for(const struct global_advice *advice, const struct site *site, unsigned kinds)
{
    for (size_t i = 0; i < advice->list.n; i++) {
        const struct advice *one = &advice->list.list[i];

        if (!(kinds >> one->kind & 1))
            continue;
        for (size_t k = 0; k < one->n_effects; k++) {
            for (size_t s = 0; s < one->effects[k].n_sites; s++) {
                if (one->effects[k].sites[s] == site)
                    return i + 1;
            }
        }
    }
    return 0;
}

/* ---------------------------------------------------------------------------------------------------- lines, ranked */

/* What a line is ranked by: larger comes first, 0 is left out. */
typedef uint64_t (*weight_function)(const struct site *site);

static uint64_t weight_of_cycles(const struct site *site)
{
    return (uint64_t)(site->cost.cycles * site->scale + 0.5);
}

static uint64_t weight_of_sectors(const struct site *site)
{
    return is_global(site) ? (uint64_t)((double)excess_sectors(&site->cost) * site->scale) : 0;
}

static uint64_t weight_of_conflicts(const struct site *site)
{
    uint64_t excess = above(site->cost.sums[WM_SHARED_WAVEFRONTS], site->cost.sums[WM_SHARED_WAVEFRONTS_IDEAL]);

    return (uint64_t)((double)excess * site->scale);
}

/* The sites of most weight, in descending order; returns how many there are. */
static size_t rank_sites(const struct sites *sites, weight_function weight, const struct site *out[WORST_LINES])
{
    size_t n = 0;

    for (size_t i = 0; i < sites->n; i++) {
        const struct site *site = &sites->list[i];
        size_t at = n;

        if (!weight(site))
            continue;
        while (at > 0 && weight(out[at - 1]) < weight(site))
            at--;
        if (at == WORST_LINES)
            continue;
        n += n < WORST_LINES;
        memmove(&out[at + 1], &out[at], (n - 1 - at) * sizeof *out);
        out[at] = site;
    }
    return n;
}

/* "12.5 % at transpose.cu:32 st.global.b32, ..." of the sites of most weight. */
static void say_worst(const struct sites *sites, weight_function weight, enum wm_counter ideal, enum wm_counter counter,
                      struct buffer *out)
{
    const struct site *worst[WORST_LINES];
    size_t n = rank_sites(sites, weight, worst);

    for (size_t i = 0; i < n; i++) {
        buffer_puts(out, i ? ", " : "; ");
        say_percent(worst[i]->cost.sums[ideal], worst[i]->cost.sums[counter], out);
        buffer_puts(out, " at ");
        say_site(worst[i], out);
    }
}

/* "advice 1 and 3", of the sites of most weight; or what else to do. */
static void say_advice(const struct walk *walk, weight_function weight, const char *otherwise, struct buffer *out)
{
    const struct site *worst[WORST_LINES];
    size_t n = rank_sites(walk->sites, weight, worst);
    size_t said[WORST_LINES];
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        size_t number = advice_for(walk->advice, worst[i], ~(1U << ADVICE_WARP_VECTOR));
        size_t k = 0;

        while (k < count && said[k] != number)
            k++;
        if (!number || k < count)
            continue;
        for (k = count++; k > 0 && said[k - 1] > number; k--)
            said[k] = said[k - 1];
        said[k] = number;
    }
    for (size_t i = 0; i < count; i++)
        buffer_printf(out, i ? ", %zu" : "advice %zu", said[i]);
    if (!count)
        buffer_puts(out, otherwise);
}

/* -------------------------------------------------------------------------------------------------------- the steps */

/* "; global memory 80 %, shared memory 20 %" */
static void say_spaces(const struct sites *sites, struct buffer *out)
{
    static const struct {
        const char *name;
        enum wm_space spaces[2];
    } kinds[] = {
        {"global", {WM_GLOBAL, WM_GENERIC}},
        {"shared", {WM_SHARED, WM_SHARED}},
        {"other blocks' shared", {WM_SHARED_CLUSTER, WM_SHARED_CLUSTER}},
        {"local", {WM_LOCAL, WM_LOCAL}},
    };
    const char *comma = "; ";

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        double cycles = 0;

        for (size_t i = 0; i < sites->n; i++) {
            const struct site *site = &sites->list[i];

            if (site->opcode.space == kinds[k].spaces[0] || site->opcode.space == kinds[k].spaces[1])
                cycles += site->cost.cycles * site->scale;
        }
        if (cycles <= 0)
            continue;
        buffer_printf(out, "%s%s memory %.0f %%", comma, kinds[k].name, 100 * cycles / sites->total.cycles);
        comma = ", ";
    }
}

static void which_matter(struct walk *walk)
{
    const struct sites *sites = walk->sites;
    const struct site *worst[WORST_LINES];
    size_t n = rank_sites(sites, weight_of_cycles, worst);
    const uint64_t all = (uint64_t)(sites->total.cycles + 0.5);
    struct path_step *now = next_step(walk, "Which memory instructions matter?");
    uint64_t named = 0;

    now->answer = PATH_SHOWN;
    buffer_puts(&now->threshold, "share of the predicted cycles of memory instructions");
    for (size_t i = 0; i < n; i++) {
        if (i)
            buffer_puts(&now->seen, ", ");
        say_percent(weight_of_cycles(worst[i]), all, &now->seen);
        buffer_puts(&now->seen, " at ");
        say_site(worst[i], &now->seen);
        named += weight_of_cycles(worst[i]);
    }
    if (n == WORST_LINES && reaches(above(all, named), all * 10, 1)) {
        buffer_puts(&now->seen, ", ");
        say_percent(above(all, named), all, &now->seen);
        buffer_puts(&now->seen, " elsewhere");
    }
    if (sites->total.cycles > 0)
        say_spaces(sites, &now->seen);
    else
        buffer_puts(&now->seen, "none: no memory instruction takes any of L1 or shared memory");
    buffer_puts(&now->next,
                "whether memory or arithmetic limits the kernel is not in its accesses: ask a profiler for the "
                "throughput of each (Nsight Compute: Speed Of Light); if memory does, go on");
}

static void coalesced(struct walk *walk)
{
    const struct cost *cost = &walk->sites->global_total;
    struct path_step *now = next_step(walk, "Global memory: coalesced?");

    buffer_printf(&now->threshold, "sectors that the bytes need / sectors requested: %u %%", COALESCED_PERCENT);
    if (!cost->sums[WM_SECTORS]) {
        now->answer = PATH_NOT_ASKED;
        buffer_puts(&now->seen, "no access to global memory");
        return;
    }
    answer(now, reaches(cost->sums[WM_SECTORS_IDEAL], cost->sums[WM_SECTORS], COALESCED_PERCENT));
    say_percent(cost->sums[WM_SECTORS_IDEAL], cost->sums[WM_SECTORS], &now->seen);
    buffer_puts(&now->seen, " in all");
    say_worst(walk->sites, weight_of_sectors, WM_SECTORS_IDEAL, WM_SECTORS, &now->seen);
    if (now->answer == PATH_NO)
        say_advice(walk, weight_of_sectors, "no change is known for these lines", &now->next);
}

/* Whether where it begins costs an access sectors. */
static int is_misaligned(struct walk *walk, const struct wm_access *access)
{
    struct wm_counts counts;
    enum wm_status status;

    if (lowest_address(access) % walk->sites->sector_bytes == 0)
        return 0;
    status = wm_model(walk->arch, access, &counts);
    if (status)
        walk->status = status;
    return !status && counts.sectors > counts.sectors_ideal;
}

/* Rows, adjacent lanes of a warp, and those that need no sector more for where they begin. */
static void count_rows(struct walk *walk, uint64_t *rows, uint64_t *aligned, const struct site **worst)
{
    const struct sites *sites = walk->sites;
    uint64_t most = 0;

    *rows = *aligned = 0;
    *worst = NULL;
    for (size_t i = 0; i < sites->n; i++) {
        const struct site *site = &sites->list[i];
        uint64_t misaligned = 0;

        for (size_t k = 0; k < site->n && is_global(site); k++) {
            const struct wm_access *access = &site->accesses[k];

            if (active_lanes(access) < 2 || !is_adjacent(access))
                continue;
            *rows += access->count;
            if (is_misaligned(walk, access))
                misaligned += access->count;
            else
                *aligned += access->count;
        }
        if (misaligned > most) {
            most = misaligned;
            *worst = site;
        }
    }
}

static void aligned(struct walk *walk)
{
    struct path_step *now = next_step(walk, "Global memory: aligned?");
    const struct site *worst;
    uint64_t rows, good;
    size_t number;

    count_rows(walk, &rows, &good, &worst);
    buffer_printf(&now->threshold,
                  "of accesses with adjacent lanes, those that need no sector of %u B more for where they begin: %u %%",
                  walk->sites->sector_bytes, ALIGNED_PERCENT);
    if (!rows) {
        now->answer = PATH_NOT_ASKED;
        buffer_puts(&now->seen, "no access with adjacent lanes");
        return;
    }
    answer(now, reaches(good, rows, ALIGNED_PERCENT));
    say_percent(good, rows, &now->seen);
    if (!worst)
        return;
    buffer_puts(&now->seen, "; not all at ");
    say_site(worst, &now->seen);
    number = advice_for(walk->advice, worst, ADVICE_SET_OF_BEGINNINGS);
    if (now->answer == PATH_NO && number)
        buffer_printf(&now->next, "advice %zu", number);
    else if (now->answer == PATH_NO)
        buffer_puts(&now->next, "pad or shift what is stored, so that rows begin at a sector");
}

static void once(struct walk *walk)
{
    const struct sites *sites = walk->sites;
    struct path_step *now = next_step(walk, "Global memory: each sector requested once?");
    uint64_t touched = 0;
    uint64_t requested = 0;
    double times;

    for (size_t r = 0; r < sites->n_regions; r++)
        touched += sites->regions[r].touched_sectors;
    for (size_t i = 0; i < sites->n; i++)
        requested += is_global(&sites->list[i]) ? sites->list[i].cost.sums[WM_SECTORS] : 0;
    buffer_printf(&now->threshold, "sectors requested / different sectors: up to %.1f", ONCE_TENTHS / 10.0);
    if (!touched) {
        now->answer = PATH_NOT_ASKED;
        buffer_puts(&now->seen, "no access to global memory");
        return;
    }
    times = (double)requested / (double)touched;
    answer(now, times * 10 <= ONCE_TENTHS);
    buffer_printf(&now->seen, "%.1f: ", times);
    table_count(requested, 0, &now->seen);
    buffer_puts(&now->seen, " requested, ");
    table_count(touched, 0, &now->seen);
    buffer_puts(&now->seen, " different");
    if (now->answer == PATH_YES)
        return;
    for (size_t i = 0; i < walk->advice->list.n; i++) {
        const struct advice *one = &walk->advice->list.list[i];

        if (one->kind != ADVICE_REUSE && one->kind != ADVICE_TILE && one->kind != ADVICE_MEMBERS &&
            one->kind != ADVICE_CONSTANT && one->kind != ADVICE_PRIVATE && one->kind != ADVICE_THREAD_VECTOR)
            continue;
        buffer_printf(&now->next, now->next.length ? ", %zu" : "advice %zu", i + 1);
    }
    if (!now->next.length)
        buffer_puts(&now->next,
                    "L1 and L2 serve repetitions, which cost wavefronts all the same: larger tiles share more");
}

static int has_layout(const struct path_layout *layout)
{
    for (int c = 0; c < SHARED_CHOICES; c++) {
        if (layout->is_found[c])
            return 1;
    }
    return 0;
}

/* "tile: padding or swizzle" */
static void say_layout(const struct path_layout *layout, struct buffer *out)
{
    static const char *const names[SHARED_CHOICES] = {"padding", "swizzle", "map of threads"};
    const char *comma = ": ";

    buffer_puts(out, layout->array);
    for (int c = 0; c < SHARED_CHOICES; c++) {
        if (!layout->is_found[c])
            continue;
        buffer_printf(out, "%s%s", comma, names[c]);
        comma = " or ";
    }
}

static void say_layouts(const struct walk *walk, struct buffer *out)
{
    int said = 0;

    for (size_t i = 0; i < walk->n_layouts; i++) {
        if (!has_layout(&walk->layouts[i]))
            continue;
        buffer_puts(out, said ? "; " : "");
        say_layout(&walk->layouts[i], out);
        said = 1;
    }
    buffer_puts(out, said ? ", above" : "no layout that was looked at is better: lanes have to take other elements");
}

static void conflict_free(struct walk *walk)
{
    const struct cost *cost = &walk->sites->total;
    struct path_step *now = next_step(walk, "Shared memory: free of conflicts?");

    buffer_printf(&now->threshold, "wavefronts that are needed / wavefronts: %u %%", CONFLICT_FREE_PERCENT);
    if (!cost->sums[WM_SHARED_WAVEFRONTS]) {
        now->answer = PATH_NOT_ASKED;
        buffer_puts(&now->seen, "no access to shared memory");
        return;
    }
    answer(now,
           reaches(cost->sums[WM_SHARED_WAVEFRONTS_IDEAL], cost->sums[WM_SHARED_WAVEFRONTS], CONFLICT_FREE_PERCENT));
    say_percent(cost->sums[WM_SHARED_WAVEFRONTS_IDEAL], cost->sums[WM_SHARED_WAVEFRONTS], &now->seen);
    buffer_puts(&now->seen, " in all");
    say_worst(walk->sites, weight_of_conflicts, WM_SHARED_WAVEFRONTS_IDEAL, WM_SHARED_WAVEFRONTS, &now->seen);
    if (now->answer == PATH_NO)
        say_layouts(walk, &now->next);
}

static uint64_t weight_of_collisions(const struct site *site)
{
    return is_atomic_operation(&site->opcode) ? (uint64_t)((double)site->collided * site->scale) : 0;
}

static void apart(struct walk *walk)
{
    const struct sites *sites = walk->sites;
    struct path_step *now = next_step(walk, "Atomics: lanes at different addresses?");
    const struct site *worst[WORST_LINES];
    size_t n = rank_sites(sites, weight_of_collisions, worst);
    uint64_t all = 0;
    uint64_t collided = 0;

    for (size_t i = 0; i < sites->n; i++) {
        if (!is_atomic_operation(&sites->list[i].opcode))
            continue;
        all += (uint64_t)((double)sites->list[i].cost.instructions * sites->list[i].scale);
        collided += weight_of_collisions(&sites->list[i]);
    }
    buffer_printf(&now->threshold, "those without two lanes at one address: %u %%", APART_PERCENT);
    if (!all) {
        now->answer = PATH_NOT_ASKED;
        buffer_puts(&now->seen, "no atomic");
        return;
    }
    answer(now, reaches(above(all, collided), all, APART_PERCENT));
    say_percent(above(all, collided), all, &now->seen);
    for (size_t i = 0; i < n; i++) {
        buffer_puts(&now->seen, i ? ", " : "; not all at ");
        say_site(worst[i], &now->seen);
    }
    if (now->answer == PATH_NO)
        say_advice(walk, weight_of_collisions, "fewer atomics: sums of warps and blocks first", &now->next);
}

static void vectorised(struct walk *walk)
{
    const struct sites *sites = walk->sites;
    struct path_step *now = next_step(walk, "Global memory: vectorised?");
    uint64_t lanes = 0;
    uint64_t bytes = 0;
    int is_found = 0;

    for (size_t i = 0; i < sites->n; i++) {
        if (!is_global(&sites->list[i]) || is_atomic_operation(&sites->list[i].opcode))
            continue;
        lanes += sites->list[i].cost.lanes;
        bytes += sites->list[i].cost.lanes * sites->list[i].opcode.width_bytes;
    }
    buffer_puts(&now->threshold, "bytes of a lane and instruction: 16, or no adjacent elements to be put together");
    if (!lanes) {
        now->answer = PATH_NOT_ASKED;
        buffer_puts(&now->seen, "no load or store in global memory");
        return;
    }
    buffer_printf(&now->seen, "%.1f B", (double)bytes / (double)lanes);
    for (size_t i = 0; i < walk->advice->list.n; i++) {
        enum advice_kind kind = walk->advice->list.list[i].kind;

        if (kind != ADVICE_WARP_VECTOR && kind != ADVICE_THREAD_VECTOR && kind != ADVICE_MEMBERS)
            continue;
        buffer_printf(&now->next, is_found ? ", %zu" : "advice %zu", i + 1);
        is_found = 1;
    }
    answer(now, !is_found);
    if (!is_found && bytes < 16 * lanes)
        buffer_puts(&now->seen, "; nothing wider fits the addresses as they are");
}

/* A key of the profile; 0: there is none of that name. */
static int find_key(const wm_arch *arch, const char *name, struct wm_arch_key *out)
{
    for (size_t i = 0; wm_arch_key_at(arch, i, out) == WM_OK; i++) {
        if (strcmp(out->name, name) == 0)
            return 1;
    }
    return 0;
}

/* Bytes that DRAM moves in a cycle at the peak figures of the profile; 0: they are not in it. */
static double dram_bytes_per_cycle(const wm_arch *arch, struct wm_arch_key *bandwidth, double *sms)
{
    struct wm_arch_key count, clock;

    if (!find_key(arch, "gpu.sms", &count) || !find_key(arch, "gpu.clock", &clock) ||
        !find_key(arch, "gpu.dram", bandwidth))
        return 0;
    *sms = strtod(count.value, NULL);
    return strtod(bandwidth->value, NULL) * 1e9 / (strtod(clock.value, NULL) * 1e6);
}

static void say_bounds(const struct cost *cost, struct buffer *out)
{
    int rest = 100; /* of what is printed, so that it adds up */
    int said = 0;

    for (int b = 0; b <= WM_BOUND_CLUSTER; b++) {
        if (cost->by_bound[b] < 0.05 * cost->cycles)
            continue;
        buffer_printf(out, "%s%s ", said ? ", " : "", wm_bound_text((enum wm_bound)b));
        buffer_printf(out, "%.0f %%", 100 * cost->by_bound[b] / cost->cycles);
        rest -= (int)(100 * cost->by_bound[b] / cost->cycles + 0.5);
        said = 1;
    }
    if (rest > 0 && said)
        buffer_printf(out, ", others %d %%", rest);
}

/* The SMs that have work at all: the blocks of the launch may be fewer. All of them where they are not known. */
static double busy_sms(const struct walk *walk, double sms)
{
    const struct site *first = walk->sites->n ? &walk->sites->list[0] : NULL;
    const struct wm_kernel *kernel = first && first->n ? first->accesses[0].kernel : NULL;
    double blocks = kernel ? (double)kernel->grid[0] * kernel->grid[1] * kernel->grid[2] : 0;

    return blocks > 0 && blocks < sms ? blocks : sms;
}

static void which_roof(struct walk *walk)
{
    const struct sites *sites = walk->sites;
    struct path_step *now = next_step(walk, "The pipe of the SMs, or DRAM?");
    struct wm_arch_key bandwidth;
    double sms = 1;
    double rate = dram_bytes_per_cycle(walk->arch, &bandwidth, &sms);
    double busy = busy_sms(walk, sms);
    uint64_t bytes = 0;
    double dram;

    now->answer = PATH_SHOWN;
    buffer_puts(&now->threshold, "whichever is busy longer at its peak rate");
    for (size_t r = 0; r < sites->n_regions; r++)
        bytes += sites->regions[r].touched_sectors * 32;
    if (sites->total.cycles <= 0) {
        now->answer = PATH_NOT_ASKED;
        buffer_puts(&now->seen, "neither: no memory instruction takes any of them");
        return;
    }
    buffer_puts(&now->seen, walk->advice->left_out ? "about " : "");
    table_count((uint64_t)(sites->total.cycles + 0.5), 0, &now->seen);
    buffer_puts(&now->seen, " SM cycles of memory instructions, the sum over all SMs, by what bounds each: ");
    say_bounds(&sites->total, &now->seen);
    buffer_puts(&now->seen, walk->advice->left_out ? "; more than " : "; ");
    table_count(bytes, 0, &now->seen);
    buffer_puts(&now->seen, " B of different sectors");
    if (rate <= 0 || walk->advice->left_out)
        return;
    dram = (double)bytes / rate;
    buffer_puts(&now->seen, ", for which DRAM takes ");
    table_count((uint64_t)(dram + 0.5), 0, &now->seen);
    buffer_printf(&now->seen, " cycles at least, at %s GB/s (%s), if nothing of it is in L2: ", bandwidth.value,
                  bandwidth.reference);
    table_count((uint64_t)(dram * busy + 0.5), 0, &now->seen);
    buffer_printf(&now->seen, " SM cycles of the %.0f SM%s%s", busy, busy > 1 ? "s" : "",
                  busy < sms ? " that have a block" : "");
    walk->is_at_dram = dram * busy > sites->total.cycles;
    if (walk->is_at_dram)
        buffer_puts(&now->next,
                    "DRAM is the roof: only fewer bytes help (sectors without unused ones, smaller types, reuse)");
    else
        buffer_puts(&now->next, "the pipe is the roof: fewer or wider instructions, and fewer passes, help");
}

/* A change, and the predicted cycles that it saves. */
struct change {
    size_t advice;                    /* number; 0: none */
    const struct path_layout *layout; /* or NULL */
    double cycles;
};

/* Keeps those that save most, in descending order. */
static void add_change(struct change changes[FIRST_CHANGES], struct change change)
{
    size_t at = FIRST_CHANGES;

    while (at > 0 && changes[at - 1].cycles < change.cycles)
        at--;
    if (at == FIRST_CHANGES || change.cycles < 0.5)
        return;
    memmove(&changes[at + 1], &changes[at], (FIRST_CHANGES - 1 - at) * sizeof *changes);
    changes[at] = change;
}

/* An advice's cycles are those of the executions that were looked at. */
static double cycles_of(const struct advice *advice)
{
    double cycles = 0;

    for (size_t k = 0; k < advice->n_effects; k++) {
        const struct effect *effect = &advice->effects[k];

        cycles += (effect->before.cycles - effect->after.cycles) * effect->sites[0]->scale;
    }
    return cycles;
}

/* What to begin with: what saves most of the predicted cycles. */
static void say_changes(const struct walk *walk, struct buffer *out)
{
    struct change changes[FIRST_CHANGES] = {{0, NULL, 0}};

    for (size_t i = 0; i < walk->n_layouts; i++) {
        if (has_layout(&walk->layouts[i]))
            add_change(changes, (struct change){0, &walk->layouts[i], walk->layouts[i].cycles});
    }
    for (size_t i = 0; i < walk->advice->list.n; i++) {
        const struct advice *advice = &walk->advice->list.list[i];

        if (!advice->instead_of && !advice->is_bound)
            add_change(changes, (struct change){i + 1, NULL, cycles_of(advice)});
    }
    if (changes[0].cycles <= 0) {
        buffer_puts(out, "change that, and simulate again; no change above saves predicted cycles");
        return;
    }
    buffer_puts(out, "what saves most of the ");
    table_count((uint64_t)(walk->sites->total.cycles + 0.5), 0, out);
    buffer_puts(out, " predicted cycles first, and simulate again: ");
    for (size_t i = 0; i < FIRST_CHANGES && changes[i].cycles > 0; i++) {
        buffer_puts(out, i ? "; then " : "");
        if (changes[i].layout)
            say_layout(changes[i].layout, out);
        else
            buffer_printf(out, "advice %zu", changes[i].advice);
        buffer_puts(out, " (");
        table_count((uint64_t)(changes[i].cycles + 0.5), 0, out);
        buffer_puts(out, " cycles less)");
    }
}

static void what_remains(struct walk *walk)
{
    struct path_step *now = next_step(walk, "What remains?");
    int said = 0;

    buffer_puts(&now->threshold, "all steps before answered with yes");
    answer(now, 1);
    for (size_t i = 0; i + 1 < walk->n; i++) {
        if (walk->path->steps[i].answer != PATH_NO)
            continue;
        buffer_printf(&now->seen, said ? ", %zu" : "steps answered with no: %zu", i + 1);
        said = 1;
        answer(now, 0);
    }
    if (said && walk->is_at_dram && walk->path->steps[COALESCED].answer != PATH_NO) {
        buffer_puts(&now->next, "but the bytes that DRAM moves stay: expect little of it");
        return;
    }
    if (said) {
        say_changes(walk, &now->next);
        return;
    }
    buffer_puts(&now->seen, "nothing that the addresses decide: the accesses are at their roof");
    buffer_puts(&now->next, walk->is_at_dram ? "fewer bytes; else " : "");
    buffer_puts(&now->next, "latency, occupancy and arithmetic, which are not in the accesses: a profiler");
}

enum wm_status path_find(const wm_arch *arch, const struct global_advice *advice, const struct path_layout *layouts,
                         size_t n_layouts, struct path *out)
{
    struct walk walk = {.arch = arch,
                        .advice = advice,
                        .sites = &advice->sites,
                        .path = out,
                        .layouts = layouts,
                        .n_layouts = n_layouts};

    memset(out, 0, sizeof *out);
    out->left_out = advice->left_out;
    which_matter(&walk);
    coalesced(&walk);
    aligned(&walk);
    once(&walk);
    conflict_free(&walk);
    apart(&walk);
    vectorised(&walk);
    which_roof(&walk);
    what_remains(&walk);
    if (walk.status)
        return walk.status;
    for (size_t i = 0; i < walk.n; i++) {
        if (out->steps[i].threshold.failed || out->steps[i].seen.failed || out->steps[i].next.failed)
            return WM_E_MEMORY;
    }
    return WM_OK;
}

void path_free(struct path *path)
{
    for (size_t i = 0; i < PATH_STEPS; i++) {
        buffer_free(&path->steps[i].threshold);
        buffer_free(&path->steps[i].seen);
        buffer_free(&path->steps[i].next);
    }
    memset(path, 0, sizeof *path);
}

/* ----------------------------------------------------------------------------------------------------------- output */

static const char *const answer_names[] = {
    [PATH_YES] = "yes", [PATH_NO] = "no", [PATH_NOT_ASKED] = "not asked", [PATH_SHOWN] = "shown"};

void path_table(struct path *path, struct buffer *out)
{
    static const char *const words[] = {
        [PATH_YES] = "yes: ", [PATH_NO] = "NO: ", [PATH_NOT_ASKED] = "-: ", [PATH_SHOWN] = ""};
    struct buffer text = {0};

    buffer_puts(out, "the path that these memory instructions take");
    buffer_puts(out, path->left_out ? ", extrapolated from the first executions of each:\n" : ":\n");
    for (size_t i = 0; i < PATH_STEPS; i++) {
        struct path_step *step = &path->steps[i];

        buffer_clear(&text);
        buffer_printf(&text, "%zu. %s (%s)", i + 1, step->question, buffer_text(&step->threshold));
        table_wrapped(buffer_text(&text), 2, 5, out);
        buffer_clear(&text);
        buffer_puts(&text, words[step->answer]);
        buffer_add(&text, step->seen.data, step->seen.length);
        table_wrapped(buffer_text(&text), 5, 5, out);
        if (!step->next.length)
            continue;
        buffer_clear(&text);
        buffer_puts(&text, "-> ");
        buffer_add(&text, step->next.data, step->next.length);
        table_wrapped(buffer_text(&text), 5, 8, out);
    }
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

void path_json(const char *kernel, struct path *path, int *is_first, struct buffer *out)
{
    for (size_t i = 0; i < PATH_STEPS; i++) {
        struct path_step *step = &path->steps[i];
        struct json_line *line = json_line_new();

        if (!line) {
            out->failed = BUFFER_NO_MEMORY;
            return;
        }
        json_line_text(line, "kernel", kernel);
        json_line_number(line, "step", i + 1);
        json_line_text(line, "question", step->question);
        json_line_text(line, "threshold", buffer_text(&step->threshold));
        json_line_text(line, "answer", answer_names[step->answer]);
        json_line_text(line, "seen", buffer_text(&step->seen));
        json_line_text(line, "next", buffer_text(&step->next));
        json_line_dump(line, *is_first, out);
        json_line_free(line);
        *is_first = 0;
    }
}
