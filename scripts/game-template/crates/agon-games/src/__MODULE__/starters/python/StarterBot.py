"""starter-bot: FILL IN: how it plays."""


class StarterBot:
    def get_move(self, state):
        # Your idea goes here: FILL IN: what to think about.
        return 1
