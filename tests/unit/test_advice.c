/* Advice about global memory: each change is proposed where it helps and not where it does not, and what it is said to
 * come to is what the naive model counts for accesses that are written down here by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "accesses.h"
#include "global_advice.h"
#include "naive.h"
#include "path.h"
#include "report.h"

#define BASE UINT64_C(0x7f0000000000)
#define OTHER (BASE + (UINT64_C(1) << 32)) /* another array */
#define OFF UINT64_MAX                     /* the lane is not active */

/* An instruction: where each lane goes. Thread: number in the block. */
typedef uint64_t (*place_function)(unsigned block, unsigned thread, unsigned step);

struct plan {
    const char *opcode;
    unsigned line;
    place_function place;
    unsigned blocks, warps, steps;
};

/* A kernel, and what is found about it. */
struct fixture {
    wm_arch *arch;
    struct accesses *accesses;
    struct global_advice advice;
    struct path path;
};

static struct wm_access access_at(const struct plan *plan, unsigned block, unsigned warp, unsigned step)
{
    struct wm_access access;

    memset(&access, 0x5a, sizeof access); /* entries of inactive lanes may hold anything */
    assert_int_equal(wm_opcode_parse(plan->opcode, strlen(plan->opcode), &access.opcode, NULL), WM_OK);
    access.mask = 0;
    access.count = 1;
    access.pc = WM_NO_PC;
    access.file = "k.cu";
    access.line = plan->line;
    access.block[0] = block % 16;
    access.block[1] = block / 16;
    access.block[2] = 0;
    access.warp = warp;
    access.l1 = WM_L1_MISS;
    access.zero_fill = 0;
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        uint64_t address = plan->place(block, warp * WM_LANES + lane, step);

        if (address == OFF)
            continue;
        access.mask |= UINT32_C(1) << lane;
        access.address[lane] = address;
    }
    return access;
}

/* All plans as one kernel of blocks of x * y threads; warps take turns, step by step. */
static void look(struct fixture *fixture, const struct plan *plans, size_t n, uint32_t x, uint32_t y,
                 const struct wm_array *array)
{
    const struct wm_kernel kernel = {.name = "k", .grid = {16, 16, 1}, .block = {x, y, 1}};

    assert_int_equal(wm_arch_open("sm_90", &fixture->arch, NULL), WM_OK);
    assert_int_equal(accesses_new(0, &fixture->accesses), WM_OK);
    for (unsigned block = 0; block < plans[0].blocks; block++) {
        for (unsigned step = 0; step < 64; step++) {
            for (unsigned warp = 0; warp < plans[0].warps; warp++) {
                for (size_t i = 0; i < n; i++) {
                    struct wm_access access = access_at(&plans[i], block, warp, step);

                    access.kernel = &kernel;
                    if (step < plans[i].steps && access.mask)
                        assert_int_equal(accesses_add(fixture->accesses, &access), WM_OK);
                }
            }
        }
    }
    assert_int_equal(
        global_advice_find(fixture->arch, fixture->accesses->kernels[0], &array, array != NULL, &fixture->advice),
        WM_OK);
    assert_int_equal(path_find(fixture->arch, &fixture->advice, NULL, 0, &fixture->path), WM_OK);
}

static void done(struct fixture *fixture)
{
    path_free(&fixture->path);
    global_advice_free(&fixture->advice);
    accesses_free(fixture->accesses);
    wm_arch_close(fixture->arch);
}

/* The advice of a kind; NULL: none. */
static const struct advice *find(const struct fixture *fixture, enum advice_kind kind)
{
    for (size_t i = 0; i < fixture->advice.list.n; i++) {
        if (fixture->advice.list.list[i].kind == kind)
            return &fixture->advice.list.list[i];
    }
    return NULL;
}

static const struct advice *must_find(const struct fixture *fixture, enum advice_kind kind)
{
    const struct advice *advice = find(fixture, kind);

    if (!advice)
        fail_msg("no advice of the kind '%s'", advice_kind_name(kind));
    return advice;
}

static void must_not_find(const struct fixture *fixture, enum advice_kind kind)
{
    if (find(fixture, kind))
        fail_msg("advice of the kind '%s' without a reason", advice_kind_name(kind));
}

/* What the naive model counts for a plan. */
static void naive_sums(const struct plan *plan, uint64_t sums[WM_COUNTERS], uint64_t *instructions)
{
    memset(sums, 0, WM_COUNTERS * sizeof *sums);
    *instructions = 0;
    for (unsigned block = 0; block < plan->blocks; block++) {
        for (unsigned step = 0; step < plan->steps; step++) {
            for (unsigned warp = 0; warp < plan->warps; warp++) {
                struct wm_access access = access_at(plan, block, warp, step);
                struct wm_counts counts;

                if (!access.mask)
                    continue;
                naive_counts(&naive_sm_90, &access, &counts);
                ++*instructions;
                for (int c = 0; c < WM_COUNTERS; c++)
                    sums[c] += wm_counts_get(&counts, (enum wm_counter)c);
            }
        }
    }
}

/* Whether a cost is what the naive model counts. The naive model's stores are counted by the rule for short ones;
 * ours here have at most 8 tag wavefronts. */
static void check_cost(const struct cost *cost, const struct plan *plan)
{
    uint64_t sums[WM_COUNTERS];
    uint64_t instructions;

    naive_sums(plan, sums, &instructions);
    assert_int_equal(cost->instructions, instructions);
    for (int c = 0; c < WM_COUNTERS; c++) {
        if (c != WM_WAYS && cost->sums[c] != sums[c])
            fail_msg("line %u: %s is %llu, and should be %llu", plan->line, wm_counter_name((enum wm_counter)c),
                     (unsigned long long)cost->sums[c], (unsigned long long)sums[c]);
    }
}

/* The effect of an advice on a line. */
static const struct effect *effect_on(const struct advice *advice, unsigned line)
{
    for (size_t i = 0; i < advice->n_effects; i++) {
        for (size_t k = 0; k < advice->effects[i].n_sites; k++) {
            if (advice->effects[i].sites[k]->line == line)
                return &advice->effects[i];
        }
    }
    fail_msg("no effect on line %u", line);
    return NULL;
}

static void check_after(const struct advice *advice, unsigned line, struct plan after)
{
    check_cost(&effect_on(advice, line)->after, &after);
}

