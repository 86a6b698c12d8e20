"""What a command is about, by the names on its command line."""

from typing import TypeVar

from django.core.management.base import CommandError
from django.db import models

from annotation.models import Benchmark, Study
from scoring.comparison.scope import Scope

ModelT = TypeVar("ModelT", bound=models.Model)


def find_study(slug: str) -> Study:
    return _named(Study, "slug", slug)


def find_scope(*, study: str | None, benchmark: str | None) -> Scope:
    if study:
        chosen = find_study(study)
        return Scope(chosen.benchmark, chosen)
    return Scope(_named(Benchmark, "name", benchmark or ""))


def _named(model: type[ModelT], field: str, value: str) -> ModelT:
    instance = model._default_manager.filter(**{field: value}).first()
    if instance is None:
        names = model._default_manager.order_by(field).values_list(field, flat=True)
        known = ", ".join(names) or "none"
        raise CommandError(f"There is no {model._meta.verbose_name} {value!r}; there are: {known}.")
    return instance
