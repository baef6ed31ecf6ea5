//! `bench compare`

use super::print_json;
use crate::cli::{ClaimName, CompareArguments, Side};
use crate::error::Error;
use crate::exit::Exit;
use bench_reports::{Claim, Run, Verdict, compare, comparison_markdown};
use std::io::Write;

pub(crate) fn run(arguments: &CompareArguments, out: &mut dyn Write) -> Result<Exit, Error> {
    let comparison = compare(&side(&arguments.a)?, &side(&arguments.b)?)?;
    let mut text = Vec::new();
    match arguments.json {
        true => print_json(&mut text, &comparison)?,
        false => text.extend(comparison_markdown(&comparison).into_bytes()),
    }
    match &arguments.out {
        None => out.write_all(&text).map_err(Error::Output)?,
        Some(path) => std::fs::write(path, text).map_err(|source| Error::Write {
            path: path.clone(),
            source,
        })?,
    }
    let refused = arguments.claim.iter().any(|asked| {
        let judged = comparison.claim(claim(*asked));
        judged.is_none_or(|judged| judged.verdict == Verdict::Refused)
    });
    Ok(match refused {
        true => Exit::NotComparable,
        false => Exit::Ok,
    })
}

/// The run of a side, with nothing but the variant that it names.
fn side(side: &Side) -> Result<Run, Error> {
    let run = Run::read(&side.run)?;
    let known = run.facts.variant_names();
    let wrong = |what: String| Error::NoVariant {
        run: side.run.clone(),
        what,
        known: known.clone(),
    };
    let variant = match (&side.variant, known.as_slice()) {
        (Some(variant), _) => variant,
        (None, [only]) => only,
        (None, several) => return Err(wrong(format!("it has {} variants", several.len()))),
    };
    run.only(variant)
        .ok_or_else(|| wrong(format!("it has no variant `{variant}`")))
}

fn claim(name: ClaimName) -> Claim {
    match name {
        ClaimName::Setting => Claim::Setting,
        ClaimName::Growth => Claim::Growth,
        ClaimName::Files => Claim::Files,
        ClaimName::Total => Claim::Total,
        ClaimName::Version => Claim::Version,
        ClaimName::Resources => Claim::Resources,
    }
}
