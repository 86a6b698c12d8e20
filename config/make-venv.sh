# Makes the virtual environment $VENV with $PYTHON. Debian keeps the venv module's other half in a
# package of its own: as root it is installed, else the one sentence says what to install.
set -eu
if ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
    package=$("$PYTHON" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing $package, which virtual environments need."
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package"; } >/dev/null || true
    fi
    if ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
        echo "$PYTHON can't make virtual environments: install the package $package." >&2
        exit 1
    fi
fi
"$PYTHON" -m venv "$VENV"
