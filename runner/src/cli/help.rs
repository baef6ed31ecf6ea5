//! The help of `bench` as a whole: commands in groups, then examples.
//!
//! clap lists subcommands in one block. The groups are made from clap's own command, so that a
//! command's line stands in one place; a test holds that each command is in exactly one group.

use super::Cli;
use clap::{Command, CommandFactory};
use std::fmt::Write;

/// Commands by what they are about.
const GROUPS: &[(&str, &[&str])] = &[
    ("Runs", &["run", "verify", "report", "compare", "import"]),
    ("Nightly", &["baseline", "gate", "trend"]),
    ("Scenarios", &["list", "show", "suite", "schema"]),
    ("Data sets", &["generate", "truth"]),
    ("Logs", &["inspect", "eventlog"]),
    ("Ingest", &["ingest", "worker"]),
    ("Your machine", &["doctor", "completions", "man"]),
];

const EXAMPLES: &str =
    "  bench run quickstart                                     measure two settings, prove the rows
  bench generate --messages 1000 --log-files 30 --out D    make a small data set
  bench truth D 20150101.log:0                             what must become of a message?
  bench inspect D/2015/20150101.log                        what would the platform read?
  bench ingest D --lake lake                               make the platform's tables of it
  bench doctor                                             what can this machine do?";

/// The command line of `bench`, ready to parse or to describe.
#[must_use]
pub fn command() -> Command {
    let command = Cli::command();
    let heading = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let mut groups = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(groups, "{heading}{title}:{heading:#}");
        for name in *names {
            let about = command
                .find_subcommand(name)
                .and_then(Command::get_about)
                .map(ToString::to_string)
                .unwrap_or_default();
            let _ = writeln!(groups, "  {literal}{name:<12}{literal:#} {about}");
        }
        groups.push('\n');
    }
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}\
         {heading}Options:{heading:#}\n{{options}}\n\n\
         {heading}Examples:{heading:#}\n{EXAMPLES}\n\n\
         `bench COMMAND --help` says more about a command. Exit codes are in docs/exit-codes.md.\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_stands_in_exactly_one_group() {
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        grouped.sort_unstable();
        let command = Cli::command();
        let mut there: Vec<&str> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        there.sort_unstable();
        assert_eq!(grouped, there);
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }
}
