from annotation.management.arguments import ChangingCommand


class Command(ChangingCommand):
    change = "start"
