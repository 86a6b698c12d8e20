"""What a study's own rows say about how it was done: the facts behind its methods section."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """A part of a whole, such as the annotators that were excluded."""

    count: int
    total: int

    @property
    def percent(self) -> float | None:
        return 100 * self.count / self.total if self.total else None
