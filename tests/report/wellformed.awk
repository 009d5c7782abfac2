# Checks a page as far as XML would: tags are nested and closed, attributes are quoted, ids are unique, links inside the page
# lead somewhere, and nothing refers to anything outside. POSIX awk. Prints what is wrong; exits with 1 if anything is.

function wrong(text)
{
    print FILENAME ":" NR ": " text
    bad = 1
}

# What may stand between tags: no "<" nor ">", and only entities that XML knows.
function check_text(text)
{
    gsub(/&(amp|lt|gt|quot|#[0-9]+);/, "", text)
    if (text ~ /&/)
        wrong("a bare ampersand: " text)
    if (text ~ />/)
        wrong("a bare >: " text)
}

function check_attribute(name, value)
{
    check_text(value)
    if (name == "id") {
        if (value in ids)
            wrong("the id " value " is there twice")
        ids[value] = 1
    } else if (name == "href") {
        if (substr(value, 1, 1) != "#")
            wrong("a link to " value)
        else
            links[substr(value, 2)] = NR
    } else if (name == "src" && substr(value, 1, 26) != "data:image/svg+xml;base64,") {
        wrong("a source outside: " value)
    } else if (name ~ /^on/) {
        wrong("a handler: " name)
    }
}

function check_tag(tag,  name, attribute, is_empty)
{
    if (tag ~ /^!DOCTYPE html$/)
        return
    if (tag ~ /^\//) {
        name = substr(tag, 2)
        if (depth == 0 || stack[depth] != name)
            wrong("</" name "> closes <" stack[depth] ">")
        depth--
        return
    }
    is_empty = sub(/ *\/$/, "", tag)
    if (!match(tag, /^[a-z][a-z0-9]*/)) {
        wrong("no tag: <" tag ">")
        return
    }
    name = substr(tag, 1, RLENGTH)
    tag = substr(tag, RLENGTH + 1)
    while (match(tag, /^ +[a-z][a-z-]*="[^"<]*"/)) {
        attribute = substr(tag, 1, RLENGTH)
        tag = substr(tag, RLENGTH + 1)
        sub(/^ +/, "", attribute)
        check_attribute(substr(attribute, 1, index(attribute, "=") - 1), \
                        substr(attribute, index(attribute, "=") + 2, length(attribute) - index(attribute, "=") - 2))
    }
    if (tag != "")
        wrong("in <" name ">: " tag)
    if (name == "script" || name == "style")
        raw = name
    if (name ~ /^(link|iframe|object|embed|base|form|input|audio|video)$/)
        wrong("<" name "> has no place here")
    if (!is_empty)
        stack[++depth] = name
}

{
    line = $0
    if (NR == 1 && line != "<!DOCTYPE html>")
        wrong("no doctype")
    while (line != "") {
        if (raw != "") {
            at = index(line, "</" raw ">")
            part = at ? substr(line, 1, at - 1) : line
            if (part ~ /https?:|url\(|@import|import\(|fetch\(|XMLHttpRequest/)
                wrong("a reference to the outside: " part)
            if (!at)
                next
            line = substr(line, at)
            raw = ""
        }
        if (pending != "") {
            line = pending "\n" line
            pending = ""
        }
        open = index(line, "<")
        if (!open) {
            check_text(line)
            next
        }
        check_text(substr(line, 1, open - 1))
        close_at = index(line, ">")
        if (!close_at || close_at < open) {
            pending = substr(line, open)
            next
        }
        check_tag(substr(line, open + 1, close_at - open - 1))
        line = substr(line, close_at + 1)
    }
}

END {
    if (depth)
        wrong("<" stack[depth] "> is not closed")
    for (id in links) {
        if (!(id in ids))
            wrong("line " links[id] " links to #" id ", which is not there")
    }
    exit bad
}
