// A test send (RDA-9): to the workspace's test subscribers and to the caller's own address, outside all reports.
import * as v from "valibot";
import { OWN_ADDRESS, TestNotification } from "../../../shared/contract/notification-input.ts";
import { said } from "../../../shared/contract/schemas.ts";
import { type Caller, requireUser, workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { HOUR } from "../../../shared/kernel/clock.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import { providers } from "../../../shared/providers/providers.ts";
import { markedAsTest } from "../../../shared/rules/channel-content.ts";
import { secrets, workspaceRead } from "../../../shared/store/capabilities.ts";
import { platformWrite, storeWrite } from "../../../shared/store/context.ts";
import { mailReading } from "../../../shared/store/files/mails.ts";
import { mailLinks } from "../../../shared/store/mail-links.ts";
import { channelSettings, selectedOf } from "../../../shared/store/sends/audience/planning.ts";
import { testDrawOf } from "../../../shared/store/sends/audience/preview-draws.ts";
import { testIdOf } from "../../../shared/store/sends/jobs/job-ids.ts";
import { oneOffSpec } from "../../../shared/store/sends/jobs/one-off.ts";
import { getProfile, getProfiles } from "../../../shared/store/subscribers/subscribers.ts";
import { getTemplate, wholeTemplate } from "../../../shared/store/templates/templates.ts";
import { vaultOpening } from "../../../shared/store/vault.ts";
import { type AttemptLimit, countAttempt } from "../../../shared/store/workspaces/attempts.ts";
import { deliverTest, TestDelivery, type TestSend } from "./delivery.ts";
import { sandbox } from "./sandbox.ts";

/** Test sends count in no quota, so they have a limit. */
export const TESTS_PER_WORKSPACE: AttemptLimit = { kind: "test-send", max: 20, windowMs: HOUR };

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeWrite, workspaceRead] });

const testNotification = endpoint(
  "POST /api/v1/notifications/test",
  { permission: "send", uses: [platformWrite, providers, vaultOpening, mailLinks, secrets, mailReading] },
  {
    summary: "Send a test to the workspace's test subscribers and to your own address",
    description:
      "The message is sent at once, with `[Test] ` before its subjects and titles, and the answer says what became of it " +
      "at each address. Templates of the chat app are sent as they were approved. Consent and choices of topics of the " +
      "test subscribers count; quiet hours and frequency caps do not. No report, series, quota or attribution counts it, and " +
      `the links of its mails are not tracked. At most ${TESTS_PER_WORKSPACE.max} tests an hour in a workspace. A repeated call sends again.`,
    body: TestNotification,
    returns: v.object({
      deliveries: said("What became of the message at each address", v.array(TestDelivery)),
    }),
    example: {
      body: { title: "Hello {{ subscriber.first_name }}", body: "It works.", to: [OWN_ADDRESS] },
      returns: { deliveries: [{ subscriber_id: null, channel: "email", state: "sent", reason: null }] },
    },
    errors: ["TEMPLATE_NOT_FOUND", "FEATURE_NOT_AVAILABLE", "RATE_LIMITED"],
  },
  async (call) => {
    const test = await testSendOf(call);
    await countAttempt(call.platform, TESTS_PER_WORKSPACE, call.store.tenant);
    return { deliveries: await deliverTest(call, test) };
  },
);

type TestCall = Context<readonly [typeof storeWrite, typeof workspaceRead, typeof secrets, typeof mailReading]> & {
  caller: Caller;
  body: v.InferOutput<typeof TestNotification>;
};

/**
 * The test that a body asks for.
 * @throws 422 for a recipient that is not a test subscriber, and for a test without recipients
 */
async function testSendOf({ store, workspace: settings, secrets, mails, caller, body }: TestCall): Promise<TestSend> {
  const { email } = requireUser(caller);
  const { to, as_subscriber_id, variant, preview_id, ...message } = body;
  const workspace = await settings();
  const known = workspace?.test_subscriber_ids ?? [];
  const ids = [...new Set(to ?? known)].filter((address) => address !== OWN_ADDRESS);
  if (ids.some((id) => !known.includes(id)))
    throw invalid({ to: "names a subscriber that is not one of the workspace's test_subscriber_ids" });

  const { plan } = workspaceOf(caller);
  const { spec, channels } = await oneOffSpec(store, plan, {
    ...message,
    subscriberIds: ids,
    channel_arbitration_mode: "explicit",
    holdout_percentage: 0,
    bypass_quiet_hours: true,
  });
  const via = selectedOf(channels, spec, plan).map(channelSettings);
  const isToSelf = to ? to.includes(OWN_ADDRESS) : via.some(({ type }) => type === "email");
  if (ids.length === 0 && !isToSelf)
    throw invalid({ to: "names nobody: set test_subscriber_ids of the workspace, or send by email to yourself" });

  const [template, shownAs, profiles] = await Promise.all([
    spec.template_id === null ? undefined : wholeTemplate(mails, await getTemplate(store, spec.template_id)),
    as_subscriber_id === undefined ? undefined : getProfile(store, as_subscriber_id),
    getProfiles(store, ids),
  ]);
  if (as_subscriber_id !== undefined && !shownAs)
    throw invalid({ as_subscriber_id: "no such subscriber in this workspace" });

  return {
    id: testIdOf(store.clock.now(), store.ids.bytes(10)),
    said: markedAsTest({ ...spec, ...template?.content }),
    via,
    workspace,
    arm: variant ?? (spec.variant_b ? "a" : undefined),
    draw: preview_id === undefined ? undefined : testDrawOf(store, await secrets.root(), preview_id, spec),
    shownAs,
    subscribers: ids.map((id, i) => ({ id, profile: profiles[i] })),
    email: isToSelf ? email : undefined,
  };
}

export const tests = group("tests", "Test sends to test subscribers, and the clock and the outbox of sandboxes.", [
  testNotification,
  ...sandbox,
]);
