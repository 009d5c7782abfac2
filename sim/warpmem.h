/*
 * warpmem - what one warp's memory instruction costs on an NVIDIA GPU
 *
 * The only header a user includes. It compiles alone as C11, C++17 and CUDA.
 *
 * One way through:
 *
 *     wm_reader  ->  struct wm_access  ->  wm_model()  ->  struct wm_counts  ->  wm_tally
 *
 * Conventions, stated once:
 *   - Every function that can fail returns enum wm_status; WM_OK is 0. After any other status the outputs are unchanged
 *     unless the function says otherwise.
 *   - Functions that read input take a struct wm_diag, which may be NULL; on failure it says where and what.
 *   - Open structs are plain values, owned by the caller. Opaque objects come from _new or _open and go to _free or
 *     _close, which accept NULL.
 *   - The library never prints, exits or aborts and keeps no global state. Different objects may be used from different
 *     threads at the same time; one object from one thread at a time. A const wm_arch may be shared by all threads.
 *   - Sizes are in bytes unless the name says otherwise; addresses are byte addresses.
 */
#ifndef WARPMEM_H
#define WARPMEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WM_VERSION_MAJOR 0
#define WM_VERSION_MINOR 1
#define WM_VERSION_PATCH 0

/* Lanes of a warp, on every NVIDIA GPU (CUDA C++ Programming Guide, "SIMT Architecture"). */
#define WM_LANES 32

/* The version of the library that is linked, "MAJOR.MINOR.PATCH"; a string constant. */
const char *wm_version(void);

/* ------------------------------------------------------------------------------------------------------------ status */

/* What a call came to. The values are part of the ABI: they are never renumbered. */
enum wm_status {
    WM_OK = 0,            /* done */
    WM_END = 1,           /* a reader has no more accesses; not an error */
    WM_E_ARGUMENT = 2,    /* an argument is outside its documented range: a mistake of the caller */
    WM_E_MEMORY = 3,      /* out of memory; the object can still be closed */
    WM_E_IO = 4,          /* opening, reading or writing failed; diag has the system's reason */
    WM_E_SYNTAX = 5,      /* the input does not follow its grammar; diag says what was expected. Reading cannot go on */
    WM_E_RANGE = 6,       /* the input follows the grammar, but a number is outside its range. Reading cannot go on */
    WM_E_UNSUPPORTED = 7, /* valid input that this build or this profile does not handle; diag says which and what helps */
    WM_E_MISALIGNED = 8,  /* a lane's address is not a multiple of the access width: the hardware refuses it */
    WM_E_ADDRESS = 9,     /* a lane's address lies outside the address space: the hardware refuses it */
    WM_E_CORRUPT = 10,    /* compressed data does not decode. Reading cannot go on */
    WM_E_NAME = 11        /* no such profile, format or key */
};

/* One lower-case line without a full stop for a status, "unknown status" for other values; a string constant. */
const char *wm_status_text(enum wm_status status);

#define WM_DIAG_TEXT_SIZE 512
#define WM_DIAG_FILE_SIZE 256

/* Where an input is wrong, and how. Plain data: nothing in it needs to be freed. */
struct wm_diag {
    enum wm_status status;        /* the same as the call returned */
    char file[WM_DIAG_FILE_SIZE]; /* as it was opened ("-": standard input), cut at the front where longer; may be "" */
    uint64_t line;                /* 1-based; 0: the whole file */
    uint64_t column;              /* 1-based, in bytes; 0: the whole line */
    char text[WM_DIAG_TEXT_SIZE]; /* one line, no newline, printable ASCII */
};

/* Writes "file:line:column: text" (parts that are 0 or empty are left out) into text[0 .. size-1], always ended by NUL.
 * Returns the length that the whole message needs, as snprintf does. size may be 0. */
size_t wm_diag_format(const struct wm_diag *diag, char *text, size_t size);

/* ------------------------------------------------------------------------------------------------------------ opcode */

/* What an instruction does. */
enum wm_operation {
    WM_LD = 0,
    WM_ST = 1,
    WM_ATOM = 2,     /* atomic that returns the old value */
    WM_RED = 3,      /* atomic without a result */
    WM_LDMATRIX = 4, /* shared only */
    WM_STMATRIX = 5, /* shared only */
    WM_CP_ASYNC = 6  /* global to shared (SASS: LDGSTS) */
};

enum wm_space {
    WM_GLOBAL = 0,
    WM_SHARED = 1,
    WM_LOCAL = 2,  /* addresses are the thread's own offsets */
    WM_CONST = 3,  /* served by the constant cache, not by L1 */
    WM_GENERIC = 4, /* modelled as global: trace readers resolve generic addresses where they know the windows */
    WM_SHARED_CLUSTER = 5 /* shared::cluster: memory of other blocks of the cluster, reached through L1's tag stage. Lanes
                             that access the own block's memory are served as WM_SHARED, in an access of their own */
};

/* PTX's cache operators. */
enum wm_cache {
    WM_CACHE_NONE = 0,
    WM_CACHE_CA = 1,
    WM_CACHE_CG = 2,
    WM_CACHE_CS = 3,
    WM_CACHE_LU = 4,
    WM_CACHE_CV = 5,
    WM_CACHE_NC = 6,
    WM_CACHE_WB = 7,
    WM_CACHE_WT = 8
};

enum wm_atomic {
    WM_ATOMIC_NONE = 0,
    WM_ATOMIC_ADD = 1,
    WM_ATOMIC_EXCH = 2,
    WM_ATOMIC_MIN = 3,
    WM_ATOMIC_MAX = 4,
    WM_ATOMIC_AND = 5,
    WM_ATOMIC_OR = 6,
    WM_ATOMIC_XOR = 7,
    WM_ATOMIC_INC = 8,
    WM_ATOMIC_DEC = 9,
    WM_ATOMIC_CAS = 10
};

