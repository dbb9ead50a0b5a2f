// The preview of a send (F8): takes the body of a creation, and writes nothing.
import * as v from "valibot";
import { PreviewedNotification } from "../../../shared/contract/notification-input.ts";
import { said, titled } from "../../../shared/contract/schemas.ts";
import { attributesSeenBy, workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import { requireFeature } from "../../../shared/rules/plans.ts";
import { secrets, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeRead } from "../../../shared/store/context.ts";
import { mailReading } from "../../../shared/store/files/mails.ts";
import { previewSend, SendPreview } from "../../../shared/store/sends/audience/preview.ts";
import { drawOf, namedIn, previewId } from "../../../shared/store/sends/audience/preview-draws.ts";
import { oneOffSpec } from "../../../shared/store/sends/jobs/one-off.ts";
import { namedByExternalIds } from "../../../shared/store/subscribers/external-ids.ts";
import { getProfile } from "../../../shared/store/subscribers/subscribers.ts";
import { KeyWarnings, unknownKeys } from "../../../shared/store/subscribers/unknown-keys.ts";
import { getTemplate, wholeTemplate } from "../../../shared/store/templates/templates.ts";

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeRead, workspaceRead] });

export const previewNotification = endpoint(
  "POST /api/v1/notifications/preview",
  { effect: "read", agents: "read", uses: [secrets, mailReading] },
  {
    summary: "Preview a send",
    description:
      "Takes the body of a creation. Subscribers are judged as the send would judge them; `exact` is false where an " +
      "audience is so large that a sample stands for it. The control group and the arms are drawn anew for every send, " +
      "unless it names the `preview_id` within 10 minutes: then they are those of the preview, also of another preview. " +
      "Nothing is written or sent. `renderings` is the message on each channel, for `render_for` or the first recipient, with warnings. " +
      "A send whose message cannot be rendered for anybody is refused.",
    body: PreviewedNotification,
    returns: titled("NotificationPreview", {
      preview_id: said(
        "The draw of this preview: a send of the same body that names it holds out the same people",
        v.string(),
      ),
      warnings: KeyWarnings,
      ...SendPreview.entries,
    }),
    example: { body: { target: { type: "all" }, title: "Hello {{ subscriber.first_name }}", body: "It works." } },
    errors: ["TEMPLATE_NOT_FOUND", "FEATURE_NOT_AVAILABLE"],
  },
  async ({ store, workspace, secrets, mails, caller, body }) => {
    const { plan } = workspaceOf(caller);
    if (body.channel_arbitration_mode === "smart") requireFeature(plan, "smart_channel");
    const { render_for, preview_id, ...send } = body;
    const { spec } = await oneOffSpec(store, plan, send);
    const renderFor = render_for === undefined ? undefined : await getProfile(store, render_for);
    if (render_for !== undefined && !renderFor) throw invalid({ render_for: "no such subscriber in this workspace" });

    const template =
      spec.template_id === null ? undefined : await wholeTemplate(mails, await getTemplate(store, spec.template_id));
    const content = template?.content;
    const texts = content ?? { title: spec.title ?? "", body: spec.body ?? "", by_channel: spec.by_channel };
    const named =
      body.external_ids && (await namedByExternalIds(store, await secrets.root(), [...new Set(body.external_ids)]));
    const ids = named?.map(({ id }) => id) ?? (body.subscriberIds && [...new Set(body.subscriberIds)]);

    const root = await secrets.root();
    const asked = { spec, named: namedIn(body) };
    const draw = preview_id === undefined ? store.ids.uuid() : drawOf(store, root, preview_id, asked);
    const asking = { plan, workspace: await workspace(), given: ids, renderFor, sees: attributesSeenBy(caller), draw };

    const preview = await previewSend(store, spec, texts, asking);
    const unknown = await unknownKeys(store, Object.keys(spec.subscriber_filters ?? {}));
    return { preview_id: preview_id ?? previewId(store, root, draw, asked), ...unknown, ...preview };
  },
);
