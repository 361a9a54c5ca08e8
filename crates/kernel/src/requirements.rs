//! What a machine must have before a control can be loaded, checked by feature, not by version.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use crate::registration::Hold;

/// Something the machine lacks, and how to get it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lack {
    /// Too few privileges.
    #[error("needs root, or the capabilities CAP_BPF and CAP_PERFMON; run it with sudo")]
    Privileges,
    /// Too few privileges for programs of cgroups.
    #[error(
        "needs root, or the capabilities CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN; run it with sudo"
    )]
    Network,
    /// The kernel does not describe its own types.
    #[error("the kernel has no BTF ({BTF}); it must be built with CONFIG_DEBUG_INFO_BTF")]
    Btf,
    /// The kernel lacks a feature of BPF.
    #[error("the kernel has no {0}; Linux 5.15 or later with CONFIG_BPF_JIT has")]
    Feature(String),
    /// The kernel has not all tracepoints.
    #[error("the kernel has no tracepoint tcp_cong_state_set; Linux 5.19 or later has")]
    Tracepoint,
    /// Nowhere to pin.
    #[error("{BPFFS} is not a BPF file system; mount it: mount -t bpf -o mode=0700 bpf {BPFFS}")]
    Bpffs,
    /// Others could change what is pinned, or it cannot be looked at.
    #[error("{0}")]
    Pins(String),
    /// Built without the feature that loads.
    #[error(
        "this build cannot load controls; install clang libelf-dev zlib1g-dev pkg-config and \
         build with: cargo build --release --features kernel"
    )]
    Build,
}

impl Lack {
    /// What the kernel lacks, where libbpf or the kernel's verifier has named it: a field of a
    /// struct, or a function that a program calls.
    pub fn named_in(log: &str) -> Option<Self> {
        let field = log.lines().find_map(|line| {
            let (_, relocation) = line.split_once("failed to resolve CO-RE relocation ")?;
            let (_, field) = relocation.split_once("] ")?;
            Some(format!("field {}", field.split(" (").next()?))
        });
        let function = || {
            log.lines().find_map(|line| {
                let (_, called) = line.split_once("unknown func ")?;
                Some(format!("{} for such programs", called.split('#').next()?))
            })
        };
        field.or_else(function).map(Self::Feature)
    }
}

/// Checks what registering needs, and how this kernel keeps what is registered.
///
/// # Errors
/// The first thing the machine lacks.
pub fn check() -> Result<Hold, Lack> {
    if !has(CAP_BPF) || !has(CAP_PERFMON) {
        return Err(Lack::Privileges);
    }
    let named = named()?;
    if !named.controls {
        return Err(Lack::Feature("congestion controls in BPF".to_owned()));
    }
    Ok(if named.links { Hold::Link } else { Hold::Entry })
}

/// Checks what programs of cgroups need, which see connections.
///
/// # Errors
/// The first thing the machine lacks.
pub fn check_connections() -> Result<(), Lack> {
    if !has(CAP_NET_ADMIN) {
        return Err(Lack::Network);
    }
    check().map(drop)
}

/// Checks what watching connections by tracepoints needs.
///
/// # Errors
/// The first thing the machine lacks.
pub fn check_tracepoints() -> Result<(), Lack> {
    if !has(CAP_BPF) || !has(CAP_PERFMON) {
        return Err(Lack::Privileges);
    }
    if named()?.state_set { Ok(()) } else { Err(Lack::Tracepoint) }
}

/// Whether the kernel has a call of its own for data that leaves when nothing is in flight, instead
/// of an event: Linux 7.1 and later.
pub fn calls_tx_start() -> bool {
    named().is_ok_and(|named| named.tx_start)
}

/// Which names the kernel's BTF has.
#[derive(Clone, Copy)]
struct Named {
    controls: bool,
    links: bool,
    state_set: bool,
    tx_start: bool,
}

