//! What programs in the kernel write, read field by field.

use std::net::{Ipv6Addr, SocketAddr};
use std::time::Duration;

/// The fields of a struct, one after the other.
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub(crate) const fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let found = self.bytes.get(self.at..self.at + N)?.try_into().ok()?;
        self.at += N;
        Some(found)
    }

    pub(crate) fn word(&mut self) -> Option<u32> {
        self.take().map(u32::from_ne_bytes)
    }

    pub(crate) fn long(&mut self) -> Option<u64> {
        self.take().map(u64::from_ne_bytes)
    }

    pub(crate) fn longs<const N: usize>(&mut self) -> Option<[u64; N]> {
        let mut all = [0; N];
        for number in &mut all {
            *number = self.long()?;
        }
        Some(all)
    }

    pub(crate) fn nanos(&mut self) -> Option<Duration> {
        self.long().map(Duration::from_nanos)
    }

    pub(crate) fn micros(&mut self) -> Option<Duration> {
        self.word().map(|micros| Duration::from_micros(micros.into()))
    }

    /// The local and the remote end, as `struct ends` has them (c/bpf/sock_ops.h).
    pub(crate) fn ends(&mut self) -> Option<[SocketAddr; 2]> {
        let addresses: [[u8; 16]; 2] = [self.take()?, self.take()?];
        let ports = [self.word()?, self.word()?];
        Some([0, 1].map(|end| socket_address(addresses[end], ports[end])))
    }

    /// A control's name.
    pub(crate) fn name(&mut self) -> Option<String> {
        let name: [u8; 16] = self.take()?;
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        Some(String::from_utf8_lossy(name).into_owned())
    }
}

/// An end; ::ffff:a.b.c.d is shown as a.b.c.d.
fn socket_address(address: [u8; 16], port: u32) -> SocketAddr {
    let port = u16::try_from(port).unwrap_or_default();
    SocketAddr::new(Ipv6Addr::from(address).to_canonical(), port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_ipv4_is_shown_as_one() {
        let mut mapped = [0; 16];
        mapped[10..12].fill(0xff);
        mapped[12..].copy_from_slice(&[192, 0, 2, 1]);
        assert_eq!(socket_address(mapped, 443).to_string(), "192.0.2.1:443");
        let longest = Ipv6Addr::LOCALHOST.octets();
        assert_eq!(socket_address(longest, 443).to_string(), "[::1]:443");
    }
}
