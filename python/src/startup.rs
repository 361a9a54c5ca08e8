//! Start-ups that are written in Python, as policies of the core.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use firstflight_control::policy::{Own, OwnStartup};
use firstflight_control::put_startup;
use firstflight_core::card::Card;
use firstflight_core::event::{Ack, Loss, LossKind};
use firstflight_core::knob::{AnyKnobs, KnobValue};
use firstflight_core::needs::{Facilities, Needs};
use firstflight_core::policy::{Answer, Exit, Observer, Startup, Step};
use firstflight_core::view::View as Seen;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;

use crate::error;
use crate::view::{View, step};

/// What went wrong in the start-ups of one call, and whether the call is to end.
#[derive(Default)]
pub(crate) struct Faults {
    pub(crate) stop: AtomicBool,
    first: Mutex<Option<PyErr>>,
    /// The thread, as Python numbers it, that runs a method of a start-up now.
    inside: Mutex<Option<u64>>,
}

impl Faults {
    /// Ends the call; a method that is running gets a `KeyboardInterrupt`.
    pub(crate) fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
        Python::attach(|py| {
            let inside = *lock(&self.inside);
            let Some(thread) = inside else { return };
            // Without it the call ends when the method returns.
            let _ = py.import("ctypes").and_then(|ctypes| {
                let thread = ctypes.getattr("c_ulong")?.call1((thread,))?;
                let what = py.get_type::<PyKeyboardInterrupt>();
                let what = ctypes.getattr("py_object")?.call1((what,))?;
                ctypes
                    .getattr("pythonapi")?
                    .call_method1("PyThreadState_SetAsyncExc", (thread, what))
            });
        });
    }

    /// The first that went wrong.
    pub(crate) fn take(&self) -> Option<PyErr> {
        lock(&self.first).take()
    }

    fn put(&self, problem: PyErr) {
        lock(&self.first).get_or_insert(problem);
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// Faults of the call that makes its policies in this thread.
    static FAULTS: RefCell<Option<Arc<Faults>>> = const { RefCell::new(None) };
    static THREAD: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Does `work`, whose start-ups report to `faults`.
pub(crate) fn with<T>(faults: &Arc<Faults>, work: impl FnOnce() -> T) -> T {
    FAULTS.set(Some(faults.clone()));
    let done = work();
    FAULTS.set(None);
    done
}

/// All start-ups in Python, by their names.
static KNOWN: Mutex<BTreeMap<&'static str, Arc<Py<PyAny>>>> = Mutex::new(BTreeMap::new());

/// Whether a start-up of that name is in Python.
pub(crate) fn is_written_in_python(name: &str) -> bool {
    lock(&KNOWN).contains_key(name)
}

/// Whether any is.
pub(crate) fn is_any_written_in_python() -> bool {
    !lock(&KNOWN).is_empty()
}

/// The start-up in Python that has the name.
pub(crate) fn written_in_python(name: &str) -> Option<Arc<Py<PyAny>>> {
    lock(&KNOWN).get(name).cloned()
}

/// Makes start-ups known that came from another process; one that is known here stays.
pub(crate) fn make_known(py: Python<'_>, all: Vec<(String, Py<PyAny>)>) -> PyResult<()> {
    for (_, startup) in all.iter().filter(|(name, _)| !is_written_in_python(name)) {
        py.import("firstflight._startup")?.call_method1("register", (startup,))?;
    }
    Ok(())
}

/// Gives a start-up its name for the rest of the program, or replaces the one that had it.
#[pyfunction]
pub(crate) fn put(
    py: Python<'_>,
    name: &str,
    summary: String,
    partner: String,
    template: Py<PyAny>,
) -> PyResult<()> {
    let growth: u64 = template.bind(py).getattr("growth")?.extract().map_err(|_| {
        error::input(&format!("start-up `{name}`: growth; accepted: a whole number"))
    })?;
    let paces = template.bind(py).getattr("paces")?.is_truthy()?;
    // One name, and one card for each change of it, in the memory of the program.
    let known = lock(&KNOWN).get_key_value(name).map(|(name, _)| *name);
    let name: &'static str = known.unwrap_or_else(|| name.to_owned().leak());
    let card = Card::new(name, summary.leak(), "a start-up of this Python program");
    let card: &'static Card = Box::leak(Box::new(card.with(partner.leak()).finds_its_end()));
    let fixed = Fixed { card, growth, paces };
    let template = Arc::new(template);
    let object = template.clone();
    let make = move || {
        let faults = FAULTS.with_borrow(Clone::clone);
        let first = Written { fixed, object: object.clone(), faults };
        Box::new(first.clone()) as Box<dyn OwnStartup>
    };
    put_startup(card, make).map_err(|problem| error::input(&problem.to_string()))?;
    lock(&KNOWN).insert(name, template);
    Ok(())
}

#[derive(Clone, Copy, Debug)]
struct Fixed {
    card: &'static Card,
    growth: u64,
    paces: bool,
}

/// A start-up in Python. Its copies have objects of their own.
#[derive(Debug)]
struct Written {
    fixed: Fixed,
    object: Arc<Py<PyAny>>,
    faults: Option<Arc<Faults>>,
}

impl std::fmt::Debug for Faults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Faults")
    }
}

