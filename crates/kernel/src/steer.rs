//! Rules that give new connections of a cgroup a control (`c/bpf/steer.bpf.c`). They hold until
//! they are taken away or the machine restarts: a folder of the BPF file system holds the program's
//! link and its maps, next to that of the controls and guarded like it.
//!
//! The rules are a map, so that they change while connections go on: the new set is written next to
//! the old one, and one number says which of the two holds.

use std::cmp::Reverse;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};

use ipnet::{IpNet, Ipv6Net};
use libbpf_rs::{MapCore as _, MapFlags, MapHandle};

use crate::attached::Attached;
use crate::catalogue::{LONGEST_NAME, available};
use crate::cgroup::Cgroup;
use crate::fields::Fields;
use crate::folder::lock_folder;
use crate::load::Complaints;
use crate::requirements::{self, BPFFS, Lack};

/// Which new connections get a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The other end's addresses.
    pub to: IpNet,
    /// The other end's port, or this end's of a connection that it accepts; any if `None`.
    pub port: Option<u16>,
    /// How many of a thousand connections.
    pub per_mille: u16,
    /// The kernel's name of the control.
    pub control: String,
    /// The cgroup in which the socket was made, or one above it; any if `None`.
    pub cgroup: Option<Cgroup>,
}

/// What a rule has done since the rules were last changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections for which it was the first that matched.
    pub matched: u64,
    /// That were given the control.
    pub steered: u64,
    /// Whose application had chosen a control itself; they keep it.
    pub own_choice: u64,
    /// For which the kernel refused.
    pub failed: u64,
    /// Why, the last time: an `errno`.
    pub last_error: u64,
}

/// Why rules could not be set.
#[derive(Debug, thiserror::Error)]
pub enum SteerError {
    /// The machine lacks something.
    #[error(transparent)]
    Lack(#[from] Lack),
    /// Not a folder of a cgroup2 file system.
    #[error(transparent)]
    Watch(#[from] crate::watch::WatchError),
    /// A rule's control is not loaded.
    #[error("the kernel has no control `{0}`; load it first; it has {1}")]
    Unknown(String, String),
    /// The program has room for so many.
    #[error("{0} rules; accepted: at most {MAX_RULES}")]
    TooMany(usize),
    /// Another command tries controls.
    #[error("a trial is under way; Ctrl-C ends it where it runs")]
    Busy,
    /// Connections of a trial whose command was killed wait to be read.
    #[error(
        "a trial that was killed is there; its command with its --record goes on with it, and \
         `firstflight kernel trial --clear` takes it away"
    )]
    Left,
    /// What is attached keeps its rules in another form.
    #[error(
        "another version of firstflight attached what is there; take it away first: firstflight \
         kernel steer --clear, or firstflight kernel trial --clear"
    )]
    OtherVersion,
    /// The folder of the pins, or what else is read of the system.
    #[error("{0}")]
    System(String),
    /// libbpf or the kernel refused.
    #[error("the kernel refused: {0}")]
    Refused(String),
}

impl From<libbpf_rs::Error> for SteerError {
    fn from(error: libbpf_rs::Error) -> Self {
        let refused = || Self::Refused(Complaints::with(&error));
        Complaints::lack().map_or_else(refused, Self::Lack)
    }
}

impl From<io::Error> for SteerError {
    fn from(error: io::Error) -> Self {
        Self::System(error.to_string())
    }
}

/// Sets all rules, in place of those before. Where none held, the program is attached to the
/// cgroup; else it stays where it is attached, and this version's takes the place of another's. Of
/// two rules that match, the narrower prefix decides, then the one with a port, then the cgroup
/// farther below.
///
/// # Errors
/// A control that the kernel does not have, what the machine lacks, or why the kernel refused; the
/// rules before go on then.
pub fn set(cgroup: &Path, rules: &[Rule]) -> Result<(), SteerError> {
    requirements::check_connections()?;
    requirements::check_pinning()?;
    check_known(rules.iter().map(|rule| &*rule.control))?;
    if rules.len() > MAX_RULES {
        return Err(SteerError::TooMany(rules.len()));
    }
    let folder = root();
    let _lock = lock_folder(&folder, true)?;
    if !Attached::is_in(&folder) {
        return STEER.attach(cgroup, &folder, || write(&maps(&folder)?, rules));
    }
    STEER.replace(&folder)?;
    write(&maps(&folder)?, rules)
}

