/* Layouts of an array in shared memory: the accesses that touch it, what they cost under a layout, what no layout
 * saves. */
#include "config.h"

#include "shared_advice.h"

#include "shared_search.h"

#include <stdlib.h>
#include <string.h>

#define DYNAMIC_ALIGN 16
#define MOST_EXECUTIONS (UINT64_C(1) << 56)

static int is_copy(const struct wm_access *access)
{
    return access->opcode.operation == WM_CP_ASYNC;
}

static int is_copy_past_l1(const struct wm_access *access)
{
    return is_copy(access) && access->opcode.cache == WM_CACHE_CG;
}

int shared_address_of(const struct wm_access *access, unsigned lane, uint64_t *address)
{
    if (is_copy(access))
        *address = access->shared_address[lane];
    else if (access->opcode.space == WM_SHARED)
        *address = access->address[lane];
    else
        return 0;
    return 1;
}

uint32_t shared_lanes_of(const struct wm_access *access)
{
    const unsigned rows = 8U * access->opcode.matrices;

    if (!is_copy(access) && access->opcode.space != WM_SHARED)
        return 0;
    return rows && rows < WM_LANES ? access->mask & ((1U << rows) - 1) : access->mask;
}

/* Whether a lane's address lies in the array; then where. */
static int lane_offset(const struct wm_array *array, const struct wm_access *access, unsigned lane, uint64_t *offset)
{
    uint64_t address;

    if (!shared_address_of(access, lane, &address) || address < array->address ||
        address - array->address >= array->size_bytes)
        return 0;
    *offset = address - array->address;
    return 1;
}

void shared_rewrite(const struct wm_array *array, const struct bank_layout *layout, const struct wm_access *access,
                    struct wm_access *out)
{
    *out = *access;
    for (uint32_t rest = shared_lanes_of(access); rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t offset;

        if (!lane_offset(array, access, lane, &offset))
            continue;
        offset = array->address + layout_offset(layout, offset);
        if (is_copy(access))
            out->shared_address[lane] = (uint32_t)offset;
        else
            out->address[lane] = offset;
    }
}

/* ------------------------------------------------------------------------------------------------------------- cost */

int shared_is_less(const struct shared_cost *a, const struct shared_cost *b)
{
    return a->excess != b->excess ? a->excess < b->excess : a->tags < b->tags;
}

int shared_is_perfect(const struct shared_cost *cost)
{
    return cost->excess == 0 && cost->tags == 0;
}

static uint32_t passes_of(int is_past_l1, const struct wm_counts *counts)
{
    return is_past_l1 ? counts->tag_wavefronts : counts->shared_wavefronts;
}

static void add_excess(const struct touch *touch, const struct wm_counts *counts, struct shared_cost *cost)
{
    const uint32_t passes = passes_of(touch->is_past_l1, counts);
    const uint64_t excess = passes > touch->floor ? (passes - touch->floor) * touch->access->count : 0;

    if (touch->is_past_l1)
        cost->tags += excess;
    else
        cost->excess += excess;
}

static uint64_t align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) / align * align;
}

/* Dynamic arrays are aligned for every type; sim/kernel/README.md. */
static unsigned declared_align(const struct wm_array *array)
{
    return array->is_dynamic && array->align_bytes < DYNAMIC_ALIGN ? DYNAMIC_ALIGN : array->align_bytes;
}

/* Where the variables behind the array lie when it is as large as a layout makes it: one after the other, each aligned
 * as its declaration says, and as its accesses need. choice: notes where these differ; SHARED_CHOICES: does not. */
static void find_shifts(struct shared_search *search, const struct bank_layout *layout, enum shared_choice choice)
{
    const struct wm_array *array = search->array;
    uint64_t end = array->address - search->advice->base + layout->size_bytes;

    search->shifted_for = layout->size_bytes;
    for (size_t i = 0; i < search->advice->n_behind; i++) {
        struct shared_behind *behind = &search->advice->behind[i];
        const uint64_t now = behind->array->address;
        const uint64_t address = align_up(end, behind->align_bytes);

        if (choice != SHARED_CHOICES) {
            behind->is_aligned[choice] = address != align_up(end, declared_align(behind->array));
            behind->shift_of[choice] = address > now ? address - now : 0;
        }
        /* a smaller array is none that is looked at; variables at one address stay together */
        behind->shift = address > now ? address - now : 0;
        end = now + behind->shift + behind->size_bytes;
    }
}

