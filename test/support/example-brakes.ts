// What the examples of the brakes of a journey's steps need: a step that halted.
import { haltStep, viewStep } from "../../shared/store/journeys/step-brakes.ts";
import type { Call, Settings } from "./example-settings.ts";
import type { Tenant } from "./world.ts";

export function brakesOf(call: Call, { store }: Tenant): Settings {
  const halted = async () => {
    const [{ id: channel }] = (await call("GET /api/v1/channels")).channels;
    const send = { channel_ids: [channel], content: { title: "t", body: "b" }, safety: { max_error_rate: 0.2 } };
    const steps = { start: "welcome", steps: { welcome: { id: "welcome", type: "send", send } } };
    const trigger = { type: "event", event_name: "waited" };
    const { id } = await call("POST /api/v1/journeys", { name: "Halted", trigger, steps });
    await call(`POST /api/v1/journeys/${id}/activate`);
    const step = { journey: id, version: 1, step: "welcome" };
    const breach = { reason: "error_rate", channel: "ios", rate: 0.3, limit: 0.2, count: 60, tried: 200 } as const;
    await haltStep(store, step, await viewStep(store, step), breach);
    return { params: { id } };
  };
  return {
    "GET /api/v1/journeys/:id/brakes": halted,
    "POST /api/v1/journeys/:id/brakes/resume": halted,
    "POST /api/v1/journeys/:id/brakes/cancel": halted,
  };
}
