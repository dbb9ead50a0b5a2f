// The members of a list: who is in it since when; added by external ID, taken out again.
import { useAction } from "../../app/action.ts";
import { call } from "../../app/api.ts";
import { useBusy } from "../../app/busy.ts";
import { useFields } from "../../app/fields.ts";
import { calledOf } from "../../app/person-name.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Act } from "../../components/button.tsx";
import { Collection } from "../../components/collection.tsx";
import { FormDialog } from "../../components/dialog.tsx";
import { FOUND_BY, PeopleSearch, searched } from "../../components/filters.tsx";
import { Time } from "../../components/page.tsx";
import { idsIn, PeopleField } from "../../components/person-picker.tsx";

const STALE = ["lists.", "subscribers."];

export function ListMembers({ id }: { id: string }) {
  const { data } = useQuery("lists.get", [id]);
  const q = searched();
  const rows = usePages("lists.listSubscribers", [id, q ? { q } : {}], ({ items }) => items);
  const remove = useAction("lists.removeSubscribers", { stale: STALE });
  return (
    <Collection
      noun="member"
      page={{
        title: data?.name ?? "List",
        about: data && [plural(data.subscriber_count, "person", "people"), data.description].filter(Boolean).join(". "),
        back: { href: pathTo("content", "lists"), label: "Lists" },
      }}
      caption="Members of the list"
      csv="list"
      rows={rows}
      usual={6}
      keyOf={({ subscriber_id }) => subscriber_id}
      hrefOf={({ subscriber_id }) => pathTo("people", subscriber_id)}
      filters={<PeopleSearch />}
      empty={
        q
          ? { title: `No member is found by “${q}”.`, about: FOUND_BY, action: null }
          : { title: "Nobody is in this list.", about: "Add people one by one, or import a file." }
      }
      columns={[
        { title: "Name", cell: calledOf },
        { title: "External ID", isMinor: true, cell: ({ external_id }) => <span class="dim">{external_id}</span> },
        { title: "Since", cell: ({ entered_at }) => <Time at={entered_at} /> },
      ]}
      actions={(member) => (
        <Act
          kind="quiet"
          icon="trash"
          label={`Take ${calledOf(member)} out`}
          action={remove}
          given={[id, { subscriber_ids: [member.subscriber_id] }]}
          said={`${calledOf(member)} is taken out.`}
        />
      )}
      add={{
        operation: "lists.createSubscriber",
        label: "Add people",
        isMinor: true,
        by: (close) => <AddMembers id={id} close={close} />,
      }}
    />
  );
}

interface ResolvedIds {
  found: string[];
  unknown: string[];
}

/** The people with these external IDs, one request each: a list is filled by an import where there are many. */
async function resolve(names: readonly string[]): Promise<ResolvedIds> {
  const pages = await Promise.all(names.map((external_id) => call("subscribers.list", [{ external_id }])));
  const found = pages.flatMap(({ items }) => items.slice(0, 1).map((one) => one.id));
  return { found, unknown: names.filter((_, n) => pages[n]?.items.length === 0) };
}

const MAX_TYPED = 50;

function AddMembers({ id, close }: { id: string; close: () => void }) {
  const add = useAction("lists.createSubscriber", { stale: STALE });
  const look = useBusy(() => run());
  const form = useFields({ names: "" }, { ...add, isBusy: look.isBusy, error: look.error ?? add.error });
  const { values, field } = form;
  const names = [...new Set(idsIn(values.names))];
  const tooMany = names.length > MAX_TYPED ? `At most ${MAX_TYPED} at once: import a file for more.` : undefined;
  const refusal = names.length === 0 ? "Name somebody first." : tooMany;
  const run = async () => {
    const { found, unknown } = await resolve(names);
    if (found.length === 0) return say("None of them is known.");
    const done = await add.run(id, { subscriber_ids: found });
    if (!done) return;
    const { added, already_member, pending } = done.answer;
    const rest = unknown.length > 0 ? ` Not known: ${unknown.join(", ")}.` : "";
    const already = already_member ? `, ${already_member} were in it already` : "";
    const asked = pending ? `, ${pending} asked to confirm by mail first` : "";
    say(`${plural(added, "person is", "people are")} added${already}${asked}.${rest}`);
    close();
  };
  return (
    <FormDialog title="Add people" form={form} submit="Add" refusal={refusal} close={close} onSubmit={look.run}>
      <PeopleField label="External IDs" {...field("names", "subscriber_ids")} />
    </FormDialog>
  );
}
