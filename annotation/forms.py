"""What an annotator's forms carry, before any rule is applied to it."""

import json
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.acts.judging import BrowserTimes
from annotation.answers import RawAnswer

_LONGEST_MS = 2**31 - 1


class BrowserMilliseconds(forms.IntegerField):
    """The browser's clock may say anything: what cannot be stored counts as not known, and
    no answer is ever refused for it."""

    def __init__(self) -> None:
        super().__init__(required=False, min_value=0, max_value=_LONGEST_MS)

    def clean(self, value: Any) -> int | None:
        try:
            return super().clean(value)
        except forms.ValidationError:
            return None


class StepForm(forms.Form):
    """The step number is the form's idempotency key."""

    step = forms.IntegerField(min_value=0)


class AnswerForm(StepForm):
    option = forms.IntegerField(required=False)
    spans = forms.CharField(required=False)
    none = forms.BooleanField(required=False)
    typed = forms.CharField(required=False, strip=False)
    browser_ms = BrowserMilliseconds()
    first_action_ms = BrowserMilliseconds()
    active_ms = BrowserMilliseconds()

    def clean_spans(self) -> list[Any]:
        text = self.cleaned_data["spans"] or "[]"
        try:
            spans = json.loads(text)
        except ValueError:
            spans = None
        if not isinstance(spans, list):
            raise forms.ValidationError(
                _("The selection could not be read. Reload the page and select it again.")
            )
        return spans

    def raw_answer(self) -> RawAnswer:
        data = self.cleaned_data
        return RawAnswer(
            option=data["option"], spans=data["spans"], none=data["none"], typed=data["typed"]
        )

    def times(self) -> BrowserTimes:
        data = self.cleaned_data
        return BrowserTimes(
            browser_ms=data["browser_ms"],
            first_action_ms=data["first_action_ms"],
            active_ms=data["active_ms"],
        )
