//! Certificate authorities and what they issue.
//! Source of the forms: upstream `util/secret/certificates.go` and `util/certs/types.go`.

use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyUsagePurpose, SanType, SerialNumber,
};

use crate::{Algorithm, Certificate, Error, KeySource, PrivateKey};

/// How far a new certificate's validity begins in the past, so that clocks that run a little late accept it.
const BACKDATE: SignedDuration = SignedDuration::from_mins(5);
/// How long an issued certificate is valid unless its request says otherwise: a year of 365 days.
const DEFAULT_VALIDITY: SignedDuration = SignedDuration::from_hours(24 * 365);

/// What a certificate may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// To serve.
    Server,
    /// To connect.
    Client,
    /// Both, as members of etcd do with each other.
    Peer,
}

/// What a certificate to be issued shall say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The common name; a user name for clients.
    pub common_name: String,
    /// The organisation; a group name for clients.
    pub organization: Option<String>,
    /// DNS names and IP addresses, mixed, as text.
    pub alternative_names: Vec<String>,
    /// What it is for.
    pub usage: Usage,
    /// How long it is valid from now on.
    pub validity: SignedDuration,
}

impl Request {
    /// A serving certificate, valid for a year.
    pub fn server(common_name: impl Into<String>, alternative_names: Vec<String>) -> Self {
        Self {
            common_name: common_name.into(),
            organization: None,
            alternative_names,
            usage: Usage::Server,
            validity: DEFAULT_VALIDITY,
        }
    }

    /// A client certificate, valid for a year.
    pub fn client(user: impl Into<String>, group: Option<&str>) -> Self {
        Self {
            common_name: user.into(),
            organization: group.map(str::to_owned),
            alternative_names: Vec::new(),
            usage: Usage::Client,
            validity: DEFAULT_VALIDITY,
        }
    }

    fn params(&self, now: Timestamp, serial: u64) -> Result<CertificateParams, Error> {
        let mut params = params(
            &self.common_name,
            self.organization.as_deref(),
            now,
            self.validity,
            serial,
        )?;
        params.is_ca = IsCa::NoCa;
        params.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyEncipherment,
        ];
        params.extended_key_usages = match self.usage {
            Usage::Server => vec![ExtendedKeyUsagePurpose::ServerAuth],
            Usage::Client => vec![ExtendedKeyUsagePurpose::ClientAuth],
            Usage::Peer => vec![
                ExtendedKeyUsagePurpose::ServerAuth,
                ExtendedKeyUsagePurpose::ClientAuth,
            ],
        };
        params.subject_alt_names = self
            .alternative_names
            .iter()
            .map(|it| alternative_name(it))
            .collect::<Result<_, _>>()?;
        params.use_authority_key_identifier_extension = true;
        Ok(params)
    }
}

/// A certificate with its private key.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The certificate.
    pub certificate: Certificate,
    /// Its key.
    pub key: PrivateKey,
}

/// A certificate authority: a certificate that may sign, with its key.
#[derive(Debug, Clone)]
pub struct Authority {
    certificate: Certificate,
    key: PrivateKey,
}

impl Authority {
    /// Makes a new self-signed authority, valid from `now` for `validity`, that may sign end certificates only.
    pub fn generate(
        common_name: &str,
        algorithm: Algorithm,
        validity: SignedDuration,
        now: Timestamp,
        keys: &dyn KeySource,
    ) -> Result<Self, Error> {
        let key = keys.key(algorithm)?;
        let mut params = params(common_name, None, now, validity, keys.serial_number())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyEncipherment,
            KeyUsagePurpose::KeyCertSign,
        ];
        let signed = params
            .self_signed(&key)
            .map_err(|source| Error::SignCertificate {
                common_name: common_name.to_owned(),
                source: source.into(),
            })?;
        Ok(Self {
            certificate: Certificate::from_der(signed.der())?,
            key,
        })
    }

    /// Takes an existing certificate and key, which must belong together.
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, Error> {
        let certificate = Certificate::from_pem(certificate)?;
        let key = PrivateKey::from_pem(key)?;
        if certificate.has_public_key(key.public_bytes()) {
            Ok(Self { certificate, key })
        } else {
            Err(Error::KeyMismatch(certificate.subject().common_name.clone()))
        }
    }

    /// The authority's own certificate.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The authority's private key.
    pub fn key(&self) -> &PrivateKey {
        &self.key
    }

    /// Issues a certificate with a new key.
    pub fn issue(
        &self,
        request: &Request,
        algorithm: Algorithm,
        now: Timestamp,
        keys: &dyn KeySource,
    ) -> Result<Identity, Error> {
        let key = keys.key(algorithm)?;
        let certificate = self.sign(request, &key, now, keys)?;
        Ok(Identity { certificate, key })
    }

    /// Issues a certificate for an existing key.
    pub fn sign(
        &self,
        request: &Request,
        key: &PrivateKey,
        now: Timestamp,
        keys: &dyn KeySource,
    ) -> Result<Certificate, Error> {
        let failed = |source: rcgen::Error| Error::SignCertificate {
            common_name: request.common_name.clone(),
            source: source.into(),
        };
        let params = request.params(now, keys.serial_number())?;
        let issuer = Issuer::from_ca_cert_der(&self.certificate.to_rustls(), &self.key).map_err(failed)?;
        let signed = params.signed_by(key, &issuer).map_err(failed)?;
        let certificate = Certificate::from_der(signed.der())?;
        if certificate.is_signed_by(&self.certificate) {
            Ok(certificate)
        } else {
            Err(Error::UnsupportedAuthorityName(
                self.certificate.subject().common_name.clone(),
            ))
        }
    }
}

fn params(
    common_name: &str,
    organization: Option<&str>,
    now: Timestamp,
    validity: SignedDuration,
    serial: u64,
) -> Result<CertificateParams, Error> {
    let mut name = DistinguishedName::new();
    if let Some(organization) = organization {
        name.push(DnType::OrganizationName, organization);
    }
    name.push(DnType::CommonName, common_name);
    let mut params = CertificateParams::default();
    params.distinguished_name = name;
    params.serial_number = Some(SerialNumber::from_slice(&serial.to_be_bytes()));
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let moment = |time: Timestamp| {
        u64::try_from(time.as_second())
            .map(|seconds| epoch + std::time::Duration::from_secs(seconds))
            .map_err(|_| Error::TimeOutOfRange(time))
    };
    let end = now
        .checked_add(validity)
        .map_err(|_| Error::TimeOutOfRange(now))?;
    let start = now
        .checked_sub(BACKDATE)
        .map_err(|_| Error::TimeOutOfRange(now))?;
    params.not_before = moment(start)?;
    params.not_after = moment(end)?;
    Ok(params)
}

fn alternative_name(text: &str) -> Result<SanType, Error> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(SanType::IpAddress(address));
    }
    let name = text.try_into().map_err(|_| Error::InvalidName(text.to_owned()))?;
    Ok(SanType::DnsName(name))
}
