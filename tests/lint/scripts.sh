# Lints the scripts in static/ with ESLint, which is installed here on first use. Where that can't
# be had, it says so, and the other checks go on.
set -eu
cd "$(dirname "$0")"

skip() {
    echo "The scripts in static/ were not linted: $1"
    exit 0
}

NEW_ENOUGH='const [major, minor] = process.versions.node.split(".").map(Number);
process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)'
{ command -v npm && node -e "$NEW_ENOUGH"; } >/dev/null 2>&1 ||
    skip "that takes Node.js 20.19 or newer and its npm."

# npm ci empties the folder first: other pins, no stamp.
stamp=node_modules/installed-$(cat package.json package-lock.json | cksum | cut -d' ' -f1)
if [ ! -f "$stamp" ]; then
    echo "Installing ESLint, which lints the scripts."
    npm ci --silent --ignore-scripts --no-audit --no-fund --fetch-retries 1 ||
        skip "npm could not install ESLint; is its registry reachable?"
    touch "$stamp"
fi
cd ../..
exec tests/lint/node_modules/.bin/eslint --config tests/lint/eslint.config.js --max-warnings 0 static