/// The rules that hold, and what each has done; none if there are none.
///
/// # Errors
/// The folder cannot be read.
pub fn list() -> Result<Vec<(Rule, Counts)>, SteerError> {
    let folder = root();
    let Some(_lock) = lock_folder(&folder, false)? else { return Ok(Vec::new()) };
    if !Attached::is_in(&folder) {
        // An interrupted command left the folder.
        return Ok(Vec::new());
    }
    let [all, active, counts] = maps(&folder)?;
    let set = read_word(&active)?;
    let value = all.lookup(&set.to_ne_bytes(), MapFlags::ANY)?.unwrap_or_default();
    let mut found = Vec::new();
    for (at, rule) in read(&value).into_iter().enumerate() {
        let key = count_key(set, at).to_ne_bytes();
        let value = counts.lookup(&key, MapFlags::ANY)?.unwrap_or_default();
        let [matched, steered, own_choice, failed, last_error] =
            Fields::of(&value).longs().unwrap_or_default();
        found.push((rule, Counts { matched, steered, own_choice, failed, last_error }));
    }
    Ok(found)
}

/// Takes all rules away. Connections that were given a control keep it. Whether there were any.
///
/// # Errors
/// The folder cannot be removed.
pub fn clear() -> Result<bool, SteerError> {
    let folder = root();
    let Some(_lock) = lock_folder(&folder, false)? else { return Ok(false) };
    STEER.remove(&folder)?;
    Ok(true)
}

/// The pinned maps, in the order of [`MAPS`].
fn maps(folder: &Path) -> Result<[MapHandle; 3], SteerError> {
    let [all, active, counts] = MAPS.map(|name| Attached::map(folder, name));
    Ok([all?, active?, counts?])
}

/// Writes a set of rules into the half that is not in force, and puts it in force.
fn write([all, active, counts]: &[MapHandle; 3], rules: &[Rule]) -> Result<(), SteerError> {
    let set = 1 - read_word(active)?.min(1);
    let mut ordered: Vec<&Rule> = rules.iter().collect();
    ordered.sort_by_key(|rule| {
        let prefix = Reverse(as_v6(rule.to).prefix_len());
        (prefix, rule.port.is_none(), Reverse(rule.cgroup), rule.to, rule.port)
    });
    let mut value = [0, u32::try_from(rules.len()).unwrap_or(0)].map(u32::to_ne_bytes).concat();
    ordered.iter().for_each(|rule| value.extend(bytes_of(rule)));
    value.resize(8 + RULE * MAX_RULES, 0);
    for at in 0..MAX_RULES {
        counts.update(&count_key(set, at).to_ne_bytes(), &[0; 40], MapFlags::ANY)?;
    }
    all.update(&set.to_ne_bytes(), &value, MapFlags::ANY)?;
    active.update(&[0; 4], &set.to_ne_bytes(), MapFlags::ANY)?;
    Ok(())
}

fn read_word(map: &MapHandle) -> Result<u32, SteerError> {
    let value = map.lookup(&[0; 4], MapFlags::ANY)?.unwrap_or_default();
    Ok(Fields::of(&value).word().unwrap_or_default())
}

/// The kernel has these controls.
pub(crate) fn check_known<'a>(
    mut controls: impl Iterator<Item = &'a str>,
) -> Result<(), SteerError> {
    let known = available();
    let unknown = controls.find(|control| !known.iter().any(|name| name == control));
    unknown.map_or(Ok(()), |name| Err(SteerError::Unknown(name.to_owned(), known.join(", "))))
}

/// A control's name as the kernel takes it.
pub(crate) fn name_bytes(control: &str) -> Vec<u8> {
    let mut name = control.as_bytes().to_vec();
    name.resize(LONGEST_NAME + 1, 0);
    name
}

