"""The page API answers any request with a result or one sentence, and the state stays readable."""

import json
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.api.config import SimulatorConfig
from simulator.service import create_app

pytestmark = pytest.mark.slow

FIELDS = {
    "messages": "text caption dice sticker poll location contact raw photo entities reply_to_message_id quote duration"
    " message_thread_id",
    "albums": "items",
    "edits": "message_id text entities",
    "forwards": "from_chat_id message_ids origin comment message_thread_id",
    "reactions": "message_id emoji",
    "callbacks": "message_id data any_data",
    "blocks": "blocked",
    "members": "action user_id",
    "titles": "title",
    "pins": "message_id",
    "deletions": "message_id",
    "topics": "message_thread_id name",
    "upgrades": "order",
    "faults": "error retry_after probability for_ms description method",
    "people": "first_name language_code is_bot",
    "chats": "title type members admins is_forum topics",
}
NUMBERS = st.sampled_from([1001, 1002, 4242, -2001, -1003001, 2, 3, 0, -1, 2**70])
TEXTS = st.sampled_from(["", "x", "👍", "\ud800", "SIMFILE1", "user", "hidden_user"])
VALUES: st.SearchStrategy[Any] = st.one_of(
    NUMBERS, TEXTS, st.none(), st.just({"type": "bold"}), st.just([{"offset": 1}, []])
)
LIKELY: dict[str, st.SearchStrategy[Any]] = {
    "action": st.sampled_from(["join", "leave", "add", "remove", "promote", "demote"]),
    "admins": st.lists(NUMBERS, max_size=3),
    "any_data": st.booleans(),
    "blocked": st.booleans(),
    "dice": st.just("🎲"),
    "error": st.sampled_from(["429", "400", "hang"]),
    "from_chat_id": NUMBERS,
    "members": st.lists(NUMBERS, max_size=3),
    "message_id": NUMBERS,
    "message_ids": st.lists(NUMBERS, max_size=3),
    "message_thread_id": NUMBERS,
    "order": st.sampled_from(["old_first", "new_first"]),
    "raw": st.dictionaries(TEXTS, TEXTS, max_size=2),
    "text": st.one_of(TEXTS, st.just("word " * 1000)),
    "type": st.sampled_from(["group", "supergroup"]),
    "user_id": NUMBERS,
}


def _body(path: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return a body with this path's fields, mostly of the right types."""
    who = {"blocks": ("chat_id",), "faults": (), "people": (), "chats": ()}.get(path, ("chat_id", "from_id"))
    return st.fixed_dictionaries(
        {name: st.sampled_from([1001, -2001, -1003001]) for name in who},
        optional={
            name: st.one_of(LIKELY.get(name, TEXTS), LIKELY.get(name, TEXTS), VALUES)
            for name in FIELDS[path].split()
        },
    )


@pytest.mark.parametrize("path", FIELDS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
async def test_any_request_is_answered(path: str, data: st.DataObject) -> None:
    body = data.draw(_body(path))
    transport = httpx.ASGITransport(create_app(SimulatorConfig(private_topics=True)))
    async with httpx.AsyncClient(base_url="http://simulator", transport=transport) as http:
        answer = await http.post(
            f"/api/{path}", content=json.dumps(body), headers={"content-type": "application/json"}
        )
        world = await http.get("/api/world")
    assert answer.status_code in {200, 400, 403, 404, 409, 422}
    assert answer.status_code == 200 or answer.json()["error"].endswith(".")
    assert world.status_code == 200
