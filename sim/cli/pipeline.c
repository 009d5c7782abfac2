/*
 * Each worker takes the next chunk of the input, parses and models it alone, and leaves a finished job in a ring. Jobs
 * leave the ring strictly in order: whoever finishes the oldest one adds it and those behind it to the results, while
 * the others go on. So results do not depend on the number of workers, and the first error of the input is the one that
 * is reported.
 *
 * Two locks: one for the input, held while a chunk is read; one for the ring. A worker that waits for a place in the
 * ring holds the input lock, so that later ones queue behind it; the oldest job never waits, so all get on.
 */
#include "config.h"

#include "pipeline.h"

#include "cli.h"
#include "message.h"
#include "progress.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Text of rows that finished jobs may hold back, over all of them; a job with more waits for its turn. */
#define ROW_TEXT_BYTES ((size_t)12 << 20)

/* Of a tally. */
#define MOST_GROUPS ((size_t)131072)

/* Where a row's text begins, and its number among the accesses of the job. */
struct row_mark {
    size_t offset;
    uint32_t index;
};

enum job_kind {
    JOB_CHUNK,
    JOB_FILE_END, /* what the reader has to say about a whole file */
    JOB_FAILURE   /* the input cannot be read on */
};

struct input_file {
    const char *path;
    wm_reader *reader;
    struct wm_reader_notes notes;
};

struct job {
    enum job_kind kind;
    uint64_t number; /* in the order of the input */
    int is_done;
    struct input_file *file;
    wm_chunk *chunk;
    wm_tally *tallies[PIPELINE_TALLIES];
    struct wm_reader_notes notes;
    int is_source;     /* of a kernel: --kernel has chosen it already */
    uint32_t accesses; /* of the chunk, left-out kernels included */
    uint64_t simulated;
    int is_bad; /* diag says why */
    struct wm_diag diag;
    /* rows that have not been written yet */
    struct row_cache cache;
    struct buffer text;
    struct row_mark *marks;
    size_t mark_count;
    size_t mark_size;
};

struct pipeline {
    const struct pipeline_options *options;
    struct pipeline_result result;

    pthread_mutex_t input_lock;
    struct input_file *files;
    size_t file_next; /* the file being read, or the next one to be opened */
    int input_ended;
    uint64_t jobs_taken;

    pthread_mutex_t ring_lock;
    pthread_cond_t ring_moved;
    struct job *ring;
    uint64_t ring_size;
    uint64_t jobs_added; /* jobs whose results are in */
    int is_adding;       /* somebody is at it */
    int is_stopped;      /* after a failure: nothing more is read or added */

    uint64_t index_base; /* accesses of the current file before the current job; whoever adds jobs has it */
    size_t row_text_limit;
};

/* ------------------------------------------------------------------------------------------------------------- input */

static enum wm_status set_diag(struct wm_diag *diag, enum wm_status status, const char *text)
{
    memset(diag, 0, sizeof *diag);
    diag->status = status;
    strncpy(diag->text, text, sizeof diag->text - 1);
    return status;
}

/* The next piece of input, as a job of some kind. The input lock is held. */
static void read_job(struct pipeline *pipeline, struct job *job)
{
    const struct launch_options *launch = pipeline->options->launch;
    const struct wm_reader_options options = {WM_FORMAT_AUTO, pipeline->options->l1,
                                              launch->is_given ? &launch->launch : NULL};
    struct input_file *file = &pipeline->files[pipeline->file_next];
    enum wm_status status = WM_OK;
    uint64_t consumed, total;

    job->file = file;
    set_diag(&job->diag, WM_E_MEMORY, wm_status_text(WM_E_MEMORY));
    if (!file->reader) {
        status = wm_reader_open(file->path, &options, &file->reader, &job->diag);
        if (!status && launch_refuses(launch, file->reader, file->path, &job->diag))
            status = WM_E_ARGUMENT;
    }
    if (!status)
        status = wm_reader_chunk(file->reader, &job->chunk, &job->diag);
    if (status == WM_END) {
        job->kind = JOB_FILE_END;
        pipeline->file_next++;
        pipeline->input_ended = pipeline->file_next == pipeline->options->file_count;
    } else if (status) {
        job->kind = JOB_FAILURE;
        job->is_bad = 1;
        pipeline->input_ended = 1;
    } else {
        job->kind = JOB_CHUNK;
        job->is_source = wm_reader_format(file->reader) == WM_FORMAT_CUDA;
        wm_reader_progress(file->reader, &consumed, &total);
        progress_update(file->path, (unsigned)pipeline->file_next, (unsigned)pipeline->options->file_count, consumed,
                        total);
    }
}

