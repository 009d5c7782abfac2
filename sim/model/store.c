/*
 * Data wavefronts of global and local stores.
 *
 * Up to store_merge tag wavefronts, a store's lanes share data wavefronts: the load rule over all of them. Beyond, which tag
 * wavefronts share is a race between the tag stage, which wants a free slot for each line, and the drain to L2, which
 * frees them. The race is deterministic, and this file runs it cycle by cycle. Measured on an H200
 * (traces/hardware/sm_90/stores); docs/hardware.md has the numbers.
 */
#include <string.h>

#include "model/model.h"

#define BANKS (1U << WM_TAG_BANK_BITS)

/* Address bits from here on are the top byte of a virtual address. */
#define TOP_SHIFT 40U

/* A slot that is in use. */
#define NEVER UINT32_MAX

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
};

/* A line on its way to L2. */
struct draining {
    unsigned line;
    unsigned group;
    uint32_t ready; /* first cycle in which it can go */
};

/* A sector that the drain reads: its words cannot be written in that cycle. */
struct reading {
    uint32_t cycle;
    unsigned group;
    uint32_t banks;
};

struct race {
    const struct wm_profile *profile;
    const struct wmi_lines *lines;
    const uint8_t *bank; /* tag bank of each line */
    struct wave wave[WM_LANES];
    unsigned waves;
    struct group group[WM_LANES];
    unsigned groups;
    /* slots of the tag banks */
    unsigned slots;                          /* for each bank */
    uint32_t free_from[BANKS][WM_LANES];     /* cycle from which a slot is free, or NEVER */
    unsigned taken[BANKS];                   /* lines that have taken a slot of the bank so far */
    unsigned slot[WM_LANES];                 /* by line */
    /* the drain: lines leave the queue, their sectors are read, then they are sent, each in order */
    struct draining queue[WM_LANES];
    unsigned queued;
    unsigned drained;
    uint32_t read_done;                      /* cycle from which the reader is free */
    uint32_t send_begin[WM_LANES];           /* by place in the queue */
    uint32_t send_end[WM_LANES];
    struct reading reading[WM_LANES];
    unsigned readings;
};

/* Only what is read before it is written is cleared: this is most of the time of a short race. */
static void start(struct race *race, const struct wm_profile *profile, const struct wmi_lines *lines,
                  const uint8_t bank[WM_LANES], unsigned slots)
{
    const unsigned banks = 1U << profile->tag_bank_bits;

    race->profile = profile;
    race->lines = lines;
    race->bank = bank;
    race->waves = 0;
    race->groups = 0;
    race->slots = slots;
    race->queued = 0;
    race->drained = 0;
    race->read_done = 0;
    race->readings = 0;
    for (unsigned wave = 0; wave < WM_LANES; wave++)
        race->wave[wave].lines = 0;
    for (unsigned b = 0; b < banks; b++) {
        race->taken[b] = 0;
        memset(race->free_from[b], 0, slots * sizeof race->free_from[b][0]);
    }
}

static void order_waves(struct race *race, const uint8_t wavefront[WM_LANES], unsigned base)
{
    for (unsigned i = 0; i < race->lines->count; i++) {
        struct wave *wave = &race->wave[wavefront[i]];
        unsigned at = wave->lines++;

        for (; at > 0 && (race->bank[wave->line[at - 1]] ^ base) > (race->bank[i] ^ base); at--)
            wave->line[at] = wave->line[at - 1];
        wave->line[at] = (uint8_t)i;
        if (wavefront[i] >= race->waves)
            race->waves = wavefront[i] + 1U;
    }
}

