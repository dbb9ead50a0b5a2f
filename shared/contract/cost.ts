// What a send costs, or would cost (F10).
import * as v from "valibot";

export const SendCost = v.pipe(
  v.object({
    dollars: v.number(),
    service_dollars: v.number(),
    provider_dollars: v.number(),
    unpriced: v.array(v.string()),
    write_units: v.number(),
    read_units: v.number(),
    queue_messages: v.number(),
  }),
  v.title("SendCost"),
);
