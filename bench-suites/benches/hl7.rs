//! How fast logs are split, and messages read and extracted into Arrow batches, on one thread, beside a
//! plain search for newlines.
//!
//! The messages are the platform's own test messages that the `hl7` crate ships, repeated to
//! 16 MB: more than the caches hold, so that memory is part of the measurement. One in five of
//! them holds text that is not ASCII and has to be decoded.

use bench_hl7::{ModalityMap, Reader, split};
use bench_tables::arrow::ReportBatchBuilder;
use bench_tables::{ReportColumn, RowEncoder};
use bumpalo::Bump;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memchr::memchr_iter;
use std::hint::black_box;

const BYTES: usize = 16 << 20;
/// Rows of a batch.
const BATCH_ROWS: usize = 4096;

macro_rules! shipped {
    ($($path:literal),+ $(,)?) => {
        [$(include_bytes!(concat!("../../hl7/tests/data/staging/", $path)).as_slice()),+]
    };
}

/// Whole logs, one after the other.
fn messages() -> Vec<u8> {
    let logs = shipped![
        "2000/20000216_PORU.log",
        "2007/20071021.log",
        "2019/20190513.log",
        "2023/20230113.log",
    ];
    let mut bytes = Vec::with_capacity(BYTES + (16 << 10));
    for log in logs.into_iter().cycle() {
        if bytes.len() >= BYTES {
            break;
        }
        bytes.extend_from_slice(log);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

fn hl7(criterion: &mut Criterion) {
    let log = messages();
    let reader = Reader::new(ModalityMap::shipped());
    let mut group = criterion.benchmark_group("hl7");
    group.throughput(Throughput::Bytes(log.len() as u64));
    group.sample_size(30);

    group.bench_function("scan_newlines", |bencher| {
        bencher.iter(|| memchr_iter(b'\n', black_box(&log)).fold(0, |sum: usize, at| sum ^ at));
    });
    group.bench_function("split", |bencher| {
        bencher.iter(|| {
            split(black_box(&log))
                .map(|message| message.body().len())
                .sum::<usize>()
        });
    });
    group.bench_function("split_and_read_all_columns", |bencher| {
        let mut arena = Bump::new();
        bencher.iter(|| {
            let mut rows = 0;
            for message in split(black_box(&log)) {
                if let Ok(reading) = reader.read(&message, "s.hl7", &arena) {
                    black_box(reading.row.get(ReportColumn::ReportText));
                    black_box(&reading);
                    rows += 1;
                }
                arena.reset();
            }
            rows
        });
    });
    group.bench_function("split_read_and_extract_to_arrow", |bencher| {
        let mut arena = Bump::new();
        bencher.iter(|| {
            let mut builder = ReportBatchBuilder::new();
            let mut rows = 0;
            for message in split(black_box(&log)) {
                if let Ok(reading) = reader.read(&message, "s.hl7", &arena) {
                    builder.append(&reading.row);
                }
                arena.reset();
                // Batches, as an engine makes them, not one of everything.
                if builder.rows() == BATCH_ROWS {
                    rows += black_box(builder.finish().unwrap()).num_rows();
                }
            }
            rows + black_box(builder.finish().unwrap()).num_rows()
        });
    });
    group.bench_function("split_read_and_hash", |bencher| {
        let mut arena = Bump::new();
        let mut encoder = RowEncoder::new();
        bencher.iter(|| {
            let mut sum = 0u128;
            for message in split(black_box(&log)) {
                if let Ok(reading) = reader.read(&message, "s.hl7", &arena) {
                    sum ^= encoder.report(&reading.row).0;
                }
                arena.reset();
            }
            sum
        });
    });
    group.finish();
}

criterion_group!(benches, hl7);
criterion_main!(benches);
