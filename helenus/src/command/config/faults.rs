//! `[faults]`: what requests meet on purpose.

use helenus::Fault;

use super::raw::Raw;
use super::section::section;
use super::value::{Value, text};

section! {
    /// Faults on purpose, for tests of what applications do about them.
    Faults in "faults" {
        /// What requests meet, such as "read on shop.orders delay 250ms error timeout times 2"; the first that fits counts.
        rules: Vec<Fault> = Vec::new(), live;
    }
}

impl Value for Fault {
    fn read(raw: &Raw) -> Result<Self, String> {
        text(raw)?
            .parse()
            .map_err(|error: helenus::InvalidFault| error.to_string())
    }

    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}
