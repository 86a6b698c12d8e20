import io
import json
import re
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Model
from django.test import Client, override_settings
from django.urls import reverse
from django.utils.html import escape

from annotation.models import Benchmark, Job, Task, Upload
from tests import make

pytestmark = pytest.mark.django_db

IMPORT = "admin:annotation_benchmark_import"
LINE = {"id": "1", "context": "Good film.", "question": "good or bad?", "answer": ["good"]}


def archive(rows: int = 2) -> bytes:
    """A benchmark of one task in CLUES layout."""
    lines = {
        name: [
            json.dumps(LINE | {"id": f"{name}{n}", "context": f"Film {name} {n}."})
            for n in range(rows)
        ]
        for name in ("sst2_test", "sst2_train_2_1")
    }
    return zip_of({f"SST-2/{name}.jsonl": "\n".join(rows) for name, rows in lines.items()})


def zip_of(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as into:
        for name, text in files.items():
            into.writestr(name, text)
    return packed.getvalue()


def upload(data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("clues.zip", data, content_type="application/zip")


def address(row: Model, page: str = "change") -> str:
    return reverse(f"admin:annotation_{type(row).__name__.lower()}_{page}", args=[row.pk])


Sent = Callable[..., Job]


@pytest.fixture
def sent(
    admin_client: Client,
    django_capture_on_commit_callbacks: Callable[..., AbstractContextManager],
) -> Sent:
    """A form that was sent, and the job that it made once that has ended."""

    def send(where: str, data: Any = None) -> Job:
        with django_capture_on_commit_callbacks(execute=True):
            response = admin_client.post(where, data or {})
        job = Job.objects.latest("pk")
        assert response["Location"] == address(job)
        return job

    return send


def named(name: str, data: bytes) -> dict[str, Any]:
    return {"name": name.partition(".")[0], "file": SimpleUploadedFile(name, data)}


def page_of(client: Client, job: Job) -> str:
    return client.get(address(job)).content.decode()


def page_of_benchmark(benchmark: Benchmark) -> str:
    return reverse("annotation:benchmark", args=[benchmark.name])


def go_on(job: Job) -> str:
    return reverse("admin:annotation_benchmark_go_on", args=[job.pk])


def test_shows_a_zip_file_first_and_stores_it_then(admin_client: Client, sent: Sent) -> None:
    look = sent(reverse(IMPORT), {"name": "clues", "file": upload(archive())})
    assert (look.kind, look.state, look.author.username) == ("look_at_benchmark", "done", "admin")
    page = page_of(admin_client, look)
    assert "Film sst2_test 0." in page
    assert '<li class="r-right">good' in page
    assert "Look at the first items" in page
    assert not Benchmark.objects.exists()
    job = sent(go_on(look))
    assert (job.kind, job.state) == ("import_benchmark", "done")
    assert Task.objects.get().slug == "sst2"
    assert page_of_benchmark(Benchmark.objects.get()) in page_of(admin_client, job)
    assert not Upload.objects.exists()
    # What was stored cannot be stored again from there.
    page = page_of(admin_client, look)
    assert "Store it" not in page
    assert "store them if they are right" not in page
    assert admin_client.post(go_on(look))["Location"] == reverse(IMPORT)


LABELLED = "text,label\n" + "".join(f"Text {n}.,{'yn'[n % 2]}\n" for n in range(12))


def test_names_what_was_left_out_on_request(admin_client: Client, sent: Sent) -> None:
    files = dict.fromkeys(("films/test.csv", "books/test.csv"), LABELLED)
    look = sent(reverse(IMPORT), {"name": "both", "file": upload(zip_of(files))})
    look = sent(go_on(look), {"line": '"leave_out": ["books/test.csv"]'})
    assert "<p>Not read: books/test.csv</p>" in page_of(admin_client, sent(go_on(look)))


def test_an_answer_about_one_table_hinders_no_other(admin_client: Client, sent: Sent) -> None:
    pairs = "sentence1,sentence2,label\n"
    pairs += "".join(f"First {n}.,Second {n}.,{'yn'[n % 2]}\n" for n in range(12))
    files = {"films/test.csv": LABELLED, "pairs/test.csv": pairs}
    look = sent(reverse(IMPORT), {"name": "both", "file": upload(zip_of(files))})
    asked = [line for line, _reading in look.result["question"]["readings"]]
    line = '"columns": {"context": ["sentence1", "sentence2"]}'
    assert line in asked
    looks = sent(go_on(look), {"line": line}).result["looks"]
    shown = [one["items"][0]["context"] for one in looks]
    assert shown == [["Text 0."], ["First 0.", "Second 0."]]


def as_columns(*roles: str) -> dict[str, str]:
    return {f"column-{number}": role for number, role in enumerate(roles)}


def test_asks_which_column_holds_what(admin_client: Client, sent: Sent) -> None:
    table = "question,one,two,right,hard\nWhich?,x,y,y,no\n".encode("utf-16")
    look = sent(reverse(IMPORT), {**named("towns.csv", table), "encoding": "utf-16"})
    assert look.state == "failed"
    columns = reverse("admin:annotation_benchmark_columns", args=[look.pk])
    assert columns in page_of(admin_client, look)
    page = admin_client.get(columns).content.decode()
    assert "Which?</div>" in page
    assert '<option value="question" selected>the question</option>' in page
    chosen = ("question", "options", "options", "answer", "groups")
    look = sent(columns, as_columns(*chosen))
    assert look.state == "done"
    assert sent(go_on(look)).state == "done"
    example = Task.objects.get(slug="towns").examples.get()
    assert (example.options, example.groups) == (["x", "y"], {"hard": "no"})


def test_asks_what_can_be_read_in_two_ways(admin_client: Client, sent: Sent) -> None:
    rows = b'{"question": "Which?", "options": ["x", "y", "z"], "target": 1}'
    look = sent(reverse(IMPORT), named("ways.jsonl", rows))
    page = page_of(admin_client, look)
    assert "ways.jsonl, line 1: “answer” is “1”, which may name two options." in page
    line = '"answer_by": "{}"'
    assert f'value="{escape(line.format("index"))}" required> “y”, counted from 0' in page
    assert f'value="{escape(line.format("number"))}" required> “x”, counted from 1' in page
    assert "Store it" not in page
    again = sent(go_on(look), {"line": line.format("number")})
    assert '<li class="r-right">x' in page_of(admin_client, again)
    sent(go_on(again))
    assert Task.objects.get().examples.get().golds.get().alternatives == [[{"text": "0"}]]


def test_leaves_out_by_one_press_after_the_other(admin_client: Client, sent: Sent) -> None:
    table = b"question,answer,Notes\nWho?,Ann,As asked.\nWhere?,,As asked.\nWhen?,-,As asked.\n"
    look = sent(reverse(IMPORT), named("t.csv", table))
    for field, value in (("unused", ["Notes"]), ("missing", ["", "-"])):
        page = page_of(admin_client, look)
        line = f'"{field}": {json.dumps(value)}'
        assert f'value="{escape(line)}" required>' in page
        look = sent(go_on(look), {"line": line})
    assert "3 read, 1 stored, 2 left out: 1 without an answer (empty)" in page_of(
        admin_client, look
    )


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('"answer_by": "guess"', "must be index, number, letter or text"),
        ('"colour": "red"', "there is no field"),
        ('"columns": {no', "this is not JSON"),
    ],
)
def test_refuses_an_answer_that_is_none(
    admin_client: Client, sent: Sent, line: str, sentence: str
) -> None:
    rows = b'{"question": "Which?", "options": ["x", "y", "z"], "target": 1}'
    look = sent(reverse(IMPORT), named("ways.jsonl", rows))
    response = admin_client.post(go_on(look), {"line": line}, follow=True)
    assert sentence in response.content.decode()
    assert Job.objects.count() == 1


