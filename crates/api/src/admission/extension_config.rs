//! Rules for `ExtensionConfigs`.
// Parity: cluster-api core/webhooks/admission/extensionconfig.go

use capstan_base::{
    field::{Error, Path},
    names,
};

use super::{Admit, Context, checks};
use crate::{
    feature::Feature,
    runtime::{ClientConfig, ExtensionConfig, ServiceReference},
};

impl Admit for ExtensionConfig {
    fn default(&mut self, _old: Option<&Self>, _context: &Context) -> Result<(), Vec<Error>> {
        self.spec.namespace_selector.get_or_insert_default();
        if let Some(service) = &mut self.spec.client_config.service {
            service.port.get_or_insert(443);
        }
        Ok(())
    }

    fn validate(&self, _old: Option<&Self>, context: &Context) -> Vec<Error> {
        if !context.features.is_on(Feature::RuntimeSdk) {
            let detail = "can be set only if the RuntimeSDK feature flag is enabled";
            return vec![Error::forbidden(&Path::new("spec"), detail)];
        }
        let mut errors = Vec::new();
        let name = self.metadata.name.as_deref().unwrap_or_default();
        let problems = names::dns_label_problems(name);
        if !problems.is_empty() {
            let problems = problems.join(" ");
            let detail = format!("ExtensionConfig name should be a valid DNS1123 label name: [{problems}]");
            errors.push(Error::invalid(&Path::new("metadata.name"), name, detail));
        }
        errors.extend(client_config(&self.spec.client_config));
        let path = Path::new("spec.namespaceSelector");
        match &self.spec.namespace_selector {
            None => errors.push(Error::required(&path, "must be defined")),
            Some(selector) => errors.extend(checks::selector(selector, &path).err()),
        }
        errors
    }
}

fn client_config(config: &ClientConfig) -> Vec<Error> {
    let path = Path::new("spec.clientConfig");
    let mut errors = Vec::new();
    let url = config.url.as_deref().filter(|it| !it.is_empty());
    match (url, &config.service) {
        (None, None) => errors.push(Error::required(&path, "either url or service must be defined")),
        (Some(_), Some(_)) => errors.push(Error::forbidden(
            &path,
            "only one of url or service can be defined",
        )),
        _ => {}
    }
    if let Some(url) = url {
        let detail = match url.split_once("://") {
            Some(("https", rest)) if !rest.is_empty() && !rest.contains(char::is_whitespace) => None,
            Some((_, rest)) if !rest.is_empty() => {
                Some("'https' is the only allowed URL scheme, e.g. https://example.com")
            }
            _ => Some("must be a valid URL, e.g. https://example.com"),
        };
        errors.extend(detail.map(|it| Error::invalid(&path.child("url"), url, it)));
    }
    if let Some(service) = &config.service {
        errors.extend(service_reference(service, &path.child("service")));
    }
    errors
}

fn service_reference(service: &ServiceReference, path: &Path) -> Vec<Error> {
    let mut errors = Vec::new();
    for (name, value, problems) in [
        (
            "name",
            &service.name,
            names::dns_1035_label_problems(&service.name),
        ),
        (
            "namespace",
            &service.namespace,
            names::dns_label_problems(&service.namespace),
        ),
    ] {
        let path = path.child(name);
        if value.is_empty() {
            errors.push(Error::required(&path, "must not be empty"));
        }
        errors.extend(
            problems
                .iter()
                .map(|it| Error::invalid(&path, value.as_str(), it)),
        );
    }
    if let Some(given) = service
        .path
        .as_deref()
        .filter(|it| !it.is_empty() && !it.starts_with('/'))
    {
        errors.push(Error::invalid(
            &path.child("path"),
            given,
            "must start with \"/\" to be a valid URL path",
        ));
    }
    if let Some(port) = service.port.filter(|it| !(1..=65535).contains(it)) {
        errors.push(Error::invalid(
            &path.child("port"),
            port,
            "must be between 1 and 65535, inclusive",
        ));
    }
    errors
}
