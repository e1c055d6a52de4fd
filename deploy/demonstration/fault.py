# SPDX-License-Identifier: Apache-2.0
"""Something that a demonstration breaks, and the incident by which it should be known."""

from dataclasses import dataclass, field
from typing import Callable

from weft_client import ends_of, is_open


class NetworkError(RuntimeError):
    """The network that things are broken in did not do what was asked; the text says what."""


@dataclass
class Fault:
    """Something broken on purpose. `step` is called each second while it lasts."""

    title: str
    kinds: tuple[str, ...]
    ends: set[tuple[str, int]]  # what the incident must name: both ends of a link, or one of several; or (guid, 0) of a node
    begin: Callable[[], None]
    end: Callable[[], None]
    step: Callable[[int], None] = field(default=lambda second: None)
    damped: bool = False  # the incident outlives its cause on purpose
    host: str = ""  # what the incident must name instead: the collector of this host

    def found_in(self, incidents: list[dict]) -> dict | None:
        """The open incident that is this fault."""
        for incident in incidents:
            if incident.get("kind") in self.kinds and is_open(incident) and self.names_it(incident.get("cause", {})):
                return incident
        return None

    def names_it(self, cause: dict) -> bool:
        if self.host:
            return cause.get("host") == self.host
        guids = {guid for guid, port in self.ends if port == 0}
        if guids:
            return bool({cause.get("nodeGuid"), cause.get("peerGuid")} & guids)
        return bool(ends_of(cause)) and ends_of(cause) <= self.ends
