// The service about itself.
import * as v from "valibot";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { platformWrite } from "../../../shared/resources.ts";
import { platform as keys } from "../../../shared/store/keys.ts";

const endpoint = endpoints({ credentials: [], effect: "read", uses: [platformWrite] });

export const service = group("service", "The service about itself.", [
  endpoint(
    "GET /healthz",
    {},
    {
      summary: "Whether the service can reach its table",
      returns: v.object({ status: v.literal("ok") }),
      errors: ["SERVICE_UNAVAILABLE"],
    },
    async ({ platform }) => {
      await platform.get(keys.sweep(), { eventual: true });
      return { status: "ok" as const };
    },
  ),
]);
