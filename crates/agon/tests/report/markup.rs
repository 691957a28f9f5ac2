//! A small HTML parser that checks well-formedness.

/// A tag with its attributes.
pub struct Tag {
    pub name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The tags of a page, in order.
pub struct Markup {
    pub tags: Vec<Tag>,
}

const EMPTY: [&str; 5] = ["meta", "link", "br", "img", "hr"];

impl Markup {
    /// Parses a page. Errors: a tag that is not closed or closed by another, a bare `<`, an invalid attribute.
    pub fn read(text: &str) -> Result<Self, String> {
        let (mut tags, mut open): (Vec<Tag>, Vec<String>) = (Vec::new(), Vec::new());
        let mut rest = text.strip_prefix("<!doctype html>").ok_or("no doctype")?;
        while let Some(at) = rest.find('<') {
            no_bare(&rest[..at])?;
            rest = &rest[at + 1..];
            let end = rest.find('>').ok_or("a tag without end")?;
            let inner = &rest[..end];
            rest = &rest[end + 1..];
            if let Some(name) = inner.strip_prefix('/') {
                let last = open.pop().unwrap_or_default();
                if last != name {
                    return Err(format!("</{name}> closes <{last}>"));
                }
                continue;
            }
            let tag = tag(inner.trim_end_matches('/'))?;
            let is_closed = inner.ends_with('/') || EMPTY.contains(&tag.name.as_str());
            if tag.name == "script" {
                // The content of a script is not markup.
                let end = rest.find("</script>").ok_or("a script without end")?;
                rest = &rest[end..];
            }
            if !is_closed {
                open.push(tag.name.clone());
            }
            tags.push(tag);
        }
        if open.is_empty() { Ok(Self { tags }) } else { Err(format!("not closed: {open:?}")) }
    }

    pub fn count(&self, name: &str) -> usize {
        self.tags.iter().filter(|tag| tag.name == name).count()
    }

    pub fn first(&self, name: &str) -> Option<&Tag> {
        self.tags.iter().find(|tag| tag.name == name)
    }
}

/// Checks that text between tags has `&` only in entities, and no `>`.
fn no_bare(text: &str) -> Result<(), String> {
    let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
    let odd = text.split('&').skip(1).find(|rest| !known.iter().any(|name| rest.starts_with(name)));
    match odd {
        Some(rest) => Err(format!("a bare & before {rest:?}")),
        None if text.contains('>') => Err(format!("a bare > in {text:?}")),
        None => Ok(()),
    }
}

fn tag(inner: &str) -> Result<Tag, String> {
    let (name, mut rest) = inner.split_once(' ').unwrap_or((inner, ""));
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(format!("<{inner}> is not a tag"));
    }
    let mut attributes = Vec::new();
    while !rest.trim().is_empty() {
        let (key, value) =
            rest.trim_start().split_once("=\"").ok_or_else(|| format!("<{inner}>: {rest:?}"))?;
        let (value, more) = value.split_once('"').ok_or_else(|| format!("<{inner}>: no end of {key}"))?;
        no_bare(value)?;
        if attributes.iter().any(|(known, _): &(String, String)| known == key) {
            return Err(format!("<{inner}>: duplicate {key}"));
        }
        attributes.push((key.to_owned(), value.to_owned()));
        rest = more;
    }
    Ok(Tag { name: name.to_owned(), attributes })
}
