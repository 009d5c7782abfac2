/*
 * NVIDIA's machine opcodes (SASS), as Accel-Sim and NVBit name them: what they do, and how wide.
 *
 * Sources: the instruction set tables of "CUDA Binary Utilities", sm_70 to sm_100, for what the instructions are; for the
 * modifiers, what nvcc 13 emits for each PTX cache operator on sm_90: ld .ca .cg .cs .lu .cv .nc are STRONG.SM,
 * STRONG.GPU, EF, LU, STRONG.SYS, CONSTANT, and st .wb .cg .cs .wt are STRONG.SM, STRONG.GPU, EF, STRONG.SYS. Volta's
 * plain accesses end in .SYS without .STRONG.
 */
#include "trace/trace.h"

#include <string.h>

/* The instructions that are modelled, by their first word. */
struct instruction {
    const char *name;
    uint8_t operation;
    uint8_t space;
    uint8_t kind;
};

static const struct instruction instructions[] = {
    {"LDG", WM_LD, WM_GLOBAL, WMI_SASS_PLAIN},        {"STG", WM_ST, WM_GLOBAL, WMI_SASS_PLAIN},
    {"LDS", WM_LD, WM_SHARED, WMI_SASS_PLAIN},        {"STS", WM_ST, WM_SHARED, WMI_SASS_PLAIN},
    {"LDL", WM_LD, WM_LOCAL, WMI_SASS_PLAIN},         {"STL", WM_ST, WM_LOCAL, WMI_SASS_PLAIN},
    {"LDC", WM_LD, WM_CONST, WMI_SASS_PLAIN},         {"LDCU", WM_LD, WM_CONST, WMI_SASS_PLAIN},
    {"LD", WM_LD, WM_GENERIC, WMI_SASS_GENERIC},      {"ST", WM_ST, WM_GENERIC, WMI_SASS_GENERIC},
    {"ATOMG", WM_ATOM, WM_GLOBAL, WMI_SASS_PLAIN},    {"ATOMS", WM_ATOM, WM_SHARED, WMI_SASS_PLAIN},
    {"ATOM", WM_ATOM, WM_GLOBAL, WMI_SASS_GENERIC},   {"RED", WM_RED, WM_GLOBAL, WMI_SASS_GENERIC},
    {"REDG", WM_RED, WM_GLOBAL, WMI_SASS_GENERIC},    {"LDSM", WM_LDMATRIX, WM_SHARED, WMI_SASS_PLAIN},
    {"STSM", WM_STMATRIX, WM_SHARED, WMI_SASS_PLAIN}, {"LDGSTS", WM_LD, WM_GLOBAL, WMI_SASS_COPY},
};

/* What a modifier says, of those that say something the model or the opcode's text wants. */
enum role {
    IGNORED,
    ELEMENT, /* type and size of the element; vector lanes of it */
    LOAD_STORE_CACHE,
    SCOPE, /* behind STRONG */
    ATOMIC,
    MATRIX, /* value: transposed */
    COUNT   /* value: matrices; also a width in other instructions */
};

struct modifier {
    const char *name;
    uint8_t role;
    uint8_t value; /* cache, atomic, transposed */
    uint8_t type;  /* elements */
    uint8_t type_bytes;
    uint8_t vector; /* elements of a load or store; atomics have one of type_bytes * vector */
};

