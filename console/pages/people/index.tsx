// People: find a subscriber by external ID, email or last name; then everything that is known of them.
import { useEffect, useState } from "preact/hooks";
import type { ArgumentsOf } from "../../app/api.ts";
import { usePages } from "../../app/pages-of.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo, place, setQuery } from "../../app/router.ts";
import { plural } from "../../app/time.ts";
import { AddPerson } from "../../components/add-person.tsx";
import { Button } from "../../components/button.tsx";
import { Page, Time } from "../../components/page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { More, Table } from "../../components/table.tsx";
import { readAttributes } from "./attributes.ts";
import { Profile } from "./profile.tsx";

const WAIT_MS = 300;

export function View() {
  const [id] = place.value.parts;
  return id ? <Profile key={id} id={id} /> : <PeopleList />;
}

function PeopleList() {
  const q = place.value.query.get("q") ?? "";
  const [text, setText] = useState(q);
  useEffect(() => {
    const timer = setTimeout(() => text.trim() !== q && setQuery({ q: text.trim() || undefined }), WAIT_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const count = useQuery("subscribers.getCount", []);
  const people = usePages(
    "subscribers.list",
    (cursor): ArgumentsOf<"subscribers.list"> => [{ limit: 100, ...(q && { q }), ...(cursor && { cursor }) }],
  );
  const items = people.pages.flatMap((page) => page.items);
  const [isAdding, setAdding] = useState(false);
  return (
    <Page
      title="People"
      about={count.data && `${count.data.exact ? "" : "About "}${plural(count.data.count, "subscriber")}`}
      actions={
        <Button icon="plus" needs="subscribers.update" onClick={() => setAdding(true)}>
          Add a person
        </Button>
      }
    >
      <div class="filters">
        <input
          type="search"
          aria-label="Find by external ID, email or last name"
          placeholder="External ID, email or last name"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <Loaded query={people.first} skeleton={<Skeleton table rows={10} />}>
        {() =>
          items.length === 0 ? (
            <Empty
              title={q ? `No external ID, email or last name begins with "${q}".` : "There are no subscribers yet."}
            >
              {q ? "Upper and lower case are the same." : "Your product adds them with the SDK, or you import a file."}
            </Empty>
          ) : (
            <>
              <Table
                caption="People"
                rows={items}
                keyOf={({ id }) => id}
                hrefOf={({ id }) => pathTo("people", id)}
                columns={[
                  { title: "External ID", cell: ({ external_id }) => external_id },
                  { title: "Name", cell: ({ attributes }) => nameOf(attributes) || <span class="dim">–</span> },
                  { title: "Email", cell: ({ email }) => email ?? <span class="dim">–</span> },
                  { title: "Updated", cell: ({ updated_at }) => <Time at={updated_at} /> },
                  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
                ]}
              />
              {people.error && <Failure error={people.error} />}
              <More cursor={people.pages.at(-1)?.next_cursor ?? ""} isLoading={people.isLoading} load={people.load} />
            </>
          )
        }
      </Loaded>
      {isAdding && <AddPerson close={() => setAdding(false)} />}
    </Page>
  );
}

function nameOf(text: string): string {
  const { first_name, last_name } = readAttributes(text);
  return [first_name, last_name].filter((part) => typeof part === "string").join(" ");
}
