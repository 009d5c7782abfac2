/* make bench: transposes of 8192 * 8192 floats from their source, on one core: interpreter alone, and with the model. */
#define _GNU_SOURCE
#include "bench_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "warpmem.h"

#define KERNEL_RUNS 3U
#define WIDTH 8192.0

static const struct {
    const char *name;
    const char *source;
    uint32_t grid[3];
    double statements; /* that each element takes: declarations, conditions, assignments, loops' tests and steps */
} kernels[] = {
    {"transpose, naive",
     "__global__ void k(float *out, const float *in, int width, int height) {\n"
     "  const int x = blockIdx.x * 32 + threadIdx.x;\n"
     "  const int y = blockIdx.y * 8 + threadIdx.y;\n"
     "  if (x < width && y < height)\n"
     "    out[x * height + y] = in[y * width + x];\n"
     "}\n",
     {256, 1024, 1}, 4},
    {"transpose, padded tile",
     "__global__ void k(float *out, const float *in, int width, int height) {\n"
     "  __shared__ float tile[32][33];\n"
     "  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;\n"
     "  const int tx = blockIdx.y * 32 + threadIdx.x, ty = blockIdx.x * 32 + threadIdx.y;\n"
     "  for (int j = 0; j < 32; j += 8)\n"
     "    tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];\n"
     "  __syncthreads();\n"
     "  for (int j = 0; j < 32; j += 8)\n"
     "    out[(ty + j) * height + tx] = tile[threadIdx.x][threadIdx.y + j];\n"
     "}\n",
     {256, 256, 1}, 2 * 3 + 9.0 / 4}, /* two loops: assignment, test, step; per 4 elements 4 variables, a barrier, two
                                         starts and last tests */
};

static double seconds_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int complain(const struct wm_diag *diag)
{
    char text[1024];

    wm_diag_format(diag, text, sizeof text);
    fprintf(stderr, "bench: %s\n", text);
    return -1;
}

/* One run; the model and a tally too where arch is given. */
static int time_kernel(const char *path, const uint32_t grid[3], const wm_arch *arch, double *seconds)
{
    static const struct wm_launch_argument arguments[] = {{"width", "8192"}, {"height", "8192"}};
    struct wm_launch launch = {.block = {32, 8, 1}, .arguments = arguments, .n_arguments = 2};
    const struct wm_reader_options options = {.launch = &launch};
    const double start = seconds_now();
    struct wm_counts counts;
    struct wm_access access;
    struct wm_diag diag;
    wm_reader *reader = NULL;
    wm_tally *tally = NULL;
    enum wm_status status;
    wm_chunk *chunk;

    memcpy(launch.grid, grid, sizeof launch.grid);
    memset(&diag, 0, sizeof diag);
    if (wm_reader_open(path, &options, &reader, &diag) != WM_OK)
        return complain(&diag);
    if (arch && wm_tally_new(arch, WM_BY_LINE, &tally) != WM_OK)
        return -1;
    while ((status = wm_reader_chunk(reader, &chunk, &diag)) == WM_OK) {
        while (arch && wm_chunk_next(chunk, &access, NULL) == WM_OK) {
            if (wm_model(arch, &access, &counts) != WM_OK || wm_tally_add(tally, &access, &counts) != WM_OK)
                return -1;
        }
        wm_chunk_free(chunk);
    }
    wm_tally_free(tally);
    wm_reader_close(reader);
    *seconds = seconds_now() - start;
    return status == WM_END ? 0 : complain(&diag);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

static int bench_one(const char *path, size_t i, const wm_arch *arch)
{
    double alone[KERNEL_RUNS];
    double whole[KERNEL_RUNS];
    FILE *file = fopen(path, "w");

    if (!file || fputs(kernels[i].source, file) < 0 || fclose(file) != 0) {
        perror(path);
        return -1;
    }
    for (unsigned run = 0; run < KERNEL_RUNS; run++) {
        if (time_kernel(path, kernels[i].grid, NULL, &alone[run]) != 0 || time_kernel(path, kernels[i].grid, arch, &whole[run]) != 0)
            return -1;
    }
    qsort(alone, KERNEL_RUNS, sizeof alone[0], by_size);
    qsort(whole, KERNEL_RUNS, sizeof whole[0], by_size);
    printf("  %-28s %12.2f %18.0f %18.2f\n", kernels[i].name, alone[KERNEL_RUNS / 2],
           WIDTH * WIDTH * kernels[i].statements / alone[KERNEL_RUNS / 2] / 1e6, whole[KERNEL_RUNS / 2]);
    fflush(stdout);
    return 0;
}

int bench_kernels(const char *directory)
{
    char path[4096];
    wm_arch *arch;
    int status = 0;

    if (wm_arch_open("sm_90", &arch, NULL) != WM_OK)
        return -1;
    snprintf(path, sizeof path, "%s/warpmem-bench-%ld.cu", directory, (long)getpid());
    printf("kernels from their source, one core: 8192 * 8192 floats\n");
    printf("  %-28s %12s %18s %18s\n", "kernel", "run, s", "M lane-stmts/s", "run and model, s");
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0] && status == 0; i++)
        status = bench_one(path, i, arch);
    unlink(path);
    wm_arch_close(arch);
    return status;
}
