import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * starter-bot: a seeker that goes where it last saw the hider or searches the room, and a hider that runs away.
 *
 * <p>The same program plays both roles; the observation says which.
 */
public class Bot implements Agon.Bot {
    private static final int FAR = 1000;

    private record Cell(int x, int y) {
        static Cell of(Agon.Json json) {
            return new Cell(json.at(0).whole(), json.at(1).whole());
        }

        int in(int[][] grid) {
            return grid[x][y];
        }
    }

    private record Step(String word, Cell to) {}

    /** Where the seeker expects the hider; null if unknown. */
    private Cell trail;

    /** How often the seeker has visited each cell: visits[x][y]. */
    private int[][] visits;

    @Override
    public void start(Agon.Json message) {
        trail = null;
        visits = null;
    }

    @Override
    public Object turn(Agon.Json seen, Agon.Random random) {
        int[][] map = seen.get("game_map").grid();
        return seen.get("role").text().equals("seeker") ? seek(seen, map) : hide(seen, map);
    }

    private String seek(Agon.Json seen, int[][] map) {
        Cell here = Cell.of(seen.get("pos"));
        if (visits == null) {
            visits = new int[map.length][map[0].length];
        }
        visits[here.x][here.y]++;
        if (seen.get("enemy_is_visible").yes() || seen.get("step").whole() == 1) {
            trail = Cell.of(seen.get("enemy_pos"));
        } else if (here.equals(trail)) {
            trail = null; // it is not there
        }
        // Your idea goes here: where can the hider be now? From where would you see most of these cells?
        int[][] ways = distances(map, trail != null ? trail : leastVisited(map, here));
        Step best = new Step("STAY", here);
        for (Step step : steps(map, here)) {
            if (step.to.in(ways) < best.to.in(ways)) {
                best = step;
            }
        }
        return best.word;
    }

    /** The nearest of the cells that I have visited least often. */
    private Cell leastVisited(int[][] map, Cell here) {
        int[][] ways = distances(map, here);
        Cell goal = null;
        for (int x = 0; x < map.length; x++) {
            for (int y = 0; y < map[x].length; y++) {
                Cell there = new Cell(x, y);
                if (there.in(ways) == FAR || there.equals(here)) {
                    continue;
                }
                int rarer = goal == null ? -1 : there.in(visits) - goal.in(visits);
                if (rarer < 0 || (rarer == 0 && there.in(ways) < goal.in(ways))) {
                    goal = there;
                }
            }
        }
        return goal != null ? goal : here;
    }

    private String hide(Agon.Json seen, int[][] map) {
        int[][] ways = distances(map, Cell.of(seen.get("enemy_pos")));
        // Your idea goes here: being out of sight is better than being far away. Avoid dead ends.
        Step best = new Step("STAY", Cell.of(seen.get("pos")));
        for (Step step : steps(map, best.to)) {
            if (step.to.in(ways) > best.to.in(ways)) {
                best = step;
            }
        }
        return best.word;
    }

    /** The possible steps from a cell. */
    private static List<Step> steps(int[][] map, Cell here) {
        var around = List.of(
                new Step("LEFT", new Cell(here.x - 1, here.y)),
                new Step("RIGHT", new Cell(here.x + 1, here.y)),
                new Step("UP", new Cell(here.x, here.y - 1)),
                new Step("DOWN", new Cell(here.x, here.y + 1)));
        var possible = new ArrayList<Step>();
        for (Step step : around) {
            Cell to = step.to;
            boolean inside = to.x >= 0 && to.x < map.length && to.y >= 0 && to.y < map[to.x].length;
            if (inside && to.in(map) == 0) {
                possible.add(step);
            }
        }
        return possible;
    }

    /** Number of steps from a cell to each other cell. */
    private static int[][] distances(int[][] map, Cell start) {
        int[][] ways = new int[map.length][map[0].length];
        for (int[] column : ways) {
            Arrays.fill(column, FAR);
        }
        ways[start.x][start.y] = 0;
        var queue = new ArrayDeque<Cell>(List.of(start));
        while (!queue.isEmpty()) {
            Cell here = queue.remove();
            for (Step step : steps(map, here)) {
                if (step.to.in(ways) == FAR) {
                    ways[step.to.x][step.to.y] = here.in(ways) + 1;
                    queue.add(step.to);
                }
            }
        }
        return ways;
    }

    public static void main(String[] arguments) throws IOException {
        Agon.run(new Bot());
    }
}
