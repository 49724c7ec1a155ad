//! Private keys: made, read and written in the forms that kubeadm and upstream use.
//! Source of the forms: upstream `util/certs/certs.go`.

use std::fmt;

use capstan_base::Entropy;
use p256::ecdsa::signature::Signer as _;
use rcgen::{PublicKeyData, SignatureAlgorithm, SigningKey};
use rsa::{
    RsaPrivateKey,
    pkcs1::{DecodeRsaPrivateKey as _, EncodeRsaPrivateKey as _},
    pkcs8::{
        DecodePrivateKey as _, EncodePrivateKey as _, EncodePublicKey as _,
        der::{
            Encode as _,
            oid::AssociatedOid as _,
            pem::{self, LineEnding},
        },
    },
    rand_core::{CryptoRng, RngCore},
};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject as _};
use sec1::{EcParameters, EcPrivateKey};

use crate::{Algorithm, Error, Secret};

/// A private key of one of the algorithms of [`Algorithm`]. `Debug` shows the algorithm only.
#[derive(Clone)]
pub struct PrivateKey {
    kind: Kind,
    /// The public half in the raw form of its algorithm, as a certificate's bit string carries it.
    public: Vec<u8>,
}

#[derive(Clone)]
enum Kind {
    P256(p256::SecretKey),
    P384(p384::SecretKey),
    Rsa(Box<RsaPrivateKey>),
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.kind {
            Kind::P256(_) => "ECDSA-P256",
            Kind::P384(_) => "ECDSA-P384",
            Kind::Rsa(_) => "RSA",
        };
        write!(f, "PrivateKey({name}, ..)")
    }
}

impl PrivateKey {
    /// Makes a new key from the random bytes of `entropy`.
    pub fn generate(algorithm: Algorithm, entropy: &dyn Entropy) -> Result<Self, Error> {
        let mut random = Random(entropy);
        let kind = match algorithm {
            Algorithm::EcdsaP256 => Kind::P256(p256::SecretKey::random(&mut random)),
            Algorithm::EcdsaP384 => Kind::P384(p384::SecretKey::random(&mut random)),
            Algorithm::Rsa2048 => rsa_key(algorithm, 2048, &mut random)?,
            Algorithm::Rsa3072 => rsa_key(algorithm, 3072, &mut random)?,
            Algorithm::Rsa4096 => rsa_key(algorithm, 4096, &mut random)?,
        };
        Self::of(kind)
    }

    fn of(kind: Kind) -> Result<Self, Error> {
        let public = match &kind {
            Kind::P256(key) => key.public_key().to_sec1_bytes().into_vec(),
            Kind::P384(key) => key.public_key().to_sec1_bytes().into_vec(),
            Kind::Rsa(key) => {
                use rsa::pkcs1::EncodeRsaPublicKey as _;
                key.to_public_key()
                    .to_pkcs1_der()
                    .map_err(|it| Error::EncodeKey(it.into()))?
                    .into_vec()
            }
        };
        Ok(Self { kind, public })
    }

    /// Reads the first private key of a PEM text, whichever of the forms PKCS#1, PKCS#8 and SEC1 it has.
    pub fn from_pem(text: &[u8]) -> Result<Self, Error> {
        let der = PrivateKeyDer::from_pem_slice(text).map_err(|_| Error::MissingPem("private key"))?;
        let bytes = der.secret_der();
        let kind =
            if let Ok(key) = RsaPrivateKey::from_pkcs1_der(bytes).or(RsaPrivateKey::from_pkcs8_der(bytes)) {
                Kind::Rsa(Box::new(key))
            } else if let Ok(key) =
                p256::SecretKey::from_sec1_der(bytes).or(p256::SecretKey::from_pkcs8_der(bytes))
            {
                Kind::P256(key)
            } else if let Ok(key) =
                p384::SecretKey::from_sec1_der(bytes).or(p384::SecretKey::from_pkcs8_der(bytes))
            {
                Kind::P384(key)
            } else {
                return Err(Error::ParseKey);
            };
        Self::of(kind)
    }

    /// The key as PEM: `RSA PRIVATE KEY` (PKCS#1) or `EC PRIVATE KEY` (SEC1 with the curve named), as kubeadm writes.
    pub fn to_pem(&self) -> Result<Secret, Error> {
        let text = match &self.kind {
            Kind::P256(key) => self.sec1_pem(&key.to_bytes(), p256::NistP256::OID)?,
            Kind::P384(key) => self.sec1_pem(&key.to_bytes(), p384::NistP384::OID)?,
            Kind::Rsa(key) => key
                .to_pkcs1_pem(LineEnding::LF)
                .map_err(|it| Error::EncodeKey(it.into()))?
                .to_string(),
        };
        Ok(Secret::new(text))
    }

