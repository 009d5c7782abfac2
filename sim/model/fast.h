/*
 * The fast path of the model: loads and stores of full-speed profiles, in one pass over vectors of lanes.
 *
 * Not a header in the usual sense: each fast_*.c defines WMI_TARGET and WMI_INLINE (attributes of functions, and of
 * those to be inlined), WMI_FAST (the name of the function) and the types and primitives below for one instruction set,
 * then includes this file. The rules are those of shared.c and global.c, which stay the reference: an access that does
 * not fit here is left to them, and a test compares the two on random accesses.
 *
 *     struct vec                    one 32-bit number for each lane
 *     struct reading                the addresses of an access: any: the OR of all; differ: the bits in which they are
 *                                   not all the same; low: their low 32 bits; stride: from lane 0 to lane 1, if both
 *                                   are active; and what line_ids() needs
 *
 *     read_lanes(address, active, r)
 *                                   fills *r. Addresses of inactive lanes are never used: in their place stands that of
 *                                   the active lane before, of the first active lane where there is none before
 *     line_ids(r, line)             low 32 bits of each lane's line
 *     shift_right(v, count, out)
 *     ascends(r)                    whether no r->low is below the one before it
 *     changes(r, shift)             bit i: r->low[i] >> shift differs from r->low[i - 1] >> shift; bit 0 is set
 *     is_strided(r)                 whether every r->low is that of the lane before plus r->stride (modulo 2^32)
 *     firsts(v)                     bit i: no lane before i has the number of lane i
 *     equal_to(v, lane)             bit i: v[i] is v[lane]
 *     pairs_share(v)                bit 0: v[i] is v[i ^ 1] for all lanes; bit 1: the same for i ^ 2
 *     tag_bits(line, profile, bit)  bit i of bit[k]: bit k of the tag bank of lane i. Bits that all lanes' lines have in
 *                                   common may be left out: that renames the banks, and names do not matter
 *     bank_masks(low, words, out)   out[i] = `words` bits from bit (low[i] >> 2) & 31 on
 *     add_phase(v, phases, out)     v[i] | number of the phase of lane i << 30
 *     keep(v, lanes, out)           v[i] of those lanes, 0 of the others
 *     put(v, lane, value)           v[lane] |= value
 *     or_of(v, lanes)               OR of v[i] over those lanes
 *     merge_runs(v, starts)         a run goes from one bit of starts to before the next: its first lane gets the OR of
 *                                   the run, its other lanes 0; bit 0 of starts is set
 *     count_phases(v, phases, out)  in each phase by itself: the most lanes whose v has the same bit
 *     passes_by_wavefront(v, phases, set, wavefronts, busy)
 *                                   sum over phases p and w < wavefronts: the most lines that share a bit of v[p],
 *                                   among the w-th line of each of the four sets; *busy: how many have any
 */

/* Lanes of a phase, by number of phases and of the phase. */
WMI_INLINE uint32_t phase_lanes(unsigned phases, unsigned phase)
{
    return phases == 1 ? UINT32_MAX : (uint32_t)(((UINT64_C(1) << 32 / phases) - 1) << 32 / phases * phase);
}

/* The first lane of each phase. */
WMI_INLINE uint32_t phase_starts(unsigned phases)
{
    return phases == 1 ? 1 : phases == 2 ? UINT32_C(0x00010001) : UINT32_C(0x01010101);
}

#ifdef WMI_VEC_IN_MEMORY
/* These are for instruction sets whose struct vec can be seen as an array, `at`. `numbers`: a vector of 32-bit numbers, as
 * the compiler knows them for any processor. */

WMI_INLINE void put(struct vec *v, unsigned lane, uint32_t value)
{
    v->at[lane] |= value;
}

WMI_INLINE void merge_runs(struct vec *v, uint32_t starts)
{
    uint32_t merged = 0;

    for (unsigned lane = WM_LANES; lane-- > 0;) {
        const uint32_t is_start = 0U - (starts >> lane & 1);

        merged |= v->at[lane];
        v->at[lane] = merged & is_start;
        merged &= ~is_start;
    }
}

/* Gives inactive lanes the address of the active lane before them, those at the front that of the first. */
WMI_INLINE void fill_lanes(const uint64_t address[WM_LANES], uint32_t active, uint64_t filled[WM_LANES])
{
    uint64_t last = address[wmi_log2(active)];

    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        last = active >> lane & 1 ? address[lane] : last;
        filled[lane] = last;
    }
}

