"""Tokens of one's own: on the API, on pages that are read, and in the log."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings
from rest_framework.authtoken.models import Token

from annotation.access.tokens import find_token, make_token
from annotation.models import ApiToken, Study, clock
from annotation.models.errors import BadInput
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make.running_batch().study


def token_of(user: User, name: str = "script", *, write: bool = False, pay: bool = False) -> str:
    return make_token(user, name=name, may_write=write, may_pay=pay, days=9, at=clock.now())


def get(address: str, token: str = "", accept: str = "*/*") -> tuple[int, str]:
    headers = {"Accept": accept} | ({"Authorization": f"Token {token}"} if token else {})
    answer = Client().get(address, headers=headers)
    return answer.status_code, answer.headers.get("Content-Type", "")


def test_opens_what_its_user_may_read(study: Study) -> None:
    token = token_of(make.member(study, "editor"))
    assert get(f"/research/studies/{study.slug}/people.csv", token)[0] == 200
    assert get("/api/runs/", token)[0] == 200


@pytest.mark.parametrize(
    ("token", "status"), [("", 401), ("unknown", 401), ("ended", 401), ("viewer", 403)]
)
@pytest.mark.parametrize("accept", ["*/*", "application/json"])
def test_gives_a_program_no_page_for_signing_in(
    study: Study, token: str, status: int, accept: str
) -> None:
    if token == "ended":
        token = token_of(make.member(study, "owner"))
        ApiToken.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    elif token == "viewer":
        token = token_of(make.member(study, "viewer"))
    found = get(f"/research/studies/{study.slug}/people.csv", token, accept)
    assert found == (status, "application/json")


def test_sends_a_browser_to_sign_in(study: Study) -> None:
    address = f"/research/studies/{study.slug}/people.csv"
    assert get(address, accept="text/html,*/*;q=0.8")[0] == 302


def test_may_not_pay_without_the_right(study: Study) -> None:
    owner, address = make.member(study, "owner"), f"/research/studies/{study.slug}/payments.csv"
    assert get(address, token_of(owner))[0] == 403
    assert get(address, token_of(owner, "of pay", pay=True))[0] == 200


def test_sends_no_form_of_a_page(study: Study) -> None:
    token, client = token_of(make.member(study, "owner"), write=True), Client()
    answer = client.post(
        f"/research/studies/{study.slug}/data/ids/", headers={"Authorization": f"Token {token}"}
    )
    assert answer.status_code == 302


def test_opens_nothing_of_the_admin(study: Study) -> None:
    token = token_of(User.objects.create_superuser("root"))
    assert get("/admin/auth/user/", token, accept="text/html")[0] == 302


def test_only_reads_unless_it_may_write() -> None:
    user, statuses = make.researcher(), []
    for name, write in (("reads", False), ("writes", True)):
        headers = {"Authorization": f"Token {token_of(user, name, write=write)}"}
        statuses.append(Client().post("/api/runs/", {}, headers=headers).status_code)
    assert statuses == [403, 415]


def test_ends_with_its_user() -> None:
    user = make.researcher()
    token = token_of(user)
    assert find_token(token, at=clock.now()) is not None
    User.objects.update(is_active=False)
    assert find_token(token, at=clock.now()) is None


def test_is_kept_as_a_hash() -> None:
    token = token_of(make.researcher())
    assert token not in str(list(ApiToken.objects.values()))


def test_names_each_once() -> None:
    user = make.researcher()
    token_of(user)
    with pytest.raises(BadInput, match="choose another name"):
        token_of(user)


def test_takes_former_tokens_for_runs_alone(study: Study) -> None:
    former = Token.objects.create(user=make.member(study, "owner")).key
    assert get("/api/runs/", former)[0] == 200
    for closed in (f"/research/studies/{study.slug}/people.csv", f"/api/studies/{study.slug}/"):
        assert get(closed, former) == (403, "application/json")


def test_is_throttled(settings: Settings) -> None:
    settings.THROTTLES = {**settings.THROTTLES, "requests_per_token": 2}
    token = token_of(make.researcher())
    assert [get("/api/runs/", token)[0] for _ in range(3)] == [200, 200, 429]


# The page


def test_shows_a_new_token_once(client: Client) -> None:
    client.force_login(make.researcher())
    made = client.post("/account/", {"name": "script", "days": 30, "may_write": "on"})
    shown = re.search(r'<code class="r-checksum">([\w-]+)</code>', made.content.decode())
    assert shown
    token = find_token(shown[1], at=clock.now())
    assert token is not None
    assert (token.may_write, token.may_pay) == (True, False)
    assert shown[1] not in client.get("/account/").content.decode()


@pytest.mark.parametrize("days", ["0", "367", "", "9" * 5000])
def test_refuses_an_end_that_cannot_be(client: Client, days: str) -> None:
    client.force_login(make.researcher())
    assert client.post("/account/", {"name": "script", "days": days}).status_code == 422
    assert not ApiToken.objects.exists()


def test_ends_ones_own_tokens_alone(client: Client) -> None:
    own, others = make.researcher(), make.researcher()
    for user in (own, others):
        token_of(user)
    client.force_login(own)
    client.post("/account/", {"end": [str(one.pk) for one in ApiToken.objects.all()]})
    assert [token.user for token in ApiToken.objects.all()] == [others]
