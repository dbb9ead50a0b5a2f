// What a send costs, or would cost (F10).
import * as v from "valibot";

const number = ({ about }: { about: string }) => v.pipe(v.number(), v.description(about));

export const SendCost = v.pipe(
  v.object({
    dollars: number({ about: "All of it, in US dollars" }),
    service_dollars: number({ about: "Of that, the table, the queues and the functions" }),
    provider_dollars: number({ about: "Of that, what the providers charge" }),
    unpriced: v.pipe(
      v.array(v.string()),
      v.description("The types of channels without a price: their messages are not in it"),
    ),
    write_units: number({ about: "Write units of the table" }),
    read_units: number({ about: "Read units of the table" }),
    queue_messages: number({ about: "Messages of queues" }),
  }),
  v.title("SendCost"),
);
