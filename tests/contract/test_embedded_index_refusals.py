"""The embedded index refuses what it does not support, in Qdrant's shape. It never answers another question."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from memory.embedded.index.collections import Collections
from memory.embedded.index.server import IndexApp

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEY = {"api-key": "the key"}
COLLECTION = {
    "vectors": {"dense": {"size": 4, "distance": "Cosine"}},
    "sparse_vectors": {"text": {"modifier": "idf"}},
}
CONDITION = {"key": "context", "match": {"value": "c1"}}
SCOPE = {"must": [CONDITION]}
NEAR = [1.0, 0.0, 0.0, 0.5]


@asynccontextmanager
async def serving(folder: Path) -> AsyncGenerator[IndexApp]:
    """Open a server with one collection of three points, its fields indexed."""
    collections = Collections(folder / "collections")
    app = IndexApp(collections, "the key")
    async with calling(app) as client:
        await client.put("/collections/c", json=COLLECTION)
        for field, kind in {"n": "integer", "context": "keyword"}.items():
            wanted = {"field_name": field, "field_schema": {"type": kind}}
            assert (await client.put("/collections/c/index", json=wanted)).status_code == 200
        payload = {"context": "c1"}
        points = [{"id": n, "vector": {"dense": NEAR}, "payload": {**payload, "n": n}} for n in range(3)]
        assert (await client.put("/collections/c/points", json={"points": points})).status_code == 200
    yield app
    await collections.close()


def calling(app: IndexApp) -> httpx.AsyncClient:
    """Return a client of a server."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://index", headers=KEY)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[IndexApp]:
    """One server for all tests that change nothing."""
    async with serving(tmp_path_factory.mktemp("index")) as app:
        yield app


@pytest_asyncio.fixture(loop_scope="module")
async def api(app: IndexApp) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of the server that all share. A test that takes it leaves everything as it was."""
    async with calling(app) as client:
        yield client
        client.headers.update(KEY)
        assert await count(client) == 3
        assert (await client.get("/collections")).json()["result"] == {"collections": [{"name": "c"}]}


@pytest_asyncio.fixture(loop_scope="module")
async def own_api(tmp_path: Path) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of a server of the test's own."""
    async with serving(tmp_path) as app, calling(app) as client:
        yield client


async def count(api: httpx.AsyncClient) -> int:
    return (await api.post("/collections/c/points/count", json={})).json()["result"]["count"]


@pytest.mark.parametrize("headers", [{}, {"api-key": ""}, {"api-key": "the kez"}, {"api-key": "ké".encode()}])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize("name", ["c", "unknown"])
async def test_a_request_without_the_key_is_refused(
    api: httpx.AsyncClient, method: str, name: str, headers: dict[str, Any]
) -> None:
    del api.headers["api-key"]
    answer = await api.request(method, f"/collections/{name}", json=COLLECTION, headers=headers)
    assert answer.status_code == 401
    assert "API key" in answer.json()["status"]["error"]
    listed = (await api.get("/collections", headers=KEY)).json()["result"]
    assert listed == {"collections": [{"name": "c"}]}


async def test_readiness_needs_no_key(api: httpx.AsyncClient) -> None:
    del api.headers["api-key"]
    assert (await api.get("/readyz")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/collections/c/points/query"),
        ("POST", "/collections/c/points/query/groups"),
        ("POST", "/collections/c/points/payload"),
        ("POST", "/collections/c/points/batch"),
        ("PATCH", "/collections/c"),
        ("POST", "/collections/aliases"),
        ("GET", "/nothing"),
    ],
)
async def test_an_unknown_operation_is_unsupported(api: httpx.AsyncClient, method: str, path: str) -> None:
    answer = await api.request(method, path, json={})
    assert answer.status_code == 501
    assert answer.json()["status"] == {"error": f"the embedded index does not support {method} {path}"}


