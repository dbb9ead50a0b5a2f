// Test sends (RDA-9): at once, to the workspace's test subscribers, outside of every report.
import { type Operation, ok, write } from "./access.ts";
import { takeFault } from "./channels.ts";
import { contentOf } from "./delivering.ts";
import { channelsOf, isReasons, isUsable, reach } from "./gates.ts";
import { ANY, type Body, invalid, OneOf, type Request, Unordered } from "./kit.ts";
import { checkSend } from "./notifications.ts";
import type { Delivery } from "./records/sends.ts";
import { render, saidBy } from "./render.ts";
import { isOut } from "./topics.ts";
import { found, type World } from "./world.ts";

/** One message, marked as a test. What its provider says is the answer: nothing is tried again. */
function deliver(world: World, spec: Body, variant: string, { channel, to, class: name }: Delivery, id: string): Body {
  if (takeFault(world, channel.type, id, "test")) return { subscriber_id: id, channel: channel.type, state: "failed" };
  const said = saidBy(contentOf(world, spec) ?? {}, variant === "b" ? spec.variant_b : undefined, name);
  const values = { subscriber: found(world.subscribers, id) ?? null, data: spec.data ?? {}, event: {} };
  world.outbox.push({
    ...{
      channel: channel.type,
      to,
      subscriber_id: id,
      job_id: ANY as Body,
      at: world.now,
      links: [],
      category: "test",
    },
    ...{ title: `[Test] ${render(said.title, values)}`, body: render(said.body, values) },
    ...{ confirms: undefined, topic: undefined },
  });
  return { subscriber_id: id, channel: channel.type, state: "sent", reason: null };
}

/** Consent and choices count; quiet hours and caps do not. */
function test(world: World, { body }: Request) {
  const { to, variant = "a", ...spec } = body;
  if (to.some((id: string) => !(world.settings.test_subscriber_ids ?? []).includes(id))) invalid("to");
  checkSend(world, { ...spec, subscriberIds: to });
  const ids: string[] = [...new Set<string>(to)];
  const deliveries = ids.flatMap((id) =>
    channelsOf(world, spec)
      .filter(isUsable)
      .flatMap((channel): Body[] => {
        const skipped = (...reasons: string[]) => [
          { subscriber_id: id, channel: channel.type, state: "skipped", reason: new OneOf(reasons) },
        ];
        const subscriber = found(world.subscribers, id);
        if (!subscriber) return skipped("erased");
        if (isOut(world, id, spec)) return skipped("topic_opt_out");
        const result = reach(world, spec, channel, subscriber);
        return isReasons(result)
          ? skipped(...result)
          : result.map((delivery) => deliver(world, spec, variant, delivery, id));
      }),
  );
  return ok({ deliveries: new Unordered(deliveries) });
}

export const testSendOperations: Operation[] = [write("POST /api/v1/notifications/test", "send", test)];
