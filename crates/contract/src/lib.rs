//! What the rules share in dealing with other controllers' objects: finding them by contract, cloning templates, owner
//! references, creations that may be repeated, conditions on others' Machines, and the pause gate.

mod clone;
mod creation;
mod in_place;
mod machine_conditions;
mod owner;
mod pause;
mod providers;
pub mod secrets;

pub use clone::{CloneError, TemplateClone};
pub use creation::{CreationError, create_group, create_or_adopt, dynamic, is_made_for};
pub use in_place::InPlace;
pub use machine_conditions::MachineConditions;
pub use owner::with_owner;
pub use pause::pause;
pub use providers::{External, Providers};
