//! Which subjects something is for.

use std::fmt;

/// A condition on a subject's tags: all terms must hold; a term holds if one of its alternatives does; `!tag` holds if
/// the subject does not have the tag. Empty: any subject. Written `loss-based undo|resume !hystart`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tags(pub Vec<Vec<Tag>>);

/// One alternative.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tag {
    /// Name of the tag.
    pub name: String,
    /// Whether the subject must have it.
    pub wanted: bool,
}

impl Tags {
    /// Reads `text`; `None` if there is something in it that is not a tag.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text == "all" {
            return Some(Self::default());
        }
        let term = |term: &str| term.split('|').map(Tag::parse).collect::<Option<Vec<_>>>();
        text.split_whitespace().map(term).collect::<Option<Vec<_>>>().map(Self)
    }

    /// Whether a subject with these tags is meant.
    #[must_use]
    pub fn hold(&self, tags: &[&str]) -> bool {
        self.0.iter().all(|term| term.iter().any(|tag| tags.contains(&tag.name.as_str()) == tag.wanted))
    }
}

impl Tag {
    fn parse(text: &str) -> Option<Self> {
        let (name, wanted) = match text.strip_prefix('!') {
            Some(name) => (name, false),
            None => (text, true),
        };
        let is_tag = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        is_tag.then(|| Self { name: name.to_owned(), wanted })
    }
}

impl fmt::Display for Tags {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return formatter.write_str("all");
        }
        for (n, term) in self.0.iter().enumerate() {
            let space = if n == 0 { "" } else { " " };
            formatter.write_str(space)?;
            for (n, tag) in term.iter().enumerate() {
                let bar = if n == 0 { "" } else { "|" };
                let not = if tag.wanted { "" } else { "!" };
                write!(formatter, "{bar}{not}{}", tag.name)?;
            }
        }
        Ok(())
    }
}
