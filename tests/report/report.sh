#!/bin/sh
# warpmem sim --report: what is in the page, and that nothing gets into it as HTML that was text.
. "${top_srcdir:?}/tests/tap.sh"

warpmem=${top_builddir:?}/warpmem
here=$top_srcdir/tests/report
cd "$scratch" || exit 1
ln -s "$top_srcdir/traces" .

well_formed() {
    awk -f "$here/wellformed.awk" "$1" || return 1
    # where there is a real parser, it has to agree; style and script are no XML
    if command -v xmllint >/dev/null; then
        sed -e '/<style>/,/<\/style>/d' -e '/<script>/,/<\/script>/d' "$1" >page.xml
        xmllint --noout page.xml
    fi
}

# page NAME TITLE SIM-ARGUMENT...: makes NAME.html, whose markup has to be sound.
page() {
    name=$1
    title=$2
    shift 2
    "$warpmem" sim "$@" --report "$name.html" >"$name.out" 2>"$name.err" </dev/null || {
        not_ok "$title" "$name.err"
        return 1
    }
    check "$title" well_formed "$name.html"
}

has() {
    check "$1" grep -qF -e "$3" "$2"
}

lacks() {
    if grep -qF -e "$3" "$2"; then
        grep -nF -e "$3" "$2" >lacks.log
        not_ok "$1" lacks.log
    else
        ok "$1"
    fi
}

# The test of well-formedness can fail.
while IFS= read -r text; do
    printf '<!DOCTYPE html>\n<html>%s</html>\n' "$text" >bad.html
    if awk -f "$here/wellformed.awk" bad.html >bad.log; then
        echo "$text" >bad.log
        not_ok "wellformed.awk sees what is wrong" bad.log
    fi
done <<'END'
<p>
<b><i></b></i>
<p>a & b</p>
<p class=x>a</p>
<p id="a">a</p><p id="a">b</p>
<a href="#nowhere">a</a>
<a href="https://example.com/">a</a>
<img src="http://example.com/a.png" />
<img src="x" onerror="alert(1)" />
<style>p { background: url(x.png) }</style>
<iframe></iframe>
END

# ------------------------------------------------------------------------------------------------------- what there is

page transpose "a trace" traces/transpose.wmt
"$warpmem" sim traces/transpose.wmt >plain.out 2>/dev/null
check "the table is written as without --report" cmp transpose.out plain.out
check "a row for each line" test "$(grep -c '^<tbody id="row-' transpose.html)" = 14
has "the verdict" transpose.html '<summary>32-way bank conflict: stride 128 B</summary>'
has "Nsight Compute's names" transpose.html 'l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum</th><td class="n">124<'
has "the GPU and that it is the default" transpose.html 'sm_90 (Hopper: H100, H200), the default'
has "what loads meet" transpose.html 'loads miss'
has "a source that is not there is said" transpose.html 'Not shown: there is no such file here, nor beside the input.'
if grep -q '^#define HAVE_CAIRO 1' "$top_builddir/config.h"; then
    check "a picture for each line" test "$(grep -c '^<img alt="[^"][^"]*" src="data:image/svg+xml;base64,' transpose.html)" = 14
else
    check "a picture for each line, as text" test "$(grep -c '^<pre>' transpose.html)" = 14
fi
for by in kernel pc opcode access; do
    page "by-$by" "--by $by" --by "$by" traces/transpose.wmt
    check "--by $by changes the table, not the page" cmp transpose.html "by-$by.html"
    "$warpmem" sim --by "$by" traces/transpose.wmt >plain.out 2>/dev/null
    check "--by $by: the table is written as without --report" cmp "by-$by.out" plain.out
done
page csv "beside CSV" --format csv traces/transpose.wmt
check "the page does not depend on --format" cmp transpose.html csv.html
page jobs "by several threads" -j 7 traces/transpose.wmt
check "the page does not depend on -j" cmp transpose.html jobs.html

# The rows stand in the order of the cycles that they waste, and those add up.
sed -n 's/^<tr>.*<td class="n [wz]">\([0-9.,]*\)<.*/\1/p' transpose.html | tr -d , >wasted
check "rows by wasted cycles" sort -c -r -n wasted
total=$(sed -n 's/.*<b>[0-9.]* %<\/b><span>\([0-9.,]*\) of [0-9.,]* cycles, predicted.*/\1/p' transpose.html | tr -d ,)
check "all of them are the summary's, but for rounding" awk -v total="$total" '
    { sum += $1 }
    END { exit !(total > 0 && NR == 14 && sum - total <= NR / 2 && total - sum <= NR / 2) }' wasted

page contiguous "contiguous accesses" traces/contiguous.wmt
lacks "coalesced accesses waste nothing" contiguous.html '<td class="n w">'

page kernel "a kernel from its source" --grid 2,2 --block 32,8 --kernel transpose_shared --arg width=64 --arg height=64 \
    --arg 'in=float[4096]:iota' --arg 'out=float[4096]' traces/kernels/transpose.cu
