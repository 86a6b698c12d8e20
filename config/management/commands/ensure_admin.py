"""Somebody who can sign in to a fresh installation."""

from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from django.urls import reverse

from config.env import ensure_secret

NAME = "admin"


class Command(BaseCommand):
    help = (
        "Creates the user 'admin' with a generated password where there is none, and says how to "
        "sign in. Touches no user that exists. The password is kept in DATA_DIR/admin-password."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        file = settings.DATA_DIR / "admin-password"
        users = get_user_model().objects
        admin = users.filter(username=NAME).first()
        if admin is None:
            admin = users.create_superuser(NAME, password=ensure_secret(file, length=12))
        address = settings.PUBLIC_URL + reverse("admin:index")
        if file.exists() and admin.check_password(ensure_secret(file)):
            self.stdout.write(f"Admin: {address}  user: {NAME}  password: {ensure_secret(file)}")
        else:
            self.stdout.write(
                f"Admin: {address}  user: {NAME}  password: the one that was set by hand "
                f"(a new one: manage.py changepassword {NAME})"
            )
