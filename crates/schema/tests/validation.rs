//! What kube-apiserver says about values that their schema does not accept.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use capstan_base::field::Path;
use capstan_schema::{Structural, format::Format, validate, validate_list_types, validate_update};
use serde_json::{Value, json};

fn lines(errors: &[capstan_base::field::Error]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

fn check(schema: &Value, value: &Value, expected: &[&str]) {
    let structural = Structural::parse(&json!({"type": "object", "properties": {"a": schema}})).unwrap();
    let found = validate(&json!({"a": value}), &structural, &Path::root());
    assert_eq!(lines(&found), expected, "{value} against {schema}");
}

#[test]
fn values_that_fit_say_nothing() {
    for (schema, value) in [
        (
            json!({"type": "string", "minLength": 1, "maxLength": 2, "pattern": "^é"}),
            json!("éé"),
        ),
        (
            json!({"type": "integer", "format": "int32", "minimum": 1, "maximum": 3}),
            json!(3),
        ),
        (json!({"type": "number"}), json!(3)),
        (json!({"type": "integer"}), json!(3.0)),
        (json!({"x-kubernetes-int-or-string": true}), json!("50%")),
        (
            json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
            json!(5),
        ),
        (json!({"type": "string", "nullable": true}), json!(null)),
        (json!({"type": "string", "format": "made-up"}), json!("x")),
        (
            json!({"x-kubernetes-preserve-unknown-fields": true}),
            json!([1, "a"]),
        ),
    ] {
        check(&schema, &value, &[]);
    }
}

#[test]
fn messages_about_scalars_are_those_of_kubernetes() {
    let cases: &[(Value, Value, &[&str])] = &[
        (
            json!({"type": "string"}),
            json!(1),
            &["a: Invalid value: \"integer\": a in body must be of type string: \"integer\""],
        ),
        (
            json!({"type": "integer"}),
            json!("x"),
            &["a: Invalid value: \"string\": a in body must be of type integer: \"string\""],
        ),
        (
            json!({"type": "integer"}),
            json!(1.5),
            &[
                "a: Invalid value: \"number\": a in body must be of type integer: \"number\"",
                "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in a",
            ],
        ),
        (
            json!({"type": "string"}),
            json!(null),
            &["a: Invalid value: \"null\": a in body must be of type string: \"null\""],
        ),
        (
            json!({"x-kubernetes-int-or-string": true}),
            json!(true),
            &["a: Invalid value: \"boolean\": a in body must be of type integer,string: \"boolean\""],
        ),
        (
            json!({"type": "integer", "format": "int32"}),
            json!(3_000_000_000_i64),
            &["<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in a"],
        ),
        (
            json!({"type": "integer", "minimum": 1}),
            json!(0),
            &["a: Invalid value: 0: a in body should be greater than or equal to 1"],
        ),
        (
            json!({"type": "integer", "maximum": 1, "exclusiveMaximum": true}),
            json!(1),
            &["a: Invalid value: 1: a in body should be less than 1"],
        ),
        (
            json!({"type": "number", "maximum": 0.5}),
            json!(0.75),
            &["a: Invalid value: 0.75: a in body should be less than or equal to 0.5"],
        ),
        (
            json!({"type": "integer", "multipleOf": 3}),
            json!(4),
            &["a: Invalid value: 4: a in body should be a multiple of 3"],
        ),
        (
            json!({"type": "string", "minLength": 3}),
            json!("éé"),
            &["a: Invalid value: \"éé\": a in body should be at least 3 chars long"],
        ),
        (
            json!({"type": "string", "maxLength": 1}),
            json!("éé"),
            &["a: Too long: may not be more than 1 byte"],
        ),
        (
            json!({"type": "string", "pattern": "^b$"}),
            json!("c"),
            &["a: Invalid value: \"c\": a in body should match '^b$'"],
        ),
        (
            json!({"type": "string", "enum": ["x", "y"]}),
            json!("z"),
            &["a: Unsupported value: \"z\": supported values: \"x\", \"y\""],
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            json!("x"),
            &["a: Invalid value: \"x\": a in body must be of type date-time: \"x\""],
        ),
    ];
    for (schema, value, expected) in cases {
        check(schema, value, expected);
    }
}

#[test]
fn messages_about_containers_and_choices_are_those_of_kubernetes() {
    let cases: &[(Value, Value, &[&str])] = &[
        (
            json!({"type": "object", "required": ["b"]}),
            json!({}),
            &["a.b: Required value"],
        ),
        (
            json!({"type": "object", "minProperties": 1}),
            json!({}),
            &["a: Invalid value: 0: a in body should have at least 1 properties"],
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 1}),
            json!([]),
            &["a: Invalid value: 0: a in body should have at least 1 items"],
        ),
        (
            json!({"type": "array", "items": {"type": "object", "properties": {"b": {"type": "boolean"}}}}),
            json!([{}, {"b": 1}]),
            &["a[1].b: Invalid value: \"integer\": a[1].b in body must be of type boolean: \"integer\""],
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"k": 1}),
            &["a.k: Invalid value: \"integer\": a.k in body must be of type string: \"integer\""],
        ),
        (
            json!({"type": "object", "oneOf": [{"required": ["x"]}, {"required": ["y"]}]}),
            json!({"x": 1, "y": 1}),
            &[
                "<nil>: Invalid value: \"\": \"a\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
            ],
        ),
        (
            json!({"type": "object", "oneOf": [{"required": ["x"]}, {"required": ["y"]}]}),
            json!({}),
            &[
                "<nil>: Invalid value: \"\": \"a\" must validate one and only one schema (oneOf). Found none valid",
                "a.x: Required value",
            ],
        ),
        (
            json!({"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 1}]}),
            json!(3),
            &[
                "<nil>: Invalid value: \"\": \"a\" must validate at least one schema (anyOf)",
                "a: Invalid value: 3: a in body should be greater than or equal to 5",
            ],
        ),
        (
            json!({"type": "integer", "allOf": [{"minimum": 5}, {"maximum": 9}]}),
            json!(3),
            &[
                "a: Invalid value: 3: a in body should be greater than or equal to 5",
                "<nil>: Invalid value: \"\": \"a\" must validate all the schemas (allOf)",
            ],
        ),
        (
            json!({"type": "integer", "not": {"minimum": 5}}),
            json!(7),
            &["<nil>: Invalid value: \"\": \"a\" must not validate the schema (not)"],
        ),
    ];
    for (schema, value, expected) in cases {
        check(schema, value, expected);
    }
}

