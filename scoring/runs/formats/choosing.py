"""If a file holds several answers to the same example: one of them, by name."""

from collections.abc import Collection

from annotation.models.errors import BadInput


def chosen(there: Collection[str], wanted: str, *, what: str, file: str) -> str:
    """The wanted name, or the only one. Raises BadInput with the choices."""
    names = ", ".join(sorted(there))
    if wanted:
        if wanted not in there:
            raise BadInput(f"{file} has no {what} “{wanted}”; it has {names}.")
        return wanted
    if len(there) > 1:
        raise BadInput(f"{file} has several {what}s ({names}): choose one with --filter.")
    return next(iter(there), "")
