/* Layouts of arrays in shared memory: what is found is compared with all there is in small problems; what it costs,
 * with the naive model; the text to paste, with the addresses that it gives as CUDA C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "accesses.h"
#include "naive.h"
#include "shared_advice.h"
#include "warpmem.h"
#include "xor_search.h"

#define ROWS(list) (sizeof(list) / sizeof(list)[0])

/* ----------------------------------------------------------------------------------------------------------- random */

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % limit);
}

/* ---------------------------------------------------------------------------------------- linear maps, exhaustively */

static uint32_t slot_by_hand(const uint32_t *columns, unsigned bits, uint32_t granule)
{
    uint32_t slot = 0;

    for (unsigned i = 0; i < bits; i++) {
        if (granule >> i & 1)
            slot ^= columns[i];
    }
    return slot;
}

static uint64_t cost_by_hand(const struct xor_problem *problem, const uint32_t *columns)
{
    uint64_t cost = 0;

    for (size_t p = 0; p < problem->n; p++) {
        const struct xor_phase *phase = &problem->phases[p];
        unsigned count[256] = {0};
        unsigned most = 0;

        for (unsigned i = 0; i < phase->n; i++) {
            const uint32_t slot = slot_by_hand(columns, problem->bits, phase->unit[i] >> problem->within_bits);
            const uint32_t place = slot << problem->within_bits | (phase->unit[i] & ((1U << problem->within_bits) - 1));

            if (++count[place] > most)
                most = count[place];
        }
        cost += phase->weight * most;
    }
    return cost;
}

static int is_full_rank(const uint32_t *columns, unsigned bits, unsigned rank)
{
    uint32_t seen = 0; /* slots that are sums of columns */

    seen |= 1;
    for (unsigned i = 0; i < bits; i++) {
        uint32_t more = seen;

        for (uint32_t slot = 0; slot < 1U << rank; slot++) {
            if (seen >> slot & 1)
                more |= 1U << (slot ^ columns[i]);
        }
        seen = more;
    }
    return seen == (rank == 5 ? UINT32_MAX : (1U << (1U << rank)) - 1);
}

/* The least cost of all maps; is_general: of full rank; else with the identity in front. */
static uint64_t least_by_hand(const struct xor_problem *problem, int is_general)
{
    const unsigned first = is_general ? 0 : problem->slot_bits;
    const unsigned free_bits = (problem->bits - first) * problem->slot_bits;
    uint64_t least = UINT64_MAX;

    for (uint64_t number = 0; number < UINT64_C(1) << free_bits; number++) {
        uint32_t columns[XOR_MOST_BITS];
        uint64_t rest = number;

        for (unsigned i = 0; i < problem->bits; i++) {
            if (i < first) {
                columns[i] = 1U << i;
                continue;
            }
            columns[i] = (uint32_t)(rest & ((1U << problem->slot_bits) - 1));
            rest >>= problem->slot_bits;
        }
        if (is_general && !is_full_rank(columns, problem->bits, problem->slot_bits))
            continue;
        if (cost_by_hand(problem, columns) < least)
            least = cost_by_hand(problem, columns);
    }
    return least;
}

/* Lanes at the places of a subspace, of a progression, or anywhere. */
static void random_phase(unsigned bits, unsigned most, struct xor_phase *out)
{
    const unsigned kind = random_below(3);
    const uint32_t places = 1U << bits;
    const uint32_t begin = random_below(places), stride = 1 + random_below(places - 1);

    memset(out, 0, sizeof *out);
    out->weight = 1 + random_below(5);
    out->n = kind == 0 ? 1U << random_below(most >= 8 ? 4 : 3) : 1 + random_below(most);
    if (kind == 0) {
        uint32_t vectors[3] = {1 + random_below(places - 1), 1 + random_below(places - 1), 1 + random_below(places - 1)};

        for (unsigned i = 0; i < out->n; i++)
            out->unit[i] = begin ^ (i & 1 ? vectors[0] : 0) ^ (i & 2 ? vectors[1] : 0) ^ (i & 4 ? vectors[2] : 0);
        return; /* may hold one place several times: lanes that do not merge */
    }
    for (unsigned i = 0; i < out->n; i++)
        out->unit[i] = kind == 1 ? (begin + i * stride) % places : random_below(places);
}

static void check_search(unsigned bits, unsigned slot_bits, unsigned within_bits, unsigned n)
{
    struct xor_phase phases[8];
    struct xor_problem problem = {bits, slot_bits, within_bits, phases, n};
    struct xor_problem merged = problem;

    for (unsigned i = 0; i < n; i++)
        random_phase(bits + within_bits, 1U << (slot_bits + within_bits), &phases[i]);
    merged.phases = malloc(n * sizeof phases[0]);
    memcpy(merged.phases, phases, n * sizeof phases[0]);
    xor_merge(&merged);
    for (int is_general = 0; is_general < 2; is_general++) {
        const uint64_t least = least_by_hand(&problem, is_general);
        struct xor_answer answer;
        uint64_t work = UINT64_MAX;

        assert_true(xor_search(&merged, is_general, 0, UINT64_MAX, &work, &answer));
        assert_true(answer.is_proven);
        assert_int_equal(answer.cost, least);
        assert_int_equal(cost_by_hand(&problem, answer.map.column), least);
        assert_int_equal(xor_cost(&problem, &answer.map), least);
        assert_true(is_full_rank(answer.map.column, bits, slot_bits));
        /* nothing is below the least */
        assert_false(xor_search(&merged, is_general, 0, least, &work, &answer));
        assert_true(answer.is_proven);
    }
    free(merged.phases);
}

