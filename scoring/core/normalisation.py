"""What is taken out of two texts before S1 compares them, by the name of a task's normalisation.

- `none`: nothing; texts are compared as they stand.
- `squad`: lower case, then without ASCII punctuation, then without the articles a, an and the,
  and white space collapsed: the rules of SQuAD's official evaluation script (Rajpurkar et al.
  2016, 2018). A text of which nothing is left counts as no answer, as there.

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
from string import punctuation

NONE = "none"

_PUNCTUATION = str.maketrans("", "", punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def squad(text: str) -> str:
    without_punctuation = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", without_punctuation).split())


# What a number may have about it: a sign and a currency before it, a unit in a few words, a percent
# sign and a full stop behind it.
_SIGN = r"[-+\u2212\u2013]?"
_DIGITS = r"(?:\d(?:[\d.,'\u2019 \u00a0\u202f]*\d)?|[.,]\d+)"
_UNIT = r"[^\W\d_]+[\u00b2\u00b3]?\.?"
_WRITTEN = re.compile(
    rf"(?P<sign>{_SIGN})\s*(?:[$\u20ac\u00a3\u00a5\u20b9]|(?:USD|EUR|GBP)\b)?\s*(?P<inner>{_SIGN})\s*"
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
    0x066C: ",",
    0xFE50: ",",
    0xFE52: ".",
    0xFE62: "+",
    0xFE63: "-",
    0xFFE5: "\xa5",
}
_MARKS |= {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
_LONG_MARK = re.compile(r"\u30fc(?=\s*\d)")
_VULGAR = re.compile(r"[\u00bc-\u00be\u2150-\u215e\u2189]")
# Behind a number they make another one of it. number.js has the same list.
_MULTIPLES = (
    *("k", "hundred", "hundreds", "thousand", "thousands", "million", "millions", "billion"),
    *("billions", "trillion", "trillions", "bn", "mn", "mio", "mrd", "tausend", "hundert", "dozen"),
    *("dozens", "half", "quarter", "quarters", "third", "thirds", "squared", "cubed", "lakh"),
    *("lakhs", "crore", "crores"),
)
# A thousand is 1,000 or 1 000 or 1'000; a point parts thousands only where there are several.
_GROUPED = re.compile(
    r"[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:[ '\u2019\u00a0\u202f]\d{3})+(?:[.,]\d+)?)"
)
_POINTS = re.compile(r"[1-9]\d{0,2}(?:\.\d{3}){2,}")
_PLAIN = re.compile(r"\d*[.,]?\d+")
LONGEST_NUMBER = 100
TOLERANCE = "\u00b1"


def read_number(text: str) -> Fraction | None:
    """The number that a text is; None if it is none, or can be read as two."""
    bare = text.strip().strip("*_`")
    written = _WRITTEN.fullmatch(_in_ascii(bare)) if len(bare) <= LONGEST_NUMBER else None
    if written is None or (written["sign"] and written["inner"]) or _multiplies(written["unit"]):
        return None
    value = _fraction(written) if written["above"] else _value(written["number"])
    if value is None:
        return None
    value *= Fraction(f"1{written['power'] or ''}")
    return -value if {written["sign"], written["inner"]} & {*_MINUS} else value


def _in_ascii(text: str) -> str:
    """Digits, signs and fractions as ASCII writes them; whatever else stands there stays."""
    plain = _VULGAR.sub(lambda found: f" {unicodedata.normalize('NFKC', found[0])} ", text)
    plain = "".join(str(unicodedata.decimal(letter, letter)) for letter in plain)
    return _LONG_MARK.sub("-", plain.translate(_MARKS)).strip()


def _multiplies(unit: str) -> bool:
    """Whether what stands behind a number makes another number of it."""
    words = re.findall(r"[^\W\d_]+", unit)
    # Letters that count are numbers in themselves: those of powers, circles, Rome and China. But a
    # small 2 or 3 behind a letter belongs to the unit, as in square metres.
    counts = any(letter.isnumeric() for letter in re.sub(r"(?<=[a-zA-Z])[\u00b2\u00b3]", "", unit))
    return counts or any(word in ("M", "B") or word.lower() in _MULTIPLES for word in words)


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


def number(text: str) -> str:
    value = read_number(text)
    return text.strip() if value is None else _written(value)


def _written(value: Fraction) -> str:
    """As a decimal where that ends, else as a fraction."""
    places = next((n for n in range(LONGEST_NUMBER) if 10**n % value.denominator == 0), None)
    if places is None:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(int(value * 10**places))).rjust(places + 1, "0")
    point = len(digits) - places
    return "-" * (value < 0) + digits[:point] + ("." + digits[point:] if places else "")


NORMALISATIONS: dict[str, Callable[[str], str]] = {NONE: str, "squad": squad, "number": number}


def normalised(
    texts: Iterable[str], normalisation: str, golds: Sequence[Iterable[str]] = ()
) -> list[str]:
    """The texts as S1 compares them. `golds`: the normalised alternatives that they are compared
    with; only a tolerance asks for them. Raises ValueError for a name that is not known."""
    name, _, tolerance = normalisation.partition(TOLERANCE)
    if name not in NORMALISATIONS:
        names = ", ".join(NORMALISATIONS)
        raise ValueError(f"The normalisation is {normalisation!r}; it must be one of {names}.")
    plain = list(map(NORMALISATIONS[name], texts))
    if not tolerance:
        return plain
    right = [text for alternative in golds for text in alternative]
    return [_nearest(text, right, tolerance) for text in plain]


def _nearest(text: str, golds: Sequence[str], tolerance: str) -> str:
    """The gold that a number is as near to as the tolerance asks, or the text."""
    value, share = read_number(text), Fraction(tolerance.rstrip("%"))
    if value is None or text in golds:
        return text
    for gold in golds:
        right = read_number(gold)
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
