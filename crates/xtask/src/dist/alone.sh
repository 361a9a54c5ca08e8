# Tries the static program in a root that holds nothing else. Arguments: the archive, the version and,
# for a program of another machine, an emulator of that, which is static too.
set -eu
archive=$1 version=$2 emulator=${3:-}
fail() {
    echo "dist: $*" >&2
    exit 1
}
alone=$(mktemp -d)
trap 'umount --recursive "$alone"; rmdir "$alone"' EXIT
mount -t tmpfs tmpfs "$alone"
tar -xf "$archive" -C "$alone" --strip-components=1 --no-same-owner
case $archive in *-dev.tar)
    # Linked statically with glibc, it finds the system's call for random numbers not by its name.
    mkdir "$alone/dev"
    for file in random urandom; do
        touch "$alone/dev/$file"
        mount --bind "/dev/$file" "$alone/dev/$file"
    done
    ;;
esac
[ -z "$emulator" ] || cp "$emulator" "$alone/emulator"
inside() { chroot "$alone" ${emulator:+/emulator} /firstflight "$@"; }

found=$(inside --version)
[ "$found" = "firstflight $version" ] || fail "--version: found $found"
began=$(date +%s)
inside compare | grep -q '^astart' || fail "compare: no row of astart"
inside compare hystart-pp --on quic | grep -q '^hystart-pp' || fail "compare --on quic: no row"
inside advise --rate 40Mbps --rtt 100ms | grep -q 'Take' || fail "advise: no advice"
inside self-check || fail "self-check"
echo "dist: the first comparison and all else took $(($(date +%s) - began)) s"
