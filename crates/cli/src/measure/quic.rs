//! Transfers over QUIC to a running `recv`, with the code of `send`.

use std::time::Instant;

use firstflight_results::RunResult;
use firstflight_transfer::{Broken as Unfinished, Progress, Sending, Source, Tuning};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::{Args, Broken, Sender};
use crate::failure::Failure;
use crate::transfer::{self, interrupted};

pub(super) struct Quic<'a> {
    args: &'a Args,
    names: &'a [String],
    runtime: Runtime,
}

impl<'a> Quic<'a> {
    /// # Errors
    /// A control that QUIC does not have, or an option that cannot be.
    pub(super) fn new(args: &'a Args, names: &'a [String]) -> Result<Self, Failure> {
        for name in names {
            firstflight_quic::quinn::any(name)?;
        }
        let quic = Self { args, names, runtime: transfer::runtime()? };
        quic.sending(&names[0])?;
        Ok(quic)
    }

    fn sending(&self, control: &str) -> Result<Sending, Failure> {
        let args = self.args;
        Ok(Sending {
            to: args.to.clone(),
            source: Source::Memory(args.size.bytes()),
            name: None,
            control: control.to_owned(),
            accepted: args.peer.accepted()?,
            identity: args.common.identity()?,
            secret: args.secret.read()?.map(|given| given.secret),
            timeout: args.common.timeout()?,
            qlog: None,
            paths: None,
            tuning: Tuning::default(),
        })
    }
}

impl Sender for Quic<'_> {
    fn send(&self, control: usize) -> Result<RunResult, Broken> {
        let control = &self.names[control];
        let (reporter, progress) = watch::channel(Progress::default());
        let began = Instant::now();
        let sent = self.sending(control).and_then(|sending| {
            let sent = firstflight_transfer::send(sending, reporter, interrupted());
            Ok(self.runtime.block_on(sent)?)
        });
        let version = env!("CARGO_PKG_VERSION");
        let first = |results: firstflight_results::Results| {
            results.runs.into_iter().next().unwrap_or_default()
        };
        sent.map(|sent| first(sent.results(control, version))).map_err(|failure| {
            let (progress, took, why) = (*progress.borrow(), began.elapsed(), failure.to_string());
            let broken = Unfinished { transfer: "measure", control, progress, took, why: &why };
            Broken { run: Box::new(first(broken.results(version))), failure: Box::new(failure) }
        })
    }

    fn what(&self) -> &'static str {
        "quic"
    }
}
