/* How accesses are replayed on a GPU, with a stand-in for the GPU that answers from a table: where accesses are moved to,
 * how they share launches, and how the one that is to blame for a sum is found. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generate.h"
#include "plan.h"
#include "warpmem.h"

#define SEED 20261130

static const struct plan_limits limits = {
    .buffer = UINT64_C(0x7f4200000000),
    .buffer_bytes = UINT64_C(1) << 30,
    .shared_bytes = 48 << 10,
    .local_bytes = 8 << 10,
    .const_bytes = 48 << 10,
    .launch_records = 100,
    .launches = 16,
};

static wm_arch *arch;

static int open_arch(void **state)
{
    struct wm_diag diag;

    (void)state;
    return wm_arch_open("sm_90", &arch, &diag) != WM_OK;
}

static int close_arch(void **state)
{
    (void)state;
    wm_arch_close(arch);
    return 0;
}

static struct wm_opcode opcode_of(const char *text)
{
    struct wm_opcode opcode;

    assert_int_equal(wm_opcode_parse(text, strlen(text), &opcode, NULL), WM_OK);
    return opcode;
}

/* ------------------------------------------------------------------------------------------------------- instructions */

static void opcodes_of_one_instruction_have_one_name(void **state)
{
    static const struct {
        const char *opcode, *name;
    } rows[] = {
        {"ld.global.b32", "ld.global.4"},
        {"ld.global.f32", "ld.global.4"},
        {"ld.global.b64", "ld.global.8"},
        {"ld.global.v2.b32", "ld.global.8"},
        {"ld.global.nc.v4.f32", "ld.global.nc.16"},
        {"st.global.wt.b16", "st.global.wt.2"},
        {"ld.generic.b8", "ld.generic.1"},
        {"atom.global.add.u32", "atom.global.add.u32"},
        {"atom.global.add.s32", "atom.global.add.u32"}, /* the same sum */
        {"red.global.add.f64", "red.global.add.f64"},
        {"atom.shared.exch.u64", "atom.shared.exch.b64"},
        {"atom.shared.min.s32", "atom.shared.min.s32"},
        {"atom.shared.min.u32", "atom.shared.min.u32"},
        {"ldmatrix.x4.trans.shared.b16", "ldmatrix.x4.trans"},
        {"stmatrix.x1.shared.b16", "stmatrix.x1"},
        {"cp.async.ca.8", "cp.async.ca.8"},
        {"cp.async.cg.16", "cp.async.cg.16"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wm_opcode opcode = opcode_of(rows[i].opcode);
        char name[WM_OPCODE_TEXT_SIZE];

        assert_true(plan_instruction(&opcode, name));
        assert_string_equal(name, rows[i].name);
    }
}

/* ------------------------------------------------------------------------------------------------------------- moving */

static int is_global(const struct wm_access *access)
{
    return access->opcode.space == WM_GLOBAL || access->opcode.space == WM_GENERIC;
}

/* Lanes whose addresses mean something. */
static uint32_t lanes_of(const struct wm_access *access)
{
    const unsigned rows = 8U * access->opcode.matrices;

    return rows ? access->mask & (uint32_t)((UINT64_C(1) << rows) - 1) : access->mask;
}

static void check_pages(const struct plan_limits *in, const struct wm_access *old, const struct wm_access *new)
{
    const uint64_t inside = PLAN_PAGE_BYTES - 1;

    for (unsigned a = 0; a < WM_LANES; a++) {
        if (!(old->mask >> a & 1)) {
            continue;
        }
        assert_true(new->address[a] >= in->buffer && new->address[a] < in->buffer + in->buffer_bytes);
        assert_true((old->address[a] & inside) == (new->address[a] & inside));
        for (unsigned b = 0; b < a; b++) {
            if (old->mask >> b & 1) {
                assert_int_equal((old->address[a] ^ old->address[b]) > inside,
                                 (new->address[a] ^ new->address[b]) > inside);
            }
        }
    }
}

/* A window is lowered as a whole. */
static void check_offsets(const struct wm_access *old, const struct wm_access *new, uint64_t bytes, uint64_t step)
{
    const uint32_t lanes = lanes_of(old);
    const unsigned first = lanes ? (unsigned)__builtin_ctz(lanes) : 0;

    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        if (lanes >> lane & 1) {
            assert_true(new->address[lane] + old->opcode.width_bytes <= bytes);
            assert_true(old->address[lane] - new->address[lane] == old->address[first] - new->address[first]);
            assert_true((old->address[lane] - new->address[lane]) % step == 0);
        }
    }
}

