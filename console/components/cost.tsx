// What sends cost, computed from their numbers at list prices (F10).
import type { InsightsGetFunnelAnswer } from "../../sdk/src/types.gen.ts";
import { channelName } from "../app/sentences.ts";
import { money } from "../app/time.ts";

interface CostProps {
  cost: Pick<InsightsGetFunnelAnswer["cost"], "dollars" | "service_dollars" | "provider_dollars" | "unpriced">;
  /** Of the providers, in dollars, by channel; without it they are one number. */
  charged?: readonly { channel: string; dollars: number }[];
  perConversion?: number | null;
}

export function CostFacts({ cost, charged, perConversion = null }: CostProps) {
  const { dollars, service_dollars, provider_dollars, unpriced } = cost;
  const providers =
    charged?.map(({ channel, dollars }) => [channelName(channel), dollars] as const) ??
    (provider_dollars > 0 ? [["Providers", provider_dollars] as const] : []);
  return (
    <>
      <dl class="facts">
        <dt>Total</dt>
        <dd>
          <b>{money(dollars)}</b>, computed at list prices
        </dd>
        {perConversion !== null && [
          <dt key="conversion">Per conversion</dt>,
          <dd key="conversion-cost">{money(perConversion)}</dd>,
        ]}
        <dt>The service</dt>
        <dd>{money(service_dollars)}</dd>
        {providers.map(([name, amount]) => [<dt key={name}>{name}</dt>, <dd key={`${name}-cost`}>{money(amount)}</dd>])}
      </dl>
      {unpriced.length > 0 && (
        <p>No price is set for {unpriced.map(channelName).join(", ")}: its messages are not in it.</p>
      )}
    </>
  );
}
