"""What is taken out of two texts before S1 compares them, by the name of a task's normalisation.

Before any of them both are brought to one form of their letters (Unicode's NFC): an é is an é,
whether it came as one character or as an e and an accent. What is stored stays as it came.

- `none`: nothing; texts are compared as they stand.
- `typed`: what a keyboard may not give. Case, white space and the punctuation of a sentence at both
  ends, in any script; apostrophes, quotes and dashes are the plain ones. A text that is nothing but
  punctuation stays.
- `squad`: lower case, then without ASCII punctuation, then without the articles a, an and the,
  and white space collapsed: the rules of SQuAD's official evaluation script (Rajpurkar et al.
  2016, 2018), which know no other script's punctuation. A text of which nothing is left counts as
  no answer, as there.

- `number`: all but the number. `72.0` is `72`, `1,130` is `1130`, `$ 5.`, `5 %` and `5 dollars` are
  `5`, `1/2` is `0.5`; `1.5` is not `15`, `-5` not `5`. A text that is no number, or might be two of
  them (`1.234,5`), stays as it is. Digits of every script, signs of full width and vulgar fractions
  are read (`２５` is `25`, `2½` is `2.5`); with a power, a circled figure or a multiple in words
  behind it (`10³`, `5①`, `3 million`) a text is no number, rather than another one. With a
  tolerance behind it, absolute (`number±0.01`) or relative to the gold (`number±1%`), an answer so
  near to a gold is that gold.

It is applied to answers and gold alike, before empty texts are dropped.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from string import punctuation

NONE = "none"

_PUNCTUATION = str.maketrans("", "", punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def squad(text: str) -> str:
    without_punctuation = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", without_punctuation).split())


# A typographer's sign, and the one on every keyboard.
_PLAIN_SIGNS = {
    "'": "\u2018\u2019\u201a\u201b\u02b9\u02bb\u02bc\u2032\u00b4\uff07`",
    '"': "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\uff02",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d",
}
_FOLDED = str.maketrans({sign: plain for plain, signs in _PLAIN_SIGNS.items() for sign in signs})
# At an end they belong to what is meant: `50 %`, `C#`; before a digit a sign or a point does.
_MEANT = frozenset("#%&*@/\\\u2030")
_BEFORE_DIGIT = re.compile(r"[-.]\d")
# Joiners within words, which keyboards of Persian and of India's scripts give.
_JOINERS = frozenset("\u200c\u200d")


def beyond_keyboards(text: str, normalisation: str) -> str:
    """What a text, as S1 compares it, holds that is on no usual keyboard: typographers' signs,
    spaces other than the plain one, and characters that nobody sees."""
    compared = "".join(normalised([text], normalisation))
    return "".join(
        letter
        for letter in dict.fromkeys(compared)
        if ord(letter) in _FOLDED or (not letter.isprintable() and letter not in _JOINERS)
    )


def typed(text: str) -> str:
    folded = " ".join(text.translate(_FOLDED).casefold().split())
    end = len(folded)
    while end and _closes(folded[end - 1]):
        end -= 1
    start = 0
    while start < end and _closes(folded[start]) and not _BEFORE_DIGIT.match(folded, start):
        start += 1
    return folded[start:end] or folded


def _closes(letter: str) -> bool:
    is_mark = letter.isspace() or unicodedata.category(letter).startswith("P")
    return is_mark and letter not in _MEANT


# What a number may have about it: a sign and a currency before it, a unit in a few words, a percent
# sign and a full stop behind it.
_SIGN = r"[-+\u2212\u2013]?"
_DIGITS = r"(?:\d(?:[\d.,'\u2019 \u00a0\u202f]*\d)?|[.,]\d+)"
_UNIT = r"[^\W\d_]+[\u00b2\u00b3]?\.?"
_MONEY = r"(?:[$\u20ac\u00a3\u00a5\u20b9]|(?:USD|EUR|GBP)\b)"
_WRITTEN = re.compile(
    rf"(?P<sign>{_SIGN})\s*(?P<money>{_MONEY})?\s*(?P<inner>{_SIGN})\s*"
    rf"(?:(?:(?P<whole>\d+)\s+)?(?P<above>\d+)\s?[/\u2044]\s?(?P<below>\d+)"
    rf"|(?P<number>{_DIGITS})(?P<power>[eE][-+]?\d{{1,2}})?)\.?"
    r"(?P<unit>(?:\s*[%$\u20ac\u00a3\u00a5\u20b9])?\s*\u00b0?"
    rf"(?:-?{_UNIT})?(?:[\s/-]+{_UNIT}){{0,7}})\s*[.!]?"
)
_MINUS = ("-", "\u2212", "\u2013")
# A sign of full width or of another script, as ASCII has it; a long vowel mark before a digit is
# what a Japanese keyboard gives for a minus.
_MARKS = {
    0x066B: ".",
    0x2010: "-",
    0x2011: "-",
    0xFE52: ".",
    0xFE62: "+",
    0xFE63: "-",
    0xFFE5: "\xa5",
}
_MARKS |= {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if code != 0xFF0C}
# Marks of thousands, and of nothing else.
_OF_THOUSANDS = re.compile("[\u066c\uff0c\ufe50](?=[0-9]{3}(?![0-9]))")
# Which way to write, and other characters that nobody sees.
_UNSEEN = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_LONG_MARK = re.compile(r"\u30fc(?=\s*\d)")
_VULGAR = re.compile(r"[\u00bc-\u00be\u2150-\u215e\u2189]")
# Behind a number they make another one of it, or are one more; with a star, whatever goes on so. Of
# other languages as CLDR abbreviates large numbers.
MULTIPLES = "|".join(
    word.replace("*", ".*")
    for word in re.findall(
        r"\S+",
        """
        k kk hundred hundreds thousand* million* milliard* billion* trillion* tn bn mn mio mrd mld
        mln mlr mlrd mljrd bln trln tsd tausend* hundert* thousend*
        score scores dozen* gross half quarter quarters third thirds squared cubed lakh* crore*
        below minus negative keur kusd kgbp teur tusd meur musd
        one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty
        ninety
        eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig
        fünfzig sechzig siebzig achtzig neunzig
        mil mille mila milh* milió* milj* milio* milia* milij* miliu* milli[óe]n* millon* millón*
        millie* milyar* milyon* miljard* miljoen* bilh* bilij* bilj* bilió* bilio* billón* billó*
        tril[hijy]* trilió* duizend* tusen* tusind* tuhat* hilj* tis tisoč* tisuć* tisíc* tys
        tysi[ąę]* tūkst* ezer* ribu rb juta jt elfu nghìn
        χιλ χιλιάδ* εκατομμ* δισ δισεκ* τρισ τρισεκ*
        тыс тысяч* тис тисяч* хил хиляд* хиљ* милион* милиард* милијард* миллион* миллиард* млн
        млрд мільйон* мільярд* билион* трилион* триллион* трильйон* трлн
        אלף אלפים מיליון מיליארד טריליון
        ألف آلاف مليون ملايين مليار ارب ترليون تریلیون میلیون میلیارد هزار ہزار لاکھ کروڑ کھرب
        """,
    )
)
# The same in scripts that part words otherwise, and what says that a number is a bound.
MULTIPLES_WITHIN = (
    "हज़ार|हजार|लाख|करोड़|कोटी|अरब|अब्ज|खरब|হাজার|লাখ|কোটি|હજાર|લાખ|કરોડ|અબજ|ஆயிரம்|மில்லியன்|"
    "వేలు|మిలియన్|พัน|หมื่น|แสน|ล้าน|triệu|tỷ|천|만|억|조|半|割|以上|以下|未満|未满|超"
)
_MULTIPLE, _WITHIN = re.compile(MULTIPLES), re.compile(MULTIPLES_WITHIN)
# Behind an amount of money alone: else a metre, say.
_MULTIPLES_OF_MONEY = frozenset({"m", "mm", "b", "t"})
# A thousand is 1,000 or 1 000 or 1'000; a point parts thousands only where there are several.
_GROUPED = re.compile(
    r"[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:[ '\u2019\u00a0\u202f]\d{3})+(?:[.,]\d+)?)"
)
_POINTS = re.compile(r"[1-9]\d{0,2}(?:\.\d{3}){2,}")
_PLAIN = re.compile(r"\d*[.,]?\d+")
LONGEST_NUMBER = 100
TOLERANCE = "\u00b1"


def read_number(text: str, *, as_first: bool = False) -> Fraction | None:
    """The number that a text is; None if it is none, or can be read as two. `as_first`: as scorer
    version 1 read it."""
    bare = text.strip().strip("*_`")
    plain = bare if as_first else _in_ascii(bare)
    written = _WRITTEN.fullmatch(plain) if len(bare) <= LONGEST_NUMBER else None
    if written is None or (written["sign"] and written["inner"]):
        return None
    if not as_first and _multiplies(written["unit"], of_money=bool(written["money"])):
        return None
    value = _fraction(written) if written["above"] else _value(written["number"])
    if value is None:
        return None
    value *= Fraction(f"1{written['power'] or ''}")
    return -value if {written["sign"], written["inner"]} & {*_MINUS} else value


def _in_ascii(text: str) -> str:
    """Digits, signs and fractions as ASCII writes them; whatever else stands there stays."""
    seen = _UNSEEN.sub("", text)
    plain = _VULGAR.sub(lambda match: f" {unicodedata.normalize('NFKC', match[0])} ", seen)
    plain = "".join(str(unicodedata.decimal(letter, letter)) for letter in plain)
    plain = _OF_THOUSANDS.sub(",", plain).translate(_MARKS)
    return _LONG_MARK.sub("-", plain).strip()


def _multiplies(unit: str, *, of_money: bool) -> bool:
    """Whether what stands behind a number makes another number of it."""
    words = re.findall(r"[^\W\d_]+", unit)
    # Letters that count are numbers in themselves: those of powers, circles, Rome and China. But a
    # small 2 or 3 behind a letter belongs to the unit, as in square metres.
    counts = any(letter.isnumeric() for letter in re.sub(r"(?<=[a-zA-Z])[\u00b2\u00b3]", "", unit))
    of_money = of_money or re.search(_MONEY, unit) is not None
    if counts or _WITHIN.search(unit):
        return True
    return any(
        word in ("M", "MM", "B")
        or _MULTIPLE.fullmatch(word.lower()) is not None
        or (of_money and word.lower() in _MULTIPLES_OF_MONEY)
        for word in words
    )


def _fraction(written: re.Match[str]) -> Fraction | None:
    if not int(written["below"]):
        return None
    return int(written["whole"] or 0) + Fraction(int(written["above"]), int(written["below"]))


def _value(digits: str) -> Fraction | None:
    if _GROUPED.fullmatch(digits):
        without = re.sub(r"[ '\u2019\u00a0\u202f]", "", digits)
        # A comma that stands between thousands is no mark of decimals.
        is_decimal = without != digits
        return Fraction(without.replace(",", "." if is_decimal else ""))
    if _POINTS.fullmatch(digits):
        return Fraction(digits.replace(".", ""))
    return Fraction(digits.replace(",", ".")) if _PLAIN.fullmatch(digits) else None


def number(text: str, *, as_first: bool = False) -> str:
    value = read_number(text, as_first=as_first)
    return text.strip() if value is None else _written(value)


def _written(value: Fraction) -> str:
    """Write it as a decimal where that ends, else as a fraction."""
    places = next((n for n in range(LONGEST_NUMBER) if 10**n % value.denominator == 0), None)
    if places is None:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(int(value * 10**places))).rjust(places + 1, "0")
    point = len(digits) - places
    return ("-" if value < 0 else "") + digits[:point] + ("." + digits[point:] if places else "")


NORMALISATIONS: dict[str, Callable[[str], str]] = {
    NONE: str,
    "typed": typed,
    "squad": squad,
    "number": number,
}
# Behind a normalisation: by the rules of scorer version 1, which read fewer numbers rightly and
# took letters as they came.
AS_FIRST = "@1"
_FIRST = NORMALISATIONS | {"number": partial(number, as_first=True)}


def as_of(normalisation: str, scorer_version: int) -> str:
    """The normalisation as it was in that version of the scorer."""
    return normalisation + AS_FIRST * (scorer_version == 1)


def normalised(
    texts: Iterable[str], normalisation: str, golds: Sequence[Iterable[str]] = ()
) -> list[str]:
    """The texts as S1 compares them. `golds`: the normalised alternatives that they are compared
    with; only a tolerance asks for them. Raises ValueError for a name that is not known."""
    rule, first, _ = normalisation.partition(AS_FIRST)
    name, _, tolerance = rule.partition(TOLERANCE)
    if name not in NORMALISATIONS:
        names = ", ".join(NORMALISATIONS)
        raise ValueError(f"The normalisation is {normalisation!r}; it must be one of {names}.")
    rules, form = (_FIRST, str) if first else (NORMALISATIONS, in_one_form)
    plain = [rules[name](form(text)) for text in texts]
    if not tolerance:
        return plain
    right = [text for alternative in golds for text in alternative]
    read = partial(read_number, as_first=bool(first))
    return [_nearest(text, right, tolerance, read) for text in plain]


def in_one_form(text: str) -> str:
    """Letters that look the same are the same."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _nearest(
    text: str, golds: Sequence[str], tolerance: str, read: Callable[[str], Fraction | None]
) -> str:
    """The gold that a number is as near to as the tolerance asks, or the text."""
    value, share = read(text), Fraction(tolerance.rstrip("%"))
    if value is None or text in golds:
        return text
    for gold in golds:
        right = read(gold)
        if right is None:
            continue
        allowed = share * abs(right) / 100 if tolerance.endswith("%") else share
        if abs(value - right) <= allowed:
            return gold
    return text


def as_compared(
    texts: Iterable[str], alternatives: Sequence[Iterable[str]], normalisation: str
) -> tuple[list[str], list[list[str]]]:
    """An answer and its gold as S1 compares them."""
    golds = normalised_golds(alternatives, normalisation)
    return normalised(texts, normalisation, golds), golds


def normalised_golds(alternatives: Sequence[Iterable[str]], normalisation: str) -> list[list[str]]:
    """Every alternative of one gold as S1 compares it."""
    return [normalised(texts, normalisation) for texts in alternatives]
