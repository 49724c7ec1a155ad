//! `/healthz`, `/livez`, `/readyz`.

use std::fmt::Write;

use http::{Response, StatusCode};

use super::{body::ResponseBody, respond};
use crate::{server::Shared, wire::query::Query};

/// Answers a health path, or nothing if it is none.
pub(super) fn answer(server: &Shared, path: &str, query: &Query) -> Option<Response<ResponseBody>> {
    let mut segments = path.trim_matches('/').split('/');
    let endpoint = segments
        .next()
        .filter(|name| matches!(*name, "healthz" | "livez" | "readyz"))?;
    let checks = server.health(endpoint == "readyz");
    let plain = |code, text: String| respond::typed(code, "text/plain; charset=utf-8", text);
    if let Some(single) = segments.next() {
        return Some(match checks.iter().find(|(name, _)| *name == single) {
            Some((_, true)) => plain(StatusCode::OK, "ok".to_owned()),
            Some((name, false)) => plain(
                StatusCode::INTERNAL_SERVER_ERROR,
                format!("internal server error: {name} failed"),
            ),
            None => plain(StatusCode::NOT_FOUND, "404 page not found\n".to_owned()),
        });
    }
    let excluded: Vec<&str> = query.all("exclude").collect();
    let mut lines = String::new();
    let mut healthy = true;
    // Writing to a string cannot fail.
    for (name, good) in checks {
        if excluded.contains(&name) {
            let _ = writeln!(lines, "[+]{name} excluded: ok");
        } else if good {
            let _ = writeln!(lines, "[+]{name} ok");
        } else {
            healthy = false;
            let _ = writeln!(lines, "[-]{name} failed: reason withheld");
        }
    }
    let verdict = if healthy { "passed" } else { "failed" };
    let _ = writeln!(lines, "{endpoint} check {verdict}");
    Some(match (healthy, query.has("verbose")) {
        (true, false) => plain(StatusCode::OK, "ok".to_owned()),
        (true, true) => plain(StatusCode::OK, lines),
        (false, _) => plain(StatusCode::INTERNAL_SERVER_ERROR, lines),
    })
}
