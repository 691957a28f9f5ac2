"""Returns a list that contains itself and objects whose `__repr__` calls itself.

Must happen: garbled, with a short report."""


class Deep:
    def __repr__(self):
        return repr(self)


class Bot:
    def get_move(self, board, player, T, N):
        answer = [Deep()]
        answer.append(answer)
        return answer
