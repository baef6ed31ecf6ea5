//! The fold stands in memory for a whole run, so what it keeps of a message must stay small.
//! Alone in this file: other tests of the process would disturb the figure. The environment
//! variable `FOLD_MESSAGES` sets how many messages are folded.

use bench_tables::RowHash;
use bench_tables::fold::{Fact, Fold, Settings};

const MESSAGES: u64 = 250_000;
const A_WORKFLOW: u64 = 4_000;

/// Resident memory of this process in bytes, where the system says it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<u64>()
        .ok()
        .map(|kib| kib * 1024)
}

#[test]
fn a_message_takes_at_most_350_bytes() {
    let Some(before) = resident() else {
        eprintln!("SKIPPED: this system does not say how much memory a process has");
        return;
    };
    let messages = std::env::var("FOLD_MESSAGES").map_or(MESSAGES, |text| {
        text.parse().expect("FOLD_MESSAGES is a number")
    });
    let mut folding = std::time::Duration::ZERO;
    let mut fold = Fold::new(Settings::default());
    for first in (0..messages).step_by(usize::try_from(A_WORKFLOW).unwrap()) {
        // One message an accession and three a patient, as in the data sets without life cycles;
        // half of the reports have both ids.
        let rows: Vec<[String; 4]> = (first..messages.min(first + A_WORKFLOW))
            .map(|number| {
                let (day, patient) = (number / 28, number / 3);
                [
                    format!(
                        "2023/{:02}/{:02}/2023{day:06}_{}.hl7",
                        day % 12,
                        day % 28,
                        number % 28
                    ),
                    format!("{:09}", 100_000_000 + number),
                    format!("{:08}", 10_000_000 + patient),
                    format!("E{patient:08}"),
                ]
            })
            .collect();
        let facts: Vec<Fact<'_>> = rows
            .iter()
            .enumerate()
            .map(|(n, [source_file, accession, mpi, mrn])| Fact {
                source_file,
                year: Some(2023),
                message_dt: Some(n as i64),
                report: RowHash(n as u128),
                curated: Some(RowHash(n as u128)),
                accession: Some(accession),
                diagnoses: 2,
                mpi: Some(mpi),
                epic_mrn: (n % 2 == 0).then_some(mrn),
            })
            .collect();
        let started = std::time::Instant::now();
        fold.workflow(&facts).unwrap();
        folding += started.elapsed();
    }
    let bytes = (resident().unwrap() - before) / messages;
    let seconds = folding.as_secs_f64();
    eprintln!("{bytes} bytes a message, {messages} messages folded in {seconds:.2} s");
    assert_eq!(fold.expected().totals().dx, 2 * messages);
    assert!(bytes <= 350, "{bytes} bytes a message");
}
