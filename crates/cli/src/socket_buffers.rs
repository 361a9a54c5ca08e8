//! What this host allows the socket buffers of TCP.

use firstflight_answers::Allowed;

/// As the kernel says in this network namespace; `None` where no Linux does.
pub(crate) fn allowed() -> Option<Allowed> {
    let most = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).ok()?;
        text.split_whitespace().nth(2)?.parse().ok()
    };
    Some(Allowed::of(most("tcp_wmem")?, most("tcp_rmem")?))
}