static void test_exhaustive(void **state)
{
    (void)state;
    random_state = 20261130;
    for (unsigned round = 0; round < 300; round++)
        check_search(4 + round % 2, 2, round % 3, 1 + random_below(8));
    for (unsigned round = 0; round < 20; round++)
        check_search(5, 3, round % 2, 1 + random_below(8));
    for (unsigned round = 0; round < 20; round++)
        check_search(6, 2, 0, 1 + random_below(8));
}

/* Three lines of a plane: a bit of slots cannot tell the elements of all three apart. */
static void test_three_lines(void **state)
{
    struct xor_phase phases[3] = {{1, 2, {0, 1}}, {1, 2, {0, 2}}, {1, 2, {0, 3}}};
    struct xor_problem problem = {2, 1, 0, phases, 3};
    struct xor_answer answer;
    uint64_t work = UINT64_MAX;

    (void)state;
    assert_true(xor_search(&problem, 1, 3, UINT64_MAX, &work, &answer));
    assert_int_equal(answer.cost, 4); /* one of them twice */
    assert_true(answer.is_proven);
}

/* A search that is stopped says so. */
static void test_stopped(void **state)
{
    struct xor_phase phases[40];
    struct xor_problem problem = {14, 5, 0, phases, ROWS(phases)};
    struct xor_answer answer;
    uint64_t work = 20000;

    (void)state;
    random_state = 7;
    for (size_t i = 0; i < ROWS(phases); i++)
        random_phase(14, 32, &phases[i]);
    xor_search(&problem, 1, 0, UINT64_MAX, &work, &answer);
    assert_false(answer.is_proven);
    assert_int_equal(work, 0);
}

/* ---------------------------------------------------------------------------------------------------------- answers */

/* An access of a case: lane i at base + (i % a) * s + (i / a) * t, for repeat values of base. */
struct given {
    const char *opcode;
    uint32_t mask;
    uint32_t base;
    unsigned a;
    uint32_t s;
    uint32_t t;
    unsigned repeat;
    uint32_t step;
};

#define MOST_GIVEN 4

struct layout_case {
    const char *declaration;
    struct given given[MOST_GIVEN];
    /* What is known to be right: extents of a padding (0: none is perfect), the B, M, S of a swizzle. */
    int has_padding;
    unsigned padded;
    unsigned every; /* of one dimension */
    unsigned b, m, s; /* 0: not asked */
    int has_reason;
    const char *index;
};

#define ALL 0xffffffff
#define TRANSPOSE32 {{"st.shared.b32", ALL, 0, 32, 4, 0, 32, 128}, {"ld.shared.b32", ALL, 0, 32, 128, 0, 32, 4}}

static const struct layout_case cases[] = {
    /* the transpose of 32 * 32 floats: one float a row, or col ^ row */
    {"__shared__ float tile[32][32]", TRANSPOSE32, 1, 33, 0, 5, 0, 5, 0, "tile[row][col ^ row]"},
    /* of doubles: 16 lanes at a time, so 4 bits of the row are enough */
    {"__shared__ double tile[32][32]",
     {{"st.shared.b64", ALL, 0, 32, 256, 0, 32, 8}, {"ld.shared.b64", ALL, 0, 32, 8, 0, 32, 256}},
     1, 33, 0, 4, 0, 5, 0, "tile[row][col ^ (row & 15)]"},
    /* 64 * 64 halves, written by 16 B stores, read by ldmatrix: 8 rows of 128 B lie in the same banks */
    {"__shared__ half tile[64][64]",
     {{"st.shared.v4.b32", ALL, 0, 8, 16, 128, 16, 512},
      {"ldmatrix.x4.shared.b16", ALL, 0, 16, 128, 16, 4, 32},
      {"ldmatrix.x4.trans.shared.b16", ALL, 2048, 16, 128, 16, 4, 32}},
     1, 72, 0, 3, 3, 3, 0, "tile[row][col ^ ((row & 7) << 3)]"},
    /* 16 B of each row of 8 floats, as a tiled matrix product takes its fragments; loads alone */
    {"__shared__ float As[128][8]",
     {{"ld.shared.v4.b32", ALL, 0, 32, 32, 0, 4, 1024}, {"ld.shared.v4.b32", ALL, 16, 32, 32, 0, 4, 1024}},
     1, 12, 0, 1, 2, 3, 0, "As[row][col ^ (row & 4)]"},
    /* and with 16 B stores of whole rows, which no longer row leaves without conflicts: four floats after every four
     * rows */
    {"__shared__ float As[128][8]",
     {{"ld.shared.v4.b32", ALL, 0, 32, 32, 0, 4, 1024},
      {"ld.shared.v4.b32", ALL, 16, 32, 32, 0, 4, 1024},
      {"st.shared.v4.b32", ALL, 0, 32, 16, 0, 8, 512}},
     1, 0, 32, 1, 2, 3, 0, "As[row][col ^ (row & 4)]"},
    /* 16 * 16 halves under ldmatrix, rows of 32 B: rows r and r + 4 lie in the same banks */
    {"__shared__ half tile[16][16]", {{"ldmatrix.x4.shared.b16", ALL, 0, 16, 32, 16, 1, 0}},
     1, 24, 0, 1, 3, 3, 0, "tile[row][col ^ ((row & 4) << 1)]"},
    /* a tree over 256 words, up and down in steps of twice the distance */
    {"__shared__ float tree[256]",
     {{"ld.shared.b32", ALL, 4, 32, 8, 0, 1, 0},
      {"ld.shared.b32", ALL, 12, 32, 16, 0, 1, 0},
      {"ld.shared.b32", ALL, 28, 32, 32, 0, 1, 0},
      {"ld.shared.b32", 0xffff, 60, 32, 64, 0, 1, 0}},
     1, 0, 32, 3, 0, 5, 0, "tree[i ^ (i >> 5)]"},
    /* every 32 neighbours fill all banks, so what is 32 words apart shares one; and two such are asked for at once */
    {"__shared__ float a[2][64]",
     {{"ld.shared.b32", ALL, 0, 32, 4, 0, 33, 4}, {"ld.shared.b32", 3, 0, 32, 128, 0, 1, 0}},
     0, 0, 0, 0, 0, 0, 1, NULL},
};