/* Waits until the ring has room for a job of that number. 0: nothing more is wanted. */
static int wait_for_room(struct pipeline *pipeline, uint64_t number)
{
    int is_stopped;

    pthread_mutex_lock(&pipeline->ring_lock);
    while (!pipeline->is_stopped && number - pipeline->jobs_added >= pipeline->ring_size)
        pthread_cond_wait(&pipeline->ring_moved, &pipeline->ring_lock);
    is_stopped = pipeline->is_stopped;
    pthread_mutex_unlock(&pipeline->ring_lock);
    return !is_stopped;
}

static struct job *take_job(struct pipeline *pipeline)
{
    struct job *job = NULL;

    pthread_mutex_lock(&pipeline->input_lock);
    if (!pipeline->input_ended && wait_for_room(pipeline, pipeline->jobs_taken)) {
        job = &pipeline->ring[pipeline->jobs_taken % pipeline->ring_size];
        job->number = pipeline->jobs_taken++;
        read_job(pipeline, job);
    }
    pthread_mutex_unlock(&pipeline->input_lock);
    return job;
}

/* ------------------------------------------------------------------------------------------------------------ results */

/* Writes the rows of a job whose turn it is. 0: that failed, and the reason has been given. */
static int write_rows(struct pipeline *pipeline, struct job *job)
{
    struct buffer *out = pipeline->options->rows;

    for (size_t i = 0; i < job->mark_count; i++) {
        size_t begin = job->marks[i].offset;
        size_t end = i + 1 < job->mark_count ? job->marks[i + 1].offset : job->text.length;

        row_finish(pipeline->options->format, pipeline->index_base + job->marks[i].index, pipeline->result.rows == 0,
                   job->text.data + begin, end - begin, out);
        pipeline->result.rows++;
    }
    job->mark_count = 0;
    buffer_clear(&job->text);
    return !out->failed;
}

/* Why something cannot be added to a tally. One that is full refuses a group; any, a sum. */
static const char *tally_failure(const wm_tally *tally, enum wm_status status)
{
    if (status != WM_E_RANGE)
        return wm_status_text(status);
    return wm_tally_row_at(tally, MOST_GROUPS - 1) ? "more than 131,072 groups" : "a sum above 2^63 - 1";
}

static void say_tally_failure(const struct pipeline_options *options, const wm_tally *tally, enum wm_status status)
{
    const int is_full = status == WM_E_RANGE && wm_tally_row_at(tally, MOST_GROUPS - 1);

    complain("%s%s%s", tally_failure(tally, status),
             is_full ? ": use a coarser grouping (--by kernel or --by opcode)" : "",
             is_full && options->has_page ? " and no --report" : "");
}

/* Adds a finished job to the results. 0: stop, as something went wrong; it has been said. */
static int add_job(struct pipeline *pipeline, struct job *job)
{
    struct wm_reader_notes notes;

    if (pipeline->options->rows && !write_rows(pipeline, job)) {
        if (pipeline->options->rows->failed == BUFFER_NO_MEMORY)
            complain("out of memory");
        return 0;
    }
    wm_reader_notes_add(&job->file->notes, &job->notes);
    pipeline->result.accesses += job->simulated;
    pipeline->index_base += job->accesses;
    for (int i = 0; i < PIPELINE_TALLIES; i++) {
        enum wm_status status;

        if (!job->tallies[i])
            continue;
        status = wm_tally_merge(pipeline->options->tallies[i], job->tallies[i]);
        if (status) {
            say_tally_failure(pipeline->options, pipeline->options->tallies[i], status);
            return 0;
        }
    }
    if (job->is_bad) {
        if (job->diag.file[0])
            complain_about(&job->diag);
        else
            complain("%s: %s", job->file->path, job->diag.text);
        return 0;
    }
    if (job->kind == JOB_FILE_END) {
        wm_reader_notes(job->file->reader, &notes);
        wm_reader_notes_add(&job->file->notes, &notes);
        warn_notes(job->file->path, &job->file->notes);
        if (launch_finish(pipeline->options->launch, job->file->reader) != 0)
            return 0;
        wm_reader_close(job->file->reader);
        job->file->reader = NULL;
        pipeline->index_base = 0;
    }
    return 1;
}

