//! Rules for Clusters, without those of managed topologies.
// Parity: cluster-api core/webhooks/admission/cluster.go

use std::net::IpAddr;

use capstan_base::field::{Error, Path};

use super::{Admit, Context, checks};
use crate::{core::Cluster, feature::Feature};

impl Admit for Cluster {
    fn default(&mut self, _old: Option<&Self>, _context: &Context) -> Result<(), Vec<Error>> {
        if let Some(topology) = &mut self.spec.topology
            && !topology.version.is_empty()
            && !topology.version.starts_with('v')
        {
            topology.version.insert(0, 'v');
        }
        Ok(())
    }

    fn validate(&self, old: Option<&Self>, context: &Context) -> Vec<Error> {
        let path = Path::new("spec");
        let spec = &self.spec;
        let mut errors = checks::name_is_label_value(&self.metadata, "must be a valid label value");
        let was = |get: fn(&Self) -> bool| old.is_some_and(get);
        if spec.infrastructure_ref.is_none() && was(|it| it.spec.infrastructure_ref.is_some()) {
            errors.push(Error::forbidden(
                &path.child("infrastructureRef"),
                "cannot be removed",
            ));
        }
        if spec.control_plane_ref.is_none() && spec.infrastructure_ref.is_none() && spec.topology.is_none() {
            let detail = "one of spec.controlPlaneRef, spec.infrastructureRef or spec.topology must be set";
            errors.push(Error::forbidden(&path, detail));
        }
        if spec.control_plane_ref.is_none() && was(|it| it.spec.control_plane_ref.is_some()) {
            errors.push(Error::forbidden(
                &path.child("controlPlaneRef"),
                "cannot be removed",
            ));
        }
        let network = path.child("clusterNetwork");
        errors.extend(cidr_blocks(
            &spec.cluster_network.pods.cidr_blocks,
            &network.child("pods"),
        ));
        errors.extend(cidr_blocks(
            &spec.cluster_network.services.cidr_blocks,
            &network.child("services"),
        ));
        let path = path.child("topology");
        if spec.topology.is_some() && !context.features.is_on(Feature::ClusterTopology) {
            let detail = "can be set only if the ClusterTopology feature flag is enabled";
            errors.push(Error::forbidden(&path, detail));
        }
        if spec.topology.is_none() && was(|it| it.spec.topology.is_some()) {
            errors.push(Error::forbidden(
                &path,
                "cannot be removed from an existing Cluster",
            ));
        }
        errors
    }
}

fn cidr_blocks(blocks: &[String], path: &Path) -> Vec<Error> {
    let path = path.child("cidrBlocks");
    let wrong = blocks.iter().enumerate().filter(|(_, it)| !is_cidr(it));
    wrong
        .map(|(index, it)| {
            Error::invalid(
                &path.index(index),
                it.as_str(),
                format!("invalid CIDR address: {it}"),
            )
        })
        .collect()
}

/// Whether `text` is an address and the length of a prefix that fits it.
fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let Ok(address) = address.parse::<IpAddr>() else {
        return false;
    };
    let limit = if address.is_ipv4() { 32 } else { 128 };
    let digits = !length.is_empty() && length.bytes().all(|it| it.is_ascii_digit());
    digits && length.parse::<u8>().is_ok_and(|it| it <= limit)
}
