"""/start greets, /help lists the commands."""

from dataclasses import dataclass

from bot.transport import texts
from bot.transport.gating import INVITED
from bot.transport.people import Guests
from bot.turn.commands.call import CommandCall
from bot.turn.commit import Reply
from bot.turn.interruption import Buttons
from bot.turn.permissions import Permissions


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCommands:
    """The commands of a first contact."""

    permissions: Permissions
    guests: Guests
    buttons: Buttons
    is_offline: bool

    async def start(self, call: CommandCall) -> Reply:
        """Greet, with a button for the help text. A stranger's /start with an invitation redeems it."""
        if call.update.admission.reason == INVITED:
            return await self._redeem(call)
        text = texts.start_text(call.words, is_group=call.is_group, is_offline=self.is_offline)
        return Reply(text=text, buttons=[texts.start_button(call.words)])

    async def help(self, call: CommandCall) -> Reply:
        """List the commands that this person can use here."""
        return Reply(text=self._help_text(call, call.message.sender_id))

    async def press_help(self, call: CommandCall) -> Reply:
        """Answer the button of /start with the help text."""
        await self.buttons.answer(call.update)
        callback = call.update.callback
        return Reply(text=self._help_text(call, callback.sender_id if callback else None))

    async def _redeem(self, call: CommandCall) -> Reply:
        """Let a person in who may not use the bot yet. With a wrong invitation nothing else happens."""
        redeemed = await self.guests.redeem(call.message.sender_id or 0, call.argument)
        if redeemed == "silent":
            return Reply()
        text = call.words(f"invitation-{redeemed}")
        if redeemed == "accepted":
            text = f"{text}\n\n{self._help_text(call, call.message.sender_id)}"
        return Reply(text=text)

    def _help_text(self, call: CommandCall, reader_id: int | None) -> str:
        is_operator = self.permissions.is_operator(reader_id)
        return texts.help_text(call.words, is_group=call.is_group, is_operator=is_operator)
