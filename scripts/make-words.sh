#!/bin/sh
# Makes crates/agon-games/data/words.dat and WORDS-LICENCE.txt from SCOWL.
#
# Needs: a POSIX shell, grep, sort, tr, and the Debian package `scowl` (apt-get install scowl),
# or another copy of it:  SCOWL=DIR LICENCE=FILE VERSION=WORDS scripts/make-words.sh
# The same package gives exactly the same two files on any machine and in any locale.
#
# Uses only SCOWL's `words` lists: no abbreviations, contractions, proper names or capitalised words. American and British
# spellings are both included. A short word often appears by chance, so it must be a common one:
#   2 letters     size 55 and below, without the plurals of letter names
#   3 letters     size 60 and below
#   4, 5 letters  size 70 and below ("found in most dictionaries")
#   6, 7 letters  size 80 and below (words that word games allow)
set -eu
export LC_ALL=C

SCOWL=${SCOWL:-/usr/share/dict/scowl}
LICENCE=${LICENCE:-/usr/share/doc/scowl/copyright}
VERSION=${VERSION:-Debian package scowl $(dpkg-query -W -f '${Version}' scowl)}
data=$(dirname "$0")/../crates/agon-games/data

# Abbreviations that are in the word lists anyway.
not_words='cs|es|gs|ks|ls|ms|rs|ts|id|re|csch'

# words_of MAX PATTERN: the words of all sizes up to MAX that match PATTERN.
words_of() {
    for size in 10 20 35 40 50 55 60 70 80; do
        [ "$size" -le "$1" ] || continue
        for spelling in english american british; do
            [ -f "$SCOWL/$spelling-words.$size" ] || continue
            # Accented words are in Latin-1 there; in the C locale they do not match [a-z].
            grep -E -x "$2" "$SCOWL/$spelling-words.$size" || [ $? -eq 1 ]
        done
    done
}

[ -f "$SCOWL/english-words.80" ] || {
    echo "no SCOWL in $SCOWL" >&2
    echo "hint: apt-get install scowl, or set SCOWL to its folder of word lists" >&2
    exit 1
}

{
    words_of 55 '[a-z]{2}'
    words_of 60 '[a-z]{3}'
    words_of 70 '[a-z]{4,5}'
    words_of 80 '[a-z]{6,7}'
} | grep -E -v -x "$not_words" | tr a-z A-Z | sort -u > "$data/words.dat"

{
    cat <<END
words.dat is a selection from SCOWL (Spell Checker Oriented Word Lists) by Kevin Atkinson,
http://wordlist.aspell.net/, made from the $VERSION by scripts/make-words.sh: words of 2 to 7 letters,
in upper case; size 55 and below for 2 letters, 60 for 3, 70 for 4 and 5, 80 for 6 and 7. It is a modified
version, not the original.

Among its sources are the ENABLE word list (M\\Cooper, public domain) and
the UK Advanced Cryptics Dictionary, Copyright (c) J Ross Beresford 1993-1999. All Rights Reserved.

What follows is the notice that came with it, whole and unchanged.

------------------------------------------------------------------------------------------
END
    cat "$LICENCE"
} > "$data/WORDS-LICENCE.txt"

wc -l "$data/words.dat"
