/* Numbers and text in columns. */
#include "report.h"

#include <stdio.h>
#include <string.h>

static void right(const char *text, size_t length, size_t width, struct buffer *out)
{
    if (length < width)
        buffer_spaces(out, width - length);
    buffer_add(out, text, length);
}

void table_count(uint64_t value, size_t width, struct buffer *out)
{
    char text[27]; /* 20 digits, 6 commas */
    size_t n = sizeof text;
    unsigned digits = 0;

    do {
        if (digits && digits % 3 == 0)
            text[--n] = ',';
        text[--n] = (char)('0' + value % 10);
        value /= 10;
        digits++;
    } while (value);
    right(text + n, sizeof text - n, width, out);
}

void table_text(const char *text, size_t width, struct buffer *out)
{
    size_t length = strlen(text);

    buffer_add(out, text, length);
    if (length < width)
        buffer_spaces(out, width - length);
}

void table_ratio(uint64_t sum, uint64_t n, size_t width, struct buffer *out)
{
    char text[32];

    if (n == 0) {
        right("-", 1, width, out);
        return;
    }
    snprintf(text, sizeof text, "%.2f", (double)sum / (double)n);
    right(text, strlen(text), width, out);
}

void table_percent(uint64_t part, uint64_t whole, size_t width, struct buffer *out)
{
    char text[32];

    if (whole == 0) {
        right("-", 1, width, out);
        return;
    }
    if (part >= whole) {
        snprintf(text, sizeof text, "100 %%");
    } else {
        unsigned tenths = (unsigned)((double)part / (double)whole * 1000.0 + 0.5);

        /* 99.96 % is not 100 %, nor is 0.04 % nothing */
        if (tenths > 999)
            tenths = 999;
        if (tenths == 0 && part)
            tenths = 1;
        snprintf(text, sizeof text, "%u.%u %%", tenths / 10, tenths % 10);
    }
    right(text, strlen(text), width, out);
}

void table_wrapped(const char *text, size_t indent, size_t hanging, struct buffer *out)
{
    size_t column = indent;
    size_t length = strlen(text);

    buffer_spaces(out, indent);
    while (length > TABLE_COLUMNS - column) {
        size_t room = TABLE_COLUMNS - column;
        size_t cut = room;

        while (cut && text[cut] != ' ')
            cut--;
        if (cut == 0)
            cut = room;
        buffer_add(out, text, cut);
        buffer_putc(out, '\n');
        buffer_spaces(out, hanging);
        text += cut;
        length -= cut;
        while (*text == ' ') {
            text++;
            length--;
        }
        column = hanging;
    }
    buffer_add(out, text, length);
    buffer_putc(out, '\n');
}

/* The bytes of a control character at text: ASCII's, or one of U+0080 to U+009F in UTF-8, by which terminals are commanded
 * too; 0: it is none. */
static size_t control_bytes(const char *text)
{
    const unsigned char c = (unsigned char)text[0];
    const unsigned char next = c ? (unsigned char)text[1] : 0;

    if ((c && c < 0x20) || c == 0x7f)
        return 1;
    return c == 0xc2 && next >= 0x80 && next <= 0x9f ? 2 : 0;
}

void table_name(const char *text, struct buffer *out)
{
    while (*text) {
        const size_t control = control_bytes(text);

        buffer_putc(out, control ? '?' : *text);
        text += control ? control : 1;
    }
}
