/*
 * The fast path of the model: loads and stores of full-speed profiles, in one pass over vectors of lanes.
 *
 * Not a header in the usual sense: each fast_*.c defines WMI_TARGET (a target attribute), WMI_FAST (the name of the
 * function) and the primitives below for one instruction set, then includes this file. The rules are those of
 * shared.c and global.c, which stay the reference: an access that does not fit here is left to them, and a test compares
 * the two on random accesses.
 *
 *     any_bits(address)                OR of all addresses
 *     changes(address, shift)          bit i: address[i] >> shift differs from address[i - 1] >> shift; bit 0 is set
 *     descends(address)                whether any address is below the one before it (all are below 2^63)
 *     parities(address, profile, set)  bit i of set[k]: bit k of the tag bank of lane i
 *     bank_masks(address, words, out)  out[i] = `words` bits from bit (address[i] >> 2) & 31 on
 *     merge_runs(starts, banks)        a run goes from one bit of starts to before the next: its first lane gets the OR
 *                                      of the run's banks, its other lanes 0; bit 0 of starts is set
 *                                      (here, unless WMI_OWN_MERGE_RUNS is defined)
 *     busiest(banks)                   the largest number of lanes whose banks have the same bit
 *
 * They take 32 addresses. A partial mask is made whole before they see it: an inactive lane repeats the address of an
 * active neighbour, and touches no bank.
 */

#ifndef WMI_OWN_MERGE_RUNS
WMI_TARGET static inline void merge_runs(uint32_t starts, uint32_t banks[WM_LANES])
{
    uint32_t merged = 0;

    for (unsigned lane = WM_LANES; lane-- > 0;) {
        const uint32_t is_start = 0U - (starts >> lane & 1);

        merged |= banks[lane];
        banks[lane] = merged & is_start;
        merged &= ~is_start;
    }
}
#endif

/* Lines in the order of their first lane, their leader, by which they are named. */
struct fast_lines {
    uint32_t leaders;  /* bit i: lane i is the first of its line */
    uint32_t sectors;  /* distinct sectors */
    uint32_t distinct; /* distinct addresses */
    /* [phase][leader]: banks that the line's lanes touch in that phase; 0 for lanes that lead no line, and at WM_LANES,
     * where looking for a line that is not there ends */
    uint32_t banks[4][WM_LANES + 8];
};

/* Slots of the hash table over lines: few enough to clear quickly, many enough that two of 32 lines rarely meet. */
#define FAST_SLOTS 512U

/* Four masks of lines: the most of them that share a bank. */
WMI_TARGET static inline unsigned degree_of_four(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t ab = a & b;
    const uint32_t cd = c & d;
    const uint32_t a_or_b = a | b;
    const uint32_t c_or_d = c | d;

    return (unsigned)((a_or_b | c_or_d) != 0) + (unsigned)((ab | cd | (a_or_b & c_or_d)) != 0) +
           (unsigned)(((ab & c_or_d) | (cd & a_or_b)) != 0) + (unsigned)((ab & cd) != 0);
}

/* Takes the first leader out of a set and returns its banks; 0 where the set is empty. */
WMI_TARGET static inline uint32_t take_line(const uint32_t banks[WM_LANES + 8], uint32_t *set)
{
    const unsigned leader = *set ? wmi_log2(*set) : WM_LANES;

    *set &= *set - 1;
    return banks[leader];
}

/* The most lines of a phase that share a bank. */
WMI_TARGET static inline unsigned degree_of_phase(const struct fast_lines *lines, unsigned phase)
{
    const uint32_t *banks = lines->banks[phase];
    uint32_t rest = lines->leaders;

    if (wmi_popcount(rest) > 4)
        return busiest(banks);
    if ((rest & (rest - 1)) == 0)
        return banks[wmi_log2(rest)] != 0;
    {
        const uint32_t a = take_line(banks, &rest);
        const uint32_t b = take_line(banks, &rest);
        const uint32_t c = take_line(banks, &rest);
        const uint32_t d = take_line(banks, &rest);

        return degree_of_four(a, b, c, d);
    }
}

