// Which credentials open a live stream, and when a stream is refused (SSE-1, SSE-5, AMB-42).
import { describe, expect, it } from "vitest";
import { stream } from "../../functions/stream/index.ts";
import { awsFailure } from "../../local/aws/index.ts";
import { proxyEvent } from "../../local/gateway-event.ts";
import { responseStream } from "../../local/lambda-stream.ts";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { withMetrics } from "../../shared/runtime/metrics.ts";
import { post } from "../support/notify.ts";
import { addPeople } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { addReader, openStream, reading } from "../support/sse.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const withReader = reading({ withTenant });
/** Where a stream begins that is to bring all that the inbox has. */
const BEFORE_ALL = "00000000-0000-7000-8000-000000000000";

describe("admission", () => {
  it("?sdk_key= opens the stream, on this route only, and is in no log (AMB-42)", async () => {
    const { world, tenant, id, tell } = await withReader();
    const query = `?subscriber_id=${id}&sdk_key=${tenant.sdkKey}`;
    const stream = await openStream(world, query, {});
    await tell("hello");

    expect(stream.status).toBe(200);
    expect(stream.frames().length).toBe(1);
    expect((await openStream(world, `?subscriber_id=${id}&sdk_key=sk_wrong.wrong`, {})).status).toBe(401);
    expect((await world.call(`GET /v1/in-app/messages${query}`)).status).toBe(401);
    expect(JSON.stringify(world.logs)).not.toContain(tenant.sdkKey);
  });

  it("a stream is opened by a dashboard token, also by a read-only one (SSE-1, ATH-3)", async () => {
    const { world, tenant, id } = await withReader();

    for (const as of [await tenant.dashboard(), await tenant.dashboard("viewer")])
      expect((await openStream(world, `?subscriber_id=${id}`, as)).status).toBe(200);
  });

  it("a stream is refused with 401 without a credential, to a server key and to an expired token (SSE-1, INB-5)", async () => {
    const { world, tenant, id } = await withReader();
    const query = `?subscriber_id=${id}`;
    const stale = await tenant.dashboard();
    await world.advance(16 * MINUTE);
    for (const as of [{}, tenant.server, stale]) {
      const refused = await openStream(world, query, as);
      expect(refused.status).toBe(401);
      expect(refused.ended).toBe(true);
      expect(JSON.parse(refused.text).code).toBe("UNAUTHORIZED");
    }
  });

  it("credentials of two workspaces open no stream: 401 (SSE-1, AMB-59)", async () => {
    const { world, tenant, id } = await withReader();
    const both = { ...tenant.sdk, ...(await (await world.tenant()).dashboard()) };

    expect((await openStream(world, `?subscriber_id=${id}`, both)).status).toBe(401);
  });

  it("requests for streams count as others with a publishable key (OPS-2)", async () => {
    const { world, tenant } = await withTenant({ env: { SDK_REQUESTS_PER_ADDRESS: "100" } });
    const statuses = new Set<number>();
    for (let n = 0; n < 160; n++)
      statuses.add((await openStream(world, `?subscriber_id=${UNKNOWN}`, tenant.sdk)).status);

    expect([...statuses]).toEqual([404, 429]);
  });

  it("a live stream brings as much of an inbox as lists of it may answer, and the rest a minute later (D2, AMB-122)", async () => {
    const { world, tenant } = await withTenant({ env: { SDK_REQUESTS_PER_ADDRESS: "50" } });
    const [id = ""] = await addPeople(world, tenant, 1);
    const long = { subscriberIds: [id], title: "A", body: "x".repeat(40_000) };
    for (let n = 0; n < 30; n++) await tenant.call("POST /api/v1/notifications", long);
    await world.advance(MINUTE);
    const from = (position: string) => openStream(world, `?subscriber_id=${id}&last_event_id=${position}`, tenant.sdk);
    expect((await from(BEFORE_ALL)).frames()).toHaveLength(30);

    const second = await from(BEFORE_ALL);

    expect([second.frames().length, second.retries().at(-1), second.ended]).toEqual([20, MINUTE, true]);
    await world.advance(MINUTE);
    expect((await from(second.frames().at(-1)!.id)).frames()).toHaveLength(10);
  });

  it("a HEAD gets the headers at once and opens nothing, and the function takes no other method (AMB-122)", async () => {
    const { world, tenant, id } = await withReader();
    const handle = stream.create(world.depsFor("stream"));
    const statusOf = async (method: string, subscriber = id) => {
      const path = `/v1/in-app/stream?subscriber_id=${subscriber}`;
      const request = { path, headers: tenant.sdk, body: Buffer.alloc(0) };
      let answered = {};
      const out = responseStream({
        start: (status, headers) => {
          answered = { status, type: headers["content-type"] };
        },
        write: () => true,
        end: () => undefined,
      });
      const options = { routeKey: "$default", functionUrl: true } as const;
      await handle(proxyEvent(world, { ...request, method, sourceIp: "203.0.113.7" }, options), out.stream);
      return answered;
    };

    expect(await statusOf("HEAD")).toEqual({ status: 200, type: "text/event-stream" });
    expect(await statusOf("HEAD", UNKNOWN)).toMatchObject({ status: 404 });
    expect(await statusOf("POST")).toMatchObject({ status: 404 });
  });

  it("a stream of an unknown subscriber, of another workspace's and of an erased one is 404 (AMB-122)", async () => {
    const { world, tenant, id } = await withReader();
    const [foreign] = (await addPeople(world, await world.tenant(), 1)) as [string];
    await tenant.call(`DELETE /api/v1/subscribers/${id}`);
    for (const subscriber of ["00000000-0000-8000-8000-000000000000", foreign, id]) {
      const refused = await openStream(world, `?subscriber_id=${subscriber}`, tenant.sdk);
      expect(refused.status).toBe(404);
      expect(refused.ended).toBe(true);
      expect(JSON.parse(refused.text).code).toBe("NOT_FOUND");
    }
  });

  it.each([
    ["the plan has no messages in the app", "free", "", 403, { error: "in_app_not_permitted", upgrade_required: true }],
    ["its query names what it does not know", "starter", "&since=yesterday", 422, { code: "VALIDATION_ERROR" }],
  ] as const)("a stream is refused where %s (SSE-1, ERR-8)", async (_, plan, query, status, body) => {
    const { tenant, world } = await withTenant({ plan });
    const { open } = await addReader(world, tenant);

    const refused = await open({}, query);

    expect(refused.status).toBe(status);
    expect(JSON.parse(refused.text)).toMatchObject(body);
  });

  it("a stream of a dashboard counts for the requests of a minute (LIM-1)", async () => {
    const { world, tenant } = await withTenant({ plan: "starter" });
    const { id } = await addReader(world, tenant);
    const as = await tenant.dashboard();
    await Promise.all(Array.from({ length: 299 }, () => world.call("GET /api/v1/me", { as })));

    expect((await openStream(world, `?subscriber_id=${id}`, as)).status).toBe(200);
    expect((await openStream(world, `?subscriber_id=${id}`, as)).status).toBe(429);
  });

  /** Of six streams at once, one each is left to other readers: five are open. */
  async function nearLimit() {
    const { world, tenant, open } = await withReader({ env: { STREAM_CONCURRENCY: "6" } });
    const [other] = (await addPeople(world, tenant, 1, () => ({ external_id: "other" }))) as [string];
    expect((await openStream(world, `?subscriber_id=${other}`, tenant.sdk)).status).toBe(200);
    for (let n = 0; n < 4; n++) {
      expect((await open()).status).toBe(200);
      await world.advance(1);
    }
    return { world, tenant, open, other };
  }

  it("a stream is refused with 503 near the limit of open ones, and told when to come again (SSE-5, docs/decisions/0021#live-streams)", async () => {
    const { open } = await nearLimit();
    const refused = await open();

    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.text).code).toBe("SERVICE_UNAVAILABLE");
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  });

  it("a refused stream is counted for an alarm: the function answers it, so Lambda counts neither an error nor a throttle (SSE-5, D-HEALTH)", async () => {
    const { world, open } = await nearLimit();
    await open();
    const line = world.logs.find(({ message }) => message === "a stream could not open");

    expect(withMetrics(line!, 0)).toMatchObject({ StreamsNotOpened: 1, Status: "503" });
  });

  it("messages are sent while no more streams may open (SSE-5)", async () => {
    const { world, tenant, other } = await nearLimit();

    expect((await post(world, tenant, { subscriberIds: [other] })).status).toBe(201);
  });

  it("streams may open again once others have ended and their last slot is over (SSE-5)", async () => {
    const { world, open } = await nearLimit();
    await world.advance(70 * SECOND);
    const whileOpen = await open();
    await world.advance(55 * SECOND);

    expect(whileOpen.status).toBe(503);
    expect((await open()).status).toBe(200);
    expect((await open()).status).toBe(200);
  });

  it("a workspace's key may hold four fifths of the streams, and one address a fifth; others still get theirs (OPS-2)", async () => {
    const { world, tenant, id } = await withReader({ env: { STREAM_CONCURRENCY: "40" } });
    const openFrom = (sourceIp: string, of = tenant, subscriber = id) =>
      openStream(world, `?subscriber_id=${subscriber}`, of.sdk, sourceIp);
    const codeOf = async (opening: ReturnType<typeof openFrom>) => {
      const { status, text } = await opening;
      return status === 200 ? 200 : JSON.parse(text).code;
    };
    for (let n = 0; n < 20; n++) expect(await codeOf(openFrom("203.0.113.1"))).toBe(200);
    expect(await codeOf(openFrom("203.0.113.1"))).toBe("RATE_LIMITED");
    for (let n = 0; n < 12; n++) expect(await codeOf(openFrom("203.0.113.2"))).toBe(200);
    expect(await codeOf(openFrom("203.0.113.3"))).toBe("SERVICE_UNAVAILABLE");
    const other = await world.tenant();
    const reader = await addReader(world, other);
    expect(await codeOf(openFrom("203.0.113.3", other, reader.id))).toBe(200);
  });

  it("readers of many workspaces who ask for streams at once get as many as all may have, and no more (SSE-5, OPS-2)", async () => {
    const { world, tenant, id } = await withReader({ env: { STREAM_CONCURRENCY: "12" } });
    const other = await world.tenant();
    const reader = await addReader(world, other);
    const asking = Array.from({ length: 12 }, (_, n) => [
      openStream(world, `?subscriber_id=${id}`, tenant.sdk, `203.0.113.${n}`),
      openStream(world, `?subscriber_id=${reader.id}`, other.sdk, `198.51.100.${n}`),
    ]);
    const open = (await Promise.all(asking.flat())).filter(({ status }) => status === 200).length;

    expect(open).toBe(11);
  });

  it("one address that asks for many streams at once gets no more than its share, and others still get theirs (OPS-2)", async () => {
    const { world, tenant, id } = await withReader({ env: { STREAM_CONCURRENCY: "60" } });
    const openFrom = (sourceIp: string) => openStream(world, `?subscriber_id=${id}`, tenant.sdk, sourceIp);

    const statuses = (await Promise.all(Array.from({ length: 60 }, () => openFrom("203.0.113.1")))).map(
      ({ status }) => status,
    );

    expect(statuses.filter((status) => status === 200).length).toBe(20);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect((await openFrom("203.0.113.2")).status).toBe(200);
  });

  it("a burst at the beginning of a slot gets one address at most twice its share, which counts from then on (OPS-2)", async () => {
    const { world, tenant, id } = await withReader({ env: { STREAM_CONCURRENCY: "90" } });
    const openFrom = async (sourceIp: string) =>
      (await openStream(world, `?subscriber_id=${id}`, tenant.sdk, sourceIp)).status;
    await world.advance(10 * SECOND);
    for (let n = 0; n < 19; n++) expect(await openFrom("203.0.113.1")).toBe(200);
    await world.advance(20 * SECOND);
    const burst = await Promise.all(Array.from({ length: 40 }, () => openFrom("203.0.113.1")));

    expect(burst.filter((status) => status === 200).length).toBe(20);
    await world.advance(SECOND);
    expect(await openFrom("203.0.113.1")).toBe(429);
    await world.advance(40 * SECOND);
    expect(await openFrom("203.0.113.1")).toBe(429);
  });

  it("addresses of one IPv6 network count as one for its share of the streams (OPS-2)", async () => {
    const { world, tenant, id } = await withReader({ env: { STREAM_CONCURRENCY: "40" } });
    const openFrom = async (sourceIp: string) =>
      (await openStream(world, `?subscriber_id=${id}`, tenant.sdk, sourceIp)).status;
    for (let n = 0; n < 20; n++) expect(await openFrom(`2001:db8:1:2::${n}`)).toBe(200);

    expect(await openFrom("2001:db8:1:2::20")).toBe(429);
    expect(await openFrom("2001:db8:1:3::1")).toBe(200);
  });

  it("503 while invocations of the stream function are throttled, and 200 afterwards (SSE-5, ERR-18)", async () => {
    const streaming = requests({ of: "stream" });
    streaming.fail(awsFailure("ThrottlingException", "Rate exceeded"));
    const { world, open } = await withReader({ hooks: streaming.hooks });
    const refused = await open();
    for (let step = 0; step < 30; step++) await world.advance(100);
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.text).code).toBe("SERVICE_UNAVAILABLE");
    streaming.pass();
    expect((await open()).status).toBe(200);
  });
});
