"""The form of a task, with its sample's fields each on their own."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotation.benchmarks.formats.samples import is_sample, problem_of_sample
from annotation.models import Batch, Role, StudyState, Task
from annotation.studies.forms import Parts


def is_held(task: Task) -> bool:
    return Batch.objects.filter(task=task).exclude(study__state=StudyState.DRAFT).exists()


def _line(label: str, **kwargs: Any) -> forms.CharField:
    widget = forms.TextInput(attrs={"size": 80})
    return forms.CharField(label=label, required=False, widget=widget, **kwargs)


class TaskForm(forms.ModelForm[Task]):
    """Its `sample` stays as it is where none of its fields was changed."""

    asks = _line(
        "What it asks",
        help_text="In one sentence, in the language of the texts; people read it first of all. "
        "Empty: a sentence of ours.",
    )
    text = Parts(
        label="Text to try",
        between="\n\n",
        rows=4,
        help_text="Written for this, not an item; an empty line begins a further part.",
    )
    question = _line("Its question")
    names = Parts(label="Names in it", rows=2, help_text="To choose from; one a line")
    options = Parts(
        label="Its options", rows=2, help_text="Where items have options of their own; one a line."
    )
    answer = Parts(label="Its answer", rows=2, help_text="One a line; empty for none here.")
    explanation = _line("Why so", help_text="Shown with the answer; may be empty.")

    SAMPLE = ("asks", "text", "question", "names", "options", "answer", "explanation")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.SAMPLE:
            self.initial.setdefault(name, self.instance.sample.get(name))
            self.fields[name].disabled = is_held(self.instance)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not set(self.changed_data) & set(self.SAMPLE):
            return data
        sample = {name: data[name] for name in self.SAMPLE if data.get(name)}
        if "text" in sample:
            sample.setdefault("answer", [])
        if not is_sample(sample):
            raise ValidationError({"text": "An answer needs a text to try: write one."})
        task = self.instance
        labels = task.item_sets.filter(role=Role.TEST).values_list("choices", flat=True).first()
        contexts = task.examples.values_list("context", flat=True)
        if problem := problem_of_sample(sample, task.kind, labels or [], contexts):
            raise ValidationError({"text": f"This cannot be tried: {problem}."})
        task.sample = sample
        return data
