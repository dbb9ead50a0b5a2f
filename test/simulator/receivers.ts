// The servers that webhooks are posted to: they answer on virtual time, refuse, fall silent and are away for a while.
import type { Egress } from "../../shared/egress/egress.ts";
import type { Exchange } from "../../shared/egress/exchange.ts";
import { SECOND } from "../../shared/kernel/clock.ts";
import type { Faults } from "./faults.ts";
import type { Fleet, Process } from "./fleet.ts";
import type { Kernel } from "./kernel.ts";

/** A request that reached a server. */
export interface Post {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** When it came. */
  at: number;
  /** The process that sent it. */
  by: Process;
  /** The status that the service was told. Absent if it was told none, and if its process died. */
  status?: number;
}

export interface Receivers {
  posts: Post[];
  /** Attempts at each delivery, of connections that failed too. */
  tries: Map<string, number>;
  /** Until when a server answers 503. */
  away: Map<string, number>;
  clientOf(process: Process): Egress;
}

const MAX_TRANSIT_MS = 200;
const SLOW_MS = 8 * SECOND;
const HANG_MS = 10 * SECOND;

export function openReceivers({
  kernel,
  faults,
  fleet,
}: {
  kernel: Kernel;
  faults: Faults;
  fleet(): Fleet;
}): Receivers {
  const posts: Post[] = [];
  const away = new Map<string, number>();
  const tries = new Map<string, number>();

  const clientOf = (process: Process): Egress => {
    const { random } = process;
    const { profile } = faults;
    const hits = (probability: number) => faults.strikes(random, probability);
    const way = () =>
      new Promise<void>((resolve) => {
        const ms = hits(profile.providerSlow) ? SLOW_MS : random.between(1, MAX_TRANSIT_MS);
        kernel.after(ms, () => process.alive && resolve());
      });
    const die = (why: string) => {
      fleet().crash(process, why);
      return new Promise<never>(() => undefined);
    };
    const statusOf = (url: string) => {
      if ((away.get(url) ?? 0) > kernel.now()) return 503;
      if (hits(profile.providerTransient)) return 500;
      return hits(profile.providerPermanent) ? 410 : 200;
    };
    const request: Egress["request"] = async ({ url, headers = {}, body = "" }): Promise<Exchange> => {
      const delivery = headers["x-service-delivery"] ?? "";
      tries.set(delivery, (tries.get(delivery) ?? 0) + 1);
      await way();
      if (hits(profile.crash)) return die("before a request to a receiver");
      if (hits(profile.providerThrottle))
        return { kind: "not_sent", reason: "the connection failed (ECONNREFUSED)", isRefused: false };
      const post: Post = { url, headers, body: String(body), at: kernel.now(), by: process };
      posts.push(post);
      const status = statusOf(url);
      kernel.note(`${process.label} posts ${delivery} to ${url}: ${status}`);
      if (hits(profile.crash)) return die("after a request to a receiver");
      if (hits(profile.providerSilent)) {
        await process.clock.sleep(HANG_MS);
        return { kind: "unknown", reason: "no answer in time" };
      }
      post.status = status;
      return { kind: "answered", status, headers: {}, body: "" };
    };
    return {
      request,
      connect: async () => ({ kind: "not_sent", reason: "there is no such server", isRefused: true }),
      records: async () => ({ kind: "known", records: [] }),
      refusal: () => undefined,
      serverRefusal: () => undefined,
    };
  };
  return { posts, tries, away, clientOf };
}
