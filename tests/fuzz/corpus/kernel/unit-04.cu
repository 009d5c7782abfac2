__global__ void k(int *out) {
  __shared__ int a[96];
  int t = threadIdx.x;
  a[t] = t;
  for (int s = 1; s < 96; s *= 2) {
    __syncthreads();
    int v = t >= s ? a[t - s] : 0;
    __syncthreads();
    a[t] += v;
  }
  out[t] = a[t];
  out[96 + t] = __syncthreads_count(t % 3 == 0) * 100 + __syncthreads_and(t < 96) * 10 + __syncthreads_or(t == 95);
}
