// Suppressions: addresses that get no message from anybody's profile, and why.
import type { Suppression } from "../../../sdk/src/types.gen.ts";
import { suppressionReasons } from "../../../shared/rules/addresses.ts";
import { useAction } from "../../app/action.ts";
import { useFields } from "../../app/fields.ts";
import { usePages } from "../../app/rows.ts";
import { SUPPRESSED } from "../../app/sentences.ts";
import { plural } from "../../app/time.ts";
import { Collection } from "../../components/collection.tsx";
import { ActionDialog, DialogButton } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { chosenOf, Filter, Search, searched } from "../../components/filters.tsx";
import { Address, Dash, Time } from "../../components/page.tsx";

/** What the API calls otherwise; a provider is called what it is. */
const SOURCES: Readonly<Record<string, string>> = { operator: "console or API" };

const addressOf = ({ address }: Suppression) => address ?? "an erased person's";

export function View() {
  const address = searched();
  const reason = chosenOf("reason", suppressionReasons);
  const asked = { limit: 100, ...(address && { address }), ...(reason && { reason }) };
  const rows = usePages("suppressions.list", [asked], ({ items }) => items);
  return (
    <Collection
      noun="suppression"
      page={{
        title: "Suppressions",
        about: "No message goes to these addresses, transactional ones included, whoever has them.",
      }}
      rows={rows}
      keyOf={({ id }) => id}
      nameOf={addressOf}
      filters={
        <>
          <Search label="Find by address" placeholder="Email or phone number" />
          <Filter name="reason" label="Reason" options={{ "": "Any reason", ...SUPPRESSED }} />
          <DialogButton
            label="Import"
            icon="import"
            needs="suppressions.import"
            dialog={(close) => <ImportFile close={close} />}
          />
        </>
      }
      empty={{
        title: address ? `${address} is not suppressed.` : reason && "No address is suppressed for this reason.",
        about: "An address is added when email to it bounces for good, or when its owner complains.",
      }}
      columns={[
        {
          title: "Address",
          cell: (row) =>
            row.address ? (
              <b>
                <Address of={row.address} />
              </b>
            ) : (
              <span class="dim">Erased</span>
            ),
        },
        { title: "Reason", isWord: true, cell: ({ reason }) => SUPPRESSED[reason] },
        {
          title: "Source",
          isMinor: true,
          cell: ({ source }) => (source && SOURCES[source]) ?? source ?? <Dash />,
        },
        { title: "Note", isMinor: true, cell: ({ note }) => note ?? <Dash /> },
        { title: "Since", cell: ({ suppressed_at }) => <Time at={suppressed_at} /> },
      ]}
      add={{
        operation: "suppressions.create",
        label: "Suppress an address",
        by: (close) => <Suppress close={close} />,
      }}
      remove={{
        kind: "dialog",
        operation: "suppressions.delete",
        verb: "Lift",
        dialog: (row, close) => <Lift row={row} close={close} />,
      }}
    />
  );
}

function Suppress({ close }: { close: () => void }) {
  const create = useAction("suppressions.create");
  const form = useFields({ address: "", note: "" }, create);
  const { values, field } = form;
  const { address, note } = values;
  return (
    <ActionDialog
      title="Suppress an address"
      form={form}
      submit="Suppress"
      close={close}
      run={() => create.run({ address, ...(note && { note }) })}
      said={() => `${address} is suppressed.`}
    >
      <TextField label="Email or phone number" required {...field("address")} />
      <TextField label="Note (optional)" {...field("note")} hint="Why, for your colleagues." />
    </ActionDialog>
  );
}

/** The text of a file, as providers of mail export it. */
function ImportFile({ close }: { close: () => void }) {
  const load = useAction("suppressions.import");
  const form = useFields({ csv: "" }, load);
  const { values, field } = form;
  return (
    <ActionDialog
      title="Import suppressions"
      form={form}
      submit="Import"
      close={close}
      run={() => load.run(values)}
      said={({ suppressed, rejected }) => {
        const why = "they have no address that can be read, or say that it is not suppressed";
        const left = rejected > 0 ? ` ${plural(rejected, "row")} left out: ${why}.` : "";
        return `${plural(suppressed, "address", "addresses")} more are suppressed.${left}`;
      }}
    >
      <TextField label="CSV" required rows={8} code {...field("csv")} hint="With a header, such as email,reason." />
    </ActionDialog>
  );
}

function Lift({ row, close }: { row: Suppression; close: () => void }) {
  const lift = useAction("suppressions.delete");
  const form = useFields({ reason: "" }, lift);
  const { values, field } = form;
  return (
    <ActionDialog
      title={`Lift the suppression of ${addressOf(row)}`}
      form={form}
      submit="Lift"
      close={close}
      run={() => lift.run(row.id, values)}
      said={() => "The suppression is lifted."}
    >
      <TextField label="Why" required {...field("reason")} hint="It stays with the address." />
    </ActionDialog>
  );
}
