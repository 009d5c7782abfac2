#include "progress.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Milliseconds of work before the bar first shows, and between two drawings. */
#define FIRST_MS 500
#define NEXT_MS 100

/* From when on a kernel's run is so long that fewer blocks are worth a word. */
#define LONG_MS 5000

#define BAR_CELLS 24
#define NAME_CELLS 28

static struct {
    pthread_mutex_t lock;
    int on;
    int shown_cells; /* width of what is on the terminal now */
    int64_t next_ms;
    int64_t long_ms;
    int has_hinted;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void erase(void)
{
    if (progress.shown_cells)
        fprintf(stderr, "\r%*s\r", progress.shown_cells, "");
    progress.shown_cells = 0;
}

static void draw(const char *file, unsigned index, unsigned count, uint64_t consumed, uint64_t total)
{
    static const char cells[BAR_CELLS + 1] = "########################";
    size_t length = strlen(file);
    const char *name = length > NAME_CELLS ? file + length - NAME_CELLS : file;
    char text[160];
    int width;

    if (total) {
        double share = consumed < total ? (double)consumed / (double)total : 1.0;
        int filled = (int)(share * BAR_CELLS);

        width = snprintf(text, sizeof text, "[%.*s%*s] %3d %%  %s", filled, cells, BAR_CELLS - filled, "",
                         (int)(share * 100), name);
    } else {
        width = snprintf(text, sizeof text, "%.0f MiB read  %s", (double)consumed / 1048576.0, name);
    }
    if (count > 1)
        width += snprintf(text + width, sizeof text - (size_t)width, " (%u of %u)", index + 1, count);
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) /* of a name */
            *c = '?';
    }
    erase();
    fputs(text, stderr);
    fflush(stderr);
    progress.shown_cells = width;
}

/* Once: what makes the run of a kernel shorter. */
static void hint(const char *file, int64_t now)
{
    const size_t length = strlen(file);

    if (progress.has_hinted || now < progress.long_ms || length < 3 || strcmp(file + length - 3, ".cu") != 0)
        return;
    erase();
    fputs("warpmem: note: this may take long; --sample N runs N blocks of the grid only\n", stderr);
    progress.has_hinted = 1;
}

void progress_start(void)
{
    if (!isatty(STDERR_FILENO))
        return;
    pthread_mutex_lock(&progress.lock);
    progress.on = 1;
    progress.next_ms = now_ms() + FIRST_MS;
    progress.long_ms = now_ms() + LONG_MS;
    pthread_mutex_unlock(&progress.lock);
}

void progress_update(const char *file, unsigned index, unsigned count, uint64_t consumed, uint64_t total)
{
    int64_t now;

    pthread_mutex_lock(&progress.lock);
    if (progress.on && (now = now_ms()) >= progress.next_ms) {
        hint(file, now);
        draw(file, index, count, consumed, total);
        progress.next_ms = now + NEXT_MS;
    }
    pthread_mutex_unlock(&progress.lock);
}

void progress_stop(void)
{
    pthread_mutex_lock(&progress.lock);
    erase();
    fflush(stderr);
    progress.on = 0;
    pthread_mutex_unlock(&progress.lock);
}

void progress_hold(void)
{
    pthread_mutex_lock(&progress.lock);
    erase();
}

void progress_release(void)
{
    fflush(stderr);
    pthread_mutex_unlock(&progress.lock);
}
