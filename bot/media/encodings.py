"""The encoding of a text without a byte order mark that is not UTF-8, with its certainty (pure).

charset-normalizer tells texts from other data. Its choice of encodings fails for short texts and among Latin ones
(jawah/charset_normalizer#365, #477, #587), so it is a hint only. Letters decide: those that the languages of an
encoding use, with rough frequencies. The declaration of a page or a source file is a strong hint.
"""

import re
from codecs import getincrementaldecoder, lookup
from collections.abc import Collection, Iterable
from functools import lru_cache
from math import log

from charset_normalizer import from_bytes

_SAMPLE = 4_000
"""Bytes that are judged. They are taken from lines with bytes beyond ASCII: a header may be ASCII."""
_FOREIGN = re.compile(rb"[\x80-\xff]")
_AROUND = 1_000
"""Bytes of a long line before and after the first of these bytes."""
_PLAIN = re.compile(rb"[\t\r\n -~]+")
_MOST_OTHERS = 0.3
"""The share of other bytes up to which data with few letters is a text: charset-normalizer refuses some of these."""
_DECLARATION = re.compile(rb"(?:charset|coding)\s*[=:]?\s*[\"']?([A-Za-z0-9._-]{2,30})")
_DECLARATION_WITHIN = 1_024
_ALSO_DECLARED = {
    "iso8859_1": ("cp1252", "latin_1"),
    "iso8859_9": ("cp1254",),
    "shift_jis": ("cp932",),
    "gb2312": ("gb18030",),
    "gbk": ("gb18030",),
    "big5": ("big5hkscs",),
    "euc_kr": ("cp949",),
}
"""By declared encoding: those that programs mean by it."""
_DECLARED, _PLAUSIBLE = 30.0, 4.0
"""The natural logarithms of the odds for a declared encoding, and for one of charset-normalizer. Both may be wrong."""
_SURE = 6.0
"""The best encoding is certain if the natural logarithm of its odds against the next one is at least this."""

_WEST = ("àâæçéèêëîïôœùûüÿ", "äöüß", "áéíñóúü", "àáâãçéêíóôõú", "àèéìíòóùú", "äåöæøé", "àçèéíïòóúü·")
_CENTRAL = ("ąćęłńóśźż", "áäčďéěíĺľňóôŕřšťúůýž", "áéíóöőúüű", "ăâîşșţț", "čćđšž", "äöüß")
_TURKISH = ("çğıöşüâîû",)
_BALTIC = ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž")
_CYRILLIC = (
    "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
    "оанивертскілдупмьязгбйчхїжєцюшщфґ",
    "аиоентрсвлкдпмзгяъубчцйжщхюшфь",
    "аиоенрсуткјвдмплгзбчшцњжљђћхџф",
)
_GREEK = ("ατοιενρσκηπςυμλίόάγέδήωχθύφβξζψώϊΐϋ",)
_HEBREW = ("יוהלרבתמאשנעםדקחפסכגטצןזךףץ",)
_ARABIC = ("اليمونرتبةعدسفهكقأحجشطصىخإضذثظغآئؤء،؛؟", "ایردنهومتبسلکشزفگعخقجآپحطصچضذثظغئء،؛؟")
_THAI = ("านรอกเงมยลวดทสตะปบคหแจพชขใ่้ีัิืุูไโำ็์ผถณธซญฐศษฟภฎฏฒฉึๆ",)

