"""`POST /telegram/webhook` over real HTTP: its responses, and when they are sent."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable

import pytest
from structlog.testing import capture_logs

from bot.settings import WEBHOOK_PATH
from bot.transport import http_server
from bot.transport.http_server import BODY_LIMIT, SECRET_HEADER
from bot.transport.ingest import telegram_ref
from memory import keys
from memory.redis.client import RedisClient, open_redis
from tests.contract.webhook_rig import SECRET, make_message_update, make_post, served_webhook
from tests.redis_values import all_values
from tests.store_proxy import redis_proxy

BOX = keys.context_key(telegram_ref(4242, 7, None, partitions=1), "box")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the wait for bodies that are refused unread."""
    monkeypatch.setattr(http_server, "UNREAD_WAIT_S", 0.1)


async def test_an_update_is_stored_before_the_response(redis: RedisClient) -> None:
    async with served_webhook(redis) as endpoint:
        answer = await endpoint.push(make_message_update(1))

        assert (answer.status_code, answer.json()["outcome"]) == (200, "accepted")
        assert await redis.call("ZRANGE", BOX, 0, -1) == ["1"]


async def test_a_duplicate_is_accepted_and_stored_once(redis: RedisClient) -> None:
    async with served_webhook(redis) as endpoint:
        await endpoint.push(make_message_update(1))
        answer = await endpoint.push(make_message_update(1))

        assert (answer.status_code, answer.json()["outcome"]) == (200, "duplicate")
        assert await redis.call("ZCARD", BOX) == 1


@pytest.mark.parametrize(
    ("update", "reason"),
    [
        ({"poll": {"id": "1"}}, "unused_kind"),
        ({"something_of_next_year": {"a": 1}}, "unknown_kind"),
        ({}, "unknown_kind"),
        ({"edited_channel_post": make_message_update()["message"]}, "channel_post"),
        ({"message": {"message_id": 3}}, "no_message"),
        ({"message": "not an object"}, "no_message"),
        ({"message": None}, "no_message"),
        ({"callback_query": {"id": "1", "data": "other", "from": {"id": 7}}}, "no_message"),
    ],
)
async def test_an_unused_update_is_accepted_and_ignored_with_a_reason(
    redis: RedisClient, update: dict[str, object], reason: str
) -> None:
    async with served_webhook(redis) as endpoint:
        answer = await endpoint.push({"update_id": 1, **update})

        assert (answer.status_code, answer.json()["outcome"]) == (200, "ignored")
        state = await redis.call("HMGET", keys.partition_key(0, "update", 1), "state", "reason")
        assert state == ["ignored", reason]


@pytest.mark.parametrize(
    "secret",
    [
        None,
        "",
        "wrong",
        SECRET + "x",
        SECRET[:-1],
        SECRET.upper(),
        "thé-secret".encode("latin-1"),
        "the-secret_\uff10".encode(),
        b"\xff\xfe",
    ],
)
async def test_a_request_without_the_secret_is_refused(
    redis: RedisClient, secret: str | bytes | None
) -> None:
    async with served_webhook(redis) as endpoint:
        answer = await endpoint.push(make_message_update(1), secret=secret)

        assert answer.status_code == 401
        assert await all_values(redis) == {}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"hello",
        b"{",
        b'{"update_id": 1',
        b"[]",
        b"null",
        b"7",
        b'"update_id"',
        b"{}",
        b'{"update_id": "1"}',
        b'{"update_id": true}',
        b'{"update_id": null}',
        b'{"update_id": 1.0}',
        b'{"update_id": [1]}',
        b'{"update_id": %d}' % (1 << 53),
        b'{"update_id": -%d}' % (1 << 53),
        b'{"update_id": %s}' % (b"9" * 5000),
        b'{"update_id": 1, "text": "\xff"}',
        b'{"update_id": 1, "deep": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    ],
    ids=lambda body: repr(body[:30]),
)
async def test_a_body_that_is_no_update_is_refused(redis: RedisClient, body: bytes) -> None:
    async with served_webhook(redis) as endpoint:
        answer = await endpoint.push(body)

        assert answer.status_code == 400
        assert await all_values(redis) == {}


