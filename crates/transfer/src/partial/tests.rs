//! Files that arrive, and who else may have put something there.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::*;

/// A directory of the test's own.
struct Here(PathBuf);

impl Here {
    fn new(name: &str) -> Self {
        let name = format!("firstflight-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn target(&self, size: u64, replace: bool) -> Target {
        let place = Place::open(&self.0).unwrap();
        Target { place, name: "f".to_owned(), size, replace, keep: true }
    }

    fn open(&self, size: u64, replace: bool) -> Result<Partial, TransferError> {
        Partial::open(self.target(size, replace))
    }

    fn refusal(&self, size: u64, replace: bool) -> String {
        self.open(size, replace).err().expect("it is refused").to_string()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<OsString> {
        fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        // What is left in the directory for temporary files hurts nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn wrong_content_gets_no_name_and_is_not_kept() {
    let here = Here::new("wrong");
    let right = Sha256::of(b"right");
    for (content, bytes) in [(&b"wrong"[..], 5), (b"righ", 5), (b"right", 6)] {
        let mut partial = here.open(5, false).unwrap();
        partial.write(content).unwrap();
        let error = partial.finish(bytes, &right).unwrap_err();
        assert!(matches!(error, TransferError::Corrupt), "{error}");
        assert_eq!(here.names(), [""; 0]);
    }
    let mut partial = here.open(5, false).unwrap();
    partial.write(b"right").unwrap();
    assert_eq!(partial.finish(5, &right).unwrap(), here.path("f"));
    assert_eq!(here.names(), ["f"]);
    assert_eq!(mode(&here.path("f")), 0o600, "nobody else reads it");
}

#[test]
fn what_was_written_is_there_for_the_next_attempt_and_for_one_writer() {
    let here = Here::new("again");
    let mut first = here.open(5, false).unwrap();
    first.write(b"rig").unwrap();
    let problem = here.refusal(5, false);
    assert!(problem.contains("another transfer is writing it"), "{problem}");
    drop(first);
    // As an older version left it.
    fs::set_permissions(here.path("f.part"), fs::Permissions::from_mode(0o644)).unwrap();
    let mut next = here.open(5, false).unwrap();
    assert_eq!((next.bytes(), next.prefix()), (3, Some(Sha256::of(b"rig"))));
    assert_eq!(mode(&here.path("f.part")), 0o600);
    next.restart(3).unwrap();
    next.write(b"ht").unwrap();
    next.finish(5, &Sha256::of(b"right")).unwrap();
    assert_eq!(fs::read(here.path("f")).unwrap(), b"right");
}

#[test]
fn an_attempt_that_brings_nothing_leaves_nothing_but_what_was_there() {
    let here = Here::new("nothing");
    drop(here.open(5, false).unwrap());
    assert_eq!(here.names(), [""; 0]);
    fs::write(here.path("f.part"), "longer than that").unwrap();
    drop(here.open(5, false).unwrap());
    assert_eq!(fs::read(here.path("f.part")).unwrap(), b"longer than that");
}

#[test]
fn a_stranger_finds_no_partial_file_changes_none_and_leaves_none() {
    let here = Here::new("stranger");
    fs::write(here.path("f.part"), "right").unwrap();
    let stranger = || Partial::open(Target { keep: false, ..here.target(5, false) }).unwrap();
    let mut partial = stranger();
    assert_eq!((partial.bytes(), partial.prefix()), (0, None));
    partial.write(b"wrong").unwrap();
    assert_eq!(here.names().len(), 2, "under a name of its own");
    assert!(!partial.stays());
    partial.finish(5, &Sha256::of(b"right")).unwrap_err();
    let mut partial = stranger();
    partial.write(b"wro").unwrap();
    drop(partial);
    assert_eq!(here.names(), ["f.part"]);
    assert_eq!(fs::read(here.path("f.part")).unwrap(), b"right");
}

#[test]
fn a_name_that_was_taken_meanwhile_is_kept_and_so_is_what_arrived() {
    let here = Here::new("taken");
    let (target, part) = (here.path("f"), here.path("f.part"));
    for (replace, there) in [(false, &b"other"[..]), (true, b"right")] {
        fs::remove_file(&target).or_else(|_| fs::remove_file(&part)).ok();
        let mut partial = here.open(5, replace).unwrap();
        partial.restart(0).unwrap();
        partial.write(b"right").unwrap();
        fs::write(&target, b"other").unwrap();
        let finished = partial.finish(5, &Sha256::of(b"right"));
        assert_eq!(finished.is_ok(), replace);
        assert_eq!(fs::read(&target).unwrap(), there);
        assert_eq!(part.exists(), !replace);
    }
}

#[test]
fn a_directory_is_not_replaced() {
    let here = Here::new("directory");
    fs::create_dir(here.path("f")).unwrap();
    let problem = here.refusal(5, true);
    assert!(problem.contains("a directory"), "{problem}");
    assert_eq!(here.names(), ["f"]);
}

#[test]
fn nothing_is_written_through_a_link() {
    let (here, other) = (Here::new("link"), Here::new("elsewhere"));
    let outside = other.path("outside");
    let part = here.path("f.part");
    fs::write(&outside, "precious").unwrap();
    symlink(&outside, &part).unwrap();
    assert!(here.refusal(8, true).contains("a symbolic link, which is not followed"));
    fs::remove_file(&part).unwrap();
    fs::hard_link(&outside, &part).unwrap();
    assert!(here.refusal(8, true).contains("not a plain file with one name"));
    fs::remove_file(&part).unwrap();
    assert_eq!(fs::read(&outside).unwrap(), b"precious");
    // One that leads nowhere yet makes no file there either.
    fs::remove_file(&outside).unwrap();
    symlink(&outside, &part).unwrap();
    assert!(here.refusal(5, true).contains("a symbolic link"));
    assert!(!outside.exists());
}

#[test]
fn a_name_cannot_lead_out_of_the_directory() {
    let here = Here::new("out");
    fs::create_dir(here.path("in")).unwrap();
    let inner = Place::open(&here.path("in")).unwrap();
    for name in ["../f", "..", "/f", "a/b"] {
        assert!(inner.file(name, false).is_err(), "{name}");
    }
    assert_eq!(here.names(), ["in"]);
}

#[test]
fn files_go_where_the_directory_was_when_it_was_opened() {
    let here = Here::new("moved");
    fs::create_dir(here.path("in")).unwrap();
    let place = Place::open(&here.path("in")).unwrap();
    fs::rename(here.path("in"), here.path("was")).unwrap();
    symlink("/", here.path("in")).unwrap();
    let mut partial = Partial::open(Target { place, ..here.target(1, false) }).unwrap();
    partial.write(b"x").unwrap();
    partial.finish(1, &Sha256::of(b"x")).unwrap();
    assert_eq!(fs::read(here.path("was/f")).unwrap(), b"x");
}

#[test]
fn what_the_disk_has_no_room_for_is_refused_before_a_byte_has_come() {
    let here = Here::new("room");
    let problem = here.refusal(u64::MAX, false);
    assert!(problem.contains("no room for 18446744073709551615 bytes"), "{problem}");
    assert_eq!(here.names(), [""; 0]);
}

#[test]
fn room_that_one_transfer_was_promised_no_other_is() {
    let here = Here::new("promise");
    let place = Place::open(&here.0).unwrap();
    let free = || place.room(u64::MAX).unwrap().unwrap_err();
    let target = |name: &str, size| Target {
        place: place.clone(),
        name: name.to_owned(),
        size,
        replace: false,
        keep: true,
    };
    // Others of this machine write too: what one of the two takes is far more.
    let half = free() / 2;
    let mut first = Partial::open(target("f", half + half / 2)).unwrap();
    let second = Partial::open(target("g", half)).err().expect("it is refused").to_string();
    assert!(second.contains(&format!("no room for {half} bytes")), "{second}");
    first.restart(0).unwrap();
    first.write(b"some").unwrap();
    drop(first);
    assert!(Partial::open(target("g", half)).is_ok(), "it is given back");
}
