// Suppressed addresses: messages are not sent to subscribers with one of them (AMB-128).
import * as v from "valibot";
import { cursor, cursorPage, limit } from "../../../shared/contract/paging.ts";
import { OneOf, said, TrimmedTextUpTo } from "../../../shared/contract/schemas.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { notFound, requireFound } from "../../../shared/kernel/errors.ts";
import { suppressionReasons } from "../../../shared/rules/addresses.ts";
import { secrets, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import {
  findSuppression,
  lift,
  listSuppressions,
  readAddress,
  Suppression,
  suppress,
} from "../../../shared/store/subscribers/suppressions.ts";
import { addressesIn, importSuppressions, MAX_CHARACTERS, MAX_ROWS, SuppressionsImported } from "./file.ts";

const MAX_NOTE_CHARACTERS = 500;
const MAX_ADDRESS_CHARACTERS = 320;

const Note = TrimmedTextUpTo(MAX_NOTE_CHARACTERS);

const Address = v.pipe(
  v.string(),
  v.description("An email address, or a phone number in E.164 form"),
  v.maxLength(MAX_ADDRESS_CHARACTERS, "is no address"),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const address = readAddress(dataset.value);
    if (address) return address;
    addIssue({ message: "must be an email address, or a phone number in E.164 form" });
    return NEVER;
  }),
);

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const suppressions = group("suppressions", "Addresses that get no message, whoever has them.", [
  endpoint(
    "GET /api/v1/suppressions",
    { uses: [storeRead, secrets, workspaceRead] },
    {
      summary: "List suppressed addresses, newest first",
      description: "A page may be short, or empty with a cursor, where a filter leaves most out.",
      query: v.object({
        address: said(
          "Only this email address or phone number. One without a country code is of the region of the workspace",
          v.optional(v.pipe(v.string(), v.maxLength(MAX_ADDRESS_CHARACTERS, "is no address"))),
        ),
        reason: said("Only those suppressed for this reason", v.optional(OneOf(suppressionReasons))),
        source: said("Only those from this source", v.optional(v.pipe(v.string(), v.maxLength(200)))),
        limit: limit(50, 100),
        cursor,
      }),
      returns: cursorPage(Suppression),
    },
    async ({ store, secrets, workspace, query: { address: typed, ...query } }) => {
      const region = typed !== undefined && !readAddress(typed) ? (await workspace())?.region : undefined;
      const address = typed && (addressesIn(typed, { region: region ?? undefined }).addresses[0]?.address ?? typed);
      return listSuppressions(store, await secrets.root(), { ...query, address });
    },
  ),

  endpoint(
    "POST /api/v1/suppressions",
    { permission: "subscribers:write", uses: [storeWrite] },
    {
      summary: "Suppress an address",
      description:
        "No subscriber with it gets a message any more, transactional ones included. An address that is suppressed by " +
        "an operator already stays as it is; other reasons become `manual`, which only an operator lifts.",
      body: v.strictObject({
        address: Address,
        note: said("Why", v.optional(Note)),
      }),
      returns: Suppression,
      status: 201,
      example: { body: { address: "ada@example.com", note: "Asked by phone" } },
    },
    async ({ store, body: { address, note } }) =>
      (await suppress(store, { ...address, reason: "manual", source: "operator", note })).suppression,
  ),

  endpoint(
    "POST /api/v1/suppressions/import",
    { permission: "subscribers:write", uses: [storeWrite, workspaceRead] },
    {
      summary: "Suppress the addresses of a file",
      description:
        "The file is CSV, or JSON as providers answer it: a list of objects, one in an object, or an object in each line. " +
        "The columns of email addresses and phone numbers are found by their usual names, a reason and a time too; a list " +
        "of addresses needs no header. A row may have several, and all are suppressed; numbers without a country code are read " +
        `by the country of the row, else by the region of the workspace. At most ${MAX_ROWS.toLocaleString("en")} rows, and as many addresses; what cannot be read is named and the rest is suppressed. Only an operator ` +
        "lifts these. Repeating the call changes nothing.",
      body: v.strictObject({
        csv: v.pipe(v.string(), v.maxLength(MAX_CHARACTERS), v.description("The text of the file")),
      }),
      returns: SuppressionsImported,
      example: { body: { csv: "email,reason\nada@example.com,hard bounce\n" } },
    },
    async ({ store, body, workspace }) => importSuppressions(store, body.csv, await workspace()),
  ),

  endpoint(
    "GET /api/v1/suppressions/:id",
    { uses: [storeRead] },
    { summary: "Get a suppression", returns: Suppression },
    async ({ store, params }) => {
      return requireFound(await findSuppression(store, params.id), "suppression");
    },
  ),

  endpoint(
    "DELETE /api/v1/suppressions/:id",
    { permission: "subscribers:write", uses: [storeWrite] },
    {
      summary: "Lift a suppression",
      description: "Messages go to the address again. The reason is with the consents of who has the address.",
      query: v.object({ reason: said("Why it is lifted", Note) }),
    },
    async ({ store, params, query }) => {
      const isLifted = await lift(store, params.id, query.reason);
      if (!isLifted) throw notFound("suppression");
    },
  ),
]);
