"""Settings as people paste them: what is around a value, whole addresses, files with secrets, misspelt names."""

import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.errors import SettingsInvalid
from bot.features.settings import load_settings, misspelt_settings
from bot.settings import Access, Settings

KEY = "sk-proj-1"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Read `.env` of an empty folder, as the product does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(Settings.model_config, "env_file", ".env")
    return tmp_path


def problems(**given: object) -> list[str]:
    with pytest.raises(SettingsInvalid) as refused:
        load_settings(**given)
    return refused.value.problems


def shown(value: object) -> object:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


@pytest.mark.parametrize(
    "around",
    [
        *("{}\n", " {}\t", "\r\n{}\r\n", "\ufeff{}", "\u200b{}\u200b", "\xa0{}\u202f", "\u202a{}\u202c"),
        *("\u2066{}\u2069", "\u2028{}\u2029", "\xad{}\u2060", '"{}"', "'{}'", '" {}\n"', "`{}`"),
        *("“{}”", "„{}“", "«{}»", "\u2018{}\u2019", "{}”"),
    ],
)
def test_what_is_around_a_value_is_cut(around: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    values = {"openai_api_key": KEY, "telegram_bot_token": "1:abc", "openai_model": "qwen3"}
    values |= {"redis_url": "redis://h", "http_host": "::1", "log_level": "debug"}
    for name, value in values.items():
        monkeypatch.setenv(name.upper(), around.format(value))
    monkeypatch.setenv("RECALL_K", around.format("7"))
    (folder / "secret").write_text(around.format("q-1"), "utf-8")
    monkeypatch.setenv("QDRANT_API_KEY_FILE", around.format(folder / "secret"))

    settings = load_settings()

    assert {name: shown(getattr(settings, name)) for name in values} == values
    assert (settings.recall_k, shown(settings.qdrant_api_key)) == (7, "q-1")


def test_a_value_of_env_is_trimmed_too_and_its_mark_of_windows_ignored(folder: Path) -> None:
    text = f'\ufeffOPENAI_API_KEY="{KEY}\\n"\r\nOPENAI_MODEL=“qwen3” \r\nOPENAI_SUMMARY_MODEL=" "\r\n'
    (folder / ".env").write_bytes(text.encode())

    settings = load_settings()

    assert (shown(settings.openai_api_key), settings.openai_model) == (KEY, "qwen3")
    assert settings.summary_model == ""


@pytest.mark.parametrize(
    "name", ["openai_api_key", "qdrant_api_key", "webhook_secret", "telegram_bot_token", "redis_url"]
)
@pytest.mark.parametrize(
    ("inside", "told"), [("\u200b", "zero width space"), ("\n", "a line break"), ("\x07", "control")]
)
def test_an_invisible_character_inside_a_secret_is_named(name: str, inside: str, told: str) -> None:
    (problem,) = problems(**{name: f"1:hid{inside}den"})

    assert problem.startswith(f"{name.upper()}: has an invisible character inside")
    assert told in problem
    assert "hid" not in problem
    assert "\n" not in problem


def test_a_secret_that_no_header_carries_is_named() -> None:
    assert problems(openai_api_key="sk-ключ", qdrant_api_key="clé") == [
        "QDRANT_API_KEY: has a character inside that no HTTP header can carry. Copy it again",
        "OPENAI_API_KEY: has a character inside that no HTTP header can carry. Copy it again",
    ]


@pytest.mark.parametrize(
    "pasted",
    [
        *(
            "Bearer {}",
            "bearer {}",
            "BEARER  {}",
            "Bearer: {}",
            "Authorization: Bearer {}",
            "authorization:bearer {}",
        ),
        *(
            "OPENAI_API_KEY={}",
            "openai_api_key = {}",
            'export OPENAI_API_KEY="{}"',
            "OPENAI_API_KEY: {}",
            "API_KEY={}",
        ),
        *("api-key: {}", "X-Api-Key:{}", "OPENAI_API_KEY='Bearer {}'", '"Authorization: Bearer {}"'),
    ],
)
def test_what_is_before_a_key_is_cut(pasted: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(load_settings(openai_api_key=pasted.format(KEY)).openai_api_key) == KEY

    (folder / "key").write_text(pasted.format(KEY) + "\n")
    monkeypatch.setenv("OPENAI_API_KEY_FILE", "key")
    monkeypatch.setenv("QDRANT_API_KEY_FILE", "key")
    settings = load_settings()
    assert (shown(settings.openai_api_key), shown(settings.qdrant_api_key)) == (KEY, KEY)


@pytest.mark.parametrize("key", ["a2V5key=", "bearer-1", "token1=b", "keys-1"])
def test_a_key_that_begins_as_a_header_is_kept(key: str) -> None:
    assert shown(load_settings(openai_api_key=key).openai_api_key) == key


@pytest.mark.parametrize("name", ["openai_api_key", "qdrant_api_key", "telegram_bot_token", "webhook_secret"])
@pytest.mark.parametrize("pasted", ["1:hidden # my key", "1:hid den", "Basic 1:hidden", "my key is 1:hidden"])
def test_a_blank_inside_a_secret_is_named(name: str, pasted: str) -> None:
    assert problems(**{name: pasted}) == [f"{name.upper()}: has a blank inside: write the secret alone"]


@pytest.mark.parametrize(
    "name",
    [
        *("openai_model", "openai_summary_model", "openai_embedding_model", "openai_transcription_model"),
        *("openai_speech_model", "models", "openai_image_model"),
    ],
)
def test_an_invisible_character_inside_the_name_of_a_model_is_named(name: str) -> None:
    (problem,) = problems(**{name: "gpt\xa05"})

    assert problem.startswith(f"{name.upper()}: has an invisible character inside at place 4: no-break space")


@pytest.mark.parametrize("pasted", ["[1, 2]", '["1","2"]', "1;2", "1,2 # me and Olga"])
def test_numbers_may_be_a_list_of_json(pasted: str) -> None:
    """NousResearch/hermes-agent#109423."""
    assert load_settings(operator_ids=pasted).of(Access).operator_ids == {1, 2}
    assert problems(operator_ids="[]")[0].startswith("OPERATOR_IDS: [] is not a number")


def test_a_path_may_begin_at_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gi-dellav/zerostack#187."""
    monkeypatch.setenv("HOME", str(folder))
    (folder / "key").write_text(KEY)
    monkeypatch.setenv("OPENAI_API_KEY_FILE", "~/key")
    (folder / ".env").write_text("DATA_DIR=~/data\nAGENTS_FILE='~/agents.toml'\n")

    settings = load_settings()

    assert (settings.data_dir, settings.agents_file) == (folder / "data", folder / "agents.toml")
    assert shown(settings.openai_api_key) == KEY
    assert load_settings(data_dir="~data").data_dir == Path("~data")


def test_a_comment_behind_a_value_is_cut_as_docker_does_not() -> None:
    """mtrnix/metronix-memory#458."""
    settings = load_settings(openai_model="qwen3 # local", recall_k="7  # few", openai_summary_model="# none")

    assert (settings.openai_model, settings.recall_k, settings.summary_model) == ("qwen3", 7, "")
    assert load_settings(openai_model="qwen#3").openai_model == "qwen#3"


def test_any_setting_may_be_pasted_with_its_name() -> None:
    settings = load_settings(openai_model="OPENAI_MODEL=qwen3:8b", redis_url="export REDIS_URL='redis://h'")

    assert (settings.openai_model, shown(settings.redis_url)) == ("qwen3:8b", "redis://h")


@pytest.mark.parametrize(
    ("pasted", "base"),
    [
        ("http://host:11434", "http://host:11434/v1"),
        ("http://[::1]:11434/", "http://[::1]:11434/v1"),
        ("http://host:11434/api/generate", "http://host:11434/v1"),
        ("https://host/v1/chat/completions", "https://host/v1"),
        ("https://host/v1/chat/completions/", "https://host/v1"),
        ("https://host/v1/completions", "https://host/v1"),
        ("https://host/v1/embeddings", "https://host/v1"),
        ("https://host/v1/models", "https://host/v1"),
        ("https://host/v1/responses", "https://host/v1"),
        ("https://host/v1/audio/transcriptions", "https://host/v1"),
        ("https://user:word@host/api/chat/completions", "https://user:word@host/api"),
        ("https://gateway/team/v1?api-version=3", "https://gateway/team/v1?api-version=3"),
        ("https://api.perplexity.ai", "https://api.perplexity.ai"),
        ("https://api.deepseek.com/chat/completions", "https://api.deepseek.com/v1"),
        ("https://openrouter.ai", "https://openrouter.ai/api/v1"),
        ("https://api.groq.com/openai/v1/", "https://api.groq.com/openai/v1"),
        ("https://openrouter.ai/api", "https://openrouter.ai/api/v1"),
        ("https://openrouter.ai/v1/", "https://openrouter.ai/api/v1"),
        ("https://openrouter.ai/api/v1/chat/completions", "https://openrouter.ai/api/v1"),
        ("https://openrouter.ai/other", "https://openrouter.ai/other"),
        ("https://api.groq.com/openai", "https://api.groq.com/openai/v1"),
        (
            "https://generativelanguage.googleapis.com/v1beta",
            "https://generativelanguage.googleapis.com/v1beta/openai",
        ),
        ("https://dashscope.aliyuncs.com", "https://dashscope.aliyuncs.com/compatible-mode/v1"),
        ("https://dashscope-intl.aliyuncs.com/v1", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"),
        (
            "https://ws1.ap-southeast-1.maas.aliyuncs.com/compatible-mode",
            "https://ws1.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1",
        ),
        ("https://open.bigmodel.cn/api/paas", "https://open.bigmodel.cn/api/paas/v4"),
        ("https://open.bigmodel.cn/api/coding/paas/v4", "https://open.bigmodel.cn/api/coding/paas/v4"),
        ("https://ark.cn-beijing.volces.com", "https://ark.cn-beijing.volces.com/api/v3"),
        ("https://qianfan.baidubce.com", "https://qianfan.baidubce.com/v2"),
        ("https://host/v1,", "https://host/v1"),
        ("https://host/v1.", "https://host/v1"),
        ("https://host/v1/chat/completions);", "https://host/v1"),
        ("http://[::1]:11434.", "http://[::1]:11434/v1"),
        # Addresses for Anthropic's own form (ys-ll/uniterm#365), and of other APIs of the same servers.
        ("https://api.deepseek.com/anthropic", "https://api.deepseek.com/v1"),
        ("https://api.z.ai/api/anthropic", "https://api.z.ai/api/paas/v4"),
        ("https://api.moonshot.ai/anthropic/v1/messages", "https://api.moonshot.ai/v1"),
        (
            "https://dashscope.aliyuncs.com/apps/anthropic",
            "https://dashscope.aliyuncs.com/compatible-mode/v1",
        ),
        ("https://openrouter.ai/api/v1/messages", "https://openrouter.ai/api/v1"),
        (
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
            "https://generativelanguage.googleapis.com/v1beta/openai",
        ),
        ("http://localhost:1234/api/v1/chat", "http://localhost:1234/v1"),
        ("https://ollama.com/api/chat", "https://ollama.com/v1"),
        ("https://me.openai.azure.com", "https://me.openai.azure.com/openai/v1"),
        (
            "https://me.openai.azure.com/openai/v1/?api-version=preview",
            "https://me.openai.azure.com/openai/v1?api-version=preview",
        ),
        (
            "https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21",
            "https://me.openai.azure.com/openai/v1",
        ),
        (
            "https://me.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview",
            "https://me.services.ai.azure.com/openai/v1",
        ),
    ],
)
def test_the_base_url_of_the_model_is_mended(pasted: str, base: str) -> None:
    settings = load_settings(openai_base_url=pasted)

    assert settings.openai_base_url == base
    assert load_settings(openai_base_url=settings.environment["OPENAI_BASE_URL"]).openai_base_url == base


@pytest.mark.parametrize(
    ("name", "pasted", "kept"),
    [
        ("telegram_api_url", "https://api.telegram.org/bot", "https://api.telegram.org"),
        ("telegram_api_url", "https://own.test/tg/bot123:ABC-d/getMe?x=1", "https://own.test/tg"),
        ("telegram_api_url", "https://own.test/file/bot<token>/", "https://own.test"),
        ("telegram_api_url", "https://own.test/botapi", "https://own.test/botapi"),
        ("qdrant_url", "http://host:6333/dashboard#/collections", "http://host:6333"),
        ("qdrant_url", "https://host/qdrant/", "https://host/qdrant"),
        ("qdrant_url", "http://a:6333/dashboard, HTTPS://b , ", "http://a:6333,https://b"),
        ("qdrant_url", "http://a:6333;http://a:6333", "http://a:6333"),
        ("qdrant_url", "http://u:p,w@a:6333,http://b", "http://u:p%2Cw@a:6333,http://b"),
        ("otel_exporter_otlp_endpoint", "http://host:4318/v1/traces", "http://host:4318"),
        ("webhook_url", "https://bot.test/telegram/webhook/?a=1", "https://bot.test/telegram/webhook"),
        ("webhook_url", "https://bot.test/some#x", "https://bot.test/some/telegram/webhook"),
        ("public_url", "https://bot.test/app/?a=1#/chats", "https://bot.test"),
        ("public_url", "https://bot.test/telegram/webhook", "https://bot.test"),
        ("http_host", "[::1]", "::1"),
        ("http_host", " 0.0.0.0 ", "0.0.0.0"),  # noqa: S104
    ],
)
def test_other_addresses_are_mended(name: str, pasted: str, kept: str) -> None:
    assert getattr(load_settings(**{name: pasted}), name) == kept


@pytest.mark.parametrize(
    "name",
    [
        *("openai_base_url", "qdrant_url", "telegram_api_url", "otel_exporter_otlp_endpoint"),
        *("webhook_url", "public_url"),
    ],
)
@pytest.mark.parametrize(
    ("pasted", "told"),
    [
        ("hidden.test:8000/v1", "write https:// before it"),
        ("ftp://hidden.test", "https:// address"),
        ("https:///v1", "https:// address"),
        ("https://hid\u200bden.test", "zero width space"),
        ("https://hidden .test", "a blank inside"),
        ("https://u:hid/den@h", "a port that is no number"),
        ("https://hidden:[@h", "no address"),
    ],
)
def test_an_address_that_cannot_be_mended_is_named_without_its_value(
    name: str, pasted: str, told: str
) -> None:
    (problem,) = problems(**{name: pasted})

    assert problem.startswith(f"{name.upper()}: ")
    assert told in problem
    assert "hid" not in problem


@pytest.mark.parametrize("host", ["[::1]:8080", "0.0.0.0:8080", "http://0.0.0.0", "a/b", "::zz"])
def test_a_host_with_more_than_a_host_is_named(host: str) -> None:
    (problem,) = problems(http_host=host)

    assert problem.startswith("HTTP_HOST: must be a host or an IP address alone")


SECRETS = {
    "telegram_bot_token": "1:abc",
    "webhook_secret": "s-1",
    "redis_url": "redis://:word@h",
    "qdrant_api_key": "q-1",
    "openai_api_key": KEY,
}


def test_every_secret_is_read_from_its_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (name, value) in enumerate(SECRETS.items()):
        (folder / name).write_text(f"{value}\n")
        if number % 2:
            monkeypatch.setenv(f"{name.upper()}_FILE", str(folder / name))
        else:
            with (folder / ".env").open("a") as env:
                env.write(f"{name}_file={folder / name}\n")

    settings = load_settings()

    assert {name: shown(getattr(settings, name)) for name in SECRETS} == SECRETS
    assert {KEY, "1:abc", "q-1", "s-1", "word"} <= set(settings.secrets)


def test_another_process_of_ours_gets_the_secrets_of_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "key").write_text(KEY)
    (folder / ".env").write_text("OPENAI_API_KEY_FILE=key\n")
    settings = load_settings()

    for name, value in settings.environment.items():
        monkeypatch.setenv(name, value)

    assert shown(load_settings().openai_api_key) == KEY


def test_a_setting_and_its_file_are_refused_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".env").write_text("OPENAI_API_KEY=hidden\n")
    monkeypatch.setenv("OPENAI_API_KEY_FILE", "key")

    assert problems() == ["OPENAI_API_KEY: is set, and OPENAI_API_KEY_FILE too. Remove one of them"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot be read (FileNotFoundError)"),
        (b" \n\xef\xbb\xbf", "is empty"),
        (b"\xff\xfes\x00k\x00", "cannot be read (UnicodeDecodeError)"),
        (b"x" * 20_000, "is larger than 16,384 bytes"),
    ],
)
def test_a_file_without_a_secret_is_named(
    content: bytes | None, told: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if content is not None:
        (folder / "key").write_bytes(content)
    monkeypatch.setenv("OPENAI_API_KEY_FILE", "key")
    monkeypatch.setenv("REDIS_URL_FILE", str(folder))

    assert problems(recall_k=-1)[1:] == [
        f"OPENAI_API_KEY_FILE: the file {told}",
        "REDIS_URL_FILE: the file cannot be read (IsADirectoryError)",
    ]


def test_a_secret_in_a_file_is_checked_as_any(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "token").write_text("hidden\n")
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN_FILE", "token")

    assert problems() == ["TELEGRAM_BOT_TOKEN: must look like 123456:ABC-DEF, as @BotFather gives it"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("OPENAI_MODLE", "OPENAI_MODEL"),
        ("openai_modle", "OPENAI_MODEL"),
        ("OPEN_AI_MODEL", "OPENAI_MODEL"),
        ("OPENAI_KEY", "OPENAI_API_KEY"),
        ("OPENAI_API_BASE", "OPENAI_BASE_URL"),
        ("REDIS_URI", "REDIS_URL"),
        ("BOT_TOKEN", "TELEGRAM_BOT_TOKEN"),
        ("ALLOWED_USERS", "ALLOWED_USER_IDS"),
        ("TELEGRAM_BOT_TOKEN_FIEL", "TELEGRAM_BOT_TOKEN_FILE"),
        ("LOGLEVEL", "LOG_LEVEL"),
    ],
)
def test_a_misspelt_name_in_env_is_found(name: str, meant: str, folder: Path) -> None:
    (folder / ".env").write_text(f"{name}=hidden\n")

    assert misspelt_settings() == {name: meant}


