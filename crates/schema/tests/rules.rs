//! Rules on objects, and which definitions are refused.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use capstan_base::field::Path;
use capstan_schema::{Schema, Structural, validate_selectable_fields, validate_structural};
use serde_json::{Value, json};

fn schema(spec: &Value) -> Schema {
    Schema::new(&json!({"type": "object", "properties": {"spec": spec}})).unwrap()
}

fn lines(errors: &[capstan_base::field::Error]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

fn on_create(spec: &Value, value: &Value) -> Vec<String> {
    lines(&schema(spec).validate(&json!({"spec": value})).errors)
}

fn object(properties: &Value, rules: &Value) -> Value {
    json!({"type": "object", "properties": properties, "x-kubernetes-validations": rules})
}

#[test]
fn a_failing_rule_says_its_message() {
    let properties = json!({"min": {"type": "integer"}, "max": {"type": "integer"}});
    let value = json!({"min": 3, "max": 2});
    let cases: &[(Value, &[&str])] = &[
        (json!({"rule": "self.min >= self.max"}), &[]),
        (
            json!({"rule": "self.min <= self.max"}),
            &["spec: Invalid value: failed rule: self.min <= self.max"],
        ),
        (
            json!({"rule": "self.min <= self.max", "message": "too small", "fieldPath": ".max", "reason": "FieldValueForbidden"}),
            &["spec.max: Forbidden: too small"],
        ),
        (
            json!({"rule": "self.min <= self.max", "messageExpression": "'max is ' + string(self.max)"}),
            &["spec: Invalid value: max is 2"],
        ),
        (
            json!({"rule": "self.min <= self.max", "message": "plain", "messageExpression": "self.missing.x"}),
            &["spec: Invalid value: plain"],
        ),
        (
            json!({"rule": "[1][self.max] == 1"}),
            &["spec: Invalid value: \"object\": index out of bounds: 2 evaluating rule: [1][self.max] == 1"],
        ),
        (
            json!({"rule": "has(self.min) && !has(self.max)"}),
            &["spec: Invalid value: failed rule: has(self.min) && !has(self.max)"],
        ),
    ];
    for (rule, expected) in cases {
        assert_eq!(
            on_create(&object(&properties, &json!([rule])), &value),
            *expected,
            "{rule}"
        );
    }
}

#[test]
fn rules_stand_at_every_node_and_see_typed_values() {
    let text = |format: &str, rule: &str| json!({"type": "string", "format": format, "x-kubernetes-validations": [{"rule": rule}]});
    let cases: &[(Value, Value)] = &[
        (
            text("date-time", "self > timestamp('2020-01-01T00:00:00Z')"),
            json!("2024-01-01T00:00:00Z"),
        ),
        (text("duration", "self > duration('1s')"), json!("2s")),
        (text("byte", "size(self) == 5"), json!("aGVsbG8=")),
        (
            json!({"type": "number", "x-kubernetes-validations": [{"rule": "self > 0.5"}]}),
            json!(1),
        ),
        (
            json!({"x-kubernetes-int-or-string": true, "x-kubernetes-validations": [{"rule": "self == '50%' || self > 5"}]}),
            json!("50%"),
        ),
        (
            json!({"type": "array", "items": {"type": "integer", "x-kubernetes-validations": [{"rule": "self % 2 == 0"}]}, "x-kubernetes-validations": [{"rule": "self.all(x, x > 0) && self.map(x, x + 1).exists(y, y == 3)"}]}),
            json!([2, 4]),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string", "x-kubernetes-validations": [{"rule": "self.startsWith('v')"}]}, "x-kubernetes-validations": [{"rule": "'a-b' in self && self['a-b'] == 'v1'"}]}),
            json!({"a-b": "v1"}),
        ),
        (
            object(
                &json!({"namespace": {"type": "string"}, "a-b": {"type": "string"}, "x_y": {"type": "integer"}}),
                &json!([{"rule": "self.__namespace__ == 'n' && self.a__dash__b == 'x' && self.x_y == 1"}]),
            ),
            json!({"namespace": "n", "a-b": "x", "x_y": 1}),
        ),
        (
            object(
                &json!({"o": {"type": "object", "properties": {"p": {"type": "string"}}}}),
                &json!([{"rule": "self.?o.p.orValue('none') == 'none'"}, {"rule": "!has(self.o) || self.o.p != ''"}]),
            ),
            json!({}),
        ),
        (
            json!({"type": "integer", "allOf": [{"x-kubernetes-validations": [{"rule": "self > 1"}]}]}),
            json!(2),
        ),
    ];
    for (node, value) in cases {
        assert_eq!(
            on_create(&object(&json!({"f": node}), &json!([])), &json!({"f": value})),
            [""; 0],
            "{node}"
        );
    }
    let root = Schema::new(
        &json!({"type": "object", "x-kubernetes-validations": [{"rule": "self.metadata.name.size() < 4"}]}),
    );
    let report = root
        .unwrap()
        .validate(&json!({"kind": "K", "metadata": {"name": "long", "uid": "u"}}));
    assert_eq!(
        lines(&report.errors),
        ["<nil>: Invalid value: failed rule: self.metadata.name.size() < 4"]
    );
}

#[test]
fn grave_schema_errors_keep_rules_from_running() {
    let spec = object(
        &json!({"a": {"type": "integer"}}),
        &json!([{"rule": "self.a > 5"}]),
    );
    assert_eq!(
        on_create(&spec, &json!({"a": "x"})),
        [
            "spec.a: Invalid value: \"string\": spec.a in body must be of type integer: \"string\"",
            "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct \
         the existing errors to complete validation",
        ]
    );
}

#[test]
fn transition_rules_need_an_old_value_unless_they_do_without() {
    let spec = object(
        &json!({
            "fixed": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "is immutable"}]},
            "once": {"type": "integer", "x-kubernetes-validations": [
                {"rule": "oldSelf.hasValue() || self == 0", "optionalOldSelf": true, "message": "starts at 0"},
            ]},
            "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {
                "type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}},
                "x-kubernetes-validations": [{"rule": "self.v >= oldSelf.v", "message": "may not shrink"}],
            }},
        }),
        &json!([]),
    );
    let schema = schema(&spec);
    let created = schema.validate(&json!({"spec": {"fixed": "a", "once": 1, "map": [{"k": "x", "v": 1}]}}));
    assert_eq!(
        lines(&created.errors),
        ["spec.once: Invalid value: 1: starts at 0"]
    );
    let updated = schema.validate_update(
        &json!({"spec": {"fixed": "b", "once": 5, "map": [{"k": "new", "v": 0}, {"k": "x", "v": 1}]}}),
        &json!({"spec": {"fixed": "a", "once": 1, "map": [{"k": "x", "v": 2}]}}),
    );
    assert_eq!(
        lines(&updated.errors),
        [
            "spec.fixed: Invalid value: \"b\": is immutable",
            "spec.map[1]: Invalid value: may not shrink",
        ]
    );
}

