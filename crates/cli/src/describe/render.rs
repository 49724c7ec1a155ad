//! From the tree to text. Pure.
//!
//! Parity: upstream internal/util/tree/tree.go: columns, prefixes, names, colours and wrapping.

use capstan_api::condition::{Draft, Status};
use capstan_base::Timestamp;
use capstan_schema::jsonpath::human_duration;

use super::{
    item::Counters,
    select::Filter,
    tree::{Node, What},
};
use crate::terminal::{Style, Text, table};

const HEADINGS: [&str; 9] = [
    "NAME",
    "REPLICAS",
    "AVAILABLE",
    "READY",
    "UP TO DATE",
    "STATUS",
    "REASON",
    "SINCE",
    "MESSAGE",
];
/// Before a child that others follow.
const BRANCH: &str = "├─";
/// Before the last child.
const LAST_BRANCH: &str = "└─";
/// Below a branch.
const PIPE: &str = "│ ";
/// Below a last branch.
const BLANK: &str = "  ";
/// Conditions stand this far right of the children of their object.
const CONDITION_INDENT: &str = "          ";
/// Messages are wrapped at this width.
const MESSAGE_WIDTH: usize = 100;
/// Conditions whose good state is `False`.
const NEGATIVE: [&str; 7] = [
    "Paused",
    "Deleting",
    "RollingOut",
    "ScalingUp",
    "ScalingDown",
    "Updating",
    "Remediating",
];

/// The tree as a table; `now` tells how old conditions are.
pub(super) fn render(root: &Node, now: Timestamp, colors: bool) -> String {
    let mut printer = Printer {
        now,
        rows: Vec::new(),
    };
    printer.node(root, &Prefix::default());
    table(&HEADINGS, &printer.rows, colors)
}

/// The name in the first column.
pub(super) fn row_name(node: &Node) -> Text {
    let item = &node.item;
    match &node.what {
        What::Group(names) => Text::new(Style::Bold, format!("{} {}...", names.len(), plural(&item.kind))),
        What::Heading => item.name.as_str().into(),
        What::Object => {
            let mut text = Text::default();
            if item.is_deleted {
                text = text.and(Style::Red, "!! DELETED !!").and(Style::Plain, " ");
            }
            let name = if item.namespace.is_empty() {
                item.name.clone()
            } else {
                format!("{}/{}", item.namespace, item.name)
            };
            text = text
                .and(Style::Plain, format!("{} ", item.kind))
                .and(Style::Bold, name);
            match &item.version {
                Some(version) => text.and(Style::Plain, format!(", {version}")),
                None => text,
            }
        }
    }
}

/// The plural of a kind, in camel case.
fn plural(kind: &str) -> String {
    let plural = capstan_api::contract::plural(kind);
    let same = kind
        .chars()
        .zip(plural.chars())
        .take_while(|(one, other)| one.eq_ignore_ascii_case(other))
        .count();
    kind.chars().take(same).chain(plural.chars().skip(same)).collect()
}

/// What stands before a name: the lines of the ancestors, and the node's own branch.
#[derive(Debug, Clone, Default)]
struct Prefix {
    above: String,
    branch: &'static str,
}

impl Prefix {
    /// Before the name.
    fn own(&self) -> String {
        format!("{}{}", self.above, self.branch)
    }

    /// Before whatever is below the name.
    fn below(&self) -> String {
        let carried = match self.branch {
            BRANCH => PIPE,
            LAST_BRANCH => BLANK,
            _ => "",
        };
        format!("{}{carried}", self.above)
    }

    fn child(&self, is_last: bool) -> Self {
        Self {
            above: self.below(),
            branch: if is_last { LAST_BRANCH } else { BRANCH },
        }
    }
}

struct Printer {
    now: Timestamp,
    rows: Vec<Vec<Text>>,
}

