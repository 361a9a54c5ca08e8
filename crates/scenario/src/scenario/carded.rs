//! Elements of a link that are read as their cards describe (`firstflight_link::ELEMENTS`).

use firstflight_control::quantity::{Fraction, Rate, Size, Time};
use firstflight_link::{ElementCard, ElementValue, ValueKind};
use serde::ser::SerializeMap;
use serde_json::{Map, Value};

use crate::document::Node;
use crate::error::ScenarioError;
use crate::read::{Fields, Read};
use crate::schema::Form;

/// An element with its values as written, in the order of its card; `None` is "not written".
#[derive(Clone, Debug)]
pub struct Carded {
    pub(crate) card: &'static ElementCard,
    written: Vec<Option<u64>>,
}

impl PartialEq for Carded {
    fn eq(&self, other: &Self) -> bool {
        (self.card.key, &self.written) == (other.card.key, &other.written)
    }
}

impl Eq for Carded {}

impl Carded {
    /// The element of this card in a table of a link, if it is written.
    pub(crate) fn read(
        fields: &mut Fields<'_>,
        card: &'static ElementCard,
    ) -> Result<Option<Self>, ScenarioError> {
        let Some(node) = fields.entry(card.key, || form(card)) else { return Ok(None) };
        let written = match card.values {
            [only] if only.name.is_empty() => vec![Some(value(node, only.kind)?)],
            values => {
                let mut fields = node.fields()?;
                let mut written = Vec::new();
                for it in values {
                    let node = fields.entry(it.name, || form_of(it.kind));
                    written.push(node.map(|node| value(node, it.kind)).transpose()?);
                }
                let lacking = values.iter().zip(&written).find_map(|(it, written)| {
                    let example = it.example.filter(|_| written.is_none())?;
                    let example = format!("{} = \"{example}\"", it.name);
                    Some(fields.missing(it.name, &example))
                });
                fields.finish()?;
                lacking.map_or(Ok(written), Err)?
            }
        };
        Ok(Some(Self { card, written }))
    }

    /// Its values in base units.
    pub(crate) fn values(&self) -> Vec<u64> {
        self.written.iter().map(|value| value.unwrap_or_default()).collect()
    }

    /// Its times that are written, each with the name of its value.
    pub(crate) fn times(&self) -> impl Iterator<Item = (&'static str, Time)> + '_ {
        let times = self.each().filter(|(it, _)| it.kind == ValueKind::Time);
        times.filter_map(|(it, written)| Some((it.name, Time::from_ns(written?))))
    }

    /// A few words for headers.
    pub(crate) fn words(&self) -> String {
        let values = self.values();
        let shown = self.card.values.iter().zip(&values).map(|(it, value)| shown(it.kind, *value));
        (self.card.words)(&values, &shown.collect::<Vec<_>>())
    }

    /// As it is written.
    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let as_written = |kind, value: u64| match kind {
            ValueKind::Switch => Value::from(value > 0),
            _ => Value::from(shown(kind, value)),
        };
        let written = self
            .each()
            .filter_map(|(it, written)| Some((it.name.to_owned(), as_written(it.kind, written?))));
        self.entry(map, "", written)
    }

    /// In base units, for results.
    pub(crate) fn in_results<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let values = self.each().map(|(it, written)| {
            let value = written.unwrap_or_default();
            match it.kind {
                ValueKind::Switch => (it.name.to_owned(), Value::from(value > 0)),
                kind => (format!("{}{}", it.name, unit(kind)), Value::from(value)),
            }
        });
        self.entry(map, self.card.values.first().map_or("", |it| unit(it.kind)), values)
    }

    fn each(&self) -> impl Iterator<Item = (&'static ElementValue, Option<u64>)> + '_ {
        self.card.values.iter().zip(self.written.iter().copied())
    }

    /// One value without a name at the key itself, with this unit behind it, or else a table.
    fn entry<M: SerializeMap>(
        &self,
        map: &mut M,
        unit: &str,
        mut values: impl Iterator<Item = (String, Value)>,
    ) -> Result<(), M::Error> {
        match self.card.values {
            [only] if only.name.is_empty() => {
                let value = values.next().map(|(_, value)| value);
                map.serialize_entry(&format!("{}{unit}", self.card.key), &value)
            }
            _ => map.serialize_entry(self.card.key, &values.collect::<Map<_, _>>()),
        }
    }
}

fn value(node: &Node, kind: ValueKind) -> Result<u64, ScenarioError> {
    match kind {
        ValueKind::Time => node.text().map(Time::ns),
        ValueKind::Rate => node.text().map(Rate::bps),
        ValueKind::Size => node.text().map(Size::bytes),
        ValueKind::Share => node.text().map(Fraction::ppb),
        ValueKind::Switch => bool::read(node).map(u64::from),
    }
}

fn shown(kind: ValueKind, value: u64) -> String {
    match kind {
        ValueKind::Time => Time::from_ns(value).to_string(),
        ValueKind::Rate => Rate::from_bps(value).to_string(),
        ValueKind::Size => Size::from_bytes(value).to_string(),
        ValueKind::Share => Fraction::from_ppb(value).to_string(),
        ValueKind::Switch => (value > 0).to_string(),
    }
}

fn unit(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Time => "_ns",
        ValueKind::Rate => "_bps",
        ValueKind::Size => "_bytes",
        ValueKind::Share => "_ppb",
        ValueKind::Switch => "",
    }
}

fn form(card: &'static ElementCard) -> Form {
    match card.values {
        [only] if only.name.is_empty() => form_of(only.kind),
        values => {
            let keys = values.iter().map(|it| (it.name, form_of(it.kind))).collect();
            Form::Named(card.key, keys)
        }
    }
}

fn form_of(kind: ValueKind) -> Form {
    if kind == ValueKind::Switch { Form::Switch } else { Form::Text }
}
