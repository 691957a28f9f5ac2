"""Hide and Seek: both think, then stay, so that every game has the same number of calls."""

from thinking import think


class Seeker(Player):
    def move(self):
        think()


class Hider(Player):
    def move(self):
        think()
