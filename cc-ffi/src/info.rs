//! What the library has: version and algorithms.

#![expect(unsafe_code, reason = "names that C links to, and pointers from C")]

use crate::memory::write;
use crate::status::status_of;
use crate::{ALGORITHMS, Status};
use core::ffi::{CStr, c_char};
use core::ptr::null;

/// Version of the structs, constants and signatures of the header.
pub const CCFFI_ABI_VERSION: u32 = 1;

/// Refuses callers compiled against another version.
pub(crate) const fn check_version(version: u32) -> Result<(), Status> {
    if version == CCFFI_ABI_VERSION { Ok(()) } else { Err(Status::AbiVersion) }
}

/// The ABI version of the library: what `CCFFI_ABI_VERSION` of the header must be.
#[unsafe(no_mangle)]
pub extern "C" fn ccffi_abi_version() -> u32 {
    CCFFI_ABI_VERSION
}

/// How many algorithms there are.
#[unsafe(no_mangle)]
pub extern "C" fn ccffi_algorithm_count() -> usize {
    ALGORITHMS.len()
}

/// The number of the algorithm with this index, from 0 to `ccffi_algorithm_count() - 1`; 0 for any other index.
#[unsafe(no_mangle)]
pub extern "C" fn ccffi_algorithm_number(index: usize) -> u32 {
    ALGORITHMS.get(index).map_or(0, |algorithm| algorithm.number)
}

/// The name of the algorithm with this number, in lower case; NULL if there is none. Never freed.
#[unsafe(no_mangle)]
pub extern "C" fn ccffi_algorithm_name(number: u32) -> *const c_char {
    ALGORITHMS
        .iter()
        .find(|algorithm| algorithm.number == number)
        .map_or(null(), |algorithm| algorithm.name.as_ptr())
}

/// Writes the number of the algorithm with this name to `number`. Upper and lower case are different.
///
/// Fails with `CCFFI_STATUS_NULL_POINTER`, `CCFFI_STATUS_MISALIGNED`, or `CCFFI_STATUS_UNKNOWN_ALGORITHM`.
///
/// # Safety
///
/// `name` is NULL or points to a string that ends with a zero; `number` is NULL or points to a `uint32_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccffi_algorithm_by_name(name: *const c_char, number: *mut u32) -> Status {
    if name.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: not null (checked), and ends with a zero (the caller's promise).
    let name = unsafe { CStr::from_ptr(name) };
    match ALGORITHMS.iter().find(|algorithm| algorithm.name == name) {
        // SAFETY: the caller's promise.
        Some(algorithm) => status_of(unsafe { write(number, algorithm.number) }),
        None => Status::UnknownAlgorithm,
    }
}
