//! From pieces to a tree.

use serde_json::Value;

use super::{
    TemplateError,
    lexer::{Piece, Word, pieces},
};

/// Keywords of Go's templates that are refused.
const REFUSED: &[&str] = &[
    "range", "with", "define", "template", "block", "break", "continue",
];

/// A node of the tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// Text that is copied.
    Text(String),
    /// A value that is printed.
    Print(Expression),
    /// The nodes of the first branch whose condition holds, or of `otherwise`.
    If {
        branches: Vec<(Expression, Vec<Node>)>,
        otherwise: Vec<Node>,
    },
}

/// Something with a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    /// A field of the data, or all of it.
    Field(Vec<String>),
    /// A literal.
    Literal(Value),
    /// A function with its arguments.
    Call(String, Vec<Expression>),
}

/// Parses a whole template.
pub(super) fn parse(text: &str) -> Result<Vec<Node>, TemplateError> {
    let mut rest = pieces(text)?.into_iter();
    let (nodes, ending) = nodes(&mut rest)?;
    match ending {
        Ending::Text => Ok(nodes),
        Ending::Else(_) => Err(TemplateError::Unexpected("else".to_owned())),
        Ending::End => Err(TemplateError::Unexpected("end".to_owned())),
    }
}

/// What ended a list of nodes.
enum Ending {
    /// The template.
    Text,
    /// `else`, with the words behind it.
    Else(Vec<Word>),
    /// `end`.
    End,
}

fn nodes(rest: &mut impl Iterator<Item = Piece>) -> Result<(Vec<Node>, Ending), TemplateError> {
    let mut nodes = Vec::new();
    while let Some(piece) = rest.next() {
        let words = match piece {
            Piece::Text(text) => {
                nodes.push(Node::Text(text));
                continue;
            }
            Piece::Action(words) => words,
        };
        match words.first() {
            Some(Word::Name(name)) if name == "end" => return Ok((nodes, Ending::End)),
            Some(Word::Name(name)) if name == "else" => {
                return Ok((nodes, Ending::Else(words[1..].to_vec())));
            }
            Some(Word::Name(name)) if name == "if" => nodes.push(choice(&words[1..], rest)?),
            Some(Word::Name(name)) if REFUSED.contains(&name.as_str()) => {
                return Err(TemplateError::Unsupported(name.clone()));
            }
            _ => nodes.push(Node::Print(pipeline(&words)?)),
        }
    }
    Ok((nodes, Ending::Text))
}

fn choice(condition: &[Word], rest: &mut impl Iterator<Item = Piece>) -> Result<Node, TemplateError> {
    let mut branches = Vec::new();
    let mut condition = Some(pipeline(condition)?);
    loop {
        let (inside, ending) = nodes(rest)?;
        let otherwise = match condition.take() {
            Some(condition) => {
                branches.push((condition, inside));
                Vec::new()
            }
            None => inside,
        };
        match ending {
            Ending::Text => return Err(TemplateError::Unclosed("if")),
            Ending::End => return Ok(Node::If { branches, otherwise }),
            Ending::Else(_) if !otherwise.is_empty() => {
                return Err(TemplateError::Unexpected("else".to_owned()));
            }
            Ending::Else(words) => {
                condition = match words.split_first() {
                    None => None,
                    Some((Word::Name(name), words)) if name == "if" => Some(pipeline(words)?),
                    Some((word, _)) => return Err(TemplateError::Unexpected(format!("{word:?}"))),
                };
            }
        }
    }
}

/// Commands separated by `|`: the value of each is the last argument of the next.
fn pipeline(words: &[Word]) -> Result<Expression, TemplateError> {
    let mut depth = 0_usize;
    let mut commands = vec![Vec::new()];
    for word in words {
        match word {
            Word::Open => depth += 1,
            Word::Close => {
                depth = depth
                    .checked_sub(1)
                    .ok_or(TemplateError::Unexpected(")".to_owned()))?
            }
            Word::Pipe if depth == 0 => {
                commands.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(command) = commands.last_mut() {
            command.push(word.clone());
        }
    }
    let mut value = None;
    for words in &commands {
        let command = command(words)?;
        value = Some(match (value, command) {
            (None, command) => command,
            (Some(value), Expression::Call(name, mut arguments)) => {
                arguments.push(value);
                Expression::Call(name, arguments)
            }
            (Some(_), _) => return Err(TemplateError::Unexpected("|".to_owned())),
        });
    }
    value.ok_or(TemplateError::Unclosed("action"))
}

/// A function with its arguments, or one operand alone.
fn command(words: &[Word]) -> Result<Expression, TemplateError> {
    match words.split_first() {
        None => Err(TemplateError::Unexpected("end of a command".to_owned())),
        Some((Word::Name(name), rest)) if literal(name).is_none() => {
            let mut arguments = Vec::new();
            let mut rest = rest;
            while !rest.is_empty() {
                let (argument, after) = operand(rest)?;
                arguments.push(argument);
                rest = after;
            }
            Ok(Expression::Call(name.clone(), arguments))
        }
        Some(_) => match operand(words)? {
            (operand, []) => Ok(operand),
            (_, [word, ..]) => Err(TemplateError::Unexpected(format!("{word:?}"))),
        },
    }
}

fn operand(words: &[Word]) -> Result<(Expression, &[Word]), TemplateError> {
    let (first, rest) = words.split_first().ok_or(TemplateError::Unclosed("action"))?;
    match first {
        Word::Field(names) => Ok((Expression::Field(names.clone()), rest)),
        Word::Text(text) => Ok((Expression::Literal(Value::from(text.as_str())), rest)),
        Word::Number(number) => Ok((Expression::Literal(Value::from(*number)), rest)),
        Word::Name(name) => match literal(name) {
            Some(value) => Ok((Expression::Literal(value), rest)),
            None => Ok((Expression::Call(name.clone(), Vec::new()), rest)),
        },
        Word::Open => {
            let close = closing(rest).ok_or(TemplateError::Unclosed("parenthesis"))?;
            Ok((pipeline(&rest[..close])?, &rest[close + 1..]))
        }
        Word::Close | Word::Pipe => Err(TemplateError::Unexpected(format!("{first:?}"))),
    }
}

/// Where the parenthesis that is open in front of `words` closes.
fn closing(words: &[Word]) -> Option<usize> {
    let mut depth = 1_usize;
    words.iter().position(|word| {
        match word {
            Word::Open => depth += 1,
            Word::Close => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

fn literal(name: &str) -> Option<Value> {
    match name {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        "nil" => Some(Value::Null),
        _ => None,
    }
}
