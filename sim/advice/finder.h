/* Shared by the recognisers of global_advice.h. Each looks at a site, a region or the kernel, and proposes a
 * change if its simulation costs less. */
#ifndef FINDER_H
#define FINDER_H

#include "global_advice.h"
#include "rewrite.h"

/* An advice in the making. */
struct draft {
    enum advice_kind kind;
    struct buffer title;
    struct buffer words;
    struct effect *effects;
    size_t n_effects;
    size_t size;
    int is_bound;
};

struct finder {
    const struct sites *sites;
    struct advice_list *out;
    size_t size;           /* of out->list */
    uint8_t *is_covered;   /* by site: a change was proposed that takes waste away */
    uint8_t *is_constant;  /* by site: it is proposed for constant memory */
    enum wm_status status; /* the first failure: nothing is looked for after it */
};

/* A site's part of the kernel's sectors, wavefronts or instructions, below which it is no advice worth. */
#define MATTERS_PERCENT 1
int matters(const struct site *site, uint64_t part, uint64_t whole);

/* Lines looked up above the fewest that could hold what is asked for, where no sector is wasted, and where that
 * costs a part of the kernel's cycles that matters. *bound: with the fewest. */
int wastes_lines(struct finder *finder, const struct site *site, struct cost *bound);

/* Whether part is nine tenths of a site's instructions with several active lanes. */
int is_mostly(uint64_t part, const struct site *site);
int is_load_or_store(const struct site *site);

/* What a list costs; frees it. */
void simulate(struct finder *finder, struct access_list *list, struct cost *out);

/* Adds a line: sites, and what they become. What follows is theirs: n sites are copied. */
void draft_effect(struct finder *finder, struct draft *draft, const struct site *const *sites, size_t n,
                  const struct cost *after, const char *note);
void draft_free(struct draft *draft);
/* Hands the draft on, which becomes empty. Sites for which less waste is left are covered. 0: it gains too little, and
 * nothing is proposed; or a failure. */
int propose(struct finder *finder, struct draft *draft);

/* "transpose.cu:6 ld.global.b32"; "array particles" or "0x1000-0x1fff". */
void say_site(const struct site *site, struct buffer *out);
/* "All bytes of the sectors are used, but those of a warp lie in 16.0 lines of 128 B, where 4.0 would do: ..." */
void say_lines(const struct sites *sites, const struct site *site, struct buffer *out);
void say_region(const struct region *region, struct buffer *out);
/* "256 B * threadIdx.x + 4 B * step"; nothing and 0 where the addresses are no such sum. */
int say_affine(const struct sites *sites, const struct site *site, struct buffer *out);
/* "50 %", "12.5 %" */
void say_percent(uint64_t part, uint64_t whole, struct buffer *out);

/* The recognisers. */
void look_at_layout(struct finder *finder, size_t region);
void look_at_members(struct finder *finder, size_t region);
void look_at_beginnings(struct finder *finder, size_t region);
void look_at_reuse(struct finder *finder, size_t region);
void look_at_walk(struct finder *finder, const struct site *site);
void look_at_thread_vectors(struct finder *finder, const struct site *site);
void look_at_warp_vectors(struct finder *finder);
void look_at_roles(struct finder *finder);
void look_at_lines(struct finder *finder, const struct site *site);
void look_at_whole_warps(struct finder *finder);
void look_at_constant(struct finder *finder, const struct site *site);
void look_at_atomics(struct finder *finder, const struct site *site);
void look_at_rest(struct finder *finder, size_t region);

#endif
