import { deliveryOf, report as tellModel } from "../model/fates.ts";
import { type Body, iso, MINUTE, Unpromised } from "../model/kit.ts";
import { follow } from "../model/opt-in.ts";
import { useUp } from "../model/plans.ts";
import { compare, lookAt, USED_UP } from "./compare.ts";
import { looksAfterLink, looksAfterWaiting } from "./looks.ts";
import { clearFaultsCall, credentialOf, faultCall, type ProductCall } from "./product.ts";
import {
  type Call,
  type Command,
  type Link,
  type Report,
  readers,
  resolve,
  resolvePath,
  type Usage,
} from "./program.ts";
import { type Failure, type Sides, short, tell } from "./sides.ts";
import { differenceOf } from "./unify.ts";

const LINKS = {
  ...{ click: /\/c\/[\w-]+/, unsubscribe: /\/u\/[\w-]+/, confirm: /\/i\/[\w-]+/, preferences: /\/p\/[\w-]+/ },
};

/** Where the encoding of a mail cuts a long line. */
const SOFT_BREAK = "=\r\n";

/** Of the mail that both sides sent. */
export async function link(
  sides: Sides,
  { link, method, mail, form }: Link,
  number: number,
): Promise<Failure | undefined> {
  const { product, reference, bindings } = sides;
  const has = { click: "links", unsubscribe: "marketing", confirm: "confirms", preferences: "topic" }[link];
  const mails = reference.world.outbox.filter(
    ({ channel, links, category, confirms, topic }) =>
      channel === "email" &&
      [links.length > 0 && "links", category, confirms && "confirms", topic && "topic"].includes(has),
  );
  const ours = mails.at(-1 - mail);
  if (!ours) return undefined;
  const [job, person] = [ours.job_id, ours.subscriber_id].map((id) => bindings.product.get(id));
  const mailed = (await product.outbox()).filter(({ headers }) => headers?.["X-Subscriber-Id"] === person);
  const isSame = (item: Body) => (job ? item.headers["X-Notification-Id"] === job : item.at === iso(ours.at));
  const [theirs, ...others] = mailed.filter((item) => isSame(item) && LINKS[link].test(item.payload));
  // Of sends of one moment that nothing has named yet, which one a mail belongs to is open.
  if (!job && others.length > 0) return undefined;
  const route = `${method} the link to ${link}`;
  if (!theirs && sides.storm) return undefined;
  if (!theirs) return { path: "mail", expected: `a link to ${link}`, got: mailed.at(-1), command: number, route };
  const path = LINKS[link].exec(theirs.payload.replaceAll(SOFT_BREAK, ""))![0];
  const { shown = [], in: ticked = [] } = method === "POST" ? (form ?? {}) : {};
  const fields = [...shown.map((key) => `shown=${key}`), ...ticked.map((key) => `in=${key}`)].join("&");
  const body = undefined;
  const got = await product.call({
    method,
    path,
    query: {},
    body,
    headers: {},
    as: "none",
    ...(form && { form: fields }),
  });
  const expected = follow(reference.world, ours, link, method, form);
  tell(sides, `${route} of the mail to ${ours.to} → ${got.status} ${got.headers.location ?? ""}`);
  await product.settle();
  reference.advance(product.now());
  const difference = differenceOf(bindings, expected, { status: got.status, location: got.headers.location });
  if (difference) return { ...difference, command: number, route };
  return lookAt(sides, looksAfterLink(reference.world), number);
}

/** Of the mail of a send that both sides name, as its time allows. */
export async function report(sides: Sides, { fate, ago, mail }: Report, number: number): Promise<Failure | undefined> {
  const { product, reference, bindings } = sides;
  const { world } = reference;
  const mailed = world.outbox.filter((sent) => sent.channel === "email" && !sent.confirms);
  const mails = [...mailed, ...world.unanswered].filter((sent) => deliveryOf(world, sent));
  const ours = mails.toSorted((a, b) => a.at - b.at).at(-1 - mail);
  const [job, person] = [ours?.job_id, ours?.subscriber_id].map((id) => id && bindings.product.get(id));
  if (!ours || !person) return undefined;
  const happened = Math.max(ours.at, product.now() - ago);
  const said = { fate, happened: iso(happened) };
  if (!(await product.report({ job, subscriber: person, at: iso(ours.at), to: ours.to }, said))) return undefined;
  tellModel(world, ours, fate, happened);
  tell(
    sides,
    `the provider tells of a ${fate} of the mail to ${ours.to}, ${(product.now() - happened) / MINUTE} min ago`,
  );
  await product.settle();
  reference.advance(product.now());
  return lookAt(sides, [...looksAfterLink(world), ...looksAfterWaiting(world)], number);
}

export async function use(sides: Sides, { sends }: Usage): Promise<undefined> {
  await sides.product.setUsage(sends);
  useUp(sides.reference.world, sends);
  tell(sides, `the operator says that ${sends} were sent this month`);
}

export function answerHooks(sides: Sides, status: number): undefined {
  sides.product.receive(status);
  sides.reference.world.receiver = status;
  tell(sides, `receivers of webhooks answer ${status}`);
}

export async function fault(sides: Sides, command: Command): Promise<undefined> {
  const { product, reference, handles, bindings } = sides;
  if (command.kind === "clear faults") {
    await product.call(clearFaultsCall);
    reference.clearFaults();
    return;
  }
  if (command.kind !== "fault") return;
  const { channel, outcome, times, person } = command;
  const subscriber = person === undefined ? undefined : handles.get(person);
  if (person !== undefined && subscriber === undefined) return;
  const body = { channel, outcome, ...(times !== undefined && { times }) };
  const theirs = subscriber === undefined ? {} : { subscriber_id: bindings.product.get(subscriber) };
  await product.call(faultCall({ ...body, ...theirs }));
  reference.addFault({ channel, outcome, times, subscriber_id: subscriber });
  tell(sides, `the provider of ${channel} answers ${outcome}${times ? ` ${times} times` : ""} ${person ?? ""}`);
}

export async function call(sides: Sides, command: Call, number: number): Promise<Failure | undefined> {
  const { product, reference, bindings, handles } = sides;
  const { ours, theirs } = readers(reference, handles, bindings);
  const { method, path, query = {}, headers = {}, as, upload, file } = command;
  const sent: ProductCall = {
    ...{ method, as, upload, file, headers, path: resolvePath(path, theirs) },
    ...{ query: resolve(query, theirs), body: resolve(command.body, theirs) },
  };
  const got = await product.call(sent);
  sides.counted.calls++;
  const body = resolve(command.body, ours);
  const expected = reference.call({
    ...{ method, headers, as: credentialOf(as), path: resolvePath(path, ours), query: resolve(query, ours) },
    ...{ body: file === undefined ? (body ?? {}) : { ...body, file }, given: got.body },
  });
  tell(sides, `${as}: ${method} ${path} ${short({ ...query, ...command.body })} → ${got.status} ${short(got.body)}`);
  if (got.status === USED_UP && expected.status !== USED_UP)
    throw new Unpromised("what was read took the requests of its minute");
  const difference = await compare(sides, expected, got, sent);
  if (difference) return { ...difference, command: number, route: `${method} ${path}` };
  const made = expected.body?.id ?? expected.body?.preview_id ?? expected.body?.import_job_id ?? expected.body?.token;
  if (command.handle && typeof made === "string" && made.startsWith("#")) handles.set(command.handle, made);
  return undefined;
}
