//! Rust source with comments and literals blanked out, so that a search finds code and nothing else.

use std::path::Path;

/// The code of a file; every line keeps its number.
pub(crate) struct Code {
    lines: Vec<String>,
    /// Where `#[cfg(test)]` begins a module of tests; what follows is not looked at.
    tests: usize,
}

impl Code {
    /// Reads a file. A file of tests by name or folder has no code outside tests.
    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).expect("a readable file");
        let mut code = Code::parse(&text);
        let folder = path
            .ancestors()
            .skip(1)
            .take_while(|folder| !folder.ends_with("src"));
        if path.ends_with("tests.rs") || folder.into_iter().any(|folder| folder.ends_with("tests"))
        {
            code.tests = 0;
        }
        code
    }

    fn parse(text: &str) -> Self {
        let lines: Vec<String> = blank(text).lines().map(str::to_owned).collect();
        let opens_tests = |pair: &[String]| {
            let next = pair[1].trim_start();
            pair[0].trim_start().starts_with("#[cfg(test)]")
                && next.starts_with("mod ")
                && !next.ends_with(';')
        };
        let tests = lines
            .windows(2)
            .position(opens_tests)
            .unwrap_or(lines.len());
        Code { lines, tests }
    }

    /// The line (from 1) on which a text first occurs as a whole word.
    pub(crate) fn find_outside_tests(&self, text: &str) -> Option<usize> {
        self.lines[..self.tests]
            .iter()
            .position(|line| has_word(line, text))
            .map(|index| index + 1)
    }

    /// Lines before the tests.
    pub(crate) fn lines_outside_tests(&self) -> usize {
        self.tests
    }
}

fn has_word(line: &str, text: &str) -> bool {
    let part_of_a_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(text).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + text.len()..].chars().next();
        let opens = text.starts_with(part_of_a_name) && before.is_some_and(part_of_a_name);
        let goes_on = text.ends_with(part_of_a_name) && after.is_some_and(part_of_a_name);
        !opens && !goes_on
    })
}

/// Replaces comments, strings and characters by spaces; line breaks stay.
fn blank(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let hidden = hidden_length(rest, out.chars().next_back());
        if hidden == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            out.extend(
                rest[..hidden]
                    .chars()
                    .map(|c| if c == '\n' { '\n' } else { ' ' }),
            );
            rest = &rest[hidden..];
        }
    }
    out
}

/// Bytes of the comment or literal that `text` begins with, or 0.
fn hidden_length(text: &str, before: Option<char>) -> usize {
    let up_to = |end: &str, from: usize| {
        text[from..]
            .find(end)
            .map_or(text.len(), |at| from + at + end.len())
    };
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return up_to("*/", 2);
    }
    if text.starts_with('"') {
        return escaped(text, '"');
    }
    if text.starts_with('r') && !before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        let hashes = text[1..].bytes().take_while(|&b| b == b'#').count();
        if text[1 + hashes..].starts_with('"') {
            return up_to(&format!("\"{}", "#".repeat(hashes)), hashes + 2);
        }
    }
    if let Some(inner) = text.strip_prefix('\'') {
        let mut inner = inner.chars();
        let (first, second) = (inner.next(), inner.next());
        // A quote that no quote closes soon is a lifetime.
        if first == Some('\\') || second == Some('\'') {
            return escaped(text, '\'');
        }
    }
    0
}

fn escaped(text: &str, quote: char) -> usize {
    let mut skip = false;
    for (at, c) in text.char_indices().skip(1) {
        if skip {
            skip = false;
        } else if c == '\\' {
            skip = true;
        } else if c == quote {
            return at + c.len_utf8();
        }
    }
    text.len()
}

#[test]
fn comments_and_literals_are_not_code() {
    let text = "// Mutex\nlet a = \"Mutex\"; /* Mutex\n */ let b = 'M'; let c: &'a str = r#\"Mutex \"# ;\nMutexes";
    assert_eq!(Code::parse(text).find_outside_tests("Mutex"), None);
    assert_eq!(
        Code::parse("fn f() {}\nuse std::sync::Mutex;").find_outside_tests("Mutex"),
        Some(2)
    );
}

#[test]
fn tests_at_the_end_of_a_file_are_not_looked_at() {
    let text = "fn f() {}\n#[cfg(test)]\nmod tests {\n use std::sync::Mutex;\n}\n";
    let code = Code::parse(text);
    assert_eq!(
        (code.find_outside_tests("Mutex"), code.lines_outside_tests()),
        (None, 1)
    );
}