/* Bits above a piece change in all lanes alike. */
static void check_pieces(const struct wm_access *old, const struct wm_access *new)
{
    const unsigned first = old->mask ? (unsigned)__builtin_ctz(old->mask) : 0;

    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        if (old->mask >> lane & 1) {
            assert_true(new->address[lane] < limits.local_bytes);
            assert_true((old->address[lane] ^ new->address[lane]) == (old->address[first] ^ new->address[first]));
            assert_true((old->address[lane] ^ new->address[lane]) % PLAN_LOCAL_PIECE_BYTES == 0);
        }
    }
}

static void check_same_counts(const struct wm_access *old, const struct wm_access *new)
{
    struct wm_counts before, after;

    assert_int_equal(wm_model(arch, old, &before), WM_OK);
    assert_int_equal(wm_model(arch, new, &after), WM_OK);
    if (old->opcode.operation == WM_ST && old->opcode.space != WM_SHARED) {
        /* the data stage of a long store depends on all address bits: predicted for where it is moved to */
        before.lsu_wavefronts = after.lsu_wavefronts;
        before.inexact = after.inexact;
    }
    assert_memory_equal(&before, &after, sizeof before);
}

static void moved_accesses_cost_the_same(void **state)
{
    struct generator generator;
    struct plan_use use;
    unsigned moved = 0, far = 0;

    (void)state;
    assert_int_equal(generate_live(&generator, SEED, arch), WM_OK);
    assert_int_equal(plan_use_new(&limits, &use), WM_OK);
    for (unsigned i = 0; i < 20000; i++) {
        struct wm_access old, new;
        enum plan_moved how;

        generate_access(&generator, &old);
        plan_use_clear(&limits, &use);
        how = plan_move(arch, &limits, &use, &old, &new);
        if (how != PLAN_MOVED) {
            far++;
            continue;
        }
        moved++;
        switch (old.opcode.space) {
        case WM_SHARED: check_offsets(&old, &new, limits.shared_bytes, 1024); break;
        case WM_LOCAL: check_pieces(&old, &new); break;
        case WM_CONST: check_offsets(&old, &new, limits.const_bytes, 1024); break;
        default: check_pages(&limits, &old, &new); break;
        }
        check_same_counts(&old, &new);
    }
    assert_true(moved > 19900);
    print_message("# %u moved, %u too far apart\n", moved, far);
    plan_use_free(&use);
}

