//! Compresses the script plotly.js, which every report embeds. Browsers decompress it
//! (`DecompressionStream`, in all of them since 2023).
//!
//! If `FIRSTFLIGHT_PLOTLY` is set, it names the script. `cargo xtask dist` names plotly.js's basic
//! bundle there, which has all that a report draws and adds 0.5 MB to it; the bundle is on npm and
//! in no crate. Otherwise the script is the whole library out of the `plotly` crate, 1.9 MB; the
//! crate's Rust code and its `MathJax` are not used.

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

/// The variable that names a file of plotly.js.
const BUNDLE: &str = "FIRSTFLIGHT_PLOTLY";

/// The whole library: the text of the first `<script>` element that the crate has.
fn whole() -> Option<String> {
    let html = plotly::Plot::offline_js_sources();
    let tag = html.find("<script")?;
    let start = tag + html[tag..].find('>')? + 1;
    let end = start + html[start..].find("</script>")?;
    Some(html[start..end].to_owned())
}
