"""Hide and Seek, with its Python API; the seeker reads the map as an array, the hider as a graph."""

import strategies


def cell(position):
    return int(position[0]), int(position[1])


class Seeker(Player):
    def __init__(self, game_map, spawn_position, enemy_spawn_position):
        super().__init__(game_map, spawn_position, enemy_spawn_position)
        self.walls = {(x, y) for x in range(20) for y in range(20) if game_map[x, y] == 1}
        self.chaser = strategies.Chaser()

    def move(self):
        there = cell(self.enemy_pos)
        self.pos = self.chaser.step(self.walls, cell(self.pos), there, bool(self.enemy_is_visible))


class Hider(Player):
    def move(self):
        nodes = self.game_map.nodes
        walls = {(x, y) for x in range(20) for y in range(20) if nodes[x][y] == 1}
        self.pos = strategies.running_hider(walls, cell(self.pos), cell(self.enemy_pos))
