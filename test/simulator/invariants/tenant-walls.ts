// Work for one workspace touches no other one: checked on every key of every request, and on every message.
import type { Invariant } from "../invariant.ts";
import { keysOf } from "../requests.ts";

export const tenantWalls: Invariant = {
  name: "tenant-walls",
  watch: ({ onRequest }, broken) => {
    onRequest((process, service, operation, input) => {
      if (service === "dynamodb") {
        for (const { pk } of keysOf(operation, input)) {
          const tenant = pk.startsWith("T#") ? pk.split("#")[1]! : undefined;
          if (tenant !== undefined && !process.tenants.has(tenant))
            broken(`${process.label} works for ${[...process.tenants]} and touches ${pk}`, process.label);
        }
      } else if (operation === "SendMessageBatch" && process.name !== "due" && process.name !== "react")
        for (const { MessageBody } of input.Entries as { MessageBody: string }[]) {
          const { tenant } = JSON.parse(MessageBody) as { tenant?: string };
          if (tenant !== undefined && !process.tenants.has(tenant))
            broken(`${process.label} works for ${[...process.tenants]} and sends ${MessageBody}`, process.label);
        }
    });
    return {};
  },
};
