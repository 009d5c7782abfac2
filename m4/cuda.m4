dnl CUDA: the compiler nvcc, the runtime, and CUPTI, which reads the hardware counters.

dnl WM_CUDA: --with-cuda[=DIR|no|check]. Sets with_cuda to yes or no, and NVCC, NVCCFLAGS, CUDA_CPPFLAGS, CUDA_LIBS.
AC_DEFUN([WM_CUDA], [
AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda@<:@=DIR|no|check@:>@],
        [build warpmem-replay, with the CUDA Toolkit in DIR (default: check: if nvcc in PATH or /usr/local/cuda works)])],
    [], [with_cuda=check])
AC_ARG_VAR([NVCC], [CUDA compiler])
AC_ARG_VAR([NVCCFLAGS], [CUDA compiler flags (default: optimised, for all GPUs that it knows)])
CUDA_CPPFLAGS=
CUDA_LIBS=
wm_cuda=$with_cuda
with_cuda=no
AS_IF([test "x$wm_cuda" = xcheck && test "x$enable_sanitizers" = xyes], [wm_cuda=no])
AS_IF([test "x$wm_cuda" != xno], [
    AS_CASE([$wm_cuda],
        [yes|check], [wm_cuda_path=$PATH:/usr/local/cuda/bin],
        [wm_cuda_path=$wm_cuda/bin])
    AC_PATH_PROG([NVCC], [nvcc], [], [$wm_cuda_path])
    AS_IF([test -n "$NVCC"], [_WM_CUDA_TRY])
    AS_IF([test "x$with_cuda" = xno && test "x$wm_cuda" != xcheck],
        [AC_MSG_ERROR([--with-cuda: no working CUDA Toolkit 12.6 or later with CUPTI was found; config.log says why])])
])
AC_SUBST([CUDA_CPPFLAGS])
AC_SUBST([CUDA_LIBS])
AM_CONDITIONAL([HAVE_CUDA], [test "x$with_cuda" = xyes])
])

dnl Compiles and links a kernel with CUPTI's range profiler. The kernel has parameters as large as warpmem-replay's.
AC_DEFUN([_WM_CUDA_TRY], [
AC_MSG_CHECKING([whether $NVCC works])
wm_cuda_dir=`AS_DIRNAME(["$NVCC"])`/..
for wm_dir in "$wm_cuda_dir/include" "$wm_cuda_dir/extras/CUPTI/include"; do
    AS_IF([test -d "$wm_dir"], [CUDA_CPPFLAGS="$CUDA_CPPFLAGS -I$wm_dir"])
done
for wm_dir in "$wm_cuda_dir/lib64" "$wm_cuda_dir/extras/CUPTI/lib64" "$wm_cuda_dir/lib"; do
    AS_IF([test -d "$wm_dir"], [
        wm_dir=`cd "$wm_dir" && pwd`
        CUDA_LIBS="$CUDA_LIBS -L$wm_dir -Wl,-rpath,$wm_dir"])
done
CUDA_LIBS="$CUDA_LIBS -lcupti -lcudart_static -lstdc++ -ldl -lrt -lpthread"
cat >conftest.cu <<'_WMEOF'
#include <cuda_runtime.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
struct parameters { char bytes@<:@32000@:>@; };
__global__ void kernel(const __grid_constant__ struct parameters p) { if (p.bytes@<:@threadIdx.x@:>@) __trap(); }
int main(void)
{
    static struct parameters p;
    kernel<<<1, 32>>>(p);
    return cuptiProfilerHostInitialize(NULL) == CUPTI_SUCCESS;
}
_WMEOF
wm_optimise="-O3 --compress-mode=size"
for wm_flags in "${NVCCFLAGS-$wm_optimise -arch=all-major}" "${NVCCFLAGS--O3 -arch=all-major}" \
    "${NVCCFLAGS--O3 -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[@<:@sm_90,compute_90@:>@]}"
do
    echo "$NVCC $wm_flags $CUDA_CPPFLAGS -c conftest.cu" >&AS_MESSAGE_LOG_FD
    AS_IF(["$NVCC" $wm_flags $CUDA_CPPFLAGS -c conftest.cu -o conftest.$ac_objext >&AS_MESSAGE_LOG_FD 2>&1 &&
           $CC $CFLAGS -o conftest$ac_exeext conftest.$ac_objext $LDFLAGS $CUDA_LIBS >&AS_MESSAGE_LOG_FD 2>&1],
        [with_cuda=yes; NVCCFLAGS=$wm_flags; break])
done
rm -f conftest.cu conftest.$ac_objext conftest$ac_exeext
AC_MSG_RESULT([$with_cuda])
])
