/* warpmem-replay: executes accesses on the GPU in the machine, and says what they cost by its hardware counters. */
#include "config.h"

#include "device.h"
#include "generate.h"
#include "plan.h"
#include "wire.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "warpmem-replay"

/* Launches that are profiled together: CUPTI takes some 2.5 MiB for each. */
#define LAUNCHES 256

/* A copy is compiled with three shared loads without active lanes before it, and its tag wavefronts read one too many
 * (unless it has no active lanes). */
#define COPY_SHARED_WAVEFRONTS 3
#define COPY_TAG_WAVEFRONTS    1

static const char help[] =
    "Usage: " PROGRAM " [OPTION]... TRACE...\n"
    "       " PROGRAM " [OPTION]... --random N\n"
    "Execute each access of a trace on the GPU in this machine, in a launch of its own, and print what the hardware\n"
    "counters say of it, as CSV. `warpmem validate --live' compares them with the model, and is much faster.\n"
    "\n"
    "  --random N         N random accesses\n"
    "  --seed S           another choice of them (default: 1)\n"
    "  --device N         the GPU, by number (default: 0)\n"
    "  --buffer MIB       the size of the buffer that global accesses are moved into (default: 4096, or what fits)\n"
    "  --l1 miss|hit      what loads meet in L1: nothing (default), or their lines, which are loaded first\n"
    "  --cycles-l1 miss|hit   where --serve is asked for cycles: each repetition on lines of its own, or (default) on\n"
    "                     the same lines\n"
    "  --list             print what the GPU is and which instructions can be replayed on it\n"
    "  --serve            work for `warpmem validate --live': requests on standard input\n"
    "  --help             this text\n"
    "  --version          the version of this program\n";

struct options {
    uint64_t random, seed, buffer_bytes;
    int device, is_serving, is_listing, is_warm, times_misses;
    char **files;
    int file_count;
};

struct launch {
    int instruction;
    unsigned count;
    struct gpu_record *records;
};

struct replay {
    struct gpu *gpu;
    struct counters *counters; /* NULL: they cannot be read, and missing says why */
    char missing[GPU_MESSAGE_SIZE];
    char message[GPU_MESSAGE_SIZE];
    enum wm_counter columns[WM_COUNTERS];
    unsigned column_count;
    int is_warm; /* accesses shall hit L1 */
    int times_misses; /* where cycles are taken, they shall not */
    struct launch *launches;
    size_t launch_count;
    uint64_t (*empty)[WM_COUNTERS]; /* by instruction: what a launch without records counts */
    unsigned char *has_empty;
    struct plan_limits limits;
};

/* --------------------------------------------------------------------------------------------------------- measuring */

static int open_replay(const struct options *options, struct replay *replay)
{
    const char *names[WM_COUNTERS];
    const struct gpu_info *info;

    if (gpu_open(options->device, options->buffer_bytes, &replay->gpu, replay->message) != 0)
        return -1;
    info = gpu_info(replay->gpu);
    for (int c = 0; c < WM_COUNTERS; c++) {
        if (!wm_counter_metric((enum wm_counter)c))
            continue;
        names[replay->column_count] = wm_counter_metric((enum wm_counter)c);
        replay->columns[replay->column_count++] = (enum wm_counter)c;
    }
    if (!options->is_listing &&
        counters_open(options->device, names, replay->column_count, LAUNCHES, &replay->counters, replay->missing) != 0)
        replay->counters = NULL;
    replay->limits = (struct plan_limits){
        .buffer = info->buffer,
        .buffer_bytes = info->buffer_bytes,
        .shared_bytes = info->shared_bytes,
        .const_bytes = info->const_bytes,
        .local_bytes = info->local_bytes,
        .launch_records = GPU_RECORDS,
        .launches = options->is_warm ? LAUNCHES / 2 : LAUNCHES,
    };
    replay->is_warm = options->is_warm;
    replay->times_misses = options->times_misses;
    replay->empty = calloc(GPU_INSTRUCTIONS, sizeof *replay->empty);
    replay->has_empty = calloc(GPU_INSTRUCTIONS, 1);
    replay->launches = calloc(LAUNCHES, sizeof *replay->launches);
    if (!replay->empty || !replay->has_empty || !replay->launches) {
        snprintf(replay->message, sizeof replay->message, "out of memory");
        return -1;
    }
    return 0;
}

