//! What must hold for any bytes: nothing panics, positions are right, and a second splitter,
//! written without a care for speed, finds the same messages.

#[path = "support/invariants.rs"]
mod invariants;

use bench_hl7::inspect::inspect;
use bench_hl7::{ModalityMap, Reader, split};
use bumpalo::Bump;
use invariants::check;
use proptest::prelude::*;

/// Bytes in which markers, delimiters and odd characters are frequent.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    const TOKENS: &[&[u8]] = &[
        b"<SB>",
        b"<SB>\n",
        b"<EB>",
        b"<EB><R>\n",
        b"<R>",
        b"<R>\n",
        b"<R>\r\n",
        b"<R>\x85\n",
        b"<E",
        b"B>",
        b"\r",
        b"\n",
        b"\r\n",
        b"\x85",
        b"\xa0",
        b"\xc2\x85",
        b"\xc3\xa9",
        b"\xe9",
        b"\0",
        b"\x1c",
        b" ",
        b"\t",
        b"|",
        b"||",
        b"|||||||||",
        b"^",
        b"^^^^",
        b"~",
        b"&",
        b"\\",
        b"\\F\\",
        b"\\X0D\\",
        b"\\.br\\",
        b"text",
        b"TX",
        b"SS",
        b"&GDT",
        b"&IMP",
        b"A^B",
        b"20230113180717",
        b"202301131807",
        b"20230229",
        b"MSH|^~\\&|a|b|||20230113180717|||id|P|2.7<R>\n",
        b"MSH|^~\\&",
        b"PID|1||",
        b"\nPID|1|m|7^^^EPIC^MRN~8^^^A^MR",
        b"\nPV1|1|O",
        b"\nORC|1|2|3",
        b"\nOBR|1|2|3|BHC76140^b^c",
        b"\nOBX|1|TX|&IMP|1|a~b",
        b"\nOBX|2|ST|&GDT|1|c",
        b"\nOBX|1|ST|||",
        b"\nDG1|1||a^b^c",
        b"\nZDS|1",
        b"OBR||||||||||||||||1^F^G",
        b"2023-01-13 18:07:17.8754|INFO|\n",
    ];
    let token = prop_oneof![
        8 => proptest::sample::select(TOKENS).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_naive_splitter_agrees_and_nothing_panics_on_any_tokens(log in soup()) {
        check(&log);
    }

    #[test]
    fn nothing_panics_on_a_message_of_any_tokens(body in soup()) {
        check(&[b"<SB>\nMSH|^~\\&|a|b|||20230113180717|||id|P|2.7<R>\n", body.as_slice()].concat());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn nothing_panics_on_any_bytes(log in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&log);
        check(&[b"<SB>\n", log.as_slice()].concat());
    }

    #[test]
    fn the_parser_of_the_standard_stops_where_its_own_reading_of_the_whole_message_does(
        lines in proptest::collection::vec("(PID|OBX|OB|OBXX| OBX|||x)[|^~&\\\\a]{0,6}", 0..8),
    ) {
        let lines: Vec<String> = std::iter::once("MSH|^~\\&|a".to_owned()).chain(lines).collect();
        let staged: String = lines.iter().map(|line| format!("{line}\r")).collect();
        let log: String = lines.iter().map(|line| format!("{line}<R>\n")).collect();
        let log = format!("<SB>\n{log}");
        let whole = hl7_parser::Message::parse(&staged).expect("the header is good");
        let arena = Bump::new();
        let reader = Reader::new(ModalityMap::shipped());
        let message = split(log.as_bytes()).next().expect("a message");
        let inspection = inspect(&reader, &message, None, "s.hl7", &arena);
        prop_assert_eq!(inspection.standard.segments_kept as usize, whole.segments.len());
    }
}
