//! Verifies a lake that `bench ingest` made of a data set in path order, and says how long that
//! took and how much memory: for measuring verification by itself.
//!
//! ```text
//! cargo run --release --example verify-lake -- DATASET LAKE [LOGS_PER_WORKFLOW [THREADS]]
//! ```
//!
//! There are no accounts of a worker here, so the checks of ledgers are not shown.

use bench_runner::verify::{Ingested, Outcome, Subject, Truth, verify};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dataset, lake, rest @ ..] = arguments.as_slice() else {
        return Err("usage: verify-lake DATASET LAKE [LOGS_PER_WORKFLOW [THREADS]]".into());
    };
    let size = rest.first().map_or(Ok(150), |text| text.parse())?;
    let threads = rest.get(1).map_or(Ok(2), |text| text.parse())?;
    let root = PathBuf::from(dataset);
    let logs = bench_hl7::discover(&root)?;
    let logs: Vec<String> = logs.into_iter().map(|log| log.relative).collect();
    let workflows = (1..)
        .zip(logs.chunks(size))
        .map(|(workflow, logs)| Ingested {
            workflow,
            logs: logs.to_vec(),
            outcome: Outcome::Completed,
            ledger: None,
            attempts: 1,
            versions: std::collections::BTreeMap::new(),
            probed: Vec::new(),
        });
    let is_generated = root.join(bench_generator::DATASET_FILE).exists();
    let subject = Subject {
        lake: lake.clone(),
        truth: if is_generated {
            Truth::Generated
        } else {
            Truth::ReadFromLogs
        },
        dataset_root: root,
        workflows: workflows.collect(),
        create_mapping: true,
        threads,
        ..Subject::default()
    };
    let verification = verify(&subject)?;
    for check in verification
        .checks
        .iter()
        .filter(|check| check.name != "ledger")
    {
        let table = check.table.as_deref().unwrap_or("-");
        let verdict = if check.passed { "ok" } else { "WRONG" };
        println!("{verdict:5} {table:38} {:18} {}", check.name, check.found);
        for position in check.positions.iter().filter(|_| !check.passed) {
            println!("      {}", serde_json::to_string(position)?);
        }
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    println!(
        "{:.2} s, {}",
        verification.seconds,
        peak.unwrap_or("peak memory unknown")
    );
    Ok(())
}
