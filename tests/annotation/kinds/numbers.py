"""How texts are read as numbers: for the server and for the page's script alike."""

import sys
import unicodedata
from fractions import Fraction

# By what was written, what it is compared as.
READ = {
    "72.0": "72",
    "72": "72",
    "072": "72",
    "1,130": "1130",
    "1130": "1130",
    "1 130": "1130",
    "1\u202f130,5": "1130.5",
    "1'130": "1130",
    "1.234.567": "1234567",
    "1,130.50": "1130.5",
    "1.5": "1.5",
    "1,5": "1.5",
    "0,123": "0.123",
    ".5": "0.5",
    "-5": "-5",
    "\u22125": "-5",
    "+7": "7",
    "$5": "5",
    "$ 5.": "5",
    "-$5": "-5",
    "$-5": "-5",
    "EUR 5": "5",
    "1,130.50 USD": "1130.5",
    "5%": "5",
    "2,5 %": "2.5",
    "18 eggs.": "18",
    "5 km/h": "5",
    "20°C": "20",
    "5m²": "5",
    "1/2": "0.5",
    "3 1/2": "3.5",
    "1/3": "1/3",
    "2/6": "1/3",
    "1e3": "1000",
    "**18**": "18",
    " 18 ": "18",
    "2½": "2.5",
    "6 ⅔": "20/3",
    "½": "0.5",
    "−2½": "-2.5",
    "２５": "25",
    "٢٥": "25",
    "۲۵": "25",
    "२५": "25",
    "\U0001d7da\U0001d7dd": "25",
    "－３": "-3",
    "ー３": "-3",
    "２／３": "2/3",
    "1，200": "1200",
    "１，２００": "1200",
    "2．5": "2.5",
    "٢٫٥": "2.5",
    "١٬٢٠٠": "1200",
    "￥５": "5",
    "25人": "25",
    "1，200,000": "1200000",
    "\u200f-٣": "-3",
    "\u061c٣": "3",
    "‐３": "-3",
    "١٬٢٠٠٫٥": "1200.5",
    "3 m": "3",
    "5 t": "5",
    "5 mm": "5",
    "5 millimetres": "5",
    "12 miles": "12",
    "30 min": "30",
    "5 χιλιόμετρα": "5",
    "4 мили": "4",
    "3 pairs": "3",
}
# None at all, or two.
UNREAD = [
    "", "seven", "5 or 6", "1.234,5", "12,345,67", "2/0", "--5", "5 5", "10:30", "x=5", "1e99999",
    "1" * 101,
    "10³", "10⁶", "5²", "5①", "2Ⅳ", "5 ④", "2½½", "½2", "5‰", "3 million", "3 Million", "5k", "5 K",
    "5M", "2 dozen", "5 and a half", "3万", "百5", "5 十", "5 squared",
    "١٬٢٠", "２，５", "2، 5",
    "3 Tsd", "3 mln", "3 mil", "3 mille", "3 тыс", "3 млн", "٣ آلاف", "٣ مليون", "3천", "3만",
    "5만원", "3 tn", "3 gross", "3割", "3 kEUR", "3MM", "3 lakhs", "3 लाख", "3 triệu",
    "3 millones", "3 milhões", "3 mil millones", "3 Milliarden", "3 miljoen", "3 miliardy",
    "3 below zero", "3 negative", "3 minus", "2キロ半", "3時半", "5未満", "5以上", "3 ล้าน",
    "3 thousend",
    "5 to six", "5 score", "5 sechs", "5 Zwölf", "USD 3m", "$3m", "3m USD", "€ 2 b", "£4 mm",
]  # fmt: skip
# Pairs that must stay apart.
DIFFERENT = [("1.5", "15"), ("-5", "5"), ("1,130", "1.130"), ("1/2", "12"), ("5", "5.0001")]


def generated() -> dict[str, Fraction | None]:
    """Texts with every character that Unicode counts as a number, by what they must be read as at
    most: another number than this would be a wrong answer taken in silence."""
    texts: dict[str, Fraction | None] = {}
    for code in range(128, sys.maxunicode):
        letter = chr(code)
        if not unicodedata.category(letter).startswith("N"):
            continue
        digit = unicodedata.decimal(letter, None)
        is_fraction = "\u2044" in unicodedata.normalize("NFKC", letter)[1:-1]
        if digit is not None:
            values = Fraction(digit), Fraction(20 + digit), Fraction(10 * digit + 2)
        elif is_fraction:
            part = Fraction(unicodedata.numeric(letter)).limit_denominator(100)
            values = part, 2 + part, None
        else:
            values = None, None, None
        texts |= dict(zip((letter, f"2{letter}", f"{letter}2"), values, strict=True))
        texts[f"2 {letter}"] = values[1] if is_fraction else None
    return texts
