//! Verification of lakes that a worker made: an honest one passes, and every lie of the `faulty`
//! worker is found.

mod drive;
mod honest;
mod killed;
mod lies;
