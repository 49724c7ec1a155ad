//! Which parts of a variable an expression looks at, so that only those are converted for it.

use std::collections::BTreeMap;

use kube_cel::cel::common::ast::{Expr, IdedExpr, LiteralValue, operators};

/// The parts of a value that are looked at: all of it, or some of its fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// The value is used as a whole.
    pub(super) whole: bool,
    /// Fields that are looked at, by the names the expression uses: escaped where it selects them.
    pub(super) fields: BTreeMap<String, Usage>,
}

/// What an expression says about its variables.
#[derive(Debug, Default)]
pub(super) struct References {
    /// `self`.
    pub(super) value: Usage,
    /// `oldSelf`, if it is mentioned.
    pub(super) old: Option<Usage>,
    /// Variables that are neither those nor bound by a macro.
    pub(super) unknown: Vec<String>,
}

impl References {
    pub(super) fn of(expression: &IdedExpr) -> Self {
        let mut found = Self::default();
        found.visit(expression, &mut Vec::new());
        found
    }

    fn usage(&mut self, chain: &Chain<'_>) -> Option<&mut Usage> {
        let root = match chain.root {
            "self" => &mut self.value,
            "oldSelf" => self.old.get_or_insert_default(),
            _ => return None,
        };
        Some(chain.names.iter().fold(root, |usage, name| {
            usage.fields.entry((*name).to_owned()).or_default()
        }))
    }

    fn visit(&mut self, expression: &IdedExpr, bound: &mut Vec<String>) {
        if let Some(chain) = Chain::of(expression) {
            if !bound.iter().any(|name| name == chain.root) {
                // A test for presence does not look into the field.
                let whole = !matches!(&expression.expr, Expr::Select(select) if select.test);
                match self.usage(&chain) {
                    Some(usage) => usage.whole |= whole,
                    None => self.unknown.push(chain.root.to_owned()),
                }
            }
            return;
        }
        match &expression.expr {
            Expr::Call(call) => {
                // `math.abs(x)` is a function of that name, not a method of a variable.
                if let Some(target) = &call.target
                    && !is_namespace(target, &call.func_name)
                {
                    self.visit(target, bound);
                }
                call.args.iter().for_each(|argument| self.visit(argument, bound));
            }
            Expr::Comprehension(comprehension) => {
                self.visit(&comprehension.iter_range, bound);
                self.visit(&comprehension.accu_init, bound);
                let length = bound.len();
                bound.push(comprehension.accu_var.clone());
                bound.push(comprehension.iter_var.clone());
                bound.extend(comprehension.iter_var2.clone());
                for part in [
                    &comprehension.loop_cond,
                    &comprehension.loop_step,
                    &comprehension.result,
                ] {
                    self.visit(part, bound);
                }
                bound.truncate(length);
            }
            Expr::List(list) => list
                .elements
                .iter()
                .for_each(|element| self.visit(element, bound)),
            Expr::Map(map) => {
                for entry in &map.entries {
                    if let kube_cel::cel::common::ast::EntryExpr::MapEntry(entry) = &entry.expr {
                        self.visit(&entry.key, bound);
                        self.visit(&entry.value, bound);
                    }
                }
            }
            Expr::Select(select) => self.visit(&select.operand, bound),
            Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) | Expr::Unspecified => {}
        }
    }
}

fn is_namespace(target: &IdedExpr, function: &str) -> bool {
    matches!(&target.expr, Expr::Ident(name) if super::functions::is_known(&format!("{name}.{function}")))
}

/// A variable and the constant names by which an expression goes down from it: `self.a['b'].?c`.
struct Chain<'a> {
    root: &'a str,
    names: Vec<&'a str>,
}

impl<'a> Chain<'a> {
    fn of(expression: &'a IdedExpr) -> Option<Self> {
        match &expression.expr {
            Expr::Ident(name) => Some(Self {
                root: name,
                names: Vec::new(),
            }),
            Expr::Select(select) => {
                let mut chain = Self::of(&select.operand)?;
                chain.names.push(&select.field);
                Some(chain)
            }
            Expr::Call(call) if call.target.is_none() && call.args.len() == 2 => {
                if ![operators::INDEX, operators::OPT_INDEX, operators::OPT_SELECT]
                    .contains(&call.func_name.as_str())
                {
                    return None;
                }
                let Expr::Literal(LiteralValue::String(name)) = &call.args[1].expr else {
                    return None;
                };
                let mut chain = Self::of(&call.args[0])?;
                chain.names.push(name.inner());
                Some(chain)
            }
            _ => None,
        }
    }
}
