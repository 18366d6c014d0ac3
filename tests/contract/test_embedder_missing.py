"""The bot without the embedded model, as after `pip install mnemogram` without its extra."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT_MODEL = """
import sys
from importlib.machinery import PathFinder

class WithoutModel(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "ctranslate2" else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutModel
"""
DOCTOR = "from bot.cli import main\nsys.argv = ['mnemogram', 'doctor', '--json']\nmain()"
REMEMBER = """
import asyncio
from bot.app.stores import embedder_config, open_stores
from memory.stores import warm_up
from bot.features.settings import load_settings
from memory.history.message import Message
from memory.keys import ContextRef
from memory.recall.recall import IndexItem, RecallQuestion

async def main():
    settings = load_settings(_env_file=None)
    await warm_up(embedder_config(settings))
    async with open_stores(settings) as stores:
        await stores.reindexer.claim()
        ref = ContextRef(context_id="c1", partition=0)
        message = Message(id="1", role="user", text="The bike lock opens with 4711.", sent_at=1.0, tokens=9, sequence=0)
        await stores.recall.index([IndexItem(ref=ref, epoch=0, message=message)])
        question = RecallQuestion(text="What is the code of the bike lock?", now=2.0)
        print("HITS", [hit.message_id for hit in await stores.recall.search(ref, 0, question, k=3)])

asyncio.run(main())
"""


def run(folder: Path, script: str) -> str:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "DATA_DIR": str(folder / "data")}
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_MODEL + script],
        cwd=folder,
        env=environment,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return ended.stdout + ended.stderr


@pytest.mark.slow
def test_doctor_reports_that_recall_uses_words_only(tmp_path: Path) -> None:
    said = run(tmp_path, DOCTOR)
    checks = json.loads(said[said.index("{") :])["checks"]

    (embedder,) = (check for check in checks if check["name"] == "embedder")

    assert embedder["level"] == "warn"
    assert "not installed: recall uses words only" in embedder["says"]
    assert "Install ctranslate2" in embedder["fix"]


@pytest.mark.slow
def test_recall_finds_messages_by_words_after_one_warning(tmp_path: Path) -> None:
    said = run(tmp_path, REMEMBER)

    assert "HITS ['1']" in said
    assert said.count("embedder_not_loaded") == 1
    assert "recall_by_words_alone" not in said
