// Rows of conditions over the attributes and events that the workspace knows; JSON for rules that rows cannot show.
import { useId, useState } from "preact/hooks";
import type { SegmentRule } from "../../sdk/src/types.gen.ts";
import { useQuery } from "../app/query.ts";
import { Button } from "./button.tsx";
import { DurationInput } from "./duration.tsx";
import { Choices, Select, TextField } from "./field.tsx";
import { emptyRow, frequencies, isComplete, operators, type Row, type Rows, rowsOf, ruleOf } from "./rule-model.ts";

interface RuleBuilderProps {
  rule: SegmentRule | undefined;
  /** Undefined while the rule is not complete. */
  onInput: (rule: SegmentRule | undefined) => void;
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

export function RuleBuilder({ rule, onInput, fault }: RuleBuilderProps) {
  const [rows, setRows] = useState<Rows | undefined>(() =>
    rule ? rowsOf(rule) : { op: "and", rows: [emptyRow("attribute")] },
  );
  const [text, setText] = useState(() => (rule ? JSON.stringify(rule, null, 2) : ""));
  if (rows)
    return (
      <div class="stack tight">
        <RowsForm
          rows={rows}
          onRows={(next) => {
            setRows(next);
            onInput(isComplete(next) ? ruleOf(next) : undefined);
          }}
        />
        {fault && <p class="fault">{fault}</p>}
        <div class="actions">
          <Button
            kind="quiet"
            onClick={() => {
              setText(JSON.stringify(ruleOf(rows), null, 2));
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
          onInput(parsed(next));
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

function RowsForm({ rows: { op, rows }, onRows }: { rows: Rows; onRows: (rows: Rows) => void }) {
  const id = useId();
  const keys = useQuery("segments.listAttributeKeys", []);
  const names = useQuery("segments.listEventNames", []);
  const replace = (n: number, row: Row) => onRows({ op, rows: rows.map((old, i) => (i === n ? row : old)) });
  const add = (kind: Row["kind"]) => onRows({ op, rows: [...rows, emptyRow(kind)] });
  return (
    <>
      {rows.length > 1 && (
        <Choices
          legend="Match"
          name={`${id}-op`}
          value={op}
          onInput={(value) => onRows({ op: value, rows })}
          options={{ and: "all conditions", or: "any condition" }}
        />
      )}
      <Known id={`${id}-keys`} names={keys.data?.keys} />
      <Known id={`${id}-names`} names={names.data?.names} />
      <ol class="stack tight">
        {rows.map((row, n) => (
          <li class="condition" key={n}>
            {row.kind === "attribute" ? (
              <AttributeFields row={row} n={n} list={`${id}-keys`} onRow={(next) => replace(n, next)} />
            ) : (
              <EventFields row={row} n={n} list={`${id}-names`} onRow={(next) => replace(n, next)} />
            )}
            <Button
              kind="quiet"
              icon="trash"
              label={`Remove condition ${n + 1}`}
              onClick={() => onRows({ op, rows: rows.filter((_, i) => i !== n) })}
            />
          </li>
        ))}
      </ol>
      <div class="actions">
        <Button icon="plus" onClick={() => add("attribute")}>
          Attribute
        </Button>
        <Button icon="plus" onClick={() => add("event")}>
          Event
        </Button>
      </div>
    </>
  );
}

const Known = ({ id, names = [] }: { id: string; names: readonly string[] | undefined }) => (
  <datalist id={id}>
    {names.map((value) => (
      <option key={value} value={value} />
    ))}
  </datalist>
);

interface FieldsProps<K> {
  row: Extract<Row, { kind: K }>;
  n: number;
  /** The id of the known names. */
  list: string;
  onRow: (row: Row) => void;
}

function AttributeFields({ row, n, list, onRow }: FieldsProps<"attribute">) {
  const needsValue = row.operator !== "has" && row.operator !== "lacks";
  return (
    <>
      <input
        aria-label={`Attribute ${n + 1}`}
        list={list}
        placeholder="plan"
        value={row.key}
        onInput={(event) => onRow({ ...row, key: event.currentTarget.value })}
      />
      <Select
        label={`Comparison ${n + 1}`}
        value={row.operator}
        options={operators}
        onInput={(operator) => onRow({ ...row, operator })}
      />
      {needsValue && (
        <input
          aria-label={`Value ${n + 1}`}
          placeholder={row.operator === "$in" || row.operator === "$nin" ? "free, pro" : "pro"}
          title={'5 and true are a number and a boolean; "5" in quotes is text.'}
          value={row.value}
          onInput={(event) => onRow({ ...row, value: event.currentTarget.value })}
        />
      )}
    </>
  );
}

function EventFields({ row, n, list, onRow }: FieldsProps<"event">) {
  return (
    <>
      <Select
        label={`How often ${n + 1}`}
        value={row.frequency}
        options={frequencies}
        onInput={(frequency) => onRow({ ...row, frequency })}
      />
      {row.frequency !== "never" && (
        <>
          <input
            class="short"
            type="number"
            min={1}
            aria-label={`Times ${n + 1}`}
            value={row.times}
            onInput={(event) => onRow({ ...row, times: event.currentTarget.value })}
          />
          <span>times</span>
        </>
      )}
      <input
        aria-label={`Event ${n + 1}`}
        list={list}
        placeholder="order_placed"
        value={row.name}
        onInput={(event) => onRow({ ...row, name: event.currentTarget.value })}
      />
      <span>within</span>
      <DurationInput
        label={`Within ${n + 1}`}
        placeholder="ever"
        value={row.within}
        onInput={(within) => onRow({ ...row, within })}
      />
    </>
  );
}
