"""The connection to Qdrant: what its requests accept, several addresses, and answers that are not Qdrant's."""

import asyncio
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from qdrant_client import models
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from bot.transport.http_connection import CYCLE
from bot.transport.http_server import serve_http
from memory.embedded.supervisor import IndexEndpoint
from memory.errors import IndexMismatch, RecallTimedOut, RecallUnavailable
from memory.recall.qdrant.connection import origin_of
from memory.recall.qdrant.index import FormerCollections, Qdrant, QdrantIndex, open_qdrant
from memory.recall.vector_index import VectorPoint
from tests.contract.vector_kit import (
    EAST,
    client_of,
    find,
    ids,
    make_index,
    make_point,
    make_query,
    make_space,
    terms,
)
from tests.local_http import local_client
from tests.qdrant_manners import Instead, QdrantManners, qdrant_manners

pytestmark = pytest.mark.slow

_DELAYED_ACK_S = 0.04
"""Time after which Linux confirms a segment that nothing answers (TCP_DELACK_MIN)."""
_SHORT_S = 0.3
_PAGE = b"<html><body>Welcome to nginx!</body></html>"


def response(status: str, body: bytes = b"", *headers: str, length: int | None = None) -> bytes:
    """Return a response of HTTP whose head may promise more than its body has."""
    size = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", *headers, "connection: close", f"content-length: {size}", "", ""]
    return "\r\n".join(lines).encode() + body


ODD: Mapping[str, tuple[Instead, str]] = {
    "the page of a proxy": (
        Instead(answer=response("200 OK", _PAGE)),
        "cannot be read: does QDRANT_URL lead",
    ),
    "nothing": (Instead(answer=response("200 OK")), "cannot be read"),
    "another program's JSON": (Instead(answer=response("200 OK", b'{"status":"ok"}')), "cannot be read"),
    "a result of another kind": (Instead(answer=response("200 OK", b'{"result":7}')), "cannot be read"),
    "a body cut in the middle": (
        Instead(answer=response("200 OK", b'{"result":[{"points":[', length=900)),
        "its answer broke off",
    ),
    "a head cut in the middle": (Instead(answer=b"HTTP/1.1 200 OK\r\ncontent-"), "it closed the connection"),
    "too many requests": (
        Instead(answer=response("429 Too Many Requests")),
        "answered 429 Too Many Requests",
    ),
    "too many requests, with a time": (
        Instead(answer=response("429 Too Many Requests", b"", "retry-after: 7")),
        "answered 429 Too Many Requests",
    ),
    "it still loads": (Instead(answer=response("503 Service Unavailable", _PAGE)), "503 Service Unavailable"),
    "a redirect": (
        Instead(answer=response("307 Temporary Redirect", b"", "location: https://elsewhere.example/")),
        "answered 307 Temporary Redirect: QDRANT_URL must be the address",
    ),
    "the key is wrong": (Instead(answer=response("401 Unauthorized")), r"^QDRANT_API_KEY: .*refuses the key"),
    "another protocol": (Instead(answer=b"-ERR unknown command\r\n"), "speaks another protocol"),
    "a trickle": (Instead(answer=response("200 OK", b" " * 900), pause_s=0.1), "does not answer in time"),
    "silence": (Instead(answer=b"", stays=True), "does not answer in time"),
}


@pytest.fixture
async def manners(index_endpoint: IndexEndpoint) -> AsyncGenerator[QdrantManners]:
    async with qdrant_manners(index_endpoint.url) as server:
        yield server


