//! The bytes of every profile, pinned.
//!
//! A changed digest means that nobody can make an earlier data set again with this generator: raise
//! `GENERATOR_VERSION`, say so in the changelog, and update the snapshot (`just golden`).

mod common;

use bench_generator::{Dataset, GENERATOR_VERSION, PROFILES};
use common::{make, rate, total};
use std::fmt::Write as _;
use xxhash_rust::xxh3::Xxh3;

#[test]
fn the_bytes_of_every_profile_are_those_of_this_generator_version() {
    let mut table = format!("generator version {GENERATOR_VERSION}\n");
    for (profile, _) in PROFILES {
        for (form, overrides) in [("total", total(2_500, 90)), ("rate ", rate(31.0, 80))] {
            let folder = tempfile::tempdir().unwrap();
            let info = make(profile, &overrides, folder.path());
            // The truth by its hashes: how Parquet lays it out is not the generator's to promise.
            let mut truth = Xxh3::new();
            let dataset = Dataset::open(folder.path()).unwrap();
            for file in &info.files {
                dataset
                    .log(&file.path, |message| {
                        for hash in [message.report_hash, message.curated_hash] {
                            truth.update(&hash.map_or([0; 16], |hash| hash.to_bytes()));
                        }
                    })
                    .unwrap();
            }
            writeln!(
                table,
                "{profile:10} {form} logs {} rows {:032x} {:>6} messages {:>8} bytes",
                info.digest,
                truth.digest128(),
                info.messages(),
                info.bytes
            )
            .unwrap();
        }
    }
    insta::assert_snapshot!(table);
}
