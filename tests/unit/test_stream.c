/* Files and what can be wrong with them; compression, whole, cut short and damaged; memory. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reading.h"
#include "trace/trace.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* ---------------------------------------------------------------------------------------------------------- formats */

static void formats_have_names(void **state)
{
    static const enum wm_format formats[] = {WM_FORMAT_TEXT, WM_FORMAT_ACCELSIM, WM_FORMAT_NVBIT};

    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        assert_int_equal(wm_format_by_name(wm_format_name(formats[i])), formats[i]);
    assert_string_equal(wm_format_name(WM_FORMAT_TEXT), "text");
    assert_string_equal(wm_format_name(WM_FORMAT_ACCELSIM), "accelsim");
    assert_string_equal(wm_format_name(WM_FORMAT_NVBIT), "nvbit");
    assert_null(wm_format_name(WM_FORMAT_AUTO));
    assert_null(wm_format_name((enum wm_format)99));
    assert_int_equal(wm_format_by_name("auto"), WM_FORMAT_AUTO);
    assert_int_equal(wm_format_by_name("Text"), WM_FORMAT_AUTO);
    assert_int_equal(wm_format_by_name(NULL), WM_FORMAT_AUTO);
}

static enum wm_format format_of(const char *text, size_t size)
{
    wm_reader *reader;
    enum wm_format format;

    if (wmi_reader_open_memory(text, size, NULL, WMI_CHUNK_BYTES, &reader, NULL) != WM_OK)
        return WM_FORMAT_AUTO;
    format = wm_reader_format(reader);
    wm_reader_close(reader);
    return format;
}

static void formats_are_told_by_content(void **state)
{
    static const struct {
        const char *text;
        enum wm_format format;
    } cases[] = {
        {"wmt 1\n", WM_FORMAT_TEXT},
        {"\n# MEMTRACE: CTX 0x1 is what a comment may say\nwmt 1\n", WM_FORMAT_TEXT},
        {"# only a comment", WM_FORMAT_TEXT},
        {"wmt 9\n", WM_FORMAT_TEXT},
        {"-kernel name = k\n", WM_FORMAT_ACCELSIM},
        {"\n-grid dim = (1,1,1)\n", WM_FORMAT_ACCELSIM},
        {"#traces format = x\n", WM_FORMAT_ACCELSIM},
        {"#BEGIN_TB\n", WM_FORMAT_ACCELSIM},
        {"kernel-1.traceg.xz\n", WM_FORMAT_ACCELSIM},
        {"MemcpyHtoD,0x0000000502000000,800000\n", WM_FORMAT_ACCELSIM},
        {"/a/b/c.traceg", WM_FORMAT_ACCELSIM},
        {"kernel launched\nMEMTRACE: CTX 0x1 - LAUNCH - \n", WM_FORMAT_NVBIT},
        {"------------- NVBit (NVidia Binary Instrumentation Tool v1.5.5) Loaded --------------\n", WM_FORMAT_NVBIT},
        {"hello\n", WM_FORMAT_AUTO},
        {"", WM_FORMAT_AUTO},
        {"\x7f"
         "ELF\x02\x01\x01",
         WM_FORMAT_AUTO},
        {"{\"a\": 1}\n", WM_FORMAT_AUTO},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (format_of(cases[i].text, strlen(cases[i].text)) != cases[i].format)
            fail_msg("format %d of: %s", (int)format_of(cases[i].text, strlen(cases[i].text)), cases[i].text);
    }
    assert_fails("hello\n", 6, WM_FORMAT_AUTO, WM_E_SYNTAX, 0, 0, "not a trace of a known format");
    assert_fails("", 0, WM_FORMAT_AUTO, WM_E_SYNTAX, 0, 0, "empty");
    /* Far behind what a program printed first. */
    {
        char *text = malloc(700000);

        assert_non_null(text);
        memset(text, 'x', 699000);
        for (size_t k = 99; k < 699000; k += 100)
            text[k] = '\n';
        strcpy(text + 699000, "MEMTRACE: CTX 0x1 - LAUNCH - \n");
        assert_int_equal(format_of(text, strlen(text)), WM_FORMAT_NVBIT);
        free(text);
    }
}

