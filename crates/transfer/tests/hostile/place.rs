//! A receiver with a directory of the test's own.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use firstflight_transfer::{
    Fingerprint, Identity, Inbox, Limits, Listening, Progress, Reception, Secret, Sending, Source,
    Store, Tuning, receive, send,
};
use quinn::Endpoint;
use rustls::pki_types::CertificateDer;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::peer;

/// A receiver that takes one transfer, or several.
pub(crate) struct Host {
    pub(crate) at: SocketAddr,
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) directory: PathBuf,
    place: PathBuf,
    receiving: JoinHandle<String>,
}

/// Makes one that takes one transfer; without a secret it takes from anybody.
pub(crate) async fn host(name: &str, secret: Option<&str>, silence: Duration) -> Host {
    host_with(name, secret, silence, 256 << 20, |inbox| async move {
        let (progress, _) = watch::channel(Progress::default());
        let received = receive(&inbox, &progress, |_| {}, std::future::pending()).await;
        inbox.close("over").await;
        received.map_or_else(|error| error.to_string(), |_| "received".to_owned())
    })
}

/// Makes one that takes transfer after transfer, so many at a time, each with that window.
pub(crate) async fn serving(name: &str, at_once: usize, window: u64) -> Host {
    host_with(name, Some(SECRET), Duration::from_secs(30), window, move |inbox| async move {
        let (_stop, stopped) = watch::channel(false);
        let mut reception = Reception::new(Arc::new(inbox), at_once, stopped);
        while reception.next(true, |_| {}).await.is_ok() {}
        "closed".to_owned()
    })
}

fn host_with<T: Future<Output = String> + Send + 'static>(
    name: &str,
    secret: Option<&str>,
    silence: Duration,
    window: u64,
    receiving: impl FnOnce(Inbox) -> T,
) -> Host {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("hostile-{name}-{}-{count}", std::process::id());
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let directory = place.join("in");
    fs::create_dir_all(&directory).unwrap();
    let made = rcgen::generate_simple_self_signed([peer::NAME.to_owned()]).unwrap();
    let (pem, key) = (place.join("recv.pem"), place.join("recv.key"));
    fs::write(&pem, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let inbox = Inbox::open(Listening {
        at: "0".to_owned(),
        accepted: Vec::new(),
        secret: secret.map(|text| Secret::new(text, "the test").unwrap()),
        identity: Identity::load(&pem, &key).unwrap(),
        timeout: silence,
        limits: Limits { window, size: None },
        store: Store::Directory { path: directory.clone(), replace: false },
        packet: None,
    });
    let inbox = inbox.unwrap();
    let at = inbox.address();
    let receiving = tokio::spawn(receiving(inbox));
    Host { at, certificate: made.cert.into(), directory, place, receiving }
}

impl Host {
    /// A socket for clients of it.
    pub(crate) fn client(&self) -> Endpoint {
        peer::endpoint(&self.certificate)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// How the receiver ended.
    pub(crate) async fn ended(&mut self) -> String {
        let ended = timeout(Duration::from_secs(20), &mut self.receiving).await;
        ended.unwrap_or_else(|_| Ok("it goes on".to_owned())).unwrap()
    }

    /// Sends honestly, as `firstflight send` does.
    pub(crate) async fn send(
        &self,
        name: &str,
        content: &[u8],
        secret: Option<&str>,
    ) -> Result<(), String> {
        let file = self.place.join(name);
        fs::write(&file, content).unwrap();
        let sending = Sending {
            to: self.at.to_string(),
            source: Source::File(file),
            name: None,
            control: "cubic".to_owned(),
            accepted: Fingerprint::all_in(&self.place.join("recv.pem")).unwrap(),
            identity: Identity::make().unwrap(),
            secret: secret.map(|text| Secret::new(text, "the test").unwrap()),
            timeout: Duration::from_secs(10),
            qlog: None,
            paths: None,
            tuning: Tuning::default(),
        };
        let (progress, _) = watch::channel(Progress::default());
        let sent = send(sending, progress, std::future::pending()).await;
        sent.map(|_| ()).map_err(|error| error.to_string())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.receiving.abort();
        // What is left behind lies in the target directory and hurts nobody.
        let _ = fs::remove_dir_all(&self.place);
    }
}

pub(crate) const SECRET: &str = "what only the two of them know";
