/* Kernels that are refused, and those that do what they must not: the message, and exactly where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"

#define ROWS(list) (sizeof(list) / sizeof(list)[0])

struct row {
    const char *source;
    const char *options;
    const char *message; /* the start of "file:line:column: text" */
    enum wm_status status;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct ran *ran = run_kernel(rows[i].source, rows[i].options);
        char text[1024];

        wm_diag_format(&ran->diag, text, sizeof text);
        if (ran->status == WM_END || ran->status == WM_OK)
            fail_msg("no error: %s", rows[i].message);
        if (strncmp(text, rows[i].message, strlen(rows[i].message)) != 0)
            fail_msg("\"%s\" is not \"%s\"", text, rows[i].message);
        assert_int_equal(ran->status, rows[i].status);
        assert_int_equal(ran->diag.status, rows[i].status);
        ran_free(ran);
    }
}

static void test_refused(void **state)
{
    static const struct row rows[] = {
        {"__global__ void k(int *p) {\n  asm volatile(\"membar.gl;\");\n}\n", "", "k.cu:2:17: the PTX instruction membar.gl is not supported", WM_E_UNSUPPORTED},
        {"__global__ void k(int *p) {\n  int x = __asm__(\"\");\n}\n", "", "k.cu:2:11: inline PTX (__asm__) is not supported", WM_E_UNSUPPORTED},
        {"__global__ void k(int *p) {\n  goto end;\n}\n", "", "k.cu:2:3: goto is not supported", WM_E_UNSUPPORTED},
        {"__global__ void k(int *p) { puts(\"x\"); }\n", "", "k.cu:1:34: a string is not supported", WM_E_UNSUPPORTED},
        {"__global__ void k(int *p) { this_thread_block().sync(); }\n", "", "k.cu:1:29: this_thread_block (cooperative groups) is not supported", WM_E_UNSUPPORTED},
        {"__global__ void k(int *p) { p[0] = frobnicate(1); }\n", "", "k.cu:1:36: the function frobnicate is not supported", WM_E_UNSUPPORTED},
        {"union u { int a; float b; };\n__global__ void k(u *p) { }\n", "", "k.cu:2:19: u: line 1: a union is not supported", WM_E_UNSUPPORTED},
        {"struct s { int a; int f() { return a; } };\n__global__ void k(s *p) { }\n", "", "k.cu:2:19: s: line 1: a member function is not supported", WM_E_UNSUPPORTED},
        {"__device__ int f(int n) { return n ? f(n - 1) : 0; }\n__global__ void k(int *p) { p[0] = f(3); }\n", "", "k.cu:1:38: recursion (f) is not supported", WM_E_UNSUPPORTED},
        {"__global__ void k(int *p) { auto f = [](int x) { return x; }; }\n", "", "k.cu:1:38: a lambda is not supported", WM_E_UNSUPPORTED},
        {"__global__ void k(int *p) {\n  cg::thread_block b;\n}\n", "", "k.cu:2:3: cg:: is not supported", WM_E_UNSUPPORTED},
        {"__global__ void k(int *p) { static int x; }\n", "", "k.cu:1:40: a static variable inside a function is not supported", WM_E_UNSUPPORTED},
        {"__global__ void k(float *p) { atomicMax(p, 1.0f); }\n", "", "k.cu:1:31: atomicMax on float is not supported", WM_E_UNSUPPORTED},
        {"__global__ void k(int *p) { k<<<1, 1>>>(p); }\n", "", "k.cu:1:29: launching a kernel from a kernel is not supported", WM_E_UNSUPPORTED},
        {"__global__ void k(int *p) { wmma x; }\n", "", "k.cu:1:29: the type wmma is not supported", WM_E_UNSUPPORTED},
    };

    (void)state;
    check_rows(rows, ROWS(rows));
}

