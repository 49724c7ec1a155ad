//! Lists: consistent pages of a snapshot.
//! Source: apiserver `pkg/storage/etcd3/store.go`, `pkg/storage/continue.go`.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use capstan_store::{Record, Snapshot, SnapshotError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Registry, Target};
use crate::{
    codec::Stored,
    wire::{
        options::{ListOptions, Match},
        selector::FieldSelector,
        status::{ApiError, Result},
    },
};

/// One page of a list.
#[derive(Debug, Clone)]
pub struct Page {
    /// The records, in (namespace, name) order.
    pub records: Vec<Arc<Record>>,
    /// The revision that the list shows.
    pub revision: u64,
    /// Where to go on; empty on the last page.
    pub continue_token: String,
    /// How many objects follow this page; only known without selectors.
    pub remaining: Option<usize>,
}

/// A continue token, before it is encoded. Opaque to clients.
#[derive(Serialize, Deserialize)]
struct Token {
    v: String,
    /// -1: go on with whatever is there now.
    rv: i64,
    /// `namespace/name` of the last object of the page.
    start: String,
}

const TOKEN_VERSION: &str = "meta.k8s.io/v1";
const EXPIRED_LIST: &str = "The resourceVersion for the provided list is too old.";
const EXPIRED_TOKEN: &str = "The provided continue parameter is too old to display a consistent list result. You can \
                             start a new list without the continue parameter, or use the continue token in this \
                             response to retrieve the remainder of the results. Continuing with the provided token \
                             results in an inconsistent list - objects that were created, modified, or deleted \
                             between the time the first chunk was returned and now may show up in the list.";

impl Token {
    fn encode(revision: i64, namespace: &str, name: &str) -> String {
        let token = Self {
            v: TOKEN_VERSION.to_owned(),
            rv: revision,
            start: format!("{namespace}/{name}"),
        };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).unwrap_or_default())
    }

    fn decode(text: &str) -> Result<(i64, String, String)> {
        let malformed = || ApiError::bad_request("continue key is not valid");
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| malformed())?;
        let token: Self = serde_json::from_slice(&bytes).map_err(|_| malformed())?;
        let (namespace, name) = token.start.split_once('/').ok_or_else(malformed)?;
        if token.v != TOKEN_VERSION || token.rv < -1 || token.rv == 0 || name.contains('/') {
            return Err(malformed());
        }
        Ok((token.rv, namespace.to_owned(), name.to_owned()))
    }
}

impl Registry {
    /// The records of a collection that the options select. The records are as stored; see `Registry::encode`.
    ///
    /// # Errors
    /// A malformed or expired token or revision.
    pub fn list(&self, target: &Target, options: &ListOptions) -> Result<Page> {
        let (snapshot, start) = self.view(options)?;
        let resource = target.resource.store_name.as_str();
        let namespace = (!target.namespace.is_empty()).then_some(target.namespace.as_str());
        let single = name_of(target, options);
        let mut page = Page {
            records: Vec::new(),
            revision: snapshot.revision(),
            continue_token: String::new(),
            remaining: None,
        };
        if let (Some(name), true) = (&single, namespace.is_some() || !target.resource.is_namespaced()) {
            let found = snapshot
                .get(&target.object(&target.namespace, name).key())
                .cloned();
            page.records
                .extend(found.filter(|record| self.selects(target, options, record)));
            return Ok(page);
        }
        let after = start
            .as_ref()
            .map(|(namespace, name)| (namespace.as_str(), name.as_str()));
        let mut records: Box<dyn Iterator<Item = &Arc<Record>>> = match after {
            Some(after) => Box::new(snapshot.range_after(resource, namespace, after)),
            None => Box::new(snapshot.range(resource, namespace)),
        };
        for record in records.by_ref() {
            if !self.selects(target, options, record) {
                continue;
            }
            if options.limit > 0 && page.records.len() == options.limit {
                let last = page.records.last().map(|it| &it.key);
                let revision = i64::try_from(snapshot.revision()).unwrap_or(i64::MAX);
                page.continue_token = last
                    .map(|key| Token::encode(revision, key.namespace(), key.name()))
                    .unwrap_or_default();
                if options.labels.is_empty() && options.fields.is_empty() {
                    page.remaining = Some(records.count() + 1);
                }
                break;
            }
            page.records.push(Arc::clone(record));
        }
        Ok(page)
    }

    /// The snapshot that a list shows, and where in it the list begins.
    fn view(&self, options: &ListOptions) -> Result<(Snapshot, Option<(String, String)>)> {
        let latest = self.store.snapshot();
        if !options.continue_token.is_empty() {
            let (revision, namespace, name) = Token::decode(&options.continue_token)?;
            let start = Some((namespace, name));
            let Ok(revision) = u64::try_from(revision) else {
                return Ok((latest, start));
            };
            return match self.store.snapshot_at(revision) {
                Ok(snapshot) => Ok((snapshot, start)),
                Err(_) => {
                    let mut error = ApiError::expired(EXPIRED_TOKEN);
                    if let Some((namespace, name)) = &start {
                        error.continue_token = Token::encode(-1, namespace, name);
                    }
                    Err(error)
                }
            };
        }
        let asked = options.resource_version.filter(|version| *version > 0);
        let Some(asked) = asked else {
            return Ok((latest, None));
        };
        if asked > latest.revision() {
            return Err(ApiError::resource_version_too_large(asked, latest.revision()));
        }
        let is_exact = match options.version_match {
            Some(Match::Exact) => true,
            Some(Match::NotOlderThan) => false,
            // Legacy: a page size makes a list of a revision an exact one.
            None => options.limit > 0,
        };
        if !is_exact {
            return Ok((latest, None));
        }
        match self.store.snapshot_at(asked) {
            Ok(snapshot) => Ok((snapshot, None)),
            Err(SnapshotError::Future { current, .. }) => {
                Err(ApiError::resource_version_too_large(asked, current))
            }
            Err(SnapshotError::Compacted(_)) => Err(ApiError::expired(EXPIRED_LIST)),
        }
    }

    /// Whether the options select `record`.
    pub(super) fn selects(&self, target: &Target, options: &ListOptions, record: &Arc<Record>) -> bool {
        let key = &record.key;
        if !target.name.is_empty() && key.name() != target.name {
            return false;
        }
        if !options.labels.is_empty() && !options.labels.matches(Stored::of(record).labels()) {
            return false;
        }
        if options.fields.is_empty() {
            return true;
        }
        let content = if options.fields.needs_content() {
            self.codec(&target.resource)
                .read(record, target.version())
                .unwrap_or_default()
        } else {
            Value::Null
        };
        options.fields.matches(key.namespace(), key.name(), &content)
    }
}

/// The only name that a list can show, if the URL or the field selector says one.
fn name_of(target: &Target, options: &ListOptions) -> Option<String> {
    if !target.name.is_empty() {
        return Some(target.name.clone());
    }
    FieldSelector::exact_name(&options.fields).map(str::to_owned)
}
