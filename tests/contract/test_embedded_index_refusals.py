"""What the embedded index cannot do it refuses in Qdrant's words and shape; it never answers something else."""

from collections.abc import AsyncGenerator, Generator
from typing import Any

import httpx
import pytest
from qdrant_client.common.version_check import is_compatible
from starlette.applications import Starlette

from memory.embedded.index.app import build_app
from memory.embedded.index.collections import Collections
from memory.embedded.index.requests import CreateCollection, CreateFieldIndex, UpsertPoints
from memory.embedded.index.writes import create_index, upsert_points

KEY = {"api-key": "the key"}
COLLECTION = {
    "vectors": {"dense": {"size": 4, "distance": "Cosine"}},
    "sparse_vectors": {"text": {"modifier": "idf"}},
}
CONDITION = {"key": "context", "match": {"value": "c1"}}
NEAR = [1.0, 0.0, 0.0, 0.5]


ONLY_QDRANT: list[dict[str, Any]] = [
    {"query": {"recommend": {"positive": [1]}}, "using": "dense"},
    {"query": {"order_by": "n"}},
    {"query": {"sample": "random"}},
    {"query": 1, "using": "dense"},
    {"query": {"text": "hello", "model": "bm25"}, "using": "text"},
    {"query": NEAR, "using": "dense", "filter": {"must": [{"key": "context", "match": {"text": "c1"}}]}},
    {
        "query": NEAR,
        "using": "dense",
        "filter": {"must": [{"key": "context", "match": {"except": ["c1"]}}]},
    },
    {"query": NEAR, "using": "dense", "filter": {"must": [{"nested": {"key": "a", "filter": {}}}]}},
]
SAYING_NOTHING: list[dict[str, Any]] = [
    {},
    {"must": []},
    {"must": [], "should": [], "must_not": []},
    {"must": [{"must": []}]},
    {"must": [{"should": [{"must_not": []}]}]},
]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Generator[Starlette]:
    """A server with one collection of three points, its times and numbers indexed; every test leaves it so."""
    collections = Collections.open(tmp_path_factory.mktemp("index") / "collections")
    collections.create("c", CreateCollection.model_validate(COLLECTION))
    collection = collections.get("c")
    for field, schema in {"at": "datetime", "n": "integer", "context": "keyword"}.items():
        wanted = {"field_name": field, "field_schema": schema}
        create_index(collection, CreateFieldIndex.model_validate(wanted))
    payload = {"context": "c1", "at": "2024-01-01T00:00:00Z"}
    points = [{"id": n, "vector": {"dense": NEAR}, "payload": {**payload, "n": n}} for n in range(3)]
    upsert_points(collection, UpsertPoints.model_validate({"points": points}))
    yield build_app(collections, "the key")
    collections.close()


@pytest.fixture
async def api(app: Starlette) -> AsyncGenerator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://index", headers=KEY) as client:
        yield client


async def count(api: httpx.AsyncClient) -> int:
    return (await api.post("/collections/c/points/count", json={})).json()["result"]["count"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"api-key": ""},
        {"api-key": "the kez"},
        {"api-key": "ké".encode()},
        {"authorization": "Bearer other"},
    ],
)
async def test_a_request_without_the_key_is_refused(api: httpx.AsyncClient, headers: dict[str, Any]) -> None:
    del api.headers["api-key"]
    answer = await api.post("/collections/c/points/count", json={}, headers=headers)
    assert answer.status_code == 401
    assert "API key" in answer.json()["status"]["error"]


async def test_the_key_may_come_as_a_bearer_token(api: httpx.AsyncClient) -> None:
    del api.headers["api-key"]
    answer = await api.get("/collections", headers={"authorization": "Bearer the key"})
    assert answer.json()["result"] == {"collections": [{"name": "c"}]}


@pytest.mark.parametrize("path", ["/", "/healthz", "/livez", "/readyz"])
async def test_health_and_version_need_no_key(api: httpx.AsyncClient, path: str) -> None:
    del api.headers["api-key"]
    assert (await api.get(path)).status_code == 200


async def test_the_version_is_one_that_the_client_takes(api: httpx.AsyncClient) -> None:
    assert is_compatible("1.20.0", (await api.get("/")).json()["version"])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/collections/c/points/search/matrix/pairs"),
        ("POST", "/collections/c/points/query/groups"),
        ("POST", "/collections/c/points/batch"),
        ("PUT", "/collections/c/points/payload"),
        ("PATCH", "/collections/c"),
        ("POST", "/collections/aliases"),
        ("GET", "/nothing"),
    ],
)
async def test_what_is_not_there_is_said_to_be_unsupported(
    api: httpx.AsyncClient, method: str, path: str
) -> None:
    answer = await api.request(method, path, json={})
    assert answer.status_code == 501
    assert answer.json()["status"] == {"error": f"the embedded index does not support {method} {path}"}
    assert isinstance(answer.json()["time"], float)


