//! Lakes elsewhere than on a local disk.
//!
//! Not built yet: an address is refused in words.

pub(crate) fn check_scheme(scheme: &str) -> Result<(), String> {
    Err(match scheme {
        "s3" | "s3a" => {
            "this build reads and writes local paths only; build with the feature s3".to_owned()
        }
        other => format!("{other}:// is not supported; give a local path or an s3:// address"),
    })
}
