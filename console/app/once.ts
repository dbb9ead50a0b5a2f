// What reaches people is created once. The API knows no repeat of it: where an answer was lost, what it made is looked for.
import type { ServiceError } from "../../sdk/src/errors.ts";
import { type Action, useAction } from "./action.ts";
import type { ArgumentsOf } from "./api.ts";
import { isSame } from "./merge.ts";
import { now } from "./time.ts";

const KINDS = {
  "campaigns.create": {
    list: "campaigns.list",
    remove: "campaigns.delete",
    query: ({ name: q }: { name?: string }) => ({ q, status: "draft", page_size: 10 }),
  },
  "schedules.create": { list: "schedules.list", remove: "schedules.delete", query: () => ({ per_page: 10 }) },
} as const;

type Kind = keyof typeof KINDS;
type Body<O extends Kind> = ArgumentsOf<O>[0];

/** What was asked for, where no answer came. */
export interface LostRequest<B> {
  body: B;
  /** What is older was there before. In milliseconds. */
  since: number;
}

/** Clocks differ. */
const MARGIN_MS = 60_000;

/**
 * Whether something says all that was asked for; names are kept without the blanks around them.
 * @param isAbridged large mails are left out of it
 */
const says = (found: unknown, asked: unknown, isAbridged?: boolean): boolean =>
  typeof asked !== "object" || asked === null
    ? asked === undefined || (isAbridged && found === undefined) || String(found).trim() === String(asked).trim()
    : Object(found).length === Object(asked).length &&
      Object.entries(asked).every(([name, one]) =>
        says(Object(found)[name], one, isAbridged || Object(found).left_out),
      );

const isUnanswered = (error: ServiceError | undefined): boolean =>
  error !== undefined && (error.status === 0 || error.status >= 500);

/** @param keep is told what is lost, and once that is settled but nothing is made */
export function useOnce<O extends Kind>(
  operation: O,
  lost: LostRequest<Body<O>> | undefined,
  keep: (lost: LostRequest<Body<O>> | undefined) => void,
): Action<O> {
  const { list, remove, query } = KINDS[operation];
  // Both lists are asked and answer alike, hence the casts.
  const look = useAction(list as "campaigns.list", { stale: [] });
  const undo = useAction(remove);
  const create = useAction(operation, { stale: [`${operation.split(".")[0]}.`, "billing."], isOnce: true });
  const run = async (...given: ArgumentsOf<O>) => {
    const body = given[0] as Body<O>;
    const found = lost && (await look.run(query(lost.body as object) as never));
    if (lost && !found) return undefined;

    const rows: readonly { id: string; created_at: string; approval?: unknown }[] =
      Object.values(found?.answer ?? {}).find(Array.isArray) ?? [];
    const made =
      lost && rows.find((one) => !one.approval && Date.parse(one.created_at) >= lost.since && says(one, lost.body));
    if (made && isSame(lost.body, body)) return { answer: made as never };
    // It was changed since: the other one takes its place.
    if (made && !(await undo.run(made.id))) return undefined;

    const since = now() - MARGIN_MS;
    const done = await create.run(...given);
    if (!done && isUnanswered(create.error)) keep({ body, since });
    else if (!done && lost) keep(undefined);
    return done;
  };
  const all = [look, undo, create];
  return {
    operation,
    run,
    isBusy: all.some(({ isBusy }) => isBusy),
    get error() {
      return all.find(({ error }) => error)?.error;
    },
  };
}
