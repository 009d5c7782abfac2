/* One access in, its counts out. */
#include "model/model.h"

#include <stdio.h>
#include <string.h>

struct counter {
    const char *name;
    const char *metric;
    size_t offset;
};

#define COUNTER(field, metric) {#field, metric, offsetof(struct wm_counts, field)}

static const struct counter counters[WM_COUNTERS] = {
    COUNTER(requests, "l1tex__t_requests_pipe_lsu"),
    COUNTER(lines, "l1tex__t_set_accesses_pipe_lsu"),
    COUNTER(sectors, "l1tex__t_sectors_pipe_lsu"),
    COUNTER(sectors_ideal, NULL),
    COUNTER(tag_wavefronts, "l1tex__t_output_wavefronts_pipe_lsu"),
    COUNTER(lsu_wavefronts, "l1tex__data_pipe_lsu_wavefronts_mem_lgds"),
    COUNTER(shared_wavefronts, "l1tex__data_pipe_lsu_wavefronts_mem_shared"),
    COUNTER(shared_wavefronts_ideal, NULL),
    COUNTER(bank_conflicts, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"),
    COUNTER(ways, NULL),
    COUNTER(l2_requests, "lts__t_requests_srcunit_tex"),
    COUNTER(l2_sectors, "lts__t_sectors_srcunit_tex"),
    COUNTER(lsu_writeback, "l1tex__lsu_writeback_active"),
};

static int is_counter(enum wm_counter counter)
{
    return (unsigned)counter < WM_COUNTERS;
}

const char *wm_counter_name(enum wm_counter counter)
{
    return is_counter(counter) ? counters[counter].name : NULL;
}

const char *wm_counter_metric(enum wm_counter counter)
{
    return is_counter(counter) ? counters[counter].metric : NULL;
}

const char *wm_arch_metric(const wm_arch *arch, enum wm_counter counter)
{
    if (counter == WM_LSU_WAVEFRONTS && !wm_arch_profile(arch)->has_mem_lgds)
        return "l1tex__data_pipe_lsu_wavefronts_mem_lg";
    return wm_counter_metric(counter);
}

uint32_t wm_counts_get(const struct wm_counts *counts, enum wm_counter counter)
{
    uint32_t value = 0;

    if (counts && is_counter(counter))
        memcpy(&value, (const char *)counts + counters[counter].offset, sizeof value);
    return value;
}

/* Address bits that must be zero: low ones by alignment, high ones by the size of the space. */
struct limits {
    uint64_t misaligned;
    uint64_t outside;
};

static uint64_t above(uint64_t size)
{
    return ~(size - 1);
}

static struct limits limits_of(const struct wm_profile *profile, const struct wm_opcode *opcode)
{
    struct limits limits = {opcode->width_bytes - UINT64_C(1), 0};

    switch (opcode->space) {
    case WM_SHARED:
    case WM_LOCAL:
        limits.outside = above(profile->shared_window_bytes);
        break;
    case WM_CONST:
        limits.outside = above(UINT64_C(1) << 32);
        break;
    case WM_SHARED_CLUSTER:
        limits.outside = above(UINT64_C(1) << (WMI_CLUSTER_BIT + WMI_CLUSTER_BITS));
        break;
    default:
        limits.outside = above(UINT64_C(1) << profile->address_bits);
        break;
    }
    return limits;
}

/* Whether this GPU has the instruction. */
static int has_instruction(const struct wm_profile *profile, const struct wm_opcode *opcode)
{
    switch (opcode->operation) {
    case WM_LDMATRIX:
        return profile->has_ldmatrix != 0;
    case WM_STMATRIX:
        return profile->has_stmatrix != 0;
    case WM_CP_ASYNC:
        return profile->has_cp_async != 0;
    default:
        break;
    }
    if (opcode->space == WM_SHARED_CLUSTER && !profile->has_cluster)
        return 0;
    if (opcode->width_bytes > 16)
        return opcode->space == WM_GLOBAL && opcode->width_bytes <= profile->max_width_bytes;
    return 1;
}

static enum wm_status check(const struct wm_profile *profile, const struct wm_access *access)
{
    const struct limits limits = limits_of(profile, &access->opcode);
    const uint32_t mask = wmi_lanes_used(access);
    uint64_t bits = 0;
    uint64_t shared_bits = 0;

    if (!has_instruction(profile, &access->opcode))
        return WM_E_UNSUPPORTED;
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        bits |= access->address[lane] & (0 - (uint64_t)(mask >> lane & 1));
    if (access->opcode.operation == WM_CP_ASYNC) {
        for (unsigned lane = 0; lane < WM_LANES; lane++)
            shared_bits |= access->shared_address[lane] & (0 - (uint64_t)(mask >> lane & 1));
    }
    if ((bits | shared_bits) & limits.misaligned)
        return WM_E_MISALIGNED;
    if ((bits & limits.outside) || (shared_bits & above(profile->shared_window_bytes)))
        return WM_E_ADDRESS;
    if (access->opcode.space == WM_SHARED_CLUSTER && (bits & wmi_cluster_gap(profile)))
        return WM_E_ADDRESS;
    return WM_OK;
}

enum wm_path wmi_path(const struct wm_profile *profile, const struct wm_access *access)
{
    const struct wm_opcode *opcode = &access->opcode;
    const int is_atomic = opcode->operation == WM_ATOM || opcode->operation == WM_RED;
    /* Global, or a space that goes the same way; the constant cache is no part of L1. */
    const int in_l1 = opcode->space == WM_GLOBAL || opcode->space == WM_SHARED_CLUSTER ||
                      (opcode->space == WM_GENERIC && profile->generic_in_l1) ||
                      (opcode->space == WM_LOCAL && profile->local_in_l1) ||
                      (opcode->space == WM_CONST && profile->const_in_l1);

    if (opcode->space != WM_SHARED && !in_l1)
        return WM_PATH_UNSEEN;
    if (!access->mask)
        return WM_PATH_NONE;
    if (opcode->operation == WM_CP_ASYNC)
        return WM_PATH_COPY;
    if (opcode->space == WM_SHARED)
        return WM_PATH_SHARED;
    return is_atomic && profile->atomic_passes ? WM_PATH_ATOMIC : WM_PATH_L1;
}

static void model_access(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out)
{
    *out = (struct wm_counts){0};
    switch (wmi_path(profile, access)) {
    case WM_PATH_UNSEEN: break;
    case WM_PATH_NONE:
        out->shared_wavefronts = profile->predicated_off_wavefronts;
        out->shared_wavefronts_ideal = profile->predicated_off_wavefronts;
        break;
    case WM_PATH_COPY: wmi_copy(profile, access, out); break;
    case WM_PATH_SHARED: wmi_shared(profile, access, out); break;
    case WM_PATH_ATOMIC: wmi_atomic(profile, access, out); break;
    default:
        if (access->opcode.space == WM_LOCAL)
            wmi_local(profile, access, out);
        else
            wmi_global(profile, access, out);
        break;
    }
    out->lsu_writeback *= profile->write_back_passes;
}

static void model(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out)
{
    struct wm_access moved;

    if (access->opcode.space != WM_SHARED_CLUSTER || !access->mask) {
        model_access(profile, access, out);
        return;
    }
    wmi_cluster_move(profile, access, &moved);
    model_access(profile, &moved, out);
    wmi_cluster_counts(profile, access, out);
}

/* What does not change over a run of accesses with one opcode. */
struct run {
    struct wm_opcode opcode;
    uint64_t refused;         /* address bits that must be zero */
    wmi_fast_function *fast;  /* NULL: none */
};

static enum wm_status start_run(const struct wm_profile *profile, const struct wm_opcode *opcode, struct run *run)
{
    const struct limits limits = limits_of(profile, opcode);

    if (wm_opcode_check(opcode) != WM_OK)
        return WM_E_ARGUMENT;
    run->opcode = *opcode;
    run->refused = limits.misaligned | limits.outside;
    run->fast = NULL;
    if ((opcode->operation == WM_LD || opcode->operation == WM_ST) && opcode->width_bytes <= 16 &&
        (opcode->space == WM_SHARED || opcode->space == WM_GLOBAL))
        run->fast = profile->fast;
    return WM_OK;
}

enum wm_status wm_model_many(const wm_arch *arch, const struct wm_access *accesses, size_t n, struct wm_counts *out,
                             size_t *done)
{
    const struct wm_profile *profile;
    struct run run = {.fast = NULL};
    enum wm_status status = WM_OK;
    size_t i = 0;

    if (done)
        *done = 0;
    if (!arch || (n && (!accesses || !out)))
        return WM_E_ARGUMENT;
    profile = wm_arch_profile(arch);
    for (; i < n; i++) {
        if (memcmp(&run.opcode, &accesses[i].opcode, sizeof run.opcode) != 0) {
            status = start_run(profile, &accesses[i].opcode, &run);
            if (status != WM_OK)
                break;
        }
        if (run.fast && accesses[i].mask && run.fast(profile, &accesses[i], run.refused, &out[i]))
            continue;
        status = check(profile, &accesses[i]);
        if (status != WM_OK)
            break;
        model(profile, &accesses[i], &out[i]);
    }
    if (done)
        *done = i;
    return status;
}

enum wm_status wm_model(const wm_arch *arch, const struct wm_access *access, struct wm_counts *out)
{
    return wm_model_many(arch, access, 1, out, NULL);
}

/* The first lane with one of bits set in its address; WM_LANES: none. */
static unsigned lane_with(const uint64_t address[WM_LANES], uint32_t mask, uint64_t bits)
{
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        if ((mask >> lane & 1) && (address[lane] & bits))
            return lane;
    }
    return WM_LANES;
}

