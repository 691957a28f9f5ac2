// A bot for all five games: a random legal answer. The seed from the engine decides.
//
//     g++ -O2 -std=c++17 -o bot bot.cpp

#include <string>
#include <vector>

#include "agon.hpp"

using agon::Answer;
using agon::Json;
using agon::Random;
using Words = std::vector<std::string>;

Answer connect_five(const Json& seen, Random& random) {
    std::vector<int> columns;
    for (int column = 0; column < 9; ++column) {
        if (seen["board"][0][column].whole() == 0) columns.push_back(column);
    }
    return random.choice(columns);
}

Answer hide_and_seek(const Json& seen, Random& random) {
    const Json& map = seen["game_map"];
    const Words words = {"LEFT", "RIGHT", "UP", "DOWN"};
    const int dx[] = {-1, 1, 0, 0}, dy[] = {0, 0, -1, 1};
    Words legal;
    for (int i = 0; i < 4; ++i) {
        int x = seen["pos"][0].whole() + dx[i], y = seen["pos"][1].whole() + dy[i];
        bool inside = x >= 0 && x < map.size() && y >= 0 && y < map[x].size();
        if (inside && map[x][y].whole() == 0) legal.push_back(words[i]);
    }
    if (legal.empty()) return "STAY";
    return random.choice(legal);
}

Answer word_racer(const Json& seen, Random& random) {
    std::vector<int> free;
    for (int position = 0; position < 49; ++position) {
        if (seen["board"].text[position] == '.') free.push_back(position);
    }
    int position = random.choice(free);
    if (!seen["letter"].is_null()) return position;
    return random.choice(std::string("ETAOINSHRDLU")) + (' ' + std::to_string(position));
}

struct AnyBot : agon::Bot {
    std::string game;

    void hello(const Json& message) override { game = message["game"].text; }

    Answer turn(const Json& seen, Random& random) override {
        if (game == "solitude-scramble") return random.choice(Words{"LEFT", "RIGHT", "CENTER"});
        if (game == "colour-battle") return random.choice(Words{"UP", "DOWN", "LEFT", "RIGHT"});
        if (game == "connect-five") return connect_five(seen, random);
        if (game == "hide-and-seek") return hide_and_seek(seen, random);
        return word_racer(seen, random);
    }
};

int main() {
    AnyBot bot;
    agon::run(bot);
}
