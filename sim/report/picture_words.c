/* An access in one paragraph. See picture.h. */
#include "config.h"

#include "picture_parts.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------- where from */

/* The keys that the rule of an access rests on. */
#define KEYS_MOST 4

static void add_key(const char *keys[KEYS_MOST], unsigned *count, const char *name)
{
    if (*count < KEYS_MOST)
        keys[(*count)++] = name;
}

/* "shared.phase_lanes_16" and the like; text is where it is put together. */
static const char *by_width(const char *start, unsigned width_bytes, char text[40])
{
    snprintf(text, 40, "%s%u", start, width_bytes);
    return text;
}

static unsigned rule_keys(const struct picture *p, const char *keys[KEYS_MOST], char text[40])
{
    const struct wm_opcode *opcode = &p->access->opcode;
    const unsigned width = p->anatomy->request_bytes;
    unsigned count = 0;

    switch (p->anatomy->path) {
    case WM_PATH_NONE: add_key(keys, &count, "lsu.predicated_off_wavefronts"); break;
    case WM_PATH_FILL: add_key(keys, &count, by_width("shared.phase_lanes_", width, text)); break;
    case WM_PATH_SHARED:
        if (opcode->operation == WM_LDMATRIX || opcode->operation == WM_STMATRIX) {
            add_key(keys, &count,
                    opcode->operation == WM_LDMATRIX ? "shared.ldmatrix_phase_lanes" : "shared.stmatrix_phase_lanes");
            break;
        }
        add_key(keys, &count, by_width("shared.phase_lanes_", width, text));
        if (opcode->operation == WM_LD && p->anatomy->phase_lanes < WM_LANES)
            add_key(keys, &count, "shared.load_merge");
        else if (p->anatomy->merge_distance)
            add_key(keys, &count, "shared.load_merge");
        if (opcode->operation == WM_ATOM || opcode->operation == WM_RED)
            add_key(keys, &count, "shared.atomic_merge");
        if (opcode->atomic == WM_ATOMIC_CAS)
            add_key(keys, &count, "shared.cas_passes");
        break;
    case WM_PATH_ATOMIC:
        add_key(keys, &count, "l1.atomic_passes");
        add_key(keys, &count, "l1.tag_bank_mask_0");
        break;
    case WM_PATH_L1:
        add_key(keys, &count, "l1.sector_bytes");
        add_key(keys, &count, "l1.tag_bank_mask_0");
        if (p->anatomy->store_merge)
            add_key(keys, &count, by_width("l1.store_merge_", width, text));
        if (opcode->space == WM_LOCAL)
            add_key(keys, &count, "local.interleave_bytes");
        break;
    case WM_PATH_COPY:
    case WM_PATH_BYPASS:
        add_key(keys, &count, "l1.sector_bytes");
        add_key(keys, &count, "l1.tag_bank_mask_0");
        if (p->anatomy->path == WM_PATH_COPY)
            add_key(keys, &count, by_width("shared.phase_lanes_", width, text));
        break;
    default: break;
    }
    if (opcode->space == WM_SHARED_CLUSTER && p->anatomy->path != WM_PATH_NONE)
        add_key(keys, &count, "cluster.tag_bytes");
    return count;
}

static int find_key(const wm_arch *arch, const char *name, struct wm_arch_key *key)
{
    for (size_t i = 0; wm_arch_key_at(arch, i, key) == WM_OK; i++) {
        if (strcmp(key->name, name) == 0)
            return 1;
    }
    return 0;
}

/* The keys of a provenance: "shared.phase_lanes_16 (h200-random)". Returns how many. */
static unsigned say_keys(const struct picture *p, const char *const *keys, unsigned count,
                         enum wm_provenance provenance, const char *before, struct buffer *out)
{
    unsigned said = 0;

