"""Writes definitions.json: the OpenAPI v3 definitions of the built-in kinds that the API server serves.

Usage: trim.py PATH/TO/_definitions.json   (from the Python package kubernetes-validate; see NOTICE)

The input is JSON Schema made from Kubernetes' OpenAPI document; this takes the served kinds with everything that
they refer to and undoes the transformation: nullable type lists, closed apiVersion/kind enumerations and rewritten
references go back to the form that Kubernetes publishes. One definition per line, sorted.
"""

import json
import pathlib
import sys

CORE = "io.k8s.api.core.v1."
META = "io.k8s.apimachinery.pkg.apis.meta.v1."
ROOTS = (
    [CORE + kind for kind in (
        "Namespace Secret ConfigMap Event ServiceAccount Node Pod Service Endpoints PersistentVolume "
        "PersistentVolumeClaim LimitRange ResourceQuota PodTemplate ReplicationController").split()]
    + ["io.k8s.api.apps.v1." + kind for kind in
       "Deployment DaemonSet StatefulSet ReplicaSet ControllerRevision".split()]
    + ["io.k8s.api.batch.v1." + kind for kind in "Job CronJob".split()]
    + ["io.k8s.api.policy.v1." + kind for kind in "PodDisruptionBudget Eviction".split()]
    + ["io.k8s.api.rbac.v1." + kind for kind in "Role ClusterRole RoleBinding ClusterRoleBinding".split()]
    + ["io.k8s.api.coordination.v1.Lease", "io.k8s.api.events.v1.Event", "io.k8s.api.autoscaling.v1.Scale",
       "io.k8s.api.discovery.v1.EndpointSlice", "io.k8s.api.scheduling.v1.PriorityClass"]
    + ["io.k8s.api.networking.v1." + kind for kind in "Ingress IngressClass NetworkPolicy".split()]
    + ["io.k8s.api.admissionregistration.v1." + kind for kind in
       "ValidatingWebhookConfiguration MutatingWebhookConfiguration ValidatingAdmissionPolicy "
       "ValidatingAdmissionPolicyBinding".split()]
    + ["io.k8s.api.storage.v1." + kind for kind in "StorageClass VolumeAttachment CSIDriver CSINode".split()]
    + ["io.k8s.api.authentication.v1." + kind for kind in "TokenReview TokenRequest SelfSubjectReview".split()]
    + ["io.k8s.api.authorization.v1." + kind for kind in
       "SubjectAccessReview SelfSubjectAccessReview LocalSubjectAccessReview SelfSubjectRulesReview".split()]
    + ["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
       "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService"]
    + [META + kind for kind in "DeleteOptions Status ListMeta ObjectMeta".split()]
)
PREFIX = "#/$defs/"
# Shapes that JSON Schema cannot say as Kubernetes does.
FIXED = {
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "description": "IntOrString is a type that can hold an int32 or a string.",
        "format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {
        "description": "Quantity is a fixed-point representation of a number.",
        "oneOf": [{"type": "string"}, {"type": "number"}]},
    "io.k8s.apimachinery.pkg.runtime.RawExtension": {"type": "object"},
    META + "FieldsV1": {"description": "FieldsV1 stores a set of fields in JSON format.", "type": "object"},
}
# Defaults of list-map keys, which the input leaves out.
DEFAULTS = {(CORE + "ServicePort", "protocol"): "TCP", (CORE + "ContainerPort", "protocol"): "TCP"}


def published(node, references):
    """`node` in the form that Kubernetes publishes; the names it refers to are added to `references`."""
    if isinstance(node, list):
        return [published(item, references) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].removeprefix(PREFIX)
        references.add(name)
        reference = {"$ref": "#/components/schemas/" + name}
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return {**rest, "allOf": [reference]} if rest else reference
    result = {}
    for key, value in node.items():
        if key == "properties":
            value = {name: published(property_, references) for name, property_ in value.items()}
        elif key == "type" and isinstance(value, list):
            value = next(item for item in value if item != "null")
        elif key == "enum":
            value = [item for item in value if item is not None]
        elif not key.startswith("x-") and key not in ("default", "example"):
            value = published(value, references)
        result[key] = value
    return result


def main():
    source = json.loads(pathlib.Path(sys.argv[1]).read_text())["$defs"]
    wanted, taken = set(ROOTS), {}
    while wanted:
        name = wanted.pop()
        references = set()
        definition = FIXED.get(name) or published(source[name], references)
        if "x-kubernetes-group-version-kind" in definition:
            for field in ("apiVersion", "kind"):
                definition["properties"][field].pop("enum", None)
            marks = definition["x-kubernetes-group-version-kind"]
            if len(marks) > 8:
                definition["x-kubernetes-group-version-kind"] = [
                    mark for mark in marks if mark["group"] == "" and mark["version"] == "v1"]
        for (owner, field), default in DEFAULTS.items():
            if owner == name:
                definition["properties"][field]["default"] = default
        taken[name] = definition
        wanted |= references - taken.keys()
    lines = [f"{json.dumps(name)}: {json.dumps(taken[name], sort_keys=True, ensure_ascii=True)}" for name in sorted(taken)]
    target = pathlib.Path(__file__).with_name("definitions.json")
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n")


main()
