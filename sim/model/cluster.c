/*
 * Distributed shared memory: accesses to the shared memory of other blocks of the cluster.
 *
 * Measured on an H200 (traces/hardware/sm_90/distributed). They go through L1's tag stage and data stage as accesses to
 * global memory that miss do, and then to the other SM instead of L2. The hash of the tag banks sees the blocks closer
 * together than they lie in addresses. Nothing of it is counted as shared memory where the data lies; but an atomic
 * passes the own shared memory's stage as well, in case that lanes want that.
 */
#include "model/model.h"

static uint64_t base_of(const struct wm_profile *profile)
{
    return profile->cluster_tag_base & ~((UINT64_C(1) << (WMI_CLUSTER_BIT + WMI_CLUSTER_BITS)) - 1);
}

void wmi_cluster_move(const struct wm_profile *profile, const struct wm_access *access, struct wm_access *out)
{
    const uint64_t offset = (UINT64_C(1) << WMI_CLUSTER_BIT) - 1;
    const unsigned shift = WMI_CLUSTER_BIT - wmi_log2(profile->cluster_tag_bytes);

    *out = *access;
    out->opcode.space = WM_GLOBAL;
    out->l1 = WM_L1_MISS;
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        out->address[lane] = base_of(profile) +
                             ((access->address[lane] & ~offset) >> shift | (access->address[lane] & offset));
    /* measured: one without a result is the same instruction */
    if (out->opcode.operation == WM_RED)
        out->opcode.operation = WM_ATOM;
}

uint64_t wmi_cluster_address(const struct wm_profile *profile, uint64_t moved)
{
    const uint64_t offset = profile->cluster_tag_bytes - UINT64_C(1);

    if (moved < base_of(profile))
        return 0; /* of a lane that is not active */
    moved -= base_of(profile);
    return (moved & ~offset) << (WMI_CLUSTER_BIT - wmi_log2(profile->cluster_tag_bytes)) | (moved & offset);
}

void wmi_cluster_counts(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out)
{
    out->l2_requests = 0;
    out->l2_sectors = 0;
    if (access->opcode.operation != WM_ATOM && access->opcode.operation != WM_RED)
        return;
    out->shared_wavefronts = wmi_busy_phases(access->mask, profile->phase_lanes[wmi_log2(access->opcode.width_bytes)]);
    if (access->opcode.atomic == WM_ATOMIC_CAS)
        out->shared_wavefronts *= profile->cas_passes;
    out->shared_wavefronts_ideal = out->shared_wavefronts;
}
