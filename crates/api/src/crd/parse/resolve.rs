//! Resolves the names of declarations across files and builds schemas.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    Fault, ParseError,
    expression::{Base, Expression, Modifier},
    lines,
    schema::{self, Declaration, FieldDeclaration, File},
};
use crate::crd::model::{Bounds, Field, IntegerFormat, ListKind, Schema, Shape, TextFormat};

/// All parsed files, by path.
#[derive(Default)]
pub(super) struct Files {
    files: BTreeMap<String, File>,
    /// Types that are built already, by path and name, so that schemas share them.
    built: RefCell<BTreeMap<(String, String), Arc<Schema>>>,
}

/// Where a name is looked up, and which types are being built.
struct Scope<'a> {
    path: &'a str,
    building: Vec<(String, String)>,
}

impl Files {
    /// Parses a file and keeps it.
    pub(super) fn add(&mut self, path: &str, text: &str) -> Result<(), ParseError> {
        let file = lines::blocks(text)
            .and_then(|blocks| schema::file(&blocks))
            .map_err(|fault| fault.in_file(path))?;
        if path.strip_suffix(".types").is_some() && !file.fields.is_empty() {
            return Err(
                Fault::new(file.fields[0].declaration.line, "a types file has no fields").in_file(path),
            );
        }
        self.files.insert(path.to_owned(), file);
        Ok(())
    }

    /// Builds the schema in this file.
    pub(super) fn schema(&self, path: &str) -> Result<Arc<Schema>, ParseError> {
        let file = self
            .files
            .get(path)
            .ok_or_else(|| Fault::new(0, "the schema file is missing").in_file(path))?;
        let mut scope = Scope {
            path,
            building: Vec::new(),
        };
        let fields = self.fields(&file.fields, &mut scope)?;
        let shape = Shape::Object {
            fields,
            properties: Bounds::default(),
            atomic: false,
            open: false,
        };
        Ok(Arc::new(Schema::of(shape)))
    }

    fn fields(&self, declared: &[FieldDeclaration], scope: &mut Scope<'_>) -> Result<Vec<Field>, ParseError> {
        let mut names = BTreeSet::new();
        declared
            .iter()
            .map(|field| {
                if !names.insert(&field.name) {
                    let message = format!("field {} is declared twice", field.name);
                    return Err(Fault::new(field.declaration.line, message).in_file(scope.path));
                }
                Ok(Field {
                    name: field.name.clone(),
                    required: field.required,
                    schema: self.declaration(&field.declaration, scope)?,
                    description: field.declaration.description.clone(),
                })
            })
            .collect()
    }

    fn declaration(&self, declared: &Declaration, scope: &mut Scope<'_>) -> Result<Arc<Schema>, ParseError> {
        let fields = self.fields(&declared.fields, scope)?;
        let path = scope.path;
        let mut remaining = Below {
            fields,
            item_rules: declared.item_rules.clone(),
        };
        let mut schema = self.expression(&declared.expression, &mut remaining, declared.line, scope)?;
        if !remaining.fields.is_empty() {
            return Err(Fault::new(declared.line, "only objects have fields below them").in_file(path));
        }
        if !remaining.item_rules.is_empty() {
            return Err(
                Fault::new(declared.line, "only lists and maps have rules for each item").in_file(path),
            );
        }
        if !declared.rules.is_empty() {
            Arc::make_mut(&mut schema)
                .rules
                .extend(declared.rules.iter().cloned());
        }
        Ok(schema)
    }

    fn expression(
        &self,
        written: &Expression,
        below: &mut Below,
        line: usize,
        scope: &mut Scope<'_>,
    ) -> Result<Arc<Schema>, ParseError> {
        let mut schema = match &written.base {
            Base::List(inner) => {
                let items = self.item(inner, below, line, scope)?;
                Arc::new(Schema::of(Shape::List {
                    items,
                    count: Bounds::default(),
                    kind: ListKind::Unset,
                }))
            }
            Base::Map(inner) => {
                let values = self.item(inner, below, line, scope)?;
                Arc::new(Schema::of(Shape::Map {
                    values,
                    properties: Bounds::default(),
                    atomic: false,
                }))
            }
            Base::Word(word) => match builtin(word) {
                Some(Shape::Object {
                    properties,
                    atomic,
                    open,
                    ..
                }) => {
                    let fields = std::mem::take(&mut below.fields);
                    Arc::new(Schema::of(Shape::Object {
                        fields,
                        properties,
                        atomic,
                        open,
                    }))
                }
                Some(shape) => Arc::new(Schema::of(shape)),
                None => self.named(word, line, scope)?,
            },
        };
        for modifier in &written.modifiers {
            let target = Arc::make_mut(&mut schema);
            self.modify(target, modifier, scope.path)
                .map_err(|message| Fault::new(line, message).in_file(scope.path))?;
        }
        Ok(schema)
    }

    fn item(
        &self,
        written: &Expression,
        below: &mut Below,
        line: usize,
        scope: &mut Scope<'_>,
    ) -> Result<Arc<Schema>, ParseError> {
        let rules = std::mem::take(&mut below.item_rules);
        let mut schema = self.expression(written, below, line, scope)?;
        if !rules.is_empty() {
            Arc::make_mut(&mut schema).rules.extend(rules);
        }
        Ok(schema)
    }

