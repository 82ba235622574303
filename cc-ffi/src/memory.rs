//! Memory that belongs to the caller: the only place that turns its pointers into references.

#![expect(unsafe_code, reason = "pointers from C")]

use crate::Status;
use core::ffi::c_void;

/// Types of which any initialised bytes are a value, and which are plain data.
///
/// # Safety
///
/// Every bit pattern must be a valid value: integers, arrays of them, and `repr(C)` structs of such.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: integers.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u8 {}

/// What lies at the start of the memory of an object: which kind it is, then the object.
///
/// The tag is read before anything else, so that zeroed memory and objects of another kind are told apart from an object of
/// the kind that is asked for.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Object<T> {
    tag: u64,
    value: T,
}

/// Whether `pointer` may point to a `T`.
fn check<T>(pointer: *const T) -> Result<(), Status> {
    if pointer.is_null() {
        Err(Status::NullPointer)
    } else if pointer.is_aligned() {
        Ok(())
    } else {
        Err(Status::Misaligned)
    }
}

/// A copy of what `from` points to.
///
/// # Safety
///
/// `from` is null, or points to an initialised `T` that nobody writes to during the call.
pub(crate) unsafe fn read<T: Plain>(from: *const T) -> Result<T, Status> {
    check(from)?;
    // SAFETY: not null and aligned (checked); initialised and not written to (the caller's promise); any bytes are a `T`.
    Ok(unsafe { from.read() })
}

/// Writes what `to` points to.
///
/// # Safety
///
/// `to` is null, or points to memory for a `T` that nobody else uses during the call.
pub(crate) unsafe fn write<T: Plain>(to: *mut T, value: T) -> Result<(), Status> {
    check(to)?;
    // SAFETY: not null and aligned (checked); writable and not shared (the caller's promise).
    unsafe { to.write(value) };
    Ok(())
}

/// The array of `count` elements at `first`; empty, whatever `first` is, if `count` is 0.
///
/// # Safety
///
/// `count` is 0, or `first` is null, or `first` points to `count` initialised elements that nobody writes to as long as the
/// slice is used.
pub(crate) unsafe fn slice<'a, T: Plain>(first: *const T, count: usize) -> Result<&'a [T], Status> {
    if count == 0 {
        return Ok(&[]);
    }
    check(first)?;
    // No object is larger than `isize::MAX` bytes.
    let bytes = count.checked_mul(size_of::<T>()).ok_or(Status::InvalidLength)?;
    if isize::try_from(bytes).is_err() {
        return Err(Status::InvalidLength);
    }
    // SAFETY: not null, aligned and of a possible size (checked); initialised and not written to (the caller's promise).
    Ok(unsafe { core::slice::from_raw_parts(first, count) })
}

/// Makes an object in `memory`, which has `size` bytes. What was there is overwritten and not dropped, as memory that the caller
/// gives up is not: no object owns anything outside of itself.
///
/// # Safety
///
/// `memory` is null, or points to `size` bytes that nobody else uses during the call.
pub(crate) unsafe fn place<T>(
    memory: *mut c_void,
    size: usize,
    tag: u64,
    make: impl FnOnce() -> T,
) -> Result<(), Status> {
    let object = memory.cast::<Object<T>>();
    check(object)?;
    if size < size_of::<Object<T>>() {
        return Err(Status::TooSmall);
    }
    // SAFETY: not null, aligned and large enough (checked); writable and not shared (the caller's promise).
    unsafe { object.write(Object { tag, value: make() }) };
    Ok(())
}

/// The tag of the object in `memory`.
///
/// # Safety
///
/// `memory` is null, or points to at least eight initialised bytes that nobody writes to during the call.
pub(crate) unsafe fn tag(memory: *const c_void) -> Result<u64, Status> {
    // SAFETY: the caller's promise. The tag is the first field of a `repr(C)` struct.
    unsafe { read(memory.cast::<u64>()) }
}

/// The object in `memory`, to be looked at.
///
/// # Safety
///
/// `memory` is null, or points to at least eight initialised bytes; if these are `tag`, [`place`] has made an `Object<T>` with
/// this tag there. Nobody writes to it as long as the reference is used.
pub(crate) unsafe fn open<'a, T>(memory: *const c_void, tag: u64) -> Result<&'a T, Status> {
    let object = memory.cast::<Object<T>>();
    check(object)?;
    // SAFETY: the caller's promise.
    if unsafe { self::tag(memory) }? != tag {
        return Err(Status::NotAnObject);
    }
    // SAFETY: not null and aligned (checked); the tag says that `place` made an `Object<T>` here; not written to (the caller's
    // promise).
    Ok(unsafe { &(*object).value })
}

/// The object in `memory`, to be changed.
///
/// # Safety
///
/// As for [`open`], and nobody else uses the object as long as the reference is used.
pub(crate) unsafe fn open_mut<'a, T>(memory: *mut c_void, tag: u64) -> Result<&'a mut T, Status> {
    let object = memory.cast::<Object<T>>();
    check(object)?;
    // SAFETY: the caller's promise.
    if unsafe { self::tag(memory) }? != tag {
        return Err(Status::NotAnObject);
    }
    // SAFETY: not null and aligned (checked); the tag says that `place` made an `Object<T>` here; not shared (the caller's
    // promise).
    Ok(unsafe { &mut (*object).value })
}
