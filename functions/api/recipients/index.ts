// Who gets a notification and why: the preview of a send, and the explanation for one recipient.
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { storeRead, workspaceRead } from "../../../shared/resources.ts";
import { explainRecipient } from "../../../shared/store/sends/explain.ts";
import { Explanation } from "../../../shared/store/sends/explanation.ts";
import { previewNotification } from "./preview.ts";

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeRead, workspaceRead] });

export const recipients = group("recipients", "Who would get a notification, and why a subscriber got it or did not.", [
  previewNotification,

  endpoint(
    "GET /api/v1/notifications/:id/recipients/:subscriberId",
    {},
    {
      summary: "Explain why a subscriber got a notification or did not",
      description:
        "What the rows of the send say happened, and its rules clause by clause with the values they see now.",
      returns: Explanation,
      errors: ["NOT_FOUND"],
    },
    ({ store, workspace, params }) => explainRecipient(store, workspace, params.id, params.subscriberId.toLowerCase()),
  ),
]);
