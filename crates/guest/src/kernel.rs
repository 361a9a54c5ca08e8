//! A kernel to boot: out of Debian packages, which are downloaded but not installed, out of a
//! folder that has what they would install, or a bzImage.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::{Cache, sha256};
use crate::error::GuestError;
use crate::temporary::Folder;
use crate::tool::output;

/// A kernel that can be booted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Kernel {
    /// The bzImage.
    pub vmlinuz: PathBuf,
    /// Modules in the order in which they are best loaded, not compressed.
    pub modules: Vec<PathBuf>,
    /// SHA-256 of the bzImage.
    pub sha256: String,
}

impl Kernel {
    /// The kernel of a Debian package by name (or of one that only depends on the newest, or on the
    /// two that have image and modules, as since 6.19), of a package's file, of a folder into which
    /// packages were unpacked, or a bzImage, which needs built in what others have as `MODULES`.
    ///
    /// # Errors
    /// No such file or package, nothing of a kernel in it, or a tool that is missing.
    pub fn find(what: &str, cache: &Cache) -> Result<Self, GuestError> {
        let path = Path::new(what);
        if path.is_dir() {
            return Self::of_tree(path, cache);
        }
        if path.is_file() || what.contains('/') || what.ends_with(".deb") {
            let bytes = firstflight_outside::read(path, MAX_BYTES).map_err(|unread| {
                GuestError::Input(format!("--kernel {what}: {unread}; {ACCEPTED}"))
            })?;
            return Self::of_file(path, &bytes, cache);
        }
        let (packages, hash) = cached_answer(what, cache)?;
        let folder = cache.entry("kernels", &entry(&hash), |to| {
            let downloads = Folder::for_unfinished(&std::env::temp_dir())?;
            let mut download = Command::new("apt-get");
            download.args(["download", "-qq"]).args(packages.split(' '));
            output(download.current_dir(downloads.path()), "apt")
                .map_err(|error| unreachable(what, error))?;
            unpack(&files(downloads.path())?, to)
        })?;
        Self::of_folder(&folder)
    }

    /// The release that the bzImage's header names, such as `6.1.0-56-cloud-amd64`.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn release(&self) -> Result<String, GuestError> {
        let path = &self.vmlinuz;
        let bytes = fs::read(path).map_err(|error| GuestError::file(path, &error))?;
        Ok(release(&bytes).unwrap_or_default())
    }

    fn of_file(path: &Path, bytes: &[u8], cache: &Cache) -> Result<Self, GuestError> {
        if bytes.starts_with(ARCHIVE) {
            let archive = [path.to_owned()];
            let folder =
                cache.entry("kernels", &entry(&sha256(bytes)), |to| unpack(&archive, to))?;
            return Self::of_folder(&folder);
        }
        if bytes.get(HEADER_AT..HEADER_AT + HEADER.len()) == Some(HEADER) {
            let (vmlinuz, modules) = (path.to_owned(), Vec::new());
            return Ok(Self { vmlinuz, modules, sha256: sha256(bytes) });
        }
        let found = path.display();
        Err(GuestError::Input(format!("--kernel {found}: no package and no bzImage; {ACCEPTED}")))
    }

    /// The kernel of packages that were unpacked into a folder.
    fn of_tree(tree: &Path, cache: &Cache) -> Result<Self, GuestError> {
        let vmlinuz = image_in(tree).ok_or_else(|| no_kernel(tree))?;
        let bytes = fs::read(&vmlinuz).map_err(|error| GuestError::file(&vmlinuz, &error))?;
        let folder = cache.entry("kernels", &entry(&sha256(&bytes)), |to| copy_kernel(tree, to))?;
        Self::of_folder(&folder)
    }

    /// The kernel that [`unpack`] or [`copy_kernel`] put into a folder of the cache.
    fn of_folder(folder: &Path) -> Result<Self, GuestError> {
        let vmlinuz = folder.join("vmlinuz");
        let bytes = fs::read(&vmlinuz).map_err(|error| GuestError::file(&vmlinuz, &error))?;
        let modules = folder.join("modules");
        let entries = fs::read_dir(&modules).map_err(|error| GuestError::file(&modules, &error))?;
        let mut modules: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        modules.sort();
        Ok(Self { vmlinuz, modules, sha256: sha256(&bytes) })
    }
}

/// The word at `kernel_version` of the setup header (Documentation/x86/boot.rst).
fn release(bytes: &[u8]) -> Option<String> {
    let at: [u8; 2] = bytes.get(VERSION_AT..VERSION_AT + 2)?.try_into().ok()?;
    let text = bytes.get(SETUP_AT + usize::from(u16::from_le_bytes(at))..)?;
    let word: Vec<u8> = text.iter().copied().take_while(u8::is_ascii_graphic).collect();
    String::from_utf8(word).ok()
}

