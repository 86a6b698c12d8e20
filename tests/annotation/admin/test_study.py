from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.admin import site
from django.contrib.messages import get_messages
from django.test import Client, RequestFactory
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.models import JoinAnswer, Outcome, Study
from annotation.models.errors import Frozen
from annotation.studies.lifecycle import start_study
from annotation.studies.rules import NO_REASON
from tests import make

pytestmark = pytest.mark.django_db

ADD = "admin:annotation_study_add"


@pytest.fixture
def study() -> Study:
    benchmark = make.benchmark()
    study = make.study(benchmark)
    make.batch(study, make.task(benchmark))
    return study


def form_of(study: Study, **changes: Any) -> dict[str, Any]:
    """What a browser would send from the study's page."""
    fields = (
        "title slug contact consent_text hourly_rate currency platform_fee min_training_score "
        "max_drop drop_unit drop_group_size question margin margin_reason lease_minutes "
        "expire_hours idle_after_s item_cap_s reading_cap_s reveal_cap_s shuffle_by seed"
    )
    data = {name: getattr(study, name) for name in fields.split()}
    data |= {"benchmark": study.benchmark_id, "channel": study.channel_id}
    rules = list(study.outcome_rules.all()) if study.pk else []
    data |= {"outcome_rules-TOTAL_FORMS": len(rules), "outcome_rules-INITIAL_FORMS": len(rules)}
    data |= {"pools-TOTAL_FORMS": 0, "pools-INITIAL_FORMS": 0}
    for number, rule in enumerate(rules):
        prefix = f"outcome_rules-{number}-"
        data |= {f"{prefix}id": rule.pk, f"{prefix}study": study.pk, f"{prefix}code": rule.code}
        data[f"{prefix}minimum"] = rule.minimum
        if rule.pays_time:
            data[f"{prefix}pays_time"] = "on"
    return {name: "" if value is None else value for name, value in (data | changes).items()}


def address(study: Study, page: str = "change") -> str:
    return reverse(f"admin:annotation_study_{page}", args=[study.pk])


def messages_of(response: Any) -> str:
    return " ".join(str(message) for message in get_messages(response.wsgi_request))


def test_adds_a_study_with_a_code_for_every_outcome(admin_client: Client) -> None:
    new = Study(
        title="Pilot", slug="pilot", benchmark=make.benchmark(), channel=make.channel("prolific")
    )
    response = admin_client.post(reverse(ADD), form_of(new))
    study = Study.objects.get(slug="pilot")
    assert response["Location"] == address(study)
    assert set(study.outcome_rules.values_list("outcome", flat=True)) == {
        *Outcome.values,
        *JoinAnswer.values,
    }
    assert [(m.user.username, m.role) for m in study.memberships.all()] == [("admin", "owner")]
    assert study.state == "draft"


def test_changes_a_draft(admin_client: Client, study: Study) -> None:
    form = form_of(study, max_drop=10, consent_text="We store much.")
    response = admin_client.post(address(study), form)
    assert response["Location"] == address(study)
    assert "The settings were saved." in messages_of(response)
    study.refresh_from_db()
    assert (study.max_drop, study.consent_text) == (10, "We store much.")


def test_shows_what_is_missing_before_the_start(admin_client: Client, study: Study) -> None:
    Study.objects.update(consent_text="")
    page = admin_client.get(address(study)).content.decode()
    assert "The consent text is empty" in page
    assert reverse("annotation:start", args=[study.slug]) in page


def test_offers_the_link_with_the_parameters_of_prolific(admin_client: Client) -> None:
    study = make.study(make.benchmark(), via="prolific")
    page = admin_client.get(address(study)).content.decode()
    link = f"http://testserver/join/{study.join_token}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&amp;"
    assert link in page


def test_offers_no_open_link_where_only_the_invited_may_join(admin_client: Client) -> None:
    study = make.study(make.benchmark(), via="invited")
    page = admin_client.get(address(study)).content.decode()
    assert study.join_token not in page
    assert "invited people only" in page