@asynccontextmanager
async def opened(urls: str, endpoint: IndexEndpoint) -> AsyncGenerator[tuple[Qdrant, QdrantIndex]]:
    """Open the server, and an index of this test's own, which is removed after it."""
    async with open_qdrant(urls, api_key=endpoint.api_key) as qdrant:
        index = make_index(qdrant, make_space())
        yield qdrant, index
    async with open_qdrant(endpoint.url, api_key=endpoint.api_key) as again:
        await client_of(again).delete_collection(index.collection)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://h", "http://h:6333"),
        ("https://x.cloud.qdrant.io", "https://x.cloud.qdrant.io:6333"),
        ("https://u:p@h", "https://u:p@h:6333"),
        ("https://h/qdrant", "https://h/qdrant"),  # a proxy: qdrant/mcp-server-qdrant#135
        ("http://h:81/qdrant", "http://h:81/qdrant"),
        ("http://[::1]", "http://[::1]:6333"),
    ],
)
def test_an_address_with_a_path_has_the_port_of_its_proxy(url: str, origin: str) -> None:
    assert origin_of(url) == origin


async def test_no_request_accepts_a_compressed_answer(
    manners: QdrantManners, index_endpoint: IndexEndpoint, chat: str
) -> None:
    async with opened(manners.url, index_endpoint) as (qdrant, index):
        await index.upsert([make_point(chat, "m", EAST, sequence=1, sparse=terms(1))])
        assert ids(await find(index, make_query(chat, sparse=terms(1)))) == {"m"}
        await index.count(chat)
        await index.count_messages(chat, epoch=0)
        await index.drop_keys(chat, epoch=0, kept={"m": 0})
        await index.drop(chat, epoch=0, message_ids=["m"])
        await index.erase(chat, below_epoch=1)
        former = FormerCollections(qdrant)
        assert index.collection in await former.list_names()
        await former.erase_contexts(index.collection, [chat])
        await former.delete_if_empty(index.collection)

    assert len(manners.accepted) > 15
    assert set(manners.accepted) == {"identity"}


async def test_a_request_does_not_wait_for_a_delayed_confirmation(
    manners: QdrantManners, index_endpoint: IndexEndpoint, chat: str
) -> None:
    async with opened(manners.url, index_endpoint) as (_, index):
        await index.upsert([make_point(chat, f"m{number}", EAST, sequence=number) for number in range(50)])
        for ask in (lambda: index.search(make_query(chat)), lambda: index.count(chat)):
            assert await _quickest_s(ask) < _DELAYED_ACK_S / 2


async def _quickest_s(ask: Callable[[], Awaitable[object]]) -> float:
    spent: list[float] = []
    for _ in range(20):
        began = time.perf_counter()
        await ask()
        spent.append(time.perf_counter() - began)
    return min(spent)


async def test_our_own_servers_send_without_delay() -> None:
    async def app(scope: dict[str, object], receive: object, send: object) -> None:
        transport = Request(scope).scope["extensions"][CYCLE].transport
        taken: socket.socket = transport.get_extra_info("socket")
        delays = taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0
        await PlainTextResponse(f"delays: {delays}")(scope, receive, send)  # pyright: ignore[reportArgumentType]

    async with serve_http(app) as server, local_client(server.origin) as client:  # pyright: ignore[reportArgumentType]
        assert (await client.get("/")).text == "delays: False"


@pytest.fixture
async def told(index_endpoint: IndexEndpoint, chat: str) -> AsyncGenerator[list[VectorPoint]]:
    """The one point of this chat, in the index of all these tests."""
    points = [make_point(chat, "m", EAST, sequence=1, sparse=terms(1))]
    async with open_qdrant(index_endpoint.url, api_key=index_endpoint.api_key) as qdrant:
        await make_index(qdrant).upsert(points)
        yield points
        await make_index(qdrant).erase(chat, below_epoch=1)


