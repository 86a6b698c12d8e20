from django import forms


class ExcludeForm(forms.Form):
    reason = forms.CharField(
        label="Reason",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Kept with the mark, and shown beside it. Do not name anybody.",
        error_messages={"required": "An exclusion needs a reason: give one."},
    )
