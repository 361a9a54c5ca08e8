# Installs a package, uses it and removes it again, in a copy of this system: what is written goes
# to memory and ends with the mount namespace. Arguments: the package, a folder, the version.
set -eu
package=$1 folder=$2 version=$3
fail() {
    echo "deb: $*" >&2
    exit 1
}

mkdir -p "$folder"
mount -t tmpfs tmpfs "$folder"
written=$folder/written system=$folder/system
mkdir "$written" "$folder/work" "$system"
mount -t overlay -o "lowerdir=/,upperdir=$written,workdir=$folder/work" overlay "$system"
for place in run tmp; do mount -t tmpfs tmpfs "$system/$place"; done
for place in proc sys dev; do mount --rbind "/$place" "$system/$place"; done
inside() {
    chroot "$system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 MANWIDTH=100 \
        DEBIAN_FRONTEND=noninteractive "$@"
}

inside dpkg-query --show firstflight 2>/dev/null && fail "firstflight is installed here already"
cp "$package" "$system/tmp/it.deb"
# Images of containers leave pages of the manual out.
inside dpkg --install --path-include='/usr/share/*' /tmp/it.deb

found=$(inside firstflight --version)
[ "$found" = "firstflight $version" ] || fail "--version: found $found; accepted: $version"
found=$(inside dpkg-query --show --showformat='${Version}' firstflight)
[ "$found" = "$version" ] || fail "version of the package: found $found; accepted: $version"
inside firstflight list astart >/dev/null
inside firstflight compare newreno astart --duration 1s | grep -q '^astart' ||
    fail "compare: no row of astart"

inside man firstflight | grep -q '^EXIT STATUS' || fail "man firstflight: no exit status"
inside man firstflight-kernel-load | grep -q 'firstflight kernel load' || fail "man: no kernel load"
for page in $(inside dpkg --listfiles firstflight | grep '/man1/.*gz$'); do
    # Its first line is what `apropos` looks in.
    inside lexgrog "$page" >/dev/null || fail "$page: lexgrog does not read it"
    warnings=$(inside man --warnings -Tutf8 "$page" 2>&1 >/dev/null)
    [ -z "$warnings" ] || fail "$page: $warnings"
done

units=$(inside dpkg --listfiles firstflight | grep '\.service$')
[ "$(echo "$units" | wc -l)" = 3 ] || fail "units: found $units; accepted: three"
for unit in $units; do
    programs=$(inside sed -n 's/^Exec[A-Za-z]*=\([^ ]*\).*/\1/p' "$unit")
    [ -n "$programs" ] || fail "$unit: it runs nothing"
    for program in $programs; do
        inside test -x "$program" || fail "$unit: no $program"
    done
    [ ! -e "$system/etc/systemd/system/multi-user.target.wants/${unit##*/}" ] ||
        fail "installing enabled the unit"
    if inside sh -c 'command -v systemd-analyze' >/dev/null; then
        inside systemd-analyze verify --man=no "$unit" || fail "$unit: systemd refuses it"
    else
        echo "skipped: $unit was not verified: no systemd-analyze"
    fi
done

# Pins of its own: what is registered is gone with the namespace too.
mount -t bpf -o mode=0700 bpf "$system/sys/fs/bpf" || true
if inside firstflight kernel load ff_deb=astart; then
    inside firstflight kernel status | grep -q '^ff_deb: ' || fail "kernel status: no ff_deb"
    inside firstflight kernel unload ff_deb
elif [ -n "${FIRSTFLIGHT_REQUIRE_BPF:-}" ]; then
    fail "the control was not loaded"
else
    echo "skipped: loading a control into this kernel"
fi
umount "$system/sys/fs/bpf" 2>/dev/null || true

inside dpkg --remove firstflight
[ ! -e "$system/usr/bin/firstflight" ] || fail "removing left /usr/bin/firstflight"
inside dpkg --purge firstflight

# Files that the system below has may have been written: lists, caches, logs. All else is left over.
left=$(cd "$written" && find . -mindepth 1 | while read -r path; do
    [ -e "/$path" ] && [ ! -c "$path" ] || echo "$path"
done)
[ -z "$left" ] || fail "left after the purge: $left"
echo "deb: installed, used and removed; nothing is left"
