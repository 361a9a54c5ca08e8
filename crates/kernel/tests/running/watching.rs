//! What a watch of the whole host reports of one connection.

use std::time::{Duration, Instant};

use firstflight_kernel::requirements::Lack;
use firstflight_kernel::watch::{Connection, Watch, WatchError};

/// The one connection under a control that has closed.
pub(crate) fn closed_connection(watch: &Watch, control: &str) -> Connection {
    let until = Instant::now() + Duration::from_secs(5);
    // The other end may be reported first.
    let found = loop {
        let mut found = watch.take(Duration::from_secs(1)).unwrap();
        found.retain(|it| it.control == control);
        if !found.is_empty() || Instant::now() > until {
            break found;
        }
    };
    let [one] = &found[..] else { panic!("{control}: one connection, not {found:?}") };
    one.clone()
}

/// The watch by tracepoints; says why if there is none.
pub(crate) fn traced() -> Option<Watch> {
    match Watch::trace() {
        Ok(watch) => Some(watch),
        Err(lack @ WatchError::Lack(Lack::Tracepoint)) => {
            eprintln!("skipped by tracepoints: {lack}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
