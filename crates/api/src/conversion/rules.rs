//! The words in which conversions are written.
//!
//! "Old" is the spoke, "new" the hub. Paths are field names with dots between them, from the object that the list of
//! rules is about. Each rule can be undone: lists run forwards on the way up and backwards on the way down.

use serde_json::{Map, Value};

/// How a kind is converted between one spoke and the hub.
#[derive(Debug, Clone, Copy)]
pub struct Conversion {
    /// The kind.
    pub kind: &'static str,
    /// The version that is not the hub.
    pub spoke: &'static str,
    /// Whether the hub object is kept in the annotation while the object is in the spoke version.
    pub keeps_hub: bool,
    /// What is done on the way up, in order.
    pub rules: &'static [Rule],
}

/// A JSON object.
pub type Object = Map<String, Value>;

/// What a hand-written step may look at besides the object.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// What the annotation has in place of the object, in hub form; only on the way up.
    pub restored: Option<&'a Value>,
}

/// A hand-written step.
pub type Step = fn(&mut Object, Around<'_>);

/// One rule; what it says of the way up is undone on the way down.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// The rules of another list.
    All(&'static [Rule]),
    /// A value moves.
    Move {
        /// Path in the spoke.
        old: &'static str,
        /// Path in the hub.
        new: &'static str,
    },
    /// A duration as text becomes whole seconds: fractions are cut off, and more than 32 bits hold is capped.
    Seconds {
        /// Path in the spoke.
        old: &'static str,
        /// Path in the hub.
        new: &'static str,
    },
    /// Like [`Rule::Seconds`], but the spoke can not tell zero from absent: zero counts only if it is restored.
    SecondsIfMeant {
        /// Path in the spoke.
        old: &'static str,
        /// Path in the hub.
        new: &'static str,
    },
    /// A boolean or a whole number moves, but the spoke can not tell false or zero from absent: they count only if
    /// they are restored.
    IfMeant {
        /// Path in the spoke.
        old: &'static str,
        /// Path in the hub.
        new: &'static str,
    },
    /// Rules about the object at a path, which is the same on both sides.
    Inside {
        /// Path of the object in the hub.
        at: &'static str,
        /// Its rules.
        rules: &'static [Rule],
    },
    /// Rules about each item of a list.
    Each {
        /// Path of the list in the hub.
        at: &'static str,
        /// The field by which an item is found again in what is restored; without it, the position counts as long
        /// as the lists are equally long.
        key: Option<&'static str>,
        /// The rules of an item.
        rules: &'static [Rule],
    },
    /// An object reference with a version becomes one that names the group only; on the way down the version is
    /// looked up, and the namespace is that of the whole object.
    ContractReference {
        /// Path of the reference.
        at: &'static str,
    },
    /// A reference that has no namespace in the hub; on the way down it gets that of the whole object.
    LocalReference {
        /// Path of the reference in the hub.
        at: &'static str,
    },
    /// A map from names to objects becomes a list of objects with a name, ordered as restored, else by name.
    NamedItems {
        /// Path of the map or list.
        at: &'static str,
    },
    /// A map from names to values becomes a list of `name` and `value`, ordered as restored, else by name.
    Arguments {
        /// Path of the map or list.
        at: &'static str,
    },
    /// The spoke has no such field: it is restored, or absent.
    Restored {
        /// Path in the hub.
        at: &'static str,
    },
    /// The spoke has the field, but who writes the spoke has no say in it: it is restored.
    NotWritable {
        /// Path on both sides.
        at: &'static str,
    },
    /// Steps by hand, for what has no word.
    Custom {
        /// On the way up.
        up: Step,
        /// On the way down.
        down: Step,
    },
}

/// A step that does nothing, for rules with a hand-written step in one direction only.
pub fn nothing(_: &mut Object, _: Around<'_>) {}

/// Conditions and their successors: the old ones go below `status.deprecated.v1beta1`, and those of the new kind
/// come up from `status.v1beta2`. Neither is ever translated to the other.
pub const CONDITIONS: &[Rule] = &[
    Rule::Move {
        old: "status.conditions",
        new: "status.deprecated.v1beta1.conditions",
    },
    Rule::Move {
        old: "status.v1beta2.conditions",
        new: "status.conditions",
    },
];

/// The failure of an object that can not recover, which has no successor.
pub const FAILURE: &[Rule] = &[
    Rule::Move {
        old: "status.failureReason",
        new: "status.deprecated.v1beta1.failureReason",
    },
    Rule::Move {
        old: "status.failureMessage",
        new: "status.deprecated.v1beta1.failureMessage",
    },
];

/// Failure domains by name, in the status of clusters.
pub const STATUS_FAILURE_DOMAINS: Rule = Rule::NamedItems {
    at: "status.failureDomains",
};
