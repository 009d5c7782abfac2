/* One access taken apart: by the functions that the counts come from, so that what is shown is what is counted. */
#include "model/model.h"

#include <string.h>

/* What is put together for one access. */
struct cut {
    const struct wm_profile *profile;
    const struct wm_access *access;
    struct wm_anatomy *out;
};

static struct wm_phase *new_phase(const struct cut *cut, uint32_t lanes, unsigned request, unsigned number)
{
    struct wm_phase *phase;

    if (!lanes || cut->out->phase_count == WM_ANATOMY_PHASES)
        return NULL;
    phase = &cut->out->phase[cut->out->phase_count++];
    phase->lanes = lanes;
    phase->request = (uint8_t)request;
    phase->number = (uint8_t)number;
    phase->repeats = 1;
    phase->scale = 1;
    return phase;
}

/* A lane's banks, as the phase lays them out. */
static uint32_t banks_of(const struct cut *cut, const struct wm_phase *phase, unsigned lane)
{
    const uint64_t address = cut->out->address[phase->request][lane] * phase->scale;
    const uint32_t banks = wmi_lane_banks(cut->profile, address, cut->out->request_bytes * phase->scale);
    uint32_t folded = 0;

    if (!phase->folded)
        return banks;
    for (unsigned bank = 0; bank < cut->profile->banks; bank++) {
        if (banks >> bank & 1)
            folded |= UINT32_C(1) << (bank & ~(unsigned)phase->folded);
    }
    return folded;
}

/* Whether two lanes want the same words. */
static int same_words(const struct cut *cut, const struct wm_phase *phase, unsigned a, unsigned b)
{
    const uint32_t width = cut->out->request_bytes * phase->scale;
    const uint32_t unit = (width > cut->profile->bank_bytes ? width : cut->profile->bank_bytes) / phase->scale;
    const uint64_t *address = cut->out->address[phase->request];

    return address[a] / unit == address[b] / unit;
}

/*
 * Gives each lane its pass: a bank serves one word in each, the lanes' words in the order of lanes; lanes at the same word
 * go together where that holds of the access. All words of a lane go at once: lanes are aligned to their width, so that
 * those which meet in one bank meet in all of theirs.
 */
static void place(const struct cut *cut, struct wm_phase *phase)
{
    uint8_t used[32] = {0}; /* words so far, by bank */

    for (uint32_t rest = phase->lanes; rest; rest &= rest - 1) {
        const unsigned lane = wmi_log2(rest);
        uint32_t before = cut->out->words_merge ? phase->lanes & ((UINT32_C(1) << lane) - 1) : 0;
        unsigned pass = 0;

        while (before && !same_words(cut, phase, wmi_log2(before), lane))
            before &= before - 1;
        if (before) {
            phase->pass[lane] = phase->pass[wmi_log2(before)];
            continue;
        }
        for (uint32_t banks = banks_of(cut, phase, lane); banks; banks &= banks - 1) {
            const unsigned bank = wmi_log2(banks);

            if (used[bank]++ > pass)
                pass = used[bank] - 1U;
        }
        phase->pass[lane] = (uint8_t)pass;
        if (pass + 1 > phase->passes)
            phase->passes = (uint8_t)(pass + 1);
    }
}

static void place_and_doubt(const struct cut *cut, struct wm_phase *phase)
{
    place(cut, phase);
    if (phase->passes > 1)
        cut->out->unsure |= WM_UNSURE_ORDER;
}

/* ---------------------------------------------------------------------------------------------------- shared memory */

static void cut_shared(const struct cut *cut)
{
    struct wm_anatomy *out = cut->out;
    const unsigned lanes = wmi_shared_phase_lanes(cut->profile, cut->access);

    out->path = WM_PATH_SHARED;
    out->phase_lanes = lanes;
    out->merge_distance = wmi_shared_merge(cut->profile, cut->access);
    out->words_merge = wmi_shared_words_merge(cut->profile, cut->access);
    for (unsigned first = 0; first < WM_LANES; first += lanes) {
        const uint32_t here = out->lanes & wmi_lane_range(first, lanes);
        struct wm_phase *phase = new_phase(cut, here, 0, first / lanes);
        uint32_t round[WM_LANES];

        if (!phase)
            continue;
        if (cut->access->opcode.atomic == WM_ATOMIC_CAS)
            phase->repeats = (uint8_t)cut->profile->cas_passes;
        phase->ideal_passes = out->words_merge ? 1 : (uint8_t)wmi_rounds(cut->access->address, here, round);
        place_and_doubt(cut, phase);
    }
}

