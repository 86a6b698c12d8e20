"""Which texts can be stored at all, and how a spreadsheet is kept from computing one."""


def is_text(value: str) -> bool:
    """Whether every database can hold it: no NUL, no half of a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value


# A spreadsheet takes a cell that begins so for a formula; the apostrophe keeps the rule reversible.
FORMULA_SIGNS = ("=", "@", "+", "-", "\t", "\r", "'")


def as_cell(value: object) -> object:
    """A text as a cell of CSV: one apostrophe before what a spreadsheet would compute. Anything
    else is left as it is."""
    is_formula = isinstance(value, str) and value.startswith(FORMULA_SIGNS)
    return f"'{value}" if is_formula else value


def from_cell(text: str) -> str:
    """The text that `as_cell` was given."""
    is_marked = text.startswith("'") and text[1:].startswith(FORMULA_SIGNS)
    return text[1:] if is_marked else text
