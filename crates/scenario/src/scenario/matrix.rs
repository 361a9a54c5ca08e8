//! A matrix of paths and transfers in place of one: `matrix` in `[catalogue]`.

use firstflight_control::quantity::{Buffer, Rate, Size, Time};
use serde::Serialize;

use super::Scenario;
use crate::document::Node;
use crate::error::ScenarioError;
use crate::read::Read;

/// Values of four keys, each combined with each of the others; a key without values keeps the
/// scenario's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Matrix {
    /// Rates of the path's bottleneck.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rate: Vec<Rate>,
    /// Round-trip times of the path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rtt: Vec<Time>,
    /// Buffers of the bottleneck.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buffer: Vec<Buffer>,
    /// Sizes of the transfer, which is the first group of flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub size: Vec<Size>,
}

impl Matrix {
    /// The scenario at every point, the sizes varying fastest, then buffers, RTTs and rates.
    pub fn points(&self, scenario: &Scenario) -> Vec<Scenario> {
        let mut points = vec![scenario.clone()];
        fan_out(&mut points, &self.rate, |point, rate| {
            point.path.get_or_insert_default().link.rate = Some(rate);
        });
        fan_out(&mut points, &self.rtt, |point, rtt| {
            point.path.get_or_insert_default().rtt = Some(rtt);
        });
        fan_out(&mut points, &self.buffer, |point, buffer| {
            point.path.get_or_insert_default().link.buffer = Some(buffer);
        });
        fan_out(&mut points, &self.size, |point, size| {
            if let Some(flow) = point.flows.first_mut() {
                flow.size = Some(size);
            }
        });
        points
    }
}

/// Each point with each of the values; the points as they are where there is none.
fn fan_out<T: Copy>(points: &mut Vec<Scenario>, values: &[T], set: impl Fn(&mut Scenario, T)) {
    if values.is_empty() {
        return;
    }
    let with = |point: Scenario| {
        let set = &set;
        values.iter().map(move |value| {
            let mut point = point.clone();
            set(&mut point, *value);
            point
        })
    };
    *points = points.drain(..).flat_map(with).collect();
}

impl Read for Matrix {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let (rate, rtt) = (fields.list("rate")?, fields.list("rtt")?);
        let (buffer, size) = (fields.list("buffer")?, fields.list("size")?);
        fields.finish()?;
        Ok(Self { rate, rtt, buffer, size })
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    const HEAD: &str = "controls = ['cubic']\n[path]\nrtt = '30ms'\n[[flow]]\nsize = '1MB'\n\
                        [catalogue]\nabout = 'a'\nwhy = 'w'\nexpected = 'e'\nshows_not = 's'\n\
                        rules = ['R1']\n";

    #[test]
    fn every_value_meets_every_other_and_what_is_not_named_stays() {
        let matrix = "matrix = { rate = ['1Mbps', '10Mbps'], size = ['30kB', '1MB', '5MB'] }";
        let scenario = Scenario::parse(&format!("{HEAD}{matrix}"), "A8.toml").unwrap();
        let matrix = scenario.catalogue.as_ref().unwrap().matrix.clone().unwrap();
        let points: Vec<String> = matrix
            .points(&scenario)
            .iter()
            .map(|point| {
                let path = point.path.as_ref().unwrap();
                let size = point.flows[0].size.unwrap();
                format!("{} {} {size}", path.link.rate.unwrap(), path.rtt.unwrap())
            })
            .collect();
        assert_eq!(points.len(), 6, "{points:?}");
        assert_eq!(points[0], "1Mbps 30ms 30KB");
        assert_eq!(points[5], "10Mbps 30ms 5MB");
    }

    #[test]
    fn a_matrix_reads_back_as_it_was_written() {
        let text = format!("{HEAD}matrix = {{ rtt = ['10ms', '50ms'], buffer = ['0.25bdp'] }}");
        let scenario = Scenario::parse(&text, "A8.toml").unwrap();
        let back = Scenario::parse(&scenario.to_toml(), "A8.toml").unwrap();
        assert_eq!(back.catalogue, scenario.catalogue);
        let wrong = format!("{HEAD}matrix = {{ loss = ['1%'] }}");
        let found = Scenario::parse(&wrong, "A8.toml").unwrap_err().to_string();
        assert!(found.contains("accepted: rate, rtt, buffer, size"), "{found}");
    }
}
