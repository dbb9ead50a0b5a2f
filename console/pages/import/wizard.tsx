// A file, a list, a dry run; then the meaning of columns may be changed, and the import begins.
import { useState } from "preact/hooks";
import type { Import } from "../../../sdk/src/types.gen.ts";
import { importFields } from "../../app/access.gen.ts";
import { useAction } from "../../app/action.ts";
import { may } from "../../app/may.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo } from "../../app/router.ts";
import { number, plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { Select, SelectField, TextField } from "../../components/field.tsx";
import { Card } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";
import { Job } from "./job.tsx";
import { meaningText } from "./words.ts";

const MAX_BYTES = 4_000_000;
const NEW_LIST = "new";

/** Why a file is not imported after its dry run; nothing where it may be. */
const refusals: Partial<Record<string, string>> = {
  pending: "The dry run has not ended yet.",
  processing: "The dry run has not ended yet.",
  failed: "Fix the file first.",
  canceled: "The dry run was canceled.",
};

export function Wizard() {
  const upload = useUpload();
  const { dryRun, mapping, setMapping } = upload;
  const suggest = (header: string, meaning: string) => setMapping({ ...mapping, [header]: meaning });
  return (
    <>
      <FileCard upload={upload} />
      {dryRun && (
        <Job
          id={dryRun}
          meaningOf={(column) => <Meaning column={column} mapping={mapping} set={setMapping} />}
          suggest={suggest}
        >
          {(job) => (
            <>
              {(job.consent_summary.yes_without_time > 0 || upload.proof.consent_at) && <Proof upload={upload} />}
              <ImportCard job={job} upload={upload} />
            </>
          )}
        </Job>
      )}
    </>
  );
}

/** The file, the list that it goes into, and the runs that were begun with them. */
function useUpload() {
  const createList = useAction("lists.create");
  const start = useAction("imports.importLists", { stale: ["imports.", "lists.", "subscribers."] });
  const [file, setFile] = useState<File>();
  const [list, setList] = useState("");
  const [name, setName] = useState("");
  const [mapping, setMapping] = useState<Record<string, string>>({});
  const [proof, setProof] = useState({ consent_at: "", consent_source: "" });
  const [startsJourneys, setStartsJourneys] = useState<"true" | "false">("true");
  const [dryRun, setDryRun] = useState("");
  /** What the last run was begun with. */
  const [tried, setTried] = useState("");
  const wanted = JSON.stringify([mapping, proof]);
  const isNew = list === NEW_LIST || !list;
  const run = async (isDry: boolean) => {
    if (!file) return;
    const made = isNew ? await createList.run({ name: name || withoutEnding(file) }) : undefined;
    const id = isNew ? made?.answer.id : list;
    if (!id) return;
    setList(id);
    const form = new FormData();
    form.set("listId", id);
    form.set("source", "csv");
    form.set("dry_run", String(isDry));
    form.set("start_journeys", startsJourneys);
    if (Object.keys(mapping).length > 0) form.set("mapping", JSON.stringify(mapping));
    for (const [field, value] of Object.entries(proof)) if (value.trim()) form.set(field, value);
    form.set("file", new Blob([file], { type: "text/csv" }), file.name);
    const done = await start.run(form);
    if (!done) return;
    if (isDry) {
      setDryRun(done.answer.import_job_id);
      setTried(wanted);
    } else {
      say("The import has begun.");
      go(pathTo("import", done.answer.import_job_id));
    }
  };
  const choose = (chosen: File | undefined) => {
    setFile(chosen);
    setDryRun("");
  };
  const error = createList.error ?? start.error;
  return {
    file,
    choose,
    list,
    setList,
    name,
    setName,
    isNew,
    mapping,
    setMapping,
    proof,
    setProof,
    isTried: tried === wanted,
    dryRun,
    startsJourneys,
    setStartsJourneys,
    run,
    error,
    start,
  };
}

const withoutEnding = ({ name }: File): string => name.replace(/\.csv$/i, "");

type Upload = ReturnType<typeof useUpload>;

function FileCard({ upload }: { upload: Upload }) {
  const { file, choose, isNew, dryRun, run, error, start } = upload;
  const isTooLarge = file !== undefined && file.size > MAX_BYTES;
  return (
    <Card title="1. The file">
      <label
        class="drop"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          choose(event.dataTransfer?.files[0]);
        }}
      >
        <span class="label">
          {file ? `${file.name}, ${number(Math.ceil(file.size / 1_000))} KB` : "Drop a CSV file here, or choose one"}
        </span>
        <input
          type="file"
          accept=".csv,text/csv"
          aria-label="CSV file"
          onInput={(event) => choose(event.currentTarget.files?.[0])}
        />
        <span class="hint">The first line has the column names. external_id or email identifies a person.</span>
      </label>
      <ListFields upload={upload} />
      {error && <Failure error={error} />}
      <div class="actions">
        <Button
          kind={dryRun ? undefined : "primary"}
          needs={isNew && may("imports.importLists").allowed ? "lists.create" : "imports.importLists"}
          isBusy={start.isBusy}
          refusal={!file ? "Choose a file first." : isTooLarge ? TOO_LARGE : undefined}
          onClick={() => void run(true)}
        >
          {dryRun ? "Repeat the dry run" : "Start the dry run"}
        </Button>
        <span class="hint">
          A dry run: {isNew ? "the list is created, no person is written" : "nothing is written"}.
        </span>
      </div>
    </Card>
  );
}

