"""Random and timed faults, Telegram's own limits, and the log of calls."""

from typing import Any

import httpx
import pytest

from simulator.api.config import DEFAULT_TOKEN
from simulator.api.world import BEN, OLGA, WEEKEND_PLANS
from tests.contract.simulator_rig import served_simulator, simulator

pytestmark = pytest.mark.slow

SEND = f"/bot{DEFAULT_TOKEN}/sendMessage"


async def test_the_log_shows_each_call_and_its_result() -> None:
    async with served_simulator() as sim:
        sent = await sim.result("sendMessage", chat_id=OLGA, text="secret")
        await sim.people.fault("429", method="sendMessage", retry_after=7)
        await sim.call("sendMessage", chat_id=BEN, text="x")
        await sim.people.fault("cut", method="sendMessage")
        with pytest.raises(httpx.RemoteProtocolError):
            await sim.call("sendMessage", chat_id=BEN, text="x")
        await sim.call("getMe")
        calls = await sim.people.calls()
        newer = await sim.people.calls("SENDmessage", after=calls[0]["number"])
    fields = [(one["method"], one["chat_id"], one["outcome"], one["status"]) for one in calls]
    assert fields == [
        ("sendMessage", OLGA, "answered", 200),
        ("sendMessage", BEN, "answered", 429),
        ("sendMessage", BEN, "cut", 0),
        ("getMe", None, "answered", 200),
    ]
    assert [one["retry_after"] for one in calls] == [None, 7, None, None]
    assert calls[0]["message_id"] == sent["message_id"] < calls[2]["message_id"]
    assert calls[0]["at"] <= calls[0]["ended_at"] <= calls[1]["at"]
    assert "secret" not in str(calls)
    assert newer == calls[1:3]


async def test_a_lasting_fault_hits_randomly_until_it_is_removed() -> None:
    async with simulator() as sim:
        await sim.people.fault("429", method="sendMessage", probability=0.2, seed=5, retry_after=[1, 3])
        answers = [await sim.call("sendMessage", chat_id=OLGA, text="x") for _ in range(200)]
        await sim.people.no_faults()
        after = [await sim.call("sendMessage", chat_id=OLGA, text="x") for _ in range(50)]
    waits = [answer["parameters"]["retry_after"] for answer in answers if not answer["ok"]]
    assert 20 < len(waits) < 60
    assert set(waits) == {1, 2, 3}
    assert all(answer["ok"] for answer in after)


async def test_only_the_flooded_chat_is_held() -> None:
    async with simulator() as sim:
        await sim.people.fault("429", chat_id=OLGA, retry_after=5, hold=True)
        first = await sim.call("sendMessage", chat_id=OLGA, text="x")
        sim.clock.ahead_s = 3.5
        held = await sim.call("editMessageText", chat_id=OLGA, message_id=1, text="x")
        other = await sim.call("sendMessage", chat_id=BEN, text="x")
        sim.clock.ahead_s = 5.5
        free = await sim.call("sendMessage", chat_id=OLGA, text="x")
    assert (first["parameters"], held["parameters"]) == ({"retry_after": 5}, {"retry_after": 2})
    assert (other["ok"], free["ok"]) == (True, True)


async def test_a_fault_lasts_for_its_duration() -> None:
    async with simulator() as sim:
        await sim.people.fault("400", description="can't parse entities: unexpected end", for_ms=10_000)
        await sim.people.fault("403", description="user is deactivated", method="getChat")
        refusals = [await sim.refusal("sendMessage", chat_id=OLGA, text="x") for _ in range(2)]
        sim.clock.ahead_s = 11
        assert await sim.result("sendMessage", chat_id=OLGA, text="x")
        refusals.append(await sim.refusal("getChat", chat_id=OLGA))
    assert refusals == [
        "Bad Request: can't parse entities: unexpected end",
        "Bad Request: can't parse entities: unexpected end",
        "Forbidden: user is deactivated",
    ]


@pytest.mark.parametrize(("late", "texts"), [(False, ["x"]), (True, [])])
async def test_a_hanging_call_takes_effect(late: bool, texts: list[str]) -> None:
    async with served_simulator() as sim:
        await sim.people.fault("hang", method="sendMessage", seconds=0.3, late=late)
        with pytest.raises(httpx.ReadTimeout):
            await sim.http.post(SEND, json={"chat_id": OLGA, "text": "x"}, timeout=0.1)
        assert [one["text"] for one in await sim.messages(OLGA)] == texts
        # The log gets a call at its end: another one, which is as late, is there after it.
        await sim.people.fault("hang", method="getMe", seconds=0.3)
        await sim.result("getMe")
        calls = await sim.people.calls()
        assert [one["text"] for one in await sim.messages(OLGA)] == ["x"]
    assert [call["method"] for call in calls] == ["sendMessage", "getMe"]


@pytest.mark.parametrize(
    "body",
    [
        {"error": "429", "retry_after": [3, 1]},
        {"error": "429", "retry_after": 0},
        {"error": "500", "probability": 1.5},
        {"error": "nonsense"},
    ],
)
async def test_a_contradictory_fault_is_refused(body: dict[str, Any]) -> None:
    async with simulator() as sim:
        answer = await sim.http.post("/api/faults", json=body)
        assert await sim.result("getMe")
    assert answer.status_code == 422


async def test_real_limits_apply_if_they_are_configured() -> None:
    async with simulator(real_limits=True) as sim, simulator() as lax:
        strict = [await sim.call("sendMessage", chat_id=OLGA, text="x") for _ in range(6)]
        other = await sim.call("sendMessage", chat_id=WEEKEND_PLANS, text="x")
        held = await sim.call("editMessageText", chat_id=OLGA, message_id=1, text="y")
        typing = await sim.call("sendChatAction", chat_id=OLGA, action="typing")
        free = [await lax.call("sendMessage", chat_id=OLGA, text="x") for _ in range(40)]
    assert [answer["ok"] for answer in strict] == [True] * 5 + [False]
    assert strict[5]["parameters"] == held["parameters"] == {"retry_after": 1}
    assert (other["ok"], typing["ok"]) == (True, True)
    assert all(answer["ok"] for answer in free)
