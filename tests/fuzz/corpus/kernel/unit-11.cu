#include <cuda_runtime.h>
#define N 4
#define SQUARE(x) ((x) * (x))
#define JOIN(a, b) a##b
#define COUNT(...) count(__VA_ARGS__)
#define LOOP for (int i = 0; \
                  i < N; i++)
#if N > 3 && defined(N) && !defined(M) && (N + 1) * 2 == 10 && __CUDA_ARCH__ >= 800
#define GOOD 1
#elif 1
#error not here
#else
#error nor here
#endif
#ifdef M
# if nonsense ) (
# endif
garbage ( (
#endif
#undef M
#define self me + 1
__device__ int count(int a, int b) { return a * 10 + b; }
__global__ void k(int *out) {
  int me = 5, xy = 7, s = 0;
  LOOP s += i;
  out[0] = SQUARE(1 + 2); out[1] = JOIN(x, y); out[2] = COUNT(3, 4); out[3] = s; out[4] = GOOD; /* a
  comment */ out[5] = 1 + 2; // another \
  that goes on
  out[6] = SQUARE
    (SQUARE(2)); out[7] = self;
}