    for (unsigned i = 0; i < count; i++) {
        struct wm_arch_key key;

        if (!find_key(p->arch, keys[i], &key) || key.provenance != provenance)
            continue;
        buffer_printf(out, "%s%s (%s)", said++ ? ", " : before, key.name, key.reference);
    }
    return said;
}

/* The worst exactness of the counters that are not 0, and which counters have it; of those that a picture shows. */
static enum wm_exactness worst(const struct picture *p, struct buffer *names)
{
    enum wm_exactness most = WM_EXACT;
    const char *separator = "";

    for (int pass = 0; pass < 2; pass++) {
        for (int c = 0; c < WM_LSU_WRITEBACK; c++) {
            const enum wm_counter counter = (enum wm_counter)c;
            enum wm_exactness exactness = wm_arch_exactness(p->arch, &p->access->opcode, counter);

            if (wm_counts_get(p->counts, counter) == 0)
                continue;
            if (p->counts->inexact >> c & 1)
                exactness = WM_APPROXIMATE;
            if (pass == 0 && exactness > most)
                most = exactness;
            if (pass == 1 && exactness == most) {
                buffer_printf(names, "%s%s", separator, wm_counter_name(counter));
                separator = ", ";
            }
        }
    }
    return most;
}

static void provenance(const struct picture *p, struct buffer *out)
{
    struct buffer names = {0};
    const char *keys[KEYS_MOST];
    char text[40];
    const unsigned count = rule_keys(p, keys, text);
    const char *arch = wm_arch_name(p->arch);
    const enum wm_exactness exactness = worst(p, &names);
    unsigned said = 0;

    if (p->anatomy->path == WM_PATH_UNSEEN)
        goto done;
    buffer_printf(out, " On %s this rule is", arch);
    said += say_keys(p, keys, count, WM_MEASURED, " measured: ", out);
    said += say_keys(p, keys, count, WM_DOCUMENTED, said ? "; documented: " : " documented: ", out);
    said += say_keys(p, keys, count, WM_ASSUMED, said ? "; assumed, not measured: " : " assumed, not measured: ", out);
    if (!said)
        buffer_puts(out, " not measured");
    switch (exactness) {
    case WM_EXACT: buffer_puts(out, "; every count is exact on all recorded accesses of this kind."); break;
    case WM_BY_DOCUMENT:
        buffer_printf(out, "; by documents, not by measurements of this GPU: %s.", buffer_text(&names));
        break;
    case WM_BY_ASSUMPTION:
        buffer_printf(out, "; these counts rest on at least one assumption about this GPU: %s.", buffer_text(&names));
        break;
    default: buffer_printf(out, "; no more than near: %s.", buffer_text(&names)); break;
    }
done:
    if (names.failed)
        out->failed = names.failed;
    buffer_free(&names);
}

static void cycles(const struct picture *p, struct buffer *out)
{
    struct wm_cycles cycles;

    if (wm_cycles(p->arch, p->access, p->counts, &cycles) != WM_OK || cycles.bound == WM_BOUND_NONE)
        return;
    buffer_printf(out, " Back to back from 32 warps it takes about %.3g cycle%s of an SM (bound by %s)%s.",
                  cycles.throughput, cycles.throughput > 0.995 && cycles.throughput < 1.005 ? "" : "s",
                  wm_bound_text(cycles.bound),
                  cycles.exactness == WM_APPROXIMATE ? "; accesses of this kind are often far from that" : "");
}

/* ---------------------------------------------------------------------------------------------------- shared memory */