static void wrong_arguments(void **state)
{
    struct wm_reader_options options = {.format = (enum wm_format)77};
    wm_reader *reader = NULL;
    struct wm_access access;
    wm_chunk *chunk = NULL;

    (void)state;
    assert_int_equal(wm_reader_open("x", &options, &reader, NULL), WM_E_ARGUMENT);
    options = (struct wm_reader_options){.l1 = (enum wm_l1)2};
    assert_int_equal(wm_reader_open("x", &options, &reader, NULL), WM_E_ARGUMENT);
    assert_int_equal(wm_reader_open(NULL, NULL, &reader, NULL), WM_E_ARGUMENT);
    assert_int_equal(wm_reader_open("x", NULL, NULL, NULL), WM_E_ARGUMENT);
    assert_int_equal(wm_reader_next(NULL, &access, NULL), WM_E_ARGUMENT);
    assert_int_equal(wm_reader_chunk(NULL, &chunk, NULL), WM_E_ARGUMENT);
    assert_int_equal(wm_chunk_next(NULL, &access, NULL), WM_E_ARGUMENT);
    assert_null(reader);
    assert_null(chunk);
    wm_reader_close(NULL);
    wm_chunk_free(NULL);
}

/* ----------------------------------------------------------------------------------------------------- tests/data */

/* A row of the table in tests/data/README.md. */
static void check_sample(const char *name, const char *result)
{
    const int is_good = strncmp(name, "good-", 5) == 0;
    char file[256];
    struct reading *reading;
    unsigned long long line = 0;
    unsigned long long column = 0;
    char found[64];

    snprintf(file, sizeof file, "tests/data/%s", name);
    reading = read_path(source_path(file), WM_FORMAT_AUTO);
    if (is_good) {
        assert_int_equal(reading->status, WM_END);
        snprintf(found, sizeof found, "%zu", reading->count);
    } else {
        if (strncmp(name, "unsupported-", 12) == 0)
            assert_int_equal(reading->status, WM_E_UNSUPPORTED);
        else
            assert_true(reading->status == WM_E_SYNTAX || reading->status == WM_E_RANGE || reading->status == WM_E_IO);
        line = (unsigned long long)reading->diag.line;
        column = (unsigned long long)reading->diag.column;
        snprintf(found, sizeof found, "%llu:%llu", line, column);
    }
    if (strcmp(found, result) != 0)
        fail_msg("%s: %s, not %s: %s", name, found, result, is_good ? "" : reading->diag.text);
    free_reading(reading);
}

static void samples_are_as_their_names_say(void **state)
{
    FILE *table = fopen(source_path("tests/data/README.md"), "r");
    char row[512];
    int rows = 0;

    (void)state;
    assert_non_null(table);
    while (fgets(row, sizeof row, table)) {
        char name[64];
        char result[32];

        if (sscanf(row, "| `%63[^`]` | %31[0-9:] |", name, result) != 2)
            continue;
        check_sample(name, result);
        rows++;
    }
    fclose(table);
    assert_true(rows >= 20);
}

/* ------------------------------------------------------------------------------------------------------------ files */

static char path[] = "/tmp/warpmem-test-XXXXXX";