/* The variable behind the array that an address lies in, or NULL. */
static struct shared_behind *find_behind(const struct shared_advice *advice, uint64_t address)
{
    for (size_t i = advice->n_behind; i-- > 0;) {
        struct shared_behind *behind = &advice->behind[i];

        if (address >= behind->array->address + advice->base)
            return address - behind->array->address - advice->base < behind->size_bytes ? behind : NULL;
    }
    return NULL;
}

void shared_rewrite_all(const struct shared_advice *advice, enum shared_choice choice, const struct wm_access *access,
                        struct wm_access *out)
{
    shared_rewrite(advice->array, &advice->results[choice].layout, access, out);
    for (uint32_t rest = shared_lanes_of(access); rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const struct shared_behind *behind = NULL;
        uint64_t address;

        if (shared_address_of(access, lane, &address))
            behind = find_behind(advice, address);
        if (behind && is_copy(access))
            out->shared_address[lane] = (uint32_t)(address + behind->shift_of[choice]);
        else if (behind)
            out->address[lane] = address + behind->shift_of[choice];
    }
}

static void push_lanes(struct shared_search *search, const struct bank_layout *layout, const struct wm_access *access,
                       struct wm_access *out)
{
    if (layout->size_bytes != search->shifted_for)
        find_shifts(search, layout, SHARED_CHOICES);
    for (uint32_t rest = shared_lanes_of(access); rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const struct shared_behind *behind;
        uint64_t address;

        if (!shared_address_of(access, lane, &address))
            continue;
        behind = find_behind(search->advice, address);
        if (behind && is_copy(access))
            out->shared_address[lane] = (uint32_t)(address + behind->shift);
        else if (behind)
            out->address[lane] = address + behind->shift;
    }
}

void shared_place(struct shared_search *search, const struct bank_layout *layout, const struct wm_access *access,
                  struct wm_access *out)
{
    if (search->is_loads_only && access->opcode.operation != WM_LD)
        *out = *access;
    else
        shared_rewrite(search->array, layout, access, out);
    if (search->advice->n_behind && layout->size_bytes != search->array->size_bytes)
        push_lanes(search, layout, access, out);
}

/* Whether the variables behind the array stand where accesses to them alone may go, in no more wavefronts than now.
 * Adds their tag wavefronts. */
static int others_agree(struct shared_search *search, const struct bank_layout *layout, struct shared_cost *cost)
{
    if (layout->size_bytes == search->array->size_bytes)
        return 1;
    for (size_t i = 0; i < search->n_others; i++) {
        const struct other *other = &search->others[i];
        struct wm_access moved;
        struct wm_counts counts;
        uint32_t passes;

        if (!search->work) {
            search->advice->is_stopped = 1;
            return 0;
        }
        search->work--;
        shared_place(search, layout, other->access, &moved);
        if (wm_model(search->arch, &moved, &counts) != WM_OK)
            return 0;
        passes = passes_of(other->is_past_l1, &counts);
        if (passes > other->now && !other->is_past_l1)
            return 0;
        cost->tags += passes > other->now ? (passes - other->now) * other->access->count : 0;
    }
    return 1;
}

int shared_evaluate(struct shared_search *search, const struct bank_layout *layout, const struct shared_cost *limit,
                    struct shared_cost *out)
{
    *out = (struct shared_cost){0, 0};
    for (size_t i = 0; i < search->n; i++) {
        struct wm_access rewritten;
        struct wm_counts counts;

        if (!search->work) {
            search->advice->is_stopped = 1;
            return 0;
        }
        search->work--;
        shared_place(search, layout, search->touches[i].access, &rewritten);
        if (wm_model(search->arch, &rewritten, &counts) == WM_OK) {
            add_excess(&search->touches[i], &counts, out);
            if (out->excess <= limit->excess)
                continue;
        }
        /* what rules one layout out is likely to rule out the next */
        if (i) {
            const struct touch touch = search->touches[i];

            search->touches[i] = search->touches[0];
            search->touches[0] = touch;
        }
        return 0;
    }
    return 1;
}

