"""Examples as an annotator's page holds them, without a database."""

from typing import Any

from annotation.models.frozen import BatchContent, FrozenExample, StudyRules


def example(*context: str, **fields: Any) -> FrozenExample:
    return FrozenExample(
        **{
            "pk": 1,
            "role": "test",
            "position": 0,
            "context": context,
            "context_hash": "",
            "question": "Who?",
            "candidates": (),
            "labels": (),
            **fields,
        }
    )


def content(
    kind: str, *, max_spans: int | None = None, normalisation: str = "none"
) -> BatchContent:
    rules: dict[str, Any] = dict.fromkeys(StudyRules.__dataclass_fields__, "")
    return BatchContent(
        batch_id=1,
        rules=StudyRules(**rules),
        task_id=1,
        kind=kind,
        max_spans=max_spans,
        language="en",
        direction="ltr",
        title="",
        description="",
        gold_version=1,
        reference_policy="any",
        normalisation=normalisation,
        markup="none",
        sample={},
        training=(),
        test=(),
    )
