"""A study is made, changed and written by commands, from its file and into it."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Study
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    task = make.task(make.benchmark("mood"), slug="mood")
    return make.batch(make.study(task.benchmark, slug="my-study"), task, wanted=2).study


def run(*arguments: object) -> tuple[str, str]:
    """What the command wrote to stdout and to stderr."""
    out, err = StringIO(), StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_applies_and_exports_a_file(study: Study, tmp_path: Path) -> None:
    anna = make.member(study.benchmark)
    text, _err = run("export_study", "my-study")
    (tmp_path / "consent.md").write_text("We store little.\n")
    file = tmp_path / "other.toml"
    file.write_text(
        text.replace("my-study", "other").replace(
            'consent = "We store your answers."', 'consent_file = "consent.md"'
        )
    )
    out, err = run("apply_study", file, "--owner", anna.username, "--dry-run")
    assert '+consent = "We store little."' in out.splitlines()
    assert err == "Nothing was stored: leave out --dry-run to store it.\n"
    assert run("apply_study", file, "--owner", anna.username)[1] == (
        "The study other is a draft now.\n"
    )
    other = Study.objects.get(slug="other")
    assert (other.consent_text, other.memberships.get().user) == ("We store little.", anna)
    assert run("apply_study", file) == ("", "The study other is unchanged.\n")
    file.write_text(run("export_study", "other")[0].replace("little", "nothing"))
    assert run("apply_study", file)[1] == "The study other is changed.\n"
    assert "CODE-" in text
    assert "CODE-" not in run("export_study", "my-study", "--without-codes")[0]


def test_ends_with_one_sentence_where_the_file_is_bad(study: Study, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text('[study]\nnome = "x"\n')
    with pytest.raises(CommandError) as refusal:
        run("apply_study", file)
    assert str(refusal.value) == (
        "study.toml, line 2, study.nome: There is no such key here; did you mean “name”? Nothing "
        "was changed."
    )
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        run("apply_study", tmp_path / "none.toml")
    file.write_text('[study]\nconsent_file = "none.md"\nname="a"\ntitle="a"\nbenchmark="mood"')
    with pytest.raises(CommandError, match=r"line 2, study.consent_file: No text in UTF-8"):
        run("apply_study", file)
