"""Models really tuned, by the command: every head on models of random weights.

They need torch and transformers, which `make test-all` brings (requirements-models.txt).
"""

import json
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from scoring.models import Run
from scoring.tuning.settings import OPTIMIZERS
from tests.every import every
from tests.heavy.commands import finetune, import_demo
from tests.scoring.runs.runs_from import answers

pytestmark = [pytest.mark.django_db, pytest.mark.models]

PATTERNS = {
    "reviews": {
        "pattern": "{text} It was {mask}.",
        "labels": {"negative": "terrible", "positive": "great"},
    }
}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    models = import_module("tests.small_models")
    folder = tmp_path_factory.mktemp("model") / "small-bert"
    models.make_encoder(folder)
    return folder


def test_has_every_optimizer_that_is_offered() -> None:
    assert every(hasattr(import_module("torch").optim, name) for name in OPTIMIZERS.values())


class TestHeads:
    """On random weights: what each gives is of the right form, and nothing is done twice."""

    @pytest.fixture(autouse=True)
    def demo(self) -> None:
        import_demo()

    def test_answers_every_kind_with_an_encoder(self, encoder: Path) -> None:
        told = finetune(encoder, "--shots", 10, "--splits", 1, "--limit", 3)
        assert "recipe=CLUES, optimizer=adamax, learning_rate=5e-05" in told
        runs = {run.task.slug: run for run in Run.objects.complete()}
        assert len(runs) == 6
        assert every(run.method == "FT" and run.coverage < 1 for run in runs.values())
        for slug in ("reviews", "statements", "cloze"):
            assert runs[slug].report["outside"] == runs[slug].report["empty"] == 0
        assert every(len(given) <= 1 for given in answers(runs["reading"]).values())
        assert runs["reviews"].report["tuned"]["steps"] == 3

    def test_finds_spans_in_windows_of_a_long_text(self, encoder: Path) -> None:
        where = [encoder, "--task", "reading", "--shots", 10, "--splits", 1]
        with pytest.raises(CommandError, match="a larger --max-length, or a smaller --stride"):
            finetune(*where, "--max-length", 48, "--stride", 40)
        finetune(*where, "--max-length", 96, "--stride", 16)
        run = Run.objects.complete().get()
        assert run.coverage == 1
        assert run.report["outside"] == 0

    def test_goes_on_where_it_was_and_refuses_another_setting(self, encoder: Path) -> None:
        where = [encoder, "--task", "reviews", "--shots", 10, "--limit", 2]
        finetune(*where, "--splits", 1)
        assert "2 sets, 1 of them there already" in finetune(*where, "--splits", 1, 2)
        assert sorted(Run.objects.values_list("split", flat=True)) == [1, 2]
        with pytest.raises(CommandError, match=r"learning_rate 5e-05, now 0\.1"):
            finetune(*where, "--splits", 1, "--learning-rate", 0.1)

    def test_gives_the_same_answers_again(self, encoder: Path, tmp_path: Path) -> None:
        where = [encoder, "--task", "statements", "--shots", 10, "--splits", 1]
        for name in ("one", "two"):
            finetune(*where, "--system", name, "--output", tmp_path / f"{name}.jsonl")
        one, two = Run.objects.order_by("pk")
        assert answers(one) == answers(two)
        assert f"the same answers as run {one.pk}" not in "".join(one.report["notes"])
        call_command("import_runs", tmp_path / "one.jsonl", "--system", "Back", stdout=StringIO())
        assert answers(Run.objects.get(system="Back")) == answers(one)

    def test_names_another_head_than_clues_describes(self, encoder: Path) -> None:
        where = ["--head", "bio", "--shots", 10, "--splits", 1, "--limit", 4]
        told = finetune(encoder, *where, "--task", "newsroom", "reading", "reviews")
        assert "reviews: its answers are no pieces of the text, whose tokens are tagged" in told
        finetune(encoder, "--task", "newsroom", "--shots", 10, "--splits", 1, "--limit", 4)
        runs = Run.objects.complete().order_by("system", "task__slug")
        assert [(run.system, run.task.slug) for run in runs] == [
            ("small-bert", "newsroom"),
            ("small-bert, BIO tags", "newsroom"),
            ("small-bert, BIO tags", "reading"),
        ]
        assert [run.report["tuned"]["way"] for run in runs] == ["begin and end"] + ["BIO tags"] * 2
        assert [run.report["tuning"].get("head") for run in runs] == [None] + ["BIO tags"] * 2
        assert every(len(given) <= 1 for given in answers(runs[2]).values())
        with pytest.raises(CommandError, match="--head is for encoders that are fine-tuned"):
            finetune(encoder, *patterns(encoder.parent), "--head", "bio")

    def test_learns_tags(self, encoder: Path) -> None:
        """By heart: what it is tuned on long enough it gives back, piece by piece."""
        shots = ["--task", "newsroom", "--shots", 10, "--splits", 1]
        finetune(encoder, *shots, "--head", "bio", "--steps", 200, "--learning-rate", 5e-3)
        run = Run.objects.complete().get()
        assert run.report["tuned"]["loss"] < 0.5, "ln 3, 1.1, is what knows nothing"
        assert run.report["outside"] == 0
        assert any(answers(run).values())

    def test_tunes_on_missing_words(self, encoder: Path, tmp_path: Path) -> None:
        told = finetune(encoder, *patterns(tmp_path), "--shots", 0, 10, "--limit", 3)
        assert "statements: --templates has no pattern for it" in told
        runs = Run.objects.complete()
        assert {(run.method, run.task.slug) for run in runs} == {("PT", "reviews")}
        assert {(run.shots, run.report["tuned"]["steps"]) for run in runs} == {(0, 0), (10, 40)}
        assert every(run.report["outside"] == 0 for run in runs)

    def test_wants_words_of_one_piece(self, encoder: Path, tmp_path: Path) -> None:
        words = {"negative": "incomprehensible", "positive": "great"}
        with pytest.raises(CommandError, match="“incomprehensible” is not one piece"):
            finetune(encoder, *patterns(tmp_path, words), "--shots", 10, "--splits", 1)

    def test_chooses_the_epoch_on_a_validation_split(self, encoder: Path) -> None:
        where = ["--task", "reviews", "--shots", 10, "--splits", 1, 5, "--epochs", 4]
        told = finetune(encoder, *where, "--validation-split", 5)
        assert "reviews: it is the validation set" in told
        run = Run.objects.complete().get()
        assert run.system.endswith(", validated on split 5")
        assert 1 <= run.report["tuned"]["best_epoch"] <= 4

    def test_shows_what_it_would_do_and_does_nothing(self, encoder: Path) -> None:
        told = finetune(encoder, "--dry-run", "--device", "cpu")
        assert "on cpu" in told
        assert "90 sets, 0 of them there already" in told
        assert not Run.objects.exists()

    @pytest.mark.parametrize(
        ("config", "sentence"),
        [
            ({"model_type": "gpt2"}, "a model of the type gpt2: text-to-text models"),
            ({}, "neither a folder with a model"),
        ],
    )
    def test_refuses_another_architecture(
        self, config: dict[str, Any], sentence: str, tmp_path: Path
    ) -> None:
        (tmp_path / "config.json").write_text(json.dumps(config))
        with pytest.raises(CommandError, match=sentence):
            finetune(tmp_path, "--benchmark", "demo")

    def test_refuses_a_folder_that_holds_no_model(self, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match=r"has no config\.json: give the folder"):
            finetune(tmp_path, "--benchmark", "demo")
        with pytest.raises(CommandError, match=r"There is no folder .*missing"):
            finetune(tmp_path / "missing", "--benchmark", "demo")

    def test_refuses_a_device_that_is_not_there(self, encoder: Path) -> None:
        if cuda_is_there():
            assert "on cuda" in finetune(encoder, "--dry-run")
        else:
            with pytest.raises(CommandError, match="no CUDA device"):
                finetune(encoder, "--device", "cuda")


