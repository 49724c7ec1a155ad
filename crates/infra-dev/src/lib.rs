//! (see ARCHITECTURE.md)

pub mod definitions;