_ALPHABETS = {
    "cp1252": (0.0, _WEST),
    "cp1251": (0.0, _CYRILLIC),
    "cp1250": (1.0, _CENTRAL),
    "cp1253": (1.0, _GREEK),
    "cp1254": (1.0, _TURKISH),
    "cp1255": (1.0, _HEBREW),
    "cp1256": (1.0, _ARABIC),
    "cp874": (1.0, _THAI),
    "koi8_r": (1.0, _CYRILLIC),
    "latin_1": (1.5, ("áéíóúýþæðö",)),
    "koi8_u": (1.5, _CYRILLIC),
    "cp866": (2.0, _CYRILLIC),
    "cp1257": (2.0, _BALTIC),
    "iso8859_2": (2.0, _CENTRAL),
    "iso8859_15": (2.0, _WEST),
    "mac_roman": (2.0, _WEST),
    "cp850": (2.0, (*_WEST, *_TURKISH)),
    "cp852": (3.0, _CENTRAL),
    "mac_latin2": (3.0, _CENTRAL),
    "iso8859_5": (3.0, _CYRILLIC),
    "iso8859_6": (3.0, _ARABIC),
    "iso8859_7": (3.0, _GREEK),
    "mac_cyrillic": (3.0, _CYRILLIC),
    "gb18030": (0.0, ()),
    "cp932": (0.0, ()),
    "big5hkscs": (0.0, ()),
    "cp949": (0.0, ()),
    "euc_jp": (1.0, ()),
}
"""By encoding: how much rarer it is than the most usual one, as a logarithm; and alphabets, frequent letters first."""
_ENCODINGS = list(_ALPHABETS)

_INSIDE_WORDS = frozenset("\u00a0\u2019·\u00ad\u200c")
_USUAL_MARKS = frozenset(
    "\u00a0\u200c\u200e\u200f§©«°±²³´·»½¿¡–—‘’‚“”„†•…€№™×ªº¬\u00ad÷¹‹›£¥µ¼¾‰─│┌┐└┘├┤┬┴┼═║╔╗╚╝"  # noqa: RUF001
)
_STRANGE, _RARE = log(1 / 5_000), log(1 / 300_000)
"""Of a character that no language of the encoding uses, in one byte and in two."""
_DOUBTFUL = log(1 / 90)
"""Of the average letter of a text in an encoding that is none of these."""
_FREQUENT, _SELDOM = log(1 / 14), log(1 / 60)
_MIXED = log(1 / 6)
"""Of an accented letter without a plain one beside it, and of another script's letter with one."""
_FREQUENT_LETTERS = 11
_KANA, _HALF_WIDTH, _SYLLABLE, _IDEOGRAPH = log(1 / 120), log(1 / 75), log(1 / 2_500), log(1 / 1_500)
_KOREAN = frozenset(
    "이다는을가의에고하도지한로기어사서리자시정대인나라아해스전을를은으년그들있것수보일제부장주구성상과와여요니세합습"
)
_JAPANESE = frozenset(["cp932", "euc_jp"])
_COMMON = {
    "gb18030": (0xB0, 0xD7, 0xA1),
    "big5hkscs": (0xA4, 0xC6, 0),
    "cp949": (0xB0, 0xC8, 0xA1),
    "cp932": (0x88, 0x98, 0),
    "euc_jp": (0xB0, 0xCF, 0),
}
"""First and last leading byte, and lowest second byte, of the ideographs or syllables that the first standard had."""


def find_encoding(data: bytes) -> tuple[str, bool] | None:
    """Return the encoding of a text, and True if it is certain; None for data that is no text.

    Only a sample is judged, so that the work does not grow with the data.
    """
    sample = _sample_of(data)
    matches = from_bytes(sample, cp_isolation=_ENCODINGS)
    if not (matches or _is_mostly_latin(sample)):
        return None
    plausible = {encoding for match in matches for encoding in match.could_be_from_charset}
    declared = _declared_in(data)
    readings = [
        (
            _likelihood(text, encoding)
            + _PLAUSIBLE * (encoding in plausible)
            + _DECLARED * (encoding in declared),
            encoding,
            text,
        )
        for encoding, text in _decoded(sample)
    ]
    if not readings:
        return None
    best, encoding, text = max(readings)
    others = [likelihood for likelihood, _, other in readings if other != text]
    letters = sum(character > "\x7f" for character in text)
    is_likely = best >= _DOUBTFUL * letters or not _ALPHABETS[encoding][1]
    return encoding, is_likely and best - max([*others, _STRANGE * letters]) >= _SURE


