// warpmem: -D A=16 -D B -D MAX(a,b)=((a)>(b)?(a):(b)) -D J(a,...)=a##1(__VA_ARGS__) -D N=A -D N=B+1 -D E= --block 33
#if defined(B) && A > 4
#define C N
#endif
#define A 3
__device__ int f1(int a, int b) { return MAX(a, b) E; }
__global__ void k(int *p) { __shared__ int s[A * C]; s[threadIdx.x % A] = J(f, 1, N); p[threadIdx.x] = MAX(s[0], 11); }
