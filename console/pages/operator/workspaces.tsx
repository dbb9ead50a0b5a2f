// All workspaces, nearest to a limit first, with what they cost.
import { useEffect, useState } from "preact/hooks";
import { useLocalCall } from "../../app/local.ts";
import { now, number } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Card, Money, Time } from "../../components/page.tsx";
import { Empty, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

interface Workspace {
  id: string;
  name: string;
  plan: string;
  status: string;
  kind: string;
  created_at: string;
  usage: { sends: number; events: number; subscribers: number };
  nearest: { limit: string; used: number; max: number; percent: number } | null;
}

interface Cost {
  id: string;
  dollars: number;
}

interface WorkspacePage<T> {
  workspaces: T[];
  next?: string;
}

type Run = ReturnType<typeof useLocalCall>["run"];

/** Every page of an action of the operator; undefined where one was refused. */
async function everyPage<T>(run: Run, action: string, request: object): Promise<T[] | undefined> {
  const all: T[] = [];
  let after: string | undefined;
  do {
    const page: { answer: WorkspacePage<T> } | undefined = await run<WorkspacePage<T>>("operator", {
      [action]: { ...request, ...(after && { after }) },
    });
    if (!page) return undefined;
    all.push(...page.answer.workspaces);
    after = page.answer.next;
  } while (after !== undefined);
  return all;
}

export function Workspaces() {
  const { run, error } = useLocalCall();
  const [found, setFound] = useState<readonly Workspace[]>();
  const [costs, setCosts] = useState<ReadonlyMap<string, number>>(new Map());
  useEffect(() => {
    void (async () => {
      const near = ({ nearest }: Workspace) => nearest?.percent ?? 0;
      const all = await everyPage<Workspace>(run, "workspaces", {});
      if (!all) return;
      setFound(all.sort((a, b) => near(b) - near(a)));
      const period = new Date(now()).toISOString().slice(0, 7);
      const month = await everyPage<Cost>(run, "cost", { period });
      setCosts(new Map(month?.map(({ id, dollars }) => [id, dollars])));
    })();
  }, []);
  return (
    <Card title="Workspaces, nearest to a limit first" flush>
      {error && <p class="banner bad">{error}</p>}
      {!found && !error && <Skeleton table rows={3} />}
      {found?.length === 0 && <Empty title="There are no workspaces." />}
      {found && found.length > 0 && (
        <Table
          caption="Workspaces"
          rows={found}
          keyOf={({ id }) => id}
          columns={[
            { title: "Name", cell: ({ name }) => <b>{name}</b> },
            { title: "Plan", isMinor: true, isWord: true, cell: ({ plan }) => <span class="capital">{plan}</span> },
            { title: "Status", isMinor: true, cell: ({ status }) => <Badge state={status} /> },
            { title: "Subscribers", isMinor: true, isNumber: true, cell: ({ usage }) => number(usage.subscribers) },
            { title: "Messages", isMinor: true, isNumber: true, cell: ({ usage }) => number(usage.sends) },
            { title: "Events", isMinor: true, isNumber: true, cell: ({ usage }) => number(usage.events) },
            {
              title: "Nearest limit",
              cell: ({ nearest }) =>
                nearest ? `${nearest.percent || "<1"}% of ${number(nearest.max)} ${nearest.limit}` : "–",
            },
            {
              title: "Cost this month",
              isNumber: true,
              cell: ({ id }) => (costs.has(id) ? <Money of={costs.get(id)!} /> : "–"),
            },
            { title: "Created", isMinor: true, cell: ({ created_at }) => <Time at={created_at} /> },
          ]}
        />
      )}
    </Card>
  );
}
