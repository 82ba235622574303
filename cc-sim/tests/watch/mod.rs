//! Controllers watched by the conformance kit. The fuzz targets use it too.

#[path = "../../../cc-testkit/tests/subjects/mod.rs"]
pub(crate) mod subjects;

use cc_sim::{Algorithm, AnyController};
use cc_testkit::{Record, Watched};

/// A controller with what the kit knows of its algorithm. A new algorithm is a line here.
pub(crate) fn watched(algorithm: Algorithm, controller: AnyController, record: &Record) -> AnyController {
    let watched = match algorithm {
        Algorithm::C4 => Watched::new(controller, &subjects::c4()),
        Algorithm::Bbr => Watched::new(controller, &subjects::bbr()),
        Algorithm::Cubic => Watched::new(controller, &subjects::cubic()),
        Algorithm::QuicDc | Algorithm::QuicDcFraction | Algorithm::QuicDcProbe => {
            Watched::new(controller, &subjects::quicdc())
        }
        Algorithm::Westwood => Watched::new(controller, &subjects::westwood()),
        Algorithm::Reno => Watched::new(controller, &subjects::reno()),
    };
    Box::new(watched.recording_in(record))
}
