"""The check of a Connect Five bot's source."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Optional

from ...check_findings import Finding, Source, class_candidates, missing_method_advice
from ...loading import Target, classes_with
from . import ENTRY_FUNCTION

OTHERWISE = "def train(self) is called after each match and def adjust(self) after each game, if the class has them"


def find_candidates(sources: List[Source]) -> List[Dict[str, Any]]:
    """The files with a class that has the method."""
    return class_candidates(sources, ENTRY_FUNCTION)


def find_roles(sources: List[Source], wanted: Optional[str]) -> List[str]:
    """None: all bots have the same role."""
    return []


def find_problems(sources: List[Source], target: Target) -> Iterator[Finding]:
    """None: loading the bot finds its problems."""
    return iter(())


def find_advice(sources: List[Source], wanted: Optional[str]) -> Iterator[Finding]:
    """Methods that the competition's document asks for, and a class that is not named like its file."""
    for source in sources:
        if source.tree is None:
            continue
        yield from missing_method_advice(source, wanted, ENTRY_FUNCTION, ("train",), OTHERWISE)
        stem = os.path.splitext(os.path.basename(source.name))[0]
        classes = [(n, line) for n, line in classes_with(source.tree, ENTRY_FUNCTION) if wanted in (None, n)]
        if len(classes) == 1 and classes[0][0] != stem:
            name, line = classes[0]
            what = f"class {name} is not named like its file"
            yield Finding(False, "advice", what, source.name, line, None, f"call the file {name}.py")
