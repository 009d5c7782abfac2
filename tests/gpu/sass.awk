# Reads what `cuobjdump -sass' prints of the replay's kernels: each has to execute exactly the memory instruction that it is
# named after, once; and those whose accesses go through L1 have one load with a sign, which brings lines there where that is
# asked for. Those that take cycles execute it 16 times: eight in flight, and eight one after the other; a compiler that made
# one of several, or loaded less than is asked for, would be timed for that. Prints a line for each that does not.

function expected_width(bytes) {
    if (bytes == 1) return "\\.[US]8"
    if (bytes == 2) return "\\.[US]16"
    if (bytes == 8) return "\\.64"
    if (bytes == 16) return "\\.128"
    return ""
}

# The cache operators of PTX, as the machine has them.
function expected_cache(name) {
    if (name == "ca" || name == "wb") return "\\.STRONG\\.(SM|CTA)"
    if (name == "cg") return "\\.STRONG\\.GPU"
    if (name == "cs") return "\\.EF"
    if (name == "lu") return "\\.LU"
    if (name == "cv" || name == "wt") return "\\.STRONG\\.SYS"
    if (name == "nc") return "\\.CONSTANT"
    return ""
}

# What the mnemonic has to begin with, and what has to stand in it, in wanted[].
function expect(kernel,    part, n, unit) {
    wanted_count = 0
    n = split(kernel, part, "_") # kernel, operation, space, ...
    if (part[2] == "ld" || part[2] == "st") {
        unit["global"] = "G\\.E"; unit["generic"] = "\\.E"; unit["shared"] = "S"; unit["local"] = "L"; unit["const"] = "C"
        first = "^" (part[2] == "ld" ? "LD" : "ST") unit[part[3]] "(\\.|$)"
        if (expected_width(part[n]) != "") wanted[++wanted_count] = expected_width(part[n])
        if (n == 5) wanted[++wanted_count] = expected_cache(part[4])
    } else if (part[2] == "atom" || part[2] == "red") {
        first = part[3] == "shared" ? "^ATOMS" : part[2] == "atom" ? "^ATOMG" : "^REDG?\\.E"
        wanted[++wanted_count] = "\\." toupper(part[4])
        if (part[5] ~ /64/) wanted[++wanted_count] = part[5] == "s64" ? "\\.S64" : "64"
        if (part[5] == "s32") wanted[++wanted_count] = "\\.S32"
        if (part[5] ~ /^f/) wanted[++wanted_count] = "\\." toupper(part[5])
    } else if (part[2] ~ /matrix/) {
        first = part[2] == "ldmatrix" ? "^LDSM\\.16" : "^STSM\\.16"
        wanted[++wanted_count] = part[4] == "trans" ? "\\.MT88" : "\\.M88"
        if (part[3] != "x1") wanted[++wanted_count] = "\\." substr(part[3], 2)
    } else if (part[2] == "cp") {
        first = part[4] == "cg" ? "^LDGSTS\\.E\\.BYPASS" : "^LDGSTS\\.E($|\\.[0-9])"
        if (expected_width(part[5]) != "") wanted[++wanted_count] = expected_width(part[5])
    }
}

function complain(text) {
    print "sm_" arch " " kernel ": " text
    wrong++
}

# Of a timing kernel; behind the instructions themselves it writes two numbers.
function finish_timed(    i, k, n, one, is_missing) {
    kernels++
    expect(kernel)
    is_missing = kernel ~ /_cp_/ && arch < 80 || kernel ~ /_stmatrix_/ && arch < 90
    n = split(mnemonics, one, " ") - 2
    if (n != (is_missing ? 0 : 16) || one[n + 1] !~ /^STG\.E\.64/ || one[n + 2] !~ /^STG\.E\.64/)
        complain(n + 2 " memory instructions: " mnemonics)
    for (k = 1; k <= n; k++) {
        if (one[k] !~ first) complain("not expected: " one[k])
        for (i = 1; i <= wanted_count; i++)
            if (one[k] !~ wanted[i]) complain(one[k] " lacks " wanted[i])
    }
}

function finish(    i, is_missing) {
    if (kernel ~ /^timed_/) finish_timed()
    if (kernel == "" || kernel !~ /^kernel_/) return
    kernels++
    expect(kernel)
    is_missing = kernel ~ /^kernel_(nothing|warm_.*)$/ || kernel ~ /_cp_/ && arch < 80 || kernel ~ /_stmatrix_/ && arch < 90
    if (count != !is_missing)
        complain(count " memory instructions: " mnemonics)
    if (count == 1 && !is_missing) {
        if (mnemonics !~ first) complain("not expected: " mnemonics)
        for (i = 1; i <= wanted_count; i++)
            if (mnemonics !~ wanted[i]) complain(mnemonics " lacks " wanted[i])
    }
    if (idle != (kernel ~ /_cp_/ && !is_missing ? 3 : 0))
        complain(idle " shared loads without lanes") # replay.c subtracts them
    if (warming != (kernel !~ /_(shared|const)_|matrix|nothing/))
        complain(warming " loads that bring lines into L1")
    if (threads != 1 && (!is_missing || kernel ~ /_warm_/))
        complain(threads " readings of the thread's number, each of them a wavefront")
}

/code for sm_/ { finish(); kernel = ""; arch = $0; sub(/.*sm_/, "", arch); arch += 0 }
/Function :/ {
    finish()
    kernel = $3
    if (kernel ~ /timed_/) { sub(/^.*timed_/, "timed_", kernel); sub(/14gpu_parameters$/, "", kernel) } # a name of C++
    count = idle = threads = warming = 0
    mnemonics = ""
}
/^[ \t]*\/\*[0-9a-f]+\*\// {
    text = $0
    sub(/^[ \t]*\/\*[0-9a-f]+\*\/[ \t]*/, "", text)
    if (text ~ /^@!PT LDS RZ, \[RZ\]/) { idle++; next }
    sub(/^@!?U?P[0-9T]+ /, "", text)
    sub(/[ ;].*/, "", text)
    if (text ~ /^LD(G\.E|L)\.S8(\.|$)/) { warming++; next }
    if (text == "S2R" && $0 ~ /SR_TID\.X/) threads++
    # The parameters are in constant bank 0 too: a constant load is meant where it reads bank 3.
    if (text ~ /^LDC/ ? $0 ~ /c\[0x3\]/ : text ~ /^(LD|LDG|LDS|LDL|ST|STG|STS|STL|ATOM|ATOMG|ATOMS|RED|REDG|REDS|LDSM|STSM|LDGSTS)(\.|$)/) {
        count++
        mnemonics = mnemonics (mnemonics == "" ? "" : " ") text
    }
}
END {
    finish()
    print kernels + 0 " kernels" >"/dev/stderr"
    exit wrong > 0 || kernels < 170
}
