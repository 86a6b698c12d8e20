"""The language of a page: annotators' pages speak their browser's, as far as there is a catalogue;
researchers' pages and documents are in English, like the papers that they end in."""

from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

ANNOTATORS = ("/join/", "/invited/", "/resume/", "/go/", "/work/", "/language/")


class AnnotatorsLanguage(LocaleMiddleware):
    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(ANNOTATORS):
            super().process_request(request)
        else:
            translation.activate("en")
