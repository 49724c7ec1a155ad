//! House rules that the compiler cannot check.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result};

use crate::floors;

/// The longest that a source file may be, in lines.
const LONGEST_FILE: usize = 700;

/// Files of a controller that must stay plain functions of a snapshot.
const PURE_FILES: &[&str] = &["decide.rs", "report.rs", "view.rs"];

/// Runs all checks and prints the complaints.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let mut complaints = floors::complaints(root)?;
    for file in sources(root)? {
        let text = fs::read_to_string(&file).with_context(|| format!("failed to read {}", file.display()))?;
        let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        complaints.extend(
            of_file(&name, &text)
                .into_iter()
                .map(|it| format!("{name}: {it}")),
        );
    }
    for complaint in &complaints {
        eprintln!("tidy: {complaint}");
    }
    println!("tidy: {} complaints", complaints.len());
    Ok(if complaints.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn of_file(name: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if !text.starts_with("//!") {
        complaints.push("does not start by saying what it is for (`//!`)".to_owned());
    }
    let lines = text.lines().count();
    if lines > LONGEST_FILE {
        complaints.push(format!(
            "has {lines} lines; split it along a natural seam (at most {LONGEST_FILE})"
        ));
    }
    let is_pure = PURE_FILES.iter().any(|it| name.ends_with(&format!("/{it}")));
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    for word in ["async ", ".await", "Client"] {
        if is_pure
            && code
                .lines()
                .filter(|it| !it.trim_start().starts_with("//"))
                .any(|it| it.contains(word))
        {
            complaints.push(format!(
                "is a plain function of a snapshot and must not contain `{}`",
                word.trim()
            ));
        }
    }
    complaints
}

/// All Rust files of the workspace.
fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.join("crates"), root.join("xtask")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("failed to list {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
