//! An object store in this process that speaks as much S3 as the engine's client asks for.
//!
//! It puts an object if it is absent under one lock, so that two writers can race; it answers lists
//! in small pages; and it can be told to go wrong: to carry out a request and lose the answer, or
//! to be busy. It checks no signature. `just test-s3` runs the same tests against another server.

use bench_tables::time::{civil_date, date_text};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

/// Keys that a list gives at once.
const PAGE: usize = 7;

/// How a request goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is carried out, and the answer is an error of the server.
    AnswerLost,
    /// It is not carried out: the server is busy.
    Busy,
}

struct Object {
    bytes: Vec<u8>,
    modified: SystemTime,
}

type Broken = (String, String, Fault);

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Object>,
    uploads: HashMap<String, BTreeMap<u32, Vec<u8>>>,
    faults: Vec<Broken>,
    /// Faults that happened.
    happened: usize,
    uploads_begun: usize,
}

/// The server; it ends with the process.
#[derive(Clone)]
pub(crate) struct Server {
    state: Arc<Mutex<State>>,
    pub(crate) endpoint: String,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let server = Self {
            state: Arc::default(),
            endpoint: format!("http://{address}"),
        };
        let state = Arc::clone(&server.state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&state);
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        server
    }

    /// The next request of a method whose path ends so goes wrong.
    pub(crate) fn fail(&self, method: &str, path_end: &str, fault: Fault) {
        let fault = (method.to_owned(), path_end.to_owned(), fault);
        self.state.lock().expect("nobody panics").faults.push(fault);
    }

    /// How many requests went wrong.
    pub(crate) fn failed(&self) -> usize {
        self.state.lock().expect("nobody panics").happened
    }

    /// Names of all objects, bucket first.
    pub(crate) fn names(&self) -> Vec<String> {
        let state = self.state.lock().expect("nobody panics");
        state.objects.keys().cloned().collect()
    }
}

struct Request {
    method: String,
    /// Bucket and key, decoded.
    path: String,
    query: HashMap<String, String>,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

struct Answer {
    status: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn new(status: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    fn error(status: &'static str, code: &str) -> Self {
        Self::new(status, format!("<Error><Code>{code}</Code></Error>"))
    }

    fn with(mut self, header: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((header, value.into()));
        self
    }
}

fn serve(stream: TcpStream, state: &Mutex<State>) {
    let _ = stream.set_nodelay(true);
    let Ok(mut output) = stream.try_clone() else {
        return;
    };
    let mut input = BufReader::new(stream);
    while let Some(request) = read_request(&mut input) {
        let answer = answer(&request, &mut state.lock().expect("nobody panics"));
        let mut head = format!("HTTP/1.1 {}\r\n", answer.status);
        for (name, value) in &answer.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !answer
            .headers
            .iter()
            .any(|(name, _)| *name == "Content-Length")
        {
            head.push_str(&format!("Content-Length: {}\r\n", answer.body.len()));
        }
        head.push_str("\r\n");
        let sent = output
            .write_all(head.as_bytes())
            .and_then(|()| output.write_all(&answer.body));
        if sent.is_err() {
            return;
        }
    }
}

fn read_request(input: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    input.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        input.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|l| l.parse().ok());
    let mut body = vec![0; length.unwrap_or_default()];
    input.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let query = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(key), decode(value))
        })
        .collect();
    Some(Request {
        method,
        path: decode(path.trim_start_matches('/')),
        query,
        headers,
        body,
    })
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let hex = text.get(at + 1..at + 3);
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if bytes[at] == b'%' => {
                out.push(byte);
                at += 3;
            }
            _ => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).expect("names are text")
}

fn answer(request: &Request, state: &mut State) -> Answer {
    let at = state
        .faults
        .iter()
        .position(|(method, end, _)| *method == request.method && request.path.ends_with(end));
    let fault = at.map(|at| state.faults.remove(at).2);
    state.happened += usize::from(fault.is_some());
    if fault == Some(Fault::Busy) {
        return Answer::error("503 Slow Down", "SlowDown");
    }
    let answer = carry_out(request, state);
    if fault == Some(Fault::AnswerLost) {
        return Answer::error("500 Internal Server Error", "InternalError");
    }
    answer
}

fn carry_out(request: &Request, state: &mut State) -> Answer {
    let query = |key: &str| request.query.get(key);
    match (request.method.as_str(), query("uploadId")) {
        ("GET", _) if query("list-type").is_some() => list(request, state),
        ("GET" | "HEAD", _) => get(request, state),
        ("PUT", Some(upload)) => {
            let part = query("partNumber").and_then(|n| n.parse().ok());
            let Some(parts) = state.uploads.get_mut(upload) else {
                return Answer::error("404 Not Found", "NoSuchUpload");
            };
            parts.insert(part.expect("a part has a number"), request.body.clone());
            Answer::new("200 OK", "").with("ETag", "\"part\"")
        }
        ("PUT", None) => {
            let taken = state.objects.contains_key(&request.path);
            if taken && request.headers.contains_key("if-none-match") {
                return Answer::error("412 Precondition Failed", "PreconditionFailed");
            }
            put(state, &request.path, request.body.clone());
            Answer::new("200 OK", "").with("ETag", "\"one\"")
        }
        ("POST", _) if query("uploads").is_some() => {
            state.uploads_begun += 1;
            let id = format!("upload-{}", state.uploads_begun);
            state.uploads.insert(id.clone(), BTreeMap::new());
            let tag = "InitiateMultipartUploadResult";
            Answer::new(
                "200 OK",
                format!("<{tag}><Bucket>b</Bucket><Key>k</Key><UploadId>{id}</UploadId></{tag}>"),
            )
        }
        ("POST", Some(upload)) => {
            let Some(parts) = state.uploads.remove(upload) else {
                return Answer::error("404 Not Found", "NoSuchUpload");
            };
            put(
                state,
                &request.path,
                parts.into_values().flatten().collect(),
            );
            let tag = "CompleteMultipartUploadResult";
            Answer::new("200 OK", format!("<{tag}><ETag>\"many\"</ETag></{tag}>"))
        }
        ("POST", None) if query("delete").is_some() => delete_many(request, state),
        ("DELETE", Some(upload)) => {
            state.uploads.remove(upload);
            Answer::new("204 No Content", "")
        }
        ("DELETE", None) => {
            state.objects.remove(&request.path);
            Answer::new("204 No Content", "")
        }
        _ => Answer::error("501 Not Implemented", "NotImplemented"),
    }
}

