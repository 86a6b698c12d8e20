"""The researcher's admin, one module per subject; importing them registers their pages."""

from django.contrib import admin

from annotation.admin import batch, benchmark, channel, example, job, study, work

__all__ = ["batch", "benchmark", "channel", "example", "job", "study", "work"]

admin.site.site_header = "Baseliner"
admin.site.site_title = "Baseliner"
