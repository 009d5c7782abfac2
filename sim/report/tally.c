/* Sums of counts by kernel, source line, pc or opcode.
 *
 * Kernel and file names are interned, so that a group's key is a few integers and the path of an access whose group
 * exists already hashes no string. Interned names are compared by content every time: a caller may reuse the memory
 * behind a pointer for another name. */
#include "warpmem.h"

#include <stdlib.h>
#include <string.h>

#define MAX_GROUPS 131072u

/* Groups are allocated in blocks, so that rows stay where they are. */
#define BLOCK_GROUPS 64u

/* Sums stay below this, so that they fit every consumer's signed 64-bit integer (JSON's among them). */
#define MAX_SUM ((uint64_t)INT64_MAX)

#define NO_NAME 0u

#define ALL_COUNTERS ((1u << WM_COUNTERS) - 1)

/* The counters are added as an array. */
_Static_assert(offsetof(struct wm_counts, inexact) == WM_COUNTERS * sizeof(uint32_t),
               "one word per counter comes first");
_Static_assert(offsetof(struct wm_counts, ways) == WM_WAYS * sizeof(uint32_t), "counters stand in the enum's order");
_Static_assert(offsetof(struct wm_counts, lsu_writeback) == WM_LSU_WRITEBACK * sizeof(uint32_t), "likewise");
_Static_assert(sizeof(struct wm_opcode) == 12, "opcodes are hashed as 12 bytes");

/* An open-addressing hash table of indices: slots hold index + 1, or 0. The size is a power of two. */
struct index_table {
    uint32_t *slots;
    uint32_t size;
    uint32_t used;
};

struct name {
    char *text;
    uint64_t hash;
};

struct opcode_info {
    struct wm_opcode opcode;
    uint32_t inexact_mask; /* bit c: counter c is not exact */
    uint8_t exactness[WM_COUNTERS];
};

/* What makes two accesses fall into one group; 0 (WM_NO_PC) in what the grouping merges. Made of whole words: a load that
 * spans two recent stores would wait for them. */
struct key {
    uint64_t pc;
    uint64_t opcode_head;     /* an opcode's first 8 bytes */
    uint64_t kernel_and_tail; /* number of the name; the opcode's last 4 bytes */
    uint64_t file_and_line;   /* number of the name; source line */
};

/* What makes one access worse than another: compared in this order. */
struct waste {
    uint64_t excess; /* sectors and shared wavefronts above their ideals */
    uint64_t passes; /* of the tag stage and both sides of the data stage */
    uint32_t lanes;  /* active ones */
};

struct group {
    struct key key;
    uint32_t row_file; /* name of row.file; a pc's line is dropped where accesses disagree about it */
    uint32_t opcode;   /* number of the opcode; by kernel, of the group's first access */
    struct waste waste;
    struct wm_tally_row row;
};

struct wm_tally {
    const wm_arch *arch;
    enum wm_by by;

    struct name *names; /* names[0] is "no name" */
    uint32_t names_used;
    uint32_t names_size;
    struct index_table name_table;
    uint32_t last_kernel;
    uint32_t last_file;

    struct opcode_info *opcodes;
    uint32_t opcodes_used;
    uint32_t opcodes_size;
    struct index_table opcode_table;
    uint32_t last_opcode;

    struct group **blocks;
    uint32_t blocks_used;
    uint32_t blocks_size;
    uint32_t groups_used;
    struct index_table group_table;
};

/* ------------------------------------------------------------------------------------------------------------ hashes */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return mix(hash, 0);
}

/* Opcodes have no padding: they are hashed and compared as 8 and 4 bytes. */
static void split_opcode(const struct wm_opcode *opcode, uint64_t *head, uint32_t *tail)
{
    memcpy(head, opcode, sizeof *head);
    memcpy(tail, (const char *)opcode + sizeof *head, sizeof *tail);
}

static int same_opcode(const struct wm_opcode *a, const struct wm_opcode *b)
{
    uint64_t heads[2];
    uint32_t tails[2];

    split_opcode(a, &heads[0], &tails[0]);
    split_opcode(b, &heads[1], &tails[1]);
    return heads[0] == heads[1] && tails[0] == tails[1];
}

static uint64_t hash_opcode(const struct wm_opcode *opcode)
{
    uint64_t head;
    uint32_t tail;

    split_opcode(opcode, &head, &tail);
    return mix(mix(0, head), tail);
}

