/* Loads, stores and atomics of a warp: the access that is handed out, checks in compute-sanitizer's words, the data. */
#include <stdio.h>
#include <string.h>

#include "machine.h"

static struct place place_of(const struct wmi_run *run, uint32_t at)
{
    return run->program.places[at];
}

int wmi_x_fail(struct wmi_run *run, uint32_t at, enum wm_status status, const char *format, ...)
{
    const struct place place = place_of(run, at);
    va_list arguments;

    va_start(arguments, format);
    wmi_c_diag(&run->diag, status, run->c.files[place.file].name, place, format, arguments);
    va_end(arguments);
    run->status = status;
    return -1;
}

void wmi_x_warn(struct wmi_run *run, enum warning_kind kind, uint32_t at, const char *format, ...)
{
    const uint32_t line = place_of(run, at).line;
    struct warning *warning;
    va_list arguments;

    if (run->is_quiet)
        return;
    for (uint32_t i = 0; i < run->n_warnings; i++) {
        warning = &run->warnings[i];
        if (kind == WARN_MMA && warning->kind == kind)
            return; /* once a run */
        if (warning->kind == kind && place_of(run, warning->at).line == line) {
            warning->count++;
            return;
        }
    }
    if (run->n_warnings >= WMI_WARNINGS) {
        run->warnings_lost++;
        return;
    }
    warning = &run->warnings[run->n_warnings++];
    warning->kind = kind;
    warning->at = at;
    warning->count = 1;
    va_start(arguments, format);
    vsnprintf(warning->text, sizeof warning->text, format, arguments);
    va_end(arguments);
}

/* "by thread (x,y,z) in block (x,y,z)" */
static const char *who(const struct wmi_run *run, const struct warp *warp, unsigned lane, char text[128])
{
    const uint32_t thread = (uint32_t)(warp - run->warps) * WM_LANES + lane;
    const uint32_t *block = run->kernel.block;

    snprintf(text, 128, "by thread (%u,%u,%u) in block (%u,%u,%u)", thread % block[0], thread / block[0] % block[1],
             thread / block[0] / block[1], run->block[0], run->block[1], run->block[2]);
    return text;
}

struct request {
    struct wmi_run *run;
    struct warp *warp;
    const struct insn *insn;
    const struct plan *plan;
    uint32_t at; /* instruction */
    uint32_t mask;
    uint32_t width;
    const char *verb; /* read, write, atomic */
    int is_read;      /* and nothing else */
    enum wm_space space;
    const uint64_t *address; /* of each lane, without offset */
    uint64_t offset;
    uint8_t *data[WM_LANES]; /* where each lane's bytes are */
};

static const char *space_name(enum wm_space space)
{
    static const char *const names[] = {"__global__", "__shared__", "__local__", "__constant__"};

    return names[space];
}

static uint64_t lane_address(const struct request *r, unsigned lane)
{
    return r->address[lane] + r->offset;
}

static int misaligned(const struct request *r)
{
    char text[128];

    for (unsigned i = 0; i < WM_LANES; i++) {
        if ((r->mask >> i & 1) && (lane_address(r, i) & (r->width - 1)))
            return wmi_x_fail(r->run, r->at, WM_E_MISALIGNED, "Invalid %s %s of size %u bytes %s: address 0x%llx is misaligned",
                              space_name(r->space), r->verb, r->width, who(r->run, r->warp, i, text),
                              (unsigned long long)lane_address(r, i));
    }
    return 0;
}

static int out_of_bounds(const struct request *r, unsigned lane, const char *name, uint64_t base, uint64_t size)
{
    const uint64_t address = lane_address(r, lane);
    char text[128];
    char where[400];

    if (!name)
        snprintf(where, sizeof where, "no buffer is there");
    else if (address < base)
        snprintf(where, sizeof where, "%llu bytes before %.80s", (unsigned long long)(base - address), name);
    else
        snprintf(where, sizeof where, "%llu bytes after the end of %.80s, which has %llu bytes",
                 (unsigned long long)(address - base >= size ? address - base - size : 0), name, (unsigned long long)size);
    if (name && r->space == WM_SHARED && r->run->program.has_extern_shared && address >= base) {
        const struct symbol *symbol = r->run->c.file_variables;
        const size_t length = strlen(where);

        while (symbol && symbol->storage != ST_SHARED_EXTERN)
            symbol = symbol->next_variable;
        if (symbol)
            snprintf(where + length, sizeof where - length, "; %.80s is dynamic shared memory and has %llu bytes: --smem BYTES",
                     symbol->name->text, (unsigned long long)(r->run->shared_bytes - r->run->program.shared_bytes));
    }
    return wmi_x_fail(r->run, r->at, WM_E_ADDRESS, "Invalid %s %s of size %u bytes %s: address 0x%llx is out of bounds: %s",
                      space_name(r->space), r->verb, r->width, who(r->run, r->warp, lane, text), (unsigned long long)address,
                      where);
}

