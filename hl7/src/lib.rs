//! Reading HL7 logs.