line=$(grep -n '@shared_out' traces/kernels/transpose.cu | cut -d : -f 1)
line=$(echo "$line" | tail -n 1)
has "its source" kernel.html "<tr id=\"line-0-$line\" class=\"hit\">"
check "with the line's text" grep -q "id=\"line-0-$line\".*= tile\[threadIdx.x\]\[threadIdx.y + j\]; // @shared_out</td>" kernel.html
has "a row leads to its source" kernel.html "<a href=\"#line-0-$line\">transpose.cu:$line</a>"
lacks "lines far from any access are left out" kernel.html 'transpose_swizzled'
has "a gap says how many" kernel.html '&#8230; '

printf 'wmt 1\n' >empty.wmt
page empty "an empty trace" empty.wmt
has "says that it is empty" empty.html 'No memory instructions'
has "and so does what was said on standard error" empty.html 'there is no memory instruction in the input'

page assumed "a GPU that was not measured" --arch sm_80 --l1 hit traces/copy.wmt
has "says what is not exact" assumed.html 'assumed, not measured on this GPU'
has "and names the numbers behind it" assumed.html 'shared.phase_lanes_8'
lacks "and claims no measurement" assumed.html 'every recorded access of this GPU'
has "whose cycles rest on another" assumed.html 'It rests on the rates of another GPU in all rows.'
has "with the reason" assumed.html 'as reported on CC 8.9 and 12.0'
has "what loads meet, the other way" assumed.html 'loads hit'

# The command that a row offers shows that row's access: a command with as many lanes, sectors and wavefronts.
commands() {
    sed -n 's/^<pre class="access">\(.*\)<\/pre>$/\1/p' "$1" | sed -e "s/&#39;/'/g" -e 's/&quot;/"/g' -e 's/&lt;/</g' -e 's/&gt;/>/g' -e 's/&amp;/\&/g'
}
commands assumed.html >commands
check "commands for a GPU, and what loads meet" test "$(grep -c "^warpmem explain --arch sm_80 --l1 hit 'ld.global" commands)" = 3
commands transpose.html >commands
check "a command for each row" test "$(grep -c '^warpmem explain ' commands)" = 14
run_commands() (
    warpmem() {
        "$top_builddir/warpmem" "$@"
    }
    . ./commands
)
run_commands >explained 2>&1
check "which all run" test "$(grep -c '^[a-z0-9.]* ffffffff: 32 lanes of 4 B, sm_90' explained)" = 14
check "the worst first" grep -q '32-way bank conflict' explained
cp "$top_srcdir/sim/arch/sm_90.arch" "it's <mine>.arch"
page own "a profile of one's own" --arch-file "it's <mine>.arch" traces/copy.wmt
commands own.html >commands
run_commands >explained 2>&1
check "its commands name it, and run" test "$(grep -c ' lanes\{0,1\} of ' explained)" -ge 6

# ------------------------------------------------------------------------------------------------------------- sources

# A kernel line's source= names the file where a line has none of its own, and where it lies.
mkdir src
i=0
while [ $i -lt 3000 ]; do
    i=$((i + 1))
    echo "line $i;"
done >src/long.cu
cat >long.wmt <<'END'
wmt 1
kernel k source=src/long.cu
ld.global.b32 ffffffff 0x1000+128 line="":1500
st.global.b32 ffffffff 0x1000+4 line=long.cu:2990
END
page long "a long source" long.wmt
has "the line itself" long.html '>line 1500;</td>'
has "lines around it" long.html '>line 1490;</td>'
lacks "but not all" long.html '>line 1480;</td>'
has "the file is found where the kernel's source is" long.html 'read from src/long.cu'
check "two gaps and the ends" test "$(grep -c 'class="gap"' long.html)" -ge 3
check "a small page" test "$(sed '/^<img/d' long.html | wc -c)" -lt 100000

# source NAME WORDS: what the page says of a source file of that name, which lies there in the way that is tested.
source_of() {
    printf 'wmt 1\nkernel k\nld.global.b32 ffffffff 0x1000+4 line="%s":1\n' "$1" >source.wmt
    page source "source $1" source.wmt
    has "source $1: $2" source.html "$2"
}
source_of gone.cu 'there is no such file here'
printf 'a\0b\n' >binary.cu
source_of binary.cu 'binary.cu is not text'
mkfifo fifo.cu
source_of fifo.cu 'fifo.cu is no regular file'
mkdir folder.cu
source_of folder.cu 'folder.cu is no regular file'
echo 'secret words' >secret.key
source_of secret.key 'it is not named like a source'
lacks "it is not read" source.html 'secret words'
dd if=/dev/zero of=huge.cu bs=1 count=0 seek=20000000 2>/dev/null
source_of huge.cu 'huge.cu is larger than 16 MiB'
: >nothing.cu
source_of nothing.cu 'The file has 0 lines, but the input speaks of line 1'
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "x"; print "" }' >wide.cu
source_of wide.cu ' &#8230;</td>'
check "a long line is cut" test "$(sed '/^<img/d' source.html | wc -c)" -lt 60000
printf 'wmt 1\nkernel k\nld.global.b32 ffffffff 0x1000+4 line=-:1\n' >dash.wmt
page dash "a source that is standard input" dash.wmt

