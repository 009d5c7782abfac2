/* Text and numbers as HTML. */
#include "html.h"

#include <math.h>
#include <string.h>

/* Of a longer name, the page has the beginning and the end. */
#define MOST_NAME_BYTES ((size_t)300)

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* The UTF-8 character at text; returns its length, 0 where there is none. */
static size_t decode(const unsigned char *text, size_t length, uint32_t *out)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size;
    uint32_t value;

    if (text[0] < 0x80) {
        *out = text[0];
        return 1;
    }
    if (text[0] >= 0xc2 && text[0] <= 0xdf)
        size = 2;
    else if ((text[0] & 0xf0) == 0xe0)
        size = 3;
    else if (text[0] >= 0xf0 && text[0] <= 0xf4)
        size = 4;
    else
        return 0;
    if (size > length)
        return 0;
    value = text[0] & (0xffu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (text[i] & 0x3fu);
    }
    if (value < least[size] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *out = value;
    return size;
}

/* Characters without a picture of their own, or that HTML and XML do not allow. */
static int is_control(uint32_t c)
{
    return (c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0) || (c & 0xfffe) == 0xfffe;
}

/* Characters that reorder the text around them: code would not read as it compiles. */
static int reorders(uint32_t c)
{
    return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f || c == 0x61c;
}

void html_text_part(const char *text, size_t length, struct buffer *out)
{
    while (length) {
        uint32_t c = 0;
        size_t size = decode((const unsigned char *)text, length, &c);

        if (!size || is_control(c))
            buffer_puts(out, REPLACEMENT);
        else if (reorders(c))
            buffer_printf(out, "[U+%04X]", (unsigned)c);
        else if (c == '&')
            buffer_puts(out, "&amp;");
        else if (c == '<')
            buffer_puts(out, "&lt;");
        else if (c == '>')
            buffer_puts(out, "&gt;");
        else if (c == '"')
            buffer_puts(out, "&quot;");
        else if (c == '\'')
            buffer_puts(out, "&#39;");
        else
            buffer_add(out, text, size);
        text += size ? size : 1;
        length -= size ? size : 1;
    }
}

void html_text(const char *text, struct buffer *out)
{
    html_text_part(text, strlen(text), out);
}

static int is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

void html_name(const char *text, struct buffer *out)
{
    const size_t length = strlen(text);
    size_t head = MOST_NAME_BYTES * 2 / 3, tail = length - MOST_NAME_BYTES / 3;

    if (length <= MOST_NAME_BYTES) {
        html_text(text, out);
        return;
    }
    /* whole characters; of what is no UTF-8, any bytes will do */
    for (int i = 0; i < 3 && is_continuation(text[head]); i++)
        head--;
    for (int i = 0; i < 3 && is_continuation(text[tail]); i++)
        tail++;
    html_text_part(text, head, out);
    buffer_puts(out, " &#8230; ");
    html_text(text + tail, out);
}

void html_lines_of_text(const char *text, struct buffer *out)
{
    while (*text) {
        size_t length = strcspn(text, "\n");

        html_text_part(text, length, out);
        text += length;
        if (*text) {
            buffer_putc(out, '\n');
            text++;
        }
    }
}

void html_base64(const char *data, size_t length, struct buffer *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = (const unsigned char *)data;

    for (size_t i = 0; i < length; i += 3) {
        size_t n = length - i < 3 ? length - i : 3;
        uint32_t value = (uint32_t)bytes[i] << 16;
        char four[4];

        if (n > 1)
            value |= (uint32_t)bytes[i + 1] << 8;
        if (n > 2)
            value |= bytes[i + 2];
        four[0] = digits[value >> 18];
        four[1] = digits[value >> 12 & 63];
        four[2] = n > 1 ? digits[value >> 6 & 63] : '=';
        four[3] = n > 2 ? digits[value & 63] : '=';
        buffer_add(out, four, sizeof four);
    }
}

/* What a number has behind the point: two digits will do, as a unit is a point of the page. */
static size_t copy_fraction(const char *text, size_t length, struct buffer *out)
{
    size_t digits = 1;

    while (digits < length && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    buffer_add(out, text, digits > 3 ? 3 : digits);
    return digits;
}

/* The length of the first of some words that a text begins with; 0: none. */
static size_t starts_with(const char *text, size_t length, const char *const *words)
{
    for (; *words; words++) {
        if (strlen(*words) <= length && memcmp(text, *words, strlen(*words)) == 0)
            return strlen(*words);
    }
    return 0;
}

void html_smaller_svg(const char *svg, size_t length, struct buffer *out)
{
    static const char *const defaults[] = {"fill-rule:nonzero;",   "fill-opacity:1;",        "stroke-opacity:1;",
                                           "stroke-linecap:butt;", "stroke-linejoin:miter;", NULL};
    static const char *const exact[] = {"matrix(", NULL};

    while (length) {
        size_t skipped = starts_with(svg, length, defaults);
        size_t copied = 1;

        if (starts_with(svg, length, exact)) {
            while (copied < length && svg[copied] != ')')
                copied++;
            buffer_add(out, svg, copied);
        } else if (*svg == '.' && !skipped) {
            copied = copy_fraction(svg, length, out);
        } else if (!skipped) {
            buffer_putc(out, *svg);
        }
        svg += skipped ? skipped : copied;
        length -= skipped ? skipped : copied;
    }
}

void html_cycles(double cycles, struct buffer *out)
{
    double tenths = floor(cycles * 10 + 0.5);

    if (tenths < 1000 && fmod(tenths, 10) != 0)
        buffer_printf(out, "%.1f", tenths / 10);
    else if (cycles < 1e18)
        table_count((uint64_t)(cycles + 0.5), 0, out);
    else
        buffer_printf(out, "%.3g", cycles);
}

void html_share(double part, double whole, struct buffer *out)
{
    double percent = whole > 0 ? part / whole * 100 : 0;

    if (percent >= 100)
        buffer_puts(out, "100 %");
    else if (percent > 0 && percent < 0.1)
        buffer_puts(out, "&lt; 0.1 %");
    else
        /* cut, not rounded: 99.96 % is not 100 % */
        buffer_printf(out, "%.1f %%", floor(percent * 10) / 10);
}

void html_bar(double cycles, double wasted, double most, struct buffer *out)
{
    double all = most > 0 ? cycles / most * 100 : 0;
    double dark = most > 0 ? wasted / most * 100 : 0;

    buffer_puts(out, "<span class=\"bar\" aria-hidden=\"true\">");
    if (dark > 0)
        buffer_printf(out, "<i class=\"w\" style=\"width:%.2f%%\"></i>", dark);
    if (all > dark)
        buffer_printf(out, "<i class=\"u\" style=\"width:%.2f%%\"></i>", all - dark);
    buffer_puts(out, "</span>");
}