/* PTX's type letter. Only the size matters to the model; the letter is kept so that a trace is written as it was read. */
enum wm_type {
    WM_TYPE_B = 0,    /* b8 b16 b32 b64 b128 */
    WM_TYPE_U = 1,    /* u8 u16 u32 u64 */
    WM_TYPE_S = 2,    /* s8 s16 s32 s64 */
    WM_TYPE_F = 3,    /* f16 f32 f64 */
    WM_TYPE_BF = 4,   /* bf16 */
    WM_TYPE_F_X2 = 5, /* f16x2: one 4-byte element */
    WM_TYPE_BF_X2 = 6 /* bf16x2: one 4-byte element */
};

/* One opcode, 12 bytes, no padding: two opcodes are the same exactly if memcmp says so. Values are made by
 * wm_opcode_parse(); a caller who fills one by hand calls wm_opcode_check(). */
struct wm_opcode {
    uint8_t operation;   /* enum wm_operation */
    uint8_t space;       /* enum wm_space; WM_SHARED for ldmatrix, stmatrix; WM_GLOBAL for cp.async */
    uint8_t cache;       /* enum wm_cache */
    uint8_t atomic;      /* enum wm_atomic; WM_ATOMIC_NONE unless atom, red */
    uint8_t type;        /* enum wm_type */
    uint8_t type_bytes;  /* 1, 2, 4, 8, 16: size of one element; 2 for ldmatrix and stmatrix */
    uint8_t vector;      /* 1, 2, 4, 8: elements per lane */
    uint8_t matrices;    /* 1, 2, 4 for ldmatrix and stmatrix, else 0 */
    uint8_t transposed;  /* 1 for ldmatrix, stmatrix with .trans, else 0 */
    uint8_t width_bytes; /* what each lane's address covers: type_bytes * vector; 16 for ldmatrix, stmatrix (one row);
                            4, 8, 16 for cp.async. A power of two, 1 to 32 */
    uint8_t reserved[2]; /* 0 */
};

/* The longest text of an opcode, with its NUL. */
#define WM_OPCODE_TEXT_SIZE 48

/* Reads an opcode in PTX's spelling (traces/README has the grammar) from text[0 .. length-1], all of which it must be.
 * WM_E_SYNTAX: it is none; *error_at (may be NULL) is then the 0-based offset of the first character that does not fit.
 * WM_E_RANGE: the parts are known, but not together (a 64-byte vector, say). */
enum wm_status wm_opcode_parse(const char *text, size_t length, struct wm_opcode *out, size_t *error_at);

/* Writes PTX's spelling, the inverse of wm_opcode_parse(), ended by NUL. Returns its length; 0: not a valid opcode. */
size_t wm_opcode_format(const struct wm_opcode *opcode, char text[WM_OPCODE_TEXT_SIZE]);

/* WM_OK, or WM_E_ARGUMENT: a field is out of its range, or the fields do not go together. */
enum wm_status wm_opcode_check(const struct wm_opcode *opcode);

/* ------------------------------------------------------------------------------------------------------------ access */

/* A kernel launch, as far as its trace tells. Strings live as long as the access that points here. */
struct wm_kernel {
    const char *name;   /* never NULL; "" if the trace names none */
    const char *source; /* source file, or NULL */
    uint32_t grid[3];   /* blocks; 0 in all: not known */
    uint32_t block[3];  /* threads per block; 0 in all: not known */
    uint64_t launch;    /* the trace's own number of the launch */
    uint64_t shared_bytes; /* shared memory per block; 0 if not known */
};

/* What the lines of a load are taken to meet in L1. Some counts differ (lsu_wavefronts of loads). */
enum wm_l1 { WM_L1_MISS = 0, WM_L1_HIT = 1 };

/* No pc known. */
#define WM_NO_PC UINT64_MAX

/* One executed warp instruction: what every reader yields and every consumer takes. The model reads opcode, mask, l1 and
 * the addresses of active lanes; entries of inactive lanes are ignored and may hold anything. */
struct wm_access {
    uint64_t address[WM_LANES]; /* byte address of each lane: global and generic: virtual address, below 2^48; shared:
                                   offset into the block's shared memory, below 2^24; local: the thread's own offset,
                                   below 2^24; const: offset, below 2^32; shared::cluster: as PTX's mapa gives it, the
                                   block's number in the cluster times 2^24 plus its shared address, which counts the
                                   1 KiB that the system keeps at the beginning; below 2^28. ldmatrix, stmatrix: row
                                   addresses of the first 8 * matrices lanes, others ignored. cp.async: the global source */
    uint32_t mask;              /* bit i: lane i active. 0: fully predicated off */
    struct wm_opcode opcode;
    uint64_t count;             /* times executed in a row, at least 1 */
    uint64_t pc;                /* offset or address of the instruction, or WM_NO_PC */
    const struct wm_kernel *kernel; /* never NULL from a reader; the model does not look at it */
    const char *file;           /* source file, or NULL */
    uint32_t line;              /* source line; 0: not known */
    uint32_t block[3];          /* block index of the warp */
    uint32_t warp;              /* number of the warp in its block, or the hardware's slot, as the trace says */
    uint32_t l1;                /* enum wm_l1 */
    uint32_t zero_fill;         /* cp.async: 1: its source size is 0: shared memory is filled with zeros, nothing is read. One
                                   that copies in some lanes and fills in others is two accesses, as hardware counts it */
    uint32_t shared_address[WM_LANES]; /* cp.async: destination, an offset into shared memory; else ignored */
};