static void what_does_not_fit_is_refused(void **state)
{
    struct wm_access access = {.opcode = opcode_of("ld.shared.b32"), .mask = 3, .count = 1};
    struct plan_limits small = limits;
    struct plan_use use;
    struct wm_access out;

    (void)state;
    assert_int_equal(plan_use_new(&limits, &use), WM_OK);
    access.address[1] = limits.shared_bytes;
    assert_int_equal(plan_move(arch, &limits, &use, &access, &out), PLAN_TOO_FAR);
    access.address[0] = 4096;
    assert_int_equal(plan_move(arch, &limits, &use, &access, &out), PLAN_MOVED);
    assert_true(out.address[0] == 0 && out.address[1] == limits.shared_bytes - 4096);

    access.opcode = opcode_of("ld.local.b32");
    access.address[0] = 0;
    access.address[1] = limits.local_bytes;
    assert_int_equal(plan_move(arch, &limits, &use, &access, &out), PLAN_TOO_FAR);

    /* a buffer of four pages has room for one access of three of them, not for two */
    small.buffer_bytes = 4 * PLAN_PAGE_BYTES;
    plan_use_clear(&limits, &use);
    access.opcode = opcode_of("st.global.b32");
    access.mask = 7;
    for (unsigned lane = 0; lane < 3; lane++) {
        access.address[lane] = lane * PLAN_PAGE_BYTES;
    }
    assert_int_equal(plan_move(arch, &small, &use, &access, &out), PLAN_MOVED);
    assert_int_equal(plan_move(arch, &small, &use, &access, &out), PLAN_FULL);
    access.mask = UINT32_MAX;
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        access.address[lane] = lane * PLAN_PAGE_BYTES;
    }
    assert_int_equal(plan_move(arch, &small, &use, &access, &out), PLAN_TOO_FAR);
    plan_use_free(&use);
}

/* Pages as far apart as an address space allows keep the codes of their tag banks. */
static void scattered_pages_keep_their_banks(void **state)
{
    struct generator generator;
    struct plan_use use;

    (void)state;
    assert_int_equal(generate_start(&generator, SEED, 16), WM_OK);
    assert_int_equal(plan_use_new(&limits, &use), WM_OK);
    for (unsigned i = 0; i < 2000; i++) {
        struct wm_access old = {.opcode = opcode_of("ld.global.b32"), .mask = UINT32_MAX, .count = 1}, new;

        for (unsigned lane = 0; lane < WM_LANES; lane++) {
            old.address[lane] = generate_below(&generator, UINT64_C(1) << 47) & ~UINT64_C(3);
        }
        plan_use_clear(&limits, &use);
        assert_int_equal(plan_move(arch, &limits, &use, &old, &new), PLAN_MOVED);
        check_pages(&limits, &old, &new);
        check_same_counts(&old, &new);
    }
    plan_use_free(&use);
}

/* Buffers that begin at any page and end at any. */
static void buffers_of_any_size_do(void **state)
{
    static const uint64_t pages[] = {51201, 51200, 65536, 1000, 513, 40};
    struct generator generator;

    (void)state;
    assert_int_equal(generate_live(&generator, SEED + 7, arch), WM_OK);
    for (size_t n = 0; n < sizeof pages / sizeof *pages; n++) {
        struct plan_limits odd = limits;
        struct plan_use use;
        unsigned moved = 0;

        odd.buffer = UINT64_C(0x7f4418000000) + PLAN_PAGE_BYTES * n;
        odd.buffer_bytes = pages[n] * PLAN_PAGE_BYTES;
        assert_false(plan_is_aligned(&odd));
        assert_int_equal(plan_use_new(&odd, &use), WM_OK);
        for (unsigned i = 0; i < 3000; i++) {
            struct wm_access old, new;

            generate_access(&generator, &old);
            if (!is_global(&old)) {
                continue;
            }
            plan_use_clear(&odd, &use);
            if (plan_move(arch, &odd, &use, &old, &new) != PLAN_MOVED) {
                assert_true(pages[n] < 1000);
                continue;
            }
            moved++;
            check_pages(&odd, &old, &new);
            check_same_counts(&old, &new);
        }
        assert_true(moved > 1000);
        plan_use_free(&use);
    }
    assert_true(plan_is_aligned(&limits));
}

