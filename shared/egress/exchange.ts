// The outcome of a request, and the parts that connections of both HTTP versions share.
import type { Duplex } from "node:stream";
import { namedError } from "../kernel/errors.ts";
import type { Target } from "./targets.ts";

/** The outcome of a request, as far as it is known. */
export type Exchange =
  | { kind: "answered"; status: number; headers: Readonly<Record<string, string>>; body: string }
  /** The request was not sent. `isRefused`: the target is never allowed, so a retry is useless. */
  | { kind: "not_sent"; reason: string; isRefused: boolean }
  /** The request was sent but not answered: it may have had its effect. */
  | { kind: "unknown"; reason: string };

export interface OutgoingRequest {
  method: string;
  target: Target;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  signal: AbortSignal;
}

/** Connects to a checked address. */
export type Connect = (target: Target, tls: readonly string[], signal: AbortSignal) => Promise<Duplex>;

/** Sends requests over its own connections. */
export type Pool = (request: OutgoingRequest) => Promise<Exchange>;

const REFUSED = "RefusedTarget";
export const refusedTarget = (message: string): Error => namedError(REFUSED, message);

export function notSent(error: unknown): Exchange & { kind: "not_sent" } {
  const isRefused = error instanceof Error && error.name === REFUSED;
  return { kind: "not_sent", reason: reasonOf(error), isRefused };
}

/** A short reason, without addresses or other internals of a network. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "the connection failed";
  return "code" in error && error.code ? `the connection failed (${error.code})` : error.message;
}
