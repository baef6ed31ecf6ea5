//! Reading HL7 logs: which files are logs, where their messages are, and what a message means.
//!
//! A log is read in three steps, each usable by itself:
//!
//! 1. [`discover`] finds the logs under a folder, in the order in which they are ingested.
//! 2. [`split`] finds the messages in the bytes of one log.
//! 3. [`Reader::read`] makes a message into a row of `reports`, exactly as the platform does
//!    (*platform mode*).
//!
//! Nothing here copies a log or a field that it can borrow; what must be built (joined report
//! lines, arrays, text in Latin-1) goes into an arena that the caller empties after each message.
//! Time and memory are linear in the message, whatever bytes it holds.
//!
//! ```
//! use bench_hl7::{ModalityMap, Reader, split};
//! use bench_tables::ReportColumn;
//!
//! let log = b"2023-01-13 18:07:17.8754|INFO|\n<SB>\n\
//!     MSH|^~\\&|APP|SITE|||20230113180717||ORU^R01|2.25.1|P|2.7<R>\nPID|1||7^^^EPIC^MRN<R>\n<EB><R>\n";
//! let reader = Reader::new(ModalityMap::shipped());
//! let mut arena = bumpalo::Bump::new();
//! for message in split(log) {
//!     let reading = reader.read(&message, "2023/20230113.zip/2023/01/13/20230113_0.hl7", &arena)?;
//!     assert_eq!(reading.row.get(ReportColumn::SendingFacility).as_str(), Some("SITE"));
//!     assert_eq!(reading.row.identifiers, [("epic_mrn", "7")]);
//!     drop(reading);
//!     arena.reset();
//! }
//! # Ok::<(), bench_hl7::NotParsable>(())
//! ```
//!
//! The other mode, *standard mode*, honours MSH-1 and MSH-2 and resolves escapes. It is for
//! looking at a message ([`mod@inspect`]), never for ingest.
//!
//! Left out: anything about tables, files written, or the lake; and any repair. A broken message
//! is read as the platform reads it.

mod discover;
mod error;
mod field_path;
pub mod inspect;
mod lines;
mod modality;
mod read;
mod source;
mod split;
mod standard;

pub use discover::{LogPath, discover};
pub use error::Error;
pub use field_path::FieldPath;
pub use modality::ModalityMap;
pub use read::{InvalidIdentifier, InvalidName, NotParsable, Reader, Reading};
pub use source::{LogDate, LogFailure, Outcome};
pub use split::{Message, Messages, split};
pub use standard::{Delimiters, Standard, StandardValue, Stop, StopReason};
