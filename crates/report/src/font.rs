//! The fonts of a PDF: a subset of the machine's own where it has one with Helvetica's measures,
//! which publishers ask for; else only the names that every reader knows.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::OnceLock;

use flate2::{Compression, read::ZlibEncoder};
use fontdb::{Database, Family, Query, Weight};
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish as _, Name, Pdf, Rect, Ref, Str};
use subsetter::{GlyphRemapper, subset};
use ttf_parser::{Face, GlyphId, Tag};

/// Why the PDFs that were written here carry no font, if they carry none.
pub fn not_embedded() -> Option<&'static str> {
    machines().is_none().then_some(
        "the PDF figures name Helvetica and embed no font, because none of Liberation Sans, \
         Nimbus Sans and Arial is installed",
    )
}

/// A file of fonts, and the place in it of the one that is meant.
struct File {
    name: String,
    bytes: Vec<u8>,
    place: u32,
}

/// A font and what a page uses of it.
pub(crate) struct Font {
    name: &'static str,
    file: Option<&'static File>,
    used: GlyphRemapper,
    letters: BTreeMap<u16, char>,
}

impl Font {
    /// The regular one and the bold.
    pub(crate) fn both() -> [Self; 2] {
        let [regular, bold] =
            machines().map_or([None; 2], |[regular, bold]| [Some(regular), Some(bold)]);
        [("Helvetica", regular), ("Helvetica-Bold", bold)].map(|(name, file)| Self::of(name, file))
    }

    fn of(name: &'static str, file: Option<&'static File>) -> Self {
        Self { name, file, used: GlyphRemapper::new(), letters: BTreeMap::new() }
    }

    /// A text as the page shows it in this font.
    pub(crate) fn shown(&mut self, text: &str) -> Vec<u8> {
        let Some(face) = self.face() else { return text.chars().map(in_win_ansi).collect() };
        let mut bytes = Vec::new();
        for letter in text.chars() {
            let glyph = face.glyph_index(letter).unwrap_or_default();
            let place = self.used.remap(glyph.0);
            self.letters.insert(place, letter);
            bytes.extend(place.to_be_bytes());
        }
        bytes
    }

    fn face(&self) -> Option<Face<'static>> {
        let File { bytes, place, .. } = self.file?;
        Face::parse(bytes, *place).ok()
    }

    /// Writes it, under the first of the numbers.
    pub(crate) fn write(&self, pdf: &mut Pdf, refs: [Ref; 5]) {
        let written = self.face().and_then(|face| self.embed(pdf, &face, refs));
        if written.is_none() {
            let name = Name(self.name.as_bytes());
            let mut font = pdf.type1_font(refs[0]);
            font.base_font(name).encoding_predefined(Name(b"WinAnsiEncoding"));
        }
    }

    /// Writes the glyphs that are used; nothing if the file is broken.
    fn embed(&self, pdf: &mut Pdf, face: &Face<'_>, refs: [Ref; 5]) -> Option<()> {
        let File { name, bytes, place } = self.file?;
        let part = subset(bytes, *place, &self.used).ok()?;
        // Six letters for the subset (ISO 32000-1 section 9.6.4).
        let tag = firstflight_outside::content_name(&part).into_bytes();
        let tag: String = tag.iter().take(6).map(|digit| char::from(b'A' + digit % 26)).collect();
        let name = format!("{tag}+{name}");
        let (name, [font, descendant, descriptor, content, letters]) =
            (Name(name.as_bytes()), refs);
        let thousandths = |units: i16| f32::from(units) * 1000.0 / f32::from(face.units_per_em());
        let outlines = Face::parse(&part, 0).ok().and_then(|it| it.raw_face().table(CFF));
        pdf.type0_font(font)
            .base_font(name)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(descendant)
            .to_unicode(letters);
        let mut cid = pdf.cid_font(descendant);
        let kind = if outlines.is_some() { CidFontType::Type0 } else { CidFontType::Type2 };
        cid.subtype(kind).base_font(name).system_info(IDENTITY).font_descriptor(descriptor);
        if outlines.is_none() {
            cid.cid_to_gid_map_predefined(Name(b"Identity"));
        }
        let wide = |glyph| face.glyph_hor_advance(GlyphId(glyph)).unwrap_or_default();
        let widths = self.used.remapped_gids().map(wide);
        let widths = widths.map(|units| f32::from(units) * 1000.0 / f32::from(face.units_per_em()));
        cid.widths().consecutive(0, widths);
        cid.finish();
        let ends = face.global_bounding_box();
        let ends = [ends.x_min, ends.y_min, ends.x_max, ends.y_max].map(thousandths);
        let mut about = pdf.font_descriptor(descriptor);
        about
            .name(name)
            .flags(FontFlags::SYMBOLIC)
            .bbox(Rect::new(ends[0], ends[1], ends[2], ends[3]))
            .italic_angle(0.0)
            .ascent(thousandths(face.ascender()))
            .descent(thousandths(face.descender()))
            .cap_height(thousandths(face.capital_height().unwrap_or_default()))
            .stem_v(STEM);
        match outlines {
            Some(_) => about.font_file3(content),
            None => about.font_file2(content),
        };
        about.finish();
        let packed = packed(outlines.unwrap_or(&part));
        let mut stream = pdf.stream(content, &packed);
        stream.filter(Filter::FlateDecode);
        if outlines.is_some() {
            stream.pair(Name(b"Subtype"), Name(b"CIDFontType0C"));
        }
        stream.finish();
        let mut map = UnicodeCmap::new(Name(b"Letters"), IDENTITY);
        self.letters.iter().for_each(|(place, letter)| map.pair(*place, *letter));
        pdf.cmap(letters, &map.finish());
        Some(())
    }
}

