// What a send costs, or would cost (F10).
import * as v from "valibot";
import { said, titled } from "./schemas.ts";

const number = ({ about }: { about: string }) => said(about, v.number());

export const SendCost = titled("SendCost", {
  dollars: number({ about: "All of it, in US dollars" }),
  service_dollars: number({ about: "Of that, the table, the queues and the functions" }),
  provider_dollars: number({ about: "Of that, what the providers charge" }),
  unpriced: said("The types of channels without a price: their messages are not in it", v.array(v.string())),
  write_units: number({ about: "Write units of the table" }),
  read_units: number({ about: "Read units of the table" }),
  queue_messages: number({ about: "Messages of queues" }),
});
