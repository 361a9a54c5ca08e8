//! What is packed as .gz or .zst. A page in a browser unpacks by itself, with less code.

use std::io::{self, BufRead as _, BufReader, Read, Seek};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::errors::ReadFrameHeaderError::SkipFrame;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::RecordError;
use crate::source::{BUFFER, Rewindable, first, keep};

/// What is packed as .gz or .zst, unpacked; `None` if it is not packed. The first bytes
/// decide, not the name.
pub(crate) fn unpacked<R: Read + Seek>(
    file: &str,
    source: &mut R,
) -> Result<Option<Rewindable>, RecordError> {
    let first = first(file, source, 4)?;
    let packed = BufReader::with_capacity(BUFFER, source);
    match first.as_slice() {
        [0x1f, 0x8b, ..] => keep(file, MultiGzDecoder::new(packed)).map(Some),
        // A frame, or one that is to be skipped (RFC 8878, section 3.1).
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
            let frames = Frames::new(packed).map_err(RecordError::unreadable(file))?;
            keep(file, frames).map(Some)
        }
        _ => Ok(None),
    }
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
        let message = unpacked("x.zst", &mut Cursor::new(frame)).err().unwrap().to_string();
        assert!(message.starts_with("x.zst: ") && message.contains("indow"), "{message}");
    }
}
