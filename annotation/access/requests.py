"""A request as the views get it, with what the middleware added."""

from django.contrib.auth.models import User
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class HtmxRequest(HttpRequest):
    htmx: HtmxDetails


class ResearcherRequest(HtmxRequest):
    """On a page that nobody sees without signing in."""

    user: User