static void test_wrong(void **state)
{
    static const struct row rows[] = {
        {"", "", "k.cu: there is no __global__ function in this file", WM_E_NAME},
        {"__global__ void a() {}\n__global__ void b() {}\n", "", "k.cu: there are several kernels, name one with --kernel: a, b", WM_E_NAME},
        {"__global__ void a() {}\n", "--kernel c", "k.cu: there is no kernel c in this file; there is: a", WM_E_NAME},
        {"template <int N> __global__ void a() {}\n", "", "k.cu: a is a template: give its arguments, --kernel 'a<...>'", WM_E_NAME},
        {"__global__ void k(int *p) {\n  p[0] = 1\n}\n", "", "k.cu:3:1: expected ';' behind an expression, found '}'", WM_E_SYNTAX},
        {"__global__ void k(int *p) {\n  p[0] = q;\n}\n", "", "k.cu:2:10: q is not declared", WM_E_SYNTAX},
        {"__global__ void k(int *p) {\n", "", "k.cu:1:27: this '{' is not closed", WM_E_SYNTAX},
        {"__global__ void k(const int *p) {\n  p[1] = 2;\n}\n", "", "k.cu:2:8: assignment to a const value", WM_E_SYNTAX},
        {"__global__ void k(int *p, float *f) {\n  p = f;\n}\n", "", "k.cu:2:7: a value of type float * cannot be converted to int *", WM_E_SYNTAX},
        {"__global__ void k(int *p) {\n  p[0] = 1.5 % 2;\n}\n", "", "k.cu:2:14: this operator does not take double and int", WM_E_SYNTAX},
        {"__global__ void k(int *p) {\n  float4 v; p[0] = v.q;\n}\n", "", "k.cu:2:22: float4 has no member q", WM_E_SYNTAX},
        {"__global__ void k(int *p) {\n  int a[2]; p[0] = a[2];\n}\n", "", "k.cu:2:21: index 2 of an array of 2 elements", WM_E_RANGE},
        {"__global__ void k(int *p) {\n  int a; int a;\n}\n", "", "k.cu:2:14: a is declared twice, first in line 2", WM_E_SYNTAX},
        {"__global__ void k(int *p) {\n  break;\n}\n", "", "k.cu:2:3: break outside a loop", WM_E_SYNTAX},
        {"#if 1\n__global__ void k() {}\n", "", "k.cu:1:2: this #if has no #endif", WM_E_SYNTAX},
        {"#error no\n", "", "k.cu:1:2: #error", WM_E_SYNTAX},
        {"#define F(a, b) a\n__global__ void k() { F(1); }\n", "", "k.cu:2:23: this macro takes 2 arguments, not 1", WM_E_SYNTAX},
        {"/* no end\n", "", "k.cu:1:1: this comment has no end", WM_E_SYNTAX},
        {"__global__ void k(int *p) { p[0] = 99999999999999999999; }\n", "", "k.cu:1:36: the number 99999999999999999999 is above 2^64 - 1", WM_E_RANGE},
        {"__global__ void k(int *p) { p[0] = 08; }\n", "", "k.cu:1:36: 08 is not a number", WM_E_SYNTAX},
        {"__global__ void k(int *p) { static_assert(sizeof(int) == 8, \"no\"); }\n", "", "k.cu:1:29: static_assert does not hold", WM_E_SYNTAX},
        {"__global__ void k(int n) { }\n", "--block 1", "--arg n: the kernel's parameter n (int) needs a value: --arg n=VALUE", WM_E_ARGUMENT},
        {"__global__ void k(int n, float *p, float x, float4 c) { }\n", "--block 1 --arg x=1",
         "--arg n: the launch lacks values, give each in place of its type: --arg n=int --arg 'c=float4'", WM_E_ARGUMENT},
        {"__global__ void k(int n) { }\n", "", "--arg n: the launch lacks values, give each in place of its type: --block X,Y,Z --arg n=int", WM_E_ARGUMENT},
        {"__device__ int f(const int (&a)[4]) { return a[0]; }\n__global__ void k(int *p) { int a[3]; p[0] = f(a); }\n", "",
         "k.cu:2:46: no function f takes these arguments: argument 1 of type int[3] does not fit parameter a of that of line 1, ", WM_E_SYNTAX},
        {"__device__ int f(int a) { return a; }\n__global__ void k(int *p) { p[0] = f(); }\n", "",
         "k.cu:2:36: no function f takes these arguments: that of line 1 has 1 parameters, not 0", WM_E_SYNTAX},
        {"__global__ void k() {\n  extern __shared__ int buf[];\n  __shared__ int s[32];\n  s[0] = 1;\n  buf[0] = 1;\n}\n", "--block 1",
         "k.cu:5:10: Invalid __shared__ write of size 4 bytes by thread (0,0,0) in block (0,0,0): address 0x7e8000000080 is out of bounds: "
         "0 bytes after the end of the block's shared memory, which has 128 bytes; buf is dynamic shared memory and has 0 bytes: --smem BYTES", WM_E_ADDRESS},
        {"__global__ void k(int n) { }\n", "--arg m=1", "--arg m: k has no such parameter; it has: n", WM_E_NAME},
        {"__global__ void k(unsigned char n) { }\n", "--arg n=256", "--arg n:1:1: the value does not fit unsigned char", WM_E_ARGUMENT},
        {"__global__ void k(int n) { }\n", "--arg n=1.5", "--arg n:1:1: int is an integer", WM_E_ARGUMENT},
        {"__global__ void k(int *p) { }\n", "--arg p=int[4]:jota", "--arg p: expected TYPE[COUNT], zero, iota", WM_E_ARGUMENT},
        {"__global__ void k(int *p) { }\n", "--arg p=frog[4]", "--arg p:1:1: the type frog is not supported", WM_E_UNSUPPORTED},
        {"__global__ void k(int *p) { }\n", "--arg p=@/nonexistent/file", "--arg p: cannot open /nonexistent/file", WM_E_IO},
        {"__global__ void k(int *p) {\n  p[0] = N;\n}\n", "-D N=q+1", "k.cu:2:10: q is not declared; this line uses -D N=q+1", WM_E_SYNTAX},
        {"__global__ void k(int *p) {\n  p[0] = N;\n}\n", "-D N=M -D M=q", "k.cu:2:10: q is not declared; this line uses -D M=q", WM_E_SYNTAX},
        {"__global__ void k(int *p) {\n  p[0] = N;\n  p[1] = q;\n}\n", "-D N=1", "k.cu:3:10: q is not declared", WM_E_SYNTAX},
        {"#if N\n#endif\n", "-D N=1/0", "k.cu:1:2: division by zero in this condition; this line uses -D N=1/0", WM_E_RANGE},
        {"__global__ void k(int *p) { p[0] = F(1); }\n", "-D F(a,b)=a", "k.cu:1:36: this macro takes 2 arguments, not 1; this line uses -D F(a,b)=a", WM_E_SYNTAX},
        {"__global__ void k(int *p) { int a[N]; }\n", "-D N=-1", "k.cu:1:34: an array of -1 elements; this line uses -D N=-1", WM_E_RANGE},
        {"", "-D 1N=2", "-D 1N=2: expected NAME, NAME=TEXT or NAME(PARAMETERS)=TEXT", WM_E_ARGUMENT},
        {"", "-D =2", "-D =2: expected NAME, NAME=TEXT or NAME(PARAMETERS)=TEXT", WM_E_ARGUMENT},
        {"", "-D N-1", "-D N-1: expected NAME, NAME=TEXT or NAME(PARAMETERS)=TEXT", WM_E_ARGUMENT},
        {"", "-D N(a)b", "-D N(a)b: expected NAME, NAME=TEXT or NAME(PARAMETERS)=TEXT", WM_E_ARGUMENT},
        {"", "-D N(a=b)", "-D N:1:4: expected the name of a parameter", WM_E_SYNTAX},
        {"", "-D N=1\n2", "-D N: a macro is one line", WM_E_ARGUMENT},
        {"", "-D N=/*", "-D N:1:3: this comment has no end", WM_E_SYNTAX},
        {"", "-D N='", "-D N:1:3: no closing ' on this line", WM_E_SYNTAX},
        {"", "-D NULL=1", "-D NULL: NULL is built in and cannot be defined", WM_E_ARGUMENT},
        {"", "-D __has_include", "-D __has_include: __has_include cannot be a macro's name", WM_E_ARGUMENT},
        {"__global__ void k() { }\n", "--block 33,32", "k.cu: a block of 1056 threads: at most 1024", WM_E_ARGUMENT},
        {"__global__ void k() { }\n", "--grid 4 --blocks 2-4", "k.cu: blocks 2-4 of a grid of 4", WM_E_ARGUMENT},
    };

    (void)state;
    check_rows(rows, ROWS(rows));
}

