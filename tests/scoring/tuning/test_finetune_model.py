"""The command, as far as it goes without the libraries that tune."""

import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models.errors import BadInput
from scoring.prompts.formats import texts_in
from scoring.prompts.prompting import PromptExample, PromptSet

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("missing", ["torch", "transformers"])
def test_says_in_one_sentence_what_to_install(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("torch", "transformers"):
        # None in sys.modules is a module that cannot be imported.
        monkeypatch.setitem(sys.modules, name, None if name == missing else sys)
    with pytest.raises(CommandError) as error:
        call_command("finetune_model", "some/folder")
    assert str(error.value) == (
        f"Tuning needs torch and transformers, and {missing} is not installed: "
        "pip install -r requirements-models.txt."
    )


def prompts_of(kind: str = "choice", task: str = "mood") -> PromptSet:
    options = ("bad", "good") if kind == "choice" else ()
    return PromptSet(
        kind=kind,
        max_spans=None,
        description="Is it good or bad?",
        fields={"benchmark": "toy", "task": task, "shots": 1, "split": 1},
        seed=0,
        training=(PromptExample("1", ("One.", "Two."), "good or bad?", options, ("good",)),),
        test=(PromptExample("2", ("Three.",), "good or bad?", options),),
    )


class TestTexts:
    """What a text-to-text model is given, with no description where CLUES gives none."""

    def test_gives_question_and_text_as_clues_does(self) -> None:
        texts = texts_in("clues", None)
        shot, asked = texts.lines(prompts_of())
        assert (shot["prompt"], shot["answer"]) == ("good or bad? One. Two.", "good")
        assert asked["prompt"] == "good or bad? Three."
        assert "answer" not in asked
        assert texts.problem(prompts_of()) == ""

    def test_gives_the_description_as_people_read_it(self) -> None:
        shot, asked = texts_in("pairs", None).lines(prompts_of())
        assert shot["prompt"].startswith("Is it good or bad?")
        assert asked["prompt"].endswith("Answer:")

    def test_says_which_tasks_unifew_has_no_question_for(self) -> None:
        path = Path(__file__).parents[1] / "prompts" / "unifew_templates.json"
        texts = texts_in("unifew", path)
        assert texts.problem(prompts_of(task="mr")) == ""
        assert texts.problem(prompts_of()) == "--templates has no wording for it"
        assert "no labels" in texts.problem(prompts_of(kind="spans", task="mr"))

    def test_wants_templates_for_unifew_and_for_nothing_else(self) -> None:
        with pytest.raises(BadInput, match="give it with --templates"):
            texts_in("unifew", None)
        with pytest.raises(BadInput, match="for the format unifew, or for --method PT"):
            texts_in("pairs", Path("templates.json"))