/* "This 16 B load", "This ldmatrix" */
static void subject(const struct picture *p, struct buffer *out)
{
    const struct wm_opcode *opcode = &p->access->opcode;
    static const char *const spaces[] = {[WM_GLOBAL] = "global memory",
                                         [WM_SHARED] = "shared memory",
                                         [WM_LOCAL] = "local memory",
                                         [WM_CONST] = "constant memory",
                                         [WM_GENERIC] = "memory by generic addresses",
                                         [WM_SHARED_CLUSTER] = "the shared memory of other blocks"};
    const char *what = opcode->operation == WM_LD ? "load from" : opcode->operation == WM_ST ? "store to" : "atomic on";

    switch (opcode->operation) {
    case WM_LDMATRIX:
    case WM_STMATRIX:
        buffer_printf(out, "This %s of %u 8x8 %s by %u row address%s",
                      opcode->operation == WM_LDMATRIX ? "ldmatrix" : "stmatrix", opcode->matrices,
                      opcode->matrices == 1 ? "matrix" : "matrices", picture_lane_count(p->anatomy->lanes),
                      picture_lane_count(p->anatomy->lanes) == 1 ? "" : "es");
        return;
    case WM_CP_ASYNC: buffer_printf(out, "This asynchronous copy of %u B a lane", opcode->width_bytes); break;
    default: buffer_printf(out, "This %s %s of %u B a lane", what, spaces[opcode->space], opcode->width_bytes); break;
    }
    buffer_printf(out, " by %u lane%s", picture_lane_count(p->anatomy->lanes),
                  plural(picture_lane_count(p->anatomy->lanes)));
}

static const struct wm_phase *worst_phase(const struct wm_anatomy *a)
{
    const struct wm_phase *most = &a->phase[0];

    for (uint32_t i = 1; i < a->phase_count; i++) {
        if (a->phase[i].passes > most->passes)
            most = &a->phase[i];
    }
    return most;
}

static void worst_bank(const struct picture *p, enum picture_side side, struct buffer *out)
{
    struct picture_cell cells[PICTURE_PASSES][PICTURE_BANK_COUNT];
    const struct wm_phase *phase = worst_phase(p->anatomy);
    uint32_t lanes = 0;
    unsigned bank = 0, banks = 0;

    picture_fill(p, phase, side, cells);
    while (bank + 1 < p->anatomy->banks && picture_bank_ways(phase, cells, bank) < phase->passes)
        bank++;
    for (unsigned b = 0; b < p->anatomy->banks; b++)
        banks += picture_bank_ways(phase, cells, b) == phase->passes;
    for (unsigned pass = 0; pass < phase->passes; pass++)
        lanes |= cells[pass][bank].lanes;
    buffer_printf(out, "bank %u is asked for %u %s by ", bank, phase->passes,
                  p->anatomy->words_merge ? "different words" : "values, one after the other,");
    picture_lanes_named(lanes, out);
    if (banks > 1)
        buffer_printf(out, ", and %u other bank%s for as many", banks - 1, plural(banks - 1));
}

static void phases_in_words(const struct picture *p, struct buffer *out)
{
    const struct wm_anatomy *a = p->anatomy;
    const struct wm_opcode *opcode = &p->access->opcode;

    if (opcode->matrices) {
        buffer_printf(out, " Each 8x8 matrix, 8 rows of 16 B, is a phase of its own.");
    } else if (a->merge_distance) {
        buffer_printf(
            out,
            " Wide loads are served in phases of %u lanes; here every lane shares its address with its partner, "
            "lane XOR %u, and so the phases double to %u lanes.",
            a->phase_lanes / 2, a->merge_distance, a->phase_lanes);
    } else if (a->phase_lanes < WM_LANES) {
        buffer_printf(out, " Lanes of %u B are served in phases of %u, so that this needs %u pass%s at least.",
                      opcode->width_bytes, a->phase_lanes, a->phase_count, a->phase_count == 1 ? "" : "es");
    } else {
        buffer_puts(out, " All lanes are served in one phase.");
    }
}