FOREIGN = (
    *("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_LOG", "OPENAI_WEBHOOK_SECRET"),
    *("REDIS_HOST", "REDIS_PORT", "REDIS_PASSWORD", "REDIS_SSL"),
    *("QDRANT_HOST", "QDRANT_PORT", "HTTP_PROXY", "HTTPS_PROXY"),
    *("NO_PROXY", "ALL_PROXY", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
    *("OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_SERVICE_NAME", "VALKEY_PASSWORD", "STORES_NET"),
    *("MNEMOGRAM_IMAGE", "COMPOSE_PROJECT_NAME", "LOG_FILE", "TELEGRAM_API_ID"),
    *("TELEGRAM_API_HASH", "TZ", "PORT", "DATABASE_URL"),
)


def test_names_of_other_programs_are_not_misspelt(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".env").write_text("".join(f"{name}=x\n" for name in FOREIGN))
    for name in (*FOREIGN, "OPENAI_KEY", "REDIS_URI", "BOT_TOKEN", "MODEL"):
        monkeypatch.setenv(name, "x")

    assert misspelt_settings() == {}


def test_in_the_environment_only_a_name_that_is_nearly_ours_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_MODLE", "x")
    monkeypatch.setenv("OPENAI_MODEL", "x")

    assert {name: meant for name, meant in misspelt_settings().items() if name in os.environ} == {
        "OPENAI_MODLE": "OPENAI_MODEL"
    }


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("operator_ids", "`mnemogram init` finds your number by a code that you send to the bot"),
        ("allowed_user_ids", "`mnemogram invite` needs no number"),
        ("allowed_chat_ids", "Without this setting `mnemogram chats` lists them"),
    ],
)
@pytest.mark.parametrize("pasted", ["@olga", "42, @olga", "@olga 42"])
def test_a_name_in_place_of_a_number_is_refused_with_a_way_to_the_number(
    name: str, way: str, pasted: str
) -> None:
    (problem,) = problems(**{name: pasted})

    assert problem.startswith(f"{name.upper()}: @olga is not a number, ")
    assert way in problem
    assert problem.endswith(f" (it is {pasted!r})")
