/* Sources of kernels, and expressions by themselves: compiled and, where that works, run for a while. What is handed out must
 * be what the model takes. */
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
static void read_options(char *line, struct wm_launch *launch, struct wm_launch_argument *arguments, const char **macros)
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
        else if (strcmp(word, "-D") == 0 && launch->n_macros < MOST_ARGUMENTS)
            macros[launch->n_macros++] = value;
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

#define MOST_PIECES 64

/* Behind its first line, "// expressions": lines that begin with decl, let, load or store. */
static void run_expressions(char *text, const struct wm_launch *launch, const wm_arch *arch)
{
    struct wm_expression expressions[MOST_PIECES];
    const char *declarations[MOST_PIECES];
    const char *lets[MOST_PIECES];
    struct wm_expressions input = {expressions, 0, declarations, 0, lets, 0};
    struct wmi_run *kernel = NULL;
    struct wm_diag diag;
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "decl ", 5) == 0 && input.n_declarations < MOST_PIECES)
            declarations[input.n_declarations++] = line + 5;
        else if (strncmp(line, "let ", 4) == 0 && input.n_lets < MOST_PIECES)
            lets[input.n_lets++] = line + 4;
        else if ((strncmp(line, "load ", 5) == 0 || strncmp(line, "store ", 6) == 0) && input.n_expressions < MOST_PIECES)
            expressions[input.n_expressions++] = (struct wm_expression){line + (line[0] == 'l' ? 5 : 6), line[0] == 's'};
    }
    if (wmi_run_new_expressions(&input, launch, &kernel, &diag) == WM_OK) {
        for (size_t i = 0; wmi_run_array_at(kernel, i); i++) {
            const struct wm_array *array = wmi_run_array_at(kernel, i);

            if (!array->name || !array->element || !array->file || array->dimensions > WM_DIMENSIONS)
                abort();
        }
        run(kernel, arch);
    }
    wmi_run_free(kernel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char expressions[] = "// expressions\n";
    static wm_arch *arch;
    static const char head[] = "// warpmem: ";
    struct wm_launch_argument arguments[MOST_ARGUMENTS];
    const char *macros[MOST_ARGUMENTS];
    struct wm_launch launch = {.block = {40, 1, 1}, .grid = {2, 1, 1}, .max_steps = 5000, .memory_bytes = 8u << 20, .no_files = 1};
    struct wmi_run *kernel = NULL;
    struct wm_diag diag;
    char *line = NULL;

    if (!arch && wm_arch_open("sm_90", &arch, NULL) != WM_OK)
        abort();
    launch.arguments = arguments;
    launch.macros = macros;
    if (size >= sizeof expressions - 1 && memcmp(data, expressions, sizeof expressions - 1) == 0) {
        line = malloc(size + 1);
        if (!line)
            return 0;
        memcpy(line, data, size);
        line[size] = '\0';
        run_expressions(line + sizeof expressions - 1, &launch, arch);
        free(line);
        return 0;
    }
    if (size > sizeof head && memcmp(data, head, sizeof head - 1) == 0) {
        const uint8_t *end = memchr(data, '\n', size);
        const size_t length = (end ? (size_t)(end - data) : size) - (sizeof head - 1);

        line = malloc(length + 1);
        if (!line)
            return 0;
        memcpy(line, data + sizeof head - 1, length);
        line[length] = '\0';
        read_options(line, &launch, arguments, macros);
    }
    if (wmi_run_new("fuzz.cu", (const char *)data, size, &launch, &kernel, &diag) == WM_OK)
        run(kernel, arch);
    wmi_run_free(kernel);
    free(line);
    return 0;
}