#[test]
fn formats_accept_and_refuse() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        (
            "date-time",
            &["2024-02-29T23:59:59Z", "2024-01-01t00:00:00.5+01:00"],
            &["2024-02-30T00:00:00Z", "2024-01-01", "x"],
        ),
        ("date", &["2024-02-29"], &["2023-02-29", "2024-2-1", "20240201"]),
        (
            "duration",
            &["1h30m", "-1.5s", "0", "3 days", "2 weeks"],
            &["", "x", "5"],
        ),
        ("byte", &["aGVsbG8="], &["", "a", "!!!!"]),
        (
            "uuid",
            &[
                "123e4567-e89b-12d3-a456-426614174000",
                "123E4567E89B12D3A456426614174000",
            ],
            &["123e4567", "g"],
        ),
        (
            "uuid4",
            &["123e4567-e89b-42d3-a456-426614174000"],
            &["123e4567-e89b-12d3-a456-426614174000"],
        ),
        (
            "ipv4",
            &["10.0.0.1", "10.000.0.01"],
            &["10.0.0", "10.0.0.256", "::1"],
        ),
        ("ipv6", &["::1", "fe80::1"], &["10.0.0.1", ":::"]),
        (
            "cidr",
            &["10.0.0.0/8", "::/0"],
            &["10.0.0.0", "10.0.0.0/33", "x/8"],
        ),
        ("email", &["a@b.c", "A B <a@b>"], &["a", "a@", "@b"]),
        (
            "hostname",
            &["a", "a.example.com", "1a.example"],
            &["-a", "a_b", ""],
        ),
        (
            "uri",
            &["https://a.b/c?d", "/path", "urn:x:y"],
            &["", "a.b", "http://a b/", "//%zz"],
        ),
        (
            "mac",
            &["01:23:45:67:89:ab", "0123.4567.89ab"],
            &["01:23", "zz:23:45:67:89:ab"],
        ),
        ("k8s-short-name", &["a-b"], &["A", "-a", "a.b"]),
        ("k8s-long-name", &["a-b.c"], &["a..b", "a."]),
        ("isbn", &["0-321-75104-3", "978-0-321-75104-1"], &["1234567890"]),
        ("creditcard", &["4111 1111 1111 1111"], &["4111111111111112"]),
        ("hexcolor", &["#fff", "00FF00"], &["#ff"]),
        ("rgbcolor", &["rgb(0, 10,255)"], &["rgb(0,0,256)"]),
    ];
    for (name, good, bad) in cases {
        let format = Format::parse(name, None).unwrap();
        for text in *good {
            assert!(format.accepts(text), "{name} should accept {text:?}");
        }
        for text in *bad {
            assert!(!format.accepts(text), "{name} should refuse {text:?}");
        }
    }
}

