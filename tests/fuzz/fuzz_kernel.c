/* Sources of kernels: compiled and, where that works, run for a while. What is handed out must be what the model takes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_ARGUMENTS 16
#define MOST_ACCESSES 20000

static uint32_t bounded(const char *text, uint32_t most)
{
    const unsigned long value = strtoul(text, NULL, 10);

    return value > most ? most : (uint32_t)value;
}

/* "// warpmem: --kernel NAME --arg A=B ..." in the first line, as in traces/kernels; the launch stays small. */
static void read_options(char *line, struct wm_launch *launch, struct wm_launch_argument *arguments)
{
    char *rest = NULL;

    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strtok_r(NULL, " ", &rest);

        if (!value)
            return;
        if (strcmp(word, "--kernel") == 0)
            launch->kernel = value;
        else if (strcmp(word, "--grid") == 0)
            launch->grid[0] = bounded(value, 3);
        else if (strcmp(word, "--block") == 0)
            launch->block[0] = bounded(value, 70);
        else if (strcmp(word, "--smem") == 0)
            launch->shared_bytes = bounded(value, 4096);
        else if (strcmp(word, "--arg") == 0 && strchr(value, '=') && launch->n_arguments < MOST_ARGUMENTS) {
            char *sign = strchr(value, '=');

            *sign = '\0';
            arguments[launch->n_arguments++] = (struct wm_launch_argument){value, sign + 1};
        }
    }
}

static void run(struct wmi_run *run, const wm_arch *arch)
{
    static struct wm_access accesses[64];
    struct wm_counts counts;
    struct wm_diag diag;
    int is_warning;
    size_t n;

    for (size_t total = 0; total < MOST_ACCESSES && wmi_run_many(run, accesses, 64, &n, &diag) == WM_OK; total += n) {
        for (size_t i = 0; i < n; i++) {
            if (wm_model(arch, &accesses[i], &counts) != WM_OK)
                abort();
        }
    }
    for (size_t i = 0; wmi_run_remark_at(run, i, &is_warning); i++)
        ;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static wm_arch *arch;
    static const char head[] = "// warpmem: ";
    struct wm_launch_argument arguments[MOST_ARGUMENTS];
    struct wm_launch launch = {.block = {40, 1, 1}, .grid = {2, 1, 1}, .max_steps = 5000, .memory_bytes = 8u << 20, .no_files = 1};
    struct wmi_run *kernel = NULL;
    struct wm_diag diag;
    char *line = NULL;

    if (!arch && wm_arch_open("sm_90", &arch, NULL) != WM_OK)
        abort();
    launch.arguments = arguments;
    if (size > sizeof head && memcmp(data, head, sizeof head - 1) == 0) {
        const uint8_t *end = memchr(data, '\n', size);
        const size_t length = (end ? (size_t)(end - data) : size) - (sizeof head - 1);

        line = malloc(length + 1);
        if (!line)
            return 0;
        memcpy(line, data + sizeof head - 1, length);
        line[length] = '\0';
        read_options(line, &launch, arguments);
    }
    if (wmi_run_new("fuzz.cu", (const char *)data, size, &launch, &kernel, &diag) == WM_OK)
        run(kernel, arch);
    wmi_run_free(kernel);
    free(line);
    return 0;
}
