# What systemd made of the unit: every step says how it ended. `last` is what runs after the unit was
# stopped by a shutdown.
unit=firstflight-kernel

is_gone() { ! names ff_ && test ! -e /sys/fs/bpf/firstflight; }
# With the sticky bit, as the kernel makes its root, or without.
is_closed() { stat -c '%A %u' "$1" | grep '^drwx-----[-T] 0$'; }
since_boot() { systemctl show --value --property ActiveEnterTimestampMonotonic "$1"; }
is_early() { test "$(since_boot $unit)" -lt "$(since_boot network-pre.target)"; }
shows() { firstflight kernel status | grep "$1"; }
clean_log() { ! dmesg | grep -E 'BUG|WARNING|Oops|Call Trace|refcount|leak'; }

is_active() {
    systemctl show --property Result --property ExecMainStatus $unit
    cat /messages/errors
    systemctl is-active $unit
}

# Somebody uses the control while it is unloaded.
flow() {
    ip link set lo up
    iperf3 --server --daemon --one-off
    sleep 1
    iperf3 --client 127.0.0.1 --congestion ff_astart --bytes 2M "$@"
}
stop_under_a_flow() {
    flow --bitrate 1M > /tmp/flow 2>&1 &
    sleep 4
    systemctl stop $unit && is_gone && kill -0 $! && wait $!
    local code=$?
    cat /tmp/flow
    return $code
}

if [ "$1" = judge ]; then
    step verified systemd-analyze verify --man=no /etc/systemd/system/$unit.service
    step exposure systemd-analyze security --no-pager --offline=true --threshold=35 $unit.service
    step active is_active
    step early is_early
    step mount is_closed /sys/fs/bpf
    step folder is_closed /sys/fs/bpf/firstflight
    step loaded names ff_astart
    step status shows ff_astart
    step used flow
    step stopped systemctl stop $unit
    step gone is_gone
    step started systemctl start $unit
    step loaded-again names ff_astart
    step stopped-in-use stop_under_a_flow
    # For the shutdown to stop.
    step started-again systemctl start $unit
    systemctl poweroff --no-block
else
    step gone-at-shutdown is_gone
    step log clean_log
fi
