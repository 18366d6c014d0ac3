"""Stories of languages: everyone is answered in their own language, in groups too."""

import pytest

from bot.transport import command_menus
from bot.transport.words import LANGUAGES, words_for
from tests.story.expected import help_text
from tests.story.harness import BEN, OLGA, StoryStores, running_bot


async def test_commands_answer_in_russian_and_persian(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        ivan = await bot.people.new_person("Иван", language_code="ru")
        sara = await bot.people.new_person("سارا", language_code="fa")
        for person, language in ((ivan, "ru"), (sara, "fa")):
            words = words_for(language)
            assert await bot.ask(person, "/help") == help_text(words)
            await bot.ask(person, "привет")
            await bot.wait_until_indexed()

            receipt = await bot.reset(person)

            assert receipt.startswith(f"{words('receipt-proven')}\n{words('reset-chat')}\n\n")
            assert await bot.ask(person, "/memory") == words("memory-nothing")


async def test_in_a_group_each_answer_is_in_the_language_of_its_asker(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        lucia = await bot.people.new_person("Lucía", language_code="es")
        klaus = await bot.people.new_person("Klaus", language_code="de-AT")
        group = await bot.people.new_chat("Team", [OLGA, lucia, klaus, BEN])
        await bot.wait_until(lambda: len(bot.said_in(group)) == 1)  # its greeting
        for person, language in ((lucia, "es"), (klaus, "de"), (BEN, "en")):
            assert await bot.ask(person, "/new", chat=group) == words_for(language)("administrators-only")


async def test_the_menus_are_registered_for_every_scope_and_language(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_menus, "FIRST_AFTER_S", 0)
    async with running_bot(stores) as bot:

        async def are_registered() -> bool:
            return len(await bot.people.calls("setMyCommands")) == 5 * len(LANGUAGES)

        await bot.wait_until_true(are_registered)
