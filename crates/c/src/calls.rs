//! The functions of C. Their docs are the header's.
//!
//! # Safety
//! Of all functions: a pointer is null, or points to what its type says, aligned, and nobody else
//! writes there during the call. A sender is one that `firstflight_new` or `firstflight_place` made
//! and `firstflight_free` has not freed, or memory of its size that is all zero.
#![allow(unsafe_code, reason = "the callers are programs in C")]
#![allow(clippy::missing_safety_doc, reason = "it is the same for all, and stands above")]

use core::ffi::{CStr, c_char};
use core::mem::{align_of, size_of};
use core::ptr;

use firstflight_core::units::Bytes;
use firstflight_core::view::{Phase, Window};

use crate::abi::*;
use crate::adapter::{Adapter, Answer, stage};
use crate::error::say;
use crate::making::{Policies, policies};

/// The sender of a connection. One thread at a time calls for it.
pub struct Sender {
    adapter: Adapter<Policies>,
    /// `firstflight_new` took the memory from the heap.
    on_heap: bool,
}

/// There is nothing that a caller's memory could leak.
#[cfg(not(feature = "conformance"))]
const _: () = assert!(!core::mem::needs_drop::<Sender>());

/// The library's version of this header's interface: `FIRSTFLIGHT_ABI`.
#[unsafe(no_mangle)]
pub extern "C" fn firstflight_abi() -> u32 {
    FIRSTFLIGHT_ABI
}

/// The sentence of a code that a call answered. It is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn firstflight_error_text(code: i32) -> *const c_char {
    Error::text(code).as_ptr()
}

/// How many bytes a sender takes, whatever its control.
#[unsafe(no_mangle)]
pub extern "C" fn firstflight_size() -> usize {
    size_of::<Sender>()
}

/// The alignment of a sender, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn firstflight_align() -> usize {
    align_of::<Sender>()
}

/// The configuration of a TCP with packets of `mss` bytes of payload, which the stack then
/// corrects: RFC 6928's first window, and nothing provided but the times of ACKs.
#[unsafe(no_mangle)]
pub extern "C" fn firstflight_tcp(mss: u64) -> Config {
    config(mss, TCP_WINDOW, FIRSTFLIGHT_LIMITS_GROWTH | FIRSTFLIGHT_PER_PACKET)
}

/// The configuration of a QUIC with datagrams of `mss` bytes: RFC 9002's first window. Report ACKs
/// by `firstflight_on_packet_acked` and `firstflight_on_frame`.
#[unsafe(no_mangle)]
pub extern "C" fn firstflight_quic(mss: u64) -> Config {
    let of_tcp = FIRSTFLIGHT_LIMITS_GROWTH | FIRSTFLIGHT_PER_PACKET;
    let of_quic = FIRSTFLIGHT_SEGMENT_PER_ACK | FIRSTFLIGHT_HALVES_WINDOW;
    let config = config(mss, QUIC_WINDOW, of_tcp | of_quic);
    Config { provides: config.provides | FIRSTFLIGHT_RECOVERY_WINDOW, ..config }
}

/// Ten packets, but no more than `most` bytes, or two packets.
fn config(mss: u64, most: u64, rules: u32) -> Config {
    Config {
        abi: FIRSTFLIGHT_ABI,
        provides: FIRSTFLIGHT_TIMES,
        rules,
        own_pacer: 0,
        mss,
        initial_window: mss.saturating_mul(10).min(mss.saturating_mul(2).max(most)),
        initial_ssthresh: FIRSTFLIGHT_NEVER,
        max_cwnd: FIRSTFLIGHT_NEVER,
    }
}

/// RFC 6928 section 2.
const TCP_WINDOW: u64 = 14_600;
/// RFC 9002 section 7.2.
const QUIC_WINDOW: u64 = 14_720;

