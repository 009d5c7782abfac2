/*
 * The bytes of a file, or of standard input: plain, or compressed by gzip, xz or zstd, which is told by the first bytes.
 * Several compressed streams behind each other are one, as the compressors' own programs have it.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

/* Compressed bytes read at a time. */
#define INPUT_BYTES 65536

/* The most memory that decompressing may take. */
#define XZ_BYTES (UINT64_C(56) << 20)
#define ZSTD_WINDOW_LOG 25

struct wmi_stream;

/* A way to decompress. next() writes at most size bytes, takes input as it needs it, and sets *got = 0 at the end only. */
struct codec {
    const char *name;
    unsigned char magic[6];
    unsigned char magic_mask[6]; /* bits of it that count; 0 behind its end */
    const char *package;         /* for programs that were built without it */
    enum wm_status (*start)(struct wmi_stream *stream, struct wm_diag *diag);
    enum wm_status (*next)(struct wmi_stream *stream, char *to, size_t size, size_t *got, struct wm_diag *diag);
    void (*stop)(struct wmi_stream *stream);
};

struct wmi_stream {
    char *name;
    int fd;                      /* -1: memory */
    const unsigned char *memory; /* what is left of it */
    size_t memory_left;
    unsigned char input[INPUT_BYTES];
    size_t input_at;
    size_t input_end;
    int input_over; /* the file has no more bytes */
    uint64_t consumed;
    uint64_t total;
    const struct codec *codec; /* NULL: plain */
    enum wm_status status;     /* a failure that is still to be told, or was */
    struct wm_diag diag;
    int between; /* at the end of a compressed stream, where the file may end */
#ifdef HAVE_ZLIB
    z_stream zlib;
#endif
#ifdef HAVE_LZMA
    lzma_stream lzma;
#endif
#ifdef HAVE_ZSTD
    ZSTD_DStream *zstd;
#endif
};

/* -------------------------------------------------------------------------------------------------------------- input */

static enum wm_status read_some(struct wmi_stream *stream, void *to, size_t size, size_t *got, struct wm_diag *diag)
{
    ssize_t n;

    if (stream->fd < 0) {
        *got = size < stream->memory_left ? size : stream->memory_left;
        if (*got)
            memcpy(to, stream->memory, *got);
        stream->memory += *got;
        stream->memory_left -= *got;
    } else {
        do
            n = read(stream->fd, to, size);
        while (n < 0 && errno == EINTR);
        if (n < 0)
            return wmi_diag_set(diag, WM_E_IO, stream->name, 0, 0, "%s", strerror(errno));
        *got = (size_t)n;
    }
    stream->consumed += *got;
    return WM_OK;
}

#if defined(HAVE_ZLIB) || defined(HAVE_LZMA) || defined(HAVE_ZSTD)
/* Reads on if no input is left; then input_over says whether there is more. */
static enum wm_status refill(struct wmi_stream *stream, struct wm_diag *diag)
{
    size_t got;
    enum wm_status status;

    if (stream->input_at < stream->input_end || stream->input_over)
        return WM_OK;
    status = read_some(stream, stream->input, INPUT_BYTES, &got, diag);
    if (status != WM_OK)
        return status;
    stream->input_at = 0;
    stream->input_end = got;
    stream->input_over = got == 0;
    return WM_OK;
}

static int out_of_input(const struct wmi_stream *stream)
{
    return stream->input_at == stream->input_end && stream->input_over;
}

static enum wm_status corrupt(const struct wmi_stream *stream, struct wm_diag *diag, const char *what)
{
    return wmi_diag_set(diag, WM_E_CORRUPT, stream->name, 0, 0, "%s data: %s", stream->codec->name, what);
}

static enum wm_status no_memory(const struct wmi_stream *stream, struct wm_diag *diag)
{
    return wmi_diag_set(diag, WM_E_MEMORY, stream->name, 0, 0, "out of memory");
}
#endif

/* --------------------------------------------------------------------------------------------------------------- gzip */

#ifdef HAVE_ZLIB

static enum wm_status gzip_start(struct wmi_stream *stream, struct wm_diag *diag)
{
    /* 15: the largest window; 16: gzip's header, not zlib's. */
    return inflateInit2(&stream->zlib, 15 + 16) == Z_OK ? WM_OK : no_memory(stream, diag);
}

/* Between two members: perhaps another one, or zeros to the end as tapes have them. */
static enum wm_status gzip_between(struct wmi_stream *stream, struct wm_diag *diag)
{
    enum wm_status status = refill(stream, diag);

