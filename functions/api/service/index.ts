// The service itself: its health. The description of its API is files (docs/site).
import * as v from "valibot";
import { said } from "../../../shared/contract/schemas.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { release } from "../../../shared/runtime/resources.ts";
import { platformRead } from "../../../shared/store/context.ts";
import { SweepItem } from "../../../shared/store/platform-items.ts";

const endpoint = endpoints({ credentials: [], effect: "read", uses: [] });

export const service = group("service", "Health.", [
  endpoint(
    "GET /healthz",
    { uses: [platformRead, release] },
    {
      summary: "Whether the service can reach its table, which version it is and in which region it keeps its data",
      returns: v.object({
        status: v.literal("ok"),
        version: v.string(),
        /** The commit of the deployed repository; `unknown` without Git. */
        commit: v.string(),
        region: said("The AWS region of all data; `local` on a laptop", v.string()),
      }),
    },
    async ({ platform, release }) => {
      await platform.get(SweepItem, {}, { eventual: true });
      return { status: "ok" as const, ...release };
    },
  ),
]);
