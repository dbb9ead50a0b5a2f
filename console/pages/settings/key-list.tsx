// Keys of one kind, with what each may do: made and revoked, never changed.
import type { OperationById } from "../../app/api.ts";
import type { Rows } from "../../app/rows.ts";
import { Badge } from "../../components/badge.tsx";
import { Collection } from "../../components/collection.tsx";
import { Time } from "../../components/page.tsx";
import { SchemaDialog } from "../../components/schema-dialog.tsx";
import type { Column } from "../../components/table.tsx";

interface Key {
  id: string;
  name: string;
  prefix: string;
  scopes: readonly string[];
  last_used_at: string | null;
  revoked_at: string | null;
}

type KeyDialogProps = Omit<Parameters<typeof SchemaDialog>[0], "title" | "close" | "submit" | "run">;

interface KeyListProps<T> {
  /** Such as `agent key`. */
  noun: string;
  title: string;
  about?: string;
  /** What each scope lets its bearer do. */
  scopes: Readonly<Record<string, string>>;
  rows: Rows<T>;
  /** Before when it was last used. */
  columns?: readonly Column<T>[];
  form: KeyDialogProps;
  /** @returns the key, undefined if it was refused */
  make: (values: never) => Promise<string | undefined>;
  /** Who keeps the new key, and how. */
  belongs: string;
  revoke: OperationById;
  /** What follows from it. */
  revoked: string;
}

export function KeyList<T extends Key>(props: KeyListProps<T>) {
  const { noun, title, about, scopes: words, rows, columns = [], form, make, belongs, revoke, revoked } = props;
  const run = async (values: never) => {
    const text = await make(values);
    return text === undefined
      ? undefined
      : ({ kind: "secret", title: `The new ${noun}`, about: belongs, text } as const);
  };
  return (
    <Collection
      noun={noun}
      card={title}
      rows={rows}
      usual={2}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      {...(about && { empty: { about, action: null } })}
      columns={[
        { title: "Name", cell: ({ name }) => name },
        { title: "Prefix", isMinor: true, cell: ({ prefix }) => <code class="one-line">{prefix}</code> },
        {
          title: "What it may do",
          isMinor: true,
          cell: ({ scopes }) => scopes.map((scope) => words[scope] ?? scope).join("; "),
        },
        ...columns,
        { title: "Last used", isMinor: true, cell: ({ last_used_at }) => <Time at={last_used_at} /> },
      ]}
      actions={({ revoked_at }) => revoked_at && <Badge state="canceled" word="revoked" />}
      add={{
        operation: form.action.operation,
        label: `New ${noun}`,
        isMinor: true,
        by: (close) => <SchemaDialog {...form} title={`New ${noun}`} close={close} submit="Create the key" run={run} />,
      }}
      remove={{
        operation: revoke,
        verb: "Revoke",
        isOff: ({ revoked_at }) => Boolean(revoked_at),
        about: revoked,
        act: "Revoke the key",
        said: ({ name }) => `${name} is revoked.`,
      }}
    />
  );
}