static int make_path(void **state)
{
    const int fd = mkstemp(path);

    (void)state;
    return fd >= 0 && close(fd) == 0 ? 0 : -1;
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static void put_file(const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void expect_open_error(const char *name, enum wm_status status, const char *part)
{
    struct wm_diag diag;
    wm_reader *reader = NULL;

    assert_int_equal(wm_reader_open(name, NULL, &reader, &diag), status);
    assert_null(reader);
    assert_int_equal(diag.status, status);
    assert_string_equal(diag.file, name);
    if (!strstr(diag.text, part))
        fail_msg("'%s' is not in '%s'", part, diag.text);
    assert_int_equal(wm_reader_open(name, NULL, &reader, NULL), status);
}

static void files_that_cannot_be_read(void **state)
{
    (void)state;
    expect_open_error("/nonexistent/trace.wmt", WM_E_IO, "No such file or directory");
    expect_open_error("/", WM_E_IO, "Is a directory");
    put_file("", 0);
    expect_open_error(path, WM_E_SYNTAX, "empty");
    if (geteuid() != 0) {
        assert_int_equal(chmod(path, 0), 0);
        expect_open_error(path, WM_E_IO, "Permission denied");
        assert_int_equal(chmod(path, 0600), 0);
    }
}

static void a_long_path_is_cut_at_its_front(void **state)
{
    char name[600];
    struct wm_diag diag;
    wm_reader *reader;

    (void)state;
    memset(name, 'a', sizeof name - 1);
    strcpy(name + sizeof name - 12, "/trace.wmt");
    assert_int_equal(wm_reader_open(name, NULL, &reader, &diag), WM_E_IO);
    assert_int_equal(strlen(diag.file), WM_DIAG_FILE_SIZE - 1);
    assert_string_equal(diag.file + strlen(diag.file) - 10, "/trace.wmt");
}

/* Runs the child with its output as our standard input; returns what could be read from there. */
static struct reading *read_from(void (*child)(int fd))
{
    int ends[2];
    int saved = dup(STDIN_FILENO);
    struct reading *reading;
    pid_t pid;
    int status;

    assert_true(saved >= 0 && pipe(ends) == 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        signal(SIGPIPE, SIG_DFL);
        child(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    reading = read_path("-", WM_FORMAT_AUTO);
    /* Standard input is not ours to close. */
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    close(saved);
    waitpid(pid, &status, 0);
    return reading;
}

static void put_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        const ssize_t n = write(fd, text, size);

        if (n <= 0)
            _exit(1);
        text += n;
        size -= (size_t)n;
    }
}

static void write_in_pieces(int fd)
{
    static const char text[] = "wmt 1\nld.global.b32 ffffffff 0x100+4\nld.global.b32 ffffffff 0x200+4\n";

    for (size_t i = 0; i < sizeof text - 1; i++)
        put_all(fd, text + i, 1);
}

static void standard_input_is_read_as_it_comes(void **state)
{
    struct reading *reading = read_from(write_in_pieces);

    (void)state;
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 2);
    assert_int_equal(reading->accesses[1].access.address[0], 0x200);
    free_reading(reading);
}

static void progress_reaches_the_end(void **state)
{
    static const char line[] = "ld.global.b32 ffffffff 0x0+4\n";
    const size_t size = 6 + 200000 * (sizeof line - 1);
    char *text = malloc(size + 1);
    struct wm_access access;
    uint64_t consumed;
    uint64_t total;
    uint64_t before = 0;
    wm_reader *reader;

    (void)state;
    assert_non_null(text);
    strcpy(text, "wmt 1\n");
    for (size_t at = 6; at < size; at += sizeof line - 1)
        memcpy(text + at, line, sizeof line - 1);
    put_file(text, size);
    free(text);
    assert_int_equal(wm_reader_open(path, NULL, &reader, NULL), WM_OK);
    while (wm_reader_next(reader, &access, NULL) == WM_OK) {
        wm_reader_progress(reader, &consumed, &total);
        assert_true(consumed >= before && consumed <= total);
        assert_int_equal(total, size);
        before = consumed;
    }
    wm_reader_progress(reader, &consumed, &total);
    assert_int_equal(consumed, size);
    assert_int_equal(total, size);
    wm_reader_close(reader);
}

/* ----------------------------------------------------------------------------------------------------------- memory */

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static char junk[1 << 16];

static void write_100_mb_without_newline(int fd)
{
    static const char head[] = "wmt 1\nld.global.b32 ffffffff 0x100+4\n";

    memset(junk, 'a', sizeof junk);
    put_all(fd, head, sizeof head - 1);
    for (int i = 0; i < 1600; i++)
        put_all(fd, junk, sizeof junk);
}

static void write_100_mb_of_program_output(int fd)
{
    static const char head[] = "MEMTRACE: STARTING\nMEMTRACE: CTX 0x1 - STARTING\n";

    memset(junk, 'a', sizeof junk);
    put_all(fd, head, sizeof head - 1);
    for (int i = 0; i < 1600; i++)
        put_all(fd, junk, sizeof junk);
}

/* Kernels by the thousand, hardly used. */
static void write_many_kernels(int fd)
{
    size_t size = 0;

    put_all(fd, "wmt 1\n", 6);
    while (size + 100 < sizeof junk)
        size += (size_t)sprintf(junk + size, "kernel a\nld.local.b8 00000000 0\n");
    for (int i = 0; i < 1000; i++)
        put_all(fd, junk, size);
}

static long peak_kib(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Reads standard input to its end without keeping anything. */
static enum wm_status drain(uint64_t *count, struct wm_diag *diag)
{
    wm_reader *reader;
    struct wm_access access;
    enum wm_status status = wm_reader_open("-", NULL, &reader, diag);

    *count = 0;
    if (status != WM_OK)
        return status;
    while ((status = wm_reader_next(reader, &access, diag)) == WM_OK)
        ++*count;
    wm_reader_close(reader);
    return status;
}

static void expect_bounded(void (*child)(int fd), enum wm_status expected, uint64_t accesses, uint64_t line)
{
    int ends[2];
    int saved = dup(STDIN_FILENO);
    const long before = peak_kib();
    struct wm_diag diag;
    uint64_t count;
    pid_t pid;
    int status;

    assert_true(saved >= 0 && pipe(ends) == 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        signal(SIGPIPE, SIG_DFL);
        child(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    assert_int_equal(drain(&count, &diag), expected);
    assert_int_equal(count, accesses);
    if (expected != WM_END) {
        assert_string_equal(diag.file, "-");
        assert_int_equal(diag.line, line);
    }
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    close(saved);
    waitpid(pid, &status, 0);
    /* Sanitizers keep what was freed. */
    if (!SANITIZED)
        assert_true(peak_kib() - before < 16 * 1024);
}

static void memory_does_not_grow_with_the_trace(void **state)
{
    (void)state;
    expect_bounded(write_100_mb_without_newline, WM_E_SYNTAX, 1, 3);
    expect_bounded(write_100_mb_of_program_output, WM_END, 0, 0);
    expect_bounded(write_many_kernels, WM_END, 1000 * ((sizeof junk - 100) / 32 + 1), 0);
}

/* ------------------------------------------------------------------------------------------------------ compression */

/* Compresses text[0 .. size-1] to out, which has room for it. Returns the length. */
typedef size_t (*compress_function)(const char *text, size_t size, unsigned char *out, size_t room);

#ifdef HAVE_ZLIB
static size_t compress_gzip(const char *text, size_t size, unsigned char *out, size_t room)
{
    z_stream stream;

    memset(&stream, 0, sizeof stream);
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return room - stream.avail_out;
}
#endif

#ifdef HAVE_LZMA
static size_t compress_xz(const char *text, size_t size, unsigned char *out, size_t room)
{
    size_t length = 0;

    assert_int_equal(
        lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (const uint8_t *)text, size, out, &length, room), LZMA_OK);
    return length;
}
#endif

#ifdef HAVE_ZSTD
static size_t compress_zstd(const char *text, size_t size, unsigned char *out, size_t room)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t length;

    assert_non_null(context);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    length = ZSTD_compress2(context, out, room, text, size);
    assert_false(ZSTD_isError(length));
    ZSTD_freeCCtx(context);
    return length;
}
#endif

static const struct {
    const char *name;
    compress_function compress; /* NULL: not built in */
    const char *package;
    const char *magic;
} codecs[] = {
#ifdef HAVE_ZLIB
    {"gzip", compress_gzip, "zlib1g-dev", "\x1f\x8b\x08"},
#else
    {"gzip", NULL, "zlib1g-dev", "\x1f\x8b\x08"},
#endif
#ifdef HAVE_LZMA
    {"xz", compress_xz, "liblzma-dev",
     "\xfd"
     "7zXZ"},
#else
    {"xz", NULL, "liblzma-dev",
     "\xfd"
     "7zXZ"},
#endif
#ifdef HAVE_ZSTD
    {"zstd", compress_zstd, "libzstd-dev", "\x28\xb5\x2f\xfd"},
#else
    {"zstd", NULL, "libzstd-dev", "\x28\xb5\x2f\xfd"},
#endif
};

#define CODECS (sizeof codecs / sizeof codecs[0])

static void missing_libraries_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < CODECS; i++) {
        if (codecs[i].compress)
            continue;
        /* xz's magic ends in a zero byte. */
        assert_fails(codecs[i].magic, strlen(codecs[i].magic) + 1, WM_FORMAT_AUTO, WM_E_UNSUPPORTED, 0, 0,
                     codecs[i].package);
    }
}

