__global__ void k(float *out, const unsigned *r, const double *d, const int *grows) {
  int t = threadIdx.x;
  out[t] = (r[t] < 10) + (d[t] == t + 32 * (t / 32)) + grows[1000 * t];
}
