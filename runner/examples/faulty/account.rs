//! Lies about what was done: the lake is right, and the account is not.

use crate::Result;
use crate::lies::{Lie, tell};
use bench_embedded::protocol::Done;
use bench_embedded::{FailedLog, LostMessage};

/// Changes the account of a workflow.
pub(crate) fn spoil(lie: &Lie, done: &mut Done) -> Result<()> {
    let ledger = &mut done.ledger;
    match lie.name.as_str() {
        "account-inserted" => ledger.reports.inserted += 1,
        "account-message-more" => {
            ledger.messages += 1;
            ledger.parsed += 1;
            ledger.reports.inserted += 1;
        }
        "account-unparsable" => {
            // A good message, taken out of those that were read, so that all sums still agree.
            let file = lie.log.clone().ok_or("this lie needs --log")?;
            ledger.unparsable.push(LostMessage {
                file: file.clone(),
                ordinal: 0,
            });
            ledger.parsed -= 1;
            ledger.reports.inserted -= 1;
            tell(None, &[], &[file]);
            return Ok(());
        }
        "account-hides-unparsable" => {
            let lost = ledger
                .unparsable
                .pop()
                .ok_or("there is no unparsable message")?;
            ledger.empty += 1;
            tell(None, &[], &[lost.file]);
            return Ok(());
        }
        "account-failed-log" => {
            let file = lie.log.clone().ok_or("this lie needs --log")?;
            let reason = "it was eaten".to_owned();
            ledger.failed_logs.push(FailedLog {
                file: file.clone(),
                reason,
            });
            tell(None, &[], &[file]);
            return Ok(());
        }
        "account-log-less" => ledger.logs -= 1,
        "account-table" => {
            let counts = ledger
                .tables
                .get_mut(&lie.table)
                .ok_or("the account has no such table")?;
            counts.inserted += 1;
        }
        "account-version-ahead" => {
            *done
                .versions
                .get_mut(&lie.table)
                .ok_or("the account has no such table")? += 1;
        }
        "account-version-behind" => {
            *done
                .versions
                .get_mut(&lie.table)
                .ok_or("the account has no such table")? -= 1;
        }
        "account-state" => {
            ledger
                .state
                .get_mut(&lie.table)
                .ok_or("the account has no such table")?
                .rows += 1;
        }
        "account-none" => *ledger = bench_embedded::Ledger::default(),
        other => return Err(format!("there is no lie {other}").into()),
    }
    tell(
        Some(&lie.table)
            .filter(|table| !table.is_empty())
            .map(|table| table.as_str()),
        &[],
        &[],
    );
    Ok(())
}
