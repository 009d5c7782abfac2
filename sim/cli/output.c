#include "output.h"

#include "buffer.h"
#include "cli.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Held in memory before a file is used. */
#define HOLD_BYTES ((size_t)4 << 20)
#define COPY_BYTES ((size_t)1 << 16)

struct output {
    char *name;           /* for messages */
    char *path;           /* what the temporary file is renamed to; NULL: the destination is a stream */
    char *temporary;      /* its path until then */
    mode_t mode;          /* of the finished file */
    int stream;           /* file descriptor of a stream destination; -1: none */
    int file;             /* the temporary file's descriptor; -1: there is none (yet) */
    struct buffer buffer; /* what has not been written to file */
    struct output *next;  /* what is committed with it */
};

/* The temporary files that a signal has to remove. */
#define MOST_UNFINISHED 64
static char *volatile unfinished[MOST_UNFINISHED];

static void on_signal(int number)
{
    for (size_t i = 0; i < MOST_UNFINISHED; i++) {
        if (unfinished[i])
            unlink(unfinished[i]);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void handle_signals(void (*handler)(int))
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old;

        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            signal(numbers[i], handler);
    }
}

static void remove_on_signal(char *path)
{
    size_t i = 0;

    while (i < MOST_UNFINISHED && unfinished[i])
        i++;
    if (i < MOST_UNFINISHED)
        unfinished[i] = path;
    handle_signals(on_signal);
}

/* The file is finished, or gone. */
static void forget_on_signal(const char *path)
{
    int is_any = 0;

    for (size_t i = 0; i < MOST_UNFINISHED; i++) {
        if (unfinished[i] == path)
            unfinished[i] = NULL;
        if (unfinished[i])
            is_any = 1;
    }
    if (!is_any)
        handle_signals(SIG_DFL);
}

static int write_all(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t n = write(fd, text, length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            struct pollfd ready = {.fd = fd, .events = POLLOUT};

            if (poll(&ready, 1, -1) >= 0 || errno == EINTR)
                continue;
        }
        if (n < 0)
            return -1;
        text += n;
        length -= (size_t)n;
    }
    return 0;
}

static int fail(const char *name, const char *doing)
{
    complain("%s: %s%s", name, doing, strerror(errno));
    return -1;
}

static mode_t default_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

/* A temporary file in the folder of path. */
static int open_beside(struct output *output)
{
    const char *slash = strrchr(output->path, '/');
    int folder = slash ? (int)(slash - output->path) + 1 : 0;
    size_t size = (size_t)folder + sizeof ".warpmem.XXXXXX";

    output->temporary = malloc(size);
    if (!output->temporary)
        return fail(output->name, "");
    snprintf(output->temporary, size, "%.*s.warpmem.XXXXXX", folder, output->path);
    output->file = mkstemp(output->temporary);
    if (output->file < 0) {
        fail(output->name, "cannot write a file beside it: ");
        free(output->temporary);
        output->temporary = NULL;
        return -1;
    }
    remove_on_signal(output->temporary);
    return 0;
}

/* The descriptor that a path is another name for: to put a file in its place would not reach what is open. -1: none. */
static int named_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *digits = path + strlen(folders[i]);

        if (strncmp(path, folders[i], strlen(folders[i])) == 0 && *digits >= '0' && *digits <= '9' &&
            strlen(digits) <= 6 && digits[strspn(digits, "0123456789")] == '\0')
            return (int)strtol(digits, NULL, 10);
    }
    return -1;
}

static int open_path(struct output *output, const char *path)
{
    struct stat info;
    int descriptor = named_descriptor(path);

    if (descriptor >= 0) {
        output->stream = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        return output->stream < 0 ? fail(output->name, "") : 0;
    }
    if (stat(path, &info) != 0) {
        /* a link to nowhere is not replaced by a file */
        if (errno != ENOENT || lstat(path, &info) == 0)
            return fail(output->name, "");
        output->path = strdup(path);
        output->mode = default_mode();
    } else if (S_ISREG(info.st_mode)) {
        output->path = realpath(path, NULL); /* a link stays one */
        output->mode = info.st_mode & 0777;
        if (access(path, W_OK) != 0)
            return fail(output->name, "");
    } else {
        output->stream = open(path, O_WRONLY);
        return output->stream < 0 ? fail(output->name, "") : 0;
    }
    if (!output->path)
        return fail(output->name, "");
    return open_beside(output);
}

