struct plain { float x, y, z, w; };
struct __align__(16) wide { float x; int y; double z; };
struct mixed { char c; float2 v; };
__global__ void k(char *c, short *s, double *d, float4 *f4, float3 *f3, char4 *c4, double2 *d2, plain *p, wide *w,
                  mixed *m, __half2 *h) {
  int t = threadIdx.x;
  c[t]++;
  s[t] = c[t];
  d[t] = 1;
  f4[t].y = 1;
  float4 a = f4[t];
  f3[t] = make_float3(1, 2, 3);
  c4[t] = make_char4(1, 2, 3, 4);
  d2[t] = d2[t + 32];
  p[t] = p[t + 32];
  w[t] = w[t + 32];
  m[t] = m[t + 32];
  h[t] = h[t + 32];
  d[t] = a.x + w[t].y;
}
