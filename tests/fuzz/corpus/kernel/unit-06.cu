__global__ void k(unsigned *u, int *s, float *f, unsigned long long *w, unsigned *old) {
  int t = threadIdx.x;
  old[t] = atomicAdd(&u[0], 2u);
  atomicSub(&u[1], 1u);
  atomicMax(&s[0], t - 40); atomicMin(&s[1], -t);
  atomicInc(&u[2], 9u); atomicDec(&u[3], 9u);
  atomicAnd(&u[4], ~(1u << t)); atomicOr(&u[5], 1u << t); atomicXor(&u[6], t);
  atomicAdd(f, 0.5f); atomicAdd(w, 1ull << 40);
  atomicCAS(&u[7], t, t + 1);
  if (t == 3) atomicExch(&u[8], 77u);
}