/* For each of several fours of lines, whose banks stand in rows: the most that share a bank, summed. Rows are a multiple of
 * a `numbers` (a vector of the compiler's) long. Adds the fours that have any bank to *busy. */
WMI_INLINE unsigned degrees_of_four(const uint32_t line[4][WM_LANES], unsigned fours, unsigned *busy)
{
    const unsigned step = sizeof(numbers) / sizeof(uint32_t);
    numbers any = {0}, more = {0};
    unsigned passes = 0;

    for (unsigned i = 0; i < fours; i += step) {
        numbers a, b, c, d;

        memcpy(&a, &line[0][i], sizeof a);
        memcpy(&b, &line[1][i], sizeof b);
        memcpy(&c, &line[2][i], sizeof c);
        memcpy(&d, &line[3][i], sizeof d);
        /* a comparison gives all bits, which is -1 */
        any -= (numbers)((a | b | c | d) != 0);
        more -= (numbers)(((a & b) | (c & d) | ((a | b) & (c | d))) != 0);
        more -= (numbers)(((a & b & (c | d)) | (c & d & (a | b))) != 0);
        more -= (numbers)((a & b & c & d) != 0);
    }
    for (unsigned i = 0; i < step; i++) {
        *busy += any[i];
        passes += any[i] + more[i];
    }
    return passes;
}

/* Takes the first line out of a set and returns its banks; banks[WM_LANES] where the set is empty. */
WMI_INLINE uint32_t take_line(const uint32_t banks[WM_LANES + 1], uint32_t *set)
{
    const int leader = __builtin_ctzll(*set | UINT64_C(1) << WM_LANES);

    *set &= *set - 1;
    return banks[leader];
}

WMI_INLINE unsigned passes_by_wavefront(const struct vec *banks, unsigned phases, const uint32_t set[4],
                                        unsigned wavefronts, unsigned *busy)
{
    const unsigned step = sizeof(numbers) / sizeof(uint32_t);
    const unsigned rows = (wavefronts + step - 1) & ~(step - 1);
    unsigned passes = 0;

    *busy = 0;
    for (unsigned phase = 0; phase < phases; phase++) {
        uint32_t line[4][WM_LANES];
        uint32_t here[WM_LANES + 1];
        uint32_t rest[4] = {set[0], set[1], set[2], set[3]};

        memcpy(here, banks[phase].at, sizeof banks[phase].at);
        here[WM_LANES] = 0;
        for (unsigned bank = 0; bank < 4; bank++)
            memset(&line[bank][rows - step], 0, sizeof(numbers));
        for (unsigned w = 0; w < wavefronts; w++) {
            line[0][w] = take_line(here, &rest[0]);
            line[1][w] = take_line(here, &rest[1]);
            line[2][w] = take_line(here, &rest[2]);
            line[3][w] = take_line(here, &rest[3]);
        }
        passes += degrees_of_four((const uint32_t(*)[WM_LANES])line, rows, busy);
    }
    return passes;
}
#endif

/* The bits of an address that choose the bank. */
#define BANK_BITS UINT64_C(0x7C)

/* The lines of an access, each named by its first lane, its leader. */
struct fast_lines {
    uint32_t leaders;    /* bit i: lane i is the first of its line */
    unsigned sectors;    /* distinct sectors */
    unsigned distinct;   /* distinct addresses */
    struct vec id;       /* each lane's line */
    struct vec banks[4]; /* by phase: the banks that its lanes touch in a line, at the line's leader */
};

/* Sectors that banks belong to: eight banks are one. */
WMI_INLINE unsigned sectors_of(uint32_t banks)
{
    banks |= banks >> 4;
    banks |= banks >> 2;
    banks |= banks >> 1;
    return wmi_popcount(banks & UINT32_C(0x01010101));
}

/* Equal words of a phase are left once, in addresses that never descend. *own: each lane's banks. */
WMI_INLINE void merge_ascending(const struct reading *r, uint32_t active, unsigned phases, struct vec *own)
{
    const uint32_t starts = changes(r, 2) | phase_starts(phases);

    if (active == UINT32_MAX || phases == 1)
        keep(own, starts, own); /* what inactive lanes repeat is there anyway */
    else {
        keep(own, active, own);
        merge_runs(own, starts);
    }
}

/*
 * Passes of each phase, where addresses ascend at equal distances; 0 where they do not, or lanes are inactive. There are
 * as many lanes in a phase as groups of `words` banks. Lanes come to every step-th group, step being the largest power
 * of two that divides their distance in groups.
 */
