/* What the files of this folder share: the table of keys, and a profile as it is read. Internal to the library. */
#ifndef WM_ARCH_H
#define WM_ARCH_H

#include "arch/profile.h"

/* A profile that is compiled in: the lines of its .arch file, NULL after the last one. */
struct wmi_builtin {
    const char *name; /* of the file, without .arch */
    const char *const *lines;
};

/* All of them in the order of compute capabilities; name is NULL after the last one. Generated from the .arch files. */
extern const struct wmi_builtin wmi_builtins[];

/* wm_arch_parse(), where same_as finds its profile among builtins. */
enum wm_status wmi_arch_parse(const struct wmi_builtin *builtins, const char *text, size_t length, const char *file,
                              wm_arch **out, struct wm_diag *diag);

/* wm_arch_open() likewise. */
enum wm_status wmi_arch_open(const struct wmi_builtin *builtins, const char *name, wm_arch **out, struct wm_diag *diag);

/* ------------------------------------------------------------------------------------------------ the table of keys */

enum wmi_kind {
    WMI_NUMBER, /* decimal or 0x hexadecimal */
    WMI_FLAG    /* yes or no */
};

/* What a key changes: the counters that depend on it. exactness.c says which those are. */
enum wmi_effect {
    WMI_REQUESTS = 1 << 0, /* requests */
    WMI_LINES = 1 << 1,    /* lines, and requests to L2 */
    WMI_SECTORS = 1 << 2,  /* sectors, L1 and L2 */
    WMI_IDEAL = 1 << 3,
    WMI_TAGS = 1 << 4,       /* tag wavefronts */
    WMI_DATA = 1 << 5,       /* data wavefronts of all but cp.async */
    WMI_DATA_STORE = 1 << 6, /* data wavefronts of what writes */
    WMI_DATA_COPY = 1 << 7,  /* data wavefronts of cp.async */
    WMI_ATOMIC = 1 << 8,     /* every count of atomics in L1, and of requests for them to L2 */
    WMI_LOCAL = 1 << 9,      /* every count of one space */
    WMI_GENERIC = 1 << 10,
    WMI_CONST = 1 << 11,
    WMI_SHARED = 1 << 12,        /* every shared count of every instruction */
    WMI_SHARED_PHASES = 1 << 13, /* ... of all but matrix instructions */
    WMI_SHARED_LOAD = 1 << 14,
    WMI_SHARED_ATOMIC = 1 << 15,
    WMI_LDMATRIX = 1 << 16,
    WMI_STMATRIX = 1 << 17,
    WMI_CLUSTER = 1 << 18,       /* every count of memory of other blocks of a cluster */
    WMI_TIME = 1 << 19,          /* no count: cycles */
    WMI_WRITE_BACK = 1 << 20     /* write-back of every instruction that has any */
};

/* One key. A new key is a field in struct wm_profile, a row in this table, and a line in the profiles. */
struct wmi_rule {
    const char *name;
    const char *unit;
    enum wmi_kind kind;
    uint64_t min, max; /* numbers only */
    int power_of_two;
    unsigned tag_bit;     /* K + 1: only where l1.tag_bank_bits is larger than K; 0: always */
    size_t offset, bytes; /* of the field in struct wm_profile */
    unsigned width_bytes; /* the access width that it is for; 0: all */
    unsigned effects;     /* enum wmi_effect */
};

extern const struct wmi_rule wmi_rules[];
extern const size_t wmi_rule_count;

/* The row of a key, or NULL. */
const struct wmi_rule *wmi_rule_find(const char *name);

/* ------------------------------------------------------------------------------------------ a profile as it is read */

/* A key's value, and where it stands. */
struct wmi_entry {
    const char *value; /* NULL: not given */
    const char *unit;
    const char *reference;
    const char *origin; /* name of the profile that gave it */
    enum wm_provenance provenance;
    uint64_t number;
    uint64_t line, column; /* of the value, in the file being read; 0: inherited */
};

/* Opcodes that differ in exactness. */
struct wmi_class {
    uint8_t operation;   /* enum wm_operation */
    uint8_t space;       /* enum wm_space */
    uint8_t variant;     /* cp.async: 1 is .cg; atom and red: 1 is a floating-point type */
    uint8_t any_variant; /* 1: whatever the variant */
    uint8_t width_bytes; /* 0: any */
};

/* approximate.CLASS: counters that are known not to agree with the hardware. */
struct wmi_approximate {
    const char *name; /* of the key, all of it */
    struct wmi_class class;
    uint32_t counters; /* bit per enum wm_counter */
    struct wmi_entry entry;
};

/* Operations, spaces, log2 of widths, variants. */
#define WMI_OPERATIONS (WM_CP_ASYNC + 1)
#define WMI_SPACES     (WM_SHARED_CLUSTER + 1)
#define WMI_VARIANTS   2

/* A string that was made for the profile. */
struct wmi_note {
    struct wmi_note *next;
    char text[];
};

struct wm_arch {
    struct wm_profile profile;
    uint8_t exactness[WMI_OPERATIONS][WMI_SPACES][WM_WIDTHS][WMI_VARIANTS][WM_COUNTERS];
    enum wm_exactness time_exactness; /* of rates and latencies: the weakest of them */
    const char *name;
    const char *description;
    const char *capability;
    struct wm_arch_key *keys;
    size_t key_count;
    struct wmi_entry *entries; /* wmi_rule_count of them */
    struct wmi_approximate *approximates;
    size_t approximate_count;
    char *text; /* what was read; the strings above point into it */
    struct wmi_note *notes;
    wm_arch *base; /* same_as; its strings are used too */
};

/* Reads CLASS of approximate.CLASS. Returns NULL, or what was expected; *error_at is where it does not fit. */
const char *wmi_class_parse(const char *text, struct wmi_class *out, size_t *error_at);

/* Whether a counter of the class can be other than 0. */
int wmi_counter_applies(const struct wmi_class *class, enum wm_counter counter);

/* Fills arch->exactness from its entries and approximates. */
void wmi_exactness_fill(wm_arch *arch);

#endif
