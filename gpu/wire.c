/* warpmem's side of the protocol. */
#include "config.h"

#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "warpmem-replay"
#define MOST_KEYS 32
#define MOST_INSTRUCTIONS 512

extern char **environ;

struct wire {
    pid_t child;
    FILE *to, *from;
    char *line;
    size_t line_size;
    char *keys[MOST_KEYS]; /* "key = value", cut at the blank before "=" */
    char *values[MOST_KEYS];
    size_t key_count;
    char *instructions; /* cut at blanks */
    const char *instruction[MOST_INSTRUCTIONS];
    size_t instruction_count;
    enum wm_counter counters[WM_COUNTERS]; /* of an answer's numbers */
    unsigned counter_count;
    struct plan_device device;
};

uint64_t wire_lane(const struct plan_limits *limits, const struct wm_access *access, unsigned lane)
{
    switch (access->opcode.space) {
    case WM_SHARED:
    case WM_LOCAL:
    case WM_CONST: return access->address[lane];
    default: break;
    }
    if (access->opcode.operation == WM_CP_ASYNC)
        return (access->address[lane] - limits->buffer) | (uint64_t)access->shared_address[lane] << WIRE_SHARED_SHIFT;
    return access->address[lane] - limits->buffer;
}

static enum wm_status refuse(struct wm_diag *diag, enum wm_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum wm_status refuse(struct wm_diag *diag, enum wm_status status, const char *format, ...)
{
    va_list arguments;

    memset(diag, 0, sizeof *diag);
    diag->status = status;
    va_start(arguments, format);
    vsnprintf(diag->text, sizeof diag->text, format, arguments);
    va_end(arguments);
    for (char *c = diag->text; *c; c++) {
        if (*c < 0x20 || *c > 0x7e)
            *c = '?';
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- program */

static char *join(const char *folder, size_t length, const char *rest)
{
    const size_t size = length + strlen(rest) + sizeof "/" PROGRAM;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%.*s%s/" PROGRAM, (int)length, folder, rest);
    if (path && access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *wire_find(void)
{
    const char *named = getenv("WARPMEM_REPLAY");
    char self[PATH_MAX];
    ssize_t length;
    char *path = NULL;

    if (named)
        return strdup(named);
    length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) {
        const char *slash;

        self[length] = '\0';
        slash = strrchr(self, '/');
        if (slash)
            path = join(self, (size_t)(slash - self), "");
        if (!path && slash) /* libtool keeps a program that is not installed yet in a folder .libs */
            path = join(self, (size_t)(slash - self), "/..");
    }
    return path ? path : join(WM_BINDIR, strlen(WM_BINDIR), "");
}

/* No other child gets its ends: it would keep this one from seeing the end of its requests. */
static int make_pipe(int ends[2])
{
    if (pipe(ends) != 0)
        return -1;
    return fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0 ? 0 : -1;
}

static enum wm_status start(const char *program, const struct wire_options *options, struct wire *wire,
                            struct wm_diag *diag)
{
    char device[16], buffer[32];
    char name[] = PROGRAM, serve[] = "--serve", device_option[] = "--device", buffer_option[] = "--buffer";
    char l1_option[] = "--l1", cycles_option[] = "--cycles-l1", miss[] = "miss", hit[] = "hit";
    char *arguments[] = {name,      serve, device_option,
                         device,    buffer_option, buffer,
                         l1_option, options->l1 == WM_L1_HIT ? hit : miss, cycles_option,
                         options->misses_timed ? miss : hit, NULL};
    int request[2] = {-1, -1}, answer[2] = {-1, -1};
    posix_spawn_file_actions_t actions;
    int error = 0;

    snprintf(device, sizeof device, "%u", options->device);
    snprintf(buffer, sizeof buffer, "%llu", (unsigned long long)(options->buffer_bytes >> 20));
    if (posix_spawn_file_actions_init(&actions) != 0)
        return refuse(diag, WM_E_MEMORY, "%s", wm_status_text(WM_E_MEMORY));
    if (make_pipe(request) != 0 || make_pipe(answer) != 0)
        error = errno;
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, request[0], 0);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, answer[1], 1);
    for (int i = 0; !error && i < 2; i++) {
        error = posix_spawn_file_actions_addclose(&actions, request[i]);
        if (!error)
            error = posix_spawn_file_actions_addclose(&actions, answer[i]);
    }
    if (!error)
        error = posix_spawn(&wire->child, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        wire->child = -1;
    if (request[0] >= 0)
        close(request[0]);
    if (answer[1] >= 0)
        close(answer[1]);
    wire->to = !error ? fdopen(request[1], "w") : NULL;
    wire->from = !error ? fdopen(answer[0], "r") : NULL;
    if (!wire->to && request[1] >= 0)
        close(request[1]);
    if (!wire->from && answer[0] >= 0)
        close(answer[0]);
    if (error)
        return refuse(diag, WM_E_IO, "%s cannot be started: %s", program, strerror(error));
    return wire->to && wire->from ? WM_OK : refuse(diag, WM_E_MEMORY, "%s", wm_status_text(WM_E_MEMORY));
}

/* -------------------------------------------------------------------------------------------------------------- lines */

/* Waits for the child, which has ended the conversation, and says how. */
static enum wm_status ended(struct wire *wire, struct wm_diag *diag)
{
    int status = 0;

    if (wire->child > 0 && waitpid(wire->child, &status, 0) == wire->child)
        wire->child = -1;
    if (WIFSIGNALED(status))
        return refuse(diag, WM_E_IO, PROGRAM " was ended by signal %d", WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return refuse(diag, WM_E_IO, PROGRAM " cannot run: a library that it needs is missing (CUDA's libcupti?)");
    return refuse(diag, WM_E_IO, PROGRAM " ended before it had answered (exit status %d)",
                  WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* The next line, without its end. `error TEXT` becomes the diagnostic. */
static enum wm_status read_line(struct wire *wire, struct wm_diag *diag)
{
    ssize_t length = getline(&wire->line, &wire->line_size, wire->from);

    if (length <= 0)
        return ended(wire, diag);
    if (wire->line[length - 1] == '\n')
        wire->line[length - 1] = '\0';
    if (strncmp(wire->line, "error ", 6) == 0)
        return refuse(diag, WM_E_UNSUPPORTED, "%s", wire->line + 6);
    return WM_OK;
}

static enum wm_status not_understood(const struct wire *wire, struct wm_diag *diag)
{
    return refuse(diag, WM_E_SYNTAX, PROGRAM " answers what is not understood: %.100s", wire->line);
}

const char *wire_get(const struct wire *wire, const char *key)
{
    for (size_t i = 0; i < wire->key_count; i++) {
        if (strcmp(wire->keys[i], key) == 0)
            return wire->values[i];
    }
    return NULL;
}

static uint64_t get_number(const struct wire *wire, const char *key)
{
    const char *text = wire_get(wire, key);

    return text ? strtoull(text, NULL, 0) : 0;
}

/* ----------------------------------------------------------------------------------------------------------- greeting */

static void cut_instructions(struct wire *wire)
{
    char *rest = wire->instructions, *word;

    while ((word = strtok_r(rest, " ", &rest)) != NULL && wire->instruction_count < MOST_INSTRUCTIONS)
        wire->instruction[wire->instruction_count++] = word;
}

/* Which of an answer's numbers is which counter. 0: a name is not known. */
static int find_counters(struct wire *wire)
{
    const char *text = wire_get(wire, "counters");

    while (text && *text) {
        const size_t length = strcspn(text, " ");
        int c = 0;

        while (c < WM_COUNTERS && (strlen(wm_counter_name((enum wm_counter)c)) != length ||
                                   strncmp(wm_counter_name((enum wm_counter)c), text, length) != 0))
            c++;
        if (c == WM_COUNTERS || wire->counter_count == WM_COUNTERS)
            return 0;
        wire->counters[wire->counter_count++] = (enum wm_counter)c;
        wire->device.measures |= UINT32_C(1) << c;
        text += length + (text[length] == ' ');
    }
    return 1;
}

static int can(void *context, const char *instruction)
{
    const struct wire *wire = context;

    for (size_t i = 0; i < wire->instruction_count; i++) {
        if (strcmp(wire->instruction[i], instruction) == 0)
            return 1;
    }
    return 0;
}

static enum wm_status measure(void *context, const struct plan_launch *launches, size_t n, plan_sums *sums,
                              struct wm_diag *diag);

static enum wm_status read_greeting(struct wire *wire, struct wm_diag *diag)
{
    struct plan_limits *limits = &wire->device.limits;
    enum wm_status status;

    while ((status = read_line(wire, diag)) == WM_OK && strcmp(wire->line, "ready") != 0) {
        char *equals = strstr(wire->line, " = ");

        if (!equals || wire->key_count == MOST_KEYS)
            return not_understood(wire, diag);
        *equals = '\0';
        wire->keys[wire->key_count] = strdup(wire->line);
        wire->values[wire->key_count] = strdup(equals + 3);
        if (!wire->keys[wire->key_count] || !wire->values[wire->key_count])
            return refuse(diag, WM_E_MEMORY, "%s", wm_status_text(WM_E_MEMORY));
        wire->key_count++;
    }
    if (status)
        return status;
    if (get_number(wire, "version") != WIRE_VERSION)
        return refuse(diag, WM_E_UNSUPPORTED, PROGRAM " is of another version than this program");
    wire->instructions = strdup(wire_get(wire, "instructions") ? wire_get(wire, "instructions") : "");
    if (!wire->instructions)
        return refuse(diag, WM_E_MEMORY, "%s", wm_status_text(WM_E_MEMORY));
    cut_instructions(wire);
    limits->buffer = get_number(wire, "buffer");
    limits->buffer_bytes = get_number(wire, "buffer_bytes");
    limits->shared_bytes = (uint32_t)get_number(wire, "shared_bytes");
    limits->local_bytes = (uint32_t)get_number(wire, "local_bytes");
    limits->const_bytes = (uint32_t)get_number(wire, "const_bytes");
    limits->launch_records = (unsigned)get_number(wire, "launch_records");
    limits->launches = (unsigned)get_number(wire, "launches");
    if (!find_counters(wire) || limits->buffer_bytes < PLAN_PAGE_BYTES || limits->buffer_bytes % PLAN_PAGE_BYTES ||
        limits->buffer % PLAN_PAGE_BYTES || !limits->launch_records || !limits->launches ||
        limits->launches > 100000)
        return refuse(diag, WM_E_SYNTAX, PROGRAM " says of itself what is not understood");
    wire->device.context = wire;
    wire->device.can = can;
    wire->device.measure = measure;
    return WM_OK;
}

enum wm_status wire_open(const char *program, const struct wire_options *options, struct wire **out,
                         struct wm_diag *diag)
{
    struct wire *wire = calloc(1, sizeof *wire);
    enum wm_status status;

    if (!wire)
        return refuse(diag, WM_E_MEMORY, "%s", wm_status_text(WM_E_MEMORY));
    signal(SIGPIPE, SIG_IGN); /* a child that has gone shall be an error of fflush() */
    status = start(program, options, wire, diag);
    if (!status)
        status = read_greeting(wire, diag);
    if (status) {
        wire_close(wire);
        return status;
    }
    *out = wire;
    return WM_OK;
}

const struct plan_device *wire_device(const struct wire *wire)
{
    return &wire->device;
}

void wire_close(struct wire *wire)
{
    if (!wire)
        return;
    if (wire->to)
        fclose(wire->to);
    if (wire->from)
        fclose(wire->from);
    if (wire->child > 0)
        waitpid(wire->child, NULL, 0);
    for (size_t i = 0; i < wire->key_count; i++) {
        free(wire->keys[i]);
        free(wire->values[i]);
    }
    free(wire->instructions);
    free(wire->line);
    free(wire);
}

/* --------------------------------------------------------------------------------------------------------- measuring */

static void write_record(const struct wire *wire, const struct wm_access *access)
{
    fprintf(wire->to, "%x", access->mask);
    for (uint32_t rest = access->mask; rest; rest &= rest - 1)
        fprintf(wire->to, " %llx", (unsigned long long)wire_lane(&wire->device.limits, access,
                                                                 (unsigned)__builtin_ctz(rest)));
    putc('\n', wire->to);
}

/* Sends what has been written. Where the child has gone, what it said last is the diagnostic. */
static enum wm_status send_all(struct wire *wire, struct wm_diag *diag)
{
    enum wm_status status;

    if (fflush(wire->to) == 0)
        return WM_OK;
    while ((status = read_line(wire, diag)) == WM_OK) {
    }
    return status;
}

static enum wm_status measure(void *context, const struct plan_launch *launches, size_t n, plan_sums *sums,
                              struct wm_diag *diag)
{
    struct wire *wire = context;
    enum wm_status status;

    for (size_t i = 0; i < n; i++) {
        fprintf(wire->to, "launch %s %u\n", launches[i].instruction, launches[i].count);
        for (unsigned k = 0; k < launches[i].count; k++)
            write_record(wire, &launches[i].accesses[k]);
    }
    fputs("go\n", wire->to);
    status = send_all(wire, diag);
    for (size_t i = 0; !status && i < n; i++) {
        char *rest;

        memset(sums[i], 0, sizeof sums[i]);
        status = read_line(wire, diag);
        if (status)
            return status;
        rest = wire->line;
        for (unsigned c = 0; c < wire->counter_count; c++) {
            char *end;

            sums[i][wire->counters[c]] = strtoull(rest, &end, 10);
            if (end == rest)
                return not_understood(wire, diag);
            rest = end;
        }
    }
    if (!status)
        status = read_line(wire, diag);
    return !status && strcmp(wire->line, "done") != 0 ? not_understood(wire, diag) : status;
}

enum wm_status wire_cycles(struct wire *wire, const char *instruction, const struct wm_access *access,
                           double *one_warp, double *full_block, struct wm_diag *diag)
{
    enum wm_status status;
    char *end;

    fprintf(wire->to, "cycles %s\n", instruction);
    write_record(wire, access);
    status = send_all(wire, diag);
    if (!status)
        status = read_line(wire, diag);
    if (status)
        return status;
    *one_warp = strtod(wire->line, &end);
    *full_block = strtod(end, &end);
    return *end ? not_understood(wire, diag) : WM_OK;
}