static const struct modifier modifiers[] = {
    {"U8", ELEMENT, 0, WM_TYPE_U, 1, 1},
    {"S8", ELEMENT, 0, WM_TYPE_S, 1, 1},
    {"U16", ELEMENT, 0, WM_TYPE_U, 2, 1},
    {"S16", ELEMENT, 0, WM_TYPE_S, 2, 1},
    {"32", ELEMENT, 0, WM_TYPE_B, 4, 1},
    {"U32", ELEMENT, 0, WM_TYPE_U, 4, 1},
    {"S32", ELEMENT, 0, WM_TYPE_S, 4, 1},
    {"64", ELEMENT, 0, WM_TYPE_B, 4, 2},
    {"U64", ELEMENT, 0, WM_TYPE_U, 8, 1},
    {"S64", ELEMENT, 0, WM_TYPE_S, 8, 1},
    {"128", ELEMENT, 0, WM_TYPE_B, 4, 4},
    {"256", ELEMENT, 0, WM_TYPE_B, 4, 8},
    {"F16", ELEMENT, 0, WM_TYPE_F, 2, 1},
    {"F32", ELEMENT, 0, WM_TYPE_F, 4, 1},
    {"F64", ELEMENT, 0, WM_TYPE_F, 8, 1},
    {"BF16", ELEMENT, 0, WM_TYPE_BF, 2, 1},
    {"F16x2", ELEMENT, 0, WM_TYPE_F_X2, 4, 1},
    {"BF16x2", ELEMENT, 0, WM_TYPE_BF_X2, 4, 1},
    {"BF16_V2", ELEMENT, 0, WM_TYPE_BF_X2, 4, 1},
    {"CONSTANT", LOAD_STORE_CACHE, WM_CACHE_NC, 0, 0, 0},
    {"EF", LOAD_STORE_CACHE, WM_CACHE_CS, 0, 0, 0},
    {"LU", LOAD_STORE_CACHE, WM_CACHE_LU, 0, 0, 0},
    {"SM", SCOPE, WM_CACHE_CA, 0, 0, 0},
    {"CTA", SCOPE, WM_CACHE_CA, 0, 0, 0},
    {"GPU", SCOPE, WM_CACHE_CG, 0, 0, 0},
    {"SYS", SCOPE, WM_CACHE_CV, 0, 0, 0},
    {"ADD", ATOMIC, WM_ATOMIC_ADD, 0, 0, 0},
    {"EXCH", ATOMIC, WM_ATOMIC_EXCH, 0, 0, 0},
    {"MIN", ATOMIC, WM_ATOMIC_MIN, 0, 0, 0},
    {"MAX", ATOMIC, WM_ATOMIC_MAX, 0, 0, 0},
    {"AND", ATOMIC, WM_ATOMIC_AND, 0, 0, 0},
    {"OR", ATOMIC, WM_ATOMIC_OR, 0, 0, 0},
    {"XOR", ATOMIC, WM_ATOMIC_XOR, 0, 0, 0},
    {"INC", ATOMIC, WM_ATOMIC_INC, 0, 0, 0},
    {"DEC", ATOMIC, WM_ATOMIC_DEC, 0, 0, 0},
    {"CAS", ATOMIC, WM_ATOMIC_CAS, 0, 0, 0},
    {"CAST", ATOMIC, WM_ATOMIC_CAS, 0, 0, 0},
    {"M88", MATRIX, 0, 0, 0, 0},
    {"MT88", MATRIX, 1, 0, 0, 0},
    {"1", COUNT, 1, 0, 0, 0},
    {"2", COUNT, 2, 0, 0, 0},
    {"4", COUNT, 4, 0, 0, 0},
    /* Have a digit, and no say in the width: how much L2 fetches, and its eviction policy. */
    {"LTC64B", IGNORED, 0, 0, 0, 0},
    {"LTC128B", IGNORED, 0, 0, 0, 0},
    {"LTC256B", IGNORED, 0, 0, 0, 0},
    {"EFL2", IGNORED, 0, 0, 0, 0},
    {"ELL2", IGNORED, 0, 0, 0, 0},
    {"ENL2", IGNORED, 0, 0, 0, 0},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static int is_text(const char *word, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

static const struct modifier *find_modifier(const char *word, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(modifiers); i++) {
        if (is_text(word, length, modifiers[i].name))
            return &modifiers[i];
    }
    return NULL;
}

static int has_digit(const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (word[i] >= '0' && word[i] <= '9')
            return 1;
    }
    return 0;
}

/* What the modifiers said. */
struct summary {
    const struct modifier *element;
    const struct modifier *cache;
    const struct modifier *scope;
    uint8_t atomic;
    uint8_t matrices;
    const struct modifier *matrix;
    int strong;
    int bypass;
    int popc;
};

