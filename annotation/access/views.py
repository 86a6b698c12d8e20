"""The page where a colleague comes in by a link, signs in or up, and joins with one button."""

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.access import throttles
from annotation.access.inviting import find_link, use_link
from annotation.access.requests import ResearcherRequest
from annotation.models import Study, clock
from annotation.models.errors import BadInput, Refusal

COLLEAGUE = "annotation/access/colleague.html"
LIMIT = "wrong_codes_per_address"


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def colleague(request: ResearcherRequest, token: str) -> HttpResponse:
    """Opening the link takes nothing: it may be a preview."""
    address, at = throttles.address_of(request), clock.now()
    if seconds := throttles.seconds_to_wait(LIMIT, address):
        sentence = f"Many links that lead nowhere were opened from this address: wait {seconds} s."
        response = render(request, "429.html", {"sentence": sentence}, status=429)
        return throttles.later(response, seconds)
    form = UserCreationForm[User](request.POST if "username" in request.POST else None)
    refusal = ""
    try:
        link = find_link(token, at=at)
        if request.method == "POST" and (request.user.is_authenticated or form.is_valid()):
            return _let_in(request, form, token)
    except BadInput as problem:
        throttles.count(LIMIT, address)
        return render(request, COLLEAGUE, {"refusal": str(problem)}, status=404)
    except Refusal as problem:
        refusal = str(problem)
    context = {"link": link, "form": form, "refusal": refusal}
    return render(request, COLLEAGUE, context, status=422 if form.errors or refusal else 200)


def _let_in(request: ResearcherRequest, form: UserCreationForm[User], token: str) -> HttpResponse:
    is_new = not request.user.is_authenticated
    # The password is hashed before the database is held, which takes a while.
    user = form.save(commit=False) if is_new else request.user
    with transaction.atomic():
        if is_new:
            user.save()
        thing = use_link(token, user, at=clock.now())
    if is_new:
        login(request, user, backend=settings.AUTHENTICATION_BACKENDS[-1])
    if isinstance(thing, Study):
        return redirect("annotation:watch", thing.slug)
    return redirect("annotation:home")
