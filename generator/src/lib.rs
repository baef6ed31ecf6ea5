//! Making HL7 log sets.
