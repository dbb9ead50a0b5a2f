// Campaigns: the list, and behind each name its editor while a draft, its report afterwards.
import type { Campaign, CampaignsListAnswer, Summary } from "../../../sdk/src/types.gen.ts";
import { campaignStatuses } from "../../../shared/rules/campaign-states.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo, place } from "../../app/router.ts";
import { PAGE_SIZE, pageNumber, useNumbered } from "../../app/rows.ts";
import { amount, now, number, share } from "../../app/time.ts";
import { AudienceName } from "../../components/audience-name.tsx";
import { Badge } from "../../components/badge.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Collection } from "../../components/collection.tsx";
import { asOptions } from "../../components/field.tsx";
import { chosenOf, Filter, Search, searched } from "../../components/filters.tsx";
import { Time } from "../../components/page.tsx";
import { Spark } from "../../components/rates.tsx";
import { Awaited, isAwaited } from "../../components/states.tsx";
import { stateOf } from "./approval.tsx";
import { CampaignView } from "./campaign.tsx";
import { Editor } from "./editor.tsx";
import { timesOf } from "./times.ts";
import { Upcoming } from "./upcoming.tsx";

type CampaignRow = CampaignsListAnswer["items"][number];

export function View() {
  const [id] = place.value.parts;
  if (id === "new") return <Editor />;
  if (id === "upcoming") return <Upcoming />;
  return id ? <CampaignView key={id} id={id} /> : <All />;
}

/** When the next message of a campaign that goes out by itself does so. */
function nextOf(campaign: Pick<Campaign, "status" | "messages" | "scheduled_at">): string | undefined {
  if (campaign.status !== "scheduled" && campaign.status !== "live") return undefined;
  const ahead = timesOf(campaign).flatMap((time) => (time && Date.parse(time) > now() ? [time] : []));
  return ahead.toSorted((a, b) => Date.parse(a) - Date.parse(b))[0];
}

/** The share of the recipients. */
const rateOf = (results: CampaignRow["results"], by: "opened_human" | "clicked_human"): string =>
  results ? share(results[by], results.delivered) : "–";

function Status({ of }: { of: CampaignRow }) {
  const next = nextOf(of);
  return (
    <>
      <Badge state={stateOf(of)} />
      {next && (
        <div class="dim">
          next <Time at={next} />
        </div>
      )}
    </>
  );
}

/** Days of which the course is drawn at least: most opens come on the first. */
const DAYS = 7;

function Opened({ results }: Pick<CampaignRow, "results">) {
  const course = results?.opened_by_day ?? [];
  return (
    <>
      {results && <Spark values={[...course, ...Array<number>(Math.max(0, DAYS - course.length)).fill(0)]} />}
      {rateOf(results, "opened_human")}
    </>
  );
}

function All() {
  const status = chosenOf("status", campaignStatuses);
  const q = searched();
  const asked = {
    page: pageNumber(),
    page_size: PAGE_SIZE,
    results: "true" as const,
    ...(status && { status }),
    ...(q && { q }),
  };
  const rows = useNumbered("campaigns.list", [asked], ({ items }) => items);
  // Of the last 30 days, which is what the service counts where no period is given.
  const summary = useQuery("insights.getSummary", [{ group_by: "campaign" }]);
  const brought = new Map(summary.data?.rows.map((row) => [row.source_id, row]));
  const broughtBy = ({ id, results }: CampaignRow, text: (found: Summary | undefined) => string) => {
    if (!results) return "–";
    if (summary.data) return text(brought.get(id));
    return isAwaited(summary) ? <Awaited /> : "–";
  };
  return (
    <Collection
      noun="campaign"
      page={{
        title: "Campaigns",
        about: "Messages to an audience, with a report. Conversions and revenue are of the last 30 days.",
      }}
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
            options={[{ value: "", label: "All statuses" }, ...asOptions(campaignStatuses)]}
          />
          <LinkButton icon="clock" href={pathTo("campaigns", "upcoming")}>
            Upcoming
          </LinkButton>
        </>
      }
      empty={{
        title: q || status ? "No campaign matches." : undefined,
        action: <a href={pathTo("campaigns", "new")}>Write the first one</a>,
      }}
      columns={[
        { title: "Name", cell: ({ name }) => name },
        { title: "Status", cell: (campaign) => <Status of={campaign} /> },
        { title: "Audience", isMinor: true, cell: ({ target }) => <AudienceName of={target} /> },
        {
          title: "Delivered",
          isMinor: true,
          isNumber: true,
          cell: ({ results }) => (results ? number(results.delivered) : "–"),
        },
        { title: "Opened", isNumber: true, cell: ({ results }) => <Opened results={results} /> },
        { title: "Clicked", isNumber: true, cell: ({ results }) => rateOf(results, "clicked_human") },
        {
          title: "Conversions",
          isMinor: true,
          isNumber: true,
          cell: (campaign) => broughtBy(campaign, (found) => number(found?.conversions ?? 0)),
        },
        {
          title: "Revenue",
          isMinor: true,
          isNumber: true,
          cell: (campaign) => broughtBy(campaign, (found) => amount(found?.last_touch_revenue_cents ?? 0)),
        },
      ]}
      add={{ operation: "campaigns.create", label: "New campaign", by: pathTo("campaigns", "new") }}
    />
  );
}
