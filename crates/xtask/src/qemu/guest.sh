# What the second kernel does when this program has set the machine up: every step says how it ended.

unnamed() { ! names "$1"; }

flow() {
    ip link set lo up
    iperf3 --server --daemon --one-off
    sleep 1
    iperf3 --client 127.0.0.1 --congestion "$1" --bytes 8M
}

parity() {
    FIRSTFLIGHT_REQUIRE_BPF=1 FIRSTFLIGHT_CONTROLS="newreno tcpw-a rapid-start search suss scout" \
        running --exact the_core_replays_what_the_kernel_did \
        a_control_begins_after_the_handshake_however_it_was_chosen --nocapture
}

cgroup() {
    FIRSTFLIGHT_REQUIRE_BPF=1 running --exact --nocapture --test-threads 1 \
        running::watching::a_watched_connection_ends_slow_start_as_its_control_did \
        rules_steer_new_connections_and_are_undone \
        a_rule_may_be_for_a_cgroup_and_those_below
}

# So many connections.
load() {
    ip link set lo up
    FIRSTFLIGHT_CONNECTIONS=$1 FIRSTFLIGHT_REQUIRE_BPF=1 \
        running --nocapture --test-threads 1 running::load
}

# Into a file first: on the console a command would draw its progress.
quietly() {
    "$@" > /tmp/said 2>&1
    local code=$?
    cat /tmp/said
    return $code
}

# One line says what the kernel lacks for it.
lacks() {
    quietly firstflight kernel "$@"
    [ $? = 3 ] && [ "$(grep -c '' /tmp/said)" = 1 ] && grep -q 'the kernel has no' /tmp/said
}

watched() {
    firstflight kernel watch --for 8s > /tmp/watched &
    sleep 1
    flow reno
    wait $!
    cat /tmp/watched
    grep -q '^4 connections; 0 still open' /tmp/watched
}

# How long one ACK waits for packets out of order, as `linux_release` has it before 6.19 and since.
acks() {
    local place=/proc/sys/net/ipv4/tcp_comp_sack percent=5 slack
    slack=$(cat ${place}_slack_ns)
    [ ! -e ${place}_rtt_percent ] || percent=$(cat ${place}_rtt_percent)
    echo "$percent % of the RTT and $slack ns"
    case "$percent $slack" in '5 100000' | '33 10000') ;; *) return 1 ;; esac
}

clean_log() { ! dmesg | grep -E 'BUG|WARNING|Oops|Call Trace|refcount|leak'; }

echo "kernel: $(uname -r)"
dmesg -n 1
mkdir /cgroup && mount -t cgroup2 none /cgroup
if [ "$mode" = cost ]; then
    # One connection runs under every control in turn, and its socket keeps the state of each. The
    # default limit of what a socket keeps is too low for all of them.
    echo 1000000 >/proc/sys/net/core/optmem_max
    step cost cost 4
elif [ "$mode" = soak ]; then
    # What an emulated processor bears: a cycle takes some four seconds there.
    step soak xtask soak --built /bin --link netem --flows 40 --seconds 200 --cycles 40
    dmesg
elif [ "$mode" = old ]; then
    step load quietly firstflight kernel load newreno
    step watch watched
    step no-cubic lacks load cubic
    step no-tracepoint lacks watch --tracepoints --for 1s
    step no-rules lacks steer reno
    step no-trial lacks trial --control reno --against cubic --for 1s
elif [ "$mode" = load ]; then
    step under-load load 10000
else
    # All of them: this kernel's verifier counts the stack as newer ones do not.
    step load firstflight kernel load newreno liw hoe bc dbc astart tcpw-a vegas cubic hystart \
        mstart hystart-pp search rapid-start careful-resume suss scout \
        'ff_own=tcpw-a(preset=ns2)'
    step registered names ff_astart
    step status firstflight kernel status
    step flow flow ff_astart
    # By cong_control, whose arguments are not those of Linux 6.10 and later here.
    step owning-flow flow ff_rapid_start
    step unload firstflight kernel unload --all
    step gone unnamed ff_
    step unpinned test ! -e /sys/fs/bpf/firstflight
    step acks acks
    if [ "$mode" = short ]; then
        step under-load load 800
    else
        step parity parity
        step cgroup cgroup
        step trial quietly firstflight kernel trial --control reno --against cubic --for 1s
        step netem quietly firstflight run /scenario.toml --on linux --link netem
        step tun quietly firstflight run /scenario.toml --on linux --link tun
        step under-load load 10000
        step gone-again unnamed ff_
    fi
fi
step log clean_log
