//! Room for the descriptors of many connections.

use std::io;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises what a process may have open (`RLIMIT_NOFILE`, usually 1024) where that many connections
/// need more, of which each has three sockets: the sender's, the listener's and the receiver's.
///
/// # Errors
/// The hard limit is lower, and there is no privilege to raise it.
pub(super) fn make_room(connections: usize) -> io::Result<()> {
    let wanted = 3 * connections as u64 + OTHERS;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if soft < wanted {
        setrlimit(Resource::RLIMIT_NOFILE, wanted, hard.max(wanted))?;
    }
    Ok(())
}

/// What else is open: the link, namespaces, pipes, standard streams.
const OTHERS: u64 = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_hundred_connections_find_room() {
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        setrlimit(Resource::RLIMIT_NOFILE, hard.min(1024), hard).unwrap();
        make_room(20).unwrap();
        let soft = || getrlimit(Resource::RLIMIT_NOFILE).unwrap().0;
        assert_eq!(soft(), hard.min(1024), "few leave it as it was");
        match make_room(500) {
            Ok(()) => assert!(soft() >= 1500),
            Err(error) => assert!(hard < 1756, "{error}"),
        }
    }
}
