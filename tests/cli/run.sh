#!/bin/sh
# Golden runs of the command: run.sh FILE.test... runs the cases of each file and compares what they print.
# WARPMEM_UPDATE=1 writes what they print into the files instead: read the difference before you commit it.
#
# A file holds cases of a few lines each; other lines are blank or begin with "# ":
#
#     ## what the case shows
#     @ SHELL COMMAND          the case is skipped unless this succeeds
#     < TEXT                   a line of standard input
#     $ SHELL COMMAND          several are one script; `warpmem` is the program under test
#     1| TEXT                  a line of standard output
#     2| TEXT                  a line of standard error
#     ? NUMBER                 exit status; 0 where left out
#
# Each case runs in an empty folder of its own, in which traces and tests are links to the project's folders.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${top_builddir:=$top_srcdir/build}"
. "$top_srcdir/tests/tap.sh"

mkdir "$scratch/bin"
printf '#!/bin/sh\nexec "%s/warpmem" "$@"\n' "$top_builddir" >"$scratch/bin/warpmem"
chmod +x "$scratch/bin/warpmem"
PATH=$scratch/bin:$PATH
export PATH

# marked MARK FILE: the lines of a file behind a mark. A last line that lacks its newline is followed by a note.
marked() {
    sed -e "s/^./$1 &/" -e "s/^\$/$1/" "$2"
    if [ -s "$2" ] && [ "$(tail -c 1 "$2" | od -An -to1 | tr -d ' ')" != 012 ]; then
        printf '\n%s\n' "$1\\ no newline at the end"
    fi
}

begin_case() {
    title=$1
    condition=
    case_number=$((case_number + 1))
    rm -rf "$scratch/case"
    mkdir "$scratch/case"
    ln -s "$top_srcdir/traces" "$top_srcdir/tests" "$scratch/case/"
    : >"$scratch/stdin"
    : >"$scratch/script"
    : >"$scratch/expected"
}

run_case() {
    [ -n "$title" ] || return 0
    if [ -n "$condition" ] && ! (cd "$scratch/case" && exec sh -c "$condition") >/dev/null 2>&1 </dev/null; then
        skip "$title" "not so here: $condition"
        return 0
    fi
    (cd "$scratch/case" && exec sh "$scratch/script") <"$scratch/stdin" >"$scratch/stdout" 2>"$scratch/stderr"
    status=$?
    {
        marked '1|' "$scratch/stdout"
        marked '2|' "$scratch/stderr"
        [ $status = 0 ] || echo "? $status"
    } >"$scratch/actual.$case_number"
    if cmp -s "$scratch/expected" "$scratch/actual.$case_number"; then
        ok "$title"
    elif [ -n "${WARPMEM_UPDATE-}" ]; then
        ok "$title (updated)"
    else
        diff -u "$scratch/expected" "$scratch/actual.$case_number" | sed 1,2d >"$scratch/difference"
        not_ok "$title" "$scratch/difference"
    fi
}

run_file() {
    title=
    case_number=0
    line_number=0
    while IFS= read -r line <&3 || [ -n "$line" ]; do
        line_number=$((line_number + 1))
        case $line in
        '' | '#' | '# '*) continue ;;
        '## '*)
            run_case
            begin_case "${line#'## '}"
            continue
            ;;
        esac
        [ -n "$title" ] || bail_out "$1:$line_number: this stands before the first case: $line"
        case $line in
        '1|'* | '2|'* | '? '*) printf '%s\n' "$line" >>"$scratch/expected" ;;
        '@ '*) condition=${line#'@ '} ;;
        '<') echo >>"$scratch/stdin" ;;
        '< '*) printf '%s\n' "${line#'< '}" >>"$scratch/stdin" ;;
        '$ '*) printf '%s\n' "${line#'$ '}" >>"$scratch/script" ;;
        *) bail_out "$1:$line_number: neither part of a case nor a comment: $line" ;;
        esac
    done 3<"$1"
    run_case
    [ "$case_number" -gt 0 ] || bail_out "$1 has no case"
}

# Puts what the cases printed in place of what stood in the file.
update_file() {
    awk -v actual="$scratch/actual." '
        function flush(  name, text) {
            if (!ran) return
            name = actual number
            while ((getline text < name) > 0) print text
            close(name)
            ran = 0
        }
        /^## / { number++; name = actual number; known = (getline text < name) >= 0; close(name) }
        known && /^(1\||2\||\? )/ { next }
        known && /^\$ / { print; ran = 1; next }
        { flush(); print }
        END { flush() }' "$1" >"$scratch/updated" && cat "$scratch/updated" >"$1"
}

for file; do
    rm -f "$scratch"/actual.*
    run_file "$file"
    [ -z "${WARPMEM_UPDATE-}" ] || update_file "$file"
done
done_testing