/* Which memory the pointers point to: that of the first active lane, for all. */
static int find_space(struct request *r)
{
    uint64_t window = 0;
    int first = 1;

    for (unsigned i = 0; i < WM_LANES; i++) {
        if (!(r->mask >> i & 1))
            continue;
        if (first)
            window = lane_address(r, i) >> WMI_WINDOW_BITS;
        else if (lane_address(r, i) >> WMI_WINDOW_BITS != window) {
            r->space = WM_GLOBAL;
            if (window < WMI_CONST_WINDOW >> WMI_WINDOW_BITS || window > WMI_GLOBAL_WINDOW >> WMI_WINDOW_BITS)
                break;
            window = lane_address(r, i) >> WMI_WINDOW_BITS;
            if (window < WMI_CONST_WINDOW >> WMI_WINDOW_BITS || window > WMI_GLOBAL_WINDOW >> WMI_WINDOW_BITS)
                return out_of_bounds(r, i, NULL, 0, 0);
            return wmi_x_fail(r->run, r->at, WM_E_UNSUPPORTED, "one access to several memory spaces is not supported");
        }
        first = 0;
    }
    switch (window) {
    case WMI_SHARED_WINDOW >> WMI_WINDOW_BITS: r->space = WM_SHARED; break;
    case WMI_LOCAL_WINDOW >> WMI_WINDOW_BITS: r->space = WM_LOCAL; break;
    case WMI_CONST_WINDOW >> WMI_WINDOW_BITS: r->space = WM_CONST; break;
    default: r->space = WM_GLOBAL; break;
    }
    return 0;
}

static int find_global(struct request *r)
{
    struct wmi_run *run = r->run;
    struct buffer *buffer = NULL;
    uint64_t page_number = UINT64_MAX;
    uint8_t *page = NULL;

    for (unsigned i = 0; i < WM_LANES; i++) {
        const uint64_t address = lane_address(r, i);
        uint64_t offset;

        if (!(r->mask >> i & 1))
            continue;
        if (!buffer || address - buffer->base >= buffer->size) {
            const uint64_t slot = (address - WMI_GLOBAL_WINDOW) >> WMI_SLOT_BITS;
            struct buffer *found = address >= WMI_GLOBAL_WINDOW && slot < WMI_SLOTS && run->slots[slot]
                                       ? &run->buffers[run->slots[slot] - 1] : NULL;

            if (!found)
                return out_of_bounds(r, i, buffer ? buffer->name : NULL, buffer ? buffer->base : 0, buffer ? buffer->size : 0);
            buffer = found;
            page_number = UINT64_MAX;
        }
        offset = address - buffer->base;
        if (offset >= buffer->size || buffer->size - offset < r->width)
            return out_of_bounds(r, i, buffer->name, buffer->base, buffer->size);
        if (offset >> WMI_PAGE_BITS != page_number) {
            page_number = offset >> WMI_PAGE_BITS;
            page = page_number < buffer->n_pages ? buffer->pages[page_number] : NULL;
            if (!page && (r->is_read ? wmi_x_buffer_read : wmi_x_buffer_page)(run, buffer, page_number, &page) != WM_OK)
                return wmi_x_fail(run, r->at, WM_E_MEMORY, "the kernel's memory does not fit: with what is touched of %s here, buffers take more than %llu MiB of this machine",
                                  buffer->name, (unsigned long long)(run->memory_bytes >> 20));
        }
        if (offset + r->width > buffer->touched)
            buffer->touched = offset + r->width;
        r->data[i] = page + (offset & (WMI_PAGE_BYTES - 1));
    }
    return 0;
}

