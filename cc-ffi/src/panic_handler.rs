//! What a panic does in a library without `std`: the crates do not panic, so this is for bugs.

#![expect(unsafe_code, reason = "calls C")]

unsafe extern "C" {
    /// C's `abort` (C11 section 7.22.4.1); whoever has no C library gives one.
    safe fn abort() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    abort()
}
