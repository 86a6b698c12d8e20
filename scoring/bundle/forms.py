from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError


class BundleForm(forms.Form):
    file = forms.FileField(
        label="A bundle (zip)",
        widget=forms.FileInput(attrs={"accept": ".zip,application/zip"}),
        error_messages={"required": "Choose the zip file of a bundle."},
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        most = settings.BENCHMARK_UPLOAD_MAX_BYTES
        if file.size > most:
            sentence = "The file is larger than %(most)d MB: import it by the command."
            raise ValidationError(sentence % {"most": most // 1_000_000})
        return file
