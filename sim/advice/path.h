/* The decision path that people are taught for the memory instructions of a kernel, as the path that this kernel
 * took: each step with what was asked, from which number on the answer is yes, what was seen, and where that
 * leads. */
#ifndef PATH_H
#define PATH_H

#include "global_advice.h"
#include "shared_advice.h"

#define PATH_STEPS 9

enum path_answer { PATH_YES, PATH_NO, PATH_NOT_ASKED, PATH_SHOWN /* no question of yes or no */ };

struct path_step {
    const char *question;
    enum path_answer answer;
    struct buffer threshold;
    struct buffer seen;
    struct buffer next;
};

struct path {
    struct path_step steps[PATH_STEPS];
    uint64_t left_out; /* executions that are not looked at, but extrapolated to */
};

/* What other layouts of an array in shared memory come to. */
struct path_layout {
    const char *array;
    int is_found[SHARED_CHOICES];
    double cycles; /* predicted ones that the best of them saves, of all accesses of the kernel */
};

/* The accesses that touch the array are simulated in each layout that was found. Any status of wm_model(). */
enum wm_status path_layout_of(const wm_arch *arch, const struct access_kernel *kernel,
                              const struct shared_advice *advice, struct path_layout *out);

/* Fills *out, which path_free() frees, in every case. layouts: of the arrays in shared memory; may be none.
 * WM_E_MEMORY, or a status of wm_model(). */
enum wm_status path_find(const wm_arch *arch, const struct global_advice *advice, const struct path_layout *layouts,
                         size_t n_layouts, struct path *out);
void path_free(struct path *path);

/* For people. Like path_json() it changes nothing but the room in *path. */
void path_table(struct path *path, struct buffer *out);

/* As JSON: an object for each step. *is_first as of global_advice_json(). */
void path_json(const char *kernel, struct path *path, int *is_first, struct buffer *out);

#endif