/* Adds one modifier. Returns 0 if the instruction cannot be understood any more. */
static int add_modifier(struct summary *summary, const char *word, size_t length)
{
    const struct modifier *modifier = find_modifier(word, length);

    if (!modifier) {
        summary->strong |= is_text(word, length, "STRONG");
        summary->bypass |= is_text(word, length, "BYPASS");
        summary->popc |= is_text(word, length, "POPC");
        /* Of the unknown ones, only those with a digit could be a size. */
        return !has_digit(word, length);
    }
    switch ((enum role)modifier->role) {
    case ELEMENT:
        if (summary->element)
            return 0;
        summary->element = modifier;
        break;
    case LOAD_STORE_CACHE: summary->cache = modifier; break;
    case SCOPE: summary->scope = modifier; break;
    case ATOMIC: summary->atomic = modifier->value; break;
    case MATRIX: summary->matrix = modifier; break;
    case COUNT: summary->matrices = modifier->value; break;
    case IGNORED: break;
    }
    return 1;
}

static void set_element(struct wm_opcode *opcode, const struct summary *summary)
{
    static const struct modifier word = {"", ELEMENT, 0, WM_TYPE_B, 4, 1};
    const struct modifier *element = summary->element ? summary->element : &word;

    opcode->type = element->type;
    opcode->type_bytes = element->type_bytes;
    opcode->vector = element->vector;
    opcode->width_bytes = (uint8_t)(element->type_bytes * element->vector);
}

static void set_cache(struct wm_opcode *opcode, const struct summary *summary)
{
    if (opcode->space != WM_GLOBAL && opcode->space != WM_GENERIC)
        return;
    if (summary->cache)
        opcode->cache = summary->cache->value;
    else if (summary->strong && summary->scope)
        opcode->cache = summary->scope->value;
    if (opcode->operation != WM_ST)
        return;
    if (opcode->cache == WM_CACHE_CA)
        opcode->cache = WM_CACHE_WB;
    else if (opcode->cache == WM_CACHE_CV)
        opcode->cache = WM_CACHE_WT;
}

/* Atomics are on one element, of which a bare 64 says the size. Without a type they are unsigned, or just bits. */
static void set_atomic(struct wm_opcode *opcode, const struct summary *summary)
{
    /* POPC.INC adds the number of active lanes: what atomicAdd(p, 1) becomes. PTX's inc wraps, this does not. */
    opcode->atomic = summary->popc ? (uint8_t)WM_ATOMIC_ADD : summary->atomic;
    opcode->type_bytes = opcode->width_bytes;
    opcode->vector = 1;
    if (opcode->type != WM_TYPE_B)
        return;
    switch (opcode->atomic) {
    case WM_ATOMIC_ADD:
    case WM_ATOMIC_MIN:
    case WM_ATOMIC_MAX:
    case WM_ATOMIC_INC:
    case WM_ATOMIC_DEC: opcode->type = WM_TYPE_U; break;
    default: break;
    }
}

/* LDSM.16.M88.4: rows of eight 16-bit elements; the width in the text is the element's. */
static int set_matrix(struct wm_opcode *opcode, const struct summary *summary)
{
    if (!summary->matrix || summary->element)
        return 0;
    opcode->type_bytes = 2;
    opcode->vector = 1;
    opcode->width_bytes = 16;
    opcode->matrices = summary->matrices ? summary->matrices : 1;
    opcode->transposed = summary->matrix->value;
    return 1;
}

static const struct instruction *find_instruction(const char *text, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(instructions); i++) {
        if (is_text(text, length, instructions[i].name))
            return &instructions[i];
    }
    return NULL;
}

/* Length of the word at text, up to a dot. */
static size_t word_length(const char *text, size_t length)
{
    const char *dot = memchr(text, '.', length);

    return dot ? (size_t)(dot - text) : length;
}

enum wmi_sass_kind wmi_sass_decode(const char *text, size_t length, struct wm_opcode *out)
{
    size_t word = word_length(text, length);
    const struct instruction *instruction = find_instruction(text, word);
    struct summary summary = {0};
    struct wm_opcode opcode = {0};
    int matrix;