def test_leaves_the_columns_out_that_nobody_chose(admin_client: Client, sent: Sent) -> None:
    look = sent(reverse(IMPORT), named("t.csv", b"question,answer,Notes\nWho?,Ann,As asked.\n"))
    assert "“Notes” holds text in most rows and is not used" in page_of(admin_client, look)
    columns = reverse("admin:annotation_benchmark_columns", args=[look.pk])
    look = sent(columns, {**as_columns("question", "answer", ""), "leaves_out": "on"})
    assert look.state == "done"


def test_names_the_columns_of_a_table_in_an_archive(admin_client: Client, sent: Sent) -> None:
    rows = "q,a,b,c,d\n" + "".join(f"Which of {n}?,a{n},b{n},c{n},d{n}\n" for n in range(9))
    look = sent(reverse(IMPORT), {"name": "dial", "file": upload(zip_of({"d/test.csv": rows}))})
    columns = reverse("admin:annotation_benchmark_columns", args=[look.pk])
    assert "Columns of d/test.csv" in admin_client.get(columns).content.decode()
    right = "right option"
    look = sent(columns, as_columns("question", right, right, "options", "options"))
    look = sent(go_on(look), {"line": '"kind": "choice"'})
    assert (look.state, len(look.result["looks"])) == ("done", 1)
    rights = [
        {text for text, is_right in item["options"] if is_right}
        for item in look.result["looks"][0]["items"]
    ]
    assert rights == [{f"a{n}", f"b{n}"} for n in range(3)]


