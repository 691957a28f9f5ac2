// starter-bot: writes each letter where it gives the most points at once, and calls the letter that gives the most.
//
// Speaks Word Racer's text protocol: letters come on stdin, `LETTER POSITION` or `POSITION` goes to stdout. Print debug
// output to std::cerr, because stdout is only for answers.

#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>
#include <unordered_set>
#include <vector>

constexpr int SIDE = 7;
constexpr char EMPTY = '.';
const std::string LETTERS = "EARIOTNSLCUDPMHGBFYWKVXZJQ";  // most useful first
constexpr int POINTS[] = {0, 0, 1, 2, 3, 5, 8, 13};        // by length

struct Choice {
    char letter;
    int position;
    int gain;
};

class WordRacer {
  public:
    // Reads the valid words from words.dat in the bot's folder. Without the file the bot plays with no words.
    WordRacer() : board(SIDE * SIDE, EMPTY) {
        std::ifstream file("words.dat");
        for (std::string word; file >> word;) words.insert(word);
    }

    bool full() const { return board.find(EMPTY) == std::string::npos; }
    void write(char letter, int position) { board[position] = letter; }

    // The letter that I call, and its position on my board.
    Choice call() {
        // Your idea goes here: plan longer words, and consider the letter's value for the other player.
        Choice best{'E', -1, -1};
        for (char letter : LETTERS) {
            const Choice here = place(letter);
            if (here.gain > best.gain) best = here;
        }
        return best;
    }

    // Position on my board for a letter that the other player called.
    Choice place(char letter) {
        // Your idea goes here: keep good cells for long words, and put useless letters aside.
        Choice best{letter, -1, -1};
        for (int position = 0; position < SIDE * SIDE; ++position) {
            if (board[position] != EMPTY) continue;
            const int now = gain(letter, position);
            if (now > best.gain) best = {letter, position, now};
        }
        return best;
    }

  private:
    std::unordered_set<std::string> words;
    std::string board;  // row by row

    // Points that a letter on this position adds at once.
    int gain(char letter, int position) {
        const int before = points_around(position);
        board[position] = letter;
        const int after = points_around(position);
        board[position] = EMPTY;
        return after - before;
    }

    // Points of the row and the column of a position.
    int points_around(int position) const {
        std::string column;
        for (int cell = position % SIDE; cell < SIDE * SIDE; cell += SIDE) column += board[cell];
        return points(board.substr(position / SIDE * SIDE, SIDE)) + points(column);
    }

    // Maximum points of the words in this row or column, each cell used once.
    int points(const std::string& line) const {
        std::vector<int> best(SIDE + 1, 0);  // best[end]: maximum for the cells before `end`
        for (int end = 1; end <= SIDE; ++end) {
            best[end] = best[end - 1];
            for (int start = 0; start < end - 1; ++start) {
                if (words.count(line.substr(start, end - start)) > 0) {
                    best[end] = std::max(best[end], best[start] + POINTS[end - start]);
                }
            }
        }
        return best[SIDE];
    }
};

int main() {
    WordRacer racer;
    char letter = EMPTY, first = '0';
    std::cin >> letter >> first;
    racer.write(letter, 24);
    bool my_call = first == '1';
    while (!racer.full()) {
        if (my_call) {
            const Choice choice = racer.call();
            racer.write(choice.letter, choice.position);
            std::cout << choice.letter << ' ' << choice.position << std::endl;
        } else {
            if (!(std::cin >> letter)) break;
            const Choice choice = racer.place(letter);
            racer.write(letter, choice.position);
            std::cout << choice.position << std::endl;
        }
        my_call = !my_call;
    }
}
