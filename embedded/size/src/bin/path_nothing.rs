//! See the library's documentation.

#![no_std]
#![no_main]

cc_size::program! { cc_size::path(cc_size::Nothing) }
