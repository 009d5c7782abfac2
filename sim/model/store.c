/*
 * Data wavefronts of global and local stores.
 *
 * Up to store_merge tag wavefronts, a store's lanes share data wavefronts: the load rule over all of them. Beyond, which tag
 * wavefronts share is a race between the tag stage, which wants a free slot for each line, and the drain to L2, which
 * frees them. The race is deterministic, and this file runs it cycle by cycle. Measured on an H200
 * (traces/hardware/sm_90/stores); docs/hardware.md has the numbers.
 *
 * A word that lanes narrower than a bank write in part is read, changed and written back, for the sake of its check bits:
 * that takes two cycles, and a cycle in which the word's bank is read for L2 is lost.
 */
#include <string.h>

#include "model/model.h"

#define BANKS (1U << WM_TAG_BANK_BITS)

/* Of address bits from here on only what they add together is known. */
#define TOP_SHIFT 41U

/* A slot that is in use. */
#define NEVER UINT32_MAX

/* From one attempt to write words in part to the next. */
#define ATTEMPT_CYCLES 2U

/* The store, the same for every numbering of the tag banks. */
struct store {
    const struct wm_profile *profile;
    const struct wmi_lines *lines;
    const uint8_t *wavefront; /* tag wavefront of each line */
    uint8_t bank[WM_LANES];   /* tag bank of each line */
    unsigned slots;           /* of each tag bank */
    int narrow;               /* lanes are narrower than a bank */
    uint32_t partial;         /* bit i: of line i a word is written in part; narrow lanes only */
};

/* A tag wavefront's lines, in the order in which they drain. */
struct wave {
    uint8_t line[BANKS];
    unsigned lines;
};

/* Waves whose lanes share data wavefronts, written from one cycle on. */
struct group {
    unsigned first_wave;
    unsigned waves;
    uint32_t cycle;
    unsigned attempts; /* of narrow lanes */
};

/* A line on its way to L2. */
struct draining {
    unsigned line;
    uint32_t ready; /* first cycle in which it can go */
    uint32_t send_begin;
    uint32_t send_end;
};

/* A sector on its way to L2: while it is read, its words cannot be written. */
struct reading {
    uint32_t cycle;
    uint32_t sent;
    uint32_t banks; /* of the first phase, which narrow lanes have alone; others never ask */
};

struct race {
    const struct store *store;
    struct wave wave[WM_LANES];
    unsigned waves;
    struct group group[WM_LANES];
    unsigned groups;
    unsigned passes; /* data wavefronts of all groups */
    int exact;
    /* slots of the tag banks */
    uint32_t free_from[BANKS][WM_LANES]; /* cycle from which a slot is free, or NEVER */
    unsigned taken[BANKS];               /* lines that have taken a slot of the bank so far */
    unsigned slot[WM_LANES];             /* by line */
    /* the drain: lines leave the queue, their sectors are read, then they are sent, each in order */
    struct draining queue[WM_LANES];
    unsigned queued;
    unsigned drained;
    uint32_t read_done; /* cycle from which the reader is free */
    struct reading reading[WM_LANES];
    unsigned readings;
    /* attempts to write words in part */
    uint32_t used[WMI_ATTEMPTS]; /* their cycles */
    unsigned uses;
    struct wmi_store_plan *plan; /* or NULL */
};

/* Only what is read before it is written is cleared: this is most of the time of a short race. */
static void start(struct race *race, const struct store *store, struct wmi_store_plan *plan)
{
    const unsigned banks = 1U << store->profile->tag_bank_bits;

    race->store = store;
    race->plan = plan;
    race->waves = 0;
    race->groups = 0;
    race->passes = 0;
    race->exact = 1;
    race->queued = 0;
    race->drained = 0;
    race->read_done = 0;
    race->readings = 0;
    race->uses = 0;
    for (unsigned wave = 0; wave < WM_LANES; wave++)
        race->wave[wave].lines = 0;
    for (unsigned b = 0; b < banks; b++) {
        race->taken[b] = 0;
        memset(race->free_from[b], 0, store->slots * sizeof race->free_from[b][0]);
    }
}

