// A list of one kind of thing: its rows with their columns, what is said where there are none, and what may be done with them.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Operation, OperationById } from "../app/api.ts";
import { place } from "../app/router.ts";
import type { Rows } from "../app/rows.ts";
import { Button, LinkButton } from "./button.tsx";
import { Ask } from "./dialog.tsx";
import type { IconName } from "./icon.tsx";
import { Card, Page } from "./page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "./states.tsx";
import { type Column, More, Pager, Table } from "./table.tsx";

type Close = () => void;
type Dialog<T> = (row: T, close: Close) => ComponentChildren;

interface CollectionProps<T> {
  /** What one row is called, and many where an `s` is not enough. */
  noun: string;
  /** The head: of a page, or of a card. Without it the list stands under the tabs of a page. */
  page?: { title: string; about?: ComponentChildren; back?: { href: string; label: string } };
  card?: string;
  /** For readers of screens. */
  caption?: string;
  rows: Rows<T>;
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  /** The first column links there. */
  hrefOf?: (row: T) => string;
  selected?: string | undefined;
  /** The name of a CSV file of the rows that were read. */
  csv?: string;
  /** What the buttons and questions of a row call it. */
  nameOf?: (row: T) => string;
  /** Where there are no rows; the second sentence says what they are for. Without an action the button is there. */
  empty?: { title?: string | undefined; about?: ComponentChildren; action?: ComponentChildren };
  /** Above the rows, or in the head of a card. */
  filters?: ComponentChildren;
  add?: Addition;
  edit?: { operation: Operation; isOff?: (row: T) => boolean; dialog: Dialog<T> };
  remove?: Removal<T>;
  /** What else may be done with a row. */
  actions?: (row: T) => ComponentChildren;
  /** Beside the rows: the chosen one. */
  beside?: ComponentChildren;
  /** Rows that a list usually has. */
  usual?: number;
  children?: ComponentChildren;
}

interface Addition {
  operation: Operation;
  label: string;
  icon?: IconName;
  /** Beside what the page is there for. */
  isMinor?: boolean;
  /** A form in a dialog, a page of its own, or what is done at once. */
  by: ((close: Close) => ComponentChildren) | string | { press: () => void; isBusy: boolean };
}

/** Asked first: a question that follows from these words, or one of its own. */
type Removal<T> = RemovalWords<T> & (Asked<T> | { kind: "dialog"; operation: Operation; dialog: Dialog<T> });

interface RemovalWords<T> {
  /** `Delete`, unless it is called differently. */
  verb?: string;
  /** Why it cannot be done to a row. */
  refusal?: (row: T) => string | undefined;
  /** Rows to which it is never done. */
  isOff?: (row: T) => boolean;
}

interface Asked<T> {
  kind?: "question";
  operation: OperationById;
  stale?: readonly string[];
  /** What follows from it. */
  about: ComponentChildren | ((row: T) => ComponentChildren);
  /** Where the name of the row is too long for it. */
  title?: string;
  act?: string;
  said?: (row: T) => string;
  /** What must be typed: the name, unless it is another text or nothing. */
  typed?: (row: T) => string | undefined;
}

type Open<T> = { kind: "add" } | { kind: "edit" | "remove"; row: T };

export function Collection<T>(props: CollectionProps<T>) {
  const { page, card, filters, add, edit, remove, rows, empty, children } = props;
  const [open, setOpen] = useState<Open<T>>();
  const close = () => setOpen(undefined);
  const button = add && <AddButton {...add} open={() => setOpen({ kind: "add" })} />;
  // Under tabs the button stands at the end of the filters, where a page has it at the end of its head.
  const isBare = !page && !card;
  // Where there are no rows, what is said of that has the button.
  const isSaid = rows.first.data !== undefined && rows.items.length === 0 && empty?.action === undefined;
  const body = (
    <>
      {filters && !card && (
        <div class={isBare ? "filters ends" : "filters"}>
          {filters}
          {isBare && !isSaid && button}
        </div>
      )}
      {filters && (
        <span class="unseen" role="status">
          {place.value.query.size > 0 &&
            rows.first.data !== undefined &&
            `${rows.items.length}${rows.more?.cursor ? " or more" : ""} found`}
        </span>
      )}
      <Loaded query={rows.first} skeleton={<Skeleton table rows={props.usual ?? 5} />}>
        {() => <RowsShown {...props} button={button} head={isBare && !filters && button} act={setOpen} />}
      </Loaded>
      {children}
      {open?.kind === "add" && typeof add?.by === "function" && add.by(close)}
      {open?.kind === "edit" && edit?.dialog(open.row, close)}
      {open?.kind === "remove" && remove && <Remove {...props} remove={remove} row={open.row} close={close} />}
    </>
  );
  if (page)
    return (
      <Page {...page} actions={!isSaid && button}>
        {body}
      </Page>
    );
  if (card)
    return (
      <Card title={card} flush actions={(filters || button) && [filters, button]}>
        {body}
      </Card>
    );
  return body;
}

