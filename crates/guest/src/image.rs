//! The initramfs: programs with the libraries they ask for, modules, and files, in one archive
//! whose bytes depend on nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cpio::newc::Builder;

use crate::cache::{Cache, sha256};
use crate::error::GuestError;
use crate::kernel::Kernel;
use crate::temporary::Folder;
use crate::tool::{output, which};

/// Files by where they are in the guest, without the first slash.
#[derive(Clone, Debug, Default)]
pub struct Image {
    files: BTreeMap<String, File>,
}

#[derive(Clone, Debug)]
struct File {
    from: From,
    mode: u32,
    /// Without its debug information, if the host has `strip` to remove it.
    strip: bool,
}

#[derive(Clone, Debug)]
enum From {
    Host(PathBuf),
    Bytes(Vec<u8>),
    /// A character device by its numbers.
    Device(u32, u32),
    /// To another place in the guest.
    Link(String),
    Folder,
}

impl Image {
    /// One with a kernel's modules in `modules`, folders to mount on, and the two devices that a
    /// first program needs.
    pub fn new(kernel: &Kernel) -> Self {
        let mut image = Self::default();
        for folder in FOLDERS {
            image.put(folder, From::Folder, 0o755, false);
        }
        for (name, major, minor) in [("dev/console", 5, 1), ("dev/null", 1, 3)] {
            image.put(name, From::Device(major, minor), 0o666, false);
        }
        for module in &kernel.modules {
            let name = module.file_name().unwrap_or_default().to_string_lossy();
            image.put(&format!("modules/{name}"), From::Host(module.clone()), 0o644, false);
        }
        image
    }

    /// Adds a file.
    pub fn file(&mut self, inside: &str, bytes: &[u8], executable: bool) {
        let mode = if executable { 0o755 } else { 0o644 };
        self.put(inside, From::Bytes(bytes.to_vec()), mode, false);
    }

    /// Adds a program under a name of its own, with the libraries that the host's loader finds for
    /// it.
    ///
    /// # Errors
    /// A program that the host cannot load.
    pub fn program(&mut self, inside: &str, program: &Path) -> Result<(), GuestError> {
        self.put(inside, From::Host(program.to_owned()), 0o755, true);
        for library in libraries(program)? {
            let place = library.to_string_lossy().trim_start_matches('/').to_owned();
            self.put(&place, From::Host(library), 0o755, false);
        }
        Ok(())
    }

    /// Adds a link to another place in the guest.
    pub fn link(&mut self, inside: &str, to: &str) {
        self.put(inside, From::Link(to.to_owned()), 0o777, false);
    }

