"""Every strategy with JSON lines: `python3 json_lines.py STRATEGY`."""

import json
import sys

import strategies

chaser, sweeper, racer = strategies.Chaser(), None, None


def second_best(seen):
    return strategies.second_best(seen["platform_scores"], seen["sides"][seen["seat"]])


def wary(seen):
    blanks = sum(turn["awards"][seen["seat"]] == 0 for turn in seen["history"])
    return strategies.wary(seen["platform_scores"], seen["sides"][seen["seat"]], blanks)


def taker(seen):
    others = {tuple(bot["position"]) for bot in seen["enemies"] if bot["id"] != seen["id"]}
    info = seen["game_info"]
    place = tuple(seen["position"])
    return strategies.taker(seen["id"], place, seen["grid"], others, info["current_round"], info["grid_size"])


def sweep(seen):
    return sweeper.step(tuple(seen["position"]), len(seen["grid"]))


def gatherer(seen):
    return strategies.gatherer(seen["board"], seen["player"], seen["N"])


def stacker(seen):
    return strategies.stacker(seen["board"])


def hide(seen):
    walls = {(x, y) for x in range(20) for y in range(20) if seen["game_map"][x][y]}
    pos, there = tuple(seen["pos"]), tuple(seen["enemy_pos"])
    if seen["role"] == "hider":
        return strategies.running_hider(walls, pos, there)
    return chaser.step(walls, pos, there, seen["enemy_is_visible"])


def z_racer(seen):
    letter = seen["letter"] or "Z"
    position = racer.position(seen["board"], letter)
    return position if seen["letter"] else f"{letter} {position}"


think = globals()[sys.argv[1]]
if think is z_racer:
    racer = strategies.ZRacer()
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "bye":
        break
    reply = {"id": message["id"]}
    if message["type"] == "start":
        chaser, sweeper = strategies.Chaser(), strategies.Sweeper(int(message["seed"]))
    elif message["type"] == "turn":
        reply["answer"] = think(message["observation"])
    print(json.dumps(reply), flush=True)
