//! Rules for `IPAddresses` and `IPAddressClaims`. Whether an address and its claim name the same pool is not known here.
// Parity: cluster-api core/webhooks/admission/{ipaddress,ipaddressclaim}.go

use std::net::IpAddr;

use capstan_base::field::{Error, Path};

use super::{Admit, Context};
use crate::ipam::{IPAddress, IPAddressClaim, IPAddressSpec};

impl Admit for IPAddress {
    fn validate(&self, old: Option<&Self>, _context: &Context) -> Vec<Error> {
        match old {
            Some(old) => immutable_spec(old.spec == self.spec, Self::KIND),
            None => address(&self.spec),
        }
    }
}

impl Admit for IPAddressClaim {
    fn validate(&self, old: Option<&Self>, _context: &Context) -> Vec<Error> {
        old.map_or_else(Vec::new, |old| immutable_spec(old.spec == self.spec, Self::KIND))
    }
}

fn immutable_spec(same: bool, kind: &str) -> Vec<Error> {
    if same {
        Vec::new()
    } else {
        vec![Error::forbidden(
            &Path::new("spec"),
            format!("{kind} spec is immutable"),
        )]
    }
}

fn address(spec: &IPAddressSpec) -> Vec<Error> {
    let path = Path::new("spec");
    let mut errors = Vec::new();
    let address = spec.address.parse::<IpAddr>();
    if address.is_err() {
        errors.push(Error::invalid(
            &path.child("address"),
            spec.address.as_str(),
            "not a valid IP address",
        ));
    }
    let prefix = spec.prefix.unwrap_or_default();
    let detail = match address {
        _ if prefix < 0 => Some("prefix cannot be negative"),
        Ok(IpAddr::V4(_)) if prefix > 32 => Some("prefix is too large for an IPv4 address"),
        Ok(IpAddr::V6(_)) if prefix > 128 => Some("prefix is too large for an IPv6 address"),
        _ => None,
    };
    errors.extend(detail.map(|it| Error::invalid(&path.child("prefix"), prefix, it)));
    let gateway = spec
        .gateway
        .as_deref()
        .filter(|it| !it.is_empty() && it.parse::<IpAddr>().is_err());
    errors.extend(gateway.map(|it| Error::invalid(&path.child("gateway"), it, "not a valid IP address")));
    errors
}