def test_a_column_that_is_given_up_is_not_asked_about_again(
    admin_client: Client, sent: Sent
) -> None:
    rows = b"uid,question,answer,label\nx,Who?,Ann,Bo\nx,When?,May,June\n"
    look = sent(reverse(IMPORT), named("t.csv", rows))
    assert "may hold the answer" in page_of(admin_client, look)
    columns = reverse("admin:annotation_benchmark_columns", args=[look.pk])
    look = sent(columns, as_columns("", "question", "", "answer"))
    assert look.result["looks"][0]["items"][0]["gold"] == ["Bo"]


def test_takes_a_line_where_the_file_was_refused(admin_client: Client, sent: Sent) -> None:
    look = sent(reverse(IMPORT), named("t.csv", b"foo,answer\n12 + 5,17\n"))
    assert look.state == "failed"
    assert "Say something else of it" in page_of(admin_client, look)
    look = sent(go_on(look), {"line": '{"columns": {"question": "foo"}}'})
    assert look.result["looks"][0]["items"][0]["gold"] == ["17"]


def test_stores_nothing_that_was_not_shown(admin_client: Client, sent: Sent) -> None:
    look = sent(reverse(IMPORT), named("t.csv", b"foo,answer\n12 + 5,17\n"))
    page = admin_client.post(go_on(look), {}, follow=True).content.decode()
    assert "Say first what is meant" in page
    assert Job.objects.count() == 1


def test_takes_any_line_of_a_task_file(admin_client: Client, sent: Sent) -> None:
    rows = "text,label\n" + "".join(f"Film {n}.,{n % 2}\n" for n in range(20))
    look = sent(reverse(IMPORT), named("t.csv", rows.encode()))
    look = sent(go_on(look), {"line": '"label_names": ["poor", "fine"]'})
    assert [text for text, _is_right in look.result["looks"][0]["items"][0]["options"]] == [
        "poor",
        "fine",
    ]


def test_takes_the_names_of_labels_where_they_are_asked(admin_client: Client, sent: Sent) -> None:
    rows = "text,label\n" + "".join(f"Film {n}.,{n % 2}\n" for n in range(20))
    look = sent(reverse(IMPORT), named("t.csv", rows.encode()))
    assert 'name="written" value="&quot;label_names&quot;: [&quot;…0' in page_of(admin_client, look)
    written = {"line": "written", "written": '"label_names": ["poor", "fine"]'}
    look = sent(go_on(look), written)
    assert look.result["looks"][0]["items"][0]["options"] == [["poor", True], ["fine", False]]