static struct wm_array array_of(const char *element, uint64_t bytes, uint64_t count)
{
    return (struct wm_array){.name = "a",
                             .element = element,
                             .element_bytes = bytes,
                             .dimensions = 1,
                             .align_bytes = 4,
                             .extent = {count},
                             .space = WM_GLOBAL,
                             .address = BASE,
                             .size_bytes = bytes * count,
                             .file = "k.cu",
                             .line = 1};
}

/* ----------------------------------------------------------------------------------------------------------- places */

/* 256 threads a block, one element each. */
static uint64_t index_of(unsigned block, unsigned thread)
{
    return (uint64_t)block * 256 + thread;
}

static uint64_t packed(unsigned block, unsigned thread, unsigned step)
{
    (void)step;
    return BASE + 4 * index_of(block, thread);
}

static uint64_t packed_other(unsigned block, unsigned thread, unsigned step)
{
    return packed(block, thread, step) - BASE + OTHER;
}

static uint64_t packed_vector(unsigned block, unsigned thread, unsigned step)
{
    (void)step;
    return BASE + 16 * index_of(block, thread);
}

/* Members of structures of 16 bytes. */
static uint64_t member_0(unsigned block, unsigned thread, unsigned step)
{
    return packed_vector(block, thread, step);
}

static uint64_t member_4(unsigned block, unsigned thread, unsigned step)
{
    return packed_vector(block, thread, step) + 4;
}

static uint64_t member_8(unsigned block, unsigned thread, unsigned step)
{
    return packed_vector(block, thread, step) + 8;
}

static uint64_t member_12(unsigned block, unsigned thread, unsigned step)
{
    return packed_vector(block, thread, step) + 12;
}

/* ---------------------------------------------------------------------------------------------------------- layouts */

static void structures_of_arrays(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, member_0, 4, 8, 1}};
    const struct wm_array array = array_of("particle", 16, 1024);
    struct fixture fixture;
    const struct advice *advice;

    (void)state;
    for (int is_known = 0; is_known < 2; is_known++) {
        look(&fixture, plans, 1, 256, 1, is_known ? &array : NULL);
        advice = must_find(&fixture, ADVICE_LAYOUT);
        check_cost(&effect_on(advice, 3)->before, &plans[0]);
        check_after(advice, 3, (struct plan){"ld.global.b32", 3, packed, 4, 8, 1});
        assert_non_null(strstr(advice->title, is_known ? "a: array of structures (particle, 16 B)" : "16 B apart"));
        assert_false(advice->is_bound);
        must_not_find(&fixture, ADVICE_NONE);
        must_not_find(&fixture, ADVICE_TILE);
        done(&fixture);
    }
}

/* The second member's array begins behind the first's: 1,024 elements of 4 bytes. */
static uint64_t second_piece(unsigned block, unsigned thread, unsigned step)
{
    return packed(block, thread, step) + 4096;
}

static void two_members(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, member_0, 4, 8, 1}, {"st.global.b32", 4, member_8, 4, 8, 1}};
    struct fixture fixture;
    const struct advice *advice;

    (void)state;
    look(&fixture, plans, 2, 256, 1, NULL);
    advice = must_find(&fixture, ADVICE_LAYOUT);
    assert_int_equal(advice->n_effects, 2);
    check_after(advice, 3, (struct plan){"ld.global.b32", 3, packed, 4, 8, 1});
    check_after(advice, 4, (struct plan){"st.global.b32", 4, second_piece, 4, 8, 1});
    assert_non_null(strstr(advice->words, "bytes 0-3, 8-11"));
    done(&fixture);
}

/* All four members on one source line, one after the other: the steps of one site. */
static uint64_t members_by_step(unsigned block, unsigned thread, unsigned step)
{
    return packed_vector(block, thread, step) + 4 * step;
}

static uint64_t pieces_by_step(unsigned block, unsigned thread, unsigned step)
{
    return packed(block, thread, step) + 4096 * step;
}

static void members_on_a_line(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, members_by_step, 4, 8, 4}};
    const struct wm_array structures = array_of("particle", 16, 1024);
    const struct wm_array scalars = array_of("float", 4, 4096);
    struct fixture fixture;

    (void)state;
    look(&fixture, plans, 1, 256, 1, &structures);
    check_after(must_find(&fixture, ADVICE_LAYOUT), 3, (struct plan){"ld.global.b32", 3, pieces_by_step, 4, 8, 4});
    done(&fixture);
    /* of an array of floats they are rows of 4, walked along: no structure */
    look(&fixture, plans, 1, 256, 1, &scalars);
    must_not_find(&fixture, ADVICE_LAYOUT);
    check_after(must_find(&fixture, ADVICE_THREAD_VECTOR), 3,
                (struct plan){"ld.global.v4.b32", 3, packed_vector, 4, 8, 1});
    done(&fixture);
}

static uint64_t every_eighth(unsigned block, unsigned thread, unsigned step)
{
    (void)step;
    return BASE + 32 * index_of(block, thread);
}

static uint64_t second_of_pair(unsigned block, unsigned thread, unsigned step)
{
    (void)step;
    return BASE + 8 * index_of(block, thread) + 4;
}

static void one_of_a_pair(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, second_of_pair, 4, 8, 1}};
    const struct wm_array array = array_of("float2", 8, 1024);
    struct fixture fixture;
    const struct advice *advice;

    (void)state;
    look(&fixture, plans, 1, 256, 1, &array);
    advice = must_find(&fixture, ADVICE_LAYOUT);
    check_after(advice, 3, (struct plan){"ld.global.b32", 3, packed, 4, 8, 1});
    assert_string_equal(advice->title, "a: array of structures (float2, 8 B)");
    assert_non_null(strstr(advice->words, "50.0 % of the bytes are used"));
    assert_non_null(strstr(advice->words, "Keep bytes 4-7 of"));
    done(&fixture);
}

static void every_kth_element(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, every_eighth, 4, 8, 1}};
    const struct wm_array array = array_of("float", 4, 8192);
    struct fixture fixture;
    const struct advice *advice;

    (void)state;
    look(&fixture, plans, 1, 256, 1, &array);
    advice = must_find(&fixture, ADVICE_LAYOUT);
    assert_string_equal(advice->title, "a: one element in 8 is used");
    check_after(advice, 3, (struct plan){"ld.global.b32", 3, packed, 4, 8, 1});
    done(&fixture);
}

/* Elements 128 bytes apart, 8 times over; and all of them in order, once. */
static uint64_t every_32nd(unsigned block, unsigned thread, unsigned step)
{
    (void)step;
    (void)block;
    return BASE + 128 * thread;
}

