//! Scenario files: what is shipped, how layers come together, and what wrong files are told.

use bench_runner::scenario::{self, Loaded, SHIPPED, ScenarioErrors};
use std::path::Path;

fn sets(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

fn parse(text: &str, pairs: &[(&str, &str)]) -> Result<Loaded, ScenarioErrors> {
    scenario::parse(text, Path::new("x.toml"), Path::new(""), &sets(pairs))
}

#[test]
fn every_shipped_scenario_loads_under_its_own_name_and_says_what_it_shows() {
    for (name, _) in SHIPPED {
        let loaded = scenario::load(name, &[]).unwrap_or_else(|errors| panic!("{name}: {errors}"));
        assert_eq!(loaded.scenario.name, *name);
        assert!(loaded.scenario.about.is_some(), "{name}");
    }
}

/// The least that a scenario needs.
const LEAST: &str = "format = 1\nname = \"x\"\n";

#[test]
fn a_set_on_a_key_reaches_every_variant_and_one_on_a_variant_only_that() {
    let text = format!(
        "{LEAST}[variants.a.settings]\nshuffle_partitions = 200\n\
         [variants.b.settings]\nshuffle_partitions = 16\n"
    );
    let partitions = |pairs: &[(&str, &str)]| -> Vec<u64> {
        let loaded = parse(&text, pairs).unwrap();
        let variants = loaded.scenario.variants.iter();
        variants
            .map(|variant| variant.settings["shuffle_partitions"].as_u64().unwrap())
            .collect()
    };
    let all = ("settings.shuffle_partitions", "8");
    let one = ("variants.b.settings.shuffle_partitions", "32");
    assert_eq!(partitions(&[]), [200, 16]);
    assert_eq!(partitions(&[all]), [8, 8]);
    assert_eq!(partitions(&[one]), [200, 32]);
    assert_eq!(partitions(&[one, all]), [8, 32]);
}