@pytest.mark.parametrize("case", ODD)
async def test_an_odd_answer_is_a_failure_of_recall_in_plain_words(
    manners: QdrantManners, index_endpoint: IndexEndpoint, told: list[VectorPoint], chat: str, case: str
) -> None:
    instead, says = ODD[case]
    timeout_s = _SHORT_S if "in time" in says else 5.0
    async with (
        open_qdrant(manners.url, api_key=index_endpoint.api_key) as patient,
        open_qdrant(manners.url, api_key=index_endpoint.api_key, timeout_s=timeout_s) as qdrant,
    ):
        index = make_index(replace(patient, send=qdrant.send))
        assert ids(await find(index, make_query(chat))) == {"m"}
        manners.instead = instead
        for ask in (
            lambda: index.search(make_query(chat)),
            lambda: index.score(make_query(chat), [1]),
            lambda: index.upsert(told),
            lambda: make_index(qdrant).count(chat),
            lambda: make_index(qdrant).drop(chat, epoch=0, message_ids=["m"]),
            lambda: make_index(qdrant).search(make_query(chat)),
        ):
            with pytest.raises(RecallUnavailable, match=says):
                await ask()
        manners.instead = None
        assert ids(await find(make_index(patient), make_query(chat))) == {"m"}


async def test_silence_is_an_error_of_its_own(manners: QdrantManners, chat: str) -> None:
    async with open_qdrant(manners.url, timeout_s=_SHORT_S) as qdrant:
        manners.instead = ODD["silence"][0]
        with pytest.raises(RecallTimedOut):
            await make_index(qdrant).count(chat)


async def test_a_collection_that_was_made_again_with_another_dimension_is_named(
    index_endpoint: IndexEndpoint, chat: str
) -> None:
    async with opened(index_endpoint.url, index_endpoint) as (qdrant, index):
        await index.upsert([make_point(chat, "m", EAST, sparse=terms(1))])
        await client_of(qdrant).delete_collection(index.collection)
        await client_of(qdrant).create_collection(
            index.collection,
            {"dense": models.VectorParams(size=5, distance=models.Distance.COSINE)},
            {"terms": models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )
        for ask in (
            lambda: index.search(make_query(chat)),
            lambda: index.score(make_query(chat), [1]),
            lambda: index.upsert([make_point(chat, "m", EAST)]),
        ):
            with pytest.raises(IndexMismatch, match=r"holds vectors of 5 dimensions, .* makes 3"):
                await ask()


@pytest.mark.parametrize("case", ["nobody listens", "silence", "it still loads", "a head cut in the middle"])
@pytest.mark.usefixtures("told")
async def test_with_several_addresses_the_next_one_answers(
    manners: QdrantManners, index_endpoint: IndexEndpoint, chat: str, case: str
) -> None:
    first = "http://127.0.0.1:9" if case == "nobody listens" else manners.url
    manners.instead = ODD.get(case, ODD["silence"])[0]
    urls = f"{first},{index_endpoint.url}"
    async with open_qdrant(urls, api_key=index_endpoint.api_key, timeout_s=1.0) as qdrant:
        index = make_index(qdrant)
        assert ids(await find(index, make_query(chat))) == {"m"}
        seen = len(manners.accepted)
        assert ids(await find(index, make_query(chat))) == {"m"}
        assert len(manners.accepted) == seen, "the address that answered last is asked first"


@pytest.mark.usefixtures("told")
async def test_a_search_that_is_given_up_moves_on_to_the_next_address(
    manners: QdrantManners, index_endpoint: IndexEndpoint, chat: str
) -> None:
    urls = f"{manners.url},{index_endpoint.url}"
    async with open_qdrant(urls, api_key=index_endpoint.api_key) as qdrant:
        manners.instead = ODD["silence"][0]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(_SHORT_S):
                await make_index(qdrant).search(make_query(chat))
        assert ids(await find(make_index(qdrant), make_query(chat))) == {"m"}


async def test_with_all_addresses_gone_the_last_cause_is_named(manners: QdrantManners) -> None:
    manners.instead = ODD["a redirect"][0]
    async with open_qdrant(f"http://127.0.0.1:9,{manners.url}", api_key=None) as qdrant:
        with pytest.raises(RecallUnavailable, match="307"):
            await make_index(qdrant).count("a chat")
    async with open_qdrant("http://127.0.0.1:9,http://127.0.0.1:19", api_key=None) as qdrant:
        with pytest.raises(RecallUnavailable, match="cannot be reached: nothing listens at this port"):
            await make_index(qdrant).count("a chat")
