/* Accesses held in memory, by kernel and instruction. */
#include "config.h"

#include "accesses.h"

#include <stdlib.h>
#include <string.h>

/* An open hash table of everything that has to be found again: kernels, instructions, accesses to shared memory. Which
 * of these a slot holds shows in what is not NULL. */
struct slot {
    uint64_t hash;
    struct access_kernel *kernel; /* NULL: the slot is free */
    struct access_site *site;     /* NULL: the slot is the kernel's own */
    size_t access;                /* number in the site's list, plus 1; 0: the slot is the site's own */
};

struct accesses_index {
    int is_one_kernel;
    struct slot *slots;
    size_t size; /* a power of two */
    size_t used;
    char **strings; /* copies of file names */
    size_t n_strings;
};

/* ---------------------------------------------------------------------------------------------------------- hashing */

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_number(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* A hash that is used as it is has to differ in its low bits. */
static uint64_t finish_hash(uint64_t hash)
{
    hash ^= hash >> 32;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 32;
}

static int is_shared_copy(const struct wm_opcode *opcode)
{
    return opcode->operation == WM_CP_ASYNC;
}

int access_equals(const struct wm_access *a, const struct wm_access *b)
{
    if (a->mask != b->mask || memcmp(&a->opcode, &b->opcode, sizeof a->opcode) != 0 || a->l1 != b->l1)
        return 0;
    if (is_shared_copy(&a->opcode) && a->zero_fill != b->zero_fill)
        return 0;
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);

        if (a->address[lane] != b->address[lane])
            return 0;
        if (is_shared_copy(&a->opcode) && a->shared_address[lane] != b->shared_address[lane])
            return 0;
    }
    return 1;
}

static uint64_t hash_pattern(uint64_t hash, const struct wm_access *access)
{
    hash = hash_number(hash, access->mask);
    for (uint32_t rest = access->mask; rest; rest &= rest - 1)
        hash = hash_number(hash, access->address[__builtin_ctz(rest)]);
    return hash;
}

/* ------------------------------------------------------------------------------------------------------------ lists */

int list_grow(void *list, size_t n, size_t *size, size_t element_bytes)
{
    size_t wanted = *size ? *size * 2 : 4;
    void *more, *old;

    if (n < *size)
        return 1;
    memcpy(&old, list, sizeof old);
    more = realloc(old, wanted * element_bytes);
    if (!more)
        return 0;
    memcpy(list, &more, sizeof more);
    *size = wanted;
    return 1;
}

