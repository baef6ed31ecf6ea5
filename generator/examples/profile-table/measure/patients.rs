//! Patients: their studies, what is drawn once for each, and their webs of numbers.

use super::asked::Asked;
use super::data::{Clean, Data, V27};
use super::runs::Runs;
use super::table::Table;
use std::collections::BTreeMap;

#[derive(Default)]
struct Patient<'a> {
    studies: Vec<(u64, &'a Clean)>,
}

impl Patient<'_> {
    fn any(&self, what: impl Fn(&Clean) -> bool) -> bool {
        self.studies.iter().any(|(_, clean)| what(clean))
    }

    fn is_older_than(&self, slot: u64) -> bool {
        self.studies
            .iter()
            .any(|(before, clean)| *before < slot && clean.version != V27)
    }

    /// 2.7 studies that a test picks, and how many of them have a mark.
    fn count(&self, of: impl Fn(u64, &Clean) -> bool, hit: impl Fn(&Clean) -> bool) -> (u64, u64) {
        let mut found = (0, 0);
        for (slot, clean) in &self.studies {
            if clean.version == V27 && of(*slot, clean) {
                found.0 += u64::from(hit(clean));
                found.1 += 1;
            }
        }
        found
    }
}

pub(super) fn measure(asked: &Asked, data: &Data, table: &mut Table) {
    let mut patients: BTreeMap<u64, Patient<'_>> = BTreeMap::new();
    let mut firsts = 0;
    for (message, clean) in data.firsts() {
        let patient = patients.entry(clean.patient).or_default();
        patient.studies.push((message.slot, clean));
        firsts += 1;
    }
    let places = data.messages.len() as u64;
    let runs = Runs::new(asked, places);
    let expected = runs.studies(f64::from(firsts) / places as f64);
    let studies: Vec<u32> = patients
        .values()
        .map(|one| one.studies.len() as u32)
        .collect();
    table.distribution("studies of a patient", &expected, &[0.5, 0.99], studies);

    let of = |with: &dyn Fn(&Patient<'_>) -> bool, hit: &dyn Fn(&Clean) -> bool| {
        let chosen = patients.values().filter(|one| with(one));
        chosen.fold((0, 0), |(hits, of), one| {
            (hits + u64::from(one.any(hit)), of + 1)
        })
    };
    let in_27 = |one: &Patient<'_>| one.any(|clean| clean.version == V27);
    let shares = &asked.patients;
    let (hits, all) = of(&|_| true, &|clean| clean.accented);
    table.share(
        "patients with a name beyond ASCII",
        shares.accented,
        hits,
        all,
    );
    let (hits, all) = of(&in_27, &|clean| clean.race_unavailable);
    table.share(
        "2.7 patients of unavailable race",
        shares.race_unavailable,
        hits,
        all,
    );
    let (hits, all) = of(&in_27, &|clean| clean.mbmc);
    table.share("2.7 patients with an MBMC number", shares.mbmc, hits, all);
    ages(asked, &patients, table);
    webs(asked, &runs, &patients, table);
    components(asked, data, table);
}

fn ages(asked: &Asked, patients: &BTreeMap<u64, Patient<'_>>, table: &mut Table) {
    let first = |one: &Patient<'_>| one.studies.iter().map(|(_, clean)| clean.age).min();
    let ages = patients.values().filter_map(first);
    let (youngest, oldest) = ages.fold((i64::MAX, 0), |(a, b), age| (age.min(a), age.max(b)));
    // A patient's first study can be one that the data set does not show as such: a follow-up's
    // place, or a message with a fault. What is seen first is then up to a run later.
    let most = i64::from(asked.patients.oldest) * 365 + 31;
    let whole = asked.life_cycle.follow_ups + asked.resends.rate == 0.0 && !asked.has_faults();
    table.push(
        "age at a patient's first study, days",
        format!("0 to {most}"),
        format!("{youngest} to {oldest}"),
        if whole {
            format!("0 to {most}")
        } else {
            "0 or more".to_owned()
        },
        youngest >= 0 && (oldest <= most || !whole),
    );
}

fn webs(asked: &Asked, runs: &Runs, patients: &BTreeMap<u64, Patient<'_>>, table: &mut Table) {
    let webs = &asked.webs;
    // A message of a patient in a web always carries the EMPI number.
    let in_web = 1.0 - (1.0 - webs.second_epic) * (1.0 - webs.merged);
    let empi = in_web + (1.0 - in_web) * asked.patients.empi;
    let groups = patients.values().map(|one| {
        one.count(
            |slot, _| one.is_older_than(slot),
            |clean| clean.empi.is_some(),
        )
    });
    table.share_of_groups(
        "2.7 with EMPI, of patients with older reports",
        empi,
        groups,
    );
    if !asked.has_faults() {
        let groups = patients.values().map(|one| {
            one.count(
                |slot, _| !one.is_older_than(slot),
                |clean| clean.empi.is_some(),
            )
        });
        table.share_of_groups("2.7 with EMPI, of other patients", in_web, groups);
    }
    let groups = patients
        .values()
        .map(|one| one.count(|_, clean| !clean.mbmc, |clean| clean.second_epic));
    table.share_of_groups(
        "2.7 with a second EPIC number",
        webs.second_epic * runs.second_half_of_leaders,
        groups,
    );
    let groups = patients.values().map(|one| {
        one.count(
            |_, _| true,
            |clean| clean.empi.is_some_and(|empi| empi != clean.patient),
        )
    });
    table.share_of_groups(
        "2.7 with another's EMPI",
        webs.merged * runs.followers / 2.0,
        groups,
    );
}

fn components(asked: &Asked, data: &Data, table: &mut Table) {
    let (all, conflicting) = data.components;
    let found = format!("{:.3} % of {all}", conflicting as f64 * 100.0 / all as f64);
    let name = "components that conflict";
    if asked.has_webs() {
        table.push(name, "–", found, "follows from the two above", None);
    } else {
        // A number that a fault cuts, or that of a message joined to another, may conflict.
        let within = (!asked.has_faults()).then_some(conflicting == 0);
        table.push(name, "0 %", found, "0 % without faults", within);
    }
}
