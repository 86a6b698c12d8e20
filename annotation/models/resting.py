"""What did not answer once is left alone for a while: who asks next does not wait for it, too."""

from time import monotonic

RESTS_S = 5.0


class Rest:
    """Keeps one server unasked for a while, in one process."""

    def __init__(self) -> None:
        self._until = 0.0

    @property
    def is_over(self) -> bool:
        return monotonic() >= self._until

    def begin(self) -> None:
        self._until = monotonic() + RESTS_S