/* Says which lane of one side of an access is refused; returns whether one is. */
static int say_lane(const uint64_t address[WM_LANES], uint32_t mask, const struct limits *limits, enum wm_status status,
                    const char *what, const char *opcode, const struct wm_access *access, struct wm_diag *diag)
{
    const uint64_t bits = status == WM_E_MISALIGNED ? limits->misaligned : limits->outside;
    const unsigned lane = lane_with(address, mask, bits);

    if (lane == WM_LANES)
        return 0;
    if (status == WM_E_MISALIGNED) {
        snprintf(diag->text, sizeof diag->text, "%s: lane %u: %s 0x%llx is not a multiple of %u, the width of the access",
                 opcode, lane, what, (unsigned long long)address[lane], access->opcode.width_bytes);
    } else {
        snprintf(diag->text, sizeof diag->text, "%s: lane %u: %s 0x%llx is not below 0x%llx, the end of the address space",
                 opcode, lane, what, (unsigned long long)address[lane], (unsigned long long)(0 - limits->outside));
    }
    return 1;
}

enum wm_status wm_access_check(const wm_arch *arch, const struct wm_access *access, struct wm_diag *diag)
{
    const struct wm_profile *profile;
    char opcode[WM_OPCODE_TEXT_SIZE];
    uint64_t shared[WM_LANES];
    struct limits limits;
    enum wm_status status;