static char *copy_text(const char *text, size_t length)
{
    char *copy = malloc(length + 1);

    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

/* A copy of a file's name that lives as long as the collection; NULL: out of memory. There are few, and the last is the
 * likeliest. */
static const char *intern(struct accesses_index *index, const char *text)
{
    char **more;
    char *copy;

    for (size_t i = index->n_strings; i-- > 0;) {
        if (strcmp(index->strings[i], text) == 0)
            return index->strings[i];
    }
    more = realloc(index->strings, (index->n_strings + 1) * sizeof *more);
    if (!more)
        return NULL;
    index->strings = more;
    copy = copy_text(text, strlen(text));
    if (copy)
        more[index->n_strings++] = copy;
    return copy;
}

/* Doubles the table where it is more than half full. 0: out of memory. */
static int make_room(struct accesses_index *index)
{
    size_t size = index->size ? index->size * 2 : 256;
    struct slot *slots;

    if (index->used * 2 < index->size)
        return 1;
    slots = calloc(size, sizeof *slots);
    if (!slots)
        return 0;
    for (size_t i = 0; i < index->size; i++) {
        size_t at = index->slots[i].hash & (size - 1);

        if (!index->slots[i].kernel)
            continue;
        while (slots[at].kernel)
            at = (at + 1) & (size - 1);
        slots[at] = index->slots[i];
    }
    free(index->slots);
    index->slots = slots;
    index->size = size;
    return 1;
}

static void fill_slot(struct accesses_index *index, struct slot *slot, struct slot content)
{
    *slot = content;
    index->used++;
}

/* The slots that may hold what has this hash, one after the other, up to a free one. */
static struct slot *first_slot(const struct accesses_index *index, uint64_t hash)
{
    return &index->slots[hash & (index->size - 1)];
}

static struct slot *next_slot(const struct accesses_index *index, struct slot *slot)
{
    return slot + 1 == index->slots + index->size ? index->slots : slot + 1;
}

/* ---------------------------------------------------------------------------------------------------------- kernels */

static size_t name_length(const struct accesses_index *index, const char *name)
{
    return index->is_one_kernel ? strcspn(name, "(") : strlen(name);
}

static int is_same_kernel(const struct accesses_index *index, const struct access_kernel *kernel,
                          const struct wm_kernel *other)
{
    return index->is_one_kernel || (strcmp(kernel->kernel.name, other->name) == 0 &&
                                    memcmp(kernel->kernel.block, other->block, sizeof other->block) == 0);
}

static struct access_kernel *new_kernel(struct accesses *accesses, const struct wm_kernel *from)
{
    struct access_kernel **more = realloc(accesses->kernels, (accesses->n_kernels + 1) * sizeof *accesses->kernels);
    struct access_kernel *kernel = calloc(1, sizeof *kernel);
    const char *source = from->source ? intern(accesses->index, from->source) : NULL;

    if (more)
        accesses->kernels = more;
    if (!more || !kernel || (from->source && !source))
        goto no_memory;
    kernel->kernel = *from;
    kernel->kernel.source = source;
    kernel->kernel.name = copy_text(from->name, name_length(accesses->index, from->name));
    if (!kernel->kernel.name)
        goto no_memory;
    more[accesses->n_kernels++] = kernel;
    return kernel;
no_memory:
    free(kernel);
    return NULL;
}

static struct access_kernel *find_kernel(struct accesses *accesses, const struct wm_kernel *wanted)
{
    struct accesses_index *index = accesses->index;
    uint64_t hash = 1;
    struct access_kernel *kernel;
    struct slot *slot;

    if (!index->is_one_kernel) {
        hash = hash_bytes(hash, wanted->name, strlen(wanted->name));
        hash = hash_bytes(hash, wanted->block, sizeof wanted->block);
    }
    hash = finish_hash(hash);
    if (!make_room(index))
        return NULL;
    for (slot = first_slot(index, hash); slot->kernel; slot = next_slot(index, slot)) {
        if (slot->hash == hash && !slot->site && is_same_kernel(index, slot->kernel, wanted))
            return slot->kernel;
    }
    kernel = new_kernel(accesses, wanted);
    if (kernel)
        fill_slot(index, slot, (struct slot){hash, kernel, NULL, 0});
    return kernel;
}

/* ------------------------------------------------------------------------------------------------------------ sites */

static int is_same_file(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static int is_same_site(const struct access_site *site, const struct wm_access *access)
{
    return site->line == access->line && site->pc == access->pc && is_same_file(site->file, access->file) &&
           memcmp(&site->opcode, &access->opcode, sizeof access->opcode) == 0;
}

static struct access_site *new_site(struct accesses *accesses, struct access_kernel *kernel,
                                    const struct wm_access *access)
{
    const char *file = access->file ? intern(accesses->index, access->file) : NULL;
    struct access_site *site;

    if ((access->file && !file) || !list_grow(&kernel->sites, kernel->n_sites, &kernel->size, sizeof(struct access_site *)))
        return NULL;
    site = calloc(1, sizeof *site);
    if (!site)
        return NULL;
    site->file = file;
    site->line = access->line;
    site->pc = access->pc;
    site->opcode = access->opcode;
    kernel->sites[kernel->n_sites++] = site;
    return site;
}

/* *hash becomes that of the site. */
static struct access_site *find_site(struct accesses *accesses, struct access_kernel *kernel,
                                     const struct wm_access *access, uint64_t *hash)
{
    struct accesses_index *index = accesses->index;
    struct access_site *site;
    struct slot *slot;

    *hash = hash_number((uint64_t)(uintptr_t)kernel, access->pc);
    *hash = hash_number(*hash, access->line);
    *hash = hash_bytes(*hash, &access->opcode, sizeof access->opcode);
    if (access->file)
        *hash = hash_bytes(*hash, access->file, strlen(access->file));
    *hash = finish_hash(*hash);
    if (!make_room(index))
        return NULL;
    for (slot = first_slot(index, *hash); slot->kernel; slot = next_slot(index, slot)) {
        if (slot->hash == *hash && slot->kernel == kernel && slot->site && !slot->access &&
            is_same_site(slot->site, access))
            return slot->site;
    }
    site = new_site(accesses, kernel, access);
    if (site)
        fill_slot(index, slot, (struct slot){*hash, kernel, site, 0});
    return site;
}

/* --------------------------------------------------------------------------------------------------------- accesses */

static int is_merged(const struct wm_access *access)
{
    return access->opcode.space == WM_SHARED;
}

/* The slot of an equal access of the site, or the free one where it belongs. */
static struct slot *find_access(const struct accesses_index *index, const struct access_site *site,
                                const struct wm_access *access, uint64_t hash)
{
    struct slot *slot;

    for (slot = first_slot(index, hash); slot->kernel; slot = next_slot(index, slot)) {
        if (slot->hash == hash && slot->site == site && slot->access &&
            access_equals(&site->accesses[slot->access - 1], access))
            break;
    }
    return slot;
}

static enum wm_status keep(struct accesses *accesses, struct access_kernel *kernel, struct access_site *site,
                           const struct wm_access *access)
{
    struct wm_access *copy;

    if (site->n >= ACCESSES_OF_SITE || (accesses->kept >= ACCESSES_OF_ALL && site->n > 0)) {
        site->left_out += access->count;
        accesses->left_out += access->count;
        return WM_END;
    }
    if (accesses->kept >= 2 * ACCESSES_OF_ALL)
        return WM_E_RANGE;
    if (!list_grow(&site->accesses, site->n, &site->size, sizeof *site->accesses))
        return WM_E_MEMORY;
    copy = &site->accesses[site->n++];
    *copy = *access;
    copy->kernel = &kernel->kernel;
    copy->file = site->file;
    accesses->kept++;
    return WM_OK;
}

enum wm_status accesses_add(struct accesses *accesses, const struct wm_access *access)
{
    struct accesses_index *index = accesses->index;
    struct access_kernel *kernel = find_kernel(accesses, access->kernel);
    struct access_site *site;
    struct slot *slot;
    enum wm_status status;
    uint64_t hash;

    site = kernel ? find_site(accesses, kernel, access, &hash) : NULL;
    if (!site)
        return WM_E_MEMORY;
    if (access->count > (uint64_t)INT64_MAX - site->executed ||
        access->count > (uint64_t)INT64_MAX - accesses->left_out)
        return WM_E_RANGE;
    site->executed += access->count;
    if (!is_merged(access)) {
        status = keep(accesses, kernel, site, access);
        return status == WM_END ? WM_OK : status;
    }
    if (!make_room(index))
        return WM_E_MEMORY;
    hash = finish_hash(hash_pattern(hash, access));
    slot = find_access(index, site, access, hash);
    if (slot->kernel) {
        site->accesses[slot->access - 1].count += access->count;
        return WM_OK;
    }
    status = keep(accesses, kernel, site, access);
    if (!status)
        fill_slot(index, slot, (struct slot){hash, kernel, site, site->n});
    return status == WM_END ? WM_OK : status;
}

enum wm_status accesses_new(int is_one_kernel, struct accesses **out)
{
    struct accesses *accesses = calloc(1, sizeof *accesses);

    if (accesses)
        accesses->index = calloc(1, sizeof *accesses->index);
    if (!accesses || !accesses->index) {
        free(accesses);
        return WM_E_MEMORY;
    }
    accesses->index->is_one_kernel = is_one_kernel;
    *out = accesses;
    return WM_OK;
}

void accesses_free(struct accesses *accesses)
{
    if (!accesses)
        return;
    for (size_t k = 0; k < accesses->n_kernels; k++) {
        struct access_kernel *kernel = accesses->kernels[k];

        for (size_t s = 0; s < kernel->n_sites; s++) {
            free(kernel->sites[s]->accesses);
            free(kernel->sites[s]);
        }
        free(kernel->sites);
        free((char *)(uintptr_t)kernel->kernel.name);
        free(kernel);
    }
    for (size_t i = 0; i < accesses->index->n_strings; i++)
        free(accesses->index->strings[i]);
    free(accesses->index->strings);
    free(accesses->index->slots);
    free(accesses->index);
    free(accesses->kernels);
    free(accesses);
}