fn put(state: &mut State, path: &str, bytes: Vec<u8>) {
    let modified = SystemTime::now();
    let object = Object { bytes, modified };
    state.objects.insert(path.to_owned(), object);
}

fn get(request: &Request, state: &State) -> Answer {
    let Some(object) = state.objects.get(&request.path) else {
        return Answer::error("404 Not Found", "NoSuchKey");
    };
    let all = object.bytes.len();
    let range = request.headers.get("range").map(|range| {
        let range = range.strip_prefix("bytes=").expect("bytes are asked for");
        let (from, to) = range.split_once('-').expect("a range has two ends");
        let from: usize = from.parse().expect("no suffix is asked for");
        let to = to.parse::<usize>().map_or(all, |to| (to + 1).min(all));
        from..to
    });
    let (status, range) = match range {
        None => ("200 OK", 0..all),
        Some(range) if range.start < all => ("206 Partial Content", range),
        Some(_) => return Answer::error("416 Range Not Satisfiable", "InvalidRange"),
    };
    let mut answer = Answer::new(status, "")
        .with("ETag", "\"one\"")
        .with("Last-Modified", header_time(object.modified))
        .with("Content-Length", range.len().to_string());
    if status.starts_with("206") {
        let (from, to) = (range.start, range.end - 1);
        answer = answer.with("Content-Range", format!("bytes {from}-{to}/{all}"));
    }
    if request.method == "GET" {
        answer.body = object.bytes[range].to_vec();
    }
    answer
}

fn list(request: &Request, state: &State) -> Answer {
    let query = |key: &str| request.query.get(key).map_or("", String::as_str);
    let bucket = format!("{}/", request.path.trim_end_matches('/'));
    let (prefix, delimiter) = (query("prefix"), query("delimiter"));
    let after = query("start-after").max(query("continuation-token"));
    let mut matching = state
        .objects
        .iter()
        .filter_map(|(path, object)| Some((path.strip_prefix(&bucket)?, object)))
        .filter(|(key, _)| key.starts_with(prefix) && *key > after);
    let page: Vec<(&str, &Object)> = matching.by_ref().take(PAGE).collect();
    let (mut contents, mut folders) = (String::new(), BTreeSet::new());
    for (key, object) in &page {
        let folder = key[prefix.len()..].split_once(delimiter);
        match folder.filter(|_| !delimiter.is_empty()) {
            Some((folder, _)) => {
                folders.insert(format!("{prefix}{folder}{delimiter}"));
            }
            None => contents.push_str(&format!(
                "<Contents><Key>{key}</Key><LastModified>{}</LastModified>\
                 <ETag>\"one\"</ETag><Size>{}</Size></Contents>",
                list_time(object.modified),
                object.bytes.len()
            )),
        }
    }
    let mut body = format!("<ListBucketResult><KeyCount>{}</KeyCount>", page.len());
    match (matching.next(), page.last()) {
        (Some(_), Some((last, _))) => body.push_str(&format!(
            "<IsTruncated>true</IsTruncated><NextContinuationToken>{last}</NextContinuationToken>"
        )),
        _ => body.push_str("<IsTruncated>false</IsTruncated>"),
    }
    body.push_str(&contents);
    for folder in folders {
        body.push_str(&format!(
            "<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>"
        ));
    }
    body.push_str("</ListBucketResult>");
    Answer::new("200 OK", body)
}

fn delete_many(request: &Request, state: &mut State) -> Answer {
    let bucket = request.path.trim_end_matches('/');
    let text = String::from_utf8_lossy(&request.body).into_owned();
    let mut body = "<DeleteResult>".to_owned();
    for key in text.split("<Key>").skip(1) {
        let key = key.split("</Key>").next().unwrap_or_default();
        state.objects.remove(&format!("{bucket}/{key}"));
        body.push_str(&format!("<Deleted><Key>{key}</Key></Deleted>"));
    }
    body.push_str("</DeleteResult>");
    Answer::new("200 OK", body)
}

fn seconds(time: SystemTime) -> (i64, i64, i64, i64) {
    let since = time
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let since = i64::try_from(since).expect("it is this century");
    let of_day = since % 86_400;
    (since / 86_400, of_day / 3600, of_day / 60 % 60, of_day % 60)
}

fn list_time(time: SystemTime) -> String {
    let (day, hour, minute, second) = seconds(time);
    format!("{}T{hour:02}:{minute:02}:{second:02}.000Z", date_text(day))
}

fn header_time(time: SystemTime) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (day, hour, minute, second) = seconds(time);
    let (year, month, date) = civil_date(day);
    let weekday = DAYS[usize::try_from(day % 7).expect("it is a weekday")];
    let month = MONTHS[month as usize - 1];
    format!("{weekday}, {date:02} {month} {year} {hour:02}:{minute:02}:{second:02} GMT")
}