/* ------------------------------------------------------------------------------------------------------------- model */

/* The counters, in the order of result rows, where those from WM_LSU_WRITEBACK on stand behind all other columns. */
enum wm_counter {
    WM_REQUESTS = 0,
    WM_LINES,
    WM_SECTORS,
    WM_SECTORS_IDEAL,
    WM_TAG_WAVEFRONTS,
    WM_LSU_WAVEFRONTS,
    WM_SHARED_WAVEFRONTS,
    WM_SHARED_WAVEFRONTS_IDEAL,
    WM_BANK_CONFLICTS,
    WM_WAYS,
    WM_L2_REQUESTS,
    WM_L2_SECTORS,
    WM_LSU_WRITEBACK,
    WM_COUNTERS /* how many there are */
};

/* What one execution of an access costs, in events. A counter without a meaning for the access is 0. */
struct wm_counts {
    uint32_t requests;                /* requests to the tag stage: l1tex__t_requests_pipe_lsu */
    uint32_t lines;                   /* 128 B lines looked up: l1tex__t_set_accesses_pipe_lsu */
    uint32_t sectors;                 /* 32 B sectors requested: l1tex__t_sectors_pipe_lsu */
    uint32_t sectors_ideal;           /* the fewest sectors that could hold the distinct bytes asked for */
    uint32_t tag_wavefronts;          /* passes of the tag stage: l1tex__t_output_wavefronts_pipe_lsu */
    uint32_t lsu_wavefronts;          /* passes of the L1 data stage: l1tex__data_pipe_lsu_wavefronts_mem_lgds */
    uint32_t shared_wavefronts;       /* passes, shared: l1tex__data_pipe_lsu_wavefronts_mem_shared */
    uint32_t shared_wavefronts_ideal; /* the fewest passes that any placement of those bytes needs */
    uint32_t bank_conflicts;          /* passes above one a phase: l1tex__data_bank_conflicts_pipe_lsu_mem_shared */
    uint32_t ways;                    /* most passes that one phase needs; 1: no conflict */
    uint32_t l2_requests;             /* on a miss of every sector: lts__t_requests_srcunit_tex */
    uint32_t l2_sectors;              /* on a miss of every sector: lts__t_sectors_srcunit_tex */
    uint32_t lsu_writeback;           /* passes by which results go to the registers: l1tex__lsu_writeback_active */
    uint32_t inexact;                 /* bit C (enum wm_counter): of this very access, counter C is known to be no more
                                         than near: what it depends on is not in the trace. See wm_arch_exactness() for
                                         what holds for all accesses of an opcode */
};

/* A counter's name as in result columns ("tag_wavefronts"), and the name of the same count in Nsight Compute, NULL where
 * there is none (the ideals, ways). String constants; NULL for a value outside enum wm_counter. */
const char *wm_counter_name(enum wm_counter counter);
const char *wm_counter_metric(enum wm_counter counter);

/* The counter's value in counts; 0 for a value outside enum wm_counter. */
uint32_t wm_counts_get(const struct wm_counts *counts, enum wm_counter counter);

/* A GPU profile; see "profiles" below. */
typedef struct wm_arch wm_arch;

/* What one execution of *access costs on *arch: a pure function, exact where wm_arch_exactness() says so.
 * WM_E_ARGUMENT: a NULL pointer, or the opcode is not valid. WM_E_MISALIGNED, WM_E_ADDRESS: the hardware refuses the
 * access. WM_E_UNSUPPORTED: this GPU has no such instruction. wm_access_check() says which lane and why. */
enum wm_status wm_model(const wm_arch *arch, const struct wm_access *access, struct wm_counts *out);

/* The same for accesses[0 .. n-1] into out[0 .. n-1]. Stops at the first that fails and returns its status; *done (may
 * be NULL) is the number of accesses that were modelled, in every case. */
enum wm_status wm_model_many(const wm_arch *arch, const struct wm_access *accesses, size_t n, struct wm_counts *out,
                             size_t *done);

/* Why wm_model() refuses an access: the same status, and in diag->text the reason with lane and address. diag->file,
 * line and column are left as they are, so that a reader's place can stand there. */
enum wm_status wm_access_check(const wm_arch *arch, const struct wm_access *access, struct wm_diag *diag);

/* --------------------------------------------------------------------------------------------------------- profiles */

/* Where a number about hardware comes from. */
enum wm_provenance {
    WM_MEASURED = 0,  /* read from hardware counters; the reference names the recorded measurement */
    WM_DOCUMENTED = 1, /* the reference names a document or a public measurement */
    WM_ASSUMED = 2     /* taken from another GPU, or a guess: the reference says why */
};

/* One key of a profile. Strings live as long as the profile. */
struct wm_arch_key {
    const char *name;      /* "shared.banks" */
    const char *value;     /* as written in the profile */
    const char *unit;      /* "bytes", "lanes", ... */
    enum wm_provenance provenance;
    const char *reference; /* what stands after "doc:", "measured:" or "assumed:" */
    const char *origin;    /* name of the profile that the key was inherited from, or the profile's own name */
};

/* Names of the built-in profiles ("sm_70" ...), in ascending order; NULL for index >= their number. String constants. */
const char *wm_arch_name_at(size_t index);

/* Opens a built-in profile by name. WM_E_NAME: there is none (diag lists them). WM_E_MEMORY. */
enum wm_status wm_arch_open(const char *name, wm_arch **out, struct wm_diag *diag);

