//! How a write moves ownership between managers, across versions.
//! Upstream: structured-merge-diff `merge.Updater`.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{
    Failure, Operation,
    conflict::{Conflict, Conflicts},
    entries::{ManagerId, Managers, Verb},
};
use crate::{
    path::PathElement,
    set::Set,
    typed::{self, Comparison, Duplicates, TypeErrors},
    types::Schema,
};

/// An object in one version, with the schema of that version.
pub(super) struct At<'v> {
    pub(super) api_version: Cow<'v, str>,
    pub(super) value: Cow<'v, Value>,
    pub(super) schema: Arc<Schema>,
}

/// Why an apply stops.
pub(super) enum Stop {
    Conflicts(Conflicts),
    Failure(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

pub(super) fn step(step: &'static str) -> impl Fn(TypeErrors) -> Failure {
    move |errors| Failure::Step { step, errors }
}

/// The version an object says it is of.
fn api_version_of(object: &Value) -> Option<&str> {
    object.get("apiVersion")?.as_str()
}

fn convert_failure(api_version: &str) -> impl Fn(super::ConversionError) -> Failure + '_ {
    move |error| Failure::Convert {
        api_version: api_version.to_owned(),
        error,
    }
}

impl Operation<'_> {
    /// The object in the version of the request, checked against its schema.
    pub(super) fn typed<'v>(
        &'v self,
        role: &'static str,
        object: &'v Value,
        duplicates: Duplicates,
    ) -> Result<At<'v>, Failure> {
        let schema = self
            .versions
            .schema(self.api_version)
            .ok_or_else(|| Failure::NoType(self.type_text()))?;
        let value = match api_version_of(object) {
            Some(version) if version != self.api_version => Cow::Owned(
                self.versions
                    .convert(object, self.api_version)
                    .map_err(convert_failure(self.api_version))?,
            ),
            _ => Cow::Borrowed(object),
        };
        typed::validate(&schema, &value, duplicates).map_err(|errors| {
            let object = self.object_text(object);
            Failure::Typed { role, object, errors }
        })?;
        Ok(At {
            api_version: Cow::Borrowed(self.api_version),
            value,
            schema,
        })
    }

    /// `group/version, Kind=kind`, with an empty group for the core one.
    pub(super) fn type_text(&self) -> String {
        type_text(self.api_version, self.kind)
    }

    fn object_text(&self, object: &Value) -> String {
        let of = |name: &str| {
            object
                .get("metadata")
                .and_then(|metadata| metadata.get(name))
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        format!("{}/{}; {}", of("namespace"), of("name"), self.type_text())
    }

    /// The object in another version; `None` when that version is not served.
    // Differs: upstream validates the converted object without allowing duplicate list items, and drops all managers
    // of a stored object that has some when any of them wrote in another version.
    pub(super) fn convert<'v>(
        &self,
        at: &'v At<'_>,
        api_version: &'v str,
    ) -> Result<Option<At<'v>>, Failure> {
        if at.api_version == api_version {
            let schema = Arc::clone(&at.schema);
            return Ok(Some(At {
                api_version: Cow::Borrowed(api_version),
                value: Cow::Borrowed(&at.value),
                schema,
            }));
        }
        let Some(schema) = self.versions.schema(api_version) else {
            return Ok(None);
        };
        let converted = self
            .versions
            .convert(&at.value, api_version)
            .map_err(convert_failure(api_version))?;
        Ok(Some(At {
            api_version: Cow::Borrowed(api_version),
            value: Cow::Owned(converted),
            schema,
        }))
    }

    /// What changed from `old` to `new`, as far as the endpoint writes it.
    fn compare(&self, old: &At<'_>, new: &At<'_>) -> Result<Comparison, Failure> {
        let comparison =
            typed::compare(&new.schema, &old.value, &new.value).map_err(step("compare objects"))?;
        Ok(match self.reset_fields.get(new.api_version.as_ref()) {
            Some(reset) => comparison.without(reset),
            None => comparison,
        })
    }

    /// Adapts stored sets to schemas that made lists or maps atomic since. Managers of versions that are no longer
    /// served are dropped.
    pub(super) fn reconcile_schemas(&self, managers: &mut Managers) {
        managers.0.retain(|_, owned| {
            let Some(schema) = self.versions.schema(&owned.api_version) else {
                return false;
            };
            if let Some(reconciled) = typed::reconcile(&schema, &owned.set) {
                owned.set = reconciled;
            }
            true
        });
    }

    /// The change from `old` to `new`, both in the request's version, as it looks in the version of each manager.
    pub(super) fn changes(
        &self,
        (old, new): (&At<'_>, &At<'_>),
        managers: &Managers,
    ) -> Result<Changes, Failure> {
        let mut by_version = BTreeMap::new();
        for owned in managers
            .0
            .values()
            .filter(|owned| owned.api_version != self.api_version)
        {
            if by_version.contains_key(&owned.api_version) {
                continue;
            }
            let old = self.convert(old, &owned.api_version)?;
            let new = self.convert(new, &owned.api_version)?;
            if let (Some(old), Some(new)) = (old, new) {
                by_version.insert(owned.api_version.clone(), self.compare(&old, &new)?);
            }
        }
        by_version.insert(self.api_version.to_owned(), self.compare(old, new)?);
        Ok(Changes {
            own_version: self.api_version.to_owned(),
            by_version,
        })
    }

    /// The identity under which this operation's fields are recorded.
    pub(super) fn manager_id(&self, manager: &str, verb: Verb) -> ManagerId {
        ManagerId {
            manager: if manager.is_empty() { "unknown" } else { manager }.to_owned(),
            verb,
            api_version: if verb == Verb::Apply {
                String::new()
            } else {
                self.api_version.to_owned()
            },
            subresource: self.subresource.to_owned(),
        }
    }
}