function AddButton({ operation, label, icon = "plus", isMinor, by, open }: Addition & { open: () => void }) {
  const look = { kind: isMinor ? undefined : ("primary" as const), icon, needs: operation };
  if (typeof by === "string")
    return (
      <LinkButton {...look} href={by}>
        {label}
      </LinkButton>
    );
  const { press, isBusy } = typeof by === "function" ? { press: open, isBusy: false } : by;
  return (
    <Button {...look} isBusy={isBusy} onClick={press}>
      {label}
    </Button>
  );
}

interface RowsProps<T> extends CollectionProps<T> {
  button: ComponentChildren;
  /** Above the rows. */
  head: ComponentChildren;
  act: (open: Open<T>) => void;
}

function RowsShown<T>({ button, head, act, ...props }: RowsProps<T>) {
  const { noun, page, card, rows, columns, keyOf, hrefOf, selected, empty, edit, remove, actions, beside } = props;
  const isMore = Boolean(rows.more?.cursor);
  const more = rows.more && (
    <>
      {rows.more.error && <Failure error={rows.more.error} />}
      <More {...rows.more} />
    </>
  );
  if (rows.items.length === 0)
    return (
      <>
        <Empty
          title={isMore ? "None so far; there is more to read." : (empty?.title ?? `There are no ${noun}s yet.`)}
          action={empty?.action === undefined ? !card && button : empty.action}
        >
          {!isMore && empty?.about}
        </Empty>
        {more}
        {beside}
      </>
    );
  const own: Column<T> = { title: "", cell: (row) => <RowActions {...props} row={row} act={act} /> };
  const table = (
    <Table
      caption={props.caption ?? page?.title ?? card ?? ""}
      rows={rows.items}
      keyOf={keyOf}
      {...(hrefOf && { hrefOf })}
      selected={selected}
      csv={props.csv}
      columns={edit || remove || actions ? [...columns, own] : columns}
    />
  );
  return (
    <>
      {head && <div class="filters ends">{head}</div>}
      {beside ? (
        <div class="grid wide">
          {table}
          {beside}
        </div>
      ) : (
        table
      )}
      {more}
      {rows.total !== undefined && <Pager total={rows.total} what={noun} />}
    </>
  );
}

interface RowProps<T> extends CollectionProps<T> {
  row: T;
}

function RowActions<T>(props: RowProps<T> & { act: (open: Open<T>) => void }) {
  const { row, nameOf, edit, remove, actions, act } = props;
  const name = nameOf?.(row);
  return (
    <div class="actions end">
      {actions?.(row)}
      {edit && !edit.isOff?.(row) && (
        <Button
          kind="quiet"
          icon="pencil"
          label={`Edit ${name}`}
          needs={edit.operation}
          onClick={() => act({ kind: "edit", row })}
        />
      )}
      {remove && !remove.isOff?.(row) && (
        <Button
          kind="quiet"
          icon="trash"
          label={`${remove.verb ?? "Delete"} ${name}`}
          needs={remove.operation}
          refusal={remove.refusal?.(row)}
          onClick={() => act({ kind: "remove", row })}
        />
      )}
    </div>
  );
}

interface RemoveProps<T> extends RowProps<T> {
  remove: Removal<T>;
  close: Close;
}

function Remove<T>({ noun, nameOf, remove, row, keyOf, close }: RemoveProps<T>) {
  if (remove.kind === "dialog") return <>{remove.dialog(row, close)}</>;
  const { operation, stale, about, verb = "Delete", title, act, said, typed } = remove;
  const name = nameOf?.(row);
  return (
    <Ask
      operation={operation}
      given={[keyOf(row)]}
      stale={stale}
      title={title ?? `${verb} ${name ?? `this ${noun}`}?`}
      name={typed ? typed(row) : name}
      act={act ?? `${verb} the ${noun}`}
      said={said?.(row) ?? `${name} is deleted.`}
      close={close}
    >
      {typeof about === "function" ? about(row) : about}
    </Ask>
  );
}
