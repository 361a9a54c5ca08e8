//! Calls into C: the only unsafe code here.
#![allow(unsafe_code, reason = "the functions of a C program are called")]

use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::hint::Learned;
use firstflight_core::sender::Config;
use firstflight_core::units::{Bytes, Instant, Rate, Span};
use firstflight_kernel::KernelControl;
use firstflight_kernel::knobs::KnobValues;

/// `struct ff_ops` of `c/host.c`.
#[repr(C)]
struct Ops {
    size: u64,
    new: unsafe extern "C" fn(*mut State, *const Knobs, *const NativeConfig),
    on_handshake: unsafe extern "C" fn(*mut State, *const Knobs, u64, u64),
    on_hint: unsafe extern "C" fn(*mut State, *const Knobs, u64, *const NativeLearned),
    begin: unsafe extern "C" fn(*mut State, *const Knobs, u64),
    on_sent: unsafe extern "C" fn(*mut State, *const NativeSent),
    on_ack: unsafe extern "C" fn(*mut State, *const Knobs, *const NativeAck),
    on_loss: unsafe extern "C" fn(*mut State, *const Knobs, *const NativeLoss),
    on_recovered: unsafe extern "C" fn(*mut State, u64),
    on_spurious_loss: unsafe extern "C" fn(*mut State),
    set_mss: unsafe extern "C" fn(*mut State, u64),
    cwnd: unsafe extern "C" fn(*const State) -> u64,
    ssthresh: unsafe extern "C" fn(*const State) -> u64,
    pace: unsafe extern "C" fn(*const State) -> u64,
    train_length: unsafe extern "C" fn(*const State) -> u64,
    train_rate: unsafe extern "C" fn(*const State) -> u64,
    refutes_hint: unsafe extern "C" fn(*const State) -> u64,
    w_max: unsafe extern "C" fn(*const State) -> u64,
    on_wake: unsafe extern "C" fn(*mut State, *const Knobs, u64),
    wake: unsafe extern "C" fn(*const State) -> u64,
    endpoint_paces: unsafe extern "C" fn(*mut State, u32),
    paced: unsafe extern "C" fn(*const State) -> u64,
    on_rest: unsafe extern "C" fn(*mut State, *const Knobs, u64, u64),
}

/// `struct ff_sender`, of which only C knows the size: 64-bit words, all zero at first.
type State = u64;

/// `struct ff_knob_values`, of which only C knows the fields: 64-bit words.
type Knobs = u64;

/// `struct ff_config`.
#[repr(C)]
struct NativeConfig {
    mss: u64,
    initial_window: u64,
    initial_ssthresh: u64,
    max_cwnd: u64,
}

/// `struct ff_ack`.
#[repr(C)]
struct NativeAck {
    now: u64,
    acked: u64,
    credited: u64,
    rtt: u64,
    in_flight: u64,
    snd_nxt: u64,
    app_limited: u64,
}

/// `struct ff_learned`.
#[repr(C)]
struct NativeLearned {
    cwnd: u64,
    ssthresh: u64,
    rtt: u64,
    min_rtt: u64,
    per_round: u64,
    age: u64,
}

/// `struct ff_sent`.
#[repr(C)]
struct NativeSent {
    now: u64,
    bytes: u64,
    in_flight: u64,
    again: u64,
}

/// `struct ff_loss`.
#[repr(C)]
struct NativeLoss {
    now: u64,
    lost: u64,
    flight: u64,
    kind: u64,
    again: u64,
    answered: u64,
}

include!(concat!(env!("OUT_DIR"), "/controls.rs"));

unsafe extern "C" {
    safe fn ff_high_half(a: u64, b: u64) -> u64;
    safe fn ff_mul_div(a: u64, b: u64, den: u64) -> u64;
}

/// The upper 64 bits of `a * b`, computed by the C that has no 128-bit arithmetic.
pub fn high_half(a: u64, b: u64) -> u64 {
    ff_high_half(a, b)
}

/// `a * b / den` by that C; it saturates, and a `den` of 0 counts as 1.
pub fn mul_div(a: u64, b: u64, den: u64) -> u64 {
    ff_mul_div(a, b, den)
}

/// A sender in C.
pub struct Native {
    ops: &'static Ops,
    knobs: KnobValues,
    state: Vec<State>,
}

