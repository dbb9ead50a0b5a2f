// The event bus of the account: what it takes in one request, and entries that it refused.
import { EventBridgeClient, PutEventsCommand, type PutEventsResultEntry } from "@aws-sdk/client-eventbridge";
import { type Clock, SECOND } from "../../../shared/kernel/clock.ts";
import type { Capability, Deps } from "../../../shared/kernel/deps.ts";
import { errorFields } from "../../../shared/kernel/log.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";

/** What an entry names as its source, for the rules of the bus. */
export const SOURCE = "engagement-messaging";

/** Limits of PutEvents, of one request. */
const MAX_ENTRIES = 10;
export const MAX_BYTES = 256 * 1_024;
/** What AWS counts for the time of an entry. */
const TIME_BYTES = 14;

const REQUESTS_AT_ONCE = 10;
/** Pauses before an entry that was refused is sent again; then Lambda delivers its record again, later and later. */
const PAUSES_MS = [0.2 * SECOND, SECOND];

export interface BusEntry {
  /** The sequence numbers of the records that it follows from. */
  positions: readonly string[];
  detailType: string;
  /** Milliseconds. */
  at: number;
  /** JSON. */
  detail: string;
}

export interface EventBus {
  /**
   * Puts entries on the bus, each until it is accepted or its attempts are used up.
   * @returns those that were refused at last
   */
  put(entries: readonly BusEntry[]): Promise<BusEntry[]>;
}

/** Undefined where the deployment names no bus. */
export const eventBus: Capability<"eventBus", EventBus | undefined> = {
  as: "eventBus",
  env: ["EVENT_BUS"],
  grants: [{ actions: ["events:PutEvents"], on: "event-bus" }],
  open: (deps) => {
    const { EVENT_BUS: name } = deps.env;
    const opened = name ? openBus(deps, name) : undefined;
    return () => opened;
  },
};

function openBus({ aws, clock, log }: Pick<Deps, "aws" | "clock" | "log">, EventBusName: string): EventBus {
  // The attempts are counted here, entry by entry.
  const client = aws(EventBridgeClient, { maxAttempts: 1 });

  const request = async (entries: readonly BusEntry[]): Promise<Refused[]> => {
    const Entries = entries.map(({ detailType: DetailType, at, detail: Detail }) => ({
      EventBusName,
      Source: SOURCE,
      DetailType,
      Time: new Date(at),
      Detail,
    }));
    return client.send(new PutEventsCommand({ Entries })).then(
      ({ Entries: results = [] }) => entries.flatMap((entry, n) => refusalOf(entry, results[n])),
      (error: unknown) => entries.map((entry) => ({ entry, reason: errorFields(error) })),
    );
  };

  const attempt = async (entries: readonly BusEntry[]): Promise<Refused[]> => {
    const refused: Refused[] = [];
    for (const some of chunksOf(requestsOf(entries), REQUESTS_AT_ONCE))
      refused.push(...(await Promise.all(some.map(request))).flat());
    return refused;
  };

  return {
    put: async (entries) => {
      const refused = await untilAccepted(attempt, entries, clock);
      const [first] = refused;
      if (first) log({ level: "warn", message: "the bus refuses events", events: refused.length, ...first.reason });
      return refused.map(({ entry }) => entry);
    },
  };
}

interface Refused {
  entry: BusEntry;
  /** For the log. */
  reason: object;
}

/** A successful answer may hold entries that failed. */
function refusalOf(entry: BusEntry, result: PutEventsResultEntry | undefined): Refused[] {
  if (result?.EventId !== undefined) return [];
  return [{ entry, reason: { error: result?.ErrorCode, reason: result?.ErrorMessage } }];
}

async function untilAccepted(
  attempt: (entries: readonly BusEntry[]) => Promise<Refused[]>,
  entries: readonly BusEntry[],
  clock: Clock,
): Promise<Refused[]> {
  let refused = await attempt(entries);
  for (const pause of PAUSES_MS) {
    if (refused.length === 0) return [];
    await clock.sleep(pause);
    refused = await attempt(refused.map(({ entry }) => entry));
  }
  return refused;
}

/** What AWS counts for an entry, in bytes. */
export const sizeOf = ({ detailType, detail }: Pick<BusEntry, "detailType" | "detail">): number =>
  TIME_BYTES + SOURCE.length + Buffer.byteLength(detailType) + Buffer.byteLength(detail);

/** The entries in their order, by requests that keep to the limits. */
export function requestsOf(entries: readonly BusEntry[]): BusEntry[][] {
  const requests: BusEntry[][] = [];
  let room = 0;
  for (const entry of entries) {
    const size = sizeOf(entry);
    const open = requests.at(-1);
    if (open && open.length < MAX_ENTRIES && size <= room) open.push(entry);
    else {
      requests.push([entry]);
      room = MAX_BYTES;
    }
    room -= size;
  }
  return requests;
}
