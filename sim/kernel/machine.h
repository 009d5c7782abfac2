/* A launch while it runs: memory, warps, what is remarked. Internal to the library. */
#ifndef WM_MACHINE_H
#define WM_MACHINE_H

#include "compile.h"
#include "execute.h"

#define WMI_PAGE_BITS 16
#define WMI_PAGE_BYTES (UINT64_C(1) << WMI_PAGE_BITS)

enum fill { FILL_ZERO, FILL_IOTA, FILL_RANDOM };

/* A piece of global memory: what a pointer parameter or a __device__ variable has. Pages exist once they are touched;
 * those of zeros once they are written to. */
struct buffer {
    const char *name;
    uint64_t base;
    uint64_t size;     /* bytes that may be accessed */
    int is_growing;    /* no size was given: up to 4 GiB */
    uint64_t touched;  /* end of the highest byte accessed */
    enum fill fill;
    uint64_t seed;
    uint64_t limit;    /* random integers are below; 0: of all values */
    enum type_kind element; /* of what fills it */
    uint8_t **pages;
    uint64_t n_pages;
};

/* Who wrote a byte of shared memory last. */
struct shadow {
    uint32_t epoch; /* 0: nobody */
    uint16_t writer; /* thread of the block; WMI_ATOMIC_WRITER: an atomic */
    uint16_t warp_epoch;
};
#define WMI_ATOMIC_WRITER UINT16_MAX

/* Where lanes wait in control flow. */
struct control {
    uint32_t saved;
    uint32_t other;
    uint32_t broken;
    uint32_t continued;
    uint32_t returned;
};

#define WMI_GROUPS 64u /* of copies that are told apart */

enum warp_state { WARP_READY, WARP_WAITING, WARP_DONE };

struct warp {
    union lanes *registers;
    struct control *stack;
    uint8_t *local; /* lane after lane */
    enum warp_state state;
    uint32_t pc;
    uint32_t depth;
    uint32_t live; /* lanes that the block has */
    uint32_t active;
    uint32_t broken;
    uint32_t continued;
    uint32_t returned;
    uint32_t rounds; /* of loops, since it came on */
    uint16_t epoch;
    uint64_t steps;
    /* of its cp.async, which are numbered from 1 */
    uint32_t copies;
    uint32_t copies_done;            /* what it has waited for: the last one */
    uint32_t groups;                 /* committed */
    uint32_t group_end[WMI_GROUPS];  /* last copy of each, by its number modulo WMI_GROUPS */
};

enum warning_kind { WARN_UNINITIALISED, WARN_RACE_WW, WARN_RACE_WR, WARN_MASK, WARN_LANE, WARN_LOOP, WARN_COPY, WARN_MMA };

struct warning {
    enum warning_kind kind;
    uint32_t at; /* instruction */
    uint64_t count;
    char text[320];
};

#define WMI_WARNINGS 256

/* A variable that takes one value after the other: a parameter of the kernel that expressions make. */
struct sweep {
    struct symbol *symbol;
    int64_t from;
    int64_t step;
    uint64_t count;
};

struct wmi_run {
    struct compile c;
    struct program program;
    struct wm_kernel kernel;
    /* the launch */
    uint64_t grid_blocks;
    uint64_t selected;  /* blocks to run */
    uint64_t done;
    uint64_t first;
    uint64_t sample;
    uint64_t max_steps;
    uint32_t threads;
    uint32_t n_warps;
    enum wm_l1 l1;
    int in_block; /* a block is under way */
    uint32_t block[3];
    uint32_t current; /* warp */
    const struct wm_kernel *kernel_now; /* of accesses */
    /* expressions in place of a kernel's source: each combination of values is run as a block is */
    int is_quiet; /* nothing is remarked or warned about */
    struct sweep *sweeps;
    uint32_t n_sweeps;
    uint64_t combinations;
    struct wm_kernel *kernels; /* of each combination; NULL: of none */
    struct warp *warps;
    union lanes *registers;
    struct control *controls;
    uint8_t *locals;
    uint64_t *parameters; /* value of each scalar of each parameter */
    /* memory */
    struct buffer *buffers;
    uint32_t n_buffers;
    uint16_t slots[WMI_SLOTS]; /* number of the buffer + 1, 0: none */
    uint64_t memory_bytes; /* most that may be taken of this machine */
    uint64_t memory_left;
    uint8_t *shared;
    struct shadow *shadow;
    uint32_t *copied; /* of each byte, the number of the copy that wrote it last; 0: none. NULL: the kernel has no copies */
    uint64_t shared_bytes;
    uint32_t epoch;       /* of the block: grows with each barrier */
    uint32_t block_epoch; /* the first one of the block */
    uint8_t *constants;
    uint8_t *zeros; /* a page that nothing is written to */
    struct wm_array *arrays;
    size_t n_arrays;
    /* what there is to say */
    const char **remarks;
    size_t n_remarks;
    size_t remark_room;
    struct warning *warnings;
    uint32_t n_warnings;
    uint64_t warnings_lost;
    char text[512];
    int is_over;
    enum wm_status status;
    struct wm_diag diag;
    /* where accesses go */
    struct wm_access *out;
    size_t room;
    size_t n_out;
    struct wm_access waiting; /* the second of two of one instruction, for which there was no room */
    int is_waiting;
};

/* combinations.c */
/* The kernel that the expressions make, of parameters: the pointers that are declared, then what takes several values. */
struct instance *wmi_x_expressions(struct wmi_run *run, const struct wm_expressions *input);
/* Behind launch and memory: bounds, and the names of combinations. */
void wmi_x_combinations(struct wmi_run *run);
/* Gives the parameters the values of a combination. */
void wmi_x_combine(struct wmi_run *run, uint64_t number);

/* arrays.c: after the arguments. */
void wmi_x_arrays(struct wmi_run *run);

/* memory.c */
enum wm_status wmi_x_buffer_page(struct wmi_run *run, struct buffer *buffer, uint64_t number, uint8_t **page);
/* The same where nothing will be written to the page. */
enum wm_status wmi_x_buffer_read(struct wmi_run *run, struct buffer *buffer, uint64_t number, uint8_t **page);
/* A buffer of size bytes, 0: growing. NULL: there is no address or memory left. */
struct buffer *wmi_x_buffer_new(struct wmi_run *run, const char *name, uint64_t size);
void wmi_x_memory_free(struct wmi_run *run);

/* access.c: each returns 0, or -1 after wmi_x_fail(). */
int wmi_x_load(struct wmi_run *run, struct warp *warp, const struct insn *insn);
int wmi_x_store(struct wmi_run *run, struct warp *warp, const struct insn *insn);
int wmi_x_atomic(struct wmi_run *run, struct warp *warp, const struct insn *insn);
int wmi_x_matrix(struct wmi_run *run, struct warp *warp, const struct insn *insn); /* ldmatrix, stmatrix */
int wmi_x_copy(struct wmi_run *run, struct warp *warp, const struct insn *insn);   /* cp.async */
void wmi_x_commit(struct warp *warp);
void wmi_x_wait(struct warp *warp, const struct insn *insn);
void wmi_x_warn(struct wmi_run *run, enum warning_kind kind, uint32_t at, const char *format, ...) WMI_PRINTF(4, 5);
int wmi_x_fail(struct wmi_run *run, uint32_t at, enum wm_status status, const char *format, ...) WMI_PRINTF(4, 5);

/* execute.c */
enum stop { STOP_FULL, STOP_TURN, STOP_BARRIER, STOP_DONE, STOP_FAILED };
enum stop wmi_x_warp(struct wmi_run *run, struct warp *warp);

#endif