static uint64_t in_order(unsigned block, unsigned thread, unsigned step)
{
    (void)step;
    return thread < 32 ? BASE + 4 * (thread + 32 * block) : OFF;
}

/* Each of the 32 pieces has an array of 256 elements, 1,024 bytes. */
static uint64_t in_order_by_pieces(unsigned block, unsigned thread, unsigned step)
{
    uint64_t distance = in_order(block, thread, step) - BASE;

    return thread < 32 ? BASE + 1024 * (distance % 128 / 4) + 4 * (distance / 128) : OFF;
}

static uint64_t first_column(unsigned block, unsigned thread, unsigned step)
{
    (void)step;
    (void)block;
    return BASE + 4 * thread;
}

static void what_gets_worse_is_shown(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, every_32nd, 4, 8, 8}, {"st.global.b32", 4, in_order, 4, 8, 1}};
    struct fixture fixture;
    struct buffer text = {0};
    const struct advice *advice;

    (void)state;
    look(&fixture, plans, 2, 256, 1, NULL);
    advice = must_find(&fixture, ADVICE_LAYOUT);
    check_after(advice, 3, (struct plan){"ld.global.b32", 3, first_column, 4, 8, 8});
    check_after(advice, 4, (struct plan){"st.global.b32", 4, in_order_by_pieces, 4, 8, 1});
    assert_true(effect_on(advice, 4)->after.sums[WM_SECTORS] > effect_on(advice, 4)->before.sums[WM_SECTORS]);
    global_advice_table(&fixture.advice, &text);
    assert_non_null(strstr(buffer_text(&text), "then: more"));
    buffer_free(&text);
    done(&fixture);
}

static void whole_structures_stay(void **state)
{
    const struct plan whole[] = {{"ld.global.v4.b32", 3, packed_vector, 4, 8, 1}};
    struct fixture fixture;

    (void)state;
    look(&fixture, whole, 1, 256, 1, NULL);
    assert_int_equal(fixture.advice.list.n, 0);
    done(&fixture);
}

static void members_at_once(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, member_0, 4, 8, 1},
                                 {"ld.global.b32", 4, member_4, 4, 8, 1},
                                 {"ld.global.b32", 5, member_8, 4, 8, 1},
                                 {"ld.global.b32", 6, member_12, 4, 8, 1}};
    struct fixture fixture;
    const struct advice *advice;

    (void)state;
    /* four; three, of which the load takes the fourth as well; two, of 8 bytes */
    for (size_t n = 4; n >= 2; n--) {
        look(&fixture, plans, n, 256, 1, NULL);
        advice = must_find(&fixture, ADVICE_MEMBERS);
        assert_int_equal(advice->n_effects, 1);
        assert_int_equal(advice->effects[0].n_sites, n);
        check_after(advice, 3,
                    (struct plan){n > 2 ? "ld.global.v4.b32" : "ld.global.v2.b32", 3, packed_vector, 4, 8, 1});
        done(&fixture);
    }
    /* the second and third lie in no aligned 8 bytes */
    look(&fixture, plans + 1, 2, 256, 1, NULL);
    must_not_find(&fixture, ADVICE_MEMBERS);
    done(&fixture);
}

static void stores_take_no_gap(void **state)
{
    const struct plan plans[] = {{"st.global.b32", 3, member_0, 4, 8, 1},
                                 {"st.global.b32", 4, member_4, 4, 8, 1},
                                 {"st.global.b32", 5, member_8, 4, 8, 1}};
    struct fixture fixture;
    const struct advice *advice;

    (void)state;
    look(&fixture, plans, 3, 256, 1, NULL);
    advice = must_find(&fixture, ADVICE_MEMBERS);
    assert_int_equal(advice->effects[0].n_sites, 2);
    check_after(advice, 3, (struct plan){"st.global.v2.b32", 3, packed_vector, 4, 8, 1});
    done(&fixture);
}

/* ------------------------------------------------------------------------------------------------------- beginnings */

static uint64_t shifted(unsigned block, unsigned thread, unsigned step)
{
    return packed(block, thread, step) + 4;
}

static uint64_t shifted_by_sector(unsigned block, unsigned thread, unsigned step)
{
    return packed(block, thread, step) + 32;
}

static void misaligned(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, shifted, 4, 8, 1}};
    const struct plan by_sector[] = {{"ld.global.b32", 3, shifted_by_sector, 4, 8, 1}};
    const struct plan both[] = {{"st.global.b32", 3, shifted, 4, 8, 1}, {"st.global.b32", 4, packed, 4, 8, 1}};
    struct fixture fixture;

    (void)state;
    look(&fixture, plans, 1, 256, 1, NULL);
    check_after(must_find(&fixture, ADVICE_ALIGN), 3, (struct plan){"ld.global.b32", 3, packed, 4, 8, 1});
    done(&fixture);
    /* no sector is wasted, but lines are, which costs no cycle: what bounds narrow loads is another unit */
    look(&fixture, by_sector, 1, 256, 1, NULL);
    must_not_find(&fixture, ADVICE_ALIGN);
    must_find(&fixture, ADVICE_WARP_VECTOR);
    done(&fixture);
    /* what one gains the other loses */
    look(&fixture, both, 2, 256, 1, NULL);
    must_not_find(&fixture, ADVICE_ALIGN);
    done(&fixture);
}

/* 8 rows of 32 elements a block, 100 elements apart; and padded. */
static uint64_t rows_of_400(unsigned block, unsigned thread, unsigned step)
{
    (void)step;
    return BASE + 400 * (UINT64_C(8) * block + thread / 32) + 4 * (thread % 32);
}

static uint64_t rows_of_512(unsigned block, unsigned thread, unsigned step)
{
    (void)step;
    return BASE + 512 * (UINT64_C(8) * block + thread / 32) + 4 * (thread % 32);
}

static void pitches(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, rows_of_400, 4, 8, 1}};
    const struct plan good[] = {{"ld.global.b32", 3, rows_of_512, 4, 8, 1}};
    struct fixture fixture;
    const struct advice *advice;

    (void)state;
    look(&fixture, plans, 1, 32, 8, NULL);
    advice = must_find(&fixture, ADVICE_PITCH);
    check_after(advice, 3, good[0]);
    assert_non_null(strstr(advice->words, "Pad rows to 512 B"));
    done(&fixture);
    look(&fixture, good, 1, 32, 8, NULL);
    must_not_find(&fixture, ADVICE_PITCH);
    must_not_find(&fixture, ADVICE_ALIGN);
    done(&fixture);
}

