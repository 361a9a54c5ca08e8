//! Programs of the host at their own places, with all that they ask for before they run.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::GuestError;
use crate::image::{Image, libraries};
use crate::tool::which;

impl Image {
    /// Adds a file or a folder of the host at its own place, with what its links lead to, the
    /// libraries that its programs ask for, and the interpreters that its scripts name.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn host(&mut self, path: &Path) -> Result<(), GuestError> {
        let mut left = vec![path.to_owned()];
        while let Some(path) = left.pop() {
            let path = plain(&path);
            if self.has(&path) {
                continue;
            }
            if let Some(link) = first_link(&path) {
                let real = |path: &Path| {
                    fs::canonicalize(path).map_err(|error| GuestError::file(path, &error))
                };
                // `/lib` is a folder of its own in the image, and no link to `/usr/lib`.
                let link = if link.parent() == Some(Path::new("/")) { &path } else { &link };
                if link.parent() != Some(Path::new("/")) {
                    self.link_at(link, &real(link)?);
                }
                left.push(real(&path)?);
                continue;
            }
            let about = fs::metadata(&path).map_err(|error| GuestError::file(&path, &error))?;
            if about.is_dir() {
                let entries = fs::read_dir(&path).map_err(|e| GuestError::file(&path, &e))?;
                // A link that leads nowhere is left out.
                let exists = |path: &PathBuf| path.exists();
                left.extend(entries.flatten().map(|entry| entry.path()).filter(exists));
                self.folder_at(&path);
            } else if about.is_file() {
                let (programs, libraries) = dependencies(&path)?;
                self.on_path(&programs);
                left.extend(programs.into_iter().chain(libraries));
                self.host_file(&path);
            }
        }
        Ok(())
    }

    /// The guest finds programs of the host's in `bin`, which is all of its PATH.
    fn on_path(&mut self, programs: &[PathBuf]) {
        for program in programs {
            let name = Path::new("/bin").join(program.file_name().unwrap_or_default());
            if name != *program && !self.has(&name) {
                self.link_at(&name, program);
            }
        }
    }

    /// Adds what a line for a shell names: programs on the PATH, and files, those with a slash from
    /// `folder` on. Folders are not taken along.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn named_in(&mut self, line: &str, folder: &Path) -> Result<(), GuestError> {
        for word in line.split(|c: char| c.is_whitespace() || SEPARATORS.contains(c)) {
            let program = which(word).filter(|_| !word.contains('/') && !word.is_empty());
            let place = program.clone().unwrap_or_else(|| folder.join(word));
            if !word.is_empty() && place.is_file() {
                self.host(&place)?;
                self.on_path(program.as_slice());
            }
        }
        Ok(())
    }
}

/// The first part of a path that is a link.
fn first_link(path: &Path) -> Option<PathBuf> {
    let mut part = PathBuf::new();
    path.components().find_map(|component| {
        part.push(component);
        part.is_symlink().then(|| part.clone())
    })
}

/// The path without `.` and `..`, which are folders of the path before them here.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// The interpreters of a script, and the libraries of a program or a library.
fn dependencies(path: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), GuestError> {
    let mut start = [0; 128];
    let read = fs::File::open(path)
        .and_then(|mut file| std::io::Read::read(&mut file, &mut start))
        .map_err(|error| GuestError::file(path, &error))?;
    let start = &start[..read];
    if start.starts_with(b"\x7fELF") {
        return Ok((Vec::new(), libraries(path)?));
    }
    let Some(line) = start.strip_prefix(b"#!") else { return Ok((Vec::new(), Vec::new())) };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line).into_owned();
    let words = line.split_whitespace().filter_map(|word| match word.starts_with('/') {
        true => Some(PathBuf::from(word)),
        false => which(word),
    });
    Ok((words.filter(|place| place.is_file()).collect(), Vec::new()))
}

/// The characters besides blanks that end a word of a shell's line.
const SEPARATORS: &str = ";|&<>()'\"=`$";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_comes_with_its_links_and_what_its_scripts_are_run_by() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir(folder.join("target")).unwrap();
        fs::write(folder.join("script"), "#!/bin/sh\nexit\n").unwrap();
        for (to, name) in [("script", "link"), ("nowhere", "broken"), ("target", "folder")] {
            std::os::unix::fs::symlink(to, folder.join(name)).unwrap();
        }
        fs::write(folder.join("target/deep"), "x").unwrap();
        let mut image = Image::default();
        image.host(&folder).unwrap();
        for name in ["script", "link", "target/deep", "folder", "/bin/sh"] {
            assert!(image.has(&folder.join(name)), "{name}");
        }
        for name in ["broken", "folder/deep"] {
            assert!(!image.has(&folder.join(name)), "{name}");
        }
        let shell = fs::metadata(which("sh").unwrap()).unwrap().len();
        assert!(image.bytes_of_host().unwrap() > shell + 1, "libraries too");
    }

    #[test]
    fn a_line_names_programs_on_the_path_and_files_from_a_folder_on() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("config"), "a").unwrap();
        let mut image = Image::default();
        image.named_in("A=1 sh -c 'cat --from=./config';nothing /etc", folder.path()).unwrap();
        for place in [which("cat").unwrap(), folder.path().join("config")] {
            assert!(image.has(&place), "{}", place.display());
        }
        assert!(!image.has(Path::new("/etc/passwd")), "a folder is not taken along");
    }
}