class TestTexts:
    """A text-to-text model of random weights: what it writes is kept, and scored wrong."""

    @pytest.fixture(scope="class")
    def untrained(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        folder = tmp_path_factory.mktemp("model") / "untrained"
        import_module("tests.small_models").make_text_to_text(folder)
        return folder

    def test_asks_unifew_in_its_own_wording_and_with_its_settings(
        self, untrained: Path, tmp_path: Path
    ) -> None:
        import_demo()
        wording = {"question": "Topic?", "joining": "{question} \\n {options} \\n {text}"}
        path = tmp_path / "templates.json"
        path.write_text(json.dumps({"reviews": wording}))
        where = ["--format", "unifew", "--templates", path, "--shots", 0, 10, "--limit", 2]
        told = finetune(untrained, *where, "--splits", "1", "--steps", 2, "--dry-run")
        assert "recipe=FLEX, UniFew, optimizer=adam, learning_rate=3e-05" in told
        assert "batch_size=2" in told
        finetune(untrained, *where, "--steps", 2)
        assert {run.shots for run in Run.objects.complete()} == {0, 10}
        assert every(run.report["prompts"]["format"] == "unifew" for run in Run.objects.all())

    def test_says_how_many_texts_were_cut(self, untrained: Path) -> None:
        import_demo()
        where = ["--task", "reviews", "--shots", 10, "--splits", 1, "--limit", 2]
        finetune(untrained, *where, "--max-length", 64, "--epochs", 1)
        assert "12 inputs were cut to 64 tokens" in Run.objects.get().report["notes"]

    def test_takes_another_checkpoint(self, untrained: Path, tmp_path: Path) -> None:
        torch = import_module("torch")
        import_demo()
        state = import_module("safetensors.torch").load_file(untrained / "model.safetensors")
        held = {f"model.{name}": value + 0.5 for name, value in state.items()}
        torch.save({"state_dict": held, "epoch": 3}, tmp_path / "meta.ckpt")
        where = ["--task", "reviews", "--shots", 0, "--limit", 2]
        finetune(untrained, *where)
        finetune(untrained, *where, "--checkpoint", tmp_path / "meta.ckpt", "--system", "Meta")
        weights = {run.report["tuning"]["weights"] for run in Run.objects.all()}
        assert len(weights) == 2

    def test_refuses_a_checkpoint_of_another_model(self, untrained: Path, tmp_path: Path) -> None:
        torch = import_module("torch")
        import_demo()
        torch.save({"state_dict": {"model.other": torch.zeros(1)}}, tmp_path / "meta.ckpt")
        with pytest.raises(CommandError, match="does not fit the model: other"):
            finetune(untrained, "--shots", 0, "--checkpoint", tmp_path / "meta.ckpt")


def cuda_is_there() -> bool:
    return bool(import_module("torch").cuda.is_available())


def patterns(folder: Path, words: dict[str, str] | None = None) -> list[object]:
    pattern = PATTERNS["reviews"] if words is None else {**PATTERNS["reviews"], "labels": words}
    path = folder / "patterns.json"
    path.write_text(json.dumps({"reviews": pattern}))
    return ["--method", "PT", "--templates", path]