WMI_INLINE unsigned passes_of_stride(const struct reading *r, uint32_t active, unsigned words)
{
    const unsigned lanes = WM_LANES / words;
    const uint32_t distance = r->stride / (4 * words);
    const uint32_t step = distance & (0U - distance);

    if (active != UINT32_MAX || r->stride % (4 * words) || !is_strided(r))
        return 0;
    return step < lanes ? step : lanes;
}

/* Banks of lines from those of runs of lanes that begin at a line's or a phase's first lane. */
WMI_INLINE void split_phases(const struct vec *merged, uint32_t leaders, unsigned phases, struct vec banks[4])
{
    for (unsigned phase = 0; phase < phases; phase++) {
        const uint32_t here = phase_lanes(phases, phase);
        const uint32_t start = here & (0U - here);

        keep(merged, here & leaders, &banks[phase]);
        if (!(start & leaders)) {
            /* the line began in a phase before: its leader is the last one below */
            const unsigned leader = 31U - (unsigned)__builtin_clz(leaders & (start - 1));

            put(&banks[phase], leader, or_of(merged, start));
        }
    }
}

/* Lines of any order: equal ones are looked for. Returns 0 where that is left to the reference. */
WMI_INLINE int gather_lines(const struct reading *r, uint32_t active, unsigned width, unsigned phases,
                            struct fast_lines *lines)
{
    struct vec own;
    uint32_t rest;

    bank_masks(&r->low, phases, &own);
    keep(&own, active, &own);
    line_ids(r, &lines->id);
    lines->leaders = firsts(&lines->id);
    lines->sectors = wmi_popcount(lines->leaders);
    lines->distinct = lines->sectors;
    for (unsigned phase = 0; phase < phases; phase++)
        keep(&own, lines->leaders & phase_lanes(phases, phase), &lines->banks[phase]);
    rest = ~lines->leaders; /* those of a line that is led by another */
    while (rest) {
        const uint32_t same = equal_to(&lines->id, wmi_log2(rest));
        const unsigned leader = wmi_log2(same);
        const uint32_t all = or_of(&own, same);

        rest &= ~same;
        lines->sectors += sectors_of(all) - 1;
        lines->distinct += wmi_popcount(all) / phases - 1;
        for (unsigned phase = 0; phase < phases; phase++)
            put(&lines->banks[phase], leader, or_of(&own, same & phase_lanes(phases, phase)));
    }
    if (width < 4 && lines->leaders != UINT32_MAX) {
        if (r->differ >> 32)
            return 0;
        lines->distinct = wmi_popcount(firsts(&r->low));
    }
    return 1;
}

/* Lines by tag bank: bit i of set[b] is leader i in bank b. Returns the largest number. */
WMI_INLINE unsigned tag_sets(const struct wm_profile *profile, const struct fast_lines *lines, uint32_t set[4])
{
    uint32_t bit[2];
    unsigned most = 0;

    tag_bits(&lines->id, profile, bit);
    set[0] = lines->leaders & ~bit[0] & ~bit[1];
    set[1] = lines->leaders & bit[0] & ~bit[1];
    set[2] = lines->leaders & ~bit[0] & bit[1];
    set[3] = lines->leaders & bit[0] & bit[1];
    WMI_UNROLL
    for (unsigned bank = 0; bank < 4; bank++)
        most = wmi_popcount(set[bank]) > most ? wmi_popcount(set[bank]) : most;
    return most;
}

/* Data passes of lines, all their tag wavefronts together. */
WMI_INLINE unsigned passes_of_lines(const struct vec *banks, unsigned phases)
{
    unsigned passes = 0;

    for (unsigned phase = 0; phase < phases; phase++) {
        struct wmi_phase_counts counts;

        count_phases(&banks[phase], 1, &counts);
        passes += counts.sum;
    }
    return passes;
}

/* Data passes of all lines together. */
WMI_INLINE unsigned passes_together(const struct reading *r, uint32_t active, const struct fast_lines *lines,
                                    unsigned phases, int ascending)
{
    const unsigned strided = ascending ? passes_of_stride(r, active, phases) : 0;
    struct wmi_phase_counts counts;
    struct vec own;

    if (strided)
        return strided * phases;
    if (!ascending && lines->leaders != UINT32_MAX)
        return passes_of_lines(lines->banks, phases);
    bank_masks(&r->low, phases, &own);
    if (ascending)
        merge_ascending(r, active, phases, &own);
    count_phases(&own, phases, &counts);
    return counts.sum;
}

