// The totals of a simulation on history (F3): their size does not depend on the length of the history.
import { byText } from "../kernel/order.ts";
import { costOfSend, type ProviderCost, roundedDollars, WIDE_FROM } from "./cost.ts";
import { edgesOf, takenOf } from "./journey-edges.ts";
import type { Graph } from "./journey-graph.ts";

export interface ReplayTally {
  subscribers: number;
  runs: Record<"active" | "completed" | "exited", number>;
  steps: Record<string, { active: number; outcomes: Record<string, number>; repeated: number }>;
  /** Messages by `<day> <channel>`, at their sending time. */
  sends: Record<string, number>;
  /** Sends that reach no subscriber, by reason. */
  skipped: Record<string, number>;
  /** Sends that wait for the end of quiet hours. */
  deferred: number;
  /** Recipients by each class of channels that reaches them; the total counts each once. */
  classes: Record<string, number>;
  recipients: number;
  provider?: ProviderCost;
  /** Subscribers with too many events or moves to be replayed completely. */
  cut: number;
}

export const emptyTally = (): ReplayTally => ({
  subscribers: 0,
  runs: { active: 0, completed: 0, exited: 0 },
  steps: {},
  sends: {},
  skipped: {},
  deferred: 0,
  classes: {},
  recipients: 0,
  cut: 0,
});

const NO_CHARGE: ProviderCost = { dollars: 0, unpriced: [] };

export function charge(tally: ReplayTally, channel: string, price: number | undefined): void {
  const { dollars, unpriced } = tally.provider ?? NO_CHARGE;
  const isNew = price === undefined && !unpriced.includes(channel);
  tally.provider = { dollars: dollars + (price ?? 0), unpriced: isNew ? [...unpriced, channel].sort() : unpriced };
}

export const count = (numbers: Record<string, number>, name: string): void => {
  numbers[name] = (Object.hasOwn(numbers, name) ? (numbers[name] ?? 0) : 0) + 1;
};

/** The numbers of a step, created if there are none. */
export function stepOf({ steps }: ReplayTally, id: string): ReplayTally["steps"][string] {
  const found = Object.hasOwn(steps, id) ? steps[id] : undefined;
  if (found) return found;
  const added = { active: 0, outcomes: {}, repeated: 0 };
  steps[id] = added;
  return added;
}

/** The summary for clients. */
export function summaryOf({ steps: counted, provider = NO_CHARGE, ...tally }: ReplayTally, graph: Graph) {
  const ids = Object.keys(graph.steps);
  const none = { active: 0, outcomes: {}, repeated: 0 };
  const of = (id: string) => (Object.hasOwn(counted, id) ? counted[id] : undefined) ?? none;
  const edges = edgesOf(graph).map((edge) => ({ ...edge, taken: takenOf(edge, of(edge.from).outcomes) }));
  const sends = Object.entries(tally.sends).map(([name, sent]) => {
    const [day = "", channel = ""] = name.split(" ");
    return { day, channel, sent };
  });
  const { active, completed, exited } = tally.runs;
  return {
    subscribers: tally.subscribers,
    entered: active + completed + exited,
    runs: tally.runs,
    steps: Object.fromEntries(ids.map((id) => [id, { active: of(id).active, outcomes: of(id).outcomes }])),
    edges,
    dead: edges.filter(({ taken }) => taken === 0).map(({ taken: _, ...edge }) => edge),
    loops: Object.fromEntries(ids.flatMap((id) => (of(id).repeated > 0 ? [[id, of(id).repeated]] : []))),
    sends: sends.sort(byText(({ day, channel }) => `${day} ${channel}`)),
    skipped: tally.skipped,
    deferred: tally.deferred,
    cut_short: tally.cut,
    cost: costOfSend(
      {
        reached: tally.classes,
        isWide: tally.recipients >= WIDE_FROM,
        audience: "given",
        lookedUp: 0,
        direct: undefined,
        isBySmtp: false,
      },
      { ...provider, dollars: roundedDollars(provider.dollars) },
    ),
  };
}
