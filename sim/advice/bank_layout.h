/* Where the elements of an array in shared memory lie: as they are declared, padded, or with XORed index bits. */
#ifndef BANK_LAYOUT_H
#define BANK_LAYOUT_H

#include "buffer.h"
#include "warpmem.h"

enum bank_layout_kind {
    LAYOUT_AS_IS,
    LAYOUT_PAD,    /* rows of another pitch: the extents change, and no index does */
    LAYOUT_SKIP,   /* of the whole index: i + i / N * Q, and perhaps + i / N / N * Q */
    LAYOUT_XOR,    /* index bits that other bits of the index are XORed into, or any other linear map of them */
    LAYOUT_ROW_XOR /* bits of the column that bits of the row are XORed into, where rows are no power of two */
};

/* log2 of the largest array that index bits are looked at of, in bytes. */
#define LAYOUT_MOST_BITS 18

struct bank_layout {
    enum bank_layout_kind kind;
    uint64_t size_bytes; /* of the whole array */

    /* LAYOUT_PAD and LAYOUT_SKIP: distances in bytes, the largest first */
    unsigned levels;
    uint64_t stride[WM_DIMENSIONS];
    uint64_t new_stride[WM_DIMENSIONS];
    uint64_t extent[WM_DIMENSIONS]; /* LAYOUT_PAD: of the declaration */
    uint64_t every, skip;           /* LAYOUT_SKIP: N and Q, elements */
    int is_twice;

    /* LAYOUT_XOR: what each bit of an offset in bytes becomes. Bits that are not there stay as they are */
    unsigned bits;
    uint32_t column[LAYOUT_MOST_BITS];
    uint32_t changed; /* bits that become something else than themselves; layout_finish_xor() sets it */

    /* LAYOUT_XOR if is_swizzle; LAYOUT_ROW_XOR, where s counts from the row's lowest bit: CuTe's Swizzle<B,M,S>, of
     * elements */
    int is_swizzle;
    unsigned b, m, s;
    uint64_t row_bytes, element_bytes; /* LAYOUT_ROW_XOR */
};

/* Where the byte at an offset from the beginning of the array lies then. */
uint64_t layout_offset(const struct bank_layout *layout, uint64_t offset);

/* Each makes a layout of an array. */
void layout_as_is(const struct wm_array *array, struct bank_layout *out);
/* extra[d]: elements more in dimension d, but for the outermost. */
void layout_pad(const struct wm_array *array, const uint64_t extra[WM_DIMENSIONS], struct bank_layout *out);
void layout_skip(const struct wm_array *array, uint64_t every, uint64_t skip, int is_twice, struct bank_layout *out);
/* Of an array whose elements are powers of two of bytes. */
void layout_swizzle(const struct wm_array *array, unsigned b, unsigned m, unsigned s, struct bank_layout *out);
void layout_row_xor(const struct wm_array *array, unsigned b, unsigned m, unsigned s, struct bank_layout *out);

/* Completes a LAYOUT_XOR whose columns are given: its size, and whether it is one Swizzle<B,M,S>. */
void layout_finish_xor(const struct wm_array *array, struct bank_layout *out);

/* log2 of the elements of an array, rounded up. */
unsigned layout_index_bits(const struct wm_array *array);
int layout_is_power(uint64_t value);
unsigned layout_log2(uint64_t value);

/* ---------------------------------------------------------------------------------------------------------- as text */

/* "__shared__ __align__(16) half tile[64][72];" */
void layout_declaration(const struct wm_array *array, const struct bank_layout *layout, unsigned align_bytes,
                        struct buffer *out);

/* "tile[row][col ^ ((row & 7) << 3)]" */
void layout_index(const struct wm_array *array, const struct bank_layout *layout, struct buffer *out);

/* "composition(Swizzle<3,3,3>{}, Layout<Shape<_64,_64>, Stride<_64,_1>>{})"; nothing where CuTe has no such layout. */
void layout_cute(const struct wm_array *array, const struct bank_layout *layout, struct buffer *out);

/* The index of an element as people write it: "tile[3][17]". */
void layout_element(const struct wm_array *array, uint64_t offset, struct buffer *out);

#endif
