"""The operators' page in a real browser with the real program, which has answered 300 messages."""

import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Browser, Page, expect

from bot.turn.store import ATTEMPTS_AT_MOST
from chaos.rig.system import free_port
from memory import keys
from memory.embedded.valkey import open_valkey
from memory.redis.client import open_redis
from tests.browser.hostile_texts import PAYLOADS
from tests.browser.memory_page import (
    DESKTOP,
    OLGA,
    PHONE,
    newcomer,
    overflows,
    page_address,
    program_ref,
    say,
    watched_context,
)
from tests.browser.program import Program, run_model, run_program
from tests.scripted_script import echo

PEOPLE, ROUNDS = 20, 15
SECRET = "sk-a-secret-of-the-operator"
DEAD = 900_001


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Generator[Program]:
    """Run a program with a dead letter, which then answers 300 messages of people with hostile names."""
    folder = tmp_path_factory.mktemp("program")

    async def bury() -> None:
        async with open_valkey(folder / "data") as url, open_redis(url) as redis:
            about = ("context", program_ref(OLGA).context_id, "state", "dead", "reason", PAYLOADS[7])
            record = keys.partition_key(0, "update", DEAD)
            await redis.call("HSET", record, *about, "attempts", ATTEMPTS_AT_MOST, "finished_at", time.time())
            await redis.call("ZADD", keys.partition_key(0, "dead"), time.time(), DEAD)

    with start_blocking_portal() as portal:
        portal.call(bury)
    with run_model(echo) as model:
        settings = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": SECRET, "OPENAI_EMBEDDING_MODEL": ""}
        with run_program(folder, HTTP_PORT=str(free_port()), **settings) as program:
            talk(program)
            yield program


def talk(program: Program) -> None:
    """Let people write in rounds: one message each, and the next when all are answered."""
    people = [newcomer(program, PAYLOADS[n][:128]) for n in range(PEOPLE)]
    with httpx.Client(base_url=program.chat_page, trust_env=False) as http:
        for number in range(1, ROUNDS + 1):
            for person in people:
                line = {"chat_id": person, "from_id": person, "text": f"line {number}"}
                http.post("/api/messages", json=line).raise_for_status()
            wanted = PEOPLE * number
            program.wait_until(lambda wanted=wanted: answered(program) == wanted)


def test_the_plots_and_the_figures_of_now_show_300_turns(
    program: Program, browser: Browser, tmp_path: Path
) -> None:
    with watched_context(browser, program) as (context, watch):
        page = open_operations(context.new_page(), program)

        turns = page.get_by_test_id("plot-area-turns")
        expect(turns).to_have_attribute("aria-valuetext", f"24 hours: Turns {PEOPLE * ROUNDS}")
        expect(page.locator(".plot-area .mark-dot, .plot-area .mark-line").first).to_be_visible()
        expect(page.get_by_test_id("store-redis")).to_contain_text("up")
        expect(page.get_by_test_id("store-qdrant")).to_contain_text("up")
        page.screenshot(path=tmp_path / "now.png")
        assert overflows(page) == []
        page.get_by_test_id("ops-tab-chats").click()
        expect(page.get_by_test_id("chat-row")).to_have_count(PEOPLE)
        assert overflows(page) == []
        watch.assert_calm()


def test_the_five_tabs_of_a_phone_have_whole_names_on_one_line(program: Program, browser: Browser) -> None:
    with watched_context(browser, program, PHONE) as (context, watch):
        page = open_operations(context.new_page(), program)

        names = page.locator(".tabs .tab > span").all()
        assert len(names) == 5
        for name in names:
            lines = (
                "node => node.getBoundingClientRect().height / parseFloat(getComputedStyle(node).lineHeight)"
            )
            assert round(name.evaluate(lines)) == 1
        assert overflows(page) == []
        watch.assert_calm()