/// What a write changes, seen in every version a manager wrote with.
pub(super) struct Changes {
    own_version: String,
    by_version: BTreeMap<String, Comparison>,
}

impl Changes {
    /// The change in the version of the request.
    pub(super) fn own(&self) -> &Comparison {
        &self.by_version[&self.own_version]
    }

    /// What managers other than `actor` own of what is written.
    pub(super) fn conflicts(&self, managers: &Managers, actor: &ManagerId) -> Vec<Conflict> {
        let others = managers.0.iter().filter(|(id, _)| *id != actor);
        let contested = others.filter_map(|(id, owned)| {
            let comparison = self.by_version.get(&owned.api_version)?;
            Some((id, owned.set.intersection(&comparison.written())))
        });
        contested
            .flat_map(|(id, set)| {
                set.paths().into_iter().map(|path| Conflict {
                    manager: id.clone(),
                    path,
                })
            })
            .collect()
    }

    /// Takes from every manager but `actor` what is written or removed. Managers who are left with nothing, or whose
    /// version is not served any more, disappear.
    pub(super) fn take_over(&self, managers: &mut Managers, actor: Option<&ManagerId>) {
        managers.0.retain(|id, owned| {
            if Some(id) != actor {
                let Some(comparison) = self.by_version.get(&owned.api_version) else {
                    return false;
                };
                owned.set = owned
                    .set
                    .difference(&comparison.written())
                    .difference(&comparison.removed);
            }
            !owned.set.is_empty()
        });
    }
}

/// `group/version, Kind=kind`, with an empty group for the core one.
pub(super) fn type_text(api_version: &str, kind: &str) -> String {
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={kind}")
}

/// The set without what nobody owns: identity and bookkeeping of the object.
pub(super) fn without_bookkeeping(set: &Set) -> Set {
    let field = |name: &str| PathElement::field(name);
    let metadata = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    let bookkeeping = ["apiVersion", "kind", "metadata"].map(|name| vec![field(name)]);
    let bookkeeping = bookkeeping
        .into_iter()
        .chain(metadata.map(|name| vec![field("metadata"), field(name)]))
        .collect();
    set.difference(&bookkeeping)
}
