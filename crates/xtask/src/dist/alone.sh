# Tries the static program in a root that holds nothing else. Arguments: the archive, the version.
set -eu
archive=$1 version=$2
fail() {
    echo "dist: $*" >&2
    exit 1
}
alone=$(mktemp -d)
trap 'umount "$alone"; rmdir "$alone"' EXIT
mount -t tmpfs tmpfs "$alone"
tar -xJf "$archive" -C "$alone" --strip-components=1 --no-same-owner
inside() { chroot "$alone" /firstflight "$@"; }

found=$(inside --version)
[ "$found" = "firstflight $version" ] || fail "--version: found $found"
began=$(date +%s)
inside compare | grep -q '^astart' || fail "compare: no row of astart"
inside compare hystart-pp --on quic | grep -q '^hystart-pp' || fail "compare --on quic: no row"
inside advise --rate 40Mbps --rtt 100ms | grep -q 'Take' || fail "advise: no advice"
inside self-check || fail "self-check"
echo "dist: the first comparison and all else took $(($(date +%s) - began)) s"
