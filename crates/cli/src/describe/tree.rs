//! The tree: nodes that are objects, groups of equal objects, or headings; and the rules by which a node joins it.

use capstan_api::condition::{Draft, Status};

use super::{
    item::Item,
    select::{Filter, filter_for},
};

/// What the user asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Options {
    pub(super) show_conditions: String,
    pub(super) show_machine_sets: bool,
    pub(super) show_templates: bool,
    pub(super) echo: bool,
    pub(super) grouping: bool,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// An object.
    Object,
    /// A heading, such as `Workers`.
    Heading,
    /// Several objects that say the same; their names, sorted.
    Group(Vec<String>),
}

/// A node of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) what: What,
    pub(super) item: Item,
    /// Which of its conditions are shown one by one.
    pub(super) filter: Filter,
    /// Whether children that say the same become one group.
    pub(super) is_grouping: bool,
    /// Siblings with a higher number come first.
    pub(super) order: i32,
    pub(super) children: Vec<Node>,
}

impl Node {
    /// An object.
    pub(super) fn object(item: Item, options: &Options) -> Self {
        let filter = filter_for(&item, &options.show_conditions);
        Self {
            what: What::Object,
            item,
            filter,
            is_grouping: false,
            order: 0,
            children: Vec::new(),
        }
    }

    /// A heading.
    pub(super) fn heading(kind: &str, name: &str, options: &Options) -> Self {
        let item = Item::reference(kind, "", name);
        Self {
            what: What::Heading,
            ..Self::object(item, options)
        }
    }

    /// The same, grouping its children if the user wants that.
    #[must_use]
    pub(super) fn grouping(self, options: &Options) -> Self {
        Self {
            is_grouping: options.grouping,
            ..self
        }
    }

    /// Adds a child, or lets it join the siblings that say the same.
    pub(super) fn add(&mut self, child: Node) {
        if !self.is_grouping {
            self.children.push(child);
            return;
        }
        let same = |it: &&mut Node| it.item.kind == child.item.kind && says_the_same(&it.item, &child.item);
        match self.children.iter_mut().find(same) {
            Some(sibling) => sibling.join(child),
            None => self.children.push(child),
        }
    }

    /// Makes one group of two nodes that say the same. What is below them is not shown any more.
    fn join(&mut self, other: Node) {
        let mut names = match std::mem::replace(&mut self.what, What::Heading) {
            What::Group(names) => names,
            What::Object | What::Heading => vec![self.item.name.clone()],
        };
        names.push(other.item.name);
        names.sort();
        let counters = &mut self.item.counters;
        for (counter, one) in [
            (&mut counters.available, &other.item.counters.available),
            (&mut counters.ready, &other.item.counters.ready),
            (&mut counters.up_to_date, &other.item.counters.up_to_date),
        ] {
            let sum = |it: &str| it.parse().unwrap_or(0_u64);
            *counter = (sum(counter) + sum(one)).to_string();
        }
        counters.replicas.clear();
        let others_ready = other
            .item
            .conditions
            .iter()
            .find(|it| it.type_ == "Ready")
            .and_then(|it| it.since);
        for condition in &mut self.item.conditions {
            condition.message.clear();
            if condition.type_ == "Ready" {
                condition.since = condition.since.into_iter().chain(others_ready).min();
            }
        }
        self.what = What::Group(names);
        self.filter = Filter::None;
        self.children.clear();
    }

    /// The children in the order in which they are shown.
    pub(super) fn sorted_children(&self) -> Vec<&Node> {
        let mut sorted: Vec<_> = self.children.iter().collect();
        sorted.sort_by_cached_key(|it| (std::cmp::Reverse(it.order), it.sort_name()));
        sorted
    }

    fn sort_name(&self) -> String {
        super::render::row_name(self).render(false)
    }
}

/// Whether two objects have the same availability, readiness and up-to-dateness, and for the same reason.
fn says_the_same(one: &Item, other: &Item) -> bool {
    let gist = |it: &Item| ["Available", "Ready", "UpToDate"].map(|type_| it.condition(type_).map(gist));
    gist(one) == gist(other)
}

/// Whether a child of a machine is worth a line: not if it is ready, nor if it only repeats what the machine says.
pub(super) fn is_echo(parent: &Item, child: &Item) -> bool {
    child.is_true("Ready") || parent.condition("Ready").map(gist) == child.condition("Ready").map(gist)
}

fn gist(condition: &Draft) -> (Status, String) {
    (condition.status, condition.reason.clone())
}
