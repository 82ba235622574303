//! See the library's documentation.

#![no_std]
#![no_main]

cc_size::program! {}