@pytest.mark.parametrize("body", ONLY_QDRANT)
async def test_a_search_that_only_qdrant_can_do_is_unsupported(
    api: httpx.AsyncClient, body: dict[str, Any]
) -> None:
    answer = await api.post("/collections/c/points/query", json=body)
    assert answer.status_code == 501
    assert answer.json()["status"]["error"].startswith("Not supported: ")


@pytest.mark.parametrize(
    "body",
    [
        {"query": NEAR},
        {"query": NEAR, "using": "text"},
        {"query": NEAR, "using": "nothing"},
        {"query": NEAR[:3], "using": "dense"},
        {"query": [], "using": "dense"},
        {"query": ["1", 0, 0, 0], "using": "dense"},
        {"query": [1e39, 0, 0, 0], "using": "dense"},
        {"query": NEAR, "using": "dense", "limit": 0},
        {"query": NEAR, "using": "dense", "limit": 2**64},
        {"query": NEAR, "using": "dense", "offset": -1},
        {"query": NEAR, "using": "dense", "lookup_from": {"collection": "c"}},
        {"query": NEAR, "using": "dense", "params": {"quantization": {"ignore": True}}},
        {"query": {"indices": [1, 1], "values": [1.0, 2.0]}, "using": "text"},
        {"query": {"indices": [1], "values": [1.0, 2.0]}, "using": "text"},
        {"query": {"fusion": "rrf"}},
        {"query": {"rrf": {"k": 0}}, "prefetch": [{"query": NEAR, "using": "dense"}]},
        {"prefetch": [{"query": NEAR, "using": "dense"}]},
        {"query": {"fusion": "rrf"}, "prefetch": [{"limit": 3}]},
        {"using": "dense"},
        {"score_threshold": 0.5},
        {"query": NEAR, "using": "dense", "filter": {"must": [{"key": "context"}]}},
        {"query": NEAR, "using": "dense", "filter": {"must": [{"key": "n", "match": {"value": 1.5}}]}},
        {"query": NEAR, "using": "dense", "filter": {"musst": [CONDITION]}},
    ],
)
async def test_a_wrong_search_is_refused(api: httpx.AsyncClient, body: dict[str, Any]) -> None:
    answer = await api.post("/collections/c/points/query", json=body)
    assert answer.status_code == 400
    assert answer.json()["status"]["error"].startswith("Wrong input: ")


@pytest.mark.parametrize("wanted", SAYING_NOTHING)
@pytest.mark.parametrize("path", ["delete", "payload"])
async def test_a_filter_that_says_nothing_changes_nothing(
    api: httpx.AsyncClient, path: str, wanted: dict[str, Any]
) -> None:
    body = {"filter": wanted, **({"payload": {"x": 1}} if path == "payload" else {})}
    answer = await api.post(f"/collections/c/points/{path}", json=body)
    assert answer.status_code == 400
    assert await count(api) == 3


