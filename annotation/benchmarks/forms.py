"""What a benchmark is imported from: a file, its name, and how the file is read."""

import zipfile
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from annotation.access.rights import check_may_import
from annotation.benchmarks.archives import TABLES
from annotation.models.errors import Refusal

SLUG = "letters, digits, hyphens and underscores"


class ImportForm(forms.Form):
    name = forms.SlugField(
        max_length=80,
        # Asked by the browser, too: a form that comes back has lost its file.
        widget=forms.TextInput(attrs={"pattern": "[-a-zA-Z0-9_]+", "title": SLUG}),
        help_text="Such as clues. If there is one, its tasks are updated and new ones added.",
    )
    file = forms.FileField(
        help_text="A table of questions (CSV, TSV, JSON, JSON lines, Parquet); or a zip of tables, "
        "one task a file, or in CLUES layout: a folder for every task, with <stem>_test.jsonl and "
        "<stem>_train_<shots>_<split>.jsonl.",
        widget=forms.FileInput(attrs={"accept": ",".join((".zip", ".eval", *TABLES))}),
    )
    description = forms.CharField(
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="What is asked",
        help_text="Of one table: what its annotators read first, in Markdown; it can be written "
        "later, too.",
    )
    encoding = forms.CharField(
        required=False, max_length=40, help_text="Of what is not UTF-8, such as mac_roman."
    )
    shots = forms.RegexField(
        r"^[0-9 ]*$",
        max_length=200,
        label="Shot sets to draw",
        required=False,
        help_text="Such as 10 20 30, out of the labelled part (train) beside the test set in a "
        "zip: nested, five splits, by label where labels repeat.",
    )
    seed = forms.IntegerField(label="Seed of the draw", required=False, min_value=0)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user = user

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        try:
            check_may_import(name, self._user)
        except Refusal as refusal:
            raise ValidationError(str(refusal)) from refusal
        return name

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        most = settings.BENCHMARK_UPLOAD_MAX_BYTES
        if file.size > most:
            sentence = "The file is larger than %(most)d MB: leave some tasks out."
            raise ValidationError(sentence % {"most": most // 1_000_000})
        if not file.name.lower().endswith(TABLES) and not zipfile.is_zipfile(file):
            raise ValidationError(
                "This is neither a zip file nor a table by its name: a table ends in .csv, .tsv, "
                ".json, .jsonl or .parquet."
            )
        file.seek(0)
        return file

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        file = data.get("file")
        if data.get("description") and file and not file.name.lower().endswith(TABLES):
            self.add_error("description", "Say it in the file of each task in the zip.")
        return data

    @property
    def arguments(self) -> dict[str, Any]:
        """Of the job."""
        data = self.cleaned_data
        shots = [int(number) for number in data["shots"].split()]
        said = {"said": {"description": data["description"]}} if data["description"] else {}
        draw = {"draw": {"shots": shots, "seed": data["seed"] or 0}} if shots else {}
        return {"name": data["name"], "encoding": data["encoding"], **said, **draw}