@pytest.mark.parametrize("depth", range(900, 1000, 3))
async def test_deep_nesting_never_fails_the_webhook(redis: RedisClient, depth: int) -> None:
    """Parsing JSON takes less of the stack than writing it."""
    deep = b"[" * depth + b"]" * depth
    message = json.dumps(make_message_update()["message"]).encode()
    async with served_webhook(redis) as endpoint:
        answer = await endpoint.push(b'{"update_id":1,"deep":' + deep + b',"message":' + message + b"}")

    assert answer.status_code in {200, 400}


async def test_one_mebibyte_is_accepted(redis: RedisClient) -> None:
    bare = len(json.dumps(make_message_update(1, "")))
    async with served_webhook(redis) as endpoint:
        answer = await endpoint.push(make_message_update(1, "a" * (BODY_LIMIT - bare)))

    assert answer.status_code == 200


async def test_a_client_that_ends_its_connection_gets_its_confirmation_first(redis: RedisClient) -> None:
    async with served_webhook(redis) as endpoint:
        answer = await endpoint.push(make_message_update(1), secret=SECRET, extra={"Connection": "close"})

        assert (answer.status_code, answer.json()["outcome"]) == (200, "accepted")
        assert answer.headers["connection"] == "close"


async def test_requests_in_a_row_are_confirmed_in_their_order(redis: RedisClient) -> None:
    async with served_webhook(redis) as endpoint:
        updates = [make_message_update(1), make_message_update(1), {"update_id": 2}]
        answers = await endpoint.push_in_a_row(updates)

        assert [answer["outcome"] for answer in answers] == ["accepted", "duplicate", "ignored"]


@pytest.mark.usefixtures("impatient")
async def test_one_byte_more_is_refused_before_the_body_is_read(redis: RedisClient) -> None:
    async with served_webhook(redis) as endpoint:
        answer = await endpoint.push_raw({"Content-Length": str(BODY_LIMIT + 1)}, b"")

    assert (answer.status, answer.is_closed) == (413, True)


@pytest.mark.usefixtures("impatient")
async def test_chunks_are_refused_when_they_exceed_the_limit(redis: RedisClient) -> None:
    chunk = b"%x\r\n%s\r\n" % (BODY_LIMIT + 1, b"a" * (BODY_LIMIT + 1))
    async with served_webhook(redis) as endpoint:
        answer = await endpoint.push_raw({"Transfer-Encoding": "chunked"}, chunk)

    assert (answer.status, answer.is_closed) == (413, True)


@pytest.mark.usefixtures("impatient")
async def test_a_body_without_the_secret_is_not_waited_for(redis: RedisClient) -> None:
    async with served_webhook(redis) as endpoint:
        answer = await endpoint.push_raw({"Content-Length": "1000", SECRET_HEADER: "wrong"}, b"{")

    assert (answer.status, answer.is_closed) == (401, True)


async def test_a_complete_request_without_the_secret_keeps_the_connection_open(redis: RedisClient) -> None:
    async with served_webhook(redis) as endpoint:
        answer = await endpoint.push(make_message_update(1), secret="wrong")

    assert (answer.status_code, answer.headers.get("connection")) == (401, None)


async def test_strangers_posts_between_updates_are_answered_in_their_order(redis: RedisClient) -> None:
    posts = [make_post(make_message_update(at), "wrong" if at % 2 else SECRET) for at in range(1, 7)]
    async with served_webhook(redis) as endpoint:
        statuses = await endpoint.push_bytes(b"".join(posts), answers=6)

    assert statuses == [401, 200, 401, 200, 401, 200]