/* Lines of addresses that never descend: equal lines are neighbours. On entry lines->banks[0] is each lane's own banks. */
WMI_TARGET static inline void group_ascending(const uint64_t address[WM_LANES], unsigned phases, struct fast_lines *lines)
{
    const unsigned phase_lanes = WM_LANES / phases;
    static const uint32_t phase_starts[] = {0, 0x1, 0x00010001, 0, 0x01010101};
    uint32_t merged[WM_LANES];
    unsigned leader = 0;

    lines->leaders = changes(address, WMI_LINE_SHIFT);
    lines->sectors = wmi_popcount(changes(address, WMI_SECTOR_SHIFT));
    lines->distinct = wmi_popcount(changes(address, 0));
    if (phases == 1) {
        if (lines->leaders != UINT32_MAX)
            merge_runs(lines->leaders, lines->banks[0]);
        return;
    }
    memcpy(merged, lines->banks[0], sizeof merged);
    merge_runs(lines->leaders | phase_starts[phases], merged);
    memset(lines->banks, 0, phases * sizeof lines->banks[0]);
    for (uint32_t rest = lines->leaders | phase_starts[phases]; rest; rest &= rest - 1) {
        const unsigned lane = wmi_log2(rest);

        leader = lines->leaders >> lane & 1 ? lane : leader;
        lines->banks[lane / phase_lanes][leader] = merged[lane];
    }
}

/* Lines of addresses in any order. On entry lines->banks[0] is each lane's own banks. */
WMI_TARGET static inline void group_any(const uint64_t address[WM_LANES], unsigned words, unsigned phases,
                                        struct fast_lines *lines)
{
    const unsigned phase_shift = wmi_log2(WM_LANES / phases);
    uint8_t slots[FAST_SLOTS];
    uint16_t slot_of_lane[WM_LANES];
    uint32_t own[WM_LANES];
    uint8_t sectors[WM_LANES] = {0};
    uint64_t packed[WM_LANES / 8];
    unsigned bits = 0;
    uint32_t leaders = 0;

    memset(slots, 0, sizeof slots);
    memcpy(own, lines->banks[0], sizeof own);
    memset(lines->banks, 0, phases * sizeof lines->banks[0]);
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        const uint32_t folded = (uint32_t)(address[lane] >> WMI_LINE_SHIFT) ^ (uint32_t)(address[lane] >> 39);

        slot_of_lane[lane] = (uint16_t)((folded * UINT32_C(0x9E3779B1)) >> 23);
    }
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        unsigned slot = slot_of_lane[lane];
        unsigned leader = lane;

        while (slots[slot] && (address[slots[slot] - 1U] ^ address[lane]) >> WMI_LINE_SHIFT)
            slot = (slot + 1) % FAST_SLOTS;
        if (slots[slot]) {
            leader = slots[slot] - 1U;
        } else {
            slots[slot] = (uint8_t)(lane + 1);
            leaders |= UINT32_C(1) << lane;
        }
        lines->banks[lane >> phase_shift][leader] |= own[lane];
        sectors[leader] |= (uint8_t)(1U << (address[lane] >> WMI_SECTOR_SHIFT & 3));
    }
    lines->leaders = leaders;
    memcpy(packed, sectors, sizeof packed);
    lines->sectors = 0;
    for (unsigned i = 0; i < WM_LANES / 8; i++)
        lines->sectors += (uint32_t)__builtin_popcountll(packed[i]);
    /* Every distinct address of 4 bytes or more is `words` bits of its line. */
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        uint32_t all = lines->banks[0][lane];

        for (unsigned phase = 1; phase < phases; phase++)
            all |= lines->banks[phase][lane];
        bits += wmi_popcount(all);
    }
    lines->distinct = bits / words;
}

