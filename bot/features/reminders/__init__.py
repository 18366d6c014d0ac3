"""/reminders and /timezone, the tools for reminders, the turn of a due one, and the list on the memory page."""

from bot.features.feature import Feature
from bot.transport.controls import ButtonRule

FEATURE = Feature(
    build="bot.features.reminders.command:build",
    commands={"reminders": "everybody", "timezone": "everybody"},
    buttons={"reminders": ButtonRule(pressers="asker"), "timezone": ButtonRule(is_answered_anew=True)},
    tools={
        name: f"bot.features.reminders.tools:{name}"
        for name in ("set_reminder", "list_reminders", "cancel_reminder")
    },
)
