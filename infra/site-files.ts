// What the edge serves from a bucket (docs/decisions/0119): the console and the documentation.
import { readFile } from "node:fs/promises";
import { brotliCompressSync, constants } from "node:zlib";
import { buildConsole } from "../console/build.ts";
import { guides } from "../docs/generate/guides.ts";
import { buildDocumentation, type SiteFile, type SiteFiles } from "../docs/site/build.ts";
import type { PackedSite } from "./publish-site.ts";

const DOCUMENT = new URL("../docs/openapi.json", import.meta.url);

/** Path of the address → file. */
export async function siteFiles(): Promise<SiteFiles> {
  const ofConsole = [...(await buildConsole())].map(([path, { content, headers }]): [string, SiteFile] => [
    path,
    { content, type: headers["content-type"]!, cacheControl: headers["cache-control"]! },
  ]);
  const documentation = buildDocumentation(JSON.parse(await readFile(DOCUMENT, "utf8")), guides());
  return new Map([...ofConsole, ...documentation]);
}

/** A file is a tenth larger than at the best quality, and takes a tenth of the time. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

/** The files as the bundle of the function that writes them holds them. */
export const packSite = (files: SiteFiles): PackedSite =>
  [...files].map(([path, { content, type, cacheControl }]) => ({
    key: path.slice(1),
    type,
    cacheControl,
    content: brotliCompressSync(content, QUALITY).toString("base64"),
  }));
