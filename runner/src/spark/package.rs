//! The worker's Python package, compiled in and unpacked once for each version of it.

use super::{Package, hex};
use std::fs;
use std::io;
use std::path::Path;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// Every module of the package, by its path within it.
        pub(super) const FILES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../targets/spark/src/bench_spark/", $name))),)*
        ];
    };
}

files![
    "__init__.py",
    "__main__.py",
    "builtin/__init__.py",
    "builtin/curated.py",
    "builtin/dx.py",
    "builtin/lake.py",
    "builtin/latest.py",
    "builtin/mapping.py",
    "builtin/patients.py",
    "builtin/pipeline.py",
    "builtin/reports.py",
    "columns.py",
    "delta_log.py",
    "effects.py",
    "engine.py",
    "failures.py",
    "files.py",
    "ledger.py",
    "logs.py",
    "memory.py",
    "message.py",
    "protocol.py",
    "reading.py",
    "scout/__init__.py",
    "scout/checkout.py",
    "scout/pipeline.py",
    "scout/staging.py",
    "scout/stand_ins.py",
    "session.py",
    "settings.py",
    "stages.py",
    "worker.py",
];

const MODALITIES: (&str, &str) = (
    "modality_mapping_codes.csv",
    include_str!("../../../hl7/data/modality_mapping_codes.csv"),
);

/// Unpacks everything into a folder named by its digest, as a whole or not at all.
pub(super) fn unpack(cache: &Path) -> io::Result<Package> {
    let everything = || FILES.iter().chain([&MODALITIES]);
    let digest = hex(everything().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]));
    let folder = cache.join(format!("spark-package-{digest}"));
    let package = Package {
        modalities: folder.join(MODALITIES.0),
        folder,
    };
    if package.folder.exists() {
        return Ok(package);
    }
    let unfinished = cache.join(format!(
        "spark-package-{digest}.{}",
        uuid::Uuid::new_v4().simple()
    ));
    for (name, text) in FILES {
        let file = unfinished.join("bench_spark").join(name);
        fs::create_dir_all(file.parent().unwrap_or(&unfinished))?;
        fs::write(file, text)?;
    }
    fs::write(unfinished.join(MODALITIES.0), MODALITIES.1)?;
    match fs::rename(&unfinished, &package.folder) {
        // Another `bench` was faster.
        Err(_) if package.folder.exists() => fs::remove_dir_all(&unfinished)?,
        renamed => renamed?,
    }
    Ok(package)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    fn found(folder: &Path, below: &str, names: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("it is a folder") {
            let path = entry.expect("it can be listed").path();
            let name = path.file_name().expect("it has a name").to_string_lossy();
            if path.is_dir() {
                found(&path, &format!("{below}{name}/"), names);
            } else if name.ends_with(".py") {
                names.insert(format!("{below}{name}"));
            }
        }
    }

    #[test]
    fn every_module_of_the_worker_is_compiled_in() {
        let folder =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../targets/spark/src/bench_spark");
        let mut names = BTreeSet::new();
        found(&folder, "", &mut names);
        let packed: BTreeSet<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(packed, names);
    }

    #[test]
    fn the_package_is_unpacked_once_and_whole() {
        let cache = tempfile::tempdir().expect("a folder is made");
        let first = unpack(cache.path()).expect("it is unpacked");
        let text = fs::read_to_string(first.folder.join("bench_spark/worker.py"));
        assert!(text.is_ok_and(|text| text.contains("class Worker")));
        assert!(first.modalities.is_file());
        assert_eq!(unpack(cache.path()).expect("it is there"), first);
        let left = fs::read_dir(cache.path()).expect("it is a folder").count();
        assert_eq!(left, 1);
    }
}
