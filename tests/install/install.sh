#!/bin/sh
# A program is built against the installed library through pkg-config, shared and static, and the installed command runs.
. "${top_srcdir:?}/tests/tap.sh"

# Installed below DESTDIR, so that the configured prefix need not be writable. MAKEFLAGS would pass on this make's targets.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
root=$scratch/root
check "make install" "${MAKE:-make}" -C "${top_builddir:?}" install DESTDIR="$root" || done_testing

pc=$(find "$root" -name warpmem.pc)
[ -n "$pc" ] || bail_out "no warpmem.pc was installed"
PKG_CONFIG_PATH=${pc%/*}${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
PKG_CONFIG=${PKG_CONFIG:-pkg-config}
if ! command -v "$PKG_CONFIG" >/dev/null 2>&1; then
    skip "program against the installed library" "no pkg-config"
    done_testing
fi

# The installed .pc file names the configured prefix; here that lies below $root.
prefix=$("$PKG_CONFIG" --variable=prefix warpmem)
pkg() {
    "$PKG_CONFIG" --define-variable=prefix="$root$prefix" "$@" warpmem
}
libdir=$(pkg --variable=libdir)
includedir=$(pkg --variable=includedir)

check "pkg-config knows the version" test "$(pkg --modversion)" = "${PACKAGE_VERSION:?}"
check "one header is installed" test "$(cd "$includedir" && echo *)" = warpmem.h

# client NAME LINK-FLAG...
client() {
    name=$1
    shift
    # shellcheck disable=SC2046,SC2086 # lists of words
    ${CC:-cc} ${TEST_CFLAGS-} $(pkg --cflags) "$top_srcdir/tests/install/client.c" -o "$scratch/$name" "$@"
}

if [ -e "$libdir/libwarpmem.so" ]; then
    # shellcheck disable=SC2046 # a list of words
    check "program with the shared library builds" client shared $(pkg --libs) &&
        check "program with the shared library runs" env LD_LIBRARY_PATH="$libdir" "$scratch/shared"
else
    skip "program with the shared library" "configured with --disable-shared"
fi

if [ -e "$libdir/libwarpmem.a" ]; then
    # shellcheck disable=SC2046 # a list of words
    check "program with the static library builds" \
        client static $(pkg --static --libs | sed "s|-lwarpmem|$libdir/libwarpmem.a|") &&
        check "program with the static library runs" "$scratch/static"
else
    skip "program with the static library" "configured with --disable-static"
fi

command=$(find "$root" -path '*/bin/warpmem')
check "the installed command runs" env LD_LIBRARY_PATH="$libdir" "$command" --version
check "the man page is installed" test -n "$(find "$root" -name 'warpmem.1*')"

check "make uninstall" "${MAKE:-make}" -C "$top_builddir" uninstall DESTDIR="$root"
find "$root" ! -type d >"$scratch/left"
check "nothing is left after make uninstall" test ! -s "$scratch/left"

done_testing
