//! The seeds, what was found before among them, without an engine.

use std::fs;
use std::path::Path;

use firstflight_fuzz::TARGETS;

#[test]
fn no_seed_makes_a_target_panic() {
    for (name, target) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
        let mut seen = 0;
        for entry in fs::read_dir(&folder).unwrap() {
            let file = entry.unwrap().path();
            eprintln!("{}", file.display());
            target(&fs::read(&file).unwrap());
            seen += 1;
        }
        assert!(seen >= 3, "{}: {seen} seeds", folder.display());
    }
}
