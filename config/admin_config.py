"""The admin with a site of its own."""

from django.contrib.admin.apps import AdminConfig


class ResearchersAdminConfig(AdminConfig):
    # Named, not imported: it reads models, which are not there yet when this file is read.
    default_site = "config.admin_site.ResearchersSite"
