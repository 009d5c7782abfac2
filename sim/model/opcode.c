/* Opcodes in PTX's spelling: reading, writing, checking. */
#include <string.h>

#include "warpmem.h"

/* A word between dots, and what it stands for. */
struct word {
    const char *text;
    uint8_t value;
};

static const struct word operations[] = {{"ld", WM_LD},   {"st", WM_ST},
                                         {"atom", WM_ATOM}, {"red", WM_RED},
                                         {"ldmatrix", WM_LDMATRIX}, {"stmatrix", WM_STMATRIX},
                                         {"cp", WM_CP_ASYNC}, {NULL, 0}};

static const struct word spaces[] = {{"global", WM_GLOBAL}, {"shared", WM_SHARED},   {"local", WM_LOCAL},
                                     {"const", WM_CONST},   {"generic", WM_GENERIC},
                                     {"shared::cluster", WM_SHARED_CLUSTER}, {"shared::cta", WM_SHARED}, {NULL, 0}};

static const struct word atomic_spaces[] = {{"global", WM_GLOBAL}, {"shared", WM_SHARED},
                                            {"shared::cluster", WM_SHARED_CLUSTER}, {"shared::cta", WM_SHARED}, {NULL, 0}};

static const struct word caches[] = {{"ca", WM_CACHE_CA}, {"cg", WM_CACHE_CG}, {"cs", WM_CACHE_CS},
                                     {"lu", WM_CACHE_LU}, {"cv", WM_CACHE_CV}, {"nc", WM_CACHE_NC},
                                     {"wb", WM_CACHE_WB}, {"wt", WM_CACHE_WT}, {NULL, 0}};

static const struct word atomics[] = {{"add", WM_ATOMIC_ADD}, {"exch", WM_ATOMIC_EXCH}, {"min", WM_ATOMIC_MIN},
                                      {"max", WM_ATOMIC_MAX}, {"and", WM_ATOMIC_AND},   {"or", WM_ATOMIC_OR},
                                      {"xor", WM_ATOMIC_XOR}, {"inc", WM_ATOMIC_INC},   {"dec", WM_ATOMIC_DEC},
                                      {"cas", WM_ATOMIC_CAS}, {NULL, 0}};

static const struct word vectors[] = {{"v2", 2}, {"v4", 4}, {"v8", 8}, {NULL, 0}};
static const struct word matrices[] = {{"x1", 1}, {"x2", 2}, {"x4", 4}, {NULL, 0}};
static const struct word copy_sizes[] = {{"4", 4}, {"8", 8}, {"16", 16}, {NULL, 0}};

/* Element types. The `b` of PTX stands for untyped bits; its other letters are accepted wherever it is. */
struct type_word {
    const char *text;
    uint8_t type;
    uint8_t bytes;
};

static const struct type_word types[] = {
    {"b8", WM_TYPE_B, 1},     {"b16", WM_TYPE_B, 2},   {"b32", WM_TYPE_B, 4},        {"b64", WM_TYPE_B, 8},
    {"b128", WM_TYPE_B, 16},  {"u8", WM_TYPE_U, 1},    {"u16", WM_TYPE_U, 2},        {"u32", WM_TYPE_U, 4},
    {"u64", WM_TYPE_U, 8},    {"u128", WM_TYPE_U, 16}, {"s8", WM_TYPE_S, 1},         {"s16", WM_TYPE_S, 2},
    {"s32", WM_TYPE_S, 4},    {"s64", WM_TYPE_S, 8},   {"s128", WM_TYPE_S, 16},      {"f8", WM_TYPE_F, 1},
    {"f16", WM_TYPE_F, 2},    {"f32", WM_TYPE_F, 4},   {"f64", WM_TYPE_F, 8},        {"f128", WM_TYPE_F, 16},
    {"bf16", WM_TYPE_BF, 2},  {"f16x2", WM_TYPE_F_X2, 4}, {"bf16x2", WM_TYPE_BF_X2, 4}, {NULL, 0, 0}};

/* The text between two dots, taken from the front. */
struct cursor {
    const char *text;
    size_t length;
    size_t at;    /* start of the current word */
    size_t end;   /* its end */
    int has_word; /* 0 after the last one */
};

static void advance(struct cursor *cursor)
{
    size_t end;

    if (cursor->end >= cursor->length) {
        cursor->at = cursor->length;
        cursor->has_word = 0;
        return;
    }
    cursor->at = cursor->end + 1;
    for (end = cursor->at; end < cursor->length && cursor->text[end] != '.'; end++)
        ;
    cursor->end = end;
}

