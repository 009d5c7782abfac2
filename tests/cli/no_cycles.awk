# What `warpmem explain` prints but for its last sentence, the cycles: their rates are fitted anew now and then.
has_ended {
    next
}
{
    if (sub(/ ?Back( to.*)?$/, "")) {
        has_ended = 1
        if ($0 == "")
            next
    }
    print
}