/// What a stream of a PDF holds.
pub(crate) fn packed(content: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    // It reads from memory.
    let _ = ZlibEncoder::new(content, Compression::default()).read_to_end(&mut packed);
    packed
}

/// The machine's regular and bold font with Helvetica's measures, if it has both.
fn machines() -> Option<&'static [File; 2]> {
    static FOUND: OnceLock<Option<[File; 2]>> = OnceLock::new();
    let find = || {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        FAMILIES.iter().find_map(|family| both(&fonts, family))
    };
    FOUND.get_or_init(find).as_ref()
}

fn both(fonts: &Database, family: &str) -> Option<[File; 2]> {
    let file = |weight: Weight| {
        let families = &[Family::Name(family)];
        let id = fonts.query(&Query { families, weight, ..Query::default() })?;
        // The nearest weight is found where there is no such.
        let found = fonts.face(id).filter(|found| found.weight == weight)?;
        let name = found.post_script_name.clone();
        let file =
            fonts.with_face_data(id, |data, place| File { name, bytes: data.to_vec(), place });
        file.filter(|file| subset(&file.bytes, file.place, &GlyphRemapper::new()).is_ok())
    };
    Some([file(Weight::NORMAL)?, file(Weight::BOLD)?])
}

/// The letter in the encoding of western PDF fonts (ISO 32000-1 annex D.2).
fn in_win_ansi(letter: char) -> u8 {
    match letter {
        ' '..='~' | '\u{a0}'..='\u{ff}' => u8::try_from(u32::from(letter)).unwrap_or(b'?'),
        '\u{20ac}' => 0x80,
        '\u{2026}' => 0x85,
        '\u{2018}' => 0x91,
        '\u{2019}' => 0x92,
        '\u{201c}' => 0x93,
        '\u{201d}' => 0x94,
        '\u{2022}' => 0x95,
        '\u{2013}' => 0x96,
        '\u{2014}' => 0x97,
        // A minus sign, a Greek mu.
        '\u{2212}' => b'-',
        '\u{3bc}' => 0xb5,
        _ => b'?',
    }
}

/// Those whose letters are as wide as Helvetica's.
const FAMILIES: [&str; 3] = ["Liberation Sans", "Nimbus Sans", "Arial"];
const IDENTITY: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
/// The table of outlines in PostScript's form, which a PDF holds without the rest of the file.
const CFF: Tag = Tag::from_bytes(b"CFF ");
/// The width of a stem, thousandths: no table of the file has it, and readers do without.
const STEM: f32 = 80.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_the_encoding_lacks_are_marked() {
        let letters = ['a', '±', '–', '→', '\n'].map(in_win_ansi);
        assert_eq!(letters, [b'a', 0xb1, 0x96, b'?', b'?']);
    }

    /// Skipped where no such font is.
    #[test]
    fn a_font_of_the_machine_is_embedded_with_what_is_used_of_it() {
        let [mut regular, _] = Font::both();
        let shown = regular.shown("aba");
        if machines().is_none() {
            assert_eq!(shown, b"aba");
            return;
        }
        assert_eq!(shown, [0, 1, 0, 2, 0, 1]);
        let mut pdf = Pdf::new();
        regular.write(&mut pdf, [1, 2, 3, 4, 5].map(Ref::new));
        let text: String = pdf.finish().into_iter().map(char::from).collect();
        // The two letters, and what stands for one that is missing.
        assert!(text.contains("/FontFile") && text.contains("Sans"), "{text}");
        assert!(text.contains("/W [0 [") && text.contains("<0002> <0062>"), "{text}");
        assert!(text.len() < 20_000, "{}", text.len());
    }
}
