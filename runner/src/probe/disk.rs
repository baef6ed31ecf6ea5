//! The data files that lie in a table's folder, whatever its log says of them.
//!
//! A folder may hold tens of thousands. A data file is written once and never changed, so its size
//! is asked for once; a folder that did not change since it was last read is not read again.

use crate::delta::is_data_file;
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// File systems stamp a folder with a clock that ticks this coarsely at most: a folder changed
/// less than this before it was read may have changed again without another stamp.
const TICK: Duration = Duration::from_millis(100);

/// What was found the last time, by folder.
#[derive(Default)]
pub(super) struct Disk {
    folders: HashMap<PathBuf, Folder>,
}

#[derive(Default)]
struct Folder {
    /// When it was changed last, if that settles what is in it.
    settled: Option<SystemTime>,
    folders: Vec<PathBuf>,
    files: HashMap<String, u64>,
    bytes: u64,
}

impl Disk {
    /// Number and bytes of the data files at and below a folder, without its log.
    pub(super) fn count(&mut self, root: &Path) -> io::Result<(u64, u64)> {
        let mut known = std::mem::take(&mut self.folders);
        let (mut files, mut bytes) = (0, 0);
        let mut next = vec![root.to_owned()];
        while let Some(path) = next.pop() {
            let changed = fs::metadata(&path).and_then(|metadata| metadata.modified())?;
            let mut folder = known.remove(&path).unwrap_or_default();
            if folder.settled != Some(changed) {
                folder = folder.read_again(&path, changed)?;
            }
            files += folder.files.len() as u64;
            bytes += folder.bytes;
            next.extend(folder.folders.iter().cloned());
            self.folders.insert(path, folder);
        }
        Ok((files, bytes))
    }
}

impl Folder {
    fn read_again(mut self, path: &Path, changed: SystemTime) -> io::Result<Self> {
        let mut now = Self::default();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if name == "_delta_log" {
                continue;
            }
            if entry.file_type()?.is_dir() {
                now.folders.push(entry.path());
            } else if is_data_file(name) {
                let (name, size) = match self.files.remove_entry(name) {
                    Some(known) => known,
                    None => match entry.metadata().as_ref().map(Metadata::len) {
                        Ok(size) => (name.to_owned(), size),
                        // It was deleted since the folder was read.
                        Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                        Err(_) => return Err(entry.metadata().expect_err("it failed before")),
                    },
                };
                now.bytes += size;
                now.files.insert(name, size);
            }
        }
        let age = SystemTime::now().duration_since(changed);
        now.settled = age.is_ok_and(|age| age > TICK).then_some(changed);
        Ok(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_files_are_counted_below_the_folder_but_not_in_its_log() {
        let folder = tempfile::tempdir().expect("a folder is made");
        let root = folder.path();
        let put = |path: &str, bytes: usize| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder is made");
            fs::write(path, vec![0; bytes]).expect("a file is written");
        };
        put("a.parquet", 3);
        put("year=2023/b.parquet", 5);
        put("_delta_log/00000000000000000010.checkpoint.parquet", 100);
        put(".a.parquet.crc", 1);
        let mut disk = Disk::default();
        assert_eq!(disk.count(root).expect("it is read"), (2, 8));
        put("year=2023/c.parquet", 7);
        assert_eq!(disk.count(root).expect("it is read"), (3, 15));
        fs::remove_file(root.join("a.parquet")).expect("it goes");
        assert_eq!(disk.count(root).expect("it is read"), (2, 12));
    }

    #[test]
    fn a_folder_that_did_not_change_is_not_read_again() {
        let folder = tempfile::tempdir().expect("a folder is made");
        fs::write(folder.path().join("a.parquet"), [0; 3]).expect("a file is written");
        std::thread::sleep(TICK * 2);
        let mut disk = Disk::default();
        disk.count(folder.path()).expect("it is read");
        // Rewriting a file leaves its folder's stamp; a data file never changes, so nobody looks.
        fs::write(folder.path().join("a.parquet"), [0; 9]).expect("a file is written");
        assert_eq!(disk.count(folder.path()).expect("it is read"), (1, 3));
    }
}