/* Most tag wavefronts whose data passes are those of all lines together. */
WMI_INLINE unsigned merged_wavefronts(const struct wm_profile *profile, const struct wm_access *access)
{
    if (access->opcode.operation == WM_ST)
        return profile->store_merge[wmi_log2(access->opcode.width_bytes)];
    return wmi_hits_l1(access) ? WM_LANES : 1;
}

/* Lines of addresses that never descend: equal ones are neighbours. */
WMI_INLINE void ascending_lines(const struct reading *r, struct fast_lines *lines)
{
    shift_right(&r->low, WMI_LINE_SHIFT, &lines->id);
    lines->leaders = changes(r, WMI_LINE_SHIFT);
    lines->sectors = wmi_popcount(changes(r, WMI_SECTOR_SHIFT));
    lines->distinct = wmi_popcount(changes(r, 0));
}

/* Their banks. */
WMI_INLINE void ascending_banks(const struct reading *r, uint32_t active, unsigned phases, struct fast_lines *lines)
{
    struct vec own;

    bank_masks(&r->low, phases, &own);
    keep(&own, active, &own);
    if (lines->leaders != UINT32_MAX)
        merge_runs(&own, lines->leaders | phase_starts(phases));
    split_phases(&own, lines->leaders, phases, lines->banks);
}

/* Phases with an active lane. */
WMI_INLINE unsigned busy_phases(uint32_t active, unsigned phases)
{
    unsigned busy = 0;

    for (unsigned phase = 0; phase < phases; phase++)
        busy += (active & phase_lanes(phases, phase)) != 0;
    return busy;
}

/* Busy phases of each tag wavefront, added up, where every lane has a line of its own: those of a bank's lines that a phase
 * has are in wavefronts one after the other. */
WMI_INLINE unsigned busy_by_wavefront(const uint32_t set[4], unsigned phases, unsigned wavefronts)
{
    unsigned first[4] = {0};
    unsigned busy = 0;

    if (phases == 1)
        return wavefronts;
    for (unsigned phase = 0; phase < phases; phase++) {
        uint64_t in = 0; /* bit w: the phase has a line in wavefront w */

        WMI_UNROLL
        for (unsigned bank = 0; bank < 4; bank++) {
            const unsigned lines = wmi_popcount(set[bank] & phase_lanes(phases, phase));

            in |= ((UINT64_C(1) << lines) - 1) << first[bank];
            first[bank] += lines;
        }
        busy += wmi_popcount((uint32_t)in);
    }
    return busy;
}

/* Passes for each phase whose results go to the registers: a store has none. */
WMI_INLINE unsigned write_back_passes(const struct wm_profile *profile, const struct wm_access *access)
{
    return access->opcode.operation == WM_LD ? profile->write_back_passes : 0;
}

/* Global accesses that touch more than one line. */
WMI_INLINE int fast_global(const struct wm_profile *profile, const struct wm_access *access, const struct reading *r,
                           struct wm_counts *out)
{
    const unsigned width = access->opcode.width_bytes;
    const unsigned phases = width > 4 ? width / 4 : 1;
    const unsigned merged = merged_wavefronts(profile, access);
    const int ascending = !(r->differ >> 32) && ascends(r);
    struct fast_lines lines;
    uint32_t set[4];
    unsigned wavefronts;
    unsigned passes;
    unsigned busy;

    if (ascending)
        ascending_lines(r, &lines);
    else if (!gather_lines(r, access->mask, width, phases, &lines))
        return 0;
    wavefronts = tag_sets(profile, &lines, set);
    if (access->opcode.operation == WM_ST && wavefronts > merged)
        return 0; /* a race against the drain to L2: store.c runs it */
    if (lines.leaders == UINT32_MAX && !(r->differ & BANK_BITS)) {
        passes = WM_LANES; /* all in one bank, each in a line of its own */
        busy = wavefronts <= merged ? phases : busy_by_wavefront(set, phases, wavefronts);
    } else if (wavefronts <= merged) {
        passes = passes_together(r, access->mask, &lines, phases, ascending);
        busy = busy_phases(access->mask, phases);
    } else {
        if (ascending)
            ascending_banks(r, access->mask, phases, &lines);
        passes = passes_by_wavefront(lines.banks, phases, set, wavefronts, &busy);
    }
    *out = (struct wm_counts){
        .requests = 1,
        .lines = wmi_popcount(lines.leaders),
        .sectors = lines.sectors,
        .sectors_ideal = (lines.distinct * width + 31) / 32,
        .tag_wavefronts = wavefronts,
        .lsu_wavefronts = passes,
        .l2_requests = wmi_popcount(lines.leaders),
        .l2_sectors = lines.sectors,
        .lsu_writeback = busy * write_back_passes(profile, access),
    };
    return 1;
}