static uint64_t hash_key(const struct key *key)
{
    /* odd constants without a pattern; the products do not wait for each other */
    uint64_t hash = key->pc * UINT64_C(0x9e3779b97f4a7c15) ^ key->opcode_head * UINT64_C(0xd6e8feb86659fd93) ^
                    key->kernel_and_tail * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                    key->file_and_line * UINT64_C(0xff51afd7ed558ccd);

    return hash ^ hash >> 32;
}

static int same_key(const struct key *a, const struct key *b)
{
    return a->pc == b->pc && a->opcode_head == b->opcode_head && a->kernel_and_tail == b->kernel_and_tail &&
           a->file_and_line == b->file_and_line;
}

/* Makes room for one more index. hash_of gives the hash of an index that the table holds already. */
static enum wm_status reserve_slot(struct index_table *table, const struct wm_tally *tally,
                                   uint64_t (*hash_of)(const struct wm_tally *tally, uint32_t index))
{
    uint32_t size = table->size ? table->size * 2 : 64;
    uint32_t *slots;

    if ((table->used + 1) * 2 <= table->size)
        return WM_OK;
    slots = calloc(size, sizeof *slots);
    if (!slots)
        return WM_E_MEMORY;
    for (uint32_t i = 0; i < table->size; i++) {
        uint32_t at;

        if (!table->slots[i])
            continue;
        at = (uint32_t)hash_of(tally, table->slots[i] - 1) & (size - 1);
        while (slots[at])
            at = (at + 1) & (size - 1);
        slots[at] = table->slots[i];
    }
    free(table->slots);
    table->slots = slots;
    table->size = size;
    return WM_OK;
}

/* Fills a slot; reserve_slot() went before. */
static void fill_slot(struct index_table *table, uint64_t hash, uint32_t index)
{
    uint32_t at = (uint32_t)hash & (table->size - 1);

    while (table->slots[at])
        at = (at + 1) & (table->size - 1);
    table->slots[at] = index + 1;
    table->used++;
}

/* Doubles an array where it is full. */
static enum wm_status reserve_element(void **array, uint32_t used, uint32_t *size, size_t element_size)
{
    uint32_t wanted = *size ? *size * 2 : 16;
    void *larger;

    if (used < *size)
        return WM_OK;
    larger = realloc(*array, wanted * element_size);
    if (!larger)
        return WM_E_MEMORY;
    *array = larger;
    *size = wanted;
    return WM_OK;
}

/* ------------------------------------------------------------------------------------------------------------- names */

static uint64_t hash_of_name(const struct wm_tally *tally, uint32_t index)
{
    return tally->names[index].hash;
}

static enum wm_status add_name(struct wm_tally *tally, const char *text, uint64_t hash, uint32_t *out)
{
    size_t size = strlen(text) + 1;
    void *names = tally->names;
    struct name *name;
    enum wm_status status;

    status = reserve_element(&names, tally->names_used, &tally->names_size, sizeof *tally->names);
    tally->names = names;
    if (!status)
        status = reserve_slot(&tally->name_table, tally, hash_of_name);
    if (status)
        return status;
    name = &tally->names[tally->names_used];
    name->hash = hash;
    name->text = malloc(size);
    if (!name->text)
        return WM_E_MEMORY;
    memcpy(name->text, text, size);
    fill_slot(&tally->name_table, hash, tally->names_used);
    *out = tally->names_used++;
    return WM_OK;
}

/* The number of a name; *last is the one that the last access had in this place. */
static enum wm_status find_name(struct wm_tally *tally, const char *text, uint32_t *last)
{
    const struct index_table *table = &tally->name_table;
    uint64_t hash;

    if (*last != NO_NAME && strcmp(tally->names[*last].text, text) == 0)
        return WM_OK;
    hash = hash_text(text);
    if (table->size) {
        uint32_t at = (uint32_t)hash & (table->size - 1);

        for (; table->slots[at]; at = (at + 1) & (table->size - 1)) {
            const struct name *name = &tally->names[table->slots[at] - 1];

            if (name->hash == hash && strcmp(name->text, text) == 0) {
                *last = table->slots[at] - 1;
                return WM_OK;
            }
        }
    }
    return add_name(tally, text, hash, last);
}

/* ----------------------------------------------------------------------------------------------------------- opcodes */

static uint64_t hash_of_opcode(const struct wm_tally *tally, uint32_t index)
{
    return hash_opcode(&tally->opcodes[index].opcode);
}

