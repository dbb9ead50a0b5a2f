// Journeys while events arrive, attributes change, journeys are paused, edited and deleted, and subscribers are erased.
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { branch, graphOf, senderBy } from "../../support/journeys.ts";
import { actsWithin, erase, insist, populate } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import { FAULTS_END_MS } from "../profiles.ts";
import type { SimWorld } from "../world.ts";

const BUSY_MS = 15 * MINUTE;

function definitionOf({ random }: SimWorld, channel: string) {
  const send = senderBy(channel);
  const wait = { event_name: "pay", on_event: "yes", on_timeout: "no" };
  const within = random.chance(0.8) ? { within: random.pick(["2m", "6m"]) } : {};
  const exits = random.chance(0.6)
    ? [{ attribute: { plan: { $eq: "gone" } } }, { event: { name: "leave" } }]
    : undefined;
  return {
    name: "journey",
    trigger: { type: "event", event_name: "start" },
    entry_rules: { allow_reentry: random.chance(0.5), ...(random.chance(0.3) && { reentry_window: "5m" }) },
    steps: graphOf(
      {
        hello: send("hello", "pause"),
        pause: { delay: { duration: random.pick(["1m", "4m", "9h"]), next: "which" } },
        which: branch({ attribute: { plan: { $eq: "pro" } } }, "wait", random.pick(["no", "wait"])),
        wait: { wait_for_event: { ...wait, ...within } },
        yes: send("yes", "end"),
        no: send("no", ""),
        end: "exit",
      },
      exits,
    ),
  };
}

export const journeys: Scenario = {
  name: "journeys",
  start: async (world) => {
    const { random } = world;
    const tenant = await world.tenant();
    const people = await populate(world, tenant, random.between(2, 4));
    const lasting = people.slice(1);
    const made: string[] = [];
    const sometime = actsWithin(world, BUSY_MS);
    let channel = "";
    const act = (way: string) => async () => {
      if (made.length === 0) return;
      const request = { params: { id: random.pick(made) } };
      await insist(world, tenant, "dashboard", `POST /api/v1/journeys/{id}/${way}`, { ...request, body: {} });
    };
    const create = async () => {
      const { body } = await insist(world, tenant, "dashboard", "GET /api/v1/channels", {});
      channel = body.channels[0].id;
      const answer = await insist(world, tenant, "dashboard", "POST /api/v1/journeys", {
        body: definitionOf(world, channel),
      });
      if (answer.status !== 201) return;
      made.push(answer.body.id);
      const params = { id: String(answer.body.id) };
      await insist(world, tenant, "dashboard", "POST /api/v1/journeys/{id}/activate", { params, body: {} });
    };
    sometime(random.between(1, 2), create, MINUTE);
    let events = 0;
    const happens = (event_name: string, subscriber_id = random.pick(lasting).id) => {
      const body = { event_name, idempotency_key: `event ${++events}`, subscriber_id };
      return insist(world, tenant, "sdk", "POST /v1/events", { body });
    };
    sometime(random.between(8, 20), () => happens(random.pick(["start", "start", "pay", "leave"])));
    // The second one comes while the first one is worked on.
    sometime(random.between(2, 8), async () => {
      const { id } = random.pick(lasting);
      const second = async () => {
        await world.kernel.sleep(random.between(0, 250));
        await happens("leave", id);
      };
      await Promise.all([happens(random.pick(["start", "start", "pay"]), id), second()]);
    });
    sometime(random.between(2, 6), async () => {
      const { external_id } = random.pick(lasting);
      const body = { external_id, attributes: { plan: random.pick(["pro", "free", "gone"]) } };
      await insist(world, tenant, "sdk", "POST /api/v1/subscribers/upsert", { body });
    });
    sometime(random.between(0, 2), act("pause"));
    sometime(random.between(0, 3), act("activate"));
    sometime(random.between(0, 1), async () => {
      if (made.length === 0) return;
      const request = { params: { id: random.pick(made) }, body: definitionOf(world, channel) };
      await insist(world, tenant, "dashboard", "PUT /api/v1/journeys/{id}", request);
    });
    // Only what is paused can be archived.
    if (random.chance(0.3))
      sometime(1, async () => {
        await act("pause")();
        await act("archive")();
      });
    if (random.chance(0.2))
      sometime(1, async () => {
        const id = random.pick(made.length > 0 ? made : [""]);
        if (id) await insist(world, tenant, "dashboard", "DELETE /api/v1/journeys/{id}", { params: { id } });
      });
    if (random.chance(0.3)) sometime(1, () => erase(world, tenant, people[0]!), FAULTS_END_MS);
  },
};
