//! The dispersion of a pair of 1500-byte packets at 40 Mbit/s: 300 us, by the receiving kernel's
//! time stamps, because waking a receiver takes a sixth of that.

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd as _;
use std::thread;
use std::time::Duration;

use firstflight_control::quantity::Rate;
use firstflight_lab::link::{DirectionSpec, LinkSpec};
use firstflight_lab::path::far_address;
use firstflight_lab::{LinkKind, Path, lab_figures};
use firstflight_runner::RunError;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeValLike as _;

pub(crate) fn measure() -> Result<(), RunError> {
    let delay_ns = 25_000_000;
    let forward = DirectionSpec {
        rate: Some(Rate::from_bps(40_000_000)),
        delay_ns,
        ..DirectionSpec::default()
    };
    let backward = DirectionSpec { delay_ns, ..DirectionSpec::default() };
    let spin_ns = crate::SPIN_NS;
    let spec = LinkSpec { forward, backward, mtu: 1_500, spin_ns, ..LinkSpec::default() };
    let path = Path::new(&spec)?;
    let failed = |error: std::io::Error| RunError::Failed(format!("a packet pair: {error}"));
    let far = far_address(0);
    let receiver = path.far.run(|| UdpSocket::bind((far, 7))).and_then(|s| s).map_err(failed)?;
    let sender = path.near.run(|| UdpSocket::bind("0.0.0.0:0")).and_then(|s| s).map_err(failed)?;
    receiver.set_read_timeout(Some(Duration::from_secs(1))).map_err(failed)?;
    sender.connect((far, 7)).map_err(failed)?;
    setsockopt(&receiver, sockopt::ReceiveTimestampns, &true)
        .map_err(|error| failed(error.into()))?;
    let mut gaps = Vec::new();
    let payload = [0_u8; 1_500 - 28];
    for _ in 0..PAIRS {
        sender.send(&payload).and_then(|_| sender.send(&payload)).map_err(failed)?;
        let mut arrivals = [0_i64; 2];
        for arrival in &mut arrivals {
            *arrival = received_ns(&receiver).map_err(failed)?;
        }
        gaps.push((arrivals[1] - arrivals[0]) as f64 / 1e3);
        thread::sleep(Duration::from_millis(3));
    }
    gaps.sort_by(f64::total_cmp);
    let at = |share: f64| gaps[(gaps.len() as f64 * share) as usize];
    let lab = lab_figures(&path.stop(), LinkKind::Tun, "udp", 2 * delay_ns);
    let median = format!("{:.0} us", at(0.5));
    crate::row("packet pair, 40 Mbit/s: median dispersion", &median, &lab, "300 us +- 10 %");
    let spread = format!("{:.0}..{:.0}", at(0.05), at(0.95));
    crate::row("    5 % to 95 %, us", &spread, &lab, "");
    Ok(())
}

/// When the kernel received the next packet.
fn received_ns(receiver: &UdpSocket) -> std::io::Result<i64> {
    let mut payload = [0; 2_000];
    let mut parts = [IoSliceMut::new(&mut payload)];
    let mut room = nix::cmsg_space!(nix::sys::time::TimeSpec);
    let flags = MsgFlags::empty();
    let message = recvmsg::<()>(receiver.as_raw_fd(), &mut parts, Some(&mut room), flags)?;
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmTimestampns(at) = control {
            return Ok(at.num_nanoseconds());
        }
    }
    Err(std::io::Error::other("the kernel gave no time stamp"))
}

const PAIRS: usize = 300;