/* A trace in two parts; both together are three accesses. */
static const char part_1[] = "wmt 1\nkernel k\nld.global.b32 ffffffff 0x100+4\nld.glob";
static const char part_2[] = "al.b32 ffffffff 0x200+4\n# a comment\nld.global.b32 ffffffff 0x300+4\n";

static void compressed_traces_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < CODECS; i++) {
        unsigned char data[4096];
        size_t size;
        struct reading *reading;

        if (!codecs[i].compress)
            continue;
        size = codecs[i].compress(part_1, sizeof part_1 - 1, data, sizeof data);
        /* An empty one between them, as concatenation allows. */
        size += codecs[i].compress("", 0, data + size, sizeof data - size);
        size += codecs[i].compress(part_2, sizeof part_2 - 1, data + size, sizeof data - size);
        reading = read_trace((const char *)data, size, WM_FORMAT_AUTO);
        assert_int_equal(reading->status, WM_END);
        assert_int_equal(reading->count, 3);
        assert_int_equal(reading->accesses[2].access.address[0], 0x300);
        assert_int_equal(reading->accesses[2].line, 6);
        free_reading(reading);
        put_file(data, size);
        reading = read_path(path, WM_FORMAT_AUTO);
        assert_int_equal(reading->status, WM_END);
        assert_int_equal(reading->count, 3);
        free_reading(reading);
    }
}