@pytest.mark.parametrize(
    "search",
    [
        {"query": {"recommend": {"positive": [1]}}, "using": "dense"},
        {"query": {"order_by": "n"}},
        {"query": {"fusion": "rrf"}, "prefetch": [{"query": NEAR, "using": "dense"}]},
        {"query": {"nearest": 1}, "using": "dense"},
        {"query": {"nearest": []}, "using": "dense"},
        {"query": {"nearest": ["1", 0, 0, 0]}, "using": "dense"},
        {"query": {"nearest": [1e39, 0, 0, 0]}, "using": "dense"},
        {"query": {"nearest": NEAR}, "using": "dense", "limit": 0},
        {"query": {"nearest": NEAR}, "using": "dense", "limit": 2**64},
        {"query": {"nearest": NEAR}, "using": "dense", "offset": 1},
        {"query": {"nearest": NEAR}, "using": "dense", "params": {"quantization": {"ignore": True}}},
        {"query": {"nearest": {"indices": [1, 1], "values": [1.0, 2.0]}}, "using": "text"},
        {"query": {"nearest": {"indices": [1], "values": [1.0, 2.0]}}, "using": "text"},
        {"query": {"nearest": NEAR}},
        {"query": {"nearest": NEAR}, "using": "text"},
        {"query": {"nearest": NEAR}, "using": "nothing"},
        {"query": {"nearest": NEAR[:3]}, "using": "dense"},
    ],
)
async def test_an_invalid_search_is_refused(api: httpx.AsyncClient, search: dict[str, Any]) -> None:
    body = {"searches": [{"filter": SCOPE, **search}]}
    answer = await api.post("/collections/c/points/query/batch", json=body)
    assert answer.status_code == 400
    assert answer.json()["status"]["error"].startswith("Wrong input: ")


async def test_a_search_whose_filter_only_the_engine_can_check_fails(api: httpx.AsyncClient) -> None:
    search = {"filter": {"must": [{"key": "context[[", "match": {"value": "c1"}}]}}
    answer = await api.post("/collections/c/points/query/batch", json={"searches": [search]})
    assert answer.status_code == 500
    assert answer.json()["status"]["error"].startswith("Service internal error: ")


async def test_a_deletion_that_only_the_engine_can_check_deletes_nothing(api: httpx.AsyncClient) -> None:
    scope = {"must": [{"key": "context[[", "match": {"value": "c1"}}]}
    answer = await api.post("/collections/c/points/delete", json={"filter": scope})
    assert answer.status_code == 500
    assert await count(api) == 3


FILTERS_WITHOUT_MEANING: list[dict[str, Any]] = [
    {},
    {"must": []},
    {"must_not": [CONDITION]},
    {"must": [{"must": []}]},
    {"must": [{"key": "context"}]},
    {"musst": [CONDITION]},
    {"must": [CONDITION], "should": []},
    {"must": [{"key": "context", "match": {"text": "c1"}}]},
    {"must": [{"key": "context", "match": {"except": ["c1"]}}]},
    {"must": [{"key": "n", "match": {"value": True}}]},
    {"must": [{"key": "n", "match": {"value": 1.0}}]},
    {"must": [{"key": "n", "match": {"any": [1, "1"]}}]},
    {"must": [{"key": "n", "match": {"value": None}}]},
    {"must": [{"key": "n", "range": {"gte": "0"}}]},
    {"must": [{"key": "n", "range": {"gte": True}}]},
    {"must": [{"key": "n", "range": {}}]},
    {"must": [{"key": "n", "range": {"gte": 0, "lt": "9"}}]},
    {"must": [{"has_id": ["not an id"]}]},
]


@pytest.mark.parametrize("scope", FILTERS_WITHOUT_MEANING)
async def test_an_unknown_filter_matches_and_deletes_nothing(
    api: httpx.AsyncClient, scope: dict[str, Any]
) -> None:
    answer = await api.post("/collections/c/points/delete", json={"filter": scope})
    assert answer.status_code == 400
    answer = await api.post("/collections/c/points/query/batch", json={"searches": [{"filter": scope}]})
    assert answer.status_code == 400
    assert await count(api) == 3


