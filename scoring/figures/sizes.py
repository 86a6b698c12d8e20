"""The sizes and files of figures: known without Matplotlib, which is slow to load."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """The size of a figure: its width in inches, how many panels stand in a row, the points of its
    smallest text, and how high a panel is beside its width."""

    width: float
    across: int
    points: float
    height: float = 0.8

    @property
    def scale(self) -> float:
        return self.points / 8

    @property
    def marks(self) -> float:
        """How large they and their lines are: small panels hold as many of them."""
        return self.scale**2


# Over a page; in one of its two columns, or on a phone.
PAGE, COLUMN = Size(10.2, 3, 8), Size(3.35, 2, 6.5, height=1.1)
SIZES = {"page": PAGE, "column": COLUMN}
CONTENT_TYPES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}


def file_name(figure: str, name: str, form: str, size: str) -> str:
    of_column = "-column" if size == "column" else ""
    return f"{figure}-{name}{of_column}.{form}"
