template <typename T, int N = 4> struct alignas(sizeof(T) * N) pack { T v[N]; };
template <typename T> __device__ T twice(T x) { return x + x; }
__device__ int over(int) { return 1; } __device__ int over(float) { return 2; } __device__ int over(const float *) { return 3; }
template <int N> struct tag { int v; };
template <typename T> __device__ void exchange(T &a, T &b) { T t = a; a = b; b = t; }
template <typename T, int N, bool ODD = false>
__global__ void k(T *out, pack<T> *p, float f) {
  int t = threadIdx.x, a = 1, b = 2;
  T local[N];
#pragma unroll
  for (int i = 0; i < N; i++) local[i] = twice<T>((T)i) + twice(t);
  if constexpr (ODD) { out[t] = nonsense(t); } else { out[t] = local[N - 1]; }
  exchange(a, b);
  out[32 + t] = a * 1000 + b * 100 + over(1) * 10 + over(f);
  out[64 + t] = over((const float *)out) + (sizeof(tag<(2 > 1)>) == 4) * 10;
  pack<T> q = p[t]; q.v[2] = 5; p[t] = q;
}