def test_a_dead_letter_is_dropped_after_a_question(program: Program, browser: Browser) -> None:
    with watched_context(browser, program) as (context, watch):
        page = open_operations(context.new_page(), program)
        page.get_by_test_id("ops-tab-updates").click()
        expect(page.get_by_test_id("dead-letter")).to_contain_text(PAYLOADS[7])

        page.get_by_role("button", name=f"Drop update {DEAD}").click()
        page.get_by_test_id("confirm-yes").click()

        expect(page.get_by_test_id("dead-letter-status")).to_have_text(f"Update {DEAD} was dropped.")
        expect(page.get_by_test_id("dead-letter")).to_have_count(0)
        watch.assert_calm()


def test_the_settings_are_shown_without_secrets(program: Program, browser: Browser) -> None:
    with watched_context(browser, program) as (context, watch):
        page = open_operations(context.new_page(), program)
        page.get_by_test_id("ops-tab-service").click()
        page.get_by_test_id("settings-all").check()

        key = page.get_by_test_id("setting").filter(has=page.get_by_text("OPENAI_API_KEY", exact=True))
        expect(key.locator("dd").first).to_have_text("set")
        assert SECRET not in page.content()
        watch.assert_calm()


def test_the_dashboards_link_opens_the_page_once(program: Program, browser: Browser) -> None:
    console = Path(sys.executable).with_name("mnemogram")
    printed = subprocess.run(
        [str(console), "dashboard"],
        env=program.environment,
        cwd=program.log.parent,
        capture_output=True,
        check=True,
        text=True,
    )
    link = printed.stdout.split()[0]
    with watched_context(browser, program) as (context, watch):
        page = context.new_page()
        page.goto(link)
        expect(page.get_by_test_id("ops-now")).to_be_visible()
        assert "#" not in page.url

        again = context.new_page()
        again.goto(link)
        expect(again.get_by_test_id("state")).to_contain_text("This link has expired")
        watch.assert_calm("401")


@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_a_person_is_forgotten_after_a_question_and_the_receipt_is_a_file_that_verifies(
    program: Program, browser: Browser, tmp_path: Path, size: tuple[int, int]
) -> None:
    person = newcomer(program, "Quentin")
    with watched_context(browser, program, size) as (context, watch):
        chat = context.new_page()
        chat.goto(f"{program.chat_page}/#/{person}/{person}")
        say(chat, "my boat is called heron")
        page = open_operations(context.new_page(), program)
        page.get_by_test_id("ops-tab-service").click()
        page.get_by_test_id("person-id").fill(str(person))
        page.get_by_test_id("person-count").click()
        expect(page.get_by_test_id("person-result")).to_contain_text("Quentin")
        page.screenshot(path=tmp_path / "counted.png", full_page=True)
        page.get_by_test_id("person-forget").click()
        page.get_by_test_id("confirm-yes").click()

        receipt = page.get_by_test_id("person-receipt")
        expect(receipt).to_contain_text('"signature"')
        page.screenshot(path=tmp_path / "forgotten.png", full_page=True)
        assert overflows(page) == []
        with page.expect_download() as saved:
            page.get_by_role("link", name="Save the receipt").click()
        saved.value.save_as(tmp_path / "receipt.json")
        console = [str(Path(sys.executable).with_name("mnemogram")), "verify", str(tmp_path / "receipt.json")]
        subprocess.run(
            console, env=program.environment, cwd=program.log.parent, capture_output=True, check=True
        )
        expect(page.get_by_test_id("person-result")).not_to_contain_text("Quentin")
        watch.assert_calm()


def open_operations(page: Page, program: Program) -> Page:
    """Open the operators' tab as Olga."""
    page.goto(page_address(program, OLGA))
    page.get_by_test_id("tab-operations").click()
    expect(page.get_by_test_id("ops-now")).to_be_visible()
    return page


def answered(program: Program) -> float:
    return program.metric('mnemogram_updates_finished_total{state="answered"}')
