// What clients asked for and were told: the promises that the invariants hold the service to.

export interface Person {
  tenant: string;
  id: string;
  external_id: string;
  /** Text found nowhere else: in the e-mail address, the external id and an attribute. */
  canary: string;
  /** From when on every audience must hold it: its upsert was acknowledged. */
  since: number;
  /** Somebody has begun to erase it. */
  erasingSince?: number;
  /** The erasure was acknowledged. */
  erasedAt?: number;
}

export interface Send {
  tenant: string;
  /** The name of the job: one per request of a client. */
  label: string;
  startedAt: number;
  ids: string[] | undefined;
  scheduledAt: number | undefined;
  holdout: number;
  splitShare: number | undefined;
  /** The planned size is exact in the answer. */
  small: boolean;
  /** Nobody touches its template, its channel or its schedule. */
  mustComplete: boolean;
  /** Ids answered with 200 or 201. */
  jobs: Set<string>;
  sent: number | undefined;
  canceledAt?: number;
}

/** What a reader was told of a message: it was read, dismissed, or among those that read-all read. */
export interface Mark {
  person: string;
  message: string;
  kind: "read" | "dismissed" | "read-all";
  read_at?: string | undefined;
  /** When the answer came. */
  at: number;
}

/** An inbox as a reader saw it. */
export interface Listing {
  person: string;
  /** When the request set out. */
  startedAt: number;
  at: number;
  messages: { id: string; status: string; read_at?: string }[];
}

export interface Ledger {
  people: Map<string, Person>;
  sends: Map<string, Send>;
  /** By the id of the job. */
  byJob: Map<string, Send>;
  /** Acknowledged cancellations, by job. */
  canceled: Map<string, number>;
  marks: Mark[];
  listings: Listing[];
  /** Inbox rows ever written: by job, by subscriber, the id of the message. */
  delivered: Map<string, Map<string, string>>;
}

export const openLedger = (): Ledger => ({
  people: new Map(),
  sends: new Map(),
  byJob: new Map(),
  canceled: new Map(),
  marks: [],
  listings: [],
  delivered: new Map(),
});

/** Whether a send must have reached this person, or held it out: there before it began and never erased. */
export function mustHold(send: Send, person: Person): boolean {
  const from = Math.max(send.startedAt, send.scheduledAt ?? 0);
  const isIn = send.ids ? send.ids.includes(person.id) : true;
  return person.tenant === send.tenant && isIn && person.erasingSince === undefined && person.since < from;
}
