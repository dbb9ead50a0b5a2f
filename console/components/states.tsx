// What a page shows instead of data: while it loads, where there is none, and where the API refused.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ServiceError } from "../../sdk/src/errors.ts";
import { ANSWER_LOST, useAction } from "../app/action.ts";
import { useLead } from "../app/places.ts";
import type { Query } from "../app/query.ts";
import { pathText, refusalText } from "../app/refusal.ts";
import { pathTo } from "../app/router.ts";
import { isLocal } from "../app/session.ts";
import { Act, Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

export function Skeleton({ rows = 6, table = false }: { rows?: number; table?: boolean }) {
  return (
    <div class={table ? "skeleton rows" : "skeleton"} aria-busy="true">
      <span class="unseen">Loading</span>
      {Array.from({ length: rows }, (_, n) => (
        <i key={n} />
      ))}
    </div>
  );
}

/** Whether the first answer is still to come: until then nothing is known, not even none. */
export const isAwaited = ({ data, isLoading }: Pick<Query<unknown>, "data" | "isLoading">): boolean =>
  isLoading && data === undefined;

/** A word or a figure of which the answer is still to come. */
export const Awaited = () => (
  <span class="dim" aria-busy="true">
    …
  </span>
);

/** One sentence, one action, one link. */
export function Empty({
  title,
  children,
  action,
}: {
  title: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p>
        <b>{title}</b>
      </p>
      {children && <p>{children}</p>}
      {action && <div class="actions">{action}</div>}
    </div>
  );
}

const titles: Record<number, string> = {
  0: "The service cannot be reached.",
  402: "The limit of the plan is reached.",
  403: "You may not see this.",
  404: "This does not exist, or it was deleted.",
  412: "Somebody else saved at the same moment. Save again: both changes are then compared.",
  429: "Too many requests at the moment.",
};

const titlesOfCodes: Record<string, string> = {
  [ANSWER_LOST]: "No answer came, and it may be done already. Look before you try again.",
  TENANT_SUSPENDED: "",
  EMAIL_NOT_CONFIRMED: "",
};

/** The sentence for a refusal by its code or status; empty where the API's own words say it all. */
export const titleOf = ({ status, code }: ServiceError): string =>
  titlesOfCodes[code] ?? titles[status] ?? (status >= 500 ? "The service has a problem." : "");

/** The API's own words, or when it would take what it had too much of; nothing where there was no answer. */
export function reasonOf(error: ServiceError): string {
  if (error.status === 0) return "";
  return error.status === 429 && error.retryAfterSeconds !== undefined
    ? `Try again in ${Math.ceil(error.retryAfterSeconds)} s.`
    : refusalText(error);
}

/** Words that lead to their place, where that is on the screen. */
export const Led = ({ to, children }: { to: (() => void) | undefined; children: ComponentChildren }) =>
  to ? (
    <button type="button" class="link" onClick={to}>
      {children}
    </button>
  ) : (
    <span>{children}</span>
  );

/** The same of each field: a button where the field is on the screen, perhaps behind a tab. */
function Reasons({ error }: { error: ServiceError }) {
  const lead = useLead();
  const fields = Object.entries(error.fields ?? {});
  if (!fields.some(([path]) => lead(path))) return <>{reasonOf(error)}</>;
  return (
    <>
      {fields.map(([path, reason]) => {
        return (
          <span key={path} class="reason">
            <Led to={lead(path, reason)}>{pathText(path)}</Led>: {reason}
          </span>
        );
      })}
    </>
  );
}

function Countdown({ seconds, done }: { seconds: number; done: () => void }) {
  const [left, setLeft] = useState(Math.ceil(seconds));
  useEffect(() => {
    if (left <= 0) return done();
    const timer = setTimeout(() => setLeft(left - 1), 1_000);
    return () => clearTimeout(timer);
  }, [left]);
  return <span>Tries again in {left} s.</span>;
}

/** The same question would get the same answer. */
const LASTING: ReadonlySet<number> = new Set([403, 404, 422]);

export function Failure({ error, retry }: { error: ServiceError; retry?: (() => void) | undefined }) {
  const wait = error.status === 429 ? error.retryAfterSeconds : undefined;
  const title = titleOf(error);
  return (
    <div class={error.status === 403 ? "banner" : "banner bad"} role="alert">
      <Icon name="warning" />
      <span>
        {title && <b>{title} </b>}
        {error.status !== 412 && !(wait !== undefined && retry) && <Reasons error={error} />}{" "}
        {wait !== undefined && retry && <Countdown seconds={wait} done={retry} />}
        {(error.status === 402 || error.code === "FEATURE_NOT_AVAILABLE" || error.code === "QUOTA_EXCEEDED") && (
          <a href={pathTo("settings", "plan")}>See the plan and its usage</a>
        )}
        {error.code === "EMAIL_NOT_CONFIRMED" && <ConfirmAgain />}
      </span>
      {error.requestId && error.status >= 500 && <code>{error.requestId}</code>}
      {retry && wait === undefined && !LASTING.has(error.status) && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

/** The mail that confirms the address of the user: the first one may be lost. */
export function ConfirmAgain() {
  const resend = useAction("auth.resendEmail", { stale: [] });
  return (
    <>
      {isLocal && (
        // In a tab of its own: what was refused is written already.
        <a href={pathTo("outbox")} target="_blank" rel="noreferrer">
          See the email in the outbox
        </a>
      )}{" "}
      <Act action={resend} given={[]} said="The email is on its way. Press its link, then try again.">
        Send the email again
      </Act>
    </>
  );
}

interface LoadedProps<T> {
  query: Query<T>;
  /** In the layout of the data. */
  skeleton?: ComponentChildren;
  children: (data: T) => ComponentChildren;
}

/** Data of a read, or what stands for it. Known data stays under a banner. */
export function Loaded<T>({ query, skeleton = <Skeleton />, children }: LoadedProps<T>) {
  const { data, error, refresh } = query;
  if (data === undefined)
    return <div class="stack">{error ? <Failure error={error} retry={refresh} /> : skeleton}</div>;
  return (
    <>
      {error && <Failure error={error} retry={refresh} />}
      {children(data)}
    </>
  );
}
