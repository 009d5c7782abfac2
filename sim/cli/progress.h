/* A progress bar on standard error, where that is a terminal; and messages, which must not mix with it. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

/* Turns the bar on (it shows only after half a second of work, and only on a terminal). */
void progress_start(void);

/* How far file number index of count is: bytes consumed of total (0: not known). Cheap; from any thread. */
void progress_update(const char *file, unsigned index, unsigned count, uint64_t consumed, uint64_t total);

/* Takes the bar off the terminal; off for good. */
void progress_stop(void);

/* Takes the bar away for a message and keeps other threads from drawing it meanwhile. */
void progress_hold(void);
void progress_release(void);

#endif