BAD_FIELDS = [
    ({"min_training_score": 101}, "between 0 and 100"),
    ({"min_training_score": -1}, "between 0 and 100"),
    ({"max_drop": 0}, "A drop must be more than 0"),
    ({"max_drop": -5}, "A drop must be more than 0"),
    ({"max_drop": 101, "drop_unit": "points"}, "at most 100"),
    ({"max_drop": 5, "drop_group_size": ""}, "A drop needs the group size"),
    ({"drop_group_size": 1}, "at least 2 others"),
    ({"margin": -1}, "between 0 and 100"),
    ({"margin": 101}, "between 0 and 100"),
    ({"named_systems": "T5\n" + "x" * 207}, "at most 206 characters"),
    ({"named_systems": "T5\0"}, "Null characters are not allowed"),
    ({"hourly_rate": 0}, "more than 0"),
    ({"currency": "E1"}, "three letters"),
    ({"lease_minutes": 0}, "at least 1 minute"),
    ({"idle_after_s": 4}, "at least 5 seconds"),
    ({"item_cap_s": 0}, "at least 1 second"),
    ({"expire_hours": 0}, "at least 1 hour"),
]


@pytest.mark.parametrize(("changes", "sentence"), BAD_FIELDS)
def test_refuses_a_setting_with_a_sentence(
    admin_client: Client, study: Study, changes: dict[str, Any], sentence: str
) -> None:
    response = admin_client.post(address(study), form_of(study, **changes))
    page = response.content.decode()
    assert response.status_code == 200
    assert sentence in page
    assert "is violated" not in page
    study.refresh_from_db()
    assert study.hourly_rate == 12


def test_leaves_the_group_size_alone_where_there_is_no_drop(
    admin_client: Client, study: Study
) -> None:
    admin_client.post(address(study), form_of(study, drop_group_size=""))
    study.refresh_from_db()
    assert study.drop_group_size == 5


def test_keeps_what_was_named_before_the_start(admin_client: Client, study: Study) -> None:
    named = {
        "question": "Are people ahead?",
        "named_systems": "BERT  FT\r\n\r\nT5\r\nbert ft\r\n",
        "margin": 2.5,
        "margin_reason": "Two runs differ by as much.",
    }
    admin_client.post(address(study), form_of(study, **named))
    study.refresh_from_db()
    kept = {**named, "named_systems": ["BERT FT", "T5"]}
    assert {name: getattr(study, name) for name in kept} == kept
    admin_client.post(address(study), form_of(study, named_systems="BERT FT\r\nT5"))
    logged = [change.after.get("named_systems") for change in study.changes.order_by("pk")]
    assert logged == ["BERT FT; T5", None]
    start_study(study, at=make.NOON)
    assert {name: study.frozen["rules"][name] for name in kept} == kept
    admin_client.post(address(study), form_of(study, named_systems="GPT", margin=50, question=""))
    study.refresh_from_db()
    assert {name: getattr(study, name) for name in kept} == kept


def test_says_what_a_name_without_a_method_lets_in(admin_client: Client, study: Study) -> None:
    page = admin_client.get(address(study)).content.decode()
    assert "Name the method too, as BERT FT, or every method of it counts" in page


def test_shows_the_named_systems_of_a_started_study_as_lines(
    admin_client: Client, study: Study
) -> None:
    admin_client.post(address(study), form_of(study, named_systems="AlphaNet FT\r\nBetaNet"))
    study.refresh_from_db()
    start_study(study, at=make.NOON)
    page = admin_client.get(address(study)).content.decode()
    assert "AlphaNet FT<br>BetaNet" in page
    assert "[&quot;AlphaNet" not in page