static void shared(const struct picture *p, struct buffer *out)
{
    const struct wm_counts *c = p->counts;
    const struct wm_anatomy *a = p->anatomy;

    subject(p, out);
    buffer_printf(out, " takes %u wavefront%s", c->shared_wavefronts, plural(c->shared_wavefronts));
    if (c->shared_wavefronts > c->shared_wavefronts_ideal)
        buffer_printf(out, " where %u would do", c->shared_wavefronts_ideal);
    if (c->bank_conflicts)
        buffer_printf(out, ": a %u-way bank conflict, %u conflict%s in all.", c->ways, c->bank_conflicts,
                      plural(c->bank_conflicts));
    else
        buffer_puts(out, a->phase_count ? ": it has no bank conflict." : ".");
    if (!a->phase_count)
        return;
    phases_in_words(p, out);
    if (!a->words_merge)
        buffer_printf(out,
                      " A phase of an atomic takes as many passes as lanes come to one of the %u banks, whether their "
                      "words differ or not",
                      a->banks);
    else
        buffer_printf(out,
                      " A phase takes as many passes as the most different %u-byte words that lanes want of one of the "
                      "%u banks",
                      a->bank_bytes, a->banks);
    if (c->bank_conflicts) {
        buffer_puts(out, ": ");
        worst_bank(p, PICTURE_BANKS, out);
    }
    buffer_puts(out, ".");
    if (c->bank_conflicts && c->shared_wavefronts == c->shared_wavefronts_ideal)
        buffer_puts(out, " No other layout helps: lanes at one address go one by one.");
    if (a->phase[0].repeats > 1)
        buffer_puts(out, " A compare-and-swap goes through its passes twice.");
}

/* --------------------------------------------------------------------------------------------------------------- L1 */

struct bytes {
    unsigned used, fetched;
};

static struct bytes sum_bytes(const struct wm_anatomy *a)
{
    struct bytes sum = {0, 0};

    for (uint32_t i = 0; i < a->line_count; i++) {
        sum.used += picture_bytes_used(a, &a->line[i]);
        sum.fetched += picture_lane_count(picture_sectors_touched(a, &a->line[i])) * a->sector_bytes;
    }
    return sum;
}

static void share(unsigned part, unsigned whole, struct buffer *out)
{
    buffer_printf(out, "(%.*f %%)", whole && part * 100 % whole ? 1 : 0, whole ? part * 100.0 / whole : 0.0);
}

/* Lines that would hold the bytes of the sectors that are needed, where more are looked up and that costs tag wavefronts;
 * else 0. What a copy looks up are pairs of a line and a place in shared memory. */
static unsigned lines_that_would_do(const struct picture *p)
{
    const struct wm_anatomy *a = p->anatomy;
    const unsigned a_line = a->line_bytes / a->sector_bytes;
    const unsigned least = (p->counts->sectors_ideal + a_line - 1) / a_line;

    if (a->path == WM_PATH_COPY || p->access->opcode.space == WM_LOCAL || p->counts->lines <= least ||
        (p->counts->lines + a->tag_banks - 1) / a->tag_banks <= (least + a->tag_banks - 1) / a->tag_banks)
        return 0;
    return least;
}

static void sectors(const struct picture *p, struct buffer *out)
{
    const struct wm_counts *c = p->counts;
    const struct bytes sum = sum_bytes(p->anatomy);
    const struct picture_verbs verbs = picture_verbs(p);
    const int is_ideal = c->sectors <= c->sectors_ideal;

    subject(p, out);
    buffer_printf(out, " asks for %u sector%s", c->sectors, plural(c->sectors));
    if (!is_ideal)
        buffer_printf(out, " where %u would hold its bytes", c->sectors_ideal);
    else
        buffer_puts(out, ", as few as can be");
    buffer_printf(out, "%s in %u line%s", is_ideal && lines_that_would_do(p) ? ", but" : ",", c->lines,
                  plural(c->lines));
    if (is_ideal && lines_that_would_do(p))
        buffer_printf(out, " where %u would do", lines_that_would_do(p));
    buffer_printf(out, ": of %u B %s it %s %u ", sum.fetched, verbs.sector, verbs.uses, sum.used);
    share(sum.used, sum.fetched, out);
    buffer_putc(out, '.');
}

