// starter-bot: wins if it can, blocks if it must, and otherwise stays near the middle.
//
// One process plays all games of a match.

#include <array>
#include <vector>

#include "agon.hpp"

using agon::Answer;
using agon::Json;
using agon::Random;

constexpr int COLUMNS = 9, ROWS = 7;

// A piece near the middle is part of more lines.
constexpr int FAVOURITES[] = {4, 3, 5, 2, 6, 1, 7, 0, 8};

// board[0] is the top row; 0 is empty, 1 and 2 are the players.
using Board = std::array<std::array<int, COLUMNS>, ROWS>;

Board read_board(const Json& seen) {
    Board board;
    for (int row = 0; row < ROWS; ++row) {
        for (int column = 0; column < COLUMNS; ++column) board[row][column] = seen["board"][row][column].whole();
    }
    return board;
}

// The row where a piece dropped into this column lands; -1 if it is full.
int landing_row(const Board& board, int column) {
    int row = ROWS - 1;
    while (row >= 0 && board[row][column] != 0) --row;
    return row;
}

// Number of consecutive pieces of a player from a cell in one direction.
int follow(const Board& board, int row, int column, int down, int right, int player) {
    int length = 0;
    for (;;) {
        row += down;
        column += right;
        const bool inside = row >= 0 && row < ROWS && column >= 0 && column < COLUMNS;
        if (!inside || board[row][column] != player) return length;
        ++length;
    }
}

// Whether a piece dropped into this column makes five in a line.
bool wins(const Board& board, int column, int player) {
    const int row = landing_row(board, column);
    const int directions[][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
    for (const auto& [down, right] : directions) {
        const int before = follow(board, row, column, -down, -right, player);
        if (1 + before + follow(board, row, column, down, right, player) >= 5) return true;
    }
    return false;
}

// Whether my piece in this column lets the opponent win on top of it.
bool helps(Board board, int column, int player) {
    const int row = landing_row(board, column);
    if (row == 0) return false;
    board[row][column] = player;
    return wins(board, column, 3 - player);
}

struct MyBot : agon::Bot {
    Answer turn(const Json& seen, Random&) override {
        const Board board = read_board(seen);
        const int player = seen["player"].whole();
        std::vector<int> legal;
        for (int column : FAVOURITES) {
            if (board[0][column] == 0) legal.push_back(column);
        }
        for (int who : {player, 3 - player}) {
            for (int column : legal) {
                if (wins(board, column, who)) return column;
            }
        }
        // Your idea goes here: look further ahead, or find out which two columns are special.
        for (int column : legal) {
            if (!helps(board, column, player)) return column;
        }
        return legal.at(0);
    }

    void end() override {
        // The game is finished: learn from it here. You have 10 seconds.
    }
};

int main() {
    MyBot bot;
    agon::run(bot);
}
