"""/start greets, and redeems an invitation."""

from dataclasses import dataclass

from bot.transport import texts
from bot.transport.gating import INVITED
from bot.transport.people import Guests
from bot.turn.commands.call import CommandCall
from bot.turn.commands.help import HelpCommand
from bot.turn.commit import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCommand:
    """The command of a first contact."""

    guests: Guests
    help: HelpCommand
    is_offline: bool

    async def run(self, call: CommandCall) -> Reply:
        """Greet, with a button for the help text. A stranger's /start with an invitation redeems it."""
        if call.update.admission.reason == INVITED:
            return await self._redeem(call)
        text = texts.start_text(call.words, is_group=call.is_group, is_offline=self.is_offline)
        return Reply(text=text, buttons=[texts.start_button(call.words)])

    async def _redeem(self, call: CommandCall) -> Reply:
        """Let a person in who may not use the bot yet. With a wrong invitation nothing else happens."""
        redeemed = await self.guests.redeem(call.message.sender_id or 0, call.argument)
        if redeemed == "silent":
            return Reply()
        text = call.words(f"invitation-{redeemed}")
        if redeemed == "accepted":
            text = f"{text}\n\n{(await self.help.run(call)).text}"
        return Reply(text=text)