@pytest.mark.parametrize(
    "condition",
    [
        {"key": "n", "match": {"value": True}},
        {"key": "n", "match": {"value": 1.0}},
        {"key": "n", "match": {"any": [1, "1"]}},
        {"key": "n", "match": {"value": None}},
        {"key": "n", "range": {"gte": "1960-01-01T00:00:00Z"}},
        {"key": "n", "range": {"gte": "0"}},
        {"key": "n", "range": {"gte": True}},
        {"key": "n", "range": {}},
        {"key": "n", "range": {"gte": 0, "lt": "9"}},
        {"key": "at", "range": {"gte": 0}},
        {"key": "at", "range": {"gte": "yesterday"}},
        {"key": "context[[", "match": {"value": "c1"}},
        {"has_id": ["not an id"]},
    ],
)
async def test_a_filter_with_a_value_of_the_wrong_type_deletes_nothing(
    api: httpx.AsyncClient, condition: dict[str, Any]
) -> None:
    answer = await api.post("/collections/c/points/delete", json={"filter": {"must": [condition]}})
    assert answer.status_code in {400, 501}
    assert await count(api) == 3


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"points": [1], "filter": {"must": [CONDITION]}},
        {"points": [-1]},
        {"points": ["x"]},
        {"points": [1], "shard_key": "a"},
    ],
)
async def test_a_wrong_selection_deletes_nothing(api: httpx.AsyncClient, body: dict[str, Any]) -> None:
    answer = await api.post("/collections/c/points/delete", json=body)
    assert answer.status_code == 400
    assert await count(api) == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": 9, "vector": {"dense": NEAR[:3]}},
        {"id": 9, "vector": {"other": NEAR}},
        {"id": 9, "vector": {"dense": {"indices": [1], "values": [1.0]}}},
        {"id": 9, "vector": NEAR},
        {"id": 9, "vector": {"text": {"indices": [1, 1], "values": [1.0, 1.0]}}},
        {"id": 9, "vector": {"dense": [[1.0, 0.0, 0.0, 0.0]]}},
        {"id": 9},
        {"id": -9, "vector": {"dense": NEAR}},
        {"id": "nine", "vector": {"dense": NEAR}},
        {"id": 2**64, "vector": {"dense": NEAR}},
    ],
)
async def test_points_are_taken_all_or_none(api: httpx.AsyncClient, wrong: dict[str, Any]) -> None:
    right = {"id": 8, "vector": {"dense": NEAR}, "payload": {}}
    answer = await api.put("/collections/c/points", json={"points": [right, wrong]})
    assert answer.status_code in {400, 501}
    assert await count(api) == 3


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"vectors": {}},
        {"vectors": {"dense": {"size": 0, "distance": "Cosine"}}},
        {"vectors": {"dense": {"size": 4, "distance": "Hamming"}}},
        {
            "vectors": {
                "dense": {"size": 4, "distance": "Dot", "multivector_config": {"comparator": "max_sim"}}
            }
        },
        {"vectors": {"dense": {"size": 4, "distance": "Dot", "datatype": "uint8"}}},
        {"vectors": {"size": 4, "distance": "Dot"}, "quantization_config": {"binary": {}}},
    ],
)
async def test_a_collection_that_cannot_be_kept_is_not_made(
    api: httpx.AsyncClient, settings: dict[str, Any]
) -> None:
    assert (await api.put("/collections/d", json=settings)).status_code == 400
    assert (await api.get("/collections/d/exists")).json()["result"] == {"exists": False}


@pytest.mark.parametrize("name", ["..", ".hidden", "a%2Fb", "a%00", "n" * 201, "%20"])
async def test_a_name_that_is_no_folder_is_refused(api: httpx.AsyncClient, name: str) -> None:
    assert (await api.put(f"/collections/{name}", json=COLLECTION)).status_code in {400, 501}


async def test_a_collection_is_made_once(api: httpx.AsyncClient) -> None:
    answer = await api.put("/collections/c", json=COLLECTION)
    assert answer.status_code == 409
    assert answer.json()["status"] == {"error": "Wrong input: Collection `c` already exists!"}
    assert await count(api) == 3


async def test_a_collection_that_does_not_exist_is_not_found(api: httpx.AsyncClient) -> None:
    answer = await api.post("/collections/d/points/count", json={})
    assert answer.status_code == 404
    assert answer.json()["status"] == {"error": "Not found: Collection `d` doesn't exist!"}
    assert (await api.delete("/collections/d")).json()["result"] is False


async def test_payload_of_a_point_that_does_not_exist_is_not_found(api: httpx.AsyncClient) -> None:
    answer = await api.post("/collections/c/points/payload", json={"payload": {"x": 1}, "points": [77]})
    assert answer.status_code == 404


@pytest.mark.parametrize("key", ["[[", "a..b"])
async def test_a_payload_path_that_cannot_be_read_is_refused(api: httpx.AsyncClient, key: str) -> None:
    body = {"payload": {"x": 1}, "points": [1], "key": key}
    assert (await api.post("/collections/c/points/payload", json=body)).status_code == 400


async def test_a_mistake_of_ours_is_told_in_the_same_shape(app: Starlette) -> None:
    broken = Starlette(routes=app.routes, exception_handlers=app.exception_handlers)
    transport = httpx.ASGITransport(broken, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://index", headers=KEY) as client:
        answer = await client.get("/collections")
    assert answer.status_code == 500
    assert answer.json()["status"] == {"error": "Service internal error"}


async def test_a_body_over_the_limit_is_refused(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.embedded.index.app.MAX_BODY_BYTES", 100)
    assert (await api.post("/collections/c/points/count", content=b" " * 101)).status_code == 413


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"filter": "\\ud800"}', b"\xff", b"[" * 5000])
async def test_a_body_that_is_no_request_is_refused(api: httpx.AsyncClient, body: bytes) -> None:
    assert (await api.post("/collections/c/points/count", content=body)).status_code == 400


async def test_a_refusal_does_not_repeat_what_was_given(api: httpx.AsyncClient) -> None:
    condition = {"key": "n", "match": {"value": ["canary in a coal mine"]}}
    answer = await api.post("/collections/c/points/delete", json={"filter": {"must": [condition]}})
    assert answer.status_code == 400
    assert "canary" not in answer.text