    if (!instruction)
        return WMI_SASS_UNKNOWN;
    matrix = instruction->operation == WM_LDMATRIX || instruction->operation == WM_STMATRIX;
    for (size_t at = word + 1; at < length; at += word + 1) {
        word = word_length(text + at, length - at);
        if (matrix && is_text(text + at, word, "16"))
            continue;
        if (!add_modifier(&summary, text + at, word))
            return WMI_SASS_UNKNOWN;
    }
    opcode.operation = instruction->operation;
    opcode.space = instruction->space;
    if (matrix) {
        if (!set_matrix(&opcode, &summary))
            return WMI_SASS_UNKNOWN;
    } else if (summary.matrix || summary.matrices) {
        return WMI_SASS_UNKNOWN;
    } else {
        set_element(&opcode, &summary);
        if (opcode.operation == WM_ATOM || opcode.operation == WM_RED)
            set_atomic(&opcode, &summary);
        else if (instruction->kind == WMI_SASS_COPY)
            opcode.cache = summary.bypass ? WM_CACHE_CG : WM_CACHE_CA;
        else
            set_cache(&opcode, &summary);
    }
    if (wm_opcode_check(&opcode) != WM_OK)
        return WMI_SASS_UNKNOWN;
    *out = opcode;
    return (enum wmi_sass_kind)instruction->kind;
}

const struct wmi_opcode_slot *wmi_sass(struct wmi_parser *parser, const char *text, size_t length,
                                       struct wmi_opcode_slot *scratch)
{
    struct wmi_opcode_slot *slot = wmi_opcode_slot(parser, text, length);

    if (slot && slot->length)
        return slot;
    if (!slot)
        slot = scratch;
    slot->kind = (int)wmi_sass_decode(text, length, &slot->opcode);
    slot->length = (uint32_t)length;
    return slot;
}

/* First words, by their two first letters. The memory of tensor cores (sm_100) is neither. */
int wmi_sass_moves_data(const char *text, size_t length)
{
    static const char *const begins[] = {
        "UBLKCP", "UBLKRED", "UBLKPF",                   /* bulk copies and reductions */
        "UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF",      /* of tensors */
        "HGMMA", "QGMMA", "IGMMA", "BGMMA",              /* wgmma */
        "UTCHMMA", "UTCQMMA", "UTCIMMA", "UTCOMMA", "UTCMXQMMA", "UTCCP", /* tcgen05 */
        "SYNCS", "ARRIVES",                              /* mbarriers */
        "STAS", "REDAS",                                 /* st.async, red.async */
        "LDGMC",                                         /* multimem */
        "TEX", "TLD", "TLD4", "TXD",                     /* textures; and surfaces */
        "SULD", "SUST", "SUATOM", "SURED",
    };
    const size_t word = word_length(text, length);

    /* Nearly all instructions end here. */
    if (length < 3)
        return 0;
    switch (text[0] << 8 | text[1]) {
    case 'U' << 8 | 'B':
    case 'U' << 8 | 'T':
    case 'H' << 8 | 'G':
    case 'Q' << 8 | 'G':
    case 'I' << 8 | 'G':
    case 'B' << 8 | 'G':
    case 'S' << 8 | 'Y':
    case 'A' << 8 | 'R':
    case 'S' << 8 | 'T':
    case 'R' << 8 | 'E':
    case 'L' << 8 | 'D':
    case 'T' << 8 | 'E':
    case 'T' << 8 | 'L':
    case 'T' << 8 | 'X':
    case 'S' << 8 | 'U': break;
    default: return 0;
    }
    for (size_t i = 0; i < COUNT_OF(begins); i++) {
        if (is_text(text, word, begins[i]))
            return 1;
    }
    return 0;
}

void wmi_sass_own_offsets(struct wm_access *access)
{
    uint64_t all = 0;

    if (access->opcode.space != WM_SHARED)
        return;
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        all |= access->address[lane] & (0 - (uint64_t)(access->mask >> lane & 1));
    if (all < WMI_CLUSTER_BLOCK_BYTES || all >= WMI_CLUSTER_BYTES)
        return;
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access->address[lane] &= WMI_CLUSTER_BLOCK_BYTES - 1;
}

void wmi_sass_unknown(struct wmi_parser *parser, const char *text, size_t length)
{
    struct wm_reader_notes *notes = &parser->notes;

    if (notes->opcodes_unknown++ > 0)
        return;
    if (length > sizeof notes->first_unknown - 1)
        length = sizeof notes->first_unknown - 1;
    for (size_t i = 0; i < length; i++)
        notes->first_unknown[i] = (char)(text[i] > ' ' && text[i] <= '~' ? text[i] : '?');
    notes->first_unknown[length] = '\0';
}