static enum wm_status add_opcode(struct wm_tally *tally, const struct wm_opcode *opcode, uint64_t hash, uint32_t *out)
{
    void *opcodes = tally->opcodes;
    struct opcode_info *info;
    enum wm_status status;

    status = reserve_element(&opcodes, tally->opcodes_used, &tally->opcodes_size, sizeof *tally->opcodes);
    tally->opcodes = opcodes;
    if (!status)
        status = reserve_slot(&tally->opcode_table, tally, hash_of_opcode);
    if (status)
        return status;
    info = &tally->opcodes[tally->opcodes_used];
    info->opcode = *opcode;
    info->inexact_mask = 0;
    for (int c = 0; c < WM_COUNTERS; c++) {
        enum wm_exactness exactness = wm_arch_exactness(tally->arch, opcode, (enum wm_counter)c);

        info->exactness[c] = (uint8_t)exactness;
        if (exactness != WM_EXACT)
            info->inexact_mask |= 1u << c;
    }
    fill_slot(&tally->opcode_table, hash, tally->opcodes_used);
    *out = tally->opcodes_used++;
    return WM_OK;
}

/* The number of an opcode. */
static enum wm_status find_opcode(struct wm_tally *tally, const struct wm_opcode *opcode, uint32_t *out)
{
    const struct index_table *table = &tally->opcode_table;
    uint64_t hash;
    enum wm_status status;

    *out = tally->last_opcode;
    if (*out < tally->opcodes_used && same_opcode(&tally->opcodes[*out].opcode, opcode))
        return WM_OK;
    hash = hash_opcode(opcode);
    if (table->size) {
        uint32_t at = (uint32_t)hash & (table->size - 1);

        for (; table->slots[at]; at = (at + 1) & (table->size - 1)) {
            *out = table->slots[at] - 1;
            if (same_opcode(&tally->opcodes[*out].opcode, opcode)) {
                tally->last_opcode = *out;
                return WM_OK;
            }
        }
    }
    status = add_opcode(tally, opcode, hash, out);
    if (!status)
        tally->last_opcode = *out;
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ groups */

static struct group *group_at(const struct wm_tally *tally, uint32_t index)
{
    return &tally->blocks[index / BLOCK_GROUPS][index % BLOCK_GROUPS];
}

static uint64_t hash_of_group(const struct wm_tally *tally, uint32_t index)
{
    return hash_key(&group_at(tally, index)->key);
}

static enum wm_status reserve_group(struct wm_tally *tally)
{
    void *blocks = tally->blocks;
    enum wm_status status;

    if (tally->groups_used == MAX_GROUPS)
        return WM_E_RANGE;
    status = reserve_slot(&tally->group_table, tally, hash_of_group);
    if (status || tally->groups_used < tally->blocks_used * BLOCK_GROUPS)
        return status;
    status = reserve_element(&blocks, tally->blocks_used, &tally->blocks_size, sizeof(struct group *));
    tally->blocks = blocks;
    if (status)
        return status;
    tally->blocks[tally->blocks_used] = malloc(BLOCK_GROUPS * sizeof(struct group));
    if (!tally->blocks[tally->blocks_used])
        return WM_E_MEMORY;
    tally->blocks_used++;
    return WM_OK;
}

/* What an access is filed under: the key, and what the row shows besides. A pc's row shows its source line. */
struct place {
    struct key key;
    const struct wm_opcode *opcode;
    uint32_t row_kernel;
    uint32_t row_file;
    uint32_t row_line;
};

/* A group without accesses. It counts as one of the tally's only once commit_group() says so. */
static enum wm_status init_group(struct wm_tally *tally, const struct place *place, struct group *group)
{
    struct wm_tally_row *row = &group->row;

    memset(group, 0, sizeof *group);
    group->key = place->key;
    group->row_file = place->row_file;
    row->kernel = place->row_kernel ? tally->names[place->row_kernel].text : "";
    row->file = place->row_file ? tally->names[place->row_file].text : NULL;
    row->line = place->row_line;
    row->pc = place->key.pc;
    row->has_opcode = tally->by != WM_BY_KERNEL;
    if (row->has_opcode)
        row->opcode = *place->opcode;
    return find_opcode(tally, place->opcode, &group->opcode);
}

/* The group of a place, or a new one (*is_new), which the caller fills and commits. */
static enum wm_status find_group(struct wm_tally *tally, const struct place *place, struct group **out, int *is_new)
{
    const struct index_table *table = &tally->group_table;
    enum wm_status status;

