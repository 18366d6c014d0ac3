"""The folder beside the store with copies of its tombstones (memory/tombstones.py), so that they outlive it."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.folders import denial_advice

FOLDER = "erasures"
"""The folder in DATA_DIR."""
_SECRET, _TOMBSTONES = "secret", "tombstones"


@dataclass(frozen=True, slots=True)
class Tombstone:
    """One tombstone with its partition and its time (Unix seconds)."""

    partition: int
    name: str
    at: float


Plot = dict[str, Tombstone]
"""Tombstones by name, the newest of each."""


@dataclass(frozen=True, slots=True)
class TombstoneFolder:
    """The copies beside the store: a secret and its tombstones for each installation whose store was used here."""

    path: Path

    def newest_secret(self) -> str:
        """Return the secret that was written here last; "" if there is none."""
        secrets = sorted(self._files(_SECRET), key=lambda each: each.stat().st_mtime)
        return secrets[-1].read_text("ascii").strip() if secrets else ""

    def save_secret(self, secret: bytes) -> None:
        """Write the secret, readable by us alone. Raises OSError."""
        file = self._file(_SECRET, secret)
        if file.exists():
            return
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = file.with_name(f".{file.name}-{os.getpid()}")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
            stream.write(secret.hex().encode() + b"\n")
            os.fsync(stream.fileno())
        part.replace(file)

    def append(self, secret: bytes, found: Sequence[Tombstone]) -> str:
        """Append tombstones, on the disk when this returns. Return why that failed, or ""."""
        lines = "".join(f"{each.partition} {each.name} {each.at:.6f}\n" for each in found)
        try:
            self.save_secret(secret)
            file = self._file(_TOMBSTONES, secret)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
            with os.fdopen(os.open(file, flags, 0o600), "r+b", buffering=0) as stream:
                end = stream.seek(0, os.SEEK_END)
                is_torn = end > 0 and os.pread(stream.fileno(), 1, end - 1) != b"\n"
                text = ("\n" if is_torn else "").encode() + lines.encode()
                if stream.write(text) != len(text):
                    return "No space left on device"
                os.fsync(stream.fileno())
        except OSError as error:
            return f"{error.strerror or error}{denial_advice(error, self.path)}"
        return ""

    def load(self) -> dict[bytes, Plot]:
        """Return the newest tombstone of each name, for each secret. Torn lines are left out."""
        plots: dict[bytes, Plot] = {}
        for file in self._files(_SECRET):
            secret = bytes.fromhex(file.read_text("ascii").strip())
            plot = plots.setdefault(secret, {})
            for each in self._lines(secret):
                if each.name not in plot or plot[each.name].at < each.at:
                    plot[each.name] = each
        return plots

    def _lines(self, secret: bytes) -> Iterator[Tombstone]:
        file = self._file(_TOMBSTONES, secret)
        if not file.exists():
            return
        with file.open(encoding="ascii", errors="replace") as stream:
            for line in stream:
                words = line.split()
                if line.endswith("\n") and len(words) == 3 and words[0].isdecimal() and _is_time(words[2]):
                    yield Tombstone(int(words[0]), words[1], float(words[2]))

    def _file(self, kind: str, secret: bytes) -> Path:
        return self.path / f"{kind}-{hashlib.sha256(secret).hexdigest()[:8]}"

    def _files(self, kind: str) -> list[Path]:
        return sorted(self.path.glob(f"{kind}-????????"))


def _is_time(word: str) -> bool:
    return word.replace(".", "", 1).isdecimal()