#[test]
fn rules_that_fail_on_unchanged_parts_only_warn() {
    let even = json!([{"rule": "self % 2 == 0", "message": "must be even"}]);
    let spec = object(
        &json!({
            "n": {"type": "integer", "x-kubernetes-validations": even},
            "list": {"type": "array", "items": {"type": "integer", "x-kubernetes-validations": even}},
        }),
        &json!([]),
    );
    let old = json!({"spec": {"n": 1, "list": [1]}});
    let schema = schema(&spec);
    let unchanged = schema.validate_update(&old, &old);
    assert_eq!(
        (lines(&unchanged.errors), unchanged.warnings),
        (
            vec![],
            vec![
                "spec.list[0]: Invalid value: 1: must be even".to_owned(),
                "spec.n: Invalid value: 1: must be even".to_owned()
            ],
        )
    );
    let longer = schema.validate_update(&json!({"spec": {"n": 1, "list": [1, 2]}}), &old);
    assert_eq!(
        lines(&longer.errors),
        ["spec.list[0]: Invalid value: 1: must be even"]
    );
}

#[test]
fn a_hostile_rule_runs_out_of_budget() {
    let rule = "self.all(a, self.all(b, self.all(c, a + b + c >= 0)))";
    let spec =
        json!({"type": "array", "items": {"type": "integer"}, "x-kubernetes-validations": [{"rule": rule}]});
    let list: Vec<i64> = (0..200).collect();
    assert_eq!(
        on_create(&spec, &json!(list)),
        [format!(
            "spec: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no further validation \
         rules will be run due to call cost exceeds limit for rule: {rule}"
        )]
    );
}

