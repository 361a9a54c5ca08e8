// What the module answers, as far as the page reads it. crates/web writes it.

export interface Named {
  name: string;
  says: string;
  watches: string | null;
  believes: string | null;
  fails: string | null;
  source: string | null;
}

export interface Entry {
  id: string;
  name: string;
  title: string;
  group: string;
  toml: string;
  about: string;
  why: string;
  expected: string;
  is_matrix: boolean;
}

export interface Lists {
  version: string;
  controls: Named[];
  aliases: Named[];
  avoidances: string[];
  references: string[];
  rules: Named[];
  groups: Named[];
  scenarios: Entry[];
}

export type Column = (number | null)[];

export interface FlowColumns {
  time_s: Column;
  cwnd_packets?: Column;
  ssthresh_packets?: Column;
  in_flight_packets?: Column;
  srtt_ms?: Column;
  delivered_packets?: Column;
}

export interface QueueColumns {
  time_s?: Column;
  queue_packets?: Column;
}

export interface Moment {
  time_s: number;
  what: 'lost' | 'timeout' | 'exit';
  count: number;
}

export interface Drawn {
  name: string;
  flows: FlowColumns[];
  queue: QueueColumns;
  moments: Moment[][];
}

export interface Startup {
  exit_time_s: number | null;
  exit_reason: string | null;
  exit_cwnd_packets: number | null;
  exit_window_over_bdp: number | null;
  time_to_bdp_s: { '0.9': number | null };
}

export interface FlowResult {
  control: string;
  start_s: number;
  throughput_bps: number;
  utilization: number;
  timeouts: number;
  retransmitted_packets: number;
  completion_time_s: number | null;
  startup: Startup;
}

export interface RunResult {
  alias: string;
  seed: number;
  total_throughput_bps: number;
  utilization: number;
  flows: FlowResult[];
  bottleneck: { drops: number; peak_queue_packets: number };
}

export interface PathSize {
  bdp_packets: number;
  buffer_packets: number;
  rate_bps: number;
  rtt_s: number;
  duration_s: number;
  packet_bytes: number;
}

export interface Expected {
  control: string;
  field: string;
  expected: string;
  measured: string;
  holds: boolean;
}

export interface Compared {
  results: { runs: RunResult[] };
  words: string[];
  conditions: string;
  path: PathSize;
  runs: Drawn[];
  expectations: Expected[];
  toml: string;
}

/** Flow, number, and when it left, came to the slowest link, left its queue, was lost, arrived. */
export type Packet = [
  number,
  number,
  number,
  number | null,
  number | null,
  number | null,
  number | null,
];

/** What a control sends; an ACK is its flow, the next packet expected, when it left and came. */
export interface Followed {
  name: string;
  is_full: boolean;
  packets: Packet[];
  acks: [number, number, number, number][];
}

export type Points = [number, number][];

export interface Shown {
  document: {
    form: string;
    startup: {
      duration_s: number;
      min_rtt_ms: number | null;
      packets_lost: number | null;
      exit: { time_s: number; cwnd_bytes: number | null; evidence: string } | null;
    };
    judged?: {
      log: StartUpRow;
      references: StartUpRow[];
      bdp_bytes: number;
      buffer_bytes: number;
    };
  };
  named: string;
  cautions: string[];
  words: string | null;
  packet_bytes: number;
  connections: string[];
  cwnd: Points;
  ssthresh: Points;
  in_flight: Points;
  smoothed_rtt: Points;
  lost: Points;
  sent: Points;
  references: Drawn[];
}

export interface StartUpRow {
  name: string;
  time_s: number | null;
  exit_time_s: number | null;
  exit_window_over_bdp: number | null;
  lost_packets: number | null;
}

export interface Judgement {
  control: string;
  references: string[];
  scenarios: {
    id: string;
    name: string;
    title: string;
    verdicts: Record<string, string>;
    reasons: Record<string, string>;
    seeds: number;
  }[];
}

export interface Advice {
  sentences: string[];
  unknown: { name: string; between: string }[];
  controls: {
    control: string;
    role: string | null;
    gentle: boolean;
    median_s: number;
    least_s: number;
    most_s: number;
    over_own: number;
    again: number;
  }[];
}