int output_open(const char *path, struct output **out)
{
    struct output *output = calloc(1, sizeof *output);

    if (!output) {
        complain("out of memory");
        return -1;
    }
    output->stream = -1;
    output->file = -1;
    output->name = strdup(path ? path : "standard output");
    if (!output->name) {
        complain("out of memory");
    } else if (!path) {
        output->stream = STDOUT_FILENO;
        *out = output;
        return 0;
    } else if (open_path(output, path) == 0) {
        *out = output;
        return 0;
    }
    output_close(output);
    return -1;
}

/* A file without a name, for what is held back and does not fit in memory. */
static int open_unlinked(struct output *output)
{
    const char *folder = getenv("TMPDIR");
    struct buffer path = {0};

    buffer_printf(&path, "%s/warpmem.XXXXXX", folder && *folder ? folder : "/tmp");
    output->file = path.failed ? -1 : mkstemp(path.data);
    if (output->file >= 0)
        unlink(path.data);
    buffer_free(&path);
    return output->file < 0 ? fail("temporary file", "") : 0;
}

/* Moves what is in memory into the file. */
static int flush(struct output *output)
{
    if (output->file < 0 && open_unlinked(output) != 0)
        return -1;
    if (write_all(output->file, output->buffer.data, output->buffer.length) != 0)
        return fail(output->path ? output->name : "temporary file", "");
    buffer_clear(&output->buffer);
    return 0;
}

int output_write(struct output *output, const char *text, size_t length)
{
    if (output->buffer.length + length > HOLD_BYTES && output->buffer.length && flush(output) != 0)
        return -1;
    buffer_add(&output->buffer, text, length);
    if (output->buffer.failed) {
        complain("out of memory");
        return -1;
    }
    return 0;
}

/* Everything that was held back goes out. */
static int copy_to_stream(struct output *output)
{
    char *piece;
    ssize_t n = 0;
    int status = 0;

    if (output->file < 0) {
        if (write_all(output->stream, output->buffer.data, output->buffer.length) != 0)
            return fail(output->name, "");
        return 0;
    }
    if (flush(output) != 0)
        return -1;
    piece = malloc(COPY_BYTES);
    if (!piece || lseek(output->file, 0, SEEK_SET) != 0) {
        status = fail("temporary file", "");
    } else {
        while (status == 0 && (n = read(output->file, piece, COPY_BYTES)) > 0) {
            if (write_all(output->stream, piece, (size_t)n) != 0)
                status = fail(output->name, "");
        }
        if (n < 0)
            status = fail("temporary file", "");
    }
    free(piece);
    return status;
}

/* All of a file but its name. */
static int complete_file(struct output *output)
{
    int file = output->file;

    if (flush(output) != 0)
        return -1;
    output->file = -1;
    if (fchmod(file, output->mode) != 0) {
        fail(output->name, "");
        close(file);
        return -1;
    }
    /* a network file system tells only now that the disk is full */
    return close(file) == 0 ? 0 : fail(output->name, "");
}

static int commit_stream(struct output *output)
{
    int stream = output->stream;

    if (copy_to_stream(output) != 0)
        return -1;
    output->stream = -1;
    return close(stream) == 0 ? 0 : fail(output->name, "");
}

static int rename_file(struct output *output)
{
    if (rename(output->temporary, output->path) != 0)
        return fail(output->name, "");
    forget_on_signal(output->temporary);
    free(output->temporary);
    output->temporary = NULL;
    return 0;
}

void output_tie(struct output *output, struct output *other)
{
    while (output->next)
        output = output->next;
    output->next = other;
}

int output_commit(struct output *output)
{
    struct output *other;

    for (other = output; other; other = other->next) {
        if (other->path && complete_file(other) != 0)
            return -1;
    }
    for (other = output; other; other = other->next) {
        if (!other->path && commit_stream(other) != 0)
            return -1;
    }
    /* what hardly ever fails comes last: it is all or nothing, as far as can be */
    for (other = output; other; other = other->next) {
        if (other->path && rename_file(other) != 0)
            return -1;
    }
    return 0;
}

