__global__ void k(int *out, const int *in) {
  int t = threadIdx.x;
  if (t < 8)
    out[t] = in[t];
  else if (t % 2)
    out[t] = in[t];
  for (int i = 0; i < t; i++) {
    if (i == 3) break;
    if (i == 1) continue;
    out[t] += 1;
  }
  out[t] += 100;
}