/* Memory of one piece: shared, constant, or a thread's own. */
static int find_flat(struct request *r, uint8_t *memory, uint64_t window, uint64_t size, uint64_t stride, const char *name)
{
    for (unsigned i = 0; i < WM_LANES; i++) {
        const uint64_t offset = lane_address(r, i) - window;

        if (!(r->mask >> i & 1))
            continue;
        if (offset >= size || size - offset < r->width)
            return out_of_bounds(r, i, name, window, size);
        r->data[i] = memory + i * stride + offset;
    }
    return 0;
}

static int find_data(struct request *r)
{
    struct wmi_run *run = r->run;

    if (find_space(r))
        return -1;
    if (r->insn->aux && r->space != WM_GLOBAL)
        return wmi_x_fail(run, r->at, WM_E_ADDRESS, "Invalid __global__ %s of size %u bytes: its address is one of %s memory", r->verb,
                          r->width, space_name(r->space));
    if (misaligned(r))
        return -1;
    switch (r->space) {
    case WM_SHARED: return find_flat(r, run->shared, WMI_SHARED_WINDOW, run->shared_bytes, 0, "the block's shared memory");
    case WM_LOCAL:
        return find_flat(r, r->warp->local, WMI_LOCAL_WINDOW, run->program.local_bytes, run->program.local_bytes,
                         "the thread's local memory");
    case WM_CONST: return find_flat(r, run->constants, WMI_CONST_WINDOW, run->program.constant_bytes, 0, "constant memory");
    default: return find_global(r);
    }
}

/* ------------------------------------------------------------------------------------------------------ shared memory */

/* Whether what the byte's last writer did and what this thread does are without a barrier in between. */
static int is_race(const struct request *r, const struct shadow *shadow, uint32_t thread)
{
    if (shadow->epoch != r->run->epoch || shadow->writer == thread)
        return 0;
    return shadow->writer == WMI_ATOMIC_WRITER || shadow->writer / WM_LANES != thread / WM_LANES ||
           shadow->warp_epoch == r->warp->epoch;
}

/* Whether the warp whose cp.async wrote the byte has waited for it. */
static int is_copied(const struct wmi_run *run, size_t at)
{
    const uint32_t copy = run->copied ? run->copied[at] : 0;

    return copy == 0 || run->shadow[at].writer == WMI_ATOMIC_WRITER || run->warps[run->shadow[at].writer / WM_LANES].copies_done >= copy;
}

static void check_shared_read(const struct request *r, int is_atomic)
{
    struct wmi_run *run = r->run;
    char text[128];

    for (unsigned i = 0; i < WM_LANES; i++) {
        const struct shadow *shadow;
        const uint32_t thread = (uint32_t)(r->warp - run->warps) * WM_LANES + i;

        if (!(r->mask >> i & 1))
            continue;
        shadow = &run->shadow[r->data[i] - run->shared];
        for (uint32_t k = 0; k < r->width; k++, shadow++) {
            if (shadow->epoch < run->block_epoch) {
                wmi_x_warn(run, WARN_UNINITIALISED, r->at, "Uninitialized __shared__ memory %s of size %u bytes %s at 0x%llx", r->verb,
                           r->width, who(run, r->warp, i, text), (unsigned long long)(r->data[i] - run->shared));
                break;
            }
            if (!is_atomic && is_race(r, shadow, thread)) {
                wmi_x_warn(run, WARN_RACE_WR, r->at, "Race reported between Write access by thread %u and Read access %s at __shared__ 0x%llx: no barrier in between",
                           shadow->writer, who(run, r->warp, i, text), (unsigned long long)(r->data[i] - run->shared));
                break;
            }
            if (!is_copied(run, (size_t)(shadow - run->shadow))) {
                wmi_x_warn(run, WARN_COPY, r->at, "Read access %s at __shared__ 0x%llx of what a cp.async of thread %u writes: it has not waited for it",
                           who(run, r->warp, i, text), (unsigned long long)(r->data[i] - run->shared), shadow->writer);
                break;
            }
        }
    }
}

