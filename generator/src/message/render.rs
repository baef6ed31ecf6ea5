//! How a message is written: the segments of each version, each line ending in `<R>` and LF.
//!
//! Field numbers follow the platform's own test messages; what the platform does not read is filled
//! in so that a message looks and weighs like a real one.

use super::model::{Model, Report, Section};
use crate::pools::Person;
use crate::spec::Version;

/// End of every segment in a log.
pub(crate) const END: &str = "<R>\n";

/// Appends some texts.
macro_rules! put {
    ($out:expr, $($text:expr),+ $(,)?) => {
        $($out.extend_from_slice($text.as_bytes());)+
    };
}

/// Appends the lines of a message, without its header line and markers.
pub(crate) fn render(model: &Model<'_>, out: &mut Vec<u8>) {
    msh(model, out);
    match model.version {
        Version::V23 => v23(model, out),
        Version::V24 => v24(model, out),
        Version::V27 => v27(model, out),
    }
}

fn msh(model: &Model<'_>, out: &mut Vec<u8>) {
    put!(
        out,
        "MSH|^~\\&|RISAPP|",
        model.facility,
        "|RECVAPP|",
        model.site,
        "_RAD_DEPT|",
        model.rdt,
        "||ORU^R01|",
        model.control_id,
        "|P|",
        model.version.text(),
        END
    );
}

/// PID-3: repetitions of id, authority, type, facility.
fn pid_3(model: &Model<'_>, out: &mut Vec<u8>) {
    for (at, [id, authority, kind, facility]) in model.ids.iter().enumerate() {
        if at > 0 {
            put!(out, "~");
        }
        if facility.is_empty() {
            put!(out, id, "^^^", authority, "^", kind);
        } else {
            let digit = model.check_digit;
            put!(out, id, "^", digit, "^", digit, "^^^", facility);
        }
    }
}

/// PID up to and including PID-8.
fn pid_start(model: &Model<'_>, set_id: &str, birth_suffix: &str, out: &mut Vec<u8>) {
    put!(out, "PID|", set_id, "|", model.pid_2, "|");
    pid_3(model, out);
    put!(out, "||", model.family, "^", model.given, "^", model.middle);
    put!(
        out,
        if model.version == Version::V23 {
            "^^^"
        } else {
            "^^^^D"
        }
    );
    put!(out, "||", model.birth_digits, birth_suffix, "|", model.sex);
}

fn address(model: &Model<'_>, out: &mut Vec<u8>) {
    put!(
        out,
        model.house,
        " ",
        model.street,
        "^^",
        model.city,
        "^MO^",
        model.zip,
        "^"
    );
    if model.version != Version::V23 {
        put!(out, "USA^L^^COUNTY");
    }
}

fn location(model: &Model<'_>, out: &mut Vec<u8>) {
    let site = model.site;
    put!(
        out,
        site,
        " RAD5^",
        site,
        " RAD5 R-5005^",
        site,
        " RAD5 R-5005^",
        site
    );
}

fn assistants(model: &Model<'_>, out: &mut Vec<u8>) {
    for (at, person) in model.assistants.iter().enumerate() {
        if at > 0 {
            put!(out, "~");
        }
        put!(out, person.field);
    }
}

fn technician(person: Option<&Person>, out: &mut Vec<u8>) {
    if let Some(person) = person {
        put!(out, person.field);
    }
}

fn v27(model: &Model<'_>, out: &mut Vec<u8>) {
    let status = model.status_word();
    let (rdt, accession) = (model.rdt, model.accession);
    pid_start(model, "1", "", out);
    put!(out, "||", model.race, "|");
    address(model, out);
    put!(out, "||(555)555-5555^P^H|||S|||111-11-1111", END);
    put!(out, "PV1||O|");
    location(model, out);
    put!(
        out,
        "||||",
        model.orderer.field,
        "|||RAD|||||||||",
        model.visit
    );
    put!(out, "|||||||||||||||||||||||||", rdt, "|||||||V", END);
    put!(
        out,
        "ORC|RE|",
        model.placer,
        "^SYS|",
        accession,
        "||",
        status
    );
    put!(out, "||^^^", rdt, "^", rdt, "^O||", rdt, "|");
    technician(model.technician, out);
    put!(out, "||", model.orderer.field, "|");
    location(model, out);
    put!(out, "|(555)555-5555|||||||||||||||O|Electr", END);
    put!(out, "OBR|1|", model.placer, "^SYS|", accession, "|");
    let procedure = model.procedure;
    let (code, name) = (&procedure.code, &procedure.name);
    put!(out, code, "^", name, "^UNKDEV^^", procedure.alternative);
    put!(
        out,
        "|O|",
        model.sdt,
        "|||||Hosp Perf||||^^^",
        procedure.body_part
    );
    put!(
        out,
        "|",
        model.orderer.field,
        "|(555)555-5555|",
        procedure.body_part
    );
    put!(
        out,
        "|",
        model.site,
        " RAD DX^^^",
        model.site,
        "|GEXR5||",
        rdt,
        "||"
    );
    put!(
        out,
        procedure.modality.as_deref().unwrap_or("OT"),
        "|",
        status
    );
    put!(out, "||^^^", rdt, "^", rdt, "^O||||^Chest pain|");
    put!(out, model.principal.field, "|");
    assistants(model, out);
    put!(out, "|");
    technician(model.technician, out);
    put!(out, "||", rdt, "||||||||", code, "^", name, "^UNKDEV", END);
    put!(
        out,
        "ZPF|1|10^IMG ",
        procedure.body_part,
        " PROCEDURES",
        END
    );
    let mut number = itoa::Buffer::new();
    for (at, (code, meaning, system)) in model.diagnoses.iter().enumerate() {
        put!(
            out,
            "DG1|",
            number.format(at + 1),
            "|",
            system,
            "|",
            code,
            "^"
        );
        put!(out, meaning, "^", system, "|", meaning, END);
    }
    if let Report::Lines(lines) = model.report {
        for (at, (section, line)) in lines.iter().enumerate() {
            let (suffix, run) = match section {
                Section::Addendum => ("ADT", "0"),
                Section::Findings => ("GDT", "1"),
                Section::Impression => ("IMP", "2"),
                Section::TechnicianNote => ("TCM", "3"),
            };
            put!(
                out,
                "OBX|",
                number.format(at + 2),
                "|ST|&",
                suffix,
                "|",
                run,
                "|"
            );
            put!(out, line, "||||||", status);
            if let Some(person) = model.technician {
                put!(
                    out,
                    "|||||",
                    person.id,
                    "^",
                    person.family,
                    "^",
                    person.given
                );
            }
            put!(out, END);
        }
    }
    put!(out, "ZDS|", model.study_uid, "^EPIC^APPLICATION^DICOM", END);
}

