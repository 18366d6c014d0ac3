"""Secrets in statements: keys, tokens, card numbers and passwords, which no memory should keep (pure)."""

import re

_TOKENS = re.compile(
    r"""(?<![A-Za-z0-9])(?:
        sk-[A-Za-z0-9_-]{16,}                                # OpenAI, Anthropic, OpenRouter (openinterpreter#1824)
        | (?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}        # Stripe
        | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_\w{20,}    # GitHub
        | glpat-[\w-]{16,}                                   # GitLab
        | A[KS]IA[A-Z0-9]{16}                                # AWS
        | AIza[\w-]{30,}                                     # Google
        | xox[a-z]-[A-Za-z0-9-]{10,} | xapp-[A-Za-z0-9-]{10,}  # Slack
        | hf_[A-Za-z0-9]{20,} | gsk_[A-Za-z0-9]{20,} | npm_[A-Za-z0-9]{30,} | pypi-[\w-]{30,}
        | \d{8,10}:[A-Za-z0-9_-]{35}                         # a Telegram bot
        | eyJ[\w-]{8,500}+\.eyJ[\w-]{8,}+\.                  # JWT
    )
    | [a-z0-9+.-]://[^\s/:@]+:[^\s/@]+@                      # a password in an address
    """,
    re.VERBOSE,
)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY")
_CARD = re.compile(r"(?<![\d.,+-])\d(?:[ -]?\d){12,18}(?![\d.,]?\d)")
_STATED = re.compile(
    r"""\b(?:
        pass(?:word|code|phrase)(?!\s+manager) | pin(?:[ -]?code)? | api[ -]key | cvv
        | (?:one[ -]time|security|verification|2fa)\s+code
        | passwort | kennwort | einmalcode | geheimzahl
        | contraseña | clave | código\s+de\s+(?:verificación|seguridad|verificação|segurança) | senha
        | парол[ьяюем]{1,2} | пин(?:-?код)? | код\s+(?:подтверждения|безопасности)
        | رمز(?:\s+عبور)? | گذرواژه | پسورد | کد\s+تأیید
    )\b
    (?:\s+(?:for|of|to|für|von|zum|der|des|de|del|do|da|para|от|для|к|برای)\s[^.!?\n]{1,40}?|\s+\w+)?
    (?:\s*[:=—–]|\s+(?:is|ist|lautet|es|é)|(?=\s+\S+\s+است))\s*
    ["'«»„“”]?(?=[^\s"'«»„“”\d]{0,200}\d)[^\s"'«»„“”]{4,}""",
    re.VERBOSE | re.IGNORECASE,
)
"""A password is what follows "is" or a colon and has a digit: "her password is too short" tells none."""


def holds_secret(text: str) -> bool:
    """Return True if the text tells a key, a token, a card number, a password or a code.

    Only plain cases: a statement that looks like one by chance would be lost (mem0ai/mem0#6818).
    """
    if _TOKENS.search(text) or _PRIVATE_KEY.search(text) or _STATED.search(text):
        return True
    return any(_is_card(re.sub(r"\D", "", match[0])) for match in _CARD.finditer(text))


def _is_card(digits: str) -> bool:
    """Return True for 13 to 19 digits with Luhn's check digit and the first digit of a card."""
    if digits[0] not in "23456" or len(set(digits)) < 2:
        return False
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0
