// What the messages of a campaign cost, and what each conversion did (F10).
import type { CampaignsGetReportAnswer } from "../../../sdk/src/types.gen.ts";
import { channelName } from "../../app/sentences.ts";
import { money } from "../../app/time.ts";
import { Card } from "../../components/page.tsx";

export function Cost({ cost, by_channel }: CampaignsGetReportAnswer) {
  const charged = by_channel.filter(({ provider_dollars }) => provider_dollars);
  return (
    <Card title="What it cost">
      <dl class="facts">
        <dt>Together</dt>
        <dd>
          <b>{money(cost.dollars)}</b>, computed at list prices
        </dd>
        {cost.per_conversion !== null && [
          <dt key="conversion">A conversion</dt>,
          <dd key="conversion-cost">{money(cost.per_conversion)}</dd>,
        ]}
        <dt>The service</dt>
        <dd>{money(cost.service_dollars)}</dd>
        {charged.map(({ channel, provider_dollars }) => [
          <dt key={channel}>{channelName(channel)}</dt>,
          <dd key={`${channel}-cost`}>{money(provider_dollars ?? 0)}</dd>,
        ])}
      </dl>
      {cost.unpriced.length > 0 && (
        <p>No price is set for {cost.unpriced.map(channelName).join(", ")}: its messages are not in it.</p>
      )}
    </Card>
  );
}
