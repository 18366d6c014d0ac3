"""Permissions of our user at the store: which one a reply says is missing, and since when."""

import re
from time import monotonic

from memory.errors import NotPermitted

_FORBIDDEN = re.compile(
    r"no permissions to run the '(?P<command>[^' ]+)|no permissions to access"
    r"|ACL failure in script(?:.* run the '(?P<inner>[^' ]+))?|user executing the script can't (?:run|access)",
    re.IGNORECASE,
)
"""Replies about a permission. The driver drops their code NOPERM, and errors of scripts have none."""


def permission_failure(text: str) -> NotPermitted | None:
    """Return the failure that names the command or the keys, None for a reply about something else."""
    found = _FORBIDDEN.search(text)
    if found is None:
        return None
    if command := found["command"] or found["inner"]:
        what = f"run {command.upper()}: allow it (ACL SETUSER … +{command.lower()})"
    elif "access" in found[0].lower():
        what = "access all of our keys: allow mnemogram:* (ACL SETUSER … ~mnemogram:*)"
    else:
        what = "run a command of our scripts: docs/operating.md has the permissions that we need"
    return NotPermitted(f"Redis lets the user of REDIS_URL not {what}")


class StorePermissions:
    """Remembers the newest refusal of one client."""

    def __init__(self) -> None:
        self._newest: tuple[float, NotPermitted] | None = None

    def note(self, reply: object) -> object:
        """Remember the reply if it is such a refusal, and return it."""
        if isinstance(reply, NotPermitted):
            self._newest = (monotonic(), reply)
        return reply

    def missing(self, *, within_s: float) -> NotPermitted | None:
        """Return the newest refusal, unless it is older than `within_s`."""
        at, failure = self._newest or (0.0, None)
        return failure if monotonic() - at < within_s else None
