//! The engine from outside, in one program: a program per topic would each link all of Delta.

mod child;
mod common;
mod expected;
mod kill;
mod random;
mod reference;
mod refuse;
mod rules;
mod s3;
mod s3_server;
mod stages;
mod staging;
mod surroundings;
mod truth;
mod vacuum;
mod worker;
mod writers;
