// Multipart bodies, read as a stream: few and small fields, at most one file; bytes beyond a limit are dropped.
import type { Readable } from "node:stream";
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import type { GenericSchema } from "valibot";
import { ApiError } from "../kernel/errors.ts";

export interface UploadLimits {
  /** Bytes of the file; one more is 413 FILE_TOO_LARGE. */
  fileBytes: number;
  /** Limits of the other parts. */
  fieldBytes?: number;
  fields?: number;
}

export interface UploadedFile {
  /** Name of the form field. */
  field: string;
  filename: string;
  contentType: string;
  bytes: Buffer;
}

/** Receives the file in chunks; its result is ignored if the body turns out to be malformed. */
export type Sink = (chunk: Buffer) => void;

export interface Upload {
  fields: Record<string, string>;
  file: UploadedFile | undefined;
}

interface FilePart {
  /** Its name in the form. */
  part?: string;
  /** The handler can do without it. */
  isOptional?: boolean;
  /** The status of a part that is no file or has another name. Default: the endpoint's. */
  refusal?: 400;
}

/** A declared form: its fields, its file and the maximum size. Only bundles with a form contain the parser. */
export const multipart = <F extends GenericSchema>(
  fields: F,
  { fileBytes, part = "file", isOptional = false, refusal }: Pick<UploadLimits, "fileBytes"> & FilePart,
) => ({
  fields,
  part,
  isOptional,
  ...(refusal && { refusal }),
  read: (body: Buffer, contentType: string | undefined) => readUpload(body, contentType, { fileBytes }),
});

export const FIELD_BYTES = 4_096;
const MAX_FIELDS = 10;

/**
 * Reads a multipart body of at most one file. `source` may be the whole body or a stream of it. With a `sink` the file
 * is passed on in chunks and `bytes` stays empty, so that memory does not grow with it.
 * @throws 400 for anything that is not well-formed multipart, 413 for a file over the limit.
 */
export function readUpload(
  source: Buffer | Readable,
  contentType: string | undefined,
  { fileBytes, fieldBytes = FIELD_BYTES, fields: maxFields = MAX_FIELDS, sink }: UploadLimits & { sink?: Sink },
): Promise<Upload> {
  if (!contentType?.toLowerCase().startsWith("multipart/form-data"))
    return Promise.reject(malformed("The body must be sent as multipart/form-data."));
  return new Promise((resolve, reject) => {
    let parser: InstanceType<typeof Busboy>;
    try {
      parser = new Busboy({
        headers: { "content-type": contentType },
        limits: {
          fileSize: fileBytes,
          files: 1,
          fields: maxFields,
          fieldSize: fieldBytes,
          fieldNameSize: 128,
          headerPairs: 100,
        },
      });
    } catch {
      reject(malformed("The multipart boundary is missing or malformed."));
      return;
    }
    const fields: Record<string, string> = Object.create(null);
    let file: UploadedFile | undefined;
    let tooLarge = false;
    const refuse = (error: ApiError) => {
      if (!Buffer.isBuffer(source)) source.unpipe(parser).resume();
      reject(error);
    };

    parser.on("field", (name: string, value: string, nameCut: boolean, valueCut: boolean) => {
      if (nameCut || valueCut) refuse(malformed(`The field ${name.slice(0, 40)} is too long.`));
      else fields[name] = value;
    });
    parser.on("file", (field: string, stream: BusboyFileStream, filename: string, _encoding: string, type: string) => {
      const chunks: Buffer[] = [];
      stream.on("data", sink ?? ((chunk: Buffer) => void chunks.push(chunk)));
      stream.on("error", () => refuse(malformed(CUT_OFF)));
      stream.on("limit", () => {
        tooLarge = true;
        chunks.length = 0;
      });
      stream.on("end", () => {
        file = { field, filename, contentType: type, bytes: Buffer.concat(chunks) };
      });
    });
    parser.on("filesLimit", () => refuse(malformed("Only one file may be sent.")));
    parser.on("fieldsLimit", () => refuse(malformed(`At most ${maxFields} fields may be sent.`)));
    parser.on("error", () => refuse(malformed(CUT_OFF)));
    parser.on("finish", () => {
      if (tooLarge) reject(new ApiError("FILE_TOO_LARGE", `The file is larger than ${fileBytes} bytes.`));
      else resolve({ fields, file });
    });
    if (Buffer.isBuffer(source)) parser.end(source);
    else source.pipe(parser);
  });
}

const CUT_OFF = "The multipart body is malformed or cut off.";
const malformed = (message: string) => new ApiError("BAD_REQUEST", message);