/* Reads a profile from a file of the same format; `same_as` in it may name a built-in profile. WM_E_IO, WM_E_SYNTAX,
 * WM_E_RANGE (a value out of range, or keys that do not go together), WM_E_NAME (an unknown key, one missing, or same_as
 * names no other profile), WM_E_MEMORY. */
enum wm_status wm_arch_load(const char *path, wm_arch **out, struct wm_diag *diag);

/* The same from text[0 .. length-1]; file is the name used in diag. */
enum wm_status wm_arch_parse(const char *text, size_t length, const char *file, wm_arch **out, struct wm_diag *diag);

void wm_arch_close(wm_arch *arch);

/* The profile's name ("sm_90") and description ("Hopper: H100, H200"); they live as long as the profile. */
const char *wm_arch_name(const wm_arch *arch);
const char *wm_arch_description(const wm_arch *arch);

/* Ten times its compute capability: 90. */
unsigned wm_arch_capability(const wm_arch *arch);

/* Key number index in the profile's order. WM_END: there are no more. */
enum wm_status wm_arch_key_at(const wm_arch *arch, size_t index, struct wm_arch_key *out);

/* wm_counter_metric(), as the counter is called on this GPU: before sm_90 ..._mem_lgds is ..._mem_lg. */
const char *wm_arch_metric(const wm_arch *arch, enum wm_counter counter);

/* How far a counter of an opcode can be trusted on a GPU. */
enum wm_exactness {
    WM_EXACT = 0,       /* agrees with the hardware counter on every recorded access of this profile */
    WM_BY_DOCUMENT = 1, /* rests on documents or public measurements, not on this project's records */
    WM_BY_ASSUMPTION = 2, /* rests on at least one assumed key */
    WM_APPROXIMATE = 3  /* known to differ from hardware on some accesses: traces/hardware/known-mismatches.csv */
};

/* Never fails: WM_EXACT also for a counter that has no meaning for the opcode (it is 0). */
enum wm_exactness wm_arch_exactness(const wm_arch *arch, const struct wm_opcode *opcode, enum wm_counter counter);

/* ------------------------------------------------------------------------------------------------------------ cycles */

/* What bounds the rate at which an SM serves an access: the unit that is busy longest. */
enum wm_bound {
    WM_BOUND_NONE = 0,       /* nothing of L1 or shared memory: constants, or no instruction at all */
    WM_BOUND_ISSUE = 1,      /* handing instructions, addresses and values to stores to the memory pipe */
    WM_BOUND_SHARED = 2,     /* passes of the data stage for shared memory: bank conflicts */
    WM_BOUND_DATA = 3,       /* passes of the data stage for lines of L1 */
    WM_BOUND_TAG = 4,        /* passes of the tag stage: too many lines, or lines in one tag bank */
    WM_BOUND_WRITE_BACK = 5, /* results on their way to the registers: wide lanes */
    WM_BOUND_L2 = 6,         /* requests to L2 and sectors from or to it, as one SM can send and take them */
    WM_BOUND_ATOMIC = 7,     /* the atomic units of L2 */
    WM_BOUND_CLUSTER = 8,    /* sectors of other blocks' shared memory, on the way from SM to SM */
    WM_BOUNDS                /* how many there are */
};

/* "nothing", "issue", "shared data", "L1 data", "tags", "write-back", "L2", "L2 atomics"; NULL for other values. */
const char *wm_bound_text(enum wm_bound bound);

/* What one execution of an access takes, in cycles of the SM's clock. */
struct wm_cycles {
    double throughput; /* per execution where 32 warps of one block issue it back to back, on an SM by itself. With
                          WM_L1_HIT all of them on the same lines, which lie in L1 (or, past L1, in L2); with WM_L1_MISS
                          each on lines of its own, in L2 but not in L1 */
    double latency;    /* from its issue to that of an access whose address one logic instruction makes of its result, one
                          warp; of a cp.async until a wait for it ends; 0: it has no result */
    enum wm_bound bound; /* what bounds throughput */
    enum wm_exactness exactness; /* of throughput. WM_EXACT: within 15 % of at least 95 of 100 recorded accesses of the kind.
                          WM_BY_DOCUMENT, WM_BY_ASSUMPTION: the rates are those of another GPU. WM_APPROXIMATE: often
                          farther off, or not measured (docs/hardware.md has the figures) */
};

/* The cycles of *access, whose counts are *counts (from wm_model() with the same arch). WM_E_ARGUMENT: a NULL pointer, or
 * the opcode is not valid. */
enum wm_status wm_cycles(const wm_arch *arch, const struct wm_access *access, const struct wm_counts *counts,
                         struct wm_cycles *out);

/* ----------------------------------------------------------------------------------------------------------- anatomy */

/* How an access is served. */
enum wm_path {
    WM_PATH_NONE = 0,   /* no active lane: issued, and no more */
    WM_PATH_UNSEEN = 1, /* by a unit whose events no counter here holds, as the constant cache */
    WM_PATH_SHARED = 2, /* by the data stage, as shared memory: phases, no lines */
    WM_PATH_L1 = 3,     /* by tag stage and data stage: loads and stores of global, local and generic memory */
    WM_PATH_ATOMIC = 4, /* in passes to the atomic units: each pass is a tag wavefront */
    WM_PATH_COPY = 5,   /* cp.async through L1 */
    WM_PATH_BYPASS = 6, /* cp.async past L1: no phases */
    WM_PATH_FILL = 7    /* cp.async that reads nothing: zeros into shared memory, in phases as a store there */
};