    *is_new = 0;
    if (table->size) {
        uint32_t at = (uint32_t)hash_key(&place->key) & (table->size - 1);

        for (; table->slots[at]; at = (at + 1) & (table->size - 1)) {
            struct group *group = group_at(tally, table->slots[at] - 1);

            if (same_key(&group->key, &place->key)) {
                *out = group;
                return WM_OK;
            }
        }
    }
    *is_new = 1;
    status = reserve_group(tally);
    if (status)
        return status;
    *out = group_at(tally, tally->groups_used);
    return init_group(tally, place, *out);
}

/* A new group's source file. */
static enum wm_status set_source(struct wm_tally *tally, const char *source, struct group *group)
{
    uint32_t name = NO_NAME;
    enum wm_status status;

    if (!source || tally->by == WM_BY_OPCODE)
        return WM_OK;
    status = find_name(tally, source, &name);
    if (!status)
        group->row.source = tally->names[name].text;
    return status;
}

static void commit_group(struct wm_tally *tally, const struct group *group)
{
    fill_slot(&tally->group_table, hash_key(&group->key), tally->groups_used);
    tally->groups_used++;
}

static enum wm_status find_place(struct wm_tally *tally, const char *kernel, const char *file, uint32_t line,
                                 uint64_t pc, const struct wm_opcode *opcode, struct place *out)
{
    const enum wm_by by = tally->by;
    int with_line = line != 0 && (by == WM_BY_LINE || by == WM_BY_PC);
    uint64_t head = 0;
    uint32_t tail = 0;
    enum wm_status status;

    out->opcode = opcode;
    out->row_kernel = NO_NAME;
    out->row_file = NO_NAME;
    out->row_line = with_line ? line : 0;
    if (by != WM_BY_OPCODE) {
        status = find_name(tally, kernel, &tally->last_kernel);
        if (status)
            return status;
        out->row_kernel = tally->last_kernel;
    }
    if (with_line && file) {
        status = find_name(tally, file, &tally->last_file);
        if (status)
            return status;
        out->row_file = tally->last_file;
    }
    if (by != WM_BY_KERNEL)
        split_opcode(opcode, &head, &tail);
    out->key.pc = (by == WM_BY_LINE && !with_line) || by == WM_BY_PC ? pc : WM_NO_PC;
    out->key.opcode_head = head;
    out->key.kernel_and_tail = (uint64_t)out->row_kernel << 32 | tail;
    out->key.file_and_line = by == WM_BY_LINE ? (uint64_t)out->row_file << 32 | out->row_line : 0;
    return WM_OK;
}

/* ------------------------------------------------------------------------------------------------------------ adding */

/* Executions of a group below which no sum can be above MAX_SUM: each adds less than 2^32 to it. */
#define SAFE_INSTRUCTIONS ((uint64_t)1 << 31)

/* What is added to a row at once. */
struct addend {
    uint64_t instructions;
    uint64_t lanes;
    uint64_t bytes;
    uint64_t sums[WM_COUNTERS]; /* WM_WAYS: the largest */
};

/* Adds to the row, all or nothing. Every value of the addend and of the row is at most MAX_SUM, so no addition wraps. */
static enum wm_status add_checked(struct wm_tally_row *row, const struct addend *addend)
{
    uint64_t ways = row->sums[WM_WAYS] > addend->sums[WM_WAYS] ? row->sums[WM_WAYS] : addend->sums[WM_WAYS];
    uint64_t instructions = row->instructions + addend->instructions;
    uint64_t lanes = row->lanes + addend->lanes;
    uint64_t bytes = row->bytes + addend->bytes;
    uint64_t all = instructions | lanes | bytes;
    uint64_t sums[WM_COUNTERS];

