/* An access taken apart: its sums are the model's counts, and what it says of lanes, banks and lines holds when it is
 * looked up naively. The seed is printed; WARPMEM_SEED=N repeats a run. */
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
#include "warpmem.h"

#define ACCESSES 100000U

static uint64_t seed;

static uint64_t choose_seed(void)
{
    const char *text = getenv("WARPMEM_SEED");

    return text != NULL && *text != '\0' ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
}

static unsigned bits(uint64_t value)
{
    unsigned n = 0;

    for (; value; value &= value - 1)
        n++;
    return n;
}

/* The first thing that does not hold; NULL: all does. */
#define HOLD(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return #condition;                                                                                         \
    } while (0)

/* ----------------------------------------------------------------------------------------------------------- counts */

static void sum_phases(const struct wm_anatomy *a, struct wm_counts *sum)
{
    for (uint32_t i = 0; i < a->phase_count; i++) {
        const struct wm_phase *phase = &a->phase[i];
        const uint32_t passes = (uint32_t)phase->passes * phase->repeats;

        if (a->path == WM_PATH_L1 || a->path == WM_PATH_ATOMIC) {
            sum->lsu_wavefronts += passes;
            continue;
        }
        sum->shared_wavefronts += passes;
        sum->shared_wavefronts_ideal += (uint32_t)phase->ideal_passes * phase->repeats;
        sum->bank_conflicts += passes - 1;
        if (phase->passes > sum->ways)
            sum->ways = phase->passes;
    }
}

static void sum_lines(const struct wm_anatomy *a, struct wm_counts *sum)
{
    uint32_t wavefronts[WM_ANATOMY_REQUESTS] = {0};

    for (uint32_t i = 0; i < a->line_count; i++) {
        const struct wm_line *line = &a->line[i];

        sum->lines++;
        sum->sectors += bits(a->path == WM_PATH_BYPASS ? line->shared_sectors : line->sectors);
        if (line->wavefront >= wavefronts[line->request])
            wavefronts[line->request] = line->wavefront + 1U;
    }
    for (unsigned r = 0; r < WM_ANATOMY_REQUESTS; r++)
        sum->tag_wavefronts += wavefronts[r];
}

static struct wm_counts sum_up(const struct wm_anatomy *a, const struct wm_access *access)
{
    struct wm_counts sum = {.requests = a->requests};

    sum_phases(a, &sum);
    sum_lines(a, &sum);
    sum.l2_requests = sum.lines;
    sum.l2_sectors = sum.sectors;
    if (a->path == WM_PATH_BYPASS)
        sum.l2_requests = sum.l2_sectors = 0;
    for (uint32_t i = 0; i < a->packets_count; i++) {
        sum.l2_requests += a->packets[i].requests;
        sum.l2_sectors += a->packets[i].sectors;
    }
    if (a->path == WM_PATH_NONE)
        sum.shared_wavefronts = sum.shared_wavefronts_ideal = a->predicated_off;
    /* a compare-and-swap's second round of passes is no conflict */
    if (a->path == WM_PATH_SHARED && access->opcode.atomic == WM_ATOMIC_CAS) {
        sum.bank_conflicts = 0;
        for (uint32_t i = 0; i < a->phase_count; i++)
            sum.bank_conflicts += a->phase[i].passes - 1U;
    }
    return sum;
}

/* ------------------------------------------------------------------------------------------------- lanes and passes */

