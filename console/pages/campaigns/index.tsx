// Campaigns: the list, and behind each name its editor while a draft, its report afterwards.
import { pathTo, place } from "../../app/router.ts";
import { PAGE_SIZE, pageNumber, useNumbered } from "../../app/rows.ts";
import { Badge } from "../../components/badge.tsx";
import { Collection } from "../../components/collection.tsx";
import { asOptions } from "../../components/field.tsx";
import { chosenOf, Filter, Search, searched } from "../../components/filters.tsx";
import { Time } from "../../components/page.tsx";
import { CampaignView } from "./campaign.tsx";
import { Editor } from "./editor.tsx";

const STATUSES = ["draft", "scheduled", "live", "completed", "paused", "archived"] as const;

export function View() {
  const [id] = place.value.parts;
  if (id === "new") return <Editor />;
  return id ? <CampaignView key={id} id={id} /> : <All />;
}

function All() {
  const status = chosenOf("status", STATUSES);
  const q = searched();
  const asked = { page: pageNumber(), page_size: PAGE_SIZE, ...(status && { status }), ...(q && { q }) };
  const rows = useNumbered("campaigns.list", [asked], ({ items }) => items);
  return (
    <Collection
      noun="campaign"
      page={{ title: "Campaigns", about: "One or more messages to an audience, with a report of the results." }}
      rows={rows}
      usual={6}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => pathTo("campaigns", id)}
      filters={
        <>
          <Search label="Search by name" />
          <Filter
            name="status"
            label="Status"
            value={status ?? ""}
            options={[{ value: "", label: "All statuses" }, ...asOptions(STATUSES)]}
          />
        </>
      }
      empty={{
        title: q || status ? "No campaign matches." : undefined,
        action: <a href={pathTo("campaigns", "new")}>Write the first one</a>,
      }}
      columns={[
        { title: "Name", cell: ({ name }) => name },
        { title: "Status", cell: (campaign) => <Badge state={campaign.status} /> },
        { title: "Messages", isNumber: true, cell: ({ messages }) => messages.length },
        {
          title: "Control group",
          isNumber: true,
          cell: ({ holdout_percentage }) => (holdout_percentage ? `${holdout_percentage}%` : "–"),
        },
        {
          title: "Audience",
          cell: ({ target }) => <span class="dim">{target.type === "all" ? "everyone" : target.type}</span>,
        },
        { title: "Updated", cell: ({ updated_at }) => <Time at={updated_at} /> },
      ]}
      add={{ operation: "campaigns.create", label: "New campaign", by: pathTo("campaigns", "new") }}
    />
  );
}
