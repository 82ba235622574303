//! Tests of the whole controller, by document.

use crate::Cubic;

#[test]
fn a_controller_fits_into_half_a_kilobyte() {
    assert!(size_of::<Cubic>() <= 512, "{} bytes", size_of::<Cubic>());
}
