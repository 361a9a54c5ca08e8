//! What a column of a table of results is: a name, a type, a unit, a meaning.

/// A column of one of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// Its name, unit included: `rate_bps`.
    pub name: &'static str,
    /// What it is for.
    pub role: Role,
    /// The type of its values.
    pub kind: Kind,
    /// The unit in words: `bit/s`; empty for names and pure numbers.
    pub unit: &'static str,
    /// Whether a value can be missing.
    pub nullable: bool,
    /// One line for people.
    pub meaning: &'static str,
}

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Identifies a row.
    Key,
    /// What the scenario sets.
    Factor,
    /// What came out.
    Measure,
    /// Who measured, and in which form.
    Provenance,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// A whole number, not negative, of 64 bits.
    Count,
    /// A finite number, IEEE 754 double.
    Number,
    /// True or false.
    Flag,
}

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// In a column of [`Kind::Text`].
    Text(&'a str),
    /// In a column of [`Kind::Count`].
    Count(u64),
    /// In a column of [`Kind::Number`].
    Number(f64),
    /// In a column of [`Kind::Flag`].
    Flag(bool),
    /// Not measured, or not applicable.
    Null,
}

impl Column {
    /// A column whose values are all there.
    pub const fn new(
        role: Role,
        kind: Kind,
        name: &'static str,
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { name, role, kind, unit, nullable: false, meaning }
    }

    /// Whose value can be missing.
    pub const fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }
}

impl Kind {
    /// The type's name in JSON Schema.
    pub fn json(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Count => "integer",
            Self::Number => "number",
            Self::Flag => "boolean",
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Value<'_> {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
