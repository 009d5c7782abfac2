__global__ void k(int *out, const int *in, int n) {
  int t = threadIdx.x;
  int a = t < n ? in[t] : -1;
  bool b = t < n && in[t] > 2;
  bool c = t >= n || in[t] > 2;
  out[t] = a * 4 + b * 2 + c;
}
