// A sandbox whose clock is moved, now and then by two at once, while its sends, its journey, its schedule and its webhook
// run. Beside it a workspace whose time must not move.
import { HOUR, MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { graphOf, senderBy } from "../../support/journeys.ts";
import { actsWithin, insist, populate, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import { keysOf } from "../requests.ts";
import { timeOf } from "../sandbox-time.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

const BUSY_MS = 12 * MINUTE;
/** By then faults are over, and everything that they held up has come. */
const LAST_MOVE_MS = HOUR;
/** Longer than the journey. */
const LAST_MOVE = "3d";
/** The lease of a move is 90 seconds. */
const AFTER_LEASE_MS = { from: 91 * SECOND, to: 130 * SECOND };
const CLOCK = "/v1/test/clock";
/** Its attempts are repeated by the time of the sandbox. */
const HOOK = "https://sandbox.example/?sandbox_status=503";

export const sandboxes: Scenario = {
  name: "sandboxes",
  start: async (world) => {
    const { random, kernel, ledger } = world;
    const neighbour = await world.tenant();
    const [other] = await populate(world, neighbour, 1);
    const tenant = await world.tenant("sandbox");
    const mail = await tenant.addChannel("email");
    await tenant.addWebhook(HOOK, ["notification.terminal"]);
    ledger.sandboxHooks.add(HOOK);
    const people = await populate(world, tenant, random.between(2, 4));
    const ids = people.map(({ id }) => id);
    holdUp(world, tenant);
    const sometime = actsWithin(world, BUSY_MS);
    sometime(1, () =>
      send(world, neighbour, { ids: [other!.id], keyed: true, scheduledAt: kernel.now() + 20 * MINUTE }),
    );
    world.act(0, () => beginJourney(world, tenant, mail, ids));
    if (random.chance(0.5)) sometime(1, () => beginSchedule(world, tenant, mail));
    sometime(random.between(1, 2), () => send(world, tenant, { ids, channels: [mail], keyed: true }));
    sometime(random.between(0, 1), () =>
      send(world, tenant, {
        ...{ ids, keyed: true, scheduledAt: timeOf(world, tenant.id) + random.between(1, 30) * HOUR },
        mustComplete: false,
      }),
    );
    sometime(random.between(1, 3), async () => {
      const advance = random.pick(["1m", "5h", "1d"]);
      const moves = random.chance(0.4) ? [advance, random.pick(["10m", "2d"])] : [advance];
      await Promise.all(moves.map((one) => move(world, tenant, one)));
    });
    if (random.chance(0.7)) sometime(1, () => moveUpTo(world, tenant, mail, ids));
    sometime(random.between(1, 4), () => look(world, tenant));
    world.act(LAST_MOVE_MS, () => moveLast(world, tenant));
  },
};

async function beginJourney(world: SimWorld, tenant: Tenant, channel: string, ids: readonly string[]): Promise<void> {
  const { random } = world;
  const greet = senderBy(channel);
  const steps = graphOf({
    a: greet("Day 1", "b"),
    b: { delay: { duration: "20h", next: "c" } },
    c: greet("Day 2", "d"),
    d: { delay: { duration: "1d", next: "end" } },
    end: "exit",
  });
  const body = { name: "First days", trigger: { type: "event", event_name: "start" }, steps };
  const { body: made } = await insist(world, tenant, "dashboard", "POST /api/v1/journeys", { body });
  const params = { id: String(made.id) };
  await insist(world, tenant, "dashboard", "POST /api/v1/journeys/{id}/activate", { params, body: {} });
  for (const id of ids)
    world.act(random.between(0, BUSY_MS), async () => {
      const events = [{ event_name: "start", subscriber_id: id, idempotency_key: `start ${id}` }];
      await insist(world, tenant, "sdk", "POST /v1/events", { body: { events } });
    });
}

/** Every day at nine. */
async function beginSchedule(world: SimWorld, tenant: Tenant, channel: string): Promise<void> {
  const content = { title: "Morning", body: "b" };
  const template = await insist(world, tenant, "dashboard", "POST /api/v1/templates", {
    body: { name: "Morning", content },
  });
  if (template.status !== 201) return;
  const body = {
    ...{ cron_expression: "0 9 * * *", timezone: "UTC", template_id: template.body.id },
    ...{ channel_ids: [channel], target: { type: "all" }, active: true },
  };
  await insist(world, tenant, "dashboard", "POST /api/v1/schedules", { body });
}

/**
 * Trace points: timers are set so slowly that time passes them, a move ends so slowly, and a step of a move arrives when
 * another worker has taken over.
 */
function holdUp({ random, kernel, fleet, profile, onRequest }: SimWorld, { id }: Tenant): void {
  let left = random.between(0, 4);
  onRequest((process, service, operation, input) => {
    if (service !== "dynamodb" || left === 0 || !process.alive) return undefined;
    const keys = keysOf(operation, input).map(({ pk }) => pk);
    const isTimer = operation === "PutItem" && keys.includes(`T#${id}#SANDBOX`);
    if (isTimer && process.name === "api-notifications" && random.chance(0.5)) return random.between(8, 25) * SECOND;
    const isStep = operation === "TransactWriteItems" && keys.includes(`CLOCK#${id}`);
    if (!(isTimer || isStep) || !random.chance(0.15)) return undefined;
    left--;
    if (isTimer || random.chance(0.5) || profile.crash === 0) return random.between(SECOND, 20 * SECOND);
    kernel.after(1, () => fleet.crash(process, "a step of a move is on its way"));
    return random.between(AFTER_LEASE_MS.from, AFTER_LEASE_MS.to);
  });
}

/** @returns false if another one is under way. */
async function move(world: SimWorld, tenant: Tenant, advance: string): Promise<boolean> {
  const { status } = await insist(world, tenant, "dashboard", `POST ${CLOCK}`, { body: { advance } });
  if (status === 200) await look(world, tenant);
  return status < 300;
}

/**
 * A move that ends some minutes before a timer, which nothing moves then: one that was there before, or that of a send whose
 * request began before the move and stores it after its end.
 */
async function moveUpTo(world: SimWorld, tenant: Tenant, channel: string, ids: readonly string[]): Promise<void> {
  const { random } = world;
  const hours = random.between(2, 20);
  const scheduledAt = timeOf(world, tenant.id) + hours * HOUR + random.between(2, 5) * MINUTE;
  const isLate = random.chance(0.5);
  // Its request may take so long that moves leave it more than a day behind: then it expires.
  const about = { ids: [...ids], channels: [channel], keyed: true, scheduledAt, mustComplete: false };
  const sending = send(world, tenant, about);
  if (!isLate) await sending;
  await Promise.all([sending, move(world, tenant, `${hours}h`)]);
}

/** Whether a reader that has seen a move end sees no earlier time. */
async function look(world: SimWorld, tenant: Tenant): Promise<boolean> {
  const { ledger } = world;
  const seen = Math.max(0, ...ledger.clocks.map(({ end }) => end));
  const { status, body } = await insist(world, tenant, "dashboard", `GET ${CLOCK}`, {});
  if (status !== 200) return false;
  const isOver = body.move !== null && body.move.status !== "running";
  const end = isOver ? Date.parse(body.move.to) : 0;
  ledger.clocks.push({ tenant: tenant.id, now: Date.parse(body.now), seen, end });
  return isOver;
}

async function moveLast(world: SimWorld, tenant: Tenant): Promise<void> {
  do await world.kernel.sleep(MINUTE);
  while (!(await look(world, tenant)) || !(await move(world, tenant, LAST_MOVE)));
}