@pytest.mark.parametrize("path", ["delete", "query/batch"])
async def test_a_search_or_deletion_without_a_filter_is_refused(api: httpx.AsyncClient, path: str) -> None:
    body = {"searches": [{"query": {"nearest": NEAR}, "using": "dense"}]} if path == "query/batch" else {}
    assert (await api.post(f"/collections/c/points/{path}", json=body)).status_code == 400
    assert await count(api) == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": 9, "vector": {"dense": NEAR[:3]}},
        {"id": 9, "vector": {"other": NEAR}},
        {"id": 9, "vector": {"dense": {"indices": [1], "values": [1.0]}}},
        {"id": 9, "vector": {"text": NEAR}},
        {"id": 9, "vector": NEAR},
        {"id": 9, "vector": {"text": {"indices": [1, 1], "values": [1.0, 1.0]}}},
        {"id": 9, "vector": {"dense": [[1.0, 0.0, 0.0, 0.0]]}},
        {"id": 9},
        {"id": -9, "vector": {"dense": NEAR}},
        {"id": "nine", "vector": {"dense": NEAR}},
        {"id": 2**64, "vector": {"dense": NEAR}},
    ],
)
async def test_an_upsert_writes_all_points_or_none(api: httpx.AsyncClient, wrong: dict[str, Any]) -> None:
    right = {"id": 8, "vector": {"dense": NEAR}, "payload": {}}
    answer = await api.put("/collections/c/points", json={"points": [right, wrong]})
    assert answer.status_code == 400
    assert await count(api) == 3


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"vectors": {}},
        {"vectors": {"size": 4, "distance": "Cosine"}},
        {"vectors": {"dense": {"size": 0, "distance": "Cosine"}}},
        {"vectors": {"dense": {"size": 4, "distance": "Dot"}}},
        {"vectors": {"dense": {"size": 4, "distance": "Cosine", "datatype": "uint8"}}},
        {"vectors": {"dense": {"size": 4, "distance": "Cosine"}}, "quantization_config": {"binary": {}}},
    ],
)
async def test_an_unsupported_collection_is_refused(
    own_api: httpx.AsyncClient, settings: dict[str, Any]
) -> None:
    assert (await own_api.put("/collections/d", json=settings)).status_code in {400, 500}
    assert (await own_api.get("/collections/d")).status_code == 404
    assert (await own_api.put("/collections/d", json=COLLECTION)).status_code == 200


@pytest.mark.parametrize("name", ["..", ".hidden", "a%2Fb", "a%00", "n" * 201, "%20"])
async def test_a_collection_name_that_is_no_folder_name_is_refused(api: httpx.AsyncClient, name: str) -> None:
    assert (await api.put(f"/collections/{name}", json=COLLECTION)).status_code in {400, 501}


async def test_a_collection_is_created_once(api: httpx.AsyncClient) -> None:
    answer = await api.put("/collections/c", json=COLLECTION)
    assert answer.status_code == 409
    assert answer.json()["status"] == {"error": "Wrong input: Collection `c` already exists!"}
    assert await count(api) == 3


async def test_a_missing_collection_is_not_found(api: httpx.AsyncClient) -> None:
    answer = await api.post("/collections/d/points/count", json={})
    assert answer.status_code == 404
    assert answer.json()["status"] == {"error": "Not found: Collection `d` doesn't exist!"}
    assert (await api.delete("/collections/d")).json()["result"] is False


async def test_an_internal_error_has_the_same_shape(
    own_api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr(Collections, "get")
    answer = await own_api.get("/collections/c")
    assert answer.status_code == 500
    assert answer.json()["status"] == {"error": "Service internal error"}
    assert "AttributeError" in capsys.readouterr().err


async def test_a_body_over_the_limit_is_refused(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.embedded.index.server.MAX_BODY_BYTES", 100)
    assert (await api.post("/collections/c/points/count", content=b" " * 101)).status_code == 413


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"filter": "\\ud800"}', b"\xff", b"[" * 5000])
async def test_a_malformed_body_is_refused(api: httpx.AsyncClient, body: bytes) -> None:
    assert (await api.post("/collections/c/points/count", content=body)).status_code == 400


async def test_a_refusal_does_not_quote_the_request(api: httpx.AsyncClient) -> None:
    condition = {"key": "n", "match": {"value": ["canary in a coal mine"]}}
    answer = await api.post("/collections/c/points/delete", json={"filter": {"must": [condition]}})
    assert answer.status_code == 400
    assert "canary" not in answer.text


async def test_concurrent_requests_are_all_answered(own_api: httpx.AsyncClient) -> None:
    async def write(number: int) -> int:
        point = {"id": number, "vector": {"dense": NEAR}}
        return (await own_api.put("/collections/c/points", json={"points": [point]})).status_code

    assert set(await asyncio.gather(*(write(number) for number in range(40)))) == {200}
    assert await count(own_api) == 40
