//! Sets of field paths: the algebra of ownership, and the `FieldsV1` form it is stored in.
//! Upstream: structured-merge-diff `fieldpath.Set`.

use std::collections::{BTreeMap, btree_map::Entry};

use serde_json::{Map, Value};

use crate::{
    path::{Path, PathElement},
    types::{Schema, TypeId},
};

/// A set of paths. A path and paths beneath it can be members independently of each other. The root is never one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Set {
    /// Invariant: no node is empty, that is, neither a member nor the parent of one.
    nodes: BTreeMap<PathElement, Node>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Node {
    member: bool,
    children: Set,
}

impl Node {
    fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }
}

/// A `FieldsV1` value that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("failed to read field set: {0}")]
pub struct FieldsError(String);

impl Set {
    /// The set without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the set has no members.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many members the set has.
    pub fn len(&self) -> usize {
        self.nodes
            .values()
            .map(|node| usize::from(node.member) + node.children.len())
            .sum()
    }

    /// Adds one path, not its parents. The root is ignored: nobody owns "the object".
    pub fn insert(&mut self, path: &[PathElement]) {
        if let [first, rest @ ..] = path {
            let node = self.nodes.entry(first.clone()).or_default();
            if rest.is_empty() {
                node.member = true;
            } else {
                node.children.insert(rest);
            }
        }
    }

