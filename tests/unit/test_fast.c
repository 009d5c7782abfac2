/*
 * Every fast path of the model against the reference path, on random loads and stores. The seed is printed;
 * WARPMEM_SEED=N repeats a run. Paths that this processor lacks are named and left out.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "model/model.h"
#include "warpmem.h"

#define ACCESSES 200000U

/* Stop after so many differences: the first ones tell enough. */
#define FAILURES_SHOWN 5U

static const char *const path_names[] = {"avx512", "avx2", "portable"};

#define PATHS (sizeof path_names / sizeof path_names[0])

static uint64_t seed;

/* splitmix64 */
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint64_t below(uint64_t *state, uint64_t limit)
{
    return random_next(state) % limit;
}

/* All lanes, a range, a random set, one lane; rarely none. */
static uint32_t random_mask(uint64_t *state)
{
    const unsigned first = (unsigned)below(state, WM_LANES);

    switch (below(state, 16)) {
    case 0: return UINT32_MAX << first;
    case 1: return UINT32_MAX >> first;
    case 2: return UINT32_C(1) << first;
    case 3: return (uint32_t)random_next(state);
    case 4: return (uint32_t)(random_next(state) & random_next(state) & random_next(state));
    case 5: return (uint32_t)(random_next(state) | random_next(state) | random_next(state));
    case 6: return below(state, 20) ? UINT32_C(0x55555555) << (first & 1) : 0;
    default: return UINT32_MAX;
    }
}

/* Where a lane's element lies, in elements. `a` and `b` are random numbers of the access, `size` a power of two. */
static uint64_t element(uint64_t *state, unsigned pattern, unsigned lane, uint64_t a, uint64_t b, uint64_t size)
{
    const uint64_t stride = b % 70;

    switch (pattern) {
    case 0: return below(state, size);                         /* random */
    case 1: return a + lane * stride;                          /* ascending, or one address */
    case 2: return a + (WM_LANES - 1 - lane) * stride;         /* descending */
    case 3: return a + (lane / 2) * stride;                    /* pairs */
    case 4: return a + (lane & ~2U) * stride;                  /* pairs at a distance of two */
    case 5: return a + (lane ^ (b % WM_LANES));                /* a permutation */
    case 6: return a + (lane % (1 + b % 8)) * (size / 8);      /* a few places, again and again */
    case 7: return a + lane * (UINT64_C(1) << (b >> 8) % 24);  /* strides that are powers of two */
    case 8: return a + lane + (lane >= b % WM_LANES) * stride; /* contiguous in two pieces */
    case 9: return a + below(state, 1 + b % 40);               /* random, but near */
    case 10: return a + lane + below(state, 2) * (b % 3) * 16; /* contiguous, some lanes elsewhere */
    default: return lane % 2 ? a : below(state, size);         /* one address in between */
    }
}

/* A random access; now and then one that the hardware refuses. */
static void random_access(uint64_t *state, struct wm_access *access)
{
    static const char *const types[] = {"b8", "b16", "b32", "b64", "v2.b32", "v4.b32", "v2.b64", "v4.b16"};
    static const char *const starts[] = {"ld.global.", "st.global.", "ld.shared.", "st.shared.", "ld.global.cg."};
    const unsigned pattern = (unsigned)below(state, 12);
    const uint64_t a = below(state, UINT64_C(1) << below(state, 20));
    const uint64_t b = random_next(state);
    char opcode[WM_OPCODE_TEXT_SIZE];
    uint64_t space;
    uint64_t base;
    unsigned width;

    memset(access, 0, sizeof *access);
    snprintf(opcode, sizeof opcode, "%s%s", starts[below(state, 5)], types[below(state, 8)]);
    assert_int_equal(wm_opcode_parse(opcode, strlen(opcode), &access->opcode, NULL), WM_OK);
    access->mask = random_mask(state);
    access->count = 1;
    access->l1 = (uint32_t)below(state, 2);
    width = access->opcode.width_bytes;
    space = access->opcode.space == WM_SHARED ? UINT64_C(1) << (8 + below(state, 17))
                                              : UINT64_C(1) << (8 + below(state, 41));
    /* high enough that all bits of a line's number take part, across 4 GiB and 512 GiB too */
    base = access->opcode.space == WM_SHARED ? 0 : random_next(state) >> 16;
    if (below(state, 2))
        base &= ~UINT64_C(0) << 38;
    if (below(state, 8) == 0 && access->opcode.space != WM_SHARED)
        base |= UINT64_C(0xFFFFFF80);
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        const uint64_t offset = element(state, pattern, lane, a, b, space / width) % (space / width) * width;

        access->address[lane] = (base - base % width + offset) % (UINT64_C(1) << 48);
        if (access->opcode.space == WM_SHARED)
            access->address[lane] %= UINT64_C(1) << 24;
    }
    if (below(state, 50) == 0)
        access->address[below(state, WM_LANES)] += 1 + below(state, 16);
    if (below(state, 50) == 0)
        access->address[below(state, WM_LANES)] |= UINT64_C(1) << (24 + below(state, 40));
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        if (!(access->mask >> lane & 1))
            access->address[lane] = random_next(state);
    }
}

