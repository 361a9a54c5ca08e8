# Installs the wheel in a new environment of each Python here, uses it and removes it. Arguments: the
# wheel, the version.
set -eu
wheel=$1 version=$2
fail() {
    echo "dist: $*" >&2
    exit 1
}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
for python in python3.10 python3.11 python3.12 python3.13 python3.14; do
    if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
        echo "skipped: no $python with venv on the path"
        continue
    fi
    "$python" -m venv "$place/$python"
    inside=$place/$python/bin
    "$inside/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
    found=$("$inside/firstflight" --version)
    [ "$found" = "firstflight $version" ] || fail "$python: --version: found $found"
    "$inside/firstflight" compare newreno --duration 1s >/dev/null
    "$inside/python" -c 'import firstflight as ff; assert ff.compare(["newreno"], duration="1s")'
    licences=$(find "$place/$python" -path '*/licenses/*/libraries.txt')
    [ -n "$licences" ] || fail "$python: the wheel has no licences of the libraries inside"
    "$inside/pip" uninstall --quiet --yes firstflight
    left=$(find "$place/$python" -name '*firstflight*')
    [ -z "$left" ] || fail "$python: left after removing: $left"
    echo "dist: installed, used and removed with $python"
done
