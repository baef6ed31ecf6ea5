//! What messages say: versions, status, lines, diagnoses.

use super::asked::Asked;
use super::chance::Distribution;
use super::data::{Clean, Data, Status, V27, VERSIONS};
use super::table::Table;

pub(super) fn measure(asked: &Asked, data: &Data, table: &mut Table) {
    versions(asked, data, table);
    let reports = &asked.reports;
    let sum = reports.preliminary + reports.final_ + reports.wet_read;
    let count = |status| {
        let with = data.firsts().filter_map(|(_, clean)| clean.status);
        with.fold((0, 0), |(hits, all), found| {
            (hits + u64::from(found == status), all + 1)
        })
    };
    for (name, share, status) in [
        (
            "preliminary, of studies",
            reports.preliminary,
            Status::Preliminary,
        ),
        ("final, of studies", reports.final_, Status::Final),
        ("wet read, of studies", reports.wet_read, Status::WetRead),
        (
            "corrected, of studies' first messages",
            0.0,
            Status::Corrected,
        ),
    ] {
        let (hits, all) = count(status);
        table.share(name, share / sum, hits, all);
    }
    let share_of = |with: fn(&Clean) -> bool, hit: fn(&Clean) -> bool| {
        let chosen = data.own().filter(|(_, clean)| with(clean));
        chosen.fold((0, 0), |(hits, all), (_, clean)| {
            (hits + u64::from(hit(clean)), all + 1)
        })
    };
    let (hits, all) = share_of(|_| true, |clean| clean.status.is_none());
    table.share("messages without OBX", reports.no_obx, hits, all);
    let with_lines = |clean: &Clean| clean.version == V27 && clean.status.is_some();
    let (hits, all) = share_of(with_lines, |clean| clean.addendum);
    table.share("2.7 reports with an addendum", reports.addendum, hits, all);
    let (hits, all) = share_of(with_lines, |clean| clean.note);
    table.share(
        "2.7 reports with a technician's note",
        reports.technician_note,
        hits,
        all,
    );
    lines(asked, data, table);
    let diagnoses = |(_, clean): (_, &Clean)| (clean.version == V27).then_some(clean.diagnoses);
    table.distribution(
        "diagnoses of a 2.7 message",
        &Distribution::new(&reports.diagnoses),
        &[0.5, 0.9],
        data.firsts().filter_map(diagnoses).collect(),
    );
    let coded = data.firsts().filter(|(_, clean)| clean.diagnoses > 0);
    let (hits, all) = coded.fold((0, 0), |(hits, all), (_, clean)| {
        (hits + u64::from(clean.icd9), all + 1)
    });
    table.share("2.7 with diagnoses in ICD-9", reports.icd9, hits, all);
}

fn versions(asked: &Asked, data: &Data, table: &mut Table) {
    let periods = asked.versions.periods();
    for (at, (name, from, shares)) in periods.iter().enumerate() {
        let until = periods.get(at + 1).map_or(i64::MAX, |(_, next, _)| *next);
        let within = data
            .firsts()
            .filter(|(message, _)| (*from..until).contains(&data.logs[message.log].day));
        let mut found = [0; 3];
        for (_, clean) in within {
            found[clean.version] += 1;
        }
        let all = found.iter().sum();
        if all == 0 {
            continue;
        }
        for version in 0..3 {
            let name = format!("version {}{name}", VERSIONS[version]);
            table.share(name, shares[version], found[version], all);
        }
    }
}

/// Lines as the weights say, of messages with nothing on top of them.
fn lines(asked: &Asked, data: &Data, table: &mut Table) {
    let reports = &asked.reports;
    for (name, version, weights) in [
        ("OBX of a plain 2.7 report", V27, &reports.lines_2_7),
        ("OBX of a plain 2.3 report", 0, &reports.lines_2_3),
        ("body lines of a 2.4 report", 1, &reports.lines_2_4),
    ] {
        let plain = data.own().map(|(_, clean)| clean).filter(|clean| {
            clean.version == version && clean.status.is_some() && !clean.addendum && !clean.note
        });
        let values = plain.map(|clean| {
            if version == 1 {
                clean.text.body
            } else {
                clean.text.obx
            }
        });
        let asked = Distribution::new(weights);
        table.distribution(name, &asked, &[0.5, 0.9], values.collect());
    }
}
