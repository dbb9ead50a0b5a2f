// Cron schedules that are made, moved, switched off and on, deleted, and whose workspace is suspended for a while.
import { HOUR, MINUTE } from "../../../shared/kernel/clock.ts";
import { actsWithin, insistOpen, populate } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import { channelOf } from "../marketers.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";
import { suspendFor } from "./suspension.ts";

const BUSY_MS = 9 * MINUTE;
/** By then every schedule is switched off, so that the run ends. */
const OFF_MS = 16 * MINUTE;
const SWEPT_MS = 20 * MINUTE;
const ZONES = ["UTC", "Asia/Kolkata", "America/New_York", "Europe/Berlin"];
/** Zones whose clocks never change: a fixed hour means one thing only. */
const STEADY = ["UTC", "Asia/Kolkata"];
const ROUTE = "/api/v1/schedules";

export const schedules: Scenario = {
  name: "schedules",
  start: async (world) => {
    const { random } = world;
    const tenant = await world.tenant();
    await populate(world, tenant, random.between(1, 4));
    for (let n = random.chance(0.3) ? 2 : 1; n > 0; n--)
      world.act(random.between(0, 4 * MINUTE), () => lifeOfASchedule(world, tenant));
    world.act(SWEPT_MS, () => switchAllOff(world, tenant));
    if (random.chance(0.25))
      world.act(random.between(0, BUSY_MS), () => suspendFor(world, tenant, random.between(MINUTE, 8 * MINUTE)));
  },
};

async function lifeOfASchedule(world: SimWorld, tenant: Tenant): Promise<void> {
  const { random } = world;
  const channel = await channelOf(world, tenant, "in_app");
  const content = { title: "Hi", body: "Hello {{ subscriber.name }}" };
  const template = await insistOpen(world, tenant, "dashboard", "POST /api/v1/templates", {
    body: { name: `Greeting ${random.bytes(4).toString("hex")}`, content },
  });
  if (template.status !== 201) return;
  const body = {
    ...times(world),
    template_id: template.body.id,
    channel_ids: [channel],
    target: { type: "all" },
    active: random.chance(0.8),
  };
  const { status, body: made } = await insistOpen(world, tenant, "dashboard", `POST ${ROUTE}`, { body });
  if (status !== 201) return;
  const params = { id: String(made.id) };
  world.name(made.id, `schedule-${made.id.slice(-4)}`);
  const change = (some: object) =>
    insistOpen(world, tenant, "dashboard", `PATCH ${ROUTE}/{id}`, { params, body: some });
  const sometime = actsWithin(world, BUSY_MS);
  sometime(random.between(0, 2), () => change(times(world)));
  sometime(random.between(0, 1), () => change({ active: false }));
  sometime(random.between(0, 2), () => change({ active: true }));
  const remove = async () => {
    await insistOpen(world, tenant, "dashboard", `DELETE ${ROUTE}/{id}`, { params });
    world.ledger.stopped.set(made.id, world.kernel.now());
  };
  if (random.chance(0.2)) sometime(1, remove);
  world.act(OFF_MS, async () => {
    if (random.chance(0.5)) return remove();
    const answer = await change({ active: false });
    if (answer.status === 200) world.ledger.stopped.set(made.id, world.kernel.now());
  });
}

/** A request to create one that was not answered may have made one anyway. */
async function switchAllOff(world: SimWorld, tenant: Tenant): Promise<void> {
  const query = { active: "true" };
  const { body } = await insistOpen(world, tenant, "dashboard", `GET ${ROUTE}`, { query });
  for (const { id } of body.data)
    await insistOpen(world, tenant, "dashboard", `DELETE ${ROUTE}/{id}`, { params: { id } });
}

/** Some minutes of every hour, or of one hour of the day, in a time zone. */
function times({ random, kernel }: SimWorld): { cron_expression: string; timezone: string } {
  if (random.chance(0.6))
    return {
      cron_expression: random.pick(["*/3 * * * *", "*/5 * * * *", "1-59/4 * * * *"]),
      timezone: random.pick(ZONES),
    };
  const timezone = random.pick(STEADY);
  const hourOf = (at: number) =>
    Number(new Intl.DateTimeFormat("en-GB", { timeZone: timezone, hour: "2-digit", hourCycle: "h23" }).format(at));
  const hours = [...new Set([hourOf(kernel.now()), hourOf(kernel.now() + HOUR)])].sort((a, b) => a - b);
  return { cron_expression: `${random.between(0, 20)}-59/4 ${hours.join(",")} * * *`, timezone };
}
