dnl WM_COMPILER_FLAGS(VARIABLE, FLAGS)
dnl Collects those of FLAGS that the C compiler takes without a warning into VARIABLE, and substitutes it.
AC_DEFUN([WM_COMPILER_FLAGS],
[$1=
for wm_flag in $2; do
    AC_MSG_CHECKING([whether $CC takes $wm_flag])
    wm_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $wm_flag"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
        [AC_MSG_RESULT([yes]); $1="$$1${$1:+ }$wm_flag"], [AC_MSG_RESULT([no])])
    CFLAGS=$wm_saved_CFLAGS
done
AC_SUBST([$1])])

dnl WM_LINKABLE_FLAGS(VARIABLE, FLAGS, MORE-LINK-FLAGS, IF-NOT)
dnl Sets VARIABLE to FLAGS if a program links with them and MORE-LINK-FLAGS. A fuzzer brings its own main().
AC_DEFUN([WM_LINKABLE_FLAGS],
[AC_MSG_CHECKING([whether $CC links with $2])
wm_saved_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS $2 $3"
AC_LINK_IFELSE([AC_LANG_SOURCE([[
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return data && size ? 0 : 0; }
]m4_if([$3], [], [[int main(void) { return 0; }]], [])])],
    [AC_MSG_RESULT([yes]); $1="$2"], [AC_MSG_RESULT([no]); $4])
CFLAGS=$wm_saved_CFLAGS])

dnl WM_OPTIONAL_LIBRARY(NAME, PREFIX, MODULE, WHAT-FOR)
dnl --with-NAME=yes|no|check: with `yes' a missing library is an error, with `check' (default) it goes without. Sets
dnl with_NAME to yes or no, HAVE_PREFIX in config.h and as an Automake conditional, PREFIX_CFLAGS and PREFIX_LIBS.
AC_DEFUN([WM_OPTIONAL_LIBRARY],
[AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1=yes|no|check], [$4 (default: check)])], [], [with_$1=check])
AS_CASE([$with_$1], [yes|no|check], [], [AC_MSG_ERROR([--with-$1=$with_$1: yes, no or check is expected])])
AS_IF([test "x$with_$1" != xno],
    [PKG_CHECK_MODULES([$2], [$3],
        [with_$1=yes],
        [AS_IF([test "x$with_$1" = xyes], [AC_MSG_ERROR([--with-$1: pkg-config does not find $3])])
         with_$1=no
         $2_CFLAGS=
         $2_LIBS=])])
AS_IF([test "x$with_$1" = xyes],
    [AC_DEFINE([HAVE_$2], [1], [Define to 1 if there is $3: $4.])])
AM_CONDITIONAL([HAVE_$2], [test "x$with_$1" = xyes])])