static void test_running(void **state)
{
    static const struct row rows[] = {
        {"__global__ void k(int *p) {\n  p[threadIdx.x] = 1;\n}\n", "--block 32 --arg p=int[31]",
         "k.cu:2:18: Invalid __global__ write of size 4 bytes by thread (31,0,0) in block (0,0,0): address 0x7f010000007c is out of bounds: 0 bytes after the end of p, which has 124 bytes", WM_E_ADDRESS},
        {"__global__ void k(const int *p, int *q) {\n  q[0] = p[-1];\n}\n", "--arg p=int[8] --arg q=int[1]",
         "k.cu:2:11: Invalid __global__ read of size 4 bytes by thread (0,0,0) in block (0,0,0): address 0x7f00fffffffc is out of bounds", WM_E_ADDRESS},
        {"__global__ void k(float *p) {\n  float4 v = *(float4 *)(p + 1); p[0] = v.x;\n}\n", "--arg p=float[8]",
         "k.cu:2:14: Invalid __global__ read of size 16 bytes by thread (0,0,0) in block (0,0,0): address 0x7f0100000004 is misaligned", WM_E_MISALIGNED},
        {"__global__ void k(int *p) {\n  __shared__ int a[4];\n  a[threadIdx.x] = 1;\n}\n", "--block 8",
         "k.cu:3:18: Invalid __shared__ write of size 4 bytes by thread (4,0,0)", WM_E_ADDRESS},
        {"__global__ void k(int *p) {\n  p[0] = 1;\n}\n", "--arg p=null", "k.cu:2:8: Invalid __global__ write of size 4 bytes", WM_E_ADDRESS},
        {"__global__ void k(int *p) {\n  if (threadIdx.x < 16)\n    __syncthreads();\n}\n", "--block 32",
         "k.cu:3:5: Barrier error detected. Divergent thread(s) in warp", WM_E_SYNTAX},
        {"__global__ void k(int *p) {\n  if (threadIdx.x < 32)\n    __syncthreads();\n}\n", "--block 64",
         "k.cu:3:5: Barrier error detected. Divergent thread(s) in block (0,0,0): only 1 of 2 warps get here", WM_E_SYNTAX},
        {"__global__ void k(int *p) {\n  if (threadIdx.x < 32) __syncthreads();\n  else\n    __syncthreads();\n}\n", "--block 64",
         "k.cu:2:25: Barrier error detected. Divergent thread(s) in block (0,0,0): warp 0 waits here, warp 1 in line 4", WM_E_SYNTAX},
        {"__global__ void k(int *p, int n) {\n  p[0] = 5 / n;\n}\n", "--arg n=0", "k.cu:2:12: division by zero", WM_E_RANGE},
        {"__global__ void k(int *p) {\n  while (true) p[0]++;\n}\n", "--max-steps 1000", "k.cu:2:", WM_E_RANGE},
        {"#include <assert.h>\n__global__ void k(int *p) {\n  assert(threadIdx.x < 5);\n}\n", "--block 32", "k.cu:3:3: Assertion failed (block (0,0,0), thread 5)", WM_E_RANGE},
    };

    (void)state;
    check_rows(rows, ROWS(rows));
}

