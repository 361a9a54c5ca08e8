//! Loss in bursts, from the scenario's words to the simulator's links.

use firstflight_results::RunResult;
use firstflight_runner::{Options, run};
use firstflight_scenario::Scenario;

fn simulated(text: &str) -> RunResult {
    let scenario = Scenario::parse(text, "x.toml").unwrap();
    run(&scenario, &Options::default()).unwrap().runs.remove(0).result
}

/// Half a million datagrams, and next to nothing else.
#[test]
fn a_link_loses_the_mean_share_of_its_chain() {
    for (loss, share) in [("ge:1%,25%", 1.0 / 26.0), ("ge:5%,20%,1%,50%", 0.108), ("3%", 0.03)] {
        let result = simulated(&format!(
            "controls = ['newreno']\nprofile = 'rfc'\nduration = '20s'\n\
             [path]\nloss = '{loss}'\n[[flow]]\nsize = '1KB'\n\
             [[udp]]\nrate = '20Mbps'\npacket = '100B'"
        ));
        let lost = result.bottleneck.random_losses as f64 / 500_000.0;
        assert!((lost / share - 1.0).abs() < 0.05, "{loss}: {lost}");
    }
}

/// A window grows larger over the one of two links of one mean that loses in bursts.
#[test]
fn losses_that_come_together_leave_slow_start_more_time() {
    let exits = |loss: &str| -> f64 {
        let seeds = 1..=20;
        let exit = |seed| {
            let text = format!(
                "controls = ['newreno']\nprofile = 'rfc'\nduration = '20s'\nseed = {seed}\n\
                 ssthresh = 'none'\n\
                 [path]\nrate = '20Mbps'\nrtt = '200ms'\nloss = '{loss}'"
            );
            simulated(&text).flows[0].startup.exit_cwnd_packets.unwrap() as f64
        };
        seeds.map(exit).sum()
    };
    let (apart, together) = (exits("0.5%"), exits("ge:0.0201%,4%"));
    assert!(together > 2.0 * apart, "{together} {apart}");
}