/* Lanes that are scattered over the buffer stay where they are, or move together. */
static void scattered_lanes_stay_scattered(void **state)
{
    struct generator generator;
    struct plan_limits large = limits;
    struct plan_use use;
    unsigned scattered = 0, others = 0, moved = 0, kept = 0;

    (void)state;
    large.buffer = UINT64_C(0x7f4418000000);
    large.buffer_bytes = UINT64_C(100) << 30;
    assert_int_equal(generate_live(&generator, SEED + 8, arch), WM_OK);
    generator.far = large.buffer;
    generator.far_bytes = large.buffer_bytes;
    assert_int_equal(plan_use_new(&large, &use), WM_OK);
    for (unsigned i = 0; i < 6000; i++) {
        struct wm_access old, new;
        uint64_t low = UINT64_MAX, high = 0, differing = 0;

        generate_access(&generator, &old);
        if (!is_global(&old) || !old.mask) {
            continue;
        }
        for (uint32_t rest = old.mask; rest; rest &= rest - 1) {
            const uint64_t address = old.address[__builtin_ctz(rest)];

            low = address < low ? address : low;
            high = address > high ? address : high;
        }
        if (low < large.buffer || high >= large.buffer + large.buffer_bytes || high - low < UINT64_C(4) << 30) {
            others++;
            continue;
        }
        scattered++;
        if (i % 100 == 0) { /* else they share a launch */
            plan_use_clear(&large, &use);
        }
        if (plan_move(arch, &large, &use, &old, &new) != PLAN_MOVED) {
            continue;
        }
        moved++;
        check_pages(&large, &old, &new);
        check_same_counts(&old, &new);
        for (uint32_t rest = old.mask; rest; rest &= rest - 1) {
            const unsigned first = (unsigned)__builtin_ctz(old.mask), lane = (unsigned)__builtin_ctz(rest);

            differing |= old.address[lane] ^ old.address[first] ^ new.address[lane] ^ new.address[first];
        }
        kept += differing == 0;
    }
    print_message("# %u scattered, %u not; %u moved, %u as they were\n", scattered, others, moved, kept);
    assert_true(scattered > 1000 && others > 1000);
    assert_true(moved == scattered && kept > moved * 9 / 10);
    plan_use_free(&use);
}

/* Whether one is the other after plan_move(), as far as can be told. */
static int is_moved(const struct wm_access *old, const struct wm_access *new)
{
    if (memcmp(&old->opcode, &new->opcode, sizeof old->opcode) != 0 || old->mask != new->mask) {
        return 0;
    }
    for (uint32_t rest = is_global(new) ? new->mask : 0; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);

        if ((old->address[lane] ^ new->address[lane]) % PLAN_PAGE_BYTES != 0) {
            return 0;
        }
    }
    return 1;
}

/* The accesses of a seed are those that were recorded with it on a GPU. */
static void a_seed_stays_what_it_was(void **state)
{
    const char *top = getenv("top_srcdir");
    char path[4096];
    struct generator generator;
    struct wm_access recorded, generated;
    struct wm_diag diag;
    wm_reader *reader = NULL;
    unsigned found = 0, drawn = 0;

    (void)state;
    snprintf(path, sizeof path, "%s/traces/hardware/sm_90/replay-hits.wmt", top ? top : ".");
    assert_int_equal(wm_reader_open(path, NULL, &reader, &diag), WM_OK);
    assert_int_equal(generate_live(&generator, 146, arch), WM_OK); /* as replay-hits.meta says */
    while (wm_reader_next(reader, &recorded, &diag) == WM_OK) {
        do { /* the record has one in four */
            assert_true(drawn++ < 2000);
            generate_access(&generator, &generated);
        } while (!is_moved(&generated, &recorded));
        found++;
    }
    assert_int_equal(found, 500);
    wm_reader_close(reader);
}

/* -------------------------------------------------------------------------------------------------------------- table */

#define TABLE 6000

/* The stand-in for a GPU counts what the model does, but for accesses that are wrong: by number of the access, which stands
 * in its pc. */
