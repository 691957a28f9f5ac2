// starter-bot: writes each letter where it makes the most points at once, and calls the letter that makes the most.
//
// Speaks Word Racer's own protocol: letters come on stdin, `LETTER POSITION` or `POSITION` goes to stdout. Print what you
// want to know to std::cerr: stdout is for answers alone.

#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>
#include <unordered_set>
#include <vector>

constexpr int SIDE = 7;
constexpr char EMPTY = '.';
const std::string LETTERS = "EARIOTNSLCUDPMHGBFYWKVXZJQ";  // the useful ones first
constexpr int POINTS[] = {0, 0, 1, 2, 3, 5, 8, 13};        // by length

struct Choice {
    char letter;
    int position;
    int gain;
};

class WordRacer {
  public:
    // The words that count stand in the folder the bot runs in. Without them it plays on.
    WordRacer() : board(SIDE * SIDE, EMPTY) {
        std::ifstream file("words.dat");
        for (std::string word; file >> word;) words.insert(word);
    }

    bool full() const { return board.find(EMPTY) == std::string::npos; }
    void write(char letter, int position) { board[position] = letter; }

    // A letter of my choice, and where I write it.
    Choice call() {
        // Your idea goes here: plan longer words, and think of what the letter is worth to the other.
        Choice best{'E', -1, -1};
        for (char letter : LETTERS) {
            const Choice here = place(letter);
            if (here.gain > best.gain) best = here;
        }
        return best;
    }

    // Where I write a letter that the other has called.
    Choice place(char letter) {
        // Your idea goes here: keep good cells for long words, and put what is of no use out of the way.
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

    // How many points a letter on this position adds at once.
    int gain(char letter, int position) {
        const int before = points_around(position);
        board[position] = letter;
        const int after = points_around(position);
        board[position] = EMPTY;
        return after - before;
    }

    // What the row and the column of a position are worth together.
    int points_around(int position) const {
        std::string column;
        for (int cell = position % SIDE; cell < SIDE * SIDE; cell += SIDE) column += board[cell];
        return points(board.substr(position / SIDE * SIDE, SIDE)) + points(column);
    }

    // The most points that words of this row or column give, each cell used once.
    int points(const std::string& line) const {
        std::vector<int> best(SIDE + 1, 0);  // best[end]: of the cells before `end`
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
