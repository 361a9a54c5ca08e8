//! The border of the module: bytes in, bytes out, by address and length. A page asks for room,
//! writes its question there, asks, reads the answer, and gives both back.
#![allow(unsafe_code, reason = "memory that a page writes and reads has no other form")]

use crate::answer;

/// Room for so many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn ff_room(bytes: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; bytes].into_boxed_slice()).cast()
}

/// Takes room back.
///
/// # Safety
/// `at` is what [`ff_room`] or [`ff_ask`] gave, with its whole length, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ff_give_back(at: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, bytes)) });
}

/// Answers a question: four bytes that are 0 for an answer and 1 for a message of what is wrong,
/// four with the length of the text, and the text. Numbers have their low byte first.
///
/// # Safety
/// Both ranges are room that [`ff_room`] gave, and nobody writes there meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ff_ask(
    question: *const u8,
    question_bytes: usize,
    file: *const u8,
    file_bytes: usize,
) -> *mut u8 {
    // SAFETY: the caller's promise.
    let question = unsafe { std::slice::from_raw_parts(question, question_bytes) };
    // SAFETY: the caller's promise.
    let file = unsafe { std::slice::from_raw_parts(file, file_bytes) };
    let (status, text) = match answer(question, file) {
        Ok(text) => (0_u32, text),
        Err(message) => (1, message),
    };
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut all = Vec::with_capacity(text.len() + 8);
    all.extend_from_slice(&status.to_le_bytes());
    all.extend_from_slice(&length.to_le_bytes());
    all.extend_from_slice(text.as_bytes());
    Box::into_raw(all.into_boxed_slice()).cast()
}
