// Reads the file of an export and holds its rows against those that the reference has.
import { parseCsv } from "../model/csv.ts";
import { Unordered } from "../model/kit.ts";
import { type Failure, type Sides, tell } from "./sides.ts";
import { differenceOf } from "./unify.ts";

const ROUTE = "the file of POST /api/v1/exports";

/** The newest one, once it is whole: its rows as objects by the names of its columns. */
export async function compareFile(sides: Sides, number: number): Promise<Failure | undefined> {
  const { product, reference, bindings } = sides;
  const ours = reference.world.exports.at(-1);
  const id = ours && bindings.product.get(ours.id);
  if (ours?.status !== "completed" || id === undefined) return undefined;
  const read = { method: "GET", query: {}, body: undefined, headers: {}, as: "owner" };
  const { body } = await product.call({ ...read, path: `/api/v1/exports/${id}` });
  // A worker that ended is followed by another one once its lease is over.
  if (sides.storm && body.status === "processing") return undefined;
  if (!body.url) return { path: "url", expected: "an address", got: body, command: number, route: ROUTE };
  const text = await product.download(body.url);
  const [header = [], ...lines] = parseCsv(text);
  const rows = lines.map((cells) => Object.fromEntries(header.map((name, n) => [name, cells[n]])));
  const difference = differenceOf(bindings, new Unordered(ours.rows), rows, ".rows");
  if (difference) tell(sides, text.slice(0, 600));
  return difference && { ...difference, command: number, route: ROUTE };
}
