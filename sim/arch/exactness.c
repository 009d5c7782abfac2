/* How far each counter of each opcode can be trusted: the weakest of the keys that it depends on. */
#include "arch/arch.h"

#include <stdlib.h>
#include <string.h>

#define BIT(n) (1U << (n))

/* Operations and spaces. */
#define PLAIN      (BIT(WM_LD) | BIT(WM_ST))
#define ATOMICS    (BIT(WM_ATOM) | BIT(WM_RED))
#define MATRICES   (BIT(WM_LDMATRIX) | BIT(WM_STMATRIX))
#define COPY       BIT(WM_CP_ASYNC)
#define RESULTS    (BIT(WM_LD) | BIT(WM_ATOM))
#define THROUGH_L1 (BIT(WM_GLOBAL) | BIT(WM_LOCAL) | BIT(WM_CONST) | BIT(WM_GENERIC) | BIT(WM_SHARED_CLUSTER))

/* Counters. */
#define SHARED_COUNTERS                                                                                                \
    (BIT(WM_SHARED_WAVEFRONTS) | BIT(WM_SHARED_WAVEFRONTS_IDEAL) | BIT(WM_BANK_CONFLICTS) | BIT(WM_WAYS))
#define L1_COUNTERS                                                                                                    \
    (BIT(WM_REQUESTS) | BIT(WM_LINES) | BIT(WM_SECTORS) | BIT(WM_SECTORS_IDEAL) | BIT(WM_TAG_WAVEFRONTS) |             \
     BIT(WM_LSU_WAVEFRONTS) | BIT(WM_L2_REQUESTS) | BIT(WM_L2_SECTORS))
#define ROUND_COUNTERS (L1_COUNTERS & ~(BIT(WM_REQUESTS) | BIT(WM_SECTORS_IDEAL)))

/* Which counters of which operations in which spaces an effect changes. */
struct effect {
    unsigned effect;
    unsigned operations;
    unsigned spaces;
    unsigned counters;
};

