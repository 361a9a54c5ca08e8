//! Where the bytes come from: a file, or a temporary one into which a pipe or a packed file was
//! read; what is short stays in memory, and all of it where there are no files, in a browser.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Seek, Write as _};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::errors::ReadFrameHeaderError::SkipFrame;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use tempfile::SpooledTempFile;

use crate::RecordError;

/// A file that can be read again from its begin.
pub(crate) struct Rewindable {
    pub(crate) content: SpooledTempFile,
    /// What was packed breaks off.
    pub(crate) truncated: bool,
}

/// Opens what is named; `-` is standard input. What is no regular file, as a pipe, is read once and
/// whole, so that the readers can begin again.
pub(crate) fn open(file: &str, path: &Path) -> Result<File, RecordError> {
    let unreadable = |source| RecordError::Unreadable { file: file.to_owned(), source };
    if path.as_os_str() == "-" {
        return keep(file, io::stdin().lock())?.content.into_file().map_err(unreadable);
    }
    let found = std::fs::metadata(path).map_err(unreadable)?;
    if found.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    let opened = File::open(path).map_err(unreadable)?;
    match found.is_file() {
        true => Ok(opened),
        false => keep(file, opened)?.content.into_file().map_err(unreadable),
    }
}

/// What is packed as .gz or .zst, unpacked; `None` if it is not packed. The first bytes tell, not
/// the name.
pub(crate) fn unpacked<R: Read + Seek>(
    file: &str,
    source: &mut R,
) -> Result<Option<Rewindable>, RecordError> {
    let unreadable = |source| RecordError::Unreadable { file: file.to_owned(), source };
    let mut first = Vec::new();
    source.rewind().map_err(unreadable)?;
    source.by_ref().take(4).read_to_end(&mut first).map_err(unreadable)?;
    source.rewind().map_err(unreadable)?;
    let packed = BufReader::with_capacity(BUFFER, source);
    match first.as_slice() {
        [0x1f, 0x8b, ..] => keep(file, MultiGzDecoder::new(packed)).map(Some),
        // A frame, or one that is to be skipped (RFC 8878, section 3.1).
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
            keep(file, Frames::new(packed).map_err(unreadable)?).map(Some)
        }
        _ => Ok(None),
    }
}

/// Reads all into a temporary file that has no name. What breaks off is kept as far as it goes.
fn keep(file: &str, from: impl Read) -> Result<Rewindable, RecordError> {
    keep_at_most(MOST, file, from)
}

fn keep_at_most(most: u64, file: &str, mut from: impl Read) -> Result<Rewindable, RecordError> {
    let no_room = |source| RecordError::NoRoom {
        file: file.to_owned(),
        folder: std::env::temp_dir().display().to_string(),
        source,
    };
    let mut content = SpooledTempFile::new(IN_MEMORY);
    let (mut kept, mut truncated) = (0_u64, false);
    let mut buffer = vec![0; BUFFER];
    loop {
        let length = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) if kept > 0 => {
                truncated = true;
                break;
            }
            Err(source) => return Err(RecordError::Unreadable { file: file.to_owned(), source }),
        };
        kept += length as u64;
        if kept > most {
            return Err(RecordError::Refused {
                file: file.to_owned(),
                found: format!("more than {} MiB through a pipe, or packed", most >> 20),
                accepted: "at most so many; a longer record as a file that is not packed"
                    .to_owned(),
            });
        }
        content.write_all(&buffer[..length]).map_err(no_room)?;
    }
    content.rewind().map_err(no_room)?;
    Ok(Rewindable { content, truncated })
}

/// The frames of a .zst, one behind the other (RFC 8878, section 3.1).
struct Frames<R> {
    packed: BufReader<R>,
    decoder: FrameDecoder,
}

impl<R: Read> Frames<R> {
    fn new(packed: BufReader<R>) -> io::Result<Self> {
        let mut decoder = FrameDecoder::new();
        // The decoder bounds the window of a frame, to 100 MiB, from its second frame on only.
        decoder.init(EMPTY).map_err(io::Error::other)?;
        decoder.decode_blocks(&EMPTY[6..], BlockDecodingStrategy::All).map_err(io::Error::other)?;
        Ok(Self { packed, decoder })
    }

    /// Begins the next frame; whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.packed.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.packed) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(SkipFrame { length, .. })) => {
                    io::copy(&mut self.packed.by_ref().take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            while self.decoder.can_collect() < buffer.len() && !self.decoder.is_finished() {
                let more = BlockDecodingStrategy::UptoBytes(buffer.len());
                self.decoder.decode_blocks(&mut self.packed, more).map_err(io::Error::other)?;
            }
            let length = self.decoder.read(buffer)?;
            if length > 0 || buffer.is_empty() || !self.begin()? {
                return Ok(length);
            }
        }
    }
}

/// A frame that holds nothing.
const EMPTY: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x00, 0x01, 0x00, 0x00];
/// Bytes at a time.
const BUFFER: usize = 64 << 10;
/// What is no longer stays in memory, bytes.
const IN_MEMORY: usize = if cfg!(target_family = "wasm") { usize::MAX } else { 1 << 20 };
/// The most that comes through a pipe or out of what is packed, bytes.
const MOST: u64 = 512 << 20;

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    /// A frame of one raw block (RFC 8878, section 3.1.1).
    fn zst(bytes: &[u8]) -> Vec<u8> {
        let length = u8::try_from(bytes.len()).unwrap();
        [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, length, length << 3 | 1, length >> 5, 0], bytes].concat()
    }

    fn text(packed: Vec<u8>) -> (String, bool) {
        let mut kept = unpacked("x", &mut Cursor::new(packed)).unwrap().unwrap();
        let mut text = String::new();
        kept.content.read_to_string(&mut text).unwrap();
        (text, kept.truncated)
    }

    #[test]
    fn what_was_packed_in_several_parts_is_whole() {
        assert_eq!(text([gz(b"one "), gz(b"two")].concat()), ("one two".to_owned(), false));
        let skipped = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];
        let frames = [&zst(b"one ")[..], &skipped, &zst(b"two")].concat();
        assert_eq!(text(frames), ("one two".to_owned(), false));
        assert!(unpacked("x", &mut Cursor::new(b"plain")).unwrap().is_none());
        assert!(unpacked("x", &mut Cursor::new(b"")).unwrap().is_none());
    }

    #[test]
    fn what_breaks_off_is_kept_as_far_as_it_goes() {
        let mut packed = [gz(b"one "), gz(b"two")].concat();
        packed.truncate(packed.len() - 6);
        let (begin, truncated) = text(packed);
        assert!(begin.starts_with("one ") && truncated, "{begin}");
        let mut frames = [zst(b"one "), zst(b"two")].concat();
        frames.truncate(frames.len() - 2);
        assert_eq!(text(frames), ("one ".to_owned(), true));
    }

    #[test]
    fn a_window_that_takes_much_memory_is_refused() {
        // The descriptor of the largest window there is (RFC 8878, section 3.1.1.1.2).
        let frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0x01, 0x00, 0x00];
        let told = unpacked("x.zst", &mut Cursor::new(frame)).err().unwrap().to_string();
        assert!(told.starts_with("x.zst: ") && told.contains("indow"), "{told}");
    }

    #[test]
    fn more_than_the_bound_is_refused_with_the_bound() {
        let told = keep_at_most(1 << 20, "x", io::repeat(7)).err().unwrap().to_string();
        assert!(
            told.starts_with("x: more than 1 MiB through") && told.contains("accepted"),
            "{told}"
        );
    }
}