static void show(const struct wm_access *access, const struct wm_counts *fast, const struct wm_counts *reference)
{
    char opcode[WM_OPCODE_TEXT_SIZE];

    wm_opcode_format(&access->opcode, opcode);
    fprintf(stderr, "# %s %08" PRIx32 " l1 %" PRIu32 " [", opcode, access->mask, access->l1);
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        fprintf(stderr, "%s0x%" PRIx64, lane ? "," : "", access->address[lane]);
    fputs("]\n", stderr);
    for (int c = 0; c < WM_COUNTERS; c++) {
        const uint32_t f = wm_counts_get(fast, (enum wm_counter)c);
        const uint32_t r = wm_counts_get(reference, (enum wm_counter)c);

        if (f != r)
            fprintf(stderr, "#   %s: fast %" PRIu32 ", reference %" PRIu32 "\n", wm_counter_name((enum wm_counter)c), f,
                    r);
    }
}

/* One access on both paths; returns whether they agree. */
static int agree(const wm_arch *with, const wm_arch *without, const struct wm_access *access)
{
    struct wm_counts fast;
    struct wm_counts reference;
    enum wm_status status_fast;
    enum wm_status status_reference;

    memset(&fast, 0xA5, sizeof fast);
    memset(&reference, 0xA5, sizeof reference);
    status_fast = wm_model(with, access, &fast);
    status_reference = wm_model(without, access, &reference);
    if (status_fast == status_reference && memcmp(&fast, &reference, sizeof fast) == 0)
        return 1;
    fprintf(stderr, "# status fast: %s; reference: %s\n", wm_status_text(status_fast),
            wm_status_text(status_reference));
    show(access, &fast, &reference);
    return 0;
}

/* The profile is const for all but its opener, which the test is. */
static struct wm_profile *own_profile(wm_arch *arch)
{
    return (struct wm_profile *)(uintptr_t)wm_arch_profile(arch);
}

static void compare(const char *name)
{
    wm_arch *with = NULL;
    wm_arch *without = NULL;

    assert_int_equal(wm_arch_open(name, &with, NULL), WM_OK);
    assert_int_equal(wm_arch_open(name, &without, NULL), WM_OK);
    own_profile(without)->fast = NULL;
    for (size_t path = 0; path < PATHS; path++) {
        uint64_t state = seed;
        unsigned different = 0;
        unsigned taken = 0;

        own_profile(with)->fast = wmi_fast_choose(wm_arch_profile(with), path_names[path]);
        if (!own_profile(with)->fast) {
            print_message("# %s: this processor has no %s\n", name, path_names[path]);
            continue;
        }
        for (unsigned i = 0; i < ACCESSES && different < FAILURES_SHOWN; i++) {
            struct wm_counts counts;
            struct wm_access access;

            random_access(&state, &access);
            different += !agree(with, without, &access);
            /* low bits by width: as the model refuses misaligned addresses */
            taken += access.mask && own_profile(with)->fast(wm_arch_profile(with), &access,
                                                            access.opcode.width_bytes - UINT64_C(1), &counts);
        }
        print_message("# %s, %s: %u accesses, %u by the fast path, WARPMEM_SEED=%" PRIu64 "\n", name, path_names[path],
                      ACCESSES, taken, seed);
        assert_int_equal(different, 0);
        /* else the comparison was one of the reference with itself */
        assert_true(taken > ACCESSES / 2);
    }
    wm_arch_close(with);
    wm_arch_close(without);
}

static void fast_paths_are_the_reference_on_sm_90(void **state)
{
    (void)state;
    compare("sm_90");
}

/* Another tag hash. */
static void fast_paths_are_the_reference_on_sm_120(void **state)
{
    (void)state;
    compare("sm_120");
}

/* The reference path serves profiles of another geometry, and unknown names. */
static void other_geometries_have_no_fast_path(void **state)
{
    wm_arch *arch = NULL;
    struct wm_profile profile;

    (void)state;
    assert_int_equal(wm_arch_open("sm_90", &arch, NULL), WM_OK);
    profile = *wm_arch_profile(arch);
    wm_arch_close(arch);
    assert_non_null(wmi_fast_choose(&profile, "portable"));
    assert_non_null(wmi_fast_choose(&profile, NULL));
    assert_null(wmi_fast_choose(&profile, "avx1024"));
    profile.banks = 16;
    assert_null(wmi_fast_choose(&profile, "portable"));
    assert_null(wmi_fast_choose(&profile, NULL));
}

static uint64_t choose_seed(void)
{
    const char *text = getenv("WARPMEM_SEED");

    return text != NULL && *text != '\0' ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_paths_are_the_reference_on_sm_90),
        cmocka_unit_test(fast_paths_are_the_reference_on_sm_120),
        cmocka_unit_test(other_geometries_have_no_fast_path),
    };

    seed = choose_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