/* What an anatomy cannot tell exactly: bits of wm_anatomy.unsure. */
enum wm_unsure {
    WM_UNSURE_ORDER = 1,  /* which of a bank's words goes in which pass: as if by lane. No count depends on it */
    WM_UNSURE_GROUPS = 2, /* which tag wavefronts of a store share data wavefronts: it depends on address bits that the
                             trace does not hold, or on a case that is not understood; one possibility is shown */
    WM_UNSURE_DATA = 4,   /* data wavefronts: the rule is near, not exact */
    WM_UNSURE_TAGS = 8,   /* tag banks: they depend on where the window of local memory lies */
    WM_UNSURE_L2 = 16     /* what is merged on the way to L2 */
};

#define WM_ANATOMY_REQUESTS 4
#define WM_ANATOMY_PHASES   128
#define WM_ANATOMY_LINES    128
#define WM_ANATOMY_SECTORS  16  /* of a line, at most */
#define WM_ANATOMY_BYTES    512 /* of a line, at most */

/* Lanes that the data stage serves together. In a pass each bank serves one word (of atomics on shared memory: one lane). */
struct wm_phase {
    uint32_t lanes;
    uint8_t request;         /* of a local access: which 4 B of each lane */
    uint8_t number;          /* among the access's phases, those without active lanes too */
    uint8_t first_wavefront; /* of the tag wavefronts whose lines it serves */
    uint8_t wavefronts;      /* how many; 0: not by tag wavefronts */
    uint8_t is_request;      /* atomics on global memory: the values on their way out; 0: the results that come back, of
                                which red has none */
    uint8_t passes;          /* the conflict ways */
    uint8_t repeats;         /* 2: all of them twice, as for a compare-and-swap on shared memory */
    uint8_t ideal_passes;    /* shared memory: what no placement can avoid */
    uint8_t folded;          /* banks whose numbers differ in these bits alone count as one */
    uint8_t scale;           /* 2: banks are those of twice the address and twice the width (compare-and-swap whose
                                lanes are not all alone in their lines); else 1 */
    uint32_t cycle;          /* stores: in which it could begin, from the first tag wavefront's; 0: not by the race */
    uint8_t pass[WM_LANES];  /* which pass serves the lane, all its words; 0 to passes - 1 */
};

/* A line that is looked up. Of WM_PATH_BYPASS: a line together with a row of shared memory that some of it goes to. */
struct wm_line {
    uint64_t address;      /* of its first byte; local: in the warp's window */
    uint64_t shared_row;   /* WM_PATH_BYPASS: address of the row's first byte; else 0 */
    uint32_t lanes;
    uint32_t sectors;      /* bit s: sector s is asked for */
    uint32_t shared_sectors; /* WM_PATH_BYPASS: likewise of the row: these are what the counter counts */
    uint8_t request;
    uint8_t tag_bank;
    uint8_t wavefront;     /* tag wavefront of the request; of atomics, the pass */
    uint8_t reserved;
    uint32_t sector_lanes[WM_ANATOMY_SECTORS];
    uint64_t bytes[WM_ANATOMY_BYTES / 64]; /* bit i % 64 of word i / 64: byte i is used */
};

/* What L2 is asked for of a source line, WM_PATH_BYPASS. Of other paths: one request a line, for its sectors. */
struct wm_packets {
    uint64_t address; /* of the line's first byte */
    uint32_t packets;
    uint32_t requests;
    uint32_t sectors;
};

/* An access taken apart: what wm_model() counts, lane by lane. Sums over it are the counts. About 20 KiB. */
struct wm_anatomy {
    enum wm_path path;
    uint32_t lanes;          /* whose addresses matter: active, and of a matrix instruction those that supply rows */
    uint32_t banks;          /* of the data stage; their number times bank_bytes is line_bytes */
    uint32_t bank_bytes;
    uint32_t line_bytes;
    uint32_t sector_bytes;
    uint32_t tag_banks;
    uint32_t requests;
    uint32_t request_bytes;  /* of each lane, in one request */
    uint32_t phase_lanes;    /* lanes in a phase */
    uint32_t merge_distance; /* wide loads of shared memory: partners lane ^ 1 or lane ^ 2 share their addresses, which
                                doubles the phases; 0: they do not */
    int words_merge;         /* lanes at the same word cost one pass: 0 for atomics on shared memory, copies */
    uint32_t store_merge;    /* stores: so many tag wavefronts share data wavefronts; beyond, groups race; else 0 */
    uint32_t predicated_off; /* WM_PATH_NONE: shared wavefronts */
    uint32_t asked;          /* WM_PATH_BYPASS: lanes whose data is asked for: of several that write one place, one */
    uint32_t unsure;         /* enum wm_unsure */
    uint64_t address[WM_ANATOMY_REQUESTS][WM_LANES]; /* of the lanes, by request; local: in the warp's window */
    uint32_t phase_count;    /* of those with active lanes */
    uint32_t line_count;
    uint32_t packets_count;
    struct wm_phase phase[WM_ANATOMY_PHASES];
    struct wm_line line[WM_ANATOMY_LINES];
    struct wm_packets packets[WM_LANES];
};

/* Takes *access apart, by the rules that wm_model() counts by. Statuses as of wm_model(); also WM_E_UNSUPPORTED: a profile
 * interleaves local memory so finely that an access is more than WM_ANATOMY_REQUESTS requests. */
enum wm_status wm_explain(const wm_arch *arch, const struct wm_access *access, struct wm_anatomy *out);

/* ----------------------------------------------------------------------------------------------------------- readers */

