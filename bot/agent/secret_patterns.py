"""Secrets in statements: keys, tokens, card numbers and passwords, which no memory should keep (pure)."""

import re

_TOKENS = re.compile(
    r"""(?<![A-Za-z0-9])(?:
        sk-[A-Za-z0-9_-]{16,}                                # OpenAI, Anthropic, OpenRouter (openinterpreter#1824)
        | (?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}        # Stripe
        | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_\w{20,}    # GitHub
        | glpat-[\w-]{16,}                                   # GitLab
        | A[KS]IA[A-Z0-9]{16}                                # AWS
        | AIza[\w-]{30,} | AQ\.[\w-]{16,}                     # Google
        | SG\.[\w-]{10,}\.[\w-]{10,}                         # SendGrid
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
_ASSIGNED = re.compile(
    r"""\b(?:
        (?:\w+_)?(?:secret|token|passw(?:or)?d|pwd|key)(?:_\w+)?["']?\s*=
        | \w+_(?:secret|token|passw(?:or)?d|pwd|key)["']?(?:\s*:|\s+is\s)
    )\s*
    ["']?(?=[^\s"']*\d|[^\s"']{16})[^\s"']{6,}""",
    re.VERBOSE | re.IGNORECASE,
)
_CARD = re.compile(r"(?<![\d.,+-])\d(?:[ -]?\d){12,18}(?![\d.,]?\d)")
_STATED = re.compile(
    r"""\b(?:
        pass(?:word|code|phrase)(?!\s+manager) | pin(?:[ -]?code)? | api[ -]key | secret(?:\s+access)?\s+key | cvv
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
_NO_COUNT = r"(?!\d+(?:[./:-]\d|[.,]?\s+(?:times|characters|digits|mal|zeichen|veces|vezes|раз|символ|цифр)))"
"""No date, time or count follows."""
_DIRECT = re.compile(
    rf"""\b(?:
        (?:pass(?:word|code|phrase)|passwort|kennwort|contraseña|senha|парол[ьяюем]{{1,2}}|گذرواژه|پسورد)
        \s+["'«“]?{_NO_COUNT}(?=[^\s"'«»“”]*\d)[^\s"'«»“”]{{4,}}
        | парол[ьяюем]{{1,2}}\s+[^\W\d]{{4,}}\s+{_NO_COUNT}(?!(?:19|20)\d\d\b)(?=\S*\d)\S{{4,}}
        | (?:pin(?:[ -]?code)?|cv[cv]2?|geheimzahl|пин(?:-?код\w?)?)
        (?:\s*[:=—–]\s*|\s+(?:(?:is|ist|es|é)\s+)?){_NO_COUNT}\d{{3,8}}\b
        | пин(?:-?код\w?)?\s+(?:(?:от|для)\s+)?[^\W\d]{{4,}}\s+{_NO_COUNT}(?!(?:19|20)\d\d\b)\d{{3,8}}\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)
"""A password or a code without a word or sign before it: "PIN 4821"."""


def holds_secret(text: str) -> bool:
    """Return True if the text tells a key, a token, a card number, a password or a code.

    Only plain cases: a statement that looks like one by chance would be lost (mem0ai/mem0#6818).
    """
    if any(each.search(text) for each in (_TOKENS, _PRIVATE_KEY, _ASSIGNED, _STATED, _DIRECT)):
        return True
    return any(_is_card(re.sub(r"\D", "", match[0])) for match in _CARD.finditer(text))


def _is_card(digits: str) -> bool:
    """Return True for 13 to 19 digits with Luhn's check digit and the first digit of a card."""
    if digits[0] not in "23456" or len(set(digits)) < 2:
        return False
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0
