#!/usr/bin/env python3
"""Lists type names that several crates define, and checks that `docs/type-names.md` gives a reason for each of them.

    scripts/list_shared_type_names.py [--root DIR] [--fix]     prints each name with its crates; exit code 1 if a reason is missing or outdated

A type is a `struct`, `enum`, `trait`, `union` or `type` in a crate's `src` folder, public or private, outside of test modules. Associated
types (`type Output = ...;` in an `impl` or `trait`) are not definitions of a new name and are left out, and so are types inside functions.
Each row of the table in `docs/type-names.md` has the name, the crates, and the reason. A row is outdated if its name is no longer shared,
or if the crates have changed. `--fix` removes such rows and corrects the crates; check afterwards that the reasons are still true.
"""

import argparse
import os
import re
import sys
from typing import Dict, List, Set

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check_glossary import ROOT, without_strings  # noqa: E402

TABLE = os.path.join("docs", "type-names.md")
DEFINITION = re.compile(r"\b(?:struct|enum|trait|union|type)\s+([A-Z]\w*)")
BLOCK_START = re.compile(r"\b(impl|trait|fn)\b[^;{}]*$", re.S)
TEST_MODULE = re.compile(r"#\[cfg\((?:test|all\(test[^\]]*)\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*$", re.S)


def type_names(code: str) -> Set[str]:
    """The types that a Rust file defines. `code` is without strings and comments."""
    found: Set[str] = set()
    hidden: List[bool] = [False]
    start = 0
    for match in re.finditer(r"[{};]", code):
        head = code[start : match.start()]
        start = match.end()
        if not hidden[-1]:
            found.update(DEFINITION.findall(head)[:1])
        if match.group() == "{":
            hidden.append(hidden[-1] or bool(BLOCK_START.search(head) or TEST_MODULE.search(head)))
        elif match.group() == "}" and len(hidden) > 1:
            hidden.pop()
    return found


def shared_names(root: str) -> Dict[str, List[str]]:
    """The names that at least two crates define, with the crates."""
    crates_of: Dict[str, Set[str]] = {}
    crates = os.path.join(root, "crates")
    for crate in sorted(os.listdir(crates)):
        for folder, folders, names in os.walk(os.path.join(crates, crate, "src")):
            # Starters are templates of bots, not code of the crate.
            folders[:] = [name for name in folders if name != "starters"]
            for name in names:
                if not name.endswith(".rs") or name == "tests.rs":
                    continue
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    code = without_strings(file.read(), name, with_comments=False)
                for type_name in type_names(code):
                    crates_of.setdefault(type_name, set()).add(crate)
    return {name: sorted(crates) for name, crates in sorted(crates_of.items()) if len(crates) > 1}


def reasons(root: str) -> Dict[str, List[str]]:
    """The names in the table, with their crates. Exits with an error if a row has no reason."""
    rows: Dict[str, List[str]] = {}
    with open(os.path.join(root, TABLE), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if not line.startswith("| `"):
                continue
            if len(cells) != 3 or not all(cells):
                sys.exit(f"error: {TABLE}:{number}: expected a name, its crates and a reason")
            rows[cells[0].strip("`")] = sorted(crate.strip(" `") for crate in cells[1].split(","))
    return rows


def fix_table(root: str, shared: Dict[str, List[str]]) -> None:
    """Removes the rows of names that are not shared any more, and corrects the crates in the other rows."""
    path = os.path.join(root, TABLE)
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    fixed = []
    for line in lines:
        name = line.split("`")[1] if line.startswith("| `") else ""
        if name and name not in shared:
            continue
        if name:
            cells = line.split("|")
            cells[2] = f" {', '.join(f'`{crate}`' for crate in shared[name])} "
            line = "|".join(cells)
        fixed.append(line)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(fixed) + "\n")


def problems(shared: Dict[str, List[str]], argued: Dict[str, List[str]]) -> List[str]:
    """Differences between the code and the table."""
    found = []
    for name, crates in shared.items():
        if name not in argued:
            found.append(f"{name} is defined in {', '.join(crates)}: rename it, or add a row with the reason to {TABLE}")
        elif argued[name] != crates:
            found.append(f"{name} is defined in {', '.join(crates)}, but {TABLE} says {', '.join(argued[name])}")
    found += [f"{name} is not shared any more: remove its row from {TABLE}" for name in argued if name not in shared]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=ROOT, help="folder of the project")
    parser.add_argument("--fix", action="store_true", help="correct the crates in the table and remove outdated rows")
    options = parser.parse_args()
    root = options.root
    shared = shared_names(root)
    if options.fix:
        fix_table(root, shared)
    for name, crates in shared.items():
        print(f"{name}: {', '.join(crates)}")
    found = problems(shared, reasons(root))
    for problem in found:
        print(f"error: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
