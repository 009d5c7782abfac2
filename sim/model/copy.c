/* cp.async: the global side is a load's; the shared side counts lanes, not words, as atomics do. */
#include "model/model.h"

void wmi_copy(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out)
{
    struct wm_access side = *access;

    side.opcode.operation = WM_LD;
    wmi_global(profile, &side, out);
    out->lsu_wavefronts = 0;
    side.opcode.operation = WM_ATOM;
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        side.address[lane] = access->shared_address[lane];
    wmi_shared(profile, &side, out);
}
