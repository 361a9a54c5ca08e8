//! The kernel out of its Debian package, and the initramfs.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Stop;
use crate::step::{self, announce, unable, which};

/// An unpacked kernel.
pub(super) struct Kernel {
    pub(super) vmlinuz: PathBuf,
    /// The folder of its modules.
    modules: PathBuf,
    busybox: PathBuf,
}

/// Downloads the kernel's package, unless it is a file, and busybox's, and unpacks them.
pub(super) fn unpack(folder: &Path, package: &str) -> Result<Kernel, Stop> {
    announce(&format!("packages: {package}"));
    let unpacked = match download(folder, package) {
        Ok(unpacked) => unpacked,
        Err(_) => {
            // The machine's list of packages may be old, or missing.
            output(Command::new("apt-get").args(["update", "-qq"]))?;
            download(folder, package)?
        }
    };
    let vmlinuz = only(&unpacked.join("boot"), "vmlinuz-")?;
    let modules = only(&unpacked.join("lib/modules"), "")?;
    Ok(Kernel { vmlinuz, modules, busybox: unpacked.join("bin/busybox") })
}

/// Where the packages are unpacked.
fn download(folder: &Path, package: &str) -> Result<PathBuf, Stop> {
    let file = package.ends_with(".deb").then(|| Path::new(package));
    let kernel = match file {
        Some(file) => file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        None => concrete(package)?,
    };
    let unpacked = folder.join("unpacked").join(&kernel);
    if unpacked.exists() {
        return Ok(unpacked);
    }
    let (fresh, half) = (folder.join("packages"), folder.join("unpacking"));
    for folder in [&fresh, &half] {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).map_err(|error| unable("qemu", &error))?;
    }
    let wanted = file.is_none().then_some(kernel.as_str()).into_iter().chain(["busybox-static"]);
    output(Command::new("apt-get").args(["download", "-qq"]).args(wanted).current_dir(&fresh))
        // Without a mirror there is no second kernel: the machine lacks it, nothing failed.
        .map_err(|stop| Stop::lacks(&stop.message))?;
    let downloaded = fs::read_dir(&fresh).into_iter().flatten().flatten().map(|e| e.path());
    for archive in downloaded.chain(file.map(Path::to_path_buf)) {
        output(Command::new("dpkg-deb").arg("-x").arg(archive).arg(&half))?;
    }
    let renamed = fs::create_dir_all(folder.join("unpacked"))
        .and_then(|()| fs::rename(&half, &unpacked))
        .and_then(|()| fs::remove_dir_all(&fresh));
    renamed.map_err(|error| unable("qemu", &error))?;
    Ok(unpacked)
}

/// The package itself for one that only depends on the newest.
fn concrete(package: &str) -> Result<String, Stop> {
    let said = output(Command::new("apt-cache").args(["depends", package]))?;
    let mut depends = said.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    let image = depends.find(|name| name.starts_with("linux-image-"));
    Ok(image.unwrap_or(package).to_owned())
}

/// The only entry of a folder that begins like that.
fn only(folder: &Path, begins: &str) -> Result<PathBuf, Stop> {
    let entries = fs::read_dir(folder).map_err(|error| unable("qemu", &error))?;
    let mut found = entries.flatten().map(|entry| entry.path()).filter(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begins))
    });
    let missing = format!("qemu: nothing like {begins}* in {}", folder.display());
    found.next().ok_or_else(|| Stop::failed(&missing))
}

/// Makes the initramfs of these programs and what they need.
pub(super) fn pack(
    folder: &Path,
    kernel: &Kernel,
    programs: &[(&str, PathBuf)],
) -> Result<PathBuf, Stop> {
    announce("initramfs");
    let root = folder.join("root");
    let _ = fs::remove_dir_all(&root);
    let made = FOLDERS.iter().try_for_each(|name| fs::create_dir_all(root.join(name)));
    made.map_err(|error| unable("initramfs", &error))?;
    let mut files = vec![(kernel.busybox.clone(), root.join("bin/busybox"))];
    for (number, module) in MODULES.iter().enumerate() {
        let name = Path::new(module).file_name().unwrap_or_default().to_string_lossy();
        // Compressed from 6.12 on, which busybox's insmod takes as well.
        let forms = ["", ".xz"].map(|form| {
            let from = kernel.modules.join("kernel").join(format!("{module}{form}"));
            (from, root.join(format!("modules/{number}-{name}{form}")))
        });
        // A kernel may have it built in.
        files.extend(forms.into_iter().filter(|(from, _)| from.exists()));
    }
    // All are among those that the task looked for when it began.
    let tools: Vec<(&str, PathBuf)> =
        TOOLS.iter().filter_map(|tool| Some((*tool, which(tool)?))).collect();
    for (name, program) in programs.iter().chain(&tools) {
        files.push((program.clone(), root.join("bin").join(name)));
        for library in libraries(program)? {
            let inside = root.join(library.strip_prefix("/").unwrap_or(&library));
            files.push((library, inside));
        }
    }
    for (from, to) in &files {
        let copied =
            to.parent().map_or(Ok(()), fs::create_dir_all).and(fs::copy(from, to).map(drop));
        copied.map_err(|error| unable(&from.display().to_string(), &error))?;
    }
    let init = root.join("init");
    let written = fs::write(&init, include_str!("guest.sh"))
        .and_then(|()| fs::write(root.join("scenario.toml"), include_str!("scenario.toml")));
    written.map_err(|error| unable("initramfs", &error))?;
    output(Command::new("chmod").arg("755").arg(&init))?;
    // Debug information would be most of it.
    for (name, _) in programs {
        let _ = Command::new("strip").arg(root.join("bin").join(name)).status();
    }
    archive(&root, &folder.join("initramfs.gz"))
}

/// The shared libraries of a program, and its loader.
fn libraries(program: &Path) -> Result<Vec<PathBuf>, Stop> {
    let said = output(Command::new("ldd").arg(program))?;
    let words = said.split_whitespace().filter(|word| word.starts_with('/'));
    Ok(words.map(PathBuf::from).collect())
}

fn archive(root: &Path, file: &Path) -> Result<PathBuf, Stop> {
    let script = "find . | cpio --quiet -o -H newc | gzip -1";
    let mut command = Command::new("sh");
    let bytes = command
        .args(["-c", script])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| unable("cpio", &error))?
        .stdout;
    let written = fs::File::create(file).and_then(|mut file| file.write_all(&bytes));
    written.map_err(|error| unable("initramfs", &error))?;
    Ok(file.to_path_buf())
}

/// What a command prints, if it succeeds.
fn output(command: &mut Command) -> Result<String, Stop> {
    step::output("qemu", command)
}

const FOLDERS: [&str; 9] = ["bin", "dev", "etc", "lib64", "modules", "proc", "run", "sys", "tmp"];

/// Of the guest, beside what is built here.
const TOOLS: [&str; 6] = ["ip", "tc", "ss", "nsenter", "iperf3", "sysctl"];

/// In the order in which they need each other.
const MODULES: [&str; 6] = [
    "net/ipv4/inet_diag.ko",
    "net/ipv4/tcp_diag.ko",
    "drivers/net/veth.ko",
    "drivers/net/tun.ko",
    "net/sched/sch_tbf.ko",
    "net/sched/sch_netem.ko",
];
