// A client of the SDK whose service gives answers in turn, and what comes of its calls when all waits pass.
import { vi } from "vitest";
import { createClient } from "../../../sdk/src/client.ts";
import type { ServiceError } from "../../../sdk/src/errors.ts";

interface SentRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: unknown;
  at: number;
}

export const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(status === 204 ? null : JSON.stringify(body), { status, headers });
export const envelope = (status: number, code: string, headers?: Record<string, string>) => () =>
  json(status, { code, message: "no" }, { "x-request-id": "r-1", ...headers });
export const mistake = (error: Error): never => {
  throw error;
};
export const lost = () => mistake(new TypeError("fetch failed"));

/** A client of a service that gives these answers in turn, the last one for ever. */
export function clientOf(...answers: (() => Response)[]) {
  const sent: SentRequest[] = [];
  const fetch = (async (url: string, { method, headers, body }: RequestInit) => {
    sent.push({ url, method: method!, headers: headers as Record<string, string>, body, at: Date.now() });
    return answers[Math.min(sent.length, answers.length) - 1]!();
  }) as typeof globalThis.fetch;
  const keys = { serverKey: "service_srv_x", accessToken: async () => "token", sdkKey: "sk_x" };
  return { sent, fetch, client: createClient({ baseUrl: "https://api.example.com/", ...keys, fetch }) };
}

/** Lets all waits pass. @returns the results of the call. */
export async function outcome<T>(call: Promise<T>): Promise<T | ServiceError> {
  const settled = call.catch((error: unknown) => error as ServiceError);
  await vi.runAllTimersAsync();
  return settled;
}