impl Printer {
    fn node(&mut self, node: &Node, prefix: &Prefix) {
        let children = node.sorted_children();
        let shows_conditions = node.filter != Filter::None;
        let condition = node
            .item
            .headline
            .filter(|_| !shows_conditions)
            .and_then(|it| node.item.condition(it));
        let mut told = condition.map_or_else(Told::default, |it| self.told(it));
        if let What::Group(names) = &node.what {
            let more = if names.len() > 2 { ", ..." } else { "" };
            let first = names[..names.len().min(2)].join(", ");
            told.message = vec![Text::new(Style::Gray, format!("See {first}{more}"))];
        }
        let name = Text::new(Style::Gray, prefix.own()).join(row_name(node));
        let pipe = if children.is_empty() { "" } else { PIPE };
        self.told_rows(
            name,
            &node.item.counters,
            told,
            &format!("{}{pipe}", prefix.below()),
        );
        if shows_conditions {
            self.conditions(node, prefix, !children.is_empty());
        }
        let last = children.len().saturating_sub(1);
        for (index, child) in children.into_iter().enumerate() {
            self.node(child, &prefix.child(index == last));
        }
    }

    fn conditions(&mut self, node: &Node, prefix: &Prefix, has_children: bool) {
        let shown = |it: &&Draft| node.filter == Filter::All || is_telling(it);
        let conditions: Vec<&Draft> = node.item.conditions.iter().filter(shown).collect();
        let lead = if has_children { PIPE } else { BLANK };
        let above = format!("{}{lead}{CONDITION_INDENT}", prefix.below());
        for (index, condition) in conditions.iter().enumerate() {
            let is_last = index + 1 == conditions.len();
            let prefix = Prefix {
                above: above.clone(),
                branch: if is_last { LAST_BRANCH } else { BRANCH },
            };
            let name = Text::new(Style::Gray, prefix.own()).and(Style::Cyan, condition.type_.as_str());
            let told = self.told(condition);
            self.told_rows(name, &Counters::default(), told, &prefix.below());
        }
    }

    /// A row, and one more for each further line of the message.
    fn told_rows(&mut self, name: Text, counters: &Counters, told: Told, below: &str) {
        let mut lines = told.message.into_iter();
        let text = |it: &String| Text::from(it.as_str());
        self.rows.push(vec![
            name,
            text(&counters.replicas),
            text(&counters.available),
            text(&counters.ready),
            text(&counters.up_to_date),
            told.status,
            told.reason.into(),
            told.since.into(),
            lines.next().unwrap_or_default(),
        ]);
        for line in lines {
            let mut row = vec![Text::default(); HEADINGS.len()];
            row[0] = Text::new(Style::Gray, below);
            row[HEADINGS.len() - 1] = line;
            self.rows.push(row);
        }
    }

    fn told(&self, condition: &Draft) -> Told {
        let good = if is_negative(condition) {
            Status::False
        } else {
            Status::True
        };
        let style = match condition.status {
            Status::Unknown => Style::Yellow,
            status if status == good => Style::Green,
            _ => Style::Red,
        };
        Told {
            status: Text::new(style, condition.status.as_str()),
            reason: condition.reason.clone(),
            since: condition.since.map_or_else(String::new, |it| {
                human_duration(self.now.as_second() - it.as_second())
            }),
            message: wrap(&condition.message, MESSAGE_WIDTH)
                .into_iter()
                .map(Text::from)
                .collect(),
        }
    }
}

/// What a condition says, ready for the table.
#[derive(Debug, Default)]
struct Told {
    status: Text,
    reason: String,
    since: String,
    message: Vec<Text>,
}

fn is_negative(condition: &Draft) -> bool {
    NEGATIVE.contains(&condition.type_.as_str())
}

/// Whether a condition says something: it speaks for the whole object, is not in its good state, or has a message.
fn is_telling(condition: &Draft) -> bool {
    let good = if is_negative(condition) {
        Status::False
    } else {
        Status::True
    };
    matches!(condition.type_.as_str(), "Available" | "Ready")
        || condition.status != good
        || !condition.message.is_empty()
}

/// Breaks a text into lines of less than `width` characters, at spaces. Lines that are there stay; what is broken off a
/// list item is indented below its text.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let margin: String = line.chars().take_while(|it| *it == ' ').collect();
        let hanging = if line.trim_start().starts_with("* ") {
            format!("{margin}  ")
        } else {
            margin.clone()
        };
        let mut current = margin;
        for word in line.split_whitespace() {
            if current.chars().count() + word.chars().count() >= width && !current.trim().is_empty() {
                lines.push(std::mem::replace(&mut current, format!("{hanging}{word}")));
                continue;
            }
            if !current.trim().is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
    }
    lines
}
