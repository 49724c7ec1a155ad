//! Defaults must be values that their own schema accepts, with nothing that would be pruned.
//! Source: apiextensions-apiserver `pkg/apiserver/schema/defaulting/validation.go`.

use capstan_base::field;

use crate::{
    cel::Validator,
    metadata::{Malformed, coerce, validate_embedded},
    prune::prune,
    structural::{Level, Structural, is_meta_field},
    validate::validate,
};

pub(super) fn check(schema: &Structural, path: &field::Path, errors: &mut Vec<field::Error>) {
    visit(schema, path, true, errors);
}

fn visit(schema: &Structural, path: &field::Path, is_root: bool, errors: &mut Vec<field::Error>) {
    check_default(schema, path, errors);
    if let Some(items) = &schema.items {
        visit(items, &path.child("items"), false, errors);
    }
    for (name, child) in &schema.properties {
        let at = path.child("properties").key(name);
        if is_meta_field(name) && (is_root || schema.embedded_resource) {
            // What is in metadata is checked by value alone; its shape is fixed and not the schema's.
            metadata_defaults(child, &at, errors);
        } else {
            visit(child, &at, false, errors);
        }
    }
}

fn metadata_defaults(schema: &Structural, path: &field::Path, errors: &mut Vec<field::Error>) {
    if let Some(default) = &schema.default {
        errors.extend(validate(default, schema, &path.child("default")));
    }
    for (name, child) in &schema.properties {
        metadata_defaults(child, &path.child("properties").key(name), errors);
    }
}

fn check_default(schema: &Structural, path: &field::Path, errors: &mut Vec<field::Error>) {
    let Some(default) = &schema.default else { return };
    let at = path.child("default");
    let mut pruned = default.clone();
    prune(&mut pruned, schema, Level::Part);
    if pruned != *default {
        errors.push(field::Error::invalid(
            &at,
            default.clone(),
            "must not have unknown fields",
        ));
    }
    if let Err(mut error) = coerce(&mut pruned, schema, Level::Part, Malformed::Reject) {
        error.path = field::Path::new(format!("{at}.{}", error.path));
        errors.push(error);
        return;
    }
    let embedded = validate_embedded(&pruned, schema, Level::Part, &at);
    if !embedded.is_empty() {
        errors.extend(embedded);
        return;
    }
    let found = validate(default, schema, &at);
    if !found.is_empty() {
        errors.extend(found);
        return;
    }
    let rules = Validator::compile(schema, Level::Part);
    let unchanged = rules.validate(default, Some(default), schema, &at);
    if unchanged.errors.is_empty() && unchanged.warnings.is_empty() {
        errors.extend(rules.validate(default, None, schema, &at).errors);
    } else {
        errors.extend(rules.validate(default, None, schema, &at).errors);
        errors.extend(unchanged.errors);
    }
}