/* Lines by tag bank: bit i of set[b] is leader i in bank b. */
WMI_TARGET static inline unsigned tag_sets(const struct wm_profile *profile, const uint64_t address[WM_LANES],
                                           uint32_t leaders, uint32_t set[4])
{
    uint32_t bit[2];
    unsigned most = 0;

    if ((leaders & (leaders - 1)) == 0) {
        set[0] = leaders;
        set[1] = set[2] = set[3] = 0;
        return 1;
    }
    parities(address, profile, bit);
    set[0] = leaders & ~bit[0] & ~bit[1];
    set[1] = leaders & bit[0] & ~bit[1];
    set[2] = leaders & ~bit[0] & bit[1];
    set[3] = leaders & bit[0] & bit[1];
    for (unsigned bank = 0; bank < 4; bank++)
        most = wmi_popcount(set[bank]) > most ? wmi_popcount(set[bank]) : most;
    return most;
}

/* Data passes with every tag wavefront by itself. */
WMI_TARGET static inline unsigned passes_by_wavefront(const struct fast_lines *lines, const uint32_t set[4],
                                                      unsigned wavefronts, unsigned phases)
{
    unsigned passes = 0;

    if (wavefronts == 1 && (lines->leaders & (lines->leaders - 1)) == 0) {
        for (unsigned phase = 0; phase < phases; phase++)
            passes += lines->banks[phase][wmi_log2(lines->leaders)] != 0;
        return passes;
    }
    for (unsigned phase = 0; phase < phases; phase++) {
        const uint32_t *banks = lines->banks[phase];
        uint32_t set0 = set[0];
        uint32_t set1 = set[1];
        uint32_t set2 = set[2];
        uint32_t set3 = set[3];

        for (unsigned w = 0; w < wavefronts; w++) {
            const uint32_t a = take_line(banks, &set0);
            const uint32_t b = take_line(banks, &set1);
            const uint32_t c = take_line(banks, &set2);
            const uint32_t d = take_line(banks, &set3);

            passes += degree_of_four(a, b, c, d);
        }
    }
    return passes;
}

/* Data passes of a store: the first tag wavefronts together, each later one by itself. */
WMI_TARGET static inline unsigned passes_of_store(const struct wm_profile *profile, unsigned width,
                                                  struct fast_lines *lines, uint32_t set[4], unsigned wavefronts,
                                                  unsigned phases)
{
    const unsigned merged = profile->store_merge[wmi_log2(width)];
    unsigned passes = 0;

    if (wavefronts > merged) {
        uint32_t later = 0;

        for (unsigned bank = 0; bank < 4; bank++) {
            for (unsigned w = 0; w < merged; w++)
                set[bank] &= set[bank] - 1;
            later |= set[bank];
        }
        passes = passes_by_wavefront(lines, set, wavefronts - merged, phases);
        lines->leaders &= ~later;
        for (; later; later &= later - 1) {
            for (unsigned phase = 0; phase < phases; phase++)
                lines->banks[phase][wmi_log2(later)] = 0;
        }
    }
    for (unsigned phase = 0; phase < phases; phase++)
        passes += degree_of_phase(lines, phase);
    return passes;
}

WMI_TARGET static inline void fast_global(const struct wm_profile *profile, const struct wm_access *access,
                                          const uint64_t address[WM_LANES], struct fast_lines *lines, unsigned phases,
                                          struct wm_counts *out)
{
    const unsigned line_count = wmi_popcount(lines->leaders);
    uint32_t set[4];
    const unsigned wavefronts = tag_sets(profile, address, lines->leaders, set);
    unsigned passes = 0;

