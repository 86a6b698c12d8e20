"""Which texts can be stored at all, and what is said after a number."""


def is_text(value: str) -> bool:
    """Whether every database can hold it: no NUL, no half of a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def counted(count: int, one: str, many: str) -> str:
    """For pages of researchers, which are in English alone."""
    return f"{count} {one if count == 1 else many}"
