// The event bus of the account: its limits of one request, and refused entries.
import { EventBridgeClient, PutEventsCommand, type PutEventsResultEntry } from "@aws-sdk/client-eventbridge";
import { type Clock, SECOND } from "../../../shared/kernel/clock.ts";
import { type Deps, perEnvironment } from "../../../shared/kernel/deps.ts";
import { errorFields } from "../../../shared/kernel/log.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { type BusEntry, eventsOf, requestsOf, SOURCE } from "./entries.ts";
import { isTransient, type Refusals, type RefusedEntry, refusalsOf, split } from "./refusals.ts";

const REQUESTS_AT_ONCE = 10;
/** Pauses before a refused entry is sent again. Afterwards Lambda delivers its record again, with growing delays. */
const PAUSES_MS = [0.2 * SECOND, SECOND];

interface EventBus {
  /** Puts entries on the bus, each until it is accepted, refused permanently, or its attempts are used up. */
  put(entries: readonly BusEntry[]): Promise<Refusals>;
}

/** Undefined if the deployment has no bus. */
export const eventBus = /* @__PURE__ */ perEnvironment(
  "eventBus",
  { env: ["EVENT_BUS"], grants: [{ actions: ["events:PutEvents"], on: "event-bus" }] },
  (deps): EventBus | undefined => {
    const { EVENT_BUS: name } = deps.env;
    return name ? openBus(deps, name) : undefined;
  },
);

function openBus({ aws, clock, log }: Pick<Deps, "aws" | "clock" | "log">, EventBusName: string): EventBus {
  // The attempts are counted here, entry by entry.
  const client = aws(EventBridgeClient, { maxAttempts: 1 });

  const request = async (entries: readonly BusEntry[]): Promise<RefusedEntry[]> => {
    const Entries = entries.map(({ detailType: DetailType, at, detail: Detail }) => ({
      EventBusName,
      Source: SOURCE,
      DetailType,
      Time: new Date(at),
      Detail,
    }));
    try {
      const { Entries: results = [] } = await client.send(new PutEventsCommand({ Entries }));
      return entries.flatMap((entry, n) => refusalOf(entry, results[n]));
    } catch (error) {
      const reason = { code: error instanceof Error ? error.name : "unknown", ...errorFields(error) };
      if (entries.length === 1 || isTransient(reason.code)) return entries.map((entry) => ({ entry, ...reason }));

      // One entry may be the reason why all were refused.
      const refused: RefusedEntry[] = [];
      for (const entry of entries) refused.push(...(await request([entry])));
      return refused;
    }
  };

  const attempt = async (entries: readonly BusEntry[]): Promise<RefusedEntry[]> => {
    const refused: RefusedEntry[] = [];
    for (const batch of chunksOf(requestsOf(entries), REQUESTS_AT_ONCE))
      refused.push(...(await Promise.all(batch.map(request))).flat());
    return refused;
  };

  return {
    put: async (entries) => {
      const refused = await attemptRepeatedly(attempt, entries, clock);
      const refusals = refusalsOf(refused, { takesOthers: refused.length < entries.length });

      const [first] = refused;
      if (first) {
        const { entry: _, ...reason } = first;
        const [later, never] = [eventsOf(refusals.later), eventsOf(refusals.never)];
        log({ level: "warn", message: "the bus refuses events", events: later + never, never, ...reason });
      }

      return refusals;
    },
  };
}

/** A successful answer may hold entries that failed. */
function refusalOf(entry: BusEntry, result: PutEventsResultEntry | undefined): RefusedEntry[] {
  if (result?.EventId !== undefined) return [];
  const code = result?.ErrorCode ?? "unknown";
  return [{ entry, code, error: `${code}: ${result?.ErrorMessage}` }];
}

/**
 * Attempts all entries, and temporarily refused ones again after each pause.
 * @returns the entries that are still refused
 */
async function attemptRepeatedly(
  attempt: (entries: readonly BusEntry[]) => Promise<RefusedEntry[]>,
  entries: readonly BusEntry[],
  clock: Clock,
): Promise<RefusedEntry[]> {
  const settled: RefusedEntry[] = [];
  let refused = await attempt(entries);
  for (const pause of PAUSES_MS) {
    const [transient, lasting] = split(refused, ({ code }) => isTransient(code));
    settled.push(...lasting);
    if (transient.length === 0) return settled;

    await clock.sleep(pause);
    refused = await attempt(transient.map(({ entry }) => entry));
  }
  return [...settled, ...refused];
}