/// The answer of [`resolve_package`], which takes seconds, cached until apt could answer otherwise.
fn cached_answer(package: &str, cache: &Cache) -> Result<(String, String), GuestError> {
    let Some(state) = modified_times(&APT_READS.map(Path::new)) else {
        return resolve_package(package);
    };
    let folder =
        cache.entry("packages", &sha256(format!("{package} {state}").as_bytes()), |to| {
            let (packages, hash) = resolve_package(package)?;
            let file = to.join("answer");
            fs::write(&file, format!("{packages} {hash}"))
                .map_err(|error| GuestError::file(&file, &error))
        })?;
    let answer = fs::read_to_string(folder.join("answer")).unwrap_or_default();
    match answer.rsplit_once(' ') {
        Some((packages, hash)) => Ok((packages.to_owned(), hash.to_owned())),
        None => resolve_package(package),
    }
}

/// When each of these files and folders was changed last; `None` if the first does not exist.
fn modified_times(places: &[&Path]) -> Option<String> {
    let changed = |place: &&Path| fs::metadata(place).and_then(|about| about.modified()).ok();
    changed(places.first()?)?;
    Some(format!("{:?}", places.iter().map(changed).collect::<Vec<_>>()))
}

/// The package that has the kernel, or the two that have image and modules, by way of those that
/// only depend on them, and the hash that the archive's index gives for the first.
fn resolve_package(package: &str) -> Result<(String, String), GuestError> {
    let newest = depends(package, package)?.into_iter().find(|name| name.starts_with(IMAGE));
    let image = newest.unwrap_or_else(|| package.to_owned());
    let parts = depends(&image, package)?;
    let part = |begins| parts.iter().find(|name| name.starts_with(begins));
    let packages = match part("linux-binary-").zip(part("linux-modules-")) {
        Some((binary, modules)) => format!("{binary} {modules}"),
        None => image,
    };
    let mut ask = Command::new("apt-get");
    ask.args(["download", "-qq", "--print-uris"]).args(packages.split(' '));
    let printed = output(&mut ask, "apt").map_err(|error| unreachable(package, error))?;
    match hash_of(&String::from_utf8_lossy(&printed)) {
        Some(hash) => Ok((packages, hash)),
        None => Err(unreachable(package, GuestError::Failed("it names no SHA-256".to_owned()))),
    }
}

/// The packages that one depends on, for the package `given` that the user named.
fn depends(package: &str, given: &str) -> Result<Vec<String>, GuestError> {
    let printed = output(Command::new("apt-cache").args(["depends", package]), "apt");
    let printed = printed.map_err(|error| match error {
        GuestError::Lacks(_) => GuestError::Lacks(format!(
            "--kernel {given}: there is no apt to fetch a package with; accepted here: the file of \
             a Debian package, a folder with what it installs, or a bzImage"
        )),
        _ => unreachable(given, error),
    })?;
    let printed = String::from_utf8_lossy(&printed);
    let depends = printed.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    Ok(depends.map(str::to_owned).collect())
}

/// The hash in a line `'URI' NAME SIZE SHA256:HASH`.
fn hash_of(printed: &str) -> Option<String> {
    let hash = printed.split_whitespace().find_map(|word| word.strip_prefix("SHA256:"))?;
    (hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit())).then(|| hash.to_owned())
}

/// The archive of packages did not answer. The machine lacks something; no run failed.
fn unreachable(package: &str, error: GuestError) -> GuestError {
    GuestError::Lacks(format!(
        "--kernel {package}: {error}; `apt-get update` (root) may help, or name a file: {ACCEPTED}"
    ))
}

/// The name of the cache's entry for a package with this hash. It covers [`MODULES`], so that
/// another list unpacks anew.
fn entry(package: &str) -> String {
    sha256(format!("{package} {}", MODULES.join(" ")).as_bytes())
}

/// Leaves the kernel of these packages as `vmlinuz` and its modules of use, numbered, in `modules`.
fn unpack(archives: &[PathBuf], to: &Path) -> Result<(), GuestError> {
    let whole = to.join("whole");
    for archive in archives {
        output(Command::new("dpkg-deb").arg("-x").arg(archive).arg(&whole), "dpkg")?;
    }
    match archives {
        [archive] if image_in(&whole).is_none() => return Err(no_kernel(archive)),
        _ => copy_kernel(&whole, to)?,
    }
    fs::remove_dir_all(&whole).map_err(|error| GuestError::file(&whole, &error))
}

