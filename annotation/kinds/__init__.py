"""The kinds of answer. A kind is all that other code must know about its answers: one module each,
named after the kind, with the kind as `KIND`; and one template, with its parts.

Their names are listed with the models (`annotation.models.Kind`), which registers them.
"""

from annotation.kinds.registry import answer_kind, answer_kinds

__all__ = ["answer_kind", "answer_kinds"]