void shared_consider(struct shared_search *search, const struct bank_layout *layout, struct shared_result *result)
{
    struct shared_cost cost;

    result->tried++;
    if (!shared_evaluate(search, layout, &result->cost, &cost) || !shared_is_less(&cost, &result->cost))
        return;
    if (search->is_tag_blind && cost.excess == result->cost.excess)
        return;
    if (!others_agree(search, layout, &cost) || !shared_is_less(&cost, &result->cost))
        return;
    result->is_found = 1;
    /* where lanes go that touch what is not declared is not known */
    result->is_perfect =
        shared_is_perfect(&cost) && !(search->is_outside && layout->size_bytes != search->array->size_bytes);
    result->cost = cost;
    result->layout = *layout;
}

/* --------------------------------------------------------------------------------------------- what no layout saves */

/* Shared wavefronts of a copy whose destination stands in no lane's way: what its source needs. */
static enum wm_status source_passes(const wm_arch *arch, const struct wm_access *access, uint32_t *passes)
{
    struct wm_access straight = *access;
    struct wm_counts counts;
    enum wm_status status;

    for (unsigned lane = 0; lane < WM_LANES; lane++)
        straight.shared_address[lane] = lane * access->opcode.width_bytes;
    status = wm_model(arch, &straight, &counts);
    if (!status)
        *passes = counts.shared_wavefronts;
    return status;
}

/* Tag wavefronts of a copy past L1 whose destination adds none: those of the source's lines. */
static enum wm_status source_tags(const wm_arch *arch, const struct wm_access *access, uint32_t *tags)
{
    static const char name[] = "ld.global.v4.b32";
    struct wm_access load = *access;
    struct wm_counts counts;
    enum wm_status status = wm_opcode_parse(name, sizeof name - 1, &load.opcode, NULL);

    if (!status)
        status = wm_model(arch, &load, &counts);
    if (!status)
        *tags = counts.tag_wavefronts;
    return status;
}

static enum wm_status find_floor(const wm_arch *arch, struct touch *touch, struct shared_line *line)
{
    const struct wm_access *access = touch->access;
    struct wm_counts counts;
    uint32_t source = 0;
    enum wm_status status = wm_model(arch, access, &counts);

    if (status)
        return status;
    touch->is_past_l1 = is_copy_past_l1(access);
    touch->now = passes_of(touch->is_past_l1, &counts);
    touch->floor = touch->is_past_l1 ? 0 : counts.shared_wavefronts_ideal;
    if (is_copy(access) && !access->zero_fill && access->mask)
        status = touch->is_past_l1 ? source_tags(arch, access, &source) : source_passes(arch, access, &source);
    if (source > touch->floor) {
        line->is_held_up |= !touch->is_past_l1;
        touch->floor = source;
    }
    if (touch->floor > touch->now)
        touch->floor = touch->now;
    return status;
}

/* -------------------------------------------------------------------------------------------------------- gathering */

static int is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static int is_of_line(const struct shared_line *line, const struct access_site *site)
{
    if (memcmp(&line->opcode, &site->opcode, sizeof line->opcode) != 0 || line->line != site->line)
        return 0;
    return site->line ? is_same_text(line->file, site->file) : line->pc == site->pc;
}

static enum wm_status find_line(struct shared_advice *advice, const struct access_site *site, size_t *number)
{
    struct shared_line *more;

