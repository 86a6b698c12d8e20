"""Which texts can be stored at all."""


def is_text(value: str) -> bool:
    """Whether every database can hold it: no NUL, no half of a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value
