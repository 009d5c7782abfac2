#!/bin/sh
# The man page and the help texts name the same commands and options.
. "${top_srcdir:?}/tests/tap.sh"

man=$top_srcdir/man/warpmem.1
warpmem=${top_builddir:?}/warpmem

# Options in a text.
options() {
    grep -o -e '--[a-z][a-z0-9-]*' | sort -u
}

"$warpmem" --help >"$scratch/help" || bail_out "warpmem --help fails"
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' "$scratch/help")
[ -n "$commands" ] || bail_out "warpmem --help lists no commands"

for command in $commands; do
    check "the man page has the command $command" grep -q "^\.SY \"warpmem $command\"" "$man"
    "$warpmem" "$command" --help >"$scratch/$command" || not_ok "warpmem $command --help"
    # The first lines of an option's paragraph end with the commands that have it.
    sed 's/\\-/-/g' "$man" | grep -E "^\.B[RI] .*\[[a-z, ]*\<$command\>[a-z, ]*\]\"?\$" | options >"$scratch/described"
    echo "--help" | sort -u - "$scratch/described" -o "$scratch/described"
    # An example may pipe into other programs: only lines that begin an option's description count.
    sed -n 's/^  \(-[A-Za-z], \)*\(--[a-z0-9-]*\).*/\2/p' "$scratch/$command" | options >"$scratch/offered"
    check "the man page has the options of $command" diff "$scratch/offered" "$scratch/described"
done
check "the man page is of this version" grep -q "^\.TH .*\"warpmem ${PACKAGE_VERSION:?}\"" "$man"

done_testing
