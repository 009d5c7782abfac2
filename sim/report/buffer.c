#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text is handed on in pieces of about this size. */
#define DRAIN_BYTES ((size_t)1 << 16)

struct buffer buffer_into(int (*drain)(void *context, const char *text, size_t length), void *context)
{
    return (struct buffer){.drain = drain, .context = context};
}

static void drain(struct buffer *buffer)
{
    if (!buffer->failed && buffer->length && buffer->drain(buffer->context, buffer->data, buffer->length) != 0)
        buffer->failed = BUFFER_NOT_DRAINED;
    buffer->length = 0;
}

int buffer_finish(struct buffer *buffer)
{
    if (buffer->drain)
        drain(buffer);
    return buffer->failed ? -1 : 0;
}

int buffer_reserve(struct buffer *buffer, size_t n)
{
    size_t wanted, size;
    char *data;

    if (buffer->drain && buffer->length >= DRAIN_BYTES)
        drain(buffer);
    wanted = buffer->length + n + 1; /* and a NUL */
    if (wanted <= buffer->size)
        return 1;
    size = buffer->size ? buffer->size * 2 : 256;
    if (size < wanted)
        size = wanted;
    data = realloc(buffer->data, size);
    if (!data) {
        buffer->failed = BUFFER_NO_MEMORY;
        return 0;
    }
    buffer->data = data;
    buffer->size = size;
    return 1;
}

void buffer_add(struct buffer *buffer, const char *text, size_t length)
{
    if (!buffer_reserve(buffer, length))
        return;
    memcpy(buffer->data + buffer->length, text, length);
    buffer->length += length;
}

void buffer_puts(struct buffer *buffer, const char *text)
{
    buffer_add(buffer, text, strlen(text));
}

void buffer_putc(struct buffer *buffer, char c)
{
    if (buffer_reserve(buffer, 1))
        buffer->data[buffer->length++] = c;
}

void buffer_spaces(struct buffer *buffer, size_t n)
{
    if (!buffer_reserve(buffer, n))
        return;
    memset(buffer->data + buffer->length, ' ', n);
    buffer->length += n;
}

void buffer_number(struct buffer *buffer, uint64_t value)
{
    char digits[20];
    size_t n = sizeof digits;

    do {
        digits[--n] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    buffer_add(buffer, digits + n, sizeof digits - n);
}

void buffer_hex(struct buffer *buffer, uint64_t value, unsigned digits)
{
    char text[16];
    size_t n = sizeof text;

    do {
        text[--n] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (n && (value || sizeof text - n < digits));
    buffer_add(buffer, text + n, sizeof text - n);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !buffer_reserve(buffer, (size_t)length))
        return;
    va_start(arguments, format);
    vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    buffer->length += (size_t)length;
}

const char *buffer_text(struct buffer *buffer)
{
    if (!buffer_reserve(buffer, 0))
        return "";
    buffer->data[buffer->length] = '\0';
    return buffer->data;
}

void buffer_clear(struct buffer *buffer)
{
    buffer->length = 0;
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}
