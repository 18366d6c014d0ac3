"""Known secrets, and the search for them in all places that others can read."""

import base64
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chaos.rig.measures import children_of
from chaos.rig.store_scan import files_of


@dataclass(slots=True, kw_only=True)
class SecretScan:
    """The secrets by name, in all their encoded forms, and the places where they were found."""

    secrets: Mapping[str, str]
    leaks: set[str] = field(default_factory=set[str])
    read: int = 0

    def look(self, where: str, content: str | bytes) -> None:
        """Search this text."""
        raw = content.encode() if isinstance(content, str) else content
        self.read += len(raw)
        for name, secret in self.secrets.items():
            if any(form in raw for form in _forms(secret)):
                self.leaks.add(f"{name} in {where}")

    def look_into_files(self, paths: Iterable[Path]) -> None:
        """Search these files and folders."""
        for file in files_of(paths):
            with suppress(FileNotFoundError):  # removed meanwhile
                self.look(f"the file {file.name}", file.read_bytes())

    def look_at_processes(self, pids: Iterable[int], *, also_environment: bool) -> None:
        """Search the command lines of processes, and on request their environments."""
        for pid in pids:
            for name in ("cmdline", "environ") if also_environment else ("cmdline",):
                content = _of_process(pid, name)
                self.look(f"the {name} of {_of_process(pid, 'comm').decode().strip()}", content)


def _forms(secret: str) -> set[bytes]:
    """Return the secret in plain, URL and base64 form, at any position."""
    plain = {secret.encode(), quote(secret, safe="").encode()}
    return {form for form in plain | _as_base64(secret.encode()) if form}


def _as_base64(raw: bytes) -> set[bytes]:
    """Return the base64 characters of these bytes alone, for each of three alignments."""
    forms: set[bytes] = set()
    for before, first in enumerate((0, 2, 3)):
        whole = (before + len(raw)) // 3 * 4
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            forms.add(encode(bytes(before) + raw)[first:whole])
    return forms


def processes_with(*words: str) -> list[int]:
    """Return the ids of all processes with one of these in their command line."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            line = _of_process(int(entry.name), "cmdline").decode(errors="replace")
            if any(word in line for word in words):
                found.append(int(entry.name))
    return found


def descendants(pid: int) -> list[int]:
    """Return this process and its descendants."""
    found = [pid]
    for each in found:
        found += children_of(each)
    return found


def _of_process(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:  # it has ended
        return b""


@dataclass(slots=True)
class Collector:
    """A collector of OpenTelemetry traces that stores them as they arrive."""

    received: list[bytes] = field(default_factory=list[bytes])

    def app(self) -> Starlette:
        """Return the application to serve."""

        async def take(request: Request) -> Response:
            self.received.append(await request.body())
            return Response(status_code=200, media_type="application/x-protobuf")

        return Starlette(routes=[Route("/v1/traces", take, methods=["POST"])])