fn v24(model: &Model<'_>, out: &mut Vec<u8>) {
    let (rdt, accession) = (model.rdt, model.accession);
    let procedure = model.procedure;
    let code = &procedure.code;
    pid_start(model, "1", "000000", out);
    put!(out, "||", model.race, "|");
    address(model, out);
    let [id, authority, ..] = model.ids[0];
    put!(out, "||5555555555|||S||", id, "^^^", authority, "^PN", END);
    put!(out, "PV1||O|");
    location(model, out);
    put!(
        out,
        "||||",
        model.orderer.field,
        "|^^|^^|RAD|||||||||",
        model.visit
    );
    put!(
        out,
        "^^^",
        model.site,
        "^VN||||||||||||||||||||||||||||||||V",
        END
    );
    put!(
        out,
        "OBR||",
        model.placer,
        "^SYS|",
        accession,
        "|",
        code,
        "^"
    );
    put!(
        out,
        procedure.name,
        "^UNKDEV|URGENT||",
        model.sdt,
        "|||PSCRIB|||||^^^^ |"
    );
    put!(
        out,
        model.orderer.field,
        "||||",
        code,
        "^",
        procedure.alternative
    );
    put!(
        out,
        "||",
        rdt,
        "||IMG|||1^^^",
        rdt,
        "^^U^^URGENT|       |||^Chest pain|"
    );
    put!(out, model.principal.field, "|");
    assistants(model, out);
    put!(out, "||PSCRIB|||||||||", code, END);
    if let Report::Texts(texts, last) = model.report {
        let letter = model.status_letter();
        let mut number = itoa::Buffer::new();
        for (at, text) in texts.iter().enumerate() {
            put!(out, "OBX|", number.format(at + 1), "|TX|", code, "||");
            let start = out.len();
            put!(out, text);
            for byte in out[start..].iter_mut().filter(|byte| **byte == b'\n') {
                *byte = b'~';
            }
            put!(out, "||||||", letter, END);
        }
        put!(out, "OBX|4|RP|", code, "|4|", last, "||||||", letter, END);
    }
}

fn v23(model: &Model<'_>, out: &mut Vec<u8>) {
    let (rdt, accession) = (model.rdt, model.accession);
    let status = model.status_word();
    let code = &model.procedure.code;
    pid_start(model, "", "", out);
    put!(out, "|||");
    address(model, out);
    put!(out, "||(111) 111-1111 x|(111) 111-1111 x||||", model.visit);
    put!(out, "R|111-11-1111|||||||||||N", END);
    put!(
        out,
        "PV1||O|^123^^^^^^^",
        model.site,
        " RM 123||||",
        model.orderer.field
    );
    put!(out, "|||||||||||||||||||||||||||||||||||||", rdt, END);
    put!(out, "ORC|RE||||||||", rdt, "|");
    put!(out, UNKNOWN_PERSON, "||", model.orderer.field, END);
    put!(out, "OBR|1|", model.placer, "|", accession, "|", code, "^");
    put!(
        out,
        model.procedure.name,
        "|||",
        model.sdt,
        "|||||||||||||||",
        rdt
    );
    put!(
        out,
        "|||",
        status,
        "|||||STRETCHER^STRETCHER|Chest pain\\S\\Chest pain|"
    );
    put!(out, model.principal.field, "|");
    if model.assistants.is_empty() {
        put!(out, "~");
    }
    assistants(model, out);
    put!(out, "|", UNKNOWN_PERSON, END);
    if let Report::Lines(lines) = model.report {
        let mut number = itoa::Buffer::new();
        for (at, (section, line)) in lines.iter().enumerate() {
            let suffix = match section {
                Section::Addendum => "ADN",
                Section::Findings => "GDT",
                Section::Impression => "IMP",
                Section::TechnicianNote => "TCM",
            };
            put!(
                out,
                "OBX|",
                number.format(at + 1),
                "|FT|",
                code,
                "&",
                suffix,
                "||"
            );
            put!(out, line, "||||||", status, END);
        }
    }
}

/// What the 2.3 feed writes where it knows no person.
const UNKNOWN_PERSON: &str = "^UnkPERSON^UnkPERSON^^^^";