    for (*number = 0; *number < advice->n_lines; ++*number) {
        if (is_of_line(&advice->lines[*number], site))
            return WM_OK;
    }
    more = realloc(advice->lines, (advice->n_lines + 1) * sizeof *more);
    if (!more)
        return WM_E_MEMORY;
    advice->lines = more;
    memset(&more[advice->n_lines], 0, sizeof *more);
    more[advice->n_lines].file = site->file;
    more[advice->n_lines].line = site->line;
    more[advice->n_lines].pc = site->line ? WM_NO_PC : site->pc;
    more[advice->n_lines].opcode = site->opcode;
    advice->n_lines++;
    return WM_OK;
}

static int touches_array(const struct wm_array *array, const struct wm_access *access)
{
    uint64_t offset;

    for (uint32_t rest = shared_lanes_of(access); rest; rest &= rest - 1) {
        if (lane_offset(array, access, (unsigned)__builtin_ctz(rest), &offset))
            return 1;
    }
    return 0;
}

/* Whether two executions are the same as far as a layout goes. */
static void note_shape(struct shared_search *search, const struct wm_access *access)
{
    const struct wm_array *array = search->array;
    const unsigned width = access->opcode.width_bytes;
    const uint64_t row = array->dimensions > 1 ? array->extent[array->dimensions - 1] * array->element_bytes : 0;

    if (width > search->widest)
        search->widest = width;
    if (!search->narrowest || width < search->narrowest)
        search->narrowest = width;
    for (uint32_t rest = shared_lanes_of(access); rest; rest &= rest - 1) {
        uint64_t offset;

        if (!lane_offset(array, access, (unsigned)__builtin_ctz(rest), &offset))
            continue;
        search->is_misplaced |= offset % width != 0;
        search->is_across |= offset + width > array->size_bytes || (row && offset % row + width > row);
    }
}

static enum wm_status add_touch(struct shared_search *search, size_t line, const struct wm_access *access, size_t *size)
{
    struct shared_advice *advice = search->advice;
    struct shared_line *sums = &advice->lines[line];
    struct touch *touch;
    enum wm_status status;

    if (!list_grow(&search->touches, search->n, size, sizeof *search->touches))
        return WM_E_MEMORY;
    if (access->count > MOST_EXECUTIONS || advice->executed + access->count > MOST_EXECUTIONS)
        return WM_E_RANGE;
    touch = &search->touches[search->n];
    touch->access = access;
    touch->line = line;
    status = find_floor(search->arch, touch, sums);
    if (status)
        return status;
    search->n++;
    note_shape(search, access);
    sums->is_past_l1 = touch->is_past_l1;
    sums->executed += access->count;
    sums->now += touch->now * access->count;
    sums->floor += touch->floor * access->count;
    advice->executed += access->count;
    if (touch->is_past_l1)
        advice->now.tags += (touch->now - touch->floor) * access->count;
    else
        advice->now.excess += (touch->now - touch->floor) * access->count;
    return WM_OK;
}

static enum wm_status gather(struct shared_search *search, const struct access_kernel *kernel)
{
    size_t size = 0;

    for (size_t s = 0; s < kernel->n_sites; s++) {
        const struct access_site *site = kernel->sites[s];

        for (size_t i = 0; i < site->n; i++) {
            enum wm_status status;
            size_t line;

            if (!touches_array(search->array, &site->accesses[i]))
                continue;
            status = find_line(search->advice, site, &line);
            if (!status)
                status = add_touch(search, line, &site->accesses[i], &size);
            if (status)
                return status;
        }
    }
    search->advice->n_accesses = search->n;
    return WM_OK;
}

/* ------------------------------------------------------------------------------------------------ behind the array */

static int compare_behind(const void *a, const void *b)
{
    const struct shared_behind *x = a, *y = b;

    return (x->array->address > y->array->address) - (x->array->address < y->array->address);
}

/* The variables behind the array, each up to where the next begins. */
static enum wm_status list_behind(struct shared_search *search, const struct shared_options *options)
{
    struct shared_advice *advice = search->advice;
    struct shared_behind *list = calloc(options->n_variables + 1, sizeof *list);
    size_t n = 0;

