//! Reading and cloning of objects by contract: what the rules know of providers' kinds, and no more.
