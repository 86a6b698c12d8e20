from django import forms
from django.utils.translation import gettext_lazy as _


class ExcludeForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"),
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Kept with the mark, and shown beside it. Do not name anybody."),
        error_messages={"required": _("An exclusion needs a reason: give one.")},
    )
