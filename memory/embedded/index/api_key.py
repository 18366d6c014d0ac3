"""The key of the index: whoever may read its file may use the index."""

import secrets
from pathlib import Path


def load_api_key(path: Path) -> str:
    """The key of this folder, made at its first start, for its owner only."""
    if path.exists() and (key := path.read_text()):
        return key
    fresh = path.with_suffix(".new")
    fresh.touch(mode=0o600)
    fresh.write_text(secrets.token_urlsafe(32))
    fresh.replace(path)
    return path.read_text()