/// The error for a folder or package without a kernel.
fn no_kernel(found: &Path) -> GuestError {
    let found = found.display();
    GuestError::Input(format!(
        "--kernel {found}: no kernel in it; since 6.19 Debian's linux-image-X has none, but \
         depends on linux-binary-X and linux-modules-X: `dpkg-deb -x` both into one folder and \
         name that; {ACCEPTED}"
    ))
}

/// The bzImage of a tree, in `boot`, or beside the modules as packages since 6.19 have it.
fn image_in(tree: &Path) -> Option<PathBuf> {
    let in_modules = || {
        let release = first_entry(&tree.join("usr/lib/modules"), "").ok()?;
        Some(release.join("vmlinuz")).filter(|image| image.is_file())
    };
    first_entry(&tree.join("boot"), "vmlinuz-").ok().or_else(in_modules)
}

/// Copies the kernel of a tree as `vmlinuz` and its modules of use, numbered, into `modules`.
fn copy_kernel(whole: &Path, to: &Path) -> Result<(), GuestError> {
    let vmlinuz = image_in(whole).ok_or_else(|| no_kernel(whole))?;
    let copy = |from: &Path, to: PathBuf| {
        fs::copy(from, &to).map(drop).map_err(|error| GuestError::file(from, &error))
    };
    copy(&vmlinuz, to.join("vmlinuz"))?;
    let modules = to.join("modules");
    fs::create_dir(&modules).map_err(|error| GuestError::file(&modules, &error))?;
    let release = ["lib/modules", "usr/lib/modules"];
    let release = release.iter().find_map(|folder| first_entry(&whole.join(folder), "").ok());
    if let Some(release) = release {
        for (number, module) in MODULES.iter().enumerate() {
            let name = module.rsplit('/').next().unwrap_or(module);
            let inside = modules.join(format!("{number:02}-{name}"));
            let plain = release.join("kernel").join(module);
            if plain.is_file() {
                copy(&plain, inside)?;
                continue;
            }
            // A module that is found in no form may be built in.
            for (ending, program) in [("xz", "xz"), ("zst", "zstd"), ("gz", "gzip")] {
                let packed = plain.with_extension(format!("ko.{ending}"));
                if packed.is_file() {
                    let text = output(Command::new(program).arg("-dc").arg(&packed), program)?;
                    fs::write(&inside, text).map_err(|error| GuestError::file(&inside, &error))?;
                }
            }
        }
    }
    Ok(())
}

/// The entries of a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>, GuestError> {
    let entries = fs::read_dir(folder).map_err(|error| GuestError::file(folder, &error))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

/// The first entry of a folder that begins like that.
fn first_entry(folder: &Path, begins: &str) -> Result<PathBuf, GuestError> {
    let begins_so = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begins))
    };
    let mut found: Vec<PathBuf> = files(folder)?.into_iter().filter(begins_so).collect();
    found.sort();
    let missing = || GuestError::Failed(format!("nothing like {begins}* in {}", folder.display()));
    found.into_iter().next().ok_or_else(missing)
}

/// The files on which apt's answers depend: the archives' indexes, the list of what is installed,
/// and the preferences.
const APT_READS: [&str; 6] = [
    "/var/lib/apt/lists",
    "/var/lib/dpkg/status",
    "/etc/apt/sources.list",
    "/etc/apt/sources.list.d",
    "/etc/apt/preferences",
    "/etc/apt/preferences.d",
];

/// The prefix of packages that have a kernel or depend on one that has it.
const IMAGE: &str = "linux-image-";

/// The kernel that is booted by default: small, and with all that the lab needs.
pub const DEFAULT_KERNEL: &str = "linux-image-cloud-amd64";

/// The modules of a kernel that are of use here, in the order in which they need each other.
const MODULES: [&str; 20] = [
    "net/ipv4/inet_diag.ko",
    "net/ipv4/tcp_diag.ko",
    "drivers/net/veth.ko",
    "drivers/net/tun.ko",
    "net/sched/sch_tbf.ko",
    "net/sched/sch_netem.ko",
    "net/sched/sch_fq.ko",
    "net/sched/sch_htb.ko",
    "net/sched/sch_red.ko",
    "net/sched/sch_codel.ko",
    "net/sched/sch_fq_codel.ko",
    "net/sched/sch_pie.ko",
    "net/ipv4/tcp_bbr.ko",
    "net/ipv4/tcp_vegas.ko",
    "net/ipv4/tcp_westwood.ko",
    "net/ipv4/tcp_htcp.ko",
    "net/ipv4/tcp_hybla.ko",
    "net/ipv4/tcp_illinois.ko",
    "net/ipv4/tcp_bic.ko",
    "net/ipv4/tcp_dctcp.ko",
];