static void start(struct cursor *cursor, const char *text, size_t length)
{
    size_t end;

    for (end = 0; end < length && text[end] != '.'; end++)
        ;
    *cursor = (struct cursor){text, length, 0, end, 1};
}

static int word_is(const struct cursor *cursor, const char *text)
{
    size_t length = strlen(text);

    return cursor->has_word && cursor->end - cursor->at == length &&
           memcmp(cursor->text + cursor->at, text, length) == 0;
}

/* Takes the current word if it is in the table. */
static int take(struct cursor *cursor, const struct word *table, uint8_t *value)
{
    for (; table->text; table++) {
        if (word_is(cursor, table->text)) {
            *value = table->value;
            advance(cursor);
            return 1;
        }
    }
    return 0;
}

static int take_text(struct cursor *cursor, const char *text)
{
    if (!word_is(cursor, text))
        return 0;
    advance(cursor);
    return 1;
}

static int take_type(struct cursor *cursor, struct wm_opcode *opcode)
{
    for (const struct type_word *type = types; type->text; type++) {
        if (word_is(cursor, type->text)) {
            opcode->type = type->type;
            opcode->type_bytes = type->bytes;
            advance(cursor);
            return 1;
        }
    }
    return 0;
}

static int parse_load_store(struct cursor *cursor, struct wm_opcode *opcode)
{
    if (!take(cursor, spaces, &opcode->space))
        return 0;
    take(cursor, caches, &opcode->cache);
    take(cursor, vectors, &opcode->vector);
    return take_type(cursor, opcode);
}

static int parse_atomic(struct cursor *cursor, struct wm_opcode *opcode)
{
    return take(cursor, atomic_spaces, &opcode->space) && take(cursor, atomics, &opcode->atomic) &&
           take_type(cursor, opcode);
}

static int parse_matrix(struct cursor *cursor, struct wm_opcode *opcode)
{
    if (!take(cursor, matrices, &opcode->matrices))
        return 0;
    opcode->transposed = (uint8_t)take_text(cursor, "trans");
    opcode->space = WM_SHARED;
    opcode->type = WM_TYPE_B;
    opcode->type_bytes = 2;
    return take_text(cursor, "shared") && take_text(cursor, "b16");
}

static int parse_copy(struct cursor *cursor, struct wm_opcode *opcode)
{
    if (!take_text(cursor, "async"))
        return 0;
    opcode->space = WM_GLOBAL;
    opcode->type = WM_TYPE_B;
    if (take_text(cursor, "cg")) {
        opcode->cache = WM_CACHE_CG;
        opcode->type_bytes = 16;
        return take_text(cursor, "16");
    }
    opcode->cache = WM_CACHE_CA;
    return take_text(cursor, "ca") && take(cursor, copy_sizes, &opcode->type_bytes);
}

enum wm_status wm_opcode_parse(const char *text, size_t length, struct wm_opcode *out, size_t *error_at)
{
    struct cursor cursor;
    struct wm_opcode opcode = {.vector = 1};
    unsigned width;
    int fits = 0;

    if (!text || !out)
        return WM_E_ARGUMENT;
    start(&cursor, text, length);
    if (take(&cursor, operations, &opcode.operation)) {
        switch (opcode.operation) {
        case WM_LD:
        case WM_ST:
            fits = parse_load_store(&cursor, &opcode);
            break;
        case WM_ATOM:
        case WM_RED:
            fits = parse_atomic(&cursor, &opcode);
            break;
        case WM_LDMATRIX:
        case WM_STMATRIX:
            fits = parse_matrix(&cursor, &opcode);
            break;
        default:
            fits = parse_copy(&cursor, &opcode);
            break;
        }
    }
    if (!fits || cursor.has_word) {
        if (error_at)
            *error_at = cursor.at;
        return WM_E_SYNTAX;
    }
    width = opcode.matrices ? 16U : (unsigned)opcode.type_bytes * opcode.vector;
    if (width > 32)
        return WM_E_RANGE;
    opcode.width_bytes = (uint8_t)width;
    if (wm_opcode_check(&opcode) != WM_OK)
        return WM_E_RANGE;
    *out = opcode;
    return WM_OK;
}

static const char *find_text(const struct word *table, uint8_t value)
{
    for (; table->text; table++) {
        if (table->value == value)
            return table->text;
    }
    return NULL;
}

