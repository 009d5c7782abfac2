/*
 * make bench: how fast the model and the whole command are, on one core, pattern by pattern.
 *
 *     bench WARPMEM [DIRECTORY]
 *
 * WARPMEM is the command to time end to end; DIRECTORY (default: $TMPDIR or /tmp) takes the generated traces, some 600 MB,
 * which are removed at the end. Every figure is the median of RUNS runs after one that is not counted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench_kernel.h"
#include "warpmem.h"

#define RECORDS 65536U
#define RUNS 5U

/* Copies of each pattern in a trace file: long enough that starting the program does not matter. */
#define COPIES 4U

extern char **environ;

enum pattern {
    CONTIGUOUS,
    STRIDE_2,
    STRIDE_4,
    STRIDE_32,
    RANDOM_1_GIB,
    CONTIGUOUS_16_BYTES,
    SHARED_CONTIGUOUS,
    SHARED_2_WAY,
    SHARED_32_WAY,
    SHARED_RANDOM,
    SHARED_BROADCAST,
    PATTERNS
};

static const struct {
    const char *name;
    const char *opcode;
    uint64_t stride; /* bytes from lane to lane; ignored for random patterns */
    uint64_t region; /* bytes that the patterns move in: a power of two, or 0 for a random one in 48 KiB */
} patterns[PATTERNS] = {
    [CONTIGUOUS] = {"global contiguous", "ld.global.b32", 4, UINT64_C(1) << 30},
    [STRIDE_2] = {"global stride 2 elements", "ld.global.b32", 8, UINT64_C(1) << 30},
    [STRIDE_4] = {"global stride 4 elements", "ld.global.b32", 16, UINT64_C(1) << 30},
    [STRIDE_32] = {"global stride 32 elements", "ld.global.b32", 128, UINT64_C(1) << 30},
    [RANDOM_1_GIB] = {"global random in 1 GiB", "ld.global.b32", 0, UINT64_C(1) << 30},
    [CONTIGUOUS_16_BYTES] = {"global contiguous 16 B", "ld.global.v4.b32", 16, UINT64_C(1) << 30},
    [SHARED_CONTIGUOUS] = {"shared conflict-free", "ld.shared.b32", 4, 1 << 15},
    [SHARED_2_WAY] = {"shared 2-way", "ld.shared.b32", 8, 1 << 15},
    [SHARED_32_WAY] = {"shared 32-way", "ld.shared.b32", 128, 1 << 15},
    [SHARED_RANDOM] = {"shared random in 48 KiB", "ld.shared.b32", 0, 48 << 10},
    [SHARED_BROADCAST] = {"shared broadcast", "ld.shared.b32", 0, 1 << 15},
};

static void die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, RUNS, sizeof *values, compare_doubles);
    return values[RUNS / 2];
}

/* splitmix64 */
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static void fill(enum pattern pattern, struct wm_access *accesses)
{
    static const struct wm_kernel kernel = {.name = "bench"};
    uint64_t seed = 1;
    struct wm_access access = {.mask = UINT32_MAX, .count = 1, .pc = WM_NO_PC, .kernel = &kernel};
    const int is_random = pattern == RANDOM_1_GIB || pattern == SHARED_RANDOM;

    if (wm_opcode_parse(patterns[pattern].opcode, strlen(patterns[pattern].opcode), &access.opcode, NULL) != WM_OK)
        die("%s: not an opcode", patterns[pattern].opcode);
    for (uint64_t i = 0; i < RECORDS; i++) {
        /* Each record starts where the one before it ended, as a kernel that walks an array does. */
        const uint64_t span = patterns[pattern].stride * WM_LANES;
        const uint64_t start = patterns[pattern].stride ? i * span % patterns[pattern].region : 4 * i % patterns[pattern].region;

        for (unsigned lane = 0; lane < WM_LANES; lane++) {
            if (is_random)
                access.address[lane] = random_next(&seed) % (patterns[pattern].region / 4) * 4;
            else
                access.address[lane] = start + lane * patterns[pattern].stride;
        }
        if (access.opcode.space == WM_GLOBAL) {
            for (unsigned lane = 0; lane < WM_LANES; lane++)
                access.address[lane] += UINT64_C(0x7f0000000000);
        }
        accesses[i] = access;
    }
}