struct array_and_accesses {
    wm_arch *arch;
    wm_reader *reader; /* owns the array */
    const struct wm_array *array;
    struct accesses *accesses;
};

static void open_array(const char *declaration, struct array_and_accesses *out)
{
    const char *declarations[] = {declaration};
    const struct wm_expressions input = {.declarations = declarations, .n_declarations = 1};
    struct wm_diag diag;

    memset(out, 0, sizeof *out);
    assert_int_equal(wm_arch_open("sm_90", &out->arch, NULL), WM_OK);
    assert_int_equal(wm_reader_open_expressions(&input, NULL, &out->reader, &diag), WM_OK);
    out->array = wm_reader_array_at(out->reader, 0);
    assert_non_null(out->array);
    assert_int_equal(accesses_new(0, &out->accesses), WM_OK);
}

static void close_array(struct array_and_accesses *of)
{
    accesses_free(of->accesses);
    wm_reader_close(of->reader);
    wm_arch_close(of->arch);
}

static const struct wm_kernel a_kernel = {.name = "k"};

static struct wm_access blank_access(const char *opcode, uint32_t mask)
{
    struct wm_access access;

    memset(&access, 0, sizeof access);
    assert_int_equal(wm_opcode_parse(opcode, strlen(opcode), &access.opcode, NULL), WM_OK);
    access.mask = mask;
    access.count = 1;
    access.pc = WM_NO_PC;
    access.kernel = &a_kernel;
    return access;
}

static void add_given(const struct given *given, uint32_t line, struct array_and_accesses *out)
{
    for (unsigned k = 0; k < given->repeat; k++) {
        struct wm_access access = blank_access(given->opcode, given->mask);

        access.line = line;
        for (unsigned i = 0; i < WM_LANES; i++)
            access.address[i] = out->array->address + given->base + k * given->step + i % given->a * given->s +
                                i / given->a * given->t;
        assert_int_equal(accesses_add(out->accesses, &access), WM_OK);
    }
}

/* Passes of an access in a layout, by the naive model; whose address rules are checked here. */
static uint64_t naive_passes(const struct wm_array *array, const struct bank_layout *layout, const struct wm_access *access)
{
    struct wm_access moved;
    struct wm_counts counts;
    const int is_copy = access->opcode.operation == WM_CP_ASYNC;

    shared_rewrite(array, layout, access, &moved);
    for (uint32_t rest = shared_lanes_of(access); rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const uint64_t address = is_copy ? moved.shared_address[lane] : moved.address[lane];
        const uint64_t before = is_copy ? access->shared_address[lane] : access->address[lane];
        const unsigned width = access->opcode.width_bytes;

        assert_int_equal(address % width, 0);
        /* the bytes of a lane stay together */
        for (unsigned b = 0; b < width; b++)
            assert_int_equal(layout_offset(layout, before + b - array->address), address + b - array->address);
    }
    naive_counts(&naive_sm_90, &moved, &counts);
    return (is_copy && access->opcode.cache == WM_CACHE_CG ? counts.tag_wavefronts : counts.shared_wavefronts) *
           access->count;
}

static uint64_t naive_sum(const struct array_and_accesses *of, const struct shared_line *line,
                          const struct bank_layout *layout)
{
    const struct access_kernel *kernel = of->accesses->kernels[0];
    uint64_t sum = 0;

    for (size_t s = 0; s < kernel->n_sites; s++) {
        if (kernel->sites[s]->line != line->line || memcmp(&kernel->sites[s]->opcode, &line->opcode, sizeof line->opcode))
            continue;
        for (size_t i = 0; i < kernel->sites[s]->n; i++)
            sum += naive_passes(of->array, layout, &kernel->sites[s]->accesses[i]);
    }
    return sum;
}

/* Every element has a place of its own within the layout's size. */
static void check_bijective(const struct wm_array *array, const struct bank_layout *layout)
{
    uint8_t *taken = calloc(layout->size_bytes, 1);

    for (uint64_t at = 0; at < array->size_bytes; at++) {
        const uint64_t moved = layout_offset(layout, at);

        assert_true(moved < layout->size_bytes);
        assert_false(taken[moved]);
        taken[moved] = 1;
    }
    free(taken);
}

/* Replaces " with NAME = TEXT" behind an index by a macro. */
static const char *cut_with(char *index, char *macro, size_t size)
{
    char *with = strstr(index, " with ");

    if (!with)
        return NULL;
    *with = '\0';
    snprintf(macro, size, "#define %c (%s)", with[6], with + 10);
    return macro;
}