/* copy: the number of the copy that writes; 0: none does. */
static void check_shared_write(const struct request *r, int is_atomic, uint32_t copy)
{
    struct wmi_run *run = r->run;
    char text[128];

    for (unsigned i = 0; i < WM_LANES; i++) {
        struct shadow *shadow;
        const uint32_t thread = (uint32_t)(r->warp - run->warps) * WM_LANES + i;
        int is_reported = is_atomic;

        if (!(r->mask >> i & 1))
            continue;
        shadow = &run->shadow[r->data[i] - run->shared];
        for (uint32_t k = 0; k < r->width; k++, shadow++) {
            if (!is_reported && is_race(r, shadow, thread)) {
                is_reported = 1;
                wmi_x_warn(run, WARN_RACE_WW, r->at, "Race reported between Write access by thread %u and Write access %s at __shared__ 0x%llx: no barrier in between",
                           shadow->writer, who(run, r->warp, i, text), (unsigned long long)(r->data[i] - run->shared));
            }
            shadow->epoch = run->epoch;
            shadow->writer = is_atomic ? WMI_ATOMIC_WRITER : (uint16_t)thread;
            shadow->warp_epoch = r->warp->epoch;
            if (run->copied)
                run->copied[shadow - run->shadow] = copy;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------- the access */

static void describe(const struct request *r, struct wm_access *out)
{
    const struct wmi_run *run = r->run;
    const struct place place = place_of(run, r->at);
    const uint64_t base = r->offset - (r->space == WM_SHARED  ? WMI_SHARED_WINDOW
                                       : r->space == WM_LOCAL ? WMI_LOCAL_WINDOW
                                       : r->space == WM_CONST ? WMI_CONST_WINDOW : 0);

    for (unsigned i = 0; i < WM_LANES; i++)
        out->address[i] = r->address[i] + base;
    out->mask = r->mask;
    out->opcode = r->plan->opcode;
    out->opcode.space = (uint8_t)r->space;
    if (r->space != WM_GLOBAL)
        out->opcode.cache = WM_CACHE_NONE;
    out->count = 1;
    out->pc = WM_NO_PC;
    out->kernel = run->kernel_now;
    out->file = run->c.files[place.file].name;
    out->line = place.line;
    memcpy(out->block, run->block, sizeof out->block);
    out->warp = (uint32_t)(r->warp - run->warps);
    out->l1 = (uint32_t)run->l1;
    out->zero_fill = 0;
}

static void hand_out(const struct request *r)
{
    describe(r, &r->run->out[r->run->n_out++]);
}

static void request_start(struct request *r, struct wmi_run *run, struct warp *warp, const struct insn *insn, const char *verb)
{
    r->run = run;
    r->warp = warp;
    r->insn = insn;
    r->plan = &run->program.plans[insn->target];
    r->at = (uint32_t)(insn - run->program.code);
    r->mask = warp->active;
    r->width = r->plan->opcode.width_bytes;
    r->verb = verb;
    r->is_read = strcmp(verb, "read") == 0;
    r->address = warp->registers[insn->a].U;
    r->offset = insn->imm;
}

#define ACTIVE(r, i) for (unsigned i = 0; i < WM_LANES; i++) if ((r)->mask >> i & 1)

int wmi_x_load(struct wmi_run *run, struct warp *warp, const struct insn *insn)
{
    struct request request;
    struct request *r = &request;

    request_start(r, run, warp, insn, "read");
    if (find_data(r))
        return -1;
    if (r->space == WM_SHARED)
        check_shared_read(r, 0);
    for (uint32_t k = 0; k < r->plan->n_leaves; k++) {
        union lanes *d = &warp->registers[insn->dst + k];
        const size_t offset = r->plan->leaves[k].offset;

        switch (r->plan->leaves[k].format) {
        case LEAF_S8: ACTIVE(r, i) d->s[i] = (int8_t)r->data[i][offset]; break;
        case LEAF_U8: ACTIVE(r, i) d->u[i] = r->data[i][offset]; break;
        case LEAF_S16:
            ACTIVE(r, i) {
                int16_t value;

                memcpy(&value, r->data[i] + offset, sizeof value);
                d->s[i] = value;
            }
            break;
        case LEAF_U16:
            ACTIVE(r, i) {
                uint16_t value;

                memcpy(&value, r->data[i] + offset, sizeof value);
                d->u[i] = value;
            }
            break;
        case LEAF_32: ACTIVE(r, i) memcpy(&d->u[i], r->data[i] + offset, 4); break;
        default: ACTIVE(r, i) memcpy(&d->U[i], r->data[i] + offset, 8); break;
        }
    }
    hand_out(r);
    return 0;
}

int wmi_x_store(struct wmi_run *run, struct warp *warp, const struct insn *insn)
{
    struct request request;
    struct request *r = &request;

    request_start(r, run, warp, insn, "write");
    if (find_data(r))
        return -1;
    if (r->space == WM_CONST)
        return wmi_x_fail(run, r->at, WM_E_ADDRESS, "Invalid __constant__ write of size %u bytes: constant memory cannot be written",
                          r->width);
    if (r->space == WM_SHARED)
        check_shared_write(r, 0, 0);
    for (uint32_t k = 0; k < r->plan->n_leaves; k++) {
        const union lanes *s = &warp->registers[insn->b + k];
        const size_t offset = r->plan->leaves[k].offset;

        switch (r->plan->leaves[k].format) {
        case LEAF_S8:
        case LEAF_U8: ACTIVE(r, i) r->data[i][offset] = (uint8_t)s->u[i]; break;
        case LEAF_S16:
        case LEAF_U16:
            ACTIVE(r, i) {
                const uint16_t value = (uint16_t)s->u[i];

                memcpy(r->data[i] + offset, &value, sizeof value);
            }
            break;
        case LEAF_32: ACTIVE(r, i) memcpy(r->data[i] + offset, &s->u[i], 4); break;
        default: ACTIVE(r, i) memcpy(r->data[i] + offset, &s->U[i], 8); break;
        }
    }
    hand_out(r);
    return 0;
}

/* What an atomic makes of a value. Bits in, bits out. */
static uint64_t atomic_integer(enum wm_atomic op, uint8_t element, uint64_t old, uint64_t b, uint64_t c)
{
    const int is_signed = element == 's' || element == 'S';
    const int less = is_signed ? (element == 's' ? (int32_t)b < (int32_t)old : (int64_t)b < (int64_t)old) : b < old;

    switch (op) {
    case WM_ATOMIC_ADD: return old + b;
    case WM_ATOMIC_EXCH: return b;
    case WM_ATOMIC_MIN: return less ? b : old;
    case WM_ATOMIC_MAX: return less ? old : b;
    case WM_ATOMIC_AND: return old & b;
    case WM_ATOMIC_OR: return old | b;
    case WM_ATOMIC_XOR: return old ^ b;
    case WM_ATOMIC_INC: return old >= b ? 0 : old + 1;
    case WM_ATOMIC_DEC: return old == 0 || old > b ? b : old - 1;
    default: return old == b ? c : old;
    }
}

static uint64_t atomic_apply(enum wm_atomic op, uint8_t element, uint64_t old, uint64_t b, uint64_t c)
{
    float f[2];
    double d[2];
    uint32_t bits;

    if (element == 'f' && op == WM_ATOMIC_ADD) {
        bits = (uint32_t)old;
        memcpy(&f[0], &bits, 4);
        bits = (uint32_t)b;
        memcpy(&f[1], &bits, 4);
        f[0] += f[1];
        memcpy(&bits, &f[0], 4);
        return bits;
    }
    if (element == 'd' && op == WM_ATOMIC_ADD) {
        memcpy(&d[0], &old, 8);
        memcpy(&d[1], &b, 8);
        d[0] += d[1];
        memcpy(&old, &d[0], 8);
        return old;
    }
    return atomic_integer(op, element, old, b, c);
}

/* Lane after lane, in their order; hardware's order is not defined. */
int wmi_x_atomic(struct wmi_run *run, struct warp *warp, const struct insn *insn)
{
    struct request request;
    struct request *r = &request;
    union lanes *d = &warp->registers[insn->dst];
    const union lanes *b = &warp->registers[insn->b];
    const union lanes *c = &warp->registers[insn->c];
    enum wm_atomic op;
    uint8_t element;

    request_start(r, run, warp, insn, "atomic");
    if (find_data(r))
        return -1;
    if (r->space != WM_SHARED && r->space != WM_GLOBAL)
        return wmi_x_fail(run, r->at, WM_E_ADDRESS, "an atomic on %s memory", space_name(r->space));
    if (r->space == WM_SHARED) {
        check_shared_read(r, 1);
        check_shared_write(r, 1, 0);
    }
    op = (enum wm_atomic)r->plan->opcode.atomic;
    element = r->plan->element;
    if (r->space == WM_SHARED && (element == 'f' || element == 'd'))
        wmi_x_warn(run, WARN_LOOP, r->at,
                   "shared memory has no floating-point atomics: nvcc makes a loop of loads and compare-and-swaps, which is counted as one atomic here");
    ACTIVE(r, i) {
        if (r->width == 4) {
            uint32_t old;
            uint32_t now;

            memcpy(&old, r->data[i], 4);
            now = (uint32_t)atomic_apply(op, element, old, b->u[i], c->u[i]);
            memcpy(r->data[i], &now, 4);
            d->u[i] = old;
        } else {
            uint64_t old;
            uint64_t now;

            memcpy(&old, r->data[i], 8);
            now = atomic_apply(op, element, old, b->U[i], c->U[i]);
            memcpy(r->data[i], &now, 8);
            d->U[i] = old;
        }
    }
    hand_out(r);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ ldmatrix, stmatrix, cp.async */

/* Where the elements 2 * (lane % 4) and the one behind it are, of a matrix whose rows are at rows[0 .. 7]: in row lane / 4, and
 * transposed in that column (PTX ISA, ldmatrix: "Matrix fragments"). */
static uint8_t *element_of(uint8_t *const rows[8], unsigned lane, unsigned which, int transposed)
{
    const unsigned along = 2 * (lane % 4) + which;

    return transposed ? rows[along] + 2 * (lane / 4) : rows[lane / 4] + 2 * along;
}

/* An address that no row is at counts for nothing: one of those that do stands there. */
static void only_rows(struct wm_access *access, unsigned rows)
{
    for (unsigned i = rows; i < WM_LANES; i++)
        access->address[i] = access->address[i % rows];
}

int wmi_x_matrix(struct wmi_run *run, struct warp *warp, const struct insn *insn)
{
    struct request request;
    struct request *r = &request;
    const int is_load = insn->op == X_LDMATRIX;
    unsigned matrices;

    request_start(r, run, warp, insn, is_load ? "read" : "write");
    matrices = r->plan->opcode.matrices;
    if (warp->active != UINT32_MAX)
        return wmi_x_fail(run, r->at, WM_E_SYNTAX, "%s needs all 32 threads of the warp: warp %u of block (%u,%u,%u) gets here with 0x%08x",
                          is_load ? "ldmatrix" : "stmatrix", (unsigned)(warp - run->warps), run->block[0], run->block[1], run->block[2],
                          warp->active);
    r->mask = matrices == 4 ? UINT32_MAX : (1u << 8 * matrices) - 1;
    if (find_data(r))
        return -1;
    if (r->space != WM_SHARED)
        return wmi_x_fail(run, r->at, WM_E_ADDRESS, "%s on %s memory", is_load ? "ldmatrix" : "stmatrix", space_name(r->space));
    if (is_load)
        check_shared_read(r, 0);
    else
        check_shared_write(r, 0, 0);
    for (unsigned m = 0; m < matrices; m++) {
        union lanes *values = &warp->registers[(is_load ? insn->dst : insn->b) + m];

        for (unsigned i = 0; i < 2 * WM_LANES; i++) {
            uint8_t *at = element_of(r->data + 8 * m, i / 2, i % 2, r->plan->opcode.transposed);
            const unsigned shift = 16 * (i % 2);

            if (is_load) {
                values->u[i / 2] &= ~(0xffffu << shift);
                values->u[i / 2] |= (at[0] | (uint32_t)at[1] << 8) << shift;
            } else {
                at[0] = (uint8_t)(values->u[i / 2] >> shift);
                at[1] = (uint8_t)(values->u[i / 2] >> shift >> 8);
            }
        }
    }
    r->mask = UINT32_MAX;
    hand_out(r);
    only_rows(&run->out[run->n_out - 1], 8 * matrices);
    return 0;
}

/* The sources of the lanes that read any bytes: of each only as many as it reads must be there. */
static int find_sources(struct request *r, const uint32_t bytes[WM_LANES])
{
    const uint32_t mask = r->mask;
    const uint32_t width = r->width;
    int failed = find_space(r);

    if (!failed && r->space != WM_GLOBAL)
        failed = wmi_x_fail(r->run, r->at, WM_E_ADDRESS, "cp.async from %s memory", space_name(r->space));
    failed = failed || misaligned(r);
    for (r->width = 1; r->width <= width && !failed; r->width++) {
        r->mask = 0;
        for (unsigned i = 0; i < WM_LANES; i++)
            r->mask |= (mask >> i & 1) && bytes[i] == r->width ? 1u << i : 0;
        failed = r->mask && find_global(r);
    }
    r->mask = mask;
    r->width = width;
    return failed;
}

/* What the lanes of mask do: they copy, or fill with zeros. */
static void describe_copy(struct request *r, const struct request *to, uint32_t mask, int is_fill, struct wm_access *out)
{
    r->mask = mask;
    describe(r, out);
    out->zero_fill = (uint32_t)is_fill;
    for (unsigned i = 0; i < WM_LANES; i++) {
        if (is_fill || !(mask >> i & 1))
            out->address[i] = 0;
        out->shared_address[i] = (uint32_t)(to->address[i] - WMI_SHARED_WINDOW);
    }
}

/*
 * Lanes that read nothing are to the global side as if they were off, and to the shared side as a store of their own (H200: the
 * counts of a cp.async half of whose lanes have a source size of 0 are those of its two halves). So they are an access of
 * their own.
 */
static void hand_out_copy(struct request *r, const struct request *to)
{
    struct wmi_run *run = r->run;
    const uint32_t reads = r->mask;
    const uint32_t fills = to->mask & ~reads;

    if (reads)
        describe_copy(r, to, reads, 0, &run->out[run->n_out++]);
    if (fills && run->n_out < run->room) {
        describe_copy(r, to, fills, 1, &run->out[run->n_out++]);
    } else if (fills) {
        describe_copy(r, to, fills, 1, &run->waiting);
        run->is_waiting = 1;
    }
}

/* The data is there at once; who looks at it before the wait is warned. */
int wmi_x_copy(struct wmi_run *run, struct warp *warp, const struct insn *insn)
{
    const uint32_t *bytes = warp->registers[insn->c].u;
    struct request source;
    struct request *r = &source;
    struct request to;

    request_start(&to, run, warp, insn, "write");
    request_start(r, run, warp, insn, "read");
    r->address = warp->registers[insn->b].U;
    r->space = WM_GLOBAL;
    for (unsigned i = 0; i < WM_LANES; i++) {
        if (!(to.mask >> i & 1))
            continue;
        if (bytes[i] > r->width)
            return wmi_x_fail(run, r->at, WM_E_RANGE, "cp.async of %u bytes from a source of %u bytes", r->width, bytes[i]);
        if (bytes[i] == 0)
            r->mask &= ~(1u << i);
    }
    if (find_data(&to))
        return -1;
    if (to.space != WM_SHARED)
        return wmi_x_fail(run, r->at, WM_E_ADDRESS, "cp.async to %s memory", space_name(to.space));
    if (r->mask && find_sources(r, bytes))
        return -1;
    check_shared_write(&to, 0, ++warp->copies);
    ACTIVE(&to, i) {
        if (bytes[i])
            memcpy(to.data[i], r->data[i], bytes[i]);
        memset(to.data[i] + bytes[i], 0, r->width - bytes[i]);
    }
    hand_out_copy(r, &to);
    return 0;
}

void wmi_x_commit(struct warp *warp)
{
    warp->group_end[warp->groups++ % WMI_GROUPS] = warp->copies;
}

/* For all copies, or all but the last groups; copies that are in no group yet are not waited for. */
void wmi_x_wait(struct warp *warp, const struct insn *insn)
{
    const unsigned lane = (unsigned)__builtin_ctz(warp->active);
    const uint32_t keep = warp->registers[insn->a].u[lane];
    uint32_t done = 0;

    if (insn->imm)
        done = warp->copies;
    else if (keep < warp->groups && keep < WMI_GROUPS)
        done = warp->group_end[(warp->groups - keep - 1) % WMI_GROUPS];
    if (done > warp->copies_done)
        warp->copies_done = done;
}