impl Native {
    /// A sender for a new connection; `None` if the control's pair has no C here.
    pub fn new(control: &KernelControl, config: Config) -> Option<Self> {
        let (_, ops) = CONTROLS.iter().find(|(name, _)| *name == control.object)?;
        // SAFETY: the function takes nothing and returns the address of a static table whose
        // layout `Ops` repeats.
        let ops = unsafe { &*ops() };
        let words = usize::try_from(ops.size.div_ceil(8)).ok()?;
        let mut native = Self { ops, knobs: control.knobs.clone(), state: vec![0; words] };
        let config = NativeConfig {
            mss: config.mss.0,
            initial_window: config.initial_window.0,
            initial_ssthresh: config.initial_ssthresh.0,
            max_cwnd: config.max_cwnd.0,
        };
        // SAFETY: the state has the size and alignment that C asks for and is all zero, the knobs
        // have one word for each field of C's struct, and the configuration is a struct with the
        // layout of C's; all live for the call. Likewise below.
        unsafe { (ops.new)(native.state.as_mut_ptr(), native.knobs.words().as_ptr(), &config) };
        Some(native)
    }

    /// The size of the C state, in bytes.
    pub fn size(&self) -> u64 {
        self.ops.size
    }

    fn knobs(&self) -> *const Knobs {
        self.knobs.words().as_ptr()
    }

    /// [`firstflight_core::sender::Sender::on_handshake`].
    pub fn on_handshake(&mut self, now: Instant, rtt: Span) {
        // SAFETY: as in `new`.
        unsafe { (self.ops.on_handshake)(self.state.as_mut_ptr(), self.knobs(), now.0, rtt.0) }
    }

    /// [`firstflight_core::sender::Sender::begin`].
    pub fn begin(&mut self, now: Instant) {
        // SAFETY: as in `new`.
        unsafe { (self.ops.begin)(self.state.as_mut_ptr(), self.knobs(), now.0) }
    }

    /// [`firstflight_core::sender::Sender::on_hint`], of an earlier connection to the same host.
    pub fn on_hint(&mut self, now: Instant, learned: &Learned) {
        let learned = NativeLearned {
            cwnd: learned.window.cwnd.0,
            ssthresh: learned.window.ssthresh.0,
            rtt: learned.rtt.0,
            min_rtt: learned.min_rtt.0,
            per_round: learned.per_round.0,
            age: learned.age.0,
        };
        // SAFETY: as in `new`.
        unsafe { (self.ops.on_hint)(self.state.as_mut_ptr(), self.knobs(), now.0, &learned) }
    }

    /// [`firstflight_core::sender::Sender::on_sent`].
    pub fn on_sent(&mut self, sent: &Sent) {
        let sent = NativeSent {
            now: sent.now.0,
            bytes: sent.bytes.0,
            in_flight: sent.in_flight.0,
            again: u64::from(sent.again),
        };
        // SAFETY: as in `new`.
        unsafe { (self.ops.on_sent)(self.state.as_mut_ptr(), &sent) }
    }

    /// [`firstflight_core::sender::Sender::on_ack`], but for marks and rate samples.
    pub fn on_ack(&mut self, ack: &Ack) {
        let ack = NativeAck {
            now: ack.now.0,
            acked: ack.acked.0,
            credited: ack.credited.0,
            rtt: ack.rtt.map_or(u64::MAX, |rtt| rtt.0),
            in_flight: ack.in_flight.0,
            snd_nxt: ack.snd_nxt.0,
            app_limited: u64::from(ack.app_limited),
        };
        // SAFETY: as in `new`.
        unsafe { (self.ops.on_ack)(self.state.as_mut_ptr(), self.knobs(), &ack) }
    }

    /// [`firstflight_core::sender::Sender::on_loss`], but for marks.
    pub fn on_loss(&mut self, loss: &Loss) {
        let loss = NativeLoss {
            now: loss.now.0,
            lost: loss.lost.0,
            flight: loss.flight.0,
            kind: u64::from(loss.kind == LossKind::Timeout),
            again: u64::from(loss.again),
            answered: u64::from(loss.answered),
        };
        // SAFETY: as in `new`.
        unsafe { (self.ops.on_loss)(self.state.as_mut_ptr(), self.knobs(), &loss) }
    }

