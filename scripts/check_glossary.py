#!/usr/bin/env python3
"""Finds old names in `crates`, `python` and `web`. `scripts/old_names.tsv` lists them with their replacements.

    scripts/check_glossary.py [--root DIR]     prints offences as FILE:LINE; exit code 1 if there is one

The columns of the list are separated by tabs: kind, where (paths separated by commas), old name, new name.

| kind | offence |
|---|---|
| `file` | the file or folder exists (`where` is empty; the old name is a path) |
| `path` | a file or folder below `where` has this name, without its ending |
| `type` | code below `where` defines a type (class, interface) with this name |
| `constant` | code below `where` defines a constant with this name |
| `name` | code or comments below `where` contain this identifier |

The kinds differ because many old names are ordinary words. `Table` or `Entry` is a good name in a library that we use, so only
its definition is an offence, and only in the crates where it was replaced. Old names of functions, fields and variables that are a
single word in lower case (`line`, `own`, `settle`) are not in the list at all: a search cannot tell them from other uses of the word.
A name that is old in one place and new in another one is left out where it is new.

Strings are not searched. Serialised names (JSON keys, `serde(rename)`, SQL, metrics, NATS subjects, routes) keep their spelling, and
they only occur in strings. Snapshots and other data files are not searched for the same reason. Text that users read is not checked
here.
"""

import argparse
import os
import re
import sys
from typing import Dict, Iterator, List, NamedTuple, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join("scripts", "old_names.tsv")
SEARCHED = ("crates", "python", "web")
SKIPPED_FOLDERS = {"node_modules", "dist", "target", "__pycache__", "snapshots", ".venv"}
ENDINGS = (".rs", ".py", ".ts", ".mjs", ".js", ".svelte")
KINDS = ("file", "path", "type", "constant", "name")

RUST_TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.S)
PYTHON_TOKENS = re.compile(r'#[^\n]*|""".*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
SCRIPT_TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|<!--.*?-->|`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
COMMENT_STARTS = ("//", "/*", "#", "<!--", '"""', "'''")
TYPE = re.compile(r"\b(?:struct|enum|trait|union|type|class|interface)\s+([A-Z]\w*)")
CONSTANT = re.compile(r"\b(?:const|static)\s+(?:mut\s+)?([A-Z][A-Z0-9_]*)\b|^([A-Z][A-Z0-9_]*)(?:\s*:[^=\n]+)?\s*=(?!=)", re.M)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


class OldName(NamedTuple):
    """A row of the list."""

    kind: str
    where: Tuple[str, ...]
    old: str
    new: str


def read_list(root: str) -> List[OldName]:
    """Reads the list. Exits with an error if a row is malformed."""
    rows = []
    with open(os.path.join(root, LIST), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            cells = line.rstrip("\n").split("\t")
            if len(cells) != 4 or cells[0] not in KINDS:
                sys.exit(f"error: {LIST}:{number}: expected kind, where, old name and new name\nhint: kinds: {', '.join(KINDS)}")
            rows.append(OldName(cells[0], tuple(filter(None, cells[1].split(","))), cells[2], cells[3]))
    return rows


def files(root: str) -> Iterator[str]:
    """All files that are searched, relative to the root."""
    for top in SEARCHED:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
            for name in sorted(names):
                if name.endswith(ENDINGS):
                    yield os.path.relpath(os.path.join(folder, name), root)


def without_strings(text: str, name: str, with_comments: bool) -> str:
    """The text with strings replaced by blanks, and comments too if they are not wanted. Line numbers stay the same."""
    tokens = RUST_TOKENS if name.endswith(".rs") else PYTHON_TOKENS if name.endswith(".py") else SCRIPT_TOKENS

    def blank(match: "re.Match[str]") -> str:
        token = match.group()
        if with_comments and token.startswith(COMMENT_STARTS):
            return token
        return re.sub(r"[^\n]", " ", token)

    return tokens.sub(blank, text)


def is_below(name: str, where: Tuple[str, ...]) -> bool:
    """Whether a file is in one of these folders, or is one of these files."""
    return any(name == place or name.startswith(place + "/") for place in where)


class Checker:
    """Looks up the names of a file in the list."""

    def __init__(self, rows: List[OldName]) -> None:
        self.by_kind: Dict[str, Dict[str, List[OldName]]] = {kind: {} for kind in KINDS}
        for row in rows:
            self.by_kind[row.kind].setdefault(row.old, []).append(row)

    def find(self, kind: str, word: str, name: str) -> Iterator[OldName]:
        """The rows that forbid a word in a file."""
        return (row for row in self.by_kind[kind].get(word, ()) if is_below(name, row.where))

    def check_text(self, text: str, name: str) -> Iterator[Tuple[int, OldName]]:
        """Offences in the text of a file, with their lines."""
        code = without_strings(text, name, with_comments=False)
        for kind, pattern in (("type", TYPE), ("constant", CONSTANT)):
            for match in pattern.finditer(code):
                word = next(group for group in match.groups() if group)
                for row in self.find(kind, word, name):
                    yield code.count("\n", 0, match.start()) + 1, row
        whole = without_strings(text, name, with_comments=True)
        for match in IDENTIFIER.finditer(whole):
            for row in self.find("name", match.group(), name):
                yield whole.count("\n", 0, match.start()) + 1, row

    def check_path(self, name: str) -> Iterator[Tuple[int, OldName]]:
        """Offences in the path of a file."""
        for part in name.split("/"):
            for row in self.find("path", part.split(".")[0], name):
                yield 1, row


def offences(root: str) -> List[str]:
    """All offences as lines of text."""
    rows = read_list(root)
    checker = Checker(rows)
    found = [
        f"{row.old}:1: this path has a new name: {row.new}"
        for row in rows
        if row.kind == "file" and os.path.exists(os.path.join(root, row.old))
    ]
    for name in files(root):
        with open(os.path.join(root, name), encoding="utf-8") as file:
            text = file.read()
        rows_by_place: Dict[Tuple[int, str, str], List[str]] = {}
        for line, row in [*checker.check_path(name), *checker.check_text(text, name)]:
            news = rows_by_place.setdefault((line, row.kind, row.old), [])
            if row.new not in news:
                news.append(row.new)
        for (line, kind, old), news in sorted(rows_by_place.items()):
            label = "name" if kind == "name" else f"{kind} name"
            found.append(f"{name}:{line}: old {label} {old}; use {' or '.join(news)}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=ROOT, help="folder of the project")
    found = offences(parser.parse_args().root)
    print("\n".join([*found, f"error: {len(found)} old names"]) if found else "no old names")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
