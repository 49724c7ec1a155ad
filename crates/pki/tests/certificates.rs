//! What authorities, certificates and keys promise.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{num::NonZeroUsize, sync::Arc};

use capstan_base::{SeededEntropy, Timestamp};
use capstan_pki::{
    Algorithm, Authority, AuthorityOptions, Certificate, CertificateSet, ClusterCertificate, Error,
    ExternalEtcdFiles, KeyPool, KeySource, PrivateKey, Purpose, Request, Subject, SystemKeys, UniformKeys,
};
use expect_test::expect;
use jiff::SignedDuration;

fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

fn seeded(seed: u64) -> UniformKeys {
    UniformKeys::new(Arc::new(SeededEntropy::new(seed)))
}

fn authority(name: &str, keys: &dyn KeySource) -> Authority {
    Authority::generate(
        name,
        Algorithm::default(),
        SignedDuration::from_hours(24 * 3650),
        now(),
        keys,
    )
    .unwrap()
}

#[test]
fn an_authority_is_valid_from_five_minutes_ago_and_only_signs_end_certificates() {
    let authority = authority("kubernetes", &seeded(1));
    expect![[r#"
        Certificate {
            subject: Subject {
                common_name: "kubernetes",
                organizations: [],
            },
            not_before: 2026-01-02T02:59:05Z,
            not_after: 2035-12-31T03:04:05Z,
            is_authority: true,
            alternative_names: [],
            ..
        }
    "#]]
    .assert_debug_eq(authority.certificate());
    assert!(authority.certificate().is_signed_by(authority.certificate()));
}

#[test]
fn a_certificate_says_what_was_requested_and_by_whom_it_is_signed() {
    let keys = seeded(1);
    let (ours, theirs) = (authority("kubernetes", &keys), authority("kubernetes", &keys));
    let names = vec![
        "kubernetes.default.svc".to_owned(),
        "10.0.0.1".to_owned(),
        "fd00::1".to_owned(),
    ];
    let server = ours
        .issue(
            &Request::server("kube-apiserver", names),
            Algorithm::EcdsaP256,
            now(),
            &keys,
        )
        .unwrap();
    expect![[r#"
        Certificate {
            subject: Subject {
                common_name: "kube-apiserver",
                organizations: [],
            },
            not_before: 2026-01-02T02:59:05Z,
            not_after: 2027-01-02T03:04:05Z,
            is_authority: false,
            alternative_names: [
                "kubernetes.default.svc",
                "10.0.0.1",
                "fd00::1",
            ],
            ..
        }
    "#]]
    .assert_debug_eq(&server.certificate);
    assert!(server.certificate.is_signed_by(ours.certificate()));
    assert!(
        !server.certificate.is_signed_by(theirs.certificate()),
        "the same name is not enough"
    );

    let client = ours
        .issue(
            &Request::client("jane", Some("admins")),
            Algorithm::EcdsaP256,
            now(),
            &keys,
        )
        .unwrap();
    let read = Certificate::from_pem(client.certificate.to_pem().as_bytes()).unwrap();
    let expected = Subject {
        common_name: "jane".to_owned(),
        organizations: vec!["admins".to_owned()],
    };
    assert_eq!(read.subject(), &expected);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let issue = |seed| {
        let keys = seeded(seed);
        let authority = authority("kubernetes", &keys);
        let client = authority
            .issue(&Request::client("jane", None), Algorithm::Rsa2048, now(), &keys)
            .unwrap();
        (
            client.certificate.to_pem(),
            client.key.to_pem().unwrap().expose().to_owned(),
        )
    };
    assert_eq!(issue(7), issue(7));
    assert_ne!(issue(7), issue(8));
}

#[test]
fn keys_of_every_algorithm_are_written_as_kubeadm_writes_them_and_read_back() {
    let keys = SystemKeys::new(Arc::new(SeededEntropy::new(3)));
    let table = [
        (Algorithm::EcdsaP256, "-----BEGIN EC PRIVATE KEY-----\n"),
        (Algorithm::EcdsaP384, "-----BEGIN EC PRIVATE KEY-----\n"),
        (Algorithm::Rsa2048, "-----BEGIN RSA PRIVATE KEY-----\n"),
    ];
    for (algorithm, head) in table {
        let authority = Authority::generate(
            "kubernetes",
            algorithm,
            SignedDuration::from_hours(1),
            now(),
            &keys,
        )
        .unwrap();
        let pem = authority.key().to_pem().unwrap();
        assert!(pem.expose().starts_with(head), "{algorithm}");
        assert!(
            authority
                .key()
                .public_key_pem()
                .unwrap()
                .starts_with("-----BEGIN PUBLIC KEY-----\n"),
            "{algorithm}"
        );
        let read = Authority::from_pem(
            authority.certificate().to_pem().as_bytes(),
            pem.expose().as_bytes(),
        )
        .unwrap();
        let client = read
            .issue(&Request::client("jane", None), Algorithm::EcdsaP256, now(), &keys)
            .unwrap();
        assert!(
            client.certificate.is_signed_by(authority.certificate()),
            "{algorithm}"
        );
        assert_eq!(algorithm.to_string().parse::<Algorithm>().unwrap(), algorithm);
    }
}

#[test]
fn a_key_of_another_certificate_is_refused() {
    let keys = seeded(5);
    let (one, other) = (authority("one", &keys), authority("other", &keys));
    let refused = Authority::from_pem(
        one.certificate().to_pem().as_bytes(),
        other.key().to_pem().unwrap().expose().as_bytes(),
    );
    assert!(matches!(refused, Err(Error::KeyMismatch(name)) if name == "one"));
}

#[test]
fn no_key_shows_in_debug_output() {
    let keys = seeded(5);
    let set = CertificateSet::for_control_plane(None, None);
    let pair = set.0[0]
        .generate(AuthorityOptions::default(), now(), &keys)
        .unwrap()
        .unwrap();
    assert_eq!(
        format!(
            "{:?} {:?}",
            PrivateKey::from_pem(pair.key.expose().as_bytes()).unwrap(),
            pair.key
        ),
        "PrivateKey(ECDSA-P256, ..) Secret(..)"
    );
}

#[test]
fn malformed_input_is_an_error_that_says_what_was_looked_for() {
    assert_eq!(
        PrivateKey::from_pem(b"").unwrap_err().to_string(),
        "failed to find a PEM block with a private key"
    );
    assert_eq!(
        Certificate::from_pem(b"hello").unwrap_err().to_string(),
        "failed to find a PEM block with a certificate"
    );
    assert_eq!(
        "RSA-1".parse::<Algorithm>().unwrap_err().to_string(),
        "unknown key algorithm \"RSA-1\"; known are ECDSA-P256, ECDSA-P384, RSA-2048, RSA-3072 and RSA-4096"
    );
}

#[test]
fn a_control_plane_host_gets_four_pairs_of_its_own_or_the_external_etcds_files() {
    let listed = |set: CertificateSet| -> String {
        let shown = |it: &ClusterCertificate| {
            let key = it.files.key.as_deref().unwrap_or("-");
            format!(
                "{} {} {key}\n",
                it.purpose.secret_name("c1"),
                it.files.certificate
            )
        };
        set.0.iter().map(shown).collect::<Vec<_>>().concat()
    };
    expect![[r"
        c1-ca /etc/kubernetes/pki/ca.crt /etc/kubernetes/pki/ca.key
        c1-etcd /etc/kubernetes/pki/etcd/ca.crt /etc/kubernetes/pki/etcd/ca.key
        c1-proxy /etc/kubernetes/pki/front-proxy-ca.crt /etc/kubernetes/pki/front-proxy-ca.key
        c1-sa /etc/kubernetes/pki/sa.pub /etc/kubernetes/pki/sa.key
    "]]
    .assert_eq(&listed(CertificateSet::for_control_plane(None, None)));
    let external = ExternalEtcdFiles {
        authority: "/e/ca.crt".to_owned(),
        certificate: "/e/client.crt".to_owned(),
        key: "/e/client.key".to_owned(),
    };
    expect![[r"
        c1-ca /pki/ca.crt /pki/ca.key
        c1-etcd /e/ca.crt -
        c1-proxy /pki/front-proxy-ca.crt /pki/front-proxy-ca.key
        c1-sa /pki/sa.pub /pki/sa.key
        c1-apiserver-etcd-client /e/client.crt /e/client.key
    "]]
    .assert_eq(&listed(CertificateSet::for_control_plane(
        Some("/pki"),
        Some(&external),
    )));
    expect![[r"
        c1-ca /etc/kubernetes/pki/ca.crt -
    "]]
    .assert_eq(&listed(CertificateSet::for_worker(None)));
}

#[test]
fn generated_pairs_follow_their_purpose() {
    let keys = seeded(9);
    let external = ExternalEtcdFiles {
        authority: "/a".into(),
        certificate: "/c".into(),
        key: "/k".into(),
    };
    let options = AuthorityOptions {
        validity_days: Some(30),
        algorithm: Algorithm::EcdsaP256,
    };
    let made: Vec<_> = CertificateSet::for_control_plane(None, Some(&external))
        .0
        .iter()
        .map(|it| (it.purpose, it.generate(options, now(), &keys).unwrap()))
        .map(|(purpose, pair)| {
            (
                purpose,
                pair.map(|it| it.certificate.lines().next().unwrap_or_default().to_owned()),
            )
        })
        .collect();
    let certificate = Some("-----BEGIN CERTIFICATE-----".to_owned());
    assert_eq!(
        made,
        [
            (Purpose::ClusterAuthority, certificate.clone()),
            (Purpose::EtcdAuthority, None),
            (Purpose::FrontProxyAuthority, certificate),
            (
                Purpose::ServiceAccount,
                Some("-----BEGIN PUBLIC KEY-----".to_owned())
            ),
            (Purpose::ApiServerEtcdClient, None),
        ]
    );
}

#[test]
fn a_pool_gives_keys_of_any_algorithm_even_when_it_is_empty() {
    let pool = KeyPool::start(Arc::new(SeededEntropy::new(1)), NonZeroUsize::MIN).unwrap();
    assert!(format!("{:?}", pool.key(Algorithm::EcdsaP384).unwrap()).starts_with("PrivateKey(ECDSA-P384"));
    assert!(pool.serial_number() > 0);
}
