"""The offline model: an OpenAI-compatible endpoint that stands in for a language model if there is no key.

It does not pretend to be one. It quotes what the prompt holds, newest first, with writers and dates. It calls a tool
that is asked for plainly, sets reminders, and fills the forms of summaries, facts and `/catchup` by rules. Its words
and sentences in six languages are in languages.toml.
"""