/* The text that is to be pasted, run as CUDA C: it must give each element the address that was simulated. */
static void check_text(const struct wm_array *array, const struct bank_layout *layout, unsigned align_bytes)
{
    static const char *const names[WM_DIMENSIONS][WM_DIMENSIONS] = {
        {"i"}, {"row", "col"}, {"k", "row", "col"}, {"l", "k", "row", "col"}};
    struct buffer declaration = {0}, index = {0};
    char lets[WM_DIMENSIONS][64], macro[256], text[512];
    const char *let_list[WM_DIMENSIONS];
    const char *declarations[2];
    struct wm_expression expression = {text, 0};
    struct wm_expressions input = {&expression, 1, declarations, 1, let_list, array->dimensions};
    struct wm_access access;
    struct wm_diag diag;
    wm_reader *reader = NULL;
    uint64_t at = 0;
    enum wm_status status;

    layout_declaration(array, layout, align_bytes, &declaration);
    layout_index(array, layout, &index);
    snprintf(text, sizeof text, "%s", buffer_text(&index));
    declarations[0] = buffer_text(&declaration);
    declarations[1] = cut_with(text, macro, sizeof macro);
    if (array->element_bytes == 12)
        strncat(text, ".x", sizeof text - strlen(text) - 1); /* else a load for each member */
    input.n_declarations += declarations[1] != NULL;
    for (unsigned d = 0; d < array->dimensions; d++) {
        snprintf(lets[d], sizeof lets[d], "%s=0:%u", names[array->dimensions - 1][d], (unsigned)array->extent[d]);
        let_list[d] = lets[d];
    }
    status = wm_reader_open_expressions(&input, NULL, &reader, &diag);
    if (status)
        print_message("%s in: %s %s\n", diag.text, declarations[0], text);
    assert_int_equal(status, WM_OK);
    assert_int_equal(wm_reader_array_at(reader, 0)->size_bytes, layout->size_bytes);
    while ((status = wm_reader_next(reader, &access, &diag)) == WM_OK) {
        if (access.address[0] != layout_offset(layout, at))
            print_message("%s at %u\n", text, (unsigned)at);
        assert_int_equal(access.address[0], layout_offset(layout, at));
        at += array->element_bytes;
    }
    assert_int_equal(status, WM_END);
    assert_int_equal(at, array->size_bytes);
    wm_reader_close(reader);
    buffer_free(&declaration);
    buffer_free(&index);
}

/* Everything that must hold of any advice. */
static void check_advice(const struct array_and_accesses *of, const struct shared_advice *advice)
{
    struct bank_layout as_is;
    uint64_t now = 0, floor = 0, tags = 0;

    layout_as_is(of->array, &as_is);
    for (size_t i = 0; i < advice->n_lines; i++) {
        const struct shared_line *line = &advice->lines[i];

        assert_int_equal(line->now, naive_sum(of, line, &as_is));
        assert_true(line->floor <= line->now);
        if (line->is_past_l1)
            tags += line->now - line->floor;
        else
            now += line->now, floor += line->floor;
    }
    assert_int_equal(now - floor, advice->now.excess);
    assert_int_equal(tags, advice->now.tags);
    for (int c = 0; c < SHARED_THREADS; c++) {
        const struct shared_result *result = &advice->results[c];
        uint64_t after = 0;

        if (!result->is_found)
            continue;
        check_bijective(of->array, &result->layout);
        check_text(of->array, &result->layout, advice->align_bytes);
        for (size_t i = 0; i < advice->n_lines; i++) {
            assert_int_equal(advice->lines[i].after[c], naive_sum(of, &advice->lines[i], &result->layout));
            after += advice->lines[i].is_past_l1 ? 0 : advice->lines[i].after[c];
        }
        assert_int_equal(after - floor, result->cost.excess);
        assert_true(result->cost.excess < advice->now.excess ||
                    (result->cost.excess == advice->now.excess && result->cost.tags < advice->now.tags));
    }
}

/* Whether rows of so many elements leave nothing above the floor. */
static int is_padding_perfect(const struct array_and_accesses *of, const struct shared_advice *advice, uint64_t more)
{
    const unsigned inner = of->array->dimensions - 1;
    uint64_t extra[WM_DIMENSIONS] = {0};
    struct bank_layout layout;

    extra[inner] = more;
    layout_pad(of->array, extra, &layout);
    if (more * of->array->element_bytes % advice->align_bytes)
        return 0;
    for (size_t i = 0; i < advice->n_lines; i++) {
        if (naive_sum(of, &advice->lines[i], &layout) != advice->lines[i].floor)
            return 0;
    }
    return 1;
}

static void check_padding(const struct array_and_accesses *of, const struct layout_case *wanted,
                          const struct shared_advice *advice)
{
    const struct shared_result *result = &advice->results[SHARED_PAD];
    const unsigned inner = of->array->dimensions - 1;

    assert_int_equal(result->is_perfect, wanted->has_padding);
    if (wanted->every) {
        assert_int_equal(result->layout.kind, LAYOUT_SKIP);
        assert_int_equal(result->layout.every, wanted->every);
        assert_int_equal(result->layout.skip * of->array->element_bytes, advice->align_bytes);
        if (of->array->dimensions == 1)
            return;
    }
    if (wanted->padded)
        assert_int_equal(result->layout.extent[inner], wanted->padded);
    /* no smaller one is, nor any where none was found: rows beyond 32 banks repeat */
    for (uint64_t more = 0; more < (wanted->padded ? wanted->padded - of->array->extent[inner] : 128); more++)
        assert_false(is_padding_perfect(of, advice, more));
}