/* Rows of 1,000 elements, one for each block; 256 threads walk along: the last warp of a row has 8 lanes. 4,000 bytes
 * are whole sectors and vectors. */
static uint64_t along_row_of_1000(unsigned block, unsigned thread, unsigned step)
{
    unsigned i = step * 256 + thread;

    return i < 1000 ? BASE + UINT64_C(4000) * block + 4 * i : OFF;
}

static uint64_t vectors_of_1000(unsigned block, unsigned thread, unsigned step)
{
    (void)step;
    return thread < 250 ? BASE + UINT64_C(4000) * block + 16 * thread : OFF;
}

/* No pitch, which would save lines but not a cycle; vectors, the last of a row by part of a warp. */
static void rows_of_part_of_a_warp(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, along_row_of_1000, 4, 8, 4}};
    struct fixture fixture;

    (void)state;
    look(&fixture, plans, 1, 256, 1, NULL);
    must_not_find(&fixture, ADVICE_PITCH);
    check_after(must_find(&fixture, ADVICE_WARP_VECTOR), 3,
                (struct plan){"ld.global.v4.b32", 3, vectors_of_1000, 4, 8, 1});
    done(&fixture);
}

/* ---------------------------------------------------------------------------------------------------------- mapping */

/* A block of 16 x 16 whose rows are threadIdx.x. */
static uint64_t transposed_16(unsigned block, unsigned thread, unsigned step)
{
    (void)step;
    return BASE + 4 * (UINT64_C(256) * block + thread % 16 * 16 + thread / 16);
}

static void roles(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, transposed_16, 4, 8, 1}};
    const struct plan both[] = {{"ld.global.b32", 3, transposed_16, 4, 8, 1},
                                {"st.global.b32", 4, packed_other, 4, 8, 1}};
    struct fixture fixture;

    (void)state;
    look(&fixture, plans, 1, 16, 16, NULL);
    check_after(must_find(&fixture, ADVICE_SWAP), 3, (struct plan){"ld.global.b32", 3, packed, 4, 8, 1});
    done(&fixture);
    /* a transpose: what one side gains the other loses */
    look(&fixture, both, 2, 16, 16, NULL);
    must_not_find(&fixture, ADVICE_SWAP);
    must_find(&fixture, ADVICE_TILE);
    done(&fixture);
    /* one row of threads has no roles to exchange */
    look(&fixture, plans, 1, 256, 1, NULL);
    must_not_find(&fixture, ADVICE_SWAP);
    done(&fixture);
}

/* Blocks of 32 x 8 that store columns of a matrix of 1,024-byte rows; the blocks of a column of blocks, 4 of them,
 * side by side. As access_at() numbers blocks, the first 16 are neighbours in x. */
static uint64_t columns(unsigned block, unsigned thread, unsigned step)
{
    (void)step;
    return BASE + 1024 * (thread % 32) + 4 * (UINT64_C(8) * block + thread / 32);
}

/* 4 blocks together: whole lines. */
static uint64_t lines_of_columns(unsigned block, unsigned thread, unsigned step)
{
    unsigned warp = (block % 4) * 8 + thread / 32;

    (void)step;
    return BASE + 1024 * warp + 4 * (UINT64_C(32) * (block / 4) + thread % 32);
}

static void tiles_of_stores(void **state)
{
    const struct plan plans[] = {{"st.global.b32", 3, columns, 8, 8, 1}};
    struct fixture fixture;
    const struct advice *advice;

    (void)state;
    look(&fixture, plans, 1, 32, 8, NULL);
    advice = must_find(&fixture, ADVICE_TILE);
    check_after(advice, 3, (struct plan){"st.global.b32", 3, lines_of_columns, 8, 8, 1});
    assert_non_null(strstr(advice->words, "4096 B of shared memory"));
    assert_non_null(strstr(advice->words, "4 blocks that are neighbours in x"));
    done(&fixture);
}

/* A block's 128 rows of 1,024 bytes, 32 bytes of each in a step, by two lanes: whole sectors of 16 lines a warp. */
static uint64_t two_lanes_a_row(unsigned block, unsigned thread, unsigned step)
{
    return BASE + 1024 * (UINT64_C(128) * block + thread / 2) + 32 * step + 16 * (thread % 2);
}

/* 4 steps at once: 8 lanes a row, in the same steps of the same warps. */
static uint64_t eight_lanes_a_row(unsigned block, unsigned thread, unsigned step)
{
    unsigned row = step % 4 * 32 + thread / 8;

    return BASE + 1024 * (UINT64_C(128) * block + row) + 128 * (step / 4) + 16 * (thread % 8);
}

/* Sectors of two lanes anywhere, each in a line that no other is in. */
static uint64_t sector_of_a_line(unsigned block, unsigned thread, unsigned step)
{
    uint64_t i = index_of(block, thread) / 2 * 2654435761u % (1u << 20);

    (void)step;
    return BASE + 4096 * i + 16 * (thread % 2);
}

static void lines_of_short_rows(void **state)
{
    const struct plan plans[] = {{"ld.global.v4.b32", 3, two_lanes_a_row, 2, 8, 8}};
    const struct plan apart[] = {{"ld.global.v4.b32", 3, sector_of_a_line, 2, 8, 1}};
    const struct plan whole[] = {{"ld.global.v4.b32", 3, eight_lanes_a_row, 2, 8, 8}};
    struct fixture fixture;
    const struct advice *advice;

    (void)state;
    look(&fixture, plans, 1, 256, 1, NULL);
    assert_int_equal(fixture.advice.list.n, 1);
    advice = must_find(&fixture, ADVICE_TILE);
    check_cost(&effect_on(advice, 3)->before, &plans[0]);
    check_after(advice, 3, whole[0]);
    assert_non_null(strstr(advice->words, "16.0 lines of 128 B, where 4.0 would hold them"));
    assert_non_null(strstr(advice->words, "16384 B of shared memory a block, 4 steps at a time"));
    assert_non_null(strstr(advice->words, "128 stores and 128 loads more, of 4 wavefronts each"));
    assert_true(effect_on(advice, 3)->after.sums[WM_SECTORS] == effect_on(advice, 3)->before.sums[WM_SECTORS]);
    done(&fixture);
    /* no tile has longer rows: a bound, and called one */
    look(&fixture, apart, 1, 256, 1, NULL);
    assert_int_equal(fixture.advice.list.n, 1);
    advice = must_find(&fixture, ADVICE_NONE);
    assert_true(advice->is_bound);
    assert_non_null(strstr(advice->words, "16.0 lines of 128 B, where 4.0 would hold them"));
    check_after(advice, 3, (struct plan){"ld.global.v4.b32", 3, packed_vector, 2, 8, 1});
    done(&fixture);
    look(&fixture, whole, 1, 256, 1, NULL);
    assert_int_equal(fixture.advice.list.n, 0);
    done(&fixture);
}

