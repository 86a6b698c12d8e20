"""A walk through the admin: every name of a model, field, filter, column and action can be
translated, and in German each of them is."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.utils import label_for_field
from django.db.models import AutoField, Field
from django.test import Client
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import override
from django.utils.translation.trans_real import translation

from tests import make

OURS = ("annotation", "scoring")
REGISTERED = sorted(admin.site._registry.items(), key=lambda pair: pair[0]._meta.label)
# A word that is the same in every language, and no sentence.
SAME_EVERYWHERE = {"n", "SD", "S1"}


def is_ours(model: Any) -> bool:
    return model._meta.app_label in OURS


def texts_of(model: Any, model_admin: Any) -> Iterator[tuple[str, Any]]:
    """Where each text stands, and the text, as its author wrote it."""
    label = model._meta.label
    yield from _of_model(label, model)
    for name, options in model_admin.fieldsets or ():
        yield f"{label}, group of fields", name
        yield f"{label}, about {name}", options.get("description")
    for item in model_admin.list_filter:
        if isinstance(item, type):
            yield f"{label}, filter {item.__name__}", getattr(item, "title", None)
    for name in (*model_admin.list_display, *model_admin.readonly_fields):
        described = getattr(model_admin, name, None) if isinstance(name, str) else name
        if callable(described):
            yield f"{label}, column {name}", getattr(described, "short_description", None)
    for action in model_admin.actions or ():
        described = getattr(model_admin, action) if isinstance(action, str) else action
        yield f"{label}, action {action}", getattr(described, "short_description", None)
    for inline in model_admin.inlines:
        yield f"{label}, {inline.__name__}", inline.verbose_name_plural
        yield from _of_model(inline.model._meta.label, inline.model)


def _of_model(label: str, model: Any) -> Iterator[tuple[str, Any]]:
    yield f"{label}, name", model._meta.verbose_name
    yield f"{label}, plural", model._meta.verbose_name_plural
    for field in [*model._meta.fields, *model._meta.many_to_many]:
        if not isinstance(field, AutoField):
            yield from _of_field(label, field)


def _of_field(label: str, field: Field[Any, Any]) -> Iterator[tuple[str, Any]]:
    yield f"{label}.{field.name}", field.verbose_name
    yield f"{label}.{field.name}, help", field.help_text
    for value, text in field.flatchoices:
        # A choice that is shown as it is stored is a name, not a text.
        if text != value:
            yield f"{label}.{field.name}, choice {value}", text


def every_text() -> Iterator[tuple[str, Any]]:
    for app in OURS:
        yield f"{app}, name", apps.get_app_config(app).verbose_name
    for model, model_admin in REGISTERED:
        if is_ours(model):
            yield from ((where, text) for where, text in texts_of(model, model_admin) if text)


def test_walks_through_every_model_of_ours() -> None:
    walked = {where.split(",")[0] for where, _text in every_text()}
    assert {model._meta.label for model, _ in REGISTERED if is_ours(model)} <= walked
    assert len(list(every_text())) > 300


def test_can_translate_every_text() -> None:
    assert [where for where, text in every_text() if not isinstance(text, Promise)] == []


def test_says_what_every_column_is() -> None:
    """Without a description Django makes one of the function's name, in English."""
    unnamed = [
        f"{model._meta.label}, {name}"
        for model, model_admin in REGISTERED
        if is_ours(model)
        for name in (*model_admin.list_display, *model_admin.readonly_fields)
        if name != "__str__" and not _is_named(model, model_admin, name)
    ]
    assert unnamed == []


def _is_named(model: Any, model_admin: Any, name: Any) -> bool:
    if name in {field.name for field in model._meta.get_fields()}:
        return True
    described = getattr(model_admin, name, None) or getattr(model, name, None)
    return isinstance(getattr(described, "short_description", None), Promise)


def in_catalogue(text: Any) -> bool:
    """Of this project, of Django or of another application; a text made of parts is none itself."""
    with override("en"):
        original = str(text)
    with override("de"):
        is_german = str(text) != original
    known = translation("de")._catalog  # type: ignore[attr-defined]
    return is_german or original in SAME_EVERYWHERE or original in known


def test_says_every_text_in_german() -> None:
    missing = sorted({str(text) for _where, text in every_text() if not in_catalogue(text)})
    assert missing == []


def test_finds_what_other_applications_leave_in_english() -> None:
    """Their names are theirs to translate; that they do is what keeps the admin German."""
    missing = [
        str(model._meta.verbose_name)
        for model, _ in REGISTERED
        if not is_ours(model) and not in_catalogue(model._meta.verbose_name)
    ]
    assert missing == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    "model", [model for model, _ in REGISTERED if is_ours(model)], ids=lambda m: m.__name__
)
def test_shows_every_list_with_its_german_name(admin_client: Client, model: Any) -> None:
    make.channel("simulated")
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    with override("de"):
        name = str(model._meta.verbose_name_plural)
        columns = [
            label_for_field(column, model, admin.site._registry[model])
            for column in admin.site._registry[model].list_display
        ]
    page = admin_client.get(address, headers={"accept-language": "de"}).content.decode()
    assert '<html lang="de"' in page
    assert name.lower() in page.lower()
    assert all(str(column) for column in columns)