/* Frees what a job holds, but for memory that the next one in its place will want. */
static void clear_job(struct job *job)
{
    wm_chunk_free(job->chunk);
    job->chunk = NULL;
    for (int i = 0; i < PIPELINE_TALLIES; i++) {
        wm_tally_free(job->tallies[i]);
        job->tallies[i] = NULL;
    }
    memset(&job->notes, 0, sizeof job->notes);
    job->accesses = 0;
    job->simulated = 0;
    job->is_bad = 0;
    job->is_done = 0;
    job->mark_count = 0;
    buffer_clear(&job->text);
}

/* Hands a finished job in; adds it and its followers where it is the oldest. */
static void finish_job(struct pipeline *pipeline, struct job *job)
{
    pthread_mutex_lock(&pipeline->ring_lock);
    job->is_done = 1;
    while (!pipeline->is_adding && !pipeline->is_stopped) {
        struct job *oldest = &pipeline->ring[pipeline->jobs_added % pipeline->ring_size];
        int is_good;

        if (!oldest->is_done || oldest->number != pipeline->jobs_added)
            break;
        pipeline->is_adding = 1;
        pthread_mutex_unlock(&pipeline->ring_lock);
        is_good = add_job(pipeline, oldest);
        clear_job(oldest);
        pthread_mutex_lock(&pipeline->ring_lock);
        pipeline->is_adding = 0;
        pipeline->jobs_added++;
        if (!is_good)
            pipeline->is_stopped = 1;
        pthread_cond_broadcast(&pipeline->ring_moved);
    }
    pthread_mutex_unlock(&pipeline->ring_lock);
}

/* Waits until a job that is still being worked on is the oldest. 0: nothing more is wanted. */
static int wait_for_turn(struct pipeline *pipeline, const struct job *job)
{
    int is_stopped;

    pthread_mutex_lock(&pipeline->ring_lock);
    while (!pipeline->is_stopped && (pipeline->jobs_added != job->number || pipeline->is_adding))
        pthread_cond_wait(&pipeline->ring_moved, &pipeline->ring_lock);
    is_stopped = pipeline->is_stopped;
    pthread_mutex_unlock(&pipeline->ring_lock);
    return !is_stopped;
}

/* --------------------------------------------------------------------------------------------------------------- work */

/* The job's input is wrong at the access that came last. */
static void refuse(struct job *job, enum wm_status status, const char *text)
{
    job->is_bad = 1;
    set_diag(&job->diag, status, text);
    wm_chunk_place(job->chunk, &job->diag);
}

static void add_mark(struct job *job)
{
    if (job->mark_count == job->mark_size) {
        size_t size = job->mark_size ? job->mark_size * 2 : 1024;
        struct row_mark *marks = realloc(job->marks, size * sizeof *marks);

        if (!marks) {
            job->text.failed = BUFFER_NO_MEMORY;
            return;
        }
        job->marks = marks;
        job->mark_size = size;
    }
    job->marks[job->mark_count++] = (struct row_mark){job->text.length, job->accesses};
}

/* Writes what there is once it is too much to be held back. 0: stop. */
static int relieve(struct pipeline *pipeline, struct job *job)
{
    if (job->text.length + job->mark_count * sizeof *job->marks < pipeline->row_text_limit)
        return 1;
    return wait_for_turn(pipeline, job) && write_rows(pipeline, job);
}

/* One access. 0: the job ends here. */
static int simulate(struct pipeline *pipeline, struct job *job, const struct wm_access *access)
{
    const struct pipeline_options *options = pipeline->options;
    struct wm_counts counts;
    enum wm_status status;

    if (access->count > INT64_MAX) {
        refuse(job, WM_E_RANGE, "count is above 2^63 - 1");
        return 0;
    }
    status = wm_model(options->arch, access, &counts);
    if (status) {
        refuse(job, status, wm_status_text(status));
        wm_access_check(options->arch, access, &job->diag);
        return 0;
    }
    for (int i = 0; i < PIPELINE_TALLIES; i++) {
        status = job->tallies[i] ? wm_tally_add(job->tallies[i], access, &counts) : WM_OK;
        if (status) {
            refuse(job, status, tally_failure(job->tallies[i], status));
            return 0;
        }
    }
    job->simulated++;
    if (!options->rows)
        return 1;
    add_mark(job);
    row_add(&job->cache, access, &counts, &job->text);
    if (job->text.failed) {
        refuse(job, WM_E_MEMORY, wm_status_text(WM_E_MEMORY));
        return 0;
    }
    return relieve(pipeline, job);
}

