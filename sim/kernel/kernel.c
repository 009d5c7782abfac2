/* A kernel's run from its source to its last block. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"

/* More than any GPU has. */
#define SHARED_BYTES (256u << 10)

/* -------------------------------------------------------------------------------------------- services for the compiler */

void wmi_c_diag(struct wm_diag *diag, enum wm_status status, const char *file, struct place place, const char *format,
                va_list arguments)
{
    char text[WM_DIAG_TEXT_SIZE];

    vsnprintf(text, sizeof text, format, arguments);
    wmi_diag_set(diag, status, file, place.line, place.column, "%s", text);
}

void wmi_c_fail(struct compile *c, enum wm_status status, struct place place, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    wmi_c_diag(&c->diag, status, c->files ? c->files[place.file].name : "", place, format, arguments);
    va_end(arguments);
    c->failed = place;
    c->status = status;
    longjmp(*c->escape, 1);
}

void wmi_c_refuse(struct compile *c, struct place place, const char *format, ...)
{
    char text[WM_DIAG_TEXT_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    wmi_c_fail(c, WM_E_UNSUPPORTED, place, "%s is not supported", text);
}

void *wmi_c_take(struct compile *c, size_t size)
{
    const struct place nowhere = {0, 0, 0};
    void *memory = NULL;

    if (size <= WMI_MAX_ARENA && c->arena_used + size <= WMI_MAX_ARENA)
        memory = wmi_arena_take(&c->arena, size);
    if (!memory)
        wmi_c_fail(c, WM_E_MEMORY, nowhere, "the source needs more than %u MiB to compile", WMI_MAX_ARENA >> 20);
    c->arena_used += size;
    memset(memory, 0, size);
    return memory;
}

void *wmi_c_grow(struct compile *c, void *list, size_t count, size_t *room, size_t size)
{
    void *more;

    if (count < *room)
        return list;
    *room = *room ? *room * 2 : 8;
    more = wmi_c_take(c, *room * size);
    if (count)
        memcpy(more, list, count * size);
    return more;
}

const char *wmi_c_text(struct compile *c, const char *format, ...)
{
    va_list arguments;
    char *text;
    int length;

    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    text = wmi_c_take(c, (size_t)(length < 0 ? 0 : length) + 1);
    va_start(arguments, format);
    if (length >= 0)
        vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

void wmi_c_enter(struct compile *c, struct place place)
{
    if (++c->depth > WMI_MAX_DEPTH)
        wmi_c_fail(c, WM_E_RANGE, place, "nested deeper than %d", WMI_MAX_DEPTH);
}

void wmi_c_leave(struct compile *c)
{
    c->depth--;
}

static void remark(struct wmi_run *run, const char *text)
{
    for (size_t i = 0; i < run->n_remarks; i++) {
        if (strcmp(run->remarks[i], text) == 0)
            return;
    }
    run->remarks = wmi_c_grow(&run->c, run->remarks, run->n_remarks, &run->remark_room, sizeof *run->remarks);
    run->remarks[run->n_remarks++] = text;
}

void wmi_c_remark(struct compile *c, const char *text)
{
    remark(c->run, text);
}

void wmi_c_note(struct compile *c, const struct symbol *symbol, const char *why)
{
    struct wmi_run *run = c->run;

    if (symbol->place.file == 0 || !why)
        return;
    remark(run, wmi_c_text(c, "%s:%u: %s is in local memory: %s", c->files[symbol->place.file].name, symbol->place.line,
                           symbol->name->text, why));
}

/* ------------------------------------------------------------------------------------------------------------------ setup */

static _Noreturn void bad_launch(struct wmi_run *run, enum wm_status status, const char *format, ...) WMI_PRINTF(3, 4);

static _Noreturn void bad_launch(struct wmi_run *run, enum wm_status status, const char *format, ...)
{
    const struct place nowhere = {0, 0, 0};
    va_list arguments;

    va_start(arguments, format);
    wmi_c_diag(&run->c.diag, status, run->c.files[1].name, nowhere, format, arguments);
    va_end(arguments);
    run->c.status = status;
    longjmp(*run->c.escape, 1);
}

/* What is compiled: a kernel's source, or expressions. */
struct work {
    const char *path;
    const char *text;
    size_t length;
    const struct wm_expressions *expressions; /* NULL: a source */
};

/* Limits of a launch: CUDA C++ Programming Guide, "Compute Capabilities". */
static void set_launch(struct wmi_run *run)
{
    const struct wm_launch *launch = run->c.launch;
    static const uint32_t most_grid[3] = {INT32_MAX, 65535, 65535};
    static const uint32_t most_block[3] = {1024, 1024, 64};
    uint64_t threads = 1;

    run->grid_blocks = 1;
    for (unsigned i = 0; i < 3; i++) {
        run->kernel.grid[i] = launch->grid[i] ? launch->grid[i] : 1;
        run->kernel.block[i] = launch->block[i] ? launch->block[i] : 1;
        if (run->kernel.grid[i] > most_grid[i] || run->kernel.block[i] > most_block[i])
            bad_launch(run, WM_E_ARGUMENT, "a %s of %u in %c is above %u", run->kernel.grid[i] > most_grid[i] ? "grid" : "block",
                       run->kernel.grid[i] > most_grid[i] ? run->kernel.grid[i] : run->kernel.block[i], (int)("xyz"[i]),
                       run->kernel.grid[i] > most_grid[i] ? most_grid[i] : most_block[i]);
        run->grid_blocks *= run->kernel.grid[i];
        threads *= run->kernel.block[i];
    }
    if (threads > 1024)
        bad_launch(run, WM_E_ARGUMENT, "a block of %llu threads: at most 1024", (unsigned long long)threads);
    run->threads = (uint32_t)threads;
    run->n_warps = (run->threads + WM_LANES - 1) / WM_LANES;
    run->selected = run->grid_blocks;
    if (launch->some_blocks) {
        if (launch->first_block > launch->last_block || launch->last_block >= run->grid_blocks)
            bad_launch(run, WM_E_ARGUMENT, "blocks %llu-%llu of a grid of %llu", (unsigned long long)launch->first_block,
                       (unsigned long long)launch->last_block, (unsigned long long)run->grid_blocks);
        run->first = launch->first_block;
        run->selected = launch->last_block - launch->first_block + 1;
    }
    if (launch->sample && launch->sample < run->selected)
        run->sample = launch->sample;
    run->max_steps = launch->max_steps ? launch->max_steps : WMI_MAX_STEPS;
    run->memory_bytes = launch->memory_bytes ? launch->memory_bytes : WMI_MEMORY_BYTES;
    run->memory_left = run->memory_bytes;
    if (launch->shared_bytes > SHARED_BYTES)
        bad_launch(run, WM_E_ARGUMENT, "%llu bytes of dynamic shared memory: more than 256 KiB", (unsigned long long)launch->shared_bytes);
}

static void say_selection(struct wmi_run *run)
{
    const uint64_t n = run->sample ? run->sample : run->selected;

    if (n == run->grid_blocks || run->is_quiet)
        return;
    remark(run, wmi_c_text(&run->c, "%llu of the grid's %llu blocks are run%s: for the whole grid multiply counts by %.6g",
                           (unsigned long long)n, (unsigned long long)run->grid_blocks, run->sample ? ", evenly spaced" : "",
                           (double)run->grid_blocks / (double)n));
}

static void *allocate(struct wmi_run *run, size_t count, size_t size)
{
    void *memory = size && count > SIZE_MAX / size ? NULL : calloc(count ? count : 1, size ? size : 1);

    if (!memory)
        bad_launch(run, WM_E_MEMORY, "out of memory");
    return memory;
}

static void set_memory(struct wmi_run *run)
{
    const struct program *p = &run->program;

    run->shared_bytes = p->shared_bytes + (p->has_extern_shared ? run->c.launch->shared_bytes : 0);
    run->kernel.shared_bytes = run->shared_bytes;
    /* expressions may use what nobody has said the size of, as they may buffers */
    if (run->is_quiet && p->has_extern_shared && !run->c.launch->shared_bytes && p->shared_bytes < SHARED_BYTES)
        run->shared_bytes = SHARED_BYTES;
    run->shared = allocate(run, run->shared_bytes, 1);
    run->shadow = allocate(run, run->shared_bytes, sizeof *run->shadow);
    if (p->has_copies)
        run->copied = allocate(run, run->shared_bytes, sizeof *run->copied);
    run->constants = allocate(run, p->constant_bytes, 1);
    run->buffers = allocate(run, p->n_parameters + p->n_variables, sizeof *run->buffers);
    run->warnings = allocate(run, WMI_WARNINGS, sizeof *run->warnings);
    if (p->has_extern_shared && !run->c.launch->shared_bytes && !run->is_quiet)
        remark(run, "the kernel has an extern __shared__ array and the launch gives it no bytes (--smem)");
}

static void set_warps(struct wmi_run *run)
{
    const struct program *p = &run->program;
    const size_t per_warp = p->n_registers + p->n_constants;

    run->warps = allocate(run, run->n_warps, sizeof *run->warps);
    run->registers = allocate(run, run->n_warps * per_warp, sizeof *run->registers);
    run->controls = allocate(run, run->n_warps * (size_t)(p->depth + 1), sizeof *run->controls);
    if (run->n_warps * (uint64_t)WM_LANES * p->local_bytes > run->memory_left)
        bad_launch(run, WM_E_MEMORY, "the block's local memory does not fit");
    run->locals = allocate(run, run->n_warps * (size_t)WM_LANES, p->local_bytes);
    for (uint32_t i = 0; i < run->n_warps; i++) {
        struct warp *warp = &run->warps[i];
        const uint32_t lanes = run->threads - i * WM_LANES < WM_LANES ? run->threads - i * WM_LANES : WM_LANES;

        warp->registers = run->registers + i * per_warp;
        warp->stack = run->controls + i * (size_t)(p->depth + 1);
        warp->local = run->locals + i * WM_LANES * p->local_bytes;
        warp->live = lanes == WM_LANES ? UINT32_MAX : (1u << lanes) - 1;
        for (uint32_t k = 0; k < p->n_constants; k++) {
            union lanes *d = &warp->registers[p->constants[k].reg];

            for (unsigned lane = 0; lane < WM_LANES; lane++) {
                if (p->constants[k].is_64)
                    d->U[lane] = p->constants[k].bits;
                else
                    d->u[lane] = (uint32_t)p->constants[k].bits;
            }
        }
        for (unsigned lane = 0; lane < WM_LANES; lane++) {
            const uint32_t thread = i * WM_LANES + lane;
            const uint32_t *block = run->kernel.block;

            warp->registers[0].u[lane] = thread % block[0];
            warp->registers[1].u[lane] = thread / block[0] % block[1];
            warp->registers[2].u[lane] = thread / block[0] / block[1];
            for (unsigned k = 0; k < 3; k++) {
                warp->registers[6 + k].u[lane] = run->kernel.block[k];
                warp->registers[9 + k].u[lane] = run->kernel.grid[k];
            }
        }
    }
}

static void compile(struct wmi_run *run, const struct work *work)
{
    struct compile *c = &run->c;
    struct instance *kernel;

    wmi_c_types_start(c);
    c->file_scope = c->scope = wmi_c_take(c, sizeof *c->scope);
    c->program = &run->program;
    c->run = run;
    wmi_c_preprocess(c, work->path, work->text, work->length);
    wmi_c_builtins(c);
    wmi_c_file(c);
    kernel = work->expressions ? wmi_x_expressions(run, work->expressions) : wmi_c_kernel(c, c->launch->kernel);
    wmi_c_lower(c, kernel, &run->program);
    run->kernel.name = c->launch->kernel ? wmi_c_text(c, "%s", c->launch->kernel) : kernel->function->name->text;
    run->kernel.source = c->files[1].name;
    run->kernel_now = &run->kernel;
}

/* A message about a line that uses a macro of the launch says so: its text is not in the line. */
static void say_macro(struct compile *c)
{
    const size_t length = strlen(c->diag.text);
    const char *macro = NULL;

    if (c->diag.line && c->diag.line == c->failed.line && c->diag.column == c->failed.column)
        macro = wmi_c_macro_at(c, c->failed);
    if (macro)
        snprintf(c->diag.text + length, sizeof c->diag.text - length, "; this line uses -D %.80s", macro);
}

static enum wm_status run_new(const struct work *work, const struct wm_launch *launch, struct wmi_run **out,
                              struct wm_diag *diag)
{
    struct wmi_run *run = calloc(1, sizeof *run);
    enum wm_status status;
    jmp_buf escape;

    if (!run)
        return wmi_diag_set(diag, WM_E_MEMORY, work->path, 0, 0, "out of memory");
    run->c.launch = launch;
    run->c.escape = &escape;
    if (setjmp(escape) != 0) {
        status = run->c.status;
        say_macro(&run->c);
        if (diag)
            *diag = run->c.diag;
        wmi_run_free(run);
        return status;
    }
    compile(run, work);
    set_launch(run);
    set_memory(run);
    if (work->expressions)
        wmi_x_combinations(run);
    wmi_x_arguments(run);
    wmi_x_arrays(run);
    set_warps(run);
    say_selection(run);
    run->c.launch = NULL;
    run->c.escape = NULL;
    *out = run;
    return WM_OK;
}

enum wm_status wmi_run_new(const char *path, const char *text, size_t length, const struct wm_launch *launch,
                           struct wmi_run **out, struct wm_diag *diag)
{
    const struct work work = {path, text, length, NULL};

    return run_new(&work, launch, out, diag);
}

enum wm_status wmi_run_new_expressions(const struct wm_expressions *input, const struct wm_launch *launch,
                                       struct wmi_run **out, struct wm_diag *diag)
{
    const struct work work = {"expression", "", 0, input};
    struct wm_launch one_block = {.kernel = NULL};

    if (launch)
        one_block = *launch;
    one_block.kernel = NULL;
    memset(one_block.grid, 0, sizeof one_block.grid);
    one_block.some_blocks = 0;
    one_block.sample = 0;
    return run_new(&work, &one_block, out, diag);
}

void wmi_run_free(struct wmi_run *run)
{
    if (!run)
        return;
    wmi_x_memory_free(run);
    free(run->warnings);
    free(run->warps);
    free(run->registers);
    free(run->controls);
    free(run->locals);
    wmi_arena_free(&run->c.arena);
    free(run);
}

/* ----------------------------------------------------------------------------------------------------------------- blocks */

static void start_warp(struct wmi_run *run, struct warp *warp)
{
    const struct program *p = &run->program;
    uint32_t leaf = 0;

    warp->state = WARP_READY;
    warp->pc = warp->depth = warp->rounds = 0;
    warp->active = warp->live;
    warp->broken = warp->continued = warp->returned = 0;
    warp->steps = 0;
    warp->copies = warp->copies_done = warp->groups = 0;
    warp->epoch++;
    for (unsigned k = 0; k < 3; k++) {
        for (unsigned lane = 0; lane < WM_LANES; lane++)
            warp->registers[3 + k].u[lane] = run->block[k];
    }
    for (uint32_t i = 0; i < p->n_parameters; i++) {
        for (uint32_t n = 0; n < p->parameters[i].type->leaves; n++, leaf++) {
            uint64_t offset;
            const int is_64 = wmi_c_leaf(p->parameters[i].type, n, &offset)->size > 4;
            union lanes *d = &warp->registers[p->parameters[i].reg + n];

            for (unsigned lane = 0; lane < WM_LANES; lane++) {
                if (is_64)
                    d->U[lane] = run->parameters[leaf];
                else
                    d->u[lane] = (uint32_t)run->parameters[leaf];
            }
        }
    }
}

static void next_epoch(struct wmi_run *run)
{
    if (++run->epoch == 0) { /* after 2^32 barriers */
        memset(run->shadow, 0, run->shared_bytes * sizeof *run->shadow);
        run->epoch = run->block_epoch = 1;
    }
}

static void start_block(struct wmi_run *run)
{
    const uint64_t number = run->first + (run->sample ? (uint64_t)((double)run->done * ((double)run->selected / (double)run->sample))
                                                      : run->done);

    if (run->combinations) {
        wmi_x_combine(run, number);
    } else {
        run->block[0] = (uint32_t)(number % run->kernel.grid[0]);
        run->block[1] = (uint32_t)(number / run->kernel.grid[0] % run->kernel.grid[1]);
        run->block[2] = (uint32_t)(number / run->kernel.grid[0] / run->kernel.grid[1]);
    }
    next_epoch(run);
    run->block_epoch = run->epoch;
    memset(run->locals, 0, run->n_warps * (size_t)WM_LANES * run->program.local_bytes);
    memset(run->shared, 0, run->shared_bytes);
    for (uint32_t i = 0; i < run->n_warps; i++)
        start_warp(run, &run->warps[i]);
    run->current = 0;
    run->in_block = 1;
}

/* Every warp waits or is done: lets those that wait go on. 1: the block is done; 0: it goes on; -1: failed. */
static int meet(struct wmi_run *run)
{
    const struct warp *first = NULL;
    uint32_t waiting = 0;
    const struct insn *insn;
    uint32_t count = 0;

    for (uint32_t i = 0; i < run->n_warps; i++) {
        const struct warp *warp = &run->warps[i];

        if (warp->state != WARP_WAITING)
            continue;
        if (!first)
            first = warp;
        waiting++;
        if (warp->pc != first->pc)
            return wmi_x_fail(run, first->pc, WM_E_SYNTAX,
                              "Barrier error detected. Divergent thread(s) in block (%u,%u,%u): warp %u waits here, warp %u in line %u",
                              run->block[0], run->block[1], run->block[2], (unsigned)(first - run->warps), i,
                              run->program.places[warp->pc].line);
    }
    if (!first)
        return 1;
    if (waiting != run->n_warps)
        return wmi_x_fail(run, first->pc, WM_E_SYNTAX,
                          "Barrier error detected. Divergent thread(s) in block (%u,%u,%u): only %u of %u warps get here",
                          run->block[0], run->block[1], run->block[2], waiting, run->n_warps);
    insn = &run->program.code[first->pc];
    for (uint32_t i = 0; i < run->n_warps; i++) {
        const struct warp *warp = &run->warps[i];

        for (unsigned lane = 0; lane < WM_LANES; lane++)
            count += (warp->live >> lane & 1) && warp->registers[insn->a].u[lane];
    }
    for (uint32_t i = 0; i < run->n_warps; i++) {
        struct warp *warp = &run->warps[i];
        const uint32_t result = insn->imm == 1 ? count : insn->imm == 2 ? count == run->threads : count != 0;

        for (unsigned lane = 0; lane < WM_LANES && insn->imm; lane++)
            warp->registers[insn->dst].u[lane] = result;
        warp->pc++;
        warp->state = WARP_READY;
    }
    next_epoch(run);
    return 0;
}

/* Goes on with the block until it is done (1), the accesses fill their room (0), or it fails (-1). */
static int run_block(struct wmi_run *run)
{
    for (;;) {
        int is_any_ready = 0;

        for (; run->current < run->n_warps; run->current++) {
            struct warp *warp = &run->warps[run->current];
            enum stop stop;

            if (warp->state != WARP_READY)
                continue;
            stop = wmi_x_warp(run, warp);
            if (stop == STOP_FULL)
                return 0;
            if (stop == STOP_FAILED)
                return -1;
            if (stop == STOP_BARRIER)
                warp->state = WARP_WAITING;
            else if (stop == STOP_DONE)
                warp->state = WARP_DONE;
            is_any_ready |= stop == STOP_TURN;
        }
        run->current = 0;
        for (uint32_t i = 0; i < run->n_warps; i++)
            is_any_ready |= run->warps[i].state == WARP_READY;
        if (!is_any_ready) {
            const int done = meet(run);

            if (done)
                return done;
        }
    }
}

enum wm_status wmi_run_many(struct wmi_run *run, struct wm_access *out, size_t room, size_t *n, struct wm_diag *diag)
{
    const uint64_t blocks = run->sample ? run->sample : run->selected;

    *n = 0;
    if (run->status != WM_OK) {
        if (diag)
            *diag = run->diag;
        return run->status;
    }
    run->out = out;
    run->room = room;
    run->n_out = 0;
    while (run->n_out < room) {
        int done;

        if (run->is_waiting) {
            run->is_waiting = 0;
            out[run->n_out++] = run->waiting;
            continue;
        }
        if (!run->in_block) {
            if (run->done >= blocks)
                break;
            start_block(run);
        }
        done = run_block(run);
        if (done < 0)
            break;
        if (done) {
            run->in_block = 0;
            run->done++;
        }
    }
    *n = run->n_out;
    if (run->n_out)
        return WM_OK; /* an error shows behind what came before it */
    if (run->status != WM_OK) {
        if (diag)
            *diag = run->diag;
        return run->status;
    }
    run->is_over = 1;
    return WM_END;
}

enum wm_status wmi_run_next(struct wmi_run *run, struct wm_access *out, struct wm_diag *diag)
{
    size_t n;

    return wmi_run_many(run, out, 1, &n, diag);
}

void wmi_run_progress(const struct wmi_run *run, uint64_t *done, uint64_t *selected, uint64_t *all)
{
    *done = run->done;
    *selected = run->sample ? run->sample : run->selected;
    *all = run->grid_blocks;
}

void wmi_run_set_l1(struct wmi_run *run, enum wm_l1 l1)
{
    run->l1 = l1;
}

const struct wm_kernel *wmi_run_kernel(const struct wmi_run *run)
{
    return &run->kernel;
}

const char *wmi_run_remark_at(struct wmi_run *run, size_t index, int *is_warning)
{
    const struct warning *warning;
    struct place place;

    *is_warning = 0;
    if (index < run->n_remarks)
        return run->remarks[index];
    index -= run->n_remarks;
    if (index > run->n_warnings || (index == run->n_warnings && !run->warnings_lost))
        return NULL;
    *is_warning = 1;
    if (index == run->n_warnings) {
        snprintf(run->text, sizeof run->text, "%llu more warnings", (unsigned long long)run->warnings_lost);
        return run->text;
    }
    warning = &run->warnings[index];
    place = run->program.places[warning->at];
    if (warning->count > 1)
        snprintf(run->text, sizeof run->text, "%s:%u:%u: %s (%llu times in this line)", run->c.files[place.file].name, place.line,
                 place.column, warning->text, (unsigned long long)warning->count);
    else
        snprintf(run->text, sizeof run->text, "%s:%u:%u: %s", run->c.files[place.file].name, place.line, place.column, warning->text);
    return run->text;
}

enum wm_status wmi_run_dump(struct wmi_run *run, const char *name, wm_write_function write, void *context, struct wm_diag *diag)
{
    for (uint32_t i = 0; i < run->n_buffers; i++) {
        struct buffer *buffer = &run->buffers[i];
        const uint64_t size = buffer->is_growing ? buffer->touched : buffer->size;

        if (strcmp(buffer->name, name) != 0)
            continue;
        for (uint64_t at = 0; at < size; at += WMI_PAGE_BYTES) {
            const uint64_t n = size - at < WMI_PAGE_BYTES ? size - at : WMI_PAGE_BYTES;
            uint8_t *page;
            int error;

            if (wmi_x_buffer_read(run, buffer, at >> WMI_PAGE_BITS, &page) != WM_OK)
                return wmi_diag_set(diag, WM_E_MEMORY, NULL, 0, 0, "%s does not fit into memory", name);
            error = write(context, (const char *)page, (size_t)n);
            if (error)
                return wmi_diag_set(diag, WM_E_IO, NULL, 0, 0, "cannot write %s: %s", name, strerror(error));
        }
        return WM_OK;
    }
    return wmi_diag_set(diag, WM_E_NAME, NULL, 0, 0, "%s has no buffer %s", run->kernel.name, name);
}