enum wm_format {
    WM_FORMAT_AUTO = 0,     /* by content */
    WM_FORMAT_TEXT = 1,     /* warpmem's own text trace */
    WM_FORMAT_ACCELSIM = 2, /* Accel-Sim .traceg, versions 3 to 5, or kernelslist.g */
    WM_FORMAT_NVBIT = 3,    /* NVBit mem_trace output */
    WM_FORMAT_CUDA = 4      /* the source of a CUDA C kernel, which is run on the CPU; also by a file name in .cu */
};

/* "text", "accelsim", "nvbit", "cuda"; NULL for other values. And the inverse: WM_FORMAT_AUTO for "auto" or an unknown name. */
const char *wm_format_name(enum wm_format format);
enum wm_format wm_format_by_name(const char *name);

/* What a kernel's parameter gets. Scalars: a constant expression, or "{1, 2, 3}" for a vector or struct. Pointers, and
 * variables that are __constant__ or __device__: "TYPE[COUNT]" (size), "zero", "iota", "random:SEED",
 * "random:SEED:LIMIT" (integers below LIMIT; floating point is in [0, 1)) or "@FILE" (contents), "TYPE[COUNT]:CONTENTS",
 * "null". Without a size a buffer grows as it is touched, up to 4 GiB; without contents it is zero. */
struct wm_launch_argument {
    const char *name;
    const char *value;
};

/* How a kernel in CUDA C is launched. All zero: one block of one thread. */
struct wm_launch {
    const char *kernel; /* name, or a template's instance "copy<float4,8>"; NULL: the only kernel of the source */
    uint32_t grid[3];   /* blocks; 0 counts as 1 */
    uint32_t block[3];  /* threads per block; 0 counts as 1 */
    uint64_t shared_bytes; /* for extern __shared__ arrays */
    const struct wm_launch_argument *arguments;
    size_t n_arguments;
    int some_blocks;       /* runs blocks first_block to last_block only, by linear number */
    uint64_t first_block;
    uint64_t last_block;
    uint64_t sample;       /* runs this many blocks only, evenly spaced; 0: all */
    uint64_t max_steps;    /* interpreter's steps of one warp in one block; 0: 100,000,000 */
    uint64_t memory_bytes; /* most that buffers may take of this machine; 0: 4 GiB */
    uint32_t cuda_arch;    /* the value of __CUDA_ARCH__; 0: 900 */
    int no_files;          /* neither #include "" nor @FILE is read */
    const char *const *macros; /* defined before the source is read, as by nvcc's -D: "NAME", which is 1, "NAME=TEXT" or
                                  "NAME(A,B)=TEXT". What is defined again, here or in the source, counts as defined last, and
                                  a remark says so where it differs. What is built in (__CUDA_ARCH__, warpSize, INT_MAX) is
                                  refused: WM_E_ARGUMENT. */
    size_t n_macros;
};

/* All zero (or a NULL pointer in its place) means the defaults. */
struct wm_reader_options {
    enum wm_format format;
    enum wm_l1 l1; /* given to every access */
    const struct wm_launch *launch; /* of a CUDA C kernel; NULL: such a source is refused. Read by wm_reader_open() only */
};

typedef struct wm_reader wm_reader;

/* Opens a trace; path "-" is standard input. Plain, gzip, xz and zstd data are told apart by content. Reading is
 * streamed: memory use does not depend on the length of the trace. WM_E_IO, WM_E_SYNTAX (of no known format),
 * WM_E_UNSUPPORTED (a compression that this build lacks), WM_E_CORRUPT, WM_E_MEMORY. */
enum wm_status wm_reader_open(const char *path, const struct wm_reader_options *options, wm_reader **out,
                              struct wm_diag *diag);

/* The same of data[0 .. size-1], which must outlive the reader; its name in diag is "memory". */
enum wm_status wm_reader_open_memory(const void *data, size_t size, const struct wm_reader_options *options,
                                     wm_reader **out, struct wm_diag *diag);

/* The next access. What it points to lives until the next call on this reader. WM_END: there are no more; else a status
 * of wm_reader_open() or WM_E_RANGE, after which every further call returns the same. */
enum wm_status wm_reader_next(wm_reader *reader, struct wm_access *out, struct wm_diag *diag);

/* What was only partly understood so far. */
struct wm_reader_notes {
    uint64_t lines_skipped;          /* lines of other programs' output, memory copies of a kernel list */
    uint64_t instructions_skipped;   /* instructions of other tools' traces that touch no memory */
    uint64_t opcodes_unknown;        /* memory instructions that are not modelled: skipped */
    char first_unknown[WM_OPCODE_TEXT_SIZE]; /* the first such opcode, cut where longer; "" if none */
    uint64_t copies_of_nothing;      /* cp.async from address 0 among virtual addresses: taken for zero fill */
    uint64_t copies_without_shared;  /* cp.async whose shared side the trace does not hold: global side counted */
    uint64_t lanes_guessed;          /* accesses whose active lanes were inferred from zero addresses */
    uint64_t warps_torn;             /* reserved for readers that lose records; 0 */
};
void wm_reader_notes(const wm_reader *reader, struct wm_reader_notes *out);

/* Adds *more to *sum, as what came behind it: the notes of chunks, or of files, together. */
void wm_reader_notes_add(struct wm_reader_notes *sum, const struct wm_reader_notes *more);

/* A CUDA C kernel: remark or warning number index on its run so far, one line; NULL: no more, or another format. Lives
 * until the next call on this reader. *is_warning (may be NULL): whether the kernel does something questionable. */
const char *wm_reader_remark_at(wm_reader *reader, size_t index, int *is_warning);

