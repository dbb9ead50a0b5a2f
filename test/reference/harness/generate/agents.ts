// A send by an agent: planned, and confirmed after what may change it.
import type { Body } from "../../model/kit.ts";
import { type Draft, newHandle, PEOPLE, predicateOf } from "./draft.ts";
import { ask, MINUTE, mailChannel, personOf, post, SECOND, segmentOf } from "./stories.ts";

const tool = (draft: Draft, wait: number, name: string, body: Body, handle?: string) =>
  ask(
    draft,
    wait,
    { as: "agent", method: "TOOL", path: name, body, ...(handle && { handle }) },
    handle ? "plan" : undefined,
  );

/** Somebody joins, leaves or opts out, or the text or the rule is another one. */
function change(draft: Draft, { list, template, segment, person }: Record<string, string>): void {
  const { random } = draft;
  const subscriber_ids = [personOf(draft, random.pick(PEOPLE))];
  const rule = { attribute: predicateOf(draft) };
  random.pick([
    () => post(draft, SECOND, `/api/v1/lists/${list}/subscribers`, { subscriber_ids }),
    () => post(draft, SECOND, `/api/v1/lists/${list}/subscribers/remove`, { subscriber_ids: [person] }),
    () => post(draft, SECOND, `/api/v1/subscribers/${person}/consents`, { status: "opted_out", channel: "email" }),
    () => ask(draft, SECOND, { method: "DELETE", path: `/api/v1/subscribers/${person}`, body: undefined }),
    () =>
      ask(draft, SECOND, {
        ...{ method: "PATCH", path: `/api/v1/templates/${template}` },
        body: { content: { title: "Later", body: "Another text" } },
      }),
    () => ask(draft, SECOND, { method: "PATCH", path: `/api/v1/segments/${segment}`, body: { name: "Planned", rule } }),
    () =>
      ask(draft, SECOND, {
        method: "PATCH",
        path: `/api/v1/subscribers/${person}`,
        body: { attributes: { tier: "silver" } },
      }),
  ])();
}

/** Confirmed in time or not, once or twice, with changes between. */
export function plannedSend(draft: Draft): void {
  const { random } = draft;
  const people = random.some(PEOPLE, random.between(2, 4)).map((name) => personOf(draft, name));
  const list = `@${post(draft, SECOND, "/api/v1/lists", { name: `Plan ${draft.commands.length}` }, { handle: newHandle(draft, "list") }, "list")}`;
  post(draft, SECOND, `/api/v1/lists/${list}/subscribers`, { subscriber_ids: people });
  const text = { name: `Plan ${draft.commands.length}`, content: { title: "News", body: "Read on" } };
  const template = `@${post(draft, SECOND, "/api/v1/templates", text, { handle: newHandle(draft, "template") }, "template")}`;
  const segment = segmentOf(draft, { attribute: { tier: { $ne: "silver" } } });
  const audience = random.pick<Body>([
    { target: { type: "list", list_id: list } },
    { target: { type: "segment", segment_id: segment } },
    { target: { type: "all" }, subscriber_filters: { tier: { $ne: "silver" } } },
    { subscriberIds: people },
  ]);
  const content = random.pick<Body>([{ template_id: template }, { title: "News", body: "Read on" }]);
  const handle = newHandle(draft, "plan");
  tool(draft, SECOND, "plan_send", { ...audience, ...content, channel_ids: [mailChannel(draft)] }, handle);
  for (let n = random.between(0, 2); n > 0; n--) change(draft, { list, template, segment, person: people[0]! });
  for (let n = random.between(1, 2); n > 0; n--)
    tool(draft, random.pick([SECOND, SECOND, 9 * MINUTE, 10 * MINUTE]), "confirm_send", { token: `@${handle}` });
}

/** A preview, and sends that name it in time, too late, or with another body. */
export function previewed(draft: Draft): void {
  const { random } = draft;
  const subscriberIds = PEOPLE.slice(0, random.between(2, 5)).map((name) => personOf(draft, name));
  const arms = random.chance(0.5) ? { variant_b: { title: "B", body: "Arm B" }, split_percentage: 50 } : {};
  const body = {
    subscriberIds,
    channel_ids: [mailChannel(draft)],
    title: "News",
    body: "Read on",
    holdout_percentage: 50,
    ...arms,
  };
  const handle = newHandle(draft, "preview");
  post(draft, SECOND, "/api/v1/notifications/preview", body, { handle }, "preview");
  const wait = random.pick([SECOND, 9 * MINUTE, 10 * MINUTE + SECOND]);
  const other = random.chance(0.2) ? { title: "Other" } : {};
  const named = { ...body, ...other, preview_id: `@${handle}` };
  for (const pause of random.some([wait, SECOND], random.between(1, 2)))
    post(draft, pause, "/api/v1/notifications", named, { handle: newHandle(draft, "send") }, "send");
}
