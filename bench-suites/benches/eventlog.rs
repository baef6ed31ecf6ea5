//! How fast Spark's event logs are read, in bytes of their text, beside decompressing alone.
//!
//! The text is the sample of the `bench-eventlog` crate, which Spark wrote for a Delta table: its lines
//! between the first and the last are repeated to 256 MB, about what six small workflows of the
//! platform's transformer write. The reader uses all cores.

use bench_eventlog::{LogFiles, locate, read_log};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::fs;
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::Path;

const BYTES: usize = 256 << 20;

/// The files of a log that rolls every 32 MB.
fn log(folder: &Path, name: &str, packed: bool) -> LogFiles {
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../targets/spark/eventlog/tests/data/plain.log"
    );
    let text = fs::read_to_string(sample).expect("the sample is shipped");
    let lines: Vec<&str> = text.lines().collect();
    let (last, lines) = lines.split_last().expect("the sample has lines");
    let repeated = lines[6..].join("\n") + "\n";
    let folder = folder.join(format!("eventlog_v2_{name}"));
    fs::create_dir(&folder).expect("the folder is new");
    let count = BYTES / repeated.len();
    let each = count.div_ceil(8);
    for number in 0..8 {
        let path = folder.join(format!("events_{}_{name}", number + 1));
        let mut text = if number == 0 {
            lines[..6].join("\n") + "\n"
        } else {
            String::new()
        };
        for _ in 0..each.min(count - number * each) {
            text.push_str(&repeated);
        }
        if number == 7 {
            text.push_str(last);
            text.push('\n');
        }
        let mut file = fs::File::create(path).expect("the folder takes files");
        if packed {
            zstd::stream::copy_encode(text.as_bytes(), file, 1).expect("the disk takes it");
        } else {
            file.write_all(text.as_bytes()).expect("the disk takes it");
        }
    }
    locate(&folder).expect("it is a log").remove(0)
}

fn eventlog(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let plain = log(folder.path(), "plain", false);
    let packed = log(folder.path(), "zstd", true);
    let bytes = read_log(&plain).expect("it can be read").text_bytes;
    let mut group = criterion.benchmark_group("eventlog");
    group.throughput(Throughput::Bytes(bytes));
    group.sample_size(10);

    group.bench_function("decompress_zstd", |bencher| {
        let mut buffer = vec![0; 1 << 20];
        bencher.iter(|| {
            let mut sum = 0;
            for (_, path) in &packed.files {
                let file = fs::File::open(path).expect("it is there");
                let mut reader = zstd::stream::read::Decoder::new(file).expect("it is zstd");
                loop {
                    match reader.read(&mut buffer).expect("it is whole") {
                        0 => break,
                        count => sum += count,
                    }
                }
            }
            assert_eq!(black_box(sum) as u64, bytes);
        });
    });
    for (name, files) in [("read_plain", &plain), ("read_zstd", &packed)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let log = read_log(black_box(files)).expect("it can be read");
                assert!(log.complete);
                log.total.tasks
            });
        });
    }
    group.finish();
}

criterion_group!(benches, eventlog);
criterion_main!(benches);
