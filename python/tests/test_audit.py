"""Solitude's bots of the warm parent, audited: all calls in one process, and once more when the game is over."""

import unittest

from talk import solitude
from test_lean import HONEST, NAMES, Lean, some_game
from warmth import pack_solitude

IN_AUDIT = """
import os, sys, time
OWN = os.getpid()
sys.modules["agon_bot.audits"].Audited.PATIENCE = 700
def get_action(state, match_history):
    audit = os.getpid() != OWN
    center = state["platform_scores"]["CENTER"]
    {}
"""
"""A bot that behaves otherwise when it is audited."""


class Audited(Lean):
    mode = "audited"

    def game(self, child, turns=5, seed=1, center=1):
        child.start(seed)
        replies = []
        for turn in range(1, turns + 1):
            seen = solitude(turn)
            seen["platform_scores"] = {**seen["platform_scores"], "CENTER": center}
            replies.append(child.turn(pack_solitude(seen)))
        return replies, child.ask(type="end").get("audit")

    def play(self, text, games=2, **more):
        child = self.seat(text)
        self.assertEqual(self.ready, {"protocol": 1})
        return [self.game(child, seed=seed, **more) for seed in range(1, games + 1)]

    def test_an_honest_bot_passes(self):
        games = self.play(HONEST)
        self.assertEqual([audit for _, audit in games], [{"same": True, "calls": 5}] * 2)

    def test_faults_are_answers_too(self):
        text = "def get_action(s, h):\n    return [1 / 0, 'UP', None, 'LEFT'][len(h) % 4] if h else h[0]\n"
        for replies, audit in self.play(text):
            self.assertEqual(audit, {"same": True, "calls": 5})
            self.assertEqual({reply.get("fault") for reply in replies}, {"crash"})

    def test_it_answers_like_strict(self):
        text = "import random\ndef get_action(s, h):\n    print(random.random(), s, h)\n    return random.choice(['LEFT', 'UP', 5])\n"
        outcomes = []
        for self.mode in ("strict", "audited"):
            child = self.seat(text)
            child.start()
            replies = [child.turn(pack_solitude(seen)) for seen in some_game(1)]
            outcomes.append((replies, child.said()))
        self.assertEqual(*outcomes)

    def test_a_bot_that_remembers_is_found_with_both_answers(self):
        text = "calls = 0\ndef get_action(s, h):\n    global calls\n    calls += 1\n    return ['LEFT', 'RIGHT', 'CENTER'][calls % 3]\n"
        replies, audit = self.play(text)[0]
        self.assertFalse(audit["same"])
        self.assertEqual(audit["first"], replies[audit["turn"] - 1]["answer"])
        self.assertIn(audit["again"], {"LEFT", "RIGHT", "CENTER"} - {audit["first"]})

    def test_a_bot_that_remembers_the_game_before_is_found(self):
        text = "seen = set()\ndef get_action(s, h):\n    new = len(h) not in seen\n    seen.add(len(h))\n    return 'LEFT' if new else 'RIGHT'\n"
        (_, first), (_, second) = self.play(text)
        self.assertEqual(first, {"same": True, "calls": 5})
        self.assertEqual((second["same"], second["first"], second["again"]), (False, "RIGHT", "LEFT"))

    def test_a_game_without_turns(self):
        child = self.seat(HONEST)
        child.start()
        self.assertEqual(child.ask(type="end"), {})

    def test_a_bot_may_change_what_it_gets(self):
        text = "def get_action(s, h):\n    answer = 'LEFT' if s['platform_scores'] and all(h) else 'RIGHT'\n    s.clear(); [turn.clear() for turn in h]\n    return answer\n"
        for replies, audit in self.play(text):
            self.assertEqual((replies, audit), ([{"answer": "LEFT"}] * 5, {"same": True, "calls": 5}))

    def test_a_call_without_an_answer_ends_the_bot(self):
        child = self.seat("import os\ndef get_action(s, h):\n    os._exit(5)\n")
        child.start()
        self.assertRaises(EOFError, child.turn, pack_solitude(solitude()))
        self.assertEqual(child.hear(), {"ended": 5 << 8})

    def test_a_bot_that_dies_in_the_audit(self):
        for body in ("os._exit(5)", "os.kill(os.getpid(), 9)", "os.kill(os.getpid(), 40)"):
            with self.subTest(body):
                child = self.seat(IN_AUDIT.format(f"if audit and center == 1: {body}\n    return 'LEFT'"))
                replies, audit = self.game(child)
                self.assertEqual((replies, audit["same"]), ([{"answer": "LEFT"}] * 5, False))
                self.assertEqual(self.game(child, center=2)[1], {"same": True, "calls": 5})

    # Known: the words stand for one call, the others gave "nothing", and the first of all that differ is shown.
    def test_how_it_died_in_the_audit_is_told(self):
        for seed in range(1, 6):
            child = self.seat(IN_AUDIT.format("if audit: os._exit(5)\n    return 'LEFT'"))
            self.assertEqual(self.game(child, seed=seed)[1]["again"], "exit code 5")

    def test_a_bot_that_hangs_in_the_audit(self):
        child = self.seat(IN_AUDIT.format("while audit: pass\n    return 'LEFT'"))
        replies, audit = self.game(child, turns=1)
        self.assertEqual(replies, [{"answer": "LEFT"}])
        self.assertEqual((audit["same"], audit["again"]), (False, "no answer in time"))

    def test_an_audit_that_is_late_is_not_taken_for_the_next(self):
        child = self.seat(IN_AUDIT.format("if audit and center == 1: time.sleep(1)\n    return 'LEFT' if center == 1 else 'RIGHT'"))
        self.assertFalse(self.game(child, turns=1)[1]["same"])
        # The process ends with its answer: the next game has another.
        with self.assertRaises((EOFError, BrokenPipeError, ConnectionResetError)):
            self.game(child, turns=1, center=2)

    def again(self, child, calls, seeds=(1, 2), patience=5000):
        """What calls of games with these seeds give, when the host asks for them: a game's number and what was seen."""
        calls = [[game, (bytes(12) + pack_solitude(seen)).hex()] for game, seen in calls]
        games = [[NAMES, "7", str(seed)] for seed in seeds]
        return child.ask(type="audit", patience_ms=patience, games=games, calls=calls)

    def test_a_host_that_keeps_the_calls_gets_the_same_in_any_order(self):
        text = "import random\ndef get_action(s, h):\n    h.append(1)\n    return random.choice(['LEFT', 'RIGHT', 'CENTER'])\n"
        child = self.seat(text)
        first, calls = [], []
        for number, seed in enumerate((1, 2)):
            child.start(seed)
            for seen in some_game(seed):
                first.append(child.turn(pack_solitude(seen))["answer"])
                calls.append([number, seen])
        self.assertEqual(len(set(first)), 3)
        for order in (range(12), reversed(range(12)), (3, 8, 3, 0)):
            order = list(order)
            self.assertEqual(self.again(child, [calls[n] for n in order]), {"again": [first[n] for n in order]})

    def test_the_calls_of_a_host_are_made_in_a_process_that_has_played_nothing(self):
        text = "calls = []\ndef get_action(s, h):\n    calls.append(1)\n    print('heard')\n    return 'LEFT' if len(calls) == 1 else 1 / 0\n"
        child = self.seat(text)
        self.game(child, turns=3)
        said = child.said()
        for _ in range(2):
            first, second = self.again(child, [[0, solitude(1)], [1, solitude(1)]])["again"]
            self.assertEqual((first, "ZeroDivisionError" in second), ("LEFT", True))
        self.assertEqual(child.said(), said, "what it prints was heard the first time")

    def test_calls_of_a_host_that_break_the_fork(self):
        child = self.seat(IN_AUDIT.format("if audit and center == 1: os._exit(5)\n    while audit and center == 2: pass\n    return 'LEFT'"))
        one, two, three = ({**solitude(1), "platform_scores": {**solitude(1)["platform_scores"], "CENTER": n}} for n in (1, 2, 3))
        self.assertEqual(self.again(child, [[0, three], [0, one]]), {"broken": "exit code 5"})
        self.assertEqual(self.again(child, [[0, three]]), {"again": ["LEFT"]})
        self.assertEqual(self.again(child, [[0, three], [0, two]], patience=500), {"broken": "no answer in time"})

    # Known: a turn in JSON is not kept for the audit.
    @unittest.expectedFailure
    def test_turns_in_json_are_audited(self):
        child = self.seat("calls = []\ndef get_action(s, h):\n    calls.append(1)\n    return 'LEFT' if len(calls) % 2 else 'RIGHT'\n")
        child.start()
        for seen in some_game(5, turns=4):
            child.ask(type="turn", limit_ms=1000, observation=seen)
        self.assertIn("audit", child.ask(type="end"))


if __name__ == "__main__":
    unittest.main()
