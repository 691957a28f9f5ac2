import java.io.IOException;
import java.util.ArrayList;

/**
 * starter-bot: wins if it can, blocks if it must, and otherwise stays near the middle.
 *
 * <p>One process plays all games of a match.
 */
public class Bot implements Agon.Bot {
    private static final int COLUMNS = 9;
    private static final int ROWS = 7;

    /** A piece near the middle is part of more lines. */
    private static final int[] FAVOURITES = {4, 3, 5, 2, 6, 1, 7, 0, 8};

    @Override
    public Object turn(Agon.Json seen, Agon.Random random) {
        // board[0] is the top row; 0 is empty, 1 and 2 are the players.
        int[][] board = seen.get("board").grid();
        int player = seen.get("player").whole();
        var legal = new ArrayList<Integer>();
        for (int column : FAVOURITES) {
            if (board[0][column] == 0) {
                legal.add(column);
            }
        }
        for (int who : new int[] {player, 3 - player}) {
            for (int column : legal) {
                if (wins(board, column, who)) {
                    return column;
                }
            }
        }
        // Your idea goes here: look further ahead, or find out which two columns are special.
        for (int column : legal) {
            if (!helps(board, column, player)) {
                return column;
            }
        }
        return legal.get(0);
    }

    @Override
    public void end() {
        // The game is finished: learn from it here. You have 10 seconds.
    }

    /** The row where a piece dropped into this column lands; -1 if it is full. */
    private static int landingRow(int[][] board, int column) {
        int row = ROWS - 1;
        while (row >= 0 && board[row][column] != 0) {
            row--;
        }
        return row;
    }

    /** Whether a piece dropped into this column makes five in a line. */
    private static boolean wins(int[][] board, int column, int player) {
        int row = landingRow(board, column);
        int[][] directions = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
        for (int[] to : directions) {
            int before = follow(board, row, column, -to[0], -to[1], player);
            if (1 + before + follow(board, row, column, to[0], to[1], player) >= 5) {
                return true;
            }
        }
        return false;
    }

    /** Number of consecutive pieces of a player from a cell in one direction. */
    private static int follow(int[][] board, int row, int column, int down, int right, int player) {
        int length = 0;
        while (true) {
            row += down;
            column += right;
            boolean inside = row >= 0 && row < ROWS && column >= 0 && column < COLUMNS;
            if (!inside || board[row][column] != player) {
                return length;
            }
            length++;
        }
    }

    /** Whether my piece in this column lets the opponent win on top of it. */
    private static boolean helps(int[][] board, int column, int player) {
        int row = landingRow(board, column);
        if (row == 0) {
            return false;
        }
        board[row][column] = player;
        boolean helped = wins(board, column, 3 - player);
        board[row][column] = 0;
        return helped;
    }

    public static void main(String[] arguments) throws IOException {
        Agon.run(new Bot());
    }
}
