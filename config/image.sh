#!/bin/sh
# The steps of the image, for the Dockerfile and for whoever installs without Docker:
#   sh config/image.sh requirements   installs what the product runs on, and nothing else
#   sh config/image.sh static         collects the static files, compressed; compiles the catalogues
set -eu
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python}

case "$1" in
requirements)
    "$PYTHON" -m pip install --require-hashes --requirement requirements.lock
    ;;
static)
    # The key signs nothing here: collecting files only has to load the settings.
    scratch=$(mktemp -d)
    DEBUG=0 SECRET_KEY=unused DATA_DIR=$scratch "$PYTHON" manage.py collectstatic --noinput
    rm -r "$scratch"
    "$PYTHON" -m config.catalogues
    ;;
*)
    echo "Say requirements or static." >&2
    exit 2
    ;;
esac
