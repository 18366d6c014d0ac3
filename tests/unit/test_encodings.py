# ruff: noqa: RUF001
"""Texts in encodings that people's files still have, and the certainty with which each is read."""

import random

import pytest

from bot.media.encodings import find_encoding
from bot.media.formats import UnsureText, read_text, seems_text

RUSSIAN = "Дата;Клиент;Сумма\n12.03;ООО Ромашка;1200\nСчёт оплачен, товар отправлен вчера вечером.\n"
UKRAINIAN = "Шановні клієнти, її замовлення вже їде до вас, чекайте дзвінка кур'єра завтра вранці.\n"
JAPANESE = "品番,品名,在庫\nA1,ﾃｽﾄ用ケーブル,3\n明日の会議は十時から始まります。\n"
SIMPLIFIED = "编号,名称,价格\n1,电脑,5000\n请在周五之前确认订单。\n"
TRADITIONAL = "編號,名稱,價格\n1,電腦,5000\n請在週五之前確認訂單。\n"
KOREAN = "번호,이름,가격\n1,컴퓨터,5000\n금요일까지 주문을 확인해 주세요.\n"
ARABIC = "الرقم;الاسم;السعر\n1;حاسوب;5000\nيرجى تأكيد الطلب قبل يوم الجمعة.\n"
PERSIAN = "لطفاً سفارش را تا پایان هفته تأیید کنید و نشانی گیرنده را بنویسید.\n"
HEBREW = "מספר;שם;מחיר\n1;מחשב;5000\nנא לאשר את ההזמנה לפני יום שישי בבוקר.\n"
GREEK = "Αριθμός;Όνομα;Τιμή\nΠαρακαλούμε επιβεβαιώστε την παραγγελία πριν από την Παρασκευή.\n"
TURKISH = "Sıra;Ürün;Fiyat\nLütfen siparişi cuma gününden önce onaylayın, değişiklik için bizi arayın.\n"
POLISH = "Miejscowość;Łódź\nProszę potwierdzić zamówienie przed piątkiem, później może zabraknąć części.\n"
FRENCH = "Désignation;Quantité\nL’élève a reçu sa clé à l’hôtel, où la fenêtre était déjà fermée. Ça va ?\n"
SPANISH = "Año;Señor;Dirección\nEl niño mañana irá al médico según el señor Muñoz. ¿Quién más vendrá?\n"
GERMAN = "Größe;Straße;Stück\nFür die Übergabe müssen wir früh aufstehen, schönes Wetter wäre gut.\n"
PORTUGUESE = "Descrição;Preço\nA reunião não será amanhã: o avião só chega à noite, são más condições.\n"
TURKISH_PLACES = "İstanbul;Şişli;Beyoğlu\nIğdır;Ağrı;Muş\n"
EUROS = "Prix : 25 € livré à domicile, œuvre, cœur, déjà payé\n"
CANTONESE = "我哋今晚去邊度食飯呀？唔該你話我知啦，佢哋都喺度等\n"
REPORT = "╔═══════╗\n║ Отчёт ║\n╚═══════╝\nИтого: 1200 руб.\n"
SIGNS = "Price: £20, 20 °C, 5 µm, 10 ± 2, 1\u00a0234,50\n"
THAI = "ชื่อ,ราคา\nกรุณายืนยันคำสั่งซื้อก่อนวันศุกร์\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *((RUSSIAN, each) for each in ("cp1251", "koi8_r", "cp866", "iso8859_5", "mac_cyrillic")),
        *((UKRAINIAN, each) for each in ("cp1251", "koi8_u")),
        *((JAPANESE, each) for each in ("cp932", "euc_jp")),
        (JAPANESE.replace("ﾃｽﾄ", ""), "iso2022_jp"),
        *((SIMPLIFIED, each) for each in ("gb2312", "gbk", "gb18030")),
        *((TRADITIONAL, each) for each in ("big5", "cp950")),
        *((KOREAN, each) for each in ("euc_kr", "cp949")),
        *((ARABIC, each) for each in ("cp1256", "iso8859_6")),
        (PERSIAN.replace("ی", "ي"), "cp1256"),
        *((HEBREW, each) for each in ("cp1255", "iso8859_8")),
        *((GREEK, each) for each in ("cp1253", "iso8859_7")),
        *((each, "cp1254") for each in (TURKISH, TURKISH_PLACES)),
        (EUROS, "iso8859_15"),
        (CANTONESE, "big5hkscs"),
        (REPORT, "cp866"),
        (SIGNS, "cp1252"),
        *((POLISH, each) for each in ("cp1250", "iso8859_2", "cp852", "mac_latin2")),
        *((FRENCH, each) for each in ("cp1252", "mac_roman")),
        *((SPANISH, each) for each in ("cp1252", "mac_roman", "latin_1")),
        *((GERMAN, each) for each in ("cp1252", "mac_roman")),
        *((PORTUGUESE, each) for each in ("cp1252", "latin_1")),
        (THAI, "cp874"),
        *((each, "utf-16-le") for each in (RUSSIAN, SIMPLIFIED, JAPANESE, "plain ASCII\nonly")),
        *((each, "utf-16-be") for each in (RUSSIAN, KOREAN, GERMAN)),
        (FRENCH, "utf-32-le"),
    ],
)
def test_a_text_of_some_lines_is_read_in_any_usual_encoding(text: str, encoding: str) -> None:
    assert read_text(text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["cp1251", "koi8_r", "cp866", "utf-16-le"])
