//! Packs the plotly.js text that the `plotly` crate carries, so that a page can hold it.
//!
//! Only the program text is taken: neither the crate's Rust code nor its `MathJax` reaches the
//! final binary. Compressed it is 1.9 MB of base64 instead of 4.7 MB, and every browser since 2023
//! can unpack it (`DecompressionStream`). The basic bundle, which has all that a page draws and
//! would be 0.5 MB, is a package of npm and, as far as we know, in no crate.

use std::{env, error::Error, fs, io::Write, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let sources = plotly::Plot::offline_js_sources();
    let library = first_script(&sources).ok_or("the plotly crate embeds no script")?;
    if !library.contains("plotly.js v") {
        return Err("the first script of the plotly crate is not plotly.js".into());
    }
    let mut packer = GzEncoder::new(Vec::new(), Compression::new(9));
    packer.write_all(library.as_bytes())?;
    let packed = STANDARD.encode(packer.finish()?);
    fs::write(Path::new(&env::var("OUT_DIR")?).join("plotly.js.gz.b64"), packed)?;
    Ok(())
}

/// The text inside the first `<script>` element.
fn first_script(html: &str) -> Option<&str> {
    let tag = html.find("<script")?;
    let start = tag + html[tag..].find('>')? + 1;
    let end = start + html[start..].find("</script>")?;
    Some(&html[start..end])
}
