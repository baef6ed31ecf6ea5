//! The worker that only answers: what a run with it costs, the harness costs.

use bench_embedded::Ledger;
use bench_embedded::protocol::{Done, Line, Ready, Reply, Request, VERSION};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

/// Answers requests until `shutdown` or the end of the input.
///
/// # Errors
/// A line that is no request; what cannot be written.
pub fn serve(input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    for line in input.lines() {
        let line: Line<Request> = serde_json::from_str(&line?)?;
        if line.protocol != VERSION {
            return Err(io::Error::other("another version of the protocol"));
        }
        let reply = match line.message {
            Request::Hello(hello) => Reply::Ready(Ready {
                engine: "null".to_owned(),
                versions: BTreeMap::from([(
                    // Not `bench`: that is the runner, whose version no gate holds against a night.
                    "bench-null".to_owned(),
                    env!("CARGO_PKG_VERSION").to_owned(),
                )]),
                effective: BTreeMap::new(),
                unsupported: hello.settings.into_keys().collect(),
            }),
            Request::Ingest(ingest) => Reply::Done(Done {
                workflow: ingest.workflow,
                attempt: ingest.attempt,
                ledger: Ledger {
                    logs: ingest.manifest.logs.len() as u64,
                    ..Ledger::default()
                },
                versions: BTreeMap::new(),
                without_effect: BTreeMap::new(),
            }),
            Request::Shutdown => return Ok(()),
        };
        let mut line = serde_json::to_vec(&Line::new(reply))?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()?;
    }
    Ok(())
}