def _declared_in(data: bytes) -> Collection[str]:
    """Return the encodings with the name that a page, a style sheet or a source file has in its first lines."""
    found = _DECLARATION.search(data[:_DECLARATION_WITHIN])
    name = found[1].decode("ascii") if found else ""
    try:
        name = lookup(name).name.replace("-", "_") if name else ""
    except LookupError:
        return ()
    return _ALSO_DECLARED.get(name, (name,))


def _is_mostly_latin(sample: bytes) -> bool:
    return len(_PLAIN.sub(b"", sample)) <= _MOST_OTHERS * len(sample)


def _sample_of(data: bytes) -> bytes:
    pieces, size, at = list[bytes](), 0, 0
    while size < _SAMPLE and (found := _FOREIGN.search(data, at)):
        first = max(at, found.start() - _AROUND)
        start = data.rfind(b"\n", first, found.start()) + 1 or first
        end = data.find(b"\n", found.start(), found.start() + _AROUND) + 1 or found.start() + _AROUND
        pieces.append(data[start:end])
        size, at = size + len(pieces[-1]), end
    return b"".join(pieces)


def _decoded(sample: bytes) -> Iterable[tuple[str, str]]:
    for encoding in _ENCODINGS:
        try:
            yield encoding, getincrementaldecoder(encoding)().decode(sample)  # it may end within a character
        except UnicodeDecodeError:
            continue


def _likelihood(text: str, encoding: str) -> float:
    """Return the logarithm of the likelihood of the characters beyond ASCII if this is the encoding."""
    rarity, alphabets = _ALPHABETS[encoding]
    if not alphabets:
        return _in_ideographs(text, encoding) - rarity
    return max(_in_alphabet(text, alphabet) for alphabet in alphabets) - rarity


def _in_ideographs(text: str, encoding: str) -> float:
    total, before = 0.0, ""
    for character in text:
        if character > "\x7f":
            total += _east_asian(character, encoding) + (_MIXED if _is_latin(before) else 0.0)
        before = character
    return total


def _in_alphabet(text: str, alphabet: str) -> float:
    total, before = 0.0, ""
    for at, character in enumerate(text):
        if character > "\x7f" and character != before:
            total += _letter(alphabet, before, character, text[at + 1 : at + 2])
        before = character
    return total


def _letter(alphabet: str, before: str, character: str, after: str) -> float:
    at = alphabet.find("\u0131" if character == "\u0130" else character.lower())
    if at >= 0 and not (before.isdigit() and after.isdigit()):
        likelihood = _FREQUENT if at < _FREQUENT_LETTERS else _SELDOM
        if character.isupper() and before.islower():
            likelihood += _STRANGE
        if before.isdigit() or after.isdigit():
            likelihood += 2 * _MIXED
        is_beside_latin = _is_latin(before) or _is_latin(after)
        return likelihood + (_MIXED if is_beside_latin != (alphabet[0] < "\u0250") else 0.0)
    is_inside = before.isalpha() and after.isalpha() and character not in _INSIDE_WORDS
    return _SELDOM if character in _USUAL_MARKS and not is_inside else _STRANGE


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalpha()


@lru_cache(maxsize=8_192)
def _east_asian(character: str, encoding: str) -> float:
    """Return the same for one character of a text with ideographs, kana or Korean syllables."""
    if character in _KOREAN:
        return _SELDOM
    if "\u3041" <= character <= "\u30ff":
        return _KANA if encoding in _JAPANESE else _RARE
    if "\uff61" <= character <= "\uff9f":
        return _HALF_WIDTH
    if "\u3000" <= character <= "\u303f" or "\uff01" <= character <= "\uff5e" or character in _USUAL_MARKS:
        return _SELDOM
    stored = character.encode(encoding)
    first, last, second = _COMMON[encoding]
    is_common = len(stored) == 2 and first <= stored[0] <= last and stored[1] >= second
    return (_SYLLABLE if encoding == "cp949" else _IDEOGRAPH) if is_common else _RARE
