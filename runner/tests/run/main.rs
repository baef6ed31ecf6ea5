//! `bench run` with real processes: what it makes, what it survives, and what it finds out.

mod common;
mod hardship;
mod kills;
mod lies;
mod runs;
mod spark;
mod suites;
