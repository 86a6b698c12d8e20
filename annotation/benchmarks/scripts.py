"""The script that texts are written in, by their letters: which way they read, and which languages
are written so."""

from collections import Counter
from collections.abc import Iterable
from unicodedata import bidirectional, category, name

from django.utils.translation import get_language_info

# What the names of letters begin with in Unicode, and the languages that are written with them;
# all others are written with Latin letters.
LANGUAGES = {
    "ARABIC": "ar fa ur ps ckb ug sd dv ku",
    "ARMENIAN": "hy",
    "BENGALI": "bn as",
    "CJK": "zh ja ko yue wuu",
    "CYRILLIC": "ru uk bg sr mk be kk ky mn tg tt ba cv os",
    "DEVANAGARI": "hi mr ne sa mai bho kok",
    "ETHIOPIC": "am ti",
    "GEORGIAN": "ka",
    "GREEK": "el",
    "GUJARATI": "gu",
    "GURMUKHI": "pa",
    "HANGUL": "ko",
    "HEBREW": "he yi",
    "HIRAGANA": "ja",
    "KANNADA": "kn",
    "KATAKANA": "ja",
    "KHMER": "km",
    "LAO": "lo",
    "MALAYALAM": "ml",
    "MYANMAR": "my",
    "ORIYA": "or",
    "SINHALA": "si",
    "TAMIL": "ta",
    "TELUGU": "te",
    "THAI": "th",
    "TIBETAN": "bo dz",
}
LATIN = "LATIN"
# Which are written with Latin letters, too.
BOTH = {"sr", "ku", "kk", "mn", "tt", "sd", "ug", "pa", "ks"}
# Of no language that is known, by the standard of language codes.
UNKNOWN = "und"
# So many letters tell.
ENOUGH = 100_000


def letters_of(texts: Iterable[str]) -> Counter[str]:
    """How often each letter stands in them, as far as tells."""
    letters: Counter[str] = Counter()
    for text in texts:
        letters.update(letter for letter in text if category(letter).startswith("L"))
        if letters.total() > ENOUGH:
            break
    return letters


def script_of(letters: Counter[str]) -> str:
    """The script of most of the letters, as Unicode names it; empty where there are none."""
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[name(letter, "").partition(" ")[0]] += count
    return max(scripts, key=scripts.__getitem__, default="")


def read_from_the_right(letters: Counter[str]) -> bool:
    right = sum(n for letter, n in letters.items() if bidirectional(letter) in ("R", "AL"))
    return right * 2 > letters.total()


def has_own_letters(language: str, script: str) -> bool:
    """Whether a language is written in this script."""
    code = language.lower().partition("-")[0]
    scripts = {alphabet for alphabet, languages in LANGUAGES.items() if code in languages.split()}
    if script not in LANGUAGES and script != LATIN:
        return True
    return script in scripts or (script == LATIN and (not scripts or code in BOTH))


def is_right_to_left(language: str) -> bool:
    try:
        return bool(get_language_info(language)["bidi"])
    except KeyError:  # a language that Django does not know
        return False