    /// [`firstflight_core::sender::Sender::on_recovered`].
    pub fn on_recovered(&mut self, cwnd: Option<Bytes>) {
        let cwnd = cwnd.map_or(u64::MAX, |cwnd| cwnd.0);
        // SAFETY: as in `new`.
        unsafe { (self.ops.on_recovered)(self.state.as_mut_ptr(), cwnd) }
    }

    /// [`firstflight_core::sender::Sender::on_spurious_loss`].
    pub fn on_spurious_loss(&mut self) {
        // SAFETY: as in `new`.
        unsafe { (self.ops.on_spurious_loss)(self.state.as_mut_ptr()) }
    }

    /// [`firstflight_core::sender::Sender::endpoint_paces`].
    pub fn endpoint_paces(&mut self, paces: bool) {
        // SAFETY: as in `new`.
        unsafe { (self.ops.endpoint_paces)(self.state.as_mut_ptr(), u32::from(paces)) }
    }

    /// [`firstflight_core::sender::Sender::on_rest`], which leaves the window as it is.
    pub fn on_rest(&mut self, now: Instant, idle: Span) {
        // SAFETY: as in `new`.
        unsafe { (self.ops.on_rest)(self.state.as_mut_ptr(), self.knobs(), now.0, idle.0) }
    }

    /// [`firstflight_core::sender::Sender::on_wake`].
    pub fn on_wake(&mut self, now: Instant) {
        // SAFETY: as in `new`.
        unsafe { (self.ops.on_wake)(self.state.as_mut_ptr(), self.knobs(), now.0) }
    }

    /// [`firstflight_core::sender::Sender::set_mss`].
    pub fn set_mss(&mut self, mss: Bytes) {
        // SAFETY: as in `new`.
        unsafe { (self.ops.set_mss)(self.state.as_mut_ptr(), mss.0) }
    }

    /// The congestion window, in bytes.
    pub fn cwnd(&self) -> Bytes {
        // SAFETY: as in `new`; C only reads it.
        Bytes(unsafe { (self.ops.cwnd)(self.state.as_ptr()) })
    }

    /// The slow-start threshold, in bytes.
    pub fn ssthresh(&self) -> Bytes {
        // SAFETY: as in `cwnd`.
        Bytes(unsafe { (self.ops.ssthresh)(self.state.as_ptr()) })
    }

    /// The rate that start-up has set, if it has.
    pub fn pace(&self) -> Option<Rate> {
        // SAFETY: as in `cwnd`.
        let rate = unsafe { (self.ops.pace)(self.state.as_ptr()) };
        (rate != u64::MAX).then_some(Rate(rate))
    }

    /// Length and rate of what leaves first at another rate, if something does, as they were
    /// decided.
    pub fn train(&self) -> Option<(Bytes, Rate)> {
        // SAFETY: as in `cwnd`.
        let (length, rate) = unsafe {
            let state = self.state.as_ptr();
            ((self.ops.train_length)(state), (self.ops.train_rate)(state))
        };
        (length != 0).then_some((Bytes(length), Rate(rate)))
    }

    /// Who paces, as `enum paced` has it; `None` of a control whose state is too small for it.
    pub fn paced(&self) -> Option<u64> {
        // SAFETY: as in `cwnd`.
        let paced = unsafe { (self.ops.paced)(self.state.as_ptr()) };
        (paced != u64::MAX).then_some(paced)
    }

    /// When start-up wants to be woken, if it does and the kernel can.
    pub fn wake_at(&self) -> Option<Instant> {
        // SAFETY: as in `cwnd`.
        let wake = unsafe { (self.ops.wake)(self.state.as_ptr()) };
        (wake != u64::MAX).then_some(Instant(wake))
    }

    /// CUBIC's W_max; `None` if the avoidance has none.
    pub fn w_max(&self) -> Option<Bytes> {
        // SAFETY: as in `cwnd`.
        let w_max = unsafe { (self.ops.w_max)(self.state.as_ptr()) };
        (w_max != u64::MAX).then_some(Bytes(w_max))
    }

    /// [`firstflight_core::sender::Sender::refutes_hint`].
    pub fn refutes_hint(&self) -> bool {
        // SAFETY: as in `cwnd`.
        unsafe { (self.ops.refutes_hint)(self.state.as_ptr()) != 0 }
    }
}