static const struct effect effects[] = {
    {WMI_REQUESTS, PLAIN | ATOMICS | COPY, THROUGH_L1, BIT(WM_REQUESTS)},
    {WMI_LINES, PLAIN | ATOMICS | COPY, THROUGH_L1, BIT(WM_LINES) | BIT(WM_L2_REQUESTS)},
    {WMI_SECTORS, PLAIN | ATOMICS | COPY, THROUGH_L1, BIT(WM_SECTORS) | BIT(WM_L2_SECTORS)},
    {WMI_IDEAL, PLAIN | ATOMICS | COPY, THROUGH_L1, BIT(WM_SECTORS_IDEAL)},
    {WMI_TAGS, PLAIN | ATOMICS | COPY, THROUGH_L1, BIT(WM_TAG_WAVEFRONTS)},
    {WMI_DATA, PLAIN | ATOMICS, THROUGH_L1, BIT(WM_LSU_WAVEFRONTS)},
    {WMI_DATA_STORE, BIT(WM_ST) | ATOMICS, THROUGH_L1, BIT(WM_LSU_WAVEFRONTS)},
    {WMI_DATA_COPY, COPY, THROUGH_L1, BIT(WM_LSU_WAVEFRONTS)},
    {WMI_ATOMIC, ATOMICS, THROUGH_L1, ROUND_COUNTERS},
    {WMI_LOCAL, PLAIN, BIT(WM_LOCAL), L1_COUNTERS},
    {WMI_GENERIC, PLAIN | ATOMICS, BIT(WM_GENERIC), L1_COUNTERS},
    {WMI_CONST, BIT(WM_LD), BIT(WM_CONST), L1_COUNTERS},
    {WMI_CLUSTER, PLAIN | ATOMICS, BIT(WM_SHARED_CLUSTER), L1_COUNTERS},
    {WMI_CLUSTER, ATOMICS, BIT(WM_SHARED_CLUSTER), BIT(WM_SHARED_WAVEFRONTS) | BIT(WM_SHARED_WAVEFRONTS_IDEAL)},
    {WMI_SHARED, PLAIN | ATOMICS | MATRICES, BIT(WM_SHARED), SHARED_COUNTERS},
    {WMI_SHARED, COPY, BIT(WM_GLOBAL), SHARED_COUNTERS},
    {WMI_SHARED_PHASES, PLAIN | ATOMICS, BIT(WM_SHARED), SHARED_COUNTERS},
    {WMI_SHARED_PHASES, COPY, BIT(WM_GLOBAL), SHARED_COUNTERS},
    {WMI_SHARED_LOAD, BIT(WM_LD), BIT(WM_SHARED), SHARED_COUNTERS},
    {WMI_SHARED_ATOMIC, ATOMICS, BIT(WM_SHARED), SHARED_COUNTERS},
    {WMI_LDMATRIX, BIT(WM_LDMATRIX), BIT(WM_SHARED), SHARED_COUNTERS},
    {WMI_STMATRIX, BIT(WM_STMATRIX), BIT(WM_SHARED), SHARED_COUNTERS},
    /* write-back: in L1 the phases of tag wavefronts, in shared memory those of lanes */
    {WMI_WRITE_BACK | WMI_DATA, RESULTS, THROUGH_L1, BIT(WM_LSU_WRITEBACK)},
    {WMI_ATOMIC, RESULTS & ATOMICS, THROUGH_L1, BIT(WM_LSU_WRITEBACK)},
    {WMI_LOCAL, RESULTS & PLAIN, BIT(WM_LOCAL), BIT(WM_LSU_WRITEBACK)},
    {WMI_GENERIC, RESULTS, BIT(WM_GENERIC), BIT(WM_LSU_WRITEBACK)},
    {WMI_CONST, RESULTS & PLAIN, BIT(WM_CONST), BIT(WM_LSU_WRITEBACK)},
    {WMI_WRITE_BACK | WMI_DATA | WMI_ATOMIC | WMI_CLUSTER, ATOMICS, BIT(WM_SHARED_CLUSTER), BIT(WM_LSU_WRITEBACK)},
    {WMI_CLUSTER, RESULTS & PLAIN, BIT(WM_SHARED_CLUSTER), BIT(WM_LSU_WRITEBACK)},
    {WMI_WRITE_BACK, RESULTS | ATOMICS | BIT(WM_LDMATRIX), BIT(WM_SHARED), BIT(WM_LSU_WRITEBACK)},
    {WMI_SHARED_PHASES, RESULTS | ATOMICS, BIT(WM_SHARED), BIT(WM_LSU_WRITEBACK)},
    {WMI_SHARED_LOAD, BIT(WM_LD), BIT(WM_SHARED), BIT(WM_LSU_WRITEBACK)},
    {WMI_SHARED | WMI_SHARED_ATOMIC, ATOMICS, BIT(WM_SHARED), BIT(WM_LSU_WRITEBACK)},
};

/* The counters that some of the effects change for a class, as bits. */
static unsigned counters_of(unsigned some_effects, const struct wmi_class *class)
{
    unsigned counters = 0;

    for (size_t i = 0; i < sizeof effects / sizeof effects[0]; i++) {
        if ((effects[i].effect & some_effects) && (effects[i].operations >> class->operation & 1) &&
            (effects[i].spaces >> class->space & 1))
            counters |= effects[i].counters;
    }
    return counters;
}

int wmi_counter_applies(const struct wmi_class *class, enum wm_counter counter)
{
    return (int)(counters_of(UINT32_MAX, class) >> counter & 1);
}

/* Whether a key is used at all for an access width. Merging needs more than one phase to merge. */
static int is_for_width(const wm_arch *arch, const struct wmi_rule *rule, unsigned log2_width)
{
    if (rule->effects & WMI_SHARED_LOAD && arch->profile.phase_lanes[log2_width] >= WM_LANES)
        return 0;
    return !rule->width_bytes || rule->width_bytes == 1U << log2_width;
}

