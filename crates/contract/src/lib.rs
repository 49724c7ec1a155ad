//! Reading and cloning of objects by contract: what the rules know of providers' kinds, and no more.

mod clone;
mod pause;
mod providers;

pub use clone::{CloneError, TemplateClone};
pub use pause::pause;
pub use providers::{External, Providers};