static void test_warnings(void **state)
{
    static const struct {
        const char *source;
        const char *remarks;
    } rows[] = {
        {"__global__ void k(int *p) {\n  __shared__ int a[64];\n  p[threadIdx.x] = a[threadIdx.x];\n}\n",
         "!k.cu:3:21: Uninitialized __shared__ memory read of size 4 bytes by thread (0,0,0) in block (0,0,0) at 0x0 (64 times in this line)\n"},
        {"__global__ void k(int *p) {\n  __shared__ int a[1];\n  a[0] = threadIdx.x;\n}\n",
         "!k.cu:3:8: Race reported between Write access by thread 0 and Write access by thread (1,0,0) in block (0,0,0) at __shared__ 0x0: no barrier in between (63 times in this line)\n"},
        {"__global__ void k(int *p) {\n  __shared__ int a[64];\n  a[threadIdx.x] = 1;\n  p[threadIdx.x] = a[threadIdx.x ^ 32];\n}\n",
         /* the first warp reads before the second has written; the second reads what the first wrote */
         "!k.cu:4:21: Uninitialized __shared__ memory read of size 4 bytes by thread (0,0,0) in block (0,0,0) at 0x80 (32 times in this line)\n"
         "!k.cu:4:21: Race reported between Write access by thread 0 and Read access by thread (32,0,0) in block (0,0,0) at __shared__ 0x0: no barrier in between (32 times in this line)\n"},
        {"__global__ void k(int *p) {\n  __shared__ float a;\n  if (threadIdx.x == 0) a = 0;\n  __syncthreads();\n  atomicAdd(&a, 1.0f);\n}\n",
         "!k.cu:5:3: shared memory has no floating-point atomics: nvcc makes a loop of loads and compare-and-swaps, which is counted as one atomic here (2 times in this line)\n"},
        {"__global__ void k(int *p) {\n  __shared__ int a[64];\n  a[threadIdx.x] = 1;\n  __syncwarp();\n  p[threadIdx.x] = a[threadIdx.x ^ 1];\n}\n", ""},
        {"__global__ void k(int *p) {\n  __shared__ int a[64];\n  a[threadIdx.x] = 1;\n  __syncthreads();\n  p[threadIdx.x] = a[threadIdx.x ^ 32];\n}\n", ""},
        {"__global__ void k(int *p) {\n  if (threadIdx.x < 40) p[threadIdx.x] = __ballot_sync(0xffffffffu, 1);\n}\n",
         "!k.cu:2:42: the mask 0xffffffff names other lanes than those that get here, 0x000000ff\n"},
        {"__global__ void k(int *p) {\n  if (threadIdx.x < 8) p[threadIdx.x] = __shfl_sync(0xffu, 1, 9);\n}\n",
         "!k.cu:2:41: a shuffle reads a lane that does not take part in it: the value is undefined\n"},
    };

    (void)state;
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct ran *ran = run_kernel(rows[i].source, "--block 64");

        assert_int_equal(ran->status, WM_END);
        assert_string_equal(ran->remarks, rows[i].remarks);
        ran_free(ran);
    }
}

