// A file, a list, a dry run; then the meaning of columns may be changed, and the import begins.
import { useEffect, useRef } from "preact/hooks";
import type { Import } from "../../../sdk/src/types.gen.ts";
import { importFields } from "../../app/access.gen.ts";
import { may } from "../../app/may.ts";
import { useQuery } from "../../app/query.ts";
import { regionOptions } from "../../app/regions.ts";
import { bytes, plural } from "../../app/time.ts";
import { Button } from "../../components/button.tsx";
import { Select, SelectField, TextField } from "../../components/field.tsx";
import { Card } from "../../components/page.tsx";
import { ListSelect } from "../../components/pickers.tsx";
import { Failure } from "../../components/states.tsx";
import { Job } from "./job.tsx";
import { MAX_FILE_BYTES, type Upload, useUpload } from "./upload.ts";
import { meaningText } from "./words.ts";

/** Why a file is not imported after its dry run; nothing where it may be. */
const refusals: Partial<Record<string, string>> = {
  pending: "The dry run has not ended yet.",
  processing: "The dry run has not ended yet.",
  failed: "Map its columns and repeat the dry run, or fix the file.",
  canceled: "The dry run was canceled.",
};

export function Wizard() {
  const upload = useUpload();
  const { dryRun, mapping } = upload;
  const setMapping = (mapping: Upload["mapping"]) => upload.set({ mapping });
  const suggest = (header: string, meaning: string) => setMapping({ ...mapping, [header]: meaning });
  const result = useRef<HTMLElement>(null);
  const begun = useRef(dryRun);
  // The button that had the focus is gone.
  useEffect(() => {
    if (begun.current !== dryRun) result.current?.focus({ preventScroll: true });
  }, [dryRun]);
  return (
    <>
      <FileCard upload={upload} />
      {dryRun && (
        <section ref={result} tabIndex={-1} aria-label="Dry run">
          <Job
            id={dryRun}
            meaningOf={(column) => <Meaning column={column} mapping={mapping} set={setMapping} />}
            suggest={suggest}
            taken={Object.values(mapping)}
          >
            {(job) => (
              <>
                {job.columns.length > MAX_ATTRIBUTES && mapping[OTHERS] === undefined && (
                  <Others leaveOut={() => setMapping({ ...mapping, [OTHERS]: "ignore" })} />
                )}
                {(job.phone_summary.unreadable > 0 || upload.reading.phone_region !== "") && (
                  <Numbers upload={upload} />
                )}
                {(job.consent_summary.yes_without_time > 0 || hasProof(upload)) && <Proof upload={upload} />}
                <ImportCard job={job} upload={upload} />
              </>
            )}
          </Job>
        </section>
      )}
    </>
  );
}

function FileCard({ upload }: { upload: Upload }) {
  const { file, choose, isNew, dryRun, run, error, fault, isBusy } = upload;
  const tooLarge = file && file.size > MAX_FILE_BYTES ? TOO_LARGE : undefined;
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
        <span class="label">{file ? `${file.name}, ${bytes(file.size)}` : "Drop a CSV file here, or choose one"}</span>
        <input
          type="file"
          accept=".csv,text/csv"
          aria-label="CSV file"
          // The same file is another one once it was mended.
          onClick={({ currentTarget }) => {
            currentTarget.value = "";
          }}
          onInput={(event) => choose(event.currentTarget.files?.[0])}
        />
        <span class="hint">
          The first line has the column names. People are recognized by your own ID, by email address or, in a file with
          neither, by phone number.
        </span>
      </label>
      <ListFields upload={upload} />
      {error && <Failure error={error} />}
      {fault && <p class="banner bad">{fault}</p>}
      {!dryRun && (
        <div class="actions">
          <Button
            kind="primary"
            needs={isNew && may("imports.importLists").allowed ? "lists.create" : "imports.importLists"}
            isBusy={isBusy}
            refusal={file ? tooLarge : "Choose a file first."}
            onClick={() => void run(true)}
          >
            Start the dry run
          </Button>
          <span class="hint">A dry run {isNew ? "creates the list, but writes no person" : "writes nothing"}.</span>
        </div>
      )}
    </Card>
  );
}

const JOURNEY_OPTIONS = [
  { value: "true" as const, label: "May start" },
  { value: "false" as const, label: "Start none" },
];

const NEW_LIST = { value: "new", label: "A new list" };
const TOO_LARGE = "A file has at most 50 MB: split it.";

