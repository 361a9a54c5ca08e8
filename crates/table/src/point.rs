//! The name of a point of a study: the hash of what the scenario says about path and flows.

use std::fmt::Write as _;

use firstflight_scenario::Resolved;
use sha2::{Digest as _, Sha256};

/// The first 96 bits of the SHA-256 of the resolved scenario, as 24 hexadecimal digits.
///
/// Left out are the name, the title, the controls that are compared, the seed and the number of
/// runs: rows of several controls and seeds on one path share a point and can be joined by it.
pub fn point(resolved: &Resolved) -> String {
    let mut bare = resolved.clone();
    bare.name = String::new();
    bare.title = None;
    bare.controls = Vec::new();
    (bare.seed, bare.runs) = (0, 0);
    // As a struct, whose keys keep their order whatever features other crates ask of serde_json.
    let text = serde_json::to_vec(&bare).unwrap_or_default();
    let hash = Sha256::digest(&text);
    hash.iter().take(12).fold(String::with_capacity(24), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_scenario::Scenario;

    fn of(text: &str) -> String {
        point(&Scenario::parse(text, "test.toml").unwrap().resolve().unwrap())
    }

    #[test]
    fn a_point_is_the_path_and_its_flows_whatever_the_names_controls_and_seeds() {
        let one = of("controls = ['newreno']\nseed = 1");
        assert_eq!(one.len(), 24);
        assert_eq!(one, of("controls = ['astart', 'hoe']\nseed = 9\nruns = 3\nname = 'other'"));
        assert_eq!(one, of("controls = ['newreno']\npath = { rate = '40000kbps' }"));
        for other in ["path = { rate = '41Mbps' }", "flow = [{ size = '5MB' }]", "profile = 'rfc'"]
        {
            assert_ne!(one, of(&format!("controls = ['newreno']\n{other}")), "{other}");
        }
    }
}