impl Clone for Written {
    fn clone(&self) -> Self {
        let copied = self.ask("__deepcopy__", |py, object| {
            Ok(Some(py.import("copy")?.call_method1("deepcopy", (object,))?.unbind()))
        });
        let object = copied.map_or_else(|| self.object.clone(), Arc::new);
        Self { object, faults: self.faults.clone(), ..*self }
    }
}

impl Written {
    /// Does something with the object, unless something went wrong before. What goes wrong is kept
    /// as an error of `method`, and the answer is `None`.
    fn ask<T>(
        &self,
        method: &str,
        what: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<Option<T>>,
    ) -> Option<T> {
        if self.faults.as_ref().is_some_and(|faults| faults.stop.load(Ordering::Relaxed)) {
            return None;
        }
        // No interpreter is left when the program ends.
        Python::try_attach(|py| {
            self.inside(py, true);
            let done = what(py, self.object.bind(py));
            self.inside(py, false);
            match (done, &self.faults) {
                (Ok(done), _) => done,
                (Err(problem), Some(faults)) => {
                    faults.put(self.named(py, method, problem));
                    None
                }
                (Err(_), None) => None,
            }
        })?
    }

    fn inside(&self, py: Python<'_>, is_inside: bool) {
        let Some(faults) = &self.faults else { return };
        let ident = || py.import("threading")?.call_method0("get_ident")?.extract();
        if THREAD.get().is_none() {
            THREAD.set(ident().ok());
        }
        *lock(&faults.inside) = THREAD.get().filter(|_| is_inside);
    }

    /// What the method raised, as an error that names it, with the method's own as its cause.
    fn named(&self, py: Python<'_>, method: &str, problem: PyErr) -> PyErr {
        if !problem.is_instance_of::<PyException>(py) {
            return problem;
        }
        let name = self.fixed.card.name;
        if problem.is_instance_of::<error::Error>(py) {
            return error::input(&format!("start-up `{name}`: {method} {}", problem.value(py)));
        }
        let kind = problem.get_type(py).name().map_or_else(|_| String::new(), |n| n.to_string());
        let raised = error::input(&format!(
            "start-up `{name}`: {method} raised {kind}: {}",
            problem.value(py)
        ));
        raised.set_cause(py, Some(problem));
        raised
    }

    /// A method's answer as a step; the window stays where it answers nothing.
    fn step_of(&self, method: &str, view: View, seen: &Seen) -> Step {
        let step = self.ask(method, |py, object| {
            let answer = object.call_method1(method, (view,))?;
            if answer.is_none() { Ok(None) } else { step(py, &answer, seen).map(Some) }
        });
        step.unwrap_or_else(|| seen.window.hold())
    }
}

impl Own for Written {
    fn card(&self) -> &'static Card {
        self.fixed.card
    }
}

impl AnyKnobs for Written {
    fn set_knob(&mut self, _name: &str, _value: KnobValue) -> bool {
        false
    }

    fn knob(&self, _name: &str) -> Option<KnobValue> {
        None
    }
}

impl Observer for Written {
    fn needs(&self) -> Needs {
        match self.fixed.paces {
            true => Needs::required(Facilities::TIMES.and(Facilities::PACING)),
            false => Needs::TIMES,
        }
    }
}

impl Startup for Written {
    fn begin(&mut self, view: &Seen) -> Step {
        let mut begun = self.step_of("begin", View::new(view, &Ack::default(), ""), view);
        begun.exit = None;
        begun
    }

    fn step(&mut self, ack: &Ack, view: &Seen) -> Step {
        self.step_of("on_ack", View::new(view, ack, ""), view)
    }

    fn answer(&mut self, loss: &Loss, view: &Seen) -> Answer {
        let kind = match loss.kind {
            LossKind::Recovery => "loss",
            LossKind::Timeout => "timeout",
            LossKind::Mark => "mark",
        };
        let seen = View::new(view, &Ack::default(), kind);
        let ignores = self.ask("on_loss", |_, object| {
            let answer = object.call_method1("on_loss", (seen,))?;
            match answer.extract::<Option<String>>().as_ref().map(Option::as_deref) {
                Ok(None | Some("leave")) => Ok(Some(false)),
                Ok(Some("ignore")) => Ok(Some(true)),
                _ => Err(error::input(&format!(
                    "returned {}; accepted: None or \"leave\", \"ignore\"",
                    error::shown(&answer)
                ))),
            }
        });
        if ignores == Some(true) { Answer::Ignore } else { Answer::Leave }
    }

    fn growth(&self) -> u64 {
        self.fixed.growth
    }
}

/// Ends start-up by the policy's own sign.
pub(crate) const LEAVES: Exit = Exit::Heuristic;
