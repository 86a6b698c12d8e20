"""The language that an annotator's page speaks."""

from collections.abc import Collection
from contextlib import suppress

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import activate, get_supported_language_variant

from annotation.models import Batch, Study


def speak(request: HttpRequest, languages: Collection[str]) -> None:
    """Turn to the language that the reader has chosen, or else to that of all texts, as far as
    there is a catalogue. Otherwise it stays the one that the browser asks for."""
    chosen = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    for code in (chosen, *(languages if len(languages) == 1 else ())):
        with suppress(LookupError, ValueError):  # ValueError: longer than any code
            return activate(get_supported_language_variant(code))


def languages_of(study: Study) -> set[str]:
    """The languages of what is read in a study, whichever batch somebody comes into."""
    batches = Batch.objects.filter(study=study).order_by()
    return set(batches.values_list("task__language", flat=True))