def test_refuses_two_questions(admin_client: Client, sent: Sent) -> None:
    look = sent(reverse(IMPORT), named("t.csv", b"one,two,answer\nWho?,Why?,Ann\n"))
    columns = reverse("admin:annotation_benchmark_columns", args=[look.pk])
    page = admin_client.post(columns, as_columns("question", "question", "answer"))
    assert "“one” and “two” cannot both be the question" in page.content.decode()


def test_keeps_the_upload_whose_columns_cannot_be_shown(admin_client: Client, sent: Sent) -> None:
    look = sent(reverse(IMPORT), named("t.csv", b"one,one\nWho?,Ann\n"))
    columns = reverse("admin:annotation_benchmark_columns", args=[look.pk])
    page = admin_client.get(columns, follow=True)
    assert page.redirect_chain[-1][0] == reverse("admin:annotation_job_change", args=[look.pk])
    assert "two columns have one name" in page.content.decode()


def test_nobody_elses_look_goes_on(admin_client: Client, sent: Sent, client: Client) -> None:
    look = sent(reverse(IMPORT), named("t.csv", b"question,answer\nWho?,Ann\n"))
    User.objects.create_superuser("other", password="other")
    client.login(username="other", password="other")
    assert client.post(go_on(look))["Location"] == reverse(IMPORT)
    assert Job.objects.count() == 1


def test_says_why_a_table_cannot_be_read(admin_client: Client, sent: Sent) -> None:
    look = sent(reverse(IMPORT), named("towns.csv", b"question\n\xff\n"))
    page = page_of(admin_client, look)
    assert "owns.csv, line 2: byte 10 of the file is not UTF-8" in page
    assert f"{reverse(IMPORT)}?job={look.pk}" in page


def test_shows_why_an_import_failed(admin_client: Client, sent: Sent) -> None:
    look = sent(reverse(IMPORT), {"name": "clues", "file": upload(archive(rows=1))})
    assert look.state == "failed"
    assert not Benchmark.objects.exists()
    assert "sst2_train_2_1.jsonl" in page_of(admin_client, look)


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("clues", b"no zip", "neither a zip file nor a table"),
        ("clues", b"", "empty"),
        ("", archive(), "required"),
        ("no name", archive(), "letters, numbers, underscores or hyphens"),
    ],
)
def test_refuses_an_upload_with_a_sentence(
    admin_client: Client, name: str, data: bytes, sentence: str
) -> None:
    page = admin_client.post(reverse(IMPORT), {"name": name, "file": upload(data)})
    assert sentence in page.content.decode()
    assert not Job.objects.exists()
    # A file that is as it should be stays, whatever is wrong beside it.
    assert Upload.objects.exists() == (len(data) > 10)


def test_says_of_a_tar_archive_what_the_command_says(admin_client: Client) -> None:
    page = admin_client.post(reverse(IMPORT), named("t.tar.gz", b"no zip")).content.decode()
    assert "t.tar.gz is a tar archive, and only zip archives are read: unpack it." in page


def questions(names: str) -> bytes:
    row = '{"question": "Which %s?", "choices": ["x", "y"], "answer": "x"}'
    return "\n".join(row % name for name in names).encode()


def kept_in(page: str) -> dict[str, str]:
    return dict(re.findall(r'name="(kept-\w+)" value="([^"]+)"', page))