static void check_swizzle(const struct array_and_accesses *of, const struct layout_case *wanted,
                          const struct shared_advice *advice)
{
    const struct shared_result *result = &advice->results[SHARED_XOR];
    struct buffer index = {0};

    if (!wanted->b) {
        assert_false(result->is_perfect);
        assert_true(result->is_proven);
        return;
    }
    assert_true(result->is_perfect);
    assert_true(result->layout.is_swizzle);
    assert_int_equal(result->layout.b, wanted->b);
    assert_int_equal(result->layout.m, wanted->m);
    assert_int_equal(result->layout.s, wanted->s);
    assert_int_equal(result->layout.size_bytes, of->array->size_bytes);
    layout_index(of->array, &result->layout, &index);
    assert_string_equal(buffer_text(&index), wanted->index);
    buffer_free(&index);
}

static void test_cases(void **state)
{
    const struct shared_options options = {0};

    (void)state;
    for (size_t c = 0; c < ROWS(cases); c++) {
        struct array_and_accesses of;
        struct shared_advice advice;

        open_array(cases[c].declaration, &of);
        for (uint32_t i = 0; i < MOST_GIVEN && cases[c].given[i].opcode; i++)
            add_given(&cases[c].given[i], i + 1, &of);
        assert_int_equal(shared_advice_find(of.arch, of.accesses->kernels[0], of.array, &options, &advice), WM_OK);
        check_advice(&of, &advice);
        check_padding(&of, &cases[c], &advice);
        check_swizzle(&of, &cases[c], &advice);
        assert_int_equal(advice.reason != NULL, cases[c].has_reason);
        shared_advice_free(&advice);
        close_array(&of);
    }
}

/* ---------------------------------------------------------------------------------------------------- random arrays */

static const char *const random_declarations[] = {
    "__shared__ float a[32][32]",       "__shared__ half a[64][64]",         "__shared__ float a[1024]",
    "__shared__ double a[16][32]",      "__shared__ float4 a[32][8]",        "__shared__ float a[24][48]",
    "__shared__ half a[2][32][64]",     "__shared__ float a[30][30]",        "__shared__ unsigned char a[64][128]",
    "__shared__ float a[3][16][24]",    "__shared__ float a[264]",           "__shared__ float2 a[4][8][16]",
    "__shared__ half a[48][24]",        "__shared__ int a[10][128]",         "__shared__ float3 a[16][16]",
    "__shared__ float a[2][3][8][16]",
};

static const char *const random_opcodes[] = {
    "ld.shared.b32",      "st.shared.b32",        "ld.shared.b8",           "st.shared.b16",
    "ld.shared.v2.b32",   "st.shared.b64",        "ld.shared.v4.b32",       "st.shared.v4.b32",
    "atom.shared.add.u32", "red.shared.add.u32",  "atom.shared.cas.b32",    "ldmatrix.x4.shared.b16",
    "ldmatrix.x1.shared.b16", "stmatrix.x4.shared.b16", "cp.async.ca.16",   "cp.async.cg.16",
    "cp.async.ca.4",
};

/* Lanes along a row, down a column, in a tile of both, or anywhere. */
static void add_random_access(uint32_t line, struct array_and_accesses *of)
{
    struct wm_access access = blank_access(random_opcodes[random_below(ROWS(random_opcodes))],
                                           random_below(4) ? ALL : random_below(UINT32_MAX) | 1);
    const unsigned width = access.opcode.width_bytes;
    const uint64_t places = of->array->size_bytes / width;
    const uint64_t row = of->array->dimensions > 1
                             ? of->array->extent[of->array->dimensions - 1] * of->array->element_bytes / width
                             : 32 + random_below(3) * 16;
    const uint64_t begin = random_below((uint32_t)places);
    const unsigned kind = random_below(4), across = 1U << random_below(5);
    const unsigned apart = 1U << random_below(4);

    access.line = line;
    access.count = 1 + random_below(9);
    for (unsigned i = 0; i < WM_LANES; i++) {
        uint64_t place = kind == 0   ? begin + i * apart
                         : kind == 1 ? begin + i * (row ? row : 1)
                         : kind == 2 ? begin + i % across + i / across * (row ? row : 1)
                                     : random_below((uint32_t)places);

        place = of->array->address + place % places * width;
        access.address[i] = access.opcode.operation == WM_CP_ASYNC ? UINT64_C(0x7f0000000000) + (i / across * 512 + i % across * width)
                                                                   : place;
        access.shared_address[i] = (uint32_t)place;
    }
    assert_int_equal(accesses_add(of->accesses, &access), WM_OK);
}

static void test_random(void **state)
{
    const struct shared_options options = {0};
    unsigned found = 0, perfect = 0;

    (void)state;
    random_state = 5;
    for (unsigned round = 0; round < 160; round++) {
        struct array_and_accesses of;
        struct shared_advice advice;

        open_array(random_declarations[round % ROWS(random_declarations)], &of);
        for (uint32_t i = 0; i < 1 + round % 4; i++)
            add_random_access(i + 1, &of);
        assert_int_equal(shared_advice_find(of.arch, of.accesses->kernels[0], of.array, &options, &advice), WM_OK);
        check_advice(&of, &advice);
        found += (unsigned)(advice.results[SHARED_PAD].is_found + advice.results[SHARED_XOR].is_found);
        perfect += (unsigned)(advice.results[SHARED_PAD].is_perfect + advice.results[SHARED_XOR].is_perfect);
        shared_advice_free(&advice);
        close_array(&of);
    }
    /* the test is about something */
    assert_true(found > 80);
    assert_true(perfect > 20);
}

/* ------------------------------------------------------------------------------------- all linear layouts there are */