/* Receives bytes; returns 0, or a system error number, which ends the writing. */
typedef int (*wm_write_function)(void *context, const char *text, size_t length);

/* A CUDA C kernel: writes the bytes of the buffer of a pointer parameter or of a __constant__ or __device__ variable, as
 * far as the kernel has run. WM_E_NAME: there is none; WM_E_IO, WM_E_MEMORY; WM_E_ARGUMENT: another format. */
enum wm_status wm_reader_dump(wm_reader *reader, const char *name, wm_write_function write, void *context,
                              struct wm_diag *diag);

#define WM_DIMENSIONS 4

/* An array of a CUDA C kernel: a __shared__, __constant__ or __device__ variable, or the buffer of a pointer parameter.
 * A single variable is one of no dimensions. Strings live as long as the reader. */
struct wm_array {
    const char *name;
    const char *element;     /* its type as written, without const: "float", "half", "unsigned int", "float4"; a template's
                                own type by its argument */
    uint64_t element_bytes;
    uint32_t dimensions;     /* 0 to WM_DIMENSIONS; of an array that has more, the inner ones are taken together */
    uint32_t align_bytes;    /* what its address is a multiple of, by its type and alignas; a power of two */
    uint64_t extent[WM_DIMENSIONS]; /* elements, outermost first; 0: not known: of an extern __shared__ array that the launch
                                gives no bytes, of a buffer that grows as it is touched. Behind dimensions: 0 */
    enum wm_space space;     /* WM_SHARED, WM_CONST, WM_GLOBAL */
    int is_dynamic;          /* extern __shared__: several may begin at the same address */
    uint64_t address;        /* of its first byte, as in the address of an access to it */
    uint64_t size_bytes;     /* 0: not known */
    const char *file;        /* where it is declared */
    uint32_t line;
    uint32_t column;
};

/* Array number index of a kernel that is run: those in shared memory, in constant memory, then the global ones, each in the
 * order of declaration. NULL: no more, or another format. A null pointer has no buffer. */
const struct wm_array *wm_reader_array_at(const wm_reader *reader, size_t index);

/* One access that is written as an expression of CUDA C, such as "tile[threadIdx.x][threadIdx.y]" or
 * "*(float4 *)&a[4 * i]". What is an assignment, a call or ++ is run as it stands: atomicAdd(), __ldg(),
 * __pipeline_memcpy_async(), and what CUDA C has no function for: ldmatrix_x4(&tile[row][column]), also _x1, _x2, and
 * ldmatrix_x4_trans(); stmatrix_x4(). */
struct wm_expression {
    const char *text;
    int is_store; /* a value is stored there; else it is loaded */
};

/* Accesses of all warps of one block, from expressions. launch (of struct wm_reader_options) gives the block, the bytes of
 * extern __shared__ arrays, sizes and contents of buffers, and macros; grid and kernel are not looked at. */
struct wm_expressions {
    const struct wm_expression *expressions; /* none: the reader has arrays alone */
    size_t n_expressions;
    const char *const *declarations; /* "__shared__ float tile[32][33]", "const float *a", "const int w = 32", #define, struct,
                                        typedef, __device__ functions: as at file scope, a last ';' may be left out */
    size_t n_declarations;
    const char *const *lets; /* "NAME=VALUE": a constant; "NAME=FROM:TO" or "NAME=FROM:TO:STEP": each value from FROM up to, but
                                not with, TO. Constant expressions, which may use the constants before them */
    size_t n_lets;
};

/* Opens a reader of what the expressions access: for each combination of the values that lets give (the last let is the
 * fastest) all warps in turn, and each warp all expressions in turn. An access's file is "expression", or "expression 2" of
 * several, its line the one in there; its kernel is named "expression", or by the values: "expression(i=0, j=8)". Errors are
 * at line and column of a file "expression", "--decl", "--let", or of several "--decl 2". Nothing is warned about; of
 * macros that are defined twice there is a remark.
 * WM_E_SYNTAX, WM_E_UNSUPPORTED, WM_E_RANGE (a number; more than 65,536 combinations, or 131,072 warps in all), WM_E_NAME,
 * WM_E_ARGUMENT (the launch), WM_E_MEMORY; wm_reader_next() as of a kernel that is run. */
enum wm_status wm_reader_open_expressions(const struct wm_expressions *input, const struct wm_reader_options *options,
                                          wm_reader **out, struct wm_diag *diag);

/* The detected format, and bytes consumed and total bytes of the input as it is on disk (0: not known), for progress; of
 * a kernel: blocks. */
enum wm_format wm_reader_format(const wm_reader *reader);
void wm_reader_progress(const wm_reader *reader, uint64_t *consumed, uint64_t *total);

void wm_reader_close(wm_reader *reader);

/*
 * Parallel reading. A reader hands out chunks, in order, from one thread at a time (about a mebibyte of trace each, cut
 * between records); chunks are then parsed by any thread, different chunks at the same time, each from one thread.
 * wm_reader_next() is the same with one chunk after the other; a reader is used one way or the other, not both.
 */
typedef struct wm_chunk wm_chunk;

/* The next chunk. WM_END: there are no more. On failure the error belongs behind all chunks handed out before it. */
enum wm_status wm_reader_chunk(wm_reader *reader, wm_chunk **out, struct wm_diag *diag);

/* The next access of a chunk; what it points to lives until wm_chunk_free(). WM_END: the chunk is done. */
enum wm_status wm_chunk_next(wm_chunk *chunk, struct wm_access *out, struct wm_diag *diag);

