//! Objects of providers, read by contract: which API version to ask for, and where in the object each thing is.
//! Provider kinds are not known here; the objects are JSON.

mod bootstrap;
mod control_plane;
mod infrastructure;
mod value;
mod versions;

pub use bootstrap::BootstrapConfig;
pub use control_plane::ControlPlane;
pub use infrastructure::{InfrastructureCluster, InfrastructureMachine, InfrastructureMachineTemplate};
pub use value::ContractError;
pub(crate) use versions::pluralize;
pub use versions::{Contract, choose_version, contract_of_version, crd_name, plural};
