//! Reviews: answers about identities and what they may do.

use serde_json::{Value, json};

use super::{Attributes, Authentication, Decision, Identity, rbac};
use crate::{
    registry::Target,
    server::Shared,
    wire::status::{ApiError, Result},
};

impl Shared {
    /// Answers a review: the same object with its status.
    pub(crate) fn review(&self, target: &Target, identity: &Identity, mut review: Value) -> Result<Value> {
        let spec = review["spec"].clone();
        let status = match target.resource.plural.as_str() {
            "selfsubjectreviews" => json!({ "userInfo": user_info(identity) }),
            "selfsubjectaccessreviews" => self.access(identity, &spec),
            "subjectaccessreviews" | "localsubjectaccessreviews" => self.access(&subject(&spec), &spec),
            "selfsubjectrulesreviews" => self.rules(identity, spec["namespace"].as_str().unwrap_or_default()),
            "tokenreviews" => self.token(spec["token"].as_str().unwrap_or_default()),
            other => return Err(ApiError::internal(format!("no review of {other}"))),
        };
        review["status"] = status;
        if !review["metadata"].is_object() {
            review["metadata"] = json!({});
        }
        Ok(review)
    }

    fn access(&self, identity: &Identity, spec: &Value) -> Value {
        let decision = self
            .authorizer
            .authorize(&self.registry, identity, &Attributes::of_review(spec));
        json!({ "allowed": decision == Decision::Allow })
    }

    fn rules(&self, identity: &Identity, namespace: &str) -> Value {
        let all = json!({ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] });
        let rules = if identity.trusted || identity.is_in("system:masters") {
            vec![all, json!({ "verbs": ["*"], "nonResourceURLs": ["*"] })]
        } else {
            rbac::rules_for(&self.registry, identity, namespace)
        };
        let (plain, resource): (Vec<Value>, Vec<Value>) = rules
            .into_iter()
            .partition(|rule| rule["nonResourceURLs"].is_array());
        json!({ "resourceRules": resource, "nonResourceRules": plain, "incomplete": false })
    }

    fn token(&self, token: &str) -> Value {
        let mut headers = http::HeaderMap::new();
        if let Ok(value) = http::HeaderValue::from_str(&format!("Bearer {token}")) {
            headers.insert(http::header::AUTHORIZATION, value);
        }
        match self.authenticator.authenticate(&self.registry, &headers, None) {
            Authentication::User(identity) => json!({ "authenticated": true, "user": user_info(&identity) }),
            Authentication::Anonymous | Authentication::Invalid => {
                json!({ "authenticated": false, "user": {}, "error": "[invalid bearer token]" })
            }
        }
    }

    /// A token of a service account.
    pub(crate) fn service_account_token(&self, target: &Target, request: Value) -> Result<Value> {
        let account = self.registry.get(target)?;
        let uid = account["metadata"]["uid"].as_str().unwrap_or_default();
        match &self.token_issuer {
            Some(issuer) => issuer.issue(&target.namespace, &target.name, uid, request),
            None => Err(ApiError::new(
                http::StatusCode::NOT_IMPLEMENTED,
                "",
                "this server issues no service account tokens",
            )),
        }
    }
}

/// Issues tokens for service accounts: answers a `TokenRequest`.
pub trait TokenIssuer: Send + Sync + 'static {
    /// `request` with its status: token and expiry.
    ///
    /// # Errors
    /// What is wrong with the request.
    fn issue(&self, namespace: &str, name: &str, uid: &str, request: Value) -> Result<Value>;
}

fn user_info(identity: &Identity) -> Value {
    let mut info = json!({ "username": identity.name, "groups": identity.groups });
    if !identity.uid.is_empty() {
        info["uid"] = json!(identity.uid);
    }
    if !identity.extra.is_empty() {
        info["extra"] = json!(identity.extra);
    }
    info
}

/// The user that a review asks about.
fn subject(spec: &Value) -> Identity {
    let groups = spec["groups"].as_array().into_iter().flatten();
    Identity {
        name: spec["user"].as_str().unwrap_or_default().to_owned(),
        uid: spec["uid"].as_str().unwrap_or_default().to_owned(),
        groups: groups.filter_map(Value::as_str).map(str::to_owned).collect(),
        ..Identity::default()
    }
}
