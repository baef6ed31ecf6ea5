//! Shares of injected faults.

use super::asked::Asked;
use super::data::Data;
use super::table::Table;

/// Faults of whole logs: nothing else is seen of their messages, or of their last one.
const OF_LOGS: [&str; 2] = ["log_without_sb", "truncated"];

pub(super) fn measure(asked: &Asked, data: &Data, table: &mut Table) {
    let is_of_log = |fault: Option<&str>| fault.is_some_and(|name| OF_LOGS.contains(&name));
    // A copy has the fault of what it copies, and is no draw of its own.
    let drawn = || {
        data.messages
            .iter()
            .filter(|one| !one.is_copy && !is_of_log(one.fault))
    };
    let messages = drawn().count() as u64;
    let logs_with = |name: &str| {
        let mut has = vec![false; data.logs.len()];
        for message in data.messages.iter().filter(|one| one.fault == Some(name)) {
            has[message.log] = true;
        }
        has.into_iter().filter(|has| *has).count() as u64
    };
    let logs = data.logs.len() as u64;
    let failed = logs_with(OF_LOGS[0]);
    let mut unasked = 0;
    for (name, &share) in &asked.faults {
        let (hits, all, of) = match OF_LOGS.iter().position(|known| known == name) {
            Some(0) => (failed, logs, "logs"),
            Some(_) => (logs_with(name), logs - failed, "other logs"),
            None => {
                let hits = drawn()
                    .filter(|one| one.fault == Some(name.as_str()))
                    .count();
                (hits as u64, messages, "messages")
            }
        };
        if share > 0.0 {
            table.share(format!("fault {name}, of {of}"), share, hits, all);
        } else {
            unasked += hits;
        }
    }
    table.none("faults that were not asked for", unasked);
}
