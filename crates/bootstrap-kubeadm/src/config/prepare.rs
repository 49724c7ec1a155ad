//! What has to be right before data can be rendered, and what is wrong if it is not: a plain function, asked by the
//! decider and by the report, so that both say the same.

use capstan_api::bootstrap::{ContentFormat, File, Format, User};
use capstan_base::Version;
use capstan_engine::Lookup;
use capstan_kubeadm::KubeadmApi;
use capstan_pki::{KeyPairPem, Secret as Text};
use serde_json::{Value, json};

use super::{
    stage::Stage,
    view::{FoundCertificate, View},
};
use crate::data::template;

/// Everything that rendering needs besides the kubeadm documents.
#[derive(Clone)]
pub(super) struct Prepared {
    /// The kubeadm API of the Machine's version.
    pub api: KubeadmApi,
    /// The files of certificates and keys, in the order in which they are written.
    pub certificates: Vec<File>,
    /// The user's files with their content.
    pub files: Vec<File>,
    /// The user's users with their passwords.
    pub users: Vec<User>,
    /// The certificates that are still to be made.
    pub missing: Vec<FoundCertificate>,
}

/// Why data can't be rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Blocked {
    /// A certificate is not there or not whole.
    Certificates(String),
    /// A file's content is not there.
    Files(String),
    /// A user's password is not there.
    Users(String),
    /// The config or the Machine asks for something that can't be done.
    Spec(String),
}

impl Blocked {
    /// The whole sentence.
    pub(super) fn message(&self) -> String {
        match self {
            Self::Certificates(why) | Self::Spec(why) => why.clone(),
            Self::Files(why) => format!("Failed to prepare spec.files: {why}"),
            Self::Users(_) => "Failed to read password from secrets for spec.users".to_owned(),
        }
    }

    /// What went wrong, in detail.
    pub(super) fn detail(&self) -> &str {
        match self {
            Self::Certificates(why) | Self::Files(why) | Self::Users(why) | Self::Spec(why) => why,
        }
    }
}

/// Checks and gathers. Certificates come first, since the report tells of them apart from the rest.
pub(super) fn prepare(view: &View) -> Result<Prepared, Blocked> {
    let (certificates, missing) = certificates(view)?;
    let spec = &view.basics.config.spec;
    let version = view
        .basics
        .machine
        .as_ref()
        .and_then(|it| it.spec.version.clone())
        .unwrap_or_default();
    let api = Version::parse_tolerant(&version)
        .map_err(|_| {
            Blocked::Spec(format!(
                "Machine's spec.version {version:?} is no Kubernetes version"
            ))
        })
        .and_then(|it| KubeadmApi::for_kubernetes(&it).map_err(|it| Blocked::Spec(it.to_string())))?;
    if spec.format == Some(Format::Ignition) {
        return Err(Blocked::Spec(
            "spec.format ignition is not supported; use cloud-config".to_owned(),
        ));
    }
    if view.stage == Stage::JoinWorker && spec.join_configuration.control_plane.is_some() {
        let message =
            "Machine is a Worker, but JoinConfiguration.ControlPlane is set in the KubeadmConfig object";
        return Err(Blocked::Spec(message.to_owned()));
    }
    Ok(Prepared {
        api,
        certificates,
        files: files(view)?,
        users: users(view)?,
        missing,
    })
}

/// The files of certificates. A host that makes the cluster may lack some that are then made; one that joins may not.
fn certificates(view: &View) -> Result<(Vec<File>, Vec<FoundCertificate>), Blocked> {
    let namespace = view.basics.data_secret_key().namespace;
    let cluster = view
        .basics
        .cluster
        .as_ref()
        .and_then(|it| it.metadata.name.clone())
        .unwrap_or_default();
    let generates = view.stage == Stage::Init && !view.basics.has_control_plane_object();
    let (mut files, mut missing) = (Vec::new(), Vec::new());
    for found in &view.materials.certificates {
        let secret = format!(
            "Secret {namespace}/{}",
            found.certificate.purpose.secret_name(&cluster)
        );
        match &found.pair {
            Lookup::Found(pair) => {
                if let Some(part) = found.certificate.missing_part(pair) {
                    return Err(Blocked::Certificates(format!("{secret} has no {part}")));
                }
                files.extend(files_of(found, pair));
            }
            Lookup::Absent if generates && !found.certificate.is_external => missing.push(found.clone()),
            Lookup::Absent => return Err(Blocked::Certificates(format!("{secret} does not exist"))),
            Lookup::Unreadable(why) => return Err(Blocked::Certificates(why.to_string())),
        }
    }
    // A worker trusts the cluster through its discovery; the file is kubeadm's to write.
    if view.stage == Stage::JoinWorker {
        files.clear();
    }
    Ok((files, missing))
}

fn files_of(found: &FoundCertificate, pair: &KeyPairPem) -> Vec<File> {
    let file = |path: &str, permissions: &str, content: &str| File {
        path: path.to_owned(),
        owner: Some("root:root".to_owned()),
        permissions: Some(permissions.to_owned()),
        content: Some(content.to_owned()),
        ..File::default()
    };
    let mut files = vec![file(
        &found.certificate.files.certificate,
        "0640",
        &pair.certificate,
    )];
    if let Some(path) = found
        .certificate
        .files
        .key
        .as_deref()
        .filter(|_| !pair.key.is_empty())
    {
        files.push(file(path, "0600", pair.key.expose()));
    }
    files
}

fn files(view: &View) -> Result<Vec<File>, Blocked> {
    let mut files = view.basics.config.spec.files.clone();
    for file in &mut files {
        if let Some(source) = file.content_from.take() {
            file.content = Some(
                referenced(view, &source.secret.name, &source.secret.key)
                    .map_err(|why| Blocked::Files(format!("failed to resolve file source: {why}")))?,
            );
        }
        if file.content_format.take() == Some(ContentFormat::Template) {
            let content = file.content.take().unwrap_or_default();
            let rendered = template::render(&content, &template_data(view)?).map_err(|why| {
                Blocked::Files(format!("failed to render templates: file {:?}: {why}", file.path))
            })?;
            file.content = Some(rendered);
        }
    }
    Ok(files)
}

/// What templates of files may use. Without a known version there is no `controlPlane` at all, so that they can ask.
fn template_data(view: &View) -> Result<Value, Blocked> {
    match &view.materials.control_plane_version {
        None => Ok(json!({})),
        Some(Err(why)) => Err(Blocked::Files(format!(
            "failed to read control plane version: {why}"
        ))),
        Some(Ok(version)) => {
            let version = Version::parse_tolerant(version).map_err(|why| Blocked::Files(why.to_string()))?;
            Ok(json!({ "controlPlane": { "version": version.to_string() } }))
        }
    }
}

fn users(view: &View) -> Result<Vec<User>, Blocked> {
    let mut users = view.basics.config.spec.users.clone();
    for user in &mut users {
        if let Some(source) = user.passwd_from.take() {
            user.passwd =
                Some(referenced(view, &source.secret.name, &source.secret.key).map_err(Blocked::Users)?);
        }
    }
    Ok(users)
}

fn referenced(view: &View, secret: &str, key: &str) -> Result<String, String> {
    match view
        .materials
        .references
        .get(&(secret.to_owned(), key.to_owned()))
    {
        Some(Ok(text)) => Ok(Text::expose(text).to_owned()),
        Some(Err(why)) => Err(why.clone()),
        None => Err(format!("secret {secret:?} was not read")),
    }
}
