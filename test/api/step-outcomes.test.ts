// The outcome of a journey's send step follows what becomes of its message.
import { describe, expect, it } from "vitest";
import type { LocalServiceOptions } from "../../local/local-service.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { followOne, followSend } from "../../shared/store/journeys/late-outcomes.ts";
import { getJob } from "../../shared/store/sends/jobs/jobs.ts";
import { countedSetting, graphOf } from "../support/journeys.ts";
import { mailsOf, SES, tellOfMail } from "../support/mails.ts";
import { ledgerOf, openChannels, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const BOUNCES = "bounce@simulator.amazonses.com";
const PHONE = "+4915112345678";

interface Options {
  others?: "sms"[];
  /** Steps before that which sends. */
  before?: object;
  hooks?: LocalServiceOptions["hooks"];
}

describe("the outcome of a journey's send step", () => {
  const mailingJourney = async ({ others = [], before = {}, hooks = () => ({}) }: Options = {}) => {
    const setting = await countedSetting(await fresh({ hooks }));
    const { world, tenant, call, active } = setting;
    const { email = "", ...more } = await openChannels(world, tenant, "email", ...others);
    await call(`POST /api/v1/channels/${email}/credentials/email`, SES);
    await world.settle();
    const content = { title: "Hello", body: "b" };
    const message = { channel_ids: [email, ...Object.values(more)], content, next: "end" };
    const graph = graphOf({ ...before, m: { send: message }, end: "exit" } as never);
    const id = await active(graph, { entry_rules: { allow_reentry: true } });
    const reached = async (address: string) => {
      const body = { external_id: "ada", email: address, attributes: { phone: PHONE } };
      await tenant.upsert(body);
      await setting.track("ada", "signed_up");
      await world.advance(MINUTE);
      return (await setting.stats(id)).steps.m.outcomes;
    };
    return { ...setting, id, reached };
  };

  it("the outcome of a journey's send step is failed where its message failed (AMB-142)", async () => {
    const { world, reached, call, id } = await mailingJourney();
    await spoil(world, { channel: "email", outcome: "permanent", times: 1 });
    expect(await reached("ada@example.com")).toEqual({ failed: 1 });
    const [job] = (await call(`GET /api/v1/notifications?source_type=journey&source_id=${id}`)).body.items;
    expect(job.counts).toMatchObject({ delivered: 0, failed: 1 });
  });

  it("the outcome of a journey's send step is bounced where its mail came back, and so are the funnel and the run (AMB-142)", async () => {
    const { reached, call, id } = await mailingJourney();
    expect(await reached(BOUNCES)).toEqual({ bounced: 1 });
    const funnel = (await call(`GET /api/v1/insights/funnel?source_type=journey&source_id=${id}`)).body;
    expect(funnel).toMatchObject({ sent: 1, delivered: 0, bounced: 1 });
  });

  it("the outcome of a journey's send step is skipped where a cap held its message back (D-CAP, AMB-142)", async () => {
    const { reached, call } = await mailingJourney();
    await call("PATCH /api/v1/workspace", { frequency_caps: [{ category: "marketing", max: 1, per: "day" }] });
    await reached("ada@example.com");

    expect(await reached("ada@example.com")).toEqual({ sent: 1, "skipped:capped": 1 });
  });

  it("the outcome of a journey's send step is that of the run which sent it, where the person ran before (AMB-142)", async () => {
    const { world, reached, runs, id } = await mailingJourney();
    await reached("ada@example.com");
    await world.advance(MINUTE);
    await reached(BOUNCES);

    const outcomesOf = ({ steps }: { steps: object[] }) => steps.filter((step) => "step" in step && step.step === "m");
    expect((await runs(id)).map(outcomesOf)).toMatchObject([[{ outcome: "bounced" }], [{ outcome: "sent" }]]);
  });

  it.each([
    ["sent", { eventType: "Delivery" }, { delivered: 1, failed: 0, uncertain: 0, bounced: 0 }],
    [
      "bounced",
      { eventType: "Bounce", bounce: { bounceType: "Permanent", bouncedRecipients: [] } },
      { delivered: 0, failed: 0, uncertain: 0, bounced: 1 },
    ],
  ])(
    "the outcome of a journey's send step is %s once that is known of a mail without an answer, and so are the funnel, the series and the heatmap (AMB-139, AMB-142)",
    async (outcome, event, figures) => {
      const { world, tenant, reached, call, id, stats } = await mailingJourney();
      await spoil(world, { channel: "email", outcome: "timeout", times: 2 });
      await reached("ada@example.com");
      await world.advance(60 * MINUTE);
      const outcomes = async () => (await stats(id)).steps.m.outcomes;
      expect(await outcomes()).toEqual({ failed: 1 });
      const { items } = (await call("GET /api/v1/subscribers?external_id=ada")).body;
      const ada: string = items[0].id;
      const [row] = await ledgerOf(tenant, ada);
      const at = [String(Date.parse(String(row!.sk).split("#")[1]!))];
      const tags = { tenant: [tenant.id], job: [String(row!.job)], subscriber: [ada], at };
      await tellOfMail(world, { ...event, mail: { tags } });
      expect(await outcomes()).toEqual({ [outcome]: 1 });
      const of = `source_type=journey&source_id=${id}`;
      expect((await call(`GET /api/v1/insights/funnel?${of}`)).body).toMatchObject(figures);
      const { delivered, bounced } = figures;
      const { buckets } = (await call("GET /api/v1/insights/series?group_by=channel")).body;
      expect(buckets).toMatchObject([{ group: "email", delivered, bounced }]);
      const { cells } = (await call("GET /api/v1/insights/heatmap")).body;
      expect(cells).toMatchObject(delivered > 0 ? [{ delivered }] : []);
    },
  );

  it("the outcome of a journey's send step is sent again where another channel reaches by a later attempt whose mail came back (AMB-142)", async () => {
    const { world, reached, call, id, stats } = await mailingJourney({ others: ["sms"] });
    await spoil(world, { channel: "sms", outcome: "transient", times: 2 });
    expect(await reached(BOUNCES)).toEqual({ bounced: 1 });
    await world.advance(20 * MINUTE);

    expect((await stats(id)).steps.m.outcomes).toEqual({ sent: 1 });
    const funnel = (await call(`GET /api/v1/insights/funnel?source_type=journey&source_id=${id}`)).body;
    expect(funnel).toMatchObject({ sent: 1, delivered: 1, bounced: 0 });
  });

  it("the outcome of a journey's send step is skipped where its journey is archived while its message waits for the morning (AMB-142, D-QUIET)", async () => {
    const { reached, call, world, stats, id } = await mailingJourney();
    await call("PATCH /api/v1/workspace", {
      quiet_hours: { start: "11:30", end: "14:00", timezone_mode: "workspace" },
    });
    expect(await reached("ada@example.com")).toEqual({ sent: 1 });

    for (const move of ["pause", "archive"]) await call(`POST /api/v1/journeys/${id}/${move}`);
    await world.advance(180 * MINUTE);

    expect((await stats(id)).steps.m.outcomes).toEqual({ "skipped:canceled": 1 });
    expect(await mailsOf(world)).toEqual([]);
  });

  it("the outcome of a journey's send step stays sent where its message arrived (AMB-142)", async () => {
    const { reached, world } = await mailingJourney();

    expect(await reached("ada@example.com")).toEqual({ sent: 1 });
    expect(await mailsOf(world)).toHaveLength(1);
  });

  it("the outcome of a journey's send step is failed where the worker that sent came ten minutes late (AMB-136, AMB-142)", async () => {
    const pause = { delay: { duration: "1h", next: "m" } };
    const { world, reached, stats, id } = await mailingJourney({ before: { pause } });
    await spoil(world, { channel: "email", outcome: "permanent", times: 1 });
    await reached("ada@example.com");
    world.clock.jumpTo(world.clock.now() + 69 * MINUTE);
    await world.settle();

    expect((await stats(id)).steps.m.outcomes).toEqual({ failed: 1 });
  });

  it("the outcome of a journey's send step is failed for the one visit of two whose message failed, also where a worker is told again later (AMB-142)", async () => {
    const { tenant, world, reached, call, stats, id } = await mailingJourney();
    await reached("ada@example.com");
    await spoil(world, { channel: "email", outcome: "permanent", times: 1 });
    await reached("ada@example.com");
    const [{ id: job }] = (await call(`GET /api/v1/notifications?source_type=journey&source_id=${id}`)).body.items;
    await followSend(tenant.store, await getJob(tenant.store, job));

    expect((await stats(id)).steps.m.outcomes).toEqual({ sent: 1, failed: 1 });
  });

  it("the outcome of a journey's send step is bounced where the mail comes back while a worker notes that it is not confirmed (AMB-142)", async () => {
    const { tenant, reached, call, recounted, id } = await mailingJourney();
    await reached("ada@example.com");
    const [{ id: job }] = (await call(`GET /api/v1/notifications?source_type=journey&source_id=${id}`)).body.items;
    const ada = await tenant.upsert({ external_id: "ada" });
    const send = { job, journey: id, step: "m" };
    await Promise.all([
      followOne(tenant.store, send, ada, { outcome: "failed" }),
      followOne(tenant.store, send, ada, { outcome: "bounced", after: "failed" }),
    ]);

    expect((await recounted(id)).steps.m!.outcomes).toEqual({ bounced: 1 });
  });

  /** What happens to a message that was sent, just when a worker stores what it read before of the run. */
  const bouncingWhen = async (worker: string) => {
    let meanwhile: (() => Promise<void>) | undefined;
    const before = async (_: string, operation: string, input: unknown) => {
      if (operation !== "TransactWriteItems" || !JSON.stringify(input).includes("#newest")) return;
      const act = meanwhile;
      meanwhile = undefined;
      await act?.();
    };
    const setting = await mailingJourney({ hooks: (name) => (name === worker ? { before } : {}) });
    const { tenant, reached, call, id } = setting;
    await reached("ada@example.com");
    const [{ id: job }] = (await call(`GET /api/v1/notifications?source_type=journey&source_id=${id}`)).body.items;
    const ada = await tenant.upsert({ external_id: "ada" });
    meanwhile = () => followOne(tenant.store, { job, journey: id, step: "m" }, ada, { outcome: "bounced" });
    return { ...setting, ada };
  };

  it("the outcome of a journey's send step stays with its run where the person enters again at that moment (AMB-142)", async () => {
    const { reached, recounted, id } = await bouncingWhen("step-journey");
    await reached("ada@example.com");

    expect((await recounted(id)).steps.m!.outcomes).toEqual({ bounced: 1, sent: 1 });
  });

  it("the outcome of a journey's send step stays with its run where the person is erased at that moment (AMB-142, SUB-10)", async () => {
    const { world, call, recounted, id, ada } = await bouncingWhen("erase");
    await call(`DELETE /api/v1/subscribers/${ada}`);
    await world.advance(60 * MINUTE);

    expect((await recounted(id)).steps.m!.outcomes).toEqual({ bounced: 1 });
  });
});
