"""The researcher's admin, one module per subject; importing them registers their pages."""

from django.contrib import admin
from django.contrib.auth.forms import AuthenticationForm

from annotation.admin import assignment, batch, benchmark, channel, job, study

__all__ = ["assignment", "batch", "benchmark", "channel", "job", "study"]

# Any account signs in; a page that it may not see says so.
admin.site.login_form = AuthenticationForm
