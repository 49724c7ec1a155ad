//! Options of reads and writes, from the query string or a body, and their validation.
//! Source: apimachinery `pkg/apis/meta/internalversion/validation`, `pkg/apis/meta/v1/validation`.

use capstan_base::field::{Error, Path};
use http::StatusCode;
use serde::Deserialize;

use super::{
    query::Query,
    selector::{FieldSelector, LabelSelector},
    status::{ApiError, Result},
};

/// How the requested resourceVersion bounds what a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// Exactly that revision.
    Exact,
    /// That revision or a newer one.
    NotOlderThan,
}

/// Options of list, watch and deletecollection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Labels to select.
    pub labels: LabelSelector,
    /// Fields to select.
    pub fields: FieldSelector,
    /// The revision asked for: `None` for unset.
    pub resource_version: Option<u64>,
    /// How `resource_version` is meant.
    pub version_match: Option<Match>,
    /// At most so many objects; 0 for all.
    pub limit: usize,
    /// Where the last page ended; empty for the first.
    pub continue_token: String,
    /// How long a watch lasts.
    pub timeout_seconds: Option<u64>,
    /// Whether a watch may carry bookmarks.
    pub allow_bookmarks: bool,
    /// Whether a watch begins with the current state and a bookmark at its end.
    pub send_initial_events: Option<bool>,
}

impl ListOptions {
    /// Reads and checks the options of a list (`watch` unset) or a watch.
    pub fn parse(query: &Query, selectable: &[String], watch: bool) -> Result<Self> {
        let number = |name: &str| -> Result<Option<u64>> {
            query
                .get(name)
                .map(|text| {
                    text.parse()
                        .map_err(|_| ApiError::bad_request(format!("invalid {name} {text:?}: not a number")))
                })
                .transpose()
        };
        let resource_version = query
            .get("resourceVersion")
            .map(|text| {
                text.parse().map_err(|_| {
                    let why = format!("strconv.ParseUint: parsing {text:?}: invalid syntax");
                    invalid_options(&[Error::invalid(&Path::new("resourceVersion"), text, why)])
                        .with_code(StatusCode::BAD_REQUEST, "BadRequest")
                })
            })
            .transpose()?;
        let version_match = match query.get("resourceVersionMatch") {
            None => None,
            Some("Exact") => Some(Match::Exact),
            Some("NotOlderThan") => Some(Match::NotOlderThan),
            Some(other) => {
                let path = Path::new("resourceVersionMatch");
                return Err(invalid_options(&[Error::not_supported(
                    &path,
                    other,
                    &["Exact", "NotOlderThan"],
                )]));
            }
        };
        let mut options = Self {
            labels: LabelSelector::parse(query.get("labelSelector").unwrap_or_default())?,
            fields: FieldSelector::parse(query.get("fieldSelector").unwrap_or_default(), selectable)?,
            resource_version,
            version_match,
            limit: number("limit")?
                .and_then(|limit| usize::try_from(limit).ok())
                .unwrap_or(0),
            continue_token: query.get("continue").unwrap_or_default().to_owned(),
            timeout_seconds: number("timeoutSeconds")?,
            allow_bookmarks: query.flag("allowWatchBookmarks"),
            send_initial_events: query
                .get("sendInitialEvents")
                .map(|_| query.flag("sendInitialEvents")),
        };
        if watch {
            options.check_watch()?;
            // Upstream's WatchList: a watch from "the current state" is one with initial events.
            if matches!(options.resource_version, None | Some(0))
                && options.send_initial_events.is_none()
                && options.version_match.is_none()
            {
                options.send_initial_events = Some(true);
                options.version_match = Some(Match::NotOlderThan);
            }
        } else {
            options.check_list()?;
        }
        Ok(options)
    }

