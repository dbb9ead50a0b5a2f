// The console inside the bundle of a function: compressed there, unpacked at the first request for each file.
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import type { ConsoleFiles } from "./build.ts";
import { CONSOLE_PATH, documentOf, HASHED_PATH } from "./policy.ts";

/** Path → headers, and the content as base64 of brotli. */
export type PackedConsole = Readonly<Record<string, { headers: Record<string, string>; content: string }>>;

export const packConsole = (files: ConsoleFiles): PackedConsole =>
  Object.fromEntries(
    [...files].map(([path, { headers, content }]) => [
      path,
      { headers, content: brotliCompressSync(content).toString("base64") },
    ]),
  );

/** Without the hashed files, which the edge has in a bucket. */
export const documentsOf = (files: ConsoleFiles): ConsoleFiles =>
  new Map([...files].filter(([path]) => !path.startsWith(HASHED_PATH)));

export interface ConsoleAnswer {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  isBase64Encoded?: true;
}

/**
 * Answers paths of the console; undefined for every other path, and for files that this version does not have.
 * @param uploads the origin that large import files are uploaded to, where it is not the service's own
 */
export function consolePages(packed: PackedConsole, uploads?: string) {
  const unpacked = new Map<string, string>();
  const contentOf = (path: string, content: string): string => {
    const encoding = isBinary(path) ? "base64" : "utf8";
    const text = unpacked.get(path) ?? brotliDecompressSync(Buffer.from(content, "base64")).toString(encoding);
    unpacked.set(path, text);
    return text;
  };
  return (method: string, path: string): ConsoleAnswer | undefined => {
    if ((method !== "GET" && method !== "HEAD") || !isConsole(path)) return undefined;
    const name = documentOf(path);
    const file = Object.hasOwn(packed, name) ? packed[name] : undefined;
    if (!file) return undefined;
    const policy = file.headers["content-security-policy"] ?? "";
    const headers = uploads
      ? {
          ...file.headers,
          "content-security-policy": policy.replace("connect-src 'self'", `connect-src 'self' ${uploads}`),
        }
      : file.headers;
    const body = method === "HEAD" ? "" : contentOf(name, file.content);
    return { statusCode: 200, headers, body, ...(isBinary(name) && { isBase64Encoded: true }) };
  };
}

/** The typeface: its bytes are no text. */
const isBinary = (path: string): boolean => path.endsWith(".woff2");

export const isConsole = (path: string): boolean => path === CONSOLE_PATH || path.startsWith(`${CONSOLE_PATH}/`);

/** The bucket's own address, as signed upload forms name it. */
export const uploadOrigin = (env: Readonly<Record<string, string | undefined>>): string | undefined =>
  env.IMPORTS_BUCKET && env.AWS_REGION && `https://${env.IMPORTS_BUCKET}.s3.${env.AWS_REGION}.amazonaws.com`;