static const char *type_text(const struct wm_opcode *opcode)
{
    for (const struct type_word *type = types; type->text; type++) {
        if (type->type == opcode->type && type->bytes == opcode->type_bytes)
            return type->text;
    }
    return NULL;
}

static int is_load_store(const struct wm_opcode *opcode)
{
    return opcode->operation == WM_LD || opcode->operation == WM_ST;
}

enum wm_status wm_opcode_check(const struct wm_opcode *opcode)
{
    int valid;

    if (!opcode || opcode->reserved[0] || opcode->reserved[1] || opcode->transposed > 1)
        return WM_E_ARGUMENT;
    switch (opcode->operation) {
    case WM_LD:
    case WM_ST:
        valid = find_text(spaces, opcode->space) && opcode->cache <= WM_CACHE_WT && opcode->atomic == WM_ATOMIC_NONE &&
                type_text(opcode) && (opcode->vector == 1 || find_text(vectors, opcode->vector)) &&
                opcode->type_bytes * opcode->vector <= 32 &&
                opcode->width_bytes == opcode->type_bytes * opcode->vector && !opcode->matrices &&
                !opcode->transposed && (opcode->space != WM_SHARED_CLUSTER || opcode->cache == WM_CACHE_NONE);
        break;
    case WM_ATOM:
    case WM_RED:
        /* Atomics work on 2 to 16 bytes (PTX ISA, "atom": .b16 to .b128). */
        valid = (opcode->space <= WM_SHARED || opcode->space == WM_SHARED_CLUSTER) &&
                opcode->cache == WM_CACHE_NONE && find_text(atomics, opcode->atomic) &&
                type_text(opcode) && opcode->type_bytes >= 2 && opcode->vector == 1 &&
                opcode->width_bytes == opcode->type_bytes && !opcode->matrices && !opcode->transposed;
        break;
    case WM_LDMATRIX:
    case WM_STMATRIX:
        valid = opcode->space == WM_SHARED && opcode->cache == WM_CACHE_NONE && opcode->atomic == WM_ATOMIC_NONE &&
                opcode->type == WM_TYPE_B && opcode->type_bytes == 2 && opcode->vector == 1 &&
                find_text(matrices, opcode->matrices) && opcode->width_bytes == 16;
        break;
    case WM_CP_ASYNC:
        valid = opcode->space == WM_GLOBAL && opcode->atomic == WM_ATOMIC_NONE && opcode->type == WM_TYPE_B &&
                opcode->vector == 1 && opcode->width_bytes == opcode->type_bytes && !opcode->matrices &&
                !opcode->transposed &&
                ((opcode->cache == WM_CACHE_CA && opcode->width_bytes >= 4 && find_text(copy_sizes, opcode->width_bytes)) ||
                 (opcode->cache == WM_CACHE_CG && opcode->width_bytes == 16));
        break;
    default:
        valid = 0;
        break;
    }
    return valid ? WM_OK : WM_E_ARGUMENT;
}

/* Appends ".word" or, at the start, "word". */
static size_t append(char *text, size_t at, const char *word)
{
    size_t length = strlen(word);

    if (at)
        text[at++] = '.';
    memcpy(text + at, word, length + 1);
    return at + length;
}

size_t wm_opcode_format(const struct wm_opcode *opcode, char text[WM_OPCODE_TEXT_SIZE])
{
    size_t at;

    if (wm_opcode_check(opcode) != WM_OK)
        return 0;
    at = append(text, 0, find_text(operations, opcode->operation));
    if (is_load_store(opcode)) {
        at = append(text, at, find_text(spaces, opcode->space));
        if (opcode->cache != WM_CACHE_NONE)
            at = append(text, at, find_text(caches, opcode->cache));
        if (opcode->vector != 1)
            at = append(text, at, find_text(vectors, opcode->vector));
        return append(text, at, type_text(opcode));
    }
    if (opcode->operation == WM_CP_ASYNC) {
        at = append(text, at, "async");
        at = append(text, at, find_text(caches, opcode->cache));
        return append(text, at, find_text(copy_sizes, opcode->type_bytes));
    }
    if (opcode->matrices) {
        at = append(text, at, find_text(matrices, opcode->matrices));
        if (opcode->transposed)
            at = append(text, at, "trans");
        at = append(text, at, "shared");
        return append(text, at, "b16");
    }
    at = append(text, at, find_text(spaces, opcode->space));
    at = append(text, at, find_text(atomics, opcode->atomic));
    return append(text, at, type_text(opcode));
}
