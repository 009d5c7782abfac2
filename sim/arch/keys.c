/* The keys of a GPU profile: one row each. */
#include "arch/arch.h"

#include <string.h>

/* A number, and a number that is a power of two; each for all widths. */
#define NUMBER(key, key_unit, low, high, field, what)                                                                  \
    {                                                                                                                  \
        .name = key, .unit = key_unit, .kind = WMI_NUMBER, .min = low, .max = high,                                    \
        .offset = offsetof(struct wm_profile, field), .bytes = sizeof(((struct wm_profile *)0)->field),                \
        .effects = what                                                                                                \
    }
#define POWER(key, key_unit, low, high, field, what)                                                                   \
    {                                                                                                                  \
        .name = key, .unit = key_unit, .kind = WMI_NUMBER, .min = low, .max = high, .power_of_two = 1,                 \
        .offset = offsetof(struct wm_profile, field), .bytes = sizeof(((struct wm_profile *)0)->field),                \
        .effects = what                                                                                                \
    }
#define FLAG(key, field, what)                                                                                         \
    {                                                                                                                  \
        .name = key, .unit = "flag", .kind = WMI_FLAG, .max = 1, .offset = offsetof(struct wm_profile, field),         \
        .bytes = sizeof(((struct wm_profile *)0)->field), .effects = what                                              \
    }
/* A rate or a latency: no counter depends on it. */
#define TIME(key, field) NUMBER(key, "centicycles", 0, 1000000, field, WMI_TIME)
/* One key for each access width. */
#define WIDTH(key, key_unit, low, high, power, field, width, log2_width, what)                                         \
    {                                                                                                                  \
        .name = key #width, .unit = key_unit, .kind = WMI_NUMBER, .min = low, .max = high, .power_of_two = power,      \
        .offset = offsetof(struct wm_profile, field) + (log2_width) * sizeof(((struct wm_profile *)0)->field[0]),      \
        .bytes = sizeof(((struct wm_profile *)0)->field[0]), .width_bytes = width, .effects = what                     \
    }
#define WIDTHS(key, key_unit, low, high, power, field, what)                                                           \
    WIDTH(key, key_unit, low, high, power, field, 1, 0, what),                                                         \
        WIDTH(key, key_unit, low, high, power, field, 2, 1, what),                                                     \
        WIDTH(key, key_unit, low, high, power, field, 4, 2, what),                                                     \
        WIDTH(key, key_unit, low, high, power, field, 8, 3, what),                                                     \
        WIDTH(key, key_unit, low, high, power, field, 16, 4, what),                                                    \
        WIDTH(key, key_unit, low, high, power, field, 32, 5, what)
#define TAG_MASK(bit)                                                                                                  \
    {                                                                                                                  \
        .name = "l1.tag_bank_mask_" #bit, .unit = "mask", .kind = WMI_NUMBER, .min = 1, .max = UINT64_MAX,             \
        .tag_bit = (bit) + 1, .offset = offsetof(struct wm_profile, tag_bank_mask) + (bit) * sizeof(uint64_t),         \
        .bytes = sizeof(uint64_t), .effects = WMI_TAGS | WMI_DATA                                                      \
    }

/* Ranges are what the model can work with: 32 bits hold a line's banks and its sectors, a lane of 32 bytes lies in one
 * sector, an access has at most 8 phases. */