/* Passes of all accesses with the granules of 16 B in the slots of a map, by the naive model: those of one slot lie one
 * row of banks apart, in their order. */
static uint64_t naive_cost_of_map(const struct array_and_accesses *of, const uint32_t *columns, unsigned bits)
{
    const struct access_kernel *kernel = of->accesses->kernels[0];
    unsigned used[8] = {0};
    uint64_t place[64];
    uint64_t sum = 0;

    for (uint32_t granule = 0; granule < 1U << bits; granule++) {
        const uint32_t slot = slot_by_hand(columns, bits, granule);

        place[granule] = used[slot]++ * UINT64_C(128) + slot * 16;
    }
    for (size_t s = 0; s < kernel->n_sites; s++) {
        for (size_t i = 0; i < kernel->sites[s]->n; i++) {
            struct wm_access moved = kernel->sites[s]->accesses[i];
            struct wm_counts counts;

            for (unsigned lane = 0; lane < WM_LANES; lane++) {
                const uint64_t at = moved.address[lane] - of->array->address;

                moved.address[lane] = place[at / 16] + at % 16;
            }
            naive_counts(&naive_sm_90, &moved, &counts);
            sum += counts.shared_wavefronts * moved.count;
        }
    }
    return sum;
}

static uint64_t least_of_maps(const struct array_and_accesses *of, unsigned bits)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t number = 0; number < 1U << 3 * bits; number++) {
        uint32_t columns[XOR_MOST_BITS];
        uint64_t cost;

        for (unsigned i = 0; i < bits; i++)
            columns[i] = number >> 3 * i & 7;
        if (!is_full_rank(columns, bits, 3))
            continue;
        cost = naive_cost_of_map(of, columns, bits);
        if (cost < least)
            least = cost;
    }
    return least;
}

/* Lanes at granules that a subspace, a progression or chance gives; narrow ones at words of them. */
static void add_small_access(uint32_t line, unsigned bits, struct array_and_accesses *of)
{
    static const char *const opcodes[] = {"ld.shared.v4.b32", "st.shared.v4.b32", "ldmatrix.x4.shared.b16",
                                          "ld.shared.b32",    "st.shared.v2.b32", "ld.shared.v4.b32",
                                          "atom.shared.add.u32"};
    struct wm_access access = blank_access(opcodes[random_below(ROWS(opcodes))], ALL);
    struct xor_phase phase;

    random_phase(bits, 8, &phase);
    access.line = line;
    access.count = 1 + random_below(5);
    for (unsigned i = 0; i < WM_LANES; i++)
        access.address[i] = of->array->address + phase.unit[i % phase.n] * 16 +
                            i / phase.n % (16u / access.opcode.width_bytes) * access.opcode.width_bytes;
    assert_int_equal(accesses_add(of->accesses, &access), WM_OK);
}

static void test_all_maps(void **state)
{
    const struct shared_options options = {0};
    unsigned imperfect = 0;

    (void)state;
    random_state = 11;
    for (unsigned round = 0; round < 40; round++) {
        struct array_and_accesses of;
        struct shared_advice advice;
        uint64_t floor = 0;

        open_array("__shared__ float4 a[16]", &of);
        for (uint32_t i = 0; i < 4 + round % 5; i++)
            add_small_access(i + 1, 4, &of);
        assert_int_equal(shared_advice_find(of.arch, of.accesses->kernels[0], of.array, &options, &advice), WM_OK);
        for (size_t i = 0; i < advice.n_lines; i++)
            floor += advice.lines[i].floor;
        if (advice.now.excess) {
            const struct shared_result *result = &advice.results[SHARED_XOR];

            assert_true(result->is_perfect || result->is_proven);
            assert_int_equal(floor + result->cost.excess, least_of_maps(&of, 4));
            imperfect += !result->is_perfect;
        }
        shared_advice_free(&advice);
        close_array(&of);
    }
    assert_true(imperfect > 5);
}

/* ------------------------------------------------------------------------------------------- arrays behind the array */

struct neighbour_case {
    const char *array;
    const char *behind; /* what is declared behind it, and what that has to become */
    const char *pasted;
    const char *accesses[3]; /* a store begins with '=' */
};

static const struct neighbour_case neighbours[] = {
    /* lanes of both: t[17][33] moves u by 17 words onto banks of t */
    {"__shared__ float t[17][32]", "__shared__ float u[64]", NULL,
     {"*(threadIdx.x < 4 ? &t[threadIdx.x][0] : &u[threadIdx.x])", NULL, NULL}},
    {"__shared__ float t[17][32]", "__shared__ float u[16][32]", NULL,
     {"*(threadIdx.x < 16 ? &t[threadIdx.x][0] : &u[threadIdx.x - 16][0])", NULL, NULL}},
    /* u is moved to a multiple of 4, and 16 bytes are stored there */
    {"__shared__ float t[17][32]", "__shared__ float u[128]", "__shared__ __align__(16) float u[128];",
     {"t[threadIdx.x % 17][0]", "=((float4 *)u)[threadIdx.x]", NULL}},
    /* halves behind an odd number of halves: their pairs lie in two words */
    {"__shared__ half t[33][64]", "__shared__ half u[64]", NULL,
     {"t[threadIdx.x][0]", "u[2 * threadIdx.x]", "u[threadIdx.x]"}},
    /* nothing that is aligned better by its declaration moves more than it has to */
    {"__shared__ float t[17][32]", "__shared__ double u[64]", NULL,
     {"*(threadIdx.x < 4 ? &t[threadIdx.x][0] : (float *)&u[threadIdx.x])", NULL, NULL}},
};

