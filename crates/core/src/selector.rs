//! Label selectors as these controllers read them: one that is empty or malformed selects nothing.

use capstan_api::{LabelSelector, selector::Selector};

/// The selector; none if it is empty or malformed.
pub(crate) fn parse(selector: &LabelSelector) -> Option<Selector> {
    Selector::new(selector).ok().filter(|it| !it.is_empty())
}

/// The selector in its text form, as the scale subresource shows it; none if it selects nothing.
pub(crate) fn text(selector: &LabelSelector) -> Option<String> {
    parse(selector).map(|it| it.to_string())
}
