"""Recomputes every official figure of a competition from its exported games, and the number of games that the rules ask for.

    recompute.py GAME FOLDER RULES

FOLDER holds what `agon export` wrote, and `replay.json` (`agon replay records.agon --json --frames`). RULES is a JSON object with the numbers of the competition
file. The scores come from the rules of each game (`games.py`), the tables from the written rules of its competition. Nothing here uses code of Agon.
"""

import csv
import glob
import json
import math
import os
import sys

import games
from games import expect

TOLERANCE = 2e-6
"""Tables round to six decimals."""


def read_json(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return json.load(file)


def read_games(folder):
    """The games of `games.csv`, in order; each has its place in the schedule and its seats."""
    found, last = [], None
    with open(os.path.join(folder, "games.csv"), newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = tuple(int(row[part]) for part in ("phase", "stage", "match", "game"))
            if key != last:
                found.append({"phase": key[0], "stage": key[1], "match": key[:3], "game": key[3], "part": int(row["part"]), "seats": []})
                last = key
            found[-1]["seats"].append(row)
    return found


def names(game):
    """The names of a game in seat order."""
    return [seat["name"] for seat in game["seats"]]


def number(row, column):
    return float(row[column])


def close(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return a is not None and b is not None and abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b))
    return a == b


def check_scores(game, scores, more=None):
    """Compares the scores of a game, and one more column, with what the export says."""
    for seat, row in enumerate(game["seats"]):
        expect(close(number(row, "score"), float(scores[seat])), "score", row, scores)
        better = sum(1 for score in scores if score > scores[seat])
        if "roles" not in game:
            expect(int(row["place"]) == better + 1, "place", row, scores)
        if more:
            column, values = more
            expect(close(number(row, column), float(values[seat])), column, row, values)


def of_phase(all_games, phase):
    return [game for game in all_games if game["phase"] == phase]


def matches(some):
    """Games by match, in order."""
    found = {}
    for game in some:
        found.setdefault(game["match"], []).append(game)
    return found


def rows_of(some, name):
    """The rows of an entrant in all games."""
    return [row for game in some for row in game["seats"] if row["name"] == name]


def mean(values):
    return sum(values) / len(values)


def ranked(entrants, key):
    """Entrants with their ranks, best first. Equals share a rank and stay in the order of the file."""
    order = sorted(entrants, key=key, reverse=True)
    return [(1 + sum(1 for other in entrants if key(other) > key(one)), one) for one in order]


def compare(table, sheet_id, expected):
    """Compares a table with the expected rows, all columns and the order included."""
    sheet = next((sheet for sheet in table["sheets"] if sheet["id"] == sheet_id), None)
    expect(sheet is not None and sheet["official"], "an official table", sheet_id)
    columns = [column["id"] for column in sheet["columns"]]
    expect([row["name"] for row in sheet["rows"]] == [row["name"] for row in expected], "order of", sheet_id, sheet["rows"], expected)
    for row, wanted in zip(sheet["rows"], expected):
        missing = [column for column in columns if column not in wanted]
        expect(not missing, "a column of table", sheet_id, "is not recomputed:", missing)
        for column in columns:
            expect(close(row[column], wanted[column]), sheet_id, column, row, wanted)


def own_time(own):
    """A bot's own mean time of an answer, in microseconds: without what empty answers cost."""
    charged = sum(number(one, "time_us") - number(one, "empty_us") for one in own)
    return max(0.0, charged) / max(1, sum(int(one["answers"]) for one in own))


def check_confidence(table, means, some):
    """The means are those of the table, and no interval is reversed."""
    for sheet in table["sheets"]:
        if not sheet["id"].startswith("confidence"):
            continue
        for row in sheet["rows"]:
            expect(close(row["mean"], means[row["name"]]), "mean", row, means)
            interval = row["interval"]
            if interval is not None:
                expect(interval["low"] <= row["mean"] + TOLERANCE and row["mean"] <= interval["high"] + TOLERANCE, "interval", row)
            own = rows_of(some, row["name"])
            time = own_time(own)
            expect(abs(row["time_us"] - time) < 0.01 * max(1.0, time), "time per answer", row, time)
            kinds = ("timeout", "crash", "illegal", "garbled")
            faults = {kind: sum(int(one[kind]) for one in own) for kind in kinds}
            text = ", ".join(f"{faults[kind]} {kind}" for kind in kinds if faults[kind]) or "none"
            expect(row["faults"] == text, "faults", row, text)


def check_pairs(table, some, points=None):
    """The results of all pairs."""
    entrants = {one["entrant"]: one["name"] for one in table["entrants"]}
    for pair in table["head_to_head"]:
        one, other = entrants[pair["one"]], entrants[pair["other"]]
        met = [game for game in some if one in names(game) and other in names(game)]
        expect(pair["games"] == len(met), "games of a pair", pair)
        places = [[int(game["seats"][names(game).index(name)]["place"]) for name in (one, other)] for game in met]
        counts = [sum(a < b for a, b in places), sum(a == b for a, b in places), sum(a > b for a, b in places)]
        expect([pair["won"], pair["drawn"], pair["lost"]] == counts, "won, drawn, lost of a pair", pair, counts)
        for at, name in enumerate((one, other)):
            scores = sum(number(row, "score") for game in met for row in game["seats"] if row["name"] == name)
            expect(close(pair["scores"][at], scores), "scores of a pair", pair, scores)
        if points:
            given = [points(name, rival) for name, rival in ((one, other), (other, one))]
            expect(all(close(a, float(b)) for a, b in zip(pair["points"], given)), "points of a pair", pair, given)


def check_counts(table, some):
    expect(table["games"] == len(some) and table["matches"] == len(matches(some)), "number of games and matches")


def won_drawn_lost(rows, some):
    """Games with the first place alone, with a shared one, and without it."""
    won = drawn = lost = 0
    for row in rows:
        game = next(game for game in some if row in game["seats"])
        first = [one for one in game["seats"] if one["place"] == "1"]
        if row["place"] != "1":
            lost += 1
        elif len(first) == 1:
            won += 1
        else:
            drawn += 1
    return {"won": won, "drawn": drawn, "lost": lost, "games": len(rows)}


def solitude_scramble(folder, rules, all_games, replays):
    history = list(read_json(folder, "history.json")["matches"].values())
    expect(len(history) == len(all_games), "matches in the history")
    for game, match in zip(all_games, history):
        expect(names(game) == match["players"] and len(game["seats"]) == 4, "players of a match")
        check_scores(game, games.solitude(match, rules["turns"]))
    for phase, least in enumerate(rules["matches"], 1):
        table, some = read_json(folder, f"table-{phase}.json"), of_phase(all_games, phase)
        expect(all(len(one) == 1 for one in matches(some).values()), "a match is one game")
        entrants = [one["name"] for one in table["entrants"]]
        rows = {name: rows_of(some, name) for name in entrants}
        played = {len(own) for own in rows.values()}
        expect(len(played) == 1 and least <= min(played) <= 1.5 * (least + 3), "all play the same number of matches", played)
        points = {name: sum(number(row, "score") for row in own) for name, own in rows.items()}
        appm = {name: points[name] / len(rows[name]) for name in entrants}
        wanted = [
            {"rank": rank, "name": name, "appm": appm[name], "points": points[name], "matches": len(rows[name])}
            for rank, name in ranked(entrants, lambda name: appm[name])
        ]
        compare(table, "leaderboard", wanted)
        check_counts(table, some)
        check_confidence(table, appm, some)


def colour_battle(folder, rules, all_games, replays):
    for game, replay in zip(all_games, replays):
        check_scores(game, games.colour_battle(replay, rules["rounds"]))
    table = read_json(folder, "table-1.json")
    entrants = [one["name"] for one in table["entrants"]]
    contributors = {one["name"]: one["contributor"] for one in table["entrants"]}
    expect(len(all_games) == rules["games"], "number of games", len(all_games))
    expect(all(len(one) == 1 for one in matches(all_games).values()), "a match is one game")
    expect(all(sorted(names(game)) == sorted(entrants) for game in all_games), "all bots in one arena")
    scores = {name: [number(row, "score") for row in rows_of(all_games, name)] for name in entrants}
    average = {name: mean(values) for name, values in scores.items()}
    time = {}
    for name in entrants:
        own = rows_of(all_games, name)
        time[name] = own_time(own)
    deviation = {
        name: math.sqrt(sum((value - average[name]) ** 2 for value in values) / (len(values) - 1)) for name, values in scores.items()
    }

    def efficiency(name):
        # A time below 1 us counts as 1 us.
        return average[name] / max(1.0, time[name])

    def row(rank, name):
        own = scores[name]
        return {
            "rank": rank, "name": name, "contributor": contributors[name], "time_us": time[name], "score": average[name],
            "efficiency": efficiency(name), "deviation": deviation[name], "best": max(own), "worst": min(own), "games": len(own),
        }

    official = [row(rank, name) for rank, name in ranked(entrants, lambda name: average[name])]
    compare(table, "score", official)
    compare(table, "spread", official)
    # The programs are in the ranking by efficiency. House bots run inside Agon: they may be left out.
    sheet = next(sheet for sheet in table["sheets"] if sheet["id"] == "efficiency")
    listed = [name for name in entrants if name in [row["name"] for row in sheet["rows"]]]
    expect(set(rules["programs"]) <= set(listed), "programs in the efficiency table", listed)
    compare(table, "efficiency", [row(rank, name) for rank, name in ranked(listed, efficiency)])
    histogram = table["histogram"]
    for counted in histogram["entrants"]:
        name = table["entrants"][counted["entrant"]]["name"]
        bars = [0] * len(counted["counts"])
        for value in scores[name]:
            bars[math.floor(round(value / histogram["width"], 6) - round(histogram["from"] / histogram["width"], 6))] += 1
        expect(counted["counts"] == bars, "histogram", name, counted["counts"], bars)
    check_counts(table, all_games)
    check_confidence(table, average, all_games)


def match_points(played, parts, lost_by):
    """Points of a Connect Five match, from the winners of its games ((part, winner or None) in order). Checks how many games each part has."""
    points, at = [0, 0], 0
    for part, (most, first_to) in enumerate(parts, 1):
        wins, count = [0, 0], 0
        while count < most and max(wins) < first_to and abs(wins[0] - wins[1]) <= most - count:
            if at == len(played):
                expect(lost_by is not None, "a part ended before it was decided", played)
                break
            expect(played[at][0] == part, "part of a game", played)
            if played[at][1] is not None:
                wins[played[at][1]] += 1
            count, at = count + 1, at + 1
        for seat in (0, 1):
            points[seat] += (wins[seat] > wins[1 - seat]) - (wins[seat] < wins[1 - seat])
    expect(at == len(played), "a game after the match was decided", played)
    if lost_by is not None:
        return [-len(parts) if seat == lost_by else len(parts) for seat in (0, 1)]
    return points


def connect_five(folder, rules, all_games, replays):
    table = read_json(folder, "table-1.json")
    logs = [read_json(path) for path in sorted(glob.glob(os.path.join(folder, "logs", "*.json")), key=log_number)]
    expect(len(logs) == len(all_games), "a log of every game")
    results = {}
    for game, replay, log in zip(all_games, replays, logs):
        scores, lost_by = games.connect_five(replay, log)
        check_scores(game, scores)
        results[id(game)] = (scores, lost_by)
    entrants = [one["name"] for one in table["entrants"]]
    total, against, homes = dict.fromkeys(entrants, 0), {}, []
    for played in matches(all_games).values():
        replayed = [replays[all_games.index(game)] for game in played]
        check_match_settings(replayed)
        outcomes = [results[id(game)] for game in played]
        expect(all(lost_by is None for _, lost_by in outcomes[:-1]), "a lost match ends at once")
        winners = [(game["part"], None if scores == [0.5, 0.5] else scores.index(1.0)) for game, (scores, _) in zip(played, outcomes)]
        points = match_points(winners, rules["parts"], outcomes[-1][1])
        home, away = names(played[0])
        homes.append((home, away))
        for one, other, given in ((home, away, points[0]), (away, home, points[1])):
            total[one] += given
            against[one, other] = against.get((one, other), 0) + given
    expect(sorted(homes) == sorted((a, b) for a in entrants for b in entrants if a != b), "all against all, home and away", homes)
    games_of = {name: won_drawn_lost(rows_of(all_games, name), all_games) for name in entrants}
    difference = {name: own["won"] - own["lost"] for name, own in games_of.items()}

    def pair_difference(one, other):
        met = [game for game in all_games if {one, other} == set(names(game))]
        own = won_drawn_lost([row for row in rows_of(met, one)], met)
        return own["won"] - own["lost"]

    def head_to_head(name, equals):
        others = [other for other in equals if other != name]
        return (sum(against[name, other] for other in others), sum(pair_difference(name, other) for other in others))

    def order(group, base, key):
        """Ranks of a group; equals are compared by their matches against each other."""
        found = []
        for rank, name in ranked(group, key):
            if any(name == done for _, done in found):
                continue
            equals = [other for other in group if key(other) == key(name)]
            if 1 < len(equals):
                inner = lambda one, equals=equals: head_to_head(one, equals)
                apart = len({inner(one) for one in equals}) > 1
                found += order(equals, base + rank - 1, inner) if apart else [(base + rank - 1, one) for one in equals]
            else:
                found.append((base + rank - 1, name))
        return found

    wanted = [
        {"rank": rank, "name": name, "points": float(total[name]), "difference": difference[name], "matches": 2 * (len(entrants) - 1), **games_of[name]}
        for rank, name in order(entrants, 1, lambda name: (total[name], difference[name]))
    ]
    compare(table, "league", wanted)
    check_counts(table, all_games)
    check_confidence(table, {name: total[name] / (2 * (len(entrants) - 1)) for name in entrants}, all_games)
    check_pairs(table, all_games, lambda one, other: against[one, other])


def log_number(path):
    """The number in the name of a log."""
    return int("".join(letter for letter in os.path.basename(path) if letter.isdigit()))


def check_match_settings(replayed):
    """The special columns, p and q stay for a match, the first move alternates, and the games of a match are counted."""
    drawn = [(game["frames"]["first"]["special"], game["frames"]["first"]["p"], game["frames"]["first"]["q"]) for game in replayed]
    expect(all(one == drawn[0] for one in drawn) and len(set(drawn[0][0])) == 2, "special columns of a match", drawn)
    settings = [game["header"]["settings"] for game in replayed]
    expect([one["first"] for one in settings] == [number % 2 for number in range(len(settings))], "first move of each game")
    expect([one["played"] for one in settings] == list(range(len(settings))), "games played so far (N)")


def hide_and_seek(folder, rules, all_games, replays):
    table = read_json(folder, "table-1.json")
    caught = {}
    for game, replay in zip(all_games, replays):
        steps, was_caught = games.hide_and_seek(replay, rules["steps"])
        game["roles"] = True
        check_scores(game, [steps, steps])
        expect([row["place"] for row in game["seats"]] == (["1", "2"] if was_caught else ["2", "1"]), "places", game)
        expect([row["role"] for row in game["seats"]] == ["seeker", "hider"], "roles", game)
        caught[id(game)] = was_caught
    roles = {row["name"]: row["role"] for game in all_games for row in game["seats"]}
    seekers, hiders = ([one["name"] for one in table["entrants"] if roles[one["name"]] == role] for role in ("seeker", "hider"))
    boards = {}
    for game, replay in zip(all_games, replays):
        start = replay["frames"]["first"]
        boards.setdefault(tuple(names(game)), []).append((start["map_seed"], start["game_seed"]))
    expect(sorted(boards) == sorted((a, b) for a in seekers for b in hiders), "every seeker against every hider")
    expect(len({tuple(sorted(seeds)) for seeds in boards.values()}) == 1, "the same boards for every pair", boards)
    expect(all(len(set(seeds)) == rules["boards"] for seeds in boards.values()), "games of a pair", boards)
    expect(all(len(one) == 1 for one in matches(all_games).values()), "a match is one game")
    steps = {name: mean([number(row, "score") for row in rows_of(all_games, name)]) for name in seekers + hiders}
    medals = {1: "gold", 2: "silver", 3: "bronze"}
    for sheet, entrants, sign in (("seekers", seekers, -1), ("hiders", hiders, 1)):
        wanted = []
        for rank, name in ranked(entrants, lambda name: sign * steps[name]):
            own = [game for game in all_games if name in names(game)]
            won = sum(caught[id(game)] == (sheet == "seekers") for game in own)
            wanted.append({
                "rank": rank, "medal": medals.get(rank), "name": name, "steps": steps[name],
                "caught": 100 * won / len(own), "games": len(own),
            })
        compare(table, sheet, wanted)
    check_counts(table, all_games)
    check_confidence(table, steps, all_games)


def racer_totals(some, entrants):
    """Points and word points of each entrant."""
    rows = {name: rows_of(some, name) for name in entrants}
    points = {name: sum(number(row, "score") for row in own) for name, own in rows.items()}
    word_points = {name: sum(number(row, "word points") for row in own) for name, own in rows.items()}
    return points, word_points


def racer_table(table, some):
    """Compares a table of points. Returns the order."""
    entrants = [one["name"] for one in table["entrants"] if rows_of(some, one["name"])]
    points, word_points = racer_totals(some, entrants)
    order = ranked(entrants, lambda name: (points[name], word_points[name]))
    wanted = [
        {"rank": rank, "name": name, "points": points[name], "word_points": word_points[name], **won_drawn_lost(rows_of(some, name), some)}
        for rank, name in order
    ]
    compare(table, "league", wanted)
    check_counts(table, some)
    check_confidence(table, {name: points[name] / len(rows_of(some, name)) for name in entrants}, some)
    check_pairs(table, some)
    return [name for _, name in order]


def word_racer(folder, rules, all_games, replays):
    with open(os.path.join(folder, "words.dat"), encoding="ascii") as file:
        words = set(file.read().split())
    for game, replay in zip(all_games, replays):
        scores, word_points = games.word_racer(replay, words)
        check_scores(game, scores, ("word points", word_points))
        game["start"] = (replay["frames"]["first"]["start"], replay["header"]["settings"]["first"])
    league = of_phase(all_games, 1)
    order = racer_table(read_json(folder, "table-1.json"), league)
    expect(all(len(one) == 1 for one in matches(all_games).values()), "a match is one game")
    for at, one in enumerate(order):
        for other in order[at + 1 :]:
            met = [game for game in league if {one, other} == set(names(game))]
            starts = sorted((game["start"][0], names(game)[game["start"][1]]) for game in met)
            wanted = sorted((letter, name) for letter in rules["letters"] for name in (one, other))
            expect(starts == wanted, "each pair plays each letter twice with the first move swapped", starts)
    cup = of_phase(all_games, 2)
    table = read_json(folder, "table-2.json")
    racer_table(table, cup)
    compare(table, "knockout", [{"place": place, "name": name} for place, name in enumerate(knockout(order, cup, rules), 1)])


def knockout(order, cup, rules):
    """Plays the bracket of the best four: first against fourth, second against third, third place, final."""
    best = order[: rules["top"]]

    def tie(one, other):
        met = [game for game in cup if {one, other} == set(names(game))]
        first = [game for game in met if game["stage"] == met[0]["stage"]]
        expect(len(first) == 2 * rules["pairs"], "games of a tie", len(first))
        extra = (len(met) - len(first)) // 2
        points, word_points = racer_totals(met, (one, other))
        a, b = ((points[name], word_points[name]) for name in (one, other))
        expect(extra <= rules["extra"], "extra pairs", extra)
        early, early_words = racer_totals(first, (one, other))
        level = early[one] == early[other] and early_words[one] == early_words[other]
        expect((extra > 0) == level, "extra pairs only for a level tie", early, early_words)
        better, worse = sorted((one, other), key=best.index)
        return (better, worse) if a == b or (a > b) == (one == better) else (worse, better)

    (a, out_a), (b, out_b) = tie(best[0], best[3]), tie(best[1], best[2])
    return list(tie(a, b)) + list(tie(out_a, out_b))


def main():
    game, folder, rules = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    all_games = read_games(folder)
    replays = read_json(folder, "replay.json")["games"]
    expect(len(all_games) == len(replays) > 0, "a record of every game", len(all_games), len(replays))
    for one, replay in zip(all_games, replays):
        expect(names(one) == [seat["name"] for seat in replay["header"]["seats"]], "order of records", one)
    # The functions are named after the games.
    globals()[game.replace("-", "_")](folder, rules, all_games, replays)
    print(f"{game}: {len(all_games)} games recomputed")


main()
