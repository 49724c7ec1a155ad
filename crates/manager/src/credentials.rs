//! The plane's own certificates: an authority, a serving certificate, and an administrator's certificate, kept as files
//! of the data folder and renewed in time.

use std::path::{Path, PathBuf};

use capstan_pki::{
    Algorithm, Authority, Certificate, Identity, KeySource, Kubeconfig, PrivateKey, Request, Secret,
};
use jiff::{SignedDuration, Timestamp};

use crate::{error::StartError, files};

/// The name of the plane in certificates and kubeconfigs.
const NAME: &str = "capstan";
/// The name of the server in its certificate.
const SERVER: &str = "kube-apiserver";
/// The administrator's group: it may do everything, before any authorisation rule is read.
const ADMINISTRATORS: &str = "system:masters";
/// Elliptic keys are made in no time, and every client takes them.
const ALGORITHM: Algorithm = Algorithm::EcdsaP256;
/// How long the authority is valid: ten years.
const AUTHORITY_VALIDITY: SignedDuration = SignedDuration::from_hours(10 * 365 * 24);
/// A certificate that expires sooner than this is renewed.
const RENEWAL: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Names under which clients inside a cluster, and on this host, know an API server.
const USUAL_NAMES: [&str; 6] = [
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
];

/// The credentials of a plane.
#[derive(Debug, Clone)]
pub(crate) struct Credentials {
    /// Signs the two below; clients trust it.
    pub(crate) authority: Authority,
    /// The server's.
    pub(crate) server: Identity,
    /// The administrator's.
    pub(crate) administrator: Identity,
}

/// Where credentials are kept, and what they are for.
#[derive(Debug, Clone)]
pub(crate) struct Keeper {
    folder: PathBuf,
    names: Vec<String>,
}

