"""The product's addresses, POSTs that do nothing, and one that inserts a bare row."""

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_POST

from annotation.access import cookies
from annotation.models import Assignment
from annotation.work.entering import annotators_page
from annotation.work.views import at_work
from config.urls import urlpatterns as product


@annotators_page
@require_POST
def nothing(request: HttpRequest) -> HttpResponse:
    """Behind the same middleware, with the same cookie read."""
    cookies.cookie_of(request)
    return HttpResponse("nothing")


@at_work
@require_POST
def signed_in(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """The same, after looking up the annotator and their assignment."""
    return HttpResponse("nothing")


@annotators_page
@require_POST
def insert(request: HttpRequest) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO bench_bare (value) VALUES (%s)", ["x"])
    return HttpResponse("inserted")


urlpatterns = [
    path("bench/nothing/", nothing),
    path("bench/signed-in/", signed_in),
    path("bench/insert/", insert),
    *product,
]