/* Each thread walks along a row of 64 elements. */
static uint64_t along_rows(unsigned block, unsigned thread, unsigned step)
{
    return BASE + 256 * index_of(block, thread) + 4 * step;
}

/* The same, lanes along the rows: in windows of 32 steps each warp of the tile takes a line; 256 lines, 8 warps. */
static uint64_t lines_of_rows(unsigned block, unsigned thread, unsigned step)
{
    unsigned row = step % 32 * 8 + thread / 32;

    return BASE + 256 * index_of(block, row) + 4 * (step / 32 * 32 + thread % 32);
}

static uint64_t vectors_of_rows(unsigned block, unsigned thread, unsigned step)
{
    return along_rows(block, thread, 4 * step);
}

static uint64_t along_shifted_rows(unsigned block, unsigned thread, unsigned step)
{
    return along_rows(block, thread, step) + 4;
}

static void walks_along_rows(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, along_rows, 2, 8, 64}};
    const struct plan shifted_rows[] = {{"ld.global.b32", 3, along_shifted_rows, 2, 8, 3}};
    const struct plan four_shifted[] = {{"ld.global.b32", 3, along_shifted_rows, 2, 8, 4}};
    struct fixture fixture;
    const struct advice *advice;

    (void)state;
    look(&fixture, plans, 1, 256, 1, NULL);
    advice = must_find(&fixture, ADVICE_TILE);
    check_after(advice, 3, (struct plan){"ld.global.b32", 3, lines_of_rows, 2, 8, 64});
    assert_non_null(strstr(advice->words, "256 B * threadIdx.x + 65536 B * blockIdx.x + 4 B * step"));
    check_after(must_find(&fixture, ADVICE_THREAD_VECTOR), 3,
                (struct plan){"ld.global.v4.b32", 3, vectors_of_rows, 2, 8, 16});
    done(&fixture);
    /* 3 elements, of which no two lie in an aligned 8 bytes from the first on */
    look(&fixture, shifted_rows, 1, 256, 1, NULL);
    advice = must_find(&fixture, ADVICE_THREAD_VECTOR); /* but the second and third do */
    assert_int_equal(effect_on(advice, 3)->after.instructions, 2 * 16);
    done(&fixture);
    /* of 4, the second and third: 3 are left, not 2, and that is said */
    look(&fixture, four_shifted, 1, 256, 1, NULL);
    advice = must_find(&fixture, ADVICE_THREAD_VECTOR);
    assert_int_equal(effect_on(advice, 3)->after.instructions, 3 * 16);
    assert_non_null(strstr(advice->words, "Of 64 loads, 32 make groups of 2 that begin at multiples of 8 B"));
    done(&fixture);
}

static uint64_t before_element(unsigned block, unsigned thread, unsigned step)
{
    return packed(block, thread, step) + 124;
}

static uint64_t at_element(unsigned block, unsigned thread, unsigned step)
{
    return packed(block, thread, step) + 128;
}

static uint64_t behind_element(unsigned block, unsigned thread, unsigned step)
{
    return packed(block, thread, step) + 132;
}

/* 258 different elements of a block, in 9 warps. */
static uint64_t all_of_stencil(unsigned block, unsigned thread, unsigned step)
{
    return thread < 258 ? packed(block, thread, step) + 124 : OFF;
}

static void reuse(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, before_element, 4, 8, 1},
                                 {"ld.global.b32", 4, at_element, 4, 8, 1},
                                 {"ld.global.b32", 5, behind_element, 4, 8, 1},
                                 {"st.global.b32", 6, at_element, 4, 8, 1}};
    struct fixture fixture;
    const struct advice *advice;

    (void)state;
    look(&fixture, plans, 3, 256, 1, NULL);
    advice = must_find(&fixture, ADVICE_REUSE);
    assert_int_equal(advice->effects[0].n_sites, 3);
    check_after(advice, 3, (struct plan){"ld.global.b32", 3, all_of_stencil, 4, 9, 1});
    done(&fixture);
    /* in place: what is loaded may have been stored */
    look(&fixture, plans, 4, 256, 1, NULL);
    must_not_find(&fixture, ADVICE_REUSE);
    done(&fixture);
    look(&fixture, plans, 1, 256, 1, NULL);
    must_not_find(&fixture, ADVICE_REUSE);
    done(&fixture);
}

/* ---------------------------------------------------------------------------------------------------------- vectors */

static uint64_t packed_halves(unsigned block, unsigned thread, unsigned step)
{
    (void)step;
    return BASE + 2 * index_of(block, thread);
}

/* Half the threads, in one block of 8 warps and more: 4 elements each. */
static uint64_t quarter_as_vectors(unsigned block, unsigned thread, unsigned step)
{
    (void)block;
    (void)step;
    return BASE + 16 * thread;
}

static void warps_as_vectors(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, packed, 4, 8, 1}};
    const struct plan halves[] = {{"st.global.b16", 3, packed_halves, 4, 8, 1}};
    const struct plan alone[] = {{"ld.global.b32", 3, packed, 1, 1, 1}};
    const struct plan misaligned_rows[] = {{"ld.global.b32", 3, shifted, 4, 8, 1}};
    struct fixture fixture;

    (void)state;
    look(&fixture, plans, 1, 256, 1, NULL);
    check_after(must_find(&fixture, ADVICE_WARP_VECTOR), 3,
                (struct plan){"ld.global.v4.b32", 3, quarter_as_vectors, 1, 8, 1});
    assert_int_equal(fixture.advice.list.n, 1);
    done(&fixture);
    look(&fixture, halves, 1, 256, 1, NULL);
    check_after(must_find(&fixture, ADVICE_WARP_VECTOR), 3,
                (struct plan){"st.global.v4.b32", 3, quarter_as_vectors, 1, 4, 1});
    done(&fixture);
    look(&fixture, alone, 1, 32, 1, NULL);
    assert_int_equal(fixture.advice.list.n, 0);
    done(&fixture);
    look(&fixture, misaligned_rows, 1, 256, 1, NULL);
    must_not_find(&fixture, ADVICE_WARP_VECTOR);
    done(&fixture);
}

