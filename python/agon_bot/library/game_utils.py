"""Hide and Seek's `game_utils`: distance, movement and vision, by the rules of the game."""

__all__ = ["distance", "movement_rules_obided", "see_each_other"]


def _walls(game_map):
    """The array of a map, which may be a `Map` or an array."""
    return getattr(game_map, "nodes", game_map)


def distance(pos1, pos2):
    """Steps between two cells with no walls in between."""
    return abs(int(pos1[0]) - int(pos2[0])) + abs(int(pos1[1]) - int(pos2[1]))


def movement_rules_obided(game_map, old_pos, new_pos, player="Player"):
    """Whether a player may go from one cell to the other in one move."""
    walls = _walls(game_map)
    x, y = new_pos[0], new_pos[1]
    on_map = 0 <= x < walls.shape[0] and 0 <= y < walls.shape[1]
    return bool(on_map and distance(old_pos, new_pos) <= 1 and walls[int(x), int(y)] == 0)


def see_each_other(game_map, seeker_pos, hider_pos):
    """Whether the segment between the two cells' centres touches no wall, corners included.

    Exact: in units of half a cell, column x spans `2 x - 1` to `2 x + 1`; there the segment spans from `low / dx`
    to `high / dx`, and it touches every row whose span meets that, ends included."""
    walls = _walls(game_map)
    (ax, ay), (bx, by) = sorted([(int(p[0]), int(p[1])) for p in (seeker_pos, hider_pos)])
    dx, dy = bx - ax, by - ay
    if dx == 0:
        return not walls[ax, min(ay, by) : max(ay, by) + 1].any()
    sign = 1 if dy >= 0 else -1
    for x in range(dx + 1):
        left = max(0, 2 * x - 1) * abs(dy)
        right = min(2 * dx, 2 * x + 1) * abs(dy)
        first = max(0, -((dx - left) // (2 * dx)))
        last = min(abs(dy), (right + dx) // (2 * dx))
        for y in range(first, last + 1):
            if walls[ax + x, ay + sign * y]:
                return False
    return True
