/* Global memory: buffers of pages that are made, and filled, when they are first touched. Reads alone make
 * none of zeros. */
#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "machine.h"

/* splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014), by position: what an element
 * holds does not depend on which elements are touched. */
static uint64_t mixed(uint64_t seed, uint64_t index)
{
    uint64_t z = (seed + 1) * UINT64_C(0xd1342543de82ef95) + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void put(uint8_t *at, const void *value, size_t bytes)
{
    memcpy(at, value, bytes);
}

static void fill_element(const struct buffer *buffer, uint64_t index, uint8_t *at, size_t bytes)
{
    const uint64_t bits = mixed(buffer->seed, index);
    const int is_iota = buffer->fill == FILL_IOTA;
    uint64_t integer = is_iota ? index : buffer->limit ? bits % buffer->limit : bits;
    const double unit = (double)(bits >> 11) * 0x1p-53; /* [0, 1) */

    if (buffer->element == K_FLOAT) {
        const float value = is_iota ? (float)index : (float)(bits >> 40) * 0x1p-24f;

        put(at, &value, bytes);
    } else if (buffer->element == K_DOUBLE) {
        const double value = is_iota ? (double)index : unit;

        put(at, &value, bytes);
    } else if (buffer->element == K_HALF) {
        const uint16_t value = wmi_float_to_half(is_iota ? (float)index : (float)(bits >> 53) * 0x1p-11f);

        put(at, &value, bytes);
    } else if (buffer->element == K_BOOL) {
        const uint8_t value = (uint8_t)(is_iota ? index != 0 : bits & 1);

        put(at, &value, bytes);
    } else {
        for (size_t i = 0; i < bytes; i++, integer >>= 8)
            at[i] = (uint8_t)integer;
    }
}

static size_t element_bytes(enum type_kind kind)
{
    switch (kind) {
    case K_BOOL:
    case K_CHAR:
    case K_SCHAR:
    case K_UCHAR: return 1;
    case K_SHORT:
    case K_USHORT:
    case K_HALF: return 2;
    case K_INT:
    case K_UINT:
    case K_FLOAT: return 4;
    default: return 8;
    }
}

/* What is only read of a page that is not there, and would be of zeros alone. */
static enum wm_status zeros(struct wmi_run *run, uint8_t **page)
{
    if (!run->zeros)
        run->zeros = calloc(1, WMI_PAGE_BYTES);
    *page = run->zeros;
    return run->zeros ? WM_OK : WM_E_MEMORY;
}

enum wm_status wmi_x_buffer_read(struct wmi_run *run, struct buffer *buffer, uint64_t number, uint8_t **page)
{
    const int is_there = number < buffer->n_pages && buffer->pages[number];

    if (!is_there && buffer->fill == FILL_ZERO)
        return zeros(run, page);
    return wmi_x_buffer_page(run, buffer, number, page);
}

enum wm_status wmi_x_buffer_page(struct wmi_run *run, struct buffer *buffer, uint64_t number, uint8_t **page)
{
    const size_t bytes = element_bytes(buffer->element);
    uint8_t *made;

    if (number >= buffer->n_pages) {
        uint64_t n = buffer->n_pages ? buffer->n_pages : 16;
        uint8_t **pages;

        while (n <= number)
            n *= 2;
        if ((n - buffer->n_pages) * sizeof *pages > run->memory_left)
            return WM_E_MEMORY;
        pages = realloc(buffer->pages, n * sizeof *pages);
        if (!pages)
            return WM_E_MEMORY;
        memset(pages + buffer->n_pages, 0, (n - buffer->n_pages) * sizeof *pages);
        run->memory_left -= (n - buffer->n_pages) * sizeof *pages;
        buffer->pages = pages;
        buffer->n_pages = n;
    }
    if (!buffer->pages[number]) {
        if (run->memory_left < WMI_PAGE_BYTES)
            return WM_E_MEMORY;
        made = calloc(1, WMI_PAGE_BYTES);
        if (!made)
            return WM_E_MEMORY;
        run->memory_left -= WMI_PAGE_BYTES;
        for (uint64_t at = 0; buffer->fill != FILL_ZERO && at < WMI_PAGE_BYTES; at += bytes)
            fill_element(buffer, (number * WMI_PAGE_BYTES + at) / bytes, made + at, bytes);
        buffer->pages[number] = made;
    }
    *page = buffer->pages[number];
    return WM_OK;
}

struct buffer *wmi_x_buffer_new(struct wmi_run *run, const char *name, uint64_t size)
{
    uint64_t slot = 1;
    struct buffer *buffer;
    uint64_t slots;

    if (run->n_buffers) {
        const struct buffer *last = &run->buffers[run->n_buffers - 1];

        slot = ((last->base - WMI_GLOBAL_WINDOW + last->size - 1) >> WMI_SLOT_BITS) + 1;
    }
    if (!size)
        slots = 1;
    else
        slots = ((size - 1) >> WMI_SLOT_BITS) + 1;
    if (slot + slots > WMI_SLOTS)
        return NULL;
    buffer = &run->buffers[run->n_buffers++];
    buffer->name = name;
    buffer->base = WMI_GLOBAL_WINDOW + (slot << WMI_SLOT_BITS);
    buffer->is_growing = size == 0;
    buffer->size = size ? size : UINT64_C(1) << WMI_SLOT_BITS;
    buffer->element = K_UCHAR;
    for (uint64_t i = 0; i < slots; i++)
        run->slots[slot + i] = (uint16_t)run->n_buffers;
    return buffer;
}

void wmi_x_memory_free(struct wmi_run *run)
{
    for (uint32_t i = 0; i < run->n_buffers; i++) {
        for (uint64_t page = 0; page < run->buffers[i].n_pages; page++)
            free(run->buffers[i].pages[page]);
        free(run->buffers[i].pages);
    }
    free(run->buffers);
    free(run->zeros);
    free(run->shared);
    free(run->shadow);
    free(run->copied);
    free(run->constants);
}
