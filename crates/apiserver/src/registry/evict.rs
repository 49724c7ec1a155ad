//! Evictions of pods: deletions that respect disruption budgets.
//! Source: kubernetes `pkg/registry/core/pod/storage/eviction.go`.

use std::sync::atomic::{AtomicBool, Ordering};

use http::StatusCode;
use serde_json::{Value, json};

use super::{Caller, Part, Registry, Target};
use crate::{
    object::{Meta, metadata::seconds},
    wire::{
        options::DeleteOptions,
        selector::LabelSelector,
        status::{ApiError, Result},
    },
};

/// The group and plural of disruption budgets.
const BUDGETS: (&str, &str) = ("policy", "poddisruptionbudgets");
const MANAGER: &str = "eviction";

impl Registry {
    /// Deletes a pod unless a disruption budget forbids it, and takes the disruption from that budget.
    ///
    /// # Errors
    /// 429 if the budget has none left, 500 if two budgets select the pod, and what deleting fails with.
    pub async fn evict(&self, target: &Target, caller: Caller<'_>, options: &DeleteOptions) -> Result<()> {
        let pod = self.get(target)?;
        if !is_free(&pod) {
            match self.budgets_of(&pod)?.as_slice() {
                [] => {}
                [budget] => self.spend(budget, Meta::of(&pod).name(), options.dry_run).await?,
                _ => {
                    return Err(ApiError::internal(
                        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
                    ));
                }
            }
        }
        self.delete(target, caller, options).await.map(|_| ())
    }

    /// The disruption budgets that select a pod.
    fn budgets_of(&self, pod: &Value) -> Result<Vec<Value>> {
        let (snapshot, meta, table) = (self.store().snapshot(), Meta::of(pod), self.resources());
        let mut found = Vec::new();
        let Some(resource) = table.get(BUDGETS.0, BUDGETS.1) else {
            return Ok(found);
        };
        for record in snapshot.range(&resource.store_name, Some(meta.namespace())) {
            let budget: Value = serde_json::from_slice(&record.value)
                .map_err(|error| ApiError::internal(format!("stored object is not JSON: {error}")))?;
            if selects(&budget["spec"]["selector"], pod)? {
                found.push(budget);
            }
        }
        Ok(found)
    }

    async fn spend(&self, budget: &Value, pod: &str, dry_run: bool) -> Result<()> {
        let meta = Meta::of(budget);
        let number = |field: &str| budget["status"][field].as_i64().unwrap_or(0);
        let observed = number("observedGeneration");
        if observed < budget["metadata"]["generation"].as_i64().unwrap_or(0) {
            let why = format!(
                "The disruption budget {} is still being processed by the server.",
                meta.name()
            );
            return Err(exhausted(&why));
        }
        let why = format!(
            "The disruption budget {} needs {} healthy pods and has {} currently",
            meta.name(),
            number("desiredHealthy"),
            number("currentHealthy")
        );
        if dry_run {
            return if number("disruptionsAllowed") > 0 {
                Ok(())
            } else {
                Err(exhausted(&why))
            };
        }
        let table = self.resources();
        let resource = table.get(BUDGETS.0, BUDGETS.1);
        let budget = resource.and_then(|it| Target::stored(it, meta.namespace(), meta.name()));
        let Some(budget) = budget else { return Ok(()) };
        let (spent, now) = (AtomicBool::new(false), seconds(self.now()));
        let spend = |budget: &mut Value| {
            let left = budget["status"]["disruptionsAllowed"].as_i64().unwrap_or(0);
            spent.store(left > 0, Ordering::SeqCst);
            if left > 0 {
                budget["status"]["disruptionsAllowed"] = json!(left - 1);
                budget["status"]["disruptedPods"][pod] = json!(now);
            }
            left > 0
        };
        self.change(&budget.part(Part::Status), MANAGER, &spend).await?;
        if spent.load(Ordering::SeqCst) {
            Ok(())
        } else {
            Err(exhausted(&why))
        }
    }
}

/// A pod that does not run, or is going already, costs no budget.
fn is_free(pod: &Value) -> bool {
    let phase = pod["status"]["phase"].as_str().unwrap_or_default();
    matches!(phase, "Succeeded" | "Failed" | "Pending") || Meta::of(pod).deletion_timestamp().is_some()
}

fn exhausted(why: &str) -> ApiError {
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message).caused_by(
        "DisruptionBudget",
        why,
        "",
    )
}

/// Does a budget's selector select the pod? One that is absent selects nothing, an empty one everything.
fn selects(selector: &Value, pod: &Value) -> Result<bool> {
    if !selector.is_object() {
        return Ok(false);
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut terms = Vec::new();
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        terms.push(format!("{key}={}", text(value)));
    }
    for expression in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = text(&expression["key"]);
        let values: Vec<String> = expression["values"]
            .as_array()
            .into_iter()
            .flatten()
            .map(text)
            .collect();
        let values = values.join(",");
        terms.push(match expression["operator"].as_str().unwrap_or_default() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key,
        });
    }
    Ok(LabelSelector::parse(&terms.join(","))?.matches(Meta::of(pod).labels()))
}