/* Sectors are read one a cycle, in ascending order. */
static void read_sectors(struct race *race, const struct draining *draining, uint32_t cycle)
{
    const unsigned words = race->profile->sector_bytes / race->profile->bank_bytes;
    const uint32_t one = (uint32_t)((UINT64_C(1) << words) - 1);

    for (uint32_t rest = race->lines->sectors[draining->line]; rest; rest &= rest - 1)
        race->reading[race->readings++] =
            (struct reading){cycle++, draining->group,
                             race->lines->banks[draining->line][0] & (one << (words * wmi_log2(rest)))};
    race->read_done = cycle;
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* One line leaves the queue if it is its time and not too many are on their way. Its slot is free from then on; its
 * sectors are read as soon as the reader is not too far ahead of the sender, and sent behind a header. */
static void drain(struct race *race, uint32_t cycle)
{
    const struct wm_profile *profile = race->profile;
    const unsigned k = race->drained;
    const struct draining *next = &race->queue[k];
    uint32_t read;

    if (k == race->queued || next->ready > cycle ||
        (k >= profile->store_window_lines && race->send_end[k - profile->store_window_lines] > cycle))
        return;
    read = later(race->read_done, next->ready);
    if (k >= profile->store_ahead_lines)
        read = later(read, race->send_begin[k - profile->store_ahead_lines] + profile->store_ahead_cycles);
    read_sectors(race, next, read);
    race->send_begin[k] = later(k ? race->send_end[k - 1] : 0, race->read_done + profile->store_forward_cycles);
    race->send_end[k] =
        race->send_begin[k] + profile->store_header_cycles + wmi_popcount(race->lines->sectors[next->line]);
    race->free_from[race->bank[next->line]][race->slot[next->line]] = cycle + 1;
    race->drained++;
}

/* A wave enters if its lines' slots are free, all of them at once. */
static int enter(struct race *race, unsigned wave, uint32_t cycle)
{
    const struct wave *entering = &race->wave[wave];

    for (unsigned i = 0; i < entering->lines; i++) {
        const unsigned bank = race->bank[entering->line[i]];

        if (race->free_from[bank][race->taken[bank] % race->slots] > cycle)
            return 0;
    }
    for (unsigned i = 0; i < entering->lines; i++) {
        const unsigned bank = race->bank[entering->line[i]];

        race->slot[entering->line[i]] = race->taken[bank]++ % race->slots;
        race->free_from[bank][race->slot[entering->line[i]]] = NEVER;
    }
    return 1;
}

/* Data wavefronts of a group, by the load rule. */
static unsigned group_passes(const struct race *race, const struct group *group)
{
    unsigned passes = 0;

    for (unsigned phase = 0; phase < race->lines->phases; phase++) {
        struct wmi_degree degree = {.planes = 0};

        for (unsigned w = group->first_wave; w < group->first_wave + group->waves; w++) {
            for (unsigned i = 0; i < race->wave[w].lines; i++)
                wmi_degree_add(&degree, race->lines->banks[race->wave[w].line[i]][phase]);
        }
        passes += wmi_degree_max(&degree);
    }
    return passes;
}

/* The waves first_wave .. end - 1 become a group; their lines queue for the drain. Returns its data wavefronts. */
static unsigned flush(struct race *race, unsigned first_wave, unsigned end, uint32_t cycle)
{
    struct group *group = &race->group[race->groups];

    *group = (struct group){first_wave, end - first_wave, cycle};
    for (unsigned w = first_wave; w < end; w++) {
        for (unsigned i = 0; i < race->wave[w].lines; i++)
            race->queue[race->queued++] =
                (struct draining){race->wave[w].line[i], race->groups, cycle + race->profile->store_drain_cycles};
    }
    race->groups++;
    return group_passes(race, group);
}

/* More cycles than any race of 32 lines takes with values that hardware could have. */
#define CYCLES_MAX 65536U

/* Runs the race; returns the data wavefronts of all groups. */
static unsigned run(struct race *race, int *exact)
{
    unsigned total = 0;
    unsigned flushed = 0; /* waves in groups */
    unsigned entered = 0;
    unsigned stall = 0;
    uint32_t busy = 0;

    for (uint32_t cycle = 0; flushed < race->waves || race->drained < race->queued; cycle++) {
        unsigned has_entered = 0;

        if (cycle == CYCLES_MAX) {
            *exact = 0;
            break;
        }
        drain(race, cycle);
        if (entered < race->waves)
            has_entered = (unsigned)enter(race, entered, cycle);
        entered += has_entered;
        if (entered == flushed || (has_entered && entered < race->waves))
            continue;
        stall++;
        if (stall >= 2 && cycle >= busy) {
            const unsigned passes = flush(race, flushed, entered, cycle);

            total += passes;
            busy = cycle + passes;
            flushed = entered;
            stall = 0;
        }
    }
    return total;
}

/* Words of a group that wait to be written, by bank. */
static uint32_t count_words(const struct race *race, const struct group *group, uint8_t left[32])
{
    uint32_t waiting = 0;

    for (unsigned w = group->first_wave; w < group->first_wave + group->waves; w++) {
        for (unsigned i = 0; i < race->wave[w].lines; i++) {
            const uint32_t banks = race->lines->banks[race->wave[w].line[i]][0];

            waiting |= banks;
            for (uint32_t rest = banks; rest; rest &= rest - 1)
                left[wmi_log2(rest)]++;
        }
    }
    return waiting;
}

/* Banks from which a sector of a group before this one is being read. */
static uint32_t blocked_banks(const struct race *race, unsigned group, uint32_t cycle)
{
    uint32_t blocked = 0;

    for (unsigned i = 0; i < race->readings; i++) {
        if (race->reading[i].cycle == cycle && race->reading[i].group < group)
            blocked |= race->reading[i].banks;
    }
    return blocked;
}

/* The next cycle, in steps of two, that no group has used. */
static uint32_t unused_from(uint32_t cycle, const uint32_t *used, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (used[i] == cycle) {
            cycle += 2;
            i = UINT32_MAX; /* from the start again */
        }
    }
    return cycle;
}