static int start_work(const struct pipeline_options *options, struct job *job)
{
    int is_good = 1;

    for (int i = 0; i < PIPELINE_TALLIES; i++) {
        if (options->tallies[i] && wm_tally_new(options->arch, options->by[i], &job->tallies[i]) != WM_OK)
            is_good = 0;
    }
    if (options->rows && !row_cache_start(options->format, options->arch, options->geometry, &job->cache))
        is_good = 0;
    if (!is_good) {
        job->is_bad = 1;
        set_diag(&job->diag, WM_E_MEMORY, wm_status_text(WM_E_MEMORY));
    }
    return is_good;
}

static void work(struct pipeline *pipeline, struct job *job)
{
    const struct pipeline_options *options = pipeline->options;
    const struct wm_kernel *kernel = NULL;
    struct wm_access access;
    enum wm_status status;
    int is_wanted = 1;

    if (job->kind != JOB_CHUNK || !start_work(options, job))
        return;
    while ((status = wm_chunk_next(job->chunk, &access, &job->diag)) == WM_OK) {
        /* a kernel stays where it is as long as the chunk lives */
        if (options->kernel && !job->is_source && access.kernel != kernel) {
            kernel = access.kernel;
            is_wanted = regexec(options->kernel, kernel->name, 0, NULL, 0) == 0;
        }
        if (is_wanted && !simulate(pipeline, job, &access))
            break;
        job->accesses++;
    }
    if (status != WM_OK && status != WM_END)
        job->is_bad = 1;
    wm_chunk_notes(job->chunk, &job->notes);
    wm_chunk_free(job->chunk);
    job->chunk = NULL;
}

static void *worker(void *context)
{
    struct pipeline *pipeline = context;
    struct job *job;

    while ((job = take_job(pipeline)) != NULL) {
        work(pipeline, job);
        finish_job(pipeline, job);
    }
    return NULL;
}

/* This thread is one of the workers; where no more can be had, there are fewer. */
static void run_workers(struct pipeline *pipeline)
{
    pthread_t threads[PIPELINE_MOST_WORKERS];
    unsigned started = 0;

    while (started + 1 < pipeline->options->workers && pthread_create(&threads[started], NULL, worker, pipeline) == 0)
        started++;
    worker(pipeline);
    while (started)
        pthread_join(threads[--started], NULL);
}

int pipeline_run(const struct pipeline_options *options, struct pipeline_result *result)
{
    struct pipeline pipeline = {.options = options,
                                .input_lock = PTHREAD_MUTEX_INITIALIZER,
                                .ring_lock = PTHREAD_MUTEX_INITIALIZER,
                                .ring_moved = PTHREAD_COND_INITIALIZER,
                                .ring_size = options->workers > 1 ? options->workers + 2 : 1};

    pipeline.row_text_limit = ROW_TEXT_BYTES / pipeline.ring_size;
    pipeline.files = calloc(options->file_count, sizeof *pipeline.files);
    pipeline.ring = calloc(pipeline.ring_size, sizeof *pipeline.ring);
    if (!pipeline.files || !pipeline.ring) {
        complain("out of memory");
        pipeline.is_stopped = 1;
        goto done;
    }
    for (size_t i = 0; i < options->file_count; i++)
        pipeline.files[i].path = options->files[i];
    run_workers(&pipeline);
done:
    for (size_t i = 0; pipeline.ring && i < pipeline.ring_size; i++) {
        clear_job(&pipeline.ring[i]);
        row_cache_free(&pipeline.ring[i].cache);
        buffer_free(&pipeline.ring[i].text);
        free(pipeline.ring[i].marks);
    }
    for (size_t i = 0; pipeline.files && i < options->file_count; i++)
        wm_reader_close(pipeline.files[i].reader);
    free(pipeline.ring);
    free(pipeline.files);
    *result = pipeline.result;
    return pipeline.is_stopped ? -1 : 0;
}
