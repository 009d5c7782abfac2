/* The model against the naive one, on random accesses. The seed is printed; WARPMEM_SEED=N repeats a run. */
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

#include "generate.h"
#include "naive.h"
#include "warpmem.h"

/* Stop after so many differences: the first ones tell enough. */
#define FAILURES_SHOWN 5

static uint64_t seed;

static uint64_t choose_seed(void)
{
    const char *text = getenv("WARPMEM_SEED");

    return text != NULL && *text != '\0' ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
}

static void show(const struct wm_access *access, const struct wm_counts *model, const struct wm_counts *naive)
{
    fprintf(stderr, "# differs (l1 %s): ", access->l1 == WM_L1_HIT ? "hit" : "miss");
    generate_print(stderr, access);
    for (int c = 0; c < WM_COUNTERS; c++) {
        uint32_t m = wm_counts_get(model, (enum wm_counter)c);
        uint32_t n = wm_counts_get(naive, (enum wm_counter)c);
        fprintf(stderr, "#   %-24s model %" PRIu32 ", naive %" PRIu32 "%s\n", wm_counter_name((enum wm_counter)c), m, n,
                m != n ? "  <--" : "");
    }
    fprintf(stderr, "#   %-24s model %" PRIx32 ", naive %" PRIx32 "\n", "inexact", model->inexact, naive->inexact);
}

/* What the model may call inexact: the L2 side of copies past L1, the data stage of a global compare-and-swap of 16 B, matrices that
 * lack rows. */
static uint32_t may_be_inexact(const struct wm_opcode *opcode)
{
    if (opcode->operation == WM_CP_ASYNC && opcode->cache == WM_CACHE_CG) {
        return UINT32_C(1) << WM_L2_REQUESTS | UINT32_C(1) << WM_L2_SECTORS;
    }
    if (opcode->space == WM_GLOBAL && opcode->atomic == WM_ATOMIC_CAS && opcode->width_bytes > 8) {
        return UINT32_C(1) << WM_LSU_WAVEFRONTS;
    }
    if (opcode->space == WM_LOCAL) {
        return UINT32_C(1) << WM_TAG_WAVEFRONTS | UINT32_C(1) << WM_LSU_WAVEFRONTS |
               (opcode->operation == WM_LD ? UINT32_C(1) << WM_LSU_WRITEBACK : 0);
    }
    if (opcode->operation == WM_ST) {
        return UINT32_C(1) << WM_LSU_WAVEFRONTS;
    }
    if (opcode->matrices) {
        return UINT32_C(1) << WM_SHARED_WAVEFRONTS | UINT32_C(1) << WM_BANK_CONFLICTS |
               (opcode->operation == WM_LDMATRIX ? UINT32_C(1) << WM_LSU_WRITEBACK : 0);
    }
    return 0;
}

/* The model must not hold exact what the naive one does not (but the data stage of long stores, which the naive one does
 * not follow), and agree in all that both hold exact. */
static int agree(const struct wm_access *access, const struct wm_counts *model, const struct wm_counts *naive)
{
    uint32_t unknown = naive->inexact;

    if (access->opcode.operation == WM_ST) {
        unknown = 0;
    }
    if ((model->inexact & ~may_be_inexact(&access->opcode)) != 0 || (unknown & ~model->inexact) != 0) {
        return 0;
    }
    for (int c = 0; c < WM_COUNTERS; c++) {
        if (!((model->inexact | naive->inexact) >> c & 1) &&
            wm_counts_get(model, (enum wm_counter)c) != wm_counts_get(naive, (enum wm_counter)c)) {
            return 0;
        }
    }
    return 1;
}

static void compare(const char *name, const struct naive_rules *rules, unsigned max_width_bytes, unsigned accesses)
{
    struct generator g;
    struct wm_diag diag;
    wm_arch *arch = NULL;
    unsigned different = 0;

    print_message("# %s: %u accesses, WARPMEM_SEED=%" PRIu64 "\n", name, accesses, seed);
    assert_int_equal(wm_arch_open(name, &arch, &diag), WM_OK);
    assert_int_equal(generate_start(&g, seed, max_width_bytes), WM_OK);
    for (unsigned i = 0; i < accesses && different < FAILURES_SHOWN; i++) {
        struct wm_access access;
        struct wm_counts model;
        struct wm_counts naive;
        enum wm_status status;
        generate_access(&g, &access);
        memset(&model, 0xA5, sizeof model);
        status = wm_model(arch, &access, &model);
        if (status != WM_OK) {
            fprintf(stderr, "# refused (%s): ", wm_status_text(status));
            generate_print(stderr, &access);
            different++;
            continue;
        }
        naive_counts(rules, &access, &naive);
        if (!agree(&access, &model, &naive)) {
            show(&access, &model, &naive);
            different++;
        }
    }
    wm_arch_close(arch);
    assert_int_equal(different, 0);
}

static void model_is_naive_on_sm_90(void **state)
{
    (void)state;
    compare("sm_90", &naive_sm_90, 16, 1000000);
}

/* Another tag hash, and accesses of 32 bytes. */
static void model_is_naive_on_sm_120(void **state)
{
    (void)state;
    compare("sm_120", &naive_sm_120, 32, 200000);
}

/* wm_model_many() may take another path than wm_model(). */
static void many_is_one_by_one(void **state)
{
    enum { N = 1000, ROUNDS = 50 };
    struct generator g;
    struct wm_diag diag;
    wm_arch *arch = NULL;
    struct wm_access *accesses = calloc(N, sizeof *accesses);
    struct wm_counts *counts = calloc(N, sizeof *counts);
    unsigned different = 0;

    (void)state;
    assert_non_null(accesses);
    assert_non_null(counts);
    assert_int_equal(wm_arch_open("sm_90", &arch, &diag), WM_OK);
    assert_int_equal(generate_start(&g, seed + 1, 16), WM_OK);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct wm_opcode *opcode = &g.opcode[generate_below(&g, g.opcodes)];
        size_t n = 1 + (size_t)generate_below(&g, N);
        size_t done = 0;
        for (size_t i = 0; i < n; i++) { /* half of the rounds with one opcode, as loops of kernels have */
            if (round % 2 == 0) {
                generate_access_of(&g, opcode, &accesses[i]);
            } else {
                generate_access(&g, &accesses[i]);
            }
        }
        assert_int_equal(wm_model_many(arch, accesses, n, counts, &done), WM_OK);
        assert_int_equal(done, n);
        for (size_t i = 0; i < n; i++) {
            struct wm_counts one;
            assert_int_equal(wm_model(arch, &accesses[i], &one), WM_OK);
            if (memcmp(&one, &counts[i], sizeof one) != 0 && different++ < FAILURES_SHOWN) {
                show(&accesses[i], &counts[i], &one);
            }
        }
    }
    wm_arch_close(arch);
    free(accesses);
    free(counts);
    assert_int_equal(different, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_is_naive_on_sm_90),
        cmocka_unit_test(model_is_naive_on_sm_120),
        cmocka_unit_test(many_is_one_by_one),
    };

    seed = choose_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
