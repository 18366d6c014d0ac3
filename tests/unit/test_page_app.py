"""The page's requests without a store: its files, headers, visitors and rate limits, over real HTTP."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlencode

import httpx
import pytest
from starlette.requests import Request

from bot.page.api import (
    BODY_LIMIT,
    OF_A_VISITOR,
    OWNERS,
    PageApi,
    PageApp,
    Rate,
    RateLimit,
    api_route,
    read_object,
)
from bot.page.visitors import Authentication, PageError, Visitor
from bot.transport.page_links import PagePlace, sign_place
from bot.transport.words import LANGUAGES
from memory.errors import StoreUnavailable
from tests.page_http import hash_of, serve_page
from tests.unit.test_page_init_data import FIELDS, NOW, TOKEN

OLGA = f"tma {urlencode({**FIELDS, 'hash': hash_of(FIELDS, TOKEN)})}"


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


async def describe(visitor: Visitor, request: Request) -> Mapping[str, object]:
    return {
        "id": visitor.user_id,
        "operator": visitor.is_operator,
        "chat": visitor.place and visitor.place.chat_id,
        "thing": request.path_params.get("thing"),
    }


async def echo(_: Visitor, request: Request) -> Mapping[str, object]:
    return {"body": await read_object(request)}


async def fail(_: Visitor, request: Request) -> Mapping[str, object]:
    raise StoreUnavailable


async def forbid(_: Visitor, request: Request) -> Mapping[str, object]:
    raise PageError("forbidden", "This is not yours.")


async def find_session(session: str) -> bool:
    return session == "valid"


async def open_session(token: str) -> Mapping[str, object] | None:
    return {"session": "valid", "expires_at": 1.0} if token == "once" else None


@asynccontextmanager
async def served(page: PageApp | None) -> AsyncGenerator[httpx.AsyncClient]:
    async with serve_page(page) as server, httpx.AsyncClient(base_url=server.origin) as http:
        yield http


def build_page(clock: Clock) -> PageApp:
    page = PageApp()
    page.publish(frame_ancestors=["http://127.0.0.1:8081"])
    page.api = PageApi(
        [
            api_route("me", describe),
            api_route("things/{thing}", describe),
            api_route("echo", echo, "POST"),
            api_route("fail", fail),
            api_route("forbid", forbid),
        ],
        authentication=Authentication(
            token=TOKEN, operator_ids=frozenset({1001}), find_session=find_session, clock=lambda: NOW
        ),
        open_session=open_session,
        clock=clock,
    )
    return page


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def http(clock: Clock) -> AsyncGenerator[httpx.AsyncClient]:
    async with served(build_page(clock)) as client:
        yield client


async def test_anybody_may_load_the_page_and_nobody_may_put_script_into_it(http: httpx.AsyncClient) -> None:
    page = await http.get("/app/")

    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors https://web.telegram.org "
        "https://*.web.telegram.org http://127.0.0.1:8081"
    )
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"


async def test_a_file_that_the_client_has_is_not_sent_again(http: httpx.AsyncClient) -> None:
    page = await http.get("/app/static/index.html")

    again = await http.get("/app/", headers={"If-None-Match": page.headers["etag"]})

    assert (again.status_code, again.content, again.headers["cache-control"]) == (304, b"", "no-cache")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_catalogue_of_each_language_is_served(http: httpx.AsyncClient, language: str) -> None:
    answer = await http.get(f"/app/static/catalogue/{language}.json")

    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json()["tab-memory"]


@pytest.mark.parametrize(
    "path",
    [
        "/app/static/",
        "/app/static/catalogue/",
        "/app/static/catalogue/xx.json",
        "/app/static/../api.py",
        "/app/static/%2e%2e/api.py",
        "/app/static//etc/passwd",
        "/app/static/index.html/",
        "/app/nothing",
    ],
)
async def test_no_other_file_is_served(http: httpx.AsyncClient, path: str) -> None:
    answer = await http.get(path)

    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


async def test_without_an_address_there_is_no_page_and_one_sentence_says_why() -> None:
    async with served(PageApp()) as http:
        for path in ("/app/", "/app/static/index.html", "/app/api/me"):
            answer = await http.get(path, headers={"Authorization": OLGA})
            assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
            assert "PUBLIC_URL" in answer.json()["message"]


async def test_a_worker_has_no_page() -> None:
    async with served(None) as http:
        assert (await http.get("/app/")).status_code == 404


async def test_before_the_start_has_finished_the_page_loads_and_its_api_asks_for_patience() -> None:
    page = PageApp()
    page.publish()
    async with served(page) as http:
        assert (await http.get("/app/")).status_code == 200
        answer = await http.get("/app/api/me", headers={"Authorization": OLGA})

    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert answer.headers["retry-after"] == "3"


async def test_a_person_is_who_telegram_says(http: httpx.AsyncClient) -> None:
    answer = await http.get("/app/api/things/a%20b", headers={"Authorization": OLGA})

    assert answer.json() == {"id": 1001, "operator": True, "chat": None, "thing": "a b"}
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "application/json"


async def test_a_link_that_we_signed_names_its_chat_and_no_other_does(http: httpx.AsyncClient) -> None:
    place = PagePlace(chat_id=-100500)
    for link, chat in ((sign_place(place, TOKEN), -100500), (sign_place(place, "1:other"), None)):
        answer = await http.get("/app/api/me", headers={"Authorization": OLGA, "Mnemogram-Link": link})
        assert answer.json()["chat"] == chat


async def test_a_session_of_the_dashboard_is_an_operator_without_a_chat(http: httpx.AsyncClient) -> None:
    session = await http.post("/app/api/session", headers={"Authorization": "dashboard once"})
    token = session.json()["session"]

    answer = await http.get("/app/api/me", headers={"Authorization": f"session {token}"})

    assert answer.json() == {"id": None, "operator": True, "chat": None, "thing": None}


@pytest.mark.parametrize(
    ("authorization", "code"),
    [
        ("", "unauthorized"),
        ("tma", "unauthorized"),
        ("tma hash=0", "unauthorized"),
        (OLGA[:-1], "unauthorized"),
        (OLGA.removeprefix("tma "), "unauthorized"),
        ("tma " + "x" * 10_000, "unauthorized"),
        ("Bearer valid", "unauthorized"),
        ("dashboard once", "unauthorized"),
        ("session stolen", "expired"),
    ],
)
async def test_everybody_else_gets_401_whatever_they_ask_for(
    http: httpx.AsyncClient, authorization: str, code: str
) -> None:
    headers = {"Authorization": authorization} if authorization else {}
    for method, path in (("GET", "me"), ("POST", "echo"), ("GET", "fail"), ("GET", "no/such/path")):
        answer = await http.request(method, f"/app/api/{path}", headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (401, code)


@pytest.mark.parametrize("authorization", ["", "dashboard", "dashboard twice", "session valid", OLGA])
async def test_a_session_is_opened_by_its_link_only(http: httpx.AsyncClient, authorization: str) -> None:
    answer = await http.post("/app/api/session", headers={"Authorization": authorization})

    assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "forbid", 403, "forbidden"),
        ("GET", "fail", 503, "unavailable"),
        ("GET", "no/such/path", 404, "not_found"),
        ("DELETE", "me", 404, "not_found"),
    ],
)
async def test_an_error_is_a_code_and_a_sentence(
    http: httpx.AsyncClient, method: str, path: str, status: int, code: str
) -> None:
    answer = await http.request(method, f"/app/api/{path}", headers={"Authorization": OLGA})

    assert (answer.status_code, answer.json()["error"]) == (status, code)
    assert answer.json()["message"].endswith(".")
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_json_comes_back_as_it_was_sent(http: httpx.AsyncClient) -> None:
    sent = '{"text": "<script>alert(1)</script>\\u202e\\ud800 \\u2028 Юлия 🧠"}'

    answer = await http.post("/app/api/echo", headers={"Authorization": OLGA}, content=sent)

    assert answer.json()["body"] == httpx.Response(200, content=sent).json()


@pytest.mark.parametrize("body", ["[]", "1", "{", "\xff", "[" * 20_000, '{"a": "' + "x" * BODY_LIMIT + '"}'])
async def test_a_body_that_is_no_object_or_too_large_is_refused(http: httpx.AsyncClient, body: str) -> None:
    answer = await http.post("/app/api/echo", headers={"Authorization": OLGA}, content=body.encode("latin-1"))

    assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")


async def test_a_person_who_asks_too_often_waits_and_others_do_not(
    http: httpx.AsyncClient, clock: Clock
) -> None:
    statuses = [
        (await http.get("/app/api/me", headers={"Authorization": OLGA})).status_code
        for _ in range(OF_A_VISITOR.burst + 1)
    ]
    last = await http.get("/app/api/me", headers={"Authorization": OLGA})

    assert statuses == [200] * OF_A_VISITOR.burst + [429]
    assert (last.json()["error"], last.headers["retry-after"]) == ("too_many_requests", "1")
    other = await http.get("/app/api/me", headers={"Authorization": "session valid"})
    assert other.status_code == 200
    clock.now += 1.0
    assert (await http.get("/app/api/me", headers={"Authorization": OLGA})).status_code == 200


async def test_a_flood_of_forgers_is_refused_and_takes_nothing_from_a_person(http: httpx.AsyncClient) -> None:
    forged = [
        (await http.get("/app/api/me", headers={"Authorization": OLGA[:-1]})).status_code for _ in range(300)
    ]

    assert set(forged) == {401, 429}
    assert (await http.get("/app/api/me", headers={"Authorization": OLGA})).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("forged", ["dashboard twice", "dashboard", "", "session valid"])
async def test_a_flood_of_forged_links_is_refused_and_the_operators_link_still_opens(
    http: httpx.AsyncClient, forged: str
) -> None:
    refused = [
        (await http.post("/app/api/session", headers={"Authorization": forged})).status_code
        for _ in range(400)
    ]

    assert set(refused) == {401, 429}
    opened = await http.post("/app/api/session", headers={"Authorization": "dashboard once"})
    assert opened.status_code == 200
    again = await http.post("/app/api/session", headers={"Authorization": forged})
    assert again.status_code == 429, "a link that opens gives strangers nothing"


def test_the_memory_of_a_rate_limit_is_bounded_and_the_oldest_owner_is_dropped(clock: Clock) -> None:
    limit = RateLimit(Rate(per_second=1, burst=1), clock=clock)
    assert limit.take("first") == 0.0
    assert limit.take("first") == pytest.approx(1.0)

    for owner in range(OWNERS):
        limit.take(owner)

    assert limit.take("first") == 0.0
    assert limit.take(OWNERS - 1) > 0
