//! See the library's documentation.

#![no_std]
#![no_main]

cc_size::program! { cc_size::bare(&mut cc_c4::C4::new(&cc_size::setup().into())) }