static void order_waves(struct race *race, unsigned base)
{
    const struct store *store = race->store;

    for (unsigned i = 0; i < store->lines->count; i++) {
        struct wave *wave = &race->wave[store->wavefront[i]];
        unsigned at = wave->lines++;

        for (; at > 0 && (store->bank[wave->line[at - 1]] ^ base) > (store->bank[i] ^ base); at--)
            wave->line[at] = wave->line[at - 1];
        wave->line[at] = (uint8_t)i;
        if (store->wavefront[i] >= race->waves)
            race->waves = store->wavefront[i] + 1U;
    }
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Sectors are read in ascending order, one a cycle, and sent in as many cycles behind a header. The reader is not too far
 * ahead of the sender, neither in lines nor in sectors. */
static void read_sectors(struct race *race, struct draining *draining, uint32_t cycle)
{
    const struct wm_profile *profile = race->store->profile;
    const unsigned words = profile->sector_bytes / profile->bank_bytes;
    const uint32_t one = (uint32_t)((UINT64_C(1) << words) - 1);
    const unsigned first = race->readings;
    uint32_t sent;

    for (uint32_t rest = race->store->lines->sectors[draining->line]; rest; rest &= rest - 1) {
        struct reading *reading = &race->reading[race->readings];

        /* a line's own sectors are sent when all are read */
        if (race->readings >= profile->store_ahead_sectors && race->readings - profile->store_ahead_sectors < first)
            cycle = later(cycle, race->reading[race->readings - profile->store_ahead_sectors].sent);
        reading->cycle = cycle++;
        reading->banks = race->store->lines->banks[draining->line][0] & (one << (words * wmi_log2(rest)));
        race->readings++;
    }
    race->read_done = cycle;
    draining->send_begin = later(race->queued ? draining[-1].send_end : 0, cycle + profile->store_forward_cycles);
    sent = draining->send_begin + profile->store_header_cycles;
    for (unsigned i = first; i < race->readings; i++)
        race->reading[i].sent = sent++;
    draining->send_end = sent;
}

/* A line queues for the drain. When it is read and sent is settled: no later line can pass it. */
static void queue_line(struct race *race, unsigned line, uint32_t ready)
{
    const struct wm_profile *profile = race->store->profile;
    const unsigned k = race->queued;
    struct draining *draining = &race->queue[k];
    uint32_t read = later(race->read_done, ready);

    *draining = (struct draining){.line = line, .ready = ready};
    if (k >= profile->store_ahead_lines)
        read = later(read, race->queue[k - profile->store_ahead_lines].send_begin + profile->store_ahead_cycles);
    read_sectors(race, draining, read);
    race->queued++;
}

/* One line leaves the queue if it is its time and not too many are on their way: its slot is free from then on. */
static void drain(struct race *race, uint32_t cycle)
{
    const unsigned window = race->store->profile->store_window_lines;
    const unsigned k = race->drained;
    const struct draining *next = &race->queue[k];

    if (k == race->queued || next->ready > cycle || (k >= window && race->queue[k - window].send_end > cycle))
        return;
    race->free_from[race->store->bank[next->line]][race->slot[next->line]] = cycle + 1;
    race->drained++;
}

/* A wave enters if its lines' slots are free, all of them at once. */
static int enter(struct race *race, unsigned wave, uint32_t cycle)
{
    const struct wave *entering = &race->wave[wave];
    const unsigned slots = race->store->slots;

    for (unsigned i = 0; i < entering->lines; i++) {
        const unsigned bank = race->store->bank[entering->line[i]];

        if (race->free_from[bank][race->taken[bank] % slots] > cycle)
            return 0;
    }
    for (unsigned i = 0; i < entering->lines; i++) {
        const unsigned bank = race->store->bank[entering->line[i]];

        race->slot[entering->line[i]] = race->taken[bank]++ % slots;
        race->free_from[bank][race->slot[entering->line[i]]] = NEVER;
    }
    return 1;
}

/* Data wavefronts of a group, by the load rule. */
static unsigned group_passes(const struct race *race, const struct group *group)
{
    const struct wmi_lines *lines = race->store->lines;
    unsigned passes = 0;

    for (unsigned phase = 0; phase < lines->phases; phase++) {
        struct wmi_degree degree = {.planes = 0};

        for (unsigned w = group->first_wave; w < group->first_wave + group->waves; w++) {
            for (unsigned i = 0; i < race->wave[w].lines; i++)
                wmi_degree_add(&degree, lines->banks[race->wave[w].line[i]][phase]);
        }
        passes += wmi_degree_max(&degree);
    }
    return passes;
}

/* Words of a group that wait to be written, by bank. *partial: whether one of them is written in part. */
static uint32_t count_words(const struct race *race, const struct group *group, uint8_t left[32], int *partial)
{
    uint32_t waiting = 0;

    *partial = 0;
    for (unsigned w = group->first_wave; w < group->first_wave + group->waves; w++) {
        for (unsigned i = 0; i < race->wave[w].lines; i++) {
            const unsigned line = race->wave[w].line[i];
            const uint32_t banks = race->store->lines->banks[line][0];

            *partial |= (int)(race->store->partial >> line & 1);
            waiting |= banks;
            for (uint32_t rest = banks; rest; rest &= rest - 1)
                left[wmi_log2(rest)]++;
        }
    }
    return waiting;
}

/* Banks from which a sector is being read. What is queued so far is of earlier groups than the one that is written. */
static uint32_t blocked_banks(const struct race *race, uint32_t cycle)
{
    uint32_t blocked = 0;

    for (unsigned i = 0; i < race->readings; i++) {
        if (race->reading[i].cycle == cycle)
            blocked |= race->reading[i].banks;
    }
    return blocked;
}

/* The next cycle that no attempt has used; it is used then. */
static uint32_t use_from(struct race *race, uint32_t cycle)
{
    for (unsigned i = 0; i < race->uses; i++) {
        if (race->used[i] == cycle) {
            cycle++;
            i = UINT32_MAX; /* from the start again */
        }
    }
    race->used[race->uses++] = cycle;
    return cycle;
}

/* Words are written, one in each of the banks; returns the banks that have more. */
static uint32_t write_banks(uint8_t left[32], uint32_t waiting, uint32_t banks)
{
    for (; banks; banks &= banks - 1) {
        const unsigned bank = wmi_log2(banks);

        if (--left[bank] == 0)
            waiting &= ~(UINT32_C(1) << bank);
    }
    return waiting;
}

/*
 * Writes a group of narrow lanes in attempts, one word a bank; all of them count. Returns the cycle of the last one on which
 * the drain waits. Where a word is written in part, an attempt takes place every second cycle, or one cycle later if another
 * group has that cycle, and leaves out banks from which an earlier group's sector is being read. The first group, which meets
 * none, and one that writes whole words go as wider lanes do, and the drain does not wait for them. (A later group of whole
 * words, more than one of them in a bank, is said to be inexact: of 13 that were measured one took longer.)
 */
static uint32_t write_words(struct race *race, struct group *group)
{
    uint8_t left[32] = {0};
    int partial;
    uint32_t waiting = count_words(race, group, left, &partial);
    uint32_t cycle = group->cycle + race->store->profile->store_write_cycles;
    uint32_t last = cycle;
    const int in_attempts = partial && race->groups > 0;

    for (; waiting && race->passes < WMI_ATTEMPTS; cycle += ATTEMPT_CYCLES) {
        uint32_t banks = waiting;

        if (in_attempts) {
            cycle = use_from(race, cycle);
            banks &= ~blocked_banks(race, cycle);
            last = cycle;
        }
        if (race->plan)
            race->plan->written[race->passes] = banks;
        waiting = write_banks(left, waiting, banks);
        group->attempts++;
        race->passes++;
    }
    if (waiting || (!partial && race->groups > 0 && group->attempts > 1))
        race->exact = 0;
    return last;
}

/* The waves first_wave .. end - 1 become a group; their lines queue for the drain. */
static void flush(struct race *race, unsigned first_wave, unsigned end, uint32_t cycle)
{
    const struct wm_profile *profile = race->store->profile;
    struct group *group = &race->group[race->groups];
    uint32_t ready = cycle + profile->store_drain_cycles;

    *group = (struct group){first_wave, end - first_wave, cycle, 0};
    if (race->store->narrow)
        ready += write_words(race, group) - (cycle + profile->store_write_cycles);
    else
        race->passes += group_passes(race, group);
    for (unsigned w = first_wave; w < end; w++) {
        for (unsigned i = 0; i < race->wave[w].lines; i++)
            queue_line(race, race->wave[w].line[i], ready);
    }
    race->groups++;
}

/* More cycles than any race of 32 lines takes with values that hardware could have. */
#define CYCLES_MAX 65536U

static void run(struct race *race)
{
    unsigned flushed = 0; /* waves in groups */
    unsigned entered = 0;
    unsigned stall = 0;

    for (uint32_t cycle = 0; flushed < race->waves; cycle++) {
        unsigned has_entered = 0;

        if (cycle == CYCLES_MAX) {
            race->exact = 0;
            break;
        }
        drain(race, cycle);
        if (entered < race->waves)
            has_entered = (unsigned)enter(race, entered, cycle);
        entered += has_entered;
        if (entered == flushed || (has_entered && entered < race->waves))
            continue;
        if (++stall == 2) {
            flush(race, flushed, entered, cycle);
            flushed = entered;
            stall = 0;
        }
    }
}

static void tell_groups(const struct race *race, struct wmi_store_plan *plan)
{
    plan->groups = race->groups;
    for (unsigned i = 0; i < race->groups; i++)
        plan->group[i] = (struct wmi_store_group){race->group[i].first_wave, race->group[i].waves, race->group[i].cycle,
                                                  race->group[i].attempts};
}

/* The race with the tag banks numbered as they are for base 0 .. 3: what the lines' address bits leave out. */
static unsigned passes_for_base(const struct store *store, unsigned base, int *exact, struct wmi_store_plan *plan)
{
    struct race race;

    start(&race, store, plan);
    order_waves(&race, base);
    run(&race);
    if (plan)
        tell_groups(&race, plan);
    if (!race.exact)
        *exact = 0;
    return race.passes;
}

/* Whether the lanes leave out bytes of the word at an address. */
static int leaves_bytes(const struct store *store, uint64_t address, unsigned width_bytes)
{
    const unsigned bank_bytes = store->profile->bank_bytes;
    const uint64_t lane_bytes = (UINT64_C(1) << width_bytes) - 1;
    uint64_t written = 0;

    for (uint32_t rest = store->lines->mask; rest; rest &= rest - 1) {
        const uint64_t other = store->lines->address[wmi_log2(rest)];

        if ((address ^ other) < bank_bytes)
            written |= lane_bytes << (other & (bank_bytes - 1));
    }
    return written != (UINT64_C(1) << bank_bytes) - 1;
}

/* The lines of which narrow lanes write a word in part. */
static uint32_t partial_lines(const struct store *store, unsigned width_bytes)
{
    const struct wmi_lines *lines = store->lines;
    const unsigned line_shift = wmi_log2(store->profile->line_bytes);
    uint32_t partial = 0;

    for (uint32_t rest = lines->mask; rest; rest &= rest - 1) {
        const uint64_t address = lines->address[wmi_log2(rest)];
        unsigned line = 0;

        while (lines->index[line] != address >> line_shift)
            line++;
        if (!(partial >> line & 1) && leaves_bytes(store, address, width_bytes))
            partial |= UINT32_C(1) << line;
    }
    return partial;
}

/* Whether all lines lie where the share of the highest address bits in the tag bank is known. */
static int base_is_known(const struct wm_profile *profile, const struct wmi_lines *lines)
{
    const unsigned shift = TOP_SHIFT - wmi_log2(profile->line_bytes);

    for (unsigned i = 0; i < lines->count; i++) {
        if (lines->index[i] >> shift != profile->tag_bank_top_bits)
            return 0;
    }
    return 1;
}

unsigned wmi_store_passes(const struct wm_profile *profile, const struct wmi_lines *lines,
                          const uint8_t wavefront[WM_LANES], unsigned wavefronts, unsigned width_bytes, int *exact,
                          struct wmi_store_plan *plan)
{
    const unsigned banks = 1U << profile->tag_bank_bits;
    struct store store = {.profile = profile, .lines = lines, .wavefront = wavefront};
    unsigned passes;

    store.slots = profile->store_merge[wmi_log2(width_bytes)];
    if (wavefronts <= store.slots)
        return wmi_data_passes(lines);
    for (unsigned i = 0; i < lines->count; i++)
        store.bank[i] = (uint8_t)wmi_tag_bank(profile, lines->index[i]);
    store.narrow = width_bytes < profile->bank_bytes;
    if (store.narrow)
        store.partial = partial_lines(&store, width_bytes);
    if (base_is_known(profile, lines))
        return passes_for_base(&store, profile->tag_bank_top & (banks - 1), exact, plan);
    /* Elsewhere, as with offsets into a buffer, every numbering of the banks is tried: where it matters, what comes out is
     * no more than near. */
    passes = passes_for_base(&store, 0, exact, plan);
    for (unsigned base = 1; base < banks; base++) {
        if (passes_for_base(&store, base, exact, NULL) != passes)
            *exact = 0;
    }
    return passes;
}