static void clear_launches(struct replay *replay)
{
    while (replay->launch_count)
        free(replay->launches[--replay->launch_count].records);
}

static void close_replay(struct replay *replay)
{
    clear_launches(replay);
    free(replay->launches);
    free(replay->empty);
    free(replay->has_empty);
    counters_close(replay->counters);
    gpu_close(replay->gpu);
}

static int start_launch(void *context, size_t n, char *message)
{
    struct replay *replay = context;

    if (n == replay->launch_count)
        return gpu_wait(replay->gpu, message);
    return gpu_launch(replay->gpu, replay->launches[n].instruction, replay->launches[n].records,
                      replay->launches[n].count, replay->is_warm, message);
}

/* Measures launches without records of those instructions that have not had one. */
static int measure_empty(struct replay *replay, uint64_t *values)
{
    struct launch *asked = replay->launches;
    const size_t asked_count = replay->launch_count;
    struct launch empty[LAUNCHES];
    size_t count = 0;
    int result = 0;

    for (size_t i = 0; i < asked_count; i++) {
        if (replay->has_empty[asked[i].instruction])
            continue;
        replay->has_empty[asked[i].instruction] = 1;
        empty[count++] = (struct launch){asked[i].instruction, 0, asked[i].records};
    }
    if (!count)
        return 0;
    replay->launches = empty;
    replay->launch_count = count;
    /* unprofiled first: it loads the kernels */
    for (size_t i = 0; !result && i <= count; i++)
        result = start_launch(replay, i, replay->message);
    if (!result)
        result = counters_measure(replay->counters, start_launch, replay, count, values, replay->message);
    for (size_t i = 0; !result && i < count; i++)
        memcpy(replay->empty[empty[i].instruction], values + i * replay->column_count,
               replay->column_count * sizeof *values);
    replay->launches = asked;
    replay->launch_count = asked_count;
    return result;
}

/* What the way of measuring adds to a launch's number. */
static uint64_t constant(const struct replay *replay, const struct launch *launch, unsigned column)
{
    const char *name = gpu_instruction_name(launch->instruction);
    uint64_t sum = replay->empty[launch->instruction][column];

    if (strncmp(name, "cp.async", 8) != 0)
        return sum;
    if (replay->columns[column] == WM_SHARED_WAVEFRONTS)
        sum += (uint64_t)COPY_SHARED_WAVEFRONTS * launch->count;
    if (replay->columns[column] == WM_TAG_WAVEFRONTS) {
        for (unsigned i = 0; i < launch->count; i++)
            sum += launch->records[i].mask ? COPY_TAG_WAVEFRONTS : 0;
    }
    return sum;
}

/* Measures the launches as they are, and fills values. */
static int measure_plain(struct replay *replay, uint64_t *values)
{
    if (measure_empty(replay, values) != 0 ||
        counters_measure(replay->counters, start_launch, replay, replay->launch_count, values, replay->message) != 0)
        return -1;
    for (size_t i = 0; i < replay->launch_count; i++) {
        for (unsigned c = 0; c < replay->column_count; c++) {
            uint64_t *value = &values[i * replay->column_count + c];
            const uint64_t sum = constant(replay, &replay->launches[i], c);

            *value = *value > sum ? *value - sum : 0;
        }
    }
    return 0;
}

/* Fills values: a row of column_count numbers for each launch. Where its lines are brought into L1 first, a launch that does
 * no more than that is measured behind it, and subtracted. */