/* --------------------------------------------------------------------------------------------------- lines and tags */

/* Adds lines with the lanes that touch them; wavefront: of each. */
static void add_lines(const struct cut *cut, unsigned request, uint32_t lanes, const struct wmi_lines *lines,
                      const uint8_t wavefront[WM_LANES])
{
    struct wm_anatomy *out = cut->out;
    const unsigned line_shift = wmi_log2(cut->profile->line_bytes);

    for (unsigned i = 0; i < lines->count && out->line_count < WM_ANATOMY_LINES; i++) {
        struct wm_line *line = &out->line[out->line_count++];

        line->address = lines->index[i] << line_shift;
        line->sectors = lines->sectors[i];
        line->request = (uint8_t)request;
        line->tag_bank = (uint8_t)wmi_tag_bank(cut->profile, lines->index[i]);
        line->wavefront = wavefront[i];
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            const unsigned lane = wmi_log2(rest);

            if (out->address[request][lane] >> line_shift == lines->index[i])
                line->lanes |= UINT32_C(1) << lane;
        }
    }
}

/* Which bytes and sectors of a line its lanes use. */
static void use_bytes(const struct wm_anatomy *out, struct wm_line *line)
{
    for (uint32_t rest = line->lanes; rest; rest &= rest - 1) {
        const unsigned lane = wmi_log2(rest);
        const unsigned first = (unsigned)(out->address[line->request][lane] - line->address);

        line->sector_lanes[first / out->sector_bytes] |= UINT32_C(1) << lane;
        for (unsigned byte = first; byte < first + out->request_bytes; byte++)
            line->bytes[byte / 64] |= UINT64_C(1) << byte % 64;
    }
}

/* ---------------------------------------------------------------------------------------------------- loads, stores */

/* Lanes whose lines are in the tag wavefronts first .. first + count - 1 of a request. */
static uint32_t lanes_in(const struct wm_anatomy *out, unsigned request, unsigned first, unsigned count)
{
    uint32_t lanes = 0;

    for (unsigned i = 0; i < out->line_count; i++) {
        const struct wm_line *line = &out->line[i];

        if (line->request == request && line->wavefront >= first && line->wavefront < first + count)
            lanes |= line->lanes;
    }
    return lanes;
}

/* The phases of lanes that share data wavefronts. count: their tag wavefronts; 0: whatever those are. */
static void add_phases(const struct cut *cut, unsigned request, uint32_t lanes, unsigned first_wavefront,
                       unsigned count, uint32_t cycle)
{
    const unsigned phase_lanes = cut->out->phase_lanes;

    for (unsigned first = 0; first < WM_LANES; first += phase_lanes) {
        struct wm_phase *phase =
            new_phase(cut, lanes & wmi_lane_range(first, phase_lanes), request, first / phase_lanes);

        if (!phase)
            continue;
        phase->first_wavefront = (uint8_t)first_wavefront;
        phase->wavefronts = (uint8_t)count;
        phase->cycle = cycle;
        place_and_doubt(cut, phase);
    }
}

/* Attempt number n among those of a group that wrote into a bank. */
static unsigned attempt_of(const uint32_t *written, unsigned attempts, unsigned bank, unsigned n)
{
    unsigned at = 0;

    for (; at + 1 < attempts; at++) {
        if ((written[at] >> bank & 1) && n-- == 0)
            break;
    }
    return at;
}

/* Lanes narrower than a bank, beyond the store's slots: the race says which banks were written in which attempt. */
static void add_attempts(const struct cut *cut, unsigned request, uint32_t lanes, const struct wmi_store_group *group,
                         const uint32_t *written)
{
    struct wm_phase *phase = new_phase(cut, lanes, request, 0);

    if (!phase)
        return;
    phase->first_wavefront = (uint8_t)group->first_wave;
    phase->wavefronts = (uint8_t)group->waves;
    phase->cycle = group->cycle + cut->profile->store_write_cycles;
    place_and_doubt(cut, phase);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const unsigned lane = wmi_log2(rest);

        phase->pass[lane] =
            (uint8_t)attempt_of(written, group->attempts, wmi_log2(banks_of(cut, phase, lane)), phase->pass[lane]);
    }
    phase->passes = (uint8_t)group->attempts;
}