function ListFields({ upload }: { upload: Upload }) {
  const { list, name, ownName, isNew, startsJourneys, set } = upload;
  return (
    <div class="row">
      <ListSelect
        label="Add to list"
        none={NEW_LIST}
        value={list || NEW_LIST.value}
        onInput={(list) => set({ list })}
      />
      {isNew && (
        <TextField label="Name of the new list" value={name} onInput={(name) => set({ name })} placeholder={ownName} />
      )}
      <SelectField
        label="Journeys"
        value={startsJourneys}
        options={JOURNEY_OPTIONS}
        onInput={(startsJourneys) => set({ startsJourneys })}
        hint="Of segments that people enter or leave by this import."
      />
    </div>
  );
}

/** So many further columns become attributes (AMB-88). */
const MAX_ATTRIBUTES = 100;
/** In a mapping, in place of each column that it does not name. */
const OTHERS = "*";

/** Hundreds of columns are left out by one click, those apart that were given a meaning. */
const Others = ({ leaveOut }: { leaveOut: () => void }) => (
  <Card title="Which columns matter?">
    <p>{`At most ${MAX_ATTRIBUTES} further columns are kept. Say above what the ones you want mean. What the others say of consent still counts.`}</p>
    <div class="actions">
      <Button needs="imports.importLists" onClick={leaveOut}>
        Leave out the other columns
      </Button>
    </div>
  </Card>
);

/** A number as it is dialed at home says not of which country it is. */
const Numbers = ({ upload: { reading, set } }: { upload: Upload }) => (
  <Card title="Where are the phone numbers from?">
    <SelectField
      label="Numbers without a country code"
      value={reading.phone_region}
      options={regionOptions(reading.phone_region, "As the row or the settings say")}
      onInput={(phone_region) => set({ reading: { ...reading, phone_region } })}
      hint="Nothing is sent to a number that cannot be read."
    />
  </Card>
);

const hasProof = ({ reading: { consent_at, date_format } }: Upload): boolean => consent_at !== "" || date_format !== "";

const DATE_FORMATS = [
  { value: "", label: "Read only dates that are clear" },
  { value: "dd/mm/yyyy", label: "Day first: 3 April 2026" },
  { value: "mm/dd/yyyy", label: "Month first: 4 March 2026" },
];

/** A consent without a time proves nothing: the file may say when it was given, or the person who imports it. */
function Proof({ upload: { reading, set, start } }: { upload: Upload }) {
  const setReading = (reading: Upload["reading"]) => set({ reading });
  return (
    <Card title="When did they agree?">
      <p class="dim">
        A yes counts only with a time. Map the column that has it to “Consent at”, or say below when they agreed.
        Without it consent is unknown, and where marketing needs a yes they get none.
      </p>
      <div class="row">
        <SelectField
          label="Dates such as 03/04/2026"
          value={reading.date_format}
          options={DATE_FORMATS}
          onInput={(date_format) => setReading({ ...reading, date_format })}
          hint="In columns with the time of consent."
        />
        <TextField
          label="Date of consent"
          type="date"
          value={reading.consent_at}
          onInput={(consent_at) => setReading({ ...reading, consent_at })}
          fault={start.error?.fields?.consent_at}
          hint="For people without a time in the file."
        />
        <TextField
          label="Where"
          value={reading.consent_source}
          onInput={(consent_source) => setReading({ ...reading, consent_source })}
          fault={start.error?.fields?.consent_source}
          hint="For example: the form on your site."
        />
      </div>
    </Card>
  );
}

function ImportCard({ job, upload: { isTried, run, isBusy } }: { job: Import; upload: Upload }) {
  const rows = plural(job.processed_rows - job.failed_rows, "row");
  const isDone = job.status === "completed";
  const canRepeat = !isTried || job.status === "failed" || job.status === "canceled";
  return (
    <Card title="2. The import">
      <p>
        {isTried
          ? isDone && `${rows} will be imported.`
          : "You have changed how the file is read: repeat the dry run to see the effect."}
      </p>
      <div class="actions">
        {canRepeat && (
          <Button kind="primary" needs="imports.importLists" isBusy={isBusy} onClick={() => void run(true)}>
            Repeat the dry run
          </Button>
        )}
        <Button
          kind={canRepeat ? undefined : "primary"}
          needs="imports.importLists"
          isBusy={isBusy}
          refusal={refusals[job.status]}
          onClick={() => void run(false)}
        >
          {isDone && isTried ? `Import ${rows}` : "Import the rows"}
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
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter(Boolean)
    .join("_");
  const topics = useQuery("topics.list", []);
  const known = (topics.data?.items ?? []).map((topic) => `topic:${topic.key}`);
  const options = [...new Set([meaning, ...importFields, ...known, ...(key && [`attribute:${key}`]), "ignore"])];
  return (
    <Select
      label={`Meaning of ${header}`}
      value={mapping[header] ?? meaning}
      options={options.map((value) => ({ value, label: meaningText(value) }))}
      onInput={(value) => set({ ...mapping, [header]: value })}
    />
  );
}
