import java.io.IOException;

/** starter-bot: moves to the nearest tile that its number can paint. */
public class Bot implements Agon.Bot {
    @Override
    public Object turn(Agon.Json seen, Agon.Random random) {
        int mine = seen.get("id").whole();
        int myX = seen.get("position").at(0).whole();
        int myY = seen.get("position").at(1).whole();
        int[][] grid = seen.get("grid").grid();
        // Your idea goes here: which tile is the best target? Which bots are near it, and which can paint over it?
        int nearest = Integer.MAX_VALUE;
        String answer = "STAY";
        for (int y = 0; y < grid.length; y++) {
            for (int x = 0; x < grid.length; x++) {
                int distance = Math.abs(x - myX) + Math.abs(y - myY);
                // My current tile is already painted.
                if (distance > 0 && distance < nearest && isPaintable(mine, grid[y][x])) {
                    nearest = distance;
                    answer = step(mine, x - myX, y - myY);
                }
            }
        }
        return answer;
    }

    /** Whether a tile becomes mine when I step on it. */
    private static boolean isPaintable(int mine, int floor) {
        return floor == 0 || (floor != mine && Math.floorMod(mine - floor, 3) == 2);
    }

    /**
     * The first step towards a target. Even numbers move along x first, odd numbers along y, so that two bots with
     * the same strategy separate.
     */
    private static String step(int mine, int dx, int dy) {
        if (dx != 0 && (dy == 0 || mine % 2 == 0)) {
            return dx > 0 ? "RIGHT" : "LEFT";
        }
        return dy > 0 ? "UP" : "DOWN";
    }

    public static void main(String[] arguments) throws IOException {
        Agon.run(new Bot());
    }
}
