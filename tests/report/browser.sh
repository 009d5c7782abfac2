#!/bin/sh
# The pages of warpmem sim --report in headless Chromium: browser_checks.js is added to each page, runs there, and leaves its
# results in the page, which Chromium then prints. A message on the browser's console, of whatever kind, is a failure.
. "${top_srcdir:?}/tests/tap.sh"

warpmem=${top_builddir:?}/warpmem
checks=$top_srcdir/tests/report/browser_checks.js

chromium=
for name in ${CHROMIUM-chromium chromium-browser google-chrome}; do
    if [ -z "$chromium" ] && command -v "$name" >/dev/null; then
        chromium=$(command -v "$name")
    fi
done
if [ -z "$chromium" ]; then
    echo "1..0 # SKIP no chromium (Debian: apt-get install chromium)"
    exit 0
fi

cd "$scratch" || exit 1
ln -s "$top_srcdir/traces" .
HOME=$scratch
export HOME

# browse PAGE OPTION...: the page as it is in the end, in page.dom, and what was on the console, in page.console
browse() {
    page=$1
    shift
    # as root there is no sandbox; the log has everything that the console shows, as CONSOLE
    timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$scratch/profile" \
        --enable-logging=stderr --log-level=0 --virtual-time-budget=10000 --window-size=1280,900 "$@" \
        --dump-dom "file://$scratch/$page" >page.dom 2>page.log </dev/null
    grep CONSOLE page.log >page.console
    sed -n 's/^.*<pre id="results">//; /^ok - /p; /^not ok - /p' page.dom | sed 's/<\/pre>.*//' >page.results
}

# A page whose script fails, and one that asks for something: both have to be noticed.
echo '<!DOCTYPE html><script>console.error("noticed");</script>' >bad.html
browse bad.html
if [ ! -s page.dom ]; then
    tail -n 20 page.log >end.log
    echo "1..0 # SKIP $chromium does not run here: $(tail -n 1 end.log | tr '#' ' ')"
    exit 0
fi
check "what the console shows is noticed" grep -q noticed page.console
echo '<!DOCTYPE html><script>undefined.x;</script>' >bad.html
browse bad.html
check "so is an exception" test -s page.console

# checked TITLE PAGE QUERY OPTION...: all checks of a page. What the checks need to know stands in the query.
checked() {
    title=$1
    name=$2
    query=$3
    shift 3
    sed "s/<\/body>/<script>/; s/<\/html>//" "$name.html" >checked.html
    cat "$checks" >>checked.html
    printf '</script></body></html>\n' >>checked.html
    browse "checked.html?$query" "$@"
    check "$title: nothing on the console" test ! -s page.console
    [ -s page.results ] || echo "not ok - the checks ran" >page.results
    while IFS= read -r line; do
        case $line in
        'ok - '*) ok "$title: ${line#ok - }" ;;
        *)
            cat page.console >page.why
            not_ok "$title: ${line#not ok - }" page.why
            ;;
        esac
    done <page.results
    check "$title: all checks ran" grep -q '^ok - that was all' page.results
}

report() {
    name=$1
    shift
    "$warpmem" sim "$@" --report "$name.html" >report.out 2>&1 </dev/null || bail_out "warpmem sim fails: $(cat report.out)"
}

report transpose traces/transpose.wmt
checked "a trace" transpose rows=14
checked "a trace, dark" transpose rows=14,dark --blink-settings=preferredColorScheme=0
report kernel --grid 2,2 --block 32,8 --kernel transpose_shared --arg width=64 --arg height=64 \
    --arg 'in=float[4096]:iota' --arg 'out=float[4096]' traces/kernels/transpose.cu
checked "a kernel with its source" kernel rows=4,source
checked "on a telephone" kernel rows=4,source,narrow --window-size=500,900
checked "opened at a row" kernel "rows=4,source#row-0"
printf 'wmt 1\n' >empty.wmt
report empty empty.wmt
checked "an empty trace" empty rows=0
report many --arch sm_80 traces/hardware/sm_90/pytorch/*.wmt
checked "a large page" many "rows=$(grep -c '^<tbody id="row-' many.html)"

tag='<script>window.injected = 1</script><img src=x onerror="window.injected = 2">'
printf '// %s </td></table></main>\n' "$tag" >'<img src=x onerror=window.injected=3>.cu'
cat >inject.wmt <<'END'
wmt 1
kernel "<script>window.injected = 1</script><img src=x onerror='window.injected = 2'>"
ld.global.b32 ffffffff 0x1000+4 line="<img src=x onerror=window.injected=3>.cu":1
ld.shared.b32 ffffffff 0+128 line="\"><svg onload='window.injected = 4'>.cu":1
END
report inject inject.wmt
checked "names that are HTML" inject rows=2,source

done_testing
