// starter-bot: a seeker that goes where it last saw the hider or searches the room, and a hider that runs away.
//
// The same program plays both roles; seen["role"] says which.

#include <optional>
#include <queue>
#include <vector>

#include "agon.hpp"

using agon::Answer;
using agon::Json;
using agon::Random;

constexpr int FAR = 1000;

struct Cell {
    int x, y;
    bool operator==(const Cell& other) const { return x == other.x && y == other.y; }
};

struct Step {
    const char* word;
    Cell to;
};

// A number for each cell: grid[x][y].
using Grid = std::vector<std::vector<int>>;

int& at(Grid& grid, Cell cell) { return grid[cell.x][cell.y]; }

Cell read_cell(const Json& json) { return {json[0].whole(), json[1].whole()}; }

Grid read_map(const Json& json) {
    Grid map;
    for (const Json& column : json.list) {
        map.emplace_back();
        for (const Json& wall : column.list) map.back().push_back(wall.whole());
    }
    return map;
}

// The possible steps from a cell.
std::vector<Step> steps(const Grid& map, Cell here) {
    std::vector<Step> possible;
    for (const Step& step : {Step{"LEFT", {-1, 0}}, {"RIGHT", {1, 0}}, {"UP", {0, -1}}, {"DOWN", {0, 1}}}) {
        const int x = here.x + step.to.x, y = here.y + step.to.y;
        const bool inside = x >= 0 && x < int(map.size()) && y >= 0 && y < int(map[x].size());
        if (inside && map[x][y] == 0) possible.push_back({step.word, {x, y}});
    }
    return possible;
}

// Number of steps from a cell to each other cell.
Grid distances(const Grid& map, Cell start) {
    Grid ways(map.size(), std::vector<int>(map[0].size(), FAR));
    at(ways, start) = 0;
    std::queue<Cell> queue;
    for (queue.push(start); !queue.empty(); queue.pop()) {
        const Cell here = queue.front();
        for (const Step& step : steps(map, here)) {
            if (at(ways, step.to) != FAR) continue;
            at(ways, step.to) = at(ways, here) + 1;
            queue.push(step.to);
        }
    }
    return ways;
}

struct MyBot : agon::Bot {
    std::optional<Cell> trail;  // where the seeker expects the hider
    Grid visits;                // how often the seeker has visited each cell

    void start(const Json&) override {
        trail.reset();
        visits.clear();
    }

    Answer turn(const Json& seen, Random&) override {
        const Grid map = read_map(seen["game_map"]);
        return seen["role"].text == "seeker" ? seek(seen, map) : hide(seen, map);
    }

    Answer seek(const Json& seen, const Grid& map) {
        const Cell here = read_cell(seen["pos"]);
        if (visits.empty()) visits = Grid(map.size(), std::vector<int>(map[0].size(), 0));
        at(visits, here) += 1;
        if (seen["enemy_is_visible"].yes() || seen["step"].whole() == 1) trail = read_cell(seen["enemy_pos"]);
        else if (trail && *trail == here) trail.reset();  // it is not there
        // Your idea goes here: where can the hider be now? From where would you see most of these cells?
        Grid ways = distances(map, trail ? *trail : least_visited(map, here));
        Step best{"STAY", here};
        for (const Step& step : steps(map, here)) {
            if (at(ways, step.to) < at(ways, best.to)) best = step;
        }
        return best.word;
    }

    // The nearest of the cells that I have visited least often.
    Cell least_visited(const Grid& map, Cell here) {
        Grid ways = distances(map, here);
        std::optional<Cell> goal;
        for (int x = 0; x < int(map.size()); ++x) {
            for (int y = 0; y < int(map[x].size()); ++y) {
                const Cell there{x, y};
                if (at(ways, there) == FAR || there == here) continue;
                const int rarer = goal ? at(visits, there) - at(visits, *goal) : -1;
                if (rarer < 0 || (rarer == 0 && at(ways, there) < at(ways, *goal))) goal = there;
            }
        }
        return goal.value_or(here);
    }

    Answer hide(const Json& seen, const Grid& map) {
        Grid ways = distances(map, read_cell(seen["enemy_pos"]));
        // Your idea goes here: being out of sight is better than being far away. Avoid dead ends.
        Step best{"STAY", read_cell(seen["pos"])};
        for (const Step& step : steps(map, best.to)) {
            if (at(ways, step.to) > at(ways, best.to)) best = step;
        }
        return best.word;
    }
};

int main() {
    MyBot bot;
    agon::run(bot);
}
