"""The simulator answers any bot request in the Bot API's form and never breaks."""

import json
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.api.config import DEFAULT_TOKEN, SimulatorConfig
from simulator.api.methods.table import METHODS
from simulator.service import create_app

pytestmark = pytest.mark.slow

NUMBERS = st.one_of(
    st.sampled_from([0, 1, 2, -1, 1001, -2001, -1003001, -(2**63)]), st.integers(), st.floats()
)
TEXTS = st.one_of(
    st.text(max_size=20), st.sampled_from(["", "1001", "-1003001", "[]", "{}", "[{", "true", "http://[::1"])
)
OBJECTS = st.dictionaries(
    st.sampled_from(
        ["type", "offset", "length", "url", "user", "chat_id", "message_id", "inline_keyboard", "emoji"]
    ),
    st.one_of(NUMBERS, TEXTS, st.sampled_from(["bold", "chat_member", "text_link", "emoji"])),
    max_size=5,
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    NUMBERS,
    TEXTS,
    OBJECTS,
    st.lists(st.one_of(OBJECTS, TEXTS, NUMBERS), max_size=4),
)
FIELDS = (
    "action allowed_updates callback_query_id caption caption_entities chat_id commands document "
    "draft_id drop_pending_updates entities file_id"
    " language_code limit link_preview_options max_connections message_id message_thread_id offset parse_mode"
    " reaction reply_markup reply_parameters scope secret_token show_alert text url user_id"
)
CALLS = st.dictionaries(st.sampled_from(FIELDS.split()), VALUES, max_size=6)


@pytest.mark.parametrize("method", sorted(METHODS))
@settings(max_examples=25, deadline=None)
@given(parameters=CALLS)
async def test_any_call_is_answered(method: str, parameters: dict[str, Any]) -> None:
    transport = httpx.ASGITransport(create_app(SimulatorConfig()))
    async with httpx.AsyncClient(base_url="http://simulator", transport=transport) as http:
        answer = await http.post(
            f"/bot{DEFAULT_TOKEN}/{method}",
            content=json.dumps(parameters),
            headers={"content-type": "application/json"},
        )
    body = answer.json()
    assert body["ok"] is (answer.status_code == 200)
    assert answer.status_code in {200, 400, 409}
    assert body["ok"] or body["description"].startswith(("Bad Request: ", "Conflict: "))


@pytest.mark.parametrize(
    "body", ["[" * 100_000, '{"text":' * 100_000, '{"entities": "%s"}' % ("[" * 100_000)]
)
async def test_deep_nesting_is_refused(body: str) -> None:
    transport = httpx.ASGITransport(create_app(SimulatorConfig()))
    async with httpx.AsyncClient(base_url="http://simulator", transport=transport) as http:
        answer = await http.post(
            f"/bot{DEFAULT_TOKEN}/sendMessage", content=body, headers={"content-type": "application/json"}
        )
    assert (answer.status_code, answer.json()["ok"]) == (400, False)