def test_asks_for_the_reason_of_a_margin_and_loses_nothing(
    admin_client: Client, study: Study
) -> None:
    changes = {"margin": 2.5, "margin_reason": " ", "title": "Another"}
    response = admin_client.post(address(study), form_of(study, **changes))
    assert response.context["adminform"].form.errors == {"margin_reason": [NO_REASON]}
    page = response.content.decode()
    assert 'value="2.5"' in page
    assert 'value="Another"' in page
    study.refresh_from_db()
    assert study.margin == 0


def test_takes_an_empty_margin_for_0(admin_client: Client, study: Study) -> None:
    admin_client.post(address(study), form_of(study, margin=""))
    study.refresh_from_db()
    assert study.margin == 0


def test_warns_of_a_drop_that_three_people_cannot_reach(admin_client: Client, study: Study) -> None:
    changes = {"max_drop": 1.5, "drop_unit": "sds", "drop_group_size": 2}
    response = admin_client.post(address(study), form_of(study, **changes))
    assert "1.155" in messages_of(response)
    study.refresh_from_db()
    assert study.max_drop == 1.5


def test_warns_of_small_groups_in_the_form_itself(admin_client: Client, study: Study) -> None:
    assert "1.155 standard deviations" in admin_client.get(address(study)).content.decode()


BAD_RULES = [
    ({"outcome_rules-1-code": ""}, "Every outcome needs a code."),
    ({"outcome_rules-1-code": "CODE-COMPLETED"}, "have the same code"),
    ({"outcome_rules-1-minimum": "-1"}, "cannot be below 0"),
    ({"platform_fee": "-3"}, "The platform&#x27;s fee cannot be below 0."),
]


@pytest.mark.parametrize(("changes", "sentence"), BAD_RULES)
def test_refuses_a_rule_with_a_sentence(
    admin_client: Client, study: Study, changes: dict[str, str], sentence: str
) -> None:
    page = admin_client.post(address(study), form_of(study, **changes)).content.decode()
    assert sentence in page


@pytest.mark.parametrize("outcome", ["completed", "screened_out"])
def test_never_leaves_the_training_unpaid(admin_client: Client, study: Study, outcome: str) -> None:
    form = form_of(study)
    rules = list(study.outcome_rules.values_list("outcome", flat=True))
    del form[f"outcome_rules-{rules.index(outcome)}-pays_time"]
    page = admin_client.post(address(study), form).content.decode()
    assert "is paid for the time" in page
    assert study.outcome_rules.get(outcome=outcome).pays_time


def test_changes_codes(admin_client: Client, study: Study) -> None:
    changes = {"outcome_rules-0-code": "NEW-1", "outcome_rules-1-code": "NEW-2"}
    assert admin_client.post(address(study), form_of(study, **changes)).status_code == 302
    assert set(study.outcome_rules.values_list("code", flat=True)) >= {"NEW-1", "NEW-2"}


def test_swaps_two_codes(admin_client: Client, study: Study) -> None:
    form = form_of(study)
    one, other = "outcome_rules-0-code", "outcome_rules-1-code"
    form[one], form[other] = form[other], form[one]
    assert admin_client.post(address(study), form).status_code == 302
    first, second = study.outcome_rules.order_by("outcome")[:2]
    assert (first.code, second.code) == (form[one], form[other])


def test_adds_a_code_that_was_missing(admin_client: Client, study: Study) -> None:
    study.outcome_rules.filter(outcome="full").delete()
    admin_client.post(address(study), form_of(study))
    assert study.outcome_rules.filter(outcome="full").exists()


def test_keeps_the_benchmark_of_its_batches(admin_client: Client, study: Study) -> None:
    other = make.benchmark()
    page = admin_client.post(address(study), form_of(study, benchmark=other.pk))
    assert "batches of another benchmark" in page.content.decode()


def test_offers_no_simulated_channel(admin_client: Client, study: Study) -> None:
    simulated = make.channel("simulated")
    page = admin_client.post(address(study), form_of(study, channel=simulated.pk))
    assert page.status_code == 200
    study.refresh_from_db()
    assert study.channel.slug == "link"


