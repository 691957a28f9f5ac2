"""The check of a __TITLE__ bot's source."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional

from ...check_findings import Finding, Source, class_candidates
from ...loading import Target
from . import ENTRY_FUNCTION


def find_candidates(sources: List[Source]) -> List[Dict[str, Any]]:
    """The files with a class that has the method."""
    return class_candidates(sources, ENTRY_FUNCTION)


def find_roles(sources: List[Source], wanted: Optional[str]) -> List[str]:
    """None: all bots have the same role."""
    return []


def find_problems(sources: List[Source], target: Target) -> Iterator[Finding]:
    """FILL IN: what rejects a bot besides what loading finds."""
    return iter(())


def find_advice(sources: List[Source], wanted: Optional[str]) -> Iterator[Finding]:
    """FILL IN: what does not reject a bot but surprises its author later."""
    return iter(())
