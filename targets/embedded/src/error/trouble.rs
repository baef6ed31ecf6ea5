//! What a system or a store said, looked for behind the errors of the libraries in between: whether
//! it lasts, and what a person can do about it.

use delta_kernel::Error as KernelError;
use deltalake::DeltaTableError;
use deltalake::logstore::object_store;
use std::error::Error;
use std::io::ErrorKind;

/// What is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// No room on the disk, or a quota or a limit on a file's size is reached.
    Full,
    /// Writing, or access at all, is not allowed.
    Refused,
    /// What should be there is not, or is something else.
    Missing,
    /// Something that the system or the store did not do, for a reason that may pass.
    Passing,
}

/// Whether another attempt meets the same trouble, unless somebody does something.
pub(super) fn lasts(error: &(dyn Error + 'static)) -> bool {
    matches!(find(error), Some(Trouble::Refused | Trouble::Missing))
}

/// Whether an error tells of the system or the store, and not of what was read there.
pub(super) fn is_of_the_store(error: &(dyn Error + 'static)) -> bool {
    find(error).is_some()
}

/// What to do, as the end of a message; nothing where nothing is known.
pub(super) fn hint(error: &(dyn Error + 'static)) -> &'static str {
    match find(error) {
        Some(Trouble::Full) => {
            "; make room and try again: the next attempt continues from what is committed"
        }
        Some(Trouble::Refused) => "; the lake must be readable and writable",
        Some(Trouble::Missing | Trouble::Passing) | None => "",
    }
}

fn find(error: &(dyn Error + 'static)) -> Option<Trouble> {
    let mut next = Some(error);
    while let Some(error) = next {
        let found = of_system(error).or_else(|| of_store(error));
        // A passing trouble may stand for what a deeper error says more exactly.
        match found.or_else(|| of_kernel(error)) {
            None => next = error.source(),
            Some(Trouble::Passing) => {
                return error.source().and_then(find).or(Some(Trouble::Passing));
            }
            found => return found,
        }
    }
    None
}

fn of_system(error: &(dyn Error + 'static)) -> Option<Trouble> {
    let error = error.downcast_ref::<std::io::Error>()?;
    // An error that wraps another tells of that one.
    if let Some(inner) = error.get_ref() {
        return find(inner).or(Some(Trouble::Passing));
    }
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            Some(Trouble::Full)
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Some(Trouble::Refused),
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory => {
            Some(Trouble::Missing)
        }
        _ => Some(Trouble::Passing),
    }
}

fn of_store(error: &(dyn Error + 'static)) -> Option<Trouble> {
    match error.downcast_ref::<object_store::Error>()? {
        object_store::Error::PermissionDenied { .. }
        | object_store::Error::Unauthenticated { .. } => Some(Trouble::Refused),
        object_store::Error::NotFound { .. } => Some(Trouble::Missing),
        _ => Some(Trouble::Passing),
    }
}

/// The kernel hides some of its causes.
fn of_kernel(error: &(dyn Error + 'static)) -> Option<Trouble> {
    match error.downcast_ref::<KernelError>()? {
        KernelError::IOError(error) => find(error),
        KernelError::ObjectStore(error) => find(error),
        KernelError::Arrow(error) => find(error),
        KernelError::FileNotFound(_) => Some(Trouble::Missing),
        KernelError::Reqwest(_) => Some(Trouble::Passing),
        _ => None,
    }
}

/// What the Delta library found wrong with a log, without quoting the log.
pub(super) fn told(error: &DeltaTableError) -> String {
    match error {
        DeltaTableError::InvalidJsonLog { version, .. } => {
            format!("the entry of version {version} is no valid JSON")
        }
        DeltaTableError::KernelError(error) => told_by_kernel(error),
        DeltaTableError::NotATable(_)
        | DeltaTableError::InvalidVersion(_)
        | DeltaTableError::Generic(_)
        | DeltaTableError::VersionMismatch(..)
        | DeltaTableError::InvalidTableLocation(_) => error.to_string(),
        _ => "an entry or a checkpoint cannot be decoded".to_owned(),
    }
}

fn told_by_kernel(error: &KernelError) -> String {
    match error {
        KernelError::Backtraced { source, .. } => told_by_kernel(source),
        KernelError::InvalidProtocol(_)
        | KernelError::Unsupported(_)
        | KernelError::Schema(_)
        | KernelError::MissingVersion
        | KernelError::MissingMetadata
        | KernelError::MissingProtocol
        | KernelError::MissingMetadataAndProtocol
        | KernelError::InvalidCheckpoint(_)
        | KernelError::CheckpointWrite(_)
        | KernelError::LogTailVersionsNotContiguous { .. }
        | KernelError::InvalidLogPath(_)
        | KernelError::InvalidColumnMappingMode(_)
        | KernelError::Generic(_)
        | KernelError::InternalError(_) => error.to_string(),
        _ => "an entry or a checkpoint cannot be decoded".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn what_the_system_said_is_found_behind_other_errors() {
        let full = || io::Error::from(ErrorKind::StorageFull);
        let parquet = parquet::errors::ParquetError::External(Box::new(full()));
        assert_eq!(find(&parquet), Some(Trouble::Full));
        assert_eq!(find(&io::Error::other(full())), Some(Trouble::Full));
        let store = object_store::Error::Generic {
            store: "test",
            source: Box::new(io::Error::from(ErrorKind::ReadOnlyFilesystem)),
        };
        assert_eq!(find(&store), Some(Trouble::Refused));
        let kernel = DeltaTableError::KernelError(KernelError::IOError(full()));
        assert_eq!(find(&kernel), Some(Trouble::Full));
        let passing = io::Error::other("nothing known");
        assert_eq!(find(&passing), Some(Trouble::Passing));
        assert_eq!(find(&DeltaTableError::NoSchema), None);
    }

    #[test]
    fn a_log_is_never_quoted() {
        let line = "{\"add\":{\"stats\":\"{minValues:{patient_name:DOE}}\"";
        let json_err = serde_json::from_str::<()>(line).expect_err("it is cut");
        let error = DeltaTableError::InvalidJsonLog {
            json_err,
            line: line.to_owned(),
            version: 7,
        };
        let error = crate::Error::delta("reports")(error);
        let all = format!("{error} {error:?}");
        assert!(all.contains('7') && !all.contains("DOE"), "{all}");
        assert!(!error.is_retryable());
    }

    #[test]
    fn a_full_disk_may_have_room_later_and_a_read_only_one_stays_so() {
        assert!(!lasts(&io::Error::from(ErrorKind::StorageFull)));
        assert!(!lasts(&io::Error::from(ErrorKind::TimedOut)));
        assert!(lasts(&io::Error::from(ErrorKind::ReadOnlyFilesystem)));
        assert!(lasts(&io::Error::from(ErrorKind::NotFound)));
    }
}
