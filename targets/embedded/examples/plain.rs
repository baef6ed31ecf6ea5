//! The least that an ingest could do: parses the logs and writes the rows of `reports` to Parquet
//! once, on as many threads as the engine has. What the engine takes is told as a multiple of it.
//!
//! `cargo run --release -p bench-embedded --example plain -- LOGS FOLDER`

use bench_hl7::{LogPath, ModalityMap, Reader, discover, split};
use bench_tables::arrow::ReportBatchBuilder;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::path::Path;
use std::time::Instant;

fn write(
    logs: &[LogPath],
    folder: &Path,
    name: usize,
) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
    let reader = Reader::new(ModalityMap::shipped());
    let mut arena = bumpalo::Bump::new();
    let mut rows = 0;
    for (part, logs) in logs.chunks(150).enumerate() {
        let mut builder = ReportBatchBuilder::new();
        for log in logs {
            let bytes = std::fs::read(&log.path)?;
            for message in split(&bytes) {
                arena.reset();
                let source = log.source_file(message.ordinal()).unwrap_or_default();
                if let Ok(reading) = reader.read(&message, &source, &arena) {
                    builder.append(&reading.row);
                    rows += 1;
                }
            }
        }
        let batch = builder.finish()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .build();
        let file = File::create(folder.join(format!("{name}-{part}.parquet")))?;
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties))?;
        writer.write(&batch)?;
        writer.close()?;
    }
    Ok(rows)
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(logs), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("give a folder of logs and one to write to".into());
    };
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let began = Instant::now();
    let logs = discover(Path::new(&logs))?;
    let half = logs.len().div_ceil(2).max(1);
    let rows: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = logs
            .chunks(half)
            .enumerate()
            .map(|(name, logs)| scope.spawn(move || write(logs, folder, name)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no thread panics"))
            .sum::<Result<u64, _>>()
    })?;
    println!("{rows} rows in {:.3} s", began.elapsed().as_secs_f64());
    Ok(())
}