def test_takes_a_refused_form_again_without_its_files(admin_client: Client, sent: Sent) -> None:
    asked = {**named("towns.jsonl", questions("CD")), "name": "no name", "shots": "2"}
    asked["source"] = SimpleUploadedFile("more.jsonl", questions("AB"))
    page = admin_client.post(reverse(IMPORT), asked).content.decode()
    assert "towns.jsonl is still here" in page
    assert "more.jsonl is still here" in page
    look = sent(reverse(IMPORT), {"name": "towns", "shots": "2", "splits": 3, **kept_in(page)})
    assert look.state == "done", look.message
    assert look.result["looks"][0]["sets"][:3] == [f"train-2-{split} (2)" for split in (1, 2, 3)]


def test_keeps_the_file_of_another_person_to_that_person(
    admin_client: Client, client: Client
) -> None:
    data = {"name": "no name", "file": upload(archive())}
    words = kept_in(admin_client.post(reverse(IMPORT), data).content.decode())
    other = User.objects.create_superuser("other")
    client.force_login(other)
    page = client.post(reverse(IMPORT), {"name": "mine", **words}).content.decode()
    assert "This field is required" in page
    assert not Job.objects.exists()


def test_goes_on_from_a_look_that_failed_with_its_file_and_answers(
    admin_client: Client, sent: Sent
) -> None:
    look = sent(
        reverse(IMPORT), {**named("towns.jsonl", questions("ABCDEFGH")), "shots": "20", "test": 4}
    )
    assert look.state == "failed"
    change = f"{reverse(IMPORT)}?job={look.pk}"
    assert change in page_of(admin_client, look)
    page = admin_client.get(change).content.decode()
    assert 'name="shots" value="20"' in page
    assert 'name="test" value="4"' in page
    look = sent(change, {"name": "towns", "shots": "2", "test": 4, "splits": 1})
    assert look.state == "done", look.message
    assert look.result["looks"][0]["sets"] == ["train-2-1 (2)", "test (4)"]


def test_keeps_the_file_of_an_import_that_was_refused(admin_client: Client, sent: Sent) -> None:
    look = sent(reverse(IMPORT), {"name": "clues", "file": upload(archive())})
    Benchmark.objects.create(name="clues")
    User.objects.update(is_superuser=False)
    User.objects.get().user_permissions.set(Permission.objects.all())
    job = sent(go_on(look))
    assert job.state == "failed"
    change = f"{reverse(IMPORT)}?job={job.pk}"
    assert change in page_of(admin_client, job)
    again = sent(change, {"name": "clues-2"})
    assert (again.state, again.upload) == ("done", job.upload)


def test_says_what_a_draw_lacks(admin_client: Client) -> None:
    asked = {"name": "clues", "file": upload(archive()), "test": 10}
    page = admin_client.post(reverse(IMPORT), asked).content.decode()
    assert "Say how large the drawn sets are" in page


@override_settings(BENCHMARK_UPLOAD_MAX_BYTES=100)
def test_refuses_a_file_that_is_too_large(admin_client: Client) -> None:
    data = {"name": "clues", "file": upload(archive())}
    assert "larger than" in admin_client.post(reverse(IMPORT), data).content.decode()


def test_shows_the_audit_of_a_task(admin_client: Client) -> None:
    finding: dict[str, Any] = {
        "code": "gold_not_in_context",
        "severity": "warning",
        "message": "Gold spans that nobody can select: 2.",
        "examples": ["test 7: “Anna”"],
        "figures": {"count": 2},
    }
    task = make.task(audit=[finding])
    page = admin_client.get(address(task)).content.decode()
    assert finding["message"] in page
    assert finding["examples"][0] in page


def test_changes_the_description_and_leaves_started_studies_theirs(admin_client: Client) -> None:
    batch = make.running_batch()
    response = admin_client.post(
        address(batch.task), {"description": "New words.", "reference_policy": "set", "title": "T"}
    )
    assert response.status_code == 302
    batch.refresh_from_db()
    assert (batch.task.description, batch.description) == (
        "New words.",
        make.DESCRIPTION,
    )
    assert (batch.task.reference_policy, batch.task.title) == ("any", "")


