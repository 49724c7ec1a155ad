//! Which objects show all their conditions: the language of `--show-conditions`.

use super::item::Item;

/// Which conditions of an object are shown one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    /// None; one speaks for all.
    None,
    /// All.
    All,
    /// Those that say something: not in their good state, or with a message.
    Telling,
}

/// What `list` (of `KIND`, `KIND/NAME` or `all`, each perhaps with a `+` behind it) says about an object. The first entry
/// that is about the object decides.
pub(super) fn filter_for(item: &Item, list: &str) -> Filter {
    for entry in list.split(',').filter(|it| !it.is_empty()) {
        let (subject, filter) = match entry.strip_suffix('+') {
            Some(subject) => (subject, Filter::Telling),
            None => (entry, Filter::All),
        };
        let is_meant = match subject.split_once('/') {
            Some((kind, name)) => {
                item.kind.eq_ignore_ascii_case(kind) && item.name.eq_ignore_ascii_case(name)
            }
            None => subject.eq_ignore_ascii_case("all") || item.kind.eq_ignore_ascii_case(subject),
        };
        if is_meant {
            return filter;
        }
    }
    Filter::None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_shown_where_they_are_asked_for() {
        let item = Item::reference("Machine", "default", "m1");
        for (list, expected) in [
            ("", Filter::None),
            ("all", Filter::All),
            ("ALL+", Filter::Telling),
            ("machine", Filter::All),
            ("Machine+", Filter::Telling),
            ("Machine/m1", Filter::All),
            ("Machine/m1+", Filter::Telling),
            ("Machine/m2", Filter::None),
            ("Machine/m2,machine/M1", Filter::All),
            ("Cluster,,Machine", Filter::All),
            ("Machine/m1/x", Filter::None),
        ] {
            assert_eq!(filter_for(&item, list), expected, "{list}");
        }
    }
}
