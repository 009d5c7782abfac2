// warpmem: --kernel misc --block 32 --smem 128
#include <cstdio>
#include <vector>
#include "cuda_runtime.h"
template <typename T, int N> struct alignas(sizeof(T) * N) pack { T v[N]; };
struct host_thing { std::vector<int> v; host_thing() {} int f() const { return 1; } };
static const int K = 3;
constexpr int M = K * 4;
enum mode { A, B = 5, C };
typedef unsigned long long u64;
using real = float;
__constant__ float coef[4] = {1, 2, 3, 4};
__device__ int counter = 7;
__device__ float3 operator*(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }
template <typename T> __device__ void swap_(T &a, T &b) { T t = a; a = b; b = t; }
template <typename T> __device__ T sum4(const T *p) { T s = 0; for (int i = 0; i < 4; ++i) s += p[i]; return s; }
__device__ int fact(int n) { int r = 1; while (n > 1) r *= n--; return r; }
__device__ int early(int x) { if (x & 1) return x * 10; for (int i = 0; ; i++) { if (i == x) return i; } }
template <typename T, int N>
__global__ void copy(T *out, const T *__restrict__ in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}
__global__ void misc(int *out, float *f, pack<float, 4> *pk)
{
    extern __shared__ unsigned char dyn[];
    int *sh = reinterpret_cast<int *>(dyn);
    int t = threadIdx.x, a = 1, b = 2;
    swap_(a, b);
    out[t] = a * 100 + b + M + C;
    out[t + 32] = fact(t % 5);
    out[t + 64] = early(t);
    float loc[4];
    #pragma unroll
    for (int i = 0; i < 4; i++) loc[i] = coef[i] * t;
    f[t] = sum4(loc);
    float reg[4];
    for (int i = 0; i < 4; i++) reg[i] = i * t;
    f[t + 32] = reg[0] + reg[1] + reg[2] + reg[3];
    sh[t] = t;
    __syncthreads();
    switch (sh[31 - t] & 3) {
    case 0: out[t + 96] = 1; break;
    case 1: out[t + 96] = 2;
    case 2: out[t + 96] += 10; break;
    default: out[t + 96] = -1;
    }
    pack<float, 4> q = pk[t];
    q.v[1] = q.v[0] + 1;
    pk[t] = q;
    float3 v = make_float3(1, 2, 3) * 2.0f;
    f[t + 64] = v.x + v.y + v.z + (t > 3 ? coef[t & 3] : 0.5f);
    int old = atomicAdd(&counter, 1);
    out[t + 128] = old;
    unsigned m = __ballot_sync(0xffffffffu, t & 1);
    out[t + 160] = (int)m;
    do { if (t == 5) continue; a++; } while (a < 10 && t != 5);
    out[t + 192] = a;
}
int main(int argc, char **argv) { std::vector<int> x; for (auto &y : x) printf("%d\n", y); copy<float4, 8><<<1, 2>>>(nullptr, nullptr, 3); misc<<<1,1>>>(0,0,0); return 0; }