/// Looks once: BTF has megabytes, and is the same until the kernel ends.
fn named() -> Result<Named, Lack> {
    static NAMED: LazyLock<Option<Named>> = LazyLock::new(|| {
        // Most of BTF is no text, but names are, and the search in text is the fast one in every
        // build.
        let btf = fs::read(BTF).ok()?;
        let text = String::from_utf8_lossy(&btf);
        let has = |name| contains(&text, name);
        let (controls, links) = (has(CONTROLS_IN_BPF), has(LINKS));
        Some(Named { controls, links, state_set: has(STATE_SET), tx_start: has(TX_START) })
    });
    NAMED.ok_or(Lack::Btf)
}

/// Checks what a control needs besides to stay when the command ends.
///
/// # Errors
/// There is no BPF file system where it belongs.
pub fn check_pinning() -> Result<(), Lack> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounted = mounts.lines().any(|line| {
        let mut words = line.split(' ').skip(1);
        words.next() == Some(BPFFS) && words.next() == Some("bpf")
    });
    if mounted && Path::new(BPFFS).is_dir() { Ok(()) } else { Err(Lack::Bpffs) }
}

fn has(capability: u32) -> bool {
    is_held(&fs::read_to_string("/proc/self/status").unwrap_or_default(), capability)
}

/// From `/proc/self/status`: a capability, or CAP_SYS_ADMIN in its place.
fn is_held(status: &str, capability: u32) -> bool {
    let capabilities = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let held = capabilities.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    [capability, CAP_SYS_ADMIN].iter().any(|capability| held >> capability & 1 == 1)
}

/// Whether a name is among the strings of BTF.
fn contains(btf: &str, name: &str) -> bool {
    btf.contains(&format!("\0{name}\0"))
}

/// Where BPF objects can be pinned.
pub const BPFFS: &str = "/sys/fs/bpf";

const BTF: &str = "/sys/kernel/btf/vmlinux";

/// Types that are there where the feature is.
const CONTROLS_IN_BPF: &str = "bpf_struct_ops_tcp_congestion_ops";
const LINKS: &str = "bpf_struct_ops_link";
/// The type of a tracepoint.
const STATE_SET: &str = "btf_trace_tcp_cong_state_set";

/// A member of its table of functions.
const TX_START: &str = "cwnd_event_tx_start";

const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_has_all_capabilities_and_others_those_of_their_set() {
        let held = |status| [CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN].map(|it| is_held(status, it));
        assert_eq!(held("Name:\tx\nCapEff:\t000001ffffffffff\n"), [true; 3]);
        assert_eq!(held("CapEff:\t0000000000200000\n"), [true; 3], "CAP_SYS_ADMIN");
        assert_eq!(held("CapEff:\t000000c000000000\n"), [true, true, false]);
        assert_eq!(held("CapEff:\t0000008000001000\n"), [true, false, true]);
        assert_eq!(held(""), [false; 3]);
    }

    /// In the words of Linux 5.10 and libbpf 1.5.
    #[test]
    fn what_the_kernel_lacks_is_taken_from_the_log() {
        let function = "prog 'ff_init': -- BEGIN PROG LOAD LOG --\n0: (79) r1 = *(u64 *)(r1 +0)\n\
                        unknown func bpf_setsockopt#49\nprocessed 1550 insns (limit 1000000)\n";
        let field = "28: <invalid CO-RE relocation>\nfailed to resolve CO-RE relocation <byte_off> \
                     [37] struct sock.sk_cgrp_data.cgroup (0:1:0 @ offset 48)\nprocessed 9 insns";
        let lack = |log| Lack::named_in(log).map(|lack| lack.to_string());
        let has = "Linux 5.15 or later with CONFIG_BPF_JIT has";
        assert_eq!(
            lack(function).unwrap(),
            format!("the kernel has no bpf_setsockopt for such programs; {has}")
        );
        assert_eq!(
            lack(field).unwrap(),
            format!("the kernel has no field struct sock.sk_cgrp_data.cgroup; {has}")
        );
        assert_eq!(lack("R1 invalid mem access 'inv'\nprocessed 9 insns"), None);
    }

    #[test]
    fn names_are_found_whole() {
        assert!(contains("\0a\0bpf_link\0", "bpf_link"));
        assert!(!contains("\0a\0bpf_links\0", "bpf_link"));
    }
}
