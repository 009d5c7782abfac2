/* A stand-in for warpmem-replay on a machine without a GPU: speaks its protocol (gpu/wire.h) and counts as the model does,
 * but for what the environment variable STAND_IN says:
 *   wrong       of stores to shared memory of lane 0 alone, one bank conflict more
 *   die         ends in the middle of the second answer
 *   refuse      says that this machine has no GPU
 *   forbidden   may not read counters
 *   mixed       the second GPU is of another generation
 *   lonely      the second GPU dies in the middle of its second answer
 * STAND_IN_DEVICES is how many GPUs there are, STAND_IN_LOG a file to which each adds the accesses that it was given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warpmem.h"

static const char *mode = "";
static unsigned device;
static uint64_t buffer = UINT64_C(0x7f0000000000), buffer_bytes = UINT64_C(1) << 28;
static int is_warm; /* accesses hit L1 */
static const char *cycles_l1 = "hit";
static FILE *given;
static wm_arch *arch;

static int fail(const char *text)
{
    printf("error %s\n", text);
    fflush(stdout);
    return 1;
}

/* The opcode of an instruction's name: the inverse of plan_instruction(). */
static int find_opcode(const char *name, struct wm_opcode *out)
{
    char text[128];
    const char *dot = strrchr(name, '.');

    if (!dot || strlen(name) > 64)
        return 0;
    if (strncmp(name, "ld.", 3) == 0 || strncmp(name, "st.", 3) == 0)
        snprintf(text, sizeof text, "%.*s.b%d", (int)(dot - name), name, 8 * atoi(dot + 1));
    else if (strstr(name, "matrix"))
        snprintf(text, sizeof text, "%s.shared.b16", name);
    else
        snprintf(text, sizeof text, "%s", name);
    return wm_opcode_parse(text, strlen(text), out, NULL) == WM_OK;
}

static int read_access(const char *line, const struct wm_opcode *opcode, struct wm_access *out)
{
    char *rest;

    memset(out, 0, sizeof *out);
    out->opcode = *opcode;
    out->count = 1;
    out->l1 = is_warm ? WM_L1_HIT : WM_L1_MISS;
    out->mask = (uint32_t)strtoul(line, &rest, 16);
    for (uint32_t lanes = out->mask; lanes; lanes &= lanes - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(lanes);
        char *end;
        const uint64_t value = strtoull(rest, &end, 16);

        if (end == rest)
            return 0;
        rest = end;
        out->address[lane] = value & ((UINT64_C(1) << 40) - 1);
        out->shared_address[lane] = (uint32_t)(value >> 40);
        if (opcode->space == WM_GLOBAL || opcode->space == WM_GENERIC)
            out->address[lane] += buffer;
    }
    return *rest == '\n';
}

/* Adds up a launch of count records, which stand on standard input. */
static int read_launch(const char *name, unsigned long count, uint64_t sums[WM_COUNTERS])
{
    struct wm_opcode opcode;
    char line[1024];

    memset(sums, 0, WM_COUNTERS * sizeof *sums);
    if (!find_opcode(name, &opcode) || count == 0 || count > 50)
        return 0;
    for (unsigned long i = 0; i < count; i++) {
        struct wm_access access;
        struct wm_counts counts;

        if (!fgets(line, sizeof line, stdin) || !read_access(line, &opcode, &access) ||
            wm_model(arch, &access, &counts) != WM_OK)
            return 0;
        if (given)
            fprintf(given, "%u %s %s", device, name, line);
        for (int c = 0; c < WM_COUNTERS; c++)
            sums[c] += wm_counts_get(&counts, (enum wm_counter)c);
        if (strcmp(mode, "wrong") == 0 && opcode.operation == WM_ST && opcode.space == WM_SHARED && access.mask == 1)
            sums[WM_BANK_CONFLICTS]++;
    }
    return 1;
}