/* All wavefronts, by the naive model, of what is written with declarations of CUDA C. */
static uint64_t run_neighbours(const struct neighbour_case *of, const char *const *declarations, size_t n,
                               struct array_and_accesses *keep)
{
    const struct wm_expressions none = {.declarations = declarations, .n_declarations = n};
    struct wm_expression expressions[3];
    struct wm_expressions input = none;
    const struct wm_reader_options options = {.launch = &(const struct wm_launch){.block = {32, 1, 1}}};
    struct wm_access access;
    struct wm_diag diag;
    wm_reader *reader = NULL;
    uint64_t sum = 0;
    enum wm_status status;

    while (input.n_expressions < 3 && of->accesses[input.n_expressions]) {
        const char *text = of->accesses[input.n_expressions];

        expressions[input.n_expressions++] = (struct wm_expression){text + (*text == '='), *text == '='};
    }
    input.expressions = expressions;
    assert_int_equal(wm_reader_open_expressions(&input, &options, &reader, &diag), WM_OK);
    while ((status = wm_reader_next(reader, &access, &diag)) == WM_OK) {
        struct wm_counts counts;

        naive_counts(&naive_sm_90, &access, &counts);
        sum += counts.shared_wavefronts * access.count;
        if (keep)
            assert_int_equal(accesses_add(keep->accesses, &access), WM_OK);
    }
    if (status != WM_END)
        print_message("%s\n", diag.text);
    assert_int_equal(status, WM_END); /* a misaligned access is an error */
    if (keep)
        assert_int_equal(wm_reader_open_expressions(&none, NULL, &keep->reader, &diag), WM_OK);
    wm_reader_close(reader);
    return sum;
}

static void check_neighbours(const struct neighbour_case *of)
{
    const char *before[] = {of->array, of->behind};
    struct array_and_accesses keep;
    const struct wm_array *variables[2];
    struct shared_options options = {.variables = variables, .n_variables = 2};
    struct shared_advice advice;
    uint64_t now;

    memset(&keep, 0, sizeof keep);
    assert_int_equal(wm_arch_open("sm_90", &keep.arch, NULL), WM_OK);
    assert_int_equal(accesses_new(1, &keep.accesses), WM_OK);
    now = run_neighbours(of, before, 2, &keep);
    for (size_t i = 0; i < 2; i++)
        variables[i] = wm_reader_array_at(keep.reader, i);
    assert_int_equal(
        shared_advice_find(keep.arch, keep.accesses->kernels[0], variables[0], &options, &advice), WM_OK);
    assert_true(advice.results[SHARED_PAD].is_found);
    for (int c = 0; c < SHARED_THREADS; c++) {
        const struct shared_result *result = &advice.results[c];
        struct buffer text = {0};
        const char *after[2] = {NULL, of->behind};
        char *second;
        uint64_t saved = 0;

        if (!result->is_found || result->layout.kind != LAYOUT_PAD)
            continue;
        for (size_t i = 0; i < advice.n_lines; i++)
            saved += advice.lines[i].now - advice.lines[i].after[c];
        shared_declarations(&advice, (enum shared_choice)c, "\n", &text);
        second = strchr(buffer_text(&text), '\n');
        assert_int_equal(second != NULL, of->pasted != NULL);
        if (second) {
            *second = '\0';
            after[1] = second + 1;
            assert_string_equal(after[1], of->pasted);
        }
        after[0] = buffer_text(&text);
        assert_int_equal(run_neighbours(of, after, 2, NULL), now - saved);
        assert_int_equal(saved, advice.now.excess - result->cost.excess);
        buffer_free(&text);
    }
    shared_advice_free(&advice);
    close_array(&keep);
}

static void test_neighbours(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS(neighbours); i++)
        check_neighbours(&neighbours[i]);
}

/* What lies behind the array is not known: neither is whether such a padding is perfect. */
static void test_not_declared(void **state)
{
    static const struct given given = {"ld.shared.b32", ALL, 0, 32, 128, 0, 1, 0};
    const struct shared_options options = {0};
    struct array_and_accesses of;
    struct shared_advice advice;

    (void)state;
    open_array("__shared__ float t[17][32]", &of);
    add_given(&given, 1, &of); /* the rows from 17 on */
    assert_int_equal(shared_advice_find(of.arch, of.accesses->kernels[0], of.array, &options, &advice), WM_OK);
    assert_false(advice.results[SHARED_PAD].is_perfect);
    shared_advice_free(&advice);
    close_array(&of);
}

/* ----------------------------------------------------------------------------------------- another map of threads */

/* How often each byte is loaded, by the loads as a layout moves them or as they are. */
static void count_loads(const struct array_and_accesses *of, const struct bank_layout *layout, uint64_t *loads)
{
    const struct access_kernel *kernel = of->accesses->kernels[0];

    for (size_t s = 0; s < kernel->n_sites; s++) {
        for (size_t i = 0; i < kernel->sites[s]->n; i++) {
            const struct wm_access *access = &kernel->sites[s]->accesses[i];

            for (unsigned lane = 0; access->opcode.operation == WM_LD && lane < WM_LANES; lane++) {
                const uint64_t at = access->address[lane] - of->array->address;

                for (unsigned b = 0; b < access->opcode.width_bytes; b++)
                    loads[layout ? layout_offset(layout, at + b) : at + b] += access->count;
            }
        }
    }
}