    if (status != WM_OK || out_of_input(stream))
        return status;
    if (stream->input[stream->input_at] == 0x1f) {
        stream->between = 0;
        return inflateReset(&stream->zlib) == Z_OK ? WM_OK : corrupt(stream, diag, "cannot begin another member");
    }
    while (!out_of_input(stream)) {
        if (stream->input[stream->input_at++] != 0)
            return corrupt(stream, diag, "something else stands behind its end");
        status = refill(stream, diag);
        if (status != WM_OK)
            return status;
    }
    return WM_OK;
}

static enum wm_status gzip_next(struct wmi_stream *stream, char *to, size_t size, size_t *got, struct wm_diag *diag)
{
    z_stream *zlib = &stream->zlib;

    for (;;) {
        enum wm_status status = stream->between ? gzip_between(stream, diag) : refill(stream, diag);
        int result;

        if (status != WM_OK)
            return status;
        if (stream->between) {
            *got = 0;
            return WM_OK;
        }
        zlib->next_in = stream->input + stream->input_at;
        zlib->avail_in = (uInt)(stream->input_end - stream->input_at);
        zlib->next_out = (Bytef *)to;
        zlib->avail_out = (uInt)size;
        result = inflate(zlib, Z_NO_FLUSH);
        stream->input_at = stream->input_end - zlib->avail_in;
        *got = size - zlib->avail_out;
        if (result == Z_STREAM_END)
            stream->between = 1;
        else if (result == Z_MEM_ERROR)
            return no_memory(stream, diag);
        else if (result != Z_OK && result != Z_BUF_ERROR)
            return corrupt(stream, diag, zlib->msg ? zlib->msg : "it does not decode");
        else if (*got == 0 && out_of_input(stream))
            return corrupt(stream, diag, "it is cut short");
        if (*got > 0)
            return WM_OK;
    }
}

static void gzip_stop(struct wmi_stream *stream)
{
    inflateEnd(&stream->zlib);
}

#else
#define gzip_start NULL
#define gzip_next NULL
#define gzip_stop NULL
#endif

/* ----------------------------------------------------------------------------------------------------------------- xz */

#ifdef HAVE_LZMA

static enum wm_status xz_start(struct wmi_stream *stream, struct wm_diag *diag)
{
    stream->lzma = (lzma_stream)LZMA_STREAM_INIT;
    return lzma_stream_decoder(&stream->lzma, XZ_BYTES, LZMA_CONCATENATED) == LZMA_OK ? WM_OK : no_memory(stream, diag);
}

static enum wm_status xz_failed(struct wmi_stream *stream, lzma_ret result, struct wm_diag *diag)
{
    switch (result) {
    case LZMA_MEM_ERROR: return no_memory(stream, diag);
    case LZMA_MEMLIMIT_ERROR:
        return wmi_diag_set(diag, WM_E_UNSUPPORTED, stream->name, 0, 0,
                            "xz data that needs %llu MiB to decompress, above the limit of %llu MiB: compress it with "
                            "xz -8 or lower, or give the output of xz -dc",
                            (unsigned long long)((lzma_memusage(&stream->lzma) + (1 << 20) - 1) >> 20),
                            (unsigned long long)(XZ_BYTES >> 20));
    case LZMA_OPTIONS_ERROR:
        return wmi_diag_set(diag, WM_E_UNSUPPORTED, stream->name, 0, 0,
                            "xz data with options that this version of liblzma does not know");
    case LZMA_FORMAT_ERROR: return corrupt(stream, diag, "something else stands behind its end");
    case LZMA_BUF_ERROR: return corrupt(stream, diag, "it is cut short");
    default: return corrupt(stream, diag, "it does not decode");
    }
}

static enum wm_status xz_next(struct wmi_stream *stream, char *to, size_t size, size_t *got, struct wm_diag *diag)
{
    lzma_stream *lzma = &stream->lzma;

    for (;;) {
        enum wm_status status = refill(stream, diag);
        lzma_ret result;

        if (status != WM_OK)
            return status;
        lzma->next_in = stream->input + stream->input_at;
        lzma->avail_in = stream->input_end - stream->input_at;
        lzma->next_out = (uint8_t *)to;
        lzma->avail_out = size;
        result = lzma_code(lzma, stream->input_over ? LZMA_FINISH : LZMA_RUN);
        stream->input_at = stream->input_end - lzma->avail_in;
        *got = size - lzma->avail_out;
        if (result == LZMA_STREAM_END)
            return WM_OK;
        /* LZMA_BUF_ERROR before the end only asks for more input. */
        if (result != LZMA_OK && !(result == LZMA_BUF_ERROR && !out_of_input(stream)))
            return xz_failed(stream, result, diag);
        if (*got > 0)
            return WM_OK;
    }
}

