//! Text with colours, tables of it, and a part of the terminal that is drawn again and again.

use std::io::{self, IsTerminal, Write};

/// A colour or weight of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Style {
    /// As the terminal has it.
    #[default]
    Plain,
    /// Heavier.
    Bold,
    /// Lines and hints.
    Gray,
    /// Bad.
    Red,
    /// Good.
    Green,
    /// Unknown.
    Yellow,
    /// Names of conditions.
    Cyan,
}

impl Style {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Bold => Some("1"),
            Self::Gray => Some("90"),
            Self::Red => Some("31"),
            Self::Green => Some("32"),
            Self::Yellow => Some("33"),
            Self::Cyan => Some("36"),
        }
    }
}

/// A line of text in pieces of one style each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Text(Vec<(Style, String)>);

impl Text {
    /// A text of one style.
    pub(crate) fn new(style: Style, text: impl Into<String>) -> Self {
        Self::default().and(style, text)
    }

    /// This text and another piece.
    #[must_use]
    pub(crate) fn and(mut self, style: Style, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.0.push((style, text));
        }
        self
    }

    /// This text and all pieces of another.
    #[must_use]
    pub(crate) fn join(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// How many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.chars().count()).sum()
    }

    /// The text, with escape sequences if `colors`.
    pub(crate) fn render(&self, colors: bool) -> String {
        let piece = |(style, text): &(Style, String)| match style.code().filter(|_| colors) {
            Some(code) => format!("\x1b[{code}m{text}\x1b[0m"),
            None => text.clone(),
        };
        self.0.iter().map(piece).collect()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(Style::Plain, text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::new(Style::Plain, text)
    }
}

/// Rows as a table: columns as wide as their widest cell, two columns apart. Nothing trails.
pub(crate) fn table(headings: &[&str], rows: &[Vec<Text>], colors: bool) -> String {
    let headings: Vec<Text> = headings.iter().map(|it| Text::from(*it)).collect();
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let widths: Vec<usize> = headings
        .iter()
        .enumerate()
        .map(|(column, heading)| {
            let widest = cells(column).map(Text::width).max().unwrap_or(0);
            // Headings may come closer to each other than cells.
            (heading.width() + 1).max(widest + 2)
        })
        .collect();
    let mut text = String::new();
    for row in std::iter::once(&headings).chain(rows) {
        let last = row.iter().rposition(|it| it.width() > 0);
        for (cell, width) in row.iter().zip(&widths).take(last.map_or(0, |it| it + 1)) {
            text.push_str(&cell.render(colors));
            text.extend(std::iter::repeat_n(' ', width - cell.width()));
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    text
}

/// Whether colours belong on standard output. `NO_COLOR` wins over everything, as its convention asks.
pub(crate) fn colors(told: Option<bool>) -> bool {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
    !forbidden && told.unwrap_or_else(|| io::stdout().is_terminal())
}

/// Some lines of the terminal that are drawn again in place.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    lines: usize,
}

impl Screen {
    /// Draws the lines over the last ones. Each must fit the terminal's width, else it would take two.
    pub(crate) fn draw(&mut self, out: &mut dyn Write, lines: &[String]) -> io::Result<()> {
        if self.lines > 0 {
            // To the first column of the first line, and clear everything below.
            write!(out, "\x1b[{}F\x1b[J", self.lines)?;
        }
        for line in lines {
            writeln!(out, "{line}")?;
        }
        self.lines = lines.len();
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [
            vec!["a".into(), "".into(), "x".into()],
            vec!["longer than".into(), "True".into()],
        ];
        expect![[r"
            NAME         READY MESSAGE
            a                  x
            longer than  True
        "]]
        .assert_eq(&table(&["NAME", "READY", "MESSAGE"], &rows, false));
    }

    #[test]
    fn escape_sequences_take_no_columns() {
        let rows = [
            vec![Text::new(Style::Red, "No"), "x".into()],
            vec!["Maybe".into(), "y".into()],
        ];
        let text = table(&["A", "B"], &rows, true);
        assert_eq!(text, "A      B\n\x1b[31mNo\x1b[0m     x\nMaybe  y\n");
    }

    #[test]
    fn the_screen_draws_over_what_it_drew() {
        let mut out = Vec::new();
        let mut screen = Screen::default();
        screen
            .draw(&mut out, &["one".to_owned(), "two".to_owned()])
            .unwrap();
        screen.draw(&mut out, &["three".to_owned()]).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "one\ntwo\n\x1b[2F\x1b[Jthree\n");
    }
}
