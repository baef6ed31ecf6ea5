//! `bench list`

use super::print_json;
use crate::cli::ListArguments;
use crate::error::Error;
use crate::exit::Exit;
use crate::plan::{Logs, Plan};
use crate::scenario::{SHIPPED, load};
use crate::terminal::{Terminal, Tone, counted, hang};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write;

/// A shipped scenario, in a line.
#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    variants: Vec<String>,
    /// Messages of the data set.
    messages: Option<u64>,
    /// The most workflows that an arm has.
    workflows: u64,
    /// The first line of what it says of itself.
    about: String,
}

pub(crate) fn run(
    arguments: &ListArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let listed: Vec<Listed> = SHIPPED
        .iter()
        .map(|(name, _)| Listed::of(name))
        .collect::<Result<_, _>>()?;
    if arguments.json {
        let json = serde_json::json!({"format": 1, "scenarios": listed});
        print_json(out, &json)?;
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    for one in listed {
        let name = terminal.paint(Tone::Heading, &one.name);
        let mut size = counted(one.variants.len() as u64, "variant");
        size = format!("{size}, {}", counted(one.workflows, "workflow"));
        if let Some(messages) = one.messages {
            size = format!("{size}, {}", counted(messages, "message"));
        }
        let _ = writeln!(text, "{name:<24}  {size}");
        hang(&mut text, "    ", &one.about, terminal.width);
    }
    let _ = writeln!(
        text,
        "\n`bench show NAME` has all of one; a file of your own is named by its path."
    );
    out.write_all(text.as_bytes()).map_err(Error::Output)?;
    Ok(Exit::Ok)
}

impl Listed {
    fn of(name: &str) -> Result<Self, Error> {
        let scenario = load(name, &[])?.scenario;
        let plan = Plan::of(&scenario, &Logs::foresee(&scenario.dataset)?);
        let about = scenario.about.unwrap_or_default();
        Ok(Self {
            name: scenario.name,
            variants: scenario.variants.into_iter().map(|one| one.name).collect(),
            messages: plan.dataset.messages,
            workflows: plan.arms.iter().map(|arm| arm.workflows).max().unwrap_or(0),
            about: about.lines().next().unwrap_or_default().to_owned(),
        })
    }
}