static uint64_t every_second(unsigned block, unsigned thread, unsigned step)
{
    return thread % 2 ? OFF : packed(block, thread, step);
}

/* The active threads of a block in its first 4 warps. */
static uint64_t first_half(unsigned block, unsigned thread, unsigned step)
{
    return thread < 128 ? packed(block, 2 * thread, step) : OFF;
}

/* Two elements at each end of a warp's row, and a border where no thread takes part. */
static uint64_t left_edge(unsigned block, unsigned thread, unsigned step)
{
    return thread % 32 >= 2 || block == 0 ? OFF : packed(block, thread, step);
}

static uint64_t right_edge(unsigned block, unsigned thread, unsigned step)
{
    return thread % 32 >= 2 || block == 7 ? OFF : packed(block, thread, step) + 128;
}

static uint64_t one_a_block(unsigned block, unsigned thread, unsigned step)
{
    return thread ? OFF : packed(block, thread, step);
}

static void whole_warps(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, every_second, 4, 8, 1}};
    const struct plan single[] = {{"st.global.b32", 3, one_a_block, 4, 8, 1}};
    const struct plan edges[] = {{"ld.global.b32", 3, left_edge, 8, 8, 1}, {"ld.global.b32", 4, right_edge, 8, 8, 1}};
    const struct plan others[] = {{"ld.global.b32", 3, left_edge, 8, 8, 1},
                                  {"ld.global.b32", 4, every_second, 8, 8, 1}};
    struct fixture fixture;
    size_t n = 0;

    (void)state;
    look(&fixture, plans, 1, 256, 1, NULL);
    check_after(must_find(&fixture, ADVICE_WHOLE_WARPS), 3, (struct plan){"ld.global.b32", 3, first_half, 4, 8, 1});
    done(&fixture);
    look(&fixture, single, 1, 256, 1, NULL);
    assert_int_equal(fixture.advice.list.n, 0);
    done(&fixture);
    /* one change of the same threads is one advice; of others, two */
    look(&fixture, edges, 2, 256, 1, NULL);
    assert_int_equal(must_find(&fixture, ADVICE_WHOLE_WARPS)->n_effects, 2);
    for (size_t i = 0; i < fixture.advice.list.n; i++)
        n += fixture.advice.list.list[i].kind == ADVICE_WHOLE_WARPS;
    assert_int_equal(n, 1);
    done(&fixture);
    look(&fixture, others, 2, 256, 1, NULL);
    assert_int_equal(must_find(&fixture, ADVICE_WHOLE_WARPS)->n_effects, 1);
    done(&fixture);
}

/* ----------------------------------------------------------------------------------------------------- single sites */

static uint64_t one_address(unsigned block, unsigned thread, unsigned step)
{
    (void)block;
    (void)thread;
    return OTHER + 4 * step;
}

static uint64_t far_apart(unsigned block, unsigned thread, unsigned step)
{
    (void)thread;
    return OTHER + 4096 * UINT64_C(8) * step + 4 * block;
}

static void constants(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, one_address, 4, 8, 16},
                                 {"st.global.b32", 4, one_address, 4, 8, 1}};
    const struct plan large[] = {{"ld.global.b32", 3, far_apart, 4, 8, 16}};
    struct fixture fixture;
    const struct advice *advice;

    (void)state;
    look(&fixture, plans, 1, 256, 1, NULL);
    advice = must_find(&fixture, ADVICE_CONSTANT);
    check_after(advice, 3, (struct plan){"ld.const.b32", 3, one_address, 4, 8, 16});
    assert_non_null(strstr(advice->words, "64 B are asked for 512 times"));
    done(&fixture);
    /* written in the same kernel */
    look(&fixture, plans, 2, 256, 1, NULL);
    must_not_find(&fixture, ADVICE_CONSTANT);
    done(&fixture);
    /* too much for constant memory */
    look(&fixture, large, 1, 256, 1, NULL);
    must_not_find(&fixture, ADVICE_CONSTANT);
    done(&fixture);
    /* hardly ever */
    look(&fixture, (const struct plan[]){{"ld.global.b32", 3, one_address, 1, 4, 1}}, 1, 128, 1, NULL);
    must_not_find(&fixture, ADVICE_CONSTANT);
    done(&fixture);
}

/* Lanes in groups of 8 at one of 4 counters. */
static uint64_t four_counters(unsigned block, unsigned thread, unsigned step)
{
    (void)block;
    (void)step;
    return BASE + 4 * (thread / 8 % 4);
}

static uint64_t four_leaders(unsigned block, unsigned thread, unsigned step)
{
    return thread % 8 ? OFF : four_counters(block, thread, step);
}

static uint64_t four_at_end(unsigned block, unsigned thread, unsigned step)
{
    (void)block;
    (void)step;
    return thread < 4 ? BASE + 4 * thread : OFF;
}

static void atomics(void **state)
{
    const struct plan plans[] = {{"red.global.add.u32", 3, four_counters, 4, 8, 1}};
    const struct plan exchanges[] = {{"atom.global.exch.b32", 3, four_counters, 4, 8, 1}};
    const struct plan spread[] = {{"red.global.add.u32", 3, packed, 4, 8, 1}};
    struct fixture fixture;

    (void)state;
    look(&fixture, plans, 1, 256, 1, NULL);
    check_after(must_find(&fixture, ADVICE_AGGREGATE), 3,
                (struct plan){"red.global.add.u32", 3, four_leaders, 4, 8, 1});
    check_after(must_find(&fixture, ADVICE_PRIVATE), 3, (struct plan){"red.global.add.u32", 3, four_at_end, 4, 1, 1});
    done(&fixture);
    /* each lane's exchange has a result of its own */
    look(&fixture, exchanges, 1, 256, 1, NULL);
    must_not_find(&fixture, ADVICE_AGGREGATE);
    must_not_find(&fixture, ADVICE_PRIVATE);
    done(&fixture);
    look(&fixture, spread, 1, 256, 1, NULL);
    must_not_find(&fixture, ADVICE_AGGREGATE);
    must_not_find(&fixture, ADVICE_PRIVATE);
    done(&fixture);
}

