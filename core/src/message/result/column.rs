//! [`ColumnSpec`], the description of a column, and the [`Name`]s in it. Answers to native protocol v5, section 4.2.5.2.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use crate::types::CqlType;

/// A column of a result, or a bound variable; `ColumnSpec<'static>` where it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnSpec<'a> {
    /// The keyspace of its table.
    pub keyspace: Name<'a>,
    /// Its table.
    pub table: Name<'a>,
    /// Its name.
    pub name: Name<'a>,
    /// Its type.
    pub ty: CqlType,
}

/// The name of a column, a table or a keyspace: lent, as by the message that it was read from, or shared with its clones.
/// It is compared, hashed and shown as the text that it is.
///
/// ```
/// use std::sync::Arc;
/// use helenus_core::message::Name;
///
/// let lent = Name::from("users");
/// let shared: Name<'static> = Arc::<str>::from("users").into();
/// assert_eq!(lent, shared);
/// assert_eq!(lent.len(), 5);
/// ```
#[derive(Clone)]
pub struct Name<'a>(Text<'a>);

#[derive(Clone)]
enum Text<'a> {
    Lent(&'a str),
    Shared(Arc<str>),
}

impl Name<'_> {
    /// The name's text.
    #[inline]
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Lent(text) => text,
            Text::Shared(text) => text,
        }
    }

    /// The name in shared memory, which it is copied to unless it stands there.
    #[must_use]
    pub fn to_shared(&self) -> Arc<str> {
        match &self.0 {
            Text::Lent(text) => Arc::from(*text),
            Text::Shared(text) => Arc::clone(text),
        }
    }

    /// The same name, which nobody lends any more.
    #[must_use]
    pub fn into_owned(self) -> Name<'static> {
        match self.0 {
            Text::Lent(text) => Name(Text::Shared(text.into())),
            Text::Shared(text) => Name(Text::Shared(text)),
        }
    }
}

impl Deref for Name<'_> {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Name<'_> {
    #[inline]
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Name<'_> {
    #[inline]
    fn borrow(&self) -> &str {
        self
    }
}

impl<'a> From<&'a str> for Name<'a> {
    #[inline]
    fn from(text: &'a str) -> Self {
        Self(Text::Lent(text))
    }
}

impl From<Arc<str>> for Name<'_> {
    #[inline]
    fn from(text: Arc<str>) -> Self {
        Self(Text::Shared(text))
    }
}

impl From<String> for Name<'_> {
    fn from(text: String) -> Self {
        Self(Text::Shared(text.into()))
    }
}

impl PartialEq for Name<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Name<'_> {}

impl PartialEq<str> for Name<'_> {
    #[inline]
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for Name<'_> {
    #[inline]
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl PartialOrd for Name<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other)
    }
}

impl Hash for Name<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_name_is_its_text_whoever_has_it() {
        let text = String::from("users");
        let lent = Name::from(&*text);
        let shared = Name::from(text.clone());
        assert_eq!(lent, shared);
        assert_eq!(lent, "users");
        assert_eq!(format!("{lent} {shared:?}"), r#"users "users""#);
        assert!(HashSet::from([shared]).contains("users"));
        let later = Name::from("zones");
        assert!(lent < later);
    }

    #[test]
    fn a_shared_name_isnt_copied() {
        let text: Arc<str> = "users".into();
        let name = Name::from(Arc::clone(&text));
        assert!(Arc::ptr_eq(&name.to_shared(), &text));
        assert!(Arc::ptr_eq(&name.into_owned().to_shared(), &text));
    }
}