/* Lanes that take turns look one sector up again and again; it is one sector all the same. */
static void looked_up_again(const struct picture *p, const struct picture_footprint *footprint, struct buffer *out)
{
    const struct wm_counts *c = p->counts;
    const unsigned touched = footprint->sectors * p->anatomy->sector_bytes;

    subject(p, out);
    buffer_printf(out, " changes %u of the %u B in %u sector%s of %u line%s ", footprint->used, touched,
                  footprint->sectors, plural(footprint->sectors), footprint->lines, plural(footprint->lines));
    share(footprint->used, touched, out);
    buffer_printf(out, ", and it looks sectors up %u times, pass by pass", c->sectors);
    if (c->sectors > c->sectors_ideal)
        buffer_printf(out, ", where %u would do", c->sectors_ideal);
    buffer_putc(out, '.');
}

static void tag_stage(const struct picture *p, struct buffer *out)
{
    const struct wm_counts *c = p->counts;
    const struct wm_anatomy *a = p->anatomy;
    unsigned least = (c->lines + a->tag_banks - 1) / a->tag_banks;

    if (a->requests > 1)
        buffer_printf(out, " Local memory is interleaved by %u B, so that it goes in %u requests.", a->request_bytes,
                      a->requests);
    if (least < a->requests)
        least = a->requests;
    buffer_printf(out, " The tag stage looks up one line in each of %u banks at a time: %u tag wavefront%s",
                  a->tag_banks, c->tag_wavefronts, plural(c->tag_wavefronts));
    if (c->tag_wavefronts > least && a->path == WM_PATH_L1)
        buffer_printf(out, ", where lines spread evenly over the banks would need %u", least);
    buffer_puts(out, ".");
    if (p->access->opcode.space == WM_SHARED_CLUSTER)
        buffer_puts(out, " From there it goes to the other block's SM, as an access that misses L1 goes to L2.");
}

static void data_stage(const struct picture *p, struct buffer *out)
{
    const struct wm_counts *c = p->counts;
    const struct wm_anatomy *a = p->anatomy;
    const int is_load = p->access->opcode.operation == WM_LD;

    buffer_printf(out, " The data stage takes %u wavefront%s: ", c->lsu_wavefronts, plural(c->lsu_wavefronts));
    if (is_load && a->phase_count && a->phase[0].wavefronts)
        buffer_puts(out, "it serves each tag wavefront by itself (the lines miss L1), one word a bank and pass");
    else if (is_load)
        buffer_puts(out, "it serves the whole warp at once (the lines hit L1), one word a bank and pass");
    else if (c->tag_wavefronts <= a->store_merge * a->requests)
        buffer_printf(out, "up to %u tag wavefronts of a store share them, one word a bank and pass", a->store_merge);
    else
        buffer_printf(out,
                      "up to %u tag wavefronts of a store share them; of more, those share that wait together for the "
                      "drain to L2, here %u group%s",
                      a->store_merge, picture_groups(a), plural(picture_groups(a)));
    if (a->phase_lanes < WM_LANES)
        buffer_printf(out, ", %u lanes at a time", a->phase_lanes);
    buffer_puts(out, ".");
}