static uint64_t in_shared(unsigned block, unsigned thread, unsigned step)
{
    return four_counters(block, thread, step) - BASE;
}

static uint64_t leaders_in_shared(unsigned block, unsigned thread, unsigned step)
{
    return thread % 8 ? OFF : in_shared(block, thread, step);
}

static void atomics_in_shared_memory(void **state)
{
    const struct plan plans[] = {{"red.shared.add.u32", 3, in_shared, 4, 8, 1}};
    struct fixture fixture;

    (void)state;
    look(&fixture, plans, 1, 256, 1, NULL);
    check_after(must_find(&fixture, ADVICE_AGGREGATE), 3,
                (struct plan){"red.shared.add.u32", 3, leaders_in_shared, 4, 8, 1});
    must_not_find(&fixture, ADVICE_PRIVATE);
    done(&fixture);
}

/* A fixed permutation of 2^20 elements: multiplication by an odd number, upper bits folded in. */
static uint64_t scattered(unsigned block, unsigned thread, unsigned step)
{
    uint64_t i = index_of(block, thread) * 2654435761u;

    (void)step;
    return BASE + 4 * ((i ^ i >> 13) % (1u << 20));
}

static void gathers(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, scattered, 4, 8, 1}};
    struct fixture fixture;
    const struct advice *advice;
    const struct effect *effect;

    (void)state;
    look(&fixture, plans, 1, 256, 1, NULL);
    advice = must_find(&fixture, ADVICE_NONE);
    effect = effect_on(advice, 3);
    assert_int_equal(fixture.advice.list.n, 1);
    assert_true(advice->is_bound);
    check_cost(&effect->before, &plans[0]);
    assert_int_equal(effect->after.sums[WM_SECTORS], effect->before.sums[WM_SECTORS_IDEAL]);
    done(&fixture);
}

/* A block's elements lie together, but in no order. */
static uint64_t shuffled(unsigned block, unsigned thread, unsigned step)
{
    unsigned i = thread * 83 % 256;

    return packed(block, i ^ i >> 3, step);
}

static void sorting(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, shuffled, 4, 8, 1}};
    uint8_t is_taken[256] = {0};
    struct fixture fixture;

    (void)state;
    for (unsigned thread = 0; thread < 256; thread++)
        is_taken[(shuffled(0, thread, 0) - BASE) / 4] = 1;
    for (unsigned i = 0; i < 256; i++)
        assert_true(is_taken[i]);
    look(&fixture, plans, 1, 256, 1, NULL);
    check_after(must_find(&fixture, ADVICE_SORT), 3, (struct plan){"ld.global.b32", 3, packed, 4, 8, 1});
    must_not_find(&fixture, ADVICE_NONE);
    done(&fixture);
}

/* -------------------------------------------------------------------------------------------- what belongs together */

/* Two arrays on one source line, by turns. */
static uint64_t by_turns(unsigned block, unsigned thread, unsigned step)
{
    return step % 2 ? one_address(0, 0, 0) : packed(block, thread, 0);
}

static void arrays_are_told_apart(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, by_turns, 4, 8, 2}};
    const struct wm_array array = array_of("float", 4, 1024);
    struct fixture fixture;

    (void)state;
    look(&fixture, plans, 1, 256, 1, &array);
    assert_int_equal(fixture.advice.sites.n, 2);
    check_cost(&fixture.advice.sites.list[0].cost, &(const struct plan){"ld.global.b32", 3, packed, 4, 8, 1});
    check_cost(&fixture.advice.sites.list[1].cost, &(const struct plan){"ld.global.b32", 3, one_address, 4, 8, 1});
    assert_int_equal(fixture.advice.sites.n_regions, 2);
    done(&fixture);
}

static void alternatives(void **state)
{
    const struct plan plans[] = {{"ld.global.b32", 3, along_rows, 2, 8, 64}};
    struct fixture fixture;

    (void)state;
    look(&fixture, plans, 1, 256, 1, NULL);
    assert_int_equal(fixture.advice.list.list[0].instead_of, 0);
    assert_int_equal(fixture.advice.list.list[1].instead_of, 1);
    assert_true(fixture.advice.list.list[0].cycles > fixture.advice.list.list[1].cycles);
    done(&fixture);
}

/* --------------------------------------------------------------------------------------------------------- the path */

static void expect_answers(const struct fixture *fixture, const char *answers)
{
    static const char letters[] = {[PATH_YES] = 'y', [PATH_NO] = 'n', [PATH_NOT_ASKED] = '-', [PATH_SHOWN] = '.'};
    char text[PATH_STEPS + 1] = "";

    for (size_t i = 0; i < PATH_STEPS; i++)
        text[i] = letters[fixture->path.steps[i].answer];
    assert_string_equal(text, answers);
}

static void paths(void **state)
{
    const struct plan structures[] = {{"ld.global.b32", 3, member_0, 4, 8, 1}};
    const struct plan good[] = {{"ld.global.v4.b32", 3, packed_vector, 4, 8, 1}};
    const struct plan in_shared_memory[] = {{"ld.shared.b32", 3, in_shared, 4, 8, 1}};
    const struct plan atomics_at_once[] = {{"red.shared.add.u32", 3, in_shared, 4, 8, 1}};
    const struct plan again[] = {{"ld.global.v4.b32", 3, packed_vector, 4, 8, 2}};
    struct fixture fixture;

    (void)state;
    look(&fixture, structures, 1, 256, 1, NULL);
    expect_answers(&fixture, ".n-y--y.n");
    assert_string_equal(buffer_text(&fixture.path.steps[1].seen), "25.0 % in all; 25.0 % at k.cu:3 ld.global.b32");
    assert_string_equal(buffer_text(&fixture.path.steps[1].next), "advice 1");
    done(&fixture);
    look(&fixture, good, 1, 256, 1, NULL);
    expect_answers(&fixture, ".yyy--y.y");
    done(&fixture);
    look(&fixture, again, 1, 256, 1, NULL);
    expect_answers(&fixture, ".yyn--y.n");
    assert_string_equal(buffer_text(&fixture.path.steps[3].seen), "2.0: 1,024 requested, 512 different");
    done(&fixture);
    look(&fixture, atomics_at_once, 1, 256, 1, NULL);
    expect_answers(&fixture, ".---yn-.n");
    assert_string_equal(buffer_text(&fixture.path.steps[5].seen), "0.0 %; not all at k.cu:3 red.shared.add.u32");
    assert_string_equal(buffer_text(&fixture.path.steps[5].next), "advice 1");
    done(&fixture);
    look(&fixture, in_shared_memory, 1, 256, 1, NULL);
    expect_answers(&fixture, ".---y--.y");
    done(&fixture);
    look(&fixture, (const struct plan[]){{"ld.global.b32", 3, shifted, 4, 8, 1}}, 1, 256, 1, NULL);
    expect_answers(&fixture, ".nny--y.n");
    done(&fixture);
}