    /// Adds tools of the host to `bin`, each under its own name.
    ///
    /// # Errors
    /// Those that are missing, all at once; `packages` are Debian's that have them.
    pub fn tools(&mut self, tools: &[&str], packages: &str) -> Result<(), GuestError> {
        let places: Vec<(&str, Option<PathBuf>)> =
            tools.iter().map(|tool| (*tool, which(tool))).collect();
        let missing = places.iter().filter(|(_, place)| place.is_none());
        let missing: Vec<&str> = missing.map(|(tool, _)| *tool).collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            let problem = format!("missing {missing}; on Debian `apt install {packages}`");
            return Err(GuestError::Lacks(problem));
        }
        for (tool, place) in places {
            self.program(&format!("bin/{tool}"), &place.unwrap_or_default())?;
        }
        Ok(())
    }

    /// Adds the job of the first program, in the form that it reads. An archive of the job alone
    /// may follow an image of programs.
    pub fn job(&mut self, text: &str) {
        self.file(JOB, text.as_bytes(), false);
    }

    /// Adds every file below a folder of the host.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn folder(&mut self, folder: &Path) -> Result<(), GuestError> {
        self.below(folder, "")
    }

    fn below(&mut self, folder: &Path, inside: &str) -> Result<(), GuestError> {
        let entries = fs::read_dir(folder).map_err(|error| GuestError::file(folder, &error))?;
        for entry in entries.flatten() {
            let name = format!("{inside}{}", entry.file_name().to_string_lossy());
            match entry.path() {
                path if path.is_dir() => self.below(&path, &format!("{name}/"))?,
                path => self.put(&name, From::Host(path), 0o755, false),
            }
        }
        Ok(())
    }

    /// The archive in the cache, and its SHA-256.
    ///
    /// # Errors
    /// A file that cannot be read, or a cache that cannot be written.
    pub fn pack(&self, cache: &Cache) -> Result<(PathBuf, String), GuestError> {
        let mut made_of = String::new();
        for (inside, file) in &self.files {
            made_of +=
                &format!("{inside} {:o} {} {}\n", file.mode, file.strip, sha256(&file.read()?));
        }
        let folder = cache.entry("images", &sha256(made_of.as_bytes()), |to| {
            let archive = self.archive()?;
            let written = fs::write(to.join("sha256"), sha256(&archive))
                .and_then(|()| fs::write(to.join("initramfs"), &archive));
            written.map_err(|error| GuestError::file(to, &error))
        })?;
        let hash = folder.join("sha256");
        let hash = fs::read_to_string(&hash).map_err(|error| GuestError::file(&hash, &error))?;
        Ok((folder.join("initramfs"), hash))
    }

    /// The archive's bytes; several after each other are one initramfs.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn archive(&self) -> Result<Vec<u8>, GuestError> {
        let mut all: BTreeMap<String, &File> = BTreeMap::new();
        let folder = File { from: From::Folder, mode: 0o755, strip: false };
        for (name, file) in &self.files {
            for (slash, _) in name.match_indices('/') {
                all.entry(name[..slash].to_owned()).or_insert(&folder);
            }
            all.insert(name.clone(), file);
        }
        let mut archive = Vec::new();
        // In the order of names a folder comes before what is in it.
        for (number, (name, file)) in all.into_iter().enumerate() {
            let bytes = file.bytes()?;
            let head = Builder::new(&name).ino(number as u32 + 1).nlink(1);
            let head = match file.from {
                From::Folder => head.mode(0o40_000 | file.mode),
                From::Device(major, minor) => {
                    head.mode(0o20_000 | file.mode).rdev_major(major).rdev_minor(minor)
                }
                From::Link(_) => head.mode(0o120_000 | file.mode),
                From::Host(_) | From::Bytes(_) => head.mode(0o100_000 | file.mode),
            };
            let mut entry = head.write(&mut archive, bytes.len() as u32);
            let written = std::io::Write::write_all(&mut entry, &bytes);
            written
                .and_then(|()| entry.finish().map(drop))
                .map_err(|error| GuestError::Failed(format!("initramfs: {error}")))?;
        }
        cpio::newc::trailer(archive)
            .map_err(|error| GuestError::Failed(format!("initramfs: {error}")))
    }

    /// Whether something is at a place of the host's.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.files.contains_key(&inside(path))
    }

    /// Adds a file of the host at its own place.
    pub(crate) fn host_file(&mut self, path: &Path) {
        self.put(&inside(path), From::Host(path.to_owned()), 0o755, false);
    }

    /// Adds a folder at the place that one of the host has.
    pub(crate) fn folder_at(&mut self, path: &Path) {
        self.put(&inside(path), From::Folder, 0o755, false);
    }

    /// Adds a link at a place of the host's.
    pub(crate) fn link_at(&mut self, path: &Path, to: &Path) {
        self.link(&inside(path), &to.to_string_lossy());
    }

    /// Bytes of the host's files in it.
    ///
    /// # Errors
    /// A file that is gone.
    pub fn bytes_of_host(&self) -> Result<u64, GuestError> {
        let files = self.files.values().filter_map(|file| match &file.from {
            From::Host(path) => Some(path),
            _ => None,
        });
        let size = |path: &PathBuf| fs::metadata(path).map(|about| about.len());
        files.map(|path| size(path).map_err(|error| GuestError::file(path, &error))).sum()
    }

    fn put(&mut self, inside: &str, from: From, mode: u32, strip: bool) {
        self.files.insert(inside.to_owned(), File { from, mode, strip });
    }
}

