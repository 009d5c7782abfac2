__device__ int collatz(int n) { int steps = 0; while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; ++steps; } return steps; }
__device__ int find(const int *list, int wanted) {
  for (int i = 0; i < 32; i++) { if (list[i] == wanted) return i; }
  return -1; }
__device__ int kind(int n) {
  switch (n % 5) { case 0: return 10; case 1: n += 100; case 2: n += 1000; break; case 3: { n = 7; break; } default: n = -n; }
  return n; }
__global__ void k(int *out, const int *in) {
  int t = threadIdx.x, s = 0, i = 0;
  out[t] = collatz(t + 1);
  out[32 + t] = find(in, 3 * t);
  out[64 + t] = kind(t);
  do { s += i; if (i >= t) break; } while (++i < 10);
  out[96 + t] = s;
  for (i = 0, s = 0; ; i += 2) { if (i > t) s += 0; if (i > t) break; s++; }
  out[128 + t] = s;
  for (int a = 0; a < 4; a++) for (int b = 0; b < 4; b++) { if (b == t) break; if (a == t) continue; s++; }
  out[160 + t] = s;
}