/* Every lane is served once in each request, with atomics in each direction. */
static const char *check_lanes(const struct wm_anatomy *a)
{
    uint32_t served[WM_ANATOMY_REQUESTS][2] = {{0}};

    for (uint32_t i = 0; i < a->phase_count; i++) {
        const struct wm_phase *phase = &a->phase[i];
        uint32_t *lanes = &served[phase->request][phase->is_request];

        HOLD(phase->lanes != 0);
        HOLD((*lanes & phase->lanes) == 0);
        *lanes |= phase->lanes;
        for (unsigned lane = 0; lane < WM_LANES; lane++)
            HOLD(!(phase->lanes >> lane & 1) || phase->pass[lane] < phase->passes);
    }
    for (unsigned r = 0; r < a->requests; r++) {
        if (a->path == WM_PATH_L1)
            HOLD(served[r][0] == a->lanes);
        if (a->path == WM_PATH_ATOMIC)
            HOLD(served[r][1] == a->lanes && (served[r][0] == a->lanes || served[r][0] == 0));
    }
    if (a->path == WM_PATH_SHARED || a->path == WM_PATH_COPY)
        HOLD(served[0][0] == a->lanes);
    return NULL;
}

/* In one pass no bank serves two different words, nor, where lanes do not merge, two lanes. */
static const char *check_phase(const struct wm_anatomy *a, const struct wm_phase *phase)
{
    static unsigned owner[128][32]; /* lane + 1 */
    unsigned most = 0;

    memset(owner, 0, sizeof owner);
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        const uint64_t first = a->address[phase->request][lane] * phase->scale;

        if (!(phase->lanes >> lane & 1))
            continue;
        if (phase->pass[lane] + 1U > most)
            most = phase->pass[lane] + 1U;
        for (uint64_t at = first; at < first + a->request_bytes * phase->scale; at += a->bank_bytes) {
            const unsigned bank = (unsigned)(at / a->bank_bytes) % a->banks & ~(unsigned)phase->folded;
            unsigned *by = &owner[phase->pass[lane]][bank];

            if (*by && *by != lane + 1) {
                const uint64_t other = a->address[phase->request][*by - 1];

                HOLD(a->words_merge);
                HOLD(other * phase->scale / a->bank_bytes % a->banks == first / a->bank_bytes % a->banks);
                HOLD(other / a->line_bytes == first / phase->scale / a->line_bytes);
            }
            *by = lane + 1;
        }
    }
    HOLD(most <= phase->passes);
    /* attempts of a race may write nothing */
    HOLD(most == phase->passes || (phase->cycle && a->request_bytes < a->bank_bytes));
    return NULL;
}

