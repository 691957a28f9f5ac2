import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A bot for all five games: a random legal answer. The seed from the engine decides.
 *
 * <p>Compile it with {@code javac -d build Bot.java Agon.java}, run it with {@code java -cp build Bot}.
 */
public class Bot implements Agon.Bot {
    private String game = "";

    @Override
    public void hello(Agon.Json message) {
        game = message.get("game").text();
    }

    @Override
    public Object turn(Agon.Json seen, Agon.Random random) {
        return switch (game) {
            case "solitude-scramble" -> random.choice(List.of("LEFT", "RIGHT", "CENTER"));
            case "colour-battle" -> random.choice(List.of("UP", "DOWN", "LEFT", "RIGHT"));
            case "connect-five" -> connectFive(seen, random);
            case "hide-and-seek" -> hideAndSeek(seen, random);
            default -> wordRacer(seen, random);
        };
    }

    static int connectFive(Agon.Json seen, Agon.Random random) {
        int[] topRow = seen.get("board").grid()[0];
        var columns = new ArrayList<Integer>();
        for (int column = 0; column < topRow.length; column++) {
            if (topRow[column] == 0) {
                columns.add(column);
            }
        }
        return random.choice(columns);
    }

    static String hideAndSeek(Agon.Json seen, Agon.Random random) {
        int[][] map = seen.get("game_map").grid();
        int[][] steps = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
        String[] words = {"LEFT", "RIGHT", "UP", "DOWN"};
        var legal = new ArrayList<String>();
        for (int i = 0; i < steps.length; i++) {
            int x = seen.get("pos").at(0).whole() + steps[i][0];
            int y = seen.get("pos").at(1).whole() + steps[i][1];
            boolean inside = x >= 0 && x < map.length && y >= 0 && y < map[x].length;
            if (inside && map[x][y] == 0) {
                legal.add(words[i]);
            }
        }
        return legal.isEmpty() ? "STAY" : random.choice(legal);
    }

    static Object wordRacer(Agon.Json seen, Agon.Random random) {
        String board = seen.get("board").text();
        var free = new ArrayList<Integer>();
        for (int position = 0; position < board.length(); position++) {
            if (board.charAt(position) == '.') {
                free.add(position);
            }
        }
        int position = random.choice(free);
        if (!seen.get("letter").isNull()) {
            return position;
        }
        return random.choice(List.of("ETAOINSHRDLU".split(""))) + " " + position;
    }

    public static void main(String[] arguments) throws IOException {
        Agon.run(new Bot());
    }
}
