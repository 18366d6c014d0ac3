"""Statements that tell a secret, and those that only look like one."""

import pytest

from bot.agent.fact_model import holds_secret


@pytest.mark.parametrize(
    "statement",
    [
        "The API key is sk-proj-" + "aB3_" * 6,
        "Ben's token: ghp_" + "a1" * 18,
        "AKIA" + "ABCD1234" * 2 + " is Anna's",
        "-----BEGIN OPENSSH PRIVATE KEY----- b3Bl",
        "Her bot is 123456789:" + "AAHdq-9_" * 4 + "abc",
        "The session is eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln",
        "The database is postgres://admin:s3cret@db:5432/x",
        "Anna pays with 4111 1111 1111 1111.",
        "Anna pays with 5500-0000-0000-0004",
        "Anna's password is hunter2.",
        "The password for the Wi-Fi is “Sunny2024”.",
        "Ben's one-time code is 482913",
        "Annas Passwort lautet geheim123.",
        "La contraseña de Ana es gato2024",
        "A senha do Wi-Fi é casa1234",
        "Пароль Анны: qwerty12",
        "Пароль от Wi-Fi — kot12345",
        "رمز عبور آنا: abc12345",
        "мой пароль 12345",
        "Анна: пароль qwerty123",
        "Пароль телефона 4821",
        "Пин-код карты 1234",
        "Пин-код от телефона 1234",
        "Anna's PIN 4821",
        "The CVV is 123",
        "CVC: 987",
        "Her password hunter2 is old",
        "Das Passwort geheim123 gilt",
        "aws_secret_access_key=" + "wJalrXUtnFEMI/K7" * 2,
        "aws_secret_access_key = " + "wJalrXUtnFEMI/K7" * 2,
        "DB_PASSWORD=hunter2",
        'client_secret: "abc123def"',
        "Her secret access key is wJalr" + "XUtnFEMI/K7" * 3,
        "Gemini's key: AQ.Ab8" + "RN6_k" * 8,
        "SG." + "aB3-_" * 4 + "." + "xY9_" * 10,
        "Das Passwort fürs WLAN ist Sommer2024.",
        "Das Passwort vom Router lautet geheim123",
        "Anna's password (Gmail): hunter2",
        "Anna's Wi-Fi password at home is: hunter2",
        '"password": "hunter2"',
        "pwd: hunter22",
        "OTP is 482911",
        "The API token is abcd" + "EFGH1234",
        "Пароль от роутера qwerty12",
        "Пароль Анны от почты qwerty12",
        "Authorization: Bearer abc.def.ghi" + "123456789",
        "xai-" + "aB3_" * 6,
        "dckr_pat_" + "aB3_" * 6,
    ],
)
def test_a_statement_with_a_secret_is_found(statement: str) -> None:
    assert holds_secret(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "Anna's password is too short.",
        "Anna's password at work is from 2019.",
        "Anna's flight is TP1234 on 2026-12-24.",
        "Пароль Анны слишком короткий",
        "Anna's token of love is a ring from 1999.",
        "Anna changed her password 2 times in 2024.",
        "Anna keeps her passwords in 1Password.",
        "Anna's password manager is 1Password.",
        "Ben takes a risk-based-approach-to-everything.",
        "Ben's phone number is +351 912 345 678.",
        "Ben's IBAN is DE89 3704 0044 0532 0130 00",
        "Anna's order has the number 1234567890123456.",
        "Ben forgot his PIN on 3 May 2024.",
        "La clave es dormir 8 horas",
        "Анна сменила пароль 2 раза",
        "Анна сменила пароль 10.05.2024",
        "Анна сменила пароль весной 2024 года",
        "Анна вводит пароль 1000 раз в день",
        "Пин-код карты истёк в 2024 году",
        "Anna's password is 100 characters long.",
        "Anna typed her password 1000 times.",
        "Ben's PIN has 4 digits",
        "Ben changed his PIN 12/05/2024",
        "Ben's secret: he likes 1980s music",
        "The primary_key=user_id of the table",
        "Ben moved to SG. Anna did not.",
        "Commit 3f786850e387550fdab836ed7e6dc881de23001b broke it",
    ],
)
def test_a_plain_statement_is_kept(statement: str) -> None:
    assert not holds_secret(statement)