void output_close(struct output *output)
{
    if (!output)
        return;
    if (output->file >= 0)
        close(output->file);
    if (output->temporary) {
        unlink(output->temporary);
        forget_on_signal(output->temporary);
    }
    if (output->stream > STDERR_FILENO)
        close(output->stream);
    buffer_free(&output->buffer);
    free(output->temporary);
    free(output->path);
    free(output->name);
    free(output);
}

int output_print(const char *text)
{
    struct output *output;
    int status;

    if (output_open(NULL, &output) != 0)
        return -1;
    status = output_write(output, text, strlen(text));
    if (status == 0)
        status = output_commit(output);
    output_close(output);
    return status;
}

/* ------------------------------------------------------------------------------------------- what is read and written */

/* What a path leads to: a regular file, or one that there is not yet, by its folder and name. */
struct place {
    int is_known;
    dev_t device;
    ino_t number;
    char *missing; /* its name in that folder; NULL: there is a file */
};

static struct place place_of_file(const struct stat *info)
{
    return (struct place){S_ISREG(info->st_mode), info->st_dev, info->st_ino, NULL};
}

static struct place place_of_descriptor(int descriptor)
{
    struct stat info;

    return fstat(descriptor, &info) == 0 ? place_of_file(&info) : (struct place){.is_known = 0};
}

static struct place place_of_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    struct place place = {.is_known = 0};
    struct stat info;

    if (stat(path, &info) == 0) {
        place = place_of_file(&info);
    } else if (folder && stat(folder, &info) == 0) {
        place = (struct place){1, info.st_dev, info.st_ino, strdup(slash ? slash + 1 : path)};
        place.is_known = place.missing != NULL;
    }
    free(folder);
    return place;
}

static int is_same_place(const struct place *a, const struct place *b)
{
    return a->is_known && b->is_known && a->device == b->device && a->number == b->number && !a->missing == !b->missing &&
           (!a->missing || strcmp(a->missing, b->missing) == 0);
}

static const char *use_name(const struct file_use *use)
{
    return use->path ? use->path : use->is_written ? "standard output" : "standard input";
}

static struct place place_of_use(const struct file_use *use)
{
    if (use->path)
        return place_of_path(use->path);
    return place_of_descriptor(use->is_written ? STDOUT_FILENO : STDIN_FILENO);
}

/* Streams take what two write, one behind the other. */
static int is_stream(const struct file_use *use)
{
    return !use->path || named_descriptor(use->path) >= 0;
}

static void add_use(struct file_uses *uses, const char *path, int is_written)
{
    struct file_use *more = realloc(uses->list, (uses->count + 1) * sizeof *more);

    if (!more) {
        uses->has_failed = 1;
        return;
    }
    uses->list = more;
    more[uses->count++] = (struct file_use){path, is_written};
}

void file_is_read(struct file_uses *uses, const char *path)
{
    if (path)
        add_use(uses, strcmp(path, "-") == 0 ? NULL : path, 0);
}

void file_is_written(struct file_uses *uses, const char *path)
{
    add_use(uses, path, 1);
}

/* -1: nothing is wrong with an output; else the exit status. */
static int check_use(const char *command, const struct file_uses *uses, const struct place *places, size_t written)
{
    const struct file_use *output = &uses->list[written];

    for (size_t i = 0; i < uses->count; i++) {
        const struct file_use *other = &uses->list[i];

        if (!is_same_place(&places[i], &places[written]) || i == written)
            continue;
        if (!other->is_written)
            return usage_error(command, "%s is read, too: write to another file", use_name(output));
        if (!is_stream(output) || !is_stream(other))
            return usage_error(command, "%s and %s are one file: each output needs a file of its own", use_name(output),
                               use_name(other));
    }
    return -1;
}

int files_are_apart(const char *command, struct file_uses *uses)
{
    struct place *places = uses->count ? calloc(uses->count, sizeof *places) : NULL;
    int status = -1;

    if (uses->has_failed || (uses->count && !places)) {
        complain("out of memory");
        status = EXIT_BAD;
        goto done;
    }
    for (size_t i = 0; i < uses->count; i++)
        places[i] = place_of_use(&uses->list[i]);
    for (size_t i = 0; i < uses->count && status < 0; i++) {
        if (uses->list[i].is_written)
            status = check_use(command, uses, places, i);
    }
done:
    for (size_t i = 0; places && i < uses->count; i++)
        free(places[i].missing);
    free(places);
    free(uses->list);
    *uses = (struct file_uses){.count = 0};
    return status;
}