    if (access->opcode.operation == WM_ST) {
        passes = passes_of_store(profile, access->opcode.width_bytes, lines, set, wavefronts, phases);
    } else if (!wmi_hits_l1(access)) {
        passes = passes_by_wavefront(lines, set, wavefronts, phases);
    } else {
        for (unsigned phase = 0; phase < phases; phase++)
            passes += degree_of_phase(lines, phase);
    }
    *out = (struct wm_counts){
        .requests = 1,
        .lines = line_count,
        .sectors = lines->sectors,
        .sectors_ideal = (lines->distinct * access->opcode.width_bytes + 31) / 32,
        .tag_wavefronts = wavefronts,
        .lsu_wavefronts = passes,
        .l2_requests = line_count,
        .l2_sectors = lines->sectors,
    };
}

WMI_TARGET static inline void fast_shared(const struct fast_lines *lines, unsigned phases, struct wm_counts *out)
{
    unsigned wavefronts = 0;
    unsigned ways = 0;
    unsigned busy = 0;

    for (unsigned phase = 0; phase < phases; phase++) {
        const unsigned passes = degree_of_phase(lines, phase);

        wavefronts += passes;
        busy += passes > 0;
        ways = passes > ways ? passes : ways;
    }
    *out = (struct wm_counts){
        .shared_wavefronts = wavefronts,
        .shared_wavefronts_ideal = busy,
        .bank_conflicts = wavefronts - busy,
        .ways = ways,
    };
}

/* Which partners of a load share their addresses: bit 0: lanes i and i ^ 1, bit 1: lanes i and i ^ 2. */
WMI_TARGET static inline unsigned shared_pairs(const uint64_t address[WM_LANES])
{
    uint64_t by_one = 0;
    uint64_t by_two = 0;

    for (unsigned lane = 0; lane < WM_LANES; lane += 4) {
        by_one |= (address[lane] ^ address[lane + 1]) | (address[lane + 2] ^ address[lane + 3]);
        by_two |= (address[lane] ^ address[lane + 2]) | (address[lane + 1] ^ address[lane + 3]);
    }
    return (unsigned)(by_one == 0) | (unsigned)(by_two == 0) << 1;
}

/* Gives inactive lanes the address of the active lane before them, those at the front that of the first. */
WMI_TARGET static inline void fill_lanes(const uint64_t address[WM_LANES], uint32_t active, uint64_t filled[WM_LANES])
{
    uint64_t last = address[wmi_log2(active)];

    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        last = active >> lane & 1 ? address[lane] : last;
        filled[lane] = last;
    }
}

WMI_TARGET int WMI_FAST(const struct wm_profile *profile, const struct wm_access *access, uint64_t refused,
                        struct wm_counts *out)
{
    const unsigned width = access->opcode.width_bytes;
    const unsigned words = width > 4 ? width / 4 : 1;
    const int is_shared = access->opcode.space == WM_SHARED;
    const uint64_t *address = access->address;
    unsigned phases = words;
    uint64_t filled[WM_LANES];
    struct fast_lines lines;

    if (access->mask != UINT32_MAX) {
        if (is_shared && access->opcode.operation == WM_LD && phases > 1)
            return 0;
        fill_lanes(address, access->mask, filled);
        address = filled;
    }
    if (any_bits(address) & refused)
        return 0;
    if (is_shared && access->opcode.operation == WM_LD && phases > 1 && (shared_pairs(address) & profile->load_merge))
        phases /= 2;
    bank_masks(address, words, lines.banks[0]);
    for (unsigned phase = 0; phase < phases; phase++)
        lines.banks[phase][WM_LANES] = 0;
    if (access->mask != UINT32_MAX) {
        for (unsigned lane = 0; lane < WM_LANES; lane++)
            lines.banks[0][lane] &= 0U - (access->mask >> lane & 1);
    }
    if (!descends(address))
        group_ascending(address, phases, &lines);
    else if (width >= 4 || is_shared)
        group_any(address, words, phases, &lines);
    else
        return 0;
    if (is_shared)
        fast_shared(&lines, phases, out);
    else
        fast_global(profile, access, address, &lines, phases, out);
    return 1;
}