static void xz_stop(struct wmi_stream *stream)
{
    lzma_end(&stream->lzma);
}

#else
#define xz_start NULL
#define xz_next NULL
#define xz_stop NULL
#endif

/* --------------------------------------------------------------------------------------------------------------- zstd */

#ifdef HAVE_ZSTD

static enum wm_status zstd_start(struct wmi_stream *stream, struct wm_diag *diag)
{
    stream->zstd = ZSTD_createDStream();
    if (!stream->zstd)
        return no_memory(stream, diag);
    if (ZSTD_isError(ZSTD_DCtx_setParameter(stream->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG))) {
        ZSTD_freeDStream(stream->zstd);
        return no_memory(stream, diag);
    }
    stream->between = 1;
    return WM_OK;
}

static enum wm_status zstd_failed(struct wmi_stream *stream, size_t result, struct wm_diag *diag)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation: return no_memory(stream, diag);
    case ZSTD_error_frameParameter_windowTooLarge:
        return wmi_diag_set(
            diag, WM_E_UNSUPPORTED, stream->name, 0, 0,
            "zstd data with a window above the limit of %u MiB: compress it without --long and --ultra, or "
            "give the output of zstd -dc --long=31",
            (1U << ZSTD_WINDOW_LOG) >> 20);
    case ZSTD_error_prefix_unknown: return corrupt(stream, diag, "something else stands behind its end");
    default: return corrupt(stream, diag, ZSTD_getErrorName(result));
    }
}

static enum wm_status zstd_next(struct wmi_stream *stream, char *to, size_t size, size_t *got, struct wm_diag *diag)
{
    ZSTD_outBuffer out = {to, size, 0};

    for (;;) {
        enum wm_status status = refill(stream, diag);
        ZSTD_inBuffer in = {stream->input, stream->input_end, stream->input_at};
        size_t result;

        if (status != WM_OK)
            return status;
        if (out_of_input(stream) && stream->between) {
            *got = 0;
            return WM_OK;
        }
        result = ZSTD_decompressStream(stream->zstd, &out, &in);
        if (ZSTD_isError(result))
            return zstd_failed(stream, result, diag);
        if (out.pos == 0 && out_of_input(stream) && in.pos == stream->input_at && result != 0)
            return corrupt(stream, diag, "it is cut short");
        stream->input_at = in.pos;
        stream->between = result == 0;
        *got = out.pos;
        if (out.pos > 0)
            return WM_OK;
    }
}

static void zstd_stop(struct wmi_stream *stream)
{
    ZSTD_freeDStream(stream->zstd);
}

#else
#define zstd_start NULL
#define zstd_next NULL
#define zstd_stop NULL
#endif

/* ------------------------------------------------------------------------------------------------------------- opening */

static const struct codec codecs[] = {
    {"gzip", {0x1f, 0x8b}, {0xff, 0xff}, "zlib1g-dev", gzip_start, gzip_next, gzip_stop},
    {"xz",
     {0xfd, '7', 'z', 'X', 'Z', 0},
     {0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
     "liblzma-dev",
     xz_start,
     xz_next,
     xz_stop},
    {"zstd", {0x28, 0xb5, 0x2f, 0xfd}, {0xff, 0xff, 0xff, 0xff}, "libzstd-dev", zstd_start, zstd_next, zstd_stop},
    /* A skippable frame in front, as pzstd writes it. */
    {"zstd", {0x50, 0x2a, 0x4d, 0x18}, {0xf0, 0xff, 0xff, 0xff}, "libzstd-dev", zstd_start, zstd_next, zstd_stop},
};

static const struct codec *find_codec(const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        const struct codec *codec = &codecs[i];
        size_t k = 0;

        while (k < sizeof codec->magic && codec->magic_mask[k] && k < length &&
               (bytes[k] & codec->magic_mask[k]) == codec->magic[k])
            k++;
        if (k == sizeof codec->magic || !codec->magic_mask[k])
            return codec;
    }
    return NULL;
}

/* Reads the first bytes and chooses how to decompress them. */
static enum wm_status start(struct wmi_stream *stream, struct wm_diag *diag)
{
    const struct codec *codec;
    enum wm_status status;