const ACCEPTED: &str =
    "accepted: a Debian package's name, FILE.deb, a folder, or an x86-64 bzImage";
/// Most bytes of a package or an image; Debian's have some 100 million.
const MAX_BYTES: u64 = 1 << 30;
/// How an `ar` archive begins, which a Debian package is.
const ARCHIVE: &[u8] = b"!<arch>\n";
/// The setup header of a bzImage (Documentation/x86/boot.rst).
const HEADER: &[u8] = b"HdrS";
const HEADER_AT: usize = 0x202;
const VERSION_AT: usize = 0x20e;
/// What `kernel_version` counts from.
const SETUP_AT: usize = 0x200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bzimage_is_recognised_by_its_header_and_anything_else_refused() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let file = folder.path().join("bzImage");
        let mut bytes = vec![0; 1_000];
        bytes[HEADER_AT..HEADER_AT + 4].copy_from_slice(HEADER);
        fs::write(&file, &bytes).unwrap();
        let kernel = Kernel::find(file.to_str().unwrap(), &cache).unwrap();
        assert_eq!((kernel.vmlinuz, kernel.modules.len()), (file.clone(), 0));
        assert_eq!(kernel.sha256, sha256(&bytes));
        bytes[VERSION_AT..VERSION_AT + 2].copy_from_slice(&0x100_u16.to_le_bytes());
        bytes[0x300..0x306].copy_from_slice(b"6.1 (x");
        assert_eq!(release(&bytes).as_deref(), Some("6.1"));
        fs::write(&file, "text").unwrap();
        let refused = |what: &str| Kernel::find(what, &cache).unwrap_err();
        assert!(matches!(refused(file.to_str().unwrap()), GuestError::Input(_)));
        let problem = refused("/dev/zero").to_string();
        assert!(problem.contains("--kernel /dev/zero: no regular file; accepted: "), "{problem}");
        let problem = refused("no/such.deb").to_string();
        assert!(problem.contains("no such file; accepted: a Debian package"), "{problem}");
    }

    /// Packages before 6.19 have it in `boot`, those since then beside the modules.
    #[test]
    fn a_folder_has_its_image_in_boot_or_beside_the_modules() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        for (number, (image, modules)) in [
            ("boot/vmlinuz-6.1", "lib/modules/6.1/kernel/drivers/net"),
            ("usr/lib/modules/7.3/vmlinuz", "usr/lib/modules/7.3/kernel/drivers/net"),
        ]
        .into_iter()
        .enumerate()
        {
            let tree = folder.path().join(format!("tree{number}"));
            fs::create_dir_all(tree.join(image).parent().unwrap()).unwrap();
            fs::create_dir_all(tree.join(modules)).unwrap();
            fs::write(tree.join(modules).join("veth.ko"), "veth").unwrap();
            let problem = Kernel::find(tree.to_str().unwrap(), &cache).unwrap_err().to_string();
            assert!(problem.contains("no kernel in it; since 6.19 Debian's"), "{problem}");
            fs::write(tree.join(image), image).unwrap();
            let kernel = Kernel::find(tree.to_str().unwrap(), &cache).unwrap();
            assert_eq!(fs::read_to_string(&kernel.vmlinuz).unwrap(), image);
            assert!(kernel.modules[0].ends_with("02-veth.ko"), "{:?}", kernel.modules);
        }
    }

    /// The archives' folder changes as `apt-get update` puts a new index there.
    #[test]
    fn apt_is_asked_again_when_its_indexes_have_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (lists, other) = (folder.path().join("lists"), folder.path().join("other"));
        assert_eq!(modified_times(&[&lists, &other]), None, "no time to compare");
        fs::create_dir(&lists).unwrap();
        let before = modified_times(&[&lists, &other]).unwrap();
        assert_eq!(modified_times(&[&lists, &other]), Some(before.clone()));
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(lists.join("index"), "").unwrap();
        let after = modified_times(&[&lists, &other]).unwrap();
        assert_ne!(before, after);
        fs::write(&other, "").unwrap();
        assert_ne!(modified_times(&[&lists, &other]), Some(after));
    }

    #[test]
    fn the_hash_of_a_package_is_read_from_what_apt_prints() {
        let hash = "0".repeat(64);
        assert_eq!(hash_of(&format!("'http://a/b.deb' b.deb 15 SHA256:{hash}")), Some(hash));
        assert_eq!(hash_of("'http://a/b.deb' b.deb 15 SHA256:12"), None);
    }
}
