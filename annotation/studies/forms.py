"""The form that chooses many batches at once."""

import re
from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from annotation.models import Benchmark, Task
from annotation.studies.batching import Candidate, candidates, select_shots
from annotation.work.estimating import usual_seconds

NO_CHAIN = "none"
FEW, ZERO = "few", "zero"


class AddBatchesForm(forms.Form):
    """What can be ticked follows from the item sets of the benchmark."""

    tasks = forms.MultipleChoiceField(
        label=_("Tasks"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one task.")},
    )
    shots = forms.MultipleChoiceField(
        label=_("Shots"), widget=forms.CheckboxSelectMultiple, required=False
    )
    chains = forms.MultipleChoiceField(
        label=_("Chains"),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_(
            "A chain is a run of shot sets, each holding the smaller ones. It starts at the "
            "smallest set and is named for that set's split; the numbers in the larger files' "
            "names may differ."
        ),
    )
    episodes = forms.MultipleChoiceField(
        label=_("Episodes"), widget=forms.CheckboxSelectMultiple, required=False
    )
    episode_numbers = forms.CharField(
        label=_("Numbers of episodes"),
        required=False,
        help_text=_("Such as 1-5, 12. Leave empty for all of them."),
    )
    wanted = forms.IntegerField(
        label=_("Annotators per batch"), initial=3, min_value=1, max_value=10_000
    )
    seconds = forms.FloatField(
        label=_("Seconds for one example"),
        min_value=1,
        max_value=3600,
        help_text=_("Used only to estimate time and cost."),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._tasks = list(benchmark.tasks.all())
        self._candidates = {task.slug: candidates(task) for task in self._tasks}
        everything = [c for found in self._candidates.values() for c in found]
        self._offer_shot_sets([c for c in everything if c.episode is None])
        self._offer_episodes([c for c in everything if c.episode is not None])
        self._choice("tasks").choices = [(t.slug, _task_label(t)) for t in self._tasks]
        self.fields["tasks"].initial = [task.slug for task in self._tasks]
        self.fields["seconds"].initial = usual_seconds(self._tasks)

    def _choice(self, name: str) -> forms.ChoiceField:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        return field

    def _offer_shot_sets(self, found: list[Candidate]) -> None:
        shots = sorted({c.shots for c in found if c.shots is not None})
        chains = sorted({c.chain for c in found if c.chain is not None})
        choices: list[tuple[str, Any]] = [(str(number), str(number)) for number in chains]
        if any(c.training_set and c.chain is None for c in found):
            choices.append((NO_CHAIN, _("in no chain")))
        self._choice("shots").choices = [(str(n), _shots_label(n)) for n in shots]
        self.fields["shots"].initial = [str(n) for n in shots if n]
        self._choice("chains").choices = choices
        self.fields["chains"].initial = [value for value, _label in choices]
        if not shots:
            del self.fields["shots"]
        if not choices:
            del self.fields["chains"]

    def _offer_episodes(self, found: list[Candidate]) -> None:
        kinds = []
        if any(candidate.training_set for candidate in found):
            kinds.append((FEW, _("few-shot")))
        if any(candidate.training_set is None for candidate in found):
            kinds.append((ZERO, _("zero-shot")))
        self._choice("episodes").choices = kinds
        if not kinds:
            del self.fields["episodes"], self.fields["episode_numbers"]

    def clean_episode_numbers(self) -> set[int] | None:
        text = self.cleaned_data["episode_numbers"].strip()
        if not text:
            return None
        numbers: set[int] = set()
        for part in re.split(r"[,;\s]+", text):
            match = re.fullmatch(r"(\d{1,6})(?:[-–](\d{1,6}))?", part)
            if match is None:
                raise ValidationError(_("Write numbers and ranges, such as 1-5, 12."))
            first, last = int(match[1]), int(match[2] or match[1])
            numbers.update(range(first, last + 1))
        return numbers

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if not self.errors and not self.chosen():
            raise ValidationError(
                _("No item set fits this choice: tick at least one task with shots or episodes.")
            )
        return data

    def chosen(self) -> list[Candidate]:
        among = [c for slug in self.cleaned_data["tasks"] for c in self._candidates[slug]]
        return [*self._chosen_shot_sets(among), *self._chosen_episodes(among)]

    def _chosen_shot_sets(self, among: Iterable[Candidate]) -> list[Candidate]:
        shots = {int(value) for value in self.cleaned_data.get("shots", [])}
        values = self.cleaned_data.get("chains", [])
        chains = {None if value == NO_CHAIN else int(value) for value in values}
        return select_shots([c for c in among if c.episode is None], shots, chains)

    def _chosen_episodes(self, among: Iterable[Candidate]) -> list[Candidate]:
        kinds = self.cleaned_data.get("episodes", [])
        numbers = self.cleaned_data.get("episode_numbers")
        return [
            candidate
            for candidate in among
            if candidate.episode is not None
            and (FEW if candidate.training_set else ZERO) in kinds
            and (numbers is None or candidate.episode in numbers)
        ]


def _task_label(task: Task) -> str:
    return f"{task} ({task.get_kind_display()})"


def _shots_label(shots: int) -> Any:
    if shots == 0:
        return _("0 (zero-shot)")
    return ngettext("%(count)d shot", "%(count)d shots", shots) % {"count": shots}