static void greet(void)
{
    const char *devices = getenv("STAND_IN_DEVICES");

    printf("version = 2\ndevice = Stand-in %u\ndevices = %s\ndriver = 0.0\ncuda = 0.0\n", device,
           devices ? devices : "1");
    printf("compute_capability = %s\n", strcmp(mode, "mixed") == 0 && device == 1 ? "8.0" : "9.0");
    printf("buffer = 0x%llx\nbuffer_bytes = %llu\nshared_bytes = 49152\nlocal_bytes = 8192\nconst_bytes = 49152\n",
           (unsigned long long)buffer, (unsigned long long)buffer_bytes);
    printf("cycles_l1 = %s\ncycles_1_warp = latency\n", cycles_l1);
    printf("launch_records = 50\nlaunches = 8\n");
    if (strcmp(mode, "forbidden") == 0)
        printf("counters_missing = counters are not for everybody\n");
    else
        printf("counters = requests lines sectors tag_wavefronts lsu_wavefronts shared_wavefronts bank_conflicts "
               "l2_requests l2_sectors\n");
    printf("instructions = ld.global.4 ld.global.nc.16 ld.shared.4 ld.shared.8 ld.local.4 st.shared.1 st.shared.2 "
           "st.shared.4 st.shared.8 st.shared.16 st.global.4 atom.global.add.u32 red.shared.add.u32 ldmatrix.x4 "
           "cp.async.ca.16\nready\n");
    fflush(stdout);
}

/* Options come in pairs, but for --serve. As the real one does, a buffer that is no power of two begins at any page. */
static int read_options(int argc, char **argv)
{
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--device") == 0)
            device = (unsigned)atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--l1") == 0)
            is_warm = strcmp(argv[i + 1], "hit") == 0;
        else if (strcmp(argv[i], "--cycles-l1") == 0)
            cycles_l1 = argv[i + 1];
        else if (strcmp(argv[i], "--buffer") == 0 && atoi(argv[i + 1]))
            buffer_bytes = (uint64_t)atoi(argv[i + 1]) << 20;
        else if (strcmp(argv[i], "--buffer") != 0)
            return 0;
    }
    if (buffer_bytes & (buffer_bytes - 1))
        buffer += UINT64_C(0x14600000);
    return argc % 2 == 0 && strcmp(argv[1], "--serve") == 0;
}

int main(int argc, char **argv)
{
    static const enum wm_counter order[] = {WM_REQUESTS,       WM_LINES,          WM_SECTORS,
                                            WM_TAG_WAVEFRONTS, WM_LSU_WAVEFRONTS, WM_SHARED_WAVEFRONTS,
                                            WM_BANK_CONFLICTS, WM_L2_REQUESTS,    WM_L2_SECTORS};
    static uint64_t sums[8][WM_COUNTERS];
    char line[256], name[64];
    unsigned long count;
    unsigned launches = 0, answers = 0;

    if (getenv("STAND_IN"))
        mode = getenv("STAND_IN");
    if (getenv("STAND_IN_LOG"))
        given = fopen(getenv("STAND_IN_LOG"), "a");
    if (!read_options(argc, argv))
        return fail("the command line is not understood");
    if (strcmp(mode, "refuse") == 0)
        return fail("this machine has no GPU");
    if (wm_arch_open("sm_90", &arch, NULL) != WM_OK)
        return fail("no profile");
    greet();
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "launch %63s %lu", name, &count) == 2) {
            if (launches == 8 || !read_launch(name, count, sums[launches++]))
                return fail("a launch is not understood");
            continue;
        }
        if (sscanf(line, "cycles %63s", name) == 1) {
            if (!read_launch(name, 1, sums[0]))
                return fail("an access is not understood");
            printf("%llu.5 64.25\n", (unsigned long long)sums[0][WM_SHARED_WAVEFRONTS]);
            fflush(stdout);
            continue;
        }
        if (strcmp(line, "go\n") != 0)
            return fail("a request is not understood");
        if ((strcmp(mode, "die") == 0 || (strcmp(mode, "lonely") == 0 && device == 1)) && ++answers == 2)
            return 3;
        for (unsigned i = 0; i < launches; i++) {
            for (size_t c = 0; c < sizeof order / sizeof *order; c++)
                printf("%s%llu", c ? " " : "", (unsigned long long)sums[i][order[c]]);
            putchar('\n');
        }
        printf("done\n");
        fflush(stdout);
        launches = 0;
    }
    wm_arch_close(arch);
    return 0;
}
