//! A worker that lies. It speaks the worker protocol as the embedded engine does, which it wraps,
//! and once, after the workflow that it is told, it spoils the lake or its own account.
//!
//! ```text
//! faulty --lie drop-row --table reports_dx --workflow 2
//! faulty --list
//! ```
//!
//! It exists for the tests of verification, which must find every lie. What it did stands on
//! stderr, as one line of JSON after `LIE `, by file names alone. Without `--lie` it is honest.

mod account;
mod edit;
mod lies;
mod rows;

use bench_embedded::protocol::{Hello, Ingest, Line, Reply, Request};
use bench_embedded::worker::{AtEnd, serve};
use lies::{Kind, Lie};
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let run = || -> Result<()> {
        let Some(lie) = Lie::from_arguments(std::env::args().skip(1))? else {
            for (lie, tables) in lies::ALL {
                println!("{lie}\t{}", tables.join(" "));
            }
            return Ok(());
        };
        Worker::new(lie).serve(&requests())
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Lines of stdin. At its end the runner is gone, and so is this process, at once.
fn requests() -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines() {
            let Ok(line) = line else { break };
            if sender.send(line).is_err() {
                return;
            }
        }
        drop(sender);
        std::thread::sleep(std::time::Duration::from_millis(200));
        std::process::exit(0);
    });
    receiver
}

/// The honest engine behind the liar.
struct Engine {
    requests: PipeWriter,
    replies: std::io::Lines<BufReader<PipeReader>>,
}

impl Engine {
    fn start() -> Result<Self> {
        let (input, requests) = std::io::pipe()?;
        let (replies, output) = std::io::pipe()?;
        std::thread::spawn(move || {
            if let Err(error) = serve(BufReader::new(input), output, AtEnd::Finish) {
                eprintln!("the engine ended: {error}");
            }
        });
        Ok(Self {
            requests,
            replies: BufReader::new(replies).lines(),
        })
    }

    fn say(&mut self, request: &Request) -> Result<()> {
        let line = serde_json::to_string(&Line::new(request))?;
        writeln!(self.requests, "{line}")?;
        Ok(())
    }

    /// Asks and passes replies on to `tell` until the one that answers, which is given back.
    fn ask(&mut self, request: &Request, tell: &mut dyn FnMut(&Reply)) -> Result<Reply> {
        self.say(request)?;
        loop {
            let line = self.replies.next().ok_or("the engine is gone")??;
            let line: Line<Reply> = serde_json::from_str(&line)?;
            match line.message {
                reply @ (Reply::Stage { .. } | Reply::Heartbeat { .. }) => tell(&reply),
                reply => return Ok(reply),
            }
        }
    }
}

/// The worker as its runner sees it.
struct Worker {
    lie: Lie,
    hello: Option<Hello>,
    engine: Option<Engine>,
    /// A workflow that was called done and is not.
    owed: Option<Ingest>,
}

impl Worker {
    fn new(lie: Lie) -> Self {
        Self {
            lie,
            hello: None,
            engine: None,
            owed: None,
        }
    }

    fn serve(mut self, requests: &Receiver<String>) -> Result<()> {
        for line in requests {
            let line: Line<Request> = serde_json::from_str(&line)?;
            self.pay()?;
            match line.message {
                Request::Shutdown => return Ok(()),
                Request::Hello(hello) => {
                    self.hello = Some(hello);
                    let reply = self.greet()?;
                    say(&reply)?;
                }
                Request::Ingest(ingest) => {
                    let reply = self.ingest(ingest)?;
                    say(&reply)?;
                }
            }
        }
        Ok(())
    }

    /// Starts an engine, which sees the lake as it is now.
    fn greet(&mut self) -> Result<Reply> {
        let hello = self.hello.clone().ok_or("ingest before hello")?;
        let mut engine = Engine::start()?;
        let reply = engine.ask(&Request::Hello(hello), &mut |_| {})?;
        self.engine = Some(engine);
        Ok(reply)
    }

    fn ask(&mut self, ingest: &Ingest, tells: bool) -> Result<Reply> {
        let engine = self.engine.as_mut().ok_or("ingest before hello")?;
        engine.ask(&Request::Ingest(ingest.clone()), &mut |reply| {
            if tells {
                let _ = say(reply);
            }
        })
    }

    fn ingest(&mut self, ingest: Ingest) -> Result<Reply> {
        if ingest.workflow != self.lie.workflow {
            return self.ask(&ingest, true);
        }
        let lake = self.lake()?;
        match self.lie.kind {
            Kind::Honest => self.ask(&ingest, true),
            Kind::EarlyDone => {
                let reply = self.pretend(&ingest, &lake)?;
                lies::tell(None, &[], &[]);
                self.owed = Some(ingest);
                Ok(reply)
            }
            Kind::SkipLog => {
                let reply = self.pretend(&ingest, &lake)?;
                let mut less = ingest;
                let skipped = self.lie.log.clone().ok_or("this lie needs --log")?;
                less.manifest.logs.retain(|log| *log != skipped);
                self.ask(&less, false)?;
                lies::tell(Some("reports"), &[], &[skipped]);
                Ok(reply)
            }
            Kind::Account => {
                let Reply::Done(mut done) = self.ask(&ingest, true)? else {
                    return Err("the workflow failed before the lie".into());
                };
                account::spoil(&self.lie, &mut done)?;
                Ok(Reply::Done(done))
            }
            Kind::Lake => {
                let reply = self.ask(&ingest, true)?;
                lies::spoil(&self.lie, &lake)?;
                self.greet()?;
                Ok(reply)
            }
        }
    }

    fn lake(&self) -> Result<PathBuf> {
        let hello = self.hello.as_ref().ok_or("ingest before hello")?;
        Ok(PathBuf::from(&hello.lake))
    }

    /// What an honest engine would answer, found out on a copy of the lake.
    fn pretend(&mut self, ingest: &Ingest, lake: &Path) -> Result<Reply> {
        let copy = lake.with_extension("pretended");
        edit::copy_folder(lake, &copy)?;
        let mut hello = self.hello.clone().ok_or("ingest before hello")?;
        hello.lake = copy
            .to_str()
            .ok_or("the lake's path is no text")?
            .to_owned();
        let mut engine = Engine::start()?;
        engine.ask(&Request::Hello(hello), &mut |_| {})?;
        let reply = engine.ask(&Request::Ingest(ingest.clone()), &mut |_| {});
        std::fs::remove_dir_all(&copy)?;
        reply
    }

    /// Does what was called done before.
    fn pay(&mut self) -> Result<()> {
        if let Some(owed) = self.owed.take() {
            self.ask(&owed, false)?;
        }
        Ok(())
    }
}

fn say(reply: &Reply) -> Result<()> {
    let line = serde_json::to_string(&Line::new(reply))?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()?;
    Ok(())
}