@pytest.mark.parametrize("cut", [20, 70, -1])
async def test_a_strangers_post_that_comes_in_pieces_is_refused_once(redis: RedisClient, cut: int) -> None:
    post = make_post({"update_id": 1}, "wrong")
    async with served_webhook(redis) as endpoint:
        statuses = await endpoint.push_bytes(post[:cut], post[cut:], answers=1)
        ready = (await endpoint.http.get("/health/ready")).json()

    assert statuses == [401]
    assert "all posts so far (1) were refused" in ready["cautions"]["webhook"]


async def test_a_slow_body_is_refused(redis: RedisClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "BODY_WITHIN_S", 0.1)
    monkeypatch.setattr(http_server, "UNREAD_WAIT_S", 0.1)
    async with served_webhook(redis) as endpoint:
        answer = await endpoint.push_raw({"Content-Length": "1000"}, b"{")

    assert (answer.status, answer.is_closed) == (408, True)
    assert await all_values(redis) == {}


@pytest.mark.parametrize(("secret", "status"), [(SECRET, 413), ("wrong", 401)])
async def test_a_client_that_is_still_sending_gets_the_refusal(
    redis: RedisClient, secret: str, status: int
) -> None:
    async with served_webhook(redis) as endpoint:
        answers = [
            (
                await endpoint.http.post(
                    WEBHOOK_PATH, content=_chunks(3), headers={SECRET_HEADER: secret}, timeout=20
                )
            ).status_code
            for _ in range(3)
        ]

    assert answers == [status] * 3


async def test_an_endless_body_is_cut_off(redis: RedisClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "UNREAD_LIMIT", BODY_LIMIT)
    monkeypatch.setattr(http_server, "UNREAD_WAIT_S", 60)
    async with served_webhook(redis) as endpoint, asyncio.timeout(10):
        with pytest.raises(ConnectionError):
            await _send_without_end(endpoint.port)


async def test_other_methods_and_paths_are_refused(redis: RedisClient) -> None:
    async with served_webhook(redis) as endpoint:
        assert (await endpoint.http.get(WEBHOOK_PATH)).status_code == 405
        assert (await endpoint.http.post("/telegram/webhook/other")).status_code == 404


async def test_before_the_bot_knows_its_id_telegram_is_asked_to_retry(redis: RedisClient) -> None:
    async with served_webhook(redis, is_ready=False) as endpoint:
        answer = await endpoint.push(make_message_update(1))

    assert answer.status_code == 503
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


async def test_an_unavailable_store_is_reported_and_its_return_needs_no_restart(redis_url: str) -> None:
    async with (
        redis_proxy(redis_url) as way,
        open_redis(way.redis_url) as redis,
        served_webhook(redis) as endpoint,
    ):
        await redis.call("FLUSHALL")
        assert (await endpoint.push(make_message_update(1))).status_code == 200
        await way.cut()

        refused = await endpoint.push(make_message_update(2))

        assert refused.status_code == 503
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        await way.mend()
        assert (await endpoint.push(make_message_update(2))).json()["outcome"] == "accepted"
        assert await redis.call("ZRANGE", BOX, 0, -1) == ["1", "2"]


async def test_a_full_store_is_reported_and_nothing_is_half_stored(redis: RedisClient) -> None:
    async with served_webhook(redis) as endpoint:
        await endpoint.push(make_message_update(1))
        before = await all_values(redis)
        await redis.call("CONFIG", "SET", "maxmemory", "1")
        try:
            refused = await endpoint.push(make_message_update(2))
        finally:
            await redis.call("CONFIG", "SET", "maxmemory", "0")

        assert refused.status_code == 503
        assert "Retry-After" in refused.headers
        assert await all_values(redis) == before
        assert (await endpoint.push(make_message_update(2))).status_code == 200


async def test_only_the_chat_with_a_full_box_has_to_wait(redis: RedisClient) -> None:
    async with served_webhook(redis, box_limit=2) as endpoint:
        for update in (1, 2):
            await endpoint.push(make_message_update(update))

        refused = await endpoint.push(make_message_update(3))

        assert refused.status_code == 503
        assert "Retry-After" in refused.headers
        assert (await endpoint.push(make_message_update(4, chat=8))).status_code == 200
        await redis.call("ZREM", BOX, 1)
        assert (await endpoint.push(make_message_update(3))).json()["outcome"] == "accepted"