static int measure(struct replay *replay, uint64_t *values)
{
    struct launch *asked = replay->launches;
    const size_t asked_count = replay->launch_count;
    struct launch all[LAUNCHES];
    unsigned char has_warmer[LAUNCHES] = {0};
    size_t count = 0, row = 0;
    int result;

    for (size_t i = 0; i < asked_count; i++) {
        const int warmer = replay->is_warm ? gpu_warmer(replay->gpu, asked[i].instruction) : -1;

        all[count++] = asked[i];
        has_warmer[i] = warmer >= 0;
        if (has_warmer[i])
            all[count++] = (struct launch){warmer, asked[i].count, asked[i].records};
    }
    replay->launches = all;
    replay->launch_count = count;
    result = measure_plain(replay, values);
    replay->launches = asked;
    replay->launch_count = asked_count;
    for (size_t i = 0; !result && i < asked_count; i++, row++) {
        const uint64_t *with = values + row * replay->column_count;
        const uint64_t *without = has_warmer[i] ? values + ++row * replay->column_count : NULL;

        for (unsigned c = 0; c < replay->column_count; c++) {
            const uint64_t warming = without ? without[c] : 0;

            values[i * replay->column_count + c] = with[c] > warming ? with[c] - warming : 0;
        }
    }
    return result;
}

/* ------------------------------------------------------------------------------------------------------------- serving */

static void print_info(const struct replay *replay)
{
    const struct gpu_info *info = gpu_info(replay->gpu);
    const char *name;

    printf("version = %d\ndevice = %s\ncompute_capability = %d.%d\n", WIRE_VERSION, info->name, info->major,
           info->minor);
    if (info->driver_text[0])
        printf("driver = %s\n", info->driver_text);
    printf("devices = %d\nl1 = %s\n", info->devices, replay->is_warm ? "hit" : "miss");
    printf("cycles_l1 = %s\ncycles_1_warp = latency\n", replay->times_misses ? "miss" : "hit");
    printf("driver_cuda = %d.%d\ncuda = %d.%d\n", info->driver / 1000, info->driver % 1000 / 10, info->runtime / 1000,
           info->runtime % 1000 / 10);
    printf("buffer = 0x%llx\nbuffer_bytes = %llu\nshared_bytes = %u\nlocal_bytes = %u\nconst_bytes = %u\n",
           (unsigned long long)info->buffer, (unsigned long long)info->buffer_bytes, info->shared_bytes,
           info->local_bytes, info->const_bytes);
    printf("launch_records = %d\nlaunches = %u\n", GPU_RECORDS, replay->limits.launches);
    if (replay->counters) {
        printf("passes = %zu\n", counters_passes(replay->counters));
        printf("counters =");
        for (unsigned i = 0; i < replay->column_count; i++)
            printf(" %s", wm_counter_name(replay->columns[i]));
        putchar('\n');
    } else if (replay->missing[0]) {
        printf("counters_missing = %s\n", replay->missing);
    }
    printf("instructions =");
    for (size_t i = 0; (name = gpu_instruction(replay->gpu, i)) != NULL; i++)
        printf(" %s", name);
    putchar('\n');
}

static int say(struct replay *replay, const char *text)
{
    snprintf(replay->message, sizeof replay->message, "%s", text);
    return -1;
}

/* Reads `MASK VALUE...` of a record of an instruction; values are checked, so that no access leaves its memory. */
static int read_record(struct replay *replay, int instruction, const char *line, struct gpu_record *out)
{
    uint64_t limit, shared_limit;
    char *rest;

    gpu_bounds(replay->gpu, instruction, &limit, &shared_limit);
    errno = 0;
    memset(out, 0, sizeof *out);
    out->mask = (uint32_t)strtoull(line, &rest, 16);
    if (rest == line)
        return say(replay, "a request is not understood: expected a mask");
    for (uint32_t lanes = out->mask; lanes; lanes &= lanes - 1) {
        char *end;
        const uint64_t value = strtoull(rest, &end, 16);
        const uint64_t offset = value & ((UINT64_C(1) << GPU_SHARED_SHIFT) - 1);

        if (end == rest || errno)
            return say(replay, "a request is not understood: expected a value for each active lane");
        if (offset >= limit || value >> GPU_SHARED_SHIFT >= (shared_limit ? shared_limit : 1))
            return say(replay, "a request names an address that is outside the buffer");
        out->lane[__builtin_ctz(lanes)] = value;
        rest = end;
    }
    return 0;
}