static long peak_kib(int who)
{
    struct rusage usage;

    getrusage(who, &usage);
    return usage.ru_maxrss;
}

/* Accesses a second of the model alone. */
static double time_model(const wm_arch *arch, const struct wm_access *accesses, struct wm_counts *counts)
{
    double rates[RUNS];

    for (unsigned run = 0; run <= RUNS; run++) {
        const double start = now();
        unsigned passes = 0;

        do {
            if (wm_model_many(arch, accesses, RECORDS, counts, NULL) != WM_OK)
                die("the model refuses a pattern");
            passes++;
        } while (now() - start < 0.1);
        if (run)
            rates[run - 1] = passes * (double)RECORDS / (now() - start);
    }
    return median(rates);
}

static void bench_model(const wm_arch *arch)
{
    struct wm_access *accesses = malloc(RECORDS * sizeof *accesses);
    struct wm_counts *counts = malloc(RECORDS * sizeof *counts);
    double shared_seconds = 0;

    if (!accesses || !counts)
        die("out of memory");
    printf("model alone, one core: %u records of 32 64-bit addresses, all counters\n", RECORDS);
    printf("  %-28s %12s %12s\n", "pattern", "M accesses/s", "MB/s");
    for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
        double rate;

        fill((enum pattern)pattern, accesses);
        rate = time_model(arch, accesses, counts);
        if (pattern >= SHARED_CONTIGUOUS)
            shared_seconds += 1 / rate;
        printf("  %-28s %12.2f %12.0f\n", patterns[pattern].name, rate / 1e6, rate * 256 / 1e6);
        fflush(stdout);
    }
    printf("  %-28s %12.2f\n", "the five shared ones in turn", 5e-6 / shared_seconds);
    free(accesses);
    free(counts);
}

/* ------------------------------------------------------------------------------------------------------- end to end */

enum layout { TEXT_LIST, TEXT_STRIDE, ACCELSIM_LIST, ACCELSIM_STRIDE, LAYOUTS };

static const char *const layout_names[LAYOUTS] = {"text, explicit addresses", "text, base and stride",
                                                  "Accel-Sim, explicit addresses", "Accel-Sim, base and stride"};

static void write_record(FILE *file, enum layout layout, const struct wm_access *access, const char *opcode)
{
    const uint64_t *address = access->address;
    const uint64_t stride = address[1] - address[0];

    switch (layout) {
    case TEXT_LIST:
        fprintf(file, "%s ffffffff [0x%llx", opcode, (unsigned long long)address[0]);
        for (unsigned lane = 1; lane < WM_LANES; lane++)
            fprintf(file, ",0x%llx", (unsigned long long)address[lane]);
        fputs("] pc=0x40\n", file);
        break;
    case TEXT_STRIDE:
        fprintf(file, "%s ffffffff 0x%llx+%llu pc=0x40\n", opcode, (unsigned long long)address[0],
                (unsigned long long)stride);
        break;
    case ACCELSIM_LIST:
        fprintf(file, "0040 ffffffff 1 R4 LDG.E 1 R2 4 0");
        for (unsigned lane = 0; lane < WM_LANES; lane++)
            fprintf(file, " 0x%016llx", (unsigned long long)address[lane]);
        fputs(" 0 \n", file);
        break;
    default:
        fprintf(file, "0040 ffffffff 1 R4 LDG.E 1 R2 4 1 0x%016llx %llu 0 \n", (unsigned long long)address[0],
                (unsigned long long)stride);
        break;
    }
}

static const char accelsim_head[] = "-kernel name = bench\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n"
                                    "-shmem = 0\n-nregs = 16\n-binary version = 90\n-cuda stream id = 0\n"
                                    "-shmem base_addr = 0x00007e0000000000\n-local mem base_addr = 0x00007e0001000000\n"
                                    "-nvbit version = 1.7\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n"
                                    "#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\n";

