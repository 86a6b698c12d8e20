"""A study as its file says it: the same study, the same bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import tomlkit
from django.db.models import Model

from annotation.models import Batch, JoinAnswer, Outcome, OutcomeRule, Pool, Study
from annotation.models.settings import BY_COLUMN, Setting, in_table
from annotation.studies.study_file.batch_tables import batch_tables
from annotation.studies.study_file.reading import FULL, column_of, plain
from annotation.work.languages import join_languages, split_by_language

OUTCOMES: Sequence[str] = [*Outcome.values, *JoinAnswer.values]


@dataclass(frozen=True)
class Content:
    """What a study is made of, stored or not: its settings by column, and its rows."""

    settings: Mapping[str, Any]
    pools: Sequence[Pool]
    batches: Sequence[Batch]
    rules: Sequence[OutcomeRule]


def content_of(study: Study) -> Content:
    """What is stored of it."""
    settings = {name: getattr(study, name) for name in BY_COLUMN}
    sets = ("training_set", "test_set", "check_set__task", "pool")
    return Content(
        {
            name: plain(value) if isinstance(value, str) else value
            for name, value in settings.items()
        },
        list(study.pools.order_by("pk")),
        list(study.batches.select_related("task", *sets)),
        sorted(study.outcome_rules.all(), key=lambda rule: OUTCOMES.index(rule.outcome)),
    )


def document(content: Content, *, codes: bool = True) -> dict[str, Any]:
    """Tables and keys as the file has them; what is empty is left out."""
    tables: dict[str, Any] = {}
    for name, setting in BY_COLUMN.items():
        value = content.settings[name]
        values = (
            _consent(value) if name == "consent_text" else {setting.key: _written(setting, value)}
        )
        if name == "ends_on":
            values = {setting.key: value or FULL}
        tables.setdefault(setting.table, {}).update(_filled(values))
    if pools := [_row(pool, in_table("pools")) for pool in content.pools]:
        tables["pools"] = pools
    if batches := batch_tables(content.batches):
        tables["batches"] = batches
    keys = {key: setting for key, setting in in_table("outcomes").items() if codes or key != "code"}
    tables["outcomes"] = {rule.outcome: _row(rule, keys) for rule in content.rules}
    return tables


def _row(row: Model, settings: Mapping[str, Setting]) -> dict[str, Any]:
    return _filled({key: _written(one, getattr(row, one.column)) for key, one in settings.items()})


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value not in (None, "", [], {})}


def _written(setting: Setting, value: Any) -> Any:
    """The value in the type that the column holds, also where it is not stored yet."""
    column = column_of(setting)
    if isinstance(value, Model):
        return getattr(value, "slug", None) or value.name  # type: ignore[attr-defined]
    if isinstance(value, str):
        return plain(value)
    kept = column.to_python(value) if column and value is not None else value
    return float(kept) if isinstance(kept, Decimal) else kept


def _consent(text: str) -> dict[str, Any]:
    """The text by language, where that says the same."""
    first, by_code = split_by_language(text)
    is_same = join_languages(first, by_code) == text
    return {"consent": first, "consents": by_code} if is_same else {"consent": text}


def as_toml(tables: Mapping[str, Any]) -> str:
    """Texts of several lines stand as they are read."""
    return tomlkit.dumps(_in_toml(tables))


def study_as_toml(study: Study, *, codes: bool = True) -> str:
    return as_toml(document(content_of(study), codes=codes))


def _in_toml(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _in_toml(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_in_toml(item) for item in value]
    if isinstance(value, str) and "\n" in value:
        return tomlkit.string(value, multiline=True)
    return value
