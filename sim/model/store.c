/*
 * Data wavefronts of global and local stores.
 *
 * Up to store_merge tag wavefronts, a store's lanes share data wavefronts: the load rule over all of them. Beyond, which tag
 * wavefronts share is a race between the tag stage, which wants a free slot for each line, and the drain to L2, which
 * frees them. The race is deterministic, and this file runs it cycle by cycle. Measured on an H200
 * (traces/hardware/sm_90/stores): exact where every line has one sector. docs/hardware.md has the numbers.
 */
#include <string.h>

#include "model/model.h"

#define BANKS (1U << WM_TAG_BANK_BITS)

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
    int64_t cycle;
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
    /* the drain */
    struct draining queue[WM_LANES];
    unsigned queued;
    unsigned drained;
    uint32_t exit_cycle[WM_LANES];           /* of what went into the FIFO, in order */
    unsigned exits;
    unsigned left;                           /* of these, how many have left */
    uint32_t read_done;
    uint32_t send_free;
    struct reading reading[WM_LANES];
    unsigned readings;
};

static void order_waves(struct race *race, const uint8_t wavefront[WMI_LINES], unsigned base)
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

static void read_sectors(struct race *race, const struct draining *draining, uint32_t sent)
{
    const unsigned words = race->profile->sector_bytes / race->profile->bank_bytes;
    const uint32_t one = (uint32_t)((UINT64_C(1) << words) - 1);
    int64_t cycle = sent;

    for (uint32_t rest = race->lines->sectors[draining->line]; rest; rest &= rest - 1)
        race->reading[race->readings++] =
            (struct reading){cycle--, draining->group,
                             race->lines->banks[draining->line][0] & (one << (words * wmi_log2(rest)))};
}

/* One line goes to L2 if it is its time and the FIFO has room. */
static void drain(struct race *race, uint32_t cycle)
{
    const struct draining *next = &race->queue[race->drained];
    const unsigned bank = race->drained < race->queued ? race->bank[next->line] : 0;
    uint32_t sent;

    while (race->left < race->exits && race->exit_cycle[race->left] <= cycle)
        race->left++;
    if (race->drained == race->queued || next->ready > cycle ||
        race->exits - race->left >= race->profile->store_fifo_lines)
        return;
    if (race->read_done < cycle)
        race->read_done = cycle;
    race->read_done += wmi_popcount(race->lines->sectors[next->line]);
    sent = race->read_done - 1 > race->send_free ? race->read_done - 1 : race->send_free;
    race->send_free = sent + race->profile->store_send_cycles;
    race->exit_cycle[race->exits++] = race->send_free;
    race->free_from[bank][race->slot[next->line]] = cycle + 1;
    read_sectors(race, next, sent);
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

/* Runs the race; returns the data wavefronts of all groups. */
static unsigned run(struct race *race)
{
    unsigned total = 0;
    unsigned flushed = 0; /* waves in groups */
    unsigned entered = 0;
    unsigned stall = 0;
    uint32_t busy = 0;

    for (uint32_t cycle = 0; flushed < race->waves || race->drained < race->queued; cycle++) {
        drain(race, cycle);
        if (entered < race->waves && enter(race, entered, cycle)) {
            entered++;
            continue;
        }
        if (entered == flushed)
            continue;
        stall++;
        if ((stall >= 2 || entered == race->waves) && cycle >= busy) {
            const unsigned passes = flush(race, flushed, entered, cycle);

            total += passes;
            busy = cycle + passes;
            flushed = entered;
            stall = 0;
        }
    }
    return total;
}

/* Narrow lanes: a group's words are written from some cycles after its flush on, every second cycle one word a bank, but
 * not into banks from which an earlier group's sector is being read. Every attempt counts. */
static unsigned narrow_passes(const struct race *race, unsigned group)
{
    const struct group *writing = &race->group[group];
    uint8_t left[32] = {0};
    uint32_t waiting = 0;
    unsigned attempts = 0;

    for (unsigned w = writing->first_wave; w < writing->first_wave + writing->waves; w++) {
        for (unsigned i = 0; i < race->wave[w].lines; i++) {
            for (uint32_t rest = race->lines->banks[race->wave[w].line[i]][0]; rest; rest &= rest - 1) {
                left[wmi_log2(rest)]++;
                waiting |= rest & (0 - rest);
            }
        }
    }
    for (int64_t cycle = (int64_t)writing->cycle + race->profile->store_write_cycles; waiting; cycle += 2) {
        uint32_t blocked = 0;

        for (unsigned i = 0; i < race->readings; i++) {
            if (race->reading[i].cycle == cycle && race->reading[i].group < group)
                blocked |= race->reading[i].banks;
        }
        for (uint32_t rest = waiting & ~blocked; rest; rest &= rest - 1) {
            if (--left[wmi_log2(rest)] == 0)
                waiting &= ~(rest & (0 - rest));
        }
        attempts++;
    }
    return attempts;
}

/* The race with the tag banks numbered as they are for base 0 .. 3: what the lines' address bits leave out. */
static unsigned passes_for_base(const struct wm_profile *profile, const struct wmi_lines *lines,
                                const uint8_t wavefront[WMI_LINES], const uint8_t bank[WMI_LINES], unsigned width_bytes,
                                unsigned base)
{
    struct race race = {.profile = profile, .lines = lines, .bank = bank};
    unsigned passes;

    race.slots = profile->store_merge[wmi_log2(width_bytes)];
    order_waves(&race, wavefront, base);
    passes = run(&race);
    if (width_bytes >= profile->bank_bytes)
        return passes;
    passes = 0;
    for (unsigned group = 0; group < race.groups; group++)
        passes += narrow_passes(&race, group);
    return passes;
}

unsigned wmi_store_passes(const struct wm_profile *profile, const struct wmi_lines *lines,
                          const uint8_t wavefront[WMI_LINES], unsigned wavefronts, unsigned width_bytes, int *exact)
{
    const unsigned banks = 1U << profile->tag_bank_bits;
    uint8_t bank[WMI_LINES];
    unsigned passes = 0;

    if (wavefronts <= profile->store_merge[wmi_log2(width_bytes)])
        return wmi_data_passes(lines, NULL, 0, 0);
    for (unsigned i = 0; i < lines->count; i++) {
        bank[i] = (uint8_t)wmi_tag_bank(profile, lines->index[i]);
        /* What lines of several sectors cost the drain is known to be no more than near. */
        if (lines->sectors[i] & (lines->sectors[i] - 1))
            *exact = 0;
    }
    /* How the banks are numbered beyond the address bits whose part in it is known is not known: where it matters, what
     * comes out is no more than near. */
    for (unsigned base = 0; base < banks; base++) {
        const unsigned other = passes_for_base(profile, lines, wavefront, bank, width_bytes, base);

        if (base == 0)
            passes = other;
        else if (other != passes)
            *exact = 0;
    }
    return passes;
}
