"""/facts, the tool that forgets a fact, and the facts on the memory page."""

from bot.features.feature import Feature
from bot.transport.controls import FACTS_BUTTON, ButtonRule

FEATURE = Feature(
    build="bot.features.facts.command:build",
    commands={"facts": "everybody"},
    buttons={FACTS_BUTTON: ButtonRule(pressers="asker")},
    tools={"forget_fact": "bot.features.facts.tools:forget_fact"},
)