    for (int c = 0; c < WM_COUNTERS; c++) {
        sums[c] = c == WM_WAYS ? ways : row->sums[c] + addend->sums[c];
        all |= sums[c];
    }
    if (all > MAX_SUM)
        return WM_E_RANGE;
    row->instructions = instructions;
    row->lanes = lanes;
    row->bytes = bytes;
    memcpy(row->sums, sums, sizeof sums);
    return WM_OK;
}

/* *sum = value * count, unless that is above MAX_SUM. */
static int multiply(uint64_t value, uint64_t count, uint64_t *sum)
{
    if (value && count > MAX_SUM / value)
        return 0;
    *sum = value * count;
    return 1;
}

/* The way of an access whose executions are many. */
static enum wm_status add_many(struct wm_tally_row *row, const struct wm_access *access, uint32_t lanes,
                               const uint32_t values[WM_COUNTERS])
{
    uint64_t count = access->count;
    struct addend addend;
    int fits = multiply(1, count, &addend.instructions) && multiply(lanes, count, &addend.lanes) &&
               multiply((uint64_t)lanes * access->opcode.width_bytes, count, &addend.bytes);

    for (int c = 0; c < WM_COUNTERS; c++)
        fits = fits && multiply(values[c], c == WM_WAYS ? 1 : count, &addend.sums[c]);
    return fits ? add_checked(row, &addend) : WM_E_RANGE;
}

static enum wm_status add_to_row(struct wm_tally_row *row, const struct wm_access *access, uint32_t lanes,
                                 const struct wm_counts *counts)
{
    uint64_t count = access->count;
    uint64_t ways = row->sums[WM_WAYS];
    uint32_t values[WM_COUNTERS];

    memcpy(values, counts, sizeof values);
    if (count >= SAFE_INSTRUCTIONS || row->instructions + count >= SAFE_INSTRUCTIONS)
        return add_many(row, access, lanes, values);
    row->instructions += count;
    row->lanes += lanes * count;
    row->bytes += (uint64_t)lanes * access->opcode.width_bytes * count;
    if (count == 1) {
        for (int c = 0; c < WM_COUNTERS; c++)
            row->sums[c] += values[c];
    } else {
        for (int c = 0; c < WM_COUNTERS; c++)
            row->sums[c] += values[c] * count;
    }
    row->sums[WM_WAYS] = counts->ways > ways ? counts->ways : ways;
    return WM_OK;
}

/* What is not exact for the opcode, and (as bits) for the access alone. */
static void add_exactness(struct wm_tally_row *row, const struct opcode_info *info, uint32_t inexact,
                          uint64_t instructions)
{
    for (uint32_t rest = info->inexact_mask | inexact; rest; rest &= rest - 1) {
        int c = __builtin_ctz(rest);
        uint8_t exactness = inexact >> c & 1 ? WM_APPROXIMATE : info->exactness[c];

        row->inexact[c] += instructions;
        if (exactness > row->exactness[c])
            row->exactness[c] = exactness;
    }
}

static uint64_t excess(uint32_t is, uint32_t ideal)
{
    return is > ideal ? is - ideal : 0;
}

static struct waste waste_of(const struct wm_counts *counts, uint32_t lanes)
{
    return (struct waste){
        .excess = excess(counts->sectors, counts->sectors_ideal) +
                  excess(counts->shared_wavefronts, counts->shared_wavefronts_ideal),
        .passes = (uint64_t)counts->tag_wavefronts + counts->lsu_wavefronts + counts->shared_wavefronts,
        .lanes = lanes,
    };
}

static int is_worse(const struct waste *a, const struct waste *b)
{
    if (a->excess != b->excess)
        return a->excess > b->excess;
    if (a->passes != b->passes)
        return a->passes > b->passes;
    return a->lanes > b->lanes;
}

/* A pc belongs to one source line; where a trace says otherwise, none is shown. */
static void reconcile_line(struct group *group, const struct place *place)
{
    if (group->row_file == place->row_file && group->row.line == place->row_line)
        return;
    group->row_file = NO_NAME;
    group->row.file = NULL;
    group->row.line = 0;
}

static void keep_worst(struct group *group, const struct waste *waste, const struct wm_access *access,
                       const struct wm_counts *counts)
{
    group->waste = *waste;
    group->row.worst = *access;
    group->row.worst.kernel = NULL;
    group->row.worst.file = NULL;
    group->row.worst_counts = *counts;
}

static uint32_t lanes_of(uint32_t mask)
{
    return mask == UINT32_MAX ? WM_LANES : (uint32_t)__builtin_popcount(mask);
}

enum wm_status wm_tally_add(wm_tally *tally, const struct wm_access *access, const struct wm_counts *counts)
{
    struct place place;
    struct waste waste;
    struct group *group;
    const char *kernel;
    uint32_t lanes, opcode;
    int is_new;
    enum wm_status status;

