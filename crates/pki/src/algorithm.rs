//! The key algorithms that a cluster may ask for.

use std::{fmt, str::FromStr};

use crate::Error;

/// A key algorithm, named as kubeadm's `encryptionAlgorithm` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Algorithm {
    /// Elliptic curve P-256.
    EcdsaP256,
    /// Elliptic curve P-384.
    EcdsaP384,
    /// RSA with a modulus of 2048 bits, what kubeadm takes when nothing is said.
    #[default]
    Rsa2048,
    /// RSA with a modulus of 3072 bits.
    Rsa3072,
    /// RSA with a modulus of 4096 bits.
    Rsa4096,
}

impl Algorithm {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EcdsaP256 => "ECDSA-P256",
            Self::EcdsaP384 => "ECDSA-P384",
            Self::Rsa2048 => "RSA-2048",
            Self::Rsa3072 => "RSA-3072",
            Self::Rsa4096 => "RSA-4096",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Algorithm {
    type Err = Error;

    /// Parses a name; the empty one means the default, as on the wire.
    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "ECDSA-P256" => Ok(Self::EcdsaP256),
            "ECDSA-P384" => Ok(Self::EcdsaP384),
            "RSA-2048" | "" => Ok(Self::Rsa2048),
            "RSA-3072" => Ok(Self::Rsa3072),
            "RSA-4096" => Ok(Self::Rsa4096),
            other => Err(Error::UnknownAlgorithm(other.to_owned())),
        }
    }
}