/* The same for copies: neither side's slot is used twice in a pass. */
static const char *check_copy(const struct wm_access *access, const struct wm_anatomy *a, const struct wm_phase *phase)
{
    for (unsigned i = 0; i < WM_LANES; i++) {
        for (unsigned k = 0; k < i; k++) {
            if (!(phase->lanes >> i & 1) || !(phase->lanes >> k & 1) || phase->pass[i] != phase->pass[k])
                continue;
            HOLD(access->address[i] % a->line_bytes != access->address[k] % a->line_bytes);
            HOLD(access->shared_address[i] % a->line_bytes != access->shared_address[k] % a->line_bytes);
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------ lines */

static const char *check_line(const struct wm_anatomy *a, const struct wm_line *line)
{
    uint32_t sectors = 0, lanes = 0;
    unsigned used = 0, asked = 0;

    for (unsigned s = 0; s < WM_ANATOMY_SECTORS; s++) {
        lanes |= line->sector_lanes[s];
        sectors |= (uint32_t)(line->sector_lanes[s] != 0) << s;
        for (unsigned lane = 0; lane < WM_LANES; lane++) {
            if (line->sector_lanes[s] >> lane & 1)
                HOLD((a->address[line->request][lane] - line->address) / a->sector_bytes == s);
        }
    }
    HOLD(lanes == line->lanes);
    HOLD(a->path == WM_PATH_BYPASS ? (line->sectors & ~sectors) == 0 : line->sectors == sectors);
    HOLD(line->tag_bank < a->tag_banks);
    for (unsigned byte = 0; byte < a->line_bytes; byte++) {
        unsigned wanted = 0;

        for (unsigned lane = 0; lane < WM_LANES; lane++)
            wanted |=
                (line->lanes >> lane & 1) && line->address + byte - a->address[line->request][lane] < a->request_bytes;
        HOLD((line->bytes[byte / 64] >> byte % 64 & 1) == wanted);
        used += wanted;
    }
    asked = bits(sectors) * a->sector_bytes;
    HOLD(used >= 1 && used <= asked);
    return NULL;
}

/* No two lines of a tag bank in one tag wavefront. */
static const char *check_tags(const struct wm_anatomy *a)
{
    for (uint32_t i = 0; i < a->line_count; i++) {
        for (uint32_t k = 0; k < i && a->path != WM_PATH_BYPASS; k++) {
            HOLD(a->line[i].request != a->line[k].request || a->line[i].wavefront != a->line[k].wavefront ||
                 a->line[i].tag_bank != a->line[k].tag_bank);
        }
    }
    return NULL;
}

static const char *check(const struct wm_access *access, const struct wm_anatomy *a)
{
    const char *wrong = check_lanes(a);

    for (uint32_t i = 0; !wrong && i < a->phase_count; i++)
        wrong = a->path == WM_PATH_COPY ? check_copy(access, a, &a->phase[i]) : check_phase(a, &a->phase[i]);
    for (uint32_t i = 0; !wrong && i < a->line_count; i++)
        wrong = check_line(a, &a->line[i]);
    return wrong ? wrong : check_tags(a);
}

/* ------------------------------------------------------------------------------------------------------------ tests */

/* Of an access that the model calls inexact, the anatomy says so too. */
static int doubts_agree(const struct wm_counts *counts, const struct wm_anatomy *a)
{
    const uint32_t data = counts->inexact >> WM_LSU_WAVEFRONTS & 1;
    const uint32_t l2 = counts->inexact >> WM_L2_REQUESTS & 1;
    const uint32_t tags = counts->inexact >> WM_TAG_WAVEFRONTS & 1;

    return (!data || (a->unsure & (WM_UNSURE_DATA | WM_UNSURE_GROUPS | WM_UNSURE_TAGS))) &&
           l2 == ((a->unsure & WM_UNSURE_L2) != 0) && tags == ((a->unsure & WM_UNSURE_TAGS) != 0);
}

static unsigned compare(const wm_arch *arch, const struct wm_access *access, struct wm_anatomy *a)
{
    struct wm_counts counts, sum;
    const char *wrong;
    enum wm_status status = wm_model(arch, access, &counts);

    memset(a, 0xA5, sizeof *a);
    assert_int_equal(wm_explain(arch, access, a), status);
    if (status)
        return 0;
    sum = sum_up(a, access);
    sum.sectors_ideal = counts.sectors_ideal;
    sum.lsu_writeback = counts.lsu_writeback;
    sum.inexact = counts.inexact;
    wrong = check(access, a);
    if (!wrong && !doubts_agree(&counts, a))
        wrong = "doubts";
    if (!wrong && memcmp(&sum, &counts, sizeof sum) == 0)
        return 0;
    fprintf(stderr, "# %s (l1 %s): ", wrong ? wrong : "sums differ", access->l1 == WM_L1_HIT ? "hit" : "miss");
    generate_print(stderr, access);
    for (int c = 0; c < WM_COUNTERS; c++)
        fprintf(stderr, "#   %-24s model %" PRIu32 ", anatomy %" PRIu32 "\n", wm_counter_name((enum wm_counter)c),
                wm_counts_get(&counts, (enum wm_counter)c), wm_counts_get(&sum, (enum wm_counter)c));
    return 1;
}

static void compare_random(const char *name, unsigned max_width_bytes)
{
    struct wm_anatomy *a = malloc(sizeof *a);
    struct generator g;
    wm_arch *arch = NULL;
    unsigned different = 0, opcodes;

    assert_non_null(a);
    print_message("# %s: %u accesses, WARPMEM_SEED=%" PRIu64 "\n", name, ACCESSES, seed);
    assert_int_equal(wm_arch_open(name, &arch, NULL), WM_OK);
    assert_int_equal(generate_start(&g, seed, max_width_bytes), WM_OK);
    opcodes = g.opcodes;
    assert_true(opcodes > 50);
    for (unsigned i = 0; i < ACCESSES && different < 5; i++) {
        struct wm_access access;

        generate_access_of(&g, &g.opcode[i % opcodes], &access);
        if (i / opcodes % 2)
            access.l1 = WM_L1_HIT;
        if (i / opcodes % 3 == 0 && access.opcode.space == WM_GLOBAL) { /* where every address bit's share is known */
            for (unsigned lane = 0; lane < WM_LANES; lane++)
                access.address[lane] = (access.address[lane] & ~(UINT64_C(0xff) << 40)) | UINT64_C(0x7f) << 40;
        }
        different += compare(arch, &access, a);
    }
    wm_arch_close(arch);
    free(a);
    assert_int_equal(different, 0);
}

static void sums_are_counts_on_sm_90(void **state)
{
    (void)state;
    compare_random("sm_90", 16);
}

static void sums_are_counts_on_sm_120(void **state)
{
    (void)state;
    compare_random("sm_120", 32);
}

/* A store whose lines all lie in one tag bank: one a wavefront, more than a store has slots for. */
static void groups_of_a_race_cover_its_wavefronts(void **state)
{
    struct wm_anatomy *a = malloc(sizeof *a);
    struct wm_access access = {.count = 1, .pc = WM_NO_PC};
    struct wm_counts counts;
    uint64_t address = UINT64_C(0x7f0000000000);
    unsigned next = 0;
    wm_arch *arch = NULL;

    (void)state;
    assert_non_null(a);
    assert_int_equal(wm_arch_open("sm_90", &arch, NULL), WM_OK);
    assert_int_equal(wm_opcode_parse("st.global.b32", 13, &access.opcode, NULL), WM_OK);
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        access.mask |= UINT32_C(1) << lane;
        do {
            access.address[lane] = address;
            address += 128;
            assert_int_equal(wm_model(arch, &access, &counts), WM_OK);
        } while (counts.tag_wavefronts != lane + 1);
    }
    assert_int_equal(wm_explain(arch, &access, a), WM_OK);
    assert_int_equal(a->store_merge, 8);
    for (uint32_t i = 0; i < a->phase_count; i++) {
        assert_int_equal(a->phase[i].first_wavefront, next);
        next += a->phase[i].wavefronts;
    }
    for (uint32_t i = 0; i < a->line_count; i++)
        assert_true(a->line[i].wavefront < next);
    assert_true(a->phase_count > 1);
    wm_arch_close(arch);
    free(a);
}

static void what_is_refused_leaves_the_output_alone(void **state)
{
    struct wm_anatomy *a = malloc(sizeof *a);
    struct wm_access access = {.mask = 1, .count = 1, .pc = WM_NO_PC, .address = {2}};
    wm_arch *arch = NULL;

    (void)state;
    assert_non_null(a);
    assert_int_equal(wm_arch_open("sm_90", &arch, NULL), WM_OK);
    assert_int_equal(wm_opcode_parse("ld.shared.b32", 13, &access.opcode, NULL), WM_OK);
    memset(a, 0x5A, sizeof *a);
    assert_int_equal(wm_explain(arch, &access, a), WM_E_MISALIGNED);
    assert_int_equal(wm_explain(NULL, &access, a), WM_E_ARGUMENT);
    assert_int_equal(wm_explain(arch, NULL, a), WM_E_ARGUMENT);
    assert_int_equal(wm_explain(arch, &access, NULL), WM_E_ARGUMENT);
    for (size_t i = 0; i < sizeof *a; i++)
        assert_int_equal(((const unsigned char *)a)[i], 0x5A);
    wm_arch_close(arch);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_counts_on_sm_90),
        cmocka_unit_test(sums_are_counts_on_sm_120),
        cmocka_unit_test(groups_of_a_race_cover_its_wavefronts),
        cmocka_unit_test(what_is_refused_leaves_the_output_alone),
    };

    seed = choose_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