    if (!tally || !access || !counts || access->count == 0)
        return WM_E_ARGUMENT;
    kernel = access->kernel && access->kernel->name ? access->kernel->name : "";
    status = find_place(tally, kernel, access->file, access->line, access->pc, &access->opcode, &place);
    if (!status)
        status = find_group(tally, &place, &group, &is_new);
    if (status)
        return status;
    opcode = group->opcode;
    if (tally->by == WM_BY_KERNEL)
        status = find_opcode(tally, &access->opcode, &opcode);
    if (is_new && !status && access->kernel)
        status = set_source(tally, access->kernel->source, group);
    lanes = lanes_of(access->mask);
    if (!status)
        status = add_to_row(&group->row, access, lanes, counts);
    if (status)
        return status;
    if (!access->mask) {
        /* parts of sums that fit */
        group->row.inactive += access->count;
        group->row.inactive_wavefronts += counts->shared_wavefronts * access->count;
    }
    add_exactness(&group->row, &tally->opcodes[opcode], counts->inexact & ALL_COUNTERS, access->count);
    waste = waste_of(counts, lanes);
    if (is_new || is_worse(&waste, &group->waste))
        keep_worst(group, &waste, access, counts);
    if (is_new)
        commit_group(tally, group);
    else
        reconcile_line(group, &place);
    return WM_OK;
}

static enum wm_status merge_group(struct wm_tally *into, const struct group *from)
{
    const struct wm_tally_row *row = &from->row;
    /* by kernel, a group has no opcode of its own: the worst access's does not enter the key */
    const struct wm_opcode *opcode = row->has_opcode ? &row->opcode : &row->worst.opcode;
    struct addend addend = {row->instructions, row->lanes, row->bytes, {0}};
    struct place place;
    struct group *group;
    int is_new;
    enum wm_status status;

    status = find_place(into, row->kernel, row->file, row->line, row->pc, opcode, &place);
    if (!status)
        status = find_group(into, &place, &group, &is_new);
    if (status)
        return status;
    memcpy(addend.sums, row->sums, sizeof addend.sums);
    if (is_new)
        status = set_source(into, row->source, group);
    if (!status)
        status = add_checked(&group->row, &addend);
    if (status)
        return status;
    group->row.inactive += row->inactive;
    group->row.inactive_wavefronts += row->inactive_wavefronts;
    for (int c = 0; c < WM_COUNTERS; c++) {
        group->row.inexact[c] += row->inexact[c];
        if (row->exactness[c] > group->row.exactness[c])
            group->row.exactness[c] = row->exactness[c];
    }
    if (is_new || is_worse(&from->waste, &group->waste))
        keep_worst(group, &from->waste, &row->worst, &row->worst_counts);
    if (is_new)
        commit_group(into, group);
    else
        reconcile_line(group, &place);
    return WM_OK;
}

enum wm_status wm_tally_merge(wm_tally *into, const wm_tally *from)
{
    if (!into || !from || into == from || into->arch != from->arch || into->by != from->by)
        return WM_E_ARGUMENT;
    for (uint32_t i = 0; i < from->groups_used; i++) {
        enum wm_status status = merge_group(into, group_at(from, i));

        if (status)
            return status;
    }
    return WM_OK;
}

/* --------------------------------------------------------------------------------------------------- life and reading */

enum wm_status wm_tally_new(const wm_arch *arch, enum wm_by by, wm_tally **out)
{
    struct wm_tally *tally;

    if (!arch || !out || (unsigned)by > WM_BY_OPCODE)
        return WM_E_ARGUMENT;
    tally = calloc(1, sizeof *tally);
    if (!tally)
        return WM_E_MEMORY;
    tally->names_size = 16;
    tally->names = calloc(tally->names_size, sizeof *tally->names);
    if (!tally->names) {
        free(tally);
        return WM_E_MEMORY;
    }
    tally->names_used = 1;
    tally->arch = arch;
    tally->by = by;
    *out = tally;
    return WM_OK;
}

const struct wm_tally_row *wm_tally_row_at(const wm_tally *tally, size_t index)
{
    if (!tally || index >= tally->groups_used)
        return NULL;
    return &group_at(tally, (uint32_t)index)->row;
}

const wm_arch *wm_tally_arch(const wm_tally *tally)
{
    return tally->arch;
}

void wm_tally_free(wm_tally *tally)
{
    if (!tally)
        return;
    for (uint32_t i = 0; i < tally->names_used; i++)
        free(tally->names[i].text);
    for (uint32_t i = 0; i < tally->blocks_used; i++)
        free(tally->blocks[i]);
    free(tally->names);
    free(tally->name_table.slots);
    free(tally->opcodes);
    free(tally->opcode_table.slots);
    free(tally->blocks);
    free(tally->group_table.slots);
    free(tally);
}