/* How specific approximate.CLASS is for a class: 0: not for it; a variant counts more than a width. */
static int rank_of(const struct wmi_class *approximate, const struct wmi_class *class)
{
    if (approximate->operation != class->operation || approximate->space != class->space ||
        (!approximate->any_variant && approximate->variant != class->variant) ||
        (approximate->width_bytes && approximate->width_bytes != class->width_bytes))
        return 0;
    return 1 + (approximate->width_bytes ? 1 : 0) + (approximate->any_variant ? 0 : 2);
}

static unsigned approximate_counters(const wm_arch *arch, const struct wmi_class *class)
{
    unsigned counters = 0;
    int best = 0;

    for (size_t i = 0; i < arch->approximate_count; i++) {
        const int rank = rank_of(&arch->approximates[i].class, class);

        if (rank > best) {
            best = rank;
            counters = arch->approximates[i].counters;
        }
    }
    return counters;
}

/* The exactness of one operation in one space, by width and variant. */
typedef uint8_t class_levels[WM_WIDTHS][WMI_VARIANTS][WM_COUNTERS];

static uint8_t level_of(const wm_arch *arch, size_t rule)
{
    const enum wm_provenance provenance = arch->entries[rule].provenance;

    return provenance == WM_MEASURED ? WM_EXACT : provenance == WM_DOCUMENTED ? WM_BY_DOCUMENT : WM_BY_ASSUMPTION;
}

/* No counter in counters can be trusted more than the key that it depends on. */
static void weaken(const wm_arch *arch, size_t rule, unsigned counters, class_levels levels)
{
    const uint8_t level = level_of(arch, rule);

    for (unsigned width = 0; width < WM_WIDTHS; width++) {
        if (!is_for_width(arch, &wmi_rules[rule], width))
            continue;
        for (unsigned c = 0; c < WM_COUNTERS; c++) {
            for (unsigned variant = 0; variant < WMI_VARIANTS && (counters >> c & 1); variant++) {
                if (levels[width][variant][c] < level)
                    levels[width][variant][c] = level;
            }
        }
    }
}

static void mark_approximate(const wm_arch *arch, struct wmi_class class, class_levels levels)
{
    for (unsigned width = 0; width < WM_WIDTHS; width++) {
        for (unsigned variant = 0; variant < WMI_VARIANTS; variant++) {
            unsigned counters;

            class.width_bytes = (uint8_t)(1U << width);
            class.variant = (uint8_t)variant;
            counters = approximate_counters(arch, &class);
            for (unsigned c = 0; c < WM_COUNTERS; c++) {
                if (counters >> c & 1)
                    levels[width][variant][c] = WM_APPROXIMATE;
            }
        }
    }
}

void wmi_exactness_fill(wm_arch *arch)
{
    memset(arch->exactness, WM_EXACT, sizeof arch->exactness);
    arch->time_exactness = WM_EXACT;
    for (size_t rule = 0; rule < wmi_rule_count; rule++) {
        if ((wmi_rules[rule].effects & WMI_TIME) && level_of(arch, rule) > arch->time_exactness)
            arch->time_exactness = (enum wm_exactness)level_of(arch, rule);
    }
    for (unsigned operation = 0; operation < WMI_OPERATIONS; operation++) {
        for (unsigned space = 0; space < WMI_SPACES; space++) {
            const struct wmi_class class = {.operation = (uint8_t)operation, .space = (uint8_t)space};

            for (size_t rule = 0; rule < wmi_rule_count; rule++) {
                const unsigned counters = counters_of(wmi_rules[rule].effects, &class);

                if (counters && arch->entries[rule].value)
                    weaken(arch, rule, counters, arch->exactness[operation][space]);
            }
            mark_approximate(arch, class, arch->exactness[operation][space]);
        }
    }
}

static unsigned is_float(const struct wm_opcode *opcode)
{
    return opcode->type == WM_TYPE_F || opcode->type == WM_TYPE_BF || opcode->type == WM_TYPE_F_X2 ||
           opcode->type == WM_TYPE_BF_X2;
}

enum wm_exactness wm_arch_exactness(const wm_arch *arch, const struct wm_opcode *opcode, enum wm_counter counter)
{
    unsigned width = 0;
    unsigned variant = 0;