impl File {
    fn read(&self) -> Result<Vec<u8>, GuestError> {
        match &self.from {
            From::Bytes(bytes) => Ok(bytes.clone()),
            From::Host(path) => fs::read(path).map_err(|error| GuestError::file(path, &error)),
            From::Link(to) => Ok(to.clone().into_bytes()),
            From::Device(..) | From::Folder => Ok(Vec::new()),
        }
    }

    /// As it is in the archive.
    fn bytes(&self) -> Result<Vec<u8>, GuestError> {
        let (From::Host(path), true) = (&self.from, self.strip) else { return self.read() };
        let folder = Folder::for_unfinished(&std::env::temp_dir())?;
        let stripped = folder.path().join("stripped");
        let mut strip = Command::new("strip");
        // Debug information is most of a program that was not built for release. Without the tool
        // the guest gets the program as it is.
        match output(strip.arg("-o").arg(&stripped).arg(path), "binutils") {
            Ok(_) => fs::read(&stripped).map_err(|error| GuestError::file(&stripped, &error)),
            Err(_) => self.read(),
        }
    }
}

/// Where a place of the host's is in the archive.
fn inside(path: &Path) -> String {
    path.to_string_lossy().trim_start_matches('/').to_owned()
}

/// The shared libraries of a program, and its loader; none of one that is linked statically.
pub(crate) fn libraries(program: &Path) -> Result<Vec<PathBuf>, GuestError> {
    // ldd translates its messages.
    match output(Command::new("ldd").arg(program).env("LC_ALL", "C"), "libc-bin") {
        Ok(printed) => {
            let printed = String::from_utf8_lossy(&printed).into_owned();
            if let Some(line) = printed.lines().find(|line| line.ends_with("not found")) {
                let problem = format!("{}: {}", program.display(), line.trim());
                return Err(GuestError::Failed(problem));
            }
            let words = printed.split_whitespace().filter(|word| word.starts_with('/'));
            Ok(words.filter(|word| !word.ends_with(':')).map(PathBuf::from).collect())
        }
        Err(GuestError::Failed(error)) if error.contains("not a dynamic executable") => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

/// Where a job is in the guest.
pub const JOB: &str = "firstflight-job.json";

/// Where the guest mounts what it needs.
const FOLDERS: [&str; 9] = ["bin", "dev", "etc", "lib64", "modules", "proc", "run", "sys", "tmp"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_depends_on_its_files_alone() {
        let mut image = Image::default();
        image.file("etc/b", b"two", false);
        image.file("a/b/c", b"one", true);
        let bytes = image.archive().unwrap();
        let mut other = Image::default();
        other.file("a/b/c", b"one", true);
        other.file("etc/b", b"two", false);
        assert_eq!(bytes, other.archive().unwrap());
        other.file("etc/b", b"2", false);
        assert_ne!(bytes, other.archive().unwrap());
        // The kernel reads one archive after another at multiples of four.
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let place = |name: &str| text.find(&format!("{name}\0")).unwrap();
        assert!(place("a") < place("a/b") && place("a/b") < place("a/b/c"));
    }

    #[test]
    fn the_cache_knows_an_image_by_what_it_is_made_of() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let mut image = Image::default();
        image.file("x", b"1", false);
        let (first, hash) = image.pack(&cache).unwrap();
        assert_eq!(hash, sha256(&fs::read(&first).unwrap()));
        assert_eq!(image.pack(&cache).unwrap().0, first);
        image.file("x", b"2", false);
        assert_ne!(image.pack(&cache).unwrap().0, first);
    }

    #[test]
    fn tools_that_are_missing_are_named_in_one_message() {
        let problem = Image::default().tools(&["no-such-a", "no-such-b"], "some").unwrap_err();
        assert_eq!(
            problem.to_string(),
            "missing no-such-a, no-such-b; on Debian `apt install some`"
        );
    }
}
