//! Ring buffers, through which programs in the kernel hand over what they saw.

use std::time::Duration;

use libbpf_rs::{ErrorKind, MapCore, RingBufferBuilder};

/// Hands what is there to `take`, one after the other, until that returns false. Waits so long for
/// the first, or until a signal, such as that of Ctrl-C.
pub(crate) fn drain(
    map: &dyn MapCore,
    patience: Duration,
    mut take: impl FnMut(&[u8]) -> bool,
) -> Result<(), libbpf_rs::Error> {
    let mut goes_on = true;
    let mut builder = RingBufferBuilder::new();
    builder.add(map, |bytes| {
        goes_on = take(bytes);
        if goes_on { 0 } else { -1 }
    })?;
    let ring = builder.build()?;
    let polled = ring.poll(patience);
    drop(ring);
    match polled {
        Err(error) if goes_on && error.kind() != ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}
