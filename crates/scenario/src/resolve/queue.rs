//! A link's queue in base units.

use firstflight_link::Sizes;

use super::Resolver;
use crate::error::ScenarioError;
use crate::resolved::ResolvedQueue;

impl Resolver<'_> {
    /// The queue of the link of this place, whose table has this name and on which a full packet
    /// takes `wire` bytes; `None` is drop-tail. `bdp` counts packets in thousandths of the BDP.
    pub(super) fn queue(
        &self,
        table: &str,
        (place, wire): (usize, u64),
        bdp: &dyn Fn(u64) -> u64,
    ) -> Result<Option<ResolvedQueue>, ScenarioError> {
        let of_path = self.scenario.path.as_ref().and_then(|path| path.queue.as_ref());
        let of_link = self.scenario.links.get(place).and_then(|link| link.queue.as_ref());
        let Some(queue) = of_link.or(of_path) else { return Ok(None) };
        let sizes = Sizes { wire, bdp };
        let discipline = queue
            .resolve(&sizes)
            .map_err(|problem| self.error(&format!("{table}.queue"), problem))?;
        let Some(discipline) = discipline else { return Ok(None) };
        for (key, instead) in [("buffer", "its `limit`"), ("ecn_threshold", "its own marks")] {
            let key = format!("{table}.{key}");
            if self.scenario.is_written(&key) {
                let problem = format!("beside `queue`; accepted: {queue} with {instead}");
                return Err(self.error(&key, problem));
            }
        }
        Ok(Some(ResolvedQueue { text: queue.to_string(), discipline }))
    }
}
