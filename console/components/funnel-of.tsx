// What one campaign or journey led to since a moment: its funnel, and what it cost.
import { useQuery } from "../app/query.ts";
import { CostFacts } from "./cost.tsx";
import { Funnel } from "./funnel.tsx";
import { Loaded, Skeleton } from "./states.tsx";

interface FunnelProps {
  group: "campaign" | "journey";
  source: string;
  start: string;
}

export function FunnelOf({ group, source, start }: FunnelProps) {
  const funnel = useQuery("insights.getFunnel", [{ source_type: group, source_id: source, start }]);
  return (
    <Loaded query={funnel} skeleton={<Skeleton rows={5} />}>
      {(found) => (
        <>
          <Funnel of={found} caption={`Funnel of the ${group}`} />
          <h3>Cost</h3>
          <CostFacts cost={found.cost} />
          {group === "journey" && <p class="dim">Of the sends that have ended, without the moves of its runs.</p>}
        </>
      )}
    </Loaded>
  );
}
