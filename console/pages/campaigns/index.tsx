// Campaigns: the list, and behind each name its editor while a draft, its report afterwards.
import { useEffect, useState } from "preact/hooks";
import type { CampaignsCampaign } from "../../../sdk/src/types.gen.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo, place, setQuery } from "../../app/router.ts";
import { Badge } from "../../components/badge.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Page, Time } from "../../components/page.tsx";
import { Pager, pageNumber } from "../../components/pager.tsx";
import { Empty, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { CampaignView } from "./campaign.tsx";
import { Editor } from "./editor.tsx";

const STATUSES = ["draft", "scheduled", "live", "completed", "paused", "archived"] as const;
const WAIT_MS = 300;
const PAGE_SIZE = 50;

export function View() {
  const [id] = place.value.parts;
  if (id === "new") return <Editor />;
  return id ? <CampaignView key={id} id={id} /> : <All />;
}

function All() {
  const { query } = place.value;
  const status = STATUSES.find((one) => one === query.get("status"));
  const q = query.get("q") ?? "";
  const page = pageNumber();
  const [text, setText] = useState(q);
  useEffect(() => {
    const timer = setTimeout(
      () => text.trim() !== q && setQuery({ q: text.trim() || undefined, page: undefined }),
      WAIT_MS,
    );
    return () => clearTimeout(timer);
  }, [text]);
  const campaigns = useQuery("campaigns.list", [
    { page, page_size: PAGE_SIZE, ...(status && { status }), ...(q && { q }) },
  ]);
  return (
    <Page
      title="Campaigns"
      about="One or more messages to an audience, with a report of the results."
      actions={
        <LinkButton kind="primary" icon="plus" href={pathTo("campaigns", "new")} needs="campaigns.create">
          New campaign
        </LinkButton>
      }
    >
      <div class="filters">
        <input
          type="search"
          aria-label="Search by name"
          placeholder="Search by name"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <select
          aria-label="Status"
          value={status ?? ""}
          onInput={(event) => setQuery({ status: event.currentTarget.value || undefined, page: undefined })}
        >
          <option value="">All statuses</option>
          {STATUSES.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </div>
      <Loaded query={campaigns} skeleton={<Skeleton table rows={6} />}>
        {({ items, total }) =>
          items.length === 0 ? (
            <Empty
              title={q || status ? "No campaign matches." : "There are no campaigns yet."}
              action={<a href={pathTo("campaigns", "new")}>Write the first one</a>}
            />
          ) : (
            <>
              <Table
                caption="Campaigns"
                rows={items}
                keyOf={({ id }) => id}
                hrefOf={({ id }) => pathTo("campaigns", id)}
                columns={COLUMNS}
              />
              <Pager total={total} size={PAGE_SIZE} what="campaign" />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

const COLUMNS = [
  { title: "Name", cell: ({ name }: CampaignsCampaign) => name },
  { title: "Status", cell: ({ status }: CampaignsCampaign) => <Badge state={status} /> },
  { title: "Messages", isNumber: true, cell: ({ messages }: CampaignsCampaign) => messages.length },
  {
    title: "Control group",
    isNumber: true,
    cell: ({ holdout_percentage }: CampaignsCampaign) => (holdout_percentage ? `${holdout_percentage}%` : "–"),
  },
  {
    title: "Audience",
    cell: ({ target }: CampaignsCampaign) => (
      <span class="dim">{target.type === "all" ? "everyone" : target.type}</span>
    ),
  },
  { title: "Updated", cell: ({ updated_at }: CampaignsCampaign) => <Time at={updated_at} /> },
];
