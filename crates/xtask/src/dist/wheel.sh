# Installs the wheel in a new environment of each Python here, uses it and removes it. Arguments: the
# wheel, the version.
set -eu
wheel=$1 version=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
tried=0
for python in python3.10 python3.11 python3.12 python3.13 python3.14; do
    "$python" -c 'import venv, ensurepip' 2>/dev/null || continue
    "$python" -m venv "$place/$python"
    inside=$place/$python/bin
    "$inside/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
    [ "$("$inside/firstflight" --version)" = "firstflight $version" ]
    "$inside/firstflight" compare newreno --duration 1s >/dev/null
    "$inside/python" -c 'import firstflight as ff; assert ff.compare(["newreno"], duration="1s")'
    [ -n "$(find "$place/$python" -path '*/licenses/*/libraries.txt')" ]
    "$inside/pip" uninstall --quiet --yes firstflight
    [ -z "$(find "$place/$python" -name '*firstflight*')" ]
    echo "dist: installed, used and removed with $python"
    tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || echo "skipped: no python3.10 or later with venv"