    /// The type of this name: from the file itself, or from one that it uses.
    fn named(&self, name: &str, line: usize, scope: &mut Scope<'_>) -> Result<Arc<Schema>, ParseError> {
        let here = scope.path;
        let (path, declared) = self
            .find(here, &mut BTreeSet::new(), &|file| file.types.get(name))
            .ok_or_else(|| Fault::new(line, format!("type {name} is not known")).in_file(here))?;
        let key = (path.to_owned(), name.to_owned());
        if let Some(built) = self.built.borrow().get(&key) {
            return Ok(Arc::clone(built));
        }
        if scope.building.contains(&key) {
            return Err(Fault::new(line, format!("type {name} contains itself")).in_file(here));
        }
        let mut building = std::mem::take(&mut scope.building);
        building.push(key.clone());
        let mut inner = Scope { path, building };
        let mut schema = self.declaration(declared, &mut inner)?;
        inner.building.pop();
        scope.building = inner.building;
        if declared.description.is_some() {
            Arc::make_mut(&mut schema)
                .description
                .clone_from(&declared.description);
        }
        self.built.borrow_mut().insert(key, Arc::clone(&schema));
        Ok(schema)
    }

    /// Looks in a file and in the files that it uses; gives the path where it was found too.
    fn find<'a, T: ?Sized>(
        &'a self,
        path: &'a str,
        seen: &mut BTreeSet<&'a str>,
        get: &dyn Fn(&'a File) -> Option<&'a T>,
    ) -> Option<(&'a str, &'a T)> {
        if !seen.insert(path) {
            return None;
        }
        let file = self.files.get(path)?;
        if let Some(found) = get(file) {
            return Some((path, found));
        }
        file.uses.iter().find_map(|(_, used)| {
            let (path, _) = self.files.get_key_value(&format!("{used}.types"))?;
            self.find(path, seen, get)
        })
    }

    fn modify(&self, schema: &mut Schema, modifier: &Modifier, path: &str) -> Result<(), String> {
        match modifier {
            Modifier::Bounds(word, bounds) => bound(&mut schema.shape, word, *bounds),
            Modifier::Mark(word, arguments) => mark(&mut schema.shape, word, arguments),
            Modifier::Default(value) => {
                schema.default = Some(value.clone());
                Ok(())
            }
            Modifier::Values(list) => match &mut schema.shape {
                Shape::Text { values, .. } => {
                    values.clone_from(list);
                    Ok(())
                }
                _ => Err("only strings have allowed values".to_owned()),
            },
            Modifier::Pattern(name) => {
                let found = self
                    .find(path, &mut BTreeSet::new(), &|file| {
                        file.patterns.get(name).map(String::as_str)
                    })
                    .ok_or_else(|| format!("pattern {name} is not known"))?
                    .1;
                match &mut schema.shape {
                    Shape::Text { pattern, .. } | Shape::IntOrText { pattern } => {
                        *pattern = Some(found.to_owned());
                        Ok(())
                    }
                    _ => Err("only strings have patterns".to_owned()),
                }
            }
        }
    }
}

/// What is written below a line and belongs somewhere inside its type.
struct Below {
    fields: Vec<Field>,
    item_rules: Vec<crate::crd::model::Rule>,
}

fn builtin(word: &str) -> Option<Shape> {
    let text = |format| Shape::Text {
        format,
        length: Bounds::default(),
        pattern: None,
        values: Vec::new(),
    };
    let integer = |format| Shape::Integer {
        format,
        value: Bounds::default(),
    };
    Some(match word {
        "object" => Shape::Object {
            fields: Vec::new(),
            properties: Bounds::default(),
            atomic: false,
            open: false,
        },
        "str" => text(TextFormat::Plain),
        "time" => text(TextFormat::Time),
        "bytes" => text(TextFormat::Bytes),
        "int" => integer(IntegerFormat::Plain),
        "i32" => integer(IntegerFormat::I32),
        "i64" => integer(IntegerFormat::I64),
        "num" => Shape::Number,
        "bool" => Shape::Boolean,
        "int|str" => Shape::IntOrText { pattern: None },
        "any" => Shape::Any,
        _ => return None,
    })
}

fn bound(shape: &mut Shape, word: &str, bounds: Bounds) -> Result<(), String> {
    match (word, shape) {
        ("len", Shape::Text { length: target, .. })
        | ("val", Shape::Integer { value: target, .. })
        | ("items", Shape::List { count: target, .. })
        | (
            "props",
            Shape::Object {
                properties: target, ..
            }
            | Shape::Map {
                properties: target, ..
            },
        ) => {
            *target = bounds;
            Ok(())
        }
        _ => Err(format!("`{word}` does not bound this type")),
    }
}

fn mark(shape: &mut Shape, word: &str, arguments: &[String]) -> Result<(), String> {
    match (word, arguments, shape) {
        ("atomic", [], Shape::Object { atomic, .. } | Shape::Map { atomic, .. }) => *atomic = true,
        ("open", [], Shape::Object { open, .. }) => *open = true,
        ("atomic", [], Shape::List { kind, .. }) => *kind = ListKind::Atomic,
        ("set", [], Shape::List { kind, .. }) => *kind = ListKind::Set,
        ("map", [_, ..], Shape::List { kind, .. }) => *kind = ListKind::Map(arguments.to_vec()),
        _ => return Err(format!("`@{word}` does not go with this type")),
    }
    Ok(())
}
