"""starter-bot: a seeker that goes where it last saw the hider or searches the room, and a hider that runs away.

Each class is a separate bot; Agon uses the one for the role to play. Before every move Agon sets
`self.pos`, `self.enemy_is_visible` and `self.enemy_pos` (the last known position of the other player).
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
            self.trail = None  # it is not there
        # Your idea goes here: where can the hider be now? From where would you see most of these cells?
        goal = self.trail or self.least_visited(here)
        ways = distances(self.game_map, goal)
        self.pos = min(neighbours(self.game_map, here), key=lambda there: ways.get(there, FAR), default=here)

    def least_visited(self, here):
        """The nearest of the cells that I have visited least often."""
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
        # Your idea goes here: being out of sight (see_each_other in game_utils) is better than being far away. Avoid dead ends.
        self.pos = max([here, *neighbours(self.game_map, here)], key=lambda there: ways.get(there, FAR))


def cell(pos):
    """A position as a pair of integers."""
    return int(pos[0]), int(pos[1])


def neighbours(game_map, here):
    """Cells one step away that are not walls."""
    around = [(here[0] + dx, here[1] + dy) for dx, dy in STEPS]
    return [there for there in around if movement_rules_obided(game_map, here, there)]


def distances(game_map, start):
    """Number of steps from `start` to each reachable cell."""
    ways = {start: 0}
    queue = [start]
    for here in queue:
        for there in neighbours(game_map, here):
            if there not in ways:
                ways[there] = ways[here] + 1
                queue.append(there)
    return ways
