"""/start and /help: the first contact, invitations, and the list of commands."""

from bot.features.feature import Feature
from bot.transport.controls import HELP_BUTTON, ButtonRule

FEATURE = Feature(
    build="bot.features.start.command:build",
    commands={"start": "nobody", "help": "everybody"},
    buttons={HELP_BUTTON: ButtonRule(needs_access=False, is_answered_anew=True)},
)