    fn check_list(&self) -> Result<()> {
        let path = Path::new("resourceVersionMatch");
        let mut errors = Vec::new();
        if self.send_initial_events.is_some() {
            let path = Path::new("sendInitialEvents");
            errors.push(Error::forbidden(&path, "sendInitialEvents is forbidden for list"));
        }
        if let Some(version_match) = self.version_match {
            if self.resource_version.is_none() {
                let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                errors.push(Error::forbidden(&path, why));
            }
            if !self.continue_token.is_empty() {
                errors.push(Error::forbidden(
                    &path,
                    "resourceVersionMatch is forbidden when continue is provided",
                ));
            }
            if version_match == Match::Exact && self.resource_version == Some(0) {
                let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                errors.push(Error::forbidden(&path, why));
            }
        }
        if !errors.is_empty() {
            return Err(invalid_options(&errors));
        }
        if !self.continue_token.is_empty() && self.resource_version.is_some_and(|version| version != 0) {
            return Err(ApiError::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        Ok(())
    }

    fn check_watch(&self) -> Result<()> {
        let path = Path::new("resourceVersionMatch");
        let mut errors = Vec::new();
        match (self.send_initial_events, self.version_match) {
            (Some(_), Some(Match::NotOlderThan)) | (None, None) => {}
            (Some(_), None) => {
                let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
                errors.push(Error::forbidden(&path, why));
            }
            (Some(_), Some(Match::Exact)) => {
                errors.push(Error::not_supported(&path, "Exact", &["NotOlderThan"]));
            }
            (None, Some(_)) => {
                let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
                errors.push(Error::forbidden(&path, why));
            }
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(invalid_options(&errors))
        }
    }
}

fn invalid_options(errors: &[Error]) -> ApiError {
    ApiError::invalid("meta.k8s.io", "ListOptions", "", errors)
}

/// What to do about fields that the schema does not know, and duplicate keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FieldValidation {
    /// Drop them silently.
    Ignore,
    /// Drop them with a warning.
    #[default]
    Warn,
    /// Refuse the request.
    Strict,
}

/// Options of create, update and patch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Do everything but store.
    pub dry_run: bool,
    /// Who owns the written fields; empty for the default of the request.
    pub field_manager: String,
    /// What to do about unknown fields.
    pub field_validation: FieldValidation,
    /// Apply: take fields over from other managers.
    pub force: Option<bool>,
}

impl WriteOptions {
    /// Reads and checks the options of a write of `kind` options (`CreateOptions`, …).
    pub fn parse(query: &Query, kind: &str) -> Result<Self> {
        let mut errors = Vec::new();
        let dry_run = dry_run(query.all("dryRun"), &mut errors);
        let field_validation = match query.get("fieldValidation") {
            None | Some("Warn") => FieldValidation::Warn,
            Some("Ignore") => FieldValidation::Ignore,
            Some("Strict") => FieldValidation::Strict,
            Some(other) => {
                let supported = ["Ignore", "Strict", "Warn", ""];
                errors.push(Error::not_supported(
                    &Path::new("fieldValidation"),
                    other,
                    &supported,
                ));
                FieldValidation::Warn
            }
        };
        let field_manager = query.get("fieldManager").unwrap_or_default().to_owned();
        let path = Path::new("fieldManager");
        if field_manager.len() > 128 {
            errors.push(Error::new(
                capstan_base::field::Kind::TooLong,
                &path,
                field_manager.as_str(),
                "may not be more than 128 bytes",
            ));
        } else if field_manager.chars().any(char::is_control) {
            errors.push(Error::invalid(
                &path,
                field_manager.as_str(),
                "should only contain printable characters",
            ));
        }
        if !errors.is_empty() {
            return Err(ApiError::invalid("meta.k8s.io", kind, "", &errors));
        }
        let force = query.get("force").map(|_| query.flag("force"));
        Ok(Self {
            dry_run,
            field_manager,
            field_validation,
            force,
        })
    }
}

/// Whether this is a dry run: no value or exactly `All`.
fn dry_run<'a>(values: impl Iterator<Item = &'a str>, errors: &mut Vec<Error>) -> bool {
    let mut dry = false;
    for value in values.filter(|value| !value.is_empty()) {
        if value == "All" {
            dry = true;
        } else {
            errors.push(Error::not_supported(&Path::new("dryRun"), value, &["All"]));
        }
    }
    dry
}

/// What happens to the dependents of a deleted object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Propagation {
    /// They stay and lose the owner reference.
    Orphan,
    /// They go after the owner.
    Background,
    /// They go before the owner.
    Foreground,
}

