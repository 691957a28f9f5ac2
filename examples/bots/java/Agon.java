import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Talks to Agon for your bot: one JSON object per line on stdin and on stdout (the protocol is in docs/protocol.md of Agon).
 *
 * <p>You need not change this file. Write debug output to System.err, never to System.out: stdout is for answers
 * only.
 */
final class Agon {
    private Agon() {}

    /** A bot. Only `turn` is required. */
    interface Bot {
        /** Called once, first: the game, the role. */
        default void hello(Json message) {}

        /** A game starts. */
        default void start(Json message) {}

        /** Returns the answer of a turn: a string or a number. {@code seen} is the observation. */
        Object turn(Json seen, Random random);

        /** The game has ended. */
        default void end() {}
    }

    /** Plays until the engine says bye or closes stdin. */
    static void run(Bot bot) throws IOException {
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var random = new Random("1");
        for (String line; (line = input.readLine()) != null; ) {
            var message = new Json(new Reader(line).value());
            String type = message.get("type").text();
            if (type.equals("bye")) {
                break;
            }
            String reply = "{\"id\":" + message.get("id").whole();
            switch (type) {
                case "hello" -> bot.hello(message);
                case "start" -> {
                    random = new Random(message.get("seed").text());
                    bot.start(message);
                }
                case "turn" -> reply += ",\"answer\":" + written(bot.turn(message.get("observation"), random));
                case "end" -> bot.end();
                default -> {}
            }
            System.out.println(reply + "}");
            System.out.flush();
        }
    }

    private static String written(Object answer) {
        return answer instanceof Number ? answer.toString() : '"' + answer.toString() + '"';
    }

    /** Random choices that repeat with the seed. (xorshift32: the same in every language.) */
    static final class Random {
        private int state;

        Random(String seed) {
            state = (int) Long.parseUnsignedLong(seed);
            if (state == 0) {
                state = 1;
            }
        }

        /** A random element of the options. */
        <T> T choice(List<T> options) {
            state ^= state << 13;
            state ^= state >>> 17;
            state ^= state << 5;
            return options.get(Integer.remainderUnsigned(state, options.size()));
        }
    }

    /** A value from the engine: {@code seen.get("board").at(0).at(4).whole()} reads a number. */
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

        int whole() {
            return ((Double) value).intValue();
        }

        boolean yes() {
            return (Boolean) value;
        }

        boolean isNull() {
            return value == null;
        }

        /** A list of lists of numbers, such as a board. */
        int[][] grid() {
            var grid = new int[size()][];
            for (int i = 0; i < grid.length; i++) {
                grid[i] = new int[at(i).size()];
                for (int k = 0; k < grid[i].length; k++) {
                    grid[i][k] = at(i).at(k).whole();
                }
            }
            return grid;
        }
    }

    /** A JSON parser for what the engine writes. */
    private static final class Reader {
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
                throw new IllegalArgumentException("not JSON: " + line);
            }
            at++;
        }

        private String string() {
            var text = new StringBuilder();
            for (take('"'); line.charAt(at) != '"'; at++) {
                text.append(line.charAt(at) == '\\' ? escape() : line.charAt(at));
            }
            at++;
            return text.toString();
        }

        private char escape() {
            char letter = line.charAt(++at);
            switch (letter) {
                case 'n': return '\n';
                case 't': return '\t';
                case 'r': return '\r';
                case 'b': return '\b';
                case 'f': return '\f';
                case 'u':
                    at += 4;
                    return (char) Integer.parseInt(line.substring(at - 3, at + 1), 16);
                default: return letter;
            }
        }
    }
}
