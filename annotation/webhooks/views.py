"""The page of a study's webhooks."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.access.requests import ResearcherRequest, row_ids
from annotation.access.rights import Right
from annotation.models import HookCall, HookEvent, Study
from annotation.models.errors import BadInput
from annotation.studies.tabs import CHANGE, READ, SEND, study_frame, study_page
from annotation.webhooks.addresses import add_webhook, remove_webhook

LATEST = 50


class WebhookForm(forms.Form):
    url = forms.CharField(
        label="Address", max_length=500, help_text="Such as https://example.org/."
    )


@study_page(*READ, *SEND, right=Right.SET_UP, permission=CHANGE)
def webhooks(request: ResearcherRequest, study: Study) -> HttpResponse:
    """A new one's secret is in the answer to its form alone."""
    if removed := row_ids(request, "remove"):
        for hook in study.webhooks.filter(pk__in=removed):
            remove_webhook(hook, by=request.user)
        messages.success(request, "It is told nothing any more.")
        return redirect("annotation:webhooks", study.slug)
    form, made = WebhookForm(request.POST if request.method == "POST" else None), None
    if form.is_valid():
        try:
            made = add_webhook(study, form.cleaned_data["url"], by=request.user)
        except BadInput as refusal:
            form.add_error("url", str(refusal))
        else:
            form = WebhookForm()
    calls = HookCall.objects.filter(webhook__study=study).select_related("webhook")
    context = {
        **study_frame(request.user, study, tab="settings"),
        "form": form,
        "made": made,
        "webhooks": study.webhooks.all(),
        "events": HookEvent.choices,
        "calls": calls[:LATEST],
    }
    page, status = "annotation/webhooks/webhooks.html", 422 if form.errors else 200
    return render(request, page, context, status=status)
