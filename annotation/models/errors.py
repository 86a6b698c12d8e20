"""Refusals that are expected: each carries a sentence for the person who reads it."""


class Refusal(Exception):
    """An act that the rules forbid. The edge turns it into a page or a status."""


class BadInput(Refusal):
    """Something given cannot be used: what, where, and what to do about it."""


class Misplaced(BadInput):
    """Something in a file or form: where it stands in words, its key, and what is wrong with it."""

    def __init__(self, where: str, key: str, sentence: str) -> None:
        super().__init__(f"{where}: {sentence}")
        self.key, self.sentence = key, sentence


class NotReady(Refusal):
    """A study cannot start yet; the sentences say what is missing."""

    def __init__(self, *missing: str) -> None:
        super().__init__(" ".join(missing))
        self.missing = missing


class Frozen(Refusal):
    """A study that has started cannot be changed."""


class NoEntry(Refusal):
    """A link that lets nobody in, or not this person."""
