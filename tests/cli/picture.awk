# What a drawing of `warpmem explain` consists of: checks that an SVG's tags are nested and closed, that what it uses is defined,
# and counts the filled areas of each colour, by what the colour stands for. POSIX awk. Prints the counts; exits with 1 where
# something is wrong. Colours are as in sim/report/picture_draw.c, in percent; cairo writes them with 4 to 6 digits.

function wrong(text)
{
    print "tag " NR ": " text
    bad = 1
}

function colour_of(tag)
{
    if (!match(tag, /fill(:|=")rgb\([0-9.]+%, *[0-9.]+%, *[0-9.]+%\)/))
        return ""
    tag = substr(tag, RSTART, RLENGTH)
    sub(/.*\(/, "", tag)
    gsub(/[%)]/, "", tag)
    split(tag, part, /, */)
    return int(part[1] + 0.5) " " int(part[2] + 0.5) " " int(part[3] + 0.5)
}

BEGIN {
    RS = ">"
    name["34 71 91"] = "served"
    name["0 62 45"] = "together"
    name["90 62 0"] = "conflict"
    name["84 37 0"] = "extra"
    name["94 89 26"] = "unused"
}

# Each record ends where a tag does.
{
    start = index($0, "<")
    if (!start) {
        if ($0 ~ /[^ \t\n]/)
            wrong("text: " $0)
        next
    }
    tag = substr($0, start + 1)
    if (tag ~ /^[?!]/)
        next
    if (tag ~ /</)
        wrong("a bare <: " tag)
    if (tag ~ /^\//) {
        if (depth == 0 || substr(tag, 2) != open[depth--])
            wrong("closes what is not open: " tag)
        next
    }
    tags++
    element = tag
    sub(/[ \t\n\/].*/, "", element)
    if (match(tag, /[ \n]id="[^"]*"/))
        defined[substr(tag, RSTART + 5, RLENGTH - 6)] = 1
    if (match(tag, /href="#[^"]*"/))
        used[substr(tag, RSTART + 7, RLENGTH - 8)] = 1
    if (element == "path" || element == "rect") {
        colour = colour_of(tag)
        if (colour in name)
            count[name[colour]]++
    }
    if (element == "use")
        glyphs++
    if (tag !~ /\/$/)
        open[++depth] = element
}

END {
    if (depth)
        wrong("<" open[depth] "> is not closed")
    if (!tags)
        wrong("no tags")
    for (id in used) {
        if (!(id in defined))
            wrong("#" id " is not defined")
    }
    if (!glyphs)
        wrong("no text")
    # each colour is in the legend once
    order = split("served together conflict extra unused", names, " ")
    for (i = 1; i <= order; i++)
        printf "%s %d%s", names[i], count[names[i]] ? count[names[i]] - 1 : 0, i < order ? ", " : "\n"
    exit bad
}
