# What warpmem fix prints, without what hangs on the rates of the profile: predicted cycles may change as they are fitted
# better, and the cases that use this are about counts.

# the last column of a table
/^.\{100\}$/s/^\(.\{90\}\)[ 0-9,]\{10\}$/\1/

# the answers to which instructions matter, and to what the roof is
/^  1\. Which memory/,/^  2\. /{
    /^  [12]\. /!d
}
/^  8\. The pipe/,/^  9\. /{
    /^  [89]\. /!d
}

# JSON
s/"cycles_[a-z]*":[0-9]*,//g
/"step":[18],/d