static void add_store(const struct cut *cut, unsigned request, const struct wmi_lines *lines,
                      const uint8_t wavefront[WM_LANES], unsigned wavefronts)
{
    struct wm_anatomy *out = cut->out;
    struct wmi_store_plan plan = {.groups = 0};
    unsigned attempts = 0;
    int exact = 1;

    out->store_merge = cut->profile->store_merge[wmi_log2(out->request_bytes)];
    wmi_store_passes(cut->profile, lines, wavefront, wavefronts, out->request_bytes, &exact, &plan);
    if (!exact)
        out->unsure |= WM_UNSURE_GROUPS;
    if (plan.groups == 0)
        add_phases(cut, request, out->lanes, 0, wavefronts, 0);
    for (unsigned i = 0; i < plan.groups; i++) {
        const struct wmi_store_group *group = &plan.group[i];
        const uint32_t lanes = lanes_in(out, request, group->first_wave, group->waves);

        if (out->request_bytes < cut->profile->bank_bytes)
            add_attempts(cut, request, lanes, group, plan.written + attempts);
        else
            add_phases(cut, request, lanes, group->first_wave, group->waves, group->cycle);
        attempts += group->attempts;
    }
}

static void cut_request(const struct cut *cut, unsigned request)
{
    struct wm_anatomy *out = cut->out;
    uint8_t wavefront[WM_LANES];
    struct wmi_lines lines;
    unsigned wavefronts;

    wmi_lines_of(cut->profile, out->address[request], out->lanes, out->request_bytes, out->phase_lanes, &lines);
    wavefronts = wmi_tag_wavefronts(cut->profile, &lines, wavefront);
    add_lines(cut, request, out->lanes, &lines, wavefront);
    if (cut->access->opcode.operation != WM_LD) {
        add_store(cut, request, &lines, wavefront, wavefronts);
        return;
    }
    if (wmi_hits_l1(cut->access)) {
        add_phases(cut, request, out->lanes, 0, 0, 0);
        return;
    }
    for (unsigned w = 0; w < wavefronts; w++)
        add_phases(cut, request, lanes_in(out, request, w, 1), w, 1, 0);
}

static void cut_l1(const struct cut *cut)
{
    struct wm_anatomy *out = cut->out;
    const int is_local = cut->access->opcode.space == WM_LOCAL;

    out->path = WM_PATH_L1;
    out->words_merge = 1;
    out->requests = is_local ? wmi_local_pieces(cut->profile, cut->access) : 1;
    out->request_bytes /= out->requests;
    out->phase_lanes = cut->profile->phase_lanes[wmi_log2(out->request_bytes)];
    for (unsigned request = 0; request < out->requests; request++) {
        if (is_local)
            wmi_local_addresses(cut->profile, cut->access, request, out->address[request]);
        cut_request(cut, request);
    }
}

/* -------------------------------------------------------------------------------------------------- atomics, copies */

/* The values of a pass, or its results. */
static void add_atomic_phases(const struct cut *cut, uint32_t going, unsigned pass, int is_request,
                              const struct wmi_atomic_layout *layout)
{
    const unsigned phase_lanes = layout->phase_lanes;

    for (unsigned first = 0; first < WM_LANES; first += phase_lanes) {
        struct wm_phase *phase = new_phase(cut, going & wmi_lane_range(first, phase_lanes), 0, first / phase_lanes);

        if (!phase)
            continue;
        phase->first_wavefront = (uint8_t)pass;
        phase->wavefronts = 1;
        phase->is_request = (uint8_t)is_request;
        phase->folded = (uint8_t)layout->folded;
        phase->scale = layout->is_doubled ? 2 : 1;
        place_and_doubt(cut, phase);
    }
}