/* Writes the patterns that a layout can hold; returns the number of records. */
static uint64_t write_trace(const char *path, enum layout layout)
{
    static const enum pattern list[] = {CONTIGUOUS, STRIDE_32, RANDOM_1_GIB};
    static const enum pattern strided[] = {CONTIGUOUS, STRIDE_2, STRIDE_32};
    const int has_lists = layout == TEXT_LIST || layout == ACCELSIM_LIST;
    struct wm_access *accesses = malloc(RECORDS * sizeof *accesses);
    const uint64_t records = (uint64_t)COPIES * 3 * RECORDS * (has_lists ? 1 : 4);
    FILE *file = fopen(path, "w");

    if (!file || !accesses)
        die("%s: %s", path, strerror(errno));
    if (layout >= ACCELSIM_LIST)
        fprintf(file, "%sinsts = %llu\n", accelsim_head, (unsigned long long)records);
    else
        fputs("wmt 1\nkernel bench grid=1 block=32\nwarp 0,0,0 0\n", file);
    for (unsigned p = 0; p < 3; p++) {
        const enum pattern pattern = has_lists ? list[p] : strided[p];

        fill(pattern, accesses);
        for (uint64_t copy = 0; copy < records / 3 / RECORDS; copy++) {
            for (unsigned i = 0; i < RECORDS; i++)
                write_record(file, layout, &accesses[i], patterns[pattern].opcode);
        }
    }
    if (layout >= ACCELSIM_LIST)
        fputs("\n#END_TB\n", file);
    if (fclose(file) != 0)
        die("%s: %s", path, strerror(errno));
    free(accesses);
    return records;
}

/* Seconds that `warpmem sim -j JOBS --by kernel PATH` takes. */
static double run_command(const char *warpmem, const char *path, const char *jobs)
{
    char *const arguments[] = {(char *)(uintptr_t)warpmem, (char *)(uintptr_t) "sim", (char *)(uintptr_t) "-j",
                               (char *)(uintptr_t)jobs, (char *)(uintptr_t) "--by", (char *)(uintptr_t) "kernel",
                               (char *)(uintptr_t) "--format", (char *)(uintptr_t) "csv", (char *)(uintptr_t)path, NULL};
    posix_spawn_file_actions_t actions;
    const double start = now();
    int status;
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    errno = posix_spawn(&child, warpmem, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (errno)
        die("%s: %s", warpmem, strerror(errno));
    if (waitpid(child, &status, 0) < 0 || status != 0)
        die("%s sim %s failed", warpmem, path);
    return now() - start;
}

/* One job and two in turn, so that the ratio holds when the machine's speed drifts. */
static void bench_layout(const char *warpmem, const char *directory, enum layout layout)
{
    char path[4096];
    double one[RUNS];
    double two[RUNS];
    double ratio[RUNS];
    struct stat status;
    uint64_t records;
    double seconds;

    snprintf(path, sizeof path, "%s/warpmem-bench-%ld", directory, (long)getpid());
    records = write_trace(path, layout);
    if (stat(path, &status) != 0)
        die("%s: %s", path, strerror(errno));
    for (unsigned run = 0; run <= RUNS; run++) {
        const double seconds_one = run_command(warpmem, path, "1");
        const double seconds_two = run_command(warpmem, path, "2");

        if (run) {
            one[run - 1] = seconds_one;
            two[run - 1] = seconds_two;
            ratio[run - 1] = seconds_one / seconds_two;
        }
    }
    unlink(path);
    seconds = median(one);
    printf("  %-30s %12.2f %12.0f %12.2f %9.2f\n", layout_names[layout], (double)records / seconds / 1e6,
           (double)status.st_size / seconds / 1e6, (double)records / median(two) / 1e6, median(ratio));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *directory = getenv("TMPDIR");
    wm_arch *arch;

    if (argc < 2)
        die("usage: bench WARPMEM [DIRECTORY]");
    if (argc > 2)
        directory = argv[2];
    if (!directory)
        directory = "/tmp";
    if (wm_arch_open("sm_90", &arch, NULL) != WM_OK)
        die("no profile sm_90");
    bench_model(arch);
    printf("  peak memory %ld KiB\n\n", peak_kib(RUSAGE_SELF));
    wm_arch_close(arch);
    printf("end to end: warpmem sim --by kernel, file to report\n");
    printf("  %-30s %12s %12s %12s %9s\n", "trace", "-j1 M acc/s", "-j1 MB/s", "-j2 M acc/s", "j2 : j1");
    for (unsigned layout = 0; layout < LAYOUTS; layout++)
        bench_layout(argv[1], directory, (enum layout)layout);
    printf("  peak memory %ld KiB\n\n", peak_kib(RUSAGE_CHILDREN));
    if (bench_kernels(directory) != 0)
        die("the kernels' part failed");
    return 0;
}
