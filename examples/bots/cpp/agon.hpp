// Talks to Agon for your bot: one JSON object per line on stdin and on stdout (the protocol is in docs/protocol.md of Agon).
//
// You need not change this file. Write debug output to std::cerr, never to std::cout: stdout is for answers only.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace agon {

// A value from the engine. seen["board"][0][4].whole() reads a number, seen["role"].text reads a string.
struct Json {
    enum Kind { Null, Bool, Number, Text, List, Object } kind = Null;
    double number = 0;  // also 0 or 1 for a Bool
    std::string text;
    std::vector<Json> list;
    std::map<std::string, Json> fields;

    const Json& operator[](const std::string& name) const {
        auto found = fields.find(name);
        if (found == fields.end()) throw std::out_of_range("no such field: " + name);
        return found->second;
    }
    const Json& operator[](const char* name) const { return (*this)[std::string(name)]; }
    const Json& operator[](int index) const { return list.at(static_cast<size_t>(index)); }
    int size() const { return static_cast<int>(list.size()); }
    int whole() const { return static_cast<int>(number); }
    bool yes() const { return kind == Bool && number != 0; }
    bool is_null() const { return kind == Null; }
};

// A JSON parser for what the engine writes.
class Reader {
  public:
    explicit Reader(const std::string& line) : line(line) {}

    Json value() {
        Json json;
        switch (peek()) {
            case '{':
                json.kind = Json::Object;
                for (++at; peek() != '}'; skip_comma()) {
                    std::string name = string();
                    take(':');
                    json.fields[name] = value();
                }
                ++at;
                break;
            case '[':
                json.kind = Json::List;
                for (++at; peek() != ']'; skip_comma()) json.list.push_back(value());
                ++at;
                break;
            case '"':
                json.kind = Json::Text;
                json.text = string();
                break;
            case 't': json.kind = Json::Bool; json.number = 1; at += 4; break;
            case 'f': json.kind = Json::Bool; at += 5; break;
            case 'n': at += 4; break;
            default: {
                json.kind = Json::Number;
                char* end = nullptr;
                json.number = std::strtod(line.c_str() + at, &end);
                if (end == line.c_str() + at) fail();
                at = static_cast<size_t>(end - line.c_str());
            }
        }
        return json;
    }

  private:
    const std::string& line;
    size_t at = 0;

    char peek() {
        while (at < line.size() && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r')) ++at;
        if (at >= line.size()) fail();
        return line[at];
    }

    void skip_comma() {
        if (peek() == ',') ++at;
    }

    void take(char wanted) {
        if (peek() != wanted) fail();
        ++at;
    }

    std::string string() {
        std::string text;
        take('"');
        for (; at < line.size() && line[at] != '"'; ++at) {
            if (line[at] == '\\') escape(text);
            else text += line[at];
        }
        take('"');
        return text;
    }

    // The engine writes \u only for control characters, which are below 128.
    void escape(std::string& text) {
        const char letter = line.at(++at);
        switch (letter) {
            case 'n': text += '\n'; break;
            case 't': text += '\t'; break;
            case 'r': text += '\r'; break;
            case 'b': text += '\b'; break;
            case 'f': text += '\f'; break;
            case 'u':
                text += static_cast<char>(std::strtol(line.substr(at + 1, 4).c_str(), nullptr, 16));
                at += 4;
                break;
            default: text += letter;
        }
    }

    [[noreturn]] void fail() { throw std::runtime_error("not JSON: " + line); }
};

// Random choices that repeat with the seed. (xorshift32: small, and the same in every language.)
class Random {
  public:
    explicit Random(const std::string& seed) : state(static_cast<uint32_t>(std::stoull(seed))) {
        if (state == 0) state = 1;
    }

    // A random element of the options.
    template <class List>
    auto choice(const List& options) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return options[state % options.size()];
    }

  private:
    uint32_t state;
};

// The answer of a turn: a string or a number. Both are converted: `return "LEFT";`, `return 4;`.
struct Answer {
    std::string json;
    Answer(const char* word) : json('"' + std::string(word) + '"') {}
    Answer(const std::string& word) : json('"' + word + '"') {}
    Answer(int number) : json(std::to_string(number)) {}
};

// A bot. Only `turn` is required.
struct Bot {
    virtual ~Bot() = default;
    // Called once, first: the game, the role.
    virtual void hello(const Json&) {}
    // A game starts.
    virtual void start(const Json&) {}
    // Returns the answer of a turn. `seen` is the observation.
    virtual Answer turn(const Json& seen, Random& random) = 0;
    // The game has ended.
    virtual void end() {}
};

// Plays until the engine says bye or closes stdin.
inline void run(Bot& bot) {
    Random random("1");
    for (std::string line; std::getline(std::cin, line);) {
        const Json message = Reader(line).value();
        const std::string& type = message["type"].text;
        if (type == "bye") break;
        std::string reply = "{\"id\":" + std::to_string(static_cast<uint64_t>(message["id"].number));
        if (type == "hello") bot.hello(message);
        if (type == "start") {
            random = Random(message["seed"].text);
            bot.start(message);
        }
        if (type == "turn") reply += ",\"answer\":" + bot.turn(message["observation"], random).json;
        if (type == "end") bot.end();
        std::cout << reply << "}" << std::endl;
    }
}

}  // namespace agon
