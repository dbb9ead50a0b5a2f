// The feed of messages that the elements of a page share.
import { expect, it } from "vitest";
import { createBrowserClient } from "../../sdk/src/browser.ts";
import { type FeedMessage, openFeed } from "../../sdk/src/elements/feed.ts";
import type { StreamOptions } from "../../sdk/src/stream.ts";
import { SECOND } from "../../shared/kernel/clock.ts";
import { BASE_URL, fetchOf } from "../support/embedded-fetch.ts";
import { addPeople, send } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

it("a feed keeps messages that are older than as many dismissed ones as it has places for (INB-6)", async () => {
  const { world, tenant } = await withTenant();
  const [ada] = (await addPeople(world, tenant, 1)) as [string];
  for (const title of ["read", "unread", "dismissed 1", "dismissed 2"]) {
    await send(world, tenant, { subscriberIds: [ada], title });
    await world.advance(SECOND);
  }
  const client = createBrowserClient({ baseUrl: BASE_URL, sdkKey: tenant.sdkKey, fetch: fetchOf(world) });
  const { messages } = await client.inbox.listMessages({ subscriber_id: ada });
  const idOf = (title: string) => messages.find(({ content }) => content.title === title)?.id ?? "";
  await client.inbox.readMessage(idOf("read"), { subscriber_id: ada });
  for (const n of [1, 2]) await client.inbox.dismissMessage(idOf(`dismissed ${n}`), { subscriber_id: ada });

  const feed = openFeed(client, ada, { limit: 2 });
  const shown = await new Promise<readonly FeedMessage[]>((resolve) => {
    feed.subscribe(({ messages: found }) => found.length > 0 && resolve(found));
  });
  feed.close();

  expect(shown.map(({ content }) => content.title)).toEqual(["unread", "read"]);
});

it("a feed keeps a message read that was read while an older list was on its way", async () => {
  const { world, tenant } = await withTenant();
  const [ada] = (await addPeople(world, tenant, 1)) as [string];
  await send(world, tenant, { subscriberIds: [ada] });
  const client = createBrowserClient({ baseUrl: BASE_URL, sdkKey: tenant.sdkKey, fetch: fetchOf(world) });
  const { listMessages } = client.inbox;
  const lists: Promise<unknown>[] = [];
  let gate: Promise<void> | undefined;
  client.inbox.listMessages = (...given) => {
    const list = listMessages(...given).then(async (answer) => {
      await gate;
      return answer;
    });
    lists.push(list);
    return list;
  };
  const arrived = async () => {
    for (let n = 0; n < lists.length; ) {
      n = lists.length;
      await Promise.all(lists);
      await new Promise((next) => setImmediate(next));
    }
  };
  let connected: StreamOptions["onState"];
  const stream: typeof client.stream = (_, { onState }) => {
    connected = onState;
    return { close: () => undefined, closed: Promise.resolve() };
  };
  const feed = openFeed({ ...client, stream }, ada);
  await arrived();
  const { promise, resolve: letGo } = Promise.withResolvers<void>();
  gate = promise;

  connected?.("live");
  await feed.read(feed.messages[0]!.id);
  letGo();
  await arrived();

  expect(feed.messages.map(({ status }) => status)).toEqual(["read"]);
  feed.close();
});