def test_keeps_everything_of_a_started_study_but_its_contact_and_the_fee_on_top(
    admin_client: Client, study: Study
) -> None:
    form = form_of(study, contact="ann@example.org", consent_text="Other", hourly_rate=99)
    form["platform_fee"] = "33.30"
    form["outcome_rules-0-code"] = "OTHER"
    start_study(study, at=make.NOON)
    admin_client.post(address(study), form)
    study.refresh_from_db()
    assert (study.contact, study.platform_fee) == ("ann@example.org", Decimal("33.30"))
    assert (study.consent_text, study.hourly_rate, study.state) == (
        "We store your answers.",
        12,
        "open",
    )
    assert not study.outcome_rules.filter(code="OTHER").exists()


@pytest.mark.parametrize("sent", ["code", "none"])
def test_keeps_the_codes_of_a_started_study(admin_client: Client, study: Study, sent: str) -> None:
    """Its page shows them as text, so a browser sends their ids alone."""
    start_study(study, at=make.NOON)
    rules = list(study.outcome_rules.order_by("pk").values())
    form = form_of(study, contact="ann@example.org")
    if sent == "none":
        ends = ("-code", "-minimum", "-pays_time")
        form = {name: value for name, value in form.items() if not name.endswith(ends)}
    else:
        form["outcome_rules-0-code"] = "OTHER"
    assert admin_client.post(address(study), form).status_code == 302
    study.refresh_from_db()
    assert study.contact == "ann@example.org"
    assert list(study.outcome_rules.order_by("pk").values()) == rules


def test_does_not_undo_a_start_that_came_between(study: Study, rf: RequestFactory) -> None:
    """The form was read and checked while the study was a draft; then somebody started it."""
    stale = Study.objects.get(pk=study.pk)
    stale.consent_text = "Other"
    start_study(study, at=make.NOON)
    form = SimpleNamespace(changed_data=["consent_text"])
    with pytest.raises(Frozen):
        site._registry[Study].save_model(rf.post("/"), stale, form, change=True)
    study.refresh_from_db()
    assert (study.state, study.consent_text) == ("open", "We store your answers.")


def test_says_that_a_start_came_between(
    admin_client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object) -> None:
        raise Frozen("This study has been started.")

    monkeypatch.setattr("annotation.admin.study.hold_draft", refuse)
    response = admin_client.post(address(study), form_of(study, consent_text="Other"))
    assert response["Location"] == address(study)
    assert "has been started" in messages_of(response)


def test_deletes_a_draft(admin_client: Client, study: Study) -> None:
    admin_client.post(address(study, "delete"), {"post": "yes"})
    assert not Study.objects.exists()


@pytest.mark.parametrize("method", ["get", "post"])
def test_keeps_a_study_that_has_started(admin_client: Client, method: str) -> None:
    study = make.worked_through(make.running_batch()).study
    response = getattr(admin_client, method)(address(study, "delete"), {"post": "yes"})
    assert response["Location"] == address(study)
    assert "is kept, with its judgements" in messages_of(response)
    assert Study.objects.filter(pk=study.pk).exists()


def test_offers_no_deletion_of_several_at_once(admin_client: Client, study: Study) -> None:
    start_study(study, at=make.NOON)
    data = {"action": "delete_selected", "_selected_action": study.pk, "post": "yes"}
    admin_client.post(reverse("admin:annotation_study_changelist"), data)
    assert Study.objects.exists()


def test_counts_finished_places_in_the_list(admin_client: Client) -> None:
    batch = make.running_batch(wanted=4)
    make.worked_through(batch)
    make.at_work(batch)
    page = admin_client.get(reverse("admin:annotation_study_changelist")).content.decode()
    assert "1 of 4" in page


def test_lists_any_number_of_studies_in_as_many_queries(
    admin_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    url = reverse("admin:annotation_study_changelist")
    for _ in range(5):
        make.running_batch()
    admin_client.get(url)
    with django_assert_num_queries(7):  # who asks: 2; counts: 2; the rows; filters: 2
        admin_client.get(url)
