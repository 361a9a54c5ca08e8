# Before a guest's script: every step says how it ended.
step() {
    local name=$1
    shift
    echo "--> $name: $*"
    "$@"
    local code=$?
    echo "==> $name: $code"
}

names() { grep -q "$1" /proc/sys/net/ipv4/tcp_available_congestion_control; }