async def test_no_response_reveals_details_of_the_secret_or_the_store(redis_url: str) -> None:
    async with (
        redis_proxy(redis_url) as way,
        open_redis(way.redis_url) as redis,
        served_webhook(redis) as endpoint,
    ):
        await way.cut()
        texts = [
            (await endpoint.push(make_message_update(1), secret=secret)).text for secret in (SECRET, "wrong")
        ]

    for text in texts:
        assert SECRET not in text
        assert "127.0.0.1" not in text


async def test_health_and_metrics_are_served_on_the_same_port(redis: RedisClient) -> None:
    async with served_webhook(redis, down={"qdrant": "does not answer"}) as endpoint:
        live = await endpoint.http.get("/health/live")
        ready = await endpoint.http.get("/health/ready")
        metrics = await endpoint.http.get("/metrics")

    assert (live.status_code, live.json()) == (200, {"status": "ok"})
    assert (ready.status_code, ready.json()) == (
        503,
        {"status": "down", "down": {"qdrant": "does not answer"}},
    )
    assert metrics.status_code == 200
    assert "mnemogram_updates_total" in metrics.text


async def test_refused_posts_are_logged_together_with_their_reasons(
    redis: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    timers: list[tuple[float, Callable[[], None]]] = []

    def call_later(delay: float, then: Callable[[], None], *arguments: object, **options: object) -> object:
        if delay != http_server.WARN_EVERY_S:
            return call_at_once(delay, then, *arguments, **options)
        return timers.append((delay, then)) or object()

    call_at_once: Callable[..., object] = loop.call_later
    monkeypatch.setattr(loop, "call_later", call_later)
    async with served_webhook(redis) as endpoint:
        with capture_logs() as logs:
            await endpoint.push(make_message_update(1), secret=None)
            await endpoint.push(make_message_update(1), secret="wrong")
            await endpoint.push(make_message_update(1), secret=None)
            await endpoint.push(b"[]")
            await endpoint.push(make_message_update(1))
            timers.pop()[1]()
            timers.pop()[1]()  # nothing was refused meanwhile
            await endpoint.push(make_message_update(1), secret="wrong")

    assert timers.pop()[0] == 60
    assert [(entry["log_level"], entry["count"], entry["reasons"]) for entry in logs] == [
        ("warning", 1, {"401 no secret header": 1}),
        (
            "warning",
            3,
            {
                "401 wrong secret": 1,
                "401 no secret header": 1,
                "400 not a JSON object with an integer update_id": 1,
            },
        ),
        ("warning", 1, {"401 wrong secret": 1}),
    ]


async def test_a_webhook_that_only_got_401_is_named_and_stays_ready(redis: RedisClient) -> None:
    async with served_webhook(redis) as endpoint:
        at_first = await endpoint.http.get("/health/ready")
        for secret in (None, "wrong"):
            await endpoint.push(make_message_update(1), secret=secret)
        named = await endpoint.http.get("/health/ready")
        await endpoint.push(make_message_update(1))
        await endpoint.push(make_message_update(1), secret=None)
        after = await endpoint.http.get("/health/ready")

    assert (named.status_code, named.json()["status"], named.json()["down"]) == (200, "ok", {})
    assert named.json()["cautions"] == {
        "webhook": "all posts so far (2) were refused with 401: a proxy may drop the header " + SECRET_HEADER
    }
    assert at_first.json() == after.json() == {"status": "ok", "down": {}}


async def _chunks(mebibytes: int) -> AsyncGenerator[bytes]:
    for _ in range(mebibytes * 16):
        yield b"x" * (1 << 16)


async def _send_without_end(port: int) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"POST {WEBHOOK_PATH} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    try:
        while True:
            writer.write(b"10000\r\n" + b"x" * (1 << 16) + b"\r\n")
            await writer.drain()
    finally:
        writer.transport.abort()
