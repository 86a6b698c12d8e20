"""The form of the page that runs a model on a benchmark."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from annotation.access.rights import Right, studies
from annotation.models import Benchmark, ItemSet, Role, Study, StudyState
from scoring.asking.asked_runs import FORMATS, ModelSettings
from scoring.asking.tasks import offered_models
from scoring.prompts.formats import UNIFEW

LARGEST_TEMPLATES = 1_000_000
IN_WORDS = {
    "icl": "one text: description, shots, example",
    "chat": "a conversation: the shots as turns",
    UNIFEW: "UniFew's questions, without shots; needs its templates",
}


class RunModelForm(forms.Form):
    model = forms.ChoiceField(label="Model")
    study = forms.ModelChoiceField(
        Study.objects.none(),
        required=False,
        label="As the people of",
        empty_label="no study: the benchmark as it is now",
        help_text="Its frozen descriptions and shot sets are shown.",
    )
    tasks = forms.MultipleChoiceField(label="Tasks", widget=forms.CheckboxSelectMultiple)
    shots = forms.TypedMultipleChoiceField(
        coerce=int, label="Shots", widget=forms.CheckboxSelectMultiple
    )
    splits = forms.TypedMultipleChoiceField(
        coerce=int,
        required=False,
        label="Splits",
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: all. A zero-shot set has none.",
    )
    episodes = forms.CharField(
        required=False,
        label="Episodes",
        help_text="Their numbers with spaces between them; empty: all.",
    )
    format = forms.ChoiceField(label="Prompts", initial=FORMATS[0])
    templates = forms.FileField(required=False, label="Templates of UniFew")
    limit = forms.IntegerField(
        required=False,
        min_value=1,
        label="Examples of each set",
        help_text="The first so many, for a try: the run is partial. Empty: all.",
    )
    temperature = forms.FloatField(min_value=0, max_value=2, initial=0, label="Temperature")
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        initial=ModelSettings.seed,
        label="Seed",
        help_text="For the order of the shots, and for the model.",
    )
    max_tokens = forms.IntegerField(
        min_value=1,
        max_value=100_000,
        initial=ModelSettings.max_tokens,
        label="Longest answer, in tokens",
    )
    price_read = forms.FloatField(
        required=False,
        min_value=0,
        label="USD for a million tokens read",
        help_text="With both prices the cost is counted.",
    )
    price_written = forms.FloatField(
        required=False, min_value=0, label="USD for a million tokens written"
    )

    def __init__(self, *args: Any, benchmark: Benchmark, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        sets = benchmark_sets(benchmark)
        choices: dict[str, list[Any]] = {
            "model": offered_models(),
            "tasks": list(benchmark.tasks.order_by("slug").values_list("slug", flat=True)),
            "shots": sorted({0, *(shots for shots, _ in sets)}),
            "splits": sorted({split for _, split in sets if split is not None}),
        }
        for name, values in choices.items():
            self._choices(name, [(value, str(value)) for value in values])
        self._choices("format", [(name, IN_WORDS[name]) for name in FORMATS])
        chooser = self.fields["study"]
        assert isinstance(chooser, forms.ModelChoiceField)
        own = studies(user, Right.SET_UP).filter(benchmark=benchmark)
        chooser.queryset = own.exclude(state=StudyState.DRAFT).distinct()

    def _choices(self, name: str, choices: list[tuple[Any, Any]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def clean_episodes(self) -> list[int]:
        words = self.cleaned_data["episodes"].replace(",", " ").split()
        if not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
            raise ValidationError("Write numbers of episodes, such as 1 2 3.")
        return [int(word) for word in words]

    def clean_templates(self) -> Any:
        file = self.cleaned_data["templates"]
        if file is not None and file.size > LARGEST_TEMPLATES:
            raise ValidationError("This is no file of templates: it is too large.")
        return file

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        prices = [cleaned.get("price_read"), cleaned.get("price_written")]
        if prices.count(None) == 1:
            raise ValidationError("Give both prices, or none.")
        return cleaned

    def arguments(self) -> dict[str, Any]:
        """Of the job."""
        cleaned = self.cleaned_data
        prices = [cleaned["price_read"], cleaned["price_written"]]
        names = ["model", "tasks", "shots", "splits", "episodes", "format", "limit"]
        names += ["temperature", "seed", "max_tokens"]
        return {
            "benchmark": self.benchmark.pk,
            "study": cleaned["study"].pk if cleaned["study"] else None,
            "prices": None if None in prices else prices,
            **{name: cleaned[name] for name in names},
        }


def benchmark_sets(benchmark: Benchmark) -> list[tuple[int, int | None]]:
    """The shots and split of its training sets."""
    sets = ItemSet.objects.filter(task__benchmark=benchmark, role=Role.TRAINING)
    found = sets.exclude(shots=None).order_by().values_list("shots", "split").distinct()
    return [(shots or 0, split) for shots, split in found]