/// Options of delete and deletecollection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// Do everything but store.
    pub dry_run: bool,
    /// What happens to dependents; `None` for the default.
    pub propagation: Option<Propagation>,
    /// Delete only the object with this UID.
    pub uid: Option<String>,
    /// Delete only the object at this revision.
    pub resource_version: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct DeleteBody {
    dry_run: Vec<String>,
    propagation_policy: Option<String>,
    orphan_dependents: Option<bool>,
    preconditions: Option<Preconditions>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Preconditions {
    uid: Option<String>,
    resource_version: Option<String>,
}

impl DeleteOptions {
    /// Reads and checks delete options: from the body if there is one, else from the query.
    pub fn parse(query: &Query, body: Option<&serde_json::Value>) -> Result<Self> {
        let given = match body {
            Some(value) => DeleteBody::deserialize(value)
                .map_err(|error| ApiError::bad_request(format!("could not read DeleteOptions: {error}")))?,
            None => DeleteBody {
                dry_run: query.all("dryRun").map(str::to_owned).collect(),
                propagation_policy: query.get("propagationPolicy").map(str::to_owned),
                orphan_dependents: query
                    .get("orphanDependents")
                    .map(|_| query.flag("orphanDependents")),
                preconditions: None,
            },
        };
        let mut errors = Vec::new();
        let dry_run = dry_run(given.dry_run.iter().map(String::as_str), &mut errors);
        let path = Path::new("propagationPolicy");
        let propagation = match (given.propagation_policy.as_deref(), given.orphan_dependents) {
            (Some(_), Some(_)) => {
                errors.push(Error::invalid(
                    &path,
                    given.propagation_policy.as_deref().unwrap_or_default(),
                    "orphanDependents and deletionPropagation cannot be both set",
                ));
                None
            }
            (Some("Orphan"), None) | (None, Some(true)) => Some(Propagation::Orphan),
            (Some("Background"), None) | (None, Some(false)) => Some(Propagation::Background),
            (Some("Foreground"), None) => Some(Propagation::Foreground),
            (None | Some(""), None) => None,
            (Some(other), None) => {
                errors.push(Error::not_supported(
                    &path,
                    other,
                    &["Foreground", "Background", "Orphan", "nil"],
                ));
                None
            }
        };
        if !errors.is_empty() {
            return Err(ApiError::invalid("meta.k8s.io", "DeleteOptions", "", &errors));
        }
        let preconditions = given.preconditions.unwrap_or_default();
        Ok(Self {
            dry_run,
            propagation,
            uid: preconditions.uid,
            resource_version: preconditions.resource_version,
        })
    }
}

impl ApiError {
    /// This error with another code and reason.
    #[must_use]
    fn with_code(mut self, code: StatusCode, reason: &'static str) -> Self {
        self.code = code;
        self.reason = reason;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(query: &str, watch: bool) -> String {
        match ListOptions::parse(&Query::parse(query), &[], watch) {
            Ok(options) => format!("ok initial={:?}", options.send_initial_events),
            Err(error) => format!("{} {}", error.code.as_u16(), error.reason),
        }
    }

    #[test]
    fn resource_version_options_are_checked_as_upstream() {
        for (query, watch, expected) in [
            ("resourceVersionMatch=Exact", false, "422 Invalid"),
            (
                "resourceVersionMatch=Exact&resourceVersion=0",
                false,
                "422 Invalid",
            ),
            (
                "resourceVersionMatch=Nearly&resourceVersion=1",
                false,
                "422 Invalid",
            ),
            ("sendInitialEvents=true", false, "422 Invalid"),
            ("resourceVersion=x", false, "400 BadRequest"),
            ("resourceVersion=5&continue=abc", false, "400 BadRequest"),
            (
                "resourceVersion=5&resourceVersionMatch=NotOlderThan",
                false,
                "ok initial=None",
            ),
            ("", true, "ok initial=Some(true)"),
            ("resourceVersion=0", true, "ok initial=Some(true)"),
            ("resourceVersion=7", true, "ok initial=None"),
            ("sendInitialEvents=true", true, "422 Invalid"),
            (
                "resourceVersionMatch=NotOlderThan&resourceVersion=1",
                true,
                "422 Invalid",
            ),
        ] {
            assert_eq!(outcome(query, watch), expected, "{query}");
        }
    }
}