/* -------------------------------------------------------------------------------------------------------- at random */

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % limit;
}

/* Strides of the next plan; addresses are sums of them, some lanes are off, some addresses are anywhere. */
static struct {
    unsigned width, thread, step, block, base;
    unsigned off, anywhere; /* one lane in so many; 0: none */
} shape;

static uint64_t of_shape(unsigned block, unsigned thread, unsigned step)
{
    if (shape.off && random_below(shape.off) == 0)
        return OFF;
    if (shape.anywhere && random_below(shape.anywhere) == 0)
        return BASE + shape.width * random_below(100000);
    return BASE + shape.width * (shape.base + shape.thread * thread + shape.step * step + shape.block * block);
}

static void take_random_shape(struct plan *plan)
{
    static const struct {
        const char *opcode;
        unsigned width;
    } opcodes[] = {
        {"ld.global.b32", 4}, {"st.global.b32", 4}, {"ld.global.b8", 1},       {"ld.global.v4.b32", 16},
        {"st.global.b64", 8}, {"ld.global.b16", 2}, {"red.global.add.u32", 4}, {"atom.global.add.u32", 4},
    };
    static const unsigned strides[] = {0, 1, 1, 1, 2, 3, 4, 8, 25, 32, 64};
    size_t i = random_below(sizeof opcodes / sizeof *opcodes);

    shape.width = opcodes[i].width;
    shape.thread = strides[random_below(11)];
    shape.step = strides[random_below(11)];
    shape.block = 256 * (unsigned)random_below(3) * shape.thread + strides[random_below(11)];
    shape.base = (unsigned)random_below(4);
    shape.off = random_below(4) == 0 ? 1 + (unsigned)random_below(8) : 0;
    shape.anywhere = random_below(6) == 0 ? 1 + (unsigned)random_below(8) : 0;
    *plan = (struct plan){opcodes[i].opcode, plan->line, of_shape, 3, 4, 1 + (unsigned)random_below(6)};
}

/* What holds whatever the accesses are. */
static void check_promises(const struct fixture *fixture)
{
    for (size_t i = 0; i < fixture->advice.list.n; i++) {
        const struct advice *advice = &fixture->advice.list.list[i];
        struct cost before = {0};
        struct cost after = {0};

        assert_true(advice->n_effects > 0);
        assert_true(advice->instead_of <= i);
        for (size_t k = 0; k < advice->n_effects; k++) {
            cost_merge(&before, &advice->effects[k].before);
            cost_merge(&after, &advice->effects[k].after);
        }
        /* what it is about gets better; and nothing that is moved needs fewer sectors than its bytes */
        assert_true(after.sums[WM_SECTORS] <= before.sums[WM_SECTORS]);
        assert_true(after.sums[WM_SECTORS] < before.sums[WM_SECTORS] || after.instructions < before.instructions ||
                    after.sums[WM_LINES] < before.sums[WM_LINES] ||
                    after.sums[WM_TAG_WAVEFRONTS] < before.sums[WM_TAG_WAVEFRONTS]);
        assert_true(after.sums[WM_SECTORS_IDEAL] <= after.sums[WM_SECTORS]);
    }
}

static void any_accesses(void **state)
{
    const uint64_t seed = 20261130;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    random_state = seed;
    for (int round = 0; round < 400; round++) {
        static const uint32_t blocks[][2] = {{128, 1}, {32, 4}, {16, 8}, {8, 16}, {0, 0}};
        const uint32_t *block = blocks[random_below(5)];
        struct plan plans[3] = {{.line = 3}, {.line = 4}, {.line = 5}};
        struct fixture fixture;
        struct buffer text = {0};
        int is_first = 1;

        /* of_shape() has one shape at a time: equal plans, which begin elsewhere at random */
        take_random_shape(&plans[0]);
        for (size_t i = 1; i < 3; i++)
            plans[i] = plans[0];
        for (size_t i = 0; i < 3; i++)
            plans[i].line = 3 + (unsigned)i;
        if (shape.off == 1)
            continue; /* no lane at all */
        look(&fixture, plans, 1 + random_below(3), block[0], block[1], NULL);
        check_promises(&fixture);
        global_advice_table(&fixture.advice, &text);
        path_table(&fixture.path, &text);
        assert_int_equal(text.failed, BUFFER_GOOD);
        buffer_free(&text);
        if (json_is_available()) {
            global_advice_json(&fixture.advice, &is_first, &text);
            path_json("k", &fixture.path, &is_first, &text);
            assert_int_equal(text.failed, BUFFER_GOOD);
            buffer_free(&text);
        }
        done(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structures_of_arrays),
        cmocka_unit_test(two_members),
        cmocka_unit_test(members_on_a_line),
        cmocka_unit_test(one_of_a_pair),
        cmocka_unit_test(every_kth_element),
        cmocka_unit_test(what_gets_worse_is_shown),
        cmocka_unit_test(whole_structures_stay),
        cmocka_unit_test(members_at_once),
        cmocka_unit_test(stores_take_no_gap),
        cmocka_unit_test(misaligned),
        cmocka_unit_test(pitches),
        cmocka_unit_test(lines_of_short_rows),
        cmocka_unit_test(rows_of_part_of_a_warp),
        cmocka_unit_test(roles),
        cmocka_unit_test(tiles_of_stores),
        cmocka_unit_test(walks_along_rows),
        cmocka_unit_test(reuse),
        cmocka_unit_test(warps_as_vectors),
        cmocka_unit_test(whole_warps),
        cmocka_unit_test(constants),
        cmocka_unit_test(atomics),
        cmocka_unit_test(atomics_in_shared_memory),
        cmocka_unit_test(gathers),
        cmocka_unit_test(sorting),
        cmocka_unit_test(arrays_are_told_apart),
        cmocka_unit_test(alternatives),
        cmocka_unit_test(paths),
        cmocka_unit_test(any_accesses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
