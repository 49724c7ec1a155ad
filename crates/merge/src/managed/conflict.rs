//! Conflicts between appliers and other owners, in the words of the API.

use std::{collections::BTreeMap, fmt};

use super::entries::{ManagerId, Verb};
use crate::path::{Path, path_text};

/// A field that is applied with a new value while another manager owns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Who owns it.
    pub manager: ManagerId,
    /// The field.
    pub path: Path,
}

/// All conflicts of an apply, at least one. Printed as the message of the 409 Status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflicts(pub(super) Vec<Conflict>);

/// A cause of the Status of a conflict; its reason is `FieldManagerConflict`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// Who is in the way.
    pub message: String,
    /// The field, as in `.spec.replicas`.
    pub field: String,
}

impl Conflicts {
    /// The conflicts by manager, then path.
    pub fn iter(&self) -> impl Iterator<Item = &Conflict> {
        self.0.iter()
    }

    /// The causes of the Status, one for each conflict.
    pub fn causes(&self) -> Vec<Cause> {
        let cause = |conflict: &Conflict| Cause {
            message: format!("conflict with {}", conflict.manager),
            field: path_text(&conflict.path),
        };
        self.0.iter().map(cause).collect()
    }
}

impl std::error::Error for Conflicts {}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [Conflict { manager, path }] = self.0.as_slice() {
            return write!(
                f,
                "Apply failed with 1 conflict: conflict with {manager}: {}",
                path_text(path)
            );
        }
        let mut by_manager: BTreeMap<&ManagerId, Vec<&Path>> = BTreeMap::new();
        for Conflict { manager, path } in &self.0 {
            by_manager.entry(manager).or_default().push(path);
        }
        let lines = by_manager.into_iter().flat_map(|(manager, paths)| {
            let paths = paths.into_iter().map(|path| format!("- {}", path_text(path)));
            std::iter::once(format!("conflicts with {manager}:")).chain(paths)
        });
        let lines: Vec<_> = lines.collect();
        write!(
            f,
            "Apply failed with {} conflicts: {}",
            self.0.len(),
            lines.join("\n")
        )
    }
}

impl fmt::Display for ManagerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.manager)?;
        if !self.subresource.is_empty() {
            write!(f, " with subresource {:?}", self.subresource)?;
        }
        if self.verb == Verb::Update {
            write!(f, " using {}", self.api_version)?;
        }
        Ok(())
    }
}
