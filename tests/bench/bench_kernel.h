/* make bench: kernels run from their source. */
#ifndef BENCH_KERNEL_H
#define BENCH_KERNEL_H

/* Prints a table; directory takes the sources. 0: success, else the reason is on standard error. */
int bench_kernels(const char *directory);

#endif
