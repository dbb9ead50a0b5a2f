// What a client asks once all is at rest: the service answers on virtual time, without faults.
import { MINUTE } from "../../shared/kernel/clock.ts";
import type { Answer, Request } from "./front-door.ts";
import type { Tenant } from "./tenants.ts";
import type { SimWorld } from "./world.ts";

const PAGE = 100;

const isUnanswered = ({ status }: Answer): boolean => status === 401 || status === 503 || status === 0;

/** A request of the dashboard, for the end of a run: the kernel runs until all is at rest again. */
export async function ask(world: SimWorld, tenant: Tenant, route: string, request: Request = {}): Promise<Answer> {
  // Nobody is left who could ask.
  if (world.ledger.deleted.has(tenant.id)) return { status: 403, body: undefined };
  let answer: Answer | undefined;
  // A token of a clock that is ahead is refused by one that is behind, a process may die, and all may be at rest while
  // AWS still throttles, until the client asks again.
  const untilAnswered = async () => {
    do {
      answer = await world.call(tenant, "dashboard", route, request);
      if (isUnanswered(answer)) await world.kernel.sleep(MINUTE);
    } while (isUnanswered(answer));
  };
  void untilAnswered();
  const { kernel } = world;
  const ended = await kernel.run(() =>
    answer && !isUnanswered(answer) && kernel.pending() === 0 ? { kind: "answered" as const, answer } : undefined,
  );
  return ended.kind === "answered" ? ended.answer : (answer ?? { status: 0, body: undefined });
}

// biome-ignore lint/suspicious/noExplicitAny: an invariant reads whatever JSON came back
type Json = any;

/** All notifications of a workspace; undefined if it is not open to requests. */
export async function askForJobs(world: SimWorld, tenant: Tenant): Promise<Json[] | undefined> {
  const jobs: Json[] = [];
  let cursor = "";
  do {
    const query = { limit: String(PAGE), ...(cursor && { cursor }) };
    const { status, body } = await ask(world, tenant, "GET /api/v1/notifications", { query });
    if (status !== 200) return undefined;
    jobs.push(...body.items);
    cursor = body.next_cursor;
  } while (cursor);
  return jobs;
}
