"""Generates Markdown, renders and splits it, and sends every part through the simulator's strict `sendMessage`.

Counts refusals, texts that are not the same after joining, cuts through graphemes, and needless cuts through
formatting; of some texts every beginning is shown as a preview would be. See benchmarks/README.md.
"""

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, MutableMapping
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from random import Random
from typing import Any

import structlog
from rig.markdown_texts import MarkdownTexts
from rig.progress import show_progress
from rig.rendering_checks import MESSAGE_UNITS, differences, faults
from rig.source_letters import difference, installed_texts, paragraphs

from bot.transport.rendering import render, render_messages
from bot.transport.rich_text import RichText
from bot.transport.unfinished import without_loose_ends
from simulator.api.config import SimulatorConfig
from simulator.api.errors import ApiError
from simulator.api.methods.messages import send_message, send_message_draft
from simulator.api.payloads import SendMessage, SendMessageDraft
from simulator.api.simulation import Simulation, build_simulation

_BATCH = 250
_SHOWN = 12
_PREVIEWED = 50
_PREVIEWED_ODDITIES = 400
"""One text of so many is shown as it grows; the oddities are every tenth text, and slow to try at every length."""
_PREFIXES = 60
_DRAFT = 7
_ANSWER = (300, 4_000)
"""Characters of texts that are as long as answers."""


def main() -> int:
    """Check and print. Return 1 if anything is wrong."""
    options = _options()
    differing = check_installed(options.paragraphs) if options.paragraphs else 0
    began = time.monotonic()
    starts = range(0, options.count, _BATCH)
    counted: Counter[str] = Counter()
    said: list[str] = []
    with ProcessPoolExecutor(options.processes) as pool:
        jobs = [
            pool.submit(check_batch, options.seed, start, min(start + _BATCH, options.count))
            for start in starts
        ]
        for found, lines in show_progress(jobs):
            counted += found
            said += lines
    for line in said[:_SHOWN]:
        print(line)
    faulty = {name: count for name, count in counted.items() if name not in ("parts", "previews", "long")}
    print(
        f"{options.count:,} texts in {counted['parts']:,} messages ({counted['long']:,} texts in several) and"
        f" {counted['previews']:,} previews: {counted['refused']} refused, {counted['joined otherwise']} not the same"
        f" after joining, {counted['a grapheme cut']} graphemes cut,"
        f" {counted['formatting or a line of code cut needlessly']} needless cuts,"
        f" {sum(faulty.values())} faults in all (seed {options.seed}, {time.monotonic() - began:.0f} s)"
    )
    return 1 if faulty or differing else 0


def check_installed(most: int) -> int:
    """Compare real texts with their renderings, print each difference and the CPU time. Return the differences."""
    texts = list(islice(installed_texts(), most))
    parts = list(islice((part for text in texts for part in paragraphs(text)), most))
    found = [(part, told) for part in parts if (told := difference(part, render(part)))]
    for part, told in found:
        print(f"{told}\n    in {part[:160]!r}")
    answers = [text for text in texts if _ANSWER[0] <= len(text) <= _ANSWER[1]]
    began = time.process_time()
    for answer in answers:
        render_messages(answer)
    spent = (time.process_time() - began) * 1000 / max(len(answers), 1)
    print(
        f"{len(parts):,} paragraphs of installed packages: {len(found)} with other letters than their source;"
        f" {spent:.2f} ms of CPU for each of {len(answers):,} texts of"
        f" {sum(map(len, answers)) // max(len(answers), 1):,} characters"
    )
    return len(found)


def check_batch(seed: int, start: int, end: int) -> tuple[Counter[str], list[str]]:
    """Check the texts from `start` to `end`. Return the number of each kind, and descriptions of the faults."""
    return asyncio.run(_check_batch(seed, start, end))


async def _check_batch(seed: int, start: int, end: int) -> tuple[Counter[str], list[str]]:
    texts = MarkdownTexts(seed)
    sim = build_simulation(SimulatorConfig())
    chat_id = next(chat.id for chat in sim.world.chats.values() if chat.type == "private")
    counted: Counter[str] = Counter()
    said: list[str] = []
    _count_failures(counted)
    for number in range(start, end):
        markdown = texts.text(number)
        whole = render(markdown)
        parts = render_messages(markdown)
        counted["parts"] += len(parts)
        counted["long"] += len(parts) > 1
        found = [
            *faults(whole, parts),
            *[fault for part in parts for fault in await _send(sim, chat_id, part)],
        ]
        if number % _PREVIEWED == 1 or number % _PREVIEWED_ODDITIES == 0:
            found += await _preview(sim, chat_id, markdown, counted)
        counted.update(fault.split(":")[0] for fault in found)
        said += [f"text {number}: {fault}" for fault in found]
    return counted, said


async def _send(sim: Simulation, chat_id: int, part: RichText) -> list[str]:
    try:
        return differences(part, await send_message(sim, SendMessage.read(_parameters(chat_id, part))))
    except ApiError as error:
        return [f"refused: {error}"]


async def _preview(sim: Simulation, chat_id: int, markdown: str, counted: Counter[str]) -> list[str]:
    """Check the text as it grows by a few characters at a time."""
    random = Random(markdown.encode(errors="surrogatepass"))
    ends = range(1, len(markdown) + 1)
    said: list[str] = []
    for end in sorted(random.sample(ends, min(_PREFIXES, len(ends)))):
        parts = render_messages(without_loose_ends(markdown[:end]), MESSAGE_UNITS - 2)
        counted["previews"] += bool(parts)
        for part in parts[-1:]:
            given = _parameters(chat_id, part) | {"draft_id": _DRAFT}
            try:
                await send_message_draft(sim, SendMessageDraft.read(given))
            except ApiError as error:
                said.append(f"refused: as a preview at {end}: {error}")
    return said


def _parameters(chat_id: int, part: RichText) -> dict[str, Any]:
    """Return the parameters as they arrive over HTTP."""
    entities = [entity.to_dict() for entity in part.entities]
    part.text.encode()
    return {"chat_id": str(chat_id), "text": part.text, "entities": json.dumps(entities)}


def _count_failures(counted: Counter[str]) -> None:
    """A rendering that fell back to plain text is a fault: what it logs is counted."""

    def count(_: object, __: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
        counted[f"{event['event']} {event.get('error', '')}".strip()] += 1
        raise structlog.DropEvent

    structlog.configure(processors=[count])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50_000, help="how many texts")
    parser.add_argument("--paragraphs", type=int, default=20_000, help="how many of installed packages")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--processes", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
