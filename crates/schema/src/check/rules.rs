//! Rules must be well-formed and compile, and look at old values only where there can be one.
//! Source: apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`.

use capstan_base::field;

use crate::{
    cel::{CompiledRule, valid_field_path},
    structural::{Level, ListType, Structural},
};

const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

pub(super) fn check(schema: &Structural, path: &field::Path, errors: &mut Vec<field::Error>) {
    visit(schema, Level::Resource, path, None, errors);
}

/// `uncorrelatable` is the list, here or above, whose items have no old values.
fn visit(
    schema: &Structural,
    level: Level,
    path: &field::Path,
    uncorrelatable: Option<&field::Path>,
    errors: &mut Vec<field::Error>,
) {
    for (name, child) in &schema.properties {
        visit(
            child,
            Level::Part,
            &path.child("properties").key(name),
            uncorrelatable,
            errors,
        );
    }
    if let Some(child) = schema.additional.schema() {
        visit(
            child,
            Level::Part,
            &path.child("additionalProperties"),
            uncorrelatable,
            errors,
        );
    }
    if let Some(items) = &schema.items {
        let here = (schema.list_type != Some(ListType::Map)).then_some(path);
        visit(
            items,
            Level::Part,
            &path.child("items"),
            uncorrelatable.or(here),
            errors,
        );
    }
    for (index, _) in schema.validations.iter().enumerate() {
        let at = path.child("x-kubernetes-validations").index(index);
        let before = errors.len();
        check_form(schema, index, &at, errors);
        if errors.len() == before {
            check_program(schema, index, level, &at, uncorrelatable, errors);
        }
    }
}

fn check_form(schema: &Structural, index: usize, at: &field::Path, errors: &mut Vec<field::Error>) {
    let rule = &schema.validations[index];
    let message = rule.message.trim();
    if rule.rule.trim().is_empty() {
        errors.push(field::Error::required(&at.child("rule"), "rule is not specified"));
    } else if !rule.message.is_empty() && message.is_empty() {
        let detail = "must be non-empty if specified";
        errors.push(field::Error::invalid(
            &at.child("message"),
            rule.message.as_str(),
            detail,
        ));
    } else if message.contains('\n') {
        let detail = "must not contain line breaks";
        errors.push(field::Error::invalid(
            &at.child("message"),
            rule.message.as_str(),
            detail,
        ));
    } else if rule.rule.trim().contains('\n') && message.is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        errors.push(field::Error::required(&at.child("message"), detail));
    }
    if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
        let detail = "messageExpression must be non-empty if specified";
        errors.push(field::Error::required(&at.child("messageExpression"), detail));
    }
    if let Some(reason) = rule.reason.as_deref().filter(|it| !REASONS.contains(it)) {
        errors.push(field::Error::not_supported(&at.child("reason"), reason, &REASONS));
    }
    if !rule.field_path.is_empty() {
        let path = rule.field_path.trim();
        let detail = if path.is_empty() {
            Some("must be non-empty if specified")
        } else if path.contains('\n') {
            Some("must not contain line breaks")
        } else if valid_field_path(path, schema, true).is_err() {
            Some("must be a valid path")
        } else {
            None
        };
        if let Some(detail) = detail {
            errors.push(field::Error::invalid(
                &at.child("fieldPath"),
                rule.field_path.as_str(),
                detail,
            ));
        }
    }
}

fn check_program(
    schema: &Structural,
    index: usize,
    level: Level,
    at: &field::Path,
    uncorrelatable: Option<&field::Path>,
    errors: &mut Vec<field::Error>,
) {
    let rule = &schema.validations[index];
    let compiled = CompiledRule::new(rule, schema, level);
    if let Some(problem) = compiled.problem() {
        errors.push(field::Error::invalid(
            &at.child("rule"),
            rule.rule.as_str(),
            problem,
        ));
    }
    if let Some(problem) = compiled.message_problem() {
        let at = at.child("messageExpression");
        errors.push(field::Error::invalid(
            &at,
            rule.message_expression.as_str(),
            problem,
        ));
    }
    if compiled.uses_old_self() {
        if let Some(list) = uncorrelatable {
            let detail =
                format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {list}");
            errors.push(field::Error::invalid(
                &at.child("rule"),
                rule.rule.as_str(),
                detail,
            ));
        }
    } else if let Some(optional) = rule.optional_old_self
        && compiled.problem().is_none()
    {
        let detail = "may not be set if oldSelf is not used in rule";
        errors.push(field::Error::invalid(
            &at.child("optionalOldSelf"),
            optional,
            detail,
        ));
    }
}
