// The head of a page, cards, and small parts that pages share.
import { type ComponentChildren, type ComponentType, Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { pathTo, place } from "../app/router.ts";
import { ago, fullTime, momentText, money, price } from "../app/time.ts";
import { say } from "../app/toast.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

interface PageProps {
  title: string;
  about?: ComponentChildren;
  /** Before the title: a picture of what the page is about. */
  mark?: ComponentChildren;
  /** The page above this one. */
  back?: { href: string; label: string };
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Page({ title, about, mark, back, actions, children }: PageProps) {
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => {
    document.title = `${title} · Console`;
  }, [title]);
  const { page, parts } = place.value;
  // Moves the focus to the title of a page that opens, unless a field of the page or a dialog has it already.
  useEffect(() => {
    const { activeElement } = document;
    if (!content.current?.contains(activeElement) && !activeElement?.closest("dialog[open]"))
      content.current?.querySelector("h1")?.focus({ preventScroll: true });
  }, [[page, ...parts].join("/")]);
  return (
    <div class="content" ref={content}>
      <header class="page-head">
        {mark && <span class="page-mark">{mark}</span>}
        <div class="page-title">
          {back && (
            <a class="back" href={back.href}>
              <Icon name="left" />
              {back.label}
            </a>
          )}
          <h1 tabIndex={-1}>{title}</h1>
          {about && <p>{about}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface CardProps {
  title?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
  /** A table that reaches the edges. */
  flush?: boolean;
  onFocusIn?: () => void;
}

export function Card({ title, actions, children, flush, onFocusIn }: CardProps) {
  return (
    <section class={flush ? "card flush" : "card"} onFocusIn={onFocusIn}>
      {(title || actions) && (
        <header>
          <h2>{title}</h2>
          {actions && <div class="actions">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

/** In place of a value that there is not. */
export const Dash = () => <span class="dim">–</span>;

/** An email address or a number: it breaks before its domain, where it must. */
export const Address = ({ of }: { of: string }) => (
  <>
    {of.split(/(?=@)/).map((part) => (
      <span key={part}>
        <wbr />
        {part}
      </span>
    ))}
  </>
);

interface TimeProps {
  at: string | number | null | undefined;
  /** Where a sentence needs the moment instead of how long it is until then. */
  isDate?: boolean;
}

export function Time({ at, isDate }: TimeProps) {
  if (!at) return <Dash />;
  return (
    <time dateTime={new Date(at).toISOString()} title={fullTime(at)}>
      {isDate ? momentText(at) : ago(at)}
    </time>
  );
}

/** In cents; more of a small amount where it is pointed at, and in files. */
export const Money = ({ of }: { of: number }) => (
  <data value={of} title={price(of)}>
    {money(of)}
  </data>
);

export function Figure({ value, label }: { value: ComponentChildren; label: string }) {
  return (
    <div class="figure">
      <b>{value}</b>
      <span>{label}</span>
    </div>
  );
}

export type Fact = readonly [term: ComponentChildren, value: ComponentChildren];

/** Terms with their values; what does not apply is left out. */
export function Facts({ of }: { of: readonly (Fact | false | null | undefined | "" | 0)[] }) {
  return (
    <dl class="facts">
      {of.map(
        (fact, n) =>
          fact && (
            <Fragment key={n}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </Fragment>
          ),
      )}
    </dl>
  );
}

interface TabbedProps {
  title: string;
  about?: ComponentChildren;
  /** The first one has an empty id. */
  tabs: readonly { id: string; label: string; View: ComponentType }[];
}

/** A page of parts, one of which the address names. On a narrow window the link to it is scrolled to. */
export function Tabbed({ title, about, tabs }: TabbedProps) {
  const nav = useRef<HTMLElement>(null);
  const { page, parts } = place.value;
  const { id: current, View } = tabs.find(({ id }) => id === parts[0]) ?? tabs[0]!;
  useEffect(() => {
    const bar = nav.current;
    const link = bar?.querySelector<HTMLElement>("[aria-current]");
    if (bar && link) bar.scrollLeft = link.offsetLeft - (bar.clientWidth - link.offsetWidth) / 2;
  }, [current]);
  return (
    <Page title={title} about={about}>
      <nav ref={nav} class="tabs" aria-label={title}>
        {tabs.map(({ id, label }) => (
          <a key={id} href={pathTo(page, id)} aria-current={id === current ? "page" : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <View />
    </Page>
  );
}

export function Code({ text, label = "Copy" }: { text: string; label?: string }) {
  const copy = async () => {
    // A page that is not secure has no clipboard, and a browser may refuse to write into it.
    const isCopied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    say(isCopied ? "Copied." : "This browser does not let the page copy. Select the text instead.");
  };
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long code is scrolled by keyboard */}
      <pre tabIndex={0} class={/\s/.test(text) ? undefined : "is-word"}>
        {text}
      </pre>
      <Button onClick={() => void copy()}>{label}</Button>
    </div>
  );
}
