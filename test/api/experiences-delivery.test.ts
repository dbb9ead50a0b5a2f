// Delivered experiences: content and stream event (INB-2, SSE-6, AMB-1, AMB-2), arms and holdout (ABH).
import { describe, expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { armOf } from "../../shared/rules/split.ts";
import { draft, take } from "../support/experiences.ts";
import { inboxOf, reachedOf, wholeTable } from "../support/people.ts";
import { openStream } from "../support/sse.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople } = worlds();

const rich = {
  format: "modal",
  content: {
    title: "Hello {{ subscriber.first_name }}",
    body: "Only today",
    image_url: "https://example.com/{{ subscriber.picture }}",
    actions: [
      { id: "go", title: "For {{ subscriber.first_name }}", url: "https://example.com/{{ subscriber.external_id }}" },
      { id: "own", title: "Yours", url: "{{ subscriber.link }}" },
      { id: "no", title: "Later", url: "" },
    ],
  },
  display: { trigger: "event", trigger_event: "cart", frequency: "once", priority: 7, screens: ["/cart"] },
};

/** The display of an experience that does not say it. */
const usual = { trigger: "immediate", frequency: "once" };

describe("content", () => {
  it("the inbox has everything that was authored in an experience, rendered for the recipient (INB-2, INX-14)", async () => {
    const ada = { first_name: "Ada", picture: "ada.png", link: "myapp://ada" };
    const { world, tenant, ids: people } = await withPeople(1, {}, ada);

    const { notification_id } = await take(world, tenant, await draft(tenant, rich), "publish");

    const [message] = await inboxOf(world, tenant, people[0]!);
    expect(message).toMatchObject({
      notification_id,
      status: "unread",
      content: {
        title: "Hello Ada",
        body: "Only today",
        format: "modal",
        image_url: "https://example.com/ada.png",
        actions: [
          { id: "go", title: "For Ada", url: "https://example.com/p0" },
          { id: "own", title: "Yours", url: "myapp://ada" },
          { id: "no", title: "Later", url: "" },
        ],
        display: rich.display,
      },
    });
    expect(message.content).not.toHaveProperty("variant_id");
  });

  it.each([
    ["unsafe", "javascript:alert(1)"],
    ["empty", ""],
  ])("an action of an experience whose values made its URL %s is left out (D-LIQUID)", async (_, link) => {
    const { world, tenant, ids: people } = await withPeople(1, {}, { picture: "a.png", link });

    await take(world, tenant, await draft(tenant, rich), "publish");

    const [{ content }] = await inboxOf(world, tenant, people[0]!);
    expect(content.actions.map(({ id }: { id: string }) => id)).toEqual(["go", "no"]);
  });

  it("a picture of an experience whose values made no URL of it is left out (D-LIQUID)", async () => {
    const { world, tenant, ids: people } = await withPeople(1, {}, { picture: "a b.png" });

    await take(world, tenant, await draft(tenant, rich), "publish");

    const [{ content }] = await inboxOf(world, tenant, people[0]!);
    expect(content).not.toHaveProperty("image_url");
  });

  it("a delivered experience has no fields that were not authored, but for the usual display (INB-2, SSE-6, AMB-120)", async () => {
    const { world, tenant, ids: people } = await withPeople(1);
    const stream = await openStream(world, `?subscriber_id=${people[0]}`, tenant.sdk);

    await take(world, tenant, await draft(tenant), "publish");

    const [{ content }] = await inboxOf(world, tenant, people[0]!);
    expect(content).toEqual({ title: "Sale", body: "20% off", format: "banner", display: usual });
    expect(stream.frames().map(({ data }) => data.display)).toEqual([usual]);
  });

  it("the frame of an experience has labels of actions and two keys of the display, and all of the display in its data (SSE-6, AMB-1, AMB-2)", async () => {
    const ada = { first_name: "Ada", picture: "a.png", link: "tel:1" };
    const { world, tenant, ids: people } = await withPeople(1, {}, ada);
    const stream = await openStream(world, `?subscriber_id=${people[0]}`, tenant.sdk);

    const { notification_id } = await take(world, tenant, await draft(tenant, rich), "publish");

    expect(stream.frames().map(({ data }) => data)).toEqual([
      {
        id: expect.any(String),
        notification_id,
        sent_at: expect.any(String),
        title: "Hello Ada",
        body: "Only today",
        format: "modal",
        image_url: "https://example.com/a.png",
        actions: [
          { id: "go", label: "For Ada", url: "https://example.com/p0" },
          { id: "own", label: "Yours", url: "tel:1" },
          { id: "no", label: "Later", url: "" },
        ],
        display: { trigger: "event", frequency: "once" },
        data: { display: rich.display },
      },
    ]);
  });
});

describe("arms and holdout", () => {
  it("arm B of an experience has its own image or none, and the frame's data has the arm (INX-18, AMB-101)", async () => {
    const { world, tenant, ids: people } = await withPeople(30);
    const id = await draft(tenant, {
      content: { title: "A", body: "a", image_url: "https://example.com/a.png" },
      variant_b: { title: "B for {{ subscriber.external_id }}", body: "b" },
    });

    const unit = (await take(world, tenant, id, "publish")).notification_id;

    const reader = people.find((person) => armOf(unit, person, 50) === "b")!;
    const title = `B for p${people.indexOf(reader)}`;
    const [{ content }] = await inboxOf(world, tenant, reader);
    expect(content).toEqual({ title, body: "b", format: "banner", variant_id: "b", display: usual });
    const stream = await openStream(world, `?subscriber_id=${reader}`, { ...tenant.sdk, "last-event-id": lowest });
    expect(stream.frames()[0]!.data).toMatchObject({ title, image_url: null, data: { variant_id: "b" } });
  });

  const lowest = "00000000-0000-7000-8000-000000000000";

  it("the control group of an experience gets nothing (INX-20)", async () => {
    const { world, tenant, ids: people } = await withPeople(30);

    const { notification_id } = await take(world, tenant, await draft(tenant, { holdout_percentage: 50 }), "publish");

    const { counts } = (await tenant.call(`GET /api/v1/notifications/${notification_id}`)).body;
    expect(counts.held_out).toBeGreaterThan(0);
    expect((await reachedOf(world, tenant, people)).length).toBe(30 - counts.held_out);
  });
});

it("an erasure of a recipient removes all messages of experiences (SUB-9)", async () => {
  const { world, tenant, ids: people } = await withPeople(1, {}, { first_name: "Adelaide" });
  await take(world, tenant, await draft(tenant, rich), "publish");

  await tenant.call(`DELETE /api/v1/subscribers/${people[0]}`);
  await world.advance(HOUR);

  expect(JSON.stringify(await wholeTable(world))).not.toContain("Adelaide");
});
