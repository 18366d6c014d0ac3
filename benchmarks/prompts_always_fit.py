"""Generates conversations and steps, assembles and repairs a prompt from each, and checks every one of them.

A request is checked as it would be sent: by the offline model's validator, which knows what OpenAI refuses, and by
counting its tokens again. See benchmarks/README.md.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from typing import Any

from rig.progress import show_progress
from rig.prompt_cases import IMAGE_TOKENS, PromptCase, PromptCases

from bot.agent import openai_model
from bot.agent.actions import repair_pairs
from bot.agent.model import PromptMessage, ToolSpec
from bot.agent.prompt.assembly import assemble
from bot.errors import PromptTooLong
from memory.tokens import CachingTokenCounter, Tokenizer
from tests.openai_checker.request import find_fault

_BATCH = 500
_SHOWN = 5
_TOKENIZER = Tokenizer(encoding="o200k_base")
_METER = CachingTokenCounter(_TOKENIZER)
_LEAST_PROMPT = 150
"""What the least of the other parts may take beside system prompt and tools, before a refusal is an error."""


def main() -> int:
    """Check and print. Return 1 if anything is wrong."""
    options = _options()
    began = time.monotonic()
    starts = range(0, options.count, _BATCH)
    found: Counter[str] = Counter()
    faults: list[str] = []
    with ProcessPoolExecutor(options.processes) as pool:
        jobs = [
            pool.submit(check_batch, options.seed, start, min(start + _BATCH, options.count))
            for start in starts
        ]
        for counted, said in show_progress(jobs):
            found += counted
            faults += said
    for fault in faults[:_SHOWN]:
        print(fault)
    print(
        f"{options.count:,} generated: {found['invalid']} invalid requests, {found['over']} prompts over the window"
        f" ({found['wrong']} wrong prompt records or repairs; {found['trimmed']:,} had to leave something out,"
        f" {found['refused']:,} refused: no room next to system prompt and tools;"
        f" seed {options.seed}, {time.monotonic() - began:.0f} s)"
    )
    return 1 if faults else 0


def check_batch(seed: int, start: int, end: int) -> tuple[Counter[str], list[str]]:
    """Check the cases from `start` to `end`. Return the number of each kind, and descriptions of the faults."""
    cases = _cases(seed)
    found: Counter[str] = Counter()
    faults: list[str] = []
    for number in range(start, end):
        case = cases.case(number)
        for kind, fault in [*_check_prompt(case), *_check_repair(case)]:
            found[kind] += 1
            if fault:
                faults.append(f"case {number}: {fault}")
    return found, faults


@lru_cache(maxsize=1)
def _cases(seed: int) -> PromptCases:
    return PromptCases(seed)


def _check_prompt(case: PromptCase) -> list[tuple[str, str]]:
    """Return findings about the prompt: a kind and a fault, which is empty if there is none."""
    try:
        prompt = assemble(case.parts, case.budget, meter=_METER)
    except PromptTooLong:
        fixed = count_request(
            as_sent([PromptMessage(role="system", text=case.parts.system)], case.parts.tools)
        )
        has_room = fixed + _LEAST_PROMPT <= case.budget.room
        return (
            [("wrong", f"refused with room: {fixed} of {case.budget.room}")]
            if has_room
            else [("refused", "")]
        )
    said: list[tuple[str, str]] = []
    sent = repair_pairs(prompt.messages)
    body = as_sent(sent, case.parts.tools)
    fault = find_fault(body)
    tokens = count_request(body)
    if fault:
        said.append(("invalid", fault.message))
    if tokens > case.budget.room:
        said.append(("over", f"{tokens} tokens in a room of {case.budget.room}"))
    if sent != prompt.messages:
        said.append(("wrong", "an assembled prompt needed a repair"))
    if tokens != prompt.record.tokens or tokens != sum(part.tokens for part in prompt.record.parts):
        said.append(("wrong", f"the record says {prompt.record.tokens}, counted are {tokens}"))
    if any(item.why.startswith("no room") for part in prompt.record.parts for item in part.left_out):
        said.append(("trimmed", ""))
    return said


def _check_repair(case: PromptCase) -> list[tuple[str, str]]:
    repaired = repair_pairs(case.broken)
    fault = find_fault(as_sent([PromptMessage(role="system", text="S"), *repaired], ()))
    if fault:
        return [("invalid", f"repaired: {fault.message}")]
    return [("wrong", "a second repair changed it")] if repair_pairs(repaired) != repaired else []


def as_sent(messages: Sequence[PromptMessage], tools: Sequence[ToolSpec]) -> Mapping[str, Any]:
    """Return the body of the request after encoding and decoding."""
    body = openai_model.request_body("gpt-4o", messages, tools)
    return json.loads(json.dumps(body, ensure_ascii=False).encode())


def count_request(body: Mapping[str, Any]) -> int:
    """Return the tokens of a request, by the cookbook's overheads, counted from its body alone."""
    tokens = 3
    for message in body["messages"]:
        tokens += 4 + _count_content(message["content"]) + _count(message.get("tool_call_id") or "")
        for call in message.get("tool_calls", ()):
            function = call["function"]
            tokens += 4 + _count(call["id"]) + _count(function["name"]) + _count(function["arguments"])
    for tool in body.get("tools", ()):
        function = tool["function"]
        schema = [function["name"], function["description"], function["parameters"]]
        tokens += 4 + _count(json.dumps(schema, ensure_ascii=False))
    return tokens


def _count_content(content: str | Sequence[Mapping[str, Any]] | None) -> int:
    if not isinstance(content, Sequence) or isinstance(content, str):
        return _count(content or "")
    return sum(_count(part["text"]) if part["type"] == "text" else IMAGE_TOKENS for part in content)


@lru_cache(maxsize=20_000)
def _count(text: str) -> int:
    return _TOKENIZER.count(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="how many cases")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