    /// Whether exactly this path is a member.
    pub fn has(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.has_element(last),
            [first, rest @ ..] => self.beneath(first).is_some_and(|children| children.has(rest)),
        }
    }

    pub(crate) fn has_element(&self, element: &PathElement) -> bool {
        self.nodes.get(element).is_some_and(|node| node.member)
    }

    /// The members beneath `element`, with that prefix taken off; `None` when there are none.
    pub fn beneath(&self, element: &PathElement) -> Option<&Set> {
        self.nodes
            .get(element)
            .map(|node| &node.children)
            .filter(|children| !children.is_empty())
    }

    /// The first steps of all paths, whether the step itself is a member, and the members beneath it.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (&PathElement, bool, &Set)> {
        self.nodes
            .iter()
            .map(|(element, node)| (element, node.member, &node.children))
    }

    /// Paths that are in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut result = self.clone();
        result.extend_from(other);
        result
    }

    fn extend_from(&mut self, other: &Self) {
        for (element, node) in &other.nodes {
            match self.nodes.entry(element.clone()) {
                Entry::Vacant(vacant) => {
                    vacant.insert(node.clone());
                }
                Entry::Occupied(mut occupied) => {
                    let own = occupied.get_mut();
                    own.member |= node.member;
                    own.children.extend_from(&node.children);
                }
            }
        }
    }

    /// Paths that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.combine(|element, node| {
            other.nodes.get(element).map_or_else(Node::default, |twin| Node {
                member: node.member && twin.member,
                children: node.children.intersection(&twin.children),
            })
        })
    }

    /// Paths of this set that are not in the other; a parent in the other set does not take its children along.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.combine(|element, node| match other.nodes.get(element) {
            None => node.clone(),
            Some(twin) => Node {
                member: node.member && !twin.member,
                children: node.children.difference(&twin.children),
            },
        })
    }

    /// Paths of this set that are neither in the other set nor beneath a path of it.
    #[must_use]
    pub fn recursive_difference(&self, other: &Self) -> Self {
        self.combine(|element, node| match other.nodes.get(element) {
            None => node.clone(),
            Some(twin) if twin.member => Node::default(),
            Some(twin) => Node {
                member: node.member,
                children: node.children.recursive_difference(&twin.children),
            },
        })
    }

    /// The members that have no members beneath them.
    #[must_use]
    pub fn leaves(&self) -> Self {
        self.combine(|_, node| Node {
            member: node.member && node.children.is_empty(),
            children: node.children.leaves(),
        })
    }

    fn combine(&self, each: impl Fn(&PathElement, &Node) -> Node) -> Self {
        Self {
            nodes: self
                .nodes
                .iter()
                .map(|(element, node)| (element, each(element, node)))
                .filter(|(_, node)| !node.is_empty())
                .map(|(element, node)| (element.clone(), node))
                .collect(),
        }
    }

    /// This set plus every declared field on the way to a member. Entries of maps and list items on the way are not
    /// added: only they can exist without being mentioned.
    #[must_use]
    pub fn with_named_parents(&self, schema: &Schema) -> Self {
        self.with_named_parents_at(schema, schema.root())
    }

    fn with_named_parents_at(&self, schema: &Schema, type_id: TypeId) -> Self {
        let atom = schema.atom(type_id);
        let nodes = self.nodes.iter().map(|(element, node)| {
            let mut named = false;
            let child = match element {
                PathElement::Field(name) => atom.map.as_ref().map_or(TypeId::NOTHING, |map| {
                    named = map.fields.contains_key(name);
                    map.entry_type(name)
                }),
                PathElement::Key(_) => atom.list.as_ref().map_or(TypeId::NOTHING, |list| list.element),
                PathElement::Value(_) | PathElement::Index(_) => TypeId::NOTHING,
            };
            let member = node.member || (named && !node.children.is_empty());
            (
                element.clone(),
                Node {
                    member,
                    children: node.children.with_named_parents_at(schema, child),
                },
            )
        });
        Self {
            nodes: nodes.collect(),
        }
    }

    /// All members; at each level first the members of that level, then those beneath, as conflicts are listed.
    pub fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.collect_paths(&mut Vec::new(), &mut paths);
        paths
    }

    fn collect_paths(&self, prefix: &mut Path, paths: &mut Vec<Path>) {
        for (element, _) in self.nodes.iter().filter(|(_, node)| node.member) {
            paths.push(prefix.iter().chain([element]).cloned().collect());
        }
        for (element, node) in &self.nodes {
            prefix.push(element.clone());
            node.children.collect_paths(prefix, paths);
            prefix.pop();
        }
    }

    /// Reads `FieldsV1`. Elements of unknown kinds are dropped.
    ///
    /// # Errors
    /// The value is not nested objects, or a key is malformed.
    pub fn from_fields_v1(fields: &Value) -> Result<Self, FieldsError> {
        Ok(Self::read(fields)?.1)
    }

    /// Whether the subtree makes its own path a member, and what it holds beneath.
    fn read(fields: &Value) -> Result<(bool, Self), FieldsError> {
        let entries = match fields {
            Value::Null => return Ok((true, Self::new())),
            Value::Object(entries) => entries,
            other => return Err(FieldsError(format!("expected an object, got {other}"))),
        };
        let mut is_member = false;
        let mut set = Self::new();
        for (key, content) in entries {
            if key == "." {
                is_member = true;
                continue;
            }
            if let Some(element) = PathElement::from_wire(key).map_err(FieldsError)? {
                let (member, children) = Self::read(content)?;
                set.nodes.insert(element, Node { member, children });
            }
        }
        Ok((is_member || set.is_empty(), set))
    }

    /// The set as `FieldsV1`.
    pub fn to_fields_v1(&self) -> Value {
        Value::Object(self.write())
    }

    fn write(&self) -> Map<String, Value> {
        let mut entries = Map::new();
        for (element, node) in &self.nodes {
            let mut content = node.children.write();
            if node.member && !content.is_empty() {
                content.insert(".".to_owned(), Value::Object(Map::new()));
            }
            entries.insert(element.to_wire(), Value::Object(content));
        }
        entries
    }
}

impl FromIterator<Path> for Set {
    fn from_iter<I: IntoIterator<Item = Path>>(paths: I) -> Self {
        let mut set = Self::new();
        for path in paths {
            set.insert(&path);
        }
        set
    }
}
