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
 *
 * They take 32 addresses. A partial mask is made whole before they see it: an inactive lane repeats the address of an
 * active neighbour, and touches no bank.
 */

/* Lines in the order of their first lane, as lane numbers; and the banks that each one's lanes touch. */
struct fast_lines {
    uint32_t leaders;               /* bit i: lane i is the first of its line */
    uint32_t sectors;               /* distinct sectors */
    uint32_t distinct;              /* distinct addresses */
    uint32_t banks[4][WM_LANES];    /* [phase][leader] */
};

/* Slots of the hash table over lines: few enough to clear quickly, many enough that two of 32 lines rarely meet. */
#define FAST_SLOTS 512U

/* Four masks of lines in one tag wavefront: the most of them that share a bank. */
WMI_TARGET static inline unsigned degree_of_four(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t ab = a & b;
    const uint32_t cd = c & d;
    const uint32_t a_or_b = a | b;
    const uint32_t c_or_d = c | d;

    return (unsigned)((a_or_b | c_or_d) != 0) + (unsigned)((ab | cd | (a_or_b & c_or_d)) != 0) +
           (unsigned)(((ab & c_or_d) | (cd & a_or_b)) != 0) + (unsigned)((ab & cd) != 0);
}

/* The most lines of a set that share a bank. */
WMI_TARGET static inline unsigned degree_of_set(const uint32_t banks[WM_LANES], uint32_t set)
{
    uint32_t plane[6] = {0};
    uint32_t candidates = UINT32_MAX;
    unsigned max = 0;

    for (; set; set &= set - 1) {
        uint32_t carry = banks[wmi_log2(set)];

        for (unsigned k = 0; carry; k++) {
            const uint32_t next = plane[k] & carry;

            plane[k] ^= carry;
            carry = next;
        }
    }
    for (unsigned k = 6; k-- > 0;) {
        if (candidates & plane[k]) {
            candidates &= plane[k];
            max |= 1U << k;
        }
    }
    return max;
}

/* Lines of addresses that never descend: equal lines are neighbours. */
WMI_TARGET static inline void group_ascending(const uint64_t address[WM_LANES], const uint32_t mask[WM_LANES], unsigned phases,
                                              struct fast_lines *out)
{
    const unsigned phase_lanes = WM_LANES / phases;

    out->leaders = changes(address, WMI_LINE_SHIFT);
    out->sectors = wmi_popcount(changes(address, WMI_SECTOR_SHIFT));
    out->distinct = wmi_popcount(changes(address, 0));
    if (phases == 1 && out->leaders == UINT32_MAX) {
        memcpy(out->banks[0], mask, sizeof out->banks[0]);
        return;
    }
    if (phases == 1 && out->leaders == 1) {
        uint32_t all = 0;

        for (unsigned lane = 0; lane < WM_LANES; lane++)
            all |= mask[lane];
        out->banks[0][0] = all;
        return;
    }
    for (unsigned phase = 0; phase < phases; phase++)
        memset(out->banks[phase], 0, sizeof out->banks[phase]);
    for (uint32_t rest = out->leaders; rest; rest &= rest - 1) {
        const unsigned leader = wmi_log2(rest);
        const uint32_t later = rest & (rest - 1);
        const unsigned end = later ? wmi_log2(later) : WM_LANES;

        for (unsigned lane = leader; lane < end; lane++)
            out->banks[lane / phase_lanes][leader] |= mask[lane];
    }
}

