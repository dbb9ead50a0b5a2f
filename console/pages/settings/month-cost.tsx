// What the month costs so far: the service by what was used, and the providers by what they were given.
import type { Billing, Channel } from "../../../sdk/src/types.gen.ts";
import { isPriced, priceOf } from "../../../shared/rules/cost.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { channelName } from "../../app/sentences.ts";
import { money, number } from "../../app/time.ts";
import { Card, Money } from "../../components/page.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

type Range = Billing["cost"]["sends"];

interface Line {
  what: string;
  amount: number;
  /** Undefined where no price is known. */
  cost: Range | undefined;
}

const NOTHING: Range = { dollars: 0, dollars_at_most: 0 };

const Between = ({ dollars, dollars_at_most }: Range) => (
  <>
    {money(dollars) !== money(dollars_at_most) && (
      <>
        <Money of={dollars} /> to{" "}
      </>
    )}
    <Money of={dollars_at_most} />
  </>
);

/** Of all channels of a type, whose prices may differ. */
function chargedBy(type: string, messages: number, channels: readonly Channel[]): Range | undefined {
  const prices = channels
    .filter((channel) => channel.type === type)
    .flatMap(
      ({ price_per_message, settings }) => priceOf(type, price_per_message ?? undefined, settings?.provider) ?? [],
    );
  if (prices.length === 0) return undefined;
  return { dollars: messages * Math.min(...prices), dollars_at_most: messages * Math.max(...prices) };
}

export function MonthCost({ billing: { usage, cost, period_start: start } }: { billing: Billing }) {
  const series = useQuery("insights.getSeries", [{ group_by: "channel", start }]);
  const channels = useQuery("channels.list", []);
  const all = channels.data?.channels;
  return (
    <Card title="What this month costs" flush>
      <Loaded query={series} skeleton={<Skeleton rows={4} />}>
        {({ buckets }) => {
          const given = new Map<string, number>();
          for (const { group, delivered, bounced } of buckets)
            if (group !== null && isPriced(group))
              given.set(group, (given.get(group) ?? 0) + (delivered ?? 0) + (bounced ?? 0));
          const providers = [...given].map(
            ([type, amount]): Line => ({
              what: `${channelName(type)}, by the provider`,
              amount,
              cost: all && chargedBy(type, amount, all),
            }),
          );
          const lines: Line[] = [
            { what: "Messages", amount: usage.sends, cost: cost.sends },
            { what: "Events", amount: usage.events, cost: cost.events },
            ...providers,
          ];
          const charged = providers.map((line) => line.cost ?? NOTHING);
          const sum = (name: keyof Range) => charged.reduce((total, one) => total + one[name], cost[name]);
          const total = { dollars: sum("dollars"), dollars_at_most: sum("dollars_at_most") };
          const isOpen = all !== undefined && lines.some((line) => line.cost === undefined);
          return (
            <>
              <Table
                caption="What this month costs"
                rows={[...lines, { what: "Together", amount: undefined, cost: total }]}
                keyOf={({ what }) => what}
                columns={[
                  { title: "Of", cell: ({ what }) => what },
                  {
                    title: "So far",
                    isMinor: true,
                    isNumber: true,
                    cell: ({ amount }) => amount !== undefined && number(amount),
                  },
                  {
                    title: "Cost",
                    isNumber: true,
                    cell: (line) => (line.cost ? <Between {...line.cost} /> : <span class="dim">no price</span>),
                  },
                ]}
              />
              <p class="hint inset">
                At list prices: a message costs the service less in a send to many than by itself. What is stored, and
                what the service costs while nothing happens, is the operator&rsquo;s.{" "}
                {isOpen && <a href={pathTo("channels")}>Set the price of a provider</a>}
              </p>
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}
