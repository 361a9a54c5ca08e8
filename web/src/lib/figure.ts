// What is drawn: panels over one time, the curves of each control, and marks that tell what
// happened. The page draws it, and files are made of it.

import type { Column, Compared, Drawn, FlowResult, Moment, PathSize, Shown } from './answers';

export interface Curve {
  /** The control, for the legend. */
  name: string;
  /** The place of its colour. */
  hue: number;
  /** The minor curve of a control is thin and dotted. */
  minor?: boolean;
  fill?: boolean;
  x: number[];
  y: Column;
}

export interface Level {
  y: number;
  says: string;
}

export interface Panel {
  title: string;
  unit: string;
  curves: Curve[];
  levels: Level[];
}

export interface Mark {
  name: string;
  hue: number;
  what: 'lost' | 'timeout' | 'exit';
  at: number;
  /** Where it stands: the panel, and its height there; without one at the top. */
  panel: number;
  y?: number;
  /** What happened, in a sentence. */
  says: string;
}

export interface Figure {
  end: number;
  panels: Panel[];
  marks: Mark[];
  names: string[];
}

/** `0.123 s`, `1.2`: three digits for people. */
export function digits(value: number, most = 3): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.min(6, Math.max(0, most - 1 - size)));
}

function time(seconds: number): string {
  return seconds < 1 ? `${digits(seconds * 1e3)} ms` : `${digits(seconds)} s`;
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

/** Losses less than a round trip apart are one burst. */
function bursts(moments: Moment[], rtt: number): (Moment & { until: number })[] {
  const all: (Moment & { until: number })[] = [];
  for (const moment of moments) {
    const last = all.findLast((it) => it.what === moment.what);
    if (moment.what === 'lost' && last && moment.time_s - last.until < rtt) {
      last.until = moment.time_s;
      last.count += moment.count;
    } else {
      all.push({ ...moment, until: moment.time_s });
    }
  }
  return all;
}

function valueAt(x: number[], y: Column | undefined, at: number): number | undefined {
  let found: number | undefined;
  for (let i = 0; i < x.length && (x[i] ?? Infinity) <= at; i++) found = y?.[i] ?? found;
  return found;
}

function numbers(column: Column | undefined): number[] {
  return (column ?? []).map((value) => value ?? 0);
}

const REASONS: Record<string, string> = {
  loss: 'because it heard of a loss',
  timeout: 'because its timer fired',
  ssthresh: 'because the window reached ssthresh',
  heuristic: 'by its own sign that the path is full',
  ecn: 'because a router marked its packets',
};

function marksOf(run: Drawn, flow: FlowResult | undefined, hue: number, path: PathSize): Mark[] {
  const columns = run.flows[0];
  const moments = bursts(run.moments[0] ?? [], path.rtt_s);
  const x = numbers(columns?.time_s);
  const queued = (at: number) => valueAt(numbers(run.queue.time_s), run.queue.queue_packets, at);
  const firstLoss = moments.find((it) => it.what === 'lost');
  const mark = (moment: Moment, panel: number, says: string, y?: number): Mark => {
    return { name: run.name, hue, what: moment.what, at: moment.time_s, panel, says, y };
  };
  return moments.map((moment) => {
    const { time_s: at, until } = moment;
    const window = valueAt(x, columns?.cwnd_packets, at);
    const share = window && path.bdp_packets ? window / path.bdp_packets : undefined;
    if (moment.what === 'timeout') {
      return mark(
        moment,
        0,
        `${time(at)}: ${run.name}'s retransmission timer fires. No ACK told it what was lost, ` +
          'so it waited for its clock and begins again with a small window.',
      );
    }
    if (moment.what === 'lost') {
      const full = (queued(at) ?? 0) >= 0.9 * (path.buffer_packets - 1);
      const during = until - at > path.rtt_s / 4 ? ` within ${time(until - at)}` : '';
      const has = moment.count === 1 ? 'is' : 'are';
      const times = share ? `, the window is ${digits(share, 2)} times what the path holds` : '';
      const why = full ? `the buffer is full${times}` : 'the buffer had room: the path lost them';
      const lost = `${count(moment.count, 'packet')} of ${run.name} ${has} lost${during}`;
      return mark(moment, 1, `${time(at)}: ${lost}; ${why}.`);
    }
    const startup = flow?.startup;
    const reason = REASONS[startup?.exit_reason ?? ''] ?? 'for its own reason';
    const size = startup?.exit_window_over_bdp;
    const late =
      firstLoss && firstLoss.time_s < at
        ? ` The first packet was lost ${time(at - firstLoss.time_s)} before: that long it did ` +
          'not know, and went on growing.'
        : '';
    return mark(
      moment,
      0,
      `${time(at)}: ${run.name} leaves start-up ${reason}` +
        `${size ? `, at ${digits(size, 2)} times what the path holds` : ''}.${late}`,
      startup?.exit_cwnd_packets ?? window,
    );
  });
}

/** When all transfers are done, with a little room; else the end of the run. */
function endOf({ results, path }: Compared): number {
  const flows = results.runs.flatMap((run) => run.flows);
  const done = flows.map((flow) => (flow.completion_time_s ?? NaN) + flow.start_s);
  const last = Math.max(...done) * 1.05;
  return last > 0 ? Math.min(last, path.duration_s) : path.duration_s;
}

function windowLevels({ bdp_packets, buffer_packets }: PathSize): Level[] {
  return [
    { y: bdp_packets, says: 'path holds' },
    { y: bdp_packets + buffer_packets, says: 'path and buffer hold' },
  ];
}

function curvesOf(run: Drawn, hue: number, path: PathSize): [Curve[], Curve[], Curve[]] {
  const one = (x: Column | undefined, y: Column | undefined, more?: Partial<Curve>): Curve => {
    return { name: run.name, hue, x: numbers(x), y: y ?? [], ...more };
  };
  const flow = run.flows[0];
  const window: Curve[] = [];
  const other = run.flows[1];
  if (other) {
    window.push(one(other.time_s, other.cwnd_packets, { minor: true, name: `beside ${run.name}` }));
  }
  if (flow?.in_flight_packets && !other) {
    window.push(one(flow.time_s, flow.in_flight_packets, { minor: true }));
  }
  window.push(one(flow?.time_s, flow?.cwnd_packets));
  const queue = one(run.queue.time_s, run.queue.queue_packets, { fill: true });
  const megabytes = flow?.delivered_packets?.map((it) => ((it ?? 0) * path.packet_bytes) / 1e6);
  return [window, [queue], [one(flow?.time_s, megabytes)]];
}

/** The figure of a comparison. */
export function compared(answer: Compared): Figure {
  const { path, results } = answer;
  const end = endOf(answer);
  const curves = answer.runs.map((run, hue) => curvesOf(run, hue, path));
  const of = (place: 0 | 1 | 2) => curves.flatMap((all) => all[place]);
  const wait = Math.max(path.buffer_packets - 1, 0);
  const marks = answer.runs.flatMap((run, hue) => {
    const result = results.runs.find((it) => it.alias === run.name);
    return marksOf(run, result?.flows[0], hue, path);
  });
  return {
    end,
    names: answer.runs.map((run) => run.name),
    marks: marks.filter((mark) => mark.at <= end).sort((a, b) => a.at - b.at),
    panels: [
      { title: 'Window', unit: 'packets', curves: of(0), levels: windowLevels(path) },
      {
        title: 'Queue at the bottleneck',
        unit: 'packets',
        curves: of(1),
        levels: [{ y: wait, says: 'buffer is full' }],
      },
      { title: 'Delivered', unit: 'MB', curves: of(2), levels: [] },
    ],
  };
}

/** What a record says is lost, as marks. */
function lostIn({ lost }: Shown, name: string, { rtt_s }: PathSize): Mark[] {
  const moments = lost.flatMap(([at, all], i): Moment[] => {
    const more = all - (lost[i - 1]?.[1] ?? 0);
    return more > 0 ? [{ what: 'lost', time_s: at, count: more }] : [];
  });
  return bursts(moments, rtt_s).map(({ time_s: at, count: lost }) => {
    const has = lost === 1 ? 'is' : 'are';
    const says = `${time(at)}: ${count(lost, 'packet')} of ${name} ${has} found lost.`;
    return { name, hue: 0, what: 'lost', at, panel: 0, says };
  });
}

/** The figure of a record, with the references over it. */
export function shown(answer: Shown, name: string, until: number): Figure {
  const packet = answer.packet_bytes || 1;
  const inPackets = (points: [number, number][], more?: Partial<Curve>): Curve => ({
    name,
    hue: 0,
    x: points.map(([at]) => at),
    y: points.map(([, it]) => it / packet),
    ...more,
  });
  const judged = answer.document.judged;
  const path: PathSize = {
    bdp_packets: (judged?.bdp_bytes ?? 0) / packet,
    buffer_packets: (judged?.buffer_bytes ?? 0) / packet,
    rate_bps: 0,
    rtt_s: (answer.document.startup.min_rtt_ms ?? 0) / 1e3,
    duration_s: until,
    packet_bytes: packet,
  };
  const references = answer.references.map((run, at) => curvesOf(run, at + 1, path));
  const sent = answer.sent.reduce<[number, number][]>((all, [at, bytes]) => {
    all.push([at, bytes / 1e6]);
    return all;
  }, []);
  const exit = answer.document.startup.exit;
  const ends: Mark[] = exit
    ? [
        {
          name,
          hue: 0,
          what: 'exit',
          at: exit.time_s,
          panel: 0,
          y: exit.cwnd_bytes === null ? undefined : exit.cwnd_bytes / packet,
          says: `${time(exit.time_s)}: start-up ends in ${name}, as its ${exit.evidence} shows.`,
        },
      ]
    : [];
  const panels: Panel[] = [
    {
      title: 'Window',
      unit: 'packets',
      curves: [
        ...references.flatMap((all) => all[0].filter((curve) => !curve.minor)),
        inPackets(answer.in_flight, { minor: true }),
        inPackets(answer.cwnd),
      ],
      levels: judged ? windowLevels(path) : [],
    },
    {
      title: 'Sent',
      unit: 'MB',
      levels: [],
      curves: [
        ...references.flatMap((all) => all[2]),
        { name, hue: 0, x: sent.map(([at]) => at), y: sent.map(([, it]) => it) },
      ],
    },
    {
      title: 'Round trip',
      unit: 'ms',
      levels: [],
      curves: [
        {
          name,
          hue: 0,
          x: answer.smoothed_rtt.map(([at]) => at),
          y: answer.smoothed_rtt.map(([, ms]) => ms),
        },
      ],
    },
  ];
  const has = (panel: Panel) => panel.curves.some((curve) => curve.x.length > 1);
  return {
    end: until,
    names: [name, ...answer.references.map((run) => run.name)],
    marks: [...lostIn(answer, name, path), ...ends].filter((mark) => mark.at <= until),
    panels: panels.filter(has),
  };
}
