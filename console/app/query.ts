// Reads: cached by operation and arguments, one flight each, known data shown while it refreshes. Writes name what they make stale.
import { type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ServiceError } from "../../sdk/src/errors.ts";
import { plans } from "./access.gen.ts";
import { type AnswerOf, type ArgumentsOf, call, type Operation } from "./api.ts";
import { me } from "./session.ts";

interface ReadState<T> {
  data: T | undefined;
  error: ServiceError | undefined;
  isLoading: boolean;
  /** When the data arrived, in milliseconds of this machine. */
  at: number;
}

interface Entry {
  operation: string;
  state: Signal<ReadState<unknown>>;
  flight: Promise<void> | undefined;
  users: number;
  load(): Promise<void>;
}

const FRESH_MS = 3_000;
const MIN_EVERY_MS = 2_000;
const POLLING_SHARE = 0.2;

const entries = new Map<string, Entry>();
let pollers = 0;

const asServiceError = (cause: unknown): ServiceError =>
  cause instanceof ServiceError ? cause : new ServiceError(String(cause), { status: 0, code: "ERROR", cause });

function entryOf<O extends Operation>(operation: O, given: ArgumentsOf<O>): Entry {
  const key = JSON.stringify([operation, given]);
  const found = entries.get(key);
  if (found) return found;
  const state = signal<ReadState<unknown>>({ data: undefined, error: undefined, isLoading: true, at: 0 });
  const load = async () => {
    state.value = { ...state.value, isLoading: true };
    try {
      const data = await call(operation, given);
      state.value = { data, error: undefined, isLoading: false, at: Date.now() };
    } catch (cause) {
      state.value = { ...state.value, error: asServiceError(cause), isLoading: false };
    }
  };
  const entry: Entry = {
    operation,
    state,
    flight: undefined,
    users: 0,
    load: () => {
      entry.flight ??= load().finally(() => {
        entry.flight = undefined;
      });
      return entry.flight;
    },
  };
  entries.set(key, entry);
  return entry;
}

/** Reads ahead: a component that needs it later finds the answer, or the request in flight. */
export function ask<O extends Operation>(operation: O, ...given: ArgumentsOf<O>): void {
  const entry = entryOf(operation, given);
  if (Date.now() - entry.state.value.at > FRESH_MS) void entry.load();
}

export type Query<T> = ReadState<T> & { refresh(): void };

type Every = number | undefined;

export interface ReadOptions<T> {
  /** Polls about this often, in milliseconds; less often where the plan allows fewer requests. Undefined: no polling. */
  every?: Every | ((known: T | undefined) => Every);
  /** False: does not ask yet. */
  when?: boolean;
}

const NOTHING: ReadState<never> = { data: undefined, error: undefined, isLoading: false, at: 0 };

export function useQuery<O extends Operation>(
  operation: O,
  given: ArgumentsOf<O>,
  { every, when = true }: ReadOptions<AnswerOf<O>> = {},
): Query<AnswerOf<O>> {
  const entry = when ? entryOf(operation, given) : undefined;
  useEffect(() => {
    if (!entry) return undefined;
    entry.users += 1;
    if (Date.now() - entry.state.value.at > FRESH_MS) void entry.load();
    return () => {
      entry.users -= 1;
    };
  }, [entry]);
  // The cache holds what the operation answered, hence the cast.
  const read = (entry?.state.value ?? NOTHING) as ReadState<AnswerOf<O>>;
  const pause = typeof every === "function" ? every(read.data) : every;
  useEffect(() => (entry && pause ? poll(entry, pause) : undefined), [entry, pause]);
  return { ...read, refresh: () => void entry?.load() };
}

/** At most a fifth of the plan's requests, never while the page is hidden, and not before `Retry-After`. */
function poll(entry: Entry, every: number): () => void {
  pollers += 1;
  let timer = 0;
  const next = () => {
    const perMinute = plans[me.value?.tenant.plan ?? ""]?.requestsPerMinute ?? 60;
    const fair = (60_000 * pollers) / (perMinute * POLLING_SHARE);
    const wait = (entry.state.value.error?.retryAfterSeconds ?? 0) * 1_000;
    timer = setTimeout(tick, Math.max(MIN_EVERY_MS, every, fair, wait));
  };
  const tick = async () => {
    if (!document.hidden) await entry.load();
    next();
  };
  next();
  return () => {
    pollers -= 1;
    clearTimeout(timer);
  };
}

/** Marks operations as stale by prefix (`campaigns.` or `campaigns.get`), and reads again what is on the screen. */
export function invalidate(...prefixes: string[]): void {
  for (const [key, entry] of entries) {
    if (!prefixes.some((prefix) => entry.operation.startsWith(prefix))) continue;
    // A request in flight may have been answered before the write.
    if (entry.users > 0) void (entry.flight ? entry.flight.then(entry.load) : entry.load());
    else entries.delete(key);
  }
}

export function forgetAll(): void {
  entries.clear();
}
