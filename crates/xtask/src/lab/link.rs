//! The emulated link's own figures, from its benchmark.

use super::Lab;
use super::kept::{Kept, Measured};
use crate::Stop;
use crate::step::{cargo, unable};

/// The lines of the benchmark; `None` if there was no time for it.
pub(super) fn measure(lab: &Lab<'_>, kept: &mut Kept) -> Result<Option<Vec<String>>, Stop> {
    let key = format!("{} link", lab.kernel);
    let lines = match kept.get(&key) {
        Some(kept) => kept.lines.clone(),
        None if lab.is_over() => return Ok(None),
        None => {
            let words = ["bench", "--quiet", "--package", "firstflight-lab", "--bench", "link"];
            let output = cargo(lab.root, &words).output();
            let output = output.map_err(|error| unable("bench", &error))?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            match output.status.code() {
                Some(0) => {}
                Some(3) => return Err(Stop::lacks(text.trim())),
                _ => {
                    let said = String::from_utf8_lossy(&output.stderr);
                    return Err(Stop::failed(&format!("bench: {}{}", text, said.trim())));
                }
            }
            let lines = text.lines().map(|line| line.trim_end().to_owned());
            let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
            kept.put(&key, Measured { lines: lines.clone(), ..Measured::default() })?;
            lines
        }
    };
    lines.iter().for_each(|line| println!("{line}"));
    Ok(Some(lines))
}
