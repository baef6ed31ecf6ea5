//! The engine from outside, in one program: a program per topic would each link all of Delta.

mod common;
mod kill;
mod reference;
mod refuse;
mod rules;
mod stages;
mod staging;
mod truth;
mod worker;
mod writers;