    fn sec1_pem(&self, scalar: &[u8], curve: sec1::der::asn1::ObjectIdentifier) -> Result<String, Error> {
        let document = EcPrivateKey {
            private_key: scalar,
            parameters: Some(EcParameters::NamedCurve(curve)),
            public_key: Some(&self.public),
        };
        let der = document.to_der().map_err(|it| Error::EncodeKey(it.into()))?;
        pem::encode_string("EC PRIVATE KEY", LineEnding::LF, &der)
            .map_err(|it| Error::EncodeKey(it.to_string().into()))
    }

    /// The public half as a `PUBLIC KEY` PEM block.
    pub fn public_key_pem(&self) -> Result<String, Error> {
        let text = match &self.kind {
            Kind::P256(key) => key.public_key().to_public_key_pem(LineEnding::LF),
            Kind::P384(key) => key.public_key().to_public_key_pem(LineEnding::LF),
            Kind::Rsa(key) => key.to_public_key().to_public_key_pem(LineEnding::LF),
        };
        text.map_err(|it| Error::EncodeKey(it.into()))
    }

    /// The key in the PKCS#8 form that rustls takes.
    pub fn to_rustls(&self) -> Result<PrivateKeyDer<'static>, Error> {
        Ok(PrivateKeyDer::Pkcs8(self.to_pkcs8()?))
    }

    fn to_pkcs8(&self) -> Result<PrivatePkcs8KeyDer<'static>, Error> {
        let document = match &self.kind {
            Kind::P256(key) => key.to_pkcs8_der(),
            Kind::P384(key) => key.to_pkcs8_der(),
            Kind::Rsa(key) => key.to_pkcs8_der(),
        };
        Ok(document
            .map_err(|it| Error::EncodeKey(it.into()))?
            .as_bytes()
            .to_vec()
            .into())
    }

    /// The public half in the raw form of its algorithm.
    pub(crate) fn public_bytes(&self) -> &[u8] {
        &self.public
    }
}

fn rsa_key(algorithm: Algorithm, bits: usize, random: &mut Random<'_>) -> Result<Kind, Error> {
    let key = RsaPrivateKey::new(random, bits).map_err(|source| Error::GenerateKey {
        algorithm,
        source: source.into(),
    })?;
    Ok(Kind::Rsa(Box::new(key)))
}

impl PublicKeyData for PrivateKey {
    fn der_bytes(&self) -> &[u8] {
        &self.public
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        match &self.kind {
            Kind::P256(_) => &rcgen::PKCS_ECDSA_P256_SHA256,
            Kind::P384(_) => &rcgen::PKCS_ECDSA_P384_SHA384,
            Kind::Rsa(_) => &rcgen::PKCS_RSA_SHA256,
        }
    }
}

/// All three ways of signing are deterministic (RFC 6979 for the curves, PKCS#1 v1.5 for RSA): the same key and
/// certificate give the same signature. RSA goes through ring, whose arithmetic runs in constant time.
impl SigningKey for PrivateKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        match &self.kind {
            Kind::P256(key) => {
                let signature: p256::ecdsa::DerSignature = p256::ecdsa::SigningKey::from(key).sign(message);
                Ok(signature.as_bytes().to_vec())
            }
            Kind::P384(key) => {
                let signature: p384::ecdsa::DerSignature = p384::ecdsa::SigningKey::from(key).sign(message);
                Ok(signature.as_bytes().to_vec())
            }
            Kind::Rsa(_) => {
                let pkcs8 = self.to_pkcs8().map_err(|_| rcgen::Error::CouldNotParseKeyPair)?;
                rcgen::KeyPair::from_pkcs8_der_and_sign_algo(&pkcs8, &rcgen::PKCS_RSA_SHA256)?.sign(message)
            }
        }
    }
}

/// Our source of chance in the shape that the key libraries take.
struct Random<'a>(&'a dyn Entropy);

impl RngCore for Random<'_> {
    fn next_u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        self.0.fill(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn next_u64(&mut self) -> u64 {
        self.0.number()
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rsa::rand_core::Error> {
        self.0.fill(bytes);
        Ok(())
    }
}

impl CryptoRng for Random<'_> {}
