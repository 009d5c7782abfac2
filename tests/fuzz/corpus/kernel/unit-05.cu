__global__ void k(int *out, long long *wide) {
  int t = threadIdx.x; const unsigned all = 0xffffffffu;
  out[t] = __shfl_sync(all, t * 10, t + 1);
  out[32 + t] = __shfl_up_sync(all, t, 3);
  out[64 + t] = __shfl_down_sync(all, t, 3, 8);
  out[96 + t] = __shfl_xor_sync(all, t, 5);
  out[128 + t] = __ballot_sync(all, t > 29);
  if (t >= 16) out[160 + t] = __activemask() == 0xffff0000u ? __any_sync(0xffff0000u, t < 16) + 2 * __all_sync(0xffff0000u, t > 3) : -1;
  wide[t] = __shfl_sync(all, 10000000000ll * t, 31 - t);
}
