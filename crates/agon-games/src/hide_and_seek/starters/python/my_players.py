"""starter-bot: a seeker that goes where it last saw the hider and else searches the room, and a hider that runs away.

Each class is a bot of its own; the game takes the one whose turn it is to play. Before every move the game sets
`self.pos`, `self.enemy_is_visible` and `self.enemy_pos` (where the other is, or was when you last knew).
"""

from game_utils import movement_rules_obided
from players import Player

STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))
FAR = 1000


class Seeker(Player):
    def __init__(self, game_map, spawn_position, enemy_spawn_position):
        super().__init__(game_map, spawn_position, enemy_spawn_position)
        self.trail = cell(enemy_spawn_position)
        self.visits = {}

    def move(self):
        """Changes `self.pos` by one step."""
        here = cell(self.pos)
        self.visits[here] = self.visits.get(here, 0) + 1
        if self.enemy_is_visible:
            self.trail = cell(self.enemy_pos)
        elif self.trail == here:
            self.trail = None  # gone
        # Your idea goes here: where can the hider be by now? From where would you see most of that?
        goal = self.trail or self.least_visited(here)
        ways = distances(self.game_map, goal)
        self.pos = min(neighbours(self.game_map, here), key=lambda there: ways.get(there, FAR), default=here)

    def least_visited(self, here):
        """The nearest of the cells I have been to least often."""
        ways = distances(self.game_map, here)
        others = sorted(there for there in ways if there != here)
        return min(others, key=lambda there: (self.visits.get(there, 0), ways[there]), default=here)


class Hider(Player):
    def __init__(self, game_map, spawn_position, enemy_spawn_position):
        super().__init__(game_map, spawn_position, enemy_spawn_position)

    def move(self):
        """Changes `self.pos` by one step, or not at all."""
        here = cell(self.pos)
        ways = distances(self.game_map, cell(self.enemy_pos))
        # Your idea goes here: out of sight is better than far away (see_each_other in game_utils), and beware of dead ends.
        self.pos = max([here, *neighbours(self.game_map, here)], key=lambda there: ways.get(there, FAR))


def cell(pos):
    """A position as a pair of plain numbers."""
    return int(pos[0]), int(pos[1])


def neighbours(game_map, here):
    """The cells one step away that are no walls."""
    around = [(here[0] + dx, here[1] + dy) for dx, dy in STEPS]
    return [there for there in around if movement_rules_obided(game_map, here, there)]


def distances(game_map, start):
    """How many steps it is from `start` to each cell that can be reached."""
    ways = {start: 0}
    queue = [start]
    for here in queue:
        for there in neighbours(game_map, here):
            if there not in ways:
                ways[there] = ways[here] + 1
                queue.append(there)
    return ways
