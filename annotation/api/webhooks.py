"""The webhooks of a study over the API: listed, made and removed."""

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access.api import ONE, SENT, taken, user_of, wrong_with
from annotation.access.rights import Right
from annotation.access.serializers import Fields, Text
from annotation.api.studies import OfStudies
from annotation.models import HookCall, Webhook
from annotation.models.texts import is_key
from annotation.studies.tabs import CHANGE
from annotation.webhooks.addresses import add_webhook, remove_webhook

LATEST = 10


class CallSerializer(serializers.ModelSerializer[HookCall]):
    class Meta:
        model = HookCall
        fields = ("id", "event", "made_at", "tries", "answer", "next_at")


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    calls = serializers.SerializerMethodField()

    class Meta:
        model = Webhook
        fields: tuple[str, ...] = ("id", "url", "made_at", "calls")

    @extend_schema_field(CallSerializer(many=True))
    def get_calls(self, hook: Webhook) -> Any:
        return CallSerializer(hook.calls.all()[:LATEST], many=True).data


class NewWebhookSerializer(Fields):
    url = Text(max_length=500)


class MadeWebhookSerializer(WebhookSerializer):
    class Meta(WebhookSerializer.Meta):
        fields = (*WebhookSerializer.Meta.fields, "secret")


class WebhookViewSet(OfStudies):
    @extend_schema(responses={200: WebhookSerializer(many=True), **ONE})
    @action(detail=True, url_name="all")
    def webhooks(self, request: Request, slug: str) -> Response:
        """The addresses that are told what happens, each with its latest calls."""
        hooks = self.study(Right.SET_UP, CHANGE).webhooks.all()
        return Response(WebhookSerializer(hooks, many=True).data)

    @extend_schema(
        request=NewWebhookSerializer, responses={201: MadeWebhookSerializer, **ONE, **SENT}
    )
    @webhooks.mapping.post
    def add(self, request: Request, slug: str) -> Response:
        """Have an address told from now on; its secret is in this answer alone."""
        study = self.study(Right.SET_UP, CHANGE)
        sent = taken(request, NewWebhookSerializer)
        with wrong_with("url"):
            made = add_webhook(study, **sent, by=user_of(request))
        return Response(MadeWebhookSerializer(made).data, status.HTTP_201_CREATED)

    @extend_schema(request=None, responses={204: None, **ONE})
    @action(detail=True, methods=["delete"], url_name="one", url_path=r"webhooks/(?P<hook>\d+)")
    def webhook(self, request: Request, slug: str, hook: str) -> Response:
        """Tell it nothing any more, nor what it was still to be told."""
        study = self.study(Right.SET_UP, CHANGE)
        if not is_key(hook):
            raise Http404
        remove_webhook(get_object_or_404(study.webhooks, pk=int(hook)), by=user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