/* Cut anywhere but between two streams, it is corrupt, however much of the text that gives. */
static void compressed_traces_that_are_cut_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < CODECS; i++) {
        unsigned char data[4096];
        size_t first;
        size_t size;

        if (!codecs[i].compress)
            continue;
        first = codecs[i].compress(part_1, sizeof part_1 - 1, data, sizeof data);
        size = first + codecs[i].compress(part_2, sizeof part_2 - 1, data + first, sizeof data - first);
        for (size_t length = 6; length < size; length++) {
            struct reading *reading = read_trace((const char *)data, length, WM_FORMAT_AUTO);

            if (length == first) {
                /* The text then ends within a line. */
                assert_int_equal(reading->status, WM_E_SYNTAX);
            } else if (reading->status != WM_E_CORRUPT) {
                fail_msg("%s, %zu of %zu bytes: %s", codecs[i].name, length, size, reading->diag.text);
            }
            assert_non_null(strstr(reading->diag.text, length == first ? "unknown opcode" : codecs[i].name));
            free_reading(reading);
        }
    }
}

static void compressed_traces_with_something_behind(void **state)
{
    static const char behind[] = "wmt 1, not compressed, and long enough for any header";

    (void)state;
    for (size_t i = 0; i < CODECS; i++) {
        unsigned char data[4096];
        size_t size;

        if (!codecs[i].compress)
            continue;
        size = codecs[i].compress("wmt 1\n", 6, data, sizeof data);
        memcpy(data + size, behind, sizeof behind);
        /* To liblzma it is the header of another stream that is wrong. */
        assert_fails((const char *)data, size + sizeof behind, WM_FORMAT_TEXT, WM_E_CORRUPT, 2, 0,
                     strcmp(codecs[i].name, "xz") == 0 ? "xz data: it does not decode" : "behind its end");
    }
}

/* A byte is wrong in the middle of a large trace: the place is a line near it, and what came before has been given. */
static void damage_is_found_where_it_is(void **state)
{
    const size_t lines = 200000;
    char *text = malloc(lines * 48 + 16);
    unsigned char *data = malloc(lines * 48);
    size_t length = 6;

    (void)state;
    assert_non_null(text);
    assert_non_null(data);
    strcpy(text, "wmt 1\n");
    for (size_t i = 0; i < lines; i++)
        length += (size_t)sprintf(text + length, "ld.global.b32 ffffffff 0x%zx+4\n", i * i * 4096);
    for (size_t i = 0; i < CODECS; i++) {
        size_t size;
        struct reading *reading;

        if (!codecs[i].compress)
            continue;
        size = codecs[i].compress(text, length, data, lines * 48);
        for (size_t k = size / 2; k < size / 2 + 64; k++)
            data[k] ^= 0x55;
        put_file(data, size);
        reading = read_path(path, WM_FORMAT_AUTO);
        /* Damage may decode to text that is no trace before a check sum is reached. */
        assert_true(reading->status == WM_E_CORRUPT || reading->status == WM_E_SYNTAX || reading->status == WM_E_RANGE);
        assert_int_equal(reading->diag.line, reading->count + 2);
        assert_true(reading->count < lines);
        free_reading(reading);
    }
    free(text);
    free(data);
}

