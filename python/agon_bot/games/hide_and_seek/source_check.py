"""The check of a Hide and Seek bot's source."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, Iterator, List, Optional

from ...check_findings import Finding, Source, class_candidates
from ...loading import Target, classes_with
from . import ENTRY_FUNCTION
from .api import ROLES, fix_class_syntax


def find_candidates(sources: List[Source]) -> List[Dict[str, Any]]:
    """The files with a class that has the method."""
    return class_candidates(sources, ENTRY_FUNCTION)


def find_roles(sources: List[Source], wanted: Optional[str]) -> List[str]:
    """The roles that the bot has a class for. A class with another name that was asked for may play both."""
    if wanted is not None:
        return [wanted.lower()] if wanted in ROLES.values() else list(ROLES)
    sys.stderr = open(os.devnull, "w")  # the message about changed syntax is shown when the bot is loaded
    trees = [fix_class_syntax(source.tree) for source in sources if source.tree is not None]
    own = {name for tree in trees for name, _ in classes_with(tree, ENTRY_FUNCTION)}
    return [role for role, name in ROLES.items() if name in own]


def find_problems(sources: List[Source], target: Target) -> Iterator[Finding]:
    """None: loading the bot finds its problems."""
    return iter(())


def find_advice(sources: List[Source], wanted: Optional[str]) -> Iterator[Finding]:
    """None."""
    return iter(())