# ----------------------------------------------------------------------------------------------------------- injection

tag='<script>window.injected = 1</script>'
printf 'int a; // %s </td></table>" onload="window.injected = 2\n' "$tag" >'<img src=x onerror=alert(3)>.cu'
cat >inject.wmt <<END
wmt 1
kernel "$tag" source="$tag.cu"
ld.global.b32 ffffffff 0x1000+4 line="<img src=x onerror=alert(3)>.cu":1
ld.shared.b32 ffffffff 0+128 line="\\"><svg onload=alert(4)>.cu":1
kernel "--></title></style></textarea>$tag&amp;"
ld.shared.b32 ffffffff 0+128 line="":7
END
cp inject.wmt "'<b>&.wmt"
page inject "names that are HTML" "'<b>&.wmt"
lacks "no script from a name or a source" inject.html '<script>window'
has "a kernel's name is text" inject.html '&lt;script&gt;window.injected = 1&lt;/script&gt;'
has "a file's name is text" inject.html '&lt;img src=x onerror=alert(3)&gt;.cu'
has "what an attribute could end with is text" inject.html '&quot;&gt;&lt;svg onload=alert(4)&gt;.cu'
has "a source is text" inject.html '&lt;/td&gt;&lt;/table&gt;&quot; onload=&quot;window.injected = 2'
has "the trace's own name is text" inject.html '&#39;&lt;b&gt;&amp;.wmt'
check "one script, the page's own" test "$(grep -c '<script' inject.html)" = 1

# Broken UTF-8, control characters, and characters that reorder what is read.
printf 'a\377b \303\251 \033[31m \342\200\256 \355\240\200 \357\277\276 \360\237\230\200 \300\257\n' >utf8.cu
source_of utf8.cu '<td class="src">'
check "the page is UTF-8" sh -c 'iconv -f UTF-8 -t UTF-32 <source.html >/dev/null'
has "a valid character stays" source.html "$(printf '\303\251')"
has "a character beyond 16 bits stays" source.html "$(printf '\360\237\230\200')"
has "what reorders is shown" source.html '[U+202E]'
lacks "no control character" source.html "$(printf '\033')"

# -------------------------------------------------------------------------------------------------------------- refusals

refused() {
    title=$1
    status=$2
    shift 2
    "$warpmem" sim "$@" >refused.out 2>refused.err </dev/null
    got=$?
    check "$title" test "$got" = "$status"
    check "$title: nothing on standard output" test ! -s refused.out
}
refused "standard output has one owner" 2 traces/copy.wmt --report -
refused "so has a file" 2 traces/copy.wmt -o same.html --report same.html
check "and nothing is written" test ! -e same.html
echo old >link.txt
ln -s link.txt link.html
refused "under another name, too" 2 traces/copy.wmt -o link.txt --report link.html
check "which stays as it was" test "$(cat link.txt)" = old
refused "a folder that is not there" 1 traces/copy.wmt --report nowhere/page.html
printf 'wmt 1\nkernel k\nld.global.b32 ffffffff 0x1000+4\nnonsense\n' >bad.wmt
echo old >kept.html
refused "a bad trace" 1 bad.wmt --report kept.html -o kept.txt
check "leaves the page as it was" test "$(cat kept.html)" = old
check "and no other result" test ! -e kept.txt
check "nor anything unfinished" test -z "$(find . -name '.warpmem.*')"
"$warpmem" sim traces/transpose.wmt -o table.txt --report - >stdout.html 2>/dev/null
check "standard output, where -o names a file" cmp stdout.html transpose.html

# ---------------------------------------------------------------------------------------------------------------- bounds

awk 'BEGIN {
    print "wmt 1\nkernel k"
    for (i = 1; i <= 3000; i++) print "ld.shared.b32 ffffffff 0+" 4 * (i % 32) " pc=" sprintf("0x%x", i * 16)
}' >many.wmt
page many "three thousand rows" many.wmt
check "a thousand are shown" test "$(grep -c '^<tbody id="row-' many.html)" = 1000
check "fifty with pictures" test "$(grep -c -e '^<img' -e '^<pre>' many.html)" = 50
has "which is said" many.html 'Pictures are there for the 50 rows that waste most'
check "a page of less than 16 MB" test "$(wc -c <many.html)" -lt 16000000
has "the others are counted" many.html 'The 2,000 rows that waste least are not shown'
awk 'BEGIN {
    print "wmt 1\nkernel k"
    for (i = 1; i <= 200; i++) print "ld.shared.b32 ffffffff 0+4 line=f" i ".cu:1"
}' >files.wmt
page files "two hundred sources" files.wmt
has "the others are counted" files.html 'And 150 files that waste less.'

done_testing
