/* Predicted cycles that other layouts of an array in shared memory save. */
#include "path.h"

enum wm_status path_layout_of(const wm_arch *arch, const struct access_kernel *kernel,
                              const struct shared_advice *advice, struct path_layout *out)
{
    *out = (struct path_layout){.array = advice->array->name};
    for (int c = 0; c < SHARED_CHOICES; c++) {
        const struct shared_result *result = &advice->results[c];
        double saved = 0;

        out->is_found[c] = result->is_found;
        for (size_t s = 0; s < kernel->n_sites && result->is_found; s++) {
            const struct access_site *site = kernel->sites[s];
            struct cost before = {.instructions = 0}, after = {.instructions = 0};
            enum wm_status status = WM_OK;

            if (c == SHARED_THREADS && site->opcode.operation != WM_LD)
                continue;
            for (size_t i = 0; i < site->n && !status; i++) {
                struct wm_access moved;

                if (!shared_lanes_of(&site->accesses[i]))
                    continue;
                shared_rewrite_all(advice, (enum shared_choice)c, &site->accesses[i], &moved);
                status = cost_add(arch, &site->accesses[i], 1, &before);
                if (!status)
                    status = cost_add(arch, &moved, 1, &after);
            }
            if (status)
                return status;
            if (before.instructions)
                saved += (before.cycles - after.cycles) * (double)site->executed / (double)before.instructions;
        }
        if (saved > out->cycles)
            out->cycles = saved;
    }
    return WM_OK;
}
