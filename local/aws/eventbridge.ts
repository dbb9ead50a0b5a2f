// The embedded EventBridge: buses that take events by PutEvents. There are no rules: its owner reads the events.
import { isRecord, membersOf, type Operations, operateOn, readers, refuseOthers } from "./members.ts";
import { awsFailure, type StandIn, type Wire } from "./stand-in.ts";
import { type Clock, SECOND } from "./time.ts";

/** An event as a rule's target gets it. */
interface BusEvent {
  version: "0";
  id: string;
  "detail-type": string;
  source: string;
  account: string;
  /** RFC 3339, to the second. */
  time: string;
  region: string;
  resources: string[];
  detail: unknown;
}

/** Why an entry is refused, in an answer that is otherwise successful. */
export interface EntryFailure {
  ErrorCode: string;
  ErrorMessage: string;
  /** The whole request fails with it, as without permission. */
  ofRequest?: true;
}

export interface EventBridge extends StandIn {
  /** The newest events of a bus, oldest first. */
  events(bus: string): readonly BusEvent[];
  clear(): void;
  /** Decides which entries are refused, until the next call; without a function all pass. */
  refuse(failureOf?: (entry: Wire) => EntryFailure | undefined): void;
  meter(): { requests: number; entries: number };
  resetMeter(): void;
}

interface EventBridgeDeps {
  clock: Pick<Clock, "now">;
  ids: { uuid(): string };
  account: string;
  region: string;
}

/** The limits of a request, as AWS documents them. */
const MAX_ENTRIES = 10;
const MAX_BYTES = 256 * 1_024;
const TIME_BYTES = 14;
/** How many events of a bus can be looked at. */
const MAX_KEPT = 10_000;

const members = membersOf({ PutEvents: "Entries", CreateEventBus: "Name", DescribeEventBus: "Name" });
const entryMembers = new Set(["Time", "Source", "Resources", "DetailType", "Detail", "EventBusName"]);
const read = readers("ValidationException", "ValidationException");

export function createEventBridge({ clock, ids, account, region }: EventBridgeDeps): EventBridge {
  const buses = new Map<string, BusEvent[]>([["default", []]]);
  let failureOf: (entry: Wire) => EntryFailure | undefined = () => undefined;
  let meter = { requests: 0, entries: 0 };

  const arnOf = (name: string) => `arn:aws:events:${region}:${account}:event-bus/${name}`;

  const take = (entry: Wire, refusal: EntryFailure | undefined): Wire => {
    const failure = faultOf(entry) ?? refusal;
    if (failure) return { ...failure };
    const id = ids.uuid();
    const { Time, Resources } = entry;
    const at = typeof Time === "number" ? Time * SECOND : clock.now();
    // AWS accepts events for a bus that does not exist, and drops them.
    const bus = buses.get(nameOf(entry));
    bus?.push({
      version: "0",
      id,
      "detail-type": String(entry.DetailType),
      source: String(entry.Source),
      account,
      time: `${new Date(at).toISOString().slice(0, 19)}Z`,
      region,
      resources: Array.isArray(Resources) ? Resources.map(String) : [],
      detail: JSON.parse(String(entry.Detail)),
    });
    if (bus && bus.length > MAX_KEPT) bus.shift();
    return { EventId: id };
  };

  const operations: Operations = {
    PutEvents: (input) => {
      const entries = read.records(input, "Entries");
      meter = { requests: meter.requests + 1, entries: meter.entries + entries.length };
      checkRequest(entries);
      const refusals = entries.map((entry) => failureOf(entry));
      const whole = refusals.find((refusal) => refusal?.ofRequest);
      if (whole) throw awsFailure(whole.ErrorCode, whole.ErrorMessage);
      const answers = entries.map((entry, n) => take(entry, refusals[n]));
      return { FailedEntryCount: answers.filter(({ EventId }) => EventId === undefined).length, Entries: answers };
    },
    CreateEventBus: (input) => {
      const name = read.needed(input, "Name");
      if (buses.has(name)) throw awsFailure("ResourceAlreadyExistsException", `Event bus ${name} already exists.`);
      buses.set(name, []);
      return { EventBusArn: arnOf(name) };
    },
    DescribeEventBus: (input) => {
      const name = read.text(input, "Name") ?? "default";
      if (!buses.has(name)) throw awsFailure("ResourceNotFoundException", `Event bus ${name} does not exist.`);
      return { Name: name, Arn: arnOf(name) };
    },
  };

  return {
    operate: operateOn(members, operations),
    events: (bus) => buses.get(bus) ?? [],
    clear: () => {
      for (const events of buses.values()) events.length = 0;
    },
    refuse: (next = () => undefined) => {
      failureOf = next;
    },
    meter: () => meter,
    resetMeter: () => {
      meter = { requests: 0, entries: 0 };
    },
  };
}

/** The name of a bus, which a request gives by name or by ARN. */
const nameOf = ({ EventBusName = "default" }: Wire): string => String(EventBusName).split("/").at(-1) ?? "";

function checkRequest(entries: readonly Wire[]): void {
  for (const entry of entries) refuseOthers(entry, entryMembers, "an entry of PutEvents");
  if (entries.length === 0 || entries.length > MAX_ENTRIES) {
    const rule = entries.length === 0 ? "greater than or equal to 1" : `less than or equal to ${MAX_ENTRIES}`;
    throw read.refuse(
      `1 validation error detected: Value at 'entries' failed to satisfy constraint: Member must have length ${rule}`,
    );
  }
  if (entries.reduce((sum, entry) => sum + sizeOf(entry), 0) > MAX_BYTES)
    throw read.refuse("Total size of the entries in the request is over the limit.");
}

function sizeOf({ Time, Source, DetailType, Detail, Resources }: Wire): number {
  const texts = [Source, DetailType, Detail, ...(Array.isArray(Resources) ? Resources : [])];
  const bytes = texts.reduce<number>((sum, text) => sum + Buffer.byteLength(String(text ?? "")), 0);
  return bytes + (Time === undefined ? 0 : TIME_BYTES);
}

/** The fault of the entry itself. */
function faultOf(entry: Wire): EntryFailure | undefined {
  for (const name of ["Source", "DetailType", "Detail"])
    if (typeof entry[name] !== "string" || entry[name] === "")
      return {
        ErrorCode: "InvalidArgument",
        ErrorMessage: `Parameter ${name} is not valid. Reason: ${name} is a required argument.`,
      };
  if (String(entry.Source).startsWith("aws."))
    return { ErrorCode: "NotAuthorizedForSourceException", ErrorMessage: "Not authorized for the source." };
  return isObject(String(entry.Detail))
    ? undefined
    : { ErrorCode: "MalformedDetail", ErrorMessage: "Detail is malformed." };
}

function isObject(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}
