import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A bot for all five games: any legal answer, drawn with the seed it is given.
 *
 * <p>It speaks the JSON-lines protocol of docs/protocol.md: one JSON object a line on stdin, one on stdout. Print
 * what you want to know to System.err, never to System.out. Run it with {@code java Bot.java}.
 */
public class Bot {
    public static void main(String[] arguments) throws IOException {
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String game = "";
        Random rng = new Random("1");
        for (String line; (line = input.readLine()) != null; ) {
            var message = new Json(new Reader(line).value());
            String type = message.get("type").text();
            if (type.equals("bye")) {
                break;
            }
            String reply = "{\"id\":" + message.get("id").whole();
            switch (type) {
                case "hello" -> game = message.get("game").text();
                case "start" -> rng = new Random(message.get("seed").text());
                case "turn" -> reply += ",\"answer\":" + play(game, message.get("observation"), rng);
                default -> { }
            }
            System.out.println(reply + "}");
            System.out.flush();
        }
    }

    static String play(String game, Json seen, Random rng) {
        return switch (game) {
            case "solitude-scramble" -> quoted(rng.choice(List.of("LEFT", "RIGHT", "CENTER")));
            case "colour-battle" -> quoted(rng.choice(List.of("UP", "DOWN", "LEFT", "RIGHT")));
            case "connect-five" -> connectFive(seen, rng);
            case "hide-and-seek" -> hideAndSeek(seen, rng);
            default -> wordRacer(seen, rng);
        };
    }

    static String connectFive(Json seen, Random rng) {
        Json topRow = seen.get("board").at(0);
        var columns = new ArrayList<Integer>();
        for (int column = 0; column < topRow.size(); column++) {
            if (topRow.at(column).whole() == 0) {
                columns.add(column);
            }
        }
        return rng.choice(columns).toString();
    }

    static String hideAndSeek(Json seen, Random rng) {
        Json map = seen.get("game_map");
        int[][] steps = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
        String[] words = {"LEFT", "RIGHT", "UP", "DOWN"};
        var legal = new ArrayList<String>();
        for (int i = 0; i < steps.length; i++) {
            int x = (int) seen.get("pos").at(0).whole() + steps[i][0];
            int y = (int) seen.get("pos").at(1).whole() + steps[i][1];
            boolean inside = x >= 0 && x < map.size() && y >= 0 && y < map.at(x).size();
            if (inside && map.at(x).at(y).whole() == 0) {
                legal.add(words[i]);
            }
        }
        return quoted(legal.isEmpty() ? "STAY" : rng.choice(legal));
    }

    static String wordRacer(Json seen, Random rng) {
        String board = seen.get("board").text();
        var free = new ArrayList<Integer>();
        for (int position = 0; position < board.length(); position++) {
            if (board.charAt(position) == '.') {
                free.add(position);
            }
        }
        int position = rng.choice(free);
        if (!seen.get("letter").isNull()) {
            return Integer.toString(position);
        }
        return quoted(rng.choice(List.of("ETAOINSHRDLU".split(""))) + " " + position);
    }

    static String quoted(String word) {
        return '"' + word + '"';
    }

    /** xorshift32: tiny, and the same in every language. */
    static class Random {
        private int state;

        Random(String seed) {
            state = (int) Long.parseUnsignedLong(seed);
            if (state == 0) {
                state = 1;
            }
        }

        <T> T choice(List<T> options) {
            state ^= state << 13;
            state ^= state >>> 17;
            state ^= state << 5;
            return options.get(Integer.remainderUnsigned(state, options.size()));
        }
    }

    /** A value the engine wrote. */
    record Json(Object value) {
        Json get(String name) {
            return new Json(((Map<?, ?>) value).get(name));
        }

        Json at(int index) {
            return new Json(((List<?>) value).get(index));
        }

        int size() {
            return ((List<?>) value).size();
        }

        String text() {
            return (String) value;
        }

        long whole() {
            return ((Double) value).longValue();
        }

        boolean isNull() {
            return value == null;
        }
    }

    /** Just enough JSON to read what the engine writes. */
    static class Reader {
        private final String line;
        private int at = 0;

        Reader(String line) {
            this.line = line;
        }

        Object value() {
            switch (peek()) {
                case '{': {
                    var fields = new LinkedHashMap<String, Object>();
                    for (at++; peek() != '}'; skipComma()) {
                        String name = string();
                        take(':');
                        fields.put(name, value());
                    }
                    at++;
                    return fields;
                }
                case '[': {
                    var list = new ArrayList<Object>();
                    for (at++; peek() != ']'; skipComma()) {
                        list.add(value());
                    }
                    at++;
                    return list;
                }
                case '"':
                    return string();
                case 't':
                    at += 4;
                    return true;
                case 'f':
                    at += 5;
                    return false;
                case 'n':
                    at += 4;
                    return null;
                default: {
                    int from = at;
                    while (at < line.length() && "+-.eE0123456789".indexOf(line.charAt(at)) >= 0) {
                        at++;
                    }
                    return Double.valueOf(line.substring(from, at));
                }
            }
        }

        private char peek() {
            while (Character.isWhitespace(line.charAt(at))) {
                at++;
            }
            return line.charAt(at);
        }

        private void skipComma() {
            if (peek() == ',') {
                at++;
            }
        }

        private void take(char wanted) {
            if (peek() != wanted) {
                throw new IllegalArgumentException("this is not JSON: " + line);
            }
            at++;
        }

        /** Of an escape only the escaped character is kept: nothing we look at has any. */
        private String string() {
            var text = new StringBuilder();
            for (take('"'); line.charAt(at) != '"'; at++) {
                if (line.charAt(at) == '\\') {
                    at++;
                }
                text.append(line.charAt(at));
            }
            at++;
            return text.toString();
        }
    }
}
