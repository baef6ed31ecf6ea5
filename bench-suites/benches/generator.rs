//! Making data sets: `varied` with truth and digests, on a memory file system where there is one.

use bench_generator::{Options, Overrides, Silent, Spec, generate};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::path::Path;

const MESSAGES: u64 = 20_000;

fn making(criterion: &mut Criterion) {
    let memory = Path::new("/dev/shm");
    let mut group = criterion.benchmark_group("generate");
    group.sample_size(10);
    group.throughput(Throughput::Elements(MESSAGES));
    for profile in ["varied", "lifelike", "dirty"] {
        for threads in [1, 2] {
            group.bench_function(BenchmarkId::new(profile, threads), |bencher| {
                bencher.iter_batched(
                    || {
                        let folder = if memory.is_dir() {
                            tempfile::tempdir_in(memory)
                        } else {
                            tempfile::tempdir()
                        };
                        let overrides = Overrides {
                            messages: Some(MESSAGES),
                            ..Overrides::default()
                        };
                        (folder.unwrap(), Spec::load(profile, &overrides).unwrap())
                    },
                    |(folder, spec)| {
                        let options = Options {
                            out: folder.path().to_path_buf(),
                            threads,
                            only_files: None,
                            resume: false,
                        };
                        let info = generate(spec, &options, &Silent).unwrap();
                        // The folder goes with the value, outside the measured time.
                        (folder, info)
                    },
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(benches, making);
criterion_main!(benches);
