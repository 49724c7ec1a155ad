//! One scalar: which style it takes, and how it is written and folded in that style.

use super::reading::is_read_as_string;

/// Behind this column a line is folded at its next single space.
const FOLD: usize = 80;

/// The text so far, with the column of its end, counted in characters.
#[derive(Default)]
pub(super) struct Line {
    text: String,
    column: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// Which styles the characters of a text allow.
struct Allowed {
    plain: bool,
    single: bool,
    literal: bool,
}

impl Line {
    /// Starts a new line with `indent` spaces.
    pub(super) fn begin(&mut self, indent: usize) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    /// Writes text without a line break.
    pub(super) fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.chars().count();
    }

    /// The whole text, ended by a line break.
    pub(super) fn finish(mut self) -> String {
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text
    }

    /// Writes a key: never folded, never a block.
    pub(super) fn key(&mut self, text: &str) {
        match style(text, true) {
            Style::Plain => self.put(text),
            Style::Single => self.single_quoted(text, None),
            Style::Double | Style::Literal => self.double_quoted(text, None),
        }
    }

    /// Writes a string. `indent` is where a continued line starts.
    pub(super) fn string(&mut self, text: &str, indent: usize) {
        match style(text, false) {
            Style::Plain => self.plain(text, indent),
            Style::Single => self.single_quoted(text, Some(indent)),
            Style::Double => self.double_quoted(text, Some(indent)),
            Style::Literal => self.literal(text, indent),
        }
    }

    fn plain(&mut self, text: &str, indent: usize) {
        let mut after_space = false;
        let mut rest = text.chars().peekable();
        while let Some(letter) = rest.next() {
            let folds = letter == ' ' && !after_space && self.column > FOLD && rest.peek() != Some(&' ');
            if folds {
                self.begin(indent);
            } else {
                self.put(letter.encode_utf8(&mut [0; 4]));
            }
            after_space = letter == ' ';
        }
    }

    fn single_quoted(&mut self, text: &str, indent: Option<usize>) {
        self.put("'");
        let mut after_space = false;
        let mut rest = text.char_indices().peekable();
        while let Some((place, letter)) = rest.next() {
            let next = rest.peek().map(|(_, it)| *it);
            let may_fold = letter == ' ' && !after_space && self.column > FOLD;
            let folds = may_fold && place > 0 && next.is_some_and(|it| it != ' ');
            match indent.filter(|_| folds) {
                Some(indent) => self.begin(indent),
                None if letter == '\'' => self.put("''"),
                None => self.put(letter.encode_utf8(&mut [0; 4])),
            }
            after_space = letter == ' ';
        }
        self.put("'");
    }

    fn double_quoted(&mut self, text: &str, indent: Option<usize>) {
        self.put("\"");
        let mut after_space = false;
        let mut rest = text.char_indices().peekable();
        while let Some((place, letter)) = rest.next() {
            let next = rest.peek().map(|(_, it)| *it);
            if let Some(escape) = escape(letter) {
                self.put(&escape);
                after_space = false;
                continue;
            }
            let folds = letter == ' ' && !after_space && self.column > FOLD && place > 0 && next.is_some();
            match indent.filter(|_| folds) {
                Some(indent) => {
                    self.begin(indent);
                    if next == Some(' ') {
                        self.put("\\");
                    }
                }
                None => self.put(letter.encode_utf8(&mut [0; 4])),
            }
            after_space = letter == ' ';
        }
        self.put("\"");
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.put("|");
        if text.starts_with([' ', '\n']) {
            self.put("2");
        }
        if !text.ends_with('\n') {
            self.put("-");
        } else if text == "\n" || text.ends_with("\n\n") {
            self.put("+");
        }
        self.text.push('\n');
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            if line.is_empty() {
                self.text.push('\n');
            } else {
                self.begin(indent);
                self.put(line);
                self.text.push('\n');
            }
        }
    }
}

fn style(text: &str, is_key: bool) -> Style {
    let allowed = allowed(text);
    let wanted = if text.contains('\n') {
        Style::Literal
    } else if is_read_as_string(text) {
        Style::Plain
    } else {
        Style::Double
    };
    let wanted = if is_key && text.contains(is_break) {
        Style::Double
    } else {
        wanted
    };
    let wanted = if wanted == Style::Plain && !allowed.plain {
        Style::Single
    } else {
        wanted
    };
    match wanted {
        Style::Single if !allowed.single => Style::Double,
        Style::Literal if !allowed.literal || is_key => Style::Double,
        fitting => fitting,
    }
}

fn allowed(text: &str) -> Allowed {
    let mut indicators = text.starts_with("---") || text.starts_with("...");
    let mut special = false;
    let mut space_before_break = false;
    let mut break_before_space = false;
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        let blank_follows = rest.peek().is_none_or(|it| matches!(it, ' ' | '\t'));
        indicators |= match (before, letter) {
            (
                None,
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
                | '`',
            )
            | (Some(' ' | '\t' | '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}'), '#') => true,
            (None, '?' | '-') | (_, ':') => blank_follows,
            _ => false,
        };
        special |= !is_printable(letter);
        space_before_break |= before == Some(' ') && is_break(letter);
        break_before_space |= letter == ' ' && before.is_some_and(is_break);
        before = Some(letter);
    }
    let several_lines = text.contains(is_break);
    let ragged = text.starts_with([' ', '\n'])
        || text.starts_with(is_break)
        || text.ends_with(' ')
        || text.ends_with(is_break);
    let escaped = space_before_break || special;
    Allowed {
        plain: !(indicators || ragged || several_lines || break_before_space || escaped),
        single: !(several_lines || escaped),
        literal: !(text.is_empty() || text.ends_with(' ') || escaped),
    }
}

fn is_break(letter: char) -> bool {
    matches!(letter, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_printable(letter: char) -> bool {
    matches!(letter, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// How a character stands in double quotes, if not as itself.
fn escape(letter: char) -> Option<String> {
    if is_printable(letter) && !is_break(letter) && !matches!(letter, '"' | '\\') {
        return None;
    }
    let short = match letter {
        '\0' => "\\0",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\t' => "\\t",
        '\n' => "\\n",
        '\u{b}' => "\\v",
        '\u{c}' => "\\f",
        '\r' => "\\r",
        '\u{1b}' => "\\e",
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{85}' => "\\N",
        '\u{2028}' => "\\L",
        '\u{2029}' => "\\P",
        other => {
            let code = u32::from(other);
            return Some(match code {
                0..=0xff => format!("\\x{code:02X}"),
                0x100..=0xffff => format!("\\u{code:04X}"),
                _ => format!("\\U{code:08X}"),
            });
        }
    };
    Some(short.to_owned())
}