static void atomic(const struct picture *p, struct buffer *out)
{
    const struct wm_counts *c = p->counts;
    const struct picture_footprint footprint = picture_footprint(p->anatomy);
    const int has_pairs = p->access->opcode.atomic == WM_ATOMIC_CAS;

    if (c->sectors > footprint.sectors)
        looked_up_again(p, &footprint, out);
    else
        sectors(p, out);
    buffer_printf(
        out,
        " An atomic goes to the atomic units in passes, here %u: a pass takes %s in each of %u tag banks, "
        "and of it the lanes whose words no earlier lane of that bank waits for, so that lanes at one address "
        "go one after the other.%s The data stage takes %u wavefront%s%s.",
        c->tag_wavefronts, has_pairs ? "half of one line (two values go with each lane)" : "one line", p->anatomy->tag_banks,
        has_pairs ? " The two values lie side by side, as one of twice the width, which gives phases of their own." : "",
        c->lsu_wavefronts, plural(c->lsu_wavefronts),
        p->access->opcode.operation == WM_ATOM ? " for the values and the results that come back" : "");
    if (p->access->opcode.space == WM_SHARED_CLUSTER)
        buffer_printf(
            out,
            " From there it goes to the other block's SM instead of L2; %u wavefront%s of the own shared memory come "
            "with it.",
            c->shared_wavefronts, plural(c->shared_wavefronts));
}

static void copy(const struct picture *p, struct buffer *out)
{
    const struct wm_counts *c = p->counts;

    sectors(p, out);
    tag_stage(p, out);
    buffer_printf(out, " The write into shared memory takes %u wavefront%s", c->shared_wavefronts,
                  plural(c->shared_wavefronts));
    if (c->shared_wavefronts > c->shared_wavefronts_ideal)
        buffer_printf(out, " where %u would do", c->shared_wavefronts_ideal);
    if (c->bank_conflicts)
        buffer_printf(out, ", %u of them bank conflicts", c->bank_conflicts);
    buffer_puts(out,
                ": lanes of one tag wavefront and one phase go together, but a lane waits for those before it that use "
                "its place in a row of banks, in L1 or in shared memory.");
}

static void past_l1(const struct picture *p, struct buffer *out)
{
    const struct wm_counts *c = p->counts;

    subject(p, out);
    buffer_printf(out, " asks for %u sector%s", c->sectors, plural(c->sectors));
    if (c->sectors > c->sectors_ideal)
        buffer_printf(
            out,
            " where %u would hold its bytes: a source line's sector counts once for each sector of shared memory "
            "that it goes to",
            c->sectors_ideal);
    else
        buffer_puts(out, ", as few as can be");
    buffer_puts(out, ".");
    buffer_printf(
        out,
        " It goes past L1, from L2 to shared memory: what is looked up are pairs of a source line and a row of "
        "shared memory, here %u, in %u tag wavefront%s; L2 gets %u request%s for %u sector%s. There are no data "
        "wavefronts and no bank conflicts.",
        c->lines, c->tag_wavefronts, plural(c->tag_wavefronts), c->l2_requests, plural(c->l2_requests), c->l2_sectors,
        plural(c->l2_sectors));
}

void picture_words(const wm_arch *arch, const struct wm_access *access, const struct wm_counts *counts,
                   struct buffer *out)
{
    struct picture p;

    if (!picture_open(arch, access, counts, &p)) {
        picture_say_failure(&p, out);
        goto done;
    }
    switch (p.anatomy->path) {
    case WM_PATH_NONE:
        buffer_printf(out,
                      "No lane is active: the instruction is issued and costs %u shared wavefront%s, and nothing else.",
                      p.anatomy->predicated_off, plural(p.anatomy->predicated_off));
        break;
    case WM_PATH_UNSEEN:
        subject(&p, out);
        buffer_puts(out, " is served by another cache than L1 and costs none of what is counted here.");
        break;
    case WM_PATH_FILL:
        shared(&p, out);
        buffer_puts(
            out, " It reads nothing and makes no request: it fills shared memory with zeros, which costs what a store "
                 "there does.");
        break;
    case WM_PATH_SHARED: shared(&p, out); break;
    case WM_PATH_ATOMIC: atomic(&p, out); break;
    case WM_PATH_COPY: copy(&p, out); break;
    case WM_PATH_BYPASS: past_l1(&p, out); break;
    default:
        sectors(&p, out);
        tag_stage(&p, out);
        data_stage(&p, out);
        break;
    }
    provenance(&p, out);
    cycles(&p, out);
done:
    picture_close(&p);
}
