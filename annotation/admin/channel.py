"""Recruitment channels: data, so that a new platform needs no code."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from annotation.admin.pages import PagedAdmin, section, shown
from annotation.models import Channel


class ChannelForm(forms.ModelForm[Channel]):
    class Meta:
        model = Channel
        fields = ()
        widgets = {"signature_secret": forms.PasswordInput(attrs={"autocomplete": "new-password"})}
        help_texts = {"signature_secret": "Not shown again. Leave empty to keep the present one."}

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        # The secret is never sent to a browser, so an empty field says nothing about it.
        if not data.get("signature_secret") and data.get("signature_param"):
            data["signature_secret"] = self.instance.signature_secret
        return data


@admin.register(Channel)
class ChannelAdmin(PagedAdmin[Channel]):
    form = ChannelForm
    list_display = ("name", "person_param", "completion_url", "invited_only", "is_simulated")
    search_fields = ("name",)
    prepopulated_fields = {"slug": ["name"]}
    actions = None
    fieldsets = [
        section(None, "name", "slug", "invited_only"),
        section(
            "What the platform adds to a link",
            ("person_param", "id_form"),
            *("study_param", "submission_param", "link_query"),
        ),
        section("Signed links", "signature_param", "signature_secret"),
        section("Where annotators go at the end", "completion_url"),
    ]

    def get_fieldsets(self, request: HttpRequest, obj: Channel | None = None) -> Any:
        """Whoever may only look sees whether there is a secret, never the secret."""
        fieldsets = list(super().get_fieldsets(request, obj))
        if obj is None or self.has_change_permission(request, obj):
            return fieldsets
        signed = section("Signed links", "signature_param", "has_secret")
        return [
            signed if "signature_secret" in options["fields"] else (title, options)
            for title, options in fieldsets
        ]

    has_secret = shown("Has a secret", lambda row: bool(row.signature_secret), boolean=True)

    def get_readonly_fields(self, request: HttpRequest, obj: Channel | None = None) -> list[str]:
        # People are recognised by a hash over the short name: changing it would forget them.
        return ["slug", "has_secret"] if obj else []

    def has_change_permission(self, request: HttpRequest, obj: Channel | None = None) -> bool:
        simulated = obj is not None and obj.is_simulated
        return not simulated and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Channel | None = None) -> bool:
        simulated = obj is not None and obj.is_simulated
        return not simulated and super().has_delete_permission(request, obj)
