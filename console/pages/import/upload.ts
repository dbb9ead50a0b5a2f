// The file of an import, the list that it goes into, and the runs that were begun with them.
import { useState } from "preact/hooks";
import { formOf } from "../../../sdk/src/import.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { onward, pathTo, place } from "../../app/router.ts";
import { me } from "../../app/session.ts";
import { say } from "../../app/toast.ts";

/** A larger file is sent to the bucket of imports first, which takes one of this size (LIM-6). */
const MAX_DIRECT_BYTES = 4_000_000;
export const MAX_FILE_BYTES = 52_428_800;

const NOT_UPLOADED = "The file did not reach the service. Check your connection, and try again.";

const withoutEnding = ({ name }: File): string => name.replace(/\.csv$/i, "");

/** The name of the file, with a number where a list has it already. */
function nameFor(file: File | undefined, taken: readonly string[]): string {
  if (!file) return "";
  const name = withoutEnding(file);
  for (let n = 1; ; n++) {
    const own = n === 1 ? name : `${name} ${n}`;
    if (!taken.includes(own)) return own;
  }
}

/** What a file does not say of itself. */
const UNSAID = { phone_region: "", date_format: "", consent_at: "", consent_source: "" };

/** How a file gets to the service: within the call, or before it. */
function useTransport() {
  const begin = useAction("imports.createListsImportUpload", { stale: [] });
  const [fault, setFault] = useState("");
  const [isSending, setSending] = useState(false);
  /** The form of the import; undefined where the file did not arrive. */
  const carry = async (fields: Record<string, string>, file: File): Promise<FormData | undefined> => {
    setFault("");
    if (file.size <= MAX_DIRECT_BYTES) return formOf(fields, file, file.name);
    const begun = await begin.run();
    if (!begun) return undefined;
    setSending(true);
    const sent = await fetch(begun.answer.url, {
      method: "POST",
      body: formOf(begun.answer.fields, file, file.name),
    }).then(
      ({ ok }) => ok,
      () => false,
    );
    setSending(false);
    if (!sent) {
      setFault(NOT_UPLOADED);
      return undefined;
    }
    return formOf({ ...fields, upload_id: begun.answer.upload_id });
  };
  return { carry, fault, isSending: isSending || begin.isBusy, error: begin.error };
}

/** An import that is prepared. */
interface PreparedImport {
  file: File | undefined;
  list: string;
  name: string;
  mapping: Record<string, string>;
  reading: typeof UNSAID;
  startsJourneys: "true" | "false";
  dryRun: string;
  /** What the last run was begun with. */
  tried: string;
}

const NOTHING: PreparedImport = {
  file: undefined,
  list: "",
  name: "",
  mapping: {},
  reading: UNSAID,
  startsJourneys: "true",
  dryRun: "",
  tried: "",
};

/** Browser storage takes no file: it is kept in memory, as long as this document. */
let held = { of: "", begun: NOTHING };

function useHeld() {
  const of = `${place.value.tenant} ${me.value?.user.id}`;
  if (held.of !== of) held = { of, begun: NOTHING };
  const [begun, show] = useState(held.begun);
  const set = (part: Partial<PreparedImport>) => {
    if (held.of !== of) return;
    held = { of, begun: { ...held.begun, ...part } };
    show(held.begun);
  };
  return { begun, set };
}

export function useUpload() {
  const createList = useAction("lists.create");
  const start = useAction("imports.importLists", { stale: ["imports.", "lists.", "subscribers."] });
  const transport = useTransport();
  const lists = useQuery("lists.list", [{ page_size: 100 }]).data?.items ?? [];
  const { begun, set } = useHeld();
  const { file, list, name, mapping, reading, startsJourneys, tried } = begun;
  const wanted = JSON.stringify([mapping, reading]);
  const isNew = list === "new" || !list;
  const ownName = nameFor(
    file,
    lists.map((one) => one.name),
  );
  const run = async (isDry: boolean) => {
    if (!file) return;
    const to = onward();
    const made = isNew ? await createList.run({ name: name || ownName }) : undefined;
    const id = isNew ? made?.answer.id : list;
    if (!id) return;
    set({ list: id });
    const given = Object.entries(reading).filter(([, value]) => value.trim() !== "");
    const form = await transport.carry(
      {
        listId: id,
        source: "csv",
        dry_run: String(isDry),
        start_journeys: startsJourneys,
        ...(Object.keys(mapping).length > 0 && { mapping: JSON.stringify(mapping) }),
        ...Object.fromEntries(given),
      },
      file,
    );
    const done = form && (await start.run(form));
    if (!done) return;
    if (isDry) set({ dryRun: done.answer.import_job_id, tried: wanted });
    else {
      set(NOTHING);
      say("The import has begun.");
      to(pathTo("import", done.answer.import_job_id));
    }
  };
  // Answers about columns and consents belong to the file before.
  const choose = (chosen: File | undefined) => set({ file: chosen, dryRun: "", mapping: {}, reading: UNSAID });
  return {
    ...begun,
    set,
    choose,
    ownName,
    isNew,
    isTried: tried === wanted,
    run,
    error: (isNew ? createList.error : undefined) ?? transport.error ?? start.error,
    fault: transport.fault,
    isBusy: start.isBusy || transport.isSending,
    start,
  };
}

export type Upload = ReturnType<typeof useUpload>;
