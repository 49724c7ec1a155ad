//! Tables of what is decided and reported about DevMachines.
