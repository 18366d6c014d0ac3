"""Packs tiktoken's rank files into memory/ranks, after checking them against tiktoken's own hashes.

Usage: python scripts/build_token_ranks.py FOLDER, where FOLDER holds cl100k_base.tiktoken and
o200k_base.tiktoken, under these names or under those of tiktoken's cache (the SHA-1 of the file's address).
"""

import base64
import hashlib
import lzma
import sys
from pathlib import Path

from tiktoken_ext import openai_public

TARGET = Path(__file__).parent.parent / "memory" / "ranks"


def main(folder: Path) -> None:
    for name in ("cl100k_base", "o200k_base"):
        (TARGET / f"{name}.xz").write_bytes(pack(_read_checked(folder, name)))


def pack(raw: bytes) -> bytes:
    """Pack ranks. They count up from 0, so only their order is stored: a third less than the compressed original.

    The tokens' lengths, one byte each, with 0 at their end; then all tokens' bytes.
    """
    lines = [line.split() for line in raw.splitlines() if line]
    if [int(rank) for _, rank in lines] != list(range(len(lines))):
        raise ValueError("the ranks do not count up from 0")
    tokens = [base64.b64decode(token) for token, _ in lines]
    packed = bytes(len(token) for token in tokens) + b"\0" + b"".join(tokens)
    return lzma.compress(packed, preset=9 | lzma.PRESET_EXTREME)


def _read_checked(folder: Path, name: str) -> bytes:
    address, expected = _published(name)
    for file in (folder / f"{name}.tiktoken", folder / hashlib.sha1(address.encode()).hexdigest()):  # noqa: S324 - a name
        if file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == expected:
            return file.read_bytes()
    raise SystemExit(f"{folder} has no {name} with SHA-256 {expected}")


def _published(name: str) -> tuple[str, str]:
    seen: list[tuple[str, str]] = []

    def record(address: str, expected_hash: str) -> dict[bytes, int]:
        seen.append((address, expected_hash))
        return {}

    openai_public.load_tiktoken_bpe = record
    openai_public.ENCODING_CONSTRUCTORS[name]()
    return seen[0]


main(Path(sys.argv[1]))
