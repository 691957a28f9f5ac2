"""Makes Landlock rulesets with up to 20,000 rules, which take memory in the kernel.

Must happen: it is refused."""

import ctypes
import os

from attack import Attacker, call, reached


class Bot(Attacker):
    def attack(self):
        attributes = (ctypes.c_uint64 * 1)(4)
        made = []
        try:
            for _ in range(20):
                rules = call(444, attributes, 8, 0)
                for name in os.listdir("/usr/lib")[:1000]:
                    file = os.open(os.path.join("/usr/lib", name), os.O_PATH)
                    rule = (ctypes.c_uint32 * 3)(4, 0, file)
                    call(445, rules, 1, rule, 0)
                    os.close(file)
                    made.append(name)
        except OSError:
            pass
        if len(made) > 10:
            reached("rules in the kernel", len(made))
