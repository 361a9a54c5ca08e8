//! The kernel's C and the Rust core, fed the same events, hold the same cwnd and ssthresh after
//! every one: for every control that has C, on streams like a connection's and on streams that no
//! connection would make.

mod parity {
    pub(crate) mod both;
    pub(crate) mod draw;
    pub(crate) mod path;
    pub(crate) mod random_knobs;
    pub(crate) mod wild;
}

use firstflight_control::Control;
use firstflight_kernel::KernelControl;
use firstflight_kernel::catalogue::PAIRS;
use firstflight_parity::{high_half, mul_div};

use parity::both::Both;
use parity::draw::Draw;
use parity::{path, random_knobs, wild};

/// Controls with the knobs that have a branch of their own in C.
const CONTROLS: &[&str] = &[
    "newreno",
    "slow-start(iw=4pkt,ssthresh=none)",
    "slow-start(preset=rfc3390,ssthresh=64KiB)",
    "slow-start(preset=rfc6928)",
    "slow-start(count=acks,ssthresh=none)",
    "astart",
    "astart(preset=paper)",
    "astart(iw=64KiB,ssthresh=2pkt,ere.N=0)",
    "astart(ere.filter=plain,ere.null_m=8)",
    "astart(ere.filter=const,ere.umax_window=0)",
    "astart(ere.re_update=rtt,ere.null_m=0,ere.umax_window=1)",
    "astart(ere.eps=0,ere.N=100,ere.tmin=1s)",
    "astart(ere.eps=1,ere.umax_window=3)",
    "astart(preset=ns2)",
    "astart(preset=ns2)+westwood(lg=on,lg.eps=0.6,lg.tick=10ms)",
    "tcpw-a",
    "astart(preset=paper)+westwood(lg=on,lg.eps=0.6)",
    "tcpw-a(preset=paper)",
    "tcpw-a(preset=ns2)",
    "astart(ere.N=0)+westwood(ere.N=10,ere.tick=10ms,lg=on)",
    "tcpw-a(lg.beta=0,lg.guard_rtts=0,lg.eps=0)",
    "tcpw-a(lg.beta=1,lg.eps=1)",
    "liw",
    "liw(iw=100KB)",
    "bc",
    "bc(limit=7,ssthresh=none)",
    "dbc",
    "dbc(dmax=100,wth=hoe)",
    "dbc(dmax=1.5,wth=ere,ssthresh=none)",
    "hoe",
    "hoe(span=1)",
    "hoe(preset=ns2)",
    "vegas",
    "vegas(gamma=0,grow_every=1)+vegas(alpha=0,beta=1)",
    "vegas(first=grows)",
    "vegas(first=holds,gamma=30)+vegas(alpha=5,beta=20)",
    "mstart",
    "mstart(preset=simulation,several=each,after_rto=continue)",
    "mstart(P=3,cycle=10..0,reset_per_rtt=on,until=half,several=each)+cubic(preset=ns2)",
    "cubic",
    "slow-start+cubic(preset=ns2,max_increment=0)",
    "slow-start+cubic(beta=0.1,c=100,fast_convergence=off)",
    "slow-start+cubic(c=0.001,friendly=off)",
    "hystart",
    "hystart(detect=train,train=whole,low_window=1)",
    "hystart(ssthresh=none,iw=100pkt)",
    "hystart(detect=delay,ssthresh=none)",
];

/// Over all controls three million ACKs, in two kinds of streams.
const ACKS: u64 = 3_000_000;

#[test]
fn cwnd_and_ssthresh_are_equal_after_every_ack() {
    let share = ACKS / CONTROLS.len() as u64 / 2;
    let (mut acks, mut cuts, mut grown) = (0, 0, 0);
    for (number, text) in CONTROLS.iter().enumerate() {
        let mut draw = Draw::new(number as u64);
        for kind in [path::drive, wild::drive] {
            let mut done = 0;
            while done < share {
                let mut both = Both::new(text, &mut draw);
                kind(&mut both, &mut draw);
                done += both.acks;
                cuts += both.cuts;
                grown += both.grown;
            }
            acks += done;
        }
    }
    println!("{acks} ACKs, of which {grown} opened cwnd, and {cuts} cuts, all equal");
    assert!(acks >= ACKS, "only {acks} ACKs");
    assert!(grown > acks / 4 && cuts > acks / 1_000, "{grown} opened cwnd, {cuts} cuts");
}

/// Connections whose knobs nobody chose, each short, so that there are many sets of knobs.
const RANDOM_CONNECTIONS: u64 = 3_000;

#[test]
fn random_knobs_are_the_same_knobs_in_c() {
    let mut draw = Draw::new(1 << 32);
    let (mut acks, mut cuts) = (0, 0);
    for connection in 0..RANDOM_CONNECTIONS {
        let pair = &PAIRS[connection as usize % PAIRS.len()];
        let text = random_knobs::control(pair, &mut draw);
        let mut both = Both::new(&text, &mut draw);
        if draw.once_in(4) {
            wild::drive(&mut both, &mut draw);
        } else {
            path::drive(&mut both, &mut draw);
        }
        acks += both.acks;
        cuts += both.cuts;
    }
    println!("{RANDOM_CONNECTIONS} sets of knobs, {acks} ACKs and {cuts} cuts, all equal");
    assert!(acks > 1_000_000 && cuts > 10_000, "{acks} ACKs, {cuts} cuts");
}

/// Quotients of two 64-bit digits in base 2^32 need their corrections only now and then.
#[test]
fn wide_products_and_quotients_are_exact() {
    let mut draw = Draw::new(0);
    for _ in 0..1_000_000 {
        let (a, b, den) = (draw.any_size(), draw.any_size(), draw.any_size());
        let product = u128::from(a) * u128::from(b);
        assert_eq!(high_half(a, b), (product >> 64) as u64, "{a} * {b}");
        let quotient = u64::try_from(product / u128::from(den.max(1))).unwrap_or(u64::MAX);
        assert_eq!(mul_div(a, b, den), quotient, "{a} * {b} / {den}");
    }
}

#[test]
fn every_pair_with_a_kernel_version_is_tested() {
    for pair in PAIRS {
        let tested = CONTROLS.iter().any(|text| {
            let control = KernelControl::new(&Control::named(text).unwrap()).unwrap();
            control.pair == pair
        });
        assert!(tested, "{}+{}", pair.startup, pair.avoidance);
    }
}