/* Lines of addresses in any order. */
WMI_TARGET static inline void group_any(const uint64_t address[WM_LANES], const uint32_t mask[WM_LANES], unsigned words,
                                        unsigned phases, struct fast_lines *out)
{
    const unsigned phase_lanes = WM_LANES / phases;
    uint8_t slots[FAST_SLOTS];
    uint8_t slot_sectors[WM_LANES] = {0};
    uint64_t packed[WM_LANES / 8];
    unsigned bits = 0;

    memset(slots, 0, sizeof slots);
    for (unsigned phase = 0; phase < phases; phase++)
        memset(out->banks[phase], 0, sizeof out->banks[phase]);
    out->leaders = 0;
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        const uint64_t line = address[lane] >> WMI_LINE_SHIFT;
        unsigned slot = (unsigned)((line * UINT64_C(0x9E3779B97F4A7C15)) >> 55);
        unsigned leader = lane;

        while (slots[slot] && address[slots[slot] - 1U] >> WMI_LINE_SHIFT != line)
            slot = (slot + 1) % FAST_SLOTS;
        if (slots[slot]) {
            leader = slots[slot] - 1U;
        } else {
            slots[slot] = (uint8_t)(lane + 1);
            out->leaders |= UINT32_C(1) << lane;
        }
        out->banks[lane / phase_lanes][leader] |= mask[lane];
        slot_sectors[leader] |= (uint8_t)(1U << (address[lane] >> WMI_SECTOR_SHIFT & 3));
    }
    memcpy(packed, slot_sectors, sizeof packed);
    out->sectors = 0;
    for (unsigned i = 0; i < WM_LANES / 8; i++)
        out->sectors += (uint32_t)__builtin_popcountll(packed[i]);
    /* Every distinct address of 4 bytes or more is `words` bits of its line. */
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        uint32_t all = 0;

        for (unsigned phase = 0; phase < phases; phase++)
            all |= out->banks[phase][lane];
        bits += wmi_popcount(all);
    }
    out->distinct = bits / words;
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

/* Takes the first leader of a bank's set and returns its banks; 0 where the set is empty. */
WMI_TARGET static inline uint32_t take_line(const uint32_t banks[WM_LANES], uint32_t *set)
{
    uint32_t mask;

    if (!*set)
        return 0;
    mask = banks[wmi_log2(*set)];
    *set &= *set - 1;
    return mask;
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
        uint32_t rest[4] = {set[0], set[1], set[2], set[3]};

        for (unsigned w = 0; w < wavefronts; w++) {
            const uint32_t a = take_line(banks, &rest[0]);
            const uint32_t b = take_line(banks, &rest[1]);
            const uint32_t c = take_line(banks, &rest[2]);
            const uint32_t d = take_line(banks, &rest[3]);

            passes += degree_of_four(a, b, c, d);
        }
    }
    return passes;
}

/* Data passes of a store: the first tag wavefronts together, each later one by itself. */
WMI_TARGET static inline unsigned passes_of_store(const struct wm_profile *profile, unsigned width,
                                                  const struct fast_lines *lines, uint32_t set[4], unsigned wavefronts,
                                                  unsigned phases)
{
    const unsigned merged = profile->store_merge[wmi_log2(width)];
    uint32_t together = lines->leaders;
    unsigned passes = 0;

    if (wavefronts > merged) {
        for (unsigned bank = 0; bank < 4; bank++) {
            for (unsigned w = 0; w < merged; w++)
                set[bank] &= set[bank] - (set[bank] != 0);
            together &= ~set[bank];
        }
        passes = passes_by_wavefront(lines, set, wavefronts - merged, phases);
    }
    for (unsigned phase = 0; phase < phases; phase++)
        passes += degree_of_set(lines->banks[phase], together);
    return passes;
}

WMI_TARGET static inline void fast_global(const struct wm_profile *profile, const struct wm_access *access,
                                          const uint64_t address[WM_LANES], const struct fast_lines *lines, unsigned phases,
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
            passes += degree_of_set(lines->banks[phase], lines->leaders);
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
        const unsigned passes = degree_of_set(lines->banks[phase], lines->leaders);

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
    uint32_t mask[WM_LANES];
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
    bank_masks(address, words, mask);
    if (access->mask != UINT32_MAX) {
        for (unsigned lane = 0; lane < WM_LANES; lane++)
            mask[lane] &= 0U - (access->mask >> lane & 1);
    }
    if (!descends(address))
        group_ascending(address, mask, phases, &lines);
    else if (width >= 4 || is_shared)
        group_any(address, mask, words, phases, &lines);
    else
        return 0;
    if (is_shared)
        fast_shared(&lines, phases, out);
    else
        fast_global(profile, access, address, &lines, phases, out);
    return 1;
}