/* 16 B of every thread along rows of 128 floats: two halves of a row in place of every second vector. */
static void test_threads(void **state)
{
    static const struct given given[] = {{"ld.shared.v4.b32", ALL, 0, 16, 32, 0, 8, 512},
                                         {"ld.shared.v4.b32", ALL, 16, 16, 32, 0, 8, 512},
                                         {"st.shared.v4.b32", ALL, 0, 32, 16, 0, 8, 512}};
    const struct shared_options allowed = {.allow_thread_map = 1}, not_allowed = {.allow_thread_map = 0};
    const struct bank_layout *layout;
    struct array_and_accesses of;
    struct shared_advice advice;
    struct bank_layout as_is;
    uint64_t before[4096] = {0}, after[4096] = {0};

    (void)state;
    open_array("__shared__ float Bs[8][128]", &of);
    for (uint32_t i = 0; i < ROWS(given); i++)
        add_given(&given[i], i + 1, &of);
    assert_int_equal(shared_advice_find(of.arch, of.accesses->kernels[0], of.array, &not_allowed, &advice), WM_OK);
    assert_false(advice.results[SHARED_THREADS].is_found);
    shared_advice_free(&advice);

    assert_int_equal(shared_advice_find(of.arch, of.accesses->kernels[0], of.array, &allowed, &advice), WM_OK);
    assert_true(advice.results[SHARED_THREADS].is_perfect);
    layout = &advice.results[SHARED_THREADS].layout;
    count_loads(&of, NULL, before);
    count_loads(&of, layout, after);
    assert_memory_equal(before, after, sizeof before);
    check_bijective(of.array, layout);
    check_text(of.array, layout, 16);
    layout_as_is(of.array, &as_is);
    for (size_t i = 0; i < advice.n_lines; i++) {
        const struct shared_line *line = &advice.lines[i];

        assert_int_equal(line->after[SHARED_THREADS],
                         naive_sum(&of, line, line->opcode.operation == WM_LD ? layout : &as_is));
        assert_int_equal(line->after[SHARED_THREADS], line->floor);
    }
    shared_advice_free(&advice);
    close_array(&of);
}

/* --------------------------------------------------------------------------------------------- accesses in memory */

static const struct access_site *only_site(const struct accesses *accesses)
{
    assert_int_equal(accesses->n_kernels, 1);
    assert_int_equal(accesses->kernels[0]->n_sites, 1);
    return accesses->kernels[0]->sites[0];
}

/* Equal ones of shared memory are one; lanes that are not active make no difference. */
static void test_merging(void **state)
{
    struct wm_access access = blank_access("ld.shared.b32", 3);
    struct accesses *accesses = NULL;

    (void)state;
    assert_int_equal(accesses_new(0, &accesses), WM_OK);
    access.count = 5;
    assert_int_equal(accesses_add(accesses, &access), WM_OK);
    access.address[7] = 4;
    access.count = 2;
    assert_int_equal(accesses_add(accesses, &access), WM_OK);
    assert_int_equal(only_site(accesses)->n, 1);
    assert_int_equal(only_site(accesses)->accesses[0].count, 7);
    access.address[1] = 4;
    assert_int_equal(accesses_add(accesses, &access), WM_OK);
    assert_int_equal(only_site(accesses)->n, 2);
    assert_int_equal(only_site(accesses)->executed, 9);
    accesses_free(accesses);
}

/* Of global memory each is kept, up to the limit; what is left out is counted. */
static void test_limit(void **state)
{
    struct wm_access access = blank_access("ld.global.b32", ALL);
    struct accesses *accesses = NULL;

    (void)state;
    assert_int_equal(accesses_new(0, &accesses), WM_OK);
    for (unsigned i = 0; i < ACCESSES_OF_SITE + 10; i++)
        assert_int_equal(accesses_add(accesses, &access), WM_OK);
    assert_int_equal(only_site(accesses)->n, ACCESSES_OF_SITE);
    assert_int_equal(only_site(accesses)->left_out, 10);
    assert_int_equal(only_site(accesses)->executed, ACCESSES_OF_SITE + 10);
    access.count = INT64_MAX;
    assert_int_equal(accesses_add(accesses, &access), WM_E_RANGE);
    accesses_free(accesses);
}

/* Kernels are told apart by name and block, unless they are expressions of one command. */
static void test_kernels(void **state)
{
    static const struct wm_kernel kernels[] = {
        {.name = "k(i=0)", .block = {32, 1, 1}}, {.name = "k(i=1)", .block = {32, 1, 1}}, {.name = "k(i=0)", .block = {64, 1, 1}}};

    (void)state;
    for (int is_one_kernel = 0; is_one_kernel < 2; is_one_kernel++) {
        struct accesses *accesses = NULL;

        assert_int_equal(accesses_new(is_one_kernel, &accesses), WM_OK);
        for (size_t i = 0; i < 2 * ROWS(kernels); i++) {
            struct wm_access access = blank_access("ld.shared.b32", ALL);

            access.kernel = &kernels[i % ROWS(kernels)];
            assert_int_equal(accesses_add(accesses, &access), WM_OK);
        }
        assert_int_equal(accesses->n_kernels, is_one_kernel ? 1 : 3);
        assert_string_equal(accesses->kernels[0]->kernel.name, is_one_kernel ? "k" : "k(i=0)");
        assert_int_equal(accesses->kernels[0]->sites[0]->executed, is_one_kernel ? 6 : 2);
        accesses_free(accesses);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exhaustive),
        cmocka_unit_test(test_three_lines),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_all_maps),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_not_declared),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_merging),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_kernels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