static int read_launch(struct replay *replay, char *text, char **line, size_t *size)
{
    struct launch *launch = &replay->launches[replay->launch_count];
    char *blank = strchr(text, ' ');
    unsigned long count = blank ? strtoul(blank + 1, NULL, 10) : 0;

    if (replay->launch_count == replay->limits.launches || !count || count > GPU_RECORDS)
        return say(replay, "a request is not understood: too many launches or records");
    *blank = '\0';
    launch->instruction = gpu_find(replay->gpu, text);
    if (launch->instruction < 0)
        return say(replay, "a request is not understood: no such instruction");
    launch->count = (unsigned)count;
    launch->records = calloc(count, sizeof *launch->records);
    if (!launch->records)
        return say(replay, "out of memory");
    replay->launch_count++;
    for (unsigned long i = 0; i < count; i++) {
        if (getline(line, size, stdin) <= 0)
            return say(replay, "a request ends in the middle");
        if (read_record(replay, launch->instruction, *line, &launch->records[i]) != 0)
            return -1;
    }
    return 0;
}

static int answer(struct replay *replay, uint64_t *values)
{
    if (!replay->counters)
        return say(replay, replay->missing);
    if (replay->launch_count && measure(replay, values) != 0)
        return -1;
    for (size_t i = 0; i < replay->launch_count; i++) {
        for (unsigned c = 0; c < replay->column_count; c++)
            printf("%s%llu", c ? " " : "", (unsigned long long)values[i * replay->column_count + c]);
        putchar('\n');
    }
    clear_launches(replay);
    printf("done\n");
    return fflush(stdout);
}

static int answer_cycles(struct replay *replay, const char *name, char **line, size_t *size)
{
    struct gpu_record record;
    const int instruction = gpu_find(replay->gpu, name);
    double one, full;

    if (instruction < 0)
        return say(replay, "a request is not understood: no such instruction");
    if (getline(line, size, stdin) <= 0)
        return say(replay, "a request ends in the middle");
    if (read_record(replay, instruction, *line, &record) != 0 ||
        gpu_cycles(replay->gpu, instruction, &record, replay->times_misses, &one, &full, replay->message) != 0)
        return -1;
    printf("%.3f %.3f\n", one, full);
    return fflush(stdout);
}

static int serve(struct replay *replay)
{
    uint64_t *values = calloc((size_t)LAUNCHES * WM_COUNTERS, sizeof *values);
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    int result = values ? 0 : say(replay, "out of memory");

    if (!result) {
        print_info(replay);
        printf("ready\n");
        fflush(stdout);
    }
    while (!result && (length = getline(&line, &size, stdin)) > 0) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        if (strncmp(line, "launch ", 7) == 0) {
            char *text = strdup(line + 7);

            result = text ? read_launch(replay, text, &line, &size) : say(replay, "out of memory");
            free(text);
        } else if (strncmp(line, "cycles ", 7) == 0) {
            char *text = strdup(line + 7);

            result = text ? answer_cycles(replay, text, &line, &size) : say(replay, "out of memory");
            free(text);
        } else if (strcmp(line, "go") == 0) {
            result = answer(replay, values);
        } else {
            result = say(replay, "a request is not understood");
        }
    }
    free(line);
    free(values);
    return result;
}

/* -------------------------------------------------------------------------------------------------- traces on their own */

/* A batcher's device, in this process. */
static int can(void *context, const char *instruction)
{
    const struct replay *replay = context;

    return gpu_find(replay->gpu, instruction) > 0;
}

static enum wm_status measure_launches(void *context, const struct plan_launch *launches, size_t n, plan_sums *sums,
                                       struct wm_diag *diag)
{
    struct replay *replay = context;
    uint64_t *values = calloc(2 * n, WM_COUNTERS * sizeof *values); /* another row for each that is warmed */
    enum wm_status status = values ? WM_OK : WM_E_MEMORY;