    if (!list)
        return WM_E_MEMORY;
    advice->behind = list;
    for (size_t i = 0; i < options->n_variables; i++) {
        const struct wm_array *variable = options->variables[i];

        if (variable->space != WM_SHARED || variable->address + search->advice->base <= search->array->address)
            continue;
        list[n].array = variable;
        list[n].size_bytes = variable->size_bytes;
        list[n++].align_bytes = declared_align(variable);
    }
    qsort(list, n, sizeof *list, compare_behind);
    /* several dynamic arrays begin at one address, and how long they are may not be known */
    while (n > 1 && list[n - 1].array->address == list[n - 2].array->address)
        n--;
    if (n && list[n - 1].array->is_dynamic)
        list[n - 1].size_bytes = UINT64_MAX / 2;
    advice->n_behind = n;
    return WM_OK;
}

/* What an access needs of the variables behind the array. Returns whether it touches one. */
static int note_behind(struct shared_search *search, const struct wm_access *access, int is_touch)
{
    const struct wm_array *array = search->array;
    const unsigned width = access->opcode.width_bytes;
    int touches = 0;

    for (uint32_t rest = shared_lanes_of(access); rest; rest &= rest - 1) {
        struct shared_behind *behind;
        uint64_t address;

        if (!shared_address_of(access, (unsigned)__builtin_ctz(rest), &address) || address < array->address ||
            address - array->address < array->size_bytes)
            continue;
        behind = find_behind(search->advice, address);
        search->is_outside |= is_touch && !behind;
        touches |= behind != NULL;
        if (behind && width > behind->align_bytes && behind->array->address % width == 0)
            behind->align_bytes = width;
    }
    return touches;
}

static enum wm_status add_other(struct shared_search *search, const struct wm_access *access, size_t *size)
{
    struct other *other;
    struct wm_counts counts;
    enum wm_status status = wm_model(search->arch, access, &counts);

    if (status)
        return status;
    if (!list_grow(&search->others, search->n_others, size, sizeof *search->others))
        return WM_E_MEMORY;
    other = &search->others[search->n_others++];
    other->access = access;
    other->is_past_l1 = is_copy_past_l1(access);
    other->now = passes_of(other->is_past_l1, &counts);
    return WM_OK;
}

static enum wm_status gather_behind(struct shared_search *search, const struct access_kernel *kernel,
                                    const struct shared_options *options)
{
    enum wm_status status = list_behind(search, options);
    size_t size = 0;

    for (size_t s = 0; s < kernel->n_sites; s++) {
        const struct access_site *site = kernel->sites[s];

        for (size_t i = 0; i < site->n && !status; i++) {
            const int is_touch = touches_array(search->array, &site->accesses[i]);

            if (note_behind(search, &site->accesses[i], is_touch) && !is_touch)
                status = add_other(search, &site->accesses[i], &size);
        }
    }
    return status;
}

void shared_declarations(const struct shared_advice *advice, enum shared_choice choice, const char *separator,
                         struct buffer *out)
{
    layout_declaration(advice->array, &advice->results[choice].layout, advice->align_bytes, out);
    for (size_t i = 0; i < advice->n_behind; i++) {
        const struct shared_behind *behind = &advice->behind[i];
        struct bank_layout as_is;

        if (!behind->is_aligned[choice])
            continue;
        layout_as_is(behind->array, &as_is);
        buffer_puts(out, separator);
        layout_declaration(behind->array, &as_is, behind->align_bytes, out);
    }
}

/* ---------------------------------------------------------------------------------------------------------- answers */

