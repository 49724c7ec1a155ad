//! The files that a bootstrap leaves in its container, and how it is watched from outside.
//!
//! The script runs on its own: it is started once, writes down how far it is and how it ended, and needs nobody. So a
//! provider that ends in the middle finds out what became of it.
//!
//! ```text
//!   /var/lib/capstan/bootstrap/
//!     start.sh, steps.sh, contents/N    what to do; removed when it is done, since secrets are among it
//!     lock/pid                          made by the first start; later ones see it and end
//!     started                           when, in seconds of the epoch
//!     step                              the title of the step that it is at
//!     log                               what the steps printed
//!     result                            the exit code
//! ```

use std::time::Duration;

use super::Bootstrap;
use crate::docker::File;

/// The folder that the files are uploaded to.
pub(crate) const FOLDER: &str = "/var/lib";
/// Where they are then.
pub(super) const HOME: &str = "/var/lib/capstan/bootstrap";
/// The script that runs the steps.
const START: &str = "/var/lib/capstan/bootstrap/start.sh";

/// How `timeout` says that it had to end a program.
const TIMED_OUT: i64 = 124;
/// How it says that even that did not help.
const KILLED: i64 = 137;
/// How many lines of the log are shown.
const LINES: usize = 25;

/// How far a bootstrap is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Probe {
    /// It was never started.
    #[default]
    NotStarted,
    /// It runs.
    Running {
        /// The step that it is at.
        step: String,
    },
    /// It is done.
    Done,
    /// It failed.
    Failed {
        /// The step that failed.
        step: String,
        /// How, in words.
        how: String,
        /// The end of the log, without secrets.
        log: String,
    },
}

const RUNNER: &str = r#"#!/bin/sh
# Runs the steps once, whoever starts it how often.
cd /var/lib/capstan/bootstrap || exit 1
mkdir -p "lock.$$" && echo "$$" > "lock.$$/pid"
mv -T "lock.$$" lock 2>/dev/null || { rm -rf "lock.$$"; exit 0; }
date +%s > started
timeout --kill-after=10 "$1" /bin/sh ./steps.sh > log 2>&1
code=$?
rm -rf contents steps.sh
echo "$code" > result.new && mv result.new result
"#;

/// Prints what a probe reads: whether the machine is up, and how far its bootstrap is.
const LOOK: &str = r#"
echo "systemd $(systemctl is-system-running 2>/dev/null || true)"
systemctl is-active --quiet multi-user.target && crictl ps >/dev/null 2>&1 && echo "up"
cd /var/lib/capstan/bootstrap 2>/dev/null || exit 0
[ -d lock ] && echo "begun"
[ -d lock ] && grep -qs "bootstrap/start.sh" "/proc/$(cat lock/pid)/cmdline" && echo "alive"
[ -f step ] && echo "step $(cat step)"
[ -f result ] && echo "result $(cat result)"
[ -f result ] && [ "$(cat result)" = 0 ] || { echo "log"; tail -n 40 log 2>/dev/null; }
exit 0
"#;

/// The files of a bootstrap, for [`FOLDER`].
pub(crate) fn files(bootstrap: &Bootstrap) -> Vec<File> {
    let file = |name: &str, mode, content: Vec<u8>| File {
        path: format!("capstan/bootstrap/{name}"),
        mode,
        content,
    };
    let mut files = vec![
        file("start.sh", 0o700, RUNNER.into()),
        file("steps.sh", 0o600, steps(bootstrap).into_bytes()),
    ];
    for (number, content) in bootstrap.contents.iter().enumerate() {
        files.push(file(&format!("contents/{number}"), 0o600, content.clone()));
    }
    files
}

fn steps(bootstrap: &Bootstrap) -> String {
    let mut script = "set -e\n".to_owned();
    for step in &bootstrap.steps {
        let title = super::quoted(&step.title.replace(['\n', '\r'], " "));
        script.push_str(&format!("echo {title} > step\necho \"==> $(cat step)\"\n"));
        // A shell of its own: a step's `exit`, folder and variables are its own.
        script.push_str(&format!("(\ncd /\n{}\n) </dev/null\n", step.script));
    }
    script
}

/// The program that starts a bootstrap.
pub(crate) fn start_command(timeout: Duration) -> [String; 3] {
    [
        "/bin/sh".to_owned(),
        START.to_owned(),
        format!("{}s", timeout.as_secs().max(1)),
    ]
}

/// The program whose output [`read_probe`] reads.
pub(crate) fn probe_command() -> [&'static str; 3] {
    ["/bin/sh", "-c", LOOK]
}

/// What a look into the container says: whether the machine is up (if not, what systemd says), and the bootstrap.
pub(crate) fn read_probe(printed: &str) -> (Result<(), String>, Probe) {
    let printed = printed.replace('\r', "");
    let (head, log) = printed.split_once("log\n").unwrap_or((&printed, ""));
    let value = |name: &str| {
        head.lines()
            .find_map(|it| it.strip_prefix(name))
            .map(|it| it.trim().to_owned())
    };
    let has = |word: &str| head.lines().any(|it| it.trim() == word);
    let machine = if has("up") {
        Ok(())
    } else {
        Err(value("systemd ")
            .filter(|it| !it.is_empty())
            .unwrap_or_else(|| "not running".to_owned()))
    };
    let step = value("step ").unwrap_or_default();
    let failed = |how: String| Probe::Failed {
        step: step.clone(),
        how,
        log: redacted(&tail(log, LINES)),
    };
    let result: Option<i64> = value("result ").and_then(|it| it.parse().ok());
    let bootstrap = match result {
        Some(0) => Probe::Done,
        Some(TIMED_OUT | KILLED) => failed("took longer than bootstrapTimeout allows".to_owned()),
        Some(code) => failed(format!("failed with exit code {code}")),
        None if has("alive") => Probe::Running { step },
        None if has("begun") => failed("was interrupted: the container was restarted".to_owned()),
        None => Probe::NotStarted,
    };
    (machine, bootstrap)
}

fn tail(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// A text without what kubeadm prints of tokens and keys.
fn redacted(text: &str) -> String {
    let words = text.split_inclusive(|it: char| it.is_whitespace() || "\"',".contains(it));
    words
        .map(|part| {
            let word = part.trim_end_matches(|it: char| it.is_whitespace() || "\"',".contains(it));
            let end = &part[word.len()..];
            if is_secret(word) {
                format!("<hidden>{end}")
            } else {
                part.to_owned()
            }
        })
        .collect()
}

/// A bootstrap token, or a key of 32 bytes in hexadecimal.
fn is_secret(word: &str) -> bool {
    let word = word.rsplit('=').next().unwrap_or(word);
    let is_token_part = |it: &str, length| {
        it.len() == length
            && it
                .bytes()
                .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
    };
    let is_token = word
        .split_once('.')
        .is_some_and(|(id, secret)| is_token_part(id, 6) && is_token_part(secret, 16));
    is_token || (word.len() == 64 && word.bytes().all(|it| it.is_ascii_hexdigit()))
}
