//! Status codes.

use core::ffi::c_char;

/// What every function that can fail answers with. Except for `CCFFI_STATUS_OK`, nothing was changed.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// A pointer is null that must not be.
    NullPointer = 1,
    /// A pointer is not aligned for what it points to.
    Misaligned = 2,
    /// The memory is smaller than the object.
    TooSmall = 3,
    /// The caller was compiled against a header of another ABI version.
    AbiVersion = 4,
    /// No algorithm has this number or name.
    UnknownAlgorithm = 5,
    /// The memory does not hold an object of this kind: never initialised, or of another kind.
    NotAnObject = 6,
    /// A field or argument that names one of several values names none of them.
    InvalidEnum = 7,
    /// A `has` field has a bit that means nothing.
    InvalidHas = 8,
    /// `max_datagram_size` is 0: a field was forgotten.
    InvalidDatagramSize = 9,
    /// An array has more elements than memory can hold.
    InvalidLength = 10,
    /// No path has this capacity.
    UnknownCapacity = 11,
    /// The path has no room for one more packet in flight.
    RingFull = 12,
}

impl Status {
    /// The status with this number.
    fn from_raw(raw: i32) -> Option<Self> {
        ALL.iter().copied().find(|status| *status as i32 == raw)
    }

    const fn text(self) -> &'static core::ffi::CStr {
        match self {
            Self::Ok => c"ok",
            Self::NullPointer => c"null pointer",
            Self::Misaligned => c"misaligned pointer",
            Self::TooSmall => c"memory too small",
            Self::AbiVersion => c"header and library are of different ABI versions",
            Self::UnknownAlgorithm => c"unknown algorithm",
            Self::NotAnObject => c"not an initialised object of this kind",
            Self::InvalidEnum => c"value out of range",
            Self::InvalidHas => c"unknown bit in a 'has' field",
            Self::InvalidDatagramSize => c"max_datagram_size is 0",
            Self::InvalidLength => c"array too long",
            Self::UnknownCapacity => c"no path of this capacity",
            Self::RingFull => c"no room for one more packet in flight",
        }
    }
}

const ALL: [Status; 13] = [
    Status::Ok,
    Status::NullPointer,
    Status::Misaligned,
    Status::TooSmall,
    Status::AbiVersion,
    Status::UnknownAlgorithm,
    Status::NotAnObject,
    Status::InvalidEnum,
    Status::InvalidHas,
    Status::InvalidDatagramSize,
    Status::InvalidLength,
    Status::UnknownCapacity,
    Status::RingFull,
];

/// The outcome as C sees it.
pub(crate) fn status_of(outcome: Result<(), Status>) -> Status {
    match outcome {
        Ok(()) => Status::Ok,
        Err(status) => status,
    }
}

/// A few words for a status, in English; "unknown status" for a number that is none. Never NULL, never freed.
#[expect(unsafe_code, reason = "a name that C links to")]
#[unsafe(no_mangle)]
pub extern "C" fn ccffi_status_text(status: i32) -> *const c_char {
    Status::from_raw(status).map_or(c"unknown status", Status::text).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::{ALL, Status};

    #[test]
    fn every_number_stands_for_one_status_and_the_table_has_them_all() {
        for (index, status) in ALL.into_iter().enumerate() {
            assert_eq!(status as usize, index);
            assert_eq!(Status::from_raw(status as i32), Some(status));
        }
        assert_eq!(Status::from_raw(-1), None);
        assert_eq!(Status::from_raw(ALL.len() as i32), None);
    }
}
