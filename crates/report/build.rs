//! Packs the text of plotly.js, so that a page can hold it. Every browser since 2023 can unpack it
//! (`DecompressionStream`).
//!
//! The basic bundle has all that a page draws and is 0.5 MB of base64, but it is a package of npm,
//! in no crate: `FIRSTFLIGHT_PLOTLY` names its file, and `cargo xtask dist` sets that. Elsewhere
//! the whole library is taken, 1.9 MB, which the `plotly` crate carries: its text alone, neither
//! its Rust code nor its `MathJax`.

use std::{env, error::Error, fs, io::Write, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={BUNDLE}");
    let library = match env::var_os(BUNDLE) {
        Some(path) => {
            println!("cargo::rerun-if-changed={}", path.display());
            let read = fs::read_to_string(&path);
            read.map_err(|error| format!("{BUNDLE}: {}: {error}", path.display()))?
        }
        None => whole().ok_or("the plotly crate embeds no script")?,
    };
    if !library.contains("plotly.js ") {
        return Err(format!("{BUNDLE}, or the plotly crate, has no plotly.js").into());
    }
    let mut packer = GzEncoder::new(Vec::new(), Compression::new(9));
    packer.write_all(library.as_bytes())?;
    let packed = STANDARD.encode(packer.finish()?);
    fs::write(Path::new(&env::var("OUT_DIR")?).join("plotly.js.gz.b64"), packed)?;
    Ok(())
}

/// The file of a bundle of plotly.js.
const BUNDLE: &str = "FIRSTFLIGHT_PLOTLY";

/// The text inside the first `<script>` element of what the crate carries.
fn whole() -> Option<String> {
    let html = plotly::Plot::offline_js_sources();
    let tag = html.find("<script")?;
    let start = tag + html[tag..].find('>')? + 1;
    let end = start + html[start..].find("</script>")?;
    Some(html[start..end].to_owned())
}
