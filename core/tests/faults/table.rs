//! The table in the suite's documentation names tests that exist.

use std::path::Path;

#[test]
fn every_test_that_the_table_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = include_str!("main.rs")
        .lines()
        .filter(|line| line.starts_with("//! | "));
    let mut named = 0;
    for row in table.skip(1) {
        let tests = row
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|name| name.contains("::"));
        for test in tests {
            let parts: Vec<&str> = test.split("::").collect();
            let (name, modules) = parts.split_last().unwrap();
            let file = format!("{}.rs", modules.join("/"));
            let found = ["tests", "src"].map(|directory| root.join(directory).join(&file));
            let text = found
                .iter()
                .find_map(|path| std::fs::read_to_string(path).ok());
            let text = text.unwrap_or_else(|| panic!("no file for {test}"));
            assert!(
                text.contains(&format!("fn {name}(")),
                "no such test: {test}"
            );
            named += 1;
        }
    }
    assert!(named >= 30, "{named}");
}