const JOURNEY_OPTIONS = [
  { value: "true" as const, label: "May start" },
  { value: "false" as const, label: "Start none" },
];

const TOO_LARGE = "Files over 4 MB are imported with the SDK (importCsv).";

function ListFields({ upload }: { upload: Upload }) {
  const { file, list, setList, name, setName, isNew, startsJourneys, setStartsJourneys } = upload;
  const lists = useQuery("lists.list", [{ page_size: 100 }]);
  const known = (lists.data?.items ?? []).map(({ id, name: label }) => ({ value: id, label }));
  /** The list that was just made, until the lists are read again. */
  const made =
    isNew || known.some(({ value }) => value === list) ? [] : [{ value: list, label: name || "The new list" }];
  return (
    <div class="row">
      <SelectField
        label="Add to list"
        value={list || NEW_LIST}
        options={[{ value: NEW_LIST, label: "A new list" }, ...made, ...known]}
        onInput={setList}
      />
      {isNew && (
        <TextField
          label="Name of the new list"
          value={name}
          onInput={setName}
          placeholder={file ? withoutEnding(file) : ""}
        />
      )}
      <SelectField
        label="Journeys"
        value={startsJourneys}
        options={JOURNEY_OPTIONS}
        onInput={setStartsJourneys}
        hint="Whether people start journeys by the segments that they enter or leave with this file."
      />
    </div>
  );
}

/** Who says yes without a time has agreed to nothing that could be shown: the file may say when, and so may whoever has it. */
function Proof({ upload: { proof, setProof, start } }: { upload: Upload }) {
  return (
    <Card title="When did they agree?">
      <p class="dim">
        Those who say yes in the file get marketing once it is known since when, and where they said so.
      </p>
      <div class="row">
        <TextField
          label="Day of the consent"
          type="date"
          value={proof.consent_at}
          onInput={(consent_at) => setProof({ ...proof, consent_at })}
          fault={start.error?.fields?.consent_at}
          hint="In the time zone of the workspace."
        />
        <TextField
          label="Where"
          value={proof.consent_source}
          onInput={(consent_source) => setProof({ ...proof, consent_source })}
          fault={start.error?.fields?.consent_source}
          hint="Such as the form on your site."
        />
      </div>
    </Card>
  );
}

function ImportCard({ job, upload: { isTried, run, start } }: { job: Import; upload: Upload }) {
  const rows = plural(job.processed_rows - job.failed_rows, "row");
  const isDone = job.status === "completed";
  return (
    <Card title="2. The import">
      <p>
        {isTried
          ? isDone && `${rows} will be imported.`
          : "The mapping has changed: repeat the dry run to see its effect."}
      </p>
      <div class="actions">
        {!isTried && (
          <Button kind="primary" needs="imports.importLists" isBusy={start.isBusy} onClick={() => void run(true)}>
            Try it again
          </Button>
        )}
        <Button
          kind={isTried ? "primary" : undefined}
          needs="imports.importLists"
          isBusy={start.isBusy}
          refusal={refusals[job.status]}
          onClick={() => void run(false)}
        >
          {isDone ? `Import ${rows}` : "Import the rows"}
        </Button>
      </div>
    </Card>
  );
}

interface MeaningProps {
  column: Import["columns"][number];
  mapping: Record<string, string>;
  set: (mapping: Record<string, string>) => void;
}

function Meaning({ column: { header, meaning }, mapping, set }: MeaningProps) {
  const key = header
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_");
  const topics = useQuery("topics.list", []);
  const known = (topics.data?.items ?? []).map((topic) => `topic:${topic.key}`);
  const options = [...new Set([meaning, ...importFields, ...known, `attribute:${key}`, "ignore"])];
  return (
    <Select
      label={`Meaning of ${header}`}
      value={mapping[header] ?? meaning}
      options={options.map((value) => ({ value, label: meaningText(value) }))}
      onInput={(value) => set({ ...mapping, [header]: value })}
    />
  );
}
