/* Running kernels in tests. */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 100000

struct bytes {
    char *data;
    size_t size;
    size_t room;
};

static struct bytes dumped[64]; /* of all runs: freed at exit */
static size_t dumped_count;

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void three(const char *text, uint32_t out[3])
{
    sscanf(text, "%u,%u,%u", &out[0], &out[1], &out[2]);
}

static void parse(char *text, struct wm_launch *launch, struct wm_launch_argument *arguments, const char **macros)
{
    char *rest = NULL;

    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = must(strtok_r(NULL, " ", &rest));

        if (strcmp(word, "--kernel") == 0) {
            launch->kernel = value;
        } else if (strcmp(word, "--grid") == 0) {
            three(value, launch->grid);
        } else if (strcmp(word, "--block") == 0) {
            three(value, launch->block);
        } else if (strcmp(word, "--smem") == 0) {
            launch->shared_bytes = strtoull(value, NULL, 0);
        } else if (strcmp(word, "--max-steps") == 0) {
            launch->max_steps = strtoull(value, NULL, 0);
        } else if (strcmp(word, "--sample") == 0) {
            launch->sample = strtoull(value, NULL, 0);
        } else if (strcmp(word, "--blocks") == 0) {
            unsigned long long first, last;

            sscanf(value, "%llu-%llu", &first, &last);
            launch->some_blocks = 1;
            launch->first_block = first;
            launch->last_block = last;
        } else if (strcmp(word, "--arg") == 0) {
            char *sign = must(strchr(value, '='));

            *sign = '\0';
            arguments[launch->n_arguments++] = (struct wm_launch_argument){value, sign + 1};
        } else if (strcmp(word, "-D") == 0) {
            macros[launch->n_macros++] = value;
        } else {
            abort();
        }
    }
    launch->arguments = arguments;
    launch->macros = macros;
}

struct ran *run_kernel(const char *source, const char *options)
{
    struct wm_launch launch = {.kernel = NULL};
    struct wm_launch_argument arguments[32];
    const char *macros[32];
    struct ran *ran = must(calloc(1, sizeof *ran));
    char *text = must(strdup(options));
    const char *remark;
    int is_warning;

    parse(text, &launch, arguments, macros);
    ran->status = wmi_run_new("k.cu", source, strlen(source), &launch, &ran->run, &ran->diag);
    free(text);
    if (ran->status != WM_OK)
        return ran;
    ran->accesses = must(malloc(ROOM * sizeof *ran->accesses));
    while (ran->count < ROOM) {
        size_t n;

        /* by few, so that runs stop and go on everywhere */
        ran->status = wmi_run_many(ran->run, ran->accesses + ran->count, ROOM - ran->count < 3 ? ROOM - ran->count : 3, &n, &ran->diag);
        if (ran->status != WM_OK)
            break;
        ran->count += n;
    }
    for (size_t i = 0; (remark = wmi_run_remark_at(ran->run, i, &is_warning)) != NULL; i++) {
        const size_t used = strlen(ran->remarks);

        snprintf(ran->remarks + used, sizeof ran->remarks - used, "%s%s\n", is_warning ? "!" : "", remark);
    }
    return ran;
}

static int keep(void *context, const char *text, size_t length)
{
    struct bytes *bytes = context;

    if (bytes->size + length > bytes->room) {
        bytes->room = 2 * (bytes->size + length);
        bytes->data = must(realloc(bytes->data, bytes->room));
    }
    memcpy(bytes->data + bytes->size, text, length);
    bytes->size += length;
    return 0;
}

void *buffer_of(struct ran *ran, const char *name, size_t *size)
{
    struct bytes *bytes = &dumped[dumped_count++];

    if (dumped_count > sizeof dumped / sizeof dumped[0] || wmi_run_dump(ran->run, name, keep, bytes, &ran->diag) != WM_OK)
        abort();
    if (size)
        *size = bytes->size;
    return bytes->data;
}

void ran_free(struct ran *ran)
{
    while (dumped_count) {
        free(dumped[--dumped_count].data);
        memset(&dumped[dumped_count], 0, sizeof dumped[0]);
    }
    wmi_run_free(ran->run);
    free(ran->accesses);
    free(ran);
}

static int is_that(const struct wm_access *access, const char *opcode, unsigned line)
{
    char text[WM_OPCODE_TEXT_SIZE];

    return wm_opcode_format(&access->opcode, text) && strcmp(text, opcode) == 0 && (line == 0 || access->line == line);
}

size_t count_of(const struct ran *ran, const char *opcode, unsigned line)
{
    size_t n = 0;

    for (size_t i = 0; i < ran->count; i++)
        n += (size_t)is_that(&ran->accesses[i], opcode, line);
    return n;
}

const struct wm_access *access_of(const struct ran *ran, const char *opcode, unsigned line)
{
    for (size_t i = 0; i < ran->count; i++) {
        if (is_that(&ran->accesses[i], opcode, line))
            return &ran->accesses[i];
    }
    return NULL;
}
