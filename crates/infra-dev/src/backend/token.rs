//! Bootstrap tokens: the Secrets in kube-system by which machines join.
//! Source: kubernetes `staging/src/k8s.io/cluster-bootstrap/token`.

use capstan_base::Timestamp;
use capstan_pki::Certificate;
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};
use serde_json::json;

use super::{BackendError, objects};
use crate::bootstrap::Token;

/// The namespace of token Secrets.
const NAMESPACE: &str = "kube-system";
/// How long tokens of `kubeadm init` live if nothing else is said, in hours.
const LIFETIME: i64 = 24;

/// Refuses a machine that expects the cluster to have another CA.
pub(super) fn check_authority(hashes: &[String], authority: &Certificate) -> Result<(), BackendError> {
    let own = authority.public_key_hash();
    let matches = |hash: &String| {
        hash.trim_start_matches("sha256:")
            .eq_ignore_ascii_case(own.trim_start_matches("sha256:"))
    };
    if hashes.is_empty() || hashes.iter().any(matches) {
        return Ok(());
    }
    Err(BackendError::Join(
        "the cluster's CA is not the one that the join configuration pins".to_owned(),
    ))
}

/// Refuses a machine whose token is unknown, wrong, expired or not meant for joining.
pub(super) async fn check(client: &Client, token: &Token, now: Timestamp) -> Result<(), BackendError> {
    let name = format!("bootstrap-token-{}", token.id);
    let secrets: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let secret = secrets
        .get_opt(&name)
        .await
        .map_err(|it| objects::failed("read", "Secret", &format!("{NAMESPACE}/{name}"), it))?;
    match verdict(secret.as_ref(), token, now) {
        None => Ok(()),
        Some(why) => Err(BackendError::Join(format!("bootstrap token {} {why}", token.id))),
    }
}

/// What is wrong with a token; nothing if it may join.
fn verdict(secret: Option<&Secret>, token: &Token, now: Timestamp) -> Option<&'static str> {
    let Some(secret) = secret else {
        return Some("does not exist");
    };
    let data = secret.data.as_ref();
    let text = |key: &str| data.and_then(|it| std::str::from_utf8(&it.get(key)?.0).ok());
    if text("token-secret") != Some(token.secret()) {
        return Some("has another secret");
    }
    if text("usage-bootstrap-authentication") != Some("true") {
        return Some("is not meant for authentication");
    }
    match text("expiration").map(str::parse::<Timestamp>) {
        Some(Ok(expiration)) if expiration <= now => Some("is expired"),
        Some(Err(_)) => Some("has an expiration that cannot be read"),
        _ => None,
    }
}

/// Makes a token as `kubeadm init` does.
pub(super) async fn create(client: &Client, token: &Token, now: Timestamp) -> Result<(), BackendError> {
    let expiration = now + jiff::SignedDuration::from_hours(LIFETIME);
    let secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": { "name": format!("bootstrap-token-{}", token.id), "namespace": NAMESPACE },
        "type": "bootstrap.kubernetes.io/token",
        "stringData": {
            "token-id": token.id,
            "token-secret": token.secret(),
            "expiration": expiration.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "usage-bootstrap-authentication": "true",
            "usage-bootstrap-signing": "true",
            "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
        },
    });
    objects::ensure::<Secret>(client, secret).await
}

#[cfg(test)]
mod tests {
    use k8s_openapi::ByteString;

    use super::*;

    fn secret(changes: &[(&str, &str)]) -> Secret {
        let mut data: std::collections::BTreeMap<String, ByteString> = [
            ("token-secret", "0123456789abcdef"),
            ("usage-bootstrap-authentication", "true"),
            ("expiration", "2030-01-01T00:00:00Z"),
        ]
        .iter()
        .chain(changes)
        .map(|(key, value)| ((*key).to_owned(), ByteString(value.as_bytes().to_vec())))
        .collect();
        data.retain(|_, it| !it.0.is_empty());
        Secret {
            data: Some(data),
            ..Secret::default()
        }
    }

    #[test]
    fn a_token_joins_if_it_is_known_right_meant_for_it_and_not_expired() {
        let token = Token::parse("abcdef.0123456789abcdef").expect("a token");
        let now: Timestamp = "2029-12-31T23:59:59Z".parse().expect("a time");
        let table = [
            (Some(secret(&[])), None),
            (Some(secret(&[("expiration", "")])), None),
            (None, Some("does not exist")),
            (
                Some(secret(&[("token-secret", "ffffffffffffffff")])),
                Some("has another secret"),
            ),
            (
                Some(secret(&[("usage-bootstrap-authentication", "")])),
                Some("is not meant for authentication"),
            ),
            (
                Some(secret(&[("expiration", "2029-12-31T23:59:59Z")])),
                Some("is expired"),
            ),
            (
                Some(secret(&[("expiration", "soon")])),
                Some("has an expiration that cannot be read"),
            ),
        ];
        for (secret, expected) in table {
            assert_eq!(verdict(secret.as_ref(), &token, now), expected);
        }
    }
}
