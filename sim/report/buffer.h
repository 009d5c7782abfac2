/* Text that grows: reports are built in memory and written in large pieces. */
#ifndef BUFFER_H
#define BUFFER_H

#include <stddef.h>
#include <stdint.h>

enum buffer_failure { BUFFER_GOOD = 0, BUFFER_NO_MEMORY, BUFFER_NOT_DRAINED };

/* All zero is an empty buffer. After a failure text is missing: check it once, at the end. */
struct buffer {
    char *data;
    size_t length;
    size_t size;
    enum buffer_failure failed;
    int (*drain)(void *context, const char *text, size_t length); /* where text goes once there is enough; or NULL */
    void *context;
};

/* A buffer that hands its text on; drain returns 0 for success. */
struct buffer buffer_into(int (*drain)(void *context, const char *text, size_t length), void *context);

/* Hands on the rest. 0: all went well, since the beginning. */
int buffer_finish(struct buffer *buffer);

/* Makes room for n more bytes; 0: there is no memory. */
int buffer_reserve(struct buffer *buffer, size_t n);

void buffer_add(struct buffer *buffer, const char *text, size_t length);
void buffer_puts(struct buffer *buffer, const char *text);
void buffer_putc(struct buffer *buffer, char c);
void buffer_spaces(struct buffer *buffer, size_t n);
void buffer_number(struct buffer *buffer, uint64_t value);
/* Lower-case hex, padded with zeros to that many digits at least. */
void buffer_hex(struct buffer *buffer, uint64_t value, unsigned digits);
void buffer_printf(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The text as a string, for short-lived use: valid until the buffer changes. "" where memory has ended. */
const char *buffer_text(struct buffer *buffer);

/* Makes it empty, keeping its memory; or frees that. */
void buffer_clear(struct buffer *buffer);
void buffer_free(struct buffer *buffer);

/* What a noun ends in behind a number. */
static inline const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

#endif