/// Makes a sender of a control as users write it, such as `hystart-pp` or `scout(...)+cubic`, in
/// memory of the heap, and puts it into `*made`. `message`, if it is not null, has room for so many
/// bytes and gets a sentence if something is wrong: what was found and what is accepted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_new(
    control: *const c_char,
    config: *const Config,
    made: *mut *mut Sender,
    message: *mut c_char,
    room: usize,
) -> Error {
    let message = unsafe { place_for(message, room) };
    #[cfg(not(feature = "std"))]
    {
        let _ = (control, config, made);
        explained(Error::Build, message)
    }
    #[cfg(feature = "std")]
    {
        let layout = std::alloc::Layout::new::<Sender>();
        let memory = unsafe { std::alloc::alloc(layout) }.cast::<Sender>();
        let size = if memory.is_null() { 0 } else { size_of::<Sender>() };
        let at = (memory, size, true);
        let answer = unsafe { make(at, control, config, made, message) };
        if answer != Error::Ok && !memory.is_null() {
            unsafe { std::alloc::dealloc(memory.cast(), layout) };
        }
        answer
    }
}

/// Makes a sender as `firstflight_new` does, in memory of the caller's, which must not move: `size`
/// bytes at least `firstflight_size`, aligned to `firstflight_align`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_place(
    memory: *mut core::ffi::c_void,
    size: usize,
    control: *const c_char,
    config: *const Config,
    made: *mut *mut Sender,
    message: *mut c_char,
    room: usize,
) -> Error {
    let message = unsafe { place_for(message, room) };
    unsafe { make((memory.cast(), size, false), control, config, made, message) }
}

/// The caller's room for a message, all zero; empty without one.
unsafe fn place_for<'a>(message: *mut c_char, room: usize) -> &'a mut [u8] {
    if message.is_null() || isize::try_from(room).is_err() {
        return &mut [];
    }
    // The caller's bytes need not have been written before.
    unsafe { ptr::write_bytes(message, 0, room) };
    unsafe { core::slice::from_raw_parts_mut(message.cast(), room) }
}

fn explained(error: Error, message: &mut [u8]) -> Error {
    if message.first() == Some(&0) {
        say(Error::text(error as i32).to_str().unwrap_or_default(), message);
    }
    error
}

unsafe fn make(
    (memory, size, on_heap): (*mut Sender, usize, bool),
    control: *const c_char,
    config: *const Config,
    made: *mut *mut Sender,
    message: &mut [u8],
) -> Error {
    let (Some(config), Some(made)) = (unsafe { config.as_ref() }, unsafe { made.as_mut() }) else {
        return explained(Error::Null, message);
    };
    *made = ptr::null_mut();
    if control.is_null() {
        return explained(Error::Null, message);
    }
    if memory.is_null() || size < size_of::<Sender>() || !memory.is_aligned() {
        return explained(Error::Memory, message);
    }
    let text = unsafe { CStr::from_ptr(control) }.to_str().map_err(|_| Error::Control);
    let policies = config.check().and(text).and_then(|text| policies(text, config, message));
    match policies {
        Err(error) => explained(error, message),
        Ok(policies) => {
            let sender = Sender { adapter: Adapter::new(policies, config), on_heap };
            unsafe { memory.write(sender) };
            *made = memory;
            Error::Ok
        }
    }
}

/// The sender is needed no more: its memory goes back to the heap if `firstflight_new` took it from
/// there, and to the caller otherwise. Null is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_free(sender: *mut Sender) {
    if unsafe { adapter(sender) }.is_err() {
        return;
    }
    let on_heap = unsafe { (*sender).on_heap };
    unsafe { ptr::drop_in_place(sender) };
    unsafe { (&raw mut (*sender).adapter.stage).write(0) };
    #[cfg(feature = "std")]
    if on_heap {
        let layout = std::alloc::Layout::new::<Sender>();
        unsafe { std::alloc::dealloc(sender.cast(), layout) };
    }
    let _ = on_heap;
}