    for (size_t i = 0; !status && i < n; i++) {
        struct launch *launch = &replay->launches[i];

        launch->instruction = gpu_find(replay->gpu, launches[i].instruction);
        launch->count = launches[i].count;
        launch->records = calloc(launch->count, sizeof *launch->records);
        replay->launch_count++;
        if (!launch->records) {
            status = WM_E_MEMORY;
            break;
        }
        for (unsigned k = 0; k < launch->count; k++) {
            launch->records[k].mask = launches[i].accesses[k].mask;
            for (uint32_t rest = launch->records[k].mask; rest; rest &= rest - 1) {
                const unsigned lane = (unsigned)__builtin_ctz(rest);

                launch->records[k].lane[lane] = wire_lane(&replay->limits, &launches[i].accesses[k], lane);
            }
        }
    }
    if (!status && measure(replay, values) != 0) {
        memset(diag, 0, sizeof *diag);
        diag->status = status = WM_E_UNSUPPORTED;
        snprintf(diag->text, sizeof diag->text, "%.500s", replay->message);
    }
    for (size_t i = 0; !status && i < n; i++) {
        memset(sums[i], 0, sizeof sums[i]);
        for (unsigned c = 0; c < replay->column_count; c++)
            sums[i][replay->columns[c]] = values[i * replay->column_count + c];
    }
    clear_launches(replay);
    free(values);
    return status;
}

static enum wm_status print_result(void *context, const struct plan_result *result)
{
    const struct replay *replay = context;
    char opcode[WM_OPCODE_TEXT_SIZE];

    wm_opcode_format(&result->access->opcode, opcode);
    printf("%llu,%s,%08x", (unsigned long long)result->index, opcode, result->access->mask);
    for (unsigned c = 0; c < replay->column_count; c++)
        printf(",%llu", (unsigned long long)result->values[replay->columns[c]]);
    putchar('\n');
    return ferror(stdout) ? WM_E_IO : WM_OK;
}

static enum wm_status add_random(struct plan_batcher *batcher, const struct options *options, const wm_arch *arch,
                                 struct wm_diag *diag)
{
    struct generator generator;
    struct wm_access access;
    enum wm_status status = generate_live(&generator, options->seed, arch);

    for (uint64_t i = 0; !status && i < options->random; i++) {
        generate_access(&generator, &access);
        access.l1 = options->is_warm ? WM_L1_HIT : WM_L1_MISS;
        status = plan_batcher_add(batcher, i, &access, diag);
    }
    return status;
}

static enum wm_status add_file(struct plan_batcher *batcher, const char *path, const struct options *options,
                               const wm_arch *arch, uint64_t *index, struct wm_diag *diag)
{
    const struct wm_reader_options reading = {.l1 = options->is_warm ? WM_L1_HIT : WM_L1_MISS};
    struct wm_access access;
    wm_reader *reader = NULL;
    enum wm_status status = wm_reader_open(path, &reading, &reader, diag);

    while (!status && (status = wm_reader_next(reader, &access, diag)) == WM_OK) {
        status = plan_batcher_add(batcher, (*index)++, &access, diag);
        if (status && wm_access_check(arch, &access, diag))
            wm_reader_place(reader, diag);
    }
    wm_reader_close(reader);
    return status == WM_END ? WM_OK : status;
}

/* The profile for the GPU, or else the one whose tag banks are assumed. */
static enum wm_status open_profile(const struct replay *replay, wm_arch **out, struct wm_diag *diag)
{
    const struct gpu_info *info = gpu_info(replay->gpu);
    char name[16];
    enum wm_status status;

    snprintf(name, sizeof name, "sm_%d%d", info->major, info->minor);
    status = wm_arch_open(name, out, diag);
    return status == WM_E_NAME ? wm_arch_open("sm_90", out, diag) : status;
}

static int run_alone(struct replay *replay, const struct options *options)
{
    const struct plan_device device = {replay->limits, UINT32_MAX, replay, can, measure_launches};
    struct plan_batcher *batcher = NULL;
    struct wm_diag diag = {.status = WM_OK};
    wm_arch *arch = NULL;
    uint64_t index = 0;
    enum wm_status status;
    char text[WM_DIAG_FILE_SIZE + WM_DIAG_TEXT_SIZE + 64];

    if (!replay->counters)
        return say(replay, replay->missing);
    status = open_profile(replay, &arch, &diag);
    if (!status)
        status = plan_batcher_new(arch, &device, 1, print_result, replay, &batcher);
    if (!status) {
        printf("index,opcode,mask");
        for (unsigned c = 0; c < replay->column_count; c++)
            printf(",%s", wm_counter_name(replay->columns[c]));
        putchar('\n');
        if (options->random)
            status = add_random(batcher, options, arch, &diag);
        for (int i = 0; !status && i < options->file_count; i++)
            status = add_file(batcher, options->files[i], options, arch, &index, &diag);
    }
    if (!status)
        status = plan_batcher_finish(batcher, &diag);
    if (!status && fflush(stdout) != 0)
        status = WM_E_IO;
    if (status && !diag.text[0])
        snprintf(diag.text, sizeof diag.text, "%s", wm_status_text(status));
    if (status) {
        wm_diag_format(&diag, text, sizeof text);
        snprintf(replay->message, sizeof replay->message, "%.500s", text);
    }
    plan_batcher_free(batcher);
    wm_arch_close(arch);
    return status ? -1 : 0;
}

