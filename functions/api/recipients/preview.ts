// What a send would come to, before it is made (F8): the body of a creation, and nothing is written.
import * as v from "valibot";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { NewNotification } from "../../../shared/http/notification-input.ts";
import { Timestamp } from "../../../shared/http/schemas.ts";
import { requireFeature } from "../../../shared/plans.ts";
import { storeRead, workspaceRead } from "../../../shared/resources.ts";
import { oneOffSpec } from "../../../shared/store/sends/one-off.ts";
import { previewSend } from "../../../shared/store/sends/preview.ts";
import { getTemplate } from "../../../shared/store/sends/templates.ts";

const Numbers = v.record(v.string(), v.number());

const Preview = v.object({
  exact: v.boolean(),
  counts: v.object({
    ...{ total: v.number(), sent: v.number(), deferred: v.number() },
    ...{ skipped: v.number(), held_out: v.number() },
  }),
  by_class: Numbers,
  skip_reasons: Numbers,
  samples: v.array(
    v.object({
      subscriber_id: v.string(),
      variant_id: v.nullable(v.string()),
      channels: v.array(v.string()),
      deferred_until: v.nullable(Timestamp),
      title: v.nullable(v.string()),
      body: v.nullable(v.string()),
    }),
  ),
  skipped_samples: v.record(v.string(), v.array(v.string())),
  rendered: v.object({ recipients: v.number(), failed: v.number(), unknown_variables: Numbers }),
});

const looking = endpoints({ credentials: ["dashboard"], uses: [storeRead, workspaceRead] });

export const previewNotification = looking(
  "POST /api/v1/notifications/preview",
  { effect: "read" },
  {
    summary: "Preview what a send would come to",
    description:
      "The body of a creation. Everybody is judged as the send would judge them; `exact` is false where an audience is " +
      "so large that a sample stands for it. Who is held out is drawn anew for every send. Nothing is written or sent.",
    body: NewNotification,
    returns: v.pipe(Preview, v.title("NotificationPreview")),
    status: 200,
    example: { body: { target: { type: "all" }, title: "Hello {{ subscriber.first_name }}", body: "It works." } },
    errors: ["TEMPLATE_NOT_FOUND", "FEATURE_NOT_AVAILABLE"],
  },
  async ({ store, workspace, caller, body }) => {
    const { plan } = workspaceOf(caller);
    if (body.channel_arbitration_mode === "smart") requireFeature(plan, "smart_channel");
    const spec = await oneOffSpec(store, plan, body);
    const content = spec.template_id === null ? undefined : (await getTemplate(store, spec.template_id)).content;
    const texts = content ?? { title: spec.title ?? "", body: spec.body ?? "" };
    const given = body.subscriberIds && [...new Set(body.subscriberIds)];
    return previewSend(store, spec, texts, { workspace: await workspace(), given });
  },
);