    if (!arch || !access || wm_opcode_check(&access->opcode) != WM_OK)
        return WM_E_ARGUMENT;
    profile = wm_arch_profile(arch);
    status = check(profile, access);
    if (status == WM_OK || !diag)
        return status;
    diag->status = status;
    wm_opcode_format(&access->opcode, opcode);
    if (status == WM_E_UNSUPPORTED) {
        snprintf(diag->text, sizeof diag->text, "%s has no %s", wm_arch_name(arch), opcode);
        return status;
    }
    limits = limits_of(profile, &access->opcode);
    if (access->opcode.space == WM_SHARED_CLUSTER && status == WM_E_ADDRESS) {
        const unsigned lane = lane_with(access->address, access->mask, wmi_cluster_gap(profile));

        if (lane < WM_LANES && !(access->address[lane] & limits.outside)) {
            snprintf(diag->text, sizeof diag->text,
                     "%s: lane %u: address 0x%llx lies 0x%llx bytes into its block's shared memory, which has no more than 0x%x",
                     opcode, lane, (unsigned long long)access->address[lane],
                     (unsigned long long)(access->address[lane] & ((UINT64_C(1) << WMI_CLUSTER_BIT) - 1)),
                     profile->cluster_tag_bytes);
            return status;
        }
    }
    if (say_lane(access->address, wmi_lanes_used(access), &limits, status, "address", opcode, access, diag))
        return status;
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        shared[lane] = access->shared_address[lane];
    limits.outside = above(profile->shared_window_bytes);
    say_lane(shared, access->mask, &limits, status, "shared address", opcode, access, diag);
    return status;
}
