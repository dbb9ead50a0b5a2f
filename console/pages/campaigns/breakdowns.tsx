// A campaign by its parts: by channel, by variant and by message.
import type { CampaignsGetReportAnswer } from "../../../sdk/src/types.gen.ts";
import { channelName } from "../../app/sentences.ts";
import { money } from "../../app/time.ts";
import { Breakdown, ByVariant } from "../../components/breakdown.tsx";

export function Breakdowns({ report }: { report: CampaignsGetReportAnswer }) {
  const { by_channel, by_message } = report;
  return (
    <>
      <Breakdown
        title="By channel"
        file="campaign by channel"
        rows={by_channel}
        keyOf={({ channel }) => channel}
        first={{ title: "Channel", cell: ({ channel }) => channelName(channel) }}
      />
      <ByVariant file="campaign by variant" of={report} />
      <Breakdown
        title="By message"
        file="campaign by message"
        rows={by_message}
        keyOf={({ position }) => String(position)}
        first={{ title: "Message", cell: ({ label }) => label }}
        last={{ title: "Cost", isNumber: true, cell: ({ dollars }) => money(dollars) }}
      />
    </>
  );
}
