//! Splits, reads and inspects any bytes: as a log, and as a message behind a good header.
//!
//! What is checked is that nothing panics, that positions are right, and that the splitter
//! agrees with one written without a care for speed. `docs/reading-hl7.md` says how to run it.

#![no_main]

#[path = "../../tests/support/invariants.rs"]
mod invariants;

use libfuzzer_sys::fuzz_target;

const HEADER: &[u8] = b"<SB>\nMSH|^~\\&|A|B|||20230113180717||ORU^R01|1|P|2.7<R>\n";

fuzz_target!(|bytes: &[u8]| {
    invariants::check(bytes);
    invariants::check(&[HEADER, bytes].concat());
});