    /* What cannot be an opcode cannot be trusted. */
    if (!arch || !opcode || (unsigned)counter >= WM_COUNTERS || opcode->operation >= WMI_OPERATIONS ||
        opcode->space >= WMI_SPACES)
        return WM_APPROXIMATE;
    while (width < WM_WIDTHS && opcode->width_bytes != 1U << width)
        width++;
    if (width == WM_WIDTHS)
        return WM_APPROXIMATE;
    if (opcode->operation == WM_CP_ASYNC)
        variant = opcode->cache == WM_CACHE_CG;
    else if (opcode->operation == WM_ATOM || opcode->operation == WM_RED)
        variant = is_float(opcode);
    return (enum wm_exactness)arch->exactness[opcode->operation][opcode->space][width][variant][counter];
}

/* ------------------------------------------------------------------------------------------------ approximate.CLASS */

struct word {
    const char *text;
    uint8_t value;
};

/* If the text at *at begins with one of the words and a dot or its end, moves *at behind it and its dot. */
static int take_word(const char **at, const struct word *words, size_t n, uint8_t *value)
{
    for (size_t i = 0; i < n; i++) {
        const size_t length = strlen(words[i].text);

        if (!strncmp(*at, words[i].text, length) && ((*at)[length] == '.' || !(*at)[length])) {
            *value = words[i].value;
            *at += length + ((*at)[length] == '.');
            return 1;
        }
    }
    return 0;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct word operation_words[] = {{"ld", WM_LD},
                                              {"st", WM_ST},
                                              {"atom", WM_ATOM},
                                              {"red", WM_RED},
                                              {"ldmatrix", WM_LDMATRIX},
                                              {"stmatrix", WM_STMATRIX},
                                              {"cp.async", WM_CP_ASYNC}};
static const struct word space_words[] = {
    {"global", WM_GLOBAL}, {"shared", WM_SHARED}, {"local", WM_LOCAL}, {"const", WM_CONST}, {"generic", WM_GENERIC},
    {"shared_cluster", WM_SHARED_CLUSTER}};
static const struct word copy_words[] = {{"ca", 0}, {"cg", 1}};
static const struct word type_words[] = {{"float", 1}};
static const struct word width_words[] = {{"1", 1}, {"2", 2}, {"4", 4}, {"8", 8}, {"16", 16}, {"32", 32}};

/* The part that depends on the operation: space, or kind of copy. */
static const char *parse_kind(const char **at, struct wmi_class *out)
{
    switch (out->operation) {
    case WM_LDMATRIX:
    case WM_STMATRIX:
        out->space = WM_SHARED;
        return NULL;
    case WM_CP_ASYNC:
        out->space = WM_GLOBAL;
        out->any_variant = 0;
        return take_word(at, copy_words, COUNT(copy_words), &out->variant) ? NULL : "ca or cg";
    default:
        return take_word(at, space_words, COUNT(space_words), &out->space) ? NULL
                                                                           : "global, shared, local, const, generic or shared_cluster";
    }
}

const char *wmi_class_parse(const char *text, struct wmi_class *out, size_t *error_at)
{
    const char *at = text;
    const char *expected = NULL;

    memset(out, 0, sizeof *out);
    out->any_variant = 1;
    if (!take_word(&at, operation_words, COUNT(operation_words), &out->operation))
        expected = "ld, st, atom, red, ldmatrix, stmatrix or cp.async";
    else
        expected = parse_kind(&at, out);
    if (!expected && (out->operation == WM_ATOM || out->operation == WM_RED) &&
        take_word(&at, type_words, COUNT(type_words), &out->variant))
        out->any_variant = 0;
    if (!expected)
        (void)take_word(&at, width_words, COUNT(width_words), &out->width_bytes);
    if (!expected && (*at || at[-1] == '.'))
        expected = "the end of the opcode class, or a width of 1, 2, 4, 8, 16 or 32";
    *error_at = (size_t)(at - text);
    return expected;
}
