//! One file of a store: a line that says what follows and its checksum, and what follows, as one line of
//! JSON.

use super::store::StoreError;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The form of a store and of its files.
pub(super) const FORMAT: u64 = 1;

/// The end of the name of a file that is being written.
const UNFINISHED: &str = ".unfinished";

/// Whether a file is one that was being written.
pub(super) fn is_unfinished(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(UNFINISHED)
}

/// The text of a file: header and body, a line each.
pub(super) fn text(body: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    let internal = |error: serde_json::Error| StoreError::Text(error.to_string());
    let body = serde_json::to_vec(body).map_err(internal)?;
    let header = json!({ "format": FORMAT, "sha256": checksum(&body) });
    let mut text = serde_json::to_vec(&header).map_err(internal)?;
    text.push(b'\n');
    text.extend(body);
    text.push(b'\n');
    Ok(text)
}

fn checksum(body: &[u8]) -> String {
    let digest = Sha256::digest(body);
    let digits: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}

/// Writes a file that takes its name once it is complete, and only if the name is free. `false` where it
/// is not.
pub(super) fn write_new(path: &Path, content: &[u8]) -> Result<bool, StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draw = uuid::Uuid::new_v4().simple().to_string();
    let beside = path.with_file_name(format!(".{name}.{draw}{UNFINISHED}"));
    let written = File::create_new(&beside).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()
    });
    let placed = written.and_then(|()| place(&beside, path));
    // What did not get the name is of no use to anybody.
    if !matches!(placed, Ok(true)) {
        let _ = fs::remove_file(&beside);
    }
    placed.map_err(|source| StoreError::Io {
        action: "write",
        path: path.to_path_buf(),
        source,
    })
}

/// Gives a file its name, unless that is taken.
fn place(beside: &Path, path: &Path) -> io::Result<bool> {
    let placed = match renameat_with(CWD, beside, CWD, path, RenameFlags::NOREPLACE) {
        // A file system that cannot do this may know hard links, which never replace either.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            fs::hard_link(beside, path).and_then(|()| fs::remove_file(beside))
        }
        other => other.map_err(io::Error::from),
    };
    match placed {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a file holds just that.
pub(super) fn holds(path: &Path, content: &[u8]) -> Result<bool, StoreError> {
    Ok(bytes(path)? == content)
}

fn bytes(path: &Path) -> Result<Vec<u8>, StoreError> {
    fs::read(path).map_err(|source| StoreError::Io {
        action: "read",
        path: path.to_path_buf(),
        source,
    })
}

/// Reads a file that [`write_new`] wrote.
pub(super) fn read<B: DeserializeOwned>(path: &Path) -> Result<B, StoreError> {
    let content = bytes(path)?;
    let damaged = |reason: String| StoreError::Damaged {
        path: path.to_path_buf(),
        reason,
    };
    let whole = content.strip_suffix(b"\n");
    let Some(whole) = whole else {
        return Err(damaged(
            "it ends in the middle of a line, so it is half written".to_owned(),
        ));
    };
    let split = whole.iter().position(|byte| *byte == b'\n');
    let (header, body) = match split {
        Some(at) => (&whole[..at], Some(&whole[at + 1..])),
        None => (whole, None),
    };
    let header: Value = serde_json::from_slice(header)
        .map_err(|_| damaged("its first line is no JSON".to_owned()))?;
    match header["format"].as_u64() {
        Some(FORMAT) => {}
        Some(found) => {
            return Err(StoreError::Format {
                path: path.to_path_buf(),
                found,
                known: FORMAT,
            });
        }
        None => return Err(damaged("its first line names no format".to_owned())),
    }
    let Some(body) = body else {
        return Err(damaged(
            "nothing stands below its first line, so it is half written".to_owned(),
        ));
    };
    if header["sha256"].as_str() != Some(checksum(body).as_str()) {
        return Err(damaged("its checksum does not fit its content".to_owned()));
    }
    serde_json::from_slice(body).map_err(|error| {
        // The place alone: its content is whole, so another version wrote something else.
        damaged(format!(
            "its content is not what this version knows (column {})",
            error.column()
        ))
    })
}

/// Names and paths of what is in a folder, in order; none where there is no folder. Hidden files of others,
/// such as `.gitkeep`, are passed over.
pub(super) fn list(folder: &Path) -> Result<Vec<(String, PathBuf)>, StoreError> {
    let io = |source| StoreError::Io {
        action: "read",
        path: folder.to_path_buf(),
        source,
    };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(io)?.path();
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        if !name.starts_with('.') || is_unfinished(&name) {
            found.push((name, path));
        }
    }
    found.sort();
    Ok(found)
}