const struct wmi_rule wmi_rules[] = {
    POWER("shared.banks", "banks", 1, 32, banks, WMI_SHARED | WMI_DATA),
    POWER("shared.bank_bytes", "bytes", 1, 16, bank_bytes, WMI_SHARED | WMI_DATA),
    WIDTHS("shared.phase_lanes_", "lanes", 4, 32, 1, phase_lanes, WMI_SHARED_PHASES | WMI_DATA),
    NUMBER("shared.load_merge", "mask", 0, 3, load_merge, WMI_SHARED_LOAD),
    FLAG("shared.atomic_merge", atomic_merge, WMI_SHARED_ATOMIC),
    NUMBER("shared.cas_passes", "wavefronts", 1, 8, cas_passes, WMI_SHARED_ATOMIC),
    POWER("shared.ldmatrix_phase_lanes", "lanes", 4, 32, ldmatrix_phase_lanes, WMI_LDMATRIX),
    POWER("shared.stmatrix_phase_lanes", "lanes", 4, 32, stmatrix_phase_lanes, WMI_STMATRIX),
    POWER("shared.window_bytes", "bytes", 1024, 1U << 24, shared_window_bytes, 0),

    POWER("l1.line_bytes", "bytes", 32, 512, line_bytes,
          WMI_REQUESTS | WMI_LINES | WMI_TAGS | WMI_DATA | WMI_DATA_COPY),
    POWER("l1.sector_bytes", "bytes", 32, 512, sector_bytes, WMI_SECTORS | WMI_IDEAL),
    NUMBER("l1.tag_bank_bits", "bits", 0, WM_TAG_BANK_BITS, tag_bank_bits, WMI_TAGS | WMI_DATA),
    TAG_MASK(0),
    TAG_MASK(1),
    TAG_MASK(2),
    TAG_MASK(3),
    WIDTHS("l1.store_merge_", "wavefronts", 1, 128, 0, store_merge, WMI_DATA_STORE),
    NUMBER("l1.store_drain_cycles", "cycles", 0, 64, store_drain_cycles, WMI_DATA_STORE),
    NUMBER("l1.store_window_lines", "lines", 1, 32, store_window_lines, WMI_DATA_STORE),
    NUMBER("l1.store_ahead_lines", "lines", 1, 32, store_ahead_lines, WMI_DATA_STORE),
    NUMBER("l1.store_ahead_cycles", "cycles", 0, 64, store_ahead_cycles, WMI_DATA_STORE),
    NUMBER("l1.store_ahead_sectors", "sectors", 1, 32, store_ahead_sectors, WMI_DATA_STORE),
    NUMBER("l1.store_forward_cycles", "cycles", 0, 64, store_forward_cycles, WMI_DATA_STORE),
    NUMBER("l1.store_header_cycles", "cycles", 0, 64, store_header_cycles, WMI_DATA_STORE),
    NUMBER("l1.store_write_cycles", "cycles", 0, 64, store_write_cycles, WMI_DATA_STORE),
    NUMBER("l1.tag_bank_top_bits", "bits", 0, 127, tag_bank_top_bits, WMI_DATA_STORE),
    NUMBER("l1.tag_bank_top", "bank", 0, 15, tag_bank_top, WMI_DATA_STORE),
    FLAG("l1.atomic_passes", atomic_passes, WMI_ATOMIC),

    POWER("l1.cas_piece_bytes", "bytes", 16, 512, cas_piece_bytes, WMI_ATOMIC),
    NUMBER("lsu.predicated_off_wavefronts", "wavefronts", 0, 8, predicated_off_wavefronts, 0),
    NUMBER("lsu.write_back_passes", "passes", 0, 8, write_back_passes, WMI_WRITE_BACK),
    FLAG("local.in_l1", local_in_l1, WMI_LOCAL),
    POWER("local.interleave_bytes", "bytes", 1, 16, local_interleave_bytes, WMI_LOCAL),
    POWER("local.block_bytes", "bytes", 1, 1U << 24, local_block_bytes, WMI_LOCAL),
    FLAG("generic.in_l1", generic_in_l1, WMI_GENERIC),
    FLAG("const.in_l1", const_in_l1, WMI_CONST),
    POWER("cluster.tag_bytes", "bytes", 1U << 18, 1U << 24, cluster_tag_bytes, WMI_CLUSTER),
    NUMBER("cluster.tag_base", "address", 0, (UINT64_C(1) << 48) - 1, cluster_tag_base, WMI_CLUSTER),

    TIME("time.issue_shared_load", time_issue_shared_load),
    TIME("time.issue_shared_store", time_issue_shared_store),
    TIME("time.issue_load", time_issue_load),
    TIME("time.issue_local", time_issue_local),
    TIME("time.issue_address", time_issue_address),
    TIME("time.issue_word", time_issue_word),
    TIME("time.issue_copy", time_issue_copy),
    TIME("time.pass", time_pass),
    TIME("time.write_back", time_write_back),
    TIME("time.write_back_merged_8", time_write_back_merged_8),
    TIME("time.write_back_merged_16", time_write_back_merged_16),
    TIME("time.miss", time_miss),
    TIME("time.l2_request", time_l2_request),
    TIME("time.l2_write", time_l2_write),
    TIME("time.l2_atomic", time_l2_atomic),
    TIME("time.copy_pass", time_copy_pass),
    TIME("time.copy_miss", time_copy_miss),
    TIME("time.copy_line", time_copy_line),
    TIME("time.bypass", time_bypass),
    TIME("time.cluster", time_cluster),
    TIME("time.cluster_atomic", time_cluster_atomic),
    TIME("time.cluster_load", time_cluster_load),
    TIME("latency.shared", latency_shared),
    TIME("latency.shared_atomic", latency_shared_atomic),
    TIME("latency.l1", latency_l1),
    TIME("latency.local", latency_local),
    TIME("latency.data_pass", latency_data_pass),
    TIME("latency.tag_pass", latency_tag_pass),
    TIME("latency.pair", latency_pair),
    TIME("latency.quad", latency_quad),
    TIME("latency.operand", latency_operand),
    TIME("latency.l2", latency_l2),
    TIME("latency.l2_line", latency_l2_line),
    TIME("latency.copy", latency_copy),
    TIME("latency.copy_pass", latency_copy_pass),
    TIME("latency.bypass", latency_bypass),
    TIME("latency.cluster", latency_cluster),
    TIME("latency.cluster_atomic", latency_cluster_atomic),
    TIME("latency.atomic", latency_atomic),
    TIME("latency.atomic_line", latency_atomic_line),

    NUMBER("global.address_bits", "bits", 32, 48, address_bits, 0),
    POWER("global.max_width_bytes", "bytes", 16, 32, max_width_bytes, 0),
    FLAG("instruction.ldmatrix", has_ldmatrix, 0),
    FLAG("instruction.stmatrix", has_stmatrix, 0),
    FLAG("instruction.cp_async", has_cp_async, 0),
    FLAG("instruction.shared_cluster", has_cluster, 0),
    FLAG("metric.mem_lgds", has_mem_lgds, 0),
    NUMBER("gpu.sms", "SMs", 1, 1024, sms, 0),
    NUMBER("gpu.clock", "MHz", 100, 10000, clock_mhz, 0),
    NUMBER("gpu.dram", "GB/s", 1, 100000, dram_gb_per_s, 0),
};

const size_t wmi_rule_count = sizeof wmi_rules / sizeof wmi_rules[0];

const struct wmi_rule *wmi_rule_find(const char *name)
{
    for (size_t i = 0; i < wmi_rule_count; i++) {
        if (!strcmp(wmi_rules[i].name, name))
            return &wmi_rules[i];
    }
    return NULL;
}