#ifdef HAVE_ZLIB
/* As from a tape. */
static void zeros_behind_gzip_are_ignored(void **state)
{
    unsigned char data[4096];
    size_t size;
    struct reading *reading;

    (void)state;
    size = compress_gzip(part_1, sizeof part_1 - 8, data, sizeof data);
    memset(data + size, 0, 1000);
    reading = read_trace((const char *)data, size + 1000, WM_FORMAT_AUTO);
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 1);
    free_reading(reading);
}
#endif

#ifdef HAVE_LZMA
/* xz -9 wants 65 MiB. */
static void memory_for_xz_is_limited(void **state)
{
    unsigned char data[4096];
    size_t length = 0;

    (void)state;
    assert_int_equal(
        lzma_easy_buffer_encode(8, LZMA_CHECK_CRC32, NULL, (const uint8_t *)"wmt 1\n", 6, data, &length, sizeof data),
        LZMA_OK);
    length = 0;
    assert_int_equal(
        lzma_easy_buffer_encode(9, LZMA_CHECK_CRC32, NULL, (const uint8_t *)"wmt 1\n", 6, data, &length, sizeof data),
        LZMA_OK);
    assert_fails((const char *)data, length, WM_FORMAT_AUTO, WM_E_UNSUPPORTED, 0, 0, "65 MiB");
}
#endif

#ifdef HAVE_ZSTD
static void memory_for_zstd_is_limited(void **state)
{
    unsigned char data[4096];
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_outBuffer out = {data, sizeof data, 0};
    ZSTD_inBuffer in = {"wmt 1\n", 6, 0};

    (void)state;
    assert_non_null(context);
    assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 27)));
    /* In two steps, so that the size is not known when the header is written. */
    assert_false(ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush)));
    assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0);
    ZSTD_freeCCtx(context);
    assert_fails((const char *)data, out.pos, WM_FORMAT_AUTO, WM_E_UNSUPPORTED, 0, 0, "32 MiB");
}

/* As pzstd writes them. */
static void skippable_zstd_frames_are_skipped(void **state)
{
    unsigned char data[4096] = {0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 'a', 'b', 'c', 'd'};
    const size_t size = 12 + compress_zstd(part_1, sizeof part_1 - 8, data + 12, sizeof data - 12);
    struct reading *reading = read_trace((const char *)data, size, WM_FORMAT_AUTO);

    (void)state;
    assert_int_equal(reading->status, WM_END);
    assert_int_equal(reading->count, 1);
    free_reading(reading);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_have_names),
        cmocka_unit_test(formats_are_told_by_content),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(samples_are_as_their_names_say),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(a_long_path_is_cut_at_its_front),
        cmocka_unit_test(standard_input_is_read_as_it_comes),
        cmocka_unit_test(progress_reaches_the_end),
        cmocka_unit_test(memory_does_not_grow_with_the_trace),
        cmocka_unit_test(missing_libraries_are_named),
        cmocka_unit_test(compressed_traces_are_read),
        cmocka_unit_test(compressed_traces_that_are_cut_short),
        cmocka_unit_test(compressed_traces_with_something_behind),
        cmocka_unit_test(damage_is_found_where_it_is),
#ifdef HAVE_ZLIB
        cmocka_unit_test(zeros_behind_gzip_are_ignored),
#endif
#ifdef HAVE_LZMA
        cmocka_unit_test(memory_for_xz_is_limited),
#endif
#ifdef HAVE_ZSTD
        cmocka_unit_test(memory_for_zstd_is_limited),
        cmocka_unit_test(skippable_zstd_frames_are_skipped),
#endif
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
