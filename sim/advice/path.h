/* The decision path that people are taught for the memory instructions of a kernel, as the path that this kernel
 * took: each step with what was asked, from which number on the answer is yes, what was seen, and where that
 * leads. */
#ifndef PATH_H
#define PATH_H

#include "global_advice.h"

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

/* Fills *out, which path_free() frees, in every case. WM_E_MEMORY. */
enum wm_status path_find(const wm_arch *arch, const struct global_advice *advice, struct path *out);
void path_free(struct path *path);

/* For people. Like path_json() it changes nothing but the room in *path. */
void path_table(struct path *path, struct buffer *out);

/* As JSON: an object for each step. *is_first as of global_advice_json(). */
void path_json(const char *kernel, struct path *path, int *is_first, struct buffer *out);

#endif