static void cut_atomic(const struct cut *cut)
{
    struct wm_anatomy *out = cut->out;
    const struct wmi_atomic_layout as_addressed = {.phase_lanes = out->phase_lanes};
    unsigned pass = 0;

    out->path = WM_PATH_ATOMIC;
    out->requests = 1;
    out->words_merge = 1;
    for (uint32_t pending = out->lanes; pending; pass++) {
        const uint32_t going = wmi_atomic_pass(cut->profile, cut->access, pending);
        struct wmi_atomic_layout layout;
        uint8_t wavefront[WM_LANES];
        struct wmi_lines lines;

        wmi_lines_of(cut->profile, cut->access->address, going, out->request_bytes, out->phase_lanes, &lines);
        memset(wavefront, (int)pass, sizeof wavefront);
        add_lines(cut, 0, going, &lines, wavefront);
        layout = wmi_atomic_layout(cut->profile, cut->access, going, &lines);
        add_atomic_phases(cut, going, pass, 1, &layout);
        if (cut->access->opcode.operation == WM_ATOM)
            add_atomic_phases(cut, going, pass, 0, &as_addressed);
        pending &= ~going;
    }
    if (cut->access->opcode.atomic == WM_ATOMIC_CAS && out->request_bytes > WMI_CAS_BYTES)
        out->unsure |= WM_UNSURE_DATA;
}

static void add_copy_phase(const struct cut *cut, uint32_t lanes, unsigned number, unsigned wavefront)
{
    struct wm_phase *phase = new_phase(cut, lanes, 0, number);
    uint8_t pass[WM_LANES];

    if (!phase)
        return;
    phase->first_wavefront = (uint8_t)wavefront;
    phase->wavefronts = !wmi_hits_l1(cut->access);
    phase->passes = (uint8_t)wmi_copy_passes(cut->profile, cut->access, lanes, pass);
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        phase->pass[wmi_log2(rest)] = (uint8_t)(pass[wmi_log2(rest)] - 1U);
}

static void cut_through_l1(const struct cut *cut, const uint8_t wavefront[WM_LANES], unsigned wavefronts)
{
    struct wm_anatomy *out = cut->out;

    out->path = WM_PATH_COPY;
    if (wmi_hits_l1(cut->access))
        wavefronts = 1;
    for (unsigned first = 0; first < WM_LANES; first += out->phase_lanes) {
        const uint32_t lanes = out->lanes & wmi_lane_range(first, out->phase_lanes);
        const unsigned before = out->phase_count;

        for (unsigned w = 0; w < wavefronts; w++)
            add_copy_phase(cut, wmi_copy_group(cut->access, lanes, wavefront, w), first / out->phase_lanes, w);
        if (out->phase_count > before) /* the ideal is that of the lanes of all its parts together */
            out->phase[before].ideal_passes = (uint8_t)wmi_copy_ideal_passes(cut->access, lanes);
    }
}

static void cut_past_l1(const struct cut *cut, const uint8_t wavefront[WM_LANES], unsigned wavefronts)
{
    const unsigned shift = wmi_log2(cut->profile->line_bytes);
    struct wm_anatomy *out = cut->out;
    struct wmi_bypass bypass;

    wmi_copy_bypass(cut->profile, cut->access, wavefront, wavefronts, &bypass);
    out->path = WM_PATH_BYPASS;
    out->asked = bypass.won;
    out->line_count = bypass.pairs;
    for (unsigned i = 0; i < bypass.pairs; i++) {
        out->line[i] = (struct wm_line){
            .address = bypass.pair[i].line << shift,
            .shared_row = bypass.pair[i].row << shift,
            .sectors = bypass.pair[i].from,
            .shared_sectors = bypass.pair[i].to,
            .tag_bank = (uint8_t)wmi_tag_bank(cut->profile, bypass.pair[i].line),
            .wavefront = (uint8_t)bypass.pair[i].queued,
        };
    }
    for (uint32_t rest = out->lanes; rest; rest &= rest - 1)
        out->line[bypass.pair_of[wmi_log2(rest)]].lanes |= rest & (0 - rest);
    out->packets_count = bypass.asked_lines;
    for (unsigned i = 0; i < bypass.asked_lines; i++)
        out->packets[i] = (struct wm_packets){bypass.asked[i].line << shift, bypass.asked[i].packets,
                                              bypass.asked[i].requests, bypass.asked[i].sectors};
    if (bypass.inexact)
        out->unsure |= WM_UNSURE_L2;
}

