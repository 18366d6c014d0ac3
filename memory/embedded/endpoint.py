"""The port on which a server of a folder listens, as recorded by the guardian that opened it."""

from pathlib import Path


def load_port(record: Path) -> int:
    """The recorded port; 0 where none, or none that a server of ours could have, is recorded."""
    try:
        port = int(record.read_text())
    except (FileNotFoundError, ValueError):
        return 0
    return port if 1024 <= port <= 65535 else 0


def save_port(record: Path, port: int) -> None:
    """Record a port; a reader sees the old one or the new one."""
    fresh = record.with_suffix(".new")
    fresh.write_text(str(port))
    fresh.replace(record)