/// `struct rule`.
pub(crate) fn bytes_of(rule: &Rule) -> Vec<u8> {
    let net = as_v6(rule.to);
    let name = name_bytes(&rule.control);
    let numbers = [rule.port.unwrap_or(0), rule.per_mille].map(|it| u32::from(it).to_ne_bytes());
    let Cgroup { id, level } = rule.cgroup.unwrap_or(Cgroup { id: 0, level: 0 });
    let (id, level) = (id.to_ne_bytes(), u64::from(level).to_ne_bytes());
    let (network, mask) = (net.network().octets(), net.netmask().octets());
    [&network[..], &mask, numbers.as_flattened(), &name, &id, &level].concat()
}

/// The rules of `struct rules`.
fn read(value: &[u8]) -> Vec<Rule> {
    let Some((head, rules)) = value.split_at_checked(8) else { return Vec::new() };
    let count = Fields::of(&head[4..]).word().unwrap_or_default();
    let count = usize::try_from(count).unwrap_or_default();
    rules.chunks_exact(RULE).take(count).filter_map(rule_of).collect()
}

/// The rule of `struct rule`.
fn rule_of(bytes: &[u8]) -> Option<Rule> {
    let mut fields = Fields::of(bytes);
    let (address, mask): ([u8; 16], [u8; 16]) = (fields.take()?, fields.take()?);
    let net = Ipv6Net::with_netmask(address.into(), Ipv6Addr::from(mask)).ok()?;
    let (port, per_mille) = (fields.word()?, fields.word()?);
    let control = fields.name()?;
    let (id, level) = (fields.long()?, fields.word()?);
    Some(Rule {
        to: as_written(net),
        port: u16::try_from(port).ok().filter(|port| *port > 0),
        per_mille: u16::try_from(per_mille).ok()?,
        control,
        cgroup: Some(Cgroup { level, id }).filter(|_| id != 0),
    })
}

/// A prefix of IPv4 as the one of the addresses ::ffff:a.b.c.d.
fn as_v6(net: IpNet) -> Ipv6Net {
    match net {
        IpNet::V6(net) => net.trunc(),
        IpNet::V4(net) => {
            let address = net.network().to_ipv6_mapped();
            Ipv6Net::new_assert(address, 96 + net.prefix_len())
        }
    }
}

fn as_written(net: Ipv6Net) -> IpNet {
    match (net.addr().to_canonical(), net.prefix_len().checked_sub(96)) {
        (address @ IpAddr::V4(_), Some(length)) => IpNet::new_assert(address, length),
        _ => IpNet::V6(net),
    }
}

fn root() -> PathBuf {
    Path::new(BPFFS).join("firstflight-steer")
}

fn count_key(set: u32, rule: usize) -> u32 {
    u32::try_from(set as usize * MAX_RULES + rule).unwrap_or_default()
}

const STEER: Attached = Attached {
    name: "ff_steer",
    object: include_bytes!(concat!(env!("OUT_DIR"), "/steer.o")),
    maps: &MAPS,
};
const MAPS: [&str; 3] = ["rules", "active", "counts"];

/// `MAX_RULES` of c/bpf/steer.h.
const MAX_RULES: usize = 64;
/// The size of `struct rule`.
const RULE: usize = 72;

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(to: &str, port: Option<u16>) -> Rule {
        let (to, cgroup) = (to.parse().unwrap(), port.map(|_| Cgroup { level: 2, id: 77 }));
        Rule { to, port, per_mille: 50, control: "ff_scout".to_owned(), cgroup }
    }

    #[test]
    fn rules_are_read_as_they_were_written() {
        let rules =
            [rule("192.0.2.0/24", Some(443)), rule("2001:db8::/32", None), rule("0.0.0.0/0", None)];
        let mut value = [0_u32.to_ne_bytes(), 3_u32.to_ne_bytes()].concat();
        rules.iter().for_each(|rule| value.extend(bytes_of(rule)));
        assert_eq!(value.len(), 8 + 3 * RULE);
        assert_eq!(read(&value), rules);
        assert_eq!(read(&[]), []);
        assert_eq!(read(&[255; 100]).len(), 0, "not what this program writes");
    }

    #[test]
    fn every_address_is_one_of_ipv6() {
        assert_eq!(as_v6("192.0.2.0/24".parse().unwrap()).to_string(), "::ffff:192.0.2.0/120");
        assert_eq!(as_v6("::/0".parse().unwrap()).prefix_len(), 0);
    }
}
