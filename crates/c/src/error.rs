//! What the codes say, and how a message reaches the caller's memory.

use core::ffi::CStr;

use crate::abi::Error;

impl Error {
    /// The sentence of a code; of what is no code, too.
    pub(crate) const fn text(code: i32) -> &'static CStr {
        match code {
            0 => c"done",
            1 => c"a pointer is null that must not be",
            2 => c"the memory holds no sender; accepted: one that was made and not freed",
            3 => c"another version of firstflight.h; accepted: that of this library",
            4 => c"no such control; accepted: <start-up>[+<avoidance>], as hystart-pp+cubic",
            5 => c"the control needs what the stack does not declare to provide",
            6 => c"a field of the configuration has no meaning; accepted: as firstflight.h says",
            7 => c"not enough memory; accepted: firstflight_size() bytes, aligned as it asks",
            8 => c"the call does not follow those before it; accepted: the order in firstflight.h",
            9 => c"older than the event before it; accepted: times that do not go back",
            10 => c"numbers that contradict what was told before",
            11 => c"this library was built without it",
            _ => c"no code of firstflight's",
        }
    }
}

/// Writes a message into the caller's memory: what does not fit is left out, and a zero ends it.
pub(crate) fn say(text: &str, room: &mut [u8]) {
    let Some(space) = room.len().checked_sub(1) else { return };
    let most = space.min(text.len());
    let fits = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    room[..fits].copy_from_slice(&text.as_bytes()[..fits]);
    room[fits] = 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_between_characters_and_always_ends() {
        let mut room = [7; 6];
        say("abcd\u{e9}", &mut room);
        assert_eq!(&room, b"abcd\0\x07");
        say("abc", &mut room);
        assert_eq!(&room[..4], b"abc\0");
        say("nothing", &mut []);
        let mut one = [7];
        say("nothing", &mut one);
        assert_eq!(one, [0]);
    }
}
