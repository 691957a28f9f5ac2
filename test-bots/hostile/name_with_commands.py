"""Has a name, a contributor, a log and an exception full of terminal commands and HTML.

Must happen: a crash; none of it is printed unescaped on the terminal, in JSON or on a page."""

EVIL = "\x1b[2J\x1b]0;owned\x07<script>alert(1)</script></script><img src=x onerror=alert(2)>\u202e\u2028\x9b31m\0"


class Bot:
    def get_name(self):
        return EVIL

    def get_contributor(self):
        return EVIL

    def get_move(self, board, player, T, N):
        print(EVIL)
        raise ValueError(EVIL)
