"""Signed receipts of erasures: an HMAC over all fields, and one over each, which tells what was changed."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

_SEALS, _SIGNATURE = "seals", "signature"
KIND = "mnemogram erasure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of a check of a receipt."""

    is_true: bool
    changed: tuple[str, ...] = ()
    """Fields that were changed, added or taken away, as far as they are known."""
    reason: str = ""
    """The reason why it is none of ours, if the fields do not tell."""


def sign(secret: bytes, fields: Mapping[str, Any]) -> str:
    """Return the receipt's file with these fields of plain JSON. `id` keeps seals of other receipts apart."""
    seals = {name: _seal(secret, fields, name) for name in fields}
    whole: dict[str, Any] = {"kind": KIND, **fields, _SEALS: seals}
    return json.dumps({**whole, _SIGNATURE: _sign(secret, whole)}, indent=1, ensure_ascii=False) + "\n"


def verify(secret: bytes, text: str) -> Verdict:
    """Return whether the installation with this secret has written this file, and what was changed since."""
    try:
        document: Any = json.loads(text, object_pairs_hook=_once_each)
    except (ValueError, RecursionError):
        return Verdict(is_true=False, reason="this is not JSON, so it is no receipt of ours")
    if not isinstance(document, dict):
        return Verdict(is_true=False, reason="this is no receipt of ours")
    given = cast("dict[str, Any]", document)
    seals, signature = given.get(_SEALS), given.pop(_SIGNATURE, None)
    if given.get("kind") != KIND or not isinstance(seals, dict) or not isinstance(signature, str):
        return Verdict(is_true=False, reason="this is no receipt of ours")
    if hmac.compare_digest(signature.encode(errors="replace"), _sign(secret, given).encode()):
        return Verdict(is_true=True)
    fields = {name: value for name, value in given.items() if name not in ("kind", _SEALS)}
    known = cast("dict[str, Any]", seals)
    names = dict.fromkeys([*fields, *known])
    changed = tuple(each for each in names if known.get(each) != _seal(secret, fields, each))
    if len(changed) == len(names):
        return Verdict(is_true=False, reason="another installation has written it, or everything was changed")
    return Verdict(is_true=False, changed=changed or (_SIGNATURE,))


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises ValueError for one with a name twice: readers would take either value."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError
    return fields


def _seal(secret: bytes, fields: Mapping[str, Any], name: str) -> str:
    """Return the short HMAC of one field."""
    if name not in fields:
        return ""
    return _sign(secret, {"id": fields.get("id"), "field": name, "value": fields[name]})[:16]


def _sign(secret: bytes, fields: Mapping[str, Any]) -> str:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hmac.new(b"receipts" + secret, text.encode(), hashlib.sha256).hexdigest()
