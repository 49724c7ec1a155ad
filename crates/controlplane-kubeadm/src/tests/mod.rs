//! Decisions about whole control planes, from a drawing of one to the steps that follow.

mod drawing;
mod machines;
mod remediation;
mod upkeep;
mod v1beta1;
