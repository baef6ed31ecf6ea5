//! What is shipped is right, and stands in the repository's folder.

use bench_runner::scenario::{DatasetSource, FaultKind, Mode, SHIPPED, load};
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_shipped_scenario_loads_under_its_own_name_and_says_what_it_shows() {
    for (name, text) in SHIPPED {
        let loaded = load(name, &[]).unwrap_or_else(|errors| panic!("{name}: {errors}"));
        assert_eq!(loaded.scenario.name, *name);
        assert_eq!(loaded.text, *text);
        let about = loaded.scenario.about.unwrap_or_default();
        assert!((20..=100).contains(&about.len()), "{name}: {about}");
        assert!(text.starts_with("# "), "{name} begins with what it shows");
    }
}

#[test]
fn every_file_of_the_folder_is_shipped() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let shipped: BTreeSet<String> = SHIPPED
        .iter()
        .map(|(name, _)| format!("{name}.toml"))
        .collect();
    assert_eq!(files, shipped);
}

#[test]
fn a_shipped_file_loads_by_its_path_as_by_its_name() {
    for (name, _) in SHIPPED {
        let path = format!("{}/../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(
            load(&path, &[]).unwrap().scenario,
            load(name, &[]).unwrap().scenario
        );
    }
}

#[test]
fn dev05_kills_seven_attempts_and_the_last_workflow_is_done_on_its_third() {
    let scenario = load("dev05-concurrent", &[]).unwrap().scenario;
    let [variant] = scenario.variants.as_slice() else {
        panic!("one variant")
    };
    let is_memory = |kind: &FaultKind| matches!(kind, FaultKind::Memory(_));
    assert_eq!(variant.faults.len(), 7);
    assert!(variant.faults.iter().all(|fault| is_memory(&fault.kind)));
    let of_24: Vec<u32> = variant
        .faults
        .iter()
        .filter(|fault| fault.workflow == 24)
        .map(|fault| fault.attempt)
        .collect();
    assert_eq!(of_24, [1, 2]);
    assert!(matches!(variant.sequence.mode, Mode::Concurrent { .. }));
    assert_eq!((variant.sequence.workers, variant.sequence.slots), (1, 1));
}

#[test]
fn matched_differs_from_concurrent_in_launches_and_kills_only() {
    let matched = load("dev04-matched", &[]).unwrap().scenario;
    let concurrent = load("dev05-concurrent", &[]).unwrap().scenario;
    assert_eq!(matched.dataset, concurrent.dataset);
    let mut baseline = matched.variants[0].clone();
    let other = &concurrent.variants[0];
    assert_eq!(baseline.sequence.mode, Mode::Sequential);
    baseline.name.clone_from(&other.name);
    baseline.sequence.mode = other.sequence.mode.clone();
    baseline.sequence.seed = other.sequence.seed;
    baseline.faults.clone_from(&other.faults);
    assert_eq!(baseline, *other);
}

#[test]
fn the_reference_set_makes_the_published_24_workflows() {
    for name in ["dev04-sequential", "dev04-full", "dev04-matched"] {
        let scenario = load(name, &[]).unwrap().scenario;
        let DatasetSource::Generated { overrides, .. } = &scenario.dataset else {
            panic!("{name} is generated")
        };
        let logs = overrides.log_files.unwrap();
        let batch = u64::from(scenario.variants[0].sequence.files_per_workflow);
        assert_eq!(
            (overrides.messages, logs.div_ceil(batch)),
            (Some(100_000), 24)
        );
    }
}
