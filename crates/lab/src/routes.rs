//! Sets the two ends' kernels to a scenario: routes, addresses, and values of `sysctl`.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

use crate::job::{Group, Job};
use crate::namespace::Namespace;
use crate::path::DEVICE;
use firstflight_runner::RunError;

/// Sets both ends up for a job.
///
/// # Errors
/// The kernel refuses a command or a value.
pub(crate) fn set_up(near: &Namespace, far: &Namespace, job: &Job) -> Result<(), RunError> {
    for end in [near, far] {
        end.set("ipv4/tcp_sack", if job.sack { "1" } else { "0" })?;
        end.set("ipv4/tcp_ecn", if job.ecn { "1" } else { "2" })?;
        end.set("ipv4/tcp_slow_start_after_idle", if job.restarts { "1" } else { "0" })?;
        forget_orphans(end)?;
    }
    if !job.ack_compression {
        // So many ACKs are held back at most (the kernel's Documentation, networking/ip-sysctl).
        for end in [near, far] {
            end.set("ipv4/tcp_comp_sack_nr", "0")?;
        }
    }
    for (index, group) in job.groups.iter().enumerate() {
        add(near, far, index, group)?;
    }
    let thresholds: Vec<&Group> =
        job.groups.iter().filter(|group| group.ssthresh_packets.is_some()).collect();
    if !thresholds.is_empty() {
        prime(near, far, &thresholds)?;
    }
    Ok(())
}

/// Gives the ends the addresses and routes of the group number `index`.
///
/// # Errors
/// The kernel refuses a command or a value.
pub(crate) fn add(
    near: &Namespace,
    far: &Namespace,
    index: usize,
    group: &Group,
) -> Result<(), RunError> {
    // The path has set the first address of each end.
    if index > 0 {
        near.ip(&format!("address add {}/32 dev {DEVICE}", group.near))?;
        far.ip(&format!("address add {}/32 dev {DEVICE}", group.far))?;
    }
    let (sends, receives) = group.ends(near, far);
    sends.ip(&route_to_receiver(group))?;
    let quickack = if group.quickack { "quickack 1" } else { "" };
    let (to, from) = group.addresses();
    receives.ip(&format!("route add {to}/32 dev {DEVICE} src {from} {quickack}"))
}

fn route_to_receiver(group: &Group) -> String {
    let Group { iw_packets, rto_min_ms, .. } = group;
    let (from, to) = group.addresses();
    let ssthresh =
        group.ssthresh_packets.map_or(String::new(), |packets| format!("ssthresh lock {packets}"));
    format!(
        "route add {to}/32 dev {DEVICE} src {from} initcwnd {iw_packets} {ssthresh} rto_min \
         {rto_min_ms}ms"
    )
}

/// Makes the kernel give up soon on connections that no process has open and whose path is gone. It
/// would otherwise retransmit for minutes, and keep their namespace and their control so long.
///
/// # Errors
/// The kernel does not take it.
pub(crate) fn forget_orphans(end: &Namespace) -> Result<(), RunError> {
    end.set("ipv4/tcp_orphan_retries", "1")
}

/// Makes the kernel take the routes' ssthresh. It does so only by way of its memory of earlier
/// connections (net/ipv4/tcp_metrics.c), and only for addresses it remembers. So one short
/// connection goes to each before; then the memory is closed. `lock` keeps the route's value.
fn prime(near: &Namespace, far: &Namespace, groups: &[&Group]) -> Result<(), RunError> {
    for end in [near, far] {
        end.set("ipv4/tcp_no_ssthresh_metrics_save", "0")?;
        end.set("ipv4/tcp_no_metrics_save", "0")?;
    }
    for group in groups {
        let (sends, receives) = group.ends(near, far);
        short_connection(sends, receives, group.addresses()).map_err(|error| {
            let to = group.addresses().1;
            RunError::Failed(format!("the first connection to {to}: {error}"))
        })?;
    }
    [near, far].iter().try_for_each(|end| end.set("ipv4/tcp_no_metrics_save", "1"))
}

fn short_connection(
    sends: &Namespace,
    receives: &Namespace,
    (from, to): (Ipv4Addr, Ipv4Addr),
) -> std::io::Result<()> {
    let address = SocketAddr::from((to, PRIMING_PORT));
    let listener = receives.run(|| TcpListener::bind(address))??;
    let socket = sends.run(|| Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)))??;
    socket.bind(&SocketAddr::from((from, 0)).into())?;
    socket.connect_timeout(&address.into(), TIMEOUT)?;
    let (mut accepted, _) = listener.accept()?;
    let mut connecting = std::net::TcpStream::from(socket);
    connecting.set_read_timeout(Some(TIMEOUT))?;
    accepted.set_read_timeout(Some(TIMEOUT))?;
    connecting.write_all(b"first")?;
    accepted.read_exact(&mut [0; 5])?;
    // Closed in order, by this side first: an aborted connection is not remembered.
    connecting.shutdown(Shutdown::Write)?;
    accepted.read_to_end(&mut Vec::new())?;
    drop(accepted);
    connecting.read_to_end(&mut Vec::new())?;
    Ok(())
}

const PRIMING_PORT: u16 = 9;
const TIMEOUT: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests {
    use firstflight_scenario::Scenario;

    use super::*;
    use crate::control::LinuxControl;
    use crate::job::complete;
    use crate::path::Path;

    /// How many ACKs of packets out of order the receiver's kernel may hold back, for a scenario
    /// with these words; `None` without root.
    fn held_back(more: &str) -> Option<String> {
        let text = format!("controls = ['linux-reno']\n{more}");
        let complete = complete(&Scenario::parse(&text, "x.toml").unwrap()).unwrap();
        let control = LinuxControl::resolve(&"linux-reno".parse().unwrap(), false).unwrap();
        let job = Job::new(&complete, &[control], 1);
        let path = match Path::new(&job.link) {
            Err(RunError::Lacks(reason)) => {
                let required =
                    std::env::var_os("FIRSTFLIGHT_REQUIRE_LAB").is_some_and(|v| v == "1");
                assert!(!required, "the lab is required here, but {reason}");
                eprintln!("skipped: {reason}");
                return None;
            }
            path => path.unwrap(),
        };
        set_up(&path.near, &path.far, &job).unwrap();
        let read = || std::fs::read_to_string("/proc/sys/net/ipv4/tcp_comp_sack_nr");
        Some(path.far.run(read).unwrap().unwrap().trim().to_owned())
    }

    #[test]
    fn a_receiver_without_compression_holds_no_ack_back() {
        assert_eq!(held_back("ack_compression = false").as_deref().unwrap_or("0"), "0");
        assert_ne!(held_back("").as_deref(), Some("0"));
    }
}