def test_a_long_text_is_certain(encoding: str) -> None:
    assert not isinstance(read_text((RUSSIAN * 3).encode(encoding)), UnsureText)


@pytest.mark.parametrize(
    ("text", "encoding"), [("Имя", "koi8_r"), ("café", "cp1252"), ("שלום", "cp1255"), ("价格", "gbk")]
)
def test_a_single_word_is_unsure(text: str, encoding: str) -> None:
    assert isinstance(read_text(text.encode(encoding)), UnsureText)


def test_an_english_header_does_not_hide_the_language_of_a_few_values() -> None:  # danny-avila/rag_api#291
    header = b"id,name,city,amount\n" + b"".join(b"%d,none,none,0\n" % number for number in range(2_000))
    rows = "7,山田太郎,大阪市,1200\n8,鈴木花子,名古屋市,800\n"
    assert read_text(header + rows.encode("cp932")) == header.decode() + rows


@pytest.mark.parametrize(("text", "encoding"), [(PORTUGUESE, "cp860"), ("Zażółć gęślą jaźń\n", "cp775")])
def test_an_encoding_that_nobody_expects_is_unsure(text: str, encoding: str) -> None:
    assert isinstance(read_text((text * 3).encode(encoding, "ignore")), UnsureText)


def test_one_broken_byte_in_a_long_text_makes_it_unsure_and_not_unreadable() -> None:
    text = read_text((SIMPLIFIED * 200).encode("gbk") + b"\xff\xff\n")
    assert isinstance(text, UnsureText)
    assert text.startswith(SIMPLIFIED)


@pytest.mark.parametrize(
    ("before", "broken", "after"),
    [
        ("Grüße aus München, schöne Straße ", b"\xff", " für alle\n"),
        (RUSSIAN, b"\xd0", ""),
        (SIMPLIFIED, b"\xe4\xbb", ""),
    ],
)
def test_utf_8_with_a_broken_or_cut_character_is_utf_8_and_unsure(
    before: str, broken: bytes, after: str
) -> None:
    text = read_text(before.encode() + broken + after.encode())
    assert isinstance(text, UnsureText)
    assert text == f"{before}\ufffd{after}"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ('<?xml version="1.0" encoding="ISO-8859-2"?>\n<a>Łódź</a>', "iso8859_2"),
        ('<meta charset="windows-1250"><p>Čes</p>', "cp1250"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=koi8-r"><p>Имя</p>', "koi8_r"),
        ('<meta charset="Shift_JIS"><title>会社</title>', "cp932"),
        ('# -*- coding: cp1251 -*-\nx = "Да"', "cp1251"),
        ('@charset "iso-8859-15"; /* œ */', "iso8859_15"),
    ],
)
def test_a_declared_encoding_is_certain_for_a_single_word(text: str, encoding: str) -> None:
    read = read_text(text.encode(encoding))
    assert read == text
    assert not isinstance(read, UnsureText)


def test_a_wrong_or_unknown_declaration_does_not_hide_the_text() -> None:
    for name in ("utf-8", "x-unheard-of", "undefined", "base64", "koi8-r"):
        page = f'<meta charset="{name}"><p>{GERMAN * 3}</p>'
        assert read_text(page.encode("cp1252")) == page


def test_the_end_mark_of_dos_is_no_part_of_the_text() -> None:
    for encoding in ("ascii", "cp866"):
        text = "plain\n" if encoding == "ascii" else RUSSIAN
        assert read_text(text.encode(encoding) + b"\x1a") == text


def test_no_wrong_reading_of_a_few_words_is_certain() -> None:
    chance = random.Random(31)
    samples = [
        (RUSSIAN, "koi8_r"),
        (RUSSIAN, "cp1251"),
        (JAPANESE, "cp932"),
        (SIMPLIFIED, "gbk"),
        (KOREAN, "cp949"),
        (HEBREW, "cp1255"),
        (GREEK, "cp1253"),
        (SPANISH, "mac_roman"),
        (POLISH, "cp1250"),
        (EUROS, "iso8859_15"),
        (REPORT, "cp866"),
    ]
    for text, encoding in samples:
        words = text.replace("\n", " ").replace(";", " ").split()
        for _ in range(15):
            first = chance.randrange(len(words))
            few = " ".join(words[first : first + chance.randint(1, 4)]).encode(encoding, "ignore")
            found = read_text(few)
            assert isinstance(found, UnsureText) or found in (None, few.decode(encoding)), (few, found)


@pytest.mark.parametrize("unit", [b"\xcf\xf0\xe8 ", b"\xcf", b"\x83\x4a", b"\xe9 \n", b"\xff\xfe"])
def test_the_work_does_not_grow_with_the_file(unit: bytes) -> None:
    small, large = unit * 4_000, unit * 400_000
    assert find_encoding(small) == find_encoding(large)


def test_random_bytes_are_no_text() -> None:
    chance = random.Random(16)
    assert [read_text(chance.randbytes(3_000)) for _ in range(20)] == [None] * 20


@pytest.mark.parametrize(
    ("data", "is_text"), [(bytes(range(128, 256)), True), (b"a\x00b", False), (b"PK\x03\x04", False)]
)
def test_bytes_of_an_unknown_encoding_seem_a_text(data: bytes, *, is_text: bool) -> None:
    assert (read_text(data), seems_text(data)) == (None, is_text)