/* Where the access that wm_chunk_next() gave last stands in its file: fills file and line of diag; column is where its
 * addresses begin. For diagnostics of what the reader itself accepts (wm_access_check). */
void wm_chunk_place(const wm_chunk *chunk, struct wm_diag *diag);
void wm_reader_place(const wm_reader *reader, struct wm_diag *diag);

/* What was only partly understood in this chunk so far. A reader's own notes hold those of chunks it parsed itself. */
void wm_chunk_notes(const wm_chunk *chunk, struct wm_reader_notes *out);
void wm_chunk_free(wm_chunk *chunk);

/* ------------------------------------------------------------------------------------------------------------ writer */

typedef struct wm_writer wm_writer;

/* Writes accesses as a text trace (format "text"), through a buffer of its own. WM_E_MEMORY. */
enum wm_status wm_writer_new(wm_write_function write, void *context, wm_writer **out);

/* Adds one access; kernel and warp lines are written where they change. WM_E_IO: write failed; WM_E_ARGUMENT. */
enum wm_status wm_writer_add(wm_writer *writer, const struct wm_access *access);

/* Writes what is buffered (a trace without accesses still gets its header). WM_E_IO. */
enum wm_status wm_writer_flush(wm_writer *writer);

/* Frees; does not flush. */
void wm_writer_free(wm_writer *writer);

/* ------------------------------------------------------------------------------------------------------------- tally */

/* What makes two accesses fall into one row. */
enum wm_by {
    WM_BY_KERNEL = 0, /* kernel name */
    WM_BY_LINE = 1,   /* kernel, source line, opcode; where no line is known, pc; where neither, opcode alone */
    WM_BY_PC = 2,     /* kernel, pc, opcode */
    WM_BY_OPCODE = 3  /* opcode, over all kernels */
};

/* Sums over the executions of a group. */
struct wm_tally_row {
    const char *kernel;            /* "" where the grouping merges kernels */
    const char *file;              /* NULL where the grouping merges lines, or none is known */
    const char *source;            /* the kernel's source file, as the group's first access has it; NULL likewise */
    uint32_t line;                 /* 0 likewise */
    uint64_t pc;                   /* WM_NO_PC likewise */
    struct wm_opcode opcode;       /* meaningful where has_opcode */
    int has_opcode;                /* 0 where the grouping merges opcodes (WM_BY_KERNEL) */
    uint64_t instructions;         /* executed warp instructions: the sum of count */
    uint64_t inactive;             /* of these, without any active lane */
    uint64_t inactive_wavefronts;  /* what of sums[WM_SHARED_WAVEFRONTS] is theirs: hardware counts it as neither load
                                      nor store, but under l1tex__data_pipe_lsu_wavefronts_mem_shared_op_misc */
    uint64_t lanes;                /* active lanes, summed */
    uint64_t sums[WM_COUNTERS];    /* by enum wm_counter; WM_WAYS is the largest, not a sum */
    uint64_t bytes;                /* lanes times width, summed */
    uint64_t inexact[WM_COUNTERS]; /* instructions whose counter is not WM_EXACT, by enum wm_counter */
    uint8_t exactness[WM_COUNTERS]; /* the worst enum wm_exactness among the group's accesses, by enum wm_counter */
    struct wm_access worst;        /* the access of the group with the largest waste (first of them): sectors plus
                                      shared wavefronts above their ideals; where equal, passes of all three stages,
                                      then active lanes. Its strings are not kept: kernel and file are NULL */
    struct wm_counts worst_counts;
};

typedef struct wm_tally wm_tally;

/* arch is used for exactness and must outlive the tally. WM_E_MEMORY, WM_E_ARGUMENT. */
enum wm_status wm_tally_new(const wm_arch *arch, enum wm_by by, wm_tally **out);

/* Adds access->count executions of counts. WM_E_MEMORY; WM_E_RANGE: more than 131,072 groups (use a coarser grouping),
 * or a sum above 2^63 - 1. */
enum wm_status wm_tally_add(wm_tally *tally, const struct wm_access *access, const struct wm_counts *counts);

/* Adds all of *from, as if its accesses had come after those of *into. from is unchanged. Both must have the same arch
 * and grouping (WM_E_ARGUMENT). WM_E_MEMORY, WM_E_RANGE as above: *into then holds a part of *from. */
enum wm_status wm_tally_merge(wm_tally *into, const wm_tally *from);

/* Row number index, in the order in which groups first appeared; lives until the tally changes. NULL: no more rows. */
const struct wm_tally_row *wm_tally_row_at(const wm_tally *tally, size_t index);

/* The profile that wm_tally_new() was given. */
const wm_arch *wm_tally_arch(const wm_tally *tally);

/* What a row's accesses keep one SM busy with. */
struct wm_row_cycles {
    double cycles;         /* at least; of the unit that is busy longest: accesses of a row may overlap in different units */
    double ideal;          /* the same if all accesses had their ideal counts: no bank conflict, no wasted sector */
    enum wm_bound bound;
    enum wm_bound ideal_bound;
    double units[WM_BOUNDS];       /* what each unit is busy with, by enum wm_bound: rows' units add up; cycles is the largest */
    double ideal_units[WM_BOUNDS]; /* likewise */
};

/* The cycles of all executions of a row, one after the other on one SM. Where opcodes are merged, what depends on them
 * (issue, write-back) is left out. WM_E_ARGUMENT: a NULL pointer. */
enum wm_status wm_cycles_row(const wm_arch *arch, const struct wm_tally_row *row, struct wm_row_cycles *out);

void wm_tally_free(wm_tally *tally);

#ifdef __cplusplus
}
#endif

#endif