struct table {
    struct wm_access access[TABLE];
    uint8_t wrong[TABLE]; /* counted once more than the model says, by .wrong_counter */
    enum wm_counter wrong_counter;
    uint8_t seen[TABLE];
    uint8_t alone[TABLE];
    uint8_t exact[TABLE]; /* .wrong_counter, where it was moved to */
    unsigned launches;
    unsigned asked; /* times that something was measured */
    unsigned fail_at;
    int has_unknown;
    int gives_up; /* bank conflicts of st.shared.4, sooner or later */
    uint64_t sum_error; /* added to every launch with two accesses or more */
};

static int can(void *context, const char *instruction)
{
    const struct table *table = context;

    return !table->has_unknown || strcmp(instruction, "ld.global.4") != 0;
}

/* No line is touched twice: L1 is empty for each. */
static void check_apart(const struct plan_launch *launch)
{
    static uint8_t owner[1 << 9];

    memset(owner, 0, sizeof owner);
    for (unsigned i = 0; i < launch->count; i++) {
        const struct wm_access *access = &launch->accesses[i];

        for (unsigned lane = 0; lane < WM_LANES; lane++) {
            uint64_t page = (access->address[lane] - limits.buffer) / PLAN_PAGE_BYTES;

            if (!(access->mask >> lane & 1) || !(is_global(access) || access->opcode.space == WM_LOCAL)) {
                continue;
            }
            if (access->opcode.space == WM_LOCAL) {
                page = access->address[lane] / PLAN_LOCAL_PIECE_BYTES;
            }
            assert_true(page < sizeof owner);
            assert_true(owner[page] == 0 || owner[page] == i + 1);
            owner[page] = (uint8_t)(i + 1);
        }
    }
}

static enum wm_status measure(void *context, const struct plan_launch *launches, size_t n, plan_sums *sums,
                              struct wm_diag *diag)
{
    struct table *table = context;

    assert_true(n > 0 && n <= limits.launches);
    table->launches += (unsigned)n;
    if (++table->asked == table->fail_at) {
        snprintf(diag->text, sizeof diag->text, "a launch failed");
        return WM_E_UNSUPPORTED;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned stored_lines = 0; /* L1 must hold them all */

        assert_true(launches[i].count > 0 && launches[i].count <= limits.launch_records);
        check_apart(&launches[i]);
        memset(sums[i], 0, sizeof sums[i]);
        for (unsigned k = 0; k < launches[i].count; k++) {
            const uint64_t number = launches[i].accesses[k].pc;
            char name[WM_OPCODE_TEXT_SIZE];
            struct wm_counts counts;

            assert_true(number < TABLE);
            assert_true(plan_instruction(&launches[i].accesses[k].opcode, name));
            assert_string_equal(name, launches[i].instruction);
            assert_int_equal(wm_model(arch, &launches[i].accesses[k], &counts), WM_OK);
            stored_lines += launches[i].accesses[k].opcode.operation == WM_ST ? counts.lines : 0;
            for (int c = 0; c < WM_COUNTERS; c++) {
                sums[i][c] += wm_counts_get(&counts, (enum wm_counter)c);
                if (counts.inexact >> c & 1) {
                    sums[i][c] += 1000 + number; /* nothing like it */
                }
            }
            sums[i][table->wrong_counter] += table->wrong[number];
        }
        assert_true(stored_lines <= 512);
        if (launches[i].count > 1) {
            sums[i][WM_L2_SECTORS] += table->sum_error;
        }
    }
    return WM_OK;
}

static enum wm_status take(void *context, const struct plan_result *result)
{
    struct table *table = context;
    struct wm_counts counts;

    assert_int_equal(wm_model(arch, result->access, &counts), WM_OK);
    assert_true(result->index < TABLE && result->access->pc == result->index);
    assert_int_equal(table->seen[result->index]++, 0);
    table->alone[result->index] = (uint8_t)result->is_alone;
    table->exact[result->index] = (uint8_t)!(counts.inexact >> table->wrong_counter & 1);
    for (int c = 0; c < WM_COUNTERS; c++) {
        uint64_t value = wm_counts_get(&counts, (enum wm_counter)c);

        if (c == (int)table->wrong_counter) {
            value += table->wrong[result->index];
        }
        if (!(counts.inexact >> c & 1) && (result->has >> c & 1)) {
            assert_true(result->values[c] == value);
        } else if (!(counts.inexact >> c & 1)) {
            assert_true(table->gives_up && !result->is_alone && c == (int)table->wrong_counter);
        }
    }
    return WM_OK;
}

