"""A plain bot in its own process: python-telegram-bot, openai, and the newest messages in memory. Run by whole_turn.py.

`python benchmarks/rig/plain_bot.py API_URL TOKEN MODEL_URL HISTORY`. HISTORY is a JSON file with the messages that every
chat begins with. Nothing is durable, recalled or summarised: this is a yardstick for the cost of a turn.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam
from telegram import Update
from telegram.constants import ChatAction, MessageLimit
from telegram.ext import Application, ContextTypes, MessageHandler, filters

from memory.tokens import Tokenizer

MAX_MESSAGES, MAX_TOKENS = 50, 8_000
CONCURRENT_UPDATES = 256
SYSTEM: ChatCompletionMessageParam = {"role": "system", "content": "You are a helpful assistant."}


class PlainBot:
    """Answers each message with the model's reply to the newest messages of its chat."""

    def __init__(self, model: AsyncOpenAI, beginning: list[ChatCompletionMessageParam]) -> None:
        self._model = model
        self._tokenizer = Tokenizer(encoding="o200k_base")
        self._histories: dict[int, list[ChatCompletionMessageParam]] = defaultdict(lambda: list(beginning))

    async def answer(self, update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
        """Answer one text message."""
        chat, message = update.effective_chat, update.effective_message
        if chat is None or message is None:
            return
        await chat.send_action(ChatAction.TYPING)
        history = self._histories[chat.id]
        history.append({"role": "user", "content": message.text or ""})
        self._shorten(history)
        text = await self._complete(history)
        history.append({"role": "assistant", "content": text})
        for start in range(0, len(text), MessageLimit.MAX_TEXT_LENGTH):
            await message.reply_text(text[start : start + MessageLimit.MAX_TEXT_LENGTH])

    def _shorten(self, history: list[ChatCompletionMessageParam]) -> None:
        del history[:-MAX_MESSAGES]
        while self._count(history) > MAX_TOKENS and len(history) > 1:
            del history[0]

    def _count(self, history: list[ChatCompletionMessageParam]) -> int:
        return sum(3 + self._tokenizer.count(str(message.get("content"))) for message in history)

    async def _complete(self, history: list[ChatCompletionMessageParam]) -> str:
        stream = await self._model.chat.completions.create(
            model="scripted", messages=[SYSTEM, *history], stream=True
        )
        text = ""
        async for chunk in stream:
            if chunk.choices:
                text += chunk.choices[0].delta.content or ""
        return text


def main() -> None:
    """Poll until SIGTERM."""
    api_url, token, model_url, history = sys.argv[1:]
    model = AsyncOpenAI(base_url=model_url, api_key="unused")
    bot = PlainBot(model, json.loads(Path(history).read_text()))
    builder = Application.builder().token(token).concurrent_updates(CONCURRENT_UPDATES)
    application = builder.base_url(f"{api_url}/bot").base_file_url(f"{api_url}/file/bot").build()
    application.add_handler(MessageHandler(filters.TEXT & ~filters.COMMAND, bot.answer))
    application.run_polling()


if __name__ == "__main__":
    main()