/* ------------------------------------------------------------------------------------------------------- command line */

static int usage(const char *text, const char *what)
{
    fprintf(stderr, PROGRAM ": %s%s\nTry '" PROGRAM " --help'.\n", text, what);
    return 2;
}

static int number(const char *text, uint64_t most, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(text, &end, 0);
    return isdigit((unsigned char)*text) && !*end && !errno && *out <= most;
}

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, struct options *out)
{
    enum { RANDOM = 256, SEED, DEVICE, BUFFER, L1, CYCLES, LIST, SERVE, HELP, RELEASE };
    static const struct option names[] = {
        {"random", required_argument, NULL, RANDOM}, {"seed", required_argument, NULL, SEED},
        {"device", required_argument, NULL, DEVICE}, {"buffer", required_argument, NULL, BUFFER},
        {"l1", required_argument, NULL, L1},         {"cycles-l1", required_argument, NULL, CYCLES},
        {"list", no_argument, NULL, LIST},
        {"serve", no_argument, NULL, SERVE},         {"help", no_argument, NULL, HELP},
        {"version", no_argument, NULL, RELEASE},     {NULL, 0, NULL, 0},
    };
    uint64_t value;
    int option;

    *out = (struct options){.seed = 1};
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (option) {
        case RANDOM:
            if (!number(optarg, UINT32_MAX, &out->random) || !out->random)
                return usage("not a number of accesses: ", optarg);
            break;
        case SEED:
            if (!number(optarg, UINT64_MAX, &out->seed))
                return usage("not a seed: ", optarg);
            break;
        case DEVICE:
            if (!number(optarg, 1000, &value))
                return usage("not the number of a GPU: ", optarg);
            out->device = (int)value;
            break;
        case BUFFER:
            if (!number(optarg, UINT64_C(1) << 19, &value) || value % 2)
                return usage("not an even number of MiB, 524288 at most: ", optarg);
            out->buffer_bytes = value << 20;
            break;
        case L1:
            out->is_warm = strcmp(optarg, "hit") == 0;
            if (!out->is_warm && strcmp(optarg, "miss") != 0)
                return usage("neither miss nor hit: ", optarg);
            break;
        case CYCLES:
            out->times_misses = strcmp(optarg, "miss") == 0;
            if (!out->times_misses && strcmp(optarg, "hit") != 0)
                return usage("neither miss nor hit: ", optarg);
            break;
        case LIST: out->is_listing = 1; break;
        case SERVE: out->is_serving = 1; break;
        case HELP: return fputs(help, stdout) == EOF || fflush(stdout) != 0;
        case RELEASE: return printf(PROGRAM " " PACKAGE_VERSION "\n") < 0 || fflush(stdout) != 0;
        default: return usage("the command line is wrong", "");
        }
    }
    out->files = argv + optind;
    out->file_count = argc - optind;
    if (!out->is_serving && !out->is_listing && !out->random == !out->file_count)
        return usage("either traces or --random", "");
    return -1;
}

int main(int argc, char **argv)
{
    struct options options;
    struct replay replay = {.gpu = NULL};
    int result = parse(argc, argv, &options);

    if (result >= 0)
        return result;
    result = open_replay(&options, &replay);
    if (!result) {
        if (options.is_listing)
            print_info(&replay);
        else
            result = options.is_serving ? serve(&replay) : run_alone(&replay, &options);
    }
    if (result && options.is_serving)
        printf("error %s\n", replay.message);
    else if (result)
        fprintf(stderr, PROGRAM ": %s\n", replay.message);
    if (fflush(stdout) != 0)
        result = -1;
    close_replay(&replay);
    return result ? 1 : 0;
}
