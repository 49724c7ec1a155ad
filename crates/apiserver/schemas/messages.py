"""Writes messages.json: how the built-in kinds are laid out in protobuf.

Usage: messages.py K8S_IO_API K8S_IO_APIMACHINERY   (folders of the Go modules k8s.io/api and k8s.io/apimachinery)

Read from the `protobuf` tags of the Go types, since the .proto files tell neither which fields are inline in JSON nor
which zero values mean something. For every message: field number -> [JSON name, type]. Types are s (string), b (bytes),
i (integer), f (float), t (boolean), or a message's name; `[]` before one makes it a list, `{}` a map from strings;
`?` at the end keeps zero values, since the Go field is a pointer or is not left out when empty. A field without a JSON
name is inline. One message per line, sorted.
"""

import json
import pathlib
import re
import sys

FIELD = re.compile(r'^\s+(?:(\w+)\s+)?(\S+)\s+`json:"([^"]*)"[^`]*protobuf:"([^"]*)"')
EMBEDDED = re.compile(r'^\s+(\S+)\s+`json:"([^"]*)"[^`]*protobuf:"([^"]*)"')
NAMED = re.compile(r"^type (\w+) (\S+)$")
STRUCT = re.compile(r"^type (\w+) struct \{")
IMPORT = re.compile(r'^\s+(?:(\w+) )?"(k8s\.io/[^"]+)"')
SCALARS = {"string": "s", "bool": "t", "int": "i", "int32": "i", "int64": "i", "uint32": "i", "uint64": "i",
           "float32": "f", "float64": "f", "[]byte": "b", "types.UID": "s", "types.NodeName": "s"}


def definition_prefix(package):
    return "io.k8s." + package.removeprefix("k8s.io/").replace("/", ".") + "."


def read_package(folder, package):
    structs, names, imports = {}, {}, {}
    for path in sorted(folder.glob("*.go")):
        if path.name.endswith(("_test.go", "generated.pb.go")):
            continue
        fields = None
        for line in path.read_text().splitlines():
            if fields is not None:
                if line.startswith("}"):
                    fields = None
                elif match := EMBEDDED.match(line):
                    fields.append(match.groups())
                elif match := FIELD.match(line):
                    fields.append(match.groups()[1:])
            elif match := STRUCT.match(line):
                fields = structs.setdefault(match[1], [])
            elif match := NAMED.match(line):
                names[match[1]] = match[2]
            elif match := IMPORT.match(line):
                parts = match[2].split("/")
                imports[match[1] or parts[-1]] = match[2]
    return structs, names, imports


class Reader:
    def __init__(self, modules):
        self.modules = modules
        self.packages = {}

    def package(self, name):
        if name not in self.packages:
            module = next(it for it in self.modules if name.startswith(it))
            self.packages[name] = read_package(self.modules[module] / name.removeprefix(module).strip("/"), name)
        return self.packages[name]

    def type_of(self, package, text):
        """The type code of Go type `text`."""
        text = text.removeprefix("*")
        if text in SCALARS:
            return SCALARS[text]
        if text.startswith("[]"):
            return "[]" + self.type_of(package, text[2:])
        if match := re.match(r"map\[[\w.]+\](.*)", text):
            return "{}" + self.type_of(package, match[1])
        structs, names, imports = self.package(package)
        if "." in text:
            alias, text = text.split(".")
            package = imports[alias]
            structs, names, _ = self.package(package)
        if text in structs:
            return definition_prefix(package) + text
        named = self.type_of(package, names[text])
        # A named list is a message of its own in protobuf.
        return definition_prefix(package) + text if named.startswith("[]") else named

    def message(self, name, wanted):
        package = name.removeprefix("io.k8s.").rsplit(".", 1)[0]
        kind = name.rsplit(".", 1)[1]
        package = "k8s.io/" + package.replace(".", "/")
        structs, names, _ = self.package(package)
        if kind not in structs:
            return {"1": ["", self.type_of(package, names[kind])]}
        fields = {}
        for go_type, json_tag, protobuf_tag in structs[kind]:
            if protobuf_tag == "-" or not protobuf_tag.split(",")[1].isdigit():
                continue
            json_name, *options = json_tag.split(",")
            code = self.type_of(package, go_type)
            element = code.removeprefix("[]").removeprefix("{}")
            if len(element) > 1:
                wanted.add(element)
            keep = go_type.startswith("*") or "omitempty" not in options
            scalar = len(element) == 1 and element == code
            fields[protobuf_tag.split(",")[1]] = [json_name, code + ("?" if keep and scalar else "")]
        return fields


# Messages that the transcoder knows by name, since their JSON is not an object.
KNOWN = ("Quantity", "IntOrString", "Time", "MicroTime", "FieldsV1", "RawExtension")
SKIPPED = ("io.k8s.apiextensions-apiserver.", "io.k8s.kube-aggregator.")


def main():
    api, machinery = map(pathlib.Path, sys.argv[1:3])
    reader = Reader({"k8s.io/api/": api, "k8s.io/apimachinery/": machinery})
    definitions = json.loads(pathlib.Path(__file__).with_name("definitions.json").read_text())
    wanted = {name for name, schema in definitions.items()
              if "x-kubernetes-group-version-kind" in schema and not name.startswith(SKIPPED)}
    messages = {}
    while wanted:
        name = wanted.pop()
        if name in messages or name.rsplit(".", 1)[1] in KNOWN:
            continue
        found = set()
        messages[name] = reader.message(name, found)
        wanted |= found
    lines = [f"{json.dumps(name)}: {json.dumps(messages[name])}" for name in sorted(messages)]
    pathlib.Path(__file__).with_name("messages.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


main()