def test_changes_what_no_started_study_reads(admin_client: Client) -> None:
    task = make.task()
    data = {"description": "D", "title": "T", "language": "ar", "direction": "rtl"}
    admin_client.post(address(task), data | {"reference_policy": "set"})
    task.refresh_from_db()
    assert (task.title, task.direction, task.reference_policy) == ("T", "rtl", "set")


SETTINGS = {"language": "en", "direction": "ltr", "reference_policy": "any"}
TO_TRY = {
    "asks": "You read a sentence and say whether it is kind.",
    "text": "You look well today.\r\n\r\nThanks!",
    "question": "Kind or not?",
    "answer": "good",
}


def test_writes_an_item_to_try_and_shows_it_again(admin_client: Client) -> None:
    task = make.task()
    assert admin_client.post(address(task), SETTINGS | TO_TRY).status_code == 302
    task.refresh_from_db()
    written = {
        **TO_TRY,
        "text": ["You look well today.", "Thanks!"],
        "answer": ["good"],
    }
    assert task.sample == written
    page = admin_client.get(address(task)).content.decode()
    assert "You look well today.\n\nThanks!" in page
    # Nothing that the form has no field for is lost, and what is emptied is gone.
    admin_client.post(address(task), SETTINGS | {"asks": TO_TRY["asks"]})
    task.refresh_from_db()
    assert task.sample == {"asks": TO_TRY["asks"]}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"answer": "splendid"}, "its answer must be one of bad, good"),
        ({"text": ""}, "An answer needs a text to try: write one."),
        (
            {"text": "Anna met Boris in Test 1 today."},
            "its text is that of an example: write one of its own",
        ),
    ],
)
def test_refuses_what_cannot_be_tried(
    admin_client: Client, fields: dict[str, str], sentence: str
) -> None:
    task = make.task()
    page = admin_client.post(address(task), SETTINGS | TO_TRY | fields).content.decode()
    assert sentence in page
    task.refresh_from_db()
    assert task.sample == {}


def test_keeps_what_people_of_a_started_study_tried(admin_client: Client) -> None:
    batch = make.running_batch()
    assert admin_client.post(address(batch.task), SETTINGS | TO_TRY).status_code == 302
    batch.task.refresh_from_db()
    assert batch.task.sample == {}


def test_shows_a_task_to_somebody_who_may_only_see_it(client: Client) -> None:
    task = make.task(sample={"asks": "You read and say what you think."})
    reader = User.objects.create_user("reader", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_task"))
    task.benchmark.memberships.create(user=reader, role="owner")
    client.force_login(reader)
    page = client.get(address(task)).content.decode()
    assert "You read and say what you think." in page
    assert 'name="asks"' not in page


def test_keeps_a_benchmark_with_its_tasks(admin_client: Client) -> None:
    assignment = make.worked_through(make.running_batch())
    benchmark = assignment.study.benchmark
    response = admin_client.post(address(benchmark, "delete"), {"post": "yes"})
    assert response["Location"] == page_of_benchmark(benchmark)
    assert "is kept, since there are: " in str(next(iter(get_messages(response.wsgi_request))))
    assert Benchmark.objects.filter(pk=benchmark.pk).exists()


def test_deletes_a_benchmark_without_tasks(admin_client: Client) -> None:
    benchmark = make.benchmark()
    admin_client.post(address(benchmark, "delete"), {"post": "yes"})
    assert not Benchmark.objects.exists()


@pytest.mark.parametrize("page", ["change", "delete"])
def test_never_changes_items(admin_client: Client, page: str) -> None:
    task = make.task()
    for row in (task.item_sets.first(), task.examples.first()):
        assert admin_client.post(address(row, page), {"post": "yes"}).status_code == 403


def test_lists_the_items_of_a_set(admin_client: Client) -> None:
    item_set = make.task().item_sets.get(role="test")
    page = admin_client.get(address(item_set)).content.decode()
    for item in item_set.items.all():
        assert address(item.example) in page
