"""The forms of the payments' pages."""

from decimal import Decimal
from typing import Any

from django import forms

from annotation.models import Outcome

_AMOUNT: dict[str, Any] = {"max_digits": 8, "decimal_places": 2}


class RewardsForm(forms.Form):
    """Its fields have the outcomes' names."""

    completed = forms.DecimalField(label="for completed work", min_value=0, **_AMOUNT)
    screened_out = forms.DecimalField(label="for those screened out", min_value=0, **_AMOUNT)

    def amounts(self) -> dict[str, Decimal]:
        names = (Outcome.COMPLETED, Outcome.SCREENED_OUT)
        return {name: self.cleaned_data[name] for name in names}


class CorrectionForm(forms.Form):
    amount = forms.DecimalField(
        label="Change of what is due",
        help_text="Such as 1.50, or -1.50 to take away.",
        **_AMOUNT,
    )
    reason = forms.CharField(
        label="Reason",
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "A correction needs a reason: give one."},
    )