/*
 * Narrow lanes: a group's words are written some cycles after its flush, every second cycle one word a bank, but not into
 * banks from which an earlier group's sector is being read, nor in a cycle that an earlier group has used. Every attempt
 * counts. *exact becomes 0 where groups met in a cycle: that rule has one store behind it and one against it.
 */
static unsigned narrow_passes(const struct race *race, int *exact, struct wmi_store_plan *plan)
{
    uint32_t used[WMI_ATTEMPTS];
    unsigned attempts = 0;

    for (unsigned group = 0; group < race->groups; group++) {
        const unsigned before = attempts;
        uint8_t left[32] = {0};
        uint32_t waiting = count_words(race, &race->group[group], left);
        uint32_t cycle = race->group[group].cycle + race->profile->store_write_cycles;

        for (; waiting && attempts < WMI_ATTEMPTS; cycle += 2) {
            const uint32_t wanted = cycle;
            uint32_t written;

            cycle = unused_from(cycle, used, before);
            if (cycle != wanted)
                *exact = 0;
            written = waiting & ~blocked_banks(race, group, cycle);
            if (plan)
                plan->written[attempts] = written;
            for (uint32_t rest = written; rest; rest &= rest - 1) {
                const unsigned bank = wmi_log2(rest);

                if (--left[bank] == 0)
                    waiting &= ~(UINT32_C(1) << bank);
            }
            used[attempts++] = cycle;
        }
        if (plan)
            plan->group[group].attempts = attempts - before;
    }
    return attempts;
}

static void tell_groups(const struct race *race, struct wmi_store_plan *plan)
{
    plan->groups = race->groups;
    for (unsigned i = 0; i < race->groups; i++)
        plan->group[i] =
            (struct wmi_store_group){race->group[i].first_wave, race->group[i].waves, race->group[i].cycle, 0};
}

/* The race with the tag banks numbered as they are for base 0 .. 3: what the lines' address bits leave out. */
static unsigned passes_for_base(const struct wm_profile *profile, const struct wmi_lines *lines,
                                const uint8_t wavefront[WM_LANES], const uint8_t bank[WM_LANES], unsigned width_bytes,
                                unsigned base, int *exact, struct wmi_store_plan *plan)
{
    struct race race;
    unsigned passes;

    start(&race, profile, lines, bank, profile->store_merge[wmi_log2(width_bytes)]);
    order_waves(&race, wavefront, base);
    passes = run(&race, exact);
    if (plan)
        tell_groups(&race, plan);
    return width_bytes < profile->bank_bytes ? narrow_passes(&race, exact, plan) : passes;
}

/* Whether all lines lie where the share of the highest address bits in the tag bank is known. */
static int base_is_known(const struct wm_profile *profile, const struct wmi_lines *lines)
{
    const unsigned shift = TOP_SHIFT - wmi_log2(profile->line_bytes);

    for (unsigned i = 0; i < lines->count; i++) {
        if (lines->index[i] >> shift != profile->tag_bank_top_byte)
            return 0;
    }
    return 1;
}

unsigned wmi_store_passes(const struct wm_profile *profile, const struct wmi_lines *lines,
                          const uint8_t wavefront[WM_LANES], unsigned wavefronts, unsigned width_bytes, int *exact,
                          struct wmi_store_plan *plan)
{
    const unsigned banks = 1U << profile->tag_bank_bits;
    uint8_t bank[WM_LANES];
    unsigned passes;

    if (wavefronts <= profile->store_merge[wmi_log2(width_bytes)])
        return wmi_data_passes(lines);
    for (unsigned i = 0; i < lines->count; i++)
        bank[i] = (uint8_t)wmi_tag_bank(profile, lines->index[i]);
    if (base_is_known(profile, lines))
        return passes_for_base(profile, lines, wavefront, bank, width_bytes, profile->tag_bank_top & (banks - 1), exact,
                               plan);
    /* Elsewhere, as with offsets into a buffer, every numbering of the banks is tried: where it matters, what comes out is
     * no more than near. */
    passes = passes_for_base(profile, lines, wavefront, bank, width_bytes, 0, exact, plan);
    for (unsigned base = 1; base < banks; base++) {
        if (passes_for_base(profile, lines, wavefront, bank, width_bytes, base, exact, NULL) != passes)
            *exact = 0;
    }
    return passes;
}
