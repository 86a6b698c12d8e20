"""An item to try before the consent: nothing is stored, and no gold but its own is shown."""

from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from annotation.benchmarks.formats.samples import is_sample, problem_of_sample
from annotation.models import Batch, Kind, Task
from annotation.models.frozen import draft_content
from annotation.studies.lifecycle import start_study
from annotation.work.consent_facts import asked_of
from annotation.work.languages import in_readers_language
from annotation.work.previewing import to_try
from tests import make

pytestmark = pytest.mark.django_db

TRY = "/work/try/0/"
SAMPLES: dict[str, dict[str, Any]] = {
    Kind.CHOICE: {"text": ["It was fun."], "answer": ["good"]},
    Kind.CANDIDATE: {"text": ["Ann met Bo."], "names": ["Ann", "Bo"], "answer": ["Bo"]},
    Kind.SPANS: {"text": ["Ann met Bo in Rome."], "answer": ["Rome"]},
    Kind.TEXT: {"text": ["Ann met Bo in Rome."], "answer": ["in Rome"]},
    Kind.NUMBER: {"text": ["Ann paid $ 12."], "answer": ["12"]},
    Kind.LABELS: {"text": ["It was fun, and then not."], "answer": ["bad", "good"]},
}
ANSWERS = {
    Kind.CHOICE: ({"option": "1"}, {"option": "0"}),
    Kind.CANDIDATE: ({"option": "1"}, {"option": "0"}),
    Kind.SPANS: (make.selection([0, 14, 18]), make.selection([0, 0, 3])),
    Kind.TEXT: ({"text": "in Rome"}, {"text": "in Oslo"}),
    Kind.NUMBER: ({"number": "$12.00"}, {"number": "11"}),
    Kind.LABELS: ({"option-0": "1", "option-1": "1"}, {"option-1": "1"}),
}


def batch_of(kind: str, **sample: Any) -> Batch:
    task = make.task(kind=kind)
    own = {"asks": "You read and answer.", "question": "Which?", **SAMPLES[kind], **sample}
    Task.objects.filter(pk=task.pk).update(sample=own)
    batch = make.batch(make.study(task.benchmark), task, zero_shot=True)
    start_study(batch.study, at=make.NOON)
    return batch


def at_the_door(batch: Batch) -> Client:
    client = Client()
    client.get(reverse("annotation:join_batch", args=[batch.join_token]))
    return client


def stored() -> dict[str, int]:
    return {model.__name__: model._base_manager.count() for model in apps.get_models()}


@pytest.mark.parametrize("kind", SAMPLES)
def test_shows_how_it_was_answered_and_stores_nothing(kind: str) -> None:
    client = at_the_door(batch_of(kind, explanation="That is why."))
    consent = client.get("/work/consent/").content.decode()
    assert "You read and answer." in consent
    assert f'href="{TRY}"' in consent
    before = stored()
    page = client.get(TRY).content.decode()
    assert "None of this is stored." in page
    assert "That is why." not in page
    right, wrong = ANSWERS[Kind(kind)]
    assert "Right." in client.post(TRY, right).content.decode()
    answered = client.post(TRY, wrong).content.decode()
    assert "Right." not in answered
    assert "That is why." in answered
    empty = client.post(TRY, {})
    assert empty.status_code == 422
    assert client.post(TRY, {"state": "answered"})["Location"] == "/work/consent/"
    assert stored() == before
    assert client.get("/work/").status_code == 403


def test_shows_no_item_of_the_study() -> None:
    batch = batch_of(Kind.CHOICE)
    client = at_the_door(batch)
    texts = [example.context[0] for example in batch.task.examples.all()]
    for posted in ({"option": "1"}, {"option": "1", "step": "3", "example": "1"}):
        page = client.post(TRY, posted).content.decode()
        assert not [text for text in texts if text in page]
    assert client.get("/work/try/1/").status_code == 404


def test_is_offered_only_where_one_was_written() -> None:
    batch = make.running_batch()
    client = at_the_door(batch)
    assert "Try one" not in client.get("/work/consent/").content.decode()
    assert client.get(TRY).status_code == 404
    assert Client().get(TRY)["Location"] == "/work/consent/"
    assert asked_of([draft_content(batch)])[0].startswith("You read short texts")


@pytest.mark.parametrize(
    ("kind", "sample", "problem"),
    [
        *((kind, sample, "") for kind, sample in SAMPLES.items()),
        (Kind.CHOICE, {"asks": "You read."}, ""),
        (Kind.CHOICE, {"text": ["Fun."], "answer": ["fine"]}, "one of bad, good"),
        (Kind.CHOICE, {"text": ["Fun."], "answer": []}, "one of bad, good"),
        (Kind.CANDIDATE, {"text": ["Ann."], "answer": ["Ann"]}, "one of its names"),
        (Kind.CANDIDATE, {"text": ["Ann."], "names": ["Bo"], "answer": ["Bo"]}, "“Bo” is not in"),
        (Kind.SPANS, {"text": ["Ann."], "answer": ["Bo"]}, "“Bo” is not in its text"),
        (Kind.SPANS, {"text": ["Known."], "answer": []}, "its text is that of an example"),
    ],
)
def test_says_why_one_cannot_be_tried(kind: str, sample: dict[str, Any], problem: str) -> None:
    assert is_sample(sample)
    said = problem_of_sample(sample, kind, make.LABELS, [("Known.",)])
    assert problem in said if problem else said == ""


@pytest.mark.parametrize(
    "sample",
    ["text", {"text": "no list", "answer": []}, {"text": ["a"]}, {"gold": []}, {"asks": "\0"}],
)
def test_takes_nothing_else_for_a_sample(sample: object) -> None:
    assert not is_sample(sample)


def test_reads_the_part_of_a_text_for_the_readers_language() -> None:
    text = "We store answers.\n\n[de]\nWir speichern Antworten.\n[x] stays."
    with override("en"):
        assert in_readers_language(text) == "We store answers."
        assert in_readers_language("[de]\nNur deutsch.") == "Nur deutsch."
        assert in_readers_language("As [de] it is.") == "As [de] it is."
    with override("de"):
        assert in_readers_language(text) == "Wir speichern Antworten.\n[x] stays."
        assert in_readers_language("We store.") == "We store."
    several = f"{text}\n[zh-hans]\n我们保存答案。\n[ar]\nنحفظ الإجابات."
    for language, part in (
        ("zh-hans", "我们保存答案。"),
        ("ar", "نحفظ الإجابات."),
        ("fr", "We store answers."),
    ):
        with override(language):
            assert in_readers_language(several) == part


def test_offers_one_of_each_task_though_titles_are_alike() -> None:
    study = make.study(make.benchmark())
    for _ in range(2):
        task = make.task(study.benchmark, title="Reviews")
        Task.objects.filter(pk=task.pk).update(sample={"asks": "Read.", **SAMPLES[Kind.CHOICE]})
        for zero_shot in (True, False):
            make.batch(study, task, zero_shot=zero_shot)
    contents = [draft_content(batch) for batch in study.batches.all()]
    assert [one.title for one in to_try(contents)] == ["Reviews", "Reviews"]
