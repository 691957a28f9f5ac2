import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * starter-bot: writes each letter where it gives the most points at once, and calls the letter that gives the most.
 *
 * <p>Speaks Word Racer's own protocol: letters come on stdin, {@code LETTER POSITION} or {@code POSITION} goes to stdout.
 * Print what you want to know to System.err: stdout is for answers alone.
 */
public class Bot {
    private static final int SIDE = 7;
    private static final char EMPTY = '.';
    private static final String LETTERS = "EARIOTNSLCUDPMHGBFYWKVXZJQ"; // most useful first
    private static final int[] POINTS = {0, 0, 1, 2, 3, 5, 8, 13}; // by length

    private record Choice(char letter, int position, int gain) {}

    private final Set<String> words = readWords();
    private final char[] board = new char[SIDE * SIDE]; // row by row
    private int free = SIDE * SIDE;

    private Bot() {
        Arrays.fill(board, EMPTY);
    }

    /** Reads the valid words from words.dat in the bot's folder. Without the file the bot plays with no words. */
    private static Set<String> readWords() {
        try {
            return new HashSet<>(Files.readAllLines(Path.of("words.dat")));
        } catch (IOException missing) {
            return Set.of();
        }
    }

    /** The letter that I call, and its position on my board. */
    private Choice call() {
        // Your idea goes here: plan longer words, and consider the letter's value for the other player.
        Choice best = new Choice('E', -1, -1);
        for (char letter : LETTERS.toCharArray()) {
            Choice here = place(letter);
            if (here.gain > best.gain) {
                best = here;
            }
        }
        return best;
    }

    /** Position on my board for a letter that the other player called. */
    private Choice place(char letter) {
        // Your idea goes here: keep good cells for long words, and put useless letters aside.
        Choice best = new Choice(letter, -1, -1);
        for (int position = 0; position < board.length; position++) {
            if (board[position] != EMPTY) {
                continue;
            }
            int now = gain(letter, position);
            if (now > best.gain) {
                best = new Choice(letter, position, now);
            }
        }
        return best;
    }

    /** Points that a letter on this position adds at once. */
    private int gain(char letter, int position) {
        int before = pointsAround(position);
        board[position] = letter;
        int after = pointsAround(position);
        board[position] = EMPTY;
        return after - before;
    }

    /** Points of the row and the column of a position. */
    private int pointsAround(int position) {
        var column = new StringBuilder();
        for (int cell = position % SIDE; cell < board.length; cell += SIDE) {
            column.append(board[cell]);
        }
        return points(new String(board, position / SIDE * SIDE, SIDE)) + points(column.toString());
    }

    /** Maximum points of the words in this row or column, each cell used once. */
    private int points(String line) {
        int[] best = new int[SIDE + 1]; // best[end]: maximum for the cells before `end`
        for (int end = 1; end <= SIDE; end++) {
            best[end] = best[end - 1];
            for (int start = 0; start < end - 1; start++) {
                if (words.contains(line.substring(start, end))) {
                    best[end] = Math.max(best[end], best[start] + POINTS[end - start]);
                }
            }
        }
        return best[SIDE];
    }

    private void write(char letter, int position) {
        board[position] = letter;
        free--;
    }

    private void play(BufferedReader input) throws IOException {
        write(input.readLine().strip().charAt(0), 24);
        boolean myCall = input.readLine().strip().equals("1");
        for (; free > 0; myCall = !myCall) {
            if (myCall) {
                Choice choice = call();
                write(choice.letter, choice.position);
                System.out.println(choice.letter + " " + choice.position);
                continue;
            }
            String line = input.readLine();
            if (line == null) {
                return;
            }
            Choice choice = place(line.strip().charAt(0));
            write(choice.letter, choice.position);
            System.out.println(choice.position);
        }
    }

    public static void main(String[] arguments) throws IOException {
        new Bot().play(new BufferedReader(new InputStreamReader(System.in)));
    }
}
