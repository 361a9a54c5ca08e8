//! Whatever a program passes is answered by an error or does what it says, and after a sender is
//! made nothing is allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};

use firstflight_c::abi::{self, *};
use firstflight_c::calls::*;
use firstflight_core::registry::{ALIASES, STARTUPS};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng as _;

use crate::support::Made;

/// The system's heap, which counts what each thread takes from it.
struct Counted;

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = TAKEN.try_with(|taken| taken.set(taken.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static HEAP: Counted = Counted;

/// Everything declared that C can declare.
fn everything(config: Config) -> Config {
    let provides = [
        FIRSTFLIGHT_TIMES,
        FIRSTFLIGHT_RATES,
        FIRSTFLIGHT_PACKETS,
        FIRSTFLIGHT_MARKS,
        FIRSTFLIGHT_PACING,
        FIRSTFLIGHT_WAKE_UPS,
        FIRSTFLIGHT_RECOVERY_WINDOW,
        FIRSTFLIGHT_GAPS,
        FIRSTFLIGHT_MEMORY,
        FIRSTFLIGHT_SENT,
        FIRSTFLIGHT_REPEATS,
        FIRSTFLIGHT_PACED_WAKE_UPS,
        FIRSTFLIGHT_L4S,
    ];
    Config { provides: provides.into_iter().fold(0, |all, one| all | one), ..config }
}

/// Numbers in order, small, absurd, and those at the border.
fn number(random: &mut Pcg64Mcg, about: u64) -> u64 {
    match random.next_u64() % 8 {
        0 => 0,
        1 => u64::MAX,
        2 => random.next_u64(),
        3 => random.next_u64() % 10_000,
        4 => about.wrapping_sub(1),
        _ => about,
    }
}

/// Once in so many times.
fn once_in(times: u64, random: &mut Pcg64Mcg) -> bool {
    random.next_u64().is_multiple_of(times)
}

/// One event, possible or not.
fn event(sender: *mut Sender, random: &mut Pcg64Mcg, now: &mut u64, sent: &mut u64) {
    let random_now = random.next_u64() % 30_000_000;
    *now += random_now;
    let when = if once_in(10, random) { number(random, *now) } else { *now };
    // A clock that leaps to the end stays there: every later event is of the past.
    let when = if when > *now && !once_in(50, random) { *now } else { when };
    let packet = abi::Packet {
        sent_at: number(random, *now - random_now),
        delivered: number(random, *sent / 2),
        in_flight: number(random, 10_000),
        first_sent_at: number(random, *now / 2),
        delivered_at: number(random, *now / 2),
        app_limited: random.next_u64() % 2,
    };
    let ack = abi::Ack {
        now: when,
        acked: number(random, 1_000),
        credited: number(random, 1_000),
        in_flight: number(random, 5_000),
        snd_nxt: number(random, *sent),
        rtt: number(random, 50_000_000),
        marked: if once_in(9, random) { number(random, 1_000) } else { 0 },
        packet: if once_in(2, random) { &packet } else { null() },
        sample_delivered: number(random, 10_000),
        sample_interval: number(random, 50_000_000),
        sample_app_limited: random.next_u64() as u32,
        app_limited: once_in(5, random).into(),
    };
    let mut kept = abi::Packet::default();
    unsafe {
        match random.next_u64() % 16 {
            0..=4 => {
                let (bytes, in_flight) = (number(random, 1_000), number(random, 5_000));
                let leaving = abi::Sent { now: when, bytes, in_flight, ..abi::Sent::default() };
                if firstflight_on_sent(sender, &leaving, &mut kept) == Error::Ok {
                    *sent = sent.saturating_add(bytes);
                }
            }
            5..=7 => drop(firstflight_on_ack(sender, &ack)),
            8 => {
                let _ = firstflight_on_packet_acked(sender, packet.sent_at, number(random, 1_000));
                let ack = abi::Ack { acked: 0, credited: 0, snd_nxt: 0, ..ack };
                firstflight_on_frame(sender, &ack);
            }
            9 => {
                let loss = abi::Loss {
                    now: when,
                    kind: (random.next_u64() % 4) as u32,
                    flags: random.next_u64() as u32,
                    lost: number(random, 1_000),
                    gaps: (random.next_u64() % 3) as u32,
                    reserved: 0,
                    flight: number(random, 9_000),
                    sent_at: number(random, packet.sent_at),
                };
                firstflight_on_loss(sender, &loss);
            }
            10 => drop(firstflight_on_recovered(sender, number(random, 9_000))),
            11 => drop(firstflight_on_spurious_loss(sender)),
            12 => {
                let (idle, cwnd) = (number(random, 1_000_000), number(random, 4_000));
                firstflight_on_rest(sender, when, idle, cwnd, number(random, 9_000));
            }
            13 => drop(firstflight_on_wake(sender, when)),
            14 => drop(firstflight_set_mss(sender, number(random, 1_000))),
            _ => read_all(sender),
        }
    }
}

unsafe fn read_all(sender: *const Sender) {
    let mut pacing = abi::Pacing::default();
    let mut learned = abi::Learned::default();
    let mut exit = abi::Exit { at: 0, cwnd: 0, in_flight: 0, why: null() };
    unsafe {
        firstflight_pacing(sender, &mut pacing);
        firstflight_learned(sender, &mut learned);
        if firstflight_exit(sender, &mut exit) == Error::Ok {
            assert!(!CStr::from_ptr(exit.why).is_empty());
        }
        firstflight_ssthresh(sender);
        firstflight_wake_at(sender);
        firstflight_in_startup(sender);
        firstflight_sets_recovery_window(sender);
        firstflight_repeats(sender);
        firstflight_needs(sender);
        firstflight_refutes_hint(sender);
    }
}

#[test]
fn no_numbers_crash_any_control_and_none_allocates_after_the_making() {
    let mut random = Pcg64Mcg::new(0x00c0_ffee);
    let names = STARTUPS.iter().map(|card| card.name).chain(ALIASES.iter().map(|one| one.name));
    let controls: Vec<String> = names
        .flat_map(|name| [name.to_owned(), format!("landed({name})+abba")])
        .filter(|name| Made::of(name, &everything(firstflight_tcp(1_000))).is_ok())
        .collect();
    assert!(controls.len() > 80, "{}", controls.len());
    for control in &controls {
        for config in [firstflight_tcp(1_000), firstflight_quic(1_000)] {
            let config = everything(config);
            let made = Made::of(control, &config).unwrap();
            let (sender, mut now, mut sent) = (made.0, 1, 0);
            let before = TAKEN.get();
            let hint = abi::Learned { rtt: 1_000_000, min_rtt: 1, ..abi::Learned::default() };
            unsafe {
                firstflight_on_hint(sender, number(&mut random, 1), FIRSTFLIGHT_OWN, &hint);
                firstflight_on_handshake(sender, 1, number(&mut random, 1_000_000));
                firstflight_begin(sender, 1);
            }
            for _ in 0..400 {
                event(sender, &mut random, &mut now, &mut sent);
                let cwnd = unsafe { firstflight_cwnd(sender) };
                assert!(cwnd > 0, "{control}");
            }
            assert_eq!(TAKEN.get(), before, "{control} allocates");
        }
    }
}

#[test]
fn null_is_answered_everywhere() {
    let (nobody, made) = (null_mut(), Made::of("newreno", &firstflight_tcp(1_000)).unwrap());
    let one = made.0;
    let zero = 0_u64;
    unsafe {
        let ack = null::<abi::Ack>();
        let answers = [
            firstflight_on_hint(nobody, 1, 0, null()),
            firstflight_on_hint(one, 1, 0, null()),
            firstflight_on_handshake(nobody, 1, 1),
            firstflight_begin(nobody, 1),
            firstflight_on_sent(nobody, null(), null_mut()),
            firstflight_on_sent(one, null(), null_mut()),
            firstflight_on_ack(nobody, ack),
            firstflight_on_ack(one, ack),
            firstflight_on_packet_acked(nobody, 1, 1),
            firstflight_on_frame(nobody, ack),
            firstflight_on_frame(one, ack),
            firstflight_on_loss(nobody, null()),
            firstflight_on_loss(one, null()),
            firstflight_on_recovered(nobody, 0),
            firstflight_on_spurious_loss(nobody),
            firstflight_on_rest(nobody, 1, 1, 1, 1),
            firstflight_on_wake(nobody, 1),
            firstflight_set_mss(nobody, 1),
            firstflight_pacing(nobody, null_mut()),
            firstflight_pacing(one, null_mut()),
            firstflight_exit(nobody, null_mut()),
            firstflight_learned(nobody, null_mut()),
            firstflight_check(nobody, 0, null_mut(), 5),
            firstflight_new(null(), null(), null_mut(), null_mut(), 9),
        ];
        assert!(answers.iter().all(|answer| *answer == Error::Null), "{answers:?}");
        read_all(nobody);
        assert_eq!(firstflight_cwnd(nobody), 0);
        firstflight_free(nobody);
        // Memory in which nobody made a sender.
        let blank = vec![zero; firstflight_size() / 8 + 1];
        let blank = blank.as_ptr().cast::<Sender>().cast_mut();
        assert_eq!(firstflight_begin(blank, 1), Error::Sender);
        firstflight_free(blank);
    }
}

#[test]
fn a_wrong_making_is_told_in_a_sentence() {
    let refusal = |control: &str, config: Config| match Made::of(control, &config) {
        Ok(_) => panic!("{control} is made"),
        Err(refusal) => refusal,
    };
    let tcp = firstflight_tcp(1_000);
    let (error, text) = refusal("hystrat", tcp);
    assert!(error == Error::Control && text.contains("did you mean `hystart`"), "{text}");
    let (error, text) = refusal("slow-start(iw=0.5)", tcp);
    assert!(error == Error::Control && text.contains("accepted"), "{text}");
    let (error, text) = refusal("xcp", everything(tcp));
    assert!(error == Error::Lacks && text.contains("which the stack does not provide"), "{text}");
    let (error, text) = refusal("careful-resume", Config { provides: 0, ..tcp });
    assert!(error == Error::Lacks && text.contains("the times of ACKs"), "{text}");
    assert_eq!(refusal("newreno", Config { abi: 1, ..tcp }).0, Error::Abi);
    let wrong = [
        Config { mss: 0, ..tcp },
        Config { mss: u64::MAX, ..tcp },
        Config { provides: 1 << 9, ..tcp },
        Config { provides: 1 << 16, ..tcp },
        Config { rules: 1 << 6, ..tcp },
        Config { own_pacer: 70_000, ..tcp },
    ];
    for config in wrong {
        let (error, text) = refusal("newreno", config);
        assert!(error == Error::Config && text.contains("no meaning"), "{config:?}: {text}");
    }
    for code in -1..13 {
        let text = unsafe { CStr::from_ptr(firstflight_error_text(code)) };
        assert_eq!(text.to_bytes().starts_with(b"no code"), !(0..12).contains(&code), "{code}");
    }
}

#[test]
fn the_callers_memory_is_used_where_it_is_large_enough_and_aligned() {
    let config = firstflight_tcp(1_000);
    let size = firstflight_size();
    let mut memory = vec![0_u128; size / 16 + 2];
    let start = memory.as_mut_ptr().cast::<u8>();
    let mut made = null_mut();
    let mut message = [1 as c_char; 8];
    let mut place = |at: usize, size: usize| unsafe {
        let control = c"hystart-pp".as_ptr();
        let at = start.add(at).cast();
        let (room, text) = (message.len(), message.as_mut_ptr());
        firstflight_place(at, size, control, &config, &mut made, text, room)
    };
    assert!(firstflight_align() <= 16 && size < 64 << 10, "{size}");
    assert_eq!(place(0, size - 1), Error::Memory);
    assert_eq!(place(1, size), Error::Memory);
    assert_eq!(place(0, size), Error::Ok);
    assert!(message.contains(&0), "a message that has no room ends all the same");
    assert_eq!(made.cast::<u8>(), start);
    unsafe {
        assert_eq!(firstflight_cwnd(made), 10_000);
        firstflight_free(made);
        assert_eq!(firstflight_begin(made, 1), Error::Sender, "freed");
    }
}

#[test]
fn what_contradicts_is_refused_and_changes_nothing() {
    let made = Made::of("newreno", &firstflight_tcp(1_000)).unwrap();
    let one = made.0;
    let sent = |now, bytes, in_flight| unsafe {
        let sent = abi::Sent { now, bytes, in_flight, ..abi::Sent::default() };
        firstflight_on_sent(one, &sent, null_mut())
    };
    let acked = |now, acked, credited, in_flight| unsafe {
        let zero: abi::Ack = std::mem::zeroed();
        let snd_nxt = 10_000;
        firstflight_on_ack(one, &abi::Ack { now, acked, credited, in_flight, snd_nxt, ..zero })
    };
    let lost = |now, kind, lost, gaps| unsafe {
        let loss = abi::Loss { now, kind, lost, gaps, flight: 5_000, ..abi::Loss::default() };
        firstflight_on_loss(one, &loss)
    };
    let before = [sent(5, 1_000, 1_000), acked(5, 0, 0, 0), lost(5, 0, 1_000, 1)];
    assert_eq!(before, [Error::Order; 3], "nothing has begun");
    unsafe {
        assert_eq!(firstflight_begin(one, 5), Error::Ok);
        assert_eq!(firstflight_begin(one, 5), Error::Order);
        assert_eq!(firstflight_on_handshake(one, 5, 9), Error::Order);
        let learned = abi::Learned { rtt: 1, min_rtt: 1, ..abi::Learned::default() };
        assert_eq!(firstflight_on_hint(one, 5, 0, &learned), Error::Order);
        assert_eq!(firstflight_on_wake(one, 5), Error::Order, "nobody sleeps");
        let zero: abi::Ack = std::mem::zeroed();
        assert_eq!(firstflight_on_frame(one, &abi::Ack { now: 5, ..zero }), Error::Order);
    }
    assert_eq!(sent(4, 1_000, 1_000), Error::Time);
    let wrong = [
        sent(5, 1_000, 2_000),
        sent(5, 1_000, 999),
        acked(5, 1, 1, 0),
        lost(5, 0, 1, 1),
        lost(5, 0, 0, 0),
        lost(5, 7, 0, 0),
    ];
    assert_eq!(wrong, [Error::Number; 6], "nothing was sent");
    assert_eq!(unsafe { firstflight_cwnd(one) }, 10_000);
    assert_eq!(sent(5, 10_000, 10_000), Error::Ok);
    let wrong = [acked(9, 10_001, 10_000, 0), acked(9, 10_000, 10_001, 0), acked(9, 1, 1, 10_001)];
    assert_eq!(wrong, [Error::Number; 3]);
    assert_eq!(lost(9, 2, 1_000, 1), Error::Number, "a mark loses nothing");
    assert_eq!(acked(9, 1_000, 1_000, 9_000), Error::Ok);
    assert_eq!(unsafe { firstflight_cwnd(one) }, 11_000);
}
