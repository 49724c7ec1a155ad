//! Messages inside messages: what has several lines or bullets goes to lines of its own, indented.

/// ` message` for a plain line; otherwise a new line and the message's lines, indented by two. If any of its lines has
/// no bullet, those lines get one and lines with a bullet go one step further in.
// Parity: cluster-api util/conditions/merge_strategies.go:indentIfMultiline
pub(super) fn indented(message: &str) -> String {
    if !message.contains('\n') && !has_bullet(message) {
        return format!(" {message}");
    }
    let some_without_bullet = message.split('\n').any(|line| !has_bullet(line));
    let mut text = String::new();
    for line in message.split('\n') {
        let prefix = match (some_without_bullet, has_bullet(line)) {
            (true, false) => "  * ",
            (true, true) => "    ",
            (false, _) => "  ",
        };
        text.push('\n');
        text.push_str(prefix);
        text.push_str(line);
    }
    text
}

/// Whether a star that white space follows stands anywhere in `text`.
fn has_bullet(text: &str) -> bool {
    text.split('*')
        .skip(1)
        .any(|after| after.starts_with([' ', '\t', '\n', '\r', '\u{c}']))
}

#[cfg(test)]
mod tests {
    use super::indented;

    #[test]
    fn lines_are_indented_as_upstream_does() {
        for (message, text) in [
            ("plain", " plain"),
            ("", " "),
            ("2*3", " 2*3"),
            ("* one", "\n  * one"),
            ("* one\n* two", "\n  * one\n  * two"),
            ("head\n* one", "\n  * head\n    * one"),
            ("a\nb", "\n  * a\n  * b"),
        ] {
            assert_eq!(indented(message), text, "{message:?}");
        }
    }
}
