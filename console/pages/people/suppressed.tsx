// Why an address of a person takes no message.
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { Time } from "../../components/page.tsx";

const REASONS = {
  bounce: "it does not exist",
  complaint: "its owner complained",
  imported: "it was imported as suppressed",
  manual: "a colleague suppressed it",
} as const;

export function Suppressed({ address }: { address: string }) {
  const { data } = useQuery("suppressions.list", [{ address, limit: 1 }]);
  const [found] = data?.items ?? [];
  return (
    <span class="block">
      Suppressed{found && `: ${REASONS[found.reason]}`}
      {found?.note && ` (${found.note})`}
      {found && (
        <>
          {", "}
          <Time at={found.suppressed_at} />
        </>
      )}
      . <a href={pathTo("suppressions", "", { q: address })}>Look at it</a>
    </span>
  );
}