impl Keeper {
    /// Credentials below `folder` for a server that is reached under `names` and the usual ones.
    pub(crate) fn new(folder: PathBuf, names: impl IntoIterator<Item = String>) -> Self {
        let mut all: Vec<String> = USUAL_NAMES.iter().map(|it| (*it).to_owned()).collect();
        for name in names {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        Self { folder, names: all }
    }

    /// Reads the credentials; makes or renews what is missing, expires soon, or does not fit.
    pub(crate) fn load(&self, now: Timestamp, keys: &dyn KeySource) -> Result<Credentials, StartError> {
        files::create_folder(&self.folder)?;
        let authority = self.authority(now, keys)?;
        // Not the authority's name: to some clients a certificate whose subject is its issuer is signed by itself.
        let server = Request::server(SERVER, self.names.clone());
        let administrator = Request::client(format!("{NAME}-admin"), Some(ADMINISTRATORS));
        Ok(Credentials {
            server: self.identity(("server", "the server"), &server, &authority, now, keys)?,
            administrator: self.identity(
                ("admin", "the administrator"),
                &administrator,
                &authority,
                now,
                keys,
            )?,
            authority,
        })
    }

    fn authority(&self, now: Timestamp, keys: &dyn KeySource) -> Result<Authority, StartError> {
        let unreadable = |source| StartError::Authority {
            folder: self.folder.clone(),
            source,
        };
        let (certificate_file, key_file) = (self.folder.join("ca.crt"), self.folder.join("ca.key"));
        if let (Some(certificate), Some(key)) = (files::read(&certificate_file)?, files::read(&key_file)?) {
            let authority = Authority::from_pem(&certificate, &key).map_err(unreadable)?;
            if is_valid(authority.certificate(), now) {
                return Ok(authority);
            }
            tracing::warn!(file = %certificate_file.display(), "the certificate authority expires: making a new one");
        }
        let issue = |source| StartError::Issue {
            holder: "the authority",
            source,
        };
        let authority = Authority::generate(NAME, ALGORITHM, AUTHORITY_VALIDITY, now, keys).map_err(issue)?;
        self.keep(
            "ca",
            authority.certificate(),
            &authority.key().to_pem().map_err(issue)?,
        )?;
        Ok(authority)
    }

    /// The certificate in the files called `name` if it still does, else a new one.
    fn identity(
        &self,
        (name, holder): (&str, &'static str),
        request: &Request,
        authority: &Authority,
        now: Timestamp,
        keys: &dyn KeySource,
    ) -> Result<Identity, StartError> {
        let read = |suffix: &str| files::read(&self.folder.join(format!("{name}.{suffix}")));
        if let (Some(certificate), Some(key)) = (read("crt")?, read("key")?)
            && let Some(identity) = parse(&certificate, &key)
            && is_valid(&identity.certificate, now)
            && identity.certificate.is_signed_by(authority.certificate())
            && covers(&identity.certificate, request)
        {
            return Ok(identity);
        }
        let issue = |source| StartError::Issue { holder, source };
        let identity = authority.issue(request, ALGORITHM, now, keys).map_err(issue)?;
        self.keep(
            name,
            &identity.certificate,
            &identity.key.to_pem().map_err(issue)?,
        )?;
        Ok(identity)
    }

    /// The key goes first: a certificate without its key would be taken for a damaged pair.
    fn keep(&self, name: &str, certificate: &Certificate, key: &Secret) -> Result<(), StartError> {
        files::write(&self.folder.join(format!("{name}.key")), key.expose().as_bytes())?;
        files::write(
            &self.folder.join(format!("{name}.crt")),
            certificate.to_pem().as_bytes(),
        )
    }
}

/// Writes the administrator's kubeconfig for the plane at `server`.
pub(crate) fn write_kubeconfig(
    path: &Path,
    server: &str,
    credentials: &Credentials,
) -> Result<(), StartError> {
    let authority = credentials.authority.certificate();
    let text = Kubeconfig::for_identity(NAME, server, authority, &credentials.administrator)
        .and_then(|it| it.to_yaml())
        .map_err(|source| StartError::Issue {
            holder: "the administrator",
            source,
        })?;
    files::write(path, text.expose().as_bytes())
}

/// A damaged pair is as good as none: it is made again.
fn parse(certificate: &[u8], key: &[u8]) -> Option<Identity> {
    let pair = Authority::from_pem(certificate, key).ok()?;
    let key = PrivateKey::from_pem(key).ok()?;
    Some(Identity {
        certificate: pair.certificate().clone(),
        key,
    })
}

fn is_valid(certificate: &Certificate, now: Timestamp) -> bool {
    certificate.not_before() <= now && now + RENEWAL < certificate.not_after()
}

fn covers(certificate: &Certificate, request: &Request) -> bool {
    let names = certificate.alternative_names();
    certificate.subject().common_name == request.common_name
        && request.alternative_names.iter().all(|it| names.contains(it))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _, sync::Arc};

    use capstan_base::SeededEntropy;
    use capstan_pki::SystemKeys;

    use super::*;

    struct Fixture {
        folder: tempfile::TempDir,
        keys: SystemKeys,
    }

    impl Fixture {
        fn new() -> Self {
            let keys = SystemKeys::new(Arc::new(SeededEntropy::new(1)));
            Self {
                folder: tempfile::tempdir().unwrap(),
                keys,
            }
        }

        /// The serial letters of what changed: `a`uthority, `s`erver, ad`m`inistrator.
        fn changes(&self, before: &Credentials, names: &[&str], now: &str) -> String {
            let after = self.load(names, now);
            let differs = |one: &Certificate, other: &Certificate| one.der() != other.der();
            [
                (
                    "a",
                    differs(before.authority.certificate(), after.authority.certificate()),
                ),
                (
                    "s",
                    differs(&before.server.certificate, &after.server.certificate),
                ),
                (
                    "m",
                    differs(
                        &before.administrator.certificate,
                        &after.administrator.certificate,
                    ),
                ),
            ]
            .iter()
            .filter_map(|(letter, changed)| changed.then_some(*letter))
            .collect()
        }

        fn load(&self, names: &[&str], now: &str) -> Credentials {
            let keeper = Keeper::new(
                self.folder.path().join("pki"),
                names.iter().map(|it| (*it).to_owned()),
            );
            keeper.load(now.parse().unwrap(), &self.keys).unwrap()
        }
    }

    #[test]
    fn credentials_are_renewed_in_time_and_only_then() {
        let cases = [
            (
                "nothing changed",
                &["plane.example"][..],
                "2026-06-01T00:00:00Z",
                "",
            ),
            ("less names than before", &[][..], "2026-06-01T00:00:00Z", ""),
            (
                "a new name",
                &["plane.example", "192.0.2.7"][..],
                "2026-06-01T00:00:00Z",
                "s",
            ),
            (
                "a month before the end",
                &["plane.example"][..],
                "2026-12-15T00:00:00Z",
                "sm",
            ),
            (
                "the authority ends",
                &["plane.example"][..],
                "2035-12-15T00:00:00Z",
                "asm",
            ),
        ];
        for (name, names, now, changed) in cases {
            let fixture = Fixture::new();
            let first = fixture.load(&["plane.example"], "2026-01-02T00:00:00Z");
            assert_eq!(fixture.changes(&first, names, now), changed, "{name}");
        }
    }

    #[test]
    fn a_damaged_serving_certificate_is_made_again_and_a_damaged_authority_is_an_error() {
        let fixture = Fixture::new();
        let first = fixture.load(&[], "2026-01-02T00:00:00Z");
        let file = |name: &str| fixture.folder.path().join("pki").join(name);
        fs::write(file("server.crt"), "garbage").unwrap();
        assert_eq!(fixture.changes(&first, &[], "2026-01-02T00:00:00Z"), "s");
        fs::write(file("ca.crt"), "garbage").unwrap();
        let keeper = Keeper::new(fixture.folder.path().join("pki"), []);
        let error = keeper
            .load("2026-01-02T00:00:00Z".parse().unwrap(), &fixture.keys)
            .unwrap_err();
        let folder = fixture.folder.path().join("pki");
        assert_eq!(
            error.to_string(),
            format!("failed to read the certificate authority in {}", folder.display())
        );
    }

    #[test]
    fn no_certificate_looks_like_its_own_issuer() {
        let credentials = Fixture::new().load(&[], "2026-01-02T00:00:00Z");
        let name = |it: &Certificate| it.subject().common_name.clone();
        let names = [
            name(credentials.authority.certificate()),
            name(&credentials.server.certificate),
            name(&credentials.administrator.certificate),
        ];
        assert_eq!(names, ["capstan", "kube-apiserver", "capstan-admin"]);
    }

    #[test]
    fn keys_and_certificates_are_private_files() {
        let fixture = Fixture::new();
        fixture.load(&[], "2026-01-02T00:00:00Z");
        let mut modes: Vec<_> = fs::read_dir(fixture.folder.path().join("pki"))
            .unwrap()
            .map(|it| {
                let it = it.unwrap();
                let mode = it.metadata().unwrap().permissions().mode() & 0o777;
                format!("{} {mode:o}", it.file_name().to_string_lossy())
            })
            .collect();
        modes.sort();
        assert_eq!(
            modes,
            [
                "admin.crt 600",
                "admin.key 600",
                "ca.crt 600",
                "ca.key 600",
                "server.crt 600",
                "server.key 600"
            ]
        );
    }
}
