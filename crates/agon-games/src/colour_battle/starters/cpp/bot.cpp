// starter-bot: moves to the nearest tile that its number can paint.

#include <cstdlib>

#include "agon.hpp"

using agon::Answer;
using agon::Json;
using agon::Random;

// Whether a tile becomes mine when I step on it.
bool is_paintable(int mine, int floor) {
    if (floor == 0) return true;
    return floor != mine && ((mine - floor) % 3 + 3) % 3 == 2;
}

// The first step towards a target. Even numbers move along x first, odd numbers along y, so that two bots with
// the same strategy separate.
const char* step(int mine, int dx, int dy) {
    if (dx != 0 && (dy == 0 || mine % 2 == 0)) return dx > 0 ? "RIGHT" : "LEFT";
    return dy > 0 ? "UP" : "DOWN";
}

struct MyBot : agon::Bot {
    Answer turn(const Json& seen, Random&) override {
        const int mine = seen["id"].whole();
        const int my_x = seen["position"][0].whole(), my_y = seen["position"][1].whole();
        const Json& grid = seen["grid"];
        // Your idea goes here: which tile is the best target? Which bots are near it, and which can paint over it?
        int nearest = 2 * grid.size();
        const char* answer = "STAY";
        for (int y = 0; y < grid.size(); ++y) {
            for (int x = 0; x < grid.size(); ++x) {
                const int distance = std::abs(x - my_x) + std::abs(y - my_y);
                // My current tile is already painted.
                if (distance > 0 && distance < nearest && is_paintable(mine, grid[y][x].whole())) {
                    nearest = distance;
                    answer = step(mine, x - my_x, y - my_y);
                }
            }
        }
        return answer;
    }
};

int main() {
    MyBot bot;
    agon::run(bot);
}
