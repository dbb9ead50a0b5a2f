// Multipart bodies: few and small fields, at most one file.
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import type { GenericSchema } from "valibot";
import { ApiError, badRequest } from "../kernel/errors.ts";

export interface UploadedFile {
  /** Name of the form field. */
  field: string;
  filename: string;
  contentType: string;
  bytes: Buffer;
}

export interface Upload {
  fields: Record<string, string>;
  file: UploadedFile | undefined;
}

interface FilePart {
  /** The largest file; a larger one is 413 FILE_TOO_LARGE. */
  fileBytes: number;
  /** Its name in the form. */
  part?: string;
  /** The handler can do without it. */
  isOptional?: boolean;
  /** The status for a part that is not a file or has another name. Default: the endpoint's. */
  refusal?: 400;
}

/** A declared form: its fields, its file and the maximum size. Only bundles with a form contain the parser. */
export const multipart = <F extends GenericSchema>(
  fields: F,
  { fileBytes, part = "file", isOptional = false, refusal }: FilePart,
) => ({
  fields,
  part,
  isOptional,
  ...(refusal && { refusal }),
  read: (body: Buffer, contentType: string | undefined) => readUpload(body, contentType, fileBytes),
});

/** Enough for the 65,536 characters of a column mapping. */
export const FIELD_BYTES = 262_144;
/** More than any form declares. */
const MAX_FIELDS = 16;
/** The parser processes all the bytes it has, even after it was told to stop. */
const PIECE_BYTES = 16_384;

/**
 * Reads a multipart body of at most one file.
 * @throws 400 for anything that is not well-formed multipart, 413 for a file over the limit.
 */
export function readUpload(body: Buffer, contentType: string | undefined, fileBytes: number): Promise<Upload> {
  if (!contentType?.toLowerCase().startsWith("multipart/form-data"))
    return Promise.reject(badRequest("The body must be sent as multipart/form-data."));
  return new Promise((resolve, reject) => {
    let parser: InstanceType<typeof Busboy>;
    const refuse = (error: ApiError) => {
      reject(error);
      parser.destroy();
    };
    try {
      parser = new Busboy({
        headers: { "content-type": contentType },
        limits: {
          fileSize: fileBytes,
          files: 1,
          fields: MAX_FIELDS,
          parts: MAX_FIELDS + 1,
          fieldSize: FIELD_BYTES,
          fieldNameSize: 128,
          headerPairs: 100,
        },
      });
    } catch {
      reject(badRequest("The multipart boundary is missing or malformed."));
      return;
    }
    const fields: Record<string, string> = Object.create(null);
    let file: UploadedFile | undefined;
    let tooLarge = false;

    parser.on("field", (name: string, value: string, nameCut: boolean, valueCut: boolean) => {
      if (nameCut || valueCut) refuse(badRequest(`The field ${name.slice(0, 40)} is too long.`));
      else fields[name] = value;
    });
    parser.on("file", (field: string, stream: BusboyFileStream, filename: string, _encoding: string, type: string) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
      stream.on("error", () => refuse(badRequest(CUT_OFF)));
      stream.on("limit", () => {
        tooLarge = true;
        chunks.length = 0;
      });
      stream.on("end", () => {
        file = { field, filename, contentType: type, bytes: Buffer.concat(chunks) };
      });
    });
    parser.on("filesLimit", () => refuse(badRequest("Only one file may be sent.")));
    for (const limit of ["fieldsLimit", "partsLimit"] as const)
      parser.on(limit, () => refuse(badRequest(`At most ${MAX_FIELDS} fields may be sent.`)));
    parser.on("error", () => refuse(badRequest(CUT_OFF)));
    parser.on("finish", () => {
      if (tooLarge) reject(new ApiError("FILE_TOO_LARGE", `The file is larger than ${fileBytes} bytes.`));
      else resolve({ fields, file });
    });
    for (let at = 0; at < body.length && !parser.destroyed; at += PIECE_BYTES)
      parser.write(body.subarray(at, at + PIECE_BYTES));
    if (!parser.destroyed) parser.end();
  });
}

const CUT_OFF = "The multipart body is malformed or cut off.";
