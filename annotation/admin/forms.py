"""The forms of the researcher's admin: each rejects bad input with a sentence."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import QueryDict

from annotation.admin.sample_form import Parts
from annotation.benchmarks.formats.known_sets import SEVERAL, USUAL, as_list
from annotation.models import (
    Batch,
    Channel,
    JoinAnswer,
    Outcome,
    OutcomeRule,
    Pool,
    Study,
)
from annotation.models.settings import SETTINGS, WORDS
from annotation.studies.codes import let_go_of_codes
from annotation.studies.forms import offer
from annotation.studies.rules import ALWAYS_PAID, PAID_FOR_TIME, broken_rules, names_once

_Row = TypeVar("_Row", bound=Model)
# What a field must be, and the sentence for one that is not.
RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    **{one.column: (one.allows, one.refusal) for one in SETTINGS if one.refusal},
    "mean": (lambda v: 0 <= v <= 100, "The mean is in percent: between 0 and 100."),
    "sd": (lambda v: v >= 0, "The SD cannot be below 0."),
}


class NamesField(Parts):
    """A list of names, one a line; each once, however it is written."""

    def to_python(self, value: Any) -> Any:
        return names_once(super().to_python(value))


class ClustersField(Parts):
    """By task the name of a group, one a line: “ner: document”."""

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return super().prepare_value([f"{task}: {group}" for task, group in value.items()])

    def to_python(self, value: Any) -> Any:
        lines = [line.partition(":") for line in super().to_python(value)]
        return {task.strip(): group.strip() for task, _, group in lines}


class RuledForm(forms.ModelForm[_Row]):
    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        for field, (holds, sentence) in RULES.items():
            if data.get(field) is not None and not holds(data[field]):
                self.add_error(field, sentence)
        return data


class StudyForm(RuledForm[Study]):
    named_systems = NamesField(
        label="Systems to compare with",
        rows=4,
        help_text=WORDS["named_systems"]["help_text"],
    )

    clusters = ClustersField(
        label="Clusters of items", rows=2, help_text=WORDS["clusters"]["help_text"]
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.fields.keys() & {"drop_group_size", "margin"}:
            self.fields[name].required = False
        channel = self.fields.get("channel")
        if isinstance(channel, forms.ModelChoiceField):
            channel.queryset = Channel.objects.of_studies()

    def clean_benchmark(self) -> Any:
        benchmark = self.cleaned_data["benchmark"]
        others = Batch.objects.filter(study=self.instance.pk).exclude(task__benchmark=benchmark)
        if self.instance.pk and others.exists():
            raise ValidationError(
                "The study has batches of another benchmark: delete them first, or copy the study."
            )
        return benchmark

    def clean_currency(self) -> str:
        currency: str = self.cleaned_data["currency"].upper()
        return currency

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if "margin" in data:
            data["margin"] = data["margin"] or 0.0
        if "drop_group_size" in self.fields and "drop_group_size" not in self.errors:
            self._check_group(data)
        for field, sentence in broken_rules(data):
            self.add_error(field, sentence)
        return data

    def _check_group(self, data: dict[str, Any]) -> None:
        if data.get("drop_group_size") is not None:
            return
        if data.get("max_drop") is not None:
            sentence = "A drop needs the group size from which it applies: 2 or more."
            self.add_error("drop_group_size", sentence)
        else:
            data["drop_group_size"] = Study._meta.get_field("drop_group_size").default


class OutcomeRuleForm(RuledForm[OutcomeRule]):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "code" in self.fields:
            self.fields["code"].error_messages["required"] = "Every outcome needs a code."

    def clean_pays_time(self) -> bool:
        pays_time: bool = self.cleaned_data["pays_time"]
        if self.instance.outcome in ALWAYS_PAID and not pays_time:
            raise ValidationError(PAID_FOR_TIME)
        return pays_time


class OutcomeRuleFormSet(forms.BaseInlineFormSet[OutcomeRule, Study, forms.ModelForm[OutcomeRule]]):
    """All outcomes of a study at once: no two may share a code."""

    def clean(self) -> None:
        super().clean()
        seen: dict[str, str] = {}
        names = {value: str(label) for value, label in [*Outcome.choices, *JoinAnswer.choices]}
        for form in self.forms:
            code = form.cleaned_data.get("code") if hasattr(form, "cleaned_data") else None
            if not code:
                continue
            name = names.get(form.instance.outcome, "")
            if code in seen:
                sentence = "“%(one)s” and “%(other)s” have the same code: give each its own."
                raise ValidationError(sentence % {"one": seen[code], "other": name})
            seen[code] = name

    def validate_unique(self) -> None:
        """`clean` reports it in a sentence that names the outcomes."""

    def save_existing_objects(self, commit: bool = True) -> list[OutcomeRule]:
        """Of a started study no form has changed, though its `changed_data` lists what was not
        sent."""
        changed = [form for form in self.initial_forms if commit and form.has_changed()]
        let_go_of_codes(form.instance for form in changed if "code" in form.changed_data)
        return super().save_existing_objects(commit)


class BatchForm(RuledForm[Batch]):
    """The admin names its fields; the model checks the sets."""

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        study, task = data.get("study") or getattr(self.instance, "study", None), data.get("task")
        if study and study.is_frozen:
            raise ValidationError("This study has been started: copy it to add other batches.")
        if study and task and task.benchmark_id != study.benchmark_id:
            self.add_error("task", "This task belongs to another benchmark than the study.")
        return data


class CopyForm(forms.Form):
    title = forms.CharField(label="Title", max_length=200)
    slug = forms.SlugField(
        label="Short name", max_length=80, help_text="Used in commands and addresses."
    )


class StudyFileForm(forms.Form):
    file = forms.FileField(
        help_text="TOML, as “As a file” in the settings of a study gives it.",
        widget=forms.FileInput(attrs={"accept": ".toml"}),
    )


class InviteForm(forms.Form):
    people = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="One person per line: an id or an e-mail address.",
    )
    file = forms.FileField(
        label="or a CSV file", required=False, help_text="The id goes in the first column."
    )
    pool = forms.ModelChoiceField(Pool.objects.none(), help_text="The group that they are of.")

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "pool", study.pools.all())

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        given = bool(data.get("people", "").strip()) + bool(data.get("file"))
        if given != 1:
            also = ", not both" if given else ""
            raise ValidationError(f"Paste the people or choose a file{also}.")
        if data.get("file"):
            try:
                data["people"] = data["file"].read().decode("utf-8")
            except UnicodeDecodeError:
                raise ValidationError(
                    "The file is not UTF-8 text: save it as CSV in UTF-8."
                ) from None
        return data


class ColumnsForm(forms.Form):
    """What each column of a table holds. A field whose columns are left as they were found is not
    said: it is found again."""

    leaves_out = forms.BooleanField(
        label="Leave out all columns that are not used, whatever they hold", required=False
    )

    def __init__(
        self, data: QueryDict | None, *, found: Mapping[str, Any], cells: Mapping[str, list[str]]
    ) -> None:
        """found: from a field to its columns. cells: by the column, its first ones."""
        super().__init__(data)
        self._names, self._cells = list(cells), cells
        for number, name in enumerate(self._names):
            self.fields[f"column-{number}"] = forms.ChoiceField(
                label=name, choices=ROLES, required=False, initial=_role(name, found)
            )

    @property
    def rows(self) -> list[tuple[forms.BoundField, list[str]]]:
        return [(self[f"column-{n}"], self._cells[name]) for n, name in enumerate(self._names)]

    def clean(self) -> dict[str, Any]:
        for field, given in self._by_field(self.cleaned_data.get).items():
            if len(given) > 1 and field not in (*SEVERAL, "answer"):
                named = " and ".join(f"“{name}”" for name in given)
                raise ValidationError(f"{named} cannot both be the {field}: choose one.")
        return self.cleaned_data

    @property
    def said(self) -> dict[str, Any]:
        """As a task's file says it: the columns, empty where there is none, whatever its usual
        name; and those that are not used any more."""
        given_up = [
            name
            for number, name in enumerate(self._names)
            if self.fields[f"column-{number}"].initial and not self.cleaned_data[f"column-{number}"]
        ]
        return {"columns": self._columns, **({"unused": given_up} if given_up else {})}

    @property
    def _columns(self) -> dict[str, Any]:
        before = self._by_field(lambda field: self.fields[field].initial)
        chosen = self._by_field(self.cleaned_data.get)
        return {
            field: given[0] if len(given) == 1 else given or ""
            for field, given in chosen.items()
            if given != before[field]
        }

    def _by_field(self, role_of: Callable[[str], Any]) -> dict[str, list[str]]:
        roles = {name: role_of(f"column-{n}") for n, name in enumerate(self._names)}
        return {
            field: [name for name, role in roles.items() if field in FIELDS_OF.get(role, [role])]
            for field in USUAL
        }


# A column may be an option and the right one, too.
RIGHT_OPTION = "right option"
FIELDS_OF = {RIGHT_OPTION: ["options", "answer"]}
ROLES = [
    *[("", "not used"), ("question", "the question"), ("context", "a text above the question")],
    *[("options", "an option, or a list of them"), ("answer", "the right answer")],
    *[
        (RIGHT_OPTION, "an option: the right one of each row"),
        ("id", "the id"),
        ("groups", "a group"),
    ],
    *[("proposed", "a proposed answer"), ("entities", "places of the candidates")],
    ("part", "the part of the set that a row is of"),
    *[("images", "an image"), ("image_text", "what the image shows, in words")],
]


def _role(name: str, found: Mapping[str, Any]) -> str:
    fields = [
        field
        for field, given in found.items()
        if name in [part for one in as_list(given) for part in (one, one.partition(".")[0])]
    ]
    return RIGHT_OPTION if {"options", "answer"} <= {*fields} else next(iter(fields), "")


class MorePlacesForm(forms.Form):
    wanted = forms.IntegerField(label="Number of annotators")

    def __init__(self, *args: Any, batch: Batch, **kwargs: Any) -> None:
        kwargs["initial"] = {"wanted": batch.wanted}
        super().__init__(*args, **kwargs)
        self._batch = batch

    def clean_wanted(self) -> int:
        wanted: int = self.cleaned_data["wanted"]
        if wanted < self._batch.wanted:
            raise ValidationError("A batch that has started can be given more places, not fewer.")
        if wanted > 10_000:
            raise ValidationError("No more than 10,000 people can be wanted in one batch.")
        return wanted