    while (stream->input_end < sizeof codec->magic) {
        size_t got;

        status = read_some(stream, stream->input + stream->input_end, INPUT_BYTES - stream->input_end, &got, diag);
        if (status != WM_OK)
            return status;
        if (got == 0) {
            stream->input_over = 1;
            break;
        }
        stream->input_end += got;
    }
    codec = find_codec(stream->input, stream->input_end);
    if (!codec)
        return WM_OK;
    if (!codec->start)
        return wmi_diag_set(diag, WM_E_UNSUPPORTED, stream->name, 0, 0,
                            "%s data, and this program was built without support for it: install %s and run configure "
                            "and make again",
                            codec->name, codec->package);
    stream->codec = codec;
    status = codec->start(stream, diag);
    if (status != WM_OK)
        stream->codec = NULL;
    return status;
}

static enum wm_status new_stream(const char *name, struct wmi_stream **out, struct wm_diag *diag)
{
    struct wmi_stream *stream = calloc(1, sizeof *stream);

    if (stream)
        stream->name = strdup(name);
    if (!stream || !stream->name) {
        free(stream);
        return wmi_diag_set(diag, WM_E_MEMORY, name, 0, 0, "out of memory");
    }
    stream->fd = -1;
    *out = stream;
    return WM_OK;
}

static enum wm_status open_file(struct wmi_stream *stream, struct wm_diag *diag)
{
    struct stat about;

    if (strcmp(stream->name, "-") == 0)
        stream->fd = STDIN_FILENO;
    else
        stream->fd = open(stream->name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (stream->fd < 0 || fstat(stream->fd, &about) != 0)
        return wmi_diag_set(diag, WM_E_IO, stream->name, 0, 0, "%s", strerror(errno));
    if (S_ISDIR(about.st_mode))
        return wmi_diag_set(diag, WM_E_IO, stream->name, 0, 0, "%s", strerror(EISDIR));
    if (S_ISREG(about.st_mode) && about.st_size > 0)
        stream->total = (uint64_t)about.st_size;
    return WM_OK;
}

enum wm_status wmi_stream_open(const char *path, struct wmi_stream **out, struct wm_diag *diag)
{
    struct wmi_stream *stream;
    enum wm_status status = new_stream(path, &stream, diag);

    if (status != WM_OK)
        return status;
    status = open_file(stream, diag);
    if (status == WM_OK)
        status = start(stream, diag);
    if (status == WM_OK)
        *out = stream;
    else
        wmi_stream_close(stream);
    return status;
}

enum wm_status wmi_stream_open_memory(const void *data, size_t size, struct wmi_stream **out, struct wm_diag *diag)
{
    struct wmi_stream *stream;
    enum wm_status status = new_stream("memory", &stream, diag);

    if (status != WM_OK)
        return status;
    stream->memory = data;
    stream->memory_left = size;
    stream->total = size;
    status = start(stream, diag);
    if (status == WM_OK)
        *out = stream;
    else
        wmi_stream_close(stream);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- reading */

/* Some bytes of the text; *got = 0: the end. */
static enum wm_status next_bytes(struct wmi_stream *stream, char *to, size_t size, size_t *got, struct wm_diag *diag)
{
    const size_t waiting = stream->input_end - stream->input_at;
    enum wm_status status;

    if (stream->codec)
        return stream->codec->next(stream, to, size, got, diag);
    if (waiting > 0) {
        *got = size < waiting ? size : waiting;
        memcpy(to, stream->input + stream->input_at, *got);
        stream->input_at += *got;
        return WM_OK;
    }
    if (stream->input_over) {
        *got = 0;
        return WM_OK;
    }
    status = read_some(stream, to, size, got, diag);
    stream->input_over = status == WM_OK && *got == 0;
    return status;
}

enum wm_status wmi_stream_read(struct wmi_stream *stream, char *to, size_t size, size_t *got, struct wm_diag *diag)
{
    size_t sum = 0;

    *got = 0;
    while (stream->status == WM_OK && sum < size) {
        size_t n = 0;

        stream->status = next_bytes(stream, to + sum, size - sum, &n, &stream->diag);
        sum += n;
        if (n == 0)
            break;
    }
    *got = sum;
    if (sum > 0 || stream->status == WM_OK)
        return WM_OK;
    if (diag)
        *diag = stream->diag;
    return stream->status;
}

void wmi_stream_progress(const struct wmi_stream *stream, uint64_t *consumed, uint64_t *total)
{
    *consumed = stream->consumed;
    *total = stream->total;
}

void wmi_stream_close(struct wmi_stream *stream)
{
    if (!stream)
        return;
    if (stream->codec)
        stream->codec->stop(stream);
    if (stream->fd > STDIN_FILENO || (stream->fd == STDIN_FILENO && strcmp(stream->name, "-") != 0))
        close(stream->fd);
    free(stream->name);
    free(stream);
}
