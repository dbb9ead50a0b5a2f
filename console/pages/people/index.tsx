// People: find a subscriber by name, external ID, email or phone; then everything that is known of them.
import { personName } from "../../app/person-name.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo, place } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { plural } from "../../app/time.ts";
import { AddPerson } from "../../components/add-person.tsx";
import { Collection } from "../../components/collection.tsx";
import { FOUND_BY, PeopleSearch, searched } from "../../components/filters.tsx";
import { Address, Dash, Time } from "../../components/page.tsx";
import { Awaited } from "../../components/states.tsx";
import { Profile } from "./profile.tsx";

export function View() {
  const [id] = place.value.parts;
  return id ? <Profile key={id} id={id} /> : <PeopleList />;
}

function PeopleList() {
  const q = searched();
  const { data: count, error } = useQuery("subscribers.getCount", []);
  const rows = usePages("subscribers.list", [{ limit: 100, ...(q && { q }) }], ({ items }) => items);
  return (
    <Collection
      noun="subscriber"
      page={{
        title: "People",
        about: count
          ? `${count.exact ? "" : "About "}${plural(count.count, "person", "people")}`
          : !error && <Awaited />,
      }}
      rows={rows}
      usual={10}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => pathTo("people", id)}
      filters={<PeopleSearch />}
      empty={{
        title: q ? `Nobody is found by “${q}”.` : "There are no people yet.",
        about: q ? FOUND_BY : "Your product adds them with the SDK, or you import a file.",
        action: q ? (
          <a href={pathTo("settings", "audit", { action: "subscribers" })}>Who was erased is in the audit trail</a>
        ) : (
          <a href={pathTo("import")}>Import a file</a>
        ),
      }}
      columns={[
        { title: "Name", cell: personName },
        {
          title: "External ID",
          isMinor: true,
          cell: ({ external_id }) => (
            <span class="dim">
              <Address of={external_id} />
            </span>
          ),
        },
        { title: "Email", cell: ({ email }) => (email ? <Address of={email} /> : <Dash />) },
        { title: "Updated", isMinor: true, cell: ({ updated_at }) => <Time at={updated_at} /> },
        { title: "Created", isMinor: true, cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
      add={{
        operation: "subscribers.update",
        label: "Add a person",
        isMinor: true,
        by: (close) => <AddPerson close={close} />,
      }}
    />
  );
}
