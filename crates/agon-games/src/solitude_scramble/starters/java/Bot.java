import java.io.IOException;
import java.util.Map;

/**
 * starter-bot: predicts the others from their earlier moves, and goes where it is most likely to be alone.
 *
 * <p>A new process plays each turn, so nothing is kept. The observation contains everything.
 */
public class Bot implements Agon.Bot {
    private static final String[] MOVES = {"LEFT", "RIGHT", "CENTER"};

    /** Target of each move, by the side on which a bot stands in this turn. */
    private static final Map<String, String[]> PLATFORMS = Map.of(
            "NORTH", new String[] {"NE", "NW", "CENTER"},
            "EAST", new String[] {"SE", "NE", "CENTER"},
            "SOUTH", new String[] {"SW", "SE", "CENTER"},
            "WEST", new String[] {"NW", "SW", "CENTER"});

    @Override
    public Object turn(Agon.Json seen, Agon.Random random) {
        String[] mine = PLATFORMS.get(side(seen.get("seat").whole(), seen));
        // Your idea goes here: how valuable is a move? Which strategy does each of the others use?
        int best = 0;
        for (int move = 1; move < MOVES.length; move++) {
            if (worth(mine[move], seen) > worth(mine[best], seen)) {
                best = move;
            }
        }
        return MOVES[best];
    }

    /** The platform's points, times the probability to be alone on it. */
    private static double worth(String platform, Agon.Json seen) {
        double chance = 1;
        for (int seat = 0; seat < seen.get("sides").size(); seat++) {
            if (seat != seen.get("seat").whole()) {
                chance *= 1 - chanceOf(seat, platform, seen);
            }
        }
        return seen.get("platform_scores").get(platform).whole() * chance;
    }

    /** Probability that the bot at a seat goes to this platform, estimated from its moves so far. */
    private static double chanceOf(int seat, String platform, Agon.Json seen) {
        String[] leads = PLATFORMS.get(side(seat, seen));
        Agon.Json history = seen.get("history");
        double there = 0;
        double all = 0;
        for (int move = 0; move < MOVES.length; move++) {
            // Start each count at 1, so that no move has probability 0.
            int count = 1;
            for (int turn = 0; turn < history.size(); turn++) {
                if (history.at(turn).get("moves").at(seat).text().equals(MOVES[move])) {
                    count++;
                }
            }
            all += count;
            if (leads[move].equals(platform)) {
                there += count;
            }
        }
        return there / all;
    }

    private static String side(int seat, Agon.Json seen) {
        return seen.get("sides").at(seat).text();
    }

    public static void main(String[] arguments) throws IOException {
        Agon.run(new Bot());
    }
}