/// The adapter of a sender.
#[inline(always)]
unsafe fn adapter<'a>(sender: *mut Sender) -> Result<&'a mut Adapter<Policies>, Error> {
    if sender.is_null() {
        return Err(Error::Null);
    }
    match stage::is_one(unsafe { (*sender).adapter.stage }) {
        true => Ok(unsafe { &mut (*sender).adapter }),
        false => Err(Error::Sender),
    }
}

/// The adapter and the event, if neither pointer is null and data may leave: one comparison.
#[inline(always)]
unsafe fn begun<'a, T>(
    sender: *mut Sender,
    event: *const T,
) -> Option<(&'a mut Adapter<Policies>, &'a T)> {
    let has_begun = !sender.is_null() && unsafe { (*sender).adapter.stage } == stage::BEGUN;
    let event = unsafe { event.as_ref() }.filter(|_| has_begun)?;
    Some((unsafe { &mut (*sender).adapter }, event))
}

/// Why a sender cannot take an event now. It is cold, so that the usual call stays short.
#[cold]
#[inline(never)]
unsafe fn not_begun<T>(sender: *mut Sender, event: *const T) -> Error {
    match (unsafe { given(event) }, unsafe { adapter(sender) }) {
        (Err(error), _) | (_, Err(error)) => error,
        _ => Error::Order,
    }
}

/// The adapter of a sender that is only read.
#[inline(always)]
unsafe fn read<'a>(sender: *const Sender) -> Result<&'a Adapter<Policies>, Error> {
    unsafe { adapter(sender.cast_mut()) }.map(|adapter| &*adapter)
}

/// What a pointer points to.
#[inline(always)]
unsafe fn given<'a, T>(pointer: *const T) -> Result<&'a T, Error> {
    unsafe { pointer.as_ref() }.ok_or(Error::Null)
}

#[inline(always)]
fn code(answer: Answer) -> Error {
    match answer {
        Ok(()) => Error::Ok,
        Err(error) => error,
    }
}

/// Before `firstflight_begin`: an earlier connection over the path learned this
/// (`firstflight_learned`); `kind` is `FIRSTFLIGHT_OWN` or `FIRSTFLIGHT_SHARED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_on_hint(
    sender: *mut Sender,
    now: u64,
    kind: u32,
    learned: *const Learned,
) -> Error {
    let learned = unsafe { given(learned) };
    code(unsafe { adapter(sender) }.and_then(|it| it.on_hint(now, kind, learned?)))
}

/// Before `firstflight_begin`: the handshake ended, with an RTT in nanoseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_on_handshake(
    sender: *mut Sender,
    now: u64,
    rtt: u64,
) -> Error {
    code(unsafe { adapter(sender) }.and_then(|it| it.on_handshake(now, rtt)))
}

/// Call it once, before the first data and after hints and the handshake.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_begin(sender: *mut Sender, now: u64) -> Error {
    code(unsafe { adapter(sender) }.and_then(|it| it.begin(now)))
}

/// Data leaves. `packet`, if it is not null, becomes the state in which it leaves, to be kept
/// beside the packet and handed back with its ACK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_on_sent(
    sender: *mut Sender,
    sent: *const Sent,
    packet: *mut Packet,
) -> Error {
    match unsafe { begun(sender, sent) } {
        Some((it, sent)) => code(it.on_sent(sent, unsafe { packet.as_mut() })),
        None => unsafe { not_begun(sender, sent) },
    }
}

/// An ACK of TCP arrived. Report every ACK, duplicates too, after the losses that it reveals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_on_ack(sender: *mut Sender, ack: *const Ack) -> Error {
    match unsafe { begun(sender, ack) } {
        Some((it, ack)) => code(it.on_ack(ack, unsafe { ack.packet.as_ref() })),
        None => unsafe { not_begun(sender, ack) },
    }
}

/// A QUIC ACK frame acknowledges a packet of so many bytes that had left at `sent_at`; one call for
/// each, then `firstflight_on_frame`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_on_packet_acked(
    sender: *mut Sender,
    sent_at: u64,
    bytes: u64,
) -> Error {
    code(unsafe { adapter(sender) }.and_then(|it| it.on_packet_acked(sent_at, bytes)))
}