static struct table *new_table(uint64_t seed)
{
    struct table *table = calloc(1, sizeof *table);
    struct generator generator;

    assert_non_null(table);
    table->wrong_counter = WM_BANK_CONFLICTS;
    assert_int_equal(generate_live(&generator, seed, arch), WM_OK);
    for (unsigned i = 0; i < TABLE; i++) {
        generate_access(&generator, &table->access[i]);
        table->access[i].l1 = WM_L1_MISS;
        table->access[i].pc = i;
    }
    return table;
}

/* Replays a table; totals are copied. */
static enum wm_status replay(struct table *table, int alone, struct plan_totals *totals)
{
    const struct plan_device device = {limits, UINT32_MAX, table, can, measure};
    struct plan_batcher *batcher = NULL;
    struct wm_diag diag = {.status = WM_OK};
    enum wm_status status;

    assert_int_equal(plan_batcher_new(arch, &device, alone, take, table, &batcher), WM_OK);
    status = WM_OK;
    for (unsigned i = 0; !status && i < TABLE; i++) {
        status = plan_batcher_add(batcher, i, &table->access[i], &diag);
    }
    if (!status) {
        status = plan_batcher_finish(batcher, &diag);
    }
    if (status) {
        assert_string_equal(diag.text, "a launch failed");
    }
    *totals = *plan_batcher_totals(batcher);
    plan_batcher_free(batcher);
    return status;
}

static unsigned count_seen(const struct table *table)
{
    unsigned seen = 0;

    for (unsigned i = 0; i < TABLE; i++) {
        seen += table->seen[i];
    }
    return seen;
}

static uint64_t skipped(const struct plan_totals *totals)
{
    return totals->skipped[PLAN_NO_INSTRUCTION] + totals->skipped[PLAN_NO_ROOM] + totals->skipped[PLAN_NO_LANES];
}

static void each_access_is_measured_once(void **state)
{
    struct table *table = new_table(SEED);
    struct plan_totals totals;

    (void)state;
    assert_int_equal(replay(table, 0, &totals), WM_OK);
    assert_true(totals.accesses == count_seen(table));
    assert_true(totals.accesses + skipped(&totals) == TABLE);
    assert_true(totals.skipped[PLAN_NO_INSTRUCTION] == 0);
    assert_true(totals.accesses > TABLE * 9 / 10);
    assert_true(totals.launches == table->launches);
    assert_true(totals.launches < TABLE / 4); /* they share launches */
    assert_true(totals.repeated == 0 && totals.unsettled == 0);
    free(table);
}

static void the_one_to_blame_is_found(void **state)
{
    struct table *table = new_table(SEED + 1);
    struct plan_totals totals;
    unsigned wrong = 0;

    (void)state;
    for (unsigned i = 17; i < TABLE; i += 501) {
        table->wrong[i] = 1;
    }
    assert_int_equal(replay(table, 0, &totals), WM_OK);
    assert_true(totals.accesses == count_seen(table));
    for (unsigned i = 0; i < TABLE; i++) {
        if (table->wrong[i] && table->seen[i]) {
            assert_true(table->alone[i]);
            wrong++;
        }
    }
    assert_true(wrong >= 10);
    assert_true(totals.repeated >= wrong && totals.repeated <= wrong * 7); /* 2^7 is more than launch_records */
    assert_true(totals.unsettled == 0);
    free(table);
}

