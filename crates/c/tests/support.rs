//! A sender made through C, and freed.

use std::ffi::{CStr, CString, c_char};
use std::ptr;

use firstflight_c::abi::{Config, Error};
use firstflight_c::calls::*;

/// A sender of a control; freed when it is dropped.
pub(crate) struct Made(pub(crate) *mut Sender);

impl Made {
    /// Makes one of this control, or returns the code and the message.
    pub(crate) fn of(control: &str, config: &Config) -> Result<Self, (Error, String)> {
        let control = CString::new(control).unwrap();
        let (mut made, mut message) = (ptr::null_mut(), [0 as c_char; 1_000]);
        let (to, room) = (message.as_mut_ptr(), message.len());
        let error = unsafe { firstflight_new(control.as_ptr(), config, &mut made, to, room) };
        let text = unsafe { CStr::from_ptr(to) }.to_str().unwrap().to_owned();
        if error == Error::Ok { Ok(Self(made)) } else { Err((error, text)) }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        unsafe { firstflight_free(self.0) };
    }
}
