//! Tables: the rows and columns that `kubectl get` prints.

mod age;
mod columns;

pub use age::age;
pub use columns::built_in_columns;