/// The frame is complete whose packets `firstflight_on_packet_acked` has reported.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_on_frame(sender: *mut Sender, ack: *const Ack) -> Error {
    match (unsafe { adapter(sender) }, unsafe { given(ack) }) {
        (Ok(it), Ok(ack)) => code(it.on_frame(ack, unsafe { ack.packet.as_ref() })),
        (Err(error), _) | (_, Err(error)) => error,
    }
}

/// Data was found lost, or marks came whose number the stack does not know. Report every loss,
/// during a recovery too; the sender cuts once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_on_loss(sender: *mut Sender, loss: *const Loss) -> Error {
    let loss = unsafe { given(loss) };
    code(unsafe { adapter(sender) }.and_then(|it| it.on_loss(loss?)))
}

/// TCP's recovery is over. Call it before the ACK that ended it is reported. `cwnd` is what the
/// recovery's own algorithm leaves of the window, 0 if it has no say. In QUIC
/// `firstflight_on_frame` knows it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_on_recovered(sender: *mut Sender, cwnd: u64) -> Error {
    code(unsafe { adapter(sender) }.and_then(|it| it.on_recovered(cwnd)))
}

/// The loss of the last cut was none: window and control are as before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_on_spurious_loss(sender: *mut Sender) -> Error {
    code(unsafe { adapter(sender) }.and_then(Adapter::on_spurious_loss))
}

/// Data leaves again after the source had none for `idle` nanoseconds and all was acknowledged.
/// `cwnd` and `ssthresh` are what the stack leaves of them (RFC 5681 section 4.1, RFC 7661); a cwnd
/// of 0 changes neither.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_on_rest(
    sender: *mut Sender,
    now: u64,
    idle: u64,
    cwnd: u64,
    ssthresh: u64,
) -> Error {
    let window = Window { cwnd: Bytes(cwnd), ssthresh: Bytes(ssthresh) };
    let window = (cwnd != 0).then_some(window);
    code(unsafe { adapter(sender) }.and_then(|it| it.on_rest(now, idle, window)))
}

/// The time of `firstflight_wake_at` has come.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_on_wake(sender: *mut Sender, now: u64) -> Error {
    code(unsafe { adapter(sender) }.and_then(|it| it.on_wake(now)))
}

/// The largest payload of a packet is another from now on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_set_mss(sender: *mut Sender, mss: u64) -> Error {
    code(unsafe { adapter(sender) }.and_then(|it| it.set_mss(mss)))
}

/// The congestion window, in bytes; 0 if there is no sender.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_cwnd(sender: *const Sender) -> u64 {
    unsafe { read(sender) }.map_or(0, |it| it.sender().cwnd().0)
}

/// The slow-start threshold, in bytes: `FIRSTFLIGHT_NEVER` while nothing has set it, 0 if `sender`
/// is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_ssthresh(sender: *const Sender) -> u64 {
    unsafe { read(sender) }.map_or(0, |it| it.sender().ssthresh().0)
}

/// How the next packets leave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_pacing(sender: *const Sender, pacing: *mut Pacing) -> Error {
    unsafe { put(pacing, read(sender).map(Adapter::pacing)) }
}

/// Writes what was asked for.
unsafe fn put<T>(to: *mut T, what: Result<T, Error>) -> Error {
    match what {
        Err(error) => error,
        Ok(_) if to.is_null() => Error::Null,
        Ok(what) => {
            unsafe { to.write(what) };
            Error::Ok
        }
    }
}

/// When `firstflight_on_wake` is to be called, in nanoseconds; `FIRSTFLIGHT_NEVER` if it is not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_wake_at(sender: *const Sender) -> u64 {
    let at = unsafe { read(sender) }.ok().and_then(|it| it.sender().wake_at());
    at.map_or(FIRSTFLIGHT_NEVER, |at| at.0)
}

