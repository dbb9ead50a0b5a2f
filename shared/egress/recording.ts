// The egress client of a sandbox: it connects to nothing, and records requests in its outbox.
import type { Deps, Sandbox } from "../kernel/deps.ts";
import { openOutbox } from "../store/sandbox/outbox.ts";
import { type Egress, openEgress } from "./egress.ts";
import type { Network } from "./network.ts";

/** The query parameter of a webhook's target with the status that the sandbox answers in place of the receiver. */
const STATUS_PARAMETER = "sandbox_status";
const NOWHERE = { kind: "not_sent", reason: "nothing leaves a sandbox", isRefused: true } as const;

export interface OutboundDeps extends Deps {
  /** What the egress client connects through. Default: the real network. */
  network?: Network;
  /** Replaces the egress client: the simulator has one on virtual time. */
  egress?: Egress;
}

/** The egress client of a function. In a sandbox requests are recorded and never sent. */
export function egressOf(deps: OutboundDeps): Egress {
  const outside = openEgress(deps);
  return deps.sandbox ? recordingEgress(deps, deps.sandbox, outside) : outside;
}

/** Makes the egress client of a sandbox. @param outside tells which targets are allowed, as outside of a sandbox */
function recordingEgress(deps: Deps, sandbox: Sandbox, outside: Egress): Egress {
  const record = openOutbox(deps, sandbox);
  return {
    ...outside,
    connect: () => Promise.resolve(NOWHERE),
    request: async ({ purpose, url, headers = {}, body = "" }) => {
      const refused = outside.refusal(url, purpose);
      if (refused !== undefined) return { kind: "not_sent", reason: `the URL ${refused}`, isRefused: true };
      if (purpose !== "webhook") return NOWHERE;
      await record({ channel: "webhook", to: url, headers, body: Buffer.from(body).toString() });
      return { kind: "answered", status: statusIn(url), headers: {}, body: "" };
    },
  };
}

function statusIn(url: string): number {
  const status = Number(new URL(url).searchParams.get(STATUS_PARAMETER) ?? 200);
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : 200;
}
