//! The list of stages is what runners know of them beforehand.

use crate::common::temporary;
use bench_embedded::{FolderProgress, Options, Progress, STAGES, Settings, Stage, ingest_folder};
use bench_generator::{Overrides, Spec, generate};
use std::collections::BTreeSet;

#[derive(Default)]
struct Names(BTreeSet<String>);

impl Progress for Names {
    fn stage(&mut self, stage: &Stage) {
        self.0.insert(stage.name.clone());
    }
}

impl FolderProgress for Names {}

#[test]
fn every_stage_that_is_told_is_one_of_the_list_and_each_of_the_list_occurs() {
    let folder = temporary();
    let mut told = Names::default();
    for profile in ["lifelike", "webs", "dirty"] {
        let logs = folder.path().join(profile);
        let overrides = Overrides {
            messages: Some(1200),
            log_files: Some(60),
            seed: Some(7),
            // From here on messages carry diagnoses, in `lifelike` too.
            start: Some("2018-12-01".to_owned()),
            ..Overrides::default()
        };
        let spec = Spec::load(profile, &overrides).expect("the profile is shipped");
        let options = bench_generator::Options {
            out: logs.clone(),
            threads: 2,
            only_files: None,
            resume: false,
        };
        generate(spec, &options, &bench_generator::Silent).expect("it is made");
        let pairs = [("auto_compact", "true"), ("auto_compact_min_files", "2")];
        let options = Options {
            settings: Settings::from_pairs(pairs).expect("they are settings"),
            ..Options::default()
        };
        let lake = folder.path().join(format!("lake-{profile}"));
        let lake = lake.to_str().expect("a temporary path is text");
        ingest_folder(&logs, lake, 10, options, &mut told).expect("it is ingested");
    }
    let listed: BTreeSet<String> = STAGES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(told.0, listed);
}
