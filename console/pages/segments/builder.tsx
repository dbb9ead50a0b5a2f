// The rule of a segment as rows, with the count of those who match while it is written.
import { useEffect, useState } from "preact/hooks";
import type { SegmentRule } from "../../../sdk/src/types.gen.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { number, plural } from "../../app/time.ts";
import { Button } from "../../components/button.tsx";
import { Choices, TextField } from "../../components/field.tsx";
import { Card } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";
import { emptyRow, frequencies, isComplete, operators, type Row, type Rows, rowsOf, ruleOf } from "./rule.ts";

const WAIT_MS = 400;

interface BuilderProps {
  rule: SegmentRule | undefined;
  /** Undefined while the rule cannot be saved. */
  onRule: (rule: SegmentRule | undefined) => void;
  /** What the API says about the rule, by path. */
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

const NONE: Rows = { op: "and", rows: [emptyRow("attribute")] };

export function Builder({ rule, onRule, fault }: BuilderProps) {
  const [rows, setRows] = useState<Rows | undefined>(rule ? rowsOf(rule) : NONE);
  const [text, setText] = useState(rule ? JSON.stringify(rule, null, 2) : "");
  const current = rows ? (isComplete(rows) ? ruleOf(rows) : undefined) : parsed(text);
  const key = JSON.stringify(current);
  useEffect(() => onRule(current), [key]);
  return (
    <>
      <Card
        title="Who belongs to it"
        actions={
          rows ? (
            <Button
              kind="quiet"
              onClick={() => {
                setText(JSON.stringify(ruleOf(rows), null, 2));
                setRows(undefined);
              }}
            >
              As JSON
            </Button>
          ) : (
            <Button
              kind="quiet"
              refusal={current && rowsOf(current) ? undefined : "Rows cannot show this rule."}
              onClick={() => setRows(current && rowsOf(current))}
            >
              As rows
            </Button>
          )
        }
      >
        {rows ? (
          <RowsForm rows={rows} onRows={setRows} />
        ) : (
          <TextField label="Rule" code rows={14} value={text} onInput={setText} fault={fault} />
        )}
        {rows && fault && <p class="fault">{fault}</p>}
      </Card>
      <Count rule={current} />
    </>
  );
}

function RowsForm({ rows: { op, rows }, onRows }: { rows: Rows; onRows: (rows: Rows) => void }) {
  const keys = useQuery("segments.listAttributeKeys", []);
  const names = useQuery("segments.listEventNames", []);
  const replace = (n: number, row: Row) => onRows({ op, rows: rows.map((old, i) => (i === n ? row : old)) });
  const add = (kind: Row["kind"]) => onRows({ op, rows: [...rows, emptyRow(kind)] });
  return (
    <>
      {rows.length > 1 && (
        <Choices
          legend="Those for whom"
          name="op"
          value={op}
          onInput={(value) => onRows({ op: value as Rows["op"], rows })}
          options={[
            { value: "and", label: "all of these hold" },
            { value: "or", label: "any of these holds" },
          ]}
        />
      )}
      <datalist id="attribute-keys">
        {keys.data?.keys.map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
      <datalist id="event-names">
        {names.data?.names.map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
      <ol class="stack tight">
        {rows.map((row, n) => (
          <li class="condition" key={n}>
            {row.kind === "attribute" ? (
              <AttributeFields row={row} n={n} onRow={(next) => replace(n, next)} />
            ) : (
              <EventFields row={row} n={n} onRow={(next) => replace(n, next)} />
            )}
            <Button
              kind="quiet"
              icon="cross"
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

interface FieldsProps<K> {
  row: Extract<Row, { kind: K }>;
  n: number;
  onRow: (row: Row) => void;
}

function AttributeFields({ row, n, onRow }: FieldsProps<"attribute">) {
  const needsValue = row.operator !== "has" && row.operator !== "lacks";
  return (
    <>
      <input
        aria-label={`Attribute ${n + 1}`}
        list="attribute-keys"
        placeholder="plan"
        value={row.key}
        onInput={(event) => onRow({ ...row, key: event.currentTarget.value })}
      />
      <select
        aria-label={`Comparison ${n + 1}`}
        value={row.operator}
        onInput={(event) => onRow({ ...row, operator: event.currentTarget.value as typeof row.operator })}
      >
        {operators.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
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

function EventFields({ row, n, onRow }: FieldsProps<"event">) {
  return (
    <>
      <select
        aria-label={`How often ${n + 1}`}
        value={row.frequency}
        onInput={(event) => onRow({ ...row, frequency: event.currentTarget.value as typeof row.frequency })}
      >
        {frequencies.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
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
        list="event-names"
        placeholder="order_placed"
        value={row.name}
        onInput={(event) => onRow({ ...row, name: event.currentTarget.value })}
      />
      <span>within</span>
      <input
        class="short"
        aria-label={`Within ${n + 1}`}
        placeholder="ever"
        title="30m, 24h or 7d; empty: at any time"
        value={row.within}
        onInput={(event) => onRow({ ...row, within: event.currentTarget.value })}
      />
    </>
  );
}

function Count({ rule }: { rule: SegmentRule | undefined }) {
  const [asked, setAsked] = useState<SegmentRule>();
  const key = JSON.stringify(rule);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(rule), WAIT_MS);
    return () => clearTimeout(timer);
  }, [key]);
  const preview = useQuery("segments.preview", [asked ?? { attribute: {} }], { when: asked !== undefined });
  const { data, error } = preview;
  return (
    <Card title="How many">
      {error && <Failure error={error} retry={preview.refresh} />}
      <p class="verdict" aria-live="polite">
        {!rule && "Finish the conditions to see how many match."}
        {rule && !data && !error && "Counting…"}
        {rule && data && (
          <b>
            {data.exact ? "" : "About "}
            {number(data.estimated_count)} {plural(data.estimated_count, "person", "people").replace(/^\S+ /, "")}
          </b>
        )}
      </p>
      {data && data.sample_subscriber_ids.length > 0 && (
        <p class="dim">
          Among them{" "}
          {data.sample_subscriber_ids.slice(0, 3).map((id, n) => (
            <>
              {n > 0 && ", "}
              <a key={id} href={pathTo("people", id)}>
                {id.slice(0, 8)}
              </a>
            </>
          ))}
        </p>
      )}
    </Card>
  );
}
