/* Which fast path a profile gets on this processor. */
#include <string.h>

#include "model/model.h"

static const struct {
    const char *name;
    wmi_fast_function *function;
} paths[] = {
#ifdef WMI_HAS_X86
    {"avx512", wmi_fast_avx512},
    {"avx2", wmi_fast_avx2},
#endif
    {"portable", wmi_fast_portable},
};

#define PATHS (sizeof paths / sizeof paths[0])

static int processor_has(const char *name)
{
#ifdef WMI_HAS_X86
    __builtin_cpu_init();
    if (!strcmp(name, "avx512"))
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
    if (!strcmp(name, "avx2"))
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#endif
    return !strcmp(name, "portable");
}

/* The fast paths know one geometry, the one that all GPUs since Volta share. */
static int fits(const struct wm_profile *profile)
{
    static const uint32_t phase_lanes[] = {32, 32, 32, 16, 8};

    return profile->banks == 32 && profile->bank_bytes == 4 && profile->line_bytes == 1U << WMI_LINE_SHIFT &&
           profile->sector_bytes == 1U << WMI_SECTOR_SHIFT && profile->tag_bank_bits == 2 &&
           memcmp(profile->phase_lanes, phase_lanes, sizeof phase_lanes) == 0;
}

wmi_fast_function *wmi_fast_choose(const struct wm_profile *profile, const char *name)
{
    if (!fits(profile))
        return NULL;
    for (size_t i = 0; i < PATHS; i++) {
        if ((!name || !strcmp(name, paths[i].name)) && processor_has(paths[i].name))
            return paths[i].function;
    }
    return NULL;
}
