//! Certificates as they are read: who, until when, by whom.

use std::fmt;

use jiff::Timestamp;
use rsa::pkcs8::der::pem::{self, LineEnding};
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use sha2::{Digest, Sha256};
use x509_parser::{
    certificate::X509Certificate,
    prelude::{FromDer as _, GeneralName},
    time::ASN1Time,
    x509::X509Name,
};

use crate::Error;

/// Whom a certificate names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// The common name: a Kubernetes user name in a client certificate.
    pub common_name: String,
    /// The organisations: Kubernetes group names in a client certificate.
    pub organizations: Vec<String>,
}

impl Subject {
    fn of(name: &X509Name<'_>) -> Self {
        Self {
            common_name: name
                .iter_common_name()
                .find_map(|it| it.as_str().ok())
                .unwrap_or_default()
                .to_owned(),
            organizations: name
                .iter_organization()
                .filter_map(|it| it.as_str().ok().map(str::to_owned))
                .collect(),
        }
    }
}

/// A parsed certificate. Parsing checks the form, not the signature: see [`Certificate::is_signed_by`].
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    der: Vec<u8>,
    subject: Subject,
    not_before: Timestamp,
    not_after: Timestamp,
    is_authority: bool,
    alternative_names: Vec<String>,
    public_key_hash: String,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate")
            .field("subject", &self.subject)
            .field("not_before", &self.not_before)
            .field("not_after", &self.not_after)
            .field("is_authority", &self.is_authority)
            .field("alternative_names", &self.alternative_names)
            .finish_non_exhaustive()
    }
}

impl Certificate {
    /// Parses one certificate.
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let parsed = parse(der)?;
        let names = parsed
            .subject_alternative_name()
            .map_err(|it| Error::ParseCertificate(it.into()))?;
        Ok(Self {
            subject: Subject::of(parsed.subject()),
            not_before: timestamp(parsed.validity().not_before)?,
            not_after: timestamp(parsed.validity().not_after)?,
            is_authority: parsed.is_ca(),
            alternative_names: names
                .map(|it| {
                    it.value
                        .general_names
                        .iter()
                        .filter_map(alternative_name)
                        .collect()
                })
                .unwrap_or_default(),
            public_key_hash: format!("sha256:{:x}", Sha256::digest(parsed.public_key().raw)),
            der: der.to_vec(),
        })
    }

    /// Parses the first certificate of a PEM text.
    pub fn from_pem(text: &[u8]) -> Result<Self, Error> {
        let der = CertificateDer::from_pem_slice(text).map_err(|_| Error::MissingPem("certificate"))?;
        Self::from_der(&der)
    }

    /// Parses all certificates of a PEM text, in their order; there must be at least one.
    pub fn all_from_pem(text: &[u8]) -> Result<Vec<Self>, Error> {
        let all = CertificateDer::pem_slice_iter(text)
            .map(|it| {
                it.map_err(|_| Error::MissingPem("certificate"))
                    .and_then(|der| Self::from_der(&der))
            })
            .collect::<Result<Vec<_>, _>>()?;
        if all.is_empty() {
            Err(Error::MissingPem("certificate"))
        } else {
            Ok(all)
        }
    }

    /// The certificate as a `CERTIFICATE` PEM block.
    pub fn to_pem(&self) -> String {
        pem::encode_string("CERTIFICATE", LineEnding::LF, &self.der)
            .expect("invariant: a certificate is shorter than the address space")
    }

    /// The certificate in the form that rustls takes.
    pub fn to_rustls(&self) -> CertificateDer<'static> {
        CertificateDer::from(self.der.clone())
    }

    /// The encoded certificate.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Whom it names.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// From when it is valid.
    pub fn not_before(&self) -> Timestamp {
        self.not_before
    }

    /// Until when it is valid.
    pub fn not_after(&self) -> Timestamp {
        self.not_after
    }

    /// Whether it may sign others.
    pub fn is_authority(&self) -> bool {
        self.is_authority
    }

    /// The DNS names and IP addresses that it is valid for, as text, in the certificate's order.
    pub fn alternative_names(&self) -> &[String] {
        &self.alternative_names
    }

    /// The hash of its public key, `sha256:` and 64 hexadecimal digits: what kubeadm pins an authority by.
    pub fn public_key_hash(&self) -> &str {
        &self.public_key_hash
    }

    /// Whether `authority` issued it: the names match and the signature holds. Says nothing about validity in time.
    pub fn is_signed_by(&self, authority: &Self) -> bool {
        let (Ok(own), Ok(issuer)) = (parse(&self.der), parse(&authority.der)) else {
            return false;
        };
        own.issuer().as_raw() == issuer.subject().as_raw()
            && own.verify_signature(Some(issuer.public_key())).is_ok()
    }

    /// Whether the raw public key (as a certificate's bit string has it) is this certificate's.
    pub(crate) fn has_public_key(&self, raw: &[u8]) -> bool {
        parse(&self.der).is_ok_and(|it| it.public_key().subject_public_key.data.as_ref() == raw)
    }
}

fn parse(der: &[u8]) -> Result<X509Certificate<'_>, Error> {
    let (_, parsed) =
        X509Certificate::from_der(der).map_err(|it| Error::ParseCertificate(it.to_string().into()))?;
    Ok(parsed)
}

fn timestamp(time: ASN1Time) -> Result<Timestamp, Error> {
    Timestamp::from_second(time.timestamp()).map_err(|it| Error::ParseCertificate(it.into()))
}

fn alternative_name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(text) => Some((*text).to_owned()),
        GeneralName::IPAddress(bytes) => {
            let four = <[u8; 4]>::try_from(*bytes).map(|it| std::net::Ipv4Addr::from(it).to_string());
            let sixteen = <[u8; 16]>::try_from(*bytes).map(|it| std::net::Ipv6Addr::from(it).to_string());
            four.or(sixteen).ok()
        }
        _ => None,
    }
}
