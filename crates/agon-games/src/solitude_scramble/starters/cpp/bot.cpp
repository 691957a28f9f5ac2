// starter-bot: predicts the others from their earlier moves, and goes where it is most likely to be alone.
//
// A new process plays each turn, so nothing is kept. The observation contains everything.

#include <string>
#include <vector>

#include "agon.hpp"

using agon::Answer;
using agon::Json;
using agon::Random;

const std::vector<std::string> MOVES = {"LEFT", "RIGHT", "CENTER"};

// Target of each move, by the side on which a bot stands in this turn.
std::string platform_of(const std::string& side, const std::string& move) {
    if (move == "CENTER") return "CENTER";
    const bool left = move == "LEFT";
    if (side == "NORTH") return left ? "NE" : "NW";
    if (side == "EAST") return left ? "SE" : "NE";
    if (side == "SOUTH") return left ? "SW" : "SE";
    return left ? "NW" : "SW";
}

// Probability that the bot at a seat goes to this platform, estimated from its moves so far.
double chance_of(int seat, const std::string& platform, const Json& seen) {
    double there = 0, all = 0;
    for (const std::string& move : MOVES) {
        // Start each count at 1, so that no move has probability 0.
        int count = 1;
        for (const Json& turn : seen["history"].list) {
            if (turn["moves"][seat].text == move) ++count;
        }
        all += count;
        if (platform_of(seen["sides"][seat].text, move) == platform) there += count;
    }
    return there / all;
}

// The platform's points, times the probability to be alone on it.
double worth(const std::string& platform, const Json& seen) {
    double chance = 1;
    for (int seat = 0; seat < seen["sides"].size(); ++seat) {
        if (seat != seen["seat"].whole()) chance *= 1 - chance_of(seat, platform, seen);
    }
    return seen["platform_scores"][platform].number * chance;
}

struct MyBot : agon::Bot {
    Answer turn(const Json& seen, Random&) override {
        const std::string side = seen["sides"][seen["seat"].whole()].text;
        // Your idea goes here: how valuable is a move? Which strategy does each of the others use?
        std::string best = MOVES[0];
        for (const std::string& move : MOVES) {
            if (worth(platform_of(side, move), seen) > worth(platform_of(side, best), seen)) best = move;
        }
        return best;
    }
};

int main() {
    MyBot bot;
    agon::run(bot);
}
