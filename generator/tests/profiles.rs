//! Every quantity of a shipped profile is in the data that it makes.

mod common;
#[path = "../examples/profile-table/measure/mod.rs"]
mod measure;

use bench_generator::{Dataset, Overrides, PROFILES, Spec};
use common::{make, rate, total};
use measure::{Data, Table, judge, measure};

fn measured(profile: &str, overrides: &Overrides) -> Table {
    let folder = tempfile::tempdir().unwrap();
    make(profile, overrides, folder.path());
    measure(folder.path()).unwrap()
}

fn assert_within(profile: &str, table: &Table) {
    let outside = table.outside();
    assert!(
        outside.is_empty(),
        "{profile}: {outside:?}\n{}",
        table.render(false)
    );
    assert!(table.judged() > 50, "{profile}: {}", table.judged());
}

#[test]
fn every_quantity_of_a_shipped_profile_is_in_its_data() {
    for (profile, _) in PROFILES {
        let logs = if profile == "production" { 3 } else { 1_200 };
        let messages = if profile == "production" {
            12_000
        } else {
            8_000
        };
        assert_within(profile, &measured(profile, &total(messages, logs)));
    }
}

#[test]
fn a_rate_is_held_to_its_quantities_as_a_total_is() {
    assert_within("lifelike", &measured("lifelike", &rate(9.0, 900)));
}

/// The table can fail: data is held to what another spec asks, one change at a time.
#[test]
fn data_of_another_spec_is_outside() {
    let folder = tempfile::tempdir().unwrap();
    make("lifelike", &total(8_000, 1_200), folder.path());
    let dataset = Dataset::open(folder.path()).unwrap();
    let data = Data::gather(&dataset, folder.path()).unwrap();
    for (change, quantity) in [
        (
            "[volume]\nweekdays = [1, 1, 1, 1, 1, 1, 1]",
            "weight of a Sunday (1 is even)",
        ),
        (
            "[volume]\ndispersion = 0.9",
            "volume of a log: variance against the expected",
        ),
        ("[volume]\nsecond_feed = 0.1", "days with a second feed"),
        ("[volume]\ngrowth_per_year = 0.3", "growth by the year"),
        ("[versions]\nera = \"mixed\"", "version 2.3"),
        ("[patients]\nmbmc = 0.5", "2.7 patients with an MBMC number"),
        (
            "[patients]\naccented = 0.04",
            "patients with a name beyond ASCII",
        ),
        (
            "[patients]\nstudies = [[1, 1]]",
            "studies of a patient, max",
        ),
        ("[reports]\nno_obx = 0.1", "messages without OBX"),
        ("[reports]\nicd9 = 0.15", "2.7 with diagnoses in ICD-9"),
        (
            "[reports]\nlines_2_7 = [[16, 1]]",
            "OBX of a plain 2.7 report, gap to the weights",
        ),
        ("[life_cycle]\nfollow_ups = 0.2", "follow-ups"),
        (
            "[life_cycle]\nout_of_order = 0.08",
            "follow-ups dated before what they follow",
        ),
        ("[resends]\nrate = 0.03", "exact copies"),
        ("[late]\nrate = 0.06", "late, of studies' first messages"),
        ("[faults]\nchatter = 0.01", "fault chatter, of messages"),
    ] {
        let path = folder.path().join("other.toml");
        std::fs::write(&path, format!("base = \"lifelike\"\n{change}\n")).unwrap();
        let other = Spec::load(path.to_str().unwrap(), &total(8_000, 1_200)).unwrap();
        let table = judge(&data, other.file()).unwrap();
        let outside = table.outside();
        assert!(
            outside.contains(&quantity),
            "{change}: {outside:?}\n{}",
            table.render(false)
        );
    }
}
