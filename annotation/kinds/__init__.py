"""The kinds of answer. A kind is all that the rest of the house must know about its answers: one
module each, named as the kind is, with the kind as `KIND`; and one template, with its parts.

The list of their names stands with the models (`annotation.models.Kind`), which registers them.
"""

from annotation.kinds.registry import answer_kind, answer_kinds

__all__ = ["answer_kind", "answer_kinds"]
