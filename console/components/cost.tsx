// What sends cost, computed from their numbers at list prices (F10).
import type { InsightsGetFunnelAnswer } from "../../sdk/src/types.gen.ts";
import { pathTo } from "../app/router.ts";
import { channelName } from "../app/sentences.ts";
import { type Fact, Facts, Money } from "./page.tsx";

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
      <Facts
        of={[
          [
            "Total",
            <>
              <b>
                <Money of={dollars} />
              </b>
              , computed at list prices
            </>,
          ],
          perConversion !== null && ["Per person converted", <Money key="each" of={perConversion} />],
          ["The service", <Money key="service" of={service_dollars} />],
          ...providers.map(([name, amount]): Fact => [name, <Money key={name} of={amount} />]),
        ]}
      />
      {unpriced.length > 0 && (
        <p>
          No price is set for {unpriced.map(channelName).join(", ")}: these messages are not in it.{" "}
          <a href={pathTo("channels")}>Set a price</a>
        </p>
      )}
    </>
  );
}