/* write_back: passes for each phase's results. */
WMI_INLINE void shared_result(unsigned wavefronts, unsigned busy, unsigned ways, unsigned write_back,
                              struct wm_counts *out)
{
    *out = (struct wm_counts){
        .shared_wavefronts = wavefronts,
        .shared_wavefronts_ideal = busy,
        .bank_conflicts = wavefronts - busy,
        .ways = ways,
        .lsu_writeback = busy * write_back,
    };
}

/* Shared accesses that touch more than one row of banks. */
WMI_INLINE int fast_shared(const struct wm_profile *profile, const struct wm_access *access, const struct reading *r,
                           unsigned words, unsigned phases, struct wm_counts *out)
{
    const unsigned write_back = write_back_passes(profile, access);
    const int ascending = ascends(r);
    const unsigned strided = ascending && phases == words ? passes_of_stride(r, access->mask, words) : 0;
    struct wmi_phase_counts counts;
    struct vec own;

    if (strided) {
        shared_result(strided * phases, phases, strided, write_back, out);
        return 1;
    }
    bank_masks(&r->low, words, &own);
    if (ascending) {
        merge_ascending(r, access->mask, phases, &own);
    } else {
        struct vec word;

        if (phases > 1 && access->mask != UINT32_MAX)
            return 0;
        shift_right(&r->low, 2, &word);
        add_phase(&word, phases, &word);
        keep(&own, firsts(&word), &own);
    }
    count_phases(&own, phases, &counts);
    shared_result(counts.sum, counts.busy, counts.most, write_back, out);
    return 1;
}

/* One line, or one row of banks: equal words merge, others are in different banks. */
WMI_INLINE void fast_one_line(const struct wm_profile *profile, const struct wm_access *access,
                              const struct reading *r, unsigned phases, struct wm_counts *out)
{
    const unsigned width = access->opcode.width_bytes;
    const unsigned words = width > 4 ? width / 4 : 1;
    const unsigned busy = phases == 1 ? 1 : busy_phases(access->mask, phases);
    const unsigned write_back = write_back_passes(profile, access);
    struct vec own;
    uint32_t banks;
    unsigned distinct;

    if (access->opcode.space == WM_SHARED) {
        shared_result(busy, busy, 1, write_back, out);
        return;
    }
    bank_masks(&r->low, words, &own);
    banks = or_of(&own, UINT32_MAX);
    if (width >= 4)
        distinct = wmi_popcount(banks) / words;
    else
        distinct = wmi_popcount(ascends(r) ? changes(r, 0) : firsts(&r->low));
    *out = (struct wm_counts){
        .requests = 1,
        .lines = 1,
        .sectors = sectors_of(banks),
        .sectors_ideal = (distinct * width + 31) / 32,
        .tag_wavefronts = 1,
        .lsu_wavefronts = busy,
        .l2_requests = 1,
        .l2_sectors = sectors_of(banks),
        .lsu_writeback = busy * write_back,
    };
}

WMI_TARGET int WMI_FAST(const struct wm_profile *profile, const struct wm_access *access, uint64_t refused,
                        struct wm_counts *out)
{
    const unsigned width = access->opcode.width_bytes;
    const unsigned words = width > 4 ? width / 4 : 1;
    const int is_shared = access->opcode.space == WM_SHARED;
    unsigned phases = words;
    struct reading r;

    read_lanes(access->address, access->mask, &r);
    if ((r.any & refused) | r.differ >> (32 + WMI_LINE_SHIFT))
        return 0;
    if (is_shared && phases > 1 && access->opcode.operation == WM_LD) {
        if (access->mask != UINT32_MAX)
            return 0; /* which lanes count as partners is the reference's to say */
        if (pairs_share(&r.low) & profile->load_merge)
            phases /= 2;
    }
    if (!(r.differ >> WMI_LINE_SHIFT)) {
        fast_one_line(profile, access, &r, phases, out);
        return 1;
    }
    if (is_shared)
        return fast_shared(profile, access, &r, words, phases, out);
    return fast_global(profile, access, &r, out);
}