#[test]
fn definitions_that_cannot_be_served_are_refused() {
    let cases: &[(Value, &[&str])] = &[
        (
            json!({"type": "object", "properties": {"a": {"type": "integer", "default": 3}}}),
            &[],
        ),
        (
            json!({"type": "object", "properties": {"a": {}}}),
            &["s.properties[a].type: Required value: must not be empty for specified object fields"],
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            &["s.type: Invalid value: \"array\": must be object at the root"],
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": {"type": "string"}}}}),
            &[
                "s.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
            ],
        ),
        (
            json!({"type": "object", "properties": {"a": {"$ref": "#/x"}}}),
            &["s.properties[a].$ref: Forbidden: $ref is not supported"],
        ),
        (
            json!({"type": "object", "anyOf": [{"required": ["a"], "properties": {"a": {"minLength": 1}}}]}),
            &["s.properties[a]: Required value: because it is defined in s.anyOf[0].properties[a]"],
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "allOf": [{"properties": {"a": {"type": "string"}}}]}),
            &["s.allOf[0].properties[a].type: Forbidden: must be empty to be structural"],
        ),
        (
            json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}}),
            &[
                "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified",
            ],
        ),
        (
            json!({"type": "object", "properties": {"l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "properties": {"k": {"type": "string"}}}}}}),
            &[
                "s.properties[l].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
            ],
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}}),
            &[
                "s.properties[a].default: Invalid value: \"string\":  in body must be of type integer: \"string\"",
            ],
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "object", "default": {"b": 1}}}}),
            &["s.properties[a].default: Invalid value: {\"b\":1}: must not have unknown fields"],
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}),
            &[
                "s.properties[a].pattern: Invalid value: \"(\": must be a valid regular expression, but isn't: error parsing regexp: unclosed group: `(`",
            ],
        ),
    ];
    for (schema, expected) in cases {
        assert_eq!(
            lines(&validate_structural(schema, false, &Path::new("s"))),
            *expected,
            "{schema}"
        );
    }
}

#[test]
fn definitions_with_rules_that_do_not_compile_are_refused() {
    let rule = |rule: &str| json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [{"rule": rule}]});
    let cases: &[(Value, &[&str])] = &[
        (rule("self.a == 'x'"), &[]),
        (
            rule("self.b == 'x'"),
            &[
                "s.x-kubernetes-validations[0].rule: Invalid value: \"self.b == 'x'\": compilation failed: undefined field 'b'",
            ],
        ),
        (
            rule("other == 1"),
            &[
                "s.x-kubernetes-validations[0].rule: Invalid value: \"other == 1\": compilation failed: undeclared reference to 'other' (in container '')",
            ],
        ),
        (
            rule("nope(self.a)"),
            &[
                "s.x-kubernetes-validations[0].rule: Invalid value: \"nope(self.a)\": compilation failed: undeclared reference to 'nope' (in container '')",
            ],
        ),
        (
            rule(" "),
            &["s.x-kubernetes-validations[0].rule: Required value: rule is not specified"],
        ),
    ];
    for (schema, expected) in cases {
        assert_eq!(
            lines(&validate_structural(schema, false, &Path::new("s"))),
            *expected,
            "{schema}"
        );
    }
    let broken = validate_structural(&rule("self.a =="), false, &Path::new("s"));
    assert_eq!(broken.len(), 1, "{broken:?}");
}

#[test]
fn old_values_may_only_be_used_where_there_can_be_one() {
    let item = json!({"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]});
    let schema = json!({"type": "object", "properties": {"l": {"type": "array", "items": item}}});
    assert_eq!(
        lines(&validate_structural(&schema, true, &Path::new("s"))),
        [
            "s.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: \"self == oldSelf\": oldSelf cannot be \
         used on the uncorrelatable portion of the schema within s.properties[l]"
        ]
    );
}

#[test]
fn selectable_fields_are_scalars_outside_metadata() {
    let schema = Structural::parse(
        &json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "a": {"type": "string"}, "o": {"type": "object"}}}}}),
    )
    .unwrap();
    assert_eq!(
        lines(&validate_selectable_fields(
            &[".spec.a", ".spec.b", ".spec.o", ".spec.a"],
            &schema,
            &Path::new("f")
        )),
        [
            "f[1].jsonPath: Invalid value: \".spec.b\": is an invalid path: does not refer to a valid field",
            "f[2].jsonPath: Invalid value: \".spec.o\": must point to a field of type string, boolean or integer. Enum \
         string fields and strings with formats are allowed.",
            "f[3].jsonPath: Duplicate value: \".spec.a\"",
        ]
    );
}

#[test]
fn a_schema_survives_being_read_and_written() {
    let schema = json!({
        "type": "object", "description": "d", "required": ["spec"],
        "properties": {"spec": {"type": "object", "properties": {
            "n": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 1.5, "default": 1, "nullable": true},
            "p": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "e": {"type": "string", "enum": ["a", "b"], "pattern": "^a", "maxLength": 3},
            "l": {"type": "array", "items": {"type": "object", "x-kubernetes-map-type": "atomic"}, "x-kubernetes-list-type": "set"},
            "m": {"type": "object", "additionalProperties": {"type": "string"}},
            "o": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-embedded-resource": true},
        }, "x-kubernetes-validations": [{"rule": "true", "message": "m", "optionalOldSelf": true}]}},
    });
    let structural = Structural::parse(&schema).unwrap();
    assert_eq!(structural.to_openapi(), schema);
    let paths: Vec<String> = structural.fields().into_iter().map(|(path, _)| path).collect();
    assert_eq!(
        paths,
        [
            "", "spec", "spec.e", "spec.l", "spec.l[]", "spec.m", "spec.m{}", "spec.n", "spec.o", "spec.p"
        ]
    );
}
