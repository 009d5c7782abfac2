/* A GPU profile as the model uses it: the values of the keys of a .arch file. Internal to the library. */
#ifndef WM_PROFILE_H
#define WM_PROFILE_H

#include "warpmem.h"

/* Access widths are powers of two, 1 to 32 bytes: index by log2. */
#define WM_WIDTHS 6

/* Most bits that a tag-bank number may have. */
#define WM_TAG_BANK_BITS 4

struct wm_profile {
    /* not a key: the fast path of the model for this geometry and this processor (model/model.h); NULL: none */
    int (*fast)(const struct wm_profile *profile, const struct wm_access *access, uint64_t refused,
                struct wm_counts *out);
    /* shared memory */
    uint32_t banks;                   /* shared.banks: power of two, 1 to 32 */
    uint32_t bank_bytes;              /* shared.bank_bytes: power of two, 1 to 16 */
    uint32_t phase_lanes[WM_WIDTHS];  /* shared.phase_lanes_N for N = 1 2 4 8 16 32: power of two, 4 to 32 */
    uint32_t load_merge;              /* shared.load_merge: bit 0: partner i^1, bit 1: partner i^2 */
    uint32_t atomic_merge;            /* shared.atomic_merge: atomics' lanes at one word cost one pass, as loads' do */
    uint32_t cas_passes;              /* shared.cas_passes: passes of a compare-and-swap for each of another atomic */
    uint32_t ldmatrix_phase_lanes;    /* shared.ldmatrix_phase_lanes: rows served together: power of two, 4 to 32 */
    uint32_t stmatrix_phase_lanes;    /* shared.stmatrix_phase_lanes: likewise */
    uint32_t shared_window_bytes;     /* shared.window_bytes: offsets must lie below */
    /* L1 tag and data stage */
    uint32_t line_bytes;              /* l1.line_bytes: banks * bank_bytes, 32 to 512 */
    uint32_t sector_bytes;            /* l1.sector_bytes: power of two, 32 to line_bytes */
    uint32_t tag_bank_bits;           /* l1.tag_bank_bits: 0 to 4; 2^bits tag banks, and as many mask keys */
    uint64_t tag_bank_mask[WM_TAG_BANK_BITS]; /* bit K of a line's bank: parity(line index & mask K) */
    uint32_t store_merge[WM_WIDTHS];  /* l1.store_merge_N: tag wavefronts of a store that share data wavefronts: slots for
                                         lines on their way to L2, in each tag bank */
    /* the race of model/store.c */
    uint32_t store_drain_cycles;      /* l1.store_drain_cycles: from a group's flush until its first line may drain */
    uint32_t store_window_lines;      /* l1.store_window_lines: lines between leaving the queue and the end of their send */
    uint32_t store_ahead_lines;       /* l1.store_ahead_lines: how far the reader may be ahead of the sender, */
    uint32_t store_ahead_cycles;      /* l1.store_ahead_cycles: and how long after that line's send began */
    uint32_t store_ahead_sectors;     /* l1.store_ahead_sectors: sectors that are read and not sent, at most */
    uint32_t store_forward_cycles;    /* l1.store_forward_cycles: from a line's last read to its send */
    uint32_t store_header_cycles;     /* l1.store_header_cycles: of a send beside one for each sector */
    uint32_t store_write_cycles;      /* l1.store_write_cycles: from a flush to the first write of lanes narrower than a bank */
    uint32_t tag_bank_top_bits;       /* l1.tag_bank_top_bits: address bits 41 and up for which ... */
    uint32_t tag_bank_top;            /* l1.tag_bank_top: ... their share in the tag bank is this, by exclusive or */
    uint32_t atomic_passes;           /* l1.atomic_passes: atomics go in passes of one line a tag bank (model/atomic.c) */
    uint32_t cas_piece_bytes;         /* l1.cas_piece_bytes: what a pass takes of a line for a compare-and-swap */
    uint32_t predicated_off_wavefronts; /* lsu.predicated_off_wavefronts: what an instruction without active lanes costs */
    /* spaces that may share the global path */
    uint32_t local_in_l1;             /* local.in_l1: counted by the rules of global; 0: every counter is 0 */
    uint32_t local_interleave_bytes;  /* local.interleave_bytes: N: a thread's consecutive pieces of N bytes lie 32 * N
                                         bytes apart in the warp's window, its lanes' pieces N bytes: power of two */
    uint32_t local_block_bytes;       /* local.block_bytes: of a thread, whose lines' tag banks do not depend on the window */
    uint32_t generic_in_l1;           /* generic.in_l1: as local_in_l1, addresses as they are */
    uint32_t const_in_l1;             /* const.in_l1: likewise */
    uint32_t cluster_tag_bytes;       /* cluster.tag_bytes: how far apart the tag stage's hash sees two blocks of a cluster
                                         whose shared memory is accessed, by their numbers */
    uint64_t cluster_tag_base;        /* cluster.tag_base: and at which address it sees block 0; its low
                                         28 bits count as 0 */
    /* rates and latencies, of model/cycles.c: hundredths of a cycle of one SM */
    uint32_t time_issue_shared_load;  /* time.issue_shared_load: handing over an instruction on shared memory that has a result */
    uint32_t time_issue_shared_store; /* time.issue_shared_store: ... that has none */
    uint32_t time_issue_load;         /* time.issue_load: a load through L1, with its addresses of 64 bits */
    uint32_t time_issue_local;        /* time.issue_local: a load of local memory */
    uint32_t time_issue_address;      /* time.issue_address: the addresses of what brings values to L2: a store, an atomic */
    uint32_t time_issue_word;         /* time.issue_word: each 4 bytes of a lane's values */
    uint32_t time_issue_copy;         /* time.issue_copy: a cp.async */
    uint32_t time_pass;               /* time.pass: a pass of the data stage or of the tag stage */
    uint32_t time_write_back;         /* time.write_back: each 4 bytes of a lane's result, on their way to the registers */
    uint32_t time_write_back_merged_8; /* time.write_back_merged_8: a load of 8 bytes from shared memory whose pairs of lanes merge */
    uint32_t time_write_back_merged_16; /* time.write_back_merged_16: ... of 16 bytes */
    uint32_t time_miss;               /* time.miss: an instruction with loads that miss L1 */
    uint32_t time_l2_request;         /* time.l2_request: a request from an SM to L2, beside the sectors that it brings */
    uint32_t time_l2_write;           /* time.l2_write: a sector to L2 */
    uint32_t time_l2_atomic;          /* time.l2_atomic: each of these at the atomic units of L2, where accesses are on the same lines */
    uint32_t time_copy_pass;          /* time.copy_pass: a cp.async beside its passes */
    uint32_t time_copy_miss;          /* time.copy_miss: a cp.async that misses L1 */
    uint32_t time_copy_line;          /* time.copy_line: each line of a cp.async that misses L1 */
    uint32_t time_cluster;            /* time.cluster: a sector of another block's shared memory */
    uint32_t time_cluster_atomic;     /* time.cluster_atomic: likewise of an atomic */
    uint32_t time_cluster_load;       /* time.cluster_load: a load of such memory, at least */
    uint32_t time_bypass;             /* time.bypass: each tag wavefront of a copy that goes past L1 */
    uint32_t latency_shared;          /* latency.shared: a load of shared memory, beside its passes */
    uint32_t latency_shared_atomic;   /* latency.shared_atomic: an atomic on shared memory, likewise */
    uint32_t latency_l1;              /* latency.l1: a load that hits L1, beside its passes */
    uint32_t latency_local;           /* latency.local: a load of local memory, beside its tag wavefronts */
    uint32_t latency_data_pass;       /* latency.data_pass: a pass of the data stage */
    uint32_t latency_tag_pass;        /* latency.tag_pass: a pass of the tag stage */
    uint32_t latency_pair;            /* latency.pair: a result of 8 bytes a lane, more than one of 4 */
    uint32_t latency_quad;            /* latency.quad: ... of 16 bytes */
    uint32_t latency_operand;         /* latency.operand: each further 4 bytes of an atomic's values */
    uint32_t latency_l2;              /* latency.l2: a load that misses L1 and hits L2 */
    uint32_t latency_l2_line;         /* latency.l2_line: each further line of that */
    uint32_t latency_copy;            /* latency.copy: a cp.async that hits L1, beside its passes */
    uint32_t latency_copy_pass;       /* latency.copy_pass: a pass of one that misses */
    uint32_t latency_bypass;          /* latency.bypass: a copy that goes past L1 */
    uint32_t latency_cluster;         /* latency.cluster: a load of another block's shared memory, beside its sectors */
    uint32_t latency_cluster_atomic;  /* latency.cluster_atomic: likewise an atomic */
    uint32_t latency_atomic;          /* latency.atomic: an atomic on global memory */
    uint32_t latency_atomic_line;     /* latency.atomic_line: each further line of that */
    /* instructions and limits */
    uint32_t write_back_passes;       /* lsu.write_back_passes: by which one phase's results go to the registers */
    uint32_t address_bits;            /* global.address_bits: virtual addresses lie below 2^bits */
    uint32_t max_width_bytes;         /* global.max_width_bytes: widest access of a lane: 16 or 32 */
    uint32_t has_ldmatrix;            /* instruction.ldmatrix: yes or no */
    uint32_t has_stmatrix;            /* instruction.stmatrix */
    uint32_t has_cp_async;            /* instruction.cp_async */
    uint32_t has_cluster;             /* instruction.shared_cluster: ld, st, atom, red on shared::cluster */
    uint32_t has_mem_lgds;            /* metric.mem_lgds: whether the counter of lsu_wavefronts is called so; no: mem_lg */
    /* peak figures of one product, for what bounds a whole kernel; no count depends on them */
    uint32_t sms;                     /* gpu.sms */
    uint32_t clock_mhz;               /* gpu.clock: the highest clock of the SMs */
    uint32_t dram_gb_per_s;           /* gpu.dram: 10^9 bytes a second */
};

/* struct wm_arch itself is private to profile.c; this is how the model sees it. */
const struct wm_profile *wm_arch_profile(const wm_arch *arch);

#endif