static void alone_takes_a_launch_each(void **state)
{
    struct table *table = new_table(SEED + 2);
    struct plan_totals totals;

    (void)state;
    table->wrong[1] = 1;
    table->sum_error = 1;
    assert_int_equal(replay(table, 1, &totals), WM_OK);
    assert_true(totals.launches == totals.accesses && totals.accesses == count_seen(table));
    for (unsigned i = 0; i < TABLE; i++) {
        assert_true(table->alone[i] == table->seen[i]);
    }
    free(table);
}

/* How exact a store's prediction is depends on the place that it is moved to: there an exact one is compared, also where it
 * is not known to be exact before, or others of its opcode are not. */
static void what_is_exact_where_it_is_moved_to_is_compared(void **state)
{
    struct table *table = new_table(SEED + 7);
    const struct wm_opcode store = opcode_of("st.global.b8");
    struct plan_totals totals;
    uint8_t was_exact[TABLE];
    uint64_t random = SEED;
    unsigned both = 0, exact = 0, inexact = 0;

    (void)state;
    table->wrong_counter = WM_LSU_WAVEFRONTS;
    for (unsigned i = 0; i < TABLE; i++) {
        struct wm_counts counts;

        table->access[i].opcode = store;
        table->access[i].mask = UINT32_MAX;
        table->wrong[i] = i % 97 == 0;
        for (unsigned lane = 0; lane < WM_LANES; lane++) { /* offsets into a buffer: bytes here and there in 1 MiB */
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            table->access[i].address[lane] = (UINT64_C(1) << 20) * (i % 64) + (random >> 44);
        }
        assert_int_equal(wm_model(arch, &table->access[i], &counts), WM_OK);
        was_exact[i] = (uint8_t)!(counts.inexact >> WM_LSU_WAVEFRONTS & 1);
    }
    assert_int_equal(replay(table, 0, &totals), WM_OK);
    for (unsigned i = 0; i < TABLE; i++) {
        assert_true(table->seen[i]);
        both += was_exact[i] != table->exact[i];
        exact += table->exact[i];
        inexact += !table->exact[i];
        if (table->wrong[i] && table->exact[i]) {
            assert_true(table->alone[i]);
        }
    }
    print_message("# %u not as exact as before, %u exact, %u not\n", both, exact, inexact);
    assert_true(both > 100 && exact > 100);
    free(table);
}

/* Accesses that cost more together than each alone are no mismatch of any of them, but are not kept quiet. */
static void launches_that_stay_unexplained_are_counted(void **state)
{
    struct table *table = new_table(SEED + 3);
    struct plan_totals totals;

    (void)state;
    table->sum_error = 1;
    table->wrong_counter = WM_L2_SECTORS; /* none is wrong, but whether it is exact is noted */
    assert_int_equal(replay(table, 0, &totals), WM_OK);
    assert_true(totals.accesses == count_seen(table));
    assert_true(totals.unsettled > 0);
    for (unsigned i = 0; i < TABLE; i++) {
        if (table->seen[i] && table->exact[i]) { /* else there was no sum to compare */
            assert_true(table->alone[i] == table->seen[i]);
        }
    }
    free(table);
}

/* A counter whose rule the model does not have is given up, for that instruction alone. */
static void what_often_differs_is_given_up(void **state)
{
    struct table *table = new_table(SEED + 6);
    const struct wm_opcode store = opcode_of("st.shared.b32");
    struct plan_totals totals;
    unsigned alone = 0, stores = 0;

    (void)state;
    for (unsigned i = 0; i < TABLE; i++) {
        if (i % 2 == 0) {
            table->access[i].opcode = store;
            for (unsigned lane = 0; lane < WM_LANES; lane++) {
                table->access[i].address[lane] = table->access[i].address[lane] % limits.shared_bytes & ~UINT64_C(3);
            }
            table->wrong[i] = 1;
        }
    }
    table->gives_up = 1;
    assert_int_equal(replay(table, 0, &totals), WM_OK);
    assert_true(totals.accesses == count_seen(table));
    for (unsigned i = 0; i < TABLE; i += 2) {
        stores += table->seen[i];
        alone += table->alone[i];
    }
    assert_true(stores == TABLE / 2);
    /* what was in launches when the hundredth was found is measured to its end */
    assert_true(alone >= PLAN_MOST_GUILTY && alone <= PLAN_MOST_GUILTY + limits.launches * limits.launch_records);
    assert_true(alone < stores);
    free(table);
}

