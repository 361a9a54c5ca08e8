//! The path flags of the command line; each sets a key of a scenario.

/// A flag and the key it sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Its name with dashes: `--access-delay`.
    pub name: &'static str,
    /// The dotted key of the scenario that it sets: `path.access_delay`.
    pub key: &'static str,
    /// The value in force when the flag is not given, as text for the help.
    pub default: &'static str,
    /// Its line in the help.
    pub help: &'static str,
}

/// Declares the flags once: the struct, the table and the way from one to the other.
macro_rules! flags {
    ($($field:ident $name:literal $key:literal $default:literal $help:literal;)+) => {
        /// The path flags as given, unread. Names and meanings are those of the scenario keys.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct PathFlags {
            $(#[doc = $help] pub $field: Option<String>,)+
        }

        impl PathFlags {
            /// Every flag, in the order of the help.
            pub const ALL: &'static [Flag] =
                &[$(Flag { name: $name, key: $key, default: $default, help: $help }),+];

            /// The flags that were given, with their text.
            pub fn given(&self) -> impl Iterator<Item = (&'static Flag, &str)> {
                let values = [$(self.$field.as_deref()),+];
                Self::ALL.iter().zip(values).filter_map(|(flag, text)| Some((flag, text?)))
            }

            /// The text of a flag by its name with dashes, to be filled in; `None` if unknown.
            pub fn slot(&mut self, name: &str) -> Option<&mut Option<String>> {
                match name {
                    $($name => Some(&mut self.$field),)+
                    _ => None,
                }
            }
        }
    };
}

flags! {
    rate "--rate" "path.rate" "40Mbps" "Bottleneck rate";
    rtt "--rtt" "path.rtt" "100ms" "Two-way propagation of the bottleneck, access links excluded";
    buffer "--buffer" "path.buffer" "1bdp" "Bottleneck buffer: 500pkt, 64KiB or 1bdp";
    packet "--packet" "packet" "1000B (quic: 1200B)" "Payload of a packet";
    headers "--headers" "headers" "0B" "Bytes a packet adds on the link";
    access_delay "--access-delay" "path.access_delay" "0ms"
        "One-way delay of each access link, four of them in a round trip";
    access_rate "--access-rate" "path.access_rate" "1Gbps"
        "Rate of the access links; ten times the bottleneck where that is more";
    loss "--loss" "path.loss" "0%"
        "Random loss of data packets: 0.1%, or in bursts ge:0.5%,20% (good to bad, bad to good)";
    duration "--duration" "duration" "20s" "Time measured";
    flows "--flows" "flow[0].count" "1" "Number of flows";
    size "--size" "flow[0].size" "unlimited" "Bytes each flow sends, such as 5MB";
    iw "--iw" "iw" "10pkt (rfc: 1pkt, ns2: 2pkt)" "Initial window";
    ssthresh "--ssthresh" "ssthresh" "none (rfc, ns2: 32pkt)" "Initial ssthresh, or none";
    delayed_ack "--delayed-ack" "delayed_ack" "1 (quic: 2)" "Packets per ACK";
    recovery "--recovery" "recovery" "rack (rfc, ns2: newreno, quic: quic)"
        "Loss recovery: tahoe, reno, newreno, sack, rack, quic, or ns2-linux with profile ns2";
    seed "--seed" "seed" "1" "Seed of every random stream";
    runs "--runs" "runs" "1" "Runs of each control, with seeds from --seed on";
    start_jitter "--start-jitter" "flow[0].start_jitter" "0ms"
        "Each flow starts up to this much later, at random";
    profile "--profile" "profile" "linux"
        "Endpoint constants: linux (today's), rfc or ns2 (the papers'), or quic";
    ns2_release "--ns2-release" "ns2_release" "2.35"
        "With profile ns2: the release whose constants it has: 2.1b6, 2.26 or 2.35";
    syn "--syn" "syn" "true (rfc: false)" "SYN exchange before data: true or false";
    fast_open "--fast-open" "fast_open" "off"
        "Data before the SYN exchange ends: off, on (after a source's first connection) or cookie";
    duplicate_acks "--duplicate-acks" "duplicate_acks" "3"
        "Duplicate ACKs that mean a loss to Reno and NewReno, QUIC's packet threshold";
    split_acks "--split-acks" "split_acks" "1"
        "Parts in which the receiver sends each ACK: ACK splitting";
    receiver_window "--receiver-window" "receiver_window" "unlimited" "Advertised window";
    limited_transmit "--limited-transmit" "limited_transmit" "true"
        "New data on the first two duplicate ACKs: true or false";
    impatient "--impatient" "impatient" "true"
        "Only the first partial ACK restarts the timer: true or false";
    partial_deflation "--partial-deflation" "partial_deflation" "true"
        "A partial ACK takes what it acknowledges out of the window: true or false";
    progress_ends_backoff "--progress-ends-backoff" "progress_ends_backoff" "true (rfc, ns2: false)"
        "New data acknowledged resets RTO back-off, even without an RTT sample: true or false";
    rto_initial "--rto-initial" "rto_initial" "1s (ns2: 3s, quic: 999ms)"
        "RTO before the first sample";
    rto_min "--rto-min" "rto_min" "200ms (rfc: 1s, quic: 1ms)" "Smallest RTO";
    rto_max "--rto-max" "rto_max" "120s (others: 60s)" "Largest RTO";
    rto_granularity "--rto-granularity" "rto_granularity" "1ms (ns2: 10ms)"
        "Granularity of the retransmission clock";
    delayed_ack_timer "--delayed-ack-timer" "delayed_ack_timer"
        "40ms (rfc: 200ms, ns2: 100ms, quic: 25ms)"
        "Longest time an ACK is held back";
    ack_compression "--ack-compression" "ack_compression" "true (rfc, ns2: false)"
        "One ACK for several packets out of order, with rack and delayed ACKs: true or false";
    quick_acks "--quick-acks" "quick_acks" "true"
        "Delayed ACKs begin once the offered window has grown, with rack: true or false";
    growth_limit "--growth-limit" "growth_limit" "true (ns2: false)"
        "No growth while cwnd does not limit the sender: true or false";
    ecn "--ecn" "ecn" "false" "Explicit congestion notification (RFC 3168): true or false";
    ecn_feedback "--ecn-feedback" "ecn_feedback" "rfc3168"
        "How receivers tell of marks: rfc3168, dctcp or accecn";
    ecn_threshold "--ecn-threshold" "path.ecn_threshold" "none"
        "What must wait until packets with ECN are marked: 20pkt, 0.25bdp or 1ms";
    slow_start_after_idle "--slow-start-after-idle" "slow_start_after_idle" "true"
        "A window that a resting source leaves unused is taken back: true or false";
    pacing "--pacing" "pacing" "false (quic: true)"
        "Pace packets where the control does not: true (2 cwnd/srtt, then 1.25) or false";
    tso "--tso" "tso" "false"
        "Senders with segmentation offload, with profile linux: true or false";
    buffer_counts_in_service "--buffer-counts-in-service" "buffer_counts_in_service" "false"
        "A buffer of B packets counts the one being sent: true or false";
}