/// 1 while start-up decides, 0 after it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_in_startup(sender: *const Sender) -> i32 {
    let phase = unsafe { read(sender) }.map(|it| it.sender().view().phase);
    (phase == Ok(Phase::Startup)).into()
}

/// 1 if the control sets the window of the recovery under way: the stack repairs within it, and
/// reduces what it sends no further.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_sets_recovery_window(sender: *const Sender) -> i32 {
    unsafe { read(sender) }.is_ok_and(|it| it.sender().policy_sets_recovery_window()).into()
}

/// 1 if, after the ACK just reported and if nothing else leaves, the last packet that is neither
/// acknowledged nor lost is to be sent again. For `FIRSTFLIGHT_REPEATS`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_repeats(sender: *const Sender) -> i32 {
    unsafe { read(sender) }.is_ok_and(|it| it.sender().repeats()).into()
}

/// What the control needs of a stack, required or wanted: facilities such as `FIRSTFLIGHT_TIMES`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_needs(sender: *const Sender) -> u32 {
    unsafe { read(sender) }.map_or(0, |it| it.sender().needs().all().bits())
}

/// How the first start-up ended; `FIRSTFLIGHT_ERROR_ORDER` if it has not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_exit(sender: *const Sender, exit: *mut Exit) -> Error {
    let answer = unsafe { read(sender) }.and_then(|it| it.exit().ok_or(Error::Order));
    let answer = answer.map(|one| Exit {
        at: one.at.0,
        cwnd: one.cwnd.0,
        in_flight: one.in_flight.0,
        why: word(one.why.name()).as_ptr(),
    });
    unsafe { put(exit, answer) }
}

/// A reason as C has it.
fn word(name: &str) -> &'static CStr {
    let words = [c"ssthresh", c"heuristic", c"loss", c"timeout", c"ecn"];
    words.into_iter().find(|word| word.to_bytes() == name.as_bytes()).unwrap_or_default()
}

/// What the connection has learned of its path, for `firstflight_on_hint` of the next one, which
/// sets its age; `FIRSTFLIGHT_ERROR_ORDER` before the first RTT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_learned(
    sender: *const Sender,
    learned: *mut Learned,
) -> Error {
    let answer = unsafe { read(sender) }.and_then(|it| it.learned().ok_or(Error::Order));
    unsafe { put(learned, answer) }
}

/// 1 if the hint proved wrong: whoever keeps it should forget it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_refutes_hint(sender: *const Sender) -> i32 {
    unsafe { read(sender) }.is_ok_and(|it| it.sender().refutes_hint()).into()
}

/// In a library built with the feature `conformance`: what was wrong with all that was reported to
/// the sender so far, a sentence a line, in `message`. `occasion` are those of the provided
/// facilities for which there was an occasion, as a loss is for `FIRSTFLIGHT_GAPS`. The answer is
/// `FIRSTFLIGHT_ERROR_NUMBER` if anything was wrong, `FIRSTFLIGHT_ERROR_BUILD` in other libraries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn firstflight_check(
    sender: *const Sender,
    occasion: u32,
    message: *mut c_char,
    room: usize,
) -> Error {
    let message = unsafe { place_for(message, room) };
    match unsafe { read(sender) } {
        Err(error) => explained(error, message),
        Ok(adapter) => checked(adapter, occasion, message),
    }
}

#[cfg(not(feature = "conformance"))]
fn checked(_: &Adapter<Policies>, _: u32, message: &mut [u8]) -> Error {
    explained(Error::Build, message)
}

#[cfg(feature = "conformance")]
fn checked(adapter: &Adapter<Policies>, occasion: u32, message: &mut [u8]) -> Error {
    let occasion = firstflight_core::needs::Facilities::from_bits(occasion);
    let report = adapter.sender().policies().startup().report();
    match report.check(occasion.unwrap_or_default()) {
        Ok(()) => Error::Ok,
        Err(complaints) => {
            say(&complaints, message);
            Error::Number
        }
    }
}
