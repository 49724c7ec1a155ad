//! Quoting of commands: Go's `%q`, which YAML's double quotes read back.

use std::fmt::Write as _;

/// The text in double quotes, with everything unprintable escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            ' '..='~' => out.push(letter),
            '\0'..='\u{1f}' | '\u{7f}' => escape(&mut out, 'x', 2, letter),
            _ if is_printable(letter) => out.push(letter),
            '\0'..='\u{ffff}' => escape(&mut out, 'u', 4, letter),
            _ => escape(&mut out, 'U', 8, letter),
        }
    }
    out.push('"');
    out
}

fn escape(out: &mut String, kind: char, width: usize, letter: char) {
    let code = u32::from(letter);
    write!(out, "\\{kind}{code:0width$x}").expect("invariant: writing to a string succeeds");
}

/// Letters, marks, numbers, punctuation and symbols. The standard library knows them, but tells only by escaping the
/// others; a letter in front keeps it from escaping combining marks as well.
fn is_printable(letter: char) -> bool {
    let probe: String = ['x', letter].iter().collect();
    probe.escape_debug().nth(1) == Some(letter)
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn commands_are_quoted_as_go_quotes() {
        let table = [
            ("echo $(date) 'x'", r#""echo $(date) 'x'""#),
            ("say \"hi\\\"", r#""say \"hi\\\"""#),
            ("a\tb\nc", r#""a\tb\nc""#),
            ("\u{1b}[0m\u{7f}", r#""\x1b[0m\x7f""#),
            ("grüße e\u{301} 東 😀", "\"grüße e\u{301} 東 😀\""),
            ("\u{a0}\u{200b}\u{e0001}", r#""\u00a0\u200b\U000e0001""#),
        ];
        for (text, expected) in table {
            assert_eq!(quoted(text), expected);
        }
    }
}
