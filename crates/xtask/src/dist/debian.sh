# Unpacks the archive in empty Debian roots that have neither compiler nor network, runs the first
# comparison, and removes it. Arguments: the archive, the version, the releases of Debian.
set -eu
archive=$1 version=$2
shift 2
fail() {
    echo "dist: $*" >&2
    exit 1
}
place=$(mktemp -d)
trap 'rm -rf --one-file-system "$place"' EXIT
files() { (cd "$1" && find . -path ./proc -prune -o -print | sort); }

for release in "$@"; do
    system=$place/$release
    if ! debootstrap --variant=minbase "$release" "$system" >"$place/log" 2>&1; then
        echo "skipped: $release: $(tail -1 "$place/log")"
        continue
    fi
    inside() { unshare --net chroot "$system" env -i PATH=/usr/bin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }
    files "$system" >"$place/before"
    began=$(date +%s)
    # An empty Debian has no xz. What is not compressed passes through it.
    xz --decompress --force --stdout "$archive" | inside tar -x -C /opt --no-same-owner
    program=$(inside sh -c 'echo /opt/*/firstflight')
    [ "$(inside "$program" --version)" = "firstflight $version" ] || fail "$release: --version"
    inside "$program" compare | grep -q '^astart' || fail "$release: compare: no row of astart"
    took=$(($(date +%s) - began))
    [ "$took" -lt 60 ] || fail "$release: the first comparison took $took s; accepted: under 60"
    inside rm -r "${program%/firstflight}"
    files "$system" >"$place/after"
    left=$(comm -13 "$place/before" "$place/after")
    [ -z "$left" ] || fail "$release: left after removing: $left"
    echo "dist: $release: from the file to the first comparison in $took s; nothing is left"
done