static void failures_come_back(void **state)
{
    struct table *table = new_table(SEED + 4);
    struct plan_totals totals;

    (void)state;
    table->wrong[0] = 1;
    table->fail_at = 3;
    assert_int_equal(replay(table, 0, &totals), WM_E_UNSUPPORTED);
    free(table);
}

static void what_cannot_be_replayed_is_counted(void **state)
{
    struct table *table = new_table(SEED + 5);
    const struct wm_opcode atomic = opcode_of("red.global.add.u32"), load = opcode_of("ld.global.f32");
    struct plan_totals totals;

    (void)state;
    table->access[0].opcode = atomic;
    table->access[0].mask = 0;
    table->access[1].opcode = load;
    table->access[1].mask = 0; /* can be, but for the GPU */
    table->has_unknown = 1;
    assert_int_equal(replay(table, 0, &totals), WM_OK);
    assert_true(totals.skipped[PLAN_NO_LANES] >= 1 && !table->seen[0]);
    assert_true(totals.skipped[PLAN_NO_INSTRUCTION] >= 1 && !table->seen[1]);
    assert_true(strncmp(totals.first_skipped[PLAN_NO_INSTRUCTION], "ld.global.", 10) == 0);
    assert_true(totals.accesses + skipped(&totals) == TABLE);
    free(table);
}

/* What the hardware would refuse never reaches it. */
static void refused_accesses_are_refused(void **state)
{
    struct table table = {.launches = 0};
    const struct plan_device device = {limits, UINT32_MAX, &table, can, measure};
    struct plan_batcher *batcher = NULL;
    struct wm_access access = {.opcode = opcode_of("ld.global.b32"), .mask = 1, .count = 1};
    struct wm_diag diag;

    (void)state;
    assert_int_equal(plan_batcher_new(arch, &device, 0, take, &table, &batcher), WM_OK);
    access.address[0] = 2;
    assert_int_equal(plan_batcher_add(batcher, 0, &access, &diag), WM_E_MISALIGNED);
    access.address[0] = UINT64_C(1) << 60;
    assert_int_equal(plan_batcher_add(batcher, 0, &access, &diag), WM_E_ADDRESS);
    assert_int_equal(plan_batcher_finish(batcher, &diag), WM_OK);
    assert_int_equal(table.launches, 0);
    plan_batcher_free(batcher);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opcodes_of_one_instruction_have_one_name),
        cmocka_unit_test(moved_accesses_cost_the_same),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(scattered_pages_keep_their_banks),
        cmocka_unit_test(buffers_of_any_size_do),
        cmocka_unit_test(scattered_lanes_stay_scattered),
        cmocka_unit_test(a_seed_stays_what_it_was),
        cmocka_unit_test(each_access_is_measured_once),
        cmocka_unit_test(the_one_to_blame_is_found),
        cmocka_unit_test(alone_takes_a_launch_each),
        cmocka_unit_test(what_is_exact_where_it_is_moved_to_is_compared),
        cmocka_unit_test(launches_that_stay_unexplained_are_counted),
        cmocka_unit_test(what_often_differs_is_given_up),
        cmocka_unit_test(failures_come_back),
        cmocka_unit_test(what_cannot_be_replayed_is_counted),
        cmocka_unit_test(refused_accesses_are_refused),
    };

    print_message("# seed %d\n", SEED);
    return cmocka_run_group_tests(tests, open_arch, close_arch);
}