/* What grows without bounds is refused, in bounded time and memory. */
static void test_bounds(void **state)
{
    static const char *const around[][3] = {
        {"__global__ void k(int *p) { p[0] = ", "(", "1; }"},
        {"__global__ void k(int *p) { p[0] = ", "-", "1; }"},
        {"__global__ void k(int *p) { p[0] = 1", "+p[0]", "; }"},
        {"__global__ void k(int *p) { p[0] = 1", "?1:p[0]", "; }"},
        {"__global__ void k(int *p) { ", "{", "} }"},
        {"__global__ void k(int *p) { ", "if (p[0]) ", "; }"},
        {"__global__ void k(int ", "*", "p) { }"},
        {"#if ", "(", "1\n#endif\n"},
        {"__global__ void k(int *p) { int a", "[1]", "; }"},
        {"struct s { ", "struct { ", "int a; }"},
    };
    char *source = malloc(3000000);

    (void)state;
    for (size_t i = 0; i < ROWS(around); i++) {
        char *at = source + sprintf(source, "%s", around[i][0]);
        struct ran *ran;

        for (unsigned n = 0; n < 100000; n++)
            at += sprintf(at, "%s", around[i][1]);
        strcpy(at, around[i][2]);
        ran = run_kernel(source, "");
        if (ran->status != WM_E_RANGE && ran->status != WM_E_SYNTAX && ran->status != WM_E_UNSUPPORTED)
            fail_msg("%s%s ...: %d", around[i][0], around[i][1], (int)ran->status);
        ran_free(ran);
    }
    /* macros that double twenty times over */
    {
        char *at = source + sprintf(source, "#define a0 x x x x x x x x\n");
        struct ran *ran;

        for (unsigned n = 1; n < 30; n++)
            at += sprintf(at, "#define a%u a%u a%u\n", n, n - 1, n - 1);
        strcpy(at, "__global__ void k() { a29; }\n");
        ran = run_kernel(source, "");
        assert_true(ran->status == WM_E_RANGE || ran->status == WM_E_MEMORY);
        ran_free(ran);
    }
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_wrong), cmocka_unit_test(test_running),
        cmocka_unit_test(test_warnings), cmocka_unit_test(test_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
