"""/start greets, redeems an invitation, and opens the page of a group by its link. /help lists the commands."""

from dataclasses import dataclass

from bot.features.parts import Built, Parts
from bot.transport import texts
from bot.transport.controls import HELP_BUTTON, Controls
from bot.transport.gating import INVITED
from bot.transport.page_links import PageLinks
from bot.transport.people import Guests
from bot.transport.telegram_api import Button
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpCommand:
    """Lists the commands that a person can use here."""

    controls: Controls

    async def run(self, call: CommandCall) -> Reply:
        """Return the list for the person who sent the command, or pressed the button of /start."""
        is_operator = call.permissions.is_operator(call.person_id)
        text = texts.help_text(
            call.words, self.controls.commands, is_group=call.is_group, is_operator=is_operator
        )
        return Reply(text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCommand:
    """The command of a first contact."""

    guests: Guests
    help: HelpCommand
    page_links: PageLinks
    is_offline: bool

    async def run(self, call: CommandCall) -> Reply:
        """Greet, with a button for the help text. A stranger's /start with an invitation redeems it.

        Only an operator is told of the model's key, in private.
        A link to a group's page is answered for everybody. The page decides if this person may see it.
        """
        if call.update.admission.reason == INVITED:
            return await self._redeem(call)
        group = None if call.is_group else self.page_links.group_in(call.argument)
        if group is not None:
            buttons = self.page_links.open_privately(group, call.words("memory-open"))
            text = "start-page" if buttons else "start-page-off"
            return Reply(text=call.words(text, viewers=self.page_links.group_access), buttons=buttons)
        greeting = call.words("start-group" if call.is_group else "start-private")
        lines = [greeting, call.words("start-offline" if self.is_offline else "start-erasing")]
        if self.is_offline and not call.is_group and call.permissions.is_operator(call.person_id):
            lines.append(call.words("start-offline-operator"))
        button = Button(text=call.words("start-button"), data=HELP_BUTTON)
        return Reply(text="\n".join(lines), buttons=[button])

    async def _redeem(self, call: CommandCall) -> Reply:
        """Let a person in who may not use the bot yet. With a wrong invitation nothing else happens."""
        redeemed = await self.guests.redeem(call.message.sender_id or 0, call.argument)
        if redeemed == "silent":
            return Reply()
        text = call.words(f"invitation-{redeemed}")
        if redeemed == "accepted":
            text = f"{text}\n\n{(await self.help.run(call)).text}"
        return Reply(text=text)


async def build(parts: Parts) -> Built:
    """Return the commands and the button of the greeting."""
    help_command = HelpCommand(controls=parts.controls)
    start = StartCommand(
        guests=parts.stores.guests,
        help=help_command,
        page_links=parts.page_links,
        is_offline=parts.settings.is_offline,
    )
    return Built(
        commands={"start": start.run, "help": help_command.run}, buttons={HELP_BUTTON: help_command.run}
    )
