// starter-bot: FILL IN: how it plays.

#include "agon.hpp"

using agon::Answer;
using agon::Json;
using agon::Random;

struct MyBot : agon::Bot {
    Answer turn(const Json&, Random&) override {
        // Your idea goes here: FILL IN: what to think about.
        return "1";
    }
};

int main() {
    MyBot bot;
    agon::run(bot);
}