#[test]
fn sets_and_map_lists_hold_each_item_once() {
    let schema = Structural::parse(&json!({"type": "object", "properties": {
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "l"], "items": {"type": "object"}},
    }}))
    .unwrap();
    let value =
        json!({"set": ["a", "b", "a", "a"], "map": [{"k": 1}, {"k": 1, "l": 2}, {"k": 1, "x": 3}, null]});
    assert_eq!(
        lines(&validate_list_types(&value, &schema, &Path::root())),
        [
            "map[2]: Duplicate value: {\"k\":1}",
            "set[2]: Duplicate value: \"a\""
        ]
    );
}

#[test]
fn unchanged_parts_are_let_pass_on_updates() {
    let item = json!({"type": "object", "required": ["v"], "properties": {"k": {"type": "string"}, "v": {"type": "string", "maxLength": 1}}});
    let schema = Structural::parse(&json!({"type": "object", "properties": {
        "a": {"type": "string", "maxLength": 1},
        "b": {"type": "object", "required": ["x"], "properties": {"y": {"type": "string"}}},
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": item},
        "list": {"type": "array", "items": item},
    }}))
    .unwrap();
    let old = json!({"a": "long", "b": {"y": "1"}, "map": [{"k": "1", "v": "long"}, {"k": "2"}], "list": [{"k": "1", "v": "long"}]});
    let update = |new: &Value| lines(&validate_update(new, &old, &schema, &Path::root()));

    let cases: &[(&str, Value, &[&str])] = &[
        ("nothing changed", old.clone(), &[]),
        (
            "another field changed",
            json!({"a": "long", "b": {"y": "1"}, "map": [], "list": []}),
            &[],
        ),
        (
            "the field itself changed",
            json!({"a": "longer"}),
            &["a: Too long: may not be more than 1 byte"],
        ),
        (
            "a changed parent still requires",
            json!({"b": {"y": "2"}}),
            &["b.x: Required value"],
        ),
        (
            "items of map lists are matched by key",
            json!({"map": [{"k": "2"}, {"k": "0", "v": "x"}, {"k": "1", "v": "long"}]}),
            &[],
        ),
        (
            "new items of map lists are not spared",
            json!({"map": [{"k": "3"}]}),
            &["map[0].v: Required value"],
        ),
        (
            "items of other lists are not matched",
            json!({"list": [{"k": "1", "v": "long"}, {"k": "2", "v": "x"}]}),
            &["list[0].v: Too long: may not be more than 1 byte"],
        ),
        (
            "yet an unchanged list is spared whole",
            json!({"list": [{"k": "1", "v": "long"}]}),
            &[],
        ),
    ];
    for (name, new, expected) in cases {
        assert_eq!(update(new), *expected, "{name}");
    }
}
