//! What the guest's image needs so that this machine's systemd is its first program. systemd starts
//! the unit of `docs/`, and two units of the test: one checks at boot what that unit did, the other
//! checks at shutdown that it has undone it.

use std::fs;
use std::path::Path;

use firstflight_guest::Image;

use crate::Stop;
use crate::step::unable;

/// Adds systemd, the units that a boot takes, and ours.
pub(super) fn add(root: &Path, image: &mut Image) -> Result<(), Stop> {
    image.tools(&TOOLS, "systemd coreutils")?;
    for program in ["systemd", "systemd-shutdown"] {
        let place = format!("lib/systemd/{program}");
        image.program(&place, &Path::new("/").join(&place))?;
        // Debian 12 looks for the second here, others there.
        image.link(&format!("usr/{place}"), &format!("/{place}"));
    }
    for unit in UNITS {
        let place = format!("usr/lib/systemd/system/{unit}");
        let text = read(&Path::new("/").join(&place))?;
        image.file(&place, &text, false);
    }
    image.file(&format!("{OURS}/{UNIT}"), &read(&root.join("docs").join(UNIT))?, false);
    image.file(&format!("{OURS}/{UNIT}.d/messages.conf"), MESSAGES.as_bytes(), false);
    image.file("messages/errors", b"", false);
    image.file(&format!("{OURS}/judge.service"), JUDGE.as_bytes(), false);
    image.file(&format!("{OURS}/last.service"), LAST.as_bytes(), false);
    for unit in [UNIT, "judge.service", "last.service"] {
        image.link(&format!("{OURS}/multi-user.target.wants/{unit}"), &format!("/{OURS}/{unit}"));
    }
    image.link("usr/local/bin/firstflight", "/init");
    let script = concat!(include_str!("steps.sh"), include_str!("systemd.sh"));
    image.file("systemd.sh", script.as_bytes(), false);
    image.file("etc/machine-id", b"00000000000000000000000000000001\n", false);
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, Stop> {
    fs::read(path).map_err(|error| unable(&path.display().to_string(), &error))
}

/// For the kernel and for systemd, which reads them too.
pub(super) const WORDS: &str = "rdinit=/usr/lib/systemd/systemd systemd.unit=multi-user.target \
     systemd.log_target=console";

const UNIT: &str = "firstflight-kernel.service";
const OURS: &str = "etc/systemd/system";

const TOOLS: [&str; 4] = ["systemctl", "systemd-analyze", "stat", "true"];

/// What a boot to `multi-user.target` and a shutdown take. The BPF file system systemd mounts by
/// itself.
const UNITS: [&str; 17] = [
    "basic.target",
    "final.target",
    "local-fs.target",
    "local-fs-pre.target",
    "multi-user.target",
    "network.target",
    "network-pre.target",
    "paths.target",
    "poweroff.target",
    "shutdown.target",
    "slices.target",
    "sockets.target",
    "swap.target",
    "sysinit.target",
    "systemd-poweroff.service",
    "timers.target",
    "umount.target",
];

/// The guest has no journal, so the unit writes its error messages to a file.
const MESSAGES: &str = "[Service]
ReadWritePaths=/messages
StandardError=append:/messages/errors
";

const JUDGE: &str = "[Service]
Type=oneshot
Environment=PATH=/bin
ExecStart=/bin/sh /systemd.sh judge
StandardOutput=file:/dev/ttyS1
StandardError=inherit
[Unit]
After=firstflight-kernel.service network-pre.target
";

/// systemd stops units in the reverse order of their start. This one starts before the unit of
/// `docs/`, so that its `ExecStop` runs after that unit has stopped.
const LAST: &str = "[Service]
Type=oneshot
RemainAfterExit=yes
Environment=PATH=/bin
ExecStart=/bin/true
ExecStop=/bin/sh /systemd.sh last
StandardOutput=append:/dev/ttyS1
StandardError=inherit
[Unit]
DefaultDependencies=no
Before=firstflight-kernel.service shutdown.target
Conflicts=shutdown.target
";