static void read_key(const struct wm_arch_key *key, struct shared_search *search)
{
    static const char *const widths[] = {"shared.phase_lanes_1", "shared.phase_lanes_2",  "shared.phase_lanes_4",
                                         "shared.phase_lanes_8", "shared.phase_lanes_16", "shared.phase_lanes_32"};
    const unsigned value = (unsigned)strtoul(key->value, NULL, 0);

    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        if (strcmp(key->name, widths[i]) == 0)
            search->phase_lanes[i] = value;
    }
    if (strcmp(key->name, "shared.banks") == 0)
        search->row_bytes = value;
    else if (strcmp(key->name, "shared.bank_bytes") == 0)
        search->bank_bytes = value;
    else if (strcmp(key->name, "shared.ldmatrix_phase_lanes") == 0)
        search->load_phase_lanes[0] = value;
    else if (strcmp(key->name, "shared.stmatrix_phase_lanes") == 0)
        search->load_phase_lanes[1] = value;
    else if (strcmp(key->name, "shared.cas_passes") == 0)
        search->cas_passes = value;
    else if (strcmp(key->name, "shared.atomic_merge") == 0)
        search->atomic_merge = strcmp(key->value, "yes") == 0;
}

static void read_profile(struct shared_search *search)
{
    struct wm_arch_key key;

    for (size_t i = 0; wm_arch_key_at(search->arch, i, &key) == WM_OK; i++)
        read_key(&key, search);
    search->row_bytes *= search->bank_bytes;
}

/* What each line costs under a layout that was found. */
static enum wm_status sum_lines(struct shared_search *search, enum shared_choice choice)
{
    struct shared_advice *advice = search->advice;

    for (size_t i = 0; i < search->n; i++) {
        const struct touch *touch = &search->touches[i];
        struct wm_access rewritten;
        struct wm_counts counts;
        enum wm_status status;

        shared_place(search, &advice->results[choice].layout, touch->access, &rewritten);
        status = wm_model(search->arch, &rewritten, &counts);
        if (status)
            return status;
        advice->lines[touch->line].after[choice] += passes_of(touch->is_past_l1, &counts) * touch->access->count;
    }
    return WM_OK;
}

static enum wm_status look_for(struct shared_search *search, enum shared_choice choice,
                               enum wm_status (*find)(struct shared_search *, struct shared_result *))
{
    struct shared_result *result = &search->advice->results[choice];
    enum wm_status status;

    search->work = SHARED_WORK;
    search->is_loads_only = choice == SHARED_THREADS;
    /* the smallest padding is wanted; every one of them moves rows off the beginnings of rows of banks */
    search->is_tag_blind = choice == SHARED_PAD && search->advice->now.excess;
    result->cost = search->advice->now;
    status = find(search, result);
    if (!status && result->is_found)
        status = sum_lines(search, choice);
    if (!status && result->is_found && result->layout.size_bytes != search->array->size_bytes)
        find_shifts(search, &result->layout, choice);
    return status;
}

enum wm_status shared_advice_find(const wm_arch *arch, const struct access_kernel *kernel, const struct wm_array *array,
                                  const struct shared_options *options, struct shared_advice *out)
{
    struct shared_search search = {.arch = arch, .array = array, .advice = out};
    enum wm_status status;

    memset(out, 0, sizeof *out);
    out->array = array;
    out->base = options->base;
    if (array->size_bytes < array->element_bytes || !array->element_bytes || !array->dimensions)
        return WM_OK;
    read_profile(&search);
    status = gather(&search, kernel);
    /* accesses that are aligned, though not in the array, count on where it lies */
    out->align_bytes = search.is_misplaced ? array->align_bytes : search.widest;
    if (status || shared_is_perfect(&out->now))
        goto done;
    status = gather_behind(&search, kernel, options);
    if (status)
        goto done;
    status = look_for(&search, SHARED_PAD, shared_find_pad);
    if (!status)
        status = look_for(&search, SHARED_XOR, shared_find_xor);
    if (!status && options->allow_thread_map)
        status = look_for(&search, SHARED_THREADS, shared_find_threads);
    if (!status && out->results[SHARED_PAD].cost.excess && out->results[SHARED_XOR].cost.excess)
        status = shared_find_reason(&search);
done:
    free(search.touches);
    free(search.others);
    return status;
}

void shared_advice_free(struct shared_advice *advice)
{
    free(advice->lines);
    free(advice->behind);
    free(advice->reason);
    advice->lines = NULL;
    advice->behind = NULL;
    advice->n_behind = 0;
    advice->reason = NULL;
}
