__constant__ float table[8] = {0, 1, 4, 9};
__device__ int total = 5;
__global__ void k(float *out, int n) {
  __shared__ double first[4];
  __shared__ char second;
  extern __shared__ float dynamic[];
  float kept[4], spilled[8];
  int t = threadIdx.x;
  dynamic[t] = table[t & 3];
  for (int i = 0; i < 4; i++) kept[i] = dynamic[t] + i;
  for (int i = 0; i < 8; i++) spilled[i] = i;
  spilled[n & 7] = 50;
  first[0] = 1; if (t == 0) second = 2;
  out[t] = kept[3] + spilled[2] + spilled[3];
  if (t == 0) total += t + 3;
}
