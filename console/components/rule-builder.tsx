// Rows of conditions over the attributes and events that the workspace knows; JSON for rules that rows cannot show.
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { SegmentRule } from "../../sdk/src/types.gen.ts";
import { Button } from "./button.tsx";
import { Choices, Known, TextField } from "./field.tsx";
import { useAttributeKeys, useEventNames } from "./known.tsx";
import { AttributeFields, EventFields } from "./rule-fields.tsx";
import { emptyRow, isComplete, type Row, type Rows, rowsOf, ruleOf } from "./rule-model.ts";

/** A rule as far as it is written: one that is not finished cannot be saved, and is kept. */
export interface RuleDraft {
  rule: SegmentRule | undefined;
  isWhole: boolean;
  /** What is no rule, as it was typed. */
  text?: string | undefined;
}

export const wholeOf = ({ rule, isWhole }: RuleDraft): SegmentRule | undefined => (isWhole ? rule : undefined);

interface RuleBuilderProps {
  written: RuleDraft;
  onInput: (written: RuleDraft) => void;
  /** What the API says about the rule. */
  fault?: string | undefined;
}

function parsed(text: string): SegmentRule | undefined {
  try {
    return JSON.parse(text) as SegmentRule;
  } catch {
    // Not JSON yet: it is being typed.
    return undefined;
  }
}

function startOf({ rule, text }: RuleDraft): Rows | undefined {
  if (text !== undefined) return undefined;
  return rule ? rowsOf(rule) : { op: "and", rows: [emptyRow("attribute")] };
}

const textOf = ({ rule, text = "" }: RuleDraft): string => (rule ? JSON.stringify(rule, null, 2) : text);

export function RuleBuilder({ written, onInput, fault }: RuleBuilderProps) {
  const [rows, setRows] = useState(() => startOf(written));
  const [text, setText] = useState(() => textOf(written));
  const { rule } = written;
  const seen = useRef(rule);
  const isTyped = useRef(false);
  useLayoutEffect(() => {
    // What was undone, discarded, or saved by somebody else.
    if (rule !== seen.current && !isTyped.current) {
      setRows(startOf(written));
      setText(textOf(written));
    }
    seen.current = rule;
    isTyped.current = false;
  });
  const say = (next: RuleDraft) => {
    isTyped.current = true;
    onInput({ text: undefined, ...next });
  };
  if (rows)
    return (
      <div class="stack tight">
        <RowsForm
          rows={rows}
          onRows={(next) => {
            setRows(next);
            say({ rule: next.rows.length > 0 ? ruleOf(next) : undefined, isWhole: isComplete(next) });
          }}
        />
        {fault && <p class="fault">{fault}</p>}
        <div class="actions">
          <Button
            kind="quiet"
            onClick={() => {
              setText(textOf({ rule: ruleOf(rows), isWhole: true }));
              setRows(undefined);
            }}
          >
            Show as JSON
          </Button>
        </div>
      </div>
    );
  const current = parsed(text);
  const shown = current && rowsOf(current);
  return (
    <div class="stack tight">
      <TextField
        label="Rule as JSON"
        code
        rows={14}
        value={text}
        fault={fault}
        onInput={(next) => {
          setText(next);
          const read = parsed(next);
          say(read ? { rule: read, isWhole: true } : { rule: undefined, isWhole: false, text: next });
        }}
      />
      <div class="actions">
        <Button kind="quiet" refusal={shown ? undefined : "Rows cannot show this rule."} onClick={() => setRows(shown)}>
          Show as rows
        </Button>
      </div>
    </div>
  );
}

function RowsForm({ rows, onRows }: { rows: Rows; onRows: (rows: Rows) => void }) {
  const id = useId();
  return (
    <>
      <Known id={`${id}-keys`} values={useAttributeKeys()} />
      <Known id={`${id}-names`} values={useEventNames()} />
      <RowList rows={rows} onRows={onRows} lists={{ keys: `${id}-keys`, names: `${id}-names` }} at="" />
    </>
  );
}

interface RowListProps {
  rows: Rows;
  onRows: (rows: Rows) => void;
  /** The ids of the known attributes and events. */
  lists: { keys: string; names: string };
  /** The number of the group with a dot, such as `2.`; empty for the whole. */
  at: string;
}

/** Groups in groups are read from the outside in; the API takes more levels than anybody reads. */
const MAX_LEVELS = 3;

function RowList({ rows: { op, rows }, onRows, lists, at }: RowListProps) {
  const id = useId();
  const replace = (n: number, row: Row) => onRows({ op, rows: rows.map((old, i) => (i === n ? row : old)) });
  const add = (kind: Row["kind"]) => onRows({ op, rows: [...rows, emptyRow(kind)] });
  const isDeep = at.split(".").length >= MAX_LEVELS;
  return (
    <>
      {rows.length > 1 && (
        <Choices
          legend={at === "" ? "Match" : `Match in group ${at.slice(0, -1)}`}
          name={`${id}-op`}
          value={op}
          onInput={(value) => onRows({ op: value, rows })}
          options={{ and: "all conditions", or: "any condition" }}
        />
      )}
      <ol class="stack tight">
        {rows.map((row, n) => {
          const name = `${at}${n + 1}`;
          return (
            <li class={row.kind === "group" ? "condition-group" : "condition"} key={n}>
              <RowFields row={row} name={name} lists={lists} onRow={(next) => replace(n, next)} />
              <Button
                kind="quiet"
                icon="trash"
                label={`Remove ${row.kind === "group" ? "group" : "condition"} ${name}`}
                onClick={() => onRows({ op, rows: rows.filter((_, i) => i !== n) })}
              />
            </li>
          );
        })}
      </ol>
      <div class="actions">
        <Button icon="plus" adds onClick={() => add("attribute")}>
          Attribute
        </Button>
        <Button icon="plus" adds onClick={() => add("event")}>
          Event
        </Button>
        {!isDeep && (
          <Button icon="plus" adds onClick={() => add("group")}>
            Group
          </Button>
        )}
      </div>
    </>
  );
}

interface RowFieldsProps {
  row: Row;
  /** Its number, with those of its groups. */
  name: string;
  lists: RowListProps["lists"];
  onRow: (row: Row) => void;
}

function RowFields({ row, name, lists, onRow }: RowFieldsProps) {
  switch (row.kind) {
    case "attribute":
      return <AttributeFields row={row} name={name} list={lists.keys} onRow={onRow} />;
    case "event":
      return <EventFields row={row} name={name} list={lists.names} onRow={onRow} />;
    case "group":
      return (
        <div class="stack tight">
          <RowList rows={row} onRows={(next) => onRow({ kind: "group", ...next })} lists={lists} at={`${name}.`} />
        </div>
      );
  }
}