static void cut_copy(const struct cut *cut)
{
    struct wm_anatomy *out = cut->out;
    uint8_t of_line[WM_LANES], of_lane[WM_LANES] = {0};
    struct wmi_lines lines;
    unsigned wavefronts;

    out->requests = 1;
    wmi_lines_of(cut->profile, cut->access->address, out->lanes, out->request_bytes, out->phase_lanes, &lines);
    wavefronts = wmi_copy_wavefronts(cut->profile, cut->access, &lines, of_lane);
    if (cut->access->opcode.cache == WM_CACHE_CG) {
        cut_past_l1(cut, of_lane, wavefronts);
        return;
    }
    wmi_tag_wavefronts(cut->profile, &lines, of_line);
    add_lines(cut, 0, out->lanes, &lines, of_line);
    cut_through_l1(cut, of_lane, wavefronts);
}

/* --------------------------------------------------------------------------------------------------------- together */

static void start(const struct cut *cut)
{
    const struct wm_profile *profile = cut->profile;
    struct wm_anatomy *out = cut->out;

    memset(out, 0, sizeof *out);
    out->lanes = wmi_lanes_used(cut->access);
    out->banks = profile->banks;
    out->bank_bytes = profile->bank_bytes;
    out->line_bytes = profile->line_bytes;
    out->sector_bytes = profile->sector_bytes;
    out->tag_banks = 1U << profile->tag_bank_bits;
    out->request_bytes = cut->access->opcode.width_bytes;
    out->phase_lanes = profile->phase_lanes[wmi_log2(out->request_bytes)];
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        out->address[0][lane] = out->lanes >> lane & 1 ? cut->access->address[lane] : 0;
}

static void doubt_local(const struct cut *cut, const struct wm_counts *counts)
{
    if (cut->access->opcode.space == WM_LOCAL && (counts->inexact >> WM_TAG_WAVEFRONTS & 1))
        cut->out->unsure |= WM_UNSURE_TAGS;
}

/* Memory of other blocks, cut at the addresses that the tag stage sees: shows those of the access. */
static void move_back(const struct cut *cut)
{
    struct wm_anatomy *out = cut->out;

    for (unsigned lane = 0; lane < WM_LANES; lane++)
        out->address[0][lane] = wmi_cluster_address(cut->profile, out->address[0][lane]);
    for (unsigned i = 0; i < out->line_count; i++)
        out->line[i].address = wmi_cluster_address(cut->profile, out->line[i].address);
}

enum wm_status wm_explain(const wm_arch *arch, const struct wm_access *access, struct wm_anatomy *out)
{
    struct cut cut = {NULL, access, out};
    struct wm_access moved;
    struct wm_counts counts;
    enum wm_status status = out ? wm_model(arch, access, &counts) : WM_E_ARGUMENT;

    if (status)
        return status;
    cut.profile = wm_arch_profile(arch);
    if (access->opcode.space == WM_LOCAL && wmi_local_pieces(cut.profile, access) > WM_ANATOMY_REQUESTS)
        return WM_E_UNSUPPORTED;
    if (access->opcode.space == WM_SHARED_CLUSTER) {
        wmi_cluster_move(cut.profile, access, &moved);
        cut.access = &moved;
    }
    if (access->opcode.operation == WM_CP_ASYNC && access->zero_fill) {
        wmi_fill_store(access, &moved);
        cut.access = &moved;
    }
    start(&cut);
    switch (wmi_path(cut.profile, access)) {
    case WM_PATH_NONE:
        out->path = WM_PATH_NONE;
        out->predicated_off = counts.shared_wavefronts;
        return WM_OK;
    case WM_PATH_UNSEEN: out->path = WM_PATH_UNSEEN; return WM_OK;
    case WM_PATH_SHARED: cut_shared(&cut); break;
    case WM_PATH_ATOMIC: cut_atomic(&cut); break;
    case WM_PATH_COPY:
        if (!access->zero_fill) {
            cut_copy(&cut);
            break;
        }
        cut_shared(&cut);
        out->path = WM_PATH_FILL;
        break;
    default: cut_l1(&cut); break;
    }
    doubt_local(&cut, &counts);
    for (unsigned i = 0; i < out->line_count; i++)
        use_bytes(out, &out->line[i]);
    if (access->opcode.space == WM_SHARED_CLUSTER)
        move_back(&cut);
    return WM_OK;
}
