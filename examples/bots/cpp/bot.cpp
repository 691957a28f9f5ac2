// A bot for all five games: any legal answer, drawn with the seed it is given.
//
// It speaks the JSON-lines protocol of docs/protocol.md: one JSON object a line on stdin, one on stdout.
// Print what you want to know to std::cerr, never to std::cout.
//
//     g++ -O2 -std=c++17 -o bot bot.cpp

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

// Just enough JSON to read what the engine writes.
struct Json {
    enum Kind { Null, Bool, Number, Text, List, Object } kind = Null;
    double number = 0;  // also 0 or 1 for a Bool
    std::string text;
    std::vector<Json> list;
    std::map<std::string, Json> fields;

    const Json& operator[](const std::string& name) const { return fields.at(name); }
    const Json& operator[](int index) const { return list.at(index); }
    int whole() const { return static_cast<int>(number); }
};

class Reader {
  public:
    explicit Reader(const std::string& line) : line(line) {}

    Json value() {
        Json json;
        switch (peek()) {
            case '{':
                json.kind = Json::Object;
                for (++at; peek() != '}';) {
                    std::string name = string();
                    take(':');
                    json.fields[name] = value();
                    if (peek() == ',') ++at;
                }
                ++at;
                break;
            case '[':
                json.kind = Json::List;
                for (++at; peek() != ']';) {
                    json.list.push_back(value());
                    if (peek() == ',') ++at;
                }
                ++at;
                break;
            case '"':
                json.kind = Json::Text;
                json.text = string();
                break;
            case 't': json.kind = Json::Bool; json.number = 1; at += 4; break;
            case 'f': json.kind = Json::Bool; at += 5; break;
            case 'n': at += 4; break;
            default:
                json.kind = Json::Number;
                char* end;
                json.number = std::strtod(line.c_str() + at, &end);
                if (end == line.c_str() + at) fail();
                at = end - line.c_str();
        }
        return json;
    }

  private:
    const std::string& line;
    size_t at = 0;

    char peek() {
        while (at < line.size() && std::isspace(static_cast<unsigned char>(line[at]))) ++at;
        if (at >= line.size()) fail();
        return line[at];
    }

    void take(char wanted) {
        if (peek() != wanted) fail();
        ++at;
    }

    // Escapes are kept as they are, except for the escaped character itself: nothing we look at has any.
    std::string string() {
        std::string text;
        take('"');
        for (; at < line.size() && line[at] != '"'; ++at) {
            if (line[at] == '\\') ++at;
            text += line.at(at);
        }
        take('"');
        return text;
    }

    [[noreturn]] void fail() {
        std::cerr << "this is not JSON: " << line << std::endl;
        std::exit(1);
    }
};

// xorshift32: tiny, and the same in every language.
struct Random {
    uint32_t state = 1;

    explicit Random(const std::string& seed) {
        state = static_cast<uint32_t>(std::stoull(seed));
        if (state == 0) state = 1;
    }

    template <class List>
    auto choice(const List& options) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return options[state % options.size()];
    }
};

using Words = std::vector<std::string>;

std::string quoted(const std::string& word) { return '"' + word + '"'; }

std::string connect_five(const Json& seen, Random& rng) {
    std::vector<int> columns;
    for (int column = 0; column < 9; ++column) {
        if (seen["board"][0][column].whole() == 0) columns.push_back(column);
    }
    return std::to_string(rng.choice(columns));
}

std::string hide_and_seek(const Json& seen, Random& rng) {
    const Json& map = seen["game_map"];
    const Words words = {"LEFT", "RIGHT", "UP", "DOWN"};
    const int dx[] = {-1, 1, 0, 0}, dy[] = {0, 0, -1, 1};
    Words legal;
    for (int i = 0; i < 4; ++i) {
        int x = seen["pos"][0].whole() + dx[i], y = seen["pos"][1].whole() + dy[i];
        bool inside = x >= 0 && x < int(map.list.size()) && y >= 0 && y < int(map[x].list.size());
        if (inside && map[x][y].whole() == 0) legal.push_back(words[i]);
    }
    return quoted(legal.empty() ? "STAY" : rng.choice(legal));
}

std::string word_racer(const Json& seen, Random& rng) {
    std::vector<int> free;
    for (int position = 0; position < 49; ++position) {
        if (seen["board"].text[position] == '.') free.push_back(position);
    }
    std::string position = std::to_string(rng.choice(free));
    if (seen["letter"].kind != Json::Null) return position;
    return quoted(std::string(1, rng.choice(std::string("ETAOINSHRDLU"))) + ' ' + position);
}

std::string play(const std::string& game, const Json& seen, Random& rng) {
    if (game == "solitude-scramble") return quoted(rng.choice(Words{"LEFT", "RIGHT", "CENTER"}));
    if (game == "colour-battle") return quoted(rng.choice(Words{"UP", "DOWN", "LEFT", "RIGHT"}));
    if (game == "connect-five") return connect_five(seen, rng);
    if (game == "hide-and-seek") return hide_and_seek(seen, rng);
    return word_racer(seen, rng);
}

int main() {
    std::string line, game;
    Random rng("1");
    while (std::getline(std::cin, line)) {
        const Json message = Reader(line).value();
        const std::string type = message["type"].text;
        if (type == "bye") break;
        if (type == "hello") game = message["game"].text;
        if (type == "start") rng = Random(message["seed"].text);
        std::cout << "{\"id\":" << static_cast<uint64_t>(message["id"].number);
        if (type == "turn") std::cout << ",\"answer\":" << play(game, message["observation"], rng);
        std::cout << "}" << std::endl;
    }
}
