//! Decides what has to change in the workload cluster before and after a rollout.

use std::time::Duration;

use capstan_api::{bootstrap::ClusterConfiguration, well_known::annotation};
use capstan_engine::{Plan, Wake, Why};
use capstan_workload::Remote;
use k8s_openapi::api::core::v1::PodTemplateSpec;
use kube::ResourceExt;

use super::{
    Addons, COREDNS, Change, Half, KUBE_PROXY, KUBEADM_CONFIG, Preparation, Upkeep, addons, configuration,
};
use crate::{act::Action, view::View};

/// The pause before a workload cluster that does not answer, or that holds what cannot be read, is asked again.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// The half that is due; none before the cluster is there and while machines come and go.
pub(crate) fn due(view: &View) -> Option<Half> {
    if !view.is_initialized() || view.is_deleting() || view.members.is_empty() {
        return None;
    }
    if view
        .members
        .iter()
        .any(|it| !it.is_deleting() && !view.differences(it).is_empty())
    {
        return Some(Half::BeforeRollout);
    }
    let is_complete =
        view.members.len() == view.replicas() && view.members.iter().all(|it| !it.is_deleting());
    is_complete.then_some(Half::AfterRollout)
}

/// Is everything in order in what was seen?
pub(crate) fn is_settled(view: &View) -> bool {
    let mut plan = Plan::default();
    let before = before_rollout(view, &mut plan);
    after_rollout(view, &mut plan);
    before && plan.is_converged()
}

/// Plans what has to be true of the cluster before a machine of another version joins. Says whether it is true or will
/// be once the plan's steps are done: if not, the rollout waits.
pub(crate) fn before_rollout(view: &View, plan: &mut Plan<Action>) -> bool {
    let Upkeep::BeforeRollout(seen) = &view.upkeep else {
        return true;
    };
    let Some(Preparation {
        configuration,
        missing_bindings,
    }) = reached(seen, "RollingOut", view, plan)
    else {
        return false;
    };
    for binding in missing_bindings {
        let why = format!("kubeadm expects the ClusterRoleBinding {}", binding.name);
        plan.step(
            Action::Upkeep(Change::CreateBinding(*binding)),
            Why::new("RollingOut", why),
        );
    }
    let Some(stored) = configuration else {
        wait(
            plan,
            view,
            "RollingOut",
            format!("the ConfigMap {KUBEADM_CONFIG} of the workload cluster does not exist"),
        );
        return false;
    };
    match configuration::for_rollout(stored, &view.control_plane) {
        Ok(None) => true,
        Ok(Some(text)) => {
            let why = format!(
                "the next machine joins with version {}",
                view.control_plane.spec.version
            );
            plan.step(
                write_configuration(stored.resource_version(), text),
                Why::new("UpdateKubeadmConfig", why),
            );
            true
        }
        Err(error) => {
            wait(
                plan,
                view,
                "RollingOut",
                format!("the ConfigMap {KUBEADM_CONFIG} of the workload cluster: {error}"),
            );
            false
        }
    }
}

/// Plans the add-ons' images.
pub(crate) fn after_rollout(view: &View, plan: &mut Plan<Action>) {
    let Upkeep::AfterRollout(seen) = &view.upkeep else {
        return;
    };
    let Some(Addons {
        kube_proxy,
        dns,
        configuration,
    }) = reached(seen, "Addons", view, plan)
    else {
        return;
    };
    let control_plane = &*view.control_plane;
    if let Some(found) = kube_proxy
        && !control_plane
            .annotations()
            .contains_key(annotation::SKIP_KUBE_PROXY)
    {
        let template = found.spec.as_ref().map(|it| &it.template);
        let wanted = |present: &str| addons::kube_proxy(present, control_plane);
        if let Some(image) = another_image(template, KUBE_PROXY, wanted, view, plan) {
            let change = Change::SetKubeProxyImage {
                resource_version: found.resource_version(),
                image: image.clone(),
            };
            plan.step_and_continue(
                Action::Upkeep(change),
                Why::new("UpdateKubeProxy", format!("kube-proxy runs {image}")),
            );
        }
    }
    let is_configured =
        control_plane.spec.kubeadm_config_spec.cluster_configuration != ClusterConfiguration::default();
    if let Some(found) = dns
        && is_configured
        && !control_plane.annotations().contains_key(annotation::SKIP_COREDNS)
    {
        let template = found.spec.as_ref().map(|it| &it.template);
        let wanted = |present: &str| addons::coredns(present, control_plane);
        let Some(image) = another_image(template, COREDNS, wanted, view, plan) else {
            return;
        };
        // The configuration first: a crash in between leaves an image that is still to change.
        if let Some(stored) = configuration {
            match configuration::for_dns(stored, control_plane) {
                Ok(Some(text)) => {
                    let why = Why::new("UpdateCoreDNS", format!("machines join with {image}"));
                    plan.step(write_configuration(stored.resource_version(), text), why);
                }
                Ok(None) => {}
                Err(error) => {
                    return wait(
                        plan,
                        view,
                        "Addons",
                        format!("the ConfigMap {KUBEADM_CONFIG} of the workload cluster: {error}"),
                    );
                }
            }
        }
        let change = Change::SetDnsImage {
            resource_version: found.resource_version(),
            image: image.clone(),
        };
        plan.step(
            Action::Upkeep(change),
            Why::new("UpdateCoreDNS", format!("CoreDNS runs {image}")),
        );
    }
}

/// The image that a container has to run, if it runs another.
fn another_image(
    template: Option<&PodTemplateSpec>,
    container: &str,
    wanted: impl FnOnce(&str) -> Result<String, String>,
    view: &View,
    plan: &mut Plan<Action>,
) -> Option<String> {
    let present = addons::image_of(template?, container)?;
    match wanted(present) {
        Ok(image) => (image != present).then_some(image),
        Err(error) => {
            wait(plan, view, "Addons", error);
            None
        }
    }
}

fn write_configuration(resource_version: Option<String>, text: String) -> Action {
    Action::Upkeep(Change::WriteConfiguration {
        resource_version,
        text,
    })
}

fn reached<'a, T>(
    seen: &'a Remote<T>,
    reason: &'static str,
    view: &View,
    plan: &mut Plan<Action>,
) -> Option<&'a T> {
    match seen {
        Remote::Found(found) => return Some(found),
        Remote::Disconnected { why, .. } => {
            wait(
                plan,
                view,
                reason,
                format!("the workload cluster does not answer: {why}"),
            );
        }
        Remote::NotTried(why) => wait(
            plan,
            view,
            reason,
            format!("the workload cluster is not connected: {why}"),
        ),
        Remote::Absent => wait(
            plan,
            view,
            reason,
            "the workload cluster is not connected".to_owned(),
        ),
    }
    None
}

fn wait(plan: &mut Plan<Action>, view: &View, reason: &'static str, message: String) {
    plan.waits(Why::new(reason, message));
    plan.wakes(Wake::After(LOOK_AGAIN), view.now);
}
