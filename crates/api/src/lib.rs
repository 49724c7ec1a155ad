//! Every Cluster API kind in its hub version v1beta2, and everything about the kinds that is a pure function:
//! conditions, defaulting, validation, conversion, CRD manifests, and the contract by which foreign objects are read.
//! No I/O and no async here.

pub mod addons;
pub mod admission;
pub mod bootstrap;
pub mod condition;
pub mod contract;
pub mod controlplane;
pub mod conversion;
pub mod core;
pub mod crd;
pub mod feature;
pub mod infrastructure;
pub mod ipam;
pub mod owner;
mod record;
pub mod runtime;
pub mod selector;
pub mod well_known;

pub use k8s_openapi::{
    ByteString,
    apimachinery::pkg::{
        apis::meta::v1::{
            Condition, LabelSelector, LabelSelectorRequirement, ObjectMeta, OwnerReference, Time,
        },
        util::intstr::IntOrString,
    },
};
pub use record::UnknownKeyword;

/// The version in which every kind is kept and which the controllers speak.
pub const VERSION: &str = "v1beta2";
