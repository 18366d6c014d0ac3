"""Reads the prompts that the scripted model got."""

from typing import Any

RECALL_HEADING = "From this chat's memory"


def said(prompt: list[dict[str, Any]]) -> list[str]:
    """The texts of a prompt, without the system message and what was recalled."""
    return [str(message["content"]) for message in prompt[1:] if not _is_recall(message)]


def recalled(prompt: list[dict[str, Any]]) -> str:
    """What was recalled into a prompt; "" without that."""
    return "\n".join(str(message["content"]) for message in prompt[1:] if _is_recall(message))


def tool_results(prompt: list[dict[str, Any]]) -> list[str]:
    """The tools' results in a prompt, in order."""
    return [str(message["content"]) for message in prompt if message["role"] == "tool"]


def _is_recall(message: dict[str, Any]) -> bool:
    return message["role"] == "user" and str(message["content"]).startswith(RECALL_HEADING)
