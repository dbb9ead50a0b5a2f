// Experiences: what the app shows, with status and statistics of the chosen one.
import { experienceStatuses } from "../../../shared/rules/experience-states.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo, place } from "../../app/router.ts";
import { PAGE_SIZE, pageNumber, useNumbered } from "../../app/rows.ts";
import { Badge } from "../../components/badge.tsx";
import { Collection } from "../../components/collection.tsx";
import { asOptions, inWords } from "../../components/field.tsx";
import { chosenOf, Filter } from "../../components/filters.tsx";
import { Time } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";
import { EVERY_MS, One } from "./experience.tsx";

export function Experiences() {
  const [, wanted] = place.value.parts;
  const page = pageNumber();
  const status = chosenOf("status", experienceStatuses);
  const asked = { page, page_size: PAGE_SIZE, ...(status && { status }) };
  const rows = useNumbered("experiences.list", [asked], ({ items }) => items, { every: EVERY_MS });
  const listed = wanted === undefined ? rows.items[0] : rows.items.find(({ id }) => id === wanted);
  // What is new, or on another page.
  const isElsewhere = wanted !== undefined && rows.first.data !== undefined && !listed;
  const one = useQuery("experiences.get", [wanted ?? ""], { when: isElsewhere, every: EVERY_MS });
  const chosen = listed ?? (isElsewhere ? one.data : undefined);
  return (
    <Collection
      noun="experience"
      caption="Experiences"
      rows={rows}
      usual={4}
      keyOf={({ id }) => id}
      hrefOf={({ id }) =>
        pathTo("content", `experiences/${id}`, { page: page > 1 ? `${page}` : "", status: status ?? "" })
      }
      selected={chosen?.id}
      beside={(chosen && <One key={chosen.id} experience={chosen} />) || (one.error && <Failure error={one.error} />)}
      filters={
        <Filter
          name="status"
          label="Status"
          value={status ?? ""}
          options={[{ value: "", label: "All statuses" }, ...asOptions(experienceStatuses)]}
        />
      }
      empty={{
        title: status ? "No experience matches." : undefined,
        about: "An experience is a banner, a card or a full screen that the app shows.",
      }}
      columns={[
        { title: "Name", cell: ({ name }) => name },
        {
          title: "Format",
          isMinor: true,
          isWord: true,
          cell: ({ format }) => <span class="dim">{inWords(format)}</span>,
        },
        { title: "Status", cell: (experience) => <Badge state={experience.status} /> },
        { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
      add={{ operation: "experiences.create", label: "New experience", by: pathTo("content", "experiences/new") }}
    />
  );
}
