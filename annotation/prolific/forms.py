from typing import Any

from django import forms

from annotation.models import ProlificStudy
from annotation.prolific.connecting import SECRETS, SETTINGS


class ConnectionForm(forms.Form):
    """Secrets go in and never come out: empty keeps the present one."""

    token = forms.CharField(
        label="API token",
        required=False,
        max_length=300,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Not shown again. Leave empty to keep the present one.",
    )
    forget = forms.BooleanField(
        label="Forget the token and the secret: nothing is sent any more", required=False
    )
    workspace_id = forms.CharField(label="Workspace id", required=False, max_length=60)
    project_id = forms.CharField(label="Project id", required=False, max_length=60)
    remote_id = forms.CharField(
        label="Id of the study on Prolific",
        required=False,
        max_length=60,
        help_text="Written by “Make the draft”; fill it in if you made the study there yourself.",
    )
    webhook_secret = forms.CharField(
        label="Secret of the workspace's reports",
        required=False,
        max_length=300,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Only if the workspace has one already. Not shown again.",
    )

    def __init__(self, *args: Any, connection: ProlificStudy, **kwargs: Any) -> None:
        shown = [name for name in SETTINGS if name not in SECRETS]
        kwargs["initial"] = {name: getattr(connection, name) for name in shown}
        super().__init__(*args, **kwargs)
        self._connection = connection

    def clean_remote_id(self) -> str:
        remote_id: str = self.cleaned_data["remote_id"].strip()
        others = ProlificStudy.objects.exclude(pk=self._connection.pk)
        if remote_id and others.filter(remote_id=remote_id).exists():
            raise forms.ValidationError("Another study here is connected to that one.")
        return remote_id

    def settings(self) -> dict[str, str]:
        given = {name: self.cleaned_data[name].strip() for name in SETTINGS}
        for name in SECRETS:
            kept = "" if self.cleaned_data["forget"] else getattr(self._connection, name)
            given[name] = given[name] or kept
        return given
